"""The items of a class: the best cut with suppressed leaves by trying all, and the cost of a choice.

A recoding is the image of each leaf: its label, or None if it is suppressed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from fractions import Fraction

from naive import hghs, measures
from naive.anonymize import Tree, aa, image, leaves
from naive.exact import Terms, average_costs, candidates, is_valid
from naive.km import Rows
from naive.rt_table import Part, Table

Image = dict[str, str | None]
ItemAlgorithm = Callable[[Rows, Tree, int, float], Image]
Recoded = list[tuple[Part, Image]]


class NoRecodingError(Exception):
    """The items of a part cannot be published."""


def occurrences(rows: Rows) -> int:
    return sum(map(len, rows))


def item_loss(rows: Rows, to: measures.Image, measure: str = "ncp") -> Fraction:
    """Sum over the occurrences of a class."""
    average = measures.ncp(rows, to) if measure == "ncp" else measures.lm(rows, to)
    return average * occurrences(rows)


def best(
    rows: Rows,
    tree: Tree,
    k: int,
    m: float,
    measure: str = "lm",
    *,
    suppress: bool = True,
    barred: Set[str] = frozenset(),
) -> Image | None:
    """Find a k^m-anonymous choice of least loss among all cuts with all sets of suppressed leaves, if any.

    Barred labels must not be published for occurring items.
    """
    terms = Terms(measure, suppress)
    occurring = set().union(*rows)
    found = [to for to in candidates(rows, tree, terms) if not any(to[item] in barred for item in occurring)]
    costs = average_costs(rows, tree, terms, found)
    order = sorted(range(len(found)), key=costs.__getitem__)
    return next((found[i] for i in order if is_valid(rows, found[i], k, m)), None)


def exact(rows: Rows, tree: Tree, k: int, m: float) -> Image:
    """The cut with suppressed leaves of least LM."""
    found = best(rows, tree, k, m)
    assert found is not None
    return found


def nothing(tree: Tree) -> Image:
    """Everything suppressed."""
    return dict.fromkeys(leaves(tree))


def by_aa(rows: Rows, tree: Tree, k: int, m: float) -> Image:
    """Return AA's cut; if fewer than k rows contain an item, everything is suppressed."""
    filled = sum(map(bool, rows))
    if 0 < filled < k:
        return nothing(tree)
    return image(tree, aa(rows, tree, k, m))


def by_hghs(rows: Rows, tree: Tree, k: int, m: float) -> Image:
    """Return HgHs's cut and the suppressed nodes."""
    found = hghs.hghs(rows, tree, k, m)
    return {leaf: None if node in found.suppressed else node for leaf, node in image(tree, found.cut).items()}


def recode(table: Table, parts: Sequence[Part], k: int, m: float, algorithm: ItemAlgorithm) -> Recoded:
    """Recode the items of each part by themselves."""
    return [(part, algorithm(table.rows(part), table.items, k, m)) for part in parts]


def total(table: Table, recoded: Recoded, measure: str = "ncp") -> Fraction:
    """T: mean loss over all occurrences."""
    lost = sum((item_loss(table.rows(part), to, measure) for part, to in recoded), Fraction(0))
    return lost / max(occurrences(table.sets), 1)


def published(table: Table, recoded: Recoded) -> list[tuple[tuple[str, ...], frozenset[str]]]:
    """Return the labels and items that each row shows, in the order of the rows."""
    shown: dict[int, tuple[tuple[str, ...], frozenset[str]]] = {}
    for part, to in recoded:
        sets = measures.recode(table.rows(part), to)
        labels = table.labels(part)
        shown.update({row: (labels, items) for row, items in zip(part, sets, strict=True)})
    return [shown[row] for row in range(table.n)]
