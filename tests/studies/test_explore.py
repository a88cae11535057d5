"""The loss of each guarantee: the envelope, the grid, the record, the text, the page, the command."""

from __future__ import annotations

import contextlib
import html
import json
import math
import re
import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, write
from naive import explore as naive
from naive.km import is_km
from setveil.base.errors import DataError, InfeasibleError, RequestError, UnfinishedError
from setveil.base.progress import Progress
from setveil.releases.published import publish
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.releases.published.classes import ClassesRelease
from setveil.releases.published.recoding import Recoding, recode
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text, reasons, standing, steps
from setveil.rows.data.transactions import Transactions
from setveil.work.studies.explore.cells import Cell
from setveil.work.studies.explore.promises import coarse_to_fine, lower_bounds, lower_envelope, require_grid
from setveil.work.studies.explore.record import record
from setveil.work.studies.explore.rows import (
    WITH_RHO,
    Exploration,
    explore,
    require_algorithm,
    require_budget,
)
from setveil.work.studies.worth import names_kept
from strategies import Case, cases, examples

ROWS = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["coffee"], ["tea", "sugar"], ["tea", "sugar"]]
PATHS = [["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "cold", "*"], ["sugar", "cold", "*"]]

PAIRS = st.lists(
    st.tuples(st.integers(2, 6), st.sampled_from([1, 2, 3, math.inf])), min_size=1, max_size=12, unique=True
)
LOSSES = st.dictionaries(
    st.tuples(st.integers(2, 6), st.sampled_from([1, 2, 3, math.inf])),
    st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.4]),
    max_size=12,
)


@given(PAIRS, LOSSES)
def test_the_envelope_is_that_of_plain_loops(
    pairs: list[tuple[int, float]], losses: dict[tuple[int, float], float]
) -> None:
    taken = lower_envelope(pairs, losses)
    assert {pair: losses[other] for pair, other in taken.items()} == naive.envelope(pairs, losses)
    for (k, m), (k2, m2) in taken.items():
        assert k2 >= k
        assert m2 >= m
        if losses.get((k, m)) == losses[k2, m2]:
            assert (k2, m2) == (k, m)  # its own, if no other loses less


@given(PAIRS, LOSSES)
def test_bounds_are_those_of_plain_loops(
    pairs: list[tuple[int, float]], proven: dict[tuple[int, float], float]
) -> None:
    assert lower_bounds(pairs, proven) == naive.bounds(pairs, proven)


@given(PAIRS)
def test_the_strongest_promise_comes_first_and_each_once(pairs: list[tuple[int, float]]) -> None:
    ks, ms = {k for k, _ in pairs}, {m for _, m in pairs}
    grid = [(k, m) for k in ks for m in ms]
    order = coarse_to_fine(grid)
    assert sorted(order) == sorted(grid)
    assert order[0] == (max(ks), max(ms))
    assert set(order[:4]) >= {(max(ks), max(ms)), (min(ks), min(ms))}


def test_the_middle_comes_before_its_neighbours() -> None:
    order = coarse_to_fine([(k, 1) for k in (2, 3, 5, 10, 11, 20, 50)])
    assert [k for k, _ in order] == [50, 2, 10, 3, 11, 5, 20]


