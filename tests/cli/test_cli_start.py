"""Imports of commands: only the necessary ones, or small runs would spend most of their time on them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import pytest

from cli_helpers import environment, write

_RUN = """
import json, sys
import setveil.__main__ as command
command.end = lambda code: print(json.dumps([code, [name for name, module in sys.modules.items() if module]]))
command.main()
"""
_IMPORT = """
import json, sys
import setveil.runs.run
print(json.dumps([0, [name for name, module in sys.modules.items() if module is None]]))
"""


def listed(script: str, *arguments: str, cwd: Path) -> set[str]:
    """Run a script that prints an exit code and names of modules as its last line."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments],
        cwd=cwd, env=environment(), capture_output=True, text=True, check=True,
    )  # fmt: skip
    code, names = json.loads(done.stdout.splitlines()[-1])
    assert code == 0, done.stderr
    return set(names)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("start")


@pytest.fixture(scope="module")
def imported(folder: Path) -> set[str]:
    """Name all modules that a run has imported in the end."""
    write(folder / "rows.dat", "1 2\n2 3\n1 2 3\n")
    for out in ("compiling", "out"):
        found = listed(
            _RUN, "anonymize", "rows.dat", "-k2", "-m1", "-a", "aa", "-o", out, "--quiet", cwd=folder
        )
    assert (folder / "out" / "internal" / "report.json").exists()
    return found


def test_what_is_needed_is_imported(imported: set[str]) -> None:
    assert {"llvmlite", "numpy", "setveil.methods.algorithms.aa", "setveil.runs.run"} <= imported


HEAVY = ("coverage", "highspy", "numba", "pandas", "polars", "pyarrow", "pydantic", "rich", "scipy")
OTHERS = (
    "importlib.metadata", "setveil.cli.hierarchy", "setveil.cli.verify", "setveil.rows.facts.facts",
    "setveil.rows.hierarchy.systems", "setveil.releases.published.chunk_files", "setveil.work.studies",
    "setveil.report.drawing.plots", "setveil.methods.algorithms.lg", "setveil.methods.algorithms.pcta",
    "setveil.methods.algorithms.rt",
)  # fmt: skip


def among(modules: Iterable[str], imported: set[str]) -> set[str]:
    """Return the imported modules among some modules and their submodules."""
    starts = tuple(f"{module}." for module in modules)
    return {name for name in imported if f"{name}.".startswith(starts)}


def test_what_only_others_need_is_not(imported: set[str]) -> None:
    """Typer would import pydantic if it is installed; numba is imported if something is compiled."""
    assert not among((*HEAVY, *OTHERS), imported)


@pytest.mark.usefixtures("imported")
@pytest.mark.parametrize(
    "command",
    [
        "verify out -k2 -m1", "query out 1", "why out 1", "risk rows.dat --format fimi",
        "measure rows.dat out --format fimi", "hierarchy build rows.dat --format fimi -o h.csv",
        "moles rows.dat --format fimi --private 3 --h 0.9 -k1 --p 1",
    ],
)  # fmt: skip
def test_other_commands_import_nothing_heavy(folder: Path, command: str) -> None:
    assert not among(HEAVY, listed(_RUN, *command.split(), cwd=folder))


def test_nothing_is_hidden_from_who_imports_setveil(tmp_path: Path) -> None:
    """They may compile code of their own, and that may need scipy."""
    assert not listed(_IMPORT, cwd=tmp_path)
