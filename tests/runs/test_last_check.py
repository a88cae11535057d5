"""Nothing of a single person is published, whatever the reading, the kind of release and the face."""

from __future__ import annotations

import ast
import json
import random
import re
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import setveil as sv
from cli_helpers import refused, setveil
from setveil.report.run.folder import published_files
from setveil.rows.data.personal import IDS, Personal, column_of, folded, forms, masked
from setveil.rows.data.personal_forms import ADDRESS, CARD, IP, is_card
from setveil.rows.data.personal_places import personal_fields
from setveil.runs.folder import new_folder
from setveil.runs.last_check import require_nothing_personal

N = 60
DRAW = random.Random(3)
ROWS = [[*DRAW.sample(["tea", "milk", "rye", "ale", "fig", "oat"], DRAW.randint(1, 3))] for _ in range(N)]
PERSONS = {
    "a number": [str(100_001 + 7 * at) for at in range(N)],
    "running": [str(at + 1) for at in range(N)],
    "a prefix": [f"PAT-{at:05}" for at in range(N)],
    "a hash": [f"{at * 7919 + 10**17:018x}" for at in range(N)],
    "mail": [f"someone{at}@example.org" for at in range(N)],
    "a telephone": [f"+49 170 {1_000_000 + 37 * at}" for at in range(N)],
    "an IP address": [f"192.168.{at}.{17 + at}" for at in range(N)],
    "an IPv6 address": [f"2001:db8::{at + 16:x}:1" for at in range(N)],
    "a name": [
        f"{['Anna', 'Bert', 'Clara'][at % 3]} {chr(65 + at % 26)}{'abcdef'[at // 26]}-Koch" for at in range(N)
    ],
    "slashes": [f"{3_000_017 + 31 * (at * 7 % 61)}/24" for at in range(N)],
    "brackets": [f"[{3_000_017 + 31 * (at * 7 % 61)}]" for at in range(N)],
    "a line with an ID": [f"{'fm'[at % 2]} {at * 7919 + 10**17:018x} 1013{at % 10} rye" for at in range(N)],
    "a line with an event": [f"I10 R{5_533_241 + 17 * at} 38.6 {2_384_000 + at // 3}" for at in range(N)],
    "a line with mail": [f"someone{at // 2}@example.org 83 24.12.2004 {at}" for at in range(N)],
    "a line with an IP address": [f"rye 38.6 192.168.{at // 2}.{17 + at // 2}" for at in range(N)],
    "a street": [f"{at + 1} Long Acre Street" for at in range(N)],
    "eine Straße": [f"Lindenstraße {at + 1}" for at in range(N)],
    "une rue": [f"{at + 1} rue de la Paix" for at in range(N)],
    "una calle": [f"Calle Mayor {at + 1}" for at in range(N)],
    "a lane": [f"Mill Lane {at + 1}" for at in range(N)],
    "a market": [f"{['Am Markt', 'Lindenweg', 'Rosengarten'][at % 3]} {at + 1}" for at in range(N)],
}
PARENTS = {
    "*": None,
    "drink": "*",
    "food": "*",
    **dict.fromkeys(["tea", "milk", "ale"], "drink"),
    **dict.fromkeys(["rye", "fig", "oat"], "food"),
}


def card(number: int) -> str:
    """Write a card number: 15 digits and the one that fits."""
    return next(str(number) + last for last in "0123456789" if is_card(str(number) + last))


PERSONS["a card"] = [card(411_111_111_110_000 + 13 * at) for at in range(N)]


def with_persons(kind: str, last: bool = False) -> list[list[str]]:
    """Put something of one person into each row."""
    pairs = zip(PERSONS[kind], ROWS, strict=True)
    return [[*row, one] if last else [one, *row] for one, row in pairs]


def shown(folder: Path) -> str:
    return "".join(path.read_text("utf-8") for path in folder.rglob("*") if path.is_file())


