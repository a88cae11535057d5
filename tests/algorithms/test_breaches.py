"""The clauses that bound inferences, and the search for breaches, compared with all releases and all sets."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import chain, pairwise, product
from math import floor
from random import Random
from typing import Any, ClassVar

import numpy as np
import pytest

from naive import exact_rho as naive
from naive.anonymize import Tree, leaves, up_from
from naive.exact import Number, exactly
from naive.exact_rho import ITEMS, OCCURRENCES, Found, Promise, Terms
from naive.km import Rows, item_order
from rho_problems import EVERY_SETTING, Problem, draw_problem
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import silent
from setveil.kernels.rows import Ids
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms.exact import _breaches, _rho_search, exact
from setveil.methods.algorithms.exact._breaches import SecretBreach
from setveil.methods.algorithms.exact._clauses import Floats
from setveil.methods.algorithms.exact._program import Program, Row
from setveil.methods.algorithms.exact._promise import flat_hierarchy, promise_of
from setveil.methods.algorithms.exact._rho_search import RhoSearch
from setveil.methods.algorithms.exact._variables import Variables
from strategies import enough, seeded, transactions

Nodes = tuple[int, ...]


class View:
    """A problem as the solver sees it: its tree and its variables; and the rows, to count in."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        data, parameters = transactions(problem.rows), exact.Exact(**problem.parameters)
        promise = promise_of(problem.guarantee, parameters)
        part = PublicPart(data, problem.hierarchy or flat_hierarchy(data), promise.sensitive)
        self.search = search = RhoSearch(part, promise, parameters, silent, flat=problem.tree is None)
        self.tree, self.sensitive, self.breaches = search.tree, search.sensitive, search.breaches
        self.candidates, self.separator = search.candidates, search.separator
        self.variables = Variables(
            self.tree, parameters.suppress, [], self.sensitive, low_root=search.low_root
        )
        self.variables.name(tuple(range(self.tree.n_leaves)))
        self.items = [frozenset(self.tree.labels[leaf] for leaf in self.tree.under(v)) for v in self.nodes]
        self.at = [frozenset(i for i, row in enumerate(problem.rows) if row & some) for some in self.items]
        self.with_item = [
            frozenset(i for i, row in enumerate(problem.rows) if s in row) for s in self.sensitive.labels
        ]
        indptr, rows = self.separator.rows
        distinct = [
            frozenset(self.tree.labels[leaf] for leaf in rows[a:b]) for a, b in pairwise(indptr.tolist())
        ]
        # The variables of single occurrences: the items that may be known, and the sensitive one.
        self.entries = [
            (distinct[row], self.sensitive.labels[s])
            for row, s in zip(self.breaches.entry_row.tolist(), self.sensitive.item.tolist(), strict=True)
        ]
        self._public: Tree | None = (
            None if problem.tree is None else naive.restricted(problem.tree, problem.promise.sensitive)
        )
        self._part = part.tree

    @property
    def nodes(self) -> range:
        return range(self.tree.n_nodes)

    @property
    def hides_rows(self) -> bool:
        return not self.sensitive.is_known and self.sensitive.hide == OCCURRENCES

    # --- the rows

    def sets(self, nodes: list[int], least: int = 1) -> Iterator[tuple[Nodes, frozenset[int]]]:
        """Every set of at most m nodes, none above another, and the rows that hold it if they are enough."""
        stack: list[tuple[Nodes, frozenset[int]]] = [((), frozenset(range(len(self.problem.rows))))]
        while stack:
            known, have = stack.pop()
            if known:
                yield known, have
            if len(known) == self.search.promise.m:
                continue
            for v in nodes:
                more = have & self.at[v]
                apart = not any(self.items[v] & self.items[u] for u in known)
                if apart and len(more) >= least and (not known or v > known[-1]):
                    stack.append(((*known, v), more))

    def excess(self, have: frozenset[int], s: int) -> int:
        rho = self.problem.promise.rho
        return len(have & self.with_item[s]) - floor(rho * len(have))

    def disclosed(self, nodes: list[int], least: int = 1) -> Iterator[tuple[SecretBreach, frozenset[int]]]:
        """Every set that gives something away if it is published and nothing is hidden; its rows."""
        for known, have in self.sets(nodes, least):
            for s, label in enumerate(self.sensitive.labels):
                if (d := self.excess(have, s)) > 0 and not any(self.items[v] == {label} for v in known):
                    yield SecretBreach(known, s, len(have), len(have & self.with_item[s]), d), have

    # --- candidates of the solver

    def draw_candidate(self, rng: Random) -> Ids:
        """Draw a cut, suppressed leaves, and hidden items, but publish all items to keep."""
        tree, search = self.tree, self.search
        above_kept = {up for leaf in search.kept for up in tree.ancestors(leaf)}
        if search.low_root:
            above_kept.add(tree.root)
        cut, open_ = [], [tree.root]
        coarse, share = rng.random(), rng.choice((0.0, 0.1, 0.4))
        while open_:
            v = open_.pop()
            if v < tree.n_leaves or (v not in above_kept and rng.random() < coarse):
                cut.append(v)
            else:
                open_ += tree.children(v)
        able = set(range(tree.n_leaves)) - set(search.kept)
        if not self.problem.terms.suppress:
            able &= set(self.sensitive.leaf.tolist())
        out = self.candidates.of_cut(cut, [v for v in cut if v in able and rng.random() < share])
        _, high = search._bounds(self.variables)
        share = rng.choice((0.0, 0.3, 0.8))
        most = high[self.variables.hidings :].tolist()
        out[tree.n_nodes :] = [rng.randint(0, n) if rng.random() < share else 0 for n in most]
        return out

    def published(self, candidate: Ids) -> Rows:
        """Return the rows of a candidate; the first rows of those with the same known items lose an item."""
        tree, sensitive = self.tree, self.sensitive
        tail = candidate[tree.n_nodes :].tolist()
        left = dict(zip(self.entries, tail, strict=True)) if self.hides_rows else {}
        gone = set()
        if not self.hides_rows and tail:
            gone = {s for s, hidden in zip(sensitive.labels, tail, strict=True) if hidden}
        out = []
        for row in self.problem.rows:
            known = frozenset(item for item in row if item in tree)
            to = {item: int(candidate[tree.id(item)]) for item in known}
            shown = {tree.labels[v] for v in to.values() if v >= 0}
            for s in row - known:
                if left.get((known, s), 0):
                    left[known, s] -= 1
                elif s not in gone:
                    shown.add(s)
            out.append(frozenset(shown))
        return out

    def suppressed_labels(self, candidate: Ids) -> set[str]:
        return {self.tree.labels[leaf] for leaf in self.candidates.suppressed_leaves(candidate)}

    def shown_nodes(self, candidate: Ids) -> list[int]:
        return sorted({int(v) for v in candidate[: self.tree.n_leaves] if v >= 0})

    def hidden(self, candidate: Ids, s: int, have: frozenset[int]) -> float:
        """Count the rows in `have` that lose a sensitive item."""
        if self.sensitive.is_known:
            return len(have) if candidate[self.sensitive.leaf[s]] < 0 else 0
        rows = self.problem.rows
        published = self.published(candidate)
        label = self.sensitive.labels[s]
        return sum(label in rows[i] and label not in published[i] for i in have)

    def is_valid(self, candidate: Ids) -> bool:
        """Return whether the published rows of a candidate satisfy the guarantee."""
        root = candidate[: self.tree.n_leaves] == self.tree.root
        rare = self.search.low_root and self.tree.root >= self.tree.n_leaves and bool(root.any())
        return not rare and naive.is_private(self.published(candidate), self.problem.promise)

    # --- releases of the twin

    def values(self, found: Found) -> list[int]:
        """The values of the variables that are a release."""
        tree, n = self.tree, self.tree.n_leaves
        up = []
        for v in range(n, tree.n_nodes):
            label = found.to.get(tree.labels[int(tree.under(v)[0])])
            is_whole = tree.labels[v] in self._part and label is not None
            up.append(int(is_whole and self._leaves(tree.labels[v]) <= self._below(label)))
        of_item = {way.item: way for way in found.hidden}
        gone = [
            bool(of_item[label].rows) if label in of_item else found.to[label] is None
            for label in tree.labels[:n]
        ]
        tail = []
        if self.hides_rows:
            tail = [of_item[s].counts.get(known, 0) for known, s in self.entries]
        elif self.sensitive.n_variables:
            tail = [bool(of_item[s].rows) for s in self.sensitive.labels]
        return [*up, *map(int, gone if self.variables.suppress else []), *map(int, tail)]

    def _leaves(self, label: str) -> frozenset[str]:
        part = self._part
        return frozenset(part.labels[leaf] for leaf in part.under(part.id(label)))

    def _below(self, label: str | None) -> frozenset[str]:
        if self._public is None or label is None:
            return frozenset({label} - {None} if label else ())
        public = self._public
        return frozenset(leaf for leaf in leaves(public) if label in up_from(public, leaf))

    def is_published(self, values: list[int], v: int) -> bool:
        """Return whether the cut is at a node, not above it, and the node is not suppressed."""
        n, tree = self.tree.n_leaves, self.tree
        if any(values[u - n] for u in tree.ancestors(v)):
            return False
        if v >= n:
            return values[v - n] == 1
        return not (self.variables.suppress and values[tree.n_nodes - n + v])


