"""The rows of a release of a series, with the id of each, from whatever holds them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from setveil.base.errors import DataError, RequestError, TableError
from setveil.commands.arguments import is_path
from setveil.rows.data.columns import WANTED, Wanted, as_field
from setveil.rows.data.frames import named_as_texts, rows_in_frame
from setveil.rows.data.ids import of_cells
from setveil.rows.data.io.rows import read_with_ids
from setveil.rows.data.lacking import lacking_of
from setveil.rows.data.names import is_people, tells_person
from setveil.rows.data.personal import Personal, ids_of_columns
from setveil.rows.data.rows_read import personal_in, require_people, without_words
from setveil.rows.data.skipped import OF_LACKING
from setveil.rows.data.transactions import Transactions
from setveil.runs.options.reading import Reading
from setveil.work.series.ledger import Ledger
from setveil.work.series.people import People, merged, people_of


def people_in(
    ledger: Ledger, data: object, reading: Mapping[str, Any], key: Path | None, *, merge: bool = False
) -> People:
    """Take new rows and whose they are; with `merge` those that a register has already, too."""
    rows, ids = rows_with_ids(data, reading)
    new = people_of(ledger, rows, ids, ledger.code(key))
    if not merge:
        return new
    if ledger.settings.kind != "register":
        raise RequestError("--merge is for registers.", hint="A period goes out by itself.")
    return merged(ledger, new)


def rows_with_ids(data: object, reading: Mapping[str, Any]) -> tuple[Transactions, Sequence[str] | None]:
    """Take rows and the id of each from whatever holds them."""
    unknown = [name for name in reading if name not in Reading.__dataclass_fields__]
    if unknown:
        raise RequestError(f"There is no argument {unknown[0]}.", hint="How data are read: see setveil.read.")
    if isinstance(data, Mapping):
        ids = [str(one) for one in data]
        rows = Transactions.from_rows(list(data.values()))
        whose = Personal(ids_of_columns([of_cells("id", ids)], (), ()))
        return replace(rows, personal=(whose + rows.personal).without(reading.get("not_ids"))), ids
    several = isinstance(data, list | tuple) and data and all(map(is_path, data))
    if data is None or is_path(data) or several:
        try:
            found = read_with_ids(cast("Any", data), **reading)
            if found[1] is None:
                _ask_for_ids(found[0])
            return found
        except TableError as question:
            if (column := _people_in([name for name, _ in question.columns])) is not None:
                question.name_ids((column,))
            elif question.likely_ids:
                question.name_ids(question.likely_ids)
            with_ids = any("id_column" in {**reading, **options} for options, _ in question.readings)
            question.keep(lambda options: not with_ids or "id_column" in {**reading, **options})
            raise
    if (
        isinstance(data, Iterable)
        and not hasattr(data, "__arrow_c_stream__")
        and not hasattr(data, "columns")
    ):
        raise DataError(
            "Rows of a series must say whose they are.",
            hint="Such as {'patient 1': ['tea', 'milk']}, a file or a data frame with a column of ids.",
        )
    lacking = lacking_of(**{name: reading.get(name) for name in OF_LACKING})
    named = named_as_texts(data, {name: reading.get(name) for name in WANTED})
    wanted = Wanted(**named, lacking=lacking)
    part = rows_in_frame(data, wanted, reading.get("format"), skip_last=reading.get("skip_last"))
    part = without_words(part, "the data frame", lacking)
    if not reading.get("rows_are_events"):
        require_people("the data frame", part, wanted, reading.get("not_ids"))
    rows = Transactions.from_codes(part.indptr, part.codes, part.labels)
    rows = replace(rows, personal=personal_in(part, reading.get("not_ids")))
    how = reading.get("normalize")
    return rows if how is None else rows.with_normal_labels(how), part.ids


def _ask_for_ids(rows: Transactions) -> None:
    """Raise if rows were read without IDs, although an ignored column is named like people."""
    origin = rows.origin
    if origin is None or not origin.item_columns or (whose := _people_in(origin.ignored_columns)) is None:
        return
    items = ",".join(map(as_field, origin.item_columns))
    role = "item_columns" if len(origin.item_columns) > 1 else "item_column"
    raise TableError(
        f"{origin.path} was read as rows without IDs, and a series is about people in several releases",
        (),
        [({"id_column": whose, role: items}, f"one row per value of {whose}, items from {items}")],
    )


def _people_in(names: Sequence[str]) -> str | None:
    """Find the only column, of some, that is named like people, or else like what belongs to one person."""
    for named in (is_people, tells_person):
        found = [name for name in names if named(name)]
        if found:
            return found[0] if len(found) == 1 else None
    return None
