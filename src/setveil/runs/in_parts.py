"""A run over data that do not fit in memory: read, anonymize, publish, write, verify the files, measure.

The rows lie in parts in a hidden folder beside the output folder, and are gone when the run ends, however it
ends. What is published is the same, in the same order, as of rows in memory.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np

from setveil import algorithms
from setveil.attacker.in_parts import SIZES, risk_in_parts
from setveil.data.io.parquet import ROW_GROUP, write_files
from setveil.data.io.streams import ListFiles, TextFiles
from setveil.data.io.write import require_text
from setveil.data.layout import Layout
from setveil.data.vocabulary import Vocabulary
from setveil.engine.parts import Parts
from setveil.engine.tabled import TabledRows
from setveil.errors import GuaranteeError, OutputError, RequestError
from setveil.guarantees.km import KmAnonymity
from setveil.guarantees.verify.km import KmVerdict
from setveil.guarantees.verify.km_pieces import require_countable
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published.counts import Counts, read_counts
from setveil.published.in_parts import PublishedParts, publish_parts
from setveil.published.recoding import Recoding
from setveil.published.rows import RowsOutcome, write_recoding
from setveil.report.record import Record
from setveil.report.run.page import report_html
from setveil.runs.check import check_pieces
from setveil.runs.details import ITEMSET_LENGTH, QUERIES, TOP, frequent_support, recorded
from setveil.runs.folder import (
    PAGE,
    about_of,
    not_written,
    published_as,
    require_writable,
    write_json,
    write_text,
)
from setveil.runs.run import least_count, require_seed, settings_of, timed
from setveil.staging import keep_private, private_folder, staged_folder
from setveil.utility import Case, measured
from setveil.utility.in_parts import answers_in_parts

ALGORITHMS = ("aa", "exact", "da", "hghs", "mhghs")
MODELS = (KmAnonymity.model,)


def require_possible(model: str, algorithm: str, settings: Mapping[str, Any]) -> None:
    """Refuse what is not done in parts."""
    if model not in MODELS or algorithm not in ALGORITHMS:
        raise RequestError(
            f"{algorithm} for {model} is not computed in parts, expected {', '.join(ALGORITHMS)} for "
            f"{', '.join(MODELS)}.",
            hint="Choose one of them with --k and --m, or leave out --engine parts.",
        )
    if settings.get("refine"):
        raise RequestError("The cut is not refined in parts.", hint="Leave out --refine or --engine parts.")


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
    record: Mapping[str, Any] = MappingProxyType({}),
    progress: Progress = silent,
) -> Record:
    """Make a release of files of rows, and write it if what was written keeps the promise.

    Parameters
    ----------
    files : ListFiles or TextFiles
        The rows (see `setveil.data.io.streams.open_streams`).
    guarantee : KmAnonymity
        What to promise.
    hierarchy : Hierarchy
        What items may be generalized to.
    out : Path
        The folder to write; it appears complete or not at all.
    algorithm : str
        One of `ALGORITHMS`.
    parameters : mapping
        Of the algorithm, by name.
    seed : int
        Shuffles the published rows.
    force : bool
        Replace a folder that an earlier run wrote.
    counts : bool or int
        Whether to share in how many rows each item was, or of how many rows a count must speak (see
        `setveil.anonymize`).
    details : bool
        Also measure what is still answered, and the risk of one or two known items.
    external : bool
        Also write a report beside the published rows that may be shared with them.
    record : mapping
        What the report is to say besides.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    dict
        The report, as written to internal/report.json. No map of the rows is kept.
    """
    require_possible(guarantee.model, algorithm, parameters)
    require_seed(seed)
    require_countable(guarantee)
    least = least_count(guarantee, counts)
    require_writable(out, force=force)
    module = algorithms.load(algorithm)
    settings = settings_of(module.Parameters, algorithm, dict(parameters))
    timing: dict[str, float] = {}
    if hierarchy.origin is not None:
        timing["hierarchy"] = hierarchy.origin.seconds
    try:
        with staged_folder(out) as folder:
            work, published, internal = folder / ".parts", folder / "published", folder / "internal"
            published.mkdir()
            for place in (work, internal):
                private_folder(place)
            with timed(timing, "read"):
                data = _read(files, work, progress)
            with timed(timing, "anonymize"):
                hierarchy.locate(data.vocabulary)
                progress(f"anonymizing ({algorithm})")
                made, told = module.anonymize(data, hierarchy, guarantee, settings, progress)
            require_countable(guarantee, len(made.published))
            start = time.perf_counter()
            shown = publish_parts(
                data, made, seed, _new(work, "published"), lambda done: progress("publishing", done)
            )
            require_text(shown.vocabulary.labels)
            layout = Layout("parquet", item_column=files.column)
            written = write_files(published / "data.parquet", _heard(shown, progress), shown.n_rows, layout)
            timing["write"] = round(time.perf_counter() - start, 4)
            after = _recoded(data, made, shown.vocabulary)
            beside = Counts.of(data, made, least, filled=after.filled_rows) if least else None
            if beside is not None:
                beside.write(published)
            release = RowsOutcome(after, made, told, beside)
            with timed(timing, "verify"):
                verdict = _verified(published, written, release, guarantee, progress)
            with timed(timing, "measure"):
                found = {
                    "utility": measured(Case(TabledRows.of(data), **release.measurable(), progress=progress))
                }
            found["optimality"] = told.get("optimality")
            if details:
                found |= _details(data, release, timing, progress)
            shutil.rmtree(work)
            made_here = recorded(
                data, hierarchy, release, verdict, found, timing,
                algorithm={"name": algorithm, "info": module.info, "settings": settings},
                guarantee=guarantee, seed=seed,
            )  # fmt: skip
            report = cast("Record", {**made_here, "engine": "parts", **record})
            report["published"] = published_as(
                published, "data.parquet", layout.options(), release.published, external=external
            )
            write_json(published / "about.json", about_of(release, report))
            write_recoding(internal / "recoding.csv", made)
            write_text(internal / PAGE, report_html(report))
            if external:
                write_text(published / PAGE, report_html(report, external=True))
            write_json(internal / "report.json", report)
            keep_private(internal)
    except (OSError, OutputError) as failure:
        raise not_written(out, failure) from failure
    return report


def _read(files: ListFiles | TextFiles, work: Path, progress: Progress) -> Parts:
    progress("reading items")
    vocabulary = files.vocabulary
    n_rows = max(files.n_rows, 1)
    return Parts.write(
        _new(work, "rows"), files.pieces(), vocabulary, files.origin(),
        lambda done: progress("reading rows", done / n_rows),
    )  # fmt: skip


def _new(work: Path, name: str) -> Path:
    return private_folder(work / name)


def _heard(shown: PublishedParts, progress: Progress) -> Any:
    done = 0
    for piece in shown.pieces(ROW_GROUP):
        done += piece.n_rows
        progress("writing", done / shown.n_rows)
        yield piece


def _recoded(data: Parts, made: Recoding, shown: Vocabulary) -> TabledRows:
    """Look at the rows as they are published, by the labels that are shown."""
    label = np.array([*(shown.ids.get(label, -1) for label in made.published.labels), -1], np.int32)
    return TabledRows(data, shown, label[made.image_of(data.vocabulary)])


def _verified(
    published: Path, files: list[str], release: RowsOutcome, guarantee: KmAnonymity, progress: Progress
) -> KmVerdict:
    """Check what was written: the promise, and that no row and no label was lost."""
    counts, shown = release.counts, release.published
    about = {} if counts is None else {"counts": counts.about(), **release.meaning()}
    again = read_counts(published, about)
    written = ListFiles([str(published / name) for name in files])
    verdict, found = check_pieces(written, guarantee, again, about, progress=progress)
    if not verdict.holds:
        raise GuaranteeError(
            f"The release failed its check. {verdict!r} Nothing was left behind.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    supports = [
        dict(zip(rows.vocabulary.labels, rows.supports().tolist(), strict=True)) for rows in (found, shown)
    ]
    lines = [None if one is None else one.lines() for one in (again, counts)]
    numbers = [(rows.n_rows, rows.filled_rows) for rows in (found, shown)]
    if any(both[0] != both[1] for both in (supports, lines, numbers)):
        raise GuaranteeError(
            f"What was written is not what was to be published: {found.n_rows:,} rows, expected "
            f"{shown.n_rows:,}. Nothing was left behind.",
            hint="This is a defect of setveil; please report it.",
        )
    return verdict


def _details(
    data: Parts, release: RowsOutcome, timing: dict[str, float], progress: Progress
) -> dict[str, Any]:
    """Measure what is still answered, and the risk before and after, as far as tables of sets allow."""
    before, after = TabledRows.of(data), cast(TabledRows, release.published)
    made = release.recoding
    sizes = [size for size in SIZES if before.fits(size) and after.fits(size)]
    found: dict[str, Any] = {}
    if 2 in sizes:
        with timed(timing, "answers"):
            threshold = frequent_support(data.n_rows)
            found["answers"] = answers_in_parts(
                before, after, made, release.counts, queries=QUERIES, top=TOP, threshold=threshold,
                longest=ITEMSET_LENGTH, progress=progress,
            )  # fmt: skip
    if sizes:
        with timed(timing, "risk"):
            both = {"before": before, "after": after}
            found["risk"] = {
                side: risk_in_parts(rows, sizes, progress=progress) for side, rows in both.items()
            }
    return found
