"""Help in layers: what nearly everyone needs, what applies to one algorithm or model, and everything.

Commands declare options (`setveil.cli.options`), and this module lays them out. ``--help-all`` shows all.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

PROMISE = "Guarantee"
ATTACKER = "Attacker"
ALGORITHM = "Algorithm"
MEASURES = "Measures"
TREE = "Hierarchy"
TABLES = "Columns of tables"
FACTS = "Facts: dates and amounts of codes"
READING = "Input"
OUTPUT = "Output"
ABOUT = "Report"
ANSWER = "Answer"
GENERAL = "General"
PANELS = (
    PROMISE,
    ATTACKER,
    ALGORITHM,
    MEASURES,
    TREE,
    TABLES,
    FACTS,
    READING,
    OUTPUT,
    ABOUT,
    ANSWER,
    GENERAL,
)
_GROUPS = {
    "Your data": (READING, TABLES, FACTS, TREE),
    "The guarantee": (PROMISE, ATTACKER, ALGORITHM),
    "The result": (MEASURES, OUTPUT, ABOUT, ANSWER, GENERAL),
}
USUAL = {
    "id_column": "Group lines into rows by this column.",
    "item_column": "Read items from this column, or DX1-DX20.",
    "qi": "Name columns that others may know: age,sex.",
    "set": "Name the column of items in such a table.",
    "k": "Hide everyone among at least N rows.",
    "m": "Protect against anyone who knows N items.",
    "sensitive": "Protect these items: a file, or a list.",
    "time_limit": "Stop after this time with the best so far.",
    "checker": "Also write a checker for recipients.",
    "external": "Also write a report that may be shared.",
}  # options of several commands that the first help shows, with its line on each
HIERARCHIES = ("hierarchy_file", "hierarchy_files")
_WIDEST = 100
_FIRST = 3  # examples in the first help
_LEFT = 28  # characters of the column of options


@dataclass(frozen=True)
class Meaning:
    """What an option means to some algorithms or models."""

    text: str
    owners: tuple[str, ...]
    panel: str


@dataclass(frozen=True)
class OptionHelp:
    """How the help shows an option, in addition to the settings of click."""

    panel: str | None
    # its line in the first help; empty: that of `USUAL`, or its whole text if the command declares it
    brief: str | None = ""  # None: it is not in the first help
    meanings: tuple[Meaning, ...] = ()  # if it has owners
    required: bool = False
    own: bool = True  # whether the command declares it, and not a bundle of several commands


@dataclass(frozen=True)
class HelpEntry:
    """An option or argument of a command, and how the help shows it."""

    parameter: Any
    shown: OptionHelp

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument."""
        return bool(self.parameter.param_type_name == "argument")

    @property
    def names(self) -> str:
        """Its names and what it accepts, as the column on the left shows them."""
        one = self.parameter
        if self.is_argument:
            return str(one.metavar or one.name.upper())
        words = sorted([*one.opts], key=lambda word: word.startswith("--"))
        words += one.secondary_opts
        takes = "" if one.is_flag else f" {one.metavar or ''}".rstrip()
        return ", ".join(words) + takes

    @property
    def group(self) -> str:
        """The group of the first help that it is in."""
        return next(name for name, panels in _GROUPS.items() if self.panel in panels)

    @property
    def panel(self) -> str:
        """Its panel, without the owners that the panel may name."""
        panel = READING if self.parameter.name in HIERARCHIES else self.shown.panel or READING
        return next((name for name in PANELS if panel.startswith(name)), OUTPUT)

    @property
    def brief(self) -> str:
        """Its line in the first help; empty: it is only in the whole help."""
        shown, _name = self.shown, self.parameter.name
        if shown.brief is None or (self.is_argument and not self.parameter.help):
            return ""
        return shown.brief or (self.text if shown.own else USUAL.get(str(self.parameter.name), ""))

    @property
    def text(self) -> str:
        """All that is said of it."""
        return with_default(self.parameter.help or "", self.parameter)


