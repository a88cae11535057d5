"""Noisy counts: items in small blocks, with noise, and rows drawn from them."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from setveil.base.values.numbers import written
from setveil.base.wording import count
from setveil.judges.utility import Utility
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run.kinds import (
    UNUSABLE,
    USABLE,
    Labels,
    Points,
    ReportKind,
    SharedRecord,
    Shares,
    Use,
    by_error,
)

_LINES = {
    "rows": "how many rows there are",
    "items": "which items are most frequent",
    "pairs": "which of these often go together",
    "cells": "how many rows each cell of each block has",
}


def _plain(epsilon: float | str) -> str:
    return written(Fraction(str(epsilon)))


class Blocks(ReportKind):
    """Noisy counts."""

    recoding = "noisy"
    published = "cells.csv", "synthetic.csv"
    term = (
        "Block and cell:",
        "a few items that are counted together; and the rows that contain some of these and not the others.",
    )

    def instead_of_items(self, _after: Mapping[str, Any] | None) -> str:
        return "no row: the published rows are drawn from noisy counts, and are nobody's"

    def loss(self, report: Record) -> str:
        found, whole = report["blocks"], report["input"]["occurrences"]
        occurrences = found["told_occurrences"]
        return (
            f"Only {count(found['items'], 'item')} are published, which are "
            f"{words.percent(occurrences, whole) if whole else 'none'} of all item occurrences; all counts "
            f"have noise: a cell is off by {found['cells_off']:.3g} rows on average."
        )

    def kept(self, report: Record) -> str:
        found, whole = report["blocks"], report["input"]["occurrences"]
        share = words.percent(found["told_occurrences"], whole) if whole else "none"
        return (
            f"No row. Noisy counts of {count(found['items'], 'item')}, which are {share} of all "
            f"{words.items_word(report)}; a count is off by {found['cells_off']:.3g} rows on average."
        )

    def shares(self, report: Record) -> Shares:
        published, whole = report["blocks"]["told_occurrences"], report["input"]["occurrences"]
        return [
            (blocks.GENERALIZED, "of published items, with noise", published),
            (blocks.SUPPRESSED, "of items that are not told", whole - published),
        ]

    def items(self, report: Record) -> str:
        found = report["blocks"]
        return f"{count(found['items'])} in {count(found['blocks'], 'block')}; no other is published."

    def item_tiles(self, report: Record) -> Points:
        found = report["blocks"]
        return [
            (count(found["items"]), "published items"),
            (count(found["blocks"]), "blocks"),
            (count(found["cells"]), "cells, each with noise"),
        ]

    def countable(self, report: Record) -> Points:
        return [
            ("Items in one block:", "by their cells, with noise."),
            ("Items of different blocks:", "estimated as if blocks did not depend on each other."),
            ("Items in no block:", "not at all; their estimate is 0."),
        ]

    def uses(self, report: Record) -> list[Use]:
        """Say what the release can be used for, as far as it was measured."""
        are = report.get("answers", {}).get("are")
        found: list[Use] = [(USABLE, "rows to try programs on: they are nobody's")]
        if are and are["queries"]:
            found.append((by_error(are["median"]), "counts of any pair of items"))
        found.append((UNUSABLE, "items that are in no block"))
        return found

    def instead(self, _report: Record) -> str:
        return "Count items of one block, or spend a larger epsilon."

    def contents(self, record: SharedRecord) -> Points:
        names = count(record["published"]["items"])
        return [("Different items", f"{names}, all under their own names")]

    def countable_outside(self, _record: SharedRecord) -> Points:
        return [("Items:", "with noise, as far as they are in a block.")]

    def measured(self, utility: Utility, _labels: Labels, _rows: dict[str, int]) -> list[str]:
        return []

    def summarized(self, report: Record) -> dict[str, str]:
        found = report["blocks"]
        lines = ", ".join(f"{_plain(one['epsilon'])} for {one['line']}" for one in found["spent"])
        return {
            "Spent": f"{_plain(report['guarantee']['spent'])}: {lines}.",
            "Noise": "drawn again in every run, whatever the seed. Off by "
            f"{count(abs(found['rows_off']), 'row')} in all; only internal files say that.",
        }

    def sections(self, report: Record) -> list[blocks.Section | None]:
        found = report["blocks"]
        lines = [
            [
                _LINES[one["line"]],
                _plain(one["epsilon"]),
                count(one["one_row_changes"]),
                f"{one['scale']:.4g}",
            ]
            for one in found["spent"]
        ]
        return [
            blocks.fold(
                "Epsilon and noise",
                f"{_plain(report['guarantee']['spent'])} spent, on {count(len(lines), 'line')}.",
                blocks.grid(
                    ("Published", "Epsilon", "One row changes it by", "Scale of the noise"),
                    lines,
                    "46% 16% 20% 18%",
                    numbers=True,
                ),
                blocks.paragraph(
                    "The noise is not drawn by the seed: another run on the same data gives other counts, "
                    "and costs as much again. The errors shown here compare the counts "
                    "with the true data, and are internal."
                ),
            )
        ]


KINDS = (Blocks(),)
