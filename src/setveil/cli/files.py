"""From the arguments of a command to data, hierarchies and meanings."""

from __future__ import annotations

import csv
import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from setveil.cli.options import parse_integer
from setveil.cli.session import say
from setveil.compare.folder import published_file, published_layout, read_meaning, recoding_of
from setveil.data.io import Layout, read, save, sniff_content, writable_layout
from setveil.data.io.grouped import DATA_FILE, GROUPS_FILE, PublishedGroups, read_grouped
from setveil.data.io.layout import FORMATS_OF_EXTENSION
from setveil.data.io.source import as_text, read_bytes
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import is_integer
from setveil.errors import DataError, OutputError, RequestError, listed, shorten
from setveil.hierarchy.io import read_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.policy.io import read_privacy, read_utility
from setveil.policy.utility import groups_of, siblings
from setveil.progress import Progress
from setveil.recoding import AnyRecoding
from setveil.utility.queries import Queries, frequent_queries, random_queries, read_queries


def read_rows(path: str, **options: Any) -> Transactions:
    """Read a file of rows and say what was guessed about it, where a wrong guess would go unnoticed."""
    data = read(path, **options)
    layout = data.origin.layout if data.origin else Layout("basket")
    name = "standard input" if path == "-" else path
    guessed = not options.get("format") and not (options.get("id_column") and options.get("item_column"))
    if guessed and layout.format == "long":
        say(
            f"Reading {name} as a long table: rows by {layout.id_column!r}, items from "
            f"{layout.item_column!r} (--format basket if each line is a row)."
        )
    if guessed and layout.format == "basket" and data.n_rows > 1 and (data.row_lengths() == 2).all():
        say(
            f"Reading {name} as baskets, each line a row. Every line has two fields: if these are a row's id "
            "and an item, the ids would be published as items; use --format long."
        )
    return data


def split_format(path: str, format: str | None) -> tuple[str | None, str | None]:  # noqa: A002
    """Tell whether --format means the input or the published file.

    It overrides how the input is read, wherever the input can be that: standard input, an unknown
    extension, an extension of that format, a content of that format. Where the input is plainly something
    else, it is what the published file should be.

    Returns
    -------
    reads, publishes : str or None
        Format to read and format to publish; None: as told by the file, as the input.
    """
    usual = FORMATS_OF_EXTENSION.get(Path(path).suffix.lower())
    if format is None or path == "-" or usual is None or format in usual:
        return format, None
    try:
        with Path(path).open("rb") as file:
            content = file.read(1 << 18)
    except OSError:  # the reader says it better
        return format, None
    if sniff_content(content) == format:
        return format, None
    say(f"{path} is not {format}: it is read as what it is, and published as {format}.")
    return None, format


def load_hierarchy(path: Path, encoding: str) -> tuple[Hierarchy, dict[str, Any]]:
    """Read a hierarchy, and what a report says of its file."""
    tree = read_hierarchy(path, encoding=encoding)
    digest = hashlib.sha256(path.read_bytes()).hexdigest()
    return tree, {"source": "file", "path": str(path), "sha256": digest}


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
    unknown = [label for label in labels if label not in data.vocabulary.ids]
    if check and unknown:
        some = "1 item is" if len(unknown) == 1 else f"{len(unknown):,} items are"
        raise DataError(
            f"In {shorten(text)}, {some} not in the data: {listed(unknown)}.",
            hint="Is it a file that does not exist?" if "," not in text and not Path(text).is_file() else "",
        )
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
        say(note)
    return groups


def load_image(
    path: str, published: Transactions, recoding: Path | None, encoding: str
) -> dict[str, str | None] | None:
    """Find out what each item was published as: from a csv, or from what a run wrote beside the rows.

    The answer holds the published label of each item; None, or not there: suppressed. It is None itself
    where nothing tells: then every label must be an item.
    """
    if recoding is None:
        about = _about_beside(path)
        if about is None:
            return None
        labels = read_meaning(about, published, published).members()
        return {item: label for label, items in labels.items() for item in items}
    text = as_text(read_bytes(recoding), str(recoding), encoding).content.decode()
    image: dict[str, str | None] = {}
    for number, fields in enumerate(csv.reader(text.splitlines()), 1):
        if number == 1 and fields == ["item", "published"]:
            continue
        if len(fields) != 2 or not fields[0] or fields[0] in image:
            raise DataError(
                f"{recoding}, line {number}: found {shorten(','.join(fields))}, expected an item not seen "
                "before, a comma and its label (empty: suppressed)."
            )
        image[fields[0]] = fields[1] or None
    return image


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


def extension_hint(
    path: str,
    hierarchy: Path | None,
    format: str | None,  # noqa: A002
    id_column: str | None,
    item_column: str | None,
) -> str:
    """Write the command that adds the items which a hierarchy lacks."""
    tree = hierarchy or Path("HIERARCHY")
    options = {"--format": format, "--id-column": id_column, "--item-column": item_column}
    more = [word for name, value in options.items() if value is not None for word in (name, value)]
    extended = tree.with_name(f"{tree.stem}-extended{tree.suffix}")
    words = ["setveil", "hierarchy", "build", path, "--extend", str(tree), "--out", str(extended), *more]
    return f"`{shlex.join(words)}` adds them under one new node."


