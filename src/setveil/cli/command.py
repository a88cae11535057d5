"""Commands of setveil: what all of them have, how one is read, and what its help consists of."""

from __future__ import annotations

import inspect
import re
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import click

from setveil.base.compiling import expect
from setveil.base.errors import (
    DataError,
    MissingItemsError,
    RequestError,
    SetveilError,
    TableError,
    as_option,
)
from setveil.base.memory import unpack_up_to
from setveil.base.threads import threads, use_threads
from setveil.base.values.kinds import BARE, UpTo
from setveil.cli import help as helps
from setveil.cli.bundles import Bundle, column_options, fact_options, reading_of, reading_options
from setveil.cli.config import require_typed, take_config
from setveil.cli.help import (
    GENERAL,
    PANELS,
    HelpEntry,
    OptionHelp,
)  # fmt: skip
from setveil.cli.options import Json, Parameter, flag, integer, option, parameter_of, parameters_of
from setveil.cli.session import Answer, answer, begin, conclude, fail, run, speak
from setveil.runs.options.facts import OF_READING
from setveil.runs.options.reading import NAMING_FILES


def answering(text: Callable[[Any, Any], str]) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Make the callback of an option that is answered by a text, of the context and its value, alone."""

    def call(context: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value and not context.resilient_parsing:  # as for completion
            answer(text(context, value))
            context.exit()

    return call


_show_all = answering(lambda context, _: str(context.command.whole_help(context)))


def _general(
    config: Path | None = option(
        GENERAL, "Read options from a TOML file or report.json.", "FILE", is_eager=True, callback=take_config
    ),
    threads: int | None = integer(GENERAL, "Use at most N threads (default: all processors).", 1),
    plugin: list[str] | None = option(
        GENERAL, "Execute this Python file, with measures, guarantees or an algorithm of your own.",
        "FILE", callback=require_typed, brief=None,
    ),
    unpacked_limit: int | None = integer(
        GENERAL, "Unpack at most this (default: a quarter of free memory).", 1, metavar="MB"
    ),
    quiet: bool = flag(GENERAL, "Print only errors and the answer.", "-q"),
    verbose: bool = flag(GENERAL, "Also print all details, phases and times.", "-v"),
    help_all: bool = flag(
        GENERAL, "Show all options and exit.", "--help-all", is_eager=True, callback=_show_all
    ),
) -> None:  # fmt: skip
    """Do what the options of all commands say."""
    speak(quiet=quiet, verbose=verbose)
    use_threads(threads)
    if unpacked_limit is not None:
        unpack_up_to(unpacked_limit)


def _answering(json: Json = False) -> None:
    """Declare what all commands have that answer."""


_OF_FACTS = {f"--{name.replace('_', '-')}" for name in OF_READING}


_LISTS = ("COLUMNS", "ITEMS")  # what options of several names are shown to take


def _together(option: str, args: Sequence[str]) -> list[str]:
    """Make one option of several, whose values have commas between them: none of them is forgotten.

    >>> _together("--encoding", ["--encoding", "cp1252", "a.csv", "--encoding=a.csv=utf-8"])
    ['a.csv', '--encoding=cp1252,a.csv=utf-8']
    """
    values, left, words = [], [], iter(args)
    for word in words:
        if word == "--":
            left += [word, *words]
        elif word == option:
            values += [value] if (value := next(words, None)) is not None else []
        elif word.startswith(f"{option}="):
            values.append(word.partition("=")[2])
        else:
            left.append(word)
    if len(values) < 2:
        return [*args]
    at = left.index("--") if "--" in left else len(left)
    return [*left[:at], f"{option}={','.join(values)}", *left[at:]]


class Command(click.Command):
    """A command whose help comes in layers (see `setveil.cli.help`).

    `owners`: the algorithms or models that its help is about; `title`: its place in lists; `every`: makes all
    parameters, if it has only the usual ones.
    """

    def __init__(
        self,
        name: str,
        *,
        owners: Sequence[str],
        title: str | None,
        every: Callable[[], list[click.Parameter]] | None = None,
        **settings: Any,
    ) -> None:
        super().__init__(name, context_settings={"help_option_names": ["--help", "-h"]}, **settings)
        self.owners, self.title = owners, title
        self.every = every or (lambda: self.params)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write what nearly everyone needs, or what applies to the algorithm or model that was named."""
        formatter.write(_help_of(ctx) + "\n")

    def whole_help(self, ctx: Any) -> str:
        """Write everything, as --help-all shows it."""
        return _help_of(ctx, whole=True)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; an option that may stand alone gets the value that it then has."""
        ctx.meta["setveil.words"] = [*args]
        known = {word for one in self.get_params(ctx) for word in one.opts}
        for word in (one.partition("=")[0] for one in args):
            if word in _OF_FACTS - known:
                reads = "anonymize, measure and risk do"
                ctx.fail(f"{word} is about facts, which {ctx.command_path} does not read; {reads}.")
        alone = {word for one in self.get_params(ctx) if one.metavar == UpTo.metavar for word in one.opts}
        words: list[str] = []
        for word, after in pairwise([*_together("--encoding", args), ""]):
            words.append(word)
            if word in alone and not after.isdigit() and after not in (BARE, "true"):
                words.append(BARE)
        if not ctx.resilient_parsing:  # as for completion
            self._require_whole_lists(ctx, words)
        left: list[str] = super().parse_args(ctx, words)
        return left

    def invoke(self, ctx: Any) -> Any:
        """Call the command, unless something is missing: all of that is reported at once, with an example."""
        if _lacking(ctx, entries_of(self.params)):
            fail(_lacking_error(ctx, _lacking(ctx, entries_of(self.every()))))
        begin(lambda error: _name_files(error, ctx.params))
        try:
            if any(ctx.params.get(name) for name in NAMING_FILES):
                from setveil.cli.named_files import require_read

                require_read(ctx.params)
        except SetveilError as error:
            fail(error)
        return super().invoke(ctx)

    def _require_whole_lists(self, ctx: Any, words: list[str]) -> None:
        """Refuse a list that is given again: what is in the first would be forgotten without a word."""
        _, _, order = self.make_parser(ctx).parse_args([*words])
        for one in order:
            if one.metavar in _LISTS and not one.multiple and order.count(one) > 1:
                name = next(word for word in (word.partition("=")[0] for word in words) if word in one.opts)
                ctx.fail(f"{name} is given more than once: it takes one list, with commas between names.")


def _lacking(context: Any, entries: Sequence[HelpEntry]) -> list[HelpEntry]:
    """List what is missing. If that is only part of a guarantee, `require_options` reports it."""
    values = context.params
    without = {
        entry.parameter.name for entry in entries if values.get(entry.parameter.name) in (None, (), [])
    }
    needed = {entry.parameter.name for entry in entries if entry.shown.required}
    if "input" in without and "query" in without:
        needed.add("input")
    if needed & without and "out" in values:
        needed |= _promised(values, entries)
    return [entry for entry in entries if entry.parameter.name in needed & without]


def _promised(values: Mapping[str, Any], entries: Sequence[HelpEntry]) -> set[str]:
    """List the options that the guarantee of a command needs, unless others may replace them."""
    from setveil.judges.guarantees import model_named, models
    from setveil.methods.algorithms import is_file, load
    from setveil.runs.options.guarantees import missing
    from setveil.runs.options.models import settled_model

    owned = {entry.parameter.name for entry in entries if entry.shown.meanings}
    algorithm = values.get("algorithm")
    if is_file(algorithm or "") or not {"k", "m"} <= owned:
        return set()
    known = {option for model in models().values() for option in model.options}
    texts = {name: values[name] for name in owned & known if name in values}
    name = values.get("model") or settled_model(texts, load(algorithm).info.guarantees if algorithm else ())
    elsewhere = bool(values.get("roles")) or any(":m=" in text for text in values.get("set") or ())
    gaps = missing(model_named(name), texts)
    return {names[0] for names in gaps if len(names) == 1 and not (names[0] == "m" and elsewhere)}


def _name_files(error: SetveilError, values: Mapping[str, Any]) -> None:
    """Write the files and options that a command was given into what an error suggests."""
    if isinstance(error, MissingItemsError):
        from setveil.cli.extending import name_files

        reading = reading_of(
            **{one.name: values[one.name] for one in reading_options() if one.name in values}
        )
        nouns = {"code": fact_options(), "item": column_options()}  # of what columns of the file hold
        noun = next((noun for noun, own in nouns.items() if any(values.get(one.name) for one in own)), "")
        name_files(error, values, reading.arguments(), noun)
    elif error.unfit:
        from setveil.cli.files import command_without

        error.hint = error.hint.removesuffix(".") + command_without(error.unfit)
    elif isinstance(error, DataError) and (isinstance(error, TableError) or error.instead is not None):
        from setveil.cli.files import command_instead, command_with, showing

        if isinstance(error, TableError):
            error.say_how(command_with)
        one = values.get("input") is None or len(values["input"]) == 1
        if error.instead is not None and error.instead[1] and one:
            error.hint += command_instead(*error.instead)
        reading = reading_of(
            **{one.name: values[one.name] for one in reading_options() if one.name in values}
        )
        error.hint += showing(error, values.get("input"), reading)


def require_options(context: click.Context, *names: str) -> None:
    """Refuse a command that lacks options: all of them are reported at once, with a command that has them."""
    without = [one for one in entries_of(context.command.params) if one.parameter.name in names]
    lacking = [one for one in without if context.params.get(str(one.parameter.name)) in (None, (), [])]
    if lacking:
        raise _lacking_error(context, lacking)


def _lacking_error(context: Any, lacking: Sequence[HelpEntry]) -> RequestError:
    """Write what is missing, and a command in which nothing is."""
    first, *more = [one.names if one.is_argument else _longest(one.parameter) for one in lacking]
    names = f"{', '.join([first, *more[:-1]])} and {more[-1]}" if more else first
    examples = [line.strip()[2:] for line in (context.command.epilog or "").splitlines() if "$ " in line]
    line = next(iter(examples), "")
    if not any(one.is_argument for one in lacking):
        words = [*context.command_path.split(), *context.meta["setveil.words"]]
        for one in lacking:
            words += [_longest(one.parameter), _value_in(examples, one)]
        line = shlex.join(words)
    begin = "Such as"
    if "baskets.csv" in line and not Path("baskets.csv").exists():
        line = re.sub(r"\b(baskets|products)\.csv", r"setveil-demo-input/\1.csv", line)
        begin = "Run `setveil demo`, then"
    verb = "is" if len(lacking) == 1 else "are"
    return RequestError(f"{names} {verb} missing.", hint=f"{begin}: {line}")


def _value_in(examples: Sequence[str], entry: HelpEntry) -> str:
    """Find what examples give for an option, or what the example of a model that has it does."""
    from setveil.judges.guarantees import models

    name, words = entry.parameter.name, [word for line in examples for word in shlex.split(line)]
    found = [after for word, after in pairwise(words) if word in entry.parameter.opts]
    owners = {owner for meaning in entry.shown.meanings for owner in meaning.owners}
    found += [
        str(model.example[name]) for key, model in models().items() if key in owners and name in model.example
    ]
    return next(iter(found), str(entry.parameter.metavar))


class Group(click.Group):
    """A group of commands, listed under titles."""

    title: str | None = None

    def __init__(self, name: str, *, params: Sequence[click.Parameter] = (), **settings: Any) -> None:
        whole = click.Option(
            ["--help-all"], is_flag=True, is_eager=True, expose_value=False, hidden=True, callback=_show_all
        )
        names = {"help_option_names": ["--help", "-h"]}
        super().__init__(name, params=[*params, whole], context_settings=names, **settings)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the command line; if no command is named, the help answers."""
        if not args and not ctx.resilient_parsing:
            answer(ctx.get_help())
            ctx.exit(2)
        left: list[str] = super().parse_args(ctx, args)
        return left

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """List the commands, each with its first sentence."""
        listed: dict[str, list[tuple[str, str]]] = {}
        for name, command in self.commands.items():
            words = (command.help or "").partition("\n\n")[0]
            title = getattr(command, "title", None) or "Commands"
            listed.setdefault(title, []).append((name, _sentence(words)))
        tables = []
        if ctx.parent is None:
            params: list[Any] = self.get_params(ctx)
            shown = [one for one in params if not one.hidden and "--help" not in one.opts]
            own = [HelpEntry(one, OptionHelp(None)) for one in shown]
            tables = [
                ("Options of all commands", [(one.names, one.text) for one in _common()]),
                ("Options", [(one.names, one.text) for one in own]),
            ]
        usage = f"Usage: {ctx.command_path} COMMAND [OPTIONS]"
        text = helps.list_of_commands(usage, self.help or "", listed, tables, self.epilog or "")
        formatter.write(text + "\n")

    def whole_help(self, ctx: Any) -> str:
        """List the commands: there is no more to show."""
        return self.get_help(ctx)


