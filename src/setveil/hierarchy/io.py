"""Hierarchy files: ARX csv, Amnesia text and Amnesia JSON.

The extension of the name chooses: ``.txt`` is Amnesia text, ``.json`` Amnesia JSON, all else ARX csv. A
``.txt`` that does not begin like an Amnesia hierarchy is read as csv.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

from setveil.errors import DataError, HierarchyError, OutputError, RequestError, listed, shorten
from setveil.hierarchy.check import FileProblem, Outline, find_problems
from setveil.hierarchy.tree import Hierarchy
from setveil.staging import staged_file

_OTHER_SEPARATORS = "\t|,"
_SHOWN = 5  # problems that an error message spells out


def read_hierarchy(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", separator: str | None = None
) -> Hierarchy:
    """Read a hierarchy file.

    Parameters
    ----------
    path : path
        ``.txt``: Amnesia text; ``.json``: Amnesia JSON; anything else: csv without a header, one line per
        leaf, ``leaf;parent;...;root``. The lines of a csv may differ in length, or be padded by repeating a
        label or by empty fields at their end. Blanks around a field are dropped, blank lines ignored.
    encoding : str
        Encoding of the file.
    separator : str, optional
        Character between the fields of a csv. If not given: ``;``, or if no line has one, the first of tab,
        ``|`` and ``,`` that every line has.

    Returns
    -------
    Hierarchy

    Raises
    ------
    DataError
        If the file is missing, empty, binary, not in this encoding, or malformed as a whole.
    HierarchyError
        If it does not describe a tree; ``problems`` names everything that is wrong.
    RequestError
        If the separator is not one character, or the encoding is unknown.
    """
    outline = parse(path, encoding=encoding, separator=separator)
    problems = [str(problem) for problem in find_problems(outline)]
    if problems:
        count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
        more = f"\n  and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
        raise HierarchyError(
            f"{path} is not a hierarchy, {count}:" + "".join(f"\n  {p}" for p in problems[:_SHOWN]) + more,
            hint=f"`setveil hierarchy check {path}` lists every problem.",
            problems=problems,
        )
    parents: dict[str, str | None] = {}
    for _, labels in outline.paths:
        parents.setdefault(labels[-1], None)
        parents.update(pairwise(labels))
    return Hierarchy(parents)


def write_hierarchy(tree: Hierarchy, path: str | os.PathLike[str], *, name: str = "hierarchy") -> None:
    """Write a hierarchy file; reading it gives the same tree.

    Parameters
    ----------
    tree : Hierarchy
        The tree.
    path : path
        Its extension chooses the form as in `read_hierarchy`. A csv is written in tree order, all lines
        equally long (a leaf that is less deep is repeated), as ARX demands. An existing file is replaced.
    name : str
        Name of the hierarchy inside an Amnesia file.

    Raises
    ------
    HierarchyError
        If the form cannot hold this tree or its labels; the message names a form that can.
    OutputError
        If the file cannot be written.
    """
    path = Path(path)
    write = {".txt": _amnesia_text, ".json": _amnesia_json}.get(path.suffix.lower(), _csv_text)
    text = write(tree, path, name)
    try:
        content = text.encode()
        with staged_file(path) as beside:
            beside.write_bytes(content)
    except UnicodeEncodeError as error:
        raise HierarchyError(f"Cannot write {path}: a label is not text, {error}.") from error
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error


def parse(path: str | os.PathLike[str], *, encoding: str, separator: str | None) -> Outline:
    """Read what a hierarchy file says without asking whether it is a tree."""
    path = Path(path)
    if separator is not None and (len(separator) != 1 or separator in '"\r\n'):
        raise RequestError(
            f"The separator is {separator!r}, expected one character other than a quote or a line break."
        )
    text = _decoded(path, encoding)
    if path.suffix.lower() == ".json":
        return _parse_json(text, path)
    lines = text.split("\n")
    kind = lines[0].strip()
    if path.suffix.lower() != ".txt" or kind not in {"distinct", "range"}:
        return _parse_csv(lines, separator)
    _refuse_ranges(kind, path)
    return _parse_amnesia(lines)


def _decoded(path: Path, encoding: str) -> str:
    if path.is_dir():
        raise DataError(f"{path} is a folder, expected a hierarchy file.")
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"Cannot read the hierarchy {path}: {error.strerror or error}.") from error
    if not raw.strip():
        raise DataError(f"{path} is empty, expected a hierarchy: one line `leaf;parent;...;root` per leaf.")
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
        raise DataError(
            f"{path} is not {encoding}: byte {raw[error.start]:#04x} at offset {error.start:,} "
            f"(line {raw.count(bytes([10]), 0, error.start) + 1}).",
            hint=f"Name the file's encoding, for example `--encoding {'utf-16' if wide else 'cp1252'}`.",
        ) from error
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
    return outline


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


def _csv_text(tree: Hierarchy, path: Path, _name: str) -> str:
    for label in tree.labels:
        if label != label.strip() or any(sign in label for sign in "\0\r\n"):
            raise _unwritable(label, path, "begins or ends with a blank or holds a line break")

    def quoted(label: str) -> str:
        # A byte order mark would be dropped at the start of the file.
        return '"' + label.replace('"', '""') + '"' if re.search('[;"\ufeff]', label) else label

    written = [quoted(label) for label in tree.labels]
    width = max(2, tree.height + 1)  # a single node is repeated: only then does its line hold a separator
    lines = []
    for leaf in tree.leaf_order.tolist():
        above = [written[node] for node in tree.ancestors(leaf)]
        lines.append(";".join([written[leaf]] * (width - len(above)) + above) + "\n")
    return "".join(lines)


def _unwritable(label: str, path: Path, why: str) -> HierarchyError:
    return HierarchyError(
        f"Cannot write {path}: the label {shorten(label)} {why}, which this form cannot hold.",
        hint="Write a .json file instead, which holds any label.",
    )


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


def _blocks(tree: Hierarchy) -> Iterator[list[tuple[str, list[str]]]]:
    """Give the inner nodes level by level, the root first, each with its children."""
    level = [tree.root]
    while inner := [node for node in level if node >= tree.n_leaves]:
        yield [(tree.labels[node], [tree.labels[child] for child in tree.children(node)]) for node in inner]
        level = [child for node in inner for child in tree.children(node)]


def _amnesia_text(tree: Hierarchy, path: Path, name: str) -> str:
    _need_two_nodes(tree, path)
    if not name or name.split() != [name]:
        raise RequestError(f"The name of the hierarchy is {name!r}, expected a word without spaces.")
    for label in tree.labels:
        if label == "has" or any(sign in label for sign in " \0\r\n"):
            raise _unwritable(label, path, "is the word `has` or holds a space or a line break")
    lines = ["distinct", f"name {name}", "type string", f"height {tree.height + 1}", ""]
    for block in reversed(list(_blocks(tree))):
        lines += [f"{parent} has {' '.join(children)}" for parent, children in block]
        lines.append("")  # Amnesia stores a block when it meets the line after it, so the last needs one too
    return "\n".join(lines) + "\n"


def _amnesia_json(tree: Hierarchy, path: Path, name: str) -> str:
    _need_two_nodes(tree, path)
    head = {"hierType": "distinct", "name": name, "type": "string", "height": tree.height + 1}
    levels = {f"level{i}": dict(block) for i, block in enumerate(_blocks(tree), 1)}
    return json.dumps({**head, **levels}, ensure_ascii=False, indent=1) + "\n"


def _need_two_nodes(tree: Hierarchy, path: Path) -> None:
    if tree.n_nodes == 1:
        raise HierarchyError(
            f"Cannot write {path}: an Amnesia hierarchy lists parents and their children, this one is the "
            f"single node {shorten(tree.labels[0])}.",
            hint="Write a .csv file instead.",
        )


def _parse_json(text: str, path: Path) -> Outline:
    try:
        # Pairs keep what a dict would lose: a parent that is listed twice. Numbers stay as they are written.
        top = json.loads(text, object_pairs_hook=_Pairs, parse_int=str, parse_float=str, parse_constant=str)
    except json.JSONDecodeError as error:
        raise DataError(
            f"{path} is not JSON: {error.msg} (line {error.lineno}, column {error.colno}).",
            hint="Only a name that ends in .json is read as Amnesia JSON.",
        ) from error
    except RecursionError as error:
        raise DataError(f"{path} is nested too deeply for an Amnesia hierarchy.") from error
    members = top if isinstance(top, _Pairs) else _Pairs()
    _refuse_ranges(dict(members).get("hierType"), path)
    levels = [(key, value) for key, value in members if re.fullmatch("level[0-9]+", key)]
    if not levels:
        got = f"the keys {listed([key for key, _ in members])}" if members else "no object with keys"
        raise HierarchyError(f"{path} is not an Amnesia hierarchy: expected level1, level2, ...; got {got}.")
    outline = Outline(whole=False)
    for key, blocks in levels:
        if not isinstance(blocks, _Pairs):
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


class _Pairs(list[tuple[str, object]]):
    """The members of a JSON object, in order."""
