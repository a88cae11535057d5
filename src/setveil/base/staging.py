"""Files and folders that appear complete or not at all, and places for what is needed only for a while.

What is written is filled in a hidden private folder next to its place, then renamed into it. The process
holds each such folder, and each folder of scratch, by a lock, which the system releases when the process ends
in whatever way: so what a killed process has left can be distinguished from what is in use, and is removed.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from setveil.base.errors import OutputError

if sys.platform != "win32":
    import fcntl

_LOCK = ".setveil-lock"  # in each of the folders: shows that it is ours, and whether it is in use
_ASIDE = "earlier"  # in a folder: what was at the place, while it is replaced
_OURS = re.compile(r"(\..{0,40}\.)?setveil-[a-z0-9_]{8}", re.DOTALL)
_NO_LOCK = -1

_unfinished: dict[Path, int] = {}  # the folders, and their locks
_lock = threading.Lock()  # guards what is unfinished, and every move into a place
_abandoned = False


class GivenUpError(Exception):
    """The process is ending: nothing is put in place any more."""


def give_up(*, wait: bool = True) -> None:
    """Remove what this process has not put in place yet, and its scratch; from now on nothing is begun.

    `wait`: for a move that has begun. The handler of a signal must not, as it may have interrupted that very
    move: then nothing is removed, and the next process does it.
    """
    global _abandoned  # noqa: PLW0603  (it ends with the process)
    if not _lock.acquire(blocking=wait):
        return
    try:
        _abandoned = True
        for folder in _unfinished:
            for _ in range(50):  # its writer may still be adding to it
                _remove(folder)
                if not folder.exists():
                    break
                time.sleep(0.01)
    finally:
        _lock.release()


@contextlib.contextmanager
def staged_folder(place: Path) -> Iterator[Path]:
    """Yield a new folder to be filled, and put it in place only if all goes well."""
    place = place.absolute()
    place.parent.mkdir(parents=True, exist_ok=True)
    with _held(place.parent, f".{place.name[:40]}.") as beside:
        folder = beside / place.name
        folder.mkdir()
        yield folder
        with _lock:
            if _abandoned:
                raise GivenUpError
            if not place.exists():
                folder.replace(place)
            elif not _swapped(folder, place):
                (beside / _ASIDE).mkdir()
                place.replace(beside / _ASIDE / place.name)
                folder.replace(place)


@contextlib.contextmanager
def staged_file(place: Path, *, private: bool = False) -> Iterator[Path]:
    """Yield the name of a new empty file, to be written; put it in place if all goes well.

    `private`: it is its owner's alone (0600), whatever the umask.
    """
    place = place.absolute()
    with _held(place.parent, f".{place.name[:40]}.") as beside:
        file = beside / place.name
        file.touch(0o600 if private else 0o666)
        yield file
        with _lock:
            if _abandoned:
                raise GivenUpError
            file.replace(place)


def write_together(contents: Mapping[Path, bytes], *, private: bool = False) -> None:
    """Write files, none of which appears before all are written: a full disk leaves nothing."""
    with contextlib.ExitStack() as written:
        for place, content in contents.items():
            written.enter_context(staged_file(place, private=private)).write_bytes(content)


def write_page(path: Path, content: str) -> None:
    """Write a page about original data, for its owner alone and complete, and the folders above it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(path, private=True) as beside:
            beside.write_text(content, encoding="utf-8")
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


@contextlib.contextmanager
def scratch_folder(parent: Path | None = None) -> Iterator[Path]:
    """Yield a new private folder, by default among the temporary files, and remove it afterwards."""
    try:
        with _held(Path(tempfile.gettempdir()) if parent is None else parent, "") as folder:
            yield folder
    except OSError as error:
        if parent is not None:
            raise
        raise OutputError(
            f"The temporary files cannot be written: {error.strerror or error}.",
            hint="Free some space, or name another folder in the environment variable TMPDIR.",
        ) from error


def private_folder(place: Path) -> Path:
    """Make a folder that is its owner's alone."""
    place.mkdir(mode=0o700)
    return place


def private_folders(*places: Path) -> None:
    """Make folders that are their owner's alone, if they are not there; those above them are made as any."""
    for place in places:
        place.mkdir(mode=0o700, parents=True, exist_ok=True)


def private_file(place: Path, mode: str = "wb", **how: Any) -> IO[Any]:
    """Open a new file for writing that is its owner's alone."""
    return open(place, mode, opener=_private, **how)