def draw(rng: Random, setting: str, **sizes: int) -> Problem:
    """Draw a problem with public items that is not refused before it is looked at; often rho is low."""
    while True:
        problem = draw_problem(rng, setting, **sizes)
        rows, promise = problem.rows, problem.promise
        if rows and promise.sensitive and rng.random() < 0.7:
            shares = [Fraction(sum(s in row for row in rows), len(rows)) for s in promise.sensitive]
            low = max(shares) if problem.model == "coherence" else Fraction(rng.choice(("1/5", "1/3")))
            if 0 < low < 1:
                problem = replace(problem, promise=replace(promise, rho=low))
        try:
            problem.guarantee.require_feasible(transactions(rows))
        except InfeasibleError:
            continue
        if any(problem.public_rows):
            return problem


def every_valid_release(problem: Problem) -> list[Found]:
    return list(naive.every_valid_release(problem.rows, problem.tree, problem.promise, problem.terms))


def lacking(row: Row, values: Any) -> Any:
    """By how much each release breaks a clause; `values` has a row for each."""
    members, weights, need = row
    return need - values[:, list(members)] @ np.array(weights or [1] * len(members), np.int64)


# --- the clauses


class Recorded(Program):
    """A program that records the clauses added to it."""

    all: ClassVar[list[Recorded]] = []

    def __init__(self, *args: Any) -> None:
        self.demanded: list[tuple[Ids, Floats, float, float]] = []
        super().__init__(*args)
        self.all.append(self)

    def _add_rows(self, rows: Any, lower: Any, upper: Any, values: Floats, *clauses: Any) -> None:
        ends = np.cumsum([row.size for row in rows])
        parts = np.split(values, ends[:-1]) if len(rows) else []
        lowest = np.broadcast_to(lower, len(rows)).tolist()
        self.demanded += [(row, part, low, upper) for row, part, low in zip(rows, parts, lowest, strict=True)]
        super()._add_rows(rows, lower, upper, values, *clauses)


