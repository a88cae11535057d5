"""Files of surveys, shops, document stores and programs: the first printed command reads them right."""

from __future__ import annotations

import csv
import io
import json
import random
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import setveil as sv
from cli_helpers import setveil
from printed_commands import printed
from setveil.base.errors import TableError
from workbooks import xlsx

FOODS = ["milk", "bread", "eggs", "butter", "apples", "rice", "beer", "coffee"]
_draw = random.Random(4)
PEOPLE = [f"c{number:04}" for number in _draw.sample(range(10_000), 110)]
SETS = [_draw.sample(FOODS, _draw.randint(1, 4)) for _ in PEOPLE]
LONG = [[person, item] for person, items in zip(PEOPLE, SETS, strict=True) for item in items]
NUMBERED = [[person[1:].lstrip("0") or "0", item] for person, item in LONG]
OBJECTS = [[{"sku": item, "n": 1} for item in items] for items in SETS]
FRAME = pd.DataFrame(LONG, columns=["cust", "item"])
LISTS = pd.DataFrame({"cust": PEOPLE, "bought": SETS})


def text(lines: Sequence[Sequence[Any]], sep: str = ",") -> str:
    file = io.StringIO()
    csv.writer(file, delimiter=sep, lineterminator="\n").writerows(lines)
    return file.getvalue()


def survey() -> str:
    """Three lines of names, as survey tools write them, above one column for each answer."""
    names = [[f"Q1_{at}" for at in range(8)], [f"Which? - Selected Choice - {food}" for food in FOODS]]
    names.append([json.dumps({"ImportId": f"QID1_{at}"}) for at in range(8)])
    head = [
        [first, *line] for first, line in zip(["Id", "Response Id", '{"ImportId":"_id"}'], names, strict=True)
    ]
    rows = zip(PEOPLE, SETS, strict=True)
    return text([*head, *([who, *(food if food in items else "" for food in FOODS)] for who, items in rows)])


def onehot(*, totals: str) -> str:
    """A table of amounts with a subtotal of the first two columns, and a column of totals."""
    lines: list[list[Any]] = [["cust", *FOODS[:2], "Subtotal fresh", *FOODS[2:], totals]]
    for person, items in zip(PEOPLE, SETS, strict=True):
        found = [int(food in items) for food in FOODS]
        lines.append([person, *found[:2], sum(found[:2]), *found[2:], sum(found)])
    return text(lines)


def cells(names: Sequence[str], values: Sequence[Any], sep: str = ",") -> str:
    return text([names, *zip(PEOPLE, values, strict=True)], sep)


def objects(several: Sequence[dict[str, Any]]) -> str:
    return "".join(json.dumps(one) + "\n" for one in several)


PADDED = "Sales 2024;\nMade by the till;\n;\n" + text([["customer", "product"], *NUMBERED], ";")
FILES = {
    "title lines that were filled up": ("a.csv", PADDED + "Source: till;\n"),
    "three lines of names": ("a.csv", survey()),
    "a subtotal among the columns": ("a.csv", onehot(totals="Total")),
    "sums that no name gives away": ("a.csv", onehot(totals="All")),
    "arrays of a database in a basket": (
        "a.csv",
        cells(["uid", "basket"], ["{" + ",".join(items) + "}" for items in SETS]),
    ),
    "sets of Python in an order": ("a.csv", cells(["uid", "order"], [repr({*items}) for items in SETS])),
    "answers of one letter": (
        "a.csv",
        text(
            [
                ["resp", *FOODS],
                *(
                    [who, *("T" if food in items else "F" for food in FOODS)]
                    for who, items in zip(PEOPLE, SETS, strict=True)
                ),
            ]
        ),
    ),
    "objects in JSON": ("a.csv", cells(["id", "items"], [json.dumps(one) for one in OBJECTS])),
    "objects as Python writes them": ("a.csv", cells(["id", "genres"], [repr(one) for one in OBJECTS])),
    "objects around objects": (
        "a.tsv",
        cells(["order", "payload"], [json.dumps({"items": one}) for one in OBJECTS], "\t"),
    ),
    "lists of amounts": (
        "a.json",
        json.dumps([{"cust": who, "cart": cart} for who, cart in zip(PEOPLE, OBJECTS, strict=True)]),
    ),
    "a key for each person": ("a.json", json.dumps(dict(zip(PEOPLE, SETS, strict=True)), indent=1)),
    "an object for each person": (
        "a.json",
        json.dumps({who: {"sex": "f", "cart": items} for who, items in zip(PEOPLE, SETS, strict=True)}),
    ),
    "arrays for columns": (
        "a.json",
        json.dumps({"cust": FRAME["cust"].tolist(), "item": FRAME["item"].tolist()}),
    ),
    **{
        f"a frame of lists, {way}": ("a.json", LISTS.to_json(orient=way))
        for way in ("columns", "split", "table")
    },
    **{
        f"a long frame, {way}": ("a.json", FRAME.to_json(orient=way)) for way in ("columns", "index", "split")
    },
}


