"""The command ``measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import MEASURES, Json, ReadHierarchies, Reading, integer_settings, one_of, source_of
from setveil.cli.session import answer, answer_json, run
from setveil.cli.tables import Columns, read_table, require_tables, split_hierarchies

_QUERIES = f"{MEASURES}: queries"
_ITEMSETS = f"{MEASURES}: itemsets"

EXAMPLES = """Examples:

$ setveil measure baskets.csv release --queries 1000

$ setveil measure baskets.csv theirs.csv --hierarchy products.csv

$ setveil measure patients.csv release --roles roles.toml"""


def measure(
    original: Annotated[
        list[str], typer.Argument(metavar="ORIGINAL", help="The files that were anonymized.")
    ],
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A run's folder, its published/, or a file of rows.")
    ],
    hierarchy_files: ReadHierarchies = None,
    queries: Annotated[
        int | None,
        typer.Option(
            "--queries",
            rich_help_panel=_QUERIES,
            help="Answer N random COUNT queries (ARE).",
            **integer_settings(1),
        ),
    ] = None,
    query_size: Annotated[
        int | None,
        typer.Option(
            "--query-size",
            rich_help_panel=_QUERIES,
            help="Items per query (default 2).",
            **integer_settings(1),
        ),
    ] = None,
    query_support: Annotated[
        int | None,
        typer.Option(
            "--query-support",
            **integer_settings(1),
            rich_help_panel=_QUERIES,
            help="Ask only for itemsets in at least N rows.",
        ),
    ] = None,
    queries_file: Annotated[
        Path | None,
        typer.Option(
            "--queries-file",
            metavar="FILE",
            rich_help_panel=_QUERIES,
            help="Your own queries: one set of items per line.",
        ),
    ] = None,
    group_by: Annotated[
        int | None,
        typer.Option(
            "--group-by",
            **integer_settings(1),
            rich_help_panel=_QUERIES,
            help="Groups: items of a group-by query (default 4).",
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option("--seed", rich_help_panel=_QUERIES, help="Draws the queries.", **integer_settings(0)),
    ] = 0,
    itemsets: Annotated[
        int | None,
        typer.Option(
            "--itemsets",
            **integer_settings(1),
            rich_help_panel=_ITEMSETS,
            help="Count the itemsets in at least N rows, and how many of them survive unchanged.",
        ),
    ] = None,
    itemset_length: Annotated[
        int | None,
        typer.Option(
            "--itemset-length", rich_help_panel=_ITEMSETS, help="Of at most N items.", **integer_settings(1)
        ),
    ] = None,
    private: Annotated[
        str | None,
        typer.Option(
            "--private",
            metavar="ITEMS",
            rich_help_panel=_ITEMSETS,
            help="Also count rules from other items to these.",
        ),
    ] = None,
    estimator: Annotated[
        str | None,
        typer.Option(
            "--estimator",
            rich_help_panel=_QUERIES,
            **one_of(
                "estimator",
                ("entropy", "uniform"),
                "How a reader estimates: by the counts, if there are any, or from the rows alone.",
            ),
        ),
    ] = None,
    *,
    columns: Columns,
    reading: Reading,
    json: Json = False,
) -> None:
    """Measure what a release lost, recomputed from the two files.

    What the published labels stand for is read from about.json beside the published file, or from
    --hierarchy.
    """
    asked: dict[str, Any] = {
        "hierarchy": hierarchy_files or None, "query_size": query_size, "query_support": query_support,
        "queries_file": queries_file, "group_by": group_by, "itemsets": itemsets,
        "itemset_length": itemset_length, "private": private, "estimator": estimator,
    }  # fmt: skip

    def measure_release(progress: Any) -> Any:
        from setveil.cli.files import read_release, read_rows, require_room
        from setveil.cli.reconstruct import measure_draws
        from setveil.commands.measure import losses, require_useful
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.decode import require_file
        from setveil.options.inputs import load_labels, load_queries
        from setveil.published import kind_at, kind_named
        from setveil.published.about import reconstruction_at
        from setveil.report.measures import measures_text
        from setveil.utility.supports import label_supports

        encoding = reading.text_encoding
        if reconstruction_at(Path(release)) is not None:
            useless = {name: asked[name] for name in ("hierarchy", "group_by", "private")}
            require_useful(useless, asked, "a reconstruction")
            how = {
                "number": queries, "size": query_size, "support": query_support, "path": queries_file,
                "seed": seed,
            }  # fmt: skip
            return measure_draws(original, release, reading, how, (itemsets, itemset_length), progress)
        kind = kind_at(release)
        of_tables = kind is kind_named("tables")
        require_tables(columns, "the release", of_tables or not Path(release).exists())
        if of_tables:
            asked.pop("hierarchy")
        useless = {name: value for name, value in asked.items() if name not in kind.info.asks}
        require_useful(useless, asked, kind.info.title)
        source = source_of(original, reading)
        plain, _ = split_hierarchies(hierarchy_files or (), of_tables)
        hierarchy_file = None if plain is None else Path(plain)
        for path in (hierarchy_file, queries_file):
            require_file(path)
        progress("reading")
        tree = None
        before: Any
        if of_tables:
            before, _ = read_table(source, columns, reading, hierarchy_files or ())
        else:
            require_room(source, lambda: "`setveil anonymize --engine parts` measures what it makes.")
            before = read_rows(source, reading)
            tree = None if hierarchy_file is None else read_hierarchy(hierarchy_file, encoding=encoding)
        exposed = kind.read(release, read_release)
        parts = kind.measurable(release, exposed, before, tree)
        wanted: Any = ()
        if "query_size" in kind.info.asks:
            wanted = load_queries(
                before, queries_file, encoding, number=queries, size=query_size or 2, support=query_support,
                seed=seed, progress=progress,
            )  # fmt: skip
        progress("measuring")
        utility, case = losses(
            before, parts, hierarchy=tree, queries=wanted, group_by=group_by, number=queries, seed=seed,
            estimator=estimator, itemsets=itemsets, itemset_length=itemset_length,
            private=load_labels(private, before, encoding), progress=progress,
        )  # fmt: skip
        rows = {"original": before.n_rows, "release": case.published.n_rows}
        labels = [] if case.recoding is None else label_supports(before, case.published, case.recoding)
        text = measures_text(utility, labels, rows, before.n_occurrences, case.kind)
        told = {} if case.recoding is None else {"labels": labels}
        return {"utility": utility, "rows": rows, **told}, text

    found, text = run(measure_release)
    if json:
        answer_json(found)
    else:
        answer(text)