def _common() -> list[HelpEntry]:
    """List the options of all commands."""

    def nothing(progress: Any) -> Answer:  # type: ignore[empty-body]
        """Stand for any command."""

    command = command_of(nothing)
    return entries_of(command.get_params(click.Context(command)))


def _sentence(words: str) -> str:
    """Take the first sentence of a text."""
    return " ".join(re.split(r"(?<=[.]) ", " ".join(words.split()), maxsplit=1)[0].split())


def _help_of(context: Any, *, whole: bool = False) -> str:
    """Write the help of a command; of an algorithm or a model if these are named."""
    command, name = context.command, context.command_path
    entries = entries_of(command.get_params(context))
    arguments = [
        one.names if one.shown.required or one.parameter.name == "input" else f"[{one.names}]"
        for one in entries
        if one.is_argument
    ]
    needed = [
        f"{_longest(one.parameter)} {one.parameter.metavar}"
        for one in entries
        if one.shown.required and not one.is_argument
    ]
    usage = " ".join(["Usage:", name, *arguments, *needed, "[OPTIONS]"])
    examples = [line.strip() for line in (command.epilog or "").splitlines() if line.strip().startswith("$ ")]
    if whole:
        return helps.whole_help(usage, command.help or "", examples, entries)
    if owners := command.owners:
        return helps.help_of_owners(usage, helps.about(owners), helps.applying(entries, owners), owners, name)
    return helps.first_help(usage, command.help or "", examples, entries, name)


