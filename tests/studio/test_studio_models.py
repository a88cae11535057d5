"""Every kind of promise is made, and its release shown, by the pages; no browser is needed for that."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from typing import Any

import httpx
import pytest

import cli_helpers
import studio_forks
import studio_shop
from setveil.studio.jobs import COMMAND, Jobs
from setveil.studio.projects import Project
from studio_client import Client


def walk(client: Client, project: Project, form: dict[str, str], items: str = "") -> list[httpx.Response]:
    """Choose a promise, run it, and return the page Run if it failed, else Release and its questions."""

    async def go() -> list[httpx.Response]:
        studio = client.studio
        transport = httpx.ASGITransport(client.app, raise_app_exceptions=False)
        async with httpx.AsyncClient(transport=transport, base_url=client.keys.origin) as browser:

            async def get(*parts: str) -> httpx.Response:
                return await browser.get(client.at("p", project.name, *parts), headers=client.headers())

            async def post(*parts: str, **data: str) -> httpx.Response:
                where = client.at("p", project.name, *parts)
                return await browser.post(where, headers=client.headers(post=True), data=data)

            answers = [await post("promise", **form)]
            if answers[0].status_code == 303:
                answers.append(await post("run", "start"))
                job = studio.jobs.latest(project, "anonymize")
                assert job is not None
                await studio.jobs.wait(job)
                answers.append(await get("run"))
                if job.state == "done":
                    assert job.out is not None
                    answers.append(await get("release"))
                    what = {"items": items} if items else {}
                    kind = "query" if items else "verify"
                    answers.append(await post("release", kind, run=job.out.name, **what))
                    for one in studio.jobs.of(project):
                        await studio.jobs.wait(one)
                    where = answers[-1].headers["location"]
                    answers.append(await browser.get(where, headers=client.headers()))
        await studio.jobs.close()
        return answers

    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, go()).result()


@pytest.fixture
def client(tmp_path: Path) -> Client:
    client = Client(tmp_path / "setveil")
    client.studio.jobs = Jobs((studio_forks.python(), *COMMAND[1:]))
    return client


@pytest.fixture
def project(client: Client) -> Project:
    found = client.studio.projects.create("Shop")
    studio_shop.fill(found)
    return found


@pytest.mark.parametrize(
    ("form", "said"),
    [
        ({"model": "k-anonymity", "k": "3"}, "at least 3"),
        ({"model": "coherence", "k": "3", "h": "40%", "p": "1", "private": "soap"}, "public item"),
        ({"model": "constraints", "k": "3", "privacy": "all", "m": "2"}, "at least 3"),
        ({"model": "privacy-degree", "p": "3", "sensitive": "sponges"}, "sponges"),
        ({"model": "km-anonymity", "k": "3", "m": "2", "rho": "30%"}, "30%"),
        ({"model": "disassociated", "k": "3", "m": "2", "rho": "30%"}, "30%"),
    ],
    ids=lambda value: value["model"] if isinstance(value, dict) else "",
)
def test_each_promise(client: Client, project: Project, form: dict[str, str], said: str) -> None:
    project.save(studio={"sensitive": ["sponges"]})
    *_, run, release, answer, checked = walk(client, project, form)
    assert run.status_code == 200
    assert release.status_code == 200
    assert "The promise holds." in release.text
    assert "(internal); the published file" in release.text
    assert answer.status_code == 303
    assert "from the published files alone: it holds." in checked.text, checked.text


@pytest.mark.parametrize("unsafe", [False, True])
def test_rows_in_chunks_where_items_are_sensitive(client: Client, project: Project, unsafe: bool) -> None:
    """Check that the default is safe with rho = 1/5, and unlimited only if that box is ticked."""
    project.save(studio={"sensitive": ["sponges"]})
    form = {"model": "disassociated", "k": "3", "m": "2", **({"unsafe": "yes"} if unsafe else {})}
    *_, run, release, _, _ = walk(client, project, form)
    assert project.settings().get("unsafe") is (True if unsafe else None)
    assert "The promise holds." in release.text
    file = next(project.runs.glob("*/internal/report.json"))
    record = json.loads(file.read_text(encoding="utf-8"))["guarantee"]
    assert (record.get("rho"), record["sensitive"]) == (None if unsafe else 0.2, ["sponges"])
    assert ("--unsafe" in run.text) == unsafe


def test_the_form_of_rows_in_chunks(client: Client, project: Project) -> None:
    page = client.get("p", project.name, "promise", params={"model": "disassociated"}).text
    assert "(default 1/5)" in page
    assert '<input type="checkbox" id="unsafe" name="unsafe" value="yes">' in page
    assert "Publish in spite of sensitive items" in page
    project.save(model="disassociated", k=3, m="2", unsafe=True)
    page = client.get("p", project.name, "promise").text
    assert '<input type="checkbox" id="unsafe" name="unsafe" value="yes" checked>' in page


def test_a_table(client: Client, tmp_path: Path) -> None:
    numbers = Random(1)
    lines = [
        f"{numbers.randint(20, 80)},{numbers.choice('fm')},{';'.join(row)}\n" for row in studio_shop.rows()
    ]
    file = cli_helpers.write(tmp_path / "ward.csv", "age,sex,items\n" + "".join(lines))
    project = client.studio.projects.create("Ward")
    project.save(input=str(file), qi="age,sex", set="items", model="kkm")
    *_, release, _, checked = walk(client, project, {"model": "kkm", "k": "5", "m": "2"})
    assert "The promise holds." in release.text
    assert "loss of columns and items together" in release.text
    age, sex, _ = lines[0].split(",")
    assert f'<th scope="row">before</th><td>{age}</td><td>{sex}</td>' in release.text
    assert "from the published files alone: it holds." in checked.text


@pytest.mark.parametrize(
    ("form", "field", "said"),
    [
        ({"k": "1", "m": "2"}, "k", "must be an integer of at least 2, got &#39;1&#39;"),
        ({"k": "", "m": "2"}, "k", "The number of rows (k) is missing."),
        ({"k": "5", "m": "<b>"}, "m", "such as &#34;code=2,drug=1&#34;, got &#39;&lt;b&gt;&#39;"),
        ({"k": "5", "m": "2", "rho": "20%"}, "rho", "No items are sensitive yet."),
        ({"k": "5", "m": "2", "left_out": "share", "share": "much"}, "share", "must be a share, 0 to 1, got"),
        ({"model": "coherence", "k": "3", "h": "40%"}, "p", "The value p is missing."),
    ],
)
def test_what_is_typed_wrongly(
    client: Client, project: Project, form: dict[str, str], field: str, said: str
) -> None:
    before: dict[str, Any] = project.settings()
    (refused,) = walk(client, project, form)
    assert refused.status_code == 400
    assert said in refused.text
    assert f'<a href="#{field}">' in refused.text
    assert project.settings() == before


def test_integers_are_sensitive_items_as_words_are(client: Client, tmp_path: Path) -> None:
    rows = cli_helpers.sample_rows()
    file = cli_helpers.write(tmp_path / "rows.dat", cli_helpers.dump(rows, "fimi"))
    project = client.studio.projects.create("Numbers")
    project.save(input=str(file), format="fimi")
    *_, answer = walk(client, project, {"k": "2", "m": "1"}, "101, 102")
    number = sum(1 for row in rows if {"101", "102"} <= row)
    assert f"<b>101, 102</b>: exactly {number} rows" in answer.text


def test_a_promise_that_cannot_be_kept_names_the_nearest(client: Client, project: Project) -> None:
    *_, run = walk(client, project, {"k": "5000", "m": "2"})
    assert "There is no release." in run.text
    assert "Use k = 336" in run.text
    assert list(project.runs.iterdir()) == []
