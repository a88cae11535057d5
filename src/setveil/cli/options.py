"""Options that several commands share, and those that are made from declarations (`setveil.fields`)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from setveil.fields import Flag, Integer, ItemFile, ItemWeights, Kind, Number, Option, options_of
from setveil.options.reading import Reading as ReadingOptions

PROMISE = "The promise"
READING = "How the file is read"

Input = Annotated[str, typer.Argument(metavar="INPUT", help="File of rows; - reads standard input.")]
HierarchyFile = Annotated[
    Path | None, typer.Option("--hierarchy", "-H", help="What items generalize to (leaf;parent;...;root).")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Shuffles the published rows; same seed, same bytes.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON on standard output.")]


@dataclass(frozen=True)
class Bundle:
    """Stands in a command's signature for several options.

    Attributes
    ----------
    options : callable
        Lists them as parameters of a command.
    collect : callable
        Makes of their values, by name, what the command gets.
    """

    options: Callable[[], list[inspect.Parameter]]
    collect: Callable[..., Any] = dict


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """Replace each bundle in the signature of a command by its options."""
    signature = inspect.signature(command, eval_str=True)
    bundles: dict[str, tuple[Bundle, list[str]]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in signature.parameters.values():
        bundle = next((part for part in get_args(parameter.annotation) if isinstance(part, Bundle)), None)
        if bundle is None:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))
        else:
            options = bundle.options()
            bundles[parameter.name] = bundle, [option.name for option in options]
            parameters += options

    @functools.wraps(command)
    def call(**given: Any) -> None:
        parts = {
            name: bundle.collect(**{option: given.pop(option) for option in options})
            for name, (bundle, options) in bundles.items()
        }
        command(**given, **parts)

    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


_TYPES: Mapping[type[Kind], type] = {
    Flag: bool,
    Integer: int,
    Number: float,
    ItemFile: Path,
    ItemWeights: Path,
}


def _parameter(
    name: str, kinds: Iterable[Kind], help_: str, panel: str | None, *, short: str = "", negated: bool = False
) -> inspect.Parameter:
    """Make an option that is None where it is not given."""
    types = {_TYPES.get(type(kind), str) for kind in kinds}
    type_: Any = types.pop() if len(types) == 1 else str
    long = f"--{name.replace('_', '-')}"
    if negated:
        long += f"/--no-{name.replace('_', '-')}"
    names = [long, *([f"-{short}"] if short else [])]
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=None,
        annotation=Annotated[type_ | None, typer.Option(*names, help=help_, rich_help_panel=panel)],
    )


def _shared(entries: Iterable[tuple[str, str]], most: int) -> str:
    """Write the help of an option that several own: whose it is, unless it means the same to many."""
    owners: dict[str, list[str]] = {}
    for owner, text in entries:
        owners.setdefault(text, []).append(owner)
    return " ".join(
        text if len(names) > most else f"{', '.join(names)}: {text[:1].lower()}{text[1:]}"
        for text, names in owners.items()
    )


def promise_options(*, drawn: bool) -> list[inspect.Parameter]:
    """Make the options of all privacy models; `drawn`: also those that draw items for experiments."""
    from setveil.guarantees import models

    found: dict[str, list[tuple[str, Option]]] = {}
    for model in models().values():
        for name, option in model.options.items():
            if drawn or option.drawn_with is None:
                found.setdefault(name, []).append((model.name, option))
    return [
        _parameter(
            name,
            [option.kind for _, option in entries],
            _shared(((owner, option.help) for owner, option in entries), 2),
            PROMISE,
            short=entries[0][1].short,
        )
        for name, entries in found.items()
    ]


def own_options() -> list[inspect.Parameter]:
    """Make the options of the parameters of all algorithms."""
    from setveil import algorithms

    found: dict[str, list[tuple[str, Option]]] = {}
    negated = set()
    for name in algorithms.names():
        parameters = algorithms.load(name).Parameters
        for key, option in options_of(parameters).items():
            found.setdefault(key, []).append((name, option))
        negated |= {field.name for field in fields(parameters) if field.default is True}
    return [
        _parameter(
            key,
            [option.kind for _, option in entries],
            _shared(((owner, option.help) for owner, option in entries), len(algorithms.names())),
            "Parameters of an algorithm",
            negated=key in negated,
        )
        for key, entries in found.items()
    ]


def reading_options(*without: str) -> list[inspect.Parameter]:
    """Make the options on how a file is read."""
    return [
        _parameter(name, [option.kind], option.help, READING)
        for name, option in options_of(ReadingOptions).items()
        if name not in without
    ]


Reading = Annotated[ReadingOptions, Bundle(reading_options, ReadingOptions)]
Promise = Annotated[dict[str, Any], Bundle(lambda: promise_options(drawn=True))]
PublishedPromise = Annotated[dict[str, Any], Bundle(lambda: promise_options(drawn=False))]
Own = Annotated[dict[str, Any], Bundle(own_options)]


def model_options(model: str, *names: str) -> list[inspect.Parameter]:
    """Make the options of one privacy model, or some of them."""
    from setveil.guarantees import models

    options = models()[model].options
    return [
        _parameter(name, [options[name].kind], options[name].help, PROMISE, short=options[name].short)
        for name in names or options
        if options[name].drawn_with is None
    ]
