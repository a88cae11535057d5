"""One class of a run, as if it had been a run of its own."""

from __future__ import annotations

import csv
from dataclasses import replace
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from setveil.base.errors import DataError, RequestError, unreadable
from setveil.base.wording import count
from setveil.kernels.rows import frozen, take_rows
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past.run import PastRun

if TYPE_CHECKING:
    from setveil.runs.run import VerifiedRelease


def has_classes(run: PastRun) -> bool:
    """Whether a run has classes."""
    return run.report["recoding"] == ClassRecoding.kind


def require_class(run: PastRun, number: int | None) -> None:
    """Refuse to ask of no class where there are classes, and of a class where there is none."""
    if not has_classes(run):
        if number is not None:
            raise RequestError("--class: this run has no classes.", hint="Omit it.")
        return
    classes = run.report["classes"]["number"]
    if number is None or number >= classes:
        found = "" if number is None else f" There is no class {number}."
        each = ", each" if classes > 1 else ""
        raise RequestError(
            f"This run has {count(classes, 'class', 'classes')}{each} with labels of its own.{found}",
            hint=f"Name one: --class N, from 0 to {classes - 1}.",
        )


def in_class(
    run: PastRun,
    release: str | PathLike[str] | VerifiedRelease,
    rows: Transactions,
    tree: Hierarchy,
    number: int,
) -> tuple[PastRun, Transactions]:
    """Take one class of a run: its rows, and the label of each item."""
    if isinstance(release, str | PathLike):
        inside = Path(release) / "internal"
        of_row = np.array([int(part or -1) for _, part in _lines(inside / "row_parts.csv", 2)], np.int64)
        shown = {item: label for part, item, label in _lines(inside / "parts.csv", 3) if int(part) == number}
    else:
        parts = release.release.parts  # type: ignore[attr-defined]  # of every release in classes
        of_row = parts.of_row
        lines = zip(parts.part.tolist(), parts.item.tolist(), parts.label.tolist(), strict=True)
        names = (*parts.labels, "")
        shown = {parts.items[item]: names[label] for part, item, label in lines if part == number}
    if of_row.size != rows.n_rows:
        raise DataError(
            f"The run had {of_row.size:,} rows, and these are {rows.n_rows:,}.",
            hint="Are they the rows that the run was made from?",
        )
    indptr, items = take_rows(rows.indptr, rows.items, np.flatnonzero(of_row == number))
    used, there = np.unique(items, return_inverse=True)
    labels = Vocabulary(rows.vocabulary.labels[i] for i in used.tolist())
    image: dict[str, str | None] = {}
    for label in dict.fromkeys(label for label in shown.values() if label):
        image |= dict.fromkeys((tree.labels[leaf] for leaf in tree.leaves(tree.id(label))), label)
    image |= {item: label or None for item, label in shown.items()}
    # What is neither there nor under a label of the class is under its own name, which no row shows.
    whole = {leaf: image.get(leaf, leaf) for leaf in tree.labels[: tree.n_leaves]}
    report = run.report.copy()
    report.pop("optimality", None)
    report["recoding"] = "global"
    alone = replace(run, name=f"class {number} of {run.name}", report=report, image=whole, partial=True)
    return alone, Transactions(indptr, frozen(there.ravel(), np.int32), labels)


def _lines(path: Path, fields: int) -> list[list[str]]:
    try:
        with path.open(encoding="utf-8", newline="") as file:
            lines = list(csv.reader(file, strict=True))[1:]
    except (OSError, ValueError, csv.Error) as error:
        raise unreadable(path, "cannot be read", error) from None
    if any(len(line) != fields for line in lines):
        raise DataError(f"{path} is not as the run wrote it.")
    return lines
