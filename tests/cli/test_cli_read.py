"""`setveil read`: how a file is read, before it is used."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli_helpers import refused, setveil, write

LOG = "who,on,sex,code\n7,2024-01-03,f,E11\n7,2024-02-01,f,I10\n9,2024-02-11,m,I10\n"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return write(tmp_path / "log.csv", LOG)


def test_rows_are_shown_as_people_and_items(log: Path) -> None:
    words = ["read", "log.csv", "--id-column", "who", "--item-column", "code"]
    done = setveil(*words, "--show", cwd=log.parent).ok()
    lines = done.out.splitlines()
    assert "Rows       2" in lines
    assert "Items      2 different, 3 occurrences, 1.5 a row" in lines
    assert lines[-3:] == ["person  items", "7       E11, I10", "9       I10"]
    assert setveil(*words, cwd=log.parent).ok().out.rstrip().splitlines() == lines[:-4]
    assert {path.name for path in log.parent.iterdir()} == {"log.csv"}


def test_the_record_has_counts_roles_and_rows(log: Path) -> None:
    words = ["read", "log.csv", "--id-column", "who", "--item-column", "code", "--json"]
    found = setveil(*words, cwd=log.parent).ok().json()
    assert [found[name] for name in ("rows", "empty", "items", "occurrences")] == [2, 0, 2, 3]
    roles = {one["name"]: one["role"] for one in found["columns"]}
    assert roles == {"who": "person ID", "code": "items", "on": "ignored", "sex": "ignored"}
    assert found["first"][0] == {"row": "7", "values": {}, "items": ["E11", "I10"]}


def test_a_table_is_shown_with_what_someone_may_know(log: Path) -> None:
    words = ["read", "log.csv", "--id-column", "who", "--qi", "sex", "--set", "code", "--show", "--json"]
    found = setveil(*words, cwd=log.parent).ok().json()
    assert found["first"][0] == {"row": "1", "values": {"sex": "f"}, "items": ["E11", "I10"]}
    assert {"name": "sex", "role": "someone may know it (categories)"} in found["columns"]


@pytest.mark.parametrize("persons", [[], ["--qi", "sex"]])
def test_facts_are_shown_with_what_belongs_to_a_code(log: Path, persons: list[str]) -> None:
    words = ["read", "log.csv", "--id-column", "who", "--set", "code", "--when", "on:month", *persons]
    found = setveil(*words, "--json", cwd=log.parent).ok().json()
    assert found["first"][0]["items"] == ["E11@2024-01", "I10@2024-02"]
    assert {"name": "on", "role": "belongs to code"} in found["columns"]


def test_notes_of_reading_are_in_the_record(tmp_path: Path) -> None:
    write(tmp_path / "typed.csv", "patient,code\n1,E11.9\n2,E119\n3,e11.9\n4,I10\n")
    words = ["read", "typed.csv", "--id-column", "patient", "--item-column", "code", "--json"]
    (note,) = setveil(*words, cwd=tmp_path).ok().json()["notes"]
    assert note.startswith("3 of 4 items differ")


def test_a_file_that_may_be_a_table_is_refused_with_a_command_that_works(log: Path) -> None:
    done = setveil("read", "log.csv", "--show", cwd=log.parent)
    refused(done, 4, "may be a table")
