"""Read and write files of privacy and utility constraints, with the line of everything that is wrong."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, OutputError, RequestError, listed, shorten
from setveil.base.plain_json import read_json
from setveil.base.staging import staged_file
from setveil.kernels.tokens import tokenize
from setveil.rows.data.io.decoded import as_text
from setveil.rows.data.io.source import read_bytes
from setveil.rows.data.io.text import refuse_open_quote, unquoted
from setveil.rows.data.layout import Layout
from setveil.rows.data.vocabulary import is_integer
from setveil.rows.hierarchy.outline import FileProblem

_SHOWN = 5


@dataclass
class ConstraintsFile:
    """The contents of a file of constraints."""

    name: str  # what to call the file
    # (line, items) in order, repeats omitted; None for JSON
    sets: list[tuple[int | None, tuple[str, ...]]] = field(default_factory=list)
    problems: list[FileProblem] = field(default_factory=list)  # in order of the lines

    @property
    def itemsets(self) -> tuple[tuple[str, ...], ...]:
        """The itemsets or groups without their lines."""
        return tuple(items for _, items in self.sets)


def separator_of(layout: Layout | None) -> str:
    """Return the separator of items in files written like the data's rows: "" for blanks."""
    if layout is None:
        return ","
    if layout.format in {"fimi", "spmf"}:
        return ""
    return layout.separator if layout.format in {"basket", "long"} else ","


def parse_privacy(
    path: str | Path, known: Collection[str] | None, layout: Layout | None = None, *, encoding: str = "utf-8"
) -> ConstraintsFile:
    """Read privacy constraints and note what is wrong with them; items that are not `known` are problems.

    The file has one itemset per line, written like the data's rows: separated by blanks for the layouts FIMI
    and SPMF, by the layout's separator for basket and long files, else by commas. A ``.json`` file contains a
    list of lists, or an object with such a list under ``privacy``.
    """
    listing = _parse(path, "privacy", layout, encoding)
    if known is not None:
        _find_unknown(listing, known)
    listing.problems.sort(key=_by_line)
    return listing


def parse_utility(
    path: str | Path, known: Collection[str], layout: Layout | None = None, *, encoding: str = "utf-8"
) -> ConstraintsFile:
    """Read utility constraints like `parse_privacy` (JSON key ``utility``); note also items in two groups."""
    listing = _parse(path, "utility", layout, encoding)
    _find_unknown(listing, known)
    _find_overlaps(listing)
    listing.problems.sort(key=_by_line)
    return listing


def read_privacy(
    path: str | Path, known: Collection[str] | None, layout: Layout | None = None, *, encoding: str = "utf-8"
) -> tuple[tuple[str, ...], ...]:
    """Read privacy constraints (see `parse_privacy`)."""
    listing = parse_privacy(path, known, layout, encoding=encoding)
    _refuse(listing, "privacy")
    return listing.itemsets


def read_utility(
    path: str | Path, known: Collection[str], layout: Layout | None = None, *, encoding: str = "utf-8"
) -> tuple[tuple[tuple[str, ...], ...], str]:
    """Read utility constraints (see `parse_utility`), with a note for users on items in no group, or ""."""
    listing = parse_utility(path, known, layout, encoding=encoding)
    _refuse(listing, "utility")
    return listing.itemsets, rest_note(listing.itemsets, known)


def rest_note(groups: Iterable[Iterable[str]], known: Collection[str]) -> str:
    """Say which items are in no utility constraint; empty if all are in one."""
    named = {item for group in groups for item in group}
    rest = [item for item in known if item not in named]
    if not rest:
        return ""
    if len(rest) == 1:
        return f"One item is in no utility constraint and is never merged: {listed(rest)}."
    return f"{len(rest):,} items in no utility constraint may be merged with each other: {listed(rest)}."


def write_privacy(itemsets: Iterable[Sequence[str]], path: str | Path, layout: Layout | None = None) -> None:
    """Write privacy constraints, completely or not at all, so that `read_privacy` gives the same."""
    path = Path(path)
    if path.suffix.lower() == ".json":
        rows = ",\n  ".join(json.dumps(list(itemset), ensure_ascii=False) for itemset in itemsets)
        text = f'{{"privacy": [\n  {rows}\n]}}\n' if rows else '{"privacy": []}\n'
    else:
        separator = separator_of(layout)
        lines = [(separator or " ").join(_field(item, separator) for item in items) for items in itemsets]
        text = "".join(f"{line}\n" for line in lines)
    try:
        with staged_file(path) as beside:
            beside.write_bytes(text.encode())
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror or error}.") from None