@settings(max_examples=examples(25, 3), deadline=None)
@given(cases(most_rows=25, most_leaves=8), st.sampled_from(["exact", "aa", "mhghs"]))
def test_releases_keep_their_promises_and_the_envelope_rises(case: Case, algorithm: str) -> None:
    if not case.data.n_occurrences:
        with pytest.raises(DataError, match="No row contains an item"):
            explore(case.data, require_grid([2], [1]))
        return
    pairs = require_grid([2, 3, 4], [1, 2, math.inf])
    found = explore(case.data, pairs, hierarchy=case.tree, algorithm=algorithm)
    filled = sum(map(bool, case.rows))
    for cell in found.cells:
        assert (cell.status == "infeasible") == (filled < cell.k)
        if cell.status != "done":
            continue
        assert isinstance(cell.recoding, Recoding)
        rows = [frozenset(row) for row in recode(case.data, cell.recoding).rows()]
        assert is_km(rows, cell.k, cell.m)
        published = {label for row in rows for label in row}
        own = {item for row in case.rows for item in row if _is_own(cell.recoding, item)}
        assert cell.found["items_kept"] == len(own)
        assert cell.found["occurrences_kept"] == sum(len(row & own) for row in case.rows)
        assert cell.found["labels"] == len(published)
    lines = record(found, inputs=["rows.csv"])["cells"]
    shown = {(line["k"], line["m"]): line["loss"] for line in lines if line["loss"] is not None}
    for (k, m), loss in shown.items():
        for (k2, m2), other in shown.items():
            if k2 >= k and float(m2) >= float(m):
                assert loss <= other


def _is_own(recoding: Recoding, item: str) -> bool:
    return recoding.members().get(item) == [item]


@settings(max_examples=examples(15, 2), deadline=None)
@given(cases(most_rows=20, most_leaves=7))
def test_what_is_proven_is_what_a_run_on_its_own_finds(case: Case) -> None:
    if sum(map(bool, case.rows)) < 4:
        return
    found = explore(case.data, require_grid([2, 3, 4], [1, 2]), hierarchy=case.tree)
    for line in record(found, inputs=None)["cells"]:
        alone = sv.anonymize(case.data, sv.KmAnonymity(line["k"], line["m"]), hierarchy=case.tree)
        assert line["proven"]
        assert line["loss"] == pytest.approx(alone.details["optimality"]["loss"], abs=1e-12)
        assert line["loss"] == pytest.approx(line["lower_bound"])


def _found(**changed: Any) -> Any:
    return sv.explore(ROWS, k=[2, 4, 100], m=[1, 2], hierarchy=sv.Hierarchy.from_paths(PATHS), **changed)


def test_the_record() -> None:
    found = _found()
    assert json.loads(json.dumps(found)) == found
    assert (found["k"], found["m"]) == ([2, 4, 100], [1, 2])
    assert (found["rows"], found["items"], found["occurrences"]) == (15, 4, 25)
    assert found["objective"] == "lm"
    assert [(cell["k"], cell["m"]) for cell in found["cells"]] == [
        (k, m) for m in (1, 2) for k in (2, 4, 100)
    ]
    for cell in found["cells"]:
        if cell["k"] == 100:
            assert cell["status"] == "infeasible"
            assert cell["loss"] is None
            assert cell["command"] is None
            assert "15 rows" in cell["error"]
        else:
            assert cell["status"] == "done"
            assert cell["proven"]
            assert cell["known"] == cell["m"] + 1
            assert 0 <= cell["items_kept"] <= 4
    first = found["cells"][0]
    assert first["loss"] == 0
    assert (first["items_kept"], first["occurrences_kept"], first["query_error"]) == (4, 25, 0)
    assert first["unique_rows"] == 0
    assert first["command"] is None  # no file to name


def test_fixed_knowledge() -> None:
    assert {cell.get("known") for cell in _found(known=1)["cells"][:2]} == {1}
    cell = sv.explore([["a", "b"], ["a", "c"], ["b", "c"]] * 2 + [["a", "b", "c"]], k=[2], m=[2], known=3)
    assert cell["cells"][0]["known"] == 3
    endless = sv.explore(ROWS, k=[2], m=[math.inf])
    assert endless["m"] == ["inf"]
    assert (endless["cells"][0]["known"], endless["cells"][0]["unique_rows"]) == ("inf", 0)


def test_rows_unique_beyond_the_promise() -> None:
    rows = [["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"]]
    tree = sv.Hierarchy.from_paths([["a", "*"], ["b", "*"], ["c", "*"]])
    cell = sv.explore(rows, k=[2], m=[2], hierarchy=tree)["cells"][0]
    assert (cell["loss"], cell["unique_rows"], cell["unique_exact"]) == (0, 1, True)  # all of a, b, c


