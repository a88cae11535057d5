"""A verifier's verdict in words."""

from __future__ import annotations

from typing import Any

from setveil.base.wording import count
from setveil.judges.guarantees import Facts
from setveil.report.models import words_for
from setveil.report.words import clip


def verdict_text(verdict: Facts, phrase: str, show: int = 10) -> str:
    """Say whether the guarantee holds, what breaks it, and what does hold, from a verdict as JSON types."""
    words = words_for(verdict)
    rows_hold = not verdict["violations"]
    lines = [f"Yes: {phrase} holds." if verdict["holds"] else f"No: {phrase} does not hold."]
    if rows_hold and not verdict["holds"]:
        lines = ["No: the rows satisfy the guarantee, but the counts published with them are wrong."]
    counts = verdict.get("counts")
    if verdict["violations"]:
        lines.append(f"{words.broken(verdict)}:")
        lines += [f"  {clip(words.violation(entry), 120)}" for entry in verdict["first"][:show]]
        more = verdict["violations"] - min(show, len(verdict["first"]))
        if more:
            lines.append(f"  and {'' if verdict.get('complete', True) else 'at least '}{count(more)} more")
    if counts:
        lines += _counts_lines(counts, show)
    return "\n".join(lines + words.beyond(verdict))


def _counts_lines(counts: dict[str, Any], show: int) -> list[str]:
    if counts["holds"]:
        return [f"counts.csv: {count(counts['lines'], 'count')}, which agree with the rows and the guarantee"]
    more = counts["violations"] - min(show, len(counts["first"]))
    return [
        "counts.csv contradicts the published rows, or reveals too much:",
        *(f"  {clip(line, 200)}" for line in counts["first"][:show]),
        *([f"  and {count(more)} more"] if more else []),
    ]
