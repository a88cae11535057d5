"""A folder of draws: rows of items that were drawn from one release, a file each, and what they are."""

from __future__ import annotations

import csv
import errno
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from setveil.base.errors import DataError, OutputError, RequestError, listed
from setveil.base.progress import Progress, silent
from setveil.base.staging import staged_folder
from setveil.base.values.kinds import file_sha256
from setveil.base.version import __version__
from setveil.judges.reconstruction.chunks import ChunkPuzzle
from setveil.judges.reconstruction.classes import class_puzzle_of
from setveil.judges.reconstruction.groups import GroupPuzzle
from setveil.judges.reconstruction.reconstruct import puzzle_of
from setveil.kernels.rows import frozen
from setveil.releases.published import kind_at
from setveil.releases.published.about import published_file, reading_of_rows, reconstruction_at
from setveil.releases.published.boxes import Boxes
from setveil.releases.published.classes import FILE as CLASSES
from setveil.releases.published.facts import fields_of
from setveil.releases.published.group_files import MOST_ROWS
from setveil.releases.published.shared import read_shared
from setveil.releases.published.table_files import PublishedTable, read_published_table, write_table
from setveil.rows.data.io.write import quoting, save
from setveil.rows.data.layout import Layout, writable_layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.tables.how import How

NOTE = (
    "These rows are synthetic: drawn at random from all that a release and its counts allow. None of them is "
    "a person's, they reveal nothing that the release does not, and they guarantee nothing of their own."
)
_ABOUT = "about.json"
_FACTS = "facts"  # the format of draws of facts


class Drawable(Protocol):
    """All that a release says of the rows behind it, from which rows are drawn."""

    @property
    def items(self) -> tuple[str, ...]:
        """Every item that may be in a draw."""

    @property
    def listed(self) -> str:
        """Say what lists the rows of items."""

    def draw(self, seed: int, mix: int, progress: Callable[[float], None]) -> Transactions:
        """Draw rows, and check them against all that is published."""


# of kinds whose rows are dealt what is counted
DEALT: Mapping[str, Callable[[Any], Drawable]] = {"groups": GroupPuzzle.of, "chunks": ChunkPuzzle.of}


@dataclass(frozen=True)
class Terms:
    """The terms of draws: how they were, or will be, made."""

    seed: int  # of the first draw; that of each other is greater by 1 than that of the one before
    mix: int  # steps of mixing per occurrence
    layout: Layout  # how they are written; a wide table with columns enough for each
    # the published file that they were drawn from, as far as there is one: `file`, `sha256`
    release: Mapping[str, Any]
    table: PublishedTable | None = None  # whose columns stand beside the items of each draw
    classes: tuple[int, ...] = ()  # rows of each class, where there are classes
    boxes: Boxes | None = None  # of facts: the names of their parts, and what stands between them

    def written_as(self, name: str | None) -> Terms:
        """Write draws in a format; None: as the release is written."""
        if name is None or (name == self.layout.format and self.table is None and self.boxes is None):
            return self
        if self.table is not None or self.boxes is not None:
            what = "a table" if self.boxes is None else "facts"
            raise RequestError(f"Draws of {what} are written as csv, not as {name}.", hint="Omit the format.")
        return replace(self, layout=Layout(name))


