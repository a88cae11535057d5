"""Compiled code is kept where only the user can write, is never out of date, and does not get mixed up."""

from __future__ import annotations

import ast
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
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.core import types
from numba.core.dispatcher import Dispatcher

import setveil
from cli_helpers import environment, needs_compiled, posix_only, write
from setveil.jit import loading, origin

_KERNELS = """
import logging, sys
logging.basicConfig(level=logging.INFO, format="%(message)s")
from setveil.jit import compiled

@compiled
def one(x):
    return x + 1

@compiled
def other(x):
    return x + 2

{"one": one, "other": other}[sys.argv[1]](1)
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
    return sorted(cache.rglob("*.nbc"))


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
from setveil.jit import compiled

@compiled
def inner(values):
    if values.size == 0:
        raise ValueError("nothing")
    return np.sort(values) + np.log(2.0)

@compiled
def outer(values):
    return inner(values).sum(), inner(values[1:])

@compiled
def later(n):
    return np.unique(np.arange(n) % 3)

values = np.array([2.0, 1.0])
assert np.allclose(inner(values), [1 + np.log(2), 2 + np.log(2)])
if sys.argv[1] == "all":
    total, rest = outer(values)
    assert np.isclose(total, 3 + 2 * np.log(2)) and np.allclose(rest, [1 + np.log(2)])
    assert later(9).tolist() == [0, 1, 2]
try:
    inner(values[2:])
except ValueError as error:
    print(error, sum(one._cache_hits[one.signatures[0]] for one in (inner, outer, later) if one.signatures))
"""


@pytest.mark.exhaustive
@needs_compiled
def test_what_is_loaded_and_what_is_compiled_go_together(tmp_path: Path) -> None:
    script = write(tmp_path / "mixed.py", _MIXED)
    for kernels, told in (("one", "nothing 0"), ("all", "nothing 1"), ("all", "nothing 3")):
        done = python(script, kernels, cache=tmp_path / "cache")
        assert (done.returncode, done.stdout.strip()) == (0, told), done.stderr


# Code of several processes in one

_SORTS = """
import sys
import numpy as np
from setveil.jit import compiled

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


@pytest.mark.exhaustive
@needs_compiled
def test_no_two_processes_give_functions_the_same_numbers(tmp_path: Path) -> None:
    """Each kernel of a file is compiled by a process of its own; what has a number is in one file only."""
    script = write(tmp_path / "sorts.py", _SORTS)
    for name in ("places", "ascending", "in_place"):
        assert python(script, name, cache=tmp_path / "cache").returncode == 0
    met: set[str] = set()
    for path in kept(tmp_path / "cache"):
        numbered = {name for name in symbols(path) if re.search(r"B\d+v\d+", name)}
        assert numbered
        assert not numbered & met
        met |= numbered


def payload(path: Path) -> Any:
    """Read what a file of compiled code holds behind its first lines, which say what it was made from."""
    content = path.read_bytes()[len(b"setveil 2\n") + 32 :]
    return pickle.loads(content[8 + int.from_bytes(content[:8]) :])  # noqa: S301


def symbols(path: Path) -> set[str]:
    """Name the functions that a file of compiled code defines."""
    from llvmlite import binding

    (_, _, (_, bitcode)), *_ = payload(path)
    module = binding.parse_bitcode(bitcode)
    return {function.name for function in module.functions if not function.is_declaration}


@posix_only
@needs_compiled
def test_a_fork_gives_other_numbers(tmp_path: Path) -> None:
    script = """
import os
from numba.core.bytecode import FunctionIdentity
import setveil.jit
numbers = {next(FunctionIdentity._unique_ids)}
for _ in range(3):
    read, wrote = os.pipe()
    if os.fork() == 0:
        os.write(wrote, str(next(FunctionIdentity._unique_ids)).encode())
        os._exit(0)
    os.wait()
    numbers.add(int(os.read(read, 99)))
