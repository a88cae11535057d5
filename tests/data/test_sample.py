from __future__ import annotations

import hashlib
from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from setveil.base.errors import RequestError
from setveil.rows.data.sample import grocery_sample
from setveil.rows.hierarchy.tree import Hierarchy


def digest(rows: int, seed: int) -> str:
    data, _ = grocery_sample(rows, seed)
    return hashlib.sha256("\n".join(",".join(row) for row in data).encode()).hexdigest()


def test_the_same_rows_on_every_platform() -> None:
    # If this changes, so does every figure in the documentation that was made from the sample.
    assert digest(5000, 0) == "8ed73653901ba49bb943cc7551ec1e9a8ca28288c8c046e2d43fe96ab20e980c"
    assert digest(5000, 1) != digest(5000, 0)


def test_the_hierarchy_is_a_tree_of_height_3_over_every_product() -> None:
    data, paths = grocery_sample()
    tree = Hierarchy.from_paths(paths)
    tree.locate(data.vocabulary)
    assert tree.height == 3
    assert {len(path) for path in paths} == {4}
    assert 120 <= tree.n_leaves <= 150
    assert tree.n_leaves == len(paths)
    groups, departments = {path[1] for path in paths}, {path[2] for path in paths}
    assert 28 <= len(groups) <= 35
    assert len(departments) == 8
    assert {path[3] for path in paths} == {"all products"}
    # All labels are different, so no product shares a name with a group or a department.
    assert tree.n_nodes == len(paths) + len(groups) + len(departments) + 1
    assert min(len(tree.children(node)) for node in range(tree.n_leaves, tree.n_nodes)) >= 2


def test_labels_survive_every_text_format() -> None:
    _, paths = grocery_sample(0)
    for label in {label for path in paths for label in path}:
        assert label.isascii()
        assert label.strip() == label
        assert not set(label) & set(",;\"'()\t\n")
        assert not label[0].isdigit()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_baskets_look_like_baskets(seed: int) -> None:
    lengths = grocery_sample(5000, seed)[0].row_lengths()
    assert lengths.min() == 1
    assert 5 <= lengths.mean() <= 7
    assert np.median(lengths) < lengths.mean()
    assert 18 <= lengths.max() <= 30
    assert 100 <= np.count_nonzero(lengths == 1) <= 1000


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_few_products_are_very_popular_and_a_few_very_rare(seed: int) -> None:
    data, _ = grocery_sample(5000, seed)
    supports = np.sort(data.supports())
    assert 1000 <= supports[-1] <= 2500
    assert 3 <= np.count_nonzero(supports < 5) <= 12
    # The rest has something to keep, and no product is far from its neighbour in rank.
    assert np.count_nonzero(supports >= 20) >= 0.85 * supports.size
    assert 50 <= np.median(supports) <= 250
    assert supports[-15:].sum() > 0.3 * supports.sum()


def test_products_of_a_mission_are_bought_together() -> None:
    data, _ = grocery_sample()
    single = Counter(item for row in data for item in row)
    pairs = Counter(pair for row in data for pair in combinations(row, 2))

    def lift(a: str, b: str) -> float:
        return pairs[(min(a, b), max(a, b))] * data.n_rows / (single[a] * single[b])

    for a, b in [
        ("nappies", "baby wipes"),
        ("spaghetti", "tomato sauce"),
        ("charcoal", "grill sausages"),
        ("flour", "baking powder"),
        ("cat food", "cat litter"),
    ]:
        assert lift(a, b) > 3, (a, b)
    assert lift("nappies", "charcoal") < 1


@pytest.mark.parametrize("rows", [0, 1, 7])
def test_few_rows(rows: int) -> None:
    data, paths = grocery_sample(rows)
    assert data.n_rows == rows
    assert all(data.row_lengths() > 0)
    assert len(paths) == len(grocery_sample()[1])


def test_fewer_than_no_rows() -> None:
    with pytest.raises(RequestError, match="-1 rows"):
        grocery_sample(-1)
