"""What is published, and what is found in it, depends on the rows, not on the order in which they stand."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from setveil import algorithms
from setveil.data.quasi_identifiers import quasi_identifier
from setveil.guarantees import Guarantee, models
from setveil.runs import details
from strategies import examples, seeded

PROMISES: dict[str, Guarantee] = {
    "km-anonymity": sv.KmAnonymity(3, 2),
    "k-anonymity": sv.TransactionalKAnonymity(2),
    "constraints": sv.PrivacyConstraints(3, m=2),
    "coherence": sv.Coherence(0.6, 2, 2, ["s", "t"]),
    "privacy-degree": sv.PrivacyDegree(3, ("s", "t")),
    "km-rho": sv.KmRho(1, 2, "1/3", ("s", "t")),
    "rho-uncertainty": sv.RhoUncertainty("1/3", ("s", "t")),
    "kkm": sv.KKmAnonymity(3, 2),
    "mixed-km": sv.MixedKmAnonymity(3, 2),
}
CASES = [(name, model) for name in algorithms.names() for model in algorithms.load(name).info.guarantees]


def drawn(rng: Random) -> list[list[str]]:
    """Draw rows of which many are equal, or equal but for a sensitive item."""
    items = "abcdefg"[: rng.randint(2, 7)]
    rows = [[item for item in items if rng.random() < 0.35] for _ in range(rng.randint(12, 40))]
    rows += [[]] * 2
    for secret in "st":
        for row in rng.sample(range(len(rows)), 3):
            rows[row] = [*rows[row], secret]
    return rows


def with_ages(rows: sv.Transactions) -> sv.Table:
    """Give each row an age that follows from its items."""
    ages = [str(20 + len(row) * 7 % 5) for row in rows]
    texts = sorted(set(ages))
    column = quasi_identifier("age", np.array([texts.index(age) for age in ages]), texts, numeric=True)
    return sv.Table(rows.indptr, rows.items, rows.vocabulary, columns=(column,), header=("age", "items"))


def files(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def found(rows: list[list[str]], name: str, model: str, out: Path) -> Any:
    more: dict[str, Any] = {"max_suppressed_items": 1} if name == "coat" else {}
    try:
        data = sv.Transactions.from_rows(rows)
        if models()[model].release == "tables":
            data = with_ages(data)
        release = sv.anonymize(data, PROMISES[model], algorithm=name, **more)
    except sv.errors.InfeasibleError as error:
        return str(error), None
    report = release.write(out, external=True)
    told = {key: report.get(key) for key in ("utility", "answers", "risk", "frequencies", "labels")}
    return files(out / "published"), told


@pytest.mark.parametrize(("name", "model"), CASES)
def test_order_of_the_input_makes_no_difference(
    name: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(230)
    for turn in range(examples(4, 2)):
        monkeypatch.setattr(details, "EFFORT", 10 if turn % 2 else 10**6)  # with little, rows are drawn
        rows = drawn(rng)
        one = found(rows, name, model, tmp_path / f"{turn}")
        for again in range(1 + turn % 2):
            rng.shuffle(rows)
            assert found(rows, name, model, tmp_path / f"{turn}-{again}") == one
