"""KL divergence: how far group-by queries over a sensitive item are off when only groups are known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.judges.utility import GROUPS, Case, Compared, Measure, StudyColumn
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import invert, take_rows
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.transactions import Transactions

MOST_ITEMS = 16  # a query over r items has 2^r cells

Query = tuple[str, tuple[str, ...]]

_EVERY = 32  # queries between two signs of life


@dataclass(frozen=True, eq=False)
class GroupByErrors:
    """KL divergence of group-by queries."""

    divergence: NDArray[np.float64]  # float64 (queries,): KL(Q), in nats; at least 0
    group_by: int  # number of quasi-identifiers of each query, the greatest if they differ

    @property
    def queries(self) -> int:
        """Number of queries."""
        return self.divergence.size

    @property
    def mean(self) -> float | None:
        """Mean divergence; None without queries."""
        return float(self.divergence.mean()) if self.queries else None

    @property
    def sd(self) -> float | None:
        """Standard deviation over these queries (divided by their number); None without queries."""
        return float(self.divergence.std()) if self.queries else None

    def as_dict(self) -> dict[str, Any]:
        """Summarize: `mean`, `sd`, `queries`, `group_by` (JSON types)."""
        return {"mean": self.mean, "sd": self.sd, "queries": self.queries, "group_by": self.group_by}


def random_group_bys(
    groups: PublishedGroups, group_by: int = 4, queries: int = 1000, seed: int = 0, *, frequent: bool = False
) -> list[Query]:
    """Draw group-by queries: a sensitive item and `group_by` distinct quasi-identifiers that occur.

    There are 1 to 16 quasi-identifiers (all if there are fewer), `frequent` ones in proportion to their
    supports, and no query without sensitive items. A seed means the same on all platforms.
    """
    if not 1 <= group_by <= MOST_ITEMS:
        raise RequestError(f"A query groups by 1 to {MOST_ITEMS} items, got {group_by}.")
    if queries < 1:
        raise RequestError(f"At least one query is needed, got {queries}.")
    supports = groups.qid.supports()
    occurring = np.flatnonzero(supports)
    items = sorted(set(groups.item.tolist()))
    if not items:
        return []
    ends = np.cumsum(supports[occurring] if frequent else np.ones(occurring.size, np.int64))
    raw = np.random.PCG64(seed)
    labels, r = groups.qid.vocabulary.labels, min(group_by, occurring.size)
    out: list[Query] = []
    for _ in range(queries):
        sensitive = groups.sensitive.labels[items[int(raw.random_raw()) % len(items)]]
        chosen: set[int] = set()
        while len(chosen) < r:
            point = int(raw.random_raw()) % int(ends[-1])
            chosen.add(int(occurring[np.searchsorted(ends, point, side="right")]))
        out.append((sensitive, tuple(labels[i] for i in sorted(chosen))))
    return out


def group_by_errors(
    original: Transactions, groups: PublishedGroups, queries: Sequence[Query], progress: Progress = silent
) -> GroupByErrors:
    """Compare exact answers to group-by queries with those estimated from groups.

    A query is over one sensitive item s that occurs and r distinct quasi-identifiers; its 2^r cells are the
    ways in which a row can contain some of these and lack the others. Act(C) is the share of the rows with s
    in cell C. A reader of the release takes every row of a group to contain s with the same probability, so
    Est(C) = sum over groups G of count_s(G) * |G in C| / |G|, divided by the total count of s. The error is
    KL = sum over cells of Act * ln(Act / Est): Ghinita, Tao, Kalnis, "On the Anonymization of Sparse
    High-Dimensional Data", ICDE 2008, section 2, doi:10.1109/ICDE.2008.4497480

    >>> original = Transactions.from_rows([["wine", "HIV"], ["wine"], ["tea"], ["tea"]])
    >>> qid = Transactions.from_rows([["wine"], ["wine"], ["tea"], ["tea"]])
    >>> from setveil.rows.data.vocabulary import Vocabulary
    >>> one = np.array([1])
    >>> groups = PublishedGroups(qid, np.zeros(4, int), Vocabulary(["HIV"]), np.array([0, 1]), one - 1, one)
    >>> group_by_errors(original, groups, [("HIV", ("wine",))]).mean  # Act = 1, Est = 1/2: ln 2
    0.6931471805599453
    """
    before = _Cells(original)
    after = _Cells(groups.qid)
    sizes = groups.sizes
    holder = np.repeat(np.arange(original.n_rows), original.row_lengths())
    of_group = np.repeat(np.arange(groups.n_groups), np.diff(groups.indptr))
    divergence = np.zeros(len(queries), np.float64)
    by_item = sorted(range(len(queries)), key=lambda j: queries[j][0])
    answered = ""
    for done, j in enumerate(by_item):
        if done % _EVERY == 0:
            progress("answering queries", done / len(queries))
        sensitive, items = queries[j]
        if sensitive != answered:  # the queries over a sensitive item follow each other
            answered = sensitive
            if sensitive not in before.ids or sensitive not in groups.sensitive.ids:
                raise DataError(
                    f"A query is over {listed([sensitive])}, which is no sensitive item of the groups that "
                    "occurs in the original."
                )
            holds = np.zeros(original.n_rows)
            holds[holder[original.items == before.ids[sensitive]]] = 1
            before.weigh(holds)
            mine = groups.item == groups.sensitive.ids[sensitive]
            share = np.zeros(groups.n_groups)
            share[of_group[mine]] = groups.count[mine] / sizes[of_group[mine]]
            after.weigh(share[groups.group])
        actual, estimate = before.answer(items), after.answer(items)
        there = actual > 0
        if (estimate[there] == 0).any():
            raise DataError(
                "The groups are not those of this original: no published row looks like one of its rows with "
                f"{listed([sensitive])} on {listed(items)}.",
                hint="Is this the release of another file?",
            )
        divergence[j] = max(0.0, float((actual[there] * np.log(actual[there] / estimate[there])).sum()))
    return GroupByErrors(divergence, max((len(items) for _, items in queries), default=0))


class _Cells:
    """Distinct rows, each with the weight of the rows that it represents."""

    def __init__(self, rows: Transactions) -> None:
        self.ids = rows.vocabulary.ids
        self.distinct, first, _ = merge_rows_by_content(rows.indptr, rows.items)
        self.held_by = invert(*take_rows(rows.indptr, rows.items, first), rows.n_items)[:2]
        self.weights = np.zeros(first.size, np.float64)
        self.cell = np.zeros(first.size, np.int64)

    def weigh(self, per_row: NDArray[np.float64]) -> None:
        self.weights = np.bincount(self.distinct, per_row, self.cell.size) / per_row.sum()

    def answer(self, items: Sequence[str]) -> NDArray[np.float64]:
        unknown = [item for item in items if item not in self.ids]
        if unknown:
            raise DataError(
                f"A query names {listed(unknown)}, which is not in the data.",
                hint="Queries are over items of the original.",
            )
        query = np.array([self.ids[item] for item in items], np.int64)
        from setveil.kernels.cell_weights import cell_weights

        out: NDArray[np.float64] = cell_weights(*self.held_by, self.weights, query, self.cell)
        return out


def group_sizes(sizes: NDArray[np.int64]) -> dict[str, Any]:
    """Summarize the sizes of groups; `distribution` has pairs of a size and a number of groups, ascending."""
    some = sizes.size > 0
    return {
        "groups": sizes.size,
        "smallest": int(sizes.min()) if some else None,
        "median": float(np.median(sizes)) if some else None,
        "mean": float(sizes.mean()) if some else None,
        "largest": int(sizes.max()) if some else None,
        "distribution": [[size, n] for size, n in sorted(Counter(sizes.tolist()).items())],
    }


def _group_by(case: Case) -> dict[str, Any]:
    queries = random_group_bys(case.groups, case.group_by, case.random_queries, case.seed)
    return group_by_errors(case.original, case.groups, queries, case.progress).as_dict()


MEASURES = (
    Measure(
        name="kl",
        title="KL",
        meaning="KL divergence of the estimated from the true distribution of a sensitive item",
        compute=_group_by,
        place=1,
        kinds=GROUPS,
        unit="nats",
        high=None,
        number=lambda found: found.get("mean"),
        reading="compares, among the rows with a sensitive item, how often other items occur with what a "
        "reader of the groups would guess. 0: the guess is right.",
        columns=(StudyColumn("kl_mean", lambda utility: utility.get("kl", {}).get("mean")),),
        compared=(
            Compared(
                "kl",
                "KL divergence",
                "Mean KL divergence of what a reader estimates from the true distribution of a sensitive "
                "item. Less is better.",
                "kl_mean",
                head="KL",
                section="answers",
                decides=True,
                place=7,
            ),
        ),
    ),
    Measure(
        name="group_sizes",
        compute=lambda case: group_sizes(case.groups.sizes),
        place=2,
        kinds=GROUPS,
        unit="rows",
        high=None,
        better="",
        number=lambda found: found.get("mean"),
        columns=(),
    ),
)
