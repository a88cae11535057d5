"""The class of a file of the corpus, and the functions that make such files."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Literal, NamedTuple

Rows = list[frozenset[str]]
Lines = list[list[str]]


@dataclass(frozen=True)
class Export:
    """One or more files as users export them, and the required outcome of reading them without options.

    Attributes
    ----------
    name : str
        The name of the case.
    files : mapping of bytes
        The contents by file name, in a folder of their own.
    must : {"read", "ask", "refuse", "either"}
        ``read``: the rows are read. ``ask``: exit 4; the message shows the columns, and commands that read
        the file. ``refuse``: exit 4 with a hint. ``either``: read or ask.
    rows : rows, optional
        The rows of the file, or None if no option can define them, or the file has no sensible rows.
    source : list of str
        Arguments that name the input; by default the first file.
    options : tuple of str
        Options that read the rows, if the case asks: one of the commands shown must do the same (unless not
        `shown`). Otherwise, the case reads or refuses with these options.
    ids : values
        Values that no reading must publish as items, unless the user calls the lines rows of items.
    columns : mapping of values
        The values of each column that the message must name; it must show three of them.
    words : tuple of str
        Parts of the error message, or of the text on standard error.
    shown : bool
        Whether a command shown must read the rows.
    """

    name: str
    files: Mapping[str, bytes]
    must: Literal["read", "ask", "refuse", "either"]
    rows: Rows | None = None
    source: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    ids: frozenset[str] = frozenset()
    columns: Mapping[str, frozenset[str]] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    shown: bool = True

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.source or (next(iter(self.files)),)


def read(
    name: str, file: str, content: str | bytes, rows: Rows, *options: str, words: Iterable[str] = ()
) -> Export:
    """Make the case of a file that must be read."""
    return Export(name, {file: as_bytes(content)}, "read", rows, options=options, words=tuple(words))


def refuse(name: str, file: str, content: str | bytes, *words: str, options: Sequence[str] = ()) -> Export:
    """Make the case of a file that stops with an error and a hint."""
    return Export(name, {file: as_bytes(content)}, "refuse", options=tuple(options), words=words)


def ask(
    name: str,
    file: str,
    content: str | bytes,
    rows: Rows | None = None,
    *options: str,
    ids: Iterable[str] = (),
    columns: Mapping[str, Iterable[str]] | None = None,
    words: Iterable[str] = (),
    shown: bool = True,
) -> Export:
    """Make the case of a file that may be a table, and must lead to a question about its columns."""
    named = {column: frozenset(values) - {""} for column, values in (columns or {}).items()}
    return Export(
        name, {file: as_bytes(content)}, "ask", rows, options=options, ids=frozenset(ids), columns=named,
        words=tuple(words), shown=shown,
    )  # fmt: skip


def either(export: Export) -> Export:
    """Allow that the file is read, if it is read right."""
    return replace(export, must="either")


def by(id_column: str, item_column: str) -> tuple[str, ...]:
    """Name the columns of a long table."""
    return ("--id-column", id_column, "--item-column", item_column)


def as_bytes(content: str | bytes) -> bytes:
    return content.encode() if isinstance(content, str) else content


def table(
    lines: Iterable[Sequence[object]], sep: str = ",", end: str = "\n", *, quote_all: bool = False
) -> str:
    """Write separated text as the csv module does."""
    out = io.StringIO()
    writer = csv.writer(out, delimiter=sep, lineterminator=end, quoting=csv.QUOTE_ALL if quote_all else 0)
    writer.writerows(lines)
    return out.getvalue()


def columns_of(lines: Sequence[Sequence[str]], *names: str) -> dict[str, list[str]]:
    """Return the values of columns of a table with a header; by default of all of them."""
    header = list(lines[0])
    return {name: [line[header.index(name)] for line in lines[1:]] for name in names or header}


def grouped(pairs: Iterable[tuple[str, str]]) -> Rows:
    """Return one row for each id, in order of appearance."""
    rows: dict[str, set[str]] = {}
    for key, item in pairs:
        rows.setdefault(key, set()).add(item)
    return [frozenset(row) for row in rows.values()]


CODES = ("E11.9", "I10", "J45.0", "K21", "M54.5", "F32.1", "N39.0", "E78.5", "Z37", "O80", "R51", "H25")


class Patient(NamedTuple):
    """A made patient: a number that nothing else holds, and distinct codes with a date each."""

    number: str
    sex: str
    age: str
    zip: str
    codes: tuple[str, ...]
    dates: tuple[str, ...]


def patients(n: int = 30, seed: int = 1, most: int = 4) -> list[Patient]:
    """Make patients; their numbers have seven digits and are in no order."""
    rng = Random(seed)
    made = []
    for number in rng.sample(range(4_100_000, 4_900_000), n):
        codes = rng.sample(CODES[: most + rng.randrange(13 - most)], rng.randint(1, most))
        days = (f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}" for _ in codes)
        made.append(
            Patient(
                str(number), rng.choice("mf"), str(rng.randint(18, 94)), f"0{rng.randint(1000, 9999)}",
                tuple(codes), tuple(days),
            )
        )  # fmt: skip
    return made


PATIENTS = patients()
NUMBERS = frozenset(patient.number for patient in PATIENTS)
DIAGNOSES: Rows = [frozenset(patient.codes) for patient in PATIENTS]

GOODS = (
    "whole milk", "rolls", "soda", "yogurt", "root vegetables", "tropical fruit", "sausage", "bottled water",
    "beer", "pastry", "citrus fruit", "butter", "newspapers", "shopping bags",
)  # fmt: skip


def baskets(n: int = 60, seed: int = 2, most: int = 6, goods: Sequence[str] = GOODS) -> Lines:
    """Draw rows of different lengths, frequent goods first among equals, in no order."""
    rng = Random(seed)
    weights = [1 / (i + 1) for i in range(len(goods))]
    rows = []
    for _ in range(n):
        drawn = rng.choices(goods, weights, k=rng.randint(1, most))
        rows.append(list(dict.fromkeys(drawn)))
    return rows


def as_rows(lines: Iterable[Iterable[str]]) -> Rows:
    return [frozenset(line) - {""} for line in lines]
