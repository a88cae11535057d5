"""Statements of reports, internal and external, about sensitive items that were suppressed."""

from __future__ import annotations

import re
from typing import Any

import pytest

import setveil as sv
from rho_cases import PAPER, PARENTS, SENSITIVE
from setveil.report.run.external import handed_out
from setveil.report.run.hidden import hidden, price
from setveil.report.run.page import report_html
from setveil.runs.run import VerifiedRelease
from strategies import transactions

# 1,000 rows: of those with a1, b1 all hold H, and a few more than half of those with a1.
ROWS = (
    [["a1", "b1", "H"]] * 107 + [["a1", "b2", "H"]] * 53 + [["a1", "b2"]] * 140 + [["a2", "b1"]] * 300
    + [["a2", "b2", "T"]] * 17 + [["a2", "b2"]] * 370 + [["b1"]] * 13
)  # fmt: skip
TREE = sv.Hierarchy(
    {"a1": "A", "a2": "A", "b1": "B", "b2": "B", "A": "*", "B": "*", "H": "*", "T": "*", "U": "*", "*": None}
)
PROMISE = sv.KmRho(5, 2, "1/2", ["H", "T"])
RUNS: dict[str, tuple[Any, dict[str, Any]]] = {
    "exact": (PROMISE, {"algorithm": "exact"}),
    "whole": (PROMISE, {"algorithm": "exact", "hide": "items"}),
    "lg": (PROMISE, {"algorithm": "lg"}),
    "partial": (sv.KmRho(1, 2, "1/2", ["H", "T"]), {"algorithm": "partial"}),
    "rho": (sv.RhoUncertainty("1/2", ["H", "T"]), {"algorithm": "exact"}),
    "suppress-control": (sv.RhoUncertainty("1/2", ["H", "T"]), {"algorithm": "suppress-control"}),
    "coherence": (sv.Coherence("1/2", 5, 2, ["H", "T"]), {"algorithm": "exact"}),
}


def run(name: str, **more: Any) -> VerifiedRelease:
    guarantee, how = RUNS[name]
    return sv.anonymize(
        sv.Transactions.from_rows(ROWS), guarantee, hierarchy=TREE, details=True, **(how | more)
    )


def text_of(text: str) -> str:
    return " ".join(re.sub("<[^>]*>", " ", text.partition("</style>")[2] or text).split())


def lost(release: VerifiedRelease) -> dict[str, int]:
    """Count the missing occurrences of the sensitive items in the published rows."""
    after = dict(zip(release.published.vocabulary.labels, release.published.supports().tolist(), strict=True))
    before = {item: sum(item in row for row in ROWS) for item in ("H", "T")}
    return {item: n - after.get(item, 0) for item, n in before.items() if n != after.get(item, 0)}


@pytest.mark.parametrize("name", ["exact", "whole", "lg", "partial"])
def test_suppressed_items_are_reported_inside(name: str) -> None:
    release = run(name)
    numbers = lost(release)
    assert release.report["algorithm"]["hidden"] == numbers
    assert "H" in numbers or name == "whole"
    expected = hidden(release.report)
    if numbers:
        whole = sum(numbers.values())
        assert expected.startswith(f"{whole} occurrences of sensitive items (")
        assert all(f"{item} {number}" in expected for item, number in numbers.items())
    assert f"Hidden {expected}" in text_of(repr(release))
    page = text_of(release.report_html())
    assert f"Cost of protecting sensitive items Suppressed: {expected} Item" in page
    for found in release.report["guarantee"]["confidences"]:
        number = numbers.get(found["item"], 0)
        rows = f"({found['sensitive_rows']} of {found['support']})"
        assert re.search(rf"{found['item']} {number} [\d.]+% {re.escape(rows)}", page)
    most = release.report["guarantee"]["greatest_confidence"]
    assert most is not None
    assert f"{most['item']} in {most['sensitive_rows']} of {most['support']} rows" in text_of(repr(release))


@pytest.mark.parametrize("name", RUNS)
def test_summary_fits(name: str) -> None:
    lines = repr(run(name)).split("\n")
    assert len(lines) <= 21
    assert max(map(len, lines)) <= 88


def test_groups_are_missed_only_by_items_that_could_be_in_one() -> None:
    """Sensitive items are never published under a broader label, and U is in no row."""
    assert "No groups" not in repr(run("exact"))
    flat = sv.Hierarchy(dict.fromkeys(("a1", "a2", "b1", "b2", "H", "T", "U"), "*") | {"*": None})
    release = sv.anonymize(ROWS, PROMISE, hierarchy=flat, algorithm="exact", details=True)
    assert "4 of 6 items are alone below the top, except sensitive ones" in text_of(repr(release))
    public = sv.anonymize(ROWS, sv.KmAnonymity(5, 2), hierarchy=flat, details=True)
    assert "6 of 6 items are alone below the top" in text_of(repr(public))


def test_by_hand() -> None:
    """54 of the 107 rows with a1 and b1 lose H; T stays."""
    assert hidden(run("partial").report) == "54 occurrences of sensitive items (H 54)."


