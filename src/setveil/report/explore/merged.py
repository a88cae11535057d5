"""Several explorations of the same data, put together."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from setveil.report.explore.cells import Explored, ExploredCell


def merged(parts: Sequence[Explored]) -> list[ExploredCell]:
    """Combine the cells of explorations of the same data, by the same algorithm, with the same values of rho.

    For each guarantee, by m, then by k, the cell that says most counts, a loss before a bound and less before
    more. If a release for a stronger guarantee loses less, its loss is the bound, and other figures are
    omitted.
    """
    best: dict[tuple[float, int], ExploredCell] = {}
    for cell in (cell for part in parts for cell in part["cells"]):
        place = _strength(cell)
        if place not in best or _rank(cell) < _rank(best[place]):
            best[place] = cell
    return [_bounded(best[place], best.values()) for place in sorted(best)]


def bound_for(k: int, m: int | str, cells: Iterable[ExploredCell]) -> ExploredCell | None:
    """Find the cell of least loss whose guarantee is as strong as another one, or None."""
    place = _strength({"k": k, "m": m})
    stronger = [cell for cell in cells if cell["loss"] is not None and _is_at_least(_strength(cell), place)]
    return min(stronger, key=lambda cell: cell["loss"], default=None)


def _bounded(cell: ExploredCell, cells: Iterable[ExploredCell]) -> ExploredCell:
    """Take the loss for a stronger guarantee as a bound where that is less, or there is no other."""
    other, own = bound_for(cell["k"], cell["m"], cells), cell["loss"]
    if other is None or cell["error"] or (own is not None and (own <= other["loss"] or cell["proven"])):
        return cell
    borrowed: ExploredCell = {
        "k": cell["k"], "m": cell["m"], "status": cell["status"], "error": cell["error"],
        "seconds": cell["seconds"], "loss": other["loss"], "made_for": other["made_for"],
        "command": other["command"], "proven": None, "at_most": True,
    }  # type: ignore[typeddict-item]  # fmt: skip
    return borrowed


def _strength(cell: object) -> tuple[float, int]:
    k, m = cell["k"], cell["m"]  # type: ignore[index]
    return (math.inf if m == "inf" else int(m), int(k))


def _is_at_least(strong: tuple[float, int], weak: tuple[float, int]) -> bool:
    return strong[0] >= weak[0] and strong[1] >= weak[1]


def _rank(cell: ExploredCell) -> tuple[bool, bool, float]:
    """Rank a cell: infeasible is known, too."""
    if cell["loss"] is None:
        return (cell["status"] == "unsearched", False, 0.0)
    return (False, cell["at_most"], cell["loss"])