def _exploration(cells: list[Cell], algorithm: str = "exact") -> Exploration:
    size = {"rows": 10, "items": 5, "occurrences": 20}
    return Exploration(cells, algorithm, "lm", size, 1.0, False)


def _cell(k: int, m: int, loss: float | None, bound: float = 0.0) -> Cell:
    worth = {
        "items_kept": k,
        "occurrences_kept": 10,
        "suppressed_occurrences": 2,
        "labels": 3,
        "query_error": 0.5,
        "known": m + 1,
        "unique_rows": 1,
        "unique_exact": False,
    }
    if loss is None:
        return Cell(k, m)
    return Cell(k, m, "done", loss=loss, lower_bound=bound, found=worth, seconds=1.5)


def test_a_stronger_promise_lends_its_release() -> None:
    found = record(
        _exploration([_cell(2, 1, 0.4), _cell(5, 1, 0.3, 0.3), _cell(2, 2, None), _cell(5, 2, 0.5, 0.3)]),
        inputs=["-odd name.csv"],
        reading=["--format", "basket"],
        hierarchy=Path("h.csv"),
        own=["--no-suppress"],
        seed=3,
    )
    weak, own, unsearched, strong = found["cells"]
    assert (weak["loss"], weak["own_loss"], weak["made_for"]) == (0.3, 0.4, {"k": 5, "m": 1})
    assert weak["items_kept"] == 5
    assert not weak["proven"]  # nothing is known of what k = 2 costs at least
    assert own["proven"]
    assert (unsearched["loss"], unsearched["status"]) == (0.5, "unsearched")
    assert strong["lower_bound"] == 0.3
    assert shlex.split(weak["command"]) == [
        "setveil", "anonymize", "./-odd name.csv", "--format", "basket", "--algorithm", "exact",
        "--no-suppress", "--hierarchy", "h.csv", "-k", "5", "-m", "1", "--seed", "3", "--out", "DIR",
    ]  # fmt: skip
    assert "-k K -m M" in found["command"]
    text = explored_text(found)
    assert "k = 5, m = 1" in text
    assert [cell["at_most"] for cell in found["cells"]] == [True, False, True, True]
    assert "<=0.3" in text
    assert "<=0.5" in text
    page = explored_html(found)
    assert page.count(">≤&nbsp;0.") == 3
    assert "≤: an upper bound" in page
    assert any(line.startswith("1 guarantee is kept by the release for a str") for line in standing(found))
    assert any(
        line.startswith("Time ran out for 1 of 4 guarantees: what is shown is an upper bound, the loss")
        for line in standing(found)
    )
    assert steps(found) == ["Along m it rises most from 1 to 2, at k = 5: from 0.3 to at most 0.5."]
    assert any(line.startswith("<= at most: 3 losses of 4 are an upper bound") for line in standing(found))


def test_algorithms_that_prove_nothing() -> None:
    found = record(_exploration([_cell(2, 1, 0.1), _cell(5, 1, 0.1)], "aa"), inputs=None)
    assert [cell["proven"] for cell in found["cells"]] == [None, None]
    assert standing(found) == []
    assert steps(found) == ["At every m, k = 5 loses hardly more than k = 2."]
    assert "<=" not in explored_text(found)
    assert "≤" not in explored_html(found)
    assert not any(cell["at_most"] for cell in found["cells"])


