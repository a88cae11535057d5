"""The command ``apply``."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import click

from setveil.base.errors import RequestError
from setveil.cli.bundles import Bundle, Reading, model_options, some_options, source_of
from setveil.cli.config import options_in_use
from setveil.cli.help import ALGORITHM, READING
from setveil.cli.options import HierarchyFile, Input, argument, choice, flag, option
from setveil.cli.publishing import Published, Publishing
from setveil.cli.session import Answer
from setveil.runs.options.reading import Reading as ReadingOptions

if TYPE_CHECKING:
    from setveil.report.record import Record

_MEANT = ("objective", "suppress", "gap", "time_limit")  # parameters of the exact search that a repair takes


def _promise() -> list[Any]:
    """Make the options of the guarantee, which is that of the earlier run where they are not given."""
    return [*model_options("km-anonymity", "k", "m"), *model_options("constraints", "privacy")]


def _repair() -> list[Any]:
    from setveil.methods.algorithms.exact.exact import Parameters

    return some_options(Parameters, _MEANT, f"{ALGORITHM}: --repair")


def apply(
    progress: Any,
    context: click.Context,
    earlier: Path = argument("RUN", "Use this earlier run, with its internal/."),
    input: Input = None,  # noqa: A002
    *,
    promise: Annotated[dict[str, Any], Bundle(_promise)],
    hierarchy_file: HierarchyFile = None,
    repair: bool = flag(ALGORITHM, "Coarsen labels as little as possible until the guarantee holds."),
    own: Annotated[dict[str, Any], Bundle(_repair)],
    strict: bool = flag(ALGORITHM, "Stop if the earlier run does not know an item."),
    union: Path | None = option(
        ALGORITHM, "Also verify together with an earlier release of other people.", "RELEASE"
    ),
    people: str | None = choice(
        READING,
        "Say what equal IDs in both runs mean: the same people or other people",
        "answer",
        ("same", "other"),
    ),
    reading: Reading,
    publishing: Publishing,
) -> Answer:
    """Publish other people's rows under the labels of an earlier run.

    The rows are verified before they are written. The guarantee is that of the earlier run, or a stronger
    one.

    $ setveil apply january february.csv --out february
    $ setveil apply january march.csv --repair --union january -o march
    """
    from setveil.cli.outcome import outcome
    from setveil.report.run.applied import people_words
    from setveil.report.words import only_one_of

    command, options = options_in_use(context)

    report = _released(
        earlier, input, promise, hierarchy_file, repair, own, strict, union, people, reading, publishing,
        {"command": command, "options": options}, progress,
    )  # fmt: skip
    aside = "\n".join(filter(None, (people_words(report), only_one_of(report))))
    return Answer(report, outcome(report, publishing.out), aside=aside)


def _released(
    earlier: Path,
    files: list[str] | None,
    promise: dict[str, Any],
    hierarchy_file: Path | None,
    repair: bool,
    own: dict[str, Any],
    strict: bool,
    union: Path | None,
    people: str | None,
    reading: ReadingOptions,
    publishing: Published,
    record: dict[str, Any],
    progress: Any,
) -> Record:
    """Do the work of the command (see `apply`): the report as written."""
    from setveil.cli.files import read_release, read_rows, split_format
    from setveil.methods.algorithms.exact.exact import Exact
    from setveil.releases.published.shared import read_shared
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.options.decode import Inputs, decode_parameters, require_file, require_parameters
    from setveil.work.past.apply import apply as run_apply
    from setveil.work.past.run import past_run
    from setveil.work.past.terms import raised, require_applicable, search

    limits = {name: value for name, value in own.items() if value is not None}
    if limits and not repair:
        option = next(iter(limits)).replace("_", "-")
        raise RequestError(f"--{option} says how to repair.", hint="Add --repair.")
    source = source_of(files, reading)
    encoding = reading.text_encoding
    require_file(hierarchy_file)
    require_parameters("exact", Exact, limits, encoding)
    publishing.require_possible()
    progress("reading")
    before = past_run(earlier)
    require_applicable(before)
    tree = None if hierarchy_file is None else read_hierarchy(hierarchy_file, encoding=encoding)
    shared = None if union is None else (str(union), read_shared(union, read_release))
    reads, publishes = split_format(source, reading.format)
    data = read_rows(source, replace(reading, format=reads))
    where = Inputs(data, encoding, tree, publishing.seed, image=before.image)
    release = run_apply(
        before, data, guarantee=raised(before, promise, where), hierarchy=tree,
        repair=search(before, **decode_parameters(Exact, limits, where)) if limits else repair,
        strict=strict, union=shared, people=people, seed=publishing.seed, counts=publishing.counts,
        details=not publishing.no_details, progress=progress,
    )  # fmt: skip
    progress("writing")
    return publishing.write(release, data, publishes, record)
