"""The attacker's view of rows in words."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.wording import count
from setveil.report.record import Attack, InferenceEntry, Risk
from setveil.report.words import and_list, clip, percent, rows_of
from setveil.rows.facts import CODES_ALONE

_MOST_ITEMS, _MOST_PRIVATE = 5, 20
_LABEL = 40
_CHOICES = (
    ("best", "If {}the most identifying items of each row are known (the worst case):"),
    ("random", "If {}items are known that were picked at random (on average):"),
)


def risk_text(sides: Sequence[tuple[str, Risk]]) -> str:
    """Say how many rows an attacker who knows some items of a person finds, and what these reveal.

    `sides`: one answer of `setveil.judges.attacker.attack.attack_risk`, or several with names such as
    "before", all for the same numbers of known items and the same thresholds.
    """
    parts = [_headline(sides)]
    parts += [f"{title}\n{_aligned(lines)}" for title, lines in risk_tables(sides)]
    parts += [_revealing(name if len(sides) > 1 else "", result) for name, result in sides]
    if any("inference" in result for _, result in sides):
        parts += [_learned(sides), _each(sides)]
    parts += [_stranger(name if len(sides) > 1 else "", result) for name, result in sides]
    parts += [_absent(name if len(sides) > 1 else "", result) for name, result in sides]
    parts.append(_distances(sides))
    parts.append(_notes(sides))
    return "\n\n".join(part for part in parts if part)


def risk_tables(sides: Sequence[tuple[str, Risk]]) -> list[tuple[str, list[list[str]]]]:
    """Say how many rows are found as tables, each with its title and a line of headings (see `risk_text`)."""
    besides = columns_known(sides[0][1])
    return [(title.format(besides), _lines(sides, choice)) for choice, title in _CHOICES]


def columns_known(result: Risk) -> str:
    """Say what is known of a table's rows in addition to items, in words before these; else empty."""
    if "columns" not in result:
        return ""
    return f"all quasi-identifiers ({and_list(result['columns'])}) and "


def _headline(sides: Sequence[tuple[str, Risk]]) -> str:
    first = sides[0][1]
    known = [entry["m"] for entry in first["risk"]]
    m = min(known, key=lambda size: abs(size - 2))  # a pair says most to somebody who reads one line
    t = min(first["thresholds"])
    by = "their most identifying item" if m == 1 else f"their {m:,} most identifying items"
    if columns := columns_known(first):
        by = columns + by if m else columns.removesuffix(" and ")
    found = []
    for _, result in sides:
        entry = _entry(result, m, "best")
        about = "" if _is_sure(entry, t) else "about "
        found.append(about + rows_of(entry["rows_below"][str(t)], result["rows"]))
    start = f"Rows {_among(t)} by {by}:"
    if len(sides) == 1:
        return f"{start} {found[0]}."
    return f"{start}\n{_aligned([[name, line] for (name, _), line in zip(sides, found, strict=True)])}"


def _entry(result: Risk, m: int, choice: str) -> Attack:
    return next(e for e in result["risk"] if (e["m"], e["choice"]) == (m, choice))


def _among(t: int) -> str:
    return "unique" if t == 2 else f"among fewer than {t:,}"


def _is_sure(entry: Attack | InferenceEntry, t: object) -> bool:
    low, high = entry.get("interval", {}).get(str(t), (0, 0))
    return low == high


def _lines(sides: Sequence[tuple[str, Risk]], choice: str) -> list[list[str]]:
    thresholds = sides[0][1]["thresholds"]
    lines = [["known", *[_among(t) for t in thresholds], "right guess"]]
    for m in dict.fromkeys(entry["m"] for entry in sides[0][1]["risk"]):
        for i, (name, result) in enumerate(sides):
            entry = _entry(result, m, choice)
            about = "" if entry["exact"] else "about "
            known = "" if i else count(m, "item")
            lines.append(
                [
                    f"{known:<8} {name}" if len(sides) > 1 else known,
                    *[_rows(entry, entry["rows_below"], str(t), result["rows"]) for t in thresholds],
                    about + percent(entry["probability"]),
                ]
            )
    return lines


def _rows(entry: Attack | InferenceEntry, rows: dict[str, float], key: str, whole: int) -> str:
    """Write a number of rows with its share, or with the interval that it is in."""
    number = rows[key]
    if not _is_sure(entry, key):
        low, high = entry["interval"][key]
        return f"about {_rounded(number)} ({count(math.floor(low))} to {count(math.ceil(high))})"
    return f"{_rounded(number)} ({percent(number, whole)})" if number >= 1 else _rounded(number)


def _rounded(number: float) -> str:
    return "under 1" if 0 < number < 1 else count(round(number))


