"""Check a guarantee on Spark."""

from __future__ import annotations

import math
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.sql import DataFrame, SparkSession

from setveil.base.errors import RequestError, described
from setveil.base.progress import Progress
from setveil.commands.arguments import Listener, heard, integer, is_path
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict, require_guarantee
from setveil.judges.guarantees.verify.km import KmVerdict
from setveil.judges.guarantees.verify.km_pieces import Counted
from setveil.judges.guarantees.verify.km_spark import (
    published_files,
    read_published,
    verify_and_count,
    verify_km_spark,
)
from setveil.releases.published.shared import counts_beside
from setveil.rows.data.vocabulary import Vocabulary, item_order
from setveil.runs.check import with_counts
from setveil.spark.frames import active_session, rows_of


def verify(
    release: DataFrame | str | PathLike[str],
    guarantee: Guarantee,
    *,
    items: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
    show: int = 10,
    progress: Listener = None,
) -> Verdict:
    """Check k^m-anonymity from published rows alone, in the caller's session.

    Parameters
    ----------
    release : path or DataFrame
        The folder that `SparkRelease.write` wrote, whose files are compared with their manifest first; or
        published rows, made by whatever tool.
    guarantee : KmAnonymity
        k and m.
    items, id_column, item_column : str, optional
        Which columns of a DataFrame hold the rows, as for `setveil.spark.anonymize`.
    show : int
        How many violations to list.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    Verdict
        As of `setveil.verify`, with the counts next to the rows of a folder, except that no m beyond that of
        the guarantee is looked at.
    """
    promise = promised(guarantee)
    listening = heard(progress)
    shown = max(integer("show", show, 0), 1)
    if is_path(release):
        if items is not None or id_column is not None or item_column is not None:
            raise RequestError(
                "The columns of a release are known; items= and the others are for a DataFrame."
            )
        return verify_release(active_session(), Path(fspath(release)), promise, shown, listening)
    return verify_km_spark(
        rows_of(release, items, id_column, item_column), promise, show=shown, progress=listening
    )


def verify_release(
    session: SparkSession, folder: Path, promise: KmAnonymity, show: int, progress: Progress
) -> Verdict:
    """Check the release in a folder (see `verify`)."""
    place, manifest = published_files(folder)
    progress("comparing files with their manifest")
    published = read_published(session, place, manifest)
    verdict, found = verified_sums(published, promise, manifest["rows"], show, progress)
    counts, about = counts_beside(str(folder))
    return verdict if counts is None else with_counts(verdict, found, promise, counts, about, show=show)


def verified_sums(
    published: DataFrame, promise: KmAnonymity, rows: int, show: int, progress: Progress
) -> tuple[KmVerdict, Counted]:
    """Check published rows, and return what else must be known of them, by Spark's own functions."""
    verdict, supports, by_length = verify_and_count(published, promise, rows, show, progress)
    vocabulary = Vocabulary(item_order(supports))
    lengths = np.zeros(1 + max(by_length, default=0), np.int64)
    lengths[[*by_length]] = [*by_length.values()]
    of_label = np.array([supports[label] for label in vocabulary.labels], np.int64)
    return verdict, Counted(vocabulary, of_label, lengths)


def promised(guarantee: Guarantee) -> KmAnonymity:
    """Take k^m-anonymity with a number as m, and refuse anything else."""
    promise: Any = require_guarantee(guarantee)
    if promise.model != KmAnonymity.model:
        raise RequestError(
            f"On Spark there is k^m-anonymity only, got {described(guarantee)}.",
            hint="Other guarantees are kept and checked in memory: setveil.anonymize, setveil.verify.",
        )
    if promise.m == math.inf:
        raise RequestError(f"On Spark m must be a number, got {promise.m}.", hint="Such as 2 or 3.")
    km: KmAnonymity = promise
    return km
