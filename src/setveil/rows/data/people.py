"""The people of each release of a series, with their items and labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Appearance:
    """The people of one release, in the order of their numbers, and what each had.

    `people`: int64 (n,), numbers in the series, ascending and unique. `indptr`: int64 (n + 1,): ``people[i]``
    had ``items[indptr[i]:indptr[i + 1]]``, perhaps nothing, ascending and unique. `items`: int32, numbers in
    the series. `labels`: int32 (items of the series,), the number of each item's label in this release, -1 if
    suppressed; any number if nobody has the item in this release.
    """

    people: NDArray[np.int64]
    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    labels: NDArray[np.int32]


@dataclass(frozen=True)
class SeriesPeople:
    """Several releases about the same people, in the order of their publication.

    People are numbered from 0 to `n_people` over all releases, items by their position in `items`.
    `unchecked`: int64, numbers of people among whose rows others may hide, but who are not checked
    themselves.
    """

    releases: tuple[Appearance, ...]
    items: tuple[str, ...]
    n_people: int
    unchecked: NDArray[np.int64] | None = None
