"""Labels of a hierarchy that a run computed: they name members, and no item of few rows decides them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from setveil.base.values.per_column import labelled
from setveil.judges.guarantees import Guarantee, least_rows
from setveil.releases.published.listing import common_facts, listing_of
from setveil.releases.published.recoding import (
    AnyBoxes,
    AnyRecoding,
    recode,
    require_unlike,
)
from setveil.releases.recipients import Certificate
from setveil.rows.data.sums import Original, in_memory
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.hierarchy.boxes import Space
from setveil.rows.hierarchy.computed import Labels
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin

if TYPE_CHECKING:
    from setveil.rows.facts.facts import Facts

Names = Mapping[str, str]
Places = Mapping[str, int]
Key = tuple[object, ...]


@dataclass(frozen=True)
class _Node:
    """A node whose label is published."""

    node: int
    level: int  # 1: no published node with a generated label is below it
    items: list[str]  # that it represents and enough rows contain, those of most rows first
    common: tuple[int, ...]  # the place of the first of them, and how many there are; (): there are none

    @property
    def sign(self) -> str:
        """What is known of it without its items of few rows."""
        return f"\0{self.level} {self.common}"


def named(
    made: Any,
    details: dict[str, Any],
    tree: Hierarchy,
    data: Original,
    guarantee: Guarantee,
    *,
    by_user: bool,
) -> tuple[Any, dict[str, Any], Hierarchy]:
    """Name the nodes of a hierarchy that the run computed by their most frequent members.

    The computed numbers count groups that are not published, and items of few rows decide which groups there
    are. So a published node is named after its items that enough rows contain (see
    `setveil.rows.hierarchy.computed.label_of`). Equal names are numbered level by level, in the order of
    these items; nodes without such an item have only a number, in an order of their rows. `tree`: for facts,
    that of their codes. `by_user`: the hierarchy was given; for facts of several columns some may still be
    computed. The origin of the hierarchy has the changed names.
    """
    items = made.item_recoding
    boxes = items.labels_from == "boxes"
    if boxes:
        again, names, changed = _of_boxes(items, data, guarantee, by_user=by_user)
        changed = {**changed, **names}
    elif by_user or items.labels_from != "nodes":
        return made, details, tree
    else:
        names = changed = _of_items(items, tree, data, guarantee)
        again = _relabelled(items, names)
    names = {old: new for old, new in names.items() if old != new}
    if not names:
        return made, details, tree
    tree = tree.relabelled(names)
    tree.origin = replace(tree.origin or HierarchyOrigin("given"), names=names)
    if boxes:
        again.tree.origin = tree.origin
    return made.with_item_recoding(again), _renamed(details, changed), tree


def _of_items(items: AnyRecoding, tree: Hierarchy, data: Original, guarantee: Guarantee) -> Names:
    """Name the nodes of a hierarchy of items."""
    common = _places(tree, data, guarantee, _rows_of_items(data))
    place = {tree.id(label): at for at, label in enumerate(items.published.labels)}
    shown = _shown(tree, {tree.id(label): inside for label, inside in items.members().items()}, common)
    keys: dict[int, Key] = {}
    if _undecided(shown):
        known = {at: tree.labels[v] for v, at in place.items() if v < tree.n_leaves or v == tree.root}
        known |= {place[one.node]: one.sign for one in shown if one.common}
        from setveil.rows.hierarchy._signatures import signatures

        signs = signatures(recode(in_memory(data), items), known)
        keys = {one.node: signs[place[one.node]] for one in shown}
    return _names(tree, shown, keys, common, root=tree.root in place and tree.root >= tree.n_leaves)


def _of_boxes(
    items: AnyBoxes, data: Original, guarantee: Guarantee, *, by_user: bool
) -> tuple[AnyBoxes, Names, Names]:
    """Name the nodes of the hierarchies of codes; return the recoding, these names and those of boxes."""
    facts, tree = in_memory(data).facts, items.tree
    several = len(tree.spaces) > 1
    spaces, names = list(tree.spaces), dict[str, str]()
    for at, space in enumerate(tree.spaces):
        codes = space.trees[0]
        if codes.origin is None or codes.origin.source != "co-occurrence" or (by_user and not several):
            continue
        column = facts.of_column(at) if several else facts
        common = _places(codes, column.codes_alone(), guarantee, _rows_of_codes(column, guarantee))
        boxes = {place: v for place, v in enumerate(items.nodes.tolist()) if tree.column[v] == at}
        nodes = {int(tree.boxes[v, 0]) for v in boxes.values()}
        shown = _shown(codes, {v: _below(codes, v) for v in nodes}, common)
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
    from setveil.rows.hierarchy._signatures import signatures

    signs = signatures(recode(in_memory(data), items), known)
    keys: dict[int, list[Key]] = {one.node: [] for one in shown}
    for place, (code, text) in rest.items():
        if code in keys:
            keys[code].append((text, *signs[place]))
    return {node: tuple(sorted(found)) for node, found in keys.items()}


def _places(tree: Hierarchy, data: Original, guarantee: Guarantee, rows: Mapping[str, int]) -> Places:
    """Put the items that enough rows contain in an order: those of most rows first, equals in item order."""
    listing = listing_of(data, tree, least_rows(guarantee))
    common = tree.labels[: tree.n_leaves] if listing is None else listing.named
    order = sorted(item_order(common), key=lambda item: -rows.get(item, 0))
    return {item: place for place, item in enumerate(order)}


def _rows_of_items(data: Original) -> Mapping[str, int]:
    return dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))


def _rows_of_codes(facts: Facts, guarantee: Guarantee) -> Mapping[str, int]:
    """Count the rows of each code of a column, by its facts that enough rows contain: no other decides."""
    common = common_facts(facts, least_rows(guarantee)).named
    rows = Counter[str]()
    for fact, code, n in zip(facts.vocabulary.labels, facts.parts[:, 0], facts.supports(), strict=True):
        if fact in common:
            rows[facts.columns[0].codes[code]] += int(n)
    return rows


def _below(tree: Hierarchy, v: int) -> list[str]:
    return [tree.labels[leaf] for leaf in tree.under(v).tolist()]


def _listed(items: Iterable[str], common: Places) -> list[str]:
    """Take the items that enough rows contain, in their order."""
    return sorted((item for item in items if item in common), key=common.__getitem__)


def _shown(tree: Hierarchy, nodes: Mapping[int, Sequence[str]], common: Places) -> list[_Node]:
    """Describe the published nodes that are no items, by the items that each represents."""
    inner = sorted((v for v in nodes if v >= tree.n_leaves and v != tree.root), key=lambda v: -tree.depth[v])
    level = dict.fromkeys(inner, 1)
    for v in inner:
        above = next((u for u in tree.ancestors(v) if u in level), None)
        if above is not None:
            level[above] = max(level[above], level[v] + 1)
    found = []
    for v in inner:
        items = _listed(nodes[v], common)
        found.append(_Node(v, level[v], items, (common[items[0]], len(items)) if items else ()))
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
    common: Places,
    *,
    root: bool,
) -> dict[str, str]:
    """Name each node that is no item, by items of enough rows; the root, if `root`, by its label."""
    order = sorted(shown, key=lambda one: (one.level, not one.common, one.common, keys.get(one.node, ())))
    labels = Labels(common)
    names = {one.node: labels.new(one.items) for one in order}
    if root:
        names[tree.root] = labels.take("*")
    items = tree.labels[: tree.n_leaves]
    require_unlike({*items}, names.values())
    labels = Labels([*items, *names.values()])
    for v in range(tree.n_leaves, tree.n_nodes):
        if v not in names:
            below = _listed(_below(tree, v), common)
            names[v] = labels.take("*") if v == tree.root else labels.new(below)
    return {tree.labels[v]: name for v, name in names.items()}


def _relabelled(items: Any, names: Names) -> Any:
    labels = Vocabulary(names.get(label, label) for label in items.published.labels)
    return replace(items, published=labels)


def _renamed(value: Any, names: Names) -> Any:
    """Write the same with other labels."""
    if isinstance(value, str):
        return names.get(value, value)
    if isinstance(value, Certificate):
        return Certificate(_renamed(value.content, names), value.tree.relabelled(names))
    if isinstance(value, dict):
        return {key: _renamed(value, names) for key, value in value.items()}
    return [_renamed(one, names) for one in value] if isinstance(value, list) else value
