"""Recode each class of rows with the least possible loss, several at a time."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.algorithms._in_threads import in_threads
from setveil.algorithms._public_part import PublicPart
from setveil.algorithms.classes._parameters import Classes
from setveil.algorithms.classes._splitting import Cuts, Piece
from setveil.algorithms.classes._telling import to_leave_out
from setveil.algorithms.exact._promise import promise_of
from setveil.algorithms.exact._rho_search import RhoSearch
from setveil.algorithms.exact._search import PATIENCE, Search
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import InfeasibleError, UnfinishedError
from setveil.guarantees.km import KmAnonymity
from setveil.hierarchy.tree import Hierarchy
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.progress import Progress
from setveil.threads import threads

WHOLE = 0.5  # share of the time that all rows together may take


@dataclass(frozen=True, eq=False)
class Solved:
    """What became of the items of a class."""

    items: Ints  # the items of the data that its rows hold, ascending
    nodes: Ids  # the node of each; -1: it is left out
    hidden: NDArray[np.bool_]  # which of its occurrences are sensitive and left out
    cost: int
    lower: int  # proven: no recoding of the class costs less
    rows: int
    # the same with a little more left out, so that all may be told of the class; None: nothing need be
    told: Solved | None = None

    @property
    def proven(self) -> bool:
        """Whether none costs less."""
        return self.cost == self.lower

    def record(self, labels: int) -> dict[str, Any]:
        """Say how far it is from the least loss."""
        return {
            "rows": self.rows,
            "labels": labels,
            "left_out": int((self.nodes < 0).sum()),
            "proven": self.proven,
            "gap": (self.cost - self.lower) / self.cost if self.cost else 0.0,
        }


class Solver:
    """Solves classes, and remembers those that it solved.

    Parameters
    ----------
    data : Transactions
        All rows, in an order that does not depend on the input's.
    tree, guarantee, parameters, progress
        As for `setveil.algorithms.classes.classes.anonymize`.
    least : int
        Fewest rows that a count may speak of.
    """

    def __init__(
        self,
        data: Transactions,
        tree: Hierarchy,
        guarantee: Any,
        parameters: Classes,
        progress: Progress,
        least: int,
    ) -> None:
        self.data, self.tree, self.guarantee, self.parameters = data, tree, guarantee, parameters
        self.progress = progress
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        self.least = least
        self.usual = "lm" if guarantee.secrets else "entropy-max"
        self.of_rho = not isinstance(guarantee, KmAnonymity)
        self.known: dict[Cuts, Solved | None] = {}
        self.whole = 1  # the loss that is called 1

    def solve(self, pieces: Sequence[Piece], what: str) -> None:
        """Solve classes that were not solved yet; None of one that cannot keep what is to be kept."""
        new = [piece for piece in pieces if piece.cuts not in self.known]
        new.sort(key=lambda piece: -piece.rows.size)
        done = 0

        def work(number: int, progress: Progress) -> Solved | None:
            nonlocal done
            left = -(-(len(new) - done) // min(threads(), len(new)))
            seconds = (self.deadline - time.monotonic()) / left
            found = self._solved(new[number], seconds, progress)
            done += 1
            return found

        if not new:
            return
        if len(new) == 1:
            # all rows are solved first, to be compared with: that must leave time for the classes
            share = 1.0 if new[0].cuts else WHOLE
            out = [self._solved(new[0], share * (self.deadline - time.monotonic()), self.progress)]
        else:
            out = in_threads(work, len(new), threads(), self.progress, what)
        self.known |= dict(zip((piece.cuts for piece in new), out, strict=True))

    def _solved(self, piece: Piece, seconds: float, progress: Progress) -> Solved | None:
        indptr, items = take_rows(self.data.indptr, self.data.items, piece.rows)
        used, inside = np.unique(items.astype(np.int64), return_inverse=True)
        labels = self.data.vocabulary.labels
        rows = Transactions(
            indptr, frozen(inside.ravel(), np.int32), Vocabulary(labels[i] for i in used.tolist())
        )
        terms = self.parameters.exact(self.usual, seconds)
        try:
            if self.of_rho:
                return self._of_rho(rows, used, terms, progress, alone=not piece.cuts)
            search = Search(
                rows, self.tree, self.guarantee, terms, progress, everything=self.data.n_occurrences
            )
            if piece.cuts:
                search.first = ()  # a class is small: another optimum first costs more than it saves
            record = search.run()
        except InfeasibleError:
            if not piece.cuts:
                raise
            return None
        except UnfinishedError:
            if not piece.cuts:
                raise
            return None
        image = np.full(self.tree.n_leaves, -1, np.int32)
        nodes, suppressed = search.published()
        for v in nodes:
            image[self.tree.under(v)] = v
        image[suppressed] = -1
        if not piece.cuts:
            self.whole = max(search.losses.whole, 1)
        to = image[self.tree.locate(rows.vocabulary)]
        found = self._made(rows, used, to, None, search, record)
        more = self._left_out_more(rows, to, search) if piece.cuts else {}
        if not more:
            return found
        less = frozen(np.where(np.isin(to, list(more)), -1, to), np.int32)
        return replace(found, told=replace(found, nodes=less, cost=found.cost + sum(more.values())))

    def _left_out_more(self, rows: Transactions, to: Ids, search: Search) -> dict[int, int]:
        """Choose what else to leave out so that all may be told of the class, and what that loses."""
        published, shown = recode_rows(rows.indptr, rows.items, to)
        empty = int((np.diff(published) == 0).sum())
        if not 0 < empty < self.least:
            return {}
        supports, losses, tree = rows.supports(), search.losses, search.tree
        kept = {self.tree.id(item) for item in self.parameters.keep}
        prices = {
            v: losses.hidden[at] - losses.full[at]
            for v in np.unique(to[to >= 0]).tolist()
            if v not in kept
            for at in [tree.id(self.tree.labels[v])]
        }
        contents = (tuple(shown[a:b].tolist()) for a, b in pairwise(published.tolist()))
        gone = to_leave_out(contents, prices, self.least) or []
        if int(supports[(to < 0) | np.isin(to, gone)].sum()) > search.most:
            return {}
        return {v: prices[v] for v in gone}

    def _of_rho(
        self, rows: Transactions, used: Ints, terms: Any, progress: Progress, *, alone: bool
    ) -> Solved:
        part = PublicPart(rows, self.tree, self.guarantee.sensitive)
        search = RhoSearch(part, promise_of(self.guarantee, terms), terms, progress)
        record = search.run()
        if alone:
            self.whole = max(search.losses.whole, 1)
        nodes = part.located.astype(np.int32)
        public = np.flatnonzero(~part.is_sensitive)
        nodes[public] = part.node[search.nodes()[part.leaf]]
        gone = set(search.hidden_items())
        labels = rows.vocabulary.labels
        nodes[[i for i, label in enumerate(labels) if label in gone]] = -1
        return self._made(rows, used, nodes, search.hidden_occurrences(), search, record)

    def _made(
        self,
        rows: Transactions,
        used: Ints,
        nodes: Ids,
        hidden: NDArray[np.bool_] | None,
        search: Any,
        record: dict[str, Any],
    ) -> Solved:
        cost = int(search.incumbent.cost or 0)
        lower = cost if record["proven"] else min(int(record["lower_bound"] * search.losses.whole), cost)
        if hidden is None:
            hidden = np.zeros(rows.n_occurrences, bool)
        return Solved(used, frozen(nodes, np.int32), hidden, cost, lower, rows.n_rows)