def with_default(text: str, parameter: Any) -> str:
    """Add the default to what is said of an option, unless it says that itself."""
    default = parameter.default
    worth_saying = default and default is not True and isinstance(default, str | int | float | Path)
    if not worth_saying or "default" in text:
        return text
    return f"{text.removesuffix('.')} (default: {default})."


def width() -> int:
    """Return how many characters a line of help may have."""
    return min(shutil.get_terminal_size().columns, _WIDEST)


def first_help(
    usage: str, words: str, examples: Sequence[str], entries: Sequence[HelpEntry], name: str
) -> str:
    """Write what nearly everyone needs."""
    brief = [(entry, entry.brief) for entry in entries if not entry.parameter.hidden]
    lines = [*_begun(usage, words, examples[:_FIRST])]
    for group, panels in _GROUPS.items():
        some = [(entry, text) for entry, text in brief if text and entry.group == group]
        some = [one for panel in panels for one in some if one[0].panel == panel]
        some.sort(key=lambda one: one[0].panel == PROMISE and one[0].shown.own)  # k and m before --model
        rows = [(entry.names, text) for entry, text in some]
        lines += _table(group, rows)
    rest = sum(1 for _, text in brief if not text)
    lines += ["", *_wrapped(_where_the_rest_is(name, rest, entries))]
    return "\n".join(lines)


def _where_the_rest_is(name: str, rest: int, entries: Sequence[HelpEntry]) -> str:
    own = any(entry.shown.meanings for entry in entries)
    chosen = {entry.parameter.name for entry in entries} & {"algorithm", "model"} if own else set()
    one = " or ".join(f"--{word} NAME --help" for word in sorted(chosen, reverse=True))
    return (
        f"All options: {name} --help-all."
        + (f" Those of one {' or '.join(sorted(chosen, reverse=True))}: {one}." if one else "")
        + " Options of all commands, such as --json: setveil --help."
    )


def whole_help(usage: str, words: str, examples: Sequence[str], entries: Sequence[HelpEntry]) -> str:
    """Write everything."""
    lines = [*_begun(usage, words, examples)]
    for panel, rows in _panels(entries).items():
        lines += _table(panel, rows)
    return "\n".join(lines)


def help_of_owners(
    usage: str, words: str, entries: Sequence[HelpEntry], owners: Sequence[str], name: str
) -> str:
    """Write what applies to some algorithms and models, and nothing else."""
    lines = [*_begun(usage, words, ())]
    for panel, rows in _panels(entries, owners).items():
        lines += _table(panel, rows)
    lines += ["", *_wrapped(f"What nearly everyone needs: {name} --help. All options: {name} --help-all.")]
    return "\n".join(lines)


def _panels(entries: Sequence[HelpEntry], owners: Iterable[str] = ()) -> dict[str, list[tuple[str, str]]]:
    """Sort options into panels: those of many owners, then those of a few; of `owners` alone, if any."""
    found: dict[str, list[tuple[str, str]]] = {}
    for entry in entries:
        if entry.parameter.hidden and not owners:
            continue
        for meaning in entry.shown.meanings:
            if not owners or {*owners} & {*meaning.owners}:
                text = with_default(meaning.text, entry.parameter)
                panel = meaning.panel if not owners else _of(meaning, owners)
                found.setdefault(panel, []).append((entry.names, text))
        if not entry.shown.meanings:
            panel = "Arguments" if entry.is_argument else entry.shown.panel or GENERAL
            found.setdefault(panel, []).append((entry.names, entry.text))
    return dict(sorted(found.items(), key=lambda item: _place(item[0])))


def _of(meaning: Meaning, owners: Iterable[str]) -> str:
    return f"{meaning.panel.partition(':')[0]}: {', '.join(one for one in owners if one in meaning.owners)}"


def _place(panel: str) -> int:
    if panel == "Arguments":
        return -1
    return next((place for place, name in enumerate(PANELS) if panel.startswith(name)), len(PANELS))


