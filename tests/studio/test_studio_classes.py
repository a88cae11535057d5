"""Rows in classes in the studio: the method, and the page Release about them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from cli_helpers import setveil
from setveil.studio.projects import Project
from studio_client import Client
from test_studio_kinds import classes


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "studio")


@pytest.fixture
def project(client: Client, tmp_path: Path) -> Project:
    made = client.studio.projects.create("Two kinds")
    classes(made, tmp_path)
    return made


def settings(project: Project) -> dict[str, object]:
    return tomllib.loads(project.toml.read_text("utf-8"))


def test_the_method_is_the_one_of_the_settings(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that the page chose the usual method if the settings require classes."""
    monkeypatch.setattr(client.studio.jobs, "start", lambda *_args, **_more: None)
    page = client.get("p", project.name, "run").text
    assert re.search(r'<option value="classes" selected>', page)
    assert re.search(r'name="class-size"[^>]* value="50"', page)
    assert '<optgroup label="For researchers">' in page  # methods without a description
    form = {"algorithm": "classes", "time-limit": "300", "class-size": "60"}
    assert client.post("p", project.name, "run", "start", data=form).status_code == 303
    assert settings(project)["class-size"] == 60
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "300"})
    assert not {"classes", "class-size"} & {*settings(project)}


def test_items_that_no_class_is_cut_on(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the command line took them."""
    started: list[list[str]] = []
    monkeypatch.setattr(
        client.studio.jobs, "start", lambda _project, _kind, argv, **_more: started.append(argv)
    )
    form = {"algorithm": "classes", "time-limit": "300", "class-size": "50"}
    client.post("p", project.name, "run", "start", data={**form, "not-split": "tea\r\n\r\nbeer"})
    file = project.folder / "not-split.csv"
    assert settings(project)["not-split"] == str(file)
    assert file.read_text("utf-8") == "tea\nbeer\n"
    assert str(file) in started[-1] or "not-split.csv" in started[-1]
    assert re.search(
        r'<textarea id="not-split"[^>]*>tea\nbeer</textarea>', client.get("p", project.name, "run").text
    )
    client.post("p", project.name, "run", "start", data={**form, "not-split": ""})
    assert "not-split" not in settings(project)
    assert not file.exists()
    project.save(**{"not-split": "other.csv"})
    client.post("p", project.name, "run", "start", data={**form, "not-split": ""})
    assert settings(project)["not-split"] == "other.csv"
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "300"})
    assert "not-split" not in settings(project)


def test_the_page_says_what_classes_have_in_common(client: Client, project: Project) -> None:
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    page = client.get("p", project.name, "release?run=one").text
    assert '<h3 id="classes">Classes</h3>' in page
    assert "2 of 120 rows; pairs are off by" in page
    assert re.search(r"<b>tea</b> in 120 of 120 rows", page)
    assert re.search(r"<b>beer</b> in 120 of 120 rows", page)
    for cut in ("with", "without"):
        assert len(re.findall(rf"<td>{cut} (?:tea|beer)</td>", page)) == 1
    assert page.count('<td class="number">proven</td>') == 2


def test_one_class_is_called_one(client: Client, project: Project) -> None:
    project.save(classes=1)
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one", "--no-details").ok()
    page = client.get("p", project.name, "release?run=one").text
    assert "one: more answer no better" in page
    assert "in more than 90" not in page


def test_what_is_done_with_rare_items(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[list[str]] = []
    monkeypatch.setattr(
        client.studio.jobs, "start", lambda _project, _kind, argv, **_more: started.append(argv)
    )
    form = {"algorithm": "exact", "time-limit": "300", "suppress-below": "5", "list-members": "on"}
    client.post("p", project.name, "run", "start", data=form)
    words = " ".join(started[0])
    assert "--suppress-below 5" in words
    assert "--list-members" in words
    page = client.get("p", project.name, "run").text
    assert re.search(r'name="suppress-below"[^>]* value="5"', page)
    assert re.search(r'name="list-members" checked', page)
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "300"})
    assert not {"suppress-below", "list-members"} & {*settings(project)}
