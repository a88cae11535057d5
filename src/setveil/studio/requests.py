"""Content of requests: forms, JSON and numbers, from any sender.

All routes read requests by these, so that what is too long, too deep or no text is answered with a sentence.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from typing import Any

from starlette.datastructures import FormData
from starlette.requests import Request

from setveil.base.errors import RequestError
from setveil.base.plain_json import read_json

MOST_FIELDS = 100_000  # of a form: a table of 10,000 columns has three for each
MOST_BYTES = 64_000_000  # of a form without files, and of JSON
_WAY_IN = 256  # bytes that a browser or a second start sends to come in


def fault(message: str, field: str, hint: str = "") -> dict[str, str]:
    """Say what is wrong with a field, as pages show it."""
    return {"message": message, "hint": hint, "field": field}


async def form_of(request: Request, *, files: bool = False) -> FormData:
    """Read a form; with `files`, a file comes with it, which goes to the disk and may be of any length."""
    bounded = request if files else _bounded(request, MOST_BYTES)
    return await bounded.form(max_files=int(files), max_fields=MOST_FIELDS, max_part_size=MOST_BYTES)


async def json_object(request: Request) -> dict[str, Any]:
    """Read a JSON object."""
    found = json_of(await _bounded(request, MOST_BYTES).body())
    if not isinstance(found, dict):
        raise RequestError("The request is not a JSON object.")
    return found


def json_of(text: bytes | str) -> Any:
    r"""Read JSON that was sent; None where it is none, or holds what is no text.

    >>> json_of('{"k": 5}'), json_of("["), json_of("[" * 100_000), json_of('"\\ud800"')
    ({'k': 5}, None, None, None)
    """
    try:
        return read_json(text)
    except ValueError:
        return None


async def way_in(request: Request) -> str:
    """Read what someone says who is not let in yet: nothing, where it is longer than it can be."""
    try:
        return (await _bounded(request, _WAY_IN).body()).decode("latin-1")
    except RequestError:
        return ""


def whole(text: object, least: int = 0, most: int = 10**9) -> int | None:
    """Read a whole number; None where there is none, or it is out of its range.

    >>> whole("20"), whole("20", most=10), whole("-1"), whole("٣"), whole("9" * 5000), whole(7)
    (20, None, None, None, None, 7)
    """
    digits = str(text) if isinstance(text, str) or (type(text) is int and abs(text) <= most) else ""
    if not (digits.isascii() and digits.isdecimal() and len(digits) <= len(str(most))):
        return None
    return int(digits) if least <= int(digits) <= most else None


def _bounded(request: Request, most: int) -> Request:
    """Return the request with a limit on the bytes that are read."""
    read = 0

    async def receive() -> MutableMapping[str, Any]:
        nonlocal read
        message = await request.receive()
        read += len(message.get("body", b""))
        if read > most:
            raise RequestError(f"The request has more than {most:,} bytes, which is too long here.")
        return message

    return Request(request.scope, receive)
