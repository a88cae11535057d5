"""What is asked where nothing says which columns of a table someone may know, and which holds the items."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from typing import Any

from setveil.data import evidence
from setveil.data.columns import is_id_name
from setveil.data.io.relational import How, open_table
from setveil.data.readings import SAMPLES, as_field
from setveil.data.set_fields import DELIMITER
from setveil.data.table import called
from setveil.errors import TableError, listed

_SIGNS = DELIMITER + evidence.SEPARATORS.replace(DELIMITER, "")
_RANGE = re.compile(r"[\[(][^\[(]*,[^\[(]*[\])]")


def ask_for_roles(source: Any, how: How, named: Collection[str], *, known: bool, items: bool) -> TableError:
    """Make the error that asks for the roles of columns, with some values of each and a way to say it.

    Parameters
    ----------
    source, how
        The table, as for `setveil.data.io.relational.read_columns`.
    named : collection of str
        Columns that have a role.
    known, items : bool
        Whether it was said what someone may know, and where the items stand.
    """
    opened = open_table(source, named, how)
    table = opened.table
    values = [[row[at] for row in table.head if len(row) > at] for at in range(len(table.names))]
    shown = [
        (called(table, at), list(dict.fromkeys(filter(None, column)))[:SAMPLES])
        for at, column in enumerate(values)
    ]
    free = [
        at
        for at, name in enumerate(table.names)
        if table.names.count(name) == 1 and name and name not in named and name != how.id_column
    ]
    options: dict[str, str] = {}
    if not items:
        lists = [at for at in free if opened.holds_lists(at)]
        marked = sorted(free, key=lambda at: -max(_marked(values[at], sign) for sign in _SIGNS))
        set_at = next(iter(lists or marked), None)
        if set_at is not None:
            options["set"] = table.names[set_at]
            sign = max(_SIGNS, key=lambda sign: _marked(values[set_at], sign))
            if not lists and how.delimiter is None and sign != DELIMITER and _marked(values[set_at], sign):
                options["delimiter"] = sign
            free.remove(set_at)
    if not known:
        likely = [at for at in free if not _is_id(table.names[at], values[at])]
        options = {"qi": ",".join(as_field(table.names[at]) for at in likely or free)} | options
    lacking = ["what someone may know of a person (--qi)"] * (not known)
    lacking += ["which column holds the items (--set)"] * (not items)
    meaning = "columns without a role are not published; see also --keep-columns and --hierarchy"
    complete = all(options.values()) and len(options) >= (not known) + (not items)
    return TableError(
        f"{table.name}: nothing says {' and '.join(lacking)}",
        shown,
        [(options, meaning)] if complete else [],
        "" if complete else f"Name columns; there are {listed(table.names, 9)}",
    )


def _marked(values: Sequence[str], sign: str) -> float:
    """Tell in what share of the values that are there a sign stands between items; of ranges it does not."""
    filled = [value for value in values if value]
    found = sum(sign in value and not _RANGE.fullmatch(value) for value in filled) / max(len(filled), 1)
    return found if sign == DELIMITER or found > evidence.LISTS else 0.0


def _is_id(name: str, values: Sequence[str]) -> bool:
    return is_id_name(name) or (len(values) >= evidence.MANY and evidence.are_different(values))
