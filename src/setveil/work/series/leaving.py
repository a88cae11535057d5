"""Removals from the ledger of a series: the items of a person, and a release that nobody has received."""

from __future__ import annotations

import secrets
from dataclasses import replace
from shutil import rmtree

from setveil.base.errors import DataError, RequestError
from setveil.work.series.ledger import Ledger, gone_if_it_fails, keep, replaced


def forget(ledger: Ledger, person: str) -> tuple[Ledger, int]:
    """Remove a person from the ledger; others may still hide behind the person's published rows.

    The labels of these rows stay, under a fresh code, without saying which rows they are. New files of the
    person's releases are written next to the old ones, and count as soon as series.json names them: the
    person is forgotten in all of them or in none. Returns the new series, and the number of the person's
    releases.
    """
    parts = {entry: ledger.part(entry.name) for entry in ledger.releases}
    there = [entry for entry, part in parts.items() if person in part.people or person in part.held]
    if not there:
        raise DataError("Nobody in the series has this id.", hint="Write it as in the files.")
    fresh = f"-{secrets.token_hex(15)}"
    number = ledger.settings.forgotten + 1
    now = {entry: replace(entry, kept=f"{entry.name}~{number}") for entry in there}
    changed = replace(
        ledger,
        settings=replace(ledger.settings, forgotten=number),
        releases=tuple(now.get(entry, entry) for entry in ledger.releases),
    )
    with gone_if_it_fails(ledger, [entry.kept for entry in now.values()]), replaced(ledger) as to:
        for entry in there:
            keep(ledger, now[entry].kept, parts[entry].without(person, fresh))
        to(changed)
    for entry in there:
        rmtree(ledger.folder / entry.place, ignore_errors=True)
    return changed, len(there)


def drop(ledger: Ledger, name: str, *, not_shared: bool) -> Ledger:
    """Remove the last release of a series, if nobody has received it."""
    entry = ledger.entry(name)
    if not not_shared:
        raise RequestError(
            f"Shared releases stay in the series: {name} cannot be withdrawn from its recipients.",
            hint="If nobody has received it, add --not-shared.",
        )
    if entry is not ledger.releases[-1]:
        raise RequestError(
            f"{name} is not the last release of the series: later releases depend on it.",
            hint=f"The last one is {ledger.releases[-1].name}.",
        )
    changed = replace(ledger, releases=ledger.releases[:-1])
    with replaced(ledger) as to:
        to(changed)
    rmtree(ledger.folder / entry.place, ignore_errors=True)
    return changed
