"""The commands ``hierarchy build``, ``check``, ``convert`` and ``edit``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from setveil.cli.options import (
    OUTPUT,
    READING,
    TREE,
    Bundle,
    Force,
    Input,
    Reading,
    argument,
    choice,
    flag,
    integer,
    option,
    reading_options,
    source_of,
)
from setveil.cli.session import Answer, say
from setveil.errors import RequestError, listed
from setveil.hierarchy.systems.known import BOTH, NAMES
from setveil.hierarchy.systems.reading import ZEROS_ARE
from setveil.options.reading import Reading as ReadingOptions

HELP = "Make, check, convert and edit hierarchies: what items may be generalized to."

SHOWN = 20

Separator = Annotated[str | None, option(READING, "Between the fields of a csv hierarchy.", "CHARACTER")]
_WRITTEN = "File to write: .csv (ARX), .txt or .json (Amnesia)."
TreeOut = Annotated[Path, option(OUTPUT, _WRITTEN, "FILE", "-o")]

_WAYS = ("co-occurrence", "balanced", "prefix", "prefixes", "ranges", "dates")
_OF_ITEMS = _WAYS[:4]
_BY = "By what items share: rows, their place in the order, how their codes begin; columns: ranges, dates."


def _completed(begun: str) -> list[str]:
    return [name for name in NAMES if name.startswith(begun)]


def build(
    progress: Any,
    input: Input = None,  # noqa: A002
    *,
    column: str | None = option(TREE, "Of the values of a table's column, in place of items.", "COLUMN"),
    by: str | None = choice(TREE, f"{_BY[:-1]} (default: {_WAYS[0]}).", "way", _WAYS),
    fanout: int = integer(TREE, "co-occurrence, balanced: children of a node.", None, default=5),
    at: str = option(TREE, "prefix: characters that end one: 250.83 -> 250.", "CHARACTERS", default="."),
    lengths: str | None = option(TREE, "prefix: cut at these lengths instead, e.g. 1,3.", "N,..."),
    widths: str | None = option(TREE, "ranges: of the narrowest, or all, e.g. 5,10,20.", "NUMBER,..."),
    periods: str | None = option(
        TREE, "dates: some of day, month, quarter, year, decade (default: month,quarter,year).", "WORD,..."
    ),
    system: str | None = option(
        TREE,
        f"Of the codes of a classification: {', '.join(NAMES)}.",
        "SYSTEM",
        autocompletion=_completed,
    ),
    names: Path | None = option(TREE, "system: what codes and ranges stand for, lines of code,name.", "FILE"),
    zeros: str | None = choice(
        TREE, "system: whether numbers have the zeros they begin with.", "way", ZEROS_ARE
    ),
    system_column: str | None = option(
        TREE, "icd9+icd10, long table: the column that says 9 or 10 of each code.", "COLUMN"
    ),
    strict: bool = flag(TREE, "system: refuse items that are no codes, in place of grouping them."),
    extend: Path | None = option(TREE, "Keep this hierarchy and add the items it lacks.", "FILE"),
    reading: Reading,
    out: TreeOut,
    force: Force = False,
) -> str:
    """Build a hierarchy from the data, or add the items that a hierarchy lacks.

    $ setveil hierarchy build baskets.csv --out products.csv
    $ setveil hierarchy build icd.csv --by prefix --lengths 1,3 --out codes.csv
    $ setveil hierarchy build icd.csv --system icd9 --out chapters.csv
    $ setveil hierarchy build ward.csv --column zip --by prefix -o zip.csv
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
    of_system = {
        "names": names, "zeros": zeros, "system-column": system_column, "strict": strict or None,
    }  # fmt: skip
    if system is None:
        _refuse(of_system, "is of --system")
    else:
        others = {"by": by, "lengths": lengths, "widths": widths, "periods": periods, "extend": extend}
        _refuse(others, "does not go with --system")
        return _by_system(source, system, column, reading, out, progress, **of_system)
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
        tree = builders.balanced(data, fanout)
    elif by in ("prefix", "prefixes"):
        tree = builders.by_prefix(data, at=at, lengths=cuts)
    else:
        tree = builders.by_cooccurrence(data, fanout)
    write_hierarchy(tree, out)
    return (
        f"{out}: {tree.n_leaves:,} items, {tree.n_nodes - tree.n_leaves:,} inner nodes, height {tree.height}."
    )


def _refuse(options: Mapping[str, object], why: str) -> None:
    given = next((name for name, value in options.items() if value is not None), None)
    if given is not None:
        raise RequestError(
            f"--{given} {why}.", hint="Leave it out." if "not" in why else "Name one: --system icd9."
        )


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
    from setveil.cli.files import read_rows
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
    if column is None:
        data = read_rows(source, reading)
    else:
        data = Transactions.from_rows([value] for value in _values(source, column, reading))
    said = None
    if how["system-column"] is not None:
        if system != BOTH:
            raise RequestError(f"--system-column tells two systems apart, got --system {system}.")
        if reading.item_column is None or not isinstance(source, str):
            raise RequestError(
                "--system-column is read beside --item-column, from one long table.",
                hint="Or write 9: or 10: before each code.",
            )
        named = How(reading.format, reading.encoding, reading.separator)
        said = systems_said(source, reading.item_column, how["system-column"], named)
    progress("building the hierarchy")
    tree, read = by_system(
        data, system, names=names, zeros=how["zeros"], strict=bool(how["strict"]), said=said
    )
    write_hierarchy(tree, out)
    supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    return "\n".join([f"{out}: {_size(tree)}, height {tree.height}.", *in_words(read, supports)])


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
    return column_values(source, name, How(reading.format, reading.encoding, reading.separator))


