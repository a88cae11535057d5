"""Rewrite rows in another format."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from setveil.base.errors import DataError, OutputError, RequestError, described, listed
from setveil.commands.arguments import path_of, rows_of
from setveil.rows.data.io.write import save
from setveil.rows.data.layout import Layout, extensions, formats_of, writable_layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import is_integer
from setveil.runs.last_check import require_items_of_nobody


def convert(
    data: str | PathLike[str] | object,
    output: str | PathLike[str],
    *,
    to: str | None = None,
    force: bool = False,
) -> Path:
    r"""Write rows to a file, in the format that its extension tells. Rows keep their order.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, or Transactions
        The rows.
    output : path
        The file to write.
    to : str, optional
        The format, where the extension does not tell it.
    force : bool
        Replace the file if it exists.

    Returns
    -------
    Path
        The file.

    Raises
    ------
    DataError
        If the rows cannot be read, or not be written in this format, or contain person IDs.
    RequestError
        If there is no such format, or the extension tells none.
    OutputError
        If the file exists or cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.convert([["tea", "milk"], ["tea"]], "rows.jsonl").read_text()
    '["milk", "tea"]\n["tea"]\n'
    """
    path = path_of("output", output)
    if to is not None and not isinstance(to, str):
        raise RequestError(f"to must be the name of a format, got {described(to)}.")
    write_rows(rows_of(data), path, to, force=force)
    return path


def write_rows(data: Transactions, output: Path, to: str | None, *, force: bool) -> Layout:
    """Write rows to a file whose format its extension or `to` tells."""
    usual = formats_of(output.suffix)
    if to is None:
        if not usual:
            raise RequestError(
                f"The extension of {output} tells no format; these do: {', '.join(extensions())}.",
                hint="Name the format with --to.",
            )
        to = usual[0]
    if output.exists() and (not force or output.is_dir()):
        raise OutputError(f"{output} exists already.", hint="Choose another name, or --force.")
    layout = Layout(to)
    if layout.format == "fimi" and writable_layout(layout, data.vocabulary.labels) != layout:
        words = [label for label in data.vocabulary.labels if not is_integer(label)]
        raise DataError(f"FIMI holds integers only, found {listed(words)}.", hint="Use .csv, .txt or .jsonl.")
    require_items_of_nobody(data.vocabulary.labels, data.personal, str(output))
    save(data, output, layout)
    return layout
