"""A project whose releases are those of a series: from its beginning to what leaves it, and refusals."""

from __future__ import annotations

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import setveil
from setveil.studio import commands
from setveil.studio.jobs import Job, Jobs
from setveil.studio.pages import series as page
from setveil.studio.projects import Project
from studio_client import AtOnce, Client
from studio_ward import FIRST, SECOND, give

BEGIN = {"k": "2", "m": "1", "kind": "periods"}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "projects", AtOnce())


def begun(client: Client, **how: str) -> Project:
    answer = client.post("new", data={"title": "Ward", "series": "yes"})
    assert answer.headers["location"] == client.at("p", "ward", "series")
    project = client.studio.projects.find("ward")
    assert "Begin the series" in client.get("p", "ward", "series").text
    assert client.post("p", "ward", "series", "begin", data={**BEGIN, **how}).status_code == 303
    return project


def posted(client: Client, what: str, **data: str) -> str:
    answer = client.post("p", "ward", "series", what, data=data)
    assert answer.status_code in (200, 303, 400), answer.text
    return client.get("p", "ward", "series").text if answer.status_code == 303 else answer.text


def test_a_series_from_its_beginning_to_what_leaves_it(client: Client) -> None:
    project = begun(client)
    text = client.get("p", "ward", "series").text
    assert "There is none yet." in text
    assert "First choose its rows" in text
    assert [step["name"] for step in _steps(project)] == ["data", "hierarchy", "series", "release"]
    give(project, FIRST)
    text = posted(client, "add", name="q1", counts="yes")
    assert 'release?run=q1">q1</a>' in text
    give(project, SECOND, "second.csv")
    text = posted(client, "plan")
    assert "6 people, 4 of them in earlier releases." in text
    assert "Appending this period as it is loses 0.429" in text
    assert text.count('class="lost"') == 4
    assert "0.4286" in text
    assert "price the ways again" not in text
    text = posted(
        client, "add", name="q2", counts="yes", ways="yes", external="yes", **{"hold-back": "found"}
    )
    assert "hold back: found" in text
    assert "price the ways again" in text  # another release is there since
    report = json.loads((project.runs / "q2" / "internal" / "report.json").read_text())
    assert report["series"]["way"] == "found"
    assert len(report["series"]["ways"]) == 4
    assert (project.runs / "q2" / "published" / "report.html").is_file()
    text = posted(client, "verify")
    assert (
        "Yes: (k, m)-series (k = 2, m = 1, histories, presence implied) holds for 2 releases: q1, q2." in text
    )
    assert "series of 2 releases" not in client.get("").text
    release = client.get("p", "ward", "release", params={"run": "q2"}).text
    assert "The promise holds." in release
    assert "Delete this release" not in release
    text = posted(client, "forget", id=" ann ")
    assert "Forgotten: this person" in text
    assert "1 person forgotten" in text
    assert not re.search(r"\bann\b", text)
    text = posted(client, "drop", name="q2")
    assert "Shared releases stay in the series" in text
    text = posted(client, "drop", name="q2", **{"not-shared": "yes"})
    assert "q2 is no longer in the series." in text
    assert "<code>runs/q2</code> belongs to no release of the series" in text
    assert "runs/q2" not in posted(client, "clear", run="q2", sure="yes")
    assert not (project.runs / "q2").exists()
    posted(client, "clear", run="q1", sure="yes")  # which is in the series
    assert (project.runs / "q1").exists()


def _steps(project: Project) -> list[dict[str, Any]]:
    from setveil.studio.render import steps

    return steps(project)


def test_no_id_reaches_what_is_published_an_address_or_a_log(client: Client) -> None:
    project = begun(client)
    rows = {f"patient-{name}": codes for name, codes in FIRST.items()}
    give(project, rows)
    posted(client, "add", name="q1", counts="yes", external="yes")
    answer = client.post("p", "ward", "series", "forget", data={"id": "patient-ann"})
    assert "Forgotten" in answer.text
    assert "location" not in answer.headers
    assert "patient-" not in answer.text
    codes = (project.folder / "series" / "q1~1" / "rows.csv").read_text().split()[1:]
    secrets = [
        "patient-",
        (project.folder / "series.key").read_text().strip(),
        *({one.split(",")[0] for one in codes} - {'""'}),  # a forgotten person does not have a code
    ]
    for path in [*(project.runs / "q1" / "published").rglob("*"), project.log]:
        content = path.read_text() if path.is_file() else ""
        assert not any(secret in content for secret in secrets), path
    jobs = client.studio.jobs
    assert isinstance(jobs, AtOnce)
    assert not any("patient-" in word for argv in jobs.ran for word in argv)


