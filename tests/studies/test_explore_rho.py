"""The loss of guarantees that protect sensitive items from inference, over k, m and rho."""

from __future__ import annotations

import json
import math
import re
import shlex
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import needs_compiled, setveil, together, write
from naive import explore as naive
from naive.rho import is_km_rho, rules
from setveil.base.errors import DataError, RequestError
from setveil.releases.published import publish
from setveil.releases.published.recoding import LocalRecoding, Recoding
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text, reasons, steps
from setveil.work.studies.explore.cells import Cell
from setveil.work.studies.explore.promises import (
    coarse_to_fine,
    front,
    lower_bounds,
    lower_envelope,
    require_triples,
)
from setveil.work.studies.explore.record import record
from setveil.work.studies.explore.rows import Exploration, SensitiveItems, explore, require_algorithm
from setveil.work.studies.worth import names_kept
from strategies import examples, random_cases

Triple = tuple[int, float, Fraction]

# The worked example of (k,rho)^m-anonymity: LM counts 66 in all.
ROWS = [
    ["a1", "b1", "H"], ["a1", "b1", "H"], ["a2", "b1"], ["a2", "b2", "H"], ["a2", "b2"], ["a1", "b2"], ["b1"],
    ["b2"], ["a2", "b1"], ["a1", "b2", "H"],
]  # fmt: skip
PATHS = [[item, item[0].upper(), "ALL"] for item in ("a1", "a2", "b1", "b2")] + [["H", "ALL"]]
RHOS = ["1/2", 0.4, "1/10"]

TRIPLE = st.tuples(
    st.integers(1, 4),
    st.sampled_from([1, 2, math.inf]),
    st.sampled_from([Fraction(1, 2), Fraction(1, 3), Fraction(1, 10)]),
)
LOSSES = st.dictionaries(TRIPLE, st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4]), max_size=14)


@given(st.lists(TRIPLE, min_size=1, max_size=12, unique=True), LOSSES)
def test_envelope_and_bounds_are_those_of_plain_loops(
    promises: list[Triple], losses: dict[Triple, float]
) -> None:
    taken = lower_envelope(promises, losses)
    assert {one: losses[other] for one, other in taken.items()} == naive.envelope(promises, losses)
    assert all(naive.keeps(other, one) for one, other in taken.items())
    assert lower_bounds(promises, losses) == naive.bounds(promises, losses)


@given(LOSSES)
def test_the_front_is_that_of_plain_loops(losses: dict[Triple, float]) -> None:
    found = front(losses)
    assert set(found) == naive.front(losses)
    assert len(found) == len(set(found))
    for one, loss in losses.items():  # each is satisfied by a guarantee of the front that loses no more
        assert any(naive.keeps(other, one) and losses[other] <= loss for other in found)


def test_the_strongest_promise_comes_first() -> None:
    grid = require_triples([2, 5, 10], [1, 2], RHOS)
    assert grid[:2] == [(2, 1, Fraction(1, 2)), (5, 1, Fraction(1, 2))]  # by falling rho, then m, then k
    assert [rho for *_, rho in grid[::6]] == [Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)]
    order = coarse_to_fine(grid)
    assert sorted(order) == sorted(grid)
    assert order[0] == (10, 2, Fraction(1, 10))
    corners = {(k, m, Fraction(rho)) for k in (2, 10) for m in (1, 2) for rho in ("1/2", "1/10")}
    assert set(order[:8]) == corners


def _explored(**changed: Any) -> Any:
    options: Any = {"k": [2, 3], "m": [1, 2], "rho": RHOS, "sensitive": ["H"], **changed}
    return sv.explore(ROWS, hierarchy=sv.Hierarchy.from_paths(PATHS), **options)


def _at(found: Any, k: int, m: int, rho: float) -> Any:
    return next(cell for cell in found["cells"] if (cell["k"], cell["m"], cell["rho"]) == (k, m, rho))


def test_the_worked_example() -> None:
    found = _explored()
    assert found["rho"] == [0.5, 0.4, 0.1]
    assert (found["sensitive"], found["knows"], found["objective"]) == (["H"], "public", "lm")
    assert all(cell["proven"] and cell["gap"] == 0 for cell in found["cells"])
    cell = _at(found, 2, 2, 0.5)
    assert cell["loss"] == pytest.approx(3 / 66)
    assert (cell["hidden_occurrences"], cell["greatest_confidence"]) == (1, 0.5)
    assert (cell["items_kept"], cell["occurrences_kept"], cell["suppressed_occurrences"]) == (5, 21, 1)
    whole = sv.explore(
        ROWS, k=[2], m=[2], rho=[0.5, "2/5"], sensitive="H", hierarchy=sv.Hierarchy.from_paths(PATHS),
        algorithm=sv.Exact(hide="items"),
    )  # fmt: skip
    assert [cell["loss"] for cell in whole["cells"]] == pytest.approx([8 / 66, 12 / 66])
    known = _explored(k=[2], m=[2], rho=["1/2"], knows="any")
    assert known["cells"][0]["loss"] == pytest.approx(8 / 66)
    assert "--knows any" in record(
        Exploration([Cell.of((2, 1, Fraction(1, 2)))], "exact", "lm", {}, 1, False,
                    secrets=SensitiveItems(("H",), "any")),
        inputs=["x"], sensitive="H",
    )["command"]  # fmt: skip


