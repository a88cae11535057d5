"""Files of transactions: read them, write them, tell their format."""

from __future__ import annotations

import hashlib
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from setveil.data.io.sniff import detect_format, sniff_content, sniff_table
from setveil.data.io.source import as_text, read_bytes
from setveil.data.io.write import write_blocks
from setveil.data.layout import FORMATS, Layout, Origin, function_of, writable_layout
from setveil.data.transactions import Transactions
from setveil.errors import DataError, OutputError, RequestError
from setveil.staging import staged_file

__all__ = [
    "FORMATS",
    "Layout",
    "detect_format",
    "read",
    "save",
    "sniff_content",
    "writable_layout",
]


def read(
    path: str | Path,
    *,
    format: str | None = None,  # noqa: A002  (the word that users know)
    encoding: str = "utf-8",
    separator: str | None = None,
    id_column: str | None = None,
    item_column: str | None = None,
) -> Transactions:
    """Read a file of transactions, and remember where they came from.

    Parameters
    ----------
    path : str or Path
        The file; ``-`` reads standard input.
    format : {"fimi", "basket", "long", "spmf", "parquet", "jsonl"}, optional
        By default detected from the extension: ``.dat`` is FIMI, ``.csv`` basket or long, ``.txt`` SPMF,
        ``.parquet``, ``.jsonl``; by the content where there is another one or none.
    encoding : str
        Of a text file.
    separator : str, optional
        Between fields, for basket (default ``,``) and long (default: the one that its header uses). Without
        `format` it also means that the file is one of these.
    id_column, item_column : str, optional
        Columns of a long table (in text or Parquet); `item_column` also the list column of a Parquet file or
        the key of JSON objects. Without `format`, a text file other than JSON lines is then a long table.

    Returns
    -------
    Transactions
        The rows, one for each line (blank lines are empty rows) or for each id of a long table. Their
        `origin` tells how the file is laid out.

    Raises
    ------
    DataError
        If the file cannot be read, is malformed (the message names the line), or holds no item.
    RequestError
        If an option is not acceptable or does not apply to the format.

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.read("baskets.csv")                                             # doctest: +SKIP
    >>> data = sv.read("orders.csv", id_column="order", item_column="article")    # doctest: +SKIP
    """
    start = time.perf_counter()
    name = "standard input" if str(path) == "-" else str(path)
    Layout(format or "basket", separator or ",")
    content = read_bytes(path)
    if not content:
        raise DataError(f"{name} is an empty file, expected rows of items.")
    sha256 = hashlib.sha256(content).hexdigest()
    given = {"separator": separator, "id_column": id_column, "item_column": item_column}
    chosen = format or detect_format(path, content)
    source: Any = content, name
    if FORMATS[chosen].text:
        source = as_text(content, name, encoding)
        chosen = format or _settle(detect_format(path, source.content), source.content, given)
    _refuse_options(chosen, given)
    form = FORMATS[chosen]
    data: Transactions
    data, layout = function_of(form.reader)(source, **{option: given[option] for option in form.takes})
    if not data.n_occurrences:
        what = "holds only blank lines" if not content.strip() else "holds no item"
        raise DataError(f"{name} {what}, expected rows of items.")
    return replace(data, origin=Origin(str(path), sha256, layout, round(time.perf_counter() - start, 4)))


def save(data: Transactions, path: str | Path, layout: Layout) -> None:
    r"""Write transactions; the same data and layout give the same bytes.

    Parameters
    ----------
    data : Transactions
        Rows are written in order, items of a row in the order of their ids.
    path : str or Path
        The file: UTF-8, lines end with ``\n``. It appears complete or not at all.
    layout : Layout
        In the long layouts the id is the row's number from 0, and empty rows cannot be shown.

    Raises
    ------
    RequestError
        If labels that are not integers should go to FIMI (see `writable_layout`).
    DataError
        If a label cannot be written in this format.
    OutputError
        If the file cannot be written.
    """
    blocks = write_blocks(data, layout)
    first = next(blocks, b"")  # a label that cannot be written shows now, before there is a file
    try:
        with staged_file(Path(path)) as beside, beside.open("wb") as file:
            file.write(first)
            for block in blocks:
                file.write(block)
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _settle(detected: str, content: bytes, given: dict[str, str | None]) -> str:
    """Let the options decide among the formats of plain text."""
    if detected in {"parquet", "jsonl"}:
        return detected
    if given["id_column"] is not None or given["item_column"] is not None:
        return "long"
    return detected if given["separator"] is None else sniff_table(content, given["separator"])


def _refuse_options(chosen: str, given: dict[str, str | None]) -> None:
    for option, value in given.items():
        if value is not None and option not in FORMATS[chosen].takes:
            formats = [name for name, form in FORMATS.items() if option in form.takes]
            raise RequestError(
                f"The option {option} does not apply to the format {chosen}, only to {', '.join(formats)}.",
                hint="Leave it out, or name another --format.",
            )
