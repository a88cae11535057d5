"""The scripts of docs/examples run, draw a figure, and begin with the heading that their gallery shows."""

from __future__ import annotations

import ast
import os
import re
import runpy
from pathlib import Path

import pytest

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "examples"
SCRIPTS = sorted(FOLDER.glob("plot_*.py"))

pytestmark = [
    pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT") == "1", reason="the scripts need kernels"),
    pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive"),  # if there is a display
]


def test_there_are_examples() -> None:
    assert len(SCRIPTS) >= 20


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_has_a_heading(script: Path) -> None:
    text = script.read_text("utf-8")
    title, line, blank, *_ = (ast.get_docstring(ast.parse(text), clean=False) or "").strip("\n").split("\n")
    assert re.fullmatch(r"[A-Z][^?.]{8,50}", title), "a noun phrase, not a question"
    assert line == "=" * len(title)
    assert not blank
    assert "\n# %%\n" in text


@pytest.mark.exhaustive
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_draws_a_figure(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    plt.close("all")
    runpy.run_path(str(script), run_name="__main__")
    assert len(plt.get_fignums()) == 1
    assert all(axes.has_data() for axes in plt.gcf().axes)
    plt.savefig("figure.png")
    plt.close("all")
