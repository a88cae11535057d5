"""The commands ``hierarchy build`` (in `hierarchy_build.py`), ``check``, ``convert`` and ``edit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from setveil.base.errors import listed
from setveil.cli.bundles import Bundle, reading_of, reading_options
from setveil.cli.help import OUTPUT, READING
from setveil.cli.hierarchy_build import WRITTEN, TreeOut, build, size_of
from setveil.cli.options import Force, argument, option
from setveil.cli.session import Answer, say
from setveil.runs.options.reading import Reading as ReadingOptions

HELP = "Build, check, convert and edit hierarchies of items."

SHOWN = 20

Separator = Annotated[
    str | None, option(READING, "Separate the fields of a csv hierarchy by this.", "CHARACTER")
]


def check(
    progress: Any,
    file: Path = argument("HIERARCHY", "Check this hierarchy."),
    data: str | None = option(READING, "Also check that it contains every item of this file.", "FILE"),
    separator: Separator = None,
    *,
    reading: Annotated[ReadingOptions, Bundle(lambda: reading_options("separator"), reading_of)],
) -> Answer:
    """List every problem of a hierarchy (exit code 4), with line numbers.

    $ setveil hierarchy check products.csv --data baskets.csv
    """
    from setveil.cli.files import read_rows
    from setveil.rows.hierarchy.alone import alone_note
    from setveil.rows.hierarchy.check import check_hierarchy
    from setveil.rows.hierarchy.io import read_hierarchy

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
        shown = [f"{file}: {size_of(tree)}, no problems."]
        items = tree.labels[: tree.n_leaves] if rows is None else rows.vocabulary.labels
        notes = [note] if (note := alone_note(tree, items)) else []
        shown += [f"Note: {note}" for note in notes]
    found: dict[str, Any] = {"problems": [{"line": p.line, "message": p.message} for p in problems]}
    if notes:
        found["notes"] = notes
    return Answer(found, "\n".join(shown), 4 if problems else 0)


def convert(
    progress: Any,
    file: Path = argument("HIERARCHY", "Read this hierarchy: csv, indented text, or json."),
    output: Path = argument("OUTPUT", WRITTEN),
    encoding: str = option(READING, "Read and write text in this encoding.", "ENCODING", default="utf-8"),
    separator: Separator = None,
    name: str = option(OUTPUT, "Use this name in an Amnesia file.", "TEXT", default="hierarchy"),
    force: Force = False,
) -> str:
    """Convert a hierarchy between ARX's csv and Amnesia's formats.

    $ setveil hierarchy convert products.csv products.json
    """
    from setveil.cli.files import require_free
    from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy

    require_free(output, force)
    progress("converting")
    tree = read_hierarchy(file, encoding=encoding, separator=separator)
    write_hierarchy(tree, output, name=name)
    return f"{output}: {size_of(tree)}."


def edit(
    progress: Any,
    file: Path = argument("HIERARCHY", "Edit this hierarchy."),
    edits: Path = argument("EDITS", "Read the edits here, a JSON object per line."),
    *,
    encoding: str = option(READING, "Read the hierarchy in this encoding.", "ENCODING", default="utf-8"),
    separator: Separator = None,
    out: TreeOut,
    force: Force = False,
) -> str:
    """Edit a hierarchy: move, rename, merge, dissolve, group, add, remove, sort.

    $ setveil hierarchy edit products.csv edits.jsonl --out better.csv
    """
    from setveil.base.wording import are, count
    from setveil.cli.files import require_free
    from setveil.rows.hierarchy.edit import Draft
    from setveil.rows.hierarchy.history import edited, read_edits
    from setveil.rows.hierarchy.io import read_hierarchy, write_hierarchy

    require_free(out, force)
    progress("reading")
    steps = read_edits(edits)
    tree = read_hierarchy(file, encoding=encoding, separator=separator)
    progress("editing")
    draft = edited(tree, steps, lambda name: Draft.of(read_hierarchy(edits.parent / name)))
    tree = draft.tree()
    write_hierarchy(tree, out)
    if empty := draft.empty_groups():
        say(f"{count(len(empty), 'empty group')} {are(len(empty))} omitted: {listed(empty)}.")
    return f"{out}: {size_of(tree)}."


COMMANDS = (build, check, convert, edit)
