"""The options of the command that made a run, from its record."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeVar

from setveil.base.values.declared import options_of
from setveil.base.values.kinds import Texts

Words = TypeVar("Words")  # options of one kind


def options_in(kind: type[Words], options: Mapping[str, Any]) -> Words:
    """Take the options of a kind from those that a record has."""
    declared = options_of(kind)
    names = {name: name.replace("_", "-") for name in declared}
    found = {name: options[said] for name, said in names.items() if options.get(said) is not None}
    for name, value in found.items():  # records hold a single text where one was given
        if isinstance(value, str) and isinstance(declared[name].kind, Texts):
            found[name] = [value]
    for path in ("roles", "items_file"):
        if path in found:
            found[path] = Path(found[path])
    return kind(**found)


def texts_in(options: Mapping[str, Any], name: str) -> list[str]:
    """List the values of an option that may be given several times."""
    value = options.get(name)
    return [] if value is None else [value] if isinstance(value, str) else list(value)
