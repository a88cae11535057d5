"""Tables of what repetitions tell, for other programs: medians with intervals, and tests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setveil.report.compare.measures import listed
from setveil.report.compare.repeated import every_pair
from setveil.report.compare.table import Row, clean, families, grouped, middle, parameters


def summary_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """List medians, their 95% intervals if there are enough repeats, and extremes, of repeated runs."""
    out = []
    for family in families(clean(rows)):
        names = ["data", "model", "method", *parameters(family.rows)]
        for setting, part in grouped(family.done, lambda row, names=names: tuple(map(row.get, names))):  # type: ignore[misc]
            for what in listed(family.done):
                values = [value for row in part if (value := what.of(row)) is not None]
                if len(values) < 2:
                    continue
                found = middle(values)
                low, high = found.sure or (None, None)
                out.append(
                    dict(zip(names, setting, strict=True))
                    | {"measure": what.stem, "repeats": len(values), "median": found.value}
                    | {"low_95": low, "high_95": high, "least": found.low, "greatest": found.high}
                )
    return out


def compared_rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """List methods compared draw by draw in all measures, with the p-value of each pair (see `Pair`)."""
    out = []
    for family in families(clean(rows)):
        for what, pair in every_pair(family, listed(family.done)):
            low, high = pair.difference.sure or (None, None)
            out.append(
                {"data": pair.data, "model": pair.model, "setting": pair.setting, "measure": what.stem}
                | {"less": pair.a, "more": pair.b, "repeats": pair.repeats, "less_at": pair.less}
                | {"equal_at": pair.equal, "median_difference": pair.difference.value}
                | {"low_95": low, "high_95": high, "p": pair.p, "p_adjusted": pair.adjusted}
            )
    return out
