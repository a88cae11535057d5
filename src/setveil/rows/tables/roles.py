"""What the columns of a table are: known to others, a set of items, to be kept or to be dropped."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import (
    RequestError,
    described,
    did_you_mean,
    faces,
    listed,
    shorten,
    unreadable,
)
from setveil.base.plain_json import read_toml
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.set_fields import require_delimiter
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.levels import Levels, levels_in
from setveil.rows.tables.ranges import fraction, require_widths, written

TreeLike = Hierarchy | str | PathLike[str] | object | None
KINDS = ("numeric", "categorical")
OF_KNOWN = ("kind", "hierarchy", "ranges", "bounds", "weight", "missing")
ROLES = ("qi", "set", "keep", "drop", "id")
MOST = "most-frequent"
WAYS = ("first", "last", MOST, "least", "greatest")  # which value of a person's lines counts


@dataclass(frozen=True)
class Known:
    """What is said of a quasi-identifier."""

    kind: str | None = None  # {"numeric", "categorical"}, optional: by default detected from the values
    hierarchy: TreeLike = None  # what its values may become
    # of a hierarchy of ranges that is built of the values: width of the narrowest, or all; True: a usual one
    ranges: Fraction | tuple[Fraction, ...] | bool | None = None
    weight: Fraction = Fraction(1)  # how much its loss counts
    missing: tuple[str, ...] = ()  # values that say that there is none, besides the empty one
    bounds: tuple[Fraction, Fraction] | None = None  # numbers between which all values lie, whatever occurs
    levels: Levels | None = None  # how a hierarchy is built of its values, where none is given

    @property
    def has_hierarchy(self) -> bool:
        """Whether a hierarchy is given, or is to be built of the values."""
        return self.hierarchy is not None or self.levels is not None


@dataclass(frozen=True)
class Roles:
    """The role of each column; those that have none are dropped."""

    qi: Mapping[str, Known]  # what someone may know
    # the column of items, or what it is to be called where items stand in several columns or another table
    set_name: str | None = None
    # keep, drop: columns that are published as they are, and such that are not
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    id_column: str | None = None  # says whom a row is about; never published
    hierarchy: TreeLike = None  # of the items
    delimiter: str | None = None  # between the items of a field
    not_ids: tuple[str, ...] = ()  # columns that look like person IDs but are not
    # which value counts of columns whose values differ within a person: one of `WAYS`
    per_person: Mapping[str, str] = field(default_factory=dict)
    # columns of ages: those of birth and of the other date, or that date (see `setveil.rows.tables.ages`)
    ages: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    levels: Levels | None = None  # how the hierarchy of the items is built of them, where none is given

    def __post_init__(self) -> None:
        if self.delimiter is not None:
            require_delimiter(self.delimiter)
        found: dict[str, str] = {}
        for role, names in (
            ("qi", list(self.qi)),
            ("set", [self.set_name] if self.set_name else []),
            ("keep", self.keep),
            ("drop", self.drop),
        ):
            for name in names:
                if name in found:
                    raise two_roles(name, found[name], role)
                found[name] = role
        other = found.get(self.id_column or "", "drop")
        if self.id_column is not None and other != "drop":
            raise two_roles(self.id_column, other, "id")
        for name, known in self.qi.items():
            _require_sense(name, known)
        _require_ways(self.per_person, [*self.qi, *self.keep])
        for name in self.ages:
            if name not in (*self.qi, *self.keep):
                raise RequestError(
                    f"--age {name}: nothing says what the ages are for.",
                    hint=f"Name the new column among those that someone may know: --qi {name}.",
                )


def _require_ways(ways: Mapping[str, str], names: Sequence[str]) -> None:
    """Refuse unknown ways, and columns that are not published of each person."""
    for name, way in ways.items():
        if way not in WAYS:
            raise RequestError(
                f"--per-person {name}: there is no {way!r}; there are {', '.join(WAYS)}.",
                hint=did_you_mean(way, WAYS),
            )
        if name not in names:
            raise RequestError(
                f"--per-person {name}: only quasi-identifiers and kept columns have one value of each "
                f"person; there are {listed(list(names))}.",
                hint=did_you_mean(name, names),
            )


def two_roles(name: str, first: str, second: str) -> RequestError:
    """Make the error of a column that was given two roles."""
    if first == second:
        return RequestError(f"Column {shorten(name)} is named twice as {first}.", hint="Name it once.")
    return RequestError(
        f"Column {shorten(name)} has two roles, {first} and {second}, expected one.",
        hint="qi: someone may know it. set: the items. keep: published as it is. drop, id: never published.",
    )


def _require_sense(name: str, known: Known) -> None:
    if known.ranges is not None and known.has_hierarchy:
        raise RequestError(
            f"Column {shorten(name)} has a hierarchy, and is to get another one of ranges.",
            hint="Give one of them.",
        )
    if known.ranges is not None and known.kind == "categorical":
        raise RequestError(f"Column {shorten(name)} is to get ranges, which only numbers have.")
    if known.bounds is not None and (known.has_hierarchy or known.kind == "categorical"):
        raise RequestError(
            f"Column {shorten(name)} has bounds, which are for numbers that are published as ranges.",
            hint="Omit the bounds.",
        )
    if known.levels is not None and known.kind == "numeric":
        raise RequestError(
            f"Column {shorten(name)} should contain numbers, and be grouped by {known.levels.way}.",
            hint=f"Numbers get ranges: --ranges {name}=10.",
        )
    if isinstance(known.ranges, Fraction) and known.ranges <= 0:
        raise RequestError(
            f"The ranges of column {shorten(name)} must be wider than 0, got {known.ranges}.",
            hint="Name the width of the narrowest ones, such as 10.",
        )
    if known.weight <= 0:
        raise RequestError(f"The weight of column {shorten(name)} must be above 0, got {known.weight}.")


def make_roles(
    *,
    qi: Iterable[str] | Mapping[str, Mapping[str, Any]] = (),
    set_name: str | None = None,
    keep: Iterable[str] = (),
    drop: Iterable[str] = (),
    hierarchies: Mapping[str, TreeLike] | None = None,
    numeric: Iterable[str] = (),
    categorical: Iterable[str] = (),
    ranges: Mapping[str, Any] | None = None,
    bounds: Mapping[str, Any] | None = None,
    weights: Mapping[str, Any] | None = None,
    missing: Mapping[str, Any] | None = None,
    id_column: str | None = None,
    hierarchy: TreeLike = None,
    delimiter: str | None = None,
    per_person: Mapping[str, str] | None = None,
    ages: Mapping[str, Any] | None = None,
) -> Roles:
    """Make the roles of columns from options, each of which maps columns to values or lists columns.

    `qi`: a mapping adds `kind`, `hierarchy`, `ranges`, `weight`, `missing`. `hierarchies`: of
    quasi-identifiers, and of the items by the name of their column; `hierarchy`: of the items. `ranges`:
    width of the narrowest. `bounds`: numbers between which all values are, whatever occurs, also as
    ``0..120``. `weights`: of losses. `missing`: values that mean a missing one. `per_person`: which value
    counts if values differ within a person. `ages`: the columns of two dates, also as ``born..admitted``.
    """
    hierarchy, levels = grown(hierarchy)
    said = _said_of(qi)
    names = list(said)

    def add(what: str, name: str, key: str, value: Any) -> None:
        if name not in said:
            raise RequestError(
                f"{what} is given for column {shorten(name)}, which is no quasi-identifier.",
                hint=did_you_mean(name, names, f"Quasi-identifiers are {listed(names, 9)}.", quoted=True)
                if names
                else "Name quasi-identifiers: --qi.",
            )
        if key in said[name] and said[name][key] != value:
            raise RequestError(f"{what} of column {shorten(name)} is given twice.")
        said[name][key] = value

    for name, tree in (hierarchies or {}).items():
        if name == set_name and name not in said:
            if hierarchy is not None or levels is not None:
                raise RequestError(f"The hierarchy of the items ({shorten(name)}) is given twice.")
            hierarchy, levels = grown(tree)
        else:
            add("A hierarchy", name, "hierarchy", tree)
    for kind, some in (("numeric", numeric), ("categorical", categorical)):
        for name in some:
            add("The kind", name, "kind", kind)
    for what, key, values in (
        ("A width of ranges", "ranges", ranges),
        ("Bounds", "bounds", bounds),
        ("A weight", "weight", weights),
        ("What is missing", "missing", missing),
    ):
        for name, value in (values or {}).items():
            add(what, name, key, value)
    return Roles(
        {name: _known(name, about) for name, about in said.items()},
        set_name, tuple(keep), tuple(drop), id_column, hierarchy, delimiter, levels=levels,
        per_person=dict(per_person or {}), ages=_ages_in(ages or {}),
    )  # fmt: skip


def _said_of(qi: Iterable[str] | Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Take quasi-identifiers, and what is said of each with its name."""
    names = list(qi)
    again = next((name for name in names if names.count(name) > 1), None)
    if again is not None:
        raise two_roles(again, "qi", "qi")
    said: dict[str, dict[str, Any]] = {name: {} for name in names}
    if isinstance(qi, Mapping):
        for name, about in qi.items():
            said[name] = _keys(f"Column {shorten(name)}", about, OF_KNOWN)
    return said


