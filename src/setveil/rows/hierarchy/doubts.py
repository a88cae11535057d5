"""What is wrong or doubtful about a hierarchy that is being edited."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from setveil.base.errors import HierarchyError
from setveil.rows.hierarchy.alone import are_many
from setveil.rows.hierarchy.edit import Draft
from setveil.rows.hierarchy.fit import fitted


@dataclass(frozen=True)
class TreeProblem:
    """What is wrong or doubtful about a tree that is being edited."""

    # "missing", "group" (an item of the data that is one, which a run puts below it), "unknown" (an item that
    # is not in the data), "empty", "alone" (many items in no group below the root), "single" (a group with
    # one child) or "uneven" (nine tenths of a group in one of its parts)
    kind: str
    nodes: tuple[str, ...]  # which nodes it is about


def problems_of(draft: Draft, items: Collection[str] | None = None) -> list[TreeProblem]:
    """Find what is wrong or doubtful about a tree, at most one problem of each kind, the worst first.

    `items`: those of the data. What no run accepts comes first.

    >>> draft = Draft("*", {"*": ["hot"], "hot": ["tea"]})
    >>> problems_of(draft, ["tea", "milk"])
    [TreeProblem(kind='missing', nodes=('milk',)), TreeProblem(kind='single', nodes=('*', 'hot'))]
    """
    found: dict[str, list[str]] = {}
    if items is not None:
        known = set(items)
        found["missing"] = _missing(draft, items)
        found["group"] = [item for item in items if item in draft.children]
        found["unknown"] = [node for node in draft.parent if node not in draft.children and node not in known]
        alone = [
            item for item in items if draft.parent.get(item) == draft.root and item not in draft.children
        ]
        found["alone"] = alone if are_many(len(alone), len(known)) else []
    found["empty"] = draft.empty_groups()
    found["single"] = [group for group, below in draft.children.items() if len(below) == 1]
    sizes = items_under(draft)
    found["uneven"] = [
        group
        for group, below in draft.children.items()
        if len(below) > 2 and 10 * max(sizes[child] for child in below) > 9 * sizes[group] > 9
    ]
    return [TreeProblem(kind, tuple(nodes)) for kind, nodes in found.items() if nodes]


def _missing(draft: Draft, items: Collection[str]) -> list[str]:
    """List the items that are in no group, once a run has made the tree fit the data."""
    missing = [item for item in items if item not in draft]
    if not missing:
        return missing
    try:
        tree = fitted(draft.tree(), items)
    except HierarchyError:  # it is no tree yet
        return missing
    return [item for item in missing if item not in tree]


def items_under(draft: Draft) -> dict[str, int]:
    """Count the items under each node (an item: 1)."""
    sizes = {node: int(node not in draft.children) for node in draft.nodes()}
    for node in reversed(sizes):
        if node != draft.root:
            sizes[draft.parent[node]] += sizes[node]
    return sizes
