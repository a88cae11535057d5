"""From the names of files, or what is written instead of them, to hierarchies, items and queries."""

from __future__ import annotations

import csv
import logging
from collections.abc import Mapping
from pathlib import Path

from setveil.data.io import Layout, read
from setveil.data.io.source import as_text, read_bytes
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import is_integer
from setveil.errors import DataError, RequestError, listed, shorten
from setveil.hierarchy.tree import Hierarchy
from setveil.options.numbers import parse_integer
from setveil.policy.io import read_privacy, read_utility
from setveil.policy.utility import groups_of, siblings
from setveil.progress import Progress
from setveil.utility.queries import Queries, frequent_queries, random_queries, read_queries

log = logging.getLogger("setveil")


def load_items(path: Path, data: Transactions, encoding: str) -> tuple[str, ...]:
    """Read a list of items, written like the rows of the data or one per line."""
    like = data.origin.layout.format if data.origin else "basket"
    form = like if like in {"fimi", "basket"} else "basket"
    return read(path, format=form, encoding=encoding).vocabulary.labels


def load_labels(
    text: str | None, data: Transactions, encoding: str, *, check: bool = True
) -> tuple[str, ...]:
    """Read a list of items of the data: from a file, or as written with commas between them.

    Raises
    ------
    DataError
        If an item is not in the data (with `check`): a private item misspelt would be published as any other.
    """
    if text is None:
        return ()
    if Path(text).is_file():
        labels = load_items(Path(text), data, encoding)
    else:
        labels = tuple(dict.fromkeys(label for part in text.split(",") if (label := part.strip())))
    hint = "Is it a file that does not exist?" if "," not in text and not Path(text).is_file() else ""
    return require_known(labels, text, data, check=check, hint=hint)


def require_known(
    labels: tuple[str, ...], text: str, data: Transactions, *, check: bool = True, hint: str = ""
) -> tuple[str, ...]:
    """Refuse labels that are no items of the data (with `check`); `text` is where they were named."""
    unknown = [label for label in labels if label not in data.vocabulary.ids]
    if check and unknown:
        some = "1 item is" if len(unknown) == 1 else f"{len(unknown):,} items are"
        raise DataError(f"In {shorten(text)}, {some} not in the data: {listed(unknown)}.", hint=hint)
    return labels


def load_privacy(
    path: str, data: Transactions, image: Mapping[str, str | None] | None, encoding: str
) -> tuple[tuple[str, ...], ...]:
    """Read privacy constraints.

    Parameters
    ----------
    path : str
        The file.
    data : Transactions
        The rows they are for, or those that are published of them.
    image : mapping, optional
        Where `data` are published rows: what items became. Items that it does not know were suppressed.
    encoding : str
        Of the file.
    """
    layout = data.origin.layout if data.origin else None
    if image is None:
        return read_privacy(path, data.vocabulary.labels, layout, encoding=encoding)
    if all(map(is_integer, image)) and b"," not in read_bytes(path):
        layout = Layout("fimi")  # the published file is a basket file if it holds words
    return read_privacy(path, None, layout, encoding=encoding)


def load_utility(
    text: str | None, data: Transactions, tree: Hierarchy | None, encoding: str
) -> tuple[tuple[str, ...], ...] | None:
    """Make or read utility constraints: ``any``, ``siblings[:LEVEL]``, ``groups:SIZE``, or a file.

    None are given for None; for ``any`` there are no groups, so that all items form one.

    Raises
    ------
    RequestError
        If a hierarchy is needed and there is none, or a number is none.
    """
    if text is None:
        return None
    if text == "any":
        return ()
    kind, _, number = text.partition(":")
    if kind in {"siblings", "groups"} and not Path(text).is_file():
        if tree is None:
            raise RequestError(
                f"--utility {text} takes groups from a hierarchy.", hint="Add --hierarchy FILE."
            )
        if kind == "groups":
            return groups_of(tree, parse_integer("utility groups:SIZE", number))
        return siblings(tree, parse_integer("utility siblings:LEVEL", number) if number else None)
    layout = data.origin.layout if data.origin else None
    known = data.vocabulary.labels if tree is None else tree.labels[: tree.n_leaves]
    groups, note = read_utility(text, known, layout, encoding=encoding)
    if note:
        log.info(note)
    return groups


def load_weights(path: Path, encoding: str) -> dict[str, float]:
    """Read the importance of items: a csv with an item and a number in each line.

    Raises
    ------
    DataError
        If a line is something else, or an item stands in two.
    """
    text = as_text(read_bytes(path), str(path), encoding).content.decode()
    weights: dict[str, float] = {}
    for number, fields in enumerate(csv.reader(text.splitlines()), 1):
        if not fields:
            continue
        item = fields[0].strip()
        try:
            weight = float(fields[1]) if len(fields) == 2 else -1.0
        except ValueError:
            weight = -1.0
        if not (item and 0 <= weight < float("inf")):
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(fields))}, expected an item, a comma and a "
                "number of at least 0."
            )
        if item in weights:
            raise DataError(f"{path}, line {number}: {shorten(item)} has a weight already.")
        weights[item] = weight
    return weights


def load_queries(
    data: Transactions,
    path: Path | None,
    encoding: str,
    *,
    number: int | None,
    size: int,
    support: int | None,
    seed: int,
    progress: Progress,
) -> Queries:
    """Read or draw the queries that a release is to answer; none if none are wanted.

    Raises
    ------
    RequestError
        If queries are to be read and drawn at once, or there is nothing to draw.
    DataError
        If the file holds something else than queries.
    """
    if path is not None:
        if number is not None or support is not None:
            raise RequestError("Queries are either read (--queries-file) or drawn (--queries), not both.")
        return read_queries(path, data, encoding)
    if support is not None:
        return frequent_queries(data, size, support, number, seed, progress)
    return [] if number is None else random_queries(data, number, size, seed, progress=progress)
