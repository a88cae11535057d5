"""Items that a hierarchy lacks: every command prints the one that adds them, and it works when pasted."""

from __future__ import annotations

import random
import re
import shlex
from pathlib import Path

import pytest

from cli_helpers import setveil

READ = "--id-column patient --item-column code"
COMMANDS = [
    "anonymize b.csv --k 3 --m 1 --out r",
    "explore b.csv --k 3 --m 1 --out r.html",
    "recommend b.csv --k 3 --m 1",
    "series plan s b.csv",
    "series add s b.csv --name y2 --out r2",
]


def lines(codes: list[str], people: range, seed: int) -> str:
    draw = random.Random(seed)
    rows = [f"P{n:05},{code}" for n in people for code in sorted(set(draw.choices(codes, k=3)))]
    return "\n".join(["patient,code", *rows, ""])


@pytest.fixture
def year(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    codes = [f"{letter}1{n}.{digit}" for letter in "EI" for n in range(2) for digit in (0, 9)]
    Path("a.csv").write_text(lines(codes, range(80), 1))
    Path("b.csv").write_text(lines([*codes, "E10.5", "Q20", "E11"], range(80, 160), 2))
    said(f"hierarchy build a.csv {READ} --by prefix --lengths 1,3 --out t.csv")
    said("series init s --k 3 --m 1")
    said(f"series add s a.csv {READ} -H t.csv --name y1 --out r1")
    return tmp_path


def said(line: str, code: int = 0) -> str:
    """Run a command in this folder, and return all that it says."""
    done = setveil(*shlex.split(line), cwd=Path.cwd())
    assert done.code == code, done.err
    return f"{done.out}\n{done.err}"


@pytest.mark.parametrize("command", COMMANDS)
def test_printed_command_adds_what_is_missing(command: str, year: Path) -> None:
    refused = said(f"{command} {READ} -H t.csv", 4)
    assert "1 of 11 items of the data are not in the hierarchy: 'Q20'." in refused
    printed = re.search(r"`setveil (hierarchy build .*?)`", refused)
    assert printed is not None, refused
    said(printed[1])
    assert "Q20;Q20;(unlisted);*" in Path("t-extended.csv").read_text()
    said(f"{command} {READ} -H t-extended.csv")


def test_a_series_keeps_the_hierarchy_of_its_last_release(year: Path) -> None:
    refused = said(f"series plan s b.csv {READ}", 4)
    assert "--extend t.csv" in refused or f"--extend {year / 't.csv'}" in refused
    Path("b.csv").write_text(Path("b.csv").read_text().replace("Q20", "I11.5"))
    answer = said(f"series add s b.csv {READ} --name y2 --out r2")
    assert "2 codes that the hierarchy lacks were placed below their groups" in answer
    said("series verify s")


def test_missing_names_are_reported_before_anything_is_read(year: Path) -> None:
    for more, names in (
        ("", "--name and --out are"),
        ("--name y2", "--out is"),
        ("--together", "--out and --names are"),
    ):
        assert f"{names} missing." in said(f"series add s nowhere.csv {more}", 2)


def test_little_left_of_a_series_names_the_other_ways(year: Path) -> None:
    draw = random.Random(5)
    rows = [
        f"P{n:05},{draw.choice('EI')}{draw.randrange(10, 99)}.{draw.randrange(10)}" for n in range(100, 160)
    ]
    Path("c.csv").write_text("\n".join(["patient,code", *rows, ""]))
    said(f"hierarchy build c.csv {READ} --extend t.csv --out u.csv")
    answer = said(f"series add s c.csv {READ} -H u.csv --name y2 --out r2")
    assert "Little detail is left" in " ".join(answer.split())
    printed = re.findall(r"^ +setveil (series .*)$", answer, re.M)
    assert len(printed) == 2
    for line in printed:
        said(line)
