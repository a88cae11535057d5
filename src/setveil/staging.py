"""Files and folders that appear complete or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

_unfinished: set[Path] = set()
_lock = threading.Lock()  # guards what is unfinished, and every move into a place
_given_up = False


class GivenUpError(Exception):
    """The process is ending: nothing is put in place any more."""


def give_up() -> None:
    """Remove what this process has not put in place yet; from now on nothing is put in place."""
    global _given_up  # noqa: PLW0603  (it ends with the process)
    with _lock:
        _given_up = True
        for path in _unfinished:
            for _ in range(50):  # its writer may still be adding to it
                _remove(path)
                if not path.exists():
                    break
                time.sleep(0.01)


@contextlib.contextmanager
def staged_folder(place: Path) -> Iterator[Path]:
    """Hand out a new folder beside `place`, to be filled; put it in place if all goes well.

    If anything goes wrong, whatever was at `place` stays.
    """
    place = place.absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    folder = _new(place, tempfile.mkdtemp)
    replaced: Path | None = None
    try:
        folder.chmod(0o777 & ~_umask())  # mkdtemp makes it private
        yield folder
        if place.exists():
            replaced = _new(place, tempfile.mkdtemp)
        with _lock:
            if _given_up:
                raise GivenUpError
            if replaced is not None:
                place.replace(replaced / place.name)
            try:
                folder.replace(place)
            except OSError:
                if replaced is not None:
                    (replaced / place.name).replace(place)
                raise
    finally:
        _done_with(folder)
        if replaced is not None and place.exists():  # else it may hold what was there
            _done_with(replaced)


@contextlib.contextmanager
def staged_file(place: Path) -> Iterator[Path]:
    """Hand out the name of a new file beside `place`, to be written; put it in place if all goes well."""
    file = _new(place.absolute(), _make_file)
    try:
        file.chmod(0o666 & ~_umask())
        yield file
        with _lock:
            if _given_up:
                raise GivenUpError
            file.replace(place)
    finally:
        _done_with(file)


def _new(place: Path, make: Callable[..., str]) -> Path:
    with _lock:
        if _given_up:
            raise GivenUpError
        # A killed process leaves it behind: its name says whose it was.
        path = Path(make(prefix=f".{place.name[:40]}.", dir=place.parent))
        _unfinished.add(path)
    return path


def _make_file(*, prefix: str, dir: Path) -> str:  # noqa: A002  (as the tempfile module has it)
    handle, name = tempfile.mkstemp(prefix=prefix, dir=dir)
    os.close(handle)
    return name


def _done_with(path: Path) -> None:
    _remove(path)  # nothing is there any more if it was put in place
    with _lock:
        _unfinished.discard(path)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)


def _umask() -> int:
    mask = os.umask(0o022)
    os.umask(mask)
    return mask
