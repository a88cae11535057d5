"""Words and columns of an advice for each kind of data: rows, sensitive items, tables."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar, NotRequired, TypedDict

from setveil.judges.utility import named
from setveil.report import words
from setveil.report.record import Null

Row = dict[str, Any]  # a method that was tried, with measures by name


class Recommended(TypedDict):
    """The answer of ``recommend --json``."""

    by: str
    known: int
    hierarchy: bool
    share: NotRequired[str]
    asked: NotRequired[str]
    inputs: list[str]
    best: Row | Null
    answering: Row | Null
    one_label: Row | Null
    safer: Row | Null
    regrouping: NotRequired[dict[str, Any]]  # other groups that halve the loss
    candidates: list[Row]
    made_on: str
    setveil: str


LOSSES = (("R", "relational_loss"), ("T", "transaction_loss"))  # parts of the loss of a table
_SUPPRESSED = "suppressed: share of occurrences."


class TriedRows:
    """Columns and sentences for rows of items; the defaults of other kinds of data."""

    heads: ClassVar[tuple[str, ...]] = (
        "method", "loss", "query error", "itemsets kept", "suppressed", "unique rows", "time",
    )  # fmt: skip
    loss: ClassVar[str] = "LM"
    measure: ClassVar[str] = "lm"  # the column of the loss where something else decides
    known: ClassVar[str] = ""  # what someone knows in addition to items
    their: ClassVar[str] = "their"
    pairs: ClassVar[str] = "of item pairs"  # which queries are asked
    drawn: ClassVar[str] = "two items"  # what a random query is for

    def __init__(self, advice: Recommended) -> None:
        """Take what was tried."""
        self.advice = advice

    @property
    def error(self) -> str:
        """The column of the errors of queries."""
        return "are_mean"

    @property
    def shown_error(self) -> str:
        """The column that is shown: the query error as everywhere; the mean if it decides."""
        return "are_mean" if self.advice["by"] == "are_mean" else self.error.replace("mean", "median")

    def cells(self, row: Row) -> tuple[str, ...]:
        """Write the numbers of a candidate for a line of the table, its place before and its name first."""
        place = f"{row['rank']}." if row["rank"] else "-"
        if row["status"] != "done":
            return (place, row["name"], *[""] * (len(self.heads) - 2), row["status"])
        lost = row["loss"] if self.advice["by"] == "lm" else row.get(self.measure)
        return (
            place,
            row["name"],
            "" if lost is None else words.measure(lost),
            *self._figures(row),
            "" if row.get("risk_below_2") is None else words.percent(row["risk_below_2"], row["rows"]),
            f"{row['seconds']:.1f} s",
        )

    def _figures(self, row: Row) -> tuple[str, ...]:
        """Write what is between loss and unique rows."""
        frequent = row.get("itemsets_frequent")
        kept = "" if not frequent else words.percent(row["itemsets_kept"] or 0, frequent)
        return (self._query_error(row), kept, self._suppressed_words(row))

    def _query_error(self, row: Row) -> str:
        error = row.get(self.shown_error)
        return "" if error is None else words.percent(error)

    def _suppressed_words(self, row: Row) -> str:
        gone = row.get("suppressed_occurrences")
        return "" if gone is None else words.percent(gone, row["occurrences"])

    def loss_explained(self) -> str:
        """Say what the loss is."""
        return f"LM, {named('lm').meaning}"

    def columns_explained(self) -> list[str]:
        """Say what the columns up to unique rows are."""
        kept = "itemsets kept: of those in 1% of the rows, up to three items."
        return [*self._loss_and_error_explained(), kept, _SUPPRESSED]

    def _loss_and_error_explained(self) -> list[str]:
        by_user = self.advice["by"] == "are_mean"
        queries = "your queries" if by_user else f"1,000 random queries for {self.drawn}"
        middle = "mean" if by_user else "median"
        return [
            f"loss: {self.loss_explained()}, 0 to 1 (nothing left).",
            f"query error: {middle} relative error of {queries}, with published counts where there are any.",
        ]


class TriedWithSensitiveItems(TriedRows):
    """Columns and sentences for rows, if the guarantee bounds inference of sensitive items."""

    heads = (
        "method", "loss", "query error", "suppressed", "hidden", "learned", "unique rows", "time",
    )  # fmt: skip

    def _figures(self, row: Row) -> tuple[str, ...]:
        hidden, most = row.get("hidden_occurrences"), row.get("greatest_confidence")
        return (
            self._query_error(row),
            self._suppressed_words(row),
            "" if hidden is None else f"{hidden:,}",
            "" if most is None else words.percent(most),
        )

    def columns_explained(self) -> list[str]:
        """Say what the columns up to unique rows are."""
        return [
            *self._loss_and_error_explained(),
            "suppressed: share of occurrences; hidden: the sensitive ones among them.",
            "learned: greatest chance to be right about a sensitive item, as far as guaranteed.",
        ]


class TriedTable(TriedRows):
    """Columns and sentences for a table."""

    heads = ("method", "loss", "R", "T", "query error", "suppressed", "unique rows", "time")
    loss = measure = "f"
    known = "all quasi-identifiers and "
    their = "all quasi-identifiers and the"
    pairs = "over columns and items"
    drawn = "columns and items"

    @property
    def error(self) -> str:
        """The column of the errors of queries."""
        return "are_mean" if self.advice["by"] == "are_mean" else "table_are_mean"

    def _figures(self, row: Row) -> tuple[str, ...]:
        losses = (words.measure(row[key]) for _, key in LOSSES)
        return (*losses, self._query_error(row), self._suppressed_words(row))

    def loss_explained(self) -> str:
        """Say what the loss is."""
        share = Fraction(self.advice["share"])
        columns, items = (named(key).meaning for _, key in LOSSES)
        return f"f = {share} R + {1 - share} T, where R is the {columns} and T the {items}"

    def columns_explained(self) -> list[str]:
        """Say what the columns up to unique rows are."""
        return [*self._loss_and_error_explained(), _SUPPRESSED]


def kind_of(advice: Recommended) -> TriedRows:
    """Find out what was tried: the answer says what was asked, or how much columns count."""
    if advice.get("asked"):
        return TriedWithSensitiveItems(advice)
    return TriedRows(advice) if advice.get("share") is None else TriedTable(advice)
