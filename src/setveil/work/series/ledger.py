"""The ledger of a series: its guarantee, its releases and who is in them. It never leaves the house.

`series.json` names what counts: a release is in the series when that file says so, and it is replaced by one
rename. What else a release needs is written before.
"""

from __future__ import annotations

import contextlib
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from shlex import quote
from shutil import rmtree

from setveil.base.errors import (
    DataError,
    OutputError,
    RequestError,
    did_you_mean,
    require_utf8,
    shorten,
    unreadable,
)
from setveil.base.plain_json import read_json
from setveil.base.staging import private_file, staged_file, staged_folder
from setveil.base.values.kinds import file_sha256
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.releases.recipients import PROGRAMS
from setveil.work.series.files import ROWS, KeptRelease, read_part, write_part
from setveil.work.series.ids import Coded, coded, fingerprint, new_key, read_key

if sys.platform != "win32":
    import fcntl

FILE, LOCK, INSIDE = "series.json", "lock", "series.json"
KINDS, IDS = ("periods", "register"), ("keyed", "plain")
MOST = 60  # releases: in which of them somebody is are the bits of a number
VERSION = 1
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


@dataclass(frozen=True, eq=False)
class Entry:
    """A release as series.json has it."""

    name: str
    run: str  # folder of the run
    date: str
    k: int
    m: int | str  # of the run's own guarantee, which may be stronger ("inf": for every m)
    people: int
    held_back: int
    counts: bool  # whether counts.csv lies beside its rows
    exposed: int  # people below k by the series as far as this release, when it was added
    files: Mapping[str, str] = field(default_factory=dict)  # sha256 of each published file
    way: str = "published"  # how it was made
    kept: str = ""  # the folder of what is kept of it, where that is not called like the release

    @property
    def place(self) -> str:
        """The folder in the ledger of what is kept of it."""
        return self.kept or self.name


@dataclass(frozen=True)
class Settings:
    """The settings of a series."""

    k: int
    m: int
    kind: str
    known: str
    presence: str
    ids: str
    key: str  # its fingerprint; empty for plain ids
    key_file: str
    seed: int
    forgotten: int = 0  # people whose items are gone at their wish


@dataclass(frozen=True)
class Ledger:
    """A series on disk."""

    folder: Path
    settings: Settings
    releases: tuple[Entry, ...] = ()

    @property
    def promise(self) -> SeriesAnonymity:
        """Return the guarantee of all releases together."""
        s = self.settings
        return SeriesAnonymity(s.k, s.m, s.known, s.presence)  # type: ignore[arg-type]

    @property
    def names(self) -> list[str]:
        """The names of the releases."""
        return [entry.name for entry in self.releases]

    def entry(self, name: str) -> Entry:
        """Find a release by its name."""
        for entry in self.releases:
            if entry.name == name:
                return entry
        raise RequestError(
            f"{self.folder} has no release {shorten(name)}.",
            hint=did_you_mean(name, self.names, f"It has {', '.join(self.names) or 'none yet'}."),
        )

    def part(self, name: str) -> KeptRelease:
        """Read what is kept of a release."""
        return read_part(self.folder / self.entry(name).place)

    def code(self, key_file: Path | None = None) -> Coded:
        """Return the function that gives an id its code, by the key of the series."""
        if self.settings.ids == "plain":
            return coded(None)
        path = key_file or Path(self.settings.key_file)
        if key_file is None and not path.is_file():
            path = beside(self.folder)
        key = read_key(path)
        if fingerprint(key) != self.settings.key:
            raise DataError(
                f"{path} is the key of another series: its fingerprint is {fingerprint(key)[:8]}, that of "
                f"{self.folder} is {self.settings.key[:8]}.",
                hint="With this key, everyone would count as a new person. Name the right key: --key FILE.",
            )
        return coded(key)


def beside(folder: Path) -> Path:
    """Name the default file of the key."""
    return folder.absolute().with_name(f"{folder.absolute().name}.key")


def require_outside(folder: Path) -> None:
    """Refuse a ledger in a folder that is shared."""
    for above in (folder.absolute(), *folder.absolute().parents):
        if above.name == "published" or (above / "about.json").is_file():
            raise RequestError(
                f"{folder} is in {above}, which is shared: the ledger of a series is internal.",
                hint="Choose a folder that nobody else gets.",
            )


