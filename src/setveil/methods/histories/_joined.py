"""The joined table of a series: one row for each person, with all she is known to have and all she shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.kernels.rows import Ids, Ints, frozen, merge_rows, recode_rows, take_rows
from setveil.methods.histories._forest import LabelForest
from setveil.methods.histories._joined_loops import count_tokens, list_tokens
from setveil.rows.data.people import Appearance

ABSENT, LEFT_OUT = -2, -1  # in place of a token: the item is not in the release; it is, and shows nothing
MOST_RELEASES = 40
AS_TABLE = 50_000_000  # variants of items that are numbered by a table


@dataclass(frozen=True)
class Joined:
    """The joined table.

    A **unit** is what counts as one known item, as far as it can be distinguished from others: for each
    release a leaf of the forest or a frozen token, LEFT_OUT, or ABSENT. Tokens are numbered through: nodes
    of the forest, then frozen labels. People with equal units and releases are one row.

    Of facts a unit is a code of a person, and there is a column for each of its facts in place of releases.
    """

    promise: SeriesAnonymity
    forest: LabelForest
    new: int  # number of the release that must not add to what was found before; -1: none
    tokens: NDArray[np.int32]  # int32 (units, releases)
    free: Ints  # int64 (free releases,): columns of `tokens` with leaves of the forest
    indptr: Ints  # int64 (rows + 1,)
    units: Ids  # int32: units of each row, ascending
    masks: Ints  # int64 (rows,): the releases that the row is in, a bit each; 0 where presence is ignored
    weights: Ints  # int64 (rows,): people
    row: Ints  # int64 (people of the series,): row of each
    n_tokens: int

    @property
    def n_rows(self) -> int:
        return int(self.weights.size)

    @cached_property
    def holders(self) -> tuple[Ints, Ids]:
        """The rows that show each token, ascending: where each list starts, and the lists."""
        stamp, counts = np.full(self.n_tokens, -1, np.int64), np.zeros(self.n_tokens, np.int64)
        parent = self.forest.parent
        count_tokens(self.indptr, self.units, self.tokens, parent, stamp, counts)
        starts = np.zeros(self.n_tokens + 1, np.int64)
        np.cumsum(counts, out=starts[1:])
        lists = np.zeros(starts[-1], np.int32)
        stamp[:] = -1
        list_tokens(self.indptr, self.units, self.tokens, parent, stamp, starts[:-1].copy(), lists)
        return frozen(starts, np.int64), frozen(lists, np.int32)

    @cached_property
    def patterns(self) -> tuple[Ints, Ints]:
        """The different masks of rows, and how many people have each."""
        some, at = np.unique(self.masks, return_inverse=True)
        people = np.zeros(some.size, np.int64)
        np.add.at(people, at, self.weights)
        return frozen(some, np.int64), frozen(people, np.int64)

    @property
    def counting(self) -> tuple[Ints, Ids, Ints, Ints, Ints, Ints]:
        """What `fitting` counts by."""
        return *self.holders, self.masks, self.weights, *self.patterns

    def masks_of(self, tokens: NDArray[np.int32]) -> Ints:
        """Find the releases, a bit each, that what has such tokens tells of: int64 (n,)."""
        if self.promise.presence == "ignored":
            return np.zeros(tokens.shape[0], np.int64)
        bits = np.int64(1) << np.arange(tokens.shape[1], dtype=np.int64)
        out: Ints = ((tokens != ABSENT) * bits).sum(axis=1)
        return out


def join(
    releases: Sequence[Appearance],
    n_people: int,
    n_items: int,
    promise: SeriesAnonymity,
    forest: LabelForest,
    free: Sequence[int],
    new: int,
) -> Joined:
    """Make the joined table; labels of the releases that are `free` do not count."""
    if len(releases) > MOST_RELEASES:
        raise RequestError(
            f"The series has {len(releases)} releases, at most {MOST_RELEASES} can be searched."
        )
    number, of_items = _tokens_of_items(releases, n_items, forest, free)
    ends, variants, item, mask = _variants(releases, n_people, n_items, promise)
    bits = np.int64(1) << np.arange(len(releases), dtype=np.int64)
    tokens = np.where(mask[:, None] & bits, of_items[:, item].T, ABSENT).astype(np.int32)
    if promise.presence == "ignored":
        tokens[tokens == LEFT_OUT] = ABSENT
    tokens, image = np.unique(tokens, axis=0, return_inverse=True)
    image = image.reshape(-1)
    if promise.presence == "ignored":  # what shows nothing tells nothing
        telling = (tokens != ABSENT).any(axis=1)
        image = np.where(telling[image], (np.cumsum(telling) - 1)[image], -1)
        tokens = tokens[telling]
    indptr, units = recode_rows(ends, variants, frozen(image, np.int32))
    masks = np.zeros(n_people, np.int64)
    if promise.presence != "ignored":
        for t, release in enumerate(releases):
            masks[release.people] |= np.int64(1) << np.int64(t)
    # People with equal units and releases are one row.
    _, pattern = np.unique(masks, return_inverse=True)
    marked = np.insert(units, indptr[1:], (tokens.shape[0] + pattern).astype(np.int32))
    row, first, weights = merge_rows(
        frozen(indptr + np.arange(indptr.size), np.int64), frozen(marked, np.int32)
    )
    indptr, units = take_rows(indptr, units, first)
    return Joined(
        promise=promise,
        forest=forest,
        new=new,
        tokens=frozen(tokens, np.int32),
        free=np.array(free, np.int64),
        indptr=indptr,
        units=units,
        masks=frozen(masks[first], np.int64),
        weights=frozen(weights, np.int64),
        row=row,
        n_tokens=number,
    )


def _tokens_of_items(
    releases: Sequence[Appearance], n_items: int, forest: LabelForest, free: Sequence[int]
) -> tuple[int, NDArray[np.int32]]:
    """Give tokens numbers: how many, and which each item is in each release, presence alone behind them."""
    number = forest.n_nodes
    of_items = np.full((len(releases), n_items + 1), LEFT_OUT, np.int32)
    for t, release in enumerate(releases):
        if t in free:
            of_items[t, :n_items] = forest.leaf[list(free).index(t)]
            continue
        labels = np.asarray(release.labels, np.int64)
        some, at = np.unique(labels[labels >= 0], return_inverse=True)
        of_items[t, :n_items][labels >= 0] = number + at
        number += some.size
    return number, of_items


def _variants(
    releases: Sequence[Appearance], n_people: int, n_items: int, promise: SeriesAnonymity
) -> tuple[Ints, Ids, Ints, Ints]:
    """List what is known of each person: rows of numbers, and the item and the releases of each number."""
    width = n_items + 1  # presence is known like an item that is left out
    n = len(releases)
    keys: list[Ints] = []
    for t, release in enumerate(releases):
        person = np.repeat(release.people, np.diff(release.indptr))
        keys.append((person * width + release.items) * n + t)
        if promise.presence == "known":
            keys.append((release.people * width + n_items) * n + t)
    key = np.concatenate([np.zeros(0, np.int64), *keys])
    key.sort()
    pair, bit = key // n, np.int64(1) << key % n
    if promise.known == "histories" and pair.size:
        first = np.flatnonzero(np.concatenate(([True], pair[1:] != pair[:-1])))
        bit, pair = np.bitwise_or.reduceat(bit, first), pair[first]
    person, item = pair // width, pair % width
    ends = np.zeros(n_people + 1, np.int64)
    np.cumsum(np.bincount(person, minlength=n_people), out=ends[1:])
    code = (item << n) | bit
    if width << n <= AS_TABLE:
        used = np.zeros(width << n, bool)
        used[code] = True
        some = np.flatnonzero(used)
        table = np.zeros(used.size, np.int32)
        table[some] = np.arange(some.size)
        variants = table[code]
    else:
        some, at = np.unique(code, return_inverse=True)
        variants = at.astype(np.int32)
    return frozen(ends, np.int64), frozen(variants, np.int32), some >> n, some & ((1 << n) - 1)
