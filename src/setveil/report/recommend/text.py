"""The recommendation and its table, as plain text."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.base.wording import count
from setveil.report import words
from setveil.report.accuracy import MEAN_ERROR
from setveil.report.recommend.kinds import LOSSES, Recommended, Row, kind_of


def advice_text(advice: Recommended) -> str:
    """Say which release loses least and the command for it, with a table of all attempts."""
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
    found = (for_tables(advice), weighing(advice), answering(advice), regrouping(advice))
    return [text for text in found if text]


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


def regrouping(advice: Recommended) -> str:
    """Name other groups that halve the loss; else empty."""
    found, best = advice.get("regrouping"), advice["best"]
    if found is None or best is None:
        return ""
    lost = f"LM {words.measure(found['loss'])}" if found["complete"] else "less than half of that"
    command = found.get("command")
    return (
        f"The groups matter more than the method: with new ones below those under the root a release loses "
        f"{lost}. They are learned from the rows and reveal which items are about equally rare."
        + (f" To make them: {command}" if command else "")
    )


def headline(advice: Recommended) -> str:
    """Say which release loses least."""
    best, along = advice["best"], " along the hierarchy" if advice["hierarchy"] else ""
    if best is None:
        return f"Nothing that was tried satisfies the guarantee{along} in the time given."
    if advice["by"] == "lm":
        return f"{best['name']} loses least of what was tried{along}: LM {words.measure(best['loss'])}."
    if advice["by"] == "f":
        lost = ", ".join(f"{name} {words.measure(best[key])}" for name, key in LOSSES)
        return f"{best['name']} loses least of what was tried{along}: f {words.measure(best['f'])} ({lost})."
    error = words.error(best["loss"])
    return f"{best['name']} answers your queries best of what was tried{along}: {error} off on average."


def weighing(advice: Recommended) -> str:
    """Weigh what the best release leaves at risk beyond the guarantee; empty where it is not known."""
    best, safer = advice["best"], advice["safer"]
    if best is None or best.get("risk_below_2") is None:
        return ""
    who = f"someone who knows {kind_of(advice).known}{known_items(advice)}"
    if not best["risk_below_2"]:
        return f"No row is unique even to {who}."
    beyond = "one more than the guarantee covers"
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


def answering(advice: Recommended) -> str:
    """Name the release that answers queries best, where it is not the best one; else empty."""
    kind, best, other = kind_of(advice), advice["best"], advice.get("answering")
    key = kind.error
    if best is None or other is None or best.get(key) is None:
        return ""
    note = " Take it for statistics and drawn rows; its labels differ by class."
    return (
        f"{other['name']} answers counts {kind.pairs} better: its {MEAN_ERROR} is {words.error(other[key])}, "
        f"that of {best['name']} {words.error(best[key])}.{note if other['algorithm'] == 'classes' else ''}"
    )


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
        ("Guarantees less than was asked", [row for row in done if not row["as_asked"]]),
        ("No release", [row for row in rows if row["status"] != "done"]),
    ]
    return [(title, part) for title, part in parts if part]


def _table(advice: Recommended) -> list[str]:
    kind = kind_of(advice)
    parts = [(title, [kind.cells(row) for row in rows]) for title, rows in groups(advice)]
    every = [("", *kind.heads), *(line for _, lines in parts for line in lines)]
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
    kind = kind_of(advice)
    lines = kind.columns_explained()
    if any(row.get("risk_m") for row in advice["candidates"]):
        known = known_items(advice)
        lines.append(f"unique rows: no other row matches {kind.their} most identifying {known}.")
    return lines


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
            "classes: if there are several, each row's class is published, and labels differ by "
            "class. For statistics and draws; for tables of counts one label for each item is better."
        )
    lines += [f"{row['name']}, {row['status']}: {row['error']}" for row in rows if row["status"] != "done"]
    if any("classes" in row["name"] for row in done):
        lines.append(words.ONE_OF_THEM)
    return lines
