"""Layouts of files of transactions."""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from setveil.base.errors import RequestError, listed, shorten, superfluous
from setveil.rows.data.spelling import Merged
from setveil.rows.data.vocabulary import is_integer


@dataclass(frozen=True)
class Format:
    """A way to hold transactions in a file."""

    extension: str  # the usual ending of a file's name, with its dot
    # ``module:function`` in this folder: from a `Text` (bytes and a name, if it is no text) and the options
    # that it takes, by name, to a `setveil.rows.data.rows_read.RowsRead`
    reader: str
    writer: str  # ``module:function`` in this folder: from rows and layout to pieces of bytes
    takes: tuple[str, ...] = ()  # options of `setveil.read` that it is read with
    # of these, those that a file written in some layout does without; none has several items in a cell
    without: Callable[[Layout], tuple[str, ...]] = lambda _: ()
    text: bool = True  # whether it is text
    columns: bool = True  # whether it may have columns, whose missing values the reader must know


_TABLE = ("separator", "id_column", "item_columns")
_YES = ("yes",)
_CELLS = ("delimiter",)

FORMATS: Mapping[str, Format] = {
    "fimi": Format(".dat", "text:read_fimi", "write:fimi", columns=False),
    "basket": Format(".csv", "text:read_basket", "write:basket", ("separator",), columns=False),
    "long": Format(
        ".csv",
        "table:read_long",
        "write:long",
        ("separator", "id_column", "item_column", *_CELLS),
        without=lambda _: _CELLS,
    ),
    "wide": Format(
        ".csv",
        "table:read_wide",
        "write:wide",
        (*_TABLE, *_CELLS),
        without=lambda _: ("id_column", *_CELLS),
    ),
    "onehot": Format(
        ".csv",
        "table:read_onehot",
        "write:onehot",
        (*_TABLE, *_YES),
        without=lambda _: ("id_column", "item_columns", *_YES),
    ),
    "spmf": Format(".txt", "text:read_spmf", "write:spmf", columns=False),
    "parquet": Format(
        ".parquet",
        "parquet:read_parquet",
        "parquet:parquet",
        ("id_column", "item_column", "item_columns", *_CELLS, *_YES),
        without=lambda layout: ("item_columns", *_CELLS, *_YES, *(("id_column",) if layout.nested else ())),
        text=False,
    ),
    "jsonl": Format(
        ".jsonl",
        "jsonl:read_jsonl",
        "write:jsonl",
        ("id_column", "item_column", "item_columns", *_CELLS, *_YES),
        without=lambda layout: (
            "id_column",
            "item_columns",
            *_CELLS,
            *_YES,
            *(() if layout.objects else ("item_column",)),
        ),
    ),
}


def function_of(home: str) -> Callable[..., Any]:
    """Find a reader or writer by its ``module:function``."""
    module, _, name = home.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"setveil.rows.data.io.{module}"), name)
    return found


def formats_of(extension: str) -> list[str]:
    """List the formats that usually have an ending."""
    return [name for name, form in FORMATS.items() if form.extension == extension.lower()]


def extensions() -> list[str]:
    """List the endings that formats have."""
    return list(dict.fromkeys(form.extension for form in FORMATS.values()))


@dataclass(frozen=True)
class Layout:
    r"""The layout of a file of transactions; a release is written in the layout of its input.

    >>> Layout("basket", separator=";").extension
    '.csv'
    """

    format: str  # one of `FORMATS`
    # between the fields of a basket or long file: one ASCII character, not a quote, a line end or one that a
    # number may hold, as those of rows in a long table do
    separator: str = ","
    # id_column, item_column: column names of a long table; `item_column` also names the list column of a
    # Parquet file and the key of JSON objects
    id_column: str = "id"
    item_column: str = "item"
    item_columns: tuple[str, ...] = ()  # column names of a wide table
    nested: bool = True  # parquet: one list column (True) or a long table (False)
    # JSON lines: each row is an object that contains the list under `item_column`, not the list itself
    objects: bool = False

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise RequestError(
                f"There is no format {shorten(self.format)}.", hint=f"Use one of {listed(tuple(FORMATS), 9)}."
            )
        _require_sign(self.separator)

    def options(self) -> dict[str, Any]:
        """List the options of `setveil.read` that read such a file, whatever its name and content."""
        form = FORMATS[self.format]
        relevant = [name for name in form.takes if name not in form.without(self)]
        found = {"format": self.format, **{name: getattr(self, name) for name in relevant}}
        return {name: list(value) if isinstance(value, tuple) else value for name, value in found.items()}

    @property
    def shows_empty_rows(self) -> bool:
        """Return whether such a file shows rows without items, unlike a table with a line for each item."""
        return "id_column" not in self.options()

    @property
    def extension(self) -> str:
        """The usual ending of such a file's name, with its dot."""
        return FORMATS[self.format].extension


def require_separator(separator: str | None) -> None:
    """Refuse what cannot stand between the fields of a file that is read; several signs can."""
    if separator is None or separator in {"\\t", "tab"}:
        return
    if len(separator) < 2:
        _require_sign(separator)
    elif not separator.isascii() or set(separator) & set('"\r\n\0') or separator.isalnum():
        raise RequestError(
            f"The separator is {shorten(separator)}, expected one ASCII character or several, such as ::, "
            "without a double quote or a line end.",
            hint="Usual are , ; | and the tab.",
        )


def refuse_unfit(what: str, **options: Any) -> None:
    """Refuse options of how a file is written that what is read cannot have."""
    for name, value in options.items():
        if value is not None:
            raise superfluous(name, f"The option {name} does not apply to {what}.")