@pytest.mark.parametrize("knows", ["public", "any"])
def test_releases_keep_their_promises_and_losses_rise(knows: str) -> None:
    for case in random_cases(examples(12, 4), 5, most_rows=14, most_leaves=6):
        items = sorted({item for row in case.rows for item in row})
        if len(items) < 2:
            continue
        secrets = SensitiveItems((items[0],), knows)
        grid = require_triples([1, 3], [1, math.inf], ["1/2", "1/4"])
        found = explore(case.data, grid, secrets=secrets, hierarchy=case.tree, time_budget=3600)
        for cell in found.cells:
            if cell.status != "done":
                assert cell.status == "infeasible"
                continue
            assert cell.rho is not None
            assert cell.recoding is not None
            rows = list(publish(case.data, cell.recoding, 0, {}).exposed().rows())
            published = [frozenset(row) for row in rows]
            assert is_km_rho(published, secrets.items, cell.k, cell.m, cell.rho, knows)
            breaches = rules(published, secrets.items, cell.m, knows)
            greatest = max(breaches.values(), default=Fraction(0))
            assert cell.found["greatest_confidence"] == float(greatest)
            before, after = (sum(items[0] in row for row in some) for some in (case.rows, published))
            assert cell.found["hidden_occurrences"] == before - after
            for k, m, rho in cell.keeps or ():  # type: ignore[misc]  # all have a rho
                assert is_km_rho(published, secrets.items, k, m, rho, knows)
            alone = sv.anonymize(
                case.data, sv.KmRho(cell.k, cell.m, cell.rho, secrets.items, knows), hierarchy=case.tree,
                details=False,
            )  # fmt: skip
            assert cell.loss == pytest.approx(alone.details["optimality"]["loss"], abs=1e-12)
        losses: Any = {cell.promise: cell.loss for cell in found.cells if cell.loss is not None}
        lines = [line for line in record(found, inputs=None)["cells"] if line["loss"] is not None]
        assert [line["loss"] for line in lines] == list(naive.envelope(list(losses), losses).values())
        assert all(line["proven"] for line in lines)


def test_names_kept_where_an_item_is_hidden_in_some_rows() -> None:
    data = sv.Transactions.from_rows(ROWS)
    promise = sv.KmRho(2, 2, "1/2", ["H"])
    made = sv.anonymize(data, promise, hierarchy=sv.Hierarchy.from_paths(PATHS)).recoding
    assert isinstance(made, LocalRecoding)
    assert names_kept(data, made) == {
        "items_kept": 5, "occurrences_kept": 21, "suppressed_occurrences": 1
    }  # fmt: skip
    grouped = sv.anonymize(data, sv.KmRho(6, 2, "1/2", ["H"]), hierarchy=sv.Hierarchy.from_paths(PATHS))
    published = [frozenset(row) for row in grouped.published.rows()]
    own = [item for item in ("a1", "a2", "b1", "b2", "H") if any(item in row for row in published)]
    kept = names_kept(data, grouped.recoding)
    assert kept["items_kept"] == len(own) < 5
    assert kept["occurrences_kept"] == sum(item in row for row in published for item in own)


def test_names_kept_where_nothing_is_published() -> None:
    data = sv.Transactions.from_rows([["a1", "b1", "H"], ["c"]])
    tree = sv.Hierarchy.from_paths([*PATHS, ["c", "ALL"]])
    every = [tree.id(item) for item in ("a1", "a2", "b1", "b2", "H", "c")]
    none = {"items_kept": 0, "occurrences_kept": 0, "suppressed_occurrences": 4}
    assert names_kept(data, LocalRecoding.from_nodes(tree, np.full(4, -1, np.int64))) == none
    assert names_kept(data, Recoding.from_cut(tree, every, every)) == none


def _cell(k: int, m: int, rho: str, loss: float | None, bound: float = 0.0) -> Cell:
    worth = {
        "items_kept": 3, "occurrences_kept": 10, "suppressed_occurrences": 2, "labels": 3,
        "query_error": 0.5, "known": m + 1, "unique_rows": 1, "unique_exact": True,
        "hidden_occurrences": 7, "greatest_confidence": 0.25,
    }  # fmt: skip
    if loss is None:
        return Cell(k, m, rho=Fraction(rho))
    return Cell(k, m, "done", loss=loss, lower_bound=bound, found=worth, rho=Fraction(rho))


