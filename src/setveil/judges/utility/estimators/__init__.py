"""The estimator for a release; that of each kind is imported when it is needed."""

from __future__ import annotations

from setveil.base.errors import RequestError
from setveil.judges.utility.estimates import Estimator
from setveil.releases.published.counts import Counts
from setveil.releases.published.recoding import AnyRecoding
from setveil.releases.published.shared import SharedSums, sums_of_parts
from setveil.rows.data.sums import Sums


def estimator_for(shared: SharedSums, *, unlisted: int = 0, class_: int | None = None) -> Estimator:
    """Make the estimator of a recipient, for rows in classes perhaps of the class `class_` alone."""
    kind = getattr(shared.rows, "kind", "rows")  # rows on disk have no name of their kind
    if kind == "classes":
        from setveil.judges.utility.estimators.classes import ClassEstimator

        return ClassEstimator(shared, unlisted=unlisted, class_=class_)
    if class_ is not None:
        raise RequestError("--class: this release has no classes.", hint="Omit it.")
    if kind == "chunks":
        from setveil.judges.utility.estimators.chunks import ChunkEstimator

        return ChunkEstimator(shared)
    if kind == "blocks":
        from setveil.judges.utility.estimators.blocks import BlockEstimator

        return BlockEstimator(shared)
    if shared.boxes is not None:
        from setveil.judges.utility.estimators.facts import FactEstimator

        return FactEstimator(shared, unlisted=unlisted)  # type: ignore[arg-type]  # what has boxes are facts
    return Estimator(shared, unlisted=unlisted)


def estimator_of(published: Sums, recoding: AnyRecoding, counts: Counts | None) -> Estimator:
    """Make the estimator of who reads the published rows, what their labels represent, and the counts."""
    return estimator_for(sums_of_parts(published, recoding, counts))
