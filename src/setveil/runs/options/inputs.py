"""From the names of files, or what is written instead of them, to hierarchies, items and queries."""

from __future__ import annotations

import csv
import io
import logging
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from setveil.base.errors import DataError, RequestError, did_you_mean, listed, shorten
from setveil.base.progress import Progress
from setveil.base.values.numbers import parse_integer
from setveil.judges.utility.queries import Queries, frequent_queries, random_queries, read_queries
from setveil.rows.data.draws import row_keys
from setveil.rows.data.io.decoded import Text, as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.text import read_basket, read_fimi
from setveil.rows.data.layout import Layout
from setveil.rows.data.spelling import form_of
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import is_integer, item_order
from setveil.rows.hierarchy.tree import Hierarchy

if TYPE_CHECKING:
    pass

log = logging.getLogger("setveil")

_LINE_END = re.compile(r"\r\n|\r|\n")


def load_items(path: Path, data: Transactions, encoding: str) -> tuple[str, ...]:
    """Read a list of items: one per line, or several as the rows of the data are written."""
    like = data.origin.layout if data.origin else Layout("basket")
    separator = like.separator if like.format == "basket" else ","
    text = as_text(read_bytes(path), str(path), encoding)
    lines = _LINE_END.split(text.content.decode())
    whole = {line.strip() for line in lines} & data.vocabulary.ids.keys()
    others = "\n".join("" if line.strip() in whole else line for line in lines)  # so line numbers stay
    left = Text(text.name, others.encode())
    parted = read_fimi(left) if like.format == "fimi" else read_basket(left, separator)
    labels = whole.union(label for label in parted.labels if label)
    if not labels:
        raise DataError(f"{path} contains no item, expected one per line.")
    return tuple(item_order(labels))


def load_lines(path: Path, encoding: str) -> tuple[str, ...]:
    """Read a list of items, one per line, which has nothing to do with the data."""
    text = as_text(read_bytes(path), str(path), encoding)
    lines = _LINE_END.split(text.content.decode())
    labels = {label for line in lines if (label := _unquoted(line.strip(" \t")))}
    if not labels:
        raise DataError(f"{path} contains no item, expected one per line.")
    return tuple(item_order(labels))


def _unquoted(line: str) -> str:
    """Take the quotes off that a spreadsheet has put around the one field of a line."""
    if len(line) < 2 or line[0] != '"' or line[-1] != '"':
        return line
    fields = next(csv.reader([line]))
    return fields[0] if len(fields) == 1 else line


def load_labels(
    text: str | None, data: Transactions, encoding: str, *, check: bool = True
) -> tuple[str, ...]:
    """Read a list of items of the data: from a file, or as written with commas between them."""
    if text is None:
        return ()
    if Path(text).is_file():
        labels = load_items(Path(text), data, encoding)
    elif text.strip() in data.vocabulary.ids:
        labels = (text.strip(),)
    else:
        labels = tuple(dict.fromkeys(label for part in text.split(",") if (label := part.strip())))
    hint = "Is it a file that does not exist?" if "," not in text and not Path(text).is_file() else ""
    return require_known(labels, text, data, check=check, hint=hint)


def require_known(
    labels: tuple[str, ...], text: str, data: Transactions, *, check: bool = True, hint: str = ""
) -> tuple[str, ...]:
    """Refuse labels that are no items of the data (with `check`); `text` is where they were named."""
    unknown = [label for label in labels if label not in data.vocabulary.ids]
    if unknown and data.origin is not None and data.origin.merged is not None:
        form = form_of(data.origin.merged.how)
        labels = tuple(dict.fromkeys(form(label) if label in unknown else label for label in labels))
        unknown = [label for label in labels if label not in data.vocabulary.ids]
    if check and unknown:
        some = "1 item is" if len(unknown) == 1 else f"{len(unknown):,} items are"
        raise DataError(
            f"In {shorten(text)}, {some} not in the data: {listed(unknown)}.",
            hint=hint or did_you_mean(unknown[0], data.vocabulary.labels, quoted=True),
        )
    return labels


def load_privacy(
    path: str, data: Transactions, image: Mapping[str, str | None] | None, encoding: str
) -> tuple[tuple[str, ...], ...]:
    """Read privacy constraints on rows or, with the `image` of items, on published rows."""
    from setveil.methods.constraints.io import read_privacy

    layout = data.origin.layout if data.origin else None
    if image is None:
        return read_privacy(path, data.vocabulary.labels, layout, encoding=encoding)
    if all(map(is_integer, image)) and b"," not in read_bytes(path):
        layout = Layout("fimi")  # the published file is a basket file if it holds words
    return read_privacy(path, None, layout, encoding=encoding)


def load_utility(
    text: str | None, data: Transactions, tree: Hierarchy | None, encoding: str
) -> tuple[tuple[str, ...], ...] | None:
    """Make or read utility constraints: ``any`` (none), ``siblings[:LEVEL]``, ``groups:SIZE``, or a file."""
    if text is None:
        return None
    if text == "any":
        return ()
    from setveil.methods.constraints.io import read_utility
    from setveil.methods.constraints.utility import groups_of, siblings

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


