"""The command ``read``."""

from __future__ import annotations

from typing import Any

from setveil.cli.engines import MEMORY
from setveil.cli.facts import Facts, facts_asked, read_facts, read_persons
from setveil.cli.help import ANSWER
from setveil.cli.options import Input, ReadHierarchies, Reading, flag, source_of
from setveil.cli.session import Answer
from setveil.cli.tables import Columns, read_table


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
    from setveil.cli.files import read_rows_and_ids
    from setveil.commands.reading import reading_record, reading_text

    asked = facts_asked(facts, columns, reading, {"m": None}, MEMORY, of_persons=bool(columns.qi))
    source = source_of(input, reading)
    progress("reading")
    data: Any
    ids = None
    if asked is not None and asked.of_persons:
        roles = asked.roles(hierarchy_files or (), reading.text_encoding)
        data = read_persons(source, asked, {"k": None}, 0, roles)
    elif asked is not None:
        data = read_facts(source, asked, {"k": None}, 0)
    elif columns.given:
        data, _ = read_table(source, columns, reading, hierarchy_files or ())
    else:
        data, ids = read_rows_and_ids(source, reading)
    record = reading_record(data, ids)
    return Answer(record, reading_text(record, first=show))
