"""Find every problem of a hierarchy file at once, with line numbers."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import pairwise

from setveil.base.errors import shorten
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.outline import FileProblem, Outline
from setveil.rows.hierarchy.problems import by_line, find_problems
from setveil.rows.hierarchy.shapes import read_outline
from setveil.rows.hierarchy.tree import Hierarchy


def check_hierarchy(
    path: str | os.PathLike[str],
    data: Transactions | None = None,
    *,
    encoding: str = "utf-8",
    separator: str | None = None,
) -> list[FileProblem]:
    """Find every problem of a hierarchy file, in order of lines, problems without a line last.

    Problems are labels with two parents, cycles, several roots, items listed twice, items that are inner
    nodes elsewhere, empty labels, unreadable lines; and with `data`, items that are missing or are inner
    nodes. Unequal depth is not a problem.
    """
    outline = read_outline(path, encoding=encoding, separator=separator)
    found = find_problems(outline)
    if data is not None and not found:
        parents: dict[str, str | None] = {}
        for _, labels in outline.paths:
            parents.setdefault(labels[-1], None)
            parents.update(pairwise(labels))
        tree = fitted(Hierarchy(parents), data.vocabulary.labels)
        return [
            FileProblem(None, f"item {shorten(item)} of the data is not in the hierarchy")
            for item in data.vocabulary.labels
            if item not in tree
        ]
    return sorted([*found, *(() if data is None else _misfits(outline, data))], key=by_line)


def _misfits(outline: Outline, data: Transactions) -> Iterator[FileProblem]:
    inner: dict[str, int | None] = {}
    leaves: set[str] = set()
    for line, labels in outline.paths:
        leaves.add(labels[0])
        for label in labels[1:]:
            inner.setdefault(label, line)
    for item in data.vocabulary.labels:
        if item in inner:
            yield FileProblem(inner[item], f"item {shorten(item)} of the data is an inner node")
    for item in data.vocabulary.labels:
        if item not in inner and item not in leaves:
            yield FileProblem(None, f"item {shorten(item)} of the data is not in the hierarchy")
