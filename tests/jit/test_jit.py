"""Compiled code is kept where only the user can write, is never out of date, and does not get mixed up."""

from __future__ import annotations

import ast
import copy
import ctypes
import hashlib
import importlib
import inspect
import os
import pickle
import pkgutil
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

import llvmlite
import numpy as np
import pytest

import setveil
from cli_helpers import environment, needs_compiled, posix_only, write
from setveil.base.jit import Kernel, calls, origin, processor
from setveil.base.sorting import sort_piece

_KERNELS = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from setveil.base.jit import compiled

@compiled
def one(x):
    return x + 1

@compiled
def other(x):
    return x + 2

print({"one": one, "other": other}[sys.argv[1]](1))
"""


def python(
    script: Path, *words: str, cache: Path, before: Callable[[], None] | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(script), *words],
        env=environment({"NUMBA_CACHE_DIR": str(cache), "PYTHONDONTWRITEBYTECODE": "1"}),
        preexec_fn=before,
        capture_output=True,
        text=True,
        check=False,
    )


def kept(cache: Path) -> list[Path]:
    return sorted(cache.rglob("*.kernel"))


@pytest.mark.exhaustive
@needs_compiled
def test_said_once_per_machine(tmp_path: Path) -> None:
    script = write(tmp_path / "kernels.py", _KERNELS)

    def said(kernel: str, cache: str) -> str:
        return python(script, kernel, cache=tmp_path / cache).stderr

    assert said("one", "cache") == "compiling, first run only\n"
    assert said("one", "cache") == ""
    assert said("other", "cache") == ""  # compiled, too, but it was said
    assert said("other", "another") == "compiling, first run only\n"


@posix_only
@needs_compiled
def test_a_full_disk_keeps_nobody_from_working(tmp_path: Path) -> None:
    import resource

    script = write(tmp_path / "kernels.py", _KERNELS)
    done = python(
        script,
        "one",
        cache=tmp_path / "cache",
        before=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10)),
    )
    assert (done.returncode, done.stderr) == (0, "compiling, first run only\n")
    assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []


_MIXED = """
import sys
import numpy as np
from setveil.base.jit import compiled

@compiled
def inner(values):
    return np.sort(values) + np.log(2.0)

@compiled
def outer(values):
    return inner(values).sum(), inner(values[1:])

@compiled
def later(n):
    return np.arange(n) * 2

values = np.array([2.0, 1.0])
assert np.allclose(inner(values), [1 + np.log(2), 2 + np.log(2)])
if sys.argv[1] == "all":
    total, rest = outer(values)
    assert np.isclose(total, 3 + 2 * np.log(2)) and np.allclose(rest, [1 + np.log(2)])
    assert later(3).tolist() == [0, 2, 4]
print("numba" in sys.modules)
"""


@pytest.mark.exhaustive
@needs_compiled
def test_what_is_loaded_and_what_is_compiled_go_together(tmp_path: Path) -> None:
    script = write(tmp_path / "mixed.py", _MIXED)
    for kernels, compiles, files in (
        ("one", True, 1),
        ("one", False, 1),
        ("all", True, 3),
        ("all", False, 3),
    ):
        done = python(script, kernels, cache=tmp_path / "cache")
        assert (done.returncode, done.stdout.strip()) == (0, str(bool(compiles))), done.stderr
        assert len(kept(tmp_path / "cache")) == files


# What goes in and comes out

_VALUES = """
import gc, sys, tracemalloc
from typing import NamedTuple
import numpy as np
from setveil.base.jit import compiled

class Pair(NamedTuple):
    left: np.ndarray
    right: np.ndarray

@compiled
def everything(numbers, pair, table, flag, share, small):
    pair.right[0] = flag
    shifted = numbers + small
    both = np.zeros((2, numbers.size))
    both[1] = share
    heap = [np.int64(4)]
    heap.append(np.int64(table[1, 0]))
    rest = shifted[1:]
    return shifted, (rest, both), heap[1], share * 2, not flag, numbers, pair.left.sum(), table.shape[1]

@compiled
def nothing(values):
    values[:] = 5

@compiled
def too_much(n):
    return np.zeros(n, np.int64)

numbers = np.arange(4, dtype=np.int32)
numbers.flags.writeable = False
pair = Pair(np.array([2, 3], np.uint64), np.zeros(1, np.bool_))
table = np.array([[1, 2, 3], [7, 8, 9]], np.int16)
shifted, (rest, both), last, double, other, same, total, width = everything(
    numbers, pair, table, True, 1.5, np.int32(2)
)
assert shifted.dtype == np.int32 and shifted.tolist() == [2, 3, 4, 5]
assert rest.tolist() == [3, 4, 5] and both.tolist() == [[0] * 4, [1.5] * 4]
rest[0] = 99
assert shifted[1] == 99 and shifted.flags.writeable
del shifted
gc.collect()
assert rest.tolist() == [99, 4, 5]
assert (last, double, other, total, width) == (7, 3.0, False, 5, 3) and pair.right.tolist() == [True]
assert [type(one) for one in (last, double, other, total, width)] == [int, float, bool, int, int]
assert same.ctypes.data == numbers.ctypes.data and not same.flags.writeable

