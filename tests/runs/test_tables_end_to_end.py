"""Tables from a file to a folder and back: the release equals that of the twin, and its record is true."""

from __future__ import annotations

import csv
import json
from collections import Counter
from fractions import Fraction
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from naive import rt_table, rt_verify
from naive.anonymize import leaves
from naive.rt_table import MISSING, Column, flat
from strategies import many, random_rows, random_tree, seeded
from tables import under_a_root

TEXTS = (
    "a",
    "x,y",
    "[1,2]",
    "a;b",
    'q"q',
    "line\nbreak",
    "é",
    "*x",
    "0",
    "(1)",
    "a b",
    "'",
    "#",
    "=1",
    "NaN",
)
ITEMS = ("I1", "a,b", "[1,2]", "c;d", 'e"f', "g h", "x\ny", "*", "items", "q0", "7")


Line = tuple[tuple[str, ...], frozenset[str], str]  # labels, items, kept values


def drawn(rng: Random) -> rt_table.Table:
    """Two columns, of numbers and of texts, some of whose values are missing."""
    n = rng.randint(4, 14)
    numbers = rt_table.numbers([rng.choice(("1", "2.5", "-3", "40", "41", "41.0", "")) for _ in range(n)])
    pool = rng.sample(TEXTS, rng.randint(2, 5))
    texts = tuple(rng.choice([*pool, MISSING]) for _ in range(n))
    tree = flat(texts) if rng.random() < 0.5 else under_a_root(random_tree(rng, pool))
    columns = (Column("age", numbers, numeric=True), Column("town, or so", texts, tree))
    some = rng.sample(ITEMS, rng.randint(2, 5))
    return rt_table.Table(columns, tuple(random_rows(rng, some, n, 3)), under_a_root(random_tree(rng, some)))


def field(items: frozenset[str]) -> str:
    """The items of a row as one field."""
    return ";".join('"' + item.replace('"', '""') + '"' for item in sorted(items))


def written(path: Path, slow: rt_table.Table, kept: list[str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        out = csv.writer(file)
        out.writerow(["id", *(column.name for column in slow.columns), "codes", "kept"])
        for row in range(slow.n):
            values = [column.values[row] for column in slow.columns]
            out.writerow([row, *values, field(slow.sets[row]), kept[row]])
    return path


def published(folder: Path) -> tuple[list[str], list[Line]]:
    """Read the published files with Python's own csv only."""
    with (folder / "published" / "data.csv").open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file, strict=True)
    out: list[Line] = []
    for row in rows:
        items = (
            next(csv.reader([row[2]], delimiter=";", strict=True), [])
            if "\n" not in row[2]
            else split(row[2])
        )
        out.append(((row[0], row[1]), frozenset(items), row[3]))
    return header, out


def split(text: str) -> list[str]:
    return [
        item
        for line in csv.reader(text.splitlines(keepends=True), delimiter=";", strict=True)
        for item in line
    ]


@pytest.mark.parametrize(
    ("algorithm", "mixed"), [("rt", False), ("forest", False), ("bounding", False), ("forest", True)]
)
def test_from_file_to_folder(tmp_path: Path, algorithm: str, mixed: bool) -> None:
    rng = seeded(91)
    for number in range(many(6)):
        slow = drawn(rng)
        k, m = 2, rng.choice((1, 2))
        kept = [rng.choice(("yes", "no", "", "a;b\nc")) for _ in range(slow.n)]
        path = written(tmp_path / "in.csv", slow, kept)
        names = [column.name for column in slow.columns]
        trees = {"codes": sv.Hierarchy(slow.items)}
        if set(slow.columns[1].tree.values()) != {"*", None}:  # type: ignore[union-attr]
            trees[names[1]] = sv.Hierarchy({x: up for x, up in slow.columns[1].tree.items() if x})  # type: ignore[union-attr]
        table = sv.read_table(
            path, qi=names, set="codes", keep="kept", numeric="age", categorical=names[1], hierarchies=trees
        )
        folder = tmp_path / f"{algorithm}{number}"
        promise = sv.MixedKmAnonymity if mixed else sv.KKmAnonymity
        guarantee = promise(k, m)
        release = sv.anonymize(table, guarantee, hierarchy=trees["codes"], algorithm=algorithm)
        release.write(folder)
        header, rows = published(folder)
        assert header == [*names, "codes", "kept"]
        shown = [(labels, items) for labels, items, _ in rows]
        assert (rt_verify.is_mixed_km if mixed else rt_verify.is_kkm)(shown, k, m)
        assert sv.verify(folder, guarantee).holds
        assert Counter(more for _, _, more in rows) == Counter(kept)
        check_truth(slow, folder, rows, kept)
        greatest = (rt_verify.greatest_mixed_k if mixed else rt_verify.greatest_k)(shown, m)
        assert greatest is not None
        assert not sv.verify(folder, promise(greatest + 1, m)).holds


def check_truth(slow: rt_table.Table, folder: Path, rows: list[Line], kept: list[str]) -> None:
    """Check that every row's labels represent its values, and that internal files agree with them."""
    with (folder / "internal" / "rows.csv").open(encoding="utf-8", newline="") as file:
        pairs = list(csv.DictReader(file))
    for pair in pairs:
        row, at = (int(number) for number in list(pair.values())[:2])
        labels, items, more = rows[at]
        assert more == kept[row]
        for column, label in zip(slow.columns, labels, strict=True):
            assert fits(label, column.values[row], column)
        for label in items:
            assert any(rt_verify.covers(frozenset({label}), item, slow.items) for item in slow.sets[row])
    about = json.loads((folder / "published" / "about.json").read_text(encoding="utf-8"))
    assert about["rows"] == slow.n
    assert all(set(inside) <= set(leaves(slow.items)) for inside in about["labels"].values())


def fits(label: str, value: str, column: Column) -> bool:
    if column.tree is not None:
        return rt_verify.fits(label, value, column.whole)
    if label.endswith(")"):  # a built range
        low, high = (Fraction(end) for end in label[1:-1].split(","))
        return value != MISSING and low <= Fraction(value) < high
    return rt_verify.fits(label, value, None)
