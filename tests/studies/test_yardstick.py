"""Noise next to the other guarantees: draws of a study, their means, and the least epsilon as good."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from cli_helpers import setveil, table, write
from setveil.report.compare.page import comparison_html
from setveil.report.compare.yardstick import least_epsilon, promised, spread
from setveil.work.studies.compare.study import read_study

STUDY = """name = "Yardstick"
data = [{path = "rows.csv", format = "basket", hierarchy = "tree.csv"}]
k = 2
m = 2
queries = 5
[[runs]]
algorithms = ["aa", "disassociation"]
[[runs]]
algorithms = ["dp-blocks"]
epsilon = [1, "1/2"]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "rows.csv", "tea,milk\ntea\nmilk\nrum,tea\n" * 10)
    write(tmp_path / "tree.csv", "milk;drink;*\nrum;drink;*\nsoap;soap;*\ntea;drink;*\n")
    return tmp_path


def test_noise_is_drawn_twenty_times_unless_said_otherwise(place: Path) -> None:
    write(place / "study.toml", STUDY)
    runs = read_study(place / "study.toml").runs
    noisy = [run for run in runs if run.algorithm == "dp-blocks"]
    assert [run.algorithm for run in runs if run not in noisy] == ["aa", "disassociation"]
    assert len(noisy) == 40
    assert len({run.solution for run in noisy}) == 40, "each is a release of its own"
    write(place / "study.toml", "seeds = [3, 4]\n" + STUDY)
    runs = read_study(place / "study.toml").runs
    assert [run.seed for run in runs if run.algorithm == "dp-blocks"] == [3, 4, 3, 4]
    assert len({run.solution for run in runs if run.algorithm == "aa"}) == 1


@pytest.mark.parametrize(
    ("epsilon", "text"),
    [("0", "above 0"), ("-1", "above 0"), ('"x"', "above 0"), ("1e-7", "from 0.000001 to 1,000,000")],
)
def test_no_epsilon(place: Path, epsilon: str, text: str) -> None:
    write(place / "study.toml", STUDY.replace('[1, "1/2"]', epsilon))
    done = setveil("compare", place / "study.toml", "--out", place / "out", "--dry-run")
    assert done.code == 2
    assert text in " ".join(done.err.split())


@pytest.mark.exhaustive
def test_a_study(place: Path) -> None:
    write(place / "study.toml", "seeds = [0, 1]\n" + STUDY)
    setveil("compare", place / "study.toml", "--out", place / "out").ok()
    head, *lines = table(place / "out" / "results.csv")
    done = [dict(zip(head, line, strict=True)) for line in lines]
    assert {(row["algorithm"], row["status"]) for row in done} == {
        ("aa", "done"), ("disassociation", "done"), ("dp-blocks", "done")
    }  # fmt: skip
    page = (place / "out" / "report.html").read_text()
    block = page[page.index("Compared with differential privacy") :]
    for text in (
        "k^m-anonymity, k = 2, m = 2", "differential privacy, epsilon = 1", "±",
        "2 draws cost 2 times as much",
        "they are internal", "Noisy counts cover few items",
    ):  # fmt: skip
        assert text in block
    setveil("compare", place / "study.toml", "--out", place / "out", "--external").ok()
    outside = (place / "out" / "report.html").read_text()
    assert "Compared with differential privacy" not in outside
    assert "dp-blocks" not in outside


def row(epsilon: Any, error: float | None, method: str = "dp-blocks") -> dict[str, Any]:
    return {
        "data": "shop", "algorithm": method, "method": method, "model": "differential-privacy",
        "status": "done",
        "epsilon": epsilon, "are_mean": error,
    }  # fmt: skip


def test_the_least_epsilon() -> None:
    rows = [row(2.0, 0.4), row(2.0, 0.6), row("1/3", 0.9), row("1/3", 1.1), row(10.0, 0.1), row(1.0, None)]
    assert least_epsilon(rows, 1.0) == ("1/3", True), "equal is no worse"
    assert least_epsilon(rows, 0.99) == ("2", True)
    assert least_epsilon(rows, 0.49) == ("10", True)
    assert least_epsilon(rows, 0.05) == ("10", False)
    assert least_epsilon([], 1) == ("", False)
    found = spread([1, None, 3])
    assert found is not None
    assert found[0] == 2
    assert found[1] == pytest.approx(2**0.5)
    assert spread([1]) == (1, None)
    assert spread([None]) is None
    assert promised(row(2.0, 1)) == "differential privacy, epsilon = 2"


def test_a_page_of_noise_alone() -> None:
    page = comparison_html({"name": "alone"}, [row(1.0, 0.5), row(1.0, 0.7)])
    assert "0.6 ± 0.141" in page
    assert "least epsilon" not in page
