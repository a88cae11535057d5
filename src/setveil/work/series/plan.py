"""The cost of each way to publish again, on the user's own rows; nothing is written."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from setveil.base.errors import InfeasibleError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees.verify.series import verify_series
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.series.ledger import Ledger
from setveil.work.series.people import People, merged, require_all_in
from setveil.work.series.state import rows_in_numbers, state_of
from setveil.work.series.ways import (
    FOUND,
    NEEDED,
    NONE,
    RETURNERS,
    Image,
    Next,
    Own,
    SearchSettings,
    Way,
    alone,
    next_of,
    node_of,
    of_labels,
    own_labels,
    searched,
)

REGISTER, APPEND, PLANNED = "register", "append", "planned"
AGAIN = {FOUND: "hold back: found", RETURNERS: "hold back: returners"}


def plan(
    ledger: Ledger,
    new: People,
    tree: Hierarchy,
    *,
    how: SearchSettings | None = None,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Price every way to publish new rows that applies: `people`, `returning`, and the `ways`."""
    tree.locate(new.data.vocabulary)
    everybody = merged(ledger, new)
    ways = []
    is_register = ledger.settings.kind == "register"
    for way, rows in ((REGISTER, everybody), (APPEND, new)):
        if is_register and way == APPEND:
            break
        problem = next_of(ledger, rows, tree, how or SearchSettings(), None, progress)
        progress(f"finding the best labels by themselves ({way})")
        own, before = _by_themselves(problem)
        hold = NONE if way == REGISTER else NEEDED
        progress(f"finding labels ({way})")
        ways.append(_priced(way, before, partial(searched, problem, hold, hold=hold == NEEDED)))
        for back in (FOUND, RETURNERS) if way == APPEND and ledger.releases else ():
            progress(f"finding labels ({AGAIN[back]})")
            ways.append(_priced(AGAIN[back], before, partial(alone, problem, back, own=own)))
    returning = set(new.codes) & {code for name in ledger.names for code in ledger.part(name).people}
    return {"people": len(new.codes), "returning": len(returning), "ways": ways}


def _by_themselves(problem: Next) -> tuple[Own | None, tuple[int | None, int | None]]:
    """Find the best labels of rows by themselves, and whom they would expose; none if there are too few."""
    try:
        own = own_labels(problem)
    except InfeasibleError:
        return None, (None, None)
    return own, _exposed(problem, own[0])


def _exposed(problem: Next, image: Image) -> tuple[int, int]:
    """Count who would be below k, and alone, under the best labels of the new rows by themselves."""
    nodes = np.array([node_of(problem.tree, image.get(item)) for item in problem.state.items], np.int32)
    verdict = verify_series(problem.series(nodes), problem.promise, show=0, progress=problem.progress)
    return verdict.exposed, verdict.unique


def _priced(way: str, before: tuple[int | None, int | None], find: Callable[[], Way]) -> dict[str, Any]:
    entry: dict[str, Any] = {"way": way}
    try:
        found = find()
    except InfeasibleError as error:
        return entry | {"why": error.message, "exposed_before": before[0], "unique_before": before[1]}
    return entry | {
        "lm": found.lm,
        "left_out": found.left_out,
        "occurrences": found.data.n_occurrences,
        "held_back": len(found.held),
        "people": len(found.people),
        "names_kept": found.names_kept,
        "exposed_before": before[0],
        "unique_before": before[1],
        "exposed": 0,
        "proven": found.proven,
        "gap": found.gap,
        "seconds": round(found.seconds, 2),
    }


def together(
    ledger: Ledger,
    several: Sequence[People],
    names: Sequence[str],
    tree: Hierarchy,
    *,
    weights: Sequence[int] | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> list[Way]:
    """Find labels of several unpublished releases that lose least together."""
    from setveil.methods.histories import together as search
    from setveil.rows.data.people import Appearance, SeriesPeople

    if ledger.settings.kind == "register":
        for at, new in enumerate(several[1:]):
            require_all_in(names[at], several[at].codes, several[at].data, new)
    labels = sorted({label for new in several for label in new.data.vocabulary.labels})
    state = state_of([], [code for new in several for code in new.codes], labels)
    nothing = np.full(len(state.items), -1, np.int32)
    releases = []
    for new in several:
        tree.locate(new.data.vocabulary)
        rows = rows_in_numbers(new.codes, new.data, state.number, state.item)
        releases.append(Appearance(*rows, nothing))
    begun = time.perf_counter()
    found = search.plan(
        SeriesPeople(tuple(releases), tuple(state.items), len(state.people)), ledger.promise, tree,
        weights=weights, time_limit=time_limit, progress=progress,
    )  # fmt: skip
    seconds = time.perf_counter() - begun
    ways = []
    for new, one in zip(several, found.releases, strict=True):
        problem = Next(state, new.codes, new.data, tree, ledger.promise, progress=progress)
        way = of_labels(PLANNED, problem, replace(one, proven=found.proven, bound=0.0))
        ways.append(replace(way, gap=found.gap, seconds=seconds))
    return ways


def plan_together(
    ledger: Ledger, several: Sequence[People], names: Sequence[str], tree: Hierarchy, **how: Any
) -> dict[str, Any]:
    """Price releases that are chosen together."""
    ways = together(ledger, several, names, tree, **how)
    return {
        "people": len({code for new in several for code in new.codes}),
        "returning": 0,
        "ways": [
            {**_priced(PLANNED, (None, None), partial(replace, way)), "release": name}
            for name, way in zip(names, ways, strict=True)
        ],
    }
