"""Every page, and every question that the release's page asks, with a release of each promise and kind.

Without a browser: `test_studio_kinds` and `test_studio_release` check the visible pages.
"""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from cli_helpers import setveil, write
from setveil.releases.published.block_files import PublishedBlocks
from setveil.studio.desk.before_after import before_after
from setveil.studio.desk.place import Desk
from studio_client import AtOnce, Client

pytestmark = pytest.mark.exhaustive

CODES = ["a1", "a2", "b1", "b2", "c1", "c2"]
KM = {"k": 3, "m": "2"}
ROWS = {"input": "rows.csv", "format": "basket", "hierarchy": "tree.csv"}
SECRET = {"sensitive": "secret.csv"}
PRIVATE = {"h": "60%", "k": 3, "p": "1", "private": "secret.csv"}
TABLE = {"input": "ward.csv", "qi": "age,zip", "set": "codes", "hierarchy": "tree.csv", **KM}
LOG = {"input": "log.csv", "id-column": "id", "when": ["on:quarter"]}
CASES: dict[str, dict[str, Any]] = {
    "plain": ROWS | KM,
    "watched": ROWS | KM | SECRET,
    "absent": ROWS | KM | {"absent": 1},
    "local": ROWS | {"model": "k-anonymity", "k": 3},
    "rho": ROWS | KM | SECRET | {"rho": "1/2"},
    "uncertain": ROWS | SECRET | {"rho": "1/2"},
    "coherent": ROWS | PRIVATE | {"algorithm": "exact"},
    "moles": ROWS | PRIVATE | {"algorithm": "mm"},
    "groups": ROWS | SECRET | {"model": "privacy-degree", "p": 2, "hierarchy": None},
    "merged": ROWS | {"k": 3, "privacy": "pairs.csv", "algorithm": "pcta"},
    "chunks": ROWS | KM | SECRET | {"algorithm": "disassociation", "rho": "1/2", "hierarchy": None},
    "noise": ROWS | {"model": "differential-privacy", "epsilon": "1"},
    "classes": ROWS | KM | {"classes": True, "class-size": 20},
    "table": TABLE | {"model": "kkm"},
    "global": TABLE | {"model": "mixed-km"},
    "shares": TABLE | SECRET | {"model": "kkm", "h": "80%"},
    "facts": LOG | KM | {"set": "code", "hierarchy": "tree.csv"},
    "whole": LOG | KM | {"set": "code", "hierarchy": "tree.csv", "known": "codes"},
    "columns": LOG | {"set": ["code:m=2", "drug:m=1"], "hierarchy": ["code=tree.csv"], "k": 3},
}
QUESTIONS = {
    "why": {"name": "a1"}, "query": {"items": "a1, b1"}, "verify": {}, "stranger": {"fraction": "5%"},
    "absent": {}, "checker": {},
}  # fmt: skip

FOLDS = {"why": "left", "query": "left", "stranger": "research", "absent": "research"}  # of the answer
FIVE = re.compile('<table class="five">.*?<tbody>(.*?)</tbody>', re.DOTALL)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write rows, a table and a log of eighty people."""
    folder, rng = tmp_path_factory.mktemp("questions"), Random(3)
    rows = [sorted(rng.sample(CODES, rng.choice([1, 1, 2, 2, 3]))) for _ in range(80)]
    write(folder / "rows.csv", "".join(",".join(row) + "\n" for row in rows))
    write(folder / "tree.csv", "".join(f"{code};{code[0]};*\n" for code in CODES))
    write(folder / "secret.csv", "c1\n")
    write(folder / "pairs.csv", "a1,b1\n")
    lines = [f"{rng.randint(20, 59)},{rng.choice('xyz')},{';'.join(row)}" for row in rows]
    write(folder / "ward.csv", "\n".join(["age,zip,codes", *lines]) + "\n")
    lines = [
        f"p{at},{code},2024-{rng.randint(1, 9):02}-11,{rng.choice(['', 'd1', 'd2'])}"
        for at, row in enumerate(rows)
        for code in row
    ]
    write(folder / "log.csv", "\n".join(["id,code,on,drug", *lines]) + "\n")
    return folder


def settings(case: dict[str, Any], place: Path) -> dict[str, Any]:
    def at(value: Any) -> Any:
        if isinstance(value, list):
            return [at(one) for one in value]
        name, sign, file = value.rpartition("=") if isinstance(value, str) else ("", "", "")
        return f"{name}{sign}{place / file}" if file.endswith(".csv") else value

    return {name: at(value) for name, value in case.items() if value is not None}


@pytest.mark.parametrize("name", CASES)
def test_every_question_of_every_kind_of_release(place: Path, tmp_path: Path, name: str) -> None:
    client = Client(tmp_path / "projects", AtOnce())
    project = client.studio.projects.create(name)
    project.save(**settings(CASES[name], place))
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    for page in ("data", "hierarchy", "promise", "run", "compare", "release", "release/report?run=one"):
        assert client.get("p", name, page).status_code == 200, page
    assert client.get("p", name, "release", "evidence?run=one").status_code == 200
    for question, form in QUESTIONS.items():
        result = client.post("p", name, "release", question, data={"run": "one", **form})
        assert result.status_code == 303, (question, result.text)
        shown = client.raw("GET", result.headers["location"], client.headers())
        assert shown.status_code == 200, (question, shown.text)
        assert re.findall('class="fold" id="fold-([a-z]+)" open', shown.text) == [
            FOLDS.get(question, "share")
        ]
        assert len(re.findall("<tr>", FIVE.findall(shown.text)[0])) == 5, question
        job = client.studio.jobs.latest(project, question)
        assert job is not None
        if question == "verify":
            assert job.error is None, job
            assert job.exit_code == 0, job
        elif job.error is not None:  # refused for a reason, which the page shows
            assert job.exit_code == 2 or question in {"why", "query"}, job


@pytest.mark.parametrize("name", ["plain", "classes", "table", "facts"])
def test_a_release_is_shown_when_its_data_are_gone(place: Path, tmp_path: Path, name: str) -> None:
    client = Client(tmp_path / "projects", AtOnce())
    project = client.studio.projects.create(name)
    data = tmp_path / CASES[name]["input"]
    data.write_bytes((place / data.name).read_bytes())
    project.save(**settings(CASES[name], place) | {"input": str(data)})
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    data.unlink()
    shown = client.get("p", name, "release")
    assert shown.status_code == 200, shown.text
    assert str(data) in shown.text


def test_rows_drawn_from_noise_are_nobodys_however_many(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(tmp_path / "projects", AtOnce())
    project = client.studio.projects.create("noise")
    project.save(**settings(CASES["noise"], place))
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    monkeypatch.setattr(PublishedBlocks, "n_rows", property(lambda _: 80))  # as many as were given
    figures = before_after(Desk(project.folder), "one")
    assert {row["instead"].partition(":")[0] for row in figures["rows"]} == {"no row"}
    assert [row["after"] for row in figures["rows"]] == [None] * 10
