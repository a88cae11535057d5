"""Small facts drawn at random."""

from __future__ import annotations

from random import Random

import polars as pl

import setveil as sv
from setveil.hierarchy.tree import Hierarchy

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
