"""From a path to checked UTF-8 bytes."""

from __future__ import annotations

import codecs
import difflib
import sys
from dataclasses import dataclass
from pathlib import Path

from setveil.errors import DataError, RequestError, shorten

_MAGIC = {
    b"\x1f\x8b": "a gzip archive",
    b"PK\x03\x04": "a zip archive (Excel's .xlsx is one)",
    b"\xd0\xcf\x11\xe0": "an old Office file (such as .xls)",
    b"\xfd7zXZ\x00": "an xz archive",
    b"\x28\xb5\x2f\xfd": "a zstd archive",
}
_WIDE = {
    codecs.BOM_UTF32_LE: "utf-32",  # before UTF-16: it begins with that mark
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_CHUNK = 1 << 20


@dataclass(frozen=True)
class Text:
    """UTF-8 text without a byte order mark, and what to call it in messages."""

    name: str
    content: bytes

    def where(self, offset: int) -> str:
        """Name the file and the line (from 1) of a byte."""
        return f"{self.name}, line {line_number(self.content, offset)}"


def line_number(content: bytes, offset: int) -> int:
    r"""Count the lines up to a byte, from 1; lines end with ``\n``, ``\r\n`` or ``\r``."""
    ends = content.count(b"\n", 0, offset) + content.count(b"\r", 0, offset)
    return ends - content.count(b"\r\n", 0, offset) + 1


def read_bytes(path: str | Path) -> bytes:
    """Read a file, or standard input for ``-``."""
    if str(path) == "-":
        return sys.stdin.buffer.read()
    path = Path(path)
    if path.is_dir():
        if (path / "published").is_dir() or (path / "internal").is_dir():
            hint = "The verify and measure commands take this folder, others want the file in its published/."
        else:
            hint = "Name a file in it."
        raise DataError(f"{path} is a folder, expected a file of transactions.", hint=hint)
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError(f"There is no file {path}.", hint=_similar(path)) from None
    except PermissionError:
        raise DataError(f"{path} may not be read.", hint="Ask for read permission.") from None
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None


def _similar(path: Path) -> str:
    if not path.parent.is_dir():
        return f"The folder {path.parent} does not exist either."
    try:
        close = difflib.get_close_matches(path.name, [p.name for p in path.parent.iterdir()], 1)
    except OSError:
        close = []
    return f"Did you mean {path.with_name(close[0])}?" if close else "Check the path."


def is_parquet(content: bytes) -> bool:
    """Whether the bytes are a whole Parquet file."""
    return len(content) >= 12 and content[:4] == b"PAR1" == content[-4:]


def as_text(content: bytes, name: str, encoding: str = "utf-8") -> Text:
    """Check that bytes are text, and turn them into UTF-8 if they are in another encoding."""
    try:
        utf8 = codecs.lookup(encoding).name in {"utf-8", "utf-8-sig"}
    except (LookupError, ValueError):
        raise RequestError(
            f"There is no encoding {shorten(encoding)}.",
            hint="Common ones are utf-8, latin-1, cp1252 and utf-16.",
        ) from None
    what = next((text for magic, text in _MAGIC.items() if content.startswith(magic)), "")
    if what:
        raise DataError(f"{name} is {what}, expected text.", hint="Unpack or export it as text first.")
    if is_parquet(content):
        raise DataError(f"{name} is a Parquet file, expected text.", hint="Read it with --format parquet.")
    if utf8:
        _check(content, name)
    else:
        content = _transcode(content, name, encoding)
    zero = content.find(0)
    if zero >= 0:
        raise DataError(
            f"{name} is a binary file: a zero byte on line {line_number(content, zero)}, expected text.",
            hint="If it is text in another encoding, name it: --encoding utf-16, for instance.",
        )
    return Text(name, content.removeprefix(codecs.BOM_UTF8))


def _check(content: bytes, name: str) -> None:
    wide = next((encoding for mark, encoding in _WIDE.items() if content.startswith(mark)), "")
    if wide:
        raise DataError(
            f"{name} begins with the mark of {wide.upper()}, expected UTF-8.", hint=f"Add --encoding {wide}."
        )
    if content.isascii():
        return
    view = memoryview(content)
    at = 0
    while at < len(content):
        piece = view[at : at + _CHUNK]
        try:
            at += codecs.utf_8_decode(piece, "strict", at + len(piece) == len(content))[1]
        except UnicodeDecodeError as error:
            bad = at + error.start
            raise DataError(
                f"{name} is not UTF-8: found byte 0x{content[bad]:02x} at offset {bad:,}, "
                f"on line {line_number(content, bad)}.",
                hint="Name the file's encoding: --encoding latin-1, for instance.",
            ) from None


def _transcode(content: bytes, name: str, encoding: str) -> bytes:
    try:
        return content.decode(encoding).encode()
    except LookupError:
        raise RequestError(f"{shorten(encoding)} is not an encoding of text.") from None
    except UnicodeDecodeError as error:
        found = f"found byte 0x{content[error.start]:02x} at offset {error.start:,}"
        raise DataError(f"{name} is not {encoding}: {found}.", hint="Name another --encoding.") from None
    except UnicodeError as error:
        raise DataError(f"{name} is not {encoding}: {error}.", hint="Name another --encoding.") from None
