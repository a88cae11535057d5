"""The common form of text and data frames: a table of named columns, each of texts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from setveil.rows.data.columns import Codes


class Column(NamedTuple):
    """One column."""

    codes: Codes  # int64 (lines,): position of each line's value in `labels`
    labels: list[str]  # each value once; "" where there is none
    place: Callable[[int], str]  # says where a line is, for messages


class NamedColumns(Protocol):
    """A table that is taken apart."""

    @property
    def name(self) -> str:
        """Return its name in messages."""

    @property
    def names(self) -> list[str]:
        """Names of its columns; their numbers where it has no header line."""

    @property
    def header(self) -> bool:
        """Return whether the columns have names."""

    @property
    def separator(self) -> str:
        """Return the separator of a text."""

    @property
    def head(self) -> Sequence[Sequence[str]]:
        """The first lines, without the header."""

    @property
    def outside(self) -> Sequence[Sequence[str]]:
        """The first lines that are of another length."""

    @property
    def trimmed(self) -> bool:
        """Return whether lines may be short: then only a wide or one-hot table can be read."""

    @property
    def trouble(self) -> str:
        """Return the problem that prevents reading columns; empty for none."""

    def agreed(self, *, said: bool) -> tuple[int, int] | None:
        """Find id and item column by unmistakable names whose values agree, unless `said` to be long."""

    def columns(
        self, wanted: Sequence[int], *, id_at: int | None = None, marks: bool = False
    ) -> list[Column]:
        """Read some columns; `marks`: cells may be empty, or say whether an item is there."""

    def texts(self, at: int) -> tuple[Codes, list[str]]:
        """Read a column as texts, whatever it contains: the code of each line, and the texts."""


def called(table: NamedColumns, at: int) -> str:
    """Name a column: by its number where it has no name."""
    return table.names[at] if table.names[at] and table.header else f"column {at + 1}"
