"""Attack risk of tables, compared with its definitions, set by set; and known facts about real patients."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_helpers import needs_compiled
from naive import tables_verify as naive
from naive.tables_verify import Line, Lines
from real_data import DATA
from setveil.base.errors import RequestError
from setveil.judges.attacker.attack import attack_risk
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import Table
from strategies import examples
from table_cases import COLUMNS, published, random_lines

rngs = st.randoms(use_true_random=False)


def table(lines: Lines, columns: Sequence[str] = COLUMNS) -> Table:
    """Make the original that rows are."""
    sets = Transactions.from_rows(sorted(line.items) for line in lines)
    made = []
    for i, name in enumerate(columns):
        texts = list(dict.fromkeys(line.known[i] for line in lines))
        made.append(
            quasi_identifier(name, np.array([texts.index(line.known[i]) for line in lines], int), texts)
        )
    return Table(sets.indptr, sets.items, sets.vocabulary, columns=tuple(made))


def expected(lines: Lines, private: Sequence[str], sizes: Sequence[int], ts: Sequence[int]) -> dict[str, Any]:
    """Return the brute-force answer in the form of the real one."""
    seen = [line._replace(items=line.items - set(private)) for line in lines]
    order = item_order({item for line in lines for item in line.items})
    risk: list[dict[str, Any]] = []
    for m in sorted(sizes):
        best, drawn = naive.best_probability(seen, m), naive.random_probability(seen, m)
        risk += [
            {
                "m": m, "choice": "best", "exact": True,
                "rows_below": {str(t): naive.best(seen, m, t) for t in sorted(ts)},
                "probability": pytest.approx(float(best), rel=1e-12),
                "fewest": min(naive.fewest(seen, m), default=None),
            },
            {
                "m": m, "choice": "random", "exact": True,
                "rows_below": {str(t): float(naive.random(seen, m, t)) for t in sorted(ts)},
                "probability": pytest.approx(float(drawn), rel=1e-12),
            },
        ]  # fmt: skip
    largest, below = min(max(sizes), 2), sorted(ts)[len(ts) // 2]
    found = naive.revealing(seen, order, largest, below)
    return {
        "rows": len(lines),
        "empty_rows": sum(not line.items for line in seen),
        "thresholds": sorted(ts),
        "risk": risk,
        "revealing": {
            "m": largest, "below": below, "exact": True,
            "items": [{"item": item, "support": support, "rows": rows} for item, support, rows in found],
        },
        "columns": list(COLUMNS),
    }  # fmt: skip


@settings(max_examples=examples(200, 20))
@given(rng=rngs)
def test_risk_is_the_twins(rng: Random) -> None:
    lines = random_lines(rng, most_rows=30)
    private = rng.sample("abcdef", rng.choice((0, 0, 2)))
    sizes, ts = rng.sample(range(5), rng.randint(1, 4)), rng.sample((2, 3, 5, 10), rng.randint(1, 3))
    wanted = expected(lines, private, sizes, ts)
    for rows in (published(lines), table(lines)):
        assert attack_risk(rows, sizes=sizes, thresholds=ts, private=private) == wanted


@needs_compiled
def test_what_is_drawn_lies_around_what_is_counted() -> None:
    rng = Random(3)
    inside: list[bool] = []
    while len(inside) < 60:
        table_ = published(random_lines(rng, most_rows=100))
        drawn = attack_risk(table_, sizes=[2], effort=1)["risk"][0]
        if not drawn["exact"]:
            counted = attack_risk(table_, sizes=[2])["risk"][0]["rows_below"]
            inside += [low <= counted[t] <= high for t, (low, high) in drawn["interval"].items()]
    assert sum(inside) >= 0.9 * len(inside)


def test_sizes_of_tables_begin_with_nothing() -> None:
    lines = [
        Line(("1", "F"), frozenset("a")),
        Line(("1", "F"), frozenset()),
        Line(("2", "M"), frozenset("a")),
    ]
    risk = attack_risk(published(lines))
    assert sorted({entry["m"] for entry in risk["risk"]}) == [0, 1, 2, 3]
    assert [entry["rows_below"]["2"] for entry in risk["risk"]][:4] == [1, 1.0, 2, 2.0]
    assert [entry["m"] for entry in attack_risk(published(lines).sets)["risk"][::2]] == [1, 2, 3, 4]
    with pytest.raises(RequestError, match="at least 1"):
        attack_risk(published(lines).sets, sizes=[0])
    with pytest.raises(RequestError, match="at least 0"):
        attack_risk(published(lines), sizes=[-1])


def test_one_class_is_the_rows_alone() -> None:
    """Check that a table without distinct quasi-identifiers reveals as much as its rows, if none is empty."""
    rng = Random(5)
    lines = [line for line in random_lines(rng, 60) if line.items]
    same = [line._replace(known=("1", "F")) for line in lines]
    of_table = attack_risk(published(same), sizes=[1, 2], thresholds=[2, 5])
    of_rows = attack_risk(published(same).sets, sizes=[1, 2], thresholds=[2, 5])
    del of_table["columns"]
    assert of_table == of_rows


# --- real patients


def patients() -> Table:
    path = DATA / "diabetes_rt.csv"
    if not path.is_file():
        pytest.skip("no real data here")
    with path.open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    sets = Transactions.from_rows([x for x in line["diagnoses"].split(";") if x] for line in lines)
    columns = []
    for name in ("age", "gender", "race", "admission", "days"):
        place: dict[str, int] = {}
        codes = [place.setdefault(line[name], len(place)) for line in lines]
        columns.append(quasi_identifier(name, np.array(codes), list(place), numeric=name == "days"))
    return Table(sets.indptr, sets.items, sets.vocabulary, columns=tuple(columns))


@needs_compiled
def test_diabetes_as_it_is() -> None:
    data = patients()
    risk = {(one["m"], one["choice"]): one for one in attack_risk(data, sizes=(0, 1, 2))["risk"]}
    found = [(risk[m, "best"]["rows_below"]["2"], risk[m, "best"]["rows_below"]["5"]) for m in (0, 1, 2)]
    assert found == [(924, 3_479), (34_660, 54_360), (61_179, 68_683)]
    rows = Transactions(data.indptr, data.items, data.vocabulary)
    assert attack_risk(rows, sizes=[2])["risk"][0]["rows_below"]["5"] == 20_499
