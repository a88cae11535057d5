"""Rows that are drawn: by their content and the seed, whatever the order of the input."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import setveil, write
from setveil.judges.attacker import distances
from setveil.releases.published.facts import FactsRelease
from setveil.rows.data.draws import row_keys
from setveil.runs.options.inputs import draw_rows, draw_rows_again
from strategies import seeded

ROWS = st.lists(st.frozensets(st.sampled_from("abcd")).map(sorted), min_size=1, max_size=30)


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 3))
def test_rows_keep_their_numbers_in_another_order(rows: list[list[str]], rng: Random, seed: int) -> None:
    def pairs(rows: list[list[str]]) -> list[tuple[list[str], int]]:
        keys = row_keys(sv.Transactions.from_rows(rows), seed).tolist()
        assert len(set(keys)) == len(rows)
        return sorted(zip(rows, keys, strict=True))

    found = pairs(rows)
    moved = rng.sample(rows, len(rows))
    assert pairs(moved) == found
    # Rows keep them if items are added that others have.
    assert set(map(str, found)) <= set(map(str, pairs([["A", "b2", "z"], *moved])))
    assert row_keys(sv.Transactions.from_rows(rows), seed + 1).tolist() != [key for _, key in found]


@given(ROWS, st.randoms(use_true_random=False), st.integers(0, 25), st.integers(0, 3))
def test_samples_are_the_same_in_another_order(
    rows: list[list[str]], rng: Random, number: int, seed: int
) -> None:
    one = sv.Transactions.from_rows(rows)
    two = sv.Transactions.from_rows([rng.sample(row, len(row)) for row in rng.sample(rows, len(rows))])
    assert sorted(draw_rows(one, number, seed)) == sorted(draw_rows(two, number, seed))
    again = sorted(draw_rows_again(one, seed))
    assert again == sorted(draw_rows_again(two, seed))
    assert len(again) == len(rows)
    assert set(again) <= set(map(tuple, rows))


def test_all_rows_are_equally_likely() -> None:
    """Rows that are alike, too: those of a content are drawn as often as they occur."""
    rows = [["a"]] * 30 + [["a", "b"]] * 10 + [[]] * 10 + [[f"{number}"] for number in range(10)]
    data = sv.Transactions.from_rows(rows)
    drawn = Counter(row for seed in range(200) for row in draw_rows(data, 20, seed))
    again = Counter(row for seed in range(200) for row in draw_rows_again(data, seed))
    for row, times in Counter(map(tuple, rows)).items():
        assert abs(drawn[row] / (200 * times) - 1 / 3) < 0.15
        assert abs(again[row] / (200 * times) - 1) < 0.25


def ward(rng: Random) -> list[str]:
    codes = ["I21", "J18", "E11"]
    ages, wards = (30, 41, 52), ("", "x", "y")
    some = [";".join(rng.sample(codes, rng.randint(1, 2))) for _ in range(60)]
    return [f"{rng.choice(ages)},{rng.choice(wards)},{one}" for one in some]


def stays(rng: Random) -> list[str]:
    days = [f"2024-0{month}-11" for month in (1, 2, 3)]
    return [f"{rng.randrange(100, 160)},{rng.choice('abc')},{rng.choice(days)}" for _ in range(200)]


def in_other_order(lines: list[str], rng: Random) -> list[str]:
    """Give persons other places; the lines of one stay together, in their order."""
    persons = {line.split(",")[0] for line in lines}
    place = dict(zip(sorted(persons), rng.sample(range(len(persons)), len(persons)), strict=True))
    return sorted(lines, key=lambda line: place[line.split(",")[0]])


def baskets(rng: Random) -> list[str]:
    return [",".join(rng.sample("abcd", rng.randint(1, 3))) for _ in range(60)]


CASES = {
    "items": ("", baskets, "--format basket"),
    "table": ("age,ward,codes", ward, "--model kkm --qi age --keep-columns ward --set codes"),
    "facts": ("patient,code,on", stays, "--id-column patient --set code --when on:quarter"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_sample_is_published_alike_in_another_order(case: str, tmp_path: Path) -> None:
    header, lines_of, options = CASES[case]
    rng, seen = seeded(41), []
    lines = lines_of(rng)
    for name in ("one", "two"):
        text = [header, *lines] if header else lines
        write(tmp_path / f"{name}.csv", "\n".join([*text, ""]))
        draw_options = f"{options} --k 2 --m 2 --sample 25 --seed 5 --no-details --out {name}".split()
        done = setveil("anonymize", f"{name}.csv", *draw_options, cwd=tmp_path)
        assert done.code == 0, done.err
        seen.append({path.name: path.read_bytes() for path in (tmp_path / name / "published").iterdir()})
        lines = rng.sample(lines, len(lines)) if case != "facts" else in_other_order(lines, rng)
    assert seen[0] == seen[1]


def test_a_split_is_the_same_in_another_order() -> None:
    rng = seeded(42)
    rows = [rng.sample("abcdef", rng.randint(0, 4)) for _ in range(60)]
    one = sv.attack(rows, split=0.5, k=2, m=2, seed=3)
    two = sv.attack(rng.sample(rows, 60), split=0.5, k=2, m=2, seed=3)
    assert one["attacks"] == two["attacks"]


def test_people_that_distances_look_at_are_the_same_in_another_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distances, "_PEOPLE", 10)
    rng = seeded(43)
    lines, found = [tuple(line.split(",")) for line in stays(rng)], []
    for _ in range(4):
        frame = pl.DataFrame(lines, schema=["who", "code", "on"], orient="row")
        days = sv.read_facts(frame, id="who", sets="code", when={"on": "day"})
        months = sv.read_facts(frame, id="who", sets="code", when={"on": "month"})
        release = sv.anonymize(months, k=2, m=1, details=False).release
        assert isinstance(release, FactsRelease)
        found.append(distances.distance_risk_after(days, release.published, (2, 5, 10, 20, 40)))
        rng.shuffle(lines)
    assert found[0]["looked"] == 10
    assert all(one == found[0] for one in found)
