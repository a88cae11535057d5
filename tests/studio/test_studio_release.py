"""The page Release: its figures are the report's, and it says why."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import cli_helpers
import studio_shop
from setveil.report.words import measure, percent
from setveil.studio.projects import Project
from studio_browser import Screen, Server, framed, looks, see_release

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


def make(screen: Screen, project: Project) -> Page:
    """Make the project's release by its pages, and return the page Release."""
    page = screen.enter()
    page.goto(screen.at("p", project.name, "run"))
    page.get_by_role("button", name="Make the release").click()
    see_release(page)
    return page


def the_run(project: Project) -> tuple[Path, dict[str, Any]]:
    (run,) = project.runs.iterdir()
    return run, json.loads((run / "internal" / "report.json").read_text())


def test_the_figures_are_those_of_the_report(screen: Screen, studio_server: Server) -> None:
    project = studio_server.project("Figures", k=5, m="2")
    file = studio_shop.fill(project, longest=7)
    with file.open("a") as rows, project.hierarchy.open("a") as groups:
        rows.write("tea,truffle\nlobster,milk\n")
        groups.write("truffle;luxury;all things\nlobster;luxury;all things\n")
    page = make(screen, project)
    run, report = the_run(project)
    utility, whole = report["utility"], report["input"]["occurrences"]
    pairs = page.locator("main > .tiles div").all()
    tiles = {pair.locator("dt").inner_text(): pair.locator("dd").inner_text() for pair in pairs}
    assert tiles == {
        "loss, from 0 (nothing) to 1 (everything)": measure(utility["lm"]),
        "items are unchanged": f"{utility['unchanged_items']} of {report['input']['items']}",
        "of all items in rows are unchanged": percent(utility["unchanged_occurrences"], whole),
        "of all items in rows have a broader label": percent(utility["generalized_occurrences"], whole),
        "of all items in rows are suppressed": percent(utility["suppressed_occurrences"], whole),
        "counts of random item pairs are typically off by that much": percent(
            report["answers"]["are"]["median"]
        ),
    }
    assert utility["suppressed_occurrences"] > 0
    assert utility["generalized_occurrences"] > 0

    alone = {
        when: {
            f"{one['m']} item{'s' if one['m'] > 1 else ''}": f"{one['rows_below']['2']:,}"
            for one in report["risk"][when]["risk"]
            if one["choice"] == "best"
        }
        for when in ("before", "after")
    }
    section = page.locator("section", has=page.locator("#exposed"))
    lines = [line.locator("th, td").all_inner_texts() for line in section.locator("tbody tr").all()]
    assert lines == [
        [by, before, alone["after"][by], "yes" if int(by[0]) <= 2 else "no"]
        for by, before in alone["before"].items()
    ]

    recoding = dict(cli_helpers.table(run / "internal" / "recoding.csv")[1:])
    members: dict[str, list[str]] = {}
    for item, label in recoding.items():
        members.setdefault(label, []).append(item)
    broader = sorted(label for label, items in members.items() if label and items != [label])
    assert page.locator(".names b").all_inner_texts() == broader
    suppressed = sorted(item for item, label in recoding.items() if not label)
    page.get_by_role("link", name=f"Suppressed ({len(suppressed)})").click()
    page.wait_for_url("**show=out*")
    assert page.locator(".names b").all_inner_texts() == suppressed

    published = cli_helpers.rows_of(run / "published" / "data.csv")
    places = [int(place) for _, place in cli_helpers.table(run / "internal" / "rows.csv")[1:]]
    original = cli_helpers.table(file)
    shown = [line.locator("td").all_inner_texts() for line in page.locator(".rows-table tbody tr").all()]
    assert len(shown) == 10
    for i, (before, after) in enumerate(shown):
        assert before.split(", ") == sorted(original[i])
        assert frozenset(after.split(", ")) == (published[places[i]] or frozenset(["nothing"]))


def test_questions_about_a_release(screen: Screen, studio_server: Server) -> None:
    from playwright.sync_api import expect

    project = studio_server.project("Questions", k=5, m="2", external=True)
    studio_shop.fill(project, longest=7)
    page = make(screen, project)
    run, _ = the_run(project)
    expect(page.locator(".good").first).to_contain_text("The promise holds.")
    page.get_by_role("button", name="Check it again").click()
    expect(page.locator("#verify")).to_contain_text("from the published files alone: it holds.")
    page.get_by_role("button", name="Keep for comparing").click()
    expect(page.get_by_role("button", name="Do not keep for comparing")).to_be_visible()
    assert project.studio["kept"] == [run.name]

    page.get_by_label("How many rows have").fill("tea, milk")
    page.get_by_role("button", name="Count", exact=True).click()
    rows = sum(1 for row in studio_shop.rows(longest=7) if {"tea", "milk"} <= set(row))
    answer = page.get_by_text(re.compile("^tea, milk: .* rows"))
    expect(answer).to_have_text(f"tea, milk: exactly {rows} rows.")
    page.get_by_label("How many rows have").fill("nonsense")
    page.get_by_role("button", name="Count", exact=True).click()
    expect(page.locator("main")).to_contain_text("'nonsense' is neither an item nor a label of the release.")

    page.get_by_text("Show the report (internal)").click()
    expect(framed(page, "Full report").get_by_text("The guarantee holds").first).to_be_visible()

    page.locator(".names").get_by_role("button", name="Why?").click()
    expect(page.locator("#why")).to_contain_text("household represents 5 items")
    expect(page.locator("#why")).to_contain_text("Keep this internal")
    page.locator("#cut summary", has_text="dairy").click()
    expect(page.locator("#cut li", has_text="butter (as it is)").last).to_be_visible()
    looks(page, "release")

    page.get_by_role("button", name="Suppress").click()
    page.wait_for_url("**/run")
    assert "candles,0" in Path(project.settings()["weights"]).read_text().splitlines()
    page.get_by_role("button", name="Make the release").click()
    see_release(page)
    expect(page.locator("main")).to_contain_text("share one of them only")
    expect(page.get_by_role("link", name="Suppressed (0)")).to_be_hidden()

    page.get_by_text("Delete this release").click()
    page.get_by_label("for good").check()
    page.get_by_role("button", name="Delete", exact=True).click()
    expect(page.locator("main")).not_to_contain_text("share one of them only")
    assert [path.name for path in project.runs.iterdir()] == [run.name]

    loaded = Path(f"/proc/{studio_server.process.pid}/maps")
    if loaded.exists():  # the server uses little memory for any request
        assert not re.findall(r"/(?:numpy|numba|polars|highspy)/", loaded.read_text())
