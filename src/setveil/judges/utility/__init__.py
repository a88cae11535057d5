"""Information loss: one file per measure, from original and published rows and the meaning of labels.

A module without leading underscore may have `MEASURES`, records that reports, studies and figures use;
omitted ones (`Measure.columns`, `Measure.compared`) follow from the others. Other measures come from files
that the user named, or installed packages, as entry points of the group `setveil.measures`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from setveil.base import plugins
from setveil.base.errors import RequestError
from setveil.base.plugins import PluginFile
from setveil.base.progress import Progress, silent

GROUP = "setveil.measures"  # of entry points
ROWS = ("global", "local", "classes")
TABLES = ("table", "table-cut")
ITEMS = (*ROWS, *TABLES)
FACTS = ("facts",)
GROUPS = ("grouped",)
CHUNKS = ("disassociated",)
NOISY = ("noisy",)

Row = Mapping[str, Any]  # of a study's table
Utility = Mapping[str, Any]  # all measures of a release by name
Scale = Literal["linear", "log", "spread", "exponent"]
Section = Literal["loss", "answers", "risk", "time", "more"]


@dataclass(frozen=True, eq=False)
class Case:
    """The input of measures."""

    original: Any
    # what the record of a run calls the recoding: one of `ROWS`, `TABLES`, `GROUPS`, `CHUNKS`, `NOISY`
    kind: str
    published: Any  # Transactions: the rows after; of rows in groups, after: their quasi-identifiers
    # PublishedChunks or None: what is published of rows in chunks; then `published` is this, too
    chunks: Any = None
    # PublishedBlocks or None: noisy counts; then `published` are the rows that were drawn from them
    blocks: Any = None
    about: Any = field(default_factory=dict)  # mapping: of about.json, what answers depend on
    # Recoding, LocalRecoding or None: what each item, or each occurrence, of the original became; None for
    # rows in groups
    recoding: Any = None
    groups: Any = None  # PublishedGroups or None: what is published of rows in groups
    table: Any = None  # PublishedTable or None: what is published of a table; then `published` are its items
    # int64 (n_rows,) or None: the published row of each row of a table; None where nobody knows
    row_map: Any = None
    counts: Any = None  # Counts or None: the supports of items beside the rows
    top: int = 0  # so many itemsets in most rows are compared; 0: not asked for
    # {"entropy", "uniform"}: how a reader estimates: with the counts, if there are any, or from the rows
    # alone
    estimator: str = "entropy"
    hierarchy: Any = None  # Hierarchy or None: where labels shall be weighed by it
    queries: Any = ()  # sequence of sequences of str: COUNT queries over items of the original
    # group_by, random_queries, seed: the group-by queries to draw
    group_by: int = 4
    random_queries: int = 1000
    seed: int = 0
    progress: Progress = silent
    _found: dict[Any, Any] = field(default_factory=dict)

    @property
    def mapped(self) -> bool:
        """Return whether it is known which published row of a table is whose."""
        return self.row_map is not None

    def once(self, work: Callable[[Case], Any]) -> Any:
        """Do work that several measures share."""
        if work not in self._found:
            self._found[work] = work(self)
        return self._found[work]


@dataclass(frozen=True)
class StudyColumn:
    """A column of a study's table."""

    name: str
    of: Callable[[Utility], Any]  # its value from all measures of a release by name; None: not measured
    type: type = float  # of its values


@dataclass(frozen=True)
class Compared:
    """A number of a study's runs by which they are drawn and listed."""

    stem: str  # beginning of a file name
    axis: str  # its name on an axis, short
    about: str  # what it is, for a caption
    # column, whole: the column of the table that holds it; where `whole` is given, it is a share of that
    # column's value
    column: str
    whole: str = ""
    # How it is drawn. "spread": logarithmic, but with zero, where values differ much; "exponent": for values
    # that are logarithms, and may be negative.
    scale: Scale = "linear"
    percent: bool = False  # whether it is a share
    head: str = ""  # its name above a column; by default from its axis
    section: Section = "more"  # where the report shows its figures
    listed: bool = True  # whether the tables of the report list it
    # whether it may be the loss by which methods are compared, of which less is better: the first that every
    # release has
    decides: bool = False
    place: int = 100  # where it stands among the others
    # how a value is written; by default with three digits, or as a share
    write: Callable[[float], str] | None = None
    # whether it counts what is published under its own name, which a local recoding may do in some rows only
    own_names: bool = False
    # whether a report that leaves the house may show it: it must not tell how many items the original rows
    # hold
    handed_out: bool = False
    reading: str = ""  # what a reader must know of it, after its name

    def of(self, row: Row) -> float | None:
        """Take its value from a run; None where the run has none."""
        part: float | None = row.get(self.column)
        if not self.whole:
            return part
        whole: float | None = row.get(self.whole)
        return part / whole if part is not None and whole else None


def _itself(value: Any) -> float | None:
    return None if value is None else float(value)


