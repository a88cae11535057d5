"""Columns of a table on the pages: proposals, grouped values, and items without a group."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random

import pytest

from cli_helpers import write
from setveil.studio.desk.place import key_of
from setveil.studio.projects import Project
from studio_client import Client
from test_studio_data import take, text_of


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


@pytest.fixture
def project(client: Client) -> Project:
    return client.studio.projects.create("Ward")


def proposed(page: str) -> dict[str, tuple[str, str, str]]:
    """Read role, kind and steps of each line of the form of columns."""
    found = {}
    for part in page.partition('<ol class="roles">')[2].partition("</ol>")[0].split("<li>")[1:]:
        name = re.search(r'name="column-\d+" value="([^"]*)"', part)
        chosen = re.findall(r'<option value="(\w*)" selected>', part)
        steps = re.search(r'name="steps-\d+" value="([^"]*)"', part)
        assert name is not None
        assert steps is not None
        found[name[1]] = (chosen[0], chosen[1], steps[1])
    return found


def sent(page: str, **changes: str) -> dict[str, str]:
    """Fill in the form of a page as it is, except for the changed fields."""
    form = {"delimiter": ";"}
    for number, (name, (role, kind, steps)) in enumerate(proposed(page).items(), 1):
        form |= {f"column-{number}": name, f"role-{number}": role}
        form |= {f"kind-{number}": kind, f"steps-{number}": steps}
        joined = re.search(rf'name="columns-{number}" value="([^"]*)"', page)
        assert joined is not None
        form[f"columns-{number}"] = joined[1].replace("&#34;", '"')
    return form | changes


def wide(path: Path) -> Path:
    """Write a table with twenty columns of diagnoses; the last ones have few values."""
    random = Random(3)
    lines = ["patient," + "age,zip," + ",".join(f"DX{i}" for i in range(1, 21))]
    for number in range(60):
        some = [
            f"{'EIJ'[random.randrange(3)]}{random.randrange(30):02d}" for _ in range(random.randint(1, 20))
        ]
        cells = [*dict.fromkeys(some), *[""] * 20][:20]
        lines.append(f"{500_000 + 3 * number},{20 + number * 7 % 31},{10115 + number % 7},{','.join(cells)}")
    return write(path, "\n".join([*lines, ""]))


def test_columns_named_alike_are_one_line(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, wide(tmp_path / "wide.csv"))
    found = proposed(page)
    assert list(found) == ["patient", "age", "zip", "DX1 to DX20"]
    assert [role for role, _, _ in found.values()] == ["id", "qi", "qi", "set"]
    assert found["zip"][1] == "prefix"
    answer = client.post("p", project.name, "data", "roles", data=sent(page))
    assert answer.status_code == 303, text_of(answer.text)
    settings = project.settings()
    assert settings["item-columns"] == ",".join(f"DX{i}" for i in range(1, 21))
    assert settings["hierarchy"][0].startswith("zip=prefix:")
    again = client.get("p", project.name, "data", "reading").text
    assert proposed(again) == found


def test_lists_of_items_come_before_what_looks_like_a_person(
    client: Client, project: Project, tmp_path: Path
) -> None:
    lines = [f"n{i},{20 + i * 7 % 23},X{i:02d};Y{i * 7 % 40:02d};Z{i}" for i in range(40)]
    page = take(client, project, write(tmp_path / "a.csv", "\n".join(["name,age,codes", *lines, ""])))
    found = proposed(page)
    assert found["codes"][0] == "set"
    assert found["name"][0] in {"drop", "id"}
    assert "A table about persons" in page
    assert "items from age" not in page


def test_lines_of_one_person_become_one_row(client: Client, project: Project, tmp_path: Path) -> None:
    random = Random(2)
    lines = [f"{700_000 + 11 * i},{random.randint(18, 90)},{'FM'[i % 2]}" for i in range(50)]
    long = [
        f"{line},{code}" for line in lines for code in random.sample(["A1", "B2", "C3", "D4", "E5", "F6"], 2)
    ]
    page = take(client, project, write(tmp_path / "l.csv", "\n".join(["patient,age,sex,dx", *long, ""])))
    assert "Lines with the same patient are one person: 50 rows" in text_of(page)
    answer = client.post("p", project.name, "data", "roles", data=sent(page))
    assert answer.status_code == 303, text_of(answer.text)
    assert project.studio["rows"] == 50


def test_a_spreadsheet_is_a_table(client: Client, project: Project, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["age", "seen", "codes"])
    for i in range(30):
        book.active.append([20 + i * 7 % 13, f"2024-0{1 + i % 9}-11", f"A{i % 3};B{i % 2}"])
    book.save(tmp_path / "ward.xlsx")
    found = proposed(take(client, project, tmp_path / "ward.xlsx"))
    assert found == {
        "age": ("qi", "", ""),
        "seen": ("qi", "dates", "month,quarter,year"),
        "codes": ("set", "", ""),
    }


def test_levels_are_shown_as_they_are_chosen(client: Client, project: Project, tmp_path: Path) -> None:
    take(client, project, wide(tmp_path / "wide.csv"))
    write(tmp_path / "zip.csv", "10115;A;*\n")

    def levels(kind: str, steps: str, column: str = "zip") -> dict[str, str]:
        query = f"column={column}&kind={kind}&steps={steps}"
        found: dict[str, str] = client.get("p", project.name, "data", f"levels?{query}").json()
        return found

    assert levels("prefix", "4")["keep"] == "7 values, then 2 (such as 1011*), then *"
    assert levels("ranges", "10,20", "age")["keep"].startswith("31 values, then 4 (such as [20,30))")
    assert levels("categorical", "")["keep"] == "7 values, then *"
    assert "must be a multiple" in levels("ranges", "3,5", "age")["error"]
    assert "expected dates" in levels("dates", "")["error"]
    assert "lacks 6 values" in levels("file", str(tmp_path / "zip.csv"))["error"]
    assert "no column" in levels("prefix", "3", "nothing")["error"]


def test_a_file_of_groups_must_be_named(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, wide(tmp_path / "wide.csv"))
    answer = client.post(
        "p", project.name, "data", "roles", data=sent(page, **{"kind-3": "file", "steps-3": ""})
    )
    assert answer.status_code == 422
    assert "Name the file with the groups of zip." in text_of(answer.text)
    assert proposed(answer.text)["zip"][1] == "file"


def test_values_are_grouped_by_edits_that_outlive_the_page(
    client: Client, project: Project, tmp_path: Path
) -> None:
    page = take(client, project, wide(tmp_path / "wide.csv"))
    assert client.post("p", project.name, "data", "roles", data=sent(page)).status_code == 303
    place = ("hierarchy", "column", key_of("zip"))
    assert "Groups of the values of zip" in client.get("p", project.name, *place).text
    tree = client.get("p", project.name, *place, "tree").json()
    assert "1011*" in tree["labels"]
    edit = {"edit": {"do": "rename", "node": "1011*", "name": "centre"}, "version": tree["version"]}
    answer = client.post("p", project.name, *place, "edit", json=edit)
    assert answer.status_code == 200, answer.text
    file = project.folder / "columns" / key_of("zip") / "hierarchy.csv"
    assert f"zip={file}" in project.settings()["hierarchy"]
    assert "10115;centre;" in file.read_text()
    assert "centre" in text_of(client.get("p", project.name, "data").text)
    rows = client.get("p", project.name, *place, "rows?label=centre").json()
    assert 0 < rows["rows"] < rows["of"] == 60
    assert client.get("p", project.name, "hierarchy", "column", "nothing").status_code == 400
    assert client.get("p", project.name, "hierarchy", "column", key_of("patient")).status_code == 400


def test_codes_that_stand_alone_are_grouped_at_once(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, wide(tmp_path / "wide.csv"))
    client.post("p", project.name, "data", "roles", data=sent(page))
    assert (
        'value="3,1"' in client.get("p", project.name, "hierarchy").text
        or 'value="1"' in client.get("p", project.name, "hierarchy").text
    )
    flat = "".join(f"{letter}{n:02d};*\n" for letter in "EIJ" for n in range(30)).encode()
    answer = client.post("p", project.name, "hierarchy", "upload", files={"file": ("flat.csv", flat)})
    assert answer.status_code == 303, text_of(answer.text)
    problems = client.get("p", project.name, "hierarchy", "problems").json()["problems"]
    alone = next(one for one in problems if one["kind"] == "alone")
    assert alone["count"] == alone["of"]
    assert 0 < alone["rare"] <= alone["count"]
    assert client.post("p", project.name, "hierarchy", "alone", json={}).status_code == 200
    tree = client.get("p", project.name, "hierarchy", "tree").json()
    assert {"E", "I", "J"} <= {*tree["labels"]}
    problems = client.get("p", project.name, "hierarchy", "problems").json()["problems"]
    assert "alone" not in {one["kind"] for one in problems}
    version = client.get("p", project.name, "hierarchy", "tree").json()["version"]
    client.post("p", project.name, "hierarchy", "edit", json={"edit": {"do": "undo"}, "version": version})
    assert "E" not in client.get("p", project.name, "hierarchy", "tree").json()["labels"]
