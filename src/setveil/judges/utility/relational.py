"""Measures of tables: what their quasi-identifiers lost, and how their rows fall into classes."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, shorten
from setveil.judges.utility import TABLES, Case, Compared, Measure, StudyColumn
from setveil.judges.utility.counts import counts
from setveil.judges.utility.kl import group_sizes
from setveil.judges.utility.lm import lm

if TYPE_CHECKING:
    from setveil.releases.published.table_files import PublishedTable
    from setveil.rows.tables.quasi_identifiers import QuasiIdentifier
    from setveil.rows.tables.table import Table, TextColumn

SHARE = Fraction(1, 4)  # of the quasi-identifiers in f


def column_losses(original: Table, published: PublishedTable) -> dict[str, Fraction]:
    """Average the NCP of each quasi-identifier over the published rows, each between 0 and 1.

    The NCP of a range is its share of the whole column's width; of a node the share of the values below it, 0
    if single; of a node above numbers, their span. A label that mixes missing values with others loses all.
    Xu, Wang, Pei, Wang, Shi, Fu, "Utility-based Anonymization Using Local Recoding", KDD 2006,
    doi:10.1145/1150402.1150504
    """
    lost = {}
    for column, shown in zip(original.columns, published.columns, strict=True):
        loss = [_loss_of_label(column, label) for label in shown.labels]
        rows = np.bincount(shown.codes, minlength=len(loss)).tolist()
        total = sum(a * b for a, b in zip(loss, rows, strict=True))
        lost[column.name] = Fraction(total, max(column.full * published.n_rows, 1))
    return lost


def _loss_of_label(column: QuasiIdentifier, label: str) -> int:
    interval = column.interval_of(label)
    if interval is None:
        raise DataError(
            f"The release shows {shorten(label)} in column {shorten(column.name)}, which represents none of "
            "the original's values.",
            hint="Is this the release of another file, or are hierarchies given that it was not made with?",
        )
    least, greatest = (np.array([end]) for end in interval)
    return int(column.loss_of(least, greatest)[0])


def relational_loss(original: Table, published: PublishedTable) -> Fraction:
    """Average the losses of the quasi-identifiers (`column_losses`) by their weights: R, between 0 and 1."""
    lost = column_losses(original, published)
    weights = {column.name: column.weight for column in original.columns}
    return sum((lost[name] * weight for name, weight in weights.items()), Fraction(0)) / sum(weights.values())


def weighed_loss(case: Case) -> float:
    """Weigh what columns and items lost as algorithms do by default: f = R/4 + 3T/4."""
    items = Fraction(lm(case.original, case.recoding))
    return float(SHARE * relational_loss(case.original, case.table) + (1 - SHARE) * items)


def _suppressed_share(case: Case) -> float:
    gone = counts(case.original, case.published, case.recoding)["suppressed_occurrences"]
    return float(gone / max(case.original.n_occurrences, 1))


def uncovered(original: Table, published: PublishedTable, row_map: NDArray[np.int64]) -> dict[str, int]:
    """Count, for each quasi-identifier, the rows whose published label does not represent their value."""
    found = {}
    for column, shown in zip(original.columns, published.columns, strict=True):
        ends = [column.interval_of(label) or (0, -1) for label in shown.labels]
        spans = np.array(ends, np.int64).reshape(-1, 2)[shown.codes[row_map]]
        found[column.name] = int(((column.codes < spans[:, 0]) | (column.codes > spans[:, 1])).sum())
    return found


def label_loss(published: PublishedTable, sizes: dict[str, int]) -> float:
    """Average over rows of the sum of 2^|u| - 1 over its labels u, divided by 2^(sum of all |u|) - 1.

    |u| is the number of items that a label represents. It is 0 for a row without items, and 1 for any row
    with one label, however narrow: so it is reported, but never optimized. Poulis, Loukides,
    Gkoulalas-Divanis, Skiadopoulos, ECML PKDD 2013, doi:10.1007/978-3-642-40994-3_23
    """
    sets = published.sets
    each = [sizes.get(label, 1) for label in sets.vocabulary.labels]
    shown = sets.items.tolist()
    rows = Counter(
        tuple(sorted(each[item] for item in shown[start:end]))
        for start, end in pairwise(sets.indptr.tolist())
    )
    rows.pop((), None)
    lost = [
        n * float(Fraction(sum(2**size - 1 for size in row), 2 ** sum(row) - 1)) for row, n in rows.items()
    ]
    return math.fsum(lost) / max(published.n_rows, 1)


def class_sizes(published: PublishedTable) -> NDArray[np.int64]:
    """Count the rows of each class: int64 (classes,)."""
    return np.bincount(published.classes()).astype(np.int64)


def _class_measures(case: Case) -> dict[str, Any]:
    """Describe sizes of classes, with their discernibility (sum of squares)."""
    sizes = class_sizes(case.table)
    return {**group_sizes(sizes), "discernibility": sum(size * size for size in sizes.tolist())}


def kept_shares(columns: tuple[TextColumn, ...], part: NDArray[np.int64]) -> dict[str, float]:
    """Find, for each column, the greatest share of one value among the rows of a class."""
    sizes = np.bincount(part)
    found = {}
    for column in columns:
        pairs, rows = np.unique(part * max(len(column.labels), 1) + column.codes, return_counts=True)
        of = sizes[pairs // max(len(column.labels), 1)]
        found[column.name] = float((rows / of).max(initial=0.0))
    return found


MEASURES = (
    Measure(
        name="weighed_loss",
        compute=weighed_loss,
        place=0,
        kinds=TABLES,
        reported=False,
        columns=(StudyColumn("f", lambda utility: utility.get("weighed_loss")),),
        compared=(
            Compared(
                "loss_f",
                "loss (f)",
                "Loss (f): R/4 + 3T/4, what columns and items lost together. Less is better.",
                "f",
                section="loss",
                decides=True,
                head="loss f",
                place=0,
                handed_out=True,
            ),
        ),
    ),
    Measure(
        name="left_out",
        compute=_suppressed_share,
        place=4,
        kinds=TABLES,
        reported=False,
        summarized=False,
        compared=(
            Compared(
                "left_out",
                "occurrences suppressed",
                "Share of the item occurrences that are published nowhere. Less is better.",
                "left_out",
                scale="spread",
                percent=True,
                head="suppressed",
                place=90,
            ),
        ),
    ),
    Measure(
        name="relational_loss",
        title="R",
        meaning="average loss of the quasi-identifiers (NCP)",
        compute=lambda case: float(relational_loss(case.original, case.table)),
        place=0,
        kinds=TABLES,
        reading="0: every quasi-identifier is published as it was; 1: none says anything any more.",
        domain=True,
        handed_out=True,
    ),
    Measure(
        name="transaction_loss",
        title="T",
        meaning="average loss of the item occurrences (LM)",
        compute=lambda case: lm(case.original, case.recoding),
        place=0,
        kinds=TABLES,
        reading="0: every item is published as it was; 1: none is published.",
        domain=True,
        handed_out=True,
        of_occurrences=True,
    ),
    Measure(
        name="column_losses",
        compute=lambda case: {
            name: float(loss) for name, loss in column_losses(case.original, case.table).items()
        },
        place=1,
        kinds=TABLES,
        number=lambda found: max(found.values(), default=0.0),
        columns=(),
    ),
    Measure(
        name="classes",
        compute=_class_measures,
        place=2,
        kinds=TABLES,
        unit="rows",
        high=None,
        better="",
        number=lambda found: found.get("mean"),
        compared=(
            Compared(
                "classes",
                "classes",
                "Number of classes: rows with the same published quasi-identifiers.",
                "classes",
                scale="log",
                place=89,
                write=lambda value: f"{value:,.0f}",
                handed_out=True,
            ),
        ),
        columns=(
            StudyColumn("classes", lambda utility: utility.get("classes", {}).get("groups"), int),
            StudyColumn("class_mean", lambda utility: utility.get("classes", {}).get("mean")),
            StudyColumn(
                "discernibility", lambda utility: utility.get("classes", {}).get("discernibility"), int
            ),
        ),
    ),
    Measure(
        name="label_loss",
        compute=lambda case: label_loss(
            case.table,
            dict(zip(case.recoding.published.labels, case.recoding.member_counts.tolist(), strict=True)),
        ),
        place=3,
        kinds=TABLES,
        reported=False,
    ),
    Measure(
        name="kept_shares",
        compute=lambda case: kept_shares(case.table.kept, case.table.classes()),
        place=4,
        kinds=TABLES,
        number=lambda found: max(found.values(), default=0.0),
        columns=(),
        reported=False,
    ),
    Measure(
        name="uncovered",
        compute=lambda case: uncovered(case.original, case.table, case.row_map),
        place=5,
        kinds=TABLES,
        needs="mapped",
        unit="rows",
        high=None,
        number=lambda found: sum(found.values()),
        columns=(),
        reported=False,
    ),
)
