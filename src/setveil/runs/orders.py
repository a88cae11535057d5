"""Which part of facts is dropped first: plain orders and lines, each with a product tree, and the best."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from setveil.errors import InfeasibleError, RequestError
from setveil.facts.facts import Facts
from setveil.facts.generalizing import LINES, Generalizing, order_name
from setveil.hierarchy.boxes import BoxTree, line_at, product_tree
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress
from setveil.published.recoding import BoxRecoding
from setveil.runs.asked import Asked
from setveil.utility.facts import parts_kept
from setveil.utility.lm import lm
from setveil.utility.timeline import timelines

_USUAL = 300.0  # seconds of a search that has a limit, where none is given
ALGORITHMS = ("aa", "da", "exact", "hghs", "mhghs")


def require_possible(asked: Asked) -> None:
    """Refuse promises about facts that are not known, and algorithms that make no cut of a tree."""
    if asked.guarantee.model != "km-anonymity":
        raise RequestError(
            f"Facts are released under k^m-anonymity, not under {asked.guarantee.model}.",
            hint="Say --k and --m.",
        )
    if asked.algorithm not in ALGORITHMS:
        raise RequestError(
            f"{asked.algorithm} makes no cut of a hierarchy that facts could be published by; there are "
            f"{', '.join(ALGORITHMS)}.",
            hint="Leave out --algorithm.",
        )


def anonymize_facts(
    data: Facts, codes: Hierarchy, asked: Asked, how: Generalizing, progress: Progress
) -> tuple[BoxRecoding, dict[str, Any]]:
    """Run the algorithm on the product tree of each plain order, and take what loses the least.

    With `how.lines` then another depth is tried in each branch of the codes' tree, and what is better is
    kept, until nothing is or time is up.

    Returns
    -------
    recoding : BoxRecoding
        The best, of equal ones the one that keeps attributes longest.
    told : dict
        What the algorithm has to say of that run, and `facts`: what is left of the parts, and the orders.
    """
    search = _Search(data, codes, asked, how, progress)
    search.try_orders()
    if how.lines and data.attributes:
        search.try_branches()
    best = search.best
    parts = [{"name": data.name, "kind": "codes"}, *(one.as_dict() for one in data.attributes)]
    said = {"parts": parts, "loss": how.loss, "order": best.name, **parts_kept(data, best.recoding)}
    branches = {"branches": search.branches()} if best.name == LINES else {}
    told = {**said, "orders": search.tried, **branches, "timeline": timelines(data, best.recoding)}
    return best.recoding, {**best.told, "facts": told}


@dataclass(frozen=True)
class _Made:
    """What the algorithm made of a line."""

    loss: float
    recoding: BoxRecoding
    told: dict[str, Any]
    name: str  # of the order
    line: frozenset[int]


class _Search:
    """The search for the line that loses the least."""

    def __init__(
        self, data: Facts, codes: Hierarchy, asked: Asked, how: Generalizing, progress: Progress
    ) -> None:
        self.data, self.codes, self.asked, self.how, self.progress = data, codes, asked, how, progress
        self.space, self.depths = how.space(data, codes), how.depths(data, codes)
        self.limited = any(f.name == "time_limit" for f in fields(asked.settings))
        self.deadline = time.monotonic() + (getattr(asked.settings, "time_limit", None) or _USUAL)
        self.tried: list[dict[str, Any]] = []
        self.found: _Made | None = None
        self.seen: list[BoxTree] = []

    @property
    def best(self) -> _Made:
        """The best so far; there is one once orders were tried."""
        assert self.found is not None  # noqa: S101
        return self.found

    def try_orders(self) -> None:
        """Try the plain orders, each in its share of the time."""
        failed: InfeasibleError | None = None
        for at, depth in enumerate(self.depths):
            name = order_name(depth, self.codes.height)
            left = max(self.deadline - time.monotonic(), 1.0) / (1 + self.how.lines)
            start = time.monotonic()
            try:
                made = self._make(frozenset(line_at(self.codes, depth)), name, left / (len(self.depths) - at))
            except InfeasibleError as error:
                failed = error
                continue
            if made is not None:
                optimality = made.told.get("optimality") or {}
                self.tried.append(
                    {
                        "order": name,
                        "loss": made.loss,
                        "lm": lm(self.data, made.recoding),
                        "kept": parts_kept(self.data, made.recoding)["kept"],
                        **{key: optimality[key] for key in ("proven", "gap") if key in optimality},
                        "seconds": round(time.monotonic() - start, 2),
                    }
                )
        if self.found is None and failed is not None:
            raise failed

    def try_branches(self) -> None:
        """Try the line at each depth within each branch, while that brings anything and there is time."""
        codes, better = self.codes, True
        while better:
            better = False
            for branch in codes.children(codes.root):
                for depth in range(1, codes.height + 1):
                    if time.monotonic() > self.deadline or self.progress.stop_requested():
                        return
                    line = self._moved(branch, depth)
                    before = self.best.loss
                    with suppress(InfeasibleError):
                        self._make(line, LINES, max(self.deadline - time.monotonic(), 1.0))
                    better |= self.best.loss < before

    def _moved(self, branch: int, depth: int) -> frozenset[int]:
        """Move the best line to a depth within a branch."""
        codes = self.codes
        line = self.best.line
        if codes.root in line:
            line = frozenset(codes.children(codes.root))
        inside = np.zeros(codes.n_nodes, bool)
        inside[[v for v in range(codes.n_nodes) if codes.covers(branch, v)]] = True
        kept = {v for v in line if not inside[v]}
        return frozenset(kept | set(np.flatnonzero(inside & (codes.depth == depth)).tolist()))

    def _make(self, line: frozenset[int], name: str, seconds: float) -> _Made | None:
        """Run the algorithm on the tree of a line and remember what is better; None: the tree was tried."""
        tree = product_tree(self.space, line)
        if tree in self.seen:
            return None
        self.seen.append(tree)
        tree.origin = self.codes.origin
        self.progress(f"anonymizing ({self.asked.algorithm}), order {name}")
        settings = self.asked.settings
        if self.limited and (len(self.depths) > 1 or self.how.lines):
            settings = replace(settings, time_limit=seconds)
        recoding, told = self.asked.module.anonymize(
            self.data, tree, self.asked.guarantee, settings, self.progress
        )
        made = _Made(_loss(self.data, recoding, told), recoding, told, name, line)
        if self.found is None or made.loss < self.found.loss:
            self.found = made
        return made

    def branches(self) -> list[dict[str, Any]]:
        """Say for each branch of the codes' tree at which depths of it attributes are dropped."""
        codes, line = self.codes, self.best.line
        return [
            {
                "label": codes.labels[branch],
                "depths": sorted({int(codes.depth[v]) for v in line if codes.covers(branch, v)}),
            }
            for branch in codes.children(codes.root)
        ]


def _loss(data: Facts, recoding: BoxRecoding, told: Mapping[str, Any]) -> float:
    """Say what a release loses by what the algorithm minimizes, else by what boxes lose."""
    if "optimality" in told:
        return float(told["optimality"]["loss"])
    tree = recoding.tree
    nodes = [tree.id(label) for label in recoding.published.labels]
    cost = np.append(tree.lost[nodes], tree.most_lost)
    _, label, rows = recoding.tally(data)
    return float(Fraction(int((cost[label] * rows).sum()), max(tree.most_lost * int(rows.sum()), 1)))
