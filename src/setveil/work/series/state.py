"""From a ledger and the published files to what the verifier reads: who shows what in which release."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import DataError
from setveil.judges.guarantees.verify.series import Fact, SeriesVerdict
from setveil.releases.published.rows import read as read_published
from setveil.rows.data.io.rows import read
from setveil.rows.data.people import Appearance, SeriesPeople
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import item_order
from setveil.work.series.files import KeptRelease
from setveil.work.series.ledger import Entry, Ledger, require_unchanged

_FORGOTTEN = "\0"  # begins what stands for the items of those who were forgotten


@dataclass(frozen=True, eq=False)
class State:
    """A series in numbers, and what they represent.

    `people` and `items` are by their numbers, `number` and `item` the inverse. `labels`: of each release, by
    the numbers in `series`.
    """

    names: list[str]
    parts: list[KeptRelease]
    people: list[str]
    number: Mapping[str, int]
    items: list[str]
    item: Mapping[str, int]
    labels: list[list[str]]
    series: SeriesPeople


def state_of(
    named: Sequence[tuple[str, KeptRelease]], people: Sequence[str] = (), items: Sequence[str] = ()
) -> State:
    """Give numbers to the people and items of some releases, in order, and to those of a future one."""
    parts = [part for _, part in named]
    codes = list(dict.fromkeys([*(code for part in parts for code in part.people), *people]))
    number = {code: at for at, code in enumerate(codes)}
    found = item_order({*(item for part in parts for item in part.image), *items})
    gone = [
        f"{_FORGOTTEN}{t} {label}"
        for t, part in enumerate(parts)
        for label in sorted({x for shown in (part.forgotten or {}).values() for x in shown})
    ]
    all_items = [*found, *gone]
    item = {label: at for at, label in enumerate(all_items)}
    labels = [sorted({label for label in part.image.values() if label is not None}) for part in parts]
    appearances = tuple(
        _appearance(part, t, number, item, shown)
        for t, (part, shown) in enumerate(zip(parts, labels, strict=True))
    )
    unchecked = sorted({number[code] for part in parts for code in part.forgotten or ()})
    series = SeriesPeople(
        appearances, tuple(all_items), len(codes), np.array(unchecked, np.int64) if unchecked else None
    )
    return State([name for name, _ in named], parts, codes, number, all_items, item, labels, series)


def _appearance(
    part: KeptRelease, t: int, number: Mapping[str, int], item: Mapping[str, int], shown: Sequence[str]
) -> Appearance:
    to = {label: at for at, label in enumerate(shown)}
    labels = np.full(len(item), -1, np.int32)
    for name, label in part.image.items():
        if label is not None:
            labels[item[name]] = to[label]
    gone: list[tuple[int, int]] = []
    for code, own in (part.forgotten or {}).items():
        for label in own:
            stands = item[f"{_FORGOTTEN}{t} {label}"]
            labels[stands] = to[label]
            gone.append((number[code], stands))
    return Appearance(*rows_in_numbers(part.people, part.data, number, item, gone), labels)


def rows_in_numbers(
    people: Sequence[str],
    data: Transactions,
    number: Mapping[str, int],
    item: Mapping[str, int],
    more: Sequence[tuple[int, int]] = (),
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
    """Write rows by the numbers of people and items: people, indptr, items of an `Appearance`."""
    who = np.array([number[code] for code in people], np.int64)
    what = np.array([item[label] for label in data.vocabulary.labels], np.int64)
    person = np.repeat(who, data.row_lengths())
    items = what[data.items]
    if more:
        person = np.concatenate((person, [one for one, _ in more]))
        items = np.concatenate((items, [one for _, one in more]))
    order = np.lexsort((items, person))
    there = np.sort(who)
    starts = np.searchsorted(person[order], there)
    indptr = np.append(starts, person.size).astype(np.int64)
    return there, indptr, items[order].astype(np.int32)


def published_state(ledger: Ledger, runs: Mapping[str, Path] | None = None) -> State:
    """Read a series with its published files, and compare these with the ledger.

    `runs`: folders of some releases, by name, to read only these, from there; by default all from where they
    were written.
    """
    named = []
    for entry in ledger.releases:
        if runs and entry.name not in runs:
            continue
        run = require_unchanged(entry, runs[entry.name] if runs else None)
        part = ledger.part(entry.name)
        require_shown(entry, part, read_rows(run), run)
        named.append((entry.name, part))
    return state_of(named)


def read_rows(run: Path) -> Transactions:
    """Read the published rows of a run's folder."""
    return read_published(str(run), lambda path, **how: read(path, **how, published=True))


