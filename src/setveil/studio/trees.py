"""The setting ``hierarchy``: the file of the items' groups, and COLUMN=FILE or COLUMN=WAY of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def items_tree(given: Any) -> str | None:
    """Find the file of the items' groups."""
    files = given if isinstance(given, list) else [given]
    return next((one for one in files if isinstance(one, str) and (given is one or "=" not in one)), None)


def column_trees(given: Any) -> list[str]:
    """List the groups of columns, each as COLUMN=FILE or COLUMN=WAY."""
    return [one for one in given if isinstance(one, str) and "=" in one] if isinstance(given, list) else []


def joined(items: str | None, columns: Sequence[str]) -> str | list[str] | None:
    """Put the groups of items and of columns together, as the setting holds them."""
    if not columns:
        return items
    return [*([items] if items else []), *columns]