def _private(name: str, flags: int) -> int:
    return os.open(name, flags, 0o600)


def keep_private(folder: Path) -> None:
    """Close all files in a private folder to others, too."""
    for path in folder.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)


def remove_abandoned(parent: Path | None = None) -> None:
    """Remove what killed processes of this user left unfinished in a folder, by default the temporary files.

    Nothing is removed that was not made here, or that a process still uses. A folder that was being replaced
    is put back.
    """
    if sys.platform == "win32":  # no such locks
        return
    with contextlib.suppress(OSError):
        folder = Path(tempfile.gettempdir()) if parent is None else parent
        with os.scandir(folder) as entries:
            found = [Path(entry) for entry in entries if _OURS.fullmatch(entry.name)]
        for path in found:
            with contextlib.suppress(OSError):
                _remove_if_abandoned(path)


def _remove_if_abandoned(folder: Path) -> None:
    with _opened(folder) as inside:
        if os.fstat(inside).st_uid != os.geteuid():
            return
        try:
            lock = os.open(_LOCK, os.O_RDWR | os.O_NOFOLLOW, dir_fd=inside)
        except FileNotFoundError:
            folder.rmdir()  # if nothing is in it: its process was killed when it had made or emptied it
            return
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(lock).st_nlink:
                _empty(inside, folder)
        finally:
            os.close(lock)


@contextlib.contextmanager
def _held(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a private folder, hold it by a lock, and remove it at the end with what is still in it."""
    remove_abandoned(parent)
    folder = _new(parent, f"{prefix}setveil-")
    try:
        yield folder
    finally:
        _remove(folder)
        with _lock:
            lock = _unfinished.pop(folder)
            if lock != _NO_LOCK:
                os.close(lock)


def _new(parent: Path, prefix: str) -> Path:
    with _lock:
        while not _abandoned:
            folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
            lock = _locked(folder)
            if lock is not None:
                _unfinished[folder] = lock
                return folder
    raise GivenUpError


def _locked(folder: Path) -> int | None:
    """Lock a folder; None: another process has just removed it, as it held nothing."""
    if sys.platform == "win32":
        return _NO_LOCK
    try:
        lock = os.open(folder / _LOCK, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600)
    except FileNotFoundError:
        return None
    except OSError:
        folder.rmdir()
        raise
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        return None
    except OSError:  # a file system without locks: then nobody takes what is here for abandoned
        pass
    if os.fstat(lock).st_nlink:
        return lock
    os.close(lock)
    return None


def _remove(folder: Path) -> None:
    """Remove a folder of ours as far as possible, its lock last."""
    if sys.platform == "win32":
        shutil.rmtree(folder, ignore_errors=True)
        return
    with contextlib.suppress(OSError), _opened(folder) as inside:
        _empty(inside, folder)


def _empty(inside: int, folder: Path) -> None:
    """Remove a folder that is open."""
    _put_back(inside, folder.parent)
    for name in os.listdir(inside):
        if name != _LOCK:
            shutil.rmtree(name, ignore_errors=True, dir_fd=inside)
            with contextlib.suppress(OSError):
                os.unlink(name, dir_fd=inside)
    if os.listdir(inside) == [_LOCK]:
        os.unlink(_LOCK, dir_fd=inside)
    folder.rmdir()


def _put_back(inside: int, parent: Path) -> None:
    """Put back what was set aside, if nothing has taken its place."""
    try:
        aside = os.open(_ASIDE, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=inside)
    except FileNotFoundError:
        return
    try:
        for name in os.listdir(aside):  # noqa: PTH208  (a folder that is open)
            if not (parent / name).exists():
                os.rename(name, parent / name, src_dir_fd=aside)
    finally:
        os.close(aside)


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    """Open a folder, but no link to one."""
    inside = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        yield inside
    finally:
        os.close(inside)


def _swapped(folder: Path, other: Path) -> bool:
    """Exchange two folders in one move, and tell whether that was possible: not every system can."""
    import ctypes

    system = ctypes.CDLL(None)
    names = os.fsencode(folder), os.fsencode(other)
    if hasattr(system, "renameat2"):  # Linux
        return bool(system.renameat2(_HERE, names[0], _HERE, names[1], _EXCHANGE) == 0)
    if hasattr(system, "renamex_np"):  # macOS
        return bool(system.renamex_np(*names, _EXCHANGE) == 0)
    return False


_HERE = -100  # AT_FDCWD
_EXCHANGE = 2  # RENAME_EXCHANGE, RENAME_SWAP
