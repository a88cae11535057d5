"""CAHD's groups, the band order, privacy degrees and reconstruction errors, straight from SPEC §7.

Rows are frozensets of labels.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

from naive.km import Rows, item_order

Groups = list[list[int]]


def band_order(rows: Rows) -> list[int]:
    """Reverse Cuthill-McKee over the graph of distinct rows, with the sum of supports as a row's degree.

    Each component begins at a row of least degree; then at one of least degree among the farthest from it,
    twice. The order of least profile counts.
    """
    order = {item: i for i, item in enumerate(item_order({item for row in rows for item in row}))}
    support = Counter(item for row in rows for item in row)
    members: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(rows):
        members.setdefault(tuple(sorted(order[item] for item in row)), []).append(number)
    degree = {key: sum(support[item] for item in rows[mine[0]]) for key, mine in members.items()}
    by_degree = sorted(members, key=lambda key: (degree[key], key))
    roots = by_degree
    found: list[list[int]] = []
    for _ in range(3):
        placed: list[tuple[int, ...]] = []
        farthest: list[tuple[int, ...]] = []
        for root in roots:
            if root in placed:
                continue
            levels = {root: 0}
            component = [root]
            for center in component:  # grows meanwhile
                for key in by_degree:
                    if key not in levels and set(key) & set(center):
                        levels[key] = levels[center] + 1
                        component.append(key)
            placed += component
            height = max(levels.values())
            farthest.append(next(key for key in by_degree if levels.get(key) == height))
        roots = farthest
        found.append([number for key in reversed(placed) for number in members[key]])
    return min(found, key=lambda numbers: profile([rows[x] for x in numbers]))


def bandwidth(rows: Rows) -> int:
    return max((j - i for i, a in enumerate(rows) for j, b in enumerate(rows) if i < j and a & b), default=0)


def profile(rows: Rows) -> int:
    return sum(i - min([i, *(j for j in range(i) if row & rows[j])]) for i, row in enumerate(rows))


def groups(rows: Rows, sensitive: frozenset[str], p: int, alpha: int) -> Groups:
    """Form groups of rows that are in band order already; the last one is the remainder, if any."""
    remaining = list(range(len(rows)))
    found: Groups = []
    for t, row in enumerate(rows):
        if t not in remaining or not row & sensitive:
            continue
        free = [x for x in remaining if x != t and not rows[x] & row & sensitive]
        before = [x for x in free if x < t][::-1][: alpha * p]
        after = [x for x in free if x > t][: alpha * p]
        candidates = sorted(
            before + after, key=lambda x: (-len((rows[x] & row) - sensitive), abs(x - t), x > t)
        )
        group = [t]
        for x in candidates:
            if len(group) < p and not any(rows[x] & rows[y] & sensitive for y in group):
                group.append(x)
        if len(group) < p:
            continue
        outside = [x for x in remaining if x not in group]
        if all(sum(s in rows[x] for x in outside) * p <= len(outside) for s in sensitive):
            remaining = outside
            found.append(group)
    return [*found, remaining] if remaining else found


def exchange(rows: Rows, sensitive: frozenset[str], p: int, rounds: int, found: Groups, near: int) -> Groups:
    """Exchange rows of groups (rows are in band order) for left-over ones; the last group is what remains."""
    found = [list(group) for group in found]
    kinds = list(dict.fromkeys(row - sensitive for row in rows))
    order = item_order({item for row in rows for item in row})
    hidden = [s for s in order if s in sensitive and any(s in row for row in rows)]
    items = [i for i in order if i not in sensitive]
    held = {(s, i): sum({s, i} <= row for row in rows) for s in hidden for i in items}
    holders = {s: sum(s in row for row in rows) for s in hidden}
    last = found[-1]
    weight = [
        {s: sum(s in rows[x] for x in group) * (p if group is last else len(last)) for s in hidden}
        for group in found
    ]
    number = {
        (s, i): sum(w[s] * sum(i in rows[x] for x in group) for w, group in zip(weight, found, strict=True))
        for s in hidden
        for i in items
    }
    scale = {s: p * len(last) * holders[s] for s in hidden}

    def loss(s: str, i: str, new: int) -> float:
        a, e = held[s, i] / holders[s], new / scale[s]
        out = a * math.log(a / e) if held[s, i] else 0.0
        return out + ((1.0 - a) * math.log((1.0 - a) / (1.0 - e)) if held[s, i] < holders[s] else 0.0)

    def slope(s: str, i: str) -> float:
        a, e = held[s, i] / holders[s], number[s, i] / scale[s]
        out = 0.0 - (a / e if held[s, i] else 0.0)
        return (out + ((1.0 - a) / (1.0 - e) if held[s, i] < holders[s] else 0.0)) / holders[s]

    top: dict[frozenset[str], list[int]] = {kind: [] for kind in kinds}
    for x in sorted(last, reverse=True):
        if not rows[x] & sensitive:
            top[rows[x] - sensitive].append(x)
    in_group = {x: g for g, group in enumerate(found[:-1]) for x in group if not rows[x] & sensitive}
    seats = sorted(in_group)
    seat_group = [in_group[x] for x in seats]
    for _ in range(rounds):
        for k, g in enumerate(seat_group):
            x = seats[k]
            step = {s: weight[g][s] - weight[-1][s] for s in hidden}
            # in the order of the compiled code, so that sums of floats are equal
            overdue = [s for s in hidden if weight[-1][s]]
            overdue += [s for s in hidden if weight[g][s] and not weight[-1][s]]

            def linear(row: int) -> float:
                out = 0.0  # plainly: sum() rounds less often
                for s in overdue:  # noqa: B023
                    for i in items:
                        if i in rows[row]:
                            out += step[s] * slope(s, i)  # noqa: B023
                return out

            best, taken, at = linear(x), -1, kinds.index(rows[x])
            for d in range(1, near + 1):
                for place in (at - d, at + d):
                    if 0 <= place < len(kinds) and top[kinds[place]]:
                        value = linear(top[kinds[place]][-1])
                        if value < best:
                            best, taken = value, place
            if taken < 0:
                continue
            y = top[kinds[taken]][-1]
            gain = 0.0
            for mine, other, sign in ((x, y, -1), (y, x, 1)):
                part = 0.0
                for i in items:
                    if i in rows[mine] - rows[other]:
                        for s in overdue:
                            part += loss(s, i, number[s, i] + sign * step[s])
                            part -= loss(s, i, number[s, i])
                gain += part
            if gain < -1e-12:
                seats[k] = top[kinds[taken]].pop()
                top[rows[x]].append(x)
                found[g][found[g].index(x)], last[last.index(y)] = y, x
                for s in overdue:
                    for i in items:
                        number[s, i] += step[s] * ((i in rows[y]) - (i in rows[x]))
    return found


def single_item_loss(rows: Rows, sensitive: frozenset[str], found: Groups) -> float:
    """Sum the KL of all queries over a sensitive item and one other."""
    labels = {item for row in rows for item in row}
    return math.fsum(divergence(rows, s, [i], found) for s in labels & sensitive for i in labels - sensitive)


def degree(rows: Rows, sensitive: frozenset[str], found: Groups) -> Fraction | None:
    """Return the smallest privacy degree of a group; None if none holds a sensitive item."""
    degrees = [
        Fraction(len(group), count)
        for group in found
        for count in Counter(s for x in group for s in rows[x] & sensitive).values()
    ]
    return min(degrees, default=None)


def divergence(rows: Rows, sensitive: str, query: Sequence[str], found: Groups) -> float:
    """Return the KL of one group-by query; exact except for the logarithms."""
    holders = [x for x, row in enumerate(rows) if sensitive in row]
    cell = [frozenset(query) & row for row in rows]
    total = 0.0
    for c in {cell[x] for x in holders}:
        actual = Fraction(sum(cell[x] == c for x in holders), len(holders))
        estimate = sum(
            Fraction(
                sum(sensitive in rows[x] for x in group) * sum(cell[x] == c for x in group),
                len(group) * len(holders),
            )
            for group in found
        )
        total += actual * math.log(actual / estimate)
    return total
