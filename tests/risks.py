"""Risks of known items that are compared, wherever the rows lie."""

from __future__ import annotations

from typing import Any

import pytest


def assert_same_risk(found: Any, expected: Any) -> None:
    """Compare the numbers of one and of two known items; sums of fractions may differ in the last digits."""
    assert {key: found[key] for key in ("rows", "empty_rows", "thresholds", "revealing")} == {
        key: expected[key] for key in ("rows", "empty_rows", "thresholds", "revealing")
    }
    wanted = [entry for entry in expected["risk"] if entry["m"] <= 2]
    assert len(found["risk"]) == len(wanted)
    for ours, theirs in zip(map(dict, found["risk"]), map(dict, wanted), strict=True):
        assert ours.pop("probability") == pytest.approx(theirs.pop("probability"))
        assert ours.pop("rows_below") == pytest.approx(theirs.pop("rows_below"))
        assert ours == theirs
