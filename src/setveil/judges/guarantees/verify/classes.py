"""Check a guarantee in every class of rows, using only the published rows and the classes.

Someone who does not know the class of a person finds no matching rows in a class, or as many as guaranteed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.km_rho import KmRho
from setveil.judges.guarantees.verify._inference import Learned, greatest
from setveil.judges.guarantees.verify.km import KmVerdict, verify_km
from setveil.judges.guarantees.verify.km_rho import KmRhoVerdict, TooFew, verify_km_rho
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary

LABELS = 256  # that are told apart at once, or those of one class: tables of their pairs stay small


@dataclass(frozen=True, repr=False)
class _OfClasses:
    """The additions of a verdict on rows in classes, which is the worst of all classes."""

    classes: int = 1  # how many there are
    of_class: tuple[int, ...] = field(default=())  # the class of each of the first violations

    def found(self) -> dict[str, Any]:
        """Return what holds in every class, and the number of classes."""
        return {**super().found(), "classes": self.classes}  # type: ignore[misc]  # of the model's verdict

    def listed(self) -> list[dict[str, Any]]:
        """Return the first violations as JSON types, each with its class."""
        listed: list[dict[str, Any]] = super().listed()  # type: ignore[misc]
        return [{"class": c, **entry} for c, entry in zip(self.of_class, listed, strict=True)]


@dataclass(frozen=True, repr=False)
class KmClassesVerdict(_OfClasses, KmVerdict):
    """The verdict on rows in classes."""


@dataclass(frozen=True, repr=False)
class KmRhoClassesVerdict(_OfClasses, KmRhoVerdict):
    """The verdict on rows in classes."""


def classes_of(published: Transactions, sizes: Sequence[int]) -> list[Transactions]:
    """Take rows apart that stand class after class, each with the labels that it shows."""
    out = []
    begin = 0
    labels = published.vocabulary.labels
    for size in sizes:
        bounds = published.indptr[begin : begin + size + 1]
        items = published.items[bounds[0] : bounds[-1]]
        used, inside = np.unique(items, return_inverse=True)
        out.append(
            Transactions(
                bounds - bounds[0],
                inside.astype(np.int32).ravel(),
                Vocabulary(labels[i] for i in used.tolist()),
            )
        )
        begin += size
    return out


def joined_classes(classes: Sequence[Transactions]) -> Transactions:
    """Put the rows of all classes together, with labels that no two classes share.

    No set of such labels is in rows of two classes: one is as rare in all rows as it is in its class.
    """
    before = np.cumsum([0, *(rows.n_items for rows in classes)])
    ends = [np.zeros(1, np.int64), *(np.diff(rows.indptr) for rows in classes)]
    items = [rows.items + np.int32(n) for rows, n in zip(classes, before.tolist(), strict=False)]
    return Transactions(
        np.cumsum(np.concatenate(ends)),
        np.concatenate([np.zeros(0, np.int32), *items]),
        Vocabulary(f"{label} [{c}]" for c, rows in enumerate(classes) for label in rows.vocabulary.labels),
    )


def _lots(classes: Sequence[Transactions]) -> list[Sequence[Transactions]]:
    """Divide classes, in their order, into lots that have few labels together."""
    ends, labels = [0], 0
    for c, rows in enumerate(classes):
        labels += rows.n_items
        if labels > LABELS and c > ends[-1]:
            ends.append(c)
            labels = rows.n_items
    return [classes[start:end] for start, end in pairwise([*ends, len(classes)])]


def verify_classes(
    classes: Sequence[Transactions], guarantee: Guarantee, *, show: int = 10, progress: Progress = silent
) -> KmClassesVerdict | KmRhoClassesVerdict:
    """Check k^m-anonymity or (k,rho)^m-anonymity of every class, and that each of several has k rows."""
    if not isinstance(guarantee, KmAnonymity | KmRho):
        raise RequestError(
            f"{guarantee.model} is not available for rows in classes.",
            hint="Choose k^m-anonymity or (k,rho)^m-anonymity.",
        )
    several = len(classes) > 1  # else the class tells nothing, and rows without items may be few
    small = [c for c, rows in enumerate(classes) if several and rows.n_rows < guarantee.k]
    if isinstance(guarantee, KmRho):
        return _of_rho(classes, guarantee, small, show, progress)
    found = [
        verify_km(joined_classes(some), guarantee, show=show, progress=progress) for some in _lots(classes)
    ]
    if not all(one.holds for one in found):  # class by class, to name the classes
        found = [verify_km(rows, guarantee, show=show, progress=progress) for rows in classes]
    first: list[tuple[int, tuple[tuple[str, ...], int]]] = [(c, ((), classes[c].n_rows)) for c in small]
    first += [(c, entry) for c, one in enumerate(found) for entry in one.first]  # none where all keep it
    least = [one.greatest_k for one in found if one.greatest_k is not None]
    least += [rows.n_rows for rows in classes if least]
    return KmClassesVerdict(
        guarantee,
        all(one.holds for one in found) and not small,
        sum(one.violations for one in found) + len(small),
        tuple(entry for _, entry in first[:show]),
        min(least, default=None),
        min((one.greatest_m for one in found), default=float("inf")),
        all(one.complete for one in found),
        classes=len(classes),
        of_class=tuple(c for c, _ in first[:show]),
    )


def _of_rho(
    classes: Sequence[Transactions], guarantee: KmRho, small: list[int], show: int, progress: Progress
) -> KmRhoClassesVerdict:
    found = []
    for c, rows in enumerate(classes):
        progress("verifying", c / len(classes))
        found.append(verify_km_rho(rows, guarantee, show=show))
    first: list[tuple[int, TooFew | Learned]] = [(c, TooFew((), classes[c].n_rows)) for c in small]
    first += [(c, entry) for c, one in enumerate(found) for entry in one.first]
    best: dict[str, Learned] = {}
    for one in found:
        for learned in one.confidences:
            most = best.get(learned.item)
            if most is None or learned.confidence > most.confidence:
                best[learned.item] = learned
    confidences = tuple(best[item] for item in guarantee.sensitive if item in best)
    least = [one.greatest_k for one in found if one.greatest_k is not None]
    return KmRhoClassesVerdict(
        guarantee,
        all(one.holds for one in found) and not small,
        sum(one.violations for one in found) + len(small),
        tuple(entry for _, entry in first[:show]),
        confidences,
        greatest(confidences),
        min(least, default=None),
        min((one.greatest_m for one in found), default=float("inf")),
        all(one.complete for one in found),
        classes=len(classes),
        of_class=tuple(c for c, _ in first[:show]),
    )
