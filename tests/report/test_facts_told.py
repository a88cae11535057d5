"""The report about facts: periods compared with plain counting, orders, and the external page."""

from __future__ import annotations

import html
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import setveil as sv
from setveil.report.run.external import handed_out
from setveil.report.run.page import report_html
from setveil.rows.facts.settling import settled
from setveil.runs._timelines import timelines
from strategies import many

CODES = ("I50.1", "I50.9", "I21.0", "J18.0", "J18.9", "J44")
TREE = sv.Hierarchy.from_paths(
    [["I50.1", "I50", "I", "*"], ["I50.9", "I50", "I", "*"], ["I21.0", "I", "*"],
     ["J18.0", "J18", "J", "*"], ["J18.9", "J18", "J", "*"], ["J44", "J", "*"]]
)  # fmt: skip


def day(random: Random) -> str:
    """Draw a date; one of ten is missing."""
    found = f"202{random.randint(3, 4)}-{random.randint(1, 12):02}-{random.randint(1, 28):02}"
    return found if random.random() < 0.9 else ""


def log(random: Random, people: int) -> pl.DataFrame:
    lines = [
        {
            "who": person,
            "on": day(random),
            "code": random.choice(CODES),
            "cost": random.randint(1, 90),
        }
        for person in range(people)
        for _ in range(random.randint(1, 4))
    ]  # fmt: skip
    return pl.DataFrame(lines)


def release_of(random: Random, people: int, level: str, **more: Any) -> tuple[sv.Facts, Any]:
    facts = sv.read_facts(
        log(random, people), id="who", sets="code", when={"on": level}, amount={"cost": [0, 30, 60]}
    )
    algorithm = sv.Exact(time_limit=20)
    return facts, sv.anonymize(facts, k=3, m=2, hierarchy=TREE, algorithm=algorithm, **more)


def grain(label: str) -> str:
    """Say how fine a period is, by how it is written."""
    forms = {
        r"\d{4}-\d\d-\d\d": "day", r"\d{4}-W\d\d": "week", r"\d{4}-\d\d": "month",
        r"\d{4}-Q\d": "quarter", r"\d{4}": "year", r"\*": "any",
    }  # fmt: skip
    return next(level for form, level in forms.items() if re.fullmatch(form, label))


def test_what_is_counted_is_called_a_fact() -> None:
    _, release = release_of(Random(1), 30, "month")
    said = " ".join(repr(release).split())
    for words in (
        "Anyone who knows up to 2 facts of a person's row finds at least 3 rows",
        f"of {release.report['input']['occurrences']} fact occurrences",
        f"with counts of {release.report['counts']['items']} facts",
        f" Facts {release.utility['unchanged_items']} of {release.report['input']['items']} unchanged",
        "facts each on average",
    ):
        assert words in said, said
    inside, outside = (html.unescape(release.report_html(external=external)) for external in (False, True))
    for page in (inside, outside):
        assert "Guarantee: Anyone who knows up to 2 facts of a person's row" in page
    assert "facts unchanged;" in inside


@pytest.mark.parametrize("level", ["day", "week", "month", "quarter", "year"])
def test_periods_are_counted_as_by_hand(level: str) -> None:
    random = Random(level)
    for order in ("first", "last", 1)[: many(3)]:
        facts, release = release_of(random, 60, level, fact_order=order)
        image = release.release.image()
        counted: dict[str, Counter[str]] = {}
        for row in facts.rows():
            for fact in row:
                period, label = fact.split("@")[1], image[fact]
                name = period[:7] if level == "day" and period != "?" else period
                became = "left out" if label is None else label.split("@")[1]
                became = became if became == "left out" else level if became == "?" else grain(became)
                counted.setdefault(name, Counter())[became] += 1
        (line,) = timelines(facts, release.recoding)
        assert [line] == release.report["facts"]["timeline"]
        assert line["name"] == "on"
        assert line["levels"][0] == level
        names = [one["period"] for one in line["periods"]]
        assert names == sorted(counted, key=lambda name: (name == "?", name))
        for one in line["periods"]:
            by_level = dict(zip(line["levels"], one["published"], strict=True)) | {
                "left out": one["left_out"]
            }
            assert {what: number for what, number in by_level.items() if number} == counted[one["period"]]


