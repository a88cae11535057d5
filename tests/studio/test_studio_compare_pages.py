"""The page Compare without a browser: names that are none, files that are broken, the file of a study."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

import setveil as sv
import studio_shop
from cli_helpers import setveil
from setveil.studio.pages.compare import _numbers, _study_file
from setveil.studio.projects import Project
from studio_client import Client


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "projects")


def made(client: Client, title: str = "Shop") -> Project:
    project = client.studio.projects.create(title)
    studio_shop.fill(project)
    project.save(k=5, m="2")
    return project


NONE = ["", ".", "..", "../..", "/etc", "a\0b", "study-1/../..", "%2e%2e", "none"]


@pytest.mark.parametrize("name", NONE)
def test_only_what_is_listed_can_be_named(client: Client, tmp_path: Path, name: str) -> None:
    project = made(client)
    outside = tmp_path / "outside"
    (outside / "out").mkdir(parents=True)
    for file in ("study.toml", "out/report.html", "plan.json"):
        (outside / file).write_text("secret")
    before = project.toml.read_bytes()
    for what in ("keep", "choose"):
        assert client.post("p", project.name, "compare", what, data={"run": name}).status_code == 404
    assert client.post("p", project.name, "compare", "go-on", data={"study": name}).status_code == 404
    answer = client.get("p", project.name, "compare", "report", params={"study": name})
    assert (answer.status_code, "secret" in answer.text) == (404, False)
    answer = client.get("p", project.name, "compare", "results", params={"study": name})
    assert answer.json() == {"lines": [], "done": 0}
    answer = client.get("p", project.name, "compare", params={"first": name, "second": name})
    assert (answer.status_code, "secret" in answer.text) == (200, False)
    assert project.toml.read_bytes() == before


def test_broken_files_break_no_page(client: Client) -> None:
    project = made(client)
    for name, content in (
        ("a", "{"),
        ("b", "[]"),
        ("c", "{}"),
        ("d", '{"guarantee": {"model": "km-anonymity"}}'),
    ):
        (project.runs / name / "internal").mkdir(parents=True)
        (project.runs / name / "internal" / "report.json").write_text(content)
    (project.studies / "study-1").mkdir(parents=True)
    (project.studies / "study-1" / "study.toml").write_text("name = 1")
    (project.studies / "study-1" / "plan.json").write_text('{"runs": [{}, 5]}')
    for content in ("{", "[]", "{}", '{"best": {}}', '{"best": null, "by": "lm", "hierarchy": true}'):
        (project.studies / "recommended.json").write_text(content)
        answer = client.get("p", project.name, "compare")
        assert answer.status_code == 200
        assert "k^m" not in answer.text
    assert client.post("p", project.name, "compare", "use").status_code == 303
    assert "algorithm" not in project.settings()


def test_the_file_of_a_study_says_how_the_data_are_read(client: Client) -> None:
    project = made(client, 'The "best"\\ shop\n')
    project.save(separator=";", id_column="a b", same_ids=None, keep="x.csv")
    folder = project.studies / "study-1"
    folder.mkdir(parents=True)
    study = tomllib.loads(
        _study_file(project, folder, "study-1", ["exact", "aa"], ["5", "20"], ["1", "inf"], 60)
    )
    assert study == {
        "name": 'The "best"\\ shop\n: study-1',
        "data": [
            {
                "path": project.settings()["input"],
                "name": project.name,
                "hierarchy": "groups.csv",
                "format": "basket",
                "separator": ";",
                "id_column": "a b",
            }
        ],
        "algorithms": ["exact", "aa"],
        "k": [5, 20],
        "m": [1, "inf"],
        "time_limit": 60,
    }
    assert (folder / "groups.csv").read_bytes() == project.hierarchy.read_bytes()


def test_numbers_of_a_study() -> None:
    assert _numbers("5, 20;7  5", 2) == ["5", "20", "7"]
    assert _numbers("1,inf", 1, inf=True) == ["1", "inf"]
    for text in ("", "1", "x", "5,x", "-5", "5.5", "inf", "\u0665", "9999999999"):
        assert _numbers(text, 2) == []


@pytest.mark.parametrize(
    ("sent", "message"),
    [
        ({"k": "x", "m": "2", "methods": "aa"}, "k must be whole numbers, 2 or more"),
        ({"k": "5", "m": "0", "methods": "aa"}, "m must be whole numbers, 1 or more"),
        ({"k": "5", "m": "2", "methods": "none"}, "Choose at least one method."),
        ({}, "k must be whole numbers"),
    ],
)
def test_a_study_that_cannot_be_is_refused_beside_its_fields(
    client: Client, sent: dict[str, str], message: str
) -> None:
    project = made(client)
    answer = client.post("p", project.name, "compare", "study", data=sent)
    assert (answer.status_code, message in answer.text) == (400, True)
    assert not project.studies.exists()


def test_releases_with_equal_figures_are_named_at_one_place(client: Client) -> None:
    project = made(client)
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    report = json.loads((project.runs / "one" / "internal" / "report.json").read_text())
    for name, loss in (("two", 0.9), ("three", report["utility"]["lm"])):
        report["utility"]["lm"] = loss
        (project.runs / name / "internal").mkdir(parents=True)
        (project.runs / name / "internal" / "report.json").write_text(json.dumps(report))
    project.save(studio={"kept": ["one", "two", "three"], "chosen": "three"})
    text = client.get("p", project.name, "compare").text
    circles = re.findall(r'<circle class="([^"]*)" cx="([^"]*)" cy="([^"]*)"', text)
    names = re.findall(r'<text class="name" x="([^"]*)" y="([^"]*)">([^<]*)</text>', text)
    assert [kind for kind, *_ in circles] == ["point chosen", "point", "point"]  # the large one is below
    assert circles[0][1:] == circles[1][1:] != circles[2][1:]
    assert [name for *_, name in names] == ["A, C", "B"]


def test_groups_of_columns_are_none_of_a_study(client: Client) -> None:
    """With several hierarchies the setting is a list."""
    project = made(client)
    hierarchy = str(project.hierarchy)
    project.save(hierarchy=[hierarchy, "seen=dates:month,year"])
    (project.folder / "s").mkdir()
    text = _study_file(project, project.folder / "s", "s", ["exact"], ["5"], ["2"], 60)
    assert tomllib.loads(text)["data"][0]["hierarchy"] == "groups.csv"
    project.save(hierarchy=["seen=dates:month,year"])
    text = _study_file(project, project.folder / "s", "s", ["exact"], ["5"], ["2"], 60)
    assert "hierarchy" not in tomllib.loads(text)["data"][0]


def test_a_study_of_a_table_is_refused_with_the_way(client: Client) -> None:
    project = made(client)
    project.save(qi="age", hierarchy=[str(project.hierarchy), "age=numbers:5"])
    answer = client.post(
        "p", project.name, "compare", "study", data={"k": "5", "m": "2", "methods": "aa", "limit": "60"}
    )
    assert answer.status_code == 400
    assert "Data with other columns are studied on the command line." in answer.text
    assert not project.studies.exists()


def test_what_is_kept_is_what_is_shown(client: Client) -> None:
    project = made(client)
    report = sv.anonymize([["a"], ["a"]], sv.KmAnonymity(2, 1)).report
    for i in range(8):
        (project.runs / f"run-{i}" / "internal").mkdir(parents=True)
        report["guarantee"]["phrase"] = f"promise {i}"
        (project.runs / f"run-{i}" / "internal" / "report.json").write_text(json.dumps(report))
    text = client.get("p", project.name, "compare").text
    assert text.count("<td>promise ") == 6  # the last ones
    for name in ("run-1", "run-5", "run-1"):
        assert client.post("p", project.name, "compare", "keep", data={"run": name}).status_code == 303
    assert project.studio["kept"] == ["run-5", "run-1"]
    client.post("p", project.name, "compare", "keep", data={"run": "run-5", "out": "yes"})
    assert project.studio["kept"] == ["run-1"]
    text = client.get("p", project.name, "compare").text
    assert ("promise 1" in text, "promise 5" in text) == (True, False)
