"""The way in, and the pages that are there from the start, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from studio_browser import Screen, accessible, shot

pytestmark = pytest.mark.browser


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


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [320, 1280])
def test_the_start_page_is_accessible(screens: Callable[..., Screen], width: int, dark: bool) -> None:
    screen = screens(width=width, dark=dark)
    page = screen.enter()
    accessible(page)
    shot(page, f"start-{width}-{'dark' if dark else 'light'}")
