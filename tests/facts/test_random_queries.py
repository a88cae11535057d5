"""Random queries of facts, compared with the lines themselves: the truth is within the bounds."""

from __future__ import annotations

from random import Random

import polars as pl

import setveil as sv
from setveil.base.errors import DataError, InfeasibleError
from setveil.commands.query import shared_of
from setveil.judges.utility.estimators import estimator_for
from setveil.runs.options.itemsets import require_named
from strategies import enough

GROUPS = {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "c": "*", "a": "*", "b": "*", "*": None}
BANDS = [(None, 0), (0, 10), (10, 100), (100, None)]
PERIODS = ["*", "2023", "2024", "2022", "1931", *(f"{y}-Q{q}" for y in (2023, 2024) for q in range(1, 5))]
MONTHS = [f"{year}-{month:02}" for year in (2023, 2024, 1931) for month in range(1, 13)]
AMOUNTS = ["*", "<0", "[0,10)", "[10,100)", ">=100", "<10", ">=10", "[0,100)", "[20,30)", ">=50"]
Line = tuple[int, str, str, int]

ORDERS: list[str | int] = ["first", "last", 1]


def code_in(code: str, name: str) -> bool:
    """Return whether a code equals a name, or is below that group."""
    return name in (code, GROUPS[code], "*")


def date_in(day: str, name: str) -> bool:
    """Return whether a day is in a period."""
    if "Q" in name:
        return day[:4] == name[:4] and (int(day[5:7]) + 2) // 3 == int(name[-1])
    return name == "*" or day.startswith(name)


def total_in(total: int, name: str) -> bool:
    """Return whether an amount is in a band."""
    if name == "*":
        return True
    if name[0] == "<":
        return total < int(name[1:])
    if name[0] == ">":
        return total >= int(name[2:])
    low, high = name[1:-1].split(",")
    return int(low) <= total < int(high)


def period_of(day: str, level: str) -> str:
    """Name the month, quarter or year of a day."""
    quarter = f"{day[:4]}-Q{(int(day[5:7]) + 2) // 3}"
    return {"month": day[:7], "quarter": quarter, "year": day[:4]}[level]


def some_lines(random: Random) -> list[Line]:
    """Draw events of two years, and a few of others."""
    days = [
        f"{random.choice([2023, 2024])}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
        for _ in range(9)
    ]
    days += ["1931-07-02", "2022-01-01"]
    return [
        (
            person,
            random.choice(["a1", "a1", "a2", "b1", "b2", "c"]),
            random.choice(days),
            random.choice([1, 12, 120, 25]),
        )
        for person in range(random.randint(12, 40))
        for _ in range(random.randint(1, 3))
    ]


def test_the_truth_lies_within_the_bounds() -> None:
    random, n_queries, refused = Random(11), 0, 0
    while n_queries < enough(900):  # with fewer, the rare kinds of names do not occur
        lines, level = some_lines(random), random.choice(["month", "quarter", "year"])
        amounts = random.random() < 0.5
        log = pl.DataFrame(lines, schema=["who", "code", "on", "cost"], orient="row")
        facts = sv.read_facts(
            log, id="who", sets="code", when={"on": level}, amount={"cost": [0, 10, 100]} if amounts else None
        )
        try:
            made = sv.anonymize(
                facts, k=random.choice([2, 3, 5]), m=1, hierarchy=sv.Hierarchy(GROUPS), details=False,
                algorithm=random.choice(["exact", "aa"]), counts=random.choice([True, True, False]),
                fact_order=random.choice(ORDERS),
            )  # fmt: skip
        except InfeasibleError:
            continue
        totals: dict[tuple[int, str, str], int] = {}
        for who, code, day, cost in lines:
            key = who, code, period_of(day, level)
            totals[key] = totals.get(key, 0) + cost
        asked = estimator_for(shared_of(made))
        banded = {(who, code, day): totals[who, code, period_of(day, level)] for who, code, day, _ in lines}
        for _ in range(60):
            query, held = [], []
            for _ in range(random.choice([1, 1, 1, 2])):
                code, period = random.choice([*GROUPS]), random.choice([*PERIODS, *MONTHS])
                band = random.choice(AMOUNTS)
                name = "@".join([code, period, *([band] if amounts else [])][: random.choice([1, 2, 3, 3])])
                code, period, band = (*name.split("@"), "*", "*")[:3]
                query.append(name)
                held.append(
                    {
                        who
                        for (who, own, day), total in banded.items()
                        if code_in(own, code) and date_in(day, period) and total_in(total, band)
                    }
                )
            try:
                require_named([tuple(query)], asked)
            except DataError:  # a name that nothing published has
                refused += 1
                continue
            (answer,) = asked.answer_named([query])
            if n_queries % 60 == 0:
                assert sv.query(made, [query]) == [answer]
            truth = len(set.intersection(*held))
            assert answer.least <= truth <= answer.greatest, (query, answer, truth, level)
            n_queries += 1
    assert refused < n_queries