def test_classes_are_explored_and_every_class_keeps_the_promise() -> None:
    rows = 30 * [["tea", "scone"], ["tea", "honey"], ["beer", "nuts"]] + 2 * [["tea", "nuts"], ["beer"]]
    data = Transactions.from_rows(rows)
    how = sv.Classes(classes=True, class_size=20)
    found = explore(data, require_grid([3, 5], [1, 2]), algorithm=how)
    assert found.objective == "entropy-max"
    several = 0
    for cell in found.cells:
        assert isinstance(cell.recoding, ClassRecoding)
        assert cell.lower_bound == 0  # other classes may lose less
        release = publish(data, cell.recoding, 0, {}, cell.k)
        assert isinstance(release, ClassesRelease)
        shown = [frozenset(row) for row in release.published.rows()]
        for c in range(cell.recoding.number):
            own = [row for row, at in zip(shown, release.classes.tolist(), strict=True) if at == c]
            assert is_km(own, cell.k, cell.m)
        several += cell.recoding.number > 1
    assert several
    lines = record(found, inputs=["rows.csv"])["cells"]
    assert {line["proven"] for line in lines} == {None}
    with pytest.raises(RequestError, match="several labels"):
        require_algorithm("classes", WITH_RHO)


def test_where_the_loss_rises_most() -> None:
    losses = {(2, 1): 0.0, (5, 1): 0.1, (9, 1): 0.15, (2, 2): 0.2, (5, 2): 0.25, (9, 2): 0.7}
    for bound, least in (("", 1.0), ("at most ", 0.5)):
        cells = [_cell(k, m, loss, loss * least) for (k, m), loss in losses.items()]
        assert steps(record(_exploration(cells), inputs=None)) == [
            f"Along k the loss rises most from 5 to 9, at m = 2: from {bound}0.25 to {bound}0.7.",
            f"Along m it rises most from 1 to 2, at k = 9: from {bound}0.15 to {bound}0.7.",
        ]


def test_what_a_bound_is_not_said_to_cost() -> None:
    """Check that the small extra loss of k = 5 is known only if the loss of k = 2 is."""
    for least, said in ((0.1, ["At every m, k = 5 loses hardly more than k = 2."]), (0.05, [])):
        cells = [_cell(2, 1, 0.1, least), _cell(5, 1, 0.1, least)]
        assert steps(record(_exploration(cells), inputs=None)) == said


def test_reasons_are_stated_once() -> None:
    assert reasons(_found()) == [
        "No release for k = 100, m = 1; k = 100, m = 2: the data have 15 rows, and fewer than k = 100 rows "
        "hide nobody."
    ]
    late = record(_exploration([_cell(2, 1, 0.0), _cell(5, 1, None)]), inputs=None)
    assert reasons(late) == [
        "No release for k = 5, m = 1: not searched, as time was up or the search was stopped."
    ]


def test_the_page_shows_all_promises() -> None:
    found = _found() | {"inputs": ["<b>.csv"]}
    page = explored_html(found)
    assert "&lt;b&gt;.csv" in page
    assert "<b>.csv" not in page
    assert "is internal" in page
    assert not re.search(r"<script|src=|href=(?!\"#)|url\(", page)
    table = page.partition('<table class="heat">')[2].partition("</table>")[0]
    assert len(re.findall("<td", table)) == len(found["cells"])
    assert table.count(">-<") == 2
    for cell in found["cells"]:
        assert f"<th>k = {cell['k']}, m = {cell['m']}</th>" in page
    assert page.count("<svg ") > 4


def test_the_page_of_a_single_promise() -> None:
    page = explored_html(sv.explore(ROWS, k=[2], m=[1]))
    assert "Remaining detail" not in page  # no line to draw
    assert "Nothing is lost" in page or "proven" in page


class _Stopping:
    """A listener that requests a stop as soon as a guarantee is searched: by default the second."""

    stoppable = False

    def __init__(self, number: int = 2) -> None:
        self.sign, self.phases = f"({number} of", list[str]()

    def __call__(self, phase: str, done: float | None = None) -> None:
        self.phases.append(phase)

    def stop_requested(self) -> bool:
        return any(self.sign in phase for phase in self.phases)


