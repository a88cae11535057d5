"""The command ``certify``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.bundles import Reading
from setveil.cli.help import GENERAL, READING
from setveil.cli.options import ReadHierarchy, argument, number, option
from setveil.cli.session import Answer

if TYPE_CHECKING:
    from setveil.rows.data.transactions import Transactions


def certify(
    progress: Any,
    folder: Path = argument("RUN", "Certify this folder of a run of exact."),
    data: str | None = option(READING, "Read the original rows here, if they have moved.", "FILE"),
    hierarchy_file: ReadHierarchy = None,
    time_limit: float | None = number(
        GENERAL, "Stop after this time with the bound so far (default: 300).", 0, "SECONDS"
    ),
    *,
    reading: Reading,
) -> Answer:
    """Prove to others that no other release loses less.

    Writes certificate.json and audit.py, which checks it, to internal/ of the run. Do not share them: they
    reveal rare items.

    $ setveil certify release
    $ setveil certify release --data baskets.csv --hierarchy products.csv
    """
    from setveil.cli.files import read_rows
    from setveil.commands.certify import certified
    from setveil.runs.options.decode import require_file
    from setveil.runs.options.reading import Reading as ReadingOptions
    from setveil.work.past.inputs import find_rows
    from setveil.work.past.run import PastRun

    require_file(hierarchy_file)

    def rows_of(recorded: PastRun) -> Transactions:
        def read(path: Any, **options: Any) -> Transactions:
            return read_rows(path, ReadingOptions(**options))

        return find_rows(recorded, None if data is None else [data], reading, read)

    found = certified(
        folder, rows_of, hierarchy_file, time_limit=time_limit, encoding=reading.text_encoding,
        progress=progress,
    )  # fmt: skip
    return Answer(found, found["text"])
