"""Errors of draws, by brute force."""

from __future__ import annotations

from pathlib import Path
from statistics import mean, median, stdev
from typing import Any

import pytest

import setveil as sv
from naive.km import supports
from setveil.base.errors import DataError, RequestError
from setveil.judges.utility.pooled import pooled_errors
from strategies import Rows, random_rows, seeded, transactions

ITEMS = list("abcdef")


def errors(original: Rows, draws: list[Rows], queries: list[frozenset[str]]) -> dict[str, Any] | None:
    before = [supports(original)[query] for query in queries]
    after = [[supports(rows)[query] for query in queries] for rows in draws]
    nonempty = [j for j, n in enumerate(before) if n]
    if not nonempty:
        return None

    def off(answers: list[float]) -> list[float]:
        return [abs(answers[j] - before[j]) / before[j] for j in nonempty]

    each = [off([float(x) for x in answers]) for answers in after]
    return {
        "number": len(nonempty),
        "mean_error": spread([mean(one) for one in each]),
        "median_error": spread([median(one) for one in each]),
        "of_mean": mean(off([mean(answers) for answers in zip(*after, strict=True)])),
    }


def spread(values: list[float]) -> dict[str, float | None]:
    return {"mean": mean(values), "sd": stdev(values) if len(values) > 1 else None}


def close(found: Any, expected: Any) -> bool:
    if isinstance(expected, dict):
        return set(found) == set(expected) and all(close(found[key], expected[key]) for key in expected)
    return bool(found == pytest.approx(expected)) if expected is not None else found is None


@pytest.mark.parametrize("number", [1, 2, 4])
def test_against_brute_force(number: int) -> None:
    rng = seeded(number)
    for threshold in (1, 2, 5, 40):
        original = [*random_rows(rng, ITEMS, 29, 4), frozenset(ITEMS)]
        draws = [random_rows(rng, [*ITEMS, "q"], 30, 4) for _ in range(number)]
        queries = [frozenset(rng.sample(ITEMS, rng.randint(1, 3))) for _ in range(20)]
        found = pooled_errors(
            transactions(original),
            map(transactions, draws),
            [sorted(query) for query in queries],
            threshold=threshold,
            longest=3,
        )
        assert found["draws"] == number
        assert found["rows"] == {"original": 30, "draw": 30}
        singles = [frozenset({x}) for x in ITEMS]
        assert close(found["items"], errors(original, draws, singles))
        result = errors(original, draws, queries)
        assert result is not None
        assert close(found["queries"], {**result, "left_out": len(queries) - result["number"]})
        frequent = [
            {x for x, n in supports(rows, 3).items() if n >= threshold} for rows in (original, *draws)
        ]
        assert close(
            found["itemsets"],
            {
                "threshold": threshold,
                "longest": 3,
                "frequent": len(frequent[0]),
                "found": spread([len(frequent[0] & one) for one in frequent[1:]]),
                "wrong": spread([len(one - frequent[0]) for one in frequent[1:]]),
            },
        )


ROWS = 3 * [["a", "b"], ["a", "c"], ["b", "c", "d"], ["a"]]


@pytest.fixture
def drawn(tmp_path: Path) -> sv.Reconstruction:
    tree = sv.Hierarchy.from_paths([["a", "A", "*"], ["b", "A", "*"], ["c", "B", "*"], ["d", "B", "*"]])
    release = sv.anonymize(ROWS, sv.KmAnonymity(4, 2), hierarchy=tree, details=False)
    drawn = sv.reconstruct(release, draws=3)
    drawn.write(tmp_path / "draws")
    return drawn


def test_measure_takes_draws_in_memory_and_their_folder(drawn: sv.Reconstruction, tmp_path: Path) -> None:
    found = sv.measure(ROWS, drawn)
    assert found == sv.measure(ROWS, tmp_path / "draws") == sv.measure(ROWS, str(tmp_path / "draws"))
    assert found["queries"]["number"] == 1000
    assert "itemsets" not in found
    # d is in three rows, fewer than are listed; the others have their supports.
    assert found["items"]["median_error"] == {"mean": 0.0, "sd": 0.0}
    pairs = [["a", "b"], ["b", "c"], ["a", "d"]]
    result = sv.measure(ROWS, drawn, queries=pairs, itemsets=3, itemset_length=2)
    expected = errors(
        [frozenset(row) for row in ROWS],
        [[frozenset(row) for row in rows] for rows in drawn],
        [frozenset(pair) for pair in pairs],
    )
    assert expected is not None
    assert close(result["queries"], {**expected, "left_out": 1})
    assert result["itemsets"]["longest"] == 2
    assert sv.measure(ROWS, drawn, query_size=1)["queries"]["number"] == 1000
    assert sv.measure(ROWS, drawn, queries=7)["queries"]["number"] == 7
    assert sv.measure(ROWS, drawn, query_support=3)["queries"]["number"] == 5


def test_rows_of_one_item_have_no_queries() -> None:
    rows = 3 * [["a"], ["b"]]
    drawn = sv.reconstruct(sv.anonymize(rows, sv.KmAnonymity(2, 2), details=False), draws=2)
    found = sv.measure(rows, drawn)
    assert found["queries"] == {
        "number": 0, "left_out": 0, "mean_error": None, "median_error": None, "of_mean": None,
    }  # fmt: skip
    with pytest.raises(RequestError, match="no row contains more than 1"):
        sv.measure(rows, drawn, query_size=2)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"group_by": 3}, "group_by cannot be used for a reconstruction"),
        ({"hierarchy": "t.csv", "private": ["a"]}, "hierarchy, private cannot be used for a reconstruction"),
        ({"itemset_length": 2}, "itemset_length: only with itemsets"),
    ],
)
def test_what_means_nothing_of_draws(drawn: sv.Reconstruction, options: Any, message: str) -> None:
    with pytest.raises(RequestError, match=message):
        sv.measure(ROWS, drawn, **options)


def test_rows_that_cannot_be_read(drawn: sv.Reconstruction) -> None:
    with pytest.raises(DataError):
        sv.measure("gone.csv", drawn)
