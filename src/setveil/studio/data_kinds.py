"""Kinds of data that a project's settings describe, and what the pages offer for each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from setveil.judges.guarantees import Model
from setveil.report.run import facts
from setveil.runs.options.facts import OF_READING


class RowsOfItems:
    """Rows of items; the defaults of other kinds of data."""

    unit: ClassVar[str] = "item"
    grouped: ClassVar[str] = "items"  # by a hierarchy
    has_parts: ClassVar[bool] = False  # whether an item is a fact: a code with dates or amounts
    usual: ClassVar[str] = "km-anonymity"  # the promise that a project begins with
    settled: ClassVar[str | None] = None  # the promise if no other is chosen; None: what its options describe
    priced: ClassVar[bool] = True  # whether what promises cost is computed beforehand
    not_covered: ClassVar[tuple[tuple[str, str], ...]] = ()  # in addition to what no promise covers
    chosen: ClassVar[bool] = True  # whether another promise can be chosen
    limits: ClassVar[tuple[str, ...]] = ("suppress", "max-suppressed", "keep", "weights")  # of suppression
    absent: ClassVar[bool] = True  # whether an absent item can be covered, too
    sensitive: ClassVar[bool] = True  # whether items can be sensitive
    loss: ClassVar[str] = "loss, from 0 (nothing) to 1 (everything)"
    methods: ClassVar[tuple[str, ...]] = ()  # the only ones; none: all that the promise allows
    rare: ClassVar[bool] = True  # whether rare items can be suppressed before anything else
    recommended: ClassVar[bool] = True  # whether methods are tried and compared
    not_studied: ClassVar[str] = ""  # why the studio makes no study of promises; empty: it does
    studied_by: ClassVar[str] = ""  # the command that does
    searched: ClassVar[bool] = True  # whether exploring takes the options of a search
    in_series: ClassVar[bool] = True
    read_with: ClassVar[tuple[str, ...]] = ()  # options that say how such data are read

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """Take a project's settings."""
        self.settings = settings

    @property
    def lists(self) -> list[str]:
        """The columns of codes if each is a list of its own; a single one, or none: they are not."""
        return []

    def takes(self, method: str) -> bool:
        """Return whether a method that the promise allows makes releases of such data."""
        return not self.methods or method in self.methods

    def offers(self, model: Model) -> bool:
        """Return whether the page Promise offers a promise."""
        return self.chosen and (model.release == "tables") == (self.usual == TableOfItems.usual)

    def keeps_model(self, model: Any) -> str | None:
        """Return the promise of settings after the data were read so; None: the usual one."""
        return None if model == TableOfItems.usual else model


class TableOfItems(RowsOfItems):
    """A table: rows with further columns that someone may know."""

    usual = settled = "kkm"
    limits = ()
    absent = sensitive = rare = searched = in_series = False
    loss = "loss of columns and items together"
    not_studied = "Data with other columns are studied on the command line."
    studied_by = "setveil compare"

    def keeps_model(self, _model: Any) -> str | None:
        """Return the promise of settings after the data were read so."""
        return self.usual


class RowsOfFacts(RowsOfItems):
    """Rows of facts: codes with dates or amounts, or with an m of their own."""

    unit, grouped = "fact", "codes"
    has_parts = True
    not_covered = facts.OPEN
    priced = chosen = sensitive = rare = recommended = False
    limits = ("suppress", "max-suppressed")
    methods = ("exact", "aa", "da", "hghs", "mhghs")  # the usual one first
    not_studied = (
        "There are no studies of facts: a run tries every order, and its page lists the loss of each."
    )
    read_with = OF_READING

    @property
    def lists(self) -> list[str]:
        """The columns of codes if each is a list of its own; a single one, or none: they are not."""
        return [text.partition(":m=")[0] for text in _sets(self.settings)]

    def keeps_model(self, _model: Any) -> str | None:
        """Return the promise of settings after the data were read so: always the usual one."""
        return None


def kind_of(settings: Mapping[str, Any]) -> RowsOfItems:
    """Find out what a project's settings describe: dates and amounts are named, or columns of people."""
    own_m = any(":m=" in text for text in _sets(settings))
    if own_m or settings.get("when") or settings.get("amount"):
        return RowsOfFacts(settings)
    return TableOfItems(settings) if "qi" in settings or "roles" in settings else RowsOfItems(settings)


def _sets(settings: Mapping[str, Any]) -> list[str]:
    sets = settings.get("set", "")
    return [str(one) for one in (sets if isinstance(sets, list) else [sets])]
