"""The option --engine: where the rows are while a command looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from setveil.cli.options import GENERAL, one_of
from setveil.errors import RequestError
from setveil.guarantees import model_named
from setveil.guarantees.km import KmAnonymity
from setveil.options.decode import plain_values
from setveil.options.guarantees import require_options
from setveil.options.models import settled_model

MEMORY, PARTS, SPARK = "memory", "parts", "spark"


def _option(*engines: str, text: str) -> Any:
    return typer.Option("--engine", rich_help_panel=GENERAL, **one_of("engine", engines, text))


MakingEngine = Annotated[
    str,
    _option(
        MEMORY, PARTS, SPARK,
        text="Where the rows are: in memory, in parts on disk beside --out (aa), or on Spark (aa, exact). "
        "The last two read Parquet lists (parts: also text of rows) and give k^m-anonymity.",
    ),
]  # fmt: skip
CheckingEngine = Annotated[
    str,
    _option(
        MEMORY, PARTS, SPARK,
        text="Where the rows are: in memory, read a piece at a time (Parquet lists, text of rows), or on "
        "Spark (Parquet lists). The last two check k^m-anonymity.",
    ),
]  # fmt: skip


def km_only(
    model: str | None, promise: Mapping[str, Any], engine: str, *, published: bool = False
) -> KmAnonymity:
    """Make the promise, which must be k^m-anonymity where rows are not in memory.

    Raises
    ------
    RequestError
        If it is another one, or k or m is missing.
    """
    name = model or settled_model(promise)
    if name != KmAnonymity.model:
        raise RequestError(
            f"With --engine {engine} there is {KmAnonymity.model} only, got {name}.",
            hint=f"Other promises are kept and checked without --engine {engine}.",
        )
    require_options(name, promise, published=published)
    values = plain_values(model_named(name).options, promise, "utf-8")
    return KmAnonymity(**values)
