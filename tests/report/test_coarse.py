"""Figures of shared pages are the same for all numbers of suppressed occurrences in a hundred."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import pytest

import setveil as sv
from setveil.report.coarse import STEPS, coarse, near
from setveil.report.compare.table import clean, public
from setveil.report.run.external import handed_out

TREE = sv.Hierarchy.from_paths([[f"i{at}", f"g{at // 4}", "*"] for at in range(16)])


@pytest.fixture(scope="module")
def record(tmp_path_factory: pytest.TempPathFactory) -> Any:
    draw = Random(3)
    weights = [1 / (at + 1) for at in range(16)]
    rows = [sorted({f"i{at}" for at in draw.choices(range(16), weights, k=4)}) for _ in range(700)]
    out = tmp_path_factory.mktemp("coarse") / "out"
    sv.anonymize(rows, k=3, m=2, hierarchy=TREE, algorithm="hghs", details=True).write(out)
    return json.loads((out / "internal" / "report.json").read_text())


def with_suppressed(record: Any, suppressed: int) -> Any:
    """Change how many occurrences were suppressed; everything that is published stays as it is."""
    changed = copy.deepcopy(record)
    utility, before = changed["utility"], record["input"]["occurrences"]
    after = utility["unchanged_occurrences"] + utility["generalized_occurrences"] + suppressed
    for name in ("ncp", "lm"):
        utility[name] = 1 - (1 - utility[name]) * before / after
    utility["suppressed_occurrences"] = suppressed
    changed["input"]["occurrences"] = after
    return changed


def test_a_page_says_no_more_than_the_hundred_of_the_occurrences(record: Any) -> None:
    utility = record["utility"]
    known = utility["unchanged_occurrences"] + utility["generalized_occurrences"]
    shown: dict[int, list[Any]] = {}
    for suppressed in range(1, 900):
        found = handed_out(with_suppressed(record, suppressed))["rounded"]
        shown.setdefault((known + suppressed) // 100, []).append((found["shares"], found["measures"]))
    assert len(shown) > 8
    for figures in shown.values():
        assert figures == figures[:1] * len(figures)


def compared(record: Any, **values: Any) -> dict[str, Any]:
    utility = record["utility"]
    return {
        "data": "shop", "algorithm": "hghs", "method": "hghs", "model": "km-anonymity", "k": 3, "m": 2,
        "status": "done", "rows": 700, "items": 16, "occurrences": record["input"]["occurrences"],
        "lm": utility["lm"], "ncp": utility["ncp"], "are_mean": 0.123, "are_median": 0.0456,
        "itemsets_kept": 83, "itemsets_frequent": 101, **values,
    }  # fmt: skip


def test_a_comparison_that_may_be_shared_says_no_more_either(record: Any) -> None:
    utility = record["utility"]
    known = utility["unchanged_occurrences"] + utility["generalized_occurrences"]
    shown: dict[int, list[Any]] = {}
    for suppressed in range(1, 900):
        (row,) = public(clean([compared(with_suppressed(record, suppressed))]), ())
        shown.setdefault((known + suppressed) // 100, []).append(row)
    for rows in shown.values():
        assert rows == rows[:1] * len(rows)
        assert {"occurrences", "items"}.isdisjoint(rows[0])
        assert (rows[0]["are_mean"], rows[0]["are_median"]) == (0.1, 0.05)
        assert rows[0]["itemsets_kept"] / rows[0]["itemsets_frequent"] == pytest.approx(0.8)


@pytest.mark.parametrize("values", [{"occurrences": 399}, {"rho": 0.2, "model": "rho-uncertainty"}])
def test_a_comparison_is_silent_on_small_data_and_on_suppressed_sensitive_items(
    record: Any, values: dict[str, Any]
) -> None:
    row = compared(record, greatest_confidence=0.0625, gap=0.5, lower_bound=12, kl_mean=0.77, **values)
    (left,) = public(clean([row]), ())
    figures = ("lm", "ncp", "are_mean", "are_median", "itemsets_kept", "gap", "lower_bound", "kl_mean")
    assert not left.keys() & {*figures, "itemsets_frequent"}
    assert left["greatest_confidence"] == 0.0625


@pytest.mark.parametrize("whole", [400, 401, 999, 1000, 2000, 9999, 10_000, 123_456])
def test_coarse_figures_are_near_the_true_ones(whole: int) -> None:
    scale = coarse(whole)
    assert scale is not None
    assert scale.step in STEPS
    assert scale.step * scale.least >= 100
    draw = Random(whole)
    for _ in range(200):
        first, second = sorted(draw.choices(range(whole + 1), k=2))
        parts = (first, second - first, whole - second)
        for part, found in zip(parts, scale.shares(parts), strict=True):
            assert found.low <= part / whole + 1e-9
            assert found.high >= part / whole - 1e-9
            assert abs(near(found, scale.step) - part / whole) <= scale.step
            assert (near(found, scale.step) in (0, 1)) == (part in (0, whole))
