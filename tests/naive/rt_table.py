"""A table of quasi-identifiers with one set column: values, labels, canonical order, relational loss R.

A part is a list of row numbers; a missing value is the empty text. Everything is a fraction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from naive.anonymize import Tree, children, leaves, ranks, root, up_from
from naive.km import item_order

Part = tuple[int, ...]
Parts = list[Part]

MISSING = ""


def flat(values: Iterable[str]) -> dict[str, str | None]:
    """One node above all values that are there."""
    return {**dict.fromkeys(values, "*"), "*": None}


def depth_first(tree: Tree, node: str, first: Mapping[str, int]) -> list[str]:
    """Leaves under a node, children by the first of their leaves."""
    below = [depth_first(tree, child, first) for child in children(tree, node)]
    below.sort(key=lambda part: min(first[leaf] for leaf in part))
    return [leaf for part in below for leaf in part] or [node]


def shortest(texts: Iterable[str]) -> dict[Fraction, str]:
    """The text of each number: the shortest, of equals the first."""
    out: dict[Fraction, str] = {}
    for text in sorted(texts, key=lambda text: (len(text), text)):
        out.setdefault(Fraction(text), text)
    return out


def numbers(texts: Sequence[str], tree: Tree | None = None) -> tuple[str, ...]:
    """Write equal numbers alike: as the leaf of the tree, or as the shortest text that is there."""
    known = shortest({*(texts if tree is None else leaves(tree))} - {MISSING})
    return tuple(MISSING if text == MISSING else known[Fraction(text)] for text in texts)


@dataclass(frozen=True)
class Column:
    """A quasi-identifier. Without a tree its numbers, equal ones written alike, are published as ranges."""

    name: str
    values: tuple[str, ...]
    tree: Tree | None = None
    numeric: bool = False
    weight: Fraction = Fraction(1)
    domain: tuple[Fraction, Fraction] | None = None

    @cached_property
    def whole(self) -> Tree | None:
        """The tree, with a leaf below the root for missing values if there are any."""
        if self.tree is None or MISSING not in self.values or MISSING in self.tree:
            return self.tree
        return {**self.tree, MISSING: root(self.tree)}

    @cached_property
    def paths(self) -> dict[str, list[str]]:
        """Each leaf with its ancestors, the root last."""
        tree = self.whole
        return {} if tree is None else {leaf: up_from(tree, leaf) for leaf in leaves(tree)}

    @cached_property
    def under(self) -> dict[str, frozenset[str]]:
        """The leaves under each node."""
        nodes = {node for path in self.paths.values() for node in path}
        return {node: frozenset(leaf for leaf, path in self.paths.items() if node in path) for node in nodes}

    @cached_property
    def position(self) -> dict[str, int]:
        """Number the leaves depth first, children by their first leaf: by size, or in item order.

        Missing values come first and are no text among numbers.
        """
        assert self.whole is not None
        items = [value for value in self.paths if value != MISSING]
        order = sorted(items, key=Fraction) if self.numeric else item_order(items)
        first = {leaf: i for i, leaf in enumerate([MISSING, *order])}
        return {leaf: i for i, leaf in enumerate(depth_first(self.whole, root(self.whole), first))}

    @cached_property
    def rank(self) -> dict[str, int]:
        """Canonical order: missing first, numbers by value, categories by the order of the tree's leaves."""
        if not self.numeric:
            return self.position
        values = {*self.values, *self.paths} - {MISSING}
        return {value: i for i, value in enumerate([MISSING, *sorted(values, key=Fraction)])}

    @cached_property
    def nodes_in_order(self) -> list[str]:
        """Leaves by their position, then inner nodes by their first leaf, deeper first."""
        inner = [node for node in self.under if node not in self.paths]
        inner.sort(
            key=lambda node: (min(self.position[leaf] for leaf in self.under[node]), -self.depth(node))
        )
        return [*sorted(self.paths, key=self.position.__getitem__), *inner]

    def depth(self, node: str) -> int:
        assert self.whole is not None
        return len(up_from(self.whole, node))

    @cached_property
    def extremes(self) -> tuple[Fraction, Fraction]:
        """MIN and MAX: of the domain that is declared, else of all leaves or of the column."""
        if self.domain is not None:
            return self.domain
        numbers = [Fraction(value) for value in {*self.values, *self.paths} - {MISSING}]
        return min(numbers, default=Fraction(0)), max(numbers, default=Fraction(0))

    def lowest(self, values: Iterable[str]) -> str:
        """The lowest node above some values."""
        paths = [self.paths[value] for value in values]
        return next(node for node in paths[0] if all(node in path for path in paths))

    def length(self, numbers: Iterable[str]) -> Fraction:
        """Return the length of a range of numbers as a share of the whole range."""
        least, most = self.extremes
        found = [Fraction(number) for number in numbers]
        return (max(found) - min(found)) / (most - least) if most > least else Fraction(0)

    def node_loss(self, node: str) -> Fraction:
        below = self.under[node]
        if len(below) == 1:
            return Fraction(0)
        if not self.numeric:
            return Fraction(len(below), len(self.paths))
        return Fraction(1) if MISSING in below else self.length(below)

    def loss(self, values: Iterable[str]) -> Fraction:
        """Return the NCP of some values that are published together."""
        values = set(values)
        if self.whole is not None:
            return self.node_loss(self.lowest(values))
        if MISSING in values:
            return Fraction(len(values) > 1)
        return self.length(values)

    def label(self, values: Iterable[str]) -> str:
        """Return the label that some values share when they are published together."""
        values = set(values)
        if self.whole is not None:
            return self.lowest(values)
        if MISSING in values:
            return "*" if len(values) > 1 else MISSING
        ordered = sorted(values, key=self.rank.__getitem__)
        return ordered[0] if len(ordered) == 1 else f"[{ordered[0]},{ordered[-1]}]"


