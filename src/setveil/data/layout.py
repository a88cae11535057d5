"""How a file holds transactions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from setveil.data.vocabulary import is_integer
from setveil.errors import RequestError, listed, shorten


@dataclass(frozen=True)
class Format:
    """A way to hold transactions in a file.

    Attributes
    ----------
    extension : str
        The usual ending of a file's name, with its dot.
    reader : str
        ``module:function`` in this folder: from a `Text` (bytes and a name, if it is no text) and the options
        that it takes, by name, to the rows and their layout.
    writer : str
        ``module:function`` in this folder: from rows and layout to pieces of bytes.
    takes : tuple of str
        Options of `setveil.read` that it is read with.
    without : callable
        Of these, those that a file of some layout does without.
    text : bool
        Whether it is text.
    """

    extension: str
    reader: str
    writer: str
    takes: tuple[str, ...] = ()
    without: Callable[[Layout], tuple[str, ...]] = lambda _: ()
    text: bool = True


FORMATS: Mapping[str, Format] = {
    "fimi": Format(".dat", "text:read_fimi", "write:fimi"),
    "basket": Format(".csv", "text:read_basket", "write:basket", ("separator",)),
    "long": Format(".csv", "long:read_long", "write:long", ("separator", "id_column", "item_column")),
    "spmf": Format(".txt", "text:read_spmf", "write:spmf"),
    "parquet": Format(
        ".parquet",
        "parquet:read_parquet",
        "parquet:parquet",
        ("id_column", "item_column"),
        without=lambda layout: ("id_column",) if layout.nested else (),
        text=False,
    ),
    "jsonl": Format(
        ".jsonl",
        "jsonl:read_jsonl",
        "write:jsonl",
        ("item_column",),
        without=lambda layout: () if layout.objects else ("item_column",),
    ),
}


def function_of(home: str) -> Callable[..., Any]:
    """Find a reader or writer by its ``module:function``."""
    module, _, name = home.partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(f"setveil.data.io.{module}"), name)
    return found


def formats_of(extension: str) -> list[str]:
    """List the formats that usually have an ending."""
    return [name for name, form in FORMATS.items() if form.extension == extension.lower()]


def extensions() -> list[str]:
    """List the endings that tell a format."""
    return list(dict.fromkeys(form.extension for form in FORMATS.values()))


@dataclass(frozen=True)
class Layout:
    r"""How a file holds transactions; a release is written in the layout of its input.

    Attributes
    ----------
    format : str
        One of `FORMATS`.
    separator : str
        Between the fields of a basket or long file: one ASCII character, not a quote, a line end or one that
        a number may hold, as those of rows in a long table do.
    id_column, item_column : str
        Column names of a long table; `item_column` also names the list column of a Parquet file and the
        key of JSON objects.
    nested : bool
        Parquet: one list column (True) or a long table (False).
    objects : bool
        JSON lines: each row is an object that holds the list under `item_column`, not the list itself.

    Raises
    ------
    RequestError
        If the format or the separator is none that can be read and written.

    Examples
    --------
    >>> Layout("basket", separator=";").extension
    '.csv'
    """

    format: str
    separator: str = ","
    id_column: str = "id"
    item_column: str = "item"
    nested: bool = True
    objects: bool = False

    def __post_init__(self) -> None:
        if self.format not in FORMATS:
            raise RequestError(
                f"There is no format {shorten(self.format)}.", hint=f"Use one of {listed(tuple(FORMATS), 9)}."
            )
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n\0':
            raise RequestError(
                f"The separator is {shorten(self.separator)}, expected one ASCII character "
                "that is neither a double quote nor a line end."
            )
        if self.separator in "0123456789+-":
            raise RequestError(
                f"The separator is {shorten(self.separator)}, which numbers may hold, expected one ASCII "
                "character that cannot stand in a number.",
                hint="Usual are , ; | and the tab.",
            )

    def options(self) -> dict[str, str]:
        """List what must be told to `setveil.read` to read such a file, whatever its name and content."""
        form = FORMATS[self.format]
        relevant = [name for name in form.takes if name not in form.without(self)]
        return {"format": self.format, **{name: getattr(self, name) for name in relevant}}

    @property
    def shows_empty_rows(self) -> bool:
        """Whether such a file shows rows without items; a table with a line for each item of a row cannot."""
        return "id_column" not in self.options()

    @property
    def extension(self) -> str:
        """The usual ending of such a file's name, with its dot."""
        return FORMATS[self.format].extension


@dataclass(frozen=True)
class Origin:
    """The file that transactions were read from.

    Attributes
    ----------
    path : str
        As given; ``-`` for standard input.
    sha256 : str
        Of the bytes read, in hexadecimal.
    layout : Layout
        How the file holds them.
    seconds : float
        Time that reading took.
    """

    path: str
    sha256: str
    layout: Layout
    seconds: float = field(default=0.0, compare=False)


def writable_layout(layout: Layout, labels: Iterable[str]) -> Layout:
    """Return a layout that can hold these labels: basket in place of FIMI unless all of them are integers."""
    if layout.format == "fimi" and not all(map(is_integer, labels)):
        return Layout("basket")
    return layout
