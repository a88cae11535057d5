"""From the path of a file, compressed or not, to its bytes, and from bytes to checked UTF-8."""

from __future__ import annotations

import codecs
import glob
import hashlib
import io
import re
import sys
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from setveil.base.errors import DataError, RequestError, TableError, closest, listed, require_utf8, shorten
from setveil.base.memory import Unpacked
from setveil.rows.data.io.encodings import encoding_of, latin_in, scripts_in

_MAGIC = {
    b"\x1f\x8b": "gzip",
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\x00": "xz",
    b"BZh": "bzip2",
    b"PK\x03\x04": "zip",
    b"PK\x05\x06": "zip",  # one without a member
}
_SUFFIXES = {
    ".gz": "gzip",
    ".zst": "zstd",
    ".zstd": "zstd",
    ".xz": "xz",
    ".bz2": "bzip2",
    ".zip": "zip",
}
_BZIP2 = (b"1AY&SY", b"\x17rE8P\x90")  # what a block, and the end of an empty file, begin with
_OFFICE = b"\xd0\xcf\x11\xe0"
_SAVE = "Save the table as csv, .xlsx or Parquet there."
_WRITE = "Write the table with write.csv or arrow::write_parquet there."
_FOREIGN = {  # what files of other programs begin with
    b"$FL2@(#)": ("a file of SPSS", _SAVE),
    b"$FL3@(#)": ("a file of SPSS", _SAVE),
    b"<stata_dta>": ("a file of Stata", _SAVE),
    b"\0" * 12 + b"\xc2\xea\x81\x60": ("a file of SAS", _SAVE),
    b"HEADER RECORD*******LIB": ("a transport file of SAS", _SAVE),
    b"RDX2\n": ("a file of R", _WRITE),
    b"RDX3\n": ("a file of R", _WRITE),
    b"X\n\0\0": ("a file of R", _WRITE),
    b"SQLite format 3\0": ("a database", 'Ask it: --query "SELECT ..." --connection sqlite:///FILE.'),
    b"ARROW1": ("an Arrow file", "Write it as Parquet, or give it to setveil in Python."),
    b"\x89HDF": ("an HDF5 file", _SAVE),
    b"%PDF-": ("a PDF", "Ask for the table behind it."),
}
_DUCKDB = "a database", 'Ask it: --query "SELECT ..." --connection duckdb:///FILE.'
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: it begins with that mark
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_STATA = range(0x68, 0x74)  # versions 104 to 115
_NOT_CP1252 = (0x81, 0x8D, 0x8F, 0x90, 0x9D)
_LINES_ONLY = re.compile(rb"[^\x00-\x08\x0e-\x1f]*")
_A_LINE = 16  # bytes from which a line end is hardly a part of another sign
_NOT_IN_A_WORD = re.compile(rb"[\s,;|\"\x00]")
_MARKUP = re.compile(
    rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype|html|head|body|table|meta|\?xml)[\s>]", re.IGNORECASE
)
_CHUNK = 1 << 20
_AT_ONCE = 1 << 24  # bytes that are unpacked before their number is looked at


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


@dataclass(frozen=True)
class Text:
    """UTF-8 text without a byte order mark, what to call it in messages, and the encoding of the file."""

    name: str
    content: bytes
    encoding: str = "utf-8"
    left: tuple[int, ...] = ()  # numbers of lines that were skipped, ascending
    settled: bool = False  # whether it was said which lines above and between the data are none
    last_said: bool = False  # whether it was said which last lines are no data
    header_lines: int | None = None  # lines above the data, if that was said
    notes: tuple[str, ...] = ()  # what was skipped

    def where(self, offset: int) -> str:
        """Name the file and the line (from 1) of a byte."""
        return f"{self.name}, line {self.original(line_number(self.content, offset))}"

    def original(self, number: int) -> int:
        """Return the number that a line has in the file, where some were skipped."""
        return number + bisect_right(range(len(self.left)), number, key=lambda at: self.left[at] - at)


