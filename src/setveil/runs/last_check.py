"""The last check before a folder is put in place: nothing that belongs to a single person is published.

All of ``published/`` is read again as bytes, whatever wrote it, and compared with values of single persons in
the input (see `setveil.rows.data.personal`, which states when values match). `setveil.runs.folder.new_folder`
makes every published folder and ends with this check. Rows in another format, or drawn from a release, are
checked by the same rules.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from setveil.base.errors import PersonalDataError, listed, shorten
from setveil.base.plain_json import read_json_with
from setveil.base.wording import count
from setveil.kernels.tokens import tokenize
from setveil.rows.data.columns import as_field
from setveil.rows.data.personal import IDS, Personal, PersonalColumn, forms, masked_examples, says_something

_COLUMNS = 3  # that a message names
# Columns of the tables that setveil writes next to rows, and of rows in groups: they hold its own numbers.
_NUMBERS = {
    "counts.csv": ("rows", "class"), "classes.csv": ("class", "rows"), "groups.csv": ("group", "count"),
    "chunks.csv": ("clusters", "cluster", "chunk", "part", "rows"), "clusters.csv": ("cluster", "rows"),
    "cells.csv": ("block", "count"),
}  # fmt: skip
_OF_KIND = {"groups": ("group", "row"), "facts": ("row",)}  # in data.csv, by the recoding of about.json
_LINES = {"fimi": "", "spmf": ""}  # formats with blanks between fields
_PARTS = re.compile(r"[;,|@{}()\t]+ ?")
_NAMES = re.compile(rb"^@ITEM=[0-9]+=(.*)$", re.MULTILINE)  # of the items of SPMF
_GAP = re.compile(r"\s")
_WORDS = re.compile(r"[\s<>\"'&;,(){}\[\]=]+")
_TEXTS = re.compile(rb'"(?:[^"\\]|\\.)*"|(?<=[\[,: ])-?[0-9]+(?=[\],} ])')
_BLOCK = 1 << 24  # bytes that are split at once


def require_nothing_personal(published: Path, personal: Personal) -> None:
    """Raise a PersonalDataError if a value in `published` belongs to one person in the input."""
    _require_none(published_values(published), personal, "published/")


def require_items_of_nobody(items: Sequence[str], personal: Personal, where: str) -> None:
    """Raise if items that are about to be written outside of a release belong to one person in the input."""
    values = list(dict.fromkeys(_with_parts(items)))
    _require_none([(Path(where).name, values)], personal, where)


def require_no_forms(items: Sequence[str], where: str) -> None:
    """Raise if items whose input is not at hand are written like what belongs to one person.

    Without the input nothing says which items are IDs: only e-mail addresses, telephone numbers, IP
    addresses, card numbers and exact addresses are found, by how they are written.
    """
    found = forms(list(dict.fromkeys(_with_parts(items))))
    if not found:
        return
    said = (
        f"{count(len(values), 'item')} that look like {kind} ({masked_examples(values)})"
        for kind, values in found.items()
    )
    raise PersonalDataError(
        f"Nothing was written: {where} would contain {'; '.join(said)}.",
        hint="The release contains them. If they may be shared, make it again with --not-ids, and draw from "
        "its folder with internal/, which says so.",
    )


def _require_none(files: Iterable[tuple[str, Sequence[str]]], personal: Personal, where: str) -> None:
    columns = [column for column in personal.columns if column.hashes.size]
    if not columns:
        return
    found: dict[int, dict[str, str]] = {}
    for name, values in files:
        for at, column in enumerate(columns):
            for value in column.among(values):
                found.setdefault(at, {}).setdefault(value, name)
    if found:
        raise _refused([(columns[at], some) for at, some in sorted(found.items())], where)


def _refused(found: Sequence[tuple[PersonalColumn, Mapping[str, str]]], where: str) -> PersonalDataError:
    said = []
    for column, values in found[:_COLUMNS]:
        files = listed(sorted(set(values.values())), 3).replace("'", "")
        said.append(
            f"{count(len(values), 'value')} of {_named(column)} ({masked_examples(values)}) in {files}"
        )
    more = f"; and of {count(len(found) - _COLUMNS, 'other column')}" if len(found) > _COLUMNS else ""
    kinds = list(dict.fromkeys(column.kind for column, _ in found))
    names = list(dict.fromkeys(as_field(column.named) for column, _ in found))
    return PersonalDataError(
        f"Nothing was written: {where} would contain {listed(kinds, 6).replace(chr(39), '')}: "
        f"{'; '.join(said)}{more}.",
        hint=f"Leave {'it' if len(found) == 1 else 'them'} out of what is published. If the values are no "
        f"IDs of persons and may be shared, add --not-ids {_list_of(names)}.",
    )


def _named(column: PersonalColumn) -> str:
    name = column.name if column.name.startswith(("field ", "the ")) else f"column {shorten(column.name)}"
    return name if column.kind == IDS else f"{name}, {column.kind}"


def _list_of(names: Sequence[str]) -> str:
    """Write names as an option takes them."""
    text = ",".join(names)
    return text if re.fullmatch(r"[\w.,-]+", text) else f"'{text}'"


# --- the values of published files


def published_values(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """List the different values of each file below a folder, and the name of the file."""
    about = _about(folder)
    signs = [sign for sign in (about.get("delimiter"), about.get("facts", {}).get("sign")) if sign]
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name = path.relative_to(folder).as_posix()
        yield name, list(dict.fromkeys(_with_parts(_values(path, name, about), *signs)))


def _about(folder: Path) -> dict[str, Any]:
    file = folder / "about.json"
    found = read_json_with(file.read_bytes()) if file.is_file() else {}
    return found if isinstance(found, dict) else {}


def _values(path: Path, name: str, about: Mapping[str, Any]) -> Iterable[str]:
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _of_parquet(path)
    if suffix == ".json":
        return _of_json(read_json_with(path.read_bytes()))
    if suffix == ".jsonl":
        return _of_json_lines(path)
    if suffix in {".html", ".py"}:
        return filter(says_something, _WORDS.split(path.read_text(encoding="utf-8")))
    return _of_text(path, name, about)


def _of_text(path: Path, name: str, about: Mapping[str, Any]) -> Iterator[str]:
    """List the fields of a file of lines, without numbers that setveil gives."""
    content = path.read_bytes()
    data = name == about.get("file")
    if data and about.get("format") == "spmf":
        yield from (found.decode("utf-8", "replace") for found in _NAMES.findall(content))
    separator = _LINES.get(about.get("format", ""), about.get("separator") or ",") if data else ","
    numbers = (*_NUMBERS.get(path.name, ()), *(_OF_KIND.get(about.get("recoding", ""), ()) if data else ()))
    if about.get("id_column") and name in (about.get("file"), about.get("items_file")):
        numbers = (*numbers, about["id_column"])
    keep = None
    if numbers:
        head = tokenize(content.partition(b"\n")[0], separator=separator, quotes=True)
        ends = zip(head.starts.tolist(), head.ends.tolist(), strict=True)
        header = [_field(content[start:end]) for start, end in ends]
        # Only the first column of a name: items may be called like the numbers of rows.
        keep = np.array([field not in numbers or field in header[:at] for at, field in enumerate(header)])
        if head.codes.size != len(header) or keep.all():
            keep = None
    tokens = tokenize(content, separator=separator, quotes=bool(separator), keep=keep)
    if tokens.fault >= 0:  # no table after all
        tokens = tokenize(content, separator=separator, quotes=False)
    for start, end in zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True):
        yield _field(content[start:end])


def _field(raw: bytes) -> str:
    text = raw.decode("utf-8", "replace")
    return text[1:-1].replace('""', '"') if text[:1] == '"' == text[-1:] and len(text) > 1 else text


def _of_json(value: Any) -> Iterator[str]:
    """List all texts of a JSON value, names of keys too; its numbers are counts."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for one in value.values():
            yield from _of_json(one)
    elif isinstance(value, list):
        for one in value:
            yield from _of_json(one)


