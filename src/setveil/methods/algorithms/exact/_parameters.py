"""What the exact algorithm minimizes, what it may do, and when it stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from setveil.base.errors import RequestError
from setveil.base.values import kinds
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, Flag, ItemFile, ItemWeights, Share

Number = int | float | Fraction | Any  # or a text that says one, such as "1/3"
MOST_WEIGHT = 10**12  # beyond, the solver's floating-point numbers would not tell the others apart


@dataclass(frozen=True)
class Exact(Declared):
    """The algorithm `exact` (proven optimum) and its parameters.

    Attributes
    ----------
    objective : {"ncp", "lm", "items", "entropy", "entropy-max"} or None
        Loss to minimize; None: LM with suppression, NCP without. "items": LM, but every item counts once, in
        however many rows it is. The last two are for releases with the supports of items next to them (see
        docs/exact.md).
    suppress : bool
        Allow items to be suppressed, all their occurrences, next to generalization.
    max_suppressed : number between 0 and 1, or None
        Greatest share of the item occurrences that may be suppressed.
    keep : sequence of str
        Items that must be published as themselves.
    weights : mapping of str to number
        Importance of items, 0 or from 1e-12 to 1e12, that multiplies their loss; 1 where not given.
    hide : {"occurrences", "items"} or None
        Where there are sensitive items: suppress them in some of their rows, or wholly. None: occurrences,
        unless attackers may know sensitive items; then only whole items can be suppressed.
    gap : number
        Stop when the loss is proven to be at most this share above the least possible, 0 (proven least) or
        more.
    time_limit : float or None
        Seconds after which the best release so far is returned with its proven gap; None: 300.
    certificate : bool
        Also prove the bound in integers, for k^m-anonymity: the run's folder gets a certificate inside, and
        a small program that checks it (see docs/exact.md).

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> proven = sv.Exact(suppress=False, keep=["tea"])
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=proven).verdict.holds
    True
    """

    objective: Literal["ncp", "lm", "items", "entropy", "entropy-max"] | None = parameter(
        Choice(("ncp", "lm", "items", "entropy", "entropy-max")),
        "Loss to minimize (default: lm with suppression, else ncp).",
        default=None,
    )
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)
    max_suppressed: Number | None = parameter(
        Share(), "Greatest share of occurrences to suppress, such as 5%.", default=None
    )
    keep: Sequence[str] = parameter(ItemFile(), "File of items that must stay unchanged.", default=())
    weights: Mapping[str, Number] = parameter(
        ItemWeights(),
        "File of lines item,number; the number multiplies the item's loss.",
        default_factory=dict,
    )
    hide: Literal["occurrences", "items"] | None = parameter(
        Choice(("occurrences", "items")),
        "Suppress sensitive items in some rows (default if they are not known), or in all.",
        default=None,
    )
    gap: Number = parameter(
        kinds.Number(),
        "Stop within this distance from the optimum, such as 0.01 (1%).",
        default=0,
        study_name="solver_gap",
    )
    time_limit: float | None = parameter(
        kinds.Number("seconds", positive=True),
        "Stop after this many seconds with the best release so far (default 300).",
        default=None,
        study_name="solver_time_limit",
    )
    certificate: bool = parameter(
        Flag(), "Write a proof of the bound and a program that checks it (k^m-anonymity).", default=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_suppressed is not None and not self.suppress:
            raise RequestError("A limit for suppression makes no sense where nothing may be suppressed.")
        for item, weight in self.weights.items():
            if kinds.Number().accepts(weight) or (weight and not 1 <= weight * MOST_WEIGHT <= MOST_WEIGHT**2):
                allowed = f"0, or from {1 / MOST_WEIGHT:g} to {MOST_WEIGHT:g}"
                raise RequestError(f"The weight of {item!r} must be {allowed}, got {weight!r}.")
        object.__setattr__(self, "keep", tuple(self.keep))

    @property
    def loss(self) -> str:
        """Name of the loss that is minimized."""
        return self.objective or ("lm" if self.suppress else "ncp")


Parameters = Exact
