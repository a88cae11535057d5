"""The editor of groups, in a browser: by mouse and by keyboard, undone, kept, large."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_helpers import needs_proc
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.studio.projects import Project
from studio_browser import Screen, Server, expect, looks, serve

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

GROUPS = """\
milk;dairy;food;*
cheese;dairy;food;*
butter;dairy;food;*
bread;bakery;food;*
rolls;bakery;food;*
soap;household;*
brush;household;*
"""
ROWS = "milk,bread\nmilk,cheese\nsoap,brush,milk\nbread,rolls,kiwi\nbutter\n"


def made(
    server: Server, folder: Path, title: str = "Groups", groups: str = GROUPS, rows: str = ROWS
) -> Project:
    (folder / "rows.csv").write_text(rows)
    (folder / "groups.csv").write_text(groups)
    return server.project(
        title,
        input=str(folder / "rows.csv"),
        format="basket",
        hierarchy=str(folder / "groups.csv"),
        k=2,
        m="2",
    )


def opened(screen: Screen, project: Project) -> Page:
    page = screen.enter()
    page.goto(screen.at("p", project.name, "hierarchy"))
    expect(page.locator("#loading")).to_be_hidden()
    expect(page.locator("#problem-count")).not_to_have_text("Looking for problems.")
    return page


def line(page: Page, label: str) -> Locator:
    return page.locator(".line", has=page.locator(".name").get_by_text(label, exact=True))


def paths(project: Project) -> dict[str, list[str]]:
    """Read the same as the commands: the groups above each item."""
    return {path[0]: path[1:] for path in read_hierarchy(project.hierarchy).paths()}


def end_desks(server: Server) -> None:
    """Kill the workers that hold the trees, and wait until the server has noticed."""
    children = Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
    pids = [int(pid) for pid in children.read_text().split()]
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while {*children.read_text().split()} & {str(pid) for pid in pids}:
        assert time.monotonic() < until


BEGUN = {row.split(";")[0]: row.split(";")[1:] for row in GROUPS.split()}


def test_groups_are_edited_with_the_mouse_and_all_of_it_is_undone(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path)
    page = opened(screen, project)
    said = page.locator("#said")
    expect(line(page, "food").locator(".size")).to_have_text("5 items")
    line(page, "dairy").locator(".turn").click()
    line(page, "butter").drag_to(line(page, "household"))
    expect(said).to_have_text("Moved butter into household.")
    expect(line(page, "household").locator(".size")).to_have_text("3 items")
    line(page, "soap").drag_to(line(page, "cheese"))  # to an item: next to it
    expect(said).to_have_text("Moved soap into dairy.")
    assert paths(project) == BEGUN | {"butter": ["household", "*"], "soap": ["dairy", "food", "*"]}

    line(page, "milk").click()
    line(page, "soap").click(modifiers=["Control"])
    page.get_by_role("button", name="New group from selected").click()
    page.get_by_label("Name", exact=True).fill("white things")
    page.get_by_role("button", name="OK").click()
    expect(page.locator("#what")).to_have_text("white things")
    line(page, "dairy").click()
    line(page, "bakery").click(modifiers=["Control"])
    page.get_by_role("button", name="Merge groups").click()
    expect(said).to_have_text("Merged 2 groups into bakery.")
    line(page, "bakery").click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("fresh")
    page.keyboard.press("Enter")
    expect(said).to_have_text("Renamed bakery to fresh.")
    page.get_by_role("button", name="Sort").click()
    expect(said).to_have_text("Sorted fresh.")
    assert paths(project)["soap"] == ["white things", "fresh", "food", "*"]
    assert paths(project)["cheese"] == ["fresh", "food", "*"]
    line(page, "food").click()
    page.get_by_role("button", name="Dissolve group").click()
    expect(said).to_have_text("Dissolved food.")
    assert paths(project)["rolls"] == ["fresh", "*"]
    page.get_by_role("button", name="New empty group").click()
    page.get_by_label("Name", exact=True).fill("later")
    page.keyboard.press("Enter")
    expect(page.locator("#problems li", has_text="1 group is empty")).to_be_visible()
    expect(page.locator("#what")).to_have_text("later")
    page.locator("#remove").click()
    expect(said).to_have_text("Deleted later.")

    for left in reversed(range(9)):
        expect(page.locator("#state")).to_have_text(f"{left + 1} change{'s' if left else ''}, saved")
        page.get_by_role("button", name="Undo").click()
    expect(page.locator("#state")).to_have_text("No changes yet")
    assert paths(project) == BEGUN
    expect(page.get_by_role("button", name="Undo")).to_be_disabled()
    for _ in range(9):
        page.get_by_role("button", name="Redo").click()
    expect(page.get_by_role("button", name="Redo")).to_be_disabled()
    assert paths(project)["cheese"] == ["fresh", "*"]


def test_groups_are_edited_with_keys_alone(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Keys")
    page = opened(screen, project)
    said, what, tree = page.locator("#said"), page.locator("#what"), page.get_by_role("tree", name="Groups")
    keys = page.keyboard
    page.locator("#find").focus()
    for _ in range(6):
        if tree.evaluate("tree => tree === document.activeElement"):
            break
        keys.press("Tab")
    expect(tree).to_be_focused()

    keys.press("Home")
    expect(what).to_have_text("*")
    keys.type("dairy")
    expect(what).to_have_text("dairy")
    keys.press("ArrowRight")
    keys.press("ArrowRight")
    expect(what).to_have_text("butter")
    keys.press("Control+x")
    expect(line(page, "butter")).to_have_class(re.compile("cut"))
    keys.type("hous")
    expect(what).to_have_text("household")
    keys.press("Control+v")
    expect(said).to_have_text("Moved butter into household.")

    keys.press("F2")
    expect(page.get_by_label("Name", exact=True)).to_be_focused()
    keys.type("house")
    keys.press("Enter")
    expect(said).to_have_text("Renamed household to house.")
    expect(tree).to_be_focused()
    keys.press("Control+z")
    expect(said).to_have_text("Undone.")
    expect(what).to_have_text("household")
    keys.press("Control+z")
    expect(page.locator("#state")).to_have_text("No changes yet")
    assert paths(project) == BEGUN
    keys.press("Control+y")
    expect(page.locator("#state")).to_have_text("1 change, saved")
    assert paths(project)["butter"] == ["household", "*"]

    # Several at once, by the dialog.
    keys.press("Home")
    keys.type("cheese")
    keys.press("Space")
    keys.press("Space")
    keys.press("Shift+ArrowDown")
    expect(what).to_have_text("2 lines selected")
    page.get_by_role("button", name="Move to...").focus()
    keys.press("Enter")
    expect(page.get_by_label("Find a group")).to_be_focused()
    keys.type("bak")
    expect(page.locator("#offered")).to_have_text("1 group")
    keys.press("Enter")
    expect(said).to_have_text("Moved 2 lines into bakery.")
    assert paths(project)["milk"] == paths(project)["cheese"] == ["bakery", "food", "*"]


def test_what_cannot_be_is_said_and_nothing_changes(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Refused")
    page = opened(screen, project)
    line(page, "food").click()
    page.keyboard.press("Control+x")
    line(page, "dairy").click()
    page.keyboard.press("Control+v")
    expect(page.locator("#refusal")).to_contain_text("'food' cannot go into itself")
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("bakery")
    page.keyboard.press("Enter")
    expect(page.locator("#refusal")).to_have_text("There is a group called 'bakery' already.")
    expect(page.locator("#state")).to_have_text("No changes yet")


def test_problems_are_found_and_mended(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Problems")
    page = opened(screen, project)
    missing = page.locator("#problems li", has_text="1 item of the data is in no group")
    missing.get_by_role("button", name="Put under...").click()
    page.get_by_label("Find a group").fill("food")
    page.get_by_role("button", name="Put there").click()
    expect(missing).to_have_count(0)
    expect(page.locator("#problem-count")).to_have_text("None.")
    assert paths(project)["kiwi"] == ["food", "*"]
    expect(line(page, "kiwi").locator(".size")).to_have_text("rare: 1 row")
    line(page, "food").click()
    expect(page.locator("#rows")).to_have_text("5 rows contain something of it")
    page.goto(f"{page.url}?find=butt")
    expect(page.locator("#what")).to_have_text("butter")
    expect(page.locator("#rows")).to_have_text("Rare: in 1 row")


@pytest.mark.exhaustive
@needs_proc
def test_two_windows_see_one_tree_and_what_is_killed_loses_nothing(
    screens: Callable[..., Screen], tmp_path: Path
) -> None:
    server = serve(tmp_path)
    try:
        screen = screens(server=server)
        project = made(server, tmp_path)
        first, second = opened(screen, project), screen.open()
        second.goto(first.url)
        expect(second.locator("#loading")).to_be_hidden()
        for page, label in ((first, "bakery"), (second, "dairy")):
            line(page, label).click()
            page.get_by_role("button", name="Dissolve group").click()
            expect(page.locator("#said")).to_have_text(f"Dissolved {label}.")
        expect(line(second, "bakery")).to_have_count(0)  # it caught up
        expect(line(first, "dairy")).to_have_count(1)
        end_desks(server)
        line(first, "*").click()
        first.get_by_role("button", name="Sort").click()
        expect(first.locator("#said")).to_have_text("Sorted *.")  # by a new worker
        screen.wrong[:] = [
            said for said in screen.wrong if " 503 " not in said
        ]  # requests to the killed process
        for page in (first, second):
            page.close()
    finally:
        with server.process as process:
            process.kill()
    with project.edits.open("a") as file:
        file.write('{"do": "ren')  # the file being written when the power failed
    again = serve(tmp_path)
    try:
        page = opened(screens(server=again), project)
        expect(page.locator("#state")).to_have_text("3 changes, saved")
        page.get_by_role("button", name="Undo").click()
        expect(page.locator("#state")).to_have_text("2 changes, saved")
        page.get_by_role("button", name="Undo").click()
        expect(line(page, "dairy")).to_have_count(1)
        page.get_by_role("button", name="Undo").click()
        expect(page.get_by_role("button", name="Undo")).to_be_disabled()
        assert paths(project) == BEGUN
        page.close()
    finally:
        again.stop()


def test_groups_from_a_file_from_rows_and_by_code(screen: Screen, tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("A10.1,A10.2\nA10.2,B20\nB20,B21,A11\n")
    project = screen.server.project("Ways", input=str(tmp_path / "codes.csv"), format="basket")
    page = screen.enter()
    page.goto(screen.at("p", project.name, "hierarchy"))
    page.get_by_label("Cut at these lengths").fill("1,3")
    page.get_by_role("button", name="Group by code").click()
    expect(page.locator("#from")).to_have_text("Begun with: by code")
    assert paths(project)["A10.1"] == ["A10", "A", "*"]
    page.get_by_text("Begin again with other groups").click()
    page.get_by_role("button", name="Group by rows").click()
    expect(page.locator("#from")).to_have_text("Begun with: items that often occur together")
    assert paths(project)["B20"][-1] == "*"

    bad = tmp_path / "bad.csv"
    bad.write_text("A10.1;A;*\nA10.2;;*\nB20;*;C\n")
    page.get_by_text("Begin again with other groups").click()
    page.get_by_label("File", exact=True).set_input_files(bad)
    page.get_by_role("button", name="Use this file").click()
    expect(page.locator("#errors")).to_contain_text("bad.csv is not a hierarchy")
    expect(page.get_by_text("line 2: an empty label")).to_be_visible()
    expect(page.locator("#from")).to_have_text("Begun with: items that often occur together")

    good = tmp_path / "good.json"
    good.write_text(
        json.dumps({"level1": {"all": ["A10.1", "A10.2", "A11", "B"]}, "level2": {"B": ["B20", "B21"]}})
    )
    page.get_by_label("File", exact=True).set_input_files(good)
    page.get_by_role("button", name="Use this file").click()
    expect(page.locator("#from")).to_have_text("Begun with: good.json")
    assert paths(project)["B20"] == ["B", "all"]
    with page.expect_download() as download:
        page.get_by_role("link", name="json (Amnesia)").click()
    written = tmp_path / "written.json"
    download.value.save_as(written)
    assert read_hierarchy(written) == read_hierarchy(project.hierarchy)

    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#from")).to_have_text("Begun with: items that often occur together")
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#from")).to_have_text("Begun with: by code")
    assert paths(project)["A10.1"] == ["A10", "A", "*"]


def test_of_a_tree_of_110_000_nodes_only_what_is_seen_is_drawn(screen: Screen, tmp_path: Path) -> None:
    groups = "".join(f"i{i:06};g{i // 10:05};h{i // 200:03};*\n" for i in range(100_000))
    project = made(screen.server, tmp_path, "Large", groups, "i000000,i000001\ni099999\n")
    page = opened(screen, project)  # the worker has read the file
    line(page, "h000").click()
    page.keyboard.press("*")
    page.keyboard.press("End")
    expect(page.locator("#what")).to_have_text("g09999")
    assert page.evaluate("document.querySelectorAll('*').length") < 1000

    page.locator("#find").fill("i099999")
    expect(page.locator("#what")).to_have_text("i099999")
    page.get_by_role("tree").focus()
    page.keyboard.press("Control+x")
    page.keyboard.press("Home")
    page.keyboard.type("h000")
    page.keyboard.press("Control+v")
    expect(page.locator("#said")).to_have_text("Moved i099999 into h000.")
    page.goto(screen.at("p", project.name, "hierarchy"))
    expect(page.locator("#state")).to_have_text("1 change, saved")
    assert page.evaluate("document.querySelectorAll('*').length") < 1000


def test_names_with_spaces_are_found_by_typing(screen: Screen, tmp_path: Path) -> None:
    groups = "rolls;fresh bread;*\nmilk;fresh dairy;*\nkiwi;fresh fruit;*\n"
    page = opened(screen, made(screen.server, tmp_path, "Spaces", groups, "rolls,milk\nkiwi\n"))
    page.evaluate("performance.now = () => 0")  # however slowly the keys arrive
    page.get_by_role("tree").focus()
    page.keyboard.press("Home")
    page.keyboard.type("fresh d")
    expect(page.locator("#what")).to_have_text("fresh dairy")
    page.keyboard.press("ArrowDown")  # it ends the typing
    page.keyboard.press("Control+ArrowUp")
    page.keyboard.press("Space")
    expect(page.locator("#what")).to_have_text("2 lines selected")


def test_the_editor_is_accessible(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path, "Seen")
    page = opened(screen, project)
    line(page, "dairy").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Control+ArrowDown")
    page.keyboard.press("Control+ArrowDown")
    page.keyboard.press("Space")
    expect(page.locator("#what")).to_have_text("2 lines selected")
    looks(page, "hierarchy")
    page.get_by_text("Begin again with other groups").click()
    page.get_by_role("button", name="Move to...").click()
    looks(page, "hierarchy-move")
    page.keyboard.press("Escape")

    without = screen.server.project("Without", input=str(tmp_path / "rows.csv"), format="basket")
    page.goto(screen.at("p", without.name, "hierarchy"))
    looks(page, "hierarchy-first")


def test_groups_are_made_anew_below_a_level_and_used(screen: Screen, tmp_path: Path) -> None:
    rows = "".join(f"milk,bread,{('cheese', 'butter')[i % 2]}\n" for i in range(8)) + "soap,rolls\nbrush\n"
    project = made(screen.server, tmp_path, "Anew", rows=rows)
    page = opened(screen, project)
    page.get_by_text("Make the groups below a level again").click()
    page.get_by_label("Level that stays").fill("9")
    page.get_by_role("button", name="Look for better groups").click()
    expect(page.locator("#again ~ .problem")).to_contain_text("--within 9 names no groups")
    expect(page.locator("#loading")).to_be_hidden()  # the branch moves until then
    page.get_by_text("Make the groups below a level again").click()
    page.get_by_role("button", name="Look for better groups").click()
    expect(page.get_by_text("Found:")).to_contain_text("inner nodes")
    looks(page, "regrouped")
    page.get_by_role("button", name="Use the new groups").click()
    expect(page.locator("#loading")).to_be_hidden()
    expect(page.get_by_text("Found:")).to_have_count(0)
    now = paths(project)
    assert now.keys() == BEGUN.keys()
    assert {above[-2] for item, above in now.items() if item in {"milk", "cheese", "butter", "bread"}} == {
        "food"
    }
    page.get_by_role("button", name="Undo").click()
    expect(line(page, "food")).to_be_visible()
    assert paths(project) == BEGUN
