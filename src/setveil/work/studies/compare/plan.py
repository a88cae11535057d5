"""One run of a comparison: what it does, and the name that it has wherever its files are."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from setveil.base import plugins
from setveil.base.errors import RequestError
from setveil.base.values.declared import options_of
from setveil.base.values.kinds import Reference, Value, reference
from setveil.base.version import __version__
from setveil.judges.guarantees import model_named, models
from setveil.methods import algorithms
from setveil.releases.published import kind_named
from setveil.report.compare.names import method_name
from setveil.rows.tables.roles import read_roles
from setveil.runs.options.decode import as_typed
from setveil.runs.options.guarantees import applicable, conflicting_options, missing, require_values
from setveil.runs.options.models import bounds_inference, settled_model
from setveil.work.studies.compare.files import hierarchies_of
from setveil.work.studies.compare.settings import files_sha256

DEFAULTS: Mapping[str, Value] = {
    "queries": 1000,
    "query_size": 2,
    "itemsets": "0.01",
    "itemset_length": 3,
    "group_by": 4,
    "risk_m": 3,
}

BOOTSTRAP = "bootstrap"  # the rows of a run: as many as there are, each drawn from all of them

ReadingValue = str | bool | tuple[str, ...]


@dataclass(frozen=True)
class DataSet:
    """Files of rows, and their hierarchy."""

    name: str  # what tables and figures call it
    # files, sha256: the files (or a folder of them) and the hash of their contents
    files: tuple[Path, ...]
    sha256: str
    # none: an algorithm that needs one groups items that often occur together
    hierarchy: Reference | None = None
    reading: tuple[tuple[str, ReadingValue], ...] = ()  # options of `setveil.read` with their values
    # of a table: the file that says what its columns are; its hash is that of the hierarchies, too
    roles: Reference | None = None

    @property
    def options(self) -> dict[str, Any]:
        """Options of `setveil.read`, in JSON types."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in self.reading}


