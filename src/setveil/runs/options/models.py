"""Which privacy model is meant where none is named, and where items may be looked at next to a guarantee."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.errors import RequestError, faces
from setveil.judges.guarantees import FIRST, Model, absent_items, model_named, models
from setveil.runs.options.guarantees import WATCHED, missing, offered

RECOMMENDED = {  # options of models that recommend takes
    "km-anonymity": ("k", "m"),
    "km-rho": ("rho", "sensitive", "knows"),
    "coherence": ("private", "h"),
}


def settled_model(texts: Mapping[str, Any], among: Sequence[str] = ()) -> str:
    """Choose the model if none is named: the one that the options describe best; None in `texts`: not given.

    `among`: the models that the algorithm gives; if empty, no algorithm is named, and without rho it is the
    first of all. With rho it is one of those that bound what is learned, without rho none of these. Of the
    models that use most of the options it is the first of those that need the fewest others. So k and m with
    rho are (k, rho)^m-anonymity, and rho alone is rho-uncertainty.

    >>> settled_model({"k": 5, "m": "2", "rho": None, "sensitive": None})
    'km-anonymity'
    >>> settled_model({"k": 5, "m": "2", "rho": "0.2", "sensitive": "HIV"})
    'km-rho'
    >>> settled_model({"k": None, "m": None, "rho": "0.2", "sensitive": "HIV"})
    'rho-uncertainty'
    """
    if texts.get("rho") is None and not among:
        return FIRST
    names = list(among) or list(models())
    bounding = [name for name in names if bounds_inference(model_named(name))]
    if texts.get("rho") is not None:
        among = bounding or names
    else:
        among = [name for name in names if name not in bounding] or names

    def lacks(name: str) -> tuple[int, int]:
        model = model_named(name)
        known = offered(model)
        unknown = [key for key, text in texts.items() if text is not None and key not in known]
        return len(unknown), len(missing(model, texts))

    return min(among, key=lacks)


def require_nothing_absent(guarantee: Any) -> None:
    """Refuse a guarantee about absent items, or whole codes, where the rows are not in memory."""
    if guarantee.of_codes:
        raise RequestError("Facts are read in memory.", hint="Omit --engine.")
    if absent_items(guarantee):
        raise RequestError(
            "Of absent items something is guaranteed where all rows are in memory, not in parts or on Spark.",
            hint=faces("Omit --engine, or --absent.", "Omit absent."),
        )


def bounds_inference(model: Model) -> bool:
    """Whether a model bounds the confidence in sensitive items (rho), which it may suppress everywhere."""
    return "rho" in model.options and model.options["rho"].needed


def require_watched(model: Model, *, details: bool) -> None:
    """Refuse to look at items that a guarantee says nothing of, where that is not done."""
    if WATCHED not in offered(model) or WATCHED in model.options:
        raise RequestError(
            f"Of {model.title} no further sensitive items are looked at.",
            hint="Name them in the guarantee."
            if any(option.secret for option in model.options.values())
            else "`setveil risk` looks at any rows.",
        )
    if not details:
        raise RequestError(
            "Sensitive items are looked for among the details only, and these are omitted.",
            hint=faces("Omit --no-details.", "Add details=True."),
        )
