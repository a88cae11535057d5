"""The search for the least loss where sensitive items must not be learned."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from math import ceil, inf, lcm
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import InfeasibleError, RequestError, UnfinishedError, listed
from setveil.base.progress import Progress
from setveil.judges.guarantees.km import KmAnonymity
from setveil.kernels.rows import Ids, Ints, merge_rows
from setveil.methods.algorithms._cut import Cut
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms.exact._branch import BranchAndCut
from setveil.methods.algorithms.exact._breaches import Breaches, SecretBreach
from setveil.methods.algorithms.exact._candidates import contracted
from setveil.methods.algorithms.exact._clauses import Floats, Separator
from setveil.methods.algorithms.exact._hidings import ITEMS, NOTHING, OCCURRENCES, Sensitive
from setveil.methods.algorithms.exact._incumbent import Incumbent
from setveil.methods.algorithms.exact._losses import Losses, how_far
from setveil.methods.algorithms.exact._parameters import Exact
from setveil.methods.algorithms.exact._program import Program, Row
from setveil.methods.algorithms.exact._promise import Promise
from setveil.methods.algorithms.exact._rho_candidates import RhoCandidates
from setveil.methods.algorithms.exact._rounding import Rounding
from setveil.methods.algorithms.exact._search import PATIENCE, Search
from setveil.methods.algorithms.exact._variables import Variables
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

EARLY = 0.5  # share of the time that the optimum without regard to sensitive items may take
TOP = "\0"  # the node above the public root and sensitive items that may be known


LIFTED = 200  # breaches of one candidate that are stated of more general nodes, too


class RhoRounding(Rounding):
    """Answers what branch and cut asks; `breaches` finds what is revealed (see `Rounding`)."""

    candidates: RhoCandidates

    def __init__(
        self,
        program: Program,
        variables: Variables,
        separator: Separator,
        candidates: RhoCandidates,
        incumbent: Incumbent,
        breaches: Breaches,
    ) -> None:
        super().__init__(program, variables, separator, candidates, incumbent)
        self.breaches = breaches

    def _add_found(self, candidate: Ids) -> None:
        super()._add_found(candidate)
        found = self.breaches.of_candidate(candidate)
        self._add_breaches(found)
        self._add_rows(self.breaches.hereditary(self.variables, breach) for breach in found[:LIFTED])

    def _add_violated(self, values: Floats) -> None:
        if self.separator.k > 1:
            super()._add_violated(values)
        self._add_breaches(self.breaches.violated(self.variables, values))

    def _is_valid(self, candidate: Ids) -> bool:
        return self.candidates.is_valid(candidate)

    def _add_breaches(self, found: Iterable[SecretBreach]) -> None:
        self._add_rows(self.breaches.clause(self.variables, breach) for breach in found)

    def _add_rows(self, rows: Iterable[Row | None]) -> None:
        """Add clauses, where there are any."""
        pairs = []
        for row in rows:
            if row is not None:
                pairs += self.variables.name(self.variables.leaves_of(row[0]))
                self.program.add(*row)
        self.program.exclude(pairs)


class RhoSearch:
    """The search for the least loss under a bound on inference about sensitive items (docs/exact_proof.md).

    Supports of published nodes are facts of the data, so demands are linear in the variables; but neither
    finer nor coarser cuts inherit them, only suppression does. The order of the data must not depend on the
    input's. `flat`: there is no hierarchy.
    """

    def __init__(
        self, part: PublicPart, promise: Promise, parameters: Exact, progress: Progress, *, flat: bool = False
    ) -> None:
        if not part.sensitive.size:
            promise = replace(promise, is_known=False)
        self.part, self.promise, self.parameters, self.progress = part, promise, parameters, progress
        self.flat = flat
        self.deadline = time.monotonic() + (parameters.time_limit or PATIENCE)
        self._require_items()
        self.tree = tree = self._tree()
        data = part.data if promise.is_known else part.rows
        self.cut = cut = Cut(data, tree)
        self.separator = separator = Separator(cut, promise.k, promise.m)
        self.sensitive = self._sensitive(data)
        self.breaches = Breaches(separator, self.sensitive, promise.rho, data.n_rows)
        self.losses = self._losses(parameters.objective or ("lm" if parameters.suppress else "ncp"))
        public = {label for label in parameters.keep if label in part.tree}
        kept = sorted({tree.id(label) for label in public})
        self.shown = sorted({s for s, label in enumerate(self.sensitive.labels) if label in parameters.keep})
        if promise.is_known:
            kept = sorted([*kept, *(int(self.sensitive.leaf[s]) for s in self.shown)])
        self.kept = kept
        # Nor where too few rows hold any item: which only coherence allows.
        self.low_root = flat or tree.labels[tree.root] == TOP or self._is_rare()
        self.candidates = RhoCandidates(
            cut, separator, self.losses, kept, parameters.suppress, progress,
            breaches=self.breaches, shown=self.shown, low_root=self.low_root,
        )  # fmt: skip
        self.everything = data.n_occurrences if promise.is_known else part.data.n_occurrences
        share = Fraction(1 if parameters.max_suppressed is None else parameters.max_suppressed)
        self.incumbent = Incumbent(self.losses, int(share * self.everything), Fraction(str(parameters.gap)))
        self.alone: dict[str, Any] = {}

    def run(self) -> dict[str, Any]:
        """Search until the best candidate is proven best, or time is up; the record of the search."""
        self._refuse_kept()
        variables = Variables(self.tree, self.parameters.suppress, [], self.sensitive, low_root=self.low_root)
        program = Program(variables.costs(self.losses), self._out_of_time, variables.most)
        program.imply(variables.implications())
        if self.parameters.max_suppressed is not None:
            program.limit(variables.amounts(self.losses), self.incumbent.most)
        for breach in self.breaches.of_everybody():
            program.add(*self.breaches.clause(variables, breach))
        self.progress.stoppable = True
        try:
            self._begin(program, variables)
            rounding = RhoRounding(
                program, variables, self.separator, self.candidates, self.incumbent, self.breaches
            )
            sizes = variables.sizes(self.losses)
            search = BranchAndCut(program, rounding, self.incumbent, sizes, variables.stages, self.progress)
            search.run(*self._bounds(variables))
        finally:
            self.progress.stoppable = False
        if self.incumbent.cost is None:
            if search.lower == inf:
                self._refuse_limit()
            raise UnfinishedError(
                "No valid release was found within the time limit.", hint="Raise --time-limit or the limits."
            )
        return self._record(self.incumbent.cost, search.lower, program)

    # --- what is published

    def nodes(self) -> Ids:
        """Return the node of ``part.tree`` that each of its leaves is published as, -1: it is suppressed."""
        tree, whole = self.tree, self.part.tree
        to = np.arange(whole.n_leaves, dtype=np.int32)
        best = self.incumbent.candidate
        for v in self.candidates.cut_nodes(best):
            if tree.labels[v] in whole:
                node = whole.id(tree.labels[v])
                to[whole.under(node)] = node
        for leaf in self.candidates.suppressed_leaves(best):
            if tree.labels[leaf] in whole:
                to[whole.id(tree.labels[leaf])] = -1
        return to

    def hidden_items(self) -> list[str]:
        """List the sensitive items that no row shows."""
        best, sensitive = self.incumbent.candidate, self.sensitive
        if sensitive.is_known:
            return [label for s, label in enumerate(sensitive.labels) if best[sensitive.leaf[s]] < 0]
        if sensitive.hide != ITEMS:
            return []
        tail = best[self.tree.n_nodes :].tolist()
        return [label for label, gone in zip(sensitive.labels, tail, strict=True) if gone]

    def hidden_occurrences(self) -> NDArray[np.bool_]:
        """Tell which occurrences of sensitive items are suppressed, drawn from rows alike in public items."""
        data, sensitive = self.part.data, self.sensitive
        out = np.zeros(data.n_occurrences, bool)
        tail = self.incumbent.candidate[self.tree.n_nodes :]
        if sensitive.hide != OCCURRENCES or sensitive.is_known or not tail.any():
            return out
        keys = np.random.PCG64(0).random_raw(data.n_rows)
        n = max(len(sensitive.labels), 1)
        entry_keys = self.breaches.entry_row * n + sensitive.item
        place = np.searchsorted(entry_keys, self._group[self._row] * n + self._item)
        order = np.lexsort((keys[self._row], place))
        begins = np.searchsorted(place[order], np.arange(sensitive.item.size))
        rank = np.arange(order.size) - begins[place[order]]
        out[self._at[order[rank < tail[place[order]]]]] = True
        return out

    # --- the parts of the problem

    def _require_items(self) -> None:
        for items, what in (
            (self.parameters.keep, "Items to keep"),
            (self.parameters.weights, "Items with a weight"),
        ):
            known = {*self.part.tree.labels[: self.part.tree.n_leaves], *self.promise.sensitive}
            unknown = [item for item in items if item not in known]
            if unknown:
                where = "data" if self.flat else "hierarchy"
                raise RequestError(f"{what} that are not in the {where}: {listed(unknown)}.")

    def _tree(self) -> Hierarchy:
        """Make the hierarchy of what may be known: the public one, and sensitive items next to it."""
        part = self.part
        wanted = {*part.rows.vocabulary.labels, *self.parameters.keep}
        tree = contracted(part.tree, wanted)
        if not self.promise.is_known and tree.root >= tree.n_leaves:
            return tree
        parents: dict[str, str | None] = {TOP: None}
        for v, label in enumerate(tree.labels):
            up = int(tree.parent[v])
            parents[label] = TOP if up < 0 else tree.labels[up]
        if self.promise.is_known:
            parents |= {part.data.vocabulary.labels[s]: TOP for s in part.sensitive.tolist()}
        return Hierarchy(parents)

    def _sensitive(self, data: Transactions) -> Sensitive:
        """Group the occurrences of sensitive items by distinct rows of what may be known."""
        part = self.part
        labels = tuple(part.data.vocabulary.labels[s] for s in part.sensitive.tolist())
        place = np.full(part.data.n_items, -1, np.int64)
        place[part.sensitive] = np.arange(part.sensitive.size)
        self._at: Ints = np.flatnonzero(place[part.data.items] >= 0)
        row_of = np.repeat(np.arange(part.data.n_rows), part.data.row_lengths())
        self._row, self._item = row_of[self._at], place[part.data.items[self._at]]
        self._group, first, _ = merge_rows(*self.cut.leaf_rows)
        leaf = (
            np.array([self.tree.id(label) for label in labels], np.int64) if self.promise.is_known else None
        )
        hide = ITEMS if self.promise.is_known else self.promise.hide
        return Sensitive.from_rows(labels, self._group, first.size, self._row, self._item, hide, leaf)

    def _losses(self, objective: str) -> Losses:
        """Make the losses: those of public occurrences, and 1 for each sensitive one that is suppressed."""
        part, tree, data = self.part, self.tree, self.cut_data()
        weights = dict(self.parameters.weights)
        if objective not in ("ncp", "lm", "items"):
            raise RequestError(
                f"The objective {objective} is for releases with counts of items, and there are "
                "none where items are sensitive.",
                hint="Choose --objective lm or ncp.",
            )
        if objective == "items" and self.sensitive.hide == OCCURRENCES:
            raise RequestError(
                "The objective items counts items, and single occurrences may be hidden.",
                hint="Choose --hide items as well.",
            )
        # All weights, so that those of public and of sensitive items have one scale.
        losses = Losses.of(objective, part.tree, tree, data, weights)
        scale = lcm(*(Fraction(str(weight)).denominator for weight in weights.values()))
        worst = part.tree.n_leaves if objective == "ncp" else max(part.tree.n_leaves - 1, 1)
        each = [int(Fraction(str(weights.get(label, 1))) * scale) * worst for label in self.sensitive.labels]
        of_item = [1 if objective == "items" else n for n in self.sensitive.holders.tolist()]
        whole = sum(losses.hidden[leaf] for leaf in range(tree.n_leaves))
        if self.sensitive.is_known:
            return replace(losses, whole=whole)
        whole += sum(loss * n for loss, n in zip(each, of_item, strict=True))
        unseen = (
            [each[s] for s in self.sensitive.owner.tolist()]
            if self.sensitive.hide == OCCURRENCES
            else [each[s] * of_item[s] for s in self.sensitive.owner.tolist()]
        )
        return replace(losses, whole=whole, unseen=unseen, unseen_occurrences=self.sensitive.amounts)

    def _is_rare(self) -> bool:
        """Whether too few rows hold any item."""
        return int((np.diff(self.cut.leaf_rows[0]) > 0).sum()) < self.promise.k

    def cut_data(self) -> Transactions:
        """Return the rows of what may be known."""
        return self.part.data if self.promise.is_known else self.part.rows

    def _bounds(self, variables: Variables) -> Any:
        low, high = variables.bounds(self.kept)
        if self.shown and not self.sensitive.is_known and self.sensitive.n_variables:
            high[variables.hidings :][np.isin(self.sensitive.owner, self.shown)] = 0
        return low, high

    def _out_of_time(self) -> bool:
        """Whether the search should end."""
        return self.progress.stop_requested() or time.monotonic() > self.deadline

    # --- candidates before the program is solved

    def _begin(self, program: Program, variables: Variables) -> None:
        """Take what is best without regard to sensitive items, and the clauses that prove it, made valid."""
        for candidate in self.candidates.plain():
            self.incumbent.offer(candidate)
        if self.promise.k == 1 or not self._km_optimum(program, variables):
            self._offer(self.candidates.repaired(self.candidates.finest()))

    def _offer(self, candidates: Iterator[Ids]) -> None:
        for candidate in candidates:
            self.incumbent.offer(candidate)

    def _km_optimum(self, program: Program, variables: Variables) -> bool:
        """Solve for k^m-anonymity of the public part, and go on from there; whether that was possible."""
        part, promise = self.part, self.promise
        limit = (self.deadline - time.monotonic()) * EARLY
        single = part.tree.root < part.tree.n_leaves
        if limit <= 0 or not part.rows.n_occurrences or single or self._is_rare():
            return False
        keep = [label for label in self.parameters.keep if label in part.tree]
        terms = replace(
            self.parameters, keep=keep, weights={}, max_suppressed=None, hide=None, time_limit=limit
        )
        tree = contracted(part.tree, {*part.rows.vocabulary.labels, *keep})
        objective = self.parameters.objective or self.parameters.loss
        # All weights: this loss is told as a share of the whole.
        losses = Losses.of(objective, part.tree, tree, part.rows, self.parameters.weights)
        guarantee = KmAnonymity(promise.k, promise.m)
        search = Search(part.rows, part.tree, guarantee, terms, self.progress, losses, low_root=self.flat)
        found = search.run()
        # To the nodes of the tree of this search.
        node = np.array([self.tree.id(label) for label in tree.labels])
        inner, n = search.variables, tree.n_leaves
        to = [int(node[v]) - self.tree.n_leaves for v in range(n, tree.n_nodes)]
        if inner.suppress:
            to += variables.of_leaves(node[:n].tolist()) if variables.suppress else []
        pairs = []
        for members, _, _ in search.program.clauses():
            pairs += variables.name(
                tuple(int(node[v - inner.n_inner]) for v in members if v >= inner.n_inner)
            )
            program.add(tuple(sorted(to[v] for v in members)))
        program.exclude(pairs)
        candidate = self.candidates.finest()
        for v in search.candidates.cut_nodes(search.incumbent.candidate):
            root = self.flat and int(node[v]) == self.tree.root  # what loses as much as suppression
            candidate[self.tree.under(int(node[v]))] = -1 if root else node[v]
        candidate[node[search.candidates.suppressed_leaves(search.incumbent.candidate)]] = -1
        lost = Fraction(self.losses.cost(candidate), self.losses.whole or 1)  # with the weights of all items
        self.alone = {"loss": float(lost), "proven": found["proven"]}
        self._offer(self.candidates.repaired(candidate))
        return True

    # --- what cannot be

    def _refuse_kept(self) -> None:
        """Refuse items to keep that no release can keep."""
        if not self.kept and not self.shown and self.sensitive.hide != NOTHING:
            return
        coarsest = self.candidates.least_shown()
        if coarsest is None:
            return
        threat = next(self.candidates.threats(coarsest), None)
        if threat is not None:
            labels = [self.tree.labels[v] for v in threat]
            raise InfeasibleError(
                f"The items to keep cannot all be kept: {self.promise.phrase} forbids publishing "
                f"{listed(labels)} {'together' if len(labels) > 1 else 'at all'}: too few rows contain "
                f"{'them' if len(labels) > 1 else 'it'}.",
                hint="Keep fewer items.",
            )
        found = [*self._forced(), *self.breaches.of_candidate(coarsest)]
        if found:
            raise InfeasibleError(
                f"The items to keep cannot all be kept: {self._breach_words(found[0])}",
                hint="Keep fewer items.",
            )

    def _forced(self) -> list[SecretBreach]:
        """List what is learned by who knows nothing of items that may not be suppressed."""
        always = range(len(self.sensitive.labels)) if self.sensitive.hide == NOTHING else self.shown
        return [breach for breach in self.breaches.of_everybody() if breach.item in always]

    def _breach_words(self, breach: SecretBreach) -> str:
        known = listed([self.tree.labels[v] for v in breach.nodes]) if breach.nodes else "nothing"
        return (
            f"someone who knows {known} learns {self.sensitive.labels[breach.item]} with a confidence of "
            f"{breach.together:,}/{breach.support:,}, more than rho = {self.promise.rho}."
        )

    def _refuse_limit(self) -> None:
        """Refuse a limit of suppression that is too low, and name the least that would do."""
        if self.parameters.max_suppressed is None:
            found = self.breaches.of_candidate(self.candidates.finest(), hidden=False)
            example = f" As they are, {self._breach_words(found[0])}" if found else ""
            raise InfeasibleError(
                f"No release keeps {self.promise.phrase} and what is to be kept.{example}",
                hint="Keep fewer items, or allow --suppress.",
            )
        free = replace(self.parameters, max_suppressed=None, objective="lm", weights={}, time_limit=None)
        least = RhoSearch(self.part, self.promise, free, self.progress, flat=self.flat)
        least.losses = replace(
            Losses.of_suppression(least.tree, least.cut_data()), unseen=least.sensitive.amounts,
            unseen_occurrences=least.sensitive.amounts,
        )  # fmt: skip
        least.incumbent = Incumbent(least.losses, self.everything, Fraction(0))
        least.candidates.losses = least.losses
        least.run()
        share = Fraction(least.incumbent.cost or 0, max(self.everything, 1))
        raise InfeasibleError(
            f"At most {float(self.parameters.max_suppressed):.4%} of the occurrences may be suppressed, but "
            f"{self.promise.phrase} needs more.",
            hint=f"--max-suppressed {ceil(share * 10**6) / 10**4}% would do.",
        )

    def _record(self, best: int, proven: float, program: Program) -> dict[str, Any]:
        lower = int(min(proven, best))
        model = "cut with suppression" if self.parameters.suppress else "cut"
        return {
            "objective": self.parameters.loss,
            "model": "suppression" if self.flat else model,
            **how_far(best, lower, self.losses.whole),
            "weighted": bool(self.parameters.weights),
            "limited": bool(self.parameters.keep) or self.parameters.max_suppressed is not None,
            "clauses": len(program),
            "rounds": program.solved,
        }
