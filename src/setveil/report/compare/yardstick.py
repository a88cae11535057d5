"""Releases with noise, set next to the others: draws of each, and from which epsilon on they do as well.

They are never ranked among the others, whose guarantees are of another kind.
"""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from fractions import Fraction
from statistics import mean, stdev
from typing import Any

from setveil.base.wording import count
from setveil.judges.guarantees import models
from setveil.report.compare.table import Family, Row, grouped
from setveil.report.drawing import blocks
from setveil.report.words import measure

_MEASURED = (("are_mean", "query error (ARE)"), ("item_error_mean", "item error"))
_WEAKNESS = (
    "Noisy counts cover few items, 48 by default; all others count as zero. A release that spends epsilon on "
    "more items, or another mechanism, may do better."
)


def is_noisy(row: Row) -> bool:
    """Return whether a run's release has noise, so that comparisons with the original are internal."""
    model = models().get(row["model"])
    return model is not None and not model.words.recounted


def yardstick(kinds: Sequence[Family]) -> str:
    """Make the block about releases with noise; empty where there are none."""
    noisy = [row for family in kinds for row in family.done if is_noisy(row)]
    others = [row for family in kinds for row in family.done if not is_noisy(row)]
    if not noisy:
        return ""
    lines, notes = [], []
    for data, of_data in grouped(noisy, lambda row: row["data"]):
        same = [row for row in others if row["data"] == data]
        for found in (same, of_data):
            for (method, promise), runs in grouped(found, lambda row: (row["method"], promised(row))):
                lines.append([data, method, promise, count(len(runs)), *_cells(runs)])
        notes += _least(data, of_data, same)
    draws = max(
        len(runs) for _, runs in grouped(noisy, lambda row: (row["data"], row["method"], promised(row)))
    )
    heads = ("Data", "Method", "Guarantee", "Runs", *(title for _, title in _MEASURED))
    escaped = [[html.escape(text, quote=False) for text in line] for line in lines]
    inside = [
        blocks.paragraph(
            "Means over all runs, with standard deviations if there are several runs. The guarantees are of "
            "different kinds and cannot be ranked: epsilon bounds the effect of any one row, the others "
            "limit what someone who knows a few items can find."
        ),
        blocks.grid(heads, escaped, "14% 20% 26% 8% 16% 16%"),
        blocks.paragraph(" ".join(html.escape(note, quote=False) for note in notes)),
        blocks.paragraph(
            f"Each draw costs its epsilon: {draws} draws cost {draws} times as much. Do not share the draws "
            "of a study, nor the figures about them here: they are internal. " + _WEAKNESS,
            "small",
        ),
    ]
    return blocks.section("Compared with differential privacy", *inside)


def promised(row: Row) -> str:
    """Name the guarantee of a run, with its parameters."""
    model = models().get(row["model"])
    if model is None:
        return str(row["model"])
    values = [
        f"{name} = {_plain(row[name])}"
        for name in model.words.parameters
        if row.get(name) is not None and not model.options[name].secret
    ]
    return f"{model.title}, {', '.join(values)}" if values else model.title


def _plain(value: Any) -> str:
    """Write a number without a point that it does not need."""
    return f"{value:g}" if isinstance(value, float) else str(value)


def spread(values: Iterable[float | None]) -> tuple[float, float | None] | None:
    """Take the mean of some values and their standard deviation; None where there are none."""
    known = [value for value in values if value is not None]
    if not known:
        return None
    return mean(known), stdev(known) if len(known) > 1 else None


def least_epsilon(noisy: Sequence[Row], limit: float) -> tuple[str, bool]:
    """Find the least epsilon whose mean query error is at most as large; else the greatest that was tried."""
    by_epsilon = sorted(
        grouped([row for row in noisy if row.get("epsilon") is not None], lambda row: row["epsilon"]),
        key=lambda one: Fraction(str(one[0])),
    )
    for epsilon, runs in by_epsilon:
        found = spread(row.get("are_mean") for row in runs)
        if found is not None and found[0] <= limit:
            return _plain(epsilon), True
    return (_plain(by_epsilon[-1][0]) if by_epsilon else ""), False


def _cells(runs: Sequence[Row]) -> list[str]:
    return [_written(spread(row.get(name) for row in runs)) for name, _ in _MEASURED]


def _written(found: tuple[float, float | None] | None) -> str:
    if found is None:
        return "-"
    middle, around = found
    return measure(middle) if around is None else f"{measure(middle)} ± {measure(around)}"


def _least(data: str, noisy: Sequence[Row], others: Sequence[Row]) -> list[str]:
    """Say for each other release from which epsilon on noise does as well."""
    out: list[str] = []
    for (method, promise), runs in grouped(others, lambda row: (row["method"], promised(row))):
        found: Any = spread(row.get("are_mean") for row in runs)
        if found is None:
            continue
        epsilon, reached = least_epsilon(noisy, found[0])
        if epsilon:
            out.append(
                f"{data}: the least epsilon at which the mean query error is no worse than that of {method} "
                f"({promise}) is {epsilon}."
                if reached
                else f"{data}: no epsilon up to {epsilon} has a mean query error as small as {method} "
                f"({promise})."
            )
    return out
