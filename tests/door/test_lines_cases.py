"""Headers, lines that are no data, and words that mean that there is none, in every shape of data."""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import together
from setveil.rows.data.io.streams import open_streams
from workbooks import xlsx

CODES = ["E78.5", "I10", "I50.1", "J44.1", "F32.9", "N18.3", "B20", "M54.5"]


def table(people: int = 40, *, word: str | None = None, first: int = 1001) -> list[list[str]]:
    """Lines of an ID and a code; every fourth person has `word` alone."""
    lines = []
    for at in range(people):
        if word is not None and at % 4 == 0:
            lines.append([str(first + at), word])
        else:
            lines += [[str(first + at), CODES[(at + more) % 8]] for more in range(1 + at % 3)]
    return lines


def text(lines: list[list[str]], sign: str = ",", header: list[str] | None = None) -> str:
    return "".join(sign.join(line) + "\n" for line in [header or ["patient_id", "icd10"], *lines])


def notes_of(data: sv.Transactions) -> tuple[str, ...]:
    return () if data.origin is None else data.origin.notes


def numbers(data: sv.Transactions) -> tuple[int, int, int, int]:
    return data.n_rows, data.n_items, data.n_occurrences, int((data.row_lengths() == 0).sum())


NAMED: dict[str, Any] = {"id_column": "patient_id", "item_column": "icd10"}


def pasted(path: Path, found: sv.TableError, **said: Any) -> sv.Transactions:
    """Read a file by the first reading that its message names."""
    options: Mapping[str, Any] = found.readings[0][0]
    return sv.read(path, **{**said, **options})


# --- words that mean that there is none

WORDS = [
    "NULL",
    r"\N",
    "NA",
    "N/A",
    "n/a",
    "#N/A",
    "None",
    "nan",
    "-",
    "--",
    ".",
    "(blank)",
    "(leer)",
    "<NA>",
]


@pytest.mark.parametrize("word", WORDS)
def test_words_mean_none_in_every_shape(word: str, tmp_path: Path) -> None:
    lines = table(word=word)
    plain = numbers(sv.read(_written(tmp_path / "plain.csv", text(table(word=""))), **NAMED))
    assert plain == (40, 8, 60, 10)
    kept = 0
    for name, made in _shapes(lines, tmp_path):
        data = made()
        assert numbers(data) == plain, name
        assert word not in data.vocabulary.labels
        kept += any(f"'{word}' (10)" in note for note in notes_of(data))
    assert kept == 9  # all but the data frame, which has no origin


def _shapes(lines: list[list[str]], tmp_path: Path) -> list[tuple[str, Any]]:
    """Write the same rows in all shapes."""
    rows: dict[str, list[str]] = {}
    for one, item in lines:
        rows.setdefault(one, []).append(item)
    frame = pl.DataFrame(lines, schema=["patient_id", "icd10"], orient="row")
    frame.write_parquet(tmp_path / "a.parquet")
    wide = [[one, *items, *[""] * (3 - len(items))] for one, items in rows.items()]
    lists = [[one, ";".join(items)] for one, items in rows.items()]
    items = list(rows.values())
    pl.DataFrame({"x": items}).write_parquet(tmp_path / "lists.parquet")
    records = "".join(json.dumps({"patient_id": one, "icd10": item}) + "\n" for one, item in lines)
    _written(tmp_path / "wide.csv", text(wide, header=["patient_id", "d1", "d2", "d3"]))
    (tmp_path / "a.xlsx").write_bytes(xlsx({"S": [["patient_id", "icd10"], *lines]}))
    return [
        ("long", lambda: sv.read(_written(tmp_path / "a.csv", text(lines)), **NAMED)),
        ("semicolons", lambda: sv.read(_written(tmp_path / "s.csv", text(lines, ";")), **NAMED)),
        ("tabs", lambda: sv.read(_written(tmp_path / "t.tsv", text(lines, "\t")), **NAMED)),
        ("frame", lambda: sv.read(frame, **NAMED)),
        ("parquet", lambda: sv.read(tmp_path / "a.parquet", **NAMED)),
        ("xlsx", lambda: sv.read(tmp_path / "a.xlsx", **NAMED)),
        ("records", lambda: sv.read(_written(tmp_path / "a.jsonl", records), **NAMED)),
        ("wide", lambda: sv.read(tmp_path / "wide.csv", id_column="patient_id", item_columns="d1-d3")),
        (
            "cells",
            lambda: sv.read(
                _written(tmp_path / "cells.csv", text(lists)), **NAMED, delimiter=";", not_ids="icd10"
            ),
        ),
        ("lists", lambda: sv.read(tmp_path / "lists.parquet", item_column="x")),
    ]


