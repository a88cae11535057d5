"""The proven optimum of one recoding for a whole table against every cut of every tree."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from naive import forest as naive
from naive.anonymize import leaves, up_from
from naive.measures import Image
from real_data import DATA
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import silent
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.mixed_km import MixedKmAnonymity
from setveil.methods.algorithms.rt import forest
from setveil.methods.algorithms.rt._bounding import relational_optimum
from setveil.methods.algorithms.rt._ranged import with_ranges
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.ranges import ranges
from setveil.rows.tables.table import Table
from strategies import COMPILED, examples, random_rows, random_tree, seeded

Parents = dict[str, str | None]

CODES: Parents = {"I21": "Heart", "I50": "Heart", "J18": "Lung", "J44": "Lung", "Heart": "ALL", "Lung": "ALL"}
CODES |= {"ALL": None}
SEX: Parents = {"F": "*", "M": "*", "*": None}
AGES = ranges(["34", "36", "41", "45", "47", "62", "64", "71"], Fraction(10))
WARD = naive.Table(
    [
        (("34", "F"), frozenset({"I21", "J18"})),
        (("36", "F"), frozenset({"I21"})),
        (("41", "M"), frozenset({"J18", "J44"})),
        (("45", "M"), frozenset({"I50", "J44"})),
        (("47", "F"), frozenset({"I50"})),
        (("62", "M"), frozenset({"I21", "J44"})),
        (("64", "M"), frozenset({"I21", "I50"})),
        (("71", "F"), frozenset({"J18"})),
    ],
    [AGES, SEX],
    CODES,
    numeric=frozenset({0}),
)


def table_of(twin: naive.Table) -> Table:
    rows = Transactions.from_rows(sorted(row) for _, row in twin.rows)
    columns = []
    for a, tree in enumerate(twin.trees):
        texts = sorted({values[a] for values, _ in twin.rows})
        codes = np.array([texts.index(values[a]) for values, _ in twin.rows], np.int64)
        weight = twin.weights[a] if twin.weights else 1
        columns.append(
            quasi_identifier(f"c{a}", codes, texts, numeric=a in twin.numeric, parents=tree, weight=weight)
        )
    return Table(indptr=rows.indptr, items=rows.items, vocabulary=rows.vocabulary, columns=tuple(columns))


def guarantee_of(terms: naive.Terms) -> KKmAnonymity | MixedKmAnonymity:
    return (MixedKmAnonymity if terms.mixed else KKmAnonymity)(terms.k, terms.m)


def solved(twin: naive.Table, terms: naive.Terms) -> tuple[list[Image], Image, dict[str, Any]]:
    """Run the algorithm: what becomes of values and items, and the details."""
    table, tree = table_of(twin), Hierarchy(twin.items)
    names = [*(column.name for column in table.columns), table.set_name]
    parameters = forest.Forest(
        share=terms.share,
        objective=terms.objective,  # type: ignore[arg-type]
        suppress=terms.suppress,
        coarsest={names[t]: labels for t, labels in terms.coarsest.items()},
    )
    made, details = forest.anonymize(table, tree, guarantee_of(terms), parameters)
    columns: list[Image] = [
        {column.labels[v]: column.labels[to] for v, to in enumerate(nodes.tolist())}
        for column, nodes in zip(table.columns, made.nodes, strict=True)
    ]
    items = made.items
    to: Image = {
        item: items.published.labels[at] if at >= 0 else None
        for item, at in zip(items.items.labels, items.image.tolist(), strict=True)
    }
    return columns, to, details


def check(twin: naive.Table, terms: naive.Terms) -> None:
    least = naive.least_loss(twin, terms)
    if least is None:
        with pytest.raises(InfeasibleError):
            solved(twin, terms)
        return
    columns, items, details = solved(twin, terms)
    published = naive.published(twin.rows, columns, items)
    assert naive.is_anonymous(published, terms.k, terms.m, terms.mixed)
    r, t = naive.relational_loss(twin, columns), naive.item_loss(twin, items, terms.objective)
    found = terms.share * r + (1 - terms.share) * t
    assert found == least
    record = details["optimality"]
    assert record["proven"]
    assert record["loss"] == float(least)
    assert details["relational_loss"] == float(r)
    assert details["transaction_loss"] == float(naive.item_loss(twin, items, "lm"))
    for t_, labels in terms.coarsest.items():
        tree = [*twin.trees, twin.items][t_]
        shown = {*[*columns, items][t_].values()} - {None}
        above = {up for label in labels for up in up_from(tree, label)[1:]}
        assert not shown & above


def random_table(rng: Random) -> naive.Table:
    n = rng.choice((0, 3, 8, 12, 20, 30))
    trees, columns = [], []
    for a in range(rng.choice((1, 2, 2, 3))):
        domain = [f"{'uvw'[a]}{i}" for i in range(rng.choice((1, 2, 3, 4, 5) if a < 2 else (2, 3)))]
        trees.append(random_tree(rng, domain))
        weights = [rng.random() + 0.05 for _ in domain]
        columns.append(rng.choices(domain, weights, k=n))
    numeric = frozenset[int]()
    if rng.random() < 0.3:
        values = [rng.choice(("", "1", "3", "8", "9.5")) for _ in range(n)]
        numeric = frozenset({len(trees)})
        trees.append(ranges(sorted({*values, "1"}), Fraction(2)))
        columns.append(values)
        trees, columns, numeric = trees[-2:], columns[-2:], frozenset({len(trees[-2:]) - 1})
    items = list("abcde")[: rng.randint(1, 5)]
    rows = random_rows(rng, items, n, 3)
    weights_ = [rng.choice((1, 1, 2, 3)) for _ in trees]
    return naive.Table(
        list(zip(zip(*columns, strict=True), rows, strict=True)) if n else [],
        trees,
        random_tree(rng, items),
        weights_,
        numeric,
    )


def random_terms(rng: Random, table: naive.Table) -> naive.Terms:
    coarsest: dict[int, tuple[str, ...]] = {}
    if rng.random() < 0.35:
        trees = [*table.trees, table.items]
        for t in rng.sample(range(len(trees)), rng.randint(1, 2)):
            coarsest[t] = tuple(rng.sample(sorted(trees[t]), min(len(trees[t]), rng.randint(1, 2))))
    return naive.Terms(
        rng.choice((2, 2, 3, 4)),
        rng.choice((1, 2, 2, 3, math.inf)),
        rng.random() < 0.5,
        rng.choice(
            (Fraction(1, 4), Fraction(1, 2), Fraction(1, 2), Fraction(2, 7), Fraction(0), Fraction(1))
        ),
        rng.random() < 0.6,
        rng.choice(("ncp", "lm")),
        coarsest,
    )


def cases(n: int, seed: int) -> Iterator[tuple[naive.Table, naive.Terms]]:
    rng = seeded(seed)
    for _ in range(n):
        table = random_table(rng)
        yield table, random_terms(rng, table)


def test_optimum_of_random_tables() -> None:
    for twin, terms in cases(examples(120, 6), 11):
        check(twin, terms)


@pytest.mark.parametrize(
    ("mixed", "suppress", "loss"),
    [
        (False, False, Fraction(97, 148)),
        (False, True, Fraction(71, 156)),
        (True, False, Fraction(1, 2)),
        (True, True, Fraction(2081, 5772)),
    ],
)
def test_ward(mixed: bool, suppress: bool, loss: Fraction) -> None:
    terms = naive.Terms(2, 2, mixed, Fraction(1, 2), suppress, "lm" if suppress else "ncp")
    check(WARD, terms)
    assert solved(WARD, terms)[2]["optimality"]["loss"] == float(loss)


def test_ward_with_suppression() -> None:
    columns, items, details = solved(WARD, naive.Terms(2, 2, False, Fraction(1, 2), True))
    assert set(columns[0].values()) == {"*"}
    assert columns[1] == {"F": "F", "M": "M"}
    assert items == {"I21": "Heart", "I50": "Heart", "J18": None, "J44": "J44"}
    assert details["suppressed"] == ["J18"]


def relational_loss(twin: naive.Table, k: int) -> Fraction:
    """Return the least loss found, after checking that each class has k rows."""
    table = table_of(twin)
    nodes = relational_optimum(table, k, silent)
    columns = [
        {column.labels[v]: column.labels[to] for v, to in enumerate(of.tolist())}
        for column, of in zip(with_ranges(table).columns, nodes, strict=True)
    ]
    published = naive.published(twin.rows, columns, dict.fromkeys(leaves(twin.items)))
    assert naive.is_anonymous(published, k, 0, mixed=False)
    return naive.relational_loss(twin, columns)


def test_columns_alone() -> None:
    assert relational_loss(WARD, 2) == Fraction(23, 74)
    for twin, terms in cases(examples(60, 8), 12):
        alone = replace(twin, rows=[(values, frozenset()) for values, _ in twin.rows])
        if 0 < len(alone.rows) < terms.k:
            with pytest.raises(InfeasibleError, match="the table has"):
                relational_loss(alone, terms.k)
            continue
        least = naive.least_loss(alone, naive.Terms(terms.k, 1, False, Fraction(1), False))
        assert relational_loss(alone, terms.k) == least


def test_rounded_losses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that rounding losses, where the integers would be too large, does not change the optimum."""
    monkeypatch.setattr("setveil.methods.algorithms.rt._forest_trees.EXACT", 1)
    for twin, terms in cases(examples(40, 4), 14):
        check(twin, terms)
    record = solved(WARD, naive.Terms(2, 2, False, Fraction(1, 2), True))[2]["optimality"]
    assert (record["loss"], record["proven"], record["within"]) == (71 / 156, True, 1e-9)


