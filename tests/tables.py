"""Small random tables of quasi-identifiers with a set column, for slow twins and for setveil alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from random import Random
from typing import Any

import numpy as np

from naive import rt_classes, rt_cuts, rt_items, rt_table, rt_verify
from naive.anonymize import Tree, all_cuts, image
from naive.rt_table import MISSING, Cells, Column, built_ranges, flat
from setveil.releases.published.parts import Parts, TableCut
from setveil.releases.published.recoding import LocalRecoding, Recoding
from setveil.releases.published.table_files import PublishedTable
from setveil.releases.published.tables import publish
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.ends import in_cells
from setveil.rows.tables.quasi_identifiers import QuasiIdentifier, quasi_identifier
from setveil.rows.tables.table import Table, TextColumn, numbered_parts
from strategies import ALPHABETS, many, random_rows, random_tree, seeded, transactions

WEIGHTS = (1, 1, 1, 2, Fraction(1, 3), Fraction(7, 5), Fraction(10**12 + 39, 10**13))
# Of these, what occurs is in the same order as all leaves of a hierarchy: all numbers, or none.
ITEMS = (ALPHABETS[0], ALPHABETS[1], ALPHABETS[3])
NUMBERS = (
    ("1", "2", "3", "4", "9", "10", "11", "30"),
    ("-7", "-0.5", "0", "0.25", "7", "7.0", "+7", "12.50", "100"),
    ("5", "5", "5"),
    ("1980", "1981", "1999", "2004", "0020"),
    ("0", "1", "1" + "0" * 22, "123456789012345678901234567890", "0." + "0" * 20 + "1"),
)
TEXTS = ("a", "B", "c d", "x,y", "[1,2]", "a;b", 'q"q', "é", "10", "9", "-", "(1)", "line\nbreak")


def random_column(rng: Random, a: int, n: int, *, trees: bool) -> Column:
    """Draw a column of numbers or texts with a hierarchy, or without one unless `trees` requires it."""
    numeric = rng.random() < 0.5
    pool = list(rng.choice(NUMBERS) if numeric else rng.sample(TEXTS, rng.randint(1, 6)))
    values: Sequence[str] = [rng.choice(pool) for _ in range(n)]
    if rng.random() < 0.3:
        values = [MISSING if rng.random() < 0.25 else value for value in values]
    tree: dict[str, str | None] | None = None
    if numeric:
        if trees or rng.random() < 0.5:
            if rng.random() < 0.5:
                values = rt_table.numbers(values)
                tree = built_ranges(values or ["1"], rng.choice((1, 2, 10, Fraction(1, 2))))
            else:
                tree = random_tree(rng, list(dict.fromkeys(rt_table.numbers(pool))))
                tree = under_a_root(tree)
        values = rt_table.numbers(values, tree)
    else:
        tree = flat(values) if rng.random() < 0.4 else under_a_root(random_tree(rng, pool))
    weight = Fraction(rng.choice(WEIGHTS))
    return Column(f"q{a}", tuple(values), tree, numeric=numeric, weight=weight)


def under_a_root(tree: dict[str, str | None]) -> dict[str, str | None]:
    """Give a tree of a single node a root above it."""
    return tree if len(tree) > 1 else {**dict.fromkeys(tree, "root"), "root": None}


def random_table(
    rng: Random,
    most_rows: int = 12,
    most_columns: int = 3,
    most_leaves: int = 5,
    most_items: int = 3,
    *,
    trees: bool = False,
) -> rt_table.Table:
    n = rng.choice((rng.randint(0, most_rows), most_rows // 2, most_rows))
    columns = [random_column(rng, a, n, trees=trees) for a in range(rng.randint(1, most_columns))]
    leaves = rng.sample(rng.choice(ITEMS), rng.randint(1, most_leaves))
    sets = random_rows(rng, leaves, n, most_items)
    if n and rng.random() < 0.5:  # some rows are whole duplicates
        for row in rng.sample(range(n), n // 4):
            of = rng.randrange(n)
            sets[row] = sets[of]
            columns = [copied(column, of, row) for column in columns]
    return rt_table.Table(tuple(columns), tuple(sets), under_a_root(random_tree(rng, leaves)))


def copied(column: Column, of: int, to: int) -> Column:
    values = [*column.values]
    values[to] = values[of]
    return Column(
        column.name,
        tuple(values),
        flat(values) if column.tree and set(column.tree.values()) == {"*", None} else column.tree,
        numeric=column.numeric,
        weight=column.weight,
    )


def random_tables(n: int, seed: int, **sizes: Any) -> Iterator[tuple[Random, rt_table.Table]]:
    rng = seeded(seed)
    for _ in range(many(n)):
        yield rng, random_table(rng, **sizes)


def quasi(column: Column) -> QuasiIdentifier:
    if isinstance(column, Cells):
        assert column.fine is not None
        return in_cells(quasi(column.fine), column.k)
    texts = list(dict.fromkeys(column.values))
    codes = np.array([texts.index(value) for value in column.values], np.int32)
    return quasi_identifier(
        column.name, codes, texts, numeric=column.numeric, parents=column.tree, weight=column.weight
    )


def fast(table: rt_table.Table) -> Table:
    """The table as setveil has it."""
    data = transactions(table.sets)
    columns = tuple(quasi(column) for column in table.columns)
    return Table(
        data.indptr,
        data.items,
        data.vocabulary,
        columns=columns,
        header=(*(c.name for c in columns), "items"),
    )


def hierarchy(table: rt_table.Table) -> Hierarchy:
    return Hierarchy(table.items)


def parts_of(slow: rt_table.Table, table: Table, recoded: rt_items.Recoded) -> Parts:
    """Return the result of setveil's algorithms for parts and images of items."""
    tree, labels = hierarchy(slow), table.vocabulary.labels
    of_row = np.zeros(slow.n, np.int64)
    image_of: dict[int, rt_items.Image] = {}
    for number, (part, to) in enumerate(recoded):
        of_row[list(part)] = number
        image_of.update(dict.fromkeys(part, to))
    nodes = [
        -1 if (label := image_of[row][labels[item]]) is None else tree.id(label)
        for row in range(slow.n)
        for item in table.items[table.indptr[row] : table.indptr[row + 1]].tolist()
    ]
    items = LocalRecoding.from_nodes(tree, np.array(nodes, np.int64))
    return Parts(numbered_parts(table.canonical_order(), of_row), items)