def line_number(content: bytes, offset: int) -> int:
    r"""Count the lines up to a byte, from 1; lines end with ``\n``, ``\r\n`` or ``\r``."""
    ends = content.count(b"\n", 0, offset) + content.count(b"\r", 0, offset)
    return ends - content.count(b"\r\n", 0, offset) + 1


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
        compression = _compression(raw, path, name)
        inner = _bare(Path(path).name)
        content = raw
        if compression == "zip":
            member, content = _only_member(raw, name)
            inner = PurePosixPath(member).name
            name = f"{name} ({member})"
        elif compression:
            content = _decompressed(raw, compression, name)
    except MemoryError:
        raise DataError(f"{name} does not fit into memory.", hint="Read it in parts.") from None
    if compression and (what := _archive(content)):
        raise DataError(f"{name} contains {what} once it is unpacked.", hint="Unpack it by hand first.")
    return Source(path, name, content, hashlib.sha256(raw).hexdigest(), compression, inner)


def read_bytes(path: str | Path) -> bytes:
    """Read a file, unpacked if it is compressed, or standard input for ``-``."""
    return open_source(path).content


def is_parquet(content: bytes) -> bool:
    """Return whether the bytes are a whole Parquet file."""
    return len(content) >= 12 and content[:4] == b"PAR1" == content[-4:]


def is_xlsx(content: bytes) -> bool:
    """Return whether the bytes are a spreadsheet of the kind .xlsx."""
    if not content.startswith(b"PK\x03\x04"):
        return False
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            names = archive.namelist()
    except _zip_errors():
        return False
    return any(name.startswith("xl/workbook") and name.endswith(".xml") for name in names)


def marked_encoding(content: bytes) -> str | None:
    """Name the encoding whose byte order mark a text begins with, if it is not UTF-8."""
    return next((wide for mark, wide in _WIDE.items() if content.startswith(mark)), None)


DAMAGED = "The file may be damaged: save it again, as UTF-8."
Ask = Callable[[str], str]  # from an encoding to what `encoding` must be for a file to be read in it


def as_text(content: bytes, name: str, encoding: str | None = None, *, ask: Ask | None = None) -> Text:
    """Check that bytes are text, and turn them into UTF-8 if they are in another encoding.

    Without `encoding` (any that Python knows, also of single files, see `encodings.py`) the text is UTF-8, or
    UTF-16 or UTF-32 if it begins with a byte order mark. Others are never guessed, but offered in the
    message: `ask` writes the value of `encoding` by which a command would read this file.
    """
    encoding = encoding_of(encoding, name) or marked_encoding(content) or "utf-8"
    try:
        utf8 = codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}
    except (LookupError, ValueError):
        raise RequestError(
            f"There is no encoding {shorten(encoding)}.",
            hint="Common ones are utf-8, latin-1, cp1252 and utf-16.",
        ) from None
    if is_xlsx(content):
        raise DataError(f"{name} is a spreadsheet (.xlsx), expected text.", hint="Save its sheet as csv.")
    if what := _archive(content):
        raise DataError(f"{name} is {what}, expected text.", hint="Unpack or export it as text first.")
    if is_parquet(content):
        raise DataError(f"{name} is a Parquet file, expected text.", hint="Read it with --format parquet.")
    what, hint = next(
        (said for magic, said in _FOREIGN.items() if content.startswith(magic)),
        _DUCKDB
        if content[8:12] == b"DUCK"
        else ("a file of Stata", _SAVE)
        if _is_stata(content)
        else ("", ""),
    )
    if what:
        raise DataError(f"{name} is {what}, expected text.", hint=hint)
    if utf8:
        _check(content, name, ask)
    else:
        content = _transcode(content, name, encoding, ask)
    if _MARKUP.match(content):
        raise DataError(
            f"{name} is a web page or XML, expected text with a row or an item on each line.",
            hint="Open it in a spreadsheet program, and save the table as csv or .xlsx.",
        )
    zero = content.find(0)
    if zero >= 0:
        raise DataError(
            f"{name} is a binary file: a zero byte on line {line_number(content, zero)}, expected text.",
            hint="If it is text in another encoding, name it: --encoding utf-16, for instance.",
        )
    return Text(name, content.removeprefix(codecs.BOM_UTF8), "utf-8" if utf8 else encoding)


