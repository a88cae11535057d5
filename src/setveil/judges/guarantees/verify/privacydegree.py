"""Check that groups hide sensitive items, using only the two published files, with NumPy and dictionaries."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.judges.guarantees.verify import Verdict
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order

CHUNK = 200_000  # rows counted between two reports of progress


@dataclass(frozen=True)
class Breach:
    """One way in which a release violates its guarantee, or does not fit the original."""

    # - "degree": more than one row in p of the group holds the item, which `count` of its `rows` rows do; -
    # "leak": a sensitive item stands among the quasi-identifiers of `count` of `rows` rows, first in `group`;
    # - "total": `count` published rows hold the sensitive item, but `rows` of the original; - "row": `count`
    # published rows have exactly these quasi-identifiers, but `rows` of the original
    kind: str
    group: int | None  # number of the group, where there is one
    items: tuple[str, ...]  # the sensitive item, or the row's quasi-identifiers
    # count, rows: see `kind`
    count: int
    rows: int

    def as_dict(self) -> dict[str, Any]:
        """Return the breach as JSON types."""
        return {
            "kind": self.kind,
            "group": self.group,
            "itemset": list(self.items),
            "count": self.count,
            "rows": self.rows,
        }


@dataclass(frozen=True, repr=False)
class PrivacyDegreeVerdict(Verdict):
    """The verdict on groups.

    `violations` are pairs of a group and a sensitive item in more than one row in p, sensitive items among
    the quasi-identifiers and, with an original, sensitive items and distinct rows whose numbers differ.
    `first` has leaks by item, then groups by degree, number and item, totals by item, and rows by size.
    """

    guarantee: PrivacyDegree
    holds: bool
    violations: int
    first: tuple[Breach, ...]
    # fewest rows per row with the item; below 1: contradictory file; None: no item
    smallest_degree: Fraction | None
    groups: int

    def found(self) -> dict[str, Any]:
        """Return the smallest degree of a group (null: no group has a sensitive item), number of groups."""
        degree = None if self.smallest_degree is None else float(self.smallest_degree)
        return {"smallest_degree": degree, "groups": self.groups}

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types."""
        return [breach.as_dict() for breach in self.first]


def verify_privacydegree(
    groups: PublishedGroups,
    guarantee: PrivacyDegree,
    *,
    original: Transactions | None = None,
    show: int = 10,
    progress: Progress = silent,
) -> PrivacyDegreeVerdict:
    """Check the privacy degree of every group; with the original also overlaps, lacking rows and counts."""
    progress("verifying groups", 0.0)
    sensitive = item_order({*guarantee.sensitive, *groups.sensitive.labels})
    breaches = _leaks(groups, sensitive)
    violations = len(breaches)

    size = groups.sizes
    of_group = np.repeat(np.arange(groups.n_groups), np.diff(groups.indptr))
    # More rows than one in p: the quotient, rounded down, says so without numbers beyond 64 bits.
    most = np.array([rows // guarantee.p for rows in size.tolist()], np.int64)
    bad = np.flatnonzero(groups.count > most[of_group])
    violations += bad.size
    worst = np.lexsort((groups.item[bad], of_group[bad], size[of_group[bad]] / groups.count[bad]))
    for i in bad[worst[:show]].tolist():
        g = int(of_group[i])
        label = groups.sensitive.labels[groups.item[i]]
        breaches.append(Breach("degree", g, (label,), int(groups.count[i]), int(size[g])))

    if original is not None:
        different = [*_totals(groups, original, sensitive), *_rows(groups, original, sensitive, progress)]
        violations += len(different)
        breaches += different[:show]
    return PrivacyDegreeVerdict(
        guarantee,
        violations == 0,
        violations,
        tuple(breaches[:show]),
        _smallest(size[of_group], groups.count),
        groups.n_groups,
    )


def _smallest(sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> Fraction | None:
    if not sizes.size:
        return None
    near = np.argsort(sizes / counts, kind="stable")[:100]  # rounded, so the least is among the first
    return min(Fraction(int(sizes[i]), int(counts[i])) for i in near)


def _leaks(groups: PublishedGroups, sensitive: Iterable[str]) -> list[Breach]:
    ids = groups.qid.vocabulary.ids
    row = np.repeat(np.arange(groups.qid.n_rows), groups.qid.row_lengths())
    out = []
    for label in sensitive:
        if label in ids:
            holders = row[groups.qid.items == ids[label]]
            if holders.size:
                first = int(groups.group[holders[0]])
                out.append(Breach("leak", first, (label,), holders.size, groups.qid.n_rows))
    return out


def _totals(groups: PublishedGroups, original: Transactions, sensitive: Iterable[str]) -> list[Breach]:
    published = dict.fromkeys(sensitive, 0)
    for item, count in zip(groups.item.tolist(), groups.count.tolist(), strict=True):
        published[groups.sensitive.labels[item]] += count
    supports = dict(zip(original.vocabulary.labels, original.supports().tolist(), strict=True))
    return [
        Breach("total", None, (label,), count, supports.get(label, 0))
        for label, count in published.items()
        if count != supports.get(label, 0)
    ]


def _rows(
    groups: PublishedGroups, original: Transactions, sensitive: Iterable[str], progress: Progress
) -> list[Breach]:
    named = set(sensitive)
    labels = item_order({*groups.qid.vocabulary.labels, *original.vocabulary.labels} - named)
    ids = {label: i for i, label in enumerate(labels)}
    published = _count_rows(groups.qid, ids, progress)
    before = _count_rows(original, ids, progress)
    different = [key for key in {*published, *before} if published[key] != before[key]]
    return [
        Breach("row", None, tuple(labels[i] for i in np.frombuffer(key, ">i4")), published[key], before[key])
        for key in sorted(different, key=lambda key: (len(key), key))
    ]


def _count_rows(rows: Transactions, ids: dict[str, int], progress: Progress) -> Counter[bytes]:
    """Count equal rows of the items in `ids`, each as bytes that sort like the row."""
    image = _image(rows.vocabulary, ids)[rows.items]
    kept = image >= 0
    ends = np.concatenate(([0], np.cumsum(kept)))[rows.indptr]
    content = image[kept].astype(">i4").tobytes()
    bounds = (4 * ends).tolist()
    counts: Counter[bytes] = Counter()
    for begin in range(0, rows.n_rows, CHUNK):
        progress("comparing with the original", begin / rows.n_rows)
        end = min(begin + CHUNK, rows.n_rows)
        counts.update(content[bounds[row] : bounds[row + 1]] for row in range(begin, end))
    return counts


def _image(vocabulary: Vocabulary, ids: dict[str, int]) -> NDArray[np.int64]:
    return np.array([ids.get(label, -1) for label in vocabulary.labels], np.int64)
