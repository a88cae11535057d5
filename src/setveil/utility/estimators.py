"""Which estimator answers for a release."""

from __future__ import annotations

from setveil.data.sums import Sums
from setveil.errors import RequestError
from setveil.published.block_files import PublishedBlocks
from setveil.published.chunk_files import PublishedChunks
from setveil.published.class_rows import ClassRows
from setveil.published.counts import Counts
from setveil.published.recoding import AnyRecoding
from setveil.published.shared import SharedFacts, Told, told_again
from setveil.utility.block_estimates import BlockEstimator
from setveil.utility.chunk_estimates import ChunkEstimator
from setveil.utility.class_estimates import ClassEstimator
from setveil.utility.estimates import Estimator
from setveil.utility.fact_estimates import FactEstimator


def estimator_for(shared: Told, *, unlisted: int = 0, class_: int | None = None) -> Estimator:
    """Make the estimator of who has what is shared of a release.

    Parameters
    ----------
    class_ : int, optional
        Of rows in classes, that which is asked; None: all together.
    """
    if isinstance(shared.rows, ClassRows):
        return ClassEstimator(shared, unlisted=unlisted, class_=class_)
    if class_ is not None:
        raise RequestError("--class: this release has no classes.", hint="Omit it.")
    if isinstance(shared.rows, PublishedChunks):
        return ChunkEstimator(shared)
    if isinstance(shared.rows, PublishedBlocks):
        return BlockEstimator(shared)
    if isinstance(shared, SharedFacts):
        return FactEstimator(shared, unlisted=unlisted)
    return Estimator(shared, unlisted=unlisted)


def estimator_of(
    published: Sums, recoding: AnyRecoding, counts: Counts | None, *, unlisted: int = 0
) -> Estimator:
    """Make the estimator of who reads the published rows, what their labels represent, and the counts."""
    return estimator_for(told_again(published, recoding, counts), unlisted=unlisted)
