"""The studio as a process, and pages of it in a real Chromium.

One server and one browser serve all tests of a process; each test has a browser context of its own. A test
fails on whatever its pages say on the console, and on any request that does not go to the studio.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

import studio_forks
from cli_helpers import COMMAND, environment
from setveil.base.jit import files
from setveil.studio.projects import Project, Projects
from setveil.studio.running import ask_running, word_for

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, FrameLocator, Locator, Page

SHOTS = os.environ.get("SETVEIL_STUDIO_SHOTS")  # a folder for pictures of the pages
_NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")


def chromium() -> str | None:
    """Find the system's Chromium."""
    return next((path for name in _NAMES if (path := shutil.which(name))), None)


def lacking_browser() -> str:
    """Return the reason why tests in a browser cannot run, if any."""
    try:
        import playwright.sync_api  # noqa: F401
    except ModuleNotFoundError:
        return "playwright is not installed"
    return "" if chromium() else "there is no Chromium"


def expect(found: Locator | Page) -> Any:
    """Expect a condition of a page, which may come true later (imported here, as it may be missing)."""
    from playwright.sync_api import expect as expecting

    return expecting(found)


@dataclass
class Server:
    """A studio under way.

    Attributes
    ----------
    projects : Projects
        The folder that it serves.
    """

    projects: Projects
    process: subprocess.Popen[str]
    origin: str = ""
    first: str = ""  # the address that it printed
    let_in: tuple[str, Any] | None = None  # the address of the pages, and the cookies of an accepted browser

    def way_in(self) -> str:
        """Return an address that opens the studio, once."""
        found = ask_running(self.projects.root, self.word.parent)
        assert found is not None
        return f"{self.origin}/enter#{found[1]}"

    @property
    def word(self) -> Path:
        """The file by which a second start finds this one."""
        return word_for(self.projects.root, self.projects.root.parent / "runtime" / "setveil")

    def project(self, title: str = "Pharmacy", **settings: Any) -> Project:
        """Make a project with these settings, without a page."""
        project = self.projects.create(title)
        project.save(**settings)
        return project

    def forget(self) -> None:
        """Delete all projects, with the work that still goes on for them."""
        import httpx

        if self.let_in is None:
            return
        at, cookies = self.let_in
        sent = {"origin": self.origin, "sec-fetch-site": "same-origin"}
        sent["cookie"] = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in cookies)
        for project in self.projects.all():
            form = {"name": project.name, "typed": project.title}
            answer = httpx.post(f"{at}/delete", data=form, headers=sent, timeout=60)
            assert answer.status_code == 303, answer.text

    def stop(self) -> None:
        with self.process:
            self.process.terminate()


def home(folder: Path) -> dict[str, str]:
    """Return the environment of a user whose home is this folder."""
    runtime = folder / "runtime"
    runtime.mkdir(mode=0o700, exist_ok=True)
    whose = {"HOME": str(folder), "USERPROFILE": str(folder), "XDG_RUNTIME_DIR": str(runtime)}
    return environment({**whose, "NUMBA_CACHE_DIR": str(files._caches())})  # nothing is compiled once more


def serve(folder: Path, *options: str, by: Sequence[str] = (), command: Sequence[str] = COMMAND) -> Server:
    """Start a studio with this folder as its home, by a command that runs another one."""
    process = subprocess.Popen(
        [*by, *command, "studio", "--no-browser", *options],
        env=home(folder),
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdout is not None
    address = process.stdout.readline().strip()
    return Server(Projects(folder / "setveil"), process, address.partition("/enter#")[0], address)


@dataclass
class Screen:
    """Pages of one browser context, and what they complained about."""

    server: Server
    context: BrowserContext
    prefix: str = ""
    wrong: list[str] = field(default_factory=list)

    def enter(self) -> Page:
        """Come in, and return the page, which shows the projects."""
        page = self.open()
        if self.server.let_in:  # as the browser that was: its cookie is good as long as the server
            self.prefix, cookies = self.server.let_in
            self.context.add_cookies(cookies)
            page.goto(f"{self.prefix}/")
            return page
        page.goto(self.server.way_in())
        page.wait_for_url("**/s/*/")
        self.prefix = page.url.rstrip("/")
        self.server.let_in = self.prefix, self.context.cookies()
        return page

    def open(self) -> Page:
        """Open one more page."""
        page = self.context.new_page()
        page.on("domcontentloaded", unfold)
        page.on("console", lambda said: self._hear(said.type, said.text, said.location.get("url", "")))
        page.on("pageerror", lambda error: self.wrong.append(f"error in a script: {error}"))
        page.on("request", lambda request: self._look(request.url))
        return page

    def at(self, *parts: str) -> str:
        """Make the address of a page, once entered."""
        return "/".join([self.prefix, *(quote(part, safe="") for part in parts)])

    def _hear(self, kind: str, text: str, url: str) -> None:
        refused = "400 (Bad Request)" in text or "422 (Unprocessable" in text  # the requests of a test
        if kind in {"error", "warning"} and not (refused and url.startswith(self.server.origin)):
            self.wrong.append(f"console: {kind}: {text} ({url})")

    def _look(self, url: str) -> None:
        if not url.startswith((f"{self.server.origin}/", "data:", "blob:", "about:")):
            self.wrong.append(f"request to {url}")


@pytest.fixture(scope="session")
def studio_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Serve a studio for the tests of this process, which forks its processes."""
    server = serve(tmp_path_factory.mktemp("home"), command=studio_forks.studio())
    yield server
    server.stop()


@pytest.fixture(scope="session")
def chrome() -> Iterator[Browser]:
    """Start the system's Chromium, which finds no other host than 127.0.0.1."""
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=180_000)  # other work may share the processors
    as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(),
            args=[*as_root, "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"],
        )
        yield browser
        browser.close()


