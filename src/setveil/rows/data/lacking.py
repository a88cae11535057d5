"""Values that mean that there is none, and lines without an ID or an item: one rule for every shape."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, TableError, described, listed, shorten, superfluous
from setveil.base.wording import count
from setveil.rows.data import known_words
from setveil.rows.data.columns import Codes, as_field, column_at, split_names
from setveil.rows.data.known_words import MISSING, PUBLISHED_MISSING
from setveil.rows.data.named_columns import Column
from setveil.rows.data.skipped import WAYS

_CONCEPT = re.compile("concept_?id$", re.IGNORECASE)  # of OMOP, whose 0 is "no matching concept"
_WAYS = ("missing_id", "missing_item", "fill_id")


@dataclass(frozen=True)
class Lacking:
    """The words for a missing value, and the treatment of lines without an ID or an item."""

    said: tuple[str, ...] = ()  # words that were named for every column, in addition to those of `MISSING`
    of_columns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    values: frozenset[str] = frozenset()  # words of `MISSING` that are values here
    missing_id: str = "stop"
    missing_item: str = "skip"
    fill_id: bool = False
    published: bool = False  # whether it is a file that setveil wrote: its items are what they are called

    def words(self, name: str, *, wide: bool = False) -> frozenset[str]:
        """List the words of a column of IDs or items that mean that there is none.

        `wide`: it is one of several; then a published one is read as before there were more words.
        """
        common = MISSING if not self.published else PUBLISHED_MISSING if wide else frozenset[str]()
        if not self.published and _CONCEPT.search(name):
            common |= {"0"}
        return (common - self.values) | {*self.said, *self.of_columns.get(name, ()), ""}

    def named(self, name: str) -> tuple[str, ...]:
        """List the words that were named for any other column."""
        return (*self.said, *self.of_columns.get(name, ()))

    def require(self, names: Sequence[str], used: Sequence[str], where: str) -> None:
        """Refuse words of columns that do not exist or are not used."""
        for name in self.of_columns:
            column = names[column_at(names, name, where)]
            if column not in used:
                raise superfluous(
                    "missing",
                    f"--missing {name}: column {shorten(column)} of {where} is not used; used are "
                    f"{listed(list(used), 9)}.",
                    "Omit it, or name a column that is used.",
                )

    def of(self, names: Sequence[str]) -> Lacking:
        """Name the columns of words as a table does, where they were named by number."""
        if all(name in names for name in self.of_columns):
            return self
        found = {_name(names, name): words for name, words in self.of_columns.items()}
        return replace(self, of_columns=found)

    def alone(self) -> Lacking:
        """Omit what was said of single columns, which are those of another table."""
        return replace(self, of_columns={})

    def among(self, names: Collection[str | None]) -> Lacking:
        """Omit what was said of other columns than these."""
        return replace(
            self, of_columns={name: said for name, said in self.of_columns.items() if name in names}
        )

    def with_ways(self, options: dict[str, Any]) -> Lacking:
        """Take the options of lines that lack an ID or an item out of those of a reading."""
        ways = {name: options.pop(name) for name in _WAYS if name in options}
        said, of_columns = words_of(options.pop("missing", None))
        values = self.values | {*_texts("not_missing", options.pop("not_missing", None))}
        of_columns = {**self.of_columns, **of_columns}
        return replace(self, said=(*self.said, *said), of_columns=of_columns, values=values, **ways)

    def as_dict(self) -> dict[str, Any]:
        """Return what was said, as arguments of `setveil.read`."""
        several = [",".join(map(as_field, self.said))] if self.said else []
        several += [name + "=" + ",".join(map(as_field, words)) for name, words in self.of_columns.items()]
        made = {
            "missing": several,
            "not_missing": ",".join(map(as_field, sorted(self.values))),
            "missing_id": self.missing_id if self.missing_id != "stop" else None,
            "missing_item": self.missing_item if self.missing_item != "skip" else None,
            "fill_id": self.fill_id,
        }
        return {name: value for name, value in made.items() if value}


PLAIN = Lacking()
PUBLISHED = Lacking(published=True)


def lacking_of(
    missing: str | Sequence[str] | Mapping[str, Any] | None = None,
    not_missing: str | Sequence[str] | None = None,
    missing_id: str | None = None,
    missing_item: str | None = None,
    *,
    fill_id: bool | None = None,
) -> Lacking:
    """Take the options of `setveil.read` on missing values apart."""
    for name, way in (("missing_id", missing_id), ("missing_item", missing_item)):
        if way is not None and way not in WAYS:
            raise RequestError(f"{name} must be {' or '.join(WAYS)}, got {described(way)}.")
    if fill_id is not None and not isinstance(fill_id, bool):
        raise RequestError(f"fill_id must be True or False, got {described(fill_id)}.")
    said, of_columns = words_of(missing)
    values = frozenset(_texts("not_missing", not_missing))
    if both := values & {*said}:
        raise RequestError(f"missing and not_missing both name {listed(sorted(both))}.")
    return Lacking(said, of_columns, values, missing_id or "stop", missing_item or "skip", bool(fill_id))


def words_of(missing: Any) -> tuple[tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Take ``NA,unknown`` and ``age=NA`` apart: words of every column, and those of some."""
    if isinstance(missing, Mapping):
        return (), {str(name): tuple(_texts("missing", words)) for name, words in missing.items()}
    said: list[str] = []
    of_columns: dict[str, tuple[str, ...]] = {}
    for text in [missing] if isinstance(missing, str) else missing or ():
        if not isinstance(text, str) or not text:
            raise RequestError(f"missing must be texts, got {described(text)}.")
        name, sign, words = text.partition("=")
        if not sign or not name:
            said += split_names(text)
        elif name in of_columns:
            raise RequestError(f"--missing: column {name!r} is given twice.")
        else:
            of_columns[name] = tuple(split_names(words))
    return tuple(dict.fromkeys(said)), of_columns


