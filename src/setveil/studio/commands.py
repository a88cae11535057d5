"""From a project's settings to the words of setveil's commands, which run in the project's folder."""

from __future__ import annotations

import os
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.values.declared import as_words, options_of
from setveil.judges.guarantees import model_named, models
from setveil.methods import algorithms
from setveil.runs.options.models import RECOMMENDED
from setveil.runs.options.names import (
    COLUMNS,
    FACTS,
    MADE_OF_COLUMNS,
    NOT_OF_A_FILE,
    READING,
    VALUES,
    option_names,
)
from setveil.studio.data_kinds import kind_of
from setveil.studio.places import SERIES

if TYPE_CHECKING:
    from setveil.studio.projects import Project


_PAIRED = frozenset({"suppress"})  # have a --no- of their own
GENERALIZING = tuple(
    name for name in FACTS if name in {"fact-order", "fact-loss", "fact-lines"}
)  # at the run
PROMISE = option_names(["model"], *(model.options for model in models().values()))
CHECKED = option_names(  # of a release
    name for model in models().values() for name, one in model.options.items() if one.drawn_with is None
)
SEARCHED = option_names(  # by explore, too, which has a time budget of its own
    name for name in options_of(algorithms.load("exact").Parameters) if name not in {"gap", "time_limit"}
)


def anonymize(project: Project, out: str, hierarchy: str | list[str] | None = None) -> list[str]:
    """Make the release that the settings describe; `hierarchy`: a copy of it that stays as it is."""
    settings = _settings(project)
    if hierarchy is not None:
        settings["hierarchy"] = hierarchy
    if len(kind_of(settings).lists) > 1:  # a hierarchy is one of the codes of one column
        settings.pop("hierarchy", None)
    first = [name for name in PROMISE if name in settings]
    rest = [name for name in settings if name not in {*first, "input"}]
    return ["anonymize", *_inputs(settings), *_words(settings, [*first, *rest]), "--out", out]


def again(report: Mapping[str, Any], out: str, **changes: Any) -> list[str]:
    """Make the release of a record once more, with some options changed."""
    options = {
        name: value
        for name, value in {**(report.get("options") or {}), **changes}.items()
        if name not in NOT_OF_A_FILE and name != "external"
    }
    first = [name for name in PROMISE if name in options]
    rest = [name for name in options if name not in {*first, "input"}]
    return ["anonymize", *_inputs(options), *_words(options, [*first, *rest]), "--out", out]


def explore(
    project: Project, ks: Sequence[int], ms: Sequence[str], rhos: Sequence[str] = (), budget: int = 50
) -> list[str]:
    """Find what the promises cost."""
    settings = _settings(project)
    searched = SEARCHED if kind_of(settings).searched else ()
    names = ["hierarchy", *READING, *COLUMNS, *MADE_OF_COLUMNS, *searched]
    grid = ["--k", ",".join(map(str, ks)), "--m", ",".join(ms)]
    if rhos:
        grid += ["--rho", ",".join(rhos)]
        names += ["sensitive", "knows"]
    words = _words(settings, names)
    return ["explore", *_inputs(settings), *grid, *words, "--time-budget", str(budget), "--json"]


def build(project: Project, options: Sequence[str], out: str) -> list[str]:
    """Make groups of the items from the data."""
    settings = _settings(project)
    words = _words(settings, READING)
    return ["hierarchy", "build", *_inputs(settings), *options, *words, "--out", out, "--force"]


def risk(project: Project, sizes: Sequence[int]) -> list[str]:
    """Count the rows that are found by this many items, in the data as they are."""
    settings = _settings(project)
    more = option_names(kind_of(settings).read_with)
    words = _words(settings, [*READING, *COLUMNS, *VALUES, *more])
    files = [file for one in _inputs(settings) for file in _files(one)]
    return ["risk", *files, "--m", ",".join(map(str, sizes)), *words, "--json"]


def series_plan(project: Project, hierarchy: str | None, how: Sequence[str] = ()) -> list[str]:
    """Price every way to publish the project's data next in its series."""
    return ["series", "plan", SERIES, *_next(project, hierarchy), *how, "--json"]


def series_add(
    project: Project, hierarchy: str | None, name: str, out: str, how: Sequence[str] = ()
) -> list[str]:
    """Publish the project's data as the next release of its series."""
    return ["series", "add", SERIES, *_next(project, hierarchy), "--name", name, "--out", out, *how]


def series_published(project: Project, name: str, run: str) -> list[str]:
    """Record a release that is out, which was made of the project's data."""
    return ["series", "add", SERIES, *_next(project, None), "--name", name, "--published", run, "--json"]


def series_verify() -> list[str]:
    """Check the promise of all releases of a series."""
    return ["series", "verify", SERIES, "--json"]


