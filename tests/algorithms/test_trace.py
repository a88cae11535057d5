"""Traces of searches: the papers' printed steps, and the same result as without a trace."""

from __future__ import annotations

import io
import json
import math
from itertools import combinations
from random import Random
from typing import Any

import numpy as np
import pytest

import merging_cases
from coherence_cases import PAPER as MOLES
from coherence_cases import PAPER_GUARANTEE as COHERENCE
from naive.anonymize import all_cuts, recode, up_from
from naive.km import is_km
from setveil.base.errors import SetveilError
from setveil.base.tracing import Trace
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.methods import algorithms
from setveil.methods.algorithms.cahd._band_order import band_profile
from strategies import Case, examples, random_case, seeded, transactions
from tables import fast, hierarchy, random_tables
from ward import ward

NAMES = ("aa", "da", "oa", "hghs", "mhghs", "coat", "pcta", "lg", "mm", "border", "cahd", "rt")
VLDB = Case(
    [frozenset(row.split()) for row in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")],
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "ALL", "B": "ALL", "ALL": None},
    k=2,
    m=2,
)
PAKDD = Case(
    [frozenset(row) for row in ("bcd", "afg", "dfyz", "cdfx", "abcfg", "ei", "e", "i")],
    {"T": None}
    | {
        child: above
        for above, below in (
            ("T", "P Q e i"), ("P", "H K"), ("H", "a b"), ("K", "c d"), ("Q", "J M"), ("J", "f g"),
            ("M", "x y z"),
        )
        for child in below.split()
    },
    k=2,
    m=math.inf,
)  # fmt: skip


def traced(
    name: str, data: Any, tree: Any, guarantee: Any, **parameters: Any
) -> tuple[Any, list[dict[str, Any]]]:
    """Run an algorithm with a trace: its result, and its steps."""
    module, file = algorithms.load(name), io.BytesIO()
    made = module.anonymize(data, tree, guarantee, module.Parameters(**parameters), trace=Trace(file))
    return made, [json.loads(line) for line in file.getvalue().splitlines()]


def steps_of(name: str, case: Case, **parameters: Any) -> list[dict[str, Any]]:
    return traced(name, case.data, case.tree, case.guarantee, **parameters)[1]


# --- the papers' worked examples


def test_vldb_figure_4_and_its_cuts() -> None:
    """OA: the lattice from below; ({a1,a2} -> A) is valid, ({b1,b2} -> B) is not, and {A, B} is marked."""
    steps = steps_of("oa", VLDB)
    assert [(step["cut"], step["valid"], step.get("violated")) for step in steps] == [
        (["a1", "a2", "b1", "b2"], False, ["a1", "a2"]),
        (["b1", "b2", "A"], True, None),
        (["a1", "a2", "B"], False, ["a1", "a2"]),
    ]
    assert [[one["cut"] for one in step["candidates"]] for step in steps] == [
        [["b1", "b2", "A"], ["a1", "a2", "B"]],
        [["A", "B"]],
        [["A", "B"]],
    ]
    assert [step["cost"] for step in steps] == [0, 2.5 / 11, 3 / 11]
    assert [step["chosen"] for step in steps] == [None, *[["b1", "b2", "A"]] * 2]


def test_vldb_section_4_3() -> None:
    """DA: the path a2-a1 is rare, the only minimal cut that helps is A, and nothing else is found."""
    (step,) = steps_of("da", VLDB)
    assert step == {
        "step": 1,
        "violated": ["a2", "a1"],
        "support": 1,
        "candidates": [{"generalize": ["A"], "cost": 2.5 / 11, "enough": True}],
        "chosen": ["A"],
    }
    (of_aa,) = steps_of("aa", VLDB)
    assert sorted(of_aa["violated"]) == ["a1", "a2"]
    assert of_aa["chosen"] == ["A"]


def test_pakdd_figure_2() -> None:
    """HgHs: costs 23; 8.6; 10.2 or 6.2; 5.6."""
    steps = steps_of("hghs", PAKDD)
    assert [step["cost"] for step in steps] == [23, 8.6, 6.2, 5.6]
    assert [set(step["cut"]) for step in steps] == [{"T"}, set("PQei"), set("PJMei"), set("PfgMei")]
    assert [step["suppressed"] for step in steps] == [[], ["i"], ["i"], ["i"]]
    assert [step["chosen"] for step in steps] == ["T", "Q", "J", None]
    assert [step["violated"] for step in steps] == [[], [["e", "i"]], [["e", "i"]], [["e", "i"]]]
    assert steps[1]["candidates"] == [
        {"split": "P", "cost": 10.2, "suppressed": ["i", "H"]},
        {"split": "Q", "cost": 6.2, "suppressed": ["i"]},
    ]


