"""The tree's numbers against slow, obvious answers from its links."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setveil.base.errors import HierarchyError
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy.tree import Hierarchy

Parents = dict[str, str | None]

LABELS = st.text("abX019-é *;", min_size=1, max_size=4) | st.integers(-5, 120).map(str)


@st.composite
def parents_of_trees(draw: st.DrawFn) -> Parents:
    labels = draw(st.lists(LABELS, min_size=1, max_size=25, unique=True))
    parents: Parents = {labels[0]: None}
    for i, label in enumerate(labels[1:], 1):
        parents[label] = labels[draw(st.integers(max(0, i - 4), i - 1))]
    return dict(draw(st.permutations(list(parents.items()))))


def naive_ancestors(parents: Parents, node: str) -> list[str]:
    up = parents[node]
    return [] if up is None else [up, *naive_ancestors(parents, up)]


@settings(deadline=None, max_examples=200)
@given(parents_of_trees())
def test_every_attribute_follows_from_the_links(parents: Parents) -> None:
    tree = Hierarchy(parents)
    leaves = item_order(set(parents) - set(parents.values()))
    under = {n: {v for v in leaves if v == n or n in naive_ancestors(parents, v)} for n in parents}
    smallest = {n: min(leaves.index(v) for v in under[n]) for n in parents}
    depth = {n: len(naive_ancestors(parents, n)) for n in parents}
    inner = sorted(set(parents) - set(leaves), key=lambda n: (smallest[n], -depth[n]))

    assert tree.labels == (*leaves, *inner)
    assert (tree.n_leaves, tree.n_nodes) == (len(leaves), len(parents))
    assert parents[tree.labels[tree.root]] is None
    assert sorted(tree.leaf_order.tolist()) == list(range(tree.n_leaves))
    assert tree.height == max(depth.values())
    for v, label in enumerate(tree.labels):
        up = int(tree.parent[v])
        assert (tree.labels[up] if up >= 0 else None) == parents[label]
        assert tree.id(label) == v
        assert label in tree
        assert tree.depth[v] == depth[label]
        assert [tree.labels[a] for a in tree.ancestors(v)] == naive_ancestors(parents, label)
        children = sorted((n for n in parents if parents[n] == label), key=lambda n: smallest[n])
        assert [tree.labels[c] for c in tree.children(v)] == children
        assert {tree.labels[i] for i in tree.leaves(v)} == under[label]
        assert tree.leaves(v) == sorted(tree.leaves(v))
        interval = tree.leaf_order[tree.low[v] : tree.high[v]].tolist()
        assert {tree.labels[i] for i in interval} == under[label]
        assert tree.leaf_counts[v] == len(under[label]) == len(interval)
        for w, other in enumerate(tree.labels):
            assert tree.covers(v, w) == (v == w or label in naive_ancestors(parents, other))


@given(parents_of_trees())
def test_paths_make_the_same_tree(parents: Parents) -> None:
    tree = Hierarchy(parents)
    paths = tree.paths()
    assert [path[0] for path in paths] == [tree.labels[v] for v in tree.leaf_order]
    assert Hierarchy.from_paths(paths) == tree
    assert hash(Hierarchy.from_paths(reversed(paths))) == hash(tree)


def test_trees_differ_in_labels_or_links() -> None:
    tree = Hierarchy({"a": "x", "b": "x", "x": "*", "*": None})
    assert tree != Hierarchy({"a": "x", "b": "x", "x": "+", "+": None})
    assert tree != Hierarchy({"a": "x", "b": "*", "x": "*", "*": None})
    assert tree != "a tree"


def test_arrays_are_read_only() -> None:
    tree = Hierarchy({"a": "*", "b": "*", "*": None})
    for array in (tree.parent, tree.depth, tree.low, tree.high, tree.leaf_order):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_a_single_node_is_root_and_leaf() -> None:
    tree = Hierarchy({"a": None})
    assert (tree.root, tree.n_leaves, tree.n_nodes, tree.height) == (0, 1, 1, 0)
    assert tree.paths() == [["a"]]
    assert tree.leaves(0) == [0]


def test_a_deep_tree_does_not_exhaust_the_stack() -> None:
    parents: Parents = {str(i): str(i + 1) for i in range(5_000)}
    tree = Hierarchy({**parents, "5000": None})
    assert tree.height == 5_000


@pytest.mark.parametrize(
    ("parents", "message"),
    [
        ({}, "one root, found 0"),
        ({"a": None, "b": None}, "one root, found 2: 'a', 'b'"),
        ({"a": "b", "b": "a", "*": None}, "2 nodes do not lead to the root .a cycle.: 'a', 'b'"),
        ({"a": "x", "*": None}, "1 parents are not nodes themselves: 'x'"),
        ({"": "*", "*": None}, "without a label"),
    ],
)
def test_what_is_not_a_tree_is_refused(parents: Parents, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        Hierarchy(parents)


def test_paths_that_disagree_are_refused() -> None:
    with pytest.raises(HierarchyError, match="'a' has two parents: 'x' and 'y'"):
        Hierarchy.from_paths([["a", "x", "*"], ["a", "y", "*"]])


def test_locate_finds_leaves_and_names_what_it_cannot_find() -> None:
    tree = Hierarchy.from_paths([["apple", "fruit", "*"], ["pear", "fruit", "*"], ["soap", "*"]])
    assert tree.locate(Vocabulary(["soap", "apple"])).tolist() == [2, 0]
    with pytest.raises(HierarchyError, match="1 items of the data are inner nodes") as caught:
        tree.locate(Vocabulary(["apple", "fruit"]))
    assert caught.value.problems == ("item 'fruit' is an inner node",)
    with pytest.raises(HierarchyError, match="2 of 3 items of the data are not in the hierarchy: 'x', 'y'"):
        tree.locate(Vocabulary(["apple", "x", "y"]))


def test_balanced_is_reachable_from_the_class() -> None:
    tree = Hierarchy.balanced(Transactions.from_rows([["a", "b", "c"]]), fanout=2)
    assert tree.paths() == [["a", "L1_0", "*"], ["b", "L1_0", "*"], ["c", "L1_1", "*"]]
