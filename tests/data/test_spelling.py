"""Spellings that look alike, and numbers that a spreadsheet rounded."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.base.errors import DataError
from setveil.rows.data.spelling import code_form, is_rounded, look_alikes, respelled, text_form
from setveil.rows.hierarchy.build import by_system

ROWS = [["E11.9", "I10"], ["e119", "i10 "], ["E119", "J18.9"], ["j189"]]
MERGED = [("E119", "I10"), ("E119", "I10"), ("E119", "J189"), ("J189",)]


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
        assert "405 rows contain" in setveil("query", f"{tree}.out", "E11.9", cwd=tmp_path).ok().out


COLUMNS = ["--id-column", "patient", "--item-column", "code"]


def spelled(folder: Path) -> None:
    """Write a file in which 405 patients have one code in three spellings, and 600 another one."""
    spellings = ("E11.9", "E119", "e11.9")
    lines = "".join(f"{n},{spellings[n % 3]}\n{n},I10\n" for n in range(405))
    lines += "".join(f"{n},I10\n" for n in range(405, 600))
    (folder / "icd.csv").write_text("patient,code\n" + lines)


@pytest.mark.parametrize("system", ["icd10", "icd9+icd10"])
def test_a_system_makes_spellings_one_in_data_and_hierarchy(tmp_path: Path, system: str) -> None:
    spelled(tmp_path)
    build = ["hierarchy", "build", "icd.csv", "--system", system, *COLUMNS]
    said = setveil(*build, "--out", "tree.csv", cwd=tmp_path).ok()
    assert "as the hierarchy has them, such as 'E11.9' = 'E119' = 'e11.9'" in said.err
    tree = sv.read_hierarchy(tmp_path / "tree.csv")
    assert tree.labels[: tree.n_leaves] == ("E11.9", "I10")
    run = ["anonymize", "icd.csv", "--k", "5", "--m", "2", "-H", "tree.csv", *COLUMNS]
    done = setveil(*run, "--out", "o", cwd=tmp_path).ok()
    assert "3 spellings became 1 item" in done.err
    assert "--normalize codes` makes" not in done.err
    for name in ("E11.9", "E119", "e11.9"):
        assert "405 rows contain" in setveil("query", "o", name, cwd=tmp_path).ok().out
    read = json.loads((tmp_path / "o" / "internal" / "report.json").read_text())["input"]["read"]
    assert (read["respelled"]["how"], read["respelled"]["spellings"]) == ("hierarchy", 3)
    measure = ["measure", "icd.csv", "o", "-H", "tree.csv", *COLUMNS]
    for command in (["why", "o", "E11.9"], ["verify", "o"], measure):
        setveil(*command, cwd=tmp_path).ok()
    again = setveil("apply", "o", "icd.csv", "--people", "same", "--out", "a", *COLUMNS, cwd=tmp_path).ok()
    assert "3 spellings became 1 item" in again.err
    apart = [*build, "--normalize", "none", "--out", "apart.csv"]
    setveil(*apart, cwd=tmp_path).ok()
    assert sv.read_hierarchy(tmp_path / "apart.csv").n_leaves == 4
    refused = setveil(*run, "--normalize", "none", "--out", "n", cwd=tmp_path)
    assert "2 of them are other spellings of items in it" in refused.err
    run[run.index("tree.csv")] = "apart.csv"
    setveil(*run, "--normalize", "none", "--out", "n", cwd=tmp_path).ok()
    assert "135 rows contain" in setveil("query", "n", "E11.9", cwd=tmp_path).ok().out


def test_codes_that_are_written_one_way_stay_as_they_are(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["e11.9", "i10"], ["j18.9"]])
    tree, read = by_system(data, "icd10", one_spelling=True)
    assert (tree, read.spelled) == (by_system(data, "icd10")[0], {})
    assert data.with_spellings_of(tree.labels) is data
    one, two = "123.4", "1234"  # with its zero it may be 012.34
    assert respelled([one], [two]) == {one: two}
    assert respelled([one], [two, "123 4"]) == {}
    assert respelled(["1.5", "Tea"], ["15", "tea"]) == {}


def test_a_system_of_the_set_of_a_table(tmp_path: Path) -> None:
    rows = [["E11.9", "I10"], ["e119", "I10"], ["E119"], ["E11.9"]] * 3
    lines = "".join(f"{30 + n % 2},{';'.join(row)}\n" for n, row in enumerate(rows))
    (tmp_path / "t.csv").write_text("age,codes\n" + lines)
    build = ["hierarchy", "build", "t.csv", "--column", "codes", "--system", "icd10", "--out", "tree.csv"]
    setveil(*build, cwd=tmp_path).ok()
    table = sv.read_table(
        tmp_path / "t.csv", qi=["age"], set="codes", hierarchies={"codes": tmp_path / "tree.csv"}
    )
    assert table.rows()[:3] == [("E11.9", "I10"), ("E11.9", "I10"), ("E11.9",)]
    assert table.origin is not None
    assert table.origin.as_dict()["respelled"]["spellings"] == 3
    setveil(
        "anonymize", "t.csv", "--model", "kkm", "--k", "2", "--m", "1", "--qi", "age", "--set", "codes",
        "-H", "tree.csv", "--out", "o", cwd=tmp_path,
    ).ok()  # fmt: skip
    setveil("verify", "o", cwd=tmp_path).ok()


ROUNDED = {"id": ["4.1E+12", "4.1E+12", "7"], "item": ["a", "b", "a"]}


def test_rounded_ids_and_items_of_every_kind_of_rows(tmp_path: Path) -> None:
    frame = pl.DataFrame(ROUNDED).with_columns(day=pl.lit("2024-01-01"), age=pl.lit("30"))
    frame.write_csv(tmp_path / "a.csv")
    with pytest.raises(DataError, match="id of the data frame has 2 values"):
        sv.read(frame.select("id", "item"))
    with pytest.raises(DataError, match=r"has 2 values .* different items"):
        sv.read(frame.select("item", "id").rename({"item": "id", "id": "item"}))
    with pytest.raises(DataError, match=r"id.* has 2 values .* different ids"):
        sv.read_table(tmp_path / "a.csv", qi=["age"], set="item", id_column="id")
    with pytest.raises(DataError, match=r"id.* has 2 values .* different items"):
        sv.read_table(tmp_path / "a.csv", qi=["age"], set="id")
    with pytest.raises(DataError, match=r"id.* has 2 values .* different ids"):
        sv.read_facts(tmp_path / "a.csv", id="id", sets="item", when={"day": "year"})
    with pytest.raises(DataError, match=r"id.* has 2 values .* different codes"):
        sv.read_facts(tmp_path / "a.csv", id="item", sets="id", when={"day": "year"}, not_ids="id")


def test_forms() -> None:
    assert text_form("\u200bCafe\u0301\u00a0 CR\u00c8ME\u00ad ") == "café crème"
    assert code_form(" e11.9") == code_form("E119") == "E119"
    assert look_alikes(["tea", "milk", "1.5", "15"]) == ""
    assert "only in zeros at the beginning, such as '0420' and '420'" in look_alikes(["0420", "420", "7"])
    assert "`--normalize codes`" in look_alikes(["E11.9", "E119"])
    assert "`--normalize text`" in look_alikes(["4019", "4019  "])
