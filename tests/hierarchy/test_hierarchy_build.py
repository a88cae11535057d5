"""Hierarchies made from the data."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cli_helpers import needs_compiled
from real_data import DATA
from setveil.base.errors import DataError, RequestError
from setveil.kernels.rows import distinct_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.hierarchy._cooccurrence import group_similar, similar_items
from setveil.rows.hierarchy.build import balanced, by_cooccurrence, by_prefix, extend
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

FRUIT = Hierarchy.from_paths([["apple", "fruit", "*"], ["pear", "fruit", "*"], ["soap", "*"]])

rows_of_letters = st.lists(st.lists(st.sampled_from("abcdefghij"), max_size=6), min_size=1, max_size=30)


def real(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"no {name} in {DATA}: set SETVEIL_DATA to the folder that contains it")
    return path


def fimi(name: str) -> Transactions:
    with real(name).open(encoding="utf-8") as lines:
        return Transactions.from_rows(line.split() for line in lines)


def items_of(count: int) -> Transactions:
    return Transactions.from_rows([[str(i)] for i in range(count)])


def assert_covers(tree: Hierarchy, data: Transactions, fanout: int) -> None:
    assert list(tree.labels[: tree.n_leaves]) == item_order(data.vocabulary.labels)
    assert max(len(tree.children(v)) for v in range(tree.n_nodes)) <= fanout


@pytest.mark.parametrize("name", ["bms_webview1", "bms_webview2"])
def test_balanced_makes_the_benchmark_hierarchies(name: str, tmp_path: Path) -> None:
    expected = real(f"{name}_hierarchy.csv")
    tree = balanced(fimi(f"{name}.dat"), order="number")
    assert tree == read_hierarchy(expected)
    write_hierarchy(tree, tmp_path / "a.csv")
    assert (tmp_path / "a.csv").read_text(encoding="utf-8") == expected.read_text(encoding="utf-8")


@given(st.integers(1, 60), st.integers(2, 7))
def test_balanced_groups_consecutive_nodes(count: int, fanout: int) -> None:
    data = items_of(count)
    tree = balanced(data, fanout)
    assert_covers(tree, data, fanout)
    assert tree.leaf_order.tolist() == list(range(count))
    assert set(tree.depth[:count].tolist()) == {tree.height}
    assert fanout ** (tree.height - 1) < max(count, 2) <= max(fanout**tree.height, 2)
    for path in tree.paths():
        for level, node in enumerate(path[1:-1], 1):
            assert node == f"L{level}_{int(path[0]) // fanout**level}"


@pytest.mark.parametrize("make", [balanced, by_cooccurrence])
def test_inner_labels_avoid_the_items(make: type) -> None:
    mark = "L" if make is balanced else "C"
    data = Transactions.from_rows([["*", f"{mark}1_0", "a"], ["b", "c", f"{mark}{mark}3_3"]])
    tree: Hierarchy = make(data, 2)
    assert_covers(tree, data, 2)
    assert tree.labels[tree.root] == "**"
    assert f"{mark * 3}1_0" in tree


@pytest.mark.parametrize("make", [balanced, by_cooccurrence])
def test_few_items_and_wrong_requests(make: type) -> None:
    assert make(Transactions.from_rows([["a"], ["a"]])).paths() == [["a", "*"]]
    assert make(Transactions.from_rows([["a", "b"]])).paths() == [["a", "*"], ["b", "*"]]
    assert make(Transactions.from_rows([["a", "b"]]), 2).height == 1
    with pytest.raises(DataError, match="no items"):
        make(Transactions.from_rows([[]]))
    with pytest.raises(RequestError, match="fan-out is 1, expected at least 2"):
        make(Transactions.from_rows([["a"]]), 1)


@pytest.mark.parametrize(
    ("codes", "at", "lengths", "paths"),
    [
        ("250 250.83 250.1 V45.2 9", ".", (), "250/250*/* 250.1/250*/* 250.83/250*/* 9/* V45.2/*"),
        ("a.b.c a.b.d a.e f.g", ".", (), "a.b.c/a.b/a/* a.b.d/a.b/a/* a.e/a/* f.g/*"),
        ("a.b.c a.b.d", ".", (), "a.b.c/* a.b.d/*"),
        ("a.b.c a.b.d x", ".", (), "a.b.c/a.b/* a.b.d/a.b/* x/*"),
        ("a.b-c a.b-d a.e x", ".-", (), "a.b-c/a.b/a/* a.b-d/a.b/a/* a.e/a/* x/*"),
        ("1234 1256 1278 5 1299", ".", (1, 3), "1234/1/* 1256/1/* 1278/1/* 1299/1/* 5/*"),
        ("1234 1235 1278 5", ".", (3, 1), "1234/123/1/* 1235/123/1/* 1278/1/* 5/*"),
        ("a a.b", ".", (), "a/* a.b/*"),
        ("a a.b a* x", ".", (), "a/a**/* a.b/a**/* a*/* x/*"),
        ("* *.a *.b x", ".", (), "*/***/** *.a/***/** *.b/***/** x/**"),
        ("a. a.b .x ..", ".", (), "../* .x/* a./a/* a.b/a/*"),
        ("a", ".", (), "a/*"),
    ],
)
def test_by_prefix(codes: str, at: str, lengths: tuple[int, ...], paths: str) -> None:
    data = Transactions.from_rows([codes.split()])
    tree = by_prefix(data, at=at, lengths=lengths)
    assert sorted("/".join(path) for path in tree.paths()) == sorted(paths.split())


@given(st.lists(st.text("ab.* ", min_size=1, max_size=7), min_size=1, max_size=20))
def test_by_prefix_makes_nodes_that_group_something(codes: list[str]) -> None:
    data = Transactions.from_rows([codes])
    tree = by_prefix(data)
    assert list(tree.labels[: tree.n_leaves]) == item_order(set(codes))
    for node in range(tree.n_leaves, tree.n_nodes):
        label = tree.labels[node]
        assert label == label.rstrip()
        if node == tree.root:
            assert len(tree.children(node)) > 1 or tree.n_leaves == 1
        else:
            assert len(tree.children(node)) > 1
            under = [tree.labels[leaf] for leaf in tree.leaves(node)]
            assert any(
                all(code.startswith(label[:end]) for code in under) for end in range(1, len(label) + 1)
            )


def test_by_prefix_refuses() -> None:
    data = Transactions.from_rows([["a"]])
    with pytest.raises(RequestError, match="at the characters ''"):
        by_prefix(data, at="")
    with pytest.raises(RequestError, match="lengths \\[0, 2\\]"):
        by_prefix(data, lengths=(0, 2))
    with pytest.raises(DataError, match="no items"):
        by_prefix(Transactions.from_rows([]))


def naive_similarities(rows: list[set[str]], items: list[str]) -> dict[tuple[int, int], Fraction]:
    support = Counter(item for row in rows for item in row)
    out = {}
    for x, a in enumerate(items):
        for y, b in enumerate(items):
            both = sum(a in row and b in row for row in rows)
            if x != y and both:
                out[x, y] = Fraction(both * both, support[a] * support[b])
    return out


def naive_groups(similar: dict[tuple[int, int], Fraction], count: int, limit: int) -> list[set[int]]:
    groups = [{i} for i in range(count)]
    for x, y in sorted(similar, key=lambda pair: (-similar[pair], pair)):
        a = next(group for group in groups if x in group)
        b = next(group for group in groups if y in group)
        if a is not b and len(a) + len(b) <= limit:
            groups.remove(b)
            a |= b
    return groups


@given(rows_of_letters, st.integers(1, 9), st.integers(2, 5))
def test_partners_and_groups_against_sets(rows: list[list[str]], most: int, limit: int) -> None:
    data = Transactions.from_rows(rows)
    items = list(data.vocabulary.labels)
    similar = naive_similarities([set(row) for row in rows], items)
    partner, value = similar_items(*distinct_rows(data.indptr, data.items), len(items), most)
    for x in range(len(items)):
        expected = sorted((-s, y) for (a, y), s in similar.items() if a == x)[:most]
        found = partner[x][partner[x] >= 0].tolist()
        assert found == [y for _, y in expected]
        np.testing.assert_allclose(value[x, : len(found)], [float(-s) for s, _ in expected])
    if most == 9:  # no pair was forgotten
        first = group_similar(partner, value, limit)
        found_groups = {frozenset(np.flatnonzero(first == g).tolist()) for g in set(first.tolist())}
        assert found_groups == {frozenset(g) for g in naive_groups(similar, len(items), limit)}
        assert all(min(np.flatnonzero(first == g)) == g for g in set(first.tolist()))


@given(rows_of_letters.filter(any), st.integers(2, 5))
def test_by_cooccurrence_makes_a_tree_over_the_items(rows: list[list[str]], fanout: int) -> None:
    data = Transactions.from_rows(rows)
    tree = by_cooccurrence(data, fanout)
    assert_covers(tree, data, fanout)
    for node in range(tree.n_leaves, tree.n_nodes):
        assert len(tree.children(node)) > 1 or tree.n_leaves == 1
    assert by_cooccurrence(Transactions.from_rows(rows[::-1]), fanout) == tree


def test_by_cooccurrence_joins_what_is_bought_alike() -> None:
    rows = [["a", "y"]] * 3 + [["b", "x"]] * 3 + [["a", "y", "c"], ["b", "x", "d"], ["c", "y"], ["d", "x"]]
    tree = by_cooccurrence(Transactions.from_rows(rows), 3)
    assert {frozenset(tree.leaves(v)) for v in tree.children(tree.root)} == {
        frozenset(tree.id(label) for label in group) for group in ("acy", "bdx")
    }


def test_by_cooccurrence_ends_where_nothing_occurs_together_or_all_with_one() -> None:
    assert by_cooccurrence(items_of(1_000), 5).height == 5
    star = Transactions.from_rows([["hub", str(i)] for i in range(1_000)])
    tree = by_cooccurrence(star, 5)
    assert_covers(tree, star, 5)
    assert tree.height <= 7


@pytest.mark.exhaustive
@needs_compiled
@pytest.mark.parametrize("name", ["bms_webview1", "groceries", "msnbc", "retail"])
def test_by_cooccurrence_on_real_data(name: str) -> None:
    if name == "groceries":
        lines = real("groceries.csv").read_text(encoding="utf-8").splitlines()
        data = Transactions.from_rows(line.split(",") for line in lines)
    else:
        data = fimi(f"{name}.dat")
    tree = by_cooccurrence(data)
    assert_covers(tree, data, 5)
    assert tree.height <= 2 * balanced(data).height


def test_extend_adds_missing_items_under_one_node() -> None:
    tree = extend(FRUIT, Transactions.from_rows([["apple", "brush", "comb"]]))
    assert tree.paths() == [
        ["apple", "fruit", "*"],
        ["pear", "fruit", "*"],
        ["brush", "(unlisted)", "*"],
        ["comb", "(unlisted)", "*"],
        ["soap", "*"],
    ]
    assert FRUIT.n_leaves == 3
    again = extend(tree, Transactions.from_rows([["axe"]]))
    assert {*again.labels} == {*tree.labels, "axe", "(unlisted)*"}
    assert again.labels[again.parent[again.id("axe")]] == "(unlisted)*"


def test_extend_leaves_a_complete_tree_alone() -> None:
    assert extend(FRUIT, Transactions.from_rows([["apple"], []])) is FRUIT


def test_extend_keeps_a_single_item_a_leaf() -> None:
    assert extend(Hierarchy({"*": None}), Transactions.from_rows([["*", "(unlisted)"]])).paths() == [
        ["(unlisted)", "(unlisted)*", "**"],
        ["*", "**"],
    ]


def test_extend_leaves_an_item_that_is_a_group_to_each_run() -> None:
    data = Transactions.from_rows([["fruit", "axe"]])
    made = extend(FRUIT, data)
    assert "axe" in made
    assert set(made.labels) - {"axe", "(unlisted)"} == set(FRUIT.labels)  # published labels stay unchanged
    path = next(path for path in fitted(made, data.vocabulary.labels).paths() if path[0] == "fruit")
    assert path[:2] == ["fruit", "fruit*"]


def groups_of(tree: Hierarchy) -> set[frozenset[str]]:
    found: dict[str, set[str]] = {}
    for item, above, *_ in tree.paths():
        found.setdefault(above, set()).add(item)
    return set(map(frozenset, found.values()))


def test_orders_of_a_balanced_hierarchy() -> None:
    rows = [["d", "b"], ["c", "d"], ["a", "d"], ["c", "d"], ["b", "c"], ["a", "b", "d"]]
    data = Transactions.from_rows(rows)  # d in 5 rows, b and c in 3, a in 2; they appear as b d, c, a
    assert groups_of(balanced(data, 2, order="number")) == {frozenset("ab"), frozenset("cd")}
    assert (
        groups_of(balanced(data, 2))
        == groups_of(balanced(data, 2, order="support"))
        == {frozenset("db"), frozenset("ca")}
    )
    assert groups_of(balanced(data, 2, order="appearance")) == {frozenset("bd"), frozenset("ca")}
    drawn = {frozenset(groups_of(balanced(data, 2, order="random", seed=seed))) for seed in range(20)}
    assert len(drawn) == 3
    assert (
        balanced(data, 2, order="random", seed=7).paths() == balanced(data, 2, order="random", seed=7).paths()
    )
    with pytest.raises(RequestError, match="support, number, appearance, random"):
        balanced(data, order="size")


@pytest.mark.parametrize("order", ["number", "support", "appearance", "random"])
def test_rare_items_decide_no_group_of_others(order: str) -> None:
    """Neither their names nor how many rows contain them, nor where these rows are."""
    common = [[f"c{(at * 7 + n) % 12:02}" for n in range(3)] for at in range(60)]

    def groups(rare: list[list[str]], first: bool) -> list[list[str]]:
        rows = [*rare, *common] if first else [*common, *rare]
        tree = balanced(Transactions.from_rows(rows), 3, common=5, order=order, seed=3)
        return sorted(path for path in tree.paths() if path[0].startswith("c"))

    some = groups([["aaa"], ["aaa"], ["bbb"]], first=True)
    assert some == groups([["zzz"], ["zzz"], ["yyy"]], first=True)
    assert some == groups([["zzz"], ["yyy"], ["yyy"], ["yyy"]], first=False)
