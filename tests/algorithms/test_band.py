"""The band order against its twin and against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest

from naive import cahd as naive
from setveil.methods.algorithms.cahd._band_order import band_order, band_profile
from setveil.rows.data.transactions import Transactions
from strategies import ALPHABETS, Rows, examples, random_rows, seeded, transactions


def order_of(data: Transactions) -> list[int]:
    order: list[int] = band_order(data.indptr, data.items, data.n_items).tolist()
    return order


def drawn(seed: int, n: int, most_rows: int = 30) -> list[Rows]:
    rng = seeded(seed)
    return [
        random_rows(rng, rng.choice(ALPHABETS), rng.randint(0, most_rows), rng.randint(1, 4))
        for _ in range(n)
    ]


def test_same_order_as_twin() -> None:
    for rows in drawn(600, examples(400, 100)):
        assert order_of(transactions(rows)) == naive.band_order(rows), rows


def test_profile_against_twin() -> None:
    for rows in drawn(601, examples(500, 100)):
        data = transactions(rows)
        order = band_order(data.indptr, data.items, data.n_items)
        found = band_profile(data.indptr, data.items, data.n_items, order, cells=5)
        sorted_rows = [rows[x] for x in order.tolist()]
        assert found.bandwidth == naive.bandwidth(sorted_rows), rows
        assert found.profile == naive.profile(sorted_rows), rows
        assert found.density.shape == (min(5, data.n_rows), min(5, data.n_items))
        assert ((found.density >= 0) & (found.density <= 1 + 1e-12)).all()


def test_density_of_a_small_matrix_is_the_matrix() -> None:
    data = Transactions.from_rows([["b"], ["a", "b"], ["c"]])
    found = band_profile(data.indptr, data.items, data.n_items, np.array([0, 1, 2]))
    assert found.density.tolist() == [[1, 0, 0], [1, 1, 0], [0, 0, 1]]  # columns b, a, c: by their first row
    assert (found.bandwidth, found.profile) == (1, 1)
    coarse = band_profile(data.indptr, data.items, data.n_items, np.array([0, 1, 2]), cells=1)
    assert coarse.density.tolist() == [[pytest.approx(4 / 9)]]


def test_order_does_not_depend_on_the_input_order() -> None:
    rng = seeded(602)
    for rows in drawn(603, examples(200, 50)):
        shuffled = rng.sample(rows, len(rows))
        mine = [rows[x] for x in order_of(transactions(rows))]
        assert mine == [shuffled[x] for x in order_of(transactions(shuffled))]


def test_a_band_is_found_again() -> None:
    """Rows that each share an item with the next one only: the narrowest band is 1."""
    rng = seeded(604)
    chain = [frozenset({str(i), str(i + 1)}) for i in range(300)]
    data = transactions(rng.sample(chain, 300))
    order = band_order(data.indptr, data.items, data.n_items)
    assert band_profile(data.indptr, data.items, data.n_items, order).bandwidth == 1


def planted_band(seed: int) -> Transactions:
    """Rows of items from a window that moves over the items, shuffled."""
    rng = seeded(seed)
    n = rng.randint(200, 400)
    width = rng.randint(4, 12)
    rows = [
        frozenset(str(i * 60 // n + rng.randrange(width)) for _ in range(rng.randint(1, 5))) for i in range(n)
    ]
    return transactions(rng.sample(rows, n))


def test_bandwidth_beside_scipy() -> None:
    """On the whole no wider than SciPy's, which builds the graph of rows."""
    sparse = pytest.importorskip("scipy.sparse")
    graph = pytest.importorskip("scipy.sparse.csgraph")
    ours: list[int] = []
    theirs: list[int] = []
    for seed in range(examples(40, 10)):
        data = planted_band(605 + seed)
        shape = (data.n_rows, data.n_items)
        matrix = sparse.csr_matrix((np.ones(data.n_occurrences), data.items, data.indptr), shape)
        other = graph.reverse_cuthill_mckee(sparse.csr_matrix(matrix @ matrix.T), symmetric_mode=True)
        rows = data.indptr, data.items, data.n_items
        ours.append(band_profile(*rows, band_order(*rows)).bandwidth)
        theirs.append(band_profile(*rows, other.astype(np.int64)).bandwidth)
    assert sum(ours) <= 1.05 * sum(theirs), (ours, theirs)
