"""Check, using only published files, that counts of rows in classes are possible and satisfy the guarantee.

They can be true iff there is a flow: the rest of each item's total goes to classes that do not list it, and
every label must get as many occurrences as its rows need beyond its lines (docs/classes.md).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from setveil.base.errors import shorten
from setveil.base.wording import count
from setveil.judges.guarantees.verify.counts import CountsVerdict
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order

_FIRST_LINE = 2  # of the file, after its header
_ALL = -1  # in place of a class: a total


@dataclass(frozen=True)
class ClassCountsFile:
    """The counts, and what about.json says that they must agree with."""

    lines: Sequence[tuple[int, str, str, int]]  # class (-1: a total), item, label ("": suppressed), rows
    least: int
    untold: Sequence[int]  # classes of which no suppressed item may be listed
    members: Mapping[str, Sequence[str]]  # items of each label that stands for others
    domain: int | None = None  # number of items that exist; None: not known
    others: Collection[str] = ()  # labels that may have items which `members` does not list


@dataclass
class _Class:
    """The published facts about a class."""

    rows: int
    published: bool
    shown: dict[str, int]  # rows of each label
    label: dict[str, str]  # the label that stands for each item
    lines: dict[str, int] = field(default_factory=dict)  # where the file lists an item
    found: dict[str, int] = field(default_factory=dict)  # rows of each listed item


def check_class_counts(
    classes: Sequence[Transactions],
    counts: ClassCountsFile,
    k: int,
    *,
    secrets: Collection[str] = (),
    show: int = 10,
) -> CountsVerdict:
    """Check counts of classes: no count may be of fewer than k rows, or of a label of one of `secrets`."""
    seen = [_seen(rows, counts) for rows in classes]
    hidden = frozenset(secrets)
    found = [*_rules(seen, counts, k, hidden), *_contradictions(seen, counts), *_order(counts)]
    found += _lines(seen, counts, hidden)
    if not found:
        totals = {item: (at, rows) for at, (c, item, _, rows) in enumerate(counts.lines) if c == _ALL}
        found += _totals(seen, counts, totals) or _flow(seen, counts, totals, frozenset(secrets))
    return CountsVerdict(len(counts.lines), len(found), tuple(found[: max(show, 1)]))


def _at(position: int) -> str:
    return f"line {position + _FIRST_LINE}"


def _seen(rows: Transactions, counts: ClassCountsFile) -> _Class:
    supports = dict(zip(rows.vocabulary.labels, rows.supports().tolist(), strict=True))
    shown = {label: n for label, n in supports.items() if n}
    label = {item: x for x in shown for item in counts.members.get(x, (x,))}
    empty = int((np.diff(rows.indptr) == 0).sum())
    return _Class(rows.n_rows, not 0 < empty < counts.least, shown, label)


def _rules(seen: Sequence[_Class], counts: ClassCountsFile, k: int, secrets: frozenset[str]) -> list[str]:
    """Check what concerns the file as a whole; the domain is that of the items that may be counted."""
    found = []
    if counts.least < k:
        found.append(f"the least count is {counts.least}, which is less than k = {k}")
    untold = [c for c, one in enumerate(seen) if not one.published]
    if list(counts.untold) != untold:
        said, are = (", ".join(map(str, some)) or "none" for some in (counts.untold, untold))
        found.append(
            f"about.json says that these classes publish nothing about suppressed items: {said}; by their "
            f"empty rows these must be: {are}"
        )
    named = {item for items in counts.members.values() for item in items}
    named |= {x for one in seen for x in one.shown if x not in counts.members}
    named |= {item for _, item, _, _ in counts.lines}
    named -= secrets
    if counts.domain is not None and len(named) > counts.domain:
        found.append(f"{len(named)} items are named, but only {counts.domain} exist")
    return found


def _contradictions(seen: Sequence[_Class], counts: ClassCountsFile) -> list[str]:
    """Check that no two labels which a class shows represent one item."""
    found = []
    for c, one in enumerate(seen):
        for label in one.shown:
            twice = next((i for i in counts.members.get(label, (label,)) if one.label[i] != label), None)
            if twice is not None:
                found.append(
                    f"class {c} shows {shorten(label)} and {shorten(one.label[twice])}, which both represent "
                    f"{shorten(twice)}"
                )
    return found


def _order(counts: ClassCountsFile) -> list[str]:
    """Check that totals come first, then the classes, in item order each, and no item twice."""
    found = []
    place = {item: i for i, item in enumerate(item_order({line[1] for line in counts.lines}))}
    before = (_ALL, -1)
    for at, (c, item, _, _) in enumerate(counts.lines):
        here = c, place[item]
        where = "among the totals" if c == _ALL else f"in class {c}"
        if here == before:
            found.append(f"{_at(at)}: {shorten(item)} stands {where} for the second time")
        elif here < before:
            found.append(f"{_at(at)}: {shorten(item)} {where} is not in order")
        before = here
    return found


def _lines(seen: Sequence[_Class], counts: ClassCountsFile, secrets: frozenset[str]) -> list[str]:
    """Check each line by itself, and remember those of classes."""
    mixed = {label: x for label, items in counts.members.items() for x in items if x in secrets}
    found = []
    for at, (c, item, label, rows) in enumerate(counts.lines):
        name, wrong = shorten(item), ""
        if c != _ALL and not 0 <= c < len(seen):
            found.append(f"{_at(at)}: there is no class {c}")
            continue
        if item in secrets:
            wrong = f"{name} is sensitive and must not be counted"
        elif label in mixed:
            wrong = f"{name} must not be counted under {shorten(label)}, which represents a sensitive item"
        elif rows < counts.least:
            wrong = f"{count(rows, 'row')} for {name}, fewer than the least count, {counts.least:,}"
        elif c == _ALL:
            wrong = f"a total has no label, found {shorten(label)}" if label else ""
        else:
            one = seen[c]
            known, room = one.label.get(item), one.shown.get(label, one.rows)
            if label != (known or ""):
                said = f"under {shorten(known)}" if known else "under no label"
                here = f"under {shorten(label)}" if label else "suppressed"
                wrong = f"{name} is {here}, but class {c} publishes it {said}"
            elif not label and not one.published:
                wrong = f"{name} is suppressed in class {c}, where no suppressed item may be counted"
            elif rows > room:
                of = f"show {shorten(label)}" if label else "are there"
                wrong = f"{rows:,} rows of class {c} contain {name}, but only {room:,} {of}"
            else:
                one.lines[item], one.found[item] = at, rows
        if wrong:
            found.append(f"{_at(at)}: {wrong}")
    return found


def _totals(
    seen: Sequence[_Class], counts: ClassCountsFile, totals: Mapping[str, tuple[int, int]]
) -> list[str]:
    """Check what is left of each total beyond the lines: nothing, or no less than the least count."""
    found = []
    listed = _listed(seen)
    for item, (at, rows) in totals.items():
        rest = rows - listed.get(item, 0)
        if rest < 0:
            found.append(
                f"{_at(at)}: {rows:,} rows contain {shorten(item)}, but the classes list {listed[item]:,}"
            )
        elif 0 < rest < counts.least:
            found.append(
                f"{_at(at)}: of the {rows:,} rows with {shorten(item)} the classes list "
                f"{listed.get(item, 0):,}, so that {rest:,} others follow, fewer than the least count, "
                f"{counts.least:,}"
            )
    return found


def _listed(seen: Sequence[_Class]) -> dict[str, int]:
    listed: dict[str, int] = {}
    for one in seen:
        for item, rows in one.found.items():
            listed[item] = listed.get(item, 0) + rows
    return listed


@dataclass
class _ClassLabel:
    """A label in a class, and what its rows need beyond the lines."""

    number: int  # of the class
    label: str
    need: int
    most: int  # occurrences of an unlisted item
    items: list[int]  # the unlisted items that are limited
    assigned: dict[int, int] = field(default_factory=dict)  # what comes from each


def _flow(
    seen: Sequence[_Class],
    counts: ClassCountsFile,
    totals: Mapping[str, tuple[int, int]],
    secrets: frozenset[str],
) -> list[str]:
    """Look for rows of unlisted items that are in accord with all labels, lines and totals."""
    listed, top = _listed(seen), counts.least - 1
    ids: dict[str, int] = {}
    left: list[int] = []  # what each item has to give
    untold = [one for one in seen if not one.published]
    able: dict[str, bool] = {}

    def limit(item: str) -> int | None:
        """Say how many rows an item can have beyond its lines; None: nothing limits them."""
        if item in totals:
            return totals[item][1] - listed.get(item, 0)
        if item not in able:
            able[item] = all(item in one.label for one in untold)
        return top if able[item] else None

    def number(item: str, most: int) -> int:
        if item not in ids:
            ids[item] = len(left)
            left.append(most)
        return ids[item]

    found = _too_little(seen, counts, totals, listed)
    labels: list[_ClassLabel] = []
    for c, one in enumerate(seen):
        for label, rows in one.shown.items():
            inside = counts.members.get(label, (label,))
            need = rows - sum(one.found.get(item, 0) for item in inside)
            if (
                need <= 0 or label in counts.others or not secrets.isdisjoint(inside)
            ):  # sensitive items are shown, and not counted
                continue
            here = _ClassLabel(c, label, need, min(top, rows), [])
            for item in inside:
                if item in one.found:
                    continue
                most = limit(item)
                if most is None:
                    here.need -= here.most
                elif most > 0:
                    here.items.append(number(item, most))
            if here.need > 0:
                labels.append(here)
    for here in _unfilled(labels, left):
        one = seen[here.number]
        rows = one.shown[here.label]
        lines = [one.lines[i] for i in counts.members.get(here.label, (here.label,)) if i in one.lines]
        where = f"{_at(lines[0])}: " if lines else ""
        found.append(
            f"{where}{rows:,} rows of class {here.number} show {shorten(here.label)}, but with all lines and "
            f"totals its items can be in {count(rows - here.need, 'row')} at most"
        )
    return found


def _too_little(
    seen: Sequence[_Class],
    counts: ClassCountsFile,
    totals: Mapping[str, tuple[int, int]],
    listed: Mapping[str, int],
) -> list[str]:
    """Check that classes which do not list an item have room for what is left of its total, or must be."""
    found = []
    top = counts.least - 1
    untold = [one for one in seen if not one.published]
    for item in sorted({*totals, *listed}):
        at, rows = totals.get(item, (-1, 0))
        if at < 0:
            if any(item not in one.label for one in untold):
                continue
            rows = listed[item] + 1  # with nothing left it would have a total
        room = 0
        for one in seen:
            if item not in one.found:
                label = one.label.get(item)
                size = one.rows if label is None else one.shown[label]
                room += min(top, size) if label is not None or one.published else 0
        if rows - listed.get(item, 0) > room and at >= 0:
            found.append(
                f"{_at(at)}: {rows:,} rows contain {shorten(item)}, but the classes allow at most "
                f"{listed.get(item, 0) + room:,}"
            )
        elif rows - listed.get(item, 0) > room:
            line = next(one.lines[item] for one in seen if item in one.lines)
            found.append(f"{_at(line)}: all rows with {shorten(item)} are listed, so it must have a total")
    return found


def _unfilled(labels: list[_ClassLabel], left: list[int]) -> list[_ClassLabel]:
    """Give labels the occurrences that they need, by augmenting paths; return labels that lack some."""
    takers: list[list[_ClassLabel]] = [[] for _ in left]

    def give(here: _ClassLabel, item: int, amount: int) -> None:
        if item not in here.assigned:
            takers[item].append(here)
        here.assigned[item] = here.assigned.get(item, 0) + amount

    labels.sort(key=lambda here: len(here.items) * here.most - here.need)
    for here in labels:
        for item in sorted(here.items, key=lambda i: -left[i]):
            if not here.need:
                break
            amount = min(here.need, left[item], here.most)
            if amount:
                give(here, item, amount)
                left[item] -= amount
                here.need -= amount
    short = []
    for here in labels:
        while here.need and _augment(here, left, takers, give):
            here.need -= 1
        if here.need:
            short.append(here)
    return short


def _augment(
    start: _ClassLabel,
    left: list[int],
    takers: list[list[_ClassLabel]],
    give: Callable[[_ClassLabel, int, int], None],
) -> bool:
    """Bring one occurrence more to a label, by moving some from one label to another; False: none can."""
    came: dict[int, tuple[_ClassLabel, int] | None] = {id(start): None}  # label it is for, and by which item
    queue = deque([start])
    tried: set[int] = set()
    while queue:
        here = queue.popleft()
        for item in here.items:
            if item in tried or here.assigned.get(item, 0) >= here.most:
                continue
            if left[item] > 0:
                left[item] -= 1
                give(here, item, 1)
                step = came[id(here)]
                while step is not None:
                    after, moved = step
                    here.assigned[moved] -= 1
                    give(after, moved, 1)
                    here, step = after, came[id(after)]
                return True
            tried.add(item)
            for other in takers[item]:
                if other.assigned.get(item, 0) > 0 and id(other) not in came:
                    came[id(other)] = (here, item)
                    queue.append(other)
    return False
