"""The page Data: files are chosen, read as the user says, and shown."""

from __future__ import annotations

import html
import json
import os
import re
from pathlib import Path
from random import Random

import pytest

from cli_helpers import posix_only, write
from corpus import CORPUS
from exports import Export
from setveil.studio import commands
from setveil.studio.pages.data import plain_name, plain_path, size_in_words
from setveil.studio.projects import Project
from studio_client import AtOnce, Client

LONG = "patient,code,sex\n" + "".join(
    f"{4_100_000 + i // 2},{'ABCD'[i % 4]}1,{'mf'[i % 2]}\n" for i in range(40)
)


@pytest.fixture
def client(tmp_path: Path) -> Client:
    return Client(tmp_path / "setveil")


@pytest.fixture
def project(client: Client) -> Project:
    return client.studio.projects.create("Pharmacy")


def text_of(content: str) -> str:
    """Take the words of a page."""
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", content)))


def ways(content: str) -> list[dict[str, str]]:
    """List the ways of reading that a page offers."""
    return [
        json.loads(html.unescape(value)) for value in re.findall(r'name="way"[^>]* value="([^"]*)"', content)
    ]


def put(case: Export, folder: Path) -> None:
    for name, content in case.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write(folder / name, content)


def take(client: Client, project: Project, path: Path) -> str:
    """Choose a file, and return the page with the question how to read it."""
    answer = client.post("p", project.name, "data", "take", data={"path": str(path)})
    assert answer.status_code == 303, text_of(answer.text)
    return client.get("p", project.name, "data", "reading").text


# --- the corpus of files as people export them

FILES = [case for case in CORPUS if not case.inputs[0].startswith("--")]


@pytest.mark.parametrize("case", FILES, ids=[case.name for case in FILES])
def test_each_file_of_the_door(client: Client, project: Project, tmp_path: Path, case: Export) -> None:
    folder = tmp_path / "files"
    put(case, folder)
    path = folder / case.inputs[0]
    if len(case.inputs) > 1:
        path = path.parent
    answer = client.post("p", project.name, "data", "take", data={"path": str(path)})
    if answer.status_code == 422:
        page = answer.text
    else:
        assert answer.status_code == 303, text_of(answer.text)
        page = client.get("p", project.name, "data", "reading").text
    words = text_of(page)
    assert "Traceback" not in words
    assert "setveil made a mistake" not in words
    assert not re.search(r"setveil\.read|--(id|item)-column", words)
    assert not project.settings().get("input")  # nothing was chosen in silence
    helps = ways(page) or 'class="main" name=' in page or "role-1" in page or "<details open>" in page
    assert helps or case.must == "refuse", words
    if case.must == "read" and len(case.inputs) == 1 and not case.options:
        assert ways(page), words


def test_what_the_door_reads_is_read_as_it_reads_it(client: Client, tmp_path: Path) -> None:
    """Check that the page first proposes the reading that the command line uses."""
    import setveil as sv

    cases = [case for case in FILES if case.must == "read" and len(case.inputs) == 1 and not case.options]
    for number, case in enumerate(cases[::4]):
        folder = tmp_path / f"{number}"
        put(case, folder)
        path = folder / case.inputs[0]
        project = client.studio.projects.create("One")
        first = ways(take(client, project, path))[0]
        answer = client.post("p", project.name, "data", "read", data={"way": json.dumps(first)})
        assert answer.status_code == 303
        options = {key.replace("-", "_"): value for key, value in first.items()}
        data = sv.read(path, **options)  # type: ignore[arg-type]
        assert [frozenset(row) for row in data] == case.rows
        assert project.studio["rows"] == len(data)
        assert project.studio["sha256"] == data.origin.sha256  # type: ignore[union-attr]


# --- reading


