"""The cells of a grid of guarantees: what is found for each, one after the other, while there is time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Protocol

from setveil.base.deadline import Deadline
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.values.numbers import written
from setveil.work.studies.explore.pace import EndingProgress, OutOfTimeError, Pace
from setveil.work.studies.explore.promises import Promise, lower_bounds, lower_envelope, usual_first


@dataclass
class Cell:
    """The guarantee of one k and m (and rho), and the best release that was found for it."""

    k: int
    m: int | float
    # {"done", "infeasible", "refused", "unsearched"}: whether a release was found; "unsearched": time was up
    status: str = "unsearched"
    error: str = ""  # why there is none
    loss: float | None = None  # of its own release
    lower_bound: float = 0.0  # what every release loses at least, as far as its own search proved
    tree: int = 0  # which hierarchy: what is proven of one along one bounds none along another
    # stronger guarantees that the verifier found its release to keep: a greater k at this m (with a smaller
    # rho), a greater m at this k
    keeps: tuple[Promise, Promise] | None = None
    found: dict[str, Any] = field(default_factory=dict)  # what the release is worth (see `_worth`)
    # what of that is something else for this guarantee, where the release of a stronger one is taken that
    # covers more known items
    lent: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0  # that it took
    cut_short: bool = False  # whether its search was ended, in an algorithm that proves nothing of the whole
    recoding: Any = None  # AnyRecoding, Parts of a table, or None: what became of each item
    # with sensitive items: the greatest confidence in one that the release leaves
    learned: Fraction | None = None
    rho: Fraction | None = None  # also of the guarantee, where there are sensitive items

    @property
    def promise(self) -> Promise:
        """The k and m, and rho if there is one."""
        return (self.k, self.m) if self.rho is None else (self.k, self.m, self.rho)

    @classmethod
    def of(cls, promise: Promise) -> Cell:
        """Make the cell of a guarantee that was not looked at."""
        k, m, *rho = promise
        return cls(k, m, rho=rho[0] if rho else None)


class CellProgress(EndingProgress):
    """Passes on the progress of one cell, with its name and how far all are."""

    def __init__(self, deadline: Deadline, cell: Cell, done: int, number: int) -> None:
        super().__init__(deadline)
        self.share = done / number
        rho = "" if cell.rho is None else f", rho={written(cell.rho)}"
        self.name = f"k={cell.k}, m={cell.m}{rho} ({done + 1} of {number})"

    def __call__(self, phase: str, done: float | None = None) -> None:
        """Hear what is done for this cell; how far that is does not matter next to the others."""
        super().__call__(f"{self.name}: {phase}", self.share)


class CellSearch(Protocol):
    """What finds releases: rows, or a table."""

    def look_at(self, cell: Cell, pace: Pace, left: int, hearing: CellProgress) -> None:
        """Find a release for a guarantee, verify and measure it, if the time suffices."""

    def lent(self, cell: Cell, stronger: Cell, hearing: EndingProgress) -> dict[str, Any]:
        """Measure what the release for a stronger guarantee leaves at risk beyond this one."""

    def unknown(self, cell: Cell) -> dict[str, Any]:
        """Name what `lent` measures, without values."""


def look_at_all(
    cells: Mapping[Any, Cell], wanted: Sequence[Any], search: CellSearch, deadline: Deadline
) -> None:
    """Search for the `wanted` guarantees while there is time, and measure what they lend each other.

    The other cells already say why there is no release.
    """
    order, pace, progress = usual_first(wanted), Pace(deadline), deadline.progress
    progress.stoppable = True
    try:
        for done, promise in enumerate(order):
            cell = cells[promise]
            if not pace.has_time(cell.m):
                continue
            try:
                hearing = CellProgress(deadline, cell, done, len(order))
                search.look_at(cell, pace, len(order) - done, hearing)
            except OutOfTimeError:
                break
    finally:
        progress.stoppable = False
    require_one([*cells.values()])
    _lend(cells, search, EndingProgress(deadline))


def _lend(cells: Mapping[Any, Cell], search: CellSearch, hearing: EndingProgress) -> None:
    """Measure releases again for weaker guarantees that take them and cover fewer known items, in time."""
    losses = {promise: cell.loss for promise, cell in cells.items() if cell.loss is not None}
    for promise, stronger in lower_envelope(cells, losses).items():
        if cells[stronger].m != cells[promise].m:
            try:
                hearing.require_time()
                cells[promise].lent = search.lent(cells[promise], cells[stronger], hearing)
            except OutOfTimeError:
                cells[promise].lent = search.unknown(cells[promise])


def require_one(cells: Sequence[Cell]) -> None:
    """Refuse a grid of which nothing can be kept, with the reason of the weakest guarantee that was tried."""
    if any(cell.status == "done" for cell in cells):
        return
    tried = [cell for cell in cells if cell.status != "unsearched"]
    if not tried:
        raise InfeasibleError(
            "No release was found within the time budget.", hint="Raise it, or ask for fewer values."
        )
    kind = InfeasibleError if all(cell.status == "infeasible" for cell in tried) else RequestError
    raise kind(tried[0].error)


def proven_losses(cells: Mapping[Any, Cell]) -> dict[Any, float]:
    """Bound the loss for each guarantee from below, by what was proven along the same hierarchy."""
    bounds: dict[Any, float] = {}
    for tree in {cell.tree for cell in cells.values()}:
        along = {promise: cell for promise, cell in cells.items() if cell.tree == tree}
        found = {promise: cell.lower_bound for promise, cell in along.items() if cell.loss is not None}
        bounds |= lower_bounds(along, found)
    return bounds


def known_beyond(cell: Cell, known: int | None) -> int | None:
    """Say how many items someone knows by whom unique rows are counted; None: any number."""
    return known or (None if isinstance(cell.m, float) else cell.m + 1)


def unmeasured(cell: Cell, known: int | None) -> dict[str, Any]:
    """Name what `setveil.work.studies.worth.unique_rows` tells, without values."""
    size = known_beyond(cell, known)
    return {"known": "inf" if size is None else size, "unique_rows": None, "unique_exact": None}
