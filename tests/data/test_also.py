"""Further files about the same people: their items are joined by the ID."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil, write
from setveil.rows.data.also import also_of

TREE = "E11;endo;*\nI10;circ;*\nJ45;resp;*\nA10;drug;*\nC07;drug;*\nN02;drug;*\n"
READ = ["--id-column", "patient", "--item-column", "icd", "--also", "rx.csv:ATC"]


def joined(*tables: list[tuple[str, str]]) -> list[set[str]]:
    """Join tables of people and items the slow way: everyone in any table, in the order of their lines."""
    people = list(dict.fromkeys(person for table in tables for person, _ in table))
    return [{item for table in tables for one, item in table if one == person} for person in people]


def drawn(seed: int, first: int, last: int, items: list[str]) -> list[tuple[str, str]]:
    random = Random(seed)
    found = [(f"p{i:02}", item) for i in range(first, last) for item in random.sample(items, 2)]
    random.shuffle(found)
    return found


DX = drawn(1, 0, 30, ["E11", "I10", "J45"])
RX = drawn(2, 20, 40, ["A10", "C07", "N02"])


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "dx.csv", "patient,icd\n" + "".join(f"{one},{item}\n" for one, item in DX))
    write(tmp_path / "rx.csv", "patient;day;ATC\n" + "".join(f"{one};1;{item}\n" for one, item in RX))
    write(tmp_path / "tree.csv", TREE)
    return tmp_path


def rows(data: Any) -> list[set[str]]:
    return [set(row) for row in data]


def test_items_of_two_files_are_one_row_a_person(folder: Path) -> None:
    for also in (f"{folder}/rx.csv:ATC", [f"{folder}/rx.csv:ATC"], {f"{folder}/rx.csv": "ATC"}):
        data = sv.read(folder / "dx.csv", id_column="patient", item_column="icd", also=also)
        assert rows(data) == joined(DX, RX)
    assert data.origin is not None
    assert data.origin.as_dict()["also"] == [f"{folder}/rx.csv:ATC"]
    assert [Path(file.path).name for file in data.origin.files] == ["dx.csv", "rx.csv"]


def test_files_of_other_shapes(folder: Path) -> None:
    by_person: dict[str, list[str]] = {}
    for person, item in RX:
        by_person.setdefault(person, []).append(item)
    wide = "patient|ATC1|ATC2\n" + "".join(f"{one}|{'|'.join(items)}\n" for one, items in by_person.items())
    listed = [{"patient": one, "atc": items} for one, items in by_person.items()]
    write(folder / "wide.csv", wide)
    write(folder / "rx.jsonl", "".join(json.dumps(one) + "\n" for one in listed))
    for also in ("wide.csv:ATC1,ATC2", "wide.csv:ATC*", "rx.jsonl:atc"):
        data = sv.read(folder / "dx.csv", id_column="patient", item_column="icd", also=f"{folder}/{also}")
        assert rows(data) == joined(DX, RX), also


def test_a_second_sheet_and_a_third_file(folder: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for name, head, table in (("Codes", "icd", DX), ("Drugs", "ATC", RX)):
        sheet = book.create_sheet(name)
        sheet.append(["patient", head])
        for line in table:
            sheet.append(line)
    del book["Sheet"]
    book.save(folder / "book.xlsx")
    book_at, lab = folder / "book.xlsx", [("p03", "HbA1c"), ("p41", "HbA1c")]
    write(folder / "lab.csv", "patient,icd\n" + "".join(f"{one},{item}\n" for one, item in lab))
    also = [f"{book_at}:Drugs:ATC", f"{folder}/lab.csv"]
    data = sv.read(book_at, sheet="Codes", id_column="patient", item_column="icd", also=also)
    assert rows(data) == joined(DX, RX, lab)


def test_a_run_is_recorded_and_found_again(folder: Path) -> None:
    done = setveil(
        "anonymize", "dx.csv", *READ, "--k", "3", "--m", "2", "-H", "tree.csv", "--out", "out", cwd=folder
    )
    assert done.code == 0, done.err
    read = json.loads((folder / "out/internal/report.json").read_text())["input"]["read"]
    assert read["also"] == ["rx.csv:ATC"]
    assert [file["path"] for file in read["files"]] == ["dx.csv", "rx.csv"]
    for words in (["verify", "out"], ["verify", "dx.csv", *READ]):
        assert setveil(*words, "--k", "3", "--m", "2", cwd=folder).code in (0, 1)
    assert setveil("why", "out", "E11", cwd=folder).code == 0
    write(folder / "rx.csv", "patient;day;ATC\np20;1;A10\n")
    changed = setveil("why", "out", "E11", cwd=folder)
    assert changed.code == 4
    assert "is not what the run read" in changed.err


def test_words_for_nothing_and_spellings_of_both(folder: Path) -> None:
    write(folder / "rx.csv", "patient;ATC\np00;a10\np01;NULL\np90;-\n")
    options = {"id_column": "patient", "item_column": "icd", "normalize": "codes"}
    data = sv.read(folder / "dx.csv", also=f"{folder}/rx.csv:ATC", **options)  # type: ignore[arg-type]
    assert rows(data) == [*joined(DX, [("p00", "A10")]), set()]


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["--also", "rx.csv"], "there is no column 'icd'", "--also rx.csv:ATC"),
        (["--also", "rx.csv:AT"], "there is no column 'AT'", "Did you mean 'ATC'?"),
        (["--also", "none.csv:ATC"], "There is no file none.csv", ""),
        (["--also", "titled.csv:ATC"], "lines 1-2 are not of 3 fields", "--skip-lines titled.csv=2"),
        (["--also", ".:ATC"], "", ""),
        (["--also", "rx.csv:ATC", "--when", "day:month", "--set", "icd"], "does not apply to facts", ""),
    ],
)
def test_what_cannot_be_joined(folder: Path, words: list[str], message: str, hint: str) -> None:
    write(folder / "titled.csv", "Drugs of 2024\n\n" + (folder / "rx.csv").read_text())
    done = setveil("read", "dx.csv", "--id-column", "patient", "--item-column", "icd", *words, cwd=folder)
    assert done.code in (2, 4), done.out
    assert message in done.err
    assert hint in done.err


def ward_lines(random: Random) -> list[tuple[str, int, str, list[str]]]:
    """Draw lines of people: ID, age, sex and codes; some people have several lines."""
    found = []
    for at in range(random.randint(20, 40)):
        age, sex = random.choice([34, 51, 78]), random.choice("fm")
        for _ in range(random.choice([1, 1, 2])):
            codes = random.sample(["E11", "I10", "J45"], random.randint(0, 2))
            found.append((f"p{at:02}", age, sex, codes))
    random.shuffle(found)
    return found


@pytest.mark.parametrize("seed", range(8))
def test_tables_with_roles_are_joined_as_the_slow_way_does(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    lines = ward_lines(random)
    people = list(dict.fromkeys(one for one, *_ in lines))
    further = [(random.choice(people), random.choice(["A10", "C07", "I10"])) for _ in range(60)]
    more = [(random.choice(people), random.choice(["N02", "C07"])) for _ in range(20)]
    text = "".join(f"{one},{age},{sex},{';'.join(codes)}\n" for one, age, sex, codes in lines)
    write(tmp_path / "ward.csv", f"patient,age,sex,icd\n{text}")
    write(tmp_path / "rx.csv", "patient;day;ATC\n" + "".join(f"{one};1;{item}\n" for one, item in further))
    write(tmp_path / "ops.csv", "OPS|patient\n" + "".join(f"{item}|{one}\n" for one, item in more))
    also = {f"{tmp_path}/rx.csv": "ATC", f"{tmp_path}/ops.csv": "OPS"}
    table = sv.read_table(tmp_path / "ward.csv", qi=["age", "sex"], set="icd", id_column="patient", also=also)
    own = [(one, code) for one, _, _, codes in lines for code in codes]
    expected = [{item for who, item in (*own, *further, *more) if who == one} for one in people]
    known = {one: (str(age), sex) for one, age, sex, _ in lines}
    assert rows(table) == expected
    values = [[column.labels[code] for code in column.codes] for column in table.columns]
    assert list(zip(*values, strict=True)) == [known[one] for one in people]
    assert table.origin is not None
    assert [Path(file.path).name for file in table.origin.files] == ["ward.csv", "rx.csv", "ops.csv"]


def test_a_run_of_a_joined_table_is_recorded_and_found_again(folder: Path) -> None:
    lines = "".join(f"p{at:02},{30 + at % 3},{'E11' if at % 2 else 'I10'}\n" for at in range(40))
    write(folder / "ward.csv", f"patient,age,icd\n{lines}")
    roles = ["--model", "kkm", "--qi", "age", "--set", "icd", "--id-column", "patient"]
    options = [*roles, "--also", "rx.csv:ATC", "--k", "2", "--m", "1", "--out", "out"]
    done = setveil("anonymize", "ward.csv", *options, cwd=folder).ok()
    assert "with items of rx.csv:ATC" in done.err
    read = json.loads((folder / "out" / "internal" / "report.json").read_text())["input"]
    assert (read["rows"], read["items"], read["occurrences"]) == (40, 5, 80)
    setveil("why", "out", "A10", cwd=folder).ok()
    write(folder / "rx.csv", "patient;day;ATC\np20;1;A10\n")
    assert "no longer the one" in setveil("why", "out", "A10", cwd=folder).err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--also", "rx.csv:ATC"], "have no IDs"),
        (["--also", "rx.csv:ATC", "--id-column", "patient"], "is not in column 'patient' of the table"),
        (["--also", "names.csv:name", "--id-column", "patient"], "name"),
    ],
)
def test_what_cannot_be_joined_to_a_table(folder: Path, words: list[str], message: str) -> None:
    write(
        folder / "ward.csv",
        "patient,age,icd\n" + "".join(f"p{at:02},{30 + at % 3},E11\n" for at in range(39)),
    )
    write(folder / "names.csv", "patient;name\n" + "".join(f"p{i:02};Ann Miller {i}\n" for i in range(39)))
    done = setveil("read", "ward.csv", "--qi", "age", "--set", "icd", *words, cwd=folder)
    assert done.code in (2, 4), done.out
    assert message in done.err


def test_rows_without_ids_cannot_be_joined(folder: Path) -> None:
    done = setveil("read", "dx.csv", "--format", "basket", "--also", "rx.csv:ATC", cwd=folder)
    assert done.code in (2, 4)
    assert "have no IDs" in done.err
    assert "--id-column" in done.err
    with pytest.raises(sv.RequestError, match="also"):
        sv.read([["tea"]], also="rx.csv:ATC")
    with pytest.raises(sv.RequestError, match="also must be FILE"):
        also_of([3])


def test_ids_of_people_are_looked_for_in_every_file(folder: Path) -> None:
    lines = "".join(f"p{i:02};Ann Miller {i}\n" for i in range(40))
    write(folder / "names.csv", "patient;name\n" + lines)
    done = setveil(
        "read", "dx.csv", "--id-column", "patient", "--item-column", "icd", "--also", "names.csv:name",
        cwd=folder,
    )  # fmt: skip
    assert done.code == 4
    assert "name" in done.err


@pytest.mark.parametrize("also", ["rx.csv", "titled.csv:ATC", "gaps.csv:ATC"])
def test_what_is_printed_of_a_further_file_works(folder: Path, also: str) -> None:
    """Its column of items, its lines that are no data, or its lines without an ID."""
    text = (folder / "rx.csv").read_text()
    write(folder / "titled.csv", "Drugs of 2024\n\n" + text)
    write(folder / "gaps.csv", text + ";1;A10\n")
    read = ["convert", "dx.csv", "out.jsonl", "--id-column", "patient", "--item-column", "icd"]
    done = setveil(*read, "--also", also, cwd=folder)
    assert done.code == 4
    (command,) = [line.strip() for line in done.err.splitlines() if line.strip().startswith("setveil ")]
    assert setveil(*shlex.split(command)[1:], cwd=folder).code == 0
    found = [set(json.loads(line)) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert found == joined(DX, RX)


def test_lines_of_each_file_are_skipped(folder: Path) -> None:
    """Comments in all files, and lines by number in the files that are named."""
    for name in ("dx.csv", "rx.csv"):
        text = (folder / name).read_text()
        write(folder / name, "of 2024\n" + text.replace("\n", "\n# checked\n", 1))
    options: dict[str, Any] = {"id_column": "patient", "item_column": "icd", "also": f"{folder}/rx.csv:ATC"}
    data = sv.read(folder / "dx.csv", skip_lines=f"1;{folder}/rx.csv=1", comment="#", **options)
    assert rows(data) == joined(DX, RX)
    with pytest.raises(sv.RequestError, match="which no also reads"):
        sv.read(folder / "dx.csv", skip_lines="1;other.csv=1", comment="#", **options)
