"""Draws from tiny releases in classes: each is one of the worlds of its release."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from class_releases import class_rows, counts_of, drawn, members_of
from naive import classes as naive
from setveil.base.errors import DataError
from setveil.judges.reconstruction.classes import (
    class_puzzle_of,
    reconstruct_classes,
    require_consistent_classes,
)
from setveil.releases.published.shared import Shared
from setveil.rows.data.layout import Layout
from strategies import examples


def shared_of(release: naive.Release) -> Shared:
    counts = counts_of(release)
    return Shared(class_rows(release), members_of(release), counts, {}, Layout("basket"))


def test_every_draw_is_a_world() -> None:
    rng, made = Random(21), 0
    for _ in range(examples(1000, 60)):
        release = drawn(rng)
        if not release.lines and not release.totals and not any(map(any, release.rows)):
            with pytest.raises(DataError, match="nothing to draw"):
                class_puzzle_of(shared_of(release))
            continue
        puzzle = class_puzzle_of(shared_of(release))
        rows = reconstruct_classes(puzzle, seed=made, mixing=rng.choice((0, 3)))
        require_consistent_classes(puzzle, rows)
        classes, begin, listed = [], 0, [frozenset(row) for row in rows]
        for part in release.rows:
            classes.append(listed[begin : begin + len(part)])
            begin += len(part)
        # A world has other images if no row shows a label: an absent item may have been suppressed.
        images = [{item: release.seen(c, item) for item in release.items} for c in range(len(release.rows))]
        seen = replace(release, images=images)
        again = naive.published(classes, images, release.least)
        assert again.rows == release.rows
        assert again.lines == release.lines
        sure = {item for item in release.items if seen.totalable(item)}
        assert {i: n for i, n in again.totals.items() if i in sure} == {
            i: n for i, n in release.totals.items() if i in sure
        }
        table = naive.table_of(classes, release.items)
        for item, total in release.totals.items():
            assert sum(part[release.items.index(item)] for part in table) == total
        made += 1
    assert made > examples(1000, 60) // 2


def test_draws_differ_by_their_seed() -> None:
    rng, different = Random(22), 0
    for _ in range(examples(100, 30)):
        release = drawn(rng)
        try:
            puzzle = class_puzzle_of(shared_of(release))
        except DataError:
            continue
        one, other = (reconstruct_classes(puzzle, seed).rows() for seed in (0, 1))
        assert one == reconstruct_classes(puzzle, 0).rows()
        different += one != other
    assert different


def test_counts_that_cannot_be_are_refused() -> None:
    release = naive.published([[frozenset("a")] * 2, [frozenset("b")] * 2], [{"a": "a", "b": "b"}] * 2, 2)
    wrong = replace(release, lines={**release.lines, (0, "a"): 3})
    with pytest.raises(DataError, match="contradict"):
        class_puzzle_of(shared_of(wrong))
