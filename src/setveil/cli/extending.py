"""The command that adds the items which a hierarchy lacks, with the files and options that were given."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.errors import MissingItemsError, SetveilError
from setveil.hierarchy.tree import BELOW_ONE_NODE

_SOURCES = ("original", "input", "files", "data")  # the argument or option that names the rows


def name_files(error: SetveilError, given: Mapping[str, Any]) -> None:
    """Write the files and options that a command was given into the hint on items that are missing."""
    if not isinstance(error, MissingItemsError) or "--extend" not in error.hint:
        return
    from setveil.cli.options import column_options, fact_options, reading_of, reading_options

    if any(given.get(one.name) for one in [*fact_options(), *column_options()]):
        what = "code" if any(given.get(one.name) for one in fact_options()) else "item"
        error.hint = f"Add them to the hierarchy of the {what}s: lines of {what};parent;...;root."
        return
    source = next((given[name] for name in _SOURCES if given.get(name)), None)
    tree = error.hierarchy or _named(given)
    if source is not None and tree is not None:
        names = [one.name for one in reading_options() if one.name in given]
        reading = reading_of(**{name: given[name] for name in names})
        error.hint = _extension(source, Path(tree), reading.arguments())


def _named(given: Mapping[str, Any]) -> Any:
    plain = [text for text in given.get("hierarchy_files") or () if "=" not in text]
    return given.get("hierarchy_file") or next(iter(plain), None)


def _extension(source: Any, tree: Path, more: Sequence[str]) -> str:
    paths = [str(source)] if isinstance(source, str | Path) else map(str, source)
    extended = tree.with_name(f"{tree.stem}-extended{tree.suffix}")
    words = ["setveil", "hierarchy", "build", *paths, "--extend", str(tree), "--out", str(extended), *more]
    return f"`{shlex.join(words)}` {BELOW_ONE_NODE}"
