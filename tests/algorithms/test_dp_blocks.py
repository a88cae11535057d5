"""Noisy blocks: the example without noise, the twin, the influence of one row, and the privacy budget."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from random import Random
from typing import Any

import pytest

import setveil as sv
from chunk_cases import random_rows
from naive import dp_blocks as naive
from setveil.judges.utility.estimators.blocks import BlockEstimator
from setveil.methods.algorithms.noisy import _counting as counting
from setveil.methods.algorithms.noisy._opendp import OpenDP, Spent
from setveil.methods.algorithms.noisy.dp_blocks import DPBlocks, noisy_blocks
from setveil.releases.published import publish
from setveil.releases.published.block_files import PublishedBlocks
from setveil.releases.published.blocks import NoisyBlocks, dealt
from setveil.releases.published.shared import SharedSums
from strategies import examples, seeded, transactions

Row = frozenset[str]
EXAMPLE = [frozenset(row) for row in ("ab", "ab", "a", "bc", "c", "", "abc", "d")]
EPSILONS = ("0.1", "0.2", "0.5", "1", "2", "5", "10")


class Noiseless:
    """Returns counts unchanged, and asks OpenDP only for the cost of the noise."""

    def __init__(self) -> None:
        self.noise = OpenDP()

    def laplace(self, counts: Sequence[int], distance: int, budget: Fraction) -> tuple[list[int], Spent]:
        return list(counts), self.noise.laplace(counts, distance, budget)[1]

    def greatest(self, counts: Sequence[int], number: int, budget: Fraction) -> tuple[list[int], Spent]:
        order = sorted(range(len(counts)), key=lambda i: -counts[i])[:number]
        return order, self.noise.greatest(counts, number, budget)[1]


def made(rows: Sequence[Row], universe: str, epsilon: str = "1", **parameters: Any) -> NoisyBlocks:
    return noisy_blocks(
        transactions(list(rows)), tuple(universe), Fraction(epsilon), DPBlocks(**parameters), Noiseless()
    )


def estimated(one: NoisyBlocks, *queries: str) -> list[float]:
    shown = publish(transactions([]), one, 0).exposed()
    found: list[float] = BlockEstimator(SharedSums(shown, {}, None, {})).answers(queries).estimate.tolist()
    return found


def test_the_example_without_noise() -> None:
    found = made(EXAMPLE, "abcde", told_items=3, told_pairs=2, block_size=2)
    assert found.blocks == (("a", "b"), ("c",))
    assert found.cells == (3, 1, 1, 3, 5, 3)  # none, a, b, a b; none, c
    assert [(line[0], round(line[3], 9)) for line in found.spent] == [
        ("rows", 20), ("items", 12), ("pairs", 10), ("cells", 4),
    ]  # fmt: skip
    assert estimated(found, "a", "ab", "ac", "d") == [4, 3, 1.5, 0]


def test_equal_to_the_twin() -> None:
    rng = seeded(361)
    for _ in range(examples(400, 40)):
        rows, universe = random_rows(rng, 20, "abcdefg"), "abcdefgh"
        items, size = rng.randint(1, 8), rng.randint(1, 4)
        pairs = rng.randint(0, 12)
        found = made(rows, universe, told_items=items, told_pairs=pairs, block_size=size)
        pairs = 0 if size == 1 else pairs
        assert found.blocks == tuple(map(tuple, naive.blocks(rows, universe, items, pairs, size)))
        counted = [naive.cells(rows, block) for block in found.blocks]
        flat = [
            counts[frozenset(x for i, x in enumerate(block) if c >> i & 1)]
            for block, counts in zip(found.blocks, counted, strict=True)
            for c in range(1 << len(block))
        ]
        assert list(found.cells) == flat
        queries = ["".join(rng.sample(universe, rng.randint(1, 3))) for _ in range(5)]
        exact = [float(naive.estimate(counted, len(rows), query)) for query in queries]
        assert estimated(found, *queries) == pytest.approx(exact)


def test_one_row_changes_what_it_may() -> None:
    """Supports of items and pairs by one at most, upwards; of every block one cell, however long the row."""
    universe = "abcde"
    rng = seeded(362)
    for _ in range(examples(40, 8)):
        rows = random_rows(rng, 6, universe)
        blocks = [[0, 2], [1], [3, 4]]

        def counts(
            some: list[Row], blocks: list[list[int]] = blocks
        ) -> tuple[list[int], list[int], list[int]]:
            data = transactions(some)
            held = counting.held(data, universe)
            return (
                counting.item_supports(data, universe),
                counting.pair_supports(held)[1],
                counting.cells(held, blocks),
            )

        before = counts(rows)
        for added in naive.subsets(universe):
            after = counts([*rows, added])
            for old, new in zip(before[:2], after[:2], strict=True):
                assert {n - m for m, n in zip(old, new, strict=True)} <= {0, 1}
            moved = [n - m for m, n in zip(before[2], after[2], strict=True)]
            assert sum(map(abs, moved)) == len(blocks)
            assert min(moved) >= 0


@pytest.mark.parametrize("epsilon", [*EPSILONS, "0.3", "0.7", "3", "1/3", "0.000012"])
def test_what_is_spent_adds_up(epsilon: str) -> None:
    rng = seeded(363)
    for _ in range(6):
        items, size = rng.randint(1, 26), rng.randint(1, 4)
        found = made(EXAMPLE, "abcdefghijklmnopqrstuvwxyz", epsilon, told_items=items, block_size=size)
        spent = sum((line[1] for line in found.spent), Fraction(0))
        assert spent <= Fraction(epsilon)
        if epsilon != "1/3":
            assert spent == Fraction(epsilon)
        else:
            assert spent > Fraction(epsilon) * (1 - Fraction(1, 10**11))
        for what, cost, distance, scale in found.spent:
            times = {"items": items, "pairs": min(items, items * (items - 1) // 2)}.get(what, 1)
            assert Fraction(scale) * cost >= distance * times * (1 - Fraction(1, 10**12))


def test_dealt_by_largest_remainders() -> None:
    rng = Random(364)
    for _ in range(examples(200, 100)):
        counts = [rng.randint(-5, 9) for _ in range(rng.choice([2, 4, 8]))]
        number = rng.randint(0, 40)
        assert dealt(counts, number) == naive.dealt(counts, number)


ROWS = [["tea", "milk"], ["tea"], ["milk"], ["rum", "tea"]] * 25
UNIVERSE = ["milk", "rum", "soap", "tea"]


def released(seed: int = 0, **parameters: Any) -> Any:
    settings = DPBlocks(universe=UNIVERSE, **parameters)
    return sv.anonymize(ROWS, sv.DifferentialPrivacy(1), algorithm=settings, seed=seed)


def test_noise_has_no_seed_and_rows_follow_from_the_counts() -> None:
    shown = [released().release.exposed() for _ in range(4)]
    assert len({one.cells for one in shown}) > 1, "16 cells with noise of scale 2 do not come out alike"
    for one in shown:
        assert isinstance(one, PublishedBlocks)
        assert one.rows.n_rows == max(0, one.noisy_rows)
        for block, cells in one.cells_of():
            found = Counter(frozenset(row) & frozenset(block) for row in one.rows.rows())
            expected = naive.dealt(cells, one.rows.n_rows)
            inside = [frozenset(x for i, x in enumerate(block) if c >> i & 1) for c in range(len(cells))]
            assert [found[cell] for cell in inside] == expected


def test_the_seed_deals_out_rows() -> None:
    noisy = made([frozenset(row) for row in ROWS], "x", told_items=1)
    assert publish(transactions([]), noisy, 3).exposed().shows(publish(transactions([]), noisy, 3).exposed())
    blocks = made([frozenset(str(x)[0] for x in row) for row in ROWS], "mrst", block_size=2)
    one, other = (publish(transactions([]), blocks, seed).exposed() for seed in (0, 1))
    assert one.cells == other.cells
    assert list(one.rows.rows()) != list(other.rows.rows())


def test_fewer_than_no_rows() -> None:
    noisy = NoisyBlocks(Fraction(1), (), -3, (("a",),), (-2, -1))
    shown = publish(transactions([]), noisy, 0).exposed()
    assert shown.rows.n_rows == 0
    assert BlockEstimator(SharedSums(shown, {}, None, {})).answers([["a"]]).estimate.tolist() == [0]


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({}, "fixed without looking at the data"),
        ({"universe": ["tea", "milk"]}, "1 item is not in the list of all items: 'rum'"),
        ({"universe": UNIVERSE, "told_items": 5}, "there can be only 4 items"),
        ({"universe": [str(i) for i in range(20000)] + UNIVERSE, "told_items": 20000}, "more than 1,000,000"),
    ],
)
def test_refused(parameters: Any, text: str) -> None:
    with pytest.raises((sv.RequestError, sv.DataError), match=text):
        sv.anonymize(ROWS, sv.DifferentialPrivacy(1), algorithm=DPBlocks(**parameters))


def test_a_hierarchy_made_from_the_data_is_no_universe() -> None:
    from setveil.rows.hierarchy.build import by_cooccurrence

    tree = by_cooccurrence(sv.Transactions.from_rows(ROWS))
    with pytest.raises(sv.RequestError, match="this hierarchy was made from the data"):
        sv.anonymize(ROWS, sv.DifferentialPrivacy(1), hierarchy=tree, algorithm="dp-blocks")
    hierarchy = sv.Hierarchy.from_paths([[x, "*"] for x in UNIVERSE])
    release = sv.anonymize(ROWS, sv.DifferentialPrivacy(1), hierarchy=hierarchy, algorithm="dp-blocks")
    assert release.details["universe"] == {"items": 4, "from": "hierarchy"}


@pytest.mark.parametrize("epsilon", [0, -1, "0", "-1/2", "x", None, True, float("inf")])
def test_no_epsilon(epsilon: Any) -> None:
    with pytest.raises(sv.RequestError, match="epsilon must be a number above 0"):
        sv.DifferentialPrivacy(epsilon)


def test_noise_beyond_all_numbers() -> None:
    with pytest.raises(sv.RequestError, match=r"epsilon must be a number from 0\.000001 to 1,000,000"):
        sv.anonymize(ROWS, sv.DifferentialPrivacy("1e-300"), algorithm=DPBlocks(universe=UNIVERSE))


def test_without_opendp(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(sv.RequestError, match="OpenDP, which is not installed") as raised:
        released()
    assert "pip install 'opendp>=" in str(raised.value)
