"""What is recommended, and the table behind it, as plain text."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from setveil.report import words
from setveil.utility import named

_HEADS = ("", "method", "loss", "query error", "itemsets kept", "left out", "found alone", "time")


def advice_text(
    by: str, rows: list[dict[str, Any]], data: str, hierarchy: Path | None, private: str | None
) -> str:
    """Say which release loses least, how to make it, and what else was tried.

    Parameters
    ----------
    by : str
        `lm` or `are_mean`, what decided.
    rows : list of dict
        The candidates, best first (see `setveil.studies.recommend.Advice`).
    data, hierarchy, private
        As they were given, for the command that makes the release; no hierarchy where its algorithm needs
        none.

    Returns
    -------
    str
        A sentence, a command, a table and what its columns mean.
    """
    best = next((row for row in rows if row["rank"] == 1), None)
    lines = []
    if best is None:
        lines.append("Nothing that was tried keeps the promise in the time given.")
    else:
        lines += [
            _winner(best, by),
            f"It keeps {best['keeps']}, checked on the rows that it would publish. To make it:",
            f"\n    {command(best, data, hierarchy, private)}\n",
        ]
    cells = [_HEADS, *(_cells(row, by) for row in rows)]
    widths = [max(len(line[i]) for line in cells) for i in range(len(_HEADS))]
    for line in cells:
        text = "  ".join(
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        lines.append(text.rstrip())
    lines += ["", *_notes(rows, by)]
    return "\n".join(lines)


def command(row: dict[str, Any], data: str, hierarchy: Path | None, private: str | None) -> str:
    """Write the command that makes a candidate's release."""
    options = dict(row["options"])
    parts = ["setveil", "anonymize", data, "--algorithm", row["algorithm"]]
    if hierarchy is not None:
        parts += ["--hierarchy", str(hierarchy)]
    if options.pop("suppress", None) == "False":
        parts.append("--no-suppress")
    for name in ("private", "sensitive"):
        if options.pop(name, None) is not None:
            parts += [f"--{name}", str(private)]
    for name, value in options.items():
        parts += [f"--{name.replace('_', '-')}", value]
    return shlex.join([*parts, "--out", "DIR"])


def _name(row: dict[str, Any]) -> str:
    return "exact without suppression" if row["options"].get("suppress") == "False" else str(row["algorithm"])


def _winner(best: dict[str, Any], by: str) -> str:
    if by == "lm":
        return f"{_name(best)} loses least: LM {words.measure(best['loss'])}, {named(by).meaning}."
    return f"{_name(best)} loses least: it answers your queries {words.percent(best['loss'])} off on average."


def _cells(row: dict[str, Any], by: str) -> tuple[str, ...]:
    place = f"{row['rank']}." if row["rank"] else "-"
    if row["status"] != "done":
        return (place, _name(row), *[""] * 5, row["status"])
    lost = row["loss"] if by == "lm" else row.get("lm")
    frequent = row.get("itemsets_frequent")
    return (
        place,
        _name(row),
        "" if lost is None else words.measure(lost),
        "" if row.get("are_mean") is None else words.percent(row["are_mean"]),
        "" if not frequent else words.percent(row["itemsets_kept"] or 0, frequent),
        ""
        if row.get("suppressed_occurrences") is None
        else words.percent(row["suppressed_occurrences"], row["occurrences"]),
        "" if row.get("risk_below_2") is None else words.percent(row["risk_below_2"], row["rows"]),
        f"{row['seconds']:.1f} s",
    )


def _notes(rows: list[dict[str, Any]], by: str) -> list[str]:
    known = next((row["risk_m"] for row in rows if row.get("risk_m")), None)
    queries = "your queries" if by == "are_mean" else "1,000 random queries for two items"
    lines = [
        "loss: LM, from 0 (all items as they were) to 1 (nothing left). query error: mean relative error of",
        f"{queries}. itemsets kept: of those in 1 % of the rows, up to three items. left out:",
        "suppressed occurrences.",
    ]
    if known:
        lines[-1] += f" found alone: rows that {known} well-chosen items single out."
    lines += [
        f"{_name(row)}: {row['keeps']}." for row in rows if row["rank"] is None and row["status"] == "done"
    ]
    if any(row["algorithm"] == "coat" and row["rank"] for row in rows):
        lines.append("coat: merges any items, whatever they mean; --utility names those that may be merged.")
    stronger = [row for row in rows if row["rank"] and "more than asked" in row["keeps"]]
    lines += [f"{_name(row)}: {row['keeps']}." for row in stronger]
    lines += [f"{_name(row)}, {row['status']}: {row['error']}" for row in rows if row["status"] != "done"]
    return lines
