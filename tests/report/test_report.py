from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.base.wording import count
from setveil.report import models, words
from setveil.report.run.external import handed_out
from setveil.report.run.page import report_html
from setveil.report.run.summary import summary
from setveil.rows.data.personal import NOTHING
from setveil.runs.folder import require_writable, write_folder

REPORT: Any = {
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
    "guarantee": {"model": "km-anonymity", "k": 5, "m": 2, "holds": True, "violations": 0, "greatest_k": 6},
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
        {"label": "dairy", "items": 12, "first": ["butter", "cream", "whole milk"], "rows": 903},
        {"label": "wine and spirits", "items": 5, "first": [], "rows": 77},
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


def changed(**parts: Any) -> Any:
    """Copy the report; a dict updates a part, anything else replaces it, ``...`` removes it."""
    report = copy.deepcopy(REPORT)
    for key, value in parts.items():
        if value is ...:
            del report[key]
        elif isinstance(value, dict) and key in report:
            report[key].update(value)
        else:
            report[key] = value
    return json.loads(json.dumps(report))


class _Page(HTMLParser):
    """Collects the text, and fails on tags that do not match."""

    void = frozenset({"meta", "col", "rect", "br"})

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
        if not {"style", "button"} & set(self.open):  # the ? next to a term
            self.pieces.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.pieces).split())


def text_of(report: Any) -> str:
    return _Page(report_html(report)).text


def attack(rows: int, best: list[tuple[int, int, int]], random: list[float], **more: Any) -> Any:
    """Make what `attack_risk` returns: for m = 1, 2, ... rows below 2, 5, 10 and, at random, below 2."""
    entries: list[dict[str, Any]] = []
    for m, (counts, expected) in enumerate(zip(best, random, strict=True), 1):
        below = dict(zip(("2", "5", "10"), counts, strict=True))
        fewest = 1 if counts[0] else 6
        entries += [
            {
                "m": m, "choice": "best", "rows_below": below, "probability": 0.1, "fewest": fewest,
                "exact": True,
            },
            {
                "m": m, "choice": "random", "rows_below": dict.fromkeys(below, expected), "probability": 0.05,
                "exact": False, "sampled": 10000, "confidence": 0.95,
                "interval": {t: [0.8 * expected, 1.25 * expected + 1] for t in below},
            },
        ]  # fmt: skip
    return {"rows": rows, "empty_rows": 3, "thresholds": [2, 5, 10], "risk": entries, **more}


REVEALING = {"m": 2, "below": 5, "exact": True, "items": [{"item": "saffron", "support": 13, "rows": 11}]}
BEFORE = attack(5000, [(2, 17, 71), (449, 1223, 1871), (1601, 2333, 2801)], [1.5, 47.3, 467.9],
                revealing=REVEALING)  # fmt: skip
AFTER = attack(
    5000, [(0, 0, 9), (0, 0, 57), (159, 613, 1109)], [0, 0, 8.6], revealing={**REVEALING, "items": []}
)
FULL = changed(
    versions={"numpy": "2.4.6", "python": "3.11.7"},
    risk={"before": BEFORE, "after": AFTER},
    utility={
        "suppressed_items": 2,
        "unchanged_items": 88,
        "suppressed_occurrences": 23,
        "unchanged_occurrences": 29795,
        "label_support_error": {"mean": 0.0, "max": 0.0},
        "item_support_error": {"mean": 4.045, "median": 0.6006},
    },
    answers={
        "are": {"mean": 17.404, "sd": 47.1, "median": 4.832, "queries": 1000, "left_out": 0, "size": 2},
        "itemsets": {
            "threshold": 50, "max_length": 3, "frequent": 333, "kept": 42, "supports_unchanged": True,
            "by_length": [
                {"length": 1, "frequent": 88, "kept": 16}, {"length": 2, "frequent": 245, "kept": 26}
            ],
            "rules": 0, "rules_kept": 0,
        },
    },
    suppressed=["saffron", "venison"],
    frequencies=[
        {"item": "whole milk", "published": "dairy", "items": 12, "rows": 709, "estimate": 75.25},
        {"item": "soda", "published": "soda", "items": 1, "rows": 517, "estimate": 517.0},
        {"item": "venison", "published": None, "items": None, "rows": 10, "estimate": 0.0},
        {"item": "beer", "published": "4 labels", "items": None, "rows": 9, "estimate": 3.5},
    ],
)  # fmt: skip
LEARNED = {"m": 2, "item": "s", "itemset": ["a", "b"], "exact": True}
DEGREE = {
    "model": "privacy-degree",
    "p": 4,
    "sensitive": ["s", "t"],
    "smallest_degree": 4.0,
    "groups": 9,
    "holds": True,
    "violations": 0,
}
GROUPED = changed(
    recoding="grouped",
    labels=[],
    branches=[],
    hierarchy=None,
    guarantee={
        "model": "privacy-degree",
        "p": 4,
        "sensitive": ["s", "t"],
        "smallest_degree": 4.0,
        "groups": 9,
    },
    utility={
        "kl": {"mean": 0.00436, "sd": 0.006, "queries": 1000, "group_by": 4},
        "group_sizes": {"groups": 9, "smallest": 4, "median": 4.0, "mean": 10.3, "largest": 77},
        "sensitive_items": 2,
        "sensitive_occurrences": 1204,
    },
    risk={
        "before": {
            **BEFORE,
            "inference": [{**LEARNED, "probability": 1.0, "support": 2, "rows_above": {"0.5": 372}}],
        },
        "after": {
            **BEFORE,
            "inference": [{**LEARNED, "probability": 0.25, "support": 4, "rows_above": {"0.5": 0}}],
        },
    },
)
READ = {
    "layout": "long",
    "row": "one row per value of patient_id",
    "id_column": "patient_id",
    "item_columns": ["icd10"],
    "ignored_columns": ["ward", "date"],
    "separator": ";",
    "encoding": "windows-1252",
    "files": [{"path": "north.csv.gz", "sha256": "cd" * 32, "compression": "gzip"}],
}
NAMED = copy.deepcopy(FULL) | {
    "input": {**FULL["input"], "read": READ},
    "about": {
        "date": "2026-11-22",
        "purpose": "research <1>",
        "recipient": "A university",
        "responsible": "J. Doe",
    },
    "command": "setveil anonymize baskets.csv --k 5 --m 2 --out 'my release'",
    "names": {
        "saffron": "Crocus sativus",
        "venison": "Deer",
        "butter": "Butyrum",
        "whole milk": "Lac",
        "dairy": "Milk products",
        "soda": "soda",
        "food": "Everything edible",
        "nothing": "That is nowhere",
    },
}
HUGE = changed(
    input={
        "read": {
            **READ,
            "layout": "wide",
            "item_columns": [f"DX{i}" for i in range(1000)],
            "ignored_columns": [f"a long name of a column {i}" for i in range(1000)],
            "files": READ["files"] * 1000,  # type: ignore[operator]
        },
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
    "full": FULL,
    "named": NAMED,
    "grouped": GROUPED,
}
every_report = pytest.mark.parametrize("report", ALL.values(), ids=ALL.keys())


@every_report
def test_summary_fits(report: Any) -> None:
    lines = summary(report).split("\n")
    assert len(lines) <= 19
    assert max(len(line) for line in lines) <= 88
    assert all(line.rstrip() == line for line in lines)


def test_summary_says_everything() -> None:
    assert summary(REPORT) == (
        "File       baskets.csv, Apriori anonymization (AA)\n"
        "Guarantee  Anyone who knows up to 2 items of a person's row finds at least 5 rows that\n"
        "           fit, or none.\n"
        "Check      It holds, recounted from the published rows: the smallest group found has 6\n"
        "           rows.\n"
        "Lost       1,204 of 31,022 item occurrences (3.9%) are published under a broader label;\n"
        "           none is suppressed.\n"
        "Optimum    At most 25% above the smallest loss (NCP) of any cut of this hierarchy\n"
        "           (proven to be 0.041 or more).\n"
        "NCP        0.0512: average share of all items that a published label represents\n"
        "LM         0.0499: average share of the other items that an item can be mistaken for\n"
        "Items      90 of 140 unchanged, 50 generalized, 0 suppressed; 101 labels published.\n"
        "Rows       All 5,000 are kept (4 empty, 3 before); 5.9 items each on average (6.2\n"
        "           before).\n"
        "Share      published/ only. Never share internal/: it reverses the anonymization."
    )


@every_report
def test_page_is_whole_and_touches_no_network(report: Any) -> None:
    page = report_html(report)
    tags = _Page(page).tags
    assert page.startswith("<!DOCTYPE html>")
    assert not re.search(r"https?:|//|url\(|@import", page.replace(report["input"]["path"], ""))
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in tags}
    leads_nowhere_else(tags)
    for tag, attributes in tags:
        assert not {*(() if tag == "a" else ("href",)), "src", "xlink:href"} & attributes.keys()
        assert not any(name.startswith("on") for name in attributes)


