"""One number for one thing: the query error has the same name and figure on every face."""

from __future__ import annotations

import copy
import json
import re
from typing import Any

import pytest
from test_report import FULL, NAMED

from setveil.report import accuracy
from setveil.report.measures import measures_text
from setveil.report.run.page import report_html
from setveil.report.run.summary import summary


@pytest.mark.parametrize(
    ("median", "text"), [(0.21, "off by 21%"), (4.832, "off by a factor of 5.8"), (0, "exact")]
)
def test_summary_and_page_name_one_figure(median: float, text: str) -> None:
    report: Any = copy.deepcopy(FULL)
    report["answers"]["are"] |= {"median": median, "size": 2}
    said = " ".join(summary(report).split())
    assert f"Answers Counts of random item pairs are typically {text} (query error)." in said
    figure, meaning = accuracy.query_error_tile(report) or ("", "")
    assert figure == ("Exact" if not median else text.removeprefix("off by "))
    assert f"<b>{figure}</b><span>{meaning}</span>" in (
        re.sub("<button.*?</button>", "", report_html(report))
    )


def test_of_a_table_it_is_that_of_columns_and_items() -> None:
    errors = {"mean": 3.0, "sd": 1.0, "median": 0.5, "queries": 9, "left_out": 0}
    answers: Any = {"are": {**errors, "median": 0.9, "size": 2}, "table_are": errors}
    assert accuracy.query_error(answers) == (0.5, "random combinations of columns and items")
    assert accuracy.queries_title(answers) == "Counts of random item pairs:"
    assert accuracy.queries_title(answers, columns=True).endswith("columns and items (query error):")
    del answers["table_are"]
    assert accuracy.query_error(answers) == (0.9, "random item pairs")
    assert accuracy.queries_title(answers) == "Counts of random item pairs (query error):"


def test_nothing_is_said_of_what_was_not_measured() -> None:
    none = {"mean": None, "sd": None, "median": None, "queries": 0, "left_out": 3, "size": 2}
    for answers in ({}, {"are": none}):
        report: Any = {**json.loads(json.dumps(NAMED)), "answers": answers}
        assert accuracy.query_error_tile(report) is None
        assert "query error" not in summary(report)


def test_measure_names_the_same_figure_first() -> None:
    utility: Any = copy.deepcopy(FULL["utility"])
    utility["are"] = {"mean": 3.0, "sd": 1.0, "median": 0.21, "queries": 1000, "left_out": 0}
    text = measures_text(utility, [], {"original": 9, "release": 9}, 31022, "global")
    line = next(line for line in text.split("\n") if line.startswith("query error "))
    assert line.split()[2] == "21%"
    assert "median relative error of 1,000 COUNT queries; mean (ARE) 300%" in line
