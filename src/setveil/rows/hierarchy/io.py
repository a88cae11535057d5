"""Hierarchy files: ARX csv, Amnesia text and Amnesia JSON.

The extension of the name chooses: ``.txt`` is Amnesia text, ``.json`` Amnesia JSON, all else ARX csv. A
``.txt`` that does not begin like an Amnesia hierarchy is read as csv.
"""

from __future__ import annotations

import json
import logging
import os
import re
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

from setveil.base.errors import HierarchyError, OutputError, RequestError, require_type, shorten
from setveil.base.staging import staged_file
from setveil.rows.hierarchy.problems import find_problems
from setveil.rows.hierarchy.shapes import read_outline
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin

log = logging.getLogger("setveil")

_SHOWN = 5  # problems that an error message spells out


def read_hierarchy(
    path: str | os.PathLike[str], *, encoding: str = "utf-8", separator: str | None = None
) -> Hierarchy:
    r"""Read a hierarchy file.

    Parameters
    ----------
    path : path
        ``.txt``: Amnesia text; ``.json``: Amnesia JSON; anything else: csv without a header, one line per
        leaf, ``leaf;parent;...;root``. The lines of a csv may differ in length, or be padded by repeating a
        label or by empty fields at their end. Blanks around a field are dropped, blank lines ignored. A csv
        that is no hierarchy as it stands may have a header, levels from the root down, pairs of child and
        parent, no common root (it gets ``*``), lines without one of the levels, items that are groups
        elsewhere, or groups that stand once: indented labels, or empty fields below them. If one of these
        shapes gives a tree, it is read so. JSON may also be nested objects and lists.
    encoding : str
        Encoding of the file. Text that is UTF-8 is read as UTF-8 unless `FILE=ENCODING` names another one.
    separator : str, optional
        Character between the fields of a csv. If not given: ``;``, or if no line has one, the first of tab,
        ``|`` and ``,`` that every line has.

    Returns
    -------
    Hierarchy
        Its `origin` names the file, and its `notes` say how it was read if it is in another shape.

    Raises
    ------
    DataError
        If the file is missing, empty, binary, not in this encoding, or malformed as a whole.
    HierarchyError
        If it does not describe a tree; ``problems`` names everything that is wrong.
    RequestError
        If the separator is not one character, or the encoding is unknown.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("drinks.csv").write_text("tea;hot drinks;*\ncoffee;hot drinks;*\nmilk;*\n")
    >>> sv.read_hierarchy("drinks.csv")
    Hierarchy: 3 leaves, 5 nodes, height 2
    """
    require_type("A hierarchy is read from a path", path, (str, os.PathLike))
    require_type("The encoding must be a text", encoding, str)
    require_type("The separator must be a text", separator, (str, type(None)))
    start = time.perf_counter()
    outline = read_outline(path, encoding=encoding, separator=separator)
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
    tree = Hierarchy(parents)
    tree.origin = HierarchyOrigin(
        "file",
        str(Path(path)),
        outline.sha256,
        round(time.perf_counter() - start, 4),
        outline.encoding,
        tuple(outline.notes),
    )
    for note in outline.notes:
        log.info("%s: %s.", path, note)
    return tree


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

    Examples
    --------
    >>> import setveil as sv
    >>> tree = sv.Hierarchy.from_paths([["tea", "hot drinks", "*"], ["milk", "*"]])
    >>> sv.write_hierarchy(tree, "drinks.json")
    >>> sv.read_hierarchy("drinks.json") == tree
    True
    """
    require_type("What is written must be a Hierarchy", tree, Hierarchy)
    require_type("A hierarchy is written to a path", path, (str, os.PathLike))
    path = Path(path)
    text = hierarchy_text(tree, path, name)
    try:
        content = text.encode()
        with staged_file(path) as beside:
            beside.write_bytes(content)
    except UnicodeEncodeError as error:
        raise HierarchyError(f"Cannot write {path}: a label is not text, {error}.") from error
    except OSError as error:
        raise OutputError(f"Cannot write {path}: {error.strerror or error}.") from error


def hierarchy_text(tree: Hierarchy, path: Path, name: str = "items") -> str:
    """Write a hierarchy as the text of a file, whose name says in which form."""
    write = {".txt": _amnesia_text, ".json": _amnesia_json}.get(path.suffix.lower(), _csv_text)
    return write(tree, path, name)


def _csv_text(tree: Hierarchy, path: Path, _name: str) -> str:
    for label in tree.labels:
        if label != label.strip() or any(sign in label for sign in "\0\r\n"):
            raise _unwritable(label, path, "begins or ends with a blank or contains a line break")

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
        f"Cannot write {path}: the label {shorten(label)} {why}, which this form cannot contain.",
        hint="Write a .json file instead, which contains any label.",
    )


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
            raise _unwritable(label, path, "is the word `has` or contains a space or a line break")
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
