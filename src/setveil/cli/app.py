"""The commands ``demo``, ``convert`` and ``algorithms``, and the list of all."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from shlex import quote
from types import ModuleType
from typing import Any

import click

from setveil.base import plugins
from setveil.base.errors import SetveilError, on_command_line, require_utf8
from setveil.base.version import __version__
from setveil.cli.bundles import Reading, source_of
from setveil.cli.command import Command, Group, answering, command_of, name_of, texts_of
from setveil.cli.config import algorithm_of
from setveil.cli.help import OUTPUT
from setveil.cli.options import Force, Input, Seed, argument, choice, flag, integer, option
from setveil.cli.session import Answer, answer, run, tell_error
from setveil.cli.watched import is_watched
from setveil.judges import guarantees
from setveil.methods import algorithms as registry
from setveil.rows.data.layout import FORMATS

_HELP = (
    "Publish transaction data (rows that are sets of items) with a privacy guarantee that is re-checked "
    "from the published rows."
)
_EPILOG = """To begin:
$ setveil demo
$ cd setveil-demo-input
$ setveil anonymize baskets.csv --hierarchy products.csv --k 5 --m 2 --out release

Exit codes: 0 done; 1 guarantee does not hold; 2 usage; 3 no release is possible; 4 bad data."""


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
            app = app_for(words, whole="_SETVEIL_COMPLETE" in os.environ)
        except SetveilError as error:  # in the file of an algorithm
            tell_error(error)
            sys.exit(error.exit_code)
        app(prog_name="setveil")


def _words() -> list[str]:
    """List the words of the command: those typed so far, where a shell asks for completions."""
    typed = os.environ.get("COMP_WORDS")
    if "_SETVEIL_COMPLETE" not in os.environ or typed is None:
        return sys.argv[1:]
    return typed.split()[1:]


def app_for(arguments: Sequence[str], *, whole: bool = True) -> Group:
    """Make the application that answers some arguments.

    If they begin with a command, it is there alone; else all are, to be listed. Only one that they name gets
    its options: making the options of all would take longer than all else that `--help` does. If not `whole`,
    it gets the options of algorithms only if the arguments may name one, or someone else's may be called so.
    """
    app = Group(
        "setveil",
        help=_HELP,
        epilog=_EPILOG,
        params=[_VERSION, _COMPLETION],
    )
    named = next((argument for argument in arguments if not argument.startswith("-")), "")
    words = [word for argument in arguments for word in argument.split("=", 1)]
    _load_plugins(arguments)
    _load_file(named, words)
    owners = _owners(words)
    for name in arguments[:1] if arguments and arguments[0] in NAMES else NAMES:
        module = _module(name)
        title = next(title for title, names in GROUPS.items() if name in names)
        if not hasattr(module, "HELP"):
            function = vars(module)[name]
            typed = None if whole or plugins.files() or plugins.something_is_offered() else arguments
            made = command_of(function, owners, title, typed) if named == name else _listed(function, title)
            app.add_command(made)
            continue
        group = Group(name, help=module.HELP)
        group.title = title
        if name == named:
            for function in module.COMMANDS:
                group.add_command(command_of(function, owners))
        app.add_command(group)
    return app


def _module(name: str) -> ModuleType:
    """Import the module of a command, or of a group of commands."""
    return sys.modules[__name__] if name in _HERE else importlib.import_module(f"setveil.cli.{name}")


def _listed(function: Callable[..., Any], title: str) -> Command:
    """Make a command that is listed and not called."""
    return Command(name_of(function), owners=(), title=title, help=texts_of(function)[0])


def _owners(arguments: Sequence[str]) -> list[str]:
    """List the algorithm and the models that the help is about; none: it is about none of them."""
    algorithm, model = [], []
    for word, value in pairwise(arguments):
        name = Path(value).stem.replace("_", "-") if registry.is_file(value) else value
        if word in {"-a", "--algorithm"} and name in registry.names():
            algorithm = [name]
        elif word == "--model" and value in guarantees.names():
            model = [value]
    return algorithm + (model or [one for name in algorithm for one in registry.load(name).info.guarantees])


def _load_plugins(arguments: Sequence[str]) -> None:
    """Load the files of --plugin, for what they hold has options, and options that name it."""
    if "_SETVEIL_COMPLETE" in os.environ:
        return
    joined = [word.removeprefix("--plugin=") for word in arguments if word.startswith("--plugin=")]
    files = [*joined, *(after for word, after in pairwise(arguments) if word == "--plugin")]
    if files:
        from setveil.runs.options.plugins import load_plugin

        for file in files:
            load_plugin(file, trusted=not is_watched())


def _load_file(named: str, words: Sequence[str]) -> None:
    """Load the algorithm of a file that is to anonymize, for its own parameters are options then."""
    if named != "anonymize" or "_SETVEIL_COMPLETE" in os.environ:
        return
    arguments = dict(pairwise(words))
    text = arguments.get("-a") or arguments.get("--algorithm")
    typed = text is not None and not is_watched()
    if text is None and "--config" in arguments:
        text = algorithm_of(Path(arguments["--config"]))
    if text is not None and registry.is_file(text):
        registry.named(text, trusted=typed)


def _completion(context: click.Context, shell: str) -> str:
    """Write what a shell reads to complete commands."""
    from click.shell_completion import get_completion_class

    made: Any = get_completion_class(shell)
    return str(made(context.command, {}, "setveil", "_SETVEIL_COMPLETE").source())


_VERSION = click.Option(
    ["--version"], is_flag=True, is_eager=True, expose_value=False,
    callback=answering(lambda *_: f"setveil {__version__}"), help="Show the version and exit.",
)  # fmt: skip
_COMPLETION = click.Option(
    ["--show-completion"], type=click.Choice(["bash", "zsh", "fish"]), metavar="SHELL", is_eager=True,
    expose_value=False, callback=answering(_completion),
    help="Print the completion script for bash, zsh or fish.",
)  # fmt: skip


def demo(
    out: Path = option(OUTPUT, "Write to this folder.", "FOLDER", "-o", default=Path("setveil-demo")),
    rows: int | None = integer(
        OUTPUT, "Generate N rows (default: 5000 baskets, 4000 stays, or visits of 3000 patients).", 10
    ),
    ward: bool = flag(OUTPUT, "Only write a made-up hospital table, to FOLDER-input.", "--ward"),
    log: bool = flag(OUTPUT, "Only write a made-up log with dates, to FOLDER-input.", "--log"),
    seed: Seed = 0,
) -> None:
    """Anonymize a synthetic grocery sample and explain the result.

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
    from setveil.cli.outcome import outcome

    answer(
        f"{baskets:,} synthetic grocery baskets, anonymized with a product hierarchy of three levels.\n\n"
        f"{outcome(report, out)}\n\n"
        f"The run's folder is {out}. Open {out / 'internal' / 'report.html'} in a browser.\n"
        f"The synthetic input is in {sample}. The same by hand:\n\n"
        f"    setveil anonymize {quote(str(sample / 'baskets.csv'))} --hierarchy "
        f"{quote(str(sample / 'products.csv'))} --k 5 --m 2 --out release"
    )


