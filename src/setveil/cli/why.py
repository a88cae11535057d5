"""The command ``why``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.bundles import Reading
from setveil.cli.help import READING, TABLES
from setveil.cli.options import ReadHierarchy, Show, argument, integer, option
from setveil.cli.session import Answer

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.tables.table import Table


def why(
    progress: Any,
    folder: Path = argument("RUN", "Read this folder of a run."),
    name: str = argument(
        "NAME",
        "Explain this label, item, group, column or box of facts.",
    ),
    data: str | None = option(READING, "Read the original rows here, if they have moved.", "FILE"),
    hierarchy_file: ReadHierarchy = None,
    row: int | None = integer(TABLES, "Explain this row of the table, from 1.", 1),
    class_: int | None = integer(READING, "Explain the label in this class.", 0, "--class"),
    *,
    reading: Reading,
    show: Show = 10,
) -> Answer:
    """Explain why an item, label or value was generalized or suppressed.

    Do not share the answer: it reveals original rows.

    $ setveil why release "coffee and tea"
    $ setveil why release "green tea" --data baskets.csv
    $ setveil why ward age --row 17
    $ setveil why f I50@2024-Q1
    """
    from setveil.cli.files import read_rows
    from setveil.commands.why import answered
    from setveil.runs.options.decode import require_file
    from setveil.runs.options.reading import Reading as ReadingOptions
    from setveil.work.past.facts import find_facts, has_facts
    from setveil.work.past.inputs import find_rows
    from setveil.work.past.run import PastRun
    from setveil.work.past.tables import find_table

    require_file(hierarchy_file)

    def rows_of(recorded: PastRun) -> Transactions:
        def read(path: Any, **options: Any) -> Transactions:
            return read_rows(path, ReadingOptions(**options))

        if has_facts(recorded):
            return find_facts(recorded, data)
        return find_rows(recorded, None if data is None else [data], reading, read)

    def table_of(recorded: PastRun) -> Table:
        return find_table(recorded, path=data)

    found = answered(
        folder, name, rows_of, hierarchy_file, row=row, table_of_past=table_of, show=show,
        encoding=reading.text_encoding, class_=class_, progress=progress,
    )  # fmt: skip
    return Answer(found, found["text"])
