"""Nothing below published/ depends on dates and amounts that fewer than k persons have."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import polars as pl
import pytest

import setveil as sv
from setveil.base.errors import DataError
from setveil.rows.facts.dates import period_of, periods_of, read_date
from strategies import many

CODES = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "codes", "b": "codes", "codes": None}
Line = tuple[int, str, str, float]


def published(folder: Path) -> dict[str, bytes]:
    """Read all that is shared."""
    inside = folder / "published"
    return {str(path.relative_to(inside)): path.read_bytes() for path in inside.rglob("*") if path.is_file()}


def some_lines(random: Random) -> list[Line]:
    """Draw events, mostly of two years."""
    return [
        (
            person,
            random.choice(["a1", "a2", "b1", "b2"]),
            f"{random.choice([2023, 2024])}-{random.randint(1, 12):02}-{random.randint(1, 28):02}",
            random.choice([3, 30, 300]),
        )
        for person in range(30)
        for _ in range(random.randint(1, 3))
    ]


def release(lines: list[Line], folder: Path, level: str, amount: object) -> dict[str, bytes]:
    """Publish events, and return the shared files."""
    log = pl.DataFrame(lines, schema=["who", "code", "on", "cost"], orient="row")
    facts = sv.read_facts(
        log, id="who", sets="code", when={"on": level}, amount={"cost": amount} if amount else None, fewest=3
    )
    sv.anonymize(
        facts, k=3, m=1, hierarchy=sv.Hierarchy(CODES), algorithm="aa", fact_order="last", details=False
    ).write(folder, force=True)
    return published(folder)


@pytest.mark.parametrize("level", ["year", "quarter", "month", "30d-since-first"])
def test_rare_dates_and_amounts_are_exchanged_without_a_trace(level: str, tmp_path: Path) -> None:
    random, same = Random(7), 0
    for _ in range(many(3)):
        lines = some_lines(random)
        amount = random.choice([None, [0, 10, 100], 6])
        rare, *others = ["1931-07-01", "1931-08-09", "1944-01-01", "1915-12-31"]
        if "first" in level:  # earlier dates would be other first lines
            rare, *others = ["2031-07-01", "2031-08-09", "2044-01-01", "2065-12-31"]
        for other in others:
            before = release([*lines, (0, "a1", rare, 3.0)], tmp_path / "one", level, amount)
            after = release([*lines, (0, "a1", other, 3.0)], tmp_path / "two", level, amount)
            assert before == after
            same += 1
        high = release([*lines, (1, "b1", "2024-01-01", 10_000.0)], tmp_path / "one", level, amount)
        higher = release([*lines, (1, "b1", "2024-01-01", 9_000_000.0)], tmp_path / "two", level, amount)
        assert high == higher
    assert same


def test_ranges_are_complete_and_those_of_few_are_open(tmp_path: Path) -> None:
    lines = [(i, "a1", f"2024-0{1 + i % 2}-03", 3.0) for i in range(20)]
    lines += [(i, f"a{1 + i % 2}", f"2024-0{4 + i % 3}-03", 30.0) for i in range(20, 24)]
    about = json.loads(
        release([*lines, (0, "b1", "1931-07-01", 3)], tmp_path / "x", "month", [0, 10])["about.json"]
    )
    codes = about["facts"]["sets"]["code"]
    months = [f"2024-{month:02}" for month in range(1, 13)]
    for label, values in codes["labels"]["on"].items():
        assert values == ["<2024", *months, ">=2025", "?"] if label == "*" else set(values) <= set(months)
    assert codes["values"] == {"code": 4, "on": 15, "cost": 4}
    assert about["domain"] == 4 * 15 * 4
    assert "1931" not in json.dumps(about)


def test_all_periods_of_years_are_listed() -> None:
    for level, number in (("year", 2), ("quarter", 8), ("month", 24), ("day", 731), ("week", 104)):
        assert len(periods_of(level, 2023, 2024)) == number
    assert periods_of("week", 2020, 2020)[-1] == "2020-W53"


@pytest.mark.parametrize(
    "text", ["2024-01-01T25:00", "2024-01-01 12:60", "2024-01-01T12:00:61", "2024-01-01T",
             "2024-01-01T1:2:3:4", "2024-01-01T12:00+25:00", "2024-01-01 .,:", "01JAN2024:25:00", "01JAN24",
             "31FEB2024", "01JAM2024"],
)  # fmt: skip
def test_times_that_do_not_exist_are_no_dates(text: str) -> None:
    assert read_date(text, "day", None) is None
    log = pl.DataFrame({"who": [1], "on": [text], "code": ["a"]})
    with pytest.raises(DataError, match="expected a date"):
        sv.read_facts(log, id="who", sets="code", when={"on": "day"})


@pytest.mark.parametrize(
    "text", ["2024-01-01T23:59", "2024-01-01 00:00:00.000", "2024-01-01T12:00:00Z", "2024-01-01 12:00:00 UTC",
             "2024-01-01T12:00:00,5+01:00", "2024-01-01T120000+0100", "2024-01-01 12:00:60", "01JAN2024",
             "01-Jan-2024 23:59", "01JAN2024:23:59:00.000"],
)  # fmt: skip
def test_times_are_read(text: str) -> None:
    day = read_date(text, "day", None)
    assert day is not None
    assert period_of(day, "month") == "2024-01"


def test_what_is_kept_of_a_row_does_not_depend_on_the_order_of_lines() -> None:
    random = Random(5)
    for seed in range(many(20)):
        lines = some_lines(random)
        found = []
        for _ in range(2):
            log = pl.DataFrame(lines, schema=["who", "code", "on", "cost"], orient="row")
            facts = sv.read_facts(log, id="who", sets="code", when={"on": "month"}, most=1, seed=seed)
            persons = list(dict.fromkeys(line[0] for line in lines))
            found.append(dict(zip(persons, facts.rows(), strict=True)))
            random.shuffle(lines)
        assert found[0] == found[1]
