"""The commands ``demo``, ``convert`` and ``algorithms``, and the list of all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil import algorithms as registry
from setveil.cli import anonymize, compare, hierarchy, measure, moles, policy, recommend, risk, verify
from setveil.cli.options import Input, Json, Reading, Seed, expanded
from setveil.cli.session import answer, answer_json, run, say
from setveil.version import __version__

_HELP = (
    "Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked "
    "from the published rows."
)
_EXIT_CODES = (
    "Exit codes: 0 done; 1 the guarantee does not hold; 2 usage; 3 no release can satisfy the request; "
    "4 unreadable or inconsistent data."
)


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # labels that the terminal cannot show
    app_for(sys.argv[1:])(prog_name="setveil")


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Make the application that answers some arguments.

    Only the command that they name gets its options, the others are there to be listed: making the options of
    all would take longer than all else that `--help` does.
    """
    app = typer.Typer(
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,  # its tracebacks show variables, and these hold data
        help=_HELP,
        epilog=_EXIT_CODES,
    )
    app.callback()(_setveil)
    named = next((argument for argument in arguments if not argument.startswith("-")), "")
    for command in COMMANDS:
        if command.__name__ == named:
            app.command()(expanded(command))
        else:
            app.command(command.__name__, help=command.__doc__)(_listed)
    for group in (hierarchy.app, policy.app):
        name = str(group.info.name)
        if name == named:
            app.add_typer(group)
        else:
            app.command(name, help=str(group.info.help))(_listed)
    return app


def _listed() -> None:
    """Stand for a command that is not called."""


def _version(wanted: bool) -> None:
    if wanted:
        answer(f"setveil {__version__}")
        raise typer.Exit


def _setveil(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    pass


def demo(
    out: Annotated[Path, typer.Option("--out", help="Folder to write.")] = Path("setveil-demo"),
    rows: Annotated[int, typer.Option("--rows", min=10, help="Number of baskets to make up.")] = 5000,
    seed: Seed = 0,
) -> None:
    """Anonymize a made-up grocery sample, verify it, and explain the result."""

    def make_sample(progress: Any) -> Any:
        from setveil.cli.demo import run_demo

        return run_demo(out, rows, seed, progress)

    _, report, sample = run(make_sample)
    from setveil.report.run.summary import summary

    answer(
        f"{rows:,} made-up grocery baskets, anonymized with a product hierarchy of three levels.\n\n"
        f"{summary(report)}\n\n"
        f"The run's folder is {out}. Look at {out / 'internal' / 'report.html'} in a browser.\n"
        f"The made-up input is in {sample}. The same by hand:\n\n"
        f"    setveil anonymize {sample / 'baskets.csv'} --hierarchy {sample / 'products.csv'} "
        "--k 5 --m 2 --out DIR"
    )


def convert(
    input: Input,  # noqa: A002
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write; its extension tells the format.")
    ],
    to: Annotated[
        str | None, typer.Option("--to", help="Format to write, where the extension does not tell it.")
    ] = None,
    *,
    reading: Reading,
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT.")] = False,
) -> None:
    """Rewrite a file of rows in another format. Rows keep their order."""

    def rewrite(progress: Any) -> Any:
        from setveil.cli.files import read_rows
        from setveil.functions.convert import write_rows

        progress("reading")
        data = read_rows(input, reading)
        progress("writing")
        return data, write_rows(data, output, to, force=force)

    data, layout = run(rewrite)
    say(f"{output}: {data.n_rows:,} rows, {data.n_occurrences:,} occurrences, {layout.format}.")


def algorithms(json: Json = False) -> None:
    """List the algorithms: what they promise, what they need, where they come from."""

    def load_infos(progress: Any) -> Any:
        return {name: registry.load(name).info for name in registry.names()}

    infos = run(load_infos)
    if json:
        from dataclasses import asdict

        answer_json({name: asdict(info) for name, info in infos.items()})
        return
    for name, info in infos.items():
        answer(
            f"{name:<6} {info.title}\n"
            f"       {info.summary}\n"
            f"       gives {', '.join(info.guarantees)}; needs {', '.join(info.needs) or 'the data alone'}"
            f"{', can use ' + ', '.join(info.takes) if info.takes else ''}\n"
            f"       {info.reference}"
        )


COMMANDS: tuple[Callable[..., None], ...] = (
    demo,
    anonymize.anonymize,
    verify.verify,
    measure.measure,
    moles.moles,
    risk.risk,
    compare.compare,
    recommend.recommend,
    convert,
    algorithms,
)