@dataclass(frozen=True, eq=False)
class DrawSource:
    """All that a release of any kind says of the rows behind it."""

    puzzle: Drawable
    layout: Layout  # how draws are written by default
    release: Mapping[str, Any]  # the published file, as far as there is one: `file`, `sha256`
    table: PublishedTable | None = None  # whose items the rows are
    classes: tuple[int, ...] = ()  # rows of each class, where there are classes
    boxes: Boxes | None = None  # of facts

    @classmethod
    def of(cls, published: Any, file: Path | None = None) -> DrawSource:
        """Take what is published: rows with labels (`Shared`), groups or chunks; `file`: its file."""
        release = {} if file is None else {"file": file.name, "sha256": file_sha256(file)}
        kind = getattr(published, "kind", "")
        if kind in DEALT:
            return cls(DEALT[kind](published), Layout("basket"), release)
        if published.rows.kind == "classes":
            sizes = tuple(published.rows.sizes.tolist())
            return cls(class_puzzle_of(published), published.layout, release, classes=sizes)
        return cls(puzzle_of(published), published.layout, release, published.table, boxes=published.boxes)

    def terms(self, seed: int, mix: int) -> Terms:
        """Say how draws are made."""
        return Terms(seed, mix, self.layout, self.release, self.table, self.classes, self.boxes)

    @property
    def items(self) -> tuple[str, ...]:
        """Every item that may be in a draw."""
        return self.puzzle.items

    @property
    def listed(self) -> str:
        """The source of the numbers of rows with an item."""
        return self.puzzle.listed


def source_at(path: Path, read_rows: Callable[..., Transactions]) -> DrawSource:
    """Read what is published of a run's folder, or of the folder `published` of one."""
    file = published_file(path)
    kind = kind_at(str(path))
    if kind.info.by_labels:
        return DrawSource.of(read_shared(path, read_rows, sets=True), file)
    return DrawSource.of(kind.info.drawn(kind.read(str(path), read_rows), None, {}, None), file)


def draws_of(
    source: DrawSource, number: int, terms: Terms, progress: Progress = silent
) -> Iterator[Transactions]:
    """Make draws one after the other, each checked against the release."""
    for j in range(number):

        def report(done: float, before: int = j) -> None:
            progress("drawing", (before + done) / number)

        yield source.puzzle.draw(terms.seed + j, terms.mix, report)


def require_place(out: Path, *, force: bool = False) -> None:
    """Refuse a folder that cannot be written, before any work is done."""
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError(f"{out} exists and is not a folder.", hint="Choose another --out.")
    found = {path.name for path in out.iterdir()} if out.is_dir() else set()
    if found and not force:
        raise OutputError(
            f"The output folder {out} exists and is not empty.", hint="Choose another --out, or --force."
        )
    own = {_ABOUT, CLASSES, *(entry["file"] for entry in _entries(out))} if found else set()
    if found - own or (found and len(own) == 2):
        raise OutputError(
            f"--force replaces only folders of draws, and {out} is not one: it contains "
            f"{listed(sorted(found - own) or sorted(found))}.",
            hint="Choose another --out, or remove the folder yourself.",
        )


