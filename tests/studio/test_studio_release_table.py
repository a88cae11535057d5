"""The page Release of tables and other kinds: columns, rows, alternatives, published files."""

from __future__ import annotations

import hashlib
import html
import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pytest

import studio_shop
from cli_helpers import rows_of, setveil, table
from setveil.report.words import error, measure
from setveil.studio.pages.release_figures import neighbours_of, same_but_share
from setveil.studio.projects import Project
from studio_browser import Screen, Server, expect, looks
from studio_client import AtOnce, Client
from test_studio_kinds import FILE, HEADERS, KINDS


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


def local(project: Project, _folder: Path) -> None:
    studio_shop.fill(project, 240)
    project.save(k=5, m="2", algorithm="lra")


def made(client: Client, kind: str, folder: Path, **settings: Any) -> tuple[Project, dict[str, Any]]:
    project = client.studio.projects.create(f"Kind {kind}")
    {**KINDS, "local": local}[kind](project, folder)
    project.save(**settings)
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one").ok()
    return project, json.loads((project.runs / "one" / "internal" / "report.json").read_text())


def page_of(client: Client, project: Project, query: str = "") -> str:
    answer = client.get("p", project.name, f"release{query}")
    assert answer.status_code == 200, answer.text
    return answer.text


def lines(page: str, part: str) -> list[list[str]]:
    """The cells of the rows of a table of a page, as text."""
    found = re.search(rf'<table class="{part}">.*?</table>', page, re.DOTALL)
    assert found is not None
    cells = re.compile(r"<t[hd].*?</t[hd]>", re.DOTALL)
    return [
        [html.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in cells.findall(row)]
        for row in re.findall(r"<tr.*?</tr>", found[0], re.DOTALL)
    ]


def without_why(text: str) -> str:
    return re.sub(r", \w+ of row [\d]+: why\?", "", text)


@pytest.mark.parametrize("algorithm", ["rt", "forest"])
def test_columns_stand_as_columns(client: Client, tmp_path: Path, algorithm: str) -> None:
    project, report = made(client, "table", tmp_path, algorithm=algorithm)
    page = page_of(client, project)
    for name, lost in report["utility"]["column_losses"].items():
        assert re.search(rf">{name}</h4>\s*<p><b>{re.escape(measure(lost))}</b> lost", page)
    shown = [[without_why(cell) for cell in line] for line in lines(page, "rows-table")]
    assert shown[0] == ["Row", "Before or after", "age", "sex", "town", "items"]
    original = table(tmp_path / "visits.csv")
    released = table(project.runs / "one" / "published" / "data.csv")
    places = [int(place) for _, place in table(project.runs / "one" / "internal" / "rows.csv")[1:]]
    assert len(shown) == 21
    for row in range(10):
        before, after = shown[1 + 2 * row], shown[2 + 2 * row]
        assert before[:5] == [str(row + 1), "before", *original[row + 1][:3]]
        assert set(before[5].split(", ")) == set(original[row + 1][3].split(";"))
        expected = released[places[row] + 1]
        assert after[:4] == ["after", *expected[:3]]
        assert set(after[4].split(", ")) == set(expected[3].split(";")) or (after[4], expected[3]) == (
            "nothing",
            "",
        )


def test_distributions_add_up_to_the_rows(client: Client, tmp_path: Path) -> None:
    project, report = made(client, "table", tmp_path)
    page = page_of(client, project)
    tables = re.findall(r'<table class="bins">.*?</table>', page, re.DOTALL)
    assert len(tables) == 3
    ages = [int(line[0]) for line in table(tmp_path / "visits.csv")[1:]]
    for bins in tables:
        found = re.findall(r'<th scope="row">(.*?)</th><td class="number">([\d,]+)</td>', bins)
        assert sum(int(rows) for _, rows in found) == report["input"]["rows"]
        if found[0][0] == "20":
            assert [(value, int(rows)) for value, rows in found] == [
                (str(age), ages.count(age)) for age in range(20, 28)
            ]


def test_errors_are_named_by_what_is_counted(client: Client, tmp_path: Path) -> None:
    project, report = made(client, "table", tmp_path)
    page = page_of(client, project)
    off = error(report["answers"]["table_are"]["median"])
    what = "counts of random combinations of columns and items are typically off by that much"
    assert f"<dd>{off}</dd><dt>{what}" in page


