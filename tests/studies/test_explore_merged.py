"""Explorations of the same data, put together: knowledge about a guarantee is never lost, nor made up."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from naive import explore as naive
from setveil.report.explore.cells import is_bound
from setveil.report.explore.merged import bound_for, merged

ROWS = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["coffee"], ["tea", "sugar"], ["tea", "sugar"]]
GRID = [(k, m) for m in (1, 2, "inf") for k in (2, 3, 5)]


def a_cell(k: int, m: int | str, loss: float | None, *, at_most: bool = False, status: str = "done") -> Any:
    cell = {"k": k, "m": m, "status": status, "error": "", "seconds": 0.1, "loss": loss, "command": None}
    made = None if loss is None else {"k": k, "m": m}
    return {**cell, "made_for": made, "proven": None, "at_most": at_most, "items_kept": 1}


def of(*cells: Any) -> Any:
    return {"cells": list(cells)}


LOSSES = st.sampled_from([None, 0.0, 0.1, 0.2, 0.5])


@given(st.lists(st.lists(st.tuples(st.sampled_from(GRID), LOSSES, st.booleans()), min_size=1), min_size=1))
def test_no_loss_is_lost_and_none_is_made_up(parts: list[list[tuple[Any, float | None, bool]]]) -> None:
    found = [
        of(*(
            a_cell(k, m, loss, at_most=some, status="unsearched" if loss is None else "done")
            for (k, m), loss, some in part
        ))
        for part in parts
    ]  # fmt: skip
    known: dict[Any, list[tuple[bool, float]]] = {}
    for part in parts:
        for (k, m), loss, some in part:
            pair = (k, float(m))
            known.setdefault(pair, [])
            known[pair] += [] if loss is None else [(some, loss)]
    own = {pair: min(some) for pair, some in known.items() if some}
    least = naive.envelope(list(known), {pair: loss for pair, (_, loss) in own.items()})
    cells = merged(found)
    assert [(float(cell["m"]), cell["k"]) for cell in cells] == sorted((m, k) for k, m in known)
    for cell in cells:
        pair = (cell["k"], float(cell["m"]))
        assert cell["loss"] == least.get(pair)
        if cell["loss"] is None:
            continue
        borrowed = pair not in own or own[pair][1] > cell["loss"]
        assert is_bound(cell) == (borrowed or own[pair][0])
        assert ("items_kept" in cell) != borrowed  # figures of another release are not reported


def test_what_was_searched_again_tells_more() -> None:
    bound, better, known = (
        a_cell(5, 2, 0.5, at_most=True),
        a_cell(5, 2, 0.4, at_most=True),
        a_cell(5, 2, 0.45),
    )
    assert merged([of(bound), of(better)]) == [better]
    assert merged([of(bound), of(better), of(known)])[0]["loss"] == 0.45
    assert merged([of(a_cell(5, 2, None, status="unsearched")), of(bound)]) == [bound]


def test_what_is_proven_or_impossible_stays() -> None:
    proven = {**a_cell(2, 1, 0.3), "proven": True}
    (weak, _) = merged([of(proven, a_cell(5, 1, 0.3 - 1e-17))])
    assert weak is proven
    never = {**a_cell(9, 1, None, status="infeasible"), "error": "too few rows"}
    assert merged([of(never), of(a_cell(9, 2, 0.5))])[0] is never


def test_the_best_release_for_a_stronger_promise() -> None:
    cells = [a_cell(5, 1, 0.3), a_cell(5, 2, 0.2), a_cell(3, "inf", 0.1), a_cell(9, 2, None)]
    assert bound_for(4, 1, cells) is cells[1]
    assert bound_for(2, 2, cells) is cells[2]
    assert bound_for(10, 1, cells) is None


def test_parts_of_a_grid_are_the_grid() -> None:
    tree = sv.Hierarchy.from_paths([[x, "*"] for x in ("tea", "milk", "coffee", "sugar")])
    few, more = (sv.explore(ROWS, k=[2, 4, 100], m=ms, hierarchy=tree) for ms in ([1], [2, 3]))
    whole = sv.explore(ROWS, k=[2, 4, 100], m=[1, 2, 3], hierarchy=tree)
    assert [cell["loss"] for cell in merged([few, more])] == [cell["loss"] for cell in whole["cells"]]
    assert not any(map(is_bound, merged([more, few])))
