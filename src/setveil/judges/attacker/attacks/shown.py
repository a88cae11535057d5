"""The material of an attacker: published rows, the items of their labels, and people's items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from setveil.base.threads import each
from setveil.judges.attacker.attacks._loops import best_guesses, count_fitting
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import Ids, Ints, frozen, holders, item_supports, merge_rows, recode_rows, take_rows
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

AT_ONCE = 256  # queries that a thread answers at a time

# How likely a row that shows a label holds one of its items, and one that is known to hold another of them.
Share = tuple[float, float]


@dataclass(frozen=True, eq=False)
class AttackedPeople:
    """Some people's items, in the numbers of the items that a release and all people name."""

    indptr: Ints
    items: Ids

    @property
    def number(self) -> int:
        """Their number."""
        return self.indptr.size - 1

    @cached_property
    def lengths(self) -> Ints:
        """Items of each."""
        return frozen(np.diff(self.indptr), np.int64)

    def some(self, chosen: Ints) -> AttackedPeople:
        """Take some of them."""
        return AttackedPeople(*take_rows(self.indptr, self.items, chosen))

    def without(self, hidden: NDArray[np.bool_]) -> AttackedPeople:
        """Suppress the `hidden` items, bool (items,)."""
        image = np.where(hidden, -1, np.arange(hidden.size)).astype(np.int32)
        return AttackedPeople(*recode_rows(self.indptr, self.items, image)) if hidden.any() else self

    def holds(self, person: Ints, item: Ids, n_items: int) -> NDArray[np.bool_]:
        """Return whether each of some people has the item next to it; -1: no item."""
        owner = np.repeat(np.arange(self.number), self.lengths)
        keys = owner * n_items + self.items  # ascending
        wanted = person * n_items + item
        at = np.minimum(np.searchsorted(keys, wanted), max(keys.size - 1, 0))
        return (item >= 0) & (keys[at] == wanted) if keys.size else np.zeros(person.size, np.bool_)


@dataclass(frozen=True, eq=False)
class Indexed:
    """Distinct rows, and the rows of each label."""

    # group: int64 (rows,): which distinct row each is; first: int64 (n,): a row of each
    group: Ints
    first: Ints
    # indptr, items, weights: the distinct rows, and how many each stands for
    indptr: Ints
    items: Ids
    weights: Ints
    # starts, tidlists: the rows of each label
    starts: Ints
    tidlists: Ids

    @classmethod
    def of(cls, indptr: Ints, items: Ids, n_labels: int) -> Indexed:
        """Merge equal rows."""
        group, first, weights = merge_rows_by_content(indptr, items)
        rows = take_rows(indptr, items, first)
        return cls(group, first, *rows, frozen(weights, np.int64), *holders(*rows, n_labels))

    @cached_property
    def supports(self) -> Ints:
        """Rows that hold each label."""
        n = self.starts.size - 1
        return frozen(item_supports(self.indptr, self.items, self.weights, n), np.int64)

    def counted(self, queries: Queries, need_ptr: Ints, needs: Ids) -> tuple[Ints, Ints]:
        """Count the rows that fit each query; also name one of them, -1 if there is none."""
        total, one = np.zeros(queries.number, np.int64), np.full(queries.number, -1, np.int64)

        def answer(first: int) -> None:
            count_fitting(
                self.starts, self.tidlists, self.indptr, self.items, self.weights, need_ptr, needs,
                queries.indptr, queries.needs, first, min(first + AT_ONCE, queries.number), total, one,
            )  # fmt: skip

        each(answer, range(0, queries.number, AT_ONCE))
        return total[queries.group], one[queries.group]


