"""The page Data in a browser: from a file to its rows, who could be found, and items to tick."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_helpers import write
from setveil.studio.projects import Project
from studio_browser import Screen, expect, looks

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

ROWS = "".join(
    f"{4_100_000 + i},{item}\n"
    for i in range(400)
    for item in ("tea", f"item {i % 37}", *(["milk"] if i % 3 else []))
)


@pytest.fixture
def long_file(tmp_path: Path) -> Path:
    return write(tmp_path / "orders.csv", "order,article\n" + ROWS)


def read_by_hand(page: Page, screen: Screen, project: Project, path: Path) -> None:
    """Choose a file by its path, and read it in the first way."""
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(path))
    page.get_by_role("button", name="Open it").click()
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Read it like this").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")


def test_from_a_file_to_its_rows(screen: Screen, long_file: Path) -> None:
    page = screen.enter()
    page.get_by_label("What is your project called?").fill("Orders <2026>")
    page.get_by_role("button", name="Open a file of yours").click()
    expect(page.get_by_role("heading", name="Choose your data")).to_be_visible()
    page.get_by_label("Path of the file").fill(str(long_file.parent))
    page.goto(page.url + f"?in={long_file.parent}")
    page.get_by_role("button", name="orders.csv").click()
    expect(page.get_by_role("heading", name="Reading this file")).to_be_visible()
    expect(page.get_by_role("radio", checked=True)).to_have_count(1)  # its columns are named unmistakably
    page.get_by_role("button", name="Read it like this").click()
    rows = page.get_by_role("region", name="Rows; scroll to see all")
    expect(rows.get_by_role("row").first).to_contain_text("tea")
    expect(page.get_by_text("of 400 rows").first).to_be_visible()
    assert page.title() == "Data - Orders <2026> - setveil"


def test_any_row_is_reached(screen: Screen, long_file: Path) -> None:
    page = screen.enter()
    project = screen.server.project("Rows")
    read_by_hand(page, screen, project, long_file)
    page.get_by_label("Go to row").fill("391")
    page.keyboard.press("Enter")
    row = page.locator('[aria-rowindex="391"]')
    expect(row).to_be_in_viewport()
    expect(row).to_contain_text(f"item {390 % 37}")
    box = page.get_by_role("region", name="Rows; scroll to see all")
    box.focus()
    page.keyboard.press("Home")
    expect(page.locator('[aria-rowindex="1"]')).to_be_in_viewport()
    page.keyboard.press("End")
    expect(page.locator('[aria-rowindex="400"]')).to_be_in_viewport()
    assert page.locator("#rows .row").count() < 60
    page.get_by_role("link", name="Page by page").click()
    expect(page.get_by_text("Rows 1 to 100 of 400.")).to_be_visible()
    page.get_by_role("link", name="Rows after").click()
    expect(page.get_by_role("rowheader", name="101", exact=True)).to_be_visible()


def test_sensitive_items_are_ticked_by_keyboard(screen: Screen, long_file: Path) -> None:
    page = screen.enter()
    project = screen.server.project("Ticks")
    read_by_hand(page, screen, project, long_file)
    page.get_by_label("Search items").wait_for()  # its fold is open
    page.get_by_label("Search items").focus()
    page.keyboard.type("item 3")
    expect(page.locator("#found")).to_have_text("8 found")
    page.keyboard.press("Tab")
    page.keyboard.press("Space")
    expect(page.locator("#ticked input")).to_have_count(1)
    page.get_by_label("A row is").fill("a customer")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/hierarchy$"))
    assert len(project.studio["sensitive"]) == 1
    assert project.studio["row"] == "a customer"


def test_a_file_is_dropped(screen: Screen, long_file: Path) -> None:
    page = screen.enter()
    project = screen.server.project("Dropped")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Drop a file here, or choose it").set_input_files(long_file)
    expect(page.get_by_role("heading", name="Reading this file")).to_be_visible()
    assert (project.input / "orders.csv").read_bytes() == long_file.read_bytes()


def test_the_pages_are_accessible(screen: Screen, tmp_path: Path) -> None:
    page = screen.enter()
    looks(page, "start")
    project = screen.server.project("Looks")
    lines = ROWS.splitlines(keepends=True)[:20]
    write(tmp_path / "a long table.csv", "patient,when,code\n" + "".join(lines).replace(",", ",2024-01-02,"))
    page.goto(screen.at("p", project.name, "data", "file") + f"?in={tmp_path}")
    looks(page, "data-file")
    page.get_by_role("button", name="a long table.csv").click()
    expect(page.get_by_role("heading", name="A log: who, what, when, how much")).to_be_visible()
    page.locator("summary", has_text=re.compile("Read only items, without")).click()
    looks(page, "data-reading")
    page.get_by_role("radio").first.check()
    page.get_by_role("button", name="Read it like this").click()
    expect(page.locator("#risk[data-ready]")).to_be_visible()
    page.get_by_label("Search items").fill("item")
    expect(page.locator("#ticks input").first).to_be_visible()
    looks(page, "data")
    bad = write(tmp_path / "bad.csv", b"tea,milk\nbread\ncaf\xe9,tea\nmilk\n")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(bad))
    page.get_by_role("button", name="Open it").click()
    expect(page.get_by_text("here: line 3")).to_be_visible()
    looks(page, "data-bad")
