"""Small files in shapes from public reports: the commands that people try, and what is right."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from cli_helpers import Done, setveil
from real_data import CASES

pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason=f"no cases at {CASES} (set SETVEIL_CASES)")

TO_O = ("--k", "5", "--m", "2", "--out", "o")


def copied(case: str, to: Path) -> Path:
    """Copy the files of a case, so that commands name them as people do."""
    (folder,) = CASES.glob(f"{case}-*")
    for file in folder.iterdir():
        (to / file.name).write_bytes(file.read_bytes())
    return to


def printed(done: Done) -> list[str]:
    """List the commands that a message prints."""
    found = re.findall(r"^ +(setveil .*)$|`(setveil [^`]*)`", done.err, re.MULTILINE)
    return [alone or quoted for alone, quoted in found]


def pasted(command: str, place: Path) -> Done:
    """Run a command as it was printed."""
    return setveil(*shlex.split(command)[1:], cwd=place)


def sizes(run: Path) -> tuple[int, int, int]:
    """Return the rows, occurrences and items that a run has read."""
    read = json.loads((run / "internal" / "report.json").read_text("utf-8"))["input"]
    return read["rows"], read["occurrences"], read["items"]


def test_05_lists_as_text_and_ids_with_a_decimal_point(tmp_path: Path) -> None:
    place = copied("05", tmp_path)
    refused = setveil("anonymize", "tx.csv", *TO_O, cwd=place)
    pasted(printed(refused)[0], place).ok()
    assert sizes(place / "o") == (150, 446, 25)
    items = sv.read(place / "o" / "published" / "data.csv").vocabulary.labels
    assert not any(sign in item for item in items for sign in "[]")


@pytest.mark.parametrize(
    ("name", "id_column", "item_column", "lines", "left"),
    [("cards.csv", "card_no", "product", 514, 4), ("float_ids.csv", "user_id", "liked", 360, 1)],
)
def test_12_ids_that_a_spreadsheet_rounded(
    tmp_path: Path, name: str, id_column: str, item_column: str, lines: int, left: int
) -> None:
    place = copied("12", tmp_path)
    columns = ("--id-column", id_column, "--item-column", item_column)
    refused = setveil("anonymize", name, *TO_O, *columns, cwd=place)
    assert refused.code == 4
    assert f"{id_column} of {name} has {lines} values that a spreadsheet or a program rounded" in refused.err
    assert f"different ids may have become one ({left} different value" in refused.err
    assert not (place / "o").exists()


def test_32_five_dishes_in_26_spellings(tmp_path: Path) -> None:
    place = copied("32", tmp_path)
    columns = ("--id-column", "guest_id", "--item-column", "dish")
    apart = setveil("anonymize", "menu.csv", *TO_O, *columns, cwd=place).ok()
    assert "26 of 26 items differ from another one only in case, blanks or how" in apart.err
    assert "they are spellings of 5 items. `--normalize text` makes them one." in apart.err
    done = setveil("anonymize", "menu.csv", *TO_O, *columns, "--normalize", "text", "--force", cwd=place).ok()
    assert "26 spellings became 5 items" in done.err
    assert sizes(place / "o") == (60, 127, 5)
    assert "48 rows hold" in setveil("query", "o", "Café crème", cwd=place).ok().out
    setveil("verify", "o", cwd=place).ok()
    assert "48 rows" in setveil("why", "o", "café crème", cwd=place).ok().out


def test_41_nearly_every_article_is_sold_once(tmp_path: Path) -> None:
    place = copied("41", tmp_path)
    refused = setveil("anonymize", "sku.csv", *TO_O, cwd=place)
    assert "say how it is to be read" in refused.err
    columns = ("--id-column", "order_id", "--item-column", "product")
    refused = setveil("anonymize", "sku.csv", *TO_O, *columns, cwd=place)
    assert "'product' looks like ids of persons" in refused.err
    (command,) = printed(refused)
    assert command.endswith("--not-ids product")
    pasted(command, place).ok()
    assert sizes(place / "o") == (700, 2_100, 2_058)
    assert json.loads((place / "o/internal/report.json").read_text())["utility"]["published_labels"] == 119


def test_52_a_hierarchy_in_another_encoding(tmp_path: Path) -> None:
    place = copied("52", tmp_path)
    common = ("anonymize", "b.csv", "--format", "basket", *TO_O, "-H", "h_cp1252.csv")
    refused = setveil(*common, cwd=place)
    assert refused.code == 4
    wrong = setveil(*common, "--encoding", "cp1252", cwd=place)
    assert "'KÃ¤se' is 'Käse', whose file is in UTF-8 and was read as cp1252." in wrong.err
    for message, before in ((refused.err, ()), (wrong.err, ("--encoding", "cp1252"))):
        (option,) = re.findall(r"`(--encoding [^`]*)`", message)
        done = setveil(*common, *before, *shlex.split(option), "--force", cwd=place).ok()
        assert "All items are unchanged." in done.out
        setveil("verify", "o", cwd=place).ok()
    again = ("apply", "o", "b.csv", "--format", "basket", "--people", "same", "--out", "a")
    setveil(*again, cwd=place).ok()


def items_of(run: Path) -> set[str]:
    """List the items that a run has read."""
    lines = (run / "internal" / "recoding.csv").read_text("utf-8").splitlines()
    return {next(csv.reader([line]))[0] for line in lines[1:]}


def test_04_quoted_pairs_between_blanks(tmp_path: Path) -> None:
    place = copied("04", tmp_path)
    pasted(printed(setveil("anonymize", "single.txt", *TO_O, cwd=place))[0], place).ok()
    assert sizes(place / "o") == (150, 444, 22)


def test_08_answers_that_end_in_a_semicolon(tmp_path: Path) -> None:
    place = copied("08", tmp_path)
    asked = printed(setveil("anonymize", "drinks.csv", *TO_O, cwd=place))
    rows = next(command for command in asked if "--model" not in command)
    pasted(rows, place).ok()
    assert sizes(place / "o") == (120, 304, 6)
    assert "" not in items_of(place / "o")


def test_20_inches_that_are_not_escaped(tmp_path: Path) -> None:
    place = copied("20", tmp_path)
    columns = ("--id-column", "invoice", "--item-column", "item")
    refused = setveil("anonymize", "unescaped.tsv", *TO_O, *columns, cwd=place)
    assert refused.code == 4
    assert "line 9" in refused.err
    (command,) = printed(refused)
    assert command.endswith("--quote none")
    pasted(command, place).ok()
    assert sizes(place / "o")[::2] == (150, 5)
    assert '"SMALL" BOX' in items_of(place / "o")
    setveil("why", "o", '"SMALL" BOX', cwd=place).ok()


def test_23_two_colons_between_fields(tmp_path: Path) -> None:
    place = copied("23", tmp_path)
    asked = setveil("anonymize", "ratings.dat", *TO_O, cwd=place)
    assert "978300001" not in "".join(printed(asked))
    (command,) = printed(asked)
    assert command.endswith("--separator :: --id-column 1 --item-column 2")
    pasted(command, place).ok()
    lines = [line.split("::") for line in (place / "ratings.dat").read_text("ascii").splitlines()]
    pairs = {(user, film) for user, film, *_ in lines}
    users, films = ({pair[at] for pair in pairs} for at in (0, 1))
    assert sizes(place / "o") == (len(users), len(pairs), len(films))
    setveil("why", "o", "1193", cwd=place).ok()
    named = (*TO_O, "--separator", "::", "--force")
    again = setveil("anonymize", "ratings.dat", *named, "--id-column", "1", "--item-column", "2", cwd=place)
    assert again.ok().out
    columns = ("--id-column", "1", "--item-column", "3", "--delimiter", "|", "--encoding", "latin-1")
    films_read = setveil("anonymize", "movies.dat", *named, *columns, cwd=place).ok()
    assert films_read.out
    assert sizes(place / "o")[2] == 7


def test_26_what_a_german_spreadsheet_saves(tmp_path: Path) -> None:
    place = copied("26", tmp_path)
    columns = ("--id-column", "Kundennr", "--item-column", "Artikel")
    setveil("anonymize", "export.csv", *TO_O, "--encoding", "cp1252", *columns, cwd=place).ok()
    lines = (place / "export.csv").read_text("cp1252").splitlines()[2:]
    pairs = {tuple(line.split(";")[:2]) for line in lines}
    expected = (150, len(pairs), len({item for _, item in pairs}))
    assert sizes(place / "o") == expected
    pasted(printed(setveil("anonymize", "unicode.txt", *TO_O, "--force", cwd=place))[0], place).ok()
    assert sizes(place / "o") == expected
    facts = ("--id-column", "Kundennr", "--set", "Artikel", "--amount", "Preis:0,5,10", "--force")
    setveil("anonymize", "unicode.txt", *TO_O, *facts, cwd=place).ok()
    prices: dict[tuple[str, str], float] = {}
    for line in lines:
        who, item, _, price = line.split(";")
        prices[who, item] = prices.get((who, item), 0) + float(price.replace(",", "."))
    cheap = sum(price < 5 for price in prices.values())
    bands = sv.read_facts(place / "unicode.txt", id="Kundennr", sets="Artikel", amount="Preis:0,5,10")
    assert sum(item.endswith("[0,5)") for row in bands.rows() for item in row) == cheap


def test_27_decimal_commas_are_no_lists(tmp_path: Path) -> None:
    place = copied("27", tmp_path)
    asked = printed(setveil("anonymize", "kunden.csv", "--model", "kkm", *TO_O, cwd=place))
    right = "--qi BMI,Einkommen,PLZ --set Codes --delimiter '|' --id-column Kunde"
    assert asked[0].endswith(right)
    done = pasted(asked[0], place).ok()
    assert "BMI (numbers), Einkommen (numbers)" in done.err
    lines = (place / "kunden.csv").read_text("utf-8-sig").splitlines()[1:]
    codes = [code for line in lines for code in line.split(";")[4].split("|") if code]
    assert sizes(place / "o") == (len(lines), len(codes), len(set(codes)))
    setveil("verify", "o", cwd=place).ok()


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("groceries.csv", (200, 917, 22)),
        ("Groceries_dataset.csv", (60, 638, 22)),
        ("Market_Basket_Optimisation.csv", (200, 917, 22)),
    ],
)
def test_31_three_shapes_of_the_same_shop(tmp_path: Path, name: str, expected: tuple[int, ...]) -> None:
    place = copied("31", tmp_path)
    done = setveil("anonymize", name, *TO_O, cwd=place)
    if done.code:
        pasted(printed(done)[0], place).ok()
    assert sizes(place / "o")[:2] == expected[:2]


@pytest.mark.parametrize(
    ("name", "yes", "items"),
    [
        ("coded.csv", "1", {"Q5_1", "Q5_2", "Q5_3", "Q5_4", "Q5_98"}),
        ("words.csv", "genannt", {"Radio", "TV", "Zeitung", "Internet"}),
    ],
)
def test_39_boxes_that_are_coded(tmp_path: Path, name: str, yes: str, items: set[str]) -> None:
    place = copied("39", tmp_path)
    (command,) = printed(setveil("anonymize", name, *TO_O, cwd=place))
    assert command.endswith(f"--yes {yes}")
    pasted(command, place).ok()
    lines = [line.split(";") for line in (place / name).read_text("utf-8-sig").splitlines()[1:]]
    assert sizes(place / "o") == (150, sum(line[1:].count(yes) for line in lines), len(items))
    assert items_of(place / "o") == items
    named = command[command.index("--item-columns") :].split()[1]
    asked = setveil("anonymize", name, *TO_O, "--force", "--item-columns", named, cwd=place)
    assert "which of them means that an item is there" in asked.err
    first, *_, last = printed(asked)
    assert first.endswith(f"--yes {yes}")
    assert last.endswith("--format wide")
    setveil("why", "o", min(items), cwd=place).ok()


def test_46_times_with_zones_count_as_written(tmp_path: Path) -> None:
    place = copied("46", tmp_path)
    asked = ("--id-column", "patient", "--set", "code", "--when", "at:month")
    setveil("anonymize", "log.csv", *TO_O, *asked, cwd=place).ok()
    facts = sv.read_facts(place / "log.csv", id="patient", sets="code", when="at:month")
    assert set(facts.rows()) == {("I10@2023-12", "I10@2024-01", "I10@2024-02")}


@pytest.mark.parametrize("version", [114, 117, 118, 119])
def test_49_a_file_of_stata_is_named(tmp_path: Path, version: int) -> None:
    frame = pd.DataFrame({"id": range(20), "a": [1, 2] * 10})
    if version == 114:
        frame.to_stata(tmp_path / "x.dta")
    else:
        frame.to_stata(tmp_path / "x.dta", version=version)
    refused = setveil("risk", "x.dta", cwd=tmp_path)
    assert "x.dta is a file of Stata, expected text." in refused.err
    assert "Save the table as csv, .xlsx or Parquet there." in refused.err


def test_51_joined_texts_in_a_data_frame() -> None:
    order = random.Random(3)
    known = ["milk", "bread", "eggs", "tea", "soap", "beer"]
    rows = [order.sample(known, order.randint(1, 4)) for _ in range(120)]
    long = pd.DataFrame([(i, c) for i, row in enumerate(rows) for c in row], columns=["id", "item"])
    joined = long.groupby("id").item.agg(", ".join)
    named: dict[str, Any] = {"id_column": "id", "item_column": "item"}
    none: dict[str, Any] = {}
    for frame, reading in ((joined, none), (joined.reset_index(), none), (joined.reset_index(), named)):
        with pytest.raises(sv.TableError) as asked:
            sv.read(frame, **reading)
        way = dict(asked.value.readings[0][0])
        assert way["delimiter"] == ","
        data = sv.read(frame, **{**reading, **way})
        assert sorted(data.rows()) == sorted(tuple(sorted(row)) for row in rows)
    wide = pd.DataFrame([row + [None] * (4 - len(row)) for row in rows])
    assert sv.read(wide, item_columns=[0, 1, 2, 3]).n_items == 6
    assert sv.read(pd.DataFrame([{p: p in row for p in known} for row in rows]), format="onehot").n_items == 6
    with pytest.raises(sv.DataError) as refused:
        sv.read(pd.DataFrame({"id": [1, 2], "item": [4019.0, 25000.0]}))
    assert '.astype("Int64")' in refused.value.hint


def test_34_resources_inside_resources(tmp_path: Path) -> None:
    place = copied("34", tmp_path)
    refused = setveil("anonymize", "Condition.ndjson", *TO_O, cwd=place)
    assert refused.code == 4
    command = printed(refused)[0]
    assert command.endswith("--id-column subject.reference --item-column code.coding.code")
    pasted(command, place).ok()
    assert sizes(place / "o") == (120, 351, 20)
    setveil("verify", "o", cwd=place).ok()


@pytest.mark.parametrize(
    ("name", "columns", "counts"),
    [
        ("orders.json", ("--item-column", "items[].sku"), [150, 446, 22]),
        ("orders.json", ("--id-column", "customer", "--item-column", "items.sku"), [150, 446, 22]),
        ("warehouse.json", (), [150, 480, 22]),
        ("struct.parquet", ("--item-column", "items.sku"), [30, 30, 2]),
        ("struct.parquet", ("--id-column", "id", "--item-column", "items.sku"), [3, 3, 2]),
        ("nulls.parquet", (), [30, 20, 2]),
    ],
)
def test_35_documents_of_a_store(
    tmp_path: Path, name: str, columns: tuple[str, ...], counts: list[int]
) -> None:
    found = setveil("read", name, *columns, "--json", cwd=copied("35", tmp_path)).ok().json()
    assert [found[key] for key in ("rows", "occurrences", "items")] == counts
    expected = ["items: 10 null in 10 lists left out, as null is no item."] if name == "nulls.parquet" else []
    assert found["notes"] == expected


@pytest.mark.parametrize("name", ["orders.json", "struct.parquet"])
@pytest.mark.parametrize("columns", [(), ("--item-column", "items")])
def test_35_the_message_names_the_key_that_holds_items(
    tmp_path: Path, name: str, columns: tuple[str, ...]
) -> None:
    place = copied("35", tmp_path)
    refused = setveil("read", name, *columns, cwd=place)
    assert refused.code == 4
    command = printed(refused)[0]
    assert command.endswith("--item-column items.sku")
    pasted(command, place).ok()


def test_46_the_date_as_written_counts(tmp_path: Path) -> None:
    columns = ("--id-column", "patient", "--set", "code", "--when", "at:month")
    found = setveil("read", "log.csv", *columns, "--json", cwd=copied("46", tmp_path)).ok().json()
    assert [found[key] for key in ("rows", "occurrences")] == [60, 180]
    assert found["first"][0]["items"] == ["I10@2023-12", "I10@2024-01", "I10@2024-02"]
