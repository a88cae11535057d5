"""Words, terms and clicks on the way to a first release in the studio.

    python benchmarks/studio_words.py [--text] [--shots FOLDER] [PATH ...]

Goes from the first page to a release of made-up baskets, of a hospital table and of a log with dates (demo
files) in Chromium. Prints for each: the clicks, the words that a person sees on the way, and the terms of
docs/glossary.md among them. A word is a run of letters in a visible line of `main`, which excludes closed
folds, hidden text, and what the file says itself (rows, names of columns, groups). A line that several
pages show counts once. `--text` prints the lines of each page.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / name) for name in ("", "studio")]

from cli_helpers import COMMAND  # noqa: E402
from studio_browser import chromium, see_release, serve  # noqa: E402

GLOSSARY = Path(__file__).parents[1] / "docs" / "glossary.md"
HOMONYMS = {"Groups", "Counts", "Part", "p"}  # the pages use these words in another sense
DATA = "#rows, #tree, .side #what, pre, code, .item, .five tbody, .files, .projects, option, tbody th"
PATHS = {
    "baskets": ([], "baskets.csv", ["Read it like this", "Next: groups", "Group by rows"]),
    "table": (["--ward"], "ward.csv", ["Read it as this table", "Next: groups", "Group by code"]),
    "log": (
        ["--log"],
        "log.csv",
        ["Read it as this log", "It is 19 March", "Read it as this log", "Next: groups", "Group by code"],
    ),
}
VISIBLE = """hidden => {
    const texts = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT), found = [];
    let last = null;
    while (texts.nextNode()) {
        const text = texts.currentNode, parent = text.parentElement;
        if (!text.data.trim() || parent.closest(hidden) || !parent.checkVisibility()) continue;
        const box = parent.getBoundingClientRect();
        if (box.width < 2 || box.height < 2) continue;
        const block = parent.closest("p, li, label, legend, th, td, dt, dd, h1, h2, h3, button, summary");
        if (block && block === last) found[found.length - 1] += text.data; else found.push(text.data);
        last = block;
    }
    return found.map(line => line.trim().replace(/\\s+/g, " "));
}"""


@dataclass
class Reader:
    """A person who goes through the pages, and what they have seen."""

    page: Page
    shots: Path | None = None  # folder for pictures
    clicks: int = 0
    lines: dict[str, list[str]] = field(default_factory=dict)  # by page, each once

    def read(self, name: str) -> None:
        """Read the page as it is at first."""
        self.page.wait_for_load_state()
        self.page.wait_for_timeout(1500)
        before = {line for lines in self.lines.values() for line in lines}
        lines = self.page.evaluate(VISIBLE, DATA)
        if self.shots:
            for width in (400, 1280):
                self.page.set_viewport_size({"width": width, "height": 800})
                self.page.screenshot(path=self.shots / f"{name}-{width}.png", full_page=True)
        self.lines[f"{len(self.lines) + 1} {name}"] = [x for x in dict.fromkeys(lines) if x not in before]

    def click(self, name: str) -> None:
        """Click a button or a link, once it is there."""
        self.clicks += 1
        target = self.page.get_by_role("button", name=name).or_(self.page.get_by_role("link", name=name))
        target.first.click()


def walk(page: Page, start: str, name: str, home: Path, shots: Path | None) -> Reader:
    """Go from the first page to a release."""
    options, file, choices = PATHS[name]
    subprocess.run([*COMMAND, "demo", *options], cwd=home, check=True, stdout=subprocess.DEVNULL)
    reader = Reader(page, shots)
    page.goto(start)
    reader.read("start")
    page.get_by_label("What is your project called?").fill(name)
    reader.click("Open a file of yours")
    page.get_by_label("Path of the file").wait_for()
    reader.read("file")
    page.get_by_label("Path of the file").fill(str(home / "setveil-demo-input" / file))
    reader.click("Open it")
    page.wait_for_url(re.compile("/data(/reading)?$"))
    for choice in choices:
        target = page.get_by_role("button", name=choice).or_(page.get_by_role("link", name=choice))
        target.first.wait_for()
        reader.read(choice)
        reader.click(choice)
    page.get_by_role("treeitem").first.wait_for()
    reader.read("groups")
    reader.click("Keep these groups")
    page.get_by_role("button", name="Take this promise").wait_for()
    page.locator("#computing").wait_for(state="hidden", timeout=300_000)
    reader.read("promise")
    reader.click("Take this promise")
    page.get_by_role("button", name="Make the release").wait_for()
    reader.read("run")
    reader.click("Make the release")
    see_release(page)
    reader.read("release")
    return reader


def terms() -> dict[str, re.Pattern[str]]:
    """Return the terms of the glossary, each with how a text names it."""
    found = {}
    for entry in re.findall(r"^(\*\*.+?)(?:\n\n|\Z)", GLOSSARY.read_text(encoding="utf-8"), re.M | re.S):
        for head in re.findall(r"\*\*([^*]+?)\.?\*\*", entry):
            for term in re.split(r", |\. ", head.rstrip(".,")):
                short = len(term) < 4
                ends = r"(?![\w-])" if short else r"(?:s|es)?(?![\w-])"
                if term in HOMONYMS:
                    continue
                found[term] = re.compile(rf"(?<![\w-]){re.escape(term)}{ends}", 0 if short else re.I)
    return found


def main() -> None:
    """Walk and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("paths", nargs="*", choices=[*PATHS, []], default=[])
    parser.add_argument("--text", action="store_true", help="print the lines of each page")
    parser.add_argument("--shots", type=Path, help="folder for pictures of the pages")
    arguments = parser.parse_args()
    expect.set_options(timeout=180_000)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        home = Path(place)
        server = serve(home)
        try:
            browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
            page = browser.new_page(reduced_motion="reduce", viewport={"width": 1280, "height": 800})
            page.set_default_timeout(60_000)
            page.goto(server.first)
            page.wait_for_url("**/s/*/")
            start = page.url
            for name in arguments.paths or PATHS:
                report(name, walk(page, start, name, home, arguments.shots), with_text=arguments.text)
            browser.close()
        finally:
            server.stop()


def report(name: str, reader: Reader, *, with_text: bool) -> None:
    """Print what a reader has met."""
    counts = {at: sum(len(re.findall(r"[^\W\d_]+(?:['-][^\W\d_]+)*", one)) for one in lines)
              for at, lines in reader.lines.items()}  # fmt: skip
    every = "\n".join(line for lines in reader.lines.values() for line in lines)
    met = [term for term, pattern in terms().items() if pattern.search(every)]
    print(f"{name}: {reader.clicks} clicks, {sum(counts.values())} words, {len(met)} terms")
    print(f"  {', '.join(f'{at} {number}' for at, number in counts.items())}")
    print(f"  {', '.join(met)}", flush=True)
    if with_text:
        for at, lines in reader.lines.items():
            print(f"\n== {at}", *lines, sep="\n  ")


if __name__ == "__main__":
    main()
