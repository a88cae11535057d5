"""The loss of facts under guarantees, over a grid of k and m."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from random import Random

import polars as pl
import pytest

import setveil as sv
from cli_helpers import needs_compiled, setveil, write
from fact_cases import random_facts
from setveil.base.values.per_column import PerColumn
from setveil.judges.guarantees.km import KmAnonymity
from setveil.report.explore.page import explored_html
from setveil.report.explore.text import explored_text
from setveil.rows.facts.generalizing import Generalizing
from setveil.work.studies.explore.facts import explore_facts
from setveil.work.studies.explore.promises import require_grid
from strategies import many

ONE = ("--id-column", "patient", "--set", "code", "--when", "date:month", "--amount", "cost:0,50,100")
TWO = ("--id-column", "patient", "--set", "code:m=2", "--set", "drug:m=1", "--when", "date:month")


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("ward")
    lines = ["patient,date,code,drug,cost"]
    for i in range(40):
        lines += [f"{i},2024-0{1 + i % 2}-03,I50.{i % 2},C07,{3 * i}"]
        lines += [f"{i},2024-0{1 + i % 4}-1{i % 9},J18.{i % 2},C0{i % 4},40"]
    write(folder / "log.csv", "\n".join(lines))
    write(folder / "icd.csv", "I50.0;I50;*\nI50.1;I50;*\nJ18.0;J18;*\nJ18.1;J18;*\n")
    write(folder / "atc.csv", "".join(f"C0{i};C;*\n" for i in (0, 1, 2, 3, 7)))
    return folder


@needs_compiled
def test_each_cell_is_the_run_of_its_promise() -> None:
    random = Random(31)
    for number in range(many(24)):
        facts, codes, _ = random_facts(random)
        if facts.filled_rows < 2:
            continue
        algorithm = ("exact", "aa", "mhghs")[number % 3]
        how = Generalizing(random.choice((None, "first", 1)), random.choice(("volume", "parts")))
        found = explore_facts(
            facts, require_grid([2, 3, 20], [1, 2]), hierarchy=codes, algorithm=algorithm,
            generalizing=how, time_budget=3600,
        )  # fmt: skip
        assert found.parts == ("code", "on")
        for cell in found.cells:
            if cell.k > facts.filled_rows:
                assert cell.status == "infeasible"
                continue
            release = sv.anonymize(
                facts, KmAnonymity(cell.k, cell.m), hierarchy=codes, algorithm=algorithm,
                fact_order=how.order, fact_loss=how.loss,
            )  # fmt: skip
            record = release.report["facts"]
            assert cell.loss == pytest.approx(min(one["loss"] for one in record["orders"]), abs=1e-12)
            if algorithm == "exact":
                assert cell.lower_bound == pytest.approx(cell.loss, abs=1e-12)
                continue  # a stronger guarantee's release that loses as little is taken, too
            assert cell.lower_bound == 0
            assert cell.found["kept"] == record["kept"]
            assert cell.found["whole"] == record["whole"]
            assert cell.found["order"] == record["order"]
            assert cell.found["suppressed_occurrences"] == release.utility["suppressed_occurrences"]
            risk = sv.risk(release, m=int(cell.m) + 1, thresholds=[2])["risk"][0]
            assert cell.found["unique_rows"] == risk["rows_below"]["2"]


@needs_compiled
def test_no_other_order_is_proven_where_columns_are_tried_by_themselves() -> None:
    lines = [(i // 3, f"c{i % 4}", f"d{i % 3}", str(2001 + i % 2)) for i in range(60)]
    frame = pl.DataFrame(lines, schema=["who", "code", "drug", "on"], orient="row")
    facts = sv.read_facts(frame, id="who", sets={"code": {"m": 2}, "drug": {"m": 1}}, when={"on": "year"})
    found = sv.explore(facts, k=[2, 5], time_budget=3600)
    assert found["m"] == ["code=2,drug=1"]
    for cell in found["cells"]:
        assert (cell["proven"], cell["at_most"], cell["lower_bound"]) == (None, False, 0)
        release = sv.anonymize(facts, k=cell["k"])
        assert isinstance(release.report["guarantee"]["m"], dict)
        assert cell["loss"] == pytest.approx(min(one["loss"] for one in release.report["facts"]["orders"]))
    alike = sv.explore(facts, k=[2], m=[1, 2], time_budget=3600)
    assert alike["m"] == [1, 2]
    assert isinstance(facts.m, PerColumn)


def test_the_command_and_its_page(ward: Path) -> None:
    words = ("log.csv", *ONE, "-H", "icd.csv", "--k", "2,5", "--m", "1,2")
    done = setveil("explore", *words, "--out", "costs.html", cwd=ward).ok()
    assert "order code date cost all" in " ".join(done.out.split())
    assert "least of all orders" in done.out
    page = (ward / "costs.html").read_text()
    assert "Kept: date" in page
    answer = json.loads(setveil("explore", *words, "--json", cwd=ward).ok().out)
    assert answer["parts"] == ["code", "date", "cost"]
    assert answer["fact_loss"] == "volume"
    assert explored_text(answer) in done.out
    assert "Orders" in explored_html(answer)
    cell = answer["cells"][-1]
    command = cell["command"].replace(" DIR", " made")
    setveil(*shlex.split(command)[1:], cwd=ward).ok()
    report = json.loads((ward / "made" / "internal" / "report.json").read_text())
    assert report["utility"]["lm"] == pytest.approx(cell["loss"], abs=1e-12)
    assert report["facts"]["kept"] == pytest.approx(cell["kept"])


def test_two_columns_with_an_m_of_their_own(ward: Path) -> None:
    words = ("log.csv", *TWO, "-H", "code=icd.csv", "-H", "drug=atc.csv", "--k", "5")
    answer = json.loads(setveil("explore", *words, "--fact-loss", "parts", "--json", cwd=ward).ok().out)
    assert answer["m"] == ["code=2,drug=1"]
    assert answer["parts"] == ["code", "date of code", "drug", "date of drug"]
    command = answer["cells"][0]["command"].replace(" DIR", " two")
    setveil(*shlex.split(command)[1:], cwd=ward).ok()
    setveil("verify", "two", "--k", "5", "--m", "code=2,drug=1", cwd=ward).ok()
