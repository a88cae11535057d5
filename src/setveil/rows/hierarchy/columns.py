"""The hierarchies of several columns as one: side by side, each label with the name of its column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from setveil.base.errors import RequestError, did_you_mean, listed, shorten
from setveil.base.values.per_column import ABOVE, column_of, item_of, labelled
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin


def joined(trees: Mapping[str, Hierarchy]) -> Hierarchy:
    """Put the hierarchies of columns side by side, below a node that is above no column in particular."""
    parents: dict[str, str | None] = {ABOVE: None}
    for name, tree in trees.items():
        for v, label in enumerate(tree.labels):
            up = int(tree.parent[v])
            parents[labelled(name, label)] = ABOVE if up < 0 else labelled(name, tree.labels[up])
    made = Hierarchy(parents)
    made.added = frozenset(labelled(name, leaf) for name, tree in trees.items() for leaf in tree.added)
    made.origin = _origin([tree.origin for tree in trees.values()])
    return made


def _origin(origins: Sequence[HierarchyOrigin | None]) -> HierarchyOrigin | None:
    """Say where hierarchies come from: the files, if any is from a file."""
    known = [one for one in origins if one is not None]
    if len(known) < len(origins):
        return None
    sources = {one.source for one in known}
    files = [one for one in known if one.path is not None]
    same = {one.sha256 for one in files}
    return HierarchyOrigin(
        "file" if files else sources.pop() if len(sources) == 1 else "given",
        ", ".join(dict.fromkeys(str(one.path) for one in files)) or None,
        same.pop() if len(same) == 1 else None,
        sum(one.seconds for one in known),
    )


def parted(tree: Hierarchy, names: Sequence[str]) -> dict[str, Hierarchy]:
    """Take the hierarchies of columns apart (see `joined`); columns that have none are not there."""
    found: dict[str, dict[str, str | None]] = {}
    for v, label in enumerate(tree.labels):
        if v != tree.root:
            up = int(tree.parent[v])
            above = None if up == tree.root else item_of(tree.labels[up])
            found.setdefault(column_of(label), {})[item_of(label)] = above
    require_columns(found, names)
    added = {name: [item_of(leaf) for leaf in tree.added if column_of(leaf) == name] for name in found}
    return {name: tree.derived(found[name], added[name]) for name in names if name in found}


def require_columns(found: Mapping[str, object], names: Sequence[str]) -> None:
    """Refuse hierarchies of columns that there are not."""
    unknown = next((name for name in found if name not in names), None)
    if unknown is not None:
        raise RequestError(
            f"A hierarchy is given for {shorten(unknown)}, which is no column of codes; there are "
            f"{listed(list(names))}.",
            hint=did_you_mean(unknown, names),
        )
