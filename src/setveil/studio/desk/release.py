"""Questions about releases: figures in words, the cut, names, what is recommended."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, unreadable
from setveil.commands.refusals import of_single_rows
from setveil.judges.guarantees.verify.absence import nothing_absent
from setveil.releases.published import blocks, chunks, groups, kind_of_recoding, rows
from setveil.releases.published import facts as facts_kind
from setveil.releases.published.about import read_about
from setveil.releases.published.recoding import TABLE_GLOBAL
from setveil.releases.recipients import require_checked
from setveil.report.recommend import text as advice
from setveil.report.recommend.kinds import kind_of
from setveil.report.run.summary import facts
from setveil.rows.data.exposed import Refusal
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.studio.desk.data import rows_of, same_rows
from setveil.studio.desk.place import Desk
from setveil.work.past.classes import has_classes
from setveil.work.past.inputs import find_tree
from setveil.work.past.run import past_run

MOST = 200  # lines of an answer
_IN_ORDER = ("closed", "out", "kept")


class _Release:
    """A run's folder, and what has been read of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.run = past_run(folder)
        self.report = self.run.report
        self.tree: Hierarchy | None = None

    def one_label(self) -> Mapping[str, str | None]:
        """Return the label of each item, in a release where each has one."""
        if self.report["recoding"] in groups.info.recodings:
            raise DataError("Items are published as they are; sensitive ones are counted in each group.")
        if self.report["recoding"] in chunks.info.recodings:
            raise DataError("Items are published under their own names, in chunks: there are no labels.")
        if self.report["recoding"] in blocks.info.recodings:
            raise DataError(
                "Items are published under their own names, in noisy counts. There are no labels."
            )
        if has_classes(self.run):
            raise DataError(
                "Each class has labels of its own, so there is no single list of labels.",
                hint="Rows before and after, below, tell the class of each row.",
            )
        if self.report["recoding"] in facts_kind.info.recodings:
            return self.run.image
        if not self.run.uniform and self.report["recoding"] != TABLE_GLOBAL:
            raise DataError(
                "Here the same item can have different labels in different rows, so there is no single list "
                "of labels."
            )
        return self.run.image


def _of(desk: Desk, run: str) -> _Release:
    """Find a release, read once as long as it is the one that is asked about."""
    found: _Release | None = desk.kept.get("release")
    if found is None or found.folder.name != run:
        found = desk.kept["release"] = _Release(desk.folder / "runs" / run)
    return found


def in_words(desk: Desk, run: str) -> dict[str, Any]:
    """Return what the text summary of a run says, as pairs of label and text."""
    return {"facts": [list(pair) for pair in facts(_of(desk, run).report).items()]}


def refused(desk: Desk, run: str) -> dict[str, Any]:
    """Say in the commands' sentences what a release does not support.

    checker, query, stranger, absent items; found: why nobody can be found in it.
    """
    release = _of(desk, run)
    recoding, found = release.report["recoding"], {}
    try:
        require_checked(read_about(release.folder / "published" / "about.json"))
    except RequestError as error:
        found["checker"] = error.message
    info = kind_of_recoding(recoding).info
    refusal = Refusal.of(info.shared_sums)
    if refusal is not None:
        found["query"] = f"{refusal.reason} {refusal.instead}"
    shown = info.shown
    if shown.unfindable is not None:
        return found | dict.fromkeys(("stranger", "absent", "found"), shown.unfindable.error().message)
    if recoding not in rows.info.recodings:
        found["stranger"] = of_single_rows("fraction").message
    if not shown.shows_absence:
        found["absent"] = nothing_absent().message
    return found


def _tree(desk: Desk, release: _Release) -> Hierarchy | None:
    found = release.report["hierarchy"]
    if release.tree is None and found:
        release.one_label()
        file = desk.folder / (found["path"] or "") if found["source"] == "file" else None
        data = same_rows(release.report, rows_of(desk)) if file is None else None
        read = release.report["input"].get("read")
        encoding = (read["encoding"] if read else None) or "utf-8"
        release.tree = find_tree(release.run, data, file, encoding)  # type: ignore[arg-type]
    return release.tree


