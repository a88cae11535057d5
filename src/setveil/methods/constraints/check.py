"""What can be said of constraints before any run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from setveil.base.progress import Progress, silent
from setveil.base.values.kinds import integer
from setveil.kernels import item_groups as group_kernel
from setveil.kernels import listed_itemsets as list_kernel
from setveil.kernels.rows import distinct_rows, frozen, invert, recode_rows
from setveil.methods.constraints.io import ConstraintsFile
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.outline import FileProblem

STEPS_AT_ONCE = 50_000_000  # steps between two signs of life, a fraction of a second


@dataclass(frozen=True)
class Unreachable:
    """A utility constraint that cannot be met: all its items as one are too rare, and one is protected."""

    line: int | None  # of the file
    items: tuple[str, ...]
    support: int  # rows with any of the items: more than 0, fewer than k


@dataclass(frozen=True)
class PolicyCheck:
    """Findings about a policy; constraints that are unreachable at k need an item suppressed."""

    k: int
    privacy: int  # number of constraints
    utility: int  # number of constraints
    satisfied: int  # privacy constraints that the data satisfy as they are
    protected: int  # items in some privacy constraint
    unmentioned: tuple[str, ...]  # items in no constraint of either kind
    rest: tuple[str, ...]  # items in no utility constraint, together one more; () without such constraints
    unreachable: tuple[Unreachable, ...]
    problems: tuple[tuple[str, FileProblem], ...]  # (file, problem)

    @property
    def fine(self) -> bool:
        """Whether the files can be used, and nothing keeps a utility constraint from being met."""
        return not self.problems and not self.unreachable

    def as_dict(self) -> dict[str, Any]:
        """Return everything as JSON types."""
        return {
            "k": self.k,
            "privacy": {
                "constraints": self.privacy,
                "satisfied": self.satisfied,
                "protected_items": self.protected,
            },
            "utility": {"constraints": self.utility, "items_in_none": list(self.rest)},
            "unmentioned_items": list(self.unmentioned),
            "unreachable": [
                {"line": one.line, "items": list(one.items), "support": one.support}
                for one in self.unreachable
            ],
            "problems": [
                {"file": name, "line": problem.line, "message": problem.message}
                for name, problem in self.problems
            ],
        }


def check_policy(
    data: Transactions,
    k: int,
    privacy: ConstraintsFile,
    utility: ConstraintsFile | None = None,
    progress: Progress = silent,
) -> PolicyCheck:
    """Check constraints against their data, for k > 1; without utility constraints all merges are allowed."""
    integer("k", k, 2)
    labels = data.vocabulary.labels
    protected = {item for items in privacy.itemsets for item in items}
    groups = utility.sets if utility is not None else []
    named = {item for _, items in groups for item in items}
    unreachable: tuple[Unreachable, ...] = ()
    if utility is not None:
        supports = _rows_with(data, [items for _, items in groups])
        unreachable = tuple(
            Unreachable(line, items, support)
            for (line, items), support in zip(groups, supports, strict=True)
            if 0 < support < k and not protected.isdisjoint(items)
        )
    found = [(privacy.name, problem) for problem in privacy.problems]
    if utility is not None:
        found += [(utility.name, problem) for problem in utility.problems]
    return PolicyCheck(
        k=int(k),
        privacy=len(privacy.sets),
        utility=len(groups),
        satisfied=count_satisfied(data, privacy.itemsets, k, progress),
        protected=len(protected),
        unmentioned=tuple(label for label in labels if label not in protected and label not in named),
        rest=tuple(label for label in labels if label not in named) if utility is not None else (),
        unreachable=unreachable,
        problems=tuple(found),
    )


def _rows_with(data: Transactions, groups: Sequence[Sequence[str]]) -> list[int]:
    """Count the rows with any item of each group; an item in two groups counts for the first."""
    image = np.full(data.n_items, -1, np.int32)
    ids = data.vocabulary.ids
    for number, items in enumerate(groups):
        for item in items:
            if item in ids and image[ids[item]] < 0:
                image[ids[item]] = number
    held = recode_rows(data.indptr, data.items, image)[1]
    return [int(count) for count in np.bincount(held, minlength=len(groups))]


def count_satisfied(
    data: Transactions, itemsets: Sequence[Sequence[str]], k: int, progress: Progress = silent
) -> int:
    """Count the itemsets of which no subset has support in (0, k)."""
    n = data.n_items
    rows = distinct_rows(data.indptr, data.items)
    zeros = frozen(np.zeros(n), np.int32)
    state = group_kernel.single_groups(
        rows,
        invert(rows[0], rows[1], n)[:2],
        zeros,
        (frozen([-1], np.int32), frozen([0], np.int32), frozen([1], np.int32)),
        frozen([1], np.int64),
        zeros,
        1,
    )
    listed = list_kernel.list_itemsets(state, data.vocabulary.ids, itemsets)
    p, total = 0, len(itemsets)
    while p < total:
        p = int(list_kernel.count_supports(state, listed, p, k, STEPS_AT_ONCE))
        progress("counting the constraints", p / total)
    satisfied = 0
    for p, support in enumerate(listed.support.tolist()):
        if support == 0:
            items = listed.items[listed.indptr[p] : listed.indptr[p + 1]]
            satisfied += not group_kernel.is_threatened(state, items.copy(), k)
            progress("checking the constraints", p / total)
        else:
            satisfied += support >= k
    return satisfied
