"""Risk of facts: what dates add, and who is found by the days between two facts."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from setveil.base.errors import RequestError
from setveil.judges.attacker.distances import best_of, distance_risk_after, distances_of
from setveil.releases.published.facts import FactsRelease
from setveil.rows.facts.dates import span_of
from strategies import many


def drawn(random: Random, people: int) -> tuple[pl.DataFrame, list[set[tuple[str, date]]]]:
    """Draw people's codes on days, a few without a date."""
    rows: list[set[tuple[str, date]]] = []
    lines = []
    for person in range(people):
        own = set()
        for _ in range(random.randint(1, 4)):
            day = date(2024, 1, 1) + timedelta(random.randrange(70))
            code = random.choice("abc")
            if random.random() < 0.1:
                lines.append((person, code, ""))
            else:
                lines.append((person, code, day.isoformat()))
                own.add((code, day))
        rows.append(own)
    return pl.DataFrame(lines, schema=["who", "code", "on"], orient="row"), rows


def naive_distances(row: set[tuple[str, date]]) -> set[tuple[str, str, int]]:
    ordered = sorted(row, key=lambda fact: (fact[1], fact[0]))
    return {(c, d, (later - day).days) for (c, day), (d, later) in combinations(ordered, 2)}


def test_distances_are_those_of_all_pairs() -> None:
    random = Random(1)
    for _ in range(many(80)):
        frame, rows = drawn(random, random.randint(1, 12))
        facts = sv.read_facts(frame, id="who", sets="code", when={"on": "day"})
        found = distances_of(facts)
        each = [naive_distances(row) for row in rows]
        parts = zip(found.row, found.first, found.second, found.days, found.support, strict=True)
        parts_by_codes = {(int(r), facts.codes[a], facts.codes[b], int(g)): int(n) for r, a, b, g, n in parts}
        assert parts_by_codes == {
            (r, *one): sum(one in other for other in each) for r, own in enumerate(each) for one in own
        }
        best = best_of(found, facts.n_rows)
        for r, own in enumerate(each):
            fewest = min((parts_by_codes[(r, *one)] for one in own), default=None)
            assert (int(found.support[best[r]]) if best[r] >= 0 else None) == fewest


def test_distances_are_also_of_codes_of_two_columns() -> None:
    random = Random(4)
    for _ in range(many(20)):
        frame, rows = drawn(random, random.randint(1, 12))
        if not 0 < frame.filter(pl.col("code") == "c").height < frame.height:
            continue
        c_is_a_drug = frame.with_columns(
            code=pl.when(pl.col("code") != "c").then("code").otherwise(pl.lit("")),
            drug=pl.when(pl.col("code") == "c").then(pl.lit("a")).otherwise(pl.lit("")),
        )
        facts = sv.read_facts(c_is_a_drug, id="who", sets=["code", "drug"], when={"on": "day"})
        found = distances_of(facts)
        names = [code if column.name == "code" else "c" for column in facts.columns for code in column.codes]
        each = [naive_distances(row) for row in rows]
        parts = zip(found.row, found.first, found.second, found.days, found.support, strict=True)
        parts_by_codes = {(int(r), names[a], names[b], int(g)): int(n) for r, a, b, g, n in parts}
        assert parts_by_codes == {
            (r, *one): sum(one in other for other in each) for r, own in enumerate(each) for one in own
        }
        months = sv.read_facts(c_is_a_drug, id="who", sets=["code", "drug"], when={"on": "month"})
        try:
            release = sv.anonymize(months, k=3, m=2, details=False).release
        except sv.InfeasibleError:
            continue
        assert isinstance(release, FactsRelease)
        after = distance_risk_after(facts, release.published, (3, 1000))
        assert after["rows_below"] == {"3": 0, "1000": after["looked"]}


def test_a_release_leaves_k_rows_for_every_distance() -> None:
    random = Random(2)
    seen = 0
    for _ in range(many(16)):
        frame, _ = drawn(random, 20)
        days = sv.read_facts(frame, id="who", sets="code", when={"on": "day"})
        months = sv.read_facts(frame, id="who", sets="code", when={"on": random.choice(("month", "quarter"))})
        codes = sv.Hierarchy({"a": "x", "b": "x", "c": "*", "x": "*", "*": None})
        release = sv.anonymize(months, k=3, m=2, hierarchy=codes, details=False).release
        assert isinstance(release, FactsRelease)
        after = distance_risk_after(days, release.published, (2, 3, 1000))
        assert after["rows_below"]["3"] == after["rows_below"]["2"] == 0
        assert after["rows_below"]["1000"] == after["looked"]
        seen += after["looked"]
    assert seen > 0


@pytest.mark.parametrize(
    ("period", "first", "last"),
    [
        ("2024-02-29", "2024-02-29", "2024-02-29"), ("2024-02", "2024-02-01", "2024-02-29"),
        ("2024-Q4", "2024-10-01", "2024-12-31"), ("2023", "2023-01-01", "2023-12-31"),
        ("2024-W01", "2024-01-01", "2024-01-07"), ("[0,30)", None, "9999-12-31"),
    ],
)  # fmt: skip
def test_periods_have_a_first_and_a_last_day(period: str, first: str | None, last: str) -> None:
    low = 0 if first is None else date.fromisoformat(first).toordinal()
    assert span_of(period) == (low, date.fromisoformat(last).toordinal())


def test_risk_of_facts_stands_beside_that_of_codes(tmp_path: Path) -> None:
    frame, rows = drawn(Random(3), 40)
    frame.write_csv(tmp_path / "log.csv")
    options = ("--id-column", "who", "--set", "code")
    days = sv.read_facts(tmp_path / "log.csv", id="who", sets="code", when={"on": "day"})
    found: dict[str, Any] = sv.risk(days, m=1)
    assert list(found) == ["facts", "codes alone"]
    assert found["codes alone"]["risk"] == sv.risk(days.codes_alone(), m=1)["risk"]
    each = [naive_distances(row) for row in rows]
    alone = sum(any(sum(one in other for other in each) == 1 for one in own) for own in each)
    assert found["facts"]["distances"]["rows_below"]["2"] == alone > 0
    done = setveil("risk", "log.csv", *options, "--when", "on:day", "--m", "1", cwd=tmp_path).ok()
    assert "If two codes and the days between them are known, but no date" in done.out
    assert "codes alone" in done.out

    months = sv.read_facts(tmp_path / "log.csv", id="who", sets="code", when={"on": "month"})
    release = sv.anonymize(months, k=3, m=2)
    both: dict[str, Any] = sv.risk(release, original=days, m=1)
    assert list(both) == ["before", "codes alone", "after"]
    assert both["after"]["distances"]["rows_below"]["2"] == 0
    assert "distances" not in sv.risk(months, m=1)["facts"]
    with pytest.raises(RequestError, match="the original is not read as facts"):
        sv.risk(release, original=[["a"]], m=1)
    with pytest.raises(RequestError, match="the release is none of facts"):
        sv.risk([["a"]], original=days, m=1)
    for more in ({"private": ["a"]}, {"fraction": 0.1}, {"absent": 1}):
        with pytest.raises(RequestError, match="facts"):
            sv.risk(days, m=1, **more)
