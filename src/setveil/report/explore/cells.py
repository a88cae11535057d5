"""The answer of `setveil explore`: a cell for each guarantee of a grid of k and m, and maybe rho."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NotRequired, TypedDict

from setveil.report import words
from setveil.report.record import Null, Number


class ExploredCell(TypedDict):
    """A guarantee, and the release that loses least and keeps it; where there is none, most is missing."""

    k: int
    m: int | Any  # or "inf"
    rho: NotRequired[Number]
    status: str
    error: str
    seconds: float
    loss: float | Null
    made_for: dict[str, object] | Null
    command: str | Null
    own_loss: float | None
    lower_bound: float
    proven: bool | None
    at_most: bool
    gap: float
    front: NotRequired[bool]
    items_kept: int
    occurrences_kept: int
    suppressed_occurrences: int
    hidden_occurrences: int
    greatest_confidence: float | None
    relational_loss: float
    transaction_loss: float
    classes: int
    order: str
    kept: dict[str, float]
    whole: float
    query_error: float | None
    known: int | Any  # "inf" where m is
    unique_rows: float | None
    unique_exact: bool | None


class Explored(TypedDict):
    """The answer of ``explore --json``."""

    objective: str
    weighted: NotRequired[bool]
    share: NotRequired[str]
    parts: NotRequired[list[str]]
    fact_loss: NotRequired[str]
    algorithm: str
    k: list[int]
    m: list[int | str]
    rho: NotRequired[list[Number]]
    sensitive: NotRequired[list[str]]
    knows: NotRequired[str]
    rows: int
    items: int
    occurrences: int
    command: str | Null
    hierarchy: str | None
    inputs: list[str]
    cells: list[ExploredCell]
    stopped: bool
    seconds: float
    made_on: str
    setveil: str


Axes = Mapping[str, Sequence[Any]]  # the values of each parameter

AT_MOST = "<="  # before a loss that is a bound


def has_rho(found: Explored) -> bool:
    """Return whether the guarantees say how likely a sensitive item may become."""
    return "rho" in found


def rhos(found: Explored) -> list[Number] | list[None]:
    """List the values of rho, the greatest first; None alone where there is none."""
    return found.get("rho") or [None]


def at(found: Explored, **wanted: object) -> ExploredCell:
    """Find the cell of a guarantee, by its parameters."""
    return next(
        cell for cell in found["cells"] if all(cell.get(name) == value for name, value in wanted.items())
    )


def promise(guarantee: Mapping[str, object]) -> str:
    """Name a guarantee, by its parameters."""
    return ", ".join(f"{name} = {guarantee[name]}" for name in ("k", "m", "rho") if name in guarantee)


def parameters(cell: ExploredCell) -> dict[str, object]:
    """Return the parameters of the guarantee of a cell."""
    return {"k": cell["k"], "m": cell["m"], **({"rho": cell["rho"]} if "rho" in cell else {})}


def promise_of(cell: ExploredCell) -> str:
    """Name the guarantee of a cell."""
    return promise(parameters(cell))


def is_taken(cell: ExploredCell) -> bool:
    """Return whether the release of a cell was made for a stronger guarantee."""
    made = cell["made_for"]
    return made is not None and made.items() - parameters(cell).items() != set()


def is_bound(cell: ExploredCell) -> bool:
    """Return whether the loss of a cell is only a bound: its search was not finished, so less may do."""
    return cell["loss"] is not None and cell["at_most"]


def loss_text(cell: ExploredCell, mark: str = AT_MOST) -> str:
    """Write the loss of a cell, marked where it is a bound."""
    if cell["loss"] is None:
        return "-"
    return (mark if is_bound(cell) else "") + words.measure(cell["loss"])
