"""`explore` and `recommend` take a guarantee as an object, and find what its parameters find."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import setveil as sv
from setveil.base.errors import RequestError
from setveil.commands.recommend import _parts_of, promised
from setveil.rows.tables.table import Table

ROWS = [["a", "b"], ["a", "b", "s"], ["a", "c"], ["b", "c", "s"], ["a", "s"], ["a", "b", "c"]] * 2
GIVEN: list[tuple[Any, dict[str, Any]]] = [
    (sv.KmAnonymity(3, 1), {"k": 3, "m": 1}),
    (sv.KKmAnonymity(3, 1), {"k": 3, "m": 1}),
    (sv.KmRho(3, 1, 0.2, ["s"], "any"), {"k": 3, "m": 1, "rho": 0.2, "sensitive": ("s",), "knows": "any"}),
    (sv.RhoUncertainty("1/3", ["s"]), {"rho": "1/3", "sensitive": ("s",)}),
    (sv.Coherence(0.4, 2, 3, ["s"]), {"k": 2, "m": 3, "private": ("s",), "h": "2/5"}),
]
NOTHING = dict.fromkeys(("k", "m", "rho", "sensitive", "knows", "private", "h"))


def _cells(found: Any) -> list[dict[str, Any]]:
    return [{name: value for name, value in cell.items() if name != "seconds"} for cell in found["cells"]]


def _table() -> Table:
    frame = [{"age": str(20 + at % 3), "codes": ";".join(row)} for at, row in enumerate(ROWS)]
    pandas = pytest.importorskip("pandas")
    return sv.read_table(pandas.DataFrame(frame), qi=["age"], set="codes")


@pytest.mark.parametrize(("guarantee", "parts"), GIVEN)
def test_recommend_promises_the_same(guarantee: Any, parts: dict[str, Any]) -> None:
    assert promised(**NOTHING | _parts_of(guarantee)) == promised(**NOTHING | parts)


def test_recommend_finds_the_same() -> None:
    found, same = (
        sv.recommend(ROWS, **options, jobs=1)["best"] for options in ({"guarantee": GIVEN[0][0]}, GIVEN[0][1])
    )
    assert found is not None
    assert same is not None
    assert (found["algorithm"], found["options"], found["lm"]) == (
        same["algorithm"],
        same["options"],
        same["lm"],
    )


def test_explore_finds_the_same_in_any_order() -> None:
    several = [sv.KmRho(k, m, rho, ["s"]) for rho in ("1/3", "1/2") for m in (2, 1) for k in (3, 2)]
    found = sv.explore(ROWS, several)
    same = sv.explore(ROWS, k=[2, 3], m=[1, 2], rho=["1/2", "1/3"], sensitive=["s"])
    assert _cells(found) == _cells(same)
    assert (found["sensitive"], found["rho"]) == (same["sensitive"], same["rho"])
    for data, guarantee in ((ROWS, sv.KmAnonymity(3, 1)), (_table(), sv.KKmAnonymity(3, 1))):
        assert _cells(sv.explore(data, guarantee)) == _cells(sv.explore(data, k=[3], m=[1]))


@pytest.mark.parametrize("ask", [sv.explore, sv.recommend], ids=["explore", "recommend"])
def test_refused(ask: Callable[..., Any]) -> None:
    for data, guarantee, more, said in (
        (ROWS, 5, {}, "must be a KmAnonymity"),
        (ROWS, sv.KmAnonymity(3, 1), {"k": 3}, "given twice"),
        (ROWS, sv.KmAnonymity(3, 1), {"knows": "any"}, "given twice"),
        (ROWS, sv.KmAnonymity(3, 1, absent=1), {}, "'absent'"),
        (ROWS, sv.TransactionalKAnonymity(3), {}, "tries releases for 'km-anonymity', 'kkm'"),
        (ROWS, sv.KmRho(3, 1, 0.2), {}, "names no item as sensitive"),
        (ROWS, sv.KKmAnonymity(3, 1), {}, "about tables"),
        (_table(), sv.KmAnonymity(3, 1), {}, "about rows of items"),
        (_table(), sv.KKmAnonymity(3, 1, ["s"], 0.5), {}, "'sensitive', 'h', 'p'"),
    ):
        with pytest.raises(RequestError, match=said):
            ask(data, guarantee, **more)
    one, other = sv.KmRho(3, 1, 0.2, ["s"]), sv.KmRho(3, 1, 0.2, ["s"], "any")
    for several, said in (([], "No guarantee"), ([one, other], "differ in k, m and rho alone")):
        with pytest.raises(RequestError, match=said):
            sv.explore(ROWS, several)