_NUMBER = re.compile(r"[0-9]|[,;\t] *[+-]?(nan|inf|infinity) *$", re.IGNORECASE)
_SEPARATORS = (";", "\t", ",")  # of spreadsheets; the comma last, as it may be in numbers


def load_weights(path: Path, encoding: str) -> dict[str, float]:
    """Read the importance of items: lines of an item and a number, with commas, semicolons or tabs."""
    text = as_text(read_bytes(path), str(path), encoding).content.decode()
    read = [_weights(text, separator) for separator in _SEPARATORS]
    lines = max(read, key=lambda lines: [pair is not None for _, _, pair in lines])  # that fit the longest
    weights: dict[str, float] = {}
    if len(lines) > 1 and lines[0][2] is None and not _NUMBER.search(lines[0][1]):
        log.info(f"{path}: line 1 is the header.")
        del lines[0]
    for number, line, pair in lines:
        if pair is None:
            raise DataError(
                f"{path}, line {number}: found {shorten(line)}, expected an item, a comma and a number of at "
                "least 0."
            )
        item, weight = pair
        if item in weights:
            raise DataError(f"{path}, line {number}: {shorten(item)} has a weight already.")
        weights[item] = weight
    return weights


def _weights(text: str, separator: str) -> list[tuple[int, str, tuple[str, float] | None]]:
    """Take each line as an item and its weight: its number, itself, and these; None where it holds none."""
    found: list[tuple[int, str, tuple[str, float] | None]] = []
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)
    for fields in reader:
        if not fields:
            continue
        item, weight = fields[0].strip(" \t"), -1.0
        with suppress(ValueError):
            written = fields[1] if len(fields) == 2 else ""
            weight = float(written.replace(",", ".") if separator != "," else written)
        good = item and 0 <= weight < float("inf")
        found.append((reader.line_num, separator.join(fields), (item, weight) if good else None))
    return found


def load_column_labels(path: Path, encoding: str) -> dict[str, list[str]]:
    """Read labels of columns: a csv with a column and a label in each line."""
    text = as_text(read_bytes(path), str(path), encoding).content.decode()
    labels: dict[str, list[str]] = {}
    for number, fields in _pairs(text):
        if not fields:
            continue
        if len(fields) != 2 or not all(fields):
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(fields))}, expected a column, a comma and a "
                "label (a label with a comma in it between quotes).",
            )
        labels.setdefault(fields[0], []).append(fields[1])
    return labels


def load_names(path: Path, encoding: str) -> dict[str, str]:
    """Read what codes represent: a csv with a code and its name in each line, perhaps with a header."""
    text = as_text(read_bytes(path), str(path), encoding).content.decode()
    names: dict[str, str] = {}
    for number, fields in _pairs(text):
        cells = [field.strip(" \t") for field in fields]
        if not cells or (number == 1 and [cell.lower() for cell in cells] == ["code", "name"]):
            continue
        if len(cells) != 2 or not all(cells):
            raise DataError(
                f"{path}, line {number}: found {shorten(','.join(fields))}, expected a code, a comma and its "
                "name.",
                hint="A name with a comma is put in double quotes.",
            )
        if names.setdefault(cells[0], cells[1]) != cells[1]:
            raise DataError(f"{path}, line {number}: {shorten(cells[0])} has a name already.")
    return names


def _pairs(text: str) -> Iterator[tuple[int, list[str]]]:
    """Go through the lines of a csv of two columns, separated as the first is: by commas where they do."""
    first = next(filter(str.strip, io.StringIO(text, newline=None)), "")
    fitting = (one for one in reversed(_SEPARATORS) if len(next(csv.reader([first], delimiter=one), [])) == 2)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=next(fitting, ","))
    return ((reader.line_num, fields) for fields in reader)


def draw_rows(data: Transactions, number: int, seed: int) -> Transactions:
    """Draw rows by their content and a seed, in the order of the data; all of them if there are not more."""
    import numpy as np

    if number >= data.n_rows:
        return data
    return data.drawn(np.sort(np.argsort(row_keys(data, seed), kind="stable")[:number]))


def draw_rows_again(data: Transactions, seed: int) -> Transactions:
    """Draw as many rows as there are, each from all of them (the bootstrap), in the order of the data."""
    import numpy as np

    words = np.random.PCG64(seed).random_raw(data.n_rows)
    # The upper half of a word times the number of rows: its bias is below n_rows / 2**32.
    places = ((words >> np.uint64(32)) * np.uint64(data.n_rows)) >> np.uint64(32)
    order = np.argsort(row_keys(data, seed), kind="stable")
    return data.drawn(np.sort(order[places.astype(np.int64)]))


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
    """Read or draw the queries that a release is to answer; none if none are wanted."""
    if path is not None:
        if number is not None or support is not None:
            raise RequestError("Queries are either read (--queries-file) or drawn (--queries), not both.")
        return read_queries(path, data, encoding)
    if support is not None:
        return frequent_queries(data, size, support, number, seed, progress)
    return [] if number is None else random_queries(data, number, size, seed, progress=progress)
