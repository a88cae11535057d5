"""A run's folder: written next to its place and renamed into it, so that it is complete or not there."""

from __future__ import annotations

import errno
import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from setveil.base.errors import (
    DataError,
    GuaranteeError,
    OutputError,
    RequestError,
    SetveilError,
    listed,
    require_utf8,
    shorten,
)
from setveil.base.staging import keep_private, private_folder, staged_folder
from setveil.judges.guarantees import Facts
from setveil.releases.published import KindInfo, Outcome, Release, kind_named
from setveil.releases.published.item_parts import FILES as PARTS
from setveil.releases.published.shared import counts_beside
from setveil.releases.recipients import FILES as CHECKER
from setveil.releases.recipients import put_certificate, put_checker
from setveil.report.models import words_for
from setveil.report.record import PublishedEntry, Record
from setveil.report.run.folder import is_of_a_run
from setveil.report.run.page import report_html
from setveil.rows.data.io.rows import read
from setveil.rows.data.layout import Layout
from setveil.rows.data.personal import Personal
from setveil.rows.data.sums import Sums
from setveil.runs._row_lines import numbered_lines
from setveil.runs.last_check import require_nothing_personal
from setveil.runs.memory import peak_memory_mb
from setveil.runs.steps import timed

PAGE, REPORT = "report.html", "report.json"
IN_ABOUT: tuple[Literal["release", "of", "k", "m", "known", "presence"], ...] = (  # of a series
    "release", "of", "k", "m", "known", "presence"
)  # fmt: skip
_ROOM = "Free some space or choose another --out."
_LINES = 1 << 18  # of rows.csv that are made at once


def require_writable(out: Path, *, force: bool = False) -> None:
    """Refuse an output folder that cannot be written, before any work is done."""
    require_utf8(out)
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
        extra = sorted(name for name in found if not is_of_a_run(name))
        if extra or "internal/report.json" not in found:
            what = f"it contains {listed(extra)}" if extra else "it contains no internal/report.json"
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


def require_shareable(kind: KindInfo, *, external: bool) -> None:
    """Refuse a page to be shared that compares with the original what may not be compared outside."""
    if external and not kind.compared_outside:
        raise RequestError(
            f"There is no page to share for {kind.title}: its figures would compare them with the true "
            "data, and reveal more than the guarantee allows.",
            hint="Omit --external. docs/groups.md says which figures of such a release can be shared.",
        )


@contextmanager
def new_folder(
    out: Path, personal: Personal | Callable[[], Personal], *, force: bool = False, hint: str = _ROOM
) -> Iterator[tuple[Path, Path]]:
    """Provide `published` and `internal` of a new folder, and put it in place, complete, if all goes well.

    It is the only way to make a folder with published files, so that all of them are checked last for what
    belongs to a single person in the input (`personal`, or a callable that finds it once all is written).
    `hint`: for folders that cannot be written.
    """
    require_writable(out, force=force)
    try:
        with staged_folder(out) as folder:
            published, internal = folder / "published", folder / "internal"
            published.mkdir()
            private_folder(internal)
            yield published, internal
            require_nothing_personal(published, personal() if callable(personal) else personal)
            keep_private(internal)
    except (OSError, OutputError) as failure:
        if isinstance(failure, OutputError) and failure.__context__ is None:
            raise  # it says itself what is wrong
        raise _not_written(out, failure, hint) from failure


def write_folder(
    release: Release,
    report: Record,
    layout: Layout,
    out: Path,
    personal: Personal,
    *,
    force: bool = False,
    external: bool = False,
    checker: bool = False,
) -> Record:
    """Write the folder of a run in memory (see docs/formats.md) and return its report as written.

    The release was verified in memory. Before the folder is put in place, its published files are read again,
    as by a recipient, and must contain exactly what was verified. The report gains `published` (file and
    size), the time of writing and the memory until then. `external`: a page that may be shared
    (docs/report.md). `checker`: two programs for recipients.
    """
    require_shareable(release.info, external=external)
    report = {**report, "timing": dict(report["timing"])}
    with new_folder(Path(out), personal, force=force) as (published, internal):
        with timed(report["timing"], "write"):
            release = release.arranged(layout)
            file = release.write(published, layout)
            report = fill(
                release, report, published, internal, file, personal, out=Path(out), external=external,
                checker=checker,
            )  # fmt: skip
            _require_as_verified(release, published)
            _write_row_map(internal / "rows.csv", release.info.mapped_to, release.row_map)
        report["peak_memory_mb"] = peak_memory_mb()  # to read the written files again may take the most
        write_json(internal / REPORT, report)
    return report


