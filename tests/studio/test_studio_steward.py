"""The steward's way with a table of age, sex, zip code and diagnoses: how many clicks lead to a release."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

import pytest

import cli_helpers
from setveil.studio import commands
from studio_browser import Screen, expect, looks, see_release

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Route

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

CLICKS = 8  # from the start page to a release that is finished
ZIPS = ("02139", "02140", "02141", "10115", "10117", "10119", "80331", "80333")
COMMON = {"0": "EI", "1": "JK", "8": "MN"}  # chapters of the codes that are common in a region


def ward(path: Path, n: int = 400) -> Path:
    """Write a table of patients, a line each; their diagnoses depend on where they live."""
    random = Random(5)
    lines = ["patient,age,sex,zip,diagnoses"]
    for number in range(n):
        age, zipped = random.randint(18, 90), random.choice(ZIPS)
        codes = {
            f"{random.choice(COMMON[zipped[0]])}1{random.randint(0, 3)}.{random.randint(0, 2)}" for _ in "ab"
        }
        lines.append(f"{4_100_000 + 7 * number},{age},{'FM'[number % 2]},{zipped},{';'.join(sorted(codes))}")
    return cli_helpers.write(path, "\n".join([*lines, ""]))


class Clicks:
    """A mouse that counts."""

    def __init__(self) -> None:
        self.number = 0

    def on(self, target: Locator) -> None:
        self.number += 1
        target.click()


def test_a_release_is_eight_clicks_away(screen: Screen, tmp_path: Path) -> None:
    file = ward(tmp_path / "ward.csv")
    page, mouse = screen.enter(), Clicks()
    page.get_by_label("What is your project called?").fill("Ward by clicks")
    mouse.on(page.get_by_role("button", name="Open a file of yours"))
    page.get_by_label("Path of the file").fill(str(file))
    mouse.on(page.get_by_role("button", name="Open it"))
    roles = page.locator(".roles select[name^=role]")
    expect(roles).to_have_count(5)
    assert [one.input_value() for one in roles.all()] == ["id", "qi", "qi", "qi", "set"]
    assert page.get_by_label("How the values of zip are grouped").input_value() == "prefix"
    mouse.on(page.get_by_role("button", name="Read it as this table"))
    mouse.on(page.get_by_role("button", name="Next: groups"))
    mouse.on(page.get_by_role("button", name="Group by code"))
    expect(page.get_by_role("treeitem").first).to_be_visible()
    mouse.on(page.get_by_role("link", name="Keep these groups"))
    mouse.on(page.get_by_role("button", name="Take this promise"))
    mouse.on(page.get_by_role("button", name="Make the release"))
    see_release(page)
    expect(page.locator(".good").first).to_contain_text("The promise holds.")
    assert mouse.number <= CLICKS

    folder = Path(page.locator("pre", has_text="published").first.inner_text())
    with (folder / "data.csv").open() as published:
        rows = list(csv.DictReader(published))
    assert len(rows) == 400
    assert set(rows[0]) == {"age", "sex", "zip", "diagnoses"}
    assert {row["zip"] for row in rows} - {"*"}, "zip codes are told apart by their first characters"
    assert not list(folder.parent.glob("published/*report*"))


def test_going_back_keeps_every_choice(screen: Screen, tmp_path: Path) -> None:
    file = ward(tmp_path / "ward.csv", 60)
    page, project = screen.enter(), screen.server.project("Back")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(file))
    page.get_by_role("button", name="Open it").click()
    page.get_by_label("What sex is").select_option("drop")
    page.get_by_label("How the values of age are grouped").select_option("ranges")
    page.get_by_label("Steps of the groups of age").fill("5,20")
    page.get_by_label("Steps of the groups of age").press("Tab")
    become = page.locator(".become[data-column=age] .keep")
    expect(become).to_contain_text("[0,20)")
    page.get_by_label("Steps of the groups of zip").fill("3")
    page.get_by_label("Steps of the groups of zip").press("Tab")
    expect(page.locator(".become[data-column=zip] .keep")).to_contain_text("then 3 (such as 021**), then *")
    looks(page, "data-roles")
    page.get_by_role("button", name="Read it as this table").click()
    levels = page.get_by_role("table", name="The values of each column")
    expect(levels).to_contain_text("021**")
    looks(page, "data-table")
    page.get_by_role("link", name="Change how it is read").click()
    assert page.get_by_label("What sex is").input_value() == "drop"
    assert page.get_by_label("What patient is").input_value() == "id"
    assert page.get_by_label("How the values of age are grouped").input_value() == "ranges"
    assert page.get_by_label("Steps of the groups of age").input_value() == "5,20"
    assert page.get_by_label("Steps of the groups of zip").input_value() == "3"
    page.get_by_label("What diagnoses is").select_option("drop")
    page.get_by_role("button", name="Read it as this table").click()
    expect(page.get_by_text("Say which column contains the items.")).to_be_visible()
    assert page.get_by_label("What sex is").input_value() == "drop"
    assert page.get_by_label("Steps of the groups of age").input_value() == "5,20"


def test_what_is_chosen_before_the_script_has_come_is_seen(screen: Screen, tmp_path: Path) -> None:
    page, project = screen.enter(), screen.server.project("Early")
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/roles.js*", hold)
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(ward(tmp_path / "ward.csv", 60)))
    page.get_by_role("button", name="Open it").click()
    page.get_by_label("How the values of age are grouped").select_option("ranges")
    page.get_by_label("Steps of the groups of age").fill("5,20")
    page.get_by_label("Steps of the groups of age").press("Tab")
    become = page.locator(".become[data-column=age] .keep")
    expect(become).not_to_contain_text("[0,20)")
    for one in held:
        one.continue_()
    expect(become).to_contain_text("[0,20)")


def test_the_values_of_a_column_are_grouped_by_hand(screen: Screen, tmp_path: Path) -> None:
    wards = ("north", "south", "east", "west", "")
    lines = [f"{20 + i % 9},{wards[i % 5]},{'AB'[i % 2]}1;C{i % 3}" for i in range(60)]
    file = cli_helpers.write(tmp_path / "wards.csv", "\n".join(["age,ward,codes", *lines, ""]))
    page, project = screen.enter(), screen.server.project("By hand")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(file))
    page.get_by_role("button", name="Open it").click()
    page.get_by_role("button", name="Read it as this table").click()
    expect(page.get_by_text("Column 'ward' has 4 values and no groups of them")).to_be_visible()
    page.get_by_role("link", name=re.compile("by hand.*ward")).click()
    tree = page.get_by_role("tree", name="Groups")
    tree.get_by_role("treeitem", name="north").click()
    tree.get_by_role("treeitem", name="south").click(modifiers=["ControlOrMeta"])
    page.get_by_role("button", name="New group from selected").click()
    page.get_by_role("dialog").get_by_label("Name").fill("far")
    page.get_by_role("button", name="OK").click()
    expect(tree.get_by_role("treeitem", name="far")).to_be_visible()
    looks(page, "column-groups")
    page.get_by_text("The same as a command").click()
    shown = shlex.split(page.locator(".same-as pre").first.inner_text())
    page.get_by_role("link", name="Keep these groups").click()
    levels = page.get_by_role("table", name="The values of each column")
    expect(levels).to_contain_text("4 values, then 3 (such as east), then *")
    tree_file = next(one for one in project.settings()["hierarchy"] if one.startswith("ward="))
    kept = Path(tree_file.partition("=")[2])
    assert kept.read_text() == "east;east;*\nnorth;far;*\nsouth;far;*\nwest;west;*\n"
    kept.unlink()
    done = cli_helpers.together([shown[1:]], project.folder)[0]
    assert done.code == 0, done
    assert "north;far;*" in kept.read_text()
    argv = commands.anonymize(project, str(tmp_path / "out"))
    done = cli_helpers.together([[*argv, "--k", "5", "--m", "1"]], project.folder)[0]
    assert done.code == 0, done
    page.get_by_role("link", name="Change how it is read").click()
    assert page.get_by_label("How the values of ward are grouped").input_value() == "file"
