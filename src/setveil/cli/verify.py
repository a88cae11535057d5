"""The command ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    ANSWER,
    PROMISE,
    READING,
    Json,
    PublishedPromise,
    ReadHierarchy,
    Reading,
    integer,
    one_of,
)
from setveil.cli.session import answer, answer_json, run
from setveil.cli.tables import PublishedColumns, read_published, require_tables
from setveil.errors import DataError, RequestError
from setveil.guarantees import model_named, models
from setveil.options.decode import Given
from setveil.options.guarantees import make_guarantee, require_options, require_values

EXAMPLES = """Examples:

$ setveil verify release --k 5 --m 2

$ setveil verify theirs.csv --model k-anonymity --k 5

$ setveil verify theirs.csv --model kkm -k 5 -m 2 --qi age,sex --set codes"""


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of rows, a run's folder, or - .")],
    model: Annotated[
        str,
        typer.Option(
            "--model",
            rich_help_panel=PROMISE,
            **one_of("privacy model", models(), "The privacy model."),
        ),
    ] = "km-anonymity",
    original: Annotated[
        str | None,
        typer.Option(
            "--original",
            metavar="FILE",
            rich_help_panel=READING,
            help="Groups: the file they were made from; no row may be missing.",
        ),
    ] = None,
    recoding: Annotated[
        Path | None,
        typer.Option(
            "--recoding",
            metavar="FILE",
            rich_help_panel=READING,
            help="Constraints: csv of item,published; not needed for the folder of a run.",
        ),
    ] = None,
    read_as: Annotated[
        str,
        typer.Option(
            "--reading",
            rich_help_panel=PROMISE,
            **one_of(
                "reading", ("label", "cover"), "Of k^m-anonymity: labels as items, or as what they cover."
            ),
        ),
    ] = "label",
    hierarchy_file: ReadHierarchy = None,
    show: Annotated[
        int,
        typer.Option("--show", rich_help_panel=ANSWER, help="How many violations to list.", **integer(0)),
    ] = 10,
    *,
    promise: PublishedPromise,
    columns: PublishedColumns,
    reading: Reading,
    json: Json = False,
) -> None:
    """Check a promise from what is published alone; exit code 0 if it holds, 1 if not."""

    def check_promise(progress: Any) -> Any:
        from setveil.cli.files import load_image, read_release, read_rows
        from setveil.hierarchy.io import read_hierarchy
        from setveil.options.decode import require_file
        from setveil.published import kind_named
        from setveil.published.group_files import as_groups, require_in_groups
        from setveil.published.shared import counts_beside
        from setveil.published.table_files import PublishedTable
        from setveil.runs.check import check, require_reading

        if promise["privacy"] == "pgen":
            raise RequestError(
                "pgen reads the original.", hint="Write its itemsets first: setveil policy pgen."
            )
        described = model_named(model)
        known = described.knows
        if recoding is not None and "image" not in known:
            raise RequestError(f"--recoding is of no use for {model}.")
        require_reading(read_as, model, hierarchy=hierarchy_file is not None)
        require_file(hierarchy_file)
        require_options(model, promise, published=True)
        require_values(model, promise, reading.text_encoding)
        more: dict[str, Any] = {"show": max(show, 1), "progress": progress}
        progress("reading")
        if original is not None and "original" not in known:
            raise RequestError(f"--original is of no use for {model}.")
        kind = kind_named(described.release)
        published: Any
        require_tables(columns, model, described.release == "tables")
        if columns.given or (described.release == "tables" and not kind.holds(Path(file))):
            published = read_published(file, columns, reading)
        else:
            published = kind.read(file, read_release, **reading.given())
        rows: Any = published
        if not isinstance(published, PublishedTable):
            groups = as_groups(published)
            rows = groups.qid
        encoding = reading.text_encoding
        image = None
        if "original" in known:
            more["original"] = None if original is None else read_rows(original, reading)
        if "image" in known and (recoding is not None or promise["privacy"] != "all"):
            image = load_image(file, rows, recoding, encoding)
            more["image"] = {x: x for x in rows.vocabulary.labels} if image is None else image
        # Where the original may be known, the published rows need not hold the items that are named.
        given = Given(rows, encoding, image=image, named_here="original" not in known)
        try:
            guarantee = make_guarantee(model, promise, given)
        except DataError as error:
            if "image" in known and image is None:
                error.hint = "If items were published under other labels, name the --recoding file."
            raise
        if "original" in known:
            require_in_groups(guarantee.secrets, "--sensitive", groups, more["original"])
        for itemset in getattr(guarantee, "itemsets", None) or ():
            for item in itemset:
                more["image"].setdefault(item, None)  # the labels tell of no item that was suppressed
        if hierarchy_file is not None:
            more["cover"] = read_hierarchy(hierarchy_file, encoding=encoding)
        counts, about = counts_beside(file)
        verdict = check(published, guarantee, counts, about, **more)
        phrase = verdict.phrase if hierarchy_file is not None else guarantee.phrase
        return phrase, verdict, published if isinstance(published, PublishedTable) else None

    phrase, verdict, table = run(check_promise)
    found = verdict.as_dict()
    if table is not None:
        found["quasi_identifiers"] = [column.name for column in table.columns]
    if json:
        answer_json({**found, "first": found["first"][:show]})
    else:
        from setveil.report.verdict import verdict_text

        answer(verdict_text(found, phrase, show))
        if table is not None:
            answer(_columns_looked_at(table))
    if not verdict.holds:
        raise typer.Exit(1)


def _columns_looked_at(table: Any) -> str:
    """Say which columns were taken as quasi-identifiers, and which the promise says nothing of."""
    known = ", ".join(column.name for column in table.columns)
    others = [*(column.name for column in table.kept), *table.ignored]
    rest = f"; the promise says nothing of {', '.join(others)}" if others else ""
    return f"quasi-identifiers: {known}; items: {table.set_name}{rest}"
