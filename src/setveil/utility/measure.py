"""All measures of a release of rows at once."""

from __future__ import annotations

from typing import Any

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published.recoding import AnyRecoding
from setveil.utility import Case, measured
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
    case = Case(
        original, recoding.kind, published, recoding, hierarchy=hierarchy, queries=queries, progress=progress
    )
    return measured(case)
