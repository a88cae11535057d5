"""Two releases of different people together: the rows of both, verified as one."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, listed, shorten
from setveil.base.progress import Progress
from setveil.judges.guarantees import Guarantee, absent_items, model_named
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import verify
from setveil.releases.published import Release
from setveil.releases.published.shared import Shared
from setveil.report.record import Together
from setveil.rows.data.transactions import Transactions
from setveil.work.past.run import number

Members = Mapping[str, Collection[str]]


def verified_union(
    release: Release, guarantee: Guarantee, name: str, earlier: Shared, progress: Progress
) -> Together:
    """Verify the rows of two releases together, for the smaller k and m, for the record."""
    weaker = _weaker(guarantee, name, earlier.about.get("guarantee") or {})
    _require_same_labels(release, name, earlier)
    rows = _joined(release.published, earlier.rows)
    verdict = verify(rows, weaker, progress=progress)
    if not verdict.holds:
        record = verdict.as_dict()
        words = model_named(weaker.model).words
        raise DataError(
            f"The new rows together with {name} have no {weaker.phrase}: {words.broken(record)}, such as "
            f"{words.violation(record['first'][0])}.",
            hint=f"The new rows have it, so {name} does not keep what its about.json guarantees: verify it.",
        )
    return {
        "release": name,
        "rows": rows.n_rows,
        "guarantee": weaker.as_dict(),
        "phrase": weaker.phrase,
        "greatest_k": verdict.found()["greatest_k"],
    }


def _weaker(guarantee: Guarantee, name: str, then: Mapping[str, Any]) -> KmAnonymity:
    """Take the smaller k and m of two guarantees."""
    now = guarantee.as_dict()
    for promised in (now, then):
        if promised.get("model") not in {"km-anonymity", "constraints"} or "m" not in promised:
            raise RequestError(
                "Two releases are verified together where both guarantee k^m-anonymity; "
                f"{name if promised is then else 'the new release'} does not.",
                hint="Omit --union.",
            )
        if absent_items(promised):
            raise RequestError(
                "Two releases are verified together for what a person has; "
                f"{name if promised is then else 'the new release'} also covers absent items.",
                hint="Omit --union.",
            )
    return KmAnonymity(min(now["k"], then["k"]), min(number(now["m"]), number(then["m"])))


def _require_same_labels(release: Release, name: str, earlier: Shared) -> None:
    """Refuse a label that represents other items in the one than in the other, both knowing these."""
    shown = release.published.vocabulary.ids
    new: Members = {x: items for x, items in release.labelled.members().items() if x in shown}
    old: Members = {label: earlier.under(label) for label in earlier.rows.vocabulary.labels}
    known_new = {item for items in new.values() for item in items}
    known_old = {item for items in old.values() for item in items}
    for label in new.keys() & old.keys():
        differ = (set(new[label]) - set(old[label])) & known_old
        differ |= (set(old[label]) - set(new[label])) & known_new
        # A label of one item is that item, and not the name of several.
        if differ or (set(new[label]) != set(old[label]) and label in {*new[label], *old[label]}):
            only = sorted(set(new[label]) ^ set(old[label]))
            raise DataError(
                f"The label {shorten(label)} does not represent the same items in {name} and in the new "
                f"release: only one of them has {listed(only)} under it.",
                hint="Releases whose labels mean different things cannot be joined.",
            )


def _joined(first: Transactions, second: Transactions) -> Transactions:
    """Put the rows of two releases one behind the other; equal labels are one."""
    indptr = np.concatenate((first.indptr, first.indptr[-1] + second.indptr[1:]))
    codes = np.concatenate((first.items, second.items.astype(np.int64) + first.n_items))
    return Transactions.from_codes(indptr, codes, (*first.vocabulary.labels, *second.vocabulary.labels))
