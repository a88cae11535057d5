"""Privacy models: what a release promises. One file per model; `verify` checks it from what is published.

A module here is a model. It holds the class of its guarantees, whose `model` is the name of the model, and
`model`, a `Model` that describes it. Its verifier is the module of the same name in `verify`. Command line,
studies, reports and documentation find it by this.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, ClassVar, Self

from setveil.errors import RequestError, did_you_mean
from setveil.values.declared import Keywords

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.values.declared import Option

Facts = Mapping[str, Any]  # the `guarantee` of a report, or a verdict as JSON types
Points = list[tuple[str, str]]  # a bold beginning and the text that follows it


class Guarantee(Keywords):
    """What the guarantees of all models have in common: frozen dataclasses of a model's parameters."""

    model: ClassVar[str]

    @property
    def phrase(self) -> str:
        """Short name of the guarantee with its parameters."""
        raise NotImplementedError

    @property
    def secrets(self) -> tuple[str, ...]:
        """Items that an attacker does not know beforehand, and must not learn; by default none."""
        return ()

    @property
    def of_codes(self) -> bool:
        """Whether a code with everything about it counts as one known item."""
        return False

    def for_columns(self, _names: Iterable[str]) -> Self:
        """Return the guarantee for items of some columns; by default it does not depend on these."""
        return self

    def require_feasible(self, data: Transactions) -> None:
        """Refuse data that no release can protect so (`InfeasibleError`), as far as that is plain."""

    def as_dict(self) -> dict[str, Any]:
        """Return `model` and the parameters as JSON types ("inf" for infinity)."""
        raise NotImplementedError


def absent_items(promise: Guarantee | Facts) -> int:
    """Tell how many items that a person does not have a promise, or the record of one, is about; 0: none."""
    found: int = promise.get("absent", 0) if isinstance(promise, Mapping) else getattr(promise, "absent", 0)
    return found


@dataclass(frozen=True)
class Words:
    """What is said of one privacy model."""

    parameters: tuple[str, ...]  # its parameters, in the order in which they are shown
    promise: Callable[[Facts], str]  # the promise, in one sentence
    # fulfilled, broken: what the check found in the published rows, as the end of a sentence
    fulfilled: Callable[[Facts], str]
    broken: Callable[[Facts], str]
    not_covered: Callable[[Facts], Points]  # what the promise does not cover, beside what none covers
    reading: Callable[[Facts], Points]  # what the parameters mean
    violation: Callable[[Facts], str]  # one violation of a verdict's list, in a line
    beyond: Callable[[Facts], list[str]]  # what holds besides what was asked, in lines
    # whether it keeps rows that look alike from having a sensitive item in common
    hides_sensitive: bool = False
    shareable: tuple[str, ...] = ()  # findings of the verdict that a shared page may show
    recounted: bool = True  # whether what is published shows that the promise holds
    known: str = ""  # the parameter that says how many items someone may know; empty if nothing limits them
    known_in_all: str = (
        ""  # columns of a person whose values someone is thought to know in any case; empty: none
    )


@dataclass(frozen=True)
class Model:
    """A privacy model."""

    name: str  # as options and records name it: the `model` of its guarantees
    title: str  # its name in a heading
    # makes a guarantee from the values of `options`, by name; those that were not given are left out
    make: Callable[..., Guarantee]
    options: Mapping[str, Option]  # what users say to describe a guarantee
    algorithm: str  # the algorithm that gives it where none is named
    words: Words  # what reports say of it
    family: str  # releases of models of one family can be compared: their parameters mean the same
    # what its numeric options are called at the axis of a figure
    axes: Mapping[str, str] = field(default_factory=dict)
    # values of options that suit a few rows of the items a, b, c and s
    example: Mapping[str, Any] = field(default_factory=dict)
    release: str = "rows"  # the kind of release that it is about (see `setveil.published`)
    # what its verifier must know besides the published rows: `image`, what each item is published as; or can
    # make use of: `original`, the rows before
    knows: tuple[str, ...] = ()
    # Whether the supports of items may be published beside the rows without harm to the promise. Not where
    # some items are sensitive: counts of them would tell more than the rows do.
    counts: bool = False
    place: int = 100  # its place in lists of models, and of their options


@cache
def models() -> dict[str, Model]:
    """List all models by name, in the order of their places."""
    return {model.name: model for _, model in _modules()}


@cache
def _modules() -> tuple[tuple[str, Model], ...]:
    """Pair the names of the modules with the models that they hold; of several releases there is none."""
    names = [module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg]
    names.remove("series")
    found = [(name, importlib.import_module(f"{__name__}.{name}").model) for name in names]
    return tuple(sorted(found, key=lambda entry: (entry[1].place, entry[0])))


def model_named(name: str) -> Model:
    """Find a model."""
    found = models().get(name)
    if found is None:
        raise RequestError(
            f"There is no privacy model {name!r}; there are {', '.join(models())}.",
            hint=did_you_mean(name, models()),
        )
    return found


def module_of(name: str) -> str:
    """Name the module of a model: its verifier has the same."""
    return next(module for module, model in _modules() if model.name == name)


def class_names() -> list[str]:
    """Name the classes of the models' guarantees, in the order of the models."""
    return [
        next(
            name
            for name, value in vars(importlib.import_module(f"{__name__}.{module}")).items()
            if isinstance(value, type) and getattr(value, "model", None) == model.name
        )
        for module, model in _modules()
    ]
