"""Rows of facts: each published as a box, a code or a group of codes with periods and bands of amounts."""

from __future__ import annotations

import csv
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from setveil.data.io.source import as_text, read_bytes
from setveil.data.io.write import quoting, require_text
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import DataError, RequestError, shorten
from setveil.facts.facts import Facts
from setveil.hierarchy.tree import Hierarchy
from setveil.published import KindInfo
from setveil.published.about import about_file, published_file, require_size
from setveil.published.boxes import Boxes
from setveil.published.counts import FACTS as FACTS_HEADER
from setveil.published.counts import FILE as COUNTS
from setveil.published.recoding import BoxRecoding
from setveil.published.rows import RowsRelease
from setveil.published.rows import info as single_rows
from setveil.published.rows import publish as publish_rows

FILE, ROW = "data.csv", "row"
CODES = "codes"  # the kind of the part that holds the codes
_SAME = "The two files must come from the same release."

info = KindInfo(
    title="rows of facts",
    made_as=(BoxRecoding,),
    recodings=(BoxRecoding.kind,),
    means="facts",
    of_rows=True,
    asks=single_rows.asks,
    files=("internal/recoding.csv", f"published/{COUNTS}"),
    written="facts are written as csv, with a line for each fact and a column for each of its parts",
    check="setveil verify with --k and --m",
)


@dataclass(frozen=True, eq=False)
class FactRows(Transactions):
    """Published rows whose labels are boxes, with what the parts of boxes stand for.

    Attributes
    ----------
    boxes : tuple of tuple of str
        The parts of each label of the vocabulary.
    meaning : tuple of mapping
        For each part, the values that a label stands for; others stand for themselves.
    names : tuple of str
        Of the parts.
    sign : str
        What stands between the parts of a label.
    sizes : tuple of int
        How many values each part has; () where that is not told.
    kinds : tuple of str
        Of the parts: ``codes``, ``when`` or ``amount``.
    """

    boxes: tuple[tuple[str, ...], ...] = ()
    meaning: tuple[Mapping[str, tuple[str, ...]], ...] = ()
    names: tuple[str, ...] = ()
    sign: str = ""
    sizes: tuple[int, ...] = ()
    kinds: tuple[str, ...] = ()

    @cached_property
    def stands_for(self) -> Boxes:
        """What the boxes stand for."""
        return Boxes(self.names, self.boxes, self.meaning, self.sign, self.sizes, self.kinds)


