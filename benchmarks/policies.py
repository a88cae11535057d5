"""The privacy and utility policies of the paper's experiments (KAIS 28(2), 2011, sections 6.3 and 6.4).

The paper draws them at random and does not give its draws; here a seed does.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from random import Random

from setveil.methods.constraints.utility import groups_of
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

Itemsets = tuple[tuple[str, ...], ...]

# PP1-PP5: the share of the items whose 2-itemsets are protected.
SHARES = {
    "PP1": Fraction(2, 100),
    "PP2": Fraction(5, 100),
    "PP3": Fraction(10, 100),
    "PP4": Fraction(25, 100),
    "PP5": Fraction(50, 100),
}

# PP6-PP9: how the constraints divide into items, 2-, 3- and 4-itemsets (table 2 of the paper).
MIXTURES = {
    "PP6": (Fraction(33, 100), Fraction(33, 100), Fraction(33, 100), Fraction(1, 100)),
    "PP7": (Fraction(30, 100), Fraction(30, 100), Fraction(30, 100), Fraction(10, 100)),
    "PP8": (Fraction(25, 100), Fraction(25, 100), Fraction(25, 100), Fraction(25, 100)),
    "PP9": (Fraction(1, 6), Fraction(1, 6), Fraction(1, 6), Fraction(1, 2)),
}

# UP1-UP4: items per utility constraint.
SIZES = {"UP1": 25, "UP2": 50, "UP3": 250, "UP4": 500}


def pairs_of_some_items(data: Transactions, policy: str, seed: int) -> Itemsets:
    """Make PP1 to PP5: all 2-itemsets of a share of the items that occur, drawn at random."""
    labels = data.vocabulary.labels
    chosen = Random(seed).sample(range(len(labels)), int(SHARES[policy] * len(labels)))  # noqa: S311
    return tuple((labels[a], labels[b]) for a, b in combinations(sorted(chosen), 2))


def itemsets_of_varying_size(data: Transactions, policy: str, n: int, seed: int) -> Itemsets:
    """Make PP6 to PP9: n itemsets of one to four items, in the policy's mixture.

    The paper gives neither their number nor how they are drawn. Here each is a random part of a random row,
    so that it occurs; no itemset is drawn twice. Fewer than n are made if the data do not contain enough.
    """
    rng = Random(seed)  # noqa: S311
    rows = list(data)
    out: list[tuple[str, ...]] = []
    for size, share in enumerate(MIXTURES[policy], 1):
        long_enough = [row for row in rows if len(row) >= size]
        wanted, seen = round(share * n), set[tuple[int, ...]]()
        ids = data.vocabulary.ids
        for _ in range(20 * wanted if long_enough else 0):
            if len(seen) == wanted:
                break
            row = rng.choice(long_enough)
            seen.add(tuple(sorted(ids[item] for item in rng.sample(row, size))))
        out += [tuple(data.vocabulary.labels[i] for i in itemset) for itemset in sorted(seen)]
    return tuple(out)


def utility_policy(tree: Hierarchy, policy: str) -> Itemsets:
    """Make UP1 to UP4: groups of neighbours in the hierarchy."""
    return groups_of(tree, SIZES[policy])