values = np.zeros(3)
assert nothing(values) is None and values.tolist() == [5, 5, 5]
nothing(values[:0])
wide = np.zeros((4, 2))[:, 0]  # not contiguous: numba compiles it here, for this process
nothing(wide)
assert wide.tolist() == [5] * 4
try:
    too_much(1 << 60)
except MemoryError:
    print("no memory")
for _ in range(3):
    too_much(10)
tracemalloc.start()
for _ in range(1000):
    too_much(10_000)
assert tracemalloc.get_traced_memory()[0] < 1_000_000
try:
    nothing(2 ** 70)
except Exception as error:
    print(type(error).__name__)
"""


@needs_compiled
def test_values_go_in_and_come_out(tmp_path: Path) -> None:
    """Arrays, numbers and tuples of all kinds; memory is freed, and its lack is an error."""
    script = write(tmp_path / "values.py", _VALUES)
    for _ in range(2):  # compiled, and loaded
        done = python(script, cache=tmp_path / "cache")
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "no memory"), done.stderr


# Code of several processes in one

_SORTS = """
import sys
import numpy as np
from setveil.base.jit import compiled

@compiled
def places(values):
    return np.argsort(values)

@compiled
def ascending(values):
    return np.sort(values)

@compiled
def in_place(values):
    values.sort()
    return values

values = np.array([30, 10, 20])
right = {"places": [1, 2, 0], "ascending": [10, 20, 30], "in_place": [10, 20, 30]}
for name in sys.argv[1:]:
    found = globals()[name](values.copy()).tolist()
    assert found == right[name], (name, found)
"""


@pytest.mark.exhaustive
@needs_compiled
def test_what_processes_compiled_apart_is_not_mixed_up(tmp_path: Path) -> None:
    """numba's sorts have one name, and two processes that compile as many functions gave them one number."""
    script = write(tmp_path / "sorts.py", _SORTS)
    names = ("places", "ascending", "in_place")
    for name in names:
        done = python(script, name, cache=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
    assert len(kept(tmp_path / "cache")) == 3
    for order in (names, names[::-1]):
        done = python(script, *order, cache=tmp_path / "cache")
        assert done.returncode == 0, done.stderr


# Functions of NumPy and Python that kernels may call. They raise no errors and make no arrays of another
# form, as append, diff and flatnonzero do, because object files do not support that. Sorts are not included,
# as they are compiled again for each caller.
_NUMPY = {
    "arange", "bool_", "concatenate", "empty", "empty_like", "float64",
    "full", "int32", "int64", "log1p", "nonzero", "uint64", "zeros", "zeros_like",
}  # fmt: skip
_METHODS = {"append", "astype", "copy", "sum"}
_BUILTIN = {"abs", "bool", "heappop", "heappush", "len", "max", "min", "range"}


def kernels() -> list[FunctionType]:
    """List the Python of all that is compiled."""
    found = set()
    for module in pkgutil.walk_packages(setveil.__path__, "setveil."):
        if module.name != "setveil.__main__" and "spark" not in module.name:
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Kernel):
                    found.add(value.py_func)
    return sorted(found, key=lambda one: (one.__module__, one.__qualname__))


@needs_compiled
def test_kernels_call_little_and_raise_nothing() -> None:
    """Our sort is in `setveil.base.sorting`."""
    checked = kernels()
    assert len(checked) > 200
    for kernel in checked:
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kernel)))):
            assert not isinstance(node, ast.Raise | ast.Assert), (kernel.__module__, kernel.__name__)
            if not isinstance(node, ast.Call) or node in getattr(node, "decorator_list", ()):
                continue
            where, called = (kernel.__module__, kernel.__name__), node.func
            if isinstance(called, ast.Name):
                ours = isinstance(kernel.__globals__.get(called.id), Kernel | int | type)
                assert ours or called.id in _BUILTIN, (*where, called.id)
            elif isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
                of = kernel.__globals__.get(called.value.id)
                allowed = (
                    _NUMPY if isinstance(of, ModuleType) and of.__name__ == "numpy" else _METHODS | {"log"}
                )
                assert called.attr in allowed, (*where, called.attr)
            else:
                assert isinstance(called, ast.Attribute), where
                assert called.attr in _METHODS, (*where, called.attr)


# Outdated files


@needs_compiled
def test_every_kernel_says_what_it_was_made_from() -> None:
    digests = [origin.digest(kernel) for kernel in kernels()]
    assert len(set(digests)) == len(digests)


_CALLER = """
import sys
sys.path.insert(0, sys.argv[1])
from setveil.base.jit import compiled
from setveil.base.errors import SetveilError
import callee

STEP = int(callee.STEP)

@compiled
def call(x):
    return callee_of_a_callee(x) + STEP

callee_of_a_callee = callee.between
print(call(1))
"""
_CALLEE = """
from setveil.base.jit import compiled
STEP = 100

@compiled
def last(x):
    return x + 1

@compiled
def between(x):
    return last(x)
"""


