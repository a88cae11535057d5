"""The time of an exploration: how it is dealt out, and that its end is kept. Every clock here only counts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import write
from setveil.base.deadline import Deadline
from setveil.base.errors import InfeasibleError, UnfinishedError
from setveil.methods.algorithms.rt import rt
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text, standing
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.studies.compare.plan import data_set
from setveil.work.studies.explore.cells import Cell, CellProgress, look_at_all
from setveil.work.studies.explore.pace import LEAST_LIMIT, EndingProgress, Pace
from setveil.work.studies.explore.promises import require_grid, usual_first
from setveil.work.studies.explore.record import record
from setveil.work.studies.explore.rows import Exploration, explore
from setveil.work.studies.explore.tables import explore_table
from setveil.work.studies.recommend.candidates import Candidate
from setveil.work.studies.recommend.recommend import recommend as advise
from tables import fast
from ward import ward

ROWS = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["coffee"], ["tea", "sugar"], ["tea", "sugar"]]


class Time:
    """A clock that advances only when a test sets it."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class Working:
    """A listener for progress whose clock advances by a second with each message."""

    stoppable = False

    def __init__(self, clock: Time) -> None:
        self.clock = clock

    def __call__(self, phase: str, done: float | None = None) -> None:
        self.clock.now += 1

    def stop_requested(self) -> bool:
        return False


class Steady:
    """A search that takes as long as it needs or may, and `after` seconds for what follows it, by m."""

    def __init__(
        self, clock: Time, needed: float, after: Mapping[int, float], step: float = math.inf
    ) -> None:
        self.clock, self.needed, self.after, self.step = clock, needed, after, step
        self.limits: dict[Any, float] = {}

    def look_at(self, cell: Cell, pace: Pace, left: int, hearing: CellProgress) -> None:
        limit = pace.begin(cell.m, left)
        self.limits[cell.promise] = limit
        self._work(min(limit, self.needed), hearing)
        pace.searched(limit)
        self._work(self.after[int(cell.m)], hearing)
        cell.status, cell.loss, cell.found = "done", 0.5, {}
        pace.end(cell.m)

    def _work(self, seconds: float, hearing: CellProgress) -> None:
        while seconds > 0:
            hearing("working")
            self.clock.now += min(seconds, self.step)
            seconds -= self.step

    def lent(self, cell: Cell, stronger: Cell, hearing: EndingProgress) -> dict[str, Any]:
        hearing("measuring")
        self.clock.now += 1
        return {"unique_rows": 1}

    def unknown(self, cell: Cell) -> dict[str, Any]:
        return {"unique_rows": None}


def searched(budget: float, search: Steady, grid: list[Any], clock: Time) -> tuple[dict[Any, Cell], Deadline]:
    cells = {pair: Cell(*pair) for pair in grid}
    deadline = Deadline(budget, clock=clock)
    look_at_all(cells, grid, search, deadline)
    return cells, deadline


def test_a_deadline() -> None:
    clock = Time()
    deadline = Deadline(8, clock=clock)
    clock.now += 2
    assert (deadline.left, deadline.passed, deadline.is_over) == (6, 2, False)
    assert deadline.part(3).left == 2
    clock.now += 7
    assert (deadline.left, deadline.is_over) == (-1, True)
    assert deadline.part(3).left == 0
    assert Deadline(clock=clock).part(5).left == math.inf


def test_whoever_asks_for_the_end_gets_it() -> None:
    class Impatient(Working):
        def stop_requested(self) -> bool:
            return True

    assert Deadline(progress=Impatient(Time())).is_over


def test_few_known_items_come_first() -> None:
    grid = require_grid([2, 5, 50], [1, 2, 3, 4])
    order = usual_first(grid)
    assert sorted(order) == sorted(grid)
    assert [m > 2 for _, m in order] == 6 * [False] + 6 * [True]
    assert order[0] == (50, 2)
    assert order[6] == (50, 4)


