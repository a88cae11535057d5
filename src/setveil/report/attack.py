"""Sentences about the results of attacks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.base.wording import count
from setveil.report.words import percent

FAILED = (
    "An attack that fails proves nothing: cleverer ones may succeed. `setveil verify` proves the guarantee; "
    "this tests it."
)
INSIDE = "Keep this internal: it is computed from the original rows."
SUCCESSES = {
    "singling out": "a set of published labels that exactly one person fits",
    "linkability": "two halves of a person's items lead to the same published row",
    "inference": "an item of a person that was not known is guessed",
    "membership": "some published row fits the person",
}


def attack_text(found: Mapping[str, Any]) -> str:
    """Say how often each attack succeeded, and what of it is a leak."""
    rows = found["rows"]
    parts = [
        _headline(found),
        f"{count(rows['published'], 'published row')}; {count(rows['train'], 'person', 'people')} in the "
        f"data, {rows['control']:,} others as control.",
        *(f"Warning: {warning}" for warning in found["warnings"]),
        _table(found),
        _meaning(found),
        _exposed(found["exposed"]),
        f"{FAILED}\n{INSIDE}",
    ]
    return "\n\n".join(part for part in parts if part)


def _headline(found: Mapping[str, Any]) -> str:
    broken = [f"{entry['kind']}{_by(entry['m'])}" for entry in found["attacks"] if entry["leak"]]
    if broken:
        return f"LEAK: {', '.join(broken)}."
    if found["promise"] is None:
        return "No leak found: nothing succeeds more often among people in the data than among others."
    if found["k"] is None:
        return "No leak found, but the guarantee bounds none of these attacks."
    return f"No leak found: nothing succeeds more often than the guarantee (k = {found['k']}) allows."


def _by(m: int | None) -> str:
    return " by the whole row" if m is None else f" by {count(m, 'item')}"


def _table(found: Mapping[str, Any]) -> str:
    lines = [["attack", "known", "attempts", "succeeds", "in control", "risk", "allowed", "verdict"]]
    for entry in found["attacks"]:
        verdict = {True: "LEAK", False: "no leak", None: "not judged"}[entry["leak"]]
        lines.append(
            [
                entry["kind"],
                "whole row" if entry["m"] is None else count(entry["m"], "item"),
                f"{entry['train']['attempts']:,}",
                _rate(entry["train"]),
                _rate(entry["control"]),
                "-" if entry["risk"] is None else f"{100 * entry['risk']:.1f}%",
                "-" if entry["allowed"] is None else percent(entry["allowed"]),
                verdict,
            ]
        )
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    padded = [
        "   ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) for line in lines
    ]
    return "\n".join(f"  {line.rstrip()}" for line in padded)


def _rate(side: Mapping[str, Any]) -> str:
    if side["rate"] is None:
        return "nobody"
    low, high = side["interval"]
    return f"{100 * side['rate']:.1f}% ({100 * low:.1f} to {100 * high:.1f})"


def _meaning(found: Mapping[str, Any]) -> str:
    lines = [f"  {kind:<12}   {words}" for kind, words in SUCCESSES.items()]
    text = "Success means:\n" + "\n".join(lines)
    if found["promise"] is not None:
        text += "\n\nNot judged: no guarantee covers it. Control: inferences about anyone."
    return text


def _exposed(lines: list[dict[str, Any]]) -> str:
    if not lines:
        return ""
    rows = ", ".join(f"{line['row']:,}" for line in lines)
    return f"Most exposed input rows, by number: {rows}."
