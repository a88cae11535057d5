"""Absent items: the verifier against a count of every pair of sets."""

from __future__ import annotations

import math
from random import Random
from typing import Any

import pytest

import setveil as sv
from cli_helpers import setveil, write
from naive import absence as naive
from setveil.base.errors import RequestError
from setveil.judges.guarantees.verify.absence import signs_of, verify_absence
from setveil.judges.guarantees.verify.table_absence import verify_table_absence
from strategies import many, random_rows, seeded, transactions
from table_cases import published, random_lines

# The example of docs/verify.md.
EXAMPLE = [*[["bread", "milk"]] * 4, ["bread"], ["milk"], ["milk"], ["milk", "H"], ["H"], ["H"]]


def random_release(
    rng: Random,
) -> tuple[list[frozenset[str]], dict[str, list[str]], list[tuple[str, str, int]]]:
    """Draw rows of labels, some representing several items or another one, and sometimes counts of items."""
    labels = rng.sample(["a", "b", "c", "D", "E", "F"], rng.randint(1, 5))
    rows = random_rows(rng, labels, rng.randint(0, 9), rng.randint(1, 4))
    members = {}
    for label in labels:
        if label.isupper() and rng.random() < 0.8:
            members[label] = rng.sample([f"{label}1", f"{label}2", "a", "z"], rng.randint(1, 3))
    counts = []
    for label, items in members.items():
        held = sum(label in row for row in rows)
        counts += [(item, label, rng.randint(0, held)) for item in items if held and rng.random() < 0.5]
    return rows, members, counts


def test_every_pair_of_known_and_absent_items_is_counted() -> None:
    rng, broken = seeded(41), 0
    for number in range(many(400)):
        rows, members, counts = random_release(rng)
        m, absent, k = rng.randint(1, 3), rng.randint(1, 2), rng.randint(2, 4)
        absence = rng.choice(("items", "labels"))
        data = transactions(rows)
        signs = signs_of(data, absence, members, counts)
        expected = naive.telling(rows, absence, members, counts)
        assert {frozenset(labels) for _, labels in signs} == set(expected), (number, rows, members, counts)
        verdict = verify_absence(
            data, sv.KmAnonymity(k, m), signs, absent=absent, absence=absence, show=10_000
        )
        supports = naive.supports(rows, m, absent, expected)
        few = [n for n in supports if n < k]
        assert verdict.violations == len(few) == len(verdict.first), (
            rows,
            signs,
            m,
            absent,
            k,
            verdict.first,
        )
        assert verdict.holds == (not few)
        assert verdict.greatest_k == min(supports, default=None)
        of_sign = dict(signs)
        assert sorted(n for _, _, n in verdict.first) == sorted(few)
        for known, lacking, support in verdict.first:
            assert naive.fitting(rows, known, [frozenset(of_sign[x]) for x in lacking]) == support
        broken += bool(few)
    assert 0 < broken < many(400) or many(400) == 1


def test_every_pair_is_counted_within_each_class_of_a_table() -> None:
    rng, broken = seeded(43), 0
    for _ in range(many(300)):
        lines = random_lines(rng, 14)
        members = {"a": ["a1", "a2"], "b": ["c"]} if rng.random() < 0.5 else {}
        m, absent, k = rng.randint(1, 3), rng.randint(1, 2), rng.randint(2, 4)
        absence = rng.choice(("items", "labels"))
        table = published(lines)
        signs = signs_of(table.sets, absence, members)
        verdict = verify_table_absence(
            table, sv.KKmAnonymity(k, m), signs, absent=absent, absence=absence, show=10_000
        )
        pairs = naive.telling([line.items for line in lines], absence, members, ())
        supports = naive.supports_in_classes([(line.known, line.items) for line in lines], m, absent, pairs)
        few = sorted(n for n in supports if n < k)
        assert (verdict.violations, verdict.holds) == (len(few), not few), (lines, m, absent, k)
        assert sorted(entry.support for entry in verdict.first) == few
        assert verdict.greatest_k == min(supports, default=None)
        broken += bool(few)
    assert broken > 0


