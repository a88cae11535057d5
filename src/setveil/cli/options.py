"""Options: each is declared in one line, and shown by `setveil.cli.help`."""

from __future__ import annotations

import inspect
import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Annotated, Any, get_args, get_origin

import click

from setveil.base.errors import (
    did_you_mean,
)
from setveil.cli.help import (
    ALGORITHM,
    ANSWER,
    GENERAL,
    MEASURES,
    OUTPUT,
    READING,
    Meaning,
    OptionHelp,
)  # fmt: skip
from setveil.rows.data.layout import FORMATS

_WIDEST = 18  # characters of choices that stand beside an option; more stand in its help


class CommandOption(click.Option):
    """An option of a command, and how the help shows it."""

    def __init__(self, words: Sequence[str], *, shown: OptionHelp, **settings: Any) -> None:
        super().__init__(words, **settings)
        self.shown = shown


class CommandArgument(click.Argument):
    """An argument of a command, and how the help shows it."""

    hidden = False

    def __init__(self, name: str, *, shown: OptionHelp, help: str, **settings: Any) -> None:  # noqa: A002
        super().__init__([name], **settings)
        self.shown, self.help = shown, help


Parameter = CommandOption | CommandArgument


@dataclass(frozen=True)
class DeclaredOption:
    """An option or argument as a signature declares it: as a parameter's default, or in its annotation."""

    words: tuple[str, ...]  # of an option on the command line; if none is long, the parameter's name is one
    default: Any  # ``...``: it must be given; an annotation leaves it to the signature
    settings: Callable[[], dict[str, Any]]  # makes those of click when the command is asked for
    argument: bool = False

    def parameter(self, name: str, kind: Any, default: Any) -> Parameter:
        """Make the parameter of a command; `kind`: the type of its value."""
        settings = self.settings()
        required = default is ... or default is inspect.Parameter.empty
        shown = OptionHelp(
            settings.pop("panel", None), settings.pop("brief", ""), settings.pop("meanings", ()), required
        )
        # `Command.invoke` reports all that is missing at once.
        settings |= {"default": None if required else default, "required": False, "shown": shown}
        if NoneType in get_args(kind):
            kind = next(part for part in get_args(kind) if part is not NoneType)
        if several := get_origin(kind) is list:
            (kind,) = get_args(kind)
        if several:
            settings["callback"] = settings.get("callback") or _or_config
        if kind is not bool:
            settings["type"] = settings.pop("parser", kind)
        if self.argument:
            return CommandArgument(name, nargs=-1 if several else 1, **settings)
        named = any(word.startswith("--") for word in self.words)
        words = self.words if named else (long_name(name), *self.words)
        return CommandOption([name, *words], is_flag=kind is bool, multiple=several, **settings)


def option(
    panel: str | None, what: str, metavar: str | None = None, *words: str, default: Any = None, **more: Any
) -> Any:
    """Declare an option (see `DeclaredOption`), with what the help shows, and more settings of click.

    `brief`: its line in the first help; None: it is only in ``--help-all``. `of`: the algorithms it is for.
    """
    settings = {"panel": panel, "help": what, "metavar": metavar, **more}
    if of := settings.pop("of", ()):
        settings["meanings"] = (Meaning(what, tuple(of), f"{panel}: {', '.join(of)}"),)
    return DeclaredOption(words, default, lambda: dict(settings))


def flag(panel: str | None, what: str, *words: str, **more: Any) -> Any:
    """Declare an option without a value (see `option`)."""
    return option(panel, what, None, *words, default=False, **more)


def integer(
    panel: str | None,
    what: str,
    least: int | None,
    *words: str,
    metavar: str = "N",
    default: Any = None,
    **more: Any,
) -> Any:
    """Declare an option that accepts an integer of at least `least` (see `option`)."""
    return option(panel, what, metavar, *words, default=default, parser=number_reader(int, least), **more)


def number(
    panel: str | None, what: str, least: float, metavar: str, *words: str, default: Any = None, **more: Any
) -> Any:
    """Declare an option that accepts a number of at least `least` (see `option`)."""
    return option(panel, what, metavar, *words, default=default, parser=number_reader(float, least), **more)


def choice(
    panel: str | None,
    what: str,
    name: str,
    known: Iterable[str] | Callable[[], Iterable[str]],
    *words: str,
    default: Any = None,
    **more: Any,
) -> Any:
    """Declare an option that accepts one of some words, which are a `name` each (see `option`)."""

    def settings() -> dict[str, Any]:
        found = words_of_choice(name, known() if callable(known) else known, what)
        return {"panel": panel, **found, **more}

    return DeclaredOption(words, default, settings)


def algorithm_or_file(what: str, brief: str | None = "") -> Any:
    """Declare an option that takes the name of an algorithm or a file that holds one (see `option`)."""

    def settings() -> dict[str, Any]:
        from setveil.methods import algorithms

        made = words_of_choice("algorithm", algorithms.names(), what)
        of_names = made["parser"]
        return {
            **made, "parser": lambda text: text if algorithms.is_file(text) else of_names(text),
            "panel": ALGORITHM, "brief": brief,
            "help": f"{made['help'].removesuffix('.')}; or a file mine.py, which is executed.",
        }  # fmt: skip

    return DeclaredOption(("-a",), None, settings)


def argument(metavar: str, what: str, *, default: Any = ...) -> Any:
    """Declare an argument (see `option`)."""
    return DeclaredOption((), default, lambda: {"metavar": metavar, "help": what}, argument=True)


