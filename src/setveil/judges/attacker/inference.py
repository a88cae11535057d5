"""The greatest probability with which a few known items give a private item away."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress
from setveil.judges.attacker._inference_walk import NEVER, Greatest, InferenceSearch
from setveil.judges.attacker._sampled_supports import around, around_steps
from setveil.judges.attacker.knowledge import Knowledge, nearby
from setveil.judges.attacker.sampling import CONFIDENCE, estimate, look_at_some, rising, row_words
from setveil.kernels.rows import Ints, frozen

MARKS = (0.2, 0.5, 0.8)
_PURPOSE = 2  # what random words are for
STEPS_AT_ONCE = 20_000_000


def inferences(
    known: Knowledge, sizes: tuple[int, ...], seed: int, effort: int, progress: Progress
) -> list[dict[str, Any]]:
    """Find the greatest probability of a private item given at most m public ones, for ascending m."""
    longest = max(min(known.longest, sizes[-1]), 1)
    findings = _nothing_known(known, longest)
    found: dict[int, dict[str, Any]] = {}
    for m in range(1, longest + 1):
        phase = f"risk of {m} known item{'s' if m > 1 else ''}"
        if findings.finished == m - 1:
            search = InferenceSearch(
                known.rows, known.secrets, m, findings.marks, findings.above, findings.greatest, effort
            )
            while search.search(STEPS_AT_ONCE):
                progress(phase, search.done())
            findings.finished += search.finished
        if m not in sizes and m < longest:
            continue
        if findings.finished == m:
            above = {"exact": True, "rows_above": dict(zip(_names(), findings.sure(m), strict=True))}
        else:
            above = _above_of_drawn(findings, m, seed, effort, progress, phase)
        found[m] = _described(findings) | above
    return [{"m": m, **found[min(m, longest)]} for m in sizes]


@dataclass
class _Findings:
    """The inferences from sets of public items so far."""

    known: Knowledge
    greatest: Greatest
    marks: NDArray[np.float64]  # float64 (h,): probabilities of interest
    # int64 (n, h): for each distinct row the size of the smallest set that tells a private item with a
    # probability above each mark
    above: Ints
    finished: int  # all sets of up to so many items were looked at
    at_once: NDArray[np.bool_]  # bool (h,): whether the empty set tells an item with such a probability

    def sure(self, m: int) -> list[int]:
        """Count the rows above each mark."""
        weights = self.known.rows.weights
        return [
            int(weights[self.above[:, h] <= m].sum()) + self.known.empty_rows * int(now)
            for h, now in enumerate(self.at_once.tolist())
        ]


def _names() -> list[str]:
    return [f"{mark:g}" for mark in MARKS]


def _nothing_known(known: Knowledge, longest: int) -> _Findings:
    """Start with the empty set: the inference about everyone."""
    whole, private = known.secrets.whole * known.n_rows, len(known.names)
    probabilities = known.overall / whole if whole else np.zeros(private)
    record = np.tile(np.array([0, known.n_rows], np.int64), (private, 1))
    marks = frozen(np.array(MARKS), np.float64)
    at_once = probabilities.max() > marks
    above = np.full((known.rows.weights.size, marks.size), NEVER, np.int64)
    above[:, at_once] = 0
    greatest = Greatest(probabilities, record, np.zeros((private, longest), np.int64))
    return _Findings(known, greatest, marks, above, 0, at_once)


def _described(findings: _Findings) -> dict[str, Any]:
    """Name what gives most away, of all private items and of each that occurs."""
    entries = [_of_item(findings, private) for private in range(len(findings.known.names))]
    sizes, supports = findings.greatest.record.T.tolist()
    first = min(
        range(len(entries)),
        key=lambda i: (
            -entries[i]["probability"], sizes[i], -supports[i],
            findings.greatest.itemset[i, : sizes[i]].tolist(),
        ),
    )  # fmt: skip
    item = entries[first]["item"] if entries[first]["probability"] > 0 else None
    occurring = [entry for entry, share in zip(entries, findings.known.overall, strict=True) if share]
    return {**entries[first], "item": item, "items": occurring}


def _of_item(findings: _Findings, private: int) -> dict[str, Any]:
    size, support = findings.greatest.record[private].tolist()
    return {
        "probability": float(findings.greatest.probability[private]),
        "item": findings.known.names[private],
        "itemset": [
            findings.known.labels[item] for item in findings.greatest.itemset[private, :size].tolist()
        ],
        "support": support,
    }


def _above_of_drawn(
    findings: _Findings, m: int, seed: int, effort: int, progress: Progress, phase: str
) -> dict[str, Any]:
    """Estimate the rows above each mark: some are known, of the others some are drawn and looked at."""
    rows, sure = findings.known.rows, findings.sure(m)
    possible = findings.known.secrets.peaks(rows.weights).max(initial=0.0) > findings.marks
    unknown = (findings.above > m) & possible
    solved = np.zeros(rows.weights.size, np.bool_)
    number = np.zeros(rows.weights.size, np.int64)  # workspace

    def look(row: int, limit: int) -> int:
        steps, solved[row] = _look_at(findings, row, m, limit, number)
        return steps

    drawn = look_at_some(
        unknown.any(axis=1), rows.weights, row_words(seed, m, _PURPOSE), look, effort, progress, phase
    )
    hit = np.where(findings.above[drawn] <= m, 1.0, np.where(solved[drawn, np.newaxis], 0.0, np.nan))
    numbers = [
        estimate(sure[h], unknown[:, h], rows.weights, drawn, hit[:, h]) for h in range(findings.marks.size)
    ]
    guesses = dict(zip(_names(), rising(numbers[::-1])[::-1], strict=True))
    return {
        "exact": False,
        "rows_above": {name: round(guess.value) for name, guess in guesses.items()},
        "sampled": int(drawn.size),
        "confidence": CONFIDENCE,
        "interval": {name: guess.whole_rows() for name, guess in guesses.items()},
    }


def _look_at(findings: _Findings, row: int, m: int, limit: int, number: Ints) -> tuple[int, bool]:
    """Note inferences from the remaining sets of a row in `above`; return the steps, and if all were seen."""
    local, place, met, group = around(findings.known.rows, row, number)
    secrets = nearby(findings.known.secrets, met, group, local.weights.size)
    own = np.zeros((local.weights.size, findings.marks.size), np.int64)  # nothing to find out of other rows
    own[place] = findings.above[row]
    steps = around_steps(findings.known.rows, row)
    for size in range(findings.finished + 1, min(m, local.order.size) + 1):
        if steps >= limit:
            return steps, False
        search = InferenceSearch(local, secrets, size, findings.marks, own, findings.greatest, limit - steps)
        search.search(search.effort)
        steps += search.steps
        findings.above[row] = own[place]
        if not search.finished:
            return steps, False
    return steps, True