@pytest.mark.parametrize(
    ("settings", "rows", "message"),
    [
        ({"id-column": None, "item-column": None, "format": "basket"}, None, "The rows have no ids"),
        ({}, {"ANN": "a", "BOB": "b", "CID": "b"}, "most would be if their ids were written as before"),
        ({}, {"ann": "az"}, "not in the hierarchy"),
    ],
)
def test_the_command_s_own_sentences_are_shown(
    client: Client, settings: dict[str, Any], rows: dict[str, str] | None, message: str
) -> None:
    project = begun(client)
    give(project, FIRST)
    posted(client, "add", name="q1")
    give(project, rows or SECOND, "second.csv", **settings)
    before = sorted(project.folder.rglob("*"))
    for what, data in (("plan", {}), ("add", {"name": "q2"})):
        text = posted(client, what, **data)
        assert message in text
        job = client.studio.jobs.of(project)[-1]
        assert job.error is not None
        assert job.error["message"].split(":")[0] in _plain(text)
    assert sorted(project.folder.rglob("*")) == before


def _plain(text: str) -> str:
    return text.replace("&#39;", "'").replace("&amp;", "&")


def test_what_was_published_and_the_key_must_be_where_and_as_they_were(client: Client) -> None:
    project = begun(client)
    give(project, FIRST)
    posted(client, "add", name="q1")
    (project.runs / "q1").rename(project.runs / "moved")
    text = posted(client, "verify")
    assert "The folder of release q1 is not at" in text
    (project.runs / "moved").rename(project.runs / "q1")
    (project.runs / "q1" / "published" / "more.txt").write_text("x")
    assert "was changed since it was added" in posted(client, "verify")
    assert "was changed since it was added" in posted(client, "plan")
    (project.runs / "q1" / "published" / "more.txt").unlink()
    key = project.folder / "series.key"
    key.rename(project.folder / "input" / "key")
    assert "The key of the series is not there" in client.get("p", "ward", "series").text
    assert "The key of the series is not there" in posted(client, "forget", id="ann")
    key.write_text("00" * 32)
    assert "is the key of another series" in client.get("p", "ward", "series").text
    (project.folder / "series" / "series.json").write_text("{")
    assert "is not what setveil wrote" in client.get("p", "ward", "series").text