def load_published(path: str, **options: Any) -> Transactions:
    """Read a file of rows, or the published file of a run's folder as its about.json says."""
    if path == "-":
        return read_rows(path, **options)
    file = published_file(Path(path))
    given = {name: value for name, value in options.items() if value is not None}
    layout = published_layout(file)
    recorded = layout if Path(path).is_dir() else {}
    if layout.get("format") == "grouped":
        raise DataError(
            f"{path} holds rows published in groups, not single rows.",
            hint="They have their own check: --model privacy-degree --p P.",
        )
    return read_rows(str(file), **(recorded | given))


def is_grouped(path: str) -> bool:
    """Tell whether a path is a folder of rows published in groups, or one of its files."""
    if Path(path).is_file():
        return published_layout(Path(path)).get("format") == "grouped"
    return any((folder / GROUPS_FILE).is_file() for folder in _published_folders(path))


def _published_folders(path: str) -> tuple[Path, Path]:
    return Path(path) / "published", Path(path)


def load_groups(path: str) -> PublishedGroups:
    """Read rows published in groups from a run's folder or its `published`.

    Raises
    ------
    DataError
        If there is no such folder, or its files are malformed.
    """
    folder = next((f for f in _published_folders(path) if (f / GROUPS_FILE).is_file()), None)
    if folder is None:
        raise DataError(
            f"{path} is no folder of rows published in groups: expected {DATA_FILE} and {GROUPS_FILE} in it.",
            hint="Name the folder that `setveil anonymize --algorithm cahd` wrote, or its published/.",
        )
    return read_grouped(folder)


def _about_beside(path: str) -> Path | None:
    """Find the about.json beside published rows; None where there is none."""
    about = published_file(Path(path)).parent / "about.json" if path != "-" else None
    return about if about is not None and about.is_file() else None


def load_meaning(
    path: str, original: Transactions, published: Transactions, tree: Hierarchy | None
) -> AnyRecoding:
    """Find out what the labels of a release stand for.

    From about.json beside the published file. Else from a hierarchy if one is given: each item is published
    as the nearest node above it that the release holds. Else every label must be an item of the original.
    """
    about = _about_beside(path)
    if about is not None:
        return read_meaning(about, original, published)
    if tree is not None:
        return _meaning_by_hierarchy(original, published, tree)
    unknown = [label for label in published.vocabulary.labels if label not in original.vocabulary.ids]
    if unknown:
        raise DataError(
            f"{len(unknown):,} labels of {path} are no items of the original: {listed(unknown)}.",
            hint="Say what they stand for: --hierarchy FILE, or keep the release's about.json beside it.",
        )
    return recoding_of(original, published, {}, original.n_items)


def _meaning_by_hierarchy(original: Transactions, published: Transactions, tree: Hierarchy) -> AnyRecoding:
    unknown = [label for label in published.vocabulary.labels if label not in tree]
    if unknown:
        raise DataError(
            f"{len(unknown):,} labels of the release are not in the hierarchy: {listed(unknown)}.",
            hint="Is this the hierarchy that the release was made with?",
        )
    tree.locate(original.vocabulary)
    members: dict[str, list[str]] = {}
    nodes = {tree.id(label) for label in published.vocabulary.labels}
    for v in sorted(nodes):
        above = [u for u in tree.ancestors(v) if u in nodes]
        if above:
            raise DataError(
                f"The release holds {tree.labels[v]!r} and also {tree.labels[above[0]]!r}, which stands "
                "above it: no global recoding, so what an item became cannot be told from its label.",
            )
        if tree.children(v):
            members[tree.labels[v]] = [tree.labels[leaf] for leaf in tree.leaves(v)]
    return recoding_of(original, published, members, tree.n_leaves)


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


def require_free(path: Path, force: bool) -> None:
    """Refuse to replace a file without --force, and a folder ever."""
    if path.exists() and (not force or path.is_dir()):
        raise OutputError(f"{path} exists already.", hint="Choose another name, or --force.")


def convert_file(data: Transactions, output: Path, to: str | None, *, force: bool) -> Layout:
    """Write rows to a file whose format its extension or `to` tells."""
    usual = FORMATS_OF_EXTENSION.get(output.suffix.lower())
    if to is None:
        if usual is None:
            raise RequestError(
                f"The extension of {output} tells no format; these do: {', '.join(FORMATS_OF_EXTENSION)}.",
                hint="Name the format with --to.",
            )
        to = usual[0]
    require_free(output, force)
    layout = Layout(to)
    if writable_layout(layout, data.vocabulary.labels) != layout:
        words = [label for label in data.vocabulary.labels if not label.lstrip("+-").isdigit()]
        raise DataError(f"FIMI holds integers only, found {listed(words)}.", hint="Use .csv, .txt or .jsonl.")
    save(data, output, layout)
    return layout
