"""Files and folders that are named, and the bytes of a file, unpacked."""

from __future__ import annotations

import glob
import hashlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from setveil.base.errors import DataError, RequestError, closest, listed, require_utf8
from setveil.rows.data.io.archives import archive_of, bare_name, compression_of, decompressed, only_member


@dataclass(frozen=True)
class Source:
    """The bytes of an input, unpacked."""

    path: str  # as given; ``-`` is standard input
    name: str  # what to call it in messages: ``standard input``, ``codes.csv.gz``, ``export.zip (codes.csv)``
    content: bytes  # unpacked, where the file is compressed
    sha256: str  # in hexadecimal, of the file as it lies there
    compression: str  # {"", "gzip", "zstd", "xz", "bzip2", "zip"}: how it is compressed
    # the file name whose extension tells the format: ``codes.csv`` for ``codes.csv.gz``, the member's name
    # for a zip archive, ``-`` for standard input
    inner: str


def gather(paths: Sequence[str]) -> list[str]:
    """List the files to read: a folder represents the files in it, by name, and so does a pattern (``*?[``).

    Subfolders are not entered. Hidden files are omitted, and what programs put next to data: files such as
    ``_SUCCESS`` (a leading underscore and no extension) and the ``about.json`` of a release.
    """
    if "-" in paths and len(paths) > 1:
        raise RequestError(
            "Standard input is read together with other inputs, expected it alone.",
            hint="Omit the -, or save that input as a file.",
        )
    found: dict[Path | str, str] = {}
    for path in paths:
        for file in _named_by(path):
            require_utf8(file)
            own = file if file == "-" else Path(file).resolve()
            if own in found:
                named = file if found[own] == file else f"{found[own]} and {file}"
                raise RequestError(f"A file is named twice: {named}.", hint="Its rows would count twice.")
            found[own] = file
    return list(found.values())


def _named_by(path: str) -> list[str]:
    if path == "-" or Path(path).is_file():
        return [path]
    if Path(path).is_dir():
        return _files(Path(path))
    return sorted(glob.glob(path)) or [path]  # noqa: PTH207  (a Path has no absolute patterns)


def file_of(source: object) -> Source | None:
    """Open a file that is named, or return it if it is open; None: the source is no file."""
    if isinstance(source, str | Path):
        return open_source(source)
    return source if isinstance(source, Source) else None


def open_source(path: str | Path) -> Source:
    """Read a file, or standard input for ``-``, and unpack it if its bytes say that it is compressed.

    A zip archive must hold one file. Spreadsheets (.xlsx) and Parquet files are left as they are. What is
    compressed twice is unpacked once and then refused.
    """
    path = str(path)
    name = "standard input" if path == "-" else path
    try:
        raw = sys.stdin.buffer.read() if path == "-" else _read(Path(path))
        compression = compression_of(raw, path, name)
        inner = bare_name(Path(path).name)
        content = raw
        if compression == "zip":
            member, content = only_member(raw, name)
            inner = PurePosixPath(member).name
            name = f"{name} ({member})"
        elif compression:
            content = decompressed(raw, compression, name)
    except MemoryError:
        raise DataError(f"{name} does not fit into memory.", hint="Read it in parts.") from None
    if compression and (what := archive_of(content)):
        raise DataError(f"{name} contains {what} once it is unpacked.", hint="Unpack it by hand first.")
    return Source(path, name, content, hashlib.sha256(raw).hexdigest(), compression, inner)


def read_bytes(path: str | Path) -> bytes:
    """Read a file, unpacked if it is compressed, or standard input for ``-``."""
    return open_source(path).content


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path} is a folder, expected a file.", hint=_run_hint(path) or "Name a file in it.")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.", hint=_similar(path)) from None
    except PermissionError:
        raise DataError(f"{path} may not be read.", hint="Ask for read permission.") from None
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        raise DataError(f"{path} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _run_hint(folder: Path) -> str:
    if (folder / "published").is_dir() or (folder / "internal").is_dir():
        return "The verify and measure commands take this folder, others want the file in its published/."
    return ""


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {path.parent} does not exist either."
    try:
        close = closest(path.name, [p.name for p in path.parent.iterdir()])
    except OSError:
        close = []
    return f"Did you mean {path.with_name(close[0])}?" if close else "Check the path."


def _files(folder: Path) -> list[str]:
    if hint := _run_hint(folder):
        raise DataError(f"{folder} is the folder of a run, expected a folder of data.", hint=hint)
    try:
        files = sorted(
            path.name for path in folder.iterdir() if not path.is_dir() and not _is_skipped(path.name)
        )
    except OSError as error:
        raise DataError(f"The folder {folder} cannot be read: {error.strerror or error}.") from None
    if not files:
        raise DataError(
            f"The folder {folder} contains no file of data.", hint="Files in its subfolders are not read."
        )
    kinds: dict[str, list[str]] = {}
    for file in files:
        kinds.setdefault(Path(bare_name(file)).suffix.lower() or "no extension", []).append(file)
    if len(kinds) > 1:
        each = "; ".join(f"{kind}: {listed(names, 3)}" for kind, names in sorted(kinds.items()))
        raise DataError(
            f"The folder {folder} contains files of different kinds ({each}), expected one kind.",
            hint="Name the files to read.",
        )
    return [str(folder / file) for file in files]


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name == "about.json" or (name.startswith("_") and "." not in name)
