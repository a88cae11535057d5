"""Small files in shapes from public reports: the commands that people try, and the right results."""

from __future__ import annotations

import csv
import json
import random
import re
import shlex
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pytest

import setveil as sv
from cli_helpers import Done, setveil, violations
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
    assert "48 rows contain" in setveil("query", "o", "Café crème", cwd=place).ok().out
    setveil("verify", "o", cwd=place).ok()
    assert "48 rows" in setveil("why", "o", "café crème", cwd=place).ok().out


def test_41_nearly_every_article_is_sold_once(tmp_path: Path) -> None:
    place = copied("41", tmp_path)
    refused = setveil("anonymize", "sku.csv", *TO_O, cwd=place)
    assert "say how it is to be read" in refused.err
    columns = ("--id-column", "order_id", "--item-column", "product")
    refused = setveil("anonymize", "sku.csv", *TO_O, *columns, cwd=place)
    assert "'product' looks like person IDs" in refused.err
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
    (command,) = printed(refused)
    (option,) = re.findall(r"`(--encoding [^`]*)`", wrong.err)
    for words in (shlex.split(command)[1:], [*common, "--encoding", "cp1252", *shlex.split(option)]):
        done = setveil(*words, "--force", cwd=place).ok()
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
    output = printed(setveil("anonymize", "drinks.csv", *TO_O, cwd=place))
    rows = next(command for command in output if "--model" not in command)
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
    result = setveil("anonymize", "ratings.dat", *TO_O, cwd=place)
    assert "978300001" not in "".join(printed(result))
    (command,) = printed(result)
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
    output = printed(setveil("anonymize", "kunden.csv", "--model", "kkm", *TO_O, cwd=place))
    right = "--qi BMI,Einkommen,PLZ --set Codes --delimiter '|' --id-column Kunde"
    assert output[0].endswith(right)
    done = pasted(output[0], place).ok()
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
    result = setveil("anonymize", name, *TO_O, "--force", "--item-columns", named, cwd=place)
    assert "which of them means that an item is there" in result.err
    first, *_, last = printed(result)
    assert first.endswith(f"--yes {yes}")
    assert last.endswith("--format wide")
    setveil("why", "o", min(items), cwd=place).ok()


def test_46_times_with_zones_count_as_written(tmp_path: Path) -> None:
    place = copied("46", tmp_path)
    options = ("--id-column", "patient", "--set", "code", "--when", "at:month")
    setveil("anonymize", "log.csv", *TO_O, *options, cwd=place).ok()
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
        with pytest.raises(sv.TableError) as error:
            sv.read(frame, **reading)
        way = dict(error.value.readings[0][0])
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
    expected = ["items: 10 null in 10 lists skipped, as null is no item."] if name == "nulls.parquet" else []
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


def in_full(run: Path) -> tuple[int, int, int, int]:
    """Return the number of rows that a run has read, of empty rows, of occurrences and of items."""
    read = json.loads((run / "internal" / "report.json").read_text("utf-8"))["input"]
    return read["rows"], read["empty_rows"], read["occurrences"], read["items"]


def recounted(pairs: Iterable[tuple[object, str]]) -> tuple[int, int, int, int]:
    """Count the same by hand, from pairs of a person and an item, with "" for a person without items."""
    held: dict[object, set[str]] = {}
    for who, item in pairs:
        held.setdefault(who, set()).update({item} - {""})
    items = [item for row in held.values() for item in row]
    return len(held), sum(not row for row in held.values()), len(items), len(set(items))


def fields(file: Path, sign: str = ",") -> list[list[str]]:
    """Return the fields of each line below the first, without blanks around them."""
    lines = csv.reader(file.read_text("utf-8").splitlines()[1:], delimiter=sign)
    return [[field.strip() for field in line] for line in lines]


@pytest.mark.parametrize("command", [("risk", "basket.csv"), ("anonymize", "basket.csv", *TO_O)])
def test_01_row_numbers_without_a_name(tmp_path: Path, command: tuple[str, ...]) -> None:
    place = copied("01", tmp_path)
    output = printed(setveil(*command, cwd=place))
    assert output[0].endswith("--item-column itemList --delimiter ,")
    pasted(output[0], place).ok()
    baskets = fields(place / "basket.csv")
    counts = recounted((number, item) for number, basket in baskets for item in basket.split(","))
    assert counts == (200, 0, 593, 22)
    if command[0] == "anonymize":
        assert in_full(place / "o") == counts
        assert "itemList" not in items_of(place / "o")


OF_PERSONS = ("anonymize", "condition_occurrence.csv", *TO_O, "--id-column", "person_id")
CODES = ("--item-column", "condition_concept_id")
FACTS = ("--set", "condition_concept_id", "--when", "condition_start_date:quarter")