def _field(item: str, separator: str) -> str:
    if not separator:
        if not is_integer(item):
            raise RequestError(
                f"Items separated by blanks must be integers, found {shorten(item)}.",
                hint="Write JSON: a file name that ends in .json.",
            )
        return item
    special = set(item) & set(f'{separator}"\r\n') or item != item.strip(" \t") or item.startswith("\ufeff")
    return '"' + item.replace('"', '""') + '"' if special else item


def _parse(path: str | Path, key: str, layout: Layout | None, encoding: str) -> ConstraintsFile:
    name = "standard input" if str(path) == "-" else str(path)
    text = as_text(read_bytes(path), name, encoding)
    listing = ConstraintsFile(name)
    if Path(path).suffix.lower() == ".json":
        _parse_json(listing, text.content, key)
        return listing
    separator = separator_of(layout)
    content = text.content
    tokens = tokenize(content, separator=separator, quotes=bool(separator))
    if separator:
        refuse_open_quote(text, tokens)
    spans = list(zip(tokens.starts.tolist(), tokens.ends.tolist(), strict=True))
    raw = [content[start:end] for start, end in spans]
    labels = [
        unquoted(text, field, start) if separator else field.decode()
        for field, (start, _) in zip(raw, spans, strict=True)
    ]
    breaks = [field.count(b"\n") + field.count(b"\r") - field.count(b"\r\n") for field in raw]
    codes, bounds = tokens.codes.tolist(), tokens.indptr.tolist()
    inside = [0, *accumulate(breaks[code] for code in codes)]  # line breaks within quotes up to each field
    for row in range(len(bounds) - 1):
        line = row + 1 + inside[bounds[row]]
        _add(listing, line, (labels[code] for code in codes[bounds[row] : bounds[row + 1]]))
    return listing


def _add(listing: ConstraintsFile, line: int | None, items: Iterable[str]) -> None:
    distinct = tuple(item for item in dict.fromkeys(items) if item)
    if distinct:
        listing.sets.append((line, distinct))
    else:
        listing.problems.append(FileProblem(line, "no item, expected at least one"))


def _parse_json(listing: ConstraintsFile, content: bytes, key: str) -> None:
    try:
        found: Any = read_json(content)
    except json.JSONDecodeError as error:
        raise DataError(f"{listing.name}, line {error.lineno}: not JSON, {error.msg}.") from None
    except ValueError as error:
        raise DataError(f"{listing.name} cannot be read: {error}. Expected a list of lists.") from None
    if isinstance(found, dict):
        if key not in found:
            raise DataError(f"{listing.name} has no key {key!r}, found {listed(list(found))}.")
        found = found[key]
    if not isinstance(found, list):
        raise DataError(f"{listing.name} contains {shorten(json.dumps(found))}, expected a list of lists.")
    for number, items in enumerate(found, 1):
        if not isinstance(items, list) or not all(
            (isinstance(item, str) and item) or (isinstance(item, int) and not isinstance(item, bool))
            for item in items
        ):
            listing.problems.append(
                FileProblem(None, f"entry {number} is {shorten(json.dumps(items))}, expected a list of items")
            )
        elif not items:
            listing.problems.append(
                FileProblem(None, f"entry {number} contains no item, expected at least one")
            )
        else:
            _add(listing, None, map(str, items))


def _find_unknown(listing: ConstraintsFile, known: Collection[str]) -> None:
    exists = set(known)
    listing.problems += [
        FileProblem(line, f"there is no item {shorten(item)}")
        for line, items in listing.sets
        for item in items
        if item not in exists
    ]


def _find_overlaps(listing: ConstraintsFile) -> None:
    owner: dict[str, int] = {}
    for number, (line, items) in enumerate(listing.sets):
        for item in items:
            other = owner.setdefault(item, number)
            if other != number:
                before = listing.sets[other][0]
                where = f"the group of line {before}" if before else f"group {other + 1}"
                here = "this one" if line else f"group {number + 1}"
                listing.problems.append(
                    FileProblem(line, f"the item {shorten(item)} is in {where} and in {here}")
                )


def _by_line(problem: FileProblem) -> float:
    return problem.line or float("inf")


def _refuse(listing: ConstraintsFile, what: str) -> None:
    problems = listing.problems
    if not problems:
        return
    count = "1 problem" if len(problems) == 1 else f"{len(problems):,} problems"
    more = f"\n  and {len(problems) - _SHOWN:,} more" if len(problems) > _SHOWN else ""
    raise DataError(
        f"{listing.name} does not hold {what} constraints for these data, {count}:"
        + "".join(f"\n  {problem}" for problem in problems[:_SHOWN])
        + more,
        hint=f"`setveil policy check DATA --{what} {listing.name}` lists every problem.",
    )
