"""From compiled code to what can be kept in a file, and back to a function that can be called.

Small runs spend most of their time on this, so nothing is read or made that calling needs not: the code for
other functions to link with, and numba's functions that count references, only where something is compiled,
and numba's own modules, and the registries of all that it can compile, not at all.
"""

from __future__ import annotations

import importlib
import io
import pickle
import sys
from collections.abc import Callable
from typing import Any, cast

import numpy as np
from llvmlite import binding
from numba.core import errors, types
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime import nrtdynmod
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps
from numba.np import numpy_support


class _Runtime(type(rtsys)):  # type: ignore[misc]
    """numba's runtime, whose own functions are compiled when another function is first linked with them."""

    _library: Any
    _target: Any

    def begin(self, target_context: Any) -> None:
        """Make it ready for functions that were compiled before, which hold what they need of it."""
        self._target = target_context
        numbas, compile_functions = cast(Any, nrtdynmod), nrtdynmod.compile_nrt_functions
        numbas.compile_nrt_functions = lambda context: None
        try:
            self.initialize(target_context)
        finally:
            numbas.compile_nrt_functions = compile_functions

    @property
    def library(self) -> Any:
        if self._library is None:
            self._library = cast(Any, nrtdynmod).compile_nrt_functions(self._target)
        return self._library


def saved(result: Any) -> bytes:
    """Turn what was compiled of a function into bytes."""
    libdata, *others = result._reduce()
    module = result.library._get_module_for_linking()
    defined = [
        one.name for all_of in (module.functions, module.global_variables)
        for one in all_of if not one.is_declaration
    ]  # fmt: skip
    content: bytes = cast(Any, dumps)((libdata, defined, others))
    return content


def load(content: bytes, target_context: Any) -> Any:
    """Make of such bytes what numba's dispatchers hold of a function."""
    with cast(Any, global_compiler_lock):
        if not rtsys._init:
            rtsys.__class__ = _Runtime
            cast(Any, rtsys).begin(target_context)
    (name, kind, (code, bitcode)), defined, others = _Reader(io.BytesIO(content)).load()
    if kind != "object":
        raise pickle.UnpicklingError
    codegen = target_context.codegen()
    library = codegen.create_library(name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._get_module_for_linking = lambda: _module(library, bitcode)
    library._finalize_final_module()
    codegen._engine._defined_symbols.update(defined)
    return _rebuilt(target_context, library, *others)


def _module(library: Any, bitcode: bytes) -> Any:
    """Read the code that other functions are linked with, once."""
    if library._shared_module is None:
        library._shared_module = binding.parse_bitcode(bitcode)
    return library._shared_module


def _rebuilt(
    target_context: Any, library: Any, fndesc: Any, env: Any, signature: Any, objectmode: Any, lifted: Any,
    typeann: Any, reload_init: Any, referenced_envs: Any,
) -> Any:  # fmt: skip
    for initialize in reload_init:
        initialize()
    result = cast(Any, CompileResult)(
        target_context=target_context, typing_context=target_context.typing_context, library=library,
        environment=env, entry_point=target_context.get_executable(library, fndesc, env), fndesc=fndesc,
        type_annotation=typeann, signature=signature, objectmode=objectmode, lifted=lifted, typing_error=None,
        call_helper=None, metadata=None, reload_init=reload_init, referenced_envs=referenced_envs,
    )  # fmt: skip
    for one in referenced_envs:
        library.codegen.set_env(one.env_name, one)
    return result


def _environment(module: str, constants: list[Any], name: str) -> Any:
    """Make an environment as numba does, but import no module of numba's for it.

    Its variables would only be looked up by code that works on Python's objects, and ours never does.
    """
    found = cast(Any, lookup_environment)(name)
    if found is not None:
        return found
    if module.partition(".")[0] != "numba":
        variables = vars(importlib.import_module(module))
    else:
        variables = vars(sys.modules[module]) if module in sys.modules else {"__name__": module}
    made = Environment(variables)
    made.consts[:] = constants
    made.env_name = name
    Environment._memo[name] = made
    return made


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) == ("numba.core.environment", "_rebuild_env"):
            return _environment
        return super().find_class(module, name)


def typeof_pyval(dispatcher: Any) -> Callable[[Any], Any]:
    """Let a dispatcher find the types of arrays as numba does, but without importing masked arrays."""
    others = dispatcher.typeof_pyval

    def found(value: Any) -> Any:
        if type(value) is not np.ndarray:
            return others(value)
        try:
            dtype = numpy_support.from_dtype(value.dtype)
        except errors.NumbaNotImplementedError:
            return others(value)
        layout = cast(Any, numpy_support.map_layout)(value)
        made = types.Array(dtype, value.ndim, layout, readonly=not value.flags.writeable)
        dispatcher._types_active_call.add(made)
        return made

    return found