def _require_sign(separator: str) -> None:
    if len(separator) != 1 or not separator.isascii() or separator in '"\r\n\0':
        raise RequestError(
            f"The separator is {shorten(separator)}, expected one ASCII character "
            "that is neither a double quote nor a line end."
        )
    if separator in "0123456789+-":
        raise RequestError(
            f"The separator is {shorten(separator)}, which numbers may contain, expected one ASCII "
            "character that cannot be in a number.",
            hint="Usual are , ; | and the tab.",
        )


@dataclass(frozen=True)
class InputFile:
    """A file that was read."""

    path: str  # as given; ``-`` for standard input; the address of a database, without its password
    sha256: str | None  # of the bytes of the file as it lies there, in hexadecimal; None: it is no file
    compression: str = ""  # what it was unpacked from; empty: nothing


@dataclass(frozen=True)
class Origin:
    """The source of transactions, and its reading."""

    files: tuple[InputFile, ...]  # in the order of their rows
    layout: Layout  # how they hold the rows, or how rows are written like them
    row: str = "line"  # what one row is, to be continued after "one row per"
    id_column: str | None = None  # the column whose values make the rows
    # item_columns, ignored_columns: columns that contain items, and columns that were not looked at
    item_columns: tuple[str, ...] = ()
    ignored_columns: tuple[str, ...] = ()
    encoding: str | None = None  # of text
    query: str | None = None  # what a database was asked
    named: bool = True  # whether format or columns were named, or the layout was detected from the content
    table: bool = False  # whether it is a table with further columns, which have roles
    # cells: the layout of a table whose cells contain several items, and what stands between these
    cells: tuple[Layout, str] | None = None
    written: Mapping[str, Any] = field(default_factory=dict)  # options that say how a file is written
    merged: Merged | None = None  # which spellings of items were made one
    notes: tuple[str, ...] = field(default=(), compare=False)  # what was noticed or skipped while reading
    unit: str = "person"  # what a row is: a person, or an event that was confirmed, such as an order
    respelled: Merged | None = None  # which were made the one that the hierarchy has
    seconds: float = field(default=0.0, compare=False)

    @property
    def path(self) -> str:
        """The file, or the files with commas between them."""
        return ", ".join(file.path for file in self.files)

    @property
    def sha256(self) -> str | None:
        """Hash of the file; of several, hash of their hashes."""
        if len(self.files) < 2:
            return self.files[0].sha256 if self.files else None
        return hashlib.sha256("".join(file.sha256 or "" for file in self.files).encode()).hexdigest()

    def as_dict(self) -> dict[str, Any]:
        """Return what was read, as JSON types."""
        layout, delimiter = self.cells or (self.layout, None)
        separated = self.encoding is not None and "separator" in FORMATS[layout.format].takes
        return {
            "layout": "table" if self.table else layout.format,
            "row": f"one row per {self.row}",
            "id_column": self.id_column,
            "item_columns": list(self.item_columns),
            "ignored_columns": list(self.ignored_columns),
            "separator": layout.separator if separated else None,
            "delimiter": delimiter,
            "encoding": self.encoding,
            "query": self.query,
            "files": [asdict(file) for file in self.files],
            **self.written,
            **({} if self.merged is None else {"normalized": self.merged.as_dict()}),
            **({"unit": self.unit} if self.unit != "person" else {}),
            **({} if self.respelled is None else {"respelled": self.respelled.as_dict()}),
            **({"notes": list(self.notes)} if self.notes else {}),
        }

    def sentence(self) -> str:
        """Say what was read: ``long table, one row per value of patient_id, items from icd10``."""
        words = {
            "wide": "wide table",
            "long": "long table",
            "onehot": "one-hot table",
            "fimi": "FIMI file",
            "spmf": "SPMF file",
            "parquet": "Parquet table",
            "jsonl": "JSON lines",
            "basket": "baskets",
        }
        layout, delimiter = self.cells or (self.layout, None)
        said = [words.get(layout.format, layout.format), f"one row per {self.row}"]
        if layout.format == "basket" and layout.separator != ",":
            said[0] += f" separated by {in_words(layout.separator)}"
        if self.item_columns:
            several = len(self.item_columns)
            said.append(
                f"items from {', '.join(self.item_columns)}"
                if several < 4
                else f"items from {several} columns, {self.item_columns[0]} to {self.item_columns[-1]}"
            )
            if delimiter is not None:
                said[-1] += f", with {in_words(delimiter)} between them"
        if also := self.written.get("also"):
            said.append(f"with items of {', '.join(also)}")
        if self.ignored_columns:
            said.append(f"ignored: {listed(self.ignored_columns, 5).replace(chr(39), '')}")
        return ", ".join(said)


def in_words(sign: str) -> str:
    """Name what stands between fields or items."""
    names = {",": "commas", "\t": "tabs", ";": "semicolons", "|": "vertical bars", " ": "blanks"}
    return names.get(sign, repr(sign))


def writable_layout(layout: Layout, labels: Iterable[str], longest: int = 0) -> Layout:
    """Return a layout that can hold these labels, and rows of this many items, such as basket for FIMI."""
    if layout.format == "fimi" and not all(map(is_integer, labels)):
        return Layout("basket")
    if layout.format == "wide" and len(layout.item_columns) < max(longest, 1):
        return replace(layout, item_columns=tuple(f"item{i}" for i in range(1, max(longest, 1) + 1)))
    return layout