def _texts(name: str, value: Any) -> list[str]:
    if isinstance(value, str):
        return split_names(value)
    found = list(value or ()) if isinstance(value, Iterable) or value is None else [value]
    if not all(isinstance(one, str) for one in found):
        raise RequestError(f"{name} must be texts, got {described(value)}.")
    return found


def _name(names: Sequence[str], name: str) -> str:
    return (
        names[int(name) - 1] if name not in names and name.isdigit() and 0 < int(name) <= len(names) else name
    )


def places_of_words(labels: Sequence[str], words: frozenset[str]) -> list[int]:
    """List the labels that are words; a word such as ``* Total`` is any label that ends so."""
    ends = tuple(word[1:] for word in words if word.startswith("*") and len(word) > 1)
    return [code for code, label in enumerate(labels) if label in words or (ends and label.endswith(ends))]


def without_words(column: Column, words: frozenset[str]) -> tuple[Column, Counter[str]]:
    """Empty the values of a column that mean that there is none, and count them by word."""
    at = [code for code in places_of_words(column.labels, words) if column.labels[code]]
    if not at:
        return column, Counter()
    times = np.bincount(column.codes, minlength=len(column.labels))
    found = Counter({column.labels[code]: int(times[code]) for code in at if times[code]})
    labels = list(column.labels)
    for code in at:
        labels[code] = ""
    return column._replace(labels=labels), found


def emptied(codes: Codes, labels: Sequence[str], words: frozenset[str]) -> tuple[Codes, Counter[str]]:
    """Omit the items that are words of no item, and count them by word."""
    at = places_of_words(labels, words)
    if not at:
        return codes, Counter()
    times = np.bincount(codes[codes >= 0], minlength=len(labels))
    found = Counter({labels[code]: int(times[code]) for code in at if labels[code] and times[code]})
    gone = np.zeros(len(labels) + 1, bool)
    gone[at] = True
    return np.where(gone[codes], codes.dtype.type(-1), codes), found


