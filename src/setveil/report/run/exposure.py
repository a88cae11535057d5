"""The part of a run's page about who can still be found: the risk before and after."""

from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any

from setveil.base.wording import count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.models import items_known, with_columns, words_for
from setveil.report.record import Attack, GuaranteeEntry, InferenceEntry, LearnedEntry, Record, Risk
from setveil.report.run.names import shown

_MOST_ITEMS, _MOST_SENSITIVE = 10, 30
_INTRODUCTION = (
    "Rows that match someone if only {known} are known: the most identifying items of each "
    "row, the worst case, or items picked at random."
)
_PUBLIC_ONLY = " Private and sensitive items count as unknown."
_WATCHED = (
    " The guarantee does not cover the sensitive items that were named: they are only reported, and count "
    "as unknown."
)
_SIDES = ("In the original", "In the release")


class _Way(LearnedEntry):
    """The most revealing set for one item, and whether the count was finished."""

    exact: bool


def exposure(report: Record) -> blocks.Section | None:
    """Show the risk before and after as a section; nothing where it was not measured."""
    before, after = sides(report)
    if not before or not after:
        return None
    public_only = _PUBLIC_ONLY if inferences(before) and not report.get("watched") else ""
    learned = inferences(before)
    inside = ["Rows that known items single out", "the chances of three attackers"]
    inside += ["what is learned of private items"] if learned else []
    inside += ["the most revealing items"] if before.get("revealing") else []
    introduction = words.spoken(report, _INTRODUCTION).format(known=_known(report, before))
    return blocks.fold(
        "Risk before and after",
        words.spoken(report, f"{', '.join(inside)}."),
        blocks.paragraph(introduction + public_only),
        blocks.points(_sentences(report, before, after)),
        _chart(report, before, after),
        _attackers(report, before, after),
        _inference(report, before, after),
        _each(report, before, after),
        _revealing(report, before),
    )


def still_found(report: Record) -> str:
    """Count the unique rows, before and after; nothing where it was not measured."""
    lines = found_alone(report)
    if not lines:
        return ""
    return blocks.section(
        "People still at risk",
        blocks.paragraph(f"Rows that are unique to someone who knows {what_is_known(report)}:"),
        blocks.grid(
            (f"{words.unit(report).capitalize()}s known", "Before", "After", "Guaranteed"),
            lines,
            "31% 21% 21% 27%",
            numbers=True,
        ),
    )


def found_alone(report: Record) -> list[tuple[str, str, str, str]]:
    """List the rows unique by 1, 2, ... items: before, after, and whether the guarantee covers that case."""
    known = items_known(report["guarantee"]) if _of_all_items(report["guarantee"]) else 0
    return [
        (
            _items(report, entry["m"]) if entry["m"] else "none",
            _alone(entry),
            _alone(now),
            "yes" if known is None or entry["m"] <= known else "no",
        )
        for entry, now in _both_sides(report)
    ]


def alone_bars(report: Record) -> list[tuple[str, list[tuple[str, float]]]]:
    """List the rows unique by 1, 2, ... items, before and after: in words, and relative to the most."""
    both = _both_sides(report)
    most = max((one["rows_below"]["2"] for pair in both for one in pair), default=0) or 1
    return [
        (
            _items(report, pair[0]["m"]) if pair[0]["m"] else "nothing",
            [(_alone(one), one["rows_below"]["2"] / most) for one in pair],
        )
        for pair in both
    ]


def _both_sides(report: Record) -> list[tuple[Attack, Attack]]:
    """Pair what the most identifying items find before and after, by their number."""
    before, after = sides(report)
    if not before or not after:
        return []
    pairs = [(e, entry_of(after, e["m"], "best")) for e in before["risk"] if e["choice"] == "best"]
    return [(then, now) for then, now in pairs if now is not None]


def what_is_known(report: Record) -> str:
    """Say what those know who find rows alone."""
    items = f"a person's most identifying {words.unit(report)}s"
    return with_columns(report["guarantee"], items, "all")


