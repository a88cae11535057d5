"""Groups of items on the desk: showing, changing, checking and saving them.

The groups are what the lines of ``edits.jsonl`` make of the trees in ``trees/``, so that any moment comes
back after whatever happens. ``hierarchy.csv`` is made from them, for all that reads hierarchies.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import HierarchyError, OutputError, SetveilError, reason_of
from setveil.base.staging import staged_file
from setveil.judges.guarantees import FEWEST
from setveil.rows.data.spelling import NONE, respelled
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy import build as builders
from setveil.rows.hierarchy.alone import group_alone, likely_lengths, standing_alone
from setveil.rows.hierarchy.doubts import TreeProblem, problems_of
from setveil.rows.hierarchy.edit import Draft, Edit
from setveil.rows.hierarchy.history import History, read_edits
from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy
from setveil.rows.hierarchy.systems.reading import Zeros, in_words
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.inputs import load_names
from setveil.studio.desk.column_groups import values_of
from setveil.studio.desk.data import rows_of, systems_of
from setveil.studio.desk.place import ColumnDesk, Desk
from setveil.studio.places import make_folder, read_settings
from setveil.studio.trees import items_tree

AT_ONCE = 20_000  # nodes of a tree that is made and written with every edit; larger ones a little later
_USUAL_K = 5  # where nothing is promised yet
SHOWN = 100  # nodes of a problem that are named


@dataclass
class Editing:
    """A tree that is being edited."""

    history: History
    first: Edit | None = None  # the line that begins the file of edits, where nothing has been edited yet
    # the file that the groups came from, and its size and time
    source: tuple[str, tuple[int, int]] = ("", (0, 0))
    # tells this worker from others: what was sent by another is not known here
    begun: str = field(default_factory=lambda: secrets.token_hex(4))
    # the plain steps made so far, so that a page may catch up
    steps: list[dict[str, Any]] = field(default_factory=list)

    @property
    def version(self) -> str:
        """Name the tree as it is."""
        return f"{self.begun}-{len(self.steps)}"

    def since(self, version: str) -> list[dict[str, Any]] | None:
        """List the steps after a version; None: the whole tree is to be sent."""
        begun, _, number = version.partition("-")
        if begun != self.begun or not number.isdecimal():
            return None
        steps = self.steps[int(number) :]
        return None if any(step["do"] == "start" for step in steps) else steps


def show(desk: Desk) -> dict[str, Any]:
    """Give the whole tree: labels in tree order, the position of each one's parent, which are groups."""
    editing = _editing(desk)
    if editing is None:
        return {"there": False}
    draft = editing.history.draft
    labels = draft.nodes()
    place = {label: i for i, label in enumerate(labels)}
    up = [-1 if label == draft.root else place[draft.parent[label]] for label in labels]
    return {
        "there": True,
        "labels": labels,
        "up": up,
        "groups": [place[group] for group in draft.children],
        **_state(editing),
    }


def edit(desk: Desk, edit: Edit, version: str) -> dict[str, Any]:
    """Make an edit, undo or redo one; tell what a page that knows a version must change."""
    editing = _editing(desk)
    if editing is None:
        raise HierarchyError("There are no groups yet to be changed.")
    if edit.get("do") == "undo" and len(editing.history.done) == 1:
        raise HierarchyError("There is nothing to undo.")
    editing.steps.append(editing.history.do(edit))
    _write(desk, editing, edit)
    if edit.get("do") == "start":
        editing.steps[-1] = {"do": "start"}
    at_once, trouble = isinstance(desk, ColumnDesk) or len(editing.history.draft.parent) < AT_ONCE, ""
    if at_once:
        try:
            _save(desk, editing)
        except SetveilError as error:
            trouble = error.message  # the edit is kept, and a run will say so as well
    return {"steps": editing.since(version), "saved": at_once, "trouble": trouble, **_state(editing)}


def start(
    desk: Desk, file: str, named: str, command: Sequence[str] = (), encoding: str = "utf-8"
) -> dict[str, Any]:
    """Begin with the tree of a file; nothing changes where it is none. The tree before can be had back."""
    tree = read_hierarchy(file, encoding=encoding)
    notes = tree.origin.notes if tree.origin else ()
    return _begin(desk, tree, ". ".join([named, *notes]), command)


