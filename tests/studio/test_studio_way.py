"""The steward's way: from a csv of three columns to a folder that may be shared, by mouse and by keys."""

from __future__ import annotations

import shlex
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Protocol

import pytest

import cli_helpers
import studio_shop
from studio_browser import Screen, Server, see_release

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = pytest.mark.browser


class Hand(Protocol):
    """A way for a steward to do things."""

    def press(self, target: Locator) -> None:
        """Press a button or a link."""

    def choose(self, target: Locator) -> None:
        """Choose one of several."""

    def type(self, target: Locator, text: str) -> None:
        """Write into a field."""


class Mouse:
    def press(self, target: Locator) -> None:
        target.click()

    def choose(self, target: Locator) -> None:
        target.check()

    def type(self, target: Locator, text: str) -> None:
        target.fill(text)


class Keys:
    """Reaches everything by Tab, like a user without a mouse."""

    def __init__(self, page: Page) -> None:
        self.page = page

    def press(self, target: Locator) -> None:
        self._go(target)
        self.page.keyboard.press("Enter")

    def choose(self, target: Locator) -> None:
        self._go(target, with_arrows=True)
        self.page.keyboard.press("Space")

    def type(self, target: Locator, text: str) -> None:
        self._go(target)
        self.page.keyboard.press("ControlOrMeta+a")
        self.page.keyboard.type(text)

    def _go(self, target: Locator, *, with_arrows: bool = False) -> None:
        target.wait_for()
        passed = []
        for _ in range(150):
            if self._is_at(target):
                return
            self.page.keyboard.press("Tab")
            where, kind = self.page.evaluate(
                "[document.activeElement.outerHTML.slice(0, 120), document.activeElement.type]"
            )
            passed.append(where)
            while with_arrows and kind == "radio":
                if self._is_at(target):
                    return
                self.page.keyboard.press("ArrowDown")
                with_arrows = self.page.evaluate("!document.activeElement.dataset.seen")
                self.page.evaluate("document.activeElement.dataset.seen = 'yes'")
        raise AssertionError(f"{target} is not reached by Tab, only {passed}")

    @staticmethod
    def _is_at(target: Locator) -> bool:
        return bool(target.evaluate("one => one === document.activeElement"))


@pytest.fixture
def three_columns(tmp_path: Path) -> Path:
    """Write a table of who bought what on which day, a line for each item."""
    days = Random(1)
    lines = [
        f"{1000 + i},{thing},2026-0{days.randint(1, 9)}-1{days.randint(0, 9)}"
        for i, row in enumerate(studio_shop.rows())
        for thing in row
    ]
    return cli_helpers.write(tmp_path / "sales.csv", "\n".join(["customer,product,day", *lines, ""]))


@pytest.mark.parametrize("by", ["mouse", pytest.param("keys", marks=pytest.mark.exhaustive)])
def test_from_a_file_to_a_folder_to_hand_out(
    by: str, screen: Screen, studio_server: Server, three_columns: Path, tmp_path: Path
) -> None:
    from playwright.sync_api import expect

    page = screen.enter()
    hand: Hand = Mouse() if by == "mouse" else Keys(page)
    title = f"Loyalty cards by {by}"
    hand.type(page.get_by_label("What is your project called?"), title)
    hand.press(page.get_by_role("button", name="Open a file of yours"))
    hand.type(page.get_by_label("Path of the file"), str(three_columns))
    hand.press(page.get_by_role("button", name="Open it"))
    hand.press(page.get_by_text("Read only items, without dates and other columns"))
    way = page.get_by_role("radio", name="product").first
    hand.choose(way)
    expect(way).to_be_checked()
    hand.press(page.get_by_role("button", name="Read it like this"))
    expect(page.locator("main")).to_contain_text("336")
    hand.press(page.get_by_role("button", name="Next: groups"))
    hand.press(page.get_by_role("button", name="Group by rows"))
    expect(page.get_by_role("treeitem").first).to_be_visible()
    hand.press(page.get_by_role("link", name="Keep these groups"))
    hand.type(page.locator("input#k"), "4")
    hand.press(page.get_by_role("button", name="Take this promise"))
    hand.press(page.get_by_role("button", name="Make the release"))
    see_release(page)
    expect(page.locator(".good").first).to_contain_text("The promise holds.")
    folder = Path(page.locator("pre", has_text="published").first.inner_text())
    hand.press(page.get_by_text("The same as a command"))
    shown = shlex.split(page.locator(".same-as pre").first.inner_text())

    project = next(one for one in studio_server.projects.all() if one.title == title)
    assert folder.parent.parent == project.runs
    published = "".join(path.read_text() for path in folder.iterdir())
    assert "day" not in published
    assert "2026-0" not in published
    out = shown.index("--out") + 1
    assert shown[out] == f"runs/{folder.parent.name}"
    shown[out] = str(tmp_path / "again")
    assert shown[0] == "setveil"
    checked, again = cli_helpers.together(
        [["verify", folder, "--k", "4", "--m", "2"], shown[1:]], project.folder
    )
    assert checked.code == 0, checked
    assert again.code == 0, again
    for path in folder.iterdir():
        assert (tmp_path / "again" / "published" / path.name).read_bytes() == path.read_bytes(), path.name