def stopped(write: Callable[[], object]) -> sv.PersonalDataError:
    with pytest.raises(sv.PersonalDataError) as caught:
        write()
    return caught.value


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("kind", PERSONS)
def test_what_one_person_has_is_not_published_as_an_item(kind: str, last: bool, tmp_path: Path) -> None:
    rows = with_persons(kind, last)
    release = sv.anonymize(rows, k=2, m=1, details=False, list_members=True)
    error = stopped(lambda: release.write(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert error.exit_code == 4
    assert "****" in str(error)
    assert not any(value in str(error) for value in PERSONS[kind] if len(value) > 2)
    assert "--not-ids" in error.hint or "not_ids" in error.hint


FORMATS: dict[str, Callable[[list[list[str]]], str]] = {
    "basket": lambda rows: "".join(",".join(row) + "\n" for row in rows),
    "fimi": lambda rows: "".join(" ".join(map(str, row)) + "\n" for row in rows),
    "spmf": lambda rows: "".join(" ".join(map(str, row)) + "\n" for row in rows),
    "jsonl": lambda rows: "".join(json.dumps(row) + "\n" for row in rows),
}


@pytest.mark.parametrize("form", FORMATS)
def test_it_stops_on_the_command_line_and_the_option_it_names_works(form: str, tmp_path: Path) -> None:
    numbers = {label: str(900 + at) for at, label in enumerate(PARENTS)}
    rows = [[one, *(numbers[x] for x in row)] for one, row in zip(PERSONS["a number"], ROWS, strict=True)]
    (tmp_path / "rows").write_text(FORMATS[form](rows))
    words = [
        "anonymize",
        "rows",
        "--format",
        form,
        "--k",
        2,
        "--m",
        1,
        "--out",
        "x",
        "--no-details",
        "--list-members",
    ]
    refused(setveil(*words, cwd=tmp_path), 4, "field 1", "10****", out=tmp_path / "x")
    said = " ".join(setveil(*words, cwd=tmp_path).err.split())
    option = re.search(r"--not-ids \S+(?=\.$)", said)
    assert option is not None, said
    setveil(*words, *option[0].split(), cwd=tmp_path).ok()
    assert json.loads((tmp_path / "x/internal/report.json").read_text())["not_ids"] == ["1"]
    refused(setveil(*words, "--force", "--not-ids", "age", cwd=tmp_path), 2, "numbers of fields")


def test_standard_input_and_german_headers_are_no_way_in(tmp_path: Path) -> None:
    lines = [";".join(["Versichertennummer", "Alter", "Diagnose", "Ort"])]
    lines += [";".join(row + ["x"] * (4 - len(row))) for row in with_persons("a prefix")]
    content = ("\n".join(lines) + "\n").encode()
    words = ["--format", "basket", "--separator", ";", "--k", 2, "--m", 1, "--out", "x", "--list-members"]
    refused(setveil("anonymize", "-", *words, cwd=tmp_path, stdin=content), 4, "field 1", out=tmp_path / "x")


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_parts_are_no_way_in(form: str, tmp_path: Path) -> None:
    paths = [[item, above, "*"] for item, above in PARENTS.items() if above in ("drink", "food")]
    paths += [[one, "who", "*"] for one in PERSONS["a number"]]
    (tmp_path / "tree.csv").write_text("".join(";".join(map(str, path)) + "\n" for path in paths))
    more = ["--format", "basket"] if form == "csv" else ["--item-column", "items"]
    if form == "csv":
        (tmp_path / "rows.csv").write_text(FORMATS["basket"](with_persons("a number")))
    else:
        pl.DataFrame({"items": with_persons("a number")}).write_parquet(tmp_path / "rows.parquet")
    words = [
        "anonymize",
        f"rows.{form}",
        "--engine",
        "parts",
        "--hierarchy",
        "tree.csv",
        "-k2",
        "-m1",
        "--out",
        "x",
    ]
    refused(setveil(*words, *more, cwd=tmp_path), 4, "field 1", out=tmp_path / "x")
    setveil(*words, *more, "--not-ids", 1, cwd=tmp_path).ok()
    assert json.loads((tmp_path / "x/internal/report.json").read_text())["not_ids"] == ["1"]


LONG: pl.DataFrame = pl.DataFrame(
    [(who, item) for who, row in zip(PERSONS["a prefix"], ROWS, strict=True) for item in [*row, who]],
    schema=["who", "item"], orient="row",
)  # fmt: skip
WIDE: pl.DataFrame = pl.DataFrame(
    {
        "patient_id": PERSONS["a prefix"],
        "one": [row[0] for row in ROWS],
        "two": [who if at % 2 else ROWS[at][-1] for at, who in enumerate(PERSONS["a prefix"])],
    }
)


READINGS: dict[str, Callable[[Path], Any]] = {
    "list": lambda _: sv.read(with_persons("a prefix")),
    "frame of lists": lambda _: sv.read(pl.DataFrame({"items": with_persons("a prefix")})),
    "parquet": lambda place: (
        pl.DataFrame({"items": with_persons("a prefix")}).write_parquet(place / "a.parquet"),
        sv.read(place / "a.parquet", item_column="items"),
    )[1],
    "json objects": lambda place: (
        (place / "a.jsonl").write_text(
            "".join(json.dumps({"t": x}) + "\n" for x in with_persons("a prefix"))
        ),
        sv.read(place / "a.jsonl", item_column="t"),
    )[1],
    "long": lambda _: sv.read(LONG, id_column="who", item_column="item", not_ids="x"),
    "ignored column": lambda _: sv.read(WIDE, item_columns=["one", "two"]),
    "database": lambda place: _database(place),  # noqa: PLW0108  (defined below)
}


def _database(place: Path) -> Any:
    with sqlite3.connect(place / "a.db") as base:
        base.execute("create table t (patient_id text, one text, two text)")
        base.executemany("insert into t values (?, ?, ?)", WIDE.rows())
    base.close()
    return sv.read(query="select * from t", connection=f"sqlite:///{place}/a.db", item_columns="one,two")


@pytest.mark.parametrize("reading", READINGS)
def test_every_reading_keeps_what_must_not_be_published(reading: str, tmp_path: Path) -> None:
    data = READINGS[reading](tmp_path)
    stopped(lambda: sv.anonymize(data, k=2, m=1, details=False, list_members=True).write(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    part = data[:50]
    stopped(lambda: sv.anonymize(part, k=2, m=1, details=False, list_members=True).write(tmp_path / "out"))


PEOPLE = with_persons("a prefix")
TREE = sv.Hierarchy({**PARENTS, "who": "*", **dict.fromkeys(PERSONS["a prefix"], "who")})
KINDS: dict[str, dict[str, Any]] = {
    "rows": {"k": 2, "m": 1},
    "local": {"k": 2, "m": 1, "algorithm": "lra"},
    "classes": {"k": 2, "m": 1, "classes": 2},
    "chunks": {"guarantee": sv.Disassociated(1, 1), "algorithm": "disassociation"},
    "groups": {"guarantee": sv.PrivacyDegree(2, ["tea"])},
    "blocks": {"guarantee": sv.DifferentialPrivacy("1000"), "hierarchy": TREE},
    "table": {"k": 2, "m": 1},
    "facts": {"k": 2, "m": 1},
}


def data_of(kind: str, not_ids: list[str]) -> Any:
    """Read rows whose items belong to one person each, as data of a kind of release."""
    if kind == "table":
        table = pl.DataFrame(
            {"age": [30 + at % 3 for at in range(N)], "dx": PEOPLE, "pat": PERSONS["a prefix"]}
        )
        return sv.read_table(table, qi=["age"], set="dx", not_ids=not_ids and ["pat", "dx"])
    if kind == "facts":
        lines = [(at, item, "2024-01-01") for at, row in enumerate(PEOPLE) for item in row]
        lines += [(at, "tea", "2024-01-01") for at in range(N)]
        log = pl.DataFrame(lines, schema=["row", "dx", "day"], orient="row")
        who = log.with_columns(pl.Series("patient_id", [PERSONS["a prefix"][at] for at in log["row"]]))
        return sv.read_facts(
            who.drop("row"), id="patient_id", sets="dx", when=["day:month"], not_ids=["dx", *not_ids]
        )
    return sv.read(
        pl.DataFrame({"items": PEOPLE}), item_column="items", not_ids=["items"] if not_ids else None
    )


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_release_is_checked(kind: str, tmp_path: Path) -> None:
    release = sv.anonymize(data_of(kind, []), details=False, list_members=True, **KINDS[kind])
    rare: dict[str, Any] = {"rare_names": True} if kind == "chunks" else {}
    stopped(lambda: release.write(tmp_path / "out", **rare))
    assert not (tmp_path / "out").exists()
    lifted = sv.anonymize(data_of(kind, ["patient_id"]), details=False, list_members=True, **KINDS[kind])
    report = lifted.write(tmp_path / "out", **rare)
    assert report["not_ids"]


def test_apply_and_series_are_checked(tmp_path: Path) -> None:
    first = sv.anonymize(sv.read(PEOPLE), k=2, m=1, hierarchy=TREE, details=False, list_members=True)
    applied = sv.apply(first, sv.read(PEOPLE), hierarchy=TREE, details=False)
    stopped(lambda: applied.write(tmp_path / "out"))
    named = {f"P{at}": row for at, row in enumerate(PEOPLE)}
    series = sv.Series.create(tmp_path / "ledger", k=2, m=1)
    stopped(lambda: series.add(named, name="one", out=tmp_path / "first", hierarchy=TREE))
    assert not (tmp_path / "first").exists()
    own = {who: [*row, who] for who, row in zip(PERSONS["a prefix"], ROWS, strict=True)}
    stopped(lambda: series.add(own, name="one", out=tmp_path / "first", hierarchy=TREE))
    assert not (tmp_path / "first").exists()


def test_ids_are_found_however_they_are_spelled(tmp_path: Path) -> None:
    lower = [[one.lower() if at == 0 else one for at, one in enumerate(row)] for row in PEOPLE]
    log = pl.DataFrame(
        [(row[0], item, "2024-01-01") for row in lower for item in [*row, "tea"]],
        schema=["patient_id", "dx", "day"], orient="row",
    )  # fmt: skip
    table = pl.DataFrame({"age": [30 + at % 3 for at in range(N)], "dx": lower, "pat": [r[0] for r in lower]})
    read = {
        "rows": sv.read(lower, normalize="codes"),
        "frame": sv.read(pl.DataFrame({"items": lower}), item_column="items", normalize="codes"),
        "facts": sv.read_facts(
            log, id="patient_id", sets="dx", when=["day:month"], not_ids=["dx"], normalize="codes"
        ),
        "table": sv.read_table(table, qi=["age"], set="dx", not_ids=["dx"], normalize="codes"),
    }
    for name, data in read.items():
        release = sv.anonymize(data, k=2, m=1, details=False, list_members=True)
        error = stopped(lambda release=release, name=name: release.write(tmp_path / name))  # type: ignore[misc]
        assert "PA****" in str(error), name
        assert not (tmp_path / name).exists()


def test_ignored_keys_beside_a_list_are_compared(tmp_path: Path) -> None:
    objects = [
        {"patientNo": row[0], "t": [*row[1:], *([row[0]] if at % 3 else [])]} for at, row in enumerate(PEOPLE)
    ]
    lines = [json.dumps(one) for one in objects]
    (tmp_path / "a.jsonl").write_text("\n\n".join(lines) + "\n")
    pl.DataFrame(objects).write_parquet(tmp_path / "a.parquet")
    for file in ("a.jsonl", "a.parquet"):
        data = sv.read(tmp_path / file, item_column="t", not_ids="t")
        release = sv.anonymize(data, k=2, m=1, details=False, list_members=True)
        error = stopped(lambda release=release: release.write(tmp_path / "out"))  # type: ignore[misc]
        assert "patientNo" in str(error)


def test_blank_lines_hide_no_people(tmp_path: Path) -> None:
    lines = [json.dumps({"patientNo": f"P-{at // 3}", "t": row}) for at, row in enumerate(ROWS)]
    (tmp_path / "a.jsonl").write_text("\n".join([*lines[:7], "", *lines[7:]]) + "\n")
    with pytest.raises(sv.TableError, match="20 patients have 61 rows"):
        sv.read(tmp_path / "a.jsonl")


SPELLINGS: dict[str, Callable[[str], str]] = {
    "as it is": str,
    "small": str.lower,
    "blanks": lambda one: f" {one[:4]} {one[4:]} ",
    "dots": lambda one: f"{one[:3]}.{one[3:6]}.{one[6:]}",
    "a soft hyphen": lambda one: f"{one[:3]}\u00ad{one[3:]}",
}


@pytest.mark.parametrize("normalize", [None, "codes", "text", "none"])
@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("role", ["id", "ignored", "table"])
def test_every_spelling_of_an_id_is_found(
    role: str, spelling: str, normalize: str | None, tmp_path: Path
) -> None:
    ids = [f"PÄT{at:05}" for at in range(N)]
    lines = [
        f"{one},{30 + at % 7},{SPELLINGS[spelling](one) if at % 3 == 0 else row[0]}"
        for at, (one, row) in enumerate(zip(ids, ROWS, strict=True))
    ]
    path = tmp_path / "a.csv"
    path.write_text("\n".join(["record,age,drug", *lines]) + "\n", "utf-8")
    how: dict[str, Any] = {"normalize": normalize} if normalize else {}
    if role == "table":
        table = sv.read_table(path, qi=["age"], set="drug", id_column="record", not_ids=["drug"], **how)
        release = sv.anonymize(table, k=2, m=1, details=False, list_members=True)
        assert "record" in str(stopped(lambda: release.write(tmp_path / "out")))
        return
    named: dict[str, Any] = (
        {"id_column": "record", "item_column": "drug"} if role == "id" else {"item_columns": "drug"}
    )
    data = sv.read(path, not_ids="drug", **named, **how)
    rows = sv.anonymize(data, k=2, m=1, details=False, list_members=True)
    assert "record" in str(stopped(lambda: rows.write(tmp_path / "out")))


WRITTEN: dict[str, tuple[Callable[[int], str], Callable[[int], str]]] = {
    "without hyphens": (lambda at: f"P-{40_001 + 7 * at}-x", lambda at: f"p{40_001 + 7 * at}X"),
    "with other signs": (lambda at: f"P{40_001 + 7 * at}", lambda at: f"P\u2013{40_001 + 7 * at}"),
    "without zeros": (lambda at: f"{at + 101:08}", lambda at: str(at + 101)),
    "without zeros inside": (lambda at: f"PAT-{at + 10:05}", lambda at: f"pat {at + 10}"),
    "of a spreadsheet": (lambda at: str(300_000_001 + 7 * at), lambda at: f"{300_000_001 + 7 * at}.0"),
    "into a spreadsheet": (lambda at: f"{201 + 7 * at}.0", lambda at: str(201 + 7 * at)),
    "a name": (lambda at: PERSONS["a name"][at], lambda at: PERSONS["a name"][at].replace("-", "")),
}


def written_rows(kind: str, ids: list[str], items: list[list[str]], place: Path) -> Any:
    """Read rows of people with IDs by a kind of reading; none of its columns is named as no IDs."""
    lines = [(who, item) for who, row in zip(ids, items, strict=True) for item in row]
    log = pl.DataFrame(lines, schema=["patient_id", "dx"], orient="row")
    if kind == "facts":
        log = log.with_columns(pl.lit("2024-01-01").alias("day"))
        return sv.read_facts(log, id="patient_id", sets="dx", when=["day:month"])
    if kind == "table":
        ages = [30 + at % 3 for at in range(N)]
        table = pl.DataFrame({"age": ages, "dx": items, "patient_id": ids})
        return sv.read_table(table, qi=["age"], set="dx")
    if kind == "lists":
        return sv.read(pl.DataFrame({"dx": items, "patient_id": ids}), item_column="dx")
    if kind == "file":
        log.write_csv(place / "log.csv")
        return sv.read(place / "log.csv", id_column="patient_id", item_column="dx")
    return sv.read(log, id_column="patient_id", item_column="dx")


@pytest.mark.parametrize("kind", ["long", "file", "lists", "table", "facts"])
@pytest.mark.parametrize("way", WRITTEN)
def test_ids_are_found_however_people_write_them(way: str, kind: str, tmp_path: Path) -> None:
    of_id, of_item = WRITTEN[way]
    ids = [of_id(at) for at in range(N)]
    items = [[*row, of_item(at)] for at, row in enumerate(ROWS)]
    release = sv.anonymize(
        written_rows(kind, ids, items, tmp_path), k=2, m=1, details=False, list_members=True
    )
    error = stopped(lambda: release.write(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
    assert "person IDs" in str(error)


def test_items_that_look_like_ids_written_otherwise_are_published(tmp_path: Path) -> None:
    ids = [str(at + 1) for at in range(N)]
    items = [["1-7", "0012", "3.0", "1.05", row[0]] for row in ROWS]
    release = sv.anonymize(written_rows("long", ids, items, tmp_path), k=2, m=1, details=False)
    release.write(tmp_path / "out")
    column = Personal((column_of("id", "id", IDS, ["1-20", "202301-15", "E11-9", "0012345678"]),)).columns[0]
    assert column.among(["120", "2023-0115", "20230115", "e119", "12345678"]) == []


def test_spellings_that_other_values_may_have_by_chance_are_two_values() -> None:
    assert folded(["1.7", "17", "10.0.0.1", "..."]).to_list() == ["1.7", "17", "10.0.0.1", "..."]
    assert folded(["756.1234.5678.97", " E11.9", "Straße"]).to_list() == ["7561234567897", "e119", "strasse"]


@pytest.mark.parametrize("kind", ["a number", "a prefix", "mail", "an IP address", "a name", "a street"])
def test_rows_with_ids_are_not_converted(kind: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text(FORMATS["basket"](with_persons(kind)))
    words = ["convert", "rows.csv", "rows.jsonl", "--format", "basket"]
    refused(setveil(*words, cwd=tmp_path), 4, "rows.jsonl would contain", "****", "--not-ids 1")
    assert not (tmp_path / "rows.jsonl").exists()
    assert setveil(*words, "--not-ids", "1", cwd=tmp_path).code == 0
    stopped(lambda: sv.convert(with_persons(kind), tmp_path / "more.jsonl"))


def test_draws_contain_nothing_of_one_person(tmp_path: Path) -> None:
    release = sv.anonymize(with_persons("a prefix"), k=2, m=1, details=False, list_members=True)
    stopped(lambda: sv.reconstruct(release, draws=1).write(tmp_path / "draws"))
    rows = [[f"someone{at % 3}@example.org", *row] for at, row in enumerate(ROWS)]
    (tmp_path / "rows.csv").write_text(FORMATS["basket"](rows))
    allowed = ["--format", "basket", "--not-ids", "1", "--k", "2", "--m", "1", "--no-details", "--out", "out"]
    assert setveil("anonymize", "rows.csv", *allowed, cwd=tmp_path).code == 0
    assert setveil("reconstruct", "out", "--out", "draws", cwd=tmp_path).code == 0  # internal/ says so
    (tmp_path / "out/published").rename(tmp_path / "given")
    refused(
        setveil("reconstruct", "given", "--out", "more", cwd=tmp_path),
        4,
        "3 items that look like e-mail addresses (so****g, so****g, so****g)",
    )
    stopped(lambda: sv.reconstruct(tmp_path / "given", draws=1).write(tmp_path / "more"))
    assert not (tmp_path / "more").exists()


def test_masked_values_tell_little() -> None:
    assert [masked(one) for one in ("1000043", "17", "ab@c.org")] == ["10****3", "****", "ab****g"]


# --- no false alarms


def fields(rows: list[list[str]]) -> list[str]:
    data = sv.Transactions.from_rows(rows)
    return [column.name for column in data.personal.columns]


def test_items_that_come_back_are_no_ids() -> None:
    draw = random.Random(1)
    ascending = [
        [str(x) for x in sorted(draw.sample(range(1, 1000), draw.randint(1, 173)))] for _ in range(400)
    ]
    # the first number of nearly every line differs among the first lines, as of sorted lines of numbers
    differing = [[str(x) for x in (at, *draw.sample(range(1000), 20))] for at in draw.sample(range(900), 900)]
    for number in (50, 400, 900):
        assert fields(differing[:number]) == []
    assert fields(ascending) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda draw, at: str(draw.randint(18, 99)),
        lambda draw, at: f"20{10 + at % 14}-{1 + at % 12:02}-{1 + at % 28:02}",
        lambda draw, at: str(draw.randint(10115, 10999)),
        lambda draw, at: f"{draw.choice('IJK')}{draw.randint(10, 99)}.{draw.randint(0, 9)}",
        lambda draw, at: draw.choice(["4006381333931", "4311501659571", "0012345678905", "00123456789012"]),
        lambda draw, at: f"{draw.randint(1, 6)}.{draw.randint(1, 4)}.14.{draw.choice([13, 39, 57, 120])}",
        lambda draw, at: draw.choice(["0002-1200-01", "00093-7146-56", "12:30:45", "7 Up", "Eggs 12 ct"]),
        lambda draw, at: f"{draw.randint(1, 9)}.{draw.randint(0, 99):02}",
    ],
)
def test_ages_dates_postcodes_and_product_codes_are_no_ids(make: Callable[[random.Random, int], str]) -> None:
    draw = random.Random(7)
    assert fields([[make(draw, at), *row] for at, row in enumerate(ROWS * 20)]) == []


@pytest.mark.parametrize("name", ["Straße", "product"])
def test_a_column_of_addresses_counts_as_a_whole(name: str, tmp_path: Path) -> None:
    """Check a column in which a tenth has the form of addresses, and one that only its name tells."""
    streets = [f"{['Am Markt', 'Rosengarten', 'Im Winkel'][at % 3]} {at // 3 + 1}" for at in range(N)]
    if name == "product":
        streets[:6] = [f"Lindenweg {at}" for at in range(6)]
    (tmp_path / "a.csv").write_text(
        f"id,{name}\n" + "".join(f"P{at // 2:03},{one}\n" for at, one in enumerate(streets)), "utf-8"
    )
    rows = sv.read(tmp_path / "a.csv", id_column="id", item_column=name)
    released = sv.anonymize(rows, k=2, m=1, list_members=True, details=False)
    error = stopped(lambda: released.write(tmp_path / "out"))
    assert "exact addresses" in str(error)
    assert f"not_ids {name}" in error.hint
    free = sv.read(tmp_path / "a.csv", id_column="id", item_column=name, not_ids=name)
    sv.anonymize(free, k=2, m=1, list_members=True, details=False).write(tmp_path / "free")


def test_products_with_a_number_are_no_addresses() -> None:
    products = [f"{word} {number}" for word in ("Windows", "Nikon D", "Vitamin B") for number in range(1, 30)]
    assert forms(products) == {}
    assert forms([*products, "Long Lane 5"]) == {ADDRESS: ["Long Lane 5"]}


def test_small_numbers_of_orders_are_not_taken_for_products(tmp_path: Path) -> None:
    draw = random.Random(2)
    lines = [(order + 1, product) for order in range(300) for product in draw.sample(range(1, 20), 4)]
    frame = pl.DataFrame(lines, schema=["order_id", "product_id"], orient="row")
    data = sv.read(frame, id_column="order_id", item_column="product_id")
    sv.anonymize(data, k=2, m=1, details=False, list_members=True).write(tmp_path / "out")


def test_an_age_that_equals_a_patient_number_is_not_its_own_alarm() -> None:
    ages = [[str(at + 1), f"{20 + at % 50}", "f" if at % 2 else "m"] for at in range(200)]
    (column,) = sv.Transactions.from_rows(ages).personal.columns
    assert column.name == "field 1"
    assert column.among(["17", "33", "150"]) == ["17", "150"]  # 33 is an age, too


def test_one_number_of_a_form_may_be_another_code() -> None:
    assert CARD not in forms([str(4_000_000_000_000_000 + 7919 * at) for at in range(100)])
    assert IP not in forms(["1.1.1.1", "3.4.21.7", "2.7.11.1"])


def _facts(day: str, **columns: Any) -> sv.Facts | sv.Table:
    return sv.read_facts(_log(day), id="who", sets="item", when=["day:month"], **columns)


def _log(day: str) -> pl.DataFrame:
    """Write the ID of one person among the items of all, and one line of another day."""
    ids = PERSONS["a hash"]
    lines = [(ids[at], item, f"2021-0{1 + at % 3}-04", 40) for at in range(N) for item in (*ROWS[at], ids[7])]
    return pl.DataFrame([*lines, (ids[0], "tea", day, 40)], ["who", "item", "day", "age"], orient="row")


@pytest.mark.parametrize("day", ["2021-03-04", "1950-01-01"])  # a year of few people is merged with others
@pytest.mark.parametrize(
    "made",
    [
        lambda day: sv.anonymize(
            sv.read(_log(day)[["who", "item"]], id_column="who", item_column="item"),
            k=2,
            m=1,
            suppress_below=3,
        ),
        lambda day: sv.anonymize(
            sv.Transactions.from_rows(
                sv.read(_log(day)[["who", "item"]], id_column="who", item_column="item")
            ),
            k=2,
            m=1,
        ),
        lambda day: sv.anonymize(_facts(day, drop=["age"]), k=2, m=1),
        lambda day: sv.anonymize(_facts(day, qi=["age"]), sv.MixedKmAnonymity(k=2, m=1)),
    ],
)
def test_the_check_knows_what_was_read_whatever_a_run_does_to_it(
    made: Callable[[str], sv.VerifiedRelease], day: str, tmp_path: Path
) -> None:
    with pytest.raises(sv.PersonalDataError, match="1 value of column 'who'"):
        made(day).write(tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- one place


def test_only_new_folder_makes_published_folders() -> None:
    """Every writer of published files passes through the last check."""
    root = Path(sv.__file__).parent
    found = set()
    for path in root.rglob("*.py"):
        text = path.read_text("utf-8")
        for node in ast.walk(ast.parse(text)) if re.search(r"\b(mkdir|makedirs)\b", text) else ():
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in ("mkdir", "makedirs")
                and "published" in ast.unparse(node)
            ):
                found.add((path.relative_to(root).as_posix(), ast.unparse(node)))
    assert found == {
        ("runs/folder.py", "published.mkdir()"),
        ("spark/release.py", "(self.published / DATA).mkdir()"),
    }


def test_new_folder_checks_whatever_was_written(tmp_path: Path) -> None:
    rows = sv.Transactions.from_rows(with_persons("a prefix"))
    for name in ("notes.txt", "more.json", "page.html", "data.jsonl", "deep/data.csv"):
        with (  # noqa: PT012
            pytest.raises(sv.PersonalDataError),
            new_folder(tmp_path / "out", rows.personal) as (place, _),
        ):
            (place / name).parent.mkdir(exist_ok=True)
            content = json.dumps(["PAT-00017"]) if "json" in name else "a,PAT-00017\n"
            (place / name).write_text(content)
        assert not (tmp_path / "out").exists()
    with pytest.raises(sv.PersonalDataError), new_folder(tmp_path / "out", rows.personal) as (place, _):
        pl.DataFrame({"items": [["tea"], ["PAT-00017"]]}).write_parquet(place / "data.parquet")


def test_counts_are_no_ids(tmp_path: Path) -> None:
    rows = [[str(at + 1), "tea"] for at in range(100)]
    personal = Personal(personal_fields(np.arange(0, 202, 2), *_coded(rows)))
    (tmp_path / "counts.csv").write_text("item,label,rows\ntea,tea,100\nmilk,milk,17\n")
    (tmp_path / "about.json").write_text('{"rows": 100, "labels": {"tea": ["tea"]}, "k": 5}')
    require_nothing_personal(tmp_path, personal)
    (tmp_path / "counts.csv").write_text("item,label,rows\ntea,tea,100\n17,milk,5\n")
    with pytest.raises(sv.PersonalDataError, match=r"1 value of field 1 \(\*\*\*\*\)"):
        require_nothing_personal(tmp_path, personal)


def _coded(rows: list[list[str]]) -> tuple[np.ndarray, list[str]]:
    numbers: dict[str, int] = {}
    codes = [numbers.setdefault(item, len(numbers)) for row in rows for item in row]
    return np.array(codes), list(numbers)


@pytest.mark.parametrize("checker", [False, True])
@pytest.mark.parametrize("external", [False, True])
def test_the_list_of_published_files_is_that_of_the_folder(
    external: bool, checker: bool, tmp_path: Path
) -> None:
    rows = sv.read(ROWS)
    kinds: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
        ("rows", {"k": 2, "m": 1}, {}),
        ("classes", {"k": 2, "m": 1, "classes": 2}, {}),
        ("chunks", {"guarantee": sv.Disassociated(2, 1), "algorithm": "disassociation"}, {}),
        ("parquet", {"k": 2, "m": 1}, {"format": "parquet"}),
    ]
    for name, guarantee, more in kinds:
        if checker and name != "rows":
            continue
        out = tmp_path / name
        release = sv.anonymize(
            rows, hierarchy=sv.Hierarchy(PARENTS) if name != "chunks" else None, **guarantee
        )
        report = release.write(out, external=external, checker=checker, **more)
        listed = published_files(report)
        assert sorted(listed) == sorted(path.name for path in (out / "published").iterdir())
        page = (out / "internal" / "report.html").read_text("utf-8")
        assert all(file in page.partition("May be shared:")[2][:2000] for file in listed)


# IDs that neither the name of the column nor their form tells: only that rows are made by them.
UNLIKE_IDS: dict[str, Callable[[int], str]] = {
    "at the end a word": lambda at: f"{31_974 + 37 * at}-KO",
    "with dots": lambda at: f"KO.{at:03}.{7 * at:03}",
    "letters and digits": lambda at: f"q{at:02}zz{17 * at % 91:02}kk",
    "a name": lambda at: f"Anna {chr(65 + at % 26)}{'abc'[at // 26]}koch",
    "a user": lambda at: f"anna.{chr(97 + at % 26)}{'abc'[at // 26]}ohn",
}
READ_BY_ID: dict[str, Callable[[pl.DataFrame, pl.DataFrame], object]] = {
    "lines": lambda long, _: sv.read(long, id_column="who", item_column="code"),
    "lists": lambda _, lists: sv.read(lists, id_column="who", item_column="codes"),
    "an index": lambda long, _: sv.read(long.to_pandas().set_index("who")["code"]),
    "an index of lists": lambda _, lists: sv.read(
        lists.rename({"who": "patient"}).to_pandas().set_index("patient")
    ),
    "an index without a name": lambda _, lists: sv.read(
        lists.to_pandas().set_index("who").rename_axis([None]).assign(patient=lists["who"].to_numpy())
    ),
    "groups": lambda long, _: sv.read(long.to_pandas().groupby("who")["code"]),
    "facts": lambda long, _: sv.read_facts(
        long.with_columns(day=pl.lit("2024-01-05")), id="who", sets="code", when={"day": "month"}
    ),
    "a table": lambda _, lists: sv.read_table(
        lists.with_columns(age=pl.lit(30)), id_column="who", qi="age", set="codes"
    ),
    "a table with an index": lambda _, lists: sv.read_table(
        lists.with_columns(age=pl.lit(30)).rename({"who": "patient"}).to_pandas().set_index("patient"),
        qi="age",
        set="codes",
    ),
}


@pytest.mark.parametrize("form", UNLIKE_IDS)
@pytest.mark.parametrize("how", READ_BY_ID)
def test_what_rows_are_made_by_is_an_id_whatever_it_looks_like(how: str, form: str, tmp_path: Path) -> None:
    ids = [UNLIKE_IDS[form](at) for at in range(N)]
    rows = [[*row, *([ids[7]] if at % 2 else [])] for at, row in enumerate(ROWS)]
    pairs = [(who, code) for who, row in zip(ids, rows, strict=True) for code in row]
    long = pl.DataFrame(pairs, schema=["who", "code"], orient="row")
    data = READ_BY_ID[how](long, pl.DataFrame({"who": ids, "codes": rows}))
    release = sv.anonymize(data, k=2, m=1, details=False)
    assert "person IDs" in str(stopped(lambda: release.write(tmp_path / "out")))


def test_levels_of_an_index_are_no_ids_if_they_are_named_so() -> None:
    lists = pd.DataFrame({"codes": ROWS}, index=pd.Index(PERSONS["a prefix"], name="patient"))
    assert sv.read(lists).personal.columns[0].name == "patient"
    assert not sv.read(lists, not_ids="patient").personal.columns


MANY_SIGNS = {
    "mail": "someone7@example.org", "a semicolon": "KO;00007", "a comma": "KO,00007", "a bar": "KO|00007",
    "a brace": "{00007-ko}", "an underscore": "KO_00007", "a blank": "KO 00007", "a quote": 'KO"00007',
}  # fmt: skip


@pytest.mark.parametrize("form", MANY_SIGNS)
@pytest.mark.parametrize("sign", [";", "#", "/", " "])
def test_ids_are_found_between_all_signs_of_a_cell(form: str, sign: str, tmp_path: Path) -> None:
    ids = [MANY_SIGNS[form].replace("7", str(at)) for at in range(N)]
    rows = [[*row, *([ids[7]] if at % 2 else [])] for at, row in enumerate(ROWS)]
    lines = pl.DataFrame({"patient": ids, "age": 30, "day": "2024-01-05", "codes": rows})
    table = sv.read_table(lines, id_column="patient", qi="age", set="codes")
    made = sv.anonymize(replace(table, delimiter=sign), k=2, m=1, details=False, counts=False)
    assert "person IDs" in str(stopped(lambda: made.write(tmp_path / "out")))
    made = sv.anonymize(
        sv.read(lines, id_column="patient", item_column="codes"), k=2, m=1, details=False, counts=False
    )
    assert "person IDs" in str(stopped(lambda: made.write(tmp_path / "out", format="spmf")))
    if sign in " ;" or {sign, ";"} & {*ids[7]}:
        return
    of_facts: dict[str, Any] = {"id": "patient", "sets": "codes", "when": {"day": "month"}, "sign": sign}
    several: list[dict[str, Any]] = [{}, {"qi": ["age"]}]
    for more in several:
        facts = sv.read_facts(lines.explode("codes"), **of_facts, **more)
        made = sv.anonymize(facts, k=2, m=1, details=False, counts=False)
        assert "person IDs" in str(stopped(lambda: made.write(tmp_path / "out")))  # noqa: B023


def test_codes_in_a_column_called_row_are_checked(tmp_path: Path) -> None:
    ids = PERSONS["a prefix"]
    lines = [(who, code) for who, row in zip(ids, ROWS, strict=True) for code in [*row, ids[7]]]
    facts = sv.read_facts(
        pl.DataFrame(lines, schema=["patient", "row"], orient="row").with_columns(day=pl.lit("2024-01-05")),
        id="patient", sets="row", when={"day": "month"},
    )  # fmt: skip
    release = sv.anonymize(facts, k=2, m=1, details=False, counts=False)
    assert "person IDs" in str(stopped(lambda: release.write(tmp_path / "out")))


@pytest.mark.parametrize("text", ["see {}", "{} said so", "as ({}), yes", "call {}: urgent"])
def test_ids_are_found_in_texts(text: str, tmp_path: Path) -> None:
    ids = PERSONS["a prefix"]
    rows = [[*row, *([text.format(ids[7])] if at % 2 else [])] for at, row in enumerate(ROWS)]
    data = sv.read(pl.DataFrame({"patient": ids, "items": rows}), id_column="patient", item_column="items")
    release = sv.anonymize(data, k=2, m=1, details=False)
    assert "person IDs" in str(stopped(lambda: release.write(tmp_path / "out")))
    with pytest.raises(sv.PersonalDataError):
        sv.convert(data, tmp_path / "rows.jsonl")


def test_short_ids_are_no_words_of_items(tmp_path: Path) -> None:
    rows = [[str(at + 1), *row, *(["vitamin B 12"] if at % 2 else [])] for at, row in enumerate(ROWS)]
    data = sv.Transactions.from_rows(rows)
    assert data.personal.columns
    sv.anonymize(data, k=3, m=1, details=False).write(tmp_path / "out")


def test_ids_in_an_ignored_column_of_a_second_table_are_known(tmp_path: Path) -> None:
    persons = {"patient": [f"P{at}" for at in range(N)], "age": 30}
    pl.DataFrame(persons).write_csv(tmp_path / "persons.csv")
    items = [[*row, *(["PAT-00007"] if at % 2 else [])] for at, row in enumerate(ROWS)]
    lines = pl.DataFrame({"patient": persons["patient"], "code": items}).explode("code")
    visits = [f"PAT-{at:05}" for at in range(lines.height)]
    lines.with_columns(visit_id=pl.Series(visits)).write_csv(tmp_path / "codes.csv")
    how: dict[str, Any] = {"id_column": "patient", "qi": "age", "set": "code", "item_column": "code"}
    how["items"] = tmp_path / "codes.csv"
    release = sv.anonymize(sv.read_table(tmp_path / "persons.csv", **how), k=2, m=1, details=False)
    assert "'visit_id'" in str(stopped(lambda: release.write(tmp_path / "out")))
    table = sv.read_table(tmp_path / "persons.csv", **how, not_ids="visit_id")
    sv.anonymize(table, k=2, m=1, details=False).write(tmp_path / "out")
