"""A small shop for the tests of pages: rows of a dozen things, and what they may be called instead."""

from __future__ import annotations

import shutil
from pathlib import Path

import cli_helpers
from setveil.studio.projects import Project

THINGS = {
    "101": "tea", "102": "coffee", "103": "juice", "104": "milk", "105": "butter", "106": "cheese",
    "107": "yoghurt", "108": "soap", "109": "candles", "110": "matches", "111": "bleach", "112": "sponges",
}  # fmt: skip
GROUPS = {"drinks": 3, "dairy": 4, "household": 5}


def rows(n: int = 300, longest: int = 5) -> list[list[str]]:
    """Return rows of things, always the same."""
    return [sorted(THINGS[item] for item in row) for row in cli_helpers.sample_rows(n, 12, longest)]


def hierarchy() -> str:
    """Return lines of thing;group;all."""
    groups = [group for group, number in GROUPS.items() for _ in range(number)]
    return "".join(
        f"{thing};{group};all things\n" for thing, group in zip(THINGS.values(), groups, strict=True)
    )


def fill(project: Project, n: int = 300, *, longest: int = 5) -> Path:
    """Put the shop's files into a project's folder, and read them; return the file of rows."""
    file = cli_helpers.write(project.folder / "rows.csv", cli_helpers.dump(rows(n, longest), "basket"))
    groups = cli_helpers.write(project.folder / "groups.csv", hierarchy())
    shutil.copyfile(groups, project.hierarchy)
    project.save(input=str(file), format="basket", hierarchy=str(project.hierarchy))
    return file
