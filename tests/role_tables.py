"""Random tables about persons: a line for each person, diagnosis or stay, with ids of all kinds or none."""

from __future__ import annotations

import csv
import io
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from random import Random
from typing import Any

NAMED = (
    "patient_id", "PatNr", "Patientennummer", "patientID", "id", "ID", "pat_no", "MRN", "numero_patient",
    "n° dossier", "matricule", "Versichertennummer", "customer_number", "Kundennr", "person key",
    "subject_id",
)  # fmt: skip
VAGUE = (
    "no",
    "nr",
    "ref",
    "key",
    "patient",
    "kunde",
    "num",
    "lfd_nr",
    "case",
    "code_nr",
    "name",
    "Schlüssel",
)
SILENT = ("c1", "column_a", "x", "feld", "wert", "a17", "attribut")
ITEMS = ("icd9", "icd10", "diagnosis", "Diagnose", "product", "drug", "c7", "befund", "y")
SURE_KINDS = ("coded", "uuid", "hash", "mail", "phone", "long", "running")
KINDS = (*SURE_KINDS, "six", "people")
_FIRST = ("Anna", "Ben", "Chloé", "Doris", "Emil", "Fatma", "Gül", "Hans", "Ines", "Jan", "Karl", "Lea")
_LAST = ("Müller", "Schmidt", "Dubois", "Rossi", "Kaya", "Novak", "Weber", "Wagner", "Becker", "Hoffmann")


@dataclass(frozen=True)
class Person:
    """The data of a person."""

    id: str
    known: tuple[str, ...]
    items: frozenset[str]


@dataclass(frozen=True)
class RoleTable:
    """A table, with its expected reading.

    Attributes
    ----------
    form : {"person", "diagnosis", "stay"}
        The meaning of a line.
    header, lines
        The table.
    id_name, id_kind : str
        Name and kind of the column of IDs; empty without one.
    known : tuple of str
        The columns that an attacker may know.
    items : tuple of str
        The columns of items.
    persons : tuple of Person
        The people in the table.
    """

    form: str
    header: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    id_name: str
    id_kind: str
    known: tuple[str, ...]
    items: tuple[str, ...]
    persons: tuple[Person, ...]

    def text(self, separator: str = ",") -> str:
        """Write it as csv."""
        out = io.StringIO()
        csv.writer(out, delimiter=separator, lineterminator="\n").writerows([self.header, *self.lines])
        return out.getvalue()

    def read_as(self) -> dict[str, Any]:
        """Return the true roles."""
        if len(self.items) > 1:
            return {"qi": list(self.known), "item_columns": list(self.items)}
        return {"qi": list(self.known), "set": self.items[0]}


def ids_of(rng: Random, kind: str, n: int) -> list[str]:
    """Draw n different ids of a kind."""
    if kind == "running":
        start = rng.choice((1, 1, 1001, 50_000))
        return [str(start + at) for at in range(n)]
    draw: dict[str, Callable[[], str]] = {
        "six": lambda: str(rng.randrange(100_000, 1_000_000)),
        "long": lambda: str(rng.randrange(10**8, 10**9)),
        "coded": lambda: f"P{rng.randrange(100_000):05}",
        "uuid": lambda: str(uuid.UUID(int=rng.getrandbits(128))),
        "hash": lambda: f"{rng.getrandbits(128):032x}",
        "mail": lambda: f"{rng.choice(_FIRST).lower()}.{rng.randrange(10**6)}@example.org",
        "phone": lambda: f"+49 {rng.randrange(100, 999)} {rng.randrange(10**6, 10**7)}",
        "people": lambda: (
            f"{rng.choice(_FIRST)} {rng.choice(_LAST)}-{rng.choice(_LAST)} {rng.choice(_FIRST)}"
        ),
    }
    found: dict[str, None] = {}
    while len(found) < n:
        found[draw[kind]()] = None
    return list(found)


def _day(rng: Random, first: int, last: int) -> str:
    return str(date(first, 1, 1) + timedelta(rng.randrange(365 * (last - first))))


