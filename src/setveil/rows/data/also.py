"""Further files about the same people, such as drugs next to diagnoses: their items are joined by the ID."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.base.errors import RequestError, described

_SHEETS = (".xlsx", ".xlsm")


@dataclass(frozen=True)
class Also:
    """A further file, its sheet, and its column or columns of items; None: as in the first file."""

    text: str  # as it was named
    path: str
    sheet: str | None = None
    columns: str | None = None


def also_of(also: Any) -> tuple[Also, ...]:
    """Take ``drugs.csv:ATC`` apart, or several such texts, or files with their columns.

    >>> [(one.path, one.columns) for one in also_of({"drugs.csv": "ATC"})]
    [('drugs.csv', 'ATC')]
    >>> also_of("book.xlsx:Drugs:ATC")[0].sheet
    'Drugs'
    """
    if isinstance(also, Mapping):
        also = [f"{path}:{columns}" if columns else path for path, columns in also.items()]
    texts = [also] if isinstance(also, str | Path) or not isinstance(also, Iterable) else list(also)
    for one in texts:
        if not isinstance(one, str | Path) or not str(one):
            raise RequestError(
                f"also must be FILE or FILE:COLUMN, got {described(one)}.", hint="Such as drugs.csv:ATC."
            )
    return tuple(_one(str(text)) for text in texts)


def _one(text: str) -> Also:
    path, sign, columns = text.rpartition(":")
    if not sign or Path(text).exists() or len(path) == 1:  # a drive, such as C:
        return Also(text, text)
    file, _, sheet = path.rpartition(":")
    if file and file.lower().endswith(_SHEETS) and not Path(path).exists():
        return Also(text, file, sheet, columns)
    return Also(text, path, None, columns)
