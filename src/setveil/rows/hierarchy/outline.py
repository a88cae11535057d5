"""What a hierarchy file says: ARX csv, Amnesia text and Amnesia JSON, before anyone has checked it."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from setveil.base.errors import (
    DataError,
    HierarchyError,
    RequestError,
    TableError,
    listed,
    shorten,
    unreadable,
)
from setveil.base.plain_json import read_json_with
from setveil.rows.data.io.decoded import encodings_at
from setveil.rows.data.io.encodings import encoding_of, is_named_for, with_encoding
from setveil.rows.hierarchy.nested import ObjectMembers, leaf_paths, said_of_keys

_OTHER_SEPARATORS = "\t|,"
_BULLET = re.compile(r"\s*[-*•]\s+")


@dataclass(frozen=True)
class FileProblem:
    """One thing that is wrong with a hierarchy.

    >>> print(FileProblem(12, "'apple' has two parents: 'fruit' (line 3) and 'food'"))
    line 12: 'apple' has two parents: 'fruit' (line 3) and 'food'
    """

    line: int | None  # line of the file, counted from 1; None if no line is wrong
    message: str  # what is wrong, naming the labels and the other lines that take part

    def __str__(self) -> str:
        return self.message if self.line is None else f"line {self.line}: {self.message}"


Paths = list[tuple[int | None, list[str]]]


@dataclass
class Outline:
    """What a hierarchy file says, before anyone has checked it."""

    # whether each path leads from an item to the root (csv); otherwise it links one child to its parent
    whole: bool
    # list of (line, labels): labels that lead upwards, at least one, none of them empty
    paths: Paths = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)  # what could not be read as a path
    sha256: str = ""  # of the bytes of the file, in hexadecimal
    encoding: str = "utf-8"  # of the file
    rows: list[tuple[int, list[str]]] = field(default_factory=list)  # of a csv: lines and their fields
    notes: list[str] = field(default_factory=list)  # how it was read, where it is no plain hierarchy


def parse(path: str | os.PathLike[str], *, encoding: str, separator: str | None) -> Outline:
    """Read what a hierarchy file says without asking whether it is a tree."""
    path = Path(path)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise RequestError(
            f"The separator is {separator!r}, expected one character other than a quote or a line break."
        )
    raw = _content(path)
    used = _encoding(raw, path, encoding)
    outline = _parse(_decoded(raw, path, used, encoding), path, separator)
    outline.encoding = used
    outline.sha256 = hashlib.sha256(raw).hexdigest()
    return outline


def _parse(text: str, path: Path, separator: str | None) -> Outline:
    if path.suffix.lower() == ".json":
        return _parse_json(text, path)
    lines = text.split("\n")
    kind = lines[0].strip()
    if path.suffix.lower() != ".txt" or kind not in {"distinct", "range"}:
        return _parse_csv(lines, separator)
    _refuse_ranges(kind, path)
    return _parse_amnesia(lines)


def _content(path: Path) -> bytes:
    if path.is_dir():
        raise DataError(f"{path} is a folder, expected a hierarchy file.")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"Cannot read the hierarchy {path}: {error.strerror or error}.") from error
    if not raw.strip():
        raise DataError(f"{path} is empty, expected a hierarchy: one line `leaf;parent;...;root` per leaf.")
    return raw


def _encoding(raw: bytes, path: Path, named: str) -> str:
    """Choose the encoding: UTF-8 is read as UTF-8, whatever the data are in, unless the file is named."""
    encoding = encoding_of(named, str(path)) or "utf-8"
    if is_named_for(named, str(path)) or b"\0" in raw:
        return encoding
    try:
        return (
            encoding if raw.isascii() and raw.decode(encoding) == raw.decode() else raw.decode() and "utf-8"
        )
    except (UnicodeDecodeError, LookupError):
        return encoding


def _decoded(raw: bytes, path: Path, encoding: str, named: str) -> str:
    binary = DataError(
        f"{path} is a binary file, expected the text of a hierarchy.",
        hint="Export the hierarchy as csv from the tool that made it (ARX: .ahs and .deid cannot be read).",
    )
    if raw.startswith((b"\xac\xed\x00\x05", b"PK\x03\x04")):  # a serialized Java object, a zip archive
        raise binary
    try:
        text = raw.decode(encoding)
    except LookupError as error:
        raise RequestError(
            f"Unknown encoding {encoding!r}.", hint="Try utf-8, utf-16, cp1252 or latin-1."
        ) from error
    except UnicodeDecodeError as error:
        wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
        if b"\0" in raw and not wide:
            raise binary from error
        ways = (
            [("utf-16", "as its mark says")]
            if wide
            else [(one, f"{text!r} on this line") for one, text in encodings_at(raw, error.start)]
        )
        question = TableError(
            f"{path} is not {encoding}: byte {raw[error.start]:#04x} at offset {error.start:,} "
            f"(line {raw.count(bytes([10]), 0, error.start) + 1})",
            [],
            [({"encoding": with_encoding(named, path.name, one)}, meaning) for one, meaning in ways],
        )
        question.in_python("read_hierarchy", str(path), {})
        raise question from error
    if "\0" in text:
        raise binary
    return text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")


def _refuse_ranges(kind: object, path: Path) -> None:
    if kind == "range":
        raise HierarchyError(
            f"{path} is an Amnesia hierarchy of the kind 'range' (numbers or dates), expected 'distinct'.",
            hint="Items are labels: build a 'distinct' hierarchy over them.",
        )


def _parse_csv(lines: list[str], separator: str | None) -> Outline:
    used = [(number, line) for number, line in enumerate(lines, 1) if line.strip()]
    if separator is None:
        separator = ";"
        if not any(";" in line for _, line in used):
            common = (other for other in _OTHER_SEPARATORS if all(other in line for _, line in used))
            separator = next(common, ";")
    split = _splitter(separator)
    outline = Outline(whole=True)
    for number, line in used:
        fields = split(line)
        if fields is None:
            outline.problems.append(
                FileProblem(number, "a quoted field is not closed, or goes on after its closing quote")
            )
            continue
        while fields and not fields[-1]:  # spreadsheets pad short lines with empty fields
            fields.pop()
        if fields:
            outline.rows.append((number, fields))
        if not all(fields) or not fields:
            outline.problems.append(FileProblem(number, "an empty label, expected leaf, parent, ..., root"))
            continue
        labels = [label for i, label in enumerate(fields) if i == 0 or label != fields[i - 1]]
        outline.paths.append((number, labels))
    if len(outline.paths) > 1 and all(len(labels) == 1 for _, labels in outline.paths):
        outline.problems.append(
            FileProblem(
                outline.paths[0][0],
                f"no line has a parent, expected leaf, parent, ..., root separated by {separator!r}; "
                f"got {shorten(outline.paths[0][1][0])}",
            )
        )
        outline.paths.clear()
        if all(len(fields) == 1 for _, fields in outline.rows):
            _indent(outline, used)
    return outline


def _indent(outline: Outline, lines: Sequence[tuple[int, str]]) -> None:
    """Put an empty field for each level in front of labels that are indented."""
    deep: list[int] = []  # how far the groups above a line are indented
    bullets = all(_BULLET.match(line) for _, line in lines)
    for at, (number, line) in enumerate(lines):
        wide = line.expandtabs()
        far = len(wide) - len(wide.lstrip())
        level = next((level for level, one in enumerate(deep) if one >= far), len(deep))
        if level < len(deep) and deep[level] != far:
            outline.problems = [
                FileProblem(
                    number, f"{shorten(line.strip())} is indented by {far}, expected as much as a line above"
                )
            ]
            outline.rows.clear()
            return
        deep[level:] = [far]
        label = _BULLET.sub("", line, count=1) if bullets else line
        outline.rows[at] = number, [*[""] * level, label.strip()]


def _splitter(separator: str) -> Callable[[str], list[str] | None]:
    """Make a function that splits a line, or gives None where its quotes are out of place."""
    s = re.escape(separator)
    blank = rf"(?:(?!{s})\s)*"
    field = re.compile(rf'{blank}(?:"((?:[^"]|"")*)"{blank}|([^"{s}][^{s}]*|))({s}|\Z)')

    def split(line: str) -> list[str] | None:
        if '"' not in line:
            return [part.strip() for part in line.split(separator)]
        fields = []
        at = 0
        while match := field.match(line, at):
            quoted, plain, end = match.groups()
            fields.append((plain if quoted is None else quoted.replace('""', '"')).strip())
            if not end:
                return fields
            at = match.end()
        return None

    return split


def _parse_amnesia(lines: list[str]) -> Outline:
    outline = Outline(whole=False)
    body = next((i for i, line in enumerate(lines) if not line.strip()), len(lines))
    for number, line in enumerate(lines[1:body], 2):
        if line.split()[0] not in {"name", "type", "height"}:
            outline.problems.append(
                FileProblem(
                    number, f"{shorten(line)}: expected name, type, height or the empty line that ends them"
                )
            )
    for number, line in enumerate(lines[body:], body + 1):
        words = [word for word in line.split(" ") if word]
        if not line.strip():
            continue
        if len(words) < 3 or words[1] != "has":
            outline.problems.append(
                FileProblem(
                    number, f"{shorten(line)}: expected `parent has child child ...`, labels without spaces"
                )
            )
            continue
        parent, _, *children = words
        outline.paths.extend((number, [child, parent]) for child in children)
    return outline


def _parse_json(text: str, path: Path) -> Outline:
    try:
        # These keep what a dict would lose: a parent that is listed twice. Numbers stay as they are written.
        top = read_json_with(
            text, object_pairs_hook=ObjectMembers, parse_int=str, parse_float=str, parse_constant=str
        )
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path} is not JSON: {error.msg} (line {error.lineno}, column {error.colno}).",
            hint="Only a name that ends in .json is read as JSON.",
        ) from error
    except ValueError as error:
        raise unreadable(path, "is no hierarchy", error) from None
    members = top if isinstance(top, ObjectMembers) else ObjectMembers()
    _refuse_ranges(dict(members).get("hierType"), path)
    levels = [(key, value) for key, value in members if re.fullmatch("level[0-9]+", key)]
    if not levels:
        return _parse_nested(top, path)
    outline = Outline(whole=False)
    for key, blocks in levels:
        if not isinstance(blocks, ObjectMembers):
            outline.problems.append(
                FileProblem(None, f"{key}: expected an object of parents and their children")
            )
            continue
        for parent, children in blocks:
            labels = [child for child in children if isinstance(child, str)] if type(children) is list else []
            if not parent or not labels or "" in labels or labels != children:
                outline.problems.append(
                    FileProblem(
                        None, f"{key}: {shorten(parent)} has no list of non-empty labels as its children"
                    )
                )
                continue
            outline.paths.extend((None, [child, parent]) for child in labels)
    return outline


def _parse_nested(top: object, path: Path) -> Outline:
    """Take objects within objects: of names and children, or what is below each key."""
    keys: dict[str, bool] = {}
    names = [key for key, _ in top] if isinstance(top, ObjectMembers) else []
    got = f"the keys {listed(names)}" if names else "no object with keys"
    try:
        down = list(leaf_paths(top, keys))
    except (ValueError, RecursionError) as error:
        got += f"; {error}" if isinstance(error, ValueError) else ", nested too deeply"
        down = []
    if all(len(labels) == 1 for labels in down):
        raise HierarchyError(
            f"{path} is not a hierarchy: expected level1, level2, ...; got {got}.",
            hint='Nested JSON is a hierarchy, too: {"group": ["item", "item"]}, or objects with "name" and '
            '"children".',
        )
    return Outline(whole=True, paths=[(None, labels[::-1]) for labels in down], notes=[said_of_keys(keys)])
