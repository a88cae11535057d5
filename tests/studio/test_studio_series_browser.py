"""A series in a browser: begin it, price the ways, add releases, check them, forget a person."""

from __future__ import annotations

import pytest

from studio_browser import Screen, expect, looks, shot
from studio_ward import FIRST, SECOND, give

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]


def test_a_series_in_a_browser(screen: Screen) -> None:
    page = screen.enter()
    page.get_by_label("What is your series called?").fill("Ward by year")
    page.get_by_role("button", name="Begin a series").click()
    expect(page.locator("h1")).to_have_text("Begin the series")
    page.get_by_label("At least this many people must fit (k)").fill("2")
    page.get_by_label("for someone who knows this many items of a person (m)").fill("1")
    page.get_by_text("Known items and person IDs").click()
    looks(page, "series-begin")
    page.get_by_role("button", name="Begin the series").click()
    expect(page.locator("h1")).to_have_text("Series")
    project = screen.server.projects.find("ward-by-year")
    give(project, FIRST, "spring.csv")
    page.reload()
    page.get_by_label("Name of the release").first.fill("spring")
    page.get_by_role("button", name="Add the release").click()
    expect(page.get_by_role("link", name="spring")).to_be_visible()
    give(project, SECOND, "summer.csv")
    page.reload()
    page.get_by_role("button", name="Price all ways").click()
    expect(page.locator("#plan")).to_contain_text("Appending this period as it is loses 0.429")
    expect(page.locator("#plan rect.lost")).to_have_count(4)
    shot(page, "series-plan")
    page.get_by_label("Name of the release").first.fill("summer")
    page.get_by_label("Way", exact=True).select_option("found")
    page.get_by_role("button", name="Add the release").click()
    expect(page.get_by_role("link", name="summer")).to_be_visible()
    page.get_by_role("button", name="Check all of them together").click()
    expect(page.locator("#verdict")).to_contain_text("Yes: (k, m)-series")
    looks(page, "series")
    page.get_by_text("Forget a person").click()
    page.get_by_label("Id, as in the files").fill("ann")
    page.get_by_role("button", name="Forget").click()
    expect(page.locator(".good").first).to_contain_text("Forgotten: this person's items in")
    assert "ann" not in page.url
    page.get_by_role("link", name="summer").click()
    expect(page.locator(".good").first).to_contain_text("The promise holds.")
    looks(page, "series-release")
