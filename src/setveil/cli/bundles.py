"""Several options as one parameter of a command: those of files, columns, guarantees and algorithms."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Annotated, Any

import click

from setveil.base.errors import RequestError, shorten
from setveil.base.redact import HIDDEN, is_server, redacted
from setveil.base.values.declared import Option, options_of
from setveil.base.values.kinds import Choice, Kind, Number
from setveil.cli.config import is_typed
from setveil.cli.help import ALGORITHM, FACTS, PROMISE, READING, TABLES, Meaning
from setveil.cli.options import (
    DeclaredOption,
    Parameter,
    long_name,
    number_reader,
    parameters_of,
    words_of_choice,
)
from setveil.cli.session import fail
from setveil.judges.guarantees import FIRST, Model, model_named, models
from setveil.runs.options.columns import Columns as ColumnOptions
from setveil.runs.options.facts import FactOptions
from setveil.runs.options.reading import Reading as ReadingOptions


def source_of(arguments: Sequence[str] | None, reading: ReadingOptions, name: str = "INPUT") -> Any:
    """Say what is to be read: a path, several, or none for a query; `name` is that of the argument."""
    paths = list(arguments or ())
    if HIDDEN in str(reading.explicit_options().get("connection", "")):
        raise RequestError("The record of a run leaves secrets out: give --connection again.")
    if reading.explicit_options().get("query") is not None:
        if paths:
            raise RequestError(f"Rows are read either from {name} or by --query, not both.")
        return paths
    if not paths:
        raise RequestError(
            f"{name} is missing: files of rows, a folder of them, or - for standard input.",
            hint="See --help for an example.",
        )
    if "-" in paths and len(paths) > 1:
        raise RequestError("Standard input (-) cannot be read together with files.")
    return paths[0] if len(paths) == 1 else paths


@dataclass(frozen=True)
class Bundle:
    """Several options as one parameter in the signature of a command."""

    options: Callable[[], list[Parameter]]
    collect: Callable[..., Any] = dict  # makes of their values, by name, what the command gets
    own: bool = False  # whether they are the command's own, which its first help shows
    # those that are made for a command line that can name no other: to make all of them takes long
    usual: Callable[[], list[Parameter]] | None = None


def bundled(kind: type) -> Bundle:
    """Declare the fields of a dataclass as options of a command's own."""
    return Bundle(lambda: parameters_of(kind), kind, own=True)


_HIDDEN = ("item_columns",)  # other names of options, for commands that people have already


_FEW = 3  # owners that an option's panel names


def _parameter(
    name: str,
    kinds: Iterable[Kind],
    help_: str,
    panel: str | None,
    *,
    short: str = "",
    negated: bool = False,
    hidden: bool = False,
    meanings: Sequence[Meaning] = (),
) -> Parameter:
    """Make an option that is None where it is not given."""
    kinds = list(kinds)
    types = {kind.takes for kind in kinds}
    type_: Any = types.pop() if len(types) == 1 else str
    words = [f"-{short}"] if short else []
    if negated:
        words = [f"{long_name(name)}/{long_name(f'no_{name}')}", *words]
    first = kinds[0]
    more: dict[str, Any] = {"metavar": first.metavar, "help": help_}
    if type_ is int:
        more |= {"parser": number_reader(int), "metavar": "N"}
    elif type_ is float:
        unit = first.unit if isinstance(first, Number) else ""
        more |= {"parser": number_reader(float), "metavar": unit.upper() or "NUMBER"}
    elif isinstance(first, Choice):
        more |= words_of_choice(name.replace("_", " "), first.words, help_) | (
            {"help": help_} if meanings else {}
        )
    more |= {"panel": panel, "hidden": hidden, "meanings": meanings}
    made = DeclaredOption(tuple(words), None, lambda: more)
    return made.parameter(name, type_ | None, None)


def _owned(
    found: Mapping[str, list[tuple[str, Option]]], panel: str, *, negated: Iterable[str] = ()
) -> list[Parameter]:
    """Make options that have owners: models or algorithms.

    `found`: by option, its owners and what it is to each; `panel`: where options of many are, those of a few
    have one of their own next to it; `negated`: options that are on where they are not given.
    """
    parameters = []
    for name, entries in found.items():
        texts: dict[str, list[str]] = {}
        for owner, option in entries:
            kind = option.kind
            words = kind.words if isinstance(kind, Choice) else None
            text = words_of_choice(name, words, option.help)["help"] if words else option.help
            texts.setdefault(text, []).append(owner)
        meanings = [
            Meaning(text, tuple(owners), panel if len(owners) > _FEW else f"{panel}: {', '.join(owners)}")
            for text, owners in texts.items()
        ]
        parameters.append(
            _parameter(
                name,
                [option.kind for _, option in entries],
                _merged(meanings),
                meanings[0].panel,
                short=entries[0][1].short,
                negated=name in negated,
                meanings=meanings,
            )
        )
    return parameters


