"""SQL dumps of databases among texts: they are read as csv."""

from __future__ import annotations

import re

from setveil.rows.data.io.decoded import HEAD, Text
from setveil.rows.data.layout import refuse_unfit

_SKIPPED = re.compile(r"\s+|--.*|#.*|/\*[\s\S]*?\*/;?")
_BEGIN = re.compile(
    r"(?:SET|USE|BEGIN|START|PRAGMA|DROP|CREATE|LOCK|INSERT|REPLACE|COPY|SELECT|TRUNCATE|DELETE|\\restrict)\b",
    re.IGNORECASE,
)


def is_dump(content: bytes) -> bool:
    """Return whether the beginning of a text is SQL that fills a table."""
    text = content[:HEAD].decode("utf-8", "replace")
    at = 0
    while (skipped := _SKIPPED.match(text, at)) is not None:
        at = skipped.end()
    if _BEGIN.match(text, at) is None:
        return False
    from setveil.rows.data.io.dumped_rows import fills_table

    return fills_table(text)


def without_sql(text: Text, sheet: str | None) -> Text:
    """Turn a dump into csv, with the rows of one of its tables (`sheet`); other texts stay as they are."""
    if not is_dump(text.content):
        refuse_unfit("a file without sheets", sheet=sheet)
        return text
    from setveil.rows.data.io.dumped_rows import table_as_csv

    return table_as_csv(text, sheet)