def _is_stata(content: bytes) -> bool:
    """Return whether the bytes are a Stata file of a version before 117, which data frames still write."""
    return (
        len(content) > 60
        and content[0] in _STATA
        and content[1] in (1, 2)
        and content[2] == 1
        and content[3] == 0
    )


# --- files and folders


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
        kinds.setdefault(Path(_bare(file)).suffix.lower() or "no extension", []).append(file)
    if len(kinds) > 1:
        each = "; ".join(f"{kind}: {listed(names, 3)}" for kind, names in sorted(kinds.items()))
        raise DataError(
            f"The folder {folder} contains files of different kinds ({each}), expected one kind.",
            hint="Name the files to read.",
        )
    return [str(folder / file) for file in files]


def _is_skipped(name: str) -> bool:
    return name.startswith(".") or name == "about.json" or (name.startswith("_") and "." not in name)


def _bare(name: str) -> str:
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in _SUFFIXES else name


# --- archives


def _compression(raw: bytes, path: str, name: str) -> str:
    kind = _magic(raw)
    if kind == "zip" and is_xlsx(raw):
        return ""
    expected = _SUFFIXES.get(Path(path).suffix.lower(), "")
    starts = [magic for magic, kind in _MAGIC.items() if kind == expected]
    if not kind and 0 < len(raw) < 10 and any(raw.startswith(m) or m.startswith(raw) for m in starts):
        raise _damaged(name, expected)  # cut off before it says what it is
    return kind


def _magic(content: bytes) -> str:
    kind = next((kind for magic, kind in _MAGIC.items() if content.startswith(magic)), "")
    return "" if kind == "bzip2" and not content.startswith(_BZIP2, 4) else kind  # BZh alone may be a word


def _archive(content: bytes) -> str:
    """Say what a file is that holds others, or nothing."""
    if content[257:262] == b"ustar":
        return "a tar archive"
    if content.startswith(_OFFICE):
        return "an old Office file (such as .xls) or one with a password"
    kind = _magic(content)
    if kind == "zip" and is_xlsx(content):
        return ""
    return f"a {kind} archive" if kind else ""


def _damaged(name: str, kind: str) -> DataError:
    article = "an" if kind == "xz" else "a"
    return DataError(
        f"{name} is {article} {kind} archive that is damaged or cut off.", hint="Copy or download it again."
    )


def _decompressed(raw: bytes, kind: str, name: str) -> bytes:
    """Unpack all streams of a file; the standard library drops what follows the first and is none."""
    start, errors = _decoder(kind)
    out, room = io.BytesIO(), Unpacked(name)
    decoder = None
    try:
        for at in range(0, len(raw), _CHUNK):
            piece = raw[at : at + _CHUNK]
            while piece:
                if decoder is None or decoder.eof:
                    piece = piece.lstrip(b"\0")  # streams may be padded
                    if not piece:
                        break
                    decoder = start()
                for unpacked in _unpacked(decoder, piece):
                    room.require(out.tell() + len(unpacked))
                    out.write(unpacked)
                piece = decoder.unused_data
    except DataError:
        raise
    except errors:
        raise _damaged(name, kind) from None
    if decoder is None or not decoder.eof:
        raise _damaged(name, kind)
    return out.getvalue()


def _unpacked(decoder: Any, piece: bytes) -> Iterator[bytes]:
    """Unpack a piece of a stream, some bytes at a time: a few may represent gigabytes."""
    while True:
        unpacked = decoder.decompress(piece, _AT_ONCE)
        yield unpacked
        piece = getattr(decoder, "unconsumed_tail", b"")  # the other decoders keep what is left themselves
        if decoder.eof or not (unpacked or piece):
            return


