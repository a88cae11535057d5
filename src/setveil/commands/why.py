"""Say why a label is not split, or an item left out."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from setveil.commands.given import Listener, TreeLike, heard, integer, is_path, rows_of, tree_of
from setveil.data.transactions import Transactions
from setveil.errors import RequestError, described
from setveil.options.reading import DETECTED
from setveil.past.inputs import find_guarantee, find_rows, find_tree, rows_of_run
from setveil.past.run import PastRun, past_run
from setveil.past.why import require_splittable
from setveil.past.why import why as explain
from setveil.progress import Progress
from setveil.report.why import why_text
from setveil.runs.run import VerifiedRelease


def why(
    run: str | PathLike[str] | VerifiedRelease,
    name: str,
    *,
    data: str | PathLike[str] | object = None,
    hierarchy: TreeLike = None,
    show: int = 10,
    progress: Listener = None,
) -> dict[str, Any]:
    """Say why a label is not split, or an item is left out or has no name of its own.

    The label is split, or the item brought back, and the verifier lists what breaks. Then the fewest items
    are found without which nothing would, and the verifier checks that, too. The answer tells of the original
    rows, down to single ones: it must stay inside.

    Parameters
    ----------
    run : path or VerifiedRelease
        The folder of a run, or a release made by `setveil.anonymize`, for k^m-anonymity or constraints.
    name : str
        A published label, an item, or a node of the hierarchy.
    data : path, list of paths, data frame, Arrow stream, list of lists, or Transactions, optional
        The rows that were anonymized; by default the files that the run read, if they are still the same.
    hierarchy : Hierarchy, path, dict or data frame, optional
        The hierarchy of the run, where it came from no file, or the file is elsewhere now.
    show : int
        How many violations of each attempt to list.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil why --json`` prints (see docs/why.md): the `question`, the `tries` with what is to
        blame and what leaving it out, or moving it, would lose, and all of it in words (`text`).

    Raises
    ------
    DataError
        If nothing has this name; if rows or hierarchy are missing, or not those of the run.
    RequestError
        If the run is of a kind in which no label can be split.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["coffee", "milk"], ["tea"], ["coffee"], ["coffee"], ["maté"]]
    >>> paths = [["tea", "hot", "*"], ["coffee", "hot", "*"], ["maté", "hot", "*"], ["milk", "*"]]
    >>> drinks = sv.Hierarchy.from_paths(paths)
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks, algorithm=sv.AA)
    >>> answer = sv.why(release, "hot", data=rows, hierarchy=drinks)
    >>> answer["tries"][0]["leave_out"]["labels"]
    ['maté']
    """
    if not isinstance(name, str) or not name:
        raise RequestError(f"The name must be that of a label or an item, got {described(name)}.")
    most, listening = integer("show", show, 0), heard(progress)
    if not isinstance(run, VerifiedRelease) and not is_path(run):
        raise RequestError(
            f"The run must be its folder or a release made by setveil.anonymize, got {described(run)}."
        )

    def found(recorded: PastRun) -> Transactions:
        return find_rows(recorded, None, DETECTED) if data is None else rows_of_run(recorded, rows_of(data))

    return answered(run, name, found, tree_of(hierarchy), show=most, progress=listening)


def answered(
    run: str | PathLike[str] | VerifiedRelease,
    name: str,
    rows_of_past: Callable[[PastRun], Transactions],
    hierarchy: TreeLike,
    *,
    show: int,
    encoding: str = "utf-8",
    progress: Progress,
) -> dict[str, Any]:
    """Say why, from a run and whatever finds its rows again (see `why`); `encoding`: of files."""
    recorded = past_run(run, "the release")
    require_splittable(recorded)
    progress("reading")
    rows = rows_of_past(recorded)
    tree = find_tree(recorded, rows, hierarchy, encoding)
    guarantee = find_guarantee(recorded, rows, encoding)
    progress("verifying")
    answer = explain(recorded, rows, tree, guarantee, name, show=show, progress=progress)
    return answer | {"text": why_text(answer, show)}