def test_a_table_raises_a_question(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, write(tmp_path / "stays.csv", LONG))
    first, *others = ways(page)
    assert first == {"id-column": "patient", "item-column": "code"}
    assert {"format": "basket"} not in others  # which would take the patients for items
    assert "checked" not in page.partition("<fieldset>")[2].partition("</fieldset>")[0]
    assert "Please choose how to read it" in text_of(page)
    assert client.get("p", project.name, "hierarchy").status_code == 200
    answer = client.post("p", project.name, "data", "read", data={"way": json.dumps(first)})
    assert answer.headers["location"].endswith("/data")
    settings = project.settings()
    assert (settings["id-column"], settings["item-column"]) == ("patient", "code")
    assert settings["input"] == str(tmp_path / "stays.csv")
    shown = text_of(client.get("p", project.name, "data").text)
    assert "one row per value of patient, items from code" in shown
    rows = client.get("p", project.name, "data", "rows").json()
    assert rows["total"] == 20
    assert rows["rows"][0] == {"items": ["A1", "B1"], "values": []}


LISTS = "patient,age,codes\n" + "".join(
    f'{4_100_000 + i},{30 + i % 5},"{";".join("ABCDE"[(i + at) % 5] + "1" for at in range(1 + i % 3))}"\n'
    for i in range(40)
)


def test_lists_in_cells_are_taken_apart(client: Client, project: Project, tmp_path: Path) -> None:
    page = take(client, project, write(tmp_path / "lists.csv", LISTS))
    first = {"id-column": "patient", "item-column": "codes", "delimiter": ";"}
    assert first in ways(page)
    read = client.post("p", project.name, "data", "read", data={"way": json.dumps(first)})
    assert read.status_code == 303
    assert project.settings()["delimiter"] == ";"
    shown = text_of(client.get("p", project.name, "data").text)
    assert "items from codes, with semicolons between them" in shown
    rows = client.get("p", project.name, "data", "rows").json()["rows"]
    assert [row["items"] for row in rows[:3]] == [["A1"], ["B1", "C1"], ["C1", "D1", "E1"]]
    assert "--delimiter" in commands.anonymize(project, "runs/NAME")

    options = {"id-column": "patient", "item-column": "codes"}  # without it: asked
    page = client.get("p", project.name, "data", "reading", params=options).text
    assert "seem to be lists of items" in text_of(page)
    assert ways(page)[0] == first
    page = client.get("p", project.name, "data", "reading", params=first).text
    assert [way for way in ways(page) if way == first]

    form = {f"column-{at}": name for at, name in enumerate(("patient", "age", "codes"), 1)}
    form |= {f"columns-{at}": name for at, name in enumerate(("patient", "age", "codes"), 1)}
    roles = form | {"role-1": "id", "role-2": "qi", "role-3": "set", "delimiter": ";"}
    answer = client.post("p", project.name, "data", "roles", data=first | roles | {"missing": ""})
    assert answer.status_code == 303, text_of(answer.text)
    settings = project.settings()
    assert (settings["set"], settings["delimiter"]) == ("codes", ";")
    assert "item-column" not in settings
    lacking = client.post("p", project.name, "data", "roles", data=roles | {"role-2": "drop"})
    assert lacking.status_code == 422
    assert 'name="role-2"' in lacking.text  # the settings of columns are still there


def test_nothing_is_read_without_a_choice(client: Client, project: Project, tmp_path: Path) -> None:
    take(client, project, write(tmp_path / "stays.csv", LONG))
    for way in ("", "x", "[]", "null", '"a"'):
        answer = client.post("p", project.name, "data", "read", data={"way": way})
        assert "Choose how to read the file" in answer.text
    assert "input" not in project.settings()


def test_options_are_those_of_reading_only(client: Client, project: Project, tmp_path: Path) -> None:
    take(client, project, write(tmp_path / "b.csv", "a,b\nc\na,b,c\nb\n"))
    way = json.dumps({"format": "basket", "out": "/etc", "connection": "x", "k": 1, "separator": 3})
    assert client.post("p", project.name, "data", "read", data={"way": way}).status_code == 303
    assert {key for key in project.settings() if key != "studio"} == {"input", "format"}


