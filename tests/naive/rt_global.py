"""One cut per quasi-identifier and one of the items for the whole table, by trying all combinations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass
from fractions import Fraction

from naive import measures, rt_cuts
from naive.anonymize import Tree, up_from
from naive.exact import Terms, candidates
from naive.rt_cuts import Cuts, Images
from naive.rt_items import Image
from naive.rt_table import Table
from naive.rt_verify import Shown, is_kkm, is_mixed_km


@dataclass(frozen=True)
class Choice:
    """The cuts of the quasi-identifiers and the label of each item."""

    cuts: Cuts
    items: Image
    f: Fraction


def published(table: Table, images: Images, items: Image) -> Shown:
    sets = measures.recode(table.sets, items)
    return list(zip(rt_cuts.shown(table, images), sets, strict=True))


def above(tree: Tree, labels: Iterable[str]) -> set[str]:
    """List every node above one of some labels."""
    return {node for label in labels for node in up_from(tree, label)[1:]}


def best(
    table: Table,
    k: int,
    m: float,
    share: Fraction,
    model: str = "kkm",
    measure: str = "lm",
    *,
    suppress: bool = True,
    coarsest: Mapping[int, Set[str]] | None = None,
) -> Choice | None:
    """The choice of least f = share * R + (1 - share) * T; None if there is none.

    `coarsest` are labels, by column (-1: of the items), nothing above which is published.
    """
    holds: Callable[[Shown, int, float], bool] = is_kkm if model == "kkm" else is_mixed_km
    limits = coarsest or {}
    every_cuts = [
        cuts
        for cuts in rt_cuts.every(table)
        if not any(cut & above(table.columns[a].whole or {}, limits.get(a, ())) for a, cut in enumerate(cuts))
    ]
    rs = [rt_cuts.loss(table, rt_cuts.images(table, cuts)) for cuts in every_cuts]
    terms = Terms(measure, suppress)
    too_coarse = above(table.items, limits.get(-1, ()))
    every_items = [
        to for to in candidates(table.sets, table.items, terms) if not too_coarse & set(to.values())
    ]
    lost = measures.lm if measure == "lm" else measures.ncp
    ts = [lost(table.sets, to) for to in every_items]
    by_loss = sorted(range(len(ts)), key=ts.__getitem__)
    found: Choice | None = None
    for i in sorted(range(len(rs)), key=rs.__getitem__):
        images = rt_cuts.images(table, every_cuts[i])
        for j in by_loss:
            f = share * rs[i] + (1 - share) * ts[j]
            if found is not None and f >= found.f:
                break
            if holds(published(table, images, every_items[j]), k, m):
                found = Choice(every_cuts[i], every_items[j], f)
                break
    return found
