"""Information in repetitions: intervals, tests, and the words and tables that show them."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from naive import repeats as naive
from setveil.report.compare.page import comparison_html
from setveil.report.compare.releases import loss_of
from setveil.report.compare.repeated import (
    beyond_chance,
    drawn_text,
    every_pair,
    pairs_of,
    spread_caption,
    spread_notes,
)
from setveil.report.compare.repeats import holm, median_interval, signed_rank
from setveil.report.compare.table import clean, families, middle

VALUES = st.lists(st.integers(-4, 4).map(float), max_size=11)


@given(VALUES)
def test_intervals_of_medians(values: list[float]) -> None:
    assert median_interval(values) == naive.median_interval(values, Fraction(95, 100))


@given(st.lists(st.integers(0, 9).map(float), min_size=1, max_size=9), st.sampled_from([0.5, 0.75, 0.9]))
def test_intervals_at_other_levels(values: list[float], level: float) -> None:
    assert median_interval(values, level) == naive.median_interval(values, Fraction(str(level)))


@pytest.mark.parametrize(("n", "j"), [(6, 1), (9, 2), (12, 3), (20, 6), (25, 8), (100, 40)])
def test_intervals_are_those_of_the_tables(n: int, j: int) -> None:
    """Conover, Practical Nonparametric Statistics: order statistics of the 95% interval of a median."""
    assert median_interval(range(1, n + 1)) == (j, n + 1 - j)
    assert median_interval(range(5)) is None


@given(VALUES)
def test_signed_ranks(values: list[float]) -> None:
    found = signed_rank(values)
    assert found == pytest.approx(float(naive.signed_rank(values)), rel=1e-12)
    assert 0 < found <= 1
    assert signed_rank([-value for value in values]) == found


@given(
    st.lists(st.integers(1, 10**6), min_size=1, max_size=40, unique=True), st.randoms(use_true_random=False)
)
def test_signed_ranks_without_ties(sizes: list[int], random: Any) -> None:
    from scipy.stats import wilcoxon

    values = [size * random.choice((-1.0, 1.0)) for size in sizes]
    assert signed_rank(values) == pytest.approx(float(wilcoxon(values, method="exact").pvalue), rel=1e-9)


@given(st.lists(st.integers(0, 100), min_size=1, max_size=8))
def test_adjusting(hundredths: list[int]) -> None:
    from scipy.stats import false_discovery_control

    exact = naive.holm([Fraction(n, 100) for n in hundredths])
    chances = [n / 100 for n in hundredths]
    found = holm(chances)
    assert found == pytest.approx([float(p) for p in exact])
    assert all(a >= b - 1e-12 for a, b in zip(found, false_discovery_control(chances), strict=True))


def rows_of(losses: dict[str, list[float]], sample: Any = 0.8, **more: Any) -> list[dict[str, Any]]:
    row = {
        "data": "shop",
        "model": "km-anonymity",
        "k": 5,
        "m": 2,
        "status": "done",
        "sample": sample,
        **more,
    }
    return [
        {**row, "algorithm": method.split()[0], "method": method, "seed": seed, "lm": loss}
        for method, values in losses.items()
        for seed, loss in enumerate(values)
    ]


BETTER = "exact has less loss (LM) than aa beyond chance (p = 0.016)."
STEADY = {
    "aa": [0.30, 0.31, 0.29, 0.33, 0.32, 0.30, 0.28],
    "exact": [0.20, 0.21, 0.20, 0.24, 0.22, 0.20, 0.19],
}


def test_methods_are_compared_draw_by_draw() -> None:
    (family,) = families(clean(rows_of(STEADY)))
    loss = loss_of(family)
    assert loss is not None
    ((pair,),) = pairs_of(family, loss, "shop").values()
    assert (pair.a, pair.b, pair.repeats, pair.less, pair.equal) == ("exact", "aa", 7, 7, 0)
    differences = [a - b for a, b in zip(STEADY["aa"], STEADY["exact"], strict=True)]
    assert pair.difference.value == pytest.approx(sorted(differences)[3])
    assert pair.p == pytest.approx(2 / 2**7)
    assert pair.adjusted == pair.p
    said = beyond_chance(family, loss, "shop")
    assert (
        said == "Over 7 draws of 80% of the rows, exact has less loss (LM) than aa beyond chance (p = 0.016)."
    )


def test_what_may_be_chance() -> None:
    steady = STEADY["exact"]
    mixed = {"aa": steady, "da": [x + (-1) ** i * 0.01 * (i + 1) for i, x in enumerate(steady)]}
    (family,) = families(clean(rows_of(mixed)))
    loss = loss_of(family)
    assert loss is not None
    assert beyond_chance(family, loss, "shop").endswith("no difference in loss (LM) is more than chance.")
    (family,) = families(clean(rows_of({**mixed, "oa": STEADY["aa"]})))
    found = pairs_of(family, loss, "shop")
    (pairs,) = found.values()
    assert len(pairs) == 3
    assert [pair.adjusted for pair in pairs] == pytest.approx(holm([pair.p for pair in pairs]))
    assert "the difference to" in beyond_chance(family, loss, "shop")


def test_nothing_is_tested_where_nothing_is_drawn() -> None:
    """The loss of a release of all rows is the same whatever the seed."""
    same = {"aa": [0.3] * 8, "exact": [0.2] * 8}
    (family,) = families(clean(rows_of(same, sample=None)))
    loss = loss_of(family)
    assert loss is not None
    assert pairs_of(family, loss, "shop") == {}
    assert beyond_chance(family, loss, "shop") == ""
    assert not list(every_pair(family, [loss]))


def test_draws_of_one_method_alone_are_no_pair() -> None:
    rows = [row for row in rows_of(STEADY) if (row["seed"] < 3) == (row["method"] == "aa")]
    (family,) = families(clean(rows))
    loss = loss_of(family)
    assert loss is not None
    assert pairs_of(family, loss, "shop") == {}


@pytest.mark.parametrize(
    ("sample", "text"),
    [(0.8, "7 draws of 80% of the rows"), ("bootstrap", "7 bootstraps of the rows"), (None, "7 seeds")],
)
def test_what_is_drawn(sample: Any, text: str) -> None:
    rows = rows_of(STEADY, sample)
    assert drawn_text(rows) == text
    assert spread_notes(rows) == [f"medians of {text}, with their 95% intervals where these differ"]
    few = [row for row in rows if row["seed"] < 5]
    assert "the least and the greatest" in spread_notes(few)[0]
    assert "from the least to the greatest" in spread_caption(few)[0]
    assert drawn_text([row for row in rows if row["seed"] < 1]) == ""


def test_medians_have_intervals() -> None:
    found = middle([1.0, 2.0, 3.0, 4.0, 5.0, 60.0])
    assert (found.value, found.low, found.high, found.ends) == (3.5, 1.0, 60.0, (1.0, 60.0))
    assert middle([1.0, 2.0]).ends == (1.0, 2.0)
    twenty = middle([float(i) for i in range(20)])
    assert twenty.ends == (5.0, 14.0)


def test_the_page_says_test_and_interval() -> None:
    page = comparison_html({"name": "S", "naming_items": []}, rows_of(STEADY))
    for text in (
        f"Over 7 draws of 80% of the rows, {BETTER}",
        "Differences beyond chance",
        "Wilcoxon's signed-rank test, exact and two-sided, adjusted (Holm)",
        "not about other data",
        "7 of 7",
    ):
        assert text in page, text
    once = comparison_html({"name": "S", "naming_items": []}, [r for r in rows_of(STEADY) if r["seed"] == 0])
    assert "Wilcoxon" not in once
    assert "beyond chance" not in once


def test_labels_are_the_names_of_methods() -> None:
    losses = {"exact hide=items": STEADY["aa"], "exact": STEADY["exact"]}
    rows = [{**row, "hide": "items" if "hide" in row["method"] else "occurrences"} for row in rows_of(losses)]
    labelled = [{**row, "label": "Whole items" if "hide" in row["method"] else None} for row in rows]
    (plain,), (family,) = families(clean(rows)), families(clean(labelled))
    assert family.methods == ["Whole items", "exact"]
    loss = loss_of(family)
    assert loss is not None
    assert len(pairs_of(family, loss, "shop")) == len(pairs_of(plain, loss, "shop")) == 1
    for external in (False, True):
        page = comparison_html({"name": "S", "naming_items": ["hide"]}, labelled, external=external)
        assert "Whole items" in page
        assert "hide=items" not in page
