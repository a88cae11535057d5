"""Rows of facts: codes with periods and bands of amounts, each as narrow as the guarantee allows."""

from __future__ import annotations

from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run import facts
from setveil.report.run.kinds import Points, SharedRecord
from setveil.report.run.kinds.rows import RowsReport
from setveil.report.words import about_facts


class FactsReport(RowsReport):
    """Every fact has one label, a box of facts, or none."""

    recoding = "facts"
    term = (
        "Generalized:",
        "published with a broader code, a longer period or a wider band. Two facts of a row that get the "
        "same name are published once. <b>Suppressed:</b> omitted from every row.",
    )

    untreated = (
        "Only the parts of facts are protected. A name, a place or any other column joined to them is not "
        "covered."
    )

    def spoken(self, text: str) -> str:
        """Say of facts what a text says of items."""
        return about_facts(text)

    def sections(self, report: Record) -> list[blocks.Section | None]:
        """Show what each part keeps, the orders that were tried, and what each period keeps."""
        return facts.sections(report)

    def contents(self, record: SharedRecord) -> Points:
        """Say what parts facts have, and what names are published."""
        named, *others = super().contents(record)
        return [named, *facts.shared(record), *others]

    def kept(self, report: Record) -> str:
        return f"{super().kept(report)} {facts.parts_kept(report)}"

    def summarized(self, report: Record) -> dict[str, str]:
        """Say what keeps its finest value, and which orders were tried."""
        return facts.summarized(report)


KINDS = (FactsReport(),)
