"""The page Data: lines that are no data, values that are missing, and the other options of a file."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import pytest

from cli_helpers import write
from setveil.base.values.declared import options_of
from setveil.runs.options.names import READING
from setveil.runs.options.reading import Reading
from setveil.studio import commands
from setveil.studio.pages import data_more
from setveil.studio.projects import Project
from studio_client import Client
from test_more_shapes import FILES, SETS
from test_studio_data import take, text_of, ways

ROWS = [f"p{i:02},{20 + i % 30},{'mf'[i % 2]},{'ABC'[i % 3]}{i % 4};B{i % 2}" for i in range(30)]
HEADER = "person,age,sex,codes"
ROLES = {"delimiter": ";"} | {
    f"{key}-{at}": value
    for at, (name, role) in enumerate([("person", "id"), ("age", "qi"), ("sex", "qi"), ("codes", "set")], 1)
    for key, value in (("column", name), ("role", role))
}


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


@pytest.fixture
def project(client: Client) -> Project:
    return client.studio.projects.create("Pharmacy")


def field(page: str, name: str) -> str:
    """Return the value of a field of the page, of any kind; "" if it is empty."""
    found = re.search(rf'<input[^>]* id="more-{name}"[^>]* value="([^"]*)"', page)
    return html.unescape(found[1]) if found else ""


def hidden(page: str, action: str) -> dict[str, str]:
    """Return the hidden values that a form sends."""
    form = page.partition(f'/data/{action}"')[2].partition("</form>")[0]
    found = re.findall(r'<input type="hidden" name="([a-z-]+)" value="([^"]*)"', form)
    return {name: html.unescape(value) for name, value in found}


def buttons(page: str) -> dict[str, str]:
    return dict(re.findall(r'<button[^>]* name="([a-z-]+)" value="([^"]*)">', page))


def test_every_option_of_reading_has_a_field(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, write(tmp_path / "ward.csv", "\n".join([HEADER, *ROWS])))
    for name in READING:
        assert re.search(rf'<(input|select)[^>]* name="{name}"', page), name
    for name in data_more.MORE:  # in the words of the command line
        assert options_of(Reading)[name.replace("-", "_")].help in text_of(page), name


def test_a_title_above_a_table_of_persons(client: Client, project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "ward.csv", "\n".join(["Report of ward 3", "", HEADER, *ROWS, "Total,30,,"]))
    page = take(client, project, path)
    assert "role-1" not in page
    assert buttons(page)["skip-lines"]
    page = client.get("p", project.name, "data", f"reading?skip-lines={buttons(page)['skip-lines']}").text
    assert field(page, "skip-lines") == "1-2,34"
    assert hidden(page, "roles") == {"skip-lines": "1-2,34"}
    answer = client.post("p", project.name, "data", "roles", data=ROLES | hidden(page, "roles"))
    assert answer.status_code == 303, text_of(answer.text)
    assert project.settings()["skip-lines"] == "1-2,34"
    assert (project.studio["rows"], project.settings()["qi"]) == (30, "age,sex")
    words = commands.risk(project, [1])
    assert words[words.index("--skip-lines") + 1] == "1-2,34"
    assert field(client.get("p", project.name, "data", "reading").text, "skip-lines") == "1-2,34"
    # and the answer can be taken back
    assert field(client.get("p", project.name, "data", "reading?skip-lines=").text, "skip-lines") == ""


@pytest.mark.parametrize(("name", "rows"), [("missing-id", 28), ("fill-id", 28)])
def test_lines_without_an_id_are_skipped_with_one_click(
    client: Client, project: Project, tmp_path: Path, name: str, rows: int
) -> None:
    lines = [row if at not in (4, 9) else "," + ROWS[at - 1].partition(",")[2] for at, row in enumerate(ROWS)]
    take(client, project, write(tmp_path / "ward.csv", "\n".join([HEADER, *lines])))
    answer = client.post("p", project.name, "data", "roles", data=ROLES)
    assert answer.status_code == 422
    assert "2 lines lack an ID" in text_of(answer.text)
    form = ROLES | hidden(answer.text, "roles") | {name: buttons(answer.text)[name]}
    answer = client.post("p", project.name, "data", "roles", data=form)
    assert answer.status_code == 303, text_of(answer.text)
    assert project.studio["rows"] == rows
    assert project.settings()[name] in ("skip", True)


def test_lines_of_a_log_without_an_id(client: Client, project: Project, tmp_path: Path) -> None:
    lines = [f"p{i // 3:02},{'ABCDE'[i % 5]}{i % 2},2024-0{1 + i % 6}-11" for i in range(60)]
    lines[7] = "," + lines[7].partition(",")[2]
    take(client, project, write(tmp_path / "log.csv", "\n".join(["patient,code,date", *lines])))
    form = {"facts": "yes"}
    for at, (name, holds) in enumerate([("patient", "id"), ("code", "set"), ("date", "when")], 1):
        form |= {f"column-{at}": name, f"holds-{at}": holds, f"level-{at}": "month"}
    answer = client.post("p", project.name, "data", "facts", data=form)
    assert answer.status_code == 422
    assert "1 line lacks an ID" in text_of(answer.text)
    form |= hidden(answer.text, "facts") | {"missing-id": buttons(answer.text)["missing-id"]}
    answer = client.post("p", project.name, "data", "facts", data=form)
    assert answer.status_code == 303, text_of(answer.text)
    assert project.studio["rows"] == 20


def test_words_for_nothing_in_every_column_and_in_some(
    client: Client, project: Project, tmp_path: Path
) -> None:
    lines = [row.replace(";B0", ";nil").replace("m,", "unk,") for row in ROWS]
    path = write(tmp_path / "ward.csv", "\n".join([HEADER, *lines]))
    take(client, project, path)
    page = client.get("p", project.name, "data", "reading?missing=nil").text
    form = ROLES | hidden(page, "roles") | {"missing": "unk"}
    assert client.post("p", project.name, "data", "roles", data=form).status_code == 303
    assert project.settings()["missing"] == ["nil", "age=unk", "sex=unk"]
    items = client.get("p", project.name, "data", "items?text=nil").json()
    assert not items.get("items"), items
    assert field(client.get("p", project.name, "data", "reading").text, "missing") == "nil"


def test_rows_alone_are_read_with_what_was_said(client: Client, project: Project, tmp_path: Path) -> None:
    lines = [f"p{i // 3:02},{'ABCDE'[i % 5]}{i % 2}" for i in range(60)]
    text = "\n".join(["# made by hand", "patient,code", *lines, "# the end"])
    take(client, project, write(tmp_path / "log.csv", text))
    page = client.get("p", project.name, "data", "reading?comment=%23").text
    first = ways(page)[0]
    assert first == {"comment": "#"}
    assert client.post("p", project.name, "data", "read", data={"way": json.dumps(first)}).status_code == 303
    assert (project.studio["rows"], project.settings()["comment"]) == (20, "#")


def test_what_is_wrong_in_a_field_is_said(client: Client, project: Project, tmp_path: Path) -> None:
    take(client, project, write(tmp_path / "ward.csv", "\n".join([HEADER, *ROWS])))
    for said in ("skip-lines=three", "skip-last=-1", "header-lines=0", "missing-id=no", "comment=+"):
        answer = client.get("p", project.name, "data", "reading?" + said)
        assert answer.status_code == 422, said
        assert "There is a problem" in answer.text


def test_two_files_become_one_project(client: Client, project: Project, tmp_path: Path) -> None:
    folder = tmp_path
    lines = [f"p{i // 2:02},{'EIJ'[(i + i // 2) % 3]}1" for i in range(60)]
    write(folder / "dx.csv", "\n".join(["patient,icd", *lines]))
    lines = [f"p{20 + i // 2:02};{'ACN'[(i + i // 2) % 3]}7" for i in range(40)]
    write(folder / "rx.csv", "\n".join(["patient;ATC", *lines]))
    client.post("p", project.name, "data", "take", data={"path": str(folder / "dx.csv")})
    words = f"reading?id-column=patient&item-column=icd&also={folder}/rx.csv:ATC"
    page = client.get("p", project.name, "data", words)
    assert page.status_code == 200
    assert "40 rows" in page.text
    way = {"id-column": "patient", "item-column": "icd", "also": f"{folder}/rx.csv:ATC"}
    answer = client.post("p", project.name, "data", "read", data={"way": json.dumps(way)})
    assert answer.status_code == 303
    assert project.studio["rows"] == 40
    rows = client.get("p", project.name, "data", "rows").json()["rows"]
    assert rows[25]["items"] == ["A7", "C7", "E1", "I1"]
    risk = commands.risk(project, [1])
    assert risk[risk.index("--also") + 1] == f"{folder}/rx.csv:ATC"


def test_a_table_and_another_file_about_the_same_people(
    client: Client, project: Project, tmp_path: Path
) -> None:
    lines = [f"p{i:02},{30 + i % 5},{'mf'[i % 2]},{'EIJ'[i % 3]}1" for i in range(30)]
    write(tmp_path / "ward.csv", "\n".join(["patient,age,sex,icd", *lines]))
    lines = [f"p{i // 2:02};{'ACN'[(i + i // 2) % 3]}7" for i in range(40)]
    drugs = write(tmp_path / "rx.csv", "\n".join(["patient;ATC", *lines]))
    client.post("p", project.name, "data", "take", data={"path": str(tmp_path / "ward.csv")})
    page = client.get("p", project.name, "data", f"reading?also={drugs}:ATC").text
    roles = ("id", "qi", "qi", "set")
    form = {f"column-{at}": name for at, name in enumerate(("patient", "age", "sex", "icd"), 1)}
    form |= {f"role-{at}": role for at, role in enumerate(roles, 1)}
    form |= hidden(page, "roles")
    answer = client.post("p", project.name, "data", "roles", data=form)
    assert answer.status_code == 303, text_of(answer.text)
    settings = project.settings()
    assert (settings["also"], settings["qi"], project.studio["rows"]) == (f"{drugs}:ATC", "age,sex", 30)
    rows = client.get("p", project.name, "data", "rows").json()["rows"]
    assert rows[1]["items"] == ["A7", "C7", "I1"]
    risk = commands.risk(project, [1])
    assert risk[risk.index("--also") + 1] == f"{drugs}:ATC"


@pytest.mark.parametrize("word", ["NULL", "unknown"])
def test_words_for_no_item_are_noted(client: Client, project: Project, tmp_path: Path, word: str) -> None:
    lines = [f"p{i // 2:02},{'EIJ'[(i + i // 2) % 3]}1" for i in range(60)]
    page = take(client, project, write(tmp_path / "dx.csv", "\n".join(["pid,icd", *lines, f"p99,{word}"])))
    client.post("p", project.name, "data", "read", data={"way": json.dumps((ways(page) or [{}])[0])})
    words = text_of(client.get("p", project.name, "data").text)
    assert f"1 line of column 'icd': '{word}' (1)" in words
    assert "Entered under Not missing" in words if word == "NULL" else "enter unknown under Missing" in words
    assert "--" not in words.partition("1 line of")[2].partition("The rows")[0]


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_the_first_way_reads_as_the_command_line_does(
    client: Client, project: Project, tmp_path: Path, name: str, content: str
) -> None:
    page = take(client, project, write(tmp_path / name, content))
    for _ in range(2):
        if found := buttons(page) if not ways(page) else {}:
            field_name, value = next(iter(found.items()))
            page = client.get("p", project.name, "data", f"reading?{field_name}={value}").text
    answer = client.post("p", project.name, "data", "read", data={"way": json.dumps(ways(page)[0])})
    assert answer.status_code == 303, text_of(answer.text)
    rows = client.get("p", project.name, "data", "rows").json()["rows"]
    assert (project.studio["rows"], [{*row["items"]} for row in rows]) == (
        len(SETS),
        [{*items} for items in SETS[: len(rows)]],
    )
