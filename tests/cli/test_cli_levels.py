"""Columns with built hierarchies, and the messages about columns or items without one."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import Done, refused, together, write

ZIPS, CODES = ("02139", "02140", "02141", "10115", "10117"), ("A01", "A02", "B01", "C01", "D01", "E01")
WARD = "age,zip,seen,codes\n" + "".join(
    f"{30 + i % 20},{ZIPS[i % 5]},2024-0{1 + i % 6}-11,{CODES[i % 6]};{CODES[i % 5]}\n" for i in range(60)
)
USUAL = ["anonymize", "ward.csv", "--model", "kkm", "-k", 5, "-m", 1, "--set", "codes", "--no-details"]
GROUPED = ["--hierarchy", "zip=prefix:3,2", "--hierarchy", "seen=dates:quarter,year"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("levels")


@pytest.fixture(scope="module")
def done(folder: Path) -> dict[str, Done]:
    write(folder / "ward.csv", WARD)
    write(folder / "flat.csv", "".join(f"{code};*\n" for code in CODES))
    build = ["hierarchy", "build", "ward.csv", "--out"]
    lines: dict[str, list[Any]] = {
        "zip": [*build, "zip.csv", "--column", "zip", "--by", "prefixes", "--lengths", "3,2"],
        "age": [*build, "age.csv", "--column", "age", "--by", "ranges", "--widths", "5,10"],
        "seen": [*build, "seen.csv", "--column", "seen", "--periods", "month,quarter"],
        "wide": [*build, "no.csv", "--column", "age", "--widths", "5,7"],
        "none": [*build, "no.csv", "--column", "age"],
        "two": [*build, "no.csv", "--column", "age", "--by", "dates", "--widths", "5"],
        "items": [*build, "no.csv", "--by", "ranges", "--widths", "5"],
        "extend": [*build, "no.csv", "--column", "age", "--widths", "5", "--extend", "flat.csv"],
        "word": [*build, "no.csv", "--column", "seen", "--periods", "week"],
        "grouped": [
            *USUAL,
            "--qi",
            "age,zip,seen",
            *GROUPED,
            "--ranges",
            "age=5,10",
            "--least",
            5,
            "--out",
            "grouped",
        ],
        "flat": [*USUAL, "--qi", "zip,seen", "--hierarchy", "flat.csv", "--out", "flat", "-v"],
        "coded": [*USUAL, "--qi", "zip", *GROUPED[:2], "-H", "codes=prefix:1", "--out", "coded"],
        "check": ["hierarchy", "check", "flat.csv"],
        "slip": [*USUAL, "--qi", "zip", "--ranges", "zip=5,3,2", "--out", "slip"],
    }
    return dict(zip(lines, together(list(lines.values()), folder), strict=True))


def test_hierarchies_of_columns_are_written(done: dict[str, Done], folder: Path) -> None:
    assert (
        done["zip"].ok().err == "zip.csv: 5 values, then 2 (such as 021**), then 2 (such as 02***), then *.\n"
    )
    assert (folder / "zip.csv").read_text().splitlines()[0] == "02139;021**;02***;*"
    assert "4 (such as [30,35)), then 2 (such as [30,40)), then *" in done["age"].ok().err
    assert "6 values, then 6 (such as 2024-01), then 2 (such as 2024-Q1), then *" in done["seen"].ok().err


def test_what_cannot_be_built_is_refused(done: dict[str, Done]) -> None:
    refused(done["wide"], 2, "must be a multiple of the narrower one, got 5, 7")
    refused(done["none"], 2, "Nothing says how the column is grouped")
    refused(done["two"], 2, "--widths is of --by ranges, got --by dates")
    refused(done["items"], 2, "Items are no numbers and no dates")
    refused(done["extend"], 2, "--extend adds items")
    refused(done["word"], 2, "no period 'week'")
    refused(done["slip"], 2, "--hierarchy zip=prefix:3,2")


def test_a_release_is_published_by_them(done: dict[str, Done], folder: Path) -> None:
    said = done["grouped"].ok().err
    assert "age (numbers with built ranges), zip (categories grouped by prefix)" in said
    assert "Note:" not in said
    with (folder / "grouped" / "published" / "data.csv").open() as file:
        rows = list(csv.DictReader(file))
    allowed = {*ZIPS, "021**", "101**", "02***", "10***", "*"}
    assert {row["zip"] for row in rows} <= allowed
    assert {row["zip"] for row in rows} - {"*"}
    assert {row["seen"] for row in rows} <= {
        *(f"2024-0{i}-11" for i in range(1, 7)),
        "2024-Q1",
        "2024-Q2",
        "*",
    }
    with (folder / "coded" / "published" / "data.csv").open() as file:
        items = {item for row in csv.DictReader(file) for item in row["codes"].split(";")}
    assert done["coded"].ok().code == 0
    assert items <= {*CODES, "A", "*", ""}


def test_columns_and_items_without_groups_are_said(done: dict[str, Done]) -> None:
    flat = done["flat"].ok()
    assert "Note: Column 'zip' has 5 values and no groups of them" in flat.err
    assert "--hierarchy zip=prefix:4,3,2" in flat.err
    assert "--hierarchy seen=dates:month,quarter" in flat.err
    output = " ".join(flat.out.split())
    assert "No groups Nothing groups the values of zip, seen: each is published as it is" in output
    check = done["check"].ok()
    assert "no problems.\nNote: 6 of 6 items are alone below the top" in check.out


def test_rare_items_that_stand_alone_are_said(tmp_path: Path) -> None:
    write(tmp_path / "rows.csv", "".join(f"tea,X{i:02d}\ntea,A1\n" for i in range(10)))
    write(tmp_path / "tree.csv", "tea;drinks;*\nA1;drinks;*\n" + "".join(f"X{i:02d};*\n" for i in range(10)))
    line = [
        "anonymize",
        "rows.csv",
        "-k",
        3,
        "-m",
        2,
        "-H",
        "tree.csv",
        "--format",
        "basket",
        "--out",
        "out",
        "-v",
    ]
    done = together([line], tmp_path)[0].ok()
    assert "10 of 12 items are alone below the top: all of them are in fewer than 3 rows" in done.err
    assert "hierarchy build --by prefix --lengths 1" in done.err
    assert "No groups  10 of 12 items are alone below the top: 10 of them are suppressed." in done.out
