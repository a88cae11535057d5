"""New rows of a series, whose they are, and that nobody is lost from a register."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.wording import are, count
from setveil.rows.data.transactions import Transactions
from setveil.work.series.ids import Coded, codes_of, require_same_form
from setveil.work.series.ledger import Ledger


class NoIdsError(RequestError):
    """Nothing says whose the rows of a release are."""


@dataclass(frozen=True, eq=False)
class People:
    """New rows, and whose they are."""

    codes: list[str]
    data: Transactions
    warning: str = ""


def people_of(ledger: Ledger, data: Transactions, ids: Sequence[str] | None, code: Coded) -> People:
    """Say whose rows these are; refuse ids that are none, or written otherwise than before."""
    if ids is None:
        raise NoIdsError(
            "The rows have no ids, so nothing says which are of people in earlier releases.",
            hint="Name the column: --id-column. Rows of people in no other release: setveil apply --union.",
        )
    known = {code for name in ledger.names for code in ledger.part(name).people}
    warning = require_same_form(ids, known, code, register=ledger.settings.kind == "register")
    return People(codes_of(ids, code), data, warning)


def merged(ledger: Ledger, new: People) -> People:
    """Add new rows to what the last release of a register has: everyone so far, and all items so far."""
    if not ledger.releases:
        return new
    part = ledger.part(ledger.names[-1])
    gone = set(part.forgotten or ())
    rows = {code: set(part.data[at]) for at, code in enumerate(part.people) if code not in gone}
    for at, code in enumerate(new.codes):
        rows.setdefault(code, set()).update(new.data[at])
    data = Transactions.from_rows(rows.values())
    return People(list(rows), replace(data, origin=new.data.origin, personal=new.data.personal), new.warning)


def require_register(ledger: Ledger, new: People) -> None:
    """Refuse rows of a register in which someone or something is missing that was in it."""
    if ledger.settings.kind != "register" or not ledger.releases:
        return
    part = ledger.part(ledger.names[-1])
    require_all_in(ledger.names[-1], part.people, part.data, new, frozenset(part.forgotten or ()))


def require_all_in(
    name: str, people: Sequence[str], data: Transactions, new: People, gone: frozenset[str] = frozenset()
) -> None:
    """Refuse rows that lack someone or something of another release; not of those who are gone."""
    place = {code: at for at, code in enumerate(new.codes)}
    hint = "A register has everyone so far and all items so far. `--merge` adds new rows to what it has."
    checked_people = [(at, code) for at, code in enumerate(people) if code not in gone]
    absent = sum(code not in place for _, code in checked_people)
    if absent:
        raise DataError(f"{count(absent, 'person', 'people')} of {name} {are(absent)} missing.", hint=hint)
    lost: list[str] = []
    short = 0
    for at, code in checked_people:
        missing = set(data[at]) - set(new.data[place[code]])
        short += bool(missing)
        lost += sorted(missing)[: 5 - len(lost)] if len(lost) < 5 else []
    if short:
        raise DataError(
            f"{count(short, 'person', 'people')} had items in {name} that they have no more, "
            f"such as {listed(list(dict.fromkeys(lost)), 3)}.",
            hint=hint,
        )
