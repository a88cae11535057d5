"""Check, using only published files, that counts next to a table are possible and satisfy the guarantee.

Counts are of the whole table. Someone who knows a person's quasi-identifiers looks at one class only: if
suppressed items are counted, rows published without items must not be few in any class (docs/tables.md).
"""

from __future__ import annotations

import numpy as np

from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.judges.guarantees.verify._classes import RareItemsets, TableClasses
from setveil.judges.guarantees.verify.counts import CountsFile, CountsVerdict, check_counts
from setveil.releases.published.table_files import PublishedTable


def check_table_counts(
    published: PublishedTable,
    counts: CountsFile,
    guarantee: KKmAnonymity | MixedKmAnonymity,
    *,
    show: int = 10,
) -> CountsVerdict:
    """Check counts next to a table from published files."""
    if guarantee.mixed:
        few = _few_with_some_facts(published, guarantee)
    else:
        few = _few_of_a_class(published, guarantee.k)
    return check_counts(
        published.sets, counts, guarantee.k, secrets=guarantee.secrets, few_empty=few, show=show
    )


def _few_of_a_class(published: PublishedTable, k: int) -> tuple[int, str]:
    """Find the class with the fewest published rows without items, if they are fewer than k."""
    classes = TableClasses.of(published)
    empty = np.bincount(classes.of_row[published.sets.row_lengths() == 0], minlength=classes.sizes.size)
    fewest = min((n for n in empty.tolist() if n), default=0)
    if not 0 < fewest < k:
        return 0, ""
    known = classes.named(published, empty.tolist().index(fewest))
    return (
        fewest,
        f"published rows of {', '.join(f'{name} = {label}' for name, label in known) or 'one class'}",
    )


def _few_with_some_facts(
    published: PublishedTable, guarantee: KKmAnonymity | MixedKmAnonymity
) -> tuple[int, str]:
    """Find fewer than k published rows without items that share what may be known in addition to one item."""
    from setveil.judges.guarantees.verify.mixed_km import rows_of_facts

    rows = np.flatnonzero(published.sets.row_lengths() == 0)
    if 0 < rows.size < guarantee.k:
        return rows.size, "published rows"
    if not rows.size or guarantee.m == 1:
        return 0, ""
    indptr, facts, names = rows_of_facts(published)
    n = len(published.columns)
    of_empty = facts[indptr[rows, None] + np.arange(n)]
    rare = RareItemsets(guarantee.k, min(guarantee.m - 1, max(n, 1)), 1)
    rare.look_at(np.arange(rows.size + 1) * n, of_empty.ravel(), len(names))
    if not rare.violations:
        return 0, ""
    ids, support = rare.found[0]
    known = ", ".join(f"{names[x][0]} = {names[x][1]}" for x in ids)
    return support, f"published rows of {known}"
