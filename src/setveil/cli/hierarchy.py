"""The commands ``hierarchy build``, ``check``, ``convert`` and ``edit``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import (
    OUTPUT,
    READING,
    TREE,
    Bundle,
    Command,
    Force,
    Group,
    Input,
    Json,
    Reading,
    expanded,
    integer_settings,
    one_of,
    reading_options,
    source_of,
)
from setveil.cli.session import answer, answer_json, run, say
from setveil.errors import RequestError, listed
from setveil.options.reading import Reading as ReadingOptions

app = typer.Typer(
    name="hierarchy",
    cls=Group,
    no_args_is_help=True,
    help="Make, check, convert and edit hierarchies: what items may be generalized to.",
)

SHOWN = 20

Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        metavar="CHARACTER",
        rich_help_panel=READING,
        help="Between the fields of a csv hierarchy.",
    ),
]

TreeOut = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        rich_help_panel=OUTPUT,
        help="File to write: .csv (ARX), .txt or .json (Amnesia).",
    ),
]

_WAYS = ("co-occurrence", "balanced", "prefix")
_BY = "By what items share: rows, their place in the order, or how their codes begin."

_BUILD = """Examples:

$ setveil hierarchy build baskets.csv --out products.csv

$ setveil hierarchy build icd.csv --by prefix --lengths 1,3 --out codes.csv

$ setveil hierarchy build more.csv --extend products.csv --out all.csv"""

_CHECK = """Example:

$ setveil hierarchy check products.csv --data baskets.csv"""

_CONVERT = """Example:

$ setveil hierarchy convert products.csv products.json"""

_EDIT = """Example:

