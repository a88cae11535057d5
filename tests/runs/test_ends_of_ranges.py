"""No end of a published range is a value of fewer than k rows; exchanging such values leaves no trace."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

import setveil as sv
from setveil.rows.tables.ends import in_cells
from setveil.rows.tables.levels import Levels
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier, quasi_identifier, range_in
from strategies import many
from tables import fast, random_tables

TREE = {"I21": "heart", "I50": "heart", "J18": "lung", "J44": "lung", "heart": "*", "lung": "*", "*": None}


def published(folder: Path) -> dict[str, bytes]:
    """Read all that is shared."""
    return {path.name: path.read_bytes() for path in (folder / "published").iterdir()}


def some_table(random: Random, n: int) -> pl.DataFrame:
    """Draw persons, most of them with one of a few ages."""
    codes = [code for code in TREE if code.isalnum() and code[0] in "IJ"]
    ages = [str(random.choice([30, 31, 32, 40, 45, 50, 50])) for _ in range(n - 3)]
    return pl.DataFrame(
        {
            "age": [*ages, "19", "98", "99"],
            "sex": [random.choice("FM") for _ in range(n)],
            "codes": [random.sample(codes, random.randint(1, 2)) for _ in range(n)],
        }
    )


def column_of(values: list[str]) -> QuasiIdentifier:
    """Make a column of numbers."""
    texts = sorted(set(values))
    return quasi_identifier("x", pl.Series([texts.index(v) for v in values]).to_numpy(), texts, numeric=True)


@pytest.mark.parametrize("algorithm", ["rt", "bounding"])
def test_rare_values_are_exchanged_without_a_trace(algorithm: str, tmp_path: Path) -> None:
    random, moved, same = Random(3), 0, 0
    for seed in range(many(6)):
        frame = some_table(random, 60)
        found = []
        for last in ("98", "97", "120"):
            ages = [*frame["age"].to_list()[:-2], last, "99"]
            data = sv.read_table(frame.with_columns(age=pl.Series(ages)), qi=["age", "sex"], set="codes")
            made = sv.anonymize(
                data, sv.KKmAnonymity(k=5, m=1), hierarchy=sv.Hierarchy(TREE), algorithm=algorithm, seed=seed,
                details=False,
            )  # fmt: skip
            made.write(tmp_path / last, force=True)
            found.append((made.recoding.made.part.tolist(), published(tmp_path / last)))
        for part, files in found[1:]:
            if part != found[0][0]:
                moved += 1
                continue
            assert files == found[0][1]
            same += 1
    assert same > moved


def test_every_end_is_shared_or_reached() -> None:
    random = Random(4)
    for _ in range(many(200)):
        k = random.randint(2, 5)
        values = [str(random.choice([random.randint(0, 9), random.randint(0, 99)])) for _ in range(40)]
        column, numbers = in_cells(column_of(values), k), [Fraction(value) for value in values]
        for least in range(column.n_values):
            for greatest in range(least, column.n_values):
                label = column.label_of(least, greatest)
                if label == "*":
                    continue
                ends = range_in(label) or (f"[{label}", f"{label}]")
                for end in (ends[0][1:], ends[1][:-1]):
                    if not end:
                        continue
                    number = Fraction(end)
                    shared = numbers.count(number) >= k
                    below, above = sum(x < number for x in numbers), sum(x >= number for x in numbers)
                    assert shared or (below >= k and above >= k), (label, end)


def test_cells_are_those_of_the_twin() -> None:
    for rng, slow in random_tables(300, 6, most_rows=20):
        k = rng.randint(1, 5)
        for column, other in zip(fast(slow).columns, slow.with_cells(k).columns, strict=True):
            made = in_cells(column, k)
            assert [made.labels[code] for code in made.codes] == [other.label([v]) for v in other.values]
            for _ in range(min(slow.n, 5)):
                part = rng.sample(range(slow.n), rng.randint(1, slow.n))
                codes = made.codes[part]
                least, greatest = np.array([codes.min()]), np.array([codes.max()])
                assert made.label_of(int(least[0]), int(greatest[0])) == other.label(
                    other.values[i] for i in part
                )
                lost = other.loss(other.values[i] for i in part)
                assert Fraction(int(made.loss_of(least, greatest)[0]), max(made.full, 1)) == lost


def test_labels_are_read_back() -> None:
    random = Random(5)
    for _ in range(many(200)):
        k = random.randint(2, 5)
        values = [
            random.choice([str(random.randint(0, 9)), f"{random.randint(0, 999) / 10}"]) for _ in range(30)
        ]
        fine = column_of(values)
        column = in_cells(fine, k)
        labels = set()
        for least in range(column.n_values):
            for greatest in range(least, column.n_values):
                label = column.label_of(least, greatest)
                assert label == "*" or label not in labels
                labels.add(label)
                inside = {
                    int(a) for a, b in zip(fine.codes, column.codes, strict=True) if least <= b <= greatest
                }
                assert fine.interval_of(label) == (min(inside), max(inside))


def test_values_that_enough_rows_share_stay_as_they_are() -> None:
    column = column_of(["7", "7", "8", "8", "9", "9"])
    assert in_cells(column, 2) is column
    assert [in_cells(column_of(["7", "8", "9", "9"]), 2).label_of(*ends) for ends in ((0, 0), (0, 1))] == [
        "<9",
        "<=9",
    ]


@pytest.mark.parametrize("algorithm", ["rt", "bounding"])
def test_outer_ranges_end_at_declared_bounds(algorithm: str, tmp_path: Path) -> None:
    frame, found = some_table(Random(5), 60), []
    for last in ("98", "120"):
        ages = [*frame["age"].to_list()[:-2], last, "99"]
        data = sv.read_table(
            frame.with_columns(age=pl.Series(ages)), qi=["age", "sex"], set="codes", bounds={"age": "0..120"}
        )
        made = sv.anonymize(
            data, sv.KKmAnonymity(k=5, m=1), hierarchy=sv.Hierarchy(TREE), algorithm=algorithm, details=False
        )
        labels = made.release.exposed().columns[0].labels
        assert not [label for label in labels if label[0] in "<>"]
        assert [label for label in labels if label.endswith(",120]")]
        made.write(tmp_path / last)
        assert sv.verify(tmp_path / last).holds
        found.append(published(tmp_path / last))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ("20..60", "3 values beyond the bounds 20 and 60"),
        ("60..20", "must rise"),
        ("20", "must be two numbers"),
        ((1, "x"), "must be a number"),
    ],
)
def test_bounds_that_cannot_be(bounds: object, reason: str) -> None:
    with pytest.raises(sv.SetveilError, match=reason):
        sv.read_table(some_table(Random(5), 60), qi=["age", "sex"], set="codes", bounds={"age": bounds})


def test_bounds_are_for_numbers_without_a_hierarchy() -> None:
    for more in ({"categorical": ["age"]}, {"hierarchies": {"age": "prefix:1"}}):
        with pytest.raises(sv.SetveilError, match="has bounds"):
            sv.read_table(some_table(Random(5), 60), qi=["age"], set="codes", bounds={"age": "0..9"}, **more)
    with pytest.raises(sv.SetveilError, match="no numbers"):
        sv.read_table(some_table(Random(5), 60), qi=["sex"], set="codes", bounds={"sex": "0..9"})


def test_no_single_row_decides_how_wide_built_ranges_are() -> None:
    frame = some_table(Random(6), 60)
    labels = []
    for last in ("98", "2000"):
        ages = [*frame["age"].to_list()[:-1], last]
        data = sv.read_table(frame.with_columns(age=pl.Series(ages)), qi=["age"], set="codes", ranges=["age"])
        labels.append({label for label in data.columns[0].labels if label.startswith("[3")})
    assert labels[0] == labels[1]


@pytest.mark.parametrize("way", ["prefix", "ranges", "dates"])
def test_a_file_that_was_built_from_a_column_lists_none_of_its_values(way: str) -> None:
    rng = Random(7)
    values = {
        "prefix": lambda: f"{rng.choice('12')}0{rng.randint(100, 130)}",
        "ranges": lambda: str(rng.randint(20, 60)),
        "dates": lambda: f"2024-{rng.randint(1, 12):02}-{rng.randint(1, 28):02}",
    }
    frame = pl.DataFrame(
        {"x": [values[way]() for _ in range(60)], "codes": [rng.choice(["I21", "J18"]) for _ in range(60)]}
    )
    parents = Levels(way).parents_of("x", frame["x"].to_list())
    for more in ([], [("none", "group"), ("group", "*")]):  # a value of one's own is no value of the column
        tree = sv.Hierarchy({**parents, **dict(more)})
        data = sv.read_table(frame, qi=["x"], set="codes", hierarchies={"x": tree})
        made = sv.anonymize(data, sv.KKmAnonymity(k=5, m=1), hierarchy=sv.Hierarchy(TREE), details=False)
        about = made.release.about(made.report)
        assert bool(about["columns"]["x"]) == bool(more)
