"""Random rows with privacy and utility constraints, for the algorithms that merge items by them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

from naive.coat import all_itemsets, pgen
from releases import released
from setveil.guarantees.constraints import PrivacyConstraints
from setveil.hierarchy.tree import Hierarchy
from setveil.published import Release
from setveil.published.recoding import Recoding
from strategies import Case, Rows, random_case, transactions

# Loukides et al. 2011, figures 1 and 2(c) of the paper.
ROWS = [
    frozenset(row)
    for row in ["abcdefgh", "acefg", "cdefh", "acef", "efgh", "defg", "abde", "acf", "ac", "bh"]
]
PRIVACY = (tuple("abc"), tuple("defgh"))
UTILITY = (tuple("ab"), ("c",), ("d",), tuple("efgh"))


def run(
    module: ModuleType,
    rows: Rows,
    guarantee: PrivacyConstraints,
    tree: Hierarchy | None = None,
    seed: int = 0,
    **parameters: Any,
) -> Release:
    return released(module, transactions(rows), tree, guarantee, module.Parameters(**parameters), seed)


def recoding_of(release: Release) -> Recoding:
    assert isinstance(release.recoding, Recoding)
    return release.recoding


def image(release: Release) -> dict[str, str | None]:
    recoding = recoding_of(release)
    labels = [*recoding.published.labels, None]
    return {item: labels[to] for item, to in zip(recoding.items.labels, recoding.image.tolist(), strict=True)}


def groups(release: Release) -> dict[str, frozenset[str] | None]:
    members = recoding_of(release).members()
    return {item: None if to is None else frozenset(members[to]) for item, to in image(release).items()}


def as_bytes(release: Release) -> tuple[object, ...]:
    published, recoding = release.published, recoding_of(release)
    return (
        published.indptr.tobytes(),
        published.items.tobytes(),
        published.vocabulary.labels,
        recoding.image.tobytes(),
        recoding.published.labels,
        release.row_map.tobytes(),
    )


@dataclass(frozen=True)
class Problem:
    case: Case
    items: tuple[str, ...]
    privacy: tuple[tuple[str, ...], ...]
    guarantee: PrivacyConstraints
    utility: tuple[tuple[str, ...], ...] | None
    share: Fraction
    tree: Hierarchy | None

    def arguments(self) -> tuple[Any, ...]:
        """Return the arguments of the twins."""
        parents = self.case.parents if self.tree else None
        return (
            self.case.rows,
            self.items,
            self.privacy,
            self.utility or (),
            self.guarantee.k,
            self.share,
            parents,
        )

    def run(self, module: ModuleType, seed: int = 0) -> Release:
        return run(
            module,
            self.case.rows,
            self.guarantee,
            self.tree,
            seed,
            utility=self.utility,
            max_suppressed_items=self.share,
        )


def random_problem(rng: Random, share: Fraction | None = None) -> Problem:
    case = random_case(
        rng,
        most_leaves=rng.choice((4, 7, 12)),
        most_rows=rng.choice((8, 20, 60)),
        most_items=rng.choice((2, 4, 8)),
    )
    tree = case.tree if rng.random() < 0.5 else None
    items = tree.labels[: tree.n_leaves] if tree else case.data.vocabulary.labels
    utility = None
    if rng.random() < 0.5:
        owner = [rng.randrange(rng.randint(1, 6)) for _ in items]
        parts = [tuple(i for i, o in zip(items, owner, strict=True) if o == g) for g in sorted(set(owner))]
        utility = tuple(part for part in parts if rng.random() < 0.8)
    draw = rng.random()
    if draw < 0.5:
        m = rng.choice((1, 2, 2, 3, 3, 4))
        longest = max([1, *map(len, case.rows)])
        privacy = tuple(all_itemsets(case.rows, min(m, longest), items))
        guarantee = PrivacyConstraints(case.k, m=m)
    else:
        pool = [*items, "nowhere"] if rng.random() < 0.2 else [*items]
        sizes = [
            rng.randint(1, min(len(pool), rng.choice((2, 4, 6)))) if pool else 0
            for _ in range(rng.randint(0, 12))
        ]
        privacy = tuple(tuple(rng.sample(pool, size)) for size in sizes if size)
        if draw < 0.65:
            privacy = tuple(pgen(case.rows, case.k))
        guarantee = PrivacyConstraints(case.k, privacy)
    if share is None:
        share = rng.choice((Fraction(1), Fraction(1), Fraction(1, 5), Fraction(0)))
    return Problem(case, tuple(items), privacy, guarantee, utility, share, tree)