@dataclass(frozen=True)
class Run:
    """One run: an algorithm with one value of each parameter on one data set (see `plan_run`)."""

    data: DataSet
    algorithm: str
    model: str
    promise: Mapping[str, Value]  # parameters of the model, as in a study
    # the algorithm's own, by their names in a study, without those that are as by default
    parameters: Mapping[str, Value]
    measuring: Mapping[str, Value]  # settings of the measures that apply to it
    seed: int
    # time_limit, memory_limit: seconds and MB. They do not belong to what the run is, only to how long one
    # waits for it.
    time_limit: float | None = None
    memory_limit: float | None = None
    sample: float | str | None = None  # share of the rows that the seed draws, or BOOTSTRAP; None: all rows
    label: str = ""  # what reports call the method instead

    @cached_property
    def id(self) -> str:
        """Hash of all that decides the result: contents and parameters, not places of files and limits."""
        return _digest({**self._identity, "seed": self.seed})

    @cached_property
    def solution(self) -> str:
        """Hash of what decides the release but for the order of its rows: runs that share it are solved once.

        A seed decides a release where it draws rows or items, and where the algorithm draws by it. Where the
        algorithm itself draws, each run is a release of its own.
        """
        options = model_named(self.model).options
        drawn = self.sample is not None or algorithms.load(self.algorithm).info.draws
        drawn = drawn or algorithms.takes_seed(self.algorithm)
        drawn = drawn or any(options[name].drawn_with is not None for name in self.promise)
        limits = {"time_limit": self.time_limit, "memory_limit": self.memory_limit}
        return _digest({**self._identity, **limits, **({"seed": self.seed} if drawn else {})})

    @cached_property
    def _identity(self) -> dict[str, Any]:
        return {
            **self._data_identity(),
            "hierarchy": _identity(self.data.hierarchy) if self.uses_hierarchy else None,
            "algorithm": self.algorithm,
            **{key: text for key, text in algorithms.origin(self.algorithm).items() if key != "file"},
            "model": self.model,
            "promise": {name: _identity(value) for name, value in self.promise.items()},
            "parameters": {name: _identity(value) for name, value in self.parameters.items()},
            "measuring": {name: _identity(value) for name, value in self.measuring.items()},
            **({"plugins": [file.sha256 for file in self._plugins]} if self._plugins else {}),
        }

    @property
    def _plugins(self) -> tuple[plugins.PluginFile, ...]:
        """Files that decide what is measured, and the guarantee: not those of algorithms alone."""
        held = {*plugins.files("MEASURES"), *plugins.files("model")}
        return tuple(file for file in plugins.files() if file in held)

    @cached_property
    def risk_id(self) -> str | None:
        """Hash of data and hidden items, which decide the risk of the original rows; None: not measured."""
        if not self.measuring.get("risk_m"):
            return None
        options = model_named(self.model).options
        secrets = {name: _identity(value) for name, value in self.promise.items() if options[name].secret}
        for name in list(secrets):
            drawn_with = options[name].drawn_with
            if drawn_with is not None:
                secrets |= {"seed": self.seed, **{other: self.promise[other] for other in drawn_with}}
        rows = self._data_identity() | ({} if self.sample is None else {"seed": self.seed})
        return _digest({**rows, "hidden": secrets, "risk_m": self.measuring["risk_m"], "kind": "risk"})

    @property
    def method(self) -> str:
        """The algorithm, with those of its parameters that improve on its paper, or are not as by default."""
        published = _published(algorithms.load(self.algorithm).Parameters)
        values = {**own_parameters(self.algorithm), **self.parameters}
        improved = {name: values[name] for name, value in published.items() if values[name] != value}
        others = {name: value for name, value in self.parameters.items() if name not in improved}
        better, own = ([f"{name}={as_text(plain(x))}" for name, x in of.items()] for of in (improved, others))
        return method_name(self.algorithm, better, own)

    def task(self) -> dict[str, Any]:
        """Say in JSON types what the worker must do."""
        file = algorithms.file_of(self.algorithm)
        return {
            "run": self.id,
            "kind": "run",
            "data": {
                "files": [str(path.absolute()) for path in self.data.files],
                "reading": self.data.options,
                "roles": _place(self.data.roles)["path"] if self.data.roles else None,
                "hierarchy": _place(self.data.hierarchy)
                if self.data.hierarchy and self.uses_hierarchy
                else None,
            },
            "algorithm": self.algorithm,
            "algorithm_file": None if file is None else str(file),
            "algorithm_sha256": algorithms.origin(self.algorithm).get("sha256"),
            "plugins": [{"path": str(file.path), "sha256": file.sha256} for file in self._plugins],
            "model": self.model,
            "promise": {name: _place(value) for name, value in self.promise.items()},
            "parameters": {name: _place(value) for name, value in self.parameters.items()},
            "measuring": {name: _place(value) for name, value in self.measuring.items()},
            "seed": self.seed,
            "sample": self.sample,
            "memory_limit": self.memory_limit,
        }

    def shown(self) -> dict[str, bool | int | float | str]:
        """Parameters as the table shows them, those as by default included."""
        known = {
            name: plain(default)
            for name, default in own_parameters(self.algorithm).items()
            if isinstance(default, bool | int | float | str)
        }
        return known | {
            name: plain(value, name) for name, value in {**self.promise, **self.parameters}.items()
        }

    @property
    def uses_hierarchy(self) -> bool:
        """Whether the algorithm takes the hierarchy of its data."""
        info = algorithms.load(self.algorithm).info
        return "hierarchy" in info.uses

    def _data_identity(self) -> dict[str, Any]:
        return {
            "setveil": __version__,
            "data": self.data.sha256,
            "reading": self.data.options,
            **({"roles": _identity(self.data.roles)} if self.data.roles else {}),
            **({} if self.sample is None else {"sample": self.sample}),
        }


