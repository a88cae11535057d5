"""The commands that pages run are the ones that the command line takes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cli_helpers
from setveil.cli import app as cli
from setveil.runs.options.names import COLUMNS, MADE_OF_COLUMNS, READING
from setveil.studio import commands
from setveil.studio.projects import Project, Projects


@pytest.fixture
def project(tmp_path: Path) -> Project:
    found = Projects(tmp_path / "projects").create("Shop")
    rows = [["tea", "milk"], ["tea", "milk"], ["tea"], ["soap"], ["soap", "milk"], ["soap", "tea"]] * 3
    cli_helpers.write(tmp_path / "rows.csv", cli_helpers.dump(rows, "basket"))
    found.save(input=str(tmp_path / "rows.csv"), format="basket", k=3, m=2, studio={"sha256": "0"})
    return found


def _options(command: str) -> set[str]:
    parameters = cli.app_for([command]).commands[command].params
    return {word[2:] for one in parameters for word in one.opts if word.startswith("--")}


def test_every_option_that_is_passed_on_is_known_to_its_command() -> None:
    reading, columns = set(READING), set(COLUMNS)
    made = set(MADE_OF_COLUMNS)
    assert reading | columns | made | set(commands.PROMISE) | set(commands.SEARCHED) <= _options("anonymize")
    assert reading | columns | made | set(commands.SEARCHED) <= _options("explore")
    assert reading | columns <= _options("risk")
    assert reading | columns | made <= _options("recommend")
    assert set(commands.CHECKED) <= _options("verify")


def test_settings_become_options_of_all_kinds(project: Project) -> None:
    project.save(suppress=False, global_=None, same_ids=True, ranges=["age=5", "zip=2"], delimiter="-")
    words = commands.anonymize(project, "runs/one")
    assert words[0] == "anonymize"
    assert words[1] == project.settings()["input"]
    assert words[-2:] == ["--out", "runs/one"]
    assert "--no-suppress" in words
    assert "--same-ids" in words
    assert [words[i + 1] for i, word in enumerate(words) if word == "--ranges"] == ["age=5", "zip=2"]
    assert "--delimiter=-" in words
    assert not any("studio" in word or word == "0" for word in words)


def test_the_shown_command_makes_the_release_and_its_neighbours_answer(project: Project) -> None:
    project.runs.mkdir()
    made, checked, answer, explored, found = cli_helpers.together(
        [
            commands.anonymize(project, "runs/one"),
            ["verify", "runs/one", "--model", "km-anonymity", "--k", "3", "--m", "2", "--json"],
            commands.query("runs/one", ["tea, milk"]),
            commands.explore(project, [2, 3], ["1", "2"]),
            commands.risk(project, [1, 2]),
        ],
        project.folder,
    )
    assert made.code == 0, made
    record = json.loads((project.runs / "one" / "internal" / "report.json").read_bytes())
    assert commands.verify("runs/one", record) == [
        "verify", "runs/one", "--model", "km-anonymity", "--k", "3", "--m", "2", "--json",
    ]  # fmt: skip
    assert json.loads(checked.out)["holds"] is True
    assert json.loads(answer.out)
    assert json.loads(explored.out)["cells"]
    assert json.loads(found.out)["risk"]


def test_names_of_runs_are_new(tmp_path: Path) -> None:
    assert commands.run_name(tmp_path, "2026-01-31") == "2026-01-31"
    (tmp_path / "2026-01-31").mkdir()
    assert commands.run_name(tmp_path, "2026-01-31") == "2026-01-31-2"