def leads_nowhere_else(tags: list[tuple[str, dict[str, str | None]]]) -> None:
    """Every link, and every `?`, leads to a place on the same page."""
    places = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(set(places)) == len(places)
    for tag, attributes in tags:
        if tag == "a":
            href = attributes["href"] or ""
            assert href[0] == "#"
            assert href[1:] in places
        if "popovertarget" in attributes:
            assert attributes["popovertarget"] in places


@every_report
@pytest.mark.parametrize("external", [False, True])
def test_no_font_can_clip_a_text(report: Any, external: bool) -> None:
    """All text is HTML, which wraps: none is drawn at a place, and nothing keeps a line from breaking."""
    if external and not report["guarantee"]["holds"]:
        return
    page = report_html(report, external=external)
    assert not {"text", "tspan", "foreignobject"} & {tag for tag, _ in _Page(page).tags}
    assert not re.search(r"nowrap|line-clamp|text-overflow|overflow: *hidden", page)


@every_report
def test_nothing_depends_on_timing_or_memory(report: Any) -> None:
    slower: Any = {**report, "timing": {"read": 98.7654}, "peak_memory_mb": 98765}
    assert report_html(slower) == report_html(report)
    assert summary(slower) == summary(report)


@every_report
def test_bars_stay_within_their_frame(report: Any) -> None:
    for tag, attributes in _Page(report_html(report)).tags:
        if tag == "rect":
            end = float(attributes.get("x") or 0) + float(attributes["width"] or 0)
            assert 0 < end <= 1000.01


@every_report
def test_page_states_promise_and_check_like_the_summary(report: Any) -> None:
    text, plain = text_of(report), " ".join(summary(report).split())
    for sentence in (models.promise(report["guarantee"]), models.check(report["guarantee"])):
        assert sentence in text
        assert sentence in plain


@every_report
def test_the_same_report_gives_the_same_bytes(report: Any) -> None:
    before = copy.deepcopy(report)
    assert report_html(report) == report_html(json.loads(json.dumps(report)))
    assert report == before


@every_report
def test_sections_come_in_a_good_order(report: Any) -> None:
    heads = [
        head for head in re.findall("<h2>(.*?)</h2>", report_html(report)) if not head.startswith("Why ")
    ]
    order = [
        "People still at risk",
        "Files to share",
        "Limits of the guarantee",
        "Input",
        "Provenance",
        "Annex: measures for researchers",
        "Risk before and after",
        "Information loss",
        "Remaining usefulness",
        "Explanations",
        "Decision",
    ]
    measured = {"Risk before and after": "risk" in report}
    measured["People still at risk"] = "risk" in report
    measured["Input"] = "read" in report["input"]
    measured["Remaining usefulness"] = "answers" in report or "kl" in report["utility"]
    assert heads == [title for title in order if measured.get(title, True)]


def counted() -> Any:
    """A run that published counts."""
    report = copy.deepcopy(FULL)
    utility, answers = report["utility"], report["answers"]
    utility["item_support_error"] = {"mean": 0.02, "median": 0, "from_rows": utility["item_support_error"]}
    alone = {name: answers["are"][name] for name in ("mean", "sd", "median")}
    answers["are"] |= {"mean": 0.415, "median": 0.316, "estimator": "maximum entropy", "from_rows": alone}
    answers["pairs"] = {"number": 100, "found": 92, "error": 0.1004, "confidence": 0.0221}
    return report