def data_set(
    files: Path | Sequence[Path],
    *,
    name: str | None = None,
    hierarchy: Path | None = None,
    reading: Mapping[str, Any] | None = None,
    roles: Path | None = None,
) -> DataSet:
    """Hash files of rows (or a folder of them), their hierarchy, and the roles of the columns of a table."""
    files = (files,) if isinstance(files, Path) else tuple(files)
    digest = files_sha256(files)
    tree = None if hierarchy is None else reference(hierarchy)
    options = {
        key: tuple(value) if isinstance(value, list) else value for key, value in (reading or {}).items()
    }
    said = None
    if roles is not None:
        inside = [roles, *hierarchies_of(read_roles(roles))]
        said = Reference(roles, files_sha256(inside))
    return DataSet(name or files[0].stem, files, digest, tree, tuple(sorted(options.items())), said)


def plan_run(
    data: DataSet,
    algorithm: str,
    options: Mapping[str, Value],
    *,
    model: str | None = None,
    measuring: Mapping[str, Value] = DEFAULTS,
    seed: int = 0,
    time_limit: float | None = None,
    memory_limit: float | None = None,
    sample: float | str | None = None,
    label: str = "",
) -> Run:
    """Make a run of an algorithm from the options that it and its model know; others are for others.

    `options`: as `settings` accepts them. `model`: by default the algorithm's first. `seed`: for the run and
    all that is drawn for it. Limits are in seconds and MB. `sample`: share of the rows that the seed draws,
    above 0 and below 1, or `BOOTSTRAP`: as many rows as there are, each drawn from all; by default all rows.
    `label`: for reports, with `{algorithm}` and names of parameters in braces.
    """
    info = algorithms.load(algorithm).info
    model = model or str(info.guarantees[0])
    described = model_named(model)
    promise = {name: options[name] for name in applicable(described, options) if name in options}
    gaps = missing(described, promise)
    lacking = [names[0] for names in gaps if len(names) == 1]
    if lacking:
        others = ", ".join(name for name in info.guarantees if name != model)
        raise RequestError(
            f"{algorithm} needs {', '.join(lacking)} for {model}.",
            hint=f"It also gives {others}: say model." if others else "",
        )
    for names in gaps:
        raise RequestError(f"{algorithm} needs one of {' and '.join(names)}, got neither.")
    for names in conflicting_options(described, promise):
        raise RequestError(f"{algorithm} needs one of {' and '.join(names)}, got both.")
    own = {
        name: options[name]
        for name, default in own_parameters(algorithm).items()
        if name in options and options[name] != default
    }
    _require_possible(data, algorithm, model, promise)
    wanted = kind_named(described.release).info.asks
    best = algorithms.load("exact").info
    if model in best.guarantees and info.recoding == best.recoding:
        wanted = (*wanted, "bound")
    settings = {name: value for name, value in {**DEFAULTS, **measuring}.items() if name in wanted}
    if "queries_file" in settings:
        settings = {n: v for n, v in settings.items() if n not in {"queries", "query_size", "query_support"}}
    run = Run(data, algorithm, model, promise, own, settings, seed, time_limit, memory_limit, sample)
    return replace(run, label=_filled(label, run)) if label else run


def _require_possible(data: DataSet, algorithm: str, model: str, promise: Mapping[str, Value]) -> None:
    """Refuse a guarantee that cannot be, without data; a grid may hold parameters that do not go together."""
    encoding = str(data.options.get("encoding", "utf-8"))
    options = model_named(model).options
    texts = {name: as_typed(options[name], _place(value)) for name, value in promise.items()}
    try:
        require_values(model, texts, encoding)
    except RequestError as error:
        raise RequestError(f"{algorithm} for {model}: {error.message}", hint=error.hint) from None


