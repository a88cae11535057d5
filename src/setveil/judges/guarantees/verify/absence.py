"""Check (k, m, a)-anonymity using only the published rows.

Someone knows up to m items that a person has, and up to a items that the person lacks (docs/verify.md). A
*sign* excludes rows: a row that shows any of its labels does not fit.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError, faces
from setveil.base.jit import compiled
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import ABSENCES, LABELS
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify._projection import Rows, distinct_rows, holders_of
from setveil.rows.data.transactions import Transactions

MOST = 2  # items that are known to be absent
LISTED = 10_000  # violations that are put in order
FOUND, SMALLEST, NOTED = range(3)  # places in `state`

Ints = NDArray[np.int64]
Sign = tuple[str, tuple[str, ...]]  # what is absent, and the labels that exclude a row


class OfAbsence(Verdict):
    """The common part of verdicts about absent items, for rows and tables."""

    absent: int
    absence: str
    greatest_k: int | None

    def found(self) -> dict[str, Any]:
        """Return what may be absent, and the greatest k, as JSON types."""
        return {
            "absent": self.absent,
            "absence": self.absence,
            "greatest_k": self.greatest_k,
            "complete": True,
        }


@dataclass(frozen=True, repr=False)
class AbsenceVerdict(OfAbsence):
    """The verdict on (k, m, a)-anonymity."""

    guarantee: KmAnonymity
    absent: int  # most items known to be absent
    absence: str  # "items" or "labels": what is known to be absent
    holds: bool
    # pairs of up to m labels and up to `absent` signs, not both none, that 1 to k - 1 rows fit
    violations: int
    # some of these (labels, absent, support): smaller ones first, then item order
    first: tuple[tuple[tuple[str, ...], tuple[str, ...], int], ...]
    greatest_k: int | None  # the fewest rows that fit such a pair; None if there is no pair

    @property
    def phrase(self) -> str:
        """Name of what was asked, with its parameters."""
        k, m = self.guarantee.k, self.guarantee.m
        return f"(k,m,a)-anonymity (k={k}, m={m}, a={self.absent}, absent {self.absence})"

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [
            {"itemset": list(itemset), "absent": list(absent), "support": support}
            for itemset, absent, support in self.first
        ]


def require_absence(absent: object, absence: object, guarantee: Any) -> None:
    """Refuse what cannot be asked of absent items."""
    if not isinstance(absent, int) or isinstance(absent, bool) or not 1 <= absent <= MOST:
        raise RequestError(
            f"--absent must be 1 or {MOST}, got {absent!r}.", hint="How many items are known to be absent."
        )
    if absence not in ABSENCES:
        raise RequestError(f"--absence must be {' or '.join(ABSENCES)}, got {absence!r}.")
    if guarantee.model not in (KmAnonymity.model, KKmAnonymity.model):
        raise RequestError(
            f"--absent asks about {KmAnonymity.model} and {KKmAnonymity.model}, not about {guarantee.model}.",
            hint="Omit it.",
        )
    if guarantee.secrets:
        raise RequestError(
            "--absent does not go with sensitive values.",
            hint="Omit one of them: `setveil verify` checks each by itself.",
        )
    if guarantee.m == math.inf:
        raise RequestError(
            "With --absent, m must be a number of items.", hint=f"Such as {faces('--m 2', 'm=2')}."
        )


def nothing_absent() -> RequestError:
    """Make the error for rows in which absence cannot be checked."""
    return RequestError(
        "--absent is for single rows of items and tables, not for groups, classes or facts.",
        hint="Omit it.",
    )


def signs_of(
    published: Transactions,
    absence: str,
    members: Mapping[str, Sequence[str]],
    counts: Sequence[tuple[str, str, int]] = (),
) -> list[Sign]:
    """List the signs that exclude rows for someone who knows that an item, or a label, is absent.

    For labels, it is each label that occurs. For items, it is the labels that certainly mean the item: they
    represent it alone or, by `counts` of (item, label, rows), all their rows contain it.
    """
    shown = dict(zip(published.vocabulary.labels, published.supports().tolist(), strict=True))
    if absence == LABELS:
        return [(label, (label,)) for label, rows in shown.items() if rows]
    telling: dict[str, list[str]] = {}
    for label, rows in shown.items():
        items = members.get(label, (label,))
        if rows and len(items) == 1:
            telling.setdefault(items[0], []).append(label)
    for item, label, rows in counts:
        if label and rows and rows == shown.get(label) and label not in telling.get(item, ()):
            telling.setdefault(item, []).append(label)
    found: dict[tuple[str, ...], str] = {}
    for item, labels in telling.items():
        found.setdefault(tuple(sorted(labels)), item)
    return [(item, labels) for labels, item in found.items()]


def verify_absence(
    published: Transactions,
    guarantee: KmAnonymity,
    signs: Sequence[Sign],
    *,
    absent: int,
    absence: str,
    show: int = 10,
    progress: Progress = silent,
) -> AbsenceVerdict:
    """Check (k, m, a)-anonymity from published rows, for a finite m.

    The rows that contain a set of labels are counted by the signs that they show: rows without the sign fit
    the set and the absence. This takes about as long as counting sets of m + `absent` labels.
    """
    labels, n_ids = published.vocabulary.labels, published.n_items
    rows = distinct_rows(published.indptr, published.items)[1]
    empty = published.n_rows - int(rows.weights.sum())
    if empty:
        rows = Rows(
            np.append(rows.indptr, rows.indptr[-1]), rows.items, np.append(rows.weights, np.int64(empty))
        )
    fact_ends, facts = _facts(rows, [sign for _, sign in signs], labels)
    holders = holders_of(rows, n_ids)
    k = min(guarantee.k, published.n_rows + 1)
    m = int(min(guarantee.m, max(int(np.diff(rows.indptr).max(initial=0)), 1)))
    state = np.array([0, 1 << 62, 0], np.int64)
    noted = np.zeros((LISTED, 3 + m + absent), np.int64)
    for first in range(-1, n_ids if rows.weights.size else -1):
        if first % 64 == 0:
            progress("verifying with absent items", first / n_ids)
        _count(
            rows.indptr, rows.items, rows.weights, fact_ends, facts, holders.starts, holders.rows, len(signs),
            first, m, absent, k, state, noted,
        )  # fmt: skip
    entries = [
        ((nx + ny, nx, tuple(ids[:nx]), tuple(ids[m : m + ny])), support)
        for nx, ny, support, *ids in noted[: state[NOTED]].tolist()
    ]
    first_ones = tuple(
        (tuple(labels[x] for x in xs), tuple(signs[y][0] for y in ys), support)
        for (_, _, xs, ys), support in sorted(entries)[:show]
    )
    smallest = int(state[SMALLEST])
    return AbsenceVerdict(
        guarantee,
        absent,
        absence,
        not state[FOUND],
        int(state[FOUND]),
        first_ones,
        None if smallest == 1 << 62 else smallest,
    )


def _facts(rows: Rows, signs: Sequence[tuple[str, ...]], labels: Sequence[str]) -> tuple[Ints, Ints]:
    """Find the signs that each distinct row shows: where those of a row end, and their numbers, ascending."""
    ids = {label: at for at, label in enumerate(labels)}
    pairs = sorted((ids[label], number) for number, sign in enumerate(signs) for label in sign)
    of_label: list[list[int]] = [[] for _ in labels]
    for label, number in pairs:
        of_label[label].append(number)
    lengths = np.array([len(some) for some in of_label], np.int64)
    starts = np.concatenate(([0], np.cumsum(lengths)))
    flat = np.array([number for some in of_label for number in some], np.int64)
    items = rows.items.astype(np.int64)
    times = lengths[items] if items.size else np.zeros(0, np.int64)
    row = np.repeat(np.repeat(np.arange(rows.weights.size), np.diff(rows.indptr)), times)
    within = np.arange(int(times.sum())) - np.repeat(np.cumsum(times) - times, times)
    fact = flat[np.repeat(starts[items], times) + within] if items.size else np.zeros(0, np.int64)
    keys = np.unique(row * max(len(signs), 1) + fact)
    row, fact = np.divmod(keys, max(len(signs), 1))
    return np.concatenate(([0], np.cumsum(np.bincount(row, minlength=rows.weights.size)))), fact


@compiled
def _count(
    indptr, items, weights, fact_ends, facts, starts, holders, n_facts, first, m, absent, k, state, noted
):  # fmt: skip
    """Count the pairs whose set of labels begins with `first`; -1: the empty set."""
    path = np.zeros(m + 1, np.int64)
    count = np.zeros(n_facts, np.int64)
    touched = np.empty(n_facts, np.int64)
    place = np.empty(n_facts, np.int64)
    if first < 0:
        _judge(np.arange(weights.size), weights, fact_ends, facts, n_facts, path, 0, m, absent, k, count,
               touched, place, state, noted)  # fmt: skip
        return
    there = starts[first + 1] - starts[first]
    if there == 0:
        return
    width = there
    for p in range(starts[first], starts[first + 1]):
        width += indptr[holders[p] + 1] - indptr[holders[p]]
    # At place d are rows of sets of d + 1 labels, one set after another, and where each row goes on.
    held = np.empty((m, width), np.int64)
    onward = np.empty((m, width), np.int64)
    for i in range(there):
        row = holders[starts[first] + i]
        held[0, i] = row
        p = indptr[row]
        while items[p] != first:
            p += 1
        onward[0, i] = p + 1
    n_ids = starts.size - 1
    number = np.zeros(n_ids, np.int64)  # rows by their next label; zero between two uses
    follows = np.empty((m, n_ids), np.int64)  # labels that go on from a set, ascending
    borders = np.zeros((m, n_ids + 1), np.int64)  # where their rows are, at the next place
    last = np.zeros(m, np.int64)
    looking = np.zeros(m, np.int64)
    path[0] = first
    _judge(held[0, :there], weights, fact_ends, facts, n_facts, path, 1, m, absent, k, count, touched, place,
           state, noted)  # fmt: skip
    d = np.int64(0)
    if m > 1:
        last[0] = _go_on(indptr, items, held, onward, 0, 0, there, first, number, follows[0], borders[0])
    while d >= 0:
        if looking[d] == last[d]:
            d -= 1
            continue
        at = looking[d]
        looking[d] += 1
        start, end = borders[d, at], borders[d, at + 1]
        path[d + 1] = follows[d, at]
        _judge(held[d + 1, start:end], weights, fact_ends, facts, n_facts, path, d + 2, m, absent, k, count,
               touched, place, state, noted)  # fmt: skip
        if d + 2 < m:
            d += 1
            looking[d] = 0
            last[d] = _go_on(
                indptr, items, held, onward, d, start, end, path[d], number, follows[d], borders[d]
            )


@compiled
def _go_on(indptr, items, held, onward, d, start, end, label, number, follows, borders):
    """Put the rows of a set that ends with a label by their next one, at the next place; how many follow."""
    for i in range(start, end):
        for p in range(onward[d, i], indptr[held[d, i] + 1]):
            number[items[p]] += 1
    n_follows = np.int64(0)
    for z in range(label + 1, number.size):
        if number[z] > 0:
            follows[n_follows] = z
            borders[n_follows + 1] = borders[n_follows] + number[z]
            number[z] = borders[n_follows]
            n_follows += 1
    for i in range(start, end):
        for p in range(onward[d, i], indptr[held[d, i] + 1]):
            to = number[items[p]]
            held[d + 1, to] = held[d, i]
            onward[d + 1, to] = p + 1
            number[items[p]] = to + 1
    for f in range(n_follows):
        number[follows[f]] = 0
    return n_follows


@compiled
def _judge(
    some, weights, fact_ends, facts, n_facts, path, depth, m, absent, k, count, touched, place, state, noted
):  # fmt: skip
    """Look at a set of labels, which `some` rows hold, with every set of absent ones."""
    support = np.int64(0)
    n_touched = np.int64(0)
    for row in some:
        support += weights[row]
        for p in range(fact_ends[row], fact_ends[row + 1]):
            y = facts[p]
            if count[y] == 0:
                touched[n_touched] = y
                place[y] = n_touched
                n_touched += 1
            count[y] += weights[row]
    n_others = n_facts - n_touched  # signs that none of these rows shows
    if depth > 0:
        state[SMALLEST] = min(state[SMALLEST], support)
        if support < k:
            state[FOUND] += 1
            _note(noted, state, path, depth, m, 0, 0, 0, support)
    if n_others > 0:
        state[SMALLEST] = min(state[SMALLEST], support)
        if support < k:
            state[FOUND] += n_others
            if absent > 1:
                state[FOUND] += n_others * (n_others - 1) // 2
            for y in range(n_facts):
                if state[NOTED] == noted.shape[0]:
                    break
                if count[y] == 0:
                    _note(noted, state, path, depth, m, 1, y, 0, support)
                    if absent > 1:
                        for z in range(y + 1, n_facts):
                            if count[z] == 0:
                                _note(noted, state, path, depth, m, 2, y, z, support)
    for t in range(n_touched):
        y = touched[t]
        left = support - count[y]
        if left > 0:
            state[SMALLEST] = min(state[SMALLEST], left)
            if left < k:
                state[FOUND] += 1
                _note(noted, state, path, depth, m, 1, y, 0, left)
                if absent > 1:
                    state[FOUND] += n_others
                    for z in range(n_facts):
                        if state[NOTED] == noted.shape[0]:
                            break
                        if count[z] == 0:
                            _note(noted, state, path, depth, m, 2, min(y, z), max(y, z), left)
    if absent > 1 and n_touched > 1:
        both = np.zeros((n_touched, n_touched), np.int64)
        for row in some:
            for p in range(fact_ends[row], fact_ends[row + 1]):
                for q in range(p + 1, fact_ends[row + 1]):
                    u, v = place[facts[p]], place[facts[q]]
                    both[min(u, v), max(u, v)] += weights[row]
        for u in range(n_touched):
            for v in range(u + 1, n_touched):
                y, z = touched[u], touched[v]
                left = support - count[y] - count[z] + both[u, v]
                if left > 0:
                    state[SMALLEST] = min(state[SMALLEST], left)
                    if left < k:
                        state[FOUND] += 1
                        _note(noted, state, path, depth, m, 2, min(y, z), max(y, z), left)
    for t in range(n_touched):
        count[touched[t]] = 0


@compiled
def _note(noted, state, path, depth, m, n_absent, y, z, support):
    """Remember a violation, if there is room."""
    at = state[NOTED]
    if at == noted.shape[0]:
        return
    noted[at, 0], noted[at, 1], noted[at, 2] = depth, n_absent, support
    noted[at, 3 : 3 + depth] = path[:depth]
    if n_absent > 0:
        noted[at, 3 + m] = y
    if n_absent > 1:
        noted[at, 4 + m] = z
    state[NOTED] = at + 1
