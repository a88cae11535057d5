"""Disassociation: every item under its own name, but not which items are in the same row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag, Integer
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDB_2012

if TYPE_CHECKING:
    from setveil.judges.guarantees.disassociated import Disassociated
    from setveil.releases.published.chunks import RowChunks
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Disassociation",
    guarantees=("disassociated",),
    needs=(),
    summary="Publishes every item under its own name, but not which items are in the same row: a weaker "
    "guarantee.",
    reference="Terrovitis, Liagouris, Mamoulis, Skiadopoulos, PVLDB 5(10), 2012, sections 3 to 5, "
    "doi:10.14778/2336664.2336668",
    bibtex=VLDB_2012,
    minimizes="re",
    recoding="grouped",
)

_TIMES = 10  # as many rows as a cluster must have, so many it may have where nothing else is said


@dataclass(frozen=True)
class Disassociation(Declared):
    """Disassociation and its parameters.

    Attributes
    ----------
    cluster_size : int or None
        Most rows of a cluster, if the rows can be split. None: ten times the rows that a cluster needs: k, or
        k / rho with sensitive items. At least twice that number, less one.
    refine : bool
        Publish items that are rare in each of several clusters, but not in all together, in chunks that these
        clusters share.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 3 * [["tea", "milk"], ["tea", "rum"], ["milk", "rum"]]
    >>> release = sv.anonymize(rows, sv.Disassociated(k=3, m=2), algorithm=sv.Disassociation(cluster_size=6))
    >>> release.published
    PublishedChunks: 9 rows in 2 clusters, 2 chunks, 0 of them shared
    """

    cluster_size: int | None = parameter(
        Integer(1), "Most rows of a cluster that can be split (default 10 k).", default=None
    )
    refine: bool = parameter(
        Flag(), "Share chunks between clusters, for items that are rare in each (default).", default=True
    )


Parameters = Disassociation


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: Disassociated,
    parameters: Disassociation = Disassociation(),
    progress: Progress = silent,
) -> tuple[RowChunks, dict[str, Any]]:
    """Split rows into clusters, and the items of each into chunks [1].

    Details: the number of `clusters`, `record_chunks` and `shared_chunks`, the `smallest` and `largest`
    cluster, and how many occurrences of sensitive items are `left_out`.

    Differences from [1]: rows are split on an item only if k rows or more are on either side, or everyone
    in a smaller cluster would be found by any single item (`HORPART`). Neighbours in `REFINE` share only
    items that are nowhere else in their clusters, so that k^m-anonymity is enough for a shared chunk, and a
    cluster gives no item away without which its rows might have to be empty. The safe form is setveil's own.

    References
    ----------
    [1] Terrovitis, Liagouris, Mamoulis, Skiadopoulos, "Privacy preservation by disassociation", PVLDB 5(10),
    2012, doi:10.14778/2336664.2336668
    """
    import numpy as np

    from setveil.judges.guarantees.disassociated import RHO
    from setveil.kernels.rows import frozen
    from setveil.methods.algorithms.disassociation._clusters import clusters_of, fill
    from setveil.methods.algorithms.disassociation._refining import shared_chunks
    from setveil.releases.published.chunks import RowChunks

    guarantee.require_feasible(data)
    least, k = guarantee.least, guarantee.k
    limit = _TIMES * least if parameters.cluster_size is None else parameters.cluster_size
    if limit < 2 * least - 1:
        raise RequestError(
            f"--cluster-size is {limit:,}, less than {2 * least - 1:,}: a cluster needs {least:,} rows, and "
            "a larger one is split only if both sides keep this many.",
            hint=f"Give {2 * least - 1:,} or more.",
        )
    m = int(min(guarantee.m, max(data.n_items, 1)))
    named = set(guarantee.sensitive) if guarantee.rho is not None else set()
    secret = np.fromiter((x in named for x in data.vocabulary.labels), bool, data.n_items)
    progress("splitting rows into clusters")
    clusters = clusters_of(data, least, limit, secret, guarantee.rho)
    filled = fill(clusters, k, m, secret, progress)
    made: list[tuple[tuple[int, ...], tuple[int, ...]]] = []
    pairs, place, item = clusters.first_pair.tolist(), filled.place, clusters.item
    for c in range(clusters.number):
        inside = place[pairs[c] : pairs[c + 1]]
        made += [
            ((c,), tuple(item[pairs[c] + np.flatnonzero(inside == chunk)].tolist()))
            for chunk in range(int(filled.chunks[c]))
        ]
    shared = shared_chunks(clusters, filled, k, m, secret, progress) if parameters.refine else []
    cluster = np.full(data.n_rows, -1, np.int64)
    cluster[clusters.rows] = np.repeat(np.arange(clusters.number), clusters.sizes)
    details: dict[str, Any] = {
        "clusters": clusters.number,
        "record_chunks": len(made),
        "shared_chunks": len(shared),
        "smallest": int(clusters.sizes.min(initial=data.n_rows)),
        "largest": int(clusters.sizes.max(initial=0)),
        "left_out": clusters.suppressed.size,
    }
    if guarantee.assumed:
        details["warnings"] = [f"No --rho is given: nothing sensitive is learned with a chance above {RHO}."]
    published = RowChunks(
        k, guarantee.m, frozen(cluster, np.int64), (*made, *shared), frozen(clusters.suppressed, np.int64),
        guarantee.sensitive, guarantee.rho,
    )  # fmt: skip
    return published, details
