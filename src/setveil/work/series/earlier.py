"""A release that is already out comes into a series."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.base.staging import staged_file
from setveil.base.wording import are, count
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.series import verify_series
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import frozen, recode_rows
from setveil.runs.folder import write_json
from setveil.work.past.run import past_run
from setveil.work.series.files import KeptRelease
from setveil.work.series.ledger import (
    INSIDE,
    Entry,
    Ledger,
    gone_if_it_fails,
    hashes_of,
    inside,
    keep,
    replaced,
    require_free_name,
    today,
)
from setveil.work.series.people import People, require_register
from setveil.work.series.state import published_state, read_rows, state_of, verdict_record

MODEL = KmAnonymity.model


def add_published(
    ledger: Ledger, name: str, run: Path, new: People, progress: Progress = silent
) -> tuple[Ledger, dict[str, Any]]:
    """Record a release that is already out; return the series, and the verdict on it as JSON types."""
    require_free_name(ledger, name)
    past = past_run(run)
    guarantee = past.report["guarantee"]
    made, m = past.report["recoding"], guarantee.get("m")
    if guarantee["model"] != MODEL or made != "global" or m is None or isinstance(m, dict):
        raise RequestError(
            f"{run} guarantees {guarantee['phrase']}, with the recoding {made!r}: a series is of "
            f"releases of {MODEL} with one label for each item.",
            hint="Tables, classes, facts, local recodings and sensitive items are not covered.",
        )
    _require_at_least(ledger, guarantee)
    require_register(ledger, new)
    progress("comparing with what was published")
    part = KeptRelease(tuple(new.codes), new.data, past.image, _rows_of(run, past.image, new))
    state = published_state(ledger)
    named = [*zip(state.names, state.parts, strict=True), (name, part)]
    now = state_of(named)
    progress("verifying the series")
    verdict = verify_series(now.series, ledger.promise, progress=progress)
    entry = Entry(
        name, str(run.absolute()), today(), guarantee["k"], m, len(new.codes), 0,
        (run / "published" / "counts.csv").is_file(), verdict.exposed, hashes_of(run),
    )  # fmt: skip
    changed = replace(ledger, releases=(*ledger.releases, entry))
    with gone_if_it_fails(ledger, [name]), replaced(ledger) as to:
        with staged_file(run / "internal" / INSIDE) as file:
            file.chmod(0o600)
            write_json(file, inside(ledger, name))
        keep(ledger, name, part)
        to(changed)
    return changed, verdict_record(verdict, now)


def _require_at_least(ledger: Ledger, guarantee: Mapping[str, Any]) -> None:
    k, m = guarantee["k"], guarantee["m"]
    if k < ledger.settings.k or (m != "inf" and m < ledger.settings.m):
        raise RequestError(
            f"The release guarantees k = {k}, m = {m}, and the series k = {ledger.settings.k}, "
            f"m = {ledger.settings.m}, which is stronger.",
            hint="A series guarantees no more than each of its releases: `setveil series init --k --m`.",
        )


def _rows_of(run: Path, image: Mapping[str, str | None], new: People) -> NDArray[np.int64]:
    """Find the published row of each person: one that shows what her items became."""
    published = read_rows(run)
    data = new.data
    unknown = [item for item in data.vocabulary.labels if item not in image]
    hint = "Name the original file of the release, with the reading options of that run."
    if unknown or data.n_rows != published.n_rows:
        what = (
            f"{count(len(unknown), 'item')} that the recoding of {run} does not know: {listed(unknown)}"
            if unknown
            else f"{data.n_rows:,} people, and {run} has {published.n_rows:,} published rows"
        )
        raise DataError(f"The data do not match the published rows: they contain {what}.", hint=hint)
    ids = published.vocabulary.ids
    missing = len(published.vocabulary)
    to = np.array(
        [-1 if (x := image[label]) is None else ids.get(x, missing) for label in data.vocabulary.labels],
        np.int32,
    )
    indptr, items = recode_rows(data.indptr, data.items, to)
    both = np.concatenate((indptr, published.indptr[1:] + indptr[-1]))
    group, _, _ = merge_rows_by_content(
        frozen(both, np.int64), frozen(np.concatenate((items, published.items)), np.int32)
    )
    ours, theirs = group[: data.n_rows], group[data.n_rows :]
    mine, out = np.argsort(ours, kind="stable"), np.argsort(theirs, kind="stable")
    unlike = np.flatnonzero(ours[mine] != theirs[out])
    if unlike.size:
        raise DataError(
            f"The data do not match the published rows of {run}: {count(unlike.size, 'row')} "
            f"{are(unlike.size)} otherwise.",
            hint=hint,
        )
    rows = np.empty(data.n_rows, np.int64)
    rows[mine] = out
    return rows
