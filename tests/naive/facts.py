"""Facts read, boxed and checked by definition, one line and one box after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import date
from fractions import Fraction
from itertools import combinations, pairwise, product

Box = tuple[str, ...]  # a node of each part's tree
Tree = Mapping[str, str | None]  # each node's parent


def period(text: str, level: str) -> str:
    """Name the period of a date such as 2024-01-31, with or without a time; "?" if there is none."""
    if not text:
        return "?"
    day = date.fromisoformat(text[:10])
    if level == "day":
        return text[:10]
    if level == "week":
        year, week, _ = day.isocalendar()
        return f"{year}-W{week:02d}"
    if level == "month":
        return text[:7]
    if level == "quarter":
        return f"{text[:4]}-Q{1 + (int(text[5:7]) - 1) // 3}"
    return text[:4]


def band(amount: Fraction | None, bounds: Sequence[str]) -> str:
    """Name the band of an amount between bounds."""
    if amount is None:
        return "?"
    if amount < Fraction(bounds[0]):
        return f"<{bounds[0]}"
    for low, high in pairwise(bounds):
        if Fraction(low) <= amount < Fraction(high):
            return f"[{low},{high})"
    return f">={bounds[-1]}"


def together(way: str, amounts: Sequence[str]) -> Fraction | None:
    """Put the amounts of the lines of a fact together; "" is none."""
    if way == "lines":
        return Fraction(len(amounts))
    there = [Fraction(amount) for amount in amounts if amount]
    if not there:
        return None
    if way == "max":
        return max(there)
    return sum(there, Fraction(0)) / (len(there) if way == "mean" else 1)


def days_since(text: str, first: str, width: int) -> str:
    """Name the band of the days since a person's first date."""
    if not text:
        return "?"
    at = (date.fromisoformat(text[:10]) - date.fromisoformat(first[:10])).days // width
    return f"[{at * width},{(at + 1) * width})"


def read(
    lines: Sequence[tuple[str, str, str, str]], level: str, way: str, bounds: Sequence[str]
) -> list[set[str]]:
    """Read lines of id, codes with semicolons, date and amount: the facts of each person, in order."""
    persons = list(dict.fromkeys(line[0] for line in lines))
    rows = []
    for person in persons:
        own = [line for line in lines if line[0] == person]
        dates = sorted(day[:10] for _, _, day, _ in own if day)
        amounts: dict[tuple[str, str], list[str]] = {}
        for _, codes, day, amount in own:
            if level.endswith("d-since-first"):
                when = days_since(day, dates[0] if dates else "", int(level.partition("d")[0]))
            else:
                when = period(day, level)
            for code in {part for part in codes.split(";") if part}:
                amounts.setdefault((code, when), []).append(amount)
        rows.append(
            {f"{code}@{when}@{band(together(way, some), bounds)}" for (code, when), some in amounts.items()}
        )
    return rows


def leaves(tree: Tree, node: str) -> set[str]:
    """List the leaves at or below a node."""
    below = [child for child, up in tree.items() if up == node]
    return {node} if not below else set().union(*(leaves(tree, child) for child in below))


def facts_in(box: Box, trees: Sequence[Tree]) -> set[Box]:
    """List all facts that a box represents."""
    return set(product(*(leaves(tree, node) for tree, node in zip(trees, box, strict=True))))


def overlapping(
    boxes: Sequence[Box], meaning: Sequence[Mapping[str, Sequence[str]]]
) -> list[tuple[int, int]]:
    """List the pairs of boxes that have a fact in common."""
    inside = [
        set(product(*(known.get(label, (label,)) for label, known in zip(box, meaning, strict=True))))
        for box in boxes
    ]
    return [(a, b) for a, b in combinations(range(len(boxes)), 2) if inside[a] & inside[b]]


def guillotine_cuts(box: Box, trees: Sequence[Tree]) -> Iterator[frozenset[Box]]:
    """Make all sets of boxes that come of cutting a box along one part at a time, repeats included."""
    yield frozenset([box])
    for at, tree in enumerate(trees):
        below = [child for child, up in tree.items() if up == box[at]]
        if below:
            parts = [list(guillotine_cuts((*box[:at], child, *box[at + 1 :]), trees)) for child in below]
            for some in product(*parts):
                yield frozenset().union(*some)


def least_loss(rows: Sequence[set[Box]], trees: Sequence[Tree], k: int, m: int) -> Fraction:
    """Find the least LM of all guillotine cuts, with any of their single facts suppressed."""
    root: Box = tuple(map(root_of, trees))
    everything = len(facts_in(root, trees))
    occurring = set().union(*rows)
    best = Fraction(1)
    seen = set()
    for cut in set(guillotine_cuts(root, trees)):
        shown = frozenset(box for box in cut if facts_in(box, trees) & occurring)
        if shown in seen:
            continue
        seen.add(shown)
        single = [box for box in shown if len(facts_in(box, trees)) == 1]
        for number in range(len(single) + 1):
            for gone in combinations(single, number):
                image = {fact: box for box in shown - set(gone) for fact in facts_in(box, trees)}
                made = [frozenset(image[fact] for fact in row if fact in image) for row in rows]
                if keeps(made, k, m):
                    best = min(best, loss(rows, image, trees, everything))
    return best


