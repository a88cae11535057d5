"""Roles of the columns of a log: the form on the page Data, and the same options."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.studio.data_kinds import kind_of
from setveil.studio.pages.data_roles import Chosen, joined, lines_of, pairs, said_of, split

SINCE = "since"  # in place of a period
ROLES = {
    "id": "whose line it is",
    "set": "the codes",
    "when": "dates",
    "amount": "amounts",
    "drop": "not read",
}
PERIODS = {
    "day": "days",
    "week": "weeks",
    "month": "months",
    "quarter": "quarters",
    "year": "years",
    SINCE: "days since the first line",
}
TOGETHER = {"sum": "added up", "mean": "their mean", "max": "the greatest", "lines": "number of lines"}
BANDS = "8"  # about so many
_USUAL: dict[str, Any] = {"level": "month", "days": "30", "way": "sum", "bands": BANDS}
_TO_READ = re.compile(r"(\d{2} \w+ \d{1,4}) \(--date-format '([^']+)'\)")


def chosen_in(form: Mapping[str, Any]) -> Chosen:
    """Read what a form says of each column; a line of several columns says it of all."""
    found: Chosen = {}
    for number, of in lines_of(form):
        said: dict[str, Any] = {
            name: str(form.get(f"{name}-{number}", usual))[:1000].strip() for name, usual in _USUAL.items()
        }
        role = str(form.get(f"holds-{number}", "drop"))
        said |= {"role": role if role in ROLES else "drop", "not_id": bool(form.get(f"not-id-{number}"))}
        found |= dict.fromkeys(of, said)
    return found


def chosen_before(settings: Mapping[str, Any]) -> Chosen:
    """Read from a project's settings what was said of each column; empty: its rows contain no facts."""
    if not kind_of(settings).has_parts:
        return {}
    named = [str(one).partition(":m=")[0] for one in _listed(settings.get("set"))]
    sets = split(str(settings.get("item-columns", ""))) or named
    found: Chosen = {name: {"role": "id"} for name in split(str(settings.get("id-column", "")))}
    found |= {name: {"role": "set"} for name in sets}
    of = "".join(f"{name}=" for name in named[:1])  # may stand before an attribute
    for column, level in pairs(_listed(settings.get("when")), ":"):
        width, since, _ = level.partition("d-since-first")
        said = {"level": SINCE, "days": width} if since else {"level": level}
        found[column.removeprefix(of)] = {"role": "when", **said}
    for column, rest in pairs(_listed(settings.get("amount")), ":"):
        way, sign, bands = rest.partition(":")
        said = {"way": way, "bands": bands} if sign else {"way": "sum", "bands": rest}
        found[column.removeprefix(of)] = {"role": "amount", **said}
    not_ids = split(str(settings.get("not-ids", "")))
    return {name: {**_USUAL, **said, "not_id": name in not_ids} for name, said in found.items()}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def merged(columns: Sequence[Mapping[str, Any]], chosen: Chosen) -> list[dict[str, Any]]:
    """Put what was chosen in place of what was proposed; a line of several columns follows the first."""
    return [
        {"not_id": False, **_USUAL, **column, **said, "joined": joined(column["columns"])}
        for column, said in said_of(columns, chosen)
    ]


def options_in(form: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Write what a form says of columns as options; and say what it lacks."""
    chosen = chosen_in(form)

    def named(role: str) -> list[str]:
        return [name for name, said in chosen.items() if said["role"] == role]

    sets, known = named("set"), [*named("when"), *named("amount")]
    apart = bool(form.get("apart")) and len(sets) > 1
    codes = sets[0] if len(sets) == 1 else "codes"

    def of(name: str) -> str:
        """Say whose attribute a column is where its name would be taken apart: CODES=NAME."""
        return f"{codes}=" if "=" in name and not apart else ""

    missing = str(form.get("missing", ""))[:1000].strip()
    options: dict[str, Any] = {
        "id-column": joined(named("id")[:1]),
        "set": sets if apart else codes if sets else None,
        "item-columns": joined(sets) if len(sets) > 1 and not apart else None,
        "when": [f"{of(name)}{name}:{_period(chosen[name])}" for name in named("when")],
        "amount": [f"{of(name)}{name}:{_bands(chosen[name])}" for name in named("amount")],
        "date-format": str(form.get("written") or form.get("date-format", ""))[:100].strip(),
        "missing": [f"{name}={missing}" for name in known] if missing else None,
        "delimiter": str(form.get("delimiter", ""))[:1] if len(sets) == 1 or apart else None,
        "not-ids": joined([name for name, said in chosen.items() if said["not_id"]]),
    }
    lacking = []
    if len(named("id")) != 1:
        lacking.append("Choose exactly one column with person IDs.")
    if not sets:
        lacking.append("Say which column contains the codes.")
    if not known:
        lacking.append("Say which column contains dates or amounts; without them it is no log of facts.")
    lacking += [
        f"Say which bands of {name} there are." for name in named("amount") if not chosen[name]["bands"]
    ]
    return {name: value for name, value in options.items() if value}, lacking


def _period(said: Mapping[str, str]) -> str:
    return f"{said['days']}d-since-first" if said["level"] == SINCE else said["level"]


def _bands(said: Mapping[str, str]) -> str:
    way = "" if said["way"] == "sum" else f"{said['way']}:"
    return way + "".join(said["bands"].split())


def readings(message: str) -> list[tuple[str, str]]:
    """List the ways to read a date that an error names: the date so read, and how dates are written then.

    >>> readings("It may be 03 April 2024 (--date-format '%d/%m/%Y'): nothing tells which.")
    [('03 April 2024', '%d/%m/%Y')]
    """
    return _TO_READ.findall(message)
