"""Read and write rows published in groups: data.csv and groups.csv."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, OutputError, listed, shorten
from setveil.base.staging import staged_file
from setveil.base.wording import count
from setveil.kernels.rows import frozen
from setveil.kernels.tokens import Tokens, tokenize
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.text import refuse_open_quote, unquoted
from setveil.rows.data.transactions import Transactions, lines_of
from setveil.rows.data.vocabulary import Vocabulary, item_order

if TYPE_CHECKING:
    import polars as pl

DATA_FILE, GROUPS_FILE = "data.csv", "groups.csv"
_DATA_HEADER, _GROUPS_HEADER = ("group", "row", "item"), ("group", "item", "count")
_BLOCK = 1 << 18
MOST_ROWS = 1 << 40  # of a release; numbers beyond are no numbers of rows
_NUMBER = re.compile(r"[0-9]{1,18}", re.ASCII)  # fits into int64
_SPECIAL = re.compile('[,"\r\n]|^[ \t\ufeff]|[ \t]$')


@dataclass(frozen=True, eq=False)
class PublishedGroups(Exposed):
    """Rows published in groups: each row's quasi-identifiers, and each group's counts of sensitive items."""

    qid: Transactions  # the quasi-identifiers of each row, by group; rows without any are rows, too
    # int64 (n_rows,), read-only: group of each row: ascending, from 0, no number left out
    group: NDArray[np.int64]
    sensitive: Vocabulary  # the sensitive items, in item order
    # int64 (groups + 1,), read-only: group g holds the sensitive items ``item[indptr[g]:indptr[g + 1]]``
    indptr: NDArray[np.int64]
    item: NDArray[np.int32]  # int32, read-only: positions in `sensitive`, ascending within a group
    count: NDArray[np.int64]  # int64, read-only: how many rows of the group contain that item, at least 1

    kind: ClassVar[str] = "groups"
    unfindable: ClassVar[None] = None

    @property
    def named_rows(self) -> Transactions:
        """The rows whose items a guarantee can name."""
        return self.qid

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.qid.n_rows

    def became(self, place: int) -> dict[str, Any]:
        """Return the items of a row, and of its group the size and the rows of sensitive items."""
        group = int(self.group[place])
        at = slice(int(self.indptr[group]), int(self.indptr[group + 1]))
        names = self.sensitive.labels
        counted = zip(self.item[at].tolist(), self.count[at].tolist(), strict=True)
        size = int(np.count_nonzero(self.group == group))
        shared = [[names[item], number] for item, number in counted]
        return {**self.qid.became(place), "group": group, "size": size, "shared": shared}

    @property
    def n_groups(self) -> int:
        """Number of groups."""
        return self.indptr.size - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of rows of each group: int64 (groups,)."""
        return np.bincount(self.group, minlength=self.n_groups).astype(np.int64)

    def __repr__(self) -> str:
        return (
            f"PublishedGroups: {count(self.qid.n_rows, 'row')} in {count(self.n_groups, 'group')}, "
            f"{count(len(self.sensitive), 'sensitive item')}"
        )

    def shows(self, other: PublishedGroups) -> bool:
        """Return whether other groups have the same rows and counts, in the same order."""
        arrays = ("group", "indptr", "item", "count")
        return (
            self.qid.shows(other.qid)
            and self.sensitive.labels == other.sensitive.labels
            and all(np.array_equal(getattr(self, name), getattr(other, name)) for name in arrays)
        )

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame: of each row its group, its items, and the counts of its group.

        `long`: one line per row and item, in the columns ``group``, ``row`` (counted from 0) and ``item``,
        which is null for a row without items; counts are omitted.

        >>> import setveil as sv
        >>> rows = [["tea", "rum"], ["tea"], ["milk"], ["milk"]]
        >>> frame = sv.anonymize(rows, sv.PrivacyDegree(p=2, sensitive=["rum"])).to_polars()
        >>> frame.columns, frame["sensitive"].to_list()[0]
        (['group', 'items', 'sensitive'], [{'item': 'rum', 'rows': 1}])
        """
        import polars as pl

        frame = self.qid.to_polars().select(pl.Series("group", self.group), "items")
        if long:
            at, items = lines_of(self.qid)
            return pl.DataFrame({"group": self.group[at], "row": at, "item": items})
        counted = [
            [
                {"item": self.sensitive.labels[item], "rows": rows}
                for item, rows in zip(self.item[at].tolist(), self.count[at].tolist(), strict=True)
            ]
            for at in (slice(*ends) for ends in pairwise(self.indptr.tolist()))
        ]
        kind = pl.List(pl.Struct({"item": pl.String, "rows": pl.Int64}))
        of_group = pl.Series("sensitive", counted, dtype=kind)
        return frame.with_columns(of_group.gather(pl.Series(self.group)).alias("sensitive"))


def as_groups(rows: Transactions | PublishedGroups) -> PublishedGroups:
    """Take rows as groups: single rows are one group without counts."""
    if isinstance(rows, PublishedGroups):
        return rows
    nothing = frozen(np.zeros(0), np.int64)
    return PublishedGroups(
        rows,
        frozen(np.zeros(rows.n_rows), np.int64),
        Vocabulary(()),
        frozen(np.zeros(2), np.int64),
        frozen(nothing, np.int32),
        nothing,
    )


def require_in_groups(
    labels: Iterable[str], text: str, groups: PublishedGroups, original: Transactions | None = None
) -> None:
    """Refuse items that neither rows in groups nor the original know; `text` is where they were named."""
    known = {*groups.sensitive.labels, *groups.qid.vocabulary.labels}
    if original is not None:
        known |= set(original.vocabulary.labels)
    unknown = [label for label in labels if label not in known]
    if unknown:
        some = "1 item is" if len(unknown) == 1 else f"{len(unknown):,} items are"
        raise DataError(
            f"In {shorten(text)}, {some} neither counted for a group nor in its rows: {listed(unknown)}.",
            hint="Without the option, the items that the groups count are looked at.",
        )


def write_grouped(folder: str | Path, groups: PublishedGroups) -> None:
    """Write data.csv (a line per row and quasi-identifier) and groups.csv (sizes and counts)."""
    for name, blocks in ((DATA_FILE, _data_lines(groups)), (GROUPS_FILE, _group_lines(groups))):
        path = Path(folder, name)
        try:
            with staged_file(path) as beside, beside.open("wb") as file:
                for block in blocks:
                    file.write(block)
        except OSError as error:
            raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _data_lines(groups: PublishedGroups) -> Iterator[bytes]:
    qid = groups.qid
    fields = _objects(field + b"\n" for field in encoded(qid.vocabulary))
    yield b"group,row,item\n"
    for first in range(0, qid.n_rows, _BLOCK):
        last = min(first + _BLOCK, qid.n_rows)
        numbers = zip(groups.group[first:last].tolist(), range(first, last), strict=True)
        rows = _objects(map(b"%d,%d,".__mod__, numbers))
        items = qid.items[qid.indptr[first] : qid.indptr[last]]
        lines = np.empty(2 * items.size, object)
        lines[::2] = np.repeat(rows, np.diff(qid.indptr[first : last + 1]))
        lines[1::2] = fields[items]
        yield b"".join(lines.tolist())


def _group_lines(groups: PublishedGroups) -> Iterator[bytes]:
    fields = encoded(groups.sensitive)
    counts = zip(groups.item.tolist(), groups.count.tolist(), strict=True)
    lines = [b"group,item,count\n"]
    for g, (size, kinds) in enumerate(
        zip(groups.sizes.tolist(), np.diff(groups.indptr).tolist(), strict=True)
    ):
        lines.append(b"%d,,%d\n" % (g, size))
        for _ in range(kinds):
            item, count = next(counts)
            lines.append(b"%d,%s,%d\n" % (g, fields[item], count))
    yield b"".join(lines)


def encoded(vocabulary: Vocabulary) -> list[bytes]:
    """Write labels as fields of a csv file."""
    out = []
    for label in vocabulary.labels:
        field = '"' + label.replace('"', '""') + '"' if _SPECIAL.search(label) else label
        try:
            out.append(field.encode())
        except UnicodeEncodeError:
            raise DataError(
                f"The label {shorten(label)} cannot be written: it contains half of a surrogate pair."
            ) from None
        if "\0" in label:
            raise DataError(f"A csv file cannot contain the label {shorten(label)}, which has a zero byte.")
    return out


def _objects(values: Iterable[bytes]) -> NDArray[np.object_]:
    listed = list(values)
    out = np.empty(len(listed), object)
    out[:] = listed
    return out


def read_grouped(folder: str | Path) -> PublishedGroups:
    """Read data.csv and groups.csv in the order of numbers; rows without quasi-identifiers come last."""
    data, groups = (_Table(Path(folder, name), header) for name, header in
                    ((DATA_FILE, _DATA_HEADER), (GROUPS_FILE, _GROUPS_HEADER)))  # fmt: skip
    numbers, sizes, sensitive, indptr, item, count = _read_counts(groups)

    group_of_line, row_of_line = data.numbers(0), data.numbers(1)
    group = np.searchsorted(numbers, group_of_line)
    unknown = np.append(numbers, -1)[group] != group_of_line
    if unknown.any():
        line = int(np.argmax(unknown))
        raise DataError(
            f"{data.where(line)}: found group {group_of_line[line]}, expected one that {groups.name} lists.",
            hint="The two files must come from the same release.",
        )
    row_numbers, row = np.unique(row_of_line, return_inverse=True)
    group_of_row = np.zeros(row_numbers.size, np.int64)
    group_of_row[row[::-1]] = group[::-1]  # as its first line has it
    elsewhere = group != group_of_row[row]
    if elsewhere.any():
        line = int(np.argmax(elsewhere))
        raise DataError(
            f"{data.where(line)}: row {row_of_line[line]} is in group {group_of_line[line]}, but an earlier "
            f"line has it in group {numbers[group_of_row[row[line]]]}; expected one group for each row."
        )
    listed = np.bincount(group_of_row, minlength=numbers.size)
    if (listed > sizes).any():
        g = int(np.argmax(listed > sizes))
        raise DataError(
            f"{data.name}: found {listed[g]:,} rows of group {numbers[g]}, but {groups.name} gives it "
            f"{sizes[g]:,}."
        )

    if (most := sum(sizes.tolist())) > MOST_ROWS:
        raise DataError(f"{groups.name}: found {most:,} rows in all groups, expected at most {MOST_ROWS:,}.")

    # Rows by group, those that are listed by their numbers, then those without items.
    all_groups = np.concatenate([group_of_row, np.repeat(np.arange(numbers.size), sizes - listed)])
    order = np.argsort(all_groups, kind="stable")
    place = np.empty(order.size, np.int64)
    place[order] = np.arange(order.size)
    position = place[row]
    by_row = np.argsort(position, kind="stable")
    lengths = np.bincount(position, minlength=order.size)
    labels, codes = data.labels(2)
    qid = Transactions.from_codes(np.concatenate(([0], np.cumsum(lengths))), codes[by_row], labels)
    return PublishedGroups(qid, frozen(all_groups[order], np.int64), sensitive, indptr, item, count)


def _read_counts(
    table: _Table,
) -> tuple[
    NDArray[np.int64],
    NDArray[np.int64],
    Vocabulary,
    NDArray[np.int64],
    NDArray[np.int32],
    NDArray[np.int64],
]:
    """Read groups.csv: numbers and sizes of the groups, ascending; sensitive items; their counts as CSR."""
    group_of_line, count_of_line = table.numbers(0), table.numbers(2)
    if (count_of_line == 0).any():
        line = int(np.argmax(count_of_line == 0))
        raise DataError(f"{table.where(line)}: found the count 0, expected a positive integer.")
    labels, codes = table.labels(1, empty=True)
    numbers, group = np.unique(group_of_line, return_inverse=True)
    sensitive = Vocabulary(item_order(set(labels) - {""}))
    ids: dict[str, int] = {**sensitive.ids, "": -1}
    item = np.array([ids[label] for label in labels], np.int64)[codes]

    order = np.lexsort((item, group))  # the size of each group first
    twice = np.flatnonzero((np.diff(group[order]) == 0) & (np.diff(item[order]) == 0))
    if twice.size:
        line = int(order[twice + 1].min())
        what = shorten(sensitive.labels[item[line]]) if item[line] >= 0 else "the number of rows"
        raise DataError(
            f"{table.where(line)}: group {group_of_line[line]} has {what} a second time, expected it once."
        )
    is_size = item[order] < 0
    sized = np.bincount(group[item < 0], minlength=numbers.size)
    if (sized == 0).any():
        g = int(np.argmax(sized == 0))
        line = int(np.argmax(group == g))
        raise DataError(
            f"{table.where(line)}: group {numbers[g]} has no line with an empty item, expected one with its "
            "number of rows."
        )
    kinds = np.bincount(group[item >= 0], minlength=numbers.size)
    counts = order[~is_size]
    return (
        numbers,
        count_of_line[order[is_size]],
        sensitive,
        frozen(np.concatenate(([0], np.cumsum(kinds))), np.int64),
        frozen(item[counts], np.int32),
        frozen(count_of_line[counts], np.int64),
    )


class _Table:
    """A csv file of three columns: `codes` (lines, 3) into the distinct fields."""

    def __init__(self, path: Path, header: tuple[str, ...]) -> None:
        self.name = str(path)
        self.text = text = as_text(read_bytes(path), self.name)
        self.tokens: Tokens = tokenize(text.content, separator=",", quotes=True, keep=np.ones(3, np.bool_))
        self.header = header
        refuse_open_quote(text, self.tokens)
        if self.tokens.fault >= 0:
            raise DataError(
                f"{text.where(self.tokens.fault)}: the number of fields is {self.tokens.width}, expected 3: "
                f"{', '.join(header)}."
            )
        spans = zip(self.tokens.starts.tolist(), self.tokens.ends.tolist(), strict=True)
        self.fields = [unquoted(text, text.content[start:end], start) for start, end in spans]
        cells = self.tokens.codes.reshape(-1, 3)
        found = tuple(self.fields[code] for code in cells[0]) if cells.size else ()
        if found != header:
            raise DataError(
                f"{self.name}, line 1: found {shorten(','.join(found)) if found else 'nothing'}, "
                f"expected the header {','.join(header)}.",
                hint="This is the layout of rows published in groups; other files are read as transactions.",
            )
        self.codes = cells[1:]

    def where(self, line: int) -> str:
        """Name the file and the line of an entry; entries are numbered from 0, the header omitted."""
        reader = csv.reader(io.StringIO(self.text.content.decode(), newline=""), skipinitialspace=True)
        filled, begin = -1, 1
        for fields in reader:
            filled += bool(fields) and fields != [""] and (len(fields) > 1 or not fields[0].isspace())
            if filled == line + 1:
                break
            begin = reader.line_num + 1
        return f"{self.name}, line {begin}"

    def numbers(self, column: int) -> NDArray[np.int64]:
        """Read a column of non-negative integers."""
        used, codes = np.unique(self.codes[:, column], return_inverse=True)
        values = np.empty(used.size, np.int64)
        for i, code in enumerate(used.tolist()):
            field = self.fields[code]
            if not _NUMBER.fullmatch(field):
                line = int(np.argmax(self.codes[:, column] == code))
                kind = "positive" if self.header[column] == "count" else "non-negative"
                raise DataError(
                    f"{self.where(line)}: found {shorten(field)} as {self.header[column]}, expected a {kind} "
                    "integer."
                )
            values[i] = int(field)
        return values[codes]

    def labels(self, column: int, *, empty: bool = False) -> tuple[list[str], NDArray[np.int64]]:
        """Read a column of labels: the distinct ones, and which of them each line has."""
        used, codes = np.unique(self.codes[:, column], return_inverse=True)
        labels = [self.fields[code] for code in used.tolist()]
        if "" in labels and not empty:
            line = int(np.argmax(codes == labels.index("")))
            raise DataError(f"{self.where(line)}: the item is empty, expected one on every line.")
        return labels, codes.astype(np.int64)
