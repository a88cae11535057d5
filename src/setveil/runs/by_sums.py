"""What runs look at where rows are not in memory: sums over them, and tables of sets where these fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.base.errors import GuaranteeError
from setveil.base.progress import Progress
from setveil.judges.attacker.in_parts import SIZES, risk_in_parts
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.judges.utility import Case, measured
from setveil.judges.utility.are import counts_estimator
from setveil.releases.published.counts import Counts, read_counts
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import RowsOutcome
from setveil.rows.data.sums import Sums
from setveil.rows.engine.tabled import TabledRows
from setveil.runs._answers_in_parts import answers_in_parts
from setveil.runs.check import with_counts
from setveil.runs.details import ITEMSET_LENGTH, QUERIES, TOP, frequent_support
from setveil.runs.request import RunRequest
from setveil.runs.steps import AlgorithmResult, Timing, timed


def outcome(
    data: Sums, after: TabledRows, made: AlgorithmResult, request: RunRequest, published: Path
) -> RowsOutcome:
    """Say what is published of rows, and write the counts next to them, if there are to be any."""
    recoding: Recoding = made.recoding
    least = request.least
    counts = Counts.of(data, recoding, least, filled=after.filled_rows) if least else None
    if counts is not None:
        counts.write(published)
    return RowsOutcome(after, recoding, made.details, counts)


def verdict_as_written(
    verdict: KmVerdict, found: Sums, release: RowsOutcome, guarantee: KmAnonymity, published: Path
) -> KmVerdict:
    """Check counts as written in `published`, and that no row and no label of `release` was lost."""
    about = {} if release.counts is None else {"counts": release.counts.about(), **release.meaning()}
    again = read_counts(published, about)
    verdict = with_counts(verdict, found, guarantee, again, about)
    supports = [
        dict(zip(rows.vocabulary.labels, rows.supports().tolist(), strict=True))
        for rows in (found, release.published)
    ]
    lines = [None if one is None else one.lines() for one in (again, release.counts)]
    numbers = [(rows.n_rows, rows.filled_rows) for rows in (found, release.published)]
    if verdict.holds and any(one != other for one, other in (supports, lines, numbers)):
        raise GuaranteeError(
            f"What was written is not what was to be published: {found.n_rows:,} rows, expected "
            f"{release.published.n_rows:,}. Nothing was left behind.",
            hint="This is a defect of setveil; please report it.",
        )
    return verdict


def looked_at_sums(
    before: TabledRows, release: RowsOutcome, timing: Timing, progress: Progress, *, details: bool
) -> dict[str, Any]:
    """Find the information loss; with `details` also use and risk, as far as tables of sets allow."""
    after = release.published
    progress("measuring")
    with timed(timing, "measure"):
        case = Case(before, **release.measurable(), progress=progress)
        found: dict[str, Any] = {"utility": measured(case), "estimator": case.once(counts_estimator)}
    found["optimality"] = release.details.get("optimality")
    sizes = [size for size in SIZES if details and before.fits(size) and after.fits(size)]
    if 2 in sizes:
        with timed(timing, "answers"):
            found["answers"] = answers_in_parts(
                before, after, release.recoding, release.counts, queries=QUERIES, top=TOP,
                threshold=frequent_support(before.n_rows), longest=ITEMSET_LENGTH, progress=progress,
            )  # fmt: skip
    if sizes:
        with timed(timing, "risk"):
            both = {"before": before, "after": after}
            found["risk"] = {
                side: risk_in_parts(rows, sizes, progress=progress) for side, rows in both.items()
            }
    return found
