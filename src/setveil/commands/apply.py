"""Publish other rows under the labels of an earlier release."""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path

from setveil.base.errors import RequestError, described
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    heard,
    is_path,
    path_of,
    published_rows,
    rows_of,
    tree_of,
)
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.verify import require_guarantee
from setveil.methods.algorithms.exact.exact import Exact
from setveil.releases.published.shared import Shared, read_shared, shared_by
from setveil.runs.run import VerifiedRelease
from setveil.work.past.apply import apply as run_apply
from setveil.work.past.run import past_run
from setveil.work.past.terms import require_applicable

PEOPLE = ("same", "other")


def apply(
    run: str | PathLike[str] | VerifiedRelease,
    data: str | PathLike[str] | object,
    *,
    guarantee: Guarantee | None = None,
    hierarchy: TreeLike = None,
    repair: bool | Exact = False,
    strict: bool = False,
    union: str | PathLike[str] | VerifiedRelease | None = None,
    people: str | None = None,
    seed: int = 0,
    counts: bool | int = True,
    details: bool = False,
    progress: Listener = None,
) -> VerifiedRelease:
    """Publish other rows under the labels of an earlier release, so that the two can be compared.

    An item that the earlier run knows gets the label that it had there, or is left out as there. Another one
    gets the nearest label above it in the hierarchy, which may have gained items; where there is none it is
    suppressed. The new rows are verified by themselves.

    This is for rows of people who are not in the earlier release: then the two together also satisfy the
    guarantee. Two releases of the same people need a series (see docs/series.md).

    Parameters
    ----------
    run : path or VerifiedRelease
        The folder of the earlier run, with what is internal, or the release itself.
    data : path, list of paths, data frame, Arrow stream, list of lists, or Transactions
        The new rows.
    guarantee : KmAnonymity or PrivacyConstraints, optional
        By default what the earlier run guaranteed. It may ask for more, not for less. To be given where the
        earlier run protects itemsets that are named one by one: its record does not hold them.
    hierarchy : Hierarchy, path, dict or data frame, optional
        That of the earlier run, where items were added since. By default the file that it read.
    repair : bool or Exact
        If the guarantee does not hold, coarsen the recoding as little as possible until it does:
        move labels up, or suppress them. The repair minimizes the loss of the earlier algorithm, or of an
        `Exact` with its objective, suppress, gap and time limit. Without a hierarchy, labels are suppressed,
        beginning with those in most violations per occurrence.
    strict : bool
        Refuse items that would be suppressed because the earlier run does not know them.
    union : path or VerifiedRelease, optional
        An earlier release, which may be that of the run: also verify that the rows of both together keep the
        guarantee, for the smaller k and m of the two.
    people : {"same", "other"}, optional
        Where rows have ids, those of both runs are compared as far as their files are still there, and ids
        in both are errors. "same": go on, with a warning; "other": equal ids mean nothing.
    seed : int
        Shuffles the published rows.
    counts : bool or int
        As for `setveil.anonymize`.
    details : bool
        As for `setveil.anonymize`.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    VerifiedRelease
        Its record tells under `applied` what became of unknown items, and what a repair changed.

    Raises
    ------
    InfeasibleError
        If the guarantee does not hold under the earlier recoding, and nothing is to be repaired.
    DataError
        If the folder, the rows or the hierarchy cannot be read or contradict each other, the people are the
        same, nothing of the rows is known, or (`strict`) not all.
    RequestError
        If the recoding of the earlier run cannot be applied to other rows, or an argument is not acceptable.

    Examples
    --------
    >>> import setveil as sv
    >>> drinks = sv.Hierarchy.from_paths(
    ...     [["tea", "hot", "*"], ["coffee", "hot", "*"], ["cocoa", "hot", "*"], ["milk", "cold", "*"]]
    ... )
    >>> rows = [["tea", "milk"], ["coffee", "milk"], ["tea"]]
    >>> january = sv.anonymize(rows, sv.KmAnonymity(k=2, m=2), hierarchy=drinks)
    >>> february = sv.apply(january, [["tea", "milk"], ["cocoa", "milk"], ["tea"]], hierarchy=drinks)
    >>> sorted(february.published)
    [('hot',), ('milk', 'hot'), ('milk', 'hot')]
    """
    listening = heard(progress)
    for name, value in (("strict", strict), ("details", details)):
        if not isinstance(value, bool):
            raise RequestError(f"{name} must be True or False, got {described(value)}.")
    if not isinstance(repair, bool | Exact):
        raise RequestError(
            f"repair must be True, False or an Exact, got {described(repair)}.",
            hint="Such as repair=sv.Exact(suppress=False).",
        )
    if people not in {None, *PEOPLE}:
        raise RequestError(f'people must be "same" or "other", got {described(people)}.')
    if guarantee is not None:
        require_guarantee(guarantee)
    named = run if isinstance(run, VerifiedRelease) else path_of("The earlier run", run)
    earlier = past_run(named, "the earlier run")
    require_applicable(earlier)
    return run_apply(
        earlier, rows_of(data), guarantee=guarantee, hierarchy=tree_of(hierarchy), repair=repair,
        strict=strict, union=None if union is None else _shared(union), people=people, seed=seed,
        counts=counts, details=details, progress=listening,
    )  # fmt: skip


def _shared(release: object) -> tuple[str, Shared]:
    """Take what is shared of a release, and its name."""
    if is_path(release):
        return fspath(release), read_shared(Path(release), published_rows)
    if isinstance(release, VerifiedRelease) and release.release.info.rows_of_items:
        about = {"guarantee": release.report["guarantee"]}
        return "the earlier release", shared_by(release.release, about, release.layout)
    raise RequestError(
        f"union must be a release of single rows or the path of one, got {described(release)}."
    )