def test_page_tells_what_counts_are_good_for() -> None:
    text = text_of(counted())
    for fact in (
        "32% query error : counts of random item pairs are typically off by that much",
        "Counts of random item pairs (query error): estimated with the published counts they are "
        "typically off by 32% "
        "(half of them by more); the mean relative error (ARE) is 42%. From rows alone they are typically "
        "off by a factor of 5.8 (half of them by more); the mean relative error (ARE) is 1,740%. Measured",
        "The 100 most frequent pairs: 92 of them are among the 100 that a reader expects in most rows. The "
        "numbers of their rows are off by 10% on average, how often one item comes with the other by 2.2 "
        "percentage points.",
        "A reader takes these numbers from the published counts. Counts of at least half of the single "
        "items are exact.",
    ):
        assert fact in text
    assert "most frequent pair" not in external_text(counted())


def test_page_shows_risk_and_use() -> None:
    text = text_of(FULL)
    for fact in (
        "449 of 5,000 rows \u2192 0 are unique by the 2 most identifying items, before and after",
        "a factor of 5.8 query error: counts of random item pairs are typically off by that much",
        "42 of 333 frequent itemsets",
        "Guaranteed is 0% among fewer than 5 for up to 2 known items.",
        "Unique by the 2 most identifying items of a row: in the original 449 of 5,000 rows (9%), in the "
        "release no row.",
        "Unique by 2 items picked at random: in the original about 47 of 5,000 rows (0.95%), 0.76% to "
        "1.2% with 95% confidence, in the release no row.",
        "saffron 13 11 0.22%",
        "2 items of 140 are in no published row, 23 occurrences (0.074%) with them. venison (in 10 rows), "
        "saffron .",
        "Rows with a published label: exact.",
        "Counts of random item pairs (query error): estimated from the release they are typically off by a "
        "factor of 5.8 (half of them by more); the mean relative error (ARE) is 1,740%.",
        "Of 333 sets of at most 3 items found in at least 50 rows of the original, 42 (13%) are still there",
        "2 items 245 26 11%",
        "Counts of single items are typically off by 60%.",
        "setveil 0.1.0, numpy 2.4.6, python 3.11.7",
    ):
        assert re.sub(r"\W+", " ", fact) in re.sub(r"\W+", " ", text), fact
    for numbers in (
        "Knowing the 3 most identifying items of a row unique 1,601 (32%) 159 (3.2%)",
        "among fewer than 10 2,801 (56%) 1,109 (22%)",
        "whole milk 709 75 dairy 12 items soda 517 517 itself venison 10 0 suppressed beer 9 4 4 labels",
    ):
        assert numbers in text


def test_page_shows_what_is_learned_of_private_items() -> None:
    text = text_of(GROUPED)
    assert "100% \u2192 25% chance of learning a private item" not in text, "not measured for 3 items"
    assert "2 items 100%: s , of 2 rows with a , b 25%: s , of 4 rows with a , b" in text
    assert "Rows for which a private item is more likely than not, knowing 2 items: 372 of 5,000" in text
    assert "Private and sensitive items count as unknown." in text
    assert "measured by KL, 0.00436 on average" in text


@pytest.fixture(scope="module")
def full_page() -> str:
    return report_html(FULL)


@pytest.mark.parametrize(
    ("path", "title"),
    [
        ("risk", "<h2>Risk before and after"),
        ("risk before", "<h2>Risk before and after"),
        ("risk after", "<h2>Risk before and after"),
        ("answers are", "Counts of random item pairs"),
        ("answers itemsets", "<h3>Frequent itemsets"),
        ("utility label_support_error", "Rows with a published label"),
        ("frequencies", "<h3>How often"),
        ("suppressed", "<h3>Suppressed items"),
        ("versions", "numpy 2.4.6"),
    ],
)
def test_missing_keys_are_coped_with(path: str, title: str, full_page: str) -> None:
    report = copy.deepcopy(FULL)
    *above, key = path.split()
    inside = report[above[0]] if above else report
    del inside[key]
    page = report_html(report)
    assert title in full_page
    assert title not in page
    assert "None" not in page
    assert report_html(report, external=True)


def test_numbers_that_were_not_measured() -> None:
    """Check that it is None without a request, or without private items."""
    none = {"mean": None, "sd": None, "median": None, "queries": 0, "left_out": 3, "size": 2}
    report = changed(
        answers={"are": none, "itemsets": {**FULL["answers"]["itemsets"], "frequent": 0, "kept": 0}},
        frequencies=[],
        risk={
            when: {**BEFORE, "inference": [{**LEARNED, "probability": None}], "revealing": {}}
            for when in ("before", "after")
        },
    )
    assert "What can be learned" not in text_of(report)
    assert "item pairs" not in text_of(report)
    assert report_html(report, external=True)


def each(**probabilities: float) -> list[Any]:
    return [
        {"item": item, "probability": probability, "itemset": ["a", "b"], "support": 7}
        for item, probability in probabilities.items()
    ]


def learned(**probabilities: float) -> list[Any]:
    """Return the inferences about each sensitive item from one item, and from two."""
    most = {**LEARNED, "probability": 0.9, "support": 4, "rows_above": {"0.5": 3}}
    return [
        {**most, "m": 1, "items": each(**dict.fromkeys(probabilities, 0.01))},
        {**most, "m": 2, "items": each(**probabilities)},
    ]


INFERENCE = {
    "model": "km-rho", "k": 5, "m": 2, "rho": 0.25, "sensitive": ["s", "t", "u"], "knows": "public",
    "greatest_confidence": {
        "item": "s", "itemset": ["a", "secret-set"], "support": 8, "sensitive_rows": 2, "confidence": 0.25,
    },
    "confidences": [], "greatest_k": 6, "greatest_m": 2, "least_rho": 0.25, "complete": True,
}  # fmt: skip


def of_inference(**more: Any) -> Any:
    """Make a report with sensitive s, t, u: u is suppressed everywhere, and more of t remains than of s."""
    risk = {
        "before": {**BEFORE, "inference": learned(s=1.0, t=0.75, u=0.5)},
        "after": {**AFTER, "inference": learned(s=0.2, t=0.25)},
    }
    return copy.deepcopy(changed(risk=risk, names={"t": "tea"}, **more))


