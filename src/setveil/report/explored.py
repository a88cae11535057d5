"""What promises over a grid of k and m cost: in words, and as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from setveil.report import words
from setveil.utility import named
from setveil.wording import are, count

Cell = dict[str, Any]

HEADS = ("loss", "names kept", "occurrences", "left out", "query error", "unique rows")
OF_TABLES = ("loss", "R", "T", "classes", "left out", "query error", "unique rows")
HARDLY = 0.02  # how much more a loss may be, relatively, to be called hardly more


def explored_text(found: dict[str, Any]) -> str:
    """Say what the promises cost: the losses, sentences on them, and a line for each promise.

    Parameters
    ----------
    found : dict
        What ``explore --json`` prints.

    Returns
    -------
    str
        Two tables, sentences, a command and what the columns mean.
    """
    title = f"Loss ({loss_words(found)[0]}) for each k (across) and m (down):"
    parts = [title, "", *_losses(found), ""]
    parts += [*steps(found), *standing(found), ""]
    parts += [*_lines(found), "", *columns_explained(found)]
    parts += reasons(found)
    if found["command"] is not None:
        parts += ["", "To make a release, with the k and m that you choose:", "", f"    {found['command']}"]
    return "\n".join(parts)


def heads(found: dict[str, Any]) -> tuple[str, ...]:
    """Name the columns of the table of all figures."""
    return OF_TABLES if of_table(found) else HEADS


def of_table(found: dict[str, Any]) -> bool:
    """Whether the data are a table with further columns."""
    return "share" in found


def loss_words(found: dict[str, Any]) -> tuple[str, str]:
    """Name the loss, and say what it is."""
    if not of_table(found):
        what = named(found["objective"])
        return what.title, what.meaning
    share = Fraction(found["share"])
    columns, items = (named(name).meaning for name in ("relational_loss", "transaction_loss"))
    return "f", f"{share} R + {1 - share} T, where R is the {columns} and T the {items}"


def at(found: dict[str, Any], k: int, m: int | str) -> Cell:
    """Find the cell of a promise."""
    return next(cell for cell in found["cells"] if (cell["k"], cell["m"]) == (k, m))


def promise(k: object, m: object) -> str:
    """Name a promise."""
    return f"k = {k}, m = {m}"


def is_taken(cell: Cell) -> bool:
    """Whether the release of a cell was made for a stronger promise."""
    return cell["made_for"] is not None and cell["made_for"] != {"k": cell["k"], "m": cell["m"]}


def loss_text(cell: Cell) -> str:
    """Write the loss of a cell, marked where less may be possible."""
    if cell["loss"] is None:
        return "-"
    return ("~" if cell["proven"] is False else "") + words.measure(cell["loss"])


def numbers(cell: Cell, found: dict[str, Any]) -> tuple[str, ...]:
    """Write what is known of a cell's release, for the columns `heads`."""
    if cell["loss"] is None:
        return ("-", *[""] * (len(heads(found)) - 1))
    told: tuple[str, ...]
    if of_table(found):
        told = (
            words.measure(cell["relational_loss"]),
            words.measure(cell["transaction_loss"]),
            f"{cell['classes']:,}",
        )
    else:
        told = (
            words.percent(cell["items_kept"], found["items"]),
            words.percent(cell["occurrences_kept"], found["occurrences"]),
        )
    return (
        loss_text(cell),
        *told,
        words.percent(cell["suppressed_occurrences"], found["occurrences"]),
        "" if cell["query_error"] is None else words.percent(cell["query_error"]),
        ("" if cell["unique_exact"] else "about ") + words.percent(cell["unique_rows"], found["rows"]),
    )


def steps(found: dict[str, Any]) -> list[str]:
    """Say where the loss rises most, along k and along m, and which greater k costs hardly anything.

    Only of promises that were searched: of others the loss of a stronger one is shown.
    """
    ks, ms = found["k"], found["m"]
    along_k = [pair for m in ms for pair in pairwise(_searched([at(found, k, m) for k in ks]))]
    along_m = [pair for k in ks for pair in pairwise(_searched([at(found, k, m) for m in ms]))]
    out = []
    if steepest := _steepest(along_k):
        weak, strong = steepest
        where = f"Along k the loss rises most from {weak['k']} to {strong['k']}, at m = {weak['m']}"
        out.append(f"{where}: {_from_to(weak, strong)}.")
    if steepest := _steepest(along_m):
        weak, strong = steepest
        where = f"Along m it rises most from {weak['m']} to {strong['m']}, at k = {weak['k']}"
        out.append(f"{where}: {_from_to(weak, strong)}.")
    free = [
        f"k = {b} loses hardly more than k = {a}"
        for a, b in pairwise(ks)
        if all(_is_free(at(found, a, m), at(found, b, m)) for m in ms)
    ]
    return [*out, *([f"At every m, {words.and_list(free)}."] if free else [])]


