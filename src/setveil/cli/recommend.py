"""The command ``recommend``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from setveil.base.deadline import Deadline
from setveil.base.errors import RequestError
from setveil.base.values.numbers import parse_number
from setveil.cli.bundles import Bundle, Reading, model_options, source_of
from setveil.cli.help import GENERAL, MEASURES
from setveil.cli.options import Force, HierarchyFiles, Input, Jobs, Page, Parameter, QuerySeed, number, option
from setveil.cli.readers import reader_of
from setveil.cli.session import Answer, answer
from setveil.cli.tables import Columns, TableShare
from setveil.runs.options.facts import NOT_RECOMMENDED, FactOptions
from setveil.runs.options.models import RECOMMENDED


def _options() -> list[Parameter]:
    return [one for model, names in RECOMMENDED.items() for one in model_options(model, *names)]


def recommend(
    progress: Any,
    input: Input = None,  # noqa: A002
    hierarchy_files: HierarchyFiles = None,
    queries_file: Path | None = option(
        MEASURES, "Optimize for these COUNT queries: a set of items per line.", "FILE"
    ),
    share: TableShare = None,
    time_budget: float = number(GENERAL, "Stop after this time.", 1, "SECONDS", default=120),
    jobs: Jobs = None,
    seed: QuerySeed = 0,
    out: Page = None,
    force: Force = False,
    *,
    promise: Annotated[dict[str, Any], Bundle(_options)],
    columns: Columns,
    reading: Reading,
) -> Answer:
    """Find the algorithm that loses least, without writing a release.

    $ setveil recommend baskets.csv --k 5 --m 2
    $ setveil recommend baskets.csv --k 5 --m 2 -H products.csv --time-budget 60
    $ setveil recommend baskets.csv --k 5 --m 2 --rho 0.2 --sensitive secret.csv -H products.csv
    $ setveil recommend patients.csv --k 5 --m 2 --qi age,sex --set codes
    """
    deadline = Deadline(time_budget)  # before what takes long to import
    from setveil.base.staging import write_page
    from setveil.base.values.kinds import reference
    from setveil.cli.files import require_page
    from setveil.commands.recommend import adviser_of, promised
    from setveil.report.recommend.page import advice_html
    from setveil.runs.options.inputs import load_labels
    from setveil.work.studies.compare.plan import data_set
    from setveil.work.studies.recommend.recommend import record

    require_page(out, "advice.html", force)
    source = source_of(input, reading)
    paths = _files(source)
    size = None if promise["m"] is None else parse_number("m", promise["m"])
    request = promised(**{**promise, "m": size})
    reader = reader_of(columns, reading, hierarchy_files)
    adviser = adviser_of(reader.kind)
    part = adviser.weight(request, share)
    if FactOptions().wanted(columns):
        raise RequestError(NOT_RECOMMENDED, hint="`setveil explore` shows what each k and m costs them.")
    progress("reading")
    encoding = reading.text_encoding
    data, tree = reader.read(source, seed=seed)
    named = promise["sensitive"] if request.model else promise["private"]
    labels = load_labels(named, data, encoding)
    secrets = reference(Path(named)) if named and Path(named).is_file() else ",".join(labels)
    files = [Path(path) for path in paths]
    advice = adviser.advise(
        data, tree, request,
        lambda folder: data_set(files, hierarchy=reader.hierarchy_file, reading=reading.explicit_options()),
        secrets=None if named is None else lambda folder: secrets, queries=queries_file, share=part,
        encoding=encoding, deadline=deadline, jobs=jobs, seed=seed, progress=progress,
    )  # fmt: skip
    found = record(
        advice, inputs=paths, reading=reader.arguments(), hierarchy=reader.hierarchy_file, private=named,
        seed=seed,
    )  # fmt: skip
    if out is not None:
        progress("writing the page")
        write_page(out, advice_html(found))
    return Answer(found, lambda: _tell(found, out))


def _files(source: str | Sequence[str]) -> list[str]:
    """List the files of a source that can be read several times."""
    paths = [source] if isinstance(source, str) else list(source)
    if not paths:
        raise RequestError(
            "recommend reads the data several times: name files, not a query.",
            hint="`setveil convert OUTPUT --query SQL --connection URI` writes the rows to a file.",
        )
    if paths == ["-"]:
        raise RequestError("recommend reads the data several times: name a file, not standard input.")
    return paths


def _tell(found: Any, out: Path | None) -> None:
    """Print the advice in words; exit code 1 if nothing satisfies the guarantee."""
    from setveil.report.recommend.text import advice_text

    answer(advice_text(found))
    if out is not None:
        answer(f"\nPage       {out}")
    if found["best"] is None:
        raise click.exceptions.Exit(1)
