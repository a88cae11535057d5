"""The commands ``demo``, ``convert`` and ``algorithms``, and the list of all."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import Annotated, Any

import typer

from setveil import algorithms as registry
from setveil.cli.config import algorithm_of
from setveil.cli.options import (
    OUTPUT,
    Command,
    Force,
    Group,
    Input,
    Reading,
    Seed,
    argument,
    choice,
    expanded,
    flag,
    integer,
    option,
    source_of,
    texts_of,
)
from setveil.cli.session import Answer, answer, run, tell_error
from setveil.cli.watched import is_watched
from setveil.data.layout import FORMATS
from setveil.errors import SetveilError, on_command_line, require_utf8
from setveil.version import __version__

_HELP = (
    "Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked "
    "from the published rows."
)
_EPILOG = """To begin:

$ setveil demo

$ cd setveil-demo-input

$ setveil anonymize baskets.csv --hierarchy products.csv --k 5 --m 2 --out release

Exit codes: 0 done; 1 the guarantee does not hold; 2 usage; 3 no release can satisfy the request;
4 unreadable or inconsistent data."""


def main() -> None:
    """Run the command line."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")  # labels that the terminal cannot show
    with on_command_line():
        try:
            words = _words()
            for word in words:
                require_utf8(word)
            app = app_for(words)
        except SetveilError as error:  # in the file of an algorithm
            tell_error(error)
            sys.exit(error.exit_code)
        app(prog_name="setveil")


def _words() -> list[str]:
    """List the words of the command: those typed so far, where a shell asks for completions."""
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS")
    if "_SETVEIL_COMPLETE" not in os.environ or typed is None:
        return sys.argv[1:]
    return typed.split()[1:]


