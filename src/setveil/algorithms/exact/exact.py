"""The proven optimum: the least loss that a cut, with or without suppressed items, can have."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any

from setveil import fields
from setveil.algorithms import AlgorithmInfo
from setveil.errors import RequestError
from setveil.fields import Choice, Flag, ItemFile, ItemWeights, Share, parameter
from setveil.progress import Progress, silent

if TYPE_CHECKING:
    from setveil.data.transactions import Transactions
    from setveil.guarantees.km import KmAnonymity
    from setveil.hierarchy.tree import Hierarchy
    from setveil.published.rows import Release

info = AlgorithmInfo(
    title="Exact optimum",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Least loss of all cuts, by default with suppressed items, proven by an integer program.",
    reference="setveil, docs/exact.md; the model: VLDB 2008, section 3, doi:10.14778/1453856.1453874",
)

Number = int | float | Fraction


@dataclass(frozen=True)
class Parameters:
    """Parameters of the exact algorithm.

    Attributes
    ----------
    objective : {"ncp", "lm"} or None
        Loss to minimize; None: LM with suppression, NCP without.
    suppress : bool
        Allow items to be suppressed, all their occurrences, beside generalization.
    max_suppressed : number between 0 and 1, or None
        Greatest share of the item occurrences that may be suppressed.
    keep : tuple of str
        Items that must be published as themselves.
    weights : mapping of str to number
        Importance of items, at least 0, that multiplies their loss; 1 where not given.
    gap : number
        Stop when the loss is proven to be at most this share above the least possible, 0 (proven least) or
        more.
    time_limit : float or None
        Seconds after which the best release so far is returned with its proven gap; None: 300.
    """

    objective: str | None = parameter(
        Choice(("ncp", "lm")), "Minimize ncp or lm (default: lm with suppression, else ncp).", default=None
    )
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)
    max_suppressed: Number | None = parameter(Share(), "Of all occurrences, at most e.g. 5%.", default=None)
    keep: tuple[str, ...] = parameter(ItemFile(), "File of items to publish as themselves.", default=())
    weights: Mapping[str, Number] = parameter(
        ItemWeights(),
        "File of lines item,number; the number multiplies the item's loss.",
        default_factory=dict,
    )
    gap: Number = parameter(
        fields.Number(),
        "Stop at 0.01 (1 per cent) from the optimum, say.",
        default=0,
        study_name="solver_gap",
    )
    time_limit: float | None = parameter(
        fields.Number("seconds", positive=True),
        "Seconds, then the best so far (default 300).",
        default=None,
        study_name="solver_time_limit",
    )

    def __post_init__(self) -> None:
        if self.objective not in (None, "ncp", "lm"):
            raise RequestError(f"The objective must be ncp or lm, got {self.objective!r}.")
        if self.max_suppressed is not None:
            _require("The share that may be suppressed", self.max_suppressed, "0 to 1", lambda x: 0 <= x <= 1)
            if not self.suppress:
                raise RequestError("A limit for suppression makes no sense where nothing may be suppressed.")
        _require("The gap", self.gap, "at least 0", lambda x: x >= 0)
        if self.time_limit is not None:
            _require("The time limit", self.time_limit, "a positive number of seconds", lambda x: x > 0)
        for item, weight in self.weights.items():
            _require(f"The weight of {item!r}", weight, "at least 0", lambda x: x >= 0)
        object.__setattr__(self, "keep", tuple(self.keep))

    @property
    def loss(self) -> str:
        """Name of the loss that is minimized."""
        return self.objective or ("lm" if self.suppress else "ncp")


def _require(what: str, value: Any, allowed: str, is_allowed: Callable[[Any], bool]) -> None:
    if isinstance(value, bool) or not isinstance(value, Real) or not isfinite(value) or not is_allowed(value):
        raise RequestError(f"{what} must be {allowed}, got {value!r}.")


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Parameters = Parameters(),
    seed: int = 0,
    progress: Progress = silent,
) -> Release:
    """Make the data k^m-anonymous with the least possible loss.

    Parameters
    ----------
    data : Transactions
        The rows.
    hierarchy : Hierarchy
        Every item must be one of its leaves.
    guarantee : KmAnonymity
        k and m.
    parameters : Parameters
        What to minimize, what is allowed, when to stop.
    seed : int
        Shuffles the published rows; the recoding does not depend on it.
    progress : Progress
        Hears how far it is; if it requests a stop, the best release so far is returned.

    Returns
    -------
    Release
        Its details hold `optimality`: the loss, the proven lower bound, the gap.

    Raises
    ------
    InfeasibleError
        If there are non-empty rows, but fewer than k; if items to keep cannot be kept; if less than the least
        necessary may be suppressed.
    HierarchyError
        If items are missing from the hierarchy.
    RequestError
        If an item to keep or to weigh does not exist.
    """
    from setveil.algorithms.exact._search import Search
    from setveil.published.recoding import Recoding
    from setveil.published.rows import Release

    guarantee.require_feasible(data)
    search = Search(data, hierarchy, guarantee, parameters, progress)
    optimality = search.run()
    nodes, suppressed = search.published()
    names = [hierarchy.labels[v] for v in suppressed]
    recoding = Recoding.from_cut(hierarchy, nodes, suppressed)
    return Release.make(data, recoding, seed, {"optimality": optimality, "suppressed": names})


def bound(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: Parameters,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Find the least possible loss without making a release: the `optimality` of `anonymize`."""
    from setveil.algorithms.exact._search import Search

    return Search(data, hierarchy, guarantee, parameters, progress).run()
