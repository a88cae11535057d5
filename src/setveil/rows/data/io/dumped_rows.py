"""Rows in SQL dumps of databases (INSERT and COPY) as csv; a value that is no number or text is an error."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from setveil.base.errors import DataError, TableError, closest, listed, shorten
from setveil.base.wording import count
from setveil.rows.data.io.decoded import HEAD, Text, line_number

_NAME = r'(?:`[^`]+`|"[^"]+"|\[[^\]]+\]|[^\W\d][\w$]*)'
_COLUMNS = rf"(?:\((\s*{_NAME}(?:\s*,\s*{_NAME})*\s*)\)\s*)?"
_STATEMENT = re.compile(
    r"(?:^|(?<=;))[ \t]*(?:(?P<insert>(?:INSERT|REPLACE)(?:\s+OR\s+\w+|\s+IGNORE)?(?:\s+INTO)?)"
    r"|(?P<copy>COPY)"
    rf"|CREATE\s+TABLE(?:\s+IF\s+NOT\s+EXISTS)?)\s+({_NAME}(?:\.{_NAME})*)\s*",
    re.IGNORECASE | re.MULTILINE,
)
_INTO = re.compile(rf"{_COLUMNS}VALUES\s*\(", re.IGNORECASE)
_FROM = re.compile(rf"{_COLUMNS}FROM\s+stdin;[ \t]*\r?\n", re.IGNORECASE)
_VALUE = r"\s*(?:N?'({})'|([-+]?[0-9]+(?:\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|TRUE|FALSE)|NULL)\s*([,)])"
_PLAIN, _ESCAPED = (
    re.compile(_VALUE.format(inside), re.IGNORECASE | re.DOTALL)
    for inside in (r"[^']*(?:''[^']*)*", r"[^'\\]*(?:(?:''|\\.)[^'\\]*)*")
)
_MORE = re.compile(r"\s*,\s*\(")
_END = re.compile(
    r"\s*(?:ON\s+CONFLICT\s+DO\s+NOTHING\s*)?(?:;|\Z|(?<=\n)(?=[ \t]*(?:GO|INSERT|SET|PRINT|COMMIT|--|/\*)))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"'[^'\\]*(?:(?:''|\\.)[^'\\]*)*'|--.*")
_NO_COLUMNS = {"PRIMARY", "UNIQUE", "CONSTRAINT", "FOREIGN", "CHECK", "KEY", "INDEX", "FULLTEXT", "SPATIAL"}
_SIGNS = {"n": "\n", "r": "\r", "t": "\t", "0": "\0", "b": "\b", "Z": "\x1a", "v": "\v", "f": "\f"}


@dataclass
class _Table:
    names: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)


def fills_table(text: str) -> bool:
    """Return whether SQL fills a table."""
    return any(
        (_INTO if one["insert"] else _FROM).match(text, one.end())
        for one in _STATEMENT.finditer(text)
        if one["insert"] or one["copy"]
    )


def table_as_csv(text: Text, sheet: str | None) -> Text:
    """Write the rows of one of the tables of a dump (`sheet`, or the only one) as csv."""
    content = text.content.decode()
    tables = _tables(text, content)
    if sheet not in tables and (sheet or len(tables) > 1):
        likely = closest(sheet, tables) if sheet else []
        filled = f"{count(len(tables), 'table')}: {listed(list(tables))}"
        raise TableError(
            f"{text.name} fills {filled}, expected one, or its name",
            [],
            [({"sheet": one}, f"{count(len(tables[one].rows), 'row')}") for one in likely or tables],
        )
    name = sheet or next(iter(tables))
    table = tables[name]
    width = len(table.names) or len(table.rows[0])
    if wrong := next((row for row in table.rows if len(row) != width), None):
        raise DataError(
            f"{text.name}: a row of {shorten(name)} that begins with {shorten(wrong[0])} has {len(wrong)} "
            f"values, expected {width}.",
            hint="Export the table again, as csv.",
        )
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(
        [table.names, *table.rows] if table.names else table.rows
    )
    return replace(text, name=f"{text.name} ({name} as csv)", content=written.getvalue().encode())


def _tables(text: Text, content: str) -> dict[str, _Table]:
    """Collect the rows of all tables that have any; names have their schema if needed."""
    mysql = "`" in content or re.search("MySQL|MariaDB", content[:HEAD]) is not None
    value = _ESCAPED if mysql else _PLAIN
    tables: dict[str, _Table] = {}
    at = 0
    while found := _STATEMENT.search(content, at):
        at = found.end()
        name = ".".join(map(_bare, re.findall(_NAME, found[3])))
        table = tables.setdefault(name, _Table())
        if not found["insert"] and not found["copy"]:
            if table.rows:  # of the same name, in another database
                raise _no_value(text, content, at)
            table.names = _defined(content, at)
            continue
        into = (_INTO if found["insert"] else _FROM).match(content, at)
        if into is None:
            raise _no_value(text, content, at)
        names = [_bare(one) for one in re.findall(_NAME, into[1] or "")] or table.names
        if table.rows and names != table.names:
            raise _no_value(text, content, at)
        table.names, at = names, into.end()
        if found["copy"]:
            end = content.find("\n\\.", at - 1)
            lines = content[at : len(content) if end < 0 else max(end, at)].replace("\r\n", "\n").split("\n")
            table.rows += [[_unescaped(one, "\\N") for one in line.split("\t")] for line in lines if line]
            at = max(end, at)
            continue
        at = _take_rows(text, content, at, value, table.rows)
    filled = {name: table for name, table in tables.items() if table.rows and not name.startswith("sqlite_")}
    short = {name.rpartition(".")[2]: table for name, table in filled.items()}
    return short if len(short) == len(filled) else filled


def _take_rows(text: Text, content: str, at: int, value: re.Pattern[str], rows: list[list[str]]) -> int:
    """Read the tuples of a statement from behind its first parenthesis on; return where it ends."""
    row: list[str] = []
    while found := value.match(content, at):
        quoted, number, sign = found.groups()
        plain = number or (quoted or "").replace("''", "'")
        row.append(_unescaped(plain) if value is _ESCAPED else plain)
        at = found.end()
        if sign == ",":
            continue
        rows.append(row)
        row = []
        if more := _MORE.match(content, at):
            at = more.end()
        elif end := _END.match(content, at):
            return end.end()
        else:
            break
    raise _no_value(text, content, at)


def _no_value(text: Text, content: str, at: int) -> DataError:
    line = line_number(content.encode(), len(content[:at].encode()))
    return DataError(
        f"{text.name}, line {line}: found {shorten(content[at : at + 40].strip())}, expected rows of "
        "numbers, texts and NULL, with the same columns in each statement.",
        hint="Export the table as csv, or ask the database: --query.",
    )


def _defined(content: str, at: int) -> list[str]:
    """List the columns that a table is created with; none if they are not in parentheses."""
    depth, parts = 0, [""]
    for piece in _pieces(content, at):
        depth += (piece == "(") - (piece == ")")
        if depth == 0:
            break
        if piece == "," and depth == 1:
            parts.append("")
        elif depth == 1 and piece != "(":
            parts[-1] += piece
    names = [found[0] for part in parts if (found := re.match(_NAME, part.strip()))]
    return [_bare(name) for name in names if name.upper() not in _NO_COLUMNS]


def _pieces(content: str, at: int) -> Iterator[str]:
    """Cut a statement at parentheses and commas, without its texts and remarks."""
    for found in re.finditer(rf"{_QUOTED.pattern}|`[^`]*`|\"[^\"]*\"|[(),]|[^'\"`(),-]+|.", content[at:]):
        if not _QUOTED.fullmatch(found[0]):
            yield found[0]


def _bare(name: str) -> str:
    return name[1:-1] if name[0] in '`"[' else name


def _unescaped(value: str, null: str = "") -> str:
    if value == null or "\\" not in value:
        return "" if value == null else value
    return re.sub(r"\\(.)", lambda found: _SIGNS.get(found[1], found[1]), value, flags=re.DOTALL)
