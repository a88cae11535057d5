"""What is recommended, and the table behind it: in words, and as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setveil.report import words
from setveil.utility import named
from setveil.wording import count

Row = dict[str, Any]

HEADS = ("method", "loss", "query error", "itemsets kept", "left out", "unique rows", "time")


def advice_text(advice: dict[str, Any]) -> str:
    """Say which release loses least, how to make it, and what else was tried.

    Parameters
    ----------
    advice : dict
        What ``recommend --json`` prints.

    Returns
    -------
    str
        Sentences, a command, a table and what its columns mean.
    """
    best = advice["best"]
    lines = [headline(advice)]
    if best is not None:
        weighed = weighing(advice)
        lines += [text for text in (weighed, answering(advice)) if text]
        lines += [f"It keeps {best['keeps']}, checked on the rows that it would publish. To make it:"]
        lines += [f"\n    {best['command']}\n"]
    lines += _table(advice)
    lines += ["", *columns_explained(advice), *notes(advice)]
    return "\n".join(lines)


def headline(advice: dict[str, Any]) -> str:
    """Say which release loses least."""
    best, along = advice["best"], " along the hierarchy" if advice["hierarchy"] else ""
    if best is None:
        return f"Nothing that was tried keeps the promise{along} in the time given."
    if advice["by"] == "lm":
        return f"{best['name']} loses least of what was tried{along}: LM {words.measure(best['loss'])}."
    error = words.error(best["loss"])
    return f"{best['name']} answers your queries best of what was tried{along}: {error} off on average."


def weighing(advice: dict[str, Any]) -> str:
    """Weigh what the best release leaves at risk beyond the promise; empty where it is not known."""
    best, safer = advice["best"], advice["safer"]
    known = advice["known"]
    if best is None or best.get("risk_below_2") is None:
        return ""
    who = f"someone who knows {count(known, 'item')}"
    if not best["risk_below_2"]:
        return f"No row is unique even to {who}."
    text = f"But it leaves {_unique(best)} of the rows unique to {who}, one more than the promise covers"
    if safer is None:
        return f"{text}."
    more = safer["loss"] - best["loss"]
    if advice["by"] == "lm":
        greater = f"a loss only {words.measure(float(f'{more:.2g}'))} greater" if more else "the same loss"
    else:
        greater = f"an error only {words.percent(more)} greater" if more else "the same error"
    return f"{text}; {safer['name']} leaves {_unique(safer)} at {greater}."


def answering(advice: dict[str, Any]) -> str:
    """Name the release that answers queries best, where it is not the best one; else empty."""
    best, other = advice["best"], advice.get("answering")
    if best is None or other is None or best.get("are_mean") is None:
        return ""
    return (
        f"{other['name']} answers counts of item pairs better: {words.error(other['are_mean'])} off on "
        f"average, where {best['name']} is {words.error(best['are_mean'])} off."
    )


def _unique(row: Row) -> str:
    about = "" if row.get("risk_exact", True) else "about "
    return about + words.percent(row["risk_below_2"], row["rows"])


def groups(advice: dict[str, Any]) -> list[tuple[str, list[Row]]]:
    """Part the candidates: those ranked, under no title, and those that are listed apart, with the reason."""
    rows: Sequence[Row] = advice["candidates"]
    done = [row for row in rows if row["status"] == "done"]
    parts = [
        ("", [row for row in done if row["rank"]]),
        (
            "Merges items whatever they mean, not along the hierarchy",
            [row for row in done if not row["rank"] and row["as_asked"]],
        ),
        ("Promises less than was asked", [row for row in done if not row["as_asked"]]),
        ("No release", [row for row in rows if row["status"] != "done"]),
    ]
    return [(title, part) for title, part in parts if part]


def cells(row: Row, by: str) -> tuple[str, ...]:
    """Write the numbers of a candidate for a line of the table, with its place before and its name first."""
    place = f"{row['rank']}." if row["rank"] else "-"
    if row["status"] != "done":
        return (place, row["name"], *[""] * 5, row["status"])
    lost = row["loss"] if by == "lm" else row.get("lm")
    frequent = row.get("itemsets_frequent")
    gone = row.get("suppressed_occurrences")
    return (
        place,
        row["name"],
        "" if lost is None else words.measure(lost),
        "" if row.get("are_mean") is None else words.percent(row["are_mean"]),
        "" if not frequent else words.percent(row["itemsets_kept"] or 0, frequent),
        "" if gone is None else words.percent(gone, row["occurrences"]),
        "" if row.get("risk_below_2") is None else words.percent(row["risk_below_2"], row["rows"]),
        f"{row['seconds']:.1f} s",
    )


def _table(advice: dict[str, Any]) -> list[str]:
    parts = [(title, [cells(row, advice["by"]) for row in rows]) for title, rows in groups(advice)]
    every = [("", *HEADS), *(line for _, lines in parts for line in lines)]
    widths = [max(len(line[i]) for line in every) for i in range(len(every[0]))]

    def written(line: Sequence[str]) -> str:
        padded = (
            cell.ljust(width) if i < 2 else cell.rjust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        return "  ".join(padded).rstrip()

    out = [written(every[0])]
    for title, lines in parts:
        out += [f"{title}:"] if title else []
        out += map(written, lines)
    return out


def columns_explained(advice: dict[str, Any]) -> list[str]:
    """Say what the columns of the table are."""
    asked = "your queries" if advice["by"] == "are_mean" else "1,000 random queries for two items"
    lines = [
        f"loss: LM, {named('lm').meaning}, 0 to 1 (nothing left).",
        f"query error: mean relative error of {asked}, with the counts beside the rows where there are any.",
        "itemsets kept: of those in 1 % of the rows, up to three items.",
        "left out: suppressed occurrences.",
    ]
    if any(row.get("risk_m") for row in advice["candidates"]):
        known = count(advice["known"], "item")
        lines.append(f"unique rows: those that someone who knows their most identifying {known} finds alone.")
    return lines


def notes(advice: dict[str, Any]) -> list[str]:
    """Say of some candidates what the table does not."""
    rows: Sequence[Row] = advice["candidates"]
    done = [row for row in rows if row["status"] == "done"]
    lines = [f"{row['name']}: {row['keeps']}." for row in done if not row["as_asked"]]
    if any(row["any_items"] and row["rank"] for row in done):
        lines.append("coat: merges any items, whatever they mean. With --hierarchy it is not recommended.")
    elif any(row["any_items"] for row in done):
        lines.append("coat: --utility of setveil anonymize names the items that may be merged.")
    stronger = [row for row in done if row["rank"] and "more than asked" in row["keeps"]]
    lines += [f"{row['name']}: {row['keeps']}." for row in stronger]
    lines += [f"{row['name']}, {row['status']}: {row['error']}" for row in rows if row["status"] != "done"]
    return lines
