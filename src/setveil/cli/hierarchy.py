"""The commands ``hierarchy build``, ``check``, ``convert`` and ``edit``."""

from __future__ import annotations

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
    integer,
    option,
    reading_options,
    source_of,
)
from setveil.cli.session import Answer, say
from setveil.errors import RequestError, listed
from setveil.options.reading import Reading as ReadingOptions

HELP = "Make, check, convert and edit hierarchies: what items may be generalized to."

SHOWN = 20

Separator = Annotated[str | None, option(READING, "Between the fields of a csv hierarchy.", "CHARACTER")]
_WRITTEN = "File to write: .csv (ARX), .txt or .json (Amnesia)."
TreeOut = Annotated[Path, option(OUTPUT, _WRITTEN, "FILE", "-o")]

_WAYS = ("co-occurrence", "balanced", "prefix", "prefixes", "ranges", "dates")
_OF_ITEMS = _WAYS[:4]
_BY = "By what items share: rows, their place in the order, how their codes begin; columns: ranges, dates."


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
    extend: Path | None = option(TREE, "Keep this hierarchy and add the items it lacks.", "FILE"),
    reading: Reading,
    out: TreeOut,
    force: Force = False,
) -> str:
    """Build a hierarchy from the data, or add the items that a hierarchy lacks.

    $ setveil hierarchy build baskets.csv --out products.csv
    $ setveil hierarchy build icd.csv --by prefix --lengths 1,3 --out codes.csv
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
    from setveil.tables.columns import How, column_values
    from setveil.tables.levels import in_words

    if not isinstance(source, str):
        raise RequestError("A column is read from one file.", hint="Put the files together.")
    how = How(reading.format, reading.encoding, reading.separator)
    values = column_values(source, name, how)
    parents = levels.parents_of(name, values)
    write_hierarchy(Hierarchy(parents), out)
    return f"{out}: {in_words(parents, values)}."


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
