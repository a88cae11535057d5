"""Records of measures: complete, in order, and found by their file wherever measures are reported."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import setveil as sv
from setveil.judges import utility
from setveil.report.compare import columns
from setveil.report.compare.figures import line_figures
from setveil.report.compare.page import comparison_html, figures
from setveil.report.compare.releases import loss_of
from setveil.report.compare.table import clean, families, parameters
from setveil.report.measures import measures_text
from setveil.report.run.page import report_html
from setveil.report.run.summary import summary
from tables import as_table

DATA = sv.Transactions.from_rows([["a", "b"], ["a", "c"], ["b", "c"], ["a", "b", "c"], ["a"], ["b"]] * 3)
EXTRA = """
from setveil.judges.utility import Measure

MEASURES = (
    Measure(
        name="rows_touched",
        title="Touched",
        meaning="share of the rows that are not what they were",
        compute=lambda case: 0.125,
    ),
)
"""


@pytest.fixture
def extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Add a measure: one file."""
    (tmp_path / "touched.py").write_text(EXTRA)
    monkeypatch.setattr(utility, "__path__", [*utility.__path__, str(tmp_path)])
    utility._measures.cache_clear()
    yield
    monkeypatch.undo()
    utility._measures.cache_clear()


def test_records_are_complete() -> None:
    every = utility.measures()
    assert len({one.name for one in every}) == len(every)
    assert len({column.name for column in utility.columns()}) == len(utility.columns())
    assert len({one.stem for one in utility.compared()}) == len(utility.compared())
    known = {*columns.measured()}
    for one in every:
        assert set(one.kinds) <= {
            *utility.ITEMS,
            *utility.FACTS,
            *utility.GROUPS,
            *utility.CHUNKS,
            *utility.NOISY,
        }, one.name
        assert one.better in {"less", "more", ""}
        assert not one.handed_out or (one.low, one.high) == (0, 1), one.name
        assert one.meaning or not (one.title and one.reported), one.name
    for shown in utility.compared():
        assert {shown.column, shown.whole} <= known | {""}, shown.stem


@pytest.mark.parametrize(
    "guarantee", [sv.KmAnonymity(2, 2), sv.PrivacyDegree(2, ("c",)), sv.KKmAnonymity(2, 2)]
)
def test_a_release_has_each_measure_of_its_kind_in_its_range(guarantee: Any) -> None:
    data = as_table(DATA) if isinstance(guarantee, sv.KKmAnonymity) else DATA
    release = sv.anonymize(data, guarantee)
    computed = [one for one in utility.measures(release.recoding.kind) if one.compute]
    wanted = [one for one in computed if not one.needs] + [one for one in computed if one.needs == "mapped"]
    wanted = [one for one in wanted if not one.needs or guarantee.model == "kkm"]
    assert list(release.utility) == [one.name for one in wanted]
    for one in wanted:
        value = one.value(release.utility)
        assert value is not None
        assert one.low is None or one.low <= value, one.name
        assert one.high is None or value <= one.high, one.name


@pytest.mark.usefixtures("extra")
def test_a_measure_is_added_by_one_file() -> None:
    release = sv.anonymize(DATA, sv.KmAnonymity(2, 2))
    recorded: Mapping[str, Any] = release.report["utility"]
    assert release.utility["rows_touched"] == recorded["rows_touched"] == 0.125
    rows = {"original": DATA.n_rows, "release": DATA.n_rows}
    text = measures_text(release.utility, [], rows, DATA.n_occurrences, "global")
    assert "Touched                0.125  (share of the rows that are not what they were)" in text
    report = release.report.copy()
    report["published"] = {"file": "x.csv", "rows": 18, "empty_rows": 0, "items": 3, "occurrences": 30}
    assert "Touched: share of the rows" in report_html(report)
    assert "Touched" not in report_html(report, external=True)  # not unless its record says so
    assert "Touched    0.125: share of the rows" in summary(report)

    found = {column.name: column.of(release.utility) for column in utility.columns()}
    assert found["rows_touched"] == 0.125
    assert columns.measured()["rows_touched"] is float
    run = {"data": "shop", "method": "aa", "model": "km-anonymity", "m": 2, "status": "done"}
    table = [{**run, "k": k, "rows_touched": 0.125 * k} for k in (2, 5)]
    assert "rows_touched" not in parameters(clean(table))
    assert list(figures(table)) == ["loss_rows_touched-k"]
    (family,) = families(clean(table))
    loss = loss_of(family)
    assert loss is not None
    assert loss.axis == "loss (Touched)"
    assert line_figures(family)[0].caption.startswith("Loss (Touched): share of the rows that are not")
    page = comparison_html({}, table)
    assert '<th class="number">Touched</th>' in page
    assert "Touched" not in comparison_html({"naming_items": []}, table, external=True)
