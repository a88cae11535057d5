"""Measure matches, by m items or the whole row, for who does not know whether a person is in the data."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import comb
from typing import Any

import numpy as np

from setveil.base.errors import DataError, listed
from setveil.base.threads import each
from setveil.judges.attacker._key_supports import look_at_keys
from setveil.judges.attacker.knowledge import Knowledge
from setveil.judges.attacker.sampling import random_words
from setveil.kernels.rows import Ints, Ranked, frozen, in_ranks, recode_rows
from setveil.rows.data.transactions import Transactions

KEYS = 2_000_000  # of all rows together, that are looked at for one m; at least `FEWEST` of each row
FEWEST = 20
DRAWS = 1000  # of the rows, for the interval
CONFIDENCE = 0.95
_PURPOSE = 3  # what random words are for
_AT_ONCE = 500
_MANY = 1 << 62


def fraction_risk(
    known: Knowledge, fraction: Fraction | float, ms: Sequence[int], seed: int = 0
) -> list[dict[str, Any]]:
    """Estimate how often the only row that fits a target's key is the target's, by data intrusion simulation.

    `known` is a simple random sample, without columns, of this `fraction` of the population. `unique` and
    `pairs` are the expected rows with a key in one row and in two; `estimate` and `interval` are null if no
    key is unique; all keys were looked at if `exact`. Skinner, Elliot, "A measure of disclosure risk for
    microdata", Journal of the Royal Statistical Society B 64(4), 2002, doi:10.1111/1467-9868.00365
    """
    share = float(fraction)
    found = []
    for m in ms:
        keys = keys_of(known.rows, known.rows, m, seed, enough=4)
        weights = known.rows.weights
        unique, pairs = float(weights @ keys.one), float(weights @ keys.two)
        entry: dict[str, Any] = {"m": m, "estimate": None, "interval": None, "unique": unique, "pairs": pairs}
        if unique:
            entry["estimate"] = _right(unique, pairs * (1 - share) / share)
            entry["interval"] = _interval(weights, keys, share, seed, m)
        found.append({**entry, "exact": keys.exact})
    return found


def _right(unique: Any, wrong: Any) -> Any:
    return unique / (unique + wrong)


def _interval(weights: Ints, keys: RowKeys, share: float, seed: int, m: int) -> list[float]:
    """Draw rows as often as a Poisson number says, and take the middle 95% of the estimates.

    Both rows of a pair are in the data or not together, which doubles the variance of the pairs. The wrong
    matches scatter, too: F people with a key in one row add at most (F - 1)^2, whose mean is (1 - p) / p of
    the pairs and 2 ((1 - p) / p)^2 of the rows with keys of three.
    """
    shares, kind = np.unique(keys.two, return_inverse=True)
    number = np.bincount(kind, weights)
    rng = np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, m, _PURPOSE, 1])))
    drawn = rng.poisson(number[shares > 0], (DRAWS, int((shares > 0).sum()))) @ shares[shares > 0]
    pairs = float(number @ shares)
    few = np.maximum(pairs + np.sqrt(2) * (drawn - pairs), 0.0)
    more = (1 - share) / share  # people who are not in the data, for each who is
    scatter = np.sqrt(more * pairs + 2 * more**2 * float(weights @ keys.three))
    wrong = np.maximum(more * few + scatter * rng.standard_normal(DRAWS), 0.0)
    tail = 50 * (1 - CONFIDENCE)
    low, high = np.percentile(_right(float(weights @ keys.one), wrong), [tail, 100 - tail]).tolist()
    return [low, high if pairs else 1.0]


def population_risk(
    known: Knowledge, population: Transactions, ms: Sequence[int], ts: Sequence[int], seed: int = 0
) -> list[dict[str, Any]]:
    """Count the rows of the population with each key of the known rows, which are all in it.

    For each m there are two entries, as in `setveil.judges.attacker.attack.attack_risk`. `choice` best has
    the fewest rows of the population that some key of the row fits, with `fewest` of all rows; random, the
    expected rows. `probability` is the mean of 1 / the rows that fit, `greatest` (of best) that of any row.
    If it is not `exact`, some rows have more keys than were looked at; the seed draws them.
    """
    everybody = _in_ranks_of(known, population)
    weights = known.rows.weights
    found: list[dict[str, Any]] = []
    nothing = known.empty_rows / max(population.n_rows, 1)
    for m in ms:
        keys = keys_of(known.rows, everybody, m, seed, limits=ts)
        if keys.least.size and not keys.least.min():
            raise _no_population(f"none of its rows contains {m} items that one of these contains")
        n = max(known.n_rows, 1)
        fewest = int(keys.least.min()) if keys.least.size else None
        best = {str(t): int(weights[keys.least < t].sum()) for t in ts}
        drawn = {str(t): float(weights @ keys.below[at]) for at, t in enumerate(ts)}
        means = [
            (float((weights / keys.least).sum()) + nothing) / n,
            (float(weights @ keys.inverse) + nothing) / n,
        ]
        greatest = None if fewest is None else 1 / fewest
        found.append(
            {"m": m, "choice": "best", "rows_below": best, "probability": means[0], "fewest": fewest,
             "greatest": greatest, "exact": keys.exact}
        )  # fmt: skip
        found.append(
            {"m": m, "choice": "random", "rows_below": drawn, "probability": means[1], "exact": keys.exact}
        )
    return found


def _in_ranks_of(known: Knowledge, population: Transactions) -> Ranked:
    """Find the population's rows as those of the sample are kept, and refuse what it cannot be one of."""
    rows, ids = known.rows, population.vocabulary.ids
    labels = [known.labels[known.item_of[item]] for item in rows.order.tolist()]
    there = np.array([ids.get(label, -1) for label in labels], np.int64)
    supports = np.append(population.supports(), 0)[there]
    held = np.bincount(rows.items, np.repeat(rows.weights, rows.lengths), minlength=rows.order.size)
    lacking = [label for label, few in zip(labels, (held > supports).tolist(), strict=True) if few]
    if lacking or population.n_rows < known.n_rows:
        what = (
            f"fewer of its rows contain {listed(lacking)} than of these" if lacking else "it has fewer rows"
        )
        raise _no_population(what)
    indptr, items, weights = population.distinct
    image = np.full(population.n_items, -1, np.int32)
    image[there[there >= 0]] = np.flatnonzero(there >= 0)
    moved, kept = recode_rows(frozen(indptr, np.int64), items, image)
    return in_ranks(moved, kept, frozen(weights, np.int64), rows.order)


