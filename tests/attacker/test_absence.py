"""Rows that an absent item narrows down, against a look at every pair."""

from __future__ import annotations

from typing import Any

import pytest

import setveil as sv
from naive import absence as naive
from setveil.base.errors import RequestError
from setveil.judges.attacker.absence import absence_risk, table_absence_risk
from strategies import many, random_rows, seeded, transactions
from table_cases import published, random_lines

ROWS = [["bread", "milk"], ["bread", "milk"], ["bread"], ["milk"], ["milk"], []]


def test_the_fewest_rows_of_every_row() -> None:
    rng = seeded(42)
    for _ in range(many(200)):
        rows = random_rows(rng, "abcdef"[: rng.randint(1, 6)], rng.randint(0, 10), rng.randint(1, 5))
        m, ts = rng.randint(1, 3), (2, 3, 5)
        labels = sorted(set().union(*rows)) if rows else []
        (found,) = absence_risk(transactions(rows), [(label,) for label in labels], [m], ts)
        least = [naive.fewest(rows, row, m) for row in rows]
        matching = [n for n, row in zip(least, rows, strict=True) if labels]
        below = {str(t): sum(n < t for n in matching) for t in ts}
        assert (found["rows_below"], found["fewest"]) == (below, min(matching, default=None)), rows


def test_the_fewest_rows_of_every_row_in_its_class() -> None:
    rng = seeded(44)
    for _ in range(many(150)):
        lines = random_lines(rng, 14)
        ms, ts = [0, rng.randint(1, 3)], (2, 3, 5)
        found_lines = [(line.known, line.items) for line in lines]
        signs = [(label,) for label in "abcdef"]
        for entry in table_absence_risk(published(lines), signs, ms, ts):
            least = [
                naive.fewest_in_class(found_lines, at, entry["m"], [frozenset(sign) for sign in signs])
                for at in range(len(found_lines))
            ]
            assert entry["rows_below"] == {str(t): sum(n < t for n in least) for t in ts}, lines
            assert entry["fewest"] == min(least, default=None)


def test_reported_figures() -> None:
    found = sv.risk(ROWS, m=1, absent=1)
    assert found["absence"] == {
        "absent": 1,
        "absence": "items",
        "entries": [{"m": 1, "rows_below": {"2": 1, "5": 6, "10": 6}, "fewest": 1}],
    }
    assert "If it is also known that the person does not have an item" in str(found)


def test_both_readings_of_a_release() -> None:
    release = sv.anonymize(ROWS * 2, sv.KmAnonymity(2, 1), hierarchy={"bread": "food", "milk": "food"})
    assert "absence" not in sv.risk(release, m=1)
    both = sv.risk(release, original=ROWS * 2, m=1, absent=1, absence="labels")
    assert [both[side]["absence"]["absence"] for side in ("before", "after")] == ["items", "labels"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"absent": 2}, "--absent must be 1"),
        ({"absence": "items"}, "goes with --absent"),
        ({"absent": 1, "absence": "x"}, "--absence must be"),
        ({"absent": 1, "private": ["milk"]}, "does not go with --private"),
    ],
)
@pytest.mark.usefixtures("command_line")
def test_requests_that_are_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(RequestError, match=words):
        sv.risk(ROWS, **options)