def test_what_must_not_be_published_stops_a_run_that_says_the_way_out(tmp_path: Path) -> None:
    client = Client(tmp_path / "setveil", AtOnce())
    project = client.studio.projects.create("Pharmacy")
    rows = "".join(f"someone{i // 6}@example.org,{'abcd'[i % 4]},{'ef'[i % 2]}\n" for i in range(60))
    take(client, project, write(tmp_path / "b.csv", rows))
    refused = client.post("p", project.name, "data", "read", data={"way": json.dumps({"format": "basket"})})
    assert "10 people have 60 rows: rows would not be people" in text_of(refused.text)
    events = {"format": "basket", "rows-are-events": True}
    client.post("p", project.name, "data", "read", data={"way": json.dumps(events)})
    project.save(k=2, m=1)
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "60"})
    job = client.studio.jobs.of(project)[-1]
    assert job.exit_code == 4
    page = text_of(client.get("p", project.name, "run").text)
    assert "There is no release." in page
    assert "10 values of field 1, e-mail addresses (so****g, so****g, so****g)" in page
    assert "say so where the file is read" in page
    text = client.get("p", project.name, "data", "reading", params={"format": "basket", "not-ids": "1"}).text
    assert {"format": "basket", "not-ids": "1"} in ways(text)
    client.post("p", project.name, "data", "read", data={"way": json.dumps(ways(text)[0])})
    assert project.settings()["not-ids"] == "1"
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "60"})
    assert client.studio.jobs.of(project)[-1].exit_code == 0


def test_rows_that_are_events_are_confirmed(tmp_path: Path) -> None:
    client = Client(tmp_path / "setveil", AtOnce())
    project = client.studio.projects.create("Pharmacy")
    lines = [f"o{1000 + i // 2},u{i // 8},{'abcd'[i * 7 % 4]}" for i in range(80)]
    file = write(tmp_path / "b.csv", "\n".join(["order_id,user_id,product", *lines]) + "\n")
    assert "u0" in take(client, project, file)
    options = {"id-column": "order_id", "item-column": "product"}
    page = client.get("p", project.name, "data", "reading", params=options).text
    assert "10 users have 40 orders: rows would be orders, not people" in text_of(page)
    options["rows-are-events"] = "yes"
    page = client.get("p", project.name, "data", "reading", params=options).text
    assert re.search(r'name="rows-are-events" value="yes" checked', page)
    confirmed = {**options, "rows-are-events": True}
    assert ways(page)[:1] == [confirmed]
    client.post("p", project.name, "data", "read", data={"way": json.dumps(confirmed)})
    assert project.settings()["rows-are-events"] is True
    project.save(k=2, m=1)
    client.post("p", project.name, "run", "start", data={"algorithm": "exact", "time-limit": "60"})
    assert client.studio.jobs.of(project)[-1].exit_code == 0
    page = text_of(client.get("p", project.name, "release").text)
    assert "If someone knows an item that an order does not have" in page
    assert "the only row that fits someone is that order" in page


def test_a_table_of_persons(client: Client, project: Project, tmp_path: Path) -> None:
    lines = "".join(f"p{i},{20 + i},{'mf'[i % 2]},{i},A{i % 3};B{i % 2}\n" for i in range(30))
    page = take(client, project, write(tmp_path / "ward.csv", "person,age,sex,note,codes\n" + lines))
    assert 'id="role-5"' in page
    form = {"delimiter": ";"}
    for number, (name, role, kind) in enumerate(
        [
            ("person", "id", ""),
            ("age", "qi", "ranges"),
            ("sex", "qi", ""),
            ("note", "drop", ""),
            ("codes", "set", ""),
        ],
        1,
    ):
        form |= {f"column-{number}": name, f"role-{number}": role, f"kind-{number}": kind}
    answer = client.post("p", project.name, "data", "roles", data=form)
    assert answer.status_code == 303, text_of(answer.text)
    settings = project.settings()
    assert settings["model"] == "kkm"
    assert (settings["qi"], settings["set"], settings["ranges"]) == ("age,sex", "codes", ["age"])
    assert (settings["id-column"], settings["drop"]) == ("person", "note")
    rows = client.get("p", project.name, "data", "rows").json()["rows"]
    assert rows[1] == {"items": ["A1", "B1"], "values": ["21", "f"]}
    shown = text_of(client.get("p", project.name, "data").text)
    assert "someone may know: age, sex" in shown
    # and back to rows of items
    client.post("p", project.name, "data", "read", data={"way": '{"format": "basket"}'})
    assert "qi" not in project.settings()
    assert "model" not in project.settings()