def _record(cells: list[Cell]) -> Any:
    size = {"rows": 10, "items": 5, "occurrences": 20}
    found = Exploration(cells, "exact", "lm", size, 1.0, False, secrets=SensitiveItems(("H", "I")))
    return record(
        found, inputs=["x.csv"], hierarchy=Path("h.csv"), own=["--hide", "items"], sensitive="s.txt"
    )


def test_releases_of_stronger_promises_and_bounds_of_weaker_ones() -> None:
    found = _record([
        _cell(2, 1, "1/2", 0.2, 0.2), _cell(5, 1, "1/2", 0.4, 0.1),
        _cell(2, 1, "1/3", 0.3, 0.1), _cell(5, 1, "1/3", 0.3, 0.1),
    ])  # fmt: skip
    weak, lent, unproven, strong = found["cells"]
    assert [cell["loss"] for cell in found["cells"]] == [0.2, 0.3, 0.3, 0.3]
    assert lent["made_for"] == {"k": 5, "m": 1, "rho": "1/3"}
    assert [cell["lower_bound"] for cell in found["cells"]] == [0.2, 0.2, 0.2, 0.2]
    assert unproven["gap"] == pytest.approx(1 / 3)
    assert [cell["front"] for cell in found["cells"]] == [True, False, False, True]
    assert (weak["proven"], strong["proven"]) == (True, False)
    assert shlex.split(strong["command"]) == [
        "setveil", "anonymize", "x.csv", "--algorithm", "exact", "--hide", "items", "--hierarchy", "h.csv",
        "-k", "5", "-m", "1", "--rho", "1/3", "--sensitive", "s.txt", "--out", "DIR",
    ]  # fmt: skip
    assert "-k K -m M --rho RHO --sensitive s.txt" in found["command"]
    assert steps(found) == [
        "Along k the loss rises most from 2 to 5, at m = 1, rho = 0.5: from 0.2 to at most 0.3.",
        "Along rho it rises most from 0.5 to 1/3, at k = 2, m = 1: from 0.2 to at most 0.3.",
    ]
    text = explored_text(found)
    assert "Loss (LM) for each k (across) and m (down), rho = 1/3:" in text
    (line,) = [line for line in text.splitlines() if line.strip().startswith("5  1  1/3")]
    assert line.split() == shlex.split("5 1 1/3 <=0.3 33% 60% 50% 10% 7 25% 50% 10% '*'")
    (line,) = [line for line in text.splitlines() if line.strip().startswith("5  1  0.5")]
    assert line.endswith("k = 5, m = 1, rho = 1/3")
    assert "one more than guaranteed, none of them sensitive." in text


def test_what_costs_nothing_is_said_of_rho_too() -> None:
    found = _record([_cell(2, 1, "1/2", 0.3, 0.3), _cell(5, 1, "1/2", 0.5, 0.5), _cell(2, 1, "1/3", 0.3),
                     _cell(5, 1, "1/3", 0.502)])  # fmt: skip
    assert "At every k and m, rho = 1/3 loses hardly more than rho = 0.5." in steps(found)
    assert [cell["front"] for cell in found["cells"]] == [False, True, True, True]
    late = _record([_cell(2, 1, "1/2", 0.3), _cell(2, 1, "1/3", None)])
    assert reasons(late) == [
        "No release for k = 2, m = 1, rho = 1/3: not searched, as time was up or the search was stopped."
    ]


def test_the_page_has_a_table_for_each_rho() -> None:
    found = _explored(k=[2, 3, 100]) | {"inputs": ["x.csv"]}
    assert json.loads(json.dumps(found)) == found
    page = explored_html(found)
    assert page.count('<table class="heat">') == 3
    assert all(f"<h3>rho = {rho}</h3>" in page for rho in (0.5, 0.4, 0.1))
    tables = re.findall(r'<table class="heat">.*?</table>', page, re.S)
    assert sum(table.count("<td") for table in tables) == len(found["cells"]) == 18
    assert sum(table.count("<strong>") for table in tables) == sum(
        cell.get("front", False) for cell in found["cells"]
    )
    assert "rho = 0.1" in page
    curves = page.partition("Remaining detail</h2>")[2]
    assert curves.count(">m = 1<") == curves.count(">m = 2<") == 1  # curves of each m, a line for each rho
    assert "Greatest chance of a sensitive item" in page
    assert not re.search(r"<script|src=|href=(?!\"#)|url\(", page)