def test_nothing_is_worse_than_time_allows() -> None:
    """A search that ends at once has a valid release and a bound that is one."""
    for twin, terms in cases(examples(40, 4), 15):
        least = naive.least_loss(twin, terms)
        if least is None:
            continue
        table = table_of(twin)
        names = [*(column.name for column in table.columns), table.set_name]
        parameters = forest.Forest(
            terms.share,
            terms.objective,  # type: ignore[arg-type]
            terms.suppress,
            {names[t]: labels for t, labels in terms.coarsest.items()},
            time_limit=1e-9,
        )
        _, details = forest.anonymize(table, Hierarchy(twin.items), guarantee_of(terms), parameters)
        record = details["optimality"]
        assert record["lower_bound"] <= float(least) <= record["loss"]


def test_refusals() -> None:
    table, tree = table_of(WARD), Hierarchy(CODES)
    (first, codes), *others = WARD.rows
    alone = replace(WARD, rows=[(first, codes), *((values, frozenset()) for values, _ in others)])
    with pytest.raises(InfeasibleError, match="only 1 row is not empty"):
        forest.anonymize(table_of(alone), tree, KKmAnonymity(2, 2), forest.Forest(suppress=False))
    with pytest.raises(InfeasibleError, match="the table has 8 rows"):
        forest.anonymize(table, tree, KKmAnonymity(9, 2))
    fine = forest.Forest(coarsest={"c0": ["[30,40)", "[60,80)"], "c1": ["F"]})
    with pytest.raises(InfeasibleError, match=r"allowed of 'c0', 'c1': .*c0 = \[30,40\) and c1 = F"):
        forest.anonymize(table, tree, KKmAnonymity(4, 2), fine)
    fine = forest.Forest(suppress=False, coarsest={"items": ["I21"]})
    with pytest.raises(InfeasibleError, match=r"allowed of 'items'(.|\n)*suppression of items"):
        forest.anonymize(table, tree, KKmAnonymity(3, 2), fine)
    with pytest.raises(RequestError, match="not in the hierarchy of 'c1': 'X'"):
        forest.anonymize(table, tree, KKmAnonymity(2, 2), forest.Forest(coarsest={"c1": ["X"]}))
    with pytest.raises(RequestError, match="columns that do not exist: 'sex'"):
        forest.anonymize(table, tree, KKmAnonymity(2, 2), forest.Forest(coarsest={"sex": ["F"]}))
    with pytest.raises(RequestError, match="sensitive"):
        forest.anonymize(table, tree, KKmAnonymity(2, 2, sensitive=["J18"], h=Fraction(1, 2)))
    for wrong in ({"share": 2}, {"gap": -1}, {"time_limit": 0}, {"coarsest": ["F"]}, {"objective": "ul"}):
        with pytest.raises(RequestError):
            forest.Forest(**wrong)


