"""The verifier of rows in classes, against all worlds of tiny releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import product
from random import Random

import numpy as np

from class_releases import class_rows, counts_of, drawn, drawn_rows, members_of, published
from naive import classes as naive
from naive.km import supports
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.class_counts import ClassCountsFile, check_class_counts
from setveil.judges.guarantees.verify.classes import KmClassesVerdict, classes_of, verify_classes
from setveil.rows.data.transactions import Transactions
from strategies import examples


def parts_of(release: naive.Release) -> list[Transactions]:
    rows = class_rows(release)
    return classes_of(rows, rows.sizes.tolist())


def file_of(release: naive.Release) -> ClassCountsFile:
    counts = counts_of(release)
    return ClassCountsFile(counts.lines(), counts.least, counts.untold, members_of(release))


def verdict_of(release: naive.Release, k: int = 2) -> list[str]:
    return list(check_class_counts(parts_of(release), file_of(release), k).first)


def meanings(release: naive.Release) -> Iterator[naive.Release]:
    """List all images that readers consider possible: an item that no row shows is suppressed or absent."""
    hidden = [
        (c, item)
        for c in range(len(release.rows))
        for item in release.items
        if release.seen(c, item) is None and not release.countable[c]
    ]
    whole = [{item: release.seen(c, item) for item in release.items} for c in range(len(release.rows))]
    for choice in product((None, "absent"), repeat=len(hidden)):
        images = [dict(image) for image in whole]
        for (c, item), to in zip(hidden, choice, strict=True):
            images[c][item] = to
        yield replace(release, images=images)


def possible(release: naive.Release) -> bool:
    return any(naive.Worlds(one).tables for one in meanings(release))


def test_what_is_published_passes() -> None:
    rng = Random(11)
    for _ in range(examples(1000, 100)):
        release = drawn(rng)
        assert verdict_of(release) == [], release
        verdict = verify_classes(parts_of(release), KmAnonymity(2, 2))
        assert verdict.holds
        found = [n for rows in release.rows for n in supports(rows, 2).values()]
        sizes = [len(rows) for rows in release.rows]
        assert verdict.found()["greatest_k"] == (min(*found, *sizes) if found else None)
        beyond = [n for rows in release.rows for n in supports(rows, 3).values()]
        assert (verdict.greatest_m > 2) == (min(beyond, default=2) >= 2)


def changed(rng: Random, release: naive.Release) -> naive.Release:
    lines, totals = dict(release.lines), dict(release.totals)
    what = rng.random()
    if what < 0.35 and lines:
        cell = rng.choice(sorted(lines))
        lines[cell] = max(1, lines[cell] + rng.choice((-1, 1)))
    elif what < 0.55 and lines:
        del lines[rng.choice(sorted(lines))]
    elif what < 0.75 and totals:
        item = rng.choice(sorted(totals))
        totals[item] = max(1, totals[item] + rng.choice((-1, 1, 2)))
    elif what < 0.9 and totals:
        del totals[rng.choice(sorted(totals))]
    else:
        totals[rng.choice(release.items)] = rng.choice((2, 3, 4))
    return replace(release, lines=lines, totals=totals)


def test_a_release_passes_if_and_only_if_some_rows_can_be_behind_it() -> None:
    rng, wrong = Random(12), 0
    for _ in range(examples(1000, 80)):
        release = drawn(rng, classes=rng.choice((1, 2, 2)))
        for _ in range(rng.choice((1, 1, 2))):
            release = changed(rng, release)
        found = verdict_of(release)
        assert (not found) == possible(release), (release, found)
        wrong += bool(found)
    assert wrong > examples(1000, 80) // 4


def test_rows_of_every_class_are_looked_at() -> None:
    rng, broken = Random(13), 0
    for _ in range(examples(300, 50)):
        original, images = drawn_rows(rng)
        shown: list[naive.Image] = [{item: item for item in image} for image in images]
        release = published(original, shown, 2)
        verdict = verify_classes(parts_of(release), KmAnonymity(2, 2), show=100)
        assert isinstance(verdict, KmClassesVerdict)
        listed = {
            (c, frozenset(itemset), n)
            for c, (itemset, n) in zip(verdict.of_class, verdict.first, strict=True)
        }
        expected = {
            (c, some, n)
            for c, rows in enumerate(release.rows)
            for some, n in supports(rows, 2).items()
            if n < 2
        }
        assert verdict.holds == (not expected)
        assert listed == expected
        broken += bool(expected)
    assert broken


def test_a_class_needs_k_rows() -> None:
    release = published([[frozenset("a")] * 3, [frozenset("a")] * 3], [{"a": "a"}, {"a": None}], 2)
    rows = class_rows(release)
    verdict = verify_classes(classes_of(rows, [3, 2]) + classes_of(rows[:1], [1]), KmAnonymity(2, 1))
    assert not verdict.holds
    assert {"class": 2, "itemset": [], "support": 1} in verdict.listed()
    assert np.isfinite(verdict.violations)


def test_no_count_may_be_of_fewer_than_k_rows() -> None:
    release = published(
        [[frozenset("a")] * 3, [frozenset("b")] * 3], [{"a": "a", "b": None}, {"b": "b", "a": None}], 2
    )
    assert "the least count is 2, which is less than k = 3" in verdict_of(release, k=3)
    assert not any("the least count" in said for said in verdict_of(release, k=2))
