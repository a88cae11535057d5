"""From the bytes of a file to checked UTF-8."""

from __future__ import annotations

import codecs
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from setveil.base.errors import DataError, RequestError, TableError, shorten
from setveil.rows.data.io.archives import archive_of, is_parquet, is_xlsx
from setveil.rows.data.io.encodings import encoding_of, latin_in, scripts_in

HEAD = 1 << 20  # bytes that tell whether a text is a dump
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
    if what := archive_of(content):
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