def test_numbers_get_ranges() -> None:
    ages = [values[0] for values, _ in WARD.rows]
    table = table_of(WARD)
    plain = quasi_identifier("age", np.arange(8), ages, numeric=True)
    table = replace(table, columns=(plain, table.columns[1]))
    made, details = forest.anonymize(table, Hierarchy(CODES), KKmAnonymity(2, 2))
    assert "[40,45)" in made.columns[0].labels
    assert details["optimality"]["proven"]


@pytest.mark.exhaustive
@pytest.mark.skipif(not COMPILED or not (DATA / "diabetes_rt.csv").exists(), reason="no data, or no kernels")
def test_patients() -> None:
    """Check that, without suppression, the items are published as the root, and so do not count."""
    names = ["age", "gender", "race", "admission"]
    table = sv.read_table(
        DATA / "diabetes_rt.csv",
        qi=[*names, "days"],
        set="diagnoses",
        hierarchies={name: str(DATA / f"diabetes_rt_{name}.csv") for name in names},
    )
    tree = read_hierarchy(DATA / "diabetes_rt_diagnoses.csv")
    parameters = forest.Forest(share=Fraction(1, 2), suppress=False)
    made, found = forest.anonymize(table, tree, KKmAnonymity(5, 2), parameters)
    assert found["optimality"]["proven"]
    assert found["transaction_loss"] == 1
    assert round(found["relational_loss"], 6) == 0.495885
    nodes = relational_optimum(table, 5, silent)
    shown = np.stack([of[column.codes] for column, of in zip(made.columns, nodes, strict=True)])
    assert np.unique(shown, axis=1, return_counts=True)[1].min() >= 5
    extents = [
        column.extent[of[column.codes]] / column.full for column, of in zip(made.columns, nodes, strict=True)
    ]
    assert round(float(np.mean(extents)), 6) == 0.495885
