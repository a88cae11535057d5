"""Edits of a tree, as slowly as can be: a tree is a name and a list of trees, an item has None for its list.

Each edit makes a new tree from the old one, from top to bottom; None: it cannot be done.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Tree = tuple[str, "list[Tree] | None"]


def names(tree: Tree) -> list[str]:
    return [tree[0], *(name for part in tree[1] or [] for name in names(part))]


def find(tree: Tree, name: str) -> Tree | None:
    if tree[0] == name:
        return tree
    return next((found for part in tree[1] or [] if (found := find(part, name))), None)


def is_group(tree: Tree, name: str) -> bool:
    found = find(tree, name)
    return found is not None and found[1] is not None


def without(tree: Tree, gone: list[str]) -> Tree:
    """Cut branches off."""
    if tree[1] is None:
        return tree
    return tree[0], [without(part, gone) for part in tree[1] if part[0] not in gone]


def with_parts(tree: Tree, group: str, parts: list[Tree]) -> Tree:
    """Give a group other parts."""
    if tree[1] is None:
        return tree
    if tree[0] == group:
        return group, parts
    return tree[0], [with_parts(part, group, parts) for part in tree[1]]


def parent(tree: Tree, name: str) -> str | None:
    for part in tree[1] or []:
        if part[0] == name:
            return tree[0]
        if (up := parent(part, name)) is not None:
            return up
    return None


def put(tree: Tree, branches: list[Tree], group: str, at: int) -> Tree | None:
    found = find(tree, group)
    if found is None or found[1] is None:
        return None
    return with_parts(tree, group, [*found[1][:at], *branches, *found[1][at:]])


def parts(tree: Tree, group: str) -> list[Tree]:
    found = find(tree, group)
    assert found is not None
    assert found[1] is not None
    return found[1]


def known(tree: Tree, nodes: list[str]) -> bool:
    return all(name in names(tree) for name in nodes)


def edited(tree: Tree, edit: Mapping[str, Any]) -> Tree | None:
    what = {name: value for name, value in edit.items() if name != "do"}
    return globals()[f"do_{edit['do']}"](tree, **what)  # type: ignore[no-any-return]


def do_move(tree: Tree, nodes: list[str], under: str, before: str | None = None) -> Tree | None:
    if not known(tree, nodes) or tree[0] in nodes:
        return None
    # A branch that hangs in another one which moves as well leaves that one first.
    moved = []
    for name in nodes:
        branch = find(tree, name)
        assert branch is not None
        moved.append(without(branch, nodes))
    left = without(tree, nodes)
    if not is_group(left, under):
        # A node cannot move into a branch that moves elsewhere, for that would leave the tree.
        return None
    siblings = [part[0] for part in parts(left, under)]
    if before is not None and before not in siblings:
        return None
    return put(left, moved, under, len(siblings) if before is None else siblings.index(before))


def do_rename(tree: Tree, node: str, name: str) -> Tree | None:
    if node not in names(tree) or name in names(tree):
        return None

    def walk(tree: Tree) -> Tree:
        return (name if tree[0] == node else tree[0]), None if tree[1] is None else [walk(p) for p in tree[1]]

    return walk(tree)


def do_merge(tree: Tree, nodes: list[str], into: str) -> Tree | None:
    others = [name for name in nodes if name != into]
    if not others or not all(is_group(tree, name) for name in [*others, into]):
        return None
    if any(into in names(find(tree, name) or tree) for name in others):
        return None
    gathered = [part for name in others for part in parts(tree, name) if part[0] not in others]
    gathered = [without(part, others) for part in gathered]
    return put(without(tree, others), gathered, into, len(parts(without(tree, others), into)))


def do_dissolve(tree: Tree, group: str) -> Tree | None:
    if not is_group(tree, group) or tree[0] == group:
        return None

    def walk(tree: Tree) -> Tree:
        if tree[1] is None:
            return tree
        out: list[Tree] = []
        for part in tree[1]:
            out += part[1] or [] if part[0] == group else [walk(part)]
        return tree[0], out

    return walk(tree)


def do_group(tree: Tree, name: str, nodes: list[str], under: str | None = None) -> Tree | None:
    if name in names(tree) or not known(tree, nodes) or tree[0] in nodes:
        return None
    up = under or (parent(tree, nodes[0]) if nodes else tree[0])
    if up is None or not is_group(tree, up):
        return None
    # The place of the first of the nodes that are there already, else the end.
    at = 0
    for part in parts(tree, up):
        if part[0] in nodes:
            break
        at += 1
    with_it = put(tree, [(name, [])], up, at)
    assert with_it is not None
    return do_move(with_it, nodes, name)


def do_add(tree: Tree, items: list[str], under: str) -> Tree | None:
    if any(item in names(tree) for item in items) or not is_group(tree, under):
        return None
    return put(tree, [(item, None) for item in items], under, len(parts(tree, under)))


def do_remove(tree: Tree, nodes: list[str]) -> Tree | None:
    if not known(tree, nodes) or tree[0] in nodes:
        return None
    gone = [found for name in nodes if (found := find(tree, name))]
    if any(part[0] not in nodes for found in gone for part in found[1] or []):
        return None
    return without(tree, nodes)


def do_sort(tree: Tree, group: str) -> Tree | None:
    if not is_group(tree, group):
        return None
    inside = parts(tree, group)
    numbers = all(name.lstrip("+-").isdecimal() for name, _ in inside)
    order = sorted(inside, key=lambda part: (int(part[0]) if numbers else 0, part[0]))
    return with_parts(tree, group, order)
