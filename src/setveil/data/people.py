"""Who is in which release of a series, what each had there, and what her items became."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Appearance:
    """The people of one release, in the order of their numbers, and what each had.

    Attributes
    ----------
    people : int64 (n,)
        Numbers of people in the series, ascending and unique.
    indptr : int64 (n + 1,)
        ``people[i]`` had ``items[indptr[i]:indptr[i + 1]]``, which may be nothing.
    items : int32
        Numbers of items in the series, ascending and unique for each person.
    labels : int32 (items of the series,)
        The label of each item in this release: the number of a label of its own, or -1 if it is suppressed.
        An item that nobody has in this release may have any number.
    """

    people: NDArray[np.int64]
    indptr: NDArray[np.int64]
    items: NDArray[np.int32]
    labels: NDArray[np.int32]


@dataclass(frozen=True)
class SeriesPeople:
    """Several releases about the same people, in the order in which they went out.

    Attributes
    ----------
    releases : tuple of Appearance
        One for each release.
    items : tuple of str
        The items of all releases; their positions are their numbers.
    n_people : int
        How many people are in any release: numbers go from 0.
    unchecked : int64, optional
        Numbers of people whose rows others may hide behind, but of whom nothing is checked themselves.
    """

    releases: tuple[Appearance, ...]
    items: tuple[str, ...]
    n_people: int
    unchecked: NDArray[np.int64] | None = None
