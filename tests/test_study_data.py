"""The public data sets of the studies: their sums, and the commands that bring them into their form."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from cli_helpers import setveil
from real_data import DATA

ROOT = Path(__file__).parents[1]


def prepare(data: Path, out: Path, *more: str) -> subprocess.CompletedProcess[str]:
    script = str(ROOT / "benchmarks" / "study_data.py")
    words = [sys.executable, script, "--data", str(data), str(out), *more]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_missing_and_other_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "retail.dat").write_text("1 2\n")
    done = prepare(tmp_path, tmp_path / "out")
    assert done.returncode == 1
    assert "bms_webview1.dat is missing" in done.stderr
    assert "retail.dat is another file: expected SHA-256 8eebf67a" in done.stderr
    assert "docs/data.md" in done.stderr
    assert not (tmp_path / "out").exists()
    done = prepare(tmp_path, tmp_path / "out", "--unchecked")
    assert done.returncode == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["retail.dat"]
    (tmp_path / "none").mkdir()
    assert prepare(tmp_path / "none", tmp_path / "more").returncode == 1
    assert not (tmp_path / "more").exists()


def test_a_missing_file_is_named_with_its_studies(tmp_path: Path) -> None:
    done = prepare(tmp_path, tmp_path / "out")
    lines = {line.split()[0]: line for line in done.stderr.splitlines()}
    assert lines["retail.dat"].endswith("Studies that need it: icdm2008.toml.")
    for study in ("vldb2008.toml", "inference.toml", "orders.toml"):  # samples are made of it
        assert study in lines["bms_webview2.dat"]
    assert "vldb2008.toml" not in lines["groceries.csv"]


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_two_sets_are_enough_for_a_study(tmp_path: Path) -> None:
    for name in ("bms_webview1", "bms_webview2"):
        for end in (".dat", "_hierarchy.csv"):
            (tmp_path / f"{name}{end}").symlink_to(DATA / f"{name}{end}")
    done = prepare(tmp_path, tmp_path / "out")
    assert done.returncode == 0
    study = (ROOT / "studies/vldb2008.toml").read_text("utf-8")
    needed = set(re.findall(r'(?:path|hierarchy) = "([^"]+)"', study))
    assert needed <= {path.name for path in (tmp_path / "out").iterdir()}


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_the_program_of_the_page_makes_the_rows_of_diabetes(tmp_path: Path) -> None:
    rows = [line.split() for line in (DATA / "diabetes_icd9.dat").read_text().splitlines()]
    padded = [["?", *row, "?", "?"][1:4] if len(row) < 3 else row for row in rows]
    lines = ["diag_1,diag_2,diag_3", *(",".join(row) for row in padded), "?,?,?"]
    (tmp_path / "diabetic_data.csv").write_text("\n".join(lines))
    page = (ROOT / "docs/data.md").read_text("utf-8")
    program = next(block for block in page.split("```text\n")[1:] if block.startswith("import csv"))
    subprocess.run([sys.executable, "-c", program.partition("```")[0]], cwd=tmp_path, check=True)
    assert (tmp_path / "diabetes_icd9.dat").read_bytes() == (DATA / "diabetes_icd9.dat").read_bytes()


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no data at {DATA} (set SETVEIL_DATA)")
def test_the_commands_of_the_page_make_the_files(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "data.md").read_text("utf-8")
    rng = Random(0)
    rows = [line.split() for line in (DATA / "bms_webview1.dat").read_text().splitlines()]
    for row in rows:  # as visits were: pages in any order, some twice
        row.extend(rng.sample(row, 1))
        rng.shuffle(row)
    (tmp_path / "BMS1.txt").write_text("".join(" -1 ".join(row) + " -1 -2\n" for row in rows))
    for line in ("convert BMS1.txt bms_webview1.dat",
                 "hierarchy build bms_webview1.dat --by balanced --order number --common 1 "
                 "--out bms_webview1_hierarchy.csv"):  # fmt: skip
        assert f"setveil {line}\n" in page
        setveil(*line.split(), cwd=tmp_path).ok()
    for name in ("bms_webview1.dat", "bms_webview1_hierarchy.csv"):
        assert (tmp_path / name).read_bytes() == (DATA / name).read_bytes()
