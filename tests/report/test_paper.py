"""Parts of a study for a paper: LaTeX that compiles by its form, figures in both formats, statements."""

from __future__ import annotations

import importlib.util
import re
import sys
from typing import Any

import pytest

from setveil.base.errors import RequestError
from setveil.report.compare.figures import line_figures
from setveil.report.compare.paper import latex, latex_table, paper_files, statement
from setveil.report.compare.paper_figures import require_matplotlib
from setveil.report.compare.table import clean, families

needs_matplotlib = pytest.mark.skipif(
    importlib.util.find_spec("matplotlib") is None, reason="needs matplotlib (the extra paper)"
)
BIBTEX = "@software{setveil,\n  title = {setveil}\n}"


def rows_of(repeats: int = 8, sample: Any = 0.8) -> list[dict[str, Any]]:
    """Make a study in which exact loses less than aa, by an amount that differs from draw to draw."""
    return [
        {
            "data": data, "model": "km-anonymity", "algorithm": method, "method": method, "k": k, "m": 2,
            "seed": seed, "status": "done", "sample": sample, "rows": 100,
            "lm": 0.01 * k + 0.001 * seed + (0.02 + 0.001 * (seed % 3) if method == "aa" else 0.0),
            "are_median": 0.3 + 0.01 * (seed % 2), "itemsets_frequent": 10, "itemsets_kept": 6 - k // 5,
            "risk_m": 3, "risk_below_5": 40 - k + seed, "risk_probability": 0.2 - 0.01 * k + 0.001 * seed,
            "seconds_anonymize": 0.1 * k if method == "exact" else 0.01,
        }
        for data in ("shop & co", "50%_web")
        for method in ("exact", "aa")
        for k in (2, 5, 20)
        for seed in range(repeats)
    ]  # fmt: skip


def test_letters_of_latex() -> None:
    assert latex("a_b & 50% of {x} ~ \\ $ #") == (
        r"a\_b \& 50\% of \{x\} \textasciitilde{} \textbackslash{} \$ \#"
    )
    assert latex("k^m-anonymity at k = \u221e, 2^-3 < 1") == (
        r"$k^m$-anonymity at k = $\infty$, 2\textasciicircum{}-3 \textless{} 1"
    )


def test_the_table() -> None:
    (family,) = families(clean(rows_of()))
    table = latex_table(family)
    assert table.count(r"\begin{") == table.count(r"\end{") == 2
    assert table.count("{") == table.count("}")
    lines = [line.strip() for line in table.splitlines()]
    assert r"Method & LM & Query error & Rows at risk (\%) & Seconds \\" in lines
    assert r"\multicolumn{5}{@{}l}{\emph{shop \& co}} \\" in lines
    body = [line for line in lines if line.startswith(("exact", "aa"))]
    assert len(body) == 4
    assert all(line.count(" & ") == 4 and line.endswith(r" \\") for line in body)
    # At k = 5: medians of 0.05 + 0.001 seed, with the least and the greatest of 8, their 95% interval.
    assert r"exact & \textbf{0.0535} {\footnotesize[0.05, 0.057]}" in body[0]
    assert r"aa & 0.0745$^{*}$" in body[1]
    assert "medians of 8 draws of 80\\% of the rows, with their 95\\% intervals" in table
    assert "Wilcoxon's exact signed-rank test" in table
    once = latex_table(families(clean(rows_of(1, None)))[0])
    assert "medians" not in once
    assert "*" not in once
    assert r"exact & \textbf{0.05} & 0.3 &" in once


def test_the_best_may_be_shared_and_missing() -> None:
    rows = [{**row, "lm": 0.1} for row in rows_of(1, None)]
    rows = [row for row in rows if row["method"] == "exact" or row["data"] == "shop & co"]
    (family,) = families(clean(rows))
    assert latex_table(family).count(r"\textbf{0.1}") == 3
    (failed,) = families(clean([{**row, "status": "failed"} for row in rows]))
    assert latex_table(failed) == ""


def said(rows: list[dict[str, Any]], stem: str) -> str:
    (family,) = families(clean(rows))
    figure = next(one for one in line_figures(family) if one.stem == stem)
    data, panels = figure.bands[0]
    return statement(figure, data, panels[0])


def test_each_figure_makes_a_statement() -> None:
    assert said(rows_of(), "loss_lm-k") == (
        "Loss (LM) on shop & co: exact has the least at all 3 values of k. At m = 2. Medians of up to 8 "
        "draws of 80% of the rows; bars: their 95% intervals."
    )
    assert said(rows_of(1, None), "seconds-k").startswith(
        "Seconds on shop & co: aa has the least at all 3 values of k."
    )
    first = {("exact", 2): 0.5}
    mixed = [{**row, "lm": first.get((row["method"], row["k"]), row["lm"])} for row in rows_of()]
    assert "exact has the least at 2 of 3 values of k" in said(mixed, "loss_lm-k")
    equal = [{**row, "itemsets_kept": 3 if row["k"] == 2 else 2} for row in rows_of()]
    (family,) = families(clean(equal))
    figure = next(one for one in line_figures(family) if one.stem == "itemsets_kept-k")
    assert figure.methods == ["exact and aa"]  # one line


@pytest.mark.exhaustive
@needs_matplotlib
def test_the_files_of_a_paper() -> None:
    files = paper_files(rows_of(), BIBTEX)
    assert files["references.bib"].decode() == f"{BIBTEX}\n"
    tex = files["figures.tex"].decode()
    named = re.findall(r"\\includegraphics\[width=\\columnwidth\]\{(figures/[A-Za-z0-9_-]+)\}", tex)
    assert len(named) == len(set(named)) == tex.count(r"\begin{figure}")
    drawn = {name for name in files if name.startswith("figures/")}
    assert drawn == {f"{name}{kind}" for name in named for kind in (".pdf", ".svg")}
    assert "figures/loss_lm-k-50-web" in named
    for name in named:
        pdf, svg = files[f"{name}.pdf"], files[f"{name}.svg"]
        assert pdf.startswith(b"%PDF-")
        assert b"/FontFile2" in pdf  # publishers want fonts embedded
        width = re.search(rb"/MediaBox \[ 0 0 ([0-9.]+) ", pdf)
        assert width is not None
        assert float(width[1]) / 72 * 25.4 == pytest.approx(84, abs=0.01)
        assert b"<svg " in svg
    assert paper_files(rows_of(), BIBTEX) == files  # the same figures, the same bytes


@needs_matplotlib
def test_figures_of_values_that_cannot_stand_on_every_axis() -> None:
    fives = [row for row in rows_of(1, None) if row["k"] == 5 and row["data"] == "shop & co"]
    rows = [{**row, "m": m, "lm": 0.0, "seconds_anonymize": 0.0} for row in fives for m in (1, 2, "inf")]
    files = paper_files(rows, BIBTEX)
    assert "figures/loss_lm-m-shop-co.pdf" in files
    alone = paper_files([row for row in rows if row["m"] == 2], BIBTEX)  # nothing to draw a line through
    assert {name for name in alone if "lm" in name} == set()


def test_without_matplotlib_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RequestError, match="need the library matplotlib") as caught:
        require_matplotlib()
    assert "pip install 'matplotlib>=" in caught.value.hint
