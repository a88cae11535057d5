"""Compiled code that comes with the package: used if it fits, and otherwise never.

A copy of the package gets a folder of kernels, compiled as for a wheel; then something is changed.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil
from cli_helpers import environment, needs_compiled, posix_only
from setveil.base.jit import processor

pytestmark = [
    needs_compiled,
    pytest.mark.skipif(not processor.baseline(), reason="no kernels are shipped for this machine"),
    pytest.mark.skipif(not processor.runs_baseline(), reason="this processor is older than the baseline"),
]

# `before` runs before anything is compiled or loaded; it may change setveil's view of the system.
_RUN = """
import sys
{before}
import numpy as np
from setveil.kernels.rows import _recode
from setveil.base.sorting import sort_piece
from setveil.base.jit import files
indptr, items = np.array([0, 3, 5]), np.array([2, 0, 1, 1, 0], np.int32)
image = np.array([7, 5, 7], np.int32)
for one in (indptr, items, image):
    one.flags.writeable = False
out_ptr, out = np.zeros(3, np.int64), np.zeros(5, np.int32)
_recode(indptr, items, image, out_ptr, out)
sort_piece(np.array([3, 1, 2]), 0, 3)
kept = files.folder()
written = [*kept.glob("*.kernel")] if kept else []
print(out_ptr.tolist(), out[:4].tolist(), "numba" in sys.modules, len(written))
"""
# Only whether there is something that would be used, which takes no compiling.
_LOOK = """
import sys
{before}
from setveil.kernels.rows import _recode
given = ["const int64[1C]", "const int32[1C]", "const int32[1C]", "int64[1C]", "int32[1C]"]
print(_recode.load(given) is not None)
"""
RESULT = "[0, 2, 4] [5, 7, 5, 7]"
SHIPPED, COMPILED = f"{RESULT} False 0", f"{RESULT} True 2"


def run(package: Path, cache: Path, before: str = "", script: str = _RUN, **more: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script.format(before=before)],
        env=environment({"PYTHONPATH": str(package), "NUMBA_CACHE_DIR": str(cache), **more}),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def is_used(package: Path, tmp_path: Path, before: str = "", **more: str) -> bool:
    """Return whether a shipped function would be used; nothing was compiled here."""
    return {"True": True, "False": False}[run(package, tmp_path / "empty", before, _LOOK, **more)]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the package with kernels, not to be changed."""
    folder = tmp_path_factory.mktemp("shipped")
    package = folder / "package"
    shutil.copytree(
        Path(setveil.__file__).parent,
        package / "setveil",
        ignore=shutil.ignore_patterns("_kernels", "__pycache__"),
    )
    assert run(package, folder / "cache", **processor.baseline()) == COMPILED
    kernels = package / "setveil" / "_kernels"
    kernels.mkdir(mode=0o755)
    for path in (folder / "cache").rglob("*.kernel"):
        shutil.copy(path, kernels)
        (kernels / path.name).chmod(0o644)
    return package


@pytest.fixture
def package(built: Path, tmp_path: Path) -> Path:
    """Return a copy that a test may change."""
    return Path(shutil.copytree(built, tmp_path / "package", copy_function=shutil.copy2))


def kernels_of(package: Path) -> Path:
    return package / "setveil" / "_kernels"


def test_what_fits_is_used(built: Path, tmp_path: Path) -> None:
    assert run(built, tmp_path / "cache") == SHIPPED
    assert is_used(built, tmp_path)


@pytest.mark.exhaustive
def test_what_was_compiled_here_comes_first(package: Path, tmp_path: Path) -> None:
    kernels_of(package).rename(tmp_path / "aside")
    assert run(package, tmp_path / "cache") == COMPILED
    (tmp_path / "aside").rename(kernels_of(package))
    assert run(package, tmp_path / "cache") == f"{RESULT} False 2"
    shutil.rmtree(kernels_of(package))
    assert run(package, tmp_path / "cache") == f"{RESULT} False 2"


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "before",
    [
        # another processor, and an unknown one
        "from llvmlite import binding\n"
        "has = {'sse3': True, 'neon': False}\n"
        "binding.get_host_cpu_features = lambda: binding.targets.FeatureMap(has)",
        "from llvmlite import binding\n"
        "def unknown(): raise RuntimeError\n"
        "import setveil.base.jit; binding.get_host_cpu_features = unknown",
        "import platform, setveil.base.jit.processor; platform.machine = lambda: 'another'",
        # another Python: its bytecode, its name
        "import importlib.util; importlib.util.MAGIC_NUMBER = b'ab'",
        "import sys; sys.implementation.cache_tag = 'another'",
        # another numba, llvmlite, form of files
        "from setveil.base.jit import origin; origin.version_of = lambda name: '0.0'",
        "import llvmlite; llvmlite.__version__ += '.1'",
        "from setveil.base.jit import origin; origin.FORM = 'setveil 99'",
    ],
)  # fmt: skip
def test_what_does_not_fit_is_not_used(before: str, built: Path, tmp_path: Path) -> None:
    assert not is_used(built, tmp_path, before)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("NUMBA_CPU_NAME", "generic"),
        ("NUMBA_CPU_FEATURES", ""),
        ("NUMBA_BOUNDSCHECK", "1"),
        ("NUMBA_OPT", "1"),
    ],
)
def test_explicit_settings_of_numba_prevail(name: str, value: str, built: Path, tmp_path: Path) -> None:
    assert not is_used(built, tmp_path, **{name: value})


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("file", "old", "new", "compiled"),
    [("kernels/rows.py", "to >= 0:", "to > -1:", 1), ("base/sorting.py", "SHORT = 32", "SHORT = 16", 2)],
)
def test_an_edited_function_callee_or_constant_is_compiled(
    file: str, old: str, new: str, compiled: int, package: Path, tmp_path: Path
) -> None:
    path = package / "setveil" / file
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert run(package, tmp_path / "cache") == f"{RESULT} True {compiled}"


