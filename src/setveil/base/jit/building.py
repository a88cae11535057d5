"""From a function in Python to an object file.

numba compiles the kernel for some types, with all that it calls. A function that C can call is added: it
reads the arguments from a row of numbers, calls the kernel, and writes the result into another row
(`setveil.base.jit.calls`). It returns 0, or 1 without memory, the only error of a kernel. The functions that
allocate memory are added (`setveil.base.jit.memory_runtime`), and LLVM makes an object file of all.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import types as of_numba
from numba.extending import typeof_impl
from numba.np import arrayobj

from setveil.base.jit import Kernel, calls, loading, memory_runtime

log = logging.getLogger("setveil")

types: Any = of_numba
_WITHOUT_WRAPPERS: Any = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
_ROW = ir.IntType(64).as_pointer()
_fill_array: Any = arrayobj.populate_array
_STATUS = ir.IntType(32)
# What is looked up when an object file is loaded: the memory of Python, and functions of C.
_FROM_ELSEWHERE = {
    *("PyMem_RawMalloc", "PyMem_RawRealloc", "PyMem_RawFree"),
    *("exp", "expm1", "log", "log1p", "log2", "log10", "pow", "memcpy", "memmove", "memset"),
}
# What numba's code calls only to turn an error into one of Python's.
_FOR_ERRORS = ("Py", "numba_do_raise", "numba_gil_", "numba_unpickle", "numba_runtime_build_excinfo_struct")


@typeof_impl.register(Kernel)
def _type_of_kernel(kernel: Kernel, context: Any) -> Any:
    return types.Dispatcher(kernel.for_kernels)


def for_kernels(kernel: Kernel) -> Any:
    """Let numba compile a kernel for others that call it."""
    return numba.njit(kernel.py_func, **_WITHOUT_WRAPPERS)


def for_python(kernel: Kernel) -> Any:
    """Let numba compile a kernel that Python calls with what object files cannot take."""
    return numba.njit(kernel.py_func, nogil=True)


def built(kernel: Kernel, arguments: list[calls.Type]) -> bytes | None:
    """Compile a kernel for some types; None: what it returns or calls cannot be in a file."""
    signature = tuple(map(of_written, arguments))
    kernel.for_kernels.compile(signature)
    compiled = kernel.for_kernels.overloads[signature]
    result = compiled.signature.return_type
    try:
        written = _written(result)
    except ValueError:
        return None
    source = kernel.for_kernels.inspect_llvm(signature)
    # the only name in the file that others see, so no other file may have it
    name = f"entry_{kernel.py_func.__name__}_{hashlib.sha256(source.encode()).hexdigest()[:16]}"
    module = binding.parse_assembly(source)
    for more in (memory_runtime.source(), _entry(name, kernel.for_kernels.targetctx, compiled.fndesc)):
        module.link_in(binding.parse_assembly(more))
    module.link_in(binding.parse_assembly(_never_called(module)))
    missing = _undefined(module)
    if missing:
        names = ", ".join(one.name for one in missing)
        log.warning("%s is compiled by each process, as it calls %s", kernel.name, names)
        return None
    for one in _globals(module):
        if not one.is_declaration and one.name != name:
            one.linkage = "internal"
    code = loading.target_machine().emit_object(module)
    return loading.packed(name, arguments, written, code)


def of_written(one: calls.Type) -> Any:
    """Return numba's type for one that is written down."""
    if isinstance(one, list):
        name, members = calls.class_of(one)
        inner = [of_written(member) for member in members]
        made: Any = types.Tuple
        return made(inner) if not name else types.BaseTuple.from_types(inner, calls.named(name))
    dtype, dimensions, is_const = calls.parts_of(one)
    number = types.boolean if dtype == "bool" else getattr(types, dtype)
    return types.Array(number, dimensions, "C", readonly=is_const) if dimensions else number


def _written(one: Any) -> calls.Type | None:
    """Write down a type of numba's that is returned."""
    one = types.unliteral(one)
    if isinstance(one, types.NoneType):
        return None
    if isinstance(one, types.BaseTuple):
        made = getattr(one, "instance_class", tuple)
        name = [] if made is tuple else [calls.name_of_class(made)]
        return name + [_written(member) for member in one.types]
    if isinstance(one, types.Array) and one.layout == "C":
        return f"{'' if one.mutable else 'const '}{one.dtype}[{one.ndim}C]"
    if isinstance(one, types.Integer | types.Float | types.Boolean):
        return str(one)
    raise ValueError(one)


def _globals(module: Any) -> list[Any]:
    return [one for one in (*module.functions, *module.global_variables) if not one.name.startswith("llvm.")]