@dataclass(frozen=True)
class Cells(Column):
    """Numbers that fewer than k rows share are replaced by their cell, written as the least value in it."""

    fine: Column | None = None
    k: int = 0
    within: Mapping[str, tuple[str, str]] | None = None  # of each cell, its least and its greatest value
    ends: Mapping[str, tuple[str, str]] | None = None  # and its ends with their brackets, "" if it is open

    @cached_property
    def extremes(self) -> tuple[Fraction, Fraction]:
        assert self.fine is not None
        return self.fine.extremes

    def loss(self, values: Iterable[str]) -> Fraction:
        """NCP of all values of some cells."""
        assert self.fine is not None
        assert self.within is not None
        return self.fine.loss({value for cell in set(values) for value in self.within.get(cell, (MISSING,))})

    def label(self, values: Iterable[str]) -> str:
        values = set(values)
        assert self.ends is not None
        if MISSING in values:
            return super().label(values)
        low, high = self.ends[min(values, key=Fraction)][0], self.ends[max(values, key=Fraction)][1]
        if low and high:
            return low[1:] if low[1:] == high[:-1] else f"{low},{high}"
        if not low and not high:
            return "*"
        sign = {"[": ">=", "(": ">", "]": "<=", ")": "<"}
        return sign[low[0]] + low[1:] if low else sign[high[-1]] + high[:-1]


