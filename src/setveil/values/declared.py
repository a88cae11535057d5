"""What a parameter is, said where its field is declared.

Command line, study files, `recommend` and the tables of the documentation are made from these declarations,
so that a parameter is added in one place. How a kind of value is read from texts and files is in
`setveil.options`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from setveil.errors import RequestError, described


@dataclass(frozen=True)
class Kind:
    """What values a parameter may have.

    Attributes
    ----------
    allowed : str
        In words, after "must be".
    names_items : bool
        Whether a value names items, or a file with items: then it must not leave the house.
    """

    names_items: ClassVar[bool] = False

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        raise NotImplementedError


@dataclass(frozen=True)
class Flag(Kind):
    """True or false."""

    allowed = "true or false"


@dataclass(frozen=True)
class Integer(Kind):
    """An integer of at least `least`."""

    least: int = 1

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"an integer of at least {self.least}"


@dataclass(frozen=True)
class Size(Kind):
    """A number of items: an integer of at least 1, or infinity."""

    allowed = 'an integer of at least 1, or "inf"'


@dataclass(frozen=True)
class Number(Kind):
    """A number of at least 0; `positive`: above 0. `unit` may say of what."""

    unit: str = ""
    positive: bool = False

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        number = "a positive number" if self.positive else "a number of at least 0"
        return f"{number}{f' of {self.unit}' if self.unit else ''}"


@dataclass(frozen=True)
class Share(Kind):
    """A share from 0 to 1, also written in per cent; `whole` may say of what."""

    whole: str = ""

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return f"a share{f' of {self.whole}' if self.whole else ''}, 0 to 1"


@dataclass(frozen=True)
class Probability(Kind):
    """A number above 0 and below 1, taken as written: "1/3" is allowed."""

    allowed = "a number above 0 and below 1"


@dataclass(frozen=True)
class Choice(Kind):
    """One of some words."""

    words: tuple[str, ...]

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        *most, last = (f'"{word}"' for word in self.words)
        return f"{', '.join(most)} or {last}" if most else last


@dataclass(frozen=True)
class Text(Kind):
    """A text that is not empty; `what` says which."""

    what: str = "text"

    @property
    def allowed(self) -> str:
        """What is allowed, in words."""
        return self.what


@dataclass(frozen=True)
class ItemFile(Kind):
    """A file of items."""

    names_items = True
    allowed = "a file of items"


@dataclass(frozen=True)
class ItemWeights(Kind):
    """A file with an item and a number in each line."""

    names_items = True
    allowed = "a file of lines item,number"


@dataclass(frozen=True)
class ColumnLabels(Kind):
    """A file with a column and a label in each line."""

    names_items = True
    allowed = "a file of lines column,label"


@dataclass(frozen=True)
class Items(Kind):
    """Items of the data: a file, or a list with commas."""

    names_items = True
    allowed = "a file of items, or items with commas between them"


@dataclass(frozen=True)
class ItemsOrLeaves(Items):
    """Items of the data or leaves of the hierarchy: a file, or a list with commas."""


@dataclass(frozen=True)
class ItemsOrColumns(Items):
    """Items of the data, or columns that are published as they are: a file, or a list with commas."""

    allowed = "a file of items and kept columns, or these with commas between them"


@dataclass(frozen=True)
class Itemsets(Kind):
    """Itemsets to protect: a file, ``all`` (of m items) or ``pgen`` (what protects every row)."""

    names_items = True
    allowed = 'a file of itemsets, "all" or "pgen"'


@dataclass(frozen=True)
class GroupsOfItems(Kind):
    """Groups of items: a file, or made of all items or a hierarchy."""

    names_items = True
    allowed = 'a file of itemsets, "any", "siblings", "siblings:LEVEL" or "groups:SIZE"'


@dataclass(frozen=True)
class Option:
    """A parameter as users meet it.

    Attributes
    ----------
    kind : Kind
        What values it may have.
    help : str
        What it means, in a line.
    short : str
        Its one-letter option; empty: none.
    study_name : str
        Its key in a study file where another key has its name; empty: its own name.
    needed : bool
        Whether it, or one that may be given instead of it, must be given. (A parameter of an algorithm never
        must.)
    instead_of : str
        The option that this one replaces; not both can be given.
    only_with : (option, value) or None
        It means something only where another option has this value, and is needed there.
    secret : bool
        Whether it says which items an attacker does not know beforehand.
    drawn_with : tuple of str or None
        What it says is drawn by the seed, for experiments, with the values of these options; None: is not.
    """

    kind: Kind
    help: str
    short: str = ""
    study_name: str = ""
    needed: bool = False
    instead_of: str = ""
    only_with: tuple[str, str] | None = None
    secret: bool = False
    drawn_with: tuple[str, ...] | None = None


def parameter(
    kind: Kind,
    help: str,  # noqa: A002  (the word that users know)
    *,
    default: Any = MISSING,
    default_factory: Callable[[], Any] | Any = MISSING,
    study_name: str = "",
) -> Any:
    """Declare a field of a dataclass of parameters (see `Option`)."""
    option = Option(kind, help, study_name=study_name)
    if default_factory is not MISSING:
        return dataclasses.field(default_factory=default_factory, metadata={"option": option})
    return dataclasses.field(default=default, metadata={"option": option})


def options_of(parameters: Any) -> dict[str, Option]:
    """List the options of a dataclass of parameters, by the names of its fields.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Parameters:
    ...     rounds: int = parameter(Integer(0), "How often.", default=3)
    >>> options_of(Parameters)["rounds"].kind.allowed
    'an integer of at least 0'
    """
    return {field.name: field.metadata["option"] for field in dataclasses.fields(parameters)}


class Declared:
    """A dataclass of declared fields that refuses values which are not of their kind.

    A class with conditions of its own calls ``super().__post_init__()`` before it checks them. Numbers that
    are not integers are its own matter.
    """

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            allowed = _wanted(field.metadata["option"].kind, value)
            if allowed and not (value is None and field.default is None):
                raise RequestError(f"{field.name} must be {allowed}, got {described(value)}.")


def _wanted(kind: Kind, value: Any) -> str:
    """Say what a value in Python must be; empty: it is, as far as its type goes."""
    if isinstance(kind, Flag):
        return "" if isinstance(value, bool) else "True or False"
    if isinstance(kind, Integer):
        fits = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= kind.least
        return "" if fits else kind.allowed
    if isinstance(kind, Choice):
        return "" if isinstance(value, str) and value in kind.words else kind.allowed
    if isinstance(kind, Size):
        fits = isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
        infinite = isinstance(value, Real) and float(value) == math.inf
        return "" if fits or infinite else "an integer of at least 1, or inf"
    if isinstance(kind, ItemFile | Items):
        fits = _is_collection(value) and all(isinstance(item, str) and item for item in value)
        return "" if fits else "a list of items, each a text"
    if isinstance(kind, ItemWeights):
        return "" if isinstance(value, Mapping) else "a dict of items and numbers"
    if isinstance(kind, ColumnLabels):
        fits = isinstance(value, Mapping) and all(
            _is_collection(some) and all(isinstance(x, str) for x in some) for some in value.values()
        )
        return "" if fits else "a dict of columns and lists of labels"
    if isinstance(kind, GroupsOfItems):
        fits = _is_collection(value) and all(
            _is_collection(group) or isinstance(group, str) for group in value
        )
        return "" if fits else "a list of lists of items"
    return ""


def _is_collection(value: Any) -> bool:
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping)