def test_what_is_learned_of_each_sensitive_item() -> None:
    """Check that the greatest remaining value comes first, and unpublished items last."""
    text = text_of(of_inference(guarantee=INFERENCE))
    section = text[text.index("Inference of each item") :]
    lines = [
        "t tea 75%, of 7 rows with a , b 25%, of 7 rows with a , b",
        "s 100%, of 7 rows with a , b 20%, of 7 rows with a , b",
        "u 50%, of 7 rows with a , b not under its own name",
    ]
    places = [section.index(line) for line in lines]
    assert places == sorted(places)
    assert "knows up to 2 items learns each of them" in section
    assert "Why rho=0.25" in text
    assert "a sensitive item may be learned with a probability of up to 25%" in text
    assert "Private and sensitive items count as unknown." in text
    drawn = of_inference(guarantee=INFERENCE)
    drawn["risk"]["after"]["inference"][1]["exact"] = False
    assert "75%, of 7 rows with a , b at least 25%, of 7 rows" in text_of(drawn)


def test_many_sensitive_items_are_represented_by_the_most_exposed() -> None:
    report = of_inference(guarantee=INFERENCE)
    names = {f"x{i:02}": 0.9 - i / 100 for i in range(33)}
    for side in ("before", "after"):
        report["risk"][side]["inference"] = learned(**names)
    section = text_of(report).partition("Inference of each item")[2]
    assert "And 3 more, with lower probabilities." in section
    assert "x29" in section
    assert "x30" not in section


@pytest.mark.parametrize("missing", ["items", "all but one"])
def test_one_sensitive_item_and_older_records_have_no_list_of_each(missing: str) -> None:
    report = of_inference(guarantee=INFERENCE)
    for side in ("before", "after"):
        for entry in report["risk"][side]["inference"]:
            entry["items"] = entry["items"][:1]
            if missing == "items":
                del entry["items"]
    text = text_of(report)
    assert "Inference of private items" in text
    assert "Inference of each item" not in text


def test_items_that_are_only_looked_at() -> None:
    report = of_inference() | {"watched": ["s", "t", "u"]}
    text = text_of(report)
    assert "Private and sensitive items count as unknown." not in text
    assert "The guarantee does not cover the sensitive items that were named" in text
    assert "t tea 75%, of 7 rows with a , b 25%" in text
    outside = _Page(report_html(report, external=True)).text
    assert "chance of a private item" not in outside  # nothing with the rows names these items
    assert report_html(report, external=True) == report_html(changed(risk=report["risk"] | {
        side: {key: value for key, value in report["risk"][side].items() if key != "inference"}
        for side in ("before", "after")
    }), external=True)  # fmt: skip


@pytest.mark.parametrize("greatest", [INFERENCE["greatest_confidence"], None])
def test_the_external_page_tells_how_surely_but_not_what_and_how(greatest: Any) -> None:
    report = of_inference(guarantee={**INFERENCE, "greatest_confidence": greatest})
    text = _Page(report_html(report, external=True)).text
    found = "the most certain inference is a sensitive item with a chance of 0.25"
    assert (found if greatest else "no sensitive item is published") in text
    assert "inference is no" not in text
    assert "chance of a private item" in text
    for name in ("secret-set", "tea", "of 7 rows"):
        assert name not in text
    inside = text_of(report)
    assert ("s in 2 of 8 rows with a, secret-set (0.25)" in inside) == bool(greatest)


def test_a_sampled_best_choice_is_reported() -> None:
    report = copy.deepcopy(FULL)
    entry = next(e for e in report["risk"]["after"]["risk"] if e["m"] == 2 and e["choice"] == "best")
    entry |= {"exact": False, "sampled": 1000, "confidence": 0.95, "interval": {"2": [0, 18.4]}}
    text = text_of(report)
    assert "Some were estimated from a sample" in text
    assert "in the release no row of a sample (at most 0.37% of all with 95% confidence)" in text


def test_names_stand_beside_codes() -> None:
    text = text_of(NAMED)
    for fact in (
        "saffron Crocus sativus 13 11 0.22%",  # most revealing items
        "venison Deer (in 10 rows), saffron Crocus sativus .",  # suppressed
        "dairy Milk products butter Butyrum , cream , whole milk Lac and 9 more 12 903 18%",
        "whole milk Lac 709 75 dairy Milk products 12 items",
        "soda 517 517 itself",
        "food Everything edible 80 20,000 0.03",
    ):
        assert fact in text, fact
    assert "nowhere" not in text
    learned = {**copy.deepcopy(GROUPED), "names": {"s": "Secret", "a": "Apple"}}
    assert "100%: s Secret , of 2 rows with a Apple , b" in text_of(learned)


def test_long_names_are_cut_but_can_be_read() -> None:
    long = "x" * 500
    report = NAMED | {"suppressed": [long], "names": {long: "y" * 500}}
    page = report_html(report)
    assert f'title="{long}"' in page
    assert ">" + "x" * 399 + "\u2026<" in page
    assert ">" + "y" * 399 + "\u2026<" in page


def test_page_shows_what_was_said_and_read() -> None:
    text = text_of(NAMED)
    for fact in (
        "Date: 2026-11-22; Purpose: research <1>; Recipient: A university; Responsible: J. Doe.",
        "Open: --legal-basis , --review . Not covered: ",
        "Read as long table, one row per value of patient_id",
        "Column of row ids patient_id Columns of items icd10 Ignored columns ward, date",
        "Separator semicolon Encoding windows-1252",
        f"Files north.csv.gz (gzip) {'cd' * 32}",
        "Command setveil anonymize baskets.csv --k 5 --m 2 --out 'my release'",
    ):
        assert fact in text, fact
    assert "Command" not in text_of(FULL)
    assert "Purpose" not in text_of(NAMED | {"about": {"date": "2026-11-22", "purpose": None}})