@pytest.mark.parametrize("columns", [CODES, FACTS])
def test_10_a_code_that_means_none(tmp_path: Path, columns: tuple[str, ...]) -> None:
    place = copied("10", tmp_path)
    refused = setveil(*OF_PERSONS, *columns, "--missing", "nosuchcolumn=0", cwd=place)
    assert refused.code == 4
    assert "there is no column 'nosuchcolumn'; its columns are 'condition_occurrence_id'," in refused.err
    done = setveil(*OF_PERSONS, *columns, "--missing", "condition_concept_id=0", cwd=place).ok()
    assert "'0' (181) means that there is no item" in done.err
    lines = [line.split("\t") for line in (place / "condition_occurrence.csv").read_text().splitlines()[1:]]
    quarter = {line[0]: f"@{line[3][:4]}-Q{(int(line[3][5:7]) + 2) // 3}" for line in lines}
    named = [(line[1], line[2] if columns == CODES else line[2] + quarter[line[0]]) for line in lines]
    counts = recounted((who, "" if item.split("@")[0] == "0" else item) for who, item in named)
    assert counts == (200, 35, 304, 32 if columns == FACTS else 8)
    assert in_full(place / "o") == counts
    codes = {item.split("@")[0] for item in items_of(place / "o")}
    assert codes == {line[2] for line in lines} - {"0"}
    assert len(codes) == 8


def test_13_stays_without_a_code(tmp_path: Path) -> None:
    place = copied("13", tmp_path)
    columns = ("--id-column", "hadm_id", "--item-column", "icd_code")
    of_subjects, of_stays = printed(setveil("anonymize", "diagnoses.csv", *TO_O, *columns, cwd=place))
    lines = fields(place / "diagnoses.csv")
    assert of_stays.endswith("--rows-are-events")
    done = pasted(of_stays, place).ok()
    assert "3 lines have an ID and no item; 3 rows are empty." in done.err
    assert in_full(place / "o") == recounted((line[1], line[3]) for line in lines) == (200, 3, 505, 10)
    assert json.loads((place / "o/published/about.json").read_text("utf-8"))["rows"] == 200
    done = pasted(f"{of_subjects} --force", place).ok()
    assert "3 lines have an ID and no item; 1 row is empty." in done.err
    assert in_full(place / "o") == recounted((line[0], line[3]) for line in lines) == (101, 1, 430, 10)


OF_USERS = (30, 0, 180, 58)


def test_17_users_come_before_their_orders(tmp_path: Path) -> None:
    place = copied("17", tmp_path)
    lines = fields(place / "orders.csv")
    assert recounted((user, item) for _, user, item in lines) == OF_USERS
    (place / "turned.csv").write_text(
        "".join(f"{user},{order},{item}\n" for order, user, item in [["order_id", "user_id", "item"], *lines])
    )
    for name in ("orders.csv", "turned.csv"):
        (command, *_) = printed(setveil("anonymize", name, *TO_O, "--force", cwd=place))
        assert "--id-column user_id" in command
        pasted(command, place).ok()
        assert in_full(place / "o") == OF_USERS
        rows = [frozenset(row) for row in sv.read(place / "o" / "published" / "data.csv").rows()]
        assert violations(rows, 5, 2) == {}


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("orders.csv", ("--item-column", "product_id")),
        ("lists.jsonl", ("--item-column", "items")),
        ("lists.parquet", ("--item-column", "items")),
        ("wide.csv", ("--item-columns", "p1-p5")),
        ("boxes.csv", ("--item-columns", "101-158")),
        ("boxes.csv", ("--format", "onehot", "--item-columns", "101-158")),
    ],
)
def test_17_orders_of_users_are_no_persons(tmp_path: Path, name: str, columns: tuple[str, ...]) -> None:
    place = copied("17", tmp_path)
    orders: dict[tuple[int, int], list[int]] = {}
    for order, user, item in fields(place / "orders.csv"):
        orders.setdefault((int(order), int(user)), []).append(int(item))
    known = sorted({item for items in orders.values() for item in items})
    lists = [{"order_id": order, "user_id": user, "items": items} for (order, user), items in orders.items()]
    if name == "lists.jsonl":
        (place / name).write_text("".join(json.dumps(line) + "\n" for line in lists))
    elif name == "lists.parquet":
        pl.DataFrame(lists).write_parquet(place / name)
    elif name == "wide.csv":
        rows = [[*ids, *items, *[""] * (5 - len(items))] for ids, items in orders.items()]
        pd.DataFrame(rows, columns=["order_id", "user_id", *(f"p{at}" for at in range(1, 6))]).to_csv(
            place / name, index=False
        )
    elif name == "boxes.csv":
        rows = [[*ids, *(int(item in items) for item in known)] for ids, items in orders.items()]
        pd.DataFrame(rows, columns=["order_id", "user_id", *known]).to_csv(place / name, index=False)
    refused = setveil("anonymize", name, *TO_O, "--id-column", "order_id", *columns, cwd=place)
    assert refused.code == 4
    assert "30 users have 240 orders: rows would be orders, not people." in refused.err
    of_users, of_orders = printed(refused)
    assert of_users.endswith("--id-column user_id")
    pasted(of_users, place).ok()
    assert in_full(place / "o") == OF_USERS
    pasted(f"{of_orders} --force", place).ok()
    assert in_full(place / "o")[0] == len(orders) == 240


