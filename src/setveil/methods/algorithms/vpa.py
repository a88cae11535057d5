"""VPA: vertical partitioning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.progress import Progress, silent
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDBJ_2011

if TYPE_CHECKING:
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.methods.algorithms._cut import Cut
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Vertical partitioning (VPA)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="The greedy generalization of AA, first within each branch below the root, then across them.",
    reference="Terrovitis, Mamoulis, Kalnis, VLDB J. 20(1), 2011, doi:10.1007/s00778-010-0192-8",
    bibtex=VLDBJ_2011,
)


@dataclass(frozen=True)
class VPA:
    """The algorithm VPA (vertical partitioning), which has no parameters.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.VPA()).verdict.holds
    True
    """


Parameters = VPA


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: VPA = VPA(),
    progress: Progress = silent,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by VPA.

    The items are parted by the children of the root, inner nodes with a single child being merged with it.
    Phase one makes each row's items under one child k^m-anonymous, by AA and without going above that child.
    Phase two makes AA's steps once more, on whole rows and from the joined cut, for sets of items of several
    parts.

    Details: the number of parts that hold items (`parts`), and how many steps each phase took
    (`steps_within_parts`, `steps_across_parts`).

    Notes
    -----
    Differences from [1]: phase one is one run of AA, on all pieces of all rows. No set of items of two parts
    lies in one piece, so what is done in one part has no bearing on the others, and the result is that of
    one run for each part. A part that holds items in fewer than k rows is generalized to its child at once.

    References
    ----------
    [1] Terrovitis, Mamoulis, Kalnis, "Local and global recoding methods for anonymizing set-valued data",
    VLDB Journal 20(1), 2011, doi:10.1007/s00778-010-0192-8
    """
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms.aa import find_cut
    from setveil.releases.published.recoding import Recoding

    guarantee.require_feasible(data)
    hierarchy.locate(data.vocabulary)
    cut = Cut(data, hierarchy.merged())
    whole = cut.leaf_rows
    parts = _part_rows(cut, guarantee.k)
    progress("items within each part")
    within = find_cut(cut, guarantee, progress)[1]["generalization_steps"]
    cut.look_at(*whole)
    progress("items across parts")
    across = find_cut(cut, guarantee, progress)[1]["generalization_steps"]
    nodes = [hierarchy.id(cut.tree.labels[v]) for v in cut.nodes()]
    details = {"parts": parts, "steps_within_parts": within, "steps_across_parts": across}
    return Recoding.from_cut(hierarchy, nodes), details


def _part_rows(cut: Cut, k: int) -> int:
    """Part rows by children of the root, without what is rare below one; return how many hold items."""
    import numpy as np

    from setveil.kernels.rows import frozen, recode_rows

    tree = cut.tree
    children = np.array(tree.children(tree.root), np.int64)
    if not children.size:
        return int(cut.leaf_rows[1].size > 0)
    part = np.empty(tree.n_leaves, np.int64)
    for number, child in enumerate(children.tolist()):
        part[tree.under(child)] = number
    indptr, items = cut.leaf_rows
    of_row = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
    pieces, piece = np.unique(of_row * children.size + part[items], return_inverse=True)
    filled = np.bincount(pieces % children.size, minlength=children.size)

    by_piece = np.argsort(piece, kind="stable")
    bounds = np.concatenate(([0], np.cumsum(np.bincount(piece, minlength=pieces.size))))
    small = (filled > 0) & (filled < k)
    image = np.where(small[part], -1, np.arange(tree.n_leaves)).astype(np.int32)
    rows = frozen(bounds, np.int64), frozen(items[by_piece], np.int32)
    cut.look_at(*recode_rows(*rows, image))
    cut.generalize(children[small].tolist())
    return int(np.count_nonzero(filled))
