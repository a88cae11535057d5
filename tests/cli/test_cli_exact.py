"""The options of the exact algorithm on the command line, and Ctrl-C while it proves."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli_helpers import (  # fmt: skip
    COMMAND,
    dump,
    environment,
    files_under,
    hearing,
    needs_compiled,
    posix_only,
    read_run,
    refused,
    sample_rows,
    setveil,
    together,
    write,
)
from real_data import DATA

ROWS = sample_rows(300, items=20, longest=6, seed=3)
LEAVES = sorted({item for row in ROWS for item in row})
TREE = "".join(f"{leaf};g{i // 4};s{i // 8};*\n" for i, leaf in enumerate(LEAVES))
BASE = ["anonymize", "in.dat", "--hierarchy", "tree.csv", "--k", 5, "--m", 2]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    write(tmp_path / "in.dat", dump(ROWS, "fimi"))
    write(tmp_path / "tree.csv", TREE)
    return tmp_path


def report(place: Path, out: str) -> dict[str, object]:
    content: dict[str, object] = json.loads((place / out / "internal" / "report.json").read_text())
    return content


def test_default_is_the_proven_optimum_with_suppression(place: Path) -> None:
    runs = together(
        [
            [*BASE, "--out", "default", "--verbose"],
            [*BASE, "--out", "cut", "--no-suppress"],
            [*BASE, "--out", "cut-lm", "--no-suppress", "--objective", "lm"],
            [*BASE, "--out", "none", "--max-suppressed", "0%"],
            [*BASE, "--out", "aa", "--algorithm", "aa", "--bound", "--verbose"],
        ],
        place,
    )
    found = {}
    for done, name in zip(runs, ("default", "cut", "cut-lm", "none", "aa"), strict=True):
        done.ok()
        run = read_run(place / name, ROWS, LEAVES)
        found[name] = run.report["optimality"]
        assert found[name]["lower_bound"] <= found[name]["loss"]
        if name != "aa":
            assert found[name]["gap"] == 0
            assert found[name]["proven"] is True
            assert found[name]["loss"] == pytest.approx(run.report["utility"][found[name]["objective"]])
    assert found["default"]["objective"] == "lm"
    assert found["cut"]["objective"] == "ncp"
    assert found["default"]["loss"] <= found["cut-lm"]["loss"] == pytest.approx(found["none"]["loss"])
    assert found["aa"]["lower_bound"] == pytest.approx(found["cut"]["loss"])
    assert found["aa"]["loss"] >= found["cut"]["loss"]
    assert "Proven: the smallest loss (LM)" in runs[0].out
    assert "smallest loss (NCP) of any cut of this hierarchy" in runs[4].out.replace("\n", " ").replace(
        "           ", ""
    )


def test_losses_in_bits(place: Path) -> None:
    """Check that each objective has the least loss by its own measure, and only internal files name it."""
    wanted = ("lm", "entropy", "entropy-max")
    runs = together([[*BASE, "--out", one, "--objective", one, "--external"] for one in wanted], place)
    found = {}
    for done, name in zip(runs, wanted, strict=True):
        done.ok()
        record: Any = report(place, name)
        found[name] = record["optimality"] | record["utility"]["entropy"]
        assert (found[name]["objective"], found[name]["proven"], found[name]["gap"]) == (name, True, 0)
        page = (place / name / "internal" / "report.html").read_text()
        assert "Entropy: doubt that a published label leaves" in page
        outside = (place / name / "published" / "report.html").read_text()
        assert "Entropy" not in outside
        if name != "lm":
            assert (
                f"Proven: the smallest {name} loss possible with this hierarchy, 0."
                in runs[wanted.index(name)].out
            )
            assert f"Proven: the smallest {name} loss possible with this hierarchy." in page + outside
    least = found["entropy"]
    assert least["loss"] == pytest.approx(least["share"])
    assert least["share"] <= found["entropy-max"]["share"] <= found["entropy-max"]["loss"] + 1e-9
    assert least["share"] < found["lm"]["share"]


def test_keep_and_weights(place: Path) -> None:
    setveil(*BASE, "--out", "plain", cwd=place).ok()
    changed = sorted(read_run(place / "plain", ROWS, LEAVES).changed, key=int)
    assert changed
    write(place / "keep.txt", f"{changed[0]}\n")
    write(
        place / "weights.csv",
        "\n".join(f"{item},{weight}" for item, weight in zip(LEAVES, (0, 0.3, 10), strict=False)),
    )
    done = setveil(*BASE, "--out", "kept", "--keep", "keep.txt", "--weights", "weights.csv", cwd=place)
    done.ok()
    kept = read_run(place / "kept", ROWS, LEAVES)
    assert changed[0] not in kept.changed
    assert kept.report["algorithm"]["parameters"]["keep"] == [changed[0]]
    write(place / "keep.txt", " ".join(LEAVES) + "\n")
    done = setveil(*BASE, "--out", "all", "--keep", "keep.txt", cwd=place)
    refused(done, 3, "cannot all be kept", "k^m-anonymity (k=5, m=2)", out=place / "all")


def test_too_little_may_be_suppressed(place: Path) -> None:
    """The hint of a refusal names a share that works."""
    for item in LEAVES:
        write(place / f"{item}.txt", f"{item}\n")
    keep = [["--keep", f"{item}.txt", "--max-suppressed"] for item in LEAVES]
    tried = together([[*BASE, "--out", f"out{i}", *some, "0%"] for i, some in enumerate(keep)], place)
    i, done = next((i, done) for i, done in enumerate(tried) if "occurrences may be suppressed" in done.err)
    refused(done, 3, "may be suppressed", out=place / f"out{i}")
    hinted = re.search(r"--max-suppressed ([0-9.]+%)", done.err)
    assert hinted, done.err
    setveil(*BASE, "--out", "out", *keep[i], hinted[1], cwd=place).ok()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--gap", "-0.1"], "gap"),
        (["--time-limit", "0"], "time_limit must be a positive number of seconds"),
        (["--objective", "best"], "no objective 'best'"),
        (["--max-suppressed", "120%"], "0% to 100%"),
        (["--max-suppressed", "some"], "0% to 100%"),
        (["--max-suppressed", "5%", "--no-suppress"], "suppress"),
        (["--refine"], "refine"),
        (["--algorithm", "aa", "--keep", "keep.txt"], "keep"),
        (["--keep", "unknown.txt"], "'999'"),
    ],
)
def test_bad_requests(options: list[str], words: str, place: Path) -> None:
    write(place / "keep.txt", "101\n")
    write(place / "unknown.txt", "999\n")
    refused(setveil(*BASE, "--out", "out", *options, cwd=place), 2, words, out=place / "out")


@pytest.mark.parametrize("line", ["101", "101,x", "101,-1", ",3", "101,1\n101,2", "101,nan", "101,1,2"])
def test_bad_weights(line: str, place: Path) -> None:
    write(place / "weights.csv", f"102,1\n{line}\n")
    done = setveil(*BASE, "--out", "out", "--weights", "weights.csv", cwd=place)
    refused(done, 4, "weights.csv, line ", out=place / "out")


HARD = [
    "anonymize", str(DATA / "bms_webview2.dat"), "--hierarchy", str(DATA / "bms_webview2_hierarchy.csv"),
    "--k", "5", "--m", "5", "--out", "out",
]  # fmt: skip
needs_hard = pytest.mark.skipif(not DATA.is_dir(), reason="needs BMS-WebView-2: made-up data are too easy")


def until(terminal: int, sign: bytes | None) -> bytes:
    """Read the terminal output until a sign appears, or else until its process has ended."""
    seen = b""
    while sign is None or sign not in seen:
        try:
            seen += os.read(terminal, 4096)
        except OSError:  # the error of Linux when the writer has closed
            assert sign is None, seen
            break
    return seen


@pytest.mark.exhaustive
@posix_only
@needs_compiled
@needs_hard
def test_ctrl_c_once_returns_the_best_so_far(tmp_path: Path) -> None:
    """On a terminal, which shows that there is a first release and that the search for a better goes on."""
    terminal, its_end = os.openpty()
    with subprocess.Popen(
        [*COMMAND, *HARD, "--time-limit", "1000000"], cwd=tmp_path, env=environment({"TERM": "xterm"}),
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=its_end,
        preexec_fn=hearing,  # noqa: PLW1509  (the tests start no threads)
    ) as process:  # fmt: skip
        os.close(its_end)
        try:
            until(terminal, b"proving, round")
            assert process.poll() is None, "the problem must be harder"
            process.send_signal(signal.SIGINT)
            err = until(terminal, None).decode()
            assert process.stdout is not None
            out = process.stdout.read().decode()
            assert process.wait() == 0, err
        finally:
            process.kill()
            os.close(terminal)
    assert "Traceback" not in err
    assert "best release so far" in err
    assert "\x1b[?25h" in err, "the cursor is hidden"
    assert "smallest loss (LM) possible" in out.replace("\n", " ")
    record = report(tmp_path, "out")["optimality"]
    assert isinstance(record, dict)
    assert record["proven"] is False
    assert 0 <= record["lower_bound"] < record["loss"]
    check = setveil("verify", "out", "--k", 5, "--m", 5, cwd=tmp_path)
    assert check.code == 0, check


@needs_compiled
@needs_hard
def test_time_limit(tmp_path: Path) -> None:
    """On a slow machine the first limits may be too short for a bound above 0."""
    for limit in (5, 10, 20, 40, 80, 160):
        done = setveil(*HARD, "--time-limit", limit, "--force", "--json", cwd=tmp_path).ok()
        record = done.json()["optimality"]
        assert record["proven"] is False
        assert 0 < record["gap"] <= 1
        assert done.json()["guarantee"]["holds"] is True
        assert "out/published/about.json" in files_under(tmp_path)
        if record["gap"] < 1:
            break
    assert record["gap"] < 1


def test_stop_is_only_for_work_that_can_end_early() -> None:
    """A command that cannot end early is left at the first Ctrl-C (see test_cli_interrupt)."""
    from setveil.base.progress import silent

    assert silent.stoppable is False
    assert silent.stop_requested() is False
    assert sys.version_info >= (3, 11)
