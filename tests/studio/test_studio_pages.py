"""Each page answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.studio.render import STEPS, TOUR
from studio_client import Client


@pytest.mark.parametrize("step", STEPS)
def test_each_step_has_a_page(tmp_path: Path, step: str) -> None:
    client = Client(tmp_path)
    project = client.studio.projects.create("Pharmacy 2026")
    step = "data/file" if step == "data" else step  # the way to it
    answer = client.get("p", project.name, step)
    assert answer.status_code == 200
    assert "Pharmacy 2026 - setveil</title>" in answer.text


def test_a_project_needs_a_name(tmp_path: Path) -> None:
    client = Client(tmp_path)
    answer = client.post("new", data={"title": " \t "})
    assert answer.status_code == 422
    assert "The project has no name." in answer.text
    assert client.studio.projects.all() == []


def test_the_sample_is_that_of_the_demo(tmp_path: Path) -> None:
    client = Client(tmp_path)
    answer = client.post("try")
    assert answer.status_code == 303
    project = client.studio.projects.all()[0]
    assert answer.headers["location"] == client.at("p", project.name, "data")
    settings = project.settings()
    assert project.studio["rows"] == 5000
    assert Path(settings["input"]).is_file()
    assert Path(settings["hierarchy"]).read_text().count("all products") == project.studio["items"]
    for number, step in enumerate(STEPS, 1):
        page = client.get("p", project.name, step).text
        assert f"Tour, {number} of 6." in page
        assert f"<h1>{STEPS[step]}" in page
        assert TOUR[step].partition(",")[0].replace("'", "&#39;") in page
    answer = client.post("p", project.name, "tour", data={"step": "promise"})
    assert answer.headers["location"].endswith("/promise")
    assert "Tour," not in client.get("p", project.name, "data").text


def test_the_tour_has_six_sentences() -> None:
    assert list(TOUR) == list(STEPS)
    for sentence in TOUR.values():
        assert sentence.endswith(".")
        assert ". " not in sentence


def test_a_project_is_deleted_when_its_name_is_typed(tmp_path: Path) -> None:
    client = Client(tmp_path)
    project = client.studio.projects.create("Pharmacy  2026")
    other = client.studio.projects.create("Other")
    for typed in ("", "pharmacy-2026", "Other"):
        answer = client.post("delete", data={"name": project.name, "typed": typed})
        assert answer.status_code == 422
        assert project.folder.exists()
    for name in ("..", "", "x", "../pharmacy-2026"):
        assert client.post("delete", data={"name": name, "typed": "Pharmacy 2026"}).status_code == 422
    assert client.post("delete", data={"name": project.name, "typed": "Pharmacy 2026"}).status_code == 303
    assert not project.folder.exists()
    assert other.folder.exists()


def test_settings_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    client = Client(tmp_path)
    project = client.studio.projects.create("Pharmacy")
    project.toml.write_text("k = = 5")
    assert "its settings cannot be read" in client.get("").text
    answer = client.get("p", project.name, "data")
    assert answer.status_code == 400
    assert "cannot be read" in answer.text


def test_closing_ends_the_studio(tmp_path: Path) -> None:
    client = Client(tmp_path)
    answer = client.post("close")
    assert "setveil is closed" in answer.text
    assert client.closed


def test_a_mistake_of_setveil_shows_no_trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    client = Client(tmp_path)

    def fail() -> None:
        raise ValueError("row 17: secret item")

    monkeypatch.setattr(client.studio.projects, "all", fail)
    answer = client.get("")
    assert answer.status_code == 500
    assert "setveil made a mistake" in answer.text
    assert "secret item" not in answer.text
    assert "Traceback" not in answer.text
    answer = client.raw("GET", client.at(""), client.headers() | {"accept": "application/json"})
    assert answer.json()["error"]["kind"] == "setveil made a mistake"


def test_a_project_is_made_and_listed(tmp_path: Path) -> None:
    client = Client(tmp_path)
    answer = client.post("new", data={"title": "Grüße <b>"})
    assert answer.status_code == 303
    assert (
        answer.headers["location"] == client.at("p", "grue-b", "data") or "gru" in answer.headers["location"]
    )
    listed = client.get("").text
    assert "Grüße &lt;b&gt;" in listed
