"""MM: greedy suppression by minimal moles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.base.tracing import MOST, most
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import KDD_2008

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.coherence import Coherence
    from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions

info = AlgorithmInfo(
    title="Greedy suppression by minimal moles (MM)",
    guarantees=("coherence",),
    needs=(),
    summary="Suppresses public items, first those in the most minimal moles per occurrence lost.",
    reference="Xu, Wang, Fu, Yu, KDD 2008, section 4, doi:10.1145/1401890.1401982",
    bibtex=KDD_2008,
)

NEAR = 1e-9  # scores that differ by a smaller share are compared exactly


@dataclass(frozen=True)
class MM(Declared):
    """The algorithm MM and its parameter.

    Attributes
    ----------
    equal_weights : bool
        All items weigh the same; otherwise the loss of an item is the number of rows that contain it.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.Coherence(0.6, 2, 2, ["tea"]), algorithm=sv.MM()).verdict.holds
    True
    """

    equal_weights: bool = parameter(Flag(), "Let all items weigh the same, not by their rows.", default=False)


Parameters = MM


def choose_items(
    split: PublicPrivateSplit,
    parameters: MM = MM(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[list[tuple[int, str]], dict[str, Any]]:
    """Choose the public items to suppress, as MM does.

    Returns (item, score as text) in the order in which they go, and how many minimal moles there were.

    Differences from [1]: the minimal moles are found depth first, the last item first, so that every subset
    of a set is looked at before the set; the set of them is the same as level by level.

    [1] Xu, Wang, Fu, Yu, "Anonymizing Transaction Databases for Publication", KDD 2008,
    doi:10.1145/1401890.1401982
    """
    import numpy as np

    from setveil.kernels.rows import invert
    from setveil.methods.algorithms._suppressed_items import report_alone

    rare = set(split.rare.tolist())
    order = [
        (v, "support below k" if v in rare else "betrays alone")
        for v in np.union1d(split.rare, split.betraying).tolist()
    ]
    if trace is not None:
        report_alone(trace, split.data, order)
    moles = split.minimal_moles(progress=progress)
    n, support = split.data.n_items, np.maximum(split.support, 1)
    weight = np.ones_like(support) if parameters.equal_weights else support  # IL(e)
    starts, moles_of, _ = invert(moles.indptr, moles.items, n)
    count = np.diff(starts)  # MM(e)
    gone = np.zeros(len(moles), bool)
    left = len(moles)
    while left:
        score = count / weight
        near = np.flatnonzero(score >= score.max() * (1 - NEAR)).tolist()
        v = max(near, key=lambda e: (Fraction(int(count[e]), int(weight[e])), -e))
        order.append((v, str(Fraction(int(count[v]), int(weight[v])))))
        if trace is not None:
            _report(trace, split, moles, gone, count, weight, v)
        lost = moles_of[starts[v] : starts[v + 1]]
        lost = lost[~gone[lost]]
        gone[lost] = True
        left -= lost.size
        sizes = moles.indptr[lost + 1] - moles.indptr[lost]
        ends = np.cumsum(sizes)
        places = np.arange(int(sizes.sum())) + np.repeat(moles.indptr[lost] - (ends - sizes), sizes)
        count = count - np.bincount(moles.items[places], minlength=n)
        progress("suppressing items", 1 - left / len(moles))
    sizes_found = np.bincount(np.diff(moles.indptr), minlength=2).tolist()
    sizes_found[1] = len(rare) + split.betraying.size
    return order, {"minimal_moles": {str(size): m for size, m in enumerate(sizes_found) if m}}


def _report(
    trace: Trace, split: PublicPrivateSplit, moles: Any, gone: Any, count: Any, weight: Any, v: int
) -> None:
    """Write a step: minimal moles that are left, the score of each item in them, and the chosen item."""
    import numpy as np

    labels = split.data.vocabulary.labels
    left = np.flatnonzero(~gone)
    scored = sorted(
        np.flatnonzero(count).tolist(), key=lambda e: (-Fraction(int(count[e]), int(weight[e])), e)
    )
    trace.step(
        moles=left.size,
        violated=[
            [labels[e] for e in moles.items[moles.indptr[i] : moles.indptr[i + 1]].tolist()]
            for i in left[:MOST].tolist()
        ],
        **most(
            {
                "suppress": labels[e],
                "moles": int(count[e]),
                "occurrences": int(split.support[e]),
                "score": int(count[e]) / int(weight[e]),
            }
            for e in scored
        ),
        chosen=labels[v],
    )


def anonymize(
    data: Transactions,
    hierarchy: None,
    guarantee: Coherence,
    parameters: MM = MM(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data coherent by suppressing public items (see `choose_items`).

    Details: what was `suppressed`, in which `order`, and those of `choose_items`.
    """
    from setveil.methods.algorithms._suppressed_items import final_recoding
    from setveil.methods.algorithms.coherence._moles import PublicPrivateSplit

    order, details = choose_items(PublicPrivateSplit(data, guarantee), parameters, progress, trace)
    return final_recoding(data, order, details)
