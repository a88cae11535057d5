"""Rows of facts: each published as a box, a code or a group of codes with periods and bands of amounts."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, pairwise
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, faces, shorten
from setveil.base.values.per_column import labelled
from setveil.kernels.rows import frozen
from setveil.releases.published import KindInfo
from setveil.releases.published.about import about_file, published_file, require_size
from setveil.releases.published.as_written import require_rows_as_written
from setveil.releases.published.boxes import CODES, UNLISTED, Boxes, Fact
from setveil.releases.published.counts import FACTS as FACTS_HEADER
from setveil.releases.published.counts import read_counts
from setveil.releases.published.listing import MEMBERS_FILE, Listing, listing_of
from setveil.releases.published.recoding import BoxRecoding, ReadBoxes
from setveil.releases.published.rows import RowsRelease, all_members, write_members
from setveil.releases.published.rows import publish as publish_rows
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.write import quoting, require_text
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.facts import NO_SECRETS, Facts, SetColumn
from setveil.rows.facts.inside import values_in
from setveil.rows.hierarchy.boxes import BoxTree
from setveil.rows.hierarchy.tree import Hierarchy

FILE, ROW, SET, ITEM = "data.csv", "row", "set", "item"
_SAME = "The two files must come from the same release."


def _shared_sums(rows: FactRows, counts: Any, about: Mapping[str, Any], _layout: Layout | None) -> Any:
    """Take what is shared of rows of facts."""
    from setveil.releases.published.shared import facts_shared

    return facts_shared(as_shared(rows), counts, about)


@dataclass(frozen=True, eq=False)
class ShownColumn:
    """A published column of codes, as a reader knows it."""

    name: str
    part_names: tuple[str, ...]  # the codes, then the attributes
    # of each part, the values that a label stands for; others stand for themselves
    meaning: tuple[Mapping[str, tuple[str, ...]], ...]
    kinds: tuple[str, ...]  # of each part: codes, when, amount
    sizes: tuple[int, ...]  # how many values each part has; (): not told
    listing: Listing | None = None  # codes that about.json may list below labels; None: all of them


@dataclass(frozen=True, eq=False)
class FactRows(Transactions):
    """Published rows whose labels are boxes, with the meaning of the parts of boxes."""

    columns: tuple[ShownColumn, ...] = ()  # of codes
    # int32 (n_items,): the position in `columns` of each label of the vocabulary
    column: NDArray[np.int32] = field(default_factory=lambda: np.zeros(0, np.int32))
    boxes: tuple[tuple[str, ...], ...] = ()  # the parts of each label of the vocabulary
    sign: str = ""  # between the parts of a label

    kind: ClassVar[str] = "facts"
    has_facts: ClassVar[bool] = True
    shows_absence: ClassVar[bool] = False
    secretless: ClassVar[Refusal] = NO_SECRETS
    final: ClassVar[Refusal] = Refusal(
        "Published facts cannot be anonymized again: their labels are boxes, not codes.",
        "Anonymize the facts that they were made of: setveil.read_facts(...).",
    )

    @property
    def set_names(self) -> tuple[str, ...]:
        """Names of the columns of codes."""
        return tuple(one.name for one in self.columns)

    def labels_of(self, column: int) -> list[int]:
        """List the labels of a column, ascending."""
        return np.flatnonzero(self.column == column).tolist()

    @cached_property
    def stands_for(self) -> Boxes:
        """The meaning of the boxes."""
        one = self.columns[0]
        if len(self.columns) == 1:
            return Boxes(one.part_names, self.boxes, one.meaning, self.sign, one.sizes, one.kinds)
        ends = np.cumsum([0, *(len(each.part_names) for each in self.columns)]).tolist()
        places = [slice(start, stop) for start, stop in pairwise(ends)]
        known = all(each.sizes for each in self.columns)
        shape = Boxes(
            tuple(chain.from_iterable(each.part_names for each in self.columns)),
            (),
            tuple(chain.from_iterable(each.meaning for each in self.columns)),
            self.sign,
            tuple(size + 1 for each in self.columns for size in each.sizes) if known else (),
            tuple(chain.from_iterable(each.kinds for each in self.columns)),
            {each.name: at for each, at in zip(self.columns, places, strict=True)},
        )
        own = zip(self.column.tolist(), self.boxes, strict=True)
        return replace(shape, boxes=tuple(shape.within(places[at], box) for at, box in own))


info = KindInfo(
    title="rows of facts",
    recodings=(BoxRecoding.kind,),
    shown=FactRows,
    means="facts",
    rows_of_items=True,
    asks=("itemsets", "itemset_length", "risk_m"),
    written="facts are written as csv, with a line for each fact and a column for each of its parts",
    by_labels=True,
    shared_sums=_shared_sums,
    drawn=_shared_sums,
)


@dataclass(frozen=True, eq=False)
class FactsRelease(RowsRelease):
    """Published rows of facts with the recoding that made them (see `setveil.releases.published.Release`)."""

    published: FactRows
    recoding: BoxRecoding
    details: dict[str, Any] = field(default_factory=dict)
    facts: Facts = None  # type: ignore[assignment]  # the data; always given

    info: ClassVar[KindInfo] = info

    def exposed(self) -> FactRows:
        """Return the rows."""
        return self.published

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Say how rows are numbered; there is no choice of a format."""
        if wanted is not None:
            raise RequestError(f"--output-format: {info.written}.", hint="Omit it.")
        columns = self.facts.columns
        item = columns[0].name if len(columns) == 1 else ITEM
        return Layout("long", id_column=ROW, item_column=item)

    def arranged(self, layout: Layout) -> FactsRelease:
        """Put rows without facts last, so that the others are numbered on."""
        plain = super().arranged(layout)
        rows = plain.published
        published = replace(self.published, indptr=rows.indptr, items=rows.items)
        return replace(self, published=published, row_map=plain.row_map)

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return what the parts of facts are, and what their labels represent."""
        # Of a computed hierarchy the number of facts would reveal how many were suppressed.
        domain = {"domain": self.domain} if is_domain_public(self.published, report) else {}
        counts = {} if self.counts is None else {"counts": self.counts.about()}
        parts = facts_record(self.published, self.facts.columns, report)
        return {**domain, **counts, "facts": parts}

    def meaning(self) -> dict[str, Any]:
        """Return the published part of the recoding, with which counts are checked; boxes say the rest."""
        return {"recoding": self.recoding.kind, "domain": self.domain, "labels": {}}

    @property
    def domain(self) -> int:
        """The number of possible facts, in the terms of about.json."""
        return domain_of(self.published)

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write a line for each fact: the number of the row, of several columns which, and the parts."""
        write_lines(folder / FILE, self.published)
        if self.counts is not None:
            self.counts.write(folder, FACTS_HEADER)
        return FILE, {"format": BoxRecoding.kind}

    def with_others(self, _members: Mapping[str, Sequence[str]]) -> dict[str, int]:
        """Return the boxes that may have codes that about.json does not list."""
        return boxes_with_others(self.published)

    def label_sizes(self) -> dict[str, int]:
        """Return how many facts each box may represent."""
        return box_sizes(self.published)

    def with_listing(self, data: Sums, tree: Hierarchy | None, least: int) -> Self:
        """Let about.json list only codes that enough rows contain."""
        boxes = None if tree is None else tree.as_boxes
        if boxes is None:  # of rows without facts
            return super().with_listing(data, tree, least)
        return replace(self, published=with_codes_listed(self.published, self.facts, boxes, least))

    def before(self) -> tuple[Facts, Mapping[str, str | None]]:
        """Return the facts, and the label of each."""
        return self.facts, self.image()

    def with_all_members(self) -> Self:
        """Let about.json list all codes."""
        return replace(self, published=with_all_codes(self.published))

    def write_inside(self, folder: Path) -> None:
        """Write what each fact became, and the codes that about.json does not list."""
        super().write_inside(folder)
        write_codes(folder / MEMBERS_FILE, self.published)


