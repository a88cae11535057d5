"""Draw the pictures of docs/studio.md: the studio's pages with the made-up baskets.

    python benchmarks/studio_pictures.py [FOLDER]

Needs `setveil[studio]`, Playwright, Pillow and a Chromium on the PATH. Writes studio-PAGE.png (1,280 pixels
wide, light), studio-PAGE-dark.png and studio-PAGE-narrow.png (320 pixels) for each page, by default into
docs/pictures.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Page, sync_playwright

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / name) for name in ("", "studio")]

from studio_browser import chromium, serve  # noqa: E402

LOOKS = {"": (1280, "light"), "-dark": (1280, "dark"), "-narrow": (320, "light")}
TALLEST = 1500  # of what is kept of a page
COLORS = 64


def main() -> None:
    """Go through the pages and draw each."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = serve(Path(home))
        as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(), args=as_root)
        page = browser.new_page(reduced_motion="reduce")
        page.set_default_timeout(600_000)
        page.goto(server.first)
        walk(page, folder, home)
        browser.close()
        server.stop()


def walk(page: Page, folder: Path, home: str) -> None:
    """Make releases of the made-up baskets, and draw the pages on the way."""

    def press(name: str) -> None:
        page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first.click()

    def draw(name: str) -> None:
        page.evaluate(
            """home => {
                const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
                while (texts.nextNode()) {
                    texts.currentNode.data = texts.currentNode.data.replace(home, "/home/ann");
                }
            }""",
            home,
        )  # a home that says nothing of the machine
        keep_looks(page, folder, name)

    press("Try it with made-up shopping baskets")
    press("End the tour")
    page.locator("#risk[data-ready]").wait_for()
    draw("data")
    press("Next: groups")
    page.get_by_role("treeitem").first.wait_for()
    page.get_by_role("treeitem").nth(1).click()
    draw("hierarchy")
    press("Keep these groups")
    page.locator("#computing").wait_for(state="hidden")
    draw("promise")
    press("Take this promise")
    page.get_by_role("button", name="Make the release").wait_for()
    draw("run")
    press("Make the release")
    page.wait_for_url("**/release*")
    draw("release")
    press("Keep for comparing")
    page.get_by_role("button", name="Do not keep for comparing").wait_for()
    press("Promise")
    page.locator("input#k").fill("20")
    press("Take this promise")
    press("Make the release")
    page.wait_for_url("**/release*")
    press("Keep for comparing")
    page.get_by_role("button", name="Do not keep for comparing").wait_for()
    press("Compare")
    page.get_by_role("heading", name="Releases side by side").wait_for()
    draw("compare")


def keep_looks(page: Page, folder: Path, name: str) -> None:
    """Keep the looks of a page."""
    for suffix, (width, scheme) in LOOKS.items():
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.wait_for_timeout(300)
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
        picture = picture.crop((0, 0, picture.width, min(picture.height, TALLEST)))
        path = folder / f"studio-{name}{suffix}.png"
        picture.quantize(COLORS).save(path, optimize=True)
        print(path, picture.size, path.stat().st_size)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


if __name__ == "__main__":
    main()
