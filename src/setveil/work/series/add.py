"""Add releases to a series: the request, and how their labels are found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, InfeasibleError, RequestError, faces, listed
from setveil.base.progress import Progress, silent
from setveil.base.wording import count
from setveil.report.record import Record
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.folder import require_writable
from setveil.runs.steps import timed
from setveil.work.series.ledger import Ledger, require_free_name
from setveil.work.series.people import People, require_register
from setveil.work.series.plan import PLANNED, plan, together
from setveil.work.series.publish import Chosen, PendingRelease, allowed_counts, made, written
from setveil.work.series.ways import (
    FOUND,
    NEEDED,
    NONE,
    RETURNERS,
    Next,
    SearchSettings,
    Way,
    alone,
    next_of,
    searched,
)


def add_new(
    ledger: Ledger,
    name: str,
    new: People,
    tree: Hierarchy,
    out: Path,
    *,
    hold_back: str | None = None,
    labels_of: str | None = None,
    how: SearchSettings | None = None,
    priced: bool = False,
    counts: bool | int = True,
    writing: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    details: bool = True,
    progress: Progress = silent,
) -> tuple[Ledger, Record]:
    """Publish the next release of a series, and write it with the ledger, or neither.

    `hold_back`: whose rows are withheld: "needed" (default), "found", "returners" or "none"; a register
    withholds nobody. `labels_of`: begin with the labels of an earlier release, and only coarsen them.
    `priced`: also report the loss of the other ways. `writing`: arguments of `VerifiedRelease.write`.
    `record`: additional content of the report, returned as written.
    """
    require_free_name(ledger, name)
    register = ledger.settings.kind == "register"
    if register and hold_back not in (None, NONE):
        raise RequestError(
            "A register withholds nobody: each release must contain everyone of the earlier releases.",
            hint="Omit --hold-back.",
        )
    require_writable(out)
    require_register(ledger, new)
    tree.locate(new.data.vocabulary)
    how = how or SearchSettings()
    chosen = Chosen(hold_back or (NONE if register else NEEDED), labels_of, **asdict(how))
    counted = allowed_counts(ledger, len(ledger.releases), counts)
    start = _start(ledger, labels_of, tree)
    timing: dict[str, float] = {"read": new.data.origin.seconds} if new.data.origin else {}
    progress("finding labels")
    with timed(timing, "anonymize"):
        problem = next_of(ledger, new, tree, how, start, progress)
        way = found_way(problem, chosen.hold_back)
    ways = plan(ledger, new, tree, how=how, progress=progress)["ways"] if priced else ()
    one = made(
        ledger, (), name, way, tree, out, chosen, timing, counts=counted, details=details, progress=progress,
        writing=writing or {}, ways=ways,
    )  # fmt: skip
    progress("writing")
    changed, reports = written(ledger, [one], record or {})
    return changed, reports[0]


def add_together(
    ledger: Ledger,
    several: Sequence[People],
    names: Sequence[str],
    outs: Sequence[Path],
    tree: Hierarchy,
    *,
    weights: Sequence[int] | None = None,
    time_limit: float | None = None,
    counts: bool | int = True,
    writing: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    details: bool = True,
    progress: Progress = silent,
) -> tuple[Ledger, list[Record]]:
    """Publish several releases under labels chosen together, all of them or none (see `add_new`)."""
    if not len(several) == len(names) == len(outs):
        raise RequestError(
            f"Given are {len(several)} releases, {len(names)} names and {len(outs)} folders, expected as "
            "many of each.",
            hint="Such as q1.csv q2.csv --names q1,q2 --out q1,q2.",
        )
    for at, (name, out) in enumerate(zip(names, outs, strict=True)):
        require_free_name(ledger, name)
        require_writable(out)
        if name in names[:at]:
            raise RequestError(f"Two releases are called {name}.", hint="Give each a name of its own.")
        others = [other.absolute() for other in outs[:at]]
        inside = next((other for other in others if _overlap(other, out.absolute())), None)
        if inside is not None:
            raise RequestError(f"{out} and {inside} overlap.", hint="Give each release a folder of its own.")
    chosen = Chosen(PLANNED, None, **asdict(SearchSettings(time_limit=time_limit)))
    found = together(ledger, several, names, tree, weights=weights, time_limit=time_limit, progress=progress)
    ready: list[PendingRelease] = []
    for name, way, out in zip(names, found, outs, strict=True):
        counted = allowed_counts(ledger, len(ready), counts)
        ready.append(
            made(
                ledger, ready, name, way, tree, out, chosen, {}, counts=counted, details=details,
                progress=progress, writing=writing or {},
            )
        )  # fmt: skip
    progress("writing")
    return written(ledger, ready, record or {})


def _overlap(one: Path, other: Path) -> bool:
    return one == other or one in other.parents or other in one.parents


def found_way(problem: Next, hold_back: str) -> Way:
    """Find labels, and whose rows go out, in a way that was named."""
    if hold_back in (FOUND, RETURNERS):
        try:
            return alone(problem, hold_back)
        except InfeasibleError as error:
            error.hint = _nearest(problem)
            raise
    return searched(problem, hold_back, hold=hold_back == NEEDED)


def _nearest(problem: Next) -> str:
    """Name the way that withholds fewest people, or say that none works."""
    try:
        way = searched(problem, NEEDED)
    except InfeasibleError:
        return "Withholding people does not help with these rows. Publish a register, or choose a smaller k."
    held = count(len(way.held), "person", "people")
    return f"{faces('--hold-back needed', 'hold_back=' + repr(NEEDED))} works: it withholds {held}."


def _start(ledger: Ledger, labels_of: str | None, tree: Hierarchy) -> Mapping[str, str | None] | None:
    if labels_of is None:
        return None
    part = ledger.part(labels_of)
    lacking = sorted({x for x in part.image.values() if x is not None and x not in tree})
    if lacking:
        raise DataError(
            f"The hierarchy lacks {count(len(lacking), 'label')} of {labels_of}: {listed(lacking)}.",
            hint="It must be the hierarchy of that release, which may have gained items.",
        )
    start = dict(part.image)
    labels = set(start.values())
    for leaf in tree.labels[: tree.n_leaves]:
        if leaf not in start:
            above = (tree.labels[v] for v in tree.ancestors(tree.id(leaf)))
            start[leaf] = next((label for label in above if label in labels), None)
    return start
