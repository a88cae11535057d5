"""The hierarchy of the next release: the one that is given, or that of an earlier release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.wording import count
from setveil.rows.hierarchy.fit import fit_rows_after
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past.run import past_run
from setveil.work.past.terms import hierarchy_of
from setveil.work.series.ledger import Ledger, require_unchanged
from setveil.work.series.people import People


class NoHierarchyError(RequestError):
    """The first release of a series has no hierarchy."""


def tree_for(ledger: Ledger, hierarchy: Hierarchy | None) -> Hierarchy:
    """Take a hierarchy that agrees with the labels that are out; by default that of the last release.

    It may have gained items and groups since. A group that is out as a label must still hold what it
    represented: else the same word would say one thing in one release and another in the next.
    """
    tree = _of_last(ledger) if hierarchy is None else hierarchy
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
    ledger: Ledger, hierarchy: Hierarchy | None, several: Sequence[People]
) -> tuple[Hierarchy, list[People]]:
    """Take the hierarchy as `tree_for` does, and make it and new rows fit each other (`fit_rows_after`)."""
    out: set[str] = set()
    known: set[str] = set()
    for entry in ledger.releases:
        image = ledger.part(entry.name).image
        known.update(image)
        out.update(label for item, label in image.items() if label is not None and label != item)
    hierarchy = _of_last(ledger) if hierarchy is None else hierarchy
    tree, rows = fit_rows_after(hierarchy, [new.data for new in several], known, out)
    fitting = [replace(new, data=data) for new, data in zip(several, rows, strict=True)]
    return tree_for(ledger, tree), fitting


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
    raise NoHierarchyError("A series needs a hierarchy of the items.", hint="--hierarchy FILE.")
