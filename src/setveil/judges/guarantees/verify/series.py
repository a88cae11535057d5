"""Check releases about the same people by definition, from what people had and what items became."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.series import SeriesAnonymity
from setveil.judges.guarantees.verify._projection import Holders
from setveil.judges.guarantees.verify._series_loops import held_by, least_supports, shown_by, whole_supports
from setveil.judges.guarantees.verify._series_variants import NONE, KnownPeople, known_of, numbered
from setveil.rows.data.people import SeriesPeople

Ints = NDArray[np.int64]
NOTHING = 1 << 62  # candidates where nothing can be known: no k is greater
PIECES = 100  # of the variants, between which progress is told


@dataclass(frozen=True)
class Fact:
    """One known item of a person, and the releases in which it is known."""

    item: int | None  # its number; None: only the releases that the person is in are known
    releases: tuple[int, ...]  # positions
    labels: tuple[int, ...]  # the number of the label in each release; -1: nothing but a row


@dataclass(frozen=True)
class Exposure:
    """Facts that leave fewer than k people, and the people with these facts."""

    person: int
    facts: tuple[Fact, ...]
    candidates: int


@dataclass(frozen=True)
class SeriesVerdict:
    """The verdict on several releases; `exactly`: people exposed to who knows all their releases."""

    guarantee: SeriesAnonymity
    holds: bool
    people: int  # in any release
    returning: int  # people in several releases
    exposed: int  # people whom some m known items narrow down to fewer than k
    unique: int  # people whom some m known items narrow down to themselves alone
    each: tuple[int, ...]  # people whom each release exposes by itself
    first: tuple[Exposure, ...]  # for those with the fewest candidates, the fewest facts that expose them
    exactly: int

    def __bool__(self) -> bool:
        return self.holds


def verify_series(
    series: SeriesPeople,
    promise: SeriesAnonymity,
    *,
    show: int = 5,
    progress: Progress = silent,
) -> SeriesVerdict:
    """Check the guarantee of several releases (see docs/series.md); say what exposes the first `show` people.

    Equal people are merged first. The work is that of looking at every set of fewer than m variants of a
    merged row once in each row that shows them; if m is at least the longest row, at whole rows only.
    """
    case = _Case.of(series, promise)
    least = case.least(progress)
    found = least < promise.k
    weights = case.known.rows.weights
    each = [0] * len(series.releases)  # each keeps what all of them together keep
    for t in range(len(series.releases) if found.any() else 0):
        alone = _Case.of(replace(series, releases=(series.releases[t],)), promise)
        each[t] = int(alone.known.rows.weights[alone.least(progress) < promise.k].sum())
    times = np.zeros(series.n_people, np.int64)
    for release in series.releases:
        times[release.people] += 1
    return SeriesVerdict(
        promise,
        not found.any(),
        int((times > 0).sum()),
        int((times > 1).sum()),
        int(weights[found].sum()),
        int(weights[least == 1].sum()),
        tuple(each),
        tuple(case.exposures(series, least, show)),
        _exposed_exactly(case, series, least, progress),
    )


def least_candidates(series: SeriesPeople, promise: SeriesAnonymity, *, progress: Progress = silent) -> Ints:
    """Find how few people fit, at worst, if m items of a person are known; `NOTHING` if none can be."""
    case = _Case.of(series, promise)
    return case.least(progress)[case.known.of_person]


def newly_exposed(series: SeriesPeople, promise: SeriesAnonymity, *, progress: Progress = silent) -> Ints:
    """Find the people, ascending, whom the last release exposes by facts that did not expose them before."""
    case = _Case.of(series, promise, len(series.releases) - 1)
    least = case.least(progress)
    rows = [r for r in np.flatnonzero(least < promise.k).tolist() if case.adds(r)]
    return np.flatnonzero(np.isin(case.known.of_person, np.array(rows, np.int64)))


def _exposed_exactly(case: _Case, series: SeriesPeople, least: Ints, progress: Progress) -> int:
    """Count who is exposed where it is known exactly in which releases each person is."""
    if case.promise.presence == "ignored":  # then equal people of different releases are one row
        case = _Case.of(series, replace(case.promise, presence="implied"))
        least = case.least(progress)
    known, k = case.known, case.promise.k
    _, where = np.unique(known.pattern & ((1 << len(series.releases)) - 1), return_inverse=True)
    n = int(where.max(initial=-1)) + 1
    if n == 1:  # it tells nothing
        least = np.minimum(least, known.rows.weights.sum())
        return int(known.rows.weights[(least < k) & ~case.unchecked].sum())
    in_class = np.bincount(where, known.rows.weights, minlength=n).astype(np.int64)[where]
    _, items = numbered(case.items * n + np.repeat(where, np.diff(case.indptr)))
    apart = replace(case, items=items)
    alone = np.minimum(apart.least(progress, whole=False), in_class)
    return int(known.rows.weights[(alone < k) & ~case.unchecked].sum())


@dataclass(frozen=True, eq=False)
class _Case:
    """A series by its merged rows, and all the variants that each row shows."""

    promise: SeriesAnonymity
    known: KnownPeople
    indptr: Ints
    items: Ints  # what rows show
    own: NDArray[np.uint8]  # and whether it is their own

    @classmethod
    def of(cls, series: SeriesPeople, promise: SeriesAnonymity, earlier: int = 0) -> _Case:
        known = known_of(series, promise, earlier)
        return cls(promise, known, *shown_by(known.rows, known.pattern, known.shown, known.trie))

    @property
    def unchecked(self) -> NDArray[np.bool_]:
        """Merged rows of people who are not checked: bool (rows,)."""
        return np.asarray(self.known.pattern >> self.known.trie.widths.size > 0, bool)

    def holders(self) -> Holders:
        """Find the rows that show each variant."""
        held: Holders = held_by(self.indptr, self.items, int(self.items.max(initial=-1)) + 1)
        return held

    def least(self, progress: Progress, *, whole: bool = True) -> Ints:
        """Find the least support of up to m own variants, or of all, of each merged row."""
        rows = self.known.rows
        least = np.full(rows.weights.size, NOTHING, np.int64)
        longest = int(np.diff(rows.indptr).max(initial=0))
        m = min(self.promise.m, longest)
        holders = self.holders()
        n = holders.starts.size - 1
        if whole and m == longest:
            whole_supports(rows, self.indptr, self.items, rows.weights, holders, least)
        for piece in range(0 if whole and m == longest else PIECES):
            first, end = n * piece // PIECES, n * (piece + 1) // PIECES
            if first < end:
                least_supports(self.indptr, self.items, self.own, rows.weights, holders, first, end, m, least)
                progress("verifying known items", end / n)
        least[self.unchecked] = NOTHING
        return least

    def exposures(self, series: SeriesPeople, least: Ints, show: int) -> list[Exposure]:
        """Say what exposes the first people exposed."""
        of_person = self.known.of_person
        exposed = np.flatnonzero(least[of_person] < self.promise.k)
        exposed = exposed[np.argsort(least[of_person[exposed]], kind="stable")][: max(show, 0)]
        found = []
        for person in exposed.tolist():
            chosen, candidates = self._fewest(int(of_person[person]))
            facts = tuple(self._fact(series, person, v) for v in chosen)
            found.append(Exposure(person, facts, candidates))
        return found

    def _fewest(self, r: int) -> tuple[tuple[int, ...], int]:
        """Find the smallest set of a row's own variants that exposes it, the one with the least support."""
        own = self._own(r)
        for size in range(1, min(self.promise.m, len(own)) + 1):
            best = min(((self._support(some), some) for some in combinations(own, size)), default=(0, ()))
            if best[0] < self.promise.k:
                return best[1], best[0]
        raise AssertionError("A row that is exposed has variants that expose it.")

    def adds(self, r: int) -> bool:
        """Say whether a row is exposed by variants that did not expose it in the earlier releases alone."""
        own = self._own(r)
        for size in range(1, min(self.promise.m, len(own)) + 1):
            for some in combinations(own, size):
                if self._support(some) >= self.promise.k:
                    continue
                before = {int(self.known.earlier[v]) for v in some} - {NONE}
                if not before or self._support(tuple(before)) >= self.promise.k:
                    return True
        return False

    def _own(self, r: int) -> list[int]:
        rows = self.known.rows
        own: list[int] = rows.items[rows.indptr[r] : rows.indptr[r + 1]].tolist()
        return own

    def _support(self, variants: Sequence[int]) -> int:
        """Count the people whose rows show some variants."""
        if not hasattr(self, "_held"):
            object.__setattr__(self, "_held", self.holders())
        starts, holding, _ = self._held  # type: ignore[attr-defined]
        rows = [holding[starts[v] : starts[v + 1]] for v in variants]
        rows.sort(key=len)
        common = rows[0]
        for other in rows[1:]:
            common = common[np.isin(common, other, assume_unique=True)]
        return int(self.known.rows.weights[common].sum())

    def _fact(self, series: SeriesPeople, person: int, variant: int) -> Fact:
        """Find an item of a person that a variant represents."""
        shown = self.known.shown[variant]
        for item in [*sorted(_items_of(series, person)), None]:
            tokens = [self._token(series, person, item, t) for t in range(len(series.releases))]
            for known in _as_known(tokens, self.promise):
                if [self._code(token) for token in known] == shown.tolist():
                    releases = tuple(t for t, token in enumerate(known) if token is not None)
                    return Fact(item, releases, tuple(token for token in known if token is not None))
        raise AssertionError("A variant of a person's row is what some item of hers shows.")

    def _token(self, series: SeriesPeople, person: int, item: int | None, t: int) -> int | None:
        """Tell what a release shows of an item of a person: a label, -1 a row, None nothing."""
        release = series.releases[t]
        place = int(np.searchsorted(release.people, person))
        if place == release.people.size or release.people[place] != person:
            return None
        if item is None:
            return -1
        held = release.items[release.indptr[place] : release.indptr[place + 1]]
        return max(int(release.labels[item]), -1) if item in held else None

    def _code(self, token: int | None) -> int:
        if token is None or (token < 0 and self.promise.presence == "ignored"):
            return 0
        return token + 2


def _items_of(series: SeriesPeople, person: int) -> set[int]:
    found: set[int] = set()
    for release in series.releases:
        place = int(np.searchsorted(release.people, person))
        if place < release.people.size and release.people[place] == person:
            found.update(release.items[release.indptr[place] : release.indptr[place + 1]].tolist())
    return found


def _as_known(tokens: list[int | None], promise: SeriesAnonymity) -> list[list[int | None]]:
    """List the ways in which one known item can be known: in all releases, or in one."""
    if promise.known == "histories":
        return [tokens]
    return [[x if at == t else None for at, x in enumerate(tokens)] for t in range(len(tokens))]