def _undefined(module: Any) -> list[Any]:
    """List what a module uses, and neither defines nor finds when it is loaded."""
    return [one for one in _globals(module) if one.is_declaration and one.name not in _FROM_ELSEWHERE]


def _never_called(module: Any) -> str:
    """Write functions for what is only called to turn errors into those of Python: they end the process."""
    missing = [one for one in _undefined(module) if one.name.startswith(_FOR_ERRORS)]
    functions = {one.name for one in module.functions}
    lines = [
        f'define void @"{one.name}"() {{ call void @llvm.trap() unreachable }}'
        if one.name in functions else f'@"{one.name}" = global i64 0'
        for one in missing
    ]  # fmt: skip
    return "\n".join(["declare void @llvm.trap()", *lines])


def _entry(name: str, context: Any, described: Any) -> str:
    """Write the function that C calls, in LLVM's language."""
    module = context.create_module(name)
    function = ir.Function(module, ir.FunctionType(_STATUS, [_ROW, _ROW]), name)
    build = ir.IRBuilder(function.append_basic_block())
    kernel_type = context.call_conv.get_function_type(described.restype, described.argtypes)
    kernel = ir.Function(module, kernel_type, described.llvm_func_name)
    row = _numbers(build, function.args[0])
    values = [_read(context, build, one, row) for one in described.argtypes]
    status, result = context.call_conv.call_function(
        build, kernel, described.restype, described.argtypes, values
    )
    with build.if_then(status.is_error, likely=False):
        build.ret(_STATUS(1))
    _write(context, build, described.restype, result, _places(build, function.args[1]))
    build.ret(_STATUS(0))
    return str(module)


def _places(build: Any, row: Any) -> Iterator[Any]:
    """Give the address of one number of a row after the other."""
    at = 0
    while True:
        yield build.gep(row, [ir.IntType(64)(at)])
        at += 1


def _numbers(build: Any, row: Any) -> Iterator[Any]:
    """Read one number of a row after the other."""
    for place in _places(build, row):
        yield build.load(place)


def _read(context: Any, build: Any, one: Any, row: Iterator[Any]) -> Any:
    """Read a value of a type from the numbers of a row."""
    wanted = context.get_value_type(one)
    if isinstance(one, types.BaseTuple):
        members = [_read(context, build, member, row) for member in one.types]
        return context.make_tuple(build, one, members)
    if isinstance(one, types.Array):
        return _read_array(context, build, one, row)
    number = next(row)
    if isinstance(one, types.Boolean):
        return build.icmp_unsigned("!=", number, number.type(0))
    if isinstance(one, types.Integer):
        return build.trunc(number, wanted) if wanted.width < 64 else number
    double = build.bitcast(number, ir.DoubleType())
    return double if wanted == double.type else build.fptrunc(double, wanted)


def _read_array(context: Any, build: Any, one: Any, row: Iterator[Any]) -> Any:
    """Read an array from the place of its address, and its lengths."""
    place, *shape = [next(row) for _ in range(1 + one.ndim)]
    address = build.load(build.inttoptr(place, _ROW))
    size = place.type(context.get_abi_sizeof(context.get_data_type(one.dtype)))
    strides = [size]
    for length in shape[:0:-1]:
        strides.insert(0, build.mul(strides[0], length))
    array = context.make_array(one)(context, build)
    _fill_array(
        array, data=build.inttoptr(address, array.data.type), shape=tuple(shape), strides=tuple(strides),
        itemsize=size, meminfo=None,
    )  # fmt: skip
    return array._getvalue()


def _write(context: Any, build: Any, one: Any, value: Any, places: Iterator[Any]) -> None:
    """Write a value of a type as numbers."""
    one = types.unliteral(one)
    if isinstance(one, types.NoneType):
        return
    if isinstance(one, types.BaseTuple):
        for at, member in enumerate(one.types):
            _write(context, build, member, build.extract_value(value, at), places)
        return
    if isinstance(one, types.Array):
        array = context.make_array(one)(context, build, value=value)
        word = ir.IntType(64)
        shape = [build.extract_value(array.shape, at) for at in range(one.ndim)]
        for number in (build.ptrtoint(array.meminfo, word), build.ptrtoint(array.data, word), *shape):
            build.store(number, next(places))
        return
    if isinstance(one, types.Float):
        double = value if value.type == ir.DoubleType() else build.fpext(value, ir.DoubleType())
        build.store(build.bitcast(double, ir.IntType(64)), next(places))
    elif value.type.width < 64:
        widen: Callable[..., Any] = build.sext if getattr(one, "signed", False) else build.zext
        build.store(widen(value, ir.IntType(64)), next(places))
    else:
        build.store(value, next(places))