def app_for(arguments: Sequence[str]) -> typer.Typer:
    """Make the application that answers some arguments.

    If they begin with a command, it is there alone; else all are, to be listed. Only one that they name gets
    its options: making the options of all would take longer than all else that `--help` does.
    """
    app = _group(
        pretty_exceptions_enable=False,  # its tracebacks show variables, and these hold data
        help=_HELP,
        epilog=_EPILOG,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.callback()(_setveil)
    named = next((argument for argument in arguments if not argument.startswith("-")), "")
    words = [word for argument in arguments for word in argument.split("=", 1)]
    _load_file(named, words)
    asked = _asked(words)
    for name in arguments[:1] if arguments and arguments[0] in NAMES else NAMES:
        module = _module(name)
        if not hasattr(module, "HELP"):
            _add(app, [vars(module)[name]], named, asked)
        elif name == named:
            group = _group(name=name, help=module.HELP)
            _add(group, module.COMMANDS, None, asked)
            app.add_typer(group)
        else:
            app.command(name, help=module.HELP)(_listed)
    return app


def _module(name: str) -> ModuleType:
    """Import the module of a command, or of a group of commands."""
    return sys.modules[__name__] if name in _HERE else importlib.import_module(f"setveil.cli.{name}")


def _group(**settings: Any) -> typer.Typer:
    """Make a group of commands, whose help answers where none of them is named."""
    return typer.Typer(cls=Group, no_args_is_help=True, **settings)


def _add(app: typer.Typer, commands: Sequence[Any], named: str | None, asked: Sequence[str]) -> None:
    """Add commands to a group: with their options that which is named, or all (None)."""
    for command in commands:
        words, examples = texts_of(command)
        if named in (None, command.__name__):
            app.command(cls=Command, help=words, epilog=examples)(expanded(command, asked))
        else:
            app.command(command.__name__, help=words)(_listed)


def _asked(arguments: Sequence[str]) -> list[str]:
    """List the algorithm and the models whose options alone the help is to show; none: all."""
    asked = []
    for word, value in pairwise(arguments):
        name = Path(value).stem.replace("_", "-") if registry.is_file(value) else value
        if word in {"-a", "--algorithm"} and name in registry.names():
            asked += [name, *registry.load(name).info.guarantees]
        elif word == "--model":
            asked.append(value)
            asked += [] if {"-a", "--algorithm"} & {*arguments} else registry.giving(value)
    return asked


def _load_file(named: str, words: Sequence[str]) -> None:
    """Load the algorithm of a file that is to anonymize, for its own parameters are options then."""
    if named != "anonymize" or "_SETVEIL_COMPLETE" in os.environ:
        return
    given = dict(pairwise(words))
    text = given.get("-a") or given.get("--algorithm")
    typed = text is not None and not is_watched()
    if text is None and "--config" in given:
        text = algorithm_of(Path(given["--config"]))
    if text is not None and registry.is_file(text):
        registry.named(text, trusted=typed)


def _listed() -> None:
    """Stand for a command that is not called."""


def _version(wanted: bool) -> None:
    if wanted:
        answer(f"setveil {__version__}")
        raise typer.Exit


def _setveil(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


def demo(
    out: Path = option(OUTPUT, "Folder to write.", "FOLDER", "-o", default=Path("setveil-demo")),
    rows: int | None = integer(
        OUTPUT,
        "Number of rows to generate (default 5000 baskets, 4000 stays, the visits of 3000 patients).",
        10,
    ),
    ward: bool = flag(OUTPUT, "Only write a made-up hospital table, to FOLDER-input.", "--ward"),
    log: bool = flag(OUTPUT, "Only write a made-up log with dates, to FOLDER-input.", "--log"),
    seed: Seed = 0,
) -> None:
    """Anonymize a synthetic grocery sample, verify it, and explain the result.

    $ setveil demo --out demo

    $ setveil demo --ward
    """
    if ward or log:
        from setveil.cli.demo import write_hospital

        kinds = [kind for kind, wanted in (("ward", ward), ("log", log)) if wanted]
        answer("\n\n".join(run(lambda _: [write_hospital(kind, out, rows, seed) for kind in kinds])))
        return
    baskets = rows or 5000

    def make_sample(progress: Any) -> Any:
        from setveil.cli.demo import run_demo

        return run_demo(out, baskets, seed, progress)

    _, report, sample = run(make_sample)
    from setveil.report.run.summary import summary

    answer(
        f"{baskets:,} synthetic grocery baskets, anonymized with a product hierarchy of three levels.\n\n"
        f"{summary(report)}\n\n"
        f"The run's folder is {out}. Open {out / 'internal' / 'report.html'} in a browser.\n"
        f"The synthetic input is in {sample}. The same by hand:\n\n"
        f"    setveil anonymize {quote(str(sample / 'baskets.csv'))} --hierarchy "
        f"{quote(str(sample / 'products.csv'))} --k 5 --m 2 --out release"
    )


def convert(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    output: Path = argument("OUTPUT", "File to write; its extension says the format."),
    reading: Reading,
    to: str | None = choice(
        OUTPUT, "Format to write, where the extension does not say it.", "format", FORMATS
    ),
    force: Force = False,
) -> str:
    """Rewrite files of rows in another format. Rows keep their order.

    $ setveil convert baskets.csv baskets.parquet
    $ setveil convert orders.csv rows.dat --id-column order --item-column item
    """
    from setveil.cli.files import read_rows, require_free
    from setveil.commands.convert import write_rows

    source = source_of(input, reading)
    require_free(output, force)
    progress("reading")
    data = read_rows(source, reading)
    progress("writing")
    layout = write_rows(data, output, to, force=force)
    return f"{output}: {data.n_rows:,} rows, {data.n_occurrences:,} occurrences, {layout.format}."


def algorithms(progress: Any) -> Answer:
    """List the algorithms: what they promise, what they need, and the papers they come from.

    $ setveil algorithms --json
    """
    from dataclasses import asdict

    infos = {name: module.info for name, module in registry.modules().items()}

    def tell() -> None:
        for name, info in infos.items():
            answer(
                f"{name:<6} {info.title}\n"
                f"       {info.summary}\n"
                f"       gives {', '.join(info.guarantees)}; "
                f"needs {', '.join(info.needs) or 'the data alone'}"
                f"{', can use ' + ', '.join(info.takes) if info.takes else ''}\n"
                f"       {info.reference}"
            )

    return Answer({name: asdict(info) for name, info in infos.items()}, tell)


_HERE = ("demo", "convert", "algorithms")
NAMES = (
    "demo", "read", "anonymize", "apply", "verify", "checker", "certify", "measure", "query", "why", "trace",
    "moles", "risk", "attack", "evidence", "explore", "compare", "recommend", "reconstruct", "warm", "studio",
    "convert", "algorithms",
    "hierarchy", "policy", "series",
)  # fmt: skip