def in_cells(column: Column, k: int) -> Column:
    """Put numbers together that fewer than k rows share, one after the other, if there is no hierarchy.

    A cell ends at the next number that k rows share, or at the next multiple of the width, whichever is
    nearer; but not at a multiple unless k rows are below it, and k rows are not.
    """
    if column.tree is not None or not column.numeric:
        return column
    there = [Fraction(value) for value in column.values if value != MISSING]
    if all(there.count(number) >= k for number in there):
        return column
    text = {Fraction(value): value for value in column.values if value != MISSING}
    inside = [
        number
        for number in there
        if sum(other <= number for other in there) >= k and sum(other >= number for other in there) >= k
    ]
    width = width_for([str(number) for number in inside]) if inside else Fraction(1)
    if all(number.denominator == 1 for number in there):
        width = max(width, Fraction(1))

    def is_end(multiple: Fraction) -> bool:
        below = sum(other < multiple for other in there)
        return below >= k and len(there) - below >= k

    def ends_of(number: Fraction) -> tuple[str, str]:
        if there.count(number) >= k:
            return f"[{text[number]}", f"{text[number]}]"
        shared = {other for other in there if there.count(other) >= k}
        marks = {f"({text[other]}": other for other in shared if other < number}
        # Of multiples between which no number lies all are ends or none: next to numbers is far enough.
        near = {other // width * width + step * width for other in there for step in (0, 1)}
        lows = sorted(mark for mark in near if mark <= number and is_end(mark))
        highs = sorted(mark for mark in near if mark > number and is_end(mark))
        low = f"[{decimal(lows[-1])}" if lows else ""
        high = f"{decimal(highs[0])})" if highs else ""
        if marks and (not lows or max(marks.values()) >= lows[-1]):
            low = max(marks, key=marks.__getitem__)
        marks = {f"{text[other]})": other for other in shared if other > number}
        if marks and (not highs or min(marks.values()) <= highs[0]):
            high = min(marks, key=marks.__getitem__)
        return low, high

    together: dict[tuple[str, str], list[str]] = {}
    for number in sorted(set(there)):
        together.setdefault(ends_of(number), []).append(text[number])
    cell = {value: values[0] for values in together.values() for value in values} | {MISSING: MISSING}
    return Cells(
        column.name,
        tuple(cell[value] for value in column.values),
        None,
        numeric=True,
        weight=column.weight,
        fine=column,
        k=k,
        within={values[0]: (values[0], values[-1]) for values in together.values()},
        ends={values[0]: ends for ends, values in together.items()},
    )


@dataclass(frozen=True)
class Table:
    """Quasi-identifiers, item sets, and the items' hierarchy."""

    columns: tuple[Column, ...]
    sets: tuple[frozenset[str], ...]
    items: Tree

    @property
    def n(self) -> int:
        return len(self.sets)

    def with_cells(self, k: int) -> Table:
        """Put numbers together that fewer than k rows share, in columns without a hierarchy."""
        return replace(self, columns=tuple(in_cells(column, k) for column in self.columns))

    @cached_property
    def canonical(self) -> list[int]:
        """Rows by their values, column by column, then by their items, then by number."""
        item_rank = ranks(self.items)
        return sorted(
            range(self.n),
            key=lambda row: (
                [column.rank[column.values[row]] for column in self.columns],
                sorted(item_rank[item] for item in self.sets[row]),
                row,
            ),
        )

    @cached_property
    def place(self) -> dict[int, int]:
        return {row: i for i, row in enumerate(self.canonical)}

    def in_order(self, parts: Iterable[Iterable[int]]) -> Parts:
        """Rows within parts, and parts by their first row, in canonical order."""
        ordered = [tuple(sorted(part, key=self.place.__getitem__)) for part in parts]
        return sorted(ordered, key=lambda part: self.place[part[0]])

    def losses(self, part: Iterable[int]) -> list[Fraction]:
        part = list(part)
        return [column.loss(column.values[row] for row in part) for column in self.columns]

    def ncp(self, part: Iterable[int]) -> Fraction:
        """NCP of each row of a part."""
        weights = [column.weight for column in self.columns]
        total = sum(w * loss for w, loss in zip(weights, self.losses(part), strict=True))
        return Fraction(total) / sum(weights)

    def labels(self, part: Iterable[int]) -> tuple[str, ...]:
        part = list(part)
        return tuple(column.label(column.values[row] for row in part) for column in self.columns)

    def rows(self, part: Iterable[int]) -> list[frozenset[str]]:
        return [self.sets[row] for row in part]


def relational_loss(table: Table, parts: Iterable[Sequence[int]]) -> Fraction:
    """R of a local recoding."""
    return sum((len(part) * table.ncp(part) for part in parts), Fraction(0)) / max(table.n, 1)


def width_for(values: Iterable[str]) -> Fraction:
    """(max - min) / 16, rounded up to 1, 2 or 5 times a power of ten."""
    numbers = [Fraction(value) for value in values if value != MISSING]
    wanted = (max(numbers) - min(numbers)) / 16
    if wanted == 0:
        return Fraction(1)
    power = Fraction(1)
    while power > wanted:
        power /= 10
    while power * 10 <= wanted:
        power *= 10
    return next(power * times for times in (1, 2, 5, 10) if power * times >= wanted)


def built_ranges(values: Sequence[str], width: int | Fraction) -> dict[str, str | None]:
    """Cells of a width, of twice the width, ..., anchored at 0, up to the first that holds all values."""
    texts = sorted({value for value in values if value != MISSING})
    tree: dict[str, str | None] = {"*": None}
    if MISSING in values:
        tree[MISSING] = "*"
    for text in texts:
        cells, size = [text], Fraction(width)
        # Zero is a border at every width: below and above it are the widest cells there can be.
        while len(found := {Fraction(other) // size for other in texts}) > 1:
            low = Fraction(text) // size * size
            cells.append(f"[{decimal(low)},{decimal(low + size)})")
            if found == {-1, 0}:
                break
            size *= 2
        tree.update(zip(cells, [*cells[1:], "*"], strict=True))
    return tree


def decimal(number: Fraction) -> str:
    """Write a fraction of a finite number of decimals."""
    digits = 0
    while (number * 10**digits).denominator > 1:
        digits += 1
    whole = int(abs(number) * 10**digits)
    text = str(whole) if not digits else f"{whole // 10**digits}.{whole % 10**digits:0{digits}}"
    return "-" + text if number < 0 else text
