"""Roles of the columns of a table: the form on the page Data, and the same options."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from setveil.studio.trees import column_trees

GROUPINGS = {
    "": "as they look",
    "prefix": "by their first characters",
    "ranges": "numbers, published as ranges",
    "dates": "dates, by periods",
    "file": "by a file of groups",
    "numeric": "numbers",
    "categorical": "names or codes, no groups",
}
WAYS_OF_PERSON = {
    "": "stop and say so",
    "most-frequent": "the most frequent value",
    "first": "the value of the first line",
    "last": "the value of the last line",
}
Chosen = dict[str, dict[str, Any]]  # of each column that was asked about, by name


def split(text: str) -> list[str]:
    """Take a list of columns apart, as the command line does."""
    return next(csv.reader([text], skipinitialspace=True), []) if text else []


def joined(names: Sequence[str]) -> str:
    """Write names of columns with commas between them, as the command line takes them."""
    out = io.StringIO()
    csv.writer(out, lineterminator="").writerow(names)
    return out.getvalue()


def lines_of(form: Mapping[str, Any]) -> Iterator[tuple[int, list[str]]]:
    """List the lines of a form of columns: the number of each, and the columns that it is about."""
    for number in itertools.count(1):
        name = form.get(f"column-{number}")
        if name is None:
            return
        yield number, split(str(form.get(f"columns-{number}", ""))) or [str(name)]


def chosen_in(form: Mapping[str, Any]) -> Chosen:
    """Read what a form says of each column; a line of several columns says it of all."""
    found: Chosen = {}
    for number, of in lines_of(form):
        said = {
            "role": str(form.get(f"role-{number}", "drop")),
            "kind": str(form.get(f"kind-{number}", "")),
            "steps": str(form.get(f"steps-{number}", ""))[:1000].strip(),
            "not_id": bool(form.get(f"not-id-{number}")),
        }
        found |= dict.fromkeys(of, said)
    return found


def chosen_before(settings: Mapping[str, Any]) -> Chosen:
    """Read from a project's settings what was said of each column; empty: they are about no table."""
    if "qi" not in settings:
        return {}
    groups = {name: ("file", tree) for name, tree in pairs(column_trees(settings.get("hierarchy")))}
    for name, tree in groups.items():
        way, _, steps = tree[1].partition(":")
        if way in ("prefix", "dates"):
            groups[name] = (way, steps)
    ranges = settings.get("ranges", [])
    groups |= {
        name: ("ranges", steps) for name, steps in pairs(ranges if isinstance(ranges, list) else [ranges])
    }
    for kind in ("numeric", "categorical"):
        groups |= dict.fromkeys(split(str(settings.get(kind, ""))), (kind, ""))
    not_ids = split(str(settings.get("not-ids", "")))
    named = {
        "qi": split(str(settings["qi"])),
        "keep": split(str(settings.get("keep-columns", ""))),
        "drop": split(str(settings.get("drop", ""))),
        "id": split(str(settings.get("id-column", ""))),
        "set": split(str(settings.get("item-columns") or settings.get("set", ""))),
    }
    found: Chosen = {}
    for role, names in named.items():
        for name in names:
            kind, steps = groups.get(name, ("", ""))
            found[name] = {"role": role, "kind": kind, "steps": steps, "not_id": name in not_ids}
    return found


def pairs(texts: Sequence[Any], sign: str = "=") -> list[tuple[str, str]]:
    """Take texts such as COLUMN=VALUE apart."""
    return [(name, value) for name, _, value in (str(text).partition(sign) for text in texts)]


def said_of(
    columns: Sequence[Mapping[str, Any]], chosen: Chosen
) -> Iterator[tuple[Mapping[str, Any], Mapping[str, Any]]]:
    """Find what was chosen for each column; where others were, one that was not is omitted."""
    for column in columns:
        said = next((chosen[name] for name in column["columns"] if name in chosen), None)
        yield column, said if said is not None else {"role": "drop"} if chosen else {}


def merged(columns: Sequence[Mapping[str, Any]], chosen: Chosen) -> list[dict[str, Any]]:
    """Put what was chosen in place of what was proposed; a line of several columns follows the first."""
    found = []
    for column, said in said_of(columns, chosen):
        again = said.get("kind", column["kind"]) == column["kind"] and not said.get("steps")
        steps = {"steps": column["steps"]} if again else {}
        same = {**column, **said, **steps}
        keep = (
            column.get("keep", "")
            if (same["kind"], same["steps"]) == (column["kind"], column["steps"])
            else ""
        )
        found.append({"not_id": False, **same, "keep": keep, "joined": joined(column["columns"])})
    return found


def per_person(before: Mapping[str, Any], form: Mapping[str, Any] | None) -> str:
    """Take which value of a person counts, which the page asks for once for all columns."""
    if form is not None:
        return str(form.get("per-person", ""))
    value = before.get("per-person", ())
    first = value if isinstance(value, str) else next(iter(value), "")
    return str(first).rpartition("=")[2]


def ages(before: Mapping[str, Any], form: Mapping[str, Any] | None) -> str:
    """Take the column of ages that is computed from two dates, as `--age` takes it."""
    if form is not None:
        return str(form.get("age", ""))[:1000].strip()
    value = before.get("age", ())
    return str(value if isinstance(value, str) else next(iter(value), ""))


def options_in(form: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Write what a form says of columns as options; and say what it lacks."""
    chosen = chosen_in(form)

    def named(role: str) -> list[str]:
        return [name for name, said in chosen.items() if said["role"] == role]

    def of_kind(kind: str) -> list[tuple[str, str]]:
        return [(name, chosen[name]["steps"]) for name in named("qi") if chosen[name]["kind"] == kind]

    sets = named("set")
    missing = str(form.get("missing", ""))[:1000].strip()
    way = str(form.get("per-person", ""))
    age = ages({}, form)
    known = list(dict.fromkeys([*named("qi"), *([age.partition("=")[0].strip()] if age else [])]))
    trees = [
        f"{name}={kind}{':' * bool(steps)}{steps}"
        for kind in ("prefix", "dates")
        for name, steps in of_kind(kind)
    ]
    trees += [f"{name}={steps}" for name, steps in of_kind("file")]
    options: dict[str, Any] = {
        "not-ids": joined([name for name, said in chosen.items() if said["not_id"]]),
        "missing": [f"{name}={missing}" for name in named("qi")] if missing else None,
        "per-person": [
            f"{name}={way}" for name in [*named("qi"), *named("keep")] if way in WAYS_OF_PERSON and way
        ],
        "age": [age] if age else None,
        "qi": joined(known),
        "set": joined(sets) if len(sets) == 1 else "items" if sets else None,
        "item-columns": joined(sets) if len(sets) > 1 else None,
        "keep-columns": joined(named("keep")),
        "drop": joined(named("drop")),
        "id-column": joined(named("id")[:1]),
        "numeric": joined([name for name, _ in of_kind("numeric")]),
        "categorical": joined([name for name, _ in of_kind("categorical")]),
        "ranges": [f"{name}={steps}" if steps else name for name, steps in of_kind("ranges")],
        "hierarchy": trees,
        "delimiter": str(form.get("delimiter", ""))[:1] if len(sets) == 1 else None,
    }
    lacking = []
    if not known:
        lacking.append("Say for at least one column that someone may know it.")
    if not sets:
        lacking.append("Say which column contains the items.")
    unnamed = [name for name, steps in of_kind("file") if not steps]
    lacking += [f"Name the file with the groups of {name}." for name in unnamed]
    return {name: value for name, value in options.items() if value}, lacking
