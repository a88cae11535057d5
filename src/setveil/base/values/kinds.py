"""Kinds of values: what each allows, and how it is read from texts, from Python and from study files.

A command line gives texts, a study file numbers, texts and paths, Python the values themselves.
"""

from __future__ import annotations

import csv
import hashlib
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any, ClassVar

from setveil.base.errors import DataError, RequestError
from setveil.base.values.numbers import (
    as_json,
    as_written,
    exact_share,
    fraction,
    number_of,
    parse_integer,
    parse_number,
)
from setveil.base.values.per_column import OF, PerColumn

_FILE_ENDINGS = {".txt", ".csv", ".dat", ".json", ".tsv", ".list"}


@dataclass(frozen=True)
class Reference:
    """A file that a parameter names."""

    path: Path  # where it is
    sha256: str  # of its content: runs with equal contents are equal runs


Value = bool | int | float | str | Reference


@dataclass(frozen=True)
class Kind:
    """The values that a parameter may have.

    A kind without fields of its own is no dataclass of its own either: making one takes as long as importing
    a small module, and all are made whenever a command starts. `allowed`: in words, after "must be".
    `names_items`: a value names items, or a file with items, and is internal. `takes`: the type that the
    command line reads before the rows are known. `metavar`: for the help.
    """

    names_items: ClassVar[bool] = False
    takes: ClassVar[type] = str
    metavar: ClassVar[str] = "TEXT"

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        raise NotImplementedError

    def accepts(self, value: Any) -> str:
        """Say what a value in Python must be; empty: it is, as far as that is seen without the data."""
        return ""

    def taken(self, value: Any) -> Any:
        """Take a value of Python: a number also as text; what is none stays as it is, to be rejected."""
        return value

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        """Turn what was given into a value (see `setveil.runs.options.decode.decode`)."""
        return text

    def from_study(self, value: Any, base: Path) -> Value | None:
        """Take a value of a study file, whose paths start at `base`; None: it is not allowed."""
        return value if isinstance(value, str) and value else None

    def names_file(self, text: str) -> bool:
        """Whether what was given can only be the name of a file."""
        return False


class Flag(Kind):
    """True or false."""

    allowed = "true or false"
    takes = bool
    metavar = ""

    def accepts(self, value: Any) -> str:
        return "" if isinstance(value, bool) else "True or False"

    def from_study(self, value: Any, base: Path) -> bool | None:
        return value if isinstance(value, bool) else None


@dataclass(frozen=True)
class Integer(Kind):
    """An integer of at least `least`."""

    takes = int
    metavar = "N"
    least: int = 1

    @property
    def allowed(self) -> str:
        return f"an integer of at least {self.least}"

    def accepts(self, value: Any) -> str:
        return "" if is_integer(value, self.least) else self.allowed

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> int:
        return parse_integer(name, text) if isinstance(text, str) else int(text)

    def from_study(self, value: Any, base: Path) -> int | None:
        return value if is_integer(value, self.least) else None


class UpTo(Kind):
    """A number of things at most, or as many as are good: true, which a bare option says, too."""

    allowed = "an integer of at least 1, or true"
    metavar = "[N]"

    def accepts(self, value: Any) -> str:
        return "" if value is True or is_integer(value, 1) else "an integer of at least 1, or True"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> int | bool:
        if text is True or text in (BARE, "true"):
            return True
        return parse_integer(name, text) if isinstance(text, str) else int(text)

    def from_study(self, value: Any, base: Path) -> int | bool | None:
        return value if value is True or is_integer(value, 1) else None


BARE = "any"  # what an option stands for that may be given without a value


class Size(Kind):
    """A number of items: an integer of at least 1, or infinity."""

    allowed = 'an integer of at least 1, or "inf"'
    metavar = "N|inf"

    def accepts(self, value: Any) -> str:
        infinite = isinstance(value, Real) and float(value) == math.inf
        return "" if infinite or is_integer(value, 1) else "an integer of at least 1, or inf"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> int | float:
        return parse_number(name, str(text))

    def from_study(self, value: Any, base: Path) -> int | str | None:
        if value in ("inf", math.inf):
            return "inf"
        return value if is_integer(value, 1) else None


class Sizes(Size):
    """A number of items, or one for each column of items: ``code=2,drug=1``."""

    allowed = 'an integer of at least 1, or "inf", or one number for each column, such as "code=2,drug=1"'

    def accepts(self, value: Any) -> str:
        return "" if isinstance(value, PerColumn) else super().accepts(value)

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> int | float:
        if isinstance(text, Mapping):
            return PerColumn(text)
        return sizes_in(name, str(text)) if OF in str(text) else parse_number(name, str(text))

    def from_study(self, value: Any, base: Path) -> int | str | None:
        if isinstance(value, str) and OF in value:
            return value
        return super().from_study(value, base)


def sizes_in(name: str, text: str) -> PerColumn:
    """Read ``code=2,drug=1``; names with a comma are quoted as in csv."""
    found: dict[str, int] = {}
    for part in next(csv.reader([text]), []):
        column, _, number = part.strip().rpartition(OF)
        if column in found:
            raise RequestError(f"--{name} says twice how many of {column!r}.")
        found[column] = parse_integer(f"{name} {column}", number)
    return PerColumn(found)