def _of_json_lines(path: Path) -> Iterator[str]:
    """List the different texts and numbers of JSON lines."""
    found: set[bytes] = set()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(_TEXTS.findall(block + file.readline()))
    for raw in found:
        yield read_json_with(raw) if raw[:1] == b'"' else raw.decode()


def _of_parquet(path: Path) -> Iterator[str]:
    """List the different texts of a Parquet file; of integers only those in lists are items."""
    import polars as pl

    frame = pl.scan_parquet(path, glob=False)
    for name, dtype in frame.collect_schema().items():
        column = pl.col(name)
        if isinstance(dtype, pl.List | pl.Array):
            column = column.list.explode() if isinstance(dtype, pl.List) else column.arr.explode()
        elif dtype.is_numeric():
            continue
        yield name
        yield from frame.select(column.unique().cast(pl.String)).collect().to_series().drop_nulls()


def _with_parts(values: Iterable[str], *signs: str) -> Iterator[str]:
    """Add to values that list several their parts, and to texts their words that say something.

    `signs`: between the parts, and between the parts of these: the parts may contain other signs.
    """
    for value in values:
        yield value
        parts = [value]
        for sign in signs:
            if any(sign in part for part in parts):
                parts = [one for part in parts for one in _split(part, sign)]
                yield from parts
        if _PARTS.search(value) is not None:
            yield from filter(None, _PARTS.split(value))
        if _GAP.search(value) is not None:
            yield from filter(says_something, (word.strip(".:!?#*") for word in _WORDS.split(value)))


def _split(text: str, sign: str) -> list[str]:
    """Split a text at a sign, but not inside double quotes."""
    if '"' not in text:
        return [part for part in text.split(sign) if part]
    try:
        return [part for line in csv.reader([text], delimiter=sign) for part in line if part]
    except csv.Error:  # it is not written so
        return text.split(sign)
