"""The fewest people whose rows have to stay out of the last release, for given labels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ints, frozen, take_rows
from setveil.methods.histories._forest import nothing
from setveil.methods.histories._joined import join
from setveil.methods.histories._walk import NO_OPTIONS, Walk
from setveil.rows.data.people import Appearance, SeriesPeople


def smallest(series: SeriesPeople, promise: SeriesAnonymity) -> Ints:
    """Find the fewest people to withhold, so that the last release adds nobody to those who are found.

    Everyone who is found is taken out, until nobody is; numbers are ascending. There is one smallest set: if
    two sets of people may stay, so may their union, as everyone in it has k rows in one of the two. What was
    known of someone and fitted too few people before the last release is not looked at: nothing can be done
    about it any more. If all labels of the last release are -1, these are the people to withhold whatever its
    labels are.
    """
    *earlier, last = series.releases
    held: list[Ints] = []
    while last.people.size:
        joined = join(
            [*earlier, last], series.n_people, len(series.items), promise, nothing(), (), len(earlier)
        )
        rows = Walk(joined, NO_OPTIONS).exposed(promise.m)
        found = rows[joined.row[last.people]]
        if not found.any():
            break
        held.append(last.people[found])
        last = without(last, found)
    return np.sort(np.concatenate([np.zeros(0, np.int64), *held]))


def without(release: Appearance, gone: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Appearance:
    """Take people out of a release: bool (its people,)."""
    indptr, items = take_rows(
        frozen(release.indptr, np.int64), frozen(release.items, np.int32), np.flatnonzero(~gone)
    )
    return replace(release, people=release.people[~gone], indptr=indptr, items=items)
