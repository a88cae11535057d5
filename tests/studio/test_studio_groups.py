"""The groups of a project, without a browser: kept, done again by a command, refused with a sentence."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import httpx
import pytest

from cli_helpers import setveil
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.studio.pages.hierarchy import _same_as
from setveil.studio.projects import Project
from studio_client import AtOnce, Client

GROUPS = "milk;dairy;food;*\ncheese;dairy;food;*\nbread;food;*\nsoap;*\n"


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "projects")


def made(client: Client, folder: Path, groups: str = GROUPS, **settings: Any) -> Project:
    (folder / "rows.csv").write_text("milk,bread\nmilk,cheese\nsoap\n")
    (folder / "groups.csv").write_text(groups)
    project = client.studio.projects.create("Groups")
    options = {"input": str(folder / "rows.csv"), "format": "basket", "hierarchy": str(folder / "groups.csv")}
    project.save(**(options | settings))
    return project


def ask(client: Client, project: Project, what: str, **more: Any) -> Any:
    return client.get("p", project.name, "hierarchy", what, **more).json()


def send(client: Client, project: Project, edit: Any, version: str = "") -> httpx.Response:
    sent = {"edit": edit, "version": version}
    return client.raw(
        "POST",
        client.at("p", project.name, "hierarchy", "edit"),
        {**client.headers(post=True), "accept": "application/json"},
        json=sent,
    )


def test_nothing_is_kept_of_a_look_and_all_of_an_edit(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    sent = ask(client, project, "tree")
    assert sent["labels"] == ["*", "food", "bread", "dairy", "cheese", "milk", "soap"]
    assert sent["up"] == [-1, 0, 1, 1, 3, 3, 0]
    assert {sent["labels"][i] for i in sent["groups"]} == {"dairy", "food", "*"}
    assert not project.edits.exists()
    assert project.settings()["hierarchy"] == str(tmp_path / "groups.csv")
    (tmp_path / "groups.csv").write_text("milk;x;*\nbread;*\n")  # before it is edited, it is read again
    assert ask(client, project, "tree")["labels"] == ["*", "bread", "x", "milk"]
    (tmp_path / "groups.csv").write_text(GROUPS)

    version = ask(client, project, "tree")["version"]
    answer = send(client, project, {"do": "move", "nodes": ["soap"], "under": "dairy"}, version).json()
    assert answer["steps"] == [{"do": "place", "places": [["soap", "item", "dairy", 2]]}]
    other = send(client, project, {"do": "dissolve", "group": "food"}, version).json()  # of another window
    assert [step["do"] for step in other["steps"]] == ["place", "place"]
    assert send(client, project, {"do": "undo"}, "another-0").json()["steps"] is None
    assert project.settings()["hierarchy"] == str(project.hierarchy)
    assert read_hierarchy(project.hierarchy).paths() == [
        ["bread", "food", "*"],
        ["cheese", "dairy", "food", "*"],
        ["milk", "dairy", "food", "*"],
        ["soap", "dairy", "food", "*"],
    ]
    assert ask(client, project, "rows?label=dairy") == {"rows": 3, "of": 3}
    assert dict(zip(*ask(client, project, "items").values(), strict=True))["milk"] == 2


def test_the_command_on_the_page_makes_the_same_file(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    for edit in (
        {"do": "group", "name": "other things", "nodes": ["soap", "bread"]},
        {"do": "rename", "node": "dairy", "name": 'from "milk"; cold'},
        {"do": "undo"},
        {"do": "redo"},
    ):
        assert send(client, project, edit).status_code == 200
    (tmp_path / "new.csv").write_text(GROUPS.replace("dairy", "milky"))
    with (tmp_path / "new.csv").open("rb") as file:
        assert client.post("p", project.name, "hierarchy", "upload", files={"file": file}).status_code == 303
    send(client, project, {"do": "undo"})
    kept = project.hierarchy.read_bytes()
    project.hierarchy.unlink()
    page = client.get("p", project.name, "hierarchy").text
    (words,) = _same_as(project)
    assert " ".join(words[:2]) in page
    setveil(*words, cwd=project.folder).ok()
    assert project.hierarchy.read_bytes() == kept


@pytest.mark.parametrize("encoding", ["windows-1252", "utf-16-le", "rows.csv=cp1252"])
def test_the_file_is_read_whatever_encoding_the_data_have(
    client: Client, tmp_path: Path, encoding: str
) -> None:
    project = made(client, tmp_path, encoding=encoding)
    for name in ("Müsli", "食", "food"):
        above = ask(client, project, "tree")["labels"][1]
        answer = send(client, project, {"do": "rename", "node": above, "name": name}).json()
        assert answer["trouble"] == ""
        assert name in read_hierarchy(project.hierarchy, encoding=encoding).labels


def test_groups_of_a_file_in_another_shape_and_encoding(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    lines = "Abteilung;Art;Artikel\nKäse;dairy;milk\nKäse;dairy;cheese\nKäse;bakery;bread\nhome;soaps;soap\n"
    file = {"file": ("groups.csv", lines.replace("Art;Artikel", "level 2;item").encode("cp1252"))}
    refused = client.post("p", project.name, "hierarchy", "upload", files=file)
    assert refused.status_code == 400
    assert "Choose how its letters are written. Your groups are as they were." in refused.text
    sent = {"encoding": "cp1252"}
    assert client.post("p", project.name, "hierarchy", "upload", files=file, data=sent).status_code == 303
    begun = ask(client, project, "tree")
    assert begun["from"].startswith("groups.csv. line 1 is a header")
    assert "levels go from the root down to the item" in begun["from"]
    assert ["bread", "bakery", "Käse", "*"] in read_hierarchy(project.hierarchy).paths()
    wrong = client.post("p", project.name, "hierarchy", "upload", files=file, data={"encoding": "rot13"})
    assert wrong.status_code >= 400


def test_problems_are_those_of_a_run(client: Client, tmp_path: Path) -> None:
    (tmp_path / "codes.csv").write_text("K64.8,I10\nK64.81,e119\nE119,E11.9\nk64.8,tea\n")
    (tmp_path / "tree.csv").write_text("K64.81;K64.8;*\nK64.82;K64.8;*\nE11.9;E11;*\nI10;*\n")
    project = client.studio.projects.create("Codes")
    project.save(
        input=str(tmp_path / "codes.csv"), format="basket", hierarchy=str(tmp_path / "tree.csv"), k=2, m="1"
    )
    found = {one["kind"]: one["nodes"] for one in ask(client, project, "problems")["problems"]}
    assert found["missing"] == ["tea"]
    assert found["group"] == ["K64.8"]
    assert found["unknown"] == ["K64.82"]
    counted = client.get("p", project.name, "hierarchy", "rows", params={"label": "E11.9"}).json()
    assert counted == {"rows": 2, "of": 4}


def test_groups_are_made_of_the_items_of_a_table(client: Client, tmp_path: Path) -> None:
    (tmp_path / "ward.csv").write_text("age,codes\n31,A10 A11 B20\n40,A10 B21\n41,B20 B21\n")
    project = client.studio.projects.create("Ward")
    project.save(input=str(tmp_path / "ward.csv"), qi="age", set="codes", delimiter=" ", model="kkm")
    sent = {"by": "prefix", "lengths": "1", "at": "."}
    assert client.post("p", project.name, "hierarchy", "build", data=sent).status_code == 303
    tree = read_hierarchy(project.hierarchy)
    assert tree == Hierarchy.from_paths(
        [["A10", "A", "*"], ["A11", "A", "*"], ["B20", "B", "*"], ["B21", "B", "*"]]
    )
    wrong = client.post("p", project.name, "hierarchy", "build", data={"by": "prefix", "lengths": "x"})
    assert wrong.status_code == 400
    assert "Whole numbers are expected here" in wrong.text
    project.save(hierarchy=[str(project.hierarchy), "age=ages.csv"])
    send(client, project, {"do": "rename", "node": "A", "name": "a"})
    assert project.settings()["hierarchy"] == [str(project.hierarchy), "age=ages.csv"]


def test_groups_are_made_of_the_codes_of_a_classification(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    (tmp_path / "rows.csv").write_text("250.01,250.02\n25003,401.9\n8.45,tea\n401.9\n")
    project.save(hierarchy=None)
    page = client.get("p", project.name, "hierarchy").text
    assert "Codes of a classification" in page
    assert "<option>icd9+icd10</option>" in page
    sent = {"by": "system", "system": "icd9", "zeros": "", "names": "250,Diabetes\r\n401.9,Hypertension\r\n"}
    assert client.post("p", project.name, "hierarchy", "build", data=sent).status_code == 303
    tree = read_hierarchy(project.hierarchy)
    assert tree.paths() == [
        ["250.01", "250.0", "ALL"], ["250.02", "250.0", "ALL"], ["25003", "250.0", "ALL"], ["401.9", "ALL"],
        ["8.45", "ALL"], ["tea", "(unlisted)", "ALL"],
    ]  # fmt: skip
    begun = ask(client, project, "tree")["from"]
    assert begun.startswith("codes of ICD-9-CM. 1 code read with the zeros that were missing, such as '8.45'")
    assert "1 not of the form 250.01, V45.1 or E849.0: 'tea'" in begun
    built, edited = _same_as(project)
    assert built[:2] == ["hierarchy", "build"]
    setveil(*built, cwd=project.folder).ok()
    setveil(*edited, cwd=project.folder).ok()
    assert read_hierarchy(project.hierarchy) == tree


def test_ambiguous_codes_raise_a_question_in_the_studio(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    (tmp_path / "rows.csv").write_text("V10,250.01\nE11.9\nV10,E11.9\n38,4280,25001\n")
    before = ask(client, project, "tree")["labels"]
    build = "p", project.name, "hierarchy", "build"
    result = client.post(*build, data={"by": "system", "system": "icd9+icd10"})
    assert result.status_code == 400
    assert "may be codes of ICD-9-CM or of ICD-10" in result.text
    assert "<option selected>icd9+icd10</option>" in result.text
    for wrong, words in (
        ("gtin", "begin with their makers"),
        ("", "There is no system"),
        ("x", "icd9+icd10"),
    ):
        refused = client.post(*build, data={"by": "system", "system": wrong})
        assert refused.status_code == 400
        assert words in refused.text
    named = client.post(*build, data={"by": "system", "system": "icd9", "names": "250"})
    assert named.status_code == 400
    assert "line 1" in named.text
    assert ask(client, project, "tree")["labels"] == before
    (tmp_path / "ward.csv").write_text("age,codes\n31,E11.9 E10.1\n40,E11.2 I10\n41,I10 I11\n")
    table = client.studio.projects.create("Ward")
    table.save(input=str(tmp_path / "ward.csv"), qi="age", set="codes", delimiter=" ", model="kkm")
    done = client.post("p", table.name, "hierarchy", "build", data={"by": "system", "system": "icd10"})
    assert done.status_code == 303
    assert "E08-E14" in read_hierarchy(table.hierarchy).labels


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"do": "start", "file": "/etc/passwd"}, "The request is not an edit."),
        ("move", "The request is not an edit."),
        ({"do": "fly"}, "An edit says what to do"),
        ({"do": "undo"}, "There is nothing to undo."),
        ({"do": "redo"}, "There is nothing to do again."),
        ({"do": "move", "nodes": ["food"], "under": "dairy"}, "'food' cannot go into itself"),
    ],
)
def test_what_is_no_edit_is_refused(client: Client, tmp_path: Path, edit: Any, message: str) -> None:
    project = made(client, tmp_path)
    answer = send(client, project, edit)
    assert answer.status_code == 400
    assert message in answer.json()["error"]["message"]
    assert not project.edits.exists()


def test_files_that_are_no_groups_change_nothing(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    send(client, project, {"do": "dissolve", "group": "dairy"})
    before = project.hierarchy.read_bytes(), project.edits.read_bytes()

    def sent(name: str, content: bytes) -> str:
        answer = client.post("p", project.name, "hierarchy", "upload", files={"file": (name, content)})
        assert answer.status_code == 400
        assert "Traceback" not in answer.text
        return answer.text

    assert "two parents" in sent("../../x.csv", b"a;x;*\na;y;*\n")
    assert "x.csv is not a hierarchy" in sent("../../x.csv", b"a;x;*\na;y;*\n")
    for content in (b"", b"\0\0", b"\xff\xfe\x00", b"a\nb\n", b"PK\x03\x04"):
        sent("x.csv", content)
    for content in (b"", b"{", b"[]", b'{"level1": 5}'):
        sent("x.json", content)
    none = client.post("p", project.name, "hierarchy", "upload", data={"file": "x"})
    assert (none.status_code, "Choose the file of your groups first." in none.text) == (400, True)
    assert (project.hierarchy.read_bytes(), project.edits.read_bytes()) == before
    assert client.get("p", project.name, "hierarchy", "export?form=exe").status_code == 400


def test_edits_that_were_changed_by_hand_are_reported(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    send(client, project, {"do": "dissolve", "group": "dairy"})
    with project.edits.open("a") as file:
        file.write('{"do": "dissolve", "group": "dairy"}\n')
    again = Client(project.folder.parent)
    answer = again.raw(
        "GET",
        again.at("p", project.name, "hierarchy", "tree"),
        {**again.headers(), "accept": "application/json"},
    )
    assert answer.status_code == 400
    assert "Line 3 of" in answer.json()["error"]["message"]
    project.edits.write_text("".join(line + "\n" for line in project.edits.read_text().splitlines()[:2]))
    assert again.get("p", project.name, "hierarchy", "tree").status_code == 200
    (start,) = [json.loads(line) for line in project.edits.read_text().splitlines()][:1]
    (project.folder / start["file"]).write_text('{"level1": {"*": ["a", "a"]}}')
    broken = Client(project.folder.parent).get("p", project.name, "hierarchy", "tree")
    assert (broken.status_code, "are no tree any more" in broken.text) == (400, True)


def test_a_column_says_which_system_a_code_is_of(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    table = "id,code,version\n1,V10,9\n1,250.01,9\n2,E11.9,10\n3,V10,9\n3,E11.2,ICD-10\n"
    (tmp_path / "codes.csv").write_text(table)
    project.save(
        input=str(tmp_path / "codes.csv"), hierarchy=None, format="long",
        **{"id-column": "id", "item-column": "code"},
    )  # fmt: skip
    build = "p", project.name, "hierarchy", "build"
    assert 'name="system-column"' in client.get("p", project.name, "hierarchy").text
    sent = {"by": "system", "system": "icd9+icd10"}
    for column, words in (
        ("sort", "no column"),
        ("code", "expected 9 or 10"),
        ("", "may be codes of ICD-9-CM or"),
    ):
        refused = client.post(*build, data={**sent, "system-column": column})
        assert refused.status_code == 400
        assert words in refused.text
    one = client.post(*build, data={"by": "system", "system": "icd9", "system-column": "version"})
    assert "“Column that says which system” tells two systems apart, got “Classification” icd9." in one.text
    assert client.post(*build, data={**sent, "system-column": "version"}).status_code == 303
    tree = read_hierarchy(project.hierarchy)
    built, edited = _same_as(project)
    assert "--system-column=version" in built
    setveil(*built, cwd=project.folder).ok()
    setveil(*edited, cwd=project.folder).ok()
    assert read_hierarchy(project.hierarchy) == tree


def test_what_cannot_be_regrouped_is_refused(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    at = "p", project.name, "hierarchy"
    assert "Look for better groups" in client.get(*at).text
    for form in ({"within": "x", "seconds": "9"}, {"within": "1", "seconds": "0"}):
        refused = client.post(*at, "regroup", data=form)
        assert refused.status_code == 400
        assert "Whole numbers are expected here" in refused.text
    nothing = client.post(*at, "regrouped")
    assert nothing.status_code == 400
    assert "There are no new groups to be used." in nothing.text
    project.save(hierarchy=None)
    assert (
        "There are no groups yet." in client.post(*at, "regroup", data={"within": "1", "seconds": "9"}).text
    )
    project.save(hierarchy=str(project.hierarchy), qi="age", set="codes", model="kkm")
    assert "Look for better groups" not in client.get(*at).text
    table = client.post(*at, "regroup", data={"within": "1", "seconds": "9"})
    assert "The items of a table are not regrouped." in table.text


# Each group below a chapter has one frequent item and rare ones.
FREQUENT = [f"f{at}" for at in range(6)]
RARE = [f"r{at}" for at in range(18)]
CHAPTERS = "".join(f"{one};g{at % 6};c{at % 6 % 2};*\n" for at, one in enumerate([*FREQUENT, *RARE]))


def promising(folder: Path, groups: str) -> tuple[Client, Project]:
    client = Client(folder / "projects", AtOnce())
    project = made(client, folder, groups, k=3, m=1)
    rows = 2 * [list(some) for n in (2, 3, 4) for some in combinations(FREQUENT, n)]
    rows += [[one] for one in RARE for _ in range(2)]
    (folder / "rows.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    return client, project


def test_the_promise_offers_groups_that_halve_the_loss(tmp_path: Path) -> None:
    client, project = promising(tmp_path, CHAPTERS)
    at = "p", project.name, "promise"
    assert "Try other groups" in client.get(*at).text
    sent = client.post(*at, "groups", data={"k": "3", "m": "1"})
    assert sent.headers["location"].endswith("promise?k=3&m=1#groups")
    page = client.get(*at).text
    assert "a release for k = 3 and m = 1 loses LM" in page
    job = client.studio.jobs.latest(project, "regroup")
    assert job is not None
    job.notes[:] = ["Other words for the same losses."]  # the losses are not read from printed text
    assert "a release for k = 3 and m = 1 loses LM" in client.get(*at).text
    before = read_hierarchy(tmp_path / "groups.csv")
    client.post("p", project.name, "hierarchy", "regrouped")
    now = read_hierarchy(project.hierarchy)
    assert now != before
    assert {path[0]: path[-2] for path in now.paths()} == {path[0]: path[-2] for path in before.paths()}


def test_the_promise_offers_no_groups_that_are_as_good(tmp_path: Path) -> None:
    alike = "".join(f"{one};rare{at // 2};rare;*\n" for at, one in enumerate(RARE))
    alike += "".join(f"{one};often{at // 3};often;*\n" for at, one in enumerate(FREQUENT))
    client, project = promising(tmp_path, alike)
    at = "p", project.name, "promise"
    client.post(*at, "groups", data={"k": "3", "m": "1"})
    page = client.get(*at).text
    assert "halve the loss for k = 3 and m = 1" in page
    assert "Use the new groups" not in page


def test_the_promise_says_why_no_groups_are_tried(client: Client, tmp_path: Path) -> None:
    project = made(client, tmp_path)
    at = "p", project.name, "promise"
    for form in ({"k": "1", "m": "2"}, {"k": "5", "m": "x"}, {"k": "5", "m": "inf"}):
        assert client.post(*at, "groups", data=form).status_code == 400
    assert not client.studio.jobs.of(project)
    project.save(hierarchy=None)
    assert "Try other groups" not in client.get(*at).text
    assert client.post(*at, "groups", data={"k": "5", "m": "2"}).status_code == 400
