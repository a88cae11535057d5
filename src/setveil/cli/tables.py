"""Options that say what the columns of a table are, and what is read by them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from setveil.base.errors import RequestError
from setveil.cli.bundles import Bundle, column_options
from setveil.cli.help import TABLES
from setveil.cli.options import option
from setveil.cli.session import say
from setveil.runs.options.columns import OF_VALUES, PUBLISHED, split_hierarchies
from setveil.runs.options.columns import Columns as Words
from setveil.runs.options.reading import Reading

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.hierarchy.tree import Hierarchy
    from setveil.rows.tables.table import Table

OF_TABLES = "kkm"  # the model that is proposed for tables; also in `setveil.cli.files`


def _bundle(*names: str) -> Bundle:
    return Bundle(lambda: column_options(*names), Words)


Columns = Annotated[Words, _bundle()]
PublishedColumns = Annotated[Words, _bundle(*PUBLISHED)]
AttackedColumns = Annotated[Words, _bundle(*PUBLISHED, *OF_VALUES)]
TableShare = Annotated[
    str | None,
    option(TABLES, "Weight columns by this loss share (default: 1/4).", "SHARE"),
]


def require_no_columns(words: Words, model: str | None) -> None:
    """Refuse options of tables for a model, or a release (None), that is not about them."""
    if not words.explicit_options:
        return
    if model is None:
        hint = f"Omit {', '.join(words.explicit_options)}."
    elif words.explicit_options == ["--set"]:
        hint = "--item-column names the column of items, where nobody may know more of a person."
    else:
        hint = f"For tables there is --model {OF_TABLES}, without another --model or --algorithm"
        hint += as_of_tables()
    raise RequestError(
        f"{', '.join(words.explicit_options)}: only tables have such columns, and {model or 'the release'} "
        "is about rows of items.",
        hint=hint,
    )


def as_of_tables() -> str:
    """Write the command that was called as one about tables, if it names no other model or algorithm."""
    from setveil.cli.files import command_with

    words = {word.partition("=")[0] for word in sys.argv[2:]}
    if words & {"--model", "--algorithm", "-a", "--config", "--date-format"}:
        return "."
    return f":\n    {command_with(f'--model {OF_TABLES}')}"


def _tree(path: Any, encoding: str) -> Hierarchy | None:
    if path is None:
        return None
    from setveil.rows.hierarchy.io import read_hierarchy

    return read_hierarchy(path, encoding=encoding)


def read_table(
    source: Any, words: Words, reading: Reading, hierarchies: Sequence[str]
) -> tuple[Table, Hierarchy | None]:
    """Read a table and the hierarchy of its items; say how the columns were taken."""
    from dataclasses import replace

    from setveil.cli.files import say_notes, say_spellings
    from setveil.rows.tables.read import flat_notes, make_table, sentence, warnings_of
    from setveil.rows.tables.roles import read_roles, with_trees
    from setveil.runs.options.decode import require_file

    plain, named = split_hierarchies(hierarchies)
    if words.roles is not None:
        more = [name for name in words.explicit_options if name not in ("--roles", "--items-file")]
        if more or named:
            added = ", ".join(more or ["--hierarchy NAME=FILE"])
            raise RequestError(
                f"--roles says what columns are; {added} cannot be added.",
                hint=f"Write it into {words.roles}.",
            )
        roles = read_roles(words.roles, reading.text_encoding)
        if plain is not None:
            roles = replace(roles, hierarchy=plain)
    else:
        roles = words.as_roles(named, plain)
    for file in (*(known.hierarchy for known in roles.qi.values()), roles.hierarchy):
        require_file(None if file is None else Path(str(file)))
    roles = with_trees(roles, lambda path: _tree(path, reading.text_encoding))
    table = make_table(*_opened(source, words, reading, roles))
    say_notes(table.origin)
    say_spellings(table)
    name = "standard input" if source == "-" else source or "the answer"
    say(f"Reading {name}: {sentence(table, roles)}.")
    for warning in warnings_of(table):
        say(f"Warning: {warning}")
    for note in flat_notes(table):
        say(f"Note: {note}")
    return table, table.tree


def read_published(source: str, words: Words, reading: Reading) -> PublishedTable:
    """Read a published table of which the columns are named."""
    from setveil.releases.published.about import published_file
    from setveil.releases.published.table_files import read_published_table
    from setveil.rows.tables.read import settled
    from setveil.rows.tables.roles import read_roles

    roles = words.as_roles() if words.roles is None else read_roles(words.roles, reading.text_encoding)
    if Path(source).is_dir():
        source = str(published_file(Path(source)))
    how = settled(source, roles, words.as_how(reading))
    return read_published_table(source, list(roles.qi), roles.set_name, roles.keep, how)


def _opened(source: Any, words: Words, reading: Reading, roles: Any) -> tuple[Any, Any, Any]:
    how = words.as_how(reading)
    if reading.query is not None:
        raise RequestError("A table with roles is read from a file.", hint="Save the answer of the query.")
    if not isinstance(source, str):
        raise RequestError("A table with roles is one file.", hint="Put the files together.")
    return source, roles, how
