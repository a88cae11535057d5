"""IDs under names that say nothing, whose lines are apart: never items, and never forgotten."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path
from random import Random

import numpy as np
import pytest

import setveil as sv
from cli_helpers import files_under, together
from setveil.rows.data.ids import come_evenly
from strategies import seeded

GOODS = ("bread", "milk", "tea", "beer", "wine", "eggs", "rice", "fish", "soap", "salt", "jam", "nuts")
PEOPLE = 80


def digits(rng: Random, number: int) -> str:
    return "".join(rng.choice("0123456789") for _ in range(number))


FIRST, LAST, SECOND = "Ana Ben Eva Jan Lea Max", "Beck Kurz Lang Roth Voss", "Adam Bauer Conrad Diehl Ernst"
COLORS, ANIMALS, SIGNS, TOWNS = "blue gray red", "fox cat owl", ". _ -", "B HH K"


def word(rng: Random, words: str) -> str:
    return rng.choice(words.split())


KINDS: dict[str, Callable[[Random], str]] = {
    "full names": lambda rng: f"{word(rng, FIRST)} {word(rng, LAST)}-{word(rng, SECOND)}",
    "names of users": lambda rng: (
        f"{word(rng, COLORS)}{word(rng, SIGNS)}{word(rng, ANIMALS)}{digits(rng, 2)}"
    ),
    "UUIDs": lambda rng: f"{rng.getrandbits(32):08x}-{rng.getrandbits(16):04x}-4{rng.getrandbits(12):03x}",
    "account numbers": lambda rng: "DE" + digits(rng, 20),
    "social security numbers": lambda rng: f"1{digits(rng, 2)}-{digits(rng, 2)}-{digits(rng, 4)}",
    "insurance numbers": lambda rng: rng.choice("ABCDEFGH") + digits(rng, 9),
    "patient numbers": lambda rng: f"P-{digits(rng, 5)}",
    "number plates": lambda rng: f"{word(rng, TOWNS)}-A{rng.choice('XYZ')} {digits(rng, 4)}",
    "numbers": lambda rng: "4" + digits(rng, 7),
}


def lines_of(kind: str, rng: Random) -> tuple[list[str], list[list[str]]]:
    """Draw people, and one to five lines of each with one to four items, in no order."""
    people = set[str]()
    while len(people) < PEOPLE:
        people.add(KINDS[kind](rng))
    own = sorted(people)
    lines = [
        [one, *rng.sample(GOODS, rng.randint(1, 4))] for one in own for _ in range(1 + own.index(one) % 5)
    ]
    rng.shuffle(lines)
    return own, lines


def files(kind: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    """Write the shapes of a file; return the IDs, and the format that each file is forced to."""
    own, lines = lines_of(kind, seeded(list(KINDS).index(kind)))
    swapped = [[*items, one] for one, *items in lines]
    long = [[one, item] for one, *items in lines for item in items]
    texts = {
        "first.csv": "".join(",".join(line) + "\n" for line in lines),
        "last.csv": "".join(";".join(line) + "\n" for line in swapped),
        "long.tsv": "".join("\t".join(line) + "\n" for line in long),
        "named.csv": "x,y\n" + "".join(",".join(line) + "\n" for line in long),
        "arrays.jsonl": "".join(json.dumps(line) + "\n" for line in swapped),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    return own, {name: "jsonl" if name.endswith("jsonl") else "basket" for name in texts}


def published(folder: Path) -> str:
    """Return all texts that a release would share."""
    files = [folder / "published" / name for name in files_under(folder / "published")]
    return "\n".join(file.read_text(encoding="utf-8") for file in files)


@pytest.mark.parametrize("kind", KINDS)
def test_no_reading_publishes_or_forgets_them(kind: str, tmp_path: Path) -> None:
    own, forms = files(kind, tmp_path)
    common = ["--k", "3", "--m", "2", "--no-details", "--out"]
    forced = [["anonymize", name, "--format", form, *common, "forced"] for name, form in forms.items()]
    for command, done in zip(forced, together(forced, tmp_path), strict=True):
        assert done.code == 4, (command, done)
    asked = [["anonymize", name, *common, f"out-{name}"] for name in forms]
    printed = []
    for command, done in zip(asked, together(asked, tmp_path), strict=True):
        assert done.code == 4, (command, done)
        lines = [line for line in done.err.splitlines() if line.startswith("    setveil anonymize ")]
        printed += [shlex.split(line)[1:] for line in lines]
    outs = [f"printed-{number}" for number in range(len(printed))]
    pasted = [
        [out if "out-" in one else one for one in words] for out, words in zip(outs, printed, strict=True)
    ]
    for words, out, done in zip(pasted, outs, together(pasted, tmp_path), strict=True):
        assert done.code in {0, 4}, (words, done)
        if done.code == 0:
            assert "--id-column" in words
            text = published(tmp_path / out)
            assert not [one for one in own if one in text], words
    assert not (tmp_path / "forced").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_tables_do_not_publish_them(kind: str, tmp_path: Path) -> None:
    rng = seeded(list(KINDS).index(kind))
    _, lines = lines_of(kind, rng)
    rows = "".join(f"{one},{rng.choice('mf')},{items[0]},{rng.choice(GOODS)}\n" for one, *items in lines)
    (tmp_path / "t.csv").write_text("x,sex,a,b\n" + rows, encoding="utf-8")
    common = ["anonymize", "t.csv", "--model", "kkm", "--k", "3", "--m", "1", "--out", "out", "--no-details"]
    roles = [["--qi", "sex", "--set", "x"], ["--qi", "sex", "--set", "a", "--keep-columns", "x"]]
    roles += [["--qi", "sex", "--set", "a"], ["--qi", "sex,x", "--set", "a"]]
    commands = [[*common, *options] for options in roles]
    for words, done in zip(commands, together(commands, tmp_path), strict=True):
        assert done.code == 4, (words, done)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("make", "even"),
    [
        (lambda at: f"word {at}", True),
        (lambda at: str(100_000 + 7 * at), True),
        (lambda at: str(10_000 + 7 * at), False),  # a postal code
        (lambda at: f"A{at:02}.{at % 10}", False),  # a diagnosis
        (lambda at: f"A{at % 90 + 10}BC{at % 90 + 10}", False),  # a drug
        (lambda at: f"2024-01-{at % 28 + 1:02}", False),
        (lambda at: f"{at}.25", False),
    ],
)
def test_codes_dates_and_short_numbers_are_none(make: Callable[[int], str], even: bool) -> None:
    labels = [make(at) for at in range(90)]
    assert come_evenly(labels, np.full(90, 4)) is even
    assert not come_evenly(labels[:40], np.full(40, 4))  # too few to be known by their numbers of lines
    assert not come_evenly(labels, np.full(90, 1))  # known in other ways
    assert not come_evenly(labels, np.full(90, 40))


def test_items_of_which_some_are_frequent_are_none() -> None:
    labels = [f"word {at}" for at in range(200)]
    assert not come_evenly(labels, np.array([1000 // (at + 1) for at in range(200)]))


def test_baskets_whose_items_stand_anywhere_are_none(tmp_path: Path) -> None:
    rng = Random(4)
    goods = [f"good {at}" for at in range(90)]
    rows = [rng.sample(goods, rng.randint(2, 5)) for _ in range(300)]
    assert sv.Transactions.from_rows(rows).personal.columns == ()
    file = tmp_path / "a.csv"
    file.write_text("".join(",".join(row) + "\n" for row in rows))
    assert sv.read(file, format="basket").n_rows == 300