def require_shown(entry: Entry, part: KeptRelease, rows: Transactions, run: Path) -> None:
    """Refuse published rows that do not show what the ledger says of each person."""
    wrong = _first_unlike(part, rows)
    if wrong is not None:
        raise DataError(
            f"Row {wrong} of {run / 'published'} does not show what the ledger has of its person in "
            f"{entry.name}.",
            hint="The ledger and the folder are not of the same release. Take both from one backup.",
        )


def _first_unlike(part: KeptRelease, rows: Transactions) -> int | None:
    """Find the first published row, from 0, that is not what someone's items became; None: all are."""
    if sorted(part.rows.tolist()) != list(range(rows.n_rows)) or len(part.people) != rows.n_rows:
        return min(rows.n_rows, len(part.people))
    ids, unknown = rows.vocabulary.ids, len(rows.vocabulary)
    image = np.array(
        [
            -1 if (x := part.image[label]) is None else ids.get(x, unknown)
            for label in part.data.vocabulary.labels
        ],
        np.int64,
    )
    shown = image[part.data.items] if image.size else np.zeros(0, np.int64)
    at = np.repeat(part.rows, part.data.row_lengths())[shown >= 0]
    width = unknown + 1
    keys = at * width + shown[shown >= 0]
    if part.forgotten:  # nothing says which of these rows is whose: they must show the same, in any order
        places = part.rows[len(part.people) - len(part.forgotten) :].tolist()
        shows = sorted(sorted(own) for own in part.forgotten.values())
        found = sorted((sorted(rows[row]), row) for row in places)
        more = [
            row * width + ids.get(x, unknown)
            for own, (_, row) in zip(shows, found, strict=True) for x in own
        ]  # fmt: skip
        keys = np.concatenate((keys, np.array(more, np.int64)))
    keys = np.unique(keys)
    there = np.repeat(np.arange(rows.n_rows), rows.row_lengths()) * width + rows.items
    unlike = np.setxor1d(keys, there)
    return int(unlike[0]) // width if unlike.size else None


def verdict_record(verdict: SeriesVerdict, state: State) -> dict[str, Any]:
    """Return a verdict as JSON types."""
    promise = verdict.guarantee

    def fact(one: Fact) -> dict[str, Any]:
        item = None if one.item is None else state.items[one.item]
        return {
            "item": item,
            "releases": [state.names[t] for t in one.releases],
            "labels": [
                None if label < 0 else state.labels[t][label]
                for t, label in zip(one.releases, one.labels, strict=True)
            ],
        }

    return {
        "holds": verdict.holds,
        "k": promise.k,
        "m": promise.m,
        "known": promise.known,
        "presence": promise.presence,
        "people": verdict.people,
        "returning": verdict.returning,
        "exposed": verdict.exposed,
        "unique": verdict.unique,
        "each": [
            {"release": name, "holds": exposed == 0, "exposed": exposed}
            for name, exposed in zip(state.names, verdict.each, strict=True)
        ],
        "exactly": verdict.exactly,
        "violations": [
            {
                "person": state.people[one.person],
                "facts": [fact(some) for some in one.facts],
                "candidates": one.candidates,
            }
            for one in verdict.first
        ],
    }
