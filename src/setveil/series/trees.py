"""The hierarchy of the next release: the one that is given, or that of an earlier release."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from setveil.data.transactions import Transactions
from setveil.errors import DataError, RequestError, listed
from setveil.hierarchy.fit import fitted, groups_of, with_items
from setveil.hierarchy.io import read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.past.run import past_run
from setveil.past.terms import hierarchy_of
from setveil.series.ledger import Ledger, require_unchanged
from setveil.series.people import People
from setveil.wording import count

log = logging.getLogger("setveil")


def tree_for(ledger: Ledger, given: Hierarchy | None) -> Hierarchy:
    """Take a hierarchy that agrees with the labels that are out; by default that of the last release.

    It may have gained items and groups since. A group that is out as a label must still hold what it stood
    for: else the same word would say one thing in one release and another in the next.
    """
    tree = _of_last(ledger) if given is None else given
    for entry in ledger.releases:
        image = ledger.part(entry.name).image
        moved = [
            item
            for item, label in sorted(image.items())
            if label is not None and label != item and item in tree and label in tree
            and tree.id(label) not in tree.ancestors(tree.id(item))
        ]  # fmt: skip
        if moved:
            raise DataError(
                f"The hierarchy has {count(len(moved), 'item')} elsewhere than under the labels that "
                f"{entry.name} published: {listed(moved)} (was {image[moved[0]]}).",
                hint="Give the changed group a name of its own, or use the hierarchy of that release.",
            )
    return tree


def fitting(
    ledger: Ledger, given: Hierarchy | None, several: Sequence[People]
) -> tuple[Hierarchy, list[People]]:
    """Take the hierarchy as `tree_for` does, and make it and new rows fit each other.

    An item that is a group becomes an item below the group. If the group is out as a label it keeps its name,
    and the item gets another one: else the same word would say two things.
    """
    out: set[str] = set()
    known: set[str] = set()
    for entry in ledger.releases:
        image = ledger.part(entry.name).image
        known.update(image)
        out.update(label for item, label in image.items() if label is not None and label != item)
    tree = _of_last(ledger) if given is None else given
    items = {item for new in several for item in new.data.vocabulary.labels}
    renamed = {item: itself(item) for item in sorted(groups_of(tree, items) & out)}
    below = {name: item for item, name in renamed.items()} | {
        item: item.removesuffix(ITSELF)
        for item in known
        if item.endswith(ITSELF) and item.removesuffix(ITSELF) in tree
    }
    if below:
        tree = with_items(tree, below)
    if renamed:
        log.info("%s", _renamed(renamed))
        several = [replace(new, data=_with_labels(new.data, renamed)) for new in several]
    items = {item for new in several for item in new.data.vocabulary.labels}
    return tree_for(ledger, fitted(tree, known | items, out)), list(several)


ITSELF = " (itself)"  # after the name of an item that is called like a published group


def itself(item: str) -> str:
    """Name an item that is called like a group that is out."""
    return f"{item}{ITSELF}"


def _renamed(renamed: Mapping[str, str]) -> str:
    item, name = next(iter(renamed.items()))
    return (
        f"{count(len(renamed), 'item is', 'items are')} called like a group that is published already, and "
        f"{'is' if len(renamed) == 1 else 'are'} published below it under another name: {item} as {name}."
    )


def _with_labels(data: Transactions, names: Mapping[str, str]) -> Transactions:
    """Give items other names."""
    labels = [names.get(label, label) for label in data.vocabulary.labels]
    return replace(Transactions.from_codes(data.indptr, data.items, labels), origin=data.origin)


def _of_last(ledger: Ledger) -> Hierarchy:
    """Read the hierarchy of the last release that had one in a file."""
    for entry in reversed(ledger.releases):
        then = hierarchy_of(past_run(require_unchanged(entry)))
        if then is None or then["path"] is None:
            continue
        if not Path(then["path"]).is_file():
            raise DataError(
                f"The hierarchy of {entry.name} is not there any more: {then['path']}.",
                hint="Name it: --hierarchy FILE. It may have gained items since.",
            )
        return read_hierarchy(then["path"], encoding=then.get("encoding", "utf-8"))
    raise RequestError("A series needs a hierarchy of the items.", hint="--hierarchy FILE.")
