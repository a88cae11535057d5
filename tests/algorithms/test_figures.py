"""Figures that an algorithm records and setveil also measures: the same name, the same number."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.values.declared import options_of
from setveil.base.values.kinds import Choice, Flag, Kind, Share
from setveil.judges.guarantees import models
from setveil.methods import algorithms
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.rows.tables.table import Table
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee
from setveil.runs.run import anonymize
from strategies import examples, random_rows, seeded

PAIRS = [
    pytest.param(algorithms.load(name), model, id=f"{name}-{model}")
    for name in algorithms.names()
    for model in algorithms.load(name).info.guarantees
]


def random_data(rng: Random, model: str) -> Transactions:
    """Draw rows that the example of a model fits, with an age if it is about tables."""
    rows = [frozenset("as"), frozenset("bc"), *random_rows(rng, list("abcs"), rng.choice((6, 9, 14)), 3)]
    data = Transactions.from_rows([sorted(row) for row in rows])
    if models()[model].release != "tables":
        return data
    codes = np.array([rng.randrange(5) for _ in rows])
    used, places = np.unique(codes, return_inverse=True)
    texts = [("34", "36", "41", "45", "70")[at] for at in used.tolist()]
    ages = quasi_identifier("age", places.astype(np.int32), texts, numeric=True)
    return Table(data.indptr, data.items, data.vocabulary, columns=(ages,), header=("age", "items"))


def values_of(kind: Kind) -> Sequence[Any]:
    if isinstance(kind, Choice):
        return kind.words
    return (True, False) if isinstance(kind, Flag) else (0, 0.25, 1) if isinstance(kind, Share) else ()


def random_parameters(rng: Random, module: ModuleType) -> Any:
    """Draw those parameters of an algorithm that choose among a few values."""
    chosen: dict[str, Any] = {"universe": tuple("abcs")} if module.__name__.endswith("dp_blocks") else {}
    for name, option in options_of(module.Parameters).items():
        values = values_of(option.kind)
        if values and rng.random() < 0.5:
            chosen[name] = rng.choice(values)
    return module.Parameters(**chosen)


def numbers(found: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in found.items():
        if isinstance(value, Mapping):
            yield from numbers(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


@pytest.mark.parametrize(("module", "model"), PAIRS)
def test_reported_figures_are_the_measured_ones(module: ModuleType, model: str) -> None:
    rng = seeded(414)
    done = 0
    promise = dict(models()[model].example)
    if (module.__name__.rpartition(".")[2], model) == ("partial", "km-rho"):
        promise["k"] = 1  # it hides no rows
    for _ in range(examples(25, 6)):
        data = random_data(rng, model)
        try:
            parameters = random_parameters(rng, module)
            guarantee = make_guarantee(model, promise, Inputs(data))
            release = anonymize(data, guarantee, algorithm=parameters, details=False)
        except (InfeasibleError, RequestError):
            continue
        done += 1
        details, utility = release.release.details, release.utility
        assert not {name for name in details if name in utility and isinstance(utility[name], Mapping)}
        measured = dict(numbers(utility))
        for name, value in numbers(details):
            if name in measured:
                assert value == measured[name], (name, parameters)
        for entry in details.get("frontier", ()):
            if entry["chosen"]:
                shared = {name: value for name, value in entry.items() if name in measured}
                assert shared == {name: measured[name] for name in shared}, parameters
                assert shared
        found = details.get("optimality")
        if found and not found.get("weighted") and found["objective"] in measured:
            assert found["loss"] == pytest.approx(measured[found["objective"]], rel=1e-9), (found, parameters)
    assert done
