"""Every combination of numbers of known items: rows in memory, in parts and of releases, by brute force."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain, combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from naive import risk as naive
from naive.km import Rows, item_order
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.attacker.in_parts import risk_in_parts
from setveil.releases.published.group_files import as_groups
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.tabled import TabledRows
from strategies import cut_up, examples, random_case, random_rows, seeded, transactions

THRESHOLDS = (2, 3, 5)


def combinations_of(most: int) -> list[tuple[int, ...]]:
    sizes = range(1, most + 1)
    return list(chain.from_iterable(combinations(sizes, number) for number in sizes))


def brute_force(rows: Rows, sizes: Sequence[int]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for m in sizes:
        best = {str(t): naive.best(rows, m, t) for t in THRESHOLDS}
        drawn = {str(t): pytest.approx(float(naive.random(rows, m, t)), rel=1e-9) for t in THRESHOLDS}
        sure = pytest.approx(float(naive.best_probability(rows, m)), rel=1e-9)
        chance = pytest.approx(float(naive.random_probability(rows, m)), rel=1e-9)
        least = naive.easiest(rows, m)
        one: dict[str, Any] = {"m": m, "exact": True}
        found.append({**one, "choice": "best", "rows_below": best, "probability": sure, "fewest": least})
        found.append({**one, "choice": "random", "rows_below": drawn, "probability": chance})
    return found


def in_parts(data: Transactions, folder: Path) -> TabledRows:
    folder.mkdir()
    pieces = cut_up(data, range(0, data.n_rows, 4))
    return TabledRows.of(RowsOnDisk.write(folder, pieces, data.vocabulary))


def check(rows: Rows, folder: Path) -> None:
    """Compare the answers for rows of items with brute force, in memory and in parts."""
    data = transactions(rows)
    order = item_order({item for row in rows for item in row})
    parts = in_parts(data, folder)
    for most, of in ((3, None), (2, parts)):
        for sizes in combinations_of(most):
            if of is None:
                found = attack_risk(data, sizes=sizes, thresholds=THRESHOLDS)
            else:
                found = risk_in_parts(of, sizes, THRESHOLDS)
            assert found["risk"] == brute_force(rows, sizes), (rows, sizes, of)
            largest = min(sizes[-1], 2)
            listed_items = [(one["item"], one["support"], one["rows"]) for one in found["revealing"]["items"]]
            assert listed_items == naive.revealing(rows, order, largest, THRESHOLDS[1])[:20]
            assert (found["rows"], found["revealing"]["m"]) == (len(rows), largest)


def random_sets(rng: Random) -> Rows:
    items = rng.sample(list("abcdefgh"), rng.randint(1, 6))
    return random_rows(rng, items, rng.choice((0, 1, 4, 12)), rng.choice((1, 2, 5)))


def test_every_combination_of_sizes(tmp_path: Path) -> None:
    rng = seeded(411)
    for number in range(examples(400, 60)):
        check(random_sets(rng), tmp_path / str(number))


def test_every_combination_of_sizes_of_releases(tmp_path: Path) -> None:
    """Of rows with a hierarchy, which are published with labels, and of rows in groups."""
    rng = seeded(412)
    done = 0
    for number in range(examples(60, 15)):
        case = random_case(rng, most_rows=14)
        promise = sv.KmAnonymity(k=case.k, m=case.m)
        try:
            made = sv.anonymize(case.data, promise, hierarchy=case.tree, algorithm="aa")
        except sv.SetveilError:
            continue
        published = made.published
        assert isinstance(published, Transactions)
        check([frozenset(row) for row in published], tmp_path / str(number))
        done += 1
    assert done > 5


def test_every_combination_of_sizes_of_groups() -> None:
    rng = seeded(413)
    for _ in range(examples(200, 40)):
        rows = random_sets(rng)
        groups = as_groups(transactions(rows))
        for sizes in combinations_of(3):
            found = attack_risk(groups, sizes=sizes, thresholds=THRESHOLDS)
            assert found["risk"] == brute_force(rows, sizes), (rows, sizes)


def test_the_order_of_lines_changes_no_digit_in_parts(tmp_path: Path) -> None:
    rng = seeded(414)
    for number in range(examples(40, 6)):
        rows = random_rows(rng, list("abcdefghijklm"), 70, 6)
        found = risk_in_parts(in_parts(transactions(rows), tmp_path / f"{number}"), [1, 2])
        for again in range(3):
            rng.shuffle(rows)
            folder = tmp_path / f"{number}-{again}"
            assert risk_in_parts(in_parts(transactions(rows), folder), [1, 2]) == found


def test_sets_below_the_requested_size_count_in_parts(tmp_path: Path) -> None:
    """Check that a row with one rare item is unique for two known items too, even if no row has two items."""
    rare = [frozenset("ab")] * 4 + [frozenset([item]) for item in "xyz"]
    best, _ = risk_in_parts(in_parts(transactions(rare), tmp_path / "rare"), [2])["risk"]
    assert (best["rows_below"]["2"], best["fewest"]) == (3, 1)
    single = transactions([frozenset("a"), frozenset("a"), frozenset("b")])
    best, _ = risk_in_parts(in_parts(single, tmp_path / "single"), [2])["risk"]
    assert (best["m"], best["rows_below"]["2"]) == (2, 1)
