"""All measures of a release at once."""

from __future__ import annotations

from typing import Any

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published.group_files import PublishedGroups
from setveil.published.recoding import AnyRecoding
from setveil.utility.are import Queries, query_errors
from setveil.utility.counts import counts
from setveil.utility.kl import group_by_errors, group_sizes, random_group_bys
from setveil.utility.lm import lm
from setveil.utility.ncp import ncp
from setveil.utility.supports import support_errors
from setveil.utility.ul import hierarchy_weights, ul


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
        `ncp`, `lm`, `ul` (see `setveil.utility.ul`), the counts of `setveil.utility.counts`, the errors of
        `setveil.utility.supports`, and with queries `are` (see `setveil.utility.are`).
    """
    found = {
        "ncp": ncp(original, recoding),
        "lm": lm(original, recoding),
        "ul": ul(original, published, recoding),
        **counts(original, published, recoding),
        **support_errors(original, published, recoding),
    }
    if hierarchy is not None:
        found["ul_weighted"] = ul(original, published, recoding, hierarchy_weights(recoding, hierarchy))
    if queries:
        found["are"] = query_errors(original, published, recoding.members(), queries, progress).as_dict()
    return found


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
        `kl` (see `setveil.utility.kl`), `group_sizes`, and counts: `unchanged_items`, `unchanged_occurrences`
        (quasi-identifiers, published as they are), `sensitive_items`, `sensitive_occurrences` (published as
        counts of groups), `mean_row_length_before`, `mean_row_length_after`.
    """
    asked = random_group_bys(groups, group_by, queries, seed)
    return {
        "kl": group_by_errors(original, groups, asked, progress).as_dict(),
        "group_sizes": group_sizes(groups.sizes),
        "unchanged_items": int((groups.qid.supports() > 0).sum()),
        "unchanged_occurrences": groups.qid.n_occurrences,
        "sensitive_items": len(set(groups.item.tolist())),
        "sensitive_occurrences": int(groups.count.sum()),
        "mean_row_length_before": original.n_occurrences / max(original.n_rows, 1),
        "mean_row_length_after": groups.qid.n_occurrences / max(groups.qid.n_rows, 1),
    }
