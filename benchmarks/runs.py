"""Whole runs of the command line on real data, for the benchmarks.

The data sets are not part of the project: they are looked for in --data, in the folder named by SETVEIL_DATA,
or in ../shared/data.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

DATA = {
    "BMS-WebView-1": ("bms_webview1.dat", "bms_webview1_hierarchy.csv"),
    "BMS-WebView-2": ("bms_webview2.dat", "bms_webview2_hierarchy.csv"),
    "groceries": ("groceries.csv", "groceries_hierarchy.csv"),
    "diabetes_icd9": ("diabetes_icd9.dat", "diabetes_icd9_hierarchy.csv"),
    "instacart": ("instacart_long.csv", "instacart_hierarchy.csv"),
}


def setveil(*arguments: str) -> tuple[str, float]:
    """Run the command line; its standard output and the seconds it took."""
    start = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "setveil", *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout, time.perf_counter() - start


def anonymize(rows: Path, tree: Path, k: int, m: str, *more: str) -> dict[str, Any]:
    """Anonymize once; the report, with the wall clock of the whole process."""
    with tempfile.TemporaryDirectory() as folder:
        return anonymize_to(
            Path(folder, "out"), rows, "--hierarchy", str(tree), "--k", str(k), "--m", m, *more
        )


def anonymize_to(out: Path, rows: Path, *more: str) -> dict[str, Any]:
    """Anonymize into a folder; the report, with the wall clock of the whole process."""
    found, seconds = setveil("anonymize", str(rows), "--out", str(out), "--json", *more)
    report: dict[str, Any] = json.loads(found)
    return report | {"wall": seconds}


def said(error: subprocess.CalledProcessError) -> str:
    """Return the last line of the output of a failed run, without frame and hint."""
    lines = [line.strip(" ╭╮╰╯─│") for line in error.stderr.splitlines()]
    return next((line for line in reversed(lines) if line and not line.startswith("Hint:")), "no word")


def compile_kernels() -> None:
    """Make sure that no run that counts has to compile."""
    with tempfile.TemporaryDirectory() as folder:
        setveil("demo", "--out", str(Path(folder, "demo")))


def compile_for(*more: str, tree: bool = True) -> None:
    """Make sure that no run that counts has to compile: run with a promise that can hide item 4."""
    with tempfile.TemporaryDirectory() as folder:
        rows, hierarchy = Path(folder, "rows.dat"), Path(folder, "tree.csv")
        rows.write_text("1 2\n1 2 3\n2 3\n1 3 4\n3\n1 2\n" * 2)
        hierarchy.write_text("1;A;ALL\n2;A;ALL\n3;B;ALL\n4;B;ALL\n")
        anonymize_to(Path(folder, "out"), rows, *more, *(("--hierarchy", str(hierarchy)) if tree else ()))


def parser(description: str) -> argparse.ArgumentParser:
    """Make a parser for the names of data sets and the folder they are in."""
    out = argparse.ArgumentParser(description=description)
    out.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(DATA)}; by default all")
    out.add_argument("--data", type=Path, default=None, help="folder of the data sets")
    return out


def data_folder(named: Path | None) -> Path:
    """Find the folder of the data sets."""
    shared = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = named or Path(os.environ.get("SETVEIL_DATA", shared))
    if not folder.is_dir():
        sys.exit(f"There is no data folder {folder}; name one with --data or SETVEIL_DATA.")
    return folder


def files(arguments: argparse.Namespace) -> dict[str, tuple[Path, Path]]:
    """Find the rows and the hierarchy of each requested data set."""
    folder = data_folder(arguments.data)
    unknown = sorted(set(arguments.names) - set(DATA))
    if unknown:
        sys.exit(f"There is no data set {', '.join(unknown)}; there are {', '.join(DATA)}.")
    return {name: (folder / DATA[name][0], folder / DATA[name][1]) for name in arguments.names or DATA}
