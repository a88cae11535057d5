"""One value of each person in columns whose values differ on the person's lines."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.rows.tables.roles import WAYS
from strategies import seeded

LINES = "who,age,sex,code\n1,30,F,a\n1,31,F,b\n1,31,F,c\n2,,M,a\n2,40,M,b\n2,39,M,b\n3,20,M,a\n"
TRUE = ("--model", "kkm", "--k", "2", "--m", "1", "--qi", "age,sex", "--set", "code")


def chosen(values: Sequence[str], way: str) -> str:
    """Choose the value of a person, plainly."""
    known = [value for value in values if value] or [""]
    if way == "most-frequent":
        times = Counter(known)
        return min(times, key=lambda value: (-times[value], value))
    if way in ("first", "last"):
        return known[0 if way == "first" else -1]
    return (min if way == "least" else max)(known, key=lambda value: float(value or 0))


def drawn(rng: Random) -> pl.DataFrame:
    ages = ["", "7", "12", "9", "30"]
    lines = [
        (str(100 + rng.randrange(8)), rng.choice(ages), rng.choice("FM"), rng.choice("abc"))
        for _ in range(rng.randint(1, 40))
    ]
    return pl.DataFrame(lines, schema=["who", "age", "sex", "code"], orient="row")


def values(frame: pl.DataFrame, ways: dict[str, str]) -> list[tuple[str, ...]]:
    """Read a table: age and sex of each row."""
    table = sv.read_table(
        frame, qi=["age"], keep=["sex"], set="code", id_column="who", categorical=["age"], per_person=ways
    )
    columns: list[Any] = [*table.columns, *table.kept]
    return list(zip(*([column.labels[code] for code in column.codes] for column in columns), strict=True))


@pytest.mark.parametrize("way", WAYS)
def test_a_slow_twin_chooses_the_same(way: str) -> None:
    rng = seeded(491)
    for _ in range(60):
        frame, other = drawn(rng), rng.choice(["first", "last", "most-frequent"])
        of = frame.group_by("who", maintain_order=True).agg("age", "sex").rows(named=True)
        expected = [(chosen(one["age"], way), chosen(one["sex"], other)) for one in of]
        assert values(frame, {"age": way, "sex": other}) == expected


def test_the_order_of_lines_does_not_choose_the_most_frequent() -> None:
    rng = seeded(492)
    ways = {"age": "most-frequent", "sex": "most-frequent"}
    for _ in range(20):
        frame = drawn(rng)
        shuffled = frame.sample(fraction=1, shuffle=True, seed=rng.randrange(1000))
        assert sorted(values(frame, ways)) == sorted(values(shuffled, ways))


def test_the_command_that_an_error_prints_works(tmp_path: Path) -> None:
    tmp_path.joinpath("visits.csv").write_text(LINES, encoding="utf-8")
    refused = setveil("anonymize", "visits.csv", *TRUE, "--id-column", "who", "--out", "o", cwd=tmp_path)
    assert refused.code == 4
    assert "visits.csv, line 3: the same who, age '31'" in refused.err
    command = next(line.strip() for line in refused.err.splitlines() if "--per-person" in line)
    assert command.endswith("--per-person age=most-frequent")
    setveil(*shlex.split(command)[1:], cwd=tmp_path).ok()
    assert "age" in setveil("why", "o", "age", cwd=tmp_path).ok().out


def test_a_file_of_roles_says_which_value_counts(tmp_path: Path) -> None:
    path, roles = tmp_path / "visits.csv", tmp_path / "roles.toml"
    path.write_text(LINES, encoding="utf-8")
    said = {"who": 'role = "id"', "age": 'role = "qi"\nper_person = "greatest"', "sex": 'role = "keep"'}
    said["code"] = 'role = "set"'
    roles.write_text("".join(f"[columns.{name}]\n{text}\n" for name, text in said.items()), encoding="utf-8")
    column = sv.read_table(path, roles=roles).columns[0]
    assert [column.labels[code] for code in column.codes] == ["31", "40", "20"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"per_person": {"age": "middle"}}, "there is no 'middle'; there are first, last, most-frequent"),
        ({"per_person": {"code": "first"}}, "only quasi-identifiers and kept columns"),
        ({"per_person": {"sex": "least"}}, "expected a number, and there is a least one"),
        ({"per_person": {"age": "first"}, "id_column": None}, "nothing says which lines are one person's"),
    ],
)
def test_what_makes_no_sense_is_an_error(options: dict[str, object], said: str, tmp_path: Path) -> None:
    path = tmp_path / "visits.csv"
    path.write_text(LINES, encoding="utf-8")
    with pytest.raises(sv.SetveilError, match=said):
        sv.read_table(path, **{"qi": ["age", "sex"], "set": "code", "id_column": "who", **options})  # type: ignore[arg-type]