def keeps(rows: Sequence[frozenset[Box]], k: int, m: int) -> bool:
    """Return whether at least k rows show every set of up to m labels that occurs in a row."""
    labels = set().union(*rows) if rows else set()
    for size in range(1, m + 1):
        for some in combinations(sorted(labels), size):
            number = sum(set(some) <= row for row in rows)
            if 0 < number < k:
                return False
    return True


def loss(
    rows: Sequence[set[Box]], image: Mapping[Box, Box], trees: Sequence[Tree], everything: int
) -> Fraction:
    """Compute LM: for each occurrence (facts of its box - 1) / (all facts - 1), 1 if it is suppressed."""
    each = [
        Fraction(len(facts_in(image[fact], trees)) - 1, everything - 1) if fact in image else Fraction(1)
        for row in rows
        for fact in row
    ]
    return sum(each, Fraction(0)) / len(each)


def fits(row: set[Box], shown: frozenset[Box], image: Mapping[Box, Box], parts: Sequence[set[Box]]) -> bool:
    """Return whether each known part fits a published label, or contains a suppressed fact."""
    return all(any(fact not in image or image[fact] in shown for fact in part) for part in parts)


def may_hold(
    shown: frozenset[Box], published: set[Box], trees: Sequence[Tree], relation: Collection[tuple[Box, Box]]
) -> bool:
    """Return whether a row that shows some boxes may contain two facts that are in the relation.

    A fact is possible, occurring or not, if it is in a box that the row shows, or in no published box.
    """
    out_of_all = facts_in(tuple(map(root_of, trees)), trees)
    for box in published:
        out_of_all -= facts_in(box, trees)
    possible = out_of_all.union(*(facts_in(box, trees) for box in shown))
    return any(one in possible and other in possible for one, other in relation)


def root_of(tree: Tree) -> str:
    """Find the root of a tree."""
    return next(node for node, up in tree.items() if up is None)


def sets_of(row: frozenset[str], most: Mapping[str, int]) -> set[frozenset[str]]:
    """List the sets of labels of a row with at most `most` labels of each column, except the empty set.

    A label has the name of its column before the first "=".
    """
    by_column = {name: [x for x in sorted(row) if x.partition("=")[0] == name] for name in most}
    choices = [
        [frozenset(some) for size in range(number + 1) for some in combinations(by_column[name], size)]
        for name, number in most.items()
    ]
    return {frozenset().union(*some) for some in product(*choices)} - {frozenset()}


def supports_of_each(rows: Sequence[frozenset[str]], most: Mapping[str, int]) -> dict[frozenset[str], int]:
    """Count the rows that contain each occurring set with at most `most` labels of each column."""
    found = set().union(*(sets_of(row, most) for row in rows)) if rows else set()
    return {some: sum(some <= row for row in rows) for some in found}


def least_loss_of_columns(
    rows: Sequence[frozenset[str]],
    trees: Mapping[str, Mapping[str, str | None]],
    sizes: Mapping[str, int],
    domains: Mapping[str, int],
    k: int,
    most: Mapping[str, int] | int,
) -> Fraction:
    """Find the least LM of all combined cuts of the columns' trees, with any of their leaves suppressed.

    Parameters
    ----------
    rows : sequence of frozenset of str
        Rows of leaves.
    trees : mapping
        The parent of each node of each column; the root of each has none.
    sizes, domains : mapping
        The number of items that each node represents, and the number in each column.
    most : mapping or int
        The number of items of each column, or of all columns, that may be known.
    """
    cuts = [list(_cuts_of(tree, next(v for v, up in tree.items() if up is None))) for tree in trees.values()]
    column = {v: name for name, tree in trees.items() for v in tree}
    best = Fraction(1)
    for some in product(*cuts):
        image = {leaf: v for cut in some for v in cut for leaf in leaves(trees[column[v]], v)}
        single = [leaf for leaf, v in image.items() if leaf == v]
        for number in range(len(single) + 1):
            for gone in combinations(single, number):
                made = [frozenset(image[x] for x in row if x not in gone) for row in rows]
                if _keeps(made, k, most):
                    best = min(best, _loss_of_columns(rows, image, set(gone), column, sizes, domains))
    return best


def _cuts_of(tree: Tree, node: str) -> Iterator[tuple[str, ...]]:
    yield (node,)
    below = [child for child, up in tree.items() if up == node]
    if below:
        for some in product(*(list(_cuts_of(tree, child)) for child in below)):
            yield tuple(v for part in some for v in part)


def _keeps(rows: Sequence[frozenset[str]], k: int, most: Mapping[str, int] | int) -> bool:
    if isinstance(most, Mapping):
        return all(number >= k for number in supports_of_each(rows, most).values())
    return keeps([frozenset((x,) for x in row) for row in rows], k, most)


def _loss_of_columns(
    rows: Sequence[frozenset[str]],
    image: Mapping[str, str],
    gone: set[str],
    column: Mapping[str, str],
    sizes: Mapping[str, int],
    domains: Mapping[str, int],
) -> Fraction:
    each = [
        Fraction(1) if x in gone else Fraction(sizes[image[x]] - 1, max(domains[column[x]] - 1, 1))
        for row in rows
        for x in row
    ]
    return sum(each, Fraction(0)) / len(each)
