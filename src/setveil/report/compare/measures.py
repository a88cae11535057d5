"""Numbers of a run in a study's report, in addition to information loss: risk, time, memory."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.judges.guarantees import model_named, models
from setveil.judges.utility import Compared, compared
from setveil.report.compare.table import Row, distinct
from setveil.report.words import whole_or

SECONDS = Compared(
    "seconds",
    "seconds",
    "Seconds to anonymize, without reading, checking and measuring.",
    "seconds_anonymize",
    scale="log",
    section="time",
    write=lambda value: "under 0.1" if value < 0.1 else whole_or(value, 2),
    handed_out=True,
)
MEMORY = Compared(
    "memory",
    "peak memory (MB)",
    "Greatest memory use of a run, in MB.",
    "peak_memory_mb",
    head="MB",
    write=lambda value: f"{value:,.0f}",
    handed_out=True,
)
CONFIDENCE = Compared(
    "confidence",
    "greatest chance of a sensitive item",
    "Greatest chance of someone who knows what the guarantee covers to be right about a sensitive item of a "
    "person. Less is better.",
    "greatest_confidence",
    percent=True,
    head="learned",
    section="risk",
    handed_out=True,
)
HIDDEN = Compared(
    "hidden",
    "sensitive occurrences suppressed",
    "Share of the occurrences of sensitive items that no row shows. Less is better.",
    "hidden_occurrences",
    "sensitive_occurrences",
    percent=True,
    head="hidden",
    section="loss",
)


def rows_at_risk(size: int, rows: Sequence[Row]) -> Compared:
    """Share of the rows that someone who knows the best items, this many, narrows down to fewer than 5."""
    return Compared(
        "risk_rows",
        "rows at risk",
        f"Rows at risk: share of the rows that someone who knows {_items(size, rows)} of a person "
        "narrows down to fewer than 5. Less is better.",
        "risk_below_5",
        "rows",
        scale="spread",
        percent=True,
        section="risk",
        handed_out=True,
    )


def chance(size: int, rows: Sequence[Row]) -> Compared:
    """Chance of someone who knows the best items, this many, to pick the right row."""
    return Compared(
        "risk_chance",
        "chance to pick the right row",
        f"Chance of someone who knows {_items(size, rows)} of a person to pick the right row; mean over "
        "all rows. Less is better.",
        "risk_probability",
        scale="log",
        percent=True,
        head="chance",
        handed_out=True,
    )


def _items(size: int, rows: Sequence[Row]) -> str:
    items = f"the {size} most identifying items" if size > 1 else "the most identifying item"
    return f"{columns_known(rows)}{items}"


def columns_known(rows: Sequence[Row]) -> str:
    """Say what is known of a person in addition to items, before these: of tables all quasi-identifiers."""
    names = {str(row["model"]) for row in rows}
    found = any(model_named(name).release == "tables" for name in names if name in models())
    return "all quasi-identifiers and " if found else ""


def known_items(rows: Sequence[Row]) -> int | None:
    """Return the number of known items in most runs of a table; None if no risk was measured."""
    sizes = [row["risk_m"] for row in rows if row.get("risk_m") is not None]
    return max(distinct(sizes), key=lambda size: (sizes.count(size), size)) if sizes else None


def drawn(rows: Sequence[Row]) -> list[Compared]:
    """List what is drawn against parameters, what matters less last."""
    size = known_items(rows)
    first = [one for one in compared() if one.section != "more"]
    risks = [rows_at_risk(size, rows)] if size else []
    return [
        *first,
        *risks,
        CONFIDENCE,
        HIDDEN,
        SECONDS,
        MEMORY,
        *(one for one in compared() if one.section == "more"),
    ]


def listed(rows: Sequence[Row]) -> list[Compared]:
    """List the columns of a table of methods."""
    size = known_items(rows)
    risks = [rows_at_risk(size, rows), chance(size, rows)] if size else []
    return [*(one for one in compared() if one.listed), CONFIDENCE, HIDDEN, *risks, SECONDS, MEMORY]
