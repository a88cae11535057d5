"""Words, columns and curves of an exploration for each kind of data: rows, sensitive items, tables, facts."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import ClassVar

from setveil.judges.utility import named
from setveil.report import words
from setveil.report.drawing.scales import Kind
from setveil.report.explore.cells import AT_MOST, Explored, ExploredCell, has_rho, loss_text

Curve = tuple[str, str, Kind, bool, Callable[[ExploredCell, Explored], float | None]]
# Losses that no measure is: the measure beside them, their names, what is different.
_NEAR = {
    "items": ("lm", words.objective("items"), ""),
    "entropy-max": ("entropy", "entropy-max", "; suppressed items count more"),
}
_SUPPRESSED = "suppressed: share of occurrences."
_LOSS: Curve = ("Loss", "0 to 1", "root", False, lambda cell, _: cell["loss"])
_OF_ALL: tuple[Curve, ...] = (
    ("Query error", "median of random queries", "spread", True, lambda cell, _: cell["query_error"]),
    (
        "Unique rows", "share of the rows", "root", True,
        lambda cell, found: None if cell["unique_rows"] is None else cell["unique_rows"] / found["rows"],
    ),
)  # fmt: skip


class ExploredRows:
    """Columns and sentences for rows of items; the defaults of other kinds of data."""

    unit: ClassVar[str] = "item"
    least: ClassVar[str] = "possible"  # among what a loss that is proven is the least
    known: ClassVar[str] = "their"  # what someone knows in addition to items
    curves: tuple[Curve, ...] = (
        (
            "Unchanged items", "share of the items", "linear", True,
            lambda cell, found: cell["items_kept"] / found["items"],
        ),
    )  # fmt: skip

    def __init__(self, found: Explored) -> None:
        """Take what explore found."""
        self.found = found

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of the columns of the table of all figures."""
        return ("loss", "unchanged", "occurrences", "suppressed", "query error", "unique rows")

    @property
    def loss(self) -> tuple[str, str]:
        """Name of the loss, and what it is."""
        objective, weighted = self.found["objective"], "weighted " if self.found.get("weighted") else ""
        near, title, more = _NEAR.get(objective, (objective, "", ""))
        what = named(near)
        return f"{weighted}{title or what.title}", f"{what.meaning}{more}"

    def numbers(self, cell: ExploredCell, mark: str = AT_MOST) -> tuple[str, ...]:
        """Write what is known of a cell's release, for the columns `heads`; `mark` is before a bound."""
        if cell["loss"] is None:
            return ("-", *[""] * (len(self.heads) - 1))
        return (loss_text(cell, mark), *self._figures(cell))

    def _figures(self, cell: ExploredCell) -> tuple[str, ...]:
        """Write the figures of a release other than its loss."""
        return (*self._kept(cell), self._suppressed_words(cell), self._query_error(cell), self._unique(cell))

    def _kept(self, cell: ExploredCell) -> tuple[str, ...]:
        return (
            words.percent(cell["items_kept"], self.found["items"]),
            words.percent(cell["occurrences_kept"], self.found["occurrences"]),
        )

    def _suppressed_words(self, cell: ExploredCell) -> str:
        return words.percent(cell["suppressed_occurrences"], self.found["occurrences"])

    def _query_error(self, cell: ExploredCell) -> str:
        return "" if cell["query_error"] is None else words.percent(cell["query_error"])

    def _unique(self, cell: ExploredCell) -> str:
        if cell["unique_rows"] is None:
            return ""
        about = "" if cell["unique_exact"] else "about "
        return about + words.percent(cell["unique_rows"], self.found["rows"])

    def columns_explained(self) -> list[str]:
        """Say what the columns between loss and unique rows mean."""
        return [
            "unchanged: items that keep their own label; occurrences: their share of all occurrences.",
            _SUPPRESSED,
            "query error: median relative error of 1,000 random queries for two items, answered with the "
            "counts.",
        ]

    def all_curves(self) -> tuple[Curve, ...]:
        """List what is drawn against k."""
        return (_LOSS, *self.curves, *_OF_ALL)

    def method(self) -> tuple[str, str] | None:
        """Return the head and the text of how items are generalized; None: by the hierarchy."""
        return None