def fill(
    release: Outcome,
    report: Record,
    published: Path,
    internal: Path,
    file: tuple[str, dict[str, Any]],
    personal: Personal,
    *,
    out: Path,
    external: bool,
    checker: bool = False,
) -> Record:
    """Write what is next to the published rows: all but the record, which gains `published` and is returned.

    `file`: the file or folder of the rows, and how to read it. `personal`: must not be published; the record
    names its columns that were named as no IDs. `out`: where the folder will be: releases of the same input
    next to it are named.
    """
    if personal.not_ids:
        report = {**report, "not_ids": [*personal.not_ids]}
    report = {**report, "published": _published_as(published, *file, release, external=external)}
    if checker:
        report["published"]["checker"] = [*CHECKER]
    about = _about_of(release, report)
    write_json(published / "about.json", about)
    if checker:
        put_checker(published, about)
    release.write_inside(internal)
    if others := releases_of_same_input(out, report, internal):
        report["same_input"] = others
    if (certificate := release.details.get("certificate")) is not None:
        put_certificate(internal, certificate, about)
    _write_text(internal / PAGE, report_html(report))
    if external:
        _write_text(published / PAGE, report_html(report, external=True))
    return report


def _not_written(out: Path, failure: OSError | OutputError, hint: str) -> OutputError:
    """Say that an output folder could not be written, and why."""
    error = failure if isinstance(failure, OSError) else failure.__context__
    reason = "the disk is full" if getattr(error, "errno", 0) == errno.ENOSPC else _reason(error)
    return OutputError(
        f"The output folder {out} cannot be written: {reason}. Nothing was left behind.",
        hint=hint,
    )


def _published_as(
    folder: Path, name: str, layout: dict[str, str | list[str]], release: Outcome, *, external: bool
) -> PublishedEntry:
    """Say which file holds the published rows, or which files, and how many rows there are."""
    entry: PublishedEntry = {"file": name, "layout": layout, **counts(release.published)}
    if (folder / name).is_dir():
        entry["files"] = sorted(f"{name}/{file.name}" for file in (folder / name).iterdir())
    if release.classes_published:
        entry["classes"] = release.classes_published
    if external:
        entry["report"] = PAGE
    return entry


def counts(rows: Sums) -> PublishedEntry:
    """Count rows, empty rows, items and occurrences."""
    return {
        "rows": rows.n_rows,
        "empty_rows": rows.n_rows - rows.filled_rows,
        "items": rows.n_items,
        "occurrences": rows.n_occurrences,
    }


def _require_as_verified(release: Release, published: Path) -> None:
    """Read published files again and compare them with what was verified, to the last row."""
    hint = "This is a defect of setveil; please report it. Another --format may do."
    try:
        as_published = partial(read, published=True)  # in which a label NA is no missing value
        again = kind_named(release.info.shown.kind).read(str(published), as_published)
        counts = counts_beside(str(published))[0]
    except SetveilError as error:
        if not release.published.n_rows:
            raise DataError(
                "The release has no rows, and a file of none is one that may have lost them.",
                hint="Anonymize at least one row, which may be empty.",
            ) from error
        raise GuaranteeError(
            f"What was written cannot be read again: {error} Nothing was left behind.", hint=hint
        ) from error
    same = release.exposed().shows(again) and (None if counts is None else counts.lines()) == (
        None if release.counts is None else release.counts.lines()
    )
    if not same:
        raise GuaranteeError(
            f"What was written is not what was verified: {release.published.n_rows:,} rows of "
            f"{release.published.n_items:,} labels. Nothing was left behind.",
            hint=hint,
        )


