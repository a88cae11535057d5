"""Unfinished files are hidden and private, appear at once, and are removed after their process was killed."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from cli_helpers import environment, posix_only, write
from setveil.base import staging
from setveil.base.errors import OutputError
from setveil.base.staging import (
    keep_private,
    private_file,
    private_folder,
    remove_abandoned,
    scratch_folder,
    staged_file,
    staged_folder,
)

pytestmark = posix_only

# Each ends as a killed process does: at once, without a word.
BEGUN = {
    "scratch": """
with scratch_folder() as folder:
    (folder / "rows").mkdir()
    (folder / "rows" / "table.jsonl").write_text("a secret")
    os._exit(9)
""",
    "a folder": """
with staged_folder(Path("out")) as folder:
    (folder / "internal").mkdir()
    (folder / "internal" / "rows.csv").write_text("a secret")
    os._exit(9)
""",
    "a file": """
with staged_file(Path("out.csv")) as file:
    file.write_text("a secret")
    os._exit(9)
""",
    "nothing yet": """
staging._locked = lambda folder: os._exit(9)
with scratch_folder():
    pass
""",
    "half removed": """
with scratch_folder() as folder:
    (folder / "rows").write_text("a secret")
    staging.os.unlink = lambda *_, **__: os._exit(9)
""",
    "replaced": """
staging._remove = lambda folder: os._exit(9)
with staged_folder(Path("old")) as folder:
    (folder / "which").write_text("new")
""",
    "set aside": """
staging._swapped = lambda *_: False
replace = Path.replace
def second(self, target):
    if target.name == "old":
        os._exit(9)
    return replace(self, target)
Path.replace = second
with staged_folder(Path("old")) as folder:
    (folder / "which").write_text("new")