def _known(name: str, about: Mapping[str, Any]) -> Known:
    kind, ranges = about.get("kind"), about.get("ranges")
    tree, levels = grown(about.get("hierarchy"))
    if levels is not None and levels.way == "ranges":
        if ranges is not None:
            raise RequestError(f"The ranges of column {shorten(name)} are given twice.")
        ranges, levels = list(levels.steps) or True, None
    if kind not in (None, *KINDS):
        raise RequestError(
            f"The kind of column {shorten(name)} must be numeric or categorical, got {kind!r}."
        )
    if ranges is False:
        ranges = None
    if ranges is not None and ranges is not True:
        ranges = _widths(f"The width of ranges of column {shorten(name)}", ranges)
    weight = fraction(f"The weight of column {shorten(name)}", about.get("weight", 1))
    missing = about.get("missing", ())
    missing = [missing] if isinstance(missing, str) else missing
    if not isinstance(missing, list | tuple) or not all(isinstance(value, str) for value in missing):
        raise RequestError(
            f"What is missing in column {shorten(name)} must be texts, got {described(missing)}."
        )
    bounds = None if about.get("bounds") is None else _bounds(name, about["bounds"])
    return Known(kind, tree, ranges, weight, tuple(missing), bounds, levels)


def _bounds(name: str, value: Any) -> tuple[Fraction, Fraction]:
    """Take two numbers, the least first: ``0..120``, or a pair."""
    ends = value.split("..") if isinstance(value, str) else value
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise RequestError(
            f"The bounds of column {shorten(name)} must be two numbers, got {described(value)}.",
            hint=faces(f"Such as --bounds {name}=0..120.", f'Such as bounds={{"{name}": (0, 120)}}.'),
        )
    low, high = (fraction(f"A bound of column {shorten(name)}", end) for end in ends)
    if low >= high:
        raise RequestError(
            f"The bounds of column {shorten(name)} must rise, got {written(low)} and {written(high)}."
        )
    return low, high


