"""Nested JSON as paths from the root to each item."""

from __future__ import annotations

from collections.abc import Iterator

from setveil.base.errors import listed, shorten

_LABELS = ("code", "name", "label", "text", "title", "id", "key")  # of an object: the first that it has
_BELOW = "children"


class ObjectMembers(list[tuple[str, object]]):
    """The members of a JSON object, in order."""


def leaf_paths(held: object, keys: dict[str, bool]) -> Iterator[list[str]]:
    """Give the labels from the root down to each leaf; `keys` learns which keys give labels (or not)."""
    if isinstance(held, ObjectMembers):
        yield from _of_object(held, keys)
    elif isinstance(held, list):
        for one in held:
            yield from leaf_paths(one, keys)
    elif isinstance(held, str) and held:
        yield [held]
    else:
        raise ValueError(f"found {shorten(str(held))}, expected a label, a list or an object")


def _of_object(members: ObjectMembers, keys: dict[str, bool]) -> Iterator[list[str]]:
    """Take an object as a node with its label and children, or as groups with what is below each."""
    single = {key: value for key, value in members if isinstance(value, str) and value}
    named = next((key for key in _LABELS if key in single), None)
    if named is None:
        for key, below in members:
            if isinstance(below, str | bool) or not key:
                raise ValueError(f"below the key {shorten(key)} is no list or object")
            yield from _below(key, below, keys)
        return
    lists = {key: value for key, value in members if isinstance(value, list)}
    groups = [_BELOW] if _BELOW in lists else list(lists)
    if len(groups) > 1:
        raise ValueError(f"{shorten(single[named])} has several lists: {listed(groups)}")
    if len({key for key, _ in members}) < len(members):
        raise ValueError(f"{shorten(single[named])} has a key twice")
    keys[named] = True
    for key, _ in members:
        if key not in groups:
            keys.setdefault(key, False)
    yield from _below(single[named], lists[groups[0]] if groups else None, keys)


def _below(label: str, held: object, keys: dict[str, bool]) -> Iterator[list[str]]:
    """Put a label in front of the paths below it; it is a leaf if there are none."""
    leaf = True
    for path in () if held is None else leaf_paths(held, keys):
        leaf = False
        yield path if path[0] == label else [label, *path]
    if leaf:
        yield [label]


def said_of_keys(keys: dict[str, bool]) -> str:
    """Say which keys of objects give the labels, and which are ignored."""
    labels = [key for key, used in keys.items() if used]
    if not labels:
        return "each key is a group, and below it are its members"
    ignored = [key for key, used in keys.items() if not used]
    more = f"; ignored: {listed(ignored)}" if ignored else ""
    return f"objects within objects, with labels from {listed(labels)}{more}"
