"""Every command that setveil prints about a table reads it as rows of people, and publishes no ID.

`PYTHONPATH=tests python tests/door/test_printed_commands.py 1000` tries 1,000 tables and prints the findings.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from random import Random

import pytest

from door_tables import door_table
from printed_commands import Findings, pasted_all, shown
from strategies import many, seeded


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Findings:
    return findings(seeded(47), many(160), tmp_path_factory.mktemp("door"))


def findings(rng: Random, n: int, home: Path) -> Findings:
    """Draw tables and paste all that is printed, a number at a time."""
    found = Findings()
    for at in range(0, n, 100):
        tables = [door_table(rng) for _ in range(min(100, n - at))]
        found.add(pasted_all(tables, home / str(at)))
    return found


def test_no_id_is_published(found: Findings) -> None:
    assert found.of("published") == []


def test_no_row_is_an_event(found: Findings) -> None:
    assert found.of("rows are events") == []


def test_what_is_printed_works(found: Findings) -> None:
    assert found.of("a ", "exit code", "the same", "more") == []


def test_most_messages_print_a_command(found: Findings) -> None:
    """Check that no command is printed if nothing distinguishes items from IDs: any could publish IDs."""
    assert len(found.of("nothing")) <= found.tables / 8


def test_tables_are_released(found: Findings) -> None:
    assert sum(found.rounds.values()) >= found.tables / 3


def main(n: int, seed: int = 0) -> None:
    """Print the findings."""
    with tempfile.TemporaryDirectory() as folder:
        sys.stdout.write(shown(findings(Random(seed), n, Path(folder))) + "\n")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
