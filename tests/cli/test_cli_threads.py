"""Results that do not depend on the number of threads."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import dump, refused, sample_rows, setveil, together

TIMES = {"timing", "peak_memory_mb", "command", "options"}


def written(folder: Path) -> tuple[dict[str, bytes], dict[str, Any]]:
    """Return the files of a run without its pages, and its record without details of the machine."""
    files = {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and path.suffix != ".html" and path.name != "report.json"
    }
    record = json.loads((folder / "internal/report.json").read_bytes())
    return files, {key: value for key, value in record.items() if key not in TIMES}


@pytest.mark.parametrize("algorithm", ["aa", "exact"])
def test_any_number_of_threads_gives_the_same(algorithm: str, tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_bytes(dump(sample_rows(300, 20), "basket"))
    commands = [
        ["anonymize", "rows.csv", "-a", algorithm, "-k3", "-m3", "--threads", n, "-o", f"out{n}"]
        for n in (1, 2, 7)
    ]
    for done in together(commands, tmp_path):
        assert done.code == 0, done.err
    first, *others = (written(tmp_path / f"out{n}") for n in (1, 2, 7))
    assert "published/about.json" in first[0]
    assert "risk" in first[1]
    for other in others:
        assert other == first


def test_no_thread_is_too_few(tmp_path: Path) -> None:
    (tmp_path / "rows.csv").write_text("a,b\nb\na\n")
    done = setveil("anonymize", "rows.csv", "-k2", "-m1", "--threads", "0", "-o", "out", cwd=tmp_path)
    refused(done, 2, "--threads", "integer of at least 1", "'0'", out=tmp_path / "out")
