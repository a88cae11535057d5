"""Make a verified release of rows that Spark holds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from pyspark.sql import DataFrame

from setveil.base.errors import RequestError, described
from setveil.base.progress import Progress
from setveil.commands.arguments import Listener, TreeLike, heard, is_path, tree_of
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.judges.guarantees.verify.km_spark import ITEMS, MANIFEST, read_published
from setveil.judges.utility.lm import lm
from setveil.judges.utility.ncp import ncp
from setveil.kernels.rows import Ids, frozen, recode_rows, take_rows
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms.aa import AA, find_cut
from setveil.releases.published.in_parts import shown_labels
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import RowsOutcome
from setveil.report.record import Record
from setveil.rows.data.layout import Layout
from setveil.rows.data.personal import NOTHING
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.spark import SparkRows, brought, coded, recoded, require_rows, require_workers
from setveil.rows.engine.spark import survey as surveyed
from setveil.rows.engine.tabled import TabledRows
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.by_sums import looked_at_sums, outcome, verdict_as_written
from setveil.runs.folder import REPORT, fill, new_folder, require_writable, write_json
from setveil.runs.in_parts import DATA
from setveil.runs.options.models import require_nothing_absent
from setveil.runs.request import RunRequest, make_run_request, named_algorithm
from setveil.runs.steps import AlgorithmResult, Timing, made_at, released_at, timed
from setveil.spark.check import promised, verified_sums
from setveil.spark.frames import IDS, personal_of, rows_of
from setveil.spark.publishing import publish

ALGORITHMS = ("aa", "exact")
_SHOWN = 10  # violations of a release that failed
MOST_OCCURRENCES = 200_000_000  # of all rows, that algorithms on the driver take


@dataclass(frozen=True, eq=False)
class SparkRelease:
    """A release that is not written yet: how each item is to be published.

    It is verified as it is written: the files are read again and every set of labels counted, before the
    folder gets its name.

    Attributes
    ----------
    guarantee : KmAnonymity
        What is guaranteed.
    recoding : Recoding
        What each item becomes. Stays inside.
    utility : dict
        `ncp` and `lm` (see `setveil.measure`); the report that `write` returns has the other losses, too.
    """

    guarantee: KmAnonymity
    recoding: Recoding
    utility: dict[str, float]
    _place: _Spark
    _request: RunRequest
    _made: AlgorithmResult
    _timing: Timing
    _progress: Progress

    def write(
        self,
        out: str | PathLike[str],
        *,
        force: bool = False,
        external: bool = False,
        record: Mapping[str, Any] = MappingProxyType({}),
    ) -> Record:
        """Publish the rows, verify the files, and write the folder; only its `published` may be shared.

        The rows are in the order of a run in memory with the same seed, in files of about a million rows.

        Parameters
        ----------
        out : path
            A folder that does not exist or is empty, where driver and workers can write. It appears complete
            or not at all.
        force : bool
            Replace a folder that an earlier run wrote.
        external : bool
            Also write published/report.html, a report without anything that must not be shared.
        record : mapping
            What the report is to say also, as JSON types: `command`, `options`, `about`.

        Returns
        -------
        dict
            The report, as written to internal/report.json.
        """
        target, place = _local(out), self._place
        require_writable(target, force=force)
        try:
            with new_folder(target, lambda: place.personal, force=force, hint=_SHARED) as (
                published,
                internal,
            ):
                place.published = published
                release, verdict, report = released_at(
                    place, self._request, self._made, dict(self._timing), self._progress
                )
                report = fill(
                    release, cast("Record", {**report, **record}), published, internal,
                    (DATA, Layout("parquet", item_column=ITEMS).options()), place.personal,
                    out=target, external=external,
                )  # fmt: skip
                write_json(internal / REPORT, report)
                write_json(published / MANIFEST, place.manifest | {"verdict": verdict.as_dict()})
        finally:
            place.forget()
        return report

    def __repr__(self) -> str:
        lost = ", ".join(f"{name.upper()} {value:.4f}" for name, value in self.utility.items())
        rows = f"{self._place.data.n_rows:,} rows on Spark"
        return f"Release of {rows}, {self.guarantee.phrase}, not written yet: {lost}"


def anonymize(
    frame: DataFrame,
    guarantee: Guarantee,
    *,
    hierarchy: TreeLike,
    items: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    not_ids: str | Sequence[str] | None = None,
    algorithm: Any = "aa",
    seed: int = 0,
    counts: bool | int = True,
    details: bool = True,
    list_members: bool = False,
    progress: Listener = None,
    **parameters: Any,
) -> SparkRelease:
    """Find how rows that Spark holds are to be published to be k^m-anonymous, in the caller's session.

    The release is that of `setveil.anonymize` with the same arguments, to the last row and its place.

    Parameters
    ----------
    frame : DataFrame
        The rows: one line each with a column of arrays (`items`; null is an empty row), or a long table
        (`id_column` and `item_column`). It must hold the same rows each time it is computed.
    guarantee : KmAnonymity
        k and m; m must be a number.
    hierarchy : Hierarchy or path
        What items may be generalized to.
    items, id_column, item_column : str, optional
        Which columns hold the rows.
    not_ids : str or sequence of str, optional
        Positions of items, counted from 1, or ``items``: they hold no person IDs, although they look so.
    algorithm : {"aa", "exact"}, or AA(...) or Exact(...)
        How the guarantee is kept.
    seed : int
        Shuffles the published rows.
    counts : bool or int
        Whether to share in how many rows each item was, or of how many rows a count must speak (see
        `setveil.anonymize`).
    details : bool
        Also measure what is still answered, and the risk of one or two known items.
    list_members : bool
        List all items of each label in about.json (see `setveil.anonymize`).
    progress : callable or Progress, optional
        Hears how far it is.
    **parameters
        The algorithm's own parameters by name.

    Returns
    -------
    SparkRelease
        Its `write` publishes and verifies. Until then the coded rows stay cached in the session.
    """
    promise = promised(guarantee)
    require_nothing_absent(promise)
    if named_algorithm(algorithm)[0] not in ALGORITHMS:
        raise RequestError(
            f"On Spark there are the algorithms {', '.join(ALGORITHMS)}, got {described(algorithm)}."
        )
    request = make_run_request(
        promise, algorithm, parameters, seed=seed, counts=counts, details=details, list_members=list_members
    )
    tree = tree_of(hierarchy)
    if tree is None:
        raise RequestError(
            "On Spark a hierarchy must be given.",
            hint="setveil hierarchy build makes one of a sample of the rows, or of the items alone.",
        )
    listening, timing = heard(progress), dict[str, float]()
    place = _Spark(rows_of(frame, items, id_column, item_column), tree, not_ids, long=items is None)
    try:
        made = made_at(place, request, tree, timing, listening)
    except BaseException:
        place.forget()
        raise
    utility = {"ncp": ncp(place.data, made.recoding), "lm": lm(place.data, made.recoding)}
    return SparkRelease(promise, made.recoding, utility, place, request, made, timing, listening)


class _Spark:
    """Rows on Spark (see `setveil.runs.steps.Place`), from a frame as of `setveil.spark.frames.rows_of`.

    `long`: they are of a long table. `data`: sums of the rows, on the driver. `held`: the rows, coded by the
    leaves of the hierarchy. `manifest`: what was written to `published`.
    """

    engine, writes = "spark", True
    data: RowsOnDisk
    held: SparkRows
    published: Path
    manifest: dict[str, Any]

    def __init__(
        self, frame: DataFrame, tree: Hierarchy, not_ids: str | Sequence[str] | None = None, *, long: bool
    ) -> None:
        self.frame, self.tree, self.not_ids, self.long = frame, tree, not_ids, long
        self.personal = NOTHING  # what must not be published, known once the rows are prepared

    def forget(self) -> None:
        """Let go of the coded rows."""
        if hasattr(self, "held"):
            self.held.rows.unpersist()

    def prepare(
        self, request: RunRequest, tree: Hierarchy | None, timing: Timing, progress: Progress
    ) -> Hierarchy | None:
        """Count the items, and code the rows by the leaves of the hierarchy."""
        progress("looking for numba on the workers")
        require_workers(self.frame.sparkSession)
        with timed(timing, "read"):
            progress("counting items")
            found = surveyed(self.frame)
            vocabulary = Vocabulary(item_order(found.supports))
            self.leaves = self.tree.locate(vocabulary)
            personal = personal_of(self.frame, vocabulary.labels, long=self.long)
            self.personal = personal.without(self.not_ids, ("items", IDS))
            rows = coded(self.frame, vocabulary.labels, self.leaves, found.tasks).persist()
            self.held = SparkRows(rows, found.rows, found.tasks)
            progress("merging equal rows")
            supports = np.array([found.supports[label] for label in vocabulary.labels], np.int64)
            self.data = RowsOnDisk((), vocabulary, self.held.lengths, frozen(supports, np.int64))
        request.guarantee.require_feasible(self.data)
        return self.tree

    def anonymize(
        self, request: RunRequest, tree: Hierarchy | None, progress: Progress
    ) -> tuple[Recoding, dict[str, Any]]:
        """Run the algorithm: AA on the workers, what needs the rows themselves on the driver."""
        data, tree, settings = self.data, self.tree, request.settings
        if isinstance(settings, AA) and not settings.refine:
            cut = Cut(data, tree)
            cut.held = self.held
            cut, details = find_cut(cut, request.guarantee, progress)
            return Recoding.from_cut(tree, cut.nodes()), details
        if data.n_occurrences > MOST_OCCURRENCES:
            raise RequestError(
                f"The rows contain {data.n_occurrences:,} occurrences of items, and the driver takes "
                f"{MOST_OCCURRENCES:,}.",
                hint="The algorithm aa without refine counts on the workers.",
            )
        indptr, ids, weights = brought(self.held.rows, "of leaves")
        require_rows(int(weights.sum()), data.n_rows, "coding")
        again = np.repeat(np.arange(weights.size), weights)
        rows = recode_rows(*take_rows(indptr, ids, again), self._items())
        made: tuple[Recoding, dict[str, Any]] = request.module.anonymize(
            Transactions(*rows, data.vocabulary), tree, request.guarantee, settings, progress
        )
        return made

    def publish(self, request: RunRequest, made: AlgorithmResult, progress: Progress) -> RowsOutcome:
        """Let the workers put the rows in their order and write them; write the counts next to them."""
        progress("publishing")
        (self.published / DATA).mkdir()
        labels, place = shown_labels(self.data, made.recoding)
        image = frozen(place[made.recoding.image], np.int32)
        rows, total = recoded(self.held.rows, image, self.held.tasks).persist(), self.data.n_rows
        try:
            files = publish(rows, labels.labels, total, request.seed, self.published / DATA)
        finally:
            rows.unpersist()
        entries = [entry | {"name": f"{DATA}/{entry['name']}"} for entry in files]
        self.manifest = {"rows": total, "files": entries}
        return outcome(self.data, TabledRows(self.held, labels, image), made, request, self.published)

    def verify(self, request: RunRequest, release: RowsOutcome, progress: Progress) -> KmVerdict:
        """Check what was written, by Spark's own functions."""
        again = read_published(self.frame.sparkSession, self.published, self.manifest)
        promise, rows = request.guarantee, self.data.n_rows
        verdict, found = verified_sums(again, promise, rows, _SHOWN, progress)
        return verdict_as_written(verdict, found, release, promise, self.published)

    def look(
        self,
        request: RunRequest,
        made: AlgorithmResult,
        release: RowsOutcome,
        timing: Timing,
        progress: Progress,
    ) -> dict[str, Any]:
        """Find the information loss, what is still answered, and the risk."""
        sums = self.data.lengths, self.data.supports()
        before = TabledRows(self.held, self.data.vocabulary, self._items(), sums)
        return looked_at_sums(before, release, timing, progress, details=request.details)

    def _items(self) -> Ids:
        """Find the item that each leaf is: int32 (n_leaves,), -1 where there is none."""
        items = np.full(self.tree.n_leaves, -1, np.int32)
        items[self.leaves] = np.arange(self.data.n_items)
        return frozen(items, np.int32)


_SHARED = "It must be a folder that driver and workers share."


def _local(out: object) -> Path:
    """Take the folder to write, which must be a path of the file system."""
    if not is_path(out):
        raise RequestError(f"The folder to write must be a path, got {described(out)}.")
    if "://" in str(out):
        raise RequestError(
            f"The folder to write must be a path of the file system, got {out}.",
            hint="Mount the store where driver and workers see it, or copy the folder when it is complete.",
        )
    return Path(out)
