"""Rows in published classes, each with separate labels and counts."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from setveil.base.wording import count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import ClassEntry, Record
from setveil.report.run.kinds import USABLE, Points, SharedRecord, Use
from setveil.report.run.kinds.rows import PARTS, LocalRows
from setveil.report.run.names import shown

_MOST = 40  # classes, and shares, that are shown


class ClassedRows(LocalRows):
    """Each class has labels of its own."""

    recoding = "classes"
    published = ("classes.csv",)
    internal = (*PARTS, "splits.csv")
    term = (
        "Class:",
        "rows that were split off together; each row's class is published. In a class an item has one label, "
        "or none, and another class may have another. <b>Suppressed:</b> omitted from all rows of a class.",
    )
    supports_differ = "an item has another label in other classes"

    row_heads = ("Class",)

    def row_cells(self, after: Mapping[str, Any]) -> list[str]:
        return [str(after["class"])]

    def overlap(self, report: Record) -> str:
        number = report["classes"]["number"]
        each = "with" if number == 1 else "each with"
        text = f"{count(number, 'class', 'classes')}, {each} labels and counts of its own"
        return f"{text}; supports of labels cannot be added over classes, totals are in counts.csv."

    def instead(self, _report: Record) -> str:
        return "Use the totals of items, or <code>setveil query</code>."

    def contents(self, record: SharedRecord) -> Points:
        number = record["published"].get("classes")
        classes = [("Classes", f"{count(number)}, with the rows of each in classes.csv")] if number else []
        return [*classes, *super().contents(record)]

    def _single_items(self, report: Record) -> list[Use]:
        counts = report.get("counts")
        totals = counts.get("totals", 0) if counts else 0
        return [(USABLE, f"exact counts of {count(totals, 'single item')} of the original")] if totals else []

    def counted(self, report: Record) -> str:
        counts = report["counts"]
        lines, totals = count(counts["lines"]), count(counts.get("totals", 0), "item")
        return (
            f"<code>{html.escape(counts['file'])}</code> says class by class how many rows of the original "
            f"held an item ({lines} lines), and of {totals} how many of all classes did: such numbers from "
            f"{count(counts['least'])} on"
        )

    def holds_for(self, report: Record) -> str:
        alone = report.get("classes", {}).get("number") == 1
        return "" if alone else "This is so in every class, even if the class is known."

    def sections(self, report: Record) -> list[blocks.Section | None]:
        return [_classes(report), _shares(report)]

    def summarized(self, report: Record) -> dict[str, str]:
        found = report["classes"]
        if found["number"] == 1:
            few = "there are too few rows for two" if found.get("too_few_rows") else "more answer no better"
            return {"Classes": f"one: {few}. {words.ONE_OF_THEM}"}
        sizes = sorted(one["rows"] for one in found["classes"])
        reach = count(sizes[0]) if sizes[0] == sizes[-1] else f"{count(sizes[0])} to {count(sizes[-1])}"
        off = ""
        tried = [one["error"] for one in found.get("tried", ())]
        if tried and "one_class_error" in found:
            alone = words.error(found["one_class_error"])
            off = f"; pairs are off by {words.error(min(tried))}, in one class by about {alone}"
        text = f"{count(found['number'])} of {reach} rows{off}. Each row's class is published."
        return {"Classes": f"{text} {words.ONE_OF_THEM}"}


def cut_on(one: ClassEntry, name: Callable[[str], str]) -> str:
    """Say what a class was cut on; `name` writes an item."""
    with_: list[str] = []
    without: list[str] = []
    for cut in one["cuts"]:
        (with_ if cut["holds"] else without).append(name(cut["item"]))
    parts = [f"with {', '.join(with_)}"] if with_ else []
    if without:
        few = ", ".join(without[:3])
        parts.append(f"without {few}" + (f" and {count(len(without) - 3)} more" if len(without) > 3 else ""))
    return "; ".join(parts) or "all rows"


def _classes(report: Record) -> blocks.Section | None:
    """Show the classes by their size."""
    found = report["classes"]
    by_size = sorted(found["classes"], key=lambda one: -one["rows"])
    rows = [
        (
            str(one["class"]),
            cut_on(one, partial(shown, report)),
            count(one["rows"]),
            count(one["labels"]),
            count(one["names_kept"]),
            count(one.get("left_out", 0)),
            "proven" if one.get("proven", True) else words.percent(one["gap"]),
        )
        for one in by_size[:_MOST]
    ]
    heads = ("Class", "Cut on", "Rows", "Labels", "Items by name", "Suppressed", "Gap")
    more = f"<p>And {count(len(by_size) - _MOST)} smaller ones.</p>" if len(by_size) > _MOST else ""
    proven = sum(one.get("proven", True) for one in found["classes"])
    holds = (
        f"It is {'' if proven else 'not '}proven to lose the least. "
        if found["number"] == 1
        else f"The guarantee holds in every class. {count(proven)} of them {'is' if proven == 1 else 'are'} "
        "proven to lose the least. "
    )
    text = (
        f"The rows are in {count(found['number'], 'class', 'classes')}. {holds}"
        "The column <i>Cut on</i> is internal. But the counts of a class show which items all rows contain."
    )
    tried = "".join(
        f"<p>Classes of at least {count(one['class_size'])} rows: {count(one['classes'])}, pairs off by "
        f"{words.error(one['error'])}.</p>"
        for one in found.get("tried", ())
    )
    if "one_class_error" in found:
        tried += f"<p>One class: pairs off by about {words.error(found['one_class_error'])}.</p>"
    return blocks.fold(
        "Classes",
        f"{count(found['number'], 'class', 'classes')}: their rows, what each was cut on, labels, gaps.",
        f"<p>{text}</p>",
        blocks.grid(heads, rows, "8% 36% 11% 11% 14% 11% 9%", numbers=True),
        more,
        tried,
    )


def _shares(report: Record) -> blocks.Section | None:
    """Say what nearly all rows of a class have in common."""
    counts = report.get("counts")
    if not counts:
        return None
    whole = [one for one in counts["sure"] if not one["label"]]
    limit = words.percent(counts["sure_from"])
    named = [
        f"class {one['class']}: {shown(report, one['item'])} ({count(one['rows'])} of {count(one['of'])})"
        for one in whole[:_MOST]
    ]
    more = f", and {count(len(whole) - _MOST)} more" if len(whole) > _MOST else ""
    said = (
        f"{'; '.join(named)}{more}." if named else f"No item is in more than {limit} of the rows of a class."
    )
    return blocks.fold(
        "Common items of classes",
        f"{count(len(whole))} times an item is in more than {limit} of the rows of a class.",
        f"<p>k^m-anonymity does not bound what is learned of a person whose class is known: an item in more "
        f"than {limit} of the rows of a class is as good as known of all its members. Items that must not "
        "become certain are named with <code>--not-split</code>; sensitive ones with "
        "<code>--sensitive</code> and <code>--rho</code>.</p>",
        f'<p class="names">{said}</p>',
    )


KINDS = (ClassedRows(),)
