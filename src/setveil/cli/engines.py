"""The option --engine: where the rows are while a command looks at them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from setveil.base.errors import RequestError
from setveil.base.values.declared import as_words, options_of
from setveil.cli.help import GENERAL
from setveil.cli.options import choice
from setveil.judges.guarantees import model_named
from setveil.judges.guarantees.km import KmAnonymity
from setveil.runs.options.decode import plain_values, require_parameters
from setveil.runs.options.guarantees import require_options
from setveil.runs.options.models import settled_model
from setveil.runs.options.reading import Reading

MEMORY, PARTS, SPARK = "memory", "parts", "spark"


_PLACES = (MEMORY, PARTS, SPARK)
_MAKING = (
    "Where the rows are: in memory, in parts on disk next to --out, or on Spark. "
    "The last two read Parquet lists (parts: also text of rows) and give k^m-anonymity."
)
_CHECKING = (
    "Where the rows are: in memory, read a piece at a time (Parquet lists, text of rows), or on "
    "Spark (Parquet lists). The last two check k^m-anonymity."
)
_LOOKING = (
    "Where the rows are: in memory, or read a piece at a time (Parquet lists, text of rows), which "
    "tells the risk of one or two known items."
)
MakingEngine = Annotated[str, choice(GENERAL, _MAKING, "engine", _PLACES, brief=None)]
CheckingEngine = Annotated[str, choice(GENERAL, _CHECKING, "engine", _PLACES, brief=None)]
LookingEngine = Annotated[str, choice(GENERAL, _LOOKING, "engine", (MEMORY, PARTS), brief=None)]


def km_only(
    model: str | None, promise: Mapping[str, Any], engine: str, *, published: bool = False
) -> KmAnonymity:
    """Make the guarantee, which must be k^m-anonymity where rows are not in memory."""
    name = model or settled_model(promise)
    if name != KmAnonymity.model:
        raise RequestError(
            f"With --engine {engine} there is {KmAnonymity.model} only, got {name}.",
            hint=f"Other guarantees are kept and checked without --engine {engine}.",
        )
    require_options(name, promise, published=published)
    values = plain_values(model_named(name).options, promise, "utf-8")
    return KmAnonymity(**values)


def own_values(
    name: str, parameters: Any, own: Mapping[str, Any], reading: Reading, engine: str
) -> dict[str, Any]:
    """Turn the options of an algorithm into values, where no data are at hand to look items up in."""
    encoding = reading.text_encoding
    require_parameters(name, parameters, own, encoding)
    values = plain_values(options_of(parameters), own, encoding)
    lost = as_words({key: True for key, text in own.items() if text is not None and key not in values})
    if lost:
        raise RequestError(
            f"With --engine {engine} there is no {', '.join(lost)}.",
            hint=f"Without --engine {engine} there is.",
        )
    return values
