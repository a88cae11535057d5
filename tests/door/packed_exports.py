"""Inputs that are no text, or several files: archives, Parquet, sheets, JSON lines, databases, folders."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import sqlite3
import struct
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pandas as pd
import polars as pl

from exports import (
    DIAGNOSES,
    NUMBERS,
    PATIENTS,
    Export,
    as_bytes,
    as_rows,
    ask,
    baskets,
    by,
    either,
    read,
    refuse,
    table,
)
from workbooks import xlsx, zipped

LONG = [(p.number, code, p.sex) for p in PATIENTS for code in p.codes]
CASES = table([("pat", "icd", "sex"), *LONG])
VISITS = table([("patient_id", "icd10"), *(line[:2] for line in LONG)])
SALES = baskets(40, seed=31)
SALES_TEXT = "".join(",".join(sale) + "\n" for sale in SALES)


def zstd(content: bytes) -> bytes:
    """Frame bytes as the zstd format does, in blocks that are not compressed."""
    frame = b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", len(content))
    pieces = [content[i : i + 1000] for i in range(0, len(content), 1000)] or [b""]
    for i, piece in enumerate(pieces):
        frame += (len(piece) << 3 | (i == len(pieces) - 1)).to_bytes(3, "little") + piece
    return frame


def archives() -> list[Export]:
    packers = {
        "gz": lambda b: gzip.compress(b, mtime=0),
        "xz": lzma.compress,
        "bz2": bz2.compress,
        "zst": zstd,
    }
    rows = as_rows(SALES)
    made = []
    for ending, pack in packers.items():
        made += [
            read(f"baskets in .{ending}", f"a.csv.{ending}", pack(SALES_TEXT.encode()), rows),
            ask(
                f"a table in .{ending}",
                f"b.csv.{ending}",
                pack(CASES.encode()),
                DIAGNOSES,
                *by("pat", "icd"),
                ids=NUMBERS,
            ),
        ]
    fimi = "".join(" ".join(str(len(item)) for item in sale) + "\n" for sale in SALES)
    return [
        *made,
        read("baskets in .zip", "a.zip", zipped({"a.csv": SALES_TEXT}), rows),
        read(
            "FIMI in .gz",
            "a.dat.gz",
            gzip.compress(fimi.encode()),
            as_rows(line.split() for line in fimi.splitlines()),
        ),
        ask("a table in .zip", "b.zip", zipped({"b.csv": CASES}), DIAGNOSES, *by("pat", "icd"), ids=NUMBERS),
        ask("a table in .gz, with another name", "b.csv", gzip.compress(CASES.encode()), ids=NUMBERS),
        refuse(
            "a .zip with two files",
            "two.zip",
            zipped({"a.csv": SALES_TEXT, "b.csv": CASES}),
            "a.csv",
            "b.csv",
        ),
        refuse("a .zip without a file", "none.zip", zipped({})),
        refuse("half a .gz", "half.csv.gz", gzip.compress(SALES_TEXT.encode())[:90]),
        refuse("half a .zst", "half.csv.zst", zstd(SALES_TEXT.encode())[:90]),
        refuse("text named .gz", "text.csv.gz", CASES),
        *(
            refuse(f"{what}, {name}", name, content + bytes(40), what, hint)
            for name, content, what, hint in FOREIGN
        ),
        refuse("a file of R, packed", "frame.rds", gzip.compress(b"X\n\0\0\0\3" + bytes(40)), "a file of R"),
        refuse("a web page named .xls", "page.xls", "<html><table>\n<tr><td>1</td></tr></table>", "web page"),
        refuse("XML named .csv", "page.csv", '\ufeff<?xml version="1.0"?>\n<row>tea</row>\n', "XML"),
    ]


FOREIGN = [
    ("ward.sav", b"$FL2@(#) IBM SPSS STATISTICS", "a file of SPSS", "Save the table as csv"),
    ("ward.dta", b"<stata_dta><header>", "a file of Stata", "Save the table as csv"),
    ("ward.sas7bdat", bytes(12) + b"\xc2\xea\x81\x60\xb3\x14", "a file of SAS", "Save the table as csv"),
    ("ward.xpt", b"HEADER RECORD*******LIBRARY HEADER RECORD!!!!!!!", "a transport file of SAS", "csv"),
    ("ward.RData", b"RDX3\nX\n", "a file of R", "write.csv"),
    ("ward.db", b"SQLite format 3\0\x10\0", "a database", "--connection sqlite:///"),
    ("ward.duckdb", bytes(8) + b"DUCK", "a database", "--connection duckdb:///"),
    ("ward.arrow", b"ARROW1\0\0", "an Arrow file", "Parquet"),
    ("ward.csv", b"%PDF-1.7\n", "a PDF", "Ask for the table behind it"),
]
Sheet = list[list[object]]


def spreadsheets() -> list[Export]:
    three: Sheet = [["pat", "icd", "sex"], *([int(a), b, c] for a, b, c in LONG)]
    two: Sheet = [["order_id", "item"], *([int(a), b] for a, b, _ in LONG)]
    coded: Sheet = [["pat", "ops", "sex"], *([int(a), 5000 + len(b), c] for a, b, c in LONG)]
    wide: Sheet = [
        ["UNIQ", "AGE", "DX1", "DX2", "DX3", "DX4"],
        *([int(p.number), int(p.age), *p.codes] for p in PATIENTS),
    ]
    titled: Sheet = [["Klinikum Musterstadt"], ["Stand 01.02.2024"], [], *three]
    numbers = [frozenset(str(5000 + len(code)) for code in row) for row in DIAGNOSES]
    return [
        ask(
            "a workbook of three columns",
            "a.xlsx",
            xlsx({"Tabelle1": three}),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
            columns={"pat": NUMBERS, "icd": {b for _, b, _ in LONG}, "sex": {"m", "f"}},
        ),
        ask(
            "a workbook with codes that are numbers",
            "b.xlsx",
            xlsx({"Tabelle1": coded}),
            numbers,
            *by("pat", "ops"),
            ids=NUMBERS,
            shown=False,
        ),
        ask(
            "a workbook with DX1 to DX4",
            "c.xlsx",
            xlsx({"Tabelle1": wide}),
            DIAGNOSES,
            "--item-columns",
            "DX1-DX4",
            ids=NUMBERS,
        ),
        ask("a workbook with titles", "d.xlsx", xlsx({"Tabelle1": titled}), ids=NUMBERS),
        either(
            ask(
                "a workbook of order_id and item",
                "e.xlsx",
                xlsx({"Tabelle1": two}),
                DIAGNOSES,
                *by("order_id", "item"),
                ids=NUMBERS,
            )
        ),
        ask("a workbook named .csv", "f.csv", xlsx({"Tabelle1": three}), ids=NUMBERS),
        refuse("an empty workbook", "g.xlsx", xlsx({"Tabelle1": []})),
        refuse("half a workbook", "h.xlsx", xlsx({"Tabelle1": three})[:500]),
        refuse("text named .xlsx", "i.xlsx", CASES),
        refuse("an old workbook", "j.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600)),
    ]


def columnar() -> list[Export]:
    frame = pd.DataFrame(LONG, columns=["pat", "icd", "sex"])
    items = pl.DataFrame({"items": SALES})
    lists = pl.DataFrame({"pat": [p.number for p in PATIENTS], "icd": [list(p.codes) for p in PATIENTS]})
    onehot = pl.DataFrame(
        {code: [code in row for row in DIAGNOSES] for code in sorted({c for r in DIAGNOSES for c in r})}
    )
    hand = by("pat", "icd")
    counted = [7_000_000 + i * i for i in range(len(frame))]  # pandas would not write 0, 1, 2, ...
    return [
        ask(
            "Parquet of three columns",
            "a.parquet",
            _parquet(pl.from_pandas(frame)),
            DIAGNOSES,
            *hand,
            ids=NUMBERS,
        ),
        ask(
            "Parquet of pat and icd",
            "b.parquet",
            _parquet(pl.from_pandas(frame[["pat", "icd"]])),
            DIAGNOSES,
            *hand,
            ids=NUMBERS,
        ),
        read("Parquet of lists", "c.parquet", _parquet(items), as_rows(SALES)),
        either(
            ask(
                "Parquet of ids and lists",
                "d.parquet",
                _parquet(lists),
                DIAGNOSES,
                "--item-column",
                "icd",
                ids=NUMBERS,
            )
        ),
        ask("Parquet of ids alone", "e.parquet", _parquet(lists.select("pat")), ids=NUMBERS),
        ask(
            "Parquet, one-hot",
            "f.parquet",
            _parquet(onehot),
            DIAGNOSES,
            "--item-columns",
            ",".join(onehot.columns),
            shown=False,
        ),
        ask("Parquet with an index", "g.parquet", _pandas(frame[frame.sex == "m"]), None, ids=NUMBERS),
        ask(
            "Parquet with an index that is the id",
            "h.parquet",
            _pandas(frame.set_index("pat")[["icd"]]),
            DIAGNOSES,
            *hand,
            ids=NUMBERS,
        ),
        ask(
            "Parquet with __index_level_0__",
            "i.parquet",
            _pandas(frame[["pat", "icd"]].set_index(pd.Index(counted))),
            DIAGNOSES,
            *hand,
            ids=NUMBERS | {str(i) for i in counted},
        ),
        either(
            ask(
                "Parquet of lists with __index_level_0__",
                "j.parquet",
                _pandas(pd.DataFrame({"items": SALES}, index=counted[:40])),
                as_rows(SALES),
                "--item-column",
                "items",
                ids={str(i) for i in counted},
            )
        ),
        refuse("half a Parquet file", "k.parquet", _parquet(items)[:200]),
        ask("Parquet named .csv", "l.csv", _parquet(pl.from_pandas(frame)), ids=NUMBERS),
    ]


def _parquet(frame: pl.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.write_parquet(out)
    return out.getvalue()


def _pandas(frame: pd.DataFrame) -> bytes:
    out = io.BytesIO()
    frame.to_parquet(out)
    return out.getvalue()


def json_lines() -> list[Export]:
    def lines(values: object) -> str:
        return "".join(json.dumps(value) + "\n" for value in values)  # type: ignore[attr-defined]

    objects = [{"pat": p.number, "sex": p.sex, "codes": list(p.codes)} for p in PATIENTS]
    records = [{"pat": a, "icd": b, "sex": c} for a, b, c in LONG]
    sales = [list(sale) for sale in SALES]
    orders = [{"order_id": at, "product": good} for at, sale in enumerate(SALES) for good in sale]
    wide = [
        {"pat": p.number, **{f"DX{at}": code for at, code in enumerate([*p.codes, None, None, None][:4], 1)}}
        for p in PATIENTS
    ]
    visits = [
        {"pat": p.number, "codes": codes} for p in PATIENTS for codes in (p.codes[:1], p.codes[1:], None)
    ]
    joined = [{"pat": int(p.number), "codes": ";".join(p.codes)} for p in PATIENTS]
    two = [{"pat": p.number, "codes": list(p.codes), "dates": list(p.dates)} for p in PATIENTS]
    return [
        read("JSON lines with one array", "a.jsonl", lines(objects), DIAGNOSES),
        *(
            ask(
                f"{what} with two arrays",
                file,
                content,
                DIAGNOSES,
                "--item-column",
                "codes",
                ids=NUMBERS,
                words=["codes", "dates"],
            )
            for what, file, content in (
                ("JSON lines", "b.jsonl", lines(two)),
                ("a JSON document", "l.json", json.dumps(two)),
            )
        ),
        ask(
            "JSON lines of a long table", "c.jsonl", lines(records), DIAGNOSES, *by("pat", "icd"), ids=NUMBERS
        ),
        read("JSON lines of orders and products", "p.jsonl", lines(orders), as_rows(SALES)),
        ask(
            "JSON lines of a wide table",
            "q.jsonl",
            lines(wide),
            DIAGNOSES,
            "--id-column",
            "pat",
            "--item-columns",
            "DX1-DX4",
            ids=NUMBERS,
        ),
        replace(
            read(
                "JSON lines of lists, several of a patient",
                "r.jsonl",
                lines(visits),
                DIAGNOSES,
                *by("pat", "codes"),
            ),
            ids=NUMBERS,
        ),
        ask(
            "JSON lines of texts with several codes",
            "s.jsonl",
            lines(joined),
            DIAGNOSES,
            *by("pat", "codes"),
            "--delimiter",
            ";",
            ids=NUMBERS,
        ),
        ask("JSON lines of a table, as arrays", "d.jsonl", lines(LONG), ids=NUMBERS),
        ask(
            "JSON lines of ids and items",
            "e.jsonl",
            lines([p.number, *p.codes] for p in PATIENTS),
            ids=NUMBERS,
        ),
        ask("JSON lines of ids alone", "f.jsonl", lines([p.number] for p in PATIENTS), ids=NUMBERS),
        read("a JSON document of arrays", "i.json", json.dumps(sales, indent=2), as_rows(SALES)),
        read("a JSON document of arrays on one line", "j", json.dumps(sales), as_rows(SALES)),
        read("a JSON document of lists", "k.json", json.dumps(objects, indent=1), DIAGNOSES),
        ask(
            "a JSON document of ids and items",
            "m.json",
            json.dumps([[p.number, *p.codes] for p in PATIENTS]),
            ids=NUMBERS,
        ),
        refuse("a JSON document that is cut off", "n.json", json.dumps(objects)[:-30], "n.json"),
        refuse("a JSON document of numbers", "o.json", json.dumps([["a"], 5]), "element 2"),
        ask(
            "a JSON document",
            "g.json",
            json.dumps(records, indent=1),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
        ask(
            "a JSON document on one line",
            "h.json",
            json.dumps(records),
            DIAGNOSES,
            *by("pat", "icd"),
            ids=NUMBERS,
        ),
    ]


def several() -> list[Export]:
    half = len(SALES) // 2
    parts = ["".join(",".join(sale) + "\n" for sale in piece) for piece in (SALES[:half], SALES[half:])]
    first, second = (
        [line for line in LONG if (line[0] in early) == yes]
        for yes in (True, False)
        for early in [{p.number for p in PATIENTS[:15]}]
    )
    jan, feb = (table([("patient_id", "icd10"), *(line[:2] for line in piece)]) for piece in (first, second))
    both = table([("patient_id", "icd10"), (PATIENTS[0].number, "Z99"), *(line[:2] for line in second)])
    other = table([("patient", "icd10", "sex"), *second])
    hand = by("patient_id", "icd10")
    joined = [DIAGNOSES[0] | {"Z99"}, *DIAGNOSES[1:]]

    def files(
        must: str,
        name: str,
        contents: Mapping[str, str],
        rows: object,
        *options: str,
        source: tuple[str, ...] = (),
        words: tuple[str, ...] = (),
    ) -> Export:
        packed = {path: as_bytes(content) for path, content in contents.items()}
        return Export(name, packed, must, rows, source or tuple(packed), options, NUMBERS, {}, words)  # type: ignore[arg-type]

    return [
        files("read", "two files of baskets", {"a.csv": parts[0], "b.csv": parts[1]}, as_rows(SALES)),
        files(
            "read",
            "a folder of baskets",
            {"m/a.csv": parts[0], "m/b.csv": parts[1]},
            as_rows(SALES),
            source=("m",),
        ),
        files(
            "read",
            "two files of a long table, columns named",
            {"jan.csv": jan, "feb.csv": feb},
            DIAGNOSES,
            *hand,
        ),
        files(
            "read",
            "a folder of a long table, columns named",
            {"m/1.csv": jan, "m/2.csv": feb},
            DIAGNOSES,
            *hand,
            source=("m",),
        ),
        files(
            "ask",
            "two files of three columns",
            {"a.csv": CASES, "b.csv": table([("pat", "icd", "sex"), ("4099999", "R51", "m")])},
            [*DIAGNOSES, frozenset({"R51"})],
            *by("pat", "icd"),
        ),
        files(
            "refuse",
            "the same id in two files",
            {"jan.csv": jan, "feb.csv": both},
            None,
            *hand,
            words=("--same-ids",),
        ),
        files(
            "read",
            "the same id in two files, the same person",
            {"jan.csv": jan, "feb.csv": both},
            joined,
            *hand,
            "--same-ids",
        ),
        files(
            "refuse",
            "two files with different headers",
            {"jan.csv": jan, "feb.csv": other},
            None,
            *hand,
            words=("feb.csv",),
        ),
        files("refuse", "baskets and a table", {"a.csv": parts[0], "b.csv": CASES}, None, words=("b.csv",)),
        files("refuse", "a table and baskets", {"a.csv": CASES, "b.csv": parts[0]}, None),
        files("refuse", "baskets and FIMI", {"a.csv": parts[0], "b.dat": "1 2 3\n4\n2 3\n1\n"}, None),
        files("refuse", "an empty folder", {"m/.keep": ""}, None, source=("m",)),
    ]


def databases() -> list[Export]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.db"
        connection = sqlite3.connect(path)
        connection.execute("create table dx (patient_id integer, icd10 text, sex text)")
        connection.executemany("insert into dx values (?, ?, ?)", LONG)
        connection.commit()
        connection.close()
        content = path.read_bytes()

    def query(
        must: str, name: str, sql: str, rows: object, *options: str, words: tuple[str, ...] = ()
    ) -> Export:
        where = ("--connection", "sqlite:///{here}/a.db", "--query", sql)
        return Export(name, {"a.db": content}, must, rows, where, options, NUMBERS, {}, words)  # type: ignore[arg-type]

    hand = by("patient_id", "icd10")
    ordered = "from dx order by rowid"
    return [
        query("read", "a query, columns named", f"select * {ordered}", DIAGNOSES, *hand),
        query("ask", "a query of three columns", f"select * {ordered}", DIAGNOSES, *hand),
        query(
            "either",
            "a query of patient_id and icd10",
            f"select patient_id, icd10 {ordered}",
            DIAGNOSES,
            *hand,
        ),
        query(
            "ask",
            "a query of columns that exchange their names",
            f"select patient_id as item, icd10 as order_id {ordered}",
            None,
        ),
        query("ask", "a query of ids alone", "select distinct patient_id from dx", None),
        query("refuse", "a query that is wrong", "select code from nowhere", None, words=("nowhere",)),
        refuse("a database as a file", "b.db", content),
    ]


def packed_exports() -> list[Export]:
    return [*archives(), *spreadsheets(), *columnar(), *json_lines(), *several(), *databases()]
