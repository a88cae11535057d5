"""Utility loss against fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from random import Random

import numpy as np
import pytest

from naive import anonymize as cuts
from naive import are as naive
from setveil.base.errors import MissingItemsError
from setveil.base.values.numbers import log2
from setveil.judges.utility.ul import hierarchy_weights, ul, ul_of_labels
from setveil.releases.published.recoding import AnyRecoding, LocalRecoding, Recoding, recode
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, random_case, seeded, transactions

# SPEC §5: the rows of the paper's Fig. 1(a) and its result, without the suppression of d.
ROWS = ["abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh"]
ALL = Vocabulary("abcdefgh")


def groups(text: str) -> Recoding:
    """Items of one word are one group; items in no word are suppressed."""
    number = {item: i for i, word in enumerate(text.split()) for item in word}
    return Recoding.from_groups(ALL, np.array([number.get(item, -1) for item in ALL.labels]))


def random_recoding(rng: Random, labels: list[str]) -> Recoding:
    """Groups of any items, without a hierarchy; some are suppressed."""
    return Recoding.from_groups(
        Vocabulary(labels), np.array([rng.randint(-1, rng.choice((2, 5))) for _ in labels])
    )


def check(data: Transactions, published: Transactions, recoding: AnyRecoding) -> None:
    rng = seeded(published.n_occurrences)
    weights = {label: Fraction(rng.randint(0, 6), 6) for label in recoding.published.labels}
    rows = [frozenset(row) for row in published]
    suppressed = int((recoding.images(data) < 0).sum())
    for terms in (weights, None):
        arguments = data.n_rows, rows, recoding.members(), recoding.domain, terms or {}
        labels = naive.ul(*arguments, 0)
        assert ul_of_labels(published, recoding, terms) == labels
        whole = naive.ul(*arguments, suppressed)
        measured = ul(data, published, recoding, terms)
        assert measured == {
            "log2": log2(whole),
            "log2_labels": log2(labels),
            "suppressed": suppressed / max(data.n_rows, 1),
        }


def test_groups_and_cuts() -> None:
    rng = seeded(600)
    for _ in range(examples(400, 60)):
        case = random_case(rng, most_rows=20)
        data = case.data
        if rng.random() < 0.5:
            recoding = random_recoding(rng, cuts.leaves(case.parents))
        else:
            cut = rng.choice(cuts.all_cuts(case.parents))
            ids = [case.tree.id(node) for node in cut]
            recoding = Recoding.from_cut(case.tree, ids, [v for v in ids if rng.random() < 0.2])
        published = recode(data, recoding)
        check(data, published, recoding)
        changed = [row for row in published if rng.random() < 0.7] + [
            ("?",),
            tuple(recoding.published.labels),
        ]
        check(data, Transactions.from_rows(changed), recoding)


def test_local_recodings() -> None:
    rng = seeded(601)
    for _ in range(examples(200, 30)):
        case = random_case(rng, most_rows=20)
        data, tree = case.data, case.tree
        up = [int(v) for v in tree.locate(data.vocabulary)[data.items]]
        nodes = np.array([rng.choice([-1, v, *tree.ancestors(v)]) for v in up], np.int64)
        recoding = LocalRecoding.from_nodes(tree, nodes)
        check(data, recode(data, recoding), recoding)


def test_weights() -> None:
    rng = seeded(602)
    for _ in range(examples(200, 40)):
        case = random_case(rng)
        recoding = random_recoding(rng, cuts.leaves(case.parents))
        assert hierarchy_weights(recoding, case.tree) == {
            label: naive.hierarchy_weight(case.parents, items) for label, items in recoding.members().items()
        }
        nodes = cuts.all_cuts(case.parents)[-1]
        whole = Recoding.from_cut(case.tree, map(case.tree.id, nodes))
        shares = [Fraction(int(c), case.tree.n_leaves) for c in whole.member_counts]
        assert list(hierarchy_weights(whole, case.tree).values()) == shares


def test_weights_need_the_items() -> None:
    tree = Hierarchy.from_paths([["a", "*"], ["b", "*"]])
    with pytest.raises(MissingItemsError, match=r"6 items .* 'c', 'd'"):
        hierarchy_weights(groups("abcdefgh"), tree)


def test_a_label_without_items_weighs_nothing() -> None:
    tree = Hierarchy.from_paths([["a", "*"], ["b", "*"]])
    recoding = Recoding(Vocabulary("ab"), Vocabulary(["*", "b"]), np.array([1, 1], np.int32), 2)
    assert hierarchy_weights(recoding, tree) == {"*": Fraction(0), "b": Fraction(1)}


def test_the_papers_example() -> None:
    """Example 3.15, over the 10 rows that the data have: 3/255 * 0.375 * 7/10 for (a,b)."""
    data = transactions([frozenset(row) for row in ROWS])
    recoding = groups("ab c d e f gh")
    published = recode(data, recoding)
    assert published.supports()[0] == 7
    only = dict.fromkeys(recoding.published.labels, Fraction(0)) | {"(a,b)": Fraction(3, 8)}
    assert ul_of_labels(published, recoding, only) == Fraction(3, 255) * Fraction(3, 8) * Fraction(7, 10)
    assert 2 ** (ul(data, published, recoding, only)["log2"] or 0) == pytest.approx(0.00309, abs=1e-5)


def test_the_result_of_the_papers_example() -> None:
    """SPEC §5: (a,b), c, e, f, (g,h); d, in 4 of 10 rows, suppressed."""
    data = transactions([frozenset(row) for row in ROWS])
    recoding = groups("ab c e f gh")
    found = ul(data, recode(data, recoding), recoding)
    # (a,b) 7, c 6, e 7, f 7, (g,h) 6 rows.
    labels = Fraction(3 * 7 + 6 + 7 + 7 + 3 * 6, 255 * 10)
    assert found["suppressed"] == 0.4
    assert found["log2_labels"] == pytest.approx(math.log2(labels), abs=1e-13)
    assert found["log2"] == pytest.approx(math.log2(labels + Fraction(4, 10)), abs=1e-13)


def test_worked_example() -> None:
    """docs/query.md: A costs 3/15 * 2/4, b1 and b2 cost 1/15 * 1/4 * 3/4."""
    data = Transactions.from_rows([["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]])
    tree = Hierarchy({"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "*", "B": "*", "*": None})
    recoding = Recoding.from_cut(tree, map(tree.id, ["A", "b1", "b2"]))
    weights = hierarchy_weights(recoding, tree)
    assert ul(data, recode(data, recoding), recoding, weights)["log2"] == -3


def test_extremes() -> None:
    nothing = Transactions.from_rows([])
    none = {"log2": None, "log2_labels": None, "suppressed": 0.0}
    assert ul(nothing, nothing, Recoding.from_groups(Vocabulary([]), np.zeros(0, int))) == none
    data = Transactions.from_rows([["a", "b"], ["a"]])
    gone = Recoding.from_groups(data.vocabulary, np.array([-1, -1]))
    assert ul(data, recode(data, gone), gone) == {
        "log2": pytest.approx(math.log2(1.5)), "log2_labels": None, "suppressed": 1.5
    }  # fmt: skip
    one = Recoding.from_groups(data.vocabulary, np.array([0, 0]))
    assert ul(data, recode(data, one), one) == {"log2": 0.0, "log2_labels": 0.0, "suppressed": 0.0}


def test_beyond_doubles() -> None:
    """One item more or less in a group of thousands."""
    n = 5000
    items = Vocabulary(str(i) for i in range(n))
    data = Transactions.from_rows([[str(i)] for i in range(n)])
    for s in (1, 2, 1000, 4999):
        recoding = Recoding.from_groups(items, np.array([0] * s + [-1] * (n - s)))
        found = ul(data, recode(data, recoding), recoding)
        assert found["log2_labels"] == pytest.approx(
            math.log2(1 - 2.0**-s) + s - n + math.log2(s / n), abs=1e-11
        )
        assert found["suppressed"] == (n - s) / n


@pytest.mark.parametrize("power", [-90000, -1075, -64, -1, 0, 1, 63, 64, 65, 1024, 90000])
def test_log2(power: int) -> None:
    for value in (Fraction(1), Fraction(3), Fraction(1, 3), Fraction(2**80 + 1, 2**80)):
        scaled = value * Fraction(2) ** power
        assert log2(scaled) == pytest.approx(math.log2(value) + power, abs=1e-10)
    assert log2(Fraction(2) ** power) == power
    assert log2(Fraction(0)) is None