@pytest.mark.parametrize("name", RUNS)
def test_suppressed_items_are_not_reported_outside(name: str) -> None:
    release = run(name)
    inside = release.report_html()
    page = release.report_html(external=True)
    outside = text_of(page)
    for text in ("Cost of protecting", "items alone", "Hidden", "Price", "occurrences of sensitive"):
        assert text not in outside, text
    if name == "coherence":  # which leaves no sensitive item out
        assert "Cost of protecting" in inside
        assert "published unchanged" in outside
        return
    assert "Information loss Not told: it would reveal how often sensitive items were suppressed." in outside
    for text in ("published unchanged", "above the least", "Proven:", "typically", "NCP", "LM", "ARE"):
        assert text not in outside, text
    n = release.published.n_occurrences
    published = {"file": "data.csv", "rows": 1000, "empty_rows": 0, "items": 6, "occurrences": n}
    shown: Any = {**release.report, "published": published}
    more = {
        "algorithm": {
            "hidden": {"H": 7777, "T": 6},
            "alone": {"loss": 0.7, "proven": True},
            "warnings": ["5 sensitive items are in no row."],
        },
        "input": {"occurrences": 87654},
        "utility": {"suppressed_occurrences": 7783, "unchanged_occurrences": 23, "lm": 0.77},
    }
    other: Any = shown | {key: shown[key] | part for key, part in more.items()}
    assert report_html(other, external=True) == report_html(shown, external=True)
    assert "rounded" not in handed_out(shown)


def test_price() -> None:
    release = run("exact")
    alone, loss = release.report["algorithm"]["alone"], release.report["optimality"]["loss"]
    assert alone == {"loss": 0.0, "proven": True}
    assert loss > 0
    assert price(release.report) == "All of the loss: k^m-anonymity of the public items alone loses nothing."
    assert f"Price {price(release.report)}" in text_of(repr(release))
    assert price(release.report) in text_of(release.report_html())
    for name in ("lg", "partial", "rho", "suppress-control"):
        assert price(run(name).report) == ""
        assert "Price" not in repr(run(name))


@pytest.mark.parametrize(
    ("alone", "loss", "expected"),
    [
        ((0.042, True), (0.042, True), "No more loss than {} (0.042)."),
        ((0.042, True), (0.0462, True), "10% more loss than {} (0.042)."),
        ((0.042, True), (0.0462, False), "At most 10% more loss than {} (0.042)."),
        ((0.042, False), (0.0462, True), "At least 10% more loss than {} (0.042)."),
        ((0.042, False), (0.0462, False), "About 10% more loss than {} (0.042)."),
        ((0.042, False), (0.041, True), "Less loss than was found for {} (0.042)."),
        ((0.0, True), (0.041, True), "All of the loss: {} loses nothing."),
        ((0.0, True), (0.0, True), "No more loss than {} (0)."),
    ],
)
def test_price_in_words(alone: tuple[float, bool], loss: tuple[float, bool], expected: str) -> None:
    for model, what in {
        "km-rho": "k^m-anonymity of the public items alone",
        "coherence": "the same without regard to private items",
    }.items():
        report: Any = {
            "guarantee": {"model": model},
            "algorithm": {"alone": {"loss": alone[0], "proven": alone[1]}},
            "optimality": {"loss": loss[0], "proven": loss[1]},
        }
        assert price(report) == expected.format(what)


def test_nothing_suppressed() -> None:
    release = sv.anonymize(ROWS, sv.KmRho(5, 2, "99/100", ["T"]), hierarchy=TREE, algorithm="exact")
    assert hidden(release.report) == "No occurrence of a sensitive item."
    assert "Hidden     No occurrence of a sensitive item." in repr(release)
    assert "Reading" not in repr(release)


def test_items_without_several_labels_are_not_said_to_have_some() -> None:
    """Rows of which items are missing are no rows under broader labels."""
    release = run("partial")
    assert release.report["several_labels"] == 0
    text = text_of(repr(release))
    assert "Items are suppressed in some rows only." in text
    assert "5 of 6 unchanged, 1 generalized or suppressed in some rows, 0 suppressed" in text
    assert "Labels of different levels" not in text
    outside = text_of(release.report_html(external=True))
    assert "exact, or at least this many if an item was suppressed in some rows only." in outside
    rows = [["a1", "b1"], ["a1", "b1"], ["a1"], ["a2"]]  # a1 becomes a1 and A
    local = sv.anonymize(rows, sv.TransactionalKAnonymity(2), hierarchy=TREE, algorithm="lg")
    assert local.report["several_labels"] == 1
    assert "Labels of different levels overlap" in text_of(repr(local))


def test_everything_may_be_suppressed() -> None:
    release = sv.anonymize(
        [["H"], ["H"], ["a1", "H"], ["H"]], sv.KmRho(1, 2, "1/5", ["H"]), algorithm="partial"
    )
    assert release.report["algorithm"]["hidden"] == {"H": 4}
    assert release.report["several_labels"] == 0
    assert "H 4 not published" in text_of(release.report_html())


def test_warnings_are_reported_inside() -> None:
    release = sv.anonymize(ROWS, sv.KmRho(5, 2, "1/2", ["H", "U"]), hierarchy=TREE, algorithm="exact")
    warning = "1 sensitive item is in no row: 'U'."
    assert release.report["algorithm"]["warnings"] == [warning]
    assert warning in text_of(release.report_html())
    assert warning not in text_of(release.report_html(external=True))


def test_what_is_not_covered_is_explained_once() -> None:
    release = sv.anonymize(
        transactions(PAPER), sv.RhoUncertainty("1/2", SENSITIVE), hierarchy=sv.Hierarchy(PARENTS)
    )
    for external in (False, True):
        page = text_of(release.report_html(external=external))
        named = page.count("Knowing that an item is absent")
        assert named == (2 if external else 3)  # on the first screen, in the folded part, explained there


def test_many_items_suppressed() -> None:
    rows = [[f"s{i:02}", "a1"] for i in range(23)]
    release = sv.anonymize(
        sv.read(rows, not_ids="1"),
        sv.KmRho(1, 1, "1/100", [f"s{i:02}" for i in range(23)]),
        algorithm="partial",
    )
    text = text_of(repr(release))
    assert "23 occurrences of sensitive items (s00 1, s01 1, s02 1, s03 1, s04 1 and 18 more)." in text
    page = text_of(release.report_html())
    assert "s19 1 not published 3 more in internal/report.json." in page
