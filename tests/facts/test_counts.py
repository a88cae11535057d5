"""Counts of facts published with the rows: the guarantee with these counts, and counts that break it."""

from __future__ import annotations

import csv
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from fact_cases import random_columns, random_facts, some_facts
from naive import worlds as naive
from setveil.base.errors import DataError, RequestError
from setveil.judges.guarantees.verify.counts import CountsFile, check_counts
from setveil.judges.guarantees.verify.fact_counts import check_fact_counts
from setveil.releases.published.facts import FactsRelease
from strategies import many


def made_of(random: Random, k: int = 2, m: int = 2) -> FactsRelease:
    """Make a small release of facts with counts, from the first drawn rows with k that have any fact."""
    facts, codes = some_facts(random)
    while facts.filled_rows < k:
        facts, codes = some_facts(random)
    release = sv.anonymize(facts, k=k, m=m, hierarchy=codes).release
    assert isinstance(release, FactsRelease)
    return release


def counting(release: FactsRelease) -> naive.Release:
    """Convert a release, with the facts that are named anywhere, for counting worlds."""
    boxes, counts = release.published.stands_for, release.counts
    assert counts is not None
    members = {boxes.text(box): frozenset(map(boxes.text, boxes.facts(box))) for box in boxes.boxes}
    covered = frozenset().union(*members.values())
    everything = {*release.facts.vocabulary.labels, *counts.items}
    lines = {(item, label): rows for item, label, rows in counts.lines()}
    rows = [frozenset(row) for row in release.published]
    suppressed = frozenset(everything) - covered
    return naive.Release(rows, members, suppressed, lines, counts.least, counts.suppressed)


def test_whoever_knows_facts_finds_the_same_rows_each_as_likely() -> None:
    random, seen = Random(11), 0
    while seen < many(25):
        release = made_of(random)
        knowledge = counting(release)
        if (
            len(knowledge.rows) > 5
            or sum(map(len, knowledge.members.values())) + len(knowledge.suppressed) > 7
        ):
            continue
        held, shown = (
            naive.holding(knowledge),
            {x: to for to, inside in knowledge.members.items() for x in inside},
        )
        for first in release.facts.vocabulary.labels:
            for second in release.facts.vocabulary.labels:
                known = {first, second}
                labels = {shown[x] for x in known if x in shown}
                ways = naive.fitting(held, frozenset(known))
                fit = [labels <= row for row in knowledge.rows]
                if any(ways):  # else no row ever held these two facts
                    assert [way > 0 for way in ways] == fit
                    assert len({way for way in ways if way}) == 1
                    assert sum(fit) >= 2
        seen += 1


def test_counts_of_codes_over_periods_would_tell_more() -> None:
    # Rows {a1, a2}, {b1, b2}; a1 and b1 are published as they are, a2 and b2 as (*, 2).
    rows = [frozenset({"a@1", "*@2"}), frozenset({"b@1", "*@2"})]
    members = {"a@1": frozenset({"a@1"}), "b@1": frozenset({"b@1"}), "*@2": frozenset({"a@2", "b@2"})}
    of_facts = dict.fromkeys([("a@1", "a@1"), ("b@1", "b@1"), ("a@2", "*@2"), ("b@2", "*@2")], 1)
    worlds = list(naive.worlds(naive.Release(rows, members, frozenset(), of_facts, 1)))

    def with_code(world: naive.World, code: str) -> int:
        return sum(any(fact.startswith(code) for fact in naive.items_of(row)) for row in world)

    # The counts of facts leave both worlds, and a2 may be of either row.
    assert len(worlds) == 2
    assert [sum("a@2" in naive.items_of(world[q]) for world in worlds) for q in (0, 1)] == [1, 1]
    # The number of rows with some a reveals which one is true.
    assert sorted(with_code(world, "a") for world in worlds) == [1, 2]
    assert [with_code(world, "a") == 1 for world in worlds if "a@2" in naive.items_of(world[0])] == [True]


def test_the_check_is_that_of_items_with_all_facts_of_a_box_listed() -> None:
    random = Random(4)
    for _ in range(many(150)):
        release = made_of(random, 2, 1)
        boxes, counts = release.published.stands_for, release.counts
        assert counts is not None
        k, domain = 2, release.recoding.domain
        lines = counts.lines()
        least, suppressed = counts.least, counts.suppressed
        wrong = random.randrange(7)
        if lines and wrong < 4:
            at = random.randrange(len(lines))
            item, label, n = lines[at]
            others = [boxes.text(box) for box in boxes.boxes] + [""]
            lines[at] = [
                (item, random.choice(others), n), (item, label, n + random.randint(-2, 2)),
                (random.choice(release.facts.vocabulary.labels), label, n),
                lines[random.randrange(len(lines))],
            ][wrong]  # fmt: skip
        elif lines and wrong == 4:
            del lines[random.randrange(len(lines))]
        elif wrong == 5:
            least, suppressed = random.randint(1, 4), not suppressed
        whole = {
            boxes.text(box): [boxes.text(fact) for fact in boxes.facts(box)]
            for box in boxes.boxes
            if boxes.fact(boxes.text(box)) is None
        }
        expected = check_counts(
            release.published, CountsFile(lines, least, suppressed, whole, False, domain), k
        )
        found = check_fact_counts(release.published, boxes, lines, least, suppressed, k, domain=domain)
        assert found == expected, (lines, wrong)


