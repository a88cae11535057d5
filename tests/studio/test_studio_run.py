"""The pages Promise and Run in a browser."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

import cli_helpers
import studio_shop
from setveil.studio.projects import Project
from studio_browser import Screen, Server, accessible, looks, serve, shot

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


@pytest.fixture
def project(studio_server: Server) -> Project:
    found = studio_server.project("Corner shop")
    studio_shop.fill(found)
    return found


@pytest.fixture(scope="module")
def long_work(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return settings of a project whose run takes minutes."""
    from setveil.rows.data.io.write import save
    from setveil.rows.data.layout import Layout
    from setveil.rows.data.sample import grocery_sample

    file = tmp_path_factory.mktemp("long") / "baskets.csv"
    save(grocery_sample(40_000, 0)[0], file, Layout("basket"))
    return {"input": str(file), "format": "basket", "k": "20", "m": "5"}


def test_sliders_move_over_what_promises_cost(screen: Screen, project: Project) -> None:
    from playwright.sync_api import expect

    page = screen.enter()
    page.goto(screen.at("p", project.name, "promise"))
    expect(page.locator("#computing")).to_be_hidden(timeout=240_000)
    parts = {path.name.partition(".")[2]: json.loads(path.read_text()) for path in project.fronts.iterdir()}
    assert sorted(parts) == ["few.json", "k5m2-20.json", "more.json"]
    page.get_by_label("Usual values of k").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("input#k")).to_have_value("10")
    expect(page.locator("#here")).to_contain_text("At k = 10 and m = 2")
    expect(page.locator("#sentence")).to_contain_text("up to 2 items")
    expect(page.locator("#sentence")).to_contain_text("at least 10 rows")
    expect(page.locator("#not-covered")).to_contain_text("find fewer than 10 rows")
    current = page.locator("#costs .current")
    expect(current).to_have_attribute("aria-current", "true")
    cell = next(cell for cell in parts["few.json"]["cells"] if (cell["k"], cell["m"]) == (10, 2))
    expect(current).to_have_text(f"{cell['loss']:.3g}")
    page.locator("input#m").fill("inf")
    expect(page.locator("#here")).to_contain_text("k = 10 and m = inf is not computed yet")
    expect(page.locator("#sentence")).to_contain_text("at least 10 rows")
    page.get_by_role("button", name="5 and 2: shared").click()
    expect(page.locator("#here")).to_contain_text("At k = 5 and m = 2")
    looks(page, "promise")


def explored(project: Project, part: str, cells: list[dict[str, object]], *, of_table: bool) -> None:
    """Write the losses of a part of the table, as `explore --json` prints them."""
    from setveil.studio import fronts

    size = {"rows": 40, "items": 6, "occurrences": 90}
    kind = (
        {"objective": "f", "share": "1/4", "algorithm": "rt"}
        if of_table
        else {"objective": "lm", "algorithm": "exact"}
    )
    found = {
        **kind, **size, **{name: sorted({int(str(one[name])) for one in cells}) for name in "km"},
        "command": None, "hierarchy": None, "inputs": [], "cells": cells, "stopped": False, "seconds": 1.0,
        "made_on": "here", "setveil": "0",
    }  # fmt: skip
    project.fronts.mkdir(exist_ok=True)
    fronts._base(project).with_suffix(f".{part}.json").write_text(json.dumps(found))


def cell(
    k: int, m: int, loss: float | None, made: tuple[int, int] | None = None, *, at_most: bool
) -> dict[str, object]:
    """Make a cell of an answer; `made`: it was not searched, and the release is for this promise."""
    record: dict[str, object] = {
        "k": k,
        "m": m,
        "error": "",
        "seconds": 0.1,
        "loss": loss,
        "made_for": None,
        "command": None,
    }
    if loss is None:
        return {**record, "status": "unsearched"}
    return {
        **record, "status": "unsearched" if made else "done", "proven": None, "at_most": at_most,
        "made_for": dict(zip("km", made or (k, m), strict=True)), "own_loss": None if made else loss,
        "lower_bound": 0.0, "items_kept": 3, "occurrences_kept": 50, "suppressed_occurrences": 5,
        "relational_loss": 0.25, "transaction_loss": 0.5, "classes": 7, "labels": 4, "query_error": 0.5,
        "known": m + 1, "unique_rows": 4, "unique_exact": True,
    }  # fmt: skip


