"""A run over data that do not fit in memory: read, anonymize, publish, write, verify the files, measure.

The rows lie in parts in a hidden folder next to the output folder, and are gone when the run ends, however it
ends. What is published is the same, in the same order, as of rows in memory.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.staging import private_folder
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.judges.guarantees.verify.km_pieces import require_countable
from setveil.kernels.rows import frozen
from setveil.releases.published.in_parts import PublishedParts, publish_parts, shown_labels
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import RowsOutcome
from setveil.report.record import Record
from setveil.rows.data.io.parquet import ROW_GROUP, write_files
from setveil.rows.data.io.streams import ListFiles, TextFiles
from setveil.rows.data.io.write import require_text
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.engine.parts import RowsOnDisk
from setveil.rows.engine.tabled import TabledRows
from setveil.rows.hierarchy.fit import fitted, refuse_misread
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.by_sums import looked_at_sums, outcome, verdict_as_written
from setveil.runs.check import check_pieces
from setveil.runs.folder import REPORT, fill, new_folder, write_json
from setveil.runs.options.models import require_nothing_absent
from setveil.runs.request import RunRequest, make_run_request
from setveil.runs.steps import AlgorithmResult, Timing, made_at, released_at, timed

DATA = "data.parquet"
ALGORITHMS = ("aa", "exact", "da", "hghs", "mhghs")
MODELS = (KmAnonymity.model,)


def require_possible(model: str, algorithm: str, settings: Mapping[str, Any]) -> None:
    """Refuse what is not done in parts."""
    if model not in MODELS or algorithm not in ALGORITHMS:
        raise RequestError(
            f"{algorithm} for {model} is not computed in parts, expected {', '.join(ALGORITHMS)} for "
            f"{', '.join(MODELS)}.",
            hint="Choose one of them with --k and --m, or omit --engine parts.",
        )
    if settings.get("refine"):
        raise RequestError("The cut is not refined in parts.", hint="Omit --refine or --engine parts.")


def anonymize_parts(
    files: ListFiles | TextFiles,
    guarantee: KmAnonymity,
    hierarchy: Hierarchy,
    out: Path,
    *,
    algorithm: str = "aa",
    parameters: Mapping[str, Any] = MappingProxyType({}),
    seed: int = 0,
    force: bool = False,
    counts: bool | int = True,
    details: bool = True,
    external: bool = False,
    list_members: bool = False,
    record: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = silent,
) -> Record:
    """Make a release of files of rows, and write it if the written rows satisfy the guarantee.

    The arguments are as for `setveil.anonymize` and `VerifiedRelease.write`; `algorithm` is one of
    `ALGORITHMS`, `record` additional content of the report. Returns the report as in internal/report.json.
    There is no map of the rows.
    """
    require_possible(guarantee.model, algorithm, parameters)
    require_countable(guarantee)
    require_nothing_absent(guarantee)
    request = make_run_request(
        guarantee, algorithm, parameters, seed=seed, counts=counts, details=details,
        list_members=list_members,
    )  # fmt: skip
    timing: Timing = {}
    with new_folder(out, lambda: files.personal, force=force) as (published, internal):
        work = private_folder(published.parent / ".parts")
        place = _Disk(files, work, published)
        made = made_at(place, request, hierarchy, timing, progress)
        release, _, report = released_at(place, request, made, timing, progress)
        shutil.rmtree(work)
        report = fill(
            release, cast("Record", {**report, **record}), published, internal,
            (DATA, place.layout.options()), files.personal, out=out, external=external,
        )  # fmt: skip
        write_json(internal / REPORT, report)
    return report


class _Disk:
    """Rows in parts on disk (see `setveil.runs.steps.Place`); `work` has what is needed on the way."""

    engine, writes = "parts", True

    def __init__(self, files: ListFiles | TextFiles, work: Path, published: Path) -> None:
        self.files, self.work, self.published = files, work, published
        self.layout = Layout("parquet", item_column=files.column)
        self.data: RowsOnDisk

    def prepare(
        self, request: RunRequest, tree: Hierarchy | None, timing: Timing, progress: Progress
    ) -> Hierarchy | None:
        """Copy the rows to the disk, as numbers."""
        with timed(timing, "read"):
            progress("reading items")
            vocabulary, n_rows = self.files.vocabulary, max(self.files.n_rows, 1)
            self.data = RowsOnDisk.write(
                private_folder(self.work / "rows"), self.files.pieces(), vocabulary, self.files.origin(),
                lambda done: progress("reading rows", done / n_rows),
            )  # fmt: skip
        if tree is not None:
            tree = fitted(tree, self.data.vocabulary.labels)
            refuse_misread(tree, self.data.vocabulary.labels, self.data.origin)
            tree.locate(self.data.vocabulary)
        return tree

    def anonymize(
        self, request: RunRequest, tree: Hierarchy | None, progress: Progress
    ) -> tuple[Recoding, dict[str, Any]]:
        """Run the algorithm, which counts on disk."""
        made, details = request.module.anonymize(
            self.data, tree, request.guarantee, request.settings, progress
        )
        require_countable(request.guarantee, len(made.published))
        return made, details

    def publish(self, request: RunRequest, made: AlgorithmResult, progress: Progress) -> RowsOutcome:
        """Put the rows in their order and write them, with the counts next to them."""
        shown = publish_parts(
            self.data, made.recoding, request.seed, private_folder(self.work / "published"),
            lambda done: progress("publishing", done),
        )  # fmt: skip
        require_text(shown.vocabulary.labels)
        self.written = write_files(self.published / DATA, _heard(shown, progress), shown.n_rows, self.layout)
        labels, place = shown_labels(self.data, made.recoding)
        image = frozen(place[made.recoding.image_of(self.data.vocabulary)], np.int32)
        return outcome(self.data, TabledRows(self.data, labels, image), made, request, self.published)

    def verify(self, request: RunRequest, release: RowsOutcome, progress: Progress) -> KmVerdict:
        """Check what was written."""
        files = ListFiles([str(self.published / name) for name in self.written], published=True)
        verdict, found = check_pieces(files, request.guarantee, None, {}, progress=progress)
        return verdict_as_written(verdict, found, release, request.guarantee, self.published)

    def look(
        self,
        request: RunRequest,
        made: AlgorithmResult,
        release: RowsOutcome,
        timing: Timing,
        progress: Progress,
    ) -> dict[str, Any]:
        """Find the information loss, what is still answered, and the risk."""
        return looked_at_sums(TabledRows.of(self.data), release, timing, progress, details=request.details)


def _heard(shown: PublishedParts, progress: Progress) -> Iterator[Transactions]:
    done = 0
    for piece in shown.pieces(ROW_GROUP):
        done += piece.n_rows
        progress("writing", done / shown.n_rows)
        yield piece
