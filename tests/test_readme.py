"""The README is for newcomers: short, with the essentials; its earlier contents have another page."""

from __future__ import annotations

import re
import runpy
import tomllib
from shlex import quote

import pytest

from setveil.base.version import install
from setveil.judges.guarantees import models
from test_docs import PAGES, ROOT, links, slugs

README = ROOT / "README.md"
PICTURES = ROOT / "docs" / "pictures"

NUMBER = r"\d+(?:[.,]\d+)*"

# Each heading that the README once had, as an anchor, and where its words are now.
HOMES = {
    "setveil": "README.md#setveil",
    "install": "docs/start.md#install",
    "in-the-browser": "docs/start.md#in-the-browser",
    "a-first-example": "docs/ten_minutes.md#the-data",
    "the-same-in-python": "docs/ten_minutes.md#the-release",
    "what-the-release-still-answers": "docs/ten_minutes.md#answers-from-the-release",
    "tables": "docs/tables.md#tables",
    "algorithms": "docs/algorithms.md#algorithms",
    "other-promises": "docs/algorithms.md#other-guarantees",
    "choosing-by-looking": "docs/which_promise.md#choosing-by-looking",
    "reading-a-report": "docs/report.md#reading-a-report",
    "what-km-anonymity-does-not-protect-against": "docs/which_promise.md#limits-of-km-anonymity",
    "which-tool": "README.md#choosing-a-tool",
    "where-to-begin": "README.md#first-steps",
    "without-a-hierarchy": "docs/hierarchies.md#without-a-hierarchy",
    "formats": "docs/formats.md#formats",
    "limits": "docs/which_promise.md#limits-of-the-methods",
    "documentation": "docs/start.md#start",
    "citing": "README.md#more",
    "licence": "README.md#more",
}


def test_it_fits_three_screens() -> None:
    assert len(README.read_text("utf-8").splitlines()) <= 150


def test_it_says_what_is_not_protected() -> None:
    part = README.read_text("utf-8").partition("## Limits of k^m-anonymity\n")[2]
    assert len(re.findall("^- \\*\\*", part.partition("\n## ")[0], re.M)) == 6


@pytest.mark.parametrize(("former", "home"), HOMES.items())
def test_every_former_heading_has_a_home(former: str, home: str) -> None:
    path, _, anchor = home.partition("#")
    assert anchor in slugs((ROOT / path).read_text("utf-8")), former


def test_links_to_the_readme_find_their_heading() -> None:
    there = slugs(README.read_text("utf-8"))
    files = [*PAGES, *ROOT.glob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / ".github").rglob("*.yml")]
    found = [
        (file.name, anchor)
        for file in files
        for anchor in re.findall(r"README\.md#([\w-]+)", file.read_text("utf-8"))
    ]
    assert [one for one in found if one[1] not in there] == []


# Ten minutes: one example on the command line, in Python and in the studio.


def test_all_faces_show_the_same_figures() -> None:
    text = (ROOT / "docs" / "ten_minutes.md").read_text("utf-8")
    sets = re.findall(r"::::\{tab-set\}\n(.*?)\n::::\n", text, re.DOTALL)
    assert sets
    commands = "".join(text.split(":::{tab-item} Command line")) + (ROOT / "docs" / "risk.md").read_text(
        "utf-8"
    )
    known = set(
        re.findall(NUMBER, re.sub(r":::\{tab-item\} (?:Python|Studio).*?\n:::\n", "", commands, flags=re.S))
    )
    for one in sets:
        tabs = dict(re.findall(r":::\{tab-item\} (.+?)\n(.*?)\n:::", one, re.DOTALL))
        assert [*tabs] == ["Command line", "Python", "Studio"]
        for face in ("Python", "Studio"):
            shown = {re.sub(r"^(\d\.\d{4}).+", r"\1", number) for number in re.findall(NUMBER, tabs[face])}
            assert shown <= known, (face, shown - known)
    assert text.count("LM 0.0225") >= 3


# Choosing a promise


def test_every_promise_is_an_end_of_the_map() -> None:
    text = (ROOT / "docs" / "which_promise.md").read_text("utf-8")
    for name in models().keys() - {
        "km-anonymity",
        "km-rho",
        "rho-uncertainty",
        "disassociated",
        "differential-privacy",
    }:
        assert f"--model {name}" in text, name
    for implied in (
        "-a disassociation",
        "-a dp-blocks",
        "--k 5 --m 2`",
        "--k 5 --m 2 --rho 0.2 --sensitive",
        "FILE --rho 0.2 --sensitive",
    ):
        assert implied in text
    assert "which_promise.md" in list(links((ROOT / "docs" / "algorithms.md").read_text("utf-8")))


def test_five_rows_are_those_of_the_demo() -> None:
    """Drawn again, the picture is the same; its figures are those of `setveil risk` for the demo."""
    script = runpy.run_path(str(PICTURES / "five_rows.py"))
    found, alone = script["rows"]()
    drawn = (PICTURES / "five_rows.svg").read_text("utf-8")
    assert drawn == script["picture"](found, alone)
    assert (alone, len(found)) == ([567, 0], 5)
    assert "567 → 0" in drawn
    for page in ("README.md", "docs/index.md"):
        text = " ".join((ROOT / page).read_text("utf-8").split())
        assert "two known purchases single out 567 of 5,000 customers; after, nobody" in text


SETS_UP = re.compile(r"pip install (?:-e )?(?:\.|'\.\[([\w,]+)\]')(?![\w/])")


def test_every_page_installs_as_the_readme_does() -> None:
    """From a checkout, with extras that exist; messages name the libraries themselves."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["optional-dependencies"]
    for page in [*PAGES, *ROOT.glob("*.md")]:
        for line in re.findall("pip install .*", page.read_text("utf-8")):
            assert "setveil[" not in line, page
            for named in SETS_UP.findall(line):
                assert {*filter(None, named.split(","))} <= {*extras}, page
    assert not [file for file in (ROOT / "src").rglob("*.py") if "'setveil[" in file.read_text("utf-8")]
    for extra in ("dp", "paper", "plots", "query", "spark", "studio", "xlsx"):
        assert install(extra).split()[2:] == [quote(one) for one in sorted(extras[extra])] or extra == "spark"


def test_the_pictures_are_what_their_scripts_draw() -> None:
    before_after, promise_map = (
        runpy.run_path(str(PICTURES / f"{name}.py")) for name in ("before_after", "promise_map")
    )
    assert (PICTURES / "promise_map.svg").read_text("utf-8") == promise_map["picture"]()
    text = " ".join((ROOT / "docs" / "which_promise.md").read_text("utf-8").split())
    for question, ends in promise_map["QUESTIONS"]:
        assert " ".join(question).rstrip("?") in text
        for _, promise, command in ends:
            assert promise in text
            assert " ".join(command) in text
    # The numbers are those on docs/risk.md, which has a test of its own.
    drawn = re.findall(r">([\d,]+)</text>", (PICTURES / "before_after.svg").read_text("utf-8"))
    assert {"567", "2,457", "1,249"} <= set(drawn)
    assert before_after["grouped"]([567, 1816, 2702], 5000) == [567, 1249, 886, 2298]
    risk = (ROOT / "docs" / "risk.md").read_text("utf-8")
    assert re.search(r"2 items +567 \(11%\) +1,816 \(36%\) +2,702 \(54%\)", risk)
    assert re.search(r"3 items +2,457 \(49%\) +3,093 \(62%\) +3,463", risk)
