"""Files in a project's folder: private to its owner, below the folder, and read with care.

A project may come from someone else, or have been changed by hand: no file in it is trusted.
"""

from __future__ import annotations

import contextlib
import csv
import os
import re
import shutil
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from setveil.base import plain_json
from setveil.base.errors import DataError, OutputError, SetveilError
from setveil.base.staging import private_folders

TOML = "project.toml"
UNDER_WAY = "working.json"
LOCK = ".lock"
SERIES = "series"  # the ledger of a series; its key lies beside it
MADE = (
    TOML, UNDER_WAY, LOCK, "columns", "edits.jsonl", "fronts", "hierarchies", "hierarchy.csv", "input",
    "keep.csv", "log.txt", "risk.json", "runs", "sensitive.csv", SERIES, f"{SERIES}.key", "studies", "trees",
    "weights.csv",
)  # fmt: skip
_DEEP = 4  # folders in which others' links could be met: runs, a run, its part, and what is in there
_WRONG = (
    OSError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError, RecursionError, csv.Error,
)  # fmt: skip


def make_folder(folder: Path) -> Path:
    """Make a folder for its owner alone, where it is missing."""
    try:
        private_folders(folder)
    except OSError as error:
        raise OutputError(f"The folder {folder} cannot be made: {error.strerror}.") from None
    return folder


@contextlib.contextmanager
def reading(what: str) -> Iterator[None]:
    """Say that something of a project cannot be read, whatever goes wrong meanwhile."""
    try:
        yield
    except _WRONG as error:
        if isinstance(error, SetveilError):
            raise
        raise DataError(
            f"{what} cannot be read ({type(error).__name__}).",
            hint="It was changed outside of the studio: make it again, or delete it.",
        ) from None


def read_json(place: Path) -> Any:
    """Read a file of JSON."""
    return plain_json.read_json(place.read_bytes())


def read_settings(folder: Path) -> dict[str, Any]:
    """Read the settings of a project as they stand there; some editors put a mark before them."""
    return plain_json.read_toml((folder / TOML).read_text(encoding="utf-8-sig"))


def foreign(folder: Path) -> Path | None:
    """Find a link, pipe or device, which the studio never makes, in place of what it makes."""
    return next((found for name in MADE if (found := _foreign(folder / name, _DEEP)) is not None), None)


def is_plain(place: Path) -> bool:
    """Return whether this is a file or a folder, or nothing at all: no link, which would lead elsewhere."""
    return _foreign(place, 1) is None


def _foreign(place: Path, deep: int) -> Path | None:
    try:
        mode = place.lstat().st_mode
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(mode):
        return None
    if not stat.S_ISDIR(mode):
        return place
    try:
        inside = sorted(place.iterdir()) if deep > 1 else []
    except OSError:
        return None
    return next((found for one in inside if (found := _foreign(one, deep - 1)) is not None), None)


def is_text(name: str) -> bool:
    """Return whether the name of a file can be shown and sent: some are no UTF-8."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def is_ours(folder: Path) -> bool:
    """Return whether a folder is this user's, as far as the system tells."""
    try:
        return not hasattr(os, "geteuid") or folder.stat().st_uid == os.geteuid()
    except OSError:
        return False


def run_of(folder: Path, text: object) -> Path | None:
    """Take a text for a run of a project; None where it would be anything else, or elsewhere."""
    place = Path(str(text))
    plain = re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.-]*", place.name)
    return place if plain and place == folder / "runs" / place.name else None


def tidy(place: Path) -> None:
    """Remove what a killed command left hidden next to its place; see `setveil.base.staging`."""
    try:
        beside = [one for one in place.parent.iterdir() if one.name.startswith(f".{place.name[:40]}.")]
    except OSError:
        return
    for path in beside:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def remove(folder: Path) -> None:
    """Remove what the studio made in a project's folder, and the folder, if nothing else is in it."""
    for name in MADE:
        place = folder / name
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    for name in MADE:
        tidy(folder / name)
    with contextlib.suppress(OSError):
        folder.rmdir()


def open_to_others(folder: Path) -> str:
    """Say who else can read a folder, if anyone."""
    if os.name != "posix":
        return ""
    modes = [one.stat() for one in (folder, *folder.resolve().parents)]
    for who, read, enter in (
        ("everyone on this computer", stat.S_IROTH | stat.S_IXOTH, stat.S_IXOTH),
        (_group(modes[0].st_gid), stat.S_IRGRP | stat.S_IXGRP, stat.S_IXGRP | stat.S_IXOTH),
    ):
        if who and modes[0].st_mode & read and all(mode.st_mode & enter for mode in modes[1:]):
            return who
    return ""


def _group(number: int) -> str:
    """Name a group; empty where it is the user's own."""
    import grp
    import pwd

    try:
        name = grp.getgrgid(number).gr_name
    except KeyError:
        return f"the group {number}"
    try:
        own = pwd.getpwuid(os.geteuid())
    except KeyError:
        return f"the group {name}"
    return "" if (own.pw_gid, own.pw_name) == (number, name) else f"the group {name}"
