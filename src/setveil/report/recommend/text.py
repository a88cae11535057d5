"""What is recommended, and the table behind it: in words, and as plain text."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NotRequired, TypedDict

from setveil.report import words
from setveil.report.accuracy import MEAN_ERROR
from setveil.report.record import Null
from setveil.utility import named
from setveil.wording import count

Row = dict[str, Any]  # a method that was tried, with measures by name


class Recommended(TypedDict):
    """What ``recommend --json`` prints."""

    by: str
    known: int
    hierarchy: bool
    share: NotRequired[str]
    asked: NotRequired[str]
    inputs: list[str]
    best: Row | Null
    answering: Row | Null
    one_label: Row | Null
    safer: Row | Null
    candidates: list[Row]
    made_on: str
    setveil: str


_LOSSES = (("R", "relational_loss"), ("T", "transaction_loss"))
HEADS = ("method", "loss", "query error", "itemsets kept", "left out", "unique rows", "time")
WITH_RHO = ("method", "loss", "query error", "left out", "hidden", "learned", "unique rows", "time")
OF_TABLES = ("method", "loss", "R", "T", "query error", "left out", "unique rows", "time")


def advice_text(advice: Recommended) -> str:
    """Say which release loses least, how to make it, and what else was tried.

    Returns
    -------
    str
        Sentences, a command, a table and what its columns mean.
    """
    best = advice["best"]
    lines = [headline(advice)]
    if best is not None:
        lines += further(advice)
        lines += [f"It keeps {best['keeps']}, checked on the rows that it would publish. To make it:"]
        lines += [f"\n    {best['command']}\n"]
    lines += _table(advice)
    lines += ["", *columns_explained(advice), *notes(advice)]
    return "\n".join(lines)


def further(advice: Recommended) -> list[str]:
    """Say what else there is to weigh before the best release is taken."""
    return [text for text in (for_tables(advice), weighing(advice), answering(advice)) if text]


def for_tables(advice: Recommended) -> str:
    """Name what suits tables of counts, where the best release is in classes; else empty."""
    best, other = advice["best"], advice.get("one_label")
    if best is None or other is None:
        return ""
    how = (
        f"answers best: {words.error(other['loss'])} off on average"
        if advice["by"] == "are_mean"
        else f"loses least: LM {words.measure(other['loss'])}"
    )
    return (
        "Its labels differ by class: take it for statistics and drawn rows. For tables of counts, whose "
        f"reader adds up labels, of what gives each item one label {other['name']} {how}."
    )


def heads(advice: Recommended) -> tuple[str, ...]:
    """Name the columns of the table, that of the place not."""
    if bounds_learning(advice):
        return WITH_RHO
    return OF_TABLES if of_table(advice) else HEADS


def bounds_learning(advice: Recommended) -> bool:
    """Whether what was asked bounds what is learned of sensitive items."""
    return bool(advice.get("asked"))


def of_table(advice: Recommended) -> bool:
    """Whether what was tried are releases of a table."""
    return advice.get("share") is not None


def headline(advice: Recommended) -> str:
    """Say which release loses least."""
    best, along = advice["best"], " along the hierarchy" if advice["hierarchy"] else ""
    if best is None:
        return f"Nothing that was tried keeps the promise{along} in the time given."
    if advice["by"] == "lm":
        return f"{best['name']} loses least of what was tried{along}: LM {words.measure(best['loss'])}."
    if advice["by"] == "f":
        lost = ", ".join(f"{name} {words.measure(best[key])}" for name, key in _LOSSES)
        return f"{best['name']} loses least of what was tried{along}: f {words.measure(best['f'])} ({lost})."
    error = words.error(best["loss"])
    return f"{best['name']} answers your queries best of what was tried{along}: {error} off on average."


def weighing(advice: Recommended) -> str:
    """Weigh what the best release leaves at risk beyond the promise; empty where it is not known."""
    best, safer = advice["best"], advice["safer"]
    if best is None or best.get("risk_below_2") is None:
        return ""
    who = f"someone who knows {_columns(advice)}{known_items(advice)}"
    if not best["risk_below_2"]:
        return f"No row is unique even to {who}."
    beyond = "one more than the promise covers"
    if advice.get("asked") == "rho-uncertainty":
        beyond = "for rows are not hidden among others"
    text = f"But it leaves {_unique(best)} of the rows unique to {who}, {beyond}"
    if safer is None:
        return f"{text}."
    more = safer["loss"] - best["loss"]
    if advice["by"] != "are_mean":
        greater = f"a loss only {words.measure(float(f'{more:.2g}'))} greater" if more else "the same loss"
    else:
        greater = f"an error only {words.percent(more)} greater" if more else "the same error"
    return f"{text}; {safer['name']} leaves {_unique(safer)} at {greater}."


def known_items(advice: Recommended) -> str:
    """Say how many items someone knows to whom rows are unique, and whether any: of sensitive ones, none."""
    named = any({"private", "sensitive"} & set(row["options"]) for row in advice["candidates"])
    return count(advice["known"], "public item" if named else "item")


def _columns(advice: Recommended) -> str:
    """Say what is known besides items, before these."""
    return "all quasi-identifiers and " if of_table(advice) else ""


def answering(advice: Recommended) -> str:
    """Name the release that answers queries best, where it is not the best one; else empty."""
    best, other, key = advice["best"], advice.get("answering"), _error(advice)
    if best is None or other is None or best.get(key) is None:
        return ""
    asked = "over columns and items" if of_table(advice) else "of item pairs"
    told = " Take it for statistics and drawn rows; its labels differ by class."
    return (
        f"{other['name']} answers counts {asked} better: its {MEAN_ERROR} is {words.error(other[key])}, that "
        f"of {best['name']} {words.error(best[key])}.{told if other['algorithm'] == 'classes' else ''}"
    )


def _error(advice: Recommended) -> str:
    """Name the column of the errors of queries."""
    return "table_are_mean" if of_table(advice) and advice["by"] != "are_mean" else "are_mean"


def _shown_error(advice: Recommended) -> str:
    """Name the column that is shown: the query error as everywhere; the mean where it decides."""
    return "are_mean" if advice["by"] == "are_mean" else _error(advice).replace("mean", "median")


def _unique(row: Row) -> str:
    about = "" if row.get("risk_exact", True) else "about "
    return about + words.percent(row["risk_below_2"], row["rows"])


def groups(advice: Recommended) -> list[tuple[str, list[Row]]]:
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


def cells(row: Row, advice: Recommended) -> tuple[str, ...]:
    """Write the numbers of a candidate for a line of the table, with its place before and its name first."""
    place = f"{row['rank']}." if row["rank"] else "-"
    if row["status"] != "done":
        return (place, row["name"], *[""] * (len(heads(advice)) - 2), row["status"])
    told, gone, frequent = of_table(advice), row.get("suppressed_occurrences"), row.get("itemsets_frequent")
    lost = row["loss"] if advice["by"] == "lm" else row.get("f" if told else "lm")
    error = row.get(_shown_error(advice))
    kept = "" if not frequent else words.percent(row["itemsets_kept"] or 0, frequent)
    return (
        place,
        row["name"],
        "" if lost is None else words.measure(lost),
        *((words.measure(row[key]) for _, key in _LOSSES) if told else ()),
        "" if error is None else words.percent(error),
        *(() if told or bounds_learning(advice) else (kept,)),
        "" if gone is None else words.percent(gone, row["occurrences"]),
        *(_learned(row) if bounds_learning(advice) else ()),
        "" if row.get("risk_below_2") is None else words.percent(row["risk_below_2"], row["rows"]),
        f"{row['seconds']:.1f} s",
    )


def _learned(row: Row) -> tuple[str, str]:
    """Write how many sensitive occurrences are hidden, and what is still learned, as far as that is known."""
    hidden, most = row.get("hidden_occurrences"), row.get("greatest_confidence")
    return "" if hidden is None else f"{hidden:,}", "" if most is None else words.percent(most)


def _table(advice: Recommended) -> list[str]:
    parts = [(title, [cells(row, advice) for row in rows]) for title, rows in groups(advice)]
    every = [("", *heads(advice)), *(line for _, lines in parts for line in lines)]
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


def columns_explained(advice: Recommended) -> list[str]:
    """Say what the columns of the table are."""
    told = of_table(advice)
    drawn = "columns and items" if told else "two items"
    given = advice["by"] == "are_mean"
    asked, middle = ("your queries", "mean") if given else (f"1,000 random queries for {drawn}", "median")
    lines = [
        f"query error: {middle} relative error of {asked}, with the counts beside the rows where there are "
        "any.",
        "left out: suppressed occurrences.",
    ]
    if told:
        lines.insert(0, f"loss: {weighed(advice)}, 0 to 1 (nothing left).")
    else:
        lines.insert(0, f"loss: LM, {named('lm').meaning}, 0 to 1 (nothing left).")
        if bounds_learning(advice):
            lines[-1] = "left out: suppressed occurrences; hidden: those of sensitive items among them."
            lines.append("learned: greatest chance to be right about a sensitive item, as far as promised.")
        else:
            lines.insert(2, "itemsets kept: of those in 1 % of the rows, up to three items.")
    if any(row.get("risk_m") for row in advice["candidates"]):
        known = known_items(advice)
        their = f"{_columns(advice)}the" if told else "their"
        lines.append(
            f"unique rows: those that someone who knows {their} most identifying {known} finds alone."
        )
    return lines


def weighed(advice: Recommended) -> str:
    """Say what the loss of a table is."""
    share = Fraction(advice["share"])
    return (
        f"f = {share} R + {1 - share} T, where R is the {named('relational_loss').meaning} and T the "
        f"{named('transaction_loss').meaning}"
    )


def notes(advice: Recommended) -> list[str]:
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
    if any(row["rank"] and "in every class" in row["keeps"] for row in done):
        lines.append(
            "classes: if there are several, everybody is told who is in which class, and labels differ by "
            "class. For statistics and draws; for tables of counts one label for each item is better."
        )
    lines += [f"{row['name']}, {row['status']}: {row['error']}" for row in rows if row["status"] != "done"]
    if any("classes" in row["name"] for row in done):
        lines.append(words.ONE_OF_THEM)
    return lines
