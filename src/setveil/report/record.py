"""The record of a run, as it stands in report.json (see docs/formats.md)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from setveil.errors import DataError, listed

_NEEDED = {
    "input": ("path",),
    "algorithm": ("name", "title", "parameters"),
    "guarantee": ("model",),
    "utility": (),
}


def read_record(path: Path) -> dict[str, Any]:
    """Read the record of a run.

    Raises
    ------
    DataError
        If it cannot be read, or is none.
    """
    try:
        found = json.loads(path.read_bytes())
        json.dumps(found, ensure_ascii=False).encode()  # pages are texts
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path} cannot be read: {error}.") from None
    try:
        lacking = [
            f"{part} {name}" for part, names in _NEEDED.items() for name in names if name not in found[part]
        ]
        if found["guarantee"]["model"] in {"km-anonymity", "constraints"}:
            lacking += [] if isinstance(found["guarantee"].get("k"), int) else ["guarantee k"]
        found["recoding"], found["seed"], found["utility"]
    except (KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{path} is not the record of a run: {error}.") from None
    if lacking:
        raise DataError(f"{path} is not the record of a run: it lacks {listed(lacking)}.")
    return dict(found)
