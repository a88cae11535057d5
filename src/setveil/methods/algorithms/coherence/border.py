"""The border-based algorithm: total suppression that keeps itemsets."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.base.tracing import as_float, most
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag, Integer, Size
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import ICDM_2008

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.coherence import Coherence
    from setveil.methods.algorithms.coherence._borders import Borders
    from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions

info = AlgorithmInfo(
    title="Border-based suppression",
    guarantees=("coherence",),
    needs=(),
    summary="Suppresses public items, first those that remove the most moles per frequent itemset lost.",
    reference="Xu, Fung, Wang, Fu, Pei, ICDM 2008, sections 4-6, doi:10.1109/ICDM.2008.98",
    bibtex=ICDM_2008,
)


@dataclass(frozen=True)
class Border(Declared):
    """The border-based algorithm and its parameters.

    Attributes
    ----------
    k_nugget : int or None
        k', at least 1: an itemset in at least this many rows is a nugget, worth keeping. None: the
        guarantee's k.
    p_nugget : int or float
        p', at least 1: nuggets have at most this many items; `math.inf`: as many as they like.
    as_printed : bool
        Suppress all items in no nugget at once, as the paper's observation 2 says, also those in no mole.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.Coherence(0.6, 2, 2, ["tea"]), algorithm=sv.Border(k_nugget=2)).verdict.holds
    True
    """

    k_nugget: int | None = parameter(
        Integer(1), "Least support of the itemsets to keep (default: k).", default=None
    )
    p_nugget: int | float = parameter(
        Size(), "Most items of the itemsets to keep (or inf, the default).", default=math.inf
    )

    as_printed: bool = parameter(
        Flag(), "Suppress all items in no itemset to keep at once, as the paper prints it.", default=False
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        k, p = self.k_nugget, self.p_nugget
        object.__setattr__(self, "k_nugget", None if k is None else int(k))
        object.__setattr__(self, "p_nugget", math.inf if p == math.inf else int(p))


Parameters = Border


def choose_items(
    split: PublicPrivateSplit,
    parameters: Border = Border(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """Choose the public items to suppress, with scores as text, and count moles and nuggets: figure 2 of [1].

    Differences from [1]: edges are made disjoint while they are found, by branching on one item after the
    other, down to edges in the family or rows few enough for inclusion and exclusion
    (`setveil.kernels.itemset_counts`); counts are the same, and no antichain is computed. Items in k to k' -
    1 rows are in no nugget: those in moles go first, that in most moles before others; other moles and
    nuggets are counted then. [1] suppresses them all, and so does `as_printed`.

    [1] Xu, Fung, Wang, Fu, Pei, ICDM 2008, doi:10.1109/ICDM.2008.98
    """
    import numpy as np

    from setveil.methods.algorithms._suppressed_items import report_alone
    from setveil.methods.algorithms.coherence._borders import Borders

    k_nugget = split.guarantee.k if parameters.k_nugget is None else parameters.k_nugget
    order = [(v, "support below k") for v in split.rare.tolist()]  # observation 2
    if trace is not None:
        report_alone(trace, split.data, order)
    borders = Borders(split, k_nugget, parameters.p_nugget, progress)
    in_none = borders.left[split.support[borders.left] < k_nugget].tolist()
    if parameters.as_printed:
        for v in in_none:
            order.append((v, "in no nugget"))
            if trace is not None:
                _report(trace, split, [], v)
            borders.drop(v)
        in_none = []
    moles = {v: borders.moles_of(v)[0] for v in in_none}
    while any(moles.values()):
        v = max(moles, key=lambda v: (moles[v], -v))
        order.append((v, "inf"))
        if trace is not None:
            _report(trace, split, [(u, moles[u], 0, "inf") for u in moles if moles[u]], v)
        _, beside = borders.moles_of(v)
        borders.drop(v)
        moles = {u: number - beside.get(u, 0) for u, number in moles.items() if u != v}
    borders.count()
    details: dict[str, Any] = {"counted_moles": borders.all_moles, "counted_nuggets": borders.all_nuggets}
    at_first = max(int(np.count_nonzero(borders.moles)), 1)
    while (v_best := borders.best()) is not None:  # lines 2-3
        order.append((v_best, str(borders.score(v_best))))  # line 4
        if trace is not None:
            _report(trace, split, _scores(borders), v_best)
        borders.suppress(v_best)  # line 5
        progress("suppressing items", 1 - int(np.count_nonzero(borders.moles)) / at_first)
    return order, details | {"kept_nuggets": borders.all_nuggets}


def _scores(borders: Borders) -> list[tuple[int, int, int, float]]:
    """List the items in moles with the numbers of their moles and nuggets and their score."""
    import numpy as np

    left = [int(v) for v in np.flatnonzero(borders.moles)]
    return [(v, int(borders.moles[v]), int(borders.nuggets[v]), as_float(borders.score(v))) for v in left]


def _report(
    trace: Trace, split: PublicPrivateSplit, scores: list[tuple[int, int, int, Any]], chosen: int
) -> None:
    """Write a step: the items in moles by their scores, and the chosen item."""
    labels = split.data.vocabulary.labels
    ordered = sorted(scores, key=lambda one: (-float(one[3]), -one[1] if one[3] == "inf" else 0, one[0]))
    trace.step(
        **most(
            {"suppress": labels[v], "moles": moles, "nuggets": nuggets, "score": score}
            for v, moles, nuggets, score in ordered
        ),
        chosen=labels[chosen],
    )


def anonymize(
    data: Transactions,
    hierarchy: None,
    guarantee: Coherence,
    parameters: Border = Border(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data coherent by suppressing public items (see `choose_items`).

    Details: what was `suppressed`, in which `order`, and those of `choose_items`.
    """
    from setveil.methods.algorithms._suppressed_items import final_recoding
    from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit

    order, details = choose_items(PublicPrivateSplit(data, guarantee), parameters, progress, trace)
    return final_recoding(data, order, details)  # line 7
