"""Read what was published."""

from __future__ import annotations

from os import PathLike
from typing import TypeAlias

from setveil.commands.arguments import path_of, published_rows
from setveil.releases.published import kind_at
from setveil.releases.published.block_files import PublishedBlocks
from setveil.releases.published.chunk_files import PublishedChunks
from setveil.releases.published.group_files import PublishedGroups
from setveil.releases.published.table_files import PublishedTable
from setveil.rows.data.transactions import Transactions

Published: TypeAlias = Transactions | PublishedTable | PublishedGroups | PublishedChunks | PublishedBlocks


def read_published(folder: str | PathLike[str]) -> Published:
    """Read a release of any kind: its about.json says all that must be known.

    Parameters
    ----------
    folder : path
        The folder of a run, its folder ``published``, or the file in it.

    Returns
    -------
    Transactions, PublishedTable, PublishedGroups, PublishedChunks or PublishedBlocks
        All that is published of the rows, of a table, of rows in groups or chunks, or noisy counts. Each has
        `to_polars`, `to_pandas` and `to_arrow`; `setveil.verify` takes it, and `setveil.risk` all but the
        last two.

    Raises
    ------
    DataError
        If there is no release, or its files contradict each other.

    Examples
    --------
    >>> import setveil as sv
    >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["tea"]], k=2, m=2)
    >>> _ = release.write("release")
    >>> sv.read_published("release").to_polars()["items"].to_list()
    [['tea'], ['tea'], ['tea']]
    """
    path = str(path_of("A release", folder))
    found: Published = kind_at(path).read(path, published_rows)
    return found