def _filled(label: str, run: Run) -> str:
    """Put values in the place of the parameters that a label names; items and files are none of them."""
    options = options_of(algorithms.load(run.algorithm).Parameters)
    hidden = {option.study_name or name for name, option in options.items() if option.kind.names_items}
    hidden |= {name for name, option in model_named(run.model).options.items() if option.kind.names_items}
    known = {"algorithm": run.algorithm} | {
        name: as_text(value) for name, value in run.shown().items() if name not in hidden
    }
    parts = re.split(r"\{([^{}]*)\}", label)
    if wrong := [name for name in parts[1::2] if name not in known]:
        raise RequestError(
            f"label names {{{wrong[0]}}}, expected one of {', '.join(known)}.",
            hint="Items and files are in no label: reports that may be shared show it."
            if wrong[0] in hidden
            else "",
        )
    return " ".join("".join(known[part] if i % 2 else part for i, part in enumerate(parts)).split())


def models_meant(algorithm: str, keys: Collection[str], named: Collection[str] = ()) -> list[str]:
    """Name the models that an algorithm of a study, or of one of its grids with these `keys`, must give.

    Those are the `named` ones that it gives. If none is named: with `rho` among the keys, the one that bounds
    what is learned and that the keys describe best; else its first.

    >>> models_meant("exact", ["k", "m"]), models_meant("exact", ["k", "m", "rho", "sensitive"])
    (['km-anonymity'], ['km-rho'])
    >>> models_meant("lg", ["k"], ["km-rho", "coherence"])
    ['km-rho']
    """
    gives = algorithms.load(algorithm).info.guarantees
    if named:
        return [model for model in named if model in gives]
    bounding = [model for model in gives if bounds_inference(model_named(model))]
    if "rho" in keys and bounding:
        described = {name for model in bounding for name in model_named(model).options}
        return [settled_model({key: "" for key in keys if key in described}, bounding)]
    return [gives[0]]


def promise_keys(model: str) -> tuple[str, ...]:
    """Keys of a study that a model takes."""
    return tuple(model_named(model).options)


def own_parameters(algorithm: str) -> Mapping[str, Any]:
    """Parameters of an algorithm by their names in a study, with their defaults ("inf" for infinity)."""
    return _with_defaults(algorithms.load(algorithm).Parameters)


@cache
def _with_defaults(parameters: Any) -> Mapping[str, Any]:
    defaults = {field.name: _default(field) for field in fields(parameters)}
    return {option.study_name or name: defaults[name] for name, option in options_of(parameters).items()}


@cache
def _published(parameters: Any) -> Mapping[str, Any]:
    """Find the values in the paper of parameters whose defaults improve on it, by their names in a study."""
    found = {option.study_name or name: option.published for name, option in options_of(parameters).items()}
    return {name: value for name, value in found.items() if value is not None}


def plain(value: Value, name: str = "") -> bool | int | float | str:
    """Write a value for a table: a file by its name, a list of items by its length."""
    if isinstance(value, Reference):
        return value.path.stem
    if name in _lists():
        labels = {label.strip() for label in str(value).split(",")} - {""}
        return f"{len(labels)} items" if len(labels) != 1 else "1 item"
    return value


def _lists() -> set[str]:
    """Name the options whose values may be lists of items."""
    return {
        name
        for model in models().values()
        for name, option in model.options.items()
        if option.kind.names_items and option.secret
    }


def as_text(value: float | str) -> str:
    """Write a plain value as a study file has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _default(field: Field[Any]) -> Any:
    value = field.default_factory() if field.default_factory is not MISSING else field.default
    return "inf" if value == math.inf else value


def _identity(value: Value | None) -> Any:
    return {"sha256": value.sha256} if isinstance(value, Reference) else value


def _place(value: Value) -> Any:
    return {"path": str(value.path.absolute())} if isinstance(value, Reference) else value


def _digest(content: dict[str, Any]) -> str:
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