def _searched(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell["status"] == "done"]


def _steepest(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[Cell, Cell] | None:
    """Find the first of the greatest rises of the loss; None where it never rises."""
    rises = [strong["loss"] - weak["loss"] for weak, strong in pairs]
    most = max(rises, default=0.0)
    return pairs[rises.index(most)] if most > 0 else None


def _is_free(weak: Cell, strong: Cell) -> bool:
    """Whether a stronger promise costs hardly more, as far as both were searched."""
    if not weak["status"] == strong["status"] == "done":
        return False
    return bool(strong["loss"] - weak["loss"] <= HARDLY * strong["loss"])


def _from_to(weak: Cell, strong: Cell) -> str:
    return f"from {words.measure(weak['loss'])} to {words.measure(strong['loss'])}"


def standing(found: dict[str, Any]) -> list[str]:
    """Say how far the losses can be relied on: which are not proven, and which are of other releases."""
    done = [cell for cell in found["cells"] if cell["loss"] is not None]
    out = []
    unproven = sum(cell["proven"] is False for cell in done)
    if found["stopped"]:
        out.append("The search was stopped: what is shown is what was found until then.")
    if unproven:
        out.append(
            f"~: of {count(unproven, 'promise')} the loss is not proven to be the least; with more time "
            "it may turn out less."
        )
    elif done and done[0]["proven"] is not None:
        out.append("Each loss is proven to be the least possible.")
    taken = sum(is_taken(cell) for cell in done if cell["status"] != "unsearched")
    if taken:
        out.append(
            f"{count(taken, 'promise')} {are(taken)} kept by the release for a stronger one, which loses "
            "less than the one found for the promise itself (made for)."
        )
    late = sum(cell["status"] == "unsearched" for cell in done)
    if late:
        why = "" if found["stopped"] else ", as time was up"
        more = "" if found["stopped"] else " A greater time budget helps."
        out.append(
            f"{count(late, 'promise')} {'was' if late == 1 else 'were'} not searched{why}: shown is the best "
            f"release for a stronger one (made for).{more}"
        )
    return out


def reasons(found: dict[str, Any]) -> list[str]:
    """Say why there is no release for some promises, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for cell in found["cells"]:
        if cell["loss"] is None:
            by_reason.setdefault(_reason(cell["error"]), []).append(promise(cell["k"], cell["m"]))
    return [f"No release for {'; '.join(some)}: {why}" for why, some in by_reason.items()]


def _reason(error: str) -> str:
    """Shorten an error to its reason: the promise that it begins with is named already."""
    if not error:
        return "not searched, as time was up or the search was stopped."
    return error.partition(" cannot be reached: ")[2] or error


def columns_explained(found: dict[str, Any]) -> list[str]:
    """Say what the columns mean."""
    name, meaning = loss_words(found)
    knows = {cell.get("known") for cell in found["cells"] if cell["loss"] is not None}
    fixed = len(knows) == 1 and len(found["m"]) > 1
    who = count(knows.pop(), "item") if fixed else "m + 1 items, one more than promised"
    known = "all quasi-identifiers and the" if of_table(found) else "their"
    comma = "" if fixed else ","
    own = [
        "names kept: items of the data that are published as themselves; occurrences: their occurrences.",
        "left out: suppressed occurrences.",
        "query error: median relative error of 1,000 random queries for two items, answered with the counts.",
    ]
    of_tables = [
        "classes: rows with the same published quasi-identifiers. left out: suppressed occurrences.",
        "query error: median relative error of 200 random queries for columns and items, answered with the "
        "counts.",
    ]
    return [
        f"loss: {name}, {meaning}, 0 to 1 (nothing left).",
        *(of_tables if of_table(found) else own),
        f"unique rows: those that someone who knows {known} most identifying {who}{comma} finds alone.",
    ]


def _losses(found: dict[str, Any]) -> list[str]:
    lines = [["m \\ k", *map(str, found["k"])]]
    lines += [[str(m), *(loss_text(at(found, k, m)) for k in found["k"])] for m in found["m"]]
    return _aligned(lines, lambda column: column == 0)


def _lines(found: dict[str, Any]) -> list[str]:
    names = ["k", "m", *heads(found), *(["made for"] if any(map(is_taken, found["cells"])) else [])]
    lines = [names]
    for cell in found["cells"]:
        taken = promise(**cell["made_for"]) if is_taken(cell) else ""
        lines.append([str(cell["k"]), str(cell["m"]), *numbers(cell, found), taken][: len(names)])
    return _aligned(lines, lambda column: False)


def _aligned(lines: Sequence[Sequence[str]], left: Callable[[int], bool]) -> list[str]:
    widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
    return [
        "  ".join(
            text.ljust(width) if left(i) else text.rjust(width)
            for i, (text, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
