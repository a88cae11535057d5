"""The model to use if none is named, and if sensitive items are only measured."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from setveil.base.errors import RequestError
from setveil.judges.guarantees import model_named, models
from setveil.runs.options.guarantees import offered, require_options
from setveil.runs.options.models import bounds_inference, require_watched, settled_model

SEVERAL = ("km-anonymity", "coherence", "km-rho", "rho-uncertainty")
RHO = {"rho": "0.2", "sensitive": "s"}
KM = {"k": 5, "m": "2"}
COHERENCE = {"h": "0.4", "k": 5, "p": "2", "private": "s"}


def texts(options: dict[str, Any]) -> dict[str, Any]:
    """Options as a command has them: None where nothing was given."""
    every = {name: None for model in models().values() for name in model.options}
    assert options.keys() <= every.keys()
    return every | options


@pytest.mark.parametrize(
    ("options", "among", "model"),
    [
        # No algorithm is named: the first model, or by rho.
        ({}, (), "km-anonymity"),
        (KM, (), "km-anonymity"),
        ({"k": 5}, (), "km-anonymity"),
        (COHERENCE, (), "km-anonymity"),
        (KM | {"sensitive": "s"}, (), "km-anonymity"),
        (RHO, (), "rho-uncertainty"),
        ({"rho": "0.2"}, (), "rho-uncertainty"),
        (RHO | KM, (), "km-rho"),
        (RHO | KM | {"knows": "any"}, (), "km-rho"),
        (RHO | {"k": 5}, (), "km-rho"),
        (RHO | {"m": "inf"}, (), "km-rho"),
        # One that gives several: what suits.
        ({}, SEVERAL, "km-anonymity"),
        (KM, SEVERAL, "km-anonymity"),
        ({"k": 5}, SEVERAL, "km-anonymity"),
        ({"k": 1, "p": "2"}, SEVERAL, "coherence"),
        (KM | {"sensitive": "s"}, SEVERAL, "km-anonymity"),
        (COHERENCE, SEVERAL, "coherence"),
        ({"h": "0.4"}, SEVERAL, "coherence"),
        (RHO | KM, SEVERAL, "km-rho"),
        (RHO | {"k": 5}, SEVERAL, "km-rho"),
        (RHO, SEVERAL, "rho-uncertainty"),
        (RHO, tuple(reversed(SEVERAL)), "rho-uncertainty"),
        (KM, tuple(reversed(SEVERAL)), "km-anonymity"),
        # The only model lacks the described guarantee: choose it, and let it raise the error.
        (RHO | KM, ("km-anonymity",), "km-anonymity"),
        ({}, ("kkm", "mixed-km"), "kkm"),
    ],
)
def test_the_model_that_was_described(options: dict[str, Any], among: Sequence[str], model: str) -> None:
    assert settled_model(texts(options), among) == model


def test_which_models_bound_what_is_learned() -> None:
    assert [name for name in models() if bounds_inference(model_named(name))] == ["km-rho", "rho-uncertainty"]


@pytest.mark.parametrize("name", list(models()))
def test_where_items_are_only_looked_at(name: str) -> None:
    """Check releases of single rows whose model has no sensitive items of its own."""
    watching = name in {"km-anonymity", "k-anonymity", "constraints"}
    model = model_named(name)
    options = texts({**model.example, "sensitive": "s"})
    assert ("sensitive" in set(offered(model)) - set(model.options)) == watching
    if watching:
        require_options(name, options)
        require_watched(model, details=True)
        with pytest.raises(RequestError, match="details only"):
            require_watched(model, details=False)
        with pytest.raises(RequestError, match=f"{name} has no sensitive; it takes k"):
            require_options(name, options, published=True)
    else:
        with pytest.raises(RequestError, match="no further sensitive items"):
            require_watched(model, details=True)
        if "sensitive" not in model.options:
            with pytest.raises(RequestError, match=f"{name} has no sensitive"):
                require_options(name, options)


def test_the_hint_says_who_takes_rho() -> None:
    with pytest.raises(RequestError, match="km-anonymity has no rho; it takes k, m") as caught:
        require_options("km-anonymity", texts(KM | RHO))
    assert caught.value.hint.startswith("rho is of km-rho, rho-uncertainty, disassociated. ")


@pytest.mark.parametrize("name", ["km-rho", "rho-uncertainty"])
def test_sensitive_items_need_not_be_named_for_published_files(name: str) -> None:
    options = {key: value for key, value in model_named(name).example.items() if key != "sensitive"}
    require_options(name, texts(options), published=True)
    with pytest.raises(RequestError, match=f"{name} needs sensitive"):
        require_options(name, texts(options))