def create(
    folder: Path, promise: SeriesAnonymity, *, kind: str, ids: str, key_file: Path | None, seed: int
) -> Ledger:
    """Begin a series: a ledger without releases, and its key."""
    require_utf8(folder.absolute())
    with _usable(folder):
        require_outside(folder)
    if folder.exists() or folder.is_symlink():
        raise OutputError(f"{folder} exists.", hint="Choose another folder, or go on with the series there.")
    path = (key_file or beside(folder)).absolute()
    made = False
    if ids == "keyed":
        require_outside(path)
        if folder.absolute() in path.parents:
            raise RequestError(
                f"The key {path} would be in the ledger, and a copy of one would contain both.",
                hint="Name a file elsewhere.",
            )
        made = not path.exists()
        key = new_key(path) if made else read_key(path)
    elif key_file is not None:
        raise RequestError("Plain ids need no key.", hint="Omit --key.")
    settings = Settings(
        promise.k, promise.m, kind, promise.known, promise.presence, ids,
        fingerprint(key) if ids == "keyed" else "", str(path) if ids == "keyed" else "", seed,
    )  # fmt: skip
    ledger = Ledger(folder, settings)
    try:
        with staged_folder(folder) as place:
            place.chmod(0o700)
            with private_file(place / FILE, "x", encoding="utf-8") as file:
                file.write(_written(ledger))
            private_file(place / LOCK, "x").close()
    except OSError as error:
        if made:
            path.unlink(missing_ok=True)
        raise OutputError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return ledger


def open_ledger(folder: Path) -> Ledger:
    """Read a series."""
    path = folder / FILE
    with _usable(folder):
        if not path.is_file():
            raise DataError(
                f"{folder} contains no series: there is no {path}.", hint="`setveil series init` begins one."
            )
        path.open("rb").close()
    try:
        record = read_json(path.read_text(encoding="utf-8"))
        version = record.pop("version")
        entries = tuple(Entry(**entry) for entry in record.pop("releases"))
        wrong = next((one for one in entries if not (_NAME.fullmatch(one.name) and _is_place(one))), None)
        if wrong is not None:  # which would be written or removed elsewhere
            raise ValueError(f"{shorten(wrong.place)} is no name of a release")
        ledger = Ledger(folder, Settings(**record), entries)
        _ = ledger.promise
    except (OSError, ValueError, TypeError, KeyError, AttributeError) as error:
        raise unreadable(path, "is not what setveil wrote", error, "Take the ledger from a backup.") from None
    if version > VERSION:
        raise DataError(f"{path} was written by a newer setveil.", hint="Read it with that one.")
    return ledger


def _is_place(entry: Entry) -> bool:
    """Return whether the record of a release is in the ledger."""
    return not entry.kept or re.fullmatch(rf"{re.escape(entry.name)}~[0-9]{{1,9}}", entry.kept) is not None


def _written(ledger: Ledger) -> str:
    record = {
        "version": VERSION,
        **asdict(ledger.settings),
        "releases": [asdict(entry) for entry in ledger.releases],
    }
    return json.dumps(record, ensure_ascii=False, indent=2) + "\n"


@contextlib.contextmanager
def changing(folder: Path) -> Iterator[Ledger]:
    """Yield a series for a change; only one change is made at a time."""
    with _usable(folder), _locked(folder) as ledger:
        yield ledger


@contextlib.contextmanager
def _usable(folder: Path) -> Iterator[None]:
    """Say what the system forbids: the folder is read-only, for instance, or someone else's."""
    try:
        yield
    except OSError as error:
        where = error.filename or folder
        raise OutputError(
            f"The ledger {folder} cannot be used: {where}: {error.strerror or error}. Nothing was changed.",
            hint=f"Only its owner can change a series. Check the permissions: ls -ld {quote(str(folder))}",
        ) from None


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[Ledger]:
    """Lock a series."""
    ledger = open_ledger(folder)
    with (folder / LOCK).open("ab") as lock:
        if sys.platform != "win32":
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"Another process is changing {folder} at this moment.", hint="Wait until that is done."
                ) from None
            except OSError:  # a file system without locks
                pass
            else:
                _tidy(open_ledger(folder))
        yield open_ledger(folder)
    del ledger


