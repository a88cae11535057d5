"""The cost of each way to publish the next release of a series: a picture with figures, and a page."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.report.drawing import blocks
from setveil.report.series import Entry as Plan
from setveil.report.series import advice_words, people_words, way_cells, way_name

TITLE = "Cost of publishing again"
WAYS = {  # what goes out
    "register": "everyone so far, with all items so far, under labels for these rows. Nobody may leave.",
    "append": "the new rows alone, with earlier releases unchanged; only people who would be "
    "exposed under any labels are withheld.",
    "hold back: found": "the new rows under their own best labels, without the people whom these expose.",
    "hold back: returners": "only people of the new rows who are in no earlier release.",
    "planned": "several unpublished releases, under labels that are chosen together.",
}
_HEADS = (
    "Way",
    "LM",
    "Suppressed",
    "Unchanged",
    "Withheld",
    "Below k before",
    "After",
    "Proven",
    "LM as a bar",
)
_WIDTHS = "20% 9% 9% 9% 10% 13% 7% 9% 14%"


def plan_html(plan: Plan) -> str:
    """Make the self-contained page of a plan; it is internal, as it counts who is in several releases."""
    advice = advice_words(plan)
    parts = [
        f"<h1>{TITLE}</h1>",
        f'<p class="of">{html.escape(people_words(plan))}</p>',
        f'<div class="verdict holds"><strong>{html.escape(advice)}</strong></div>' if advice else "",
        picture(plan["ways"]),
        blocks.paragraph("Nothing was written. `setveil series add` publishes in the way you choose."),
    ]
    return blocks.page(TITLE, "\n".join(part for part in parts if part))


def picture(ways: Sequence[Mapping[str, Any]]) -> str:
    """Draw the loss of each way as a bar, next to its figures, and say what the ways are."""
    most = max((one["lm"] for one in ways if "lm" in one), default=0.0)
    lines = [
        (html.escape(way_name(one)), way_cells(one), one.get("lm", 0.0) / most if most else 0.0)
        for one in ways
    ]
    notes = [(html.escape(f"{way_name(one)}:"), html.escape(one["why"])) for one in ways if "why" in one]
    there = {one["way"] for one in ways}
    meant = [
        (f"{way[:1].upper()}{way[1:]}:", html.escape(text)) for way, text in WAYS.items() if way in there
    ]
    return "\n".join(
        [
            blocks.table(_HEADS, lines, _WIDTHS),
            *([blocks.points(notes)] if notes else []),
            blocks.points(meant),
            blocks.paragraph(
                "LM: the share of the other items that an item can be mistaken for; 1: nothing is left. "
                "Below k before: people with fewer than k matches in all releases together, if these rows "
                "had their own best labels.",
                "small",
            ),
        ]
    )
