"""The attacker's view of rows: how few of them fit a few known items, and what these reveal."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from math import comb
from typing import TYPE_CHECKING, Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.values.kinds import integer
from setveil.judges.attacker._table_supports import TableSupports, is_worth_it
from setveil.judges.attacker.knowledge import Knowledge, knowledge_of, knowledge_of_table
from setveil.judges.attacker.revealing import revealing_items
from setveil.kernels.rows import Ints, Ranked, frozen
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.transactions import Transactions

if TYPE_CHECKING:
    from setveil.judges.attacker._sharded_search import SearchCount
    from setveil.releases.published.table_files import PublishedTable

DEFAULT_EFFORT = 1_000_000_000
SET_DRAWS = 10_000
_BEST, _RANDOM = 0, 1  # what random words are for
_COUNTABLE = 1 << 62


def attack_risk(
    rows: Transactions | PublishedGroups | PublishedTable,
    *,
    sizes: Iterable[int] | None = None,
    thresholds: Iterable[int] = (2, 5, 10),
    private: Collection[str] = (),
    seed: int = 0,
    effort: int | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Count the rows that an attacker singles out who knows m items of a person.

    In a table, all quasi-identifiers are known, too; in rows in groups, the quasi-identifiers can be. `sizes`
    are values of m, by default 1, 2, 3, 4; of a table 0, 1, 2, 3. Nobody knows `private` items, by default
    the sensitive items of groups; there are no inferences for tables.

    `effort` limits the steps of each exact count (default 1,000,000,000); a step is an item of a row that is
    looked at, 3 to 25 nanoseconds. A count that would take more is given up, once at most for each of best
    choice, random choice and inference; then rows are drawn by the seed and looked at, with a quarter of the
    effort. So all together may take some ten times the effort.

    Returns the record of docs/risk.md. For "best", a row counts if some non-empty set of at most m of its
    items is in fewer than t rows; for "random", with the probability that a set of m is (or the whole row
    if it is shorter). Empty rows never count. In a table only rows of the same class fit, the set may be
    empty, and empty rows count. `probability` is the mean over all rows of 1 / the rows that fit (for an
    empty set all, in its class); `fewest`, of "best", the least of these, None without public items. An item
    of `revealing` counts a row that contains it in a set of at most `m` <= 2 items in fewer than `below`
    rows, while no smaller part of the set is (in a table, nor the class). If an entry is not `exact`,
    `fewest` may be too high and probabilities of `inference` too low.

    >>> data = Transactions.from_rows([["a", "b"], ["a", "c"], ["a", "b"], ["a"]])
    >>> risk = attack_risk(data, sizes=[1], private=["c"])
    >>> risk["risk"][0]["rows_below"], risk["risk"][1]["rows_below"]
    ({'2': 0, '5': 4, '10': 4}, {'2': 0.0, '5': 4.0, '10': 4.0})
    >>> risk["inference"][0]["items"]
    [{'probability': 0.25, 'item': 'c', 'itemset': [], 'support': 4}]
    """
    table = rows.is_table
    sizes = range(1 - table, 5 - table) if sizes is None else sizes
    ms = _integers("number of known items", sizes, 1 - table)
    ts = _integers("threshold", thresholds, 2)
    seed = _integers("seed", [seed], 0)[0]
    effort = _integers("effort", [DEFAULT_EFFORT if effort is None else effort], 1)[0]
    if isinstance(private, str):
        raise RequestError(f"Private items must be a collection of labels, got the text {private!r}.")
    known = (knowledge_of_table if table else knowledge_of)(rows, private)  # type: ignore[arg-type]
    out: dict[str, Any] = {
        "rows": known.n_rows,
        "empty_rows": known.empty_rows,
        "thresholds": list(ts),
        "risk": _singled_out(known, ms, ts, seed, effort, progress),
        "revealing": revealing_items(known, min(ms[-1], 2), ts[len(ts) // 2], effort, progress),
    }
    if table:
        out["columns"] = list(known.columns)
    if known.names:
        from setveil.judges.attacker.inference import inferences

        out["inference"] = inferences(known, ms, seed, effort, progress)
    return out


def _integers(what: str, values: Iterable[int], least: int) -> tuple[int, ...]:
    """Check numbers and return them ascending, each once."""
    found = {integer(f"A {what}", value, least) for value in values}
    if not found:
        raise RequestError(f"No {what} is given, expected at least one.")
    return tuple(sorted(found))


@dataclass
class _Fewest:
    """Bounds of the fewest rows that fit a set of at most m items of each distinct row."""

    # low, high: int64 (n,): Not below `low`, for any m; not above `high`. Where they are equal, more items do
    # not help.
    low: Ints
    high: Ints
    exact: bool  # whether `high` is exact for all rows

    def counted(self, known: Knowledge, ts: Sequence[int]) -> dict[str, Any]:
        """Count the rows below each threshold."""
        weights = known.rows.weights
        return {
            "rows_below": {str(t): int(weights[self.high < t].sum()) + known.empty_below(t) for t in ts},
            "probability": _mean(known, float((weights / self.high).sum())),
            "fewest": self.least(known),
            "exact": True,
        }

    def least(self, known: Knowledge) -> int | None:
        """Return the fewest rows that were found to fit a set of any row, None where there are no rows."""
        found = [self.high.min()] if self.high.size else []
        if known.columns and known.empty_fit.size:
            found.append(known.empty_fit.min())
        return int(min(found)) if found else None


def _singled_out(
    known: Knowledge, ms: Sequence[int], ts: Sequence[int], seed: int, effort: int, progress: Progress
) -> list[dict[str, Any]]:
    """Count rows for each m, the best choice before the random one."""
    rows = known.rows
    longest = max(min(known.longest, ms[-1]), 1)
    fewest = _Fewest(rows.weights.copy(), known.fit.copy(), True)
    countable = True
    found: dict[int, list[dict[str, Any]]] = {}
    if ms[0] == 0:
        nothing = fewest.counted(known, ts)
        drawn = {**nothing, "rows_below": {t: float(n) for t, n in nothing["rows_below"].items()}}
        del drawn["fewest"]
        found[0] = [{"choice": "best", **nothing}, {"choice": "random", **drawn}]
    for m in range(1, longest + 1):
        wanted = m in ms or m == longest
        phase = f"rows that {m} known item{'s' if m > 1 else ''} single out"
        tick = partial(progress, phase)
        tally: SearchCount | TableSupports | None = None
        if wanted and countable and fewest.exact and _is_countable(rows, m):
            limits = frozen(np.array(ts), np.int64)
            if is_worth_it(rows, m, effort):
                progress(phase)
                table = known.supports_of_pairs() if m == 2 else None
                tally = TableSupports(rows, m, fewest.high, limits, table)
            else:
                tally = _tallied(rows, m, fewest, limits, effort, tick)
                countable = tally is not None and tally.finished
        if fewest.exact and (tally is None or not countable):
            from setveil.judges.attacker._sharded_search import least_supports

            ended = least_supports(rows, m, fewest.low, fewest.high, effort, tick).finished
            fewest.exact = ended or not (fewest.low < fewest.high).any()
        if fewest.exact:
            fewest.low = np.where(rows.lengths <= m, fewest.high, fewest.low)
        if not wanted:
            continue
        if fewest.exact:
            best = fewest.counted(known, ts)
        else:
            best = _best_of_drawn(known, m, ts, fewest, seed, effort, progress, phase)
        if tally is not None and countable:
            drawn = _expected(known, m, ts, fewest, tally)
        else:
            drawn = _random_of_drawn(known, m, ts, fewest, seed)
        found[m] = [{"choice": "best", **best}, {"choice": "random", **drawn}]
    return [{"m": m, **entry} for m in ms for entry in found[min(m, longest)]]


def _tallied(
    rows: Ranked, m: int, fewest: _Fewest, limits: Ints, effort: int, tick: Callable[[float], None]
) -> SearchCount | None:
    """Count the sets of m items below each limit while searching the least supports; None: too many steps."""
    from setveil.judges.attacker._least_supports import least_steps
    from setveil.judges.attacker._sharded_search import least_supports

    if least_steps(rows, m) > effort:
        return None
    return least_supports(rows, m, fewest.low, fewest.high, effort, tick, limits)


def _is_countable(rows: Ranked, m: int) -> bool:
    """Return whether the sets of m items of all rows can be numbered with 64 bits."""
    weights = np.bincount(rows.lengths, rows.weights)
    return sum(comb(length, m) * int(weight) for length, weight in enumerate(weights)) < _COUNTABLE


def _mean(known: Knowledge, total: float) -> float:
    """Mean over all rows of a sum over those with public items; of the others all are found, or a class."""
    if not known.n_rows:
        return 0.0
    empty = float((1 / known.empty_fit).sum()) if known.columns else known.empty_rows / known.n_rows
    return (total + empty) / known.n_rows


def _expected(
    known: Knowledge,
    m: int,
    ts: Sequence[int],
    fewest: _Fewest,
    tally: SearchCount | TableSupports,
) -> dict[str, Any]:
    """Expect the rows below each threshold, and the mean of 1 / support, for sets drawn at random."""
    rows, lengths = known.rows, known.rows.lengths
    short = lengths < m
    ways = [comb(length, m) for length in range(known.longest + 1)]
    below = {}
    for t, counts in zip(ts, tally.below.tolist(), strict=True):
        drawn = sum((Fraction(c, way) for c, way in zip(counts, ways, strict=True) if c), Fraction(0))
        whole = int(rows.weights[short & (fewest.high < t)].sum()) + known.empty_below(t)
        below[str(t)] = float(drawn + whole)
    total = sum(x / way for x, way in zip(tally.inverse.tolist(), ways, strict=True) if way)
    total += float((rows.weights[short] / fewest.high[short]).sum())
    return {"rows_below": below, "probability": _mean(known, total), "exact": True}


def _best_of_drawn(
    known: Knowledge,
    m: int,
    ts: Sequence[int],
    fewest: _Fewest,
    seed: int,
    effort: int,
    progress: Progress,
    phase: str,
) -> dict[str, Any]:
    """Estimate the rows below each threshold: some are known, of the others some are drawn and searched."""
    from setveil.judges.attacker._least_supports import LeastSupportSearch
    from setveil.judges.attacker._sampled_supports import around, around_steps
    from setveil.judges.attacker.sampling import CONFIDENCE, estimate, look_at_some, rising, row_words

    rows = known.rows
    low, high = fewest.low.copy(), fewest.high.copy()
    solved_low, solved_high = low.copy(), high.copy()
    number = np.zeros(rows.weights.size, np.int64)

    def look(row: int, limit: int) -> int:
        local, place, _, _ = around(rows, row, number)
        have = int(local.weights[place])  # rows that hold all of it
        floor = np.zeros(local.weights.size, np.int64)
        found = floor.copy()
        floor[place], found[place] = have, high[row] if local.order.size > m else have
        steps = around_steps(rows, row)
        search = LeastSupportSearch(local, m, floor, found, max(limit - steps, 1))
        search.search(search.effort)
        solved_low[row] = found[place] if search.finished else have
        solved_high[row] = found[place]
        fewest.low[row], fewest.high[row] = have, found[place]
        return steps + search.steps

    drawn = look_at_some(low < high, rows.weights, row_words(seed, m, _BEST), look, effort, progress, phase)
    numbers = []
    for t in ts:
        hit = np.where(solved_high[drawn] < t, 1.0, np.where(solved_low[drawn] >= t, 0.0, np.nan))
        sure = int(rows.weights[high < t].sum()) + known.empty_below(t)
        numbers.append(estimate(sure, (low < t) & (high >= t), rows.weights, drawn, hit))
    guesses = dict(zip(map(str, ts), rising(numbers), strict=True))
    open_ = low < high
    total = float((rows.weights[~open_] / high[~open_]).sum())
    if drawn.size:
        total += int(rows.weights[open_].sum()) * float((1 / solved_high[drawn]).mean())
    return {
        "rows_below": {t: round(guess.value) for t, guess in guesses.items()},
        "probability": _mean(known, total),
        "fewest": fewest.least(known),
        "exact": False,
        "sampled": int(drawn.size),
        "confidence": CONFIDENCE,
        "interval": {t: guess.whole_rows() for t, guess in guesses.items()},
    }


def _random_of_drawn(
    known: Knowledge, m: int, ts: Sequence[int], fewest: _Fewest, seed: int
) -> dict[str, Any]:
    """Estimate the same for random sets, one from each of the drawn rows."""
    from setveil.judges.attacker._sampled_supports import sampled_supports
    from setveil.judges.attacker.sampling import CONFIDENCE, draw_rows, estimate, random_words, rising

    rows = known.rows
    settled = (rows.lengths <= m) & (fewest.low == fewest.high)  # the whole row is known, and its support
    words = random_words(seed, m, _RANDOM, (2, SET_DRAWS))
    drawn = draw_rows(~settled, rows.weights, words[0])
    supports = sampled_supports(rows, drawn, words[1][: drawn.size], m)
    at_least = fewest.high if fewest.exact else fewest.low
    numbers = []
    for t in ts:
        sure = int(rows.weights[settled & (fewest.high < t)].sum()) + known.empty_below(t)
        hit = np.where(supports < t, 1.0, 0.0)
        numbers.append(estimate(sure, ~settled & (at_least < t), rows.weights, drawn, hit))
    guesses = dict(zip(map(str, ts), rising(numbers), strict=True))
    total = float((rows.weights[settled] / fewest.high[settled]).sum())
    if drawn.size:
        total += int(rows.weights[~settled].sum()) * float((1 / supports).mean())
    return {
        "rows_below": {t: guess.value for t, guess in guesses.items()},
        "probability": _mean(known, total),
        "exact": False,
        "sampled": int(drawn.size),
        "confidence": CONFIDENCE,
        "interval": {t: [guess.low, guess.high] for t, guess in guesses.items()},
    }
