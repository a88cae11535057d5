"""What a release loses because there are no groups: of a column's values, or of items."""

from __future__ import annotations

from setveil.hierarchy.alone import are_many
from setveil.report import words
from setveil.report.record import Record
from setveil.tables.levels import GROUPED
from setveil.wording import are, count


def lacking_groups(report: Record) -> str:
    """Say which columns and how many items can only be published as they are or not at all; empty: none."""
    return " ".join(filter(None, (_of_columns(report), _of_items(report))))


def _of_columns(report: Record) -> str:
    table = report.get("table")
    flat = [
        column["name"]
        for column in (table["columns"] if table else ())
        if column.get("levels") == 1 and column["values"] - bool(column["missing"]) >= GROUPED
    ]
    if not flat:
        return ""
    return f"Nothing groups the values of {words.listed(flat)}: each is published as it is or not at all."


def _of_items(report: Record) -> str:
    alone = [branch for branch in report.get("branches") or () if branch["items"] == 1]
    if not are_many(len(alone), report["input"]["items"]):
        return ""
    gone = sum(branch["left_out"] > 0 for branch in alone)
    often = f": {gone:,} of them {are(gone)} left out{' of some rows' * ('table' in report)}" if gone else ""
    return f"{len(alone):,} of {count(report['input']['items'], 'item')} stand alone below the top{often}."
