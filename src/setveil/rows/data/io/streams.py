"""Files that are read a piece at a time, for data that need not fit in memory: Parquet, text."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import BinaryIO, ClassVar, TypeVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, TableError, listed, shorten
from setveil.base.wording import count
from setveil.rows.data import evidence, known_words
from setveil.rows.data.columns import Wanted
from setveil.rows.data.events import PERSON, of, require_lines_of_people
from setveil.rows.data.frames import list_column
from setveil.rows.data.io.decoded import HEAD, as_text, marked_encoding
from setveil.rows.data.io.dumps import is_dump
from setveil.rows.data.io.one_file import read_beginning
from setveil.rows.data.io.source import Source
from setveil.rows.data.io.text import OpenQuoteError, read_basket, read_fimi
from setveil.rows.data.io.written import is_plain
from setveil.rows.data.lacking import PLAIN
from setveil.rows.data.layout import InputFile, Layout, Origin
from setveil.rows.data.names import person_noun, tells_person
from setveil.rows.data.personal import Personal, forms, ids_of_columns, merged, other_columns
from setveil.rows.data.personal_places import personal_fields, places_of_ids
from setveil.rows.data.readings import refuse_ids_in_lists
from setveil.rows.data.rows_read import RowsRead
from setveil.rows.data.vocabulary import Vocabulary, item_order

AT_ONCE = 1 << 18  # rows of a piece
_BYTES = 1 << 24  # of a file that are hashed at a time

_BEGINNING = 1 << 25  # bytes of text that settle how it is read
_BLOCK = 1 << 25  # of it that are read at a time
_NO_WORDS = frozenset[str]()
_ROWS = "fimi", "basket"  # formats of text of which each line is a row, whatever the others hold

T = TypeVar("T")
Piece = tuple[NDArray[np.int64], NDArray[np.int32]]


def open_streams(
    paths: Sequence[str],
    item_column: str | None = None,
    format: str | None = None,  # noqa: A002  (the word that users know)
    separator: str | None = None,
    encoding: str | None = None,
    rows_are_events: bool = False,
    not_ids: str | None = None,
    *,
    published: bool = False,
) -> ListFiles | TextFiles:
    """Open files that are read a piece at a time; the options are those of `setveil.read`."""
    if format == "parquet" or (format is None and all(path.endswith(".parquet") for path in paths)):
        if separator is not None or encoding is not None:
            raise RequestError("A Parquet file has no separator and no encoding.", hint="Omit them.")
        lists = ListFiles(paths, item_column, not_ids)
        if item_column is None:
            lists.refuse_ids()
        files: ListFiles | TextFiles = lists
    elif item_column is None and format in {None, *_ROWS}:
        files = TextFiles(paths, format, separator, encoding, not_ids)
    else:
        raise RequestError(
            "Parts are read from Parquet files with a column of lists, named by --item-column, and "
            f"from text with one row a line: {', '.join(_ROWS)}.",
            hint="`setveil convert` makes such a file from others; each must fit in memory by itself.",
        )
    files.unit = "row" if rows_are_events else PERSON
    if not (rows_are_events or published):
        files.require_people()
    return files


class ListFiles:
    """Parquet files with a column of lists, in order; `published`: words such as ``NA`` are items."""

    layout: ClassVar[None] = None  # they are no text

    def __init__(
        self,
        paths: Sequence[str],
        item_column: str | None = None,
        not_ids: str | None = None,
        *,
        published: bool = False,
    ) -> None:
        self.paths = [str(path) for path in paths]
        if not self.paths:
            raise RequestError("No file is named, expected at least one.")
        self.column = item_column or ""
        self.unit = PERSON  # what a row is
        self.not_ids = not_ids
        self.ignored_columns: list[str] = []  # those that are not read, of all files
        first: pl.DataType | None = None
        for path in self.paths:
            try:
                schema = pl.scan_parquet(path, glob=False).collect_schema()
            except (OSError, pl.exceptions.PolarsError) as error:
                raise DataError(f"{path} cannot be read as Parquet: {shorten(str(error), 200)}.") from None
            found = list_column(schema, Wanted(None, item_column, None), path)
            if found is None:
                raise DataError(
                    f"{path} has no column of lists, which is read in parts.",
                    hint="`setveil convert` makes lists of a long table that fits in memory.",
                )
            self.column = self.column or found
            others = (name for name in schema.names() if name not in (found, *self.ignored_columns))
            self.ignored_columns += others
            dtype = schema[found]
            inner = dtype.inner if isinstance(dtype, pl.List) else None
            text = inner == pl.String or isinstance(inner, pl.Categorical | pl.Enum)
            if found != self.column or inner is None or not (text or inner.is_integer()):
                raise DataError(
                    f"{path}: column {shorten(found)} has type {dtype}, expected a column "
                    f"{shorten(self.column)} of lists of strings or integers."
                )
            first = first or dtype
            if dtype != first:
                raise DataError(
                    f"{path} is not laid out like {self.paths[0]}: column {shorten(found)} has type {dtype}, "
                    f"and not {first}.",
                    hint="Convert the files to one type of items first.",
                )
        self._words = frozenset[str]() if published else PLAIN.words(self.column) - {""}

    def refuse_ids(self) -> None:
        """Raise if the first lists hold what looks like ids."""
        try:
            lists = self._scan().head(evidence.LINES).collect().to_series().to_list()
        except pl.exceptions.PolarsError:
            return  # says so where all are read
        rows = [[str(item) for item in row or () if item is not None] for row in lists]
        refuse_ids_in_lists(rows, self.paths[0], self.column)

    def require_people(self) -> None:
        """Stop if a column that is named like people, or a position of the lists, has IDs of several rows."""
        if self._places:
            first, labels = next(self.pieces()), self.vocabulary.labels
            require_lines_of_people(self.paths[0], *first, labels, self._places, self.not_ids, named=False)
        for name in filter(tells_person, self.ignored_columns):
            lines = pl.scan_parquet(self.paths, glob=False, missing_columns="insert").select(name)
            ids = lines.collect(engine="streaming").to_series().drop_nulls()
            if ids.n_unique() < ids.len():
                noun = person_noun(name)
                raise TableError(
                    f"{self.paths[0]}: {of(ids.n_unique(), noun)} have {count(ids.len(), 'row')}: rows would "
                    f"not be people. Column {shorten(name)}, which is not used, says whose they are",
                    (),
                    [({"rows_are_events": True}, "the guarantee is about rows, and not about people")],
                    "make one list for each person first",
                )

    @property
    def n_rows(self) -> int:
        """Number of rows, as the files say."""
        return int(self._scan().select(pl.len()).collect().item())

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The items that occur, in item order."""
        labels: set[str] = set()
        missing = 0
        for rows in self._cells(pl.Categorical()):
            items = rows.filter(rows.list.len() > 0).explode()
            missing += items.null_count()
            labels.update(items.unique().drop_nulls().cast(pl.String))
        for number, what in ((missing, "missing"), (int("" in labels), "empty")):
            if number:
                raise DataError(
                    f"{self.paths[0]}: column {shorten(self.column)} has {what} values, expected none.",
                    hint="Remove them first; a row without items is an empty list.",
                )
        return Vocabulary(item_order(self._without_words(labels)))

    def _without_words(self, labels: set[str]) -> set[str]:
        """Omit words that mean that there is no item, of labels and from now on of cells."""
        self._words &= labels
        return labels - self._words

    def pieces(self) -> Iterator[Piece]:
        """Read all rows in order, some at a time: where they begin, and the ids of items as in the file."""
        _ = self.vocabulary  # settles which words are in no row
        for rows in self._cells(pl.Enum(self.vocabulary.labels), self._words):
            lengths = rows.list.len().fill_null(0)
            indptr = np.zeros(rows.len() + 1, np.int64)
            np.cumsum(lengths.to_numpy(), out=indptr[1:])
            items = rows.filter(lengths > 0).explode().to_physical()
            yield indptr, items.cast(pl.Int32).to_numpy()

    @cached_property
    def _places(self) -> list[int]:
        """The positions of IDs, by the first rows."""
        first = next(self.pieces(), None)
        return [] if first is None else places_of_ids(*first, self.vocabulary.labels)

    @cached_property
    def personal(self) -> Personal:
        """Return values of the files that must not be published; IDs are found by the first lines."""
        labels = self.vocabulary.labels
        found = []
        if self._places or forms(labels):
            found = [personal_fields(*piece, labels, self._places) for piece in self.pieces()]
        others = pl.scan_parquet(self.paths, glob=False)
        names = [
            name
            for name, dtype in others.collect_schema().items()
            if name != self.column and (dtype == pl.String or dtype.is_integer())
        ]
        head = others.select(pl.col(names).cast(pl.String)).head(evidence.LINES).collect().rows()
        cells = [[cell or "" for cell in row] for row in head]
        beside = other_columns(names, cells, (), lambda at: self._distinct(names[at]))
        return Personal((*merged(found), *ids_of_columns((), beside, ()))).without(
            self.not_ids, self.ignored_columns
        )

    def _distinct(self, name: str) -> pl.Series:
        values = pl.scan_parquet(self.paths, glob=False).select(pl.col(name).cast(pl.String).unique())
        return values.collect(engine="streaming").to_series().drop_nulls()

    def _cells(self, dtype: pl.DataType, words: frozenset[str] = _NO_WORDS) -> Iterator[pl.Series]:
        texts = pl.col(self.column).cast(pl.List(pl.String))
        if words:
            texts = texts.list.set_difference(pl.lit(sorted(words), dtype=pl.List(pl.String)))
        cells = texts.cast(pl.List(dtype))
        try:
            for batch in (
                self._scan()
                .select(cells)
                .collect_batches(chunk_size=AT_ONCE, maintain_order=True, engine="streaming")
            ):
                yield batch.to_series()
        except pl.exceptions.PolarsError as error:
            raise DataError(
                f"{self.paths[0]} cannot be read as Parquet: {shorten(str(error), 200)}."
            ) from None

    def origin(self) -> Origin:
        """Say where the rows come from; the files are hashed for it."""
        return Origin(
            tuple(InputFile(path, _sha256(path)) for path in self.paths),
            Layout("parquet", item_column=self.column),
            item_columns=(self.column,),
            unit=self.unit,
        )

    def _scan(self) -> pl.LazyFrame:
        return pl.scan_parquet(self.paths, glob=False).select(self.column)