@pytest.mark.exhaustive
@needs_compiled
def test_a_callee_in_another_file_is_edited(tmp_path: Path) -> None:
    script = write(tmp_path / "caller.py", _CALLER)
    write(tmp_path / "callee.py", _CALLEE)

    def output() -> str:
        done = python(script, str(tmp_path), cache=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert output() == "102"
    before = len(kept(tmp_path / "cache"))
    stamp = (tmp_path / "callee.py").stat()
    for edited, result in (("x + 5", "106"), ("x + 1  # and a remark", "102")):
        write(tmp_path / "callee.py", _CALLEE.replace("x + 1", edited))
        os.utime(tmp_path / "callee.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as old as it was
        assert output() == result
    assert len(kept(tmp_path / "cache")) == 2 * before  # nothing was compiled for the remark
    write(tmp_path / "callee.py", _CALLEE.replace("STEP = 100", "STEP = 200"))
    assert output() == "202"


@pytest.mark.exhaustive
@needs_compiled
def test_files_that_are_cut_off_are_replaced(tmp_path: Path) -> None:
    script = write(tmp_path / "kernels.py", _KERNELS)
    assert python(script, "one", cache=tmp_path / "cache").returncode == 0
    [path] = kept(tmp_path / "cache")
    whole = path.read_bytes()
    flipped = bytearray(whole)
    flipped[-len(whole) // 2] ^= 1
    other = (
        b"setveil 5\n"
        + hashlib.sha256(whole[42:50] + b"?" + whole[51:]).digest()
        + whole[42:50]
        + b"?"
        + whole[51:]
    )
    for broken in (b"", whole[: len(whole) // 2], whole[:-1], bytes(flipped), other, b"\x80\x04K\x01."):
        path.write_bytes(broken)
        done = python(script, "one", cache=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        assert path.stat().st_size == pytest.approx(len(whole), rel=0.1)


@pytest.mark.exhaustive
@posix_only
@needs_compiled
def test_nothing_is_loaded_from_a_folder_that_others_can_write(tmp_path: Path) -> None:
    script = write(tmp_path / "kernels.py", _KERNELS)
    cache = tmp_path / "cache"
    assert python(script, "one", cache=cache).stdout == "2\n"
    [path] = kept(cache)
    assert python(script, "other", cache=cache).stdout == "3\n"
    assert path.parent.stat().st_mode & 0o777 == 0o700
    replace_code(path, *[other for other in kept(cache) if other != path])
    assert python(script, "one", cache=cache).stdout == "3\n"  # a folder of the user's own is trusted
    path.parent.chmod(0o777)
    done = python(script, "one", cache=cache)
    assert (done.returncode, done.stdout) == (0, "2\n")
    assert "compiled code is not kept" in done.stderr
    moved = path.parent.rename(tmp_path / "moved")
    moved.chmod(0o700)
    path.parent.symlink_to(moved)
    assert python(script, "one", cache=cache).stdout == "2\n"


def replace_code(path: Path, by: Path) -> None:
    """Give a file of compiled code that of another one, and the hash that makes it whole."""
    said, _ = parts(path)
    content = len(said).to_bytes(8, "big") + said + parts(by)[1]
    path.write_bytes(b"setveil 5\n" + hashlib.sha256(content).digest() + content)


def parts(path: Path) -> tuple[bytes, bytes]:
    """Read the source of a file of compiled code, and the code."""
    content = path.read_bytes()[len(b"setveil 5\n") + 32 :]
    end = 8 + int.from_bytes(content[:8], "big")
    return content[8:end], content[end:]


@needs_compiled
def test_another_numba_python_or_processor_has_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = kernels()[0]
    usual = origin.origin_of(kernel, ["int64"])
    assert origin.origin_of(kernel, ["int64"]) == usual
    assert origin.origin_of(kernel, ["int32"]) != usual
    for module, name, other in (
        (origin, "version_of_numba", lambda: "another"),
        (llvmlite, "__version__", "another"),
        (sys, "version", "another"),
        (processor, "wanted", lambda: ("another", "")),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, other)
            origin.versions.cache_clear()
            assert origin.origin_of(kernel, ["int64"]) != usual
    origin.versions.cache_clear()


def test_only_public_names_of_numba_and_llvmlite_are_imported() -> None:
    found = set()
    for path in Path(setveil.__file__).parent.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if re.search("numba|llvmlite", text) else ():
            names = [one.name for one in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            module = getattr(node, "module", None) or ""
            if any((module or name).startswith(("numba", "llvmlite")) for name in names):
                found |= {f"{module}.{name}".strip(".") for name in names}
    assert "numba.np.arrayobj" in found
    assert [name for name in found if re.search(r"\._", name)] == []


@needs_compiled
def test_kernels_are_pickled_by_name() -> None:
    assert pickle.loads(pickle.dumps(sort_piece)) is copy.deepcopy(sort_piece) is sort_piece  # noqa: S301


def test_arrays_keep_their_address_where_numpys_header_says() -> None:
    for array in (np.arange(3), np.zeros((2, 3), np.bool_), np.arange(9)[2:], np.zeros(0)):
        place = ctypes.c_void_p.from_address(id(array) + calls._ADDRESS)
        assert place.value == array.ctypes.data