def with_codes_listed(rows: FactRows, data: Facts, tree: BoxTree, least: int) -> FactRows:
    """Let about.json list only codes in enough rows, for columns whose hierarchy does not list all codes."""
    columns = []
    for at, (shown, space) in enumerate(zip(rows.columns, tree.spaces, strict=True)):
        codes = (data.of_column(at) if len(rows.columns) > 1 else data).codes_alone()
        columns.append(replace(shown, listing=listing_of(codes, space.trees[0], least)))
    return replace(rows, columns=tuple(columns))


def with_all_codes(rows: FactRows) -> FactRows:
    """Let about.json list all codes."""
    return replace(rows, columns=tuple(replace(one, listing=None) for one in rows.columns))


def boxes_with_others(rows: FactRows) -> dict[str, int]:
    """Return the boxes that may have facts with unlisted codes, with the least rows of a listed code."""
    boxes = as_shared(rows).stands_for
    least = max((one.listing.least for one in rows.columns if one.listing is not None), default=0)
    labels = zip(rows.vocabulary.labels, boxes.boxes, strict=True)
    return {label: least for label, box in labels if boxes.has_others(box)}


def box_sizes(rows: FactRows) -> dict[str, int]:
    """Count the facts that there can be in each box."""
    boxes = rows.stands_for
    return {label: boxes.size(box) for label, box in zip(rows.vocabulary.labels, boxes.boxes, strict=True)}


