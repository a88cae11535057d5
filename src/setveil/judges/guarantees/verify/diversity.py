"""Measure how much a class of a published table reveals about its kept columns: l-diversity and t-closeness.

Neither is part of the guarantee; both are for comparison with other tools. A class is the rows with equal
published quasi-identifiers. Distinct l-diversity (Machanavajjhala and others, TKDD 2007,
doi:10.1145/1217299.1217302) is the least number of different values in a class. t-closeness (Li, Li and
Venkatasubramanian, ICDE 2007, doi:10.1109/ICDE.2007.367856) is the greatest distance between the values of a
class and those of all rows: for numbers the ordered distance of section 3.1, else half the sum of
differences.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.releases.published.table_files import PublishedTable
from setveil.rows.tables.table import TextColumn

_AT_ONCE = 1 << 22  # cells of classes times values


@dataclass(frozen=True)
class Diversity:
    """Disclosure of a kept column by classes."""

    column: str
    diversity: int  # l of distinct l-diversity: the least number of different values in a class
    closeness: float  # t of t-closeness, from 0 to 1: the greatest distance between a class and all rows
    ordered: bool  # whether the values are numbers, with the ordered distance

    def __str__(self) -> str:
        values = "1 value" if self.diversity == 1 else f"{self.diversity:,} different values"
        return (
            f"{self.column}: at least {values} in a class (l-diversity), at most {self.closeness:.2f} from "
            "all rows (t-closeness); reported, not guaranteed"
        )

    def as_dict(self) -> dict[str, Any]:
        """Return JSON types."""
        return vars(self)


def diversities(table: PublishedTable) -> list[Diversity]:
    """Measure each kept column of a table; an empty table has none."""
    if not table.n_rows:
        return []
    classes = np.unique(table.classes(), return_inverse=True)[1].astype(np.int64)
    return [_diversity(column, classes) for column in table.kept]


def _diversity(column: TextColumn, classes: NDArray[np.int64]) -> Diversity:
    used, codes = np.unique(column.codes, return_inverse=True)
    numbers = _numbers([column.labels[code] for code in used.tolist()])
    if numbers is not None:
        values, place = np.unique(numbers, return_inverse=True)  # 1 and 1.0 are one number
        codes, n_values = place[codes], values.size
    else:
        n_values = used.size
    pairs, counts = np.unique(classes * n_values + codes, return_counts=True)
    sizes = np.bincount(classes)
    least = int(np.bincount(pairs // n_values).min())
    overall = np.bincount(codes, minlength=n_values) / codes.size
    greatest = 0.0
    step = max(1, _AT_ONCE // n_values)
    for start in range(0, sizes.size, step):
        end = min(start + step, sizes.size)
        inside = slice(*np.searchsorted(pairs, [start * n_values, end * n_values]))
        shares = np.zeros((end - start, n_values))
        shares.flat[pairs[inside] - start * n_values] = counts[inside]
        shares /= sizes[start:end, None]
        apart = shares - overall
        if numbers is None:
            distances = np.abs(apart).sum(axis=1) / 2
        else:
            distances = np.abs(np.cumsum(apart, axis=1)).sum(axis=1) / max(n_values - 1, 1)
        greatest = max(greatest, float(distances.max()))
    return Diversity(column.name, least, round(greatest, 12), numbers is not None)


def _numbers(labels: list[str]) -> NDArray[np.float64] | None:
    """Read labels as finite numbers; None if one of them is no number."""
    try:
        numbers = np.array([float(label) for label in labels])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None