def _decoder(kind: str) -> tuple[Callable[[], Any], tuple[type[Exception], ...]]:
    """Return what starts a decoder, and the errors of damaged files."""
    if kind == "gzip":
        return lambda: zlib.decompressobj(wbits=31), (zlib.error,)
    if kind == "xz":
        import lzma

        return lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ), (lzma.LZMAError,)
    if kind == "bzip2":
        import bz2

        return bz2.BZ2Decompressor, (OSError, ValueError)
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd.ZstdDecompressor, (zstd.ZstdError,)


def _only_member(raw: bytes, name: str) -> tuple[str, bytes]:
    """Name and unpack the one file in a zip archive."""
    import zipfile

    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = [member for member in archive.infolist() if not _is_litter(member.filename)]
            names = [member.filename for member in members]
            if "mimetype" in names or "[Content_Types].xml" in names:
                raise DataError(
                    f"{name} is an Office file that is not read, expected .xlsx.",
                    hint="Save the table as .xlsx or csv.",
                )
            if len(members) != 1:
                holds = f"{len(names)} files: {listed(names)}" if names else "no file"
                raise DataError(
                    f"{name} is a zip archive that contains {holds}, expected one file.",
                    hint="Unpack it and name the files to read." if names else "",
                )
            if members[0].flag_bits & 1:
                raise DataError(
                    f"{name} is a zip archive with a password.", hint="Unpack it and name the file in it."
                )
            Unpacked(name).require(members[0].file_size)  # no more is unpacked than is said there
            return names[0], archive.read(members[0])
    except DataError:
        raise
    except NotImplementedError:
        raise DataError(
            f"{name} is a zip archive that is packed in a way that is not read.",
            hint="Unpack it and name the file in it.",
        ) from None
    except _zip_errors():
        raise _damaged(name, "zip") from None


def _is_litter(member: str) -> bool:
    """Return whether a member of a zip archive is a folder or one of the files that macOS adds."""
    return member.endswith("/") or member.startswith("__MACOSX/") or PurePosixPath(member).name == ".DS_Store"


def _zip_errors() -> tuple[type[Exception], ...]:
    """List what the standard library raises for archives that are damaged."""
    import lzma
    import struct
    import zipfile

    own = (zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error)
    return *own, EOFError, IndexError, NotImplementedError, OSError, OverflowError, ValueError


# --- encodings


def _check(content: bytes, name: str, ask: Ask | None) -> None:
    """Refuse what is not UTF-8."""
    if others := _wide(content):
        wide = others[0][0]
        marked = f"begins with the mark of {wide.upper()}" if marked_encoding(content) else ""
        message = f"{name} {marked or 'seems to be UTF-16 without a byte order mark'}, expected UTF-8"
        raise _question(message, others, ask, f"Add --encoding {wide}.")
    bad = _first_fault(content)
    if bad < 0:
        return
    found = [*encodings_at(content, bad)]
    readings = [f"with --encoding {encoding} it reads {text!r}" for encoding, text in found]
    hint = ", ".join(readings) + "." if readings else "name the encoding that it was saved in: --encoding."
    damaged = "" if content[:bad].isascii() else "the text before is UTF-8, so the file may be damaged here"
    hint = f"{damaged}; {hint}" if damaged else hint
    line = line_number(content, bad)
    raise _question(
        f"{name} is not UTF-8: found byte 0x{content[bad]:02x} at offset {bad:,}, on line {line}",
        [(encoding, f"{text!r} on line {line}") for encoding, text in found],
        ask,
        hint[0].upper() + hint[1:],
        damaged,
    )


def _question(
    message: str, found: Sequence[tuple[str, str]], ask: Ask | None, hint: str, trouble: str = ""
) -> DataError:
    """Make the error that asks for an encoding: by commands if there is an option for that of the file."""
    if ask is None or not found:
        return DataError(f"{message}.", hint=hint)
    return TableError(message, [], [({"encoding": ask(one)}, meaning) for one, meaning in found], trouble)


