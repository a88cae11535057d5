"""How the original of a run is read where nothing is said of that: as the run read it, by its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any, TypeVar

from setveil.cli.session import say
from setveil.options.columns import Columns
from setveil.options.facts import Facts
from setveil.options.reading import Reading

Words = TypeVar("Words", Reading, Columns, Facts)
_NOT_OF_FILES = {"query", "connection"}


def as_the_run_did(
    run: str, original: Sequence[str], reading: Reading, columns: Columns, facts: Facts
) -> tuple[Reading, Columns, Facts]:
    """Take from a run's record how its original is read, if it is the same file and nothing was said of that.

    Parameters
    ----------
    run : str
        The folder of a run; anything else has no record.
    original : sequence of str
        The files that are to be read. Others than those of the run are read by what is given.
    reading, columns, facts : Reading, Columns, Facts
        What was given.
    """
    record = Path(run) / "internal" / "report.json"
    if reading.given() or columns.given or facts.given or not record.is_file():
        return reading, columns, facts

    from setveil.report.record import read_record
    from setveil.values.kinds import file_sha256

    report = read_record(record)
    options: dict[str, Any] = report.get("options") or {}
    told = {name: value for name, value in options.items() if name not in _NOT_OF_FILES}
    read_from = report["input"].get("read")
    known = read_from["files"] if read_from else []
    paths = [Path(file) for file in original]
    if not told or not all(path.is_file() for path in paths):
        return reading, columns, facts
    if [file["sha256"] for file in known] != [file_sha256(path) for path in paths]:
        return reading, columns, facts
    found = _named(Reading, told), _named(Columns, told), _named(Facts, told)
    said = [*found[0].arguments(), *found[1].arguments(), *found[2].given]
    if said:
        say(f"{', '.join(original)}: read as {run} says, from which it was made.")
    return found


def _named(kind: type[Words], told: Mapping[str, Any]) -> Words:
    """Take the options of a kind from those of a command."""
    names = {field.name: field.name.replace("_", "-") for field in fields(kind)}
    return kind(**{name: told[word] for name, word in names.items() if told.get(word) is not None})
