"""A file as setveil reads it: columns with their roles, counts, and the first rows as people and items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from setveil.base.errors import TableError
from setveil.base.wording import count
from setveil.report.words import clip
from setveil.rows.data.spelling import look_alikes
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.read import flat_notes, warnings_of

SHOWN = 5  # first rows
_WIDEST = 90  # characters of a row's items
_MOST = 20  # columns that are listed


def reading_record(data: Transactions, ids: Sequence[str] | None) -> dict[str, Any]:
    """Describe rows, a table or facts as read, with their person IDs, as JSON types."""
    origin = data.origin
    return {
        "file": "" if origin is None else origin.path,
        "read": "" if origin is None else origin.sentence(),
        "unit": "person" if origin is None else origin.unit,
        "rows": data.n_rows,
        "empty": data.n_rows - int(data.filled_rows),
        "items": data.n_items,
        "occurrences": data.n_occurrences,
        "columns": [{"name": name, "role": role} for name, role in _roles(data)],
        "first": _first(data, ids),
        "notes": _notes(data),
    }


def lines_text(error: TableError, lines: Sequence[Sequence[str]]) -> str:
    """Show the fields of the first lines of a file, below what is in question."""
    shown = (clip(" | ".join(line), _WIDEST) for line in lines)
    numbered = (f"{at}  {line}" for at, line in enumerate(shown, 1))
    question = error.message.partition(":\n    ")[0].removesuffix(".")
    return "\n".join([f"{question}.", "", "line  fields", *(f"   {line}" for line in numbered)])


def _roles(data: Any) -> list[tuple[str, str]]:
    """List columns with their roles; a file of plain rows has none."""
    origin = data.origin
    found = {} if origin is None or origin.id_column is None else {origin.id_column: "person ID"}
    facts = data.facts
    found |= {column.name: column.role for column in data.value_columns}
    if facts is not None:
        for column in facts.columns:
            found[column.name] = "items"
            found |= {one.name: f"belongs to {column.name}" for one in column.attributes}
    elif data.set_names:
        found |= dict.fromkeys(data.set_names, "items")
    elif origin is not None:
        found |= dict.fromkeys(origin.item_columns, "items")
        found |= dict.fromkeys(origin.ignored_columns, "ignored")
    return [*found.items(), *((name, "not published") for name in data.dropped if name not in found)]


def _first(data: Any, ids: Sequence[str] | None) -> list[dict[str, Any]]:
    sets = [list(row) for row in data[: min(SHOWN, data.n_rows)].rows()]
    columns = data.value_columns
    return [
        {
            "row": str(at + 1) if ids is None else ids[at],
            "values": {column.name: column.labels[column.codes[at]] for column in columns},
            "items": items,
        }
        for at, items in enumerate(sets)
    ]


def _notes(data: Any) -> list[str]:
    """List what reading has noticed."""
    notes = list(getattr(data, "notes", ()))
    if data.is_table:
        notes += [*warnings_of(data), *flat_notes(data)]
    elif data.origin is not None:
        notes += getattr(data.origin, "notes", ())
    if data.origin is not None and data.origin.merged is not None:
        notes.append(data.origin.merged.sentence())
    elif note := look_alikes(data.vocabulary.labels):
        notes.append(note)
    return notes


def reading_text(record: dict[str, Any], *, first: bool) -> str:
    """Write what was read: counts and columns; with `first`, also the first rows."""
    mean = record["occurrences"] / max(record["rows"], 1)
    empty = f", {record['empty']:,} without items" if record["empty"] else ""
    lines = [
        f"File       {'standard input' if record['file'] == '-' else record['file']}",
        f"Read       {record['read']}",
        f"Rows       {record['rows']:,}{empty}",
        f"Items      {record['items']:,} different, {count(record['occurrences'], 'occurrence')}, "
        f"{mean:.1f} a row",
    ]
    columns = record["columns"]
    width = max((len(clip(one["name"], 30)) for one in columns[:_MOST]), default=0)
    for at, one in enumerate(columns[:_MOST]):
        title = "Columns" if at == 0 else ""
        lines.append(f"{title:<11}{clip(one['name'], 30):<{width}}  {one['role']}")
    if len(columns) > _MOST:
        lines.append(f"{'':<11}and {len(columns) - _MOST:,} more")
    if first:
        lines += ["", *_table(record["first"], record["unit"])]
        if record["rows"] > len(record["first"]):
            lines.append(f"and {record['rows'] - len(record['first']):,} more")
    return "\n".join(lines)


def _table(rows: Sequence[dict[str, Any]], unit: str) -> list[str]:
    """Write rows below each other: whose they are, values that someone may know, and items."""
    names = list(rows[0]["values"]) if rows else []
    cells = [[unit, *names, "items"]]
    for row in rows:
        values = [row["values"][name] for name in names]
        items = clip(", ".join(row["items"]), _WIDEST) or "(none)"
        cells.append([clip(row["row"], 30), *(clip(value, 20) for value in values), items])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(f"{cell:<{width}}" for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in cells
    ]
