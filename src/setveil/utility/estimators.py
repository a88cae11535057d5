"""Which estimator answers for a release."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from setveil.data.sums import Sums
from setveil.errors import RequestError
from setveil.published.counts import Counts
from setveil.published.recoding import AnyRecoding
from setveil.published.shared import SharedSums, told_again
from setveil.utility.block_estimates import BlockEstimator
from setveil.utility.chunk_estimates import ChunkEstimator
from setveil.utility.class_estimates import ClassEstimator
from setveil.utility.estimates import Estimator
from setveil.utility.fact_estimates import FactEstimator

# of kinds that publish items under their own names, without rows of people
BY_NAME: Mapping[str, Callable[[SharedSums], Estimator]] = {
    "chunks": ChunkEstimator,
    "blocks": BlockEstimator,
}


def estimator_for(shared: SharedSums, *, unlisted: int = 0, class_: int | None = None) -> Estimator:
    """Make the estimator of who has what is shared of a release.

    Parameters
    ----------
    class_ : int, optional
        Of rows in classes, that which is asked; None: all together.
    """
    kind = getattr(shared.rows, "kind", "rows")  # rows on disk have no name of their kind
    if kind == "classes":
        return ClassEstimator(shared, unlisted=unlisted, class_=class_)
    if class_ is not None:
        raise RequestError("--class: this release has no classes.", hint="Omit it.")
    if kind in BY_NAME:
        return BY_NAME[kind](shared)
    of_rows: Any = Estimator if shared.boxes is None else FactEstimator
    return of_rows(shared, unlisted=unlisted)  # type: ignore[no-any-return]


def estimator_of(
    published: Sums, recoding: AnyRecoding, counts: Counts | None, *, unlisted: int = 0
) -> Estimator:
    """Make the estimator of who reads the published rows, what their labels represent, and the counts."""
    return estimator_for(told_again(published, recoding, counts), unlisted=unlisted)