class WithSensitiveItems(ExploredRows):
    """Columns and sentences for rows, if guarantees bound the chance of a sensitive item."""

    curves = (
        *ExploredRows.curves,
        (
            "Greatest chance of a sensitive item", "with what the guarantee covers", "linear", True,
            lambda cell, _: cell["greatest_confidence"],
        ),
        (
            "Hidden", "occurrences of sensitive items", "linear", False,
            lambda cell, _: cell["hidden_occurrences"],
        ),
    )  # fmt: skip

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of the columns of the table of all figures."""
        kept = ("unchanged", "occurrences", "suppressed", "hidden", "learned")
        return ("loss", "gap", *kept, "query error", "unique rows")

    def _figures(self, cell: ExploredCell) -> tuple[str, ...]:
        most = cell["greatest_confidence"]
        return (
            words.percent(cell["gap"]),
            *self._kept(cell),
            self._suppressed_words(cell),
            f"{cell['hidden_occurrences']:,}",
            "" if most is None else words.percent(most),
            self._query_error(cell),
            self._unique(cell),
        )

    def columns_explained(self) -> list[str]:
        """Say what the columns between loss and unique rows mean."""
        return [
            super().columns_explained()[0],
            "suppressed: share of occurrences; hidden: the sensitive ones among them.",
            "learned: greatest chance to be right about a sensitive item, with what the guarantee covers.",
            "query error: median relative error of 1,000 random queries for two items.",
            "gap: share of the loss that may be too much; 0%: proven.",
            "front (*): every stronger guarantee loses more.",
        ]


class ExploredTable(ExploredRows):
    """Columns and sentences for a table with further columns."""

    known = "all quasi-identifiers and the"
    curves = (
        ("Loss of the columns", "R, 0 to 1", "root", False, lambda cell, _: cell["relational_loss"]),
        ("Loss of the items", "T, 0 to 1", "root", False, lambda cell, _: cell["transaction_loss"]),
    )

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of the columns of the table of all figures."""
        return ("loss", "R", "T", "classes", "suppressed", "query error", "unique rows")

    @property
    def loss(self) -> tuple[str, str]:
        """Name of the loss, and what it is."""
        share = Fraction(self.found["share"])
        columns, items = (named(name).meaning for name in ("relational_loss", "transaction_loss"))
        return "f", f"{share} R + {1 - share} T, where R is the {columns} and T the {items}"

    def _kept(self, cell: ExploredCell) -> tuple[str, ...]:
        losses = (words.measure(cell[name]) for name in ("relational_loss", "transaction_loss"))
        return (*losses, f"{cell['classes']:,}")

    def columns_explained(self) -> list[str]:
        """Say what the columns between loss and unique rows mean."""
        return [
            f"classes: rows with the same published quasi-identifiers. {_SUPPRESSED}",
            "query error: median relative error of 200 random queries for columns and items, answered with "
            "the counts.",
        ]

    def method(self) -> tuple[str, str] | None:
        """Return the head and the text of how items are generalized."""
        return "Classes", "of the size that loses least; parts split where that gains were not tried"


class ExploredFacts(ExploredRows):
    """Columns and sentences for rows of facts: codes with dates or amounts, or of several columns."""

    unit = "fact"
    least = "of all orders"

    @property
    def heads(self) -> tuple[str, ...]:
        """Names of the columns of the table of all figures."""
        return ("loss", "order", *self.found["parts"], "all", "suppressed", "unique rows")

    @property
    def loss(self) -> tuple[str, str]:
        """Name of the loss, and what it is."""
        if self.found["fact_loss"] == "parts" and self.found["objective"] == "lm":
            return "loss by parts", "average of what each part of a fact loses by itself, by weight"
        return super().loss

    def _figures(self, cell: ExploredCell) -> tuple[str, ...]:
        shares = [*(cell["kept"][part] for part in self.found["parts"]), cell["whole"]]
        return (cell["order"], *map(words.percent, shares), self._suppressed_words(cell), self._unique(cell))

    def columns_explained(self) -> list[str]:
        """Say what the columns between loss and unique rows mean."""
        names = words.and_list(self.found["parts"])
        return [
            "order: where periods and bands are dropped: first, last, or at a depth of the codes' hierarchy.",
            f"{names}: share of all facts that keep it at its finest; all: that keep every part.",
            _SUPPRESSED,
        ]

    def all_curves(self) -> tuple[Curve, ...]:
        """List what is drawn against k."""
        return (_LOSS, *map(_part_kept, self.found["parts"]), *_OF_ALL)

    def method(self) -> tuple[str, str] | None:
        """Return the head and the text of how items are generalized."""
        return "Orders", "in which parts are dropped: those that are tried for each release"


def _part_kept(part: str) -> Curve:
    """Draw how many facts keep a part."""
    return f"Kept: {part}", "share of the facts", "linear", True, lambda cell, _: cell["kept"][part]


def kind_of(found: Explored) -> ExploredRows:
    """Find out what was explored: the answer has keys that only one kind of data has."""
    if has_rho(found):
        return WithSensitiveItems(found)
    if "parts" in found:
        return ExploredFacts(found)
    return ExploredTable(found) if "share" in found else ExploredRows(found)