def test_17_a_data_frame_of_orders(tmp_path: Path) -> None:
    frame = pd.read_csv(copied("17", tmp_path) / "orders.csv")
    with pytest.raises(sv.TableError, match="30 users have 240 orders") as error:
        sv.read(frame, id_column="order_id", item_column="product_id")
    way = dict(error.value.readings[0][0])
    data = sv.read(frame, **{"item_column": "product_id", **way})
    assert (data.n_rows, data.n_occurrences, data.n_items) == (30, 180, 58)


OF_SEARCHES = ("anonymize", "queries.tsv", *TO_O, "--id-column", "AnonID")
TEXTS = ("--item-column", "Query")
TEXTS_OF_MONTHS = ("--set", "Query", "--when", "QueryTime:month")


@pytest.mark.parametrize("columns", [TEXTS, TEXTS_OF_MONTHS])
def test_22_texts_that_people_typed_raise_a_question(tmp_path: Path, columns: tuple[str, ...]) -> None:
    refused = setveil(*OF_SEARCHES, *columns, cwd=copied("22", tmp_path))
    assert refused.code == 4
    assert "'Query' contains free text (80 of 88 different texts have several words" in refused.err
    (command,) = printed(refused)
    assert command.endswith("--not-ids Query")


@pytest.mark.parametrize(
    "options",
    [
        TEXTS,
        TEXTS_OF_MONTHS,
        *((*TEXTS, "--algorithm", name) for name in ("aa", "da", "lra", "disassociation")),
        *((*TEXTS, "--algorithm", name, "--privacy", "all") for name in ("coat", "pcta")),
        (*TEXTS, "--hierarchy", "h.csv"),
    ],
    ids=" ".join,
)
def test_22_texts_of_few_people_are_not_published(tmp_path: Path, options: tuple[str, ...]) -> None:
    place = copied("22", tmp_path)
    if "h.csv" in options:
        build = ("hierarchy", "build", "queries.tsv", "--id-column", "AnonID", *TEXTS, "--not-ids", "Query")
        setveil(*build, "--by", "balanced", "--out", "h.csv", cwd=place).ok()
    done = setveil(*OF_SEARCHES, *options, "--not-ids", "Query", cwd=place)
    if "disassociation" in options:
        assert done.code == 2
        assert "80 items that fewer than 5 rows contain" in done.err
        done = pasted(printed(done)[0], place)
    done.ok()
    pairs = [(who, text) for who, text, _ in fields(place / "queries.tsv", "\t")]
    people, empty, occurrences, texts = recounted(pairs)
    assert (people, empty, texts) == (400, 0, 88)
    if "disassociation" not in options:  # disassociation suppresses rare items
        assert in_full(place / "o") == (people, empty, occurrences, texts)
    times = Counter(text for _, text in {*pairs})
    rare = [text for text, number in times.items() if number < 5]
    assert len(rare) == 80
    files = [file.read_text("utf-8") for file in (place / "o" / "published").iterdir()]
    assert not [text for text in rare if any(text in content for content in files)]


@pytest.mark.parametrize("form", [(), ("--format", "fimi")])
def test_25_numbers_under_a_preamble(tmp_path: Path, form: tuple[str, ...]) -> None:
    place = copied("25", tmp_path)
    refused = setveil("anonymize", "visits.seq", *TO_O, *form, cwd=place)
    assert "lines 1-7 are not integers between blanks" in refused.err
    pasted(printed(refused)[0], place).ok()
    visits = (place / "visits.seq").read_text("ascii").splitlines()[7:]
    counts = recounted((at, page) for at, visit in enumerate(visits) for page in visit.split())
    assert in_full(place / "o") == counts == (200, 0, 574, 8)