def counts(items: Sequence[Sequence[str]]) -> tuple[int, int, int]:
    sets = [{*one} for one in items]
    return len(sets), len(set().union(*sets)), sum(map(len, sets))


def first_reading(folder: Path, name: str, *options: str) -> tuple[int, int, int]:
    """Read a file as the first printed command does, and count rows, items and occurrences."""
    done = setveil("read", name, *options, "--json", cwd=folder)
    if done.code == 4:
        done = setveil(*shlex.split(printed(done.err)[0])[1:], cwd=folder)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    return found["rows"], found["items"], found["occurrences"]


@pytest.mark.parametrize(("name", "content"), FILES.values(), ids=FILES)
def test_the_first_printed_command_is_right(tmp_path: Path, name: str, content: str) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert first_reading(tmp_path, name) == counts(SETS)


def test_sheets_are_asked_about_together_with_their_columns(tmp_path: Path) -> None:
    sheets = {"Readme": [["Sales of the till"], ["by the shop"]], "Data": [["till", "product"], *LONG]}
    (tmp_path / "a.xlsx").write_bytes(xlsx(sheets))
    done = setveil("read", "a.xlsx", "--json", cwd=tmp_path)
    assert "--sheet Data" in printed(done.err)[0]
    assert not any("Readme" in command for command in printed(done.err))
    assert first_reading(tmp_path, "a.xlsx") == counts(SETS)


@pytest.mark.parametrize("word", ["unknown", "Keine Angabe", "none", "s/d", "-99", "#REF!"])
def test_words_that_may_mean_no_item_are_reported(tmp_path: Path, word: str) -> None:
    lines = [["mrn", "code"], *NUMBERED, *([f"9{number}", word] for number in range(100, 112))]
    (tmp_path / "a.csv").write_text(text(lines))
    named = ("--id-column", "mrn", "--item-column", "code")
    note = json.loads(setveil("read", "a.csv", *named, "--json", cwd=tmp_path).out)["notes"][0]
    assert note.startswith(f"12 lines of column 'code': '{word}' (12) is read as an item")
    option = shlex.split(note.partition(", add ")[2].removesuffix("."))
    assert first_reading(tmp_path, "a.csv", *named, *option) == counts([*SETS, *[[]] * 12])
    silent = ("--not-missing", word) if word[0] != "-" else (f"--not-missing={word}",)
    assert not json.loads(setveil("read", "a.csv", *named, *silent, "--json", cwd=tmp_path).out)["notes"]


@pytest.mark.parametrize("word", ["?", "k.A.", "#NULL!"])
def test_words_that_are_no_items(tmp_path: Path, word: str) -> None:
    lines = [["mrn", "code"], *NUMBERED, *([f"9{number}", word] for number in range(100, 112))]
    (tmp_path / "a.csv").write_text(text(lines))
    named = ("--id-column", "mrn", "--item-column", "code")
    assert first_reading(tmp_path, "a.csv", *named) == counts([*SETS, *[[]] * 12])


def test_spellings_of_a_hierarchy_are_merged_when_read(tmp_path: Path) -> None:
    lines = [[who, item.upper() if at % 2 else item] for at, (who, item) in enumerate(LONG)]
    (tmp_path / "a.csv").write_text(text([["guest", "dish"], *lines]))
    (tmp_path / "h.csv").write_text("".join(f"{food.title()};food;*\n" for food in FOODS))
    named = ("--id-column", "guest", "--item-column", "dish", "-H", "h.csv")
    refused = setveil("anonymize", "a.csv", *named, "--k", 2, "--m", 1, "--out", "o", cwd=tmp_path)
    (command,) = printed(refused.err)
    assert command.endswith("--normalize text")
    assert setveil(*shlex.split(command)[1:], cwd=tmp_path).code == 0
    assert first_reading(tmp_path, "a.csv", *named, "--normalize", "text") == counts(SETS)


