"""Descriptions of the package agree everywhere, and the tests in SQL find the same as plain Python."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setveil.base.version import __version__

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def text(name: str) -> str:
    return (ROOT / name).read_text("utf-8")


def found(pattern: str, name: str) -> list[str]:
    return re.findall(pattern, text(name), re.M)


def test_the_version_is_one() -> None:
    assert PROJECT["version"] == __version__
    assert set(found(r"^ *version: ([0-9.]+)$", "CITATION.cff")) == {__version__}
    assert found(r'set version = "(.*)"', "recipe/meta.yaml") == [__version__]
    assert found(r"setveil==(\S+)", "Dockerfile") == [__version__]
    released = found(r"^## \[?([0-9]+\.[0-9]+\.[0-9]+)", "CHANGELOG.md")
    assert __version__ in released or f"The first version, {__version__}, not released yet" in text(
        "CHANGELOG.md"
    )
    assert set(re.findall(r"setveil[-=]=?([0-9]+\.[0-9]+\.[0-9]+)", text("docs/develop.md"))) == {__version__}


def test_the_recipe_is_that_of_the_project() -> None:
    recipe = text("recipe/meta.yaml")
    run = re.search(r"^  run:\n((?:    - .*\n)+)", recipe, re.M)
    assert run is not None
    needs = [line.removeprefix("    - ").replace(" ", "") for line in run[1].splitlines()]
    project = [one.partition(";")[0].strip() for one in PROJECT["dependencies"]]
    assert sorted(needs) == sorted(["python" + PROJECT["requires-python"], *project])
    assert found(r"^  license: (.*)$", "recipe/meta.yaml") == [PROJECT["license"]]
    assert found(r"^  summary: (.*)$", "recipe/meta.yaml") == [PROJECT["description"]]
    assert found(r"^    - setveil = (.*)$", "recipe/meta.yaml") == [PROJECT["scripts"]["setveil"]]
    build = tomllib.loads(text("pyproject.toml"))["build-system"]["requires"]
    assert all(f"    - {one.replace('>=', ' >=')}\n" in recipe for one in build)


def test_python_versions_are_those_of_the_workflows() -> None:
    said = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.[0-9]+$", one)]
    for name in ("matrix", "release"):
        lists = found(r"python: \[(.*)\]", f".github/workflows/{name}.yml")
        assert [re.findall(r'"(.*?)"', one) for one in lists] == [said]
    assert PROJECT["requires-python"] == f">={said[0]}"


@pytest.mark.parametrize(
    "path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=lambda path: path.name
)
def test_workflows_are_pinned_and_call_what_exists(path: Path) -> None:
    yaml = pytest.importorskip("yaml")
    workflow: dict[Any, Any] = yaml.safe_load(path.read_text("utf-8"))
    assert workflow["permissions"] == {"contents": "read"}
    for job in workflow["jobs"].values():
        assert job["timeout-minutes"] <= 60
        assert set(job.get("needs", ())) <= set(workflow["jobs"])
        for step in job["steps"]:
            assert len({"uses", "run"} & set(step)) == 1
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step.get("uses", f"a/b@{'0' * 40}"))
            script = step.get("run", "")
            assert all((ROOT / one).is_file() for one in re.findall(r"\.ci/\w+", script))
            assert set(re.findall(r"\${{ matrix\.([a-z]+)", script)) <= set(
                job.get("strategy", {}).get("matrix", ())
            )


def test_files_that_the_release_names_exist() -> None:
    page = text("docs/develop.md")
    for name in re.findall(r"(?:^|[ (`])((?:\.ci|src|benchmarks|tests|recipe)/[\w./]+\w)", page):
        assert (ROOT / name).exists() or name == "src/setveil/_kernels", name


# Tests in SQL

ROWS = st.lists(st.frozensets(st.integers(0, 5), max_size=4), max_size=24)


@given(ROWS, st.booleans())
def test_sql_finds_the_rare_sets(rows: list[frozenset[int]], twice: bool) -> None:
    lines = [(number, str(item)) for number, row in enumerate(rows) for item in row]
    supports = Counter(
        tuple(map(str, sorted(items))) for row in rows for size in (1, 2) for items in combinations(row, size)
    )
    rare = {(*items, None)[:2]: support for items, support in supports.items() if support < 5}
    assert answers("km_anonymity", "row_id integer, item varchar", lines * (1 + twice)) == rare


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from("fm")), max_size=40))
def test_sql_finds_the_rare_columns(lines: list[tuple[int, str]]) -> None:
    rare = {cells: number for cells, number in Counter(lines).items() if number < 5}
    assert answers("k_anonymity", "age integer, sex varchar", lines) == rare


def answers(name: str, columns: str, lines: list[Any]) -> dict[Any, int]:
    """Run a file of SQL on some lines; its own last column is a number, by the others."""
    with duckdb.connect() as database:
        database.execute(f"create table published ({columns})")
        if lines:
            database.executemany("insert into published values (?, ?)", lines)
        found = database.execute((ROOT / "docs" / "sql" / f"{name}.sql").read_text("utf-8")).fetchall()
    assert len({line[:-1] for line in found}) == len(found)
    return {line[:-1]: line[-1] for line in found}
