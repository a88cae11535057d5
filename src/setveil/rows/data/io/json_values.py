"""The lines of a JSON file, or the elements of its array."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setveil.base.errors import DataError, TableError, shorten
from setveil.base.plain_json import read_json_stream, read_json_with
from setveil.rows.data.io.decoded import Text
from setveil.rows.data.io.lines import as_spec, in_words
from setveil.rows.data.nested import flat, lists_in, rows_in, several_lists

BLANK = object()
_FEW = 0.2  # of the lines may be broken
_DOCUMENT = re.compile(rb"\s*\[\s*[\[{]")
_OBJECT = re.compile(rb'\s*\{\s*"(?:[^"\\]|\\.)*"\s*:')
_BLANK = re.compile(rb"\s*\Z")


def is_document(content: bytes) -> bool:
    """Return whether a text is one array of arrays or objects, or one object around such an array."""
    return _DOCUMENT.match(content) is not None or _is_one_object(content)


def _is_one_object(content: bytes) -> bool:
    """Return whether a text is one object over several lines, or one line with only a list of objects."""
    start = _OBJECT.match(content)
    if start is None:
        return False
    first = content.find(b"\n", len(content) - len(content.lstrip()))
    if first < 0 or _BLANK.match(content, first):
        try:
            return rows_in(read_json_with(content.decode())) is not None
        except ValueError:
            return len(_stream(content, {})) > 1
    return not content[:first].rstrip().endswith(b"}")


def unit_of(text: Text) -> str:
    """Name what a row of a text is: a line, or an element of the array that the text is."""
    return "element" if is_document(text.content) else "line"


def values_in(text: Text, **how: Any) -> Iterator[tuple[int, Any]]:
    """Read what each line or element holds, with its number from 1: BLANK, or a value (see `nested.flat`)."""
    if is_document(text.content):
        for number, row in enumerate(_elements(text, how), 1):
            yield number, flat(row, f"{text.name}, element {number}") if isinstance(row, dict) else row
        return
    lines = [line.rstrip().removesuffix(b",") or line for line in text.content.splitlines()]
    for number, line in enumerate(lines, 1):
        where = f"{text.name}, line {text.original(number)}"
        try:
            row = _parse(line, where, how) if line.strip() else BLANK
        except DataError as error:
            raise _broken(text, lines, error, how) or error from None
        yield number, flat(row, where) if isinstance(row, dict) else row


def _broken(
    text: Text, lines: Sequence[bytes], error: DataError, how: Mapping[str, Any]
) -> TableError | None:
    """Propose to skip the lines that are no JSON, if these are few of several."""
    numbers = []
    for number, line in enumerate(lines, 1):
        try:
            read_json_with(line.decode(), **how) if line.strip() else None
        except ValueError:
            numbers.append(text.original(number))
    if len(numbers) > max(_FEW * len(lines), 1) or len(lines) < 2:
        return None
    spec = as_spec(sorted({*text.left, *numbers}))
    return TableError(
        error.message.removesuffix("."), [], [({"skip_lines": spec}, f"without {in_words(numbers)}")]
    )


def _elements(text: Text, how: Mapping[str, Any]) -> list[Any]:
    """List the elements of the array that a text is, or of the one that is in its object."""
    try:
        found = _parse(text.content, text.name, how)
    except DataError as error:
        found = _stream(text.content, how)
        if len(found) < 2:
            raise error from None
    rows: list[Any] | None = found if isinstance(found, list) else rows_in(found)
    if rows is None:
        raise several_lists(text.name, lists_in(found))
    return rows


def _stream(content: bytes, how: Mapping[str, Any]) -> list[Any]:
    """Read objects, or arrays, that are written one after the other; empty: these are none."""
    try:
        found = read_json_stream(content.decode(), **how)
    except ValueError:
        return []
    return found if all(isinstance(one, dict | list) for one in found) else []


def _parse(content: bytes, where: str, how: Mapping[str, Any]) -> Any:
    try:
        return read_json_with(content.decode(), **how)
    except ValueError as error:
        reason = error.msg if isinstance(error, json.JSONDecodeError) else "a value too long or too deep"
        raise DataError(
            f"{where}: found {shorten(content.decode())}, expected one JSON array or object ({reason})."
        ) from None


def label_of(item: Any, where: str) -> str:
    """Take an item: a string that is not empty, or an integer."""
    if isinstance(item, str) and item:
        try:
            item.encode()
        except UnicodeEncodeError:
            raise DataError(
                f"{where}: found {shorten(item)}, which contains half of a surrogate pair."
            ) from None
        return item
    if isinstance(item, int) and not isinstance(item, bool):
        return str(item)
    raise DataError(
        f"{where}: found {kind_of(item)} as an item, expected a string that is not empty or an integer.",
        hint="Leave missing values out of the array; turn other codes into strings.",
    )


def kind_of(value: Any) -> str:
    """Say what a value is."""
    if value is None:
        return "null"
    if value == "":
        return "an empty string"
    kinds = {bool: "a truth value", int: "a number", float: "a number with a fraction", str: "a string"}
    return kinds.get(type(value), "an object" if isinstance(value, dict) else "an array")