def write_draws(
    draws: Iterable[Transactions], number: int, items: Iterable[str], terms: Terms, out: Path, *, force: bool
) -> dict[str, Any]:
    """Write draws into a folder that appears complete or not at all, in one format; return its about.json."""
    require_place(out, force=force)
    general = writable_layout(terms.layout, items)
    entries: list[dict[str, Any]] = []
    try:
        with staged_folder(out) as folder:
            rows = 0
            for j, drawn in enumerate(draws):
                stem = f"draw-{j + 1:0{len(str(number))}d}"
                rows = drawn.n_rows
                if terms.table is not None:
                    write_table(folder / f"{stem}.csv", replace(terms.table, sets=drawn))
                    entries.append({"file": f"{stem}.csv", "seed": terms.seed + j, **_columns(terms.table)})
                    continue
                if terms.boxes is not None:
                    _write_facts(folder / f"{stem}.csv", drawn, terms.boxes)
                    parts = {name: list(names) for name, names in terms.boxes.names_of.items()}
                    files = {"sets": parts} if terms.boxes.columns else {"parts": parts[""]}
                    entry = {"file": f"{stem}.csv", "seed": terms.seed + j, "format": _FACTS, **files}
                    entries.append({**entry, "sign": terms.boxes.sign})
                    continue
                layout = writable_layout(general, (), int(drawn.row_lengths().max(initial=0)))
                save(drawn, folder / f"{stem}{layout.extension}", layout)
                options = layout.options()
                entries.append({"file": f"{stem}{layout.extension}", "seed": terms.seed + j, **options})
            if terms.classes:
                lines = "".join(f"{number},{n}\n" for number, n in enumerate(terms.classes))
                (folder / CLASSES).write_text(f"class,rows\n{lines}", encoding="utf-8", newline="\n")
            about = {
                "setveil": __version__,
                "reconstruction": {
                    "note": NOTE,
                    **({"classes": CLASSES} if terms.classes else {}),
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


def _write_facts(path: Path, drawn: Transactions, boxes: Boxes) -> None:
    """Write a line for each fact, as the release has them: the number of the row, and the parts."""
    fields, quote = fields_of(boxes.names_of), quoting(",")
    lines = []
    for label in drawn.vocabulary.labels:
        places, parts = boxes.split(label) or (slice(0), [])
        lines.append(",".join(map(quote, fields.line(boxes.places.index(places), parts))))
    numbers = np.repeat(np.arange(drawn.n_rows), drawn.row_lengths()).tolist()
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(",".join(map(quote, fields.header)) + "\n")
        file.writelines(
            f"{number},{lines[item]}\n" for number, item in zip(numbers, drawn.items.tolist(), strict=True)
        )


def _read_facts(path: Path, entry: Mapping[str, Any], n_rows: int) -> Transactions:
    rows: list[list[str]] = [[] for _ in range(n_rows)]
    fields = fields_of(entry["sets"] if "sets" in entry else {"": entry["parts"]})
    with path.open(encoding="utf-8", newline="") as file:
        lines = csv.reader(file)
        wrong = next(lines, []) != list(fields.header)
        for line in () if wrong else lines:
            found = fields.fact(line)
            wrong = found is None or not (line[0].isascii() and line[0].isdigit() and int(line[0]) < n_rows)
            if found is None or wrong:
                break
            rows[int(line[0])].append(fields.label(*found, entry["sign"]))
    if wrong:
        raise DataError(
            f"{path} is no draw of {n_rows:,} rows of facts, as its about.json says.",
            hint="The files must come from the same reconstruction.",
        )
    return Transactions.from_rows(rows)


def _columns(table: PublishedTable) -> dict[str, Any]:
    """Say how a table is read, as an about.json does."""
    roles = {
        "qi": [column.name for column in table.columns],
        "set": table.set_name,
        "keep": [column.name for column in table.kept],
    }
    return {"format": "table", "roles": roles, "delimiter": table.delimiter}


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
    """Read the draws of a folder, at least one; rows that a long table cannot show come last."""
    about = reconstruction_at(folder)
    entries = _entries(folder)
    if about is None or not entries:
        raise DataError(
            f"{folder} contains no draws.", hint="Name the folder that `setveil reconstruct` wrote."
        )
    return (_read(folder / entry["file"], entry, about["rows"], read_rows) for entry in entries)


def _read(
    path: Path, entry: Mapping[str, Any], n_rows: int, read_rows: Callable[..., Transactions]
) -> Transactions:
    if entry.get("format") == _FACTS:
        return _read_facts(path, entry, n_rows)
    if entry.get("format") == "table":
        roles = entry["roles"]
        how = How(format="csv", separator=",", delimiter=entry["delimiter"])
        rows = read_published_table(path, roles["qi"], roles["set"], roles["keep"], how).sets
    else:
        rows = read_rows(str(path), **reading_of_rows(entry))
    missing = n_rows - rows.n_rows
    if missing < 0 or (missing and "id_column" not in entry):
        raise DataError(
            f"{path} contains {rows.n_rows:,} rows, but its about.json says {n_rows:,}.",
            hint="The files must come from the same reconstruction.",
        )
    indptr = np.concatenate([rows.indptr, np.full(missing, rows.indptr[-1])])
    return replace(rows, indptr=frozen(indptr, np.int64))
