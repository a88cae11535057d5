"""The proposals of a question about a file: lines without an ID, and Python calls that can be pasted."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil, write
from setveil.base.errors import TableError
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
    result = setveil("read", f"{name}.csv", cwd=folder)
    assert result.code == 4
    proposed = re.findall(r"^    setveil (.*)$", result.err, re.MULTILINE)
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
    """Check that a call keeps the arguments, and names the called function, or the required one."""
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
    result = setveil("anonymize", "v.txt", "--k", "2", "--m", "2", "--out", "o", cwd=tmp_path)
    assert result.code == 4
    proposed = re.findall(r"^    setveil (.*)$", result.err, re.MULTILINE)
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


@pytest.mark.parametrize("suffix", ["txt", "dat"])
@pytest.mark.parametrize("n", [27, 200])
@pytest.mark.parametrize(
    "items", [[str(1001 + at) for at in range(10)], ["jam", "milk", "oil", "rice", "tea"]]
)
def test_commas_between_items_are_seen_where_most_lines_have_one_item(
    items: list[str], n: int, suffix: str, tmp_path: Path
) -> None:
    """Files that are called as those of numbers between blanks are."""
    rng = seeded(91)
    rows = [rng.sample(items, rng.choice([1, 1, 1, 2, 2, 3])) for _ in range(n)]
    path = tmp_path / f"a.{suffix}"
    write(path, "\n".join(map(",".join, rows)))
    with pytest.raises(TableError) as caught:
        sv.read(path)
    assert [dict(options) for options, _ in caught.value.readings] == [{"format": "basket"}]
    assert [*map(set, sv.read(path, format="basket"))] == [*map(set, rows)]


@pytest.mark.parametrize("suffix", ["txt", "dat"])
@pytest.mark.parametrize("sign", [",", " "])
def test_ids_of_which_some_lines_hold_several_are_not_proposed_as_baskets(
    sign: str, suffix: str, tmp_path: Path
) -> None:
    rng = seeded(92)
    ids = [[str(rng.randrange(10**6, 10**7)) for _ in range(rng.choice([1, 1, 1, 2]))] for _ in range(60)]
    path = tmp_path / f"a.{suffix}"
    write(path, "\n".join(map(sign.join, ids)))
    with pytest.raises(TableError) as caught:
        sv.read(path)
    assert caught.value.readings == ()


@pytest.mark.parametrize("form", ["%d%b%Y", "%d-%b-%Y", "%d%b%Y:10:15:00"])
@pytest.mark.parametrize("name", ["aestdt", "birthdate"])
def test_dates_with_names_of_months_are_proposed_as_iso_dates_are(
    form: str, name: str, tmp_path: Path
) -> None:
    draw = seeded(5)
    days = [date(draw.randint(1940, 1999), draw.randint(1, 12), draw.randint(1, 28)) for _ in range(60)]
    codes = ["Headache", "Nausea", "Rash", "Fever"]
    rest = [(1000 + at // 3, draw.choice("FM"), draw.choice(codes)) for at in range(60)]

    def message(written: str) -> str:
        lines = [
            f"{who},{day.strftime(written)},{sex},{code}"
            for day, (who, sex, code) in zip(days, rest, strict=True)
        ]
        write(tmp_path / "log.csv", "\n".join([f"subjid,{name},sex,aedecod", *lines]))
        done = setveil("anonymize", "log.csv", "--k", "2", "--m", "2", "--out", "release", cwd=tmp_path)
        assert done.code == 4
        return done.err[done.err.index("Hint") :]

    assert message(form) == message("%Y-%m-%d")


@pytest.mark.parametrize("header", ["pid;drg", "fallnr;drg", "Bon-Nr;Warengruppe", "numero de facture;rayon"])
@pytest.mark.parametrize("codes", [("470", "871", "291", "392"), ("G67C", "F62B"), ("01", "02", "03")])
def test_few_codes_are_items_of_people_and_of_events(
    header: str, codes: tuple[str, ...], tmp_path: Path
) -> None:
    draw = seeded(5)
    lines = [f"{draw.randint(10000, 10140)};{draw.choice(codes)}" for _ in range(200)]
    path = tmp_path / "cases.csv"
    write(path, "\n".join([header, *lines]))
    with pytest.raises(TableError) as caught:
        sv.read(path)
    one, other = header.split(";")
    assert [options for options, _ in caught.value.readings] == [{"id_column": one, "item_column": other}]


def test_many_subtotals_are_skipped_by_what_their_ids_end_with(tmp_path: Path) -> None:
    draw = seeded(5)
    found = {f"K{at}": sorted(draw.sample(["tea", "milk", "bread", "rice"], 2)) for at in range(1, 31)}
    lines = ["Kunde;Artikel;Menge"]
    for who, items in found.items():
        lines += [*(f"{who};{item};2" for item in items), f"{who} Total;;4"]
    (tmp_path / "pivot.csv").write_text("\n".join([*lines, "Grand Total;;120", "K31;tea;1"]) + "\n")
    done = setveil("read", "pivot.csv", cwd=tmp_path)
    command = next(line.strip() for line in done.err.splitlines() if "setveil read" in line)
    assert command.endswith("--missing 'Kunde=* Total,Grand Total' --missing-id skip")
    pasted = setveil(*shlex.split(command)[1:], cwd=tmp_path)
    assert "Note: 31 lines without an ID were skipped." in pasted.err
    rows = sv.read(
        tmp_path / "pivot.csv", id_column="Kunde", item_column="Artikel", missing="Kunde=* Total,Grand Total",
        missing_id="skip",
    ).rows()  # fmt: skip
    assert [list(row) for row in rows] == [*found.values(), ["tea"]]


def test_a_word_with_a_star_is_what_items_end_with() -> None:
    for missing in ("item=*(old)", {"item": ["*(old)"]}):
        frame = pl.DataFrame({"id": [1, 1, 2, 3], "item": ["tea (old)", "milk", "*", "*(old)"]})
        found = sv.read(frame, id_column="id", item_column="item", missing=missing)
        assert found.rows() == [("milk",), ("*",), ()]


def _pivot(label: str, last: str) -> tuple[list[str], int]:
    """Write a pivot table of 40 people, each once above their lines and with a total below them."""
    rng, goods = seeded(66), ["milk", "bread", "beer", "jam", "rice", "tea"]
    lines, number = ["user,item,amount"], 0
    for at in range(40):
        who, some = f"U{7_654_321 + 37 * at}", rng.sample(goods, rng.randint(1, 4))
        number += len(some)
        lines += [f"{who if not place else ''},{item},2" for place, item in enumerate(some)]
        lines.append(f"{label.format(who)},,{2 * len(some)}")
    return [*lines, f"{last},,{2 * number}"], number


@pytest.mark.parametrize(
    ("label", "words"), [("{} Total", "* Total,Grand Total"), ("Total", "Total,Grand Total")]
)
def test_totals_of_groups_are_named_by_their_words(label: str, words: str, tmp_path: Path) -> None:
    """No list of 41 lines is printed; a line of a total is none of the group above."""
    lines, number = _pivot(label, "Grand Total")
    path = write(tmp_path / "pivot.csv", "\n".join(lines) + "\n")
    named: dict[str, Any] = {"id_column": "user", "item_column": "item", "fill_id": True}
    expected = {**named, "missing": f"user={words}", "missing_id": "skip"}
    with pytest.raises(sv.TableError) as unnamed:
        sv.read(path)
    assert dict(unnamed.value.readings[0][0]) == expected
    with pytest.raises(sv.TableError) as asked:
        sv.read(path, **named)
    assert dict(asked.value.readings[0][0]) == {"missing": f"user={words}", "missing_id": "skip"}
    data = sv.read(path, **{**expected, "missing": [expected["missing"]]})
    assert (data.n_rows, data.n_items, data.n_occurrences) == (40, 6, number)
    assert data.origin is not None
    assert data.origin.notes == ("41 lines without an ID were skipped.",)


def test_totals_without_an_id_at_the_end_are_counted(tmp_path: Path) -> None:
    lines, number = _pivot("", "")
    path = write(tmp_path / "pivot.csv", "\n".join([*lines, ",,", ",,"]) + "\n")
    data = sv.read(path, id_column="user", item_column="item", fill_id=True)
    assert (data.n_rows, data.n_occurrences) == (40, number)
    assert data.origin is not None
    assert data.origin.notes[0] == "2 lines at the end without an ID and an item were skipped."


def test_an_empty_id_below_a_total_is_that_of_the_group(tmp_path: Path) -> None:
    lines = ["user,item,amount"]
    for at in range(30):
        lines += [f"U{1_000 + at},tea,1", f"U{1_000 + at} Total,oil,1", ",milk,1"]
    path = write(tmp_path / "pivot.csv", "\n".join(lines) + "\n")
    data = sv.read(
        path, id_column="user", item_column="item", fill_id=True, missing_id="skip", missing="user=* Total"
    )
    assert [set(row) for row in data.rows()] == [{"tea", "milk"}] * 30
