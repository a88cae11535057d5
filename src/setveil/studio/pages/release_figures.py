"""Parts of the page Release from a record: figures, uses, alternatives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from setveil.base.wording import count
from setveil.judges.utility import Utility
from setveil.report import accuracy, words
from setveil.report.record import Class, Record, Timeline
from setveil.report.run import facts as fact_section
from setveil.report.run.frontier import instead, named
from setveil.report.run.kinds import kind_of
from setveil.report.run.kinds.classes import cut_on
from setveil.studio.data_kinds import RowsOfItems, TableOfItems

STEPS = ("0", "1/10", "1/4", "1/2", "3/4", "9/10", "1")  # shares that are offered beside a release's own
_MOST_CLASSES = 20  # that are listed, and shares of items in them
_WIDTH, _HEIGHT, _LEFT, _BOTTOM = 480, 230, 64, 44  # of the picture, and of its margins


def tiles(report: Record) -> list[tuple[str, str]]:
    """Choose the figures that are shown first; all are the report's."""
    utility: Utility = report["utility"]
    whole = report["input"]["occurrences"]
    shown = []
    if "weighed_loss" in utility:
        shown.append((words.measure(utility["weighed_loss"]), TableOfItems.loss))
    elif "lm" in utility:
        shown.append((words.measure(utility["lm"]), RowsOfItems.loss))
    if "unchanged_items" in utility:
        shown.append(
            (f"{utility['unchanged_items']:,} of {report['input']['items']:,}", "items are unchanged")
        )
    for name, what in (
        ("unchanged_occurrences", "of all items in rows are unchanged"),
        ("generalized_occurrences", "of all items in rows have a broader label"),
        ("suppressed_occurrences", "of all items in rows are suppressed"),
    ):
        if name in utility and whole:
            shown.append((words.percent(utility[name], whole), what))
    if error := accuracy.query_error_tile(report):
        shown.append((error[0], error[1].removeprefix("query error: ")))
    return shown


def facts(report: Record) -> dict[str, Any] | None:
    """Put what is left of facts as the page shows it: their parts, the orders tried, and each period."""
    entry = report.get("facts")
    if entry is None:
        return None
    heads, lines = fact_section.order_table(entry)
    seconds = [f"{one['seconds']:.1f} s" for one in entry["orders"]]
    columns = [part["name"] for part in entry["parts"] if part["kind"] == "codes"]
    return {
        "such": f"{columns[0]}=I50; {columns[1]}=C07" if len(columns) > 1 else "I50@2024-01; J18@2024-02",
        "parts": [
            (name, words.percent(entry["kept"][name]), words.measure(loss))
            for name, loss in entry["by_part"].items()
        ],
        "whole": words.percent(entry["whole"]),
        "taken": fact_section.in_words(entry),
        "heads": [*heads, "Time"],
        "orders": [[*line, time] for line, time in zip(lines, seconds, strict=True)],
        "branches": [(one["label"], ", ".join(map(str, one["depths"]))) for one in entry.get("branches", ())],
        "periods": [_periods(line) for line in entry.get("timeline", ())],
    }


def _periods(line: Timeline) -> dict[str, Any]:
    levels = [*line["levels"], "suppressed"]
    return {
        "name": line["name"],
        "picture": fact_section.bars(line),
        "legend": list(zip(fact_section.colors(line), levels, strict=True)),
        "heads": ["Period", *levels],
        "lines": [
            [one["period"], *(f"{number:,}" for number in (*one["published"], one["left_out"]))]
            for one in line["periods"]
        ],
    }


# Columns of a table.


