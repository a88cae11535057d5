"""The guarantees, one module per privacy model; the module of the same name in `verify` has its verifier.

A module has the class of its guarantees, with the name of the model, and `model`, a `Model`. Other models
come from files that the user names, or packages, as entry points of the group `setveil.guarantees`: modules
with `model`, the class, and `verify`, the verifier.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any, ClassVar, Self

from setveil.base import plugins
from setveil.base.errors import RequestError, did_you_mean
from setveil.base.plugins import PluginFile
from setveil.base.values.declared import Keywords

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from setveil.base.values.declared import Option
    from setveil.rows.data.transactions import Transactions

Facts = Mapping[str, Any]  # the `guarantee` of a report, or a verdict as JSON types
Points = list[tuple[str, str]]  # a bold beginning and the text that follows it
GROUP = "setveil.guarantees"  # of entry points
# setveil's own models in the order of lists, and the file of each. A file that is not here is found, too.
_FILES = {
    "km-anonymity": "km",
    "k-anonymity": "kanonymity",
    "coherence": "coherence",
    "privacy-degree": "privacydegree",
    "constraints": "constraints",
    "kkm": "kkm",
    "mixed-km": "mixed_km",
    "km-rho": "km_rho",
    "rho-uncertainty": "rho_uncertainty",
    "disassociated": "disassociated",
    "differential-privacy": "differential_privacy",
}
FIRST = next(iter(_FILES))  # the model of who names no other
FEWEST = 5  # rows that must contain an item whose name may be published, if the guarantee has no k


class Guarantee(Keywords):
    """What the guarantees of all models have in common: frozen dataclasses of a model's parameters."""

    model: ClassVar[str]

    @property
    def phrase(self) -> str:
        """Short name of the guarantee with its parameters."""
        raise NotImplementedError

    @property
    def smallest_group(self) -> int | None:
        """Fewest rows that match what an attacker knows: k; None if the guarantee counts no rows."""
        k: int | None = getattr(self, "k", None)  # a field of most models
        return k

    @property
    def secrets(self) -> tuple[str, ...]:
        """Items that an attacker does not know beforehand, and must not learn; by default none."""
        return ()

    @property
    def of_codes(self) -> bool:
        """Return whether a code with everything about it counts as one known item."""
        return False

    def for_columns(self, _names: Iterable[str]) -> Self:
        """Return the guarantee for items of some columns; by default it does not depend on these."""
        return self

    def require_feasible(self, data: Transactions) -> None:
        """Raise an error (`InfeasibleError`) if no release can protect the data so, and that is plain."""

    def as_dict(self) -> dict[str, Any]:
        """Return `model` and the parameters as JSON types ("inf" for infinity)."""
        raise NotImplementedError


ITEMS, LABELS = ABSENCES = ("items", "labels")  # what someone may know that a person lacks


def absent_items(promise: Guarantee | Facts) -> int:
    """Return how many absent items a guarantee, or the record of one, covers."""
    found: int = promise.get("absent", 0) if isinstance(promise, Mapping) else getattr(promise, "absent", 0)
    return found


def least_rows(promise: Guarantee | Facts) -> int:
    """Return how many rows must contain an item whose name may be published, by a guarantee or its record."""
    k = promise.get("k") if isinstance(promise, Mapping) else promise.smallest_group
    return max(k or FEWEST, 2)


def _nothing(_facts: Facts) -> list[Any]:
    return []


@dataclass(frozen=True)
class Words:
    """The words for one privacy model."""

    parameters: tuple[str, ...]  # its parameters, in the order in which they are shown
    promise: Callable[[Facts], str]  # the guarantee, in one sentence
    # fulfilled, broken: what the check found in the published rows, as the end of a sentence
    fulfilled: Callable[[Facts], str]
    broken: Callable[[Facts], str]
    violation: Callable[[Facts], str]  # one violation of a verdict's list, in a line
    not_covered: Callable[[Facts], Points] = _nothing  # beside what no guarantee covers
    reading: Callable[[Facts], Points] = _nothing  # what the parameters mean
    beyond: Callable[[Facts], list[str]] = _nothing  # what holds besides what was asked, in lines
    # whether it keeps rows that look alike from having a sensitive item in common
    hides_sensitive: bool = False
    shareable: tuple[str, ...] = ()  # findings of the verdict that a shared page may show
    recounted: bool = True  # whether what is published shows that the guarantee holds
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
    release: str = "rows"  # the kind of release that it is about (see `setveil.releases.published`)
    # what its verifier must know besides the published rows: `image`, what each item is published as; or can
    # make use of: `original`, the rows before
    knows: tuple[str, ...] = ()
    # Whether the supports of items may be published with the rows without harm to the guarantee. Not where
    # some items are sensitive: counts of them would tell more than the rows do.
    counts: bool = False


