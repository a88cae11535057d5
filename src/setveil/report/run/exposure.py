"""The part of a run's page about who can still be found: the risk before and after."""

from __future__ import annotations

from typing import Any

from setveil.report import blocks, charts, words
from setveil.report.models import items_known
from setveil.report.run.charts import risk_chart
from setveil.wording import count

_MOST_ITEMS = 10
_INTRODUCTION = (
    "Rows that somebody finds who knows some items of a person, and nothing else: the most telling items of "
    "each row, the worst case, or items picked at random."
)
_PUBLIC_ONLY = " Private and sensitive items count as unknown."


def exposure(report: dict[str, Any]) -> str:
    """Show the risk before and after as a section; nothing where it was not measured."""
    before, after = sides(report)
    if not before or not after:
        return ""
    public_only = _PUBLIC_ONLY if inferences(before) else ""
    return blocks.section(
        "Who can be found, before and after",
        blocks.paragraph(_INTRODUCTION + public_only),
        _chart(report, before, after),
        blocks.points(_sentences(report, before, after)),
        _inference(before, after),
        _revealing(before),
    )


def sides(report: dict[str, Any]) -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
    """Return the risk before and after, None where it is missing."""
    risk = report.get("risk") or {}
    return risk.get("before"), risk.get("after")


def entry_of(result: dict[str, Any], m: int, choice: str) -> dict[str, Any] | None:
    """Find what was counted for m known items."""
    return next((e for e in result["risk"] if e["m"] == m and e["choice"] == choice), None)


def telling_size(report: dict[str, Any]) -> int | None:
    """Choose the number of known items to speak of: that of the promise, or the nearest that was measured."""
    before, after = sides(report)
    if not before or not after:
        return None
    sizes: set[int] = {e["m"] for e in before["risk"]} & {e["m"] for e in after["risk"]}
    known = items_known(report["guarantee"])
    if not sizes:
        return None
    return max(sizes) if known is None else min(sizes, key=lambda m: (abs(m - known), m))


def _chart(report: dict[str, Any], before: dict[str, Any], after: dict[str, Any]) -> str:
    if telling_size(report) is None:
        return ""
    notes = ["Rows whose most telling items are found together in so few rows, in per cent of all rows."]
    guarantee, known = report["guarantee"], items_known(report["guarantee"])
    if known is not None and "k" in guarantee and "itemsets" not in guarantee:
        notes.append(
            f"Promised is 0 % among fewer than {count(guarantee['k'])} for up to "
            f"{count(known, 'known item')}."
        )
    best = [e for result in (before, after) for e in result["risk"] if e["choice"] == "best"]
    if any("interval" in e for e in best):
        notes.append("Some were estimated from a sample; black lines are 95 % intervals.")
    elif not all(e["exact"] for e in best):
        notes.append("Some are not counted to the end and may be higher.")
    caption = " ".join(notes)
    return blocks.figure(charts.inline(risk_chart(before, after), "risk", caption), caption)


def _sentences(
    report: dict[str, Any], before: dict[str, Any], after: dict[str, Any]
) -> list[tuple[str, str]]:
    """Say in words how many rows are found alone, at the size that the promise speaks of."""
    m = telling_size(report)
    out = []
    if m is None:
        return []
    for choice, title in (
        ("best", f"Knowing the most telling {_items(m)} of a row:"),
        ("random", f"Knowing {_items(m)} picked at random:"),
    ):
        then, now = _found(before, m, choice), _found(after, m, choice)
        if then and now:
            out.append((title, f"found alone in the original {then}, in the release {now}."))
    return out


def _items(m: int) -> str:
    return count(m, "item")


def _found(result: dict[str, Any], m: int, choice: str) -> str:
    """Say how many rows are found alone; empty where that was not counted."""
    entry, best = entry_of(result, m, choice), entry_of(result, m, "best")
    if entry is None:
        return ""
    rows, whole = entry["rows_below"]["2"], result["rows"]
    interval = entry.get("interval", {}).get("2")
    if interval is None or (best and best["exact"] and not best["rows_below"]["2"]):
        return words.rows_of(rows, whole)
    low, high = (words.percent(end, whole) for end in interval)
    sure = f"with {words.percent(entry['confidence'])} confidence"
    if not rows:
        return f"no row of a sample (at most {high} of all {sure})"
    return f"about {words.rows_of(rows, whole)}, {low} to {high} {sure}"


def inferences(result: dict[str, Any]) -> list[dict[str, Any]]:
    """List what can be learned about private items, where any was named and occurs."""
    return [e for e in result.get("inference") or [] if e.get("probability") is not None]


def chances(result: dict[str, Any]) -> dict[int, str]:
    """Write the greatest probability of learning a private item, for each number of known items."""
    return {entry["m"]: _chance(entry) for entry in inferences(result)}


def _chance(entry: dict[str, Any]) -> str:
    return f"{'' if entry.get('exact', True) else 'at least '}{words.percent(entry['probability'])}"


def _inference(before: dict[str, Any], after: dict[str, Any]) -> str:
    now = {entry["m"]: entry for entry in inferences(after)}
    lines = [
        (count(entry["m"], "item"), _learned(entry), _learned(now.get(entry["m"])))
        for entry in inferences(before)
    ]
    if not lines:
        return ""
    return blocks.subsection(
        "What can be learned about private items",
        blocks.paragraph(
            "The greatest probability with which some private or sensitive item is learned about somebody, "
            "and one way to learn it."
        ),
        blocks.grid(("Known", "In the original", "In the release"), lines, "14% 43% 43%"),
        blocks.paragraph(_likely(before, after)),
    )


def _learned(entry: dict[str, Any] | None) -> str:
    if entry is None:
        return "none is published"
    chance = _chance(entry)
    if not entry.get("item"):
        return chance
    known = ", ".join(blocks.data(item) for item in entry["itemset"])
    rows = f"{count(entry['support'], 'row')}{' with ' if known else ''}{known}"
    return f"{chance}: {blocks.data(entry['item'])}, of {rows}"


def _likely(before: dict[str, Any], after: dict[str, Any]) -> str:
    then = inferences(before)[-1]
    now = next((e for e in inferences(after) if e["m"] == then["m"]), None)
    if now is None or "0.5" not in then.get("rows_above", {}) or "0.5" not in now.get("rows_above", {}):
        return ""
    return (
        f"Rows for which a private item is more likely than not, knowing {_items(then['m'])}: "
        f"{words.rows_of(then['rows_above']['0.5'], before['rows'])} in the original, "
        f"{words.rows_of(now['rows_above']['0.5'], after['rows'])} in the release."
    )


def _revealing(before: dict[str, Any]) -> str:
    found = before.get("revealing") or {}
    listed, whole = (found.get("items") or [])[:_MOST_ITEMS], before["rows"]
    if not listed:
        return ""
    most = max(line["rows"] for line in listed)
    lines = [
        (
            line["item"],
            [
                count(line["support"]),
                count(round(line["rows"])),
                words.percent(line["rows"], whole),
            ],
            line["rows"] / most if most else 0.0,
        )
        for line in listed
    ]
    known = f"{'up to ' if found['m'] > 1 else ''}{_items(found['m'])}"
    about = (
        f"Rows of the original that knowing {known}, this one among them, narrows down to fewer than "
        f"{count(found['below'])}. Bars: relative to the most."
    )
    return blocks.subsection(
        "Items that gave most away",
        blocks.paragraph(about),
        blocks.table(("Item", "In rows", "Rows found", "Share", ""), lines, "34% 13% 17% 15% 21%"),
    )
