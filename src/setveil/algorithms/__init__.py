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

import hashlib
import importlib
import importlib.util
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterable
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import Any

from setveil.errors import DataError, RequestError, as_option, did_you_mean, faces, reason_of, shorten
from setveil.values.declared import SEED

GROUP = "setveil.algorithms"  # of entry points
_PAGE = "docs/own_method.md says what a file of an algorithm must hold."


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
    found: dict[str, EntryPoint] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        other = found.get(entry.name)
        if entry.name in homes() or other is not None:
            taken = f"{_package(other)} offers, too" if other else "setveil has already"
            raise RequestError(
                f"The package {_package(entry)} offers an algorithm {entry.name}, which {taken}.",
                hint="Uninstall it, or ask for a version that calls its algorithm something else.",
            )
        found[entry.name] = entry
    return found


def _package(entry: EntryPoint) -> str:
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value


@dataclass(frozen=True)
class _AlgorithmFile:
    """An algorithm that a file holds."""

    path: Path
    sha256: str
    module: ModuleType


_files: dict[str, _AlgorithmFile] = {}  # those that were named in this process


def names() -> list[str]:
    """Names of all algorithms, without importing them."""
    return sorted({**homes(), **installed(), **_files})


def load(name: str) -> Any:
    """Import an algorithm's module."""
    if name in _files:
        return _files[name].module
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
    where = f"The algorithm {entry.name} of the package {_package(entry)}"
    try:
        module = entry.load()
    except Exception as error:
        raise RequestError(
            f"{where} cannot be loaded: {type(error).__name__}: {reason_of(error)}."
        ) from error
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

    Parameters
    ----------
    trusted : bool
        Whether the user named the file: on this command line, in Python, or in a study that was named there.
        A name that comes from any other file, such as settings or the record of a run, is never trusted.

    Raises
    ------
    DataError
        If the file cannot be read.
    RequestError
        If it is a file and not trusted, fails, does not hold an algorithm, or is called as another one is.
    """
    if not is_file(str(text)):
        return str(text)
    path = Path(text)
    if not trusted:
        raise RequestError(
            f"A file names {shorten(str(path))} as the algorithm. That is a program, and setveil executes "
            "only programs that you name yourself.",
            hint=f"Read it first. To use it, name it yourself: {as_option('algorithm', quote(str(path)))}.",
        )
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    name, sha256 = path.stem.replace("_", "-"), hashlib.sha256(content).hexdigest()
    if not re.fullmatch(r"[a-z0-9](-?[a-z0-9])*", name):
        raise RequestError(
            f"{path}: the file's name is the algorithm's, and {path.stem!r} cannot be one.",
            hint="Lower-case letters, digits and underscores, as in my_method.py.",
        )
    known = _files.get(name)
    if known is not None and (known.path, known.sha256) == (path.absolute(), sha256):
        return name
    if name in homes() or name in installed() or (known and known.path != path.absolute()):
        whose = f"that of {known.path} is" if known else "an algorithm is already"
        raise RequestError(f"{path} would be called {name}, as {whose}.", hint="Rename the file.")
    _files[name] = _AlgorithmFile(path.absolute(), sha256, _executed(path, content))
    return name


def _executed(path: Path, content: bytes) -> ModuleType:
    """Run a file of Python as a module."""
    name = f"setveil_algorithm_{path.stem}"
    spec = importlib.util.spec_from_loader(name, loader=None, origin=str(path))
    assert spec is not None  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    module.__file__ = str(path)
    before = sys.modules.get(name)
    sys.modules[name] = module  # where dataclasses look for the names of types
    try:
        exec(compile(content, str(path), "exec"), module.__dict__)  # noqa: S102  (that is what was asked for)
        _require_form(module, str(path))
    except BaseException as error:
        sys.modules.pop(name)
        if before is not None:
            sys.modules[name] = before
        if isinstance(error, RequestError) or not isinstance(error, Exception):
            raise
        raise RequestError(
            f"{path} cannot be loaded: {type(error).__name__}: {reason_of(error)}.", hint=_PAGE
        ) from error
    return module


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
        raise RequestError(f"{where} is no algorithm: it must hold {wrong}.", hint=_PAGE)


def _has_default(field: Any) -> bool:
    return field.default is not MISSING or field.default_factory is not MISSING


def _takes_five(function: Any) -> bool:
    try:
        inspect.signature(function).bind(*range(5))
    except TypeError:
        return False
    return True


def origin(name: str) -> dict[str, str]:
    """Say what another's algorithm is, of which setveil's version says nothing; nothing of setveil's own.

    Returns
    -------
    dict
        `file` and `sha256`, or `package` with its version.
    """
    if name in _files:
        return {"file": _files[name].path.name, "sha256": _files[name].sha256}
    if name in homes() or name not in installed():
        return {}
    return {"package": _package(installed()[name])}


def bibtex(of: Iterable[str]) -> str:
    """List what those cite who use some algorithms, as BibTeX: setveil, and each work once."""
    from setveil.algorithms import _papers

    infos = {name: load(name).info for name in dict.fromkeys(of)}
    entries = [
        info.bibtex.strip() or _papers.made_of(name, info.title, info.reference)
        for name, info in infos.items()
    ]
    return _papers.together(_papers.SETVEIL, *entries)


def file_of(name: str) -> Path | None:
    """Find the file of an algorithm that was named by it."""
    return _files[name].path if name in _files else None


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
    """Refuse an algorithm that knows nothing of absent items where some are promised."""
    if absent and not load(name).info.lacks:
        able = ", ".join(other for other, module in modules().items() if module.info.lacks)
        raise RequestError(
            f"{name} promises nothing of items that a person is known not to have; {able} does.",
            hint=f"Choose {able}, or omit {faces('--absent', 'absent')}.",
        )


def giving(model: str, recoding: str = "") -> list[str]:
    """Names of the algorithms that give a guarantee; with `recoding` only those of this kind."""
    infos = {name: module.info for name, module in modules().items()}
    return [
        name for name, info in infos.items() if model in info.guarantees and recoding in ("", info.recoding)
    ]