def _first_fault(content: bytes) -> int:
    """Find the first byte that is not UTF-8; -1 if there is none."""
    if content.isascii():
        return -1
    view = memoryview(content)
    at = 0
    while at < len(content):
        piece = view[at : at + _CHUNK]
        try:
            at += codecs.utf_8_decode(piece, "strict", at + len(piece) == len(content))[1]
        except UnicodeDecodeError as error:
            return at + error.start
    return -1


def _unmarked(content: bytes) -> str:
    """Name the UTF-16 that text without a mark is in, if many bytes at every other place are zero."""
    head = content[: 1 << 16]
    if len(content) % 2 or not head:
        return ""
    even, odd = head[::2].count(0), head[1::2].count(0)
    if 8 * max(even, odd) < len(head) or 8 * min(even, odd) > max(even, odd):
        return ""
    return "utf-16-le" if odd > even else "utf-16-be"


def _wide(content: bytes) -> list[tuple[str, str]]:
    """Name the UTF-16 or UTF-32 that text is in, and what says so; empty: no such encoding."""
    if marked := marked_encoding(content):
        return [(marked, "as its mark says")]
    return [(wide, "every other byte is zero")] if (wide := _unmarked(content)) else []


def encodings_at(content: bytes, bad: int) -> Iterator[tuple[str, str]]:
    """Offer encodings that all of the bytes have a meaning in, with the word at fault as it then reads."""
    if 0 in content:
        return
    start, end = bad, bad + 1
    while start > max(0, bad - 20) and not _NOT_IN_A_WORD.match(content, start - 1):
        start -= 1
    while end < min(len(content), bad + 20) and not _NOT_IN_A_WORD.match(content, end):
        end += 1
    word = content[start:end]
    scripts = scripts_in(content)
    fits = not any(byte in content for byte in _NOT_CP1252)
    for encoding in scripts or ((latin_in(content),) if fits else ("cp850", "mac_roman")):
        yield encoding, word.decode(encoding, "ignore")


def _transcode(content: bytes, name: str, encoding: str, ask: Ask | None) -> bytes:
    """Turn text into UTF-8; refuse an encoding in which it has no meaning, or no line ends."""
    try:
        text = content.decode(encoding)
    except LookupError:
        raise RequestError(f"{shorten(encoding)} is not an encoding of text.") from None
    except UnicodeDecodeError as error:
        found = f"found byte 0x{content[error.start]:02x} at offset {error.start:,}"
        raise _other_encoding(content, encoding, f"{name} is not {encoding}: {found}", ask) from None
    except UnicodeError as error:
        raise DataError(f"{name} is not {encoding}: {error}.", hint="Name another --encoding.") from None
    sure = codecs.lookup(encoding).name.startswith("utf-32")  # other bytes hardly have a meaning in it
    if not (sure or "\n" in text or "\r" in text) and _has_lines(content):
        raise _other_encoding(content, encoding, f"{name} is not {encoding}: it would have no line ends", ask)
    return text.encode()


def _has_lines(content: bytes) -> bool:
    """Return whether bytes have line ends: those of ASCII without other control signs, or those of UTF-16."""
    if len(content) < _A_LINE:
        return False
    if wide := _unmarked(content):
        return "\n" in content.decode(wide, "replace")
    return b"\n" in content and _LINES_ONLY.fullmatch(content) is not None


def _other_encoding(content: bytes, encoding: str, message: str, ask: Ask | None) -> DataError:
    """Make the error that proposes other encodings than the one named, or says that a file is damaged."""
    marked = marked_encoding(content)
    if marked is not None and codecs.lookup(marked).name == codecs.lookup(encoding).name:
        return DataError(f"{message}; by its mark it should be.", hint=DAMAGED)
    others = _wide(content)
    if not others and (bad := _first_fault(content)) >= 0:
        line = line_number(content, bad)
        others = [(one, f"{text!r} on line {line}") for one, text in encodings_at(content, bad)]
    elif not others:
        others = [("utf-8", "all of its bytes are UTF-8")]
    return _question(message, others, ask, "Name another --encoding.")