class TextFiles:
    """Text files with one row a line, one after the other, read as the beginning of the first one settles."""

    def __init__(
        self,
        paths: Sequence[str],
        format: str | None = None,  # noqa: A002
        separator: str | None = None,
        encoding: str | None = None,
        not_ids: str | None = None,
    ) -> None:
        self.paths = [str(path) for path in paths]
        if not self.paths:
            raise RequestError("No file is named, expected at least one.")
        self.column = "item"  # of what is published
        self.ignored_columns: list[str] = []  # there are none: a line is a row
        first = self.paths[0]
        name = Path(first).name
        with _opened(first) as file:
            wide = encoding or marked_encoding(file.read(4)) or ""
            if wide.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
                raise self._refused(wide)
            file.seek(0)
            self._refuse_rewritten(separator)
            file.seek(0)
            part = _whole(
                file,
                _BEGINNING,
                lambda lines: read_beginning(
                    Source(first, first, lines, "", "", name), format, encoding, separator
                ),
            )
        if part is None:
            raise DataError(f"{first} is an empty file, expected rows of items.")
        if part.layout.format not in _ROWS or part.written:
            raise self._refused(
                "text with several signs between fields" if part.written else part.layout.format
            )
        self.layout, self.encoding, self.n_rows = part.layout, encoding, 0
        self.not_ids = not_ids
        self._places = places_of_ids(part.indptr, part.codes, part.labels)
        self._beginning = part.indptr, part.codes, part.labels
        self._named = format is not None
        self.unit = PERSON  # what a row is

    def require_people(self) -> None:
        """Stop if a position of the first rows has IDs that come again."""
        where, beginning = self.paths[0], self._beginning
        require_lines_of_people(where, *beginning, self._places, self.not_ids, named=self._named)

    def _refuse_rewritten(self, separator: str | None) -> None:
        """Refuse text that becomes csv only when it is read as a whole."""
        for path in self.paths:
            with _opened(path) as file:
                head = file.read(HEAD)
            if is_dump(head):
                raise self._refused("a dump in SQL", path)
            if not is_plain(head, separator):
                raise self._refused("text with several signs between fields, or sep= above them", path)

    def _refused(self, what: str, path: str = "") -> RequestError:
        return RequestError(
            f"{path or self.paths[0]} is read as {what}, which is not read in parts: expected one row a line "
            f"({', '.join(_ROWS)}), in UTF-8 or an encoding of single bytes, not compressed.",
            hint="`setveil convert` makes a Parquet file of it, if it fits in memory by itself.",
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The items that occur, in item order; the rows are counted, too."""
        labels: set[str] = set()
        n_rows = 0
        found = []
        for part in self._parts():
            labels.update(part.labels)
            found.append(personal_fields(part.indptr, part.codes, part.labels, self._places))
            n_rows += part.indptr.size - 1
        self.n_rows = n_rows
        self._found = merged(found)
        labels -= known_words.MISSING
        if not labels:
            raise DataError(f"{self.paths[0]} contains no item, expected rows of items.")
        return Vocabulary(item_order(labels))

    @property
    def personal(self) -> Personal:
        """Return values of rows that must not be published; positions of IDs are found by the first lines."""
        _ = self.vocabulary  # finds it
        return Personal(self._found).without(self.not_ids, ())

    def pieces(self) -> Iterator[Piece]:
        """Read all rows, in their order, some at a time: where they begin, and the ids of their items."""
        ids = self.vocabulary.ids
        for part in self._parts():
            new = [label for label in part.labels if label not in ids and label not in known_words.MISSING]
            if new:
                raise DataError(f"{self.paths[0]} has changed while it was read: {listed(new)} is new in it.")
            number = np.array([ids.get(label, -1) for label in part.labels] or [-1], np.int32)
            items = np.where(part.codes >= 0, number[part.codes], np.int32(-1))
            shown = items >= 0
            before = np.concatenate(([0], np.cumsum(shown)))
            yield before[part.indptr], items[shown]

    def _parts(self) -> Iterator[RowsRead]:
        for path in self.paths:
            with _opened(path) as file:
                done = 0
                while part := _whole(file, _BLOCK, partial(self._read, path, done)):
                    done += part.indptr.size - 1
                    yield part

    def _read(self, path: str, behind: int, lines: bytes) -> RowsRead:
        text = as_text(lines, f"{path}, behind row {behind:,}" if behind else path, self.encoding, ask=str)
        return read_fimi(text) if self.layout.format == "fimi" else read_basket(text, self.layout.separator)

    def origin(self) -> Origin:
        """Say where the rows come from; the files are hashed for it."""
        return Origin(
            tuple(InputFile(path, _sha256(path)) for path in self.paths),
            self.layout,
            encoding=self.encoding or "utf-8",
            unit=self.unit,
        )


def _whole(file: BinaryIO, size: int, read: Callable[[bytes], T]) -> T | None:
    """Read some whole lines of a file, and as many more as a quoted field goes on for; None at the end."""
    lines = file.read(size)
    if not lines:
        return None
    lines += file.readline()
    while True:
        try:
            return read(lines)
        except OpenQuoteError:
            more = file.read(len(lines))
            if not more:
                raise
            lines += more + file.readline()


def _opened(path: str) -> BinaryIO:
    try:
        return Path(path).open("rb")
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def _sha256(path: str) -> str:
    digest = hashlib.sha256()
    with Path(path).open("rb") as file:
        while block := file.read(_BYTES):
            digest.update(block)
    return digest.hexdigest()