def test_the_time_is_shared_evenly_with_what_follows_each_search() -> None:
    clock = Time()
    search = Steady(clock, 1000, {1: 3})
    grid = require_grid([2, 3, 5, 10], [1])
    cells, deadline = searched(100, search, grid, clock)
    assert {cell.status for cell in cells.values()} == {"done"}
    limits = list(search.limits.values())
    assert limits[0] == 25  # before anything is known of the next phase
    assert limits[1:] == pytest.approx([(100 - 28) / 3 - 3] * 3)
    assert deadline.passed == pytest.approx(100)


def test_what_is_quick_leaves_its_time_to_others() -> None:
    clock = Time()
    search = Steady(clock, 1, {1: 0})
    searched(100, search, [(2, 1), (5, 1)], clock)
    assert [*search.limits.values()] == [50, 99]


@pytest.mark.parametrize("budget", [5, 20, 60, 400])
@pytest.mark.parametrize("step", [0.25, 1])
def test_the_budget_is_kept_whatever_is_slow(budget: float, step: float) -> None:
    """Check that only single steps exceed the budget, as nothing reads the clock during a step."""
    for needed, after in itertools.product((0.5, 7, 1000), ({1: 0, 3: 40}, {1: 5, 3: 9}, {1: 300, 3: 300})):
        clock = Time()
        search = Steady(clock, needed, after, step)
        try:
            cells, _ = searched(budget, search, require_grid([2, 5, 10, 20], [1, 3]), clock)
        except InfeasibleError:
            assert max(after.values()) > budget  # not even one could be done
        else:
            assert any(cell.status == "done" for cell in cells.values())
        assert clock.now <= 100 + budget + 2 * step


def test_what_cannot_be_done_in_time_is_not_begun() -> None:
    clock = Time()
    search = Steady(clock, 1, {1: 6})
    cells, deadline = searched(20, search, [(k, 1) for k in (2, 3, 5, 10)], clock)
    assert sum(cell.status == "done" for cell in cells.values()) == 3
    assert len(search.limits) == 3  # then less than a second is left
    assert deadline.passed < 20
    slow = Steady(clock, 0, {1: 2, 2: 11})
    cells, _ = searched(20, slow, [(2, 1), (5, 1), (2, 2), (5, 2)], clock)
    assert [cell.m for cell in cells.values() if cell.status == "done"] == [1, 1, 2]  # quicker searches are


def test_the_least_time_of_a_search() -> None:
    clock = Time()
    pace = Pace(Deadline(1, clock=clock))
    clock.now += 5
    assert pace.begin(1, 3) == LEAST_LIMIT
    assert not pace.has_time(1)


def test_what_is_borrowed_is_measured_while_there_is_time() -> None:
    clock = Time()
    cells = {pair: Cell(*pair) for pair in [(2, 1), (3, 1), (4, 1), (4, 2)]}
    look_at_all(cells, [(4, 2)], Steady(clock, 0, {2: 8}), Deadline(10, clock=clock))
    assert [cells[k, 1].lent["unique_rows"] for k in (2, 3, 4)] == [1, 1, None]


@pytest.mark.parametrize("algorithm", ["exact", "aa", "hghs"])
@pytest.mark.parametrize("budget", [60, 120])
def test_rows_are_explored_within_the_budget(algorithm: str, budget: int) -> None:
    """Algorithms without a time limit of their own are given up, too, at their next word."""
    clock = Time()
    data, grid = sv.Transactions.from_rows(ROWS), require_grid([2, 3, 4, 5], [1, 2, 3])
    found = explore(data, grid, algorithm=algorithm, time_budget=budget, progress=Working(clock), clock=clock)
    assert clock.now <= 100 + budget + 1
    assert found.seconds <= budget + 1
    statuses = [cell.status for cell in found.cells]
    assert "done" in statuses
    assert "unsearched" in statuses
    details = record(found, inputs=None)
    for cell in details["cells"]:
        assert cell["loss"] is None or cell["at_most"] or cell["status"] == "done"
    assert explored_text(details)
    assert explored_html(details)
    done = next(cell for cell in details["cells"] if cell["status"] == "done")
    assert done["unique_rows"] is not None


