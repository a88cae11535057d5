"""Recognizes archives and files of tables by their first bytes, and unpacks what is compressed."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from setveil.base.errors import DataError, listed
from setveil.base.memory import Unpacked

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
_CHUNK = 1 << 20
_AT_ONCE = 1 << 24  # bytes that are unpacked before their number is looked at


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


def bare_name(name: str) -> str:
    """Omit the suffix of an archive."""
    suffix = Path(name).suffix
    return name.removesuffix(suffix) if suffix.lower() in _SUFFIXES else name


def compression_of(raw: bytes, path: str, name: str) -> str:
    """Say how a file is compressed; "" if it is not."""
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


def archive_of(content: bytes) -> str:
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


def decompressed(raw: bytes, kind: str, name: str) -> bytes:
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


def only_member(raw: bytes, name: str) -> tuple[str, bytes]:
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
