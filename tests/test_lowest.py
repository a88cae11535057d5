"""The lowest versions that CI tests are those that pyproject.toml allows."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[1]
EXTRAS = "dp", "paper", "plots", "query", "studio", "xlsx"


def test_the_lowest_versions_are_the_bounds() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = project["optional-dependencies"]
    declared = [*project["dependencies"], *(one for extra in EXTRAS for one in optional[extra])]
    bounds = {}
    for one in declared:
        name, bound = one.partition(";")[0].strip().split(">=")
        bounds[name] = version(bound)
    lines = (ROOT / ".ci" / "lowest.txt").read_text().splitlines()
    pinned = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert {name: version(pin) for name, pin in pinned.items()} == bounds
    for one in optional["dev"]:  # what both have is the same there
        name, bound = one.split(">=")
        assert version(bound) == bounds.get(name, version(bound)), name


def version(text: str) -> tuple[int, ...]:
    """Read a version without zeros at its end: 1.11 is 1.11.0."""
    return tuple(map(int, re.sub(r"(\.0)+$", "", text).split(".")))
