"""Draw the pictures of docs/studio.md and docs/report.md: pages with made-up data.

    python benchmarks/studio_pictures.py [--only baskets table series report] [--check] [FOLDER]

Needs `setveil[studio]`, Playwright, Pillow and a Chromium on the PATH. Writes studio-PAGE.png (1,280 pixels
wide, light), studio-PAGE-dark.png and studio-PAGE-narrow.png (320 pixels) for each page of the baskets, and
pictures of the release of a table, of a series and of a report, by default into docs/pictures. Each file
stores the words of its page; `--check` draws nothing and compares these with the pages of today.
"""

from __future__ import annotations

import argparse
import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from difflib import ndiff
from pathlib import Path

from PIL import Image, PngImagePlugin
from playwright.sync_api import Page, sync_playwright

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / name) for name in ("", "studio")]

from cli_helpers import COMMAND  # noqa: E402
from studio_browser import Server, chromium, serve  # noqa: E402
from studio_ward import FIRST, SECOND, give  # noqa: E402

PARTS = ("baskets", "table", "series", "report")
LOOKS = {"": (1280, "light"), "-dark": (1280, "dark"), "-narrow": (320, "light")}
TALLEST = 1500  # of what is kept of a page
REPORT_HEIGHT = 930
COLORS = 64
outdated: list[str] = []  # pictures whose words are not those of their pages
checking = [False]  # whether pictures are compared, not drawn
WORDS = "h1, h2, h3, legend, label, button, a.button, summary, th"  # of a page, without its figures


def main() -> None:
    """Go through the pages and draw each."""
    options = argparse.ArgumentParser(description="Draw the pictures of the studio.")
    options.add_argument("folder", nargs="?", type=Path, default=Path("docs/pictures"))
    options.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    options.add_argument("--check", action="store_true", help="Only compare the words of pictures and pages.")
    arguments = options.parse_args()
    checking[0] = arguments.check
    folder: Path = arguments.folder
    with tempfile.TemporaryDirectory() as home, sync_playwright() as playwright:
        server = serve(Path(home))
        as_root = ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        browser = playwright.chromium.launch(executable_path=chromium(), args=as_root)
        page = browser.new_page(reduced_motion="reduce")
        page.set_default_timeout(600_000)
        page.goto(server.first)
        page.wait_for_url("**/s/*/")
        start = page.url.rstrip("/")

        def draw(name: str) -> None:
            hide_home(page, home)
            keep_looks(page, folder, name)

        if "table" in arguments.only:
            draw_table(page, server, start, folder)
        if "series" in arguments.only:
            draw_series(page, server, start, folder, home)
        if "baskets" in arguments.only:
            page.goto(f"{start}/")
            walk(page, draw)
        if "report" in arguments.only:
            write_report(Path(home))
            page.goto((Path(home) / "release" / "internal" / "report.html").as_uri())
            page.set_viewport_size({"width": 980, "height": REPORT_HEIGHT})
            keep(page, folder / "report.png", REPORT_HEIGHT, words(page))
        browser.close()
        server.stop()
    if outdated:
        raise SystemExit(f"outdated: {', '.join(outdated)}")


def walk(page: Page, draw: Callable[[str], None]) -> None:
    """Make releases of the made-up baskets, and draw the pages on the way."""

    def press(name: str) -> None:
        page.get_by_role("button", name=name).or_(page.get_by_role("link", name=name)).first.click()

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
    if page.get_by_role("button", name="Compute this one").is_visible():  # on a busy machine
        press("Compute this one")
        page.get_by_role("button", name="Compute this one").wait_for(state="hidden")
        page.locator("#computing").wait_for(state="hidden")
    draw("promise")
    press("Take this promise")
    page.get_by_role("button", name="Make the release").wait_for()
    page.locator("#class-size").wait_for(state="hidden")  # of another method
    draw("run")
    press("Make the release")
    page.wait_for_url("**/release*")
    page.get_by_role("heading", name="Five rows before and after").wait_for()
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