@dataclass(frozen=True)
class Number(Kind):
    """A number of at least 0; `positive`: above 0. `unit` may say of what."""

    takes = float
    metavar = "NUMBER"
    unit: str = ""
    positive: bool = False

    @property
    def allowed(self) -> str:
        number = "a positive number" if self.positive else "a number of at least 0"
        return f"{number}{f' of {self.unit}' if self.unit else ''}"

    def accepts(self, value: Any) -> str:
        fits = _is_finite(value) and (value > 0 if self.positive else value >= 0)
        return "" if fits else self.allowed

    def taken(self, value: Any) -> Any:
        return number_of(value)

    def from_study(self, value: Any, base: Path) -> int | float | None:
        return None if self.accepts(value) or not isinstance(value, int | float) else _plain(value)


@dataclass(frozen=True)
class Share(Kind):
    """A share from 0 to 1, also written in per cent; `whole` may say of what."""

    metavar = "SHARE"
    whole: str = ""

    @property
    def allowed(self) -> str:
        return f"a share{f' of {self.whole}' if self.whole else ''}, 0 to 1"

    def accepts(self, value: Any) -> str:
        return "" if _is_finite(value) and 0 <= value <= 1 else self.allowed

    def taken(self, value: Any) -> Any:
        found = fraction(value)
        return value if found is None else found

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return exact_share(str(text))

    def from_study(self, value: Any, base: Path) -> int | float | str | None:
        """Read a share as it is written: one that is no decimal number, such as 1/3, stays a text."""
        share = fraction(value)
        if share is None or not 0 <= share <= 1:
            return None
        number = as_json(share)
        return number if isinstance(number, str) else _plain(number)


class Probability(Kind):
    """A number above 0 and at most 1, taken as written: "1/3" is allowed."""

    allowed = "a number above 0 and at most 1"

    def accepts(self, value: Any) -> str:
        found = fraction(value)
        return "" if found is not None and 0 < found <= 1 else self.allowed

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> str:
        return str(text)

    def from_study(self, value: Any, base: Path) -> float | str | None:
        return None if self.accepts(value) else as_json(as_written(value))


class Positive(Kind):
    """A number above 0, taken as written: "1/3" is allowed."""

    allowed = "a number above 0"

    def accepts(self, value: Any) -> str:
        found = fraction(value)
        return "" if found is not None and found > 0 else self.allowed

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> str:
        return str(text)

    def from_study(self, value: Any, base: Path) -> float | str | None:
        found = fraction(value)
        return None if found is None or found <= 0 else as_json(found)


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        *most, last = (f'"{word}"' for word in self.words)
        return f"{', '.join(most)} or {last}" if most else last

    def accepts(self, value: Any) -> str:
        return "" if isinstance(value, str) and value in self.words else self.allowed

    def from_study(self, value: Any, base: Path) -> str | None:
        return None if self.accepts(value) else value


@dataclass(frozen=True)
class Text(Kind):
    """A text that is not empty; `what` says which."""

    what: str = "text"

    @property
    def allowed(self) -> str:
        return self.what

    @property
    def metavar(self) -> str:  # type: ignore[override]
        """What represents a value in the help."""
        return self.what.split()[-1].upper()


class _File(Kind):
    """A file, and nothing else."""

    names_items = True
    takes = Path
    metavar = "FILE"

    def from_study(self, value: Any, base: Path) -> Reference | None:
        return reference(base / value) if isinstance(value, str) and value.strip() else None

    def names_file(self, text: str) -> bool:
        return True


class OneFile(_File):
    """A file of any kind."""

    allowed = "a file"


@dataclass(frozen=True)
class Texts(Kind):
    """Several texts of a form."""

    form: str

    takes = list[str]

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"texts such as {self.form}"

    @property
    def metavar(self) -> str:  # type: ignore[override]
        """What represents a value in the help."""
        return self.form


class ItemFile(_File):
    """A file of items."""

    allowed = "a file of items"

    def accepts(self, value: Any) -> str:
        return _items(value)

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.items_of_file(text)


class LinesFile(_File):
    """A file of items that need not be in the data, one in each line."""

    allowed = "a file with one item per line"

    def accepts(self, value: Any) -> str:
        return _items(value)

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.lines_of_file(text)


class ItemWeights(_File):
    """A file with an item and a number in each line."""

    allowed = "a file of lines item,number"

    def accepts(self, value: Any) -> str:
        return "" if isinstance(value, Mapping) else "a dict of items and numbers"

    def taken(self, value: Any) -> Any:
        if not isinstance(value, Mapping):
            return value
        return {item: number_of(number) for item, number in value.items()}

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.weights(text)


class LabelWeights(ItemWeights):
    """A file with a label of the hierarchy and a number in each line."""

    allowed = "a file of lines label,number"

    def accepts(self, value: Any) -> str:
        return "" if isinstance(value, Mapping) else "a dict of labels and numbers"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.label_weights(text)


