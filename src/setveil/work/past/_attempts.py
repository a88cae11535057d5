"""Publish items otherwise, let the verifier see what breaks, and find the cause."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

import numpy as np

from setveil.base.errors import DataError
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past._blame import smallest_blame
from setveil.work.past._naming import Naming, Positions

CHECKS = 10  # of one search for the cause, before it takes all that still violates the guarantee
TARGETS = 20  # labels to try that could take in the cause
VERIFIED = 3  # of these, how many that seem possible are verified

Parts = Mapping[str, Positions]
Answer = dict[str, Any]


class Attempts:
    """Attempts to publish items of a run otherwise."""

    def __init__(self, now: Naming, show: int) -> None:
        self.now, self.show, self.terms = now, show, now.terms
        self.own = now.own_names()

    def attempt(
        self,
        kind: str,
        parts: Parts,
        *,
        allowed: Collection[str] | None = None,
        refused: Collection[str] = (),
        brief: bool = False,
    ) -> Answer:
        """Publish items under other labels, check that, and find the cause if the guarantee fails.

        `kind`: for the words. `parts`: the new labels and their items. `allowed`, `refused`: labels that may,
        and must not, be blamed. `brief`: find no cause.
        """
        then = self.now.changed(parts)
        verdict = then.verdict
        if any(parts.keys().isdisjoint(one) for one in then.violations):
            raise DataError(
                f"What is published of these rows has no {self.terms.guarantee.phrase} as it is.",
                hint="Are they the rows that the run was made from?",
            )
        found: Answer = {
            "kind": kind,
            "parts": [label for label, items in parts.items() if self.terms.entries(items)],
            "holds": verdict.holds,
            "violations": verdict.violations,
            "complete": getattr(verdict, "complete", True),
            "first": verdict.as_dict()["first"][: self.show],
            **self._names(then),
            "loss": then.loss() if verdict.holds else None,
            "leave_out": None,
            "move": None,
        }
        if not verdict.holds and not brief:
            candidates = then.recoding.published.labels if allowed is None else allowed
            blamed = self._blamed(then, set(candidates).difference(refused))
            if blamed is not None:
                found["leave_out"] = {**blamed, "among": "labels" if allowed is None else "parts"}
        return found

    def _names(self, then: Naming) -> dict[str, int]:
        own = then.own_names()
        return {"new_names": len(own - self.own), "lost_names": len(self.own - own)}

    def _blamed(self, then: Naming, candidates: set[str]) -> Answer | None:
        """Find the fewest items without which the guarantee holds, by a second check, or None."""
        costs = {}
        for label in candidates:
            items = then.members(label)
            costs[label] = (
                max(int(np.count_nonzero(self.terms.supports[items])), 1),
                self.terms.entries(items),
            )
        sets = {one & candidates for one in then.violations}
        proven = True
        for check in range(1, CHECKS + len(candidates) + 1):
            if frozenset() in sets:
                return None
            chosen, proven = smallest_blame(sets, costs, prove=proven)
            proven = proven and check <= CHECKS
            items = np.concatenate([then.members(label) for label in sorted(chosen)])
            without = then.changed({None: items})
            if without.verdict.holds:
                break
            more = {one & candidates for one in without.violations}
            if check >= CHECKS and frozenset() not in more:
                more = {frozenset((label,)) for one in more for label in one}
            sets |= more
        return {
            "labels": sorted(chosen, key=lambda label: (-costs[label][1], label)),
            "items": sum(costs[label][0] for label in chosen),
            "entries": self.terms.entries(items),
            "left_out": self.terms.entries(np.flatnonzero(without.image < 0)),
            "smallest": proven,
            "checks": check + 1,
            "holds": without.verdict.holds,
            **self._names(without),
            "loss": without.loss(),
        }

    def moved(self, parts: Parts, blamed: Iterable[str], label: str) -> Answer | None:
        """Find a label that absorbs the cause: the nearest that can, of these the one of least loss.

        None without a hierarchy or a candidate. Candidates are a label for the `blamed` items alone, if they
        are several, and the published labels that are nearest in the hierarchy to `label`, the node of the
        items. Pairs of labels in too few rows exclude most; the others are verified.
        """
        now, tree = self.now, self.terms.tree
        if tree is None or label not in tree:
            return None
        items = np.sort(np.concatenate([parts[one] for one in blamed]))
        items = items[self.terms.supports[items] > 0]
        without = now.changed(parts).changed({None: items})
        together = np.concatenate(list(parts.values()))
        together = together[self.terms.supports[together] > 0]
        choices: list[tuple[int, str | None, Naming]] = []
        if items.size > 1:
            choices.append((-1, None, without.changed({now.unused(f"other {label}"): items})))
        for distance, near in self._near(without, tree, set(parts), label):
            joint = near
            if near in self.terms.items.ids:  # an item cannot stand for others, a node can
                joint = without.unused(f"{near} and {self.terms.items.labels[items[0]]}")
            members = np.union1d(without.members(near), items)
            if len(parts) > 1 and np.isin(together, members).all():
                continue  # nothing would be split
            choices.append((distance, near, without.changed({joint: members})))
        if not choices:
            return None
        possible = [entry for entry in choices if self._may_hold(without, entry[1], items)]
        possible.sort(key=lambda entry: (entry[0], entry[2].loss()))
        for _, target, then in possible[:VERIFIED]:
            if then.verdict.holds:
                return {
                    "to": target,
                    "with": 0 if target is None else int(without.members(target).size),
                    "items": self.terms.names(items),
                    "holds": True,
                    "tried": len(choices),
                    **self._names(then),
                    "loss": then.loss(),
                }
        return {"holds": False, "tried": len(choices)}

    def _may_hold(self, without: Naming, target: str | None, items: Positions) -> bool:
        """Tell whether a label with these items is in enough rows, and with each other label, if at all."""
        k, m = self.terms.guarantee.smallest_group or 2, getattr(self.terms.guarantee, "m", 1)
        inside = items if target is None else np.union1d(without.members(target), items)
        marked = self.terms.rows_with(inside)
        if not m or m < 2 or marked.sum() < k:
            return bool(marked.sum() >= k)
        rows = without.rows
        together = np.bincount(rows.items[marked[without.row_of]], minlength=rows.n_items)
        if target is not None:
            together[rows.vocabulary.ids[target]] = 0
        return not ((together > 0) & (together < k)).any()

    def _near(
        self, without: Naming, tree: Hierarchy, siblings: set[str], label: str
    ) -> list[tuple[int, str]]:
        """List published labels, siblings first (-1), then by how far up they meet a label."""
        node = tree.id(label)
        distance = {v: i for i, v in enumerate((node, *tree.ancestors(node)))}

        def far(other: str) -> int:
            at = tree.id(other)
            common = next(v for v in (at, *tree.ancestors(at)) if v in distance)
            return -1 if other in siblings else distance[common]

        there = zip(without.rows.vocabulary.labels, without.rows.supports().tolist(), strict=True)
        known = sorted((far(other), tree.id(other)) for other, rows in there if rows and other in tree)
        return [(far_off, tree.labels[node]) for far_off, node in known[:TARGETS]]
