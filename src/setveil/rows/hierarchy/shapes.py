"""Hierarchies in other shapes than ``leaf;parent;...;root``, recognized if only one shape gives a tree."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from itertools import pairwise, product

from setveil.base.errors import listed, shorten
from setveil.base.wording import count
from setveil.rows.hierarchy._levels import unused
from setveil.rows.hierarchy.outline import Outline, Paths, parse
from setveil.rows.hierarchy.problems import find_problems
from setveil.rows.hierarchy.tree import ROOT

Row = tuple[int, list[str]]  # the number of a line, and its fields

_SHAPES = (*product(("paths", "pairs"), (False, True)), ("outline", True))
_MANY = 5  # lines of which all but the first have the same root, so that the first is a header
_LEVEL = re.compile(
    r"(?:item|code|leaf|child|parent|group|chapter|block|level|lvl|name|label|root|top|category|categories|"
    r"sub ?categor(?:y|ies)|department|aisle|product|article|class|kind|node|id|icd(?:9|10)?|atc|diagnosis|"
    r"from|to|ebene|gruppe|kapitel|kode|eltern|wurzel)(?:[ _-]?(?:id|name|code|[0-9]+))?",
    re.IGNORECASE,
)


def read_outline(path: str | os.PathLike[str], *, encoding: str, separator: str | None) -> Outline:
    """Read a hierarchy file and recognize its shape; `notes` of the answer say what was recognized."""
    outline = parse(path, encoding=encoding, separator=separator)
    if outline.whole and not outline.rows:
        return _completed(outline, alone=True)  # nested objects
    lines = {line for line, _ in outline.rows}
    if outline.rows and all(one.line in lines for one in outline.problems) and find_problems(outline):
        return recognized(outline)
    return outline


def recognized(outline: Outline) -> Outline:
    """Read the lines of a csv in the first shape that gives a tree; unchanged if no shape does."""
    rows = [(line, fields) for line, fields in outline.rows if any(fields)]
    for skip, (shape, down) in product(_headers(rows), _SHAPES):
        found = _in_shape(rows[skip:], shape, down=down)
        if found is None:
            continue
        found.sha256, found.encoding = outline.sha256, outline.encoding
        if skip:
            line, fields = rows[0]
            found.notes.insert(0, f"line {line} is a header and no item: {shorten(';'.join(fields), 60)}")
        indented = shape == "outline" and not outline.paths
        if indented or not find_problems(found):
            return found
    return outline


def _headers(rows: Sequence[Row]) -> tuple[int, ...]:
    """Say how many lines may be a header: one, none, or first one and then the other."""
    if len(rows) < 3:
        return (0,)
    first = {field for field in rows[0][1] if field}
    if ROOT in first or first & {field for _, fields in rows[1:] for field in fields}:
        return (0,)
    ends = {fields[-1] for _, fields in rows[1:]}
    starts = {fields[0] for _, fields in rows[1:]}
    named = any(_LEVEL.fullmatch(field) for field in first)
    rooted = len(rows) >= _MANY and 1 in (len(ends), len(starts))
    return (1, 0) if named or rooted else (0,)


def _in_shape(rows: Sequence[Row], shape: str, *, down: bool) -> Outline | None:
    """Take lines as paths from an item to the root, or as pairs of child and parent; None: they are not."""
    if shape == "outline":
        rows = _filled(rows)
    if not rows or (shape == "paths" and not all(fields[0] for _, fields in rows)):
        return None
    found = Outline(whole=shape != "pairs")
    for line, fields in rows:
        labels = [field for field in (reversed(fields) if down else fields) if field]
        found.paths.append((line, [a for i, a in enumerate(labels) if i == 0 or a != labels[i - 1]]))
    if shape == "pairs":
        if not _take_pairs(found):
            return None
        found.notes.append(f"each line is a {'parent and its child' if down else 'child and its parent'}")
    else:
        if shape == "paths" and len({labels[0] for _, labels in found.paths}) < len(found.paths):
            return None
        if shape == "outline":
            found.notes.append("a group stands once, above the lines below it")
        elif down:
            found.notes.append("levels go from the root down to the item")
        if gaps := [line for line, fields in rows if "" in fields]:
            found.notes.append(
                f"{count(len(gaps), 'line')} without one of the levels, such as line {gaps[0]}"
            )
    return _completed(found, alone=shape == "outline")


def _filled(rows: Sequence[Row]) -> list[Row]:
    """Repeat the groups that stand once above lines whose first fields are empty; []: there are none."""
    found: list[Row] = []
    above: list[str] = []
    for line, fields in rows:
        at = next(at for at, field in enumerate(fields) if field)
        if at > len(above) or "" in fields[at:]:
            return []
        below = [*above[:at], *fields[at:]]
        if found and above != below and above == below[: len(above)]:
            found.pop()  # the line before is a group
        found.append((line, below))
        above = below
    return found if any(not fields[0] for _, fields in rows) else []


def _completed(found: Outline, *, alone: bool) -> Outline:
    """Add levels that lines skip, groups of items that are groups, and a root, also of items (`alone`)."""
    _fill_gaps(found)
    if found.whole:
        _put_items_below_groups(found)
    _put_below_one_root(found, alone=alone)
    return found


def _take_pairs(found: Outline) -> bool:
    """Keep the pairs; False if lines hold something else, or no parent is a child: then they are paths."""
    if any(len(labels) > 2 for _, labels in found.paths):
        return False
    pairs = [(line, labels) for line, labels in found.paths if len(labels) == 2]
    named = {label for _, labels in pairs for label in labels}
    children = {labels[0] for _, labels in pairs}
    if any(labels[0] not in named for _, labels in found.paths):
        return False
    whole, found.paths = len(pairs) == len(found.paths), pairs
    return not whole or any(labels[1] in children for _, labels in pairs)


def _parents(paths: Paths) -> dict[str, dict[str, None]]:
    found: dict[str, dict[str, None]] = {}
    for _, labels in paths:
        for child, parent in pairwise(labels):
            found.setdefault(child, {})[parent] = None
    return found


def _above(node: str, parents: dict[str, dict[str, None]]) -> set[str]:
    found: set[str] = set()
    todo = list(parents.get(node, ()))
    while todo:
        if (up := todo.pop()) not in found:
            found.add(up)
            todo.extend(parents.get(up, ()))
    return found


def _fill_gaps(found: Outline) -> None:
    """Give a node that some lines put below its grandparent the parent that other lines name."""
    parents = _parents(found.paths)
    wanting: dict[tuple[str, str], str] = {}
    for node, ups in parents.items():
        if len(ups) < 2:
            continue
        above = {up: _above(up, parents) for up in ups}
        nearest = [up for up in ups if up not in above[up] and set(ups) - {up} <= above[up]]
        if len(nearest) != 1:
            return
        wanting |= {(node, up): nearest[0] for up in ups if up != nearest[0]}
    if not wanting:
        return
    lines = []
    for at, (line, labels) in enumerate(found.paths):
        whole = list(labels)
        i = 0
        while i + 1 < len(whole):
            if (between := wanting.get((whole[i], whole[i + 1]))) is not None:
                whole.insert(i + 1, between)
            else:
                i += 1
        if whole != labels:
            lines.append(line)
            found.paths[at] = line, whole
    if not found.whole:
        found.paths = list({tuple(labels[:2]): (line, labels[:2]) for line, labels in found.paths}.values())
    found.notes.append(
        f"{count(len(lines), 'line')} without a level that other lines have, such as line {lines[0]}"
    )


def _put_items_below_groups(found: Outline) -> None:
    """Make an item that is a group elsewhere an item below that group, which gets a star."""
    groups = {label for _, labels in found.paths for label in labels[1:]}
    roots = {labels[-1] for _, labels in found.paths}
    both = [labels[0] for _, labels in found.paths if labels[0] in groups - roots]
    if not both or len(both) > len(set(both)):
        return
    taken = groups | {labels[0] for _, labels in found.paths}
    names = {item: unused(f"{item}*", taken) for item in both}
    found.paths = [
        (line, [*([labels[0]] if labels[0] in names else []), *(names.get(a, a) for a in labels)])
        for line, labels in found.paths
    ]
    found.notes.append(below_groups(names))


def below_groups(names: Mapping[str, str]) -> str:
    """Say that items are groups, too, and what these are called; `names`: of each item its group."""
    are = "1 item is a group, too" if len(names) == 1 else f"{len(names):,} items are groups, too"
    pairs = [f"{shorten(item)} is below {shorten(group)}" for item, group in list(names.items())[:3]]
    return f"{are}, and became an item below it: {', '.join(pairs)}"


def _put_below_one_root(found: Outline, *, alone: bool) -> None:
    """Put a root above the groups at the top, if there are several and none is called like it."""
    parents = _parents(found.paths)
    tops = dict.fromkeys(labels[-1] for _, labels in found.paths if labels[-1] not in parents)
    labels_of_all = {label for _, labels in found.paths for label in labels}
    if len(tops) < 2 or ROOT in labels_of_all:
        return
    if not alone and any(len(labels) == 1 for _, labels in found.paths):
        return
    if found.whole:
        found.paths = [(line, [*labels, ROOT]) for line, labels in found.paths]
    else:
        found.paths += [(None, [top, ROOT]) for top in tops]
    found.notes.append(
        f"no common root: {count(len(tops), 'group')} at the top ({listed(list(tops), 3)}) were put below "
        f"{ROOT!r}"
    )
