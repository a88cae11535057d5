"""The names that users import: quick to load, complete, and as the documentation shows them."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import math
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import setveil as sv
from cli_helpers import HIERARCHY, dump, environment, read_run, refused, sample_rows, setveil, write
from setveil import extend
from setveil.base import errors

HEAVY = ["numpy", "numba", "polars", "pyarrow", "pandas", "scipy", "rich.progress"]
ROWS = sample_rows()
LEAVES = [str(101 + i) for i in range(12)]


def imported_by(code: str) -> list[str]:
    """Run code in a fresh interpreter and name the heavy modules that it has imported."""
    script = f"{code}\nimport sys\nprint('|'.join(m for m in {HEAVY!r} if m in sys.modules))"
    process = subprocess.run(
        [sys.executable, "-c", script], env=environment(), capture_output=True, text=True, check=True
    )
    return [name for name in process.stdout.rpartition("\n\n")[2].strip().splitlines()[-1:] if name]


@pytest.mark.parametrize("arguments", [["--help"], ["anonymize", "--help"], ["hierarchy", "build", "--help"]])
def test_help_imports_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys\n"
        f"sys.argv = ['setveil', *{arguments!r}]\n"
        "from setveil.cli.app import main\n"
        "try:\n    main()\n"
        "except SystemExit as end:\n    assert not end.code\n"
        "print()"
    )
    assert imported_by(code) == []


def test_import_imports_nothing_heavy() -> None:
    assert imported_by("import setveil; setveil.__version__; dir(setveil); setveil.SetveilError") == []


def test_a_heavy_module_would_be_noticed() -> None:
    assert imported_by("import setveil; setveil.Transactions") != []


def test_public_names() -> None:
    assert len(set(sv.__all__)) == len(sv.__all__)
    assert set(sv.__all__) == set(sv._HOMES)
    for name in sv.__all__:
        value = getattr(sv, name)
        assert value is not None
        assert name in dir(sv)
        assert value.__doc__, name
        assert inspect.unwrap(value) is getattr(importlib.import_module(f"setveil.{sv._HOMES[name]}"), name)


def test_names_for_own_methods_are_those_of_their_modules() -> None:
    tree = ast.parse(Path(str(extend.__file__)).read_text(encoding="utf-8"))
    typed = {
        alias.name: str(line.module)
        for line in ast.walk(tree)
        if isinstance(line, ast.ImportFrom) and str(line.module).startswith("setveil.")
        for alias in line.names
    }
    assert typed == {name: f"setveil.{home}" for name, home in extend._HOMES.items()}
    assert sorted(extend.__all__) == sorted(extend._HOMES) == sorted(dir(extend))
    for name, home in typed.items():
        assert getattr(extend, name) is getattr(importlib.import_module(home), name)
    assert not hasattr(extend, "nonsense")


def test_dir_shows_the_public_names_only() -> None:
    importlib.import_module("setveil.work.studies.compare.results")
    assert set(dir(sv)) == {*sv.__all__, "__version__"}


def test_no_module_hides_a_public_name() -> None:
    folder = Path(str(sv.__file__)).parent
    modules = {path.stem for path in folder.iterdir()} | {path.name for path in folder.iterdir()}
    assert not modules & set(sv.__all__)


def test_type_checkers_see_the_same_names() -> None:
    tree = ast.parse(Path(str(sv.__file__)).read_text(encoding="utf-8"))
    seen: dict[str, str] = {}
    for node in tree.body:
        if not (
            isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        ):
            continue
        for line in node.body:
            assert isinstance(line, ast.ImportFrom)
            for alias in line.names:
                name = alias.asname or alias.name
                seen[name] = f"{line.module}:{alias.name}"
    assert seen == {name: f"setveil.{home}:{name}" for name, home in sv._HOMES.items()}


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="'setveil' has no attribute 'nonsense'"):
        _ = sv.nonsense
    assert not hasattr(sv, "numpy")
    with pytest.raises(ImportError):
        exec("from setveil import nonsense")  # noqa: S102


def test_star_import() -> None:
    names: dict[str, object] = {}
    exec("from setveil import *", names)  # noqa: S102
    assert set(sv.__all__) <= set(names)


def test_errors_carry_exit_codes() -> None:
    codes = {
        sv.RequestError: 2,
        sv.OutputError: 2,
        sv.InfeasibleError: 3,
        sv.UnfinishedError: 3,
        sv.DataError: 4,
        sv.HierarchyError: 4,
        sv.MissingItemsError: 4,
        sv.PersonalDataError: 4,
        sv.GuaranteeError: 1,
    }
    for kind, code in codes.items():
        assert issubclass(kind, sv.SetveilError)
        error = kind("What is wrong.", hint="Do this.")
        assert error.exit_code == code
        assert str(error) == "What is wrong.\nHint: Do this."
        assert str(kind("What is wrong.")) == "What is wrong."
    every = {
        value
        for value in vars(errors).values()
        if isinstance(value, type) and issubclass(value, sv.SetveilError)
    }
    assert every == {sv.SetveilError, sv.TableError, *codes}
    assert issubclass(sv.TableError, sv.DataError)
    assert issubclass(sv.OutputError, sv.RequestError)
    assert issubclass(sv.UnfinishedError, sv.InfeasibleError)
    assert issubclass(sv.HierarchyError, sv.DataError)
    for kind in (sv.RequestError, sv.InfeasibleError, sv.DataError):
        assert issubclass(kind, ValueError)  # as Python users expect of a bad argument


def test_version_is_that_of_the_package() -> None:
    from importlib.metadata import version

    assert version("setveil") == sv.__version__


# The quickstart


def test_quickstart(tmp_path: Path) -> None:
    write(tmp_path / "baskets.csv", dump(ROWS, "basket"))
    write(tmp_path / "products.csv", HIERARCHY)
    data = sv.read(tmp_path / "baskets.csv")
    tree = sv.read_hierarchy(tmp_path / "products.csv")
    release = sv.anonymize(data, sv.KmAnonymity(k=4, m=2), hierarchy=tree, algorithm="aa")
    assert release.verdict.holds
    assert release.verdict.violations == 0
    assert 0 < release.utility["ncp"] < 1
    report = release.write(tmp_path / "out")
    run = read_run(tmp_path / "out", ROWS, LEAVES)
    assert run.report == report
    assert run.data.name == "data.csv"
    assert run.report["utility"] == release.utility
    assert run.rows == [frozenset(row) for row in release.published]

    with pytest.raises(sv.OutputError, match="not empty"):
        release.write(tmp_path / "out")
    release.write(tmp_path / "out", force=True, format="jsonl")
    assert read_run(tmp_path / "out", ROWS, LEAVES).data.name == "data.jsonl"
    with pytest.raises(sv.RequestError, match="excel"):
        release.write(tmp_path / "other", format="excel")
    assert not (tmp_path / "other").exists()


def test_python_and_command_line_write_the_same(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS, "basket"))
    options = ["--k", "4", "--m", "2", "--algorithm", "da", "--seed", "5"]
    setveil("anonymize", tmp_path / "in.csv", *options, "--out", tmp_path / "a").ok()
    guarantee = sv.KmAnonymity(k=4, m=2)
    release = sv.anonymize(tmp_path / "in.csv", guarantee, algorithm=sv.DA(), seed=5, details=True)
    release.write(str(tmp_path / "b"))
    for name in ("published/data.csv", "published/about.json", "internal/recoding.csv", "internal/rows.csv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes(), name


def _pairs() -> tuple[list[int], list[str]]:
    pairs = [(i, x) for i, row in enumerate(ROWS) for x in sorted(row)]
    return [i for i, _ in pairs], [x for _, x in pairs]


def test_frames_of_every_kind(tmp_path: Path) -> None:
    orders, items = _pairs()
    columns = {"order": orders, "item": items}
    frames = {
        "polars": sv.Transactions.from_polars(pl.DataFrame(columns), "order", "item"),
        "pandas": sv.Transactions.from_pandas(pd.DataFrame(columns), "order", "item"),
        "pyarrow": sv.Transactions.from_frame(pa.table(columns)),
        "lists": sv.Transactions.from_frame(pl.DataFrame({"items": [sorted(row) for row in ROWS]})),
        "rows": sv.Transactions.from_rows(ROWS),
    }
    published = []
    for name, data in frames.items():
        tree = sv.Hierarchy.balanced(data, fanout=3)
        release = sv.anonymize(data, sv.KmAnonymity(k=4, m=math.inf), hierarchy=tree)
        assert release.verdict.holds
        assert sv.verify(release.published, sv.KmAnonymity(4, math.inf)).holds
        assert not sv.verify(data, sv.KmAnonymity(4, 2)).holds
        release.write(tmp_path / name)
        run = read_run(tmp_path / name, ROWS)
        assert run.data.name == "data.csv"  # what came from no file is written as basket
        assert run.report["input"]["path"] is None
        rows_alone = sv.measure(data, release, estimator="uniform")
        assert sv.measure(data, release.published, release.recoding) == rows_alone
        published.append(run.data.read_bytes())
    assert len(set(published)) == 1


def test_nothing_that_was_handed_over_is_changed() -> None:
    orders, items = _pairs()
    frame = pd.DataFrame({"order": orders, "item": items})
    copy = frame.copy()
    data = sv.Transactions.from_pandas(frame)
    before = list(data)
    sv.anonymize(data, sv.KmAnonymity(4, 2))
    assert frame.equals(copy)
    assert list(data) == before


def test_bad_requests_in_python() -> None:
    data = sv.Transactions.from_rows(ROWS)
    guarantee = sv.KmAnonymity(2, 1)
    with pytest.raises(sv.RequestError, match="'zz'"):
        sv.anonymize(data, guarantee, algorithm="zz")
    with pytest.raises(sv.RequestError, match="nonsense"):
        sv.anonymize(data, guarantee, nonsense=1)
    with pytest.raises(sv.RequestError, match="seed"):
        sv.anonymize(data, guarantee, seed=-1)
    with pytest.raises(sv.RequestError, match="KmAnonymity"):
        sv.anonymize(data, (2, 1))  # type: ignore[arg-type]
    with pytest.raises(sv.RequestError, match="given twice"):
        sv.anonymize(data, guarantee, algorithm=sv.AA(), refine=True)
    with pytest.raises(sv.RequestError, match=r"said to setveil\.read"):
        sv.anonymize(data, guarantee, id_column="id")
    with pytest.raises(sv.InfeasibleError, match="rows"):
        sv.anonymize(data, sv.KmAnonymity(10_000, 1))
    for k, m in ((1, 1), (2, 0), (2, 1.5), (True, 1), ("2", 1), (2, math.nan), (2, "inf")):
        with pytest.raises(sv.RequestError):
            sv.KmAnonymity(k, m)  # type: ignore[arg-type]
    with pytest.raises(sv.HierarchyError):
        sv.anonymize(data, guarantee, hierarchy=sv.Hierarchy.balanced(sv.Transactions.from_rows([["x"]])))


def test_report_is_json_without_surprises(tmp_path: Path) -> None:
    release = sv.anonymize(sv.Transactions.from_rows(ROWS), sv.KmAnonymity(4, math.inf))
    report = release.write(tmp_path / "out")
    assert json.loads(json.dumps(report, allow_nan=False)) == report


def test_module_and_script_are_the_same_command() -> None:
    assert "Usage: setveil" in setveil("--help").ok().out
    refused(setveil("verify", "no.dat", "--k", 2, "--m", 2), 4, "no.dat")


def test_errors_speak_the_language_of_each_face(tmp_path: Path) -> None:
    """A message is written once; only its options are named as the command line or Python names them."""
    path = tmp_path / "out"
    sv.anonymize(sv.Transactions.from_rows(ROWS), sv.KmAnonymity(2, 1)).write(path)
    calls: list[Callable[[], object]] = [
        lambda: sv.anonymize(ROWS, sv.KmAnonymity(2, 1)).write(path),
        lambda: sv.convert(ROWS, tmp_path / "rows.unknown"),
        lambda: sv.verify(path, sv.KmAnonymity(2, 1), reading="cover"),
        lambda: sv.read(tmp_path),
        lambda: sv.anonymize(ROWS, sv.KKmAnonymity(2, 1)),
        lambda: sv.why(path, "a", hierarchy=tmp_path / "none.csv"),
        lambda: sv.query(path, []),
        lambda: sv.recommend(ROWS, k=2, m=1, h="1/2"),
    ]
    for ask in calls:
        with pytest.raises(sv.SetveilError) as in_python:
            ask()
        with errors.on_command_line(), pytest.raises(sv.SetveilError) as typed:
            ask()
        assert not re.search(r"(?<![\w`-])--[a-z]", str(in_python.value)), str(in_python.value)
        assert str(typed.value).split()[:3] == str(in_python.value).split()[:3] or "--" in str(typed.value)
