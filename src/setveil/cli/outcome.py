"""The answer of commands that publish: four lines, or everything with --verbose."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.cli.session import is_verbose

if TYPE_CHECKING:
    from setveil.report.record import Record

_EXPLORED = ("km-anonymity", "kkm")  # guarantees whose costs `explore` shows


def outcome(report: Record, out: str | Path) -> str:
    """Summarize a run and name its folder; if little is left, with commands that help to keep more."""
    from setveil.report.run.brief import brief, little_left
    from setveil.report.run.summary import summary

    if is_verbose():
        return f"{summary(report)}\nFolder     {out}"
    gone = little_left(report)
    more = ways_to_keep_more(report, out, gone) if gone else []
    return "\n".join([brief(report, out), *(["", "To keep more:", ""] if more else []), *more])


def ways_to_keep_more(report: Record, out: str | Path, gone: list[str]) -> list[str]:
    """List up to three commands, each below what it does; none for a sample."""
    if {"applied", "sample"} & set(report) or not report.get("options"):
        return []
    ways = (
        _of_series(report["options"])
        if "series" in report
        else (
            ("Show what each k and m would keep:", _explore(report)),
            ("Show what stands in the way:", _why(report, out, gone)),
            _again(report, out),
        )
    )
    return [
        line
        for text, words in ways
        if words
        for line in (f"  {text}", f"    {shlex.join(['setveil', *words])}")
    ]


def _of_series(options: Mapping[str, Any]) -> tuple[tuple[str, list[str]], ...]:
    """Write the commands that take back a release of a series, and price the other ways to publish it."""
    from setveil.base.values.declared import as_words
    from setveil.runs.options.names import READING

    files = options.get("input") or []
    folder, name = options.get("series"), options.get("name")
    if not folder or not name or len(files) != 1 or "-" in files or options.get("merge"):
        return ()
    reading = {name: options[name] for name in ("hierarchy", *READING) if name in options}
    return (
        (
            "Take this release back, if nobody has received it:",
            ["series", "drop", folder, name, "--not-shared"],
        ),
        (
            "Then show what each way to publish it would keep:",
            ["series", "plan", folder, *files, *as_words(reading)],
        ),
    )


def _explore(report: Record) -> list[str]:
    """Write the command that explores the data of a run, if it can be."""
    from setveil.base.values.declared import as_words
    from setveil.runs.options.names import COLUMNS, FACTS, MADE_OF_COLUMNS, READING

    options: Mapping[str, Any] = report["options"]
    files = options.get("input") or []
    known = report["guarantee"]["model"] in _EXPLORED and "classes" not in report
    if not known or not files or "-" in files or ("facts" in report and "table" in report):
        return []
    names = ["hierarchy", *READING, *COLUMNS, *MADE_OF_COLUMNS, *FACTS]
    reading = {name: options[name] for name in names if name in options}
    return ["explore", *files, *as_words(reading)]


def _why(report: Record, out: str | Path, gone: list[str]) -> list[str]:
    """Write the command that says why the label of most rows, or a column, is so broad."""
    columns = [name for name in report["utility"].get("column_losses", {}) if name in gone]
    labels = [one["label"] for one in sorted(report.get("labels") or [], key=lambda one: -one["rows"])]
    names = columns or labels
    if not names or report["guarantee"]["model"] not in _EXPLORED or "classes" in report:
        return []
    if "facts" in report and "table" in report:
        return []
    return ["why", str(out), *(["--"] if names[0].startswith("-") else []), names[0]]


def _again(report: Record, out: str | Path) -> tuple[str, list[str]]:
    """Write the command that makes a release with other classes, or one known item less; what it does."""
    from setveil.report.run.frontier import instead, setting

    again = ["anonymize", "--config", f"{out}/internal/report.json", "--out", f"{out}-2"]
    if others := instead(report):
        gain, other = others[0]
        return f"Choose other classes ({gain}):", [*again, *setting(other).split()]
    m = report["guarantee"].get("m")
    fewer = [*again, "--m", str(m - 1)] if isinstance(m, int) and m > 1 else []
    return "Protect against one known item less:", fewer
