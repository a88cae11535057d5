"""Sentences about suppressed sensitive items, and the cost."""

from __future__ import annotations

from setveil.base.wording import count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Confidence, Record
from setveil.report.run.names import shown

MOST_LINES = 20
_NAME = 30  # characters of an item's name in a sentence


def hidden(report: Record) -> str:
    """State how often sensitive items were suppressed; empty where that is not told."""
    numbers = report["algorithm"].get("hidden")
    if numbers is None or "rho" not in report["guarantee"]:  # coherence leaves no sensitive item out
        return ""
    if not numbers:
        return "No occurrence of a sensitive item."
    most = sorted(numbers, key=lambda item: -numbers[item])
    first = words.listed([f"{words.clip(item, _NAME)} {count(numbers[item])}" for item in most])
    return f"{count(sum(numbers.values()), 'occurrence')} of sensitive items ({first})."


def price(report: Record) -> str:
    """State what it cost that nothing sensitive is learned; empty where that is not known."""
    alone, found = report["algorithm"].get("alone"), report.get("optimality")
    if not alone or not found:
        return ""
    loss, least = found["loss"], alone["loss"]
    what = (
        "the same without regard to private items"
        if report["guarantee"]["model"] == "coherence"
        else "k^m-anonymity of the public items alone"
    )
    lost = f"{what} ({words.measure(least)})"
    if loss == least:
        return f"No more loss than {lost}."
    if loss < least:  # which was not found in the time given
        return f"Less loss than was found for {lost}."
    if not least:
        return f"All of the loss: {what} loses nothing."
    # Neither need be the least there is.
    sure = {(True, True): "", (True, False): "At most ", (False, True): "At least "}
    about = sure.get((alone["proven"], found["proven"]), "About ")
    return f"{about}{words.percent(loss / least - 1)} more loss than {lost}."


def hidden_facts(report: Record) -> dict[str, str]:
    """List what a summary says, each with its label."""
    return {"Hidden": hidden(report), "Price": price(report)}


def hidden_items(report: Record) -> str:
    """Show which items were suppressed how often, and how surely it can be learned still, as a subsection."""
    text = hidden(report)
    return blocks.subsection(
        "Cost of protecting sensitive items",
        blocks.paragraph(f"Suppressed: {text}" if text else ""),
        _each(report) if text else "",
        blocks.paragraph(price(report)),
        *(blocks.paragraph(warning) for warning in report["algorithm"].get("warnings") or ()),
    )


def _each(report: Record) -> str:
    numbers = report["algorithm"]["hidden"]
    learned = {found["item"]: found for found in report["guarantee"]["confidences"]}
    items = sorted({*numbers, *learned}, key=lambda item: (-numbers.get(item, 0), item))
    lines = [
        [shown(report, item), count(numbers.get(item, 0)), _chance(learned.get(item))]
        for item in items[:MOST_LINES]
    ]
    rest = len(items) - len(lines)
    more = blocks.paragraph(f"{count(rest)} more in internal/report.json.", "small") if rest else ""
    heads = ("Item", "Occurrences suppressed", "Greatest chance left")
    return blocks.grid(heads, lines, "46% 24% 30%") + more if lines else ""


def _chance(found: Confidence | None) -> str:
    if found is None:
        return "not published"
    return f"{words.percent(found['confidence'])} ({found['sensitive_rows']:,} of {found['support']:,})"