def test_stopping_keeps_what_there_is() -> None:
    hearing = _Stopping()
    listening: Progress = hearing
    data = sv.Transactions.from_rows(ROWS)
    found = explore(data, require_grid([2, 3, 4], [1, 2]), progress=listening)
    assert found.stopped
    assert sum(cell.status == "done" for cell in found.cells) == 2
    lines = record(found, inputs=None)["cells"]
    assert all(line["loss"] is not None for line in lines)  # the strongest guarantee is looked at first
    assert any(phase.startswith("k=4, m=2 (1 of 6): ") for phase in hearing.phases)
    assert not hearing.stoppable
    details = standing(record(found, inputs=None))
    assert details[0].startswith("The search was stopped")
    assert any(
        line.startswith("4 guarantees were not searched: what is shown is an upper bound") for line in details
    )


def test_what_a_stronger_promise_s_release_leaves_beyond_each() -> None:
    """Known is one item more than each guarantee covers, whatever the release was made for."""
    data, grid = sv.Transactions.from_rows(ROWS), require_grid([2], [3, 4, math.inf])
    details = record(explore(data, grid, progress=_Stopping(1)), inputs=None)
    assert {cell["made_for"]["m"] for cell in details["cells"]} == {"inf"}
    assert [cell["known"] for cell in details["cells"]] == [4, 5, "inf"]
    assert "most identifying m + 1 items" in explored_text(details)


@pytest.mark.parametrize(
    ("objective", "said"),
    [
        ("items", "LM with every item counted once, average share of the other items"),
        ("entropy", "Entropy, doubt that a published label leaves"),
        ("entropy-max", "entropy-max, doubt that a published label leaves"),
    ],
)
def test_every_loss_of_exact_is_named(objective: Any, said: str) -> None:
    found = _found(algorithm=sv.Exact(objective=objective)) | {"inputs": ["x"]}
    assert f"loss: {said}" in explored_text(found)
    assert said in explored_html(found)
    assert "weighted" not in found


def test_a_weighted_loss_is_called_so() -> None:
    found = _found(algorithm=sv.Exact(weights={"tea": 5}))
    assert found["weighted"]
    assert "loss: weighted LM, average share of the other items" in explored_text(found)


def test_what_was_not_found_in_time_is_not_called_infeasible() -> None:
    texts = ["abg", "afg", "abd", "f", "ad", "afk", "dgk", "d", "bdf", "dgk", "bd", "g", "afg"]
    rows = [list(row) for row in texts]
    parents = {"f": "1", "a": "1", "1": "2", "g": "2", "2": "3", "k": "3", "3": "*", "b": "4", "d": "4"}
    hurried = sv.Exact(max_suppressed=0.25, keep=["b"], time_limit=1e-9)
    options: Any = {"hierarchy": sv.Hierarchy({**parents, "4": "*", "*": None}), "algorithm": hurried}
    with pytest.raises(UnfinishedError, match="within the time limit"):
        sv.anonymize(rows, sv.KmAnonymity(2, 3), **options)
    with pytest.raises(InfeasibleError, match="No release was found within the time budget"):
        sv.explore(rows, k=[2], m=[3], **options)
    options["algorithm"] = sv.Exact(max_suppressed=0.25, keep=["b"])
    assert [cell["status"] for cell in sv.explore(rows, k=[2], m=[3], **options)["cells"]] == ["done"]


def test_no_time_at_all() -> None:
    data = sv.Transactions.from_rows(ROWS)
    with pytest.raises(InfeasibleError, match="within the time budget"):
        explore(data, require_grid([2], [1]), time_budget=-1.0)


def test_names_kept() -> None:
    data = sv.Transactions.from_rows(ROWS)
    tree = sv.Hierarchy.from_paths([*PATHS, ["salt", "salty", "*"]])
    recoding = Recoding.from_cut(tree, [tree.id(x) for x in ("hot", "milk", "sugar", "salty")], [])
    assert names_kept(data, recoding) == {
        "items_kept": 2, "occurrences_kept": 10, "suppressed_occurrences": 0,
    }  # fmt: skip
    less = Recoding.from_cut(
        tree, [tree.id(x) for x in ("hot", "milk", "sugar", "salty")], [tree.id("sugar")]
    )
    assert names_kept(data, less) == {
        "items_kept": 1, "occurrences_kept": 8, "suppressed_occurrences": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("ks", "ms", "said"),
    [
        ([], [1], "No k is given"),
        ([2], [], "No m is given"),
        ([2, 5, 2], [1], "k = 2 is given twice"),
        ([2], [1, 1.0], "m must be an integer"),
        ([1], [1], "k must be an integer of at least 2, got 1"),
        ([2], [0], "m must be an integer of at least 1, or inf, got 0"),
        ([2], [math.inf, math.inf], "m = inf is given twice"),
        (["2"], [1], "k must be an integer"),
        ([True], [1], "k must be an integer"),
    ],
)
def test_grids_that_are_refused(ks: list[Any], ms: list[Any], said: str) -> None:
    with pytest.raises(RequestError, match=said):
        require_grid(ks, ms)


