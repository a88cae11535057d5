"""The command that adds the items which a hierarchy lacks, with the files and options that were given."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.base.errors import MissingItemsError
from setveil.cli.files import command_with
from setveil.rows.hierarchy.tree import BELOW_ONE_NODE

_NORMALIZE = re.compile("--normalize [a-z]+")
_SOURCES = ("original", "input", "files", "data", "release")  # the argument or option that names the rows


def name_files(
    error: MissingItemsError, options: Mapping[str, Any], reading: Sequence[str], what: str
) -> None:
    """Write the files and options of a command into the hint on missing items of rows, a table or facts."""
    if found := _NORMALIZE.search(error.hint):
        error.hint = f"{error.hint.removesuffix('.')}:\n    {command_with(found[0])}"
    if "--extend" not in error.hint:
        return
    source = next((options[name] for name in _SOURCES if options.get(name)), None)
    tree = error.hierarchy or _named(options)
    if what:
        error.hint = f"Add them to the hierarchy of the {what}s: lines of {what};parent;...;root."
    elif source is not None and tree is not None:
        error.hint = _extension(source, Path(tree), reading)


def _named(options: Mapping[str, Any]) -> Any:
    plain = [text for text in options.get("hierarchy_files") or () if "=" not in text]
    return options.get("hierarchy_file") or next(iter(plain), None)


def _extension(source: Any, tree: Path, reading: Sequence[str]) -> str:
    paths = [str(source)] if isinstance(source, str | Path) else map(str, source)
    extended = tree.with_name(f"{tree.stem}-extended{tree.suffix}")
    words = ["setveil", "hierarchy", "build", *paths, "--extend", str(tree), "--out", str(extended), *reading]
    return f"`{shlex.join(words)}` {BELOW_ONE_NODE}"
