"""Ask a release how many rows hold some items."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from setveil.base.errors import RequestError, as_option, described, faces
from setveil.commands.arguments import (
    Listener,
    heard,
    integer,
    integer_or_none,
    is_path,
    listed_labels,
    needs_its_files,
    published_rows,
    release_of,
)
from setveil.judges.utility.estimates import Estimator, ItemsetEstimate
from setveil.judges.utility.estimators import estimator_for
from setveil.judges.utility.estimators.blocks import BlockEstimator
from setveil.judges.utility.greatest import greatest_itemsets
from setveil.releases.published.blocks import BlocksRelease
from setveil.releases.published.chunks import ChunksRelease
from setveil.releases.published.rows import RowsRelease
from setveil.releases.published.shared import (
    SharedSums,
    read_sums,
    shared_by,
)
from setveil.releases.published.table_release import TableRelease
from setveil.rows.data.layout import Layout
from setveil.runs.options.itemsets import parse_itemsets, require_named
from setveil.runs.run import VerifiedRelease

Answering: TypeAlias = RowsRelease | TableRelease | ChunksRelease | BlocksRelease


def query(
    release: str | PathLike[str] | VerifiedRelease | Answering,
    queries: Iterable[str | Iterable[str]] = (),
    *,
    itemsets: int | None = None,
    itemset_length: int | None = None,
    unlisted: int = 0,
    class_: int | None = None,
    progress: Listener = None,
) -> list[ItemsetEstimate]:
    """Ask a release how many rows hold some items.

    From what is published alone: the rows, what their labels represent, and the counts next to them. With
    counts the answers about single items that they list are exact.

    Parameters
    ----------
    release : path, VerifiedRelease, or release of rows, of a table, of rows in chunks, or of noisy counts
        The folder of a run, all that was shared of one, or what `setveil.anonymize` returned. Of a table its
        items are asked for, in all its rows.
    queries : list of lists of str
        Items that rows must hold together. A text in place of a list is read as a row of the release's file
        would be: "tea, milk"; "tea and milk" works as well. A label that represents several items may be
        named, and a group of codes: E11 asks for rows with one of the listed codes E11.0 to E11.9.
    itemsets : int, optional
        In place of queries: find this many itemsets of two items or more with the greatest estimates.
    itemset_length : int, optional
        Of at most this many items.
    unlisted : int
        Rows that an item without a count is thought to have at least (0). With 1 estimates are better where
        all items of the hierarchy occur.
    class_ : int, optional
        Of rows in classes, count those of one class alone; then labels may be named as well.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    list of ItemsetEstimate
        Each with its `itemset`, the `estimate`, and bounds, `least` and `greatest`, outside of which no
        original of this release lies.

    Raises
    ------
    RequestError
        If there is nothing to ask for, or an argument is of a wrong type.
    DataError
        If the release cannot be read, is one of rows in groups, or does not name an item.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea", "milk"], ["tea"], ["coffee", "milk"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks, algorithm="aa")
    >>> for answer in sv.query(release, [["tea"], ["tea", "milk"]]):
    ...     print(answer)
    tea: exactly 3
    tea, milk: about 2.25, at least 2, at most 3
    """
    unlisted = integer("unlisted", unlisted, 0)
    number = integer_or_none("itemsets", itemsets, 1)
    longest = integer_or_none("itemset_length", itemset_length, 2)
    listening = heard(progress)
    if isinstance(queries, str | bytes | Mapping) or not isinstance(queries, Iterable):
        raise RequestError(
            f"queries must be a list of lists of items, got {described(queries)}.",
            hint='Such as [["tea", "milk"], ["tea"]].',
        )
    query_list = list(queries)
    require_queries(query_list, number, itemset_length=longest)
    shared = shared_of(release)
    estimator = estimator_for(shared, unlisted=unlisted, class_=integer_or_none("class_", class_, 0))
    if number is not None:
        require_searchable(estimator)
        return greatest_itemsets(estimator, number, longest, listening)
    named = _named(query_list, estimator, shared.layout)
    return estimator.answer_named(named)


def require_queries(queries: object, itemsets: int | None, **beside: int | None) -> None:
    """Refuse to ask for nothing, for two things at once, or for what goes with itemsets only."""
    if not queries and itemsets is None:
        raise RequestError(
            f"Nothing is asked: neither {faces('items', 'queries')} nor {as_option('itemsets')}.",
            hint=faces('Such as: setveil query RELEASE "tea, milk"', 'Such as queries=[["tea", "milk"]].'),
        )
    if queries and itemsets is not None:
        raise RequestError(f"Items are asked for by name or found by {as_option('itemsets')}, not both.")
    options = [as_option(name) for name, value in beside.items() if value is not None]
    if options and itemsets is None:
        raise RequestError(f"{', '.join(options)}: only with {as_option('itemsets')}.")


def require_searchable(estimator: Estimator) -> None:
    """Refuse to search where estimates may grow with their itemset, as noise makes them do."""
    if isinstance(estimator, BlockEstimator):
        raise RequestError(
            "Itemsets cannot be searched in noisy counts: noise may make an itemset more frequent than a "
            "part of it.",
            hint="Search for them in synthetic.csv, the rows drawn from the counts.",
        )


def shared_of(release: object) -> SharedSums:
    """Take what is shared of a release from the release itself or its files."""
    if is_path(release):
        return read_sums(Path(release), published_rows)
    made = release_of(release)
    if made is None:
        raise needs_its_files(release)
    layout = release.layout if isinstance(release, VerifiedRelease) else Layout("basket")
    sums: SharedSums = shared_by(made, {}, made.layout(layout, None))
    return sums


def _named(
    queries: Sequence[str | Iterable[str]], estimator: Estimator, layout: Layout
) -> list[tuple[str, ...]]:
    named: list[tuple[str, ...]] = []
    for entry in queries:
        if isinstance(entry, str):
            named += parse_itemsets([entry], estimator, layout)
            continue
        itemset = listed_labels("A query", entry)
        require_named([itemset], estimator)
        named.append(itemset)
    return named
