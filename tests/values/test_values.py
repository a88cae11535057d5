"""Declarations of parameters: complete, with a kind that accepts the defaults."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from setveil.base.values.declared import Option, options_of, parameter
from setveil.base.values.kinds import (
    Choice,
    Flag,
    GroupsOfItems,
    Integer,
    ItemFile,
    Items,
    Itemsets,
    ItemWeights,
    Kind,
    Number,
    Probability,
    Share,
    Size,
    Text,
    Texts,
)
from setveil.methods import algorithms
from setveil.runs.options.reading import DETECTED, Reading
from setveil.work.studies.compare.settings import accepted

MODULES = [pytest.param(algorithms.load(name), id=name) for name in algorithms.names()]
every_algorithm = pytest.mark.parametrize("module", MODULES)

ALLOWED = [
    (Flag(), "true or false"),
    (Integer(), "an integer of at least 1"),
    (Integer(0), "an integer of at least 0"),
    (Size(), 'an integer of at least 1, or "inf"'),
    (Number(), "a number of at least 0"),
    (Number("seconds", positive=True), "a positive number of seconds"),
    (Share(), "a share, 0 to 1"),
    (Share("the items"), "a share of the items, 0 to 1"),
    (Probability(), "a number above 0 and at most 1"),
    (Choice(("ncp", "lm")), '"ncp" or "lm"'),
    (Text(), "text"),
    (Text("a column"), "a column"),
    (ItemFile(), "a file of items"),
    (ItemWeights(), "a file of lines item,number"),
    (Items(), "a file of items, or items with commas between them"),
    (Itemsets(), 'a file of itemsets, "all" or "pgen"'),
    (GroupsOfItems(), 'a file of itemsets, "any", "siblings", "siblings:LEVEL" or "groups:SIZE"'),
]


@pytest.mark.parametrize(("kind", "allowed"), ALLOWED)
def test_what_is_allowed_is_said(kind: Kind, allowed: str) -> None:
    assert kind.allowed == allowed


def test_items_must_not_leave_the_house() -> None:
    found = {type(kind) for kind, _ in ALLOWED if kind.names_items}
    assert found == {ItemFile, ItemWeights, Items, Itemsets, GroupsOfItems}


@every_algorithm
def test_all_parameters_are_declared(module: ModuleType) -> None:
    fields = dataclasses.fields(module.Parameters)
    options = options_of(module.Parameters)
    assert list(options) == [field.name for field in fields]
    for option in options.values():
        assert isinstance(option, Option)
        assert isinstance(option.kind, Kind)
        assert option.help.endswith(".")
        assert not option.needed
    keys = [option.study_name or name for name, option in options.items()]
    assert len(set(keys)) == len(keys)


@every_algorithm
def test_defaults_are_of_their_kind(module: ModuleType, tmp_path: Path) -> None:
    """Check that None and values read from files are not plain."""
    parameters = module.Parameters()
    for name, option in options_of(module.Parameters).items():
        default = getattr(parameters, name)
        if default is None:
            continue
        if option.kind.names_items:
            assert len(default) == 0
            continue
        taken: Any = accepted(option.kind, default, name, tmp_path)
        assert default == (float("inf") if taken == "inf" else taken)
        assert isinstance(taken, bool) == isinstance(option.kind, Flag)


def test_reading_is_declared() -> None:
    assert list(options_of(Reading)) == [field.name for field in dataclasses.fields(Reading)]
    assert all(
        isinstance(option.kind, Choice | Text | Flag | Integer | Texts)
        for option in options_of(Reading).values()
    )
    assert DETECTED.explicit_options() == {}
    assert DETECTED.arguments() == []
    assert DETECTED.text_encoding == "utf-8"
    some = Reading(format="long", id_column="order")
    assert some.explicit_options() == {"format": "long", "id_column": "order"}
    assert some.arguments() == ["--format", "long", "--id-column", "order"]


def test_a_default_may_be_made_anew() -> None:
    @dataclasses.dataclass(frozen=True)
    class Parameters:
        rounds: int = parameter(Integer(0), "How often.", default=3, study_name="times")
        names: list[str] = parameter(Items(), "Which.", default_factory=list)

    assert Parameters().rounds == 3
    assert Parameters().names == []
    assert Parameters().names is not Parameters().names
    assert options_of(Parameters) == {
        "rounds": Option(Integer(0), "How often.", study_name="times"),
        "names": Option(Items(), "Which."),
    }
