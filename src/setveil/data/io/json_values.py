"""What the lines of a JSON file hold, or the elements of the one array that it is."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from setveil.data.io.source import Text
from setveil.errors import DataError, shorten
from setveil.plain_json import read_json_with

BLANK = object()
_DOCUMENT = re.compile(rb"\s*\[\s*[\[{]")


def is_document(content: bytes) -> bool:
    """Whether a text is one array of arrays or objects, which may go over many lines."""
    return _DOCUMENT.match(content) is not None


def unit_of(text: Text) -> str:
    """Name what a row of a text is: a line, or an element of the array that the text is."""
    return "element" if is_document(text.content) else "line"


def values_in(text: Text, **how: Any) -> Iterator[tuple[int, Any]]:
    """Read what each line or element holds (see `unit_of`), with its number, from 1.

    A line without anything is BLANK. `how`: as `json.loads` takes it.
    """
    if is_document(text.content):
        yield from enumerate(_parse(text.content, text.name, how), 1)
        return
    for number, line in enumerate(text.content.splitlines(), 1):
        yield number, _parse(line, f"{text.name}, line {number}", how) if line.strip() else BLANK


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
                f"{where}: found {shorten(item)}, which holds half of a surrogate pair."
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
