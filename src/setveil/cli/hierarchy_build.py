"""The command ``hierarchy build``: from the data, by a system of codes, or again below groups that stay."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from setveil.cli.help import OUTPUT, TREE
from setveil.cli.options import Force, Input, Reading, choice, flag, integer, number, option, source_of
from setveil.errors import RequestError, listed
from setveil.hierarchy.systems.known import NAMES
from setveil.hierarchy.systems.reading import ZEROS_ARE
from setveil.options.reading import Reading as ReadingOptions

WRITTEN = "Write this file: .csv (ARX), .txt or .json (Amnesia)."
TreeOut = Annotated[Path, option(OUTPUT, WRITTEN, "FILE", "-o")]

_WAYS = ("co-occurrence", "balanced", "prefix", "prefixes", "ranges", "dates")
_OF_ITEMS = _WAYS[:4]
ORDERS = ("number", "support", "appearance", "random")  # as in setveil.hierarchy._levels
_OBJECTIVES = ("lm", "entropy")
_BY = "Group items by shared rows, order or the beginning of codes; values by ranges or dates."


def _completed(begun: str) -> list[str]:
    return [name for name in NAMES if name.startswith(begun)]


def build(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    column: str | None = option(TREE, "Group the values of this column, not items.", "COLUMN"),
    by: str | None = choice(
        TREE,
        f"{_BY[:-1]} (default: {_WAYS[0]})",
        "way",
        _WAYS,
        brief="Choose how items or values are grouped.",
    ),
    fanout: int = integer(TREE, "Give each node this many children.", None, default=5),
    common: int = integer(TREE, "Place items of fewer rows last.", 0, default=5, brief=None),
    order: str | None = choice(TREE, "Order items by this (default: number).", "order", ORDERS, brief=None),
    seed: int | None = integer(TREE, "Draw a random order with this seed (default: 0).", 0, brief=None),
    at: str = option(
        TREE, "Cut codes at these characters: 250.83 to 250.", "CHARACTERS", default=".", brief=None
    ),
    lengths: str | None = option(TREE, "Cut codes at these lengths instead, such as 1,3.", "N,..."),
    widths: str | None = option(TREE, "Make ranges this wide, such as 5 or 5,10,20.", "NUMBER,..."),
    periods: str | None = option(TREE, "Group dates by these (default: month,quarter,year).", "WORD,..."),
    system: str | None = option(
        TREE,
        f"Group the codes of a classification: {', '.join(NAMES)}.",
        "SYSTEM",
        autocompletion=_completed,
        brief="Group the codes of a classification: icd9, atc, ...",
    ),
    names: Path | None = option(
        TREE,
        "Read the names of codes: lines of code,name.",
        "FILE",
    ),
    zeros: str | None = choice(
        TREE, "Say whether codes still have their leading zeros", "way", ZEROS_ARE, brief=None
    ),
    system_column: str | None = option(
        TREE, "Read 9 or 10 for each code from this column.", "COLUMN", brief=None
    ),
    strict: bool = flag(TREE, "Stop if an item is not a code.", brief=None),
    regroup: Path | None = option(
        TREE, "Group again what is below level --within of this hierarchy.", "FILE", brief=None
    ),
    within: int | None = integer(
        TREE, "Keep groups to this level; 1 is below the root.", 0, metavar="LEVEL", brief=None
    ),
    group: int | None = integer(TREE, "Put N members in a new group (default: 3 or 5).", 2, brief=None),
    learn_from: list[str] | None = option(
        TREE, "Learn new groups from these rows.", "FILE", "--from", brief=None
    ),
    k: int | None = integer(TREE, "Find the best groups for this k (default: 5).", 2, brief=None),
    m: int | None = integer(TREE, "Find the best groups for this m (default: 2).", 1, brief=None),
    objective: str | None = choice(TREE, "Minimize this loss (default: lm)", "loss", _OBJECTIVES, brief=None),
    time_limit: float | None = number(
        TREE, "Stop after this time with the best (default: 600).", 0, "SECONDS", brief=None
    ),
    extend: Path | None = option(TREE, "Keep this hierarchy and add missing items.", "FILE"),
    reading: Reading,
    out: TreeOut,
    force: Force = False,
) -> str:
    """Build a hierarchy from the data, or add missing items.

    $ setveil hierarchy build baskets.csv --out groups.csv
    $ setveil hierarchy build icd.csv --by prefix --lengths 1,3 --out codes.csv
    $ setveil hierarchy build icd.csv --system icd9 --out chapters.csv
    $ setveil hierarchy build ward.csv --column zip --by prefix -o zip.csv
    $ setveil hierarchy build baskets.csv --regroup products.csv --within 1 --out new.csv
    $ setveil hierarchy build more.csv --extend products.csv --out all.csv
    """
    from setveil.cli.files import read_rows, require_free
    from setveil.hierarchy import build as builders
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.options.decode import require_file

    require_free(out, force)
    source, cuts = source_of(input, reading), _lengths(lengths)
    require_file(extend)
    require_file(names)
    of_system = {"zeros": zeros, "system-column": system_column, "strict": strict or None}
    of_regroup = {
        "within": within, "group": group, "from": learn_from, "k": k, "m": m, "objective": objective,
        "time-limit": time_limit,
    }  # fmt: skip
    others = {"by": by, "lengths": lengths, "widths": widths, "periods": periods, "extend": extend}
    if system is None:
        _refuse(of_system, "is of --system", "Name one: --system icd9.")
    if regroup is None:
        _refuse(of_regroup, "is of --regroup", "Name a hierarchy: --regroup products.csv.")
    if system is not None:
        _refuse({**others, "regroup": regroup}, "does not go with --system")
        return _by_system(source, system, column, reading, out, progress, names=names, **of_system)
    if regroup is not None:
        _refuse({**others, "column": column}, "does not go with --regroup")
        return _regrouped(source, regroup, names, reading, out, progress, of_regroup)
    if by != "balanced":
        _refuse({"order": order}, "is of --by balanced", "Add it: --by balanced.")
    if order != "random":
        _refuse({"seed": seed}, "is of --order random", "Add it: --by balanced --order random.")
    _refuse({"names": names}, "is of --system and --regroup", "Name one of them.")
    if column is not None:
        if extend is not None:
            raise RequestError("--extend adds items, and --column is about the values of a column.")
        levels = _levels(by, lengths, widths, periods)
        progress("reading")
        return _of_column(source, column, levels, reading, out)
    if by not in (None, *_OF_ITEMS) or widths is not None or periods is not None:
        raise RequestError(
            "Items are no numbers and no dates: ranges and dates are built of a column.",
            hint="Name it: --column age.",
        )
    progress("reading")
    data = read_rows(source, reading)
    progress("building the hierarchy")
    if extend is not None:
        tree = builders.extend(read_hierarchy(extend, encoding=reading.text_encoding), data)
    elif by == "balanced":
        tree = builders.balanced(data, fanout, common=common, order=order or ORDERS[0], seed=seed or 0)
    elif by in ("prefix", "prefixes"):
        tree = builders.by_prefix(data, at=at, lengths=cuts)
    else:
        tree = builders.by_cooccurrence(data, fanout, common=common)
    write_hierarchy(tree, out)
    return (
        f"{out}: {tree.n_leaves:,} items, {tree.n_nodes - tree.n_leaves:,} inner nodes, height {tree.height}."
    )


def _refuse(options: Mapping[str, object], why: str, hint: str = "Omit it.") -> None:
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise RequestError(f"--{given} {why}.", hint=hint)


def _by_system(
    source: Any,
    system: str,
    column: str | None,
    reading: ReadingOptions,
    out: Path,
    progress: Any,
    **how: Any,
) -> str:
    """Build the hierarchy of a system of codes, and say what was changed and what is no code."""
    from setveil.cli.files import read_rows, say_spellings
    from setveil.data.set_fields import DELIMITER
    from setveil.data.spelling import NONE
    from setveil.data.transactions import Transactions
    from setveil.hierarchy.build import by_system
    from setveil.hierarchy.io import write_hierarchy
    from setveil.hierarchy.systems.known import systems_of
    from setveil.hierarchy.systems.reading import in_words
    from setveil.options.inputs import load_names
    from setveil.tables.how import How
    from setveil.tables.systems import systems_said

    systems_of(system)
    names = None if how["names"] is None else load_names(how["names"], reading.text_encoding)
    progress("reading")
    one_spelling = reading.normalize != NONE
    if column is None:
        data = read_rows(source, reading, spellings=False)
    else:
        fields = _values(source, column, reading)  # each with one code, or as a table has several
        sign = reading.delimiter or DELIMITER
        data = Transactions.from_rows(filter(None, map(str.strip, f.split(sign))) for f in fields)
        one_spelling = one_spelling and data.longest > 1  # else values of a column that is no set of codes
        if reading.normalize is not None:
            data = data.with_normal_labels(reading.normalize)
    said = None
    if how["system-column"] is not None:
        named = How(
            reading.format, reading.encoding, reading.separator, reading.delimiter, **reading.written()
        )
        said = systems_said(source, system, reading.item_column, how["system-column"], named)
    progress("building the hierarchy")
    tree, read = by_system(
        data, system, names=names, zeros=how["zeros"], strict=bool(how["strict"]), said=said,
        one_spelling=one_spelling,
    )  # fmt: skip
    if column is None and not read.spelled:
        say_spellings(data)
    write_hierarchy(tree, out)
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    return "\n".join(
        [
            f"{out}: {size_of(tree)}, height {tree.height}.",
            *in_words(read, supports if column is None else None),
        ]
    )


def _regrouped(
    source: Any,
    file: Path,
    names: Path | None,
    reading: ReadingOptions,
    out: Path,
    progress: Any,
    how: Mapping[str, Any],
) -> str:
    """Group again what is below some groups of a hierarchy, and say what was gained."""
    from setveil.cli.files import read_rows, say_spellings
    from setveil.hierarchy.fit import fit_rows
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.options.decode import require_file
    from setveil.options.inputs import load_names
    from setveil.studies.regroup import regroup

    require_file(file)
    if how["within"] is None:
        raise RequestError("--regroup needs --within.", hint="--within 1 keeps the groups below the root.")
    called = None if names is None else load_names(names, reading.text_encoding)
    progress("reading")
    given = read_hierarchy(file, encoding=reading.text_encoding)
    given, rows = fit_rows(given, read_rows(source, reading, spellings=False))
    say_spellings(rows)
    given.locate(rows.vocabulary)
    if how["from"]:
        rows = read_rows(how["from"], reading).with_spellings_of(given.labels[: given.n_leaves])
    asked = {name: how[name] for name in ("k", "m", "objective") if how[name] is not None}
    if how["time-limit"] is not None:
        asked["time_limit"] = how["time-limit"]
    found = regroup(rows, given, how["within"], group=how["group"], names=called, progress=progress, **asked)
    write_hierarchy(found.tree, out)
    return "\n".join([f"{out}: {size_of(found.tree)}, height {found.tree.height}.", *found.in_words()])


def _levels(by: str | None, lengths: str | None, widths: str | None, periods: str | None) -> Any:
    """Say how the hierarchy of a column is built: as --by says, or what was given for it."""
    from setveil.tables.levels import WAYS, levels_in

    given = {"prefix": lengths, "ranges": widths, "dates": periods}
    named = [way for way, steps in given.items() if steps is not None]
    way = "prefix" if by == "prefixes" else by or next(iter(named), None)
    if way not in WAYS:
        raise RequestError(
            f"A column has no hierarchy by {way}." if way else "Nothing says how the column is grouped.",
            hint=f"Say --by {listed(WAYS, 3)}".replace("'", "") + ".",
        )
    wrong = next((one for one in named if one != way), None)
    if wrong:
        option = {"prefix": "--lengths", "ranges": "--widths", "dates": "--periods"}[wrong]
        raise RequestError(f"{option} is of --by {wrong}, got --by {way}.")
    return levels_in(f"{way}:{given[way] or ''}")


def _of_column(source: Any, name: str, levels: Any, reading: ReadingOptions, out: Path) -> str:
    """Build the hierarchy of the values of a column, and say what each level keeps."""
    from setveil.hierarchy.io import write_hierarchy
    from setveil.hierarchy.tree import Hierarchy
    from setveil.tables.levels import in_words

    values = _values(source, name, reading)
    parents = levels.parents_of(name, values)
    write_hierarchy(Hierarchy(parents), out)
    return f"{out}: {in_words(parents, values)}."


def _values(source: Any, name: str, reading: ReadingOptions) -> list[str]:
    from setveil.tables.columns import How, column_values

    if not isinstance(source, str):
        raise RequestError("A column is read from one file.", hint="Put the files together.")
    how = How(reading.format, reading.encoding, reading.separator, **reading.written())
    return column_values(source, name, how)


def size_of(tree: Any) -> str:
    """Say how many items and inner nodes a tree has."""
    from setveil.wording import count

    return f"{count(tree.n_leaves, 'item')}, {count(tree.n_nodes - tree.n_leaves, 'inner node')}"


def _lengths(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise RequestError(
            f"--lengths must be integers separated by commas, e.g. 1,3, got {text!r}."
        ) from None