def test_summary_says_what_was_read() -> None:
    read = (
        "Read       long table, one row per value of patient_id, items from icd10; ignored: ward,\n"
        "           date\n"
    )
    assert read in summary(NAMED)
    one_hot = {**READ, "layout": "onehot", "item_columns": list("abcdefgh"), "ignored_columns": []}
    text = " ".join(summary(changed(input={"read": one_hot})).split())
    assert "one-hot table, one row per value of patient_id, items from 8 columns, a to h" in text
    several = {**READ, "layout": "fimi", "row": "one row per line", "item_columns": [], "files": [{}, {}]}
    assert summary(changed(input={"read": several})).startswith("File       2 files, Apriori")
    assert "2 files: FIMI file, one row per line, ignored: ward, date" in summary(
        changed(input={"read": several})
    )


def test_page_names_attackers_as_the_literature_does() -> None:
    text = text_of(FULL)
    for fact in (
        "knows the 2 most identifying items of each person and picks one of the rows that fit",
        "Prosecutor , who knows that the person is in the data: greatest chance 100% 1 in 6 (17%)",
        "Journalist , who does not know that: greatest chance at most 100% at most 1 in 6 (17%)",
        "Marketer , who picks a row for everyone: rows re-identified on average 500 of 5,000 rows (10%)",
    ):
        assert fact in text, fact
    sampled, older, empty = (copy.deepcopy(FULL) for _ in range(3))
    for report, change in ((sampled, {"exact": False, "fewest": 3}), (empty, {"fewest": None})):
        next(e for e in report["risk"]["after"]["risk"] if e["m"] == 2).update(change)
    assert "greatest chance 100% at least 1 in 3 (33%)" in text_of(sampled)
    assert "at most the prosecutor's Marketer" in text_of(sampled)
    assert "greatest chance 100% nothing is known of anyone" in text_of(empty)
    for side in older["risk"].values():
        for entry in side["risk"]:
            entry.pop("fewest", None)
    assert "Prosecutor" not in text_of(older)
    assert "Marketer" in text_of(older)


@pytest.mark.parametrize(
    ("report", "expected"),
    [
        (
            FULL,
            "k=5: someone who knows up to 2 items picks the right row with a chance of at "
            "most 1 in 5 (20%). The smallest group found has 6 rows. A larger k makes that chance smaller "
            "and loses more. m=2: someone may know up to 2 items of a person. The 3 most identifying items "
            "of a row would single out 159 of 5,000 rows (3.2%) of the release.",
        ),
        (REPORT, "The risk of 3 items was not counted. Choose a larger m"),
        (HUGE, "k=1,000,000: someone who knows any number of items picks"),
        (
            GROUPED | {"guarantee": DEGREE},
            "p=4: a sensitive item may be learned with a probability of up to 1 in 4 (25%).",
        ),
        (
            changed(guarantee={"model": "coherence", "h": "1/3", "k": 1, "p": 2, "private": ["s"]}),
            "h=1/3: a private item may be learned with a probability of up to 33%.",
        ),
        (
            changed(guarantee={"model": "k-anonymity", "k": 7, "greatest_k": None}),
            "k=7: someone who compares whole rows picks the right row with a chance of at most 1 in",
        ),
        (
            changed(
                guarantee={
                    "model": "constraints", "k": 7, "itemsets": [["a"]], "supported": 1,
                    "greatest_k": None,
                }
            ),
            "k=7: someone who knows the items that a constraint names picks the right row",
        ),
    ],
    ids=["km", "not measured", "inf", "degree", "coherence", "rows", "constraints"],
)  # fmt: skip
def test_page_says_what_the_parameters_mean(report: Any, expected: str) -> None:
    assert expected in text_of(report)


def test_a_broken_promise_explains_no_parameters() -> None:
    text = text_of(FAILING)
    assert "Why" not in text
    assert "Usable for" not in text
    assert "Not usable for" not in text


@pytest.mark.parametrize(
    ("utility", "answers", "expected"),
    [
        (
            {"label_support_error": {"mean": 0, "max": 0}, "item_support_error": {"median": 0.1}},
            {"are": {"median": 0.11, "size": 2}, "itemsets": {"frequent": 10, "kept": 9}},
            "Usable for: exact counts of published labels, counts of single items of the original, items "
            "that often occur together. With care for: counts of item pairs. Not usable for: statements "
            "about single persons.",
        ),
        (
            {"label_support_error": {"mean": 0.3, "max": 0.4}, "item_support_error": {"median": 0.5}},
            {"are": {"median": 0.51, "size": 2}, "itemsets": {"frequent": 10, "kept": 5}},
            "With care for: counts of published labels, counts of single items of the original, items that "
            "often occur together. Not usable for: counts of item pairs, statements about single persons.",
        ),
        (
            {"label_support_error": {"mean": 0.1, "max": 4}, "suppressed_items": 3, "generalized_items": 0},
            {"are": {"median": 0, "size": 1}, "itemsets": {"frequent": 10, "kept": 4}},
            "Usable for: counts of items that are published. Not usable for: items that often occur "
            "together, the 3 items suppressed, statements about single persons.",
        ),
        ({}, {}, "Not usable for: statements about single persons."),
    ],
)
def test_page_says_what_the_release_is_usable_for(utility: Any, answers: Any, expected: str) -> None:
    """The rules of docs/report.md."""
    report = changed(utility={"item_support_error": None, **utility}, answers=answers)
    if "are" in answers:
        report["answers"]["are"] |= {"mean": 1.0, "sd": 1.0, "queries": 9, "left_out": 0}
        report["answers"]["itemsets"] |= {
            "threshold": 2, "max_length": 3, "supports_unchanged": True, "by_length": []
        }  # fmt: skip
    before, *_ = text_of(report).split(" Why ")
    assert before.endswith(expected)
    assert before.count("able for:") == expected.count("able for:")


@pytest.mark.parametrize(("mean", "fit"), [(0.1, "Usable"), (0.11, "With care"), (1.0, "Not usable")])
def test_page_says_what_groups_are_usable_for(mean: float, fit: str) -> None:
    report = copy.deepcopy(GROUPED)
    report["utility"]["kl"]["mean"] = mean
    text = text_of(report)
    assert "Usable for: exact counts of all items that are not sensitive, how many rows contain a" in text
    section = text[text.index("Usable for:") : text.index(" Why ")]
    line = next(part for part in re.split(r"\.( |$)", section) if part and "together" in part)
    assert line.startswith(fit)


