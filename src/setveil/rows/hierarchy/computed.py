"""Hierarchies that were computed from the data: they name items only because these occur; their labels."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from setveil.rows.hierarchy._levels import unused
from setveil.rows.hierarchy.tree import Hierarchy

MOST, LONGEST = 3, 40  # items that a label names, and its characters, a number at its end aside

# Separators of files, signs between parts of facts and what `query` splits at are ASCII characters. So only
# the blank is one of them, and a file that is separated by blanks quotes such labels.
_BETWEEN, _OTHERS = " · ", "…"

_MADE = re.compile(
    r"(?:C+|L+)[0-9]+_[0-9]+"  # nodes of hierarchies made by co-occurrence, or balanced
    rf"|(?:.*{_BETWEEN})?{_OTHERS}(?: [0-9]+)?",  # what runs call them
    re.DOTALL,
)
UNLISTED = re.compile(r"\(+unlisted\)+")  # the node of items that were added to a hierarchy
_RANGE = re.compile(r"\[[-0-9./]+,[-0-9./]+\)")
_PERIOD = re.compile(r"[0-9]{4}(?:-Q[1-4]|-[0-9]{2}|s)?")
_UNREADABLE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def label_of(items: Iterable[str]) -> str:
    """Name a node by the first of some items below it, at most three, and say that there may be others.

    >>> label_of(["tea", "milk", "sugar", "jam"]), label_of(["tea"]), label_of([])
    ('tea · milk · sugar · …', 'tea · …', '…')
    """
    names: list[str] = []
    for item in islice(items, MOST):
        name = " ".join(item.split())
        if _UNREADABLE.search(name):
            continue
        if names and len(_BETWEEN.join([*names, name, _OTHERS])) > LONGEST:
            break
        names.append(_cut(name, LONGEST - len(_BETWEEN) - len(_OTHERS)))
    return _BETWEEN.join([*filter(None, names), _OTHERS])


def _cut(name: str, longest: int) -> str:
    return name if len(name) <= longest else f"{name[: longest - len(_OTHERS)].rstrip()}{_OTHERS}"


class Labels:
    """Labels that are given to nodes one after the other, each unlike all that there are."""

    def __init__(self, taken: Iterable[str]) -> None:
        self._taken = {*taken}
        self._times = Counter[str]()

    def new(self, items: Iterable[str]) -> str:
        """Name a node by some items below it (see `label_of`), with a number if others are called so."""
        name = label_of(items)
        while True:
            self._times[name] += 1
            number = self._times[name]
            label = name if number == 1 and name != _OTHERS else f"{name} {number}"
            if label not in self._taken:
                self._taken.add(label)
                return label

    def take(self, label: str) -> str:
        """Give a node this label, or if there is one, the same with stars."""
        label = unused(label, self._taken)
        self._taken.add(label)
        return label


def is_computed(tree: Hierarchy) -> bool:
    """Whether a hierarchy was computed from items that occur, or looks as if it had been.

    A file keeps no note of that. Its nodes say it: ``C1_0``, ``L1_0`` or ``tea · milk · …``, or below ``*``
    prefixes of the items, ranges or periods, or in a file no groups. A hierarchy of other rows, such as those
    of all years, is one.
    """
    if tree.origin is not None and tree.origin.source == "co-occurrence":
        return True
    inner = [node for node in range(tree.n_leaves, tree.n_nodes) if node != tree.root]
    own = [node for node in inner if not UNLISTED.fullmatch(tree.labels[node])]
    labels = [tree.labels[node] for node in own]
    if own and all(map(_MADE.fullmatch, labels)):
        return True
    if set(tree.labels[tree.root]) != {"*"}:
        return False
    if not own:  # of few items, or of none that begin alike
        return tree.origin is not None and tree.origin.source == "file"
    if all(map(_RANGE.fullmatch, labels)) or all(map(_PERIOD.fullmatch, labels)):
        return True
    return all(_is_prefix(tree.labels[node], (tree.labels[x] for x in tree.leaves(node))) for node in own)


def is_computed_node(label: str) -> bool:
    """Whether a node groups items because they occur: some were added, or found to occur together."""
    return UNLISTED.fullmatch(label) is not None or _MADE.fullmatch(label) is not None


def _is_prefix(node: str, leaves: Iterable[str]) -> bool:
    prefix = node.rstrip("*")
    return bool(prefix) and all(leaf.startswith(prefix) for leaf in leaves)
