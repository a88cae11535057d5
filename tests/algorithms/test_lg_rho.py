"""LG with sensitive items: public items as without them, sensitive items capped in every part."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from naive import lg as naive_lg
from naive import rho as naive
from naive.km import Rows
from releases import released
from rho_cases import DATA, PARENTS, RHOS, SENSITIVE, in_order, published, random_trees
from setveil.base.errors import InfeasibleError, RequestError
from setveil.judges.guarantees.km_rho import KmRho
from setveil.judges.utility.ncp import ncp
from setveil.methods.algorithms._public_part import PublicPart
from setveil.methods.algorithms.lg import lg
from setveil.methods.algorithms.lg._partitioning import find_nodes
from setveil.methods.algorithms.lg._sensitive_cap import hidden_in_parts
from setveil.methods.algorithms.lg.lg import anonymize
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import examples, seeded

TREE = Hierarchy(PARENTS)


def test_worked_example() -> None:
    """Make rows a1 (four, three of them with s) and b1 (two, one with s), and one empty row."""
    rows: Rows = [frozenset(row.split()) for row in ("a1 s", "a1 s", "b1 s", "a1 s", "a1", "b1", "s")]
    data = Transactions.from_rows(rows)
    recoding, details = anonymize(data, TREE, KmRho(2, math.inf, "1/2", ["s"]))
    assert published(rows, recoding) == [
        frozenset(row.split()) for row in ("a1 s", "a1 s", "b1 s", "a1", "a1", "b1", "")
    ]
    assert details == {"parts": 2, "splits": 1, "hidden": {"s": 2}, "warnings": []}
    assert ncp(data, recoding) == pytest.approx(2 / 11)


def test_equals_the_twins() -> None:
    rng = seeded(931)
    hidden = generalized = 0
    for drawn, sensitive, rho in random_trees(examples(300, 50), 931):
        case = replace(drawn, rows=in_order(drawn.rows))
        k = rng.randint(1, 4)
        guarantee = KmRho(k, math.inf, rho, sensitive)
        public = [row - set(sensitive) for row in case.rows]
        if 0 < sum(map(bool, public)) < k:
            with pytest.raises(InfeasibleError):
                anonymize(case.data, case.tree, guarantee)
            continue
        recoding, details = anonymize(case.data, case.tree, guarantee)
        rows = published(case.rows, recoding)
        assert naive.is_km_rho(rows, sensitive, k, math.inf, Fraction(rho), "public"), (case, sensitive, rho)

        tree = naive.public_tree(case.parents, sensitive)
        pairs = Counter(zip(public, (row - set(sensitive) for row in rows), strict=True))
        assert pairs == naive_lg.lg(public, tree, k), (case, sensitive)
        part = PublicPart(case.data, case.tree, sensitive)
        _, part_of, _ = find_nodes(part.rows, part.tree, k)
        parts = [np.flatnonzero(part_of == number).tolist() for number in np.unique(part_of)]
        kept = naive.capped(case.rows, parts, sensitive, Fraction(rho))
        assert [row & set(sensitive) for row in rows] == [row & set(sensitive) for row in kept]
        hidden += bool(details["hidden"])
        generalized += any(row - before for row, before in zip(rows, case.rows, strict=True))
    assert hidden
    assert generalized


def test_order_of_the_rows_makes_no_difference() -> None:
    rng = seeded(933)
    for case, sensitive, rho in random_trees(examples(100, 20), 933):
        guarantee = KmRho(1, 2, rho, sensitive)
        shuffled = case.shuffled(rng)
        one, another = (
            Counter(published(c.rows, anonymize(c.data, c.tree, guarantee)[0])) for c in (case, shuffled)
        )
        assert one == another, (case, shuffled, guarantee)


def test_the_cap_of_any_parts_is_the_twins() -> None:
    rng = seeded(932)
    for case, sensitive, _ in random_trees(examples(100, 20), 932):
        rho = Fraction(rng.choice(RHOS))
        part_of = np.array([rng.randint(-1, 3) for _ in case.rows], np.int64)
        mask = PublicPart(case.data, case.tree, sensitive).is_sensitive
        hidden = hidden_in_parts(case.data, mask, part_of, rho)
        parts = [np.flatnonzero(part_of == number).tolist() for number in range(-1, 4)]
        kept = naive.capped(case.rows, parts, sensitive, rho)
        left = Transactions.from_codes(
            case.data.indptr, np.where(hidden, -1, case.data.items), case.data.vocabulary.labels
        )
        assert [frozenset(row) for row in left] == kept


def test_bad_input() -> None:
    with pytest.raises(RequestError, match=r"only against those who know public items.*\n?.*exact"):
        anonymize(DATA, TREE, KmRho(2, 2, "1/2", SENSITIVE, knows="any"))
    with pytest.raises(RequestError, match="neither in the data nor in the hierarchy: 'x'"):
        anonymize(DATA, TREE, KmRho(2, 2, "1/2", ["x"]))
    with pytest.raises(InfeasibleError, match="greatest possible k is 8"):
        anonymize(DATA, TREE, KmRho(9, 2, "1/2", SENSITIVE))


def test_no_rows() -> None:
    nothing: list[list[list[str]]] = [[], [[]], [[], []]]
    for rows in nothing:
        release = released(lg, Transactions.from_rows(rows), TREE, KmRho(2, 2, "1/2", SENSITIVE))
        assert list(release.published) == [()] * len(rows)
