"""The request of classes, and what each is recoded by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from setveil.base.values import kinds
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, Integer, ItemFile, ItemWeights, Share, UpTo
from setveil.methods.algorithms.exact._parameters import Exact, Number


@dataclass(frozen=True)
class Classes(Declared):
    """Rows in classes, each recoded by `exact`, and its parameters.

    Attributes
    ----------
    classes : int, True or None
        At most this many classes; True or None: as many as make answers better.
    class_size : int or None
        Rows that each class has at least, from 2 k to half of the rows. None: 20 k, at least 100. Cuts that
        do not make answers better are taken back.
    class_gain : number
        A cut must settle this share of what is open of the items of all rows; 0: anything.
    not_split : sequence of str
        Items on which no class is cut: those that must not become certain of all rows of a class.
    objective : {"ncp", "lm", "entropy", "entropy-max"} or None
        Loss to minimize in each class; None: "entropy-max", and "lm" where items are sensitive.
    max_suppressed : number between 0 and 1, or None
        Greatest share of the item occurrences of a class that may be suppressed.
    keep : sequence of str
        Items that must be published as themselves in every class.
    weights : mapping of str to number
        Importance of items (see `Exact`).
    hide : {"occurrences", "items"} or None
        How sensitive items are suppressed (see `Exact`).
    gap : number
        Stop in a class when the loss is proven to be at most this share above the least possible.
    time_limit : float or None
        Seconds for all classes together; None: 300.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 9 * [["tea", "scone"], ["tea", "honey"], ["beer", "crisps"], ["beer", "nuts"]]
    >>> rows += [["tea", "crisps"], ["tea", "nuts"], ["beer", "honey"], ["beer", "scone"]]
    >>> asked = sv.Classes(classes=2, class_size=20)
    >>> two = sv.anonymize(rows, sv.KmAnonymity(k=3, m=2), algorithm=asked)
    >>> two.release.published.sizes.tolist()
    [20, 20]
    """

    classes: int | bool | None = parameter(
        UpTo(),
        "Split the rows into at most N published classes and recode each separately.",
        default=None,
    )
    class_size: int | None = parameter(
        Integer(2), "Fewest rows of a class (default: 20 k, at least 100).", default=None
    )
    class_gain: Number = parameter(
        kinds.Number(), "Least gain of a cut, as a share of the entropy of the items (default 0).", default=0
    )
    not_split: Sequence[str] = parameter(ItemFile(), "File of items that must not split classes.", default=())
    objective: Literal["ncp", "lm", "entropy", "entropy-max"] | None = parameter(
        Choice(("ncp", "lm", "entropy", "entropy-max")),
        "Loss to minimize in each class (default: entropy-max).",
        default=None,
    )
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

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "keep", tuple(self.keep))
        object.__setattr__(self, "not_split", tuple(self.not_split))
        self.exact("entropy-max")  # which refuses weights that cannot be

    def exact(self, usual: Any, seconds: float | None = None) -> Exact:
        """Make the parameters of a class; `usual`: the objective where none is named."""
        return Exact(
            objective=self.objective or usual,
            max_suppressed=self.max_suppressed,
            keep=self.keep,
            weights=self.weights,
            hide=self.hide,
            gap=self.gap,
            time_limit=self.time_limit if seconds is None else max(seconds, 0.01),
        )


Parameters = Classes
