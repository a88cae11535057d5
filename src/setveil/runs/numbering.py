"""Labels of a hierarchy that a run computed, numbered such that no item of few rows decides."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from setveil.data.sums import Original, in_memory
from setveil.data.vocabulary import Vocabulary
from setveil.hierarchy._levels import unused
from setveil.hierarchy._signatures import signatures
from setveil.hierarchy.boxes import Space
from setveil.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.published.listing import listing_of
from setveil.published.recoding import (
    AnyBoxes,
    AnyRecoding,
    recode,
    require_unlike,
)
from setveil.recipients import Certificate
from setveil.values.per_column import labelled

Names = Mapping[str, str]
Key = tuple[object, ...]


@dataclass(frozen=True)
class _Node:
    """A node whose label is published."""

    node: int
    level: int  # 1: no published node with a generated label is below it
    common: tuple[int, ...]  # the first item below it that enough rows contain, and their number; (): none

    @property
    def sign(self) -> str:
        """What is known of it without its items of few rows."""
        return f"\0{self.level} {self.common}"


def numbered(
    made: Any, told: dict[str, Any], tree: Hierarchy, data: Original, k: int | None, *, given: bool
) -> tuple[Any, dict[str, Any], Hierarchy]:
    """Give new numbers to the labels of a hierarchy that the run computed.

    The names under which it was computed count groups that are not published, and items of few rows decide
    which groups there are. So the published ones get other numbers: level by level, in the order of the
    first item that enough rows contain; groups without such an item follow, in an order of their rows.

    Parameters
    ----------
    made
        What an algorithm made of rows or of a table.
    told : dict
        What the algorithm has to say of its run.
    tree : Hierarchy
        That of the run: of facts, that of their codes.
    k : int or None
        See `setveil.published.listing.listing_of`.
    given : bool
        Whether the hierarchy was given: of facts of several columns some may be computed nevertheless.

    Returns
    -------
    made, told, tree
        The same with other labels; the origin of the hierarchy has the names that changed.
    """
    items = made.item_recoding
    boxes = items.labels_from == "boxes"
    if boxes:
        again, names, changed = _of_boxes(items, data, k, given=given)
        changed = {**changed, **names}
    elif given or items.labels_from != "nodes":
        return made, told, tree
    else:
        names = changed = _of_items(items, tree, data, k)
        again = _relabelled(items, names)
    names = {old: new for old, new in names.items() if old != new}
    if not names:
        return made, told, tree
    tree = tree.relabelled(names)
    tree.origin = replace(tree.origin or HierarchyOrigin("given"), names=names)
    if boxes:
        again.tree.origin = tree.origin
    return made.with_item_recoding(again), _renamed(told, changed), tree


def _of_items(items: AnyRecoding, tree: Hierarchy, data: Original, k: int | None) -> Names:
    """Name the nodes of a hierarchy of items."""
    common = _common(tree, data, k)
    place = {tree.id(label): at for at, label in enumerate(items.published.labels)}
    shown = _shown(tree, place, common)
    keys: dict[int, Key] = {}
    if _undecided(shown):
        known = {at: tree.labels[v] for v, at in place.items() if v < tree.n_leaves or v == tree.root}
        known |= {place[one.node]: one.sign for one in shown if one.common}
        signs = signatures(recode(in_memory(data), items), known)
        keys = {one.node: signs[place[one.node]] for one in shown}
    return _names(tree, shown, keys, common, root=tree.root in place and tree.root >= tree.n_leaves)


def _of_boxes(
    items: AnyBoxes, data: Original, k: int | None, *, given: bool
) -> tuple[AnyBoxes, Names, Names]:
    """Name the nodes of the hierarchies of codes; return the recoding, these names and those of boxes."""
    facts, tree = in_memory(data).facts, items.tree
    several = len(tree.spaces) > 1
    spaces, names = list(tree.spaces), dict[str, str]()
    for at, space in enumerate(tree.spaces):
        codes = space.trees[0]
        if codes.origin is None or codes.origin.source != "co-occurrence" or (given and not several):
            continue
        common = _common(codes, (facts.of_column(at) if several else facts).codes_alone(), k)
        boxes = {place: v for place, v in enumerate(items.nodes.tolist()) if tree.column[v] == at}
        shown = _shown(codes, {int(tree.boxes[v, 0]) for v in boxes.values()}, common)
        keys = _keys_of_codes(items, boxes, space, shown, data) if _undecided(shown) else {}
        found = _names(codes, shown, keys, common, root=False)
        spaces[at] = replace(space, trees=(codes.relabelled(found), *space.trees[1:]))
        names |= {_of_column(space, old): _of_column(space, new) for old, new in found.items()}
    relabelled = tree.with_spaces(spaces)
    of_boxes = dict(zip(tree.labels, relabelled.labels, strict=True))
    return replace(_relabelled(items, of_boxes), tree=relabelled), names, of_boxes


def _of_column(space: Space, label: str) -> str:
    return labelled(space.column, label) if space.column else label


def _keys_of_codes(
    items: AnyBoxes, boxes: Mapping[int, int], space: Space, shown: Sequence[_Node], data: Original
) -> dict[int, Key]:
    """Find what tells codes of few rows apart: the rest of each box, and the rows that show it."""
    rest, of_code = {}, {one.node: one for one in shown}
    known: dict[int, str] = {}
    for place, box in boxes.items():
        code, *others = items.tree.boxes[box, : len(space.trees)].tolist()
        texts = [tree.labels[v] for tree, v in zip(space.trees[1:], others, strict=True)]
        rest[place] = code, space.sign.join(texts)
        if code not in of_code:
            known[place] = items.tree.labels[box]
        elif of_code[code].common:
            known[place] = f"{of_code[code].sign} {rest[place][1]}"
    signs = signatures(recode(in_memory(data), items), known)
    keys: dict[int, list[Key]] = {one.node: [] for one in shown}
    for place, (code, text) in rest.items():
        if code in keys:
            keys[code].append((text, *signs[place]))
    return {node: tuple(sorted(found)) for node, found in keys.items()}


def _common(tree: Hierarchy, data: Original, k: int | None) -> frozenset[str]:
    """Find the items that enough rows contain."""
    listing = listing_of(data, tree, k)
    return frozenset(tree.labels[: tree.n_leaves]) if listing is None else listing.named


def _shown(tree: Hierarchy, nodes: Iterable[int], common: frozenset[str]) -> list[_Node]:
    """Describe the published nodes that are no items, in the order of their common items."""
    inner = sorted((v for v in nodes if v >= tree.n_leaves and v != tree.root), key=lambda v: -tree.depth[v])
    level = dict.fromkeys(inner, 1)
    for v in inner:
        above = next((u for u in tree.ancestors(v) if u in level), None)
        if above is not None:
            level[above] = max(level[above], level[v] + 1)
    found = []
    for v in inner:
        members = [leaf for leaf in tree.under(v).tolist() if tree.labels[leaf] in common]
        found.append(_Node(v, level[v], (min(members), len(members)) if members else ()))
    return found


def _undecided(shown: Sequence[_Node]) -> bool:
    """Whether common items leave open which of two nodes comes first."""
    return len({(one.level, one.common) for one in shown}) < len(shown) or any(
        not one.common for one in shown
    )


def _names(
    tree: Hierarchy,
    shown: Sequence[_Node],
    keys: Mapping[int, Key],
    common: frozenset[str],
    *,
    root: bool,
) -> dict[str, str]:
    """Name each node that is no item; only items of enough rows decide what is published.

    Parameters
    ----------
    root : bool
        Whether the root is published by its label.
    """
    items = set(tree.labels[: tree.n_leaves])
    mark = "C"
    while any(re.fullmatch(f"{mark}[0-9]+_[0-9]+", item) for item in common):
        mark += "C"
    order = sorted(shown, key=lambda one: (one.level, not one.common, one.common, keys.get(one.node, ())))
    names: dict[int, str] = {}
    numbers: Counter[int] = Counter()
    for one in order:
        names[one.node] = f"{mark}{one.level}_{numbers[one.level]}"
        numbers[one.level] += 1
    if root:
        names[tree.root] = unused("*", common)
    require_unlike(items, names.values())
    taken = {*items, *names.values()}
    for number, v in enumerate(v for v in range(tree.n_leaves, tree.n_nodes) if v not in names):
        names[v] = unused("*" if v == tree.root else f"{mark}0_{number}", taken)
        taken.add(names[v])
    return {tree.labels[v]: name for v, name in names.items()}


def _relabelled(items: Any, names: Names) -> Any:
    labels = Vocabulary(names.get(label, label) for label in items.published.labels)
    return replace(items, published=labels)


def _renamed(told: Any, names: Names) -> Any:
    """Write the same with other labels."""
    if isinstance(told, str):
        return names.get(told, told)
    if isinstance(told, Certificate):
        return Certificate(_renamed(told.content, names), told.tree.relabelled(names))
    if isinstance(told, dict):
        return {key: _renamed(value, names) for key, value in told.items()}
    return [_renamed(one, names) for one in told] if isinstance(told, list) else told
