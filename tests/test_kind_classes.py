"""Only the files of a kind of release and its verifier test for its classes; the rest may only shrink."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path

import setveil as sv

PACKAGE = Path(sv.__file__).parent
OWN = ("releases/published", "judges/guarantees/verify")  # where the classes are defined
CLASSES = {
    "RowsRelease", "ClassesRelease", "FactsRelease", "TableRelease", "GroupsRelease", "ChunksRelease",
    "BlocksRelease", "PublishedTable", "PublishedGroups", "PublishedChunks", "PublishedBlocks", "ClassRows",
    "FactRows", "Recoding", "LocalRecoding", "GroupRecoding", "BoxRecoding", "LocalBoxes", "Parts",
    "TableCut", "Grouping", "SharedFacts",
}  # fmt: skip
LEFT = {"commands/attack.py": 1, "commands/measure.py": 3, "commands/verify.py": 1}


def _named(node: ast.expr) -> list[str]:
    """List the classes in an `isinstance`."""
    if isinstance(node, ast.Tuple):
        return [name for part in node.elts for name in _named(part)]
    if isinstance(node, ast.BinOp):
        return _named(node.left) + _named(node.right)
    return [ast.unparse(node).rpartition(".")[2]]


def counts_by_file() -> Counter[str]:
    """Count the tests for a class of a kind in each file where these are not at home."""
    found: Counter[str] = Counter()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(OWN):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
                continue
            if node.func.id == "isinstance" and len(node.args) == 2:
                found[name] += len(CLASSES.intersection(_named(node.args[1])))
    return +found


def test_no_file_tests_for_more_classes_of_kinds_than_before() -> None:
    """Check the numbers of such tests; ask the release or its `KindInfo` instead, and lower them."""
    more = {name: n for name, n in counts_by_file().items() if n > LEFT.get(name, 0)}
    assert more == {}
