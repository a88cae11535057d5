"""The notebooks of docs/ run, and show the output that they print.

``python tests/test_notebooks.py`` runs all and writes their output into them. A cell that imports a missing
library is skipped, and its output stays.
"""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import io
import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import needs_compiled, setveil
from warm import CAN_FORK

NOTEBOOKS = sorted((Path(__file__).resolve().parents[1] / "docs").glob("*.ipynb"))
Output = dict[str, Any]


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def missing(source: str) -> bool:
    """Return whether a cell imports a module that is not installed."""
    names = [
        name.split(".")[0]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module or ""] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    ]
    return any(importlib.util.find_spec(name) is None for name in names)


def run_cell(source: str, namespace: dict[str, Any], number: int) -> list[Output]:
    """Run a cell as a notebook does: return its output, and the value of its last expression."""
    tree = ast.parse(source)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    printed, value = io.StringIO(), None
    with contextlib.redirect_stdout(printed):
        exec(compile(tree, "cell", "exec"), namespace)  # noqa: S102
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), namespace)  # noqa: S307
    out: list[Output] = []
    if printed.getvalue():
        out.append({"name": "stdout", "output_type": "stream", "text": lines(printed.getvalue())})
    if value is not None:
        shown = {"text/plain": lines(repr(value))}
        if hasattr(value, "_repr_html_") and type(value).__module__.startswith("setveil"):
            shown["text/html"] = lines(value._repr_html_())
        out.append(
            {"data": shown, "execution_count": number, "metadata": {}, "output_type": "execute_result"}
        )
    return out


def run(path: Path, folder: Path) -> dict[str, Any]:
    """Run a notebook in a folder with the demo's files; return it with the new output."""
    book: dict[str, Any] = json.loads(path.read_text("utf-8"))
    assert setveil("demo", cwd=folder).code == 0
    namespace: dict[str, Any] = {"__name__": "__notebook__"}
    number = 0
    with contextlib.chdir(folder):
        for cell in book["cells"]:
            if cell["cell_type"] != "code":
                continue
            number += 1
            source = "".join(cell["source"])
            if not missing(source):
                cell["outputs"] = run_cell(source, namespace, number)
                cell["execution_count"] = number
    return book


def test_there_is_a_notebook() -> None:
    assert [path.name for path in NOTEBOOKS] == ["rules.ipynb"]


@pytest.mark.exhaustive
@needs_compiled
@pytest.mark.skipif(not CAN_FORK, reason="the demo is made by a command")
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_it_prints(path: Path, tmp_path: Path) -> None:
    book = json.loads(path.read_text("utf-8"))
    assert (book["nbformat"], len(book["cells"]) > 5) == (4, True)
    assert path.stat().st_size < 40_000
    for shown, found in zip(book["cells"], run(path, tmp_path)["cells"], strict=True):
        assert shown == found, "".join(shown["source"])


if __name__ == "__main__":
    os.environ.setdefault("COLUMNS", "100")
    for path in NOTEBOOKS:
        with tempfile.TemporaryDirectory() as folder:
            found = run(path, Path(folder))
        path.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", "utf-8")
