"""A run over parts on disk publishes the same as a run in memory."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import setveil as sv
from cli_helpers import posix_only
from risks import assert_same_risk
from setveil.base.errors import DataError, GuaranteeError, InfeasibleError, OutputError, RequestError
from setveil.releases.published import in_parts as publishing
from setveil.rows.data.io.source import gather
from setveil.rows.data.io.streams import open_streams
from setveil.rows.engine.parts import Part, RowsOnDisk
from setveil.runs.in_parts import ALGORITHMS, anonymize_parts, require_possible
from strategies import Case, examples, random_case, seeded


def written(case: Case, folder: Path) -> list[str]:
    folder.mkdir()
    half = case.data.n_rows // 2
    for name, rows in (("a", case.data[:half]), ("b", case.data[half:])):
        sv.convert(rows, folder / f"{name}.parquet")
    return [str(folder)]


def content(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def untimed(found: Any) -> Any:
    """Remove the seconds."""
    return {key: v for key, v in found.items() if key != "seconds"} if isinstance(found, dict) else found


def usual(seed: int) -> Case:
    rng = seeded(seed)
    while True:
        case = random_case(rng, most_rows=40)
        half = case.data.n_rows // 2
        if min(case.data[:half].filled_rows, case.data[half:].filled_rows) > 5:
            return case


def test_same_files_as_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = seeded(3)
    monkeypatch.setattr("setveil.rows.data.io.parquet.ROW_GROUP", 4)
    monkeypatch.setattr("setveil.runs.in_parts.ROW_GROUP", 4)
    for number in range(examples(25, 5)):
        algorithm = ALGORITHMS[number % len(ALGORITHMS)]
        monkeypatch.setattr("setveil.methods.algorithms._witness_rows.LEAST", rng.choice([0, 0, 1 << 20]))
        monkeypatch.setattr("setveil.rows.data.io.parquet.FILE_ROWS", rng.choice([8, 1 << 10]))
        monkeypatch.setattr("setveil.rows.engine.parts.OF_A_PART", rng.randint(1, 60))
        monkeypatch.setattr("setveil.rows.engine.content.OF_A_PART", rng.randint(1, 60))
        case = usual(number)
        paths = written(case, tmp_path / f"data{number}")
        guarantee = sv.KmAnonymity(rng.randint(2, 5), rng.randint(1, 3))
        out = tmp_path / f"parts{number}"
        report = anonymize_parts(
            open_streams(gather(paths), "item"), guarantee, case.tree, out, algorithm=algorithm, seed=number
        )
        memory = sv.anonymize(
            sv.read(paths, item_column="item"),
            guarantee,
            hierarchy=case.tree,
            algorithm=algorithm,
            seed=number,
            details=True,
        )
        memory.write(tmp_path / f"memory{number}")
        in_memory = tmp_path / f"memory{number}"
        assert content(out / "published") == content(in_memory / "published")
        recodings = [folder / "internal" / "recoding.csv" for folder in (out, in_memory)]
        assert recodings[0].read_bytes() == recodings[1].read_bytes()
        assert report["utility"] == memory.utility
        record = json.loads((in_memory / "internal" / "report.json").read_text())
        for same in (
            "algorithm",
            "labels",
            "branches",
            "frequencies",
            "hierarchy",
            "published",
            "suppressed",
        ):
            assert untimed(report[same]) == untimed(record[same])
        assert untimed(report.get("optimality")) == untimed(record.get("optimality"))
        for side in ("before", "after"):
            assert_same_risk(report["risk"][side], record["risk"][side])
        assert report["answers"]["itemsets"] == record["answers"]["itemsets"]
        assert report["answers"].get("pairs") == pytest.approx(record["answers"].get("pairs"))
        for same in ("size", "estimator"):
            assert report["answers"]["are"].get(same) == record["answers"]["are"].get(same)
        assert report["input"]["sha256"] == memory.report["input"]["sha256"]
        assert sv.verify(str(out), guarantee).holds
        assert {p.name for p in out.iterdir()} == {"published", "internal"}


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    case = usual(1)
    paths = written(case, tmp_path / "data")
    guarantee = sv.KmAnonymity(2, 2)

    def run(error: type[Exception], message: str, *, counts: bool = False) -> None:
        with pytest.raises(error, match=message):
            anonymize_parts(
                open_streams(gather(paths), "item"), guarantee, case.tree, tmp_path / "out", counts=counts
            )
        assert [p.name for p in tmp_path.iterdir()] == ["data"]

    with monkeypatch.context() as patch:

        def full(*_: Any) -> Any:
            raise OSError(errno.ENOSPC, "no space")

        patch.setattr(Part, "write", full)
        run(OutputError, "the disk is full. Nothing was left behind")
    with monkeypatch.context() as patch:

        def changed(self: RowsOnDisk) -> Any:
            part = self.parts[0]
            np.array([0], np.int32).tofile(part.items)
            yield part.rows()

        patch.setattr(RowsOnDisk, "rows", changed)
        run(DataError, "is not what was written there")
    with monkeypatch.context() as patch:
        pieces = publishing.PublishedParts.pieces
        patch.setattr(publishing.PublishedParts, "pieces", lambda self, rows: list(pieces(self, rows)) * 2)
        run(GuaranteeError, "Nothing was left behind", counts=True)
        run(GuaranteeError, "What was written is not what was to be published")
    guarantee = sv.KmAnonymity(10**6, 2)
    run(InfeasibleError, "cannot be met")


@posix_only
@pytest.mark.parametrize("mask", [0, 0o022])
def test_who_may_read_a_release(mask: int, tmp_path: Path) -> None:
    """Check that only the owner can read internal files, and published files follow the user's mask."""
    case = usual(1)
    paths = written(case, tmp_path / "data")
    guarantee, streams = sv.KmAnonymity(2, 2), open_streams(gather(paths))
    before = os.umask(mask)
    try:
        anonymize_parts(streams, guarantee, case.tree, tmp_path / "parts", external=True)
        rows = sv.read(paths)
        sv.anonymize(rows, guarantee, hierarchy=case.tree).write(tmp_path / "memory", external=True)
    finally:
        os.umask(before)
    for out in (tmp_path / "parts", tmp_path / "memory"):
        found = {path.relative_to(out).parts[0]: set[int]() for path in out.iterdir()}
        for path in out.rglob("*"):
            inside = path.relative_to(out).parts[0] == "internal"
            mode = (0o777 if path.is_dir() else 0o666) & ~(0o077 if inside else mask)
            assert path.stat().st_mode & 0o777 == mode, path
            found[path.relative_to(out).parts[0]].add(mode)
        assert {name: len(modes) for name, modes in found.items()} == {"internal": 2, "published": 2}


def test_what_is_not_done_in_parts() -> None:
    requests: list[tuple[str, str, dict[str, Any]]] = [
        ("km-anonymity", "oa", {}),
        ("k-anonymity", "lg", {}),
        ("km-anonymity", "aa", {"refine": True}),
    ]
    for model, algorithm, settings in requests:
        with pytest.raises(RequestError, match="in parts"):
            require_possible(model, algorithm, settings)