def test_a_table_of_persons_needs_its_roles(client: Client, project: Project, tmp_path: Path) -> None:
    take(client, project, write(tmp_path / "ward.csv", "age,codes\n34,A;B\n36,A\n"))
    form = {"column-1": "age", "role-1": "drop", "column-2": "codes", "role-2": "keep"}
    answer = client.post("p", project.name, "data", "roles", data=form)
    assert answer.status_code == 422
    assert "Say which column contains the items." in answer.text
    assert "Say for at least one column that someone may know it." in answer.text


def test_the_numbers_of_persons_are_preset(client: Client, project: Project, tmp_path: Path) -> None:
    rng = Random(1)
    persons = [(number, rng.randint(18, 90), rng.choice("fm")) for number in rng.sample(range(10**6), 40)]
    lines: list[tuple[object, ...]] = [
        (*person, code) for person in persons for code in rng.sample(("A1", "B2", "C3", "D4"), 2)
    ]
    lines[0] = (lines[0][0], "NA", *lines[0][2:])
    lines[1] = (lines[1][0], "NA", *lines[1][2:])
    text = "patient_id,age,sex,icd10\n" + "".join(",".join(map(str, line)) + "\n" for line in lines)
    page = take(client, project, write(tmp_path / "diagnoses.csv", text))
    roles = re.findall(r'name="role-\d".*?<option value="(\w+)" selected>', page, re.DOTALL)
    assert roles == ["id", "qi", "qi", "set"]
    names = ("patient_id", "age", "sex", "icd10")
    form = {f"column-{at}": name for at, name in enumerate(names, 1)}
    form |= {f"role-{at}": role for at, role in enumerate(roles, 1)}
    answer = client.post("p", project.name, "data", "roles", data=form)
    assert answer.status_code == 422
    assert "column 'age' contains numbers, but 2 rows of 80 contain 'NA'" in text_of(answer.text)
    form |= {"missing": "NA,?"}
    answer = client.post("p", project.name, "data", "roles", data=form | {"role-1": "drop"})
    assert answer.status_code == 422
    assert "'patient_id' is named like person IDs" in text_of(answer.text)
    assert client.post("p", project.name, "data", "roles", data=form).status_code == 303
    settings = project.settings()
    assert (settings["id-column"], settings["missing"]) == ("patient_id", ["age=NA,?", "sex=NA,?"])
    assert project.studio["rows"] == 40
    assert "one row per value of patient_id" in text_of(client.get("p", project.name, "data").text)
    form |= {"role-1": "drop", "not-id-1": "yes"}
    assert client.post("p", project.name, "data", "roles", data=form).status_code == 303
    assert (project.settings()["not-ids"], project.studio["rows"]) == ("patient_id", 80)
    words = commands.risk(project, [1])
    assert words[words.index("--not-ids") + 1] == "patient_id"
    assert "age=NA,?" in words


def test_a_bad_line_is_shown_with_those_around(client: Client, project: Project, tmp_path: Path) -> None:
    path = write(tmp_path / "b.csv", b"tea,milk\nbread\ncaf\xe9,tea\nmilk\nsoap\nrice\n")
    page = take(client, project, path)
    words = text_of(page)
    assert "is not UTF-8" in words
    assert re.search(r'class="marked"><th[^>]*>here: line 3</th>', page)
    assert "line 5" in words
    assert "line 6" not in words
    assert "Read it as Windows-1252" in words
    again = client.get("p", project.name, "data", "reading?encoding=cp1252").text
    assert "café" in again
    assert ways(again)[0] == {"encoding": "cp1252"}


