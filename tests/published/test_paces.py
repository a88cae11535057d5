"""Distribution of the remaining occurrences to classes in proportion to their room, by finding the pace."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from setveil.releases.published._class_fitting import MOST, paces

ROOMS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=1, max_size=6)


def naive_pace(rest: int, classes: list[tuple[int, int]]) -> Fraction | None:
    """Try each number of full classes, those first that are full at the least pace; None: all are full."""
    order = sorted((c for c in classes if c[0]), key=lambda one: Fraction(one[1], one[0]))
    for full in range(len(order)):
        pace = Fraction(rest - sum(cap for _, cap in order[:full]), sum(room for room, _ in order[full:]))
        if pace * order[full][0] <= order[full][1]:
            return pace
    return None


@given(st.lists(st.tuples(st.integers(-2, 30), ROOMS), min_size=1, max_size=5))
def test_as_much_is_dealt_as_there_is_room_for(items: list[tuple[int, list[tuple[int, int]]]]) -> None:
    width = max(len(classes) for _, classes in items)
    cells = np.zeros((2, len(items), width), np.int64)
    for at, (_, classes) in enumerate(items):
        cells[:, at, : len(classes)] = np.array(classes).T
    found = paces(np.array([rest for rest, _ in items]), cells[0], cells[1])
    for pace, (rest, classes) in zip(found.tolist(), items, strict=True):
        if rest <= 0:
            assert pace == 0
            continue
        wanted = naive_pace(rest, classes)
        assert np.isclose(pace, MOST if wanted is None else float(wanted), rtol=1e-12)
        dealt = sum(min(cap, pace * room) for room, cap in classes)
        assert np.isclose(dealt, min(rest, sum(cap for room, cap in classes if room)))
