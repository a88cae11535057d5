"""The commands ``demo``, ``anonymize``, ``verify``, ``measure``, ``convert`` and ``algorithms``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import setveil
from setveil import algorithms as registry
from setveil.cli import anonymize, hierarchy
from setveil.cli.options import (
    Encoding,
    Format,
    HierarchyFile,
    IdColumn,
    Input,
    ItemColumn,
    Json,
    K,
    M,
    Seed,
    Separator,
)
from setveil.cli.promises import MODELS, make_guarantee, require_options
from setveil.cli.session import answer, answer_json, run, say

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,  # its tracebacks show variables, and these hold data
    help="Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked "
    "from the published rows.",
    epilog="Exit codes: 0 done; 1 the guarantee does not hold; 2 usage; 3 no release can satisfy "
    "the request; 4 unreadable or inconsistent data.",
)
app.add_typer(hierarchy.app, name="hierarchy")


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # labels that the terminal cannot show
    app(prog_name="setveil")


def _version(wanted: bool) -> None:
    if wanted:
        answer(f"setveil {setveil.__version__}")
        raise typer.Exit


@app.callback()
def _setveil(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")] = Path("setveil-demo"),
    rows: Annotated[int, typer.Option("--rows", min=10, help="Number of baskets to make up.")] = 5000,
    seed: Seed = 0,
) -> None:
    """Anonymize a made-up grocery sample, verify it, and explain the result."""

    def work(progress: Any) -> Any:
        from setveil.cli.demo import run_demo

        return run_demo(out, rows, seed, progress)

    _, report, sample = run(work)
    from setveil.report.summary import summary

    answer(
        f"{rows:,} made-up grocery baskets, anonymized with a product hierarchy of three levels.\n\n"
        f"{summary(report)}\n\n"
        f"The run's folder is {out}. Look at {out / 'internal' / 'report.html'} in a browser.\n"
        f"The made-up input is in {sample}. The same by hand:\n\n"
        f"    setveil anonymize {sample / 'baskets.csv'} --hierarchy {sample / 'products.csv'} "
        "--k 5 --m 2 --out DIR"
    )


app.command()(anonymize.anonymize)


@app.command()
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of rows, a run's folder, or - .")],
    model: Annotated[
        str, typer.Option("--model", help=f"What to check: {', '.join(MODELS)}.")
    ] = "km-anonymity",
    k: K = None,
    m: M = None,
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
        from setveil.cli.files import load_published
        from setveil.guarantees.verify import verify as verify_rows

        options = {"k": k, "m": m}
        require_options(model, options)
        progress("reading")
        data = load_published(
            file, format=format, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        guarantee = make_guarantee(model, options, data, encoding)
        return guarantee.phrase, verify_rows(data, guarantee, show=max(show, 1), progress=progress)

    phrase, verdict = run(work)
    if json:
        answer_json({**verdict.as_dict(), "first": verdict.as_dict()["first"][:show]})
    else:
        from setveil.report.verdict import verdict_text

        answer(verdict_text(verdict.as_dict(), phrase, show))
    if not verdict.holds:
        raise typer.Exit(1)


@app.command()
def measure(
    original: Annotated[str, typer.Argument(metavar="ORIGINAL", help="The file that was anonymized.")],
    release: Annotated[
        str, typer.Argument(metavar="RELEASE", help="A run's folder, its published/, or a file of rows.")
    ],
    hierarchy_file: HierarchyFile = None,
    format: Format = None,  # noqa: A002
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    json: Json = False,
) -> None:
    """Measure what a release lost, recomputed from the two files.

    What the published labels stand for is read from about.json beside the published file, or from
    --hierarchy.
    """

    def work(progress: Any) -> Any:
        from setveil.cli.files import load_meaning, load_published, read_rows
        from setveil.utility.measure import measure as measure_all
        from setveil.utility.supports import label_supports

        progress("reading")
        before = read_rows(
            original, format=format, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        after = load_published(release)
        recoding = load_meaning(release, before, after, hierarchy_file, encoding)
        progress("measuring")
        labels = label_supports(before, after, recoding)
        return measure_all(before, after, recoding), labels, before, after, recoding.kind

    utility, labels, before, after, kind = run(work)
    rows = {"original": before.n_rows, "release": after.n_rows}
    if json:
        answer_json({"utility": utility, "rows": rows, "labels": labels})
    else:
        from setveil.report.measures import measures_text

        answer(measures_text(utility, labels, rows, before.n_occurrences, kind))


@app.command()
def convert(
    input: Input,  # noqa: A002
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write; its extension tells the format.")
    ],
    to: Annotated[
        str | None, typer.Option("--to", help="Format to write, where the extension does not tell it.")
    ] = None,
    format: Format = None,  # noqa: A002
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT.")] = False,
) -> None:
    """Rewrite a file of rows in another format. Rows keep their order."""

    def work(progress: Any) -> Any:
        from setveil.cli.files import convert_file, read_rows

        progress("reading")
        data = read_rows(
            input, format=format, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        progress("writing")
        return data, convert_file(data, output, to, force=force)

    data, layout = run(work)
    say(f"{output}: {data.n_rows:,} rows, {data.n_occurrences:,} occurrences, {layout.format}.")


@app.command()
def algorithms(json: Json = False) -> None:
    """List the algorithms: what they promise, what they need, where they come from."""

    def work(progress: Any) -> Any:
        return {name: registry.load(name).info for name in registry.names()}

    infos = run(work)
    if json:
        from dataclasses import asdict

        answer_json({name: asdict(info) for name, info in infos.items()})
        return
    for name, info in infos.items():
        answer(
            f"{name:<6} {info.title}\n"
            f"       {info.summary}\n"
            f"       gives {', '.join(info.guarantees)}; needs {', '.join(info.needs) or 'the data alone'}\n"
            f"       {info.reference}"
        )
