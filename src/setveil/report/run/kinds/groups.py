"""Rows in groups: other items row by row, of each sensitive item only in how many rows of a group it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.base.wording import are, count
from setveil.judges.utility import Measure, Utility
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run.kinds import (
    ROUGHLY,
    UNUSABLE,
    USABLE,
    Labels,
    Points,
    ReportKind,
    SharedRecord,
    Shares,
    Use,
    listed_numbers,
)

_CLOSE, _FAR = 0.1, 1.0  # KL up to which estimates are close to the truth, and from which on far off


class GroupsReport(ReportKind):
    """Rows in groups."""

    recoding = "grouped"
    published = ("groups.csv",)
    term = (
        "Group:",
        "rows that are published together: their other items row by row, of each sensitive item only in how "
        "many of them it is.",
    )

    row_heads = ("Group", "of its rows have")

    def row_cells(self, after: Mapping[str, Any]) -> list[str]:
        of_group = listed_numbers(after["shared"]) or "none a sensitive item"
        return [f"{after['group']} ({count(after['size'], 'row')})", of_group]

    def loss(self, report: Record) -> str:
        counted, whole = report["utility"]["sensitive_occurrences"], report["input"]["occurrences"]
        return (
            f"{count(counted)} of {count(whole, 'item occurrence')} "
            f"({words.percent(counted, whole)}) {are(counted)} published as counts of groups, not in "
            "rows; all others are published as they were."
        )

    def kept(self, report: Record) -> str:
        counted, whole = report["utility"]["sensitive_occurrences"], report["input"]["occurrences"]
        items = words.items_word(report)
        if not whole:
            return f"There are no {items}."
        unchanged, sensitive = words.percent(whole - counted, whole), words.percent(counted, whole)
        return (
            f"{unchanged} of {items} are unchanged; {sensitive}, the sensitive ones, are only counted in "
            "each group."
        )

    def shares(self, report: Record) -> Shares:
        utility = report["utility"]
        return [
            (blocks.UNCHANGED, "published unchanged", utility["unchanged_occurrences"]),
            (blocks.GENERALIZED, "as counts of groups", utility["sensitive_occurrences"]),
        ]

    def items(self, report: Record) -> str:
        utility = report["utility"]
        kept = f"{count(utility['unchanged_items'])} of {count(report['input']['items'])}"
        return f"{kept} unchanged, {count(utility['sensitive_items'])} sensitive."

    def item_tiles(self, report: Record) -> Points:
        utility = report["utility"]
        kept = f"{count(utility['unchanged_items'])} of {count(report['input']['items'])}"
        sensitive = count(utility["sensitive_items"])
        return [(kept, f"items published as they were; {sensitive} sensitive")]

    def figures(self, report: Record, *, brief: bool = False) -> list[tuple[str, str, str]]:
        """List the measures, after the number of groups."""
        sizes, found = report["utility"]["group_sizes"], super().figures(report, brief=brief)
        if not sizes["groups"]:
            return found
        smallest, largest = count(sizes["smallest"]), count(sizes["largest"], "row")
        spread = f"of {smallest} to {largest}, median {sizes['median']:g}"
        return [("Groups", count(sizes["groups"]), spread), *found]

    def meaning(self, one: Measure, report: Record) -> str:
        """Say what a measure is; of KL, what was asked."""
        if one.name != "kl":
            return one.meaning
        kl = report["utility"]["kl"]
        queries = count(kl["queries"], "query", "queries")
        return f"{one.meaning}, {queries} by {count(kl['group_by'], 'other item')}"

    def countable(self, report: Record) -> Points:
        kl = report["utility"].get("kl")
        if not kl or not kl["queries"]:
            return []
        return [
            ("Other items:", "published row by row as they were, so every count of them is exact."),
            (
                "Sensitive items together with others:",
                "only estimated, from the counts of the groups. How the estimates differ from the truth is "
                f"measured by KL, {words.measure(kl['mean'])} on average (0: they do not).",
            ),
        ]

    def uses(self, report: Record) -> list[Use]:
        """Say what the release can be used for, from KL."""
        found: list[Use] = [
            (USABLE, "exact counts of all items that are not sensitive"),
            (USABLE, "how many rows contain a sensitive item"),
        ]
        kl = report["utility"].get("kl")
        if kl and kl["queries"]:
            fit = USABLE if kl["mean"] <= _CLOSE else ROUGHLY if kl["mean"] < _FAR else UNUSABLE
            found.append((fit, "sensitive items together with others"))
        return found

    tells_shares = False

    def measured(self, utility: Utility, _labels: Labels, _rows: dict[str, int]) -> list[str]:
        """Say how many groups there are, and how large."""
        sizes = utility["group_sizes"]
        lines = [f"groups                 {count(sizes['groups'])}"]
        if sizes["groups"]:
            reach = f"{count(sizes['smallest'])} to {count(sizes['largest'])}"
            middle = f"median {sizes['median']:g}, mean {sizes['mean']:.4g}"
            lines.append(f"group sizes            {reach}, {middle}")
        return lines

    def contents(self, record: SharedRecord) -> Points:
        """Say what is published row by row, and in how many groups."""
        names = count(record["published"]["items"])
        return [
            ("Different items", f"{names}, except those counted in <code>groups.csv</code>"),
            ("Groups", count(record["guarantee"]["groups"])),
        ]

    def countable_outside(self, _record: SharedRecord) -> Points:
        text = "published row by row; every count of them is exact."
        return [("Items that are not sensitive:", text)]


KINDS = (GroupsReport(),)
