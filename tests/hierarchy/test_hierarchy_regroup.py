"""New groups below the groups of a hierarchy: how they are made, named, and chosen by what they cost."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from naive import exact as naive_exact
from naive import regroup as naive
from setveil.base.errors import InfeasibleError, MissingItemsError, RequestError
from setveil.judges.guarantees.km import KmAnonymity
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.regroup import Grouper, Nest, Regrouping, common_part, groups_within, regrouped
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.studies.regroup import regroup

ITEMS = "abcdefgh"
WAYS = [
    Regrouping("support", 2),
    Regrouping("support", 3),
    Regrouping("company", 2),
    Regrouping("company", 3),
]

many_rows = st.lists(st.frozensets(st.sampled_from(ITEMS), max_size=4), min_size=1, max_size=25)


def tree_of(first: str, second: str, third: str = "") -> dict[str, str | None]:
    """Make two groups below the root; the second has a group of its own."""
    out: dict[str, str | None] = {"*": None, "A": "*", "B": "*"}
    out |= dict.fromkeys(first, "A") | dict.fromkeys(second, "B")
    return out | ({"C": "B"} | dict.fromkeys(third, "C") if third else {})


def data_of(rows: list[frozenset[str]], items: str = ITEMS) -> Transactions:
    """Make rows that together contain every item of the tree."""
    return Transactions.from_rows([*rows, *([item] for item in items)])


@given(many_rows, st.sampled_from(WAYS))
def test_groups_are_those_of_plain_loops(rows: list[frozenset[str]], how: Regrouping) -> None:
    tree = Hierarchy(tree_of("abc", "de", "fgh"))
    data = data_of(rows)
    grouper = Grouper(data, tree)
    plain = [frozenset(row) for row in data.rows()]
    for label in ("A", "B", "*"):
        make = naive.by_support if how.way == "support" else naive.by_company
        made = grouper.grouped(tree.id(label), how)
        expected = make(plain, naive.below(tree_of("abc", "de", "fgh"), label), how.size)
        if how.way == "company" and made != expected:  # sums of roots may be equal except for rounding
            assert is_as_alike(plain, made, expected)
        else:
            assert made == expected


def is_as_alike(rows: list[frozenset[str]], made: list[Any], expected: list[Any]) -> bool:
    def likeness(nests: list[Any]) -> float:
        return sum(
            naive.similarity(rows, [x], [y])
            for nest in nests
            for x in naive.items_of(nest)
            for y in naive.items_of(nest)
        )

    return abs(likeness(made) - likeness(expected)) < 1e-6


@settings(max_examples=25, deadline=None)
@given(many_rows, st.sampled_from([(2, 1), (2, 2), (3, 1)]), st.sampled_from([2, 3]))
def test_the_plan_is_the_best_of_all(rows: list[frozenset[str]], promise: tuple[int, int], size: int) -> None:
    """Against brute force: every cut and suppression, of every plan of both groups."""
    k, m = promise
    items = "abcdef"
    parents = tree_of("abc", "d", "ef")
    data = data_of([row & frozenset(items) for row in rows], items)
    plain = [frozenset(row) for row in data.rows()]
    try:
        found = regroup(data, Hierarchy(parents), 1, KmAnonymity(k, m), group=size)
    except InfeasibleError:
        return
    assert found.complete
    choices = {
        node: [
            None,
            naive.by_support(plain, naive.below(parents, node), size),
            naive.by_company(plain, naive.below(parents, node), size),
        ]
        for node in "AB"
    }
    losses = {}
    for plan in product(*choices.values()):
        below = {node: nests for node, nests in zip(choices, plan, strict=True) if nests is not None}
        losses[str(plan)] = naive_exact.least_loss(
            plain, naive.replaced(parents, below), k, m, naive_exact.Terms()
        )
    least = min(loss for loss in losses.values() if loss is not None)
    assert found.after.loss == pytest.approx(float(least))
    assert found.before.loss == pytest.approx(float(losses[str((None, None))] or 0))
    assert found.before.proven
    assert found.after.proven
    mine = {
        label: None if found.tree.labels[found.tree.root] == label else above(found.tree, label)
        for label in found.tree.labels
    }
    assert naive_exact.least_loss(plain, mine, k, m, naive_exact.Terms()) == least


def above(tree: Hierarchy, label: str) -> str:
    return str(tree.labels[int(tree.parent[tree.id(label)])])


@given(
    st.lists(st.frozensets(st.sampled_from(ITEMS), max_size=4), max_size=15),
    st.lists(st.sampled_from([None, *WAYS]), min_size=2, max_size=2),
    st.sampled_from([0, 1]),
)
def test_new_groups_stay_inside_and_have_names(
    rows: list[frozenset[str]], hows: list[Regrouping | None], level: int
) -> None:
    parent_tree = Hierarchy(tree_of("abc", "de", "fgh"))
    data = data_of(rows)
    grouper = Grouper(data, parent_tree)
    nodes = groups_within(parent_tree, level)
    plan = {
        node: grouper.grouped(node, how) for node, how in zip(nodes, hows, strict=False) if how is not None
    }
    tree = regrouped(parent_tree, plan, grouper.supports)
    assert tree.labels[: tree.n_leaves] == parent_tree.labels[: parent_tree.n_leaves]
    assert len(set(tree.labels)) == tree.n_nodes
    for node in nodes:
        label = parent_tree.labels[node]
        assert set(tree.under(tree.id(label)).tolist()) == set(parent_tree.under(node).tolist())
    for v in range(tree.n_leaves, tree.n_nodes):
        assert len(tree.children(v)) > 1 or tree.labels[v] in parent_tree
        if tree.labels[v] not in parent_tree:
            size = max(how.size for how in hows if how is not None)
            assert len(tree.children(v)) <= size
            text = tree.labels[v].split(": ")[-1]
            named = text.split(" +")[0].split(", ")
            under = {tree.labels[leaf] for leaf in tree.leaves(v)}
            assert set(named) <= under
            more = int(text.split(" +")[1]) if " +" in text else 0
            assert len(named) + more == len(under)
            if level == 1:
                assert tree.labels[v].startswith(("A: ", "B: "))


def test_names_of_groups() -> None:
    assert common_part(["250.01", "250.83"]) == "250"
    assert common_part(["250.01", "251.83"]) == ""
    assert common_part(["whole milk", "butter milk", "milk"]) == "milk"
    assert common_part(["hard cheese", "soft cheese", "cheeses"]) == ""
    assert common_part(["tea", "teapot"]) == ""
    assert common_part(["V45.1", "V45.2"]) == "V45"
    items = ["whole milk", "butter milk", "tea", "green tea", "250.01", "250.02", "250.1", "401.9"]
    parents: dict[str, str | None] = {"food": "*", "sick": "*", "*": None}
    parents |= dict.fromkeys(items[:4], "food") | dict.fromkeys(items[4:], "sick")
    tree = Hierarchy(parents)
    data = Transactions.from_rows([[item] for item in items] + [["250.02"], ["250.1"], ["green tea"]])
    grouper = Grouper(data, tree)
    plan: dict[int, list[Nest]] = {
        tree.id("food"): [["whole milk", "butter milk"], ["tea", "green tea"]],
        tree.id("sick"): [["250.02", "250.1"], ["250.01", "401.9"]],
    }
    made = regrouped(tree, plan, grouper.supports)
    # Two of the three that begin with 250: not called 250, for that would mean the third as well.
    assert set(made.labels) - set(tree.labels) == {
        "food: milk", "food: tea", "sick: 250.02, 250.1", "sick: 250.01, 401.9",
    }  # fmt: skip
    called = {
        "250.01": "diabetes 1",
        "250.02": "diabetes 2",
        "250.1": "ketoacidosis",
        "401.9": "hypertension",
    }
    named = regrouped(tree, plan, grouper.supports, called)
    assert {"sick: diabetes 2, ketoacidosis", "sick: diabetes 1, hypertension"} <= set(named.labels)


def test_a_group_is_never_called_like_another_node() -> None:
    tree = Hierarchy.from_paths(
        [["a", "A", "*"], ["b", "A", "*"], ["c", "A", "*"], ["A: a, b", "A", "*"], ["x", "*"]]
    )
    plan: dict[int, list[Nest]] = {tree.id("A"): [["a", "b"], ["c", "A: a, b"]]}
    made = regrouped(
        tree, plan, Grouper(Transactions.from_rows([tree.labels[: tree.n_leaves]]), tree).supports
    )
    assert len(set(made.labels)) == made.n_nodes == 9
    assert "A: a, b*" in made


def test_rows_of_another_year_may_teach() -> None:
    tree = Hierarchy(tree_of("abc", "de", "fgh"))
    rows = [["a"], ["b"], ["a", "d"], ["d"], ["e"], ["f"], ["f"], ["e"], ["a"], ["b"]]
    found = regroup(Transactions.from_rows(rows), tree, 1, KmAnonymity(2, 1))
    assert found.tree.labels[:8] == tree.labels[:8]
    words = "\n".join(found.in_words())
    assert "items suppressed" in words
    assert found.after.loss <= found.before.loss


def test_where_time_is_up_the_best_so_far_is_taken() -> None:
    tree = Hierarchy(tree_of("abc", "de", "fgh"))
    found = regroup(data_of([frozenset("ab")] * 3), tree, 1, KmAnonymity(2, 1), time_limit=0)
    assert not found.complete
    assert found.tree == tree
    assert found.before == found.after
    assert "ended before all were" in "\n".join(found.in_words())
    assert "Note" not in "\n".join(found.in_words())

    class Stopping:
        stoppable = False
        n_polls = 0

        def __call__(self, phase: str, done: float | None = None) -> None:
            assert self.stoppable or phase != "trying groups"
            self.n_polls += phase == "trying groups"

        def stop_requested(self) -> bool:
            return self.n_polls >= 3

    listener = Stopping()
    stopped = regroup(data_of([frozenset("ab")] * 3), tree, 1, KmAnonymity(2, 1), progress=listener)
    assert not stopped.complete
    assert stopped.tried <= 4
    assert not listener.stoppable


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"within": 3}, RequestError, "within=3 names no groups, expected a level from 0"),
        ({"within": -1}, RequestError, "names no groups"),
        ({"within": 1, "group": 1}, RequestError, "group must be at least 2, got 1"),
        ({"within": 1, "objective": "ncp"}, RequestError, "objective must be lm or entropy"),
    ],
)
def test_what_cannot_be_is_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    tree = Hierarchy(tree_of("abc", "de", "fgh"))
    with pytest.raises(error, match=words):
        regroup(data_of([]), tree, **options)
    with pytest.raises(MissingItemsError):
        regroup(Transactions.from_rows([["z"]] * 5), tree, 1)