def test_who_is_found_alone_is_said_as_in_the_report(client: Client, tmp_path: Path) -> None:
    """Of a table someone may know the columns alone: that has a line, too."""
    project, report = made(client, "table", tmp_path)
    page = page_of(client, project)
    assert "who knows all quasi-identifiers and a person&#39;s most identifying items" in page
    alone = [
        {one["m"]: one["rows_below"]["2"] for one in report["risk"][side]["risk"] if one["choice"] == "best"}
        for side in ("before", "after")
    ]
    assert 0 in alone[0]
    for m in alone[0]:
        what = "none" if m == 0 else f"{m} item{'s' if m > 1 else ''}"
        found = re.search(rf'<th scope="row">{what}</th><td[^>]*>([^<]*)</td><td[^>]*>([^<]*)</td>', page)
        assert found is not None
        assert [cell.removeprefix("about ") for cell in found.groups()] == [
            f"{round(side[m]):,}" for side in alone
        ]


def test_what_else_could_be_had(client: Client, tmp_path: Path) -> None:
    """The releases that were tried are those of the record; the ones for other shares are added."""
    project, report = made(client, "table", tmp_path)
    setveil("anonymize", "--config", project.toml, "--share", "1/2", "--out", project.runs / "half").ok()
    setveil("anonymize", "--config", project.toml, "--k", 6, "--out", project.runs / "other").ok()
    page = page_of(client, project, "?run=one")
    found = re.search(r'data-points="(.*?)"', page)
    assert found is not None
    points = json.loads(html.unescape(found[1]))
    tried = {(one["relational_loss"], one["transaction_loss"]) for one in report["frontier"]}
    assert {(one["R"], one["T"]) for one in points if not one["run"] or one["here"]} == tried
    (half,) = (one for one in points if one["run"] and not one["here"])
    record = json.loads((project.runs / "half" / "internal" / "report.json").read_text())["utility"]
    assert (half["run"], half["name"]) == ("half", "release for a share of 50%")
    assert (half["R"], half["T"]) == (record["relational_loss"], record["transaction_loss"])
    assert "Make the releases for a share of 10%<" in page
    (here,) = (one for one in points if one["here"])
    least = min(0.25 * one["R"] + 0.75 * one["T"] for one in points if not one["run"] or one["here"])
    assert 0.25 * here["R"] + 0.75 * here["T"] == pytest.approx(least)

    answer = client.post("p", project.name, "release", "share", data={"percent": "35"})
    assert answer.status_code == 303
    assert project.settings()["share"] == "7/20"
    assert client.post("p", project.name, "release", "share", data={"percent": "101"}).status_code == 400
    again = client.post("p", project.name, "release", "neighbours", data={"run": "../one"})
    assert again.status_code == 404


def test_no_neighbours_are_offered_of_a_run_that_was_made_in_python(client: Client, tmp_path: Path) -> None:
    """Check a release whose record does not contain the request."""
    project, report = made(client, "table", tmp_path)
    assert "Make the releases for a share of" in page_of(client, project)
    del report["options"]
    (project.runs / "one" / "internal" / "report.json").write_text(json.dumps(report))
    page = page_of(client, project)
    assert "Alternatives" in page
    assert "Make the releases for a share of" not in page
    client.post("p", project.name, "release", "neighbours", data={"run": "one"})
    assert client.studio.jobs.of(project) == []


QUESTIONS = ("why", "query", "verify", "stranger", "absent", "checker")


