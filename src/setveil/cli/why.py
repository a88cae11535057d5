"""The command ``why``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import READING, Json, ReadHierarchy, Reading, Show, argument, option
from setveil.cli.session import answer, answer_json, run

EXAMPLES = """Examples:

$ setveil why release "hot drinks"

$ setveil why release "green tea" --data baskets.csv"""


def why(
    folder: Path = argument("RUN", "The folder of a run."),
    name: str = argument("NAME", "A published label, an item, or a node of the hierarchy."),
    data: str | None = option(
        READING, "The rows that were anonymized, if they are not where the run read them.", "FILE"
    ),
    hierarchy_file: ReadHierarchy = None,
    *,
    reading: Reading,
    show: Show = 10,
    json: Json = False,
) -> None:
    """Say why a label is not split, or an item left out: what would break, and what is to blame.

    The answer tells of the original rows, down to single ones: it must stay inside.
    """

    def explain(progress: Any) -> Any:
        from setveil.cli.files import read_rows
        from setveil.options.decode import require_file
        from setveil.options.reading import Reading as ReadingOptions
        from setveil.past.inputs import find_guarantee, find_rows, find_tree
        from setveil.past.run import past_run
        from setveil.past.why import require_splittable
        from setveil.past.why import why as explained
        from setveil.report.why import why_text

        recorded = past_run(folder)
        require_splittable(recorded)
        require_file(hierarchy_file)

        def read(path: Any, **options: Any) -> Any:
            return read_rows(path, ReadingOptions(**options))

        progress("reading")
        rows = find_rows(recorded, None if data is None else [data], reading, read)
        encoding = reading.text_encoding
        tree = find_tree(recorded, rows, hierarchy_file, encoding)
        guarantee = find_guarantee(recorded, rows, encoding)
        progress("verifying")
        found = explained(recorded, rows, tree, guarantee, name, show=show, progress=progress)
        return found | {"text": why_text(found, show)}

    found = run(explain)
    if json:
        answer_json(found)
    else:
        answer(found["text"])
