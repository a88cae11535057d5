"""The files that compiled code is kept in, one for each function and its types, and whom they may belong to.

What is read there is run. So a folder is only used if nobody but the user can write in it, and a file only if
it is whole: it begins with a hash of all that follows.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import os
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import FunctionType

from setveil.base.jit import origin, processor
from setveil.base.jit.calls import Type
from setveil.base.version import __version__

log = logging.getLogger("setveil")

_FORM = f"{origin.FORM}\n".encode()
_HASH = hashlib.sha256().digest_size


@cache
def folder() -> Path | None:
    """Make and name the folder that compiled code is kept in; None: there is none that can be trusted.

    What is read there is run. So it must be this user's, and nobody else may be able to write in it.
    """
    place = _caches() / "setveil" / f"{__version__}-numba-{origin.version_of_numba()}"
    with contextlib.suppress(OSError, RuntimeError):
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = place.lstat()
        if not stat.S_ISDIR(found.st_mode) or not _is_private(found):
            log.warning("compiled code is not kept: %s belongs to, or can be written by, others", place)
        elif os.access(place, os.W_OK | os.X_OK):
            return place
    return None


def _is_private(found: os.stat_result) -> bool:
    return os.name != "posix" or (found.st_uid == os.getuid() and not found.st_mode & 0o022)


SHIPPED = Path(__file__).parents[2] / "_kernels"


@cache
def shipped_folder() -> Path | None:
    """Name the folder of compiled code that came with the package; None: none that can be trusted."""
    with contextlib.suppress(OSError):
        found = SHIPPED.lstat()
        if stat.S_ISDIR(found.st_mode) and _is_of_the_package(found):
            return SHIPPED
    return None


@cache
def _owners() -> tuple[int, ...]:
    """Return the users whose code runs here: this one, that of the system, and that of the package."""
    return os.getuid(), 0, Path(__file__).stat().st_uid


def _is_of_the_package(found: os.stat_result) -> bool:
    """Whether what lies next to the package's own code can be written only by those who can write that."""
    if os.name != "posix":
        return True
    open_to_group = found.st_mode & 0o020 and not _is_own_group(found.st_gid)
    return found.st_uid in _owners() and not found.st_mode & 0o002 and not open_to_group


@cache
def _is_own_group(number: int) -> bool:
    """Whether a group is this user's alone, as many systems give each user one that may write what is new."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.getuid()), grp.getgrgid(number)
    except KeyError:
        return False
    return (user.pw_gid, user.pw_name) == (number, group.gr_name) and set(group.gr_mem) <= {user.pw_name}


def _caches() -> Path:
    """Name the folder that numba is set to keep its cache in, else that of the user's caches."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home())
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def contents(function: FunctionType, types: list[Type]) -> Iterator[bytes]:
    """Read what this user compiled of a function for some types, and what came with the package."""
    for place, is_trusted, said in (
        (folder(), _is_private, origin.origin_of),
        (
            shipped_folder() if processor.runs_baseline() else None,
            _is_of_the_package,
            origin.shipped_origin_of,
        ),
    ):
        if place is not None:
            made_from = said(function, types)
            found = _read(place / origin.file_name(function, made_from), made_from, is_trusted)
            if found is not None:
                yield found


def _read(path: Path, made_from: str, is_trusted: Callable[[os.stat_result], bool]) -> bytes | None:
    try:
        with path.open("rb") as file:
            if not is_trusted(os.fstat(file.fileno())):
                return None
            content = file.read()
    except OSError:
        return None
    said, start = made_from.encode(), len(_FORM) + _HASH
    if (
        not content.startswith(_FORM)
        or hashlib.sha256(content[start:]).digest() != content[len(_FORM) : start]
    ):
        return None
    end = start + 8 + len(said)
    same = content[start : start + 8] == len(said).to_bytes(8, "big") and content[start + 8 : end] == said
    return content[end:] if same else None


def keep(function: FunctionType, types: list[Type], compiled: bytes) -> None:
    """Write what was compiled of a function for some types, unless the disk is full or the like."""
    place = folder()
    if place is not None:
        made_from = origin.origin_of(function, types)
        with contextlib.suppress(OSError):
            _write(place / origin.file_name(function, made_from), made_from, compiled)


def _write(path: Path, made_from: str, compiled: bytes) -> None:
    """Write a file that is seen whole or not at all."""
    said = made_from.encode()
    content = len(said).to_bytes(8, "big") + said + compiled
    number, temporary = tempfile.mkstemp(dir=path.parent)
    try:
        with open(number, "wb") as file:  # noqa: PTH123
            file.write(_FORM + hashlib.sha256(content).digest() + content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
