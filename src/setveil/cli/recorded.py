"""How the original of a run is read where nothing is said of that: as the run read it, by its record."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from setveil.cli.session import say
from setveil.runs.options.columns import Columns
from setveil.runs.options.facts import FactOptions
from setveil.runs.options.reading import Reading

_NOT_OF_FILES = {"query", "connection"}


def as_the_run_did(
    run: str, original: Sequence[str], reading: Reading, columns: Columns, facts: FactOptions
) -> tuple[Reading, Columns, FactOptions]:
    """Take from a run's record how its original is read, if it is the same file and nothing was said of that.

    Files other than those of the run are read by the options; a folder that is no run has no record.
    """
    record = Path(run) / "internal" / "report.json"
    if (
        reading.explicit_options()
        or columns.explicit_options
        or facts.explicit_options
        or not record.is_file()
    ):
        return reading, columns, facts

    from setveil.base.values.kinds import file_sha256
    from setveil.report.record import read_record
    from setveil.work.past.recorded import options_in

    report = read_record(record)
    options: dict[str, Any] = report.get("options") or {}
    recorded = {name: value for name, value in options.items() if name not in _NOT_OF_FILES}
    read_from = report["input"].get("read")
    known = read_from["files"] if read_from else []
    also = read_from.get("also", []) if read_from else []
    known = known[: len(known) - len(also)]
    paths = [Path(file) for file in original]
    if not recorded or not all(path.is_file() for path in paths):
        return reading, columns, facts
    if [file["sha256"] for file in known] != [file_sha256(path) for path in paths]:
        return reading, columns, facts
    found = options_in(Reading, recorded), options_in(Columns, recorded), options_in(FactOptions, recorded)
    said = [*found[0].arguments(), *found[1].arguments(), *found[2].explicit_options]
    if said:
        say(f"{', '.join(original)}: read as {run} says, from which it was made.")
    return found
