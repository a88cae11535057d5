"""Tables of facts: persons with quasi-identifiers, and codes with dates."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import polars as pl
import pytest

import setveil as sv
from naive import fact_tables as naive
from naive import facts as naive_facts
from setveil.base.errors import SetveilError
from setveil.rows.facts.tables import FactTable
from strategies import many, seeds

ICD = {"a": "x", "b": "x", "c": "*", "x": "*"}
ATC = {"a": "*", "y": "*"}
Line = tuple[str, str, str, str, str, str]  # who, age, sex, code, drug, on


def random_lines(random: Random) -> list[Line]:
    """Draw events of persons who are the same on all lines; some lines lack a code, or both."""
    ages = random.choice((["30"], ["30", "40"], ["30", "40", "50"]))
    persons = {who: (random.choice(ages), random.choice("MF")) for who in "pqrstuvw"[: random.randint(4, 8)]}
    days = ["2023-05-15", "2024-01-03", "2024-02-03"]
    lines = [
        (
            who, *persons[who], random.choice("abc"), random.choice(["a", "y", ""]),
            random.choice(days),
        )
        for who in persons for _ in range(random.randint(1, 3))
    ]  # fmt: skip
    lines[0] = (*lines[0][:3], "", "", lines[0][5])
    random.shuffle(lines)
    return [*lines, (*next(line for line in lines if line[0] == "q")[:3], "a", "y", days[0])]


def frame_of(lines: list[Line]) -> pl.DataFrame:
    return pl.DataFrame(lines, schema=["who", "age", "sex", "code", "drug", "on"], orient="row")


def read(lines: list[Line], sets: Any, *, apart: bool = False) -> FactTable:
    """Read one long file; or persons and their events apart, which say the same."""
    frame = frame_of(lines)
    about: dict[str, Any] = {"id": "who", "sets": sets, "when": {"on": "month"}, "qi": ["age", "sex"]}
    if not apart:
        found = sv.read_facts(frame, **about)
    else:
        persons = frame.select("who", "age", "sex").unique(maintain_order=True)
        found = sv.read_facts(frame.select("who", "code", "drug", "on"), persons=persons, **about)
    assert isinstance(found, FactTable)
    return found


def values(table: FactTable) -> list[tuple[str, ...]]:
    return [
        tuple(column.labels[column.codes[row]] for column in table.columns) for row in range(table.n_rows)
    ]


def test_reading_matches_one_line_after_the_other() -> None:
    random = Random(3)
    for _ in range(many(200)):
        lines = random_lines(random)
        for apart in (False, True):
            found = read(lines, "code", apart=apart)
            expected = naive_facts.read(
                [(who, code, on, "1") for who, _, _, code, _, on in lines], "month", "lines", ["1"]
            )
            assert [set(row) for row in found] == [
                {fact.rpartition("@")[0] for fact in row} for row in expected
            ]
            persons = dict.fromkeys(line[0] for line in lines)
            of = {line[0]: line[1:3] for line in lines}
            assert values(found) == [of[who] for who in persons]


GUARANTEES: list[tuple[type[Any], str]] = [
    (sv.KKmAnonymity, "forest"), (sv.KKmAnonymity, "rt"), (sv.MixedKmAnonymity, "forest"),
]  # fmt: skip


@pytest.mark.parametrize(("guarantee", "algorithm"), GUARANTEES)
@pytest.mark.parametrize("own", [False, True])
@seeds(2, 5)
def test_what_is_published_keeps_the_promise(
    guarantee: type[Any], algorithm: str, own: bool, seed: int, tmp_path: Path
) -> None:
    random = Random(seed + 10 * own)
    mixed, done = guarantee is sv.MixedKmAnonymity, 0
    for number in range(many(36)):
        sets: Any = random.choice(["code", ["code", "drug"]]) if not own else ["code", "drug"]
        table = read(random_lines(random), sets)
        m: Any = random.randint(1, 3)
        if own:
            m = {name: random.randint(1, 2) for name in ("code", "drug")}
            m = {"qi": random.randint(1, 2), **m} if mixed else m
        trees: Any = ICD if sets == "code" else {"code": ICD, "drug": ATC}
        promise = guarantee(k=random.randint(2, 3), m=m)
        release = sv.anonymize(
            table, promise, hierarchy=trees, algorithm=algorithm, details=False,
            fact_order=random.choice([None, "first", "last"]),
        )  # fmt: skip
        folder = tmp_path / str(number)
        release.write(folder, format=random.choice([None, "long"]))
        rows, meaning, sign = naive.published(folder / "published")
        assert naive.keeps(rows, promise.k, m, mixed=mixed)
        assert not naive.overlap(rows, meaning, sign, mixed=mixed)
        verdict = sv.verify(folder, promise)
        assert verdict.holds
        assert sorted(map(len, (row.facts for row in rows))) == sorted(
            release.published.row_lengths().tolist()
        )
        # Another guarantee of the same rows is judged as the slow twin does.
        other = guarantee(k=promise.k + 1, m=m)
        assert sv.verify(folder, other).holds == naive.keeps(rows, other.k, m, mixed=mixed)
        done += bool(release.published.n_occurrences)
    assert done > many(36) // 3


def test_labels_that_overlap_break_the_promise(tmp_path: Path) -> None:
    lines = [(str(i), "30", "F", "a", "", "2024-01-03") for i in range(4)]
    lines += [(str(i), "40", "F", "a", "", "2024-02-03") for i in range(4, 8)]
    table = read(lines, "code")
    for guarantee in (sv.KKmAnonymity(k=2, m=1), sv.MixedKmAnonymity(k=2, m=1)):
        folder = tmp_path / guarantee.model
        sv.anonymize(table, guarantee, hierarchy=ICD, details=False, algorithm="forest").write(folder)
        data = folder / "published" / "data.csv"
        data.write_text(data.read_text().replace("40,F,a@2024-02", "40,F,a@2024"))
        about = json.loads((folder / "published" / "about.json").read_text())
        about["facts"]["sets"]["code"]["labels"]["on"]["2024"] = ["2024-01", "2024-02"]
        (folder / "published" / "about.json").write_text(json.dumps(about))
        mixed = isinstance(guarantee, sv.MixedKmAnonymity)
        verdict = sv.verify(folder, guarantee)
        rows, meaning, sign = naive.published(folder / "published")
        assert verdict.holds == (not naive.overlap(rows, meaning, sign, mixed=mixed)) == (not mixed)
    assert "some fact lies in both a@2024 and a@2024-01" in repr(verdict) or verdict.listed()[0]["overlap"]
    data.write_text(data.read_text().replace("40,F", "30,F"))
    rows, meaning, sign = naive.published(folder / "published")
    assert naive.overlap(rows, meaning, sign, mixed=False)
    assert not sv.verify(folder, sv.KKmAnonymity(k=2, m=1)).holds


def test_the_loss_is_the_least_of_all_cuts_of_its_tree() -> None:
    """One column of dates of one level: with every line tried no guillotine cut loses less."""
    random = Random(11)
    for _ in range(many(40)):
        lines = [
            (who, "30", "F", code, "", f"{on[:4]}-01-01") for who, _, _, code, _, on in random_lines(random)
        ]
        table = sv.read_facts(
            frame_of([line for line in lines if line[3]]),
            id="who",
            sets="code",
            when={"on": "year"},
            qi=["age"],
        )
        assert isinstance(table, FactTable)
        facts = [{tuple(fact.split("@")) for fact in row} for row in table]
        years = sorted({year for row in facts for _, year in row})
        trees = [{**ICD, "*": None}, {**dict.fromkeys(years, "*"), "*": None}]
        least = naive_facts.least_loss(facts, trees, 2, 2)
        release = sv.anonymize(
            table, sv.KKmAnonymity(k=2, m=2), hierarchy=ICD, algorithm="forest", details=False,
            fact_lines=True, share=0,
        )  # fmt: skip
        assert release.report["optimality"]["loss"] == pytest.approx(float(least), abs=1e-12)


@pytest.mark.parametrize("mixed", [False, True])
def test_own_ms_lose_the_least_of_all_cuts(mixed: bool) -> None:
    random = Random(17 + mixed)
    for _ in range(many(12)):
        lines = [line for line in random_lines(random) if line[3]]
        table = sv.read_facts(frame_of(lines), id="who", sets=["code", "drug"], qi=["sex"])
        assert isinstance(table, FactTable)
        m: dict[str, int] = {"code": random.randint(1, 2), "drug": 1, **({"qi": 1} if mixed else {})}
        persons = [
            naive.Person(known, frozenset((x[:4], x[5:]) for x in row))
            for known, row in zip(values(table), table, strict=True)
        ]
        trees: dict[str, Any] = {"code": {**ICD, "*": None}, "drug": {**ATC, "*": None}}
        promise = (sv.MixedKmAnonymity if mixed else sv.KKmAnonymity)(k=2, m=m)
        release = sv.anonymize(
            table, promise, hierarchy={"code": ICD, "drug": ATC}, algorithm="forest", details=False,
            share=0.25,
        )  # fmt: skip
        least = naive.least_loss(persons, trees, 2, m, 0.25, mixed=mixed)
        assert release.report["optimality"]["loss"] == pytest.approx(least, abs=1e-9)


def test_one_m_for_all_promises_more_than_own_ms() -> None:
    random = Random(2)
    for _ in range(many(20)):
        table = read(random_lines(random), ["code", "drug"])
        losses = [
            sv.anonymize(
                table, guarantee, hierarchy={"code": ICD, "drug": ATC}, algorithm="forest", details=False,
                fact_order="last",
            ).report["optimality"]["loss"]
            for guarantee in (sv.KKmAnonymity(k=2, m={"code": 2, "drug": 1}), sv.KKmAnonymity(k=2, m=3))
        ]  # fmt: skip
        assert losses[0] <= losses[1] + 1e-12


EVENTS = [
    ("p", "30", "F", "a", "", "2024-01-03"),
    ("p", "40", "F", "b", "", "2024-01-05"),
    ("q", "", "M", "a", "", "2024-02-03"),
    ("q", "25", "M", "c", "", "2024-02-03"),
]


@pytest.mark.parametrize(
    ("way", "ages"),
    [("first", ["30", "25"]), ("last", ["40", "25"]), ("least", ["30", "25"]), ("greatest", ["40", "25"])],
)
def test_one_value_of_a_person_counts(way: str, ages: list[str]) -> None:
    table = sv.read_facts(
        frame_of(EVENTS),
        id="who",
        sets="code",
        when={"on": "month"},
        qi=["age", "sex"],
        per_person={"age": way},
    )
    assert isinstance(table, FactTable)
    assert [row[0] for row in values(table)] == ages
    assert [len(row) for row in table] == [2, 2]


WRONG: list[tuple[dict[str, Any], str]] = [
    ({}, "column 'who'.*age '30'.*age '40'"),
    ({"qi": ["code", "sex"]}, "'code' has two roles, qi and set"),
    ({"keep": ["on"], "qi": ["sex"]}, "'on' has two roles, keep and part of a fact"),
    ({"per_person": {"age": "middle"}}, "there is no 'middle'; there are first, last, most-frequent"),
    ({"per_person": {"code": "first"}}, "only quasi-identifiers and kept columns"),
    ({"per_person": {"sex": "least"}}, "column 'sex': found 'F', expected a number"),
    ({"persons": pl.DataFrame({"who": ["p"], "age": ["30"], "sex": ["F"]})}, "1 id of column 'who' is not"),
    ({"qi": [], "keep": ["sex"]}, "no columns are named that someone may know in addition to facts"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "text"), WRONG)
def test_what_cannot_be_read_is_said(more: dict[str, Any], text: str) -> None:
    options = {"id": "who", "sets": "code", "when": {"on": "month"}, "qi": ["age", "sex"]} | more
    with pytest.raises(SetveilError, match=f"(?s){text}"):
        sv.read_facts(frame_of(EVENTS), **options)


def test_persons_without_events_are_rows_without_facts() -> None:
    persons = pl.DataFrame({"who": ["p", "q", "z"], "age": ["30", "25", "50"]})
    table = sv.read_facts(
        frame_of(EVENTS).select("who", "code", "on"), persons=persons, id="who", sets="code",
        when={"on": "month"}, qi=["age"],
    )  # fmt: skip
    assert isinstance(table, FactTable)
    assert [len(row) for row in table] == [2, 2, 0]


def test_some_rows_keep_what_their_facts_are() -> None:
    table = read(random_lines(Random(1)), ["code", "drug"])
    some = table.rows_at([2, 0])  # type: ignore[arg-type]
    assert isinstance(some, FactTable)
    assert some.facts.rows() == [table.facts.rows()[2], table.facts.rows()[0]]
    drawn = table.drawn(np.array([2, 0]))
    assert drawn.facts.rows() == some.facts.rows()
    assert set(drawn.vocabulary.labels) == {fact for row in drawn for fact in row}