def settled_ids(ids: Column, name: str, lacking: Lacking) -> tuple[Column, Codes | None]:
    """Fill IDs that are missing, or skip their lines: all IDs, and which lines stay (None: all)."""
    words = lacking.words(name)
    sums = places_of_words(ids.labels, frozenset(word for word in words if is_of_sums(word)))
    of_sums = np.isin(ids.codes, sums)
    ids, _ = without_words(ids, words)
    if "" not in ids.labels:
        return ids, None
    lacks = np.array([not label for label in ids.labels], bool)[ids.codes]
    if lacks.any() and lacking.fill_id:
        last = np.maximum.accumulate(np.where(lacks, 0, np.arange(lacks.size)))
        ids, lacks = ids._replace(codes=ids.codes[last]), lacks[last] | of_sums
    if not lacks.any():
        return ids, None
    if lacking.missing_id == "stop":
        where, number = ids.place(int(np.argmax(lacks))), int(lacks.sum())
        others = ~np.array([known_words.is_total(label) for label in ids.labels], bool)[ids.codes]
        once, fill = stand_once(ids.codes[others], lacks[others]), not lacks[0]
        raise refuse_lines(where, name, number, "ID", once=once, fill=fill)
    if lacks.all():
        raise DataError(f"{ids.place(0)}: no line has an ID in column {shorten(name)}.")
    return ids, np.flatnonzero(~lacks)


def is_of_sums(word: str) -> bool:
    """Return whether a word that means no ID is one for sums, whose lines are those of no group."""
    return word.startswith("*") or known_words.is_total(word)


def stand_once(codes: Codes, lacks: Codes) -> bool:
    """Return whether IDs seem to be written once for a group of lines: none comes again, and many lack."""
    ids = codes[~lacks]
    return bool(not lacks[0] and np.unique(ids).size == ids.size and 3 * int(lacks.sum()) >= ids.size)


def only(column: Column, kept: Codes | None) -> Column:
    """Take some lines of a column."""
    if kept is None:
        return column
    return Column(column.codes[kept], column.labels, lambda row: column.place(int(kept[row])))


def skipped_noted(kept: Codes | None, lines: int) -> list[str]:
    """Say how many lines were skipped as they lack an ID."""
    if kept is None:
        return []
    number = lines - kept.size
    return [f"{count(number, 'line')} without an ID {'was' if number == 1 else 'were'} skipped."]


def words_noted(found: Counter[str], name: str, unit: str = "line") -> str:
    """Say how many lines have which word in place of an item; "" if none has."""
    if not found:
        return ""
    more = f" and {len(found) - 5} more words" if len(found) > 5 else ""
    mean = "means" if len(found) == 1 else "mean"
    return (
        f"{_lines_with(found, name, unit)}{more} {mean} that there is no item. "
        "--not-missing WORD reads it as one."
    )


def _lines_with(found: Counter[str], name: str, unit: str) -> str:
    """Count the lines with some words, and each of the most frequent of them."""
    of = f" of column {shorten(name)}" if name else ""
    shown = ", ".join(f"{shorten(word)} ({times:,})" for word, times in found.most_common(5))
    return f"{count(found.total(), unit)}{of}: {shown}"


def doubtful_noted(
    codes: NDArray[Any], labels: Sequence[str], name: str, lacking: Lacking, unit: str = "line"
) -> list[str]:
    """Say which items may be words for no item, and the option that omits them."""
    places = (
        [] if lacking.published else [at for at, one in enumerate(labels) if known_words.may_be_missing(one)]
    )
    places = [at for at in places if labels[at] not in lacking.values]
    times = np.bincount(codes[np.isin(codes, places)], minlength=len(labels)) if places else ()
    found = Counter({labels[at]: int(times[at]) for at in places if times[at]})
    if not found:
        return []
    words = shlex.quote(",".join(map(as_field, sorted(found))))
    read = "is read as an item" if len(found) == 1 else "are read as items"
    return [f"{_lines_with(found, name, unit)} {read}. If there is no item, add --missing {words}."]


def refuse_lines(
    where: str, name: str, number: int, what: str, *, once: bool = False, fill: bool = True
) -> TableError:
    """Make the error on lines that lack an ID or an item; IDs written `once` may be filled in if `fill`."""
    ways: list[tuple[dict[str, Any], str]] = [
        ({"missing_id": "skip"}, "lines without an ID are skipped"),
        ({"fill_id": True}, "a group of lines has one ID: an empty ID is that of the line above"),
    ]
    return TableError(
        f"{where}: column {shorten(name)} is empty, expected a value on every line; "
        f"{count(number, 'line')} {'lacks' if number == 1 else 'lack'} an {what}",
        [],
        (ways[::-1] if once else ways if fill else ways[:1])
        if what == "ID"
        else [({"missing_item": "skip"}, "a person without items is an empty row")],
    )
