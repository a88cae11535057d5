"""Small facts drawn at random."""

from __future__ import annotations

from random import Random

import polars as pl

import setveil as sv
from setveil.releases.published.boxes import Boxes
from setveil.rows.hierarchy.tree import Hierarchy

CODES = (
    {"a": "x", "b": "x", "c": "*", "x": "*", "*": None},
    {"a": "x", "b": "x", "c": "y", "d": "y", "x": "*", "y": "*", "*": None},
    {"a": "*", "b": "*", "c": "*", "*": None},
)


def random_facts(random: Random, periods: int = 2) -> tuple[sv.Facts, Hierarchy, list[dict[str, str | None]]]:
    """Draw facts of codes and years, with the tree of the codes, and both trees as plain links."""
    codes = random.choice(CODES)
    leaves = [code for code in codes if code not in codes.values()]
    years = [str(2001 + at) for at in range(periods)]
    lines = [
        (person, random.choice(leaves), random.choice(years))
        for person in range(random.randint(3, 7))
        for _ in range(random.randint(1, 3))
    ]
    frame = pl.DataFrame(lines, schema=["who", "code", "on"], orient="row")
    facts = sv.read_facts(frame, id="who", sets="code", when={"on": "year"})
    used = sorted({year for _, _, year in lines})
    dates: dict[str, str | None] = {**dict.fromkeys(used, "*"), "*": None}
    return facts, Hierarchy(dict(codes)), [dict(codes), dates]


def random_columns(random: Random) -> tuple[sv.Facts, dict[str, Hierarchy]]:
    """Draw facts of two columns that have codes in common, the second without dates, or with them."""
    codes = {"a": "x", "b": "x", "x": "*", "*": None}
    drugs = random.choice(({"a": "*", "c": "*", "*": None}, {"a": "*", "*": None}))
    lines = []
    for person in range(random.randint(3, 6)):
        for _ in range(random.randint(1, 3)):
            drug = random.choice([*(code for code in drugs if code != "*"), ""])
            lines.append((person, random.choice(("a", "b", "")), drug, random.choice(("2001", "2002"))))
    lines.append((0, "a", "a", "2001"))
    frame = pl.DataFrame(lines, schema=["who", "code", "drug", "on"], orient="row")
    when = {"on" if random.random() < 0.2 else "code=on": "year"}
    facts = sv.read_facts(frame, id="who", sets=["code", "drug"], when=when)
    return facts, {"code": Hierarchy(dict(codes)), "drug": Hierarchy(dict(drugs))}


def some_facts(random: Random) -> tuple[sv.Facts, Hierarchy | dict[str, Hierarchy]]:
    """Draw facts of one column, or of two, with the trees of their codes."""
    return random_columns(random) if random.random() < 0.5 else random_facts(random)[:2]


def taken_apart(text: str, boxes: Boxes) -> tuple[str, list[str]]:
    """Take the text of a fact or a part apart, by definition: its column ("" if only one), and parts."""
    column, sign, rest = text.partition("=") if len(boxes.places) > 1 else ("", "", text)
    return column + sign, rest.split("@")