def test_a_table_is_queried_on_all_faces(tmp_path: Any) -> None:
    """Check that, within the class F, a person without tea is one of two."""
    lines = [f"{sex};{items}" for sex in "FM" for items in 2 * ["tea", "tea,milk", "milk"]]
    file = write(tmp_path / "t.csv", "sex;items\n" + "\n".join(lines) + "\n")
    words = [file, "--model", "kkm", "-k", "3", "-m", "1", "--qi", "sex", "--set", "items"]
    words += ["--separator", ";", "--delimiter", ","]
    setveil("verify", *words).ok()
    done = setveil("verify", *words, "--absent", "1")
    assert done.code == 1
    assert "No: (k,k^m)-anonymity (k=3, m=1, a=1, absent items) does not hold." in done.out
    assert "8 classes, or pairs of at most 1 item and 1 absent item within one, in fewer than 3" in done.out
    assert "support 2: sex = F; no tea" in done.out
    assert "support 2: sex = F; milk, no tea" in done.out
    assert "greatest k at m = 1, 1 absent: 2" in done.out
    table = sv.read_published_table(file, qi=["sex"], set="items", separator=";", delimiter=",")
    found = sv.verify(table, sv.KKmAnonymity(3, 1), absent=1)
    assert found.as_dict()["first"][0] == {
        "class": {"sex": "F"}, "itemset": [], "absent": ["milk"], "support": 2,
    }  # fmt: skip
    shown = sv.risk(table, m=[0, 1], absent=1, thresholds=[3])["absence"]["entries"]
    assert [entry["rows_below"] for entry in shown] == [{"3": 8}, {"3": 8}]
    with pytest.raises(RequestError, match="does not go with sensitive values"):
        sv.verify(table, sv.KKmAnonymity(3, 1, sensitive=["milk"], h="90%"), absent=1)


@pytest.mark.parametrize("absence", ["items", "labels"])
def test_the_example(absence: str) -> None:
    verdict = sv.verify(EXAMPLE, k=2, m=1, absent=1, absence=absence).as_dict()
    assert (verdict["violations"], verdict["greatest_k"], verdict["absent"], verdict["absence"]) == (
        1,
        1,
        1,
        absence,
    )
    assert verdict["first"] == [{"itemset": ["bread"], "absent": ["milk"], "support": 1}]
    assert sv.verify(EXAMPLE, k=3, m=1).holds


def test_counts_tell_what_a_label_means(tmp_path: Any) -> None:
    rows = [["a1"], ["a1"], ["a1", "a2"], ["a1", "a2"], ["b"], ["b"], ["a1", "b"], ["a1", "b"], ["a1", "b"]]
    tree = sv.Hierarchy.from_paths([["a1", "A", "*"], ["a2", "A", "*"], ["b", "*"]])
    options: dict[str, Any] = {"hierarchy": tree, "algorithm": sv.AA}
    release = sv.anonymize(rows, sv.KmAnonymity(3, 2), **options)
    assert "A" in release.published.vocabulary.labels
    # Every row of A holds a1, by the counts: who lacks it is in none.
    with_counts = sv.verify(release, sv.KmAnonymity(3, 1), absent=1)
    without = sv.verify(sv.anonymize(rows, sv.KmAnonymity(3, 2), counts=False, **options), k=3, m=1, absent=1)
    assert with_counts.first[0] == ((), ("a1",), 2)
    assert not with_counts.holds
    assert all("a1" not in entry["absent"] for entry in without.as_dict()["first"])
    release.write(tmp_path / "run")
    assert sv.verify(str(tmp_path / "run"), k=3, m=1, absent=1).as_dict() == with_counts.as_dict()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"absent": 3}, "--absent must be 1 or 2"),
        ({"absent": True}, "--absent must be 1 or 2"),
        ({"absent": 1, "absence": "rows"}, "--absence must be"),
        ({"absent": 1, "m": math.inf}, "m must be a number"),
        ({"absent": 1, "guarantee": sv.TransactionalKAnonymity(2)}, "not about k-anonymity"),
        ({"absence": "labels"}, "goes with"),
    ],
)
@pytest.mark.usefixtures("command_line")
def test_requests_that_are_refused(options: dict[str, Any], words: str) -> None:
    if "guarantee" not in options:
        options = {"k": 2, "m": 1} | options
    with pytest.raises(RequestError, match=words):
        sv.verify([["a"], ["a"]], **options)