def _kind(items: list[str], image: Mapping[str, str | None], name: str, *, leaf: bool) -> dict[str, Any]:
    """Say what became of the items under a node."""
    labels = {image.get(item) for item in items}
    if labels == {None}:
        return {"state": "out", "label": None}
    shown = labels - {None}
    label = next(iter(shown))
    if leaf:
        return {"state": "kept" if label == name else "inside", "label": label}
    if len(shown) == 1 and label == name:
        return {"state": "closed", "label": label}
    return {"state": "inside" if len(shown) == 1 and label not in items else "open", "label": None}


def cut(desk: Desk, run: str, node: str | None = None, first: int = 0) -> dict[str, Any]:
    """Return what is under a node of the hierarchy (by default its root), and what became of it.

    all: how many nodes. nodes: at most `MOST` from `first` on, each with name, items, left_out, leaf and
    state: open (its items have several labels), closed (published as this), inside (published as what is
    above), kept (an item under its own label), out (suppressed).
    """
    release = _of(desk, run)
    image, tree = release.one_label(), _tree(desk, release)
    if tree is None:
        raise DataError("This release was made without a hierarchy.")
    if node is not None and node not in tree:
        raise DataError(f"There is no {node!r} in the hierarchy of this release.")
    at = tree.root if node is None else tree.id(node)
    children = sorted(tree.children(at), key=lambda child: tree.labels[child])
    nodes = []
    for child in children[first : first + MOST]:
        name, leaves = tree.labels[child], [tree.labels[leaf] for leaf in tree.under(child).tolist()]
        is_leaf = leaves == [name]
        nodes.append(
            {
                "name": name, "leaf": is_leaf, "items": len(leaves),
                "left_out": sum(1 for leaf in leaves if image.get(leaf) is None),
                **_kind(leaves, image, name, leaf=is_leaf),
            }
        )  # fmt: skip
    return {"name": tree.labels[at], "all": len(children), "nodes": nodes}


def names(desk: Desk, run: str, state: str = "closed", text: str = "") -> dict[str, Any]:
    """Return the labels of a release that are in a state and contain a text.

    names: at most `MOST`, each with name and items. numbers: how many there are in each state. all: how many
    match.
    """
    image = _of(desk, run).one_label()
    members: dict[str, list[str]] = {}
    for item, label in image.items():
        if label is not None:
            members.setdefault(label, []).append(item)
    found = {
        "closed": {label: items for label, items in members.items() if items != [label]},
        "out": {item: [item] for item, label in image.items() if label is None},
        "kept": {label: items for label, items in members.items() if items == [label]},
    }
    wanted = text.casefold()
    chosen = [
        {"name": name, "number": len(items), "items": sorted(items)[:8]}
        for name, items in sorted(found.get(state, {}).items())
        if wanted in name.casefold() or any(wanted in item.casefold() for item in items)
    ]
    numbers = {state: len(found[state]) for state in _IN_ORDER}
    return {"numbers": numbers, "all": len(chosen), "names": chosen[:MOST]}


def recommended(desk: Desk, found: Any) -> dict[str, Any]:
    """Put the output of ``setveil recommend --json`` in the words of the command."""
    try:
        best = found["best"]
        lines = [advice.headline(found), *advice.further(found)]
        return {
            "when": found.get("when", ""),
            "lines": lines,
            "heads": ["", *kind_of(found).heads],
            "groups": [
                [title, [kind_of(found).cells(row) for row in rows]] for title, rows in advice.groups(found)
            ],
            "notes": [*advice.columns_explained(found), *advice.notes(found)],
            "use": best["algorithm"] if best else "",
            "name": best["name"] if best else "",
            "options": {
                key: best[key] for key in ("objective", "suppress") if best and best.get(key) is not None
            },
        }
    except (AttributeError, KeyError, TypeError) as error:
        raise unreadable("What was recommended", "cannot be read", error) from None


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "release_in_words": in_words,
    "release_cut": cut,
    "release_refused": refused,
    "release_names": names,
    "recommended": recommended,
}
