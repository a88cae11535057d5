"""Each page answers."""

from __future__ import annotations

from pathlib import Path

import pytest

from setveil.studio.render import STEPS
from studio_client import Client


@pytest.mark.parametrize("step", STEPS)
def test_each_step_has_a_page(tmp_path: Path, step: str) -> None:
    client = Client(tmp_path)
    project = client.studio.projects.create("Pharmacy 2026")
    step = "data/file" if step == "data" else step  # the way to it
    answer = client.get("p", project.name, step)
    assert answer.status_code == 200
    assert "Pharmacy 2026 - setveil</title>" in answer.text


def test_a_project_is_made_and_listed(tmp_path: Path) -> None:
    client = Client(tmp_path)
    answer = client.post("new", data={"title": "Grüße <b>"})
    assert answer.status_code == 303
    assert (
        answer.headers["location"] == client.at("p", "grue-b", "data") or "gru" in answer.headers["location"]
    )
    listed = client.get("").text
    assert "Grüße &lt;b&gt;" in listed