@dataclass(frozen=True, eq=False)
class FactsRelease(RowsRelease):
    """Published rows of facts with the recoding that made them (see `setveil.published.Release`)."""

    published: FactRows
    recoding: BoxRecoding
    details: dict[str, Any] = field(default_factory=dict)
    facts: Facts = None  # type: ignore[assignment]  # the data; always given

    info: ClassVar[KindInfo] = info

    def exposed(self) -> FactRows:
        """Return the rows."""
        return self.published

    def layout(self, given: Layout, wanted: str | None) -> Layout:
        """Say how rows are numbered; there is no choice of a format."""
        if wanted is not None:
            raise RequestError(f"--output-format: {info.written}.", hint="Leave it out.")
        return Layout("long", id_column=ROW, item_column=self.facts.name)

    def arranged(self, layout: Layout) -> FactsRelease:
        """Put rows without facts last, so that the others are numbered on."""
        plain = super().arranged(layout)
        rows = plain.published
        published = replace(self.published, indptr=rows.indptr, items=rows.items)
        return replace(self, published=published, row_map=plain.row_map)

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the parts of facts are, and what their labels stand for."""
        names, facts = self.facts.part_names, self.facts
        labels = {
            name: {label: list(values) for label, values in meaning.items()}
            for name, meaning in zip(names, self.published.meaning, strict=True)
        }
        one = {
            "m": report["guarantee"]["m"],
            "attributes": [attribute.as_dict() for attribute in facts.attributes],
            "labels": labels,
        }
        domain = {}
        if report["hierarchy"]["source"] != "co-occurrence":
            # Else it would tell how many codes were left out.
            domain = {"domain": self.recoding.domain}
            one["values"] = dict(zip(names, self.published.sizes, strict=True))
        counts = {} if self.counts is None else {"counts": self.counts.about()}
        return {**domain, **counts, "facts": {"sets": {facts.name: one}, "sign": facts.sign}}

    def meaning(self) -> dict[str, Any]:
        """Return what is told of the recoding where counts are checked; boxes say the rest."""
        return {"recoding": self.recoding.kind, "domain": self.recoding.domain, "labels": {}}

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, str]]:
        """Write a line for each fact: the number of the row, and the parts."""
        rows, quote = self.published, quoting(",")
        require_text(rows.vocabulary.labels)
        lines = [",".join(map(quote, box)) for box in rows.boxes]
        numbers = np.repeat(np.arange(rows.n_rows), rows.row_lengths()).tolist()
        with (folder / FILE).open("w", encoding="utf-8", newline="") as file:
            file.write(",".join(map(quote, (ROW, *self.facts.part_names))) + "\n")
            file.writelines(
                f"{number},{lines[item]}\n" for number, item in zip(numbers, rows.items.tolist(), strict=True)
            )
        if self.counts is not None:
            self.counts.write(folder, FACTS_HEADER)
        return FILE, {"format": BoxRecoding.kind}


def publish(
    data: Transactions, made: BoxRecoding, seed: int, details: dict[str, Any] | None = None, least: int = 0
) -> FactsRelease:
    """Recode rows of facts and put them in an order that reveals nothing."""
    assert isinstance(data, Facts)  # noqa: S101  (boxes are made of facts alone)
    plain, tree = publish_rows(data, made, seed, details, least), made.tree
    nodes = [tree.id(label) for label in plain.published.vocabulary.labels]
    boxes = tree.boxes[nodes]
    trees = tree.space.trees
    meaning = []
    for at, part in enumerate(trees):
        inner = [v for v in np.unique(boxes[:, at]).tolist() if v >= part.n_leaves]
        meaning.append({part.labels[v]: tuple(part.labels[leaf] for leaf in part.leaves(v)) for v in inner})
    parts = tuple(tuple(part.labels[v] for part, v in zip(trees, box, strict=True)) for box in boxes.tolist())
    rows = plain.published
    published = FactRows(
        rows.indptr, rows.items, rows.vocabulary, None, parts, tuple(meaning), data.part_names, data.sign,
        tuple(part.n_leaves for part in trees), (CODES, *(one.kind for one in data.attributes)),
    )  # fmt: skip
    return FactsRelease(published, made, plain.row_map, plain.details, plain.counts, None, data)


def holds(path: Path) -> bool:
    """Whether the about.json beside a published file, or in a folder, says that its rows are facts."""
    try:
        return bool(about_file(published_file(path)).get("recoding") == BoxRecoding.kind)
    except DataError:
        return False


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> FactRows:
    """Read rows of facts, with what their parts stand for from the about.json beside them."""
    file = published_file(Path(path))
    about = about_file(file)
    names, kinds, meaning, sign, sizes = _told(file.parent / "about.json", about)
    given = [name for name, value in reading.items() if value is not None]
    if given:
        raise RequestError(f"{', '.join(given)}: rows of facts are read as their about.json says.")
    text = as_text(read_bytes(file), str(file)).content.decode()
    lines = csv.reader(text.splitlines(), strict=True)
    rows: list[list[tuple[str, ...]]] = []
    try:
        header = next(lines, [])
        if header != [ROW, *names]:
            raise DataError(
                f"{file}, line 1: found {shorten(','.join(header))}, expected {','.join([ROW, *names])}.",
                hint=_SAME,
            )
        for line in lines:
            _add(rows, line, len(names), f"{file}, line {lines.line_num}")
    except csv.Error as error:
        raise DataError(f"{file}, line {lines.line_num}: {error}.") from None
    missing = require_size(about, str(file), len(rows), 0, shown=False)
    rows += [[] for _ in range(missing)]
    box_of = {sign.join(box): box for row in rows for box in row}
    made = Transactions.from_rows([[sign.join(box) for box in row] for row in rows])
    boxes = tuple(box_of[label] for label in made.vocabulary.labels)
    return FactRows(
        made.indptr, made.items, made.vocabulary, None, boxes, meaning, tuple(names), sign, sizes, kinds
    )


def _add(rows: list[list[tuple[str, ...]]], line: Sequence[str], width: int, where: str) -> None:
    """Add the fact of a line to the rows; lines of a row stand together, and rows are numbered on."""
    if len(line) != width + 1 or not all(line):
        raise DataError(f"{where}: found {shorten(','.join(line))}, expected {width + 1} values.")
    if line[0] == str(len(rows)):
        rows.append([])
    elif line[0] != str(len(rows) - 1):
        raise DataError(
            f"{where}: found row {shorten(line[0])}, expected {max(len(rows) - 1, 0)} or {len(rows)}: lines "
            "of a row stand together.",
            hint=_SAME,
        )
    rows[-1].append(tuple(line[1:]))


def _told(
    path: Path, about: Mapping[str, Any]
) -> tuple[list[str], tuple[str, ...], tuple[Mapping[str, tuple[str, ...]], ...], str, tuple[int, ...]]:
    """Take names and kinds of parts, meanings of labels, the sign and numbers of values from about.json."""
    try:
        told = about["facts"]
        ((name, one),) = told["sets"].items()
        names = [name, *(attribute["name"] for attribute in one["attributes"])]
        kinds = (CODES, *(_text(attribute["kind"]) for attribute in one["attributes"]))
        meaning = tuple(
            {label: tuple(map(_text, values)) for label, values in one["labels"][part].items()}
            for part in names
        )
        sign = _text(told["sign"])
        sizes = tuple(_size(one["values"][part]) for part in names) if "values" in one else ()
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(
            f"{path} is not an about.json that setveil wrote: facts does not say what the parts of facts are."
        ) from None
    return list(map(_text, names)), kinds, meaning, sign, sizes


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def measurable(
    path: str, exposed: FactRows, original: Transactions, tree: Hierarchy | None
) -> dict[str, Any]:
    """Refuse to measure what was read: only the run that made it knows the facts that it was made of."""
    raise RequestError(
        "What a release of facts lost is measured by the run that makes it.",
        hint="It is in internal/report.json and on the page beside it.",
    )
