"""The command ``measure``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setveil.cli.options import HierarchyFile, Json, Reading
from setveil.cli.session import answer, answer_json, run
from setveil.errors import RequestError

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.options.reading import Reading as ReadingOptions

_QUERIES = "Queries"
_ITEMSETS = "Itemsets"


def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The file that was anonymized.")],
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A run's folder, its published/, or a file of rows.")
    ],
    hierarchy_file: HierarchyFile = None,
    queries: Annotated[
        int | None,
        typer.Option(
            "--queries", min=1, rich_help_panel=_QUERIES, help="Answer so many random COUNT queries (ARE)."
        ),
    ] = None,
    query_size: Annotated[
        int | None,
        typer.Option("--query-size", min=1, rich_help_panel=_QUERIES, help="Items per query (default 2)."),
    ] = None,
    query_support: Annotated[
        int | None,
        typer.Option(
            "--query-support",
            min=1,
            rich_help_panel=_QUERIES,
            help="Ask only for itemsets that at least so many rows hold.",
        ),
    ] = None,
    queries_file: Annotated[
        Path | None,
        typer.Option(
            "--queries-file", rich_help_panel=_QUERIES, help="Your own queries: one set of items a line."
        ),
    ] = None,
    group_by: Annotated[
        int | None,
        typer.Option(
            "--group-by",
            min=1,
            rich_help_panel=_QUERIES,
            help="Groups: items that a group-by query is over (default 4).",
        ),
    ] = None,
    seed: Annotated[
        int, typer.Option("--seed", min=0, rich_help_panel=_QUERIES, help="Draws the queries.")
    ] = 0,
    itemsets: Annotated[
        int | None,
        typer.Option(
            "--itemsets",
            min=1,
            rich_help_panel=_ITEMSETS,
            help="Count the itemsets in at least so many rows, and how many of them survive unchanged.",
        ),
    ] = None,
    itemset_length: Annotated[
        int | None,
        typer.Option("--itemset-length", min=1, rich_help_panel=_ITEMSETS, help="Of at most so many items."),
    ] = None,
    private: Annotated[
        str | None,
        typer.Option(
            "--private", rich_help_panel=_ITEMSETS, help="Also count rules from other items to these."
        ),
    ] = None,
    *,
    reading: Reading,
    json: Json = False,
) -> None:
    """Measure what a release lost, recomputed from the two files.

    What the published labels stand for is read from about.json beside the published file, or from
    --hierarchy.
    """
    asked = {
        "--hierarchy": hierarchy_file, "--queries": queries, "--query-size": query_size,
        "--query-support": query_support, "--queries-file": queries_file, "--group-by": group_by,
        "--itemsets": itemsets, "--itemset-length": itemset_length, "--private": private,
    }  # fmt: skip

    def measure_release(progress: Any) -> Any:
        from setveil.cli.files import read_as, read_rows
        from setveil.published import kind_at

        progress("reading")
        before = read_rows(original, reading)
        kind = kind_at(release)
        of_kind = {"measure": _measure_rows, "measure_groups": _measure_groups}[kind.info.measure]
        what, useless = _USELESS[kind.info.measure]
        _refuse(what, {name: asked[name] for name in useless})
        return of_kind(before, lambda: kind.read(release, read_as), release, asked, seed, reading, progress)

    found, text = run(measure_release)
    if json:
        answer_json(found)
    else:
        answer(text)


_USELESS = {
    "measure": ("rows that are not in groups", ("--group-by",)),
    "measure_groups": (
        "rows in groups",
        (
            "--query-size", "--query-support", "--queries-file", "--itemsets", "--itemset-length",
            "--private", "--hierarchy",
        ),
    ),
}  # fmt: skip


def _measure_rows(
    before: Transactions,
    read: Callable[[], Any],
    release: str,
    asked: dict[str, Any],
    seed: int,
    reading: ReadingOptions,
    progress: Any,
) -> Any:
    from setveil.cli.files import load_meaning
    from setveil.hierarchy.io import read_hierarchy
    from setveil.options.inputs import load_labels, load_queries
    from setveil.report.measures import measures_text
    from setveil.utility.itemsets import surviving_itemsets
    from setveil.utility.measure import measure as measure_all
    from setveil.utility.supports import label_supports

    itemsets, tree_file, encoding = asked["--itemsets"], asked["--hierarchy"], reading.text_encoding
    if itemsets is None:
        useless = {name: asked[name] for name in ("--itemset-length", "--private")}
        _refuse("a measure without --itemsets", useless)
    after = read()
    tree = None if tree_file is None else read_hierarchy(tree_file, encoding=encoding)
    recoding = load_meaning(release, before, after, tree)
    queries = load_queries(
        before, asked["--queries-file"], encoding, number=asked["--queries"],
        size=asked["--query-size"] or 2, support=asked["--query-support"], seed=seed, progress=progress,
    )  # fmt: skip
    progress("measuring")
    utility = measure_all(before, after, recoding, hierarchy=tree, queries=queries, progress=progress)
    if itemsets is not None:
        utility["itemsets"] = surviving_itemsets(
            before, after, itemsets, max_length=asked["--itemset-length"],
            private=load_labels(asked["--private"], before, encoding), progress=progress,
        )  # fmt: skip
    labels = label_supports(before, after, recoding)
    rows = {"original": before.n_rows, "release": after.n_rows}
    text = measures_text(utility, labels, rows, before.n_occurrences, recoding.kind)
    return {"utility": utility, "rows": rows, "labels": labels}, text


def _measure_groups(
    before: Transactions,
    read: Callable[[], Any],
    _release: str,
    asked: dict[str, Any],
    seed: int,
    _reading: ReadingOptions,
    progress: Any,
) -> Any:
    from setveil.report.measures import group_measures_text
    from setveil.utility.measure import measure_groups

    groups = read()
    progress("measuring")
    utility = measure_groups(
        before, groups, group_by=asked["--group-by"] or 4, queries=asked["--queries"] or 1000, seed=seed,
        progress=progress,
    )  # fmt: skip
    rows = {"original": before.n_rows, "release": groups.qid.n_rows}
    return {"utility": utility, "rows": rows}, group_measures_text(utility, rows)


def _refuse(what: str, options: dict[str, Any]) -> None:
    """Refuse options that were given but mean nothing here."""
    given = [name for name, value in options.items() if value is not None]
    if given:
        raise RequestError(f"{', '.join(given)}: of no use for {what}.")