def columns(found: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Put what a desk says of columns as the page shows it: bars are shares of the greatest number."""
    shown = []
    for one in found:
        most = one["most"] or 1
        bins = [
            (
                values or "no value",
                f"{before:,}",
                words.whole_or(after, 2),
                round(100 * before / most, 1),
                round(100 * after / most, 1),
            )
            for values, before, after in one["bins"]
        ]
        labels = [(label or "no value", f"{rows:,}") for label, rows in one["shown"]]
        more = one["labels"] - len(labels)
        shown.append(
            {
                "name": one["name"], "loss": words.measure(one["loss"]), "bins": bins, "shown": labels,
                "values": one["values"], "labels": one["labels"], "more": max(more, 0),
            }
        )  # fmt: skip
    return shown


# What other settings give.


def share_of(report: Record) -> Fraction | None:
    """Read the share of the columns in the loss that a release was made for; None: it has none."""
    share = report["algorithm"]["parameters"].get("share")
    return None if share is None or "relational_loss" not in report["utility"] else Fraction(str(share))


def neighbours_of(share: Fraction) -> list[str]:
    """Name the next lower and the next higher share that are offered."""
    lower = [text for text in STEPS if Fraction(text) < share][-1:]
    higher = [text for text in STEPS if Fraction(text) > share][:1]
    return lower + higher


def same_but_share(one: Record, other: Record) -> bool:
    """Return whether two releases differ in nothing that was asked for but the share."""
    settings = [
        {key: value for key, value in (report.get("options") or {}).items() if key not in _NOT_REPEATED}
        for report in (one, other)
    ]
    return (
        settings[0] == settings[1]
        and one["input"]["sha256"] == other["input"]["sha256"]
        and one["algorithm"]["name"] == other["algorithm"]["name"]
    )


_NOT_REPEATED = {
    "share",
    "out",
    "force",
    "external",
    "purpose",
    "recipient",
    "responsible",
    "legal-basis",
    "review",
    "date",
    "title",
}


def others(run: str, report: Record, made: Mapping[str, Record]) -> dict[str, Any] | None:
    """List alternatives of a table, tried or made; None if there are none.

    `made`: other releases by name, which differ only in their share. points: by the loss of the columns.
    share: that of this release. instead: the next points on either side in words. picture: where the points
    are. compute: shares without a release yet, none if the run was made in Python, whose record does not say
    how.
    """
    share = share_of(report)
    if share is None:
        return None
    points = [_made(run, report, here=True)]
    points += [_tried(entry) for entry in report.get("frontier") or [] if not entry["chosen"]]
    points += [_made(name, other) for name, other in made.items()]
    points.sort(key=lambda point: (point["R"], -point["T"]))
    had = {share_of(other) for other in made.values()}
    return {
        "points": points,
        "share": float(share),
        "written": words.percent(float(share)),
        "instead": [
            (
                gain,
                f"{words.percent(entry['suppressed_share'])} of the occurrences suppressed, loss of the "
                f"columns {words.measure(entry['relational_loss'])} ({_classes(entry)})",
            )
            for gain, entry in instead(report)
        ],
        "picture": _picture(points) if len(points) > 1 else None,
        "compute": [
            (text, words.percent(float(Fraction(text))))
            for text in neighbours_of(share)
            if Fraction(text) not in had and report.get("options")
        ],
    }


def _classes(entry: Class) -> str:
    return named(entry) if entry["search"] != "sweep" else f"classes of at least {named(entry)}"


def _tried(entry: Class) -> dict[str, Any]:
    return _point(
        _classes(entry), "", entry["relational_loss"], entry["transaction_loss"], entry["suppressed_share"]
    )


def _made(name: str, report: Record, *, here: bool = False) -> dict[str, Any]:
    utility, share = report["utility"], share_of(report)
    title = "this release" if here else f"release for a share of {words.percent(float(share or 0))}"
    suppressed = utility["suppressed_occurrences"] / max(report["input"]["occurrences"], 1)
    found = _point(title, name, utility["relational_loss"], utility["transaction_loss"], suppressed)
    return {**found, "here": here}


def _point(name: str, run: str, relational: float, transactional: float, suppressed: float) -> dict[str, Any]:
    return {
        "name": name, "run": run, "here": False, "R": relational, "T": transactional, "left": suppressed,
        "cells": [words.measure(relational), words.measure(transactional), words.percent(suppressed)],
    }  # fmt: skip


def _picture(points: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Place releases by the loss of their columns, and by the share of suppressed occurrences."""
    wide, high = (min(max(point[key] for point in points) * 1.1, 1) or 1 for key in ("R", "left"))

    def x(value: float) -> float:
        return round(_LEFT + value / wide * (_WIDTH - _LEFT - 24), 1)

    def y(value: float) -> float:
        return round(_HEIGHT - _BOTTOM - value / high * (_HEIGHT - _BOTTOM - 16), 1)

    return {
        "width": _WIDTH, "height": _HEIGHT, "left": _LEFT, "base": _HEIGHT - _BOTTOM,
        "points": [(x(point["R"]), y(point["left"]), point["here"], bool(point["run"])) for point in points],
        "across": [(x(wide * part / 4), words.measure(wide * part / 4)) for part in (0, 2, 4)],
        "up": [(y(high * part / 4), words.percent(high * part / 4)) for part in (0, 2, 4)],
    }  # fmt: skip


# Rows in classes.


def classes(report: Record) -> dict[str, Any] | None:
    """List the classes of a release by size, and what nearly all rows of one share; None if it has none.

    number: of classes. in_words: from the summary. lines: the largest, with number, cuts, rows, items by
    name, suppressed items and gap. sure: items that are practically known of all rows of a class. more_lines,
    more_sure: how many are not listed.
    """
    found = report.get("classes")
    if found is None:
        return None
    by_size = sorted(found["classes"], key=lambda one: (-one["rows"], one["class"]))
    lines = [
        (
            str(one["class"]), cut_on(one, str), count(one["rows"]), count(one["names_kept"]),
            count(one.get("left_out", 0)),
            "proven" if one.get("proven", True) else words.percent(one["gap"]),
        )
        for one in by_size[:_MOST_CLASSES]
    ]  # fmt: skip
    sure = [one for one in report["counts"]["sure"] if not one["label"]] if report.get("counts") else []
    return {
        "number": found["number"],
        "in_words": kind_of(report).summarized(report).get("Classes", ""),
        "lines": lines,
        "more_lines": len(by_size) - len(lines),
        "sure": [
            (str(one["class"]), one["item"], count(one["rows"]), count(one["of"]))
            for one in sure[:_MOST_CLASSES]
        ],
        "more_sure": max(len(sure) - _MOST_CLASSES, 0),
    }
