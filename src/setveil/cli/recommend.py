"""The command ``recommend``."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    GENERAL,
    MEASURES,
    Bundle,
    Force,
    HierarchyFile,
    Input,
    Json,
    Page,
    QuerySeed,
    Reading,
    integer,
    model_options,
    number,
    source_of,
)
from setveil.cli.session import answer, answer_json, run
from setveil.errors import RequestError

EXAMPLES = """Examples:

$ setveil recommend baskets.csv --k 5 --m 2

$ setveil recommend baskets.csv --k 5 --m 2 -H products.csv --time-budget 60"""


def _options(_asked: Sequence[str]) -> list[inspect.Parameter]:
    return [*model_options("km-anonymity", "k", "m"), *model_options("coherence", "private", "h")]


def recommend(
    input: Input = None,  # noqa: A002
    hierarchy_file: HierarchyFile = None,
    queries_file: Annotated[
        Path | None,
        typer.Option(
            "--queries-file",
            metavar="FILE",
            rich_help_panel=MEASURES,
            help="What the release is for: COUNT queries, one set of items per line.",
        ),
    ] = None,
    time_budget: Annotated[
        float,
        typer.Option(
            "--time-budget",
            rich_help_panel=GENERAL,
            help="For everything that is tried.",
            **number(1, "SECONDS"),
        ),
    ] = 120,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            rich_help_panel=GENERAL,
            help="Runs at the same time; by default one per processor.",
            **integer(1),
        ),
    ] = None,
    seed: QuerySeed = 0,
    out: Page = None,
    force: Force = False,
    *,
    promise: Annotated[dict[str, Any], Bundle(_options)],
    reading: Reading,
    json: Json = False,
) -> None:
    """Try what can keep the promise, and say which release loses least. No release is written."""

    def try_candidates(progress: Any) -> Any:
        import tempfile

        from setveil.cli.files import read_rows, require_free, write_page
        from setveil.guarantees.coherence import Coherence
        from setveil.guarantees.km import KmAnonymity
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options import inputs
        from setveil.options.guarantees import require_options
        from setveil.options.numbers import parse_number
        from setveil.studies.plan import data_set
        from setveil.studies.recommend import GREATEST_PROBABILITY, candidates, known_items, record
        from setveil.studies.recommend import recommend as advise
        from setveil.studies.settings import reference

        if out is not None:
            if out.suffix.lower() not in {".html", ".htm"}:
                raise RequestError(f"--out must name a page such as advice.html, got {out}.")
            require_free(out, force)
        source = source_of(input, reading)
        paths = [source] if isinstance(source, str) else list(source)
        if not paths:
            raise RequestError(
                "recommend reads the data several times: name files, not a query.",
                hint="`setveil convert OUTPUT --query SQL --connection URI` writes the rows to a file.",
            )
        if paths == ["-"]:
            raise RequestError("recommend reads the data several times: name a file, not standard input.")
        private, h = promise["private"], promise["h"]
        if h is not None and private is None:
            raise RequestError("--h goes with --private.")
        require_options("km-anonymity", {"k": promise["k"], "m": promise["m"]})
        known = parse_number("m", promise["m"])
        if private is None:  # refused now rather than by every run
            KmAnonymity(promise["k"], known)
        else:
            Coherence(h or GREATEST_PROBABILITY, promise["k"], known)
        size = known if isinstance(known, int) else "inf"
        progress("reading")
        encoding = reading.text_encoding
        data = read_rows(source, reading)
        leaves = None
        if hierarchy_file is not None:
            leaves = read_hierarchy(hierarchy_file, encoding=encoding).n_leaves
        secrets: Any = None
        if private is not None:
            labels = inputs.load_labels(private, data, encoding)
            secrets = reference(Path(private)) if Path(private).is_file() else ",".join(labels)
        if queries_file is not None:  # refused now rather than by every run
            inputs.load_queries(
                data, queries_file, encoding, number=None, size=1, support=None, seed=0, progress=progress
            )
        asked = data_set([Path(path) for path in paths], hierarchy=hierarchy_file, reading=reading.given())
        with tempfile.TemporaryDirectory(prefix="setveil-") as folder:
            advice = advise(
                asked, candidates(promise["k"], size, secrets, h), Path(folder), leaves=leaves,
                known=known_items(size),
                queries_file=None if queries_file is None else reference(queries_file),
                time_budget=time_budget, jobs=jobs, seed=seed, progress=progress,
            )  # fmt: skip
        found = record(
            advice, inputs=paths, reading=reading.arguments(), hierarchy=hierarchy_file, private=private,
            seed=seed,
        )  # fmt: skip
        if out is not None:
            from setveil.report.advice_page import advice_html

            progress("writing the page")
            write_page(out, advice_html(found))
        return found

    found = run(try_candidates)
    if json:
        answer_json(found)
        return
    from setveil.report.advice import advice_text

    answer(advice_text(found))
    if out is not None:
        answer(f"\nPage       {out}")
    if found["best"] is None:
        raise typer.Exit(1)
