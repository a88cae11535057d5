"""Knowledge of absent items: pair each set of labels with each set of items that a person lacks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations
from typing import Any

from naive.km import Rows

Labels = frozenset[str]


def sets(of: Iterable[str], most: int) -> Iterator[tuple[str, ...]]:
    return chain.from_iterable(combinations(sorted(of), size) for size in range(most + 1))


def telling(
    rows: Rows, absence: str, members: Mapping[str, Sequence[str]], counts: Sequence[tuple[str, str, int]]
) -> dict[Labels, str]:
    """Find the sets of labels that exclude a row, each with the first item whose absence it shows."""
    shown = sorted(set(chain.from_iterable(rows)))
    if absence == "labels":
        return {frozenset([label]): label for label in shown}
    found: dict[Labels, str] = {}
    items = {item for label in shown for item in members.get(label, [label])}
    for item in sorted(items):
        sure = frozenset(
            label
            for label in shown
            if list(members.get(label, [label])) == [item]
            or (item, label, sum(label in row for row in rows)) in counts
        )
        if sure:
            found.setdefault(sure, item)
    return found


def fitting(rows: Rows, known: Iterable[str], absent: Iterable[Labels]) -> int:
    excluding = frozenset().union(*absent)
    return sum(set(known) <= row and not excluding & row for row in rows)


def supports(rows: Rows, m: int, a: int, signs: Iterable[Labels]) -> list[int]:
    """Rows that fit each pair, not both none, that some row fits."""
    labels, signs = set(chain.from_iterable(rows)), list(signs)
    found = [
        fitting(rows, known, absent)
        for known in sets(labels, m)
        for size in range(a + 1)
        for absent in combinations(signs, size)
        if known or absent
    ]
    return [n for n in found if n]


def supports_in_classes(
    lines: Sequence[tuple[Any, Labels]], m: int, a: int, signs: Iterable[Labels]
) -> list[int]:
    """Count the rows of each class, and those that fit a pair in it; a line is its class and its labels."""
    found = []
    for known in {known for known, _ in lines}:
        rows = [row for other, row in lines if other == known]
        found += [len(rows), *supports(rows, m, a, _shown(rows, signs))]
    return found


def fewest_in_class(lines: Sequence[tuple[Any, Labels]], at: int, m: int, signs: Iterable[Labels]) -> int:
    """The fewest rows of a line's class that fit some of its labels, and a sign that it does not show."""
    known, row = lines[at]
    rows = [one for other, one in lines if other == known]
    lacking = [sign for sign in _shown(rows, signs) if not sign & row]
    return min(
        fitting(rows, some, absent) for some in sets(row, m) for absent in [(), *((x,) for x in lacking)]
    )


def _shown(rows: Rows, signs: Iterable[Labels]) -> set[Labels]:
    labels = frozenset().union(*rows)
    return {sign & labels for sign in signs} - {frozenset()}


def fewest(rows: Rows, row: Labels, m: int) -> int:
    """The fewest rows that fit some of a row's items, and one that it lacks."""
    labels = set(chain.from_iterable(rows))
    return min(
        (
            fitting(rows, known, absent)
            for known in sets(row, m)
            for absent in [(), *((frozenset([label]),) for label in labels - row)]
            if known or absent
        ),
        default=len(rows),
    )