def _begin(desk: Desk, tree: Hierarchy, named: str, command: Sequence[str]) -> dict[str, Any]:
    line = _keep(desk, tree, named, command)
    editing = _editing(desk)
    if editing is None:
        editing = desk.tree = Editing(_history(desk))
    editing.steps.append(editing.history.do(line))
    _write(desk, editing, line)
    _save(desk, editing)
    return _state(editing)


def build(desk: Desk, by: str, fanout: int, at: str, lengths: Sequence[int], named: str) -> dict[str, Any]:
    """Begin with groups made from rows that the command for it does not read: those of a table."""
    data = rows_of(desk)
    if by == "prefix":
        tree = builders.by_prefix(data, at=at, lengths=lengths)
    else:
        tree = builders.by_cooccurrence(data, fanout, common=FEWEST)
    return _begin(desk, tree, named, ())


def codes(
    desk: Desk, system: str, zeros: Zeros | None, names: str | None, column: str, command: Sequence[str]
) -> dict[str, Any]:
    """Begin with the groups of a system of codes; where they come from tells how the codes were read."""
    data = rows_of(desk)
    called = None if names is None else load_names(Path(names), "utf-8")
    said = systems_of(desk, system, column) if column else None
    tree, read = builders.by_system(data, system, names=called, zeros=zeros, said=said, one_spelling=True)
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    lines = [f"codes of {read.title}", *(line.strip() for line in in_words(read, supports))]
    return _begin(desk, tree, ". ".join(line.rstrip(".") for line in lines), command)


def problems(desk: Desk) -> dict[str, Any]:
    """Find what is wrong or doubtful."""
    editing = _editing(desk)
    if editing is None:
        return {"problems": []}
    data = _fitting_data(desk, editing)
    found = problems_of(editing.history.draft, None if data is None else data.vocabulary.labels)
    return {
        "problems": [
            {"kind": one.kind, "count": len(one.nodes), "nodes": one.nodes[:SHOWN], **_rare(desk, data, one)}
            for one in found
        ],
        "version": editing.version,
    }


def _rare(desk: Desk, data: Transactions | None, problem: TreeProblem) -> dict[str, Any]:
    """Say of items that stand alone how many are rare, and whether codes among them can be grouped."""
    if problem.kind != "alone" or data is None:
        return {}
    k = _settings(desk).get("k")
    k = k if isinstance(k, int) else _USUAL_K
    supports, ids = data.supports().tolist(), data.vocabulary.ids
    rare = sum(supports[ids[node]] < k for node in problem.nodes)
    return {"of": data.n_items, "rare": rare, "k": k, "lengths": likely_lengths(problem.nodes)}


def alone(desk: Desk) -> dict[str, Any]:
    """Group the items that stand alone by their first characters; the tree before can be had back."""
    editing = _editing(desk)
    data = _fitting_data(desk, editing)
    if editing is None or data is None:
        raise HierarchyError("There are no groups yet to be changed.")
    draft, items = editing.history.draft, data.vocabulary.labels
    lengths = likely_lengths(standing_alone(draft.tree(), items))
    _begin(desk, group_alone(draft, items, lengths).tree(), "codes by their first characters", ())
    return {"steps": None, "saved": True, "trouble": "", **_state(editing)}


def proposal(desk: Desk) -> dict[str, Any]:
    """Propose at which lengths codes are cut, if the items are codes."""
    data = _data(desk)
    return {"lengths": [] if data is None else likely_lengths(data.vocabulary.labels)}


def missing(desk: Desk, under: str, version: str) -> dict[str, Any]:
    """Put all items of the data that are in no group under one."""
    editing = _editing(desk)
    data = _fitting_data(desk, editing)
    items = [] if data is None or editing is None else data.vocabulary.labels
    lost = [item for item in items if editing is not None and item not in editing.history.draft]
    return edit(desk, {"do": "add", "items": lost, "under": under}, version)


def items(desk: Desk) -> dict[str, Any]:
    """Count the rows of every item of the data."""
    data = _fitting_data(desk, _editing(desk))
    if data is None:
        return {"items": None}
    supports: NDArray[np.int64] = np.bincount(data.items, minlength=data.n_items)
    return {"items": data.vocabulary.labels, "rows": supports.tolist()}


