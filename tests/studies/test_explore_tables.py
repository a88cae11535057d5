"""The loss of a table under guarantees, over a grid of k and m."""

from __future__ import annotations

import math
import shlex
from fractions import Fraction
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, together, write
from setveil.base.errors import DataError, InfeasibleError, RequestError
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.studies.explore.promises import require_grid
from setveil.work.studies.explore.tables import explore_table
from tables import fast, hierarchy, random_tables
from ward import ward

CODES = "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n"
LINES = "age,sex,codes\n34,F,I21;J18\n36,F,I21\n41,M,J18;J44\n45,M,I50;J44\n47,F,I50\n62,M,I21;J44\n"


@needs_compiled
def test_each_cell_is_the_sweep_of_its_promise() -> None:
    for rng, naive in random_tables(12, 3, most_rows=14):
        table, tree = fast(naive), hierarchy(naive)
        if table.n_rows < 4:
            continue
        share = Fraction(rng.choice((0, 1, 2, 3, 4)), 4)
        found = explore_table(
            table, require_grid([2, 3, 20], [1, 2, math.inf]), hierarchy=tree, share=share, time_budget=3600
        )
        assert (found.objective, found.share, found.algorithm) == ("f", share, "rt")
        for cell in found.cells:
            if cell.k == 20:
                assert cell.status == "infeasible"
                continue
            release = sv.anonymize(
                table, sv.KKmAnonymity(cell.k, cell.m), hierarchy=tree, algorithm="rt", search="sweep",
                share=share,
            )  # fmt: skip
            utility = release.utility
            assert cell.found["relational_loss"] == utility["relational_loss"]
            assert cell.found["transaction_loss"] == pytest.approx(utility["transaction_loss"], abs=1e-12)
            weighed = share * Fraction(utility["relational_loss"])
            weighed += (1 - share) * Fraction(utility["transaction_loss"])
            assert cell.loss == pytest.approx(float(weighed), abs=1e-12)
            assert cell.found["suppressed_occurrences"] == utility["suppressed_occurrences"]
            known = table.n_items if cell.m == math.inf else int(cell.m) + 1
            if cell.m != math.inf:
                risk = sv.risk(release, m=known, thresholds=[2])["risk"][0]
                assert cell.found["unique_rows"] == risk["rows_below"]["2"]
            assert cell.lower_bound == 0  # nothing is proven of columns and items together


@needs_compiled
def test_words_and_page(tmp_path: Path) -> None:
    naive = ward()
    table = fast(naive)
    found = sv.explore(table, k=[2, 4, 9], m=[1, 2], hierarchy=Hierarchy(naive.items), share="1/2")
    by_pair = {(cell["k"], cell["m"]): cell for cell in found["cells"]}
    release = sv.anonymize(
        table, k=2, m=2, hierarchy=Hierarchy(naive.items), algorithm="rt", search="sweep", share="1/2"
    )
    lost = release.utility["relational_loss"], release.utility["transaction_loss"]
    assert by_pair[2, 2]["loss"] == pytest.approx(sum(lost) / 2)
    assert by_pair[2, 2]["relational_loss"] == pytest.approx(lost[0])
    assert by_pair[2, 2]["classes"] == release.utility["classes"]["groups"]
    assert {cell["loss"] for cell in found["cells"] if cell["k"] == 9} == {None}
    assert found["command"] is None
    text = explored_text(found)
    assert "f, 1/2 R + 1/2 T" in text
    assert "all quasi-identifiers and the most identifying m + 1 items" in text
    assert "k^m" not in text
    page = explored_html(found)
    assert "Loss of the columns" in page
    assert "Unchanged items" not in page


@needs_compiled
def test_on_the_command_line(tmp_path: Path) -> None:
    write(tmp_path / "ward.csv", LINES)
    write(tmp_path / "codes.csv", CODES)
    words = ("--qi", "age,sex", "--set", "codes", "-H", "codes.csv")
    done = setveil("explore", "ward.csv", *words, "-k2,3", "-m1", "--share", "1/3", "--json", cwd=tmp_path)
    found = done.ok().json()
    assert [(cell["k"], cell["m"]) for cell in found["cells"]] == [(2, 1), (3, 1)]
    commands = [cell["command"] for cell in found["cells"]]
    assert all("--share" in command and "--search sweep" in command for command in commands)
    lines = [[*shlex.split(line)[1:-1], f"out{at}"] for at, line in enumerate(commands)]
    for one, cell in zip(together([[*x, "--json"] for x in lines], tmp_path), found["cells"], strict=True):
        utility = one.ok().json()["utility"]
        assert utility["relational_loss"] == cell["relational_loss"]
        assert utility["transaction_loss"] == pytest.approx(cell["transaction_loss"])


def test_what_does_not_apply_is_refused(tmp_path: Path) -> None:
    table = fast(ward())
    with pytest.raises(RequestError, match="explored with rt"):
        sv.explore(table, k=[2], m=[1], algorithm="exact")
    with pytest.raises(RequestError, match="share weighs"):
        sv.explore([["a"], ["b"]], share=0.5)
    with pytest.raises(InfeasibleError):
        sv.explore(table, k=[50], m=[1])
    with pytest.raises(DataError, match="no rows"):
        explore_table(table.rows_at([]), [(2, 1)])  # type: ignore[arg-type]
    write(tmp_path / "ward.csv", LINES)
    words = ("explore", "ward.csv", "--qi", "age,sex", "--set", "codes")
    refused(setveil(*words, "-a", "aa", cwd=tmp_path), 2, "--algorithm aa", "rt")
    refused(setveil(*words, "--no-suppress", cwd=tmp_path), 2, "--no-suppress", "rt")
    refused(setveil("explore", "ward.csv", "--share", "1/2", cwd=tmp_path), 2, "--share", "--qi")
