"""Edits of a hierarchy one after the other: a file of them, undo and redo."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NoReturn

from setveil.base.errors import DataError, HierarchyError, shorten
from setveil.base.plain_json import read_json
from setveil.rows.hierarchy.edit import Draft, Edit
from setveil.rows.hierarchy.tree import Hierarchy


class History:
    """A tree and the edits that made it, with undo and redo without limit.

    In addition to the edits of `setveil.rows.hierarchy.edit` it accepts ``{"do": "undo"}``, ``{"do":
    "redo"}`` and ``{"do": "start", "file": F}``, which replaces the whole tree (by `load`) and can be undone,
    too. So a file to which each is added as a line gives the tree at any time. `undone`: the edits that redo
    would bring back, the next one last.
    """

    def __init__(self, draft: Draft, load: Callable[[str], Draft] | None = None) -> None:
        self.draft = draft
        self.done: list[Edit] = []
        self.undone: list[Edit] = []
        self._load = load
        self._back: list[Draft | dict[str, Any]] = []

    def do(self, edit: Edit) -> dict[str, Any]:
        """Carry out an edit, or undo or redo one; return the plain step, "start" for another tree."""
        if edit.get("do") == "undo":
            return self._undo()
        if edit.get("do") == "redo":
            if not self.undone:
                _refuse("There is nothing to do again.")
            step = self._do(self.undone[-1])
            self.undone.pop()
            return step
        step = self._do(edit)
        self.undone.clear()
        return step

    def _do(self, edit: Edit) -> dict[str, Any]:
        if edit.get("do") == "start":
            file = edit.get("file")
            if self._load is None or not isinstance(file, str):
                _refuse("A start names the file of the tree to start from.")
            draft = self._load(file)
            self._back.append(self.draft)
            self.draft = draft
            step: dict[str, Any] = {"do": "start"}
        else:
            step = self.draft.plain(edit)
            self._back.append(self.draft.carry_out(step))
        self.done.append(edit)
        return step

    def _undo(self) -> dict[str, Any]:
        if not self.done:
            _refuse("There is nothing to undo.")
        back = self._back.pop()
        self.undone.append(self.done.pop())
        if isinstance(back, Draft):
            self.draft = back
            return {"do": "start"}
        self.draft.carry_out(back)
        return back


def read_edits(path: str | os.PathLike[str]) -> list[tuple[int, Edit]]:
    """Read a file of edits, one JSON object per line, with numbers of lines from 1; skip blank lines."""
    try:
        text = Path(path).read_text("utf-8")
    except OSError as error:
        raise DataError(f"Cannot read {path}: {error.strerror or error}.") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{path} is not a text in UTF-8: {error.reason} at byte {error.start:,}.") from error
    out: list[tuple[int, Edit]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            edit = read_json(line)
        except ValueError:
            edit = None
        if not isinstance(edit, dict):
            raise DataError(
                f"{path}, line {number}: expected an edit as a JSON object, got {shorten(line)}.",
                hint='For example {"do": "move", "nodes": ["tea"], "under": "drinks"}',
            )
        out.append((number, edit))
    return out


def edited(
    tree: Hierarchy, edits: Iterable[tuple[int, Edit]], load: Callable[[str], Draft] | None = None
) -> Draft:
    """Apply edits one after the other."""
    history = History(Draft.of(tree), load)
    for number, edit in edits:
        try:
            history.do(edit)
        except HierarchyError as error:
            raise HierarchyError(f"Line {number} of the edits: {error.message}", hint=error.hint) from error
    return history.draft


def _refuse(message: str) -> NoReturn:
    raise HierarchyError(message)
