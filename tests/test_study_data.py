"""The public data sets of the studies: their sums, and the commands that bring them into their form."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cli_helpers import setveil
from real_data import DATA

ROOT = Path(__file__).parents[1]


def prepare(data: Path, out: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(ROOT / "benchmarks" / "study_data.py"), "--data", str(data), str(out)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_missing_and_other_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1 2\n")
    done = prepare(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "bms_webview1.dat is missing" in done.stderr
    assert "retail.dat is another file: expected SHA-256 8eebf67a" in done.stderr
    assert "docs/results.md" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_the_commands_of_the_page_make_the_files(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "results.md").read_text("utf-8")
    rng = Random(0)
    rows = [line.split() for line in (DATA / "bms_webview1.dat").read_text().splitlines()]
    for row in rows:  # as visits were: pages in any order, some twice
        row.extend(rng.sample(row, 1))
        rng.shuffle(row)
    (tmp_path / "BMS1.txt").write_text("".join(" -1 ".join(row) + " -1 -2\n" for row in rows))
    for line in ("convert BMS1.txt bms_webview1.dat",
                 "hierarchy build bms_webview1.dat --by balanced --fanout 5 --common 1 "
                 "--out bms_webview1_hierarchy.csv"):  # fmt: skip
        assert f"setveil {line}\n" in page
        setveil(*line.split(), cwd=tmp_path).ok()
    for name in ("bms_webview1.dat", "bms_webview1_hierarchy.csv"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()
