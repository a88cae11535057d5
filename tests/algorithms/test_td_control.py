"""TDControl, compared with its twin: the same cut, the same suppressed items, the same cost."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from naive import rho as naive
from naive.anonymize import all_cuts
from releases import released
from rho_cases import DATA, HALF, PAPER, PARENTS, SENSITIVE, published, random_trees
from setveil.base.errors import HierarchyError, RequestError
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms.rho import td_control
from setveil.methods.algorithms.rho.td_control import TDControl, anonymize
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples

TREE = Hierarchy(PARENTS)


def test_worked_example_of_the_twin() -> None:
    found = naive.TopDown(PAPER, PARENTS, SENSITIVE, HALF, "ncp")
    costs = {" ".join(sorted(cut)): (gone, cost) for cut, (gone, cost) in found.tried.items()}
    assert costs["ALL"] == ([], 60)
    assert costs["A B"] == ([], 30)
    assert costs["A b1 b2"] == (["t"], 22)
    assert costs["a1 a2 b1 b2"] == (["t"], 8)
    assert (found.gone, found.cost) == (["t"], 8)


def test_worked_example_is_optimal() -> None:
    """Check that no cut with any set of suppressed items costs less than 8 of 80."""
    twin = naive.TopDown(PAPER, PARENTS, SENSITIVE, HALF, "ncp")
    costs = set()
    for cut in all_cuts(twin.tree):
        rows = twin.published(cut)
        names = [*cut, *SENSITIVE]
        for suppressed in product((False, True), repeat=len(names)):
            gone = {name for name, out in zip(names, suppressed, strict=True) if out}
            if naive.is_uncertain([row - gone for row in rows], SENSITIVE, HALF):
                each = {v: twin.worst if v in gone else twin.each[v] for v in names}
                costs.add(sum(twin.occurrences(v) * each[v] for v in names))
    assert min(costs) == 8


def test_worked_example() -> None:
    release = released(td_control, DATA, TREE, RhoUncertainty("1/2", SENSITIVE))
    assert release.details["suppressed"] == ["t"]
    assert release.details["cut"] == 4
    assert release.details["steps"] == 3
    assert release.details["warnings"] == []
    assert [entry["item"] for entry in release.details["order"]] == ["t"]
    assert ncp(DATA, release.recoding) == pytest.approx(8 / 80)


@pytest.mark.parametrize(("objective", "seed"), [("ncp", 911), ("lm", 912)])
def test_equals_the_twin(objective: str, seed: int) -> None:
    generalized = suppressed = 0
    for case, sensitive, rho in random_trees(examples(250, 40), seed):
        terms = TDControl(objective)  # type: ignore[arg-type]
        recoding, details = anonymize(case.data, case.tree, RhoUncertainty(rho, sensitive), terms)
        expected = naive.TopDown(case.rows, case.parents, sensitive, Fraction(rho), objective)
        gone = [entry["item"] for entry in details["order"]]
        assert gone == expected.gone, (case, sensitive, rho)
        assert details["cut"] == len(expected.cut)
        rows = published(case.rows, recoding)
        assert rows == [row - set(gone) for row in expected.published(expected.cut)]
        assert naive.is_uncertain(rows, sensitive, Fraction(rho))
        if case.data.n_occurrences:
            cost = Fraction(expected.cost, expected.worst * case.data.n_occurrences)
            measure = ncp if objective == "ncp" else lm
            assert measure(case.data, recoding) == float(cost)
        generalized += bool(set(recoding.published.labels) - set(recoding.items.labels))
        suppressed += bool(gone)
    assert generalized
    assert suppressed


def test_one_public_item_is_no_tree() -> None:
    data = Transactions.from_rows([["a", "s"], ["a"], ["a"]])
    tree = Hierarchy({"a": "A", "A": "*", "s": "*", "*": None})
    recoding, details = anonymize(data, tree, RhoUncertainty("1/2", ["s"]))
    assert details["suppressed"] == []
    assert recoding.members() == {"a": ["a"], "s": ["s"]}
    _, details = anonymize(data, tree, RhoUncertainty("1/4", ["s"]))
    assert details["suppressed"] == ["s"]


def test_a_sensitive_item_that_no_row_holds() -> None:
    data = Transactions.from_rows([["a1", "s"], ["a1"], ["b1"]])
    release = released(td_control, data, TREE, RhoUncertainty("1/2", SENSITIVE))
    assert release.details["warnings"] == ["1 sensitive item is in no row: 't'."]
    assert release.recoding.image_of(data.vocabulary).size == 3


def test_bad_input() -> None:
    with pytest.raises(RequestError, match=r"neither in the data nor in the hierarchy: 'x'"):
        anonymize(DATA, TREE, RhoUncertainty("1/2", ["s", "x"]))
    with pytest.raises(HierarchyError, match="not in the hierarchy: 'c'"):
        anonymize(Transactions.from_rows([["a1", "c", "s"]]), TREE, RhoUncertainty("1/2", ["s"]))
    with pytest.raises(RequestError, match='objective must be "ncp" or "lm"'):
        TDControl("entropy")  # type: ignore[arg-type]
