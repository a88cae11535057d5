"""What the algorithm `forest` minimizes, what it may do, and when it stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from setveil.base.values import kinds
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, ColumnLabels, Flag, Share

Number = int | float | Fraction | Any  # or a text that says one, such as "1/3"


@dataclass(frozen=True)
class Forest(Declared):
    r"""The algorithm `forest` (proven optimum of one recoding for the whole table) and its parameters.

    Attributes
    ----------
    share : number between 0 and 1
        Share of the quasi-identifiers in the loss: share * R + (1 - share) * T, where R is their average NCP
        and T the loss of the items.
    objective : {"ncp", "lm"} or None
        Loss of the items; None: LM with suppression, NCP without.
    suppress : bool
        Allow items to be suppressed, all their occurrences, next to generalization.
    coarsest : mapping of str to sequence of str
        Labels by column (the items': the name of the column of items): nothing above these is published.
    gap : number
        Stop when the loss is proven to be at most this share above the least possible, 0 (proven least) or
        more.
    time_limit : float or None
        Seconds after which the best release so far is returned with its proven gap; None: 300.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("ward.csv").write_text("age,codes\n34,I21;J18\n36,I21\n41,J18;J44\n45,J44\n")
    >>> ward = sv.read_table("ward.csv", qi=["age"], set="codes")
    >>> release = sv.anonymize(ward, sv.KKmAnonymity(k=2, m=2), algorithm=sv.Forest())
    >>> release.verdict.holds
    True
    """

    share: Number = parameter(
        Share(),
        "Weight of the quasi-identifiers in the loss; the items get the rest (default 1/4).",
        default=0.25,
    )
    objective: Literal["ncp", "lm"] | None = parameter(
        Choice(("ncp", "lm")),
        "Loss of the items (default: lm with suppression, else ncp).",
        default=None,
    )
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)
    coarsest: Mapping[str, Sequence[str]] = parameter(
        ColumnLabels(),
        "File of lines column,label: nothing above these labels is published.",
        default_factory=dict,
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
        labels = {column: tuple(some) for column, some in self.coarsest.items()}
        object.__setattr__(self, "coarsest", labels)

    @property
    def of_items(self) -> str:
        """Name of the loss of the items."""
        return self.objective or ("lm" if self.suppress else "ncp")