$ setveil hierarchy edit products.csv edits.jsonl --out better.csv"""


@app.command(cls=Command, epilog=_BUILD)
@expanded
def build(
    input: Input = None,  # noqa: A002
    *,
    by: Annotated[
        str,
        typer.Option(
            "--by",
            rich_help_panel=TREE,
            **one_of("way", _WAYS, _BY),
        ),
    ] = _WAYS[0],
    fanout: Annotated[
        int,
        typer.Option(
            "--fanout",
            rich_help_panel=TREE,
            help="co-occurrence, balanced: children of a node.",
            **integer_settings(),
        ),
    ] = 5,
    at: Annotated[
        str,
        typer.Option(
            "--at",
            metavar="CHARACTERS",
            rich_help_panel=TREE,
            help="prefix: characters that end one: 250.83 -> 250.",
        ),
    ] = ".",
    lengths: Annotated[
        str | None,
        typer.Option(
            "--lengths",
            metavar="N,...",
            rich_help_panel=TREE,
            help="prefix: cut at these lengths instead, e.g. 1,3.",
        ),
    ] = None,
    extend: Annotated[
        Path | None,
        typer.Option(
            "--extend",
            metavar="FILE",
            rich_help_panel=TREE,
            help="Keep this hierarchy and add the items it lacks.",
        ),
    ] = None,
    reading: Reading,
    out: TreeOut,
    force: Force = False,
) -> None:
    """Build a hierarchy from the data, or add the items that a hierarchy lacks."""

    def build_tree(progress: Any) -> Any:
        from setveil.cli.files import read_rows, require_free
        from setveil.hierarchy import build as builders
        from setveil.hierarchy.io import read_hierarchy, write_hierarchy
        from setveil.options.decode import require_file

        require_free(out, force)
        source, cuts = source_of(input, reading), _lengths(lengths)
        require_file(extend)
        progress("reading")
        data = read_rows(source, reading)
        progress("building the hierarchy")
        if extend is not None:
            tree = builders.extend(read_hierarchy(extend, encoding=reading.text_encoding), data)
        elif by == "balanced":
            tree = builders.balanced(data, fanout)
        elif by == "prefix":
            tree = builders.by_prefix(data, at=at, lengths=cuts)
        else:
            tree = builders.by_cooccurrence(data, fanout)
        write_hierarchy(tree, out)
        return tree

    tree = run(build_tree)
    say(
        f"{out}: {tree.n_leaves:,} items, {tree.n_nodes - tree.n_leaves:,} inner nodes, height {tree.height}."
    )


@app.command(cls=Command, epilog=_CHECK)
@expanded
def check(
    file: Annotated[Path, typer.Argument(metavar="HIERARCHY", help="The hierarchy to check.")],
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="FILE",
            rich_help_panel=READING,
            help="Also check that it holds every item of this file.",
        ),
    ] = None,
    separator: Separator = None,
    *,
    reading: Annotated[ReadingOptions, Bundle(lambda asked: reading_options("separator"), ReadingOptions)],
    json: Json = False,
) -> None:
    """List every problem of a hierarchy, with line numbers; exit code 4 if there is any."""

    def check_file(progress: Any) -> Any:
        from setveil.cli.files import read_rows
        from setveil.hierarchy.check import check_hierarchy
        from setveil.hierarchy.io import read_hierarchy

        progress("reading")
        rows = None
        if data is not None:
            rows = read_rows(data, reading)
        progress("checking")
        encoding = reading.text_encoding
        problems = check_hierarchy(file, rows, encoding=encoding, separator=separator)
        return problems, None if problems else read_hierarchy(file, encoding=encoding, separator=separator)

    problems, tree = run(check_file)
    if json:
        answer_json({"problems": [{"line": p.line, "message": p.message} for p in problems]})
    elif problems:
        answer("\n".join(str(problem) for problem in problems[:SHOWN]))
        if len(problems) > SHOWN:
            answer(f"and {len(problems) - SHOWN:,} more (--json lists all)")
    else:
        answer(f"{file}: {_size(tree)}, no problems.")
    if problems:
        raise typer.Exit(4)


@app.command(cls=Command, epilog=_CONVERT)
@expanded
def convert(
    file: Annotated[Path, typer.Argument(metavar="HIERARCHY", help="ARX csv, Amnesia txt or json.")],
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write: .csv (ARX), .txt or .json (Amnesia).")
    ],
    encoding: Annotated[
        str,
        typer.Option("--encoding", metavar="ENCODING", rich_help_panel=READING, help="Of text files."),
    ] = "utf-8",
    separator: Separator = None,
    name: Annotated[
        str,
        typer.Option("--name", metavar="TEXT", rich_help_panel=OUTPUT, help="Name inside an Amnesia file."),
    ] = "hierarchy",
    force: Force = False,
) -> None:
    """Convert a hierarchy between ARX's wide csv and Amnesia's text or JSON."""

    def convert_file(progress: Any) -> Any:
        from setveil.cli.files import require_free
        from setveil.hierarchy.io import read_hierarchy, write_hierarchy

        require_free(output, force)
        progress("converting")
        tree = read_hierarchy(file, encoding=encoding, separator=separator)
        write_hierarchy(tree, output, name=name)
        return tree

    tree = run(convert_file)
    say(f"{output}: {_size(tree)}.")


@app.command(cls=Command, epilog=_EDIT)
@expanded
def edit(
    file: Annotated[Path, typer.Argument(metavar="HIERARCHY", help="The hierarchy to begin with.")],
    edits: Annotated[Path, typer.Argument(metavar="EDITS", help="One edit per line, as JSON objects.")],
    *,
    encoding: Annotated[
        str,
        typer.Option("--encoding", metavar="ENCODING", rich_help_panel=READING, help="Of the hierarchy."),
    ] = "utf-8",
    separator: Separator = None,
    out: TreeOut,
    force: Force = False,
) -> None:
    """Edit a hierarchy: move, rename, merge, dissolve, group, add, remove, sort."""

    def edit_file(progress: Any) -> Any:
        from setveil.cli.files import require_free
        from setveil.hierarchy.edit import Draft
        from setveil.hierarchy.history import edited, read_edits
        from setveil.hierarchy.io import read_hierarchy, write_hierarchy

        require_free(out, force)
        progress("reading")
        steps = read_edits(edits)
        tree = read_hierarchy(file, encoding=encoding, separator=separator)
        progress("editing")
        draft = edited(tree, steps, lambda name: Draft.of(read_hierarchy(edits.parent / name)))
        tree = draft.tree()
        write_hierarchy(tree, out)
        return tree, draft.empty_groups()

    tree, empty = run(edit_file)
    if empty:
        from setveil.wording import are, count

        say(f"{count(len(empty), 'empty group')} {are(len(empty))} left out: {listed(empty)}.")
    say(f"{out}: {_size(tree)}.")


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
