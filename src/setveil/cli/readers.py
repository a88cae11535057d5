"""How the data of a command are read: rows of items, or a table. Facts are read by `setveil.cli.facts`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from setveil.cli.tables import read_table, require_no_columns
from setveil.runs.options.columns import Columns, one_hierarchy, split_hierarchies
from setveil.runs.options.reading import Reading

if TYPE_CHECKING:
    from setveil.rows.hierarchy.tree import Hierarchy


class ItemsReader:
    """Rows of items, and the hierarchy of the items; the defaults of other kinds of data."""

    kind: ClassVar[str] = "rows"  # the `kind` of what is read (see `setveil.rows.data.exposed.Exposed`)
    has_facts: ClassVar[bool] = False
    reads_hierarchies: ClassVar[bool] = False  # whether a hierarchy says how data are read

    def __init__(self, columns: Columns, reading: Reading, hierarchies: Sequence[str] | None) -> None:
        """Take what was said of columns, of reading, and as --hierarchy."""
        self.columns = columns
        self.reading = reading
        self.hierarchies = hierarchies or ()

    @property
    def m(self) -> Any:
        """The m that was said with columns of codes; None: it is said by --m."""
        return None

    @property
    def generalizing(self) -> dict[str, Any]:
        """How facts are generalized, as runs and explorations take it; empty: the rows hold none."""
        return {}

    @property
    def plain_hierarchy(self) -> str | None:
        """The hierarchy of the items, as it was named; None: there is none."""
        return one_hierarchy(self.hierarchies)

    @property
    def hierarchy_file(self) -> Path | None:
        """The hierarchy, if it is one file that is read by itself."""
        return None if self.plain_hierarchy is None else Path(self.plain_hierarchy)

    def require_promised(self, model: str | None, _output_format: str | None) -> None:
        """Refuse a guarantee, or a format of the published file, that does not suit such data.

        `model` is None for data that were published before.
        """
        require_no_columns(self.columns, model)

    def to_publish(self, source: Any, way_out: Callable[[], str]) -> tuple[Reading, str | None]:
        """Refuse rows that cannot fit in memory; return how they are read, and the format of the release."""
        from setveil.cli.files import require_room, split_format

        reads, publishes = split_format(source, self.reading.format)
        require_room(source, way_out)
        return replace(self.reading, format=reads), publishes

    def tree(self) -> Hierarchy | None:
        """Read the hierarchy of the items."""
        file = self.hierarchy_file
        if file is None:
            return None
        from setveil.rows.hierarchy.io import read_hierarchy

        return read_hierarchy(file, encoding=self.reading.text_encoding)

    def read(
        self, source: Any, *, fewest: int = 0, seed: int = 0, how: Reading | None = None
    ) -> tuple[Any, Hierarchy | None]:
        """Read data (`how`: otherwise than as requested) and hierarchy, and say what was taken as what."""
        from setveil.cli.files import read_fitting

        return read_fitting(source, how or self.reading, self.tree())

    def read_with_ids(self, source: Any) -> tuple[Any, Any]:
        """Read data, and the ID of each row; None: rows have none, or they are read with the data."""
        from setveil.cli.files import read_rows_and_ids

        return read_rows_and_ids(source, self.reading)

    def arguments(self) -> list[str]:
        """Return what was said of reading as it is written on the command line."""
        return self.reading.arguments()


class TableReader(ItemsReader):
    """A table, the hierarchies of its columns, and that of its items."""

    kind = "tables"
    reads_hierarchies = True

    @property
    def plain_hierarchy(self) -> str | None:
        """The hierarchy of the items, as it was named."""
        return split_hierarchies(self.hierarchies)[0]

    @property
    def hierarchy_file(self) -> None:
        """No hierarchy: those of a table are read with it."""
        return None

    def require_promised(self, _model: str | None, _output_format: str | None) -> None:
        """Refuse nothing: the guarantee is about tables."""

    def to_publish(self, _source: Any, _way_out: Callable[[], str]) -> tuple[Reading, None]:
        """Return how the data are read; the release has the format that suits them."""
        return self.reading, None

    def read(
        self, source: Any, *, fewest: int = 0, seed: int = 0, how: Reading | None = None
    ) -> tuple[Any, Hierarchy | None]:
        """Read the table and the hierarchy of its items, and say how the columns were taken."""
        return read_table(source, self.columns, self.reading, self.hierarchies)

    def read_with_ids(self, source: Any) -> tuple[Any, None]:
        """Read the table."""
        return self.read(source)[0], None

    def arguments(self) -> list[str]:
        """Return what was said of reading and of columns as it is written on the command line."""
        return super().arguments() + self.columns.arguments(self.hierarchies)


def reader_of(columns: Columns, reading: Reading, hierarchies: Sequence[str] | None) -> ItemsReader:
    """Read a table if columns were named, else rows of items."""
    return (TableReader if columns.explicit_options else ItemsReader)(columns, reading, hierarchies)


def reader_like(
    kind: str, columns: Columns, reading: Reading, hierarchies: Sequence[str] | None
) -> ItemsReader:
    """Read data as the kind of their release says: a table, or rows of items."""
    return (TableReader if kind == TableReader.kind else ItemsReader)(columns, reading, hierarchies)