def test_tables_are_explored_within_the_budget() -> None:
    table = fast(ward())
    for budget in (40, 80):
        clock = Time()
        grid = require_grid([2, 3, 4], [1, 2, 3])
        found = explore_table(table, grid, time_budget=budget, progress=Working(clock), clock=clock)
        assert clock.now <= 100 + budget + 1
        assert {cell.status for cell in found.cells} == {"done", "unsearched"}


def test_a_release_of_a_table_that_was_cut_short_is_a_bound() -> None:
    found = {"relational_loss": 0.5, "transaction_loss": 0.5, "classes": 2, "suppressed_occurrences": 1,
             "query_error": 0.5, "known": 2, "unique_rows": 1, "unique_exact": True}  # fmt: skip
    cells = [
        Cell(2, 1, "done", loss=0.5, found=found, cut_short=True),
        Cell(5, 1, "done", loss=0.7, found=found),
        Cell(9, 1),
    ]
    size = {"rows": 10, "items": 5, "occurrences": 20}
    details = record(Exploration(cells, "rt", "f", size, 1.0, False, Fraction(1, 4)), inputs=None)
    assert [cell.get("at_most") for cell in details["cells"]] == [True, False, None]
    text = explored_text(details)
    assert "<=0.5" in text
    assert "<=0.7" not in text
    assert standing(details)[0].startswith("<= at most: 1 loss of 2 is an upper bound")
    assert explored_html(details).count(">≤&nbsp;0.5<") == 1


def test_no_release_in_time() -> None:
    clock = Time()
    with pytest.raises(InfeasibleError, match="within the time budget"):
        explore(
            sv.Transactions.from_rows(ROWS), require_grid([2], [1]), time_budget=2,
            progress=Working(clock), clock=clock,
        )  # fmt: skip


def test_recommend_gives_the_candidates_what_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that reading uses its part of the budget, while messages name the requested time."""
    options: dict[str, Any] = {}

    def run_all(runs: list[Any], folder: Path, **how: Any) -> dict[str, Any]:
        options.update(how)
        return {}

    monkeypatch.setattr("setveil.work.studies.recommend.recommend.run_all", run_all)
    rows = write(tmp_path / "rows.csv", "\n".join(",".join(row) for row in ROWS))
    found = advise(
        data_set(rows),
        [Candidate("aa", {"k": 2, "m": 1}, "")],
        tmp_path,
        leaves=None,
        time_budget=90,
        left=70,
    )
    assert options["budget"] == 70
    assert found.rows[0]["error"] == "Not finished within 90 s."


def test_a_table_s_release_that_is_ended_at_once_is_valid() -> None:
    """Check that a search that ends at its first look at the time still satisfies the guarantee."""
    for search in ("sweep", "rt", None):
        release = sv.anonymize(
            fast(ward()), sv.KKmAnonymity(2, 2), algorithm=sv.RT(search=search, time_limit=1e-9)
        )
        assert release.verdict.holds
        assert release.details["ended_early"] is True
    whole = sv.anonymize(fast(ward()), sv.KKmAnonymity(2, 2), algorithm=sv.RT(time_limit=3600))
    assert "ended_early" not in whole.details
    assert whole.utility["transaction_loss"] <= release.utility["transaction_loss"]


def test_a_search_for_a_table_ends_on_request() -> None:
    class Impatient(Working):
        def stop_requested(self) -> bool:
            return True

    table = fast(ward())
    _, details = rt.anonymize(
        table, Hierarchy(ward().items), sv.KKmAnonymity(2, 2), sv.RT(), Impatient(Time())
    )
    assert details["ended_early"] is True
    assert len(details["frontier"]) == 1
    with pytest.raises(UnfinishedError, match="within the time limit"):
        rt.anonymize(
            table, Hierarchy(ward().items), sv.KKmAnonymity(2, 2), sv.RT(suppress=False), Impatient(Time())
        )
