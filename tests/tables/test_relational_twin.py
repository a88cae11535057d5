"""Values, labels, losses and the canonical order of tables against a twin of dicts and fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from naive import rt_table
from naive.rt_table import MISSING, Column
from setveil.base.errors import DataError
from setveil.releases.published.parts import Parts
from setveil.rows.tables.ranges import ranges, usual_width
from setveil.rows.tables.table import numbered_parts
from strategies import many, seeded
from tables import NUMBERS, fast, quasi, random_table, random_tables


def test_labels_and_losses_of_parts() -> None:
    for rng, slow in random_tables(300, 1):
        table = fast(slow)
        if not slow.n:
            assert table.relational_loss(np.zeros(0, np.int64)) == 0
            continue
        of_row = np.array([rng.randrange(4) for _ in range(slow.n)])
        parts = slow.in_order(
            [row for row in range(slow.n) if of_row[row] == part] for part in sorted(set(of_row.tolist()))
        )
        part = numbered_parts(table.canonical_order(), of_row)
        assert [part.tolist().index(i) for i in range(len(parts))] == [min(each) for each in parts]
        assert [set(np.flatnonzero(part == i).tolist()) for i in range(len(parts))] == list(map(set, parts))
        assert table.relational_loss(part) == rt_table.relational_loss(slow, parts)
        labels = Parts(part, None).column_labels(table)  # type: ignore[arg-type]  # of no interest here
        for each in parts:
            found = {tuple(names[codes[row]] for codes, names in labels) for row in each}
            assert found == {slow.labels(each)}


def test_canonical_order() -> None:
    for _, slow in random_tables(300, 2):
        assert fast(slow).canonical_order().tolist() == slow.canonical


def test_node_losses() -> None:
    rng = seeded(3)
    for _ in range(many(200)):
        for slow in random_table(rng, trees=True).columns:
            column = quasi(slow)
            at = {
                label: Fraction(int(column.extent[v]), column.full or 1)
                for v, label in enumerate(column.labels)
            }
            assert at == {node: slow.node_loss(node) for node in slow.under}
            in_order = [column.labels[v] for v in np.argsort(column.rank)]
            assert in_order == sorted(slow.paths, key=slow.rank.__getitem__)


def test_built_ranges() -> None:
    rng = seeded(4)
    for _ in range(many(200)):
        texts = [rng.choice(rng.choice(NUMBERS)) for _ in range(rng.randint(1, 8))]
        texts = [*rt_table.numbers(texts)] + [MISSING] * rng.randint(0, 1)
        width = rng.choice((Fraction(1, 3) * 3, Fraction(1, 10), Fraction(5, 2), Fraction(100)))
        assert ranges(texts, width) == rt_table.built_ranges(texts, width)
        numbers = [Fraction(text) for text in texts if text]
        assert usual_width(numbers) == rt_table.width_for(texts)


def test_numbers_of_many_digits() -> None:
    texts = ("1" + "0" * 30, "2" + "0" * 30, "0", "", "1")
    slow = rt_table.Table((Column("q", texts, numeric=True),), (frozenset(),) * 5, {"x": "*", "*": None})
    table = fast(slow)
    for parts in ([[0, 1], [2, 3, 4]], [[0, 1, 2], [3], [4]], [[0, 2, 4], [1], [3]]):
        part = np.array([next(i for i, each in enumerate(parts) if row in each) for row in range(5)])
        assert table.relational_loss(part) == rt_table.relational_loss(slow, parts)


@pytest.mark.parametrize("numeric", [True, False])
def test_a_single_leaf_that_is_the_root(numeric: bool) -> None:
    """Check that a missing value has no place next to it."""
    with pytest.raises(DataError):
        quasi(Column("q", ("1", "1", ""), {"1": None}, numeric=numeric))
    assert quasi(Column("q", ("1", "1"), {"1": None}, numeric=numeric)).codes.tolist() == [0, 0]


def test_two_leaves_for_one_number() -> None:
    with pytest.raises(DataError):
        quasi(Column("q", ("7", "7.0"), {"7": "A", "7.0": "A", "A": None}, numeric=True))
