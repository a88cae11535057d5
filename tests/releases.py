"""Releases as a run makes them: what an algorithm found is published by a seed."""

from __future__ import annotations

from typing import Any

from setveil.data.transactions import Transactions
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published import Release, publish


def released(
    module: Any,
    data: Transactions,
    tree: Hierarchy | None,
    guarantee: Any,
    parameters: Any = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Release:
    """Run the module of an algorithm, by default with its own defaults, and publish what it returns."""
    terms = module.Parameters() if parameters is None else parameters
    recoding, details = module.anonymize(data, tree, guarantee, terms, progress)
    return publish(data, recoding, seed, details)
