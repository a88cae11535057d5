"""Repairs labels until they satisfy the guarantee, and makes them finer again where possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from setveil.base.progress import Progress
from setveil.kernels.rows import Ids
from setveil.methods.histories._forest import LabelForest
from setveil.methods.histories._joined import Joined
from setveil.methods.histories._repair_loops import coarsen, take_back
from setveil.methods.histories._walk import Failing, Walk, options_of_image

ROUNDS = 3  # times that labels are made finer again


def is_safe(joined: Joined, image: Ids) -> bool:
    """Whether an image satisfies the guarantee."""
    found = Walk(joined, options_of_image(image)).failing(joined.promise.m, most=1)
    return next(found, None) is None


def repaired(
    joined: Joined, image: Ids, progress: Progress, is_over: Callable[[], bool] = lambda: False
) -> Ids | None:
    """Coarsen an image until it satisfies the guarantee; None if that was to end early."""
    forest, image = joined.forest, image.copy()
    tree = forest.parent, forest.low, forest.high, forest.order, forest.each, forest.worst, forest.amounts

    def change(walked: tuple[Any, ...], counted: tuple[Any, ...]) -> None:
        coarsen(*walked, *tree, *counted, image)

    return image if _until_safe(joined, image, change, progress, is_over) else None


def begun(joined: Joined, progress: Progress, is_over: Callable[[], bool] = lambda: False) -> Iterator[Ids]:
    """Make images that satisfy the guarantee: of the finest one, of nothing shown, of cuts at depth 1, 2, ...

    Of the finest one in any case; the others if there is time, and the cuts until they lose more again.
    """
    forest = joined.forest
    if (first := repaired(joined, forest.finest(), progress)) is not None:
        yield first
    if not is_over():
        yield np.full(forest.n_leaves, -1, np.int32)
    before = np.inf
    for cut in _cuts(forest):
        image = None if is_over() else repaired(joined, cut, progress, is_over)
        if image is None or forest.cost(image) > before:
            return
        before = forest.cost(image)
        yield image


def refined(
    joined: Joined, image: Ids, progress: Progress, is_over: Callable[[], bool] = lambda: False
) -> Ids:
    """Show nodes and leaves again, broad ones first, and split nodes, while the guarantee holds."""
    forest = joined.forest
    tree = forest.low, forest.high, forest.order, forest.each, forest.worst, forest.amounts
    best = image
    for _ in range(ROUNDS):
        before = best
        for cut in (*_cuts(forest), None):
            trial, safe = _split(forest, best) if cut is None else _shown_again(cut, forest, best), best

            def change(
                walked: tuple[Any, ...], counted: tuple[Any, ...], trial: Ids = trial, safe: Ids = safe
            ) -> None:
                take_back(*walked, *tree, *counted, trial, safe)

            if not np.array_equal(trial, safe) and _until_safe(joined, trial, change, progress, is_over):
                best = trial
        if np.array_equal(before, best) or is_over():
            break
    return best


def _cuts(forest: LabelForest) -> Iterator[Ids]:
    """Make the cuts at depth 1, 2, ... and the finest one."""
    finest, depth = forest.finest(), 0
    while True:
        depth += 1
        cut = forest.at_depth(depth)
        yield cut
        if np.array_equal(cut, finest):
            return


def _shown_again(cut: Ids, forest: LabelForest, image: Ids) -> Ids:
    """Show each node of a cut of which nothing is shown."""
    out = image.copy()
    for v in np.unique(cut[cut >= 0]).tolist():
        below = forest.below(v)
        if (image[below] < 0).all():
            out[below] = v
    return out


def _split(forest: LabelForest, image: Ids) -> Ids:
    """Show each inner node as its children."""
    out = image.copy()
    for v in range(forest.n_nodes):
        up = forest.parent[v]
        if up >= 0:
            below = forest.below(v)
            if image[below[0]] == up:
                out[below] = v
    lost = forest.barred & (out == np.arange(out.size))
    out[lost] = -1
    return out


def _until_safe(
    joined: Joined,
    image: Ids,
    change: Callable[[tuple[Any, ...], tuple[Any, ...]], None],
    progress: Progress,
    is_over: Callable[[], bool],
) -> bool:
    """Change an image until no set of known items fails; False if that was to end early."""
    m = joined.promise.m
    is_free = np.zeros(joined.tokens.shape[1], np.uint8)
    is_free[joined.free] = 1
    some = np.zeros(m * joined.tokens.shape[1] + 1, np.int64)
    leaves = np.zeros(m * joined.tokens.shape[1] + 1, np.int64)
    size, walk = 1, None
    while size <= m:
        walk = walk or Walk(joined, options_of_image(image))
        failed, before = 0, image.copy()
        for failing in walk.failing(size):
            if is_over():
                return False
            progress(f"coarsening what tells too much of {size} known items")
            failed += failing.size
            change(walk_arguments(walk, failing, is_free), (joined.promise.k, *joined.counting, some, leaves))
        if not failed:
            size += 1  # all smaller sets were looked at once more
        elif np.array_equal(before, image):
            return False  # nothing is left to be changed
        else:
            walk = None
    return True


def walk_arguments(walk: Walk, failing: Failing, is_free: Any) -> tuple[Any, ...]:
    """List what compiled loops over failing sets are given."""
    joined = walk.joined
    return (
        failing.classes, failing.rows, walk.classes, walk.needs, is_free, joined.tokens, joined.indptr,
        joined.units, walk.unit_ends, walk.class_of,
    )  # fmt: skip
