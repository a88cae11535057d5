"""Noisy blocks: counts with noise, and rows drawn from them that are nobody's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import RequestError
from setveil.base.values.numbers import as_json
from setveil.kernels.rows import frozen
from setveil.releases.published import KindInfo, Made, MadeRelease
from setveil.releases.published.about import about_file, require_size
from setveil.releases.published.as_written import require_written
from setveil.releases.published.block_files import (
    CELLS_FILE,
    MODEL,
    ROWS_FILE,
    PublishedBlocks,
    Spent,
    block_lines,
    read_blocks,
    write_blocks,
)
from setveil.releases.published.json_files import DATA_FILE, data_file, holds_model
from setveil.rows.data.exposed import Refusal
from setveil.rows.data.layout import Layout
from setveil.rows.data.sums import Original, is_in_memory
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary, item_order

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NoisyBlocks(Made):
    """Counts with noise, as `PublishedBlocks` names them."""

    release: ClassVar[str] = "blocks"

    epsilon: Fraction
    spent: tuple[Spent, ...]
    noisy_rows: int
    blocks: tuple[tuple[str, ...], ...]
    cells: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Synthetic:
    """That rows were drawn from noisy counts, so that none is anyone's."""

    items: Vocabulary  # of the data

    kind: ClassVar[str] = "noisy"


def _shared_sums(
    blocks: PublishedBlocks, _counts: Any, about: Mapping[str, Any], _layout: Layout | None
) -> Any:
    """Take noisy counts: items under their own names."""
    from setveil.releases.published.shared import sums_by_name

    return sums_by_name(blocks, about)


info = KindInfo(
    title="counts with noise",
    recodings=(Synthetic.kind,),
    shown=PublishedBlocks,
    means="cells_file",
    asks=("queries", "queries_file", "query_size", "query_support", "top"),
    format="blocks",
    written="noisy counts are always published as data.json and two csv files",
    mapped_to="synthetic_row",
    compared_outside=False,
    fixed_items=True,
    unsplit="items are published as themselves, by counts with noise",
    short="blocks",
    shared_sums=_shared_sums,
    drawn=Refusal(
        "Rows drawn from noisy counts are published already.",
        "They are in synthetic.csv. Another seed of the run draws others from other noise.",
    ).raised,
)


@dataclass(frozen=True, eq=False)
class BlocksRelease(MadeRelease):
    """Noisy blocks (see `setveil.releases.published.Release`)."""

    shown: PublishedBlocks
    recoding: Synthetic
    n_rows: int  # of the data
    details: dict[str, Any] = field(default_factory=dict)

    info: ClassVar[KindInfo] = info

    @property
    def published(self) -> Transactions:
        """The rows that were drawn."""
        return self.shown.rows

    @property
    def row_map(self) -> Ints:
        """No row that was drawn is that of an input row: -1 for each."""
        return np.full(self.n_rows, -1)

    def exposed(self) -> PublishedBlocks:
        """Return the blocks."""
        return self.shown

    def measurable(self) -> dict[str, Any]:
        """Return the rows that were drawn, and the blocks."""
        return {"kind": self.recoding.kind, "published": self.published, "blocks": self.shown}

    def image(self) -> Mapping[str, str | None]:
        """Return the items that are published; None for the others."""
        items = set(self.shown.items)
        return {item: item if item in items else None for item in self.recoding.items.labels}

    def about(self, report: Mapping[str, Any]) -> dict[str, Any]:
        """Return the names of the files next to data.json."""
        return {info.means: CELLS_FILE, "rows_file": ROWS_FILE}

    def recorded(self, data: Original) -> dict[str, Any]:
        """Return what noisy counts contain, what they cost, and how far they are off, which is internal."""
        shown = self.shown
        supports = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
        record = {
            "rows": shown.noisy_rows,
            "items": len(shown.items),
            "blocks": len(shown.blocks),
            "largest": max(map(len, shown.blocks), default=0),
            "cells": len(shown.cells),
            "spent": [
                {"line": what, "epsilon": as_json(epsilon), "one_row_changes": distance, "scale": scale}
                for what, epsilon, distance, scale in shown.spent
            ],
            "rows_off": shown.noisy_rows - data.n_rows,
            "cells_off": _cells_off(data, shown),
            "told_occurrences": sum(supports.get(x, 0) for x in shown.items),
        }
        return {"blocks": record}

    def layout(self, own: Layout, wanted: str | None) -> Layout:
        """Refuse a format: there is only one."""
        if wanted is not None:
            raise RequestError(
                f"Noisy counts are published as data.json and two csv files, not as {wanted}.",
                hint="Omit the format.",
            )
        return own

    def write(self, folder: Path, layout: Layout) -> tuple[str, dict[str, Any]]:
        """Write the three files, whatever the layout."""
        write_blocks(folder, self.shown)
        return DATA_FILE, {"format": info.format}


