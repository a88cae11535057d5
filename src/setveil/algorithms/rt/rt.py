"""Classes of quasi-identifiers with the best items for each: as many rows in a class as lose least in all."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, Literal

from setveil.algorithms import AlgorithmInfo
from setveil.errors import RequestError
from setveil.fields import Choice, Declared, Flag, Integer, Share, parameter
from setveil.progress import Progress, silent

if TYPE_CHECKING:
    from setveil.data.relational import Table
    from setveil.guarantees.kkm import KKmAnonymity
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.parts import Parts

__all__ = ["RT", "Parameters", "anonymize", "info"]

Number = int | float | Fraction

info = AlgorithmInfo(
    title="Classes by sweep and gain",
    guarantees=("kkm",),
    needs=("hierarchy",),
    minimizes="lm",
    summary="Classes of the size that loses least in all, each with the proven best items.",
    reference="setveil, docs/rt.md; classes: ICDE 2006, doi:10.1109/ICDE.2006.101; the model: ECML PKDD 2013, "
    "doi:10.1007/978-3-642-40994-3_23",
    recoding="local",
)


def _require_share(what: str, value: Any) -> None:
    number = isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)
    if not number or not 0 <= value <= 1:
        raise RequestError(f"{what} must be 0 to 1, got {value!r}.")


@dataclass(frozen=True)
class RT(Declared):
    """The algorithm `rt` (classes of least loss, with the best items for each) and its parameters.

    Attributes
    ----------
    share : number between 0 and 1
        Share of the quasi-identifiers in the loss f = share * R + (1 - share) * T, where R is their average
        NCP and T the loss of the items, LM.
    search : {"sweep", "rt"} or None
        "sweep" tries Mondrian's classes of at least k, 4k, 16k, ... rows and one class of all; "rt" splits
        that one where f gains most; None takes the better of both.
    least : int or None
        The least number of rows of a class, at least k, in place of the sweep.
    delta : number between 0 and 1, or None
        Greatest R.
    max_item_loss : number between 0 and 1, or None
        Greatest T.
    suppress : bool
        Allow items to be suppressed in a class, all their occurrences there, beside generalization.
    """

    share: Number = parameter(
        Share(),
        "Of the quasi-identifiers in the loss; the rest is the items' (default 1/4).",
        default=Fraction(1, 4),
    )
    search: Literal["sweep", "rt"] | None = parameter(
        Choice(("sweep", "rt")),
        "Classes of several sizes, or parts split by gain (default: the better of both).",
        default=None,
    )
    least: int | None = parameter(
        Integer(2), "Rows that a class has at least, rather than trying several sizes.", default=None
    )
    delta: Number | None = parameter(
        Share(), "Greatest loss of the quasi-identifiers (R), e.g. 20%.", default=None
    )
    max_item_loss: Number | None = parameter(
        Share(), "Greatest loss of the items (T), e.g. 20%.", default=None
    )
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        _require_share("The share", self.share)
        for name, value in (("delta", self.delta), ("max_item_loss", self.max_item_loss)):
            if value is not None:
                _require_share(name, value)
        if self.least is not None and self.search is not None:
            raise RequestError(
                "The least size of classes is given, and so there is nothing to search.",
                hint="Leave out --least or --search.",
            )


Parameters = RT


def anonymize(
    data: Table,
    hierarchy: Hierarchy,
    guarantee: KKmAnonymity,
    parameters: RT = RT(),
    progress: Progress = silent,
) -> tuple[Parts, dict[str, Any]]:
    """Make a table (k,k^m)-anonymous by classes of rows, each with a recoding of its own.

    Returns
    -------
    parts : Parts
    details : dict
        `frontier`: of each partition that was tried `search`, `least`, `classes`, `smallest`,
        `relational_loss`, `transaction_loss`, `suppressed_share`, `f`, and whether it was `chosen`;
        `optimality`: the loss of the items, and what is proven to be the least of any recoding of the items
        of these classes.

    Raises
    ------
    InfeasibleError
        If there are rows, but fewer than k; if no partition keeps within the limits; if fewer than k rows
        hold items and these may not be suppressed.
    HierarchyError
        If items are missing from the hierarchy.
    RequestError
        If classes are asked for that are smaller than k, or larger than the table.

    Notes
    -----
    The sweep: Mondrian with at least k, 4k, 16k, ... rows in a class, up to half of the rows, then one class
    of all. By gain: beginning with all rows, a part is split by the column that brings f down most, of equals
    the first, while one does. The partition of least f is taken, of equals the one of larger classes.
    The items of each class are recoded at the least LM that any cut with suppressed leaves has there.
    """
    from setveil.algorithms.rt._frontier import chosen

    guarantee.require_feasible(data)
    return chosen(data, hierarchy, guarantee, parameters, progress)
