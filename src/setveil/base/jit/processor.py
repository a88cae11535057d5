"""The processor of this machine, and the one that is compiled for where code is to run on others."""

from __future__ import annotations

import os
import platform
import sys
from functools import cache
from typing import Any

from llvmlite import binding

# By the name of the machine: the processor as LLVM calls it, and what one must have to be at least that.
_X86 = "x86-64-v2", ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")
_ARM = "generic", ("neon",)
_PROCESSORS = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}
_NAME, _FEATURES = "NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"


def baseline() -> dict[str, str]:
    """Return the settings with which numba compiles for many machines; empty: there are none here."""
    name, features = _PROCESSORS.get(platform.machine(), ("", ()))
    return {_NAME: name, _FEATURES: ",".join(f"+{one}" for one in features)} if name else {}


@cache
def wanted() -> tuple[str, str]:
    """Name the processor that numba is set to compile for, usually this one, and what it has."""
    name, features = os.environ.get(_NAME), os.environ.get(_FEATURES)
    if features is None:
        features = "" if name else _host_features()
    return name or binding.get_host_cpu_name(), features


def _host_features() -> str:
    try:
        found: Any = binding.get_host_cpu_features()
        return str(found.flatten())
    except RuntimeError:
        return ""


def target() -> tuple[str, ...]:
    """Describe the one of many machines, with the system."""
    return (sys.platform, platform.machine(), *baseline().values())


def is_baseline() -> bool:
    """Whether this process compiles for many machines, and not for the one that it runs on."""
    return bool(baseline()) and all(os.environ.get(name) == value for name, value in baseline().items())


@cache
def runs_baseline() -> bool:
    """Whether what is compiled for many machines may run here: on this processor, and as numba is set to."""
    if is_baseline():
        return True
    _, needed = _PROCESSORS.get(platform.machine(), ("", ()))
    if not needed or _NAME in os.environ or _FEATURES in os.environ:
        return False
    try:
        has: Any = binding.get_host_cpu_features()
    except RuntimeError:
        return False
    return all(has.get(one) for one in needed)