@pytest.mark.exhaustive
@EVERY_SETTING
def test_what_a_run_demands_holds_of_every_valid_release(
    setting: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(101)
    monkeypatch.setattr(_rho_search, "Program", Recorded)
    seen = Counter[str]()
    for _ in range(enough(80)):
        problem = draw(rng, setting, most_public=5, most_rows=8)
        releases = every_valid_release(problem)
        if not releases:
            continue
        view = View(problem)
        monkeypatch.setattr(Recorded, "all", [])
        view.search.run()
        (program,) = Recorded.all
        values = np.array([view.values(found) for found in releases], np.int64)
        low, high = view.search._bounds(view.variables)
        assert ((values >= low) & (values <= high)).all(), problem
        for row in program.clauses():
            assert lacking(row, values).max() <= 0, (problem, row)
            seen["weighted"] += any(weight != 1 for weight in row[1])
        for members, weights, least, most in program.demanded:
            sums = values[:, members] @ weights
            assert least <= sums.min(), problem
            assert sums.max() <= most, problem
        seen["clauses"] += len(program)
        seen["releases"] += len(releases)
    assert seen["clauses"] > enough(20)
    assert seen["weighted"] > 0 or setting != OCCURRENCES
    assert seen["releases"] > enough(100)


@pytest.mark.exhaustive
@EVERY_SETTING
def test_clauses_of_every_set_hold_of_every_valid_release(setting: str) -> None:
    rng = seeded(102)
    seen = Counter[str]()
    for _ in range(enough(160)):
        problem = draw(rng, setting, most_public=5, most_rows=8)
        releases = every_valid_release(problem)
        if not releases:
            continue
        view = View(problem)
        values = np.array([view.values(found) for found in releases], np.int64)
        for breach, _ in view.disclosed(list(view.nodes)):
            row = view.breaches.clause(view.variables, breach)
            assert lacking(row, values).max() <= 0, (problem, breach, row)
            seen["breaches"] += 1
        for breach in view.breaches.of_everybody():
            row = view.breaches.clause(view.variables, breach)
            assert lacking(row, values).max() <= 0, (problem, breach, row)
            seen["everybody"] += 1
        for known, have in view.sets(list(view.nodes)):
            if len(have) < problem.promise.k and view.tree.root not in known:
                (clauses,) = view.separator.clauses([list(known)], view.variables.suppress)
                for clause in clauses:
                    members = view.variables.of_clause(clause)
                    assert values[:, list(members)].sum(axis=1).min() >= 1, (problem, known, clause)
                    seen["threats"] += 1
        if problem.promise.k > 1:
            for _ in range(3):
                some = draw_values(rng, view)
                up, gone = view.variables.generalized(some), view.variables.suppressed(some)
                for clause in view.separator.violated(up, gone):
                    members = view.variables.of_clause(clause)
                    assert values[:, list(members)].sum(axis=1).min() >= 1, (problem, clause)
                    seen["violated"] += 1
    assert seen["breaches"] > enough(50)
    assert (seen["everybody"] > 0) == (setting[:9] != "coherence")  # refused beforehand
    assert (min(seen["threats"], seen["violated"]) > enough(50)) == (setting != "rho-uncertainty")


@EVERY_SETTING
def test_a_clause_is_broken_just_where_its_set_is_published_and_too_few_rows_lose_the_item(
    setting: str,
) -> None:
    rng = seeded(103)
    seen = Counter[bool]()
    for _ in range(enough(40)):
        problem = draw(rng, setting, most_public=5, most_rows=8)
        view, terms = View(problem), problem.terms
        rows, promise = problem.rows, problem.promise
        hiding = naive.hiding_of(rows, promise, terms)
        possible = list(naive.candidates(rows, problem.tree, promise.sensitive, terms))
        tried = [
            replace(rng.choice(possible), hidden=tuple(rng.choice(ways) for ways in hiding))
            for _ in range(25)
        ]
        each = [view.values(found) for found in tried]
        everybody = [(breach, frozenset(range(len(rows)))) for breach in view.breaches.of_everybody()]
        for breach, have in (*everybody, *view.disclosed(list(view.nodes))):
            broken = lacking(view.breaches.clause(view.variables, breach), np.array(each)) > 0
            label = view.sensitive.labels[breach.item]
            for is_broken, values, found in zip(broken.tolist(), each, tried, strict=True):
                gone = next(way.rows for way in found.hidden if way.item == label)
                shown = all(view.is_published(values, v) for v in breach.nodes)
                assert is_broken == (shown and len(gone & have) < breach.excess), (problem, breach, found)
                seen[is_broken] += 1
    assert min(seen[True], seen[False]) > enough(100)


def is_inherited(view: View, known: Nodes, have: frozenset[int], s: int) -> bool:
    """Return whether rows with s, counted once, exceed a share rho of all choices."""
    rows, rho = view.problem.rows, view.problem.promise.rho
    with_s = len(have & view.with_item[s])
    without = sum(
        sum(1 for _ in product(*(rows[i] & view.items[v] for v in known))) for i in have - view.with_item[s]
    )
    return with_s > rho * (with_s + without)


@pytest.mark.exhaustive
@pytest.mark.parametrize("setting", ["occurrences", "items", "any known"])
def test_inherited_clauses_of_every_set_hold_of_every_valid_release(setting: str) -> None:
    rng = seeded(105)
    seen = Counter[str]()
    for _ in range(enough(600)):
        problem = draw(rng, setting, most_public=5, most_rows=7)
        problem = replace(problem, promise=replace(problem.promise, k=1, m=rng.choice((1, 2, 3))))
        releases = every_valid_release(problem)
        if not releases:
            continue
        view = View(problem)
        values = np.array([view.values(found) for found in releases], np.int64)
        for known, have in view.sets(list(view.nodes)):
            for s, label in enumerate(view.sensitive.labels):
                if any(label in view.items[v] for v in known):
                    continue  # a breach needs no other item to reveal the one it contains
                inherited = is_inherited(view, known, have, s)
                breach = SecretBreach(
                    known, s, len(have), len(have & view.with_item[s]), view.excess(have, s)
                )
                row = view.breaches.hereditary(view.variables, breach)
                assert (row is not None) == inherited, (problem, breach, row)
                if row is None:
                    continue
                assert lacking(row, values).max() <= 0, (problem, breach, row)
                seen[f"{len({view.separator.parent[v] for v in known})} parents"] += 1
                seen["general"] += len(known) > 1 and view.tree.root not in known
    assert min(seen["1 parents"], seen["2 parents"], seen["general"]) > enough(50)


# SPEC2-MODELS §4.7, and rows in which a group together with an item reveals a sensitive item.
PAPER = Problem(
    [frozenset(row.split()) for row in (
        "a1 b1 H", "a1 b1 H", "a2 b1", "a2 b2 H", "a2 b2", "a1 b2", "b1", "b2", "a2 b1", "a1 b2 H",
    )],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "H": "X", "A": "ALL", "B": "ALL", "X": "ALL", "ALL": None},
    Promise(2, 2, Fraction(1, 2), ("H",)),
)  # fmt: skip
SIBLINGS = Problem(
    [frozenset(row.split()) for row in ("a1 a2 b1 H", "a1 a2 b1 H", "a1 a2 b1 H", "a1 a2", "b2", "b2", "b1")],
    PAPER.tree,
    Promise(1, 2, Fraction(1, 3), ("H",)),
)


