"""The built site: nothing dead, nothing from elsewhere, every option and key found, search that answers."""

from __future__ import annotations

import functools
import http.server
import os
import re
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

from crawler import content, findings, pages, read
from setveil.report.record import Record
from setveil.studio.projects import _KEPT
from setveil.work.studies.compare import settings, study
from studio_browser import accessible, expect

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

ROOT = Path(__file__).resolve().parents[2]
SITE = Path(os.environ.get("SETVEIL_SITE", ROOT / "site")).resolve()
EXAMPLES = sorted((ROOT / "docs" / "examples").glob("plot_*.py"))
SHOTS = os.environ.get("SETVEIL_SITE_SHOTS")  # a folder for pictures of the pages

pytestmark = [
    pytest.mark.site,
    pytest.mark.skipif("SETVEIL_SITE" not in os.environ, reason="SETVEIL_SITE names no built site"),
]


def test_nothing_is_dead_without_a_text_or_from_elsewhere() -> None:
    assert list(findings(SITE)) == []


def test_there_are_at_least_sixty_pages_with_content() -> None:
    assert len(content(SITE)) >= 60


def test_every_page_can_be_reached_from_the_first() -> None:
    seen, ahead = {SITE / "index.html"}, [SITE / "index.html"]
    while ahead:
        at = ahead.pop()
        for link in read(at).links:
            parts = urlsplit(link)
            target = (at.parent / parts.path).resolve() if parts.path else at
            if not parts.scheme and not parts.netloc and target.suffix == ".html" and target not in seen:
                seen.add(target)
                ahead.append(target)
    assert {*pages(SITE)} - seen - {SITE / "search.html"} == set()


def test_the_first_page_is_read_in_a_minute() -> None:
    text = (ROOT / "docs" / "index.md").read_text("utf-8")
    text = re.sub(r"```[^`]*```|^:+[^\n]*$|\]\([^)]*\)", "", text, flags=re.M)
    assert len(re.findall(r"[\w^]+", text)) <= 250


def test_seven_sections_are_on_top() -> None:
    page = (SITE / "index.html").read_text("utf-8")
    top = page.partition('class="bd-navbar-elements')[2].partition("</ul>")[0]
    assert re.findall(r"nav-internal\" href=\"[^\"]*\">\s*([^<]+?)\s*<", top) == [
        "Start", "Guides", "Studio", "Understand", "Reference", "Research", "Develop",
    ]  # fmt: skip


# The command line, files, the API, the gallery.


def test_every_option_of_the_program_has_an_anchor() -> None:
    from setveil.cli.app import app_for

    number = 0
    for name in app_for([]).commands:
        command = app_for([name]).commands[name]
        below = getattr(command, "commands", {"": command})
        for word, one in below.items():
            whole = f"{name}-{word}".rstrip("-")
            there = read(SITE / "commands" / f"{whole}.html").ids
            context = one.make_context(name, [], resilient_parsing=True)
            for option in one.get_params(context):
                if option.param_type_name == "option" and not option.hidden:
                    for spelt in [*option.opts, *option.secondary_opts]:
                        assert f"cmdoption-setveil-{whole}-{spelt.lstrip('-')}" in there, (whole, spelt)
                        number += 1
    assert number > 400


def keys_of(kind: object, where: str = "report-") -> Iterator[str]:
    from typing import get_args, get_type_hints, is_typeddict

    if is_typeddict(kind):
        for name, part in get_type_hints(kind).items():
            yield f"{where}{name}"
            yield from keys_of(part, f"{where}{name}.")
    for part in get_args(kind):
        yield from keys_of(part, where)


def test_every_key_of_a_file_has_an_anchor() -> None:
    there = read(SITE / "record.html").ids
    assert {*keys_of(Record)} - there == set()
    assert {"about-guarantee", "about-labels", "about-domain"} - there == set()
    assert {f"project-{key}" for key in _KEPT} - read(SITE / "studio.html").ids == set()
    known = {*study._TOP, *study._GRID, *settings.MEASURING, *settings.LIMITS}
    assert {f"study-{key}" for key in known} - read(SITE / "compare.html").ids == set()
    parameters = {f"parameter-{key}" for key in settings.promise_options()}
    assert parameters - read(SITE / "compare.html").ids == set()


