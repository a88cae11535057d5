"""How a file holds transactions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from setveil.data.vocabulary import is_integer
from setveil.errors import RequestError, listed, shorten

FORMATS = ("fimi", "basket", "long", "spmf", "parquet", "jsonl")

FORMATS_OF_EXTENSION = {
    ".dat": ("fimi",),
    ".csv": ("basket", "long"),
    ".txt": ("spmf",),
    ".parquet": ("parquet",),
    ".jsonl": ("jsonl",),
}


@dataclass(frozen=True)
class Layout:
    r"""How a file holds transactions; a release is written in the layout of its input.

    Attributes
    ----------
    format : str
        One of `FORMATS`.
    separator : str
        Between the fields of a basket or long file: one ASCII character, not a quote or a line end.
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
                f"There is no format {shorten(self.format)}.", hint=f"Use one of {listed(FORMATS, 9)}."
            )
        if len(self.separator) != 1 or not self.separator.isascii() or self.separator in '"\r\n\0':
            raise RequestError(
                f"The separator is {shorten(self.separator)}, expected one ASCII character "
                "that is neither a double quote nor a line end."
            )

    def options(self) -> dict[str, str]:
        """List what must be told to `setveil.read` to read such a file, whatever its name and content."""
        relevant = {
            "basket": ("separator",),
            "long": ("separator", "id_column", "item_column"),
            "parquet": ("item_column",) if self.nested else ("id_column", "item_column"),
            "jsonl": ("item_column",) if self.objects else (),
        }.get(self.format, ())
        return {"format": self.format, **{name: getattr(self, name) for name in relevant}}

    @property
    def extension(self) -> str:
        """The usual ending of such a file's name, with its dot."""
        return next(ending for ending, formats in FORMATS_OF_EXTENSION.items() if self.format in formats)


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
