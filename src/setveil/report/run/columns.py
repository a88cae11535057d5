"""The part of a run's page about a table: the loss of each column, its classes, what was kept and dropped."""

from __future__ import annotations

from itertools import pairwise

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record, TableEntry

_SIZES = (2, 5, 10, 20, 50, 100, 500, 1000, 5000)  # classes are counted between these


def columns(report: Record) -> list[blocks.Section | None]:
    """Show the columns of a table and its classes as sections; nothing for rows of items."""
    table = report.get("table")
    if not table:
        return []
    return [_quasi_identifiers(report, table), _classes(report), _others(report, table)]


def _quasi_identifiers(report: Record, table: TableEntry) -> blocks.Section | None:
    lost = report["utility"]["column_losses"]
    lines = [
        (
            blocks.data(column["name"]),
            [
                f"{count(column['values'])}{' numbers' if column['kind'] == 'numeric' else ''}",
                count(column["labels"]),
                words.measure(lost[column["name"]]),
            ],
            lost[column["name"]],
        )
        for column in table["columns"]
    ]
    parts = [f"{blocks.data(name)} {words.measure(loss)}" for name, loss in lost.items()]
    return blocks.fold(
        "Information loss by column",
        f"Loss (NCP): {', '.join(parts)}.",
        blocks.paragraph(
            "Loss (NCP): 0 if every value is unchanged, 1 if nothing is left. A "
            "range loses its share of the whole span, a broader label its share of all values."
        ),
        blocks.table(("Column", "Values", "Labels", "Loss", ""), lines, "34% 15% 13% 13% 25%"),
    )


def _classes(report: Record) -> blocks.Section | None:
    """Show how many classes, and rows, there are of each size."""
    sizes = report["utility"]["classes"]
    distribution: list[list[int]] = sizes["distribution"]
    if not distribution:
        return None
    ends = [*_SIZES, distribution[-1][0] + 1]
    lines, whole = [], sum(size * number for size, number in distribution)
    for low, high in pairwise([1, *(end for end in ends if end > 1)]):
        inside = [(size, number) for size, number in distribution if low <= size < high]
        rows = sum(size * number for size, number in inside)
        if rows:
            few, most = min(inside)[0], max(inside)[0]
            name = count(few, "row") if few == most else f"{count(few)} to {count(most, 'row')}"
            classes = sum(number for _, number in inside)
            lines.append((name, [count(classes), count(rows), words.percent(rows, whole)], rows / whole))
    reach = f"{count(sizes['smallest'])} to {count(sizes['largest'], 'row')}"
    return blocks.fold(
        "Classes by size",
        f"{count(sizes['groups'], 'class', 'classes')} of {reach}, median {sizes['median']:g}.",
        blocks.paragraph(
            f"{count(sizes['groups'], 'class', 'classes')} of rows with the same published "
            "quasi-identifiers. Small classes keep columns exact and lose items, large ones keep items and "
            "blur columns. Bars: share of all rows."
        ),
        blocks.table(("Size", "Classes", "Rows", "Share", ""), lines, "34% 15% 13% 13% 25%"),
    )


def _others(report: Record, table: TableEntry) -> blocks.Section | None:
    """Name the columns that were kept, with a warning, and those that were dropped."""
    points = []
    shares = report["utility"].get("kept_shares", {})
    for column in table["kept"]:
        unique = (
            f" {count(column['unique'], 'value')} {are(column['unique'])} in one row only: someone who knows "
            "one finds its row."
            if column["unique"]
            else ""
        )
        share = (
            f" In some class {words.percent(shares[column['name']])} of the rows have the same value."
            if column["name"] in shares
            else ""
        )
        points.append(
            (
                f"{blocks.data(column['name'])} is published as it was:",
                f"right only if nobody outside can know it.{share}{unique}",
            )
        )
    if table["dropped"]:
        names = ", ".join(blocks.data(name) for name in table["dropped"])
        points.append(("Not published:", names))
    if not points:
        return None
    inside = [
        f"{count(len(found), 'column')} {what}."
        for found, what in ((table["kept"], "published as they were"), (table["dropped"], "not published"))
        if found
    ]
    return blocks.fold("Other columns", " ".join(inside), blocks.points(points))