def test_hostile_names_are_words(client: Client, project: Project, tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    path = write(tmp_path / "<b>.csv", f'"{evil}","=cmd()"\n"{evil}"\n"x"" onload=1"\n')
    page = take(client, project, path)
    assert "<script>alert" not in page
    assert "&lt;script&gt;" in page
    client.post("p", project.name, "data", "read", data={"way": json.dumps({"format": "basket"})})
    for part in ("data", "data/pages"):
        shown = client.get("p", project.name, part).text
        assert "<script>alert" not in shown
    assert "1 label begins" in text_of(client.get("p", project.name, "data").text)


# --- rows, items, kept columns


@pytest.fixture
def read(client: Client, project: Project, tmp_path: Path) -> Project:
    lines = "".join(
        f"{'tea' if i % 2 else 'milk'},{'bread,' if i % 3 else ''}item {i % 50}\n" for i in range(500)
    )
    take(client, project, write(tmp_path / "baskets.csv", "tea,milk,soap,rice\n" + lines))
    client.post("p", project.name, "data", "read", data={"way": json.dumps({"format": "basket"})})
    return project


def test_rows_are_those_requested(client: Client, read: Project) -> None:
    found = client.get("p", read.name, "data", "rows?first=499&count=10").json()
    assert (found["first"], found["total"], len(found["rows"])) == (499, 501, 2)
    for odd in ("first=-1", "first=x", "first=99999999999999", "count=0", "count=99999999", "first=%00"):
        answer = client.get("p", read.name, "data", f"rows?{odd}")
        assert answer.status_code == 200
        assert len(answer.json()["rows"]) <= 1000
    page = text_of(client.get("p", read.name, "data", "pages?row=250").text)
    assert "Rows 201 to 300 of 501." in page


def test_items_are_found_by_a_part_of_their_names(client: Client, read: Project) -> None:
    found = client.get("p", read.name, "data", "items?text=TEA").json()
    assert found["items"][0] == {"item": "tea", "rows": 251}
    assert client.get("p", read.name, "data", "items?text=%25").json()["total"] == 0


def test_sensitive_items_and_the_word_for_a_row_are_kept(client: Client, read: Project) -> None:
    form = {"sensitive": ["tea", "item 7"], "row": " a \t patient ", "next": "yes"}
    answer = client.post("p", read.name, "data", "keep", data=form)
    assert answer.headers["location"].endswith("/hierarchy")
    assert read.studio["sensitive"] == ["tea", "item 7"]
    assert read.studio["row"] == "a patient"
    shown = client.get("p", read.name, "data").text
    assert 'value="item 7" checked' in shown
    refused = client.post("p", read.name, "data", "keep", data={"sensitive": ["nothing"]})
    assert refused.status_code == 400
    assert read.studio["sensitive"] == ["tea", "item 7"]


def test_a_changed_file_is_said(client: Client, read: Project) -> None:
    path = Path(read.settings()["input"])
    old = read.studio["sha256"]
    assert "has changed since" not in client.get("p", read.name, "promise").text
    path.write_text(path.read_text() + "tea,new thing\n")
    for step in ("data", "promise", "run"):
        assert "has changed since" in client.get("p", read.name, step).text
    client.post("p", read.name, "data", "again")
    assert read.studio["sha256"] != old
    assert "has changed since" not in client.get("p", read.name, "data").text
    path.unlink()
    words = text_of(client.get("p", read.name, "data").text)
    assert "is not there any more" in words
    assert "Traceback" not in words


# --- files and folders


@pytest.mark.parametrize(
    "path", ["", "visits.csv", "../../etc/passwd", "\0", "/nowhere/x.csv", "/" + "x" * 5000]
)
def test_what_is_no_file_is_refused(client: Client, project: Project, path: str) -> None:
    answer = client.post("p", project.name, "data", "take", data={"path": path})
    assert answer.status_code == 422
    assert "There is a problem" in answer.text
    assert "file" not in project.studio


@posix_only
def test_no_device_and_no_pipe_is_read(client: Client, project: Project, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "round").symlink_to(tmp_path / "round")
    for path in ("/dev/zero", tmp_path / "pipe.csv", tmp_path / "round"):
        answer = client.post("p", project.name, "data", "take", data={"path": str(path)})
        assert answer.status_code == 422
        listed = client.get("p", project.name, f"data/file?in={Path(path).parent}").text
        assert f'value="{path}"' not in listed
    assert "file" not in project.studio


def test_folders_are_shown(client: Client, project: Project, tmp_path: Path) -> None:
    write(tmp_path / "a b&c.csv", "x\n")
    write(tmp_path / ".hidden.csv", "x\n")
    (tmp_path / "sub <b>").mkdir()
    page = client.get("p", project.name, f"data/file?in={tmp_path}").text
    assert "a b&amp;c.csv" in page
    assert "sub &lt;b&gt;/" in page
    assert "hidden" not in page.partition("<main")[2]
    for wrong in ("/nowhere", "relative", "%00", str(tmp_path / "a b%26c.csv")):
        answer = client.get("p", project.name, f"data/file?in={wrong}")
        assert answer.status_code == 422


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("a.csv", "a.csv"), ("../../a.csv", "a.csv"), ("..\\..\\a.csv", "a.csv"), ("/etc/passwd", "passwd"),
        ("", "data"), ("..", "data"), (".", "data"), ("\0", "data"), (".bashrc", "bashrc"),
        ("a\0b.csv", "ab.csv"), ("C:\\x\\y.csv", "y.csv"), ("a/", "data"), ("é .csv", "é .csv"),
        ("x" * 500 + ".csv", "x" * 150 + ".csv"), ("é" * 90 + ".csv", "é" * 75 + ".csv"),
        ("\ud800.csv", "csv"),
    ],
)  # fmt: skip
def test_a_dropped_file_stays_in_its_folder(name: str, expected: str) -> None:
    assert plain_name(name) == expected


