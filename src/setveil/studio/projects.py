"""Projects: one folder each, whose settings the command line can run."""

from __future__ import annotations

import contextlib
import json
import os
import re
import threading
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, OutputError, RequestError, shorten
from setveil.base.staging import staged_file
from setveil.studio import places
from setveil.studio.places import LOCK, TOML

_LONGEST = 60  # of a folder's name
_KEPT: Mapping[str, type] = {  # what the studio keeps beside the options
    "chosen": str, "file": str, "fraction": str, "frame": str, "items": int, "kept": list, "mtime_ns": int,
    "row": str, "rows": int, "series": bool, "sensitive": list, "sha256": str, "size": int, "title": str,
    "tour": bool,
}  # fmt: skip


class Project:
    """One project: the input, the promise, and its runs; addresses use the `name` of its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = folder.name
        self._lock = threading.Lock()

    @property
    def title(self) -> str:
        """Return the user's name of the project."""
        try:
            return str(self.studio.get("title") or self.name)
        except DataError:  # its settings were changed outside of the studio
            return self.name

    @property
    def studio(self) -> dict[str, Any]:
        """Return the studio's own settings: the table ``studio``."""
        kept: dict[str, Any] = self.settings().get("studio", {})
        return kept

    @property
    def is_series(self) -> bool:
        """Return whether its releases are those of a series."""
        return bool(self.studio.get("series"))

    @property
    def toml(self) -> Path:
        """The settings, as ``setveil anonymize --config`` takes them."""
        return self.folder / TOML

    @property
    def hierarchy(self) -> Path:
        """The hierarchy as edited."""
        return self.folder / "hierarchy.csv"

    @property
    def edits(self) -> Path:
        """The edits of the hierarchy, a line each."""
        return self.folder / "edits.jsonl"

    @property
    def fronts(self) -> Path:
        """Return the costs of promises."""
        return self.folder / "fronts"

    @property
    def runs(self) -> Path:
        """The runs' folders."""
        return self.folder / "runs"

    @property
    def studies(self) -> Path:
        """Comparisons."""
        return self.folder / "studies"

    @property
    def input(self) -> Path:
        """Files that were dropped on a page."""
        return self.folder / "input"

    @property
    def log(self) -> Path:
        """Times, phases and classes of errors; no items and no rows."""
        return self.folder / "log.txt"

    def settings(self) -> dict[str, Any]:
        """Read the settings: options by their long names, with dashes, and the table ``studio``."""
        try:
            if not places.is_plain(self.toml):
                raise ValueError("it is a link, a pipe or a device")
            found = places.read_settings(self.folder)
            _check(found)
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            why = "it is too deep" if isinstance(error, RecursionError) else error
            raise DataError(
                f"The settings {self.toml} cannot be read: {why}.",
                hint="They were changed outside of the studio. Mend the file, or delete it to begin again.",
            ) from None
        return found

    def check(self) -> None:
        """Make sure that nothing in the folder leads elsewhere."""
        found = places.foreign(self.folder)
        if found is not None:
            raise DataError(
                f"In the project's folder, {found.relative_to(self.folder)} is a link, a pipe or a device, "
                "which the studio never makes.",
                hint="Put a plain file or folder in its place, or delete it.",
            )

    def input_trouble(self) -> str:
        """Say whether the input is another than the one that was read: `changed`, `gone`, or nothing."""
        kept, path = self.studio, self.settings().get("input")
        if not isinstance(path, str) or not {"size", "mtime_ns"} <= kept.keys():
            return ""
        place = self.folder / path
        try:
            if place.is_dir():
                found = [one.stat() for one in place.iterdir() if one.is_file()]
            else:
                found = [place.stat()]
        except (OSError, ValueError):
            return "gone"
        size, latest = sum(one.st_size for one in found), max((one.st_mtime_ns for one in found), default=0)
        same = (size, latest) == (kept["size"], kept["mtime_ns"])
        return "" if same or (place.is_dir() and latest <= kept["mtime_ns"]) else "changed"

    def save(self, **changes: Any) -> None:
        """Change settings, by long names of options, or the table `studio`; None removes one."""
        with self._lock, _held(self.folder):
            settings = self.settings()
            kept = dict(settings.pop("studio", {}))
            _change(kept, changes.pop("studio", {}))
            _change(settings, {key.replace("_", "-"): value for key, value in changes.items()})
            try:
                _check({**settings, "studio": kept})
            except ValueError as error:
                raise RequestError(f"This cannot be kept with the project: {error}.") from None
            lines = [f"{_key(key)} = {as_toml(value)}\n" for key, value in settings.items()]
            if kept:
                lines += [
                    "\n[studio]\n",
                    *(f"{_key(key)} = {as_toml(value)}\n" for key, value in kept.items()),
                ]
            with staged_file(self.toml) as staged:
                staged.write_text("".join(lines), encoding="utf-8")


