"""Tables: columns under broader labels or ranges, and items under broader labels or suppressed."""

from __future__ import annotations

from setveil.base.wording import count
from setveil.judges.utility import Utility
from setveil.report import accuracy, words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run import facts
from setveil.report.run.kinds import Labels, Points, SharedRecord, Use, by_error
from setveil.report.run.kinds.rows import LocalRows, RowsReport


class _TableColumns(RowsReport):
    """Sentences about columns and classes, for any treatment of the items."""

    internal = (*RowsReport.internal, "qi_recoding.csv", "classes.csv")
    untreated = (
        "Quasi-identifiers and items are protected. Columns published unchanged, and any joined later, are "
        "not covered."
    )

    def kept(self, report: Record) -> str:
        """Say what became of items, and how much of the detail of each column is left."""
        losses = report["utility"]["column_losses"]
        left = [f"{words.clip(name, 30)} {words.percent(1 - loss)}" for name, loss in losses.items()]
        said = [
            super().kept(report),
            facts.parts_kept(report) if "facts" in report else "",
            f"Detail left in the columns: {words.listed(left, 8)}." if left else "",
        ]
        return " ".join(filter(None, said))

    def figures(self, report: Record, *, brief: bool = False) -> list[tuple[str, str, str]]:
        """List the measures, after the number of classes."""
        sizes, found = report["utility"]["classes"], super().figures(report, brief=brief)
        if brief:  # T says as much
            found = [figure for figure in found if figure[0] not in ("NCP", "LM")]
        if not sizes["groups"]:
            return found
        smallest, largest = count(sizes["smallest"]), count(sizes["largest"], "row")
        spread = f"of {smallest} to {largest}, median {sizes['median']:g}"
        return [("Classes", count(sizes["groups"]), spread), *found]

    def countable(self, report: Record) -> Points:
        """Say how well supports of labels, and counts over columns and items, can be read off."""
        lines, found = super().countable(report), report.get("answers", {}).get("table_are")
        if found and found["queries"]:
            half = f"off by {words.error(found['median'])}" if found["median"] else "exact"
            text = (
                f"typically {half}; the mean relative error (ARE) is {words.percent(found['mean'])}. "
                f"Measured on {count(found['queries'], 'query', 'queries')} that ask for some columns and "
                "one or two items of a random row."
            )
            lines.append((accuracy.queries_title(report["answers"], columns=True), text))
        return lines

    def uses(self, report: Record) -> list[Use]:
        found, answers = super().uses(report), report.get("answers", {}).get("table_are")
        if answers and answers["queries"]:
            found.append((by_error(answers["median"]), "counts over columns and items together"))
        return found

    def measured(self, utility: Utility, labels: Labels, rows: dict[str, int]) -> list[str]:
        """Say what the columns lost and how large the classes are, before what is said of rows."""
        sizes, lost = utility["classes"], utility["column_losses"]
        lines = ["loss of each column: " + ", ".join(f"{x} {words.measure(lost[x])}" for x in lost)]
        if sizes["groups"]:
            lines.append(
                f"{count(sizes['groups'], 'class', 'classes')} of {count(sizes['smallest'])} to "
                f"{count(sizes['largest'], 'row')}, median {sizes['median']:g}; sum of squared sizes (DM) "
                f"{count(sizes['discernibility'])}"
            )
        wrong = {name: number for name, number in utility.get("uncovered", {}).items() if number}
        lines += [
            f"column {name}: the published label does not represent the value in {count(number, 'row')}"
            for name, number in wrong.items()
        ]
        return lines + super().measured(utility, labels, rows)

    def contents(self, record: SharedRecord) -> Points:
        """Say what names of items are published, and of facts what parts they have."""
        named = [(f"{name} of items", text) for name, text in super().contents(record)]
        return [*named, *facts.shared(record)] if "facts" in record else named

    def sections(self, report: Record) -> list[blocks.Section | None]:
        """Show of facts what each part keeps, the orders that were tried, and what each period keeps."""
        return facts.sections(report) if "facts" in report else []

    def summarized(self, report: Record) -> dict[str, str]:
        """Say of facts what keeps its finest value, and which orders were tried."""
        return facts.summarized(report) if "facts" in report else {}


class Tables(_TableColumns, LocalRows):
    """Each part of the rows has its own labels."""

    recoding = "table"
    term = (
        "Class:",
        "all rows with the same published quasi-identifiers. <b>Generalized:</b> published as a range or "
        "under a broader label, not the same one in every class. <b>Suppressed:</b> omitted from the rows of "
        "a class.",
    )


class TableCuts(_TableColumns):
    """Every value and every item has one label, or none."""

    recoding = "table-cut"
    term = (
        "Class:",
        "all rows with the same published quasi-identifiers. <b>Generalized:</b> published under a broader "
        "name, the same one in every row. <b>Suppressed:</b> omitted from every row.",
    )


KINDS = (Tables(), TableCuts())