""",
}
KILLED = """
import os
from pathlib import Path
from setveil.base import staging
from setveil.base.staging import scratch_folder, staged_file, staged_folder
"""


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("what", list(BEGUN))
def test_what_a_killed_process_leaves_is_removed_by_the_next(what: str, tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    write(tmp_path / "old" / "which", "old")
    killed = subprocess.run(
        [sys.executable, "-c", KILLED + BEGUN[what]],
        cwd=tmp_path, env=environment({"TMPDIR": str(tmp_path)}), check=False,
    )  # fmt: skip
    assert killed.returncode == 9
    left = names(tmp_path) - {"old"}
    assert len(left) == 1
    assert all("setveil-" in name for name in left)
    assert (tmp_path / left.pop()).stat().st_mode & 0o777 == 0o700
    remove_abandoned(tmp_path)
    assert names(tmp_path) == {"old"}
    assert (tmp_path / "old" / "which").read_text() == ("new" if what == "replaced" else "old")


@pytest.mark.parametrize("make", [scratch_folder, staged_folder, staged_file])
def test_what_is_made_next_removes_it(make: Callable[..., object], tmp_path: Path) -> None:
    write(_abandoned(tmp_path) / "rows", "a secret")
    place = tmp_path if make is scratch_folder else tmp_path / "out"
    with make(place):  # type: ignore[attr-defined]
        assert len(names(tmp_path)) == 1
    assert names(tmp_path) <= {"out"}


def _abandoned(folder: Path, name: str = "setveil-abcdefg1") -> Path:
    made = folder / name
    made.mkdir(mode=0o700)
    write(made / staging._LOCK, "")
    return made


def test_nothing_is_removed_that_is_not_abandoned(tmp_path: Path) -> None:
    """Check files in use, files of others, files of another user, and targets of links."""
    elsewhere, here = tmp_path / "elsewhere", tmp_path / "here"
    elsewhere.mkdir()
    here.mkdir()
    write(_abandoned(elsewhere) / "kept", "")
    (here / "setveil-abcdefg1").symlink_to(elsewhere / "setveil-abcdefg1")
    (here / "setveil-projects").mkdir()
    write(here / "setveil-projects" / "kept", "a folder of the user that is called like ours")
    write(here / "setveil-abcdefg2", "a file")
    write(_abandoned(here, "setveil-notrandom9") / "kept", "another name")
    linked = _abandoned(here, "setveil-abcdefg3")
    (linked / staging._LOCK).unlink()
    (linked / staging._LOCK).symlink_to(elsewhere / "setveil-abcdefg1" / "kept")
    (_abandoned(here, "setveil-abcdefg5") / "link").symlink_to(elsewhere)  # removed, but not its target
    if os.geteuid() == 0:
        os.chown(_abandoned(here, "setveil-abcdefg4"), 12345, 12345)
    before = names(here) - {"setveil-abcdefg5"}
    with scratch_folder(here) as folder:
        write(folder / "rows", "")
        remove_abandoned(here)
        assert names(here) == before | {folder.name}
        assert names(folder) == {"rows", staging._LOCK}
    assert names(here) == before
    assert names(elsewhere / "setveil-abcdefg1") == {"kept", staging._LOCK}
    remove_abandoned(tmp_path / "missing")


def test_a_folder_is_made_anew_if_another_process_took_it_for_abandoned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That may happen as long as nothing is in it: then it is empty, or its lock is not held yet."""
    original = os.open
    tries: list[object] = []

    def taken(path: object, flags: int, mode: int = 0o777, **more: int) -> int:
        if flags & os.O_EXCL and len(tries) < 2:
            tries.append(path)
            assert isinstance(path, Path)
            if len(tries) == 1:
                remove_abandoned(tmp_path)  # before there is a lock
                return original(path, flags, mode)
            lock = original(path, flags, mode)
            remove_abandoned(tmp_path)  # before it is held
            return lock
        return original(path, flags, mode, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", taken)
    with scratch_folder(tmp_path) as folder:
        assert names(tmp_path) == {folder.name}
        assert names(folder) == {staging._LOCK}
    assert len(tries) == 2
    assert names(tmp_path) == set()


@pytest.mark.parametrize("mask", [0, 0o022, 0o077])
def test_who_may_read_what(mask: int, tmp_path: Path) -> None:
    """Check that finished files follow the user's mask, and private files are never open, even briefly."""
    before = os.umask(mask)
    try:
        with scratch_folder(tmp_path) as scratch:
            with private_file(scratch / "rows") as file:
                assert os.fstat(file.fileno()).st_mode & 0o777 == 0o600
            assert private_folder(scratch / "inner").stat().st_mode & 0o777 == 0o700
            (scratch / "open").mkdir()
            write(scratch / "open" / "file", "")
            keep_private(scratch)
            assert {path.stat().st_mode & 0o077 for path in [scratch, *scratch.rglob("*")]} == {0}
        with staged_folder(tmp_path / "out") as out, staged_file(tmp_path / "out.csv") as file:
            assert {path.stat().st_mode & 0o777 for path in (out.parent, file.parent)} == {0o700}
            assert {path.parent.parent for path in (out, file)} == {tmp_path}
            write(out / "data.csv", "")
        found = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.rglob("*")}
        assert found == {"out": 0o777 & ~mask, "data.csv": 0o666 & ~mask, "out.csv": 0o666 & ~mask}
    finally:
        os.umask(before)


@pytest.mark.parametrize("at_once", [True, False])
def test_a_folder_is_replaced_or_stays(
    at_once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a system that cannot exchange two folders in one move."""
    if not at_once:
        monkeypatch.setattr(staging, "_swapped", lambda *_: False)
    place = tmp_path / "out"
    for text in ("old", "new"):
        with staged_folder(place) as folder:
            write(folder / text, "")
        assert names(tmp_path) == {"out"}
        assert names(place) == {text}
    with pytest.raises(ZeroDivisionError), staged_folder(place):
        raise ZeroDivisionError
    assert names(place) == {"new"}

    replace = Path.replace

    def refuses(self: Path, target: Path) -> Path:
        if Path(target) == place:
            raise PermissionError
        return replace(self, target)

    if not at_once:
        monkeypatch.setattr(Path, "replace", refuses)
        with pytest.raises(PermissionError), staged_folder(place) as folder:
            write(folder / "newer", "")
        assert names(place) == {"new"}
        assert names(tmp_path) == {"out"}


def test_temporary_files_that_cannot_be_written_are_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "missing"))
    with pytest.raises(OutputError, match=r"^The temporary files cannot be written: No such file"):
        scratch_folder().__enter__()
