"""Releases whose data are a JSON file that names its model: finding it, taking it apart, writing it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, OutputError, described, shorten, unreadable
from setveil.base.plain_json import read_json
from setveil.base.staging import staged_file
from setveil.releases.published import KindInfo
from setveil.releases.published.about import about_file, published_folders, published_layout
from setveil.releases.published.group_files import MOST_ROWS
from setveil.rows.data.io.source import read_bytes

DATA_FILE = "data.json"

_HEAD = 1 << 12  # bytes of a file in which it must say what it is


def holds_model(path: Path, layout: str, model: str) -> bool:
    """Say whether a file, or one in a folder, names a model's data, or has their layout."""
    if path.is_file():
        return published_layout(about_file(path)).get("format") == layout or _says(path, model)
    return any(_says(folder / DATA_FILE, model) for folder in published_folders(path))


def _says(file: Path, model: str) -> bool:
    if file.suffix != ".json" or not file.is_file():
        return False
    try:
        with file.open("rb") as opened:
            return re.search(rb'"model"\s*:\s*"%s"' % model.encode(), opened.read(_HEAD)) is not None
    except OSError:
        return False


def data_file(path: str, info: KindInfo, algorithm: str) -> Path:
    """Find the data of a run's folder, its `published`, or a file itself."""
    place = Path(path)
    files = (place,) if place.is_file() else [folder / DATA_FILE for folder in published_folders(place)]
    file = next((one for one in files if one.is_file()), None)
    if file is None:
        raise DataError(
            f"{path} is no folder of {info.title}: expected {DATA_FILE} in it.",
            hint=f"Name the folder that `setveil anonymize -a {algorithm}` wrote, or its published/.",
        )
    return file


def write_pieces(folder: str | Path, contents: Mapping[str, Iterable[bytes]]) -> None:
    """Write files into a folder, which must exist, each whole or not at all."""
    for name, pieces in contents.items():
        path = Path(folder, name)
        try:
            with staged_file(path) as beside, beside.open("wb") as file:
                file.writelines(pieces)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


class JsonReading:
    """Take a JSON value of the file `name` apart; messages refer to its description `form`."""

    def __init__(self, name: str, form: str) -> None:
        self.name = name
        self.form = form

    def content(self) -> Any:
        """Read the file."""
        try:
            return read_json(read_bytes(Path(self.name)))
        except ValueError as error:
            raise unreadable(self.name, "is no JSON file", error, self.form) from None

    def wrong(self, where: str, found: object, expected: str) -> DataError:
        """Say what is at a place, and what should be."""
        return DataError(
            f"{self.name}, {where}: found {shorten(described(found))}, expected {expected}.", hint=self.form
        )

    def broken(self, where: str, text: str) -> DataError:
        """Say in other words what is wrong at a place."""
        return DataError(f"{self.name}, {where}: {text}", hint=self.form)

    def entry(self, where: str, value: object, key: str) -> Any:
        """Take what an object has under a key."""
        if not isinstance(value, dict):
            raise self.wrong(where, value, "an object")
        if key not in value:
            raise self.broken(where, f"there is no {key!r}.")
        return value[key]

    def model(self, content: object, model: str) -> None:
        """Refuse the data of another model."""
        found = self.entry("at the top", content, "model")
        if found != model:
            raise self.wrong("model", found, repr(model))

    def number(self, where: str, value: object, least: int = 0) -> int:
        """Take a whole number."""
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= MOST_ROWS:
            raise self.wrong(where, value, f"a number from {least:,} to {MOST_ROWS:,}")
        return value

    def all_of(self, where: str, value: object) -> list[Any]:
        """Take a list."""
        if not isinstance(value, list):
            raise self.wrong(where, value, "a list")
        return value

    def labels(self, where: str, value: object) -> list[str]:
        """Take a list of items."""
        found = self.all_of(where, value)
        for label in found:
            if not isinstance(label, str) or not label:
                raise self.wrong(where, label, "items, each a text")
        return found