def convert(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    output: Path = argument("OUTPUT", "Write this file; its extension gives the format."),
    reading: Reading,
    to: str | None = choice(
        OUTPUT, "Write this format, if the extension does not give it", "format", FORMATS
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


def algorithms(
    progress: Any,
    name: str | None = argument("[NAME]", "Describe this algorithm, with its options.", default=None),
) -> Answer:
    """List the algorithms, or describe one with its options.

    $ setveil algorithms
    $ setveil algorithms exact
    $ setveil algorithms --json
    """
    from dataclasses import asdict

    names = registry.names() if name is None else [name]
    infos = {one: module.info for one, module in registry.modules().items() if one in names}
    if name is not None:
        infos = {name: registry.load(name).info}

    def tell() -> None:
        if name is not None:
            answer(_described(name))
            return
        for one, info in infos.items():
            answer(
                f"{one:<6} {info.title}\n"
                f"       {info.summary}\n"
                f"       gives {', '.join(info.guarantees)}; "
                f"needs {', '.join(info.needs) or 'the data alone'}"
                f"{', can use ' + ', '.join(info.takes) if info.takes else ''}\n"
                f"       {info.reference}"
            )

    return Answer({one: asdict(info) for one, info in infos.items()}, tell)


def _described(name: str) -> str:
    """Describe an algorithm with its options, as ``setveil anonymize -a NAME --help`` does."""
    words = ["anonymize", "-a", name]
    group = app_for(words)
    context = group.make_context("setveil", words, resilient_parsing=True)
    command = group.commands["anonymize"]
    inner = command.make_context("anonymize", [], parent=context, resilient_parsing=True)
    return str(command.get_help(inner)).strip()


_HERE = ("demo", "convert", "algorithms")
GROUPS = {
    "Publish": ("demo", "studio", "read", "hierarchy", "anonymize", "apply", "series"),
    "Understand": ("recommend", "explore", "why", "trace", "risk", "attack", "measure"),
    "Check and use": ("verify", "certify", "checker", "evidence", "query", "reconstruct"),
    "Research and files": ("compare", "algorithms", "policy", "convert", "moles", "warm"),
}
NAMES = tuple(name for names in GROUPS.values() for name in names)