def test_what_is_refused() -> None:
    rows = sv.Transactions.from_rows(ROWS)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"rho": [0.5]}, "rho needs sensitive"),
        ({"sensitive": ["H"]}, "goes with rho|needs rho"),
        ({"knows": "any"}, "goes with rho|needs rho"),
        ({"rho": [0.5], "sensitive": ["H"], "knows": "all"}, 'must be "public" or "any", got the text .all'),
        ({"rho": [], "sensitive": ["H"]}, "No rho is given"),
        ({"rho": [0.5, "1/2"], "sensitive": ["H"]}, "rho = 0.5 is given twice"),
        ({"rho": [2], "sensitive": ["H"]}, "rho must be a number above 0 and at most 1, got 2"),
        ({"rho": 0.5, "sensitive": ["H"]}, "rho must be a list of numbers"),
        ({"rho": [0.5], "sensitive": ["H"], "k": [0]}, "k must be an integer of at least 1"),
        ({"rho": [0.5], "sensitive": ["H"], "m": [0]}, "m must be"),
        ({"rho": [0.5], "sensitive": ["H"], "algorithm": "aa"}, "aa does not give km-rho"),
        ({"rho": [0.5], "sensitive": ["H"], "algorithm": "lg"}, "lg gives an item several labels"),
        ({"rho": [0.5], "sensitive": ["a1", "a2", "b1", "b2", "H"]}, "All 5 items of the data are sensitive"),
    ]
    for wrong_options, said in wrong:
        with pytest.raises(RequestError, match=said):
            sv.explore(rows, **{"k": [2], "m": [1], **wrong_options})
    with pytest.raises(DataError, match="zzz"):
        sv.explore(rows, k=[2], m=[1], rho=[0.5], sensitive=["zzz"])
    with pytest.raises(RequestError) as refused:
        require_algorithm("aa", "km-rho")
    assert refused.value.hint == "Use exact."


# --- the command


@needs_compiled
def test_the_command(tmp_path: Path) -> None:
    write(tmp_path / "x.csv", "".join(",".join(row) + "\n" for row in ROWS))
    write(tmp_path / "h.csv", "".join(";".join(path) + "\n" for path in PATHS))
    write(tmp_path / "s.txt", "H\n")
    arguments = ["x.csv", "-H", "h.csv", "--k", "2,3", "--m", "2", "--rho", "1/2,0.1", "--sensitive", "s.txt"]
    found = setveil("explore", *arguments, "--json", "--out", "page.html", cwd=tmp_path).ok().json()
    same = _explored(m=[2], rho=["1/2", 0.1])
    changing = {"seconds", "command"}
    for cell, other in zip(found["cells"], same["cells"], strict=True):
        assert {k: v for k, v in cell.items() if k not in changing} == {
            k: v for k, v in other.items() if k not in changing
        }
    words = shlex.split(found["cells"][0]["command"].replace("DIR", "release"))
    setveil(*words[1:], cwd=tmp_path).ok()
    report = json.loads((tmp_path / "release" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert (report["guarantee"]["model"], report["guarantee"]["rho"]) == ("km-rho", 0.5)
    assert report["utility"]["lm"] == pytest.approx(found["cells"][0]["loss"])
    assert "rho = 0.1" in (tmp_path / "page.html").read_text(encoding="utf-8")
    whole = ["x.csv", "-H", "h.csv", "--k", "2", "--m", "2", "--rho", "0.5", "--sensitive", "H"]
    cell = setveil("explore", *whole, "--hide", "items", "--json", cwd=tmp_path).ok().json()["cells"][0]
    assert cell["loss"] == pytest.approx(8 / 66)
    assert "--hide items" in cell["command"]
    wrong = together(
        [
            ["explore", "x.csv", "--rho", "0.5"],
            ["explore", "x.csv", "--sensitive", "H"],
            ["explore", "x.csv", "--knows", "any"],
            ["explore", "x.csv", "--rho", "2", "--sensitive", "H"],
            ["explore", "x.csv", "--rho", "0.5", "--sensitive", "H", "--algorithm", "aa"],
            ["explore", "x.csv", "--rho", "0.5", "--sensitive", "zzz"],
            ["explore", "x.csv", "--rho", "0.5", "--sensitive", "H", "--qi", "a1"],
        ],
        tmp_path,
    )
    lines = [
        (2, "--rho needs --sensitive"), (2, "--sensitive goes with --rho"), (2, "--knows goes with --rho"),
        (2, "rho must be a number"), (2, "aa does not give km-rho"), (4, "zzz"),
        (2, "does not apply to tables"),
    ]  # fmt: skip
    for done, (code, said) in zip(wrong, lines, strict=True):
        assert done.code == code, done.err
        assert said in re.sub(r"\s+", " ", done.err)
