"""Trees from what people have in memory: data frames, dicts of children and parents, nested dicts, paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from os import PathLike
from typing import Any

import numpy as np

from setveil.base.errors import HierarchyError, RequestError, described, listed, shorten
from setveil.rows.data.pandas_frames import is_pandas
from setveil.rows.hierarchy.tree import ROOT, Hierarchy

_FORMS = (
    'A dict of child to parent, {"tea": "hot", "milk": "cold"}; nested dicts, {"hot": ["tea"]}; '
    "a data frame, the items on the left and broader groups to the right; or a file."
)

Edge = tuple[str, str | None]


def tree_from(held: object) -> Hierarchy:
    """Make a tree of a mapping, a data frame, or an iterable of paths.

    A mapping of texts has children and parents (None: no parent), one of mappings and lists what is below
    each key. A frame has in each row an item, its parent, ..., the broadest group, then missing cells.
    Integers are read as texts. Several nodes without a parent get the root `*`.

    >>> tree_from({"tea": "hot", "coffee": "hot", "milk": "cold"}).paths()[0]
    ['coffee', 'hot', '*']
    >>> tree_from({"drinks": {"hot": ["tea", "coffee"], "milk": None}}).paths()[0]
    ['coffee', 'hot', 'drinks']
    """
    if isinstance(held, Mapping):
        nested = any(_is_group(value) for value in held.values())
        edges = _nested(held, None) if nested else ((_name(a), _parent(b)) for a, b in held.items())
        hint = _FORMS
    elif is_pandas(held) or hasattr(held, "__arrow_c_stream__") or type(held).__name__ == "LazyFrame":
        edges = _of_paths(_rows(held))
        hint = "In each row the item is on the left, and broader groups are to its right."
    elif isinstance(held, Iterable) and not isinstance(held, str | bytes):
        edges = _of_paths(held)
        hint = "Each list goes from the item to the broadest group."
    else:
        raise RequestError(f"A hierarchy cannot be made of {described(held)}.", hint=_FORMS)
    return _joined(edges, hint)


def _joined(edges: Iterable[Edge], hint: str) -> Hierarchy:
    """Make a tree of its edges, with a root above where several nodes have no parent."""
    parents: dict[str, str | None] = {}
    for child, parent in edges:
        if parent == child:
            continue  # a label that is repeated is one node
        known = parents.get(child)
        if parent is not None and known not in (None, parent):
            raise HierarchyError(f"{shorten(child)} has two parents: {known!r} and {parent!r}.", hint=hint)
        parents[child] = known if parent is None else parent
        if parent is not None:
            parents.setdefault(parent, None)
    if not parents:
        raise HierarchyError("The hierarchy has no node.", hint=hint)
    tops = [node for node, above in parents.items() if above is None]
    if not tops:
        raise HierarchyError(
            f"The nodes of the hierarchy lead in a circle: {listed(list(parents))}.", hint=hint
        )
    if len(tops) > 1:
        if ROOT in parents and ROOT not in tops:
            raise HierarchyError(
                f"{len(tops):,} nodes have no parent, and the root above them would be called {ROOT!r}, as a "
                "node is already.",
                hint=hint,
            )
        parents |= {node: ROOT for node in tops if node != ROOT} | {ROOT: None}
    return Hierarchy(parents)


def _is_group(value: object) -> bool:
    return isinstance(value, Mapping | list | tuple | set | frozenset)


def _nested(held: Any, above: str | None) -> Iterator[Edge]:
    """List the edges of nested dicts and lists; None is nothing below."""
    for name in held:
        yield _name(name), above
        below = held[name] if isinstance(held, Mapping) else None
        if _is_group(below):
            yield from _nested(below, _name(name))
        elif below is not None:
            raise RequestError(
                f"What lies under {shorten(_name(name))} must be a dict, a list or None, got "
                f"{described(below)}.",
                hint=_FORMS,
            )


def _of_paths(paths: Iterable[Any]) -> Iterator[Edge]:
    for path in paths:
        if isinstance(path, str | bytes | Mapping) or not isinstance(path, Iterable):
            raise RequestError(
                f"A path of a hierarchy must be a list of nodes, got {described(path)}.", hint=_FORMS
            )
        nodes = [_name(node) for node in path]
        if nodes:
            yield from pairwise(nodes)
            yield nodes[-1], None


def _rows(frame: Any) -> Iterator[list[Any]]:
    from setveil.rows.data.frames import as_polars, whole

    if is_pandas(frame):
        if getattr(frame, "ndim", 2) == 1:
            frame = frame.to_frame(name="parent" if frame.name is None else frame.name)
            frame.index.name = frame.index.name or "child"
        if frame.index.names != [None]:
            frame = frame.reset_index()
    table = as_polars(frame).collect()
    for number, cells in enumerate(zip(*(whole(column).to_list() for column in table), strict=True)):
        row = list(cells)
        while row and row[-1] in (None, ""):
            row.pop()
        if None in row or "" in row:
            raise HierarchyError(
                f"Row {number} of the hierarchy has a missing cell before a group, expected none.",
                hint="Only cells at the end of a row may be missing.",
            )
        yield row


def _name(node: object) -> str:
    if isinstance(node, int | np.integer) and not isinstance(node, bool):
        return str(node)
    if not isinstance(node, str) or not node:
        raise RequestError(
            f"A node of a hierarchy must be a text that is not empty, or an integer, got {described(node)}.",
            hint="Files of a table's columns are named when it is read: setveil.read_table(..., "
            "hierarchies={column: FILE})."
            if isinstance(node, PathLike)
            else "",
        )
    return node


def _parent(node: object) -> str | None:
    return None if node is None else _name(node)