KNOWN: dict[str, Callable[[Random], str]] = {
    "age": lambda rng: str(rng.randint(0, 95)),
    "sex": lambda rng: rng.choice("fm"),
    "zip": lambda rng: f"{rng.choice(('101', '102', '80', '20'))}{rng.randint(10, 99)}",
    "PLZ": lambda rng: f"{rng.randrange(1000, 99999):05}",
    "birthdate": lambda rng: _day(rng, 1930, 2010),
    "region": lambda rng: rng.choice(("north", "south", "east", "west", "abroad")),
    "income": lambda rng: str(rng.randrange(9_000, 180_000)),
    "Gehalt": lambda rng: str(rng.randrange(20, 900) * 100),
    "bmi": lambda rng: f"{rng.uniform(17, 40):.1f}",
    "height": lambda rng: str(rng.randint(140, 205)),
    "job": lambda rng: rng.choice(("nurse", "clerk", "teacher", "driver", "none", "baker", "judge")),
    "q3": lambda rng: str(rng.randint(1, 60)),
}
OTHERS: dict[str, Callable[[Random], str]] = {
    "outcome": lambda rng: rng.choice(("well", "ill")),
    "admitted": lambda rng: _day(rng, 2019, 2021),
    "hospital": lambda rng: f"H{rng.randint(1, 6)}",
    "doctor_id": lambda rng: str(rng.randint(1, 40)),
    "cost": lambda rng: f"{rng.uniform(10, 9000):.2f}",
    "flag": lambda rng: rng.choice("01"),
    "days": lambda rng: str(rng.randint(1, 30)),
    "kommentar": lambda rng: f"seen by {rng.choice(_LAST)} on {_day(rng, 2019, 2021)}",
}


def role_table(rng: Random, *, least: int = 3, most: int = 250) -> RoleTable:
    """Draw a table."""
    form = rng.choice(("person", "person", "diagnosis", "diagnosis", "stay"))
    n = rng.choice((rng.randint(least, 30), rng.randint(least, most), most))
    with_ids = form != "person" or rng.random() < 0.5
    kind = rng.choice(KINDS)
    id_name = rng.choice(rng.choice((NAMED, VAGUE, SILENT))) if with_ids else ""
    known = rng.sample(list(KNOWN), rng.randint(1, 4))
    if form != "person" and len(known) < 2 and id_name in SILENT:
        known = rng.sample(list(KNOWN), 3)
    item = rng.choice([name for name in ITEMS if name != id_name])
    codes = [
        rng.choice((f"{rng.randint(1, 999)}", f"{rng.choice('EIJK')}{rng.randint(10, 99)}"))
        for _ in range(40)
    ]
    if rng.random() < 0.2:
        codes = [f"long name of a drug number {at}" for at in range(30)]
    missing = rng.random() < 0.3
    persons = []
    for one in ids_of(rng, kind, n):
        values = ["" if missing and rng.random() < 0.03 else KNOWN[name](rng) for name in known]
        few = rng.randint(1, 4) if rng.random() < 0.8 else rng.randint(1, 9)
        some = frozenset(codes[min(int(rng.expovariate(0.1)), len(codes) - 1)] for _ in range(few))
        persons.append(Person(one, tuple(values), some))
    wide = form == "person" and rng.random() < 0.3
    single = form == "person" and not wide and rng.random() < 0.3
    if single:
        persons = [Person(one.id, one.known, frozenset(sorted(one.items)[:1])) for one in persons]
    width = max(len(person.items) for person in persons) if wide else 1
    items = tuple(f"DX{at + 1}" for at in range(width)) if wide else (item,)
    others = rng.sample(list(OTHERS), rng.randint(0, 3))
    lines = []
    for person in persons:
        lists: list[Sequence[str]] = [sorted(person.items)]
        if form == "diagnosis":
            lists = [[code] for code in lists[0]]
        elif form == "stay":
            cut = rng.randint(1, max(1, len(lists[0]) - 1))
            lists = [part for part in (lists[0][:cut], lists[0][cut:]) if part]
        for held in lists:
            fields = [*held, *[""] * (width - len(held))] if wide else [";".join(held)]
            lines.append([*([person.id] if with_ids else []), *person.known, *fields,
                          *(OTHERS[name](rng) for name in others)])  # fmt: skip
    header = [*([id_name] if with_ids else []), *known, *items, *others]
    if form == "stay":  # each stay has a number
        header.append("stay_no")
        lines = [[*line, str(7000 + at)] for at, line in enumerate(lines)]
    if rng.random() < 0.3:
        rng.shuffle(lines)
    places = list(range(len(header)))
    if rng.random() < 0.5:
        rng.shuffle(places)
    return RoleTable(
        form, tuple(header[at] for at in places), tuple(tuple(line[at] for at in places) for line in lines),
        id_name, kind if with_ids else "", tuple(known), items, tuple(persons),
    )  # fmt: skip