def _next(project: Project, hierarchy: str | None) -> list[str]:
    settings = _settings(project)
    tree = [] if hierarchy is None else ["--hierarchy", hierarchy]
    return [*_inputs(settings), *_words(settings, READING), *tree]


def recommend(project: Project, budget: int = 120) -> list[str]:
    """Try what suits the promise, and compare."""
    settings = _settings(project)
    names = [*option_names(*RECOMMENDED.values()), "hierarchy"]
    words = _words(settings, [*names, *READING, *COLUMNS, *MADE_OF_COLUMNS])
    return ["recommend", *_inputs(settings), *words, "--time-budget", str(budget), "--json"]


def compare(study: str, out: str) -> list[str]:
    """Run a study, or what is left of it."""
    return ["compare", study, "--out", out]


def verify(run: str, report: Mapping[str, Any]) -> list[str]:
    """Check the promise of a run, with this record, again using only the published files."""
    promised, options = report["guarantee"], report.get("options") or {}
    # sensitive items may have been looked at besides
    own = option_names(model_named(promised["model"]).options)
    values = {name: options[name] for name in CHECKED if name in options and name in own}
    if isinstance(promised.get("m"), Mapping):  # which may have been said of each column
        values["m"] = ",".join(f"{column}={m}" for column, m in promised["m"].items())
    if not values:  # labels of an earlier run, whose promise they have; about.json says it
        return ["verify", run, "--json"]
    values.pop("known", None)
    whole = ["--known", "codes"] if promised.get("known") == "codes" else []  # checked inside, where it runs
    return ["verify", run, "--model", str(promised["model"]), *_words(values, list(values)), *whole, "--json"]


def stranger(run: str, share: str, sizes: Sequence[int]) -> list[str]:
    """Estimate what a match is worth to a stranger, where the rows of a run are a share of a population."""
    return ["risk", run, f"--fraction={share}", "--m", ",".join(map(str, sizes)), "--json"]


def absent(run: str, sizes: Sequence[int]) -> list[str]:
    """Count the rows of a run that someone finds who also knows an absent item."""
    return ["risk", run, "--absent", "1", "--m", ",".join(map(str, sizes)), "--json"]


def checker(run: str) -> list[str]:
    """Put the checker for recipients next to the published data of a run."""
    return ["checker", run, "--json"]


def evidence(run: str, frame: str, *, answers: str, attack: str | None, share: str) -> list[str]:
    """Write the compliance record of a run to its internal folder, from answers in a file."""
    more = ["--attack", attack] if attack is not None else []
    more += [f"--fraction={share}"] if share else []
    out = f"{run}/internal/evidence.html"
    return ["evidence", run, "--out", out, "--force", "--frame", frame, "--answers", answers, *more, "--json"]


def why(run: str, name: str, row: int | None = None, class_: int | None = None, show: int = 10) -> list[str]:
    """Ask why a label is not split, or an item suppressed: in a class, or in a row of a table."""
    where = [] if row is None else ["--row", str(row)]
    where += [] if class_ is None else ["--class", str(class_)]
    return ["why", "--show", str(show), *where, "--json", "--", run, name]


def query(run: str, items: Sequence[str]) -> list[str]:
    """Ask how many rows contain items together."""
    return ["query", "--json", "--", run, *items]


def run_name(folder: Path, when: str) -> str:
    """Name the folder of a new run by its time, as one that is not there yet."""
    number = 1
    while True:
        name = when if number == 1 else f"{when}-{number}"
        if not (folder / name).exists():
            return name
        number += 1


def _settings(project: Project) -> dict[str, Any]:
    return {name: value for name, value in project.settings().items() if name not in NOT_OF_A_FILE}


def _inputs(settings: Mapping[str, Any]) -> list[str]:
    value = settings.get("input", [])
    names = [str(one) for one in (value if isinstance(value, list) else [value])]
    return [f"./{name}" if name.startswith("-") else name for name in names]  # else it would be an option


def _files(name: str) -> list[str]:
    """List the files of a folder of data, which risk would take for that of a run."""
    if not os.path.isdir(name):  # noqa: PTH112  (a path that cannot be looked at is none)
        return [name]
    try:
        inside = sorted(path for path in Path(name).iterdir() if path.is_file())
    except OSError:
        return [name]
    named = [
        str(path) for path in inside if not path.name.startswith((".", "_")) and path.name != "about.json"
    ]
    return named or [name]


def _words(settings: Mapping[str, Any], names: Collection[str]) -> list[str]:
    """Write settings as options, as the command line takes them."""
    values = {name: settings.get(name) for name in names}
    return as_words({name: value for name, value in values.items() if value is not False or name in _PAIRED})
