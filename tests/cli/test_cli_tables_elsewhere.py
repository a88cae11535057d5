"""Commands and functions that are given tables, or their releases: right answers, or a refusal."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from cli_helpers import needs_compiled, refused, setveil, together, write
from setveil.base.errors import DataError, RequestError
from setveil.report.risk import risk_text
from setveil.rows.hierarchy.tree import Hierarchy
from tables import fast, hierarchy, random_tables
from ward import ward

LINES = """age,sex,codes
34,F,I21;J18
36,F,I21
41,M,J18;J44
45,M,I50;J44
47,F,I50
62,M,I21;J44
64,M,I21;I50
71,F,J18
"""
CODES = "I21;Heart;ALL\nI50;Heart;ALL\nJ18;Lung;ALL\nJ44;Lung;ALL\n"
COLUMNS = ("--qi", "age,sex", "--set", "codes")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "ward.csv", LINES)
    write(tmp_path / "codes.csv", CODES)
    words = ("ward.csv", "--model", "kkm", "-k2", "-m2", *COLUMNS, "-H", "codes.csv", "--out", "release")
    setveil("anonymize", *words, "--external", cwd=tmp_path).ok()
    return tmp_path


@needs_compiled
@pytest.mark.parametrize("algorithm", ["rt", "forest"])
def test_answers_hold_for_random_tables(algorithm: str) -> None:
    """Check that the true number of rows is within the bounds, for single items and pairs."""
    for _, naive in random_tables(25, 11, most_rows=14):
        table = fast(naive)
        if table.n_rows < 2 or not table.n_items:
            continue
        release = sv.anonymize(
            table, sv.KKmAnonymity(2, 2), hierarchy=hierarchy(naive), algorithm=algorithm, details=False
        )
        rows = [set(row) for row in table]
        named = set()
        for answer in sv.query(release, itemsets=3):
            named.add(answer.itemset)
        items = table.vocabulary.labels
        for size in (1, 2):
            for query in combinations(items, size):
                try:
                    (answer,) = sv.query(release, [query])
                except DataError:  # suppressed everywhere, and in no count
                    continue
                true = sum(set(query) <= row for row in rows)
                assert answer.least <= true <= answer.greatest, (query, answer, true)
                assert answer.least - 1e-9 <= answer.estimate <= answer.greatest + 1e-9


@needs_compiled
def test_a_folder_answers_as_the_release_in_memory(folder: Path) -> None:
    table = sv.read_table(
        folder / "ward.csv", qi=["age", "sex"], set="codes", hierarchies={"codes": folder / "codes.csv"}
    )
    release = sv.anonymize(table, sv.KKmAnonymity(2, 2))
    queries = [("I21",), ("I21", "J18"), ("I50", "J44")]
    found = setveil("query", "release", "I21", "I21;J18", "I50;J44", "--json", cwd=folder).ok().json()
    assert found == [answer.as_dict() for answer in sv.query(release, queries)]
    assert sv.query(folder / "release", ["I21;J18"]) == sv.query(release, [("I21", "J18")])


def test_the_attacker_of_tables_in_words(folder: Path) -> None:
    words = ("risk", "release", "--original", "ward.csv", *COLUMNS)
    shown, alone, rows = together(
        [words, ("risk", "release", "--m", "0"), ("risk", "ward.csv", "--format", "basket", "-m0")], folder
    )
    assert shown.ok().out.startswith(
        "Rows unique by all quasi-identifiers (age and sex) and their 2 most identifying items:\n"
        "  before   all 8 rows\n  after    no row\n"
    )
    assert "If all quasi-identifiers (age and sex) and the most identifying items of each row" in shown.out
    assert "  0 items" in shown.out
    assert alone.ok().out.startswith("Rows unique by all quasi-identifiers (age and sex): no row.")
    refused(rows, 2, "items of at least 1")
    empty = sv.read_table(write(folder / "empty.csv", "age,codes\n1,\n2,x\n"), qi=["age"], set="codes")
    risk: Any = sv.risk(empty)
    notes = risk_text([("", risk)])
    assert "Without items: 1 row, where only the quasi-identifiers can be known." in notes
    for page in ("internal", "published"):
        text = (folder / "release" / page / "report.html").read_text()
        assert "the quasi-identifiers and the 2 most identifying items" in text
        assert "nowing the quasi-identifiers of a row" in text or page == "published"


def test_items_of_a_table_may_be_private(folder: Path) -> None:
    """Of the folder of a table it ended in a traceback."""
    table = sv.read_table(
        folder / "ward.csv", qi=["age", "sex"], set="codes", hierarchies={"codes": folder / "codes.csv"}
    )
    label = next(iter(sv.anonymize(table, sv.KKmAnonymity(2, 2)).published.vocabulary.labels))
    found = setveil("risk", "release", "--private", label, "--json", cwd=folder).ok().json()
    assert found == sv.risk(folder / "release", private=[label])
    refused(setveil("risk", "release", "--private", "zz", cwd=folder), 4, "not in the data: 'zz'")


def test_other_commands_refuse(folder: Path) -> None:
    cases: list[tuple[tuple[str, ...], int, tuple[str, ...]]] = [
        (("why", "release", "I99"), 4, ("not a quasi-identifier, an item or a published label",)),
        (("apply", "release", "ward.csv", "--out", "other"), 2, ("run of a table", "by themselves")),
        (("query", "release", "Heart"), 4, ("is a label", "Ask for an item")),
        (("moles", "ward.csv", "--private", "I21", "--h", "0.5", "-k2", "--p", "1"), 4, ("may be a table",)),
        (("convert", "release", "out.csv"), 4, ("folder of a run",)),
        (("convert", "release/published/data.csv", "out.csv"), 4, ("may be a table",)),
        (("policy", "check", "ward.csv"), 4, ("may be a table",)),
        (
            ("verify", "release", "--model", "km-anonymity", "-k2", "-m2"),
            4,
            ("contains a table", "`setveil verify"),
        ),
        (("risk", "release/published", "--original", "ward.csv"), 4, ("--qi",)),
    ]
    done = together([words for words, _, _ in cases], folder)
    for (words, code, message), one in zip(cases, done, strict=True):
        refused(one, code, *message)
        assert one.err.count("Error") == 1, words
    assert not (folder / "other").exists()


@needs_compiled
def test_functions_refuse(folder: Path) -> None:
    table = fast(ward())
    tree = Hierarchy(ward().items)
    release = sv.anonymize(table, sv.KKmAnonymity(2, 2), hierarchy=tree)
    rows = sv.anonymize([["a"], ["a"]], sv.KmAnonymity(2, 1), algorithm="aa")
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: sv.why(release, "I21", data=[["I21"]]), RequestError, "run of a table"),
        (lambda: sv.why(rows, "a", row=1, data=[["a"], ["a"]]), RequestError, "row names a row of a table"),
        (lambda: sv.apply(release, table), RequestError, "run of a table"),
        (lambda: sv.apply(rows, table), RequestError, "this is a table"),
        (lambda: sv.apply(rows, [["a"]], union=release), RequestError, "single rows"),
        (lambda: sv.convert(table, folder / "x.csv"), RequestError, "this is a table"),
        (lambda: sv.read(table), RequestError, "this is a table"),
        (lambda: sv.moles(table, sv.Coherence(0.5, 2, 1, ["I21"])), RequestError, "this is a table"),
        (lambda: sv.anonymize(table, sv.KmAnonymity(2, 1)), RequestError, "are a table"),
        (lambda: sv.verify(table, sv.KmAnonymity(2, 1)), DataError, "read to be anonymized"),
        (lambda: sv.measure(table, rows), DataError, "release is one of rows"),
        (lambda: sv.measure([["I21"]] * 8, release), DataError, "release is a table"),
        (lambda: sv.risk(rows, original=table), DataError, "release is one of rows"),
        (lambda: sv.risk(release, original=[["I21"]]), DataError, "release is a table"),
    ]
    for call, kind, words in cases:
        with pytest.raises(kind, match=words):
            call()