def _no_population(what: str) -> DataError:
    return DataError(
        f"The population is no population of these rows: {what}.",
        hint="Each person of the data must be in the population, with the same items.",
    )


class RowKeys:
    """Totals over the keys of each distinct row, as float64 (n,).

    `one`, `two`, `three`: share of its keys in as many rows; `below`, (limits, n): in fewer rows; `least`,
    int64: fewest rows with one of them; `inverse`: mean of 1 / the rows with a key. `exact`: whether all keys
    were looked at.
    """

    def __init__(self, n: int, limits: int) -> None:
        self.one, self.two, self.three, self.inverse = np.zeros((4, n))
        self.least = np.zeros(n, np.int64)
        self.below = np.zeros((limits, n))
        self.exact = True


def keys_of(
    rows: Ranked, among: Ranked, m: int, seed: int, *, enough: int = _MANY, limits: Sequence[int] = ()
) -> RowKeys:
    """Look at the keys of rows, and count them among others, up to `enough`."""
    n, lengths = rows.weights.size, rows.lengths
    found = RowKeys(n, len(limits))
    most = max(KEYS // max(n, 1), FEWEST)
    found.exact = all(comb(length, min(m, length)) <= most for length in np.unique(lengths).tolist())
    words, bounds = random_words(seed, m, _PURPOSE, (n,)), frozen(np.array(limits, np.int64), np.int64)
    ways = np.array(
        [min(comb(length, m), _MANY) for length in range(int(lengths.max(initial=0)) + 1)], np.int64
    )

    def look(first: int) -> None:
        last = min(first + _AT_ONCE, n)
        with np.errstate(over="ignore"):
            look_at_keys(
                *rows[:2], among.starts, among.tidlists, among.weights, first, last, m, most, ways,
                words, enough, bounds, found.one, found.two, found.three,
                found.least, found.inverse, found.below,
            )  # fmt: skip

    for _ in each(look, range(0, n, _AT_ONCE)):
        pass
    return found