def _cells_off(data: Original, shown: PublishedBlocks) -> float:
    """Average by how many rows noise moved the cells."""
    ids = data.vocabulary.ids
    if not is_in_memory(data) or not shown.cells:
        return 0.0
    column = np.full(data.n_items, -1)
    bit = np.zeros(data.n_items, np.int64)
    for b, block in enumerate(shown.blocks):
        for i, x in enumerate(block):
            if x in ids:
                column[ids[x]], bit[ids[x]] = b, 1 << i
    row = np.repeat(np.arange(data.n_rows), data.row_lengths())
    published_cells = column[data.items] >= 0
    off = 0
    for b, (_, cells) in enumerate(shown.cells_of()):
        inside = published_cells & (column[data.items] == b)
        code = np.bincount(row[inside], bit[data.items[inside]], minlength=data.n_rows).astype(np.int64)
        true = np.bincount(code, minlength=len(cells))
        off += int(np.abs(true - np.array(cells)).sum())
    return off / len(shown.cells)


def publish(
    data: Transactions, made: NoisyBlocks, seed: int, details: dict[str, Any] | None = None
) -> BlocksRelease:
    """Draw rows from the cells by a seed: from noisy counts alone, so the rows reveal nothing more."""
    shown = PublishedBlocks(
        made.epsilon, made.spent, made.noisy_rows, made.blocks, made.cells, drawn_rows(made, seed)
    )
    return BlocksRelease(shown, Synthetic(data.vocabulary), data.n_rows, details or {})


def drawn_rows(made: NoisyBlocks, seed: int) -> Transactions:
    """Deal the cells of each block out to rows, blocks independently of each other."""
    number = max(made.noisy_rows, 0)
    random = np.random.PCG64(seed)
    labels = item_order(x for block in made.blocks for x in block)
    ids = {x: i for i, x in enumerate(labels)}
    rows: list[Ints] = []
    items: list[Ints] = []
    first = 0
    for block in made.blocks:
        counts = dealt(made.cells[first : first + (1 << len(block))], number)
        first += 1 << len(block)
        code = np.repeat(np.arange(len(counts)), counts)
        # Shuffled by random keys: numpy promises the same raw stream for ever, but not the permutations.
        code = code[np.argsort(random.random_raw(number), kind="stable")]
        for i, x in enumerate(block):
            held = np.flatnonzero(code >> i & 1)
            rows.append(held)
            items.append(np.full(held.size, ids[x]))
    row = np.concatenate([np.zeros(0, np.int64), *rows])
    item = np.concatenate([np.zeros(0, np.int64), *items])
    order = np.lexsort((item, row))
    indptr = np.append(0, np.cumsum(np.bincount(row, minlength=number)[:number]))
    used = np.bincount(item, minlength=len(labels)) > 0  # only labels that occur
    image = np.cumsum(used) - 1
    shown = Vocabulary(x for x, u in zip(labels, used.tolist(), strict=True) if u)
    return Transactions(frozen(indptr, np.int64), frozen(image[item[order]], np.int32), shown)


def dealt(cells: Sequence[int], number: int) -> list[int]:
    """Make counts of cells out of noisy ones: none below 0, this many in all, by largest remainders.

    >>> dealt([5, -2, 3, 0], 4), dealt([0, -1], 3)
    ([3, 0, 1, 0], [2, 1])
    """
    counts = [max(one, 0) for one in cells]
    if not any(counts):
        counts = [1] * len(counts)
    whole = sum(counts)
    out = [one * number // whole for one in counts]
    by_rest = sorted(range(len(counts)), key=lambda c: (-(counts[c] * number % whole), c))
    for c in by_rest[: number - sum(out)]:
        out[c] += 1
    return out


def holds(path: Path) -> bool:
    """Return whether a file says that it holds noisy blocks, or a folder such a data.json."""
    return holds_model(path, info.format, MODEL)


def read(path: str, read_rows: Callable[..., Transactions], **reading: Any) -> PublishedBlocks:
    """Read noisy blocks from a run's folder, its `published`, or a data.json."""
    file = data_file(path, info, "dp-blocks")
    blocks = read_blocks(file)
    about = about_file(file)
    if about:
        require_written(file.parent, block_lines(blocks))
        rows = blocks.rows
        require_size(about, ROWS_FILE, rows.n_rows, rows.n_rows - rows.filled_rows)
    return blocks


def measurable(path: str, exposed: PublishedBlocks, _original: Transactions, _tree: object) -> dict[str, Any]:
    """Return the rows that were drawn, and the blocks."""
    return {"kind": Synthetic.kind, "published": exposed.rows, "blocks": exposed}