def test_coat_example_4_1() -> None:
    """COAT: b with a; d is suppressed; then g with h, which costs least of e, f and h."""
    guarantee = PrivacyConstraints(5, merging_cases.PRIVACY)
    _, steps = traced(
        "coat", transactions(merging_cases.ROWS), None, guarantee,
        utility=merging_cases.UTILITY, max_suppressed_items=0.15,
    )  # fmt: skip
    assert [("".join(step["violated"]), step["chosen"]) for step in steps] == [
        ("abc", {"merge": [["b"], ["a"]]}),
        ("defgh", {"suppress": ["d"]}),
        ("defgh", {"merge": [["g"], ["h"]]}),
    ]
    assert [one["merge"] for one in steps[0]["candidates"]] == [[["b"], ["a"]]]
    assert steps[1]["candidates"] == []
    last = steps[2]["candidates"]
    assert last[0]["merge"][1] == ["h"]
    assert {one["merge"][1][0] for one in last} == set("efh")
    assert last[0]["cost"] < last[1]["cost"]


def test_coherence_example() -> None:
    """MM takes c, d, then a and b; a is in 3 minimal moles and 4 rows."""
    _, steps = traced("mm", transactions(MOLES), None, COHERENCE)
    assert [step["chosen"] for step in steps] == ["c", "d", "a", "b"]
    first = next(one for one in steps[2]["candidates"] if one["suppress"] == "a")
    assert first == {"suppress": "a", "moles": 3, "occurrences": 4, "score": 0.75}


def test_lecture_example() -> None:
    rows = [
        "wine meat viagra",
        "wine meat",
        "strawberries cream test",
        "strawberries meat",
        "wine meat cream",
    ]
    data = transactions([frozenset(row.split()) for row in rows])
    _, steps = traced("cahd", data, None, PrivacyDegree(2, ("viagra", "test")), rounds=0)
    assert sorted(step["row"] for step in steps) == [1, 3]
    assert all(step["row"] in step["chosen"] and len(step["chosen"]) == 2 for step in steps)


def test_mhghs_rounds_of_the_page() -> None:
    """Each round ends at the cut of docs/searches.md, with its suppressed items and its cost."""
    ends = {step["phase"]: step for step in steps_of("mhghs", PAKDD)}
    assert [(set(step["cut"]), step["suppressed"], step["cost"]) for step in ends.values()] == [
        (set("abcdfgMei"), [], 0.6),
        (set("HKJMei"), ["i"], 4.2),
        (set("PJMei"), ["i"], 6.2),
        (set("PJMei"), ["i"], 6.2),
    ]
    assert all(step["chosen"] is None for step in ends.values())


def test_border_example() -> None:
    """Border drops c and d, then a with the score 4 and b with the score 2."""
    rows = ["abef1", "cefg2", "abg3", "abfg2", "abdg2", "efg1", "befg3"]
    guarantee = Coherence(0.5, 3, 3, ("1", "2", "3"))
    _, steps = traced("border", transactions(list(map(frozenset, rows))), None, guarantee, k_nugget=4)
    assert [step["chosen"] for step in steps] == ["c", "d", "a", "b"]
    assert {one["suppress"]: (one["moles"], one["nuggets"]) for one in steps[2]["candidates"]} == {
        "a": (8, 2),
        "b": (7, 3),
        "e": (6, 2),
        "f": (6, 3),
        "g": (5, 3),
    }
    assert [step["candidates"][0]["score"] for step in steps[2:]] == [4, 2]


def test_pcta_example_of_the_page() -> None:
    guarantee = PrivacyConstraints(5, merging_cases.PRIVACY)
    _, steps = traced("pcta", transactions(merging_cases.ROWS), None, guarantee)
    chosen = [{"".join(sorted(group)) for group in step["chosen"]["merge"]} for step in steps]
    assert chosen == [{"b", "d"}, {"a", "c"}, {"bd", "h"}, {"ac", "e"}, {"f", "g"}, {"ace", "fg"}]
    assert [step["candidates"][0]["cost"] for step in steps[1:4]] == [21, 42, 63]


