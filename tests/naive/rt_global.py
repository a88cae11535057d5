"""One cut per quasi-identifier and one of the items for the whole table: all of them tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from naive import measures, rt_cuts
from naive.exact import Terms, candidates
from naive.rt_cuts import Cuts, Images
from naive.rt_items import Image
from naive.rt_table import Table
from naive.rt_verify import Shown, is_kkm, is_mixed_km


@dataclass(frozen=True)
class Choice:
    """Cuts of the quasi-identifiers and what each item becomes."""

    cuts: Cuts
    items: Image
    f: Fraction


def published(table: Table, images: Images, items: Image) -> Shown:
    sets = measures.recode(table.sets, items)
    return list(zip(rt_cuts.shown(table, images), sets, strict=True))


def best(
    table: Table,
    k: int,
    m: float,
    share: Fraction,
    model: str = "kkm",
    measure: str = "lm",
    *,
    suppress: bool = True,
) -> Choice | None:
    """The choice of least f = share * R + (1 - share) * T; None if there is none."""
    holds: Callable[[Shown, int, float], bool] = is_kkm if model == "kkm" else is_mixed_km
    every_cuts = list(rt_cuts.every(table))
    rs = [rt_cuts.loss(table, rt_cuts.images(table, cuts)) for cuts in every_cuts]
    terms = Terms(measure, suppress)
    every_items = list(candidates(table.sets, table.items, terms))
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
