"""Hierarchies that were computed from the data, which name items only because they occur."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

from setveil.hierarchy.tree import Hierarchy

_MADE = re.compile(r"(?:C+|L+)[0-9]+_[0-9]+")  # nodes of hierarchies made by co-occurrence, or balanced
_RANGE = re.compile(r"\[[-0-9./]+,[-0-9./]+\)")
_PERIOD = re.compile(r"[0-9]{4}(?:-Q[1-4]|-[0-9]{2}|s)?")


def is_computed(tree: Hierarchy, items: Collection[str]) -> bool:
    """Whether a hierarchy was computed from the items that occur, or looks as if it had been.

    A file keeps no note of that. Its nodes say it: ``C1_0`` or ``L1_0``, or below ``*`` prefixes of exactly
    the items that occur, ranges or periods.
    """
    if tree.origin is not None and tree.origin.source == "co-occurrence":
        return True
    inner = [node for node in range(tree.n_leaves, tree.n_nodes) if node != tree.root]
    if not inner:
        return False
    labels = [tree.labels[node] for node in inner]
    if all(map(_MADE.fullmatch, labels)):
        return True
    if set(tree.labels[tree.root]) != {"*"} or {*tree.labels[: tree.n_leaves]} != {*items}:
        return False
    if all(map(_RANGE.fullmatch, labels)) or all(map(_PERIOD.fullmatch, labels)):
        return True
    return all(_is_prefix(tree.labels[node], (tree.labels[x] for x in tree.leaves(node))) for node in inner)


def _is_prefix(node: str, leaves: Iterable[str]) -> bool:
    prefix = node.rstrip("*")
    return bool(prefix) and all(leaf.startswith(prefix) for leaf in leaves)
