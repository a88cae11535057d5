"""Text as programs write it: ``sep=;`` in the first line, quotes that are signs, separators of several signs.

What is written so is turned into plain csv, line by line, before anything else looks at it. So only this file
knows of it.
"""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from dataclasses import replace

from setveil.base.errors import RequestError, TableError, shorten
from setveil.rows.data import evidence
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.lines import without_lines
from setveil.rows.data.io.sniff import basket_separator, head_rows, likely_separator
from setveil.rows.data.layout import in_words, require_separator

QUOTES = ("double", "none")
_LONG = ("::", "||", "~~", "##", "^^")  # separators of several signs that are found without being named
_PLAIN = "\t|;,\x1f"  # what they become: the first that the text does not contain
_SEP = re.compile(rb'\A"?sep=([^\r\n]?)"?[ \t,;]*(?:\r\n|\n|\r|\Z)', re.IGNORECASE)
_NAMES = {"\\t": "\t", "tab": "\t"}


def plain_text(text: Text, separator: str | None, quote: str | None) -> tuple[Text, str | None]:
    r"""Turn a text into plain csv, and return its separator: one sign, or None if it must be detected.

    Double quotes protect fields in the result. `quote`: "double", or "none" if they are signs like any other.

    >>> text, separator = plain_text(Text("a", b"1::tea\n"), "::", None)
    >>> text.content, separator
    (b'1\ttea\n', '\t')
    """
    if quote not in (None, *QUOTES):
        raise RequestError(f"quote is {shorten(quote)}, expected one of {', '.join(QUOTES)}.")
    require_separator(separator)
    separator = None if separator is None else _NAMES.get(separator, separator)
    text, said = _without_sep(text)
    separator = separator or said
    bare = quote == "none"
    if separator is not None and len(separator) > 1:
        text, separator = _with_one_sign(text, separator, quoted=not bare)
    if bare and b'"' in text.content:
        separator = separator or _bare_separator(text)
        text = _requoted(text, separator)
    return text, separator


def is_plain(content: bytes, separator: str | None) -> bool:
    """Return whether the beginning of a text is csv as it stands, whose separator is one sign."""
    sign = _NAMES.get(separator or "", separator or "")
    return len(sign) < 2 and _without_sep(Text("", content.removeprefix(BOM_UTF8)))[1] is None


def long_separator(text: Text) -> str | None:
    """Find a separator of several signs: it gives lines more fields than any single sign does."""
    for sign in _LONG:
        rows = [line.split(sign) for line in head_lines(text)]
        width, _ = evidence.common_width(rows)
        if width < 2 or not evidence.has_columns(rows):
            continue
        if sign[0] in evidence.SEPARATORS:
            if text.content.count(sign[0].encode()) == len(sign) * text.content.count(sign.encode()):
                return sign
            continue
        split = (head_rows(text, one) for one in evidence.SEPARATORS)
        if all(not evidence.has_columns(one) or evidence.common_width(one)[0] < width for one in split):
            return sign
    return None


def head_lines(text: Text) -> list[str]:
    """List the first lines that are not blank."""
    lines = re.split(r"\r\n|\n|\r", text.content[: 1 << 20].decode("utf-8", "replace"))
    return [line for line in lines[: evidence.LINES] if line.strip()]


def with_fitting_header(text: Text, separator: str) -> Text:
    """Give the header as many separators as the other lines, where programs end it otherwise."""
    rows = head_rows(text, separator)
    width = len(rows[0]) if rows else 0
    others = rows[1:]
    found = re.match(rb"(?:[ \t]*(?:\r\n|\n|\r))*([^\r\n]*)", text.content)
    if found is None or width < 2 or not others or found[1].count(b'"') % 2:
        return text
    end = found.end()
    more = not rows[0][-1] and all(len(row) == width - 1 for row in others)
    if more and all(rows[0][:-1]) and width > 2:
        kept = found[0].rstrip(b" \t".replace(separator.encode(), b""))[:-1]
        return replace(text, content=kept + text.content[end:])
    if all(len(row) == width + 1 and not row[-1] for row in others):
        return replace(text, content=found[0] + separator.encode() + text.content[end:])
    return text


def _without_sep(text: Text) -> tuple[Text, str | None]:
    """Omit a first line ``sep=;``, which spreadsheets write for themselves; return its sign."""
    found = _SEP.match(text.content)
    if found is None or not found[1].isascii() or found.end() == len(text.content):
        return text, None
    sign = found[1].decode()
    if not sign or sign in '"0123456789+-' or sign.isalpha():
        return text, None
    return without_lines(text, [text.original(1)]), sign


def _with_one_sign(text: Text, separator: str, *, quoted: bool) -> tuple[Text, str]:
    content, long = text.content, separator.encode()
    if long not in content:
        found = likely_separator(text)
        there = bool(found) and found.encode() in content
        raise TableError(
            f"{text.name}: the separator {shorten(separator)} is in no line",
            [],
            [({"separator": found}, f"{in_words(found)} separate fields")] if there else [],
            options_named="--separator",
        )
    one = next(sign for sign in _PLAIN if sign.encode() not in content or sign == _PLAIN[-1])
    if not quoted or b'"' not in content:
        return replace(text, content=content.replace(long, one.encode())), one
    between = re.escape(long)
    field = rb"(\A|" + between + rb'|[\r\n])([ \t]*"(?:[^"]|"")*"(?=[ \t]*(?:' + between + rb"|[\r\n]|\Z)))"

    def plain(found: re.Match[bytes]) -> bytes:
        start = found[0] if found[1] is None else found[1]
        return (one.encode() if start == long else start) + (found[2] or b"")

    return replace(text, content=re.sub(field + rb"|" + between, plain, content)), one


def _bare_separator(text: Text) -> str:
    """Return what stands between fields in which double quotes are signs like any other."""
    bare = replace(text, content=text.content.replace(b'"', b""))
    likely = likely_separator(bare)
    return likely if evidence.has_columns(head_rows(bare, likely)) else basket_separator(bare, said=True)


def _requoted(text: Text, separator: str) -> Text:
    """Put fields that begin with a double quote between quotes, so that these are read as signs."""
    sign = re.escape(separator.encode())
    blanks = rb"".join({b" ", b"\t"} - {separator.encode()})
    field = rb"(\A|[\r\n]|" + sign + rb")([" + blanks + rb']*)("(?:(?!' + sign + rb")[^\r\n])*)"

    def between_quotes(found: re.Match[bytes]) -> bytes:
        bare = found[3].rstrip(blanks)
        return found[1] + found[2] + b'"' + bare.replace(b'"', b'""') + b'"'

    return replace(text, content=re.sub(field, between_quotes, text.content))
