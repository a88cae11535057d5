"""The commands ``hierarchy build``, ``hierarchy check`` and ``hierarchy convert``."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from setveil.cli.options import Bundle, Input, Json, Reading, expanded, reading_options
from setveil.cli.session import answer, answer_json, run, say
from setveil.errors import RequestError
from setveil.options.reading import Reading as ReadingOptions

app = typer.Typer(
    name="hierarchy",
    no_args_is_help=True,
    help="Make, check and convert hierarchies: what items may be generalized to.",
)

SHOWN = 20

Separator = Annotated[str | None, typer.Option("--separator", help="Between the fields of a csv hierarchy.")]


class Way(StrEnum):
    """How `build` groups items."""

    cooccurrence = "co-occurrence"
    balanced = "balanced"
    prefix = "prefix"


@app.command()
@expanded
def build(
    input: Input,  # noqa: A002
    out: Annotated[
        Path, typer.Option("--out", "-o", help="File to write: .csv (ARX), .txt or .json (Amnesia).")
    ],
    by: Annotated[
        Way,
        typer.Option(
            "--by",
            help="co-occurrence: items bought alike sit together; balanced: consecutive items; "
            "prefix: codes that begin alike.",
        ),
    ] = Way.cooccurrence,
    fanout: Annotated[
        int, typer.Option("--fanout", help="Children of a node (co-occurrence, balanced).")
    ] = 5,
    at: Annotated[str, typer.Option("--at", help="Characters that end a prefix: 250.83 -> 250.")] = ".",
    lengths: Annotated[
        str | None, typer.Option("--lengths", help="Cut prefixes at these lengths instead, e.g. 1,3.")
    ] = None,
    extend: Annotated[
        Path | None, typer.Option("--extend", help="Keep this hierarchy and add the items it lacks.")
    ] = None,
    *,
    reading: Reading,
    force: Annotated[bool, typer.Option("--force", help="Replace the file.")] = False,
) -> None:
    """Build a hierarchy from the data, or add the items that a hierarchy lacks."""

    def build_tree(progress: Any) -> Any:
        from setveil.cli.files import read_rows, require_free
        from setveil.hierarchy import build as builders
        from setveil.hierarchy.io import read_hierarchy, write_hierarchy

        require_free(out, force)
        progress("reading")
        data = read_rows(input, reading)
        progress("building the hierarchy")
        if extend is not None:
            tree = builders.extend(read_hierarchy(extend, encoding=reading.text_encoding), data)
        elif by is Way.balanced:
            tree = builders.balanced(data, fanout)
        elif by is Way.prefix:
            tree = builders.by_prefix(data, at=at, lengths=_lengths(lengths))
        else:
            tree = builders.by_cooccurrence(data, fanout)
        write_hierarchy(tree, out)
        return tree

    tree = run(build_tree)
    say(
        f"{out}: {tree.n_leaves:,} items, {tree.n_nodes - tree.n_leaves:,} inner nodes, height {tree.height}."
    )


@app.command()
@expanded
def check(
    file: Annotated[Path, typer.Argument(metavar="HIERARCHY", help="The hierarchy to check.")],
    data: Annotated[
        str | None, typer.Option("--data", help="Check too that it holds every item of this file.")
    ] = None,
    separator: Separator = None,
    *,
    reading: Annotated[ReadingOptions, Bundle(lambda: reading_options("separator"), ReadingOptions)],
    json: Json = False,
) -> None:
    """List everything that is wrong with a hierarchy, with line numbers; exit code 4 if anything is."""

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


@app.command()
def convert(
    file: Annotated[Path, typer.Argument(metavar="HIERARCHY", help="ARX csv, Amnesia txt or json.")],
    output: Annotated[
        Path, typer.Argument(metavar="OUTPUT", help="File to write: .csv (ARX), .txt or .json (Amnesia).")
    ],
    encoding: Annotated[str, typer.Option("--encoding", help="Of text files.")] = "utf-8",
    separator: Separator = None,
    name: Annotated[str, typer.Option("--name", help="Name inside an Amnesia file.")] = "hierarchy",
    force: Annotated[bool, typer.Option("--force", help="Replace OUTPUT.")] = False,
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