def _reason(error: BaseException | None) -> str:
    return (isinstance(error, OSError) and error.strerror) or str(error)


def _about_of(release: Outcome, report: Record) -> dict[str, Any]:
    """Everything a reader of the published rows needs, and nothing that is internal."""
    guarantee: Facts = report["guarantee"]
    written: Mapping[str, object] = report["published"]
    promised = ("model", *words_for(guarantee).parameters)
    return {
        "setveil": report["setveil"],
        "guarantee": {key: guarantee[key] for key in promised if key in guarantee},
        **({"rows_are": guarantee["rows_are"]} if "rows_are" in guarantee else {}),
        "algorithm": report["algorithm"]["name"],
        **{key: written[key] for key in ("file", "files") if key in written},
        **report["published"]["layout"],
        "rows": report["published"]["rows"],
        "empty_rows": report["published"]["empty_rows"],
        "recoding": release.recoding.kind,
        **({"series": {key: report["series"][key] for key in IN_ABOUT}} if "series" in report else {}),
        **release.about(report),
    }


def _write_text(path: Path, content: str) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.write(content)


def write_json(path: Path, content: Mapping[str, Any]) -> None:
    """Write a record, indented."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        json.dump(content, file, ensure_ascii=False, indent=2)
        file.write("\n")


def _write_row_map(path: Path, mapped_to: str, row_map: NDArray[np.int64]) -> None:
    with path.open("wb") as file:
        file.write(f"input_row,{mapped_to}\n".encode())
        for first in range(0, row_map.size, _LINES):
            file.write(numbered_lines(first, row_map[first : first + _LINES]))


_MOST_NEIGHBOURS = 500  # folders next to a release that are looked into
_RECODINGS = "recoding.csv", "qi_recoding.csv"  # what items and values became, if the recoding is global


def releases_of_same_input(out: Path, report: Mapping[str, Any], internal: Path) -> list[str]:
    """Name the releases next to the folder `out` whose input is the same and whose labels are others.

    Each satisfies its guarantee alone; an attacker who has two of them may find people by both.
    """
    wanted = report["input"].get("sha256")
    if not wanted:
        return []
    found = []
    for path in sorted(out.absolute().parent.glob(f"[!.]*/internal/{REPORT}"))[:_MOST_NEIGHBOURS]:
        try:
            other = json.loads(path.read_bytes())
            same = other["input"]["sha256"] == wanted
        except (OSError, ValueError, KeyError, TypeError, RecursionError):  # no record of a run
            continue
        if (
            same
            and path.parents[1] != out.absolute()
            and not _same_labels(report, internal, other, path.parent)
        ):
            found.append(path.parents[1].name)
    return found


def _same_labels(
    report: Mapping[str, Any], internal: Path, other: Mapping[str, Any], other_internal: Path
) -> bool:
    """Say whether two releases of the same rows publish the same labels, whatever the order and format."""
    mine, theirs = ([_content(place / name) for name in _RECODINGS] for place in (internal, other_internal))
    if any(mine) or any(theirs):
        return mine == theirs
    return _parts(internal) == _parts(other_internal) and _figures(report) == _figures(other)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _parts(internal: Path) -> list[tuple[bytes, ...]]:
    """List what items became in each part of the rows, whatever the numbers of the parts."""
    parts: dict[bytes, list[bytes]] = {}
    for line in _content(internal / PARTS[0]).splitlines()[1:]:
        number, _, label = line.partition(b",")
        parts.setdefault(number, []).append(label)
    return sorted(map(tuple, parts.values()))


def _figures(report: Mapping[str, Any]) -> object:
    """Collect what a record says of a local recoding, which no single file describes."""
    named = ("recoding", "suppressed", "labels", "several_labels", "table", "chunks", "blocks", "facts")
    published = report.get("published") or {}
    figures = {name: report.get(name) for name in named} | {
        "algorithm": report["algorithm"]["name"], "ncp": (report.get("utility") or {}).get("ncp"),
        **{name: published.get(name) for name in ("rows", "empty_rows", "items", "occurrences")},
    }  # fmt: skip
    return json.loads(json.dumps(figures, default=str))