def test_bands_of_days_stand_in_order() -> None:
    facts, release = release_of(Random(4), 80, "60d-since-first", fact_order="last")
    (line,) = timelines(settled(facts, release.report["guarantee"]["k"]), release.recoding)
    starts = [int(one["period"].strip("[>=?").partition(",")[0] or 10**9) for one in line["periods"]]
    assert starts == sorted(starts)
    assert set(line["levels"]) <= {"as it was", "wider", "any"}
    assert sum(sum(one["published"]) + one["left_out"] for one in line["periods"]) == facts.n_occurrences


def text_of(page: str) -> str:
    return re.sub(
        r"\s+", " ", html.unescape(re.sub(r"<style.*?</style>|<[^>]+>", " ", page, flags=re.DOTALL))
    )


def test_the_page_shows_parts_orders_and_periods_and_the_one_outside_less(tmp_path: Path) -> None:
    _, release = release_of(Random(5), 200, "month")
    report = release.write(tmp_path / "out")
    page = text_of(report_html(report))
    record = report["facts"]
    for title in ("Parts of facts", "Order of generalization", "Published periods: on"):
        assert title in page
    assert f"{len(record['orders'])} orders tried; taken: {record['order']}." in page
    assert f"{record['order']} (taken)" in page
    assert "Gaps between more dates." in page
    assert "A name, a date, a place" not in page  # dates are part of the treated data
    shown = text_of(report_html(report, external=True))
    assert (
        "Parts of a fact code , on ( month at the finest), cost ( in bands at 0,30,60 at the finest)"
        in re.sub(r"\(", "( ", shown)
    )
    assert "Of all facts of the original" in shown
    for title in ("Order of generalization", "Published periods", "taken:"):
        assert title not in shown
    outside = handed_out(report)
    assert outside["facts"] == record["parts"]
    # How many facts of a box occur follows from what single persons have, so nothing shared says it.
    assert {line["items"] for line in outside["labels"]} == {None}


def test_what_was_proven_is_named_by_the_loss_that_was_kept_low(tmp_path: Path) -> None:
    facts = sv.read_facts(log(Random(7), 450), id="who", sets="code", when={"on": "year"})
    for loss, named in (("volume", "smallest loss (LM)"), ("parts", "smallest loss by parts")):
        release = sv.anonymize(facts, k=3, m=2, hierarchy=TREE, fact_loss=loss, fact_order="last")
        report = release.write(tmp_path / loss)
        assert not report["optimality"]["gap"]
        said = f"Proven: the {named} possible with this tree of boxes"
        assert said in " ".join(str(release).split())
        assert said in text_of(report_html(report, external=True))


def test_names_are_texts(tmp_path: Path) -> None:
    name = '"><img src=x onerror="x">'
    frame = log(Random(8), 120).rename({"on": name, "cost": f"{name}2", "code": "<img>"})
    when, amount = {f"<img>={name}": "year"}, {f"<img>={name}2": [0, 30]}
    facts = sv.read_facts(frame, id="who", sets="<img>", when=when, amount=amount)
    report = sv.anonymize(facts, k=3, m=1, hierarchy=TREE, algorithm="aa").write(tmp_path / "out")
    for external in (False, True):
        assert "<img" not in report_html(report, external=external)


def test_pages_of_two_runs_are_the_same(tmp_path: Path) -> None:
    """Check that the pages omit seconds, even if each order has some."""
    pages = {
        report_html(release_of(Random(6), 60, "quarter")[1].write(tmp_path / str(at))) for at in range(2)
    }
    assert len(pages) == 1