def test_every_public_name_has_a_page() -> None:
    import setveil

    for name in setveil.__all__:
        assert f"setveil.{name}" in read(SITE / "api" / f"setveil.{name}.html").ids, name


@pytest.mark.parametrize("script", EXAMPLES, ids=[path.stem for path in EXAMPLES])
def test_an_example_leads_to_the_names_that_it_uses_and_back(script: Path) -> None:
    import setveil

    text = script.read_text("utf-8")
    page = f"{script.stem}.html"
    for name in sorted({*re.findall(r"\bsv\.(\w+)", text)} & {*setveil.__all__}):
        there = [link.partition("#")[0] for link in read(SITE / "gallery" / page).links]
        assert f"../api/setveil.{name}.html" in there, name
        back = [link.partition("#")[0] for link in read(SITE / "api" / f"setveil.{name}.html").links]
        assert f"../gallery/{page}" in back, name


# In a browser: search, and who sees or moves otherwise.


@pytest.fixture
def context(chrome: Browser) -> Iterator[BrowserContext]:
    made = chrome.new_context()
    yield made
    made.close()


@pytest.fixture(scope="module")
def served() -> Iterator[str]:
    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(SITE)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()


def listened(context: BrowserContext) -> tuple[Page, list[str]]:
    """Open a page, and list its requests to other hosts, and its errors."""
    wrong: list[str] = []
    page = context.new_page()
    page.on("console", lambda said: wrong.append(said.text) if said.type in {"error", "warning"} else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))

    def look(url: str) -> None:
        if not url.startswith(("file://", "http://127.0.0.1:", "data:", "blob:")):
            wrong.append(f"asked for {url}")

    page.on("request", lambda request: look(request.url))
    return page, wrong


@pytest.mark.browser
@pytest.mark.browser
@pytest.mark.parametrize("over", ["file", "loopback"])
@pytest.mark.parametrize("words", ["suppress", "k-anonymity", "truffle oil"])
def test_search_answers(context: BrowserContext, served: str, over: str, words: str) -> None:
    page, wrong = listened(context)
    start = SITE.as_uri() if over == "file" else served
    page.goto(f"{start}/search.html?q={words.replace(' ', '+')}")
    expect(page.locator("#search-results ul.search li").first).to_be_visible()
    first = page.locator("#search-results ul.search li a").first
    first.click()
    expect(page.locator("article h1").first).to_be_visible()
    assert wrong == []


SHOWN = {
    "index": "index.html",
    "ten-minutes": "ten_minutes.html",
    "tables": "tables.html",
    "api": "api/setveil.anonymize.html",
    "gallery": "gallery/index.html",
    "example": f"gallery/{EXAMPLES[0].stem}.html",
    "cli": "commands/verify.html",
    "map": "which_promise.html",
}


CUT_OFF = """() => {
    const moves = one => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
    const texts = document.querySelectorAll("article :is(p, li, dt, dd, h1, h2, h3, label)");
    return [...texts].filter(one => {
        for (let at = one; at.matches("article *"); at = at.parentElement) if (moves(at)) return false;
        return one.getBoundingClientRect().right > document.documentElement.clientWidth + 1;
    }).map(one => one.textContent.slice(0, 60));
}"""  # wider than the page, and not inside a scrollable element


@pytest.mark.browser
@pytest.mark.browser
@pytest.mark.parametrize("name", SHOWN)
def test_pages_are_accessible(context: BrowserContext, name: str) -> None:
    page, wrong = listened(context)
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for dark in (False, True):
            page.emulate_media(color_scheme="dark" if dark else "light", reduced_motion="reduce")
            page.goto(f"{SITE.as_uri()}/{SHOWN[name]}")
            if SHOTS:
                Path(SHOTS).mkdir(parents=True, exist_ok=True)
                kind = "dark" if dark else "light"
                page.screenshot(path=Path(SHOTS) / f"{name}-{width}-{kind}.png", full_page=True)
            assert wrong == []
            assert page.evaluate(CUT_OFF) == []
            accessible(page)
            wrong.clear()  # axe itself requests style sheets again
