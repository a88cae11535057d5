"""What a name is of a run, and what stands against splitting it or bringing it back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from setveil.base.errors import DataError, did_you_mean, shorten
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past._attempts import Attempts
from setveil.work.past._naming import Naming, Positions
from setveil.work.past.run import PastRun

Answer = dict[str, Any]


class ItemQuestion:
    """One name, and what the run made of it."""

    def __init__(self, run: PastRun, now: Naming, name: str, show: int) -> None:
        self.run, self.now, self.name, self.terms = run, now, name, now.terms
        self.attempts = Attempts(now, show)

    def answer(self) -> Answer:
        """Find out what the name is, and what stands against splitting it or bringing it back."""
        now, name = self.now, self.name
        item = self.terms.items.ids.get(name)
        label: str | None = name
        below: list[str] = []
        tries: list[Answer] = []
        if item is not None and now.label_of(item) == name and now.members(name).size == 1:
            question, inside = "kept", np.array([item])
        elif now.members(name).size:
            question, inside = "split", now.members(name)
        else:
            inside = self._named()
            label = self._above(inside)
            images = sorted(set(now.image[inside].tolist()))
            question = "free" if label is not None else "back" if images == [-1] else "split already"
            if question == "split already":
                below = [now.labels[to] for to in images if to >= 0]
        if not self.terms.supports[inside].any():
            question = "absent"
        answers = {"split": self._split, "free": self._free, "back": self._back}
        if question in answers:
            tries = answers[question](inside)
        ids = now.rows.vocabulary.ids
        rows = 0 if label is None or label not in ids else int(now.rows.supports()[ids[label]])
        return {
            "name": name,
            "question": question,
            "label": label,
            "published_as": below,
            "items_left_out": int(np.count_nonzero(now.image[inside] < 0)),
            "items": int(inside.size),
            "entries": self.terms.entries(inside),
            "rows": rows,
            "tries": tries,
        }

    def _named(self) -> Positions:
        """Find the items of a name that is no published label, as positions."""
        tree, item = self.terms.tree, self.terms.items.ids.get(self.name)
        if item is not None:
            return np.array([item])
        if tree is None or self.name not in tree:
            raise self._unknown("item", tree.labels if tree else ())
        return self._under(tree, self.name)

    def _unknown(self, unit: str, nodes: Sequence[str]) -> DataError:
        names = dict.fromkeys((*self.now.labels, *self.terms.items.labels, *nodes))
        return DataError(
            f"{shorten(self.name)} is not the name of a known {unit}, a published label or a node of "
            f"the hierarchy of {self.run.name}.",
            hint=did_you_mean(
                self.name, names, f"{unit.capitalize()}s and their labels are in internal/recoding.csv.",
                most=3, quoted=True,
            ),
        )  # fmt: skip

    def _under(self, tree: Hierarchy, node: str) -> Positions:
        """Find the items under a node of the hierarchy, as positions."""
        ids = self.terms.items.ids
        leaves = tree.under(tree.id(node)).tolist()
        return np.sort(np.array([ids[tree.labels[leaf]] for leaf in leaves], np.int64))

    def _above(self, inside: Positions) -> str | None:
        """Find the label that represents what was asked for and more; None if there is none."""
        tree = self.terms.tree
        images = set(self.now.image[inside].tolist())
        if len(images) > 1 or -1 in images:
            return None
        label: str = self.now.labels[images.pop()]
        if tree is None or label not in tree:
            return label
        above = tree.ancestors(tree.id(self.name))
        return label if tree.id(label) in above else None

    def _alone(self, inside: Positions) -> dict[str, Positions]:
        """Part items into single ones, by their names."""
        return {self.terms.items.labels[i]: np.array([i]) for i in inside.tolist()}

    def _parts(self, label: str, inside: Positions) -> dict[str, Positions]:
        """Part the items of a label by the children of its node; without a node, into single items."""
        tree = self.terms.tree
        if tree is None or label not in tree:
            return self._alone(inside)
        node = tree.id(label)
        while len(tree.children(node)) == 1:
            node = tree.children(node)[0]
        children = [tree.labels[child] for child in tree.children(node) or [node]]
        parts = {child: np.intersect1d(self._under(tree, child), inside) for child in children}
        return {child: items for child, items in parts.items() if items.size}

    def _split(self, inside: Positions) -> list[Answer]:
        """Split a label into its parts, and down to its items."""
        parts = self._parts(self.name, inside)
        splits = {"children": parts}
        if len(parts) < inside.size:
            splits["items"] = self._alone(inside)
        tries = []
        for kind, parts in splits.items():
            one = self.attempts.attempt(kind, parts, allowed=parts)
            blamed = one["leave_out"]
            if blamed and len(blamed["labels"]) < len(one["parts"]):
                one["move"] = self.attempts.moved(parts, blamed["labels"], self.name)
            tries.append(one)
        return tries

    def _free(self, inside: Positions) -> list[Answer]:
        """Split the label as far as to free some of its items; and take these out of it alone."""
        now, tree, label = self.now, self.terms.tree, str(self._above(inside))
        whole = now.members(label)
        rest = np.setdiff1d(whole, inside)
        tries: list[Answer] = []
        if tree is not None and label in tree:
            path: dict[str, Positions] = {}
            at, left = label, whole
            while left.size > inside.size:
                parts = self._parts(at, left)
                at, left = next((n, p) for n, p in parts.items() if np.isin(inside, p).all())
                path |= {name: items for name, items in parts.items() if name != at}
            path[self.name] = inside
            if len(path) <= 2:  # to split the label is to take the items out of it
                return [self.attempts.attempt("free", path, refused={self.name})]
            tries.append(self.attempts.attempt("free", path, allowed=path, refused={self.name}))
        apart = {self.name: inside, self._rest_of(label, rest): rest}
        tries.append(self.attempts.attempt("apart", apart, refused={self.name}))
        return tries

    def _rest_of(self, label: str, rest: Positions) -> str:
        """Name what stays of a label: itself if it is a node, else a group of items is named by these."""
        if self.terms.tree is not None and label in self.terms.tree:
            return label
        names = self.terms.names(rest)
        return names[0] if len(names) == 1 else self.now.unused(f"({','.join(names)})")

    def _back(self, inside: Positions) -> list[Answer]:
        """Publish what is suppressed: as itself, under nodes above it, under labels of others."""
        now, tree, name = self.now, self.terms.tree, self.name
        tries = [self.attempts.attempt("back", {name: inside}, refused={name})]
        if tree is None or name not in tree or tries[0]["holds"]:
            return tries
        for node in tree.ancestors(tree.id(name)):
            label = tree.labels[node]
            if now.members(label).size:
                break  # it stands for others already: to join them is to move
            tries.append(self.attempts.attempt("ancestor", {label: self._under(tree, label)}, brief=True))
            if tries[-1]["holds"]:
                break
        parent = tree.labels[int(tree.parent[tree.id(name)])]
        tries[0]["move"] = self.attempts.moved({name: inside}, [name], parent)
        return tries
