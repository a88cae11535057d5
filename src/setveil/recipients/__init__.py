"""Two small programs for those who are given a release, and how they come beside it.

``check.py`` and ``check.html`` share no code with setveil, which copies them as bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.errors import RequestError

CHECK, PAGE = (Path(__file__).with_name(name) for name in ("check.py", "check.html"))
FILES = CHECK.name, PAGE.name

_ROWS, _TABLES = ("km-anonymity", "k-anonymity"), ("kkm", "mixed-km")


def put_checker(folder: Path, about: Mapping[str, Any]) -> None:
    """Copy both programs into a folder of published files, of which `about` is the about.json.

    Raises
    ------
    RequestError
        If they could not check such a release.
    """
    _require_checked(about)
    for program in (CHECK, PAGE):
        (folder / program.name).write_bytes(program.read_bytes())


def _require_checked(about: Mapping[str, Any]) -> None:
    promise = about.get("guarantee", {})
    model, form = promise.get("model"), about.get("format")
    if form == "parquet" or "files" in about or "items_file" in about:
        what = "a Parquet file" if form == "parquet" else "several files"
        raise RequestError(
            f"The checker for recipients reads one text file, and the data are {what}.",
            hint="--output-format jsonl, or another text format; of a table leave it out.",
        )
    known = {"global": _ROWS, "local": _ROWS, "table": _TABLES, "table-cut": _TABLES}
    if model not in known.get(str(about.get("recoding")), ()) or "sensitive" in promise:
        more = " with sensitive items" if "sensitive" in promise else ""
        raise RequestError(
            f"The checker for recipients does not check {model}{more} of such a release.",
            hint="It checks k^m-anonymity and k-anonymity of rows without classes, and (k,k^m)-anonymity and "
            "mixed k^m-anonymity of tables in which nothing is sensitive.",
        )