@pytest.mark.parametrize(
    ("problem", "known", "rho", "hide", "sums"),
    [
        (PAPER, "a1", "1/2", OCCURRENCES, "A a1 H|a1,b1 H|a1,b2 >= 1"),
        (PAPER, "a1 b1", "1/2", OCCURRENCES, "A B a1 b1 H|a1,b1 >= 1"),
        (PAPER, "a1 b1", "1/2", ITEMS, "A B a1 b1 H >= 1"),
        (PAPER, "a1", "2/5", OCCURRENCES, "2A 2a1 H|a1,b1 H|a1,b2 >= 2"),
        (PAPER, "a1", "2/5", ITEMS, "A a1 H >= 1"),
        (PAPER, "A", "1/5", OCCURRENCES, "3ALL -3A H|a1,b1 H|a1,b2 H|a2,b2 >= 0"),
        (PAPER, "A", "1/5", ITEMS, "ALL -A H >= 0"),
        (PAPER, "A b1", "1/5", OCCURRENCES, "2ALL -2A 2B 2b1 H|a1,b1 >= 0"),
        (PAPER, "A B", "1/5", OCCURRENCES, "3ALL -3A -3B H|a1,b1 H|a1,b2 H|a2,b2 >= -3"),
        (PAPER, "A B", "1/5", ITEMS, "ALL -A -B H >= -1"),
        (SIBLINGS, "a1 a2", "1/3", OCCURRENCES, "2A 2a1 2a2 H|a1,a2,b1 >= 2"),
        (SIBLINGS, "a1 a2", "1/3", ITEMS, "A a1 a2 H >= 1"),
    ],
)
@pytest.mark.parametrize("suppress", [True, False])
def test_clauses_by_hand(
    problem: Problem, known: str, rho: str, hide: str, sums: str, suppress: bool
) -> None:
    problem = replace(
        problem, promise=replace(problem.promise, rho=Fraction(rho)), terms=Terms(hide, suppress=suppress)
    )
    view = View(problem)
    tree = view.tree
    names = [*tree.labels[tree.n_leaves :], *(tree.labels[: tree.n_leaves] if suppress else [])]
    names += ["H"] if hide == ITEMS else [f"H|{','.join(sorted(group))}" for group, _ in view.entries]
    nodes = tuple(sorted(tree.id(label) for label in known.split()))
    (breach,) = (breach for breach, _ in view.disclosed(list(view.nodes)) if breach.nodes == nodes)
    members, weights, need = view.breaches.clause(view.variables, breach)
    expected = {}
    *parts, _, least = sums.split()
    for part in parts:
        name = part.lstrip("-123")
        number = part.removesuffix(name)
        if suppress or name not in tree.labels[: tree.n_leaves]:
            expected[name] = int(number + "1") if number in {"", "-"} else int(number)
    assert {names[v]: weight for v, weight in zip(members, weights, strict=True)} == expected
    assert need == int(least)
    assert list(members) == sorted(members)