def _merged(meanings: Sequence[Meaning]) -> str:
    """Write what an option means to all its owners."""
    first, *others = meanings
    words = [
        first.text,
        *(f"{', '.join(one.owners)}: {one.text[:1].lower()}{one.text[1:]}" for one in others),
    ]
    return " ".join(words)


def promise_options(among: Iterable[Model] | None = None, *, drawn: bool) -> list[Parameter]:
    """Make the options of privacy models, by default all; `drawn`: also those that draw items."""
    found: dict[str, list[tuple[str, Option]]] = {}
    for model in models().values() if among is None else among:
        for name, option in model.options.items():
            if drawn or (option.drawn_with is None and not option.separate_in_verify):
                found.setdefault(name, []).append((model.name, option))
    return _owned(found, PROMISE)


def own_options() -> list[Parameter]:
    """Make the options of the parameters of all algorithms, those of the first choice first."""
    from setveil.methods import algorithms

    first = model_named(FIRST).algorithm
    found: dict[str, list[tuple[str, Option]]] = {}
    negated = set()
    for name, module in sorted(algorithms.modules().items(), key=lambda entry: (entry[0] != first, entry[0])):
        parameters = module.Parameters
        for key, option in options_of(parameters).items():
            found.setdefault(key, []).append((name, option))
        negated |= _on(parameters)
    return _owned(found, ALGORITHM, negated=negated)


def _some(
    options: Mapping[str, Option], names: Iterable[str], panel: str, negated: Iterable[str] = ()
) -> list[Parameter]:
    """Make some of the options that are declared in one place."""
    chosen = [(name, options[name]) for name in names]
    return [
        _parameter(
            name,
            [one.kind],
            one.help,
            panel,
            short=one.short,
            negated=name in negated,
            hidden=name in _HIDDEN,
        )
        for name, one in chosen
    ]


def some_options(parameters: type, names: Sequence[str], panel: str) -> list[Parameter]:
    """Make the options of some parameters of one algorithm."""
    return _some(options_of(parameters), names, panel, _on(parameters))


def _on(parameters: type) -> set[str]:
    """List the parameters that are on where they are not given."""
    return {field.name for field in fields(parameters) if field.default is True}


def model_options(model: str, *names: str) -> list[Parameter]:
    """Make the options of one privacy model, or some of them."""
    options = model_named(model).options
    return _some(options, [one for one in names or options if options[one].drawn_with is None], PROMISE)


def reading_options(*without: str) -> list[Parameter]:
    """Make the options on how the input is read."""
    options = options_of(ReadingOptions)
    return _some(options, [name for name in options if name not in without], READING)


def reading_of(**values: Any) -> ReadingOptions:
    """Collect the options on how the input is read; `--item-column` may name several columns."""
    from setveil.rows.data.columns import names_several

    _require_typed_server(values.get("connection"))
    text = values.get("item_column")
    if text is not None and values.get("item_columns") is None and names_several(text):
        values |= {"item_column": None, "item_columns": text}
    return ReadingOptions(**values)


def _require_typed_server(connection: str | None) -> None:
    """Refuse a database server that only a file of options names, which may be someone else's."""
    context = click.get_current_context()
    if connection is None or HIDDEN in connection or not is_server(connection):
        return
    if is_typed(context, "connection"):
        return
    fail(
        RequestError(
            f"Only {context.params.get('config') or 'a file'} names the database "
            f"{shorten(redacted(connection))}, which would run a query with your rights. Expected that "
            "you name it.",
            hint=f"If you trust the file, add --connection {shlex.quote(redacted(connection))}.",
        )
    )


def column_options(*names: str) -> list[Parameter]:
    """Make the options on what the columns of a table are, or some of them."""
    options = options_of(ColumnOptions)
    return _some(options, names or options, TABLES)


def fact_options(*names: str) -> list[Parameter]:
    """Make the options on facts, or some of them."""
    options = options_of(FactOptions)
    return _some(options, names or options, FACTS)


Reading = Annotated[ReadingOptions, Bundle(reading_options, reading_of)]


Promise = Annotated[
    dict[str, Any],
    Bundle(
        lambda: promise_options(drawn=True),
        usual=lambda: promise_options([model_named(FIRST)], drawn=True),
    ),
]


PublishedPromise = Annotated[dict[str, Any], Bundle(lambda: promise_options(drawn=False))]


Own = Annotated[dict[str, Any], Bundle(own_options, usual=list)]