def test_page_leaves_room_to_decide_and_sign() -> None:
    boxes = "may be shared. The release must not be shared. Name Date Signature"
    assert f"Decision The folder published/ {boxes}" in text_of(REPORT)
    assert "Decision The release must not be shared. Name Date Signature" in text_of(FAILING)


def test_items_suppressed_under_one_name_are_counted() -> None:
    """Check algorithms that suppress nodes of the hierarchy, which are fewer than the items below them."""
    report = copy.deepcopy(FULL) | {"suppressed": ["meat"]}
    report["utility"]["suppressed_items"] = 17
    text = text_of(report)
    assert "17 items of 140 are in no published row, 23 occurrences (0.074%) with them." in text
    assert "Some are suppressed together, under the name that the hierarchy has for all of them." in text
    assert "the 17 items suppressed" in text
    text = text_of(report | {"recoding": "local"})
    assert (
        "in no published row, others are missing in some rows only: 23 occurrences (0.074%) in all." in text
    )


def test_external_page_tells_purpose_recipient_and_names_of_labels_alone() -> None:
    page = report_html(NAMED, external=True)
    text = _Page(page).text
    assert "Purpose: research <1>; Recipient: A university." in text
    assert "dairy Milk products 12 903 18%" in text
    for inside in ("2026-11-22", "J. Doe", "Crocus", "Deer", "Lac", "Butyrum", "edible", "nowhere",
                   "patient_id", "icd10", "ward,", "windows", "north", "cd" * 32, "my release"):  # fmt: skip
        assert inside not in page, inside


def test_page_shows_what_was_done() -> None:
    text = text_of(REPORT)
    for fact in (
        "The guarantee holds",
        "96.1% published unchanged (29,818)",
        "3.9% under a broader label (1,204)",
        "dairy butter , cream , whole milk and 9 more 12 903 18%",
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


EVIL = "<script>1</script>&amp;"


def test_labels_are_escaped_in_charts_and_lists() -> None:
    line = {"item": EVIL, "published": EVIL, "items": 2, "rows": 9, "estimate": 4.5}
    learned = {**LEARNED, "item": EVIL, "itemset": [EVIL], "probability": 0.5, "support": 4}
    risk = {
        **BEFORE,
        "revealing": {**REVEALING, "items": [{"item": EVIL, "support": 3, "rows": 2}]},
        "inference": [learned],
    }
    report = copy.deepcopy(FULL) | {
        "frequencies": [line, {**line, "item": "b", "published": EVIL}],
        "suppressed": [EVIL, "\u05e9\u05dc\u05d5\u05dd \x07" + "z" * 200],
        "risk": {"before": risk, "after": risk},
        "versions": {EVIL: EVIL},
    }
    parsed = _Page(report_html(report))
    assert "script" not in {tag for tag, _ in parsed.tags}
    assert "".join(parsed.pieces).count(EVIL) >= 10
    assert "script" not in {tag for tag, _ in _Page(report_html(report, external=True)).tags}


def test_long_parameters_are_reported_by_their_number() -> None:
    report = changed(algorithm={"parameters": {"keep": [f"item {i}" for i in range(500)], "gap": None}})
    assert "keep = 500 entries" in text_of(report)
    assert "gap" not in text_of(report)


def test_any_number_of_items() -> None:
    report = changed(guarantee={"m": "inf"})
    assert "Anyone who knows any number of items of a person's row" in " ".join(summary(report).split())
    assert "here all items of a person" in text_of(report)
    assert "Knowing more than" not in text_of(report)
    assert "Knowing that an item is absent." in text_of(report)


def test_ul_is_reported_inside_only() -> None:
    report = changed(utility={"ul": {"log2": -160.3442989, "log2_labels": -160.3442989, "suppressed": 0.0}})
    assert "2^-160.34 UL: sets of items" in text_of(report)
    assert "UL adds up" in text_of(report)
    assert "UL" not in summary(report)
    assert "UL" not in external_text(report)
    nothing = changed(utility={"ul": {"log2": None, "log2_labels": None, "suppressed": 0.0}})
    assert "UL: " not in text_of(nothing)


def test_no_words_for_a_kind_of_release_that_there_is_not() -> None:
    with pytest.raises(ValueError, match="'scattered'"):
        report_html(changed(recoding="scattered"))


def test_nothing_was_lost() -> None:
    assert "Nothing: all 31,022 item occurrences are published as they were." in summary(LOSSLESS)
    proven = "Proven: the smallest loss (LM) of any cut of this hierarchy, 0."
    assert proven in " ".join(summary(LOSSLESS).split())
    text = text_of(LOSSLESS)
    assert "100% published unchanged" in text
    assert "The most used broader labels" not in text


def test_suppressed_items_are_reported() -> None:
    assert "12 (0.039%) are suppressed." in " ".join(summary(SUPPRESSED).split())
    assert "0.039% suppressed" in text_of(SUPPRESSED)
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


def test_a_broken_promise_is_not_shared() -> None:
    text = text_of(FAILING)
    assert "The guarantee does not hold" in text
    assert "Nothing may be shared" in text
    assert "May be shared:" not in text
    plain = " ".join(summary(FAILING).split())
    assert "It does NOT hold. In the published rows: 12 sets of at most 2 items" in plain
    assert "in fewer than 5 rows." in plain
    assert "Share Nothing" in plain
    assert "published/ only" not in plain


def test_lost_rows_are_reported() -> None:
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
        (0, 5, "0%"),
        (5, 5, "100%"),
        (0, 0, "0%"),
        (1204, 31022, "3.9%"),
        (29818, 31022, "96.1%"),
        (1, 3, "33%"),
        (2, 3, "67%"),
        (1, 2, "50%"),
        (999, 1000, "99.9%"),
        (9999, 10000, "99.99%"),
        (1, 10000, "0.01%"),
        (1, 10**9, "under 0.001%"),
        (10**9 - 1, 10**9, "over 99.999%"),
        (99_996, 1_000_000, "10%"),
    ],
)
def test_percent(part: int, whole: int, expected: str) -> None:
    assert words.percent(part, whole) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0, "0%"),
        (0.604, "60%"),
        (1, "100%"),
        (1.284, "a factor of 2.3"),
        (2, "a factor of 3"),
        (17.404, "a factor of 18"),
        (12345, "a factor of 12,000"),
    ],
)
def test_error(value: float, expected: str) -> None:
    assert words.error(value) == expected