@pytest.mark.parametrize(
    ("name", "named"),
    [
        ("psql.txt", "lines 2 and 354 are not of 2 fields"),
        ("ssms.csv", "lines 357 and 359 are not of 2 fields"),
        ("total.csv", "line 353: column 'patient_id' contains 'Total'"),
        ("preamble.csv", "lines 1-3 and 357-358 are not of 2 fields"),
        ("comment.csv", "Lines 1-2 were skipped."),
    ],
)
def test_28_titles_above_and_totals_below(tmp_path: Path, name: str, named: str) -> None:
    place = copied("28", tmp_path)
    done = setveil("anonymize", name, *TO_O, cwd=place)
    assert named in done.err
    if done.code:
        pasted(printed(done)[0], place).ok()
    pairs = re.findall(r"^ *(1\d{3})[ ,|]+([A-Z]\d[\d.]*)", (place / name).read_text("utf-8"), re.MULTILINE)
    assert in_full(place / "o") == recounted(pairs) == (120, 0, 351, 20)
    if name == "total.csv":  # unless it is declared a line like the others
        pasted(f"{printed(done)[1]} --force", place).ok()
        assert in_full(place / "o")[0] == 121


def test_28_a_spreadsheet_with_a_title_and_a_total(tmp_path: Path) -> None:
    place = copied("28", tmp_path)
    refused = setveil("anonymize", "pre.xlsx", *TO_O, cwd=place)
    assert "rows 1-2 and 124 are not like the rows of a table" in refused.err
    pasted(printed(refused)[0], place).ok()
    lines = pd.read_excel(place / "pre.xlsx", skiprows=2).values.tolist()
    pairs = [(line[0], line[1]) for line in lines if line[0] != "Total"]
    assert in_full(place / "o") == recounted(pairs) == (60, 0, 120, 5)


@pytest.mark.parametrize("form", [(), ("--format", "onehot", "--id-column", "Row Labels")])
def test_38_a_pivot_table_with_its_totals(tmp_path: Path, form: tuple[str, ...]) -> None:
    place = copied("38", tmp_path)
    refused = setveil("anonymize", "pivot.csv", *TO_O, *form, cwd=place)
    assert refused.code == 4
    command = printed(refused)[0]
    assert "--format onehot --id-column 'Row Labels'" in command
    pasted(command, place).ok()
    cells = [(line[0], at, cell) for line in fields(place / "pivot.csv")[:-1] for at, cell in enumerate(line)]
    pairs = [(who, str(at) if cell else "") for who, at, cell in cells if 1 <= at <= 6]
    assert in_full(place / "o") == recounted(pairs) == (100, 5, 275, 6)
    assert "Grand Total" not in items_of(place / "o")
    if form:
        assert "column 'Grand Total' is the sum of the other columns" in refused.err
        assert "line 102: column 'Row Labels' contains 'Grand Total'" in refused.err


NO_CODE = {
    "blank": "(blank)",
    "dash": "-",
    "dot": ".",
    "err": "#N/A",
    "mysql": r"\N",
    "na": "NA",
    "none": "None",
    "null": "NULL",
}


@pytest.mark.parametrize("name", NO_CODE)
def test_42_words_that_mean_that_there_is_no_code(tmp_path: Path, name: str) -> None:
    place, word = copied("42", tmp_path), NO_CODE[name]
    columns = ("--id-column", "patient_id", "--item-column", "icd10")
    done = setveil("anonymize", f"{name}.csv", *TO_O, *columns, cwd=place).ok()
    assert "15 lines have an ID and no item; 15 rows are empty." in done.err
    assert f"'{word}' (15) means that there is no item. --not-missing WORD reads it as one." in done.err
    lines = fields(place / f"{name}.csv")
    counts = recounted((who, "" if code == word else code) for who, code in lines)
    assert in_full(place / "o") == counts == (120, 15, 325, 20)
    written = [cell for file in ("data.csv", "counts.csv") for cell in fields(place / "o/published" / file)]
    assert word not in {cell for line in written for cell in line}
    held: dict[str, list[str]] = {}
    for who, code in lines:
        held.setdefault(who, []).append(code)
    (place / "baskets.txt").write_text("".join(",".join(row) + "\n" for row in held.values()))
    setveil("anonymize", "baskets.txt", *TO_O, "--force", "--format", "basket", cwd=place).ok()
    assert in_full(place / "o") == counts


def test_44_five_columns_of_one_name(tmp_path: Path) -> None:
    place = copied("44", tmp_path)
    command = printed(setveil("anonymize", "dx.csv", *TO_O, cwd=place))[0]
    assert command.endswith("--item-columns 3-7")
    pasted(command, place).ok()
    lines = fields(place / "dx.csv")
    counts = recounted((line[0], code) for line in lines for code in line[2:])
    assert in_full(place / "o") == counts == (120, 0, 369, 20)


def test_44_blanks_around_names(tmp_path: Path) -> None:
    place = copied("44", tmp_path)
    columns = ("--id-column", "Customer ID", "--item-column", "Product")
    setveil("anonymize", "space.csv", *TO_O, *columns, cwd=place).ok()
    pairs = [(who, item) for who, item in fields(place / "space.csv")]
    assert in_full(place / "o") == recounted(pairs) == (120, 0, 369, 20)
    assert items_of(place / "o") == {item for _, item in pairs}
