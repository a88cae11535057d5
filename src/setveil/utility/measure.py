"""All measures of a release at once."""

from __future__ import annotations

from typing import Any

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published.group_files import PublishedGroups
from setveil.published.recoding import AnyRecoding
from setveil.utility import GROUPS, Case, measured
from setveil.utility.are import Queries


def measure(
    original: Transactions,
    published: Transactions,
    recoding: AnyRecoding,
    *,
    hierarchy: Hierarchy | None = None,
    queries: Queries = (),
    progress: Progress = silent,
) -> dict[str, Any]:
    """Measure what a release lost.

    Parameters
    ----------
    original, published : Transactions
        The rows before and after; their order does not matter.
    recoding : Recoding or LocalRecoding
        What each item, or each occurrence, of the original became.
    hierarchy : Hierarchy, optional
        Adds `ul_weighted`, UL with labels weighed by the leaves under the lowest node above their items.
    queries : sequence of sequences of str
        COUNT queries over items of the original (see `setveil.utility.queries`).
    progress : Progress
        Hears how far it is.

    Returns
    -------
    dict
        All measures of rows: `ncp`, `lm`, `ul` (see `setveil.utility.ul`), the counts of
        `setveil.utility.counts`, the errors of `setveil.utility.supports`, and with queries `are` (see
        `setveil.utility.are`).
    """
    case = Case(original, published, recoding, hierarchy=hierarchy, queries=queries, progress=progress)
    return measured(case, recoding.kind)


def measure_groups(
    original: Transactions,
    groups: PublishedGroups,
    *,
    group_by: int = 4,
    queries: int = 1000,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Measure what a release in groups lost.

    Parameters
    ----------
    original : Transactions
        The rows before; their order does not matter.
    groups : PublishedGroups
        What is published.
    group_by, queries, seed : int
        Random group-by queries (see `setveil.utility.kl.random_group_bys`).
    progress : Progress
        Hears how far it is.

    Returns
    -------
    dict
        All measures of groups: `kl` (see `setveil.utility.kl`), `group_sizes`, and counts:
        `unchanged_items`, `unchanged_occurrences` (quasi-identifiers, published as they are),
        `sensitive_items`, `sensitive_occurrences` (published as counts of groups), `mean_row_length_before`,
        `mean_row_length_after`.
    """
    case = Case(
        original, groups.qid, groups=groups, group_by=group_by, random_queries=queries, seed=seed,
        progress=progress,
    )  # fmt: skip
    return measured(case, *GROUPS)
