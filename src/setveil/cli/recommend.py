"""The command ``recommend``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import Bundle, HierarchyFile, Input, Json, Reading, model_options
from setveil.cli.session import answer, answer_json, run
from setveil.errors import RequestError


def _options() -> list[inspect.Parameter]:
    return [*model_options("km-anonymity", "k", "m"), *model_options("coherence", "private", "h")]


def recommend(
    input: Input,  # noqa: A002
    hierarchy_file: HierarchyFile = None,
    queries_file: Annotated[
        Path | None,
        typer.Option(
            "--queries-file", help="What the release is for: COUNT queries, one set of items a line."
        ),
    ] = None,
    time_budget: Annotated[
        float, typer.Option("--time-budget", min=1, help="Seconds for everything that is tried.")
    ] = 120,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Runs at the same time; by default one per processor."),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Draws the queries that are measured.")] = 0,
    *,
    promise: Annotated[dict[str, Any], Bundle(_options)],
    reading: Reading,
    json: Json = False,
) -> None:
    """Try what can keep the promise, and say which release loses least. Nothing is written."""

    def try_candidates(progress: Any) -> Any:
        import tempfile

        from setveil.cli.files import read_rows
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options import inputs
        from setveil.options.guarantees import require_options
        from setveil.options.numbers import parse_number
        from setveil.studies.plan import data_set
        from setveil.studies.recommend import candidates
        from setveil.studies.recommend import recommend as advise
        from setveil.studies.settings import reference

        if input == "-":
            raise RequestError("recommend reads the data several times: name a file, not standard input.")
        private, h = promise["private"], promise["h"]
        if h is not None and private is None:
            raise RequestError("--h goes with --private.")
        require_options("km-anonymity", {"k": promise["k"], "m": promise["m"]})
        if promise["k"] < 1:
            raise RequestError(f"k must be an integer of at least 1, got {promise['k']}.")
        known = parse_number("m", promise["m"])
        size = known if isinstance(known, int) else "inf"
        progress("reading")
        encoding = reading.text_encoding
        data = read_rows(input, reading)
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
        asked = data_set(Path(input), hierarchy=hierarchy_file, reading=reading.given())
        with tempfile.TemporaryDirectory(prefix="setveil-") as folder:
            return advise(
                asked, candidates(promise["k"], size, secrets, h), Path(folder), leaves=leaves,
                known=min(known + 1, 4) if isinstance(known, int) else 4,
                queries_file=None if queries_file is None else reference(queries_file),
                time_budget=time_budget, jobs=jobs, seed=seed, progress=progress,
            )  # fmt: skip

    advice = run(try_candidates)
    if json:
        answer_json({"by": advice.by, "best": advice.best, "candidates": advice.rows})
        return
    from setveil.report.advice import advice_text

    tree = hierarchy_file if advice.needs_hierarchy else None
    answer(advice_text(advice.by, advice.rows, input, tree, promise["private"]))
    if advice.best is None:
        raise typer.Exit(1)