def _longest(parameter: Any) -> str:
    return str(max(parameter.opts, key=len))


def entries_of(parameters: Iterable[click.Parameter]) -> list[HelpEntry]:
    """Join the parameters of a command with what the help shows of them."""
    of_click = OptionHelp(GENERAL, own=False)  # --help
    return [HelpEntry(one, getattr(one, "shown", of_click)) for one in parameters]


def command_of(
    function: Callable[..., Any],
    owners: Sequence[str] = (),
    title: str | None = None,
    arguments: Sequence[str] | None = None,
) -> Command:
    """Make a command of a function, whose signature declares options, bundles of them, and what it is given.

    The function gets what its bundles collect; setveil's errors end it with their message and exit code. One
    that takes `progress` works as `run` has it, and returns what to say, or an `Answer`: then it has --json.
    Only the usual options of a bundle are made if the arguments can name no others.
    """
    signature = inspect.signature(function, eval_str=True)
    bundles: dict[str, Bundle] = {}
    made: dict[str, list[Parameter]] = {}  # by what the function is given
    for declared in signature.parameters.values():
        parts = getattr(declared.annotation, "__metadata__", ())
        bundle = next((part for part in parts if isinstance(part, Bundle)), None)
        if bundle is not None:
            bundles[declared.name] = bundle
            usual = bundle.options if bundle.usual is None or arguments is None else bundle.usual
            made[declared.name] = usual()
        elif one := parameter_of(declared):
            made[declared.name] = [one]
    answers = signature.return_annotation is Answer
    general = parameters_of(_general)
    common = [*(parameters_of(_answering) if answers else []), *general]
    if arguments is not None and _may_name_others(arguments, [*chain(*made.values()), *common]):
        made |= {name: one.options() for name, one in bundles.items() if one.usual is not None}
    for name, bundle in bundles.items():
        if not bundle.own:
            made[name] = list(map(_of_several, made[name]))
    parameters = [*chain(*made.values()), *map(_of_several, common)]
    _require_names(parameters)

    def call(**values: Any) -> None:
        _general(**{str(option.name): values.pop(str(option.name)) for option in general})
        json = answers and values.pop("json")
        values |= {
            name: bundle.collect(**{str(option.name): values.pop(str(option.name)) for option in made[name]})
            for name, bundle in bundles.items()
        }
        if "context" in signature.parameters:
            values["context"] = click.get_current_context()
        try:
            expect(threads, function.__name__)
            if "progress" in signature.parameters:
                conclude(run(lambda progress: function(progress=progress, **values)), json=json)
            else:
                function(**values)
        except SetveilError as error:
            fail(error)

    words, examples = texts_of(function)
    return Command(
        name_of(function), owners=owners, title=title,
        every=None if arguments is None else lambda: command_of(function, owners, title).params,
        params=sorted(parameters, key=_place), callback=call, help=words, epilog=examples,
    )  # fmt: skip