def test_lg_example_of_the_page() -> None:
    """Five rows stay under A and B, and three of these go on; two stay under ALL, two become a1."""
    rows = ["a1,b1", "a1,b1", "a1,b1", "a1,b2", "a2,b1", "a1", "a1", "a2", "b2"]
    data = transactions([frozenset(row.split(",")) for row in rows])
    _, steps = traced("lg", data, VLDB.tree, TransactionalKAnonymity(2))
    assert [(step["rows"], step["cut"], step["chosen"]) for step in steps] == [
        (9, ["ALL"], "ALL"),
        (2, ["ALL"], None),
        (5, ["A", "B"], "A"),
        (2, ["A", "B"], None),
        (3, ["a1", "b1"], None),
        (2, ["a1"], None),
    ]


def test_rt_of_the_eight_patients() -> None:
    """Share 1/2: by sex, then both halves by age, f = 311/962; share 1/10: one class stays, f = 2/5."""
    table, tree, guarantee = fast(ward()), hierarchy(ward()), KKmAnonymity(2, 2)
    *splits, tried = traced("rt", table, tree, guarantee, share="1/2")[1]
    assert [(step["rows"], step["chosen"]) for step in splits] == [
        (8, "sex"), (4, "age"), (4, "age"), (2, None), (2, None), (2, None), (2, None),
    ]  # fmt: skip
    tried_columns = [{one["split"]: one["classes"] for one in step["candidates"]} for step in splits]
    assert tried_columns == [{"age": [4, 4], "sex": [4, 4]}, *[{"age": [2, 2]}] * 2, *[{}] * 4]
    assert splits[0]["cost"] == pytest.approx(2 / 3)
    for step, below in ((splits[0], splits[1:3]), (splits[1], splits[3:5]), (splits[2], splits[5:])):
        least = min(one["cost"] for one in step["candidates"])
        assert least == pytest.approx(sum(one["cost"] for one in below))
        assert least < step["cost"]
    assert sum(step["cost"] for step in splits[3:]) == pytest.approx(311 / 962)
    assert [(one["search"], one["least"], one["f"]) for one in tried["candidates"]] == [
        ("sweep", 2, pytest.approx(311 / 962)),
        ("sweep", 8, pytest.approx(2 / 3)),
        ("rt", 2, pytest.approx(311 / 962)),
    ]
    assert tried["chosen"]["f"] == tried["candidates"][0]["f"]
    only, tried = traced("rt", table, tree, guarantee, share="1/10")[1]
    assert (only["rows"], only["cost"], only["chosen"]) == (8, pytest.approx(2 / 5), None)
    assert all(one["cost"] > only["cost"] for one in only["candidates"])
    assert (tried["chosen"]["classes"], tried["chosen"]["f"]) == (1, pytest.approx(2 / 5))


# --- traced and untraced results are equal


def problems(name: str, rng: Random) -> tuple[Any, Any, Any, dict[str, Any]]:
    """Draw data, hierarchy, guarantee and parameters."""
    case = random_case(rng)
    if name in {"aa", "da", "oa", "hghs", "mhghs"}:
        return case.data, case.tree, case.guarantee, {}
    if name in {"coat", "pcta"}:
        m = rng.randint(1, 2)
        return (
            case.data,
            rng.choice([None, case.tree]),
            PrivacyConstraints(case.k, m=m),
            {"max_suppressed_items": 1},
        )
    if name == "lg":
        return case.data, case.tree, TransactionalKAnonymity(case.k), {}
    items = sorted({item for row in case.rows for item in row})
    secret = tuple(rng.sample(items, min(len(items) - 1, 1))) if len(items) > 1 else ()
    if name in {"mm", "border"}:
        return case.data, None, Coherence(1, case.k, rng.randint(1, 3), secret), {}
    if name == "cahd":
        return case.data, None, PrivacyDegree(2, secret or ("x",)), {"alpha": rng.randint(1, 3)}
    raise AssertionError(name)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "rt"])
