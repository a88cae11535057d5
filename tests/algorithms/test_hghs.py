"""HgHs and mHgHs against their twins: same threats, same cut, same suppressed nodes, same cost."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings

from naive import hghs as naive
from naive.anonymize import all_cuts, children
from naive.anonymize import recode as naive_recode
from naive.km import is_km
from releases import released
from setveil.base.errors import RequestError
from setveil.base.progress import listener, silent
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.km import verify_km
from setveil.judges.utility.lm import lm
from setveil.methods.algorithms.exact import exact
from setveil.methods.algorithms.hghs import _suppression, hghs, mhghs
from setveil.methods.algorithms.hghs._suppression import CutSpace, Scenario, find_threats
from setveil.releases.published import Release
from setveil.releases.published.recoding import Recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from strategies import Case, cases, examples, random_cases, random_rows, random_tree, seeded, transactions

# SPEC §4: figures 1 and 2 of the paper.
PARENTS: dict[str, str | None] = {"T": None}
for above, below in (
    ("T", "P Q e i"), ("P", "H K"), ("H", "a b"), ("K", "c d"), ("Q", "J M"), ("J", "f g"), ("M", "x y z"),
):  # fmt: skip
    PARENTS |= dict.fromkeys(below.split(), above)
PAPER = Case(
    [frozenset(row) for row in ("bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i")], PARENTS, 2, math.inf
)
LM = float(Fraction("5.6") / 23)
THREATS = "x y z Hd Jb Ka Kg Mc Qb ab ac bd bf bg cg ei HJK HJc HKQ HKf HQc Hcf Jcd Qcd cdf"


def recoding_of(release: Release) -> Recoding:
    assert isinstance(release.recoding, Recoding)
    return release.recoding


def published_and_suppressed(release: Release) -> tuple[set[str], list[str]]:
    return set(recoding_of(release).published.labels), release.details["suppressed"]


def threats_of(space: CutSpace, floor: list[int], guarantee: KmAnonymity) -> Counter[frozenset[str]]:
    threats = find_threats(space, floor, guarantee, silent)
    ends = np.cumsum(threats.sizes, dtype=np.int64).tolist()
    sets = zip([0, *ends], ends, strict=False)
    return Counter(frozenset(space.tree.labels[v] for v in threats.nodes[a:b].tolist()) for a, b in sets)


def paper_scenario() -> Scenario:
    space = CutSpace.of(PAPER.data, PAPER.tree, PAPER.guarantee)
    floor = space.leaves()
    return Scenario(space, find_threats(space, floor, PAPER.guarantee, silent), floor)


def state(scenario: Scenario) -> tuple[str, str, Fraction]:
    labels = scenario.space.tree.labels
    cut, gone = ("".join(labels[v] for v in nodes) for nodes in (scenario.cut(), scenario.suppressed()))
    return "".join(sorted(cut)), gone, Fraction(scenario.total, scenario.space.tree.n_leaves - 1)


# --- the worked example


def test_worked_example_has_25_minimal_threats() -> None:
    space = CutSpace.of(PAPER.data, PAPER.tree, PAPER.guarantee)
    expected = Counter(map(frozenset, THREATS.split()))
    assert len(expected) == 25
    assert threats_of(space, space.leaves(), PAPER.guarantee) == expected
    assert naive.minimal_threats(PAPER.rows, PARENTS, 2, math.inf) == set(expected)


def test_worked_example_step_by_step() -> None:
    scenario = paper_scenario()
    node = PAPER.tree.id
    assert state(scenario) == ("T", "", Fraction("23"))
    assert scenario.best_split(silent, "") == node("T")
    scenario.split(node("T"))
    assert state(scenario) == ("PQei", "i", Fraction("8.6"))
    assert scenario.best_split(silent, "") == node("Q")
    assert state(scenario) == ("PQei", "i", Fraction("8.6"))  # trying changes nothing

    other = paper_scenario()
    other.split(node("T"))
    other.split(node("P"))
    assert state(other) == ("HKQei", "iH", Fraction("10.2"))

    scenario.split(node("Q"))
    assert state(scenario) == ("JMPei", "i", Fraction("6.2"))
    assert scenario.best_split(silent, "") == node("J")
    scenario.split(node("J"))
    assert state(scenario) == ("MPefgi", "i", Fraction("5.6"))
    assert scenario.best_split(silent, "") is None


def test_worked_example_release() -> None:
    release = released(hghs, PAPER.data, PAPER.tree, PAPER.guarantee)
    assert published_and_suppressed(release) == (set("PfgMe"), ["i"])
    assert release.details == {"cut": 6, "threats": 25, "steps": 3, "suppressed": ["i"]}
    rows = ["P", "Pfg", "PfM", "PfM", "Pfg", "e", "e", ""]
    assert Counter(map(frozenset, release.published)) == Counter(map(frozenset, rows))
    assert lm(PAPER.data, recoding_of(release)) == LM
    optimum = released(exact, PAPER.data, PAPER.tree, PAPER.guarantee)
    assert optimum.details["optimality"]["loss"] == LM


@pytest.mark.parametrize(
    ("m", "kept", "gone", "cost"),
    [
        (1, "abcdfgMei", "", "0.6"),
        (2, "HJKMe", "i", "4.2"),
        (3, "PJMe", "i", "6.2"),
        (5, "PJMe", "i", "6.2"),
        (math.inf, "PJMe", "i", "6.2"),
    ],
)
def test_worked_example_in_rounds(m: float, kept: str, gone: str, cost: str) -> None:
    guarantee = KmAnonymity(2, m if m == math.inf else int(m))
    release = released(mhghs, PAPER.data, PAPER.tree, guarantee)
    assert published_and_suppressed(release) == (set(kept), list(gone))
    rounds = release.details["rounds"]
    assert [entry["i"] for entry in rounds] == list(range(1, int(min(m, 5)) + 1))
    assert rounds[-1]["cut"] == len(kept + gone)
    assert rounds[-1]["suppressed"] == len(gone)
    assert rounds[-1]["lm"] == float(Fraction(cost) / 23)
    assert rounds[0] == {"i": 1, "cut": 9, "suppressed": 0, "threats": 3, "lm": float(Fraction("0.6") / 23)}
    assert list(release.details["timing"]) == [f"round {entry['i']}" for entry in rounds]


# --- against the twins


def check_twins(case: Case) -> tuple[naive.Found, list[naive.Found]]:
    expected = naive.hghs(case.rows, case.parents, case.k, case.m)
    release = released(hghs, case.data, case.tree, case.guarantee)
    published, suppressed = published_and_suppressed(release)
    assert published == expected.cut - expected.suppressed, case
    assert set(suppressed) == expected.suppressed, case
    assert suppressed == sorted(suppressed, key=case.tree.id), case
    assert release.details["threats"] == len(expected.threats), case
    assert verify_km(release.published, case.guarantee).holds, case
    if case.data.n_occurrences:
        assert lm(case.data, recoding_of(release)) == float(expected.cost / case.data.n_occurrences), case
    space = CutSpace.of(case.data, case.tree, case.guarantee)
    found = threats_of(space, space.leaves(), case.guarantee)
    assert found == Counter(expected.threats), case

    rounds = naive.mhghs(case.rows, case.parents, case.k, case.m)
    release = released(mhghs, case.data, case.tree, case.guarantee)
    assert [
        (entry["cut"], entry["suppressed"], entry["threats"], entry["lm"])
        for entry in release.details["rounds"]
    ] == [
        (len(r.cut), len(r.suppressed), len(r.threats), float(r.cost / (case.data.n_occurrences or 1)))
        for r in rounds
    ], case
    published, suppressed = published_and_suppressed(release)
    assert published == rounds[-1].cut - rounds[-1].suppressed, case
    assert set(suppressed) == rounds[-1].suppressed, case
    assert verify_km(release.published, case.guarantee).holds, case
    return expected, rounds


def test_releases_are_the_twins() -> None:
    seen: Counter[str] = Counter()
    for case in random_cases(examples(350, 150), 70):
        expected, rounds = check_twins(case)
        seen["suppressed"] += bool(expected.suppressed)
        seen["inner"] += any(children(case.parents, node) for node in expected.suppressed)
        seen["steps"] += len(expected.cut) > 3
        seen["differ"] += rounds[-1].cut != expected.cut
        seen["suppressed again"] += len(rounds) > 1 and bool(rounds[0].suppressed - rounds[1].suppressed)
    assert min(seen.values()) > 0, seen


def test_releases_are_the_twins_on_few_rows() -> None:
    for case in random_cases(examples(350, 150), 71, most_rows=12):
        check_twins(case)


def test_releases_are_the_twins_on_long_rows() -> None:
    for case in random_cases(examples(30, 4), 72, most_rows=40, most_items=8):
        check_twins(case)


@given(case=cases(most_rows=20))
@settings(deadline=None, max_examples=examples(60, 15))
def test_releases_are_the_twins_by_hypothesis(case: Case) -> None:
    check_twins(case)


def test_releases_are_k_m_anonymous() -> None:
    for case in random_cases(examples(700, 200), 73, most_rows=30, most_items=6):
        for module in (hghs, mhghs):
            release = released(module, case.data, case.tree, case.guarantee)
            assert is_km([frozenset(row) for row in release.published], case.k, case.m), (module, case)


def test_relevant_minimal_threats_are_those_of_the_recoded_rows() -> None:
    """Check the basis of section 4.1 of the paper."""
    for case in random_cases(examples(60, 20), 74, most_leaves=7, most_rows=20):
        threats = naive.minimal_threats(case.rows, case.parents, case.k, case.m)
        for cut in all_cuts(case.parents):
            rows = naive_recode(case.rows, case.parents, cut)
            own = naive.minimal_threats(rows, dict.fromkeys(cut), case.k, case.m)
            assert own == {threat for threat in threats if threat <= cut}, (case, cut)


def larger_case(seed: int) -> Case:
    rng = seeded(seed)
    leaves = [f"{i:02}" for i in range(50)]
    rows = [row for row in random_rows(rng, leaves, 250, 6) if row]
    parents = random_tree(rng, leaves[:25])
    other = random_tree(rng, leaves[25:])
    top = {node: node + "'" for node in other if not node.isdigit()}
    parents |= {top.get(node, node): top.get(up, up) if up else "all" for node, up in other.items()}
    parents[next(node for node, up in parents.items() if up is None)] = "all"
    parents["all"] = None
    return Case(rows, parents, rng.choice((3, 5, 8)), rng.choice((2, 3)))


def from_the_start(space: CutSpace, cut: list[int], sets: list[frozenset[int]]) -> tuple[list[int], int]:
    """Find what to suppress of a cut, and the cost, without the state of any other cut."""
    keep, drop = space.cost.tolist()
    relevant = [s for s in sets if s <= set(cut)]
    kept: set[int] = set()
    for x in sorted(cut, key=lambda x: (keep[x] - drop[x], x)):
        if not any(s <= kept | {x} for s in relevant):
            kept.add(x)
    gone = sorted(set(cut) - kept)
    return gone, sum(keep[x] for x in kept) + sum(drop[x] for x in gone)


@pytest.mark.parametrize("seed", range(examples(8, 2)))
def test_scenario_kept_up_to_date_is_that_found_from_the_start(seed: int) -> None:
    """Replace nodes in any order, even without a gain; every trial and every step is checked."""
    case = larger_case(seed)
    rng = seeded(seed)
    space = CutSpace.of(case.data, case.tree, case.guarantee)
    floor = space.leaves()
    threats = find_threats(space, floor, case.guarantee, silent)
    ends = np.cumsum(threats.sizes, dtype=np.int64).tolist()
    sets = [frozenset(threats.nodes[a:b].tolist()) for a, b in zip([0, *ends], ends, strict=False)]
    scenario = Scenario(space, threats, floor)
    while inner := [v for v in scenario.cut() if space.children(v)]:
        before = scenario.cut(), scenario.suppressed(), scenario.total
        assert (before[1], before[2]) == from_the_start(space, before[0], sets)
        costs = {}
        for v in inner:
            child = [u for u in before[0] if u != v] + space.children(v)
            costs[v] = from_the_start(space, child, sets)[1]
        least = min(costs.values())
        expected = min(v for v in inner if costs[v] == least) if least < before[2] else None
        assert scenario.best_split(silent, "") == expected
        assert (scenario.cut(), scenario.suppressed(), scenario.total) == before
        scenario.split(rng.choice(inner))
    assert scenario.cut() == floor


# --- what may go wrong


def test_single_children_are_merged_with_their_parents() -> None:
    parents: dict[str, str | None] = {"a": "A", "A": "B", "b": "C", "c": "C", "C": "B", "B": "*", "*": None}
    case = Case([frozenset(row) for row in ("ab", "ab", "ac", "ac", "bc", "bc")], parents, 2, 2)
    for module in (hghs, mhghs):
        release = released(module, case.data, case.tree, case.guarantee)
        assert published_and_suppressed(release) == ({"a", "b", "c"}, [])
    assert naive.merged(parents) == {"a": "B", "C": "B", "b": "C", "c": "C", "B": None}


def test_items_without_rows_cost_nothing() -> None:
    """U is above items of no row: splitting it does not make the cut cheaper."""
    parents: dict[str, str | None] = {"a": "V", "b": "V", "u": "V", "v": "U", "w": "U"}
    parents |= {"U": "*", "V": "*", "*": None}
    case = Case([frozenset("ab")] * 3, parents, 3, 2)
    for module in (hghs, mhghs):
        release = released(module, case.data, case.tree, case.guarantee)
        assert published_and_suppressed(release) == ({"a", "b", "u", "U"}, [])
        assert list(release.published) == [("a", "b")] * 3


def test_equally_cheap_children_are_taken_by_the_order_of_the_node_replaced() -> None:
    """Under A and under B the same happens; A and B cannot both be split."""
    parents: dict[str, str | None] = {"a": "A", "b": "A", "c": "B", "d": "B", "A": "*", "B": "*", "*": None}
    rows = [frozenset(row) for row in ("ac", "ad", "bc", "bd")]
    case = Case(rows, parents, 2, 2)
    release = released(hghs, case.data, case.tree, case.guarantee)
    assert published_and_suppressed(release) == ({"a", "b", "B"}, [])


def test_equal_costs_of_suppression_are_decided_by_item_order() -> None:
    """The items 9 and 10 are as frequent: 9 is kept, though "10" < "9" as text."""
    case = Case(
        [frozenset(row.split()) for row in ("9 10", "9", "10", "3", "3", *["4"] * 9)],
        {"3": "*", "4": "*", "9": "*", "10": "*", "*": None},
        2,
        2,
    )
    release = released(hghs, case.data, case.tree, case.guarantee)
    assert published_and_suppressed(release) == ({"3", "4", "9"}, ["10"])


def test_suppressed_in_one_round_kept_in_the_next() -> None:
    found = 0
    for case in random_cases(examples(150, 40), 75, most_rows=25):
        rounds = released(mhghs, case.data, case.tree, case.guarantee).details["rounds"]
        found += any(a["suppressed"] > b["suppressed"] for a, b in pairwise(rounds))
    assert found


@pytest.mark.parametrize("module", [hghs, mhghs])
def test_threats_that_do_not_fit_are_refused(module: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_suppression, "STEPS_AT_ONCE", 1)
    monkeypatch.setattr(_suppression, "MOST_MEMORY", 40_000)
    case = larger_case(1)
    with pytest.raises(
        RequestError, match=r"threats.* for k\^m-anonymity \(k=\d, m=\d\).* limit of 40,000 bytes"
    ) as caught:
        released(module, case.data, case.tree, case.guarantee)
    hint = "Use mhghs" if module is hghs else "Use a smaller m: up to 1 they fit."
    assert caught.value.hint.startswith(hint)


def test_progress_is_reported_often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Check that the search finds the same, regardless of how often it pauses."""
    case = larger_case(2)
    plain = [released(module, case.data, case.tree, case.guarantee) for module in (hghs, mhghs)]
    monkeypatch.setattr(_suppression, "STEPS_AT_ONCE", 50)
    monkeypatch.setattr(_suppression, "THREATS_AT_ONCE", 50)
    heard: list[tuple[str, float | None]] = []
    hear = listener(lambda *told: heard.append(told))
    for module, before in zip((hghs, mhghs), plain, strict=True):
        heard.clear()
        release = released(module, case.data, case.tree, case.guarantee, progress=hear)
        assert recoding_of(release).image.tolist() == recoding_of(before).image.tolist()
        assert len(heard) > 100
        assert all(done is None or 0 <= done <= 1 for _, done in heard)
    assert any(phase.startswith("round 2 of ") for phase, _ in heard)


def test_many_rounds_for_one_long_row() -> None:
    """Check one round for each item of the longest row, even with nothing left to do."""
    rows = [frozenset("abcdefgh"), *[frozenset("a")] * 3, *[frozenset("h")] * 3]
    parents: dict[str, str | None] = dict.fromkeys("abcdefgh", "*") | {"*": None}
    case = Case(rows, parents, 3, math.inf)
    check_twins(case)
    rounds = released(mhghs, case.data, case.tree, case.guarantee).details["rounds"]
    assert len(rounds) == 8


def test_no_occurrences() -> None:
    data = transactions([frozenset()] * 3)
    release = released(mhghs, data, Hierarchy(PARENTS), KmAnonymity(2, 2))
    assert release.details["rounds"] == [{"i": 1, "cut": 1, "suppressed": 0, "threats": 0, "lm": 0.0}]
    assert list(release.published) == [()] * 3
    nothing = released(hghs, Transactions.from_rows([]), Hierarchy(PARENTS), KmAnonymity(2, math.inf))
    assert nothing.published.n_rows == 0
