"""Numbers of rows estimated from rows drawn at random, with the interval they lie in."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.kernels.rows import Ints

CONFIDENCE = 0.95
MOST_DRAWS, FEWEST_DRAWS = 1000, 20
_PILOTS = 4
_HALVINGS = 60


def clopper_pearson(hits: int, draws: int, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Find the Clopper-Pearson interval of a probability, which covers it at least as often as guaranteed.

    It is 0 to 1 without draws. Clopper, Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 26, 1934, doi:10.1093/biomet/26.4.404

    >>> [round(p, 4) for p in clopper_pearson(3, 10)]
    [0.0667, 0.6525]
    >>> clopper_pearson(0, 0)
    (0.0, 1.0)
    """
    tail = (1 - confidence) / 2
    low = 0.0 if hits == 0 else _least(hits, draws, tail)
    high = 1.0 if hits == draws else 1 - _least(draws - hits, draws, tail)  # as seen from the misses
    return low, high


@lru_cache(1024)
def _least(hits: int, draws: int, tail: float) -> float:
    """Find the probability at which this many hits or more come with probability `tail`, by bisection."""
    k = np.arange(hits, draws + 1)
    log_factorials = np.concatenate(([0.0], np.cumsum(np.log(np.arange(1, draws + 1)))))
    ways = log_factorials[draws] - log_factorials[k] - log_factorials[draws - k]
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        p = (low + high) / 2
        reached = float(np.exp(ways + k * math.log(p) + (draws - k) * math.log1p(-p)).sum()) >= tail
        low, high = (low, p) if reached else (p, high)
    return low


class Estimate(NamedTuple):
    """A number of rows: the best guess, and the interval it lies in."""

    value: float
    low: float
    high: float

    def whole_rows(self) -> list[int]:
        """Widen the interval to whole rows."""
        return [math.floor(self.low), math.ceil(self.high)]


def estimate(
    sure: float, unknown: NDArray[np.bool_], weights: Ints, drawn: Ints, hit: NDArray[np.float64]
) -> Estimate:
    """Estimate how many rows count, if `sure` ones count for sure and some are unknown.

    `unknown`: bool (n,), distinct rows that may count; `drawn`: int64 (draws,), rows drawn in proportion to
    their `weights`, perhaps others, too; `hit`: float64 (draws,), 1 counts, 0 does not, nan was not found
    out. These widen the interval at both ends; the guess takes half of them.
    """
    total = int(weights[unknown].sum())
    inside = hit[unknown[drawn]]
    n, hits = inside.size, int((inside == 1).sum())
    open_ = int(np.isnan(inside).sum())
    share = (hits + open_ / 2) / n if n else 0.5
    low, high = clopper_pearson(hits, n)[0], clopper_pearson(hits + open_, n)[1]
    return Estimate(sure + total * share, sure + total * low, sure + total * high)


def rising(numbers: Sequence[Estimate]) -> list[Estimate]:
    """Raise guesses to the guesses before them, within their intervals, for numbers that never decrease."""
    out: list[Estimate] = []
    for number in numbers:
        wanted = max(number.value, out[-1].value if out else 0.0)
        out.append(number._replace(value=min(wanted, number.high)))
    return out


def look_at_some(
    among: NDArray[np.bool_],
    weights: Ints,
    words: NDArray[np.uint64],
    look: Callable[[int, int], int],
    effort: int,
    progress: Progress,
    phase: str,
) -> Ints:
    """Draw rows `among` these in proportion to `weights`, and look at as many as the effort allows, but some.

    A few pilots, which are not returned, settle how many: so their number does not depend on their results.
    `look` gets a row and the steps it may make, and returns those it made. A quarter of the `effort` of an
    exact count is spent here. `words`: uint64 (1004,), random bits.
    """
    effort //= 4
    limit = max(effort // FEWEST_DRAWS, 1)
    costs = [look(row, limit) for row in draw_rows(among, weights, words[:_PILOTS]).tolist()]
    draws = min(max(effort * len(costs) // max(sum(costs), 1), FEWEST_DRAWS), MOST_DRAWS)
    drawn = draw_rows(among, weights, words[_PILOTS : _PILOTS + draws])
    different = np.unique(drawn)
    for i, row in enumerate(different.tolist()):
        progress(phase, i / different.size)
        look(row, max(2 * effort // draws, 1))
    return drawn


def row_words(seed: int, m: int, purpose: int) -> NDArray[np.uint64]:
    """Make the random bits that `look_at_some` takes."""
    return random_words(seed, m, purpose, (_PILOTS + MOST_DRAWS,))


def draw_rows(among: NDArray[np.bool_], weights: Ints, words: NDArray[np.uint64]) -> Ints:
    """Draw distinct rows with probabilities in proportion to their weights, one for each random word."""
    rows = np.flatnonzero(among)
    ends = np.cumsum(weights[rows])
    total = np.uint64(ends[-1]) if ends.size else np.uint64(0)
    if not total:
        return np.zeros(0, np.int64)
    return rows[np.searchsorted(ends, (words % total).astype(np.int64), side="right")]


def random_words(seed: int, m: int, purpose: int, shape: tuple[int, ...]) -> NDArray[np.uint64]:
    """Make random 64-bit words: for each m and purpose others, whatever else is drawn."""
    stream = np.random.PCG64(np.random.SeedSequence([seed, m, purpose]))
    return np.asarray(stream.random_raw(shape), np.uint64)
