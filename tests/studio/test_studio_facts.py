"""Facts on the pages: a log is looked at before it is read, refused as on the command line, run and shown."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

import setveil as sv
from cli_helpers import setveil, write
from setveil.base.errors import SetveilError, on_command_line
from setveil.report import words
from setveil.rows.facts.dates import LEVELS
from setveil.rows.facts.request import WAYS
from setveil.runs import orders
from setveil.studio import commands
from setveil.studio.data_kinds import RowsOfFacts
from setveil.studio.fields import in_fields
from setveil.studio.pages import data_facts
from setveil.studio.projects import Project
from studio_browser import Screen, expect, looks, see_release
from studio_client import Client
from test_studio_data import take, text_of

if TYPE_CHECKING:
    from playwright.sync_api import Page

CODES = ("I50.1", "I50.9", "I21.0", "J18.0", "J18.9", "J44")
TREE = "I50.1;I50;I;*\nI50.9;I50;I;*\nI21.0;I;*\nJ18.0;J18;J;*\nJ18.9;J18;J;*\nJ44;J;*\n"
ROLES = {"patient": "id", "date": "when", "code": "set", "cost": "amount"}
ROLE_OPTIONS: dict[str, Any] = {
    "id": "patient",
    "sets": "code",
    "when": {"date": "month"},
    "amount": {"cost": "0,50,100"},
}


def log_in(path: Path, *more: str, when: str = "2024-{month:02}-{day:02}") -> Path:
    """Write a log of 150 patients, some of whose dates are missing, and further lines."""
    random = Random(3)
    lines = ["patient,date,code,cost"]
    for patient in range(150):
        for _ in range(random.randint(1, 4)):
            day = when.format(month=random.randint(1, 12), day=random.randint(1, 12))
            date = day if random.random() > 0.03 else ""
            lines.append(f"{700_000 + patient * 7},{date},{random.choice(CODES)},{random.randint(1, 150)}")
    return write(path, "\n".join([*lines, *more, ""]))


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


@pytest.fixture
def project(client: Client) -> Project:
    return client.studio.projects.create("Ward")


def form_of(page: str) -> str:
    return page.partition('id="log"')[2].partition("</form>")[0]


def sent(page: str, **roles: str) -> dict[str, str]:
    """Fill in the form of a log as it is on the page, with some roles changed."""
    form = {"facts": "yes", "delimiter": ";"}
    for number, line in enumerate(form_of(page).split("<li>")[1:], 1):
        for name in ("column", "columns", "bands", "days"):
            found = re.search(rf'name="{name}-{number}" value="([^"]*)"', line)
            assert found is not None, name
            form[f"{name}-{number}"] = html.unescape(found[1])
        chosen = re.findall(r'<option value="(\w*)" selected>', line)
        form |= {
            f"{name}-{number}": value for name, value in zip(("holds", "level", "way"), chosen, strict=True)
        }
        form[f"holds-{number}"] = roles.get(form[f"column-{number}"], form[f"holds-{number}"])
    return form


def of(page: str, what: str) -> dict[str, str]:
    """List the values of the form for each column."""
    form = sent(page)
    return {form[f"column-{at}"]: form[f"{what}-{at}"] for at in range(1, 1 + page.count('name="way-'))}


def post(client: Client, project: Project, page: str, **changes: str) -> Any:
    form = {**sent(page, **ROLES), "bands-4": "0,50,100", **changes}
    return client.post("p", project.name, "data", "facts", data=form)


def test_a_log_is_proposed_as_one(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, log_in(tmp_path / "log.csv"))
    assert "<h2>A log: who, what, when, how much</h2>" in page
    assert of(page, "holds") == {"patient": "id", "date": "when", "code": "set", "cost": "drop"}


def test_a_table_with_a_date_for_each_person_is_none(
    client: Client, project: Project, tmp_path: Path
) -> None:
    lines = [
        f"{700_000 + at // 2},{20 + at // 2 % 50},2024-01-{1 + at // 2 % 28:02},{CODES[at % 6]}"
        for at in range(80)
    ]
    page = take(
        client, project, write(tmp_path / "a.csv", "\n".join(["patient,age,admitted,code", *lines, ""]))
    )
    assert "<h2>A table about persons</h2>" in page
    assert "It is a log: codes with dates or amounts" in page


def test_a_series_says_that_it_has_no_dates(client: Client, tmp_path: Path) -> None:
    client.post("new", data={"title": "Yearly", "series": "yes"})
    project = client.studio.projects.find("yearly")
    assert project.is_series
    page = take(client, project, log_in(tmp_path / "log.csv"))
    assert "A series publishes only codes, without dates or amounts." in page
    assert not form_of(page)


def test_periods_and_bands_are_shown_before_anything_is_read(
    client: Client, project: Project, tmp_path: Path
) -> None:
    file = log_in(tmp_path / "log.csv")
    page = take(client, project, file)
    answer = post(client, project, page, look="yes")
    assert answer.status_code == 200
    assert not project.settings().get("input")
    facts = sv.read_facts(file, **ROLE_OPTIONS)
    missing = sum("@?@" in label for row in facts.rows() for label in row)
    shown = text_of(answer.text.partition('id="looked"')[2].partition("Show the periods")[0])
    options = ["--id-column", "patient", "--set", "code", "--when", "date:month", "--amount", "cost:0,50,100"]
    done = setveil("anonymize", file, *options, "--k", 400, "--m", 2, "--out", tmp_path / "out", cwd=tmp_path)
    said = re.sub(r"\s+", " ", done.err).partition(f"Reading {file}: ")[2].partition(". ")[0]
    assert said[1:] in shown
    assert f"150 rows, {facts.n_items} different facts" in shown
    assert "such as 2024-01, then 2024-Q1, then 2024" in shown
    assert f"2024-12: {sum('@2024-12@' in label for row in facts.rows() for label in row)}" in shown
    assert f"12 {missing} cost" in shown
    assert "[0,50), [50,100), >=100 3" in shown
    again = post(client, project, answer.text)
    assert again.status_code == 303, text_of(again.text)
    assert project.settings()["when"] == ["date:month"]
    assert project.studio["items"] == facts.n_items
    kept = client.get("p", project.name, "data", "reading").text
    assert of(kept, "holds") == ROLES
    assert of(kept, "bands")["cost"] == "0,50,100"


@pytest.mark.parametrize(
    ("line", "changes", "fields"),
    [
        ("1,31/12/2024,I50.1,3", {}, {}),
        ("1,nonsense,I50.1,3", {}, {}),
        ("1,2024-01-02,I50.1,much", {}, {}),
        (",2024-01-02,I50.1,3", {}, {}),
        ("1,2024-01-02,I50@1,3", {}, {}),
        ("", {"bands-4": "0,50,50"}, {"amount": {"cost": "0,50,50"}}),
        ("", {"bands-4": "1"}, {"amount": {"cost": "1"}}),
        ("", {"bands-4": "0,x"}, {"amount": {"cost": "0,x"}}),
        ("", {"level-2": "since", "days-2": "0"}, {"when": {"date": "0d-since-first"}}),
        ("", {"level-2": "decade"}, {"when": {"date": "decade"}}),
        ("", {"date-format": "%d.%m.%Y"}, {"date_format": "%d.%m.%Y"}),
        ("", {"date-format": "month"}, {"date_format": "month"}),
    ],
)
def test_refusals_are_those_of_the_command_line(
    client: Client,
    project: Project,
    tmp_path: Path,
    line: str,
    changes: dict[str, str],
    fields: dict[str, Any],
) -> None:
    file = log_in(tmp_path / "log.csv", *([line] if line else []))
    with on_command_line(), pytest.raises(SetveilError) as refused:
        sv.read_facts(file, **{**ROLE_OPTIONS, **fields})
    page = take(client, project, file)
    for more in ({"look": "yes"}, {}):
        answer = post(client, project, page, **changes, **more)
        assert answer.status_code == 422
        said = text_of(answer.text)
        assert re.sub(r"\s+", " ", in_fields(refused.value.message)) in said
        assert not project.settings().get("input")
        if line:
            number = len(file.read_text().splitlines())
            assert f"here: line {number}" in said or "line" not in refused.value.message
        if changes.get("level-2") != "decade":  # which no page offers
            assert of(answer.text, "holds") == ROLES  # the choice is there again


def test_columns_that_are_lists_of_their_own_have_an_m_each(
    client: Client, project: Project, tmp_path: Path
) -> None:
    page = take(client, project, log_in(tmp_path / "log.csv"))
    together = post(client, project, page, **{"holds-4": "set"})
    assert together.status_code == 303, text_of(together.text)
    assert (project.settings()["set"], project.settings()["item-columns"]) == ("codes", "code,cost")
    assert 'name="m-0"' not in client.get("p", project.name, "promise").text
    assert post(client, project, page, **{"holds-4": "set", "apart": "yes"}).status_code == 303
    assert project.settings()["set"] == ["code", "cost"]
    assert "item-columns" not in project.settings()
    kept = client.get("p", project.name, "data", "reading").text
    assert of(kept, "holds") == {**ROLES, "cost": "set"}
    assert 'name="apart" value="yes" checked' in kept

    def promised(**said: str) -> Any:
        form = {"model": "km-anonymity", "k": "5", "m": "", "left_out": "any", "share": "1%", **said}
        return client.post("p", project.name, "promise", data=form)

    assert 'name="m-1"' in client.get("p", project.name, "promise").text
    for wrong in ({"m-0": "2", "m-1": ""}, {"m-0": "2", "m-1": "0"}, {"m-0": "2", "m-1": "x"}):
        answer = promised(alike="each", **wrong)
        assert answer.status_code == 400
        assert "The number of known items (m) must be" in text_of(answer.text)
        assert f'name="m-1" value="{wrong["m-1"]}"' in answer.text
    assert "m" not in project.settings()
    assert promised(alike="all", m="2").status_code == 303
    assert project.settings()["m"] == 2
    assert promised(alike="each", **{"m-0": "2", "m-1": "1"}).status_code == 303
    assert project.settings()["m"] == "code=2,cost=1"
    assert 'name="m-1" value="1"' in client.get("p", project.name, "promise").text
    whole = promised(alike="each", known="codes", **{"m-0": "2", "m-1": "1"})
    assert whole.status_code == 400
    assert "Whole codes need one m for all columns" in text_of(whole.text)
    assert promised(alike="all", m="2", known="codes").status_code == 303
    assert project.settings()["known"] == "codes"
    page = text_of(client.get("p", project.name, "promise").text)
    assert "knows up to 2 codes of a person's row, each with everything about it" in page
    assert promised(alike="each", **{"m-0": "2", "m-1": "1"}).status_code == 303
    assert "known" not in project.settings()
    project.save(hierarchy=str(write(tmp_path / "icd.csv", TREE)))
    shown = text_of(client.get("p", project.name, "run").text)
    assert "up to 2 items of code and 1 item of cost" in shown
    assert "The codes of each column are grouped separately" in shown
    setveil(*commands.anonymize(project, str(tmp_path / "made")), cwd=project.folder).ok()
    setveil("verify", tmp_path / "made", "--k", 5, "--m", "code=2,cost=1", cwd=tmp_path).ok()


def test_exposed_people_are_reported_as_by_the_command(
    client: Client, project: Project, tmp_path: Path
) -> None:
    file = log_in(tmp_path / "log.csv")
    page = take(client, project, file)
    assert post(client, project, page, **{"level-2": "day"}).status_code == 303
    shown = client.get("p", project.name, "data").text
    assert "by the codes alone" in shown
    answer = client.post("p", project.name, "data", "risk").json()
    words = ["--id-column", "patient", "--set", "code", "--when", "date:day", "--amount", "cost:0,50,100"]
    printed = setveil("risk", file, *words, "--m", "1,2,3", cwd=tmp_path).ok().out
    assert answer["text"].strip() == printed.strip()
    assert "codes alone" in answer["text"]
    assert "the days between them" in answer["text"]
    assert client.post("p", project.name, "data", "risk").json() == answer


def test_dates_with_two_readings_show_both(client: Client, project: Project, tmp_path: Path) -> None:
    file = log_in(tmp_path / "log.csv", when="{month:02}/{day:02}/2024")
    page = take(client, project, file)
    assert of(page, "holds")["date"] == "when"
    answer = post(client, project, page, look="yes")
    offered = re.findall(r'<button name="written" value="([^"]+)">It is ([^:]+):', answer.text)
    assert [form for form, _ in offered] == ["%d/%m/%Y", "%m/%d/%Y"]
    with on_command_line(), pytest.raises(SetveilError) as refused:
        sv.read_facts(file, **ROLE_OPTIONS)
    assert data_facts.readings(refused.value.message) == [(day, form) for form, day in offered]
    read = post(client, project, answer.text, written="%d/%m/%Y")
    assert read.status_code == 200
    assert 'value="%d/%m/%Y"' in form_of(read.text)
    assert "2024-12" in read.text.partition('id="looked"')[2]


def test_what_a_log_lacks_is_said(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, log_in(tmp_path / "log.csv"))
    form = sent(page) | {f"holds-{at}": "drop" for at in range(1, 5)}
    said = text_of(client.post("p", project.name, "data", "facts", data=form).text)
    for lacking in (
        "whose line it is",
        "which column contains the codes",
        "which column contains dates or amounts",
    ):
        assert lacking in said
    assert "Say which bands of cost there are." in text_of(
        post(client, project, page, **{"bands-4": " "}).text
    )


def test_settings_come_back_as_they_were_chosen() -> None:
    form = {
        "column-1": "who", "holds-1": "id",
        "column-2": "on", "holds-2": "when", "level-2": "since", "days-2": "30",
        "column-3": "a,b", "columns-3": '"a,b",c', "holds-3": "set", "column-4": "price", "holds-4": "amount",
        "way-4": "mean", "bands-4": "0, 5, 20", "not-id-3": "yes", "missing": "NA", "date-format": "%d.%m.%Y",
    }  # fmt: skip
    options, lacking = data_facts.options_in(form)
    assert not lacking
    assert options == {
        "id-column": "who", "set": "codes", "item-columns": '"a,b",c', "when": ["on:30d-since-first"],
        "amount": ["price:mean:0,5,20"], "date-format": "%d.%m.%Y", "missing": ["on=NA", "price=NA"],
        "not-ids": '"a,b",c',
    }  # fmt: skip
    chosen = data_facts.chosen_before(options)
    before = data_facts.chosen_in(form)
    assert {name: (said["role"], said["not_id"]) for name, said in chosen.items()} == {
        name: (said["role"], said["not_id"]) for name, said in before.items()
    }
    assert (chosen["on"]["level"], chosen["on"]["days"]) == ("since", "30")
    assert (chosen["price"]["way"], chosen["price"]["bands"]) == ("mean", "0,5,20")


def test_a_column_may_be_called_anything_but_with_a_colon() -> None:
    form = {
        "column-1": "id", "holds-1": "id", "column-2": "a=b", "holds-2": "when", "level-2": "week",
        "column-3": "co,de", "columns-3": '"co,de"', "holds-3": "set",
        "column-4": "x=", "holds-4": "amount", "bands-4": "0,1",
    }  # fmt: skip
    options, _ = data_facts.options_in(form)
    assert (options["when"], options["amount"]) == (["co,de=a=b:week"], ["co,de=x=:0,1"])
    chosen = data_facts.chosen_before(options)
    assert {name: said["role"] for name, said in chosen.items()} == {
        "id": "id", "a=b": "when", "co,de": "set", "x=": "amount",
    }  # fmt: skip


def test_pages_know_what_facts_have() -> None:
    """The server reads no numbers, so that it keeps lists of its own."""
    assert tuple(data_facts.PERIODS) == (*LEVELS, data_facts.SINCE)
    assert tuple(data_facts.TOGETHER) == WAYS
    assert sorted(RowsOfFacts.methods) == sorted(orders.ALGORITHMS)


@pytest.fixture
def ward(client: Client, project: Project, tmp_path: Path) -> Project:
    """A project whose log has been read, with a promise and groups of the codes."""
    page = take(client, project, log_in(tmp_path / "log.csv"))
    assert post(client, project, page).status_code == 303
    client.post("p", project.name, "promise", data={"k": "5", "m": "2", "left_out": "share", "share": "20%"})
    project.save(hierarchy=str(write(tmp_path / "icd.csv", TREE)))
    return project


def test_pages_say_what_does_not_apply(client: Client, ward: Project) -> None:
    pages = {
        step: client.get("p", ward.name, step) for step in ("data", "hierarchy", "promise", "run", "compare")
    }
    assert {answer.status_code for answer in pages.values()} == {200}
    data, promise, run, compare = (
        text_of(pages[step].text) for step in ("data", "promise", "run", "compare")
    )
    assert 'id="risk"' in pages["data"].text
    assert "No promise covers them for facts yet" in data
    assert "different facts" in data
    assert "By facts, by the codes alone, and, where dates are days, by the distance" in data
    assert "The cost of promises is not computed in advance" in promise
    assert "The gaps between three dates are three facts" in promise
    assert "Other promises" not in promise
    methods = re.findall(
        r'<option value="(\w+)"', pages["run"].text.partition('id="algorithm"')[2].partition("</select>")[0]
    )
    assert sorted(methods) == sorted(RowsOfFacts.methods)
    assert "Order of generalization" in run
    assert "Each run of facts tries all orders" in compare
    assert client.get("p", ward.name, "promise", params={"model": "kkm"}).text.count("k^m-anonymity.") == 1
    for part in ("study", "recommend"):
        assert "There are no studies of facts" in client.post("p", ward.name, "compare", part).text
    tree = client.get("p", ward.name, "hierarchy", "problems")
    assert tree.status_code == 200


def test_a_run_is_that_of_the_command_line_and_its_page_lists_the_orders(
    client: Client, ward: Project
) -> None:
    argv = commands.anonymize(ward, "runs/one")
    assert argv[argv.index("--when") + 1] == "date:month"
    assert argv[argv.index("--max-suppressed") + 1] == "20%"
    setveil(*argv, "--external", cwd=ward.folder).ok()
    answer = client.get("p", ward.name, "release", params={"run": "one"})
    assert answer.status_code == 200
    said = text_of(answer.text)
    report = json.loads((ward.runs / "one" / "internal" / "report.json").read_text())
    for order in report["facts"]["orders"]:
        assert f" {order['order']} " in said
        assert words.measure(order["lm"]) in said
    assert "Orders tried" in said
    assert "(taken)" in said
    assert "Published periods: date" in said
    assert "Facts and their labels" in said
    assert ", ".join(sv.read_facts(ward.settings()["input"], **ROLE_OPTIONS).rows()[0]) in said
    shown = client.get("p", ward.name, "release", "public", params={"run": "one"})
    assert "Parts of a fact" in shown.text
    assert client.get("p", ward.name, "compare").status_code == 200
    assert client.post("p", ward.name, "release", "print", data={"run": "one"}).status_code == 200


def test_what_is_dropped_first_is_chosen_for_the_run(client: Client, ward: Project, monkeypatch: Any) -> None:
    monkeypatch.setattr(client.studio.jobs, "start", lambda *args, **more: None)
    form = {
        "algorithm": "exact",
        "time-limit": "60",
        "fact-order": "first",
        "by-parts": "on",
        "fact-lines": "on",
    }
    client.post("p", ward.name, "run", "start", data=form)
    settings = ward.settings()
    assert (settings["fact-order"], settings["fact-loss"], settings.get("fact-lines")) == (
        "first",
        "parts",
        None,
    )
    client.post("p", ward.name, "run", "start", data={**form, "fact-order": "", "by-parts": ""} | {})
    assert "fact-order" not in ward.settings()
    assert ward.settings()["fact-lines"] is True


def test_another_reading_leaves_nothing_of_facts(client: Client, ward: Project, tmp_path: Path) -> None:
    page = take(client, ward, log_in(tmp_path / "again.csv"))
    way = re.search(r'name="way"[^>]* value="([^"]*)"', page)
    assert way is not None
    ward.save(fact_order="first")
    assert client.post("p", ward.name, "data", "read", data={"way": html.unescape(way[1])}).status_code == 303
    assert not {"when", "amount", "set", "fact-order"} & ward.settings().keys()


# --- in a browser


@pytest.mark.exhaustive
@pytest.mark.browser
def test_from_a_log_to_a_release(screen: Screen, tmp_path: Path) -> None:
    page: Page = screen.enter()
    project = screen.server.project("A ward's log")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(log_in(tmp_path / "log.csv")))
    page.get_by_role("button", name="Open it").click()
    expect(page.get_by_role("heading", name="A log: who, what, when, how much")).to_be_visible()
    expect(page.get_by_label("Bands of cost")).to_be_hidden()
    page.get_by_label("Content of cost").select_option("amount")
    page.get_by_label("Bands of cost").fill("0,50,100")
    expect(page.get_by_label("Days in a band of date")).to_be_hidden()
    page.get_by_label("Finest period of date").select_option("since")
    expect(page.get_by_label("Days in a band of date")).to_be_visible()
    page.get_by_label("Finest period of date").select_option("month")
    page.get_by_role("button", name="Show the periods and bands").click()
    expect(page.locator("#looked")).to_contain_text("[50,100)")
    looks(page, "facts-reading")
    page.get_by_role("button", name="Read it as this log").click()
    expect(page.get_by_role("heading", name="The parts of facts")).to_be_visible()
    expect(page.locator("#rows .row").first).to_contain_text("@2024-")
    expect(page.locator("#risk pre")).to_contain_text("codes alone")
    looks(page, "facts-data")
    project.save(hierarchy=str(write(tmp_path / "icd.csv", TREE)))
    page.goto(screen.at("p", project.name, "promise"))
    looks(page, "facts-promise")
    page.get_by_role("button", name="Take this promise, and make a release").click()
    run = page.get_by_role("button", name="Make the release")
    expect(run).to_be_visible()
    looks(page, "facts-run")
    run.click()
    see_release(page)
    expect(page.get_by_text("Orders tried")).to_be_visible()
    looks(page, "facts-release")
    page.goto(screen.at("p", project.name, "compare"))
    looks(page, "facts-compare")


@pytest.mark.exhaustive
@pytest.mark.browser
def test_from_two_lists_to_a_release_by_own_ms(screen: Screen, tmp_path: Path) -> None:
    page: Page = screen.enter()
    project = screen.server.project("A ward's lists")
    page.goto(screen.at("p", project.name, "data", "file"))
    page.get_by_label("Path of the file").fill(str(log_in(tmp_path / "log.csv")))
    page.get_by_role("button", name="Open it").click()
    page.get_by_label("Content of cost").select_option("set")
    page.get_by_label("Several columns of codes are separate lists").check()
    page.get_by_role("button", name="Show the periods and bands").click()
    expect(page.locator("#looked")).to_contain_text("date of cost")
    looks(page, "lists-reading")
    page.get_by_role("button", name="Read it as this log").click()
    expect(page.get_by_role("heading", name="The parts of facts")).to_be_visible()
    page.goto(screen.at("p", project.name, "promise"))
    page.get_by_label("This many of each column").check()
    page.get_by_label("of code", exact=True).fill("2")
    page.get_by_label("of cost", exact=True).fill("1")
    looks(page, "lists-promise")
    page.get_by_role("button", name="Take this promise, and make a release").click()
    expect(page.get_by_text("up to 2 items of code and 1 item of cost").first).to_be_visible()
    looks(page, "lists-run")
    page.get_by_role("button", name="Make the release").click()
    see_release(page)
    expect(page.get_by_text("Orders tried")).to_be_visible()
    looks(page, "lists-release")
