"""Query accuracy against every possible world of the published rows, and the workloads."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path
from random import Random

import numpy as np
import pytest

import setveil as sv
from naive import anonymize as cuts
from naive import are as naive
from naive.km import item_order
from setveil.base.errors import DataError, RequestError
from setveil.base.progress import listener
from setveil.judges.utility.are import QueryErrors, query_errors
from setveil.judges.utility.queries import frequent_queries, generalized_items, random_queries, read_queries
from setveil.releases.published.recoding import LocalRecoding, Recoding, recode
from setveil.rows.data.transactions import Transactions
from strategies import Case, Rows, examples, random_case, random_rows, seeded, transactions

Members = dict[str, list[str]]


@dataclass(frozen=True)
class Trial:
    """Rows, their published form, the meanings of its labels, and queries."""

    rows: Rows
    published: Rows
    members: Members
    queries: list[tuple[str, ...]]

    def measured(self) -> QueryErrors:
        return query_errors(transactions(self.rows), transactions(self.published), self.members, self.queries)


def random_queries_of(rng: Random, items: Sequence[str], n: int = 8) -> list[tuple[str, ...]]:
    """Draw queries of 1 to 4 items, some repeated; not all of them occur together in a row."""
    return [tuple(rng.choices(items, k=rng.randint(1, 4))) for _ in range(n)] if items else []


def letters(*rows: str) -> Transactions:
    return transactions([frozenset(row) for row in rows])


def small_case(rng: Random) -> Case:
    return random_case(rng, most_leaves=6, most_rows=14)


def occurring(rows: Rows) -> list[str]:
    return item_order({item for row in rows for item in row})


def members_of(case: Case) -> Members:
    """Leaves under each node of the hierarchy."""
    tree = case.parents
    return {node: [leaf for leaf in cuts.leaves(tree) if node in cuts.up_from(tree, leaf)] for node in tree}


def check(trial: Trial) -> None:
    found = trial.measured()
    kept = [query for query in trial.queries if naive.actual(trial.rows, query)]
    assert [trial.queries[i] for i in found.position] == kept, trial
    assert found.left_out == len(trial.queries) - len(kept), trial
    assert found.actual.tolist() == [naive.actual(trial.rows, query) for query in kept], trial
    expected = [float(naive.estimate(trial.published, query, trial.members)) for query in kept]
    assert found.estimate.tolist() == pytest.approx(expected, rel=1e-13, abs=0), trial
    errors = naive.relative_errors(trial.rows, trial.published, trial.members, trial.queries)
    if errors:
        assert found.mean == pytest.approx(float(naive.mean(errors)), rel=1e-12, abs=1e-14), trial
        assert found.sd == pytest.approx(sqrt(naive.variance(errors)), rel=1e-6, abs=1e-7), trial
    else:
        assert found.as_dict() == {
            "mean": None, "sd": None, "median": None, "queries": 0, "left_out": len(trial.queries)
        }  # fmt: skip


def test_global_recodings() -> None:
    rng = seeded(500)
    for _ in range(examples(250, 60)):
        case = small_case(rng)
        cut = rng.choice(cuts.all_cuts(case.parents))
        gone = {node for node in cut if rng.random() < rng.choice((0, 0.3))}
        published = [row - gone for row in cuts.recode(case.rows, case.parents, cut)]
        members = {node: items for node, items in members_of(case).items() if node in cut}
        rng.shuffle(published)
        check(Trial(case.rows, published, members, random_queries_of(rng, occurring(case.rows))))


def test_local_recodings() -> None:
    """Every row has a cut of its own: an item is published under several labels, but once in a row."""
    rng = seeded(501)
    for _ in range(examples(250, 60)):
        case = small_case(rng)
        some = cuts.all_cuts(case.parents)
        published = [cuts.recode([row], case.parents, rng.choice(some))[0] for row in case.rows]
        check(Trial(case.rows, published, members_of(case), random_queries_of(rng, occurring(case.rows))))


def test_rows_that_hold_several_labels_of_an_item() -> None:
    """Draw rows, overlapping labels without a hierarchy or without a meaning, and unexplained labels."""
    rng = seeded(502)
    for _ in range(examples(300, 50)):
        items = list("abcde")
        rows = random_rows(rng, items, rng.randint(1, 10), 4)
        members = {f"L{i}": rng.sample([*items, "unseen"], rng.randint(0, 4)) for i in range(4)}
        labels = [*members, *items[:3], "?"]
        published = random_rows(rng, labels, rng.randint(0, 8), 4)
        check(Trial(rows, published, members, random_queries_of(rng, occurring(rows))))


def test_recodings_of_the_package() -> None:
    """Check that `Recoding.members` and `LocalRecoding.members` return the meanings of labels."""
    rng = seeded(503)
    for _ in range(examples(100, 20)):
        case = small_case(rng)
        data, tree = case.data, case.tree
        cut = rng.choice(cuts.all_cuts(case.parents))
        queries = random_queries_of(rng, data.vocabulary.labels)
        whole = Recoding.from_cut(tree, map(tree.id, cut))
        up = [int(v) for v in tree.locate(data.vocabulary)[data.items]]
        nodes = np.array([rng.choice([-1, v, *tree.ancestors(v)]) for v in up], np.int64)
        local = LocalRecoding.from_nodes(tree, nodes)
        for recoding in (whole, local):
            published = recode(data, recoding)
            found = query_errors(data, published, recoding.members(), queries)
            rows = [frozenset(row) for row in published]
            expected = [
                float(naive.estimate(rows, queries[i], members_of(case))) for i in found.position.tolist()
            ]
            assert found.estimate.tolist() == pytest.approx(expected, rel=1e-13), (case, recoding)


def test_worked_example() -> None:
    """docs/query.md."""
    rows = [frozenset(row.split()) for row in ("a1 b1 b2", "a2 b1", "a2 b1 b2", "a1 a2 b2")]
    published = [frozenset(row.split()) for row in ("A b1 b2", "A b1", "A b1 b2", "A b2")]
    queries = [("a1",), ("a2",), ("b1", "b2"), ("a1", "b2"), ("a2", "b1"), ("a1", "a2")]
    found = Trial(rows, published, {"A": ["a1", "a2"]}, queries).measured()
    assert found.actual.tolist() == [2, 3, 2, 2, 2, 1]
    assert found.estimate.tolist() == pytest.approx([8 / 3, 8 / 3, 2, 2, 2, 4 / 3], rel=1e-15)
    assert found.relative.tolist() == pytest.approx([1 / 3, 1 / 9, 0, 0, 0, 1 / 3], abs=1e-15)
    assert found.mean == pytest.approx(7 / 54)
    assert found.median == pytest.approx(1 / 18)


@pytest.mark.parametrize("s", [1, 2, 52, 53, 54, 1000, 1100, 5000])
def test_large_groups_do_not_overflow(s: int) -> None:
    items = [str(i) for i in range(s)]
    data, published = Transactions.from_rows([items] * 3), Transactions.from_rows([["G"]] * 3)
    for t in (1, 2, 5):
        if t <= s:
            found = query_errors(data, published, {"G": items}, [items[:t]])
            assert found.estimate[0] == pytest.approx(float(3 * Fraction(2 ** (s - t), 2**s - 1)), rel=1e-15)


def test_nothing_lost_and_everything_lost() -> None:
    rng = seeded(504)
    for _ in range(examples(50, 10)):
        case = random_case(rng)
        queries = random_queries_of(rng, occurring(case.rows), 30)
        same = Trial(case.rows, case.rows, {}, queries).measured()
        assert same.estimate.tolist() == same.actual.tolist()
        assert same.mean in {0.0, None}
        none = Trial(case.rows, [frozenset()] * len(case.rows), {}, queries).measured()
        assert (none.mean, none.sd) in {(1.0, 0.0), (None, None)}


def test_queries_that_are_refused() -> None:
    data = Transactions.from_rows([["a", "b"]])
    with pytest.raises(RequestError, match="no item"):
        query_errors(data, data, {}, [["a"], []])
    with pytest.raises(DataError, match="'x'"):
        query_errors(data, data, {}, [["a", "x"]])
    empty = Transactions.from_rows([])
    assert query_errors(empty, empty, {}, []).as_dict()["queries"] == 0


def test_progress_is_heard() -> None:
    heard: list[tuple[str, float | None]] = []
    data = Transactions.from_rows([["a", "b"], ["b"]])
    listen = listener(lambda phase, done: heard.append((phase, done)))
    queries = random_queries(data, 100, 1, progress=listen)
    query_errors(data, data, {}, queries, listen)
    frequent_queries(data, 1, 1, progress=listen)
    assert {phase for phase, _ in heard} == {
        "drawing queries", "answering queries", "finding frequent itemsets"
    }  # fmt: skip
    assert all(done is not None and 0 <= done <= 1 for _, done in heard)


def test_random_queries_have_answers() -> None:
    rng = seeded(505)
    for _ in range(examples(100, 20)):
        case = random_case(rng)
        size = rng.randint(1, 4)
        possible = naive.supported(case.rows, size)
        if not possible:
            with pytest.raises(RequestError, match=f"query size of {size}"):
                random_queries(case.data, 5, size)
            continue
        seed = rng.randint(0, 5)
        queries = random_queries(case.data, 20, size, seed)
        assert len(queries) == 20
        assert {frozenset(query) for query in queries} <= set(possible)
        order = case.data.vocabulary.ids
        assert all(list(query) == sorted(query, key=order.__getitem__) for query in queries)
        assert queries == random_queries(case.data, 20, size, seed)


@pytest.mark.parametrize(
    "rows",
    [
        ["abcd"] * 30 + ["ab"] * 30 + ["bc", "ce", "abe", "ae"],  # few items: sets of items are drawn
        ["abc", "abd", "ab", "ab", "ce", "fg", "hi", "jk", "lm", "no", "p", "q"],  # or sets in rows
    ],
)
@pytest.mark.parametrize("size", [2, 3])
def test_random_queries_are_equally_likely(rows: list[str], size: int) -> None:
    possible = naive.supported([frozenset(row) for row in rows], size)
    n = 400 * len(possible)
    drawn = Counter(map(frozenset, random_queries(letters(*rows), n, size)))
    assert set(drawn) == set(possible)
    chi2 = sum((count - 400) ** 2 / 400 for count in drawn.values())
    spread = sqrt(2 * max(len(possible) - 1, 1))
    assert chi2 < len(possible) - 1 + 4 * spread


def test_random_queries_never_change() -> None:
    """The same queries on every platform and in every version."""
    few = letters("abcd", "bcde", "ae", "c")
    assert random_queries(few, 5, 2) == [("a", "d"), ("c", "d"), ("a", "e"), ("b", "e"), ("a", "c")]
    many = letters("abc", "de", "fg", "hi", "jk", "lm", "no")
    assert random_queries(many, 5, 2, seed=7) == [("n", "o"), ("d", "e"), ("a", "c"), ("d", "e"), ("b", "c")]


def test_random_queries_among_some_items() -> None:
    data = letters("abc", "bcd", "cde", "ae")
    among = np.array([label in "ace" for label in data.vocabulary.labels])
    drawn = set(random_queries(data, 200, 2, among=among))
    assert drawn == {("a", "c"), ("a", "e"), ("c", "e")}
    with pytest.raises(RequestError, match="more than 2 of the items to draw from"):
        random_queries(data, 5, 3, among=among)
    with pytest.raises(RequestError, match="more than 0 of the items"):
        random_queries(data, 5, 1, among=among & False)


@pytest.mark.parametrize(("number", "size"), [(0, 1), (-3, 1), (1, 0)])
def test_random_queries_of_no_size(number: int, size: int) -> None:
    with pytest.raises(RequestError, match="expected at least 1"):
        random_queries(letters("ab"), number, size)


def test_generalized_items() -> None:
    rng = seeded(506)
    for _ in range(examples(100, 20)):
        case = small_case(rng)
        cut = rng.choice(cuts.all_cuts(case.parents))
        gone = {node for node in cut if rng.random() < 0.3}
        published = [row - gone for row in cuts.recode(case.rows, case.parents, cut)]
        members = members_of(case)
        alone = {members[node][0] for node in cut - gone if len(members[node]) == 1}
        marked = generalized_items(case.data, transactions(published), members)
        labels = case.data.vocabulary.labels
        assert {label for label, mark in zip(labels, marked, strict=True) if not mark} == alone & set(labels)


def test_frequent_queries() -> None:
    rng = seeded(507)
    for _ in range(examples(200, 40)):
        case = random_case(rng, most_items=6)
        size, least = rng.randint(1, 4), rng.randint(1, 6)
        rank = {label: i for i, label in enumerate(case.data.vocabulary.labels)}
        expected = sorted(
            (tuple(sorted(s, key=rank.__getitem__)) for s in naive.supported(case.rows, size, least)),
            key=lambda itemset: [rank[label] for label in itemset],
        )
        if not expected:
            with pytest.raises(RequestError, match=f"No {size} items"):
                frequent_queries(case.data, size, least)
            continue
        assert frequent_queries(case.data, size, least) == expected
        some = frequent_queries(case.data, size, least, number=3, seed=rng.randint(0, 9))
        assert len(some) == len(set(some)) == min(3, len(expected))
        assert some == [query for query in expected if query in some]


def test_sampled_frequent_queries() -> None:
    """Equally likely, and independent of how the search is cut into pieces."""
    data = Transactions.from_rows([[str(i) for i in range(80)]] * 2)
    everything = frequent_queries(data, 2, 2)
    assert len(everything) == 80 * 79 // 2
    drawn = Counter(query for seed in range(100) for query in frequent_queries(data, 2, 2, 100, seed))
    assert len(drawn) > 0.93 * len(everything)  # 100 times 3.2%: all but exp(-3.2) of them
    assert drawn.most_common(1)[0][1] < 15
    keys = np.random.PCG64(3).random_raw(len(everything))
    first = [everything[i] for i in sorted(np.argsort(keys, kind="stable")[:100].tolist())]
    assert frequent_queries(data, 2, 2, 100, 3) == first


@pytest.mark.parametrize(("number", "size", "least"), [(0, 1, 1), (None, 0, 1), (None, 1, 0)])
def test_frequent_queries_of_no_size(number: int | None, size: int, least: int) -> None:
    with pytest.raises(RequestError, match="expected at least 1"):
        frequent_queries(letters("ab"), size, least, number)


def read_back(folder: Path, rows: str, queries: str, name: str = "rows.csv") -> list[tuple[str, ...]]:
    (folder / name).write_text(rows, "utf-8")
    (folder / "Q.txt").write_text(queries, "utf-8", newline="")
    data = sv.read(folder / name, format="basket" if name == "rows.csv" else None)
    return read_queries(folder / "Q.txt", data)


def test_queries_file(tmp_path: Path) -> None:
    assert read_back(tmp_path, "a,b\nc d,b\n", "b, a\r\nc d\r\nb,b\n") == [("a", "b"), ("c d",), ("b",)]
    assert read_back(tmp_path, '"x,y",b\n', 'b,"x,y"') == [("b", "x,y")]
    assert read_back(tmp_path, "10 9\n7\n", "10 7\n9\n", "rows.dat") == [("7", "10"), ("9",)]
    assert read_back(tmp_path, "1 -1 2 -1 -2\n", "2 1\n", "rows.txt") == [("1", "2")]
    assert read_back(tmp_path, '["a b", "c"]\n', "c,a b\n", "rows.jsonl") == [("a b", "c")]
    semicolons = sv.read(tmp_path / "rows.csv", separator=",", format="basket")
    (tmp_path / "Q.txt").write_text("b\n")
    assert read_queries(tmp_path / "Q.txt", semicolons) == [("b",)]
    assert read_queries(tmp_path / "Q.txt", letters("ab")) == [("b",)]


@pytest.mark.parametrize(
    ("queries", "message"),
    [
        ("a\n\nb\n", "Q.txt, line 2: found no item."),
        ("a\nb\n\n", "Q.txt, line 3: found no item."),
        ("a,x\nb\n , \n", "Q.txt, line 1: 'x' is not an item of the data; line 3: found no item."),
        ("\n" * 9, "line 5: found no item; and 4 more problems."),
        ("", "is an empty file"),
        ('a\n"b', "line 2: the double quote opened here is never closed"),
        ('a\n"b"c\n', "line 2: found"),
    ],
)
def test_bad_queries_file(tmp_path: Path, queries: str, message: str) -> None:
    with pytest.raises(DataError) as error:
        read_back(tmp_path, "a,b\n", queries)
    assert message in error.value.message
    with pytest.raises(DataError, match="There is no file"):
        read_queries(tmp_path / "none.txt", letters("ab"))