def rows(desk: Desk, label: str) -> dict[str, Any]:
    """Count the rows that contain an item under a node."""
    editing = _editing(desk)
    data = _fitting_data(desk, editing)
    if editing is None or label not in editing.history.draft:
        raise HierarchyError("This is not in the groups any more.")
    if data is None:
        return {"rows": None}
    draft, inside, stack = editing.history.draft, set(), [label]
    while stack:
        node = stack.pop()
        inside.add(node)  # a group may be an item, too
        stack.extend(draft.children.get(node, ()))
    mask = np.fromiter((item in inside for item in data.vocabulary.labels), np.bool_)
    before = np.concatenate([[0], np.cumsum(mask[data.items])])
    return {"rows": int((before[data.indptr[1:]] > before[data.indptr[:-1]]).sum()), "of": data.n_rows}


def save(desk: Desk) -> dict[str, Any]:
    """Make and write the hierarchy, where it is older than the last edit."""
    editing = _editing(desk)
    if editing is not None and editing.history.done and not _is_saved(desk):
        _save(desk, editing)
    return {"there": editing is not None}


def export(desk: Desk, form: str) -> dict[str, Any]:
    """Write the tree as others read it, next to the others; give the file."""
    editing = _editing(desk)
    if editing is None:
        raise HierarchyError("There are no groups yet.")
    path = desk.folder / "trees" / f"export.{form}"
    make_folder(path.parent)
    write_hierarchy(editing.history.draft.tree(), path)
    return {"file": str(path)}


def _state(editing: Editing) -> dict[str, Any]:
    history = editing.history
    starts = [one for one in history.done if one.get("do") == "start"]
    return {
        "version": editing.version,
        "edits": max(0, len(history.done) - 1),
        "undo": len(history.done) > 1,
        "redo": bool(history.undone),
        "from": str(starts[-1].get("from", "")) if starts else "",
        "command": list(starts[-1].get("command", ())) if starts else [],
        "file": str(starts[-1]["file"]) if starts else "",
    }


def _editing(desk: Desk) -> Editing | None:
    known = desk.tree if isinstance(desk.tree, Editing) else None
    if known is not None and known.first is not None:  # nothing is edited yet: the file may be another one
        source = _source(_settings(desk))
        if source is None or known.source != (source, _stamp(desk.folder / source)):
            known = None
    if known is None:
        known = desk.tree = _load(desk)
    return known


def _source(settings: dict[str, Any]) -> str | None:
    """Find the file of the items' groups in the settings; those of columns are COLUMN=FILE."""
    return items_tree(settings.get("hierarchy"))


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _history(desk: Desk) -> History:
    return History(Draft("*", {"*": []}), lambda name: _kept_tree(desk.folder / "trees" / Path(name).name))


def _load(desk: Desk) -> Editing | None:
    path = desk.folder / "edits.jsonl"
    if path.exists():
        _drop_half_a_line(path)
        history = _history(desk)
        for number, line in read_edits(path):
            try:
                history.do(line)
            except SetveilError as error:
                raise HierarchyError(
                    f"Line {number} of {path} cannot be done again: {error.message}",
                    hint="The file was changed outside of the studio. Remove the lines from there on.",
                ) from error
        if history.done:
            return Editing(history)
    settings = _settings(desk)
    source = _source(settings)
    if source is None:
        return None
    editing = Editing(_history(desk))
    tree = read_hierarchy(desk.folder / source, encoding=_encoding(settings))
    editing.first = _keep(desk, tree, Path(source).name)
    editing.source = source, _stamp(desk.folder / source)
    editing.history.do(editing.first)
    return editing


def _drop_half_a_line(path: Path) -> None:
    """Remove what a process that was killed has left of its last line."""
    content = path.read_bytes()
    if content and not content.endswith(b"\n"):
        with path.open("r+b") as file:
            file.truncate(content.rfind(b"\n") + 1)


def _kept_tree(path: Path) -> Draft:
    """Read a tree that was checked when it was kept: quickly, for it may be large."""
    try:
        levels = [
            level for name, level in json.loads(path.read_text("utf-8")).items() if name.startswith("level")
        ]
        children = {group: below for level in levels for group, below in level.items()}
        draft = Draft(next(iter(levels[0])), children)
        whole = len(draft.nodes()) == 1 + sum(map(len, children.values())) == 1 + len(draft.parent)
    except (OSError, ValueError, AttributeError, TypeError, LookupError, StopIteration) as error:
        raise HierarchyError(f"The groups kept in {path} cannot be read: {reason_of(error)}.") from error
    if not whole:
        raise HierarchyError(f"The groups kept in {path} are no tree any more.")
    return draft


