"""The processor that functions are compiled for where they are to run on other machines, too."""

from __future__ import annotations

import platform
import sys
from functools import cache
from typing import Any

from llvmlite import binding
from numba.core import config

# By the name of the machine: the processor as LLVM calls it, and what one must have to be at least that.
_X86 = "x86-64-v2", ("cx16", "popcnt", "sahf", "sse3", "ssse3", "sse4.1", "sse4.2")
_ARM = "generic", ("neon",)
_PROCESSORS = {"x86_64": _X86, "AMD64": _X86, "aarch64": _ARM, "arm64": _ARM}


def settings() -> dict[str, str]:
    """Return the environment variables that let numba compile for it; empty: there is none here."""
    name, features = _PROCESSORS.get(platform.machine(), ("", ()))
    wanted = ",".join(f"+{one}" for one in features)
    return {"NUMBA_CPU_NAME": name, "NUMBA_CPU_FEATURES": wanted} if name else {}


def target() -> tuple[str, ...]:
    """Describe it, with the system."""
    return (sys.platform, platform.machine(), *settings().values())


def _told() -> tuple[Any, Any]:
    """Return the processor that numba is set to compile for."""
    return vars(config)["CPU_NAME"], vars(config)["CPU_FEATURES"]


def is_compiled_for() -> bool:
    """Whether this process compiles for it, and not for the processor that it runs on."""
    return bool(settings()) and _told() == tuple(settings().values())


@cache
def runs_here() -> bool:
    """Whether what is compiled for it may run here: on this processor, and as numba is set to."""
    _, needed = _PROCESSORS.get(platform.machine(), ("", ()))
    if is_compiled_for():
        return True
    if not needed or _told() != (None, None):
        return False
    try:
        has: Any = binding.get_host_cpu_features()
    except RuntimeError:
        return False
    return all(has.get(one) for one in needed)
