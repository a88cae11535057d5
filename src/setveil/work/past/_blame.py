"""The fewest items that meet every set of labels that violates a guarantee."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

import numpy as np

MOST_SETS = 20_000  # beyond, the solver is not asked
SECONDS = 1.5  # that it may take

Sets = set[frozenset[str]]
Costs = Mapping[str, tuple[int, int]]


def smallest_blame(
    sets: Collection[frozenset[str]], costs: Costs, *, prove: bool = True
) -> tuple[frozenset[str], bool]:
    """Choose labels so that each set contains one: of as few items as possible, then of few occurrences.

    `costs`: items (at least 1) and occurrences of each label. A label that is a set of its own is chosen in
    any case; the rest is a small program of zeros and ones. No label of the result can be spared. It is
    proven if no choice has fewer items, or as many of fewer occurrences; else it was made greedily (`prove`
    is False), or the solver's time was up.
    """
    forced = {label for one in sets if len(one) == 1 for label in one}
    rest = _least(one for one in set(sets) if not one & forced)
    if not rest:
        return frozenset(forced), True
    chosen, proven = _greedy(rest, costs), False
    if prove and len(rest) <= MOST_SETS:
        found, proven = _solved(rest, costs)
        if proven or (found and _cost(found, costs) < _cost(chosen, costs)):
            chosen = found
    return frozenset(forced | chosen), proven


def _cost(labels: Iterable[str], costs: Costs) -> tuple[int, int]:
    each = [costs[label] for label in labels]
    return sum(items for items, _ in each), sum(entries for _, entries in each)


def _least(sets: Iterable[frozenset[str]]) -> Sets:
    """Omit sets that hold another: who meets that one meets them."""
    kept: Sets = set()
    by_label: dict[str, list[frozenset[str]]] = {}
    for one in sorted(sets, key=len):
        if len(one) > 2 and any(other < one for label in one for other in by_label.get(label, ())):
            continue
        kept.add(one)
        for label in one:
            by_label.setdefault(label, []).append(one)
    return kept


def _by_label(sets: Iterable[frozenset[str]]) -> dict[str, Sets]:
    found: dict[str, Sets] = {}
    for one in sets:
        for label in one:
            found.setdefault(label, set()).add(one)
    return found


def _greedy(sets: Sets, costs: Costs) -> set[str]:
    """Choose the label that meets most sets per item, of those that are left, again and again."""
    meets = _by_label(sets)
    chosen: list[str] = []
    left = len(sets)
    while left:
        best = min(meets, key=lambda label: (-len(meets[label]) / costs[label][0], costs[label], label))
        chosen.append(best)
        met = meets.pop(best)
        left -= len(met)
        for one in met:
            for label in one - {best}:
                if label in meets:
                    meets[label].discard(one)
    return _needed(chosen, sets)


def _needed(chosen: Collection[str], sets: Sets) -> set[str]:
    """Suppress labels that can be spared."""
    kept = set(chosen)
    meets = _by_label(sets)
    met = {one: len(one & kept) for one in sets}
    for label in chosen:
        if all(met[one] > 1 for one in meets[label]):
            kept.discard(label)
            for one in meets[label]:
                met[one] -= 1
    return kept


def _solved(sets: Sets, costs: Costs) -> tuple[set[str], bool]:
    """Minimize items, then entries, by the integer programs of HiGHS; nothing if its time was too short."""
    import highspy

    from setveil.base.solver import solver

    labels = sorted({label for one in sets for label in one})
    place = {label: i for i, label in enumerate(labels)}
    rows = sorted(sorted(place[label] for label in one) for one in sets)
    more = _cost(labels, costs)[1] + 1  # one item less is worth more than all entries
    lp = highspy.HighsLp()
    lp.num_col_, lp.num_row_ = len(labels), len(rows)
    lp.col_cost_ = np.array([costs[label][0] + costs[label][1] / more for label in labels])
    lp.col_lower_, lp.col_upper_ = np.zeros(len(labels)), np.ones(len(labels))
    lp.row_lower_, lp.row_upper_ = np.ones(len(rows)), np.full(len(rows), highspy.kHighsInf)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    lp.a_matrix_.start_ = np.cumsum([0, *map(len, rows)])
    lp.a_matrix_.index_ = np.array([i for row in rows for i in row])
    lp.a_matrix_.value_ = np.ones(sum(map(len, rows)))
    lp.integrality_ = [highspy.HighsVarType.kInteger] * len(labels)
    highs = solver(time_limit=SECONDS, mip_rel_gap=0.0, mip_abs_gap=0.5 / more)
    highs.passModel(lp)
    highs.run()
    values = highs.getSolution().col_value
    found = {label for label, value in zip(labels, values, strict=False) if value > 0.5}
    if not all(one & found for one in sets):
        return set(), False
    proven = highs.getModelStatus() == highspy.HighsModelStatus.kOptimal
    return _needed(sorted(found), sets), proven
