"""From options to guarantees: missing and unnecessary options, options that replace others, drawn items."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import pytest

from setveil.base.errors import DataError, RequestError, on_command_line
from setveil.base.values.kinds import Share
from setveil.judges.guarantees import Guarantee, Model, model_named, models
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.kanonymity import TransactionalKAnonymity
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.privacydegree import PrivacyDegree
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import (
    applicable,
    conflicting_options,
    make_guarantee,
    missing,
    require_options,
    require_values,
)
from strategies import transactions

Texts = Mapping[str, Any]

# 20 items: i01 is in one row, i02 in two, and so on; of 20 rows.
ITEMS = [f"i{n:02}" for n in range(1, 21)]
DATA = transactions([frozenset(ITEMS[x:]) for x in range(20)])

DRAWING = {"p": 2, "sensitive_random": 3}
SHARE = {"h": "0.5", "k": 2, "p": 1}


def supports() -> dict[str, int]:
    return dict(zip(DATA.vocabulary.labels, DATA.supports().tolist(), strict=True))


@pytest.mark.parametrize(
    ("name", "texts", "gaps"),
    [
        ("km-anonymity", {}, [("k",), ("m",)]),
        ("km-anonymity", {"k": 2, "m": None}, [("m",)]),
        ("km-anonymity", {"k": 2, "m": "inf"}, []),
        ("k-anonymity", {}, [("k",)]),
        ("coherence", {"k": 2}, [("p",)]),  # h counts only if an item is private
        ("coherence", {"h": "0.5", "k": 2, "p": 1}, []),
        ("privacy-degree", {"p": 2}, [("sensitive", "sensitive_random")]),
        ("privacy-degree", {"p": 2, "sensitive": "a"}, []),
        ("privacy-degree", DRAWING, []),
        ("constraints", {"k": 2}, [("privacy",)]),
        ("constraints", {"k": 2, "privacy": "P.txt"}, []),
        ("constraints", {"k": 2, "privacy": "all"}, [("m",)]),
        ("constraints", {"k": 2, "privacy": "all", "m": 2}, []),
    ],
)
def test_what_is_missing(name: str, texts: Texts, gaps: list[tuple[str, ...]]) -> None:
    assert missing(model_named(name), texts) == gaps


@pytest.mark.parametrize(
    ("name", "texts", "said", "hint"),
    [
        ("km-anonymity", {}, "km-anonymity needs --k, --m.", ""),
        (
            "km-anonymity", {"epsilon": "1"}, "km-anonymity needs --k, --m.",
            "--epsilon is of differential-privacy. Choose by --model, and omit --algorithm.",
        ),
        ("constraints", {"k": 2}, "constraints needs --privacy.", ""),
        ("constraints", {"k": 2, "m": 2}, "constraints needs --privacy.", ""),
        ("constraints", {"k": 2, "privacy": "all"}, "--privacy all needs --m.", ""),
        (
            "privacy-degree", {}, "privacy-degree needs --p, --sensitive.",
            "For experiments: --sensitive-random instead.",
        ),
        (
            "k-anonymity", {"k": 2, "m": 2}, "k-anonymity has no --m; it takes --k.",
            "--m is of km-anonymity, constraints, kkm, mixed-km, km-rho, disassociated. "
            "Choose by --model, and omit --algorithm.",
        ),
        (
            "km-anonymity", {"k": 2, "m": 2, "h": "x", "private": "a"},
            "km-anonymity has no --h, --private; ",
            "--h is of coherence, kkm; --private is of coherence. "
            "Choose by --model, and omit --algorithm.",
        ),
        (
            "k-anonymity", {"k": 2, "sensitive_random": 2}, "k-anonymity has no --sensitive-random; ",
            "--sensitive-random is of privacy-degree. Choose by --model, and omit --algorithm.",
        ),
        (
            "constraints", {"k": 2, "privacy": "pgen", "m": 2}, "--m goes with --privacy all only.", "",
        ),
        (
            "privacy-degree", {**DRAWING, "sensitive": "a"},
            "The sensitive items are either named (--sensitive) or drawn (--sensitive-random).", "",
        ),
        (
            "coherence", {**SHARE, "private": "a", "private_share": "5%"},
            "The private items are either named (--private) or drawn (--private-share).", "",
        ),
        ("l-diversity", {"k": 2}, "There is no privacy model 'l-diversity'; there are km-anonymity, ", ""),
    ],
)  # fmt: skip
def test_refused(name: str, texts: Texts, said: str, hint: str) -> None:
    with on_command_line(), pytest.raises(RequestError) as caught:
        require_options(name, texts)
    assert caught.value.message.startswith(said)
    assert caught.value.hint == hint
    with pytest.raises(RequestError) as in_python:
        require_options(name, texts)
    assert "--" not in str(in_python.value)


@pytest.mark.parametrize("name", list(models()))
def test_examples_are_complete_and_missing_options_may_be_named(name: str) -> None:
    every: dict[str, Any] = dict.fromkeys(("h", "k", "m", "p", "private", "sensitive", "privacy"))
    require_options(name, every | dict(model_named(name).example))


def test_published_rows_name_their_secrets_and_nothing_is_drawn() -> None:
    require_options("privacy-degree", {"p": 2}, published=True)
    require_options("coherence", {**SHARE, "private": "a"}, published=True)
    for name, texts in (("privacy-degree", DRAWING), ("coherence", {**SHARE, "private_share": 0.1})):
        require_options(name, texts)
        with pytest.raises(RequestError, match=f"{name} has no [a-z]"):
            require_options(name, texts, published=True)
    with pytest.raises(RequestError, match="needs p"):
        require_options("privacy-degree", {}, published=True)


def test_an_option_may_apply_only_with_another() -> None:
    model = model_named("constraints")
    assert list(applicable(model, {"privacy": "all"})) == ["k", "privacy", "m"]
    for other in ("pgen", "P.txt", None):
        assert list(applicable(model, {"privacy": other})) == ["k", "privacy"]


def test_what_replaces_what() -> None:
    model = model_named("privacy-degree")
    assert conflicting_options(model, {**DRAWING, "sensitive": "a"}) == [("sensitive", "sensitive_random")]
    assert conflicting_options(model, {**DRAWING, "sensitive": None}) == []
    assert conflicting_options(model, {"sensitive": "a", "p": 2}) == []


@pytest.mark.parametrize(
    ("name", "texts", "guarantee"),
    [
        ("km-anonymity", {"k": 2, "m": "inf", "h": None}, KmAnonymity(2, math.inf)),
        ("km-anonymity", {"k": "3", "m": "2"}, KmAnonymity(3, 2)),
        ("k-anonymity", {"k": 4}, TransactionalKAnonymity(4)),
        ("constraints", {"k": 2, "privacy": "all", "m": 2}, PrivacyConstraints(2, m=2)),
        (
            "coherence", {"h": "1/3", "k": 2, "p": "inf", "private": "i02,i01"},
            Coherence(Fraction(1, 3), 2, math.inf, ["i02", "i01"]),
        ),
        ("coherence", SHARE, Coherence("0.5", 2, 1)),
        ("privacy-degree", {"p": 2, "sensitive": "i01"}, PrivacyDegree(2, ("i01",))),
    ],
)  # fmt: skip
def test_guarantees_are_made(name: str, texts: Texts, guarantee: Guarantee) -> None:
    assert make_guarantee(name, texts, Inputs(DATA)) == guarantee


def test_an_option_that_does_not_apply_is_not_looked_at() -> None:
    texts = {"k": 2, "privacy": "pgen", "m": "x"}
    assert make_guarantee("constraints", texts, Inputs(DATA)).as_dict()["model"] == "constraints"


@pytest.mark.parametrize(
    ("name", "texts", "said"),
    [
        ("km-anonymity", {"k": 2, "m": "x"}, "--m must be .*'x'"),
        ("km-anonymity", {"k": "x", "m": 2}, "--k must be .*'x'"),
        ("km-anonymity", {"k": 1, "m": 2}, "k must be .*got 1"),
        ("coherence", {"h": "2", "k": 2, "p": 1}, "h must be .*'2'"),
        ("privacy-degree", {"p": "x", "sensitive": "i01"}, "--p must be .*'x'"),
        ("privacy-degree", {"p": 2, "sensitive_random": "x"}, "--sensitive-random must be .*'x'"),
    ],
)
@pytest.mark.usefixtures("command_line")
def test_values_that_are_not_allowed(name: str, texts: Texts, said: str) -> None:
    with pytest.raises(RequestError, match=said):
        make_guarantee(name, texts, Inputs(DATA))


def test_items_that_are_not_in_the_data() -> None:
    texts = {"p": 2, "sensitive": "i01,zz"}
    with pytest.raises(DataError, match="'zz'"):
        make_guarantee("privacy-degree", texts, Inputs(DATA))
    guarantee = make_guarantee("privacy-degree", texts, Inputs(DATA, named_here=False))
    assert guarantee.secrets == ("i01", "zz")


def drawn(name: str, texts: Texts, seed: int) -> tuple[str, ...]:
    return make_guarantee(name, texts, Inputs(DATA, seed=seed)).secrets


@pytest.mark.parametrize(("name", "texts"), [("privacy-degree", DRAWING), ("coherence", SHARE)])
def test_items_are_drawn_by_the_seed(name: str, texts: dict[str, Any]) -> None:
    if name == "coherence":
        texts = {**texts, "private_share": "10%"}
    for seed in range(5):
        assert drawn(name, texts, seed) == drawn(name, texts, seed)
    assert len({drawn(name, texts, seed) for seed in range(5)}) > 1


def test_drawing_stays_the_same() -> None:
    """The raw stream of the generator is promised for ever; so are the items."""
    assert drawn("privacy-degree", DRAWING, 0) == FIRST
    assert drawn("coherence", {**SHARE, "private_share": 0.1}, 0) == FIRST_SHARE


FIRST = ("i02", "i03", "i04")
FIRST_SHARE = ("i03", "i04")


@pytest.mark.parametrize("p", [2, 3, 4, 10])
def test_items_that_are_drawn_can_be_hidden(p: int) -> None:
    """They are in at most one row of p, so that groups of p rows can hold one each."""
    possible = {item for item, support in supports().items() if support * p <= DATA.n_rows}
    found: set[str] = set()
    for seed in range(60):
        items = drawn("privacy-degree", {"p": p, "sensitive_random": 2}, seed)
        assert len(set(items)) == 2
        assert list(items) == sorted(items)
        found.update(items)
    assert found == possible
    assert set(drawn("privacy-degree", {"p": p, "sensitive_random": len(possible)}, 0)) == possible


@pytest.mark.parametrize(
    ("share", "number"), [("0", 0), ("2%", 0), ("2.5%", 1), (0.05, 1), ("7.4%", 1), ("7.5%", 2), ("20%", 4)]
)
def test_a_share_of_the_items_is_rounded_halves_up(share: Any, number: int) -> None:
    assert isinstance(model_named("coherence").options["private_share"].kind, Share)
    items = drawn("coherence", {**SHARE, "private_share": share}, 1)
    assert len(items) == number
    assert all(5 * supports()[item] <= DATA.n_rows for item in items)


def test_more_than_there_are() -> None:
    with pytest.raises(RequestError, match=r"^6 sensitive items .* only 5 items .* one row of p = 4\.$"):
        drawn("privacy-degree", {"p": 4, "sensitive_random": 6}, 0)
    with pytest.raises(RequestError, match=r"^5 private items .* only 4 items .* one row of 5\.$"):
        drawn("coherence", {**SHARE, "private_share": "25%"}, 0)
    with pytest.raises(RequestError, match="only 0 items"):
        make_guarantee("privacy-degree", DRAWING, Inputs(transactions([])))


@pytest.mark.parametrize("model", list(models().values()), ids=list(models()))
def test_a_guarantee_that_needs_no_data_is_made_once(model: Model) -> None:
    """Values that were checked make the guarantee, unless they name items of the data."""
    data = transactions([frozenset(row) for row in ("ab", "ac", "bs")] * 3)
    texts = {key: str(value) for key, value in model.example.items()}
    made = require_values(model.name, texts, "utf-8")
    named = any(model.options[key].kind.names_items for key in texts)
    assert (made is None) == (named or "privacy" in model.options)
    if made is not None:
        assert made == make_guarantee(model.name, texts, Inputs(data, "utf-8"))
