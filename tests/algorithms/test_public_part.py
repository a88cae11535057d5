"""Rows and hierarchy without the sensitive items, and the recodings made from them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from setveil.base.errors import HierarchyError, RequestError
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms._public_part import PublicPart, unseen_warnings
from setveil.releases.published.recoding import recode
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, random_cases, seeded

PARENTS = {
    "a1": "A", "a2": "A", "s": "A", "b": "B", "t": "B", "u": "U", "A": "*", "B": "*", "U": "*", "*": None,
}  # fmt: skip
TREE = Hierarchy(PARENTS)
DATA = Transactions.from_rows([["a1", "s", "t"], ["a2", "b"], [], ["s"]])
SENSITIVE = ["s", "t", "u"]


def test_rows_and_tree() -> None:
    part = PublicPart(DATA, TREE, SENSITIVE)
    assert part.rows.rows() == [("a1",), ("a2", "b"), (), ()]
    assert part.tree.paths() == [["a1", "A", "*"], ["a2", "A", "*"], ["b", "*"]]
    assert [part.tree.labels[leaf] for leaf in part.leaf] == ["a1", "a2", "b"]
    assert [DATA.vocabulary.labels[s] for s in part.sensitive] == ["s", "t"]
    assert part.warnings == ["1 sensitive item is in no row: 'u'."]


def test_recoding_counts_public_leaves_only() -> None:
    part = PublicPart(DATA, TREE, SENSITIVE)
    group = part.tree.id("A")
    nodes = np.array([group, group, -1])
    s = DATA.vocabulary.ids["s"]
    recoding = part.recoding(nodes, [s])
    assert recoding.items.labels == TREE.labels[: TREE.n_leaves]
    assert recoding.members() == {"t": ["t"], "u": ["u"], "A": ["a1", "a2"]}
    assert list(recode(DATA, recoding)) == [("t", "A"), ("A",), (), ()]
    # a1 and a2 as A: 2 of 3 items (or 1 of 2 others) each; b and both s suppressed; t as itself.
    assert ncp(DATA, recoding) == pytest.approx(float((2 * Fraction(2, 3) + 3) / 6))
    assert lm(DATA, recoding) == pytest.approx(float((2 * Fraction(1, 2) + 3) / 6))


def test_local_recoding() -> None:
    part = PublicPart(DATA, TREE, SENSITIVE)
    hidden = np.zeros(DATA.n_occurrences, bool)
    hidden[[0, 1]] = True  # a1, which is not sensitive, and s of row 0
    nodes = np.array([part.tree.id("*"), part.tree.id("a2"), -1])
    recoding = part.local_recoding(nodes, hidden)
    assert recoding.members() == {"a2": ["a2"], "s": ["s"], "t": ["t"], "*": ["a1", "a2", "b"]}
    assert list(recode(DATA, recoding)) == [("t", "*"), ("a2",), (), ("s",)]
    assert ncp(DATA, recoding) == pytest.approx(3 / 6)


def test_both_kinds_of_recodings_agree() -> None:
    for case in random_cases(examples(100, 30), 900):
        rng = seeded(len(case.rows))
        leaves = case.tree.labels[: case.tree.n_leaves]
        if len(leaves) < 2:
            continue
        sensitive = rng.sample(leaves, rng.randint(1, len(leaves) - 1))
        part = PublicPart(case.data, case.tree, sensitive)
        hides = [s for s in part.sensitive.tolist() if rng.random() < 0.5]
        nodes = np.array([
            rng.choice([leaf, *part.tree.ancestors(leaf), -1]) for leaf in range(part.tree.n_leaves)
        ])  # fmt: skip
        whole = part.recoding(nodes, hides)
        hidden = np.isin(case.data.items, hides)
        local = part.local_recoding(nodes[part.leaf[part.rows.items]], hidden)
        assert list(recode(case.data, whole)) == list(recode(case.data, local))
        kept = [row - set(sensitive) for row in case.rows]
        assert [frozenset(row) for row in part.rows] == kept
        assert {*part.tree.labels[: part.tree.n_leaves]} == set(leaves) - set(sensitive)


def test_unknown_sensitive_items() -> None:
    with pytest.raises(RequestError, match=r"1 sensitive item is neither in the data nor .*: 'x'\."):
        PublicPart(DATA, TREE, ["s", "x"])
    with pytest.raises(RequestError, match=r"1 sensitive item is no item but a group .*: 'B'\."):
        PublicPart(DATA, TREE, ["s", "B"])
    with pytest.raises(RequestError, match=r"2 sensitive items are not in the data: 'u', 'x'\."):
        unseen_warnings(DATA, ["u", "x"])
    with pytest.raises(HierarchyError, match="not in the hierarchy"):
        PublicPart(DATA, Hierarchy({"a1": "*", "a2": "*", "*": None}), ["s"])
    nothing = Transactions.from_rows([[]])
    assert unseen_warnings(nothing, ["x"]) == ["1 sensitive item is in no row: 'x'."]
    with pytest.raises(RequestError, match="All 6 items of the hierarchy are sensitive"):
        PublicPart(nothing, TREE, TREE.labels[: TREE.n_leaves])