FRAMES = {
    "an index of IDs": FRAME.set_index("cust"),
    "an index of several levels": FRAME.assign(n=1).set_index(["cust", "item"]),
    "marks": pd.crosstab(FRAME["cust"], FRAME["item"]) > 0,
    "amounts with sums": pd.crosstab(FRAME["cust"], FRAME["item"], margins=True),
    "names among the rows": pd.concat(
        [FRAME[:50], pd.DataFrame([["cust", "item"]] * 6, columns=FRAME.columns), FRAME[50:]]
    ),
    "objects as texts": pd.DataFrame({"cust": PEOPLE, "cart": [json.dumps(one) for one in OBJECTS]}),
}


@pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)
def test_frames_are_read_as_the_first_reading_says(frame: Any) -> None:
    try:
        data = sv.read(frame)
    except TableError as question:
        data = sv.read(frame, **question.readings[0][0])
    assert (data.n_rows, data.n_items, data.n_occurrences) == counts(SETS)


def test_a_column_of_places_by_itself_is_one_item_a_row() -> None:
    places = [["Oslo"], ["Rome"], ["Paris"], ["Rome"]] * 20
    with pytest.raises(TableError) as caught:
        sv.read(pd.DataFrame(places, columns=["city"]))
    assert sv.read(pd.DataFrame(places, columns=["city"]), **caught.value.readings[0][0]).rows() == [
        tuple(place) for place in places
    ]


@pytest.mark.parametrize(
    ("form", "first"), [("sas", 22_660), ("excel", 44_673)], ids=["SAS", "a spreadsheet"]
)
def test_numbers_of_days(tmp_path: Path, form: str, first: int) -> None:
    days = {who: first + 3 * at for at, who in enumerate(PEOPLE)}
    lines = [[who, days[who], days[who] - 12_000 - at % 300, item] for at, (who, item) in enumerate(LONG)]
    births = {who: line[2] for who, line in zip([who for who, _ in LONG], lines, strict=True)}
    lines = [[who, days[who], births[who], item] for who, item in LONG]
    (tmp_path / "a.csv").write_text(text([["pid", "seen", "born", "code"], *lines]))
    named = ("a.csv", "--id-column", "pid", "--set", "code")
    done = setveil("read", *named, "--when", "seen:month", "--json", cwd=tmp_path)
    assert f"--date-format {form}" in printed(done.err)[0]
    assert first_reading(tmp_path, *named, "--when", "seen:month", "--json")[0] == len(PEOPLE)
    aged = setveil("read", *named, "--age", "age=born..seen", "--qi", "age", "--json", cwd=tmp_path)
    ages = {int(row["values"]["age"]) for row in json.loads(aged.out)["first"]}
    assert ages <= {32, 33}


@pytest.mark.parametrize("place", [0, -1], ids=["first", "last"])
@pytest.mark.parametrize("sign", [",", " ", "\t"], ids=["comma", "blank", "tab"])
@pytest.mark.parametrize(("n", "most"), [(12, 6), (19, 20), (25, 6), (30, 20), (60, 20)])
def test_few_lines_of_ascending_numbers_with_ids(
    tmp_path: Path, place: int, sign: str, n: int, most: int
) -> None:
    rng = random.Random(n * most)
    sets = [sorted(rng.sample(range(1, 60), rng.randint(1, most))) for _ in range(n)]
    lines = [[*items] for items in sets]
    for at, line in enumerate(lines):
        line.insert(0 if place == 0 else len(line), 90_000 + 13 * at)
    (tmp_path / "a.txt").write_text("".join(sign.join(map(str, line)) + "\n" for line in lines))
    assert first_reading(tmp_path, "a.txt") == counts([[*map(str, items)] for items in sets])


@pytest.mark.parametrize(("n", "most"), [(12, 9), (25, 20), (60, 200), (150, 100)])
@pytest.mark.parametrize("names", [["user_id", "movie_id"], ["userId", "songId", "rating", "timestamp"]])
def test_numbers_of_people_may_be_numbers_of_items(
    tmp_path: Path, n: int, most: int, names: list[str]
) -> None:
    rng = random.Random(n)
    sets = [rng.sample(range(1, most + 1), rng.randint(1, 5)) for _ in range(n)]
    lines = [[at, item, 4, 964_982_703] for at, items in enumerate(sets, 1) for item in items]
    (tmp_path / "a.csv").write_text(text([names, *(line[: len(names)] for line in lines)]))
    assert first_reading(tmp_path, "a.csv") == counts([[*map(str, items)] for items in sets])
    named = ("--id-column", names[0], "--item-column", names[1])
    done = setveil("anonymize", "a.csv", *named, "--k", 2, "--m", 1, "--out", "o", cwd=tmp_path)
    assert done.code == 0, done.err
