"""The use of the solver in searches for the least loss: requests to stop, and its end with the search."""

from __future__ import annotations

import gc
import weakref
from itertools import count

import numpy as np
import pytest

from setveil.base.progress import silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.methods.algorithms.exact import _program
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.methods.algorithms.exact._program import Program
from setveil.methods.algorithms.exact._search import Search
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

ROWS = 4 * [["tea", "scone"], ["tea", "honey"], ["beer", "nuts"]] + [["beer", "honey"]]
TREE = Hierarchy.from_paths(
    [["tea", "drinks", "all"], ["beer", "drinks", "all"]]
    + [[item, "food", "all"] for item in ("scone", "honey", "nuts")]
)


def n_polls(monkeypatch: pytest.MonkeyPatch, soon: int) -> int:
    """Count the questions whether to end while one relaxation is minimized."""
    monkeypatch.setattr(_program, "SOON", soon)
    heard = count(1)
    program = Program([1] * 60, lambda: next(heard) < 0)
    for v in range(58):
        program.add((v, v + 1, v + 2))
    program.admit(np.zeros(60))
    assert program.relax() is not None
    return next(heard) - 1


def test_only_long_work_is_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    assert n_polls(monkeypatch, 58) == 1
    assert n_polls(monkeypatch, 57) > 1


@pytest.mark.parametrize("draft", [True, False])
def test_a_search_ends_with_its_last_use(draft: bool) -> None:
    """Searches were in a cycle with their solvers: hundreds of classes were held until that was found."""
    gc.disable()
    try:
        search = Search(Transactions.from_rows(ROWS), TREE, KmAnonymity(3, 2), Exact(objective="lm"), silent)
        if draft:
            assert search.draft()
        else:
            search.run()
        there = weakref.ref(search), weakref.ref(search.program)
        del search
        assert [one() for one in there] == [None, None]
    finally:
        gc.enable()


def test_drafts_are_valid_and_within_limits() -> None:
    """Check drafts of the greedy search, or of all searches if it finds none."""
    for more in ({}, {"keep": ("tea",)}, {"max_suppressed": 0}):
        search = Search(
            Transactions.from_rows(ROWS), TREE, KmAnonymity(3, 2), Exact(objective="lm", **more), silent
        )
        assert search.draft()
        draft = search.incumbent
        assert next(search.candidates.threats(draft.candidate), None) is None
        assert draft.allows(draft.candidate)
        cost = draft.cost
        record = search.run(draft.candidate)
        assert record["proven"]
        assert search.incumbent.cost is not None
        assert cost is not None
        assert search.incumbent.cost <= cost
