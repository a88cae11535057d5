"""The small mistakes of benchmarks/mutants.py: each is one that can be made in the code of today."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MUTANTS = runpy.run_path(str(ROOT / "benchmarks" / "mutants.py"))["MUTANTS"]
NAME = re.compile(r"[^\W\d]\w*")


@pytest.mark.parametrize(("name", "line", "changed", "tests"), MUTANTS)
def test_a_mistake_can_be_made_in_one_place(name: str, line: str, changed: str, tests: str) -> None:
    text = (ROOT / "src" / "setveil" / name).read_text("utf-8")
    assert text.count(line) == 1
    compile(text.replace(line, changed), name, "exec")
    assert {*NAME.findall(changed)} <= {*NAME.findall(text)}
    assert all((ROOT / test.partition("::")[0]).exists() for test in tests.split())
