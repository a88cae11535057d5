"""Visible and folded parts of a report, as a browser shows and prints it."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from test_report import ALL, FULL, GROUPED, NAMED

from setveil.report.run.page import report_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

FIRST = ("People still at risk", "Files to share")


@pytest.mark.parametrize("report", ALL.values(), ids=ALL.keys())
@pytest.mark.parametrize("external", [False, True])
def test_contents_name_what_is_folded(report: Any, external: bool) -> None:
    if external and not report["guarantee"]["holds"]:
        return
    page = report_html(report, external=external)
    contents = re.search(r"<nav aria-label=\"Contents\">.*?</nav>", page, re.DOTALL)
    assert contents
    links = re.findall(r'<a href="#([^"]+)">(.*?)</a>', contents[0])
    folded = re.findall(
        r'<details>\n<summary><h2>(.*?)</h2><div class="inside">(.*?)</div></summary>\n<div id="([^"]+)">',
        page,
    )
    assert links == [(place, title) for title, _, place in folded]
    assert all(inside.endswith(".") for _, inside, _ in folded)
    assert len(folded) == page.count("<details")  # none is open, and none is without a line


def test_the_decision_comes_first() -> None:
    """Guarantee, verdict, loss, risk and the folder to share come before the contents."""
    for report in (FULL, NAMED, GROUPED):
        before, _, after = report_html(report).partition("<nav")
        for text in ('class="verdict holds"', "published unchanged", *FIRST, "Usable for:"):
            assert text in before
        assert "Decision</h2>" in after
    assert "<h2>Why k=5 and m=2</h2>" in report_html(FULL)


def test_who_could_still_be_found_before_and_after() -> None:
    page = re.sub(r"<[^>]+>", " ", report_html(FULL).partition(FIRST[1])[0].partition(FIRST[0])[2])
    text = " ".join(page.split())
    assert "Items known Before After Guaranteed" in text
    assert "2 items 449 0 yes 3 items 1,601 159 no" in text


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("report", [FULL, NAMED, GROUPED], ids=["full", "named", "grouped"])
def test_at_most_four_screens_until_something_is_opened(
    report: Any, width: int, chrome: Browser, tmp_path: Path
) -> None:
    file = tmp_path / "report.html"
    file.write_text(report_html(report), encoding="utf-8")
    page = chrome.new_page(viewport={"width": width, "height": 900})
    page.goto(file.as_uri())
    size: Callable[[str], int] = lambda of: page.evaluate(f"document.documentElement.{of}")  # noqa: E731
    assert size("scrollHeight") <= 4 * 900
    assert size("scrollWidth") <= width
    if width == 1280:
        assert page.locator("nav a").first.bounding_box()["y"] < 900  # type: ignore[index]
    last = page.locator("nav a").last
    last.click()  # opens its target, without a script
    assert page.locator("details[open]").count() == 1
    ask = page.locator("button.term").first
    ask.click()
    assert page.locator(".entry:popover-open").count() == 1
    page.keyboard.press("Escape")
    assert page.locator(".entry:popover-open").count() == 0
    page.emulate_media(media="print")
    heights = page.evaluate("[...document.querySelectorAll('details > div')].map(one => one.offsetHeight)")
    assert heights
    assert min(heights) > 20  # all is unfolded
    assert not page.locator("button.term, nav").first.is_visible()
    page.close()