@pytest.mark.parametrize("of_table", [False, True], ids=["rows", "table"])
def test_a_bound_is_no_cost_and_can_be_computed(
    of_table: bool, screen: Screen, studio_server: Server, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    from setveil.studio.fronts import KS

    project = studio_server.project("Bounds")
    if of_table:
        lines = [
            f"{20 + i % 40},{'F' if i % 2 else 'M'},{';'.join('abcdef'[i % 5 : i % 5 + 2])}"
            for i in range(40)
        ]
        file = cli_helpers.write(tmp_path / "ward.csv", "\n".join(["age,sex,codes", *lines, ""]))
        project.save(input=str(file), qi="age,sex", set="codes", delimiter=",", model="kkm", k=5, m="2")
    else:
        studio_shop.fill(project, 60)
    few = [cell(k, m, 0.854, (20, 2), at_most=True) for m in (1, 2) for k in KS if (k, m) != (20, 2)]
    more = [cell(k, m, None, at_most=False) for m in (3, 4) for k in KS]
    explored(project, "few", [*few, cell(20, 2, 0.854, at_most=False)], of_table=of_table)
    explored(project, "more", more, of_table=of_table)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "promise"))
    here, shown = page.locator("#here"), page.locator("#costs .current")
    expect(shown).to_have_text("≤\u00a00.854")
    expect(here).to_contain_text("at most\u00a00.854")
    expect(here).to_contain_text("a release for k = 20, m = 2 loses")
    expect(here.locator("dd")).to_have_count(1)  # nothing else is known of this promise
    expect(page.locator("#chart path.bound")).to_have_count(13)
    expect(page.locator("#chart figcaption")).to_contain_text("upper bounds")
    page.locator("#costs td[data-k='20'][data-m='2']").click()
    expect(here).to_contain_text("At k = 20 and m = 2")
    expect(shown).to_have_text("0.854")
    expect(page.get_by_role("button", name="Compute this one")).to_be_hidden()
    page.locator("#costs td[data-k='5'][data-m='3']").click()
    expect(shown).to_have_text("?")
    expect(here).to_contain_text("k = 5 and m = 3 is not computed yet")
    looks(page, f"bounds-{'table' if of_table else 'rows'}")
    page.get_by_role("button", name="Compute this one").click()
    computing = page.locator("#computing", has_text="what k = 5, m = 3 costs")
    expect(computing.or_(here.filter(has_text="At k = 5 and m = 3")).first).to_be_visible()  # or it is done
    expect(page.get_by_role("button", name="Compute this one")).to_be_hidden()
    expect(here).to_contain_text("At k = 5 and m = 3", timeout=240_000)
    expect(here).not_to_contain_text("at most")
    expect(page.locator("input#m")).to_have_value("3")
    expect(shown).to_have_text(here.locator("dd").first.inner_text())
    page.reload()
    expect(page.locator("input#m")).to_have_value("3")
    expect(here).to_contain_text("At k = 5 and m = 3")
    page.get_by_text("The same as a command").click()
    expect(page.locator(".same-as pre")).to_contain_text("explore")


def test_what_is_wrong_is_said_beside_its_field(screen: Screen, project: Project) -> None:
    from playwright.sync_api import expect

    page = screen.enter()
    page.goto(screen.at("p", project.name, "promise"))
    page.locator("input#k").fill("one")
    page.get_by_role("button", name="Take this promise").click()
    expect(page.get_by_role("alert")).to_contain_text("must be an integer of at least 2, got 'one'")
    page.get_by_role("alert").get_by_role("link").click()
    expect(page.locator("input#k")).to_be_focused()
    expect(page.locator("input#k")).to_have_value("one")
    accessible(page)


