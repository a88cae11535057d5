"""Noisy blocks: counts of items in small blocks, with the noise of differential privacy."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.base.values.declared import Declared, parameter
from setveil.base.values.kinds import Integer, LinesFile
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms._papers import PVLDB_2012_PRIVBASIS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from setveil.judges.guarantees.differential_privacy import DifferentialPrivacy
    from setveil.methods.algorithms.noisy._opendp import Noise
    from setveil.releases.published.blocks import NoisyBlocks
    from setveil.rows.data.transactions import Transactions
    from setveil.rows.hierarchy.tree import Hierarchy

info = AlgorithmInfo(
    title="Noisy blocks",
    guarantees=("differential-privacy",),
    needs=(),
    takes=("hierarchy",),
    summary="Publishes counts of the most frequent items, in small blocks, with noise: a yardstick for the "
    "other guarantees.",
    reference="After Li, Qardaji, Su, Cao: PrivBasis, PVLDB 5(11), 2012, "
    "doi:10.14778/2350229.2350251, simplified",
    bibtex=PVLDB_2012_PRIVBASIS,
    minimizes="item_error",
    recoding="noisy",
    draws=True,
)

_ITEMS = 48
_MOST = 1_000_000  # cells, and pairs that are looked at
# Shares of epsilon; what pairs do not need is added to that of the cells.
_ROWS_SHARE, _ITEMS_SHARE, _PAIRS_SHARE = Fraction(1, 20), Fraction(1, 4), Fraction(1, 5)


@dataclass(frozen=True)
class DPBlocks(Declared):
    """Noisy blocks and their parameters.

    Attributes
    ----------
    universe : list of str, or None
        All items that there can be, fixed without looking at the data. None: the leaves of the hierarchy.
    told_items : int or None
        Of how many items counts are published; by default 48, or all where there are fewer.
    told_pairs : int or None
        How many pairs of these decide which items are in one block; by default as many as items.
    block_size : int
        Most items of a block, 10 at most.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 40 * [["tea", "milk"], ["tea"], ["milk"]]
    >>> noisy = sv.DPBlocks(universe=["tea", "milk", "rum"])
    >>> release = sv.anonymize(rows, sv.DifferentialPrivacy(epsilon=10), algorithm=noisy)
    >>> [sorted(one) for one in release.release.exposed().blocks]
    [['milk', 'rum', 'tea']]
    """

    universe: Sequence[str] | None = parameter(
        LinesFile(),
        "File of all possible items, one per line, made without looking at the data.",
        default=None,
    )
    told_items: int | None = parameter(Integer(1), "Items to publish counts of (default 48).", default=None)
    told_pairs: int | None = parameter(
        Integer(0), "Pairs that decide which items go together (default: as many as items).", default=None
    )
    block_size: int = parameter(Integer(1), "Most items of a block, at most 10 (default 4).", default=4)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.universe is not None:
            object.__setattr__(self, "universe", tuple(self.universe))
        if self.block_size > 10:
            raise RequestError(f"block_size must be at most 10, got {self.block_size:,}.")


Parameters = DPBlocks


def anonymize(
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: DifferentialPrivacy,
    parameters: DPBlocks = DPBlocks(),
    progress: Progress = silent,
) -> tuple[NoisyBlocks, dict[str, Any]]:
    """Count cells of blocks of frequent items, with noise.

    Details: `universe`, how many items there can be, and `from`, where they are from.

    Differences from [1]: blocks are disjoint, of the items and pairs of greatest noisy support, in place of
    bases that cover maximal sets; the number of items is given, not found.

    References
    ----------
    [1] Li, Qardaji, Su, Cao, "PrivBasis: frequent itemset mining with differential privacy", PVLDB 5(11),
    2012, doi:10.14778/2350229.2350251
    """
    from setveil.methods.algorithms.noisy._opendp import OpenDP

    universe = _universe(data, hierarchy, parameters)
    made = noisy_blocks(data, universe, guarantee.epsilon, parameters, OpenDP(), progress)
    source = "hierarchy" if parameters.universe is None else "file"
    return made, {"universe": {"items": len(universe), "from": source}}


def _universe(data: Transactions, hierarchy: Hierarchy | None, parameters: DPBlocks) -> tuple[str, ...]:
    """List the items that there can be, in item order, and refuse data with others."""
    from setveil.rows.data.vocabulary import item_order

    if parameters.universe is not None:
        universe = tuple(item_order(set(parameters.universe)))
    elif hierarchy is None or (hierarchy.origin is not None and hierarchy.origin.source == "co-occurrence"):
        raise RequestError(
            "Differential privacy needs a list of all items that there can be, fixed without looking at the "
            "data: else the list of items would be published unprotected"
            + ("." if hierarchy is None else ", and this hierarchy was made from the data."),
            hint="Name a --hierarchy, whose leaves are taken, or --universe FILE with one item per line.",
        )
    else:
        universe = hierarchy.labels[: hierarchy.n_leaves]
    known = set(universe)
    occurring = data.supports().tolist()
    unknown = [x for x, n in zip(data.vocabulary.labels, occurring, strict=True) if n and x not in known]
    if unknown:
        some = "1 item is" if len(unknown) == 1 else f"{len(unknown):,} items are"
        raise DataError(
            f"In the data {some} not in the list of all items: {listed(unknown)}. To omit such items "
            "unasked would tell of the data.",
            hint="List every item that there can be, or take these out of the data.",
        )
    return universe


def noisy_blocks(
    data: Transactions,
    universe: Sequence[str],
    epsilon: Fraction,
    parameters: DPBlocks,
    noise: Noise,
    progress: Progress = silent,
) -> NoisyBlocks:
    """Choose items, pairs and blocks, and count the cells: each line with noise of a separate budget."""
    from setveil.methods.algorithms.noisy import _counting as counting
    from setveil.releases.published.blocks import NoisyBlocks

    number = min(_ITEMS, len(universe)) if parameters.told_items is None else parameters.told_items
    if number > len(universe):
        raise RequestError(
            f"told_items is {number:,}, and there can be only {len(universe):,} items.",
            hint="Give fewer, or omit it.",
        )
    most_pairs = number * (number - 1) // 2
    pairs_wanted = min(number if parameters.told_pairs is None else parameters.told_pairs, most_pairs)
    if parameters.block_size == 1:
        pairs_wanted = 0
    size = parameters.block_size
    if max(most_pairs if pairs_wanted else 0, (number << size) // size) > _MOST:
        raise RequestError(
            f"{number:,} items in blocks of {size} make more than {_MOST:,} cells or pairs.",
            hint="Take fewer items, or smaller blocks.",
        )

    progress("counting with noise")
    (rows,), on_rows = noise.laplace([data.n_rows], 1, epsilon * _ROWS_SHARE)
    best, on_items = noise.greatest(counting.item_supports(data, universe), number, epsilon * _ITEMS_SHARE)
    items = [universe[i] for i in best]
    held = counting.held(data, items)
    spent = [("rows", on_rows), ("items", on_items)]
    chosen: list[tuple[int, int]] = []
    if pairs_wanted:
        pairs, supports = counting.pair_supports(held)
        places, on_pairs = noise.greatest(supports, pairs_wanted, epsilon * _PAIRS_SHARE)
        chosen = [pairs[i] for i in places]
        spent.append(("pairs", on_pairs))
    blocks = blocks_of(number, chosen, size)
    left = epsilon - sum((one.epsilon for _, one in spent), Fraction(0))
    counts, on_cells = noise.laplace(counting.cells(held, blocks), len(blocks), left)
    spent.append(("cells", on_cells))
    return NoisyBlocks(
        epsilon,
        tuple((what, one.epsilon, one.distance, one.scale) for what, one in spent),
        rows,
        tuple(tuple(items[i] for i in block) for block in blocks),
        tuple(counts),
    )


def blocks_of(number: int, pairs: Sequence[tuple[int, int]], size: int) -> list[list[int]]:
    """Join items that are in a pair, best pair first, then the others in their order, up to a size."""
    block = {i: [i] for i in range(number)}
    for i, j in pairs:
        if block[i] is not block[j] and len(block[i]) + len(block[j]) <= size:
            joined = sorted(block[i] + block[j])
            block |= dict.fromkeys(joined, joined)
    alone = [i for i in range(number) if len(block[i]) == 1]
    for first in range(0, len(alone), size):
        joined = alone[first : first + size]
        block |= dict.fromkeys(joined, joined)
    return [members for i, members in block.items() if members[0] == i]
