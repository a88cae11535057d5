"""What the columns of a table are, in words: the options that every command has that reads a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.values.declared import as_words, options_of, parameter
from setveil.base.values.kinds import OneFile, Text, Texts
from setveil.rows.data.also import also_of
from setveil.runs.options.reading import Reading

if TYPE_CHECKING:
    from setveil.rows.tables.how import How
    from setveil.rows.tables.roles import Roles


@dataclass(frozen=True)
class Columns:
    """What was said of the columns of a table; None or empty: nothing."""

    roles: Path | None = parameter(
        OneFile(), "What each column is: a TOML file, in place of the options below.", default=None
    )
    qi: str | None = parameter(
        Text("columns"), "Columns that someone may know of a person, such as age,sex.", default=None
    )
    set: Sequence[str] | None = parameter(
        Texts("COLUMN"),
        "The column of items; of items in several columns or files, what to call it. Of facts with their m: "
        "code:m=2. May be repeated.",
        default=None,
    )
    items_file: Path | None = parameter(
        OneFile(), "Items in a second table, joined by --id-column.", default=None
    )
    keep_columns: str | None = parameter(
        Text("columns"), "Columns to publish as they are: nobody outside can know them.", default=None
    )
    drop: str | None = parameter(
        Text("columns"), "Columns not to publish, like all that have no role.", default=None
    )
    numeric: str | None = parameter(
        Text("columns"),
        "These of --qi are numbers (default: if all values are and there is no hierarchy).",
        default=None,
    )
    categorical: str | None = parameter(
        Text("columns"), "These of --qi are not numbers, even if they look so.", default=None
    )
    ranges: Sequence[str] | None = parameter(
        Texts("COLUMN[=WIDTH]"),
        "Build a hierarchy of ranges, such as age=10 or age=5,10,20. May be repeated.",
        default=None,
    )
    bounds: Sequence[str] | None = parameter(
        Texts("COLUMN=LEAST..GREATEST"),
        "Numbers between which all values lie, such as age=0..120: outer ranges end there. May be repeated.",
        default=None,
    )
    weight: Sequence[str] | None = parameter(
        Texts("COLUMN=NUMBER"), "How much a column's loss counts (default: 1). May be repeated.", default=None
    )
    age: Sequence[str] | None = parameter(
        Texts("NAME=BIRTH..DATE"),
        "Add a column with the age in full years at a date, of two columns (age=born..admitted) or at a day "
        "(age=born..2024-12-31). May be repeated.",
        default=None,
    )
    per_person: Sequence[str] | None = parameter(
        Texts("COLUMN=WAY"),
        "Which value counts of a column that differs on a person's lines, such as age=first: first, last, "
        "most-frequent, least or greatest. May be repeated.",
        default=None,
    )

    def __post_init__(self) -> None:
        if isinstance(self.set, str):  # records and projects hold a single text where one was given
            object.__setattr__(self, "set", (self.set,))

    @property
    def explicit_options(self) -> list[str]:
        """The options that were given."""
        return [_written(field.name) for field in fields(self) if getattr(self, field.name)]

    def arguments(self, hierarchies: Sequence[str] = ()) -> list[str]:
        """Return what was given, and hierarchies, as they are written on the command line."""
        said = {field.name: getattr(self, field.name) or None for field in fields(self)}
        return as_words({**said, "hierarchy": list(hierarchies)})

    def as_roles(self, hierarchies: Mapping[str, str] | None = None, hierarchy: str | None = None) -> Roles:
        """Make the roles of columns, with hierarchies of columns and of the items."""
        from setveil.rows.tables.roles import make_roles, require_one

        sets = [name for text in self.set or () for name in names_in(text)]
        require_one(sets, "set")
        return make_roles(
            qi=names_in(self.qi), set_name=next(iter(sets), None), keep=names_in(self.keep_columns),
            drop=names_in(self.drop), hierarchies=hierarchies, numeric=names_in(self.numeric),
            categorical=names_in(self.categorical), ranges=self.pairs("ranges", alone=True),
            bounds=self.pairs("bounds"), weights=self.pairs("weight"),
            hierarchy=hierarchy, per_person=self.pairs("per_person"), ages=self.pairs("age"),
        )  # fmt: skip

    def as_how(self, reading: Reading) -> How:
        """Say how the table is read."""
        from setveil.rows.tables.how import How

        if reading.same_ids:
            raise RequestError("--same-ids does not apply to tables with roles: each is one file.")
        return How(
            reading.format, reading.encoding, reading.separator, reading.delimiter, reading.item_columns,
            self.items_file, reading.id_column, reading.item_column, tuple(names_in(reading.not_ids)),
            reading.normalize, **reading.written(), lines=reading.as_lines(), lacking=reading.as_lacking(),
            also=also_of(reading.also or ()),
        )  # fmt: skip

    def pairs(self, key: str, *, alone: bool = False) -> dict[str, Any]:
        """Take COLUMN=VALUE apart; `alone`: a column may be named without a value."""
        found: dict[str, Any] = {}
        for text in getattr(self, key) or ():
            name, sign, value = text.rpartition("=") if "=" in text else (text, "", "")
            if not sign and not alone:
                kind = options_of(Columns)[key].kind.metavar
                raise RequestError(f"{_written(key)} must be {kind}, got {text!r}.")
            for one in [name] if sign else names_in(name):
                if one in found:
                    raise RequestError(f"{_written(key)}: column {one!r} is given twice.")
                found[one] = value if sign else True
        return found


PUBLISHED = ("roles", "qi", "set", "items_file", "keep_columns")  # of a table that is published
OF_VALUES = ("numeric", "categorical", "age", "per_person")  # what else says which values columns have


def _written(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def names_in(text: str | None) -> list[str]:
    """Take a list of columns apart, quoted as in csv where a name holds a comma."""
    from setveil.rows.data.columns import split_names

    return [] if text is None else split_names(text)


def split_hierarchies(texts: Sequence[str]) -> tuple[str | None, dict[str, str]]:
    """Take --hierarchy apart: FILE is that of the items, NAME=FILE that of a column."""
    plain: list[str] = []
    named: dict[str, str] = {}
    for text in texts:
        name, sign, file = text.partition("=")
        if not sign or Path(text).exists():
            plain.append(text)
        elif name in named:
            raise RequestError(f"--hierarchy: column {name!r} has two, {named[name]} and {file}.")
        else:
            named[name] = file
    return one_hierarchy(plain), named


def one_hierarchy(files: Sequence[str]) -> str | None:
    """Take the hierarchy of rows of items, which have no columns; None: there is none."""
    if len(files) > 1:
        raise RequestError(
            f"--hierarchy: {len(files)} files are given for the items, expected one.",
            hint="That of a column is named with it: --hierarchy age=age.csv.",
        )
    return next(iter(files), None)
