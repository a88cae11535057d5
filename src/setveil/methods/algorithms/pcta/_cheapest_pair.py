"""The pair of groups that is merged next: of all pairs with a member in an image, that of least utility loss.

What a group is best merged with is remembered. As long as both exist it stays best: groups only grow or
vanish, and the loss of a group is never less than that of a part of it. For the same reason it stays a lower
bound when the partner is gone, and a group whose bound is above the best pair found is not looked at.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setveil.base.jit import compiled
from setveil.kernels.item_groups import Groups, best_partner, compare_losses
from setveil.kernels.rows import Ids, Ints

NONE = -1


class Partners(NamedTuple):
    """The best partner of each group, where it has been computed."""

    made: Ints  # int64 (n,): stamp of the group when it was asked; another stamp: not asked yet
    # int32 (n,): the best partner, the first of equals; NONE: nothing may be merged with it, now or later
    partner: Ids
    stamp: Ints  # int64 (n,): stamp of the partner then; if it has another one now, the rest is a lower bound
    # size, cost: int64 (n,): the loss of both as one, (2^size - 1) * cost
    size: Ints
    cost: Ints


def no_partners(s: Groups) -> Partners:
    """Make a table in which nothing has been asked."""
    n = s.group.size
    return Partners(
        made=np.full(n, -1, np.int64),
        partner=np.full(n, NONE, np.int32),
        stamp=np.full(n, -1, np.int64),
        size=np.zeros(n, np.int64),
        cost=np.zeros(n, np.int64),
    )


@compiled
def _bound(s, partners, g):
    """Size and cost of a loss that is at most that of g with any other group."""
    if partners.made[g] == s.stamp[g]:
        return partners.size[g], partners.cost[g]
    return s.size[g] + 1, s.worth[s.node[g]] * s.support[g]


@compiled
def cheapest_pair(s, partners, image):
    """Find the first pair of least utility loss with a group of `image` that occurs, or NONE, NONE."""
    first, second, size, cost = np.int64(NONE), np.int64(NONE), np.int64(0), np.int64(0)
    for known in (True, False):  # what is known first: it spares looking at others
        for g in image:
            is_known = partners.made[g] == s.stamp[g]
            partner = np.int64(partners.partner[g])
            if is_known and partner == NONE:
                continue
            if (is_known and s.stamp[partner] == partners.stamp[g]) != known:
                continue
            if not known:
                if first != NONE:
                    least_size, least_cost = _bound(s, partners, g)
                    if compare_losses(least_size, least_cost, size, cost) > 0:
                        continue
                partner, partners.size[g], partners.cost[g] = best_partner(s, g)
                partners.made[g], partners.partner[g] = s.stamp[g], partner
                if partner == NONE:
                    continue
                partners.stamp[g] = s.stamp[partner]
            sign = np.int64(-1)
            if first != NONE:
                sign = compare_losses(partners.size[g], partners.cost[g], size, cost)
            a, b = min(np.int64(g), partner), max(np.int64(g), partner)
            if sign < 0 or (sign == 0 and (a < first or (a == first and b < second))):
                first, second, size, cost = a, b, partners.size[g], partners.cost[g]
    return first, second
