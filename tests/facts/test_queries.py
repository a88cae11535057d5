"""Answers about facts and parts of facts: against all worlds, listed sets, and answers about items."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from math import prod
from pathlib import Path
from random import Random

import numpy as np
import polars as pl
import pytest

import setveil as sv
from cli_helpers import setveil
from fact_cases import some_facts, taken_apart
from naive import estimates as naive
from naive import worlds
from setveil.base.errors import DataError, InfeasibleError, RequestError
from setveil.commands.query import shared_of
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.estimators import estimator_for
from setveil.judges.utility.estimators.facts import FactEstimator
from setveil.judges.utility.greatest import greatest_itemsets
from setveil.releases.published import shared as record_of
from setveil.releases.published.facts import FactsRelease
from setveil.releases.published.shared import SharedFacts
from strategies import many


@pytest.fixture
def small_domain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Restrict the possible dates to occurring ones, because the test lists all worlds."""
    monkeypatch.setattr("setveil.rows.facts.settling.settled", lambda data, _: data)


def random_release(random: Random) -> tuple[FactsRelease, SharedFacts]:
    """Make a small release of facts, with all counts, some of them, or none."""
    facts, codes = some_facts(random)
    try:
        made = sv.anonymize(
            facts, k=2, m=random.choice((1, 2)), hierarchy=codes,
            counts=random.choice((True, True, False, 3)), algorithm=random.choice(("exact", "aa")),
            fact_order=random.choice((None, "last", "first")),
        ).release  # fmt: skip
    except InfeasibleError:  # of several columns aa leaves nothing out
        return random_release(random)
    assert isinstance(made, FactsRelease)
    shared = shared_of(made)
    assert isinstance(shared, SharedFacts)
    return made, shared


def names_of(shared: SharedFacts) -> list[str]:
    """List names of facts and parts: values, labels and any of each part."""
    boxes = shared.rows.stands_for
    found = []
    for places in boxes.places:
        column = f"{boxes.names[places.start]}=" if boxes.columns else ""
        known, meaning = boxes.known[places], boxes.meaning[places]
        each = [[*filter(None, values), *labels, "*"] for values, labels in zip(known, meaning, strict=True)]
        found += [column + "@".join(parts) for parts in product(*each)]
    return found


def facts_of(name: str, shared: SharedFacts, everything: set[str]) -> set[str]:
    """List the facts that a name represents, by definition."""
    boxes = shared.rows.stands_for
    column, labels = taken_apart(name, boxes)
    found = set()
    for fact in everything:
        own, values = taken_apart(fact, boxes)
        if own != column:
            continue
        of_column = boxes.columns[column[:-1]] if column else slice(None)
        parts = zip(values, labels, boxes.meaning[of_column], strict=True)
        if all(label in ("*", value) or value in known.get(label, ()) for value, label, known in parts):
            found.add(fact)
    return found


def everything_of(made: FactsRelease) -> set[str]:
    """List all facts there are, whether or not they occur."""
    found = set()
    for space in made.recoding.tree.spaces:
        column = f"{space.column}=" if space.column else ""
        each = (tree.labels[: tree.n_leaves] for tree in space.trees)
        found |= {column + "@".join(fact) for fact in product(*each)}
    return found


@pytest.mark.usefixtures("small_domain")
def test_no_original_lies_outside_the_bounds() -> None:
    random, seen, sharp = Random(1), 0, 0
    while seen < many(24):
        made, shared = random_release(random)
        everything = everything_of(made)
        members = {label: frozenset(shared.under(label)) for label in shared.rows.vocabulary.labels}
        suppressed = frozenset(everything) - frozenset().union(*members.values())
        if shared.rows.n_rows > 5 or len(everything) > 8:
            continue
        counts = shared.counts
        lines = None if counts is None else {(x, y): n for x, y, n in counts.lines()}
        release = worlds.Release(
            [frozenset(row) for row in shared.rows], members, suppressed, lines,
            0 if counts is None else counts.least, counts is None or counts.suppressed,
        )  # fmt: skip
        estimator = estimator_for(shared)
        names = names_of(shared)
        for number in (1, 1, 2, 2, 3):
            query = random.sample(names, min(number, len(names)))
            parts = [facts_of(name, shared, everything) for name in query]
            found = worlds.answers_where(release, lambda held: all(part & held for part in parts))  # noqa: B023
            answer = estimator.answer(query)
            assert answer.least <= min(found) <= max(found) <= answer.greatest, (query, answer, found)
            assert answer.least <= answer.estimate <= answer.greatest
            sharp += (answer.least, answer.greatest) == (min(found), max(found))
        seen += 1
    assert sharp > 2 * seen  # most are reached, so bounds are not there to be safe alone


