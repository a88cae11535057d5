"""Check that anyone who knows whole codes of a person finds k published rows.

The release does not show which boxes belong to one code: the original facts and their recoding do.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import TypeVar

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.rows.data.transactions import Transactions

Labels = frozenset[str]
K = TypeVar("K", bound=Hashable)
Person = Sequence[Labels]  # of each code of a person the labels that its facts were published under
_EVERY = 1_000  # persons between two words of progress


def verify_codes(
    published: Transactions,
    persons: Sequence[Person],
    guarantee: KmAnonymity,
    *,
    show: int = 10,
    progress: Progress = silent,
) -> KmVerdict:
    """Check that at least k published rows show all labels of any m codes of anyone, else list them."""
    rows_of = _rows_with(published)
    supports: dict[Labels, int] = {}
    bits: dict[Labels, int] = {}
    nobody: set[frozenset[Labels]] = set()
    for number, person in enumerate(persons):
        if number % _EVERY == 0:
            progress("verifying whole codes", number / len(persons))
        codes = sorted({labels for labels in person if labels}, key=sorted)
        known = frozenset(codes)
        if known in nobody:
            continue
        nobody.add(known)  # who has the same codes shows nothing else
        for labels in codes:
            if labels not in bits:
                bits[labels] = _of_all(labels, rows_of)
        for size in range(1, int(min(guarantee.m, len(codes))) + 1):
            for some in combinations(codes, size):
                together: Labels = frozenset().union(*some)
                if together not in supports:
                    supports[together] = _of_all(some, bits).bit_count()
    broken = {labels: rows for labels, rows in supports.items() if rows < guarantee.k}
    rank = published.vocabulary.ids
    last = len(rank)

    def place(labels: Labels) -> tuple[int, list[tuple[int, str]]]:
        return len(labels), sorted((rank.get(label, last), label) for label in labels)

    first = sorted(broken, key=place)[:show]
    return KmVerdict(
        guarantee, not broken, len(broken),
        tuple((tuple(label for _, label in place(one)[1]), broken[one]) for one in first),
        min(supports.values(), default=None), 0 if broken else guarantee.m, True,
    )  # fmt: skip


def _rows_with(published: Transactions) -> dict[str, int]:
    """Write down the rows with each label, a bit each."""
    labels = published.vocabulary.labels
    found = {label: bytearray(published.n_rows // 8 + 1) for label in labels}
    for number, row in enumerate(published):
        for label in row:
            found[label][number >> 3] |= 1 << (number & 7)
    return {label: int.from_bytes(rows, "little") for label, rows in found.items()}


def _of_all(some: Iterable[K], rows_of: Mapping[K, int]) -> int:
    """Find the rows with all of some labels, or of all of some codes."""
    rows = -1
    for one in some:
        rows &= rows_of.get(one, 0)
    return rows
