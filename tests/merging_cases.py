"""Random rows with privacy and utility constraints, for the algorithms that merge items by them."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from types import ModuleType
from typing import Any

from naive.anonymize import Tree, leaves, up_from
from naive.coat import all_itemsets, pgen, weight, whole_loss
from releases import released
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.releases.published import Release
from setveil.releases.published.recoding import Recoding
from setveil.rows.hierarchy.tree import Hierarchy
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
    weights: dict[str, Fraction] = field(default_factory=dict)  # of nodes
    penalties: dict[str, Fraction] = field(default_factory=dict)  # of suppressed items

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
            self.weights,
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
            label_weights=self.weights,
            penalties=self.penalties,
        )

    def expected_loss(self, image: dict[str, frozenset[str] | None]) -> tuple[Fraction, Fraction]:
        """Return the utility loss of the labels, and the penalties."""
        parents = self.case.parents if self.tree else None
        return whole_loss(self.case.rows, self.items, image, parents, self.weights, self.penalties)


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
    weights = random_weights(rng, case.parents) if tree and rng.random() < 0.5 else {}
    occurring = sorted({item for row in case.rows for item in row})
    penalties = {item: Fraction(rng.randint(0, 9), 7) for item in occurring if rng.random() < 0.3}
    return Problem(case, tuple(items), privacy, guarantee, utility, share, tree, weights, penalties)


def random_weights(rng: Random, parents: Tree) -> dict[str, Fraction]:
    """Draw weights of some nodes; none is above that of its parent."""
    inner = {node: [child for child, above in parents.items() if above == node] for node in parents}
    value = {node: weight(frozenset(under(parents, node)), parents) for node in parents}
    drawn = {}
    for node in rng.sample(sorted(parents), rng.randint(1, len(parents))):
        above = parents[node]
        most = Fraction(1) if above is None else value[above]
        least = max((value[child] for child in inner[node]), default=Fraction(1, 100))
        if least <= most:
            value[node] = drawn[node] = least + (most - least) * Fraction(rng.randint(0, 7), 7)
    return drawn


def under(parents: Tree, node: str) -> list[str]:
    """List the leaves under a node."""
    return [leaf for leaf in leaves(parents) if node in up_from(parents, leaf)]
