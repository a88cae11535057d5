"""Study files: what `setveil compare` runs, as TOML."""

from __future__ import annotations

import hashlib
import itertools
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, did_you_mean, shorten, unreadable
from setveil.base.plain_json import read_toml
from setveil.base.values.kinds import Value
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.rows.data.layout import FORMATS
from setveil.runs.options.plugins import load_plugin
from setveil.work.studies.compare.plan import (
    BOOTSTRAP,
    DataSet,
    Run,
    data_set,
    models_meant,
    own_parameters,
    plan_run,
    promise_keys,
)
from setveil.work.studies.compare.settings import (
    LIMITS,
    MEASURING,
    READING,
    accepted,
    own_options,
    promise_options,
    reading_value,
)

MOST_RUNS = 100_000
_TOP = ("name", "description", "data_note", "plugins", "runs")
_GRID = ("data", "algorithms", "model", "seeds", "repeat", "sample", "label")
_DATA = ("path", "name", "hierarchy", "roles")
_DRAWS = 20  # runs of an algorithm that draws at random, where nothing says how many
_DRAWN = 0.8  # of the rows, where runs are repeated and nothing says how much of them


def _models_of_algorithms() -> dict[str, tuple[str, ...]]:
    """List the models that each algorithm gives."""
    return {name: module.info.guarantees for name, module in algorithms.modules().items()}


@dataclass(frozen=True)
class Study:
    """What a study file asks for."""

    name: str
    description: str
    runs: tuple[Run, ...]  # each once, in the order of the file
    content: bytes
    seeds: tuple[int, ...]  # all that occur
    # time_limit, memory_limit: those at the top of the file
    time_limit: float | None
    memory_limit: float | None

    @property
    def sha256(self) -> str:
        """Hash of the file."""
        return hashlib.sha256(self.content).hexdigest()


