"""The ledger of one release: its people, their items and their labels."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, reason_of
from setveil.base.staging import keep_private
from setveil.rows.data.transactions import Transactions
from setveil.work.past.run import read_recoding

if TYPE_CHECKING:
    import polars as pl

ITEMS, RECODING, ROWS, HELD, FORGOTTEN = (
    "items.csv.zst", "recoding.csv", "rows.csv", "held.csv", "forgotten.csv"
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class KeptRelease:
    """The internal content of a release.

    `people`: codes, one for each published row; forgotten people are last, under fresh ones, in any order.
    `data`: what each had, in this order, nothing for the forgotten. `image`: the label of each item, None: it
    is suppressed. `rows`: int64 (people,), the published row of each, which for the forgotten reveals
    nothing. `held`: people who were withheld. `forgotten`: the labels of each forgotten person's row.
    """

    people: tuple[str, ...]
    data: Transactions
    image: Mapping[str, str | None]
    rows: NDArray[np.int64]
    held: tuple[str, ...] = ()
    forgotten: Mapping[str, tuple[str, ...]] | None = None

    def labels_of(self, place: int) -> set[str]:
        """List what the row of someone must show."""
        person = self.people[place]
        if self.forgotten and person in self.forgotten:
            return set(self.forgotten[person])
        labels = self.data.vocabulary.labels
        items = self.data.items[self.data.indptr[place] : self.data.indptr[place + 1]].tolist()
        return {label for item in items if (label := self.image[labels[item]]) is not None}

    def without(self, person: str, fresh: str) -> KeptRelease:
        """Forget what a person had; the labels of the row stay, under a fresh code."""
        if person not in self.people:
            return replace(self, held=tuple(one for one in self.held if one != person))
        at = self.people.index(person)
        order = [i for i in range(len(self.people)) if i != at] + [at]
        kept = [self.data[i] for i in order[:-1]]
        data = Transactions.from_rows([*kept, ()])
        people = (*(self.people[i] for i in order[:-1]), fresh)
        forgotten = {**(self.forgotten or {}), fresh: tuple(sorted(self.labels_of(at)))}
        return replace(self, people=people, data=data, rows=self.rows[order], forgotten=forgotten)


def write_part(folder: Path, part: KeptRelease) -> None:
    """Write what is kept of a release into a private folder, without codes of those who were forgotten."""
    import polars as pl

    named = len(part.people) - len(part.forgotten or ())
    whose = [*part.people[:named], *[""] * len(part.forgotten or ())]
    row = np.concatenate((part.rows[:named], np.sort(part.rows[named:])))
    data, people = part.data, pl.Series("person", part.people, pl.String)
    lengths = data.row_lengths()
    person = np.repeat(np.arange(len(part.people)), np.maximum(lengths, 1))
    labels = pl.Series([*data.vocabulary.labels, ""], dtype=pl.String)
    item = np.full(person.size, len(data.vocabulary), np.int64)
    item[np.repeat(lengths > 0, np.maximum(lengths, 1))] = data.items
    lines = pl.DataFrame({"person": people.gather(person), "item": labels.gather(item)})
    lines = lines.filter(pl.Series(person < named))
    (folder / ITEMS).write_bytes(_zstd().compress(_csv(lines)))
    items, to = list(part.image), ["" if x is None else x for x in part.image.values()]
    tables: dict[str, dict[str, Any]] = {
        RECODING: {"item": items, "published": to},
        ROWS: {"person": whose, "published_row": row},
        HELD: {"person": list(part.held)},
    }
    if part.forgotten:
        pairs = [(one, label) for one, shown in sorted(part.forgotten.items()) for label in shown or ("",)]
        tables[FORGOTTEN] = {"person": [one for one, _ in pairs], "label": [label for _, label in pairs]}
    for name, columns in tables.items():
        schema = {key: pl.Int64 if key == "published_row" else pl.String for key in columns}
        (folder / name).write_bytes(_csv(pl.DataFrame(columns, schema=schema)))
    keep_private(folder)


def read_part(folder: Path) -> KeptRelease:
    """Read what is kept of a release."""
    import polars as pl

    rows = _read(folder / ROWS, ("person", "published_row"))
    forgotten: dict[str, tuple[str, ...]] = {}
    if (folder / FORGOTTEN).is_file():
        for one, label in _read(folder / FORGOTTEN, ("person", "label")).iter_rows():
            forgotten[one] = (*forgotten.get(one, ()), *([label] if label else []))
    named = [one for one in rows["person"].to_list() if one]
    people = [*named, *(one for one in forgotten if one not in named)]
    if len(people) != rows.height:
        raise _damaged(folder, "rows without a person")
    lines = _read(folder / ITEMS, ("person", "item"))
    place = {one: at for at, one in enumerate(people)}
    try:
        person = np.array([place[one] for one in lines["person"].to_list()], np.int64)
        published = rows["published_row"].cast(int).to_numpy()
    except (KeyError, ValueError, TypeError) as error:
        raise _damaged(folder, reason_of(error)) from None
    names = lines["item"].unique(maintain_order=True)
    number = {label: at for at, label in enumerate(names.to_list())}
    codes = lines["item"].replace_strict(number, return_dtype=pl.Int64).to_numpy().astype(np.int64)
    codes = np.where(codes == number.get("", -2), -1, codes)
    order = np.argsort(person, kind="stable")
    indptr = np.concatenate(([0], np.cumsum(np.bincount(person, minlength=len(people)))))
    data = Transactions.from_codes(indptr, codes[order], names.to_list())
    held = tuple(_read(folder / HELD, ("person",))["person"].to_list())
    image = read_recoding(folder / RECODING)
    missing = [label for label in data.vocabulary.labels if label not in image]
    if missing or len(place) < len(people):
        raise _damaged(folder, f"no label of {missing[0]!r}" if missing else "a person has two rows")
    return KeptRelease(tuple(people), data, image, published.astype(np.int64), held, forgotten or None)


def _csv(lines: pl.DataFrame) -> bytes:
    text = lines.write_csv(None, line_terminator="\n")
    return text.encode()


def _read(path: Path, columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    try:
        content = path.read_bytes()
        if path.suffix == ".zst":
            content = _zstd().decompress(content)
        found = pl.read_csv(content, infer_schema=False).fill_null("")
    except (OSError, ValueError, pl.exceptions.PolarsError, _zstd().ZstdError) as error:
        raise _damaged(path, reason_of(error)) from None
    if found.columns != list(columns):
        raise _damaged(path, f"its columns are {', '.join(found.columns)}, expected {', '.join(columns)}")
    return found


def _damaged(path: Path, why: str) -> DataError:
    return DataError(
        f"The ledger cannot be read: {path}: {why}.",
        hint="Take it from a backup: without it the series cannot go on.",
    )


def _zstd() -> Any:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd
