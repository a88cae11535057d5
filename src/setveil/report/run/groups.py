"""The loss of a release without groups: of a column's values, or of items."""

from __future__ import annotations

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.record import Record

_VALUES = 3  # of a column, of which some can be told apart from all of them by a group
_ITEMS, _SHARE = 3, 10  # so many that stand alone, and every tenth, are said


def lacking_groups(report: Record) -> str:
    """Say which columns and how many items can only be published as they are or not at all; empty: none."""
    return " ".join(filter(None, (_of_columns(report), _of_items(report))))


def _of_columns(report: Record) -> str:
    table = report.get("table")
    flat = [
        column["name"]
        for column in (table["columns"] if table else ())
        if column.get("levels") == 1 and column["values"] - bool(column["missing"]) >= _VALUES
    ]
    if not flat:
        return ""
    return f"Nothing groups the values of {words.listed(flat)}: each is published as it is or not at all."


def _of_items(report: Record) -> str:
    guarantee = report["guarantee"]
    secret = {
        *guarantee.get("sensitive", ()),
        *guarantee.get("private", ()),
    }  # no group would be used for them
    occurring = [
        branch for branch in report.get("branches") or () if branch["items"] == 1 and branch["occurrences"]
    ]
    alone = [branch for branch in occurring if branch["label"] not in secret]
    if len(alone) < _ITEMS or len(alone) * _SHARE < report["input"]["items"]:
        return ""
    gone = sum(branch["left_out"] > 0 for branch in alone)
    often = (
        f": {gone:,} of them {are(gone)} suppressed{' of some rows' * ('table' in report)}" if gone else ""
    )
    besides = ", except sensitive ones" if len(alone) < len(occurring) else ""
    of = count(report["input"]["items"], "item")
    return f"{len(alone):,} of {of} are alone below the top{besides}{often}."