def _of_all_items(guarantee: GuaranteeEntry) -> bool:
    """Return whether a guarantee of k rows holds for whichever items of a person are known."""
    return guarantee.get("k", 1) > 1 and "itemsets" not in guarantee and "greatest_k" in guarantee


def _alone(found: Attack) -> str:
    return f"{'' if found['exact'] else 'about '}{count(round(found['rows_below']['2']))}"


def sides(report: Record) -> tuple[Risk | None, Risk | None]:
    """Return the risk before and after, None where it is missing."""
    risk = report.get("risk")
    return (risk.get("before"), risk.get("after")) if risk else (None, None)


def entry_of(result: Risk, m: int, choice: str) -> Attack | None:
    """Find what was counted for m known items."""
    return next((e for e in result["risk"] if e["m"] == m and e["choice"] == choice), None)


def telling_size(report: Record) -> int | None:
    """Choose the number of known items to report: that of the guarantee, or the nearest measured one."""
    before, after = sides(report)
    if not before or not after:
        return None
    sizes: set[int] = {e["m"] for e in before["risk"]} & {e["m"] for e in after["risk"]}
    known = items_known(report["guarantee"])
    if not sizes:
        return None
    return max(sizes) if known is None else min(sizes, key=lambda m: (abs(m - known), m))


def identifying(m: int, report: Mapping[str, Any]) -> str:
    """Name what an attacker knows in the worst case: the items, of a table all quasi-identifiers as well."""
    unit = words.unit(report)
    items = f"most identifying {unit}" if m == 1 else f"{count(m)} most identifying {unit}s"
    columns = words_for(report["guarantee"]).known_in_all
    if not columns:
        return items
    return f"{columns} and the {items}" if m else columns


def _known(report: Record, result: Risk) -> str:
    """Say what kind of thing is known of someone."""
    some = f"some {words.unit(report)}s"
    if "columns" not in result:
        return some
    names = words.and_list([html.escape(name) for name in result["columns"]])
    return f"all quasi-identifiers ({names}) and {some}"


def _chart(report: Record, before: Risk, after: Risk) -> str:
    """Show the rows that the most identifying items single out: numbers with bars, for each size."""
    both = _both_sides(report)
    if not both:
        return ""
    lines: list[list[str]] = []
    for then, now in both:
        lines.append([f"Knowing the {identifying(then['m'], report)} of a row"])
        for threshold in then["rows_below"]:
            cells = [
                _gauge(entry, threshold, result["rows"], look)
                for entry, result, look in ((then, before, blocks.BEFORE), (now, after, blocks.AFTER))
            ]
            lines.append([_shared_by(int(threshold)), *cells])
    return "\n".join(
        [
            blocks.grid(("Rows that are", *_SIDES), lines, "26% 37% 37%"),
            blocks.paragraph(_notes(report, [entry for pair in both for entry in pair]), "small"),
        ]
    )


def _notes(report: Record, best: list[Attack]) -> str:
    guarantee = report["guarantee"]
    notes, known = ["Bars: share of all rows."], items_known(guarantee)
    if known is not None and guarantee.get("k", 1) > 1 and "itemsets" not in guarantee:
        notes.append(
            f"Guaranteed is 0% among fewer than {count(guarantee['k'])} for up to "
            f"{count(known, f'known {words.unit(report)}')}."
        )
    if any("interval" in e for e in best):
        notes.append("Some were estimated from a sample, with 95% intervals.")
    elif not all(e["exact"] for e in best):
        notes.append("Some are not counted to the end and may be higher.")
    return " ".join(notes)


def _gauge(entry: Attack, threshold: str, whole: int, look: tuple[str, str]) -> str:
    rows = entry["rows_below"][threshold]
    text = f"{count(round(rows))} ({words.percent(rows, whole)})"
    low, high = entry.get("interval", {}).get(threshold, (rows, rows))
    if low < high:
        ends = f"{words.percent(low, whole)} to {words.percent(high, whole)}"
        text = f"about {count(round(rows))} ({words.percent(rows, whole)}; {ends})"
    return blocks.gauge(text, rows / whole if whole else 0.0, *look)


