"""One file per algorithm, here or in a package of those that share much: adding one is adding a file.

A module whose name has no leading underscore is an algorithm; its name, with hyphens for underscores, is the
algorithm's name. It holds

- a frozen dataclass `Parameters` with the algorithm's own parameters and their defaults,
- `info`, an `AlgorithmInfo`,
- `anonymize(data, hierarchy, guarantee, parameters, progress)`: from the rows (`Transactions`), a `Hierarchy`
  whose leaves all items are (None where the algorithm needs none), a guarantee of a model that it gives, its
  own parameters and a `Progress` that hears how far it is, to how the data are to be published (`Recoding`,
  `LocalRecoding` or `RowGroups`) and details of the run, a dict of JSON types. It publishes nothing: the run
  does, by its seed. Its docstring says what the details hold, and which errors it raises.

Command line, documentation and the shared test suite find it by this. The command line reads the parameters
of all of them when it starts, so a module imports what is heavy (numpy, numba, the solver) inside the
functions that need it, and types for the type checker only.
"""

from __future__ import annotations

import importlib
import pkgutil
from dataclasses import dataclass
from functools import cache
from typing import Any

from setveil.errors import RequestError, did_you_mean


@dataclass(frozen=True)
class AlgorithmInfo:
    """What a user must know to choose an algorithm."""

    title: str
    guarantees: tuple[str, ...]  # models that it gives, by their `model` name
    needs: tuple[str, ...]  # What it needs besides the data, e.g. "hierarchy".
    summary: str  # one sentence: what it does and for which data
    reference: str  # paper, DOI and section
    takes: tuple[str, ...] = ()  # what it makes use of if it is given
    minimizes: str = "ncp"  # measure of the loss that it keeps low
    without: tuple[str, ...] = ()  # models of its that it gives without what it needs, too
    # kind of what it returns: "global" (an item becomes the same in all rows), "local", "grouped"
    recoding: str = "global"
    hides_occurrences: bool = False  # whether it only leaves out single occurrences of sensitive items

    @property
    def uses(self) -> tuple[str, ...]:
        """What it makes use of besides the data, where that is given."""
        return (*self.needs, *self.takes)

    def needs_for(self, model: str) -> tuple[str, ...]:
        """Tell what it needs besides the data to give a model."""
        return () if model in self.without else self.needs


@cache
def homes() -> dict[str, str]:
    """Find the module of each algorithm by its name, without importing any: here, or one package below."""
    found = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.ispkg:
            found[module.name] = f"{__name__}.{module.name}"
            continue
        for inner in pkgutil.iter_modules([f"{folder}/{module.name}" for folder in __path__]):
            found[inner.name] = f"{__name__}.{module.name}.{inner.name}"
    named = {name.replace("_", "-"): home for name, home in found.items() if not name.startswith("_")}
    return dict(sorted(named.items()))


def names() -> list[str]:
    """Names of all algorithms, without importing them."""
    return list(homes())


def load(name: str) -> Any:
    """Import an algorithm's module."""
    home = homes().get(name)
    if home is None:
        raise RequestError(
            f"There is no algorithm {name!r}; there are {', '.join(names())}.",
            hint=did_you_mean(name, names()),
        )
    return importlib.import_module(home)


def require_gives(name: str, model: str, said: str = "") -> None:
    """Refuse an algorithm that does not give a guarantee; `said`: what chose the algorithm."""
    gives = load(name).info.guarantees
    if model not in gives:
        raise RequestError(
            f"{said or name} does not give {model} but {', '.join(gives)}.",
            hint=f"Use {', '.join(giving(model))}.",
        )


def giving(model: str, recoding: str = "") -> list[str]:
    """Names of the algorithms that give a guarantee; with `recoding` only those of this kind."""
    infos = {name: load(name).info for name in names()}
    return [
        name for name, info in infos.items() if model in info.guarantees and recoding in ("", info.recoding)
    ]