def test_a_dropped_file_is_copied(client: Client, project: Project) -> None:
    for _ in range(2):
        answer = client.post(
            "p", project.name, "data", "upload?name=..%2F..%2Fa.csv", content=b"tea,milk\ntea\n"
        )
        assert answer.json()["go"].endswith("/data/reading")
    assert sorted(path.name for path in project.input.iterdir()) == ["a-2.csv", "a.csv"]
    assert project.studio["file"] == str(project.input / "a-2.csv")
    refused = client.post("p", project.name, "data", "upload?name=b.csv", content=b"")
    assert refused.status_code == 400
    assert "is empty" in refused.text


@posix_only
def test_large_requests_are_confirmed(client: Client, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "large.csv"
    with path.open("wb") as file:
        file.truncate(1_200_000_000)  # takes no place
    answer = client.post("p", project.name, "data", "take", data={"path": str(path)})
    assert "has 1.2 GB" in text_of(answer.text)
    assert "file" not in project.studio
    answer = client.post("p", project.name, "data", "take", data={"path": str(path), "large": "yes"})
    assert answer.status_code == 303


def test_sizes_in_words() -> None:
    assert [size_in_words(n) for n in (0, 999, 1500, 2_500_000)] == [
        "0 bytes",
        "999 bytes",
        "1.5 kB",
        "2.5 MB",
    ]


def test_a_path_follows_links(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "x")
    (tmp_path / "link.csv").symlink_to(tmp_path / "a.csv")
    assert plain_path(str(tmp_path / "link.csv")) == (tmp_path / "a.csv").resolve()


def test_spellings_of_one_item_become_one_and_stay_apart(
    client: Client, project: Project, tmp_path: Path
) -> None:
    rows = [("E11.9", "I10"), ("E119", "I10"), ("e11.9", "J18.9")]
    (tmp_path / "icd.csv").write_text("".join(",".join(row) + "\n" for row in rows))
    take(client, project, tmp_path / "icd.csv")
    chosen = {"format": "basket", "normalize": "codes"}
    (way,) = ways(client.get("p", project.name, "data", "reading", params=chosen).text)
    assert way == {"format": "basket", "normalize": "codes"}
    sent = {"way": json.dumps({"format": "basket"})}
    assert client.post("p", project.name, "data", "read", data=sent).status_code == 303
    page = client.get("p", project.name, "data").text
    assert "3 of 5 items differ from another one only in dots, case or blanks" in text_of(page)
    assert "Make them one" in page
    for how, said, n_items in (("codes", "5 spellings became 3 items", 3), ("", "Make them one", 5)):
        answer = client.post("p", project.name, "data", "spellings", data={"normalize": how})
        assert answer.status_code == 303
        assert project.settings().get("normalize") == (how or None)
        assert said.replace("3 spellings", "5 spellings") in text_of(
            client.get("p", project.name, "data").text
        )
        assert client.get("p", project.name, "data", "items").json()["total"] == n_items
    assert client.post("p", project.name, "data", "spellings", data={"normalize": "x"}).status_code >= 400


def test_a_column_that_differs_on_the_lines_of_a_person(
    client: Client, project: Project, tmp_path: Path
) -> None:
    path = tmp_path / "visits.csv"
    lines = [f"{4_100_000 + at},{30 + at % 7},{'ABC'[at % 3]}1" for at in range(30)]
    path.write_text("\n".join(["patient,age,code", *lines, "4100000,31,B1"]) + "\n", encoding="utf-8")
    take(client, project, path)
    form = {"column-1": "patient", "role-1": "id", "column-2": "age", "role-2": "qi"}
    form |= {"column-3": "code", "role-3": "set", "delimiter": ";"}
    refused = client.post("p", project.name, "data", "roles", data=form)
    assert refused.status_code == 422
    assert "the same patient, age '31'" in text_of(refused.text)
    assert "If a column differs on the lines of a person" in text_of(refused.text)
    done = client.post("p", project.name, "data", "roles", data=form | {"per-person": "most-frequent"})
    assert done.status_code == 303, text_of(done.text)
    assert project.settings()["per-person"] == ["age=most-frequent"]
    assert "age=most-frequent" in commands.risk(project, [1])
    page = client.get("p", project.name, "data", "reading").text
    assert '<option value="most-frequent" selected>' in page


def test_the_age_at_a_date_is_a_column(client: Client, project: Project, tmp_path: Path) -> None:
    path = tmp_path / "births.csv"
    dates = [f"19{50 + at % 4}-03-01,2024-0{1 + at % 6}-10" for at in range(30)]
    lines = [f"{4_100_000 + at},{both},{'ABC'[at % 3]}1" for at, both in enumerate(dates)]
    path.write_text("\n".join(["patient,born,admitted,code", *lines]) + "\n", encoding="utf-8")
    take(client, project, path)
    form = {"column-1": "patient", "role-1": "id", "column-2": "born", "role-2": "drop"}
    form |= {"column-3": "admitted", "role-3": "drop", "column-4": "code", "role-4": "set", "delimiter": ";"}
    refused = client.post("p", project.name, "data", "roles", data=form | {"age": "age=born..nothing"})
    assert refused.status_code == 422
    assert 'value="age=born..nothing"' in refused.text
    done = client.post("p", project.name, "data", "roles", data=form | {"age": "age=born..admitted"})
    assert done.status_code == 303, text_of(done.text)
    assert project.settings()["age"] == ["age=born..admitted"]
    assert project.settings()["qi"] == "age"
    assert "age=born..admitted" in commands.risk(project, [1])
    page = client.get("p", project.name, "data", "reading").text
    assert 'value="age=born..admitted"' in page
