"""A study over a table: its columns, its report, and what decides."""

from __future__ import annotations

import tomllib
from itertools import product
from pathlib import Path

import pytest

import setveil as sv
from cli_helpers import needs_compiled, write
from setveil.judges.guarantees import models
from setveil.work.studies.compare.study import read_study

pytestmark = pytest.mark.usefixtures("forked_workers")

STUDIES = Path(__file__).parent.parent.parent / "studies"
LINES = """age,sex,codes
34,F,I21;J18
36,F,I21
41,M,J18;J44
45,M,I50;J44
47,F,I50
62,M,I21;J44
64,M,I21;I50
71,F,J18
"""
CODES = "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n"
ROLES = """[columns.age]
role = "qi"
[columns.sex]
role = "qi"
[columns.codes]
role = "set"
hierarchy = "codes.csv"
"""
STUDY = """name = "small"
data = [{ path = "ward.csv", roles = "roles.toml" }]
k = 2
m = 2
queries = 20

[[runs]]
algorithms = ["bounding"]
relational = "cluster"
items_by = "aa"
merge = "rt"
delta = 0.6

[[runs]]
algorithms = ["rt", "forest"]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, content in (("ward.csv", LINES), ("codes.csv", CODES), ("roles.toml", ROLES)):
        write(tmp_path / name, content)
    return tmp_path


@pytest.mark.exhaustive
@needs_compiled
def test_what_a_study_of_a_table_measures(folder: Path) -> None:
    rows = sv.compare(write(folder / "study.toml", STUDY), folder / "study")
    assert [(row["algorithm"], row["status"]) for row in rows] == [
        ("bounding", "done"), ("rt", "done"), ("forest", "done")
    ]  # fmt: skip
    table = sv.read_table(
        folder / "ward.csv", qi=["age", "sex"], set="codes", hierarchies={"codes": folder / "codes.csv"}
    )
    for row in rows:
        own = {name: row[name] for name in ("relational", "merge", "delta")}
        options = {**own, "items": row["items_by"]} if row["algorithm"] == "bounding" else {}
        release = sv.anonymize(table, sv.KKmAnonymity(2, 2), algorithm=row["algorithm"], **options)
        utility = release.utility
        assert row["relational_loss"] == utility["relational_loss"]
        assert row["transaction_loss"] == utility["transaction_loss"]
        assert row["f"] == pytest.approx(row["relational_loss"] / 4 + 3 * row["transaction_loss"] / 4)
        assert row["left_out"] == row["suppressed_occurrences"] / row["occurrences"]
        assert row["classes"] == utility["classes"]["groups"]
        assert row["table_are_mean"] is not None
        risk = {e["choice"]: e for e in sv.risk(release, m=3)["risk"]}["best"]
        assert row["risk_below_5"] == risk["rows_below"]["5"]
        # Bounds for the items of given classes imply nothing about columns and items together.
        assert (row["gap"] is None) == (row["algorithm"] != "forest")
    assert rows[0]["relational_loss"] == pytest.approx(67 / 148)  # docs/table_methods.md
    assert rows[0]["ncp"] == pytest.approx(9 / 13)
    report = (folder / "study" / "report.html").read_text()
    assert "Loss (f)" in report
    assert "an attacker who knows all quasi-identifiers and 3 items of a person" in report
    for head in ("Loss f", "Classes", "Suppressed", "Query error, columns and items", ">R<", ">T<"):
        assert head in report, head


def test_families_of_tables_are_apart() -> None:
    assert models()["kkm"].family == "tables"
    assert models()["mixed-km"].family == "mixed tables"


def test_the_study_of_tables_is_well_formed(folder: Path) -> None:
    write(folder / "patients.csv", LINES)
    write(folder / "patients.toml", ROLES)
    study = read_study(STUDIES / "tables.toml", folder)
    merged = [run for run in study.runs if "delta" in run.parameters]
    assert len(merged) == 60
    names = tomllib.loads((STUDIES / "tables.toml").read_text())["runs"][0]
    methods = set(product(names["relational"], names["items_by"], names["merge"]))
    made = {tuple(run.parameters.get(name) for name in ("relational", "items_by", "merge")) for run in merged}
    assert made == methods
    assert {run.algorithm for run in study.runs} == {"bounding", "rt", "forest"}