def _shared_by(threshold: int) -> str:
    return "unique" if threshold == 2 else f"among fewer than {threshold}"


def _sentences(report: Record, before: Risk, after: Risk) -> list[tuple[str, str]]:
    """Say in words how many rows are unique, at the size that the guarantee speaks of."""
    m = telling_size(report)
    out = []
    if m is None:
        return []
    for choice, title in (
        ("best", f"Unique by the {identifying(m, report)} of a row:"),
        ("random", f"Unique by {_drawn(report, m)} picked at random:"),
    ):
        then, now = _found(before, m, choice), _found(after, m, choice)
        if then and now:
            out.append((title, f"in the original {then}, in the release {now}."))
    return out


def _drawn(report: Record, m: int) -> str:
    return with_columns(report["guarantee"], _items(report, m), "the")


def _items(report: Record, m: int) -> str:
    return count(m, words.unit(report))


def _found(result: Risk, m: int, choice: str) -> str:
    """Say how many rows are unique; empty where that was not counted."""
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


def _attackers(report: Record, before: Risk, after: Risk) -> str:
    """Name the chances of picking the right row as the literature does: prosecutor, journalist, marketer."""
    m = telling_size(report)
    if m is None:
        return ""
    found = [(result, entry_of(result, m, "best")) for result in (before, after)]
    results = [(result, entry) for result, entry in found if entry]
    lines = []
    if all("fewest" in entry for _, entry in results):
        lines += [
            [
                "<b>Prosecutor</b>, who knows that the person is in the data: greatest chance",
                *(_prosecutor(entry) for _, entry in results),
            ],
            [
                "<b>Journalist</b>, who does not know that: greatest chance",
                *(_journalist(entry) for _, entry in results),
            ],
        ]
    lines.append(
        [
            "<b>Marketer</b>, who picks a row for everyone: rows re-identified on average",
            *(_marketer(entry, result["rows"]) for result, entry in results),
        ]
    )
    about = (
        f"Of an attacker who knows the {identifying(m, report)} of each person and picks one of "
        "the rows that fit. The journalist's chance is at most the prosecutor's, and equal to it only if "
        "nobody outside the data fits."
    )
    return blocks.subsection(
        "The chance to pick the right row",
        blocks.paragraph(about),
        blocks.grid(("Attacker", *_SIDES), lines, "44% 28% 28%"),
    )


def _prosecutor(entry: Attack) -> str:
    if entry["fewest"] is None:
        return "nothing is known of anyone"
    return ("" if entry["exact"] else "at least ") + words.one_in(entry["fewest"])


def _journalist(entry: Attack) -> str:
    if entry["fewest"] is None:
        return "nothing is known of anyone"
    return f"at most {words.one_in(entry['fewest'])}" if entry["exact"] else "at most the prosecutor's"


def _marketer(entry: Attack, whole: int) -> str:
    return ("" if entry["exact"] else "about ") + words.rows_of(entry["probability"] * whole, whole)


def inferences(result: Risk) -> list[InferenceEntry]:
    """List what can be learned about private items, where any was named and occurs."""
    return [e for e in result.get("inference") or [] if e.get("probability") is not None]


def chances(result: Risk) -> dict[int, str]:
    """Write the greatest probability of learning a private item, for each number of known items."""
    return {entry["m"]: _chance(entry) for entry in inferences(result)}


def _chance(entry: InferenceEntry | _Way) -> str:
    return f"{'' if entry.get('exact', True) else 'at least '}{words.percent(entry['probability'])}"


def _inference(report: Record, before: Risk, after: Risk) -> str:
    now = {entry["m"]: entry for entry in inferences(after)}
    lines = [
        (_items(report, entry["m"]), _learned(report, entry), _learned(report, now.get(entry["m"])))
        for entry in inferences(before)
    ]
    if not lines:
        return ""
    return blocks.subsection(
        "Inference of private items",
        blocks.paragraph(
            "The greatest probability with which some private or sensitive item is learned about someone, "
            "and one way to learn it." + (_WATCHED if report.get("watched") else "")
        ),
        blocks.grid(("Known", *_SIDES), lines, "14% 43% 43%"),
        blocks.paragraph(_likely(report, before, after)),
    )


