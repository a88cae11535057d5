"""A run names the releases next to its folder that publish the same rows with different labels."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil, write

ROWS = "tea,scone\n" * 6 + "tea,honey\n" * 6 + "beer,nuts\n" * 6 + "tea,nuts\n"
TREE = "tea;drinks;all\nbeer;drinks;all\nscone;sweet;all\nhoney;sweet;all\nnuts;all\n"
SAID = "are of the same rows with different labels: publish only one of them."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "rows.csv", ROWS)
    write(tmp_path / "tree.csv", TREE)
    return tmp_path


def anonymized(place: Path, out: str, *words: str) -> Any:
    done = setveil(
        "anonymize",
        "rows.csv",
        "--format",
        "basket",
        "--hierarchy",
        "tree.csv",
        "--out",
        out,
        *words,
        cwd=place,
    )
    return done.ok()


def others(place: Path, out: str) -> list[str] | None:
    found: list[str] | None = json.loads((place / out / "internal" / "report.json").read_text()).get(
        "same_input"
    )
    return found


def test_another_recoding_is_named_wherever_users_look(place: Path) -> None:
    anonymized(place, "one", "--k", "2", "--m", "1")
    done = anonymized(place, "two", "--k", "6", "--m", "2")
    assert others(place, "one") is None
    assert others(place, "two") == ["one"]
    assert f"one and this release {SAID}" in " ".join(done.out.split())
    assert SAID in (place / "two" / "internal" / "report.html").read_text()
    for file in (place / "two" / "published").iterdir():
        assert SAID.encode() not in file.read_bytes()
    third = anonymized(place, "three", "--k", "12", "--m", "1", "--no-suppress", "--json")
    assert f"one, two and this release {SAID}" in third.err
    assert json.loads(third.out)["same_input"] == ["one", "two"]


@pytest.mark.parametrize(
    "words", [(), ("--seed", "5"), ("--output-format", "jsonl"), ("--no-counts",), ("--engine", "parts")]
)
def test_the_same_recoding_is_not_named(place: Path, words: tuple[str, ...]) -> None:
    way = ("--k", "6", "--m", "2", "--algorithm", "aa")
    anonymized(place, "one", *way)
    anonymized(place, "two", *way, *words)
    anonymized(place, "two", *way, *words, "--force")
    assert others(place, "two") is None


@pytest.mark.parametrize(
    "words",
    [("--k", "2", "--m", "2", "-a", "lra"), ("--k", "3", "--model", "k-anonymity", "-a", "lg"),
     ("--k", "3", "--m", "2", "--classes", "--class-size", "6")],
    ids=["lra", "lg", "classes"],
)  # fmt: skip
def test_local_recodings_and_classes(place: Path, words: tuple[str, ...]) -> None:
    anonymized(place, "one", *words)
    anonymized(place, "two", *words, "--seed", "7")
    assert others(place, "two") is None
    anonymized(place, "three", "--k", "7", "--m", "2", "-a", "aa")
    assert others(place, "three") == ["one", "two"]
    anonymized(place, "four", *words)
    assert others(place, "four") == ["three"]


def test_other_rows_and_other_files_are_no_neighbours(place: Path) -> None:
    anonymized(place, "one", "--k", "2", "--m", "1")
    write(place / "more.csv", ROWS + "tea,scone\n")
    (place / "broken" / "internal").mkdir(parents=True)
    write(place / "broken" / "internal" / "report.json", "[" * 9)
    setveil(
        "anonymize", "more.csv", "--format", "basket", "--hierarchy", "tree.csv", "--out", "two", "--k", "6",
        "--m", "2", cwd=place,
    ).ok()  # fmt: skip
    assert others(place, "two") is None


def test_python_names_them_in_its_report(place: Path) -> None:
    rows = sv.read(place / "rows.csv", format="basket")
    tree = sv.read_hierarchy(place / "tree.csv")
    sv.anonymize(rows, k=2, m=1, hierarchy=tree).write(place / "one")
    report = sv.anonymize(rows, k=6, m=2, hierarchy=tree).write(place / "two")
    assert report["same_input"] == ["one"]
