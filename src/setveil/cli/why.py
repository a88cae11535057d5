"""The command ``why``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.options import READING, ReadHierarchy, Reading, Show, argument, option
from setveil.cli.session import Answer

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions


def why(
    progress: Any,
    folder: Path = argument("RUN", "The folder of a run."),
    name: str = argument("NAME", "A published label, an item, or a node of the hierarchy."),
    data: str | None = option(
        READING, "The rows that were anonymized, if they are not where the run read them.", "FILE"
    ),
    hierarchy_file: ReadHierarchy = None,
    *,
    reading: Reading,
    show: Show = 10,
) -> Answer:
    """Say why a label is not split, or an item left out: what would break, and what is to blame.

    The answer tells of the original rows, down to single ones: it must stay inside.

    $ setveil why release "hot drinks"
    $ setveil why release "green tea" --data baskets.csv
    """
    from setveil.cli.files import read_rows
    from setveil.commands.why import answered
    from setveil.options.decode import require_file
    from setveil.options.reading import Reading as ReadingOptions
    from setveil.past.inputs import find_rows
    from setveil.past.run import PastRun

    require_file(hierarchy_file)

    def rows_of(recorded: PastRun) -> Transactions:
        def read(path: Any, **options: Any) -> Transactions:
            return read_rows(path, ReadingOptions(**options))

        return find_rows(recorded, None if data is None else [data], reading, read)

    found = answered(
        folder, name, rows_of, hierarchy_file, show=show, encoding=reading.text_encoding,
        progress=progress,
    )  # fmt: skip
    return Answer(found, found["text"])
