"""The memory of compiled functions: what numba's code calls to allocate arrays and lists.

numba counts the references to a block of memory in a head that stands before it, and calls the block's
destructor at the last one ("Notes on the Numba Runtime" in its documentation). The head: references,
destructor, something for that, address of the data, size. The memory itself is Python's.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

_SIZE, _SHORT, _POINTER, _NONE = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer(), ir.VoidType()
_HEAD = ir.LiteralStructType([_SIZE, _POINTER, _POINTER, _POINTER, _SIZE])
_DESTRUCTOR, _FOR_DESTRUCTOR, _DATA, _LENGTH = 1, 2, 3, 4
_ROOM = 64  # for the head


class _Writer:
    """Writes functions into a module of LLVM."""

    def __init__(self) -> None:
        self.module = ir.Module("memory")
        self.build = ir.IRBuilder()

    def begin(self, name: str, result: ir.Type, *arguments: ir.Type) -> Any:
        """Begin a function, and return its arguments."""
        function = ir.Function(self.module, ir.FunctionType(result, arguments), name)
        self.build = ir.IRBuilder(function.append_basic_block())
        return function.args

    def call(self, name: str, *values: Any) -> Any:
        return self.build.call(self.module.globals[name], values)

    def field(self, block: Any, number: int) -> Any:
        """Return the address of a field of a block's head."""
        head = self.build.bitcast(block, _HEAD.as_pointer())
        return self.build.gep(head, [_SHORT(0), _SHORT(number)])

    def load(self, block: Any, number: int) -> Any:
        return self.build.load(self.field(block, number))

    def store(self, block: Any, number: int, value: Any) -> None:
        self.build.store(value, self.field(block, number))

    def return_if_null(self, pointer: Any) -> None:
        with self.build.if_then(self.build.icmp_unsigned("==", pointer, _POINTER(None))):
            self.build.ret(_POINTER(None))

    def call_if_any(self, address: Any, *values: Any) -> None:
        """Call the function that a pointer leads to, if any."""
        of = ir.FunctionType(_NONE, [value.type for value in values])
        with self.build.if_then(self.build.icmp_unsigned("!=", address, _POINTER(None))):
            self.build.call(self.build.bitcast(address, of.as_pointer()), values)

    def fill(self, block: Any, destructor: Any, data: Any, length: Any) -> None:
        """Write the head of a new block, to which there is one reference."""
        for number, value in enumerate((_SIZE(1), destructor, _POINTER(None), data, length)):
            self.store(block, number, value)


def source() -> str:
    """Write the functions in LLVM's language."""
    write = _Writer()
    for name, result, *arguments in (
        ("PyMem_RawMalloc", _POINTER, _SIZE),
        ("PyMem_RawRealloc", _POINTER, _POINTER, _SIZE),
        ("PyMem_RawFree", _NONE, _POINTER),
    ):
        ir.Function(write.module, ir.FunctionType(result, arguments), name)
    _arrays(write)
    _lists(write)
    return str(write.module)


def _arrays(write: _Writer) -> None:
    """Write what allocates and frees arrays, whose data stand behind the head."""
    size, align = write.begin("NRT_MemInfo_alloc_aligned", _POINTER, _SIZE, _SHORT)
    build = write.build
    align = build.zext(align, _SIZE)
    block = write.call("PyMem_RawMalloc", build.add(build.add(size, align), _SIZE(_ROOM)))
    write.return_if_null(block)
    end = build.add(build.ptrtoint(block, _SIZE), build.add(align, _SIZE(_ROOM - 1)))
    data = build.inttoptr(build.and_(end, build.neg(align)), _POINTER)
    write.fill(block, _POINTER(None), data, size)
    build.ret(block)

    (size,) = write.begin("NRT_MemInfo_alloc", _POINTER, _SIZE)
    write.build.ret(write.call("NRT_MemInfo_alloc_aligned", size, _SHORT(16)))

    (size,) = write.begin("NRT_Allocate", _POINTER, _SIZE)  # of words for an error
    write.build.ret(write.call("PyMem_RawMalloc", size))

    (block,) = write.begin("NRT_Free", _NONE, _POINTER)
    write.call("PyMem_RawFree", block)
    write.build.ret_void()

    (block,) = write.begin("NRT_MemInfo_call_dtor", _NONE, _POINTER)
    values = [write.load(block, number) for number in (_DATA, _LENGTH, _FOR_DESTRUCTOR)]
    write.call_if_any(write.load(block, _DESTRUCTOR), *values)
    write.call("PyMem_RawFree", block)
    write.build.ret_void()


def _lists(write: _Writer) -> None:
    """Write what allocates lists, whose data are a block of their own that grows."""
    data, _, of_members = write.begin("end_list", _NONE, _POINTER, _SIZE, _POINTER)
    write.call_if_any(of_members, data)
    write.call("PyMem_RawFree", data)
    write.build.ret_void()

    size, of_members = write.begin("NRT_MemInfo_new_varsize_dtor", _POINTER, _SIZE, _POINTER)
    block = write.call("PyMem_RawMalloc", _SIZE(_ROOM))
    write.return_if_null(block)
    data = write.call("PyMem_RawMalloc", size)
    with write.build.if_then(write.build.icmp_unsigned("==", data, _POINTER(None))):
        write.call("PyMem_RawFree", block)
        write.build.ret(_POINTER(None))
    write.fill(block, write.build.bitcast(write.module.globals["end_list"], _POINTER), data, size)
    write.store(block, _FOR_DESTRUCTOR, of_members)
    write.build.ret(block)

    (size,) = write.begin("NRT_MemInfo_new_varsize", _POINTER, _SIZE)
    write.build.ret(write.call("NRT_MemInfo_new_varsize_dtor", size, _POINTER(None)))

    block, size = write.begin("NRT_MemInfo_varsize_realloc", _POINTER, _POINTER, _SIZE)
    data = write.call("PyMem_RawRealloc", write.load(block, _DATA), size)
    write.return_if_null(data)
    write.store(block, _DATA, data)
    write.store(block, _LENGTH, size)
    write.build.ret(data)
