"""Options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Input = Annotated[str, typer.Argument(metavar="INPUT", help="File of rows; - reads standard input.")]
PROMISE = "The promise"

K = Annotated[
    int | None,
    typer.Option("--k", "-k", rich_help_panel=PROMISE, help="Everyone hides among at least k rows."),
]
M = Annotated[
    str | None,
    typer.Option(
        "--m",
        "-m",
        rich_help_panel=PROMISE,
        help="k^m-anonymity: items of a person that an attacker may know: 1, 2, ... or inf.",
    ),
]
Privacy = Annotated[
    str | None,
    typer.Option(
        "--privacy",
        rich_help_panel=PROMISE,
        help="Constraints: file of itemsets to protect; all (with --m: all m-itemsets); pgen (every row).",
    ),
]
H = Annotated[
    str | None,
    typer.Option(
        "--h", rich_help_panel=PROMISE, help="Coherence: greatest probability of a private item, such as 0.4."
    ),
]
P = Annotated[
    str | None,
    typer.Option(
        "--p",
        rich_help_panel=PROMISE,
        help="Coherence: public items that an attacker may know (or inf). Groups: privacy degree.",
    ),
]
Private = Annotated[
    str | None,
    typer.Option(
        "--private", rich_help_panel=PROMISE, help="Coherence: private items, a file or a list with commas."
    ),
]
Sensitive = Annotated[
    str | None,
    typer.Option(
        "--sensitive", rich_help_panel=PROMISE, help="Groups: sensitive items, a file or a list with commas."
    ),
]
SensitiveRandom = Annotated[
    int | None,
    typer.Option(
        "--sensitive-random",
        min=1,
        rich_help_panel=PROMISE,
        help="Groups: draw so many sensitive items by --seed, for experiments.",
    ),
]
HierarchyFile = Annotated[
    Path | None, typer.Option("--hierarchy", "-H", help="What items generalize to (leaf;parent;...;root).")
]
Format = Annotated[
    str | None,
    typer.Option("--format", help="fimi, basket, long, spmf, parquet or jsonl; by default told by the file."),
]
Encoding = Annotated[str, typer.Option("--encoding", help="Of text files.")]
Separator = Annotated[
    str | None, typer.Option("--separator", help="Between fields of basket and long files.")
]
IdColumn = Annotated[str | None, typer.Option("--id-column", help="Long table: column that names the row.")]
ItemColumn = Annotated[
    str | None, typer.Option("--item-column", help="Long table: column that holds the item.")
]
Seed = Annotated[
    int, typer.Option("--seed", min=0, help="Shuffles the published rows; same seed, same bytes.")
]
Json = Annotated[bool, typer.Option("--json", help="Print the answer as JSON on standard output.")]
