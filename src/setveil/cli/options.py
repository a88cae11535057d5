"""Options that several commands share."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Annotated

import typer

from setveil.errors import RequestError

Input = Annotated[str, typer.Argument(metavar="INPUT", help="File of rows; - reads standard input.")]
K = Annotated[int | None, typer.Option("--k", "-k", help="Everyone hides among at least k rows (2 or more).")]
M = Annotated[
    str | None,
    typer.Option("--m", "-m", help="Items of a person that an attacker may know: 1, 2, ... or inf."),
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


def parse_m(text: str) -> int | float:
    """Read the value of --m.

    Raises
    ------
    RequestError
        If it is neither an integer nor ``inf``.
    """
    if text.strip().lower() in {"inf", "infinity", "∞"}:
        return math.inf
    try:
        return int(text)
    except ValueError:
        raise RequestError(f"--m must be an integer of at least 1, or inf, got {text!r}.") from None


def parse_share(text: str | None) -> float | None:
    """Read a share: ``5%`` or ``0.05``.

    Raises
    ------
    RequestError
        If it is neither.
    """
    if text is None:
        return None
    number, percent, rest = text.strip().partition("%")
    try:
        share = Fraction(number.strip()) / (100 if percent else 1)
    except (ValueError, ZeroDivisionError):
        share = Fraction(-1)
    if rest or not 0 <= share <= 1:
        raise RequestError(f"A share must be 0% to 100%, such as 5% or 0.05, got {text!r}.")
    return float(share)