def test_other_arguments_that_are_refused() -> None:
    with pytest.raises(RequestError, match="does not give km-anonymity"):
        require_algorithm("cahd")
    with pytest.raises(RequestError, match="lra gives an item several labels"):
        require_algorithm("lra")
    with pytest.raises(RequestError, match="no algorithm 'nonsense'"):
        require_algorithm("nonsense")
    for wrong in (0, math.nan, True, "60"):
        with pytest.raises(RequestError, match="time_budget must be at least 1 second"):
            require_budget(wrong)
    with pytest.raises(RequestError, match="k must be a list of numbers"):
        sv.explore(ROWS, k=5)  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="k must be a list of numbers"):
        sv.explore(ROWS, k="5,6")  # type: ignore[arg-type]
    with pytest.raises(RequestError, match="known must be an integer of at least 1"):
        sv.explore(ROWS, known=0)
    with pytest.raises(InfeasibleError, match="fewer than k = 50"):
        sv.explore(ROWS, k=[50, 60])
    with pytest.raises(DataError, match="No row contains an item"):
        sv.explore([[], []])


# --- the command


@pytest.fixture
def files(tmp_path: Path) -> Path:
    write(tmp_path / "x.csv", "".join(",".join(row) + "\n" for row in ROWS))
    write(tmp_path / "h.csv", "".join(";".join(path) + "\n" for path in PATHS))
    return tmp_path


def test_the_command_takes_classes(files: Path) -> None:
    shown = setveil("explore", "x.csv", "-H", "h.csv", "-k", "2", "--m", "1", "--classes", cwd=files).ok()
    assert "setveil anonymize x.csv --algorithm classes --classes --hierarchy h.csv" in shown.out
    shown = setveil(
        "explore",
        "x.csv",
        "-H",
        "h.csv",
        "-k",
        "2",
        "--m",
        "1",
        "--classes",
        "2",
        "--class-size",
        "4",
        cwd=files,
    ).ok()
    assert "--algorithm classes --classes 2 --class-size 4" in shown.out


@needs_compiled
def test_the_command(files: Path) -> None:
    arguments = ["x.csv", "-H", "h.csv", "-k", "4,2,100", "--m", "1,2"]
    shown = setveil("explore", *arguments, "--out", "sub/page.html", cwd=files).ok()
    assert "m \\ k  2  4" in re.sub(" +", "  ", shown.out).replace("m  \\  k", "m \\ k")
    assert "No release for k = 100" in shown.out
    command = "setveil anonymize x.csv --algorithm exact --hierarchy h.csv -k K -m M --out DIR"
    assert command in shown.out
    page = (files / "sub" / "page.html").read_text(encoding="utf-8")
    assert html.escape("--hierarchy h.csv -k 4 -m 2") in page

    found = setveil("explore", *arguments, "--json", cwd=files).ok().json()
    same = sv.explore(ROWS, k=[2, 4, 100], m=[1, 2], hierarchy=sv.Hierarchy.from_paths(PATHS))
    changing = {"seconds", "command"}
    for cell, other in zip(found["cells"], same["cells"], strict=True):
        assert {k: v for k, v in cell.items() if k not in changing} == {
            k: v for k, v in other.items() if k not in changing
        }
    last = found["cells"][4]
    words = shlex.split(last["command"].replace("DIR", "release"))
    setveil(*words[1:], cwd=files).ok()
    report = json.loads((files / "release" / "internal" / "report.json").read_text(encoding="utf-8"))
    assert (report["guarantee"]["k"], report["guarantee"]["m"]) == (4, 2)
    assert report["utility"]["lm"] == pytest.approx(last["loss"])

    again = setveil("explore", *arguments, "--out", "sub/page.html", cwd=files)
    refused(again, 2, "exists already")