@pytest.mark.parametrize(
    ("rows", "whole", "expected"),
    [
        (0, 0, "no row"),
        (0, 9, "no row"),
        (0.01, 9, "less than one row"),
        (1, 1, "all 1 row"),
        (12.4, 5000, "12 of 5,000 rows (0.25%)"),
        (5000, 5000, "all 5,000 rows"),
    ],
)
def test_rows_of(rows: float, whole: int, expected: str) -> None:
    assert words.rows_of(rows, whole) == expected


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
    assert [count(n, "row") for n in (0, 1, 2)] == ["0 rows", "1 row", "2 rows"]
    assert count(1_234_567) == "1,234,567"
    assert count(2, "leaf", "leaves") == "2 leaves"


def test_clip() -> None:
    assert words.clip("abc", 3) == "abc"
    assert words.clip("abcd", 3) == "ab…"


# The page that may be shared


def external_text(report: Any) -> str:
    return _Page(report_html(report, external=True)).text


def test_external_page_tells_what_readers_need() -> None:
    text = external_text(FULL)
    for fact in (
        "About this release",
        "The guarantee holds",
        "Anyone who knows up to 2 items of a person's row finds at least 5 rows",
        "the smallest group found has 6 rows",
        "5,000 (4 empty)",
        "101, 2 of them broader than an item",
        "dairy 12 903 18%",
        "about 96% published unchanged",
        "about 4% under a broader label",
        "under 1% suppressed",
        "NCP about 0.05, LM about 0.05. At most about 20% above the smallest loss (NCP) of any cut of this "
        "hierarchy.",
        "they are typically off by about a factor of 6; the mean relative error (ARE) is about 2,000%.",
        "about 15% of the sets of at most 3 items that at least 50 rows",
        "the 3 most identifying items 159 (3.2%) 613 (12%) 1,109 (22%)",
        "Knowing more than 2 items.",
        "k = 5 , m = 2 , refine = false",
        "setveil 0.1.0, numpy 2.4.6, python 3.11.7",
    ):
        assert fact in text, fact


def test_external_page_rounds_errors_to_one_digit() -> None:
    report = copy.deepcopy(FULL)
    for median, text in (
        (94.4, "a factor of 100;"),
        (0.238, "20%;"),
        (1.6, "a factor of 3;"),
        (0.96, "100%;"),
    ):
        report["answers"]["are"]["median"] = median
        assert f"typically off by about {text}" in external_text(report)
    report["answers"]["itemsets"]["kept"] = 0
    assert "0% of the sets" in external_text(report)
    assert "in exactly as many rows" not in external_text(report)


def test_external_page_of_groups() -> None:
    text = external_text(GROUPED)
    assert "every count of them is exact" in text
    assert "the 2 most identifying items 449 (9%) 1,223 (24%) 1,871 (37%) 25%" in text
    assert "KL" not in text


@every_report
def test_external_page_is_whole_and_touches_no_network(report: Any) -> None:
    if not report["guarantee"]["holds"]:
        with pytest.raises(ValueError, match="does not hold"):
            report_html(report, external=True)
        return
    page = report_html(report, external=True)
    assert not re.search(r"https?:|//|url\(|@import|None", page)
    tags = _Page(page).tags
    assert not {"script", "img", "link", "iframe", "object"} & {tag for tag, _ in tags}
    leads_nowhere_else(tags)
    assert page == report_html(report, external=True)


@pytest.mark.parametrize("report", [FULL, GROUPED, SUPPRESSED], ids=["full", "grouped", "suppressed"])
def test_external_page_depends_on_the_original_only_coarsely(report: Any) -> None:
    """Another original with the same published rows gives the same page."""
    other = copy.deepcopy(report)
    other["input"] |= {"path": "other.csv", "sha256": "c" * 64, "format": "fimi", "rows": 4999}
    other["input"] |= {"empty_rows": 17, "items": 777, "occurrences": other["input"]["occurrences"] + 7}
    other["hierarchy"] = {"source": "file", "path": "x", "sha256": "d" * 64, "leaves": 3, "height": 1}
    other |= {"seed": 99, "branches": [{"label": "b", "items": 1, "occurrences": 1, "ncp": 1.0}]}
    other |= {"suppressed": ["secret"], "frequencies": [], "timing": {}, "peak_memory_mb": 1}
    other["algorithm"] |= {"order": [{"item": "secret"}], "steps": 17}
    other["algorithm"]["parameters"] |= {
        "keep": ["secret"],
        "weights": {"secret": 2},
        "utility": "secret.txt",
    }
    other["guarantee"] |= {"supported": 12, "violations": 0, "phrase": "secret", "first": ["secret"]}
    for key, value in other["utility"].items():
        if key in {"generalized_occurrences", "suppressed_occurrences", "unchanged_occurrences"}:
            other["utility"][key] = value + 5
        elif key in {"ncp", "lm"}:
            other["utility"][key] = value + 0.001
        elif not isinstance(value, dict):
            other["utility"][key] = value + 1
    unseen = {"ul": {"log2": -5}, "entropy": {"share": 0.5, "bits": 2.0}}
    for key, value in ({"kl": {}, "group_sizes": {}, "item_support_error": {}} | unseen).items():
        other["utility"][key] = value
    if "answers" in other:
        other["answers"]["are"] |= {"mean": 18.1, "median": 4.9, "sd": 1}
        if "itemsets" in other["answers"]:
            other["answers"]["itemsets"] |= {"frequent": 331, "by_length": []}
    if "risk" in other:
        other["risk"]["before"] = AFTER
        other["risk"]["after"]["revealing"] = {"items": [{"item": "secret"}]}
        for entry in other["risk"]["after"].get("inference", []):
            entry |= {"item": "secret", "itemset": ["secret"], "support": 12, "rows_above": {}}
    assert report_html(other, external=True) == report_html(report, external=True)


