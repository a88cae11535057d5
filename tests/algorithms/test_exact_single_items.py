"""The optimum if one item is known, in one pass over the tree, compared with the integer program."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

import numpy as np
import pytest
from test_exact import MODELS, about, draw_case, draw_terms, least_loss, parameters

from setveil.base.errors import InfeasibleError
from setveil.base.progress import silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.methods.algorithms.exact import _search
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import Case, many


def searched(case: Case, terms: Any) -> tuple[_search.Search, dict[str, Any]] | str:
    try:
        search = _search.Search(case.data, case.tree, case.guarantee, parameters(terms), silent)
        return search, search.run()
    except InfeasibleError as error:
        return str(error)


def by_program(monkeypatch: pytest.MonkeyPatch, case: Case, terms: Any) -> dict[str, Any] | str:
    with monkeypatch.context() as patch:
        patch.setattr(_search.Search, "_solve_single_items", lambda *args: False)
        found = searched(case, terms)
    return found if isinstance(found, str) else found[1]


@MODELS
def test_as_good_as_the_program(suppress: bool, objective: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, in_one_pass, limited, refused = Random(f"single items {suppress} {objective}"), 0, 0, 0
    for number in range(many(160)):
        case = replace(draw_case(rng, suppress), m=1)
        terms = draw_terms(rng, case, objective, suppress)
        if case.data.filled_rows < case.k:
            continue
        found, program = searched(case, terms), by_program(monkeypatch, case, terms)
        if isinstance(found, str) or isinstance(program, str):
            assert found == program
            refused += 1
            continue
        search, record = found
        assert record["proven"]
        assert record["loss"] == (about(program["loss"]) if "entropy" in objective else program["loss"])
        assert next(search.candidates.threats(search.incumbent.candidate), None) is None
        assert search.incumbent.allows(search.incumbent.candidate)
        assert all(search.incumbent.candidate[leaf] == leaf for leaf in search.kept)
        in_one_pass += record["rounds"] == 0
        limited += record["rounds"] > 0  # one pass suppresses more items than allowed
        if number % 8 == 0:
            least = least_loss(case, terms)
            assert least is not None
            assert record["loss"] == about(least)
    assert in_one_pass > many(60)
    assert refused or suppress
    assert limited or objective != "lm" or not suppress


def test_rows_of_one_item_whatever_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random("rows of one item")
    for _ in range(many(60)):
        case = draw_case(rng, suppress=True)
        case = replace(case, rows=[frozenset([min(row)]) for row in case.rows if row], m=rng.choice((2, 3)))
        if len(case.rows) < case.k:
            continue
        terms = draw_terms(rng, case, "lm", suppress=True)
        found, program = searched(case, terms), by_program(monkeypatch, case, terms)
        if isinstance(found, str) or isinstance(program, str):
            assert found == program
            continue
        assert (found[1]["loss"], found[1]["proven"]) == (program["loss"], True)


def test_of_what_loses_the_same_what_suppresses_less() -> None:
    """The items are worth nothing, so everything loses the same."""
    data = Transactions.from_rows([["a"], ["b"], ["c"], ["c"]])
    tree = Hierarchy({"a": "A", "b": "A", "c": "*", "A": "*", "*": None})
    terms = Exact(weights={"a": 0, "b": 0})
    search = _search.Search(data, tree, KmAnonymity(k=2, m=1), terms, silent)
    search.run()
    nodes, suppressed = search.published()
    assert ([tree.labels[v] for v in nodes], suppressed) == (["c", "A"], [])


def test_many_items_take_no_program() -> None:
    """Check data whose items are mostly too rare; a search among them all would take minutes."""
    rng = np.random.default_rng(5)
    data = Transactions.from_rows(
        [[str(item) for item in row] for row in rng.integers(0, 20_000, (12_000, 3))]
    )
    tree = Hierarchy.balanced(data)
    search = _search.Search(data, tree, KmAnonymity(k=2, m=1), Exact(), silent)
    record = search.run()
    assert (record["proven"], record["clauses"], record["rounds"]) == (True, 0, 0)
    assert "program" not in vars(search)
