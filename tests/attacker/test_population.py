"""The value of a match to an attacker: compared with the definition, and the theorem over all samples."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, write
from naive import population as naive
from setveil.judges.attacker import population as fast
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.attacker.population import fraction_risk, keys_of
from strategies import examples, random_rows, seeded, transactions

POPULATION = [frozenset(text) for text in ["ab", "ab", "ac", "bc", "abc", "cd", "d", "abd"]]
INSIDE = [True, False, True, False, True, True, False, False]
SAMPLE = [row for row, there in zip(POPULATION, INSIDE, strict=True) if there]


def test_the_worked_example() -> None:
    found = sv.risk(SAMPLE, m=2, fraction="50%")["population"]
    assert found["fraction"] == 0.5
    (entry,) = found["entries"]
    assert (entry["unique"], entry["pairs"]) == (pytest.approx(4 / 3), pytest.approx(8 / 3))
    assert entry["estimate"] == pytest.approx(1 / 3)
    assert entry["exact"]
    assert naive.truth(POPULATION, INSIDE, 2) == Fraction(2, 5)
    counted = sv.risk(SAMPLE, m=2, population=POPULATION)["population"]
    best, drawn = counted["entries"]
    assert naive.fewest(SAMPLE, POPULATION, 2) == [4, 2, 2, 1]
    assert (best["fewest"], best["greatest"], best["rows_below"]) == (1, 1.0, {"2": 1, "5": 4, "10": 4})
    assert drawn["probability"] == pytest.approx(float(naive.mean_chance(SAMPLE, POPULATION, 2)))
    assert [entry["fewest"] for entry in sv.risk(SAMPLE, m=2)["risk"] if entry["choice"] == "best"] == [1]


def test_estimates_equal_the_definition() -> None:
    rng = seeded(341)
    for _ in range(examples(200)):
        rows = random_rows(rng, "abcdefg"[: rng.randint(1, 7)], rng.randint(1, 12), 5)
        m, share = rng.randint(1, 4), Fraction(rng.randint(1, 20), 20)
        (entry,) = fraction_risk(knowledge_of(transactions(rows), ()), share, [m])
        assert entry["unique"] == pytest.approx(float(naive.expected(rows, m, 1)))
        assert entry["pairs"] == pytest.approx(float(naive.expected(rows, m, 2)))
        slow = naive.estimate(rows, m, share)
        if slow is None:
            assert (entry["estimate"], entry["interval"]) == (None, None)
        else:
            assert entry["estimate"] == pytest.approx(float(slow))
            low, high = entry["interval"]
            assert 0 <= low <= high <= 1
            assert high == 1 or entry["pairs"] > 0


def test_wrong_matches_are_expected_exactly() -> None:
    """Over all samples: E[(1 - p) / p N2] is E[wrong matches], and E[N1] is E[right ones]."""
    rng = seeded(342)
    for _ in range(examples(40, 8)):
        people = random_rows(rng, "abcd", rng.randint(1, 6), 3)
        m, p = rng.randint(1, 3), Fraction(rng.randint(1, 9), 10)
        right = wrong = unique = pairs = Fraction(0)
        for inside in naive.samples(len(people)):
            chance = Fraction(1)
            for there in inside:
                chance *= p if there else 1 - p
            sample = [row for row, there in zip(people, inside, strict=True) if there]
            found = naive.matches(people, inside, m)
            right, wrong = right + chance * found[0], wrong + chance * found[1]
            unique += chance * naive.expected(sample, m, 1)
            pairs += chance * naive.expected(sample, m, 2)
        assert unique == right
        assert (1 - p) / p * pairs == wrong


def test_wrong_matches_scatter_as_pairs_and_threes_say() -> None:
    """Over all samples, people with one key each: the mean of the squared wrong matches of each key."""
    rng = seeded(344)
    for _ in range(examples(40, 8)):
        people = random_rows(rng, "abc", rng.randint(1, 7), 3)
        p = Fraction(rng.randint(1, 9), 10)
        more = (1 - p) / p
        squares = probability = Fraction(0)
        for inside in naive.samples(len(people)):
            chance = Fraction(1)
            for there in inside:
                chance *= p if there else 1 - p
            sample = [row for row, there in zip(people, inside, strict=True) if there]
            once = [row for row in sample if row and sample.count(row) == 1]
            squares += chance * sum((people.count(row) - 1) ** 2 for row in once)
            pairs, threes = (
                sum(row != frozenset() and sample.count(row) == number for row in sample) for number in (2, 3)
            )
            probability += chance * (more * pairs + 2 * more**2 * threes)
        assert squares == probability


@needs_compiled
def test_intervals_hold_the_truth_of_most_samples() -> None:
    """Check data where the wrong matches vary most: few keys of eight people, many of a single person."""
    rng = np.random.default_rng(345)
    holders = np.repeat([1, 8], [5000, 200])
    people = np.repeat(np.arange(holders.size), holders)
    held = 0
    for seed in range(100):
        sample = people[rng.random(people.size) < 0.5]
        once = np.bincount(sample, minlength=holders.size) == 1
        rows = transactions([frozenset({f"a{number}"}) for number in sample])
        (entry,) = fraction_risk(knowledge_of(rows, ()), Fraction(1, 2), [1], seed)
        held += entry["interval"][0] <= once.sum() / holders[once].sum() <= entry["interval"][1]
    assert held >= 90


def test_the_population_is_counted() -> None:
    rng = seeded(343)
    for _ in range(examples(150)):
        people = random_rows(rng, "abcdefg", rng.randint(2, 16), 4)
        rows = rng.sample(people, rng.randint(1, len(people)))
        m = rng.randint(1, 3)
        if not any(rows):
            continue
        best, drawn = sv.risk(rows, m=m, population=people)["population"]["entries"]
        slow = naive.fewest(rows, people, m)
        assert best["fewest"] == min(slow)
        assert best["rows_below"] == {t: sum(n < int(t) for n in slow) for t in ("2", "5", "10")}
        assert drawn["probability"] == pytest.approx(float(naive.mean_chance(rows, people, m)))
        below = {
            t: sum(
                float(np.mean([naive.held(people, key) < int(t) for key in naive.keys(row, m)]))
                for row in rows
                if row
            )
            for t in ("2", "5", "10")
        }
        assert drawn["rows_below"] == pytest.approx(below)


def test_a_release_is_compared_by_its_labels(tmp_path: Path) -> None:
    people = [frozenset(text.split()) for text in ("a1 b", "a2 b", "a1", "a2", "b", "a1 a2", "c", "a1 b")]
    tree = sv.Hierarchy.from_paths([["a1", "A", "*"], ["a2", "A", "*"], ["b", "*"], ["c", "*"]])
    release = sv.anonymize(people[:6], sv.KmAnonymity(3, 2), hierarchy=tree, algorithm="aa")
    release.write(tmp_path / "out")
    shown = release.release.generalized()  # type: ignore[attr-defined]
    label = {item: name for name, items in shown.items() for item in items}
    known = set(release.published.vocabulary.labels)
    mapped = [frozenset(label.get(x, x) for x in row) & known for row in people]
    rows = [frozenset(row) for row in release.published]
    for target in (release, tmp_path / "out"):
        best, drawn = sv.risk(target, m=2, population=people)["population"]["entries"]
        assert best["fewest"] == min(naive.fewest(rows, mapped, 2))
        assert drawn["probability"] == pytest.approx(float(naive.mean_chance(rows, mapped, 2)))


def test_keys_are_drawn_where_there_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(344)
    rows = random_rows(rng, [str(x) for x in range(60)], 60, 12)
    known = knowledge_of(transactions(rows), ())
    whole = keys_of(known.rows, known.rows, 3, 0, enough=4)
    assert whole.exact
    monkeypatch.setattr(fast, "KEYS", 1)
    monkeypatch.setattr(fast, "FEWEST", 150)
    some = keys_of(known.rows, known.rows, 3, 0, enough=4)
    assert not some.exact
    assert np.abs(some.one - whole.one).max() < 0.25
    assert abs(some.one.mean() - whole.one.mean()) < 0.02
    short = known.rows.lengths < 4
    assert np.array_equal(some.one[short], whole.one[short])


def test_the_same_seed_gives_the_same_interval() -> None:
    rows = random_rows(seeded(345), "abcdefghij", 200, 5)
    first, again, other = (sv.risk(rows, m=3, fraction=0.1, seed=seed)["population"] for seed in (1, 1, 2))
    assert first == again
    assert first["entries"][0]["estimate"] == other["entries"][0]["estimate"]
    assert first["entries"][0]["interval"] != other["entries"][0]["interval"]
    everyone = sv.risk(rows, m=3, fraction=1)["population"]["entries"][0]
    assert (everyone["estimate"], everyone["interval"]) == (1.0, [1.0, 1.0])


def test_what_cannot_be_said_is_refused(tmp_path: Path) -> None:
    for wrong in (0, 1.5, -0.1, "many", True, "0%", float("nan")):
        with pytest.raises(sv.RequestError, match="fraction must be above 0 and at most 1"):
            sv.risk(SAMPLE, fraction=wrong)
    with pytest.raises(sv.RequestError, match="answer the same question"):
        sv.risk(SAMPLE, fraction=0.5, population=POPULATION)
    with pytest.raises(sv.RequestError, match="looks at one file"):
        sv.risk(SAMPLE, population=POPULATION, original=SAMPLE)
    with pytest.raises(sv.DataError, match="no population of these rows: fewer of its rows contain 'c'"):
        sv.risk(SAMPLE, population=[["a", "b"], ["a", "b"], ["a", "b", "d"], ["d"], ["d"]])
    with pytest.raises(sv.DataError, match="it has fewer rows"):
        sv.risk([["a"], []], population=[["a"]])
    with pytest.raises(sv.DataError, match="none of its rows contains 2 items"):
        sv.risk([["a", "b"]], m=2, population=[["a"], ["b"]])
    table = sv.read_table(write(tmp_path / "t.csv", "age,codes\n30,a\n31,b\n"), qi=["age"], set="codes")
    with pytest.raises(sv.RequestError, match="single rows of items"):
        sv.risk(table, fraction=0.5)


def test_the_command_line(tmp_path: Path) -> None:
    rows = write(tmp_path / "rows.csv", "".join(f"{','.join(sorted(row))}\n" for row in SAMPLE))
    everybody = write(tmp_path / "all.csv", "".join(f"{','.join(sorted(row))}\n" for row in POPULATION))
    words = ["risk", rows, "--format", "basket", "--m", "2"]
    output = setveil(*words, "--fraction", "50%").ok().out
    assert "If someone looks for a person of the population, and the rows are 50%:" in output
    assert "about 33% of the time" in output
    assert "no guarantee" in output
    found = setveil(*words, "--fraction", "1/2", "--json").ok().json()["population"]
    assert found == sv.risk(SAMPLE, m=2, fraction=0.5)["population"]
    counted = setveil(*words, "--population", everybody, "--json").ok().json()["population"]
    assert counted == sv.risk(SAMPLE, m=2, population=POPULATION)["population"]
    assert "In the population, of 8 rows:" in setveil(*words, "--population", everybody).ok().out
    both = setveil(*words, "--original", everybody, "--fraction", "50%", "--json").ok().json()
    assert {"population"} <= {*both["before"]} & {*both["after"]}
    refused(setveil(*words, "--fraction", "0"), 2, "--fraction must be above 0")
    refused(setveil(*words, "--population", tmp_path / "nothing.csv"), 4, "nothing.csv")
    refused(setveil("risk", everybody, "--format", "basket", "--population", rows), 4, "no population")


def test_a_population_gets_the_labels_of_a_computed_hierarchy(tmp_path: Path) -> None:
    """Members that about.json does not list are those of the internal files."""
    rows = [["tea", "milk"]] * 6 + [["beer", "nuts"]] * 6 + [["tea", f"text {i}"] for i in range(5)]
    release = sv.anonymize(rows, k=5, m=2, algorithm="aa")
    release.write(tmp_path / "run")
    options: dict[str, Any] = {"m": 1, "population": [*rows, ["tea", "text 1"]]}
    for named in (release, tmp_path / "run"):
        found = sv.risk(named, **options)["population"]
        full = sv.anonymize(rows, k=5, m=2, algorithm="aa", list_members=True)
        assert found == sv.risk(full, **options)["population"]
    (tmp_path / "run" / "internal" / "members.json").unlink()
    with pytest.raises(sv.RequestError, match="needs the label of every item"):
        sv.risk(tmp_path / "run", **options)
