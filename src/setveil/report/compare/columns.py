"""The columns of a study's table, as the study writes and its report reads it; all others are parameters."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from setveil.judges.utility import CHUNKS, NOISY, Measure, columns, measures

RUN = ("run", "data", "algorithm", "method", "model")
LABEL = "label"  # what reports call the method, where a study says so
OWN = "own"  # names of the algorithm's parameters that the method names: put beside the others by a report
SAMPLE = "sample"  # share of the rows that the seed drew, or "bootstrap"
END = ("seed", "status", "error")
MADE = ("data_sha256", "setveil", "machine")

SIZES: Mapping[str, type] = {"rows": int, "items": int, "occurrences": int}
LEARNED: Mapping[str, type] = {
    "greatest_confidence": float,
    "sensitive_occurrences": int,
    "hidden_occurrences": int,
}
RISK: Mapping[str, type] = {
    "risk_m": int,
    "risk_below_2": int,
    "risk_below_5": int,
    "risk_below_10": int,
    "risk_probability": float,
    "risk_exact": bool,
}
RISK_BEFORE: Mapping[str, type] = {
    "risk_before_2": int,
    "risk_before_5": int,
    "risk_before_10": int,
    "risk_before_probability": float,
}
ORIGINAL = ("sensitive_occurrences", "hidden_occurrences")  # tell how many the original rows hold
OPTIMALITY: Mapping[str, type] = {"lower_bound": float, "gap": float}
COST: Mapping[str, type] = {
    "seconds_read": float,
    "seconds_anonymize": float,
    "seconds_verify": float,
    "seconds_measure": float,
    "seconds": float,
    "peak_memory_mb": float,
}


def measured() -> Mapping[str, type]:
    """List what is measured of a run, with the types of the values."""
    return _measured(measures())


@cache
def _measured(every: tuple[Measure, ...]) -> Mapping[str, type]:
    lost = {column.name: column.type for column in columns()}
    named = [one for one in every if {*one.kinds} <= {*CHUNKS, *NOISY}]  # of items by their own names
    newest = {column.name for one in named for column in one.in_table()}
    others = {name: lost.pop(name) for name in sorted(newest)}  # last: readers count columns
    return {**SIZES, **lost, **RISK, **RISK_BEFORE, **OPTIMALITY, **LEARNED, **COST, **others}


def fixed() -> frozenset[str]:
    """Name the columns that are no parameter. What else a table contains was set in the study."""
    return _fixed(measures())


@cache
def _fixed(every: tuple[Measure, ...]) -> frozenset[str]:
    return frozenset({*RUN, LABEL, OWN, *END, *_measured(every), *MADE})