@dataclass(frozen=True, eq=False)
class Queries:
    """Sets of needs, each once."""

    group: Ints  # which of them is asked for, each time
    indptr: Ints
    needs: Ids

    @classmethod
    def of(cls, owner: Ints, need: Ids, number: int) -> Queries:
        """Collect the needs of this many questions: pairs of a question and a need, in any order."""
        keys = np.unique(owner * (int(need.max(initial=0)) + 1) + need)
        owner, need = np.divmod(keys, int(need.max(initial=0)) + 1)
        indptr = np.concatenate(([0], np.cumsum(np.bincount(owner, minlength=number))))
        queries = frozen(indptr, np.int64), frozen(need, np.int32)
        group, first, _ = merge_rows(*queries)
        return cls(group, *take_rows(*queries, first))

    @property
    def number(self) -> int:
        """Their number."""
        return self.indptr.size - 1


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Published rows and what their labels may represent.

    A row *may have* an item if it shows a label of it. Items under the same labels are a *need* (see
    `_loops.py`); items that no row shows have none.
    """

    rows: Indexed  # without secret labels, which nobody knows
    whole: Indexed  # with them, as the same distinct rows if there are none
    n_rows: int
    labels: tuple[str, ...]
    items: tuple[str, ...]  # those that labels stand for or people hold, in item order
    # member_ptr, members: the items that each label stands for
    member_ptr: Ints
    members: Ids
    # shares, more: of each of them (see `Share`)
    shares: NDArray[np.float64]
    more: NDArray[np.float64]
    # need_of: int32 (items,): the need of each item, -1 if it is none; need_ptr, needs: their labels
    need_of: Ids
    need_ptr: Ints
    needs: Ids

    @classmethod
    def of(
        cls,
        published: Transactions,
        under: Mapping[str, Sequence[str]],
        people: Sequence[Transactions],
        share: Callable[[str, str], Share],
        secret: Collection[str] = (),
    ) -> ShownRows:
        """Take published rows, and all people who will be looked at; nobody knows `secret` items."""
        labels = published.vocabulary.labels
        standing = [tuple(dict.fromkeys(under.get(label, (label,)))) for label in labels]
        held = (some.vocabulary.labels for some in people)
        items = item_order({x for some in (*standing, *held) for x in some})
        ids = {item: at for at, item in enumerate(items)}
        inside = [sorted((ids[item], item) for item in some) for some in standing]
        member_ptr = np.cumsum([0, *map(len, inside)])
        members = np.array([at for some in inside for at, _ in some], np.int32)
        pairs = [share(label, item) for label, some in zip(labels, inside, strict=True) for _, item in some]
        likely = np.array(pairs, np.float64).reshape(-1, 2)
        whole = rows = Indexed.of(published.indptr, published.items, len(labels))
        if secret:
            public = np.array(
                [at if label not in secret else -1 for at, label in enumerate(labels)], np.int32
            )
            kept = recode_rows(published.indptr, published.items, public)
            rows = Indexed.of(*kept, len(labels))
        seen = np.repeat(rows.supports > 0, np.diff(member_ptr))
        of_label = np.repeat(np.arange(len(labels)), np.diff(member_ptr))[seen]
        order = np.lexsort((of_label, members[seen]))
        image_ptr = np.concatenate(
            ([0], np.cumsum(np.bincount(members[seen], minlength=len(items))))
        )  # labels of each item
        images = frozen(image_ptr, np.int64), frozen(of_label[order], np.int32)
        group, first, _ = merge_rows(*images)
        need_ptr, needs = take_rows(*images, first)
        need_of = np.where(np.diff(image_ptr) > 0, group, -1)
        return cls(
            rows, whole, published.n_rows, labels, tuple(items), frozen(member_ptr, np.int64),
            frozen(members, np.int32), frozen(likely[:, 0], np.float64), frozen(likely[:, 1], np.float64),
            frozen(need_of, np.int32), need_ptr, needs,
        )  # fmt: skip

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def people(self, rows: Transactions) -> AttackedPeople:
        """Take people's items in the numbers of these."""
        ids = {item: at for at, item in enumerate(self.items)}
        to = np.array([ids[item] for item in rows.vocabulary.labels], np.int32)
        keys = np.repeat(np.arange(rows.n_rows), rows.row_lengths()) * max(self.n_items, 1)
        items = np.sort(keys + to[rows.items]) % max(self.n_items, 1)
        return AttackedPeople(frozen(rows.indptr, np.int64), frozen(items, np.int32))

    def hidden(self, items: Collection[str]) -> NDArray[np.bool_]:
        """Mark some items: bool (items,)."""
        return np.array([item in set(items) for item in self.items], np.bool_)

    def in_labels(self, people: AttackedPeople) -> Indexed:
        """Say of people which labels represent something that they hold."""
        need = self.need_of[people.items]
        known = need >= 0
        owner = np.repeat(np.arange(people.number), people.lengths)[known]
        sizes = np.diff(self.need_ptr)[need[known]]
        at = np.repeat(self.need_ptr[need[known]] - np.cumsum(sizes) + sizes, sizes) + np.arange(sizes.sum())
        n = max(len(self.labels), 1)
        keys = np.unique(np.repeat(owner, sizes) * n + self.needs[at])
        indptr = np.concatenate(([0], np.cumsum(np.bincount(keys // n, minlength=people.number))))
        return Indexed.of(frozen(indptr, np.int64), frozen(keys % n, np.int32), len(self.labels))

    def queries_for(self, indptr: Ints, items: Ids) -> Queries:
        """Look for rows that may contain all given items; items that no row shows are suppressed."""
        owner = np.repeat(np.arange(indptr.size - 1), np.diff(indptr))
        need = self.need_of[items]
        return Queries.of(owner[need >= 0], need[need >= 0], indptr.size - 1)

    def fitting(self, indptr: Ints, items: Ids) -> Ints:
        """Count the rows that may contain all given items (see `queries_for`)."""
        return self.rows.counted(self.queries_for(indptr, items), self.need_ptr, self.needs)[0]

    def guesses(self, indptr: Ints, items: Ids, may_guess: NDArray[np.bool_], number: int) -> Ids:
        """Find the likeliest items of the rows that fit some items: int32 (questions, number)."""
        queries, rows = self.queries_for(indptr, items), self.whole
        best = np.full((queries.number, number), -1, np.int32)

        def answer(first: int) -> None:
            best_guesses(
                rows.starts, rows.tidlists, rows.indptr, rows.items, rows.weights, self.need_ptr, self.needs,
                queries.indptr, queries.needs, self.member_ptr, self.members, self.shares, self.more,
                frozen(may_guess, np.bool_), first, min(first + AT_ONCE, queries.number), best,
            )  # fmt: skip

        each(answer, range(0, queries.number, AT_ONCE))
        return best[queries.group]
