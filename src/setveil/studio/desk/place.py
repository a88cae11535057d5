"""The state of a desk between two requests."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any


class Desk:
    """A project's folder, and what has been read from it: input, hierarchy with its edits, `kept` answers."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data: Any = None
        self.tree: Any = None
        self.kept: dict[str, Any] = {}

    def forget(self) -> None:
        """Drop what has been read: it is read otherwise from now on."""
        self.data = self.tree = None
        self.kept.clear()


class ColumnDesk(Desk):
    """Return the file of the groups of a column's values, in a separate folder of the project."""

    def __init__(self, project: Desk, column: str) -> None:
        super().__init__(project.folder / "columns" / key_of(column))
        self.project = project
        self.column = column


def key_of(column: str) -> str:
    """Name the folder of a column's groups, and its address: a name may hold anything."""
    return hashlib.sha256(column.encode("utf-8", "surrogatepass")).hexdigest()[:12]
