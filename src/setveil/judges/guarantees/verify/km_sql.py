"""k^m-anonymity as a query for databases: a line for each set that is in fewer than k rows."""

from __future__ import annotations

from collections.abc import Sequence

LAYOUTS = ("long", "list")
MOST_KNOWN = 2


def km_query(
    k: int,
    m: int,
    *,
    table: str = "published",
    id_column: str | None = "row_id",
    item_column: str = "item",
    layout: str = "long",
    columns: Sequence[str] = (),
) -> str:
    """Write a query without result iff k^m-anonymity (m <= 2) or, with `columns`, (k, k^m)-anonymity holds.

    A line is an item of a row (`layout` "long"), or all items of a row ("list"; without `id_column` each line
    is a row). It is for DuckDB and Postgres and, for long tables, SQLite.
    """
    names = [f"q{at}" for at in range(1, len(columns) + 1)]
    also = "".join(f", {_quoted(column)} as {name}" for column, name in zip(columns, names, strict=True))
    kept = "".join(f", {name}" for name in names)
    steps = []
    if layout == "long":
        row, source = _quoted(id_column or "row_id"), _table(table)
        items = f"select distinct {row} as r, {_quoted(item_column)} as i{also}\n  from {source}"
    else:
        number = "row_number() over ()" if id_column is None else _quoted(id_column)
        lists = f"{number} as r, {_quoted(item_column)} as l{also}"
        steps.append(f"n as (\n  select {lists} from {_table(table)}\n)")
        steps.append(f"u as (\n  select r, unnest(l) as i{kept} from n\n)")
        items = f"select distinct r, i{kept}\n  from u"
    value = _quoted(item_column) if layout == "long" else "i"
    steps.append(f"d as (\n  {items}\n  where {value} is not null and cast({value} as text) <> ''\n)")
    lead = "".join(f"{name}, " for name in names)
    parts = [
        f"select {lead}i as item, null as item2, count(*) as support\nfrom d\n"
        f"group by {lead}i having count(*) < {k}"
    ]
    if m > 1:
        of_pair = "".join(f"a.{name}, " for name in names)
        parts.append(
            f"select {of_pair}a.i, b.i, count(*)\nfrom d a join d b on a.r = b.r and a.i < b.i\n"
            f"group by {of_pair}a.i, b.i having count(*) < {k}"
        )
    if columns:
        everybody = f"(select distinct {row} as r{also} from {source}) p" if layout == "long" else "n"
        classes = ", ".join(names)
        parts.append(
            f"select {classes}, null, null, count(*)\nfrom {everybody}\n"
            f"group by {classes} having count(*) < {k}"
        )
    return "with " + ", ".join(steps) + "\n" + "\nunion all\n".join(parts)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _table(name: str) -> str:
    return ".".join(_quoted(part) for part in name.split("."))
