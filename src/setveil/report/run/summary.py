"""A report as a few lines of plain text."""

from __future__ import annotations

import re
import textwrap

from setveil.base.wording import count
from setveil.report import accuracy, words
from setveil.report.models import check
from setveil.report.record import Record
from setveil.report.run.applied import applied_facts
from setveil.report.run.frontier import frontier_lines, neighbours
from setveil.report.run.groups import lacking_groups
from setveil.report.run.hidden import hidden_facts
from setveil.report.run.kinds import kind_of, promised
from setveil.report.run.series import series_facts

_WIDTH = 88
_LABEL = 11
_READ = 2 * (_WIDTH - _LABEL) - 10  # two lines


def summary(report: Record) -> str:
    """Summarize a report: input, guarantee, whether it holds, the information loss, the folder to share.

    It has at most 19 lines of at most 88 columns, and up to 3 more for what has no groups, 4 for suppressed
    sensitive items, 10 for labels of an earlier run, 2 for rare items under their own names, and one for each
    release of a table that was tried.
    """
    lines = [_fact(label, text) for label, text in facts(report).items()]
    tried = frontier_lines(report)
    names = ["Tried", *([""] * len(tried))]
    return "\n".join([*lines, *(f"{name:{_LABEL}}{line}" for name, line in zip(names, tried, strict=False))])


def facts(report: Record) -> dict[str, str]:
    """List what a summary says, each with its label."""
    guarantee, kind = report["guarantee"], kind_of(report)
    read = (words.read_as(report), words.columns_read(report))
    counts = report.get("counts")
    counted = f", with counts of {count(counts['items'], words.unit(report))}" if counts else ""
    share = (
        f"published/ only{counted}. Never share internal/: it reverses the anonymization."
        if guarantee["holds"]
        else "Nothing: the guarantee does not hold."
    )
    if others := words.only_one_of(report):
        share += f" {others}"
    found = {
        **_of_table(report),
        "File": f"{words.clip(_input(report), 36)}, {words.clip(report['algorithm']['title'], 36)}",
        "Read": words.clip(", ".join(part for part in read if part), _READ),
        "Guarantee": promised(report),
        "Check": check(guarantee),
        "Lost": kind.loss(report),
        "No groups": lacking_groups(report),
        **hidden_facts(report),
        "Reading": kind.overlap(report),
        "Optimum": words.optimality(report),
        **{name: f"{value}: {meaning}" for name, value, meaning in kind.figures(report, brief=True)},
        "Answers": accuracy.query_error_sentence(report),
        f"{words.unit(report).capitalize()}s": kind.items(report),
        **kind.summarized(report),
        "Rows": words.rows(report),
        "Rare names": rare_names(report),
        **applied_facts(report),
        **series_facts(report),
        "Share": share,
    }
    return {label: text for label, text in found.items() if text}


def rare_names(report: Record) -> str:
    """Say how many items are published under their own names that few rows contain."""
    found = report.get("rare_names")
    if not found:
        return ""
    one = found["items"] == 1
    return (
        f"{count(found['items'], 'item')} that fewer than {found['least']} rows contain "
        f"{'is published under its own name' if one else 'are published under their own names'}; "
        f"--suppress-below {found['least']} suppresses {'it' if one else 'them'}."
    )


def _of_table(report: Record) -> dict[str, str]:
    """Say first how many items of a table are suppressed, and name alternatives."""
    if "table" not in report:
        return {}
    dropped = report["table"]["dropped"]
    return {
        "Suppressed": words.suppressed_words(report),
        "Instead": neighbours(report),
        "Dropped": f"{words.listed(dropped)}: not published" if dropped else "",
    }


def _input(report: Record) -> str:
    """Name the input without the folders that it lies in."""
    read = report["input"].get("read")
    files = read["files"] if read else []
    if len(files) > 1:
        return f"{count(len(files))} files"
    return re.split(r"[/\\]", words.source(report))[-1]


def _fact(label: str, text: str) -> str:
    return textwrap.fill(text, _WIDTH, initial_indent=label.ljust(_LABEL), subsequent_indent=" " * _LABEL)
