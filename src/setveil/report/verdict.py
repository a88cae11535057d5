"""A verifier's verdict in words."""

from __future__ import annotations

from typing import Any

from setveil.report.models import words_for
from setveil.report.words import clip
from setveil.wording import count


def verdict_text(verdict: dict[str, Any], phrase: str, show: int = 10) -> str:
    """Say whether the guarantee holds, what breaks it, and what does hold.

    Parameters
    ----------
    verdict : dict
        What the verifier found, as JSON types.
    phrase : str
        Name of the guarantee with its parameters.
    show : int
        How many violations to list.
    """
    words = words_for(verdict)
    lines = [f"Yes: {phrase} holds." if verdict["holds"] else f"No: {phrase} does not hold."]
    if not verdict["holds"]:
        lines.append(f"{words.broken(verdict)}:")
        lines += [f"  {clip(words.violation(entry), 120)}" for entry in verdict["first"][:show]]
        more = verdict["violations"] - min(show, len(verdict["first"]))
        if more:
            lines.append(f"  and {'' if verdict.get('complete', True) else 'at least '}{count(more)} more")
    return "\n".join(lines + words.beyond(verdict))
