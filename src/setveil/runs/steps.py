"""The steps of a run, wherever the rows are: prepare, anonymize, publish, verify, look, record.

A `Place` does what differs. In memory the folder is written at the end, from what was verified
(`setveil.runs.folder.write_folder`). Elsewhere rows are published into a folder that is not in place yet, and
verified there (`setveil.runs.folder.new_folder`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

from setveil.base.errors import GuaranteeError
from setveil.base.progress import Progress
from setveil.judges.guarantees import least_rows
from setveil.judges.guarantees.verify import Verdict
from setveil.releases.published import Outcome
from setveil.report.record import Record
from setveil.rows.data.sums import Original
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.details import recorded
from setveil.runs.naming import named
from setveil.runs.request import RunRequest

R = TypeVar("R", bound=Outcome)
Timing = dict[str, float]  # seconds of each phase


class Place(Protocol[R]):
    """The place of a run's rows, and what is done there.

    `engine`: its name in the record; "" is memory, which is not named. `writes`: rows are written as they are
    published.
    """

    engine: str
    writes: bool

    @property
    def data(self) -> Original:
        """The rows that are anonymized; known once they are prepared."""

    def prepare(
        self, request: RunRequest, tree: Hierarchy | None, timing: Timing, progress: Progress
    ) -> Hierarchy | None:
        """Bring the rows where they are needed; return the hierarchy that is used, if any."""

    def anonymize(
        self, request: RunRequest, tree: Hierarchy | None, progress: Progress
    ) -> tuple[Any, dict[str, Any]]:
        """Run the algorithm: what becomes of the items or rows, and what there is to say of its run."""

    def publish(self, request: RunRequest, made: AlgorithmResult, progress: Progress) -> R:
        """Put what is published into an order that tells nothing, with the counts next to it."""

    def verify(self, request: RunRequest, release: R, progress: Progress) -> Verdict:
        """Check what is published, as who receives it."""

    def look(
        self, request: RunRequest, made: AlgorithmResult, release: R, timing: Timing, progress: Progress
    ) -> dict[str, Any]:
        """Find the information loss, and as far as it was asked for what is still answered, and the risk."""


@dataclass(frozen=True)
class AlgorithmResult:
    """The result of an algorithm: its hierarchy, what becomes of items or rows, and details of its run."""

    tree: Hierarchy | None
    recoding: Any
    details: dict[str, Any]


def made_at(
    place: Place[R], request: RunRequest, tree: Hierarchy | None, timing: Timing, progress: Progress
) -> AlgorithmResult:
    """Prepare the rows and anonymize them."""
    if tree is not None and tree.origin is not None:
        timing["hierarchy"] = tree.origin.seconds
    by_user, guarantee = tree is not None, request.guarantee
    tree = place.prepare(request, tree, timing, progress)
    progress(f"anonymizing ({request.algorithm})")
    with timed(timing, "anonymize"):
        recoding, details = place.anonymize(request, tree, progress)
    if by_user and "hierarchy" not in request.info.uses:
        details["warnings"] = [
            *details.get("warnings", ()),
            f"{request.algorithm} does not use the hierarchy.",
        ]
    if tree is not None:
        recoding, details, tree = named(recoding, details, tree, place.data, guarantee, by_user=by_user)
    recoding = recoding.ordered(place.data, tree, least_rows(guarantee), list_members=request.list_members)
    return AlgorithmResult(recoding.tree_of(tree), recoding, details)


def released_at(
    place: Place[R], request: RunRequest, made: AlgorithmResult, timing: Timing, progress: Progress
) -> tuple[R, Verdict, Record]:
    """Publish what was made, verify it, look at it and put together its record; refuse what does not hold."""
    with timed(timing, "write" if place.writes else "anonymize"):
        release = place.publish(request, made, progress)
    if not request.list_members:
        release = release.with_listing(place.data, made.tree, least_rows(request.guarantee))
    timing |= made.details.get("timing", {})
    progress("verifying")
    with timed(timing, "verify"):
        verdict = place.verify(request, release, progress)
    if not verdict.holds:
        raise GuaranteeError(
            f"The release of {request.algorithm} failed its check. {verdict!r} Nothing was left behind.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    found = place.look(request, made, release, timing, progress)
    report = recorded(
        place.data, made.tree, release, verdict, found, timing,
        algorithm={"name": request.algorithm, "info": request.info, "settings": request.settings},
        guarantee=request.guarantee, seed=request.seed,
    )  # fmt: skip
    if place.engine:
        report["engine"] = place.engine
    return release, verdict, report


@contextmanager
def timed(timing: Timing, phase: str) -> Iterator[None]:
    """Note the seconds that the work of a phase takes, next to those that it took so far."""
    start = time.perf_counter()
    yield
    timing[phase] = round(timing.get(phase, 0) + time.perf_counter() - start, 4)
