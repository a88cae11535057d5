"""Check, using only published files, that counts of facts are possible for the boxes, under the guarantee.

A fact is an item and a box its label, but a box also has facts that no line names: only their number counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from setveil.base.errors import shorten
from setveil.judges.guarantees.verify.counts import CountsFile, CountsVerdict, check_counts
from setveil.releases.published.boxes import Boxes
from setveil.rows.data.sums import Sums

_FIRST_LINE = 2


def check_fact_counts(
    published: Sums,
    boxes: Boxes,
    lines: Sequence[tuple[str, str, int]],
    least: int,
    suppressed: bool,
    k: int,
    *,
    domain: int | None = None,
    show: int = 10,
) -> CountsVerdict:
    """Check counts of facts, (fact, box or "" if suppressed, rows), each of at least `least` rows."""
    problems = []
    inside: dict[int, dict[str, None]] = {}
    for number, (text, _, _) in enumerate(lines, _FIRST_LINE):
        fact = boxes.fact(text)
        if fact is None:
            problems.append(f"line {number}: {shorten(text)} is no fact, expected {boxes.expected}")
        elif (at := boxes.around(fact)) >= 0:
            inside.setdefault(at, {})[text] = None
    broad = {boxes.text(box): at for at, box in enumerate(boxes.boxes) if boxes.fact(boxes.text(box)) is None}
    file = CountsFile(
        lines, least, suppressed, {label: list(inside.get(at, ())) for label, at in broad.items()}, False,
        domain, {label: boxes.size(boxes.boxes[at]) for label, at in broad.items()},
        [label for label, at in broad.items() if boxes.has_others(boxes.boxes[at])],
    )  # fmt: skip
    found = check_counts(published, file, k, show=show)
    first = (*problems, *found.first)[:show]
    return replace(found, violations=found.violations + len(problems), first=first)
