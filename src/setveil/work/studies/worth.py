"""What a release that is looked at keeps of the data, and what it leaves at risk."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, cast

import numpy as np

from setveil.base.progress import Progress
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.utility import Case
from setveil.judges.utility.are import Queries, reader_errors
from setveil.releases.published import Release
from setveil.releases.published.recoding import AnyRecoding, Recoding
from setveil.rows.data.transactions import Transactions

EFFORT = 30_000_000  # of counting unique rows, for each release: well below a second, mostly


def shown_occurrences(rows: Transactions, labels: Collection[str]) -> int:
    """Count the occurrences of some items in rows, in which they need not occur."""
    ids = [rows.vocabulary.ids[label] for label in labels if label in rows.vocabulary.ids]
    return int(rows.supports()[ids].sum())


def names_kept(data: Transactions, recoding: AnyRecoding) -> dict[str, int]:
    """Count the items that are published under their own labels, and what is suppressed.

    `items_kept`: items that some row shows, and all such rows as themselves. `occurrences_kept`: their
    occurrences shown. `suppressed_occurrences`: occurrences that are not published at all.
    """
    if not recoding.uniform:
        return _names_kept_in_some(data, recoding)
    image = cast("Recoding", recoding).image_of(data.vocabulary)
    own = [
        to >= 0 and recoding.published.labels[to] == label
        for label, to in zip(data.vocabulary.labels, image.tolist(), strict=True)
    ]
    members = np.append(recoding.member_counts, 0)  # the last of what is not published
    kept = np.array(own, bool) & (members[image] == 1)
    supports = data.supports()
    return {
        "items_kept": int(np.count_nonzero(kept)),
        "occurrences_kept": int(supports[kept].sum()),
        "suppressed_occurrences": int(supports[image < 0].sum()),
    }


def _names_kept_in_some(data: Transactions, recoding: AnyRecoding) -> dict[str, int]:
    """Count what is published under its own name, where that may be suppressed in some rows."""
    image = recoding.images(data)
    ids = data.vocabulary.ids
    names = [ids.get(label, -1) for label in recoding.published.labels]
    own = np.append(np.where(recoding.member_counts == 1, np.array(names, np.int64), -1), -1)
    kept = own[image] == data.items  # what is not published has the last place
    as_another = np.bincount(data.items[(image >= 0) & ~kept], minlength=data.n_items)
    as_itself = np.bincount(data.items[kept], minlength=data.n_items)
    only = (as_itself > 0) & (as_another == 0)
    return {
        "items_kept": int(np.count_nonzero(only)),
        "occurrences_kept": int(as_itself[only].sum()),
        "suppressed_occurrences": int(np.count_nonzero(image < 0)),
    }


def query_error(
    data: Transactions, release: Release, queries: Queries | None, progress: Progress
) -> float | None:
    """Measure the median relative error of COUNT queries, as a reader of the release answers them."""
    if release.labelled is None or queries is None:
        return None
    case = Case(data, **release.measurable(), queries=queries, progress=progress)
    median: float | None = reader_errors(case)["median"]
    return median


def unique_rows(
    release: Release, known: int | None, seed: int, progress: Progress, unknown: Collection[str] = ()
) -> dict[str, Any]:
    """Count rows that `known` items single out, with quasi-identifiers; None: nobody can know this much."""
    if known is None:
        return {"known": "inf", "unique_rows": 0, "unique_exact": True}
    risk = attack_risk(
        release.exposed(), sizes=[known], thresholds=[2], seed=seed, effort=EFFORT, progress=progress,
        private=unknown,
    )  # fmt: skip
    best = next(entry for entry in risk["risk"] if entry["choice"] == "best")
    return {"known": known, "unique_rows": best["rows_below"]["2"], "unique_exact": best["exact"]}
