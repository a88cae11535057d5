"""Edits of a hierarchy, each with its inverse: move, rename, merge, dissolve, group, add, remove, sort.

An edit is a mapping as in JSON, `do` says which::

    {"do": "move", "nodes": ["tea", "milk"], "under": "drinks", "before": "water"}
    {"do": "rename", "node": "drinks", "name": "beverages"}
    {"do": "merge", "nodes": ["hot drinks", "cold drinks"], "into": "drinks"}
    {"do": "dissolve", "group": "hot drinks"}
    {"do": "group", "name": "breakfast", "nodes": ["tea", "jam"], "under": "food"}
    {"do": "add", "items": ["cocoa"], "under": "drinks"}
    {"do": "remove", "nodes": ["an empty group", "an item"]}
    {"do": "sort", "group": "drinks"}

`before` may be omitted (then at the end), and so may `under` of a group of nodes (then where the first of
them is). Each comes down to one of three plain steps, which are edits as well: ``place`` (where nodes stand;
nowhere: they are no more), ``rename``, and ``order``. The inverse of a plain step is a plain step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NoReturn

from setveil.base.errors import HierarchyError, described, listed, shorten
from setveil.base.wording import are
from setveil.rows.data.vocabulary import item_order
from setveil.rows.hierarchy.tree import Hierarchy

Edit = Mapping[str, Any]
Kind = Literal["group", "item"]

_NAMES = {  # the fields of each edit: of one name, of several, and others; those with ? may be left out
    "move": ("nodes*", "under", "before?"),
    "rename": ("node", "name"),
    "merge": ("nodes*", "into"),
    "dissolve": ("group",),
    "group": ("name", "nodes*", "under?"),
    "add": ("items*", "under"),
    "remove": ("nodes*",),
    "sort": ("group",),
    "order": ("group", "children*"),
    "place": ("places",),
}


class Draft:
    """A tree that is being edited: parents, and children in an order of their own. Groups may be empty.

    >>> draft = Draft.of(Hierarchy.from_paths([["tea", "hot", "*"], ["jam", "*"]]))
    >>> back = draft.apply({"do": "move", "nodes": ["jam"], "under": "hot"})
    >>> draft.tree().paths()
    [['jam', 'hot', '*'], ['tea', 'hot', '*']]
    >>> _ = draft.apply(back)
    >>> draft.tree().paths()
    [['jam', '*'], ['tea', 'hot', '*']]
    """

    def __init__(self, root: str, children: Mapping[str, Sequence[str]]) -> None:
        self.root = root
        self.children: dict[str, list[str]] = {group: list(below) for group, below in children.items()}
        self.parent = {node: group for group, below in self.children.items() for node in below}

    @classmethod
    def of(cls, tree: Hierarchy) -> Draft:
        """Begin with a tree; one that is a single item gets a root above it."""
        labels = tree.labels
        if tree.n_nodes == 1:
            return cls("*" if labels[0] != "*" else "**", {"*" if labels[0] != "*" else "**": labels})
        return cls(
            labels[tree.root],
            {
                labels[v]: [labels[child] for child in tree.children(v)]
                for v in range(tree.n_leaves, tree.n_nodes)
            },
        )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Draft):
            return NotImplemented
        return self.root == other.root and self.children == other.children

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __contains__(self, label: object) -> bool:
        return label == self.root or label in self.parent

    def kind(self, label: str) -> Kind:
        """Tell a group from an item."""
        return "group" if label in self.children else "item"

    def items(self) -> list[str]:
        """List the items, in tree order."""
        return [node for node in self.nodes() if node not in self.children]

    def nodes(self) -> list[str]:
        """List all nodes, each before what is under it, children in their order."""
        out, stack = [], [self.root]
        while stack:
            node = stack.pop()
            out.append(node)
            stack.extend(reversed(self.children.get(node, ())))
        return out

    def empty_groups(self) -> list[str]:
        """List the groups without any item under them."""
        filled = {self.root}
        for node in self.parent:
            up: str | None = node if node not in self.children else None
            while up is not None and up not in filled:
                filled.add(up)
                up = self.parent.get(up)
        return [group for group in self.children if group not in filled]

    def tree(self) -> Hierarchy:
        """Make the hierarchy, without the empty groups."""
        empty = set(self.empty_groups())
        parents: dict[str, str | None] = {node: up for node, up in self.parent.items() if node not in empty}
        if not parents:
            raise HierarchyError("The hierarchy contains no item any more, expected at least one.")
        return Hierarchy({**parents, self.root: None})

    def apply(self, edit: Edit) -> dict[str, Any]:
        """Carry out an edit and return its inverse, also an edit, or raise and leave everything unchanged."""
        return self.carry_out(self.plain(edit))

    def plain(self, edit: Edit) -> dict[str, Any]:
        """Bring an edit down to a plain step (place, rename, order) on the tree as it is."""
        do = _checked(edit)
        fields = {name: value for name, value in edit.items() if name != "do"}
        resolve: Callable[..., dict[str, Any]] | None = getattr(self, f"_{do}", None)
        return resolve(**fields) if resolve else dict(edit)

    def carry_out(self, step: Edit) -> dict[str, Any]:
        """Carry out a plain step; return its inverse."""
        if step["do"] == "rename":
            return self._renamed(step["node"], step["name"])
        if step["do"] == "order":
            return self._ordered(step["group"], step["children"])
        return self._placed(step["places"])

    # What each edit comes down to.

    def _move(self, nodes: list[str], under: str, before: str | None = None) -> dict[str, Any]:
        self._need_nodes(nodes)
        self._need_group(under)
        moved = set(nodes)
        beside = [child for child in self.children[under] if child not in moved]
        at = len(beside)
        if before is not None:
            if before not in beside:
                _refuse(
                    f"Nothing can be put before {shorten(before)}: it is not next to it in {shorten(under)}."
                )
            at = beside.index(before)
        return _place((node, self.kind(node), under, at + i) for i, node in enumerate(nodes))

    def _rename(self, node: str, name: str) -> dict[str, Any]:
        self._need_nodes([node])
        self._need_free(name)
        return {"do": "rename", "node": node, "name": name}

    def _merge(self, nodes: list[str], into: str) -> dict[str, Any]:
        self._need_group(into)
        merged = [node for node in nodes if node != into]
        if not merged:
            _refuse("One group cannot be merged with itself, expected at least two groups.")
        for node in merged:
            self._need_group(node)
            if self._is_under(into, node):
                _refuse(f"{shorten(node)} cannot go into {shorten(into)}, which is inside it.")
        gone = {into, *merged}
        below = [child for node in merged for child in self.children[node] if child not in gone]
        at = sum(child not in gone for child in self.children[into])
        return _place(
            [
                *((child, self.kind(child), into, at + i) for i, child in enumerate(below)),
                *((node, "group", None, 0) for node in merged),
            ]
        )

    def _dissolve(self, group: str) -> dict[str, Any]:
        self._need_group(group)
        if group == self.root:
            _refuse(f"{shorten(group)} is the topmost group and cannot be dissolved.")
        up = self.parent[group]
        at = self.children[up].index(group)
        return _place(
            [
                *((child, self.kind(child), up, at + i) for i, child in enumerate(self.children[group])),
                (group, "group", None, 0),
            ]
        )

    def _group(self, name: str, nodes: list[str], under: str | None = None) -> dict[str, Any]:
        self._need_free(name)
        self._need_nodes(nodes)
        if self.root in nodes:
            _refuse(f"{shorten(self.root)} is the topmost group and cannot be put into another.")
        if under is None:
            under = self.parent[nodes[0]] if nodes else self.root
        self._need_group(under)
        beside, inside = self.children[under], set(nodes)
        first = next((i for i, child in enumerate(beside) if child in inside), None)
        at = sum(child not in inside for child in beside[:first])
        return _place(
            [
                (name, "group", under, at),
                *((node, self.kind(node), name, i) for i, node in enumerate(nodes)),
            ]
        )

    def _add(self, items: list[str], under: str) -> dict[str, Any]:
        self._need_group(under)
        if known := [item for item in items if item in self]:
            _refuse(f"{listed(known)} {are(len(known))} in the hierarchy already.")
        at = len(self.children[under])
        return _place((item, "item", under, at + i) for i, item in enumerate(items))

    def _remove(self, nodes: list[str]) -> dict[str, Any]:
        self._need_nodes(nodes)
        return _place((node, self.kind(node), None, 0) for node in nodes)

    def _sort(self, group: str) -> dict[str, Any]:
        self._need_group(group)
        return {"do": "order", "group": group, "children": item_order(self.children[group])}

    # The plain steps.

    def _renamed(self, node: str, name: str) -> dict[str, Any]:
        self._need_nodes([node])
        if name in self:
            _refuse(f"There is a node called {shorten(name)} already.")
        if node in self.children:
            self.children[name] = self.children.pop(node)
            for child in self.children[name]:
                self.parent[child] = name
        if node == self.root:
            self.root = name
        else:
            up = self.parent[name] = self.parent.pop(node)
            beside = self.children[up]
            beside[beside.index(node)] = name
        return {"do": "rename", "node": name, "name": node}

    def _ordered(self, group: str, children: Sequence[str]) -> dict[str, Any]:
        self._need_group(group)
        before = self.children[group]
        if Counter(before) != Counter(children):
            _refuse(f"The order of {shorten(group)} names other nodes than are in it.")
        self.children[group] = list(children)
        return {"do": "order", "group": group, "children": before}

    def _placed(self, places: Sequence[Sequence[Any]]) -> dict[str, Any]:
        self._check_places(places)
        placed = {place[0] for place in places}
        back: list[tuple[str, Kind, str | None, int]] = []
        for up in dict.fromkeys(self.parent[label] for label, *_ in places if label in self.parent):
            stay: list[str] = []
            for i, child in enumerate(self.children[up]):
                if child in placed:
                    back.append((child, self.kind(child), up, i))
                else:
                    stay.append(child)
            self.children[up] = stay
        back += [(label, kind, None, 0) for label, kind, *_ in places if label not in self]
        for label, kind, under, _ in places:
            if under is None:
                self.children.pop(label, None)
                del self.parent[label]
            elif kind == "group":
                self.children.setdefault(label, [])
        for label, _, under, at in places:
            if under is not None:
                self.children[under].insert(at, label)
                self.parent[label] = under
        return _place(back)

    def _check_places(self, places: Sequence[Sequence[Any]]) -> None:
        """Make sure that a tree is left, before anything is changed."""
        target = {label: under for label, _, under, _ in places}
        if len(target) != len(places):
            twice = [label for label, n in Counter(label for label, *_ in places).items() if n > 1]
            _refuse(f"{listed(twice)} cannot be put in two places at once.")
        for label, kind, under, _ in places:
            if label == self.root:
                _refuse(f"{shorten(label)} is the topmost group: it can be renamed, nothing else.")
            if label in self and self.kind(label) != kind:
                _refuse(f"{shorten(label)} is no {kind}.")
            if label not in self and under is None:
                _refuse(f"There is no {shorten(label)} in the hierarchy.")
        gone = {label for label, under in target.items() if under is None}
        new = {label for label, kind, *_ in places if kind == "group"}
        stay = {group: len(self.children.get(group, ())) for group in {*gone, *target.values()} - {None}}
        for label in target:
            if (up := self.parent.get(label)) in stay:
                stay[up] -= 1
        for group in gone:
            if stay[group]:
                _refuse(f"{shorten(group)} is not empty: move what is in it first, or dissolve it.")
        for label, _, under, at in places:
            if under is None:
                continue
            if under in gone or (under not in self.children and under not in new):
                _refuse(f"{shorten(label)} cannot go into {shorten(under)}, which is no group.")
            if not 0 <= at <= stay[under]:
                _refuse(
                    f"{shorten(label)} cannot be number {at + 1} of {stay[under] + 1} in {shorten(under)}."
                )
            stay[under] += 1
        led = {self.root}  # nodes that lead to the root
        for label, under in target.items():
            way: dict[str, None] = {}
            node: str | None = under
            while node is not None and node not in led:
                if node in way or node == label:
                    _refuse(f"{shorten(label)} cannot go into itself or into a group inside it.")
                way[node] = None
                node = target.get(node, self.parent.get(node))
            led.update(way)

    # What edits ask of the nodes that they name.

    def _is_under(self, node: str, group: str) -> bool:
        up = self.parent.get(node)
        while up is not None and up != group:
            up = self.parent.get(up)
        return up is not None

    def _need_nodes(self, labels: Iterable[str]) -> None:
        if unknown := [label for label in labels if label not in self]:
            _refuse(f"{listed(unknown)} {are(len(unknown))} not in the hierarchy.")

    def _need_group(self, label: str) -> None:
        self._need_nodes([label])
        if label not in self.children:
            _refuse(f"{shorten(label)} is an item, not a group: nothing can be in it.")

    def _need_free(self, name: str) -> None:
        if name in self:
            what = "a group" if name in self.children else "an item"
            _refuse(f"There is {what} called {shorten(name)} already.")
        if name != name.strip() or any(sign in name for sign in "\0\r\n"):
            _refuse(f"The name {shorten(name)} begins or ends with a blank or contains a line break.")


def _place(places: Iterable[tuple[str, Kind, str | None, int]]) -> dict[str, Any]:
    return {"do": "place", "places": [list(place) for place in places]}


def _refuse(message: str) -> NoReturn:
    raise HierarchyError(message)


def _checked(edit: Edit) -> str:
    """Check the fields of an edit, which may come from anywhere; return what is to be done."""
    do = edit.get("do")
    if not isinstance(do, str) or do not in _NAMES:
        got = "nothing" if do is None else described(do)
        _refuse(f"An edit says what to do: {', '.join(_NAMES)}; got {got}.")
    allowed = {name.rstrip("*?"): name for name in _NAMES[do]}
    if unknown := [name for name in edit if name not in allowed and name != "do"]:
        _refuse(f"{do} knows no field {listed(unknown)}, only {', '.join(allowed)}.")
    for name, form in allowed.items():
        value = edit.get(name)
        if value is None and form.endswith("?"):
            continue
        if name == "places":
            _check_form(value)
        elif form.endswith("*"):
            if (
                not isinstance(value, list)
                or not all(isinstance(label, str) and label for label in value)
                or len(set(value)) != len(value)
            ):
                _refuse(f"{do}: {name} must be a list of different labels, got {described(value)}.")
            if not value and do not in {"group", "order"}:
                _refuse(f"{do}: {name} names nothing, expected at least one label.")
        elif not isinstance(value, str) or not value:
            _refuse(f"{do}: {name} must be a label, got {described(value)}.")
    return do


def _check_form(places: object) -> None:
    good = isinstance(places, list) and all(
        isinstance(place, list | tuple)
        and len(place) == 4
        and isinstance(place[0], str)
        and place[0]
        and place[1] in ("group", "item")
        and (place[2] is None or isinstance(place[2], str))
        and type(place[3]) is int
        for place in places
    )
    if not good:
        _refuse("place: places must be a list of [label, group or item, parent or null, position].")