def forms(page: str) -> dict[tuple[str, ...], dict[str, str]]:
    """Of the forms that ask something, the first of each kind with its fields as the page fills them."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for question, inside in re.findall(r'<form[^>]*/release/([a-z]+)"[^>]*>(.*?)</form>', page, re.DOTALL):
        fields: dict[str, str] = {}
        for tag in re.findall(r"<(?:input|textarea)[^>]*>", inside):
            name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
            if name:
                fields[html.unescape(name[1])] = html.unescape(value[1]) if value else ""
        if question in QUESTIONS:
            found.setdefault((question, *fields), fields)
    return found


TYPED = {"fraction": "5%", "items": "yoghurt"}  # into fields that are empty
KNOWN = {"classes": "tea", "facts": "all@2024-01@<1"}  # what there is in place of yoghurt


@pytest.mark.parametrize("kind", KINDS)
def test_every_question_that_is_offered_is_answered(kind: str, tmp_path: Path) -> None:
    client = Client(tmp_path / "setveil", AtOnce())
    project, _ = made(client, kind, tmp_path)
    offered = forms(page_of(client, project))
    counted = set() if kind == "groups" else {"query"}  # of groups nothing need be estimated
    assert {"verify", *counted} <= {question for question, *_ in offered}
    for (question, *_), fields in offered.items():
        typed = {name: value or TYPED[name] for name, value in fields.items()}
        if "items" in typed:
            typed["items"] = KNOWN.get(kind, typed["items"])
        answer = client.post("p", project.name, "release", question, data=typed)
        page = client.raw("GET", answer.headers["location"], client.headers())
        job = client.studio.jobs.of(project)[-1]
        assert (job.kind, job.state, job.error) == (question, "done", None), job.argv
        assert page.status_code == 200
        assert f'id="{question}"' in page.text or question == "verify", page.text
    assert len(client.studio.jobs.of(project)) == len(offered)


def test_shares_on_either_side() -> None:
    from fractions import Fraction

    assert neighbours_of(Fraction(1, 4)) == ["1/10", "1/2"]
    assert neighbours_of(Fraction(1, 3)) == ["1/4", "1/2"]
    assert neighbours_of(Fraction(0)) == ["1/10"]
    assert neighbours_of(Fraction(1)) == ["9/10"]
    one: Any = {
        "options": {"k": 5, "share": "1/4", "purpose": "a"},
        "input": {"sha256": "x"},
        "algorithm": {"name": "rt"},
    }
    other: Any = one | {"options": {"k": 5}}
    assert same_but_share(one, other)
    assert not same_but_share(one, other | {"options": {"k": 6}})
    assert not same_but_share(one, other | {"input": {"sha256": "y"}})


def test_rows_without_one_label_each(client: Client, tmp_path: Path) -> None:
    project, _ = made(client, "local", tmp_path)
    page = page_of(client, project)
    assert "Here the same item can have different labels in different rows" in page
    released = rows_of(project.runs / "one" / "published" / "data.csv")
    places = [int(place) for _, place in table(project.runs / "one" / "internal" / "rows.csv")[1:]]
    for row, line in enumerate(lines(page, "rows-table")[1:]):
        assert set(line[2].split(", ")) == (set(released[places[row]]) or {"nothing"})


def test_rows_in_groups(client: Client, tmp_path: Path) -> None:
    project, _ = made(client, "groups", tmp_path)
    shown = lines(page_of(client, project), "rows-table")
    assert shown[0] == ["Row", "Before", "After", "Group", "of its rows have"]
    counts = table(project.runs / "one" / "published" / "groups.csv")[1:]
    sizes = {group: int(number) for group, item, number in counts if not item}
    bleach = {group: number for group, item, number in counts if item == "bleach"}
    for row in shown[1:]:
        group = row[3].split(" ")[0]
        assert row[3] == f"{group} ({sizes[group]} rows)"
        assert row[4] == (f"bleach: {bleach[group]}" if group in bleach else "none a sensitive item")
        assert "bleach" not in row[2]


def test_rows_in_classes(client: Client, tmp_path: Path) -> None:
    """Check that rows show their class, whose labels are its own, and `why` is asked in it."""
    project, report = made(client, "classes", tmp_path)
    folder = project.runs / "one"
    page = page_of(client, project)
    assert "Each class has labels of its own" in page
    assert 'id="cut"' not in page
    shown = lines(page, "rows-table")
    assert shown[0] == ["Row", "Before", "After", "Class"]
    sizes = [int(rows) for _, rows in table(folder / "published" / "classes.csv")[1:]]
    assert len(sizes) == report["classes"]["number"] == 2
    places = [int(place) for _, place in table(folder / "internal" / "rows.csv")[1:]]
    released = rows_of(folder / "published" / "data.csv")
    for row, line in enumerate(shown[1:]):
        assert set(line[2].split(", ")) == (set(released[places[row]]) or {"nothing"})
        assert line[3] == str(int(places[row] >= sizes[0]))
    counts = table(folder / "published" / "counts.csv")[1:]
    assert f"Published counts ({len(counts)})" in page
    found = re.findall(r"<tr><td>(.*?)</td><th scope=.row.>(.*?)</th><td>.*?</td><td.*?>(\d+)</td>", page)
    assert sorted(found) == sorted((name or "all", item, rows) for name, item, _, rows in counts)

    page = page_of(client, project, "?row=233")  # tea,crisps: an exception in its class
    chosen = re.findall(r'name="name" value="(\w+)"><input type="hidden" name="class" value="(\d)">', page)
    number = lines(page, "rows-table")[1][3]
    assert chosen[0] == ("crisps", number)


# --- the published files


@pytest.mark.parametrize("kind", ["rows", "table", "groups", "classes", "local"])
def test_the_zip_holds_what_is_published_and_nothing_else(client: Client, tmp_path: Path, kind: str) -> None:
    project, _ = made(client, kind, tmp_path, external=True)
    folder = project.runs / "one"
    (folder / "published" / "more").mkdir()
    (folder / "published" / "more" / "rows.csv").write_text("inside")
    answer = client.get("p", project.name, "release", "zip?run=one")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/zip"
    named = answer.headers["content-disposition"]
    assert re.fullmatch(r'attachment; filename="[A-Za-z0-9_-]+\.zip"', named), named
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        assert archive.testzip() is None
        held = {one.filename: archive.read(one) for one in archive.infolist()}
        assert {one.date_time for one in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    plain = [one for one in (folder / "published").iterdir() if one.is_file()]
    assert held == {f"published/{one.name}": one.read_bytes() for one in plain}
    secret = {one.read_bytes() for one in (folder / "internal").iterdir()}
    assert not secret & set(held.values())
    assert client.get("p", project.name, "release", "zip?run=one").content == answer.content
    for run in ("two", "..%2Fone", "", "one%2Finternal"):
        assert client.get("p", project.name, "release", f"zip?run={run}").status_code == 404


def test_links_are_not_handed_out(tmp_path: Path) -> None:
    from setveil.studio.pages.release_handout import handed_out

    (tmp_path / "published").mkdir()
    (tmp_path / "published" / "data.csv").write_text("tea\n")
    (tmp_path / "secret.csv").write_text("inside")
    (tmp_path / "published" / "link.csv").symlink_to(tmp_path / "secret.csv")
    assert [path.name for path in handed_out(tmp_path)] == ["data.csv"]


def test_nothing_is_zipped_of_a_release_that_does_not_hold(client: Client, tmp_path: Path) -> None:
    project, report = made(client, "rows", tmp_path)
    report["guarantee"]["holds"] = False
    (project.runs / "one" / "internal" / "report.json").write_text(json.dumps(report))
    answer = client.get("p", project.name, "release", "zip?run=one")
    assert answer.status_code == 400
    assert not answer.content.startswith(b"PK")
    assert "release/zip" not in page_of(client, project)


def test_the_name_of_the_zip_is_plain(client: Client, tmp_path: Path) -> None:
    from setveil.studio.pages.release_handout import file_name

    project, _ = made(client, "rows", tmp_path)
    for run in ('a"; filename="b', "../../etc", "é\r\nSet-Cookie: x", "x" * 300, "\u202e"):
        assert re.fullmatch(r"[A-Za-z0-9_-]{1,100}\.zip", file_name(project, run))


def test_a_page_to_print_says_who_and_when_and_keeps_nothing(client: Client, tmp_path: Path) -> None:
    project, _ = made(client, "table", tmp_path, responsible="Ada <b>Byron</b>")
    folder = project.runs / "one"
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    settings = project.toml.read_bytes()
    first = client.post("p", project.name, "release", "print", data={"run": "one"}).text
    assert "Ada &lt;b&gt;Byron&lt;/b&gt;" in first  # as was said when the release was made
    said = {
        "run": "one",
        "responsible": "<i>Mary</i>",
        "date": "5 May 2031",
        "recipient": "x" * 900,
        "purpose": "",
    }
    page = client.post("p", project.name, "release", "print", data=said).text
    assert "<dd>&lt;i&gt;Mary&lt;/i&gt;</dd>" in page
    assert "<dd>5 May 2031</dd>" in page
    assert "x" * 501 not in page
    assert "<i>Mary" not in page
    assert "Byron" not in page
    for path in (folder / "published").iterdir():
        assert hashlib.sha256(path.read_bytes()).hexdigest() in page
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
    assert project.toml.read_bytes() == settings
    assert client.post("p", project.name, "release", "print", data={"run": "../one"}).status_code == 404


# --- in a browser


def in_studio(server: Server, kind: str, folder: Path, **settings: Any) -> Project:
    project = server.project(f"Release {kind}")
    KINDS[kind](project, folder)
    project.save(**settings)
    setveil("anonymize", "--config", project.toml, "--out", project.runs / "one", "--external").ok()
    return project


@pytest.mark.exhaustive
@pytest.mark.browser
def test_a_table_is_explained(screen: Screen, tmp_path: Path) -> None:
    project = in_studio(screen.server, "table", tmp_path)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "release"))
    slider = page.get_by_label("How much the columns count")
    said = page.locator("#share-said")
    expect(said).to_contain_text("Columns 25%, items 75%: this release loses least of these")
    slider.fill("100")
    expect(said).to_contain_text("Columns 100%, items 0%: classes of at least 5 rows loses least")
    expect(page.locator("tr.current th")).to_have_text("classes of at least 5 rows")
    looks(page, "release-table")
    value = page.locator(".rows-table button.link", has_text="age of row").first
    value.click()
    expect(page.locator("#why-title")).to_contain_text("age of row")
    expect(page.locator("#why")).to_contain_text("everything else as it is")
    expect(page.locator("#why")).to_contain_text("Keep this internal")
    page.get_by_text("The same as a command").click()
    expect(page.locator(".same-as")).to_contain_text("why --show 10 --row")
    page.get_by_role("button", name="Page to print and sign").click()
    page.get_by_label("Responsible").fill("Ada")
    page.get_by_role("button", name="Put it on the page").click()
    expect(page.locator("dd", has_text="Ada")).to_be_visible()
    looks(page, "release-print")
    page.get_by_role("link", name="Back to the release").click()
    with page.expect_download() as found:
        page.get_by_role("link", name="Download it as a zip").click()
    assert found.value.suggested_filename == f"{project.name}-one.zip"


@pytest.mark.exhaustive
@pytest.mark.browser
def test_a_class_is_explained(screen: Screen, tmp_path: Path) -> None:
    project = in_studio(screen.server, "classes", tmp_path)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "release") + "?row=233")
    line = page.locator(".rows-table tbody tr").first
    number = line.get_by_role("cell").last.inner_text()
    line.get_by_role("button", name="crisps").click()
    expect(page.locator("#why-title")).to_have_text(f"Why crisps in class {number}?")
    expect(page.locator("#why")).to_contain_text("crisps is in 2 rows, fewer than k = 5")
    expect(page.locator("#rows-title ~ #why")).to_be_visible()  # next to the clicked element
    looks(page, "release-classes")


@pytest.mark.exhaustive
@pytest.mark.browser
def test_neighbours_are_made_beside_a_release(screen: Screen, tmp_path: Path) -> None:
    project = in_studio(screen.server, "table", tmp_path)
    page = screen.enter()
    page.goto(screen.at("p", project.name, "release"))
    page.get_by_role("button", name="Make the releases for a share of 10% and 50%").click()
    for share in ("10%", "50%"):
        expect(page.get_by_role("link", name=f"release for a share of {share}")).to_be_visible(
            timeout=120_000
        )
    expect(page.get_by_role("heading", level=1)).to_have_text("Release")
    expect(page.locator("tr th b")).to_have_text("this release")
    shares = {}
    for run in project.runs.iterdir():
        report = json.loads((run / "internal" / "report.json").read_text())
        shares[run.name] = report["algorithm"]["parameters"]["share"]
        assert report["guarantee"]["holds"]
    assert sorted(map(float, shares.values())) == [0.1, 0.25, 0.5]


@pytest.mark.exhaustive
@pytest.mark.browser
def test_hostile_names_of_columns_are_text(screen: Screen, tmp_path: Path) -> None:
    project = in_studio(screen.server, "odd", tmp_path)
    assert FILE in str(project.settings()["input"])
    page = screen.enter()
    page.goto(screen.at("p", project.name, "release"))
    for name in HEADERS[:3]:
        expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()
    page.locator(".rows-table button.link").first.click()
    expect(page.locator("#why")).to_contain_text("Keep this internal")
    page.get_by_text("Show these combinations").click()
    assert page.title() != "taken"
    assert page.locator("[onerror], [onfocus], [onclick], main img, main b > b").count() == 0
