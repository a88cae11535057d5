"""Messages of a command: bars, lines, --quiet, --verbose, and the note about a sample."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from cli_helpers import dump, rows_of, sample_rows, setveil, together, write
from setveil.cli import drawing
from setveil.cli.drawing import Phases, ProgressLines

ROWS = sample_rows()


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def test_remaining_time_is_shown_when_it_means_something(clock: Clock) -> None:
    phases = Phases(clock=clock)
    assert phases.remaining() is None
    phases("walking", 0.0)
    clock.now += 2
    phases("walking", 0.5)
    assert phases.remaining() is None  # too early
    clock.now += 2
    assert phases.remaining() == pytest.approx(4)
    phases("walking", 0.01)  # begun again
    assert phases.remaining() is None
    clock.now += 10
    phases("walking", 0.02)
    assert phases.remaining() is None  # too little done
    phases("walking", 0.21)
    assert phases.remaining() == pytest.approx(10 / 0.2 * 0.79)
    phases("walking")
    assert phases.remaining() is None
    phases("resting", 0.3)
    clock.now += 100
    assert phases.remaining() is None


def test_phases_end_with_their_times(clock: Clock) -> None:
    ended: list[tuple[str, float]] = []
    phases = Phases(lambda phase, seconds: ended.append((phase, seconds)), clock)
    clock.now += 1
    phases("3 of 4,000 runs")
    clock.now += 2
    phases("4,000 of 4,000 runs")  # numbers make no other phase
    clock.now += 3
    phases("writing")
    phases.end()
    assert ended == [("starting", 1), ("4,000 of 4,000 runs", 5), ("writing", 0)]


def test_lines_now_and_then(clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.setattr(drawing, "tell", said.append)
    phases = Phases(clock=clock)
    lines = ProgressLines(phases)
    phases("verifying", 0.0)
    times = []
    for _ in range(4000):
        before = len(said)
        clock.now += 1
        phases("verifying", min(1.0, (clock.now - 100) / 4000))
        lines.tick()
        if len(said) > before:
            times.append(clock.now - 100)
    assert times == [10, 20, 40, 80, 160, 320, 640, 1240, 1840, 2440, 3040, 3640]
    assert said[0] == "[0:10] verifying, 0%"
    assert said[4] == "[2:40] verifying, 4%, about 1:04:00 left"


def test_quiet_and_verbose(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS, "basket"))
    line = ["anonymize", "in.csv", "--k", 2, "--m", 1, "--no-details", "--out"]
    quiet = setveil(*line, "quiet", "--quiet", cwd=tmp_path).ok()
    assert quiet.err == ""
    assert [line.split()[0] for line in quiet.out.splitlines() if line[0] != " "] == [
        "Holds", "Kept", "Best", "Share",
    ]  # fmt: skip
    assert "quiet/published" in quiet.out
    usual = setveil(*line, "usual", cwd=tmp_path).ok()
    assert "No --hierarchy" in usual.err
    assert "verifying" not in usual.err
    verbose = setveil(*line, "verbose", "-v", cwd=tmp_path).ok()
    assert "Guarantee  Anyone who knows" in verbose.out
    assert "Folder     verbose" in verbose.out
    assert re.search(r"^verifying: \d+\.\d\d s$", verbose.err, re.MULTILINE)
    assert re.search(r"^writing: \d+\.\d\d s$", verbose.err, re.MULTILINE)
    refused = setveil(*line, "quiet", "-q", cwd=tmp_path)
    assert refused.code == 2
    assert "Error: The output folder quiet exists" in refused.err


def test_a_sample_says_that_it_is_one(tmp_path: Path) -> None:
    write(tmp_path / "in.csv", dump(ROWS, "basket"))
    line = ["anonymize", "in.csv", "--k", 2, "--m", 1, "--no-details", "--sample", 50, "--seed", 3, "--out"]
    first = setveil(*line, "first", cwd=tmp_path).ok()
    assert first.out.startswith(f"A SAMPLE: 50 of {len(ROWS)} rows, drawn by seed 3.\n")
    page = (tmp_path / "first/internal/report.html").read_text()
    assert f"a sample of 50 of {len(ROWS)} rows" in page
    report = json.loads((tmp_path / "first/internal/report.json").read_text())
    assert report["sample"] == {"rows": 50, "of": len(ROWS), "seed": 3}
    assert report["input"]["rows"] == 50
    assert len(rows_of(tmp_path / "first/published/data.csv")) == 50
    assert "--sample 50" in report["command"]
    setveil(*line, "second", cwd=tmp_path).ok()
    for name in ("data.csv", "about.json"):
        one, other = (tmp_path / run / "published" / name for run in ("first", "second"))
        assert one.read_bytes() == other.read_bytes()
    everything = setveil(*line, "all", "--sample", 5000, cwd=tmp_path).ok()
    assert "SAMPLE" not in everything.out
    assert "sample" not in json.loads((tmp_path / "all/internal/report.json").read_text())


def test_a_sample_may_lack_items_that_are_named(tmp_path: Path) -> None:
    rows = [f"a,b{i % 3}" for i in range(60)] + ["rare,a"]
    write(tmp_path / "in.csv", "\n".join([*rows, ""]))
    line = [
        "anonymize",
        "in.csv",
        "-a",
        "mm",
        "--h",
        "0.5",
        "--k",
        2,
        "--p",
        1,
        "--sample",
        30,
        "--format=basket",
        "--no-details",
    ]
    setveil(*line, "--private", "rare", "--out", "out", cwd=tmp_path).ok()
    done = setveil(*line, "--private", "rear", "--out", "no", cwd=tmp_path)
    assert done.code == 4
    assert "not in the data: 'rear'" in done.err


def test_labels_that_a_spreadsheet_takes_for_formulas(tmp_path: Path) -> None:
    """Check that they are reported if csv is published, in one line on standard error."""
    write(tmp_path / "in.csv", "=1+1,tea\n@x,tea\n-5,tea\n" * 2)
    write(tmp_path / "more.csv", "tea,=1+1\n" * 4)
    write(tmp_path / "plain.csv", "-5,tea\n5,tea\n" * 2)
    write(tmp_path / "table.csv", "age,mood,codes\n1,+up,a;b\n1,-down,a;b\n")
    make = ["--format", "basket", "-k", 2, "-m", 1, "-a", "exact", "--no-details"]
    table = ["--qi", "age", "--set", "codes", "--keep-columns", "mood", "--model", "kkm", "-k", 2, "-m", 1]
    runs = together(
        [
            ["anonymize", "in.csv", *make, "-o", "csv"],
            ["apply", "csv", "more.csv", "--format", "basket", "-o", "applied"],
            ["anonymize", "table.csv", *table, "-o", "table"],
            ["anonymize", "in.csv", *make, "--quiet", "-o", "quiet"],
            ["anonymize", "in.csv", *make, "--output-format", "jsonl", "-o", "jsonl"],
            ["anonymize", "plain.csv", *make, "-o", "plain"],
        ],
        tmp_path,
    )
    noted = [[line for line in one.ok().err.splitlines() if line.startswith("Note: ")] for one in runs]
    rest = (
        "begin with = + - or @. A spreadsheet may take them for formulas when it opens a release; labels are "
    )
    assert noted[0] == [f"Note: 2 labels {rest}published as they are."]
    assert noted[1][0].startswith(
        "Note: 1 label begins with = + - or @. A spreadsheet may take it for a formula"
    )
    assert noted[2] == noted[0]
    assert noted[3:] == [[], [], []]
