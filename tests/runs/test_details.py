"""Details in a run's report, in addition to guarantee and loss, compared with counting by hand."""

from __future__ import annotations

import hashlib
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random
from typing import Any

import pytest

import setveil as sv
from naive import estimates as naive
from releases import in_hand
from setveil.base.errors import DataError, RequestError
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.guarantees import Guarantee
from setveil.runs.details import frequent_support

RNG = Random(3)
ROWS = [sorted(RNG.sample("abcdefghij", RNG.randint(1, 4))) for _ in range(120)] + [["k"], []]
TREE = {x: "low" if x < "f" else "high" for x in "abcdefghijk"} | {"low": "*", "high": "*", "*": None}


@pytest.fixture(scope="module", params=["aa", "exact", "lg", "coat", "border"])
def release(request: pytest.FixtureRequest) -> sv.VerifiedRelease:
    guarantees: dict[str, Guarantee] = {
        "lg": sv.TransactionalKAnonymity(2),
        "coat": sv.PrivacyConstraints(4, m=2),
        "border": sv.Coherence("0.9", 4, 2, ["j"]),
    }
    guarantee = guarantees.get(request.param, sv.KmAnonymity(4, 2))
    rows = ROWS if request.param != "lg" else ROWS[:-1]  # a single empty row can not hide
    data = sv.Transactions.from_rows(rows)
    return sv.anonymize(data, guarantee, hierarchy=sv.Hierarchy(TREE), algorithm=request.param, details=True)


def test_frequencies_are_what_a_reader_expects(release: sv.VerifiedRelease) -> None:
    before = Counter(item for row in ROWS for item in row)
    after = Counter(label for row in release.published for label in row)
    published = in_hand(release)
    members = release.recoding.members()
    lines = {line["item"]: line for line in release.report["frequencies"]}
    assert set(lines) == set(before)
    assert [line["rows"] for line in lines.values()] == sorted(before.values(), reverse=True)
    for item, line in lines.items():
        standing = [label for label, items in members.items() if item in items]
        assert line["rows"] == before[item]
        spread = sum(after[label] / len(members[label]) for label in standing)
        expected = spread if published.counts is None else naive.estimate(published, (item,))
        assert line["estimate"] == pytest.approx(expected)
        if line["published"] is None:
            assert item not in after
        elif line["items"] is None:
            assert line["published"] in {f"{n} labels" for n in range(2, len(standing) + 1)}
        else:
            assert line["published"] in standing
            assert line["items"] == len(members[line["published"]])


def test_risk_is_that_of_the_rows_before_and_after(release: sv.VerifiedRelease) -> None:
    risk: Any = release.report["risk"]
    hidden = {"j"} if release.report["guarantee"]["model"] == "coherence" else set()
    for when, rows in (("before", ROWS), ("after", list(release.published))):
        known = [set(row) - hidden for row in rows]
        alone = sum(any(sum(x in other for other in known) == 1 for x in row) for row in known)
        best = next(e for e in risk[when]["risk"] if (e["m"], e["choice"]) == (1, "best"))
        assert best["rows_below"]["2"] == alone
        assert ("inference" in risk[when]) == bool(hidden)
    promised = next(e for e in risk["after"]["risk"] if (e["m"], e["choice"]) == (2, "best"))
    assert promised["rows_below"]["2"] == 0


def test_answers_are_computed_from_the_original(release: sv.VerifiedRelease) -> None:
    answers = release.report["answers"]
    assert (answers["are"]["queries"], answers["are"]["size"]) == (1000, 2)
    assert ("itemsets" in answers) == (release.recoding.kind == "global")
    assert "are" not in release.utility


def test_answers_use_the_counts(release: sv.VerifiedRelease) -> None:
    answers = release.report["answers"]
    assert ("from_rows" in answers["are"]) == (release.counts is not None)
    assert answers["are"]["estimator"] == ("uniform" if release.counts is None else "maximum entropy")
    pairs = Counter(pair for row in ROWS for pair in combinations(row, 2))
    most = [pair for pair, _ in sorted(pairs.items(), key=lambda entry: (-entry[1], entry[0]))][:100]
    slow = in_hand(release)
    thought = {pair: naive.estimate(slow, pair) for pair in combinations("abcdefghijk", 2)}
    singles = {item: naive.estimate(slow, (item,)) for item in "abcdefghijk"}
    actual = Counter(item for row in ROWS for item in row)
    unsure = [
        abs((thought[p] / singles[x] if singles[x] else 0) - pairs[p] / actual[x]) for p in most for x in p
    ]
    ranked = sorted((-rows, pair) for pair, rows in thought.items() if rows > 0)[: len(most)]
    assert answers["pairs"] == {
        "number": len(most),
        "found": len(set(most) & {pair for _, pair in ranked}),
        "error": pytest.approx(sum(abs(thought[p] / pairs[p] - 1) for p in most) / len(most)),
        "confidence": pytest.approx(sum(unsure) / len(unsure)),
    }