def _cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


def _change_one_bit(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 4
    path.write_bytes(content)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.exhaustive
@pytest.mark.parametrize("damage", [_cut, _change_one_bit, _empty])
def test_damaged_files_are_not_used(damage: Callable[[Path], None], package: Path, tmp_path: Path) -> None:
    for path in kernels_of(package).iterdir():
        damage(path)
    assert not is_used(package, tmp_path)
    if damage is _change_one_bit:
        assert run(package, tmp_path / "cache") == COMPILED


def test_a_file_under_the_name_of_another_is_not_used(package: Path, tmp_path: Path) -> None:
    one, other = sorted(kernels_of(package).iterdir())
    content = one.read_bytes()
    one.write_bytes(other.read_bytes())
    other.write_bytes(content)
    assert not is_used(package, tmp_path)


@posix_only
def test_a_folder_or_files_that_cannot_be_written_are_used(package: Path, tmp_path: Path) -> None:
    for path in [*kernels_of(package).iterdir(), kernels_of(package)]:
        path.chmod(path.stat().st_mode & ~0o222)
    try:
        assert run(package, tmp_path / "cache") == SHIPPED
        # Nor need there be a folder of the user's own.
        (tmp_path / "file").touch()
        assert run(package, tmp_path / "file") == SHIPPED
    finally:
        kernels_of(package).chmod(0o755)


@pytest.mark.exhaustive
@posix_only
@pytest.mark.parametrize("mode", [0o002, 0o020])
def test_what_others_can_write_is_not_used(mode: int, package: Path, tmp_path: Path) -> None:
    groups = [12345, *os.getgroups()]
    another = next(group for group in groups if group != os.getgid()) if mode == 0o020 else -1
    folder = kernels_of(package)
    for paths in ([folder], [*folder.iterdir()]):
        for path in paths:
            try:
                os.chown(path, -1, another)
            except PermissionError:
                pytest.skip("needs a group that others are in")
            path.chmod(path.stat().st_mode | mode)
        assert not is_used(package, tmp_path)
        for path in paths:
            path.chmod(path.stat().st_mode & ~mode)
    assert is_used(package, tmp_path)


@posix_only
@pytest.mark.skipif(os.name == "posix" and os.getuid() != 0, reason="needs a user who may give files away")
def test_what_belongs_to_somebody_else_is_not_used(package: Path, tmp_path: Path) -> None:
    os.chown(kernels_of(package), 12345, -1)
    assert not is_used(package, tmp_path)


@posix_only
def test_a_link_to_a_folder_is_not_used(package: Path, tmp_path: Path) -> None:
    kernels_of(package).rename(tmp_path / "elsewhere")
    kernels_of(package).symlink_to(tmp_path / "elsewhere")
    assert not is_used(package, tmp_path)


@posix_only
def test_nothing_is_run_before_it_is_trusted(package: Path, tmp_path: Path) -> None:
    """Code that others could have written is not used, though its hash is right."""
    for path in kernels_of(package).iterdir():
        path.chmod(0o666)
    assert not is_used(package, tmp_path)


def test_groups_of_one_user_may_write(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that a group with the user as its only member may write all that the user installs."""
    pwd, grp = pytest.importorskip("pwd"), pytest.importorskip("grp")
    from setveil.base.jit import files

    def own(gid: int, name: str, members: list[str], group: str = "ann") -> bool:
        user: Any = type("User", (), {"pw_gid": gid, "pw_name": name})
        found: Any = type("Group", (), {"gr_name": group, "gr_mem": members})
        monkeypatch.setattr(pwd, "getpwuid", lambda number: user)
        monkeypatch.setattr(grp, "getgrgid", lambda number: found)
        files._is_own_group.cache_clear()
        return files._is_own_group(1000)

    try:
        assert own(1000, "ann", [])
        assert own(1000, "ann", ["ann"])
        assert not own(1000, "ann", ["ann", "bob"])
        assert not own(1000, "ann", [], "users")
        assert not own(100, "ann", [])
    finally:
        files._is_own_group.cache_clear()


def test_kernels_are_found_beside_the_package() -> None:
    from setveil.base.jit import files

    assert Path(setveil.__file__).parent / "_kernels" == files.SHIPPED
