"""The keys of a study file: what each may hold, and how its values are read."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, shorten
from setveil.base.values.declared import Option, options_of
from setveil.base.values.kinds import (
    Choice,
    Flag,
    Integer,
    Kind,
    Number,
    QueryFile,
    RowSupport,
    Value,
    file_sha256,
)
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.runs.options.reading import Reading


def promise_options() -> dict[str, Option]:
    """List the options of all models by their keys; where several models have one, the first decides."""
    found: dict[str, Option] = {}
    for model in models().values():
        for name, option in model.options.items():
            found.setdefault(name, option)
    return found


def own_options(names: Iterable[str]) -> dict[str, Option]:
    """List the options of the parameters of some algorithms, by their keys in a study."""
    return {
        option.study_name or name: option
        for algorithm in names
        for name, option in options_of(algorithms.load(algorithm).Parameters).items()
    }


MEASURING: Mapping[str, Kind] = {
    "queries": Integer(0),
    "query_size": Integer(1),
    "query_support": Integer(1),
    "queries_file": QueryFile(),
    "estimator": Choice(("entropy", "uniform")),
    "itemsets": RowSupport(),
    "itemset_length": Integer(1),
    "group_by": Integer(1),
    "risk_m": Integer(0),
    "bound": Number("seconds", positive=True),
}
LIMITS: Mapping[str, Kind] = {
    "time_limit": Number("seconds", positive=True),
    "memory_limit": Number("MB", positive=True),
}
# Options on how a data set's files are read. Not those of databases: their rows may change between runs.
READING: Mapping[str, Option] = {
    name: option for name, option in options_of(Reading).items() if name not in {"query", "connection"}
}


def reading_value(key: str, value: Any) -> bool:
    """Whether an option on how files are read may have a value: true or false, a text, of some several."""
    if isinstance(READING[key].kind, Flag | Integer):
        return not READING[key].kind.accepts(value)
    texts = value if key in _SEVERAL and isinstance(value, list) and value else [value]
    return all(isinstance(text, str) and text for text in texts)


_SEVERAL = {"item_columns", "missing"}


def files_sha256(files: Sequence[Path]) -> str:
    """Hash the contents of some files, those of a folder by their names; of one file: its content."""
    inside = [path for one in files for path in (_held(one) if one.is_dir() else [one])]
    if inside == list(files) and len(files) == 1:
        return file_sha256(files[0])
    return hashlib.sha256("\n".join(map(file_sha256, inside)).encode()).hexdigest()


def _held(folder: Path) -> list[Path]:
    found = sorted(path for path in folder.iterdir() if path.is_file() and not path.name.startswith("."))
    if not found:
        raise DataError(f"There is no file in the folder {folder}.")
    return found


def accepted(kind: Kind, value: Any, where: str, base: Path) -> Value:
    """Check one value of a key; `where` is for messages, relative paths start at `base`."""
    try:
        taken = kind.from_study(value, base)
    except DataError as error:
        raise DataError(f"{where}: {error.message}", hint=error.hint) from None
    if taken is None:
        raise RequestError(f"{where} must be {kind.allowed}, got {shorten(str(value))}.")
    return taken