@pytest.mark.parametrize(
    ("occurrences", "suppressed", "expected"),
    [
        (399, 1, "Not told: the data are too small"),
        (400, 1, "under 25% suppressed"),
        (1000, 100, "about 10% suppressed"),
        (1000, 149, "about 20% suppressed"),  # 851 of 1,000 to 1,099 are left
        (2000, 3, "under 5% suppressed"),
        (10_000, 1, "under 1% suppressed"),
        (10_000, 9_999, "over 99% suppressed"),
        (10_000, 0, " 0% suppressed"),
        (10_000, 10_000, "100% suppressed"),
    ],
)
def test_what_compares_with_the_original_is_coarse(occurrences: int, suppressed: int, expected: str) -> None:
    report = changed(
        input={"occurrences": occurrences},
        utility={
            "suppressed_occurrences": suppressed,
            "generalized_occurrences": 0,
            "unchanged_occurrences": occurrences - suppressed,
            "ncp": suppressed / occurrences,
            "lm": suppressed / occurrences,
        },
    )
    assert expected in external_text(report)


@pytest.mark.parametrize("sign", ["\x1b", "\x07", "\x9b", "\u202e", "\u2066", "\r"])
@pytest.mark.parametrize("external", [False, True])
def test_no_label_steers_a_terminal(sign: str, external: bool) -> None:
    report = changed(about={"purpose": f"a{sign}b"})
    for line in report["labels"]:
        line["label"] = f"{line['label']}{sign}[2J"
    page = report_html(report, external=external)
    assert sign not in page
    assert f"a\\u{ord(sign):04x}b" in page
    assert f"\\u{ord(sign):04x}[2J" in page


DATA = sv.Transactions.from_rows(
    [
        [f"i{j}" for j in range(12) if (row * (j + 3) + row // 7) % (j + 2) == 0] or ["i0"]
        for row in range(600)
    ]
    + [["odd-1", "i0"], ["odd-2", "i1", "i3"], ["odd-2", "i5"]]
)
RELEASES: dict[str, tuple[Any, dict[str, Any]]] = {
    "exact": (sv.KmAnonymity(5, 2), {"algorithm": "exact", "keep": ["i0"]}),
    "aa": (sv.KmAnonymity(5, 2), {"algorithm": "aa"}),
    "lg": (sv.TransactionalKAnonymity(5), {"algorithm": "lg"}),
    "coat": (
        sv.PrivacyConstraints(5, [["odd-1"], ["odd-2", "i5"], ["i1", "i3"]]),
        {"algorithm": "coat", "utility": [["odd-1", "i1"], ["odd-2", "i2"]]},
    ),
    "border": (sv.Coherence(h=0.9, k=5, p=2, private=["i7"]), {"algorithm": "border"}),
    "cahd": (sv.PrivacyDegree(3, ("i11",)), {"algorithm": "cahd"}),
    "km-rho": (sv.KmRho(5, 2, "0.15", ["i7", "i11"]), {"algorithm": "exact"}),
    "partial": (sv.KmRho(1, 2, "0.15", ["i7", "i11"]), {"algorithm": "partial", "bound": True}),
}


@pytest.mark.parametrize("name", RELEASES)
def test_external_page_of_a_run_leaks_nothing(name: str, tmp_path: Path) -> None:
    guarantee, options = RELEASES[name]
    release = sv.anonymize(DATA, guarantee, **options, details=True)
    record = copy.deepcopy(release.report)
    record["input"] |= {"path": "/home/me/patients.csv", "sha256": "e" * 64}
    if record["hierarchy"]:
        record["hierarchy"] |= {"source": "file", "path": "tree.csv", "sha256": "f" * 64}
    report = write_folder(release.release, record, release.layout, tmp_path / "run", NOTHING, external=True)
    files = {p.relative_to(tmp_path / "run").as_posix() for p in tmp_path.rglob("*") if p.is_file()}
    assert "published/report.html" in files
    require_writable(tmp_path / "run", force=True)
    inside = (tmp_path / "run/internal/report.html").read_text(encoding="utf-8")
    outside = (tmp_path / "run/published/report.html").read_text(encoding="utf-8")
    assert "report.html</bdi>" in inside
    assert "/home/me/patients.csv" in inside

    text, published = _Page(outside).text, set(release.published.vocabulary.labels)
    for secret in (
        "patients",
        "e" * 64,
        "tree.csv",
        "f" * 64,
        "/home",
        *(set(report["suppressed"]) - published),
    ):
        assert secret not in outside
    assert "odd" not in re.sub("<bdi.*?</bdi>", "", outside), "only published labels may name items"
    for label in re.findall("<bdi.*?>(.*?)</bdi>", outside):
        assert label in published | {report["published"]["file"]}
    # No number that is known from the original alone.
    before = _numbers([report["input"], report["utility"], report["branches"], report.get("frequencies", []),
                       report["risk"]["before"], DATA.supports().tolist(),
                       [report["algorithm"].get(name) for name in ("hidden", "alone")]])  # fmt: skip
    after = _numbers([handed_out(report)["published"], report["labels"], report["guarantee"],
                      report["risk"]["after"], report["algorithm"]["parameters"]])  # fmt: skip
    shown = {number.replace(",", "") for number in re.findall(r"\d[\d,]*(?:\.\d+)?", text)}
    secret_numbers = {number for number in before - after if len(number.replace(".", "")) > 2}
    assert not shown & secret_numbers - _numbers([int(x) for x in re.findall(r"\d+", _fixed(report))])


def _fixed(report: Any) -> str:
    """Texts of the page that are no figures: versions, reference, and the threshold of itemsets."""
    return f"{report['versions']} {report['algorithm']['reference']} {report['setveil']} 100"


def _numbers(content: Any) -> set[str]:
    """Collect all numbers, as they are and as a page writes them."""
    if isinstance(content, dict):
        return set().union(*map(_numbers, content.values())) if content else set()
    if isinstance(content, list | tuple):
        return set().union(*map(_numbers, content)) if content else set()
    if isinstance(content, bool) or not isinstance(content, int | float):
        return set()
    return {str(content), words.measure(content) if content < 10 else str(round(content))}
