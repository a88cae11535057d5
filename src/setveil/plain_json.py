"""JSON that others may have written."""

from __future__ import annotations

import json
from typing import Any


def read_json(content: bytes | str) -> Any:
    r"""Read JSON whose texts can be shown.

    Examples
    --------
    >>> read_json('{"k": 5}')
    {'k': 5}
    >>> read_json("[" * 100_000)
    Traceback (most recent call last):
    ValueError: it is too deep
    """
    try:
        found = json.loads(content)
        json.dumps(found, ensure_ascii=False).encode()
    except RecursionError:
        raise ValueError("it is too deep") from None
    return found