def expected(release: naive.Published, parts: list[set[str]]) -> float:
    """Add up the chance of each row to hold some fact of each part, over all that it can hold."""
    total = 0.0
    for row in release.rows:
        labels = sorted(row)
        for some in product(*(naive.contents(release, label).items() for label in labels)):
            held = set().union(*(inside for inside, _ in some))
            chance = prod(p for _, p in some)
            suppressed = [(fact, n / len(release.rows)) for fact, n in release.listed("").items()]
            for there in product((False, True), repeat=len(suppressed)):
                also = {fact for (fact, _), yes in zip(suppressed, there, strict=True) if yes}
                of_these = prod(p if yes else 1 - p for (_, p), yes in zip(suppressed, there, strict=True))
                if all(part & (held | also) for part in parts):
                    total += chance * of_these
    return total


@pytest.mark.usefixtures("small_domain")
def test_estimates_are_those_of_all_that_rows_can_hold() -> None:
    random = Random(2)
    for _ in range(many(80)):
        made, shared = random_release(random)
        everything = everything_of(made)
        counts = shared.counts
        release = naive.Published(
            [frozenset(row) for row in shared.rows],
            {label: shared.under(label) for label in shared.rows.vocabulary.labels},
            None if counts is None else {(x, y): n for x, y, n in counts.lines()},
            0 if counts is None else counts.least, counts is None or counts.suppressed,
        )  # fmt: skip
        estimator = estimator_for(shared)
        for number in (1, 2, 3):
            names = names_of(shared)
            query = random.sample(names, min(number, len(names)))
            answer = estimator.answer(query)
            slow = expected(release, [facts_of(name, shared, everything) for name in query])
            assert answer.estimate == pytest.approx(min(max(slow, answer.least), answer.greatest), abs=1e-9)