def test_details_can_be_omitted_and_groups_have_fewer() -> None:
    data = sv.Transactions.from_rows(ROWS)
    few = sv.anonymize(data, sv.KmAnonymity(4, 2))
    assert not {"risk", "answers"} & set(few.report)
    grouped = sv.anonymize(data, sv.PrivacyDegree(2, ("j",)), details=True).report
    assert "answers" not in grouped
    assert "frequencies" not in grouped
    learned = {when: grouped["risk"][when]["inference"][0]["probability"] for when in ("before", "after")}
    assert learned["after"] <= 0.5


@pytest.mark.parametrize("algorithm", ["aa", "lg"])
def test_watched_items_are_looked_at_and_nothing_else_changes(algorithm: str) -> None:
    guarantee: Guarantee = sv.KmAnonymity(4, 2) if algorithm == "aa" else sv.TransactionalKAnonymity(4)
    data = sv.Transactions.from_rows(ROWS[:-1])
    both: dict[str, sv.VerifiedRelease] = {}
    for name, watched in (("watched", ["j", "b"]), ("plain", [])):
        both[name] = sv.anonymize(
            data, guarantee, hierarchy=sv.Hierarchy(TREE), algorithm=algorithm, details=True, watched=watched
        )
    report: Any = both["watched"].report
    plain: Any = both["plain"].report
    assert sorted(both["watched"].published) == sorted(both["plain"].published)
    assert report["watched"] == ["j", "b"]
    assert "watched" not in plain
    for when, rows in (("before", data), ("after", both["plain"].published)):
        learned = report["risk"][when].pop("inference")
        assert learned == attack_risk(rows, sizes=(1, 2, 3), private=["j", "b"])["inference"]
        assert learned[0]["items"] or when == "after"
        assert report["risk"][when] == plain["risk"][when]  # watched items may be known, like all others


def test_where_nothing_can_be_watched() -> None:
    data = sv.Transactions.from_rows(ROWS)
    with pytest.raises(RequestError, match="details only"):
        sv.anonymize(data, sv.KmAnonymity(4, 2), watched=["j"])
    with pytest.raises(RequestError, match="no further sensitive items") as caught:
        sv.anonymize(data, sv.Coherence(0.9, 4, 2, ["j"]), watched=["b"], details=True)
    assert caught.value.hint == "Name them in the guarantee."
    with pytest.raises(DataError, match="'zz'"):
        sv.anonymize(data, sv.KmAnonymity(4, 2), watched=["zz"], details=True)
    with pytest.raises(RequestError, match="watched must contain items"):
        sv.anonymize(data, sv.KmAnonymity(4, 2), watched=[3], details=True)  # type: ignore[list-item]


def test_nothing_to_ask_for() -> None:
    release = sv.anonymize(sv.Transactions.from_rows([[], []]), sv.KmAnonymity(2, 2), details=True)
    assert "answers" not in release.report
    single = sv.anonymize(sv.Transactions.from_rows([["a"]] * 5), sv.KmAnonymity(2, 2), details=True)
    assert single.report["answers"]["are"]["size"] == 1


@pytest.mark.parametrize(("rows", "support"), [(0, 2), (1, 2), (200, 2), (201, 3), (9835, 99), (1000, 10)])
def test_frequent_is_one_row_of_a_hundred(rows: int, support: int) -> None:
    assert frequent_support(rows) == support


def test_report_tells_where_the_hierarchy_comes_from(tmp_path: Path) -> None:
    data = sv.Transactions.from_rows([["a", "b"], ["a"], ["b"], ["a", "b"]])
    guarantee, hierarchy = sv.KmAnonymity(2, 2), sv.Hierarchy.balanced(data)
    path = tmp_path / "tree.csv"
    sv.write_hierarchy(hierarchy, path)
    read = sv.read_hierarchy(path)
    assert read == hierarchy
    sources: dict[str, tuple[sv.Hierarchy | None, list[str | None]]] = {
        "co-occurrence": (None, [None, None]),
        "given": (hierarchy, [None, None]),
        "file": (read, [str(path), hashlib.sha256(path.read_bytes()).hexdigest()]),
    }
    for source, (tree, file) in sources.items():
        report = sv.anonymize(data, guarantee, hierarchy=tree, details=False).report
        assert report["hierarchy"] is not None
        assert list(report["hierarchy"].values()) == [source, *file, 2, 1]
        assert ("hierarchy" in report["timing"]) is (source != "given")


def test_labels_name_the_first_items_that_they_stand_for(release: sv.VerifiedRelease) -> None:
    members = release.recoding.members()
    items = set(release.recoding.items.labels)
    rows = Counter(label for row in release.published for label in row)
    assert {line["label"] for line in release.report["labels"]} == rows.keys() - items
    for line in release.report["labels"]:
        inside = members[line["label"]]
        assert line["first"] == sorted(inside)[:5]
        assert line["items"] == len(inside)
        assert line["rows"] == rows[line["label"]]