assert len(numbers) == 4, numbers
"""
    done = python(write(tmp_path / "forks.py", script), cache=tmp_path / "cache")
    assert done.returncode == 0, done.stderr


# numba makes inner functions for these, too, but for each only one of given types.
_NUMPY = {
    "append", "arange", "bool_", "concatenate", "diff", "empty", "empty_like", "flatnonzero", "float64",
    "full", "int32", "int64", "log1p", "uint64", "zeros", "zeros_like",
}  # fmt: skip
_METHODS = {"append", "astype", "copy", "sum"}
_BUILTIN = {"abs", "bool", "heappop", "heappush", "len", "max", "min", "range"}


def dispatchers() -> list[Dispatcher]:
    """List all that is compiled."""
    found = {}
    for module in pkgutil.walk_packages(setveil.__path__, "setveil."):
        if module.name != "setveil.__main__" and "spark" not in module.name:
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Dispatcher):
                    found[value.py_func] = value
    return list(found.values())


def kernels() -> list[FunctionType]:
    """List the Python of all that is compiled."""
    return [cast(FunctionType, dispatcher.py_func) for dispatcher in dispatchers()]


@needs_compiled
def test_kernels_call_nothing_that_numba_makes_in_several_ways() -> None:
    """No sorts, above all: ours is in `setveil.sorting`. Add only what differs by the types it is given."""
    checked = kernels()
    assert len(checked) > 200
    for kernel in checked:
        for node in ast.walk(ast.parse(textwrap.dedent(inspect.getsource(kernel)))):
            if not isinstance(node, ast.Call) or node in getattr(node, "decorator_list", ()):
                continue
            where, called = (kernel.__module__, kernel.__name__), node.func
            if isinstance(called, ast.Name):
                ours = isinstance(kernel.__globals__.get(called.id), Dispatcher | int | type)
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


# What is out of date


@needs_compiled
def test_every_kernel_says_what_it_was_made_from() -> None:
    digests = [origin.digest(kernel) for kernel in kernels()]
    assert len(set(digests)) == len(digests)


_CALLER = """
import sys
sys.path.insert(0, sys.argv[1])
from setveil.jit import compiled
from setveil.errors import SetveilError
import callee

STEP = int(callee.STEP)

@compiled
def call(x):
    return callee_of_a_callee(x) + STEP

callee_of_a_callee = callee.between
print(call(1))
"""
_CALLEE = """
from setveil.jit import compiled
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

    def told() -> str:
        done = python(script, str(tmp_path), cache=tmp_path / "cache")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert told() == "102"
    before = len(kept(tmp_path / "cache"))
    stamp = (tmp_path / "callee.py").stat()
    for edited, result in (("x + 5", "106"), ("x + 1  # and a remark", "102")):
        write(tmp_path / "callee.py", _CALLEE.replace("x + 1", edited))
        os.utime(tmp_path / "callee.py", ns=(stamp.st_atime_ns, stamp.st_mtime_ns))  # as old as it was
        assert told() == result
    assert len(kept(tmp_path / "cache")) == 2 * before  # nothing was compiled for the remark
    write(tmp_path / "callee.py", _CALLEE.replace("STEP = 100", "STEP = 200"))
    assert told() == "202"


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
        b"setveil 2\n"
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
    assert python(script, "one", cache=cache).returncode == 0
    [path] = kept(cache)
    assert path.parent.stat().st_mode & 0o777 == 0o700
    path.write_bytes(b"cposix\nsystem\n(S'touch %s'\ntR." % os.fsencode(tmp_path / "owned"))
    path.parent.chmod(0o777)
    done = python(script, "one", cache=cache)
    assert done.returncode == 0
    assert "compiled code is not kept" in done.stderr
    assert not (tmp_path / "owned").exists()
    moved = path.parent.rename(tmp_path / "moved")
    moved.chmod(0o700)
    path.parent.symlink_to(moved)
    done = python(script, "one", cache=cache)
    assert done.returncode == 0
    assert not (tmp_path / "owned").exists()


@needs_compiled
def test_another_numba_python_or_processor_has_other_files(monkeypatch: pytest.MonkeyPatch) -> None:
    class Codegen:
        processor = "one"

        def magic_tuple(self) -> tuple[str, ...]:
            return ("linux", self.processor)

    kernel = kernels()[0]
    codegen = Codegen()
    given = (types.int64,)
    usual = origin.origin_of(kernel, given, codegen)
    assert origin.origin_of(kernel, given, codegen) == usual
    assert origin.origin_of(kernel, (types.int32,), codegen) != usual
    codegen.processor = "another"
    assert origin.origin_of(kernel, given, codegen) != usual
    codegen.processor = "one"
    for module, name in ((numba, "__version__"), (np, "__version__"), (sys, "version")):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, "another")
            origin.versions.cache_clear()
            assert origin.origin_of(kernel, given, codegen) != usual
    origin.versions.cache_clear()


@needs_compiled
def test_types_of_arrays_are_those_that_numba_finds() -> None:
    """What finds them for setveil's own functions does not import masked arrays."""
    kernel = next(iter(dispatchers()))
    found = loading.typeof_pyval(kernel)
    arrays: list[np.ndarray[Any, Any]] = [
        np.zeros(3), np.zeros(3, np.int32), np.zeros((2, 3), np.uint8), np.zeros((2, 3), order="F"),
        np.zeros(6)[::2], np.zeros((2, 3)).T, np.zeros(2, ">i4"), np.zeros(0, bool), np.array(1.0),
        np.array(["a"]), np.array([b"a"]), np.array([None]), np.zeros(2, "M8[s]"),
        np.zeros(2, [("a", int), ("b", float)]),
    ]  # fmt: skip
    for array in arrays:
        for writeable in (True, False):
            array.flags.writeable = writeable
            assert found(array) == cast(Any, Dispatcher).typeof_pyval(kernel, array), array.dtype
    assert found(3) == types.int64
