"""Sentences of reports about one kind of release: one file per kind.

A module whose name has no leading underscore holds `KINDS`, the kinds that it speaks for. `kind_of` finds the
one of a report by the `recoding` that its record names, in the file that `_FILES` names or else in any.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Mapping
from functools import cache
from itertools import groupby
from typing import Any, ClassVar

from setveil.base.wording import count
from setveil.judges.utility import Measure, Utility, measures
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.models import promise
from setveil.report.record import Record

_FILES = {
    "global": "rows", "local": "rows", "grouped": "groups", "disassociated": "chunks", "noisy": "blocks",
    "classes": "classes", "facts": "facts", "table": "tables", "table-cut": "tables",
}  # fmt: skip
SharedRecord = Any  # the parts of a record that may be shared: `setveil.report.run.external` makes them
Labels = list[dict[str, Any]]  # supports before and after: `setveil.judges.utility.supports.label_supports`
Points = list[tuple[str, str]]  # a bold beginning and the text that follows it, HTML
Shares = list[tuple[str, str, int]]  # a colour, what became of item occurrences, how many


Use = tuple[str, str]  # one of FIT, and what for

USABLE, ROUGHLY, UNUSABLE = FIT = ("Usable for", "With care for", "Not usable for")


def by_error(error: float) -> str:
    """Judge estimates by their relative error: up to 10% usable, up to 50% with care."""
    return USABLE if error <= 0.1 else ROUGHLY if error <= 0.5 else UNUSABLE


def by_share(kept: float) -> str:
    """Judge what is found by the share that is kept: from 90% on usable, from 50% on with care."""
    return USABLE if kept >= 0.9 else ROUGHLY if kept >= 0.5 else UNUSABLE


def listed_numbers(shared: Iterable[tuple[str, int | str]]) -> str:
    """List items with how many rows contain them."""
    return ", ".join(f"{item}: {number}" for item, number in shared)


class ReportKind:
    """The words for one kind of release. The defaults suit one without measures."""

    recoding: ClassVar[str]
    """The name of this kind in a record."""
    term: ClassVar[tuple[str, str]]
    """The word of this kind that needs an explanation, and that explanation as HTML."""
    counts_whole: ClassVar[bool] = True
    """Return whether the published counts cover all rows of an item, as it has one label in all of them."""
    untreated: ClassVar[str] = (
        "Only the items are protected. A name, a date, a place or any other column joined to them is not "
        "covered."
    )
    """The protected parts of a row, and parts that the guarantee does not cover."""
    supports_differ: ClassVar[str] = "rows or items were changed, added or lost"
    """Why a label may have another support than the items that it represents."""

    def loss(self, _report: Record) -> str:
        """State what became of the item occurrences, in one sentence."""
        return "No information loss is measured for this kind of release."

    def kept(self, report: Record) -> str:
        """State briefly what is left of the items."""
        return self.loss(report)

    def unchanged(self, _report: Record) -> float | None:
        """Share of the item occurrences that are as they were; None: little of it says nothing here."""
        return None

    def shares(self, _report: Record) -> Shares:
        """List what became of the item occurrences, first those that were not changed."""
        return []

    def items(self, report: Record) -> str:
        """State what became of the items, in a few words."""
        return f"{count(report['input']['items'])} in the data."

    def item_tiles(self, _report: Record) -> Points:
        """Give numbers of items and labels, each with what it means."""
        return []

    def countable(self, _report: Record) -> Points:
        """Say which counts can be read from the release, and how well."""
        return []

    def contents(self, _record: SharedRecord) -> Points:
        """Say what is published, from what may be shared (see `setveil.report.run.external`)."""
        return []

    def countable_outside(self, _record: SharedRecord) -> Points:
        """Say which counts can be read from the release, from what may be shared."""
        return []

    tells_shares: ClassVar[bool] = True
    """Return whether occurrences are published as shares of all."""

    def measured(self, _utility: Utility, _labels: Labels, _rows: dict[str, int]) -> list[str]:
        """Say what else was measured, in lines (see `setveil.report.measures.measures_text`)."""
        return ["No measure applies to this kind of release."]

    def uses(self, _report: Record) -> list[Use]:
        """Say what the release can be used for, as far as it was measured (docs/report.md has the rules)."""
        return []

    def overlap(self, _report: Record) -> str:
        """Say what this kind costs anyone who counts labels; empty where it costs nothing."""
        return ""

    def instead(self, _report: Record) -> str:
        """Say what to count where counts of the original items are far off."""
        return "Such counts cannot be read from the release."

    published: ClassVar[tuple[str, ...]] = ()
    """Files that are always published next to the data."""
    internal: ClassVar[tuple[str, ...]] = ()
    """Files below internal/ that not every kind of release has."""

    row_heads: ClassVar[tuple[str, ...]] = ()
    """Heads of what is published of a row next to its items."""

    def row_cells(self, _after: Mapping[str, Any]) -> list[str]:
        """Say below `row_heads` what is published of a row (see `Exposed.became`)."""
        return []

    def instead_of_items(self, after: Mapping[str, Any] | None) -> str:
        """Say where to look if no published row has the items of an input row; empty where one has them."""
        return "see the published file" if after is None else ""

    def sections(self, _report: Record) -> list[blocks.Section | None]:
        """Make further sections of the page, to be folded."""
        return []

    def holds_for(self, _report: Record) -> str:
        """Say for whom else the guarantee holds, in a sentence; empty where it says so itself."""
        return ""

    def summarized(self, _report: Record) -> dict[str, str]:
        """Give further lines of the summary, by their labels."""
        return {}

    def counted(self, _report: Record) -> str:
        """Say what the file of counts holds, as HTML, where it is of a form of its own; else empty."""
        return ""

    def figures(self, report: Record, *, brief: bool = False) -> list[tuple[str, str, str]]:
        """List the measures: a name, a value, what it means; `brief`: only those for a summary."""
        out = []
        for one in measures(self.recoding):
            value = one.value(report["utility"]) if one.title and one.reported else None
            if value is not None and (one.summarized or not brief):
                out.append((one.title, words.number_of(one, value), self.meaning(one, report)))
        return out

    def meaning(self, one: Measure, report: Record) -> str:
        """Say what a measure is."""
        return words.spoken(report, one.meaning)

    def spoken(self, text: str) -> str:
        """Say of what is published what a text says of items."""
        return text

    def readings(self, found: list[Measure]) -> Points:
        """Explain measures, those together that are explained alike."""
        return [
            (words.and_list([one.title for one in alike]), text)
            for text, alike in groupby(found, key=lambda one: one.reading)
            if text
        ]

    def shown(self, report: Record) -> list[Measure]:
        """List the measures that the page of a run shows."""
        return [one for one in measures(self.recoding) if one.reported and one.name in report["utility"]]

    def handed_out(self, report: Record) -> list[Measure]:
        """List the measures that may be shared, rounded."""
        return [one for one in self.shown(report) if one.handed_out]


@cache
def _kinds() -> dict[str, ReportKind]:
    found: dict[str, ReportKind] = {}
    for module in pkgutil.iter_modules(__path__):
        if not module.name.startswith("_"):
            found |= _kinds_in(module.name)
    return found


@cache
def _kinds_in(file: str) -> dict[str, ReportKind]:
    loaded = importlib.import_module(f"{__name__}.{file}")
    return {kind.recoding: kind for kind in loaded.KINDS}


def kinds() -> tuple[ReportKind, ...]:
    """List the words for all kinds of releases."""
    return tuple(_kinds().values())


def kind_named(recoding: str) -> ReportKind:
    """Find the words for a kind of release."""
    file = _FILES.get(recoding)
    kind = (_kinds() if file is None else _kinds_in(file)).get(recoding)
    if kind is None:
        raise ValueError(f"No words for releases of the kind {recoding!r}.")
    return kind


def kind_of(report: Record) -> ReportKind:
    """Find the words for the kind of release that a record is about."""
    return kind_named(report["recoding"])


def promised(report: Record) -> str:
    """State what is guaranteed, and whom else it holds for in releases of this kind."""
    said = promise(report["guarantee"], words.unit(report))
    return " ".join(filter(None, (said, kind_of(report).holds_for(report))))