@needs_compiled
def test_the_command_reads_by_its_options(files: Path) -> None:
    lines = [f"{number}|{item}" for number, row in enumerate(ROWS) for item in row]
    write(files / "long.csv", "who|what\n" + "\n".join(lines) + "\n")
    reading = ["--separator", "|", "--id-column", "who", "--item-column", "what"]
    arguments = ["long.csv", *reading, "--k", "2", "--m", "inf", "--algorithm", "aa", "--refine"]
    done = setveil("explore", *arguments, "--json", cwd=files).ok()
    assert "No --hierarchy" in done.err
    cell = done.json()["cells"][0]
    assert cell["m"] == "inf"
    words = shlex.split(cell["command"])
    for option, value in zip(reading[::2], reading[1::2], strict=True):
        assert words[words.index(option) + 1] == value
    assert "--refine" in words
    setveil(*words[1:-1], "release", cwd=files).ok()


@needs_compiled
@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--k", "1"], 2, "k must be an integer of at least 2"),
        (["--k", "x"], 2, "--k must be an integer"),
        (["--k", ","], 2, "No k is given"),
        (["--m", "0"], 2, "m must be"),
        (["--k", "5,5"], 2, "given twice"),
        (["--k", "inf"], 2, "--k must be an integer"),
        (["--algorithm", "cahd"], 2, "there is no algorithm"),
        (["--algorithm", "aa", "--gap", "0.1"], 2, "aa has no parameter gap"),
        (["--out", "page.txt"], 2, "must name a page"),
        (["--k", "99"], 3, "fewer than k = 99"),
        (["-H", "nowhere.csv"], 4, "nowhere.csv"),
        (["-H", "other.csv"], 4, "--extend other.csv"),
        (["--known", "0"], 2, "at least 1"),
        (["--time-budget", "0"], 2, "at least 1"),
    ],
)
def test_what_the_command_refuses(files: Path, options: list[str], code: int, said: str) -> None:
    write(files / "other.csv", "tea;*\n")
    before = sorted(files.iterdir())
    refused(setveil("explore", "x.csv", *options, cwd=files), code, said)
    assert sorted(files.iterdir()) == before


@needs_compiled
def test_no_secret_is_shown(files: Path) -> None:
    with contextlib.closing(sqlite3.connect(files / "shop.db?password=s3cret")) as base:
        base.execute("CREATE TABLE bought (who INTEGER, what TEXT)")
        lines = [(number, item) for number, row in enumerate(ROWS) for item in row]
        base.executemany("INSERT INTO bought VALUES (?, ?)", lines)
        base.commit()
    arguments = [
        "--query",
        "SELECT who, what FROM bought",
        "--connection",
        "sqlite:///shop.db?password=s3cret",
    ]
    more = ["--id-column", "who", "--item-column", "what", "--k", "2", "--m", "1", "--json"]
    done = setveil("explore", *arguments, *more, cwd=files).ok()
    words = shlex.split(done.json()["cells"][0]["command"])
    assert words[words.index("--query") + 1] == "SELECT who, what FROM bought"
    assert words[words.index("--connection") + 1] == "sqlite:///shop.db?password=***"
    assert "s3cret" not in done.out


@needs_compiled
def test_rows_from_standard_input(files: Path) -> None:
    content = (files / "x.csv").read_bytes()
    done = setveil("explore", "-", "--k", "2", "--m", "1", "--json", cwd=files, stdin=content).ok()
    assert done.json()["rows"] == len(ROWS)
