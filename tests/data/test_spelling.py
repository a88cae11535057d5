"""Spellings that look alike, and numbers that a spreadsheet rounded."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.data.spelling import code_form, is_rounded, look_alikes, text_form
from setveil.errors import DataError

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
MENU = CASES / "32-spellings-that-look-alike" / "menu.csv"
ROWS = [["E11.9", "I10"], ["e119", "i10 "], ["E119", "J18.9"], ["j189"]]
MERGED = [("E119", "I10"), ("E119", "I10"), ("E119", "J189"), ("J189",)]


@pytest.mark.skipif(not MENU.exists(), reason="the cases are not here")
def test_five_dishes_in_26_spellings(tmp_path: Path) -> None:
    columns = ["--id-column", "guest_id", "--item-column", "dish"]
    common = ["anonymize", str(MENU), "--k", "5", "--m", "2", *columns]
    apart = setveil(*common, "--out", "apart", cwd=tmp_path).ok()
    assert "26 of 26 items differ from another one only in case, blanks or how" in apart.err
    assert "they are spellings of 5 items. `--normalize text` makes them one." in apart.err
    done = setveil(*common, "--out", "o", "--normalize", "text", cwd=tmp_path).ok()
    assert "26 spellings became 5 items" in done.err
    asked = setveil("query", "o", "Café crème", cwd=tmp_path).ok()
    assert "48 rows hold" in asked.out
    data = sv.read(MENU, id_column="guest_id", item_column="dish", normalize="text")
    assert (data.n_rows, data.n_items, data.n_occurrences) == (60, 5, 127)
    assert data.origin is not None
    assert data.origin.as_dict()["normalized"]["spellings"] == 26
    setveil("verify", "o", cwd=tmp_path).ok()


@pytest.mark.parametrize(
    ("name", "columns", "lines", "left"),
    [("cards.csv", ("card_no", "product"), 514, 4), ("float_ids.csv", ("user_id", "liked"), 360, 1)],
)
def test_rounded_ids_are_an_error(name: str, columns: tuple[str, str], lines: int, left: int) -> None:
    file = CASES / "12-ids-a-spreadsheet-rounded" / name
    if not file.exists():
        pytest.skip("the cases are not here")
    with pytest.raises(DataError, match=rf"{columns[0]} of .* has {lines} values .* rounded") as caught:
        sv.read(file, id_column=columns[0], item_column=columns[1])
    assert f"({left} different value" in str(caught.value)


def test_rounded_items_are_an_error(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("1.96416E+14,tea\n1.96416E+14\n2,tea\n")
    with pytest.raises(DataError, match="has 2 values that a spreadsheet or a program rounded"):
        sv.read(tmp_path / "a.csv", format="basket")


@pytest.mark.parametrize(
    ("value", "rounded"),
    [("1.96416E+14", True), ("4.00638e+12", True), ("1E+06", True), ("1,5E+14", True), ("5E12", False),
     ("1.5E+1", False), ("1E50", False), ("1.234567E+06", False), ("E+10", False)],
)  # fmt: skip
def test_rounded(value: str, rounded: bool) -> None:
    assert is_rounded(value) is rounded


@pytest.mark.parametrize(
    "form", ["basket", "long", "wide", "lists", "jsonl", "parquet", "frame", "rows", "sql"]
)
def test_every_reading_makes_spellings_one(tmp_path: Path, form: str) -> None:
    pairs = [(f"p{n}", item) for n, row in enumerate(ROWS) for item in row]
    frame = pl.DataFrame(pairs, schema=["patient", "code"], orient="row")
    wide = pl.DataFrame([(*row, None)[:2] for row in ROWS], schema=["DX1", "DX2"], orient="row")
    long: dict[str, Any] = {"id_column": "patient", "item_column": "code"}
    if form == "basket":
        (tmp_path / "a.csv").write_text("\n".join(",".join(row) for row in ROWS))
        data = sv.read(tmp_path / "a.csv", format="basket", normalize="codes")
    elif form == "long":
        frame.write_csv(tmp_path / "a.csv")
        data = sv.read(tmp_path / "a.csv", **long, normalize="codes")
    elif form == "wide":
        wide.write_csv(tmp_path / "a.csv")
        data = sv.read(tmp_path / "a.csv", item_columns="DX*", normalize="codes")
    elif form == "lists":
        lines = "".join(f"p{n},{';'.join(row)}\n" for n, row in enumerate(ROWS))
        (tmp_path / "a.csv").write_text("patient,code\n" + lines)
        data = sv.read(tmp_path / "a.csv", **long, delimiter=";", normalize="codes")
    elif form == "jsonl":
        pl.DataFrame({"items": ROWS}).write_ndjson(tmp_path / "a.jsonl")
        data = sv.read(tmp_path / "a.jsonl", item_column="items", normalize="codes")
    elif form == "parquet":
        pl.DataFrame({"items": ROWS}).write_parquet(tmp_path / "a.parquet")
        data = sv.read(tmp_path / "a.parquet", item_column="items", normalize="codes")
    elif form == "frame":
        data = sv.read(frame, **long, normalize="codes")
    elif form == "sql":
        with closing(sqlite3.connect(tmp_path / "a.db")) as base:
            base.execute("CREATE TABLE t (patient TEXT, code TEXT)")
            base.executemany("INSERT INTO t VALUES (?, ?)", pairs)
            base.commit()
        connection = f"sqlite:///{tmp_path / 'a.db'}"
        data = sv.read(query="SELECT * FROM t", connection=connection, **long, normalize="codes")
    else:
        data = sv.read(ROWS, normalize="codes")
    assert data.rows() == MERGED


def test_the_set_of_a_table_and_facts(tmp_path: Path) -> None:
    lines = "".join(f"{n},{30 + n},{';'.join(row)}\n" for n, row in enumerate(ROWS))
    (tmp_path / "t.csv").write_text("patient,age,codes\n" + lines)
    table = sv.read_table(tmp_path / "t.csv", qi=["age"], set="codes", normalize="codes")
    assert table.rows() == MERGED
    log = "".join(f"{n},2024-01-0{n + 1},{item}\n" for n, row in enumerate(ROWS) for item in row)
    (tmp_path / "l.csv").write_text("who,day,code\n" + log)
    facts = sv.read_facts(tmp_path / "l.csv", id="who", sets="code", when={"day": "year"}, normalize="codes")
    assert facts.rows() == [tuple(f"{item}@2024" for item in row) for row in MERGED]


def test_one_patient_with_three_spellings_is_counted_once(tmp_path: Path) -> None:
    spellings = ("E11.9", "E119", "e11.9")
    lines = "".join(f"{n},{spellings[n % 3]}\n{n},I10\n" for n in range(405))
    (tmp_path / "icd.csv").write_text(
        "patient,code\n" + lines + "".join(f"{n},I10\n" for n in range(405, 600))
    )
    columns = ["--id-column", "patient", "--item-column", "code", "--normalize", "codes"]
    setveil(
        "hierarchy", "build", "icd.csv", "--system", "icd10", "--out", "tree.csv", *columns, cwd=tmp_path
    ).ok()
    (tmp_path / "own.csv").write_text("E11.9;E11;*\nI10;I10-I15;*\n")
    for tree in ("tree.csv", "own.csv"):
        setveil(
            "anonymize", "icd.csv", "--k", "5", "--m", "2", "-H", tree, "--out", f"{tree}.out", *columns,
            cwd=tmp_path,
        ).ok()  # fmt: skip
        assert "405 rows hold" in setveil("query", f"{tree}.out", "E11.9", cwd=tmp_path).ok().out


def test_forms() -> None:
    assert text_form("\u200bCafe\u0301\u00a0 CR\u00c8ME\u00ad ") == "café crème"
    assert code_form(" e11.9") == code_form("E119") == "E119"
    assert look_alikes(["tea", "milk", "1.5", "15"]) == ""
    assert "only in zeros at the beginning, such as '0420' and '420'" in look_alikes(["0420", "420", "7"])
    assert "`--normalize codes`" in look_alikes(["E11.9", "E119"])
    assert "`--normalize text`" in look_alikes(["4019", "4019  "])
