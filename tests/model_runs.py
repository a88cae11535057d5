"""Runs of the algorithms of all privacy models on the command line, and functions that read their files by
hand.

The commands of a test run one after the other in one process: starting it takes longer than any of them.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import combinations
from pathlib import Path
from typing import Any

from cli_helpers import HIERARCHY, Done, Row, dump, sample_rows, table


def _rows(text: str) -> list[Row]:
    return [frozenset(row) for row in text.split()]


# The examples of the papers. In that of coherence, 1 to 3 are the private items s1 to s3.
SAMPLE = sample_rows()
COAT = _rows("abcdefgh acefg cdefh acef efgh defg abde acf ac bh")
HGHS = _rows("bcd afg dfyz cdfx abcfg ei e i")
MOLES = _rows("abef1 cefg2 abg3 abfg2 abdg2 efg1 befg3")
GROUPS = [
    frozenset(row.split(","))
    for row in (
        "wine,meat,viagra",
        "wine,meat",
        "strawberries,cream,pregnancy test",
        "strawberries,meat",
        "wine,meat,cream",
    )
]
MOLES_FILE = "".join(  # were digits always first or last, the rows might be a table
    ",".join(sorted(row, reverse=bool(i % 2))) + "\n" for i, row in enumerate(MOLES)
)
DATA = {"baskets": SAMPLE, "coat": COAT, "hghs": HGHS, "moles": MOLES, "groups": GROUPS}
PRIVACY, UTILITY = "a,b,c\nd,e,f,g,h\n", "a,b\nc\nd\ne,f,g,h\n"
INPUTS: dict[str, str | bytes] = {
    **{f"{name}.csv": dump(rows, "basket") for name, rows in DATA.items()},
    "moles.csv": MOLES_FILE,
    "tree.csv": HIERARCHY,
    "paper-tree.csv": "a;H;P;T\nb;H;P;T\nc;K;P;T\nd;K;P;T\nf;J;Q;T\ng;J;Q;T\nx;M;Q;T\ny;M;Q;T\nz;M;Q;T\n"
    "e;T\ni;T\n",
    "P.txt": PRIVACY,
    "U.txt": UTILITY,
    "S.txt": "1\n2\n3\n",
}
BAD_CONSTRAINTS = {"bad.txt": "a,b,c\n\nd,zz\n", "overlap.txt": "a,b\nb,c\nzz\n\n"}
COHERENCE = {"model": "coherence", "h": 0.5, "k": 3, "p": 3, "private": ["1", "2", "3"]}


@dataclass(frozen=True)
class Promise:
    """A run of `anonymize`, how its guarantee is described to `verify`, and what should come of it."""

    data: str
    options: str
    promise: str  # for `anonymize` and `verify` alike
    guarantee: dict[str, Any]
    summary: list[str]
    tree: str = ""
    kind: str = "global"
    too_much: str = ""  # a guarantee that the release does not keep
    suppressed: list[str] = field(default_factory=list)

    @property
    def rows(self) -> list[Row]:
        return DATA[self.data]

    @property
    def hierarchy(self) -> list[str]:
        return ["--hierarchy", self.tree] if self.tree else []


RUNS = {
    "lg": Promise(
        "baskets", "-a lg", "--k 4", {"model": "k-anonymity", "k": 4},
        ["one of at least 4 that are the same", "Labels of different levels overlap"],
        tree="tree.csv", kind="local", too_much="--k 5",
    ),
    "hghs": Promise(
        "hghs", "-a hghs --bound", "--k 2 --m inf", {"model": "km-anonymity", "k": 2, "m": "inf"},
        ["knows any number of items", "at least 2 rows", "suppressed", "Proven: the smallest loss (LM)"],
        tree="paper-tree.csv", too_much="--k 3 --m inf", suppressed=["i"],
    ),
    "mhghs": Promise(
        "hghs", "-a mhghs --bound", "--k 2 --m inf", {"model": "km-anonymity", "k": 2, "m": "inf"},
        ["at least 2 rows", "11% above the smallest loss (LM) possible with this hierarchy"],
        tree="paper-tree.csv", too_much="--k 3 --m inf", suppressed=["i"],
    ),
    "coat": Promise(
        "coat", "-a coat --utility U.txt --list-members --max-suppressed-items 15%", "--k 5 --privacy P.txt",
        {"model": "constraints", "k": 5, "itemsets": 2},
        ["one of 2 protected sets", "at least 5 rows", "4 (9.8%) are suppressed"],
        too_much="--k 6 --privacy P.txt", suppressed=["d"],
    ),
    "coat-tree": Promise(
        "baskets", "-a coat --utility siblings --max-suppressed-items 50%", "--k 4 --privacy all --m 2",
        {"model": "constraints", "k": 4, "m": 2},
        ["knows up to 2 items", "at least 4 rows"],
        tree="tree.csv", too_much="--k 30 --privacy all --m 2",
    ),
    "border": Promise(
        "moles", "-a border --k-nugget 4 --p-nugget inf", "--h 0.5 --k 3 --p 3 --private S.txt", COHERENCE,
        ["knows up to 3 public items", "no private item (3 named) with a probability above 0.5"],
        too_much="--h 0.5 --k 5 --p 3 --private S.txt", suppressed=["a", "b", "c", "d"],
    ),
    "mm": Promise(
        "moles", "-a mm", "--h 0.5 --k 3 --p 3 --private 1,2,3", COHERENCE,
        ["knows up to 3 public items", "at least 3 rows", "are suppressed"],
        too_much="--h 0.5 --k 5 --p 3 --private 1,2,3", suppressed=["a", "b", "c", "d"],
    ),
    "cahd": Promise(
        "groups", "-a cahd", "--p 2 --sensitive viagra,pregnancy_test",
        {"model": "privacy-degree", "p": 2, "sensitive": ["pregnancy test", "viagra"]},
        ["at most one row in 2", "above 0.5", "published as counts of groups"],
        kind="grouped", too_much="--p 6 --sensitive viagra,pregnancy_test",
    ),
}  # fmt: skip
MODEL_FILES = {"local": set[str](), "global": {"internal/recoding.csv"}, "grouped": {"published/groups.csv"}}


def has_counts(name: str) -> bool:
    """Return whether supports of items may be published with the rows: not if some items are sensitive."""
    return RUNS[name].guarantee["model"] in {"km-anonymity", "k-anonymity", "constraints"}


def words_of(text: str) -> list[str]:
    """Split options; an underscore represents a blank."""
    return [word.replace("_", " ") for word in text.split()]


def anonymizing(name: str, out: str, *more: object) -> list[object]:
    run = RUNS[name]
    options = [*words_of(run.options), *words_of(run.promise), *run.hierarchy]
    return ["anonymize", f"{run.data}.csv", *options, "--out", out, *more]


def verifying(name: str, target: object, promise: str | None = None) -> list[object]:
    run = RUNS[name]
    model = ["--model", run.guarantee["model"]]
    return ["verify", target, *model, *words_of(run.promise if promise is None else promise)]


def json_of(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def messages_of(done: Done) -> str:
    """Return the text on standard error, without the note of the very first run."""
    return done.err.replace("compiling, first run only\n", "")


def place_of(out: Path, n: int) -> list[int]:
    header, *lines = table(out / "internal" / "rows.csv")
    assert header == ["input_row", "published_row"]
    assert [int(i) for i, _ in lines] == list(range(n))
    place = [int(j) for _, j in lines]
    assert sorted(place) == list(range(n))
    return place


def recoding_of(out: Path) -> dict[str, str]:
    header, *lines = table(out / "internal" / "recoding.csv")
    assert header == ["item", "published"]
    assert len({item for item, _ in lines}) == len(lines)
    return {item: label for item, label in lines}  # noqa: C416  (checks the width)


def members_of(out: Path) -> dict[str, set[str]]:
    """Return the items that each published label represents; labels not in it represent themselves."""
    return {label: set(items) for label, items in json_of(out / "published" / "about.json")["labels"].items()}


def groups_of(published: Path) -> tuple[list[Row], list[int], list[dict[str, int]]]:
    """Read a release in groups by hand: rows, sizes of the groups, counts of their sensitive items."""
    header, *lines = table(published / "data.csv")
    assert header == ["group", "row", "item"]
    header, *counts = table(published / "groups.csv")
    assert header == ["group", "item", "count"]
    sizes = [int(size) for _, item, size in counts if not item]
    assert [int(g) for g, item, _ in counts if not item] == list(range(len(sizes)))
    hidden: list[dict[str, int]] = [{} for _ in sizes]
    for g, item, count in counts:
        if item:
            hidden[int(g)][item] = int(count)
    rows: list[set[str]] = [set() for _ in range(sum(sizes))]
    first = [sum(sizes[:g]) for g in range(len(sizes))]
    for g, row, item in lines:
        assert 0 <= int(row) - first[int(g)] < sizes[int(g)]
        rows[int(row)].add(item)
    return [frozenset(row) for row in rows], sizes, hidden


def degree_of(sizes: list[int], hidden: list[dict[str, int]]) -> Fraction:
    pairs = zip(sizes, hidden, strict=True)
    return min(Fraction(size, count) for size, counts in pairs for count in counts.values())


def moles_of(rows: Sequence[Row], h: Fraction, k: int, p: int, private: set[str]) -> dict[Row, int]:
    """List by brute force the sets of public items that find few rows or betray a private item."""
    public = sorted({item for row in rows for item in row} - private)
    out = {}
    for size in range(p + 1):
        for itemset in combinations(public, size):
            found = [row for row in rows if set(itemset) <= row]
            if not found:
                continue
            likely = max((sum(s in row for row in found) for s in private), default=0)
            if len(found) < k or likely > h * len(found):
                out[frozenset(itemset)] = len(found)
    return out


def minimal_of(itemsets: dict[Row, int]) -> set[Row]:
    return {s for s in itemsets if not any(other < s for other in itemsets)}


def threats_of(rows: Sequence[Row], image: set[str], k: int) -> dict[Row, int]:
    """List the parts of an itemset that some rows hold, but fewer than k."""
    out = {}
    for size in range(1, len(image) + 1):
        for itemset in combinations(sorted(image), size):
            support = sum(set(itemset) <= row for row in rows)
            if 0 < support < k:
                out[frozenset(itemset)] = support
    return out
