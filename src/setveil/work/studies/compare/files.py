"""Read the data of a study: rows of items, or tables whose columns have roles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.roles import Roles

_HOW = ("encoding", "separator", "item_columns", "id_column", "item_column", "not_ids")  # of a table


def read_data(files: Sequence[str | Path], reading: Mapping[str, Any], roles: Path | None) -> Transactions:
    """Read the files of a data set, all with the same layout, or a table with roles of its columns."""
    if roles is None:
        from setveil.rows.data.io.rows import read

        return read(files[0] if len(files) == 1 else list(files), **reading)
    from setveil.rows.data.columns import split_names
    from setveil.rows.data.skipped import OF_LACKING
    from setveil.rows.data.skipped import SAID as OF_LINES
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.rows.tables.how import How
    from setveil.rows.tables.read import make_table
    from setveil.rows.tables.roles import read_roles, with_trees
    from setveil.runs.options.reading import Reading

    encoding = reading.get("encoding", "utf-8")
    found = with_trees(
        read_roles(roles, encoding), lambda tree: tree and read_hierarchy(tree, encoding=encoding)
    )
    options = {name: reading[name] for name in _HOW if name in reading}
    said = Reading(**{name: reading[name] for name in (*OF_LINES, *OF_LACKING) if name in reading})
    how = How(**options | {"not_ids": tuple(split_names(options.get("not_ids") or ""))})
    how = replace(how, lines=said.as_lines(), lacking=said.as_lacking())
    return make_table(str(files[0]), found, how)


def drawn_rows(data: Transactions, sample: float | str, seed: int) -> Transactions:
    """Draw rows by a seed: a share of them, halves up, or for any text as many, each from all of them."""
    from setveil.runs.options.inputs import draw_rows, draw_rows_again

    if isinstance(sample, str):
        return draw_rows_again(data, seed)
    return draw_rows(data, int(Fraction(str(sample)) * data.n_rows + Fraction(1, 2)), seed)


def hierarchies_of(roles: Roles) -> list[Path]:
    """List the files of hierarchies that roles name."""
    named = [roles.hierarchy, *(known.hierarchy for known in roles.qi.values())]
    return [Path(tree) for tree in named if isinstance(tree, str | Path)]