# --- the search for breaches


@pytest.mark.exhaustive
@EVERY_SETTING
def test_breaches_of_candidates(setting: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(104)
    seen = Counter[str]()
    for _ in range(enough(80)):
        view = View(draw(rng, setting, most_public=7, most_rows=14))
        k, breaches = view.problem.promise.k, view.breaches
        for _ in range(4):
            candidate = view.draw_candidate(rng)
            nodes = view.shown_nodes(candidate)
            shown = [
                (breach, have)
                for breach, have in view.disclosed(nodes, k)
                if not view.sensitive.is_known or candidate[view.sensitive.leaf[breach.item]] >= 0
            ]
            expected = {
                breach for breach, have in shown if view.hidden(candidate, breach.item, have) < breach.excess
            }
            every = breaches.of_candidate(candidate, every=True)
            assert len(every) == len(set(every))
            assert set(every) == expected, (view.problem, candidate)
            some = breaches.of_candidate(candidate)
            assert len(some) == len(set(some))
            assert set(some) <= expected
            assert bool(some) == bool(expected)
            assert {len(breach.nodes) for breach in some} >= {min(map(_size, expected), default=0)} - {0}
            unhidden = breaches.of_candidate(candidate, every=True, hidden=False)
            assert set(unhidden) == {breach for breach, _ in shown}
            seen["every"] += len(every)
            seen["some"] += len(some)
            seen["hidden"] += len(unhidden) - len(every)

            # Where room or steps do not suffice, the first ones are listed.
            with monkeypatch.context() as little:
                little.setattr(_breaches, "AT_MOST", most := rng.randint(1, 5))
                assert breaches.of_candidate(candidate, every=True) == every[:most]
            with monkeypatch.context() as little:
                little.setattr(_breaches, "MOST_STEPS", rng.choice((0, 5, 50)))
                try:
                    early = breaches.of_candidate(candidate, every=True)
                except RequestError:
                    seen["refused"] += 1
                else:
                    assert early == every[: len(early)]
                    assert bool(early) == bool(every)
    assert seen["every"] > seen["some"] > enough(50)
    assert seen["refused"] > 0
    assert (seen["hidden"] > 0) == (setting in {OCCURRENCES, ITEMS})


def _size(breach: SecretBreach) -> int:
    return len(breach.nodes)


def draw_values(rng: Random, view: View) -> Floats:
    """Draw values of the variables, in eighths; what is published of a path adds up to at most 1."""
    tree, n = view.tree, view.tree.n_leaves
    steps = rng.choice((1, 2, 4, 8))
    up: dict[int, Fraction] = {-1: Fraction(0)}
    flat = rng.random()
    for v in sorted(range(n, tree.n_nodes), key=lambda v: int(tree.depth[v])):
        above = up[int(tree.parent[v])]
        up[v] = above if rng.random() < flat else above + (1 - above) * Fraction(rng.randint(0, steps), steps)
        up[v] = Fraction(floor(up[v] * 8), 8)
    share = rng.choice((0.0, 0.2, 0.5))
    gone = [Fraction(rng.randint(0, 8), 8) if rng.random() < share else Fraction(0) for _ in range(n)]
    gone = [min(each, 1 - up[int(tree.parent[leaf])]) for leaf, each in enumerate(gone)]
    most = view.sensitive.most.tolist() if view.sensitive.n_variables else []
    tail = [Fraction(rng.randint(0, 8 * int(high)), 8) if rng.random() < share else 0 for high in most]
    values = [*(up[v] for v in range(n, tree.n_nodes)), *(gone if view.variables.suppress else []), *tail]
    return np.array([float(value) for value in values])


def plain(view: View, values: Floats, breach: SecretBreach, have: frozenset[int]) -> float:
    """Return the slack of a breach's clause as in SPEC2-MODELS §4.4; parents count once per node."""
    tree, n, d = view.tree, view.tree.n_leaves, breach.excess
    if not view.hides_rows:
        d = 1

    def value(v: int) -> float:
        return float(values[v - n]) if v >= n else 0.0

    def gone(leaf: int) -> float:
        return float(values[tree.n_nodes - n + leaf]) if view.variables.suppress else 0.0

    missing = 0.0
    for v in breach.nodes:
        above = value(int(tree.parent[v])) if tree.parent[v] >= 0 else 0.0
        missing += 1 - (value(v) - above if v >= n else 1 - above - gone(v))
    label = view.sensitive.labels[breach.item]
    hidden = 0.0
    if view.sensitive.is_known:
        hidden = gone(tree.id(label))
    elif view.hides_rows:
        rows = view.problem.rows
        groups = {rows[i] & frozenset(tree.labels) for i in have if label in rows[i]}
        tail = zip(view.entries, values[view.variables.hidings :].tolist(), strict=True)
        hidden = sum(value for (group, s), value in tail if s == label and group in groups)
    elif view.sensitive.n_variables:
        hidden = float(values[view.variables.hidings + breach.item])
    return d - hidden - d * missing


@pytest.mark.exhaustive
@EVERY_SETTING
def test_a_violated_clause_is_found_if_there_is_one(setting: str) -> None:
    rng = seeded(105)
    seen = Counter[str]()
    for _ in range(enough(150)):
        view = View(draw(rng, setting, most_public=6, most_rows=14))
        clauses = list(view.disclosed(list(view.nodes), view.problem.promise.k))
        for _ in range(6):
            values = draw_values(rng, view)
            violated = {breach for breach, have in clauses if plain(view, values, breach, have) > 0}
            found = view.breaches.violated(view.variables, values)
            assert len(found) == len(set(found))
            assert set(found) <= violated, (view.problem, values)
            assert bool(found) == bool(violated), (view.problem, values)
            for breach in found:
                row = view.breaches.clause(view.variables, breach)
                assert lacking(row, values[None, :])[0] > 0, (view.problem, values, breach)
            seen["found"] += len(found)
            seen["inner"] += any(v >= view.tree.n_leaves for breach in found for v in breach.nodes)
            seen["larger"] += any(len(breach.nodes) > 1 for breach in found)
            seen["none"] += not violated
    assert seen["found"] > enough(50)
    assert min(seen["larger"], seen["none"]) > 5
    assert seen["inner"] > 5


# --- candidates


@pytest.mark.exhaustive
@EVERY_SETTING
@pytest.mark.parametrize("room", [_breaches.AT_MOST, 2], ids=["room", "no room"])
def test_repaired_candidates_are_valid(setting: str, room: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """`room`: breaches that are listed at once."""
    monkeypatch.setattr(_breaches, "AT_MOST", room)
    rng = seeded(106)
    seen = Counter[str]()
    for _ in range(enough(50)):
        problem = draw(rng, setting, most_public=6, most_rows=12)
        view = View(problem)
        try:
            view.search._refuse_kept()
        except InfeasibleError:
            continue
        keep, kinds = problem.terms.keep, view.sensitive.labels
        starts = [view.candidates.finest(), view.candidates.coarsest()]
        for candidate in (*starts, view.draw_candidate(rng), view.draw_candidate(rng)):
            before = candidate.copy()
            valid = view.is_valid(candidate)
            assert view.candidates.is_valid(candidate) == valid, (problem, candidate)
            seen["valid" if valid else "invalid"] += 1
            for repaired in view.candidates.repaired(candidate):
                assert view.is_valid(repaired), (problem, candidate, repaired)
                assert view.candidates.is_valid(repaired)
                tail = repaired[view.tree.n_nodes :]
                if view.sensitive.n_variables:
                    assert (tail <= view.sensitive.most).all()
                    assert (tail >= 0).all()
                    assert not any(tail[[kinds[s] in keep for s in view.sensitive.owner.tolist()]])
                if not problem.terms.suppress:
                    assert view.suppressed_labels(repaired) - view.suppressed_labels(candidate) <= set(
                        kinds
                    ), problem
                seen["repaired"] += 1
            assert (candidate == before).all()
    assert min(seen["valid"], seen["invalid"], seen["repaired"]) > enough(20)


@pytest.mark.parametrize("setting", [OCCURRENCES])
def test_enough_rows_lose_an_item_and_none_for_nothing(setting: str) -> None:
    rng = seeded(107)
    seen = 0
    for _ in range(enough(100)):
        view = View(draw(rng, setting, most_public=6, most_rows=16))
        candidate = view.draw_candidate(rng)
        candidate[view.tree.n_nodes :] = 0
        found = view.breaches.of_candidate(candidate, every=True) + view.breaches.of_everybody()
        violations = [
            (breach, {e for e in range(len(view.entries)) if _holds(view, e, breach)}) for breach in found
        ]
        for breach, inside in violations:
            assert set(view.breaches.entries(breach).tolist()) == inside, (view.problem, breach)
        view.candidates._hide_some(candidate, found)
        tail = candidate[view.tree.n_nodes :]
        assert (tail <= view.sensitive.most).all()
        sums = [(int(tail[sorted(inside)].sum()) - breach.excess, inside) for breach, inside in violations]
        assert all(spare >= 0 for spare, _ in sums)
        for e in np.flatnonzero(tail).tolist():
            assert any(spare == 0 and e in inside for spare, inside in sums), (view.problem, candidate)
        seen += len(found)
    assert seen > enough(100)


def _holds(view: View, entry: int, breach: SecretBreach) -> bool:
    known, s = view.entries[entry]
    return s == view.sensitive.labels[breach.item] and all(known & view.items[v] for v in breach.nodes)


# --- bounds


@pytest.mark.exhaustive
@EVERY_SETTING
def test_bound_is_that_of_a_release(setting: str) -> None:
    rng = seeded(109)
    seen = Counter[str]()
    for _ in range(enough(25)):
        problem = draw_problem(rng, setting)
        parameters = exact.Exact(**problem.parameters)

        def bound(problem: Problem = problem, parameters: exact.Exact = parameters) -> dict[str, Any]:
            problem.guarantee.require_feasible(transactions(problem.rows))
            return exact.bound(transactions(problem.rows), problem.hierarchy, problem.guarantee, parameters)

        try:
            release = problem.solve()
        except InfeasibleError as error:
            with pytest.raises(InfeasibleError, match=re.escape(str(error))):
                bound()
            seen["refused"] += 1
            continue
        assert bound() == release.details["optimality"], problem
        seen["loss"] += release.details["optimality"]["loss"] > 0
    assert min(seen["refused"], seen["loss"]) > 0


# --- the record of a run


@pytest.mark.exhaustive
@EVERY_SETTING
def test_description_of_a_release(setting: str) -> None:
    rng = seeded(109)
    seen = Counter[str]()
    for _ in range(enough(40)):
        problem = draw(rng, setting)
        rows, promise = problem.rows, problem.promise
        try:
            release = problem.solve()
        except InfeasibleError:
            continue
        published = [frozenset(release.published[at]) for at in release.row_map.tolist()]
        lost = Counter(s for row, shown in zip(rows, published, strict=True) for s in row - shown)
        record = release.details
        assert record["hidden"] == {s: lost[s] for s in promise.sensitive if lost[s]}, problem
        secret, occurring = set(promise.sensitive), set(chain.from_iterable(rows))
        tree = None if problem.tree is None else naive.restricted(problem.tree, secret)
        shown = set(chain.from_iterable(published))
        gone = {x for x in occurring - secret if shown.isdisjoint([x] if tree is None else up_from(tree, x))}
        gone |= {s for s in occurring & secret - shown if problem.terms.hide == ITEMS}
        assert record["suppressed"] == item_order(gone), problem
        if record.get("alone"):
            free = replace(promise, rho=Fraction(1), knows="public")
            keep = tuple(x for x in problem.terms.keep if x not in secret)
            terms = replace(problem.terms, max_suppressed=None, keep=keep)
            least, _ = naive.least_loss(rows, problem.tree, free, terms)
            assert least is not None
            assert record["alone"] == {"loss": float(least), "proven": True}, problem
        seen["hidden"] += bool(record["hidden"])
        seen["suppressed"] += bool(gone)
        seen["alone"] += bool(record.get("alone")) and record["alone"]["loss"] < record["optimality"]["loss"]
    assert seen["suppressed"] > 0
    assert (seen["hidden"] > 0) == (setting[:9] != "coherence")
    assert (seen["alone"] > 0) == (setting not in {"rho-uncertainty", "coherence without hierarchy"})


@pytest.mark.exhaustive
@EVERY_SETTING
def test_the_least_limit_that_would_do(setting: str) -> None:
    rng = seeded(110)
    seen = 0
    for _ in range(enough(60)):
        drawn = draw(rng, setting, most_public=5, most_rows=8)
        if not drawn.terms.suppress:
            continue
        terms = replace(drawn.terms, max_suppressed=rng.choice((0, 0.02, 0.1)))
        problem, free = replace(drawn, terms=terms), replace(terms, max_suppressed=None)
        rows = problem.rows
        lost = [
            found.suppressed(rows)
            for found in naive.every_valid_release(rows, problem.tree, problem.promise, free)
        ]
        occurrences = sum(map(len, rows))
        if not lost or min(lost) <= exactly(terms.max_suppressed or 0) * occurrences:
            continue
        with pytest.raises(InfeasibleError, match="may be suppressed, but") as refused:
            problem.solve()
        least = Fraction(min(lost), occurrences)
        named = re.fullmatch(r"max_suppressed=(.*) would do\.", refused.value.hint or "")
        assert named, refused.value
        assert 0 <= Fraction(named[1]) - least < Fraction(1, 10**6), (problem, lost)
        seen += 1
    assert seen > 3


@pytest.mark.parametrize(
    "weights",
    [
        {"a1": 0.00012345678901234567, "H": 2},
        {"a1": Fraction(1, 10**12), "H": Fraction(1, 3**25)},
        {"a1": Fraction(10**12 + 39, 10**13), "b1": Fraction(2, 7**14), "H": 1e12},
    ],
)
@pytest.mark.parametrize("hide", [OCCURRENCES, ITEMS])
def test_weights_of_any_denominators(weights: dict[str, Number], hide: str) -> None:
    problem = replace(PAPER, terms=Terms(hide, weights=weights))
    release = problem.solve()
    least, _ = problem.least_loss()
    assert least is not None
    found = release.details["optimality"]
    assert found["loss"] == float(least)
    assert 0.9 * float(least) < found["lower_bound"] <= float(least)
