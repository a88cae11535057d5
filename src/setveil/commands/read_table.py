"""Read tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike, fspath
from typing import Any

from setveil.base.errors import RequestError, TableError, described, spoken
from setveil.commands.arguments import explicit_arguments, is_path, tree_of
from setveil.releases.published.table_files import PublishedTable
from setveil.releases.published.table_files import read_published_table as published_table
from setveil.rows.data.also import also_of
from setveil.rows.data.lacking import lacking_of
from setveil.rows.data.skipped import lines_of
from setveil.rows.tables.how import How
from setveil.rows.tables.read import make_table
from setveil.rows.tables.roles import TreeLike, make_roles, read_roles, require_one, with_trees
from setveil.rows.tables.table import Table


def read_table(
    source: str | PathLike[str] | object,
    *,
    qi: str | Iterable[str] | Mapping[str, Mapping[str, Any]] = (),
    set: str | None = None,  # noqa: A002  (the word that users know)
    keep: str | Iterable[str] = (),
    drop: str | Iterable[str] = (),
    hierarchies: Mapping[str, TreeLike] | None = None,
    numeric: str | Iterable[str] = (),
    categorical: str | Iterable[str] = (),
    ranges: str | Iterable[str] | Mapping[str, Any] = (),
    bounds: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    missing: str | Sequence[str] | Mapping[str, str | Sequence[str]] | None = None,
    roles: str | PathLike[str] | None = None,
    delimiter: str | None = None,
    item_columns: str | Sequence[str] | None = None,
    items: str | PathLike[str] | object | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    not_ids: str | Iterable[str] = (),
    normalize: str | None = None,
    skip_lines: str | int | None = None,
    skip_last: int | None = None,
    comment: str | None = None,
    header_lines: int | None = None,
    not_missing: str | Sequence[str] | None = None,
    missing_id: str | None = None,
    missing_item: str | None = None,
    fill_id: bool = False,
    format: str | None = None,  # noqa: A002  (the word that users know)
    encoding: str | None = None,
    separator: str | None = None,
    yes: str | Sequence[str] | None = None,
    quote: str | None = None,
    decimal: str | None = None,
    sheet: str | None = None,
    per_person: Mapping[str, str] | None = None,
    ages: Mapping[str, str | tuple[str, str]] | None = None,
    also: str | Sequence[str] | Mapping[str, str] | None = None,
) -> Table:
    r"""Read a table: persons, columns that someone may know of them, and a set of items.

    A line is a person, or with `id_column` all lines of one id.

    Parameters
    ----------
    source : path, data frame or Arrow stream
        A csv file with a header line, Parquet, JSON lines, a spreadsheet (also compressed, ``-`` is standard
        input); or an object with an Arrow stream (polars, pandas, pyarrow, DuckDB, ...).
    qi : list of str, or dict
        Columns that someone may know (quasi-identifiers). A dict says more of each: `kind` ("numeric" or
        "categorical"), `hierarchy`, `ranges`, `bounds`, `weight`, `missing`, as the parameters below do.
    set : str
        The column of items: lists, or fields such as ``I10;E11``. Where items are in several columns or in
        a second table: what their column is to be called (by default ``items``).
    keep : list of str
        Columns to be published as they are, because nobody outside can know them.
    drop : list of str
        Columns not to be published. Neither are those that are named nowhere; `Table.dropped` lists both.
    hierarchies : dict of str to (Hierarchy, path, dict or data frame)
        What the values of columns may become; also of the items, by the name given for `set`.
    numeric, categorical : list of str
        Kinds of quasi-identifiers. By default a column without hierarchy is numeric if all its values are
        decimal numbers, none with a needless zero in front.
    ranges : list of str, or dict of str to number
        Numeric columns that get a hierarchy of ranges, and how wide the narrowest ones are.
    bounds : dict of str to (number, number)
        Numbers between which all values of a column lie, whatever occurs: outer ranges end there.
    weights : dict of str to number
        How much what a column loses counts, by default 1.
    missing : dict of str to (str or list of str), or str
        Values of columns that mean that there is none, such as ``{"age": ["NA", "unknown"]}``; of every
        column as a text: ``"unknown,999"``.
    not_missing : str or list of str, optional
        Words that usually mean that there is none, and are items here.
    missing_id : {"stop", "skip"}, optional
        What becomes of lines without an ID, by default an error.
    missing_item : {"skip", "stop"}, optional
        What becomes of lines without an item: by default they are skipped, and their person stays.
    fill_id : bool
        Whether an ID stands once for a group of lines.
    roles : path
        A TOML file that says all this, in place of the parameters above.
    delimiter : str
        Between the items of a field, by default ``;``.
    item_columns : str or list of str
        Several columns that hold an item each: names, or a text with ranges (``DX1-DX20``) and patterns.
    items : path or data frame
        A long table with a line for each id and item.
    id_column : str
        Says whom a line is about: lines of one value are one row, which holds all their items; in columns
        that are published they must agree. Both tables have it where there are two.
    item_column : str
        The column of `items` that holds the item, where it has more than two.
    normalize : {"codes", "text", "none"}, optional
        Make spellings of an item one item, as for `setveil.read`.
    skip_lines : int or str, optional
        How many first lines are no data; or which lines, by number: ``"1-3,359"``. 0 says that none is.
    skip_last : int, optional
        How many last lines are no data. 0 says that none is.
    comment : str, optional
        Lines that begin with it are no data, such as ``#``. Without it, only such lines above a table.
    header_lines : int, optional
        How many lines stand above the data; the first that has a name for a column counts.
    not_ids : list of str
        Columns that look like person IDs but are not: they may be published, and where their
        values come again the lines are persons of their own.
    format : {"parquet", "jsonl"}, optional
        Of the file, where neither its name nor its content tells.
    encoding, separator : str, optional
        Of text, and between its fields (one sign or several); by default detected.
    yes : str or list of str, optional
        Values of `item_columns` that mean that the item of the column is there, as for `setveil.read`.
    quote : {"double", "none"}, optional
        Whether double quotes protect what is between them, as for `setveil.read`.
    decimal : {",", "."}, optional
        The decimal sign of numbers; by default a comma where all numbers of a column have it.
    sheet : str, optional
        Of a spreadsheet: its name, its number from 1, or ``"all"``.
    per_person : mapping of str to {"first", "last", "most-frequent", "least", "greatest"}, optional
        Which value counts of a column that differs on the lines of an id.
    ages : mapping of str to (str, str), optional
        Columns of ages, named in `qi` or `keep`: of each, the column of the date of birth, and that of the
        other date, or one day for all, as in ``{"age": ("born", "2024-12-31")}``.
    also : str, list of str, or dict, optional
        Further files about the same persons, as for `setveil.read`: the items of their column or columns are
        added by `id_column`. Each person in them must be in the table.

    Returns
    -------
    Table

    Raises
    ------
    RequestError
        If something that was said contradicts itself.
    TableError
        If the quasi-identifiers or the column of items are unknown, or a column seems to contain IDs that
        would be published, or that several lines share.
    DataError
        If the table cannot be read, lines of one id contradict each other, or a column does not hold what its
        role asks for.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("ward.csv").write_text("patient,age,sex,codes\n1,34,F,I21;J18\n2,36,F,\n3,41,M,J18\n")
    >>> ward = sv.read_table("ward.csv", qi=["age", "sex"], set="codes", ranges={"age": 10})
    >>> ward, ward.dropped
    (Table: 3 rows, 2 items, 3 occurrences, 2 quasi-identifiers ('age', 'sex'), ('patient',))
    """
    arguments = explicit_arguments(locals())
    how = How(
        format, encoding, separator, delimiter, item_columns, items, id_column, item_column,
        tuple(names_of("not_ids", not_ids)), normalize, yes, quote, decimal, sheet,
        lines=lines_of(skip_lines, skip_last, comment, header_lines),
        lacking=lacking_of(missing, not_missing, missing_id, missing_item, fill_id=fill_id),
        also=also_of(also or ()),
    )  # fmt: skip
    require_written(how)
    for name in ("format", "encoding", "separator", "delimiter", "id_column", "item_column"):
        if not isinstance(getattr(how, name), str | None):
            raise RequestError(f"{name} must be a text, got {described(getattr(how, name))}.")
    said: dict[str, Any] = {
        "qi": qi if isinstance(qi, Mapping) else names_of("qi", qi),
        "set_name": _one("set", set),
        "keep": names_of("keep", keep),
        "drop": names_of("drop", drop),
        "hierarchies": hierarchies,
        "numeric": names_of("numeric", numeric),
        "categorical": names_of("categorical", categorical),
        "ranges": ranges if isinstance(ranges, Mapping) else dict.fromkeys(names_of("ranges", ranges), True),
        "bounds": bounds,
        "weights": weights,
        "per_person": per_person,
        "ages": ages,
    }
    if roles is None:
        found = make_roles(**said, id_column=id_column, delimiter=delimiter)
    else:
        names = [name.removesuffix("_name") for name, value in said.items() if value]
        if names:
            raise RequestError(f"The file of roles says all of columns; {', '.join(names)} cannot be added.")
        found = read_roles(fspath(roles))
    try:
        path = fspath(source) if is_path(source) else source
        return make_table(path, with_trees(found, tree_of), how)
    except TableError as error:
        error.in_python("read_table", fspath(source) if is_path(source) else None, arguments)
        if not error.readings:
            error.hint = f"{spoken(error.trouble)}: qi=[...], set=."
        raise


def read_published_table(
    source: str | PathLike[str],
    *,
    qi: str | Iterable[str],
    set: str,  # noqa: A002
    keep: str | Iterable[str] = (),
    delimiter: str | None = None,
    separator: str | None = None,
    encoding: str | None = None,
) -> PublishedTable:
    r"""Read a published table, also another tool's, to verify what it guarantees.

    Parameters
    ----------
    source : path
        The file. (`setveil.verify` reads the folder of a run by itself.)
    qi, keep : list of str
        Columns of quasi-identifiers, and such that were published as they are. Others are not looked at.
    set : str
        The column of items.
    delimiter, separator, encoding : str, optional
        As for `read_table`.

    Raises
    ------
    DataError
        If the file cannot be read, or lacks a column.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("theirs.csv").write_text("age,codes\n30-39,Heart\n30-39,Heart\n")
    >>> sv.read_published_table("theirs.csv", qi=["age"], set="codes").n_rows
    2
    """
    if not is_path(source):
        raise RequestError(f"A published table is read from a file, got {described(source)}.")
    how = How(None, encoding, separator, delimiter)
    return published_table(fspath(source), names_of("qi", qi), _one("set", set), names_of("keep", keep), how)


def require_written(how: How) -> None:
    """Refuse what cannot say how a table is written."""
    known = {"quote": ("double", "none"), "decimal": (",", ".")}
    for name in ("quote", "decimal", "sheet"):
        value = getattr(how, name)
        if not isinstance(value, str | None):
            raise RequestError(f"{name} must be a text, got {described(value)}.")
        if value is not None and name in known and value not in known[name]:
            raise RequestError(f"{name} is {value!r}, expected one of {', '.join(map(repr, known[name]))}.")


def _one(name: str, value: Any) -> str | None:
    if value is None or (isinstance(value, str) and value):
        return value
    if isinstance(value, Sequence) and not isinstance(value, str):
        require_one([str(one) for one in value], name)
    raise RequestError(f"{name} must be the name of a column, got {described(value)}.")


def names_of(name: str, value: Any) -> list[str]:
    """Take names of columns: a list, or one."""
    if isinstance(value, str):
        return [value] if value else []
    if isinstance(value, Mapping | bytes) or not isinstance(value, Iterable):
        raise RequestError(f"{name} must be a list of columns, got {described(value)}.")
    names = list(value)
    wrong = [one for one in names if not isinstance(one, str) or not one]
    if wrong:
        raise RequestError(f"{name} must be a list of names of columns, got {described(wrong[0])} in it.")
    return names
