"""The release and its measures depend on the rows alone.

They do not depend on the order of the rows, the number of threads, or Python's random hashes.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import environment, needs_compiled
from setveil.base.threads import use_threads
from setveil.judges.guarantees import Guarantee, models
from setveil.methods import algorithms
from setveil.rows.tables.quasi_identifiers import quasi_identifier
from setveil.runs import details
from strategies import examples, seeded

PROMISES: dict[str, Guarantee] = {
    "km-anonymity": sv.KmAnonymity(3, 2),
    "k-anonymity": sv.TransactionalKAnonymity(2),
    "constraints": sv.PrivacyConstraints(3, m=2),
    "coherence": sv.Coherence(0.6, 2, 2, ["s", "t"]),
    "disassociated": sv.Disassociated(3, 2),
    "privacy-degree": sv.PrivacyDegree(3, ("s", "t")),
    "km-rho": sv.KmRho(1, 2, "1/3", ("s", "t")),
    "rho-uncertainty": sv.RhoUncertainty("1/3", ("s", "t")),
    "kkm": sv.KKmAnonymity(3, 2),
    "mixed-km": sv.MixedKmAnonymity(3, 2),
}
# Further options of an algorithm, in turn.
OWN: dict[str, list[dict[str, Any]]] = {
    "bounding": [
        {}, {"relational": "cluster", "items": "aa", "merge": "rt", "delta": 0.4},
        {"relational": "topdown", "items": "coat", "merge": "t", "delta": 0.5},
        {"relational": "bottomup", "items": "vpa", "merge": "r", "delta": 0.5},
        {"relational": "incognito", "items": "lra"}, {"relational": "exact", "items": "hghs"},
    ],
    "border": [{}, {"k_nugget": 2, "p_nugget": 2}],
    "cahd": [{}, {"alpha": 1, "rounds": 0}],
    "coat": [{"max_suppressed_items": 1}],
    "exact": [{}, {"suppress": False}, {"objective": "ncp"}],
    "forest": [{}, {"suppress": False, "share": "1/2"}],
    "lra": [{}, {"parts": 3}, {"parts": 3, "inner": "exact"}],
    "pcta": [{"max_suppressed_items": 1}],
    "rt": [{}, {"search": "sweep", "share": 1}, {"least": 4}],
    "suppress-control": [{}, {"refine": True}],
    "td-control": [{}, {"objective": "lm"}],
}  # fmt: skip
# Noise is drawn again in every run.
SEEDED = [name for name in algorithms.names() if not algorithms.load(name).info.draws]
CASES = [(name, model) for name in SEEDED for model in algorithms.load(name).info.guarantees]


def drawn(rng: Random) -> list[list[str]]:
    """Draw rows; many are equal, or equal except for a sensitive item."""
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


def found(rows: list[list[str]], name: str, model: str, out: Path, turn: int = 0) -> Any:
    some = OWN.get(name, [{}])
    more = some[turn % len(some)]
    try:
        data = sv.Transactions.from_rows(rows)
        if models()[model].release == "tables":
            data = with_ages(data)
        release = sv.anonymize(data, PROMISES[model], algorithm=name, **more)
    except (sv.InfeasibleError, sv.RequestError) as error:
        return str(error), None
    report = release.write(out, external=True)
    parts = {key: report.get(key) for key in ("utility", "answers", "risk", "frequencies", "labels")}
    parts["optimality"] = report.get("optimality")
    return files(out / "published"), parts


@pytest.mark.parametrize(("name", "model"), CASES)
def test_order_of_the_input_makes_no_difference(
    name: str, model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = seeded(230)
    for turn in range(examples(4, 2)):
        monkeypatch.setattr(details, "EFFORT", 10 if turn % 2 else 10**6)  # with little, rows are drawn
        rows = drawn(rng)
        one = found(rows, name, model, tmp_path / f"{turn}", turn)
        for again in range(1 + turn % 2):
            rng.shuffle(rows)
            moved = [rng.sample(row, len(row)) for row in rows]
            assert found(moved, name, model, tmp_path / f"{turn}-{again}", turn) == one


@pytest.fixture
def free_threads() -> Iterator[None]:
    yield
    use_threads(None)


@needs_compiled
@pytest.mark.usefixtures("free_threads")
@pytest.mark.parametrize(("name", "model"), CASES)
def test_the_number_of_threads_makes_no_difference(name: str, model: str, tmp_path: Path) -> None:
    rng = seeded(231)
    for turn in range(examples(1)):
        rows, seen = drawn(rng), []
        for number in (1, 2, 7):
            use_threads(number)
            seen.append(found(rows, name, model, tmp_path / f"{turn}-{number}", turn))
        assert seen[0] == seen[1] == seen[2]


def write_digests(out: Path) -> None:
    """Return a short form of the result of each algorithm for the same rows."""
    lines = []
    for turn, (name, model) in enumerate(CASES):
        made = found(drawn(seeded(turn)), name, model, out / f"{turn}", turn)
        lines.append(f"{name} {model} {hashlib.sha256(repr(made).encode()).hexdigest()}")
    (out / "digests").write_text("\n".join(lines))


@pytest.mark.exhaustive
@needs_compiled
def test_the_seed_of_hashes_makes_no_difference(tmp_path: Path) -> None:
    script = f"from pathlib import Path; import {__name__} as here; here.write_digests(Path(sys.argv[1]))"
    script = f"import sys; sys.path[:0] = {sys.path!r}; {script}"
    outputs = []
    for seed in ("0", "20260101"):
        words = [sys.executable, "-c", script, str(tmp_path / seed)]
        (tmp_path / seed).mkdir()
        subprocess.run(words, env=environment({"PYTHONHASHSEED": seed}), check=True)
        outputs.append((tmp_path / seed / "digests").read_text().splitlines())
    assert len(outputs[0]) == len(CASES)
    assert outputs[0] == outputs[1]
