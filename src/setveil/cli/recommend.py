"""The command ``recommend``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    Encoding,
    Format,
    HierarchyFile,
    IdColumn,
    Input,
    ItemColumn,
    Json,
    Separator,
)
from setveil.cli.session import answer, answer_json, run
from setveil.errors import RequestError


def recommend(
    input: Input,  # noqa: A002
    k: Annotated[int, typer.Option("--k", "-k", min=1, help="Everyone hides among at least k rows.")],
    m: Annotated[
        str, typer.Option("--m", "-m", help="Items of a person that an attacker may know: 1, 2, ... or inf.")
    ],
    hierarchy_file: HierarchyFile = None,
    private: Annotated[
        str | None,
        typer.Option("--private", help="Items that nobody may learn, a file or a list with commas."),
    ] = None,
    h: Annotated[
        str | None,
        typer.Option("--h", help="With --private: greatest probability of one of them (default 0.5)."),
    ] = None,
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
    format: Format = None,  # noqa: A002
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    json: Json = False,
) -> None:
    """Try what can keep the promise, and say which release loses least. Nothing is written."""

    def work(progress: Any) -> Any:
        import tempfile

        from setveil.cli.files import read_rows
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options import inputs
        from setveil.options.numbers import parse_number
        from setveil.studies.plan import data_set
        from setveil.studies.recommend import candidates
        from setveil.studies.recommend import recommend as advise
        from setveil.studies.settings import reference

        if input == "-":
            raise RequestError("recommend reads the data several times: name a file, not standard input.")
        if h is not None and private is None:
            raise RequestError("--h goes with --private.")
        known = parse_number("m", m)
        size = known if isinstance(known, int) else "inf"
        progress("reading")
        reading = {
            "format": format, "separator": separator, "id_column": id_column, "item_column": item_column,
            "encoding": encoding,
        }  # fmt: skip
        given = {name: value for name, value in reading.items() if value is not None}
        data = read_rows(input, **given)
        leaves = None
        if hierarchy_file is not None:
            leaves = read_hierarchy(hierarchy_file, encoding=encoding).n_leaves
        hidden: Any = None
        if private is not None:
            labels = inputs.load_labels(private, data, encoding)
            hidden = reference(Path(private)) if Path(private).is_file() else ",".join(labels)
        if queries_file is not None:  # refused now rather than by every run
            inputs.load_queries(
                data, queries_file, encoding, number=None, size=1, support=None, seed=0, progress=progress
            )
        asked = data_set(Path(input), hierarchy=hierarchy_file, reading=given)
        with tempfile.TemporaryDirectory(prefix="setveil-") as folder:
            return advise(
                asked, candidates(k, size, hidden, h), Path(folder), leaves=leaves,
                known=min(known + 1, 4) if isinstance(known, int) else 4,
                queries_file=None if queries_file is None else reference(queries_file),
                time_budget=time_budget, jobs=jobs, seed=seed, progress=progress,
            )  # fmt: skip

    advice = run(work)
    if json:
        answer_json({"by": advice.by, "best": advice.best, "candidates": advice.rows})
        return
    from setveil.report.advice import advice_text

    tree = hierarchy_file if advice.needs_hierarchy else None
    answer(advice_text(advice.by, advice.rows, input, tree, private))
    if advice.best is None:
        raise typer.Exit(1)
