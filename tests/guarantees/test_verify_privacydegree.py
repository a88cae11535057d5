"""The verifier of privacy degrees against brute force."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from group_cases import GROUPS, ROWS, SENSITIVE, publish, random_groups
from naive import cahd as naive
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.judges.guarantees.verify.privacydegree import verify_privacydegree
from setveil.releases.published.group_files import PublishedGroups
from setveil.rows.data.transactions import Transactions
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
        ([[0, 1, 2], [3, 4]], {"row"}),  # a missing row
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