@dataclass(frozen=True)
class Measure:
    """A measure of a release, and its report."""

    name: str  # its key in `utility`
    title: str = ""  # its name in texts; empty: no line, no box and no figure of its own
    # its value (JSON types) from a `Case`; None: computed by those who ask for it
    compute: Callable[[Case], Any] | None = None
    meaning: str = ""  # what it is, in words that follow its value
    place: int = 100  # where it stands among the others
    kinds: tuple[str, ...] = ITEMS  # kinds of recodings that it applies to
    needs: str = ""  # attribute of `Case` without which it is not computed; empty: it always is
    unit: str = ""  # of its number; empty for shares and other ratios
    # low, high: range of its number; None: no limit
    low: float | None = 0
    high: float | None = 1
    better: Literal["less", "more", ""] = "less"  # which direction of its number is better; empty: neither
    # the number that stands for its value; None where there is none
    number: Callable[[Any], float | None] = _itself
    form: Literal["number", "power of 2"] = "number"  # how that number is written
    reading: str = ""  # how to read it, in words that follow its title; measures with equal words share them
    # whether it depends on how many items exist, so that only releases of one hierarchy compare
    domain: bool = False
    # told, summarized: whether the page of a run shows it, and its summary as text
    reported: bool = True
    summarized: bool = True
    # Whether the page that leaves the house tells its number, rounded; it must be between 0 and 1.
    # docs/report.md gives the reasons.
    handed_out: bool = False
    # whether it is an average over all occurrences of the original, in which suppressed occurrences lose all
    of_occurrences: bool = False
    # what it adds to a study's table; by default its number under its name
    columns: tuple[StudyColumn, ...] | None = None
    # how a study's report shows it; by default as one of the losses, or gains
    compared: tuple[Compared, ...] | None = None

    def value(self, utility: Utility) -> float | None:
        """Take its number from all measures of a release; None where it was not measured."""
        found = utility.get(self.name)
        return None if found is None else self.number(found)

    def in_table(self) -> tuple[StudyColumn, ...]:
        """Columns of a study's table."""
        return (StudyColumn(self.name, self.value),) if self.columns is None else self.columns

    def in_figures(self) -> tuple[Compared, ...]:
        """Numbers by which a study's runs are compared."""
        if self.compared is not None or not self.title:
            return self.compared or ()
        lost = self.better == "less"
        what = f"Loss ({self.title})" if lost else self.title
        better = f" {self.better.capitalize()} is better." if self.better else ""
        stem, axis = (f"loss_{self.name}", f"loss ({self.title})") if lost else (self.name, self.title)
        column = self.in_table()[0].name
        about = f"{what}: {self.meaning}.{better}"
        return (Compared(stem, axis, about, column, decides=lost, handed_out=self.handed_out),)


def measures(kind: str | None = None) -> tuple[Measure, ...]:
    """Find all measures, or those of a kind of recoding, in their order."""
    every = _measures(plugins.files("MEASURES"))
    return every if kind is None else tuple(one for one in every if kind in one.kinds)


@cache
def _measures(files: tuple[PluginFile, ...]) -> tuple[Measure, ...]:
    modules = sorted(found.name for found in pkgutil.iter_modules(__path__) if not found.name.startswith("_"))
    found = [
        one
        for name in modules
        for one in getattr(importlib.import_module(f"{__name__}.{name}"), "MEASURES", ())
    ]
    taken = {one.name: "setveil" for one in found}
    for module, where in _of_others(files):
        require_measures(module, where)
        for one in module.MEASURES:
            if one.name in taken:
                raise RequestError(
                    f"{where} contains a measure {one.name}, as {taken[one.name]} does.",
                    hint="Give the measure another name.",
                )
            taken[one.name] = where
            found.append(one)
    return tuple(sorted(found, key=lambda one: (one.place, one.name)))


def _of_others(files: Iterable[PluginFile]) -> Iterator[tuple[Any, str]]:
    """Find the modules with measures of other people, with the words for each in messages."""
    for entry in plugins.offered(GROUP, tuple, "measures").values():
        yield plugins.imported(entry, "measures")
    yield from ((file.module, str(file.path)) for file in files)


def require_measures(module: Any, where: str) -> None:
    """Stop at a module without measures."""
    found = getattr(module, "MEASURES", None)
    wrong = ""
    if not isinstance(found, tuple) or not all(isinstance(one, Measure) for one in found):
        wrong = "MEASURES, a tuple of Measure"
    elif unclear := [one.name for one in found if not re.fullmatch(r"[a-z][a-z0-9_]*", one.name)]:
        wrong = f"measures whose names have lower-case letters, digits and underscores, not {unclear[0]!r}"
    elif lacking := [one.name for one in found if one.compute is None or not one.title]:
        wrong = f"measures with a title and compute, also {lacking[0]}"
    elif public := [one.name for one in found if one.handed_out]:
        wrong = f"measures that no shared report shows (handed_out), not {public[0]}"
    if wrong:
        raise RequestError(f"{where} contains no measures: it must contain {wrong}.", hint=plugins.PAGE)


def named(name: str) -> Measure:
    """Find a measure by its key in `utility`."""
    return next(one for one in measures() if one.name == name)


def measured(case: Case) -> dict[str, Any]:
    """Compute all measures of a release, those last that must be asked for."""
    computed = sorted(
        (
            one
            for one in measures(case.kind)
            if one.compute is not None and (not one.needs or getattr(case, one.needs))
        ),
        key=lambda one: bool(one.needs),
    )
    return {one.name: one.compute(case) for one in computed if one.compute is not None}


def columns() -> tuple[StudyColumn, ...]:
    """List the columns of all measures in a study's table, those of groups alone and of tables alone last."""
    ordered = sorted(measures(), key=lambda one: (one.kinds == TABLES, one.kinds == GROUPS, bool(one.needs)))
    return tuple(column for one in ordered for column in one.in_table())


def compared() -> tuple[Compared, ...]:
    """List the numbers of all measures by which a study's runs are compared, in their order."""
    return tuple(
        sorted((one for found in measures() for one in found.in_figures()), key=lambda one: one.place)
    )
