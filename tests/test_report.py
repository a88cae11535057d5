from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from setveil.report import models, words
from setveil.report.html import report_html
from setveil.report.summary import summary

REPORT: dict[str, Any] = {
    "setveil": "0.1.0",
    "seed": 0,
    "input": {
        "path": "baskets.csv",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "format": "basket",
        "rows": 5000,
        "empty_rows": 3,
        "items": 140,
        "occurrences": 31022,
    },
    "hierarchy": {"source": "file", "path": "products.csv", "sha256": "ab" * 32, "leaves": 141, "height": 3},
    "algorithm": {
        "name": "aa",
        "title": "Apriori anonymization (AA)",
        "parameters": {"refine": False},
        "reference": "Terrovitis et al., VLDB 2008, doi:10.14778/1453856.1453874, section 4.4",
    },
    "guarantee": {
        "model": "km-anonymity",
        "k": 5,
        "m": 2,
        "holds": True,
        "violations": 0,
        "greatest_k": 6,
    },
    "utility": {
        "ncp": 0.0512345,
        "lm": 0.0498765,
        "unchanged_items": 90,
        "generalized_items": 50,
        "suppressed_items": 0,
        "published_labels": 101,
        "unchanged_occurrences": 29818,
        "generalized_occurrences": 1204,
        "suppressed_occurrences": 0,
        "mean_row_length_before": 6.2044,
        "mean_row_length_after": 5.9,
    },
    "recoding": "global",
    "labels": [
        {"label": "dairy", "items": 12, "rows": 903},
        {"label": "wine and spirits", "items": 5, "rows": 77},
    ],
    "branches": [
        {"label": "food", "items": 80, "occurrences": 20000, "ncp": 0.03},
        {"label": "household", "items": 26, "occurrences": 0, "ncp": 0.0},
    ],
    "published": {"file": "data.csv", "rows": 5000, "empty_rows": 4, "items": 101, "occurrences": 29500},
    "optimality": {
        "objective": "ncp",
        "model": "cut",
        "loss": 0.0512,
        "lower_bound": 0.041,
        "gap": 0.2,
        "proven": False,
    },
    "timing": {"read": 0.1, "anonymize": 1.5},
    "peak_memory_mb": 312,
}


def changed(**parts: Any) -> dict[str, Any]:
    """Copy the report; a dict updates a part, anything else replaces it, ``...`` removes it."""
    report = copy.deepcopy(REPORT)
    for key, value in parts.items():
        if value is ...:
            del report[key]
        elif isinstance(value, dict) and key in report:
            report[key].update(value)
        else:
            report[key] = value
    return json.loads(json.dumps(report))  # type: ignore[no-any-return]


