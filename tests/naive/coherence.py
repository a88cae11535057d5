"""(h, k, p)-coherence, MM and the border-based algorithm by listing every mole and every nugget (SPEC §6)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fractions import Fraction
from itertools import combinations

from naive.km import Rows, item_order

Itemset = frozenset[str]


def subsets(items: Iterable[str], most: float) -> list[Itemset]:
    """List the non-empty subsets of at most `most` items."""
    items = sorted(items)
    return [
        frozenset(c) for size in range(1, int(min(most, len(items))) + 1) for c in combinations(items, size)
    ]


def support(rows: Rows, items: Collection[str]) -> int:
    return sum(set(items) <= row for row in rows)


def breach(rows: Rows, private: Collection[str], items: Collection[str]) -> Fraction:
    """The greatest probability of a private item among the rows with these items."""
    have = [row for row in rows if set(items) <= row]
    return max((Fraction(sum(s in row for row in have), len(have)) for s in private), default=Fraction(0))


def bpr(rows: Rows, private: Collection[str], items: Collection[str]) -> Fraction:
    """BPr: the same over all subsets of the items, the empty one included."""
    below = [frozenset(), *subsets(items, len(items))]
    return max(breach(rows, private, beta) for beta in below)


def public_of(rows: Rows, private: Collection[str]) -> list[str]:
    """List the public items in item order (that of all items that occur)."""
    return [item for item in item_order({item for row in rows for item in row}) if item not in set(private)]


def occurring(rows: Rows, private: Collection[str], p: float) -> Counter[Itemset]:
    """Support of every public set of at most p items that occurs."""
    out: Counter[Itemset] = Counter()
    for row in rows:
        out.update(subsets(row - set(private), p))
    return out


def moles(rows: Rows, private: Collection[str], h: Fraction, k: int, p: float) -> set[Itemset]:
    """List all moles; BPr by the definition, each set's own probability being computed once."""
    found = occurring(rows, private, p)
    own = {items: breach(rows, private, items) for items in found}
    empty = breach(rows, private, ()) if rows else Fraction(0)
    return {
        items
        for items, times in found.items()
        if times < k or max(empty, *(own[beta] for beta in subsets(items, len(items)))) > h
    }


def minimal(sets: Iterable[Itemset]) -> set[Itemset]:
    sets = set(sets)
    return {items for items in sets if not any(items - {x} in sets for x in items if len(items) > 1)}


def nuggets(rows: Rows, k: int, p: float) -> set[Itemset]:
    """Sets of at most p items, public or private, in at least k rows."""
    found: Counter[Itemset] = Counter()
    for row in rows:
        found.update(subsets(row, p))
    return {items for items, times in found.items() if times >= k}


def is_coherent(rows: Rows, private: Collection[str], h: Fraction, k: int, p: float) -> bool:
    if rows and (len(rows) < k or breach(rows, private, ()) > h):
        return False
    return not moles(rows, private, h, k, p)


def without(rows: Rows, items: Collection[str]) -> list[frozenset[str]]:
    return [row - set(items) for row in rows]


def border(
    rows: Rows, private: Collection[str], h: Fraction, k: int, p: float, k_nugget: int, p_nugget: float,
    *, printed: bool = False,
) -> list[tuple[str, str]]:  # fmt: skip
    """List the items that the border-based algorithm suppresses, with reasons, counting everything each time.

    `printed`: apply Observation 2, which suppresses items in no nugget at once.
    """
    public = public_of(rows, private)
    out = [(v, "support below k") for v in public if support(rows, {v}) < k]
    if printed:
        out += [(v, "in no nugget") for v in public if k <= support(rows, {v}) < k_nugget]
    rows = without(rows, [v for v, _ in out])
    while found := moles(rows, private, h, k, p):
        good = nuggets(rows, k_nugget, p_nugget)
        best: tuple[float | Fraction, int, str] | None = None
        for v in public:
            bad = sum(v in items for items in found)
            if not bad:
                continue
            kept = sum(v in items for items in good)
            # Of infinite scores that of more moles is greater.
            score = (Fraction(bad, kept), 0) if kept else (float("inf"), bad)
            if best is None or score > best[:2]:
                best = *score, v
        assert best is not None
        out.append((best[2], str(best[0])))
        rows = without(rows, [best[2]])
    return out


def mm(
    rows: Rows, private: Collection[str], h: Fraction, k: int, p: float, *, equal: bool = False
) -> list[tuple[str, str]]:
    """List what MM drops and why; `equal`: all items weigh the same, not by their occurrences."""
    public = public_of(rows, private)
    alone = {v for v in public if {frozenset({v})} & moles(rows, private, h, k, 1)}
    out = [
        (v, "support below k" if support(rows, {v}) < k else "betrays alone") for v in public if v in alone
    ]
    rows = without(rows, alone)
    left = minimal(moles(rows, private, h, k, p))
    while left:
        weight = {v: 1 if equal else support(rows, {v}) or 1 for v in public}
        scores = {v: Fraction(sum(v in items for items in left), weight[v]) for v in public}
        best = max(public, key=lambda v: (scores[v], -public.index(v)))
        out.append((best, str(scores[best])))
        left = {items for items in left if best not in items}
    return out


def described(
    rows: Rows, private: Collection[str], h: Fraction, k: int, p: float, order: Sequence[str]
) -> list[tuple[tuple[str, ...], int, str | None, Fraction]]:
    """List the minimal moles: items, support, the private item betrayed and its probability."""
    rank = {label: i for i, label in enumerate(order)}
    out: list[tuple[tuple[str, ...], int, str | None, Fraction]] = []
    for items in minimal(moles(rows, private, h, k, p)):
        have = [row for row in rows if items <= row]
        label: str | None = None
        share = Fraction(0)
        if len(have) >= k:
            label = max(private, key=lambda s: (sum(s in row for row in have), -rank.get(s, len(rank))))
            share = Fraction(sum(label in row for row in have), len(have))
        out.append((tuple(sorted(items, key=rank.__getitem__)), len(have), label, share))
    return sorted(out, key=lambda entry: (len(entry[0]), [rank[x] for x in entry[0]]))
