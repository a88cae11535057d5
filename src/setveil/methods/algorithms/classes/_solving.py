"""Recode each class of rows with the least possible loss, several at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, UnfinishedError
from setveil.base.progress import Progress
from setveil.base.threads import threads
from setveil.judges.guarantees.km import is_km
from setveil.kernels.rows import Ids, Ints, frozen, recode_rows, take_rows
from setveil.methods.algorithms._in_threads import in_threads
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms.classes._parameters import Classes
from setveil.methods.algorithms.classes._splitting import Cuts, Piece
from setveil.methods.algorithms.classes._telling import to_leave_out
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.methods.algorithms.exact._promise import promise_of
from setveil.methods.algorithms.exact._rho_search import RhoSearch
from setveil.methods.algorithms.exact._search import PATIENCE, Search
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy

UNTRIED = 16  # times that a class is branched on a variable without trials: most searches end before
DRAFTS = 0.5  # share of the time that is left that all drafts of some pieces may take


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
    published: Solved | None = None

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
    """Solves classes once, of rows in canonical order, with counts of at least `least` rows."""

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
        self.of_rho = not is_km(guarantee)
        self.known: dict[Cuts, Solved | None] = {}
        # Drafts to be gone on with; None: all rows are searched anew, as without classes.
        self.begun: dict[Cuts, tuple[Transactions, Ints, Search] | None] = {}
        self.whole = 1  # the loss that is called 1

    def draft(self, pieces: Sequence[Piece], what: str) -> None:
        """Recode classes that are not known yet, well but without proof; None of one that cannot keep items.

        Where items are sensitive everything is proven at once.
        """
        new = [piece for piece in pieces if piece.cuts not in self.known]
        self._work(new, what, DRAFTS, self._drafted, share_out=self.of_rho)

    def prove(self, pieces: Sequence[Piece], what: str, share: float = 1.0) -> None:
        """Look for the least loss in classes that were only drafted, in a share of the time that is left."""
        drafts = [one for one in pieces if self.is_draft(one)]
        self._work(drafts, what, share, self._proven, share_out=True)

    def is_draft(self, piece: Piece) -> bool:
        """Whether a class was drafted, and not yet proven."""
        return piece.cuts in self.begun

    def forget(self, but: Sequence[Piece]) -> None:
        """Forget drafts of other pieces: they are not going to be proven."""
        self.begun = {one.cuts: self.begun[one.cuts] for one in but if self.is_draft(one)}

    def _work(
        self,
        pieces: list[Piece],
        what: str,
        share: float,
        work: Callable[[Piece, float, Progress], Solved | None],
        *,
        share_out: bool,
    ) -> None:
        """Work on pieces, the largest first, in a share of the time that is left.

        Only with `share_out` several at a time: what does not wait for the solver gains nothing so.
        """
        pieces.sort(key=lambda piece: -piece.rows.size)
        done = 0
        many = min(threads(), len(pieces)) if share_out else 1

        def one(number: int, progress: Progress) -> Solved | None:
            nonlocal done
            left = -(-(len(pieces) - done) // many)
            found = work(pieces[number], share * (self.deadline - time.monotonic()) / left, progress)
            done += 1
            return found

        if len(pieces) == 1:
            out = [one(0, self.progress)]
        else:
            out = in_threads(one, len(pieces), many, self.progress, what) if pieces else []
        self.known |= dict(zip((piece.cuts for piece in pieces), out, strict=True))

    def _rows(self, piece: Piece) -> tuple[Transactions, Ints]:
        """Take the rows of a piece, and which items they hold."""
        indptr, items = take_rows(self.data.indptr, self.data.items, piece.rows)
        there = np.zeros(self.data.n_items, bool)
        there[items] = True
        used, inside = np.flatnonzero(there), (np.cumsum(there) - 1)[items]
        labels = self.data.vocabulary.labels
        names = Vocabulary(labels[i] for i in used.tolist())
        return Transactions(indptr, frozen(inside, np.int32), names), used

    def _search(self, rows: Transactions, terms: Exact, progress: Progress, *, alone: bool) -> Search:
        everything = self.data.n_occurrences
        search = Search(rows, self.tree, self.guarantee, terms, progress, everything=everything)
        if not alone:  # a class is small: this costs more than it saves
            search.first = ()
            search.candidates.both_ways = False
            search.untried = UNTRIED
        return search

    def _drafted(self, piece: Piece, seconds: float, progress: Progress) -> Solved | None:
        rows, used = self._rows(piece)
        terms, alone = self.parameters.exact(self.usual, seconds), not piece.cuts
        try:
            if self.of_rho:
                return self._of_rho(rows, used, terms, progress, alone=alone)
            search = self._search(rows, terms, progress, alone=alone)
            drafted = search.draft()
            record = {"proven": False, "lower_bound": 0} if drafted else search.run()
        except (InfeasibleError, UnfinishedError):
            if alone:
                raise
            return None
        if drafted:
            self.begun[piece.cuts] = None if alone else (rows, used, search)
        return self._found(rows, used, search, record, alone=alone)

    def _proven(self, piece: Piece, seconds: float, progress: Progress) -> Solved | None:
        begun = self.begun.pop(piece.cuts)
        if begun is None:
            rows, used = self._rows(piece)
            search = self._search(rows, self.parameters.exact(self.usual, seconds), progress, alone=True)
            return self._found(rows, used, search, search.run(), alone=True)
        rows, used, search = begun
        search.go_on(seconds, progress)
        return self._found(rows, used, search, search.run(search.incumbent.candidate), alone=False)

    def _found(
        self, rows: Transactions, used: Ints, search: Search, record: dict[str, Any], *, alone: bool
    ) -> Solved:
        """Say what became of the items of a class."""
        image = np.arange(self.tree.n_leaves, dtype=np.int32)
        nodes, suppressed = search.published()
        for v in nodes:
            if v >= image.size:
                image[self.tree.under(v)] = v
        image[suppressed] = -1
        if alone:
            self.whole = max(search.losses.whole, 1)
        to = image[self.tree.locate(rows.vocabulary)]
        found = self._made(rows, used, to, None, search, record)
        more = {} if alone else self._suppressed_more(rows, to, search)
        if not more:
            return found
        less = frozen(np.where(np.isin(to, list(more)), -1, to), np.int32)
        return replace(found, published=replace(found, nodes=less, cost=found.cost + sum(more.values())))

    def _suppressed_more(self, rows: Transactions, to: Ids, search: Search) -> dict[int, int]:
        """Choose further items to suppress so that the class may be published whole, and price them."""
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
