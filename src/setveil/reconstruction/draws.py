"""A folder of draws: rows of items that were drawn from one release, a file each, and what they are."""

from __future__ import annotations

import errno
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from setveil.data.io import save
from setveil.data.layout import Layout, writable_layout
from setveil.data.transactions import Transactions
from setveil.errors import DataError, OutputError, listed
from setveil.kernels.rows import frozen
from setveil.progress import Progress, silent
from setveil.published.about import published_layout, reconstruction_at
from setveil.published.group_files import MOST_ROWS
from setveil.published.shared import Shared
from setveil.reconstruction.reconstruct import Puzzle, reconstruct, require_consistent
from setveil.staging import staged_folder
from setveil.version import __version__

NOTE = (
    "These rows are synthetic: drawn at random from all that a release and its counts allow. None of them is "
    "anybody's, they tell nothing that the release does not, and they promise nothing of their own."
)
_ABOUT = "about.json"


@dataclass(frozen=True)
class Terms:
    """How draws were, or will be, made."""

    seed: int  # of the first draw; that of each other is greater by 1 than that of the one before
    mix: int  # steps of mixing per occurrence
    layout: Layout  # how they are written; a wide table with columns enough for each
    # the published file that they were drawn from, as far as there is one: `file`, `sha256`
    release: Mapping[str, Any]

    @classmethod
    def of(cls, shared: Shared, seed: int, mix: int, wanted: str | None = None) -> Terms:
        """Write draws as the release is written, or in the format wanted."""
        origin = shared.rows.origin
        source = {"file": shared.about["file"], "sha256": origin.sha256} if origin and shared.about else {}
        terms = cls(seed, mix, shared.layout, source)
        return terms if wanted is None else terms.written_as(wanted)

    def written_as(self, name: str) -> Terms:
        """Write draws in a format."""
        return self if name == self.layout.format else replace(self, layout=Layout(name))


def draws_of(
    puzzle: Puzzle, number: int, terms: Terms, progress: Progress = silent
) -> Iterator[Transactions]:
    """Make draws one after the other, each checked against the release."""
    for j in range(number):

        def told(done: float, before: int = j) -> None:
            progress("drawing", (before + done) / number)

        rows = reconstruct(puzzle, terms.seed + j, terms.mix, told)
        require_consistent(puzzle, rows)
        yield rows


def require_place(out: Path, *, force: bool = False) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError(f"{out} exists and is not a folder.", hint="Choose another --out.")
    found = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if found and not force:
        raise OutputError(
            f"The output folder {out} exists and is not empty.", hint="Choose another --out, or --force."
        )
    own = {_ABOUT, *(entry["file"] for entry in _entries(out))} if found else set()
    if found - own or (found and len(own) == 1):
        raise OutputError(
            f"--force replaces only folders of draws, and {out} is not one: it holds "
            f"{listed(sorted(found - own) or sorted(found))}.",
            hint="Choose another --out, or remove the folder yourself.",
        )


def write_draws(
    draws: Iterable[Transactions], number: int, items: Iterable[str], terms: Terms, out: Path, *, force: bool
) -> dict[str, Any]:
    """Write draws into a folder, which appears complete or not at all, and return its about.json.

    Parameters
    ----------
    number : int
        How many there are, for their names.
    items : iterable of str
        All items that may be in a draw: all draws are written in one format.
    """
    require_place(out, force=force)
    general = writable_layout(terms.layout, items)
    entries: list[dict[str, Any]] = []
    try:
        with staged_folder(out) as folder:
            rows = 0
            for j, drawn in enumerate(draws):
                layout = writable_layout(general, (), int(drawn.row_lengths().max(initial=0)))
                name = f"draw-{j + 1:0{len(str(number))}d}{layout.extension}"
                save(drawn, folder / name, layout)
                entries.append({"file": name, "seed": terms.seed + j, **layout.options()})
                rows = drawn.n_rows
            about = {
                "setveil": __version__,
                "reconstruction": {
                    "note": NOTE,
                    "release": dict(terms.release),
                    "mix": terms.mix,
                    "draws": entries,
                },
                "rows": rows,
            }
            text = json.dumps(about, ensure_ascii=False, indent=2) + "\n"
            (folder / _ABOUT).write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise OutputError(
            f"The output folder {out} cannot be written: {reason}. Nothing was left behind.",
            hint="Free some space or choose another --out.",
        ) from error
    return about


def _entries(folder: Path) -> list[dict[str, Any]]:
    """List what about.json says of the draws in a folder; empty if it holds none."""
    about = reconstruction_at(folder)
    entries = about["reconstruction"].get("draws") if about is not None else []
    if about is None or (_is_list(entries) and _is_size(about.get("rows"))):
        return list(entries)
    raise DataError(
        f"{folder / _ABOUT} is not an about.json that setveil wrote: expected the draws, the file of each, "
        "and how many rows they have."
    )


def _is_list(entries: object) -> bool:
    return isinstance(entries, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("file"), str)
        and Path(entry["file"]).name == entry["file"]
        for entry in entries
    )


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MOST_ROWS


def read_draws(folder: Path, read_rows: Callable[..., Transactions]) -> Iterator[Transactions]:
    """Read the draws of a folder one after the other, as its about.json says.

    Parameters
    ----------
    read_rows : callable
        Reads a file, as `setveil.read`.

    Returns
    -------
    iterator of Transactions
        The draws, at least one. Rows without items that a long table cannot show come last.
    """
    about = reconstruction_at(folder)
    entries = _entries(folder)
    if about is None or not entries:
        raise DataError(f"{folder} holds no draws.", hint="Name the folder that `setveil reconstruct` wrote.")
    return (_read(folder / entry["file"], entry, about["rows"], read_rows) for entry in entries)


def _read(
    path: Path, entry: Mapping[str, Any], n_rows: int, read_rows: Callable[..., Transactions]
) -> Transactions:
    rows = read_rows(str(path), **published_layout(entry))
    missing = n_rows - rows.n_rows
    if missing < 0 or (missing and "id_column" not in entry):
        raise DataError(
            f"{path} holds {rows.n_rows:,} rows, but the about.json beside it says {n_rows:,}.",
            hint="The files must come from the same reconstruction.",
        )
    indptr = np.concatenate([rows.indptr, np.full(missing, rows.indptr[-1])])
    return replace(rows, indptr=frozen(indptr, np.int64))
