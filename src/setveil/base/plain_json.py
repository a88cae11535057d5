"""JSON and TOML that others may have written: the one place that reads them.

Whatever is wrong is a ValueError: also a document that is nested too deeply, which would otherwise end in a
RecursionError, and a number with more digits than Python converts.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

_MOST_DIGITS = 300  # of an integer: a longer one is no float, either
_TOO_LONG = 10**_MOST_DIGITS
_BETWEEN = ", \t\r\n"  # values of a stream


def read_json(content: bytes | str) -> Any:
    r"""Read JSON whose texts can be shown.

    >>> read_json('{"k": 5}')
    {'k': 5}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    >>> read_json("[" + "9" * 6000 + "]")
    Traceback (most recent call last):
    ValueError: it has a number of more than 300 digits
    """

    def read() -> Any:
        found = json.loads(content)
        json.dumps(found, ensure_ascii=False).encode()
        _require_short(found)
        return found

    return _plainly(read)


def read_toml(text: str) -> dict[str, Any]:
    """Read TOML.

    >>> read_toml("k = 5")
    {'k': 5}
    >>> read_toml("k = " + "[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is nested too deeply
    >>> read_toml("k = " + "9" * 6000)
    Traceback (most recent call last):
    ValueError: it has a number of more than 300 digits
    """
    import tomllib

    def read() -> Any:
        found = tomllib.loads(text)
        _require_short(found)
        return found

    found: dict[str, Any] = _plainly(read)
    return found


def read_json_with(content: bytes | str, **how: Any) -> Any:
    """Read JSON with options of `json.loads`, such as hooks that keep numbers as texts."""
    return _plainly(lambda: json.loads(content, **how))


def read_json_stream(text: str, **how: Any) -> list[Any]:
    r"""Read values one after the other, with or without commas between them and brackets around them.

    >>> read_json_stream('{"k": 5}\n{"k": 6}'), read_json_stream('[{"k": 5}, {"k": 6},]')
    ([{'k': 5}, {'k': 6}], [{'k': 5}, {'k': 6}])
    """
    text = text.strip()
    if text[:1] == "[" and text[-1:] == "]":
        text = text[1:-1]
    decoder, values, at = json.JSONDecoder(**how), [], 0
    while at < len(text):
        if text[at] in _BETWEEN:
            at += 1
            continue
        value, at = _plainly(partial(decoder.raw_decode, text, at))
        values.append(value)
    return values


def _plainly(read: Callable[[], Any]) -> Any:
    """Turn what is wrong with a document, and not about its form, into a ValueError with the reason."""
    try:
        return read()
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    except ValueError as error:
        if "integer string conversion" in str(error):  # says how to lift Python's limit
            raise ValueError(f"it has a number of more than {_MOST_DIGITS} digits") from None
        raise


def _require_short(found: Any) -> None:
    """Refuse integers that are too long."""
    if isinstance(found, dict):
        found = [*found.values()]
    if isinstance(found, list):
        for one in found:
            _require_short(one)
    elif isinstance(found, int) and not -_TOO_LONG < found < _TOO_LONG:
        raise ValueError(f"it has a number of more than {_MOST_DIGITS} digits")