def _may_name_others(arguments: Sequence[str], parameters: Iterable[Parameter]) -> bool:
    """Return whether words of a command line, a file of options or the help may name options but these."""
    known = {word: one for one in parameters for word in (*one.opts, *one.secondary_opts)}
    for word in (one.partition("=")[0] for one in arguments if one.startswith("-") and one != "-"):
        joined = known.get(word[:2])  # such as k in -k5
        is_known = word in known or (joined is not None and not getattr(joined, "is_flag", False))
        if word in {"--config", "--help-all"} or not is_known:
            return True
    return False


def name_of(function: Callable[..., Any]) -> str:
    """Name the command that a function is."""
    return function.__name__.replace("_", "-")


def _of_several(parameter: Parameter) -> Parameter:
    """Mark an option as one of several commands, which the first help shows only if it is usual."""
    parameter.shown = replace(parameter.shown, own=False)
    return parameter


def _require_names(parameters: Sequence[Parameter]) -> None:
    """Refuse options of guarantees or algorithms of one's own that are called as others are."""
    names = [str(parameter.name) for parameter in parameters]
    if twice := next((name for name in names if names.count(name) > 1), ""):
        raise RequestError(
            f"{as_option(twice)} would mean two things: a guarantee or an algorithm of your own has it, too.",
            hint="Rename the option in your file.",
        )


def texts_of(command: Callable[..., Any]) -> tuple[str, str]:
    """Take the docstring of a command apart: what it does, and the examples that stand at its end."""
    words, _, lines = (inspect.getdoc(command) or "").partition("\n\n$ ")
    examples = [line for line in f"$ {lines}".splitlines() if line]
    title = "Example:" if len(examples) == 1 else "Examples:"
    paragraphs = [" ".join(paragraph.split()) for paragraph in words.split("\n\n")]
    return "\n\n".join(paragraphs), "\n\n".join([title, *examples])


def _place(parameter: Parameter) -> int:
    """Tell where a parameter is in the help: arguments first, then panel by panel."""
    panel = parameter.shown.panel
    if panel is None:
        return -1
    return next((place for place, name in enumerate(PANELS) if panel.startswith(name)), len(PANELS))
