"""Which values of a date or an amount lie in a period or a band, by their names alone."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.rows.facts.bands import ends_of, meet, within
from setveil.rows.facts.dates import in_period, is_period, span_of
from setveil.rows.facts.facts import ANY, MISSING


def values_in(label: str, values: Sequence[str]) -> tuple[str, ...]:
    """List the values that a label represents: all, those of a longer period or a wider band, or itself."""
    if label == ANY:
        return tuple(values)
    if label in values:
        return (label,)
    ends = ends_of(label)
    if ends is None:
        return tuple(value for value in values if in_period(value, label))
    return tuple(value for value in values if (own := ends_of(value)) is not None and within(own, ends))


def values_meeting(label: str, values: Sequence[str]) -> tuple[list[str], bool] | None:
    """List the values that overlap a period or a band, and whether all are inside; None: of another kind."""
    if any(map(is_period, values)):
        if not is_period(label):
            return None
        first, last = span_of(label)
        spans = [(value, span_of(value)) for value in values if value != MISSING]
        found = [(v, first <= lo and hi <= last) for v, (lo, hi) in spans if lo <= last and first <= hi]
    else:
        ends = ends_of(label)
        if ends is None:
            return None
        own = [(value, of) for value in values if (of := ends_of(value)) is not None]
        found = [(value, within(of, ends)) for value, of in own if meet(of, ends)]
    return [value for value, _ in found], all(whole for _, whole in found)
