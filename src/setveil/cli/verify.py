"""The command ``verify``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    Encoding,
    Format,
    H,
    IdColumn,
    ItemColumn,
    Json,
    K,
    M,
    P,
    Privacy,
    Private,
    Sensitive,
    Separator,
)
from setveil.cli.session import answer, answer_json, run
from setveil.errors import DataError, RequestError
from setveil.options.promises import MODELS, make_guarantee, require_options


def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of rows, a run's folder, or - .")],
    model: Annotated[
        str, typer.Option("--model", help=f"The privacy model: {', '.join(MODELS)}.")
    ] = "km-anonymity",
    k: K = None,
    m: M = None,
    privacy: Privacy = None,
    h: H = None,
    p: P = None,
    private: Private = None,
    sensitive: Sensitive = None,
    original: Annotated[
        str | None,
        typer.Option("--original", help="Groups: the file they were made from; no row may be missing."),
    ] = None,
    recoding: Annotated[
        Path | None,
        typer.Option(
            "--recoding", help="Constraints: csv of item,published; not needed for the folder of a run."
        ),
    ] = None,
    show: Annotated[int, typer.Option("--show", min=0, help="How many violations to list.")] = 10,
    format: Format = None,  # noqa: A002
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    json: Json = False,
) -> None:
    """Check a promise on any file from its rows alone; exit code 0 if it holds, 1 if not."""

    def work(progress: Any) -> Any:
        from setveil.cli.files import load_image, read_rows
        from setveil.guarantees.verify import must_know
        from setveil.guarantees.verify import verify as verify_rows
        from setveil.published import kind_of_model
        from setveil.published.group_files import as_groups

        reading = {
            "format": format, "encoding": encoding, "separator": separator, "id_column": id_column,
            "item_column": item_column,
        }  # fmt: skip
        if privacy == "pgen":
            raise RequestError(
                "pgen reads the original.", hint="Write its itemsets first: setveil policy pgen."
            )
        known = must_know(model)
        if recoding is not None and "image" not in known:
            raise RequestError(f"--recoding is of no use for {model}.")
        options = {
            "k": k, "m": m, "privacy": privacy, "h": h, "p": p, "private": private, "sensitive": sensitive
        }  # fmt: skip
        require_options(model, options)
        more: dict[str, Any] = {"show": max(show, 1), "progress": progress}
        progress("reading")
        if original is not None and "original" not in known:
            raise RequestError(f"--original is of no use for {model}.")
        published = kind_of_model(model).read(file, read_rows, **reading)
        rows = as_groups(published).qid
        told: dict[str, Any] = {}
        image = None
        if "original" in known:
            more["original"] = None if original is None else read_rows(original, **reading)
            told["check"] = False  # the published rows hold no sensitive item
        if "image" in known:
            told["image"] = image = load_image(file, rows, recoding, encoding)
            more["image"] = {x: x for x in rows.vocabulary.labels} if image is None else image
        try:
            guarantee = make_guarantee(model, options, rows, encoding, **told)
        except DataError as error:
            if "image" in known and image is None:
                error.hint = "If items were published under other labels, name the --recoding file."
            raise
        for itemset in getattr(guarantee, "itemsets", None) or ():
            for item in itemset:
                more["image"].setdefault(item, None)  # the labels tell of no item that was suppressed
        return guarantee.phrase, verify_rows(published, guarantee, **more)

    phrase, verdict = run(work)
    found = verdict.as_dict()
    if json:
        answer_json({**found, "first": found["first"][:show]})
    else:
        from setveil.report.verdict import verdict_text

        answer(verdict_text(found, phrase, show))
    if not verdict.holds:
        raise typer.Exit(1)
