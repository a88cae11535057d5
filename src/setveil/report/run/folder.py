"""The files of a run's folder: one list for all that name, show, share or replace them."""

from __future__ import annotations

import re
from collections.abc import Callable

from setveil.report.record import Record
from setveil.report.run.kinds import kind_of, kinds

# Files that are published next to the data, and whether a run has written them; `Kind.published` has more.
_PUBLISHED: dict[str, Callable[[Record], object]] = {
    "items.csv": lambda report: report["published"].get("layout", {}).get("items_file"),
    "counts.csv": lambda report: report.get("counts"),
    "report.html": lambda report: report["published"].get("report"),
    "check.py": lambda report: "check.py" in report["published"].get("checker", ()),
    "check.html": lambda report: "check.html" in report["published"].get("checker", ()),
    "manifest.json": lambda report: report.get("engine") == "spark",
    "about.json": lambda _: True,
}
# Files below internal/; `Kind.internal` has more.
_INTERNAL = (
    "report.json", "report.html", "rows.csv", "series.json", "certificate.json", "audit.py", "hierarchy.csv",
)  # fmt: skip
_DATA = re.compile(r"data\.[a-z]+(/(part-)?\d{5}\.parquet)?")


def published_files(report: Record) -> list[str]:
    """List what is in ``published/``: the data first, several files as a folder, about.json last."""
    found = [name for name, written in _PUBLISHED.items() if written(report)]
    return list(dict.fromkeys([report["published"]["file"], *kind_of(report).published, *found]))


def is_published(name: str) -> bool:
    """Say whether a run writes a file of this name into ``published/``.

    >>> [is_published(name) for name in ("data.csv", "data.parquet/00000.parquet", "about.json", "notes.txt")]
    [True, True, True, False]
    """
    return bool(_DATA.fullmatch(name)) or name in _PUBLISHED or any(name in one.published for one in kinds())


def is_internal(name: str) -> bool:
    """Say whether a run writes a file of this name into ``internal/``."""
    return name in _INTERNAL or any(name in one.internal for one in kinds())


def is_of_a_run(name: str) -> bool:
    """Say whether a run writes a file of this name, with the folder that it is in, into its own folder."""
    part, _, file = name.partition("/")
    return {"published": is_published, "internal": is_internal}.get(part, lambda _: False)(file)
