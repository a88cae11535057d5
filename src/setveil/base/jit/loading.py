"""From an object file to a function that can be called, without numba."""

from __future__ import annotations

import ctypes
import json
import threading
from collections.abc import Callable
from functools import cache
from typing import Any

from llvmlite import binding

from setveil.base.jit import processor
from setveil.base.jit.calls import caller

_LINE = b"\n"
_lock = threading.Lock()  # of two that are made at once, one would be lost with all that it loaded


class Unusable(Exception):  # noqa: N818
    """A file holds nothing that could be called."""


def packed(symbol: str, arguments: Any, result: Any, machine_code: bytes) -> bytes:
    """Put an object file, the name of its function and the types of that into one."""
    return json.dumps([symbol, arguments, result]).encode() + _LINE + machine_code


def load(content: bytes) -> Callable[..., Any]:
    """Return what calls the function of such a file."""
    head, _, machine_code = content.partition(_LINE)
    try:
        symbol, arguments, result = json.loads(head)
        with _lock:
            engine = _linker()
        engine.add_object_file(binding.ObjectFileRef.from_data(machine_code))
        engine.finalize_object()
        address = engine.get_function_address(symbol)
    except (ValueError, RuntimeError) as error:
        raise Unusable from error
    if not address:
        raise Unusable
    function = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_char_p, ctypes.c_void_p)(address)
    return caller(function, arguments, result)


@cache
def _linker() -> Any:
    """Make what loads all object files into memory: one, as making it takes as long as loading five."""
    return binding.create_mcjit_compiler(binding.parse_assembly(""), target_machine())


@cache
def _ready() -> None:
    """Let LLVM know this machine, and compiled code the memory of Python."""
    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    for name in ("PyMem_RawMalloc", "PyMem_RawRealloc", "PyMem_RawFree"):
        binding.add_symbol(name, ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value)


def target_machine() -> Any:
    """Describe the processor that code is compiled for, or loaded on."""
    _ready()
    name, features = processor.wanted()
    target = binding.Target.from_default_triple()
    reloc = "static" if target.name.startswith("x86") else "default"
    return target.create_target_machine(
        cpu=name, features=features, opt=3, reloc=reloc, codemodel="jitdefault", jit=True
    )