class ColumnLabels(_File):
    """A file with a column and a label in each line."""

    allowed = "a file of lines column,label"

    def accepts(self, value: Any) -> str:
        fits = isinstance(value, Mapping) and all(
            _is_collection(some) and all(isinstance(x, str) for x in some) for some in value.values()
        )
        return "" if fits else "a dict of columns and lists of labels"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.column_labels(text)


class _FileOrWords(Kind):
    """A file, or words that represent what it would hold."""

    names_items = True

    def from_study(self, value: Any, base: Path) -> Value | None:
        """Take a file if there is one, or what may stand instead of it."""
        if not isinstance(value, str) or not value.strip():
            return None
        return reference(base / value) if (base / value).is_file() or self.names_file(value) else value


class Items(_FileOrWords):
    """Items of the data: a file, or a list with commas."""

    metavar = "ITEMS"
    allowed = "a file of items, or items with commas between them"

    def accepts(self, value: Any) -> str:
        return _items(value)

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.items(text)

    def from_study(self, value: Any, base: Path) -> Value | None:
        """Take a file, also one that is missing if it can be nothing else."""
        if isinstance(value, str) and "," not in value and not (base / value).is_file():
            looks_so = Path(value).suffix.lower() in _FILE_ENDINGS or {"/", "\\"} & set(value)
            return reference(base / value) if looks_so else super().from_study(value, base)
        return super().from_study(value, base)


class ItemsOrLeaves(Items):
    """Items of the data or leaves of the hierarchy: a file, or a list with commas."""

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.items_or_leaves(text)


class ItemsOrColumns(Items):
    """Items of the data, or columns that are published as they are: a file, or a list with commas."""

    metavar = "NAMES"
    allowed = "a file of items and kept columns, or these with commas between them"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.items_or_columns(text)


class Itemsets(_FileOrWords):
    """Itemsets to protect: a file, ``all`` (of m items) or ``pgen`` (what protects every row)."""

    metavar = "FILE|all|pgen"
    allowed = 'a file of itemsets, "all" or "pgen"'

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.itemsets(text, others)

    def names_file(self, text: str) -> bool:
        return text not in {"all", "pgen"}


class GroupsOfItems(_FileOrWords):
    """Groups of items: a file, or made of all items or a hierarchy."""

    metavar = "GROUPS"
    allowed = 'a file of itemsets, "any", "siblings", "siblings:LEVEL" or "groups:SIZE"'

    def accepts(self, value: Any) -> str:
        fits = _is_collection(value) and all(
            _is_collection(group) or isinstance(group, str) for group in value
        )
        return "" if fits else "a list of lists of items"

    def read(self, name: str, text: Any, inputs: Any, others: Mapping[str, Any]) -> Any:
        return inputs.groups(text)

    def names_file(self, text: str) -> bool:
        return text.partition(":")[0] not in {"any", "siblings", "groups"}


class QueryFile(_File):
    """A file of queries."""

    allowed = "a file of queries"


class RowSupport(Kind):
    """A number of rows, or a share of them."""

    allowed = "a number of rows, or a share of the rows such as 1%"

    def from_study(self, value: Any, base: Path) -> int | str | None:
        """Take a least support: rows, or a share of them, which becomes text to be told from a number."""
        if is_integer(value, 0):
            return int(value)
        share = None if value == 0 or isinstance(value, int) else Share().from_study(value, base)
        return None if share is None else str(share)


def reference(path: Path) -> Reference:
    """Hash a file."""
    return Reference(path, file_sha256(path))


def file_sha256(path: Path) -> str:
    """Hash the content of a file."""
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def is_integer(value: Any, least: int) -> bool:
    """Whether a value is an integer of at least `least`, and not True or False."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def integer(name: str, value: Any, least: int) -> int:
    """Return an integer of at least `least`; refuse anything else.

    >>> integer("k", 5, 2)
    5
    """
    if not is_integer(value, least):
        raise RequestError(f"{name} must be an integer of at least {least}, got {value!r}.")
    return int(value)  # numpy's integers are fine, but JSON does not know them


def size(name: str, value: Any, *, per_column: bool = False) -> int | float:
    """Return an integer of at least 1, or infinity; refuse anything else.

    With `per_column` it may be a number for each column, too.
    """
    if per_column and isinstance(value, PerColumn):
        return value
    if per_column and isinstance(value, Mapping):
        return PerColumn(value)
    if value == math.inf or is_integer(value, 1):
        return math.inf if value == math.inf else int(value)
    raise RequestError(f"{name} must be an integer of at least 1, or inf, got {value!r}.")


def _is_finite(value: Any) -> bool:
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)
    except OverflowError:  # an integer beyond all floating-point numbers
        return False


def _plain(number: float) -> int | float:
    """Write 1.0 as 1: both are the same run."""
    return int(number) if number == int(number) else number


def _items(value: Any) -> str:
    fits = _is_collection(value) and all(isinstance(item, str) and item for item in value)
    return "" if fits else "a list of items, each a text"


def _is_collection(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
