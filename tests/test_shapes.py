"""The pictures of the shapes of files are drawn from files that are read as the pictures show."""

from __future__ import annotations

import json
import runpy
import shlex
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import together

PICTURES = Path(__file__).resolve().parents[1] / "docs/pictures"
DRAWN = runpy.run_path(str(PICTURES / "shapes.py"))
SHAPES: dict[str, Any] = {shape.name: shape for shape in DRAWN["SHAPES"]}


@pytest.mark.parametrize("name", SHAPES)
def test_a_picture_shows_its_shape(name: str) -> None:
    drawn = (PICTURES / f"shapes/{name}.svg").read_text("utf-8")
    assert drawn == DRAWN["picture"](SHAPES[name])
    page = (PICTURES.parent / "howto/read_your_file.md").read_text("utf-8")
    assert f"(../pictures/shapes/{name}.svg)" in page


def test_each_shape_is_read_as_it_is_drawn(tmp_path: Path) -> None:
    """Check the rows that each file gives with the options below its picture."""
    lines = []
    for shape in SHAPES.values():
        (tmp_path / shape.file).write_text(shape.text(), "utf-8")
        lines.append(["convert", shape.file, f"{shape.name}-rows.jsonl", *shlex.split(shape.options)])
    for shape, done in zip(SHAPES.values(), together(lines, tmp_path), strict=True):
        done.ok()
        rows = (tmp_path / f"{shape.name}-rows.jsonl").read_text("utf-8").splitlines()
        assert [tuple(json.loads(row)) for row in rows] == [*DRAWN["PEOPLE"].values()], shape.name
