"""The setting ``hierarchy``: the file of the items' groups, and COLUMN=FILE or COLUMN=WAY of columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def items_tree(setting: Any) -> str | None:
    """Find the file of the items' groups."""
    files = setting if isinstance(setting, list) else [setting]
    return next((one for one in files if isinstance(one, str) and (setting is one or "=" not in one)), None)


def column_trees(setting: Any) -> list[str]:
    """List the groups of columns, each as COLUMN=FILE or COLUMN=WAY."""
    return (
        [one for one in setting if isinstance(one, str) and "=" in one] if isinstance(setting, list) else []
    )


def joined(items: str | None, columns: Sequence[str]) -> str | list[str] | None:
    """Put the groups of items and of columns together, as the setting holds them."""
    if not columns:
        return items
    return [*([items] if items else []), *columns]
