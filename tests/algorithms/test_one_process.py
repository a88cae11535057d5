"""All algorithms in one process, one after the other, publish the same as in a process of their own.

Stored compiled code is loaded into the process in the order of the runs. So every algorithm comes after every
other one here, and before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from cli_helpers import needs_compiled, setveil, together, write
from setveil.methods import algorithms
from strategies import examples

KM, RHO = "--k 3 --m 2 -H tree.csv", "--rho 0.4 --sensitive 3,17 -H tree.csv"
MOLES = "--h 0.7 --k 3 --p 2 --private 3,17"
TABLE = "--model kkm --qi age,zip --set codes --delimiter ; --hierarchy tree.csv --k 2 --m 2"
COMMANDS = {
    "aa": f"rows.dat {KM}",
    "border": f"rows.dat {MOLES} --k-nugget 6 --p-nugget 3",
    "bounding": f"table.csv {TABLE} --relational cluster --items aa --merge rt --delta 0.6",
    "cahd": "rows.dat --p 3 --sensitive 3,17",
    "classes": f"rows.dat {KM} --classes 2 --class-size 40",
    "coat": "rows.dat --privacy all --k 3 --m 2 --utility siblings --max-suppressed-items 90% -H tree.csv",
    "da": f"rows.dat {KM} --refine",
    "disassociation": "rows.dat --k 3 --m 2 --rare-names",
    "dp-blocks": "rows.dat --epsilon 1 -H tree.csv",
    "exact": f"rows.dat {KM}",
    "forest": f"table.csv {TABLE} --share 1/2",
    "hghs": f"rows.dat {KM}",
    "lg": "rows.dat --k 3 -H tree.csv",
    "lra": f"rows.dat {KM}",
    "mhghs": f"rows.dat {KM}",
    "mm": f"rows.dat {MOLES}",
    "oa": "few.dat --k 3 --m 2 -H few-tree.csv",
    "partial": f"rows.dat {RHO} --model km-rho --k 1 --m 2",
    "pcta": "rows.dat --privacy all --k 3 --m 2 --utility siblings --max-suppressed-items 90% -H tree.csv",
    "rt": f"table.csv {TABLE} --share 1/2",
    "suppress-control": f"rows.dat {RHO}",
    "td-control": f"rows.dat {RHO}",
    "vpa": f"rows.dat {KM}",
}
FRESH = {"dp-blocks"}  # its noise differs every time: it has to run along with the others, no more
ITEMS = range(1, 41)


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make rows, a tree of eight groups of five, and a table."""
    folder = tmp_path_factory.mktemp("pairs")
    rng = Random(5)
    rows = [sorted({min(ITEMS[-1], 1 + int(rng.expovariate(0.12))) for _ in range(rng.randint(1, 7))})
            for _ in range(160)]  # fmt: skip
    write(folder / "rows.dat", "".join(" ".join(map(str, row)) + "\n" for row in rows))
    write(folder / "few.dat", "".join(" ".join(str(item) for item in row if item < 9) + "\n" for row in rows))
    write(folder / "tree.csv", "".join(f"{item};g{(item - 1) // 5};*\n" for item in ITEMS))
    write(folder / "few-tree.csv", "".join(f"{item};g{(item - 1) // 3};*\n" for item in range(1, 9)))
    lines = [f"{rng.randint(20, 80)},{rng.randint(1, 5)},{';'.join(map(str, row[:4]))}" for row in rows[:60]]
    write(folder / "table.csv", "\n".join(["age,zip,codes", *lines]) + "\n")
    return folder


def anonymizing(name: str, out: str) -> list[object]:
    data, *options = COMMANDS[name].split()
    return ["anonymize", data, "--algorithm", name, *options, "--no-details", "--out", out]


def published(name: str, folder: Path) -> dict[str, bytes]:
    files = sorted((folder / "published").iterdir())
    return {path.name: b"" if name in FRESH else path.read_bytes() for path in files}


def in_one_process(names: Sequence[str], place: Path, out: str) -> dict[str, dict[str, bytes]]:
    done = together([anonymizing(name, f"{out}-{name}") for name in names], place)
    for name, one in zip(names, done, strict=True):
        assert one.code == 0, (name, one.err)
    return {name: published(name, place / f"{out}-{name}") for name in names}


@pytest.mark.exhaustive
@needs_compiled
def test_algorithms_do_not_change_each_other(place: Path) -> None:
    names = algorithms.names()
    assert sorted(COMMANDS) == sorted(names), "an algorithm has no run here"
    alone = {}
    for name in names:
        setveil(*anonymizing(name, f"alone-{name}"), cwd=place).ok()
        alone[name] = published(name, place / f"alone-{name}")
    orders = [[*names], [*names][::-1]]
    orders += [Random(i).sample([*names], len(names)) for i in range(examples(0, 0) and 20)]
    for i, order in enumerate(orders):
        assert in_one_process(order, place, f"order-{i}") == alone
