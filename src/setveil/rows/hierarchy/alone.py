"""Items that stand alone: in no group below the root, so that a rare one can only be suppressed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from setveil.base.wording import are, count
from setveil.rows.hierarchy._levels import unused
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    from setveil.rows.hierarchy.edit import Draft

GROUPED = 3  # values of which some can be told apart from all of them by a group
_FEWEST, _SHARE = 3, 10  # so many items, and every tenth, are said
_LENGTHS = (3, 1)  # of codes: that of a category of diseases, products, ..., and of its chapter


def standing_alone(tree: Hierarchy, items: Iterable[str]) -> list[str]:
    """List the items directly below the root.

    >>> tree = Hierarchy.from_paths([["tea", "hot", "*"], ["soap", "*"]])
    >>> standing_alone(tree, ["soap", "tea"])
    ['soap']
    """
    return [item for item in items if item in tree and int(tree.parent[tree.id(item)]) == tree.root]


def alone_note(
    tree: Hierarchy, items: Sequence[str], supports: Sequence[int] = (), k: int | None = None
) -> str:
    """Say how many items stand alone; empty if they are few, or none of them is rare.

    `supports`: in how many rows each item is, if known. `k`: in how many rows it must be to be published
    unchanged.

    >>> items = ["a1", "a2", "b1", "b2", "c1"]
    >>> tree = Hierarchy.from_paths([["a1", "A", "*"], ["a2", "A", "*"], *([x, "*"] for x in items[2:])])
    >>> alone_note(tree, items)
    '3 of 5 items are alone below the top: those that are rare can only be suppressed, or become *.'
    >>> alone_note(tree, items, [7, 2, 1, 1, 9], 5).partition(", and")[0]
    '3 of 5 items are alone below the top: 2 of them are in fewer than 5 rows'
    """
    alone = standing_alone(tree, items)
    if not are_many(len(alone), len(items)):
        return ""
    said = f"{len(alone):,} of {count(len(items), 'item')} are alone below the top: "
    only = f"can only be suppressed, or become {tree.labels[tree.root]}."
    if k is None:
        return f"{said}those that are rare {only}"
    known, rows = set(alone), dict(zip(items, supports, strict=True))
    rare = sum(rows[item] < k for item in known)
    if not rare:
        return ""
    many = "all of them" if rare == len(alone) else f"{rare:,} of them"
    return f"{said}{many} {are(rare)} in fewer than {k:,} rows, and {only}"


def are_many(alone: int, items: int) -> bool:
    """Tell whether this many of all items standing alone are worth a word."""
    return alone >= _FEWEST and alone * _SHARE >= items


def likely_lengths(items: Sequence[str]) -> list[int]:
    """Propose at which lengths codes are cut so that most of them share a group; empty: they are no codes.

    >>> likely_lengths(["E11.9", "E11.2", "E10", "I10", "I11.0"]), likely_lengths(["tea", "coffee", "milk"])
    ([3, 1], [])
    """
    codes = [item for item in items if any(sign.isdigit() for sign in item) and " " not in item]
    if 2 * len(codes) < len(items) or len(items) < _FEWEST:
        return []
    return [
        length
        for length in _LENGTHS
        if any(length < len(code) for code in codes)
        and 1 < len({code[:length] for code in codes}) < len(codes)
    ]


def group_alone(draft: Draft, items: Iterable[str], lengths: Sequence[int]) -> Draft:
    """Put items that stand alone into groups that share `lengths` first characters; the draft is unchanged.

    >>> from setveil.rows.hierarchy.edit import Draft
    >>> group_alone(Draft("*", {"*": ["E10", "E11", "I10"]}), ["E10", "E11", "I10"], [1]).tree().paths()
    [['E10', 'E', '*'], ['E11', 'E', '*'], ['I10', '*']]
    """
    made = type(draft)(draft.root, draft.children)
    texts = {item: item for item in items if made.parent.get(item) == made.root and item not in made.children}
    for length in sorted(set(lengths), reverse=True):
        alike: dict[str, list[str]] = {}
        for node, text in texts.items():
            if len(text) >= length:
                alike.setdefault(text[:length], []).append(node)
        for prefix, nodes in alike.items():
            if len(nodes) > 1:
                name = unused(prefix, {made.root, *made.parent})
                made.apply({"do": "group", "name": name, "nodes": nodes, "under": made.root})
                texts = {node: text for node, text in texts.items() if node not in nodes} | {name: prefix}
    return made
