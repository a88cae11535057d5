"""What the algorithm `rt` minimizes, what it may do, and within which limits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from setveil.base.errors import RequestError
from setveil.base.values import kinds
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Choice, ColumnLabels, Flag, Integer, Share

Number = int | float | Fraction | Any  # or a text that says one, such as "1/3"


@dataclass(frozen=True)
class RT(Declared):
    r"""The algorithm `rt` (classes of least loss, with the best items for each) and its parameters.

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
        Allow items to be suppressed in a class, all their occurrences there, next to generalization.
    coarsest : mapping of str to sequence of str
        Labels by column (the items': the name of the column of items): nothing above these is published.
    time_limit : float or None
        Seconds after which the search ends with the best that it has; each size of classes gets an even part.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("ward.csv").write_text("age,codes\n34,I21;J18\n36,I21\n41,J18;J44\n45,J44\n")
    >>> ward = sv.read_table("ward.csv", qi=["age"], set="codes")
    >>> release = sv.anonymize(ward, sv.KKmAnonymity(k=2, m=2), algorithm=sv.RT(share=0.5))
    >>> release.verdict.holds
    True
    """

    share: Number = parameter(
        Share(),
        "Weight of the quasi-identifiers in the loss; the items get the rest (default 1/4).",
        default=0.25,
    )
    search: Literal["sweep", "rt"] | None = parameter(
        Choice(("sweep", "rt")),
        "Classes of several sizes, or parts split by gain (default: the better of both).",
        default=None,
    )
    least: int | None = parameter(
        Integer(2), "Fewest rows of a class, instead of several sizes.", default=None
    )
    delta: Number | None = parameter(
        Share(), "Greatest loss of the quasi-identifiers (R), e.g. 20%.", default=None
    )
    max_item_loss: Number | None = parameter(
        Share(), "Greatest loss of the items (T), e.g. 20%.", default=None
    )
    suppress: bool = parameter(Flag(), "Items may also be suppressed (the default).", default=True)
    coarsest: Mapping[str, Sequence[str]] = parameter(
        ColumnLabels(),
        "File of lines column,label: nothing above these labels is published.",
        default_factory=dict,
    )
    time_limit: float | None = parameter(
        kinds.Number("seconds", positive=True),
        "Stop after this many seconds with the best release so far (default: no limit).",
        default=None,
        study_name="solver_time_limit",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        labels = {column: tuple(some) for column, some in self.coarsest.items()}
        object.__setattr__(self, "coarsest", labels)
        if self.least is not None and self.search is not None:
            raise RequestError(
                "The least size of classes is given, and so there is nothing to search.",
                hint="Omit --least or --search.",
            )