def _written(path: Path, content: str) -> Path:
    path.write_text(content)
    return path


def test_words_mean_none_in_baskets_and_arrays(tmp_path: Path) -> None:
    rows = [["tea", "milk"], ["NULL"], ["tea", "-"], ["bread", "milk", "tea"]]
    basket = _written(tmp_path / "a.csv", "".join(",".join(row) + "\n" for row in rows))
    arrays = _written(tmp_path / "a.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    for path, form in ((basket, "basket"), (arrays, "jsonl")):
        data = sv.read(path, format=form)
        assert data.rows() == [("milk", "tea"), (), ("tea",), ("bread", "milk", "tea")]
        assert data.origin is not None
        assert "2 values: 'NULL' (1), '-' (1) mean that there is no item" in notes_of(data)[0]
        data = sv.read(path, format=form, not_missing="-")
        assert data.rows()[2] == ("-", "tea")
        assert sv.read(path, format=form, missing="bread").rows()[3] == ("milk", "tea")


def test_words_of_one_column(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", text(table(word="0")))
    assert numbers(sv.read(path, **NAMED))[1] == 9
    assert numbers(sv.read(path, **NAMED, missing="icd10=0")) == (40, 8, 60, 10)
    assert numbers(sv.read(path, **NAMED, missing={"icd10": ["0"]})) == (40, 8, 60, 10)
    assert numbers(sv.read(path, **NAMED, missing=["0,999"])) == (40, 8, 60, 10)
    with pytest.raises(sv.DataError, match="no column 'nosuch'"):
        sv.read(path, **NAMED, missing="nosuch=0")
    lines = [[*line, "2020-01-01"] for line in table(word="0")]
    path = _written(tmp_path / "b.csv", text(lines, header=["patient_id", "icd10", "day"]))
    with pytest.raises(sv.RequestError, match=r"column 'day' of .* is not used"):
        sv.read(path, **NAMED, missing="day=0")
    facts = sv.read_facts(path, id="patient_id", sets="icd10", when={"day": "year"}, missing={"icd10": ["0"]})
    assert (facts.n_rows, facts.n_items, facts.filled_rows) == (40, 8, 30)
    with pytest.raises(sv.DataError, match="no column 'nosuch'"):
        sv.read_facts(path, id="patient_id", sets="icd10", when={"day": "year"}, missing={"nosuch": ["0"]})


def test_tables_with_roles(tmp_path: Path) -> None:
    lines = [[str(at), str(20 + at % 5), "NULL" if at % 4 == 0 else "I10;NA"] for at in range(40)]
    path = _written(tmp_path / "a.csv", text(lines, header=["patient", "age", "codes"]))
    table = sv.read_table(path, qi=["age"], set="codes", missing={"age": ["24"]})
    assert (table.n_rows, table.n_items, table.filled_rows) == (40, 1, 30)
    assert table.columns[0].missing
    assert table.origin is not None
    assert "40 values of column 'codes': 'NA' (30), 'NULL' (10)" in notes_of(table)[0]


# --- lines without an ID or an item


def test_lines_without_an_id(tmp_path: Path) -> None:
    lines = table()
    for at in (3, 7):
        lines[at][0] = ""
    path = _written(tmp_path / "a.csv", text(lines))
    with pytest.raises(
        sv.DataError, match=r"line 5: column 'patient_id' is empty.*2 lines lack an ID"
    ) as found:
        sv.read(path, **NAMED)
    assert "missing_id" in found.value.hint
    data = sv.read(path, **NAMED, missing_id="skip")
    assert data.n_rows == 40 - sum(line[0] not in {one[0] for one in lines} for line in table())
    assert "2 lines without an ID were skipped." in notes_of(data)
    filled = [(lines[at - (not line[0])][0], line[1]) for at, line in enumerate(lines)]
    assert numbers(sv.read(path, **NAMED, fill_id=True))[2] == len(set(filled))
    frame = pl.read_csv(io.StringIO(text(lines)))
    assert numbers(sv.read(frame, **NAMED, missing_id="skip")) == numbers(data)
    table_of = sv.read(path, **NAMED, missing_id="skip", not_missing="NA")
    assert numbers(table_of) == numbers(data)


def test_people_without_items_stay(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", text([*table(), ["9001", ""], ["9002", ""], ["1001", ""]]))
    data = sv.read(path, **NAMED)
    assert numbers(data) == (42, 8, 79, 2)
    assert notes_of(data) == ("3 lines have an ID and no item; 2 rows are empty.",)
    with pytest.raises(sv.DataError, match="3 lines lack an item"):
        sv.read(path, **NAMED, missing_item="stop")
    for wrong in ("drop", ""):
        with pytest.raises(sv.RequestError, match="skip or stop"):
            sv.read(path, **NAMED, missing_item=wrong)


# --- headers


@pytest.mark.parametrize("quote", ["", '"'])
@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_repeated_headers_are_no_data(sign: str, quote: str, tmp_path: Path) -> None:
    for prefix in ("", "P"):
        header = quote + "patient_id" + quote + sign + quote + "icd10" + quote + "\n"
        parts = [table(20, first=1001 + 20 * at) for at in range(3)]
        body = [text([[prefix + a, b] for a, b in part], sign).split("\n", 1)[1] for part in parts]
        path = _written(tmp_path / "a.csv", "".join(header + one for one in body))
        data = sv.read(path, **NAMED)
        assert data.n_rows == 60
        assert "icd10" not in data.vocabulary.labels
        assert notes_of(data) == ("2 more lines equal the header and were skipped.",)
        assert numbers(sv.read(path)) == numbers(data)  # two columns that are named unmistakably


@pytest.mark.parametrize("header", ['"","itemList"', ",goods", '"";"goods"'])
def test_a_first_column_without_a_name(header: str, tmp_path: Path) -> None:
    sign = ";" if ";" in header else ","
    cells = [f'"{at + 1}"{sign}"{",".join(CODES[at % 5 : at % 5 + 1 + at % 3])}"' for at in range(60)]
    path = _written(tmp_path / "a.csv", "\n".join([header, *cells]) + "\n")
    with pytest.raises(sv.TableError) as found:
        sv.read(path)
    data = pasted(path, found.value)
    assert data.n_rows == 60
    assert set(data.vocabulary.labels) <= set(CODES)
    assert "no name for its first column" in notes_of(data)[0]


def test_row_names_of_r(tmp_path: Path) -> None:
    lines = [[str(at + 1), *line] for at, line in enumerate(table())]
    path = _written(tmp_path / "a.csv", text(lines))
    data = sv.read(path, **NAMED)
    assert numbers(data) == (40, 8, 79, 0)


def test_several_header_lines(tmp_path: Path) -> None:
    more = [["Patient number", "Code of the diagnosis"], ['{"ImportId":"Q1"}', '{"ImportId":"Q2"}']]
    quoted = [[f'"{field.replace(chr(34), chr(34) * 2)}"' for field in line] for line in more]
    path = _written(tmp_path / "a.csv", text([*quoted, *table()]))
    with pytest.raises(sv.TableError, match="lines 1 to 3 of the table seem to be headers") as found:
        sv.read(path, **NAMED)
    assert numbers(pasted(path, found.value, **NAMED)) == (40, 8, 79, 0)
    assert numbers(sv.read(path, **NAMED, header_lines=1))[0] == 42


# --- lines that are no data


@pytest.mark.parametrize(
    ("above", "below"),
    [
        (["Diagnoses of ward 7", "Exported: 01.03.2024", ""], []),
        ([], ["", "(79 rows)"]),
        (["Station 7"], ["Stand: 1. März", "Alle Rechte vorbehalten"]),
        (["a title", ""], ["Summe,79"]),
        (["sep"], ["(79 rows affected)", "", "Completion time: 2024-01-03T12:00"]),
    ],
)
@pytest.mark.parametrize("named", [True, False])
def test_titles_and_remarks(above: list[str], below: list[str], named: bool, tmp_path: Path) -> None:
    lines = [*above, *text(table()).splitlines(), *below]
    path = _written(tmp_path / "a.csv", "\n".join(lines) + "\n")
    said = NAMED if named else {}
    with pytest.raises(sv.TableError) as found:
        sv.read(path, **said)
    data = pasted(path, found.value, **said)
    assert numbers(data) == (40, 8, 79, 0)
    assert "skipped" in notes_of(data)[0]


@pytest.mark.parametrize("word", ["Total", "Gesamt", "Grand Total", "SUM", "Totale", "Suma", "remark"])
def test_totals_raise_a_question(word: str, tmp_path: Path) -> None:
    lines = [*table(), [word, "79"]]
    path = _written(tmp_path / "a.csv", text(lines))
    (tmp_path / "a.xlsx").write_bytes(xlsx({"S": [["patient_id", "icd10"], *lines]}))
    for one in (path, tmp_path / "a.xlsx"):
        with pytest.raises(sv.TableError, match=f"column 'patient_id' contains '{word}'") as found:
            sv.read(one, **NAMED)
        assert numbers(pasted(one, found.value, **NAMED)) == (40, 8, 79, 0)
        assert numbers(sv.read(one, **NAMED, skip_last=0)) == (41, 9, 80, 0)
    frame = pl.DataFrame(lines, schema=["patient_id", "icd10"], orient="row")
    assert numbers(sv.read(frame, **NAMED, skip_last=1)) == (40, 8, 79, 0)


def test_comments_above_are_skipped(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", "# made by x 3.5\n# CC-BY\n" + text(table()))
    assert numbers(sv.read(path)) == (40, 8, 79, 0)
    path.write_text(text([*table()[:5], ["// more"], *table()[5:]]))
    assert numbers(sv.read(path, **NAMED, comment="//")) == (40, 8, 79, 0)


def test_lines_by_number(tmp_path: Path) -> None:
    path = _written(tmp_path / "a.csv", "x,y,z\n" + text(table()) + "bye,1\n\n")
    skips: list[dict[str, Any]] = [
        {"skip_lines": "1,82"},
        {"skip_lines": "1-1", "skip_last": 1},
        {"skip_lines": 1, "skip_last": 1},
    ]
    for skip in skips:
        data = sv.read(path, **NAMED, **skip)
        assert numbers(data) == (40, 8, 79, 0)
    path.write_text("x,y,z\n" + text([*table(), ["", "I10"]]))
    with pytest.raises(sv.DataError, match="line 82"):
        sv.read(path, **NAMED, skip_lines=1)
    for wrong in ("x", "-1", "1-", True):
        with pytest.raises(sv.RequestError, match="skip_lines"):
            sv.read(path, **NAMED, skip_lines=wrong)
    for frame in (
        pl.DataFrame({"a": [1]}),
        pl.DataFrame(table(), schema=["patient_id", "icd10"], orient="row"),
    ):
        with pytest.raises(sv.RequestError, match="skip_lines"):
            sv.read(frame, skip_lines=1)


@pytest.mark.parametrize("above", [["% Kinds:", "", "start news", "", "% Sequences", ""], ["a header"]])
def test_numbers_under_a_preamble(above: list[str], tmp_path: Path) -> None:
    rows = [" ".join(str(1 + (at * more) % 8) for more in range(1, 2 + at % 4)) for at in range(60)]
    path = _written(tmp_path / "a.seq", "\n".join([*above, *rows]) + "\n")
    with pytest.raises(sv.TableError) as found:
        sv.read(path)
    assert pasted(path, found.value).n_rows == 60
    with pytest.raises(sv.TableError) as found:
        sv.read(path, format="fimi")
    assert dict(found.value.readings[0][0]) == {"skip_lines": str(len(above))}


@pytest.mark.parametrize("total", ["Grand Total", "Gesamtergebnis", "Total général"])
def test_pivots(total: str, tmp_path: Path) -> None:
    goods, lines = ["milk", "rolls", "soda", "beef"], []
    for at in range(50):
        amounts = [(at * (2 * more + 3)) % 4 for more in range(4)]
        lines.append([f"c{at}", *(str(one or "") for one in amounts), str(sum(amounts))])
    sums = [sum(int(line[at] or 0) for line in lines) for at in range(1, 6)]
    path = _written(
        tmp_path / "a.csv", text([*lines, [total, *map(str, sums)]], header=["Row Labels", *goods, total])
    )
    named: dict[str, Any] = {"format": "onehot", "id_column": "Row Labels"}
    none: dict[str, Any] = {}
    for said in (none, named):
        with pytest.raises(sv.TableError) as found:
            sv.read(path, **said)
        data = pasted(path, found.value, **said)
        assert (data.n_rows, data.n_items) == (50, 4)


def test_parts_leave_out_the_same_words(tmp_path: Path) -> None:
    rows = [["a", "NA"], ["-"], ["b", "a"], [], ["NULL", "b"]]
    pl.DataFrame({"x": rows}).write_parquet(tmp_path / "a.parquet")
    baskets = _written(tmp_path / "a.csv", "".join(",".join(row) + "\n" for row in rows))
    for path, form in ((tmp_path / "a.parquet", None), (baskets, "basket")):
        parts = open_streams([str(path)], format=form)
        found = [
            tuple(sorted(parts.vocabulary.labels[item] for item in items[start:end]))
            for indptr, items in parts.pieces()
            for start, end in pairwise(indptr.tolist())
        ]
        assert found == [("a",), (), ("a", "b"), (), ("b",)]
        assert found == [tuple(sorted(row)) for row in sv.read(path, format=form).rows()]


# --- on the command line, and again


def test_runs_are_read_again_in_the_same_way(tmp_path: Path) -> None:
    _written(tmp_path / "a.csv", "title\n" + text([*table(word="0"), ["Total", "9"]]))
    how = "--id-column patient_id --item-column icd10 --skip-lines 1 --skip-last 1 --missing icd10=0"
    commands = [f"anonymize a.csv --k 3 --m 1 --out o {how}".split(), ["verify", "o"], ["why", "o", "I10"]]
    for done in together(commands, tmp_path):
        assert done.code == 0, done.err
    record = json.loads((tmp_path / "o" / "internal" / "report.json").read_text())
    assert (record["input"]["rows"], record["input"]["empty_rows"]) == (40, 10)
    how_read = record["input"]["read"]
    said = {"skip_lines": "1", "skip_last": 1, "missing": ["icd10=0"]}
    assert {name: how_read.get(name) for name in said} == said


NUMBERED = [f"{71 * n % 97 + 4100}" for n in range(30)]


def test_a_header_with_fewer_fields_is_kept(tmp_path: Path) -> None:
    lines = [f"{number},{n % 3},{n % 7},K{n % 5}" for n, number in enumerate(NUMBERED)]
    (tmp_path / "decimal.csv").write_text("\n".join(["case,los,code", *lines]) + "\n")
    with pytest.raises(sv.TableError) as error:  # `los` has decimal commas: names and fields do not agree
        sv.read(tmp_path / "decimal.csv")
    assert not error.value.readings
    assert "1 line is not of 4 fields like the others, such as the one with 'case'" in str(error.value)
    ends = [f"{number},K{n % 5},m," for n, number in enumerate(NUMBERED)]
    (tmp_path / "ends.csv").write_text("\n".join(["pat,icd,sex", *ends]) + "\n")
    with pytest.raises(sv.TableError) as error:
        sv.read(tmp_path / "ends.csv")
    assert error.value.readings[0][0] == {"id_column": "pat", "item_column": "icd"}


def test_titles_with_empty_fields_are_named(tmp_path: Path) -> None:
    lines = [f"{number};{code};{n * 7 % 28 + 1:02}.01.2024" for n, (number, code) in enumerate(table(30))]
    text = "\n".join(["Klinikum;;", "Stand 01.02.2024;;", "Fall;Kode;Datum", *lines]) + "\n"
    (tmp_path / "title.csv").write_text(text)
    with pytest.raises(sv.TableError) as error:
        sv.read(tmp_path / "title.csv")
    options = error.value.readings[0][0]
    assert options == {"skip_lines": "2", "id_column": "Fall", "item_column": "Kode"}
    assert sv.read(tmp_path / "title.csv", **options).n_rows == 30


def test_a_total_below_a_table_of_dates_is_skipped(tmp_path: Path) -> None:
    lines = [f"{number};{code};{n * 7 % 28 + 1:02}.01.2024" for n, (number, code) in enumerate(table(30))]
    (tmp_path / "total.csv").write_text("\n".join(["Fall;Kode;Datum", *lines, "Summe;60;"]) + "\n")
    with pytest.raises(sv.TableError) as error:
        sv.read(tmp_path / "total.csv")
    options, meaning = error.value.readings[0]
    assert options == {"id_column": "Fall", "item_column": "Kode", "skip_last": "1"}
    assert meaning == "one row per value of Fall, items from Kode; skip it"
    data = sv.read(tmp_path / "total.csv", **options)
    assert numbers(data) == (30, 8, 60, 0)


def test_ids_below_a_name_are_no_rows_of_numbers(tmp_path: Path) -> None:
    for ids in (NUMBERED, [f"+49 30 {number}" for number in NUMBERED], [f"{n:06}" for n in range(1, 31)]):
        (tmp_path / "alone.csv").write_text("\n".join(["patient", *ids]) + "\n")
        with pytest.raises(sv.TableError) as error:
            sv.read(tmp_path / "alone.csv")
        assert not error.value.readings