def _aligned(lines: Sequence[Sequence[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join(f"  {line}".rstrip() for line in padded)


def _stranger(name: str, result: Risk) -> str:
    """Say what a match is worth to someone who does not know that the person is in the data."""
    found: Any = dict(result).get("population")  # in no record of a run
    if found is None:
        return ""
    title, lines, note = stranger_table(found)
    return f"{title}{f', {name}' if name else ''}:\n{_aligned(lines)}\n{note}"


def stranger_table(found: Mapping[str, Any]) -> tuple[str, list[list[str]], str]:
    """Say what a match is worth to a stranger as a table: its title, a line of headings and others."""
    if "fraction" in found:
        lines = [["known", "one row alone fits", "it is the right one"]]
        for entry in found["entries"]:
            if entry["estimate"] is None:
                worth = f"no {count(entry['m'], 'item')} fit a single row"
            else:
                low, high = entry["interval"]
                worth = f"about {percent(entry['estimate'])} of the time ({percent(low)} to {percent(high)})"
            alone = _rounded(entry["unique"])
            rows = f"{alone} row{'' if alone in ('1', 'under 1') else 's'}"
            lines.append([count(entry["m"], "item"), rows, worth])
        title = (
            f"If someone looks for a person of the population, and the rows are {percent(found['fraction'])}"
        )
        note = (
            "An estimate, no guarantee: it takes the rows for a simple random sample of the population, "
            "and the person for one drawn at random from it. A hospital's patients are no random sample of a "
            "town."
        )
        return title, lines, note
    fewer = [f"fewer than {int(t):,} rows fit" for t in found["entries"][0]["rows_below"]]
    lines = [["known", *fewer, "fewest", "right guess"]]
    for entry in found["entries"]:
        best = entry["choice"] == "best"
        lines.append(
            [
                f"{count(entry['m'], 'item')}, {'the most identifying' if best else 'at random'}",
                *(_rounded(rows) for rows in entry["rows_below"].values()),
                str(entry["fewest"]) if best else "",
                percent(entry["probability"]),
            ]
        )
    about = (
        ""
        if all(entry["exact"] for entry in found["entries"])
        else " Some rows have too many keys: of these, some were drawn."
    )
    return f"In the population, of {count(found['rows'])} rows", lines, f"A number, no guarantee.{about}"


def _absent(name: str, result: Risk) -> str:
    """Write the numbers of rows found by an attacker who also knows an absent item."""
    if "absence" not in result:
        return ""
    title, lines = absence_table(result)
    return f"{title}{f', {name}' if name else ''}:\n{_aligned(lines)}"


def absence_table(result: Risk) -> tuple[str, list[list[str]]]:
    """Say how many rows an absent item singles out as a table: its title, a line of headings, and others."""
    found: Any = dict(result)["absence"]  # in no record of a run
    means = "an item" if found["absence"] == "items" else "a label"
    lines = [["known", *[_among(t) for t in result["thresholds"]], "fewest"]]
    for entry in found["entries"]:
        below = [f"{count(rows)} ({percent(rows, result['rows'])})" for rows in entry["rows_below"].values()]
        fewest = "nothing can be known" if entry["fewest"] is None else count(entry["fewest"])
        lines.append([_up_to(entry["m"]), *below, fewest])
    return f"If it is also known that the person does not have {means} (both the most identifying)", lines


def _distances(sides: Sequence[tuple[str, Risk]]) -> str:
    """Say how many rows someone finds who knows the days between two facts, but no date."""
    found: list[tuple[str, Any, list[int]]] = [
        (name, dict(result)["distances"], result["thresholds"])
        for name, result in sides
        if "distances" in dict(result)  # in no record of a run
    ]
    if not found:
        return ""
    lines = [["", *[_among(t) for t in found[0][2]]]]
    for name, entry, _ in found:
        below = [f"{count(n)} ({percent(n, entry['looked'])})" for n in entry["rows_below"].values()]
        lines.append([f"{name}, of {count(entry['looked'], 'person', 'people')}", *below])
    title = "If two codes and the days between them are known, but no date (the most identifying):"
    return f"{title}\n{_aligned(lines)}"


def _revealing(name: str, result: Risk) -> str:
    found = result["revealing"]
    if not found["m"]:
        return ""
    fewer = f"fewer than {found['below']:,} rows"
    beside = " or next to one other item" if found["m"] > 1 else ""
    alone = "next to all quasi-identifiers, alone" if "columns" in result else "alone"
    title = (
        f"Items that give most away{f', {name}' if name else ''} (known {alone}{beside}, they lead to "
        f"{fewer}):"
    )
    if not found["items"]:
        return f"{title}\n  none"
    lines = [
        [
            clip(line["item"], _LABEL),
            count(round(line["rows"]), "row"),
            f"of the {count(line['support'])} with it",
        ]
        for line in found["items"][:_MOST_ITEMS]
    ]
    return f"{title}\n{_aligned(lines)}"


def _learned(sides: Sequence[tuple[str, Risk]]) -> str:
    """List the greatest probabilities of private items, and the rows for which they are high."""
    entries = {name: {e["m"]: e for e in result.get("inference", [])} for name, result in sides}
    marks = next(iter(next(e for e in entries.values() if e).values()))["rows_above"]
    ways: list[list[str]] = []
    rows = [["known", *[f"above {percent(float(mark))}" for mark in marks]]]
    for m in dict.fromkeys(m for some in entries.values() for m in some):
        for i, (name, result) in enumerate(sides):
            entry = entries[name].get(m)
            known = "" if i else _up_to(m)
            head = f"{known:<14} {name}" if len(sides) > 1 else known
            if entry is None:
                ways.append([head, "nothing: no sensitive item is there"])
                continue
            ways.append([head, _way(entry)])
            rows.append([head, *[_rows(entry, entry["rows_above"], mark, result["rows"]) for mark in marks]])
    return (
        f"Sensitive items, counted as unknown. The greatest probability with which one is learned:\n"
        f"{_aligned(ways)}\n"
        f"Rows with a sensitive item that can be learned with a probability\n{_aligned(rows)}"
    )


def _each(sides: Sequence[tuple[str, Risk]]) -> str:
    """List the greatest probability of each private item, where there are several: the greatest first."""
    named_sides = [
        (name, {e["m"]: {x["item"]: (e, x["probability"]) for x in e["items"]} for e in result["inference"]})
        for name, result in sides
        if "inference" in result
    ]
    most: dict[str, float] = {}  # before, where an item is there before
    for _, of_side in named_sides:
        of_most = [*of_side.values()][-1]
        most = {item: probability for item, (_, probability) in of_most.items()} | most
    if len(most) < 2:
        return ""
    items = sorted(most, key=lambda item: -most[item])
    ms = list(named_sides[0][1])
    lines = [["item", *([""] if len(sides) > 1 else []), *map(_up_to, ms)]]
    for item in items[:_MOST_PRIVATE]:
        for i, (name, of_side) in enumerate(named_sides):
            cells = [_greatest(of_side[m].get(item)) for m in ms]
            side = [name] if len(sides) > 1 else []
            lines.append(["" if i else clip(item, _LABEL), *side, *cells])
    more = len(items) - _MOST_PRIVATE
    rest = f"\n  and {count(more)} more (--json lists all)" if more > 0 else ""
    return f"The greatest probability of each, by what is known:\n{_aligned(lines)}{rest}"


def _greatest(found: tuple[InferenceEntry, float] | None) -> str:
    if found is None:
        return "not there"
    entry, probability = found
    return ("" if entry["exact"] else "at least ") + percent(probability)


def _up_to(m: int) -> str:
    return f"{'up to ' if m > 1 else ''}{count(m, 'item')}"


def _way(entry: InferenceEntry) -> str:
    least = "" if entry["exact"] else "at least "
    if entry["item"] is None:
        return f"{least}0%: none is there under its own name"
    rows = f"of the {count(entry['support'], 'row')}" if entry["support"] > 1 else "of the only row"
    known = ", ".join(clip(item, _LABEL) for item in entry["itemset"])
    return f"{least}{percent(entry['probability'])}: {clip(entry['item'], _LABEL)}, {rows}" + (
        f" with {known}" if known else ", knowing nothing"
    )


def _notes(sides: Sequence[tuple[str, Risk]]) -> str:
    lines = []
    if any(name == CODES_ALONE for name, _ in sides):
        lines.append(f"An item is a fact here, and a code in the lines {CODES_ALONE}.")
    for name, result in sides:
        if empty := result["empty_rows"]:
            where = f", {name}" if len(sides) > 1 else ""
            if "columns" in result:
                what, how = "Without items", "where only the quasi-identifiers can be known"
            else:
                what = "Without anything that can be known"
                how = "where only absent items can be known" if "absence" in result else "never found"
            lines.append(f"{what}{where}: {count(empty, 'row')}, {how}.")
    every = [e for _, result in sides for e in (*result["risk"], *result.get("inference", []))]
    drawn = next((e for e in every if not e["exact"]), None)
    if drawn:
        lines.append(
            "about: estimated from rows drawn at random; the true number is in the interval with "
            f"{percent(drawn['confidence'])} confidence. More --effort counts more exactly."
        )
    lines.append("right guess: the chance to pick the person's row among those that fit, on average.")
    return "\n".join(lines)