def models() -> dict[str, Model]:
    """List all models by name: setveil's own, then others."""
    return _models(plugins.files("model"))


@cache
def _models(files: tuple[PluginFile, ...]) -> dict[str, Model]:
    return {module.model.name: module.model for module in _modules(files)}


@cache
def _modules(files: tuple[PluginFile, ...]) -> tuple[Any, ...]:
    """Import the modules of the models, those of other people last; of several releases there is none."""
    found = [*map(_own, _FILES), *_further(files)]
    _require_names(found)
    return tuple(found)


def _own(name: str) -> Any:
    return importlib.import_module(f"{__name__}.{_FILES[name]}")


@cache
def _further(files: tuple[PluginFile, ...]) -> tuple[Any, ...]:
    """Import the modules of the models that are not in `_FILES`, those of other people last."""
    names = {module.name for module in pkgutil.iter_modules(__path__) if not module.ispkg}
    added = sorted(names - {"series", *_FILES.values()})
    found: list[Any] = [importlib.import_module(f"{__name__}.{name}") for name in added]
    own = [*_FILES, *(module.model.name for module in found)]
    for entry in plugins.offered(GROUP, lambda: own, "a guarantee").values():
        try:
            found.append(_offered(entry))
        except RequestError:  # an error when it is named
            continue
    for file in files:
        require_model(file.module, str(file.path))
        found.append(file.module)
    return tuple(found)


def names() -> list[str]:
    """Names of all models in the order of `models`; setveil's own are not imported."""
    return [*_FILES, *(module.model.name for module in _further(plugins.files("model")))]


def _offered(entry: EntryPoint) -> ModuleType:
    """Import a model of another package."""
    module, where = plugins.imported(entry, "guarantee")
    require_model(module, where)
    return module


def _require_names(modules: Iterable[Any]) -> None:
    """Refuse two models of one name."""
    homes: dict[str, Any] = {}
    for module in modules:
        other = homes.setdefault(module.model.name, module)
        if other is not module:
            raise RequestError(
                f"{module.__name__} and {other.__name__} both contain a guarantee {module.model.name}.",
                hint="Give the model another name.",
            )


def require_model(module: ModuleType, where: str) -> None:
    """Raise an error if someone else's module has no privacy model."""
    described = getattr(module, "model", None)
    wrong = ""
    if not isinstance(described, Model):
        wrong = "model, a Model"
    elif _class_of(module, described.name) is None:
        wrong = f"a subclass of Guarantee whose model is {described.name!r}"
    elif described.release != "rows" or described.knows:
        wrong = 'a Model whose release is "rows" and that is verified from the rows alone'
    elif not _takes_two(getattr(module, "verify", None)):
        wrong = "verify(published, guarantee, *, show, progress)"
    if wrong:
        raise RequestError(f"{where} is no guarantee: it must contain {wrong}.", hint=plugins.PAGE)


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(1, 2, show=10, progress=None)
    except TypeError:
        return False
    return True


def _class_of(module: Any, model: str) -> str | None:
    """Name the class of a model's guarantees in its module."""
    return next(
        (
            name
            for name, value in vars(module).items()
            if isinstance(value, type) and issubclass(value, Guarantee) and vars(value).get("model") == model
        ),
        None,
    )


def model_named(name: str) -> Model:
    """Find a model, which is imported alone if it is one of setveil's own."""
    if name in _FILES and not plugins.files("model"):
        own: Model = _own(name).model
        return own
    found = models().get(name)
    if found is None:
        torn = plugins.offered(GROUP, tuple, "a guarantee").get(name)
        if torn is not None:
            _offered(torn)
        raise RequestError(
            f"There is no privacy model {name!r}; there are {', '.join(models())}.",
            hint=did_you_mean(name, models()),
        )
    return found


def module_of(name: str) -> Any:
    """Find the module of a model."""
    if name in _FILES and not plugins.files("model"):
        return _own(name)
    found = _modules(plugins.files("model"))
    return next(module for module in found if module.model.name == name)


def class_names() -> list[str]:
    """Name the classes of setveil's own models, in their order."""
    own = [module for module in _modules(plugins.files("model")) if module.__name__.startswith(__name__)]
    return [str(_class_of(module, module.model.name)) for module in own]
