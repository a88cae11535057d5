"""Read separated text, and ask when nothing says which of its columns and lines are rows of items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from setveil.base.errors import DataError, RequestError, TableError, shorten
from setveil.rows.data import evidence
from setveil.rows.data.ids import why_id
from setveil.rows.data.io.decoded import Text, line_number
from setveil.rows.data.io.integers import refuse_title_of_people, require_numbers
from setveil.rows.data.io.lines import (
    as_spec,
    comments_above,
    cut,
    skipped_words,
    strays_said,
    table_in,
    without_lines,
)
from setveil.rows.data.io.request import ReadingRequest, refuse_options
from setveil.rows.data.io.sniff import (
    basket_separator,
    head_rows,
    holds_numbers,
    likely_separator,
    sign_of_columns,
    why_table,
)
from setveil.rows.data.io.text import QuoteError
from setveil.rows.data.io.written import long_separator, plain_text
from setveil.rows.data.layout import FORMATS, function_of
from setveil.rows.data.names import is_event, is_no_item, is_person_name, may_be_item, names_others
from setveil.rows.data.readings import EVERY_FIELD, EVERY_WORD, are_items, are_words, refusal
from setveil.rows.data.rows_read import RowsRead, refuse_rounded_parts, require_people
from setveil.rows.data.skipped import OF_LACKING, lines_of
from setveil.rows.data.skipped import SAID as OF_LINES


def read_separated(text: Text, detected: str, request: ReadingRequest) -> RowsRead:
    """Read separated text, however its fields are separated and quoted."""
    written = {"separator": request.separator, "quote": request.quote}
    long = long_separator(text) if request.separator is None else None
    if long and (request.wanted.named or why_table(text, "basket", None)[0]):
        request = replace(request, separator=long)
        written["separator"] = long
    plain, separator = plain_text(text, request.separator, request.quote)
    own_request = replace(request, separator=separator, quote=None)
    try:
        if request.format is None:
            part = _read_undeclared(plain, detected, own_request)
        else:
            options = own_request.explicit_options()
            refuse_options(detected, options)
            if not request.published:
                require_numbers(plain, detected, request, can_be_read)
            part = function_of(FORMATS[detected].reader)(plain, **own_request.options(detected))
            unsaid = detected == "basket" and separator is None and not request.published
            words = _words_noted(plain) if unsaid else ""
            part = replace(part, notes=(*plain.notes, *part.notes, *filter(None, [words])))
        return replace(part, written={"separator": long}) if written["separator"] == long and long else part
    except TableError as error:
        if not error.readings and request.quote is None and b'"' in text.content:
            error.readings = (({"quote": "none"}, _BARE_QUOTES),) if _has_open_quotes(text) else ()
            error.keep(lambda options: can_be_read(text, request, options))
            if not error.readings and (question := _question_without_quotes(text, detected, request)):
                raise question from None
        if error.readings and all({*options} == {"separator"} for options, _ in error.readings):
            error.keep(lambda options: can_be_read(text, request, options))
        if separator != written["separator"] or request.quote is not None:
            error.write_as({name: value for name, value in written.items() if value is not None})
        raise
    except QuoteError as error:
        bare = replace(own_request, separator=written["separator"], quote="none")
        if request.quote is None and can_be_read(text, bare, {}):
            raise _plain_quotes(error) from None
        if request.quote is None and (question := _question_without_quotes(text, detected, request)):
            raise question from None
        raise


def _read_undeclared(text: Text, detected: str, request: ReadingRequest) -> RowsRead:
    """Read text whose format was not named: a table if columns were, else rows unless it may be a table."""
    from setveil.rows.data.io.table import TextTable, read_named, read_unnamed

    whole = text
    text = _without_comments(text, request)
    if request.wanted.named:
        named = read_named(text, request.separator, request.wanted)
        return replace(named, notes=(*text.notes, *named.notes))
    chosen = detected if request.separator is None else "basket"
    if chosen in {"fimi", "spmf"} and not holds_numbers(text) and why_table(text, "basket", None)[0]:
        chosen = "basket"
    if not request.published:
        require_numbers(whole, chosen, request, can_be_read)
        if chosen == "basket":
            _ask_for_title(text, request)
            _ask_for_lines(text, request)
    why, separator = why_table(text, chosen, request.separator)
    if why:
        agreed = read_unnamed(text, request.separator, request.wanted) if chosen == "basket" else None
        if agreed is not None:
            return replace(agreed, notes=(*text.notes, *agreed.notes))
        if not request.published:
            more = {} if separator is None else {"separator": separator}
            if chosen != "basket":
                more["format"] = "long"
            table = TextTable(text, separator)
            if table.header_lines > 1:  # their names are those of columns
                more["header_lines"] = str(table.header_lines)
                table = TextTable(replace(text, header_lines=table.header_lines), separator)
            question = refusal(table, why, more=more, rows=chosen)
            question.keep(lambda options: works(text, request, options))
            raise question
    options = {"separator": request.separator} if chosen == "basket" else {}
    part: RowsRead
    try:
        part = function_of(FORMATS[chosen].reader)(whole, **options)
    except DataError as error:
        raise question_of_texts(error, text, chosen, request) or error from None
    return replace(part, notes=(*whole.notes, *part.notes))


def _words_noted(text: Text) -> str:
    """Say that each line is one item although it has several words, if these come again; "" otherwise."""
    from setveil.rows.data.io.table import TextTable

    table = TextTable(text, None)
    lines = {row[0] for row in table.head if row}
    if not are_words(table) or len(lines) <= len({word for line in lines for word in line.split()}):
        return ""  # names of several words come again as a whole
    first = shorten(table.head[0][0])
    return f"Each line is one item, such as {first}. If each word is one, name the blank as the separator"


def can_be_read(text: Text, request: ReadingRequest, options: Mapping[str, str]) -> bool:
    """Return whether a reading gives rows of people, and not ids for items."""
    with suppress(TableError):
        return works(text, request, options)
    return False


def works(text: Text, request: ReadingRequest, options: Mapping[str, str]) -> bool:
    """Return whether a reading gives rows, not IDs for items; errors for events and rounded numbers."""
    said: dict[str, Any] = dict(options)
    lines = {name: said.pop(name) for name in OF_LINES if name in said}
    if lines:
        before = Text(text.name, text.content, text.encoding, text.left)
        text = cut(before, lines_of(**{**request.lines.as_dict(), **lines}))
    lacking = request.lacking.with_ways(said)
    own_request = replace(
        request,
        lacking=lacking,
        format=said.pop("format", request.format),
        separator=said.pop("separator", request.separator),
        quote=said.pop("quote", request.quote),
        wanted=replace(request.wanted, **said, lacking=lacking),
        published=False,
    )
    try:
        text, separator = plain_text(text, own_request.separator, own_request.quote)
        own_request = replace(own_request, separator=separator, quote=None)
        if own_request.format is None:
            part = _read_undeclared(text, "basket", own_request)
        else:
            part = function_of(FORMATS[own_request.format].reader)(
                text, **own_request.options(own_request.format)
            )
    except TableError as error:
        if error.readings and {*error.readings[0][0]} <= {*OF_LINES} | {*OF_LACKING} - {*options}:
            raise
        return False
    except (DataError, RequestError):
        return False
    require_people(text.name, part, own_request.wanted)
    refuse_rounded_parts(text.name, part)
    items = int((part.codes >= 0).sum())
    several = len(part.items) > 1
    if any(why_id(column, items=not several) for column in part.items):
        return False
    different = len({*part.labels})  # of several columns, each has its own
    return items > 0 and (not part.item_columns or different < evidence.DIFFERENT * items or items < 20)


def _without_comments(text: Text, request: ReadingRequest) -> Text:
    if text.settled or request.lines.comment is not None or not text.content.lstrip().startswith(b"#"):
        return text
    found = comments_above(text, request.separator or likely_separator(text))
    cut = without_lines(text, found)
    return replace(cut, notes=(*text.notes, skipped_words(found))) if found else text


def _ask_for_lines(text: Text, request: ReadingRequest) -> None:
    """Raise if lines above, below or between those of a table are none of it, and propose to skip them."""
    if text.settled:
        return
    named = request.separator or sign_of_columns(text)
    signs = [named] if named else list(evidence.SEPARATORS)
    wide = [sign for sign in signs if _is_mostly_wide(head_rows(text, sign))]
    numbers, separator = table_in(text, "".join(wide))
    if not numbers:
        return
    from setveil.rows.data.io.table import TextTable

    table = TextTable(without_lines(text, numbers), separator)
    spec = as_spec(sorted({*text.left, *numbers}))
    more = {"skip_lines": spec} | ({"separator": separator} if request.separator else {})
    question = refusal(table, strays_said(numbers, table.width), more=more)
    question.options_named = f"--skip-lines {spec}, and --id-column, --item-column, --item-columns, --format"
    question.keep(lambda options: works(text, request, options))
    raise question


def _ask_for_title(text: Text, request: ReadingRequest) -> None:
    """Raise if the first line may name what the rows of items below it hold, and propose to skip it."""
    from setveil.rows.data.io.table import TextTable

    sign = request.separator or basket_separator(text)
    rows = head_rows(text, sign)
    title = rows[0][0] if rows and len(rows[0]) == 1 else ""
    below = rows[1:]
    if text.settled or not _may_be_title(title, below):
        return
    refuse_title_of_people(text.name, title)
    if evidence.list_sign([row[0] for row in below]):
        return  # it is the header of a column
    blank = len(text.content) - len(text.content.lstrip(b" \t\r\n"))
    above = [*range(1, text.original(line_number(text.content, blank)) + 1)]
    spec = as_spec(above)
    every = EVERY_FIELD if any(len(row) > 1 for row in rows) else "one row per line, with one item"
    items = are_items(TextTable(without_lines(text, above), sign))
    ways = [{"skip_lines": spec}, {"skip_lines": spec, "format": "basket"}][: 1 + items]
    way = next((way for way in ways if can_be_read(text, request, way)), None)
    if way is not None:
        raise TableError(
            f"{text.name}: the first line, {shorten(title)}, may be the title of the others",
            [],
            [
                (way, f"{every}; {shorten(title)} names them"),
                ({"format": "basket"}, f"{every}, {shorten(title)} too"),
            ],
        )


_WORDS_OF_TITLE = 3  # at most, above lines of one word


def _may_be_title(title: str, below: Sequence[Sequence[str]]) -> bool:
    """Return whether a line may name the lines below it: goods, events, people, places, dates or amounts.

    Unless it names goods or events, a title has one word, as most lines below have if it has more.
    """
    if any(title in row for row in below):
        return False
    if may_be_item(title) or is_event(title):
        return True
    several = sum(len(row) > 1 or len(row[0].split()) > 1 for row in below)
    most = 1 if 2 * several > len(below) else _WORDS_OF_TITLE
    named = is_person_name(title) or names_others(title) or is_no_item(title)
    return named and len(title.split()) <= most and '"' not in title


def _is_mostly_wide(rows: Sequence[Sequence[str]]) -> bool:
    """Return whether half of some lines or more have one number of fields, two or more."""
    width, share = evidence.common_width([row for row in rows if len(row) > 1])
    several = sum(len(row) > 1 for row in rows)
    return width > 1 and 2 * share * several >= len(rows)


def question_of_texts(
    error: DataError, text: Text, chosen: str, request: ReadingRequest
) -> TableError | None:
    """Ask whether lines that are not as their format has them are texts with signs or blanks between them."""
    from setveil.rows.data.io.table import TextTable

    if chosen not in {"fimi", "spmf"} or request.published:
        return None
    spmf = chosen == "fimi" and any(row[-1] == "-2" for row in head_rows(text, " "))
    ways = [({"format": "spmf"}, "numbers, and -1 and -2 as ends of items and rows")] if spmf else []
    signs = [
        sign for sign in (*evidence.SEPARATORS, " ") if any(len(row) > 1 for row in head_rows(text, sign))
    ]
    if signs[:1] == [" "]:
        if are_items(TextTable(text, " ")):
            ways.append(({"format": "basket", "separator": " "}, EVERY_WORD))
    elif not holds_numbers(text) or are_items(TextTable(text, None)):
        ways.append(({"format": "basket"}, EVERY_FIELD if signs else "one row per line, with one item"))
    question = TableError(error.message.removesuffix("."), [], ways)
    question.keep(lambda options: can_be_read(text, request, options))
    return question if question.readings else None


_BARE_QUOTES = "double quotes are signs like any other, as for inches"


def _plain_quotes(error: QuoteError) -> TableError:
    """Ask whether double quotes are signs like any other."""
    ways = [({"quote": "none"}, _BARE_QUOTES)]
    return TableError(error.message.removesuffix("."), [], ways, error.hint.removesuffix("."))


def _question_without_quotes(text: Text, detected: str, request: ReadingRequest) -> TableError | None:
    """Ask about columns as if double quotes were signs like any other; None if no reading works."""
    try:
        read_separated(text, detected, replace(request, quote="none"))
    except TableError as question:
        return question if question.readings else None
    except (DataError, RequestError):
        return None
    return None


def _has_open_quotes(text: Text) -> bool:
    """Return whether a quote is opened in one of the first lines and closed in another."""
    return any(line.count(b'"') % 2 for line in text.content.splitlines()[: evidence.LINES])