def as_shared(rows: FactRows) -> FactRows:
    """Forget the codes that about.json does not list."""
    if not any(one.listing for one in rows.columns):
        return rows
    return replace(rows, columns=tuple(map(_as_listed, rows.columns)))


def _as_listed(column: ShownColumn) -> ShownColumn:
    if column.listing is None:
        return column
    found = column.listing.about_codes(_codes_of(column))
    codes = _with_unlisted(found["labels"], found.get("others", {}))
    return replace(column, meaning=(codes, *column.meaning[1:]), sizes=(), listing=None)


def _codes_of(column: ShownColumn) -> dict[str, list[str]]:
    return {label: list(codes) for label, codes in column.meaning[0].items()}


def _with_unlisted(
    labels: Mapping[str, Sequence[str]], others: Mapping[str, Any]
) -> dict[str, tuple[str, ...]]:
    """Give each label a value for its own members that are not listed, and for those of labels below it."""
    below = others.get("below", {})
    some = {label: [label, *below.get(label, ())] for label in others.get("labels", ())}
    return {
        label: (*codes, *(UNLISTED + one for one in some.get(label, ()))) for label, codes in labels.items()
    }


def write_codes(path: Path, rows: FactRows) -> None:
    """Write members.json: all codes of each label, by column, if about.json lists only some."""
    if any(one.listing for one in rows.columns):
        members = {
            labelled(one.name, x): codes for one in rows.columns for x, codes in _codes_of(one).items()
        }
        write_members(path, members, len({code for codes in members.values() for code in codes}))


def domain_of(rows: FactRows) -> int:
    """Count the facts that there can be: of all values of dates and amounts, whether or not they occur."""
    return sum(prod(column.sizes) for column in rows.columns)


def is_domain_public(rows: FactRows, report: Mapping[str, Any]) -> bool:
    """Return whether the number of facts says nothing of the data: no hierarchy of codes was computed."""
    computed = report["hierarchy"]["source"] == "co-occurrence"
    return not computed and not any(one.listing for one in rows.columns)


