"""Association rules of the original that a reader of a release finds."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import setveil as sv
from cli_helpers import refused, setveil
from naive import rules as naive
from setveil.judges.utility import rules as fast
from setveil.judges.utility.rules import rules_found
from setveil.rows.data.transactions import Transactions

ROWS = [
    *(5 * [["tea", "milk", "sugar"]]), *(4 * [["coffee", "milk"]]), *(3 * [["tea", "sugar"]]),
    *(3 * [["milk"]]), ["tea", "coffee"], ["milk", "sugar"], ["cocoa"],
]  # fmt: skip
DRINKS = {"hot": ["tea", "coffee", "cocoa"], "cold": ["milk"], "sweet": ["sugar"]}

sets = st.lists(st.sets(st.sampled_from("abcde"), max_size=5), min_size=1, max_size=14)
shares = st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(1, 2), Fraction(2, 3), Fraction(1)])


@given(sets, st.lists(sets, min_size=1, max_size=3), st.integers(1, 4), shares, st.integers(2, 5))
def test_rules_are_those_of_the_twin(
    rows: list[set[str]], readings: list[list[set[str]]], least: int, confidence: Fraction, longest: int
) -> None:
    found = rules_found(
        Transactions.from_rows(rows),
        [Transactions.from_rows(read) for read in readings],
        least,
        confidence,
        longest=longest,
    )
    twins = [
        naive.compare([frozenset(r) for r in rows], [frozenset(r) for r in read], least, confidence, longest)
        for read in readings
    ]
    assert found["rules"] == twins[0][0]
    assert found["readings"] == len(readings)
    for at, name in enumerate(("found", "exact", "false"), 1):
        assert found[name]["mean"] == pytest.approx(sum(int(twin[at] or 0) for twin in twins) / len(twins))
    if twins[0][4] is None:
        assert found["confidence_error"] is None
    else:
        errors = [float(twin[4]) for twin in twins if twin[4] is not None]
        assert found["confidence_error"]["mean"] == pytest.approx(sum(errors) / len(errors))


def test_labels_of_a_reader_are_no_false_rules() -> None:
    original = Transactions.from_rows([["a", "b"], ["a", "b"], ["c"]])
    found = rules_found(
        original, [Transactions.from_rows([["A", "c"], ["A", "c"], ["c"]])], 2, Fraction(1, 2)
    )
    assert (found["rules"], found["found"]["mean"], found["false"]["mean"]) == (2, 0, 0)


def releases() -> dict[str, sv.VerifiedRelease]:
    table = sv.read_table(
        pl.DataFrame({"age": ["1", "2"] * 9, "codes": ROWS}, schema_overrides={"codes": pl.List(pl.String)}),
        qi=["age"],
        set="codes",
        hierarchies={"codes": DRINKS},
    )
    return {
        "global": sv.anonymize(ROWS, k=2, m=2, hierarchy=DRINKS),
        "local": sv.anonymize(ROWS, sv.TransactionalKAnonymity(k=2), hierarchy=DRINKS),
        "uncounted": sv.anonymize(ROWS, k=2, m=2, hierarchy=DRINKS, counts=False),
        "table": sv.anonymize(table, k=2, m=1),
        "groups": sv.anonymize(ROWS, sv.PrivacyDegree(p=2, sensitive=["cocoa"])),
    }


@pytest.mark.parametrize("kind", ["global", "local", "uncounted", "table", "groups"])
def test_any_release_says_how_many_rules_are_found(kind: str, tmp_path: Path) -> None:
    release = releases()[kind]
    original: Any = release.release.original if kind == "table" else ROWS  # type: ignore[attr-defined]
    options: dict[str, Any] = {"rules": 3, "confidence": "60%", "rule_length": 3}
    found = sv.measure(original, release, **options)["rules"]
    counted = kind != "uncounted"
    readings = sv.reconstruct(release, draws=3).rows if counted else (release.published,)
    twins = [
        naive.compare(
            [frozenset(row) for row in ROWS], [frozenset(row) for row in rows], 3, Fraction(3, 5), 3
        )
        for rows in readings
    ]
    assert found["read"] == ("release" if kind == "uncounted" else "draws")
    assert found["rules"] == twins[0][0] > 5
    assert found["found"]["mean"] == pytest.approx(sum(twin[1] for twin in twins) / len(twins))
    assert found["false"]["mean"] == pytest.approx(sum(twin[3] for twin in twins) / len(twins))
    release.write(tmp_path / "run")
    assert sv.measure(original, tmp_path / "run", **options)["rules"]["rules"] == found["rules"]


def test_rules_of_draws_and_of_items_that_stay() -> None:
    release = sv.anonymize(ROWS[:-3], k=2, m=2)
    drawn = sv.reconstruct(release, draws=2)
    found = sv.measure(ROWS[:-3], drawn, rules="20%")["rules"]
    assert found["threshold"] == 3
    assert found["exact"]["mean"] == found["found"]["mean"] == found["rules"]
    assert found["confidence_error"]["mean"] == found["false"]["mean"] == 0


def test_wrong_requests(monkeypatch: pytest.MonkeyPatch) -> None:
    release = releases()["global"]
    for arguments, words in (
        ({"confidence": 0.5}, "confidence: only with rules"),
        ({"rules": 0}, "rules must be a number of rows, at least 1, or a share .*got 0"),
        ({"rules": "many"}, "rules must be"),
        ({"rules": 2, "confidence": 2}, "confidence must be a share, 0 to 1, got 2"),
        ({"rules": 2, "rule_length": 1}, "rule_length must be an integer of at least 2"),
    ):
        with pytest.raises(sv.RequestError, match=words):
            sv.measure(ROWS, release, **arguments)
    monkeypatch.setattr(fast, "MOST", 3)
    with pytest.raises(sv.RequestError, match="too many to look for rules") as caught:
        sv.measure(ROWS, release, rules=1)
    assert "least support: rules" in caught.value.hint


def test_the_command_says_it(tmp_path: Path) -> None:
    rows = tmp_path / "rows.csv"
    rows.write_text("".join(",".join(row) + "\n" for row in ROWS[:-1]))
    sv.anonymize(ROWS[:-1], k=2, m=2, hierarchy=DRINKS).write(tmp_path / "run")
    done = setveil("measure", rows, tmp_path / "run", "--rules", "3", "--format", "basket")
    assert done.code == 0
    assert "rules found            " in done.out
    assert "confidence at least 50%, looked for in 3 draws" in done.out
    sv.reconstruct(tmp_path / "run", draws=2).write(tmp_path / "draws")
    done = setveil("measure", rows, tmp_path / "draws", "--rules", "15%", "--format", "basket")
    assert "in at least 3 rows" in done.out
    assert "looked for in 2 draws" in done.out
    wrong = setveil("measure", rows, tmp_path / "run", "--rules", "1.5", "--format", "basket")
    refused(wrong, 2, "--rules must be a number of rows")


@pytest.mark.parametrize("seed", range(3))
def test_sensitive_items_of_classes_stay_uncounted_in_what_is_put_together_again(
    seed: int, tmp_path: Path
) -> None:
    rng = Random(seed)
    items = [f"i{number}" for number in range(8)]
    rows = [
        [x for x in items if rng.random() < 0.3] + [x for x in ("s1", "s2") if rng.random() < 0.2] or ["i0"]
        for _ in range(60)
    ]
    promise = sv.KmRho(k=3, m=2, rho=0.6, sensitive=["s1", "s2"])
    release = sv.anonymize(rows, promise, classes=3, class_size=20, seed=seed)
    release.write(tmp_path / "run")
    found = [sv.measure(rows, which, rules=3, queries=20) for which in (release, tmp_path / "run")]
    assert found[0]["rules"]["read"] == "draws"
    assert found[0]["rules"] == found[1]["rules"]
    assert found[0]["are"]["median"] == pytest.approx(found[1]["are"]["median"])
    drawn = [sv.reconstruct(which, draws=1).rows[0].rows() for which in (release, tmp_path / "run")]
    assert drawn[0] == drawn[1]
