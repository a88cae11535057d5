"""Options from a file, and the options of a run as its record repeats them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import click

from setveil.base.errors import DataError, RequestError, SetveilError, did_you_mean, shorten, unreadable
from setveil.base.plain_json import read_json, read_toml
from setveil.base.redact import redacted
from setveil.base.values.kinds import BARE, UpTo
from setveil.cli.session import fail
from setveil.cli.watched import is_watched

_NOT_REPEATED = {"config", "quiet", "threads", "unpacked_limit", "verbose"}  # they change no outcome
_NOT_TAKEN_ON = {"out", "force", "json", "trace"}  # a repeated run must not write over the first
_ONLY_TYPED = {"force"}  # what is replaced is said by who types, not by who wrote the file


def take_config(context: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
    """Let a file answer for the options that are not on the command line (the callback of --config)."""
    if path is not None and not context.resilient_parsing:
        try:
            context.default_map = _answers(context.command.params, _read(path), str(path))
        except SetveilError as error:
            fail(error)
    return path


def is_typed(context: click.Context, parameter: str) -> bool:
    """Whether the user typed a parameter: it is neither from a file nor from pages, which repeat files."""
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE" and not is_watched()


def require_typed(
    context: click.Context, parameter: click.Parameter, typed: Sequence[str] | None
) -> list[str]:
    """Refuse programs that the user did not type (the callback of --plugin): those that were are loaded."""
    files = typed or context.lookup_default("plugin") or []
    if not files:
        return []
    from setveil.runs.options.plugins import load_plugin

    try:
        for file in files:
            load_plugin(file, trusted=is_typed(context, "plugin"))
    except SetveilError as error:
        fail(error)
    return list(files)


def algorithm_of(path: Path) -> str:
    """Say which algorithm a file names; none where it cannot be read, which is told when it is needed."""
    try:
        return str(_read(path).get("algorithm") or "")
    except SetveilError:
        return ""


def _read(path: Path) -> Mapping[str, Any]:
    """Read a file of options: TOML, or the record of a run."""
    from setveil.rows.data.io.decoded import as_text
    from setveil.rows.data.io.source import read_bytes

    text = as_text(read_bytes(path), str(path)).content.decode()
    if path.suffix == ".json":
        try:
            content = read_json(text)
        except ValueError as error:
            raise unreadable(path, "is not JSON", error) from None
        options = content.get("options") if isinstance(content, dict) else None
        if not isinstance(options, dict):
            raise DataError(
                f"{path} records no options.", hint="Runs of `setveil anonymize` do, in internal/report.json."
            )
        return options
    try:
        return read_toml(text)
    except ValueError as error:
        raise unreadable(path, "is not TOML", error, "Lines such as k = 5.") from None


def _answers(parameters: Any, values: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Turn keys and values of a file into what the parameters of a command would be given."""
    known = {name: parameter for parameter in parameters if (name := _key(parameter)) != "config"}
    answers = {}
    for key, value in values.items():
        if key == "studio" and isinstance(value, Mapping):
            continue  # what the studio keeps beside in a project's file
        parameter = known.get(key.replace("_", "-"))
        if parameter is None:
            hint = (
                "It records a release of a series: `setveil series add` makes the next."
                if key == "series"
                else did_you_mean(key.replace("_", "-"), known, f"There are {', '.join(known)}.")
            )
            raise RequestError(f"{where}: this command has no option {shorten(key)}.", hint=hint)
        answer = _answer(f"{where}: {key}", parameter, value)
        if _key(parameter) not in _ONLY_TYPED:
            answers[parameter.name] = answer
    return answers


def _key(parameter: Any) -> str:
    """Name a parameter as a file does: an option by its long name, an argument by its own."""
    return next((str(name)[2:] for name in parameter.opts if name.startswith("--")), str(parameter.name))


def _answer(name: str, parameter: Any, value: Any) -> Any:
    if getattr(parameter, "is_flag", False):
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be true or false, got {value!r}.")
        return value
    if value is True and parameter.metavar == UpTo.metavar:
        return BARE  # what the option stands for that is given without a value
    several = parameter.nargs == -1 or getattr(parameter, "multiple", False)
    values = value if several and isinstance(value, list) else [value]
    for one in values:
        if isinstance(one, bool) or not isinstance(one, str | int | float | date):
            raise RequestError(
                f"{name} must be a text or a number{', or a list of texts' if several else ''}, got {one!r}."
            )
    texts = [str(one) for one in values]
    return texts if several else texts[0]


def options_in_use(context: click.Context) -> tuple[str, dict[str, Any]]:
    """Write down what a command was given, on the command line and by --config.

    The first answer is the shell line that repeats it, the second its options for --config, as JSON types,
    without those that say where to write. Secrets in connections are omitted.
    """
    words = context.command_path.split()
    options: dict[str, Any] = {}
    arguments: list[str] = []
    flags: list[str] = []
    for parameter in context.command.params:
        key, value = _key(parameter), context.params.get(str(parameter.name))
        source = context.get_parameter_source(str(parameter.name))
        if key in _NOT_REPEATED or value in (None, [], ()) or source is None or source.name == "DEFAULT":
            continue
        if isinstance(value, list | tuple) and parameter.param_type_name == "option":
            flags += [word for one in value for word in (f"--{key}", str(one))]
            options[key] = [str(one) for one in value] if len(value) > 1 else str(value[0])
        elif isinstance(value, list | tuple):
            arguments += map(str, value)
            options[key] = list(map(str, value))
        elif parameter.param_type_name == "argument":
            arguments.append(str(value))
            options[key] = str(value)
        elif isinstance(value, bool):
            flags += [f"--{key}"] if value else parameter.secondary_opts[:1]
            options[key] = value
        else:
            plain = value if isinstance(value, int | float) else str(value)
            if key == "connection":
                plain = redacted(str(value))
            flags += [f"--{key}", str(plain)]
            options[key] = plain
    first = ["--"] if any(argument.startswith("-") and argument != "-" for argument in arguments) else []
    line = shlex.join([*words, *flags, *first, *arguments] if first else [*words, *arguments, *flags])
    return line, {key: value for key, value in options.items() if key not in _NOT_TAKEN_ON}
