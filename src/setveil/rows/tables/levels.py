"""What a hierarchy is built from, in words such as ``prefix:3,2``, and how many values each level keeps."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from setveil.base.errors import DataError, RequestError, shorten
from setveil.rows.data import known_words
from setveil.rows.hierarchy.alone import GROUPED
from setveil.rows.tables.dates import dates, likely_periods
from setveil.rows.tables.prefixes import prefixes
from setveil.rows.tables.quasi_identifiers import MISSING, QuasiIdentifier
from setveil.rows.tables.ranges import fraction, ranges, require_numbers, require_widths

WAYS = ("prefix", "ranges", "dates")
_SPOKEN = re.compile(r"(prefix(?:es)?|ranges|dates)(?::(.*))?")
_LIKE_CODES = re.compile(r"[0-9A-Za-z][0-9A-Za-z .-]*", re.ASCII)
_MOST = 4  # characters of a prefix that is proposed


@dataclass(frozen=True)
class Levels:
    """How the hierarchy of a column is built from its values."""

    way: str  # one of WAYS
    steps: tuple[str, ...] = ()  # lengths, widths or periods, as written; empty: the usual ones

    def __str__(self) -> str:
        return f"{self.way}:{','.join(self.steps)}" if self.steps else self.way

    def lengths(self) -> list[int]:
        """Read the lengths of prefixes."""
        try:
            return [int(step) for step in self.steps]
        except ValueError:
            raise RequestError(
                f"The lengths of prefixes must be integers such as 3,2, got {','.join(self.steps)!r}."
            ) from None

    def widths(self) -> list[Fraction]:
        """Read the widths of ranges."""
        return [fraction("The width of ranges", step) for step in self.steps]

    def parents_of(self, name: str, texts: Iterable[str]) -> dict[str, str | None]:
        """Build the hierarchy of the values of a column: the parent of each node."""
        if self.way == "prefix":
            return prefixes(texts, self.lengths())
        try:
            if self.way == "dates":
                return dates(texts, self.steps)
            return ranges(require_numbers(texts), self.widths() or None)
        except DataError as error:
            raise DataError(f"Column {shorten(name)} contains {error.message}", hint=error.hint) from None


def levels_in(text: str) -> Levels | None:
    """Read ``prefix:3,2``, ``ranges:10`` or ``dates:month,year``; None: it is none of these.

    >>> levels_in("prefix:3,2"), levels_in("zip.csv")
    (Levels(way='prefix', steps=('3', '2')), None)
    """
    found = _SPOKEN.fullmatch(text.strip())
    if found is None:
        return None
    steps = tuple(step for part in (found[2] or "").split(",") if (step := part.strip()))
    made = Levels("prefix" if found[1] == "prefixes" else found[1], steps)
    if made.way == "prefix":
        prefixes((), made.lengths())
    elif made.way == "dates":
        dates((), made.steps)
    elif made.steps:
        require_widths(made.widths())
    return made


def kept_at(parents: Mapping[str, str | None], values: Iterable[str]) -> list[list[str]]:
    """List what each level of a hierarchy distinguishes: the values, groups of them, ... up to the root."""
    paths = []
    for value in sorted(set(values)):
        path = [value]
        while (up := parents[path[-1]]) is not None:
            path.append(up)
        paths.append(path[::-1])
    height = max(map(len, paths), default=1)
    return [
        list(dict.fromkeys(path[min(depth, len(path) - 1)] for path in paths))
        for depth in range(height - 1, -1, -1)
    ]


def parents_in(column: QuasiIdentifier) -> dict[str, str | None]:
    """Name the parent of each node of a column that has a hierarchy."""
    ups = [] if column.parent is None else column.parent.tolist()
    return {
        label: None if up < 0 else column.labels[up] for label, up in zip(column.labels, ups, strict=True)
    }


def in_words(parents: Mapping[str, str | None], values: Iterable[str]) -> str:
    """Say how many values each level keeps.

    >>> in_words({"101": "10*", "201": "20*", "10*": "*", "20*": "*", "*": None}, ["101", "201"])
    '2 values, then 2 (such as 10*), then *'
    """
    first, *others = kept_at(parents, (value for value in values if value != MISSING))
    said = [f"{len(first):,} value{'' if len(first) == 1 else 's'}"]
    said += [f"{len(level):,} (such as {level[0]})" if len(level) > 1 else level[0] for level in others]
    return ", then ".join(said)


def is_flat(column: QuasiIdentifier) -> bool:
    """Tell whether a column of several values has no group of them but that of all."""
    return column.levels == 1 and column.n_values - column.missing >= GROUPED


def likely_levels(values: Sequence[str]) -> Levels | None:
    """Propose how a hierarchy of values that are no numbers is built, if anything speaks for one.

    >>> str(likely_levels(["10115", "10117", "80331"])), likely_levels(["tea", "coffee", "milk"])
    ('prefix:4,3,2,1', None)
    """
    present = [value for value in dict.fromkeys(values) if value not in known_words.MISSING]
    if len(present) < GROUPED:
        return None
    if periods := likely_periods(present):
        return Levels("dates", periods)
    length = len(present[0])
    codes = all(len(one) == length and _LIKE_CODES.fullmatch(one) for one in present)
    if not codes or length < 2 or not any(sign.isdigit() for one in present for sign in one):
        return None
    cuts = range(min(length - 1, _MOST), 0, -1)
    useful = [at for at in cuts if 1 < len({one[:at] for one in present}) < len(present)]
    return Levels("prefix", tuple(map(str, useful))) if useful else None
