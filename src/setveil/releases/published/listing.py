"""Items that the published files may list below a broader label."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.rows.data.sums import Sums
from setveil.rows.data.vocabulary import item_order
from setveil.rows.hierarchy.computed import is_computed, is_computed_node
from setveil.rows.hierarchy.tree import Hierarchy

MEMBERS_FILE = "members.json"  # below internal: all members of each label, if about.json lists only some
SURE = 0.9  # of the rows of a label: an item in more of them is as good as known


@dataclass(frozen=True)
class Listing:
    """The items that about.json may list, if the hierarchy does not list all of them."""

    least: int  # rows that must contain an item that no hierarchy lists
    authored: frozenset[str]  # items that the user's own hierarchy, or a named system of codes, lists
    named: frozenset[str]  # these, and the items that at least `least` rows contain
    beyond: bool = False  # has the hierarchy leaves beyond the data's items, which hide how many items exist?
    placed: bool = False  # does the hierarchy have new codes? no label says which of them

    def members(self, members: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
        """List those members of each label that may be listed, in item order: no other item decides that."""
        place = {item: at for at, item in enumerate(item_order(self.named))}
        return {
            label: sorted((x for x in items if x in place), key=place.__getitem__)
            for label, items in members.items()
        }

    def about(self, members: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return `labels` and `others` of about.json."""
        others = {"least": self.least, "labels": self.others(members)}
        return {"labels": self.members(members), **({"others": others} if others["labels"] else {})}

    def is_partial(self, members: Mapping[str, Sequence[str]]) -> bool:
        """Return whether there is more to say inside: members that are not listed, or other leaves."""
        return self.beyond or bool(self.others(members))

    def about_codes(self, members: Mapping[str, Sequence[str]]) -> dict[str, Any]:
        """Return the same for the codes of facts; `below` says which labels are below others.

        Without it nobody could see that boxes overlap in members that are not listed.
        """
        found = self.about({label: members[label] for label in sorted(members)})  # no code decides the order
        if "others" in found:
            inside = {label: frozenset(members[label]) for label in found["others"]["labels"]}
            below = {
                label: [one for one in inside if one != label and inside[one] <= items]
                for label, items in inside.items()
            }
            found["others"]["below"] = {label: ones for label, ones in below.items() if ones}
        return found

    def others(self, members: Mapping[str, Sequence[str]]) -> list[str]:
        """List the labels that may have members that are not listed, by the hierarchy alone."""
        return [
            label
            for label, items in members.items()
            if (self.placed and [*items] != [label]) or not self.authored.issuperset(items)
        ]


def listing_of(data: Sums, tree: Hierarchy | None, least: int) -> Listing | None:
    """Find items that may be listed, of at least `least` rows; None if the hierarchy lists all."""
    items = data.vocabulary.labels
    authored = frozenset() if tree is None else authored_items(tree)
    if tree is not None and authored.issuperset(tree.labels[: tree.n_leaves]):
        return None
    common = np.flatnonzero(data.supports() >= least).tolist()
    beyond = tree is not None and tree.n_leaves != len(items)
    placed = tree is not None and bool(tree.added)
    return Listing(least, authored, authored.union(items[i] for i in common), beyond, placed)


def common_facts(data: Sums, least: int) -> Listing:
    """Find the facts that at least `least` rows contain, by which boxes are put in order."""
    common = np.flatnonzero(data.supports() >= least).tolist()
    return Listing(least, frozenset(), frozenset(data.vocabulary.labels[i] for i in common))


def authored_items(tree: Hierarchy) -> frozenset[str]:
    """Find the items that a hierarchy lists because its author did, and not because rows contain them.

    A hierarchy computed from data has none. No others are items below ``(unlisted)``, which `hierarchy build`
    adds, items below a computed group of an edited hierarchy, and new codes (see `hierarchy.fit.fitted`).
    """
    if is_computed(tree):
        return frozenset()
    below = {
        leaf
        for node in range(tree.n_leaves, tree.n_nodes)
        if is_computed_node(tree.labels[node])
        for leaf in tree.leaves(node)
    }
    return frozenset(tree.labels[x] for x in range(tree.n_leaves) if x not in below) - tree.added


def with_others(about: Mapping[str, Any]) -> dict[str, list[str]]:
    """Take the members of labels from an about.json, one more without a name if others may be there."""
    others = others_in(about)
    labels: Mapping[str, list[str]] = about.get("labels", {})
    return {label: [*items, ""] if label in others else items for label, items in labels.items()}


def others_of(listing: Listing | None, members: Mapping[str, Sequence[str]]) -> dict[str, int]:
    """Return the labels that may have unlisted members, with the least rows of a listed one."""
    return {} if listing is None else dict.fromkeys(listing.others(members), listing.least)


def others_in(about: Mapping[str, Any]) -> frozenset[str]:
    """Take from an about.json the labels that may have members that it does not list."""
    entry = about.get("others")
    return frozenset(entry["labels"] if isinstance(entry, Mapping) else ())