def test_limits_are_kept_and_an_impossible_promise_is_mended(screen: Screen, project: Project) -> None:
    from playwright.sync_api import expect

    page = screen.enter()
    page.goto(screen.at("p", project.name, "promise"))
    page.locator("input#k").fill("5000")
    page.get_by_label("Must stay as they are").fill("tea\nmilk")
    page.get_by_role("button", name="Take this promise").click()
    assert Path(project.settings()["keep"]).read_text() == "tea\nmilk\n"
    looks(page, "run")
    expect(page.get_by_label("Fewest rows of a class")).to_be_hidden()
    page.get_by_label("Method").select_option("classes")
    expect(page.get_by_label("Fewest rows of a class")).to_be_visible()
    page.get_by_label("Method").select_option("aa")
    expect(page.get_by_label("Time", exact=True)).to_be_hidden()
    page.get_by_label("Method").select_option("exact")
    page.get_by_role("button", name="Make the release").click()
    expect(page.get_by_role("alert")).to_contain_text("There is no release.")
    expect(page.get_by_role("alert")).to_contain_text("336")
    accessible(page)
    page.get_by_role("button", name="Use k = 336").click()
    page.wait_for_url("**/run")
    expect(page.locator("main")).to_contain_text("at least 336 rows")
    expect(page.get_by_role("heading", name="At work")).to_be_hidden()


def test_finish_now_hands_over_the_best_so_far(
    screen: Screen, studio_server: Server, long_work: dict[str, str]
) -> None:
    from playwright.sync_api import expect

    project = studio_server.project("Long", **long_work)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "run"))
    page.get_by_role("button", name="Make the release").click()
    finish = page.get_by_role("button", name="Finish now with the best so far")
    expect(finish).to_be_visible()
    page.reload()  # it goes on
    expect(finish).to_be_visible()
    accessible(page)
    shot(page, "run-at-work")
    finish.click()
    page.wait_for_url("**/release*")
    (run,) = project.runs.iterdir()
    report = json.loads((run / "internal" / "report.json").read_text())
    assert report["guarantee"]["holds"] is True
    assert report["optimality"]["proven"] is False or report["optimality"]["gap"] > 0


def test_cancel_leaves_nothing(screen: Screen, studio_server: Server, long_work: dict[str, str]) -> None:
    from playwright.sync_api import expect

    project = studio_server.project("Cancelled", **long_work)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "run"))
    page.get_by_role("button", name="Make the release").click()
    second = screen.open()  # another window sees the same, and starts nothing
    second.goto(screen.at("p", project.name, "run"))
    expect(second.get_by_role("heading", name="At work")).to_be_visible()
    expect(page.get_by_role("button", name="Finish now")).to_be_visible()
    page.get_by_role("button", name="Cancel, write nothing").click()
    for one in (page, second):
        expect(one.get_by_role("status")).to_contain_text("The run was cancelled. Nothing was written.")
    assert list(project.runs.iterdir()) == []
    accessible(page)


@pytest.mark.exhaustive
@pytest.mark.parametrize("what", ["command", "server"])
def test_what_is_killed_leaves_nothing_and_is_said(
    what: str, screens: Callable[..., Screen], tmp_path: Path, long_work: dict[str, str]
) -> None:
    from playwright.sync_api import expect

    server = serve(tmp_path)
    try:
        project = server.project("Killed", **long_work)
        screen = screens(server=server)
        page = screen.enter()
        page.goto(screen.at("p", project.name, "run"))
        page.get_by_role("button", name="Make the release").click()
        expect(page.get_by_role("button", name="Finish now")).to_be_visible()
        (child,) = (
            pid
            for pid in cli_helpers.children(server.process.pid)
            if b"anonymize" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        )  # and not a desk
        if what == "command":
            os.kill(child, signal.SIGKILL)
            said = "The run was ended from outside (signal 9). Nothing was written."
        else:
            page.goto("about:blank")
            with server.process:
                server.process.kill()
            cli_helpers.until_gone([child])
            server = serve(tmp_path)
            screen = screens(server=server)
            page = screen.enter()
            page.goto(screen.at("p", project.name, "run"))
            said = "The run ended without a result, because setveil was ended. Nothing was written."
        expect(page.get_by_role("alert")).to_contain_text(said)
        assert list(project.runs.iterdir()) == []
        accessible(page)
    finally:
        server.stop()
