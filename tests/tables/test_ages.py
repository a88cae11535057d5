"""Columns of ages, computed from a date of birth and another date."""

from __future__ import annotations

import json
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.rows.tables.ages import full_years
from strategies import seeded

OF: dict[str, Any] = {"qi": ["age"], "set": "code", "categorical": ["age"]}


def naive_years(birth: date, day: date) -> int:
    """Count the birthdays one by one; one of 29 February is on 1 March of other years."""
    found = -1
    for year in range(birth.year, day.year + 1):
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        on_leap_day = (birth.month, birth.day) == (2, 29)
        found += (birth.replace(year=year) if leap or not on_leap_day else date(year, 3, 1)) <= day
    return found


def ages(table: sv.Table) -> list[str]:
    return [table.columns[0].labels[code] for code in table.columns[0].codes]


def test_full_years_are_birthdays() -> None:
    rng = seeded(495)
    for _ in range(2000):
        birth = date(1900, 1, 1) + timedelta(rng.randrange(45_000))
        day = birth + timedelta(rng.choice([0, 1, 364, 365, 366, 1460, 1461, rng.randrange(40_000)]))
        assert full_years(birth, day) == naive_years(birth, day)


@pytest.mark.parametrize("form", ["%Y-%m-%d", "%d.%m.%Y", "%Y%m%d"])
def test_ages_of_lines(form: str) -> None:
    rng = seeded(496)
    lines, expected, at_the_end = [], [], []
    for _ in range(60):
        birth = date(1930, 1, 1) + timedelta(rng.randrange(25_000))
        day = date(2024, 1, 1) + timedelta(rng.randrange(366))
        texts = [birth.strftime(form), day.strftime(form)]
        missing = rng.randrange(8)
        if missing < 2:
            texts[missing] = ""
        lines.append((*texts, rng.choice("abc")))
        expected.append("" if missing < 2 else str(naive_years(birth, day)))
        at_the_end.append("" if missing == 0 else str(naive_years(birth, date(2024, 12, 31))))
    frame = pl.DataFrame(lines, schema=["born", "admitted", "code"], orient="row")
    table = sv.read_table(frame, ages={"age": ("born", "admitted")}, **OF)
    assert ages(table) == expected
    assert set(table.dropped) == {"born", "admitted"}
    assert ages(sv.read_table(frame, ages={"age": "born..2024-12-31"}, **OF)) == at_the_end


def test_the_age_of_a_persons_first_stay_is_published(tmp_path: Path) -> None:
    lines = [
        f"{100 + at},19{60 + at % 2}-01-01,20{20 + stay}-06-01,{'AB'[stay]}"
        for at in range(8)
        for stay in (0, 1)
    ]
    text = "\n".join(["who,born,admitted,code", *lines, ""])
    tmp_path.joinpath("stays.csv").write_text(text, encoding="utf-8")
    words = ["--model", "kkm", "--k", "4", "--m", "1", "--id-column", "who", "--age", "age=born..admitted"]
    words += ["--qi", "age", "--set", "code", "--per-person", "age=first", "--out", "o"]
    setveil("anonymize", "stays.csv", *words, cwd=tmp_path).ok()
    rows = tmp_path.joinpath("o", "published", "data.csv").read_text(encoding="utf-8").splitlines()
    assert rows[0] == "code,age"
    assert sorted({row.rpartition(",")[2] for row in rows[1:]}) == ["59", "60"]
    about = json.loads(tmp_path.joinpath("o", "published", "about.json").read_text(encoding="utf-8"))
    assert "born" not in json.dumps(about)
    setveil("verify", "o", cwd=tmp_path).ok()
    reading = words[words.index("--id-column") : words.index("--out")]
    assert "known" in setveil("risk", "stays.csv", "--m", "1", *reading, cwd=tmp_path).ok().out
    assert "Its class has 4 rows" in setveil("why", "o", "age", cwd=tmp_path).ok().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"age": "born"}, "must be two dates"),
        ({"years": "born..admitted"}, "nothing says what the ages are for"),
        ({"age": "born..nothing"}, "no column 'nothing'"),
        ({"age": "born..code"}, "'A1'"),
        ({"age": "admitted..born"}, "line 2: 'admitted' is 2024-01-02, after 1980-01-01"),
    ],
)
def test_what_makes_no_sense_is_an_error(options: dict[str, str], said: str, tmp_path: Path) -> None:
    path = tmp_path / "stays.csv"
    lines = ["born,admitted,code", "1980-01-01,2024-01-02,A1", "1981-01-01,2024-01-02,A1", ""]
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(sv.SetveilError) as refused:
        sv.read_table(path, ages=options, **OF)
    assert said in str(refused.value)
