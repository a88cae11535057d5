"""Write the check of a guarantee as a query for a database."""

from __future__ import annotations

from collections.abc import Sequence

from setveil.base.errors import RequestError, described, did_you_mean
from setveil.base.values.kinds import is_integer
from setveil.commands.arguments import integer
from setveil.judges.guarantees.verify.km_sql import LAYOUTS, MOST_KNOWN, km_query


def verify_sql(
    k: int,
    m: int = 2,
    *,
    table: str = "published",
    id_column: str | None = None,
    item_column: str = "item",
    layout: str = "long",
    qi: Sequence[str] = (),
) -> str:
    """Write a query for DuckDB and Postgres that returns no line if and only if k^m-anonymity holds.

    Nothing is read. Each line that the query returns is a set of items (of quasi-identifiers and items) with
    the number of rows that hold it, below k.

    Parameters
    ----------
    k : int
        At least 2.
    m : int
        1 or 2.
    table : str
        The table of published rows, perhaps with its schema before a dot.
    id_column : str, optional
        The column that says which row a line belongs to, by default ``row_id``; of lists each line is a row
        without one.
    item_column : str
        The column of items, or of lists of them.
    layout : {"long", "list"}
        Whether the table has a line for each item of a row, or one for each row with a list of its items.
        The query for long tables runs in SQLite, too.
    qi : list of str
        Columns of quasi-identifiers: then the guarantee is (k, k^m)-anonymity.

    Returns
    -------
    str
        The query.

    Raises
    ------
    RequestError
        If m is above 2, or an argument is out of range or of a wrong type.

    Examples
    --------
    >>> import setveil as sv
    >>> print(sv.verify_sql(k=5, m=1))
    with d as (
      select distinct "row_id" as r, "item" as i
      from "published"
      where "item" is not null and cast("item" as text) <> ''
    )
    select i as item, null as item2, count(*) as support
    from d
    group by i having count(*) < 5
    """
    k = integer("k", k, 2)
    if not is_integer(m, 1) or m > MOST_KNOWN:
        raise RequestError(
            f"--m must be 1 or 2 in a query, got {described(m)}: each further item joins all rows once more.",
            hint="`setveil verify` checks any m.",
        )
    if layout not in LAYOUTS:
        raise RequestError(
            f"--layout must be long or list, got {described(layout)}.",
            hint=did_you_mean(str(layout), LAYOUTS),
        )
    for name, value in (("table", table), ("id-column", id_column), ("item-column", item_column)):
        if (not isinstance(value, str) or not value or "\0" in value) and not (
            value is None and name == "id-column"
        ):
            raise RequestError(f"--{name} must be the name of a column or table, got {described(value)}.")
    columns = tuple(qi) if not isinstance(qi, str) else (qi,)
    wrong = [name for name in columns if not isinstance(name, str) or not name]
    if wrong:
        raise RequestError(f"--qi must be names of columns, got {described(wrong[0])}.")
    number = id_column if layout == "list" else id_column or "row_id"
    return km_query(
        k, m, table=table, id_column=number, item_column=item_column, layout=layout, columns=columns
    )
