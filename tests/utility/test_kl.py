"""Reconstruction errors against their twin."""

from __future__ import annotations

import math

import numpy as np
import pytest

from group_cases import publish, random_groups
from naive import cahd as naive
from setveil.base.errors import DataError, RequestError
from setveil.judges.utility.kl import group_by_errors, group_sizes, random_group_bys
from strategies import ALPHABETS, examples, random_rows, seeded, transactions


def test_against_twin() -> None:
    rng = seeded(630)
    answered = 0
    for _ in range(examples(600, 120)):
        alphabet = rng.choice(ALPHABETS)
        rows = random_rows(rng, alphabet, rng.randint(1, 40), rng.randint(1, 5))
        sensitive = frozenset(rng.sample(alphabet, rng.randint(1, 3)))
        found = random_groups(rng, len(rows))
        groups = publish(rows, sensitive, found)
        queries = random_group_bys(groups, rng.randint(1, 5), 5, rng.randrange(1000))
        errors = group_by_errors(transactions(rows), groups, queries)
        for (s, query), value in zip(queries, errors.divergence.tolist(), strict=True):
            assert value == pytest.approx(naive.divergence(rows, s, query, found), abs=1e-12)
            assert value >= 0
        answered += errors.queries
    assert answered > examples(1500, 300)


ROWS = [frozenset(row) for row in ("as", "a", "b", "b", "")]


def test_worked_by_hand() -> None:
    """s is in one row of {a, a, b, b}: Act(a) = 1, Est(a) = 1/2."""
    groups = publish(ROWS, frozenset("s"), [[0, 1, 2, 3], [4]])
    errors = group_by_errors(transactions(ROWS), groups, [("s", ("a",)), ("s", ("a", "b")), ("s", ())])
    assert errors.divergence.tolist() == [math.log(2), math.log(2), 0]
    assert errors.as_dict() == {
        "mean": pytest.approx(2 * math.log(2) / 3),
        "sd": pytest.approx(math.log(2) * math.sqrt(2) / 3),
        "queries": 3,
        "group_by": 2,
    }


def test_single_rows_are_exact() -> None:
    groups = publish(ROWS, frozenset("s"), [[x] for x in range(5)])
    assert group_by_errors(transactions(ROWS), groups, random_group_bys(groups, 2, 50)).mean == 0


def test_drawing() -> None:
    rows = [frozenset({"s", *"abc"}), *[frozenset("a")] * 50, frozenset("t")]
    groups = publish(rows, frozenset("st"), [list(range(52))])
    queries = random_group_bys(groups, 2, 300, 5)
    assert queries == random_group_bys(groups, 2, 300, 5)
    assert queries != random_group_bys(groups, 2, 300, 6)
    assert {s for s, _ in queries} == {"s", "t"}
    assert {query for _, query in queries} == {("a", "b"), ("a", "c"), ("b", "c")}
    often = random_group_bys(groups, 1, 300, frequent=True)
    assert sum(query == ("a",) for _, query in often) > 250
    assert {query for _, query in random_group_bys(groups, 9, 3)} == {("a", "b", "c")}  # all there are


def test_drawing_stays_the_same() -> None:
    """The raw stream of the generator is promised for ever; so are the queries."""
    groups = publish([frozenset({"s", *"abcdefgh"})], frozenset("s"), [[0]])
    assert random_group_bys(groups, 3, 3, 1) == FIRST_QUERIES


FIRST_QUERIES = [("s", ("c", "f", "g")), ("s", ("a", "c", "e")), ("s", ("c", "e", "f"))]


def test_nothing_sensitive_occurs() -> None:
    groups = publish([frozenset("a")], frozenset("s"), [[0]])
    assert random_group_bys(groups) == []
    errors = group_by_errors(transactions([frozenset("a")]), groups, [])
    assert errors.as_dict() == {"mean": None, "sd": None, "queries": 0, "group_by": 0}


def test_bad_requests() -> None:
    groups = publish(ROWS, frozenset("s"), [[0, 1, 2, 3, 4]])
    for group_by in (0, 17):
        with pytest.raises(RequestError, match="1 to 16"):
            random_group_bys(groups, group_by)
    with pytest.raises(RequestError, match="At least one"):
        random_group_bys(groups, queries=0)
    data = transactions(ROWS)
    for query in (("x", ("a",)), ("a", ("b",)), ("s", ("x",))):
        with pytest.raises(DataError, match="A query"):
            group_by_errors(data, groups, [query])
    other = transactions([frozenset("asb"), frozenset("b")])
    with pytest.raises(DataError, match="not those of this original"):
        group_by_errors(other, groups, [("s", ("a", "b"))])


def test_group_sizes() -> None:
    assert group_sizes(np.array([2, 2, 5])) == {
        "groups": 3, "smallest": 2, "median": 2.0, "mean": 3.0, "largest": 5,
        "distribution": [[2, 2], [5, 1]],
    }  # fmt: skip
    assert group_sizes(np.array([], np.int64))["mean"] is None
