"""Which part of facts is dropped first: plain orders, each with a product tree, and the best."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

import numpy as np

from setveil.errors import InfeasibleError, RequestError
from setveil.facts.facts import Facts
from setveil.facts.generalizing import Generalizing, order_name
from setveil.hierarchy.boxes import BoxTree, line_at, product_tree
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress
from setveil.published.recoding import BoxRecoding
from setveil.runs.asked import Asked
from setveil.utility.facts import parts_kept
from setveil.utility.lm import lm

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

    Returns
    -------
    recoding : BoxRecoding
        The best, of equal ones the one that keeps attributes longest.
    told : dict
        What the algorithm has to say of that run, and `facts`: what is left of the parts, and the orders.
    """
    space, depths = how.space(data, codes), how.depths(data, codes)
    limit = next((f.name for f in fields(asked.settings) if f.name == "time_limit"), None)
    whole = getattr(asked.settings, "time_limit", None) or _USUAL
    deadline = time.monotonic() + whole
    best: tuple[float, BoxRecoding, dict[str, Any], str] | None = None
    tried: list[dict[str, Any]] = []
    failed: InfeasibleError | None = None
    seen: list[BoxTree] = []
    for at, depth in enumerate(depths):
        tree = product_tree(space, line_at(codes, depth))
        name = order_name(depth, codes.height)
        if any(tree == other for other in seen):
            continue
        seen.append(tree)
        tree.origin = codes.origin
        progress(f"anonymizing ({asked.algorithm}), order {name}")
        settings = asked.settings
        if limit is not None and len(depths) > 1:
            left = max(deadline - time.monotonic(), 1.0)
            settings = replace(settings, time_limit=left / (len(depths) - at))
        start = time.monotonic()
        try:
            recoding, told = asked.module.anonymize(data, tree, asked.guarantee, settings, progress)
        except InfeasibleError as error:
            failed = error
            continue
        loss = _loss(data, recoding, told)
        kept = parts_kept(data, recoding)
        optimality = told.get("optimality") or {}
        tried.append(
            {
                "order": name,
                "loss": loss,
                "lm": lm(data, recoding),
                "kept": kept["kept"],
                **{key: optimality[key] for key in ("proven", "gap") if key in optimality},
                "seconds": round(time.monotonic() - start, 2),
            }
        )
        if best is None or loss < best[0]:
            best = loss, recoding, told, name
    if best is None:
        assert failed is not None  # noqa: S101  (there is an order at least)
        raise failed
    _, recoding, told, name = best
    parts = [{"name": data.name, "kind": "codes"}, *(one.as_dict() for one in data.attributes)]
    said = {"parts": parts, "loss": how.loss, "order": name, **parts_kept(data, recoding), "orders": tried}
    return recoding, {**told, "facts": said}


def _loss(data: Facts, recoding: BoxRecoding, told: Mapping[str, Any]) -> float:
    """Say what a release loses by what the algorithm minimizes, else by what boxes lose."""
    if "optimality" in told:
        return float(told["optimality"]["loss"])
    tree = recoding.tree
    nodes = [tree.id(label) for label in recoding.published.labels]
    cost = np.append(tree.lost[nodes], tree.most_lost)
    _, label, rows = recoding.tally(data)
    return float(Fraction(int((cost[label] * rows).sum()), max(tree.most_lost * int(rows.sum()), 1)))