def test_a_trace_changes_nothing(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, seen = seeded(51), 0
    for _ in range(examples(100, 40)):
        data, tree, guarantee, parameters = problems(name, rng)
        module = algorithms.load(name)
        try:
            plain, details = module.anonymize(data, tree, guarantee, module.Parameters(**parameters))
        except SetveilError as error:
            with pytest.raises(type(error)):
                traced(name, data, tree, guarantee, **parameters)
            continue
        (made, same), steps = traced(name, data, tree, guarantee, **parameters)
        assert without_times(same) == without_times(details)
        assert contents(made) == contents(plain)
        assert [step["step"] for step in steps] == [*range(1, len(steps) + 1)]
        assert all("chosen" in step and "candidates" in step for step in steps)
        seen += bool(steps)
    assert seen >= 10, name


def test_a_trace_of_a_table_changes_nothing() -> None:
    module, guarantee, seen = algorithms.load("rt"), KKmAnonymity(2, 2), 0
    for _, slow in random_tables(examples(20, 8), 52):
        table, tree = fast(slow), hierarchy(slow)
        try:
            plain, details = module.anonymize(table, tree, guarantee)
        except SetveilError:
            continue
        (made, same), steps = traced("rt", table, tree, guarantee)
        assert same == details
        assert made.part.tolist() == plain.part.tolist()
        assert contents(made.items) == contents(plain.items)
        assert steps[-1]["chosen"]["chosen"]
        seen += any(step.get("phase") == "splits" and step["candidates"] for step in steps)
    assert seen


def without_times(details: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in details.items() if key != "timing"}


def contents(made: Any) -> Any:
    """Return the parts of a recoding, or of a grouping of rows."""
    if hasattr(made, "group"):
        return made.group.tolist()
    return made.image.tolist(), made.published.labels, made.items.labels


# --- counts in the papers


def naive_nodes(case: Case, size: int, kept: set[str] | None = None) -> int:
    """Count the distinct sets of at most `size` nodes, none above another, of the extended rows."""
    found: set[tuple[str, ...]] = set()
    above = {node: {*up_from(case.parents, node)} - {node} for node in case.parents}
    for row in case.rows:
        extended = {
            node for item in row for node in up_from(case.parents, item) if case.parents[node] is not None
        }
        for n in range(1, size + 1):
            found.update(
                chosen
                for chosen in combinations(sorted(extended), n)
                if not any(x in above[y] or y in above[x] for x, y in combinations(chosen, 2))
            )
    return len(found)


def details_of(name: str, case: Case, **parameters: Any) -> dict[str, Any]:
    details: dict[str, Any] = traced(name, case.data, case.tree, case.guarantee, **parameters)[0][1]
    return details


def test_count_tree_of_vldb_figure_5() -> None:
    """Check six single nodes and eleven pairs; AA's tree has fewer pairs if a1 and a2 are generalized."""
    assert details_of("da", VLDB, count_tree=True)["count_tree_nodes"] == 17
    assert details_of("oa", VLDB, count_tree=True)["count_tree_nodes"] == 17
    assert details_of("aa", VLDB, count_tree=True)["count_tree_nodes"] == [6, 16]
    assert "count_tree_nodes" not in details_of("aa", VLDB)


def test_count_trees_are_the_twins() -> None:
    rng = seeded(53)
    for _ in range(examples(60, 30)):
        case = random_case(rng)
        size = int(min(case.m, max(map(len, case.rows), default=0)))
        if 0 < sum(map(bool, case.rows)) < case.k:
            continue
        assert details_of("da", case, count_tree=True)["count_tree_nodes"] == naive_nodes(case, size), case


def test_all_minimal_cuts() -> None:
    """Those valid cuts below which no cut is valid, with the cost of each."""
    assert details_of("oa", VLDB, all_minimal=True)["minimal_cuts"] == [
        {"cut": ["b1", "b2", "A"], "ncp": 2.5 / 11}
    ]
    rng, several = seeded(54), 0
    for _ in range(examples(100, 40)):
        case = random_case(rng)
        if 0 < sum(map(bool, case.rows)) < case.k:
            continue
        cuts = [
            cut
            for cut in all_cuts(case.parents)
            if is_km(recode(case.rows, case.parents, cut), case.k, case.m)
        ]
        minimal = {cut for cut in cuts if not any(below(case.parents, other, cut) for other in cuts)}
        found = details_of("oa", case, all_minimal=True)["minimal_cuts"]
        assert {frozenset(one["cut"]) for one in found} == minimal
        assert len(found) == len(minimal)
        several += len(found) > 1
    assert several


def below(parents: Any, lower: frozenset[str], upper: frozenset[str]) -> bool:
    return lower != upper and all(any(up in upper for up in up_from(parents, node)) for node in lower)


def test_bandwidth_of_the_lecture() -> None:
    """In the order printed (Bob, David, Ellen, Andrea, Claire) U = 1 and L = 2."""
    rows = ["wine meat", "wine meat", "wine meat cream", "strawberries meat", "strawberries cream"]
    data = transactions([frozenset(row.split()) for row in rows])
    found = band_profile(data.indptr, data.items, data.n_items, np.arange(5))
    assert (found.bandwidth, found.total) == (3, 4)
