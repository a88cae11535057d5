"""The command ``recommend``."""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    GENERAL,
    MEASURES,
    Bundle,
    Force,
    HierarchyFiles,
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
from setveil.cli.tables import Columns, TableShare, read_table, share_of, split_hierarchies
from setveil.errors import RequestError

EXAMPLES = """Examples:

$ setveil recommend baskets.csv --k 5 --m 2

$ setveil recommend baskets.csv --k 5 --m 2 -H products.csv --time-budget 60

$ setveil recommend baskets.csv --k 5 --m 2 --rho 0.2 --sensitive secret.csv -H products.csv

$ setveil recommend patients.csv --k 5 --m 2 --qi age,sex --set codes"""


def _options(_asked: Sequence[str]) -> list[inspect.Parameter]:
    return [
        *model_options("km-anonymity", "k", "m"),
        *model_options("km-rho", "rho", "sensitive", "knows"),
        *model_options("coherence", "private", "h"),
    ]


def _asked(promise: dict[str, Any]) -> str:
    """Name the model that is asked for where it bounds what is learned of sensitive items; else empty."""
    from setveil.options.guarantees import require_options

    texts = {name: promise[name] for name in ("k", "m", "rho", "sensitive", "knows")}
    if not any(texts[name] is not None for name in ("rho", "sensitive", "knows")):
        return ""
    for name in ("private", "h"):
        if promise[name] is not None:
            raise RequestError(
                f"--{name} is of coherence; beside --rho and --sensitive it says nothing.",
                hint="Leave it out.",
            )
    asked = "km-rho" if any(texts[name] is not None for name in ("k", "m")) else "rho-uncertainty"
    require_options(asked, texts)
    return asked


def recommend(
    input: Input = None,  # noqa: A002
    hierarchy_files: HierarchyFiles = None,
    queries_file: Annotated[
        Path | None,
        typer.Option(
            "--queries-file",
            metavar="FILE",
            rich_help_panel=MEASURES,
            help="What the release is for: COUNT queries, one set of items per line.",
        ),
    ] = None,
    share: TableShare = None,
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
    columns: Columns,
    reading: Reading,
    json: Json = False,
) -> None:
    """Try what can keep the promise, and say which release loses least. No release is written."""

    def try_candidates(progress: Any) -> Any:
        from setveil.cli.files import read_rows, require_free, write_page
        from setveil.guarantees.coherence import Coherence
        from setveil.guarantees.km import KmAnonymity
        from setveil.guarantees.km_rho import PUBLIC, KmRho
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options import inputs
        from setveil.options.guarantees import require_options
        from setveil.staging import keep_private, private_folder, scratch_folder
        from setveil.studies.candidates import (
            GREATEST_PROBABILITY,
            candidates,
            inference_candidates,
            known_items,
            table_candidates,
            uncertainty_candidates,
        )
        from setveil.studies.plan import data_set
        from setveil.studies.recommend import recommend as advise
        from setveil.studies.recommend import record
        from setveil.studies.table_files import table_files
        from setveil.values.kinds import reference
        from setveil.values.numbers import parse_number

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
        private, h, rho = promise["private"], promise["h"], promise["rho"]
        of_tables = bool(columns.given)
        bounded = _asked(promise)
        if bounded and of_tables:
            raise RequestError(
                "--rho and --sensitive do not apply to tables: nothing that is tried hides what the rows of "
                "a class have in common.",
                hint="`setveil anonymize --model kkm --sensitive ITEMS --h 50%` does.",
            )
        if of_tables and private is not None:
            raise RequestError(
                "--private does not apply to tables: nothing that is tried hides what the rows of a class "
                "have in common.",
                hint="`setveil anonymize --model kkm --sensitive ITEMS --h 50%` does.",
            )
        part = share_of(share, of_tables)
        if h is not None and private is None:
            raise RequestError("--h goes with --private.")
        if not bounded:
            require_options("km-anonymity", {"k": promise["k"], "m": promise["m"]})
        known = math.inf if promise["m"] is None else parse_number("m", promise["m"])
        # Refused now rather than by every run.
        if bounded:
            KmRho(promise["k"] or 1, known, rho)
        elif private is None:
            KmAnonymity(promise["k"], known)
        else:
            Coherence(h or GREATEST_PROBABILITY, promise["k"], known)
        size = known if isinstance(known, int) else "inf"
        progress("reading")
        encoding = reading.text_encoding
        plain, _ = split_hierarchies(hierarchy_files or (), of_tables)
        hierarchy_file = None if plain is None or of_tables else Path(plain)
        tree = None if hierarchy_file is None else read_hierarchy(hierarchy_file, encoding=encoding)
        data: Any
        if of_tables:
            data, tree = read_table(source, columns, reading, hierarchy_files or ())
        else:
            data = read_rows(source, reading)
        named = promise["sensitive"] if bounded else private
        secrets: Any = None
        if named is not None:
            labels = inputs.load_labels(named, data, encoding)
            secrets = reference(Path(named)) if Path(named).is_file() else ",".join(labels)
        if queries_file is not None:  # refused now rather than by every run
            inputs.load_queries(
                data, queries_file, encoding, number=None, size=1, support=None, seed=0, progress=progress
            )
        words = reading.arguments()
        with scratch_folder() as folder:
            if of_tables:
                file, roles = table_files(data, folder)
                keep_private(folder)
                asked = data_set(file, name=Path(paths[0]).stem, roles=roles)
                tried = table_candidates(promise["k"], size, part)
                words += columns.arguments(hierarchy_files or ())
            else:
                files = [Path(path) for path in paths]
                asked = data_set(files, hierarchy=hierarchy_file, reading=reading.given())
                if bounded == "km-rho":
                    knows = promise["knows"] or PUBLIC
                    tried = inference_candidates(promise["k"], size, rho, secrets, knows)
                elif bounded:
                    tried = uncertainty_candidates(rho, secrets)
                else:
                    tried = candidates(promise["k"], size, secrets, h)
            advice = advise(
                asked, tried, private_folder(folder / "runs"), leaves=None if tree is None else tree.n_leaves,
                known=known_items(size),
                queries_file=None if queries_file is None else reference(queries_file),
                share=part if of_tables else None, asked=bounded,
                time_budget=time_budget, jobs=jobs, seed=seed, progress=progress,
            )  # fmt: skip
        found = record(
            advice, inputs=paths, reading=words, hierarchy=hierarchy_file, private=named, seed=seed
        )
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
