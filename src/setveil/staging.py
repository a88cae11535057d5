"""Files and folders that appear complete or not at all: written beside their place, then renamed into it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

_unfinished: set[Path] = set()
_placing = threading.Lock()  # whoever holds it moves things into their places, or gives up and cleans
_given_up = False


class GivenUpError(Exception):
    """The process is ending: nothing is put in place any more."""


def give_up() -> None:
    """Remove what this process has not put in place yet; from now on nothing is put in place."""
    global _given_up  # noqa: PLW0603  (it ends with the process)
    with _placing:
        _given_up = True
        for path in _unfinished:
            _remove(path)


@contextlib.contextmanager
def staged_folder(place: Path) -> Iterator[Path]:
    """Hand out a new folder beside `place`, to be filled; put it in place if all goes well.

    If anything goes wrong, whatever was at `place` stays.
    """
    place = place.absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    folder = _new_folder(place)
    try:
        folder.chmod(0o777 & ~_umask())  # mkdtemp makes it private
        yield folder
        replaced = _new_folder(place) if place.exists() else None
        with _placing:
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
                _unfinished.discard(folder)
        if replaced is not None:
            _remove(replaced)
            _unfinished.discard(replaced)
    except BaseException:
        _remove(folder)
        _unfinished.discard(folder)
        raise


@contextlib.contextmanager
def staged_file(place: Path) -> Iterator[Path]:
    """Hand out the name of a new file beside `place`, to be written; put it there if all goes well."""
    handle, name = tempfile.mkstemp(prefix=".setveil-", dir=place.absolute().parent)
    os.close(handle)
    file = Path(name)
    _unfinished.add(file)
    try:
        file.chmod(0o666 & ~_umask())
        yield file
        with _placing:
            if _given_up:
                raise GivenUpError
            file.replace(place)
    except BaseException:
        _remove(file)
        raise
    finally:
        _unfinished.discard(file)


def _new_folder(place: Path) -> Path:
    folder = Path(tempfile.mkdtemp(prefix=".setveil-", dir=place.parent))
    _unfinished.add(folder)
    return folder


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
