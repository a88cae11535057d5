"""A run's folder: written beside its place and renamed into it, so that it is complete or not there."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil.data.io import save
from setveil.data.io.layout import Layout
from setveil.data.transactions import Transactions
from setveil.data.vocabulary import Vocabulary
from setveil.errors import DataError, OutputError, listed, shorten
from setveil.published.group_files import DATA_FILE, GROUPS_FILE, write_grouped
from setveil.published.groups import Grouping
from setveil.published.recoding import AnyRecoding, LocalRecoding, Recoding, standing_for
from setveil.published.rows import Release
from setveil.report.models import words_for
from setveil.report.run.page import report_html
from setveil.staging import staged_folder

PAGE = "report.html"
_DATA = re.compile(r"published/data\.[a-z]+")
_FILES = {
    "published/about.json",
    "published/groups.csv",
    "published/report.html",
    "internal/recoding.csv",
    "internal/rows.csv",
    "internal/report.json",
    "internal/report.html",
}


def require_writable(out: Path, *, force: bool = False) -> None:
    """Refuse an output folder that cannot be written, before any work is done.

    Raises
    ------
    OutputError
        If `out` is a file, a folder with something in it (without `force`: anything; with `force`: anything
        that is not a folder of an earlier run), or lies where nothing can be written.
    """
    if len(os.fsencode(out.absolute().name)) > 255:
        raise OutputError(
            f"The name of the output folder is longer than file systems allow: {shorten(out.name)}."
        )
    if out.is_symlink() or (out.exists() and not out.is_dir()):
        raise OutputError(f"{out} exists and is not a folder.", hint="Choose another --out.")
    if out.is_dir() and any(out.iterdir()):
        if not force:
            raise OutputError(
                f"The output folder {out} exists and is not empty.", hint="Choose another --out, or --force."
            )
        found = {p.relative_to(out).as_posix() for p in out.rglob("*") if not p.is_dir()}
        extra = sorted(name for name in found if name not in _FILES and not _DATA.fullmatch(name))
        if extra or "internal/report.json" not in found:
            what = f"it holds {listed(extra)}" if extra else "it holds no internal/report.json"
            raise OutputError(
                f"--force replaces only folders that setveil wrote, and {out} is not one: {what}.",
                hint="Choose another --out, or remove the folder yourself.",
            )
    parent = next(p for p in (out.absolute().parent, *out.absolute().parents) if p.exists())
    try:
        with tempfile.TemporaryFile(dir=parent):
            pass
    except OSError as error:
        raise OutputError(
            f"Nothing can be written in {parent}: {error.strerror}.", hint="Choose another --out."
        ) from error


def write_folder(
    release: Release,
    report: dict[str, Any],
    layout: Layout,
    out: Path,
    *,
    force: bool = False,
    external: bool = False,
) -> dict[str, Any]:
    """Write the folder of a run (see docs/formats.md) and return its report as written.

    The report gains `published` (the file and its size) and the time that writing took. With `external` the
    published folder gets a page about the release that may be handed out, too (see docs/report.md).

    Raises
    ------
    OutputError
        If the folder exists, or the disk is full, or nothing can be written there; then nothing is left
        behind.
    """
    start = time.perf_counter()
    out = Path(out)
    require_writable(out, force=force)
    try:
        with staged_folder(out) as folder:
            published, internal = folder / "published", folder / "internal"
            published.mkdir()
            internal.mkdir()
            if isinstance(release.recoding, Grouping):
                name, read_as = DATA_FILE, {"format": "grouped"}
                write_grouped(published, release.recoding.published(release.published))
            else:
                name, read_as = f"data{layout.extension}", layout.options()
                save(release.published, published / name, layout)
            report = report | {
                "published": {
                    "file": name,
                    "layout": read_as,
                    "rows": release.published.n_rows,
                    "empty_rows": int((release.published.row_lengths() == 0).sum()),
                    "items": release.published.n_items,
                    "occurrences": release.published.n_occurrences,
                    **({"report": PAGE} if external else {}),
                }
            }
            _write_json(published / "about.json", _about(release, report))
            if isinstance(release.recoding, Recoding):
                _write_recoding(internal / "recoding.csv", release.recoding)
            _write_row_map(internal / "rows.csv", release.row_map)
            _write_text(internal / PAGE, report_html(report))
            if external:
                _write_text(published / PAGE, report_html(report, external=True))
            report["timing"] = report["timing"] | {"write": round(time.perf_counter() - start, 4)}
            _write_json(internal / "report.json", report)
    except (OSError, OutputError) as failure:
        error = failure if isinstance(failure, OSError) else failure.__context__
        reason = "the disk is full" if getattr(error, "errno", 0) == errno.ENOSPC else _reason(error)
        raise OutputError(
            f"The output folder {out} cannot be written: {reason}. Nothing was left behind.",
            hint="Free some space or choose another --out.",
        ) from failure
    return report


def _reason(error: BaseException | None) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _about(release: Release, report: dict[str, Any]) -> dict[str, Any]:
    """Everything a reader of the published rows needs, and nothing that must stay inside."""
    recoding = release.recoding
    if isinstance(recoding, Grouping):
        means: dict[str, Any] = {"groups_file": GROUPS_FILE}
    else:
        own, members = set(recoding.items.labels), recoding.members()
        used = [label for label in release.published.vocabulary.labels if label not in own]
        means = {"domain": recoding.domain, "labels": {label: members[label] for label in used}}
    promised = ("model", *words_for(report["guarantee"]).parameters)
    return {
        "setveil": report["setveil"],
        "guarantee": {key: report["guarantee"][key] for key in promised if key in report["guarantee"]},
        "algorithm": report["algorithm"]["name"],
        "file": report["published"]["file"],
        **report["published"]["layout"],
        "rows": report["published"]["rows"],
        "empty_rows": report["published"]["empty_rows"],
        "recoding": recoding.kind,
        **means,
    }


def _write_text(path: Path, content: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(content)


def _write_json(path: Path, content: dict[str, Any]) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
        file.write("\n")


def _write_recoding(path: Path, recoding: Recoding) -> None:
    labels = (*recoding.published.labels, "")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("item", "published"))
        writer.writerows(
            (item, labels[to])
            for item, to in zip(recoding.items.labels, recoding.image.tolist(), strict=True)
        )


def _write_row_map(path: Path, row_map: NDArray[np.int64]) -> None:
    rows = "\n".join(map("%d,%d".__mod__, enumerate(row_map.tolist())))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(f"input_row,published_row\n{rows}\n" if rows else "input_row,published_row\n")


def published_file(path: Path) -> Path:
    """Find the file with the published rows: `path` itself, or the one in a run's folder or its `published`.

    Raises
    ------
    DataError
        If a folder holds no published data.
    """
    if not path.is_dir():
        return path
    for folder in (path / "published", path):
        found = sorted(folder.glob("data.*"))
        if len(found) == 1:
            return found[0]
    raise DataError(
        f"{path} is a folder without published data: expected published/data.* or data.* in it.",
        hint="Name the file itself, or the folder that `setveil anonymize` wrote.",
    )


def published_layout(file: Path) -> dict[str, str]:
    """Read from about.json beside a published file how that file is to be read; {} where there is none."""
    about = file.parent / "about.json"
    if not about.is_file():
        return {}
    content = _read_about(about)
    return {
        key: content[key] for key in ("format", "separator", "id_column", "item_column") if key in content
    }


def _read_about(about: Path) -> dict[str, Any]:
    try:
        with about.open(encoding="utf-8") as file:
            content = json.load(file)
        content["labels"] if content.get("recoding") != "grouped" else content["groups_file"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(f"{about} is not an about.json that setveil wrote: {error}.") from error
    return content  # type: ignore[no-any-return]


def read_meaning(about: Path, original: Transactions, published: Transactions) -> AnyRecoding:
    """Read from about.json what the published labels stand for.

    Where the recoding is local, what each occurrence became is found with the run's internal/rows.csv.

    Parameters
    ----------
    about : path
        The file.
    original, published : Transactions
        An item of the original that is neither a published label nor stands behind one was suppressed.

    Raises
    ------
    DataError
        If the file, or the map of the rows, is missing or damaged.
    """
    content = _read_about(about)
    labels, domain = content["labels"], int(content["domain"])
    if content.get("recoding", "global") == "global":
        return recoding_of(original, published, labels, domain)
    row_map = _read_row_map(about.parent.parent / "internal" / "rows.csv", original.n_rows, published.n_rows)
    return _local_recoding_of(original, published, labels, domain, row_map)


def _read_row_map(path: Path, n_rows: int, n_published: int) -> NDArray[np.int64]:
    if not path.is_file():
        raise DataError(
            f"{path} is missing: in this release an item may be published under several labels, so that only "
            "the map of the rows tells what it became.",
            hint="Measure the run's whole folder.",
        )
    try:
        with path.open(encoding="utf-8") as file:
            table = np.loadtxt(file, np.int64, delimiter=",", skiprows=1, ndmin=2)
    except ValueError as error:
        raise DataError(f"{path} is no map of rows: {error}.") from error
    row_map = table.reshape(-1, 2)[:, 1]
    if row_map.size != n_rows or ((row_map < 0) | (row_map >= n_published)).any():
        raise DataError(
            f"{path} maps {row_map.size:,} rows, but there are {n_rows:,} in the original and "
            f"{n_published:,} in the release.",
            hint="Is this the release of another file?",
        )
    return row_map


def _local_recoding_of(
    original: Transactions,
    published: Transactions,
    members: dict[str, list[str]],
    domain: int,
    row_map: NDArray[np.int64],
) -> LocalRecoding:
    """Find, for each occurrence, the label of its published row that stands for it."""
    inside = [members.get(label, [label]) for label in published.vocabulary.labels]
    items = Vocabulary(dict.fromkeys([*original.vocabulary.labels, *(x for part in inside for x in part)]))
    starts = np.cumsum([0, *map(len, inside)])
    ids = items.ids
    label_items = np.array([i for part in inside for i in sorted(ids[x] for x in part)], np.int32)
    recoding = LocalRecoding(items, published.vocabulary, starts, label_items, np.zeros(0, np.int32), domain)
    labels, ends = standing_for(original, items, recoding.memberships())
    rows = np.repeat(np.arange(published.n_rows), published.row_lengths())
    there = np.repeat(np.repeat(row_map, original.row_lengths()), np.diff(ends))
    found = np.isin(there * len(inside) + labels, rows * len(inside) + published.items)
    image = np.full(original.n_occurrences, -1, np.int32)
    image[np.repeat(np.arange(original.n_occurrences), np.diff(ends))[found]] = labels[found]
    return replace(recoding, image=image)


def recoding_of(
    original: Transactions, published: Transactions, members: dict[str, list[str]], domain: int
) -> Recoding:
    """Make the recoding that turns the original's items into labels with these members."""
    labels = [*published.vocabulary.labels, *(x for x in members if x not in published.vocabulary.ids)]
    position = {label: i for i, label in enumerate(labels)}
    image = {item: position[label] for label, items in members.items() for item in items}
    for label in published.vocabulary.labels:
        if label not in members:
            image.setdefault(label, position[label])
    for item in original.vocabulary.labels:
        image.setdefault(item, -1)
    return Recoding(
        Vocabulary(image), Vocabulary(labels), np.fromiter(image.values(), np.int32, len(image)), domain
    )
