"""Rows drawn from tables and from rows in groups: consistent with all that is published."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from naive import reconstruct as naive
from setveil.base.errors import DataError, GuaranteeError
from setveil.judges.reconstruction.groups import require_dealt
from setveil.kernels.rows import frozen
from setveil.releases.published.group_files import PublishedGroups
from strategies import either, enough, examples, seeded

TREE = {"x": ["a", "b", "c"], "y": ["d", "e"], "f": None}


def table_of(rng: Random) -> sv.Table:
    n = rng.randint(6, 40)
    codes = [sorted(set(rng.choices("abcdef", range(6, 0, -1), k=rng.randint(0, 4)))) for _ in range(n)]
    frame = pl.DataFrame(
        {
            "age": [rng.choice("123456") for _ in range(n)],
            "sex": [rng.choice("FM") for _ in range(n)],
            "codes": codes,
            "outcome": [rng.choice(("home", "died", None)) for _ in range(n)],
        },
        schema_overrides={"codes": pl.List(pl.String)},
    )  # fmt: skip
    return sv.read_table(
        frame, qi=["age", "sex"], set="codes", keep=["outcome"], ranges=["age"], hierarchies={"codes": TREE}
    )


@pytest.mark.exhaustive
@pytest.mark.parametrize("how", ["rt", "forest", "bounding"])
def test_draws_of_a_table_are_consistent_with_it(how: str, tmp_path: Path) -> None:
    rng = seeded(31)
    done = local = hidden = 0
    for number in range(enough(either(40, 8))):
        table = table_of(rng)
        try:
            release = sv.anonymize(table, k=rng.choice((2, 3)), m=rng.choice((1, 2)), algorithm=how)
        except sv.InfeasibleError:
            continue
        counts = release.counts
        if counts is None or not (release.published.n_items or counts.items):
            continue
        done += 1
        drawn = sv.reconstruct(release, draws=2, seed=number, mix=number % 3)
        said: Any = release.release
        labels = said.meaning()["labels"]
        under = {x: set(labels.get(x, [x])) for x in release.published.vocabulary.labels}
        lines = counts.lines()
        local += any(item != label for item, label, _ in lines if label)
        hidden += any(not label for _, label, _ in lines)
        frame = release.to_polars()
        for j, draw in enumerate(drawn):
            assert draw.to_polars().drop("codes").equals(frame.drop("codes"))
            rows = [frozenset(row) for row in drawn.rows[j]]
            published = [frozenset(row) for row in release.published]
            twin = naive.reconstruct(published, labels, lines, counts.least, number + j, number % 3)
            assert rows == twin
            found: Counter[tuple[str, str]] = Counter()
            for row, shown in zip(rows, published, strict=True):
                assert {label for label in shown if row & under[label]} == shown
                for item in row:
                    above = [label for label in shown if item in under[label]]
                    assert len(above) <= 1
                    found[item, above[0] if above else ""] += 1
            assert all(found[item, label] == n for item, label, n in lines)
            listed = {(item, label) for item, label, _ in lines}
            assert all(n < counts.least for pair, n in found.items() if pair not in listed)
        release.write(tmp_path / "run", force=True)
        again = sv.reconstruct(tmp_path / "run", draws=2, seed=number, mix=number % 3)
        assert [draw.to_polars().rows() for draw in again] == [draw.to_polars().rows() for draw in drawn]
        drawn.write(tmp_path / "draws", force=True)
        assert sv.measure(table, tmp_path / "draws") == sv.measure(table, drawn)
    assert done >= 4
    assert local
    assert hidden or how == "bounding"


def grouped(rng: Random) -> tuple[list[list[str]], sv.VerifiedRelease]:
    rows = [sorted(set(rng.choices("abcdst", k=rng.randint(0, 4)))) for _ in range(rng.randint(8, 30))]
    release = sv.anonymize([*rows, *([] for _ in range(30))], sv.PrivacyDegree(p=2, sensitive=["s", "t"]))
    return rows, release


def test_draws_of_groups_are_consistent_and_those_of_the_twin(tmp_path: Path) -> None:
    rng = seeded(5)
    for seed in range(examples(30, 8)):
        rows, release = grouped(rng)
        groups: PublishedGroups = release.release.exposed()
        frame = release.to_polars()
        counts = [
            (int(g), groups.sensitive.labels[groups.item[line]], int(groups.count[line]))
            for g in range(groups.n_groups)
            for line in range(groups.indptr[g], groups.indptr[g + 1])
        ]
        release.write(tmp_path / "run", force=True)
        drawn = sv.reconstruct(tmp_path / "run", draws=2, seed=seed)
        read = sv.read_published(tmp_path / "run")
        own = [frozenset(row) for row in read.to_polars()["items"].to_list()]
        assert sorted(map(sorted, own)) == sorted(map(sorted, frame["items"].to_list()))
        group = read.to_polars()["group"].to_list()
        for j, draw in enumerate(drawn.rows):
            made = [frozenset(row) for row in draw]
            assert made == naive.in_groups(own, group, counts, seed + j)
            assert naive.supports(made) == naive.supports([frozenset(row) for row in rows])
        assert [list(draw) for draw in sv.reconstruct(release, draws=2, seed=seed).rows] == [
            list(draw) for draw in drawn.rows
        ]
        assert drawn.write(tmp_path / "draws", force=True)["rows"] == release.published.n_rows
        measured = sv.measure(rows, tmp_path / "draws")
        assert measured["items"]["of_mean"] == 0
        assert measured == sv.measure(rows, drawn)


def test_each_row_of_a_group_is_as_likely() -> None:
    release = sv.anonymize([["a", "s"], ["a"], ["b"], ["b"]], sv.PrivacyDegree(p=4, sensitive=["s"]))
    draws = sv.reconstruct(release, draws=2000).rows
    times = Counter(next(r for r, row in enumerate(draw) if "s" in row) for draw in draws)
    assert set(times) == {0, 1, 2, 3}
    assert sum((n - 500) ** 2 / 500 for n in times.values()) < 25  # chi-square, 3 degrees of freedom


def test_counts_of_groups_that_cannot_be_are_refused() -> None:
    groups: PublishedGroups = sv.anonymize(
        [["a", "s"], ["a"], ["b"], ["b"]], sv.PrivacyDegree(p=2, sensitive=["s"])
    ).release.exposed()
    with pytest.raises(DataError, match="has 2 rows, and 5 of them contain 's'"):
        sv.reconstruct(replace(groups, count=frozen(np.array([5]), np.int64)))
    drawn = sv.reconstruct(groups, draws=1).rows[0]
    require_dealt(groups, drawn)
    for wrong in (groups.qid, drawn[1:]):
        with pytest.raises(GuaranteeError, match="contradict the release"):
            require_dealt(groups, wrong)


def test_a_table_without_counts_says_what_is_missing(tmp_path: Path) -> None:
    release = sv.anonymize(table_of(seeded(2)), k=2, m=1, counts=False)
    with pytest.raises(DataError, match="no counts of items") as caught:
        sv.reconstruct(release)
    assert "kkm" in caught.value.hint
    drawn = sv.reconstruct(sv.anonymize(table_of(seeded(2)), k=2, m=1), draws=1)
    with pytest.raises(sv.RequestError, match="written as csv, not as fimi"):
        drawn.write(tmp_path / "draws", format="fimi")
    assert repr(drawn).startswith("Reconstruction: 1 draw, each PublishedTable: ")
