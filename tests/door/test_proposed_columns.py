"""Columns of numbers, columns of one name, and lists next to an ID are proposed or read as items."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.rows.data import headers
from setveil.rows.data.names import is_item_name
from strategies import seeded


def of_numbers(rng: Random, n: int = 60) -> list[list[str]]:
    """Draw lines of an ID and three codes that are numbers."""
    return [[str(7_654_321 + 37 * at), *map(str, rng.sample(range(1001, 1011), 3))] for at in range(n)]


def write(path: Path, lines: list[list[str]]) -> Path:
    path.write_text("\n".join(map(",".join, lines)) + "\n")
    return path


@pytest.mark.parametrize("head", [[], ["patient_id", "a", "b", "c"]])
def test_all_columns_of_number_codes_are_proposed(head: list[str], tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", [*([head] if head else []), *of_numbers(seeded(51))])
    with pytest.raises(sv.TableError) as caught:
        sv.read(path)
    assert [options for options, _ in caught.value.readings] == [{"item_columns": "a-c" if head else "2-4"}]
    assert sv.read(path, **caught.value.readings[0][0]).n_items == 10


def falling(rng: Random, codes: Sequence[str], n: int, most: int, *, again: float = 0.4) -> list[list[str]]:
    """Draw lines of an ID, a sex and codes, each further one in fewer lines; cells without one are empty."""
    lines = []
    for _ in range(n):
        number = 1
        while number < most and rng.random() < again:
            number += 1
        cells = [*rng.sample(codes, number), *[""] * (most - number)]
        lines.append([f"{rng.randrange(10**6, 10**7)}/24", rng.choice("mf"), *cells])
    return lines


@pytest.mark.parametrize("head", [[], ["nr", "sex", "a", "b", "c", "d", "e", "f", "g", "h"]])
@pytest.mark.parametrize(("n", "kinds"), [(25, 8), (60, 12), (500, 40)])
@pytest.mark.parametrize("letters", [False, True])
def test_columns_of_items_that_few_lines_fill_are_proposed_with_the_others(
    letters: bool, n: int, kinds: int, head: list[str], tmp_path: Path
) -> None:
    """The last columns hold a few codes, each once, as IDs are, or nothing at all."""
    codes = [f"{'ABCDEFGH'[at % 8]}{at:02}.{at % 9}" if letters else str(1000 + at) for at in range(kinds)]
    path = write(tmp_path / "a.csv", [*([head] if head else []), *falling(seeded(81), codes, n, 8)])
    with pytest.raises(sv.TableError) as caught:
        sv.read(path)
    options = dict(caught.value.readings[0][0])
    assert options["item_columns"] == ("a-h" if head else "3-10")


@pytest.mark.parametrize("last", ["remark", "zip", "account"])
def test_columns_beside_items_that_hold_something_else_are_not_proposed(last: str, tmp_path: Path) -> None:
    rng = seeded(82)
    cells = {
        "remark": lambda: rng.choice(["", "", "", "called back", "moved"]),
        "zip": lambda: str(rng.randint(10115, 10119)),
        "account": lambda: rng.choice(["", str(rng.randrange(10**7, 10**8))]),
    }
    codes = [str(1000 + at) for at in range(12)]
    lines = [[*line, cells[last]()] for line in falling(rng, codes, 400, 4)]
    with pytest.raises(sv.TableError) as caught:
        sv.read(write(tmp_path / "a.csv", lines))
    assert dict(caught.value.readings[0][0])["item_columns"] == "3-6"


@pytest.mark.parametrize("separator", [" ", ";"])
def test_answers_of_two_words_are_nobodys_name(separator: str, tmp_path: Path) -> None:
    rng = seeded(83)
    lines = [["eta", "codice_paziente", "asma", "diabete", "gotta", "angina"]]
    lines += [
        [str(rng.randint(20, 90)), str(7_654_321 + 37 * (at // 2)), *rng.choices(["True", "False"], k=4)]
        for at in range(60)
    ]
    (tmp_path / "a.csv").write_text("\n".join(map(separator.join, lines)) + "\n")
    with pytest.raises(sv.TableError) as caught:
        sv.read(tmp_path / "a.csv")
    options = dict(caught.value.readings[0][0])
    assert (options["id_column"], options["item_columns"]) == ("codice_paziente", "asma-angina")


def test_no_other_column_is_proposed_beside_numbered_ones(tmp_path: Path) -> None:
    rng = seeded(59)
    codes = ["E11", "I10", "J45", "K21", "M54"]
    lines = [[f"P{at:04}", rng.choice("FM"), *rng.sample(codes, 3)] for at in range(60)]
    path = write(tmp_path / "a.csv", [["Pat_ID", "Sex", "ICD1", "ICD2", "ICD3"], *lines])
    with pytest.raises(sv.TableError) as caught:
        sv.read(path)
    assert not any("Sex" in map(str, options.values()) for options, _ in caught.value.readings)
    assert dict(caught.value.readings[-1][0]) == {"item_columns": "ICD1-ICD3"}


def test_columns_that_are_only_numbered_say_nothing_of_items(tmp_path: Path) -> None:
    """X1, X3, ... are names of columns without a name, so that the item column next to them is proposed."""
    rng, codes, drugs = seeded(60), ["E11", "I10", "J45", "K21", "M54"], ["aa", "bb", "cc", "dd", "ee", "ff"]
    people = [f"P{at:04}" for at in range(60) for _ in range(3)]
    lines = [[who, rng.choice(drugs), rng.choice(codes), rng.choice(codes)] for who in people]
    path = write(tmp_path / "a.csv", [["X1", "drug", "X3", "X4"], *lines])
    with pytest.raises(sv.TableError) as caught:
        sv.read(path)
    assert {"id_column": "X1", "item_column": "drug"} in [dict(one) for one, _ in caught.value.readings]


def test_ages_and_places_side_by_side_are_no_items(tmp_path: Path) -> None:
    """Numbers of two digits, and numbers of which columns share few."""
    rng = seeded(52)
    lines = [
        [
            str(7_654_321 + 37 * at),
            str(rng.randint(20, 90)),
            str(rng.randint(20, 90)),
            str(rng.randint(100, 180)),
            str(rng.randint(150, 200)),
        ]
        for at in range(60)
    ]
    with pytest.raises(sv.TableError) as caught:
        sv.read(write(tmp_path / "a.csv", lines))
    assert caught.value.readings == ()


@pytest.mark.parametrize("option", ["--item-column", "--item-columns"])
def test_a_name_that_several_columns_have(option: str, tmp_path: Path) -> None:
    rng, codes = seeded(53), ["E11", "I10", "J45", "K21", "M54"]
    lines = [[f"P{at}", *(rng.sample(codes, 3))] for at in range(30)]
    write(tmp_path / "a.csv", [["patient_id", "dx", "dx", "dx"], *lines])
    words = ["anonymize", "a.csv", "--id-column", "patient_id", option, "dx", "--k", "2", "--m", "1"]
    done = setveil(*words, "--out", "out", "--no-details", cwd=tmp_path)
    if option == "--item-column":
        assert "3 columns are named 'dx'" in done.err
        (command,) = (line.strip() for line in done.err.splitlines() if line.startswith("    setveil "))
        assert "--item-columns 2-4" in command
        assert "--item-column dx" not in command
        done = setveil(*shlex.split(command)[1:], cwd=tmp_path)
    done.ok()
    assert json.loads((tmp_path / "out" / "published" / "about.json").read_text())["rows"] == 30
    with pytest.raises(sv.DataError, match="3 columns are named 'dx'") as caught:
        sv.read(tmp_path / "a.csv", id_column="dx", item_column="patient_id")
    assert "2-4" in caught.value.hint


@pytest.mark.parametrize("name", ["a.jsonl", "a.parquet"])
def test_lists_beside_an_id_that_was_named_are_the_items(name: str, tmp_path: Path) -> None:
    rng = seeded(54)
    rows = [{"order_id": f"o{at}", "items": rng.sample(["milk", "tea", "jam"], 2)} for at in range(30)]

    def file(records: Sequence[Mapping[str, object]]) -> Path:
        path = tmp_path / name
        if name == "a.jsonl":
            path.write_text("".join(json.dumps(one) + "\n" for one in records))
        else:
            pl.DataFrame(records).write_parquet(path)
        return path

    read = sv.read(file(rows), id_column="order_id")
    assert [set(row) for row in read] == [set(row["items"]) for row in rows]
    with pytest.raises(sv.TableError, match="users have 30 orders") as caught:
        sv.read(file([{**row, "user_id": at % 7} for at, row in enumerate(rows)]), id_column="order_id")
    assert caught.value.readings[0][0] == {"id_column": "user_id"}
    both = [{**row, "more": ["a"]} for row in rows]
    with pytest.raises(sv.DataError, match="more"):
        sv.read(file(both), id_column="order_id")


@pytest.mark.parametrize("person", ["clara.huber{}@example.org", "+49 30 55{}"])
def test_a_line_of_a_person_is_no_header(person: str) -> None:
    """Its fields would be published as the names of columns; here a decimal comma is between two."""
    rng = seeded(55)
    lines = [
        [f"{person.format(6_086_246 + at)} 2{rng.randint(1, 9)}", f"{rng.randint(0, 5) if at else 6} {code}"]
        for at in range(20)
        for code in rng.sample(["E11.9", "R51", "I10"], rng.randint(1, 3) if at else 1)
    ]
    assert not headers.has_header(lines)
    assert headers.has_header([["who", "code"], *lines])
    assert headers.has_header([["@timestamp", "e@code"], *lines])


@pytest.mark.parametrize(
    "person",
    ["10.0.{}.7", "2001:db8::{}", "030 55{}", "Ahornweg {}", "9f86d081884c7d659a2feaa0c55ad{:03}", "4{:015}"],
)
def test_a_line_with_the_form_of_those_below_is_no_header(person: str, tmp_path: Path) -> None:
    """Check that a first line with a person's address, and a code that occurs only there, is no header."""
    rng = seeded(56)
    lines = [[person.format(100), "Z99.9"]]
    lines += [[person.format(101 + at // 2), rng.choice(["E11.9", "R51", "I10"])] for at in range(40)]
    assert not headers.has_header(lines)
    assert headers.has_header([["who", "code"], *lines])
    path = tmp_path / "visits.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(sv.SetveilError) as refused:
        sv.read(path)
    assert lines[0][0] not in str(refused.value.hint)


def test_a_full_name_over_full_names_is_no_header(tmp_path: Path) -> None:
    firsts, lasts = ("Anna", "Bert", "Clara", "Emil"), ("Abel", "Beck", "Conrad", "Dietz", "Frank", "Graf")
    names = [f"{first} {last}" for first in firsts for last in lasts]
    lines = [[name, ("milk", "tea", "jam")[at % 3]] for at, name in enumerate(names)]
    lines[0][1] = "bread"
    assert not headers.has_header(lines)
    for title in ("Patient Name", "Full Name", "Product Name", "Menu Item", "who"):
        assert headers.has_header([[title, "item"], *lines])
    path = tmp_path / "a.csv"
    path.write_text("".join(",".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(sv.TableError) as refused:
        sv.read(path)
    assert [name for name, _ in refused.value.columns] == ["column 1", "column 2"]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_blanks_stand_between_fields_with_decimals_and_lists(suffix: str, tmp_path: Path) -> None:
    """Check that a decimal comma, or the sign in a list at the end, is not read as a separator."""
    rng = seeded(57)
    lines = []
    for _ in range(30):
        whose = f"{rng.getrandbits(128):032x}"
        for _ in range(rng.randint(1, 4)):
            weight = f"{rng.randint(18, 35)},{rng.randint(0, 9)}" if suffix == "csv" else "21.5"
            items = (" " if suffix == "csv" else ";").join(
                rng.sample(["milk", "tea", "jam"], rng.randint(1, 3))
            )
            lines.append([str(rng.randint(18, 90)), whose, weight, f"2024-03-{rng.randint(10, 28)}"])
            lines[-1].append(items)
    path = tmp_path / f"visits.{suffix}"
    path.write_text("".join(" ".join(line) + "\n" for line in lines), encoding="utf-8")
    with pytest.raises(sv.TableError) as refused:
        sv.read(path)
    ways: list[dict[str, Any]] = [dict(options) for options, _ in refused.value.readings]
    columns = {"item_columns": "5-7"} if suffix == "csv" else {"item_columns": "5", "delimiter": ";"}
    assert ways == [{"separator": " ", "id_column": "2", **columns}]
    found = sv.read(path, **ways[0])
    assert found.n_rows == 30
    assert {*found.vocabulary.labels} == {"milk", "tea", "jam"}


def test_ids_in_lists_are_found_before_anything_is_written(tmp_path: Path) -> None:
    """Of a list whose second value is the ID of its person, whatever way it is read."""
    rng = seeded(58)
    visits = [(at, rng.randint(18, 30), f"{7_654_321 + 37 * (at // 2)}") for at in range(60)]
    lists = [(f"v{who}", "; ".join([str(age), number, *rng.sample("abc", 2)])) for who, age, number in visits]
    frame = pl.DataFrame(lists, schema=["visit", "codes"], orient="row")
    frame.write_csv(tmp_path / "a.csv")
    frame.with_columns(pl.col("codes").str.split("; ")).write_ndjson(tmp_path / "a.jsonl")
    more = frame.with_columns(age=pl.lit("30"), day=pl.lit("2024-01-01"))
    more.write_csv(tmp_path / "b.csv")
    more.with_columns(pl.col("codes").str.split("; ")).write_parquet(tmp_path / "b.parquet")
    of_lists = ["--item-column", "codes", "--id-column", "visit", "--k", "2", "--m", "1", "--out", "o"]
    kkm = ["--model", "kkm", "--k", "2", "--m", "1", "--qi", "age", "--set", "codes", "--out", "o"]
    facts = ["--id-column", "visit", "--set", "codes", "--when", "day:month", "--k", "2", "--m", "1"]
    facts += ["--out", "o"]
    for words in (
        ["a.csv", *of_lists, "--delimiter", ";"],
        ["a.jsonl", *of_lists],
        ["b.csv", *kkm, "--id-column", "visit", "--delimiter", ";"],
        ["b.parquet", *kkm, "--id-column", "visit"],
        ["b.parquet", *facts],
        ["b.csv", *facts, "--delimiter", ";"],
    ):
        refused = setveil("anonymize", *words, cwd=tmp_path)
        assert refused.code == 4, refused
        assert "published/ would contain person IDs: 30 values of column 'codes'" in refused.err
        assert not (tmp_path / "o").exists()


def test_lines_of_an_order_are_those_of_a_mail_address(tmp_path: Path) -> None:
    """The export of a shop: a product name is an item, and times with a zone are no lists of fields."""
    rng = seeded(52)
    goods = ["Olive oil, 500 ml", "Bread", "Milk 1l", "Cheese", "Tea", "Coffee", "Eggs"]
    lines = [["Name", "Email", "Financial Status", "Paid at", "Lineitem name", "Lineitem price"]]
    for order in range(60):
        mail = f"user{rng.randint(1, 25)}@mail.example"
        for at, name in enumerate(rng.sample(goods, rng.randint(1, 4))):
            day = f"2024-05-{rng.randint(1, 28):02d} 10:00:00 +0200"
            once = ["paid", day] if at == 0 else ["", ""]
            lines.append([f"#{1000 + order}", mail, *once, f'"{name}"', f"{rng.randint(1, 9)}.90"])
    path = write(tmp_path / "orders.csv", lines)
    with pytest.raises(sv.TableError) as caught:
        sv.read(path)
    assert caught.value.readings[0][0] == {"id_column": "Email", "item_column": "Lineitem name"}
    assert sv.read(path, **caught.value.readings[0][0]).n_rows == len({line[1] for line in lines[1:]})


def test_when_a_form_was_sent_is_not_known(tmp_path: Path) -> None:
    rng = seeded(53)
    lines = [["Timestamp", "Tools", "Age", "Country"]]
    for _ in range(60):
        sent = f"2024/03/{rng.randint(1, 28):02d} 9:{rng.randint(10, 59)}:12 AM GMT+1"
        tools = ";".join(rng.sample(["Excel", "R", "Python", "Stata"], rng.randint(1, 3)))
        lines.append([sent, tools, rng.choice(["18-24", "25-34"]), rng.choice(["DE", "FR"])])
    write(tmp_path / "form.csv", lines)
    done = setveil("anonymize", "form.csv", "--k", "3", "--m", "1", "--out", "out", cwd=tmp_path)
    assert "--qi Age,Country --set Tools" in done.err
    assert "--qi Timestamp" not in done.err


@pytest.mark.parametrize(
    ("name", "is_item"),
    [
        ("Lineitem name", True), ("product_name", True), ("ProductName", True), ("concept_name", True),
        ("user name", False), ("Customer name", False), ("Item owner name", False), ("Name", False),
    ],
)  # fmt: skip
def test_names_of_items(name: str, is_item: bool) -> None:
    assert is_item_name(name) == is_item


def test_items_of_several_words_that_come_again_are_noted(tmp_path: Path) -> None:
    """Lines of words between blanks, named as baskets: the usual separator is a comma."""
    rng = seeded(54)
    goods = ["bread", "milk", "beer", "tea", "eggs", "rice", "salt"]
    lines = [" ".join(rng.sample(goods, rng.randint(1, 4))) for _ in range(60)]
    (tmp_path / "words.txt").write_text("\n".join(lines))
    (tmp_path / "names.txt").write_text(
        "\n".join(rng.choices(["olive oil", "whole milk", "rye bread"], k=60))
    )
    for name, noted in (("words.txt", True), ("names.txt", False)):
        data = sv.read(tmp_path / name, format="basket")
        assert data.origin is not None
        assert any("name the blank as the separator" in note for note in data.origin.notes) == noted
    assert sv.read(tmp_path / "words.txt", format="basket", separator=" ").n_items == len(goods)


NO_ITEMS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "postal codes": (
        "zip zip_code plz postcode code_postal CAP código_postal CP codice_postale",
        tuple(str(n) for n in range(10100, 10112)),
    ),
    "sexes": ("sex sexe Geschlecht sexo sesso gender género genre", ("m", "f")),
    "cities": (
        "city Stadt Ort ville ciudad città Wohnort country",
        ("Bonn", "Ulm", "Jena", "Mainz", "Trier"),
    ),
    "streets": (
        "street Straße rue calle via address Anschrift",
        ("Am Markt", "Mill Lane", "Rue Hugo", "Hof"),
    ),
    "ages": ("age Alter âge edad età", tuple(str(n) for n in range(20, 60))),
    "age bands": ("age_group Altersgruppe edad", ("20-29", "30-39", "40-49", "50-59")),
    "dates": ("date Datum fecha data day event_time", tuple(f"2024-03-{n}" for n in range(10, 20))),
    "days of the week": ("weekday Wochentag jour Tag Tage dia when", ("Mo", "Di", "Mi", "Do", "Fr")),
    "times of the day": ("hora Uhrzeit at", ("8:00", "9:30", "11:15", "14:00", "17:45")),
    "amounts": (
        "price Preis Artikelpreis prix precio prezzo Betrag montant importe item_price Menge value",
        tuple(str(100 * n) for n in range(1, 9)),
    ),
}


@pytest.mark.parametrize(
    ("name", "values"), [(name, values) for names, values in NO_ITEMS.values() for name in names.split()]
)
@pytest.mark.parametrize("shape", ["two", "three", "few", "alone", "shuffled"])
def test_a_column_named_like_what_is_no_item_is_never_proposed(
    name: str, values: Sequence[str], shape: str, tmp_path: Path
) -> None:
    """Check tables without a column that is named like items."""
    rng = seeded(84)
    lines = [
        [f"P{7_654_321 + 37 * at}", rng.choice(values), rng.choice("abcdefgh")]
        for at in range(8 if shape == "few" else 50)
        for _ in range(1 if shape == "alone" else rng.randint(1, 3))
    ]
    if shape == "shuffled":
        rng.shuffle(lines)
    width = 3 if shape == "three" else 2
    names = [rng.choice(["patient_id", "nr", "kunde"]), name, "x"]
    with pytest.raises(sv.TableError) as asked:
        sv.read(write(tmp_path / "a.csv", [one[:width] for one in (names, *lines)]))
    error = asked.value
    for options, _ in (*error.readings, *error.tables, *error.logs):
        items = f"{options.get('item_column')},{options.get('set')},{options.get('item_columns')}"
        assert name not in items.split(",")


@pytest.mark.parametrize("name", ["Artikel", "Artikelnr", "Ware", "artículo", "articolo", "produit"])
def test_a_column_named_like_goods_is_proposed_in_any_language(name: str, tmp_path: Path) -> None:
    rng = seeded(85)
    lines = [
        [f"{7_654_321 + 37 * at}", rng.choice(["10115", "10117", "10119"]), rng.choice("abcdefgh")]
        for at in range(50)
        for _ in range(rng.randint(1, 3))
    ]
    with pytest.raises(sv.TableError) as asked:
        sv.read(write(tmp_path / "a.csv", [["kunde", "plz", name], *lines]))
    assert asked.value.readings[0][0] == {"id_column": "kunde", "item_column": name}


@pytest.mark.parametrize("marks", ["01", "12"])
def test_a_coded_sex_is_none_of_the_answers(marks: str, tmp_path: Path) -> None:
    rng = seeded(86)
    lines = [[f"P{7_654_321 + 37 * at}", *rng.choices(marks, k=4)] for at in range(60)]
    with pytest.raises(sv.TableError) as asked:
        sv.read(write(tmp_path / "a.csv", [["patient_id", "sex", "asthma", "gout", "weight_loss"], *lines]))
    assert [dict(one)["item_columns"] for one, _ in asked.value.readings] == ["asthma-weight_loss"]
