"""Data whose names are scripts and HTML: every page shows them as they are, and runs none of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from cli_helpers import setveil
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.studio.projects import Project
from studio_browser import Screen, Server, expect

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = [pytest.mark.browser, pytest.mark.exhaustive]

SCRIPT = "<script>document.title='taken'</script>"
IMAGE = "<img src=x onerror=\"document.title='taken'\">"
ITEMS = [
    SCRIPT,
    IMAGE,
    "\"><svg onload=document.title='taken'>",
    "'; document.title='taken'; '",
    "</td></table></main><h1>taken</h1>",
    "{{ 7 * 7 }}",
    "{% for one in (1, 2) %}x{% endfor %}",
    "${document.title='taken'}",
    "javascript:document.title='taken'",
    '=HYPERLINK("http://taken.example")',
    "&lt;b&gt;",
    "../../etc/passwd",
    "\u202eelbirroh",
    "?find=x&run=y#z",
]
GROUP = "<b onmouseover=\"document.title='taken'\">group</b>"


def made(server: Server, folder: Path) -> Project:
    rows = [ITEMS[i % 5 : i % 5 + 3] for i in range(30)] + [ITEMS[5:9], ITEMS[9:13], ITEMS[10:14]] * 4
    rows += [[SCRIPT, ITEMS[13]], [IMAGE, ITEMS[8]]]
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    tree = Hierarchy.from_paths(
        [[item, GROUP if i < 7 else "</ul><hr>", "<i>all</i>"] for i, item in enumerate(ITEMS)]
    )
    write_hierarchy(tree, folder / "groups.csv")
    return server.project(
        f"Names {SCRIPT}",
        input=str(folder / "rows.jsonl"),
        format="jsonl",
        hierarchy=str(folder / "groups.csv"),
        k=3,
        m="2",
    )


def unharmed(page: Page) -> None:
    """Nothing was run, and nothing was made of the names but text."""
    assert page.title() != "taken"
    assert page.locator("h1:text-is('taken'), [onerror], [onload], [onmouseover], svg[onload]").count() == 0
    assert page.evaluate("[...document.scripts].every((script) => script.src.startsWith(location.origin))")


def test_every_page_shows_hostile_names_as_text(screen: Screen, tmp_path: Path) -> None:
    project = made(screen.server, tmp_path)
    for name, options in (("one", ()), ("two", ("--k", "8", "--algorithm", "aa"))):
        setveil("anonymize", "--config", project.toml, "--out", project.runs / name, *options).ok()
    page = screen.enter()
    page.on("dialog", lambda dialog: pytest.fail(f"a dialog: {dialog.message}"))
    expect(page.get_by_text(f"Names {SCRIPT}").first).to_be_visible()
    unharmed(page)

    page.goto(screen.at("p", project.name, "data"))
    expect(page.get_by_text(SCRIPT).first).to_be_visible()
    unharmed(page)

    page.goto(screen.at("p", project.name, "hierarchy"))
    group = page.locator(".line", has=page.get_by_text(GROUP, exact=True))
    group.click()
    expect(page.locator("#what")).to_have_text(GROUP)
    page.keyboard.press("*")
    for item in ITEMS[:7]:
        expect(page.locator(".line .name").get_by_text(item, exact=True)).to_be_visible()
    page.locator(".line", has=page.get_by_text(IMAGE, exact=True)).click()
    page.get_by_role("button", name="Move to...").click()
    expect(page.locator("#offers").get_by_text(GROUP).first).to_be_visible()
    page.get_by_label("Find a group").fill("</ul>")
    page.get_by_role("button", name="Put there").click()
    expect(page.locator("#said")).to_have_text(f"Moved {IMAGE} into </ul><hr>.")
    group.click()
    page.get_by_role("button", name="Rename").click()
    page.get_by_label("Name", exact=True).fill("<u>new</u>")
    page.keyboard.press("Enter")
    expect(page.locator("#said")).to_have_text(f"Renamed {GROUP} to <u>new</u>.")
    expect(page.locator("#problems u")).to_have_count(0)
    unharmed(page)

    for step in ("promise", "run"):
        page.goto(screen.at("p", project.name, step))
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        unharmed(page)

    page.goto(screen.at("p", project.name, "release") + "?run=one")
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    unharmed(page)
    why = page.get_by_role("button", name="Why?")
    if why.count():
        why.first.click()
        expect(page.locator("#why")).to_be_visible()
        expect(page.locator("#why form button").first).to_be_visible()
        unharmed(page)

    page.goto(screen.at("p", project.name, "compare") + "?first=one&second=two")
    expect(page.locator(".cuts", has_text=SCRIPT).first).to_be_visible()
    unharmed(page)
