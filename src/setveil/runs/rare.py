"""Items that few rows contain: suppressed before a run, or published as themselves only on request."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from setveil.base.errors import RequestError, described, faces
from setveil.base.values.kinds import is_integer
from setveil.base.wording import count
from setveil.judges.guarantees import Guarantee, least_rows
from setveil.kernels.rows import recode_rows
from setveil.releases.published import Release
from setveil.releases.published.listing import authored_items
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.request import RunRequest


def rare_names(
    data: Transactions, release: Release, tree: Hierarchy | None, request: RunRequest
) -> tuple[str, ...]:
    """List the items that fewer than k rows contain and that are published under their own names.

    Items that a given hierarchy lists, the guarantee as sensitive, or constraints are known without the data.
    So are those of blocks, whose list of all items is fixed beforehand.
    """
    guarantee: Guarantee = request.guarantee
    if not data.only_items or release.info.fixed_items:
        return ()
    shown = set(release.published.vocabulary.labels)
    supports = data.supports()
    rare = np.flatnonzero((supports > 0) & (supports < least_rows(guarantee))).tolist()
    names = [data.vocabulary.labels[item] for item in rare]
    known = request.constrained.union(guarantee.secrets)
    names = [name for name in names if name in shown and name not in known]
    authored = authored_items(tree) if tree is not None and names else frozenset()
    return tuple(name for name in names if name not in authored)


def require_common(rare: tuple[str, ...], report: Mapping[str, Any], *, allowed: bool) -> None:
    """Refuse to write items under their own names that few rows contain, unless that was requested."""
    if not rare or allowed:
        return
    least = least_rows(report["guarantee"])
    command = report.get("command") or "setveil anonymize ..."
    raise RequestError(
        f"{count(len(rare), 'item')} that fewer than {least} rows contain would be published under "
        f"{'its own name' if len(rare) == 1 else 'their own names'}. Expected no such items.",
        hint=faces(
            f"Suppress them, or publish them knowingly:\n    {command} --suppress-below {least}\n"
            f"    {command} --rare-names",
            f"anonymize(..., suppress_below={least}) suppresses them; write(..., rare_names=True) publishes "
            "them.",
        ),
    )


def without_rare(data: Transactions, least: int) -> tuple[Transactions, str]:
    """Suppress the items that fewer rows contain, and say how many these are."""
    if not is_integer(least, 2):
        raise RequestError(f"suppress_below must be an integer of at least 2, got {described(least)}.")
    if not data.only_items:
        raise RequestError(
            f"{faces('--suppress-below', 'suppress_below')} is for rows of items.", hint="Omit it."
        )
    supports = data.supports()
    image = np.where(supports >= least, np.cumsum(supports >= least) - 1, -1).astype(np.int32)
    labels = Vocabulary(x for x, to in zip(data.vocabulary.labels, image.tolist(), strict=True) if to >= 0)
    indptr, items = recode_rows(data.indptr, data.items, image)
    rows = replace(data, indptr=indptr, items=items, vocabulary=labels)
    lost = int(np.count_nonzero((image < 0) & (supports > 0)))
    note = f"{count(lost, 'item')} in fewer than {least} rows suppressed beforehand"
    occurrences = count(data.n_occurrences - rows.n_occurrences, "occurrence")
    return rows, f"{note} ({occurrences}); information loss is that of the other items."
