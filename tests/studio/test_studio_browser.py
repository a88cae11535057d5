"""The way in, and the pages that are there from the start, in a browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from studio_browser import Screen, expect, looks, serve

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


def test_the_way_in_is_good_once(screens: Callable[..., Screen]) -> None:
    screen = screens()
    page = screen.open()
    address = screen.server.way_in()
    page.goto(address)
    expect(page.get_by_role("heading", name="Your projects")).to_be_visible()
    assert "#" not in page.url
    cookie = screen.context.cookies(page.url)[0]
    assert (cookie["httpOnly"], cookie["sameSite"], cookie["path"]) == (
        True,
        "Strict",
        page.url[len(screen.server.origin) :],
    )
    page.reload()
    expect(page.get_by_role("heading", name="Your projects")).to_be_visible()


def test_the_sample_is_one_click_away(screen: Screen) -> None:
    page = screen.enter()
    page.get_by_role("button", name="Try it with made-up shopping baskets").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")
    expect(page.get_by_text("Tour, 1 of 6.")).to_be_visible()
    expect(page.locator("#risk[data-ready]")).to_be_visible()
    expect(page.get_by_text("of 5,000 rows").first).to_be_visible()
    looks(page, "tour")
    page.get_by_role("link", name="Next: Hierarchy").click()
    expect(page.get_by_text("Tour, 2 of 6.")).to_be_visible()
    page.get_by_role("button", name="End the tour").click()
    expect(page.get_by_text("Tour, 2 of 6.")).to_have_count(0)


def test_closing_says_how_to_come_back(screens: Callable[..., Screen], tmp_path: Path) -> None:
    server = serve(tmp_path)
    screen = screens(server=server)
    page = screen.enter()
    page.get_by_role("button", name="Close setveil").click()
    expect(page.get_by_role("heading", name="setveil is closed")).to_be_visible()
    with server.process:
        assert server.process.wait(30) == 0


def test_a_second_start_opens_the_first(screens: Callable[..., Screen], tmp_path: Path) -> None:
    first = serve(tmp_path)
    try:
        second = serve(tmp_path)
        with second.process:
            assert second.process.wait(30) == 0
        assert second.origin == first.origin
        assert second.first != first.first
        screen = screens(server=first)
        page = screen.open()
        page.goto(second.first, wait_until="networkidle")
        expect(page.get_by_role("heading", name="Your projects")).to_be_visible()
        page.wait_for_load_state("networkidle")
    finally:
        first.stop()


def test_a_server_that_was_killed_is_followed_by_another(
    screens: Callable[..., Screen], tmp_path: Path
) -> None:
    first = serve(tmp_path)
    first.projects.create("Kept")
    with first.process:
        first.process.kill()
    second = serve(tmp_path)
    try:
        screen = screens(server=second)
        page = screen.enter()
        expect(page.get_by_role("link", name="Kept")).to_be_visible()
    finally:
        second.stop()


def test_a_used_way_in_says_so(screens: Callable[..., Screen]) -> None:
    screen = screens()
    address = screen.server.way_in()
    screen.open().goto(address)
    other = screens()
    page = other.open()
    page.goto(address)
    expect(page.get_by_text("This way in was used already")).to_be_visible()
    assert other.wrong.pop().startswith(
        "console: error: Failed to load resource: the server responded with a status of 403"
    )