def test_a_ledger_that_names_what_lies_elsewhere_is_refused(client: Client, tmp_path: Path) -> None:
    project = begun(client)
    give(project, FIRST)
    posted(client, "add", name="q1")
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "rows.csv").write_text("mine")
    file = project.folder / "series" / "series.json"
    text = file.read_text()
    for change in ({"kept": "../../../mine"}, {"name": "../../../mine"}, {"kept": "q1~1/../../mine"}):
        content = json.loads(text)
        content["releases"][0] |= change
        file.write_text(json.dumps(content))
        assert "is not what setveil wrote" in client.get("p", "ward", "series").text
        posted(client, "forget", id="ann")
        posted(client, "drop", name=content["releases"][0]["name"], **{"not-shared": "yes"})
        assert (mine / "rows.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("what", "sent", "message"),
    [
        ("add", {"name": ""}, "A release cannot be called"),
        ("add", {"name": "../q2"}, "A release cannot be called"),
        ("add", {"name": "q1"}, "has a release q1 already"),
        ("add", {"name": "q2", "published": "runs"}, "not the whole path"),
        ("forget", {"id": "nobody"}, "Nobody in the series has this id."),
        ("drop", {"name": "q7", "not-shared": "yes"}, "has no release"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_started(
    client: Client, what: str, sent: dict[str, str], message: str
) -> None:
    project = begun(client)
    give(project, FIRST)
    posted(client, "add", name="q1")
    jobs = len(client.studio.jobs.of(project))
    answer = client.post("p", "ward", "series", what, data=sent)
    assert (answer.status_code, message in answer.text) == (400, True), answer.text
    assert len(client.studio.jobs.of(project)) == jobs


def test_one_thing_at_a_time(client: Client) -> None:
    project = begun(client)
    give(project, FIRST)
    lane = client.studio.jobs._lane(project)
    lane.jobs.append(
        Job(99, page.ADD, ["series"], "release q1", project.runs / "q1", state="running", begun=0.0)
    )
    for what in ("plan", "add"):
        answer = client.post("p", "ward", "series", what, data={"name": "q2"})
        assert (answer.status_code, "changed by one thing at a time" in answer.text) == (400, True)
    assert len(lane.jobs) == 1
    text = client.get("p", "ward", "series").text
    assert "Cancel, write nothing" in text
    assert "Add the release" not in text


@pytest.mark.parametrize("sent", [{"k": "1"}, {"k": "x"}, {"m": "0"}, {"kind": "none"}, {"known": "all"}])
def test_a_promise_that_is_none_begins_nothing(client: Client, sent: dict[str, str]) -> None:
    client.post("new", data={"title": "Ward", "series": "yes"})
    answer = client.post("p", "ward", "series", "begin", data={**BEGIN, **sent})
    assert (answer.status_code, "There is a problem" in answer.text) == (400, True)
    assert not (client.studio.projects.root / "ward" / "series").exists()
    assert not (client.studio.projects.root / "ward" / "series.key").exists()


def test_tables_and_pages_of_one_release_are_no_part_of_it(client: Client) -> None:
    project = begun(client)
    give(project, FIRST, qi="age")
    assert "not tables" in client.get("p", "ward", "series").text
    assert "not tables" in posted(client, "add", name="q1")
    for way in ("promise", "run", "compare"):
        assert client.get("p", "ward", way).headers["location"] == client.at("p", "ward", "series")
    for way in ("run/start", "promise", "compare/recommend", "release/delete"):
        assert client.post("p", "ward", way).headers["location"] == client.at("p", "ward", "series")
    assert client.studio.jobs.of(project) == []


def test_a_project_of_single_releases_is_no_series(client: Client) -> None:
    project = client.studio.projects.create("Shop")
    for answer in (
        client.get("p", "shop", "series"),
        client.post("p", "shop", "series", "begin", data=BEGIN),
    ):
        assert answer.headers["location"] == client.at("p", "shop", "data")
    assert not (project.folder / "series").exists()


@pytest.mark.parametrize(
    "content", ["{", "[]", "{}", '{"plan": {"ways": [{"way": "x", "lm": "y"}]}}', "9" * 5000]
)
def test_broken_prices_break_no_page(client: Client, content: str) -> None:
    project = begun(client)
    give(project, FIRST)
    project.fronts.mkdir()
    (project.fronts / "series.json").write_text(content)
    answer = client.get("p", "ward", "series")
    assert (answer.status_code, 'id="plan"' in answer.text) == (200, False)


def test_a_register_takes_what_came_since(client: Client) -> None:
    project = begun(client, kind="register")
    give(project, FIRST)
    posted(client, "add", name="q1", counts="yes")
    give(project, SECOND, "second.csv")
    text = posted(client, "add", name="q2")
    assert "1 person of q1 is missing." in text
    text = posted(client, "add", name="q2", merge="yes")
    assert 'release?run=q2">q2</a>' in text
    text = posted(client, "verify")
    assert "only against people who do not know what stays" in text, text


def test_a_release_that_is_out_comes_in(client: Client) -> None:
    project = begun(client)
    give(project, FIRST)
    run = project.folder / "runs" / "loose"
    done = setveil(
        "anonymize", project.settings()["input"], "--id-column", "patient", "--item-column", "code",
        "-H", project.hierarchy, "-k", "2", "-m", "1", "--out", run, cwd=project.folder,
    )  # fmt: skip
    done.ok()
    text = posted(client, "add", name="q1", published=str(run))
    assert "published" in text
    assert "There is no release q1" not in text
    assert posted(client, "verify").count("Yes: (k, m)-series") == 1


def test_work_that_was_done_when_it_was_cancelled_is_done(tmp_path: Path) -> None:
    """The folder of a release that the ledger has stays, whatever became of the process."""
    project = Client(tmp_path / "projects").studio.projects.create("Ward")
    jobs = Jobs(("sh", "-c", "exit 7", "setveil"))

    async def run(settled: bool) -> Job:
        out = project.runs / ("in" if settled else "not")
        out.mkdir(parents=True)
        job = jobs.start(project, page.ADD, [], out=out, settled=lambda: settled)
        job.cancelling = True
        return await jobs.wait(job)

    with ThreadPoolExecutor(1) as thread:
        for settled, state in ((True, "done"), (False, "cancelled")):
            assert thread.submit(asyncio.run, run(settled)).result().state == state
    assert sorted(path.name for path in project.runs.iterdir()) == ["in"]


def test_the_commands_are_those_of_the_command_line(client: Client) -> None:
    project = begun(client)
    give(project, FIRST)
    text = client.get("p", "ward", "series").text
    assert "setveil series plan series" in text
    assert "--id-column patient --item-column code" in text
    file = project.settings()["input"]
    assert commands.series_add(project, "t.csv", "q1", "runs/q1", ["--ways"]) == [
        "series", "add", "series", file, "--format", "long", "--id-column", "patient", "--item-column",
        "code",
        "--hierarchy", "t.csv", "--name", "q1", "--out", "runs/q1", "--ways",
    ]  # fmt: skip
