"""The command ``read``."""

from __future__ import annotations

from typing import Any

from setveil.base.errors import SetveilError
from setveil.cli.bundles import Reading, source_of
from setveil.cli.engines import MEMORY
from setveil.cli.facts import Facts, facts_reader
from setveil.cli.help import ANSWER
from setveil.cli.options import Input, ReadHierarchies, flag
from setveil.cli.readers import reader_of
from setveil.cli.session import Answer
from setveil.cli.tables import Columns


def read(
    progress: Any,
    input: Input = None,  # noqa: A002
    hierarchy_files: ReadHierarchies = None,
    show: bool = flag(ANSWER, "Also show the first rows as people and items."),
    *,
    columns: Columns,
    facts: Facts,
    reading: Reading,
) -> Answer:
    """Show how files are read, without writing anything.

    $ setveil read q1.csv --id-column patient --item-column code --show
    $ setveil read baskets.csv --show
    $ setveil read ward.csv --qi age,sex --set dx --show
    $ setveil read log.csv --id-column id --set dx --when on:month --show
    """
    from setveil.base.errors import TableError
    from setveil.commands.reading import reading_record, reading_text

    alone = not columns.qi
    facts_too = facts_reader(facts, columns, reading, hierarchy_files, {"m": None}, MEMORY, alone=alone)
    source = source_of(input, reading)
    progress("reading")
    reader = facts_too or reader_of(columns, reading, hierarchy_files)
    try:
        data, ids = reader.read_with_ids(source)
        if not reader.reads_hierarchies and not facts_too and (tree := reader.tree()) is not None:
            data = data.with_spellings_of(tree.labels[: tree.n_leaves])
    except TableError as error:
        if not show or error.readings or error.logs or not isinstance(source, str):
            raise
        return _lines(error, source, reading)
    record = reading_record(data, ids)
    return Answer(record, reading_text(record, first=show))


def _lines(error: Any, source: str, reading: Any) -> Answer:
    """Show the first lines of a file without a proposed reading."""
    from setveil.cli.files import OF_FIELDS
    from setveil.commands.reading import lines_text
    from setveil.rows.data.io.one_file import first_lines
    from setveil.rows.data.io.source import open_source

    said = {name: value for name, value in reading.explicit_options().items() if name in OF_FIELDS}
    try:
        lines = first_lines(error.source or open_source(source), **said)
    except SetveilError:
        raise error from None
    return Answer({"question": error.message, "lines": lines}, lines_text(error, lines))
