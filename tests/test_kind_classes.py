"""Only the files of a kind of release and its verifier test for its classes; the rest may only shrink."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import setveil as sv

PACKAGE = Path(sv.__file__).parent
OWN = ("published", "guarantees/verify")  # where the classes are at home
CLASSES = {
    "RowsRelease", "ClassesRelease", "FactsRelease", "TableRelease", "GroupsRelease", "ChunksRelease",
    "BlocksRelease", "PublishedTable", "PublishedGroups", "PublishedChunks", "PublishedBlocks", "ClassRows",
    "FactRows", "Recoding", "LocalRecoding", "GroupRecoding", "BoxRecoding", "LocalBoxes", "Parts",
    "TableCut", "Grouping", "SharedFacts",
}  # fmt: skip
LEFT = {"commands/attack.py": 1, "commands/measure.py": 3, "commands/verify.py": 1}


def _named(asked: ast.expr) -> list[str]:
    """List the classes that an `isinstance` asks for."""
    if isinstance(asked, ast.Tuple):
        return [name for part in asked.elts for name in _named(part)]
    if isinstance(asked, ast.BinOp):
        return _named(asked.left) + _named(asked.right)
    return [ast.unparse(asked).rpartition(".")[2]]


def asked_by_file() -> Counter[str]:
    """Count the tests for a class of a kind in each file where these are not at home."""
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(OWN):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "isinstance" and len(node.args) == 2:
                found[name] += len(CLASSES.intersection(_named(node.args[1])))
    return +found


def test_no_file_tests_for_more_classes_of_kinds_than_before() -> None:
    """Ask the release, what it publishes or its `KindInfo`; lower the number of a file that has fewer now."""
    more = {name: n for name, n in asked_by_file().items() if n > LEFT.get(name, 0)}
    assert more == {}
