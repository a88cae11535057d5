"""The reference of the command line: a page for each command, made of the program itself.

Each option has an anchor, and links to the sections of other pages that say what it is for. An option that no
page names is an error.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from sphinx.util import logging

from extensions.outside import keep_only, write_if_new

_LOG = logging.getLogger(__name__)
_MOST = 3  # sections that an option links to
_MADE = {"api", "commands", "gallery", "project"}  # folders of pages that are made


def setup(app: Any) -> dict[str, Any]:
    """Make the pages."""
    app.add_config_value("site_commands", {}, "env")
    app.connect("config-inited", _make)  # before Sphinx lists its pages
    return {"parallel_read_safe": True}


@dataclass(frozen=True)
class Command:
    """A command: its name with those of its groups, and click's own record of it."""

    name: str
    made: Any
    context: Any

    @property
    def page(self) -> str:
        """Name of its page."""
        return self.name.replace(" ", "-")


def commands() -> Iterator[Command]:
    """List the commands of the program, with all their options."""
    from setveil.cli.app import app_for

    listed = app_for([])
    for name in listed.commands:
        for command in _below(app_for([name]).commands[name], name):
            yield Command(command[0], command[1], command[1].make_context(name, [], resilient_parsing=True))


def _below(command: Any, name: str) -> Iterator[tuple[str, Any]]:
    inner = getattr(command, "commands", None)
    if inner is None:
        yield name, command
    for word, one in (inner or {}).items():
        yield from _below(one, f"{name} {word}")


def _make(app: Any, config: Any) -> None:
    prose = config.site_commands
    if not prose:
        return
    docs = Path(app.srcdir)
    sections = sections_of(docs)
    folder = docs / "commands"
    listed = list(commands())
    keep_only(folder, {command.page for command in listed})
    for command in listed:
        about = prose.get(command.name.split(" ")[0], [])
        if not about:
            _LOG.warning("setveil %s: site_commands names no page for it", command.name, type="site")
        write_if_new(folder / f"{command.page}.rst", "\n".join(_page(command, about, sections)))
    lines = [
        *_title("Commands", "="),
        "What ``--help-all`` says of each, with links to the pages that explain it.",
    ]
    lines += ["What all have in common is on :doc:`/cli`.", "", ".. toctree::", "   :maxdepth: 1", ""]
    lines += [f"   {command.page}" for command in listed]
    write_if_new(folder / "index.rst", "\n".join([*lines, ""]))


def _title(text: str, line: str) -> list[str]:
    return [text, line * len(text), ""]


def _page(command: Command, about: Sequence[str], sections: Sequence[Section]) -> Iterator[str]:
    from setveil.cli.command import entries_of

    made, context = command.made, command.context
    yield from _title(f"setveil {command.name}", "=")
    yield f".. program:: setveil {command.name}"
    yield ""
    for paragraph in (made.help or "").split("\n\n"):
        yield _escaped(" ".join(paragraph.split()))
        yield ""
    if about:
        yield f"Explained on {', '.join(f':doc:`/{page}`' for page in about)}."
        yield ""
    examples = [line.strip() for line in (made.epilog or "").splitlines() if line.strip().startswith("$ ")]
    if examples:
        yield from (".. code-block:: console", "", *(f"   {line}" for line in examples), "")
    arguments = [one for one in made.get_params(context) if one.param_type_name == "argument"]
    if arguments:
        yield from _title("Arguments", "-")
        for one in arguments:
            yield f"``{one.metavar or one.name.upper()}``"
            yield f"   {_escaped(one.help or '')}"
            yield ""
    panels: dict[str, list[Any]] = {}
    for entry in entries_of(made.get_params(context)):
        if not entry.is_argument and not entry.parameter.hidden:
            panels.setdefault(entry.shown.panel or "General", []).append(entry)
    for panel, options in panels.items():
        yield from _title(panel, "-")
        for entry in options:
            yield from _option(command, entry, about, sections)


def _option(command: Command, entry: Any, about: Sequence[str], sections: Sequence[Section]) -> Iterator[str]:
    one = entry.parameter
    words = sorted([*one.opts, *one.secondary_opts], key=lambda word: not word.startswith("--"))
    takes = (
        ""
        if one.is_flag or one.count
        else f" <{(one.metavar or one.make_metavar(command.context)).strip('<>')}>"
    )
    yield f".. option:: {', '.join(f'{word}{takes}' for word in words)}"
    yield ""
    yield f"   {_escaped(' '.join(entry.text.split()))}"
    if "--help" not in words:
        named = _naming(words, about, sections)
        if not named:
            _LOG.warning("setveil %s %s: no page says what it is for", command.name, words[0], type="site")
        else:
            links = ", ".join(f"`{_escaped(one.title)} <../{one.address}>`__" for one in named)
            yield ""
            yield f"   *See* {links}."
    yield ""


def _escaped(text: str) -> str:
    return re.sub(r"([\\`*_|<])", r"\\\1", text)


@dataclass(frozen=True)
class Section:
    """A section of a page: its title, its address in the site, its text."""

    page: str
    title: str
    address: str
    text: str


def sections_of(docs: Path) -> list[Section]:
    """List the sections of all pages that are written by hand."""
    found = []
    for path in sorted(docs.rglob("*.md")):
        inside = path.relative_to(docs)
        if inside.parts[0] not in _MADE:
            found += _sections(inside.with_suffix("").as_posix(), path.read_text(encoding="utf-8"))
    return found


def _sections(page: str, text: str) -> Iterator[Section]:
    title, top, anchor, lines, fenced = "", "", "", [], False
    for line in [*text.splitlines(), "# "]:
        fenced ^= line.startswith("```")
        if fenced or not re.match(r"#{1,5} ", line):
            lines.append(line)
            continue
        if title:
            shown = title if title == top else f"{top}: {title}"
            yield Section(page, shown, f"{page}.html{anchor}", "\n".join(lines))
        lines, title = [], re.sub(r"[`*]", "", line.lstrip("#").strip())
        anchor = f"#{slug(line.lstrip('#').strip())}" if top else ""
        top = top or title


def slug(heading: str) -> str:
    """Return the anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def _naming(words: Sequence[str], about: Sequence[str], sections: Sequence[Section]) -> list[Section]:
    """List the sections that name an option, those of the command's own pages and in prose first."""
    named = [(section, times) for section in sections if (times := _times(section.text, tuple(words)))]
    named.sort(key=lambda one: (one[0].page not in about, -one[1]))
    return [section for section, _ in named[:_MOST]]


@cache
def _times(text: str, words: tuple[str, ...]) -> int:
    """Count how often a text names an option; between backticks counts more than in a command."""
    longest = [word for word in words if word.startswith("--")] or words
    pattern = "|".join(re.escape(word) for word in longest)
    whole = len(re.findall(rf"(?<![\w-])(?:{pattern})(?![\w-])", text))
    return whole + 10 * len(re.findall(rf"`(?:{pattern})(?![\w-])", text))
