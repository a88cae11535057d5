"""The keys of a study file: what each may hold, and how its values are read."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setveil.errors import DataError, RequestError, shorten
from setveil.options.numbers import parse_share

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
class Kind:
    """What the values of a key may be.

    Attributes
    ----------
    allowed : str
        In words, after "must be".
    accept : callable
        Takes a value of the file and the folder that relative paths start at, and returns the value to use;
        None: not allowed.
    """

    allowed: str
    accept: Callable[[Any, Path], Value | None]


def _is_integer(value: Any, least: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= least


def _number(value: Any) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return int(value) if value == int(value) else value  # 1.0 and 1 are the same run


def _integer(least: int) -> Kind:
    return Kind(
        f"an integer of at least {least}", lambda value, _: value if _is_integer(value, least) else None
    )


def _size(value: Any, _base: Path) -> int | str | None:
    if value in ("inf", math.inf):
        return "inf"
    return value if _is_integer(value, 1) else None


def _share(value: Any, _base: Path) -> int | float | None:
    if isinstance(value, str):
        try:
            value = parse_share(value)
        except RequestError:
            return None
    share = _number(value)
    return share if share is not None and 0 <= share <= 1 else None


def _inside(value: Any, base: Path) -> int | float | None:
    share = _share(value, base)
    return share if share is not None and 0 < share < 1 else None


def _support(value: Any, base: Path) -> int | str | None:
    """Read a least support: rows, or a share of them, which becomes text to be told from a number."""
    if _is_integer(value, 0):
        return int(value)
    if value == 0 or isinstance(value, int):
        return None
    share = _share(value, base)
    return None if share is None else str(share)


def _at_least_zero(value: Any, _base: Path) -> int | float | None:
    number = _number(value)
    return number if number is not None and number >= 0 else None


def _positive(value: Any, base: Path) -> int | float | None:
    return _at_least_zero(value, base) or None


def _boolean(value: Any, _base: Path) -> bool | None:
    return value if isinstance(value, bool) else None


def _text(value: Any, _base: Path) -> str | None:
    return value if isinstance(value, str) and value.strip() else None


def _file(value: Any, base: Path) -> Reference | None:
    return reference(base / value) if isinstance(value, str) and value.strip() else None


def _file_or_words(is_word: Callable[[str], bool]) -> Callable[[Any, Path], Value | None]:
    """Read a file if there is one, or what may stand instead of it."""

    def accept(value: Any, base: Path) -> Value | None:
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


_ITEMS = Kind("a file of items, or items with commas between them", _file_or_words(_are_labels))

PROMISE: Mapping[str, Kind] = {
    "k": _integer(1),
    "m": Kind('an integer of at least 1, or "inf"', _size),
    "h": Kind("a number above 0 and below 1", _inside),
    "p": Kind('an integer of at least 1, or "inf"', _size),
    "private": _ITEMS,
    "private_share": Kind("a share of the items, 0 to 1", _share),
    "sensitive": _ITEMS,
    "sensitive_random": _integer(1),
    "privacy": Kind(
        'a file of itemsets, "all" or "pgen"', _file_or_words(lambda text: text in {"all", "pgen"})
    ),
}

# Parameters of algorithms by their names in a study. One that is not listed here is taken as it is written.
OWN: Mapping[str, Kind] = {
    "suppress": Kind("true or false", _boolean),
    "refine": Kind("true or false", _boolean),
    "objective": Kind('"ncp" or "lm"', lambda value, _: value if value in ("ncp", "lm") else None),
    "max_suppressed": Kind("a share, 0 to 1", _share),
    "max_suppressed_items": Kind("a share, 0 to 1", _share),
    "keep": Kind("a file of items", _file),
    "weights": Kind("a file of lines item,number", _file),
    "solver_gap": Kind("a number of at least 0", _at_least_zero),
    "solver_time_limit": Kind("a positive number of seconds", _positive),
    "utility": Kind(
        'a file of itemsets, "any", "siblings", "siblings:LEVEL" or "groups:SIZE"', _file_or_words(_is_policy)
    ),
    "alpha": _integer(1),
    "rounds": _integer(0),
    "k_nugget": _integer(1),
    "p_nugget": Kind('an integer of at least 1, or "inf"', _size),
    "most_cuts": _integer(1),
}
PLAIN = Kind(
    "a number, true, false or text",
    lambda value, _: value if isinstance(value, bool | int | float | str) else None,
)

# What an algorithm's own parameter is called in a study where another key has its name already.
STUDY_NAMES = {"time_limit": "solver_time_limit", "gap": "solver_gap"}

MEASURING: Mapping[str, Kind] = {
    "queries": _integer(0),
    "query_size": _integer(1),
    "query_support": _integer(1),
    "queries_file": Kind("a file of queries", _file),
    "itemsets": Kind("a number of rows, or a share of the rows such as 1%", _support),
    "itemset_length": _integer(1),
    "group_by": _integer(1),
    "risk_m": _integer(0),
    "bound": Kind("a positive number of seconds", _positive),
}
LIMITS: Mapping[str, Kind] = {
    "time_limit": Kind("a positive number of seconds", _positive),
    "memory_limit": Kind("a positive number of MB", _positive),
}
READING: Mapping[str, Kind] = {
    "format": Kind("a format", _text),
    "separator": Kind("text", lambda value, _: value if isinstance(value, str) and value else None),
    "id_column": Kind("a column", _text),
    "item_column": Kind("a column", _text),
    "encoding": Kind("an encoding", _text),
}


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
        taken = kind.accept(value, base)
    except DataError as error:
        raise DataError(f"{where}: {error.message}", hint=error.hint) from None
    if taken is None:
        raise RequestError(f"{where} must be {kind.allowed}, got {shorten(str(value))}.")
    return taken