def _tidy(ledger: Ledger) -> None:
    """Remove what a command that was killed has left: what is kept of no release."""
    places = {entry.place for entry in ledger.releases}
    for path in ledger.folder.iterdir():
        if path.name not in places and (path / ROWS).is_file():
            rmtree(path, ignore_errors=True)


@contextlib.contextmanager
def replaced(ledger: Ledger) -> Iterator[Callable[[Ledger], None]]:
    """Yield what writes a changed series next to its place, to which it is moved when all has gone well."""
    try:
        with staged_file(ledger.folder / FILE) as file:
            file.chmod(0o600)

            def settle(changed: Ledger) -> None:
                file.write_text(_written(changed), encoding="utf-8")

            yield settle
    except OSError as error:
        raise OutputError(
            f"The ledger {ledger.folder} cannot be written: {error.strerror or error}. Nothing was changed.",
            hint=f"Free some space, or ask its owner: ls -ld {quote(str(ledger.folder))}",
        ) from None


@contextlib.contextmanager
def gone_if_it_fails(ledger: Ledger, places: Iterable[str]) -> Iterator[None]:
    """Remove what is kept of releases again, if what follows fails."""
    try:
        yield
    except BaseException:
        for place in places:
            rmtree(ledger.folder / place, ignore_errors=True)
        raise


def keep(ledger: Ledger, place: str, part: KeptRelease) -> None:
    """Write what is kept of a release: last, so that a command that is ended leaves no rows in the ledger."""
    with staged_folder(ledger.folder / place) as folder:
        folder.chmod(0o700)
        write_part(folder, part)


def require_free_name(ledger: Ledger, name: str) -> None:
    """Refuse a name that a release has, or none can have."""
    if name in ledger.names:
        raise RequestError(
            f"{ledger.folder} has a release {name} already, of {ledger.entry(name).date}.",
            hint="Shared releases stay as they are; give the new release a name of its own.",
        )
    if not _NAME.fullmatch(name) or name in {FILE, LOCK}:
        raise RequestError(
            f"A release cannot be called {shorten(name)}.",
            hint="Use letters, digits, dots, hyphens and underscores, such as 2026-q1.",
        )
    if len(ledger.releases) >= MOST:
        raise RequestError(f"A series has at most {MOST} releases.")


def today() -> str:
    """Return the date, in UTC."""
    return datetime.now(UTC).date().isoformat()


def hashes_of(run: Path) -> dict[str, str]:
    """Hash every published file of a run's folder."""
    published = run / "published"
    files = sorted(path for path in published.rglob("*") if path.is_file())
    return {path.relative_to(published).as_posix(): file_sha256(path) for path in files}


def require_unchanged(entry: Entry, run: Path | None = None) -> Path:
    """Refuse a published folder that is not what was shared; return the run's folder.

    The programs of `setveil checker` may be put there, renewed or taken away at any time, but no others of
    their names.
    """
    place = Path(entry.run) if run is None else run
    if not (place / "published").is_dir():
        raise DataError(
            f"The folder of release {entry.name} is not at {place}.",
            hint="Move it back to where it was written; the series reads what was published.",
        )
    now = hashes_of(place)
    own = {path.name: file_sha256(path) for path in PROGRAMS}
    as_made = {name for name, program in own.items() if now.get(name, program) == program}
    names = {**entry.files, **now}.keys() - as_made
    changed = [name for name in names if entry.files.get(name) != now.get(name)]
    if changed:
        name = sorted(changed)[0]
        was, found = entry.files.get(name, "not there"), now.get(name, "not there")
        raise DataError(
            f"Release {entry.name} was changed since it was added: {place / 'published' / name} "
            f"(sha256 {found[:16]}, was {was[:16]}).",
            hint="Restore the shared file. A correction is a release of its own.",
        )
    return place


def inside(ledger: Ledger, name: str) -> dict[str, str]:
    """Say in a run's folder which series it is of."""
    return {"series": str(ledger.folder.absolute()), "release": name}
