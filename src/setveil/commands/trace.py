"""Read the steps of a search, and draw them."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import RequestError, described
from setveil.base.staging import write_page
from setveil.base.tracing import read_trace, require_internal
from setveil.commands.arguments import is_path
from setveil.report.trace import trace_html


def trace(file: str | PathLike[str], *, out: str | PathLike[str] | None = None) -> dict[str, Any]:
    """Read a trace that `anonymize` wrote, and draw its steps as a page.

    Parameters
    ----------
    file : path
        What ``anonymize(..., trace=file)`` wrote.
    out : path, optional
        The page to write (.html). It describes original data and must not be shared.

    Returns
    -------
    dict
        The algorithm, the guarantee, the parent of each node of the hierarchy, and the `steps`.

    Raises
    ------
    DataError
        If the file cannot be read or is not a trace.
    RequestError
        If the page would be in a published folder.

    Examples
    --------
    >>> import setveil as sv
    >>> import tempfile
    >>> rows = [["a1", "b1", "b2"], ["a2", "b1"], ["a2", "b1", "b2"], ["a1", "a2", "b2"]]
    >>> tree = {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "all", "B": "all", "all": None}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     release = sv.anonymize(rows, k=2, m=2, hierarchy=tree, algorithm=sv.AA, trace=f"{folder}/t")
    ...     [step["chosen"] for step in sv.trace(f"{folder}/t")["steps"]]
    [['A']]
    """
    for name, value in (("file", file), ("out", out)):
        if value is not None and not is_path(value):
            raise RequestError(f"{name} must be a path, got {described(value)}.")
    first, steps = read_trace(Path(file))
    if out is not None:
        require_internal(Path(out))
        write_page(Path(out), trace_html(first, steps))
    return {**first, "steps": steps}
