"""The keys of a study file: what each may hold, and how its values are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil import algorithms
from setveil.errors import DataError, RequestError, shorten
from setveil.fields import (
    Choice,
    ColumnLabels,
    Flag,
    GroupsOfItems,
    Integer,
    ItemFile,
    Items,
    Itemsets,
    ItemsOrColumns,
    ItemWeights,
    Kind,
    Number,
    Option,
    Probability,
    Share,
    Size,
    options_of,
)
from setveil.guarantees import models
from setveil.guarantees.coherence import as_json, as_written
from setveil.options.numbers import parse_share
from setveil.options.reading import Reading

_FILE_ENDINGS = {".txt", ".csv", ".dat", ".json", ".tsv", ".list"}


@dataclass(frozen=True)
class Reference:
    """A file that a parameter names.

    Attributes
    ----------
    path : Path
        Where it is.
    sha256 : str
        Of its content: runs with equal contents are equal runs.
    """

    path: Path
    sha256: str


Value = bool | int | float | str | Reference


@dataclass(frozen=True)
class QueryFile(Kind):
    """A file of queries."""

    names_items = True
    allowed = "a file of queries"


@dataclass(frozen=True)
class RowSupport(Kind):
    """A number of rows, or a share of them."""

    allowed = "a number of rows, or a share of the rows such as 1%"


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


# --- what values of each kind are taken as; None: not allowed


def _is_integer(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value  # 1.0 and 1 are the same run


def _integer(value: Any, _base: Path, kind: Integer) -> int | None:
    return value if _is_integer(value, kind.least) else None


def _size(value: Any, _base: Path, _kind: Kind) -> int | str | None:
    if value in ("inf", math.inf):
        return "inf"
    return value if _is_integer(value, 1) else None


def _share(value: Any, _base: Path, _kind: Kind) -> int | float | str | None:
    """Read a share as it is written: one that is no decimal number, such as 1/3, stays a text."""
    if isinstance(value, str):
        try:
            value = parse_share(value)
        except RequestError:
            return None
        if isinstance(value, Fraction):
            return str(value)
    share = _number(value)
    return share if share is not None and 0 <= share <= 1 else None


def _probability(value: Any, _base: Path, _kind: Kind) -> float | str | None:
    """Read a probability as it is written: one that is no decimal number, such as 1/3, stays a text."""
    try:
        return as_json(as_written(value))
    except RequestError:
        return None


def _row_support(value: Any, base: Path, kind: Kind) -> int | str | None:
    """Read a least support: rows, or a share of them, which becomes text to be told from a number."""
    if _is_integer(value, 0):
        return int(value)
    if value == 0 or isinstance(value, int):
        return None
    share = _share(value, base, kind)
    return None if share is None else str(share)


def _real(value: Any, _base: Path, kind: Number) -> int | float | None:
    number = _number(value)
    if number is None or number < 0:
        return None
    return number or None if kind.positive else number


def _flag(value: Any, _base: Path, _kind: Kind) -> bool | None:
    return value if isinstance(value, bool) else None


def _choice(value: Any, _base: Path, kind: Choice) -> str | None:
    return value if value in kind.words else None


def _file(value: Any, base: Path, _kind: Kind) -> Reference | None:
    return reference(base / value) if isinstance(value, str) and value.strip() else None


def _file_or_words(is_word: Callable[[str], bool]) -> Callable[[Any, Path, Kind], Value | None]:
    """Read a file if there is one, or what may stand instead of it."""

    def accept(value: Any, base: Path, _kind: Kind) -> Value | None:
        if not isinstance(value, str) or not value.strip():
            return None
        if (base / value).is_file() or not is_word(value):
            return reference(base / value)
        return value

    return accept


def _are_labels(text: str) -> bool:
    return "," in text or not (Path(text).suffix.lower() in _FILE_ENDINGS or {"/", "\\"} & set(text))


def _is_policy(text: str) -> bool:
    kind, _, number = text.partition(":")
    return text in {"any", "siblings"} or (kind in {"siblings", "groups"} and number.isdecimal())


_ACCEPT: Mapping[type[Kind], Callable[[Any, Path, Any], Value | None]] = {
    Flag: _flag,
    Integer: _integer,
    Size: _size,
    Number: _real,
    Share: _share,
    Probability: _probability,
    Choice: _choice,
    ItemFile: _file,
    ItemWeights: _file,
    ColumnLabels: _file,
    Items: _file_or_words(_are_labels),
    ItemsOrColumns: _file_or_words(_are_labels),
    Itemsets: _file_or_words(lambda text: text in {"all", "pgen"}),
    GroupsOfItems: _file_or_words(_is_policy),
    QueryFile: _file,
    RowSupport: _row_support,
}


def reading_value(key: str, value: Any) -> bool:
    """Whether an option on how files are read may have a value: true or false, a text, of some several."""
    if isinstance(READING[key].kind, Flag):
        return isinstance(value, bool)
    texts = value if key in _SEVERAL and isinstance(value, list) and value else [value]
    return all(isinstance(text, str) and text for text in texts)


_SEVERAL = {"item_columns"}


def reference(path: Path) -> Reference:
    """Hash a file.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    return Reference(path, file_sha256(path))


def file_sha256(path: Path) -> str:
    """Hash the content of a file.

    Raises
    ------
    DataError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def files_sha256(files: Sequence[Path]) -> str:
    """Hash the contents of some files, those of a folder by their names; of one file: its content.

    Raises
    ------
    DataError
        If one cannot be read.
    """
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
    """Check one value of a key.

    Parameters
    ----------
    kind : Kind
        What is allowed.
    value
        What the file holds.
    where : str
        File and key, for messages.
    base : Path
        Where relative paths start.

    Raises
    ------
    RequestError
        If it is not allowed.
    DataError
        If it names a file that cannot be read.
    """
    try:
        taken = _ACCEPT[type(kind)](value, base, kind)
    except DataError as error:
        raise DataError(f"{where}: {error.message}", hint=error.hint) from None
    if taken is None:
        raise RequestError(f"{where} must be {kind.allowed}, got {shorten(str(value))}.")
    return taken