def _learned(report: Record, entry: InferenceEntry | None) -> str:
    if entry is None:
        return "none is published"
    if not entry.get("item"):
        return _chance(entry)
    return f"{_chance(entry)}: {shown(report, entry['item'])}, of {_rows_with(report, entry)}"


def _rows_with(report: Record, entry: InferenceEntry | LearnedEntry) -> str:
    known = ", ".join(shown(report, item) for item in entry["itemset"])
    return f"{count(entry['support'], 'row')}{' with ' if known else ''}{known}"


def _each(report: Record, before: Risk, after: Risk) -> str:
    """List what tells most of each sensitive item, at the size that the guarantee speaks of."""
    m = telling_size(report)
    if m is None:
        return ""
    found = then, now = _of_each(before, m), _of_each(after, m)
    items = sorted(then, key=lambda item: -now[item]["probability"] if item in now else 1)
    if len(items) < 2:
        return ""
    lines = [
        (shown(report, item), *(_way(report, of_side.get(item)) for of_side in found))
        for item in items[:_MOST_SENSITIVE]
    ]
    more = len(items) - _MOST_SENSITIVE
    known = f"{'up to ' if m > 1 else ''}{_items(report, m)}"
    return blocks.subsection(
        "Inference of each item",
        blocks.paragraph(
            f"The greatest probability with which someone who knows {known} learns each of them, and one "
            f"way to learn it.{f' And {count(more)} more, with lower probabilities.' if more > 0 else ''}"
        ),
        blocks.grid(("Item", *_SIDES), lines, "24% 38% 38%"),
    )


def _of_each(result: Risk, m: int) -> dict[str, _Way]:
    """Return what tells most of each sensitive item that occurs, by item."""
    entry = next((e for e in inferences(result) if e["m"] == m), None)
    if entry is None:
        return {}
    return {found["item"]: {**found, "exact": entry.get("exact", True)} for found in entry.get("items") or []}


def _way(report: Record, entry: _Way | None) -> str:
    if entry is None:
        return "not under its own name"
    return f"{_chance(entry)}, of {_rows_with(report, entry)}"


def _likely(report: Record, before: Risk, after: Risk) -> str:
    then = inferences(before)[-1]
    now = next((e for e in inferences(after) if e["m"] == then["m"]), None)
    if now is None or "0.5" not in then.get("rows_above", {}) or "0.5" not in now.get("rows_above", {}):
        return ""
    return (
        f"Rows for which a private item is more likely than not, knowing {_items(report, then['m'])}: "
        f"{words.rows_of(then['rows_above']['0.5'], before['rows'])} in the original, "
        f"{words.rows_of(now['rows_above']['0.5'], after['rows'])} in the release."
    )


def _revealing(report: Record, before: Risk) -> str:
    found, whole = before.get("revealing"), before["rows"]
    if not found or not found["items"]:
        return ""
    listed = found["items"][:_MOST_ITEMS]
    most = max(line["rows"] for line in listed)
    lines = [
        (
            shown(report, line["item"]),
            [
                count(line["support"]),
                count(round(line["rows"])),
                words.percent(line["rows"], whole),
            ],
            line["rows"] / most if most else 0.0,
        )
        for line in listed
    ]
    known = f"{'up to ' if found['m'] > 1 else ''}{_items(report, found['m'])}"
    if "columns" in before:
        known = f"all quasi-identifiers and {known}"
    about = (
        f"Rows of the original that knowing {known}, this one among them, narrows down to fewer than "
        f"{count(found['below'])}. Bars: relative to the most."
    )
    return blocks.subsection(
        words.spoken(report, "Most revealing items"),
        blocks.paragraph(about),
        blocks.table(
            (words.spoken(report, "Item"), "In rows", "Rows found", "Share", ""), lines, "34% 13% 17% 15% 21%"
        ),
    )
