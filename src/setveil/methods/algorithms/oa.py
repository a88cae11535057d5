"""OA: optimal anonymization by looking at the cuts one by one."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.base.tracing import most
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Flag, Integer
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import VLDB_2008

if TYPE_CHECKING:
    from setveil.base.tracing import Trace
    from setveil.judges.guarantees.km import KmAnonymity
    from setveil.methods.algorithms._cut import Cut
    from setveil.releases.published.recoding import Recoding
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Optimal anonymization (OA)",
    guarantees=("km-anonymity",),
    needs=("hierarchy",),
    summary="Least NCP of all cuts, found by examining them one by one; for tens of items.",
    reference="Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.2, doi:10.14778/1453856.1453874",
    bibtex=VLDB_2008,
)


@dataclass(frozen=True)
class OA(Declared):
    """The algorithm OA (optimal anonymization) and its parameters.

    Attributes
    ----------
    most_cuts : int
        Refuse hierarchies with more cuts than this: the run would never end.
    all_minimal : bool
        List in the details all valid cuts below which no cut is valid: their labels and NCP (`minimal_cuts`).
    count_tree : bool
        Count the nodes of the count-tree that the paper's algorithm would build (`count_tree_nodes` in the
        details).
    refine : bool
        As for the other algorithms, but there is nothing to gain: no node of an optimal cut can be split.

    Examples
    --------
    >>> import setveil as sv
    >>> data = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> sv.anonymize(data, sv.KmAnonymity(2, 1), algorithm=sv.OA(most_cuts=1000)).verdict.holds
    True
    """

    most_cuts: int = parameter(
        Integer(1),
        "Stop with an error if the hierarchy has more cuts (default 2,000,000).",
        default=2_000_000,
    )
    all_minimal: bool = parameter(
        Flag(), "List all minimal valid cuts, each with its NCP, in report.json.", default=False
    )
    count_tree: bool = parameter(
        Flag(), "Count the nodes of the paper's count-tree, which takes long on large data.", default=False
    )
    refine: bool = parameter(
        Flag(), "Split nodes of the final cut again while it stays valid.", default=False
    )


Parameters = OA


def find_cut(
    data: Transactions,
    tree: Hierarchy,
    guarantee: KmAnonymity,
    progress: Progress = silent,
    trace: Trace | None = None,
    all_minimal: bool = False,
) -> tuple[Cut, dict[str, Any]]:
    """Find the k^m-anonymous cut of least NCP: Algorithm 2 of [1].

    Of equally cheap cuts the one with most nodes, then the one whose sorted list of nodes comes first.

    Differences from [1]: all threats (over all cuts) are listed once, and a cut is checked against that list.
    Cuts are bit sets of nodes.

    [1] Terrovitis, Mamoulis, Kalnis, VLDB 2008, section 4.2, doi:10.14778/1453856.1453874
    """
    from setveil.methods.algorithms._cut import Cut

    state = Cut(data, tree)
    threats = _minimal_threats(state, guarantee, data, progress)
    lowest = sum(1 << v for v in range(tree.n_leaves))
    queue = deque([lowest])  # line 2
    queued = {lowest}
    not_minimal: set[int] = set()  # H
    valid: list[int] = []
    best: tuple[int, int, list[int]] | None = None  # line 1
    seen = 0
    while queue:  # line 3
        cut = queue.popleft()  # line 4
        if cut in not_minimal:  # lines 12-13, done late: it was put into H after it had been queued
            continue
        seen += 1
        if seen % 1024 == 0:
            progress(f"{seen:,} cuts looked at")
        above = _immediate_ancestors(cut, tree)
        threat = next((at for at, t in enumerate(threats) if t & cut == t), None)
        if threat is not None:  # line 5
            threats.insert(0, threats.pop(threat))  # it is likely to be in the next cut too
            for up in above:  # lines 6-8
                if up not in queued and up not in not_minimal:
                    queued.add(up)
                    queue.append(up)
        else:
            not_minimal.update(above)  # lines 10-11
            if all_minimal:
                valid.append(cut)
            nodes = _nodes(cut, tree)
            candidate = (sum(state.full[v] for v in nodes), -len(nodes), nodes)
            if best is None or candidate < best:  # lines 14-15
                best = candidate
        if trace is not None:
            _report(trace, state, cut, threats[0] if threat is not None else None, above, best)
    assert best is not None, "the root alone is valid: feasibility was checked"  # noqa: S101
    state.generalize(best[2])
    details: dict[str, Any] = {"cuts_examined": seen}
    if all_minimal:
        details["minimal_cuts"] = [
            {"cut": _labels(cut, tree), "ncp": _cost(cut, state) / state.whole}
            for cut in _minimal(valid, tree)
        ]
    return state, details


def _report(
    trace: Trace,
    state: Cut,
    cut: int,
    threat: int | None,
    above: list[int],
    best: tuple[int, int, list[int]] | None,
) -> None:
    """Write a step: a cut, the threat that makes it invalid or its cost, and the best cut so far."""
    tree = state.tree
    found = {} if threat is None else {"violated": _labels(threat, tree)}
    trace.step(
        cut=_labels(cut, tree),
        **found,
        valid=threat is None,
        cost=_cost(cut, state) / state.whole,
        **most({"cut": _labels(up, tree), "cost": _cost(up, state) / state.whole} for up in above),
        chosen=None if best is None else [tree.labels[v] for v in best[2]],
    )


def _nodes(cut: int, tree: Hierarchy) -> list[int]:
    return [v for v in range(tree.n_nodes) if cut >> v & 1]


def _labels(cut: int, tree: Hierarchy) -> list[str]:
    return [tree.labels[v] for v in _nodes(cut, tree)]


def _cost(cut: int, state: Cut) -> int:
    return sum(state.full[v] for v in _nodes(cut, state.tree))


def _minimal(cuts: list[int], tree: Hierarchy) -> list[int]:
    """Keep the cuts above none of the others."""
    below = [1 << v for v in range(tree.n_nodes)]  # what lies at or under each node
    for v in sorted(range(tree.n_nodes), key=lambda v: -int(tree.depth[v])):
        if tree.parent[v] >= 0:
            below[tree.parent[v]] |= below[v]
    whole = {}
    for cut in cuts:
        under = 0
        for v in _nodes(cut, tree):
            under |= below[v]
        whole[cut] = under
    return [a for a in cuts if not any(b != a and whole[b] & whole[a] == whole[b] for b in cuts)]


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy,
    guarantee: KmAnonymity,
    parameters: OA = OA(),
    progress: Progress = silent,
    trace: Trace | None = None,
) -> tuple[Recoding, dict[str, Any]]:
    """Make the data k^m-anonymous by OA (see `find_cut`).

    Details: how many cuts were looked at (`cuts_examined`); with `all_minimal` the `minimal_cuts`; with
    `count_tree` the nodes of the count-tree (`count_tree_nodes`); with `refine` the labels before and after.
    """
    from setveil.methods.algorithms._count_tree import count_tree_nodes
    from setveil.methods.algorithms._cut import Cut
    from setveil.methods.algorithms._refine import final_recoding

    guarantee.require_feasible(data)
    cuts = count_cuts(hierarchy)
    if cuts > parameters.most_cuts:
        many = f"{cuts:,}" if cuts < 10**15 else f"about 10^{len(str(cuts)) - 1}"
        raise RequestError(
            f"OA looks at cuts one by one, and this hierarchy of {hierarchy.n_leaves:,} items has {many} "
            f"(at most {parameters.most_cuts:,} are allowed).",
            hint="Use --algorithm exact, which proves the same optimum at any size, or --algorithm aa.",
        )
    cut, details = find_cut(data, hierarchy, guarantee, progress, trace, parameters.all_minimal)
    if parameters.count_tree:
        details["count_tree_nodes"] = count_tree_nodes(Cut(data, hierarchy), guarantee.size_limit(data))
    return final_recoding(cut, guarantee, parameters.refine, details, progress)


def count_cuts(tree: Hierarchy) -> int:
    """Count the cuts of a hierarchy.

    >>> from setveil import Hierarchy
    >>> count_cuts(Hierarchy.from_paths([["a1", "A", "*"], ["a2", "A", "*"], ["b", "*"]]))
    3
    """
    counts = [1] * tree.n_nodes
    for v in sorted(range(tree.n_leaves, tree.n_nodes), key=lambda v: -int(tree.depth[v])):
        counts[v] = 1 + prod(counts[child] for child in tree.children(v))
    return counts[tree.root]


def _immediate_ancestors(cut: int, tree: Hierarchy) -> list[int]:
    """Cuts with all children of one node, all of them in the cut, replaced by that node; in item order."""
    out = []
    for v in range(tree.n_leaves, tree.n_nodes):
        children = sum(1 << child for child in tree.children(v))
        if cut & children == children:
            out.append(cut ^ children | 1 << v)
    return out


def _minimal_threats(state: Cut, guarantee: KmAnonymity, data: Transactions, progress: Progress) -> list[int]:
    from setveil.kernels.limits import Limits
    from setveil.methods.algorithms._threats import ThreatWalk

    largest = guarantee.size_limit(data)
    if largest == 0:
        return []
    walk = ThreatWalk(
        state, state.rows(), guarantee.k, 1, largest, state.live, Limits(state.tree.labels, guarantee.m)
    )
    found = []
    while (threat := walk.next_threat(progress, "listing the threats")) is not None:
        found.append(sum(1 << v for v in threat))
    minimal: list[int] = []
    for t in sorted(found, key=int.bit_count):
        if not any(s & t == s for s in minimal):
            minimal.append(t)
    return minimal
