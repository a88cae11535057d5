"""l-diversity and t-closeness of kept columns: the papers' tables, and random tables one class at a time."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from random import Random

import numpy as np
import pytest

from cli_helpers import setveil
from setveil.judges.guarantees.verify import diversity
from setveil.judges.guarantees.verify.diversity import diversities
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.table import TextColumn


def column(name: str, values: Sequence[str]) -> TextColumn:
    labels = tuple(dict.fromkeys(values))
    codes = np.array([labels.index(value) for value in values], np.int32)
    return TextColumn(name, codes, labels)


def table(known: Sequence[str], **kept: Sequence[str]) -> PublishedTable:
    return PublishedTable(
        (column("known", known),),
        Transactions.from_rows([["tea"]] * len(known)),
        tuple(column(name, values) for name, values in kept.items()),
    )


def test_the_example_of_t_closeness() -> None:
    """Salaries of Li and others, section 3.1: {3, 4, 5} is 0.375 from all nine, {6, 8, 11} is 0.167."""
    salaries = ["3", "4", "5", "6", "11", "8", "7", "9", "10"]
    for order, expected in ((salaries, 0.375), (["6", "8", "11", *"34579", "10"], None)):
        found = diversities(table(["a"] * 3 + ["b"] * 3 + ["c"] * 3, salary=order))[0]
        assert (found.diversity, found.ordered) == (3, True)
        if expected is not None:
            assert found.closeness == pytest.approx(expected)
    one = diversities(table(["a"] * 3 + ["b"] * 6, salary=["6", "8", "11", *"34579", "10"]))[0]
    assert one.closeness == pytest.approx(1 / 6, abs=1e-3)  # the class b is 0.083


def test_equal_distance_of_words() -> None:
    found = diversities(table(["a", "a", "b", "b"], ill=["flu", "flu", "flu", "ulcer"]))[0]
    assert (found.diversity, found.closeness, found.ordered) == (1, 0.25, False)


def one_by_one(known: Sequence[str], values: Sequence[str], ordered: bool) -> tuple[int, float]:
    everything = Counter(values)
    every = sorted(everything, key=float) if ordered else sorted(everything)
    least, greatest = len(values), 0.0
    for name in set(known):
        inside = Counter(value for value, one in zip(values, known, strict=True) if one == name)
        least = min(least, len(inside))
        apart = [inside[v] / inside.total() - everything[v] / len(values) for v in every]
        if ordered:
            sums = [abs(sum(apart[: i + 1])) for i in range(len(apart))]
            greatest = max(greatest, sum(sums) / max(len(every) - 1, 1))
        else:
            greatest = max(greatest, sum(map(abs, apart)) / 2)
    return least, greatest


@pytest.mark.parametrize("seed", range(40))
def test_random_tables(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = Random(seed)
    monkeypatch.setattr(diversity, "_AT_ONCE", rng.choice([1, 7, 1 << 22]))
    n = rng.randint(1, 30)
    known = [rng.choice("abcd") for _ in range(n)]
    words = [rng.choice(["x", "y", "z"]) for _ in range(n)]
    numbers = [rng.choice(["1", "2.5", "10", "-3"]) for _ in range(n)]
    found = diversities(table(known, words=words, numbers=numbers))
    for one, values in zip(found, (words, numbers), strict=True):
        least, greatest = one_by_one(known, values, one.ordered)
        assert one.diversity == least
        assert one.closeness == pytest.approx(greatest)


def test_a_table_without_rows_has_none() -> None:
    assert diversities(table([], words=[])) == []


def test_verify_and_measure_report_both(tmp_path: Path) -> None:
    rows = ["age,ill,codes", *(f"{age},{ill},tea;milk" for age in (30, 31) for ill in ("flu", "cold", "flu"))]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    roles = ("--qi", "age", "--keep-columns", "ill", "--set", "codes")
    setveil("anonymize", tmp_path / "t.csv", "--model", "kkm", "-k", 3, "-m", 1, *roles,
            "--out", tmp_path / "run", "--rows-are-events").ok()  # fmt: skip
    expected = "ill: at least 2 different values in a class (l-diversity), at most 0.00 from all rows"
    assert expected in setveil("verify", tmp_path / "run").ok().out
    assert json.loads(setveil("verify", tmp_path / "run", "--json").ok().out)["kept"] == [
        {"column": "ill", "diversity": 2, "closeness": 0.0, "ordered": False}
    ]
    measured = setveil("measure", tmp_path / "t.csv", tmp_path / "run").ok()
    assert (
        "ill: at least 2 different values in a class (l-diversity), at most 0.00 from all rows"
        in measured.out
    )
    found = json.loads(setveil("measure", tmp_path / "t.csv", tmp_path / "run", "--json").ok().out)
    assert found["kept"] == [{"column": "ill", "diversity": 2, "closeness": 0.0, "ordered": False}]
