"""The way in, and the pages that are there from the start, in a browser."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import expect

from studio_browser import Screen

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
