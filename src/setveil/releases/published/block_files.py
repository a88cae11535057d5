"""Read and write noisy blocks: data.json, cells.csv, and synthetic.csv with rows drawn from the cells."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from setveil.base.values.numbers import as_json, fraction
from setveil.base.wording import count
from setveil.releases.published.group_files import MOST_ROWS, encoded
from setveil.releases.published.json_files import DATA_FILE, JsonReading, write_pieces
from setveil.rows.data.exposed import Exposed, Refusal
from setveil.rows.data.io.rows import read
from setveil.rows.data.io.write import write_blocks as written_pieces
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order

if TYPE_CHECKING:
    import polars as pl

CELLS_FILE, ROWS_FILE = "cells.csv", "synthetic.csv"
MODEL = "noisy-blocks"

_FORM = "docs/groups.md describes the file of noisy blocks."
_MOST_ITEMS = 10  # of a block

Spent = tuple[
    str, Fraction, int, float
]  # what for; epsilon; by how much one row changes it; scale of the noise


@dataclass(frozen=True, eq=False)
class PublishedBlocks(Exposed):
    """Counts with noise, and rows drawn from them: no figure is true."""

    epsilon: Fraction  # the budget
    # of each noisy line: what it reveals, cost, how much one row can change it, scale of noise
    spent: tuple[Spent, ...]
    noisy_rows: int  # with noise: perhaps below 0
    blocks: tuple[tuple[str, ...], ...]  # the items of each
    cells: tuple[int, ...]  # noisy rows by block; bit i of a cell's number: its rows have item i of the block
    rows: Transactions  # drawn from the cells, blocks independently of each other

    origin: ClassVar[None] = None
    kind: ClassVar[str] = "blocks"
    nobodys: ClassVar[bool] = True
    unfindable: ClassVar[Refusal] = Refusal(
        "No row of noisy counts is a person's, so that no person can be found in them.",
        "Epsilon bounds what they reveal about a person.",
    )

    @property
    def named_rows(self) -> Transactions:
        """The rows whose items a guarantee can name."""
        return self.rows

    @property
    def n_rows(self) -> int:
        """Number of rows that were drawn."""
        return self.rows.n_rows

    @property
    def items(self) -> tuple[str, ...]:
        """The items that are published."""
        return tuple(item for block in self.blocks for item in block)

    def cells_of(self) -> Iterator[tuple[tuple[str, ...], tuple[int, ...]]]:
        """Go through the blocks with their cells."""
        ends = [0, *accumulate(1 << len(block) for block in self.blocks)]
        for block, (a, b) in zip(self.blocks, pairwise(ends), strict=True):
            yield block, self.cells[a:b]

    def shows(self, other: object) -> bool:
        """Return whether another release is the same, to the order of its rows."""
        if not isinstance(other, PublishedBlocks):
            return False
        mine, theirs = (
            (one.epsilon, one.spent, one.noisy_rows, one.blocks, one.cells, list(one.rows.rows()))
            for one in (self, other)
        )
        return mine == theirs

    def to_polars(self, *, long: bool = False) -> pl.DataFrame:
        """Make a polars data frame of the cells; `long`: of their items, without empty cells."""
        import polars as pl

        lines = [
            (b, inside, number)
            for b, (block, counts) in enumerate(self.cells_of())
            for inside, number in zip(_inside(block), counts, strict=True)
        ]
        frame = pl.DataFrame(
            {
                "block": pl.Series([line[0] for line in lines], dtype=pl.Int64),
                "items": pl.Series([list(line[1]) for line in lines], dtype=pl.List(pl.String)),
                "count": pl.Series([line[2] for line in lines], dtype=pl.Int64),
            }
        )
        return frame.explode("items").drop_nulls("items").rename({"items": "item"}) if long else frame

    def __repr__(self) -> str:
        return (
            f"PublishedBlocks: {count(len(self.items), 'item')} in {count(len(self.blocks), 'block')}, "
            f"about {count(self.noisy_rows, 'row')}"
        )


def _inside(block: Sequence[str]) -> list[tuple[str, ...]]:
    """List the items of each cell."""
    return [tuple(x for i, x in enumerate(block) if c >> i & 1) for c in range(1 << len(block))]


# --- writing


def write_blocks(folder: str | Path, blocks: PublishedBlocks) -> None:
    """Write data.json, cells.csv and synthetic.csv into a folder, which must exist."""
    write_pieces(folder, block_lines(blocks))


def block_lines(blocks: PublishedBlocks) -> dict[str, Iterable[bytes]]:
    """Return the bytes of the three files, in pieces."""
    content = {
        "model": MODEL,
        "epsilon": as_json(blocks.epsilon),
        "spent": [
            {"for": what, "epsilon": as_json(epsilon), "one_row_changes": distance, "scale": scale}
            for what, epsilon, distance, scale in blocks.spent
        ],
        "rows": blocks.noisy_rows,
        "blocks": [{"items": block, "cells": counts} for block, counts in blocks.cells_of()],
    }
    text = json.dumps(content, ensure_ascii=False, indent=1) + "\n"
    cells = (line.encode() for line in ("block,items,count\n", *_cell_lines(blocks)))
    rows = written_pieces(blocks.rows, Layout("basket"))
    return {DATA_FILE: [text.encode()], CELLS_FILE: cells, ROWS_FILE: rows}


def _cell_lines(blocks: PublishedBlocks) -> Iterator[str]:
    """Write a line for each cell; its items are a row of a csv file themselves, in one field."""
    vocabulary = Vocabulary(item_order(set(blocks.items)))
    written = (one.decode() for one in encoded(vocabulary))
    fields = dict(zip(vocabulary.labels, written, strict=True))
    for b, (block, counts) in enumerate(blocks.cells_of()):
        for inside, number in zip(_inside(block), counts, strict=True):
            row = ",".join(fields[x] for x in inside)
            quoted = '"' + row.replace('"', '""') + '"' if "," in row or '"' in row else row
            yield f"{b},{quoted},{number}\n"


# --- reading


def read_blocks(file: str | Path) -> PublishedBlocks:
    """Read the data.json of noisy blocks, and the synthetic.csv next to it; the verifier checks sums."""
    reading = _BlocksReading(str(file), _FORM)
    beside = Path(file).parent / ROWS_FILE
    if not beside.is_file():
        raise reading.broken("in its folder", f"there is no {ROWS_FILE}.")
    return reading.release(_drawn(beside))


def _drawn(file: Path) -> Transactions:
    """Read the rows that were drawn: as many as noise says, which may be none, or empty each."""
    content = file.read_bytes()
    if content.strip(b"\r\n"):
        return read(file, format="basket", separator=",", published=True)
    return Transactions.from_rows([[]] * content.count(b"\n"))


class _BlocksReading(JsonReading):
    """Takes a data.json apart."""

    def positive(self, where: str, value: object, key: str) -> Fraction:
        found = fraction(self.entry(where, value, key))
        if found is None or found <= 0:
            raise self.wrong(f"{where}, {key}", value, "a number above 0")
        return found

    def line(self, where: str, value: object) -> Spent:
        what = self.entry(where, value, "for")
        if not isinstance(what, str):
            raise self.wrong(f"{where}, for", what, "a text")
        distance = self.number(f"{where}, one_row_changes", self.entry(where, value, "one_row_changes"))
        epsilon, scale = self.positive(where, value, "epsilon"), self.positive(where, value, "scale")
        return what, epsilon, distance, float(scale)

    def block(self, where: str, value: object) -> tuple[tuple[str, ...], list[int]]:
        items = self.labels(f"{where}, items", self.entry(where, value, "items"))
        if not 0 < len(items) <= _MOST_ITEMS:
            raise self.wrong(f"{where}, items", items, f"1 to {_MOST_ITEMS} items")
        counts = self.all_of(f"{where}, cells", self.entry(where, value, "cells"))
        if len(counts) != 1 << len(items):
            raise self.wrong(f"{where}, cells", counts, f"{1 << len(items)} numbers")
        return tuple(items), [self.number(f"{where}, cells", n, -MOST_ROWS) for n in counts]

    def release(self, rows: Transactions) -> PublishedBlocks:
        """Put the release together."""
        content = self.content()
        self.model(content, MODEL)
        top = "at the top"
        epsilon = self.positive(top, content, "epsilon")
        lines = self.all_of("spent", self.entry(top, content, "spent"))
        spent = tuple(self.line(f"spent, entry {j}", line) for j, line in enumerate(lines))
        blocks = self.all_of("blocks", self.entry(top, content, "blocks"))
        found = [self.block(f"block {b}", one) for b, one in enumerate(blocks)]
        noisy = self.number("rows", self.entry(top, content, "rows"), -MOST_ROWS)
        cells = tuple(n for _, counts in found for n in counts)
        return PublishedBlocks(epsilon, spent, noisy, tuple(items for items, _ in found), cells, rows)