def facts_record(rows: FactRows, columns: Sequence[SetColumn], report: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of published facts, and the meaning of their labels, in the terms of about.json."""
    sets, m = {}, report["guarantee"]["m"]
    computed = report["hierarchy"]["source"] == "co-occurrence"
    for shown, column in zip(rows.columns, columns, strict=True):
        made = computed or shown.listing is not None
        labels = {
            name: {label: list(values) for label, values in meaning.items()}
            for name, meaning in zip(shown.part_names, shown.meaning, strict=True)
        }
        found = {} if shown.listing is None else shown.listing.about_codes(_codes_of(shown))
        if found:
            labels[shown.part_names[0]] = found.pop("labels")
        sets[column.name] = {
            "m": m[column.name] if isinstance(m, Mapping) else m,
            **({"domain": prod(shown.sizes)} if len(columns) > 1 and not made else {}),
            "attributes": [attribute.as_dict() for attribute in column.attributes],
            "labels": labels,
            **found,
            **({} if made else {"values": dict(zip(shown.part_names, shown.sizes, strict=True))}),
        }
    return {"sets": sets, "sign": rows.sign}


def write_lines(path: Path, rows: FactRows, row: str = ROW) -> None:
    """Write a line for each fact: the number of the row, of several columns which, and the parts."""
    quote = quoting(",")
    require_text(rows.vocabulary.labels)
    fields = fields_of({one.name: one.part_names for one in rows.columns}, row)
    lines = [
        ",".join(map(quote, fields.line(at, box)))
        for at, box in zip(rows.column.tolist(), rows.boxes, strict=True)
    ]
    numbers = np.repeat(np.arange(rows.n_rows), rows.row_lengths()).tolist()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(quote, fields.header)) + "\n")
        file.writelines(
            f"{number},{lines[item]}\n" for number, item in zip(numbers, rows.items.tolist(), strict=True)
        )


@dataclass(frozen=True)
class Fields:
    """The fields of a line of data.csv, or of a draw."""

    names: tuple[str, ...]  # of the columns of codes
    header: tuple[str, ...]
    places: tuple[tuple[int, ...], ...]  # of each column: where its parts stand in a line without the row

    def line(self, column: int, box: Sequence[str]) -> list[str]:
        """Write a fact of a column: the fields behind the number of the row."""
        out = [""] * (len(self.header) - 1)
        for at, part in zip(self.places[column], box, strict=True):
            out[at] = part
        if len(self.names) > 1:
            out[0] = self.names[column]
        return out

    def fact(self, line: Sequence[str]) -> tuple[int, tuple[str, ...]] | None:
        """Read a line back: its column and the parts; None if it is no such line."""
        if len(line) != len(self.header):
            return None
        column = 0 if len(self.names) == 1 else self.names.index(line[1]) if line[1] in self.names else -1
        if column < 0:
            return None
        box = tuple(line[1 + at] for at in self.places[column])
        return (column, box) if all(box) and self.line(column, box) == list(line[1:]) else None

    def label(self, column: int, box: Sequence[str], sign: str) -> str:
        """Write a fact of a column as one text."""
        return label_of(self.names, column, box, sign)


def fields_of(columns: Mapping[str, Sequence[str]], row: str = ROW) -> Fields:
    """Return the fields of a line from the parts of each column's facts, codes first, attributes merged."""
    names, parts = tuple(columns), list(columns.values())
    if len(names) == 1:
        return Fields(names, (row, *parts[0]), (tuple(range(len(parts[0]))),))
    attributes = list(dict.fromkeys(name for one in parts for name in one[1:]))
    places = tuple((1, *(2 + attributes.index(name) for name in one[1:])) for one in parts)
    return Fields(names, (row, SET, ITEM, *attributes), places)


def publish(
    data: Transactions, made: BoxRecoding, seed: int, details: dict[str, Any] | None = None, least: int = 0
) -> FactsRelease:
    """Recode rows of facts and put them in an order that reveals nothing."""
    facts: Facts = data.facts  # boxes are made of facts alone
    plain = publish_rows(data, made, seed, details, least)
    published = as_boxes(plain.published, made.tree, facts.columns, facts.sign)
    return FactsRelease(published, made, plain.row_map, plain.details, plain.counts, None, facts)


def as_boxes(rows: Transactions, tree: BoxTree, of: Sequence[SetColumn], sign: str) -> FactRows:
    """Say what the parts of published boxes are, given the tree of these boxes."""
    nodes = [tree.id(label) for label in rows.vocabulary.labels]
    boxes, column = tree.boxes[nodes], tree.column[nodes]
    columns = []
    parts: list[tuple[str, ...]] = [()] * len(nodes)
    for number, (space, own) in enumerate(zip(tree.spaces, of, strict=True)):
        mine = np.flatnonzero(column == number)
        meaning = []
        for at, part in enumerate(space.trees):
            inner = [v for v in np.unique(boxes[mine, at]).tolist() if v >= part.n_leaves]
            values = own.attributes[at - 1].possible_values() if at else ()
            meaning.append(
                {
                    part.labels[v]: values_in(part.labels[v], values)
                    if at
                    else tuple(part.labels[leaf] for leaf in part.leaves(v))
                    for v in inner
                }
            )
        for label in mine.tolist():
            box = boxes[label, : len(space.trees)].tolist()
            parts[label] = tuple(part.labels[v] for part, v in zip(space.trees, box, strict=True))
        kinds = (CODES, *(one.kind for one in own.attributes))
        sizes = (space.trees[0].n_leaves, *(len(one.possible_values()) for one in own.attributes))
        columns.append(ShownColumn(own.name, own.part_names, tuple(meaning), kinds, sizes))
    return FactRows(
        rows.indptr, rows.items, rows.vocabulary, None, tuple(columns), frozen(column, np.int32),
        tuple(parts), sign,
    )  # fmt: skip


def holds(path: Path) -> bool:
    """Say whether the about.json next to a published file, or in a folder, has rows of facts."""
    try:
        return bool(about_file(published_file(path)).get("recoding") == BoxRecoding.kind)
    except DataError:
        return False


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> FactRows:
    """Read rows of facts, with what their parts represent from the about.json next to them."""
    file = published_file(Path(path))
    about = about_file(file)
    columns, sign = read_parts(file.parent / "about.json", about)
    options = [name for name, value in reading.items() if value is not None]
    if options:
        raise RequestError(f"{', '.join(options)}: rows of facts are read as their about.json says.")
    rows: list[list[str]] = []
    box_of: dict[str, tuple[int, tuple[str, ...]]] = {}
    for row, label, found, where in lines_in(file, columns, sign):
        box_of[label] = found
        _add(rows, row, label, where)
    require_rows_as_written(file, rows)
    rows += [[] for _ in range(require_size(about, str(file), len(rows), 0, shown=False))]
    return with_boxes(Transactions.from_rows(rows), box_of, columns, sign)


def with_boxes(
    rows: Transactions, box_of: Mapping[str, tuple[int, Fact]], columns: tuple[ShownColumn, ...], sign: str
) -> FactRows:
    """Say of rows that were read what the column and the parts of each label are."""
    found_of = [box_of[label] for label in rows.vocabulary.labels]
    column = frozen(np.array([at for at, _ in found_of], np.int32), np.int32)
    boxes = tuple(box for _, box in found_of)
    return FactRows(rows.indptr, rows.items, rows.vocabulary, None, columns, column, boxes, sign)


def label_of(columns: Sequence[str], column: int, box: Sequence[str], sign: str) -> str:
    """Write a published fact, with the name of its column where there are several."""
    fact = sign.join(box)
    return labelled(columns[column], fact) if len(columns) > 1 else fact


def lines_in(
    file: Path, columns: Sequence[ShownColumn], sign: str, row: str = ROW
) -> Iterator[tuple[str, str, tuple[int, Fact], str]]:
    """Read the lines of facts: the row, the label, its column and parts, and where it stands."""
    fields = fields_of({one.name: one.part_names for one in columns}, row)
    text = as_text(read_bytes(file), str(file)).content.decode()
    lines = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(lines, [])
        if header != list(fields.header):
            raise DataError(
                f"{file}, line 1: found {shorten(','.join(header))}, expected {','.join(fields.header)}.",
                hint=_SAME,
            )
        for line in lines:
            where = f"{file}, line {lines.line_num}"
            found = fields.fact(line)
            if found is None:
                expected = f"{len(fields.header)} values"
                several = f" of one of the sets {', '.join(fields.names)}" if len(fields.names) > 1 else ""
                raise DataError(f"{where}: found {shorten(','.join(line))}, expected {expected}{several}.")
            yield line[0], fields.label(*found, sign), found, where
    except csv.Error as error:
        raise DataError(f"{file}, line {lines.line_num}: {error}.") from None


def _add(rows: list[list[str]], number: str, label: str, where: str) -> None:
    """Add the fact of a line to the rows; lines of a row are next to each other, and rows are numbered on."""
    if number == str(len(rows)):
        rows.append([])
    elif number != str(len(rows) - 1):
        raise DataError(
            f"{where}: found row {shorten(number)}, expected {max(len(rows) - 1, 0)} or {len(rows)}: lines "
            "of a row stand together.",
            hint=_SAME,
        )
    rows[-1].append(label)


def read_parts(path: Path, about: Mapping[str, Any]) -> tuple[tuple[ShownColumn, ...], str]:
    """Take the columns, their parts and what labels of these represent, and the sign from an about.json."""
    try:
        record = about["facts"]
        columns = []
        for name, one in record["sets"].items():
            names = (_text(name), *(_text(attribute["name"]) for attribute in one["attributes"]))
            meaning = tuple(
                {label: tuple(map(_text, values)) for label, values in one["labels"][part].items()}
                for part in names
            )
            meaning = (_with_unlisted(meaning[0], one.get("others", {})), *meaning[1:])
            kinds = (CODES, *(_text(attribute["kind"]) for attribute in one["attributes"]))
            sizes = tuple(_size(one["values"][part]) for part in names) if "values" in one else ()
            columns.append(ShownColumn(names[0], names, meaning, kinds, sizes))
        sign = _text(record["sign"])
        if not columns:
            raise ValueError
    except (KeyError, TypeError, ValueError, AttributeError):
        raise DataError(
            f"{path} is not an about.json that setveil wrote: facts does not say what the parts of facts are."
        ) from None
    return tuple(columns), sign


def _size(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError
    return value


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError
    return value


def _listed(parts: Sequence[Sequence[str]]) -> str:
    return "; ".join(", ".join(names) for names in parts)


def measurable(path: str, exposed: FactRows, original: Any, tree: Hierarchy | None) -> dict[str, Any]:
    """Return rows, recoding and counts of a release that was read; the original must be read as it was."""
    if tree is not None:
        raise RequestError("--hierarchy: about.json says what boxes represent.", hint="Omit it.")
    shown = [one.part_names for one in exposed.columns]
    read = [one.part_names for one in original.columns] if original.only_facts else []
    if not original.only_facts or read != shown or original.sign != exposed.sign:
        found = f"facts of {_listed(read)}" if read else "rows of items"
        raise RequestError(
            f"The release is one of facts of {_listed(shown)}, with {exposed.sign!r} between them; "
            f"the original is read as {found}.",
            hint=faces(
                "Read it as the release was made: --id-column, --set, --when, --amount.",
                "Read it by sv.read_facts, as the release was made.",
            ),
        )
    file = published_file(Path(path))
    about = about_file(file)
    exposed = _with_codes(exposed, file.parent / "about.json", about)
    boxes = exposed.stands_for
    numbers = [
        prod([shown.sizes[0] if shown.sizes else len(column.codes), *_leaves(column)])
        for shown, column in zip(exposed.columns, original.columns, strict=True)
    ]
    parsed = [boxes.fact(label) for label in original.vocabulary.labels]
    image = np.array([-1 if fact is None else boxes.around(fact) for fact in parsed], np.int32)
    sizes = [
        _occurring(exposed.columns[at], original.columns[at], box)
        for at, box in zip(exposed.column.tolist(), exposed.boxes, strict=True)
    ]
    recoding = ReadBoxes(
        original.vocabulary, exposed.vocabulary, image, sum(numbers), np.array(sizes, np.int64),
        np.array(numbers)[exposed.column],
    )  # fmt: skip
    counts = read_counts(file.parent, about)
    return {"kind": recoding.kind, "published": exposed, "recoding": recoding, "counts": counts}


def _with_codes(rows: FactRows, path: Path, about: Mapping[str, Any]) -> FactRows:
    """Take all codes of each label, from internal/members.json if about.json lists only some."""
    sets = about["facts"]["sets"]
    some = {
        labelled(name, label): codes
        for name, one in sets.items()
        if "others" in one
        for label, codes in one["labels"][name].items()
    }
    if not some:
        return rows
    found, _ = all_members(path, {"labels": some, "others": {"labels": list(some)}})
    columns = [
        replace(
            one, meaning=({x: tuple(found[labelled(one.name, x)]) for x in one.meaning[0]}, *one.meaning[1:])
        )
        if "others" in sets[one.name]
        else one
        for one in rows.columns
    ]
    return replace(rows, columns=tuple(columns))


def _leaves(column: SetColumn) -> list[int]:
    return [one.tree.n_leaves for one in column.attributes]


def _occurring(shown: ShownColumn, column: SetColumn, box: Fact) -> int:
    """Count the facts of a box whose dates and amounts occur in the original, as its loss counts them."""
    codes = len(shown.meaning[0].get(box[0], box[:1]))
    return codes * prod(
        int(one.tree.leaf_counts[one.tree.id(label)]) if label in one.tree else 1
        for one, label in zip(column.attributes, box[1:], strict=True)
    )