def read_study(path: Path, folder: Path | None = None, *, trusted: bool = False) -> Study:
    """Read a study file, check all of it, and hash the files that it names.

    Relative paths start at `folder`, by default its own. `trusted`: the user named the study, so its files of
    algorithms may be executed.
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    try:
        table = read_toml(content.decode("utf-8-sig"))
    except ValueError as error:
        raise unreadable(path, "is no TOML", error) from None
    return _StudyReader(path, folder or path.absolute().parent, trusted=trusted).study(table, content)


@dataclass(frozen=True)
class _Grid:
    """One table of a study: what it says itself, and with what it inherits."""

    where: str
    own: Mapping[str, Any]
    keys: Mapping[str, Any]

    def name(self, key: str) -> str:
        """Name a key for a message: with the table that it is in."""
        return f"{self.where}{key}" if key in self.own else key


class _StudyReader:
    def __init__(self, path: Path, folder: Path, *, trusted: bool) -> None:
        self.path, self.folder, self.trusted = path, folder, trusted
        self.files: dict[str, DataSet] = {}  # by name
        self.note = ""  # how the data are made

    def study(self, table: dict[str, Any], content: bytes) -> Study:
        name = table.get("name")
        if not isinstance(name, str) or not name.strip():
            raise self.wrong("name", "text", name)
        description = table.get("description", "")
        if not isinstance(description, str):
            raise self.wrong("description", "text", description)
        self.note = table.get("data_note", "")
        if not isinstance(self.note, str):
            raise self.wrong("data_note", "text", self.note)
        for file in self.sequence(table["plugins"], "plugins") if "plugins" in table else ():
            load_plugin(str(self.path.absolute().parent / str(file)), trusted=self.trusted)
        top = {key: value for key, value in table.items() if key not in _TOP}
        grids = list(self.grids(top, table.get("runs", [])))
        self.refuse_unknown(top, grids)
        runs: dict[str, Run] = {}
        for grid in grids:
            for run in self.expand(grid):
                runs.setdefault(run.id, run)
        self.require_telling_labels(runs.values())
        limits = {key: self.limit(key, top) for key in LIMITS}
        return Study(
            name.strip(), description.strip(), tuple(runs.values()), content,
            tuple(dict.fromkeys(run.seed for run in runs.values())), **limits,
        )  # fmt: skip

    def require_telling_labels(self, runs: Iterable[Run]) -> None:
        """Refuse labels that several methods would have, and methods that would have several."""
        methods: dict[str, str] = {}
        labels: dict[str, str] = {}
        for run in runs:
            shown = run.label or run.method
            if methods.setdefault(shown, run.method) != run.method:
                raise RequestError(
                    f"{self.path}: {shown!r} would be the label of {methods[shown]} and of {run.method}.",
                    hint='Name what differs in the label, such as "{algorithm}" or a parameter in brackets.',
                )
            if labels.setdefault(run.method, shown) != shown:
                raise RequestError(
                    f"{self.path}: {run.method} would be called {labels[run.method]!r} and {shown!r}.",
                    hint="Write one label, at the top of the file.",
                )

    def wrong(self, key: str, allowed: str, got: Any) -> RequestError:
        found = "nothing" if got is None else shorten(str(got))
        return RequestError(f"{self.path}: {key} must be {allowed}, got {found}.")

    def grids(self, top: dict[str, Any], tables: Any) -> Iterator[_Grid]:
        if not isinstance(tables, list) or not all(isinstance(own, dict) for own in tables):
            raise self.wrong("runs", "tables, each written [[runs]]", tables)
        if "data" in top:  # so that tables can name them
            for number, entry in enumerate(self.sequence(top["data"], "data"), 1):
                self.add_data(entry, f"data[{number}]")
        for number, own in enumerate(tables, 1):
            for key in own:
                if key in _TOP:
                    raise RequestError(f"{self.path}: {key} stands at the top of the file, not in [[runs]].")
            yield _Grid(f"runs[{number}].", own, {**top, **own})
        if not tables:
            yield _Grid("", top, top)

    def refuse_unknown(self, top: Mapping[str, Any], grids: Sequence[_Grid]) -> None:
        """Refuse keys that nothing knows, and parameters that no algorithm of their grid knows."""
        everywhere = {*_GRID, *MEASURING, *LIMITS}
        of_grid = [self.parameters_of(self.models(grid)) for grid in grids]
        every = self.parameters_of(_models_of_algorithms())
        places = [("", top, set().union(*of_grid))]
        places += [(g.where, g.own, known) for g, known in zip(grids, of_grid, strict=True) if g.where]
        for where, table, known in places:
            for key in table:
                if key in everywhere or key in known:
                    continue
                names = sorted(everywhere | every | (set() if where else set(_TOP)))
                if key in every:
                    users = [
                        name
                        for name, of in _models_of_algorithms().items()
                        if key in self.parameters_of({name: of})
                    ]
                    raise RequestError(
                        f"{self.path}: no algorithm here knows {where}{key}; {', '.join(users)} would.",
                        hint=f"A key of {', '.join(owners)}: name the one that is meant as model."
                        if (owners := [name for name, model in models().items() if key in model.options])
                        else "",
                    )
                raise RequestError(
                    f"{self.path}: there is no key {where}{key}.",
                    hint=did_you_mean(key, names, f"There are {', '.join(names)}."),
                )

    def parameters_of(self, meant: Mapping[str, Sequence[str]]) -> set[str]:
        promised = {key for of in meant.values() for model in of for key in promise_keys(model)}
        return promised.union(*map(own_parameters, meant))

    def models(self, grid: _Grid) -> dict[str, list[str]]:
        """Name for each algorithm of a grid the models that it is to give."""
        named, key = self.named_models(grid), grid.name("model")
        meant = {name: models_meant(name, grid.keys, named) for name in self.algorithms(grid)}
        for name, found in meant.items():
            if not found:
                raise RequestError(
                    f"{self.path}: {name} gives no {key} that is named ({', '.join(named)}), but "
                    f"{', '.join(_models_of_algorithms()[name])}.",
                    hint="Each table [[runs]] may name models of its own.",
                )
        available = {model for found in meant.values() for model in found}
        if left := [model for model in named if model not in available]:
            raise RequestError(
                f"{self.path}: {key} names {', '.join(left)}, which no algorithm here gives; "
                f"{', '.join(algorithms.giving(left[0]))} would."
            )
        return meant

    def named_models(self, grid: _Grid) -> list[str]:
        value = grid.keys.get("model", [])
        named = value if isinstance(value, list) else [value]
        for one in named:
            if not isinstance(one, str) or one not in models():
                raise self.wrong(grid.name("model"), f"among {', '.join(models())}", one)
        return named

    def algorithms(self, grid: _Grid) -> list[str]:
        """Name the algorithms of a grid; those that are files are loaded, from next to the study file."""
        names = self.sequence(grid.keys.get("algorithms"), grid.name("algorithms"))
        for name in names:
            if not isinstance(name, str):
                raise self.wrong(grid.name("algorithms"), "a list of names", names)
        here = self.path.absolute().parent
        files = {name for name in names if algorithms.is_file(name)}
        names = [
            algorithms.named(here / name, trusted=self.trusted) if name in files else name for name in names
        ]
        for name in names:
            if name not in algorithms.names():
                raise RequestError(
                    f"{self.path}: {grid.name('algorithms')} names {name!r}; there are "
                    f"{', '.join(algorithms.names())}.",
                    hint=did_you_mean(name, algorithms.names()),
                )
        return names

    def sequence(self, value: Any, key: str) -> list[Any]:
        if not isinstance(value, list) or not value:
            raise self.wrong(key, "a list that is not empty", value)
        return value

    def add_data(self, entry: Any, where: str) -> DataSet:
        """Take a data set from its table, or by its name from those of the file's top."""
        if isinstance(entry, str) and entry in self.files:
            return self.files[entry]
        if isinstance(entry, str) and self.files:
            raise RequestError(
                f"{self.path}: {where} names {entry!r}; the file's data are {', '.join(self.files)}."
            )
        if not isinstance(entry, dict) or "path" not in entry:
            raise self.wrong(where, 'a table such as {path = "baskets.csv"}', entry)
        self.check_data(entry, where)
        paths = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
        if entry.get("format", "fimi") not in FORMATS:
            raise self.wrong(f"{where}.format", f"one of {', '.join(FORMATS)}", entry["format"])
        tree, roles = entry.get("hierarchy"), entry.get("roles")
        try:
            found = data_set(
                [self.folder / path for path in paths],
                name=entry.get("name"),
                hierarchy=None if tree is None else self.folder / tree,
                reading={key: entry[key] for key in READING if key in entry},
                roles=None if roles is None else self.folder / roles,
            )
        except DataError as error:
            hint = f"{self.note.strip()} Name their folder with --data.".lstrip()
            raise DataError(f"{self.path}: {where}: {error.message}", hint=hint) from None
        known = self.files.setdefault(found.name, found)
        if (known.sha256, known.reading, known.roles) != (found.sha256, found.reading, found.roles):
            raise RequestError(
                f"{self.path}: {where} is called {found.name} as another data set is.",
                hint='Give it a name of its own: name = "...".',
            )
        return found

    def check_data(self, entry: Mapping[str, Any], where: str) -> None:
        """Refuse a data set's table with keys that there are not, or values that they cannot have."""
        for key, value in entry.items():
            if key not in {*_DATA, *READING}:
                raise RequestError(
                    f"{self.path}: {where} has no key {key}.",
                    hint=did_you_mean(key, [*_DATA, *READING], f"It takes {', '.join([*_DATA, *READING])}."),
                )
            if key in READING:
                if not reading_value(key, value):
                    raise self.wrong(f"{where}.{key}", READING[key].kind.allowed, value)
                continue
            several = key == "path" and isinstance(value, list) and value
            if not all(isinstance(text, str) and text for text in (value if several else [value])):
                raise self.wrong(f"{where}.{key}", "text", value)

    def limit(self, key: str, keys: Mapping[str, Any], name: str = "") -> float | None:
        if key not in keys:
            return None
        value: Any = accepted(LIMITS[key], keys[key], f"{self.path}: {name or key}", self.folder)
        return float(value)

    def expand(self, grid: _Grid) -> Iterator[Run]:
        """List the runs of a grid: every combination, what is named first varies last."""
        keys, name = grid.keys, grid.name
        data = [
            self.add_data(entry, f"{name('data')}[{number}]")
            for number, entry in enumerate(self.sequence(keys.get("data"), name("data")), 1)
        ]
        seeds, sample = self.seeds(grid), self.sample(grid)
        label = keys.get("label", "")
        if not isinstance(label, str) or (label and not label.strip()):
            raise self.wrong(name("label"), "text", label)
        limits = {key: self.limit(key, keys, name(key)) for key in LIMITS}
        measuring = {key: self.values(key, keys[key], name(key)) for key in MEASURING if key in keys}
        if "queries_file" in measuring and {"queries", "query_size", "query_support"} & set(measuring):
            raise RequestError(
                f"{self.path}: queries are either read ({name('queries_file')}) or drawn (queries, "
                "query_size, query_support), not both."
            )
        meant = self.models(grid)
        known = self.parameters_of(meant)
        values = {key: self.values(key, keys[key], name(key)) for key in keys if key in known}
        promises = [(algorithm, model) for algorithm, found in meant.items() for model in found]
        taken = {
            (algorithm, model): [key for key in values if key in self.parameters_of({algorithm: [model]})]
            for algorithm, model in promises
        }
        for algorithm, model in promises:
            often = self.often(grid, algorithm, seeds)
            varied: list[Sequence[Any]] = [values[key] for key in taken[algorithm, model]]
            number = math.prod(len(choices) for choices in [*varied, *measuring.values(), data, often])
            if number > MOST_RUNS:
                raise RequestError(
                    f"{self.path}: {grid.where or 'it '}asks for {number:,} runs of {algorithm}, expected "
                    f"at most {MOST_RUNS:,}."
                )
        for rows, (algorithm, model) in itertools.product(data, promises):
            for options in _combinations({key: values[key] for key in taken[algorithm, model]}):
                often = self.often(grid, algorithm, seeds)
                for settings, seed in itertools.product(_combinations(measuring), often):
                    try:
                        yield plan_run(
                            rows, algorithm, options, model=model, measuring=settings, seed=seed,
                            sample=sample, label=label, **limits,
                        )  # fmt: skip
                    except RequestError as error:
                        message = f"{self.path}: {grid.where}{error.message}"
                        raise RequestError(message, hint=error.hint) from None

    def often(self, grid: _Grid, algorithm: str, seeds: list[int]) -> list[int]:
        """List the seeds of an algorithm's runs: one that draws at random is run several times anyway."""
        said = "seeds" in grid.keys or "repeat" in grid.keys
        return seeds if said or not algorithms.load(algorithm).info.draws else list(range(_DRAWS))

    def seeds(self, grid: _Grid) -> list[int]:
        """List the seeds of a grid: those named, or as many as runs are to be repeated."""
        repeat = grid.keys.get("repeat")
        if repeat is not None:
            if "seeds" in grid.keys and ("seeds" in grid.own) == ("repeat" in grid.own):
                raise RequestError(
                    f"{self.path}: {grid.name('repeat')} and {grid.name('seeds')} both say how often runs "
                    "are repeated, expected one of them.",
                    hint="repeat = 20 is seeds 0 to 19, each with rows of its own.",
                )
            if "seeds" not in grid.own:
                if not _is_seed(repeat) or repeat < 1:
                    raise self.wrong(grid.name("repeat"), "an integer of at least 1", repeat)
                return list(range(repeat))
        seeds = grid.keys.get("seeds", [0])
        if not isinstance(seeds, list) or not seeds or not all(_is_seed(seed) for seed in seeds):
            raise self.wrong(grid.name("seeds"), "a list of integers of at least 0, such as [0, 1, 2]", seeds)
        return seeds

    def sample(self, grid: _Grid) -> float | str | None:
        """Say which rows the runs of a grid take: a share that the seed draws, a bootstrap, or all (None)."""
        repeated = grid.keys.get("repeat", 1) != 1 and "seeds" not in grid.own
        value = grid.keys.get("sample", _DRAWN if repeated else 1)
        if value == BOOTSTRAP:
            return BOOTSTRAP
        share = value
        if isinstance(value, str) and (found := re.fullmatch(r"(\d+(?:\.\d+)?) ?%", value)):
            share = float(Fraction(found[1]) / 100)
        if not _is_number(share) or not 0 < share <= 1:
            allowed = f'a share of the rows above 0, such as 0.8, or "{BOOTSTRAP}"'
            raise self.wrong(grid.name("sample"), allowed, value)
        return None if share == 1 else float(share)

    def values(self, key: str, value: Any, name: str) -> list[Value]:
        """List the values of a key: one, a list, or a range."""
        where = f"{self.path}: {name}"
        known = {**own_options(algorithms.modules()), **promise_options()}
        kind = MEASURING[key] if key in MEASURING else known[key].kind
        if isinstance(value, dict):
            value = _range(value, where)
        elif not isinstance(value, list):
            value = [value]
        if not value:
            raise RequestError(f"{where} is an empty list, expected at least one value.")
        return list(dict.fromkeys(accepted(kind, one, where, self.folder) for one in value))