def draw_table(page: Page, server: Server, start: str, folder: Path) -> None:
    """Make a release of a made-up ward, and draw the pages specific to tables."""
    home = server.projects.root.parent
    subprocess.run(
        [*COMMAND, "demo", "--ward", "--rows", "600"], cwd=home, check=True, stdout=subprocess.DEVNULL
    )
    data = home / "setveil-demo-input"
    project = server.project(
        "Ward", input=str(data / "ward.csv"), model="kkm", k=5, m="2", qi="age,sex,zip", set="diagnoses",
        hierarchy=["zip=prefix:4,3", str(data / "ward-codes.csv")], ranges="age", share="3/4",
    )  # fmt: skip
    out = project.runs / "one"
    made = [*COMMAND, "anonymize", "--config", str(project.toml), "--out", str(out)]
    subprocess.run(made, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    page.goto(f"{start}/p/{project.name}/release?run=one")
    page.locator("main details").evaluate_all("all => all.forEach(one => one.open = true)")
    page.locator(".fold > *:not(summary, [aria-labelledby=columns], [aria-labelledby=others])").evaluate_all(
        "all => all.forEach(one => one.remove())"
    )
    page.wait_for_timeout(300)
    first, last = page.locator("section[aria-labelledby=columns]"), page.locator("#others + p")
    top, end = first.bounding_box(), last.locator("xpath=..").bounding_box()
    if top is None or end is None:
        raise SystemExit("The page shows no columns, or no alternatives.")
    box = (0, int(top["y"]) - 16, 1280, int(end["y"] + end["height"]) + 16)
    keep(page, folder / "studio-release-table.png", TALLEST, words(page), box)


def draw_series(page: Page, server: Server, start: str, folder: Path, home: str) -> None:
    """Begin a series, and draw the cost of each way to continue."""
    page.goto(f"{start}/")
    page.get_by_text("Several releases about the same people").click()
    page.get_by_label("What is your series called?").fill("Ward by year")
    page.get_by_role("button", name="Begin a series").click()
    page.get_by_label("At least this many people must fit (k)").fill("2")
    page.get_by_label("for someone who knows this many items of a person (m)").fill("1")
    page.get_by_role("button", name="Begin the series").click()
    page.get_by_role("heading", name="Series", exact=True).wait_for()
    project = server.projects.find("ward-by-year")
    give(project, FIRST, "spring.csv")
    page.reload()
    page.get_by_label("Name of the release").first.fill("spring")
    page.get_by_role("button", name="Add the release").click()
    page.get_by_role("link", name="spring").wait_for()
    give(project, SECOND, "summer.csv")
    page.reload()
    page.get_by_role("button", name="Price all ways").click()
    page.locator("#plan rect.lost").nth(3).wait_for()
    hide_home(page, home)
    keep(page, folder / "studio-series.png", 1080, words(page))


def hide_home(page: Page, home: str) -> None:
    """Show a home that says nothing of the machine."""
    page.evaluate(
        """home => {
            const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (texts.nextNode()) {
                texts.currentNode.data = texts.currentNode.data.replace(home, "/home/ann");
            }
        }""",
        home,
    )


def words(page: Page) -> str:
    """Return the headings, labels and buttons that a page shows, one on each line, without figures."""
    shown = page.evaluate(
        """words => [...(document.querySelector("main") ?? document.body).querySelectorAll(words)]
            .filter(one => one.checkVisibility()).map(one => one.innerText)""",
        WORDS,
    )
    lines = [" ".join(re.sub(r"[0-9][0-9.,]*", "0", text).split()) for text in shown]
    return "\n".join(line for line in lines if line)


def stored_words(picture: Path) -> str:
    """Return the words that a picture stores."""
    with Image.open(picture) as image:
        image.load()
        return str(image.info.get("words", ""))


def keep_looks(page: Page, folder: Path, name: str) -> None:
    """Keep the looks of a page, and its words."""
    shown = words(page)
    for suffix, (width, scheme) in LOOKS.items():
        page.set_viewport_size({"width": width, "height": 800})
        page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
        page.wait_for_timeout(300)
        keep(page, folder / f"studio-{name}{suffix}.png", TALLEST, shown)
    page.set_viewport_size({"width": 1280, "height": 800})
    page.emulate_media(color_scheme="light")


def keep(
    page: Page, path: Path, tallest: int, shown: str, box: tuple[int, int, int, int] | None = None
) -> None:
    """Keep a picture of a page, or of a box of it, with its words."""
    if checking[0]:
        before = stored_words(path)
        if before != shown:
            changed = [line for line in ndiff(before.splitlines(), shown.splitlines()) if line[0] in "+-"]
            outdated.append(f"{path.name} ({'; '.join(changed)})")
        return
    stored = PngImagePlugin.PngInfo()
    stored.add_itxt("words", shown, zip=True)
    picture = Image.open(io.BytesIO(page.screenshot(full_page=True))).convert("RGB")
    picture = picture.crop(box or (0, 0, picture.width, min(picture.height, tallest)))
    picture.quantize(COLORS).save(path, optimize=True, pnginfo=stored)
    print(path, picture.size, path.stat().st_size, flush=True)


def write_report(folder: Path) -> None:
    """Make the release whose report docs/report.md shows."""
    about = ["--purpose", "Market study", "--recipient", "University", "--responsible", "J. Doe"]
    data = ["setveil-demo-input/baskets.csv", "--hierarchy", "setveil-demo-input/products.csv"]
    for arguments in (
        ["demo"],
        ["anonymize", *data, "--k", "5", "--m", "2", *about, "--external", "--out", "release"],
    ):
        subprocess.run([*COMMAND, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
