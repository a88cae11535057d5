"""Fewer rows with the same threats, at every level of every hierarchy."""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from naive import exact as by_cuts
from naive.anonymize import up_from
from setveil import DA, HgHs, MHgHs, anonymize
from setveil.base.errors import DataError
from setveil.base.progress import silent
from setveil.methods.algorithms import _witness_rows
from setveil.methods.algorithms._witness_rows import witness_rows
from setveil.methods.algorithms.exact import exact
from setveil.rows.engine.parts import RowsOnDisk
from strategies import Case, cut_up, examples, many, random_case, seeded


@pytest.fixture(autouse=True)
def however_few(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_witness_rows, "LEAST", 0)


def supports(rows: list[frozenset[str]], case: Case, most: int) -> Counter[frozenset[str]]:
    """Supports of all sets of nodes, none above another."""
    found: Counter[frozenset[str]] = Counter()
    for row in rows:
        nodes = sorted({node for item in row for node in up_from(case.parents, item)})
        for size in range(1, most + 1):
            for some in combinations(nodes, size):
                if not any(set(up_from(case.parents, x)) & set(some) - {x} for x in some):
                    found[frozenset(some)] += 1
    return found


def test_what_is_rare_is_as_rare_and_what_is_not_is_not() -> None:
    rng = seeded(1740)
    fewer = 0
    for _ in range(examples(400, 60)):
        case = random_case(rng, most_rows=40)
        m = rng.choice((1, 2, 3, math.inf))
        kept = witness_rows(case.data, case.k, m, silent)
        assert kept.vocabulary == case.data.vocabulary
        most = min(m, 4)
        before = supports(list(case.rows), case, int(most))
        after = supports([frozenset(row) for row in kept], case, int(most))
        for some, support in before.items():
            assert min(after[some], case.k) == min(support, case.k), (case, m, some)
        assert not after.keys() - before.keys()
        fewer += kept.n_occurrences < case.data.n_occurrences
    assert fewer > many(20)


def test_they_do_not_depend_on_the_order_of_the_rows() -> None:
    rng = seeded(1741)
    for _ in range(examples(100, 20)):
        case = random_case(rng, most_rows=30)
        kept = witness_rows(case.data, case.k, 2, silent)
        assert list(witness_rows(case.shuffled(rng).data, case.k, 2, silent)) == list(kept)


def test_few_rows_and_large_tables_are_left_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    case = random_case(seeded(1742), most_rows=30)
    monkeypatch.setattr(_witness_rows, "MOST_CELLS", 1)
    assert witness_rows(case.data, 2, 2, silent) is case.data
    monkeypatch.setattr(_witness_rows, "MOST_CELLS", 1 << 20)
    monkeypatch.setattr(_witness_rows, "LEAST", 10**6)
    assert witness_rows(case.data, 2, 2, silent) is case.data


@pytest.mark.exhaustive
@pytest.mark.parametrize("algorithm", [DA(refine=True), HgHs(), MHgHs()])
def test_greedy_algorithms_find_what_they_find_in_all_rows(
    algorithm: DA | HgHs | MHgHs, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(1744)
    for _ in range(examples(300, 30)):
        case = random_case(rng, most_rows=60, most_items=5)
        if 0 < sum(map(bool, case.rows)) < case.k:
            continue
        found = []
        for least in (0, 10**6):
            monkeypatch.setattr(_witness_rows, "LEAST", least)
            release = anonymize(case.data, case.guarantee, hierarchy=case.tree, algorithm=algorithm)
            details = {name: value for name, value in release.details.items() if name != "timing"}
            found.append((list(release.published), details))
        assert found[0] == found[1], case


@pytest.mark.parametrize("suppress", [True, False])
def test_the_optimum_is_that_of_all_rows(suppress: bool) -> None:
    rng = seeded(1743)
    for _ in range(examples(60, 20)):
        case = random_case(rng, most_rows=25, most_items=6)
        if 0 < sum(map(bool, case.rows)) < case.k:
            continue
        terms = by_cuts.Terms(suppress=suppress)
        _, details = exact.anonymize(
            case.data, case.tree, case.guarantee, exact.Exact(suppress=suppress, objective="lm")
        )
        least = by_cuts.least_loss(case.rows, case.parents, case.k, case.m, terms)
        assert least is not None
        assert details["optimality"]["lower_bound"] == float(least), case


def test_the_same_rows_are_chosen_of_rows_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(1744)
    for number in range(examples(60, 12)):
        case = random_case(rng, most_rows=40)
        data, m = case.data, rng.choice((1, 2, 3, math.inf))
        monkeypatch.setattr("setveil.rows.engine.parts.OF_A_PART", rng.randint(1, 40))
        monkeypatch.setattr("setveil.rows.engine.content.OF_A_PART", rng.randint(1, 40))
        pieces = cut_up(data, [rng.randint(0, data.n_rows) for _ in range(3)])
        folder = tmp_path / str(number)
        folder.mkdir()
        parts = RowsOnDisk.write(folder, pieces, data.vocabulary)
        files = sorted(folder.iterdir())
        found, expected = (witness_rows(rows, case.k, m, silent) for rows in (parts, data))
        assert list(found) == list(expected)
        assert sorted(folder.iterdir()) == files
        with monkeypatch.context() as patch:
            patch.setattr(_witness_rows, "MOST_CELLS", 0)
            if data.n_occurrences:
                with pytest.raises(DataError, match="too many to be counted in tables"):
                    witness_rows(parts, case.k, m, silent)
            patch.setattr(_witness_rows, "LEAST", 10**6)
            assert list(witness_rows(parts, case.k, m, silent)) == list(data)
