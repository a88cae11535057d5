"""Remaining facts: unchanged parts, the orders tried, and each period."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from setveil.base.wording import count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import OfFacts, Order, Record, Timeline

OPEN = (
    (
        "Gaps between more dates.",
        "The number of days between two facts of a person is covered if m is 2 or more. The gaps "
        "between three dates are three facts: beyond m they may single a person out, however dates were "
        "shifted.",
    ),
    (
        "How many facts a row has, and periods without any.",
        "Someone who sees 40 facts of one person knows that they come often. A row also shows periods "
        "without facts.",
    ),
)
"""Limits of the guarantee about facts, in addition to those of every guarantee."""

_COLORS = (blocks.UNCHANGED, "#56b4e9", blocks.GENERALIZED, "#f3c969", "#d9d9d9")
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 760, 200, 52, 24  # of the picture, and of its margins
_NAMED, _ROOM = 10, 46  # periods that are named below it, and the room of a name
_PICTURE = "Occurrences in each period, by what their date became"


def attributes(facts: OfFacts) -> str:
    """Name the parts next to the codes."""
    return words.and_list([part["name"] for part in facts["parts"][1:]]) or "nothing"


def in_words(facts: OfFacts) -> str:
    """Say what the order is that was taken."""
    dropped = f"{attributes(facts)} {'is' if len(facts['parts']) == 2 else 'are'} dropped"
    return {
        "last": f"codes become broader first, and {dropped} last",
        "first": f"{dropped} before codes become broader",
        "lines": f"{dropped} at another depth in each branch of the codes' tree",
    }.get(
        facts["order"]
    ) or f"{dropped} where codes have become as broad as depth {facts['order']} of their tree"


def sections(report: Record) -> list[blocks.Section | None]:
    """Make the sections about facts."""
    facts = report["facts"]
    return [_kept(facts), _orders(facts), *map(_timeline, facts.get("timeline", []))]


def _kept(facts: OfFacts) -> blocks.Section | None:
    lines = [
        (
            blocks.data(name),
            [words.percent(facts["kept"][name]), words.measure(loss)],
            facts["kept"][name],
        )
        for name, loss in facts["by_part"].items()
    ]
    share = ", ".join(
        f"{words.percent(part)} keep {blocks.data(name)}" for name, part in facts["kept"].items()
    )
    return blocks.fold(
        "Parts of facts",
        f"Of all facts {share}; {words.percent(facts['whole'])} keep all.",
        blocks.paragraph(
            "Kept: the share of all occurrences that are published with the finest value of the part. Loss: "
            "the average share of its other values that a value can be mistaken for; 1 where the fact is "
            "suppressed."
        ),
        blocks.table(("Part", "Kept", "Loss by itself", ""), lines, "34% 15% 18% 33%"),
    )


def _orders(facts: OfFacts) -> blocks.Section | None:
    heads, lines = order_table(facts)
    if len(lines) < 2:
        return None
    widths = " ".join(["34%", *[f"{66 / (len(heads) - 1):.1f}%"] * (len(heads) - 1)])
    taken = facts["order"]
    branches = "; ".join(
        f"{blocks.data(one['label'])}: depth {', '.join(map(str, one['depths']))}"
        for one in facts.get("branches", [])
    )
    return blocks.fold(
        "Order of generalization",
        f"{count(len(lines), 'order')} tried; taken: {taken}.",
        blocks.paragraph(
            f"Going up, codes become broader, and {attributes(facts)} can be dropped before or after. "
            f"What comes first decides what survives. Taken: {in_words(facts)}. The loss that was kept low "
            f"is that by {facts['loss']}."
        ),
        blocks.grid([html.escape(head) for head in heads], lines, widths, numbers=True),
        f"<p>Depth at which they are dropped, by branch: {branches}.</p>" if branches else "",
    )


def order_table(facts: OfFacts) -> tuple[list[str], list[list[str]]]:
    """Lay out the orders that were tried: the heads, and a line for each."""
    names = [part["name"] for part in facts["parts"]]
    by_volume = facts["loss"] == "volume"
    heads = ["Order", *([] if by_volume else ["Loss"]), "LM", *(f"keep {name}" for name in names), "Proven"]
    return heads, [
        [
            f"{one['order']}{' (taken)' if one['order'] == facts['order'] else ''}",
            *([] if by_volume else [words.measure(one["loss"])]),
            words.measure(one["lm"]),
            *(words.percent(one["kept"][name]) for name in names),
            _proven(one),
        ]
        for one in facts["orders"]
    ]


def _proven(one: Order) -> str:
    if one.get("proven"):
        return "yes"
    return f"gap {words.percent(one['gap'])}" if "gap" in one else ""


def _timeline(line: Timeline) -> blocks.Section | None:
    levels, periods = line["levels"], line["periods"]
    legend = [(color, text, "") for color, text in zip(colors(line), [*levels, "suppressed"], strict=True)]
    heads = ["Period", *levels, "suppressed"]
    lines = [
        [blocks.data(one["period"]), *map(count, one["published"]), count(one["left_out"])] for one in periods
    ]
    widths = " ".join(["28%", *[f"{72 / (len(heads) - 1):.1f}%"] * (len(heads) - 1)])
    return blocks.fold(
        f"Published periods: {blocks.data(line['name'])}",
        _in_short(line),
        blocks.figure(_drawn(line), "Occurrences of the original in each period, by what their date became."),
        blocks.legend(legend),
        blocks.grid(heads, lines, widths, numbers=True),
    )


def _in_short(line: Timeline) -> str:
    whole = sum(sum(one["published"]) + one["left_out"] for one in line["periods"])
    parts = [
        f"{words.percent(number, whole)} {what}"
        for number, what in zip(sums(line), [*line["levels"], "suppressed"], strict=True)
        if number
    ]
    return f"Of all occurrences {', '.join(parts)}."


def sums(line: Timeline) -> list[int]:
    """Add up over all periods: occurrences at each level, and those suppressed."""
    each = [[*one["published"], one["left_out"]] for one in line["periods"]]
    return [sum(numbers) for numbers in zip(*each, strict=True)]


def colors(line: Timeline) -> list[str]:
    """Choose a colour for each level, the finest first, and for suppressed facts."""
    levels = line["levels"]
    middle = iter(_COLORS[1:-1])
    found = [
        _COLORS[-1] if level == "any" else _COLORS[0] if at == 0 else next(middle, _COLORS[-2])
        for at, level in enumerate(levels)
    ]
    return [*found, blocks.SUPPRESSED]


class Bars(NamedTuple):
    """The layout of a picture: for each period, a bar of the published forms of its facts."""

    most: str  # at the top
    rects: list[tuple[float, float, float, float, str]]  # x, y, width, height, colour
    names: list[tuple[float, str]]  # x, and the period that begins there

    width: int = _WIDTH
    height: int = _HEIGHT
    left: int = _LEFT
    base: int = _HEIGHT - _BOTTOM


def bars(line: Timeline) -> Bars:
    """Lay out a bar for each period."""
    periods, shades = line["periods"], colors(line)
    most = max((sum(one["published"]) + one["left_out"] for one in periods), default=0) or 1
    step = (_WIDTH - _LEFT) / max(len(periods), 1)
    wide = max(step - 2, step * 0.8)
    each = -(-len(periods) // _NAMED)
    found = Bars(count(most), [], [])
    for at, one in enumerate(periods):
        x, y = _LEFT + at * step, float(found.base)
        for number, color in zip([*one["published"], one["left_out"]], shades, strict=True):
            high = number / most * (found.base - 6)
            y -= high
            if number:
                found.rects.append(
                    (round(x + (step - wide) / 2, 2), round(y, 2), round(wide, 2), round(high, 2), color)
                )
        if at % each == 0 and (len(periods) - at) * step >= _ROOM:
            found.names.append((round(x, 2), one["period"]))
    return found


def _drawn(line: Timeline) -> str:
    """Draw a bar for each period."""
    from setveil.report.drawing.plots import element, text_at  # the pages of other runs need no plots

    at = bars(line)
    parts = [
        f'<line x1="{at.left}" x2="{at.width}" y1="{at.base}" y2="{at.base}" stroke="#888888"/>',
        text_at(at.left - 6, 16, at.most, "end"),
        text_at(at.left - 6, at.base, "0", "end"),
        *(
            f'<rect x="{x}" y="{y}" width="{wide}" height="{high}" fill="{color}"/>'
            for x, y, wide, high, color in at.rects
        ),
        *(text_at(x, at.height - 6, name) for x, name in at.names),
    ]
    return element(at.width, at.height, parts, f"{_PICTURE} of {line['name']}")


def summarized(report: Record) -> dict[str, str]:
    """Say in two lines what keeps its finest value, and which orders were tried."""
    facts = report["facts"]
    kept = [f"{words.percent(share)} keep {name}" for name, share in facts["kept"].items()]
    kept.append(f"{words.percent(facts['whole'])} keep all")
    orders = [f"{one['order']} {one['loss']:.4f}" for one in facts["orders"]]
    tried = f"order {facts['order']} (loss by order: {', '.join(orders)})" if len(orders) > 1 else ""
    return {"Kept": f"{', '.join(kept)}.", "Orders": tried}


def parts_kept(report: Record) -> str:
    """Say how many facts keep the finest value of each part."""
    kept = [f"{words.percent(part)} keep {name}" for name, part in report["facts"]["kept"].items()]
    return f"Of all facts {', '.join(kept)}."


def shared(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say what the parts of facts are, from what may be shared."""
    parts: Sequence[Mapping[str, Any]] = facts["facts"]
    texts = []
    for part in parts:
        if part["kind"] == "codes":
            texts.append(blocks.data(part["name"]))
            continue
        level = part["level"]
        finest = f"in bands at {level}" if part["kind"] == "amount" else level
        texts.append(f"{blocks.data(part['name'])} ({html.escape(finest)} at the finest)")
    return [("Parts of a fact", ", ".join(texts))]