def list_of_commands(
    usage: str, words: str, commands: Mapping[str, Sequence[tuple[str, str]]], tables: Sequence[Any], end: str
) -> str:
    """Write which commands there are, in groups, and the options of the group itself."""
    lines = [*_begun(usage, words, ())]
    for title, rows in [*commands.items(), *tables]:
        lines += _table(title, list(rows), 14 if title in commands else _LEFT)
    if end:
        lines.append("")
        for part in end.split("\n"):
            lines += _example(part) if part.startswith("$ ") else _wrapped(part)
    return "\n".join(lines)


def _begun(usage: str, words: str, examples: Sequence[str]) -> Iterator[str]:
    yield usage
    for paragraph in words.split("\n\n"):
        yield ""
        yield from _wrapped(paragraph)
    if examples:
        yield ""
        yield "Example:" if len(examples) == 1 else "Examples:"
        for line in examples:
            yield from _example(line)


def _example(line: str) -> Iterator[str]:
    """Break a command that is too long for the terminal, so that it still works if it is pasted."""
    if len(line) + 2 <= shutil.get_terminal_size().columns:
        yield f"  {line}"
        return
    lines = textwrap.wrap(
        line, shutil.get_terminal_size().columns - 4, subsequent_indent="    ", break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip
    yield from (f"  {one} \\" for one in lines[:-1])
    yield f"  {lines[-1]}"


def _table(title: str, rows: Sequence[tuple[str, str]], left: int = _LEFT) -> Iterator[str]:
    """Write rows of two columns under a title."""
    if rows:
        yield ""
        yield f"{title}:"
    for name, text in rows:
        lines = textwrap.wrap(" ".join(text.split()), width() - left, break_on_hyphens=False) or [""]
        if len(name) > left - 3:
            yield from _wrapped(name, "  ")
        else:
            yield f"  {name:<{left - 2}}{lines.pop(0)}".rstrip()
        yield from (f"{'':{left}}{line}" for line in lines)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(
        " ".join(text.split()),
        width(),
        initial_indent=indent,
        subsequent_indent=indent,
        break_on_hyphens=False,
    ) or [""]


def about(owners: Sequence[str]) -> str:
    """Describe the algorithm and the models that the help is about."""
    from setveil.judges.guarantees import model_named
    from setveil.methods import algorithms

    paragraphs = []
    for name in owners:
        if name in algorithms.names():
            info = algorithms.load(name).info
            uses = f"{', '.join(info.needs) or 'the data alone'}"
            uses += f", can use {', '.join(info.takes)}" if info.takes else ""
            paragraphs += [
                f"{name}: {info.title}. {info.summary}",
                f"Gives {', '.join(info.guarantees)}; needs {uses}.",
                f"Source: {info.reference}",
            ]
    if not paragraphs:
        model = model_named(owners[0])
        giving = algorithms.giving(model.name)
        paragraphs = [
            f"{model.name}: {model.title}.",
            f"Algorithms: {model.algorithm} (first choice), "
            f"{', '.join(one for one in giving if one != model.algorithm)}.".replace(", .", "."),
        ]
    return "\n\n".join(paragraphs)


def applying(entries: Sequence[HelpEntry], owners: Sequence[str]) -> list[HelpEntry]:
    """List the options that some algorithms and models declare, or need."""
    from setveil.judges.guarantees import model_named, models
    from setveil.methods import algorithms

    of_models = [name for name in owners if name in models()]
    chosen = [name for name in owners if name not in of_models] or [model_named(of_models[0]).algorithm]
    trees = any("hierarchy" in algorithms.load(name).info.uses for name in chosen)
    only_tables = all(model_named(name).release == "tables" for name in of_models)
    return [
        entry
        for entry in entries
        if entry.shown.meanings
        or (trees and entry.parameter.name in HIERARCHIES)
        or (only_tables and entry.shown.panel == TABLES)
    ]
