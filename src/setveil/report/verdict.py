"""A verifier's verdict in words."""

from __future__ import annotations

from typing import Any

from setveil.report.words import clip, count


def verdict_text(verdict: dict[str, Any], show: int = 10) -> str:
    """Say whether the guarantee holds, what breaks it, and what does hold.

    Parameters
    ----------
    verdict : dict
        What the verifier found, as JSON types.
    show : int
        How many violations to list.
    """
    k, m = verdict["k"], verdict["m"]
    name = f"{k}^{'∞' if m == 'inf' else m}-anonymity"
    lines = [f"yes: {name} holds." if verdict["holds"] else f"NO: {name} does not hold."]
    if not verdict["holds"]:
        atleast = "" if verdict["complete"] else "at least "
        known = "any number of items" if m == "inf" else f"at most {count(m, 'item')}"
        lines.append(
            f"{atleast}{count(verdict['violations'], 'set')} of {known} in fewer than {count(k, 'row')}:"
        )
        lines += [
            f"  support {entry['support']}: {clip(', '.join(entry['itemset']), 100)}"
            for entry in verdict["first"][:show]
        ]
        more = verdict["violations"] - min(show, len(verdict["first"]))
        if more:
            lines.append(f"  and {atleast}{count(more)} more")
    greatest_k = verdict["greatest_k"]
    if greatest_k is None:
        lines.append("No row holds an item: every k and m hold.")
        return "\n".join(lines)
    if greatest_k >= 2:
        stopped = "" if verdict["complete"] or verdict["holds"] else " or less (counting was stopped)"
        lines.append(f"greatest k at m = {m}: {greatest_k}{stopped}")
    else:
        lines.append(f"greatest k at m = {m}: none (a set of items belongs to a single row)")
    greatest_m = verdict["greatest_m"]
    open_end = "" if verdict["complete"] or not verdict["holds"] else " or more (the search was stopped)"
    lines.append(f"greatest m at k = {k}: {'none' if greatest_m == 0 else greatest_m}{open_end}")
    return "\n".join(lines)
