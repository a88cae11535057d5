"""A second start of the studio finds the first by a word that only this user can write and read."""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from setveil.base.staging import private_folders, staged_file
from setveil.studio.guard import HOST, Keys, equal, signed

_ORIGIN = re.compile(rf"http://{re.escape(HOST)}:([1-9][0-9]{{0,4}})", re.ASCII)
_LONGEST = 4096  # bytes of a word, and of an answer
_SECONDS = 5


def runtime_folder() -> Path:
    """Say where word is left: in the folder that the system has for what runs, else in the user's own."""
    folder = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if folder.is_absolute() and _is_private(folder):
        return folder / "setveil"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "setveil"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "setveil"
    state = Path(os.environ.get("XDG_STATE_HOME", ""))
    return (state if state.is_absolute() else Path.home() / ".local" / "state") / "setveil"


def word_for(root: Path, folder: Path) -> Path:
    """Name the file that says which studio serves a folder of projects."""
    key = hashlib.sha256(os.fsencode(root.resolve())).hexdigest()[:32]
    return folder / f"studio-{key}.json"


@contextlib.contextmanager
def announced(root: Path, keys: Keys) -> Iterator[None]:
    """Leave word that the studio runs; where that cannot be done, a second start is one of its own."""
    folder = runtime_folder()
    path = word_for(root, folder)
    with contextlib.suppress(OSError):
        private_folders(folder)
        if _is_private(folder):
            with staged_file(path) as staged:
                staged.chmod(0o600)
                staged.write_text(json.dumps({"origin": keys.origin, "again": keys.again}), encoding="utf-8")
    try:
        yield
    finally:
        if (_word(path) or ("", ""))[1] == keys.again:
            path.unlink(missing_ok=True)


def ask_running(root: Path, folder: Path | None = None) -> tuple[str, str] | None:
    """Find the studio that already serves a folder of projects: its origin, and a code to enter."""
    found = _word(word_for(root, folder or runtime_folder()))
    if found is None:
        return None
    origin, key = found
    once = secrets.token_urlsafe(32)
    connection = http.client.HTTPConnection(HOST, int(origin.rpartition(":")[2]), timeout=_SECONDS)
    try:
        headers = {"Origin": origin, "Sec-Fetch-Site": "same-origin"}
        connection.request("POST", "/again", f"{once} {signed(key, 'ask', once)}", headers)
        answer = connection.getresponse()  # which leads nowhere else
        answered = json.loads(answer.read(_LONGEST))
        code, sign = str(answered["code"]), str(answered["signed"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError, http.client.HTTPException):
        return None
    finally:
        connection.close()
    # Once a studio has been killed, something else may answer at its port.
    return (origin, code) if equal(sign, signed(key, "code", once, code)) else None


def _word(path: Path) -> tuple[str, str] | None:
    """Read word that this user left, and nobody else could have: an origin on this computer, and a key."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
        with os.fdopen(handle, "rb") as file:
            if not (_is_private(path.parent) and _is_own(os.fstat(handle), stat.S_ISREG, others=0o022)):
                return None
            content = json.loads(file.read(_LONGEST))
        origin, key = content["origin"], content["again"]
        port = _ORIGIN.fullmatch(origin)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return (origin, key) if port and int(port[1]) < 65536 and isinstance(key, str) else None


def _is_private(folder: Path) -> bool:
    """Return whether a folder is this user's alone."""
    try:
        return _is_own(folder.lstat(), stat.S_ISDIR, others=0o077)
    except OSError:
        return False


def _is_own(found: os.stat_result, kind: Callable[[int], bool], *, others: int) -> bool:
    """Return whether something is of a kind, this user's, and others have none of these rights."""
    if os.name != "posix":  # where a user's own folders are closed to others
        return kind(found.st_mode)
    return kind(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & others
