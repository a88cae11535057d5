"""A column by itself below its name, totals among the items, and days of the week near an ID."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from strategies import seeded
from workbooks import xlsx

PLACES = ["Bonn", "Köln", "Trier", "Essen"]
SHARED = {
    "city": PLACES,
    "Wohnort": PLACES,
    "home city": PLACES,
    "sex": ["m", "f"],
    "Geschlecht": ["männlich", "weiblich"],
    "Altersgruppe": ["20-29", "30-39", "40-49"],
    "price band": ["low", "high"],
    "Tag": ["Mo", "Di", "Mi"],
    "ward": ["A1", "A2", "B1"],
    "status": ["open", "closed"],
}


def _lines(path: Path, *lines: str) -> Path:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


@pytest.mark.parametrize("name", SHARED)
def test_the_name_of_a_column_by_itself_is_no_item(name: str, tmp_path: Path) -> None:
    rng = seeded(91)
    values = [rng.choice(SHARED[name]) for _ in range(60)]
    path = _lines(tmp_path / "a.csv", name, *values)
    with pytest.raises(sv.TableError, match="may be the title of the others") as question:
        sv.read(path)
    (without, _), (as_item, _) = question.value.readings
    assert [*map(list, sv.read(path, **without))] == [[value] for value in values]
    assert sv.read(path, **as_item).n_rows == 61


def test_a_title_of_several_words_above_texts_is_an_item(tmp_path: Path) -> None:
    rng = seeded(92)
    texts = ["cheap hotel", "train times", "weather today", "bus times"]
    path = _lines(tmp_path / "a.csv", "city hotel", *(rng.choice(texts) for _ in range(60)))
    assert sv.read(path).n_rows == 61


@pytest.mark.parametrize(
    ("name", "values"),
    [("customer", ["Meyer", "Ott", "Voss"]), ("name", ["Ann", "Ben", "Cid"]), ("patient", ["1", "2", "3"])],
)
def test_lines_below_a_name_of_people_are_not_proposed_as_items(
    name: str, values: list[str], tmp_path: Path
) -> None:
    path = _lines(tmp_path / "a.csv", name, *(values[at % 3] for at in range(60)))
    with pytest.raises(sv.TableError, match="would be people, not items") as question:
        sv.read(path)
    assert not question.value.readings


# --- totals among the items

Made = tuple[Path, dict[str, Any]]
TOTALS = ["Subtotal", "Zwischensumme", "Sous-total", "Total parcial", "Subtotale", "TOTAL"]
GOODS = ["bread", "milk", "tea", "salt"]
LINES = [
    (f"C{at}", item) for at in range(40) for item in (GOODS[at % 4], GOODS[(at + 1) % 4], "Subtotal")
]  # two items and a total for each customer
LONG = {"id_column": "customer", "item_column": "product"}


def _frame(word: str) -> pl.DataFrame:
    lines = [(whose, word if item == "Subtotal" else item) for whose, item in LINES]
    return pl.DataFrame(lines, schema=["customer", "product"], orient="row")


def _long(place: Path, word: str) -> Made:
    _frame(word).write_csv(place / "a.csv")
    return place / "a.csv", LONG


def _parquet(place: Path, word: str) -> Made:
    _frame(word).write_parquet(place / "a.parquet")
    return place / "a.parquet", LONG


def _spreadsheet(place: Path, word: str) -> Made:
    frame = _frame(word)
    (place / "a.xlsx").write_bytes(xlsx({"a": [frame.columns, *frame.rows()]}))
    return place / "a.xlsx", LONG


def _cells(place: Path, word: str) -> Made:
    found = _frame(word).group_by("customer", maintain_order=True).agg(pl.col("product").str.join("|"))
    found.write_csv(place / "a.csv")
    return place / "a.csv", {**LONG, "delimiter": "|"}


def _lists(place: Path, word: str) -> Made:
    _frame(word).group_by("customer", maintain_order=True).agg("product").write_ndjson(place / "a.jsonl")
    return place / "a.jsonl", LONG


def _wide(place: Path, word: str) -> Made:
    rows = _frame(word).group_by("customer", maintain_order=True).agg("product").rows()
    lines = (",".join([whose, *items]) for whose, items in rows)
    return _lines(place / "a.csv", "customer,p1,p2,p3", *lines), {"item_columns": "p1-p3"}


def _baskets(place: Path, word: str) -> Made:
    rows = _frame(word).group_by("customer", maintain_order=True).agg("product").rows()
    return _lines(place / "a.csv", *(",".join(items) for _, items in rows)), {"format": "basket"}


SHAPES: list[Callable[[Path, str], Made]] = [_long, _parquet, _spreadsheet, _cells, _lists, _wide, _baskets]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("word", TOTALS)
def test_a_total_is_no_item_in_any_shape(
    shape: Callable[[Path, str], Made], word: str, tmp_path: Path
) -> None:
    path, options = shape(tmp_path, word)
    with pytest.raises(sv.TableError, match="seems to be a total and not an item") as question:
        sv.read(path, **options)
    (without, _), (as_item, _) = question.value.readings
    found = sv.read(path, **options, **without)
    assert (found.n_rows, found.n_items, found.n_occurrences) == (40, 4, 80)
    found = sv.read(path, **options, **as_item)
    assert (found.n_rows, found.n_items, found.n_occurrences) == (40, 5, 120)


@pytest.mark.parametrize("shape", [_long, _parquet, _spreadsheet, _cells])
def test_a_proposed_reading_has_no_totals(shape: Callable[[Path, str], Made], tmp_path: Path) -> None:
    path, _ = shape(tmp_path, "Zwischensumme")
    with pytest.raises(sv.TableError) as question:
        sv.read(path)
    options, _ = question.value.readings[0]
    assert sv.read(path, **options).n_occurrences == 80


def test_totals_are_no_codes_of_facts_and_tables(tmp_path: Path) -> None:
    lines = [f"{whose},{item},2024-0{at % 9 + 1}-01" for at, (whose, item) in enumerate(LINES)]
    log = _lines(tmp_path / "log.csv", "customer,product,day", *lines)
    with pytest.raises(sv.TableError, match="total and not an item") as question:
        sv.read_facts(log, id="customer", sets="product", when="day:month")
    found = sv.read_facts(log, id="customer", sets="product", when="day:month", missing="Subtotal")
    assert {fact.partition("@")[0] for row in found.rows() for fact in row} == {*GOODS}
    ward = _lines(
        tmp_path / "ward.csv", "age,items", *(f"{30 + at % 3},bread;milk;Total" for at in range(30))
    )
    with pytest.raises(sv.TableError, match="total and not an item") as question:
        sv.read_table(ward, qi=["age"], set="items")
    table = sv.read_table(ward, qi=["age"], set="items", **question.value.readings[0][0])
    assert {*table.to_polars()["items"].explode()} == {"bread", "milk"}


def test_words_that_mean_no_item_in_lists_are_left_out_of_proposals(tmp_path: Path) -> None:
    lines = (f"P{at},{'tea|milk' if at % 2 else 'milk|bread|NA'}" for at in range(40))
    path = _lines(tmp_path / "a.csv", "id,items", *lines)
    with pytest.raises(sv.TableError) as question:
        sv.read(path)
    found = sv.read(path, **question.value.readings[0][0])
    assert (found.n_rows, found.n_items, found.n_occurrences) == (40, 3, 80)


# --- quotes as signs, and small numbers of people


@pytest.mark.parametrize(("name", "separator"), [("a.tsv", "\t"), ("a.csv", "\t"), ("a.csv", ";")])
def test_columns_are_proposed_though_quotes_are_inch_signs(name: str, separator: str, tmp_path: Path) -> None:
    rng = seeded(93)
    goods = ['"SMALL" box', '17" screen', "cable", "rope"]
    lines = [[f"{1000 + at // 2}", rng.choice(goods)] for at in range(120)]
    path = _lines(tmp_path / name, *(separator.join(line) for line in (["kunde", "artikel"], *lines)))
    with pytest.raises(sv.TableError) as question:
        sv.read(path)
    options = question.value.readings[0][0]
    assert options["quote"] == "none"
    found = sv.read(path, **options)
    assert (found.n_rows, {*found.vocabulary.labels}) == (60, {*goods})


def test_lines_of_people_with_small_numbers_are_no_table_of_lines(tmp_path: Path) -> None:
    rng = seeded(94)
    lines = (f"{at // 3},{rng.choice(GOODS)},{rng.randint(100, 999)}" for at in range(150))
    path = _lines(tmp_path / "a.csv", "customer,product,price", *lines)
    with pytest.raises(sv.TableError, match="is named like persons, and 50 of its 50 values") as question:
        sv.read_table(path, qi=["price"], set="product")
    table = sv.read_table(path, qi=["price"], set="product", **question.value.readings[0][0])
    assert table.n_rows == 50


def test_rounded_ids_are_refused_before_columns_are_asked_about(tmp_path: Path) -> None:
    lines = (f"{'1.96416E+14' if at % 2 else '2.83726E+14'},{GOODS[at % 4]}" for at in range(120))
    path = _lines(tmp_path / "a.csv", "pid,product,", *lines)
    with pytest.raises(sv.DataError, match="120 values that a spreadsheet or a program rounded"):
        sv.read(path)


def test_adjacent_lines_of_an_id_are_no_table_of_lines(tmp_path: Path) -> None:
    rng = seeded(95)
    lines = (f"{at // 2},{rng.choice(PLACES)},{rng.choice(GOODS)}" for at in range(400))
    path = _lines(tmp_path / "a.csv", "pid,city,item", *lines)
    with pytest.raises(sv.TableError, match="the lines of one person would hide"):
        sv.read_table(path, qi=["city"], set="item")
