"""Everything that can be known of people in several releases, and the people whose rows show it.

In each release a known item shows nothing (0: the person does not have it there), a row (1: it is suppressed)
or a label (its number + 2). Items that show the same in all releases are one *variant*: knowing one is
knowing the other. A trie with a level per release numbers the variants, to find those of a row quickly.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.judges.guarantees.verify._projection import Rows, distinct_rows
from setveil.rows.data.people import Appearance, SeriesPeople

Ints = NDArray[np.int64]
LEFT_OUT, FIRST_LABEL = 1, 2  # what an item shows in a release; 0: nothing
NONE = -1  # no variant


class Trie(NamedTuple):
    """A trie; its level t has the sorted keys ``keys[starts[t]:starts[t + 1]]``, whose positions are numbers.

    A key is the number at the level before, times ``widths[t]``, plus the value shown at level t.
    """

    starts: Ints
    keys: Ints
    widths: Ints


class KnownPeople(NamedTuple):
    """Knowledge about people, equal people merged."""

    of_person: Ints  # int64 (people,): the merged row of each
    rows: Rows  # merged rows: their own variants, and how many people each represents
    pattern: Ints  # int64 (rows,): a bit per release (none if presence is ignored), and one for: unchecked
    shown: NDArray[np.int32]  # int32 (variants, releases)
    trie: Trie
    earlier: Ints  # int64 (variants,): its variant in the earlier releases alone; -1: none. May be empty


def _shown_in(release: Appearance, width: int, presence: str) -> tuple[Ints, Ints]:
    """Return the numbers of the persons' items in a release, ascending, and what it shows of each."""
    person = np.repeat(release.people, np.diff(release.indptr))
    key = person * width + release.items
    labels = np.ascontiguousarray(release.labels, np.int64)[release.items]
    left_out = 0 if presence == "ignored" else LEFT_OUT
    show = np.where(labels < 0, left_out, labels + FIRST_LABEL)
    if presence == "known":
        key = np.concatenate((key, release.people * width + (width - 1)))
        show = np.concatenate((show, np.full(release.people.size, LEFT_OUT)))
        order = np.argsort(key, kind="stable")
        key, show = key[order], show[order]
    return key, show


def known_of(series: SeriesPeople, promise: SeriesAnonymity, earlier: int = 0) -> KnownPeople:
    """Find the variants of all people, and what each showed in the `earlier` first releases (0: none)."""
    n_releases = len(series.releases)
    width = len(series.items) + 1  # one more: to be known without any item
    as_facts = promise.known == "facts"
    keys, shows = [], []
    for t, release in enumerate(series.releases):
        key, show = _shown_in(release, width, promise.presence)
        keys.append(key * n_releases + t if as_facts else key)
        shows.append(show)
    everything = _different(np.concatenate([np.zeros(0, np.int64), *keys]))
    codes, starts, levels, widths = np.zeros(everything.size, np.int64), [0], [], []
    prefix = codes
    for t, (key, show) in enumerate(zip(keys, shows, strict=True)):
        here = np.zeros(codes.size, np.int64)
        here[np.searchsorted(everything, key)] = show
        wide = int(here.max(initial=0)) + 1
        steps, codes = numbered(codes * wide + here)
        starts.append(starts[-1] + steps.size)
        levels.append(steps)
        widths.append(wide)
        if t + 1 == earlier:  # from here on, what was shown so far goes on alone, too
            prefix = codes
            codes = np.concatenate((codes, np.arange(steps.size)))
    trie = Trie(
        np.array(starts), np.concatenate([np.zeros(0, np.int64), *levels]), np.array(widths, np.int64)
    )
    shown = _shown(trie)
    before = np.zeros(0, np.int64)
    nothing = np.asarray((shown == 0).all(axis=1), bool)
    if earlier:
        before = np.full(shown.shape[0], NONE, np.int64)
        alone = codes[everything.size :]
        codes = codes[: everything.size]
        before[codes] = np.where(nothing[alone], NONE, alone)[prefix]
    person = everything // (width * n_releases if as_facts else width)
    kept = ~nothing[codes]
    n = max(shown.shape[0], 1)
    pairs = _different(person[kept] * n + codes[kept])
    bits = np.zeros(series.n_people, np.int64)
    if promise.presence != "ignored":
        for t, release in enumerate(series.releases):
            bits[release.people] |= 1 << t
    if series.unchecked is not None:
        bits[series.unchecked] |= 1 << n_releases
    patterns, pattern = np.unique(bits, return_inverse=True)
    # Where somebody is ends her row, so that none is empty and equal rows are of people who are in the same.
    lengths = np.bincount(pairs // n, minlength=series.n_people) + 1
    ends = np.cumsum(lengths)
    items = np.empty(int(ends[-1]) if ends.size else 0, np.int64)
    last = np.zeros(items.size, bool)
    last[ends - 1] = True
    items[~last], items[last] = pairs % n, n + pattern
    numbers, merged = distinct_rows(np.concatenate(([0], ends)), items)
    is_end = merged.items >= n
    where = patterns[merged.items[is_end] - n]
    indptr = merged.indptr - np.arange(merged.indptr.size)
    return KnownPeople(
        numbers - 1, Rows(indptr, merged.items[~is_end].astype(np.int64), merged.weights), where, shown, trie,
        before,
    )  # fmt: skip


def _different(keys: Ints) -> Ints:
    """Sort keys and leave each once."""
    keys.sort()  # np.unique would hash so many of them, which takes several times as long
    first = np.ones(keys.size, bool)
    first[1:] = keys[1:] != keys[:-1]
    return keys[first]


def numbered(keys: Ints) -> tuple[Ints, Ints]:
    """Find the different keys, sorted, and the place of each key among them."""
    most = int(keys.max(initial=0)) + 1
    if most > 4 * keys.size + 1_000_000:
        different, places = np.unique(keys, return_inverse=True)
        return different, places.astype(np.int64)
    met = np.zeros(most, bool)
    met[keys] = True
    return np.flatnonzero(met), (np.cumsum(met) - 1)[keys]


def _shown(trie: Trie) -> NDArray[np.int32]:
    """Say what each variant shows in each release."""
    releases = trie.widths.size
    number = np.arange(trie.starts[-1] - trie.starts[-2] if releases else 0)
    shown = np.zeros((number.size, releases), np.int32)
    for t in reversed(range(releases)):
        key = trie.keys[trie.starts[t] : trie.starts[t + 1]][number]
        shown[:, t] = key % trie.widths[t]
        number = key // trie.widths[t]
    return shown