def _combinations(values: Mapping[str, list[Value]]) -> list[dict[str, Value]]:
    """Combine each value of a key with each of the others; the last key varies first."""
    return [dict(zip(values, chosen, strict=True)) for chosen in itertools.product(*values.values())]


def _range(table: dict[str, Any], where: str) -> list[Any]:
    """List the numbers of a range, its end included if the steps meet it; exact in decimals."""
    allowed = "a value, a list, or a range such as {from = 2, to = 10, step = 2}"
    if not {"from", "to"} <= set(table) <= {"from", "to", "step"} or not all(map(_is_number, table.values())):
        raise RequestError(f"{where} must be {allowed}, got {shorten(str(table))}.")
    low, high, step = (Fraction(str(table.get(key, 1))) for key in ("from", "to", "step"))
    if high < low or step <= 0:
        raise RequestError(
            f"{where}: a range goes up from `from` to `to` by a positive `step`, got {shorten(str(table))}."
        )
    length = int((high - low) / step) + 1
    if length > MOST_RUNS:
        raise RequestError(
            f"{where}: the range has {length:,} values, expected at most {MOST_RUNS:,}.",
            hint="A greater step, or a nearer end.",
        )
    numbers = [low + i * step for i in range(length)]
    return [int(number) if number.denominator == 1 else float(number) for number in numbers]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_seed(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
