"""The page Compare, in a browser: releases side by side, their differences, studies, recommendations."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import time
from pathlib import Path

import pytest

from cli_helpers import children, setveil
from setveil.report import words
from setveil.studio.projects import Project
from studio_browser import Screen, Server, expect, framed, looks

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

ROWS = "\n".join(
    ["milk,bread,cheese"] * 6
    + ["milk,rolls"] * 5
    + ["butter,bread"] * 4
    + ["soap,brush", "soap,milk", "soap,bread", "brush,milk"] * 2
)
GROUPS = (
    "milk;dairy;*\ncheese;dairy;*\nbutter;dairy;*\nbread;bakery;*\nrolls;bakery;*\n"
    "soap;house;*\nbrush;house;*\n"
)


def made(server: Server, folder: Path, title: str) -> Project:
    (folder / "rows.csv").write_text(ROWS + "\n")
    (folder / "groups.csv").write_text(GROUPS)
    paths = {"input": str(folder / "rows.csv"), "hierarchy": str(folder / "groups.csv")}
    return server.project(title, format="basket", k=3, m="2", **paths)


def run(project: Project, name: str, *options: str) -> None:
    setveil("anonymize", "--config", project.toml, "--out", project.runs / name, *options).ok()


def test_releases_stand_side_by_side_with_what_differs(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Side by side")
    run(project, "first")
    run(project, "second", "--algorithm", "aa", "--k", "6")
    run(project, "third", "--k", "2", "--m", "1")
    page = screen.enter()
    page.goto(screen.at("p", project.name, "compare"))
    table = page.get_by_role("region", name="Releases side by side")
    for letter, name in zip("ABC", ("first", "second", "third"), strict=True):
        expect(table.get_by_role("columnheader", name=f"{letter}. {name}")).to_be_visible()
    reports = [
        json.loads((project.runs / name / "internal" / "report.json").read_text())
        for name in ("first", "second", "third")
    ]
    for head, values in (
        ("Promise", [report["guarantee"]["phrase"] for report in reports]),
        ("Loss (LM)", [words.measure(report["utility"]["lm"]) for report in reports]),
        ("Labels published", [str(report["utility"]["published_labels"]) for report in reports]),
        ("Suppressed items", [str(report["utility"]["suppressed_items"]) for report in reports]),
    ):
        named = re.compile(rf"^{re.escape(head)}\s*(What is .*)?$")  # a term has an explanation next to it
        row = table.get_by_role("row").filter(has=page.get_by_role("rowheader", name=named))
        assert row.get_by_role("cell").all_inner_texts() == values
    expect(page.locator("svg circle")).to_have_count(3)

    page.get_by_label("One release").select_option("first")
    page.get_by_label("The other", exact=True).select_option("third")
    page.get_by_role("button", name="Show", exact=True).click()
    recodings = [
        dict(csv.reader((project.runs / name / "internal" / "recoding.csv").read_text().splitlines()))
        for name in ("first", "third")
    ]
    same = sum(recodings[0][item] == recodings[1][item] for item in recodings[0]) - 1  # the header
    expect(page.locator("#difference")).to_contain_text(f"{same} item")
    expect(page.get_by_role("heading", name="third is more exact")).to_be_visible()

    page.get_by_role("button", name="Choose B").click()
    expect(table.get_by_role("columnheader", name="B. second")).to_contain_text("chosen")
    looks(page, "compare")
    page.get_by_role("button", name="Remove A").click()
    expect(table.get_by_role("columnheader", name="A. second")).to_be_visible()
    page.get_by_label("Add a release").select_option("first")
    page.get_by_role("button", name="Add it").click()
    expect(table.get_by_role("columnheader", name="C. first")).to_be_visible()
    assert project.studio["kept"] == ["second", "third", "first"]
    assert project.studio["chosen"] == "second"


def test_a_study_shows_its_results_and_its_report(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Study")
    page = screen.enter()
    page.goto(screen.at("p", project.name, "compare"))
    page.locator("#k").fill("three")
    page.get_by_role("button", name="Run the study").click()
    expect(page.locator("#errors")).to_contain_text("k must be whole numbers, 2 or more")
    expect(page.locator("#k")).to_have_value("three")
    page.locator("#k").fill("3, 6")
    page.locator("#m").fill("1")
    for method in ("exact", "mhghs"):
        page.locator(f"#method-{method}").uncheck()
    page.get_by_role("button", name="Run the study").click()
    expect(page.get_by_text("study-1: 2 of 2 runs")).to_be_visible()
    expect(page.get_by_text("Report of study-1")).to_be_visible()
    with (project.studies / "study-1" / "out" / "results.csv").open() as file:
        rows = list(csv.DictReader(file))
    table = page.get_by_role("region", name="Results of study-1")
    shown = [line.get_by_role("cell").all_inner_texts() for line in table.locator("tbody tr").all()]
    assert [cells[3] for cells in shown] == [words.measure(float(row["lm"])) for row in rows]
    page.get_by_text("Report of study-1").click()
    expect(framed(page, "Report of study-1").get_by_role("heading", level=1)).to_be_visible()


def test_what_is_recommended_is_shown_and_used(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Recommended")
    page = screen.enter()
    page.goto(screen.at("p", project.name, "compare"))
    page.get_by_role("button", name="Try all and compare").click()
    expect(page.locator("#recommended")).to_contain_text("loses least of what was tried")
    found = json.loads((project.studies / "recommended.json").read_text())
    assert found["best"]["name"] in page.locator("#recommended p").first.inner_text()
    page.locator("#recommended form button").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Run")
    assert project.settings()["algorithm"] == found["best"]["algorithm"]


def one_paused_among(server: Server, runs: Path) -> int:
    """Wait for a study's first runs and hold its process there: on a small file, the others take no time.

    Its worker, which has the next ones already, is not held.
    """
    until = time.monotonic() + 60
    while not any(runs.glob("[!.]*.json")):
        assert time.monotonic() < until
        time.sleep(0.001)
    (study,) = (
        pid for pid in children(server.process.pid) if "compare" in Path(f"/proc/{pid}/cmdline").read_text()
    )
    os.kill(study, signal.SIGSTOP)
    return study


def test_a_study_that_was_stopped_goes_on_with_what_is_left(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Stopped")
    page = screen.enter()
    page.goto(screen.at("p", project.name, "compare"))
    page.locator("#k").fill(", ".join(map(str, range(2, 62))))
    for method in ("exact", "mhghs"):
        page.locator(f"#method-{method}").uncheck()
    page.get_by_role("button", name="Run the study").click()
    study = one_paused_among(screen.server, project.studies / "study-1/out/runs")
    expect(page.locator("[data-count]")).to_have_text(re.compile("^[1-9]"))  # as they come
    with page.expect_response(lambda answer: answer.request.method == "POST"):  # the request to stop
        page.get_by_role("button", name="Stop, keep what is done").click()
    os.kill(study, signal.SIGCONT)
    go_on = page.get_by_role("button", name="Continue study-1")
    expect(go_on).to_be_visible()
    kept = {
        path.name: path.read_bytes() for path in (project.studies / "study-1/out/runs").glob("[!.]*.json")
    }
    assert kept
    go_on.click()
    expect(page.get_by_text("Report of study-1")).to_be_visible()
    for name, content in kept.items():
        assert (project.studies / "study-1/out/runs" / name).read_bytes() == content