class _Page(HTMLParser):
    """Collects the text, and fails on tags that do not match."""

    void = frozenset({"meta", "col", "rect"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.pieces: list[str] = []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.void:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())


def text_of(report: dict[str, Any]) -> str:
    return _Page(report_html(report)).text


HUGE = changed(
    input={
        "path": "/somewhere/" + "x" * 90 + ".csv",
        "rows": 1_234_567_890,
        "empty_rows": 98_765_432,
        "items": 1_657_321,
        "occurrences": 98_765_432_101,
    },
    guarantee={"k": 1_000_000, "m": "inf", "greatest_k": 123_456_789},
    utility={
        "unchanged_items": 1_000_000,
        "generalized_items": 600_000,
        "suppressed_items": 57_321,
        "published_labels": 1_234_567,
        "unchanged_occurrences": 90_000_000_000,
        "generalized_occurrences": 8_700_000_000,
        "suppressed_occurrences": 65_432_101,
        "mean_row_length_before": 12_345.678,
    },
    published={"rows": 1_234_567_000, "empty_rows": 123_456_789},
    algorithm={"title": "An algorithm whose title is far too long for one line of a summary"},
)
FAILING = changed(guarantee={"holds": False, "violations": 12, "greatest_k": 1})
LOSSLESS = changed(
    utility={
        "ncp": 0,
        "lm": 0,
        "generalized_items": 0,
        "unchanged_items": 140,
        "generalized_occurrences": 0,
        "unchanged_occurrences": 31022,
    },
    labels=[],
    optimality={
        "objective": "lm",
        "model": "cut",
        "loss": 0.0,
        "lower_bound": 0.0,
        "gap": 0.0,
        "proven": True,
    },
)
SUPPRESSED = changed(
    utility={
        "suppressed_items": 1,
        "unchanged_items": 89,
        "suppressed_occurrences": 12,
        "unchanged_occurrences": 29806,
    }
)
BARE = changed(
    branches=...,
    optimality=...,
    timing=...,
    peak_memory_mb=...,
    hierarchy={"source": "co-occurrence", "path": None, "sha256": None},
    guarantee={"greatest_k": None},
)
NONES = changed(branches=None, optimality=None, peak_memory_mb=None, extra={"a": 1})
EMPTY = changed(
    input={"rows": 0, "empty_rows": 0, "items": 0, "occurrences": 0},
    published={"rows": 0, "empty_rows": 0, "items": 0, "occurrences": 0},
    utility=dict.fromkeys(REPORT["utility"], 0),
    guarantee={"greatest_k": None},
    labels=[],
)
ALL = {
    "usual": REPORT,
    "huge": HUGE,
    "failing": FAILING,
    "lossless": LOSSLESS,
    "suppressed": SUPPRESSED,
    "bare": BARE,
    "nones": NONES,
    "empty": EMPTY,
}
every_report = pytest.mark.parametrize("report", ALL.values(), ids=ALL.keys())


@every_report
def test_summary_fits(report: dict[str, Any]) -> None:
    lines = summary(report).split("\n")
    assert len(lines) <= 15
    assert max(len(line) for line in lines) <= 88
    assert all(line.rstrip() == line for line in lines)


def test_summary_says_everything() -> None:
    assert summary(REPORT) == (
        "File       baskets.csv, Apriori anonymization (AA)\n"
        "Promise    Anyone who knows up to 2 items of a person's row finds at least 5 rows that\n"
        "           fit, or none.\n"
        "Check      It holds, recounted from the published rows: the fewest found are 6 rows.\n"
        "Lost       1,204 of 31,022 item occurrences (3.9 %) are published under a broader name;\n"
        "           none is left out.\n"
        "Optimum    At most 25 % above the least NCP of any cut (proven to be 0.041 or more).\n"
        "NCP        0.0512: average share of all items that a published name stands for\n"
        "LM         0.0499: average share of the other items that an item can be mistaken for\n"
        "Items      90 of 140 unchanged, 50 generalized, 0 suppressed; 101 labels published.\n"
        "Rows       All 5,000 are kept (4 empty, 3 before); 5.9 items each on average (6.2\n"
        "           before).\n"
        "Hand out   published/ only. internal/ stays inside: its files undo the protection."
    )


@every_report
def test_page_is_whole_and_touches_no_network(report: dict[str, Any]) -> None:
    page = report_html(report)
    tags = _Page(page).tags
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|//|url\(|@import", page.replace(report["input"]["path"], ""))
    assert not {"script", "a", "img", "link", "iframe", "object"} & {tag for tag, _ in tags}
    for _, attributes in tags:
        assert not {"href", "src", "xlink:href"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)


@every_report
def test_nothing_depends_on_timing_or_memory(report: dict[str, Any]) -> None:
    slower = {**report, "timing": {"read": 98.7654}, "peak_memory_mb": 98765}
    assert report_html(slower) == report_html(report)
    assert summary(slower) == summary(report)


@every_report
def test_bars_stay_within_their_frame(report: dict[str, Any]) -> None:
    for tag, attributes in _Page(report_html(report)).tags:
        if tag == "rect":
            end = float(attributes.get("x") or 0) + float(attributes["width"] or 0)
            assert 0 < end <= 1000.01


@every_report
def test_page_states_promise_and_check_like_the_summary(report: dict[str, Any]) -> None:
    text, plain = text_of(report), " ".join(summary(report).split())
    for sentence in (models.promise(report["guarantee"]), models.check(report["guarantee"])):
        assert sentence in text
        assert sentence in plain


def test_page_shows_what_was_done() -> None:
    text = text_of(REPORT)
    for fact in (
        "The promise holds",
        "96.1 % published unchanged (29,818)",
        "3.9 % under a broader name (1,204)",
        "dairy 12 903 18 %",
        "food 80 20,000 0.03",
        "k = 5",
        "m = 2",
        "refine = false",
        "seed = 0",
        REPORT["input"]["sha256"],
        REPORT["hierarchy"]["sha256"],
        "doi:10.14778/1453856.1453874",
        "setveil 0.1.0",
        "Knowing more than 2 items. Someone who knows 3 or more",
    ):
        assert fact in text, fact


def test_labels_are_escaped() -> None:
    evil = '<script>alert("1")</script>&amp;\' onmouseover="x'
    report = changed(
        labels=[{"label": evil, "items": 2, "rows": 9}],
        branches=[{"label": evil, "items": 2, "occurrences": 9, "ncp": 0.5}],
        input={"path": evil, "format": evil},
        hierarchy={"path": evil, "source": evil},
        algorithm={"title": evil, "name": evil, "parameters": {evil: evil}, "reference": evil},
        published={"file": evil},
    )
    parsed = _Page(report_html(report))
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert not any("onmouseover" in attributes for _, attributes in parsed.tags)
    titles = [attributes["title"] for tag, attributes in parsed.tags if tag == "bdi"]
    assert titles.count(evil) == len(titles) == 6
    assert "".join(parsed.pieces).count(evil) >= 12


def test_any_number_of_items() -> None:
    report = changed(guarantee={"m": "inf"})
    assert "Anyone who knows any number of items of a person's row" in " ".join(summary(report).split())
    assert "here all items of a person" in text_of(report)
    assert "Knowing more than" not in text_of(report)
    assert "Knowing what a person does not have." in text_of(report)


def test_nothing_was_lost() -> None:
    assert "Nothing: all 31,022 item occurrences are published as they were." in summary(LOSSLESS)
    assert "Proven: the least LM of any cut, 0." in summary(LOSSLESS)
    text = text_of(LOSSLESS)
    assert "100 % published unchanged" in text
    assert "The most used broader names" not in text


def test_suppressed_items_are_told() -> None:
    assert "12 (0.039 %) are left out." in " ".join(summary(SUPPRESSED).split())
    assert "0.039 % left out" in text_of(SUPPRESSED)
    assert "#444444" in report_html(SUPPRESSED)


def test_optional_parts_may_be_missing() -> None:
    for report in (BARE, NONES):
        assert "Optimum" not in summary(report)
        assert "Loss in each branch" not in text_of(report)
        assert "avoidable" not in text_of(report)
    assert "made from the data: co-occurrence, 141 leaves" in text_of(BARE)
    assert "Hierarchy SHA-256" not in text_of(BARE)
    assert "None" not in text_of(BARE)
    assert "no item is published" in summary(BARE)


def test_a_broken_promise_is_not_handed_out() -> None:
    text = text_of(FAILING)
    assert "The promise does not hold" in text
    assert "Nothing may be handed out" in text
    assert "May be handed out:" not in text
    plain = " ".join(summary(FAILING).split())
    assert "It does NOT hold. In the published rows: 12 sets of at most 2 items" in plain
    assert "in fewer than 5 rows." in plain
    assert "Hand out Nothing" in plain
    assert "published/ only" not in plain


def test_lost_rows_are_told() -> None:
    assert "4,990 of 5,000 are kept" in summary(changed(published={"rows": 4990}))


def test_a_long_list_is_cut_and_says_so() -> None:
    labels = [{"label": f"node {i}", "items": 2, "rows": 100 - i} for i in range(33)]
    text = text_of(changed(labels=labels))
    assert "node 19" in text
    assert "node 20" not in text
    assert "13 more in published/about.json." in text


def test_no_words_for_a_promise_that_was_not_made() -> None:
    with pytest.raises(ValueError, match="t-closeness"):
        summary(changed(guarantee={"model": "t-closeness"}))


@pytest.mark.parametrize(
    ("part", "whole", "expected"),
    [
        (0, 5, "0 %"),
        (5, 5, "100 %"),
        (0, 0, "0 %"),
        (1204, 31022, "3.9 %"),
        (29818, 31022, "96.1 %"),
        (1, 3, "33 %"),
        (2, 3, "67 %"),
        (1, 2, "50 %"),
        (999, 1000, "99.9 %"),
        (9999, 10000, "99.99 %"),
        (1, 10000, "0.01 %"),
        (1, 10**9, "under 0.001 %"),
        (10**9 - 1, 10**9, "over 99.999 %"),
        (99_996, 1_000_000, "10 %"),
    ],
)
def test_percent(part: int, whole: int, expected: str) -> None:
    assert words.percent(part, whole) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0"),
        (1, "1"),
        (1.0, "1"),
        (0.5, "0.5"),
        (0.0260094, "0.026"),
        (0.108119, "0.108"),
        (0.000123456, "0.000123"),
        (0.00001, "0.00001"),
        (0.000009, "under 0.00001"),
    ],
)
def test_measure(value: float, expected: str) -> None:
    assert words.measure(value) == expected


def test_count() -> None:
    assert [words.count(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert words.count(1_234_567) == "1,234,567"
    assert words.count(2, "leaf", "leaves") == "2 leaves"


def test_clip() -> None:
    assert words.clip("abc", 3) == "abc"
    assert words.clip("abcd", 3) == "ab…"
