"""Each of the six pages with each kind of data, in a browser: rows, tables, groups, several files.

Names of files, columns and items that are HTML or scripts are shown as they are.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import studio_shop
from cli_helpers import setveil
from setveil.studio.pages.data_roles import joined as _joined
from setveil.studio.projects import Project
from studio_browser import Screen, Server, expect, framed, shot

if TYPE_CHECKING:
    from playwright.sync_api import Page

TEMPLATES = Path(__file__).parents[2] / "src" / "setveil" / "studio" / "templates"
TAKEN = "document.title='taken'"
HEADERS = (
    f'"><img src=x onerror="{TAKEN}">',
    f"' autofocus onfocus={TAKEN} '",
    "&quot;{{ 7 * 7 }}",
    "<b>items</b>",
)
FILE = f"\"><img src=x onerror={TAKEN}>&quot;'.csv"


def write_table(file: Path, headers: tuple[str, ...] = ("age", "sex", "town", "items")) -> str:
    """Write the shop's rows with three columns before them; some values and items are HTML."""
    towns = ("north", "south") if headers[0] == "age" else ('<i onclick="x">', "&amp;'\"")
    with file.open("w", encoding="utf-8", newline="") as lines:
        table = csv.writer(lines, lineterminator="\n")
        table.writerow(headers)
        for at, row in enumerate(studio_shop.rows(240)):
            table.writerow([str(20 + at % 8), "fm"[at % 2], towns[at // 3 % 2], ";".join(row)])
    return str(file)


def rows(project: Project, _folder: Path) -> None:
    studio_shop.fill(project, 240)
    project.save(k=5, m="2")


def sensitive(project: Project, folder: Path) -> None:
    rows(project, folder)
    (project.folder / "sensitive.csv").write_text("matches\nbleach\n")
    studio = {"sensitive": ["matches", "bleach"], "row": "customer"}
    project.save(rho="0.6", sensitive=str(project.folder / "sensitive.csv"), studio=studio)


def groups(project: Project, folder: Path) -> None:
    rows(project, folder)
    project.save(model="privacy-degree", k=None, m=None, p=2, sensitive="bleach", hierarchy=None)


def chunks(project: Project, folder: Path) -> None:
    rows(project, folder)
    project.save(algorithm="disassociation", hierarchy=None)


def classes(project: Project, folder: Path) -> None:
    """Rows of two kinds of customers, so that two classes answer better than one."""
    lines = ["tea,scone", "tea,honey", "beer,crisps", "beer,nuts"] * 58
    lines += ["tea,crisps", "tea,nuts", "beer,honey", "beer,scone"] * 2
    (folder / "two.csv").write_text("\n".join(lines) + "\n")
    (folder / "goods.csv").write_text(
        "".join(
            f"{item};{group};all\n"
            for group, items in {"drinks": "tea beer", "sweet": "scone honey", "salty": "crisps nuts"}.items()
            for item in items.split()
        )
    )
    paths = {"input": str(folder / "two.csv"), "hierarchy": str(folder / "goods.csv")}
    project.save(format="basket", k=5, m="2", classes=True, **{"class-size": 50}, **paths)


def files(project: Project, folder: Path) -> None:
    rows(project, folder)
    lines = (project.folder / "rows.csv").read_text().splitlines(keepends=True)
    (folder / "months").mkdir()
    for at, name in enumerate(("january", "february")):
        (folder / "months" / f"{name}.csv").write_text("".join(lines[at::2]))
    project.save(input=str(folder / "months"))


def table(project: Project, folder: Path) -> None:
    rows(project, folder)
    file = write_table(folder / "visits.csv")
    project.save(
        input=file, format=None, qi="age,sex,town", set="items", delimiter=";", model="kkm", k=5, m="2"
    )


def odd_table(project: Project, folder: Path) -> None:
    rows(project, folder)
    (folder / "<b>months").mkdir()
    file = write_table(folder / "<b>months" / FILE, HEADERS)
    names = {"qi": _joined(HEADERS[:3]), "set": _joined(HEADERS[3:])}
    project.save(input=file, format=None, delimiter=";", model="kkm", k=5, m="2", **names)


def facts(project: Project, folder: Path) -> None:
    """A log whose columns and codes are HTML, with months and bands."""
    rows(project, folder)
    names = ["who", HEADERS[0], HEADERS[3], HEADERS[2]]
    with (folder / FILE).open("w", encoding="utf-8", newline="") as lines:
        log = csv.writer(lines, lineterminator="\n")
        log.writerow(names)
        for at, row in enumerate(studio_shop.rows(240)):
            for item in row[: 1 + at % 2]:
                log.writerow([1000 + at, f"2024-{1 + at % 3:02}-{1 + at % 28:02}", f"<b>{item}", at % 7])
    codes = sorted({item for row in studio_shop.rows(240) for item in row})
    tree = [f"<b>{item};<i>{item[0]}</i>;all\n" for item in codes]
    (folder / "codes.csv").write_text("".join(tree))
    said = {
        "input": str(folder / FILE), "format": None, "hierarchy": str(folder / "codes.csv"), "k": 5, "m": "2",
        "id-column": "who", "set": names[2], "when": [f"{names[2]}={names[1]}:month"],
        "amount": [f"{names[3]}:1,3,5"],
    }  # fmt: skip
    project.save(**said)


def noise(project: Project, folder: Path) -> None:
    """Make counts with noise, whose rows belong to nobody."""
    rows(project, folder)
    project.save(model="differential-privacy", epsilon="1", k=None, m=None)


KINDS: dict[str, Callable[[Project, Path], None]] = {
    "rows": rows, "sensitive": sensitive, "groups": groups, "chunks": chunks, "classes": classes,
    "files": files, "table": table, "odd": odd_table, "facts": facts, "noise": noise,
}  # fmt: skip


def made(server: Server, kind: str, folder: Path) -> Project:
    project = server.project(f"Kind {kind}")
    KINDS[kind](project, folder)
    for name in ("one", "two"):
        external = [] if kind == "noise" else ["--external"]  # which is not supported for noise
        setveil("anonymize", "--config", project.toml, "--out", project.runs / name, *external).ok()
    return project


def unharmed(page: Page) -> None:
    """Nothing was run, and nothing was made of the names but text."""
    assert page.title() != "taken"
    assert page.locator("[onerror], [onfocus], [onclick], main img, main b > b").count() == 0


@pytest.mark.exhaustive
@pytest.mark.browser
@pytest.mark.parametrize("kind", KINDS)
def test_every_page_with_every_kind_of_data(screen: Screen, tmp_path: Path, kind: str) -> None:
    """With a table the page Data showed no rows and counted for ever."""
    project = made(screen.server, kind, tmp_path)
    rows = json.loads((project.runs / "one" / "internal" / "report.json").read_text())["input"]["rows"]
    page = screen.enter()

    def go(*parts: str, more: str = "") -> None:
        page.goto(screen.at("p", project.name, *parts) + more)
        expect(page.get_by_role("heading", level=1)).to_be_visible()
        unharmed(page)
        shot(page, f"kind-{kind}-{'-'.join(parts)}")

    page.goto(screen.at("p", project.name, "data"))
    expect(page.locator("#rows .row").first).to_be_visible()
    expect(page.locator("#rows .row").nth(4)).to_contain_text(
        re.compile("tea|coffee|milk|soap|juice|cheese|b")
    )
    if kind == "facts":  # each release counts them
        expect(page.get_by_role("heading", name="The parts of facts")).to_be_visible()
    else:
        expect(page.locator("#risk[data-ready]")).to_be_visible()
        expect(page.locator("#risk li").first).to_contain_text(f"of {rows:,} rows")
    if kind in {"table", "odd"}:
        headers = HEADERS if kind == "odd" else ("age", "sex", "town")
        for name in headers[:3]:
            expect(page.locator("#rows .row").first).to_contain_text(f"{name}: ")
    shot(page, f"kind-{kind}-data-counted")
    go("data")
    go("data", "pages")
    go("data", "reading")
    go("data", "file", more=f"?in={tmp_path}")
    go("hierarchy")
    if kind not in {"groups", "chunks"}:
        expect(page.locator(".line .name").first).to_be_visible()
    go("promise")
    go("run")
    go("release", more="?run=one")
    expect(page.get_by_text("The promise holds.")).to_be_visible()
    expect(page.locator(".rows-table tbody tr").first).to_be_visible()
    page.locator("main details").evaluate_all("all => all.forEach(one => one.open = true)")
    for title in ("Full report", "Page that may be shared")[: 1 if kind == "noise" else 2]:
        expect(framed(page, title).get_by_text("The guarantee holds").first).to_be_visible()
    unharmed(page)
    go("compare", more="?first=one&second=two")
    expect(page.locator("table.releases tbody tr").first).to_be_visible()


# --- attributes


def test_data_come_into_attributes_in_one_way() -> None:
    """Check text between quotation marks: Jinja escapes it, unless it is marked as safe, as by `tojson`."""
    for file in sorted(TEMPLATES.iterdir()):
        text = file.read_text()
        if file.name == "macros.html":
            assert text.count("tojson") == 2  # the macro, and its argument
            text = text.replace("| tojson | forceescape", "")
            text = re.sub(r"\{#.*?#\}", "", text, flags=re.DOTALL)
        assert not re.search(r"\|\s*(tojson|safe)\b|autoescape|Markup", text), file.name
        bare = re.findall(r"<[a-z][^<>]*\s[\w-]+=\{\{", text)
        assert not bare, (file.name, bare)
        assert not re.search(r"='[^']*\{\{[^']*'\s*[\s>]", re.sub(r"\{[{%].*?[%}]\}", "", text)), file.name


def test_data_for_scripts_are_one_attribute() -> None:
    from setveil.studio.render import templates

    macros = templates.get_template("macros.html").make_module()
    values = [*HEADERS, "</script>", "a\nb", "\u2028", "é"]
    written = str(macros.data("columns", values))  # type: ignore[attr-defined]
    import html

    found = re.fullmatch(r'data-columns="([^"<>\']*)"', written)
    assert found is not None, written
    assert json.loads(html.unescape(found[1])) == values


def test_scripts_make_no_html_of_texts() -> None:
    for file in sorted((TEMPLATES.parent / "static").glob("*.js")):
        text = file.read_text()
        unsafe = (
            r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|DOMParser|setHTML"
        )
        assert not re.search(unsafe, text), file.name
