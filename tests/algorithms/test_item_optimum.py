"""The least loss of the items of a part against every cut with every set of its leaves suppressed."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest

from naive import exact as naive
from naive.anonymize import up_from
from naive.exact import Terms
from naive.km import is_km
from naive.measures import recode
from setveil.kernels.rows import Ints, recode_rows
from setveil.methods.algorithms.exact import exact
from setveil.methods.algorithms.rt._item_optimum import ItemOptima, ItemOptimum
from strategies import Case, examples, random_case, random_cases, seeded


def everything(case: Case) -> Ints:
    return np.arange(case.data.n_rows)


def optima(case: Case, **options: object) -> ItemOptima:
    rows = recode_rows(case.data.indptr, case.data.items, case.tree.locate(case.data.vocabulary))
    return ItemOptima(case.tree, *rows, case.k, case.m, **options)  # type: ignore[arg-type]


def image(case: Case, found: ItemOptimum) -> dict[str, str | None]:
    """Map each occurring item to its label."""
    labels = case.tree.labels
    return {
        labels[leaf]: None if v < 0 else labels[v]
        for leaf, v in zip(found.leaves.tolist(), found.nodes.tolist(), strict=True)
    }


def whole_image(case: Case, found: ItemOptimum) -> dict[str, str | None]:
    to: dict[str, str | None] = dict.fromkeys(case.tree.labels[: case.tree.n_leaves])
    for v in set(found.nodes.tolist()) - {-1}:
        to.update({case.tree.labels[leaf]: case.tree.labels[v] for leaf in case.tree.leaves(v)})
    return to | image(case, found)


def units(case: Case) -> int:
    return case.data.n_occurrences * max(case.tree.n_leaves - 1, 1)


def check(case: Case, found: ItemOptimum) -> None:
    """Check that the release is private, has the stated cost, and is a cut with suppressed leaves."""
    assert found.proven
    to = whole_image(case, found)
    assert is_km(recode(case.rows, to), case.k, case.m)
    occurrences = Counter(chain.from_iterable(case.rows))
    assert sorted(occurrences) == sorted(image(case, found))
    if case.tree.n_leaves > 1:
        assert naive.loss(case.rows, to, Terms()) * units(case) == found.cost
    assert found.suppressed == sum(n for item, n in occurrences.items() if to[item] is None)
    labels = set(to.values()) - {None}
    assert not any(set(up_from(case.parents, label)[1:]) & labels for label in labels if label is not None)


@pytest.mark.parametrize("suppress", [True, False])
def test_against_all_releases(suppress: bool) -> None:
    for case in random_cases(examples(500, 40), 1, most_leaves=8, most_rows=30):
        if case.tree.n_leaves == 1:
            continue
        found = optima(case, suppress=suppress).solve(everything(case))
        best = naive.least_loss(case.rows, case.parents, case.k, case.m, Terms(suppress=suppress))
        assert (found is None) == (best is None)
        if found is not None and best is not None:
            assert found.cost == best * units(case)
            check(case, found)


def test_against_the_exact_algorithm() -> None:
    for case in random_cases(examples(12, 2), 2, most_leaves=12, most_rows=300):
        found = optima(case).solve(everything(case))
        known = exact.bound(case.data, case.tree, case.guarantee, exact.Exact())
        assert known["proven"]
        assert found is not None
        check(case, found)
        if case.data.n_occurrences:
            assert float(Fraction(found.cost, units(case))) == pytest.approx(known["loss"])


def test_nodes_that_are_not_allowed() -> None:
    rng = seeded(3)
    for _ in range(examples(400, 40)):
        case = random_case(rng, most_leaves=7, most_rows=25)
        barred = {label for label in case.parents if rng.random() < 0.3}
        allowed = np.array([label not in barred for label in case.tree.labels])
        for suppress in (True, False):
            terms = Terms(suppress=suppress)
            found = optima(case, suppress=suppress, allowed=allowed).solve(everything(case))
            occurring = set(chain.from_iterable(case.rows))
            options = [
                to
                for to in naive.candidates(case.rows, case.parents, terms)
                if not {to[item] for item in occurring} & barred
                and naive.is_valid(case.rows, to, case.k, case.m)
            ]
            # If nothing may be suppressed, an item that must not be shown has no place.
            assert (found is None) == (not options)
            if found is not None and case.tree.n_leaves > 1:
                best = min(naive.loss(case.rows, to, terms) for to in options)
                assert found.cost == best * units(case)
                check(case, found)


def test_costs_of_no_interest() -> None:
    rng = seeded(4)
    for case in random_cases(examples(300, 30), 5, most_leaves=8, most_rows=30):
        best = optima(case).solve(everything(case))
        assert best is not None
        most = max(best.cost + rng.choice((-200, -20, -2, -1, 0, 1, 2, 20)), 0)
        found = optima(case).solve(everything(case), most)
        assert found is not None
        assert found.lower <= best.cost <= found.cost
        assert found.lower > most or (found.cost == found.lower == best.cost)


def test_a_search_that_is_cut_short_proves_what_it_says() -> None:
    cut_short = 0
    for case in random_cases(examples(300, 30), 6, most_leaves=8, most_rows=30):
        best = optima(case).solve(everything(case))
        found = optima(case, effort=1).solve(everything(case))
        assert best is not None
        assert found is not None
        assert found.lower <= best.cost <= found.cost
        assert is_km(recode(case.rows, whole_image(case, found)), case.k, case.m)
        cut_short += not found.proven
    assert cut_short


def test_parts_of_rows() -> None:
    rng = seeded(7)
    for _ in range(examples(200, 20)):
        case = random_case(rng, most_leaves=9, most_rows=40)
        rows = sorted(rng.sample(range(len(case.rows)), rng.randint(0, len(case.rows))))
        part = Case([case.rows[row] for row in rows], case.parents, case.k, case.m)
        found, alone = optima(case).solve(np.array(rows, np.int64)), optima(part).solve(everything(part))
        assert found is not None
        assert alone is not None
        assert (found.cost, image(case, found)) == (alone.cost, image(part, alone))


def test_where_nothing_else_can_be_published_the_root_is() -> None:
    case = Case([frozenset("a"), frozenset("b")], {"a": "A", "b": "B", "A": "*", "B": "*", "*": None}, 2, 2)
    found = optima(case).solve(everything(case))
    assert found is not None
    assert image(case, found) == {"a": "*", "b": "*"}
    below = optima(case, allowed=np.array([label != "*" for label in case.tree.labels]))
    found = below.solve(everything(case))
    assert found is not None
    assert image(case, found) == {"a": None, "b": None}
    assert found.suppressed == 2