def check(
    progress: Any,
    file: Path = argument("HIERARCHY", "The hierarchy to check."),
    data: str | None = option(READING, "Also check that it holds every item of this file.", "FILE"),
    separator: Separator = None,
    *,
    reading: Annotated[ReadingOptions, Bundle(lambda asked: reading_options("separator"), ReadingOptions)],
) -> Answer:
    """List every problem of a hierarchy, with line numbers; exit code 4 if there is any.

    $ setveil hierarchy check products.csv --data baskets.csv
    """
    from setveil.cli.files import read_rows
    from setveil.hierarchy.alone import alone_note
    from setveil.hierarchy.check import check_hierarchy
    from setveil.hierarchy.io import read_hierarchy

    progress("reading")
    rows = None
    if data is not None:
        rows = read_rows(data, reading)
    progress("checking")
    encoding = reading.text_encoding
    problems = check_hierarchy(file, rows, encoding=encoding, separator=separator)
    notes: list[str] = []
    if problems:
        shown = [str(problem) for problem in problems[:SHOWN]]
        if len(problems) > SHOWN:
            shown.append(f"and {len(problems) - SHOWN:,} more (--json lists all)")
    else:
        tree = read_hierarchy(file, encoding=encoding, separator=separator)
        shown = [f"{file}: {_size(tree)}, no problems."]
        items = tree.labels[: tree.n_leaves] if rows is None else rows.vocabulary.labels
        notes = [note] if (note := alone_note(tree, items)) else []
        shown += [f"Note: {note}" for note in notes]
    found: dict[str, Any] = {"problems": [{"line": p.line, "message": p.message} for p in problems]}
    if notes:
        found["notes"] = notes
    return Answer(found, "\n".join(shown), 4 if problems else 0)


def convert(
    progress: Any,
    file: Path = argument("HIERARCHY", "ARX csv, Amnesia txt or json."),
    output: Path = argument("OUTPUT", _WRITTEN),
    encoding: str = option(READING, "Of text files.", "ENCODING", default="utf-8"),
    separator: Separator = None,
    name: str = option(OUTPUT, "Name inside an Amnesia file.", "TEXT", default="hierarchy"),
    force: Force = False,
) -> str:
    """Convert a hierarchy between ARX's wide csv and Amnesia's text or JSON.

    $ setveil hierarchy convert products.csv products.json
    """
    from setveil.cli.files import require_free
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy

    require_free(output, force)
    progress("converting")
    tree = read_hierarchy(file, encoding=encoding, separator=separator)
    write_hierarchy(tree, output, name=name)
    return f"{output}: {_size(tree)}."


def edit(
    progress: Any,
    file: Path = argument("HIERARCHY", "The hierarchy to begin with."),
    edits: Path = argument("EDITS", "One edit per line, as JSON objects."),
    *,
    encoding: str = option(READING, "Of the hierarchy.", "ENCODING", default="utf-8"),
    separator: Separator = None,
    out: TreeOut,
    force: Force = False,
) -> str:
    """Edit a hierarchy: move, rename, merge, dissolve, group, add, remove, sort.

    $ setveil hierarchy edit products.csv edits.jsonl --out better.csv
    """
    from setveil.cli.files import require_free
    from setveil.hierarchy.edit import Draft
    from setveil.hierarchy.history import edited, read_edits
    from setveil.hierarchy.io import read_hierarchy, write_hierarchy
    from setveil.wording import are, count

    require_free(out, force)
    progress("reading")
    steps = read_edits(edits)
    tree = read_hierarchy(file, encoding=encoding, separator=separator)
    progress("editing")
    draft = edited(tree, steps, lambda name: Draft.of(read_hierarchy(edits.parent / name)))
    tree = draft.tree()
    write_hierarchy(tree, out)
    if empty := draft.empty_groups():
        say(f"{count(len(empty), 'empty group')} {are(len(empty))} left out: {listed(empty)}.")
    return f"{out}: {_size(tree)}."


def _size(tree: Any) -> str:
    from setveil.wording import count

    return f"{count(tree.n_leaves, 'item')}, {count(tree.n_nodes - tree.n_leaves, 'inner node')}"


def _lengths(text: str | None) -> list[int]:
    try:
        return [int(part) for part in text.split(",")] if text else []
    except ValueError:
        raise RequestError(
            f"--lengths must be integers separated by commas, e.g. 1,3, got {text!r}."
        ) from None


COMMANDS = (build, check, convert, edit)
