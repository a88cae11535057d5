"""The verifier of privacy degrees against brute force, and the published files that it is given."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from group_cases import publish, random_groups
from naive import cahd as naive
from setveil.data.transactions import Transactions
from setveil.errors import DataError
from setveil.guarantees.privacydegree import PrivacyDegree
from setveil.guarantees.verify.privacydegree import verify_privacydegree
from setveil.published.group_files import PublishedGroups, read_grouped, write_grouped
from strategies import ALPHABETS, examples, random_rows, seeded, transactions


def test_against_brute_force() -> None:
    rng = seeded(620)
    outcomes: Counter[bool] = Counter()
    for _ in range(examples(1500, 500)):
        alphabet = rng.choice(ALPHABETS)
        rows = random_rows(rng, alphabet, rng.randint(1, 25), rng.randint(1, 3))
        sensitive = frozenset(rng.sample(alphabet, rng.randint(1, 3)))
        found = random_groups(rng, len(rows))
        p = rng.randint(2, 4)
        degree = naive.degree(rows, sensitive, found)
        groups = publish(rows, sensitive, found)
        named = PrivacyDegree(p, tuple(sensitive) if rng.random() < 0.5 else ())
        verdict = verify_privacydegree(
            groups, named, original=transactions(rows) if named.sensitive else None
        )
        assert verdict.holds == (degree is None or degree >= p)
        assert verdict.smallest_degree == degree
        assert verdict.groups == len(found)
        broken = [
            (Fraction(len(group), n), g, s, n, len(group))
            for g, group in enumerate(found)
            for s, n in Counter(s for x in group for s in rows[x] & sensitive).items()
            if n * p > len(group)
        ]
        assert verdict.violations == len(broken)
        rank = {s: i for i, s in enumerate(groups.sensitive.labels)}
        broken.sort(key=lambda entry: (entry[0], entry[1], rank[entry[2]]))
        assert [(b.kind, b.group, b.items, b.count, b.rows) for b in verdict.first] == [
            ("degree", g, (s,), n, size) for _, g, s, n, size in broken[:10]
        ]
        outcomes[verdict.holds] += 1
    assert min(outcomes.values()) > examples(150, 50)


ROWS = [frozenset(row) for row in ("as", "a", "ab", "bt", "b", "b")]
SENSITIVE = frozenset("st")
GROUPS = [[0, 1, 2], [3, 4, 5]]


def test_verdict_as_json() -> None:
    groups = publish(ROWS, SENSITIVE, GROUPS)
    verdict = verify_privacydegree(groups, PrivacyDegree(3, ("s", "t")))
    assert verdict.as_dict() == {
        "model": "privacy-degree", "p": 3, "sensitive": ["s", "t"], "holds": True, "violations": 0,
        "first": [], "smallest_degree": 3.0, "groups": 2,
    }  # fmt: skip
    verdict = verify_privacydegree(groups, PrivacyDegree(4), show=1)
    assert not verdict.holds
    assert verdict.violations == 2
    assert verdict.as_dict()["first"] == [
        {"kind": "degree", "group": 0, "itemset": ["s"], "count": 1, "rows": 3}
    ]


def test_leaked_sensitive_items() -> None:
    groups = publish(ROWS, frozenset("t"), GROUPS)
    verdict = verify_privacydegree(groups, PrivacyDegree(2, ("s", "t")))
    assert [b.as_dict() for b in verdict.first] == [
        {"kind": "leak", "group": 0, "itemset": ["s"], "count": 1, "rows": 6}
    ]
    assert not verdict.holds


def test_counts_that_cannot_be() -> None:
    groups = publish(ROWS, SENSITIVE, GROUPS)
    impossible = PublishedGroups(
        groups.qid, groups.group, groups.sensitive, groups.indptr, groups.item, np.array([7, 1])
    )
    verdict = verify_privacydegree(impossible, PrivacyDegree(2))
    assert verdict.smallest_degree == Fraction(3, 7)
    assert [b.count for b in verdict.first] == [7]


@pytest.mark.parametrize(
    ("found", "kinds"),
    [
        ([[0, 1, 2], [3, 4]], {"row"}),  # a row left out
        ([[0, 1, 2], [3, 4, 5, 2]], {"row"}),  # a row in two groups
        ([[0, 1, 2], [4, 5, 4]], {"row", "total"} - {"row"}),  # one with the sensitive item for one without
    ],
)
def test_groups_that_overlap_or_leave_rows_out(found: naive.Groups, kinds: set[str]) -> None:
    groups = publish(ROWS, SENSITIVE, found)
    promise = PrivacyDegree(2, ("s", "t"))
    assert verify_privacydegree(groups, promise).holds
    verdict = verify_privacydegree(groups, promise, original=transactions(ROWS))
    assert not verdict.holds
    assert {b.kind for b in verdict.first} == kinds


def test_original_of_another_file() -> None:
    groups = publish(ROWS, SENSITIVE, GROUPS)
    other = Transactions.from_rows([["x"], ["s"]])
    verdict = verify_privacydegree(groups, PrivacyDegree(2), original=other)
    assert [(b.kind, b.items, b.count, b.rows) for b in verdict.first] == [
        ("total", ("t",), 1, 0),
        ("row", (), 0, 1),
        ("row", ("a",), 2, 0),
        ("row", ("b",), 3, 0),
        ("row", ("x",), 0, 1),
        ("row", ("a", "b"), 1, 0),
    ]


def same(one: PublishedGroups, other: PublishedGroups) -> bool:
    rows = [
        Counter(zip(groups.group.tolist(), map(tuple, groups.qid), strict=True)) for groups in (one, other)
    ]
    pairs: list[tuple[NDArray[np.integer], NDArray[np.integer]]] = [
        (one.indptr, other.indptr),
        (one.item, other.item),
        (one.count, other.count),
    ]
    return (
        rows[0] == rows[1]
        and one.sensitive == other.sensitive
        and all(np.array_equal(a, b) for a, b in pairs)
    )


def test_written_files_are_read_again(tmp_path: Path) -> None:
    rng = seeded(621)
    for _ in range(examples(100, 50)):
        alphabet = [*rng.choice(ALPHABETS), 'a,"b"', " blank ", "line\nbreak", "\ufeffmark"]
        rows = random_rows(rng, alphabet, rng.randint(1, 20), 3)
        groups = publish(rows, frozenset(rng.sample(alphabet, 6)), random_groups(rng, len(rows)))
        write_grouped(tmp_path, groups)
        assert same(read_grouped(tmp_path), groups), rows


def test_no_rows_at_all(tmp_path: Path) -> None:
    groups = publish([], frozenset("s"), [])
    write_grouped(tmp_path, groups)
    assert same(read_grouped(tmp_path), groups)
    verdict = verify_privacydegree(groups, PrivacyDegree(2, ("s",)), original=transactions([]))
    assert verdict.holds
    assert verdict.found() == {"smallest_degree": None, "groups": 0}


def test_files_as_documented(tmp_path: Path) -> None:
    write_grouped(tmp_path, publish(ROWS, SENSITIVE, GROUPS))
    assert (tmp_path / "data.csv").read_text() == (
        "group,row,item\n0,0,a\n0,1,a\n0,2,a\n0,2,b\n1,3,b\n1,4,b\n1,5,b\n"
    )
    assert (tmp_path / "groups.csv").read_text() == "group,item,count\n0,,3\n0,s,1\n1,,3\n1,t,1\n"


def test_other_numbers_and_orders_of_lines(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("group,row,item\n\n7,5,b\n3,9,a\n7,5,a\n7,5,b\n")
    (tmp_path / "groups.csv").write_text("group,item,count\n7,t,1\n7,,2\n3,,1\n7,s,2\n")
    groups = read_grouped(tmp_path)
    assert list(groups.qid) == [("a",), ("a", "b"), ()]
    assert groups.group.tolist() == [0, 1, 1]
    assert (groups.indptr.tolist(), groups.item.tolist(), groups.count.tolist()) == (
        [0, 0, 2],
        [0, 1],
        [2, 1],
    )


GOOD_DATA = "group,row,item\n0,0,a\n0,1,b\n"
GOOD_GROUPS = "group,item,count\n0,,2\n0,s,1\n"


@pytest.mark.parametrize(
    ("data", "groups", "message"),
    [  # None: the good one
        ("group,row,item\n0,0,a\n1,1,b\n", None, r"data.csv, line 3: found group 1, expected one"),
        ("group,row,item\n0,0,a\n\n1,0,b\n", "group,item,count\n0,,2\n1,,1\n", r"4: row 0 is in group 1"),
        ("group,row,item\n0,0,a\n0,1,b\n0,2,c\n", None, r"3 rows of group 0, but .*groups.csv gives it 2"),
        ("group,row,item\n0,x,a\n", None, r"line 2: found 'x' as row, expected a non-negative"),
        ('group,row,item\n0,0,"a\nb"\n0,0,\n', None, r"line 4: the item is empty"),
        ("group,row\n0,0\n", None, r"fields is 2, expected 3"),
        ("a,b,c\n0,0,a\n", None, r"line 1: found 'a,b,c', expected the header group,row,item"),
        ("", None, r"line 1: found nothing"),
        ('group,row,item\n0,0,"a\n', None, r"never closed"),
        (None, "group,item,count\n0,,2\n0,s,-1\n", r"groups.csv, line 3: found '-1' as count, .*positive"),
        (None, "group,item,count\n0,,2\n0,s,0\n", r"line 3: found the count 0"),
        (None, "group,item,count\n0,,2\n0,s,1.5\n", r"line 3: found '1.5'"),
        (None, "group,item,count\n0,s,1\n", r"line 2: group 0 has no line with an empty item"),
        (None, "group,item,count\n0,,2\n0,s,1\n0,s,1\n", r"line 4: group 0 has 's' a second time"),
        (None, "group,item,count\n0,,2\n0,,2\n", r"line 3: group 0 has the number of rows a second time"),
    ],
)  # fmt: skip
def test_malformed_files(tmp_path: Path, data: str | None, groups: str | None, message: str) -> None:
    (tmp_path / "data.csv").write_text(GOOD_DATA if data is None else data)
    (tmp_path / "groups.csv").write_text(GOOD_GROUPS if groups is None else groups)
    with pytest.raises(DataError, match=message):
        read_grouped(tmp_path)


def test_missing_file(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(GOOD_DATA)
    with pytest.raises(DataError, match=r"no file .*groups.csv"):
        read_grouped(tmp_path)


def test_labels_that_cannot_be_written(tmp_path: Path) -> None:
    for label in ("half\ud800", "zero\0byte"):
        with pytest.raises(DataError):
            write_grouped(tmp_path, publish([frozenset({label, "s"})], frozenset("s"), [[0]]))
    assert not list(tmp_path.iterdir())
