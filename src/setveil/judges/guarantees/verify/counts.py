"""Check, using only published files, that counts next to rows are possible and satisfy the guarantee.

They can be true iff some original rows would be published so: labels divide the items, and the items of a
label can cover its rows iff they have enough occurrences (docs/counts.md).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np

from setveil.base.errors import shorten
from setveil.base.wording import count
from setveil.rows.data.sums import Sums, in_memory
from setveil.rows.data.vocabulary import item_order

_FIRST_LINE = 2  # of the file, after its header
_NAMED = 3  # lines that a violation names


@dataclass(frozen=True)
class CountsVerdict:
    """The verdict on published counts."""

    lines: int  # number of counts
    violations: int  # impossible lines, labels whose items cannot fill their rows, and broken rules
    first: tuple[str, ...]  # sentences that name the line

    @property
    def holds(self) -> bool:
        """Return whether all counts can be true, and none tells more than it may."""
        return not self.violations

    def as_dict(self) -> dict[str, Any]:
        """Return the findings as JSON types."""
        return {
            "lines": self.lines,
            "holds": self.holds,
            "violations": self.violations,
            "first": list(self.first),
        }


@dataclass(frozen=True)
class CountsFile:
    """The counts, and what about.json says that they must agree with."""

    # item, label ("": suppressed) and rows of each line, as they stand in the file
    lines: Sequence[tuple[str, str, int]]
    least: int  # fewest rows that a line may speak of
    suppressed: bool  # whether suppressed items may be listed
    members: Mapping[str, Sequence[str]]  # items of each label that stands for others; other labels are items
    local: bool  # whether an item may be published under several labels
    domain: int | None  # number of items that exist; None: not known
    # How many items a label stands for, where `members` has those with a line alone
    sizes: Mapping[str, int] = field(default_factory=dict)
    others: Collection[str] = ()  # labels that may have items which `members` does not list


def check_counts(
    published: Sums,
    counts: CountsFile,
    k: int,
    *,
    secrets: Collection[str] = (),
    few_empty: tuple[int, str] | None = None,
    show: int = 10,
) -> CountsVerdict:
    """Check counts: none may be of fewer than k rows, or of a label that represents one of `secrets`.

    `few_empty` is for someone who knows more of a row than its items: the least number, if below k, of
    published rows without items that are alike in that, and what they are; (0, "") if there are never so few.
    """
    if few_empty is None:
        empty = published.n_rows - published.filled_rows
        few_empty = (empty, "published rows") if 0 < empty < k else (0, "")
    labels = _labels_of(published, counts)
    found = [
        *_rules(published, counts, k, *few_empty),
        *_contradictions(published, counts, labels),
        *_order(counts),
        *_lines(published, counts, frozenset(secrets), labels),
        *_covers(published, counts),
    ]
    return CountsVerdict(len(counts.lines), len(found), tuple(found[:show]))


def _at(position: int) -> str:
    return f"line {position + _FIRST_LINE}"


def _at_all(positions: Sequence[int]) -> str:
    """Name some lines."""
    if len(positions) < 2:
        return _at(positions[0]) if positions else "a line is missing"
    named = ", ".join(str(i + _FIRST_LINE) for i in positions[:_NAMED])
    return f"lines {named}{', ...' if len(positions) > _NAMED else ''}"


def _contain(rows: int) -> str:
    return "contains" if rows == 1 else "contain"


def _rules(published: Sums, counts: CountsFile, k: int, empty: int, which: str) -> list[str]:
    """Check what concerns the file as a whole."""
    found = []
    if counts.least < k:
        found.append(f"the least count is {counts.least}, which is less than k = {k}")
    suppressed = [i for i, (_, label, _) in enumerate(counts.lines) if not label]
    if suppressed and not counts.suppressed:
        found.append(f"{_at(suppressed[0])}: a suppressed item, though about.json says that none is listed")
    if counts.suppressed and empty:
        where = f"{_at(suppressed[0])}: " if suppressed else ""
        found.append(
            f"{where}about.json says that suppressed items are listed, though {empty} {which} are "
            f"empty, fewer than k = {k}: who knows that no row was empty finds those of no line in them"
        )
    covered = {item for label in counts.members for item in counts.members[label]}
    covered.update(x for x in published.vocabulary.labels if x not in counts.members)
    more = {counts.lines[i][0] for i in suppressed} - covered
    shown = len(covered) + sum(size - len(counts.members[label]) for label, size in counts.sizes.items())
    if counts.domain is not None and len(more) + shown > counts.domain:
        found.append(
            f"{shown} items are published and {len(more)} others are listed as suppressed, but only "
            f"{counts.domain} exist"
        )
    return found


def _labels_of(published: Sums, counts: CountsFile) -> dict[str, list[str]]:
    """List the labels that represent each item: those of about.json, and items that rows show themselves."""
    labels: dict[str, list[str]] = {}
    for label, items in counts.members.items():
        for item in items:
            labels.setdefault(item, []).append(label)
    for label, rows in zip(published.vocabulary.labels, published.supports().tolist(), strict=True):
        if rows and label not in counts.members:
            labels.setdefault(label, []).append(label)
    return labels


def _contradictions(published: Sums, counts: CountsFile, labels: Mapping[str, Sequence[str]]) -> list[str]:
    """Check that an item has one label; where it may have several, that no row shows two of them."""
    several = {item: known for item, known in labels.items() if len(known) > 1}
    if not counts.local:
        return [
            f"{shorten(item)} is published under {shorten(known[0])} and under {shorten(known[1])}"
            for item, known in several.items()
        ]
    shown, n_rows = published.vocabulary.ids, published.n_rows
    shared: dict[str, dict[str, str]] = {}  # labels, labels after them, and an item of both
    for item, known in several.items():
        for one, other in combinations([label for label in known if label in shown], 2):
            shared.setdefault(one, {}).setdefault(other, item)
    whole = in_memory(published)
    by_label = np.argsort(whole.items, kind="stable")
    rows = np.repeat(np.arange(n_rows), whole.row_lengths())[by_label]
    bounds = np.cumsum([0, *published.supports().tolist()]).tolist()
    found = []
    for one, others in shared.items():
        holds = np.zeros(n_rows, np.bool_)
        holds[rows[bounds[shown[one]] : bounds[shown[one] + 1]]] = True
        found += [
            f"some row shows {shorten(one)} and {shorten(other)}, which both represent {shorten(item)}"
            for other, item in others.items()
            if holds[rows[bounds[shown[other]] : bounds[shown[other] + 1]]].any()
        ]
    return found


def _order(counts: CountsFile) -> list[str]:
    """Check that lines are in item order, each item (with its label, where it may have several) once."""
    found = []
    place = {item: i for i, item in enumerate(item_order({item for item, _, _ in counts.lines}))}
    under = {label: i for i, label in enumerate(item_order({label for _, label, _ in counts.lines if label}))}
    before = (-1, -1)
    for i, (item, label, _) in enumerate(counts.lines):
        here = place[item], under.get(label, -1) if counts.local else 0
        if here == before:
            found.append(f"{_at(i)}: {shorten(item)} is there for the second time")
        elif here < before:
            found.append(f"{_at(i)}: {shorten(item)} is not in item order")
        before = here
    return found


def _lines(
    published: Sums, counts: CountsFile, secrets: frozenset[str], labels: Mapping[str, Sequence[str]]
) -> list[str]:
    """Check each line by itself: its label and its number."""
    shown = dict(zip(published.vocabulary.labels, published.supports().tolist(), strict=True))
    mixed = {label: x for label, items in counts.members.items() for x in items if x in secrets}
    found = []
    for i, (item, label, rows) in enumerate(counts.lines):
        known = labels.get(item, [])
        apart = published.n_rows - sum(shown.get(other, 0) for other in known)  # no row shows two of them
        if item in secrets:
            wrong = f"{shorten(item)} is sensitive and must not be counted"
        elif label in mixed:
            wrong = (
                f"{shorten(item)} must not be counted under {shorten(label)}, which also represents "
                f"{shorten(mixed[label])}: that is sensitive, and what is not the one is the other"
            )
        elif item in counts.members:
            wrong = f"{shorten(item)} is a label of about.json, no item"
        elif label not in known and (label or (known and not counts.local)):
            said = f"under {', '.join(map(shorten, known[:_NAMED]))}" if known else "under no label"
            here = f"under {shorten(label)}" if label else "suppressed"
            wrong = f"{shorten(item)} is {here}, but the release publishes it {said}"
        elif rows < counts.least:
            held = f"{count(rows, 'row')} {_contain(rows)} {shorten(item)}"
            wrong = f"{held}, fewer than the least count, {counts.least:,}"
        elif label and rows > shown.get(label, 0):
            wrong = (
                f"{rows:,} rows contain {shorten(item)}, but only {shown.get(label, 0):,} published rows "
                f"show {shorten(label)}"
            )
        elif not label and rows > apart:
            wrong = f"{rows:,} rows contain {shorten(item)}, but there are only {apart:,}"
            wrong += " that do not show it under any label" if known else ""
        else:
            continue
        found.append(f"{_at(i)}: {wrong}")
    return found


def _covers(published: Sums, counts: CountsFile) -> list[str]:
    """Check that the items of each label are often enough there to fill the rows that show it."""
    listed: dict[str, list[int]] = {}
    for i, (_, label, _) in enumerate(counts.lines):
        listed.setdefault(label, []).append(i)
    found = []
    for label, rows in zip(published.vocabulary.labels, published.supports().tolist(), strict=True):
        lines = listed.get(label, [])
        there = {counts.lines[i][0] for i in lines}
        inside = set(counts.members.get(label, (label,)))
        unlisted = counts.sizes.get(label, len(inside)) - len(inside & there)
        most = sum(counts.lines[i][2] for i in lines) + unlisted * min(counts.least - 1, rows)
        if most < rows and label not in counts.others:
            found.append(
                f"{_at_all(lines)}: {rows:,} published rows show {shorten(label)}, but its items can be "
                f"in {count(most, 'row')} at most"
            )
    return found
