"""A ward in spring and summer, for the tests of pages about series."""

from __future__ import annotations

from typing import Any

from setveil.studio.projects import Project

FIRST = {"ann": "ac", "bob": "ac", "cid": "b", "dee": "b", "eva": "b"}
SECOND = {"ann": "a", "bob": "c", "cid": "b", "dee": "bd", "fay": "a", "gus": "d"}
TREE = "a;A;*\nb;A;*\nc;C;*\nd;C;*\n"


def give(project: Project, rows: dict[str, str], name: str = "rows.csv", **settings: Any) -> None:
    """Put rows into a project, as the page Data does."""
    file = project.folder / "input" / name
    file.parent.mkdir(exist_ok=True)
    lines = ["patient,code", *(f"{who},{code}" for who, codes in rows.items() for code in codes)]
    file.write_text("\n".join(lines) + "\n")
    project.hierarchy.write_text(TREE)
    read = {"format": "long", "id-column": "patient", "item-column": "code"}
    project.save(input=str(file), hierarchy=str(project.hierarchy), **{**read, **settings})
