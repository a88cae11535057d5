"""The command `risk`: its inputs, answers and errors; its answer in words."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import HIERARCHY, Done, dump, refused, sample_rows, setveil, together, write
from setveil.base.errors import RequestError
from setveil.cli.risk import parse_sizes
from setveil.report.risk import risk_text

ROWS = sample_rows(120, seed=5)
BASKETS = [
    frozenset(
        {f"p{i % 4}", f"q{i % 3}"} | ({"secret"} if i % 7 == 0 else set()) | ({"r"} if i % 2 else set())
    )
    for i in range(60)
]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("risk")
    write(folder / "in.dat", dump(ROWS, "fimi"))
    write(folder / "long.txt", dump(ROWS, "wide-long"))
    write(folder / "tree.csv", HIERARCHY)
    write(folder / "shop.csv", dump(BASKETS, "basket"))
    write(folder / "private.txt", "secret\n")
    write(folder / "empty.csv", "a,b\n\na\n")
    return folder


@pytest.fixture(scope="module")
def done(place: Path) -> dict[str, Done]:
    """Return the results of all commands that should succeed, run in one process."""
    many = ["--m", "1..2"]
    columns = ["--format", "long", "--separator", ";", "--id-column", "who", "--item-column", "what"]
    commands: dict[str, list[object]] = {
        "anonymize": ["anonymize", "in.dat", "-H", "tree.csv", "--k", 4, "--m", 2, "--out", "out"],
        "groups": ["anonymize", "shop.csv", "--algorithm", "cahd", "--p", 4, "--sensitive", "secret", "--out",
                   "grouped"],
        "file": ["risk", "in.dat", *many, "--json"],
        "words": ["risk", "in.dat"],
        "long": ["risk", "long.txt", *many, *columns, "--json"],
        "folder": ["risk", "out", *many, "--json"],
        "published": ["risk", "out/published", *many, "--json"],
        "both": ["risk", "out", "--original", "long.txt", *many, *columns, "--json"],
        "both in words": ["risk", "out", "--original", "in.dat", *many],
        "private": ["risk", "shop.csv", "--private", "private.txt", *many, "--json"],
        "sensitive": ["risk", "shop.csv", "--sensitive", "private.txt", *many, "--json"],
        "several": ["risk", "shop.csv", "--private", "secret,r", *many],
        "in groups": ["risk", "grouped", *many, "--json"],
        "groups, the file": ["risk", "grouped/published/data.csv", *many, "--json"],
        "a quasi-identifier": ["risk", "grouped", "--private", "p1", *many, "--json"],
        "groups, both": ["risk", "grouped", "--original", "shop.csv", *many],
        "hasty": ["risk", "in.dat", "--m", "3", "--effort", 20, "--json"],
        "other seed": ["risk", "in.dat", "--m", "3", "--effort", 20, "--seed", 9, "--json"],
        "hasty in words": ["risk", "in.dat", "--m", "3", "--effort", 20],
        "empty rows": ["risk", "empty.csv", "--m", "1"],
    }  # fmt: skip
    results = together([*commands.values()], place)
    return {name: result.ok() for name, result in zip(commands, results, strict=True)}


def risk_of(place: Path, file: str, **more: Any) -> Any:
    return json.loads(json.dumps(sv.risk(place / file, m=(1, 2), **more)))


def test_answers_are_those_of_python(done: dict[str, Done], place: Path) -> None:
    assert done["file"].json() == risk_of(place, "in.dat")
    assert done["private"].json() == risk_of(place, "shop.csv", private=["secret"])
    assert done["sensitive"].json() == done["private"].json()
    assert done["file"].json()["risk"][0]["exact"]


def test_any_layout_gives_the_same_answer(done: dict[str, Done]) -> None:
    found, expected = done["long"].json(), done["file"].json()
    for entry in (*found["risk"], *expected["risk"]):
        entry["probability"] = pytest.approx(entry["probability"])
    assert found["risk"] == [
        {**entry, "probability": entry["probability"].expected} for entry in expected["risk"]
    ]
    assert found["revealing"] == expected["revealing"]


def test_a_release_singles_out_nobody_within_its_promise(done: dict[str, Done]) -> None:
    found = done["folder"].json()
    assert found == done["published"].json()
    assert all(entry["rows_below"]["2"] == 0 for entry in found["risk"])
    assert found["rows"] == len(ROWS)


def test_before_and_after(done: dict[str, Done]) -> None:
    both = done["both"].json()
    assert list(both) == ["before", "after"]
    assert both["before"] == done["long"].json()
    assert both["after"] == done["folder"].json()


def test_groups_hide_their_sensitive_items(done: dict[str, Done], place: Path) -> None:
    found = done["in groups"].json()
    assert done["groups, the file"].json() == found
    assert {entry["item"] for entry in found["inference"]} == {"secret"}
    assert all(0 < entry["probability"] <= 1 / 4 for entry in found["inference"])
    before = risk_of(place, "shop.csv", private=["secret"])
    assert found["risk"] == before["risk"]  # quasi-identifiers are published as they are
    assert {entry["item"] for entry in done["a quasi-identifier"].json()["inference"]} == {"p1"}


def test_the_answer_in_words(done: dict[str, Done]) -> None:
    text = done["words"].out
    assert text.startswith("Rows unique by their 2 most identifying items: ")
    assert "If the most identifying items of each row are known (the worst case):" in text
    assert "If items are known that were picked at random (on average):" in text
    assert text.count("\n  4 items ") == 2
    assert "Items that give most away (known alone or next to one other item" in text
    assert "about" not in text
    both = done["both in words"].out
    assert "\n  after    no row\n" in both
    assert both.count(" before   ") == 5
    assert "Items that give most away, after" in both
    assert "The greatest probability of each, by what is known:\n  item     1 item   up to 2 items\n" in (
        done["several"].out
    )
    groups = done["groups, both"].out
    assert "probability of each" not in groups  # there is one private item
    assert "Sensitive items, counted as unknown." in groups
    assert "\n                 after    " in groups
    assert "Without anything that can be known: 1 row, never found." in done["empty rows"].out


def test_where_little_effort_is_allowed_numbers_are_estimates(done: dict[str, Done]) -> None:
    found = done["hasty"].json()
    for entry in found["risk"]:
        assert not entry["exact"]
        assert entry["confidence"] == 0.95
        for t, (low, high) in entry["interval"].items():
            assert low <= entry["rows_below"][t] <= high
    assert found != done["other seed"].json()
    text = done["hasty in words"].out
    assert "about: estimated from rows drawn at random" in text
    assert "with 95% confidence" in text
    assert " to " in text


def test_standard_input() -> None:
    shown = setveil("risk", "-", "--m", "1", "--json", stdin=b"a,b\na\na,c\n").ok().json()
    assert shown["risk"][0]["rows_below"] == {"2": 2, "5": 3, "10": 3}


@pytest.mark.usefixtures("done")
def test_refused(place: Path) -> None:
    wrong: list[tuple[list[object], int, list[str]]] = [
        (["in.dat", "--m", "4..1"], 2, ["--m", "'4..1'"]),
        (["in.dat", "--private", "milk,101"], 4, ["'milk'", "not in the data"]),
        (["grouped", "--private", "secret,milk"], 4, ["1 item is neither counted", "'milk'"]),
        (["out", "--original", "in.dat", "--private", "milk"], 4, ["'milk'"]),
        (["nothing.dat"], 4, ["nothing.dat"]),
        (["in.dat", "--original", "nothing.dat"], 4, ["nothing.dat"]),
    ]
    results = together([["risk", *arguments] for arguments, _, _ in wrong], place)
    for result, (_, code, words) in zip(results, wrong, strict=True):
        refused(result, code, *words)


@pytest.mark.usefixtures("command_line")
def test_sizes() -> None:
    assert parse_sizes("2") == (2,)
    assert parse_sizes("1..4") == (1, 2, 3, 4)
    assert parse_sizes(" 3 , 1 .. 2,2") == (1, 2, 3)
    assert parse_sizes("999999999") == (999_999_999,)
    for wrong in (
        "",
        "0",
        "-1",
        "1..",
        "2..1",
        "1,,2",
        "a",
        "1.5",
        "inf",
        "1..101",
        "1..10,11..200,3..4",
        "²",
    ):
        with pytest.raises(RequestError, match=r"--m"):
            parse_sizes(wrong)


# Words


def result(rows: int = 500, **changes: Any) -> Any:
    """Make an answer by hand."""
    entry = {"m": 1, "rows_below": {"2": 0, "5": 12, "10": 500}, "probability": 0.0123, "exact": True}
    return {
        "rows": rows,
        "empty_rows": 0,
        "thresholds": [2, 5, 10],
        "risk": [{**entry, "choice": "best"}, {**entry, "choice": "random"}],
        "revealing": {"m": 1, "below": 5, "exact": True, "items": []},
        **changes,
    }


def inference_entry(**changes: Any) -> Any:
    above = {"0.2": 3, "0.5": 0, "0.8": 0}
    entry = {"m": 1, "probability": 0.25, "item": "s", "itemset": ["a"], "support": 4, "exact": True}
    return {**entry, "rows_above": above, "items": each(s=0.25), **changes}


def each(**probabilities: float) -> list[Any]:
    return [
        {"item": item, "probability": probability, "itemset": ["a"], "support": 4}
        for item, probability in probabilities.items()
    ]


def test_numbers_in_words() -> None:
    drawn = {
        "m": 1, "choice": "random", "rows_below": {"2": 0.2, "5": 7.61, "10": 1234.5}, "probability": 0.1,
        "exact": False, "confidence": 0.95,
        "interval": {"2": [0.2, 0.2], "5": [3.3, 9.2], "10": [999.9, 2000]},
    }  # fmt: skip
    text = risk_text([("", result(5000, risk=[result()["risk"][0], drawn]))])
    best, random = (line.split("   ") for line in text.splitlines() if line.startswith("  1 item"))
    assert [cell.strip() for cell in best if cell] == ["1 item", "0", "12 (0.24%)", "500 (10%)", "1.2%"]
    assert [cell.strip() for cell in random if cell.strip()] == [
        "1 item", "under 1", "about 8 (3 to 10)", "about 1,234 (999 to 2,000)", "about 10%",
    ]  # fmt: skip
    assert text.startswith("Rows unique by their most identifying item: no row.")
    assert "known alone, they lead to fewer than 5 rows" in text


def test_inferences_in_words() -> None:
    entries = [
        inference_entry(),
        inference_entry(m=2, itemset=[], exact=False, confidence=0.95),
        inference_entry(m=3, support=1, itemset=["a", "b"]),
    ]
    text = risk_text([("", result(inference=entries))])
    assert "1 item          25%: s, of the 4 rows with a\n" in text
    assert "up to 2 items   at least 25%: s, of the 4 rows, knowing nothing\n" in text
    assert "up to 3 items   25%: s, of the only row with a, b\n" in text
    nothing = inference_entry(probability=0.0, item=None, itemset=[], support=500)
    text = risk_text(
        [("before", result(inference=[inference_entry()])), ("after", result(inference=[nothing]))]
    )
    assert "after    0%: none is there under its own name" in text
    text = risk_text([("before", result(inference=[inference_entry()])), ("after", result())])
    assert "after    nothing: no sensitive item is there" in text


def test_each_private_item_in_words() -> None:
    """Check that the most revealing items before the release are first, and suppressed items are named."""
    then = [
        inference_entry(items=each(r=0.1, s=0.25, t=0.25)),
        inference_entry(m=2, items=each(r=1.0, s=0.5, t=0.6), exact=False, confidence=0.95),
    ]
    now = [inference_entry(items=each(s=0.125)), inference_entry(m=2, items=each(s=0.3))]
    text = risk_text([("before", result(inference=then)), ("after", result(inference=now))])
    assert text.split("\n\n")[-2].splitlines() == [
        "The greatest probability of each, by what is known:",
        "  item            1 item      up to 2 items",
        "  r      before   10%         at least 100%",
        "         after    not there   not there",
        "  t      before   25%         at least 60%",
        "         after    not there   not there",
        "  s      before   25%         at least 50%",
        "         after    12%         30%",
    ]
    alone = risk_text([("", result(inference=[inference_entry(items=each(s=0.25, t=0.25))]))])
    assert "of each, by what is known:\n  item   1 item\n  s      25%\n  t      25%\n" in alone
    many = each(**{f"x{i:02}": 1 - i / 100 for i in range(25)})
    lines = risk_text([("", result(inference=[inference_entry(items=many)]))]).split("\n\n")[-2].splitlines()
    assert len(lines) == 2 + 20 + 1
    assert lines[-1] == "  and 5 more (--json lists all)"
    assert "probability of each" not in risk_text([("", result(inference=[inference_entry()]))])


def test_long_and_odd_labels() -> None:
    item = {"item": "x" * 300, "support": 3, "rows": 3}
    text = risk_text([("", result(revealing={"m": 2, "below": 5, "exact": True, "items": [item] * 9}))])
    assert max(map(len, text.splitlines())) < 120
    assert text.count("3 rows") == 5  # the others are in the JSON