def _write(desk: Desk, editing: Editing, line: Edit) -> None:
    """Add an edit to the file, so that it outlives whatever comes."""
    lines = [line] if editing.first is None else [editing.first, line]
    try:
        with (desk.folder / "edits.jsonl").open("a", encoding="utf-8") as file:
            file.write("".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
            file.flush()
            os.fsync(file.fileno())
    except (OSError, UnicodeEncodeError) as error:
        desk.tree = None  # it is read again as it was
        why = error.strerror if isinstance(error, OSError) else error
        raise OutputError(f"The edit cannot be kept: {why}. Nothing was changed.") from error
    editing.first = None


def _keep(desk: Desk, tree: Hierarchy, named: str, command: Sequence[str] = ()) -> dict[str, Any]:
    """Keep a tree to start from; give the line that does so."""
    whole = tree if tree.n_nodes > 1 else Draft.of(tree).tree()  # a single item gets a root
    content = "\n".join(whole.labels).encode("utf-8", "surrogatepass") + whole.parent.tobytes()
    digest = hashlib.sha256(content).hexdigest()[:16]
    place = desk.folder / "trees" / f"{digest}.json"
    make_folder(place.parent)
    if not place.exists():
        write_hierarchy(whole, place)
    return {"do": "start", "file": f"trees/{digest}.json", "from": named, "command": list(command)}


def _save(desk: Desk, editing: Editing) -> None:
    """Write the tree where commands read it: in UTF-8, which they read whatever the data are in."""
    tree = editing.history.draft.tree()
    with staged_file(desk.folder / "hierarchy.csv") as staged:
        write_hierarchy(tree, staged)


def _settings(desk: Desk) -> dict[str, Any]:
    if isinstance(desk, ColumnDesk):
        return {key: value for key, value in _settings(desk.project).items() if key != "hierarchy"}
    try:
        return read_settings(desk.folder)
    except FileNotFoundError:
        return {}


def _encoding(settings: dict[str, Any]) -> str:
    encoding = settings.get("encoding")
    return encoding if isinstance(encoding, str) else "utf-8"


def _is_saved(desk: Desk) -> bool:
    try:
        saved = (desk.folder / "hierarchy.csv").stat().st_mtime_ns
        return saved >= (desk.folder / "edits.jsonl").stat().st_mtime_ns
    except OSError:
        return False


def _data(desk: Desk) -> Transactions | None:
    """Return the project's rows, if there are any; reading them again is no reason to drop the tree."""
    tree = desk.tree
    try:
        if "input" not in _settings(desk):
            return None
        if isinstance(desk, ColumnDesk):
            return values_of(desk, _settings(desk))
        return rows_of(desk)
    except SetveilError:
        return None  # the page Data says why
    finally:
        desk.tree = desk.tree or tree


def _fitting_data(desk: Desk, editing: Editing | None) -> Transactions | None:
    """Return the project's rows as a run reads them: with the spellings that the groups have."""
    data = _data(desk)
    if data is None or editing is None or _settings(desk).get("normalize") == NONE:
        return data
    draft, items = editing.history.draft, set(data.vocabulary.labels)
    leaves = [node for node in draft.parent if node not in draft.children or node in items]
    names = respelled(items, leaves)
    return data.with_names(names) if names else data


def of_column(desk: Desk, column: str, what: str, given: dict[str, Any]) -> dict[str, Any]:
    """Do one of these for the groups of a column's values."""
    found = desk.kept.setdefault("columns", {})
    if column not in found:
        found[column] = ColumnDesk(desk, column)
        make_folder(found[column].folder)
    return HANDLERS[what](found[column], **given)


def begin_column(desk: ColumnDesk, parents: dict[str, str | None], named: str) -> dict[str, Any]:
    """Begin with the groups that a column has, where none are kept yet."""
    return {"there": True} if _editing(desk) is not None else _begin(desk, Hierarchy(parents), named, ())


HANDLERS: dict[str, Callable[..., dict[str, Any]]] = {
    "tree": show,
    "tree_edit": edit,
    "tree_start": start,
    "tree_build": build,
    "tree_codes": codes,
    "tree_problems": problems,
    "of_column": of_column,
    "tree_begin_column": begin_column,
    "tree_alone": alone,
    "tree_proposal": proposal,
    "tree_missing": missing,
    "tree_items": items,
    "tree_rows": rows,
    "tree_save": save,
    "tree_export": export,
}
