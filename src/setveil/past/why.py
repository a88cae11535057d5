"""Why a label of a run is not split, or an item left out: try it, see what breaks, and find what is to blame.

Every number of an answer is of a check by the verifier: first of the rows with the label split or the item
brought back, then of these rows with what is to blame left out, or published under another label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, RequestError, did_you_mean, listed, shorten
from setveil.guarantees import Guarantee, absent_items
from setveil.hierarchy.tree import Hierarchy
from setveil.past._attempts import Attempts
from setveil.past._naming import Naming, Positions, RunTerms
from setveil.past.run import MODELS, PastRun
from setveil.progress import Progress
from setveil.utility import named

Answer = dict[str, Any]


def require_splittable(run: PastRun, *, in_class: bool = False) -> None:
    """Refuse runs in which no item has one label, unless one class of it is asked about."""
    made = run.report["recoding"]
    if not run.uniform and not in_class:
        several = "an item may be published under several labels"
        reasons = {
            "grouped": "it puts rows into groups",
            "facts": "its labels are boxes of several parts, which no one hierarchy splits",
            "disassociated": "every item is published under its own name, and only which items go "
            "together is "
            "hidden",
            "noisy": "items are told under their own names, by counts with noise",
        }
        reason = reasons.get(made, several)
        name = run.report["algorithm"]["name"]
        raise RequestError(f"No label of this run can be split: {reason} ({name}).")
    if run.model not in MODELS:
        raise RequestError(
            f"This run promises {run.report['guarantee']['phrase']}; why labels are not split is known for "
            f"{' and '.join(MODELS)} only."
        )
    if absent_items(run.report["guarantee"]):
        raise RequestError(
            f"This run promises {run.report['guarantee']['phrase']}; why labels are not split is known of "
            "items that a person has, not of absent ones."
        )


def why(
    run: PastRun,
    data: Transactions,
    tree: Hierarchy | None,
    guarantee: Guarantee,
    name: str,
    *,
    show: int = 10,
    progress: Progress,
) -> Answer:
    """Say why a label is not split, or an item is left out or has no name of its own (see `setveil.why`).

    Parameters
    ----------
    data, tree, guarantee
        Its rows, its hierarchy if its labels are nodes of one, and its promise.
    name : str
        A label, an item, or a node of the hierarchy.
    progress : Progress
        Hears how far the checks are.

    Returns
    -------
    dict
        See docs/why.md.
    """
    now = _as_published(run, data, tree, guarantee, progress)
    question = _Question(run, now, name, show)
    about = question.answer()
    report = run.report
    optimality = report.get("optimality")
    settings = report["algorithm"].get("parameters") or {}
    return {
        "name": name,
        **about,
        "guarantee": {**guarantee.as_dict(), "phrase": guarantee.phrase},
        "algorithm": report["algorithm"]["name"],
        "objective": run.objective,
        "loss": now.loss(),
        "optimality": optimality and {key: optimality.get(key) for key in _OPTIMALITY},
        "max_suppressed": settings.get("max_suppressed"),
        "occurrences": data.n_occurrences,
        "below": _below(now, about, name, show),
        "stays_inside": True,
    }


_OPTIMALITY = ("objective", "model", "loss", "gap", "proven", "weighted", "limited")


def _as_published(
    run: PastRun, data: Transactions, tree: Hierarchy | None, guarantee: Guarantee, progress: Progress
) -> Naming:
    """Take what a run published, and make sure that rows and record belong together."""
    unknown = [label for label in data.vocabulary.labels if label not in run.image]
    if unknown:
        raise DataError(f"The run's recoding says nothing of {len(unknown):,} items: {listed(unknown)}.")
    labels = tuple(dict.fromkeys(label for label in run.image.values() if label is not None))
    position: dict[str | None, int] = {None: -1} | {label: i for i, label in enumerate(labels)}
    image = np.array([position[label] for label in run.image.values()], np.int64)
    terms = RunTerms(data, Vocabulary(run.image), tree, guarantee, run.objective, progress)
    now = Naming(terms, labels, image)
    measure = named(run.objective)
    then = measure.value(run.report["utility"])
    if not run.partial and now.loss() != then:
        raise DataError(
            f"By these rows and the recoding of {run.name}, {measure.title} is {now.loss():.6g}; its record "
            f"says {then}.",
            hint="Are they the rows that the run was made from?",
        )
    return now


def _below(now: Naming, about: Answer, name: str, show: int) -> list[str]:
    """List the items that an answer mentions and that are in fewer rows than the promise demands."""
    mentioned = {name}
    for one in about["tries"]:
        mentioned.update(label for entry in one["first"] for label in entry["itemset"])
        mentioned.update((one["leave_out"] or {"labels": []})["labels"][:show])
    k = getattr(now.terms.guarantee, "k", 0)
    rows = zip(now.terms.items.labels, now.terms.supports.tolist(), strict=True)
    return [label for label, number in rows if label in mentioned and 0 < number < k]


class _Question:
    """One name, and what the run made of it."""

    def __init__(self, run: PastRun, now: Naming, name: str, show: int) -> None:
        self.run, self.now, self.name, self.terms = run, now, name, now.terms
        self.attempts = Attempts(now, show)

    def answer(self) -> Answer:
        """Find out what the name is, and what stands against splitting it or bringing it back."""
        now, tree, name = self.now, self.terms.tree, self.name
        item = self.terms.items.ids.get(name)
        label: str | None = name
        below: list[str] = []
        tries: list[Answer] = []
        if item is not None and now.label_of(item) == name and now.members(name).size == 1:
            question, inside = "kept", np.array([item])
        elif now.members(name).size:
            question, inside = "split", now.members(name)
        else:
            if item is not None:
                inside = np.array([item])
            elif tree is not None and name in tree:
                inside = self._under(tree, name)
            else:
                raise self._unknown()
            label = self._above(inside)
            images = sorted(set(now.image[inside].tolist()))
            question = "free" if label is not None else "back" if images == [-1] else "split already"
            if question == "split already":
                below = [now.labels[to] for to in images if to >= 0]
        if not self.terms.supports[inside].any():
            question = "absent"
        asked = {"split": self._split, "free": self._free, "back": self._back}
        if question in asked:
            tries = asked[question](inside)
        ids = now.rows.vocabulary.ids
        rows = 0 if label is None or label not in ids else int(now.rows.supports()[ids[label]])
        return {
            "question": question,
            "label": label,
            "published_as": below,
            "items_left_out": int(np.count_nonzero(now.image[inside] < 0)),
            "items": int(inside.size),
            "entries": self.terms.entries(inside),
            "rows": rows,
            "tries": tries,
        }

    def _unknown(self) -> DataError:
        nodes = self.terms.tree.labels if self.terms.tree else ()
        names = dict.fromkeys((*self.now.labels, *self.terms.items.labels, *nodes))
        return DataError(
            f"{shorten(self.name)} is no item, no published label and no node of the hierarchy of "
            f"{self.run.name}.",
            hint=did_you_mean(
                self.name, names, "Items and their labels are in internal/recoding.csv.", most=3, quoted=True
            ),
        )

    def _under(self, tree: Hierarchy, node: str) -> Positions:
        """Find the items under a node of the hierarchy, as positions."""
        ids = self.terms.items.ids
        leaves = tree.under(tree.id(node)).tolist()
        return np.sort(np.array([ids[tree.labels[leaf]] for leaf in leaves], np.int64))

    def _above(self, inside: Positions) -> str | None:
        """Find the label that stands for what was asked for and more; None if there is none."""
        tree = self.terms.tree
        images = set(self.now.image[inside].tolist())
        if len(images) > 1 or -1 in images:
            return None
        label: str = self.now.labels[images.pop()]
        if tree is None or label not in tree:
            return label
        above = tree.ancestors(tree.id(self.name))
        return label if tree.id(label) in above else None

    def _parts(self, label: str, inside: Positions) -> dict[str, Positions]:
        """Part the items of a label by the children of its node; without a node, into single items."""
        tree = self.terms.tree
        if tree is None or label not in tree:
            return {self.terms.items.labels[i]: np.array([i]) for i in inside.tolist()}
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
            splits["items"] = {self.terms.items.labels[i]: np.array([i]) for i in inside.tolist()}
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
        """Publish what is left out: as itself, under nodes above it, under labels of others."""
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