def _change(values: dict[str, Any], changes: Mapping[str, Any]) -> None:
    for key, value in changes.items():
        if value is None:
            values.pop(key, None)
        else:
            values[key] = value


def _check(settings: Mapping[str, Any]) -> None:
    """Refuse what is no value of an option, or not what the studio keeps."""
    kept = settings.get("studio", {})
    if not isinstance(kept, Mapping):
        raise ValueError("studio is no table")
    options = {key: value for key, value in settings.items() if key != "studio"}
    for key, value in [*options.items(), *kept.items()]:
        if not re.fullmatch(r"[A-Za-z0-9_-]+", key):
            raise ValueError(f"{shorten(key)} is no name of an option")
        if not all(map(_is_plain, value if isinstance(value, list) else [value])):
            raise ValueError(f"{key} is no text, number or list of these")
    for key, kind in _KEPT.items():
        held = kept.get(key, kind())
        listed = held if isinstance(held, list) else []
        if type(held) is not kind or not all(isinstance(one, str) for one in listed):
            raise ValueError(f"{key} is not as the studio writes it")


def _is_plain(value: object) -> bool:
    if isinstance(value, int):
        return -(2**63) <= value < 2**63
    return isinstance(value, float | date) or (isinstance(value, str) and "\0" not in value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else as_toml(key)


def as_toml(value: Any) -> str:
    """Write a value as TOML."""
    if isinstance(value, bool | int | float):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(as_toml, value)) + "]"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {as_toml(one)}" for key, one in value.items()) + "}"
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


@contextlib.contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Keep other processes from changing a project meanwhile, where the system has such locks."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    with (folder / LOCK).open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


class Projects:
    """The folder of the projects, made if it is missing, for its owner alone."""

    def __init__(self, root: Path) -> None:
        self.root = root.absolute()
        self._known: dict[Path, Project] = {}
        self._named: set[Path] = set()
        places.make_folder(self.root)

    def all(self) -> list[Project]:
        """List the projects by title: folders of this user, and one that was named when the studio began."""
        folders = [path for path in self.root.iterdir() if self._is_project(path)]
        return sorted(map(self._project, folders), key=lambda project: project.name.casefold())

    def _is_project(self, path: Path) -> bool:
        if path.name.startswith(".") or path.is_symlink() or not places.is_text(path.name):
            return False
        return (path in self._named or places.is_ours(path)) and os.path.lexists(path / TOML)

    def find(self, name: str) -> Project:
        """Find a project by the name of its folder, which must be one of those there are."""
        for project in self.all():
            if project.name == name:
                return project
        raise LookupError(name)

    def create(self, title: str) -> Project:
        """Make a new project; its folder is called like it as far as may be."""
        plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
        stem = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST] or "project"
        number = 1
        while True:
            name = stem if number == 1 else f"{stem}-{number}"
            try:
                (self.root / name).mkdir(mode=0o700)
            except FileExistsError:
                number += 1
                continue
            except OSError as error:
                raise OutputError(
                    f"The folder {self.root / name} cannot be made: {error.strerror}."
                ) from None
            project = self._project(self.root / name)
            project.save(studio={"title": title.replace("\0", "")})
            return project

    def open(self, folder: Path) -> Project:
        """Take a folder of the root as a project; make it where it is missing."""
        self._named.add(places.make_folder(folder))
        project = self._project(folder)
        project.check()
        if not project.toml.exists():
            project.save(studio={"title": folder.name})
        return project

    def delete(self, project: Project) -> None:
        """Remove a project with all that the studio made in its folder."""
        places.remove(project.folder)
        self._known.pop(project.folder, None)

    def _project(self, folder: Path) -> Project:
        return self._known.setdefault(folder, Project(folder))
