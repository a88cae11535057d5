"""Requirements of every algorithm. The tests find a new algorithm by its file."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from textwrap import dedent
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from cli_helpers import environment
from releases import released
from setveil.base.errors import HierarchyError, InfeasibleError, RequestError
from setveil.judges.guarantees.verify.km import verify_km
from setveil.methods import algorithms
from setveil.releases.published import Release
from strategies import Case, examples, random_cases, seeded

MODULES = [pytest.param(algorithms.load(name), id=name) for name in algorithms.names()]
every_algorithm = pytest.mark.parametrize("module", MODULES)

FLAT = {"a": "*", "b": "*", "c": "*", "*": None}


def km_with_hierarchy(module: ModuleType) -> None:
    """Skip a test with a message if an algorithm does not belong to this suite."""
    info = module.info
    if "km-anonymity" not in info.guarantees or "hierarchy" not in info.needs:
        pytest.skip(f"gives {info.guarantees}, needs {info.needs}: not k^m-anonymity by a hierarchy")


def run(module: ModuleType, case: Case, seed: int = 0) -> Release:
    km_with_hierarchy(module)
    return released(module, case.data, case.tree, case.guarantee, module.Parameters(), seed)


def case_of(rows: Sequence[str], parents: dict[str, str | None], k: int = 2, m: float = 2) -> Case:
    return Case([frozenset(row) for row in rows], parents, k, m if m == math.inf else int(m))


def multiset(release: Release) -> Counter[frozenset[str]]:
    return Counter(map(frozenset, release.published))


def as_bytes(release: Release) -> tuple[object, ...]:
    published, recoding = release.published, release.recoding
    return (
        published.indptr.tobytes(),
        published.items.tobytes(),
        published.vocabulary.labels,
        recoding.image.tobytes(),
        recoding.published.labels,
        release.row_map.tobytes(),
    )


def assert_sound(release: Release, case: Case) -> None:
    verdict = verify_km(release.published, case.guarantee)
    assert verdict.holds, (case, verdict)
    assert release.published.n_rows == len(case.rows)
    assert sorted(release.row_map.tolist()) == list(range(len(case.rows)))


@every_algorithm
def test_verifier_accepts(module: ModuleType) -> None:
    for case in random_cases(examples(300, 30), 50):
        assert_sound(run(module, case), case)


@every_algorithm
def test_same_seed_same_bytes_other_seed_other_order(module: ModuleType) -> None:
    moved = 0
    for case in random_cases(examples(50, 15), 51):
        release, again, other = run(module, case, 7), run(module, case, 7), run(module, case, 8)
        assert as_bytes(release) == as_bytes(again), case
        assert multiset(release) == multiset(other), case
        assert release.recoding.image.tolist() == other.recoding.image.tolist(), case
        moved += list(release.published) != list(other.published)
    assert moved


@every_algorithm
def test_input_is_left_alone(module: ModuleType) -> None:
    for case in random_cases(examples(50, 15), 52):
        arrays: list[NDArray[np.generic]] = [
            case.data.indptr,
            case.data.items,
            case.tree.parent,
            case.tree.depth,
            case.tree.leaf_order,
        ]
        before = [array.copy() for array in arrays]
        labels = case.data.vocabulary.labels, case.tree.labels
        run(module, case)
        for array, copy in zip(arrays, before, strict=True):
            assert np.array_equal(array, copy)
            assert not array.flags.writeable
        assert (case.data.vocabulary.labels, case.tree.labels) == labels
        assert [frozenset(row) for row in case.data] == case.rows


@every_algorithm
@pytest.mark.parametrize("m", [1, 2, math.inf])
@pytest.mark.parametrize("n_rows", [0, 1, 5])
def test_rows_without_items(module: ModuleType, n_rows: int, m: float) -> None:
    case = case_of([""] * n_rows, FLAT, m=m)
    release = run(module, case)
    assert_sound(release, case)
    assert list(release.published) == [()] * n_rows
    assert release.recoding.items.labels == ("a", "b", "c")


@every_algorithm
@pytest.mark.parametrize("parents", [{"a": None}, {"a": "*", "*": None}, {"a": "A", "A": "*", "*": None}])
@pytest.mark.parametrize("m", [1, 2, math.inf])
def test_one_item(module: ModuleType, parents: dict[str, str | None], m: float) -> None:
    case = case_of(["a", "", "a", "a"], parents, k=3, m=m)
    release = run(module, case)
    assert_sound(release, case)
    assert multiset(release) == Counter({frozenset("a"): 3, frozenset(): 1})


@every_algorithm
@pytest.mark.parametrize("m", [1, 3, math.inf])
def test_equal_rows_are_private_already(module: ModuleType, m: float) -> None:
    case = case_of(["abc"] * 5, FLAT, k=5, m=m)
    release = run(module, case)
    assert_sound(release, case)
    assert list(release.published) == [("a", "b", "c")] * 5


@every_algorithm
def test_private_data_are_published_as_they_are(module: ModuleType) -> None:
    rng = seeded(53)
    for drawn in random_cases(examples(60, 15), 54, most_rows=15):
        case = dataclasses.replace(drawn, rows=drawn.rows * drawn.k).shuffled(rng)
        release = run(module, case)
        assert multiset(release) == Counter(case.rows), case


@every_algorithm
@pytest.mark.parametrize(
    ("rows", "k", "nearest"),
    [
        (["ab", "", "b", "c"], 4, "greatest possible k is 3"),
        (["ab", "b"], 3, "greatest possible k is 2"),
        (["abc"] * 4, 5, "greatest possible k is 4"),
        (["ab"], 2, "data have 1 row, and fewer than k = 2 rows hide nobody.\nHint: At least two"),
        (["", "a", ""], 2, "At least two non-empty rows"),
    ],
)
@pytest.mark.parametrize("m", [1, 2, math.inf])
def test_infeasible_names_the_greatest_feasible_k(
    module: ModuleType, rows: list[str], k: int, nearest: str, m: float
) -> None:
    with pytest.raises(InfeasibleError) as caught:
        run(module, case_of(rows, FLAT, k=k, m=m))
    assert nearest in str(caught.value)


@every_algorithm
def test_one_k_fewer_is_feasible(module: ModuleType) -> None:
    case = case_of(["ab", "", "b", "c"], FLAT, k=3, m=math.inf)
    assert_sound(run(module, case), case)


@every_algorithm
def test_missing_item(module: ModuleType) -> None:
    with pytest.raises(HierarchyError, match=r"'x'.*'y'"):
        run(module, case_of(["ab", "xy", "ab", "a"], FLAT))


@every_algorithm
def test_inner_node_as_item(module: ModuleType) -> None:
    case = Case([frozenset({"a", "A"})] * 4, {"a": "A", "A": "*", "b": "*", "*": None}, 2, 2)
    with pytest.raises(HierarchyError, match="inner node"):
        run(module, case)


@every_algorithm
def test_parameters_are_frozen_and_have_defaults(module: ModuleType) -> None:
    parameters = module.Parameters()
    assert module.Parameters.__dataclass_params__.frozen
    assert parameters == module.Parameters()
    assert module.Parameters.__doc__
    for field in dataclasses.fields(parameters):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(parameters, field.name, None)


@every_algorithm
def test_info_is_complete(module: ModuleType) -> None:
    info = module.info
    assert isinstance(info, algorithms.AlgorithmInfo)
    for field in dataclasses.fields(info):
        value = getattr(info, field.name)
        kind = {"tuple[str, ...]": tuple, "bool": bool, "str": str}[str(field.type)]
        assert isinstance(value, kind), field.name
        may_be_empty = {"needs", "takes", "without", "hides_occurrences", "draws", "lacks"}
        assert value or field.name in may_be_empty, field.name
    assert "doi" in info.reference.lower()
    assert module.anonymize.__doc__


def test_names_are_the_modules_without_underscore() -> None:
    names = algorithms.names()
    assert {"oa", "da", "aa"} <= set(names)
    assert names == sorted(names)
    assert not any(name.startswith("_") for name in names)


def test_unknown_algorithm() -> None:
    with pytest.raises(RequestError, match=r"no algorithm 'best'.*aa"):
        algorithms.load("best")
    with pytest.raises(RequestError):
        algorithms.load("_cut")


def test_loading_them_all_imports_nothing_heavy() -> None:
    """Check that the command line reads the parameters of each before any message."""
    code = """
        import sys
        from setveil.methods import algorithms
        for name in algorithms.names():
            algorithms.load(name).Parameters()
        print(*sys.modules)
    """
    process = subprocess.run(
        [sys.executable, "-c", dedent(code)], env=environment(), capture_output=True, text=True, check=True
    )
    loaded = process.stdout.split()
    assert {algorithms.homes()[name] for name in algorithms.names()} <= set(loaded)
    assert not {"numpy", "numba", "polars", "highspy", "scipy"} & set(loaded)