def long_name(name: str) -> str:
    """Return the name of an option on the command line."""
    return f"--{name.replace('_', '-')}"


def words_of_choice(name: str, words: Iterable[str], what: str) -> dict[str, Any]:
    """Make the settings of an option that takes one of some words: help and completion list them."""
    known = tuple(words)

    def parse(text: str) -> str:
        if text not in known:
            meant = did_you_mean(text, known)
            if "[]" in text:
                meant = f"A field of nested records is named by --item-column {shlex.quote(text)}."
            raise click.BadParameter(
                f"there is no {name} {text!r}; there are {', '.join(known)}.{f' {meant}' if meant else ''}"
            )
        return text

    metavar = "|".join(known)
    if len(metavar) > _WIDEST:
        metavar = name.rpartition(" ")[2].upper()
        what = f"{what.removesuffix('.')}: {', '.join(known)}"
    what = f"{what.removesuffix('.')}."
    return {"parser": parse, "shell_complete": completing(known), "metavar": metavar, "help": what}


def completing(words: Sequence[str]) -> Callable[[Any, Any, str], list[str]]:
    """Make what completes one of some words in a shell."""
    return lambda context, parameter, begun: [word for word in words if word.startswith(begun)]


def number_reader(kind: type[int] | type[float], least: float | None = None) -> Callable[[Any], Any]:
    """Make what reads an integer or a number, of at least `least`."""
    expected = "an integer" if kind is int else "a number"
    if least is not None:
        expected += f" of at least {least:g}"

    def parse(text: Any) -> Any:
        try:
            value = kind(text)
        except ValueError:
            value = math.nan
        if math.isnan(value) or (least is not None and value < least):
            raise click.BadParameter(f"expected {expected}, got {str(text)!r}.")
        return value

    return parse


def _or_config(
    context: click.Context, parameter: click.Parameter, value: Sequence[Any] | None
) -> list[Any] | None:
    """Make a list of what is given, or take it from --config, which an argument does not by itself."""
    return [*(value or context.lookup_default(str(parameter.name)) or ())] or None


_TREE = "Read the hierarchy of items: lines of leaf;parent;...;root."


_TREES = f"{_TREE} For a column of a table: COLUMN=FILE, zip=prefix:3,2 or seen=dates."


_TREE_BRIEF = "Generalize items by this hierarchy."


Input = Annotated[
    list[str] | None,
    argument("INPUT", "Read these files, a folder of them, or - (stdin)."),
]


HierarchyFiles = Annotated[
    list[str] | None, option(ALGORITHM, _TREES, "FILE", "--hierarchy", "-H", brief=_TREE_BRIEF)
]


ReadHierarchies = Annotated[
    list[str] | None,
    option(READING, _TREES, "FILE", "--hierarchy", "-H", brief="Read the hierarchy of items."),
]


HierarchyFile = Annotated[
    Path | None, option(ALGORITHM, _TREE, "FILE", "--hierarchy", "-H", brief=_TREE_BRIEF)
]


ReadHierarchy = Annotated[
    Path | None, option(READING, _TREE, "FILE", "--hierarchy", "-H", brief="Read the hierarchy of items.")
]


Seed = Annotated[
    int,
    integer(OUTPUT, "Shuffle published rows by this seed: same seed, same bytes.", 0, brief=None),
]


QuerySeed = Annotated[int, integer(MEASURES, "Draw the queries by this seed.", 0, brief=None)]


Out = Annotated[
    Path,
    option(
        OUTPUT, "Write to this folder: published/ to share, internal/ to keep.", "FOLDER", "-o",
        brief="Write published/ and internal/ to this folder.",
    ),
]  # fmt: skip


Page = Annotated[
    Path | None, option(OUTPUT, "Also write the answer as a page (.html). Do not share it.", "FILE", "-o")
]


OutputFormat = Annotated[
    str | None,
    choice(
        OUTPUT, "Write the published file in this format, if not the input's", "format", FORMATS, brief=None
    ),
]


External = Annotated[bool, flag(OUTPUT, "Also write published/report.html, to be shared with the rows.")]


NoDetails = Annotated[
    bool,
    flag(OUTPUT, "Omit what takes longest to measure: the risk, and the errors of queries.", brief=None),
]


ForceRun = Annotated[
    bool, flag(OUTPUT, "Replace the folder of an earlier run.", brief="Replace the folder of an earlier run.")
]


Force = Annotated[bool, flag(OUTPUT, "Replace what an earlier run wrote.", brief=None)]


Jobs = Annotated[
    int | None,
    integer(GENERAL, "Do this many runs at the same time (default: one per processor).", 1, "-j", brief=None),
]


Show = Annotated[int, integer(ANSWER, "List at most this many violations.", 0)]


Json = Annotated[bool, flag(ANSWER, "Print the answer as JSON.", brief=None)]


def parameters_of(declaring: Callable[..., Any]) -> list[Parameter]:
    """Make the parameters of a command from the signature of a function or dataclass that declares them."""
    made = map(parameter_of, inspect.signature(declaring, eval_str=True).parameters.values())
    return [one for one in made if one is not None]


def parameter_of(declared: inspect.Parameter) -> Parameter | None:
    """Make the parameter of a command that a signature declares; None if it is no option or argument."""
    kind, default = declared.annotation, declared.default
    if isinstance(default, DeclaredOption):
        return default.parameter(declared.name, kind, default.default)
    for part in getattr(kind, "__metadata__", ()):
        if isinstance(part, DeclaredOption):
            return part.parameter(declared.name, kind.__origin__, default)
    return None
