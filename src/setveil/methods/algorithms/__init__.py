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

Others bring algorithms of the same form: as a file (`named`), which is executed if the user named it, or in
an installed package, as entry points of the group `setveil.algorithms`.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from setveil.base import plugins
from setveil.base.errors import RequestError, did_you_mean, faces
from setveil.base.plugins import PluginFile
from setveil.base.values.declared import SEED

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "setveil.algorithms"  # of entry points


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
    # kind of what it returns: "global" (an item becomes the same in all rows), "local", "grouped", "noisy"
    recoding: str = "global"
    # "classes": rows are in classes that are told, each with a recoding of its own
    hides_occurrences: bool = False  # whether it only leaves out single occurrences of sensitive items
    # whether it draws at random, not by a seed: each run of a study is a release of its own
    draws: bool = False
    lacks: bool = False  # whether its k^m-anonymity can also hold against who knows an absent item
    bibtex: str = ""  # entries for those who cite it; where there is none, they are made from `reference`

    @property
    def uses(self) -> tuple[str, ...]:
        """What it makes use of in addition to the data, where that is given."""
        return (*self.needs, *self.takes)

    def needs_for(self, model: str) -> tuple[str, ...]:
        """Tell what it needs in addition to the data to give a model."""
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


@cache
def installed() -> dict[str, EntryPoint]:
    """Find the algorithms that other packages offer, by name, without importing any."""
    return plugins.offered(GROUP, homes, "an algorithm")


def _files() -> dict[str, PluginFile]:
    """Find the algorithms in files that were named in this process."""
    return {file.name: file for file in plugins.files("info")}


def names() -> list[str]:
    """Names of all algorithms, without importing them."""
    return sorted({**homes(), **installed(), **_files()})


def load(name: str) -> Any:
    """Import an algorithm's module."""
    if name in (files := _files()):
        return files[name].module
    if name in homes():
        return importlib.import_module(homes()[name])
    if name not in installed():
        raise RequestError(
            f"There is no algorithm {name!r}; there are {', '.join(names())}.",
            hint=did_you_mean(name, names()),
        )
    return _offered(installed()[name])


@cache
def _offered(entry: EntryPoint) -> Any:
    """Import an algorithm of another package."""
    module, where = plugins.imported(entry, "algorithm")
    _require_form(module, where)
    return module


def modules() -> dict[str, Any]:
    """Import all algorithms; one of another package that cannot be loaded is omitted until it is named."""
    found = {}
    for name in names():
        try:
            found[name] = load(name)
        except RequestError:
            if name not in installed():
                raise
    return found


def is_file(text: str) -> bool:
    """Whether what names an algorithm is a file that holds it."""
    return text.endswith(".py")


def named(text: str | Path, *, trusted: bool = False) -> str:
    """Name the algorithm that a text means: its name, or a file of Python, which is executed.

    The file is trusted if the user named it: on this command line, in Python, or in a study that was named
    there. A name that comes from any other file, such as settings or the record of a run, is never trusted.
    """
    if not is_file(str(text)):
        return str(text)
    return plugins.load(text, require_algorithm, trusted=trusted, option="algorithm").name


def require_algorithm(module: ModuleType, where: str) -> None:
    """Refuse a file that is no algorithm, or is called as another one is."""
    name = Path(where).stem.replace("_", "-")
    if name in homes() or name in installed():
        raise RequestError(
            f"{where} would be called {name}, as an algorithm is already.", hint="Rename the file."
        )
    _require_form(module, where)


def _require_form(module: Any, where: str) -> None:
    """Refuse a module that is no algorithm."""
    described, parameters = getattr(module, "info", None), getattr(module, "Parameters", None)
    wrong = ""
    if not isinstance(described, AlgorithmInfo):
        wrong = "info, an AlgorithmInfo"
    elif not (isinstance(parameters, type) and is_dataclass(parameters)):
        wrong = "Parameters, a frozen dataclass, which may be empty"
    elif unclear := [f.name for f in fields(parameters) if "option" not in f.metadata or not _has_default(f)]:
        wrong = f"Parameters whose fields are each a parameter(...) with a default, also {', '.join(unclear)}"
    elif not _takes_five(getattr(module, "anonymize", None)):
        wrong = "anonymize(data, hierarchy, guarantee, parameters, progress)"
    elif described.recoding not in {"global", "local", "grouped"}:
        wrong = f"an info whose recoding is global, local or grouped, not {described.recoding!r}"
    elif not described.guarantees:
        wrong = "an info that names the models it gives (guarantees)"
    if wrong:
        raise RequestError(f"{where} is no algorithm: it must contain {wrong}.", hint=plugins.PAGE)


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _takes_five(function: Any) -> bool:
    try:
        inspect.signature(function).bind(*range(5))
    except TypeError:
        return False
    return True


def origin(name: str) -> dict[str, str]:
    """Identify an algorithm of another origin by `file` and `sha256`, or by `package` with its version."""
    if name in (files := _files()):
        return {"file": files[name].path.name, "sha256": files[name].sha256}
    if name in homes() or name not in installed():
        return {}
    return {"package": plugins.package_of(installed()[name])}


def bibtex(of: Iterable[str]) -> str:
    """List what those cite who use some algorithms, as BibTeX: setveil, and each work once."""
    from setveil.methods.algorithms import _papers

    infos = {name: load(name).info for name in dict.fromkeys(of)}
    entries = [
        info.bibtex.strip() or _papers.made_of(name, info.title, info.reference)
        for name, info in infos.items()
    ]
    return _papers.together(_papers.SETVEIL, *entries)


def file_of(name: str) -> Path | None:
    """Find the file of an algorithm that was named by it."""
    return file.path if (file := _files().get(name)) else None


def takes_seed(name: str) -> bool:
    """Whether an algorithm draws by the seed of the run: its parameters have a field `seed`."""
    return any(field.name == SEED for field in fields(load(name).Parameters))


def require_gives(name: str, model: str, said: str = "") -> None:
    """Refuse an algorithm that does not give a guarantee; `said`: what chose the algorithm."""
    gives = load(name).info.guarantees
    if model not in gives:
        raise RequestError(
            f"{said or name} does not give {model} but {', '.join(gives)}.",
            hint=f"Use {', '.join(giving(model))}.",
        )


def require_absence(name: str, absent: int) -> None:
    """Refuse an algorithm that knows nothing of absent items where some are guaranteed."""
    if absent and not load(name).info.lacks:
        able = ", ".join(other for other, module in modules().items() if module.info.lacks)
        raise RequestError(
            f"{name} guarantees nothing of items that a person is known not to have; {able} does.",
            hint=f"Choose {able}, or omit {faces('--absent', 'absent')}.",
        )


def giving(model: str, recoding: str = "") -> list[str]:
    """Names of the algorithms that give a guarantee; with `recoding` only those of this kind."""
    infos = {name: module.info for name, module in modules().items()}
    return [
        name for name, info in infos.items() if model in info.guarantees and recoding in ("", info.recoding)
    ]
