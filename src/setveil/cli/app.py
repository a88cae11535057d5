"""The commands ``demo``, ``anonymize``, ``verify``, ``measure``, ``convert`` and ``algorithms``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

import setveil
from setveil import algorithms as registry
from setveil.cli import hierarchy
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
    Separator,
    parse_m,
    parse_share,
)
from setveil.cli.session import answer, answer_json, run, say
from setveil.errors import MissingItemsError

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


Algorithm = Annotated[
    str,
    typer.Option(
        "--algorithm", "-a", help=f"One of {', '.join(registry.names())} (see `setveil algorithms`)."
    ),
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Shuffles the published rows; same seed, same bytes.")
]
Force = Annotated[bool, typer.Option("--force", help="Replace the folder of an earlier run.")]


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


@app.command()
def anonymize(
    input: Input,  # noqa: A002
    k: K,
    m: M,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Folder to write: published/ to hand out, internal/ to keep.")
    ],
    algorithm: Algorithm = "exact",
    hierarchy_file: HierarchyFile = None,
    suppress: Annotated[
        bool | None,
        typer.Option("--suppress/--no-suppress", help="exact: items may also be suppressed (the default)."),
    ] = None,
    max_suppressed: Annotated[
        str | None, typer.Option("--max-suppressed", help="exact: of all occurrences, at most e.g. 5%.")
    ] = None,
    objective: Annotated[
        str | None,
        typer.Option(
            "--objective", help="exact: minimize ncp or lm (default: lm with suppression, else ncp)."
        ),
    ] = None,
    keep: Annotated[
        Path | None, typer.Option("--keep", help="exact: file of items to publish as themselves.")
    ] = None,
    weights: Annotated[
        Path | None,
        typer.Option("--weights", help="exact: file of lines item,number; it multiplies the item's loss."),
    ] = None,
    gap: Annotated[
        float | None, typer.Option("--gap", help="exact: stop at 0.01 (1 per cent) from the optimum, say.")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option("--time-limit", help="exact, --bound: seconds, then the best so far (default 300)."),
    ] = None,
    bound: Annotated[
        bool, typer.Option("--bound", help="Others: also find how far the release is from the optimum.")
    ] = False,
    refine: Annotated[
        bool,
        typer.Option("--refine", help="Others: split nodes of the final cut again while it stays valid."),
    ] = False,
    seed: Seed = 0,
    format: Format = None,  # noqa: A002
    output_format: Annotated[
        str | None, typer.Option("--output-format", help="Format of the published file, if not the input's.")
    ] = None,
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    force: Force = False,
    json: Json = False,
) -> None:
    """Make a release that keeps the promise, verify it and write it."""

    def work(progress: Any) -> Any:
        from setveil.cli.files import (
            extension_hint,
            load_hierarchy,
            load_items,
            load_weights,
            read_rows,
            split_format,
        )
        from setveil.compare.folder import require_writable
        from setveil.compare.run import anonymize as run_anonymize
        from setveil.compare.run import timed
        from setveil.guarantees.km import KmAnonymity

        guarantee = KmAnonymity(k, parse_m(m))
        require_writable(out, force=force)
        timing: dict[str, float] = {}
        progress("reading")
        reads, publishes = split_format(input, format)
        data = read_rows(
            input, format=reads, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        tree, record = None, {"timing": timing}
        if hierarchy_file is not None:
            tree, record["hierarchy"] = timed(
                timing, "hierarchy", lambda: load_hierarchy(hierarchy_file, encoding)
            )
        else:
            say("No --hierarchy: items bought alike are grouped (co-occurrence, fan-out 5).")
        parameters = {
            "suppress": suppress,
            "max_suppressed": parse_share(max_suppressed),
            "objective": objective,
            "keep": None if keep is None else load_items(keep, data, encoding),
            "weights": None if weights is None else load_weights(weights, encoding),
            "gap": gap,
            "time_limit": None if bound and algorithm != "exact" else time_limit,
            "refine": refine or None,
        }
        try:
            release = run_anonymize(
                data, guarantee, hierarchy=tree, algorithm=algorithm, seed=seed, progress=progress,
                record=record, bound=time_limit or True if bound else False,
                **{name: value for name, value in parameters.items() if value is not None},
            )  # fmt: skip
        except MissingItemsError as error:
            error.hint = extension_hint(input, hierarchy_file, reads, id_column, item_column)
            raise
        progress("writing")
        return release.write(out, force=force, format=output_format or publishes)

    report = run(work)
    if json:
        answer_json(report)
    else:
        from setveil.report.summary import summary

        answer(f"{summary(report)}\nFolder     {out}")


@app.command()
def verify(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file of rows, a run's folder, or - .")],
    k: K,
    m: M,
    show: Annotated[int, typer.Option("--show", min=0, help="How many violations to list.")] = 10,
    format: Format = None,  # noqa: A002
    encoding: Encoding = "utf-8",
    separator: Separator = None,
    id_column: IdColumn = None,
    item_column: ItemColumn = None,
    json: Json = False,
) -> None:
    """Check k^m-anonymity of any file from its rows alone; exit code 0 if it holds, 1 if not."""

    def work(progress: Any) -> Any:
        from setveil.cli.files import load_published
        from setveil.guarantees.km import KmAnonymity
        from setveil.guarantees.verify.km import verify_km

        guarantee = KmAnonymity(k, parse_m(m))
        progress("reading")
        data = load_published(
            file, format=format, encoding=encoding, separator=separator, id_column=id_column,
            item_column=item_column,
        )  # fmt: skip
        return verify_km(data, guarantee, show=max(show, 1), progress=progress)

    verdict = run(work)
    if json:
        answer_json({**verdict.as_dict(), "first": verdict.as_dict()["first"][:show]})
    else:
        from setveil.report.verdict import verdict_text

        answer(verdict_text(verdict.as_dict(), show))
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
        return measure_all(before, after, recoding), label_supports(before, after, recoding), before, after

    utility, labels, before, after = run(work)
    rows = {"original": before.n_rows, "release": after.n_rows}
    if json:
        answer_json({"utility": utility, "rows": rows, "labels": labels})
    else:
        from setveil.report.measures import measures_text

        answer(measures_text(utility, labels, rows, before.n_occurrences))


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
