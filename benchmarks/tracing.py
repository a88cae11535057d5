"""The time that tracing costs while it is off: paired runs with and without the code for it.

    python benchmarks/tracing.py [--pairs 7] [--data FOLDER] [ALGORITHM ...]

An algorithm runs as it is, without a trace, and with all code for traces taken out of its source: what stands
below `if trace is not None`. Both take turns in one process, and the first of a pair alternates. `ratio` is
the median of the ratios of processor seconds, as it is to taken out; `seconds` is the median as it is.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.abc
import importlib.machinery
import statistics
import sys
import time
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

import numpy as np
from table_classes import patients

import setveil as sv
from runs import data_folder
from setveil.methods import algorithms

NAMES = ("aa", "da", "oa", "hghs", "mhghs", "coat", "pcta", "lg", "mm", "border", "cahd", "rt")
TRACED = {"trace", "watched"}
LEAST = 0.5  # seconds that a measurement takes at least: short searches are run several times


class WithoutTraces(ast.NodeTransformer):
    """Take out what is done only for a trace."""

    removed = 0

    def visit_If(self, node: ast.If) -> ast.AST | None:
        """Remove `if trace is not None`, alone or with other conditions."""
        parts = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        if not node.orelse and any(_asks(part, ast.IsNot) for part in parts):
            self.removed += 1
            return None
        return self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        """Keep the value that there is without a trace."""
        if _asks(node.test, ast.Is):
            self.removed += 1
            return node.body
        return self.generic_visit(node)


def _asks(test: ast.expr, how: type[ast.cmpop]) -> bool:
    """Return whether a condition compares a trace with None."""
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], how):
        return False
    return getattr(test.left, "id", getattr(test.left, "attr", "")) in TRACED


class Loader(importlib.machinery.SourceFileLoader):
    """Load modules without what is done for traces."""

    removed = 0

    def get_code(self, fullname: str) -> Any:
        """Compile the changed source, and keep no file of it."""
        path = self.get_filename(fullname)
        changed = WithoutTraces()
        tree = changed.visit(ast.parse(self.get_data(path)))
        Loader.removed += changed.removed
        return compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)


class Finder(importlib.abc.MetaPathFinder):
    """Find the modules of algorithms."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> ModuleSpec | None:
        """Give modules of algorithms another loader."""
        spec = importlib.machinery.PathFinder.find_spec(fullname, path, target)
        if not fullname.startswith("setveil.methods.algorithms.") or spec is None or spec.origin is None:
            return None
        spec.loader = Loader(fullname, spec.origin)
        return spec


def problem(name: str, folder: Path) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Choose data, hierarchy, guarantee and parameters for an algorithm."""
    data, tree = sv.read(folder / "groceries.csv"), sv.read_hierarchy(folder / "groceries_hierarchy.csv")
    rare = tuple(sorted(data.vocabulary.labels)[::20])
    parameters: dict[str, Any] = {}
    guarantee: Any = sv.KmAnonymity(5, 2)
    if name == "oa":  # whole cuts of few items: those below the departments
        data, tree = few_items(folder)
    elif name in {"coat", "pcta"}:
        guarantee, parameters = sv.PrivacyConstraints(5, m=2), {"max_suppressed_items": 1}
    elif name == "lg":
        guarantee = sv.TransactionalKAnonymity(5)
    elif name in {"mm", "border"}:
        guarantee = sv.Coherence(0.6, 5, 3, rare)
    elif name == "cahd":
        guarantee = sv.PrivacyDegree(4, rare)
    elif name == "rt":
        table = patients(folder)
        data, tree, guarantee = table.rows_at(np.arange(2000)), table.tree, sv.KKmAnonymity(5, 2)
    return data, tree, guarantee, parameters


def few_items(folder: Path) -> tuple[Any, Any]:
    """Read 2,000 rows of BMS-WebView-2 with item numbers modulo 40, as in VLDB 2008."""
    with (folder / "bms_webview2.dat").open() as file:
        rows = [sorted({str(int(item) % 40) for item in next(file).split()}) for _ in range(2000)]
    data = sv.Transactions.from_rows(rows)
    return data, sv.Hierarchy.balanced(data, 4, order="number")


class World:
    """The modules of algorithms, as they are or without what is done for traces, also those imported late."""

    def __init__(self, *, bare: bool) -> None:
        self.finder = [Finder()] if bare else []
        self.modules: dict[str, Any] = {}

    def __enter__(self) -> None:
        """Put the modules in place of those of another world."""
        for name in [one for one in sys.modules if one.startswith("setveil.methods.algorithms.")]:
            del sys.modules[name]
        sys.modules.update(self.modules)
        sys.meta_path[:0] = self.finder

    def __exit__(self, *_: object) -> None:
        """Keep the modules, with those that were imported meanwhile."""
        self.modules = {
            name: one for name, one in sys.modules.items() if name.startswith("setveil.methods.algorithms.")
        }
        for finder in self.finder:
            sys.meta_path.remove(finder)


def measure(name: str, pairs: int, folder: Path) -> None:
    """Print the line of an algorithm."""
    data, tree, guarantee, parameters = problem(name, folder)
    Loader.removed = 0
    worlds = World(bare=False), World(bare=True)

    def seconds(at: int, times: int) -> float:
        with worlds[at]:
            module = importlib.import_module(algorithms.homes()[name])
            before = time.process_time()
            for _ in range(times):
                module.anonymize(data, tree, guarantee, module.Parameters(**parameters))
            return (time.process_time() - before) / times

    for at in (0, 1):
        seconds(at, 1)  # compiles
    times = max(1, round(LEAST / max(seconds(0, 1), 1e-6)))
    took: list[list[float]] = [[], []]
    for pair in range(pairs):
        for at in (0, 1) if pair % 2 else (1, 0):
            took[at].append(seconds(at, times))
    ratios = [normal / bare for normal, bare in zip(*took, strict=True)]
    middle, ratio = statistics.median(took[0]), statistics.median(ratios)
    print(
        f"{name:<10} {Loader.removed:>7} {middle:>9.4f} {ratio:>6.3f} {min(ratios):>6.3f} "
        f"{max(ratios):>6.3f}",
        flush=True,
    )


def main() -> None:
    """Print the table."""
    options = argparse.ArgumentParser(description="The time that tracing costs while it is off.")
    options.add_argument("names", nargs="*", metavar="ALGORITHM", default=NAMES)
    options.add_argument("--pairs", type=int, default=7)
    options.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    arguments = options.parse_args()
    print(f"{'algorithm':<10} {'removed':>7} {'seconds':>9} {'ratio':>6} {'least':>6} {'most':>6}")
    for name in arguments.names:
        measure(name, arguments.pairs, data_folder(arguments.data))


if __name__ == "__main__":
    main()