def cut_of(slow: rt_table.Table, table: Table, images: rt_cuts.Images, items: rt_items.Image) -> TableCut:
    """Return the result of setveil's algorithms for one cut of each column and an image of each item."""
    tree = hierarchy(slow)
    nodes = []
    for column, to in zip(table.columns, images, strict=True):
        ids = {label: v for v, label in enumerate(column.labels)}
        nodes.append(np.array([ids[to[value]] for value in column.labels[: column.n_values]], np.int32))
    cut = {tree.id(leaf if label is None else label) for leaf, label in items.items()}
    suppressed = {tree.id(leaf) for leaf, label in items.items() if label is None}
    return TableCut(table.columns, tuple(nodes), Recoding.from_cut(tree, cut, suppressed))


def shown_by(table: PublishedTable) -> list[rt_verify.Row]:
    """Labels and items of each published row."""
    columns = [[column.labels[code] for code in column.codes] for column in table.columns]
    labels = list(zip(*columns, strict=True)) if columns else [()] * table.n_rows
    return [(row, frozenset(items)) for row, items in zip(labels, table.sets, strict=True)]


def random_local(rng: Random, slow: rt_table.Table, k: int, m: float) -> rt_items.Recoded:
    """Any parts, with images of items that are private or are not."""
    rows = list(range(slow.n))
    rng.shuffle(rows)
    ends = sorted({0, slow.n, *(rng.randint(0, slow.n) for _ in range(rng.randint(0, 3)))})
    parts = [tuple(rows[start:end]) for start, end in pairwise(ends)]
    if rng.random() < 0.5 and slow.n >= k:
        parts = rt_classes.mondrian(slow, k)
    if rng.random() < 0.5:
        return rt_items.recode(slow, slow.in_order(parts), k, m, rt_items.exact)
    return [(part, random_image(rng, slow.items)) for part in slow.in_order(parts)]


def random_image(rng: Random, tree: Tree) -> rt_items.Image:
    """Any cut, with some of its leaves suppressed."""
    to = image(tree, rng.choice(all_cuts(tree)))
    return {leaf: None if label == leaf and rng.random() < 0.3 else label for leaf, label in to.items()}


def partition(made: Parts) -> set[frozenset[int]]:
    numbers = made.part.tolist()
    return {frozenset(row for row, n in enumerate(numbers) if n == number) for number in set(numbers)}


def losses(slow: rt_table.Table, table: Table, made: Parts, k: int, m: float) -> tuple[Fraction, Fraction]:
    """R and T of a release, after a look at its guarantee, its numbering and its truth."""
    release = publish(table, made, seed=3)
    shown = shown_by(release.table)
    assert rt_verify.is_kkm(shown, k, m)
    if made.k:  # by the cells of the run: an order by finer values could reveal them
        slow = slow.with_cells(made.k)
    numbers = [made.part.tolist()[row] for row in slow.canonical]
    assert list(dict.fromkeys(numbers)) == list(range(len(set(numbers))))
    parts = [tuple(part) for part in partition(made)]
    for part in parts:
        images: dict[str, set[str | None]] = {}
        for row in part:
            labels, items = shown[release.row_map[row]]
            assert labels == slow.labels(part)
            for item in slow.sets[row]:
                above = [label for label in items if rt_verify.covers(frozenset({label}), item, slow.items)]
                assert len(above) <= 1
                images.setdefault(item, set()).add(above[0] if above else None)
        assert all(len(to) == 1 for to in images.values())  # within a part an item becomes one label, or none
    lost = Fraction(0)
    full = max(hierarchy(slow).n_leaves - 1, 1)
    for row, items in enumerate(slow.sets):
        for item in items:
            theirs = shown[release.row_map[row]][1]
            above = [label for label in theirs if rt_verify.covers(frozenset({label}), item, slow.items)]
            n = len(hierarchy(slow).under(hierarchy(slow).id(above[0]))) if above else full + 1
            lost += Fraction(n - 1, full)
    return rt_table.relational_loss(slow, parts), lost / max(rt_items.occurrences(slow.sets), 1)


def as_table(rows: Transactions) -> Table:
    """Make a table of rows and ages; each age is in two rows."""
    ages = [str(30 + row // 2) for row in range(rows.n_rows)]
    texts = sorted(set(ages))
    codes = np.array([texts.index(age) for age in ages], np.int32)
    column = quasi_identifier("age", codes, texts, numeric=True)
    return Table(rows.indptr, rows.items, rows.vocabulary, columns=(column,), header=("age", "items"))


def published_as_it_is(table: Table) -> PublishedTable:
    """Publish a table without any protection."""
    columns = tuple(TextColumn(column.name, column.codes, column.labels) for column in table.columns)
    rows = Transactions(table.indptr, table.items, table.vocabulary)
    return PublishedTable(columns, rows, table.kept, table.header, table.set_name)