def test_counts_are_written_read_and_checked(tmp_path: Path) -> None:
    facts, codes, _ = random_facts(Random(5))
    made = sv.anonymize(facts, k=2, m=1, hierarchy=codes)
    made.write(tmp_path / "out")
    file = tmp_path / "out/published/counts.csv"
    with file.open(newline="") as lines:
        header, *rest = csv.reader(lines)
    assert header == ["fact", "box", "rows"]
    assert rest, "an example without counts shows nothing"
    supports = dict(zip(facts.vocabulary.labels, facts.supports().tolist(), strict=True))
    assert {fact: int(rows) for fact, _, rows in rest} == {x: n for x, n in supports.items() if n >= 2}
    verdict = sv.verify(tmp_path / "out", k=2, m=1)
    assert verdict.holds
    assert verdict.counts is not None
    assert verdict.counts.lines == len(rest)
    assert verdict == sv.verify(made, k=2, m=1)

    text = file.read_text()
    fact, rows = rest[0][0], rest[0][2]
    for old, new, said in (
        (f",{rows}\n", ",99\n", "99 rows contain"),
        (f"{fact},", "a@b@c,", "is no fact, expected a value of each of code, on with '@' between them"),
        (f"{fact},", "nothing,", "is no fact"),
    ):
        file.write_text(text.replace(old, new, 1))
        found = sv.verify(tmp_path / "out", k=2, m=1)
        assert not found.holds
        assert found.counts is not None
        assert any(said in one for one in found.counts.first), (said, found)
    file.write_text(text.replace("fact,box", "item,label", 1))
    with pytest.raises(DataError, match="expected fact,box,rows"):
        sv.verify(tmp_path / "out", k=2, m=1)
    file.unlink()
    with pytest.raises(DataError, match=r"counts\.csv is missing"):
        sv.verify(tmp_path / "out", k=2, m=1)


def test_a_release_that_is_read_measures_as_when_it_was_made(tmp_path: Path) -> None:
    for seed in range(8):
        facts, codes = some_facts(Random(seed))
        made = sv.anonymize(facts, k=2, m=1, hierarchy=codes)
        made.write(tmp_path / str(seed))
        assert sv.measure(facts, tmp_path / str(seed)) == sv.measure(facts, made) == made.utility
    with pytest.raises(RequestError, match="the original is read as rows of items"):
        sv.measure([["a"]], tmp_path / "0")
    with pytest.raises(RequestError, match="queries cannot be used for rows of facts"):
        sv.measure(facts, tmp_path / str(seed), queries=3)


def test_a_line_of_counts_names_the_column(tmp_path: Path) -> None:
    facts, trees = random_columns(Random(3))
    made = sv.anonymize(facts, k=2, m=1, hierarchy=trees)
    made.write(tmp_path / "out")
    assert sv.verify(tmp_path / "out", k=2, m=1) == made.verdict
    file = tmp_path / "out/published/counts.csv"
    with file.open(newline="") as lines:
        _, *rest = csv.reader(lines)
    supports = dict(zip(facts.vocabulary.labels, facts.supports().tolist(), strict=True))
    assert {fact: int(rows) for fact, _, rows in rest} == {x: n for x, n in supports.items() if n >= 2}
    assert {fact.partition("=")[0] for fact, *_ in rest} == {"code", "drug"}
    file.write_text(file.read_text().replace(rest[0][0], rest[0][0].partition("=")[2], 1))
    counts = sv.verify(tmp_path / "out", k=2, m=1).counts
    assert counts is not None
    said = "is no fact, expected a value of each of code, on behind 'code=', or of drug behind 'drug='"
    assert any(said in one for one in counts.first), counts


def test_counts_may_be_omitted_or_have_a_greater_least() -> None:
    facts, codes, _ = random_facts(Random(5))
    assert sv.anonymize(facts, k=2, m=1, hierarchy=codes, counts=False).counts is None
    counts = sv.anonymize(facts, k=2, m=1, hierarchy=codes, counts=3).counts
    assert counts is not None
    assert counts.least == 3
    assert (counts.rows >= 3).all()
    with pytest.raises(RequestError, match="Counts below k"):
        sv.anonymize(facts, k=3, m=1, hierarchy=codes, counts=2)
