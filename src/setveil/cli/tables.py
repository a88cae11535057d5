"""Options that say what the columns of a table are, and what is read by them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from setveil.cli.options import TABLES, Bundle, as_words, option, parameters_of
from setveil.cli.session import say
from setveil.errors import RequestError, TableError
from setveil.options.reading import Reading

if TYPE_CHECKING:
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.table_files import PublishedTable
    from setveil.tables.table import Table

OF_TABLES = "kkm"  # the model that is proposed for tables


@dataclass(frozen=True)
class TableWords:
    """What was said of the columns of a table; None or empty: nothing."""

    roles: Path | None = option(
        TABLES, "What each column is: a TOML file, in place of the options below.", "FILE"
    )
    qi: str | None = option(TABLES, "Columns that someone may know of a person, such as age,sex.", "COLUMNS")
    set: str | None = option(
        TABLES, "The column of items; of items in several columns or files, what to call it.", "COLUMN"
    )
    items_file: Path | None = option(TABLES, "Items in a second table, joined by --id-column.", "FILE")
    delimiter: str | None = option(TABLES, "Between the items of a field (default: ;).", "SIGN")
    keep_columns: str | None = option(
        TABLES, "Columns to publish as they are: nobody outside can know them.", "COLUMNS"
    )
    drop: str | None = option(TABLES, "Columns not to publish, like all that have no role.", "COLUMNS")
    numeric: str | None = option(
        TABLES, "These of --qi are numbers (default: if all values are and there is no hierarchy).", "COLUMNS"
    )
    categorical: str | None = option(
        TABLES, "These of --qi are not numbers, even if they look so.", "COLUMNS"
    )
    ranges: list[str] | None = option(
        TABLES, "Build a hierarchy of ranges, such as age=10. May be repeated.", "COLUMN[=WIDTH]"
    )
    weight: list[str] | None = option(
        TABLES, "How much a column's loss counts (default: 1). May be repeated.", "COLUMN=NUMBER"
    )
    missing: list[str] | None = option(
        TABLES,
        "Values that mean that there is none, such as age=NA,unknown. May be repeated.",
        "COLUMN=VALUES",
    )

    @property
    def given(self) -> list[str]:
        """The options that were given."""
        return [f"--{field.name.replace('_', '-')}" for field in fields(self) if getattr(self, field.name)]

    def arguments(self, hierarchies: Sequence[str] = ()) -> list[str]:
        """Return what was given, and hierarchies, as they are written on the command line."""
        given = {field.name: getattr(self, field.name) or None for field in fields(self)}
        return as_words(given | {"hierarchy": hierarchies})


_PUBLISHED = ("roles", "qi", "set", "items_file", "delimiter", "keep_columns")
_OF_VALUES = ("numeric", "categorical", "missing")


def _bundle(*names: str) -> Bundle:
    """Bundle the options of tables, or some of them."""
    nothing = dict.fromkeys(field.name for field in fields(TableWords))
    return Bundle(
        lambda asked: [one for one in parameters_of(TableWords) if one.name in (names or nothing)],
        lambda **given: TableWords(**nothing | given),
    )


Columns = Annotated[TableWords, _bundle()]
PublishedColumns = Annotated[TableWords, _bundle(*_PUBLISHED)]
AttackedColumns = Annotated[TableWords, _bundle(*_PUBLISHED, *_OF_VALUES)]
TableShare = Annotated[
    str | None,
    option(TABLES, "Of the columns in the loss of a table; the rest is the items' (default 1/4).", "SHARE"),
]


def require_tables(words: TableWords, model: str, of_tables: bool) -> None:
    """Refuse options of tables where a model is not about them."""
    if words.given and not of_tables:
        from setveil.cli.files import command_with

        raise RequestError(
            f"{', '.join(words.given)}: only tables have such columns, and {model} is about rows of items.",
            hint=f"`{command_with(f'--model {OF_TABLES}')}` protects tables.",
        )


def split_hierarchies(given: Sequence[str], of_tables: bool) -> tuple[str | None, dict[str, str]]:
    """Take --hierarchy apart: FILE is that of the items, NAME=FILE that of a column."""
    plain: list[str] = []
    named: dict[str, str] = {}
    for text in given:
        name, sign, file = text.partition("=")
        if not (of_tables and sign) or Path(text).exists():
            plain.append(text)
        elif name in named:
            raise RequestError(f"--hierarchy: column {name!r} has two, {named[name]} and {file}.")
        else:
            named[name] = file
    if len(plain) > 1:
        raise RequestError(
            f"--hierarchy: {len(plain)} files are given for the items, expected one.",
            hint="That of a column is named with it: --hierarchy age=age.csv.",
        )
    return next(iter(plain), None), named


def items_tree(given: Sequence[str] | None, *, of_table: bool) -> Path | None:
    """Say where the hierarchy of rows of items is; that of a table is read with it."""
    plain, _ = split_hierarchies(given or (), of_table)
    return None if plain is None or of_table else Path(plain)


def read_either(
    source: Any, words: TableWords, reading: Reading, hierarchies: Sequence[str] | None, *, of_table: bool
) -> tuple[Any, Hierarchy | None]:
    """Read a table or rows of items, and the hierarchy of the items, if there is one."""
    from setveil.cli.files import read_rows
    from setveil.hierarchy.io import read_hierarchy

    if of_table:
        return read_table(source, words, reading, hierarchies or ())
    file = items_tree(hierarchies, of_table=False)
    tree = None if file is None else read_hierarchy(file, encoding=reading.text_encoding)
    return read_rows(source, reading), tree


def read_table(
    source: Any, words: TableWords, reading: Reading, hierarchies: Sequence[str]
) -> tuple[Table, Hierarchy | None]:
    """Read a table and the hierarchy of its items; say how the columns were taken."""
    from dataclasses import replace

    from setveil.cli.files import command_with
    from setveil.hierarchy.io import read_hierarchy
    from setveil.options.decode import require_file
    from setveil.tables.read import make_table, sentence, warnings_of
    from setveil.tables.roles import make_roles, read_roles, with_trees

    plain, named = split_hierarchies(hierarchies, of_tables=True)
    if words.roles is not None:
        more = [name for name in words.given if name not in ("--roles", "--items-file")]
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
        roles = make_roles(
            qi=_names(words.qi), set_name=_one(words.set), keep=_names(words.keep_columns),
            drop=_names(words.drop),
            hierarchies=named, numeric=_names(words.numeric), categorical=_names(words.categorical),
            ranges=_pairs("ranges", words.ranges, alone=True), weights=_pairs("weight", words.weight),
            missing={name: _names(values) for name, values in _pairs("missing", words.missing).items()},
            hierarchy=plain, delimiter=words.delimiter,
        )  # fmt: skip
    for file in (*(known.hierarchy for known in roles.qi.values()), roles.hierarchy):
        require_file(None if file is None else Path(str(file)))
    roles = with_trees(
        roles, lambda path: None if path is None else read_hierarchy(path, encoding=reading.text_encoding)
    )
    try:
        table = make_table(*_opened(source, words, reading, roles))
    except TableError as error:
        error.say_how(command_with)
        raise
    name = "standard input" if source == "-" else source or "the answer"
    say(f"Reading {name}: {sentence(table, roles)}.")
    for warning in warnings_of(table):
        say(f"Warning: {warning}")
    return table, table.tree


def read_published(source: str, words: TableWords, reading: Reading) -> PublishedTable:
    """Read a published table of which the columns are named."""
    from setveil.cli.files import command_with
    from setveil.published.about import published_file
    from setveil.published.table_files import read_published_table
    from setveil.tables.read import settled
    from setveil.tables.roles import make_roles, read_roles

    if words.roles is None:
        roles = make_roles(
            qi=_names(words.qi), set_name=_one(words.set), keep=_names(words.keep_columns),
            delimiter=words.delimiter,
        )  # fmt: skip
    else:
        roles = read_roles(words.roles, reading.text_encoding)
    if Path(source).is_dir():
        source = str(published_file(Path(source)))
    try:
        how = settled(source, roles, _how(words, reading))
    except TableError as error:
        error.say_how(command_with)
        raise
    return read_published_table(source, list(roles.qi), roles.set_name, roles.keep, how)


def _opened(source: Any, words: TableWords, reading: Reading, roles: Any) -> tuple[Any, Any, Any]:
    how = _how(words, reading)
    if reading.query is not None:
        raise RequestError("A table with roles is read from a file.", hint="Save the answer of the query.")
    if not isinstance(source, str):
        raise RequestError("A table with roles is one file.", hint="Put the files together.")
    return source, roles, how


def _how(words: TableWords, reading: Reading) -> Any:
    from setveil.tables.columns import How

    if reading.same_ids:
        raise RequestError("--same-ids does not apply to tables with roles: each is one file.")
    return How(
        reading.format, reading.encoding, reading.separator, words.delimiter, reading.item_columns,
        words.items_file, reading.id_column, reading.item_column, tuple(_names(reading.not_ids)),
    )  # fmt: skip


def _names(text: str | None) -> list[str]:
    """Take a list of columns apart, quoted as in csv where a name holds a comma."""
    from setveil.data.columns import split_names

    return [] if text is None else split_names(text)


def _one(text: str | None) -> str | None:
    """Take the one column that --set names."""
    from setveil.tables.roles import require_one

    names = _names(text)
    require_one(names, "set")
    return names[0] if names else None


def _pairs(key: str, texts: Sequence[str] | None, *, alone: bool = False) -> dict[str, Any]:
    """Take COLUMN=VALUE apart; `alone`: a column may be named without a value."""
    found: dict[str, Any] = {}
    for text in texts or ():
        cut = text.partition if key == "missing" else text.rpartition
        name, sign, value = cut("=") if "=" in text else (text, "", "")
        if not sign and not alone:
            form = getattr(TableWords, key).settings()["metavar"]
            raise RequestError(f"--{key} must be {form}, got {text!r}.")
        for one in [name] if sign else _names(name):
            if one in found:
                raise RequestError(f"--{key}: column {one!r} is given twice.")
            found[one] = value if sign else True
    return found
