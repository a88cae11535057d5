"""What a question about a file proposes: lines without an ID, and calls of Python that can be pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil, write
from setveil.errors import TableError
from strategies import many, seeded

LOG = [
    f"p{i // 3:02},{'ABCDE'[(i * i) % 5]}{i % 2},{20 + i // 3},{'mf'[i // 3 % 2]},2024-0{1 + i % 6}-1{i % 9}"
    for i in range(90)
]
WARD = [f"p{i:02},{20 + i % 30},{'mf'[i % 2]},{'ABC'[i % 3]}{i % 4};B{i % 2}" for i in range(30)]


def without_id(line: str) -> str:
    return "," + line.partition(",")[2]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    log, ward = "patient,code,age,sex,date", "person,age,sex,codes"
    once = [line if at % 3 == 0 else without_id(line) for at, line in enumerate(LOG)]
    some = [without_id(line) if at % 7 == 0 else line for at, line in enumerate(LOG)]
    few = [without_id(line) if at in (4, 9) else line for at, line in enumerate(WARD)]
    write(tmp_path / "once.csv", "\n".join([log, *once]))
    write(tmp_path / "some.csv", "\n".join([log, *some]))
    write(tmp_path / "few.csv", "\n".join([ward, *few]))
    write(tmp_path / "log.csv", "\n".join([log, *LOG]))
    write(tmp_path / "titled.csv", "\n".join(["Report", "", ward, *WARD, "Total,,,"]))
    write(tmp_path / "cp.csv", "\n".join([ward, *WARD]).replace("A0", "Äß").encode("cp1252"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("name", "option", "rows"),
    [("once", "--fill-id", 30), ("some", "--missing-id skip", 30), ("few", "--missing-id skip", 28)],
)
def test_lines_without_an_id_before_any_column_is_named(
    folder: Path, name: str, option: str, rows: int
) -> None:
    asked = setveil("read", f"{name}.csv", cwd=folder)
    assert asked.code == 4
    proposed = re.findall(r"^    setveil (.*)$", asked.err, re.MULTILINE)
    assert len(proposed) == 1
    assert option in proposed[0]
    done = setveil(*shlex.split(proposed[0]), cwd=folder)
    assert done.code == 0, done.err
    assert f"Rows       {rows}" in done.out


def test_an_id_above_is_proposed_only_if_there_is_one(folder: Path) -> None:
    for name, ways in (("some", 1), ("few", 2), ("once", 2)):
        columns = ("person", "codes") if name == "few" else ("patient", "code")
        with pytest.raises(TableError) as caught:
            sv.read(f"{name}.csv", id_column=columns[0], item_column=columns[1], delimiter=";")
        assert len(caught.value.readings) == ways
        assert ("fill_id" in caught.value.readings[0][0]) == (name == "once")


CALLS: list[Callable[[], Any]] = [
    lambda: sv.read("few.csv"),
    lambda: sv.read("titled.csv"),
    lambda: sv.read("titled.csv", encoding="utf-8"),
    lambda: sv.read("cp.csv", encoding="cp1252"),
    lambda: sv.read(["some.csv"]),
    lambda: sv.read(Path("once.csv")),
    lambda: sv.read("log.csv"),
    lambda: sv.read("log.csv", item_columns="code"),
    lambda: sv.anonymize("some.csv", k=2, m=1),
    lambda: sv.read_table("few.csv", qi=["age", "sex"], set="codes", id_column="person"),
    lambda: sv.read_table("titled.csv", qi=["age"], set="codes", ranges={"age": 5}),
    lambda: sv.read_table("log.csv", set="code"),
    lambda: sv.read_table("log.csv"),
    lambda: sv.read_facts("some.csv", id="patient", sets="code", when={"date": "month"}),
    lambda: sv.read_facts("titled.csv", id="person", sets="codes", amount={"age": [0, 30]}),
]


@pytest.mark.parametrize("number", range(len(CALLS)))
def test_calls_of_python_can_be_pasted(folder: Path, number: int) -> None:
    """What was given stays, and the function is the one that was called, or the one that is needed."""
    with pytest.raises(TableError) as caught:
        CALLS[number]()
    calls = re.findall(r"^    (setveil\..*)$", caught.value.hint, re.MULTILINE)
    assert calls, caught.value.hint
    try:
        data = eval(calls[0], {"setveil": sv})  # noqa: S307
    except TableError as again:  # one more question, whose answer works
        answer = re.findall(r"^    (setveil\..*)$", again.hint, re.MULTILINE)[0]
        data = eval(answer, {"setveil": sv})  # noqa: S307
    assert data.n_rows in (28, 29, 30)
    assert "..." not in calls[0]
    assert "--" not in calls[0]


def test_frames_are_left_to_fill_in() -> None:
    import polars as pl

    frame = pl.DataFrame({"patient": [1, 1, 2, 3], "icd": ["E11", "I10", "I10", "E11"], "sex": list("mmff")})
    with pytest.raises(TableError) as caught:
        sv.read(frame)
    assert re.search(r"setveil\.read(_table)?\(\.\.\., ", caught.value.hint)


def test_words_are_shown_as_the_file_has_them(folder: Path) -> None:
    write(folder / "nulls.csv", "patient,icd\n1,E11\n1,\\N\n2,I10\n2,E11\n3,\\N\n")
    done = setveil("read", "nulls.csv", "--id-column", "patient", "--item-column", "icd", cwd=folder)
    assert r"'\N' (2) means that there is no item" in done.err


BASKETS = {
    "repeated": "bread milk\nbread milk beer\nmilk\nbread\nbread beer\neggs milk\n",
    "letters": "a b c\na b\nb c d\n",
    "ten lines": "milk bread eggs\nbeer chips\nmilk bread\nbeer chips nuts\nbread eggs\nmilk eggs bread\n"
    "beer nuts\nwine cheese\nwine bread cheese\nmilk\n",
}


@pytest.mark.parametrize("name", BASKETS)
def test_few_lines_of_words_that_come_again_are_proposed_as_baskets(name: str, tmp_path: Path) -> None:
    write(tmp_path / "v.txt", BASKETS[name])
    asked = setveil("anonymize", "v.txt", "--k", "2", "--m", "2", "--out", "o", cwd=tmp_path)
    assert asked.code == 4
    proposed = re.findall(r"^    setveil (.*)$", asked.err, re.MULTILINE)
    assert proposed == ["anonymize v.txt --k 2 --m 2 --out o --format basket --separator ' '"]
    done = setveil(*shlex.split(proposed[0]), cwd=tmp_path)
    assert done.code == 0, done.err
    data = sv.read(tmp_path / "v.txt", format="basket", separator=" ")
    assert (data.n_rows, data.n_items) == (len(BASKETS[name].splitlines()), len(set(BASKETS[name].split())))


@pytest.mark.parametrize(
    "text",
    [
        "anna bread milk\nben beer milk\ncarl bread beer\n",
        "anna bread milk\nben beer\ncarl bread beer milk\n",
        "bread milk anna\nbeer ben\nbread beer milk carl\n",
        "bread anna milk\nbeer ben\ncarl bread beer milk\nbeer milk\nmilk\n",
        "anna bread\nanna milk beer\nben bread\nben\nben beer\n",
        "bread milk p1\nbread milk beer\nmilk\nbread beer\nbread\neggs milk\n",
        "Anna Miller bread milk\nbread milk\nmilk bread beer\nbeer\nmilk\n",
        "bread milk 2024-01-02\nmilk bread 2024-01-02 beer\nmilk\nbread\nbeer 2024-01-02\n",
        "bread milk\nmilk bread a@b.org\nmilk\nbread\nbeer bread milk\n",
        "bread butter\nmilk bread cheese\nmilk\nbeer wine\nsoap\n",
    ],
)
def test_few_lines_that_may_hold_somebody_are_proposed_as_nothing(text: str, tmp_path: Path) -> None:
    write(tmp_path / "v.txt", text)
    with pytest.raises(TableError) as caught:
        sv.read(tmp_path / "v.txt")
    assert caught.value.readings == ()


def test_names_on_one_line_or_several_are_proposed_as_nothing(tmp_path: Path) -> None:
    """Names come first or last, among items that come again; lines have several lengths."""
    rng, path = seeded(49), tmp_path / "v.txt"
    for _ in range(many(300)):
        names = [f"n{chr(97 + at)}" for at in range(rng.randint(2, 6))]
        lines = [
            [name, *rng.sample(["bread", "milk", "beer", "eggs"], rng.randint(0, 3))]
            for name in rng.choices(names, k=rng.randint(3, 12))
        ]
        back = rng.choice((1, -1))
        write(path, "\n".join(" ".join(line[::back]) for line in lines))
        with pytest.raises(TableError) as caught:
            sv.read(path)
        assert not any(options.get("format") == "basket" for options, _ in caught.value.readings), path
