"""The time of the studio's pages in a real Chromium, and the memory of its server.

    python benchmarks/studio.py [--runs N]

Prints a line for each figure: the median of several runs in seconds, with its limit. The browser is running
already when a clock starts; a first run, in which kernels and bytecode may be compiled, does not count.
`first page`: from the command to the list of projects. `150,000 rows` and `110,000 nodes`: from the address
to rows, or lines of the tree, on the screen, with data that have been read before (`again`) and in a studio
that was started five seconds ago (`cold`). `a code is moved`: from Ctrl+V to the message that a code is in
another chapter. `slider`: from a key on the slider of k to the figures next to it.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, Page, sync_playwright

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / name) for name in ("", "studio")]

from studio_browser import Server, chromium, serve  # noqa: E402

ROWS, LEAVES, GROUPS = 150_000, 100_000, 10_420
GOODS = [f"product {number:03}" for number in range(150)]


def write_baskets(path: Path) -> Path:
    """Make up baskets, some products far more frequent than others."""
    rng = random.Random(1)  # noqa: S311
    weights = [1 / (1 + at) ** 0.7 for at in range(len(GOODS))]
    with path.open("w", encoding="utf-8") as file:
        for _ in range(ROWS):
            drawn = rng.choices(GOODS, weights, k=rng.randint(1, 11))
            file.write(",".join(dict.fromkeys(drawn)) + "\n")
    return path


def write_codes(folder: Path) -> tuple[Path, Path]:
    """Make up a tree of codes, and rows of some of them."""
    rng = random.Random(2)  # noqa: S311
    codes = [f"C{number:06}" for number in range(LEAVES)]
    tree, rows = folder / "tree.csv", folder / "codes.csv"
    with tree.open("w", encoding="utf-8") as file:
        for number, code in enumerate(codes):
            group = number * (GROUPS - 420) // LEAVES
            file.write(f"{code};group {group:05};chapter {group // 25:03};all codes\n")
    with rows.open("w", encoding="utf-8") as file:
        for _ in range(20_000):
            drawn = {codes[int(LEAVES * rng.random() ** 3)] for _ in range(rng.randint(1, 8))}
            file.write(",".join(sorted(drawn)) + "\n")
    return rows, tree


def entered(browser: Browser, server: Server, address: str) -> tuple[Page, str]:
    """Come in; return the page and what its addresses begin with."""
    page = browser.new_context(viewport={"width": 1280, "height": 800}).new_page()
    page.goto(address)
    page.wait_for_url("**/s/*/")
    page.get_by_role("heading", name="Your projects").wait_for()
    return page, page.url.rstrip("/")


def first_page(browser: Browser, folder: Path) -> float:
    """Time from the command to the first page."""
    start = time.perf_counter()
    server = serve(folder)
    page, _ = entered(browser, server, server.first)
    seconds = time.perf_counter() - start
    page.context.close()
    server.stop()
    return seconds


def shown(page: Page, address: str, sign: str) -> float:
    """Time from an address to something on its page."""
    page.goto("about:blank")
    start = time.perf_counter()
    page.goto(address, wait_until="commit")
    page.locator(sign).first.wait_for()
    return time.perf_counter() - start


def elements(page: Page) -> int:
    """Count the elements of a page."""
    return int(page.evaluate("document.querySelectorAll('*').length"))


def slider(page: Page, prefix: str, name: str, runs: int) -> list[float]:
    """Time from a key on the slider of k to the figures next to it, in the page's own clock."""
    page.goto(f"{prefix}/p/{name}/promise")
    page.get_by_role("button", name="Compute what promises cost").click()
    page.locator("#computing").wait_for(state="hidden", timeout=300_000)
    page.evaluate(
        """() => {
        const here = document.getElementById("here"), slider = document.getElementById("k-step");
        window.times = [];
        let start = 0;
        slider.addEventListener("keydown", () => { start = performance.now(); }, true);
        new MutationObserver(() => requestAnimationFrame(() => {
            if (start) { window.times.push((performance.now() - start) / 1000); start = 0; }
        })).observe(here, { childList: true, subtree: true, characterData: true });
        slider.focus(); }"""
    )
    for number in range(runs):
        page.keyboard.press("ArrowRight" if number % 2 else "ArrowLeft")
        page.wait_for_timeout(300)
    found: list[float] = page.evaluate("window.times")
    return found


def moves(page: Page, address: str, runs: int) -> list[float]:
    """Time from a key to the message that a code of the tree was moved."""
    page.goto(address)
    page.locator("#loading").wait_for(state="hidden")
    found = []
    for number in range(runs):
        code, chapter = f"C{LEAVES - 1 - number:06}", f"chapter {number:03}"
        page.locator("#find").fill(code)
        page.locator("#what").get_by_text(code, exact=True).wait_for()
        page.get_by_role("tree").focus()
        page.keyboard.press("Control+x")
        page.keyboard.press("Home")
        page.keyboard.type(chapter)
        page.locator("#what").get_by_text(chapter, exact=True).wait_for()
        start = time.perf_counter()
        page.keyboard.press("Control+v")
        page.locator("#said").get_by_text(f"Moved {code} into {chapter}.", exact=True).wait_for()
        found.append(time.perf_counter() - start)
    return found


def memory(server: Server) -> float:
    """Return the most memory that the server has taken, in MB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.findall(r"VmHWM:\s*(\d+) kB", status)[0]) / 1000


def report(what: str, values: list[float], limit: float, unit: str = "s") -> None:
    """Print a line."""
    print(f"{what:32} {median(values):8.2f} {unit:2} (limit {limit:g}; {len(values)} runs)", flush=True)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=5, help="of each case (default 5)")
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        folder = Path(place)
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        report("first page", [first_page(browser, folder) for _ in range(runs + 1)][1:], 1.5)

        server = serve(folder)
        rows, tree = write_codes(folder)
        many = server.project("Baskets", input=str(write_baskets(folder / "baskets.csv")), format="basket")
        codes = server.project("Codes", input=str(rows), format="basket", hierarchy=str(tree))
        cases: list[tuple[str, str, str]] = [
            ("150,000 rows", f"/p/{many.name}/data", "#rows .row"),
            ("110,000 nodes", f"/p/{codes.name}/hierarchy", "#lines [role=treeitem]"),
        ]
        page, prefix = entered(browser, server, server.way_in())
        for what, address, sign in cases:
            shown(page, prefix + address, sign)
            report(f"{what}, again", [shown(page, prefix + address, sign) for _ in range(runs)], 2)
            report(f"{what}, elements", [elements(page)], 1000, "")
        report("a code is moved", moves(page, f"{prefix}/p/{codes.name}/hierarchy", runs), 1)
        page.goto(f"{prefix}/")
        page.get_by_role("button", name="Try it with made-up shopping baskets").click()
        page.wait_for_url("**/data")
        report("slider", slider(page, prefix, page.url.split("/")[-2], 2 * runs), 0.1)
        report("server's memory", [memory(server)], 80, "MB")
        server.stop()
        for what, address, sign in cases:
            cold = [_cold(browser, folder, address, sign) for _ in range(runs)]
            report(f"{what}, cold", cold, 2)
        browser.close()


def _cold(browser: Browser, folder: Path, address: str, sign: str) -> float:
    server = serve(folder)
    page, prefix = entered(browser, server, server.first)
    page.wait_for_timeout(5000)
    seconds = shown(page, prefix + address, sign)
    page.context.close()
    server.stop()
    return seconds


if __name__ == "__main__":
    main()
