"""Nothing that is published tells what fewer than k people have: exchanges of it leave every byte as it is.

`python tests/exchange/test_exchange.py 100` tries that many of each kind and prints a table of what came of
them: cases, differences, and what was no case: something that k people share changed (drawn in addition),
another recoding was chosen, what was exchanged is published by name, or no release was made.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

if __name__ == "__main__":  # pytest finds the others by its settings
    sys.path[:0] = [str(folder) for folder in Path(__file__).resolve().parents[:2]]

from exchanges import Tally, all_kinds, drawn, tried
from exchanges_in_readings import reading_kinds
from exchanges_of_several import several_kinds
from further_exchanges import further_kinds
from strategies import many

KINDS = all_kinds() | further_kinds() | reading_kinds() | several_kinds()
SLOW = ("command", "facts", "people:", "series:", "sample:")
COLUMNS = ("cases", "differences", "shared", "moved", "named", "refused")


@pytest.mark.parametrize("kind", KINDS)
def test_what_few_people_have_is_exchanged_without_a_trace(kind: str, tmp_path: Path) -> None:
    tally = tallied(kind, many(2 if any(word in kind for word in SLOW) else 8), tmp_path)
    assert tally.differences == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", KINDS)
def test_in_greater_numbers(kind: str, tmp_path: Path) -> None:
    tally = tallied(kind, 16, tmp_path, seed=1)
    assert tally.differences == []


def tallied(kind: str, n: int, folder: Path, seed: int = 0) -> Tally:
    """Draw trials of a kind, and count."""
    tally, rng = Tally(), Random(f"{kind} {seed}")
    for number in range(n):
        tried(drawn(KINDS[kind], rng, tally), folder / str(number), tally)
    return tally


def main(n: int, part: str = "") -> None:
    """Print a table of all kinds, and the differences of each."""
    sys.stdout.write(f"{'kind of release':<50}{''.join(f'{column:>13}' for column in COLUMNS)}\n")
    total: Counter[str] = Counter()
    for kind in KINDS:
        if part in kind:
            with tempfile.TemporaryDirectory() as folder:
                tally = tallied(kind, n, Path(folder), seed=2)
            found = {"cases": tally.cases, "differences": len(tally.differences), "shared": tally.shared,
                     "moved": tally.moved, "named": tally.named, "refused": tally.refused}  # fmt: skip
            total.update(found)
            show(kind, found)
            sys.stdout.write("".join(f"    {text}\n" for text in tally.differences[:3]))
            sys.stdout.flush()
    show("all kinds", total)


def show(kind: str, found: Mapping[str, int]) -> None:
    """Print a line of the table."""
    sys.stdout.write(f"{kind:<50}{''.join(f'{found[column]:>13,}' for column in COLUMNS)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]), "".join(sys.argv[2:3]))