def test_single_facts_are_answered_as_items_are(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(3)
    for _ in range(many(80)):
        monkeypatch.undo()
        _, shared = random_release(random)
        unlisted = random.choice((0, 0, 1))
        members = {label: shared.under(label) for label in shared.rows.vocabulary.labels}
        items = Estimator(
            record_of.Shared(shared.rows, members, shared.counts, shared.about, shared.layout),
            unlisted=unlisted,
        )
        few = random.choice((0, 100_000))
        monkeypatch.setattr(record_of, "_FEW_FACTS", few)  # whether facts without a count are named
        estimator = estimator_for(replace(shared), unlisted=unlisted)
        assert isinstance(estimator, FactEstimator)
        for number in (1, 2, 3):
            facts = sorted(items.places.of)
            query = random.sample(facts, min(number, len(facts)))
            plain, fast = items.answer(query), estimator.answer(query)
            assert (fast.least, fast.greatest) == (plain.least, plain.greatest)
            assert fast.estimate == pytest.approx(plain.estimate, rel=1e-12)
            by_parts = estimator.of_parts(query)
            assert by_parts[1:] == (plain.least, plain.greatest)
            assert by_parts[0] == pytest.approx(plain.estimate, abs=1e-9)
        if few:
            assert greatest_itemsets(estimator, 5) == greatest_itemsets(items, 5)


@pytest.fixture(scope="module")
def ward(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Write the release of the page, and return its folder."""
    lines = [(i, f"2024-0{1 + i % 2}-01", "I50.1") for i in range(40)]
    lines += [(i, f"2024-0{1 + i % 4}-15", f"J18.{i % 2}") for i in range(40)]
    log = pl.DataFrame(lines, schema=["who", "on", "code"], orient="row")
    facts = sv.read_facts(log, id="who", sets="code", when={"on": "month"})
    links = {
        "I50.1": "I50",
        "I50.9": "I50",
        "J18.0": "J18",
        "J18.1": "J18",
        "I50": "codes",  # below `*`, these groups would be read as computed prefixes
        "J18": "codes",
        "codes": None,
    }
    folder = tmp_path_factory.mktemp("ward") / "out"
    sv.anonymize(facts, k=5, m=2, hierarchy=sv.Hierarchy(links)).write(folder)
    return folder


def test_parts_are_named_by_values_labels_periods_and_any(ward: Path) -> None:
    one, other, some, month, quarter, year, code, both = sv.query(
        ward,
        ["I50.1@2024-01", ["I50.1@2024-03"], "I50.1@*", "*@2024-01", "*@2024-Q1", "*@2024", "I50.1",
         "I50.1; *@2024-03"],
    )  # fmt: skip
    assert (one.estimate, one.least, one.greatest) == (20, 20, 20)
    assert (other.least, other.greatest) == (0, 4)  # it is in no box, and in no count of 5 rows or more
    assert some.itemset == ("I50.1@*",)
    assert (some.estimate, some.least) == (code.estimate, code.least) == (40, 40)
    assert some.greatest == code.greatest == 40
    assert (month.least, month.greatest) == (20, 28)
    assert (quarter.least, year.greatest) == (40, 40)
    assert both.itemset == ("I50.1", "*@2024-03")
    assert (both.least, both.greatest) == (10, 22)


def test_the_command_says_why_there_is_no_exact_number(ward: Path) -> None:
    done = setveil("query", str(ward), "*@2024-01").ok()
    assert done.out.startswith("About 20 rows contain a fact of *@2024-01: at least 20, at most ")
    assert "counts of facts do not say which are in the same row" in done.out
    table = setveil("query", str(ward), *(f"J18.0@2024-0{month}" for month in range(1, 5))).ok().out
    assert table.splitlines()[0].split() == ["rows", "at", "least", "at", "most", "facts"]
    wrong = setveil("query", str(ward), "J19@*")
    assert wrong.code == 4
    assert "'J19@*' is neither a fact nor a part of facts of the release." in wrong.err
    group = setveil("query", str(ward), "E11 and N18")
    assert "is not answered as one: ask for each of its codes." in " ".join(group.err.split())
    assert len(sv.query(ward, itemsets=3)) == 3


def test_unsupported_queries_are_refused(ward: Path) -> None:
    with pytest.raises(RequestError, match="up to 8 facts if one of them represents several, got 9"):
        sv.query(ward, [["I50.1", *(f"J18.{a}@2024-0{b}" for a in "01" for b in "1234")]])
    for name in ("I50.1@2024-01@x", "I50.1@", "", "*@2025"):
        with pytest.raises(DataError):
            sv.query(ward, [[name]] if name else ["@"])
    with pytest.raises(RequestError, match="this release has no classes"):
        sv.query(ward, ["I50.1"], class_=0)


def test_boxes_of_many_facts_are_not_listed() -> None:
    # 300 codes on 300 days: 90,000 facts below the root and as many suppressed elsewhere.
    random = np.random.default_rng(1)
    days = [f"2024-{1 + at // 28:02}-{1 + at % 28:02}" for at in range(300)]
    lines = [(i // 3, days[a], f"c{b:03}") for i, (a, b) in enumerate(random.integers(0, 300, (3000, 2)))]
    log = pl.DataFrame(lines, schema=["who", "on", "code"], orient="row")
    facts = sv.read_facts(log, id="who", sets="code", when={"on": "day"})
    codes = {f"c{at:03}": "*" for at in range(300)} | {"*": None}
    made = sv.anonymize(facts, k=5, m=1, hierarchy=sv.Hierarchy(codes), algorithm="aa", details=False)
    answers = sv.query(made, ["c001", ["c001@2024-01-01"], "*@2024-01", "*"])
    supports = facts.codes_alone()
    assert answers[0].least <= supports.supports()[supports.vocabulary.ids["c001"]] <= answers[0].greatest
    assert answers[1].greatest <= 4 or answers[1].least == answers[1].greatest
    assert Fraction(answers[3].estimate) == 1000


def test_equal_codes_of_two_columns_are_separate_queries() -> None:
    lines = [(i, "a", "a" if i < 10 else "b", "2024-01-02" if i % 2 else "2024-02-02") for i in range(30)]
    log = pl.DataFrame(lines, schema=["who", "code", "drug", "on"], orient="row")
    facts = sv.read_facts(log, id="who", sets=["code", "drug"], when={"drug=on": "month"})
    made = sv.anonymize(facts, k=5, m={"code": 1, "drug": 1})
    exact = [("code=a", 30), ("drug=a@2024-01", 5), ("drug=b@2024-02", 10)]
    for name, rows in exact:
        (answer,) = sv.query(made, [[name]])
        assert (answer.least, answer.estimate, answer.greatest) == (rows, rows, rows)
    (both,) = sv.query(made, ["code=*; drug=a"])
    assert (both.least, both.greatest) == (10, 30)  # no other date of a is known to be published
    for name in ("a", "place=a", "code=a@2024-01", "code="):
        with pytest.raises(DataError, match="neither a fact nor a part"):
            sv.query(made, [[name]])
