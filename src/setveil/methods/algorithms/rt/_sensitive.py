"""Whether the rows of a part may become a class, by the sensitive values that they have in common."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.kernels.rows import Ids, Ints, take_rows
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.table import Table


def require_nothing_sensitive(algorithm: str, guarantee: Guarantee) -> None:
    """Refuse a guarantee about sensitive values."""
    if guarantee.secrets:
        raise RequestError(
            f"{algorithm} does not limit the shares of sensitive values in a class.",
            hint="Use rt, or ask for the guarantee without them: setveil verify tells whether they are kept.",
        )


class SensitiveValues:
    """The sensitive columns and items of a table, which the guarantee forbids classes to share too often."""

    def __init__(self, table: Table, hierarchy: Hierarchy, guarantee: KKmAnonymity) -> None:
        self.table, self.guarantee = table, guarantee
        self._columns = [column for column in table.kept if column.name in guarantee.sensitive]
        self._is_sensitive = np.array(
            [label in guarantee.sensitive for label in table.vocabulary.labels], np.bool_
        )
        self._leaves = {hierarchy.id(x) for x in guarantee.sensitive if x in table.vocabulary.ids}

    def columns_allowed(self, rows: Ints) -> bool:
        """Whether no value of a kept column is in too many of the rows (at least one)."""
        most = (int(np.bincount(column.codes[rows]).max()) for column in self._columns)
        return not any(self.guarantee.betrays(held, rows.size) for held in most)

    def allowed(self, rows: Ints) -> bool:
        """Whether these rows may be a class, or a part of one that other allowed parts join.

        Of parts that are allowed each, so is their union: the share of all is at most the greatest of theirs.
        Items are taken as they are: to publish them under broader labels, or not at all, gives less away.
        """
        if not self.columns_allowed(rows):
            return False
        items = take_rows(self.table.indptr, self.table.items, rows)[1]
        most = int(np.bincount(items[self._is_sensitive[items]], minlength=1).max())
        return not self.guarantee.betrays(most, rows.size)

    def hidden(self, part: Ints, rows: tuple[Ints, Ids], leaves: Ids, nodes: Ids) -> bool:
        """Whether no sensitive value is too frequent in a class, nor among its rows that show known labels.

        `part`: the rows of the class; `rows`: their items, as leaves; `leaves`, `nodes`: the leaves that
        occur, ascending, and the node that each is published as, or -1.
        """
        indptr, items = rows
        shown = nodes[np.searchsorted(leaves, items)].tolist()
        columns = [column.codes[part].tolist() for column in self._columns]
        times: Counter[tuple[int, ...]] = Counter()
        held: Counter[Any] = Counter()
        for row, (start, end) in enumerate(pairwise(indptr.tolist())):
            labels = {node for node in shown[start:end] if node >= 0}
            values: list[Any] = [(a, codes[row]) for a, codes in enumerate(columns)]
            values += labels & self._leaves
            others = sorted(labels - self._leaves)
            for size in range(min(self.guarantee.p, len(others)) + 1):
                for known in combinations(others, size):
                    times[known] += 1
                    held.update((known, value) for value in values)
        return not any(self.guarantee.betrays(n, times[known]) for (known, _), n in held.items())
