"""The verifier of privacy constraints against counting every subset."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from random import Random

import pytest

import setveil as sv
from naive import coat as naive
from naive.km import violations
from setveil.base.errors import DataError, RequestError
from setveil.base.progress import listener
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.verify import constraints as module
from setveil.judges.guarantees.verify import verify
from setveil.judges.guarantees.verify.constraints import verify_constraints
from strategies import examples, many, random_case, seeded, transactions

Image = Mapping[str, str | None]


def random_image(rng: Random, items: tuple[str, ...]) -> dict[str, str | None]:
    n = rng.randint(1, max(1, len(items)))
    return {item: None if rng.random() < 0.1 else f"G{rng.randrange(n)}" for item in items}


def publish(rows: list[frozenset[str]], image: Image) -> list[frozenset[str]]:
    return [frozenset(to for item in row if (to := image[item]) is not None) for row in rows]


def expected(
    published: list[frozenset[str]], privacy: list[tuple[str, ...]], image: Image, k: int
) -> list[tuple[tuple[str, ...], tuple[str, ...], int]]:
    """Every unsatisfied constraint with the first of its smallest rare subsets."""
    out = []
    for number, p in enumerate(privacy):
        labels = sorted({to for item in p if (to := image.get(item, "nowhere " + item)) is not None})
        rare = [
            (size, subset, count)
            for size in range(1, len(labels) + 1)
            for subset in combinations(labels, size)
            if 0 < (count := sum(set(subset) <= row for row in published)) < k
        ]
        if rare:
            out.append((min(rare), number, p))
    return [(p, subset, count) for (_, subset, count), _, p in sorted(out)]


def test_verdict_is_that_of_counting_every_subset() -> None:
    rng = seeded(90)
    held = 0
    for _ in range(examples(1500, 200)):
        case = random_case(rng, most_rows=rng.choice((6, 20, 60)), most_items=rng.choice((2, 4, 7)))
        items = case.data.vocabulary.labels
        image = random_image(rng, items)
        published = publish(case.rows, image)
        pool = [*items, "nowhere"]
        privacy = [
            tuple(rng.sample(pool, rng.randint(1, min(len(pool), 5)))) for _ in range(rng.randint(0, 6))
        ]
        guarantee = PrivacyConstraints(case.k, privacy)
        verdict = verify_constraints(transactions(published), guarantee, image=image, show=100)
        found = expected(published, privacy, image, case.k)
        assert list(verdict.first) == found, (case, privacy, image)
        assert verdict.violations == len(found)
        assert verdict.holds == (not found)
        holds = [
            naive.is_satisfied(
                [frozenset(frozenset({label}) for label in row) for row in published],
                frozenset(frozenset({to}) for i in p if (to := image.get(i, "nowhere")) is not None),
                case.k,
            )
            for p in privacy
        ]
        assert len(privacy) - sum(holds) == verdict.violations
        held += verdict.holds
    assert held > many(10)


def test_all_itemsets_are_km_anonymity() -> None:
    rng = seeded(91)
    for _ in range(examples(300, 40)):
        case = random_case(rng)
        m = rng.choice((1, 2, 3))
        verdict = verify_constraints(case.data, PrivacyConstraints(case.k, m=m), show=1000)
        found = violations(case.rows, case.k, m, case.data.vocabulary.labels)
        assert [(itemset, support) for _, itemset, support in verdict.first] == found
        assert (verdict.holds, verdict.violations) == (not found, len(found))


def test_verdict_as_json() -> None:
    published = transactions([frozenset(row) for row in ("xy", "xy", "x", "z")])
    guarantee = PrivacyConstraints(2, [("a", "b"), ("c",), ("a", "gone")])
    verdict = verify(published, guarantee, image={"a": "x", "b": "y", "c": "z", "gone": None})
    assert verdict.as_dict() == {
        "model": "constraints",
        "k": 2,
        "itemsets": 3,
        "holds": False,
        "violations": 1,
        "first": [{"constraint": ["c"], "itemset": ["z"], "support": 1}],
        "supported": 3,
    }
    whole = verify(published, PrivacyConstraints(2, m=1), show=0)
    assert whole.as_dict() == {
        "model": "constraints",
        "k": 2,
        "m": 1,
        "holds": False,
        "violations": 1,
        "first": [],
    }


def test_rows_that_contradict_the_image_are_refused() -> None:
    """Check that a wrong image is an error, as the verifier would search for labels that are not there."""
    guarantee = PrivacyConstraints(2, [("a", "b")])
    rows = transactions([frozenset("xa"), frozenset("x")])
    for image, words in (
        ({"a": "x", "b": "x"}, "1 item stands as published.*'a' becomes 'x'"),
        ({"a": None, "b": "x"}, "'a' is suppressed"),
        ({"b": "x"}, "1 label is none"),
    ):
        with pytest.raises(DataError, match=words):
            verify_constraints(rows, guarantee, image=image)
    assert not verify_constraints(rows, guarantee, image={"a": "a", "b": "x"}).holds


def test_the_image_must_be_known() -> None:
    with pytest.raises(RequestError, match="published as"):
        verify_constraints(transactions([frozenset("ab")]), PrivacyConstraints(2, [("a",)]))


def test_long_constraints_and_a_witness_that_is_only_minimal(monkeypatch: pytest.MonkeyPatch) -> None:
    items = [f"i{n:02}" for n in range(30)]
    rows = [frozenset(items[:20]), frozenset(items[5:]), *[frozenset({item}) for item in items] * 3]
    guarantee = PrivacyConstraints(2, [items])
    image: Image = {item: item for item in items}
    monkeypatch.setattr(module, "TRIES", 10)
    verdict = verify_constraints(transactions(rows), guarantee, image=image)
    ((_, witness, support),) = verdict.first
    assert 0 < support < 2
    assert all(sum(set(witness) - {x} <= row for row in rows) >= 2 for x in witness)
    assert verify_constraints(transactions(rows * 2), guarantee, image=image).holds


def test_no_rows_and_no_constraints() -> None:
    empty = transactions([])
    assert verify_constraints(empty, PrivacyConstraints(2, [("a",)]), image={}).holds
    assert verify_constraints(empty, PrivacyConstraints(2, m=2)).holds
    assert verify_constraints(
        transactions([frozenset("a")]), PrivacyConstraints(2, ()), image={"a": "a"}
    ).holds


def test_progress_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[float | None] = []
    monkeypatch.setattr(module, "STEPS", 1)
    rows = [frozenset("abc")] * 3
    verify_constraints(
        transactions(rows),
        PrivacyConstraints(2, [("a",), ("b",), ("a", "b")]),
        image={item: item for item in "abc"},
        progress=listener(lambda phase, done: heard.append(done)),
    )
    assert heard == [1 / 3, 2 / 3, 1.0]


def test_a_local_recoding_tells_of_no_one_label(tmp_path: Path) -> None:
    rows = [["a1"], ["a1"], ["a1", "b1"], ["a2", "b1"], ["b2"], ["b2"]]
    tree = sv.Hierarchy({"*": None, "A": "*", "B": "*", "a1": "A", "a2": "A", "b1": "B", "b2": "B"})
    release = sv.anonymize(rows, sv.TransactionalKAnonymity(2), hierarchy=tree)
    release.write(tmp_path / "run")
    for place in (release, tmp_path / "run"):
        with pytest.raises(DataError, match="several labels"):
            sv.verify(place, PrivacyConstraints(2, [("a1", "b1")]))
        assert sv.verify(place, PrivacyConstraints(2, m=2)).holds


def test_sensitive_items_must_be_somewhere() -> None:
    release = sv.anonymize([["a", "s"], ["a"], ["b"], ["b"]], sv.PrivacyDegree(2, ("s",)))
    with pytest.raises(DataError, match="neither counted"):
        sv.verify(release, sv.PrivacyDegree(2, ("s", "tea")))
    assert not sv.verify(release, sv.PrivacyDegree(2, ("s", "tea")), original=[["tea"]]).holds
