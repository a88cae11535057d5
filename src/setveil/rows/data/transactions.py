"""Transaction data in memory."""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from setveil.base.errors import DataError, RequestError, described, require_type, shorten
from setveil.base.wording import count
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, holders, recode_rows, take_rows
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.layout import Origin
from setveil.rows.data.personal import NOTHING, Personal
from setveil.rows.data.personal_places import personal_fields
from setveil.rows.data.spelling import NONE, merged_into, normalized, respelled
from setveil.rows.data.vocabulary import Vocabulary, item_order

if TYPE_CHECKING:
    import polars as pl

log = logging.getLogger("setveil")

_PLAIN = (str, int, np.integer)  # what items are made of


@dataclass(frozen=True, eq=False)
class Transactions(Exposed):
    """Rows that are sets of items.

    Make one with `setveil.read`, `from_rows`, `from_frame` or `from_codes`; they validate once. Rows are
    counted from 0: ``data[3]`` is one of them, ``data[:100]`` the first hundred.

    Attributes
    ----------
    indptr : int64 (n_rows + 1,), read-only
        Row r holds ``items[indptr[r]:indptr[r + 1]]``.
    items : int32 (n_occurrences,), read-only
        Item ids, ascending and unique within a row. Ids follow the vocabulary's order.
    vocabulary : Vocabulary
        The labels of the ids. Made by a reader it holds the items that occur, in item order.
    origin : Origin or None
        The file they were read from, if any.
    personal : Personal
        Values of the input that belong to one person each, as hashes: a release must not contain them.

    Examples
    --------
    >>> data = Transactions.from_rows([["milk", "bread"], [], ["bread"]])
    >>> data.n_rows, data.n_items, data.n_occurrences
    (3, 2, 3)
    >>> list(data)
    [('bread', 'milk'), (), ('bread',)]
    >>> data[0], data[1:]
    (('bread', 'milk'), Transactions: 2 rows, 1 item, 1 occurrence)
    """

    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    vocabulary: Vocabulary
    origin: Origin | None = None
    personal: Personal = field(
        default=NOTHING, kw_only=True, repr=False
    )  # what of the input must not be published (see `setveil.rows.data.personal`)

    kind: ClassVar[str] = "rows"
    shows_absence: ClassVar[bool] = True
    unfindable: ClassVar[None] = None

    @classmethod
    def from_codes(cls, indptr: ArrayLike, codes: ArrayLike, labels: Sequence[str]) -> Transactions:
        """Make transactions from rows of codes into a list of labels.

        Parameters
        ----------
        indptr : int64 (n_rows + 1,)
            Row boundaries in `codes`.
        codes : int (occurrences,)
            Positions in `labels`; -1 is no item. In any order, repeats allowed.
        labels : sequence of str
            In any order. Two positions may hold the same label: they are one item.

        Examples
        --------
        >>> list(Transactions.from_codes([0, 2, 3], [1, 0, 1], ["tea", "milk"]))
        [('milk', 'tea'), ('milk',)]
        """
        codes = np.asarray(codes)
        gaps = codes.size > 0 and codes.min() < 0
        used = np.zeros(len(labels), bool)
        used[codes[codes >= 0] if gaps else codes] = True
        vocabulary = Vocabulary(item_order({label for label, u in zip(labels, used, strict=True) if u}))
        ids = vocabulary.ids
        image = np.fromiter(
            (ids[label] if u else -1 for label, u in zip(labels, used, strict=True)), np.int32, len(labels)
        )
        if gaps:  # a code of -1 reads the entry appended last
            image = np.append(image, np.int32(-1))
        return cls(*recode_rows(frozen(indptr, np.int64), frozen(codes, np.int32), image), vocabulary)

    @classmethod
    def from_rows(cls, rows: Iterable[Iterable[object]]) -> Transactions:
        """Make transactions from an iterable of rows, each an iterable of strings or integers.

        Raises
        ------
        DataError
            If a row is a text or a mapping or no collection at all, or an item is neither a non-empty string
            nor an integer.

        Examples
        --------
        >>> Transactions.from_rows([["tea", "milk"], {"tea"}, []]).row_lengths().tolist()
        [2, 1, 0]
        """
        codes: list[int] = []
        indptr = [0]
        found: dict[object, int] = {}
        labels: list[str] = []
        if isinstance(rows, str | bytes | Mapping) or not _is_iterable(rows):
            raise DataError(
                f"Found {described(rows)}, expected rows: a collection of collections of items.",
                hint='Such as [["tea", "milk"], ["tea"]]; setveil.read takes files and data frames, too.',
            )
        for number, row in enumerate(rows):
            if isinstance(row, str | bytes | Mapping) or not _is_iterable(row):
                raise DataError(
                    f"Row {number} is {described(row)}, expected a collection of items.",
                    hint="Split a text first, or wrap a single item in a list.",
                )
            for item in row:
                key = (type(item), item) if isinstance(item, _PLAIN) else None
                code = found.get(key)
                if code is None:
                    labels.append(_label(item, f"row {number}"))
                    code = found[key] = len(labels) - 1
                codes.append(code)
            indptr.append(len(codes))
        made = cls.from_codes(indptr, np.array(codes, np.int32), labels)
        fields = Personal(personal_fields(np.array(indptr), np.array(codes), labels))
        known = getattr(rows, "personal", NOTHING)  # of the rows of a table, or of a file
        return replace(made, personal=known + fields)

    @classmethod
    def from_frame(
        cls,
        frame: object,
        id_column: str | int | None = None,
        item_column: str | int | None = None,
        *,
        item_columns: str | Sequence[str | int] | None = None,
        delimiter: str | None = None,
        not_ids: str | Sequence[str] | None = None,
        normalize: str | None = None,
        rows_are_events: bool = False,
        format: str | None = None,  # noqa: A002  (the word that users know)
        yes: str | Sequence[str] | None = None,
        missing: str | Sequence[str] | Mapping[str, Any] | None = None,
        not_missing: str | Sequence[str] | None = None,
        missing_id: str | None = None,
        missing_item: str | None = None,
        fill_id: bool = False,
        skip_last: int | None = None,
    ) -> Transactions:
        """Make transactions from a data frame.

        Parameters
        ----------
        frame : object
            Any object with an Arrow stream (polars, pandas, pyarrow, DuckDB, ...), or a pandas data frame,
            series or grouped series. Either a long table (one line per id and item; lines of the same id are
            one row, in order of first appearance) or a table with a column of lists (one row each; null or an
            empty list is an empty row). The index of a pandas series holds the ids; that of a frame does
            only if `id_column` names it.
        id_column, item_column : str or int, optional
            Column names; integers where pandas has these. By default the only list column is taken, else the
            two columns of a long table are recognized by their names, else the first is the id.
        item_columns : str or sequence of str, optional
            Item columns of a wide or one-hot table, as for `setveil.read`.
        delimiter : str, optional
            Between the items of a text, where the item column or columns contain several in each.
        not_ids : str or sequence of str, optional
            Columns that look like person IDs but are not, as for `setveil.read`.
        normalize : {"codes", "text", "none"}, optional
            Make spellings one item, as for `setveil.read`.
        rows_are_events : bool
            Whether rows are events, of which a person may have several, as for `setveil.read`.
        missing, not_missing, missing_id, missing_item, fill_id, skip_last
            What means that there is no value, and rows that are no data, as for `setveil.read`.

        format : {"long", "wide", "onehot"}, optional
            How the frame is laid out, by default detected. "long" and "wide" also say that each text is one
            item, with whatever commas it contains.
        yes : str or list of str, optional
            Values of the item columns that mean that the item of the column is there, as for `setveil.read`.

        Raises
        ------
        TableError
            If texts seem to be lists of items, and nothing says what separates them.
        DataError
            If the columns cannot be determined, an id or item is missing, or items are neither strings nor
            integers.

        Examples
        --------
        >>> import polars as pl
        >>> frame = pl.DataFrame({"order": [1, 1, 2], "item": ["tea", "milk", "tea"]})
        >>> list(Transactions.from_frame(frame))
        [('milk', 'tea'), ('tea',)]
        """
        from setveil.rows.data.columns import Wanted
        from setveil.rows.data.events import unit_of
        from setveil.rows.data.frames import named_as_texts, rows_in_frame
        from setveil.rows.data.ids import require_no_ids
        from setveil.rows.data.lacking import lacking_of
        from setveil.rows.data.rows_read import (
            personal_in,
            refuse_rounded_parts,
            require_people,
            without_words,
        )
        from setveil.rows.data.skipped import lines_of

        said: dict[str, Any] = {"id_column": id_column, "item_column": item_column}
        said["item_columns"] = item_columns
        said = named_as_texts(frame, said)
        for name in (said["id_column"], said["item_column"]):
            require_type("A column must be named by a text", name, (str, type(None)))
        if format not in {None, "long", "wide", "onehot"}:
            raise RequestError(
                f"The format {shorten(format)} is not that of a data frame.", hint="Use long, wide or onehot."
            )
        lacking = lacking_of(missing, not_missing, missing_id, missing_item, fill_id=fill_id)
        wanted = Wanted(**said, delimiter=delimiter, yes=yes, lacking=lacking)
        part = rows_in_frame(frame, wanted, format, skip_last=lines_of(skip_last=skip_last).skip_last)
        part = without_words(part, "the data frame", lacking)
        for note in filter(None, part.notes):
            log.info("%s", note)
        if wanted.named:
            require_no_ids("the data frame", part.items, not_ids, by_line=part.id_column is None)
        refuse_rounded_parts("the data frame", part)
        if not rows_are_events:
            require_people("the data frame", part, wanted, not_ids)
        made = cls.from_codes(part.indptr, part.codes, part.labels)
        made = replace(made, personal=personal_in(part, not_ids))
        if rows_are_events:
            read = Origin((), part.layout, part.row, part.id_column, part.item_columns, part.ignored_columns)
            made = replace(made, origin=replace(read, unit=unit_of(part.id_column)))
        return made if normalize is None else made.with_normal_labels(normalize)

    def with_normal_labels(self, how: str) -> Transactions:
        """Write labels in one form, so that spellings of an item become one (see `setveil.read`).

        Examples
        --------
        >>> Transactions.from_rows([["E11.9"], ["e119", "I10"]]).with_normal_labels("codes").rows()
        [('E119',), ('E119', 'I10')]
        """
        labels, merged = normalized(self.vocabulary.labels, how)
        made = Transactions.from_codes(self.indptr, self.items, labels)
        origin = None if self.origin is None else replace(self.origin, merged=merged)
        personal = self.personal.respelled(self.vocabulary.labels, labels)
        return replace(made, origin=origin, personal=personal)

    def with_spellings_of(self, known: Iterable[str]) -> Self:
        """Give codes that are another spelling of a known one the name of that one (see `setveil.read`).

        Rows that were read with ``normalize="none"`` stay as they are.

        Examples
        --------
        >>> Transactions.from_rows([["E11.9"], ["e119", "I10"]]).with_spellings_of(["E11.9", "I10"]).rows()
        [('E11.9',), ('E11.9', 'I10')]
        """
        origin = self.origin
        apart = origin is not None and origin.merged is not None and origin.merged.how == NONE
        names = {} if apart else respelled(self.vocabulary.labels, known)
        if not names:
            return self
        merged = merged_into(names)
        log.info("Spellings: %s", merged.sentence())
        return replace(self.with_names(names), origin=origin and replace(origin, respelled=merged))

    def with_names(self, names: Mapping[str, str]) -> Self:
        """Give items other names; items of one name are one item.

        Examples
        --------
        >>> Transactions.from_rows([["tea", "milk"]]).with_names({"tea": "green tea"}).rows()
        [('green tea', 'milk')]
        """
        labels = [names.get(label, label) for label in self.vocabulary.labels]
        made = Transactions.from_codes(self.indptr, self.items, labels)
        return replace(self, indptr=made.indptr, items=made.items, vocabulary=made.vocabulary)

    from_polars = from_frame
    from_pandas = from_frame

    @property
    def n_rows(self) -> int:
        """Number of rows, empty ones included."""
        return self.indptr.size - 1

    @property
    def filled_rows(self) -> int:
        """Number of rows that contain an item."""
        return int(np.count_nonzero(self.row_lengths()))

    @property
    def longest(self) -> int:
        """Most items of a row."""
        return int(self.row_lengths().max(initial=0))

    @property
    def n_items(self) -> int:
        """Number of labels in the vocabulary."""
        return len(self.vocabulary)

    @property
    def n_occurrences(self) -> int:
        """Number of (row, item) pairs."""
        return self.items.size

    @property
    def column_names(self) -> tuple[str, ...] | None:
        """Names of the columns that someone may know in addition to the items; None for rows of items."""
        return None

    @property
    def dropped(self) -> tuple[str, ...]:
        """Columns that are not published; rows that have only items name none."""
        return ()

    @property
    def value_columns(self) -> tuple[Any, ...]:
        """Columns with a value for each row; rows that have only items have none."""
        return ()

    def drawn(self, rows: NDArray[np.int64]) -> Transactions:
        """Return some of the rows, with the items that occur in them.

        Parameters
        ----------
        rows : int64 (rows,)
            Their places, from 0.

        Examples
        --------
        >>> data = Transactions.from_rows([["tea", "milk"], ["tea"]])
        >>> list(data.drawn(np.array([1, 1])))
        [('tea',), ('tea',)]
        """
        lengths = self.row_lengths()[rows]
        indptr = np.concatenate([[0], np.cumsum(lengths)])
        codes = self.items[np.repeat(self.indptr[rows] - indptr[:-1], lengths) + np.arange(indptr[-1])]
        found = Transactions.from_codes(indptr, codes, self.vocabulary.labels)
        return replace(found, origin=self.origin, personal=self.personal)

    def became(self, place: int) -> dict[str, Any]:
        """Return the items of a row.

        Parameters
        ----------
        place : int
            The row, from 0.

        Examples
        --------
        >>> Transactions.from_rows([["tea", "milk"], ["tea"]]).became(1)
        {'items': ['tea']}
        """
        return {"items": list(self[place])}

    def supports(self) -> NDArray[np.int64]:
        """Count, for each item, the rows that contain it: int64 (n_items,).

        Examples
        --------
        >>> data = Transactions.from_rows([["tea", "milk"], ["tea"]])
        >>> dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
        {'milk': 1, 'tea': 2}
        """
        return self._supports.copy()

    @cached_property
    def _supports(self) -> NDArray[np.int64]:
        return np.bincount(self.items, minlength=self.n_items).astype(np.int64)

    def row_lengths(self) -> NDArray[np.int64]:
        """Count the items of each row: int64 (n_rows,).

        Examples
        --------
        >>> Transactions.from_rows([["tea", "milk"], []]).row_lengths().tolist()
        [2, 0]
        """
        return np.diff(self.indptr)

    @cached_property
    def distinct(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The distinct rows, sorted by their items: `indptr`, `items`, and how many rows each represents.

        Many measures ask for them, and finding them takes longer than most of what is done with them.

        Examples
        --------
        >>> data = Transactions.from_rows([["tea", "milk"], ["tea"], ["milk", "tea"]])
        >>> [part.tolist() for part in data.distinct]
        [[0, 2, 3], [0, 1, 1], [2, 1]]
        """
        _, indptr, items, weights = self.merged
        return indptr, items, weights

    @cached_property
    def merged(self) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
        """The number of each row among the `distinct` ones, int32 (n_rows,), and these in three parts."""
        group, first, weights = merge_rows_by_content(self.indptr, self.items)
        rows = take_rows(self.indptr, self.items, first)
        return frozen(group, np.int32), *rows, frozen(weights, np.int64)

    @cached_property
    def holders(self) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """The `distinct` rows that contain each item: the bounds of each item, and ascending row numbers."""
        return holders(*self.distinct[:2], self.n_items)

    def rows(self) -> list[tuple[str, ...]]:
        """List all rows, each as the tuple of its labels in item order.

        Examples
        --------
        >>> Transactions.from_rows([["tea", "milk"], []]).rows()
        [('milk', 'tea'), ()]
        """
        return list(self)

    def shows(self, other: Self) -> bool:
        """Return whether other rows contain the same items, in the same order.

        Examples
        --------
        >>> rows = Transactions.from_rows([["tea", "milk"], ["tea"]])
        >>> rows.shows(Transactions.from_rows([["milk", "tea"], ["tea"]]))
        True
        """
        indptr, items = self.indptr, self.items
        if self.vocabulary != other.vocabulary:
            ids = other.vocabulary.ids
            image = np.array([ids.get(label, -1) for label in self.vocabulary.labels], np.int32)
            indptr, items = recode_rows(indptr, items, image)
        return np.array_equal(indptr, other.indptr) and np.array_equal(items, other.items)

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame.

        Parameters
        ----------
        long : bool
            Instead of one line per row, with its items as a list in the column ``items``: one line per row
            and item, in the columns ``row`` (counted from 0) and ``item``. Empty rows do not show there.

        Examples
        --------
        >>> data = Transactions.from_rows([["tea", "milk"], [], ["tea"]])
        >>> data.to_polars()["items"].to_list()
        [['milk', 'tea'], [], ['tea']]
        >>> data.to_polars(long=True).rows()
        [(0, 'milk'), (0, 'tea'), (2, 'tea')]
        """
        import polars as pl

        items = pl.Series(self.vocabulary.labels, dtype=pl.String).gather(pl.Series(self.items))
        lengths = self.row_lengths()
        rows = pl.Series(np.repeat(np.arange(self.n_rows, dtype=np.int64), lengths)).set_sorted()
        table = pl.DataFrame({"row": rows, "item": items})
        if long:
            return table
        # Of sorted rows the groups are slices, which cost next to nothing.
        lists = table.group_by("row", maintain_order=True).agg("item")["item"].rename("items")
        if lists.len() < self.n_rows:
            filled = lengths > 0
            at = pl.select(pl.when(pl.Series(filled)).then(pl.Series(np.cumsum(filled) - 1))).to_series()
            lists = lists.gather(at).fill_null(pl.lit([], dtype=pl.List(pl.String)))
        return lists.to_frame()

    def __len__(self) -> int:
        return self.n_rows

    @overload
    def __getitem__(self, row: int) -> tuple[str, ...]: ...

    @overload
    def __getitem__(self, row: slice) -> Transactions: ...

    def __getitem__(self, row: int | slice) -> tuple[str, ...] | Transactions:
        labels = self.vocabulary.labels
        try:
            if isinstance(row, slice):
                wanted = np.arange(self.n_rows)[row]
                taken = Transactions.from_codes(*take_rows(self.indptr, self.items, wanted), labels)
                return replace(taken, personal=self.personal)
            number = operator.index(row)
        except TypeError:
            raise RequestError(
                f"A row is named by its number or a slice of numbers, got {described(row)}.",
                hint="data[0] is the first row, data[:100] are the first hundred.",
            ) from None
        if not -self.n_rows <= number < self.n_rows:
            raise IndexError(f"There is no row {number}: there are {self.n_rows:,}, counted from 0.")
        start, end = self.indptr[number % self.n_rows], self.indptr[number % self.n_rows + 1]
        return tuple(labels[item] for item in self.items[start:end].tolist())

    def __iter__(self) -> Iterator[tuple[str, ...]]:
        labels = self.vocabulary.labels
        bounds = self.indptr.tolist()
        items = self.items.tolist()
        for start, end in pairwise(bounds):
            yield tuple(labels[i] for i in items[start:end])

    def __repr__(self) -> str:
        counted = count(self.n_rows, "row"), count(self.n_items, "item")
        return f"Transactions: {', '.join(counted)}, {count(self.n_occurrences, 'occurrence')}"

    def _repr_html_(self) -> str:
        from setveil.base.notebook import ROWS, card, some

        first = [(number, some(self[number])) for number in range(min(ROWS, self.n_rows))]
        more = self.n_rows - len(first)
        return card(repr(self), first, f"and {count(more, 'more row')}" if more else "")


def _is_iterable(value: object) -> bool:
    return hasattr(value, "__iter__") and not isinstance(value, type)


def lines_of(data: Transactions) -> tuple[NDArray[np.int64], pl.Series]:
    """List row and item of all occurrences; a row without items has one line, in which the item is null."""
    import polars as pl

    lengths = data.row_lengths()
    rows = np.repeat(np.arange(data.n_rows, dtype=np.int64), np.maximum(lengths, 1))
    filled = pl.Series(lengths[rows] > 0)
    items = pl.Series(data.vocabulary.labels, dtype=pl.String)
    places = np.zeros(rows.size, np.int64)
    places[lengths[rows] > 0] = data.items
    return rows, items.gather(pl.select(pl.when(filled).then(pl.Series(places))).to_series())


def _label(item: object, where: str) -> str:
    if isinstance(item, str) and item:
        return item
    if isinstance(item, int | np.integer) and not isinstance(item, bool):
        return str(int(item))
    raise DataError(
        f"Found {shorten(repr(item))[1:-1]} ({type(item).__name__}) as an item in {where}, "
        "expected a non-empty string or an integer.",
        hint="Leave missing values out of the row; turn other codes into strings yourself.",
    )
