"""The location of the real data: not in the repository; tests that need them are skipped without them."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path

from setveil.rows.data.io.rows import read
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy

DATA = Path(os.environ.get("SETVEIL_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")
CASES = Path(os.environ.get("SETVEIL_CASES") or DATA.parent / "cases")  # small files, a folder each


@cache
def load(name: str) -> tuple[Transactions, Hierarchy]:
    return read(DATA / f"{name}.dat"), read_hierarchy(DATA / f"{name}_hierarchy.csv")
