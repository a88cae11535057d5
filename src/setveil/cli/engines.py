"""The option --engine: where the rows are while a command looks at them."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from setveil.cli.options import GENERAL, one_of

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
    _option(MEMORY, SPARK, text="Where the rows are: in memory, or on Spark (Parquet lists, k^m-anonymity)."),
]
