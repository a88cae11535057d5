"""A hierarchy made from another one remembers the leaves that are there only because rows have them."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from collections.abc import Callable

import pytest

from setveil.base.values.per_column import labelled
from setveil.methods.algorithms._public_part import _without
from setveil.rows import hierarchy
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.build import extend
from setveil.rows.hierarchy.columns import joined, parted
from setveil.rows.hierarchy.fit import fit_rows, fit_rows_after, fitted, fitted_to_labels, with_items
from setveil.rows.hierarchy.regroup import regrouped
from setveil.rows.hierarchy.tree import Hierarchy

PATHS = [
    ["E11.0", "E11", "E", "*"], ["E11.1", "E11", "E", "*"], ["I10.0", "I10", "*"], ["I10.9", "I10", "*"]
]  # fmt: skip
TREE = re.compile(r"\bHierarchy\b")
NEW = "E11.9"  # placed by `fitted`: its file does not list it


def placed() -> Hierarchy:
    tree = fitted(Hierarchy.from_paths(PATHS), ["E11.0", NEW])
    assert tree.added == {NEW}
    return tree


def rows(*items: str) -> Transactions:
    return Transactions.from_rows([[item] for item in items])


def side_by_side() -> Hierarchy:
    return joined({"dx": placed(), "rx": Hierarchy.from_paths([["A", "*"], ["B", "*"]])})


def again(tree: Hierarchy) -> Hierarchy:
    return regrouped(tree, {tree.id("E11"): [["E11.0", NEW], "E11.1"]}, tree.leaf_counts[: tree.n_leaves])


# Each function that makes a hierarchy from another: what it makes, and the leaves that were added.
CASES: dict[str, tuple[Callable[[], Hierarchy], set[str]]] = {
    "Hierarchy.derived": (lambda: placed().derived({NEW: "*", "x": "*", "*": None}), {NEW}),
    "Hierarchy.merged": (lambda: placed().merged(), {NEW}),
    "Hierarchy.relabelled": (lambda: placed().relabelled({"E": "e"}), {NEW}),
    "extend": (lambda: extend(placed(), rows("E11.0", "E11.8")), {NEW, "E11.8"}),
    "fit_rows": (lambda: fit_rows(placed(), rows("E11.8"))[0], {NEW, "E11.8"}),
    "fit_rows_after": (lambda: fit_rows_after(placed(), [rows("E11.8")], [NEW], [])[0], {NEW, "E11.8"}),
    "fitted": (lambda: fitted(placed(), ["E11.0", "e119"]), {"e119"}),
    "fitted_to_labels": (lambda: fitted_to_labels(placed(), ["e110"]), {NEW}),
    "joined": (side_by_side, {labelled("dx", NEW)}),
    "parted": (lambda: parted(side_by_side(), ["dx", "rx"])["dx"], {NEW}),
    "regrouped": (lambda: again(placed()), {NEW}),
    "with_items": (lambda: with_items(placed(), {"new": "E"}), {NEW}),
    "_without": (lambda: _without(placed(), {"E11.0"}), {NEW}),
    "_without it": (lambda: _without(placed(), {NEW}), set()),
}


@pytest.mark.parametrize("name", CASES)
def test_added_leaves_stay_known(name: str) -> None:
    make, added = CASES[name]
    made = make()
    assert made.added == added
    assert added <= {*made.labels[: made.n_leaves]}


def test_columns_without_added_leaves_have_none() -> None:
    assert parted(side_by_side(), ["dx", "rx"])["rx"].added == set()


def test_every_function_is_tried() -> None:
    """Whatever takes a hierarchy and returns one."""
    found = {
        f"Hierarchy.{name}"
        for name, one in vars(Hierarchy).items()
        if inspect.isfunction(one) and one.__annotations__.get("return") in ("Hierarchy", "Self")
    }
    for module in pkgutil.iter_modules(hierarchy.__path__, f"{hierarchy.__name__}."):
        for name, one in vars(importlib.import_module(module.name)).items():
            if not inspect.isfunction(one) or one.__module__ != module.name:
                continue
            annotated = dict(one.__annotations__)
            makes = str(annotated.pop("return", ""))
            if TREE.search(makes) and any(TREE.search(str(annotation)) for annotation in annotated.values()):
                found.add(name)
    assert found - CASES.keys() == set()