def _ages_in(texts: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    """Take ``born..admitted`` apart, or two names."""
    found = {}
    for name, of in texts.items():
        both = of.split("..") if isinstance(of, str) else list(of) if isinstance(of, list | tuple) else []
        if len(both) != 2 or not all(isinstance(one, str) and one.strip() for one in both):
            raise RequestError(
                f"--age {name} must be two dates, got {of!r}.",
                hint="Name two columns: --age age=born..admitted.",
            )
        found[name] = both[0].strip(), both[1].strip()
    return found


def grown(tree: TreeLike) -> tuple[TreeLike, Levels | None]:
    """Tell a hierarchy from how one is built: ``prefix:3,2`` and the like, unless there is such a file."""
    levels = levels_in(tree) if isinstance(tree, str) else None
    return (tree, None) if levels is None or Path(str(tree)).exists() else (None, levels)


def _widths(what: str, value: Any) -> Fraction | tuple[Fraction, ...]:
    """Take the width of ranges, or all widths: a list, or a text with commas."""
    parts = value.split(",") if isinstance(value, str) else value
    found = [fraction(what, part) for part in (parts if isinstance(parts, list | tuple) else [parts])]
    return found[0] if len(found) == 1 else tuple(require_widths(found))


def _keys(what: str, about: Any, allowed: Sequence[str]) -> dict[str, Any]:
    """Refuse what is no mapping, and keys that mean nothing."""
    if not isinstance(about, Mapping):
        raise RequestError(f"{what} must be described by {', '.join(allowed)}, got {described(about)}.")
    for key in about:
        if key not in allowed:
            hint = did_you_mean(key, allowed, f"There are {', '.join(allowed)}.")
            raise RequestError(f"{what} has no {shorten(str(key))}.", hint=hint)
    return dict(about)


_OF_ROLE: Mapping[str, tuple[str, ...]] = {
    "qi": (*OF_KNOWN, "not_id", "per_person", "age"),
    "set": ("delimiter", "hierarchy", "not_id"),
    "keep": ("not_id", "per_person", "age"),
    "drop": ("not_id",),
    "id": (),
}


def read_roles(path: str | PathLike[str], encoding: str = "utf-8") -> Roles:
    """Read the roles of columns from a TOML file; the paths in it are relative to it."""
    text = as_text(read_bytes(Path(path)), str(path), encoding).content.decode()
    try:
        content = read_toml(text)
    except ValueError as error:
        raise unreadable(
            path, "is not TOML", error, 'Sections such as [columns.age] with lines like role = "qi".'
        ) from None
    columns = _keys(f"{path}", content, ("columns",)).get("columns")
    if not isinstance(columns, Mapping) or not columns:
        raise RequestError(f"{path} describes no column.", hint='Write [columns.age] and role = "qi".')
    of: dict[str, dict[str, dict[str, Any]]] = {role: {} for role in ROLES}
    not_ids: list[str] = []
    ways: dict[str, str] = {}
    ages: dict[str, str] = {}
    for name, about in columns.items():
        where = f"{path}: column {shorten(name)}"
        role = about.get("role") if isinstance(about, Mapping) else None
        if role not in ROLES:
            got = "none" if role is None else described(role)
            raise RequestError(f"{where} needs a role, one of {', '.join(ROLES)}; got {got}.")
        found = _keys(where, {key: about[key] for key in about if key != "role"}, _OF_ROLE[role])
        not_id = found.pop("not_id", False)
        if not isinstance(not_id, bool):
            raise RequestError(f"{where}: not_id must be true or false, got {described(not_id)}.")
        not_ids += [name] * not_id
        for key in ("kind", "hierarchy", "delimiter", "per_person", "age"):
            if not isinstance(found.get(key, ""), str):
                raise RequestError(f"{where}: {key} must be a text, got {described(found[key])}.")
        if "hierarchy" in found and levels_in(found["hierarchy"]) is None:
            found["hierarchy"] = Path(path).parent / found["hierarchy"]
        if "per_person" in found:
            ways[name] = found.pop("per_person")
        if "age" in found:
            ages[name] = found.pop("age")
        of[role][name] = found
    for role in ("set", "id"):
        require_one(list(of[role]), role)
    about_set: Mapping[str, Any] = next(iter(of["set"].values()), {})
    roles = make_roles(
        qi=of["qi"], set_name=next(iter(of["set"]), None), keep=of["keep"], drop=of["drop"],
        id_column=next(iter(of["id"]), None), per_person=ways, ages=ages, **about_set,
    )  # fmt: skip
    return replace(roles, not_ids=tuple(not_ids))


def require_one(names: Sequence[str], role: str) -> None:
    """Refuse several columns of a role that one column has."""
    if len(names) > 1:
        raise RequestError(
            f"{len(names)} columns have the role {role}, expected one: {listed(list(names))}.",
            hint="If several columns contain items, name them by --item-columns." if role == "set" else "",
        )


def with_trees(roles: Roles, read: Callable[[Any], Hierarchy | None]) -> Roles:
    """Replace the files of hierarchies by what they hold."""
    return replace(
        roles,
        qi={name: replace(known, hierarchy=read(known.hierarchy)) for name, known in roles.qi.items()},
        hierarchy=read(roles.hierarchy),
    )


def write_roles(roles: Roles, path: str | PathLike[str]) -> None:
    """Write roles of columns, with hierarchies as absolute paths, so that `read_roles` reads the same."""
    sections: list[tuple[str, dict[str, Any]]] = [
        (
            name,
            {
                "role": "qi",
                "kind": known.kind,
                "hierarchy": _as_text(known.hierarchy, known.levels),
                "ranges": _as_widths(known.ranges),
                "bounds": None if known.bounds is None else "..".join(map(str, known.bounds)),
                "weight": None if known.weight == 1 else str(known.weight),
            },
        )
        for name, known in roles.qi.items()
    ]
    if roles.set_name is not None:
        tree = _as_text(roles.hierarchy, roles.levels)
        sections.append((roles.set_name, {"role": "set", "delimiter": roles.delimiter, "hierarchy": tree}))
    some: list[tuple[str, Iterable[str]]] = [("keep", roles.keep), ("drop", roles.drop)]
    if roles.id_column is not None:
        some = [*((role, [x for x in names if x != roles.id_column]) for role, names in some)]
        some.append(("id", [roles.id_column]))
    sections += [(name, {"role": role}) for role, names in some for name in names]
    lines = []
    for name, said in sections:
        about = {**said, "not_id": True if name in roles.not_ids else None}
        about |= {
            "per_person": roles.per_person.get(name),
            "age": "..".join(roles.ages.get(name, ())) or None,
        }
        lines.append(f"[columns.{_quoted(name)}]")
        lines += [f"{key} = {_as_toml(value)}" for key, value in about.items() if value is not None]
    Path(path).write_text("\n".join(lines) + "\n", encoding="utf-8")


def _as_toml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else _quoted(str(value))


def _as_text(file: Any, levels: Levels | None) -> str | None:
    """Name the file of a hierarchy, or say how it is built; None: there is none."""
    if levels is not None:
        return str(levels)
    return None if file is None else str(Path(file).absolute())


def _as_widths(ranges: Fraction | tuple[Fraction, ...] | bool | None) -> str | bool | None:
    if isinstance(ranges, tuple):
        return ",".join(map(str, ranges))
    return ranges if isinstance(ranges, bool | None) else str(ranges)


def _quoted(text: str) -> str:
    """Write a text as TOML does: as JSON, but for one sign."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