@pytest.fixture
def screens(studio_server: Server, chrome: Browser) -> Iterator[Callable[..., Screen]]:
    """Open browser contexts, by default 1,280 pixels wide and light: ``screens(width=320, dark=True)``."""
    opened: list[Screen] = []

    def new(*, width: int = 1280, dark: bool = False, server: Server = studio_server) -> Screen:
        context = chrome.new_context(
            viewport={"width": width, "height": 800},
            color_scheme="dark" if dark else "light",
            reduced_motion="reduce",
            accept_downloads=True,
        )
        context.set_default_timeout(180_000)
        opened.append(Screen(server, context))
        return opened[-1]

    yield new
    for screen in opened:
        screen.context.close()
    studio_server.forget()  # otherwise abandoned requests would be computed to their end
    wrong = [wrong for screen in opened for wrong in screen.wrong]
    assert not wrong, "\n".join(wrong)


@pytest.fixture
def screen(screens: Callable[..., Screen]) -> Screen:
    """Open one browser context."""
    return screens()


def unfold(page: Page) -> None:
    """Open the folds of a page: tests use all; `test_studio_questions` says which are open at first."""
    from playwright.sync_api import Error

    with contextlib.suppress(Error):  # the page is gone already
        page.locator("details.fold, details.more, #exposed ~ details").evaluate_all(
            "all => all.forEach(one => { one.open = true; })"
        )


def framed(page: Page, title: str) -> FrameLocator:
    """Find what a frame of the page shows, which is loaded now and not when it comes into view.

    Playwright waits for ever, whatever its limits, for an answer from a frame that is never loaded; one that
    was in view for a moment only need not be.
    """
    page.locator(f"iframe[title='{title}']").evaluate("frame => { frame.loading = 'eager'; }")
    return page.frame_locator(f"iframe[title='{title}']")


def see_release(page: Page) -> None:
    """Wait for the release that is being made, and for the page that shows it.

    A page that comes when it is made already does not go there by itself, but has a link to it.
    """
    made = page.get_by_role("link", name="See the result")
    expect(made.or_(page.locator("#share"))).to_be_visible()
    if made.is_visible():
        made.click()
    page.wait_for_url("**/release*")


def accessible(page: Page, *, colors: bool = False) -> None:
    """Check a page by the rules of axe, or those about colors, and that nothing is cut off at its side."""
    from axe_playwright_python.base import AXE_FILE_PATH

    page.wait_for_load_state()  # a click waits for the next page to begin only, which may be empty then
    if not page.evaluate("'axe' in window"):
        # Not as a script of the page, which its policy refuses, but as one of the browser.
        page.evaluate(AXE_FILE_PATH.read_text(encoding="utf-8"))
    only = {"runOnly": ["cat.color"]} if colors else {}
    # axe is not in the frames, whose sandbox allows no script: it would call them unnecessarily.
    options = {"resultTypes": ["violations"], "iframes": False, **only}
    found = page.evaluate("asked => axe.run(document, asked)", options)
    said = [
        f"{rule['id']} ({rule['impact']}): {node['html'][:200]} {node['failureSummary'][:300]}"
        for rule in found["violations"]
        for node in rule["nodes"]
    ]
    assert not said, "\n".join(said)
    assert page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth") <= 0


def shot(page: Page, name: str) -> None:
    """Keep a picture of a page, where pictures are wanted."""
    if SHOTS:
        Path(SHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=Path(SHOTS) / f"{name}.png", full_page=True)


def looks(page: Page, name: str) -> None:
    """Check a page at 320 and 1,280 pixels, light and dark, and keep a picture of each.

    Light and dark differ in their colors alone: what is not about colors is checked once for each width.
    """
    for width in (320, 1280):
        page.set_viewport_size({"width": width, "height": 800})
        for dark in (False, True):
            page.emulate_media(color_scheme="dark" if dark else "light")
            accessible(page, colors=dark)
            shot(page, f"{name}-{width}-{'dark' if dark else 'light'}")
    page.emulate_media(color_scheme="light")
