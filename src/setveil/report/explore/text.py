"""What promises over a grid of k and m, and maybe rho, cost: in words, and as plain text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from itertools import pairwise, product
from typing import Any, NotRequired, TypedDict

from setveil.report import words
from setveil.report.record import Null, Number
from setveil.utility import named
from setveil.wording import are, count


class Cell(TypedDict):
    """A promise, and the release that loses least and keeps it; where there is none, most is missing."""

    k: int
    m: int | Any  # or "inf"
    rho: NotRequired[Number]
    status: str
    error: str
    seconds: float
    loss: float | Null
    made_for: dict[str, object] | Null
    command: str | Null
    own_loss: float | None
    lower_bound: float
    proven: bool | None
    at_most: bool
    gap: float
    front: NotRequired[bool]
    items_kept: int
    occurrences_kept: int
    suppressed_occurrences: int
    hidden_occurrences: int
    greatest_confidence: float | None
    relational_loss: float
    transaction_loss: float
    classes: int
    order: str
    kept: dict[str, float]
    whole: float
    query_error: float | None
    known: int | Any  # "inf" where m is
    unique_rows: float | None
    unique_exact: bool | None


class Explored(TypedDict):
    """What ``explore --json`` prints."""

    objective: str
    weighted: NotRequired[bool]
    share: NotRequired[str]
    parts: NotRequired[list[str]]
    fact_loss: NotRequired[str]
    algorithm: str
    k: list[int]
    m: list[int | str]
    rho: NotRequired[list[Number]]
    sensitive: NotRequired[list[str]]
    knows: NotRequired[str]
    rows: int
    items: int
    occurrences: int
    command: str | Null
    hierarchy: str | None
    inputs: list[str]
    cells: list[Cell]
    stopped: bool
    seconds: float
    made_on: str
    setveil: str


Axes = Mapping[str, Sequence[Any]]  # the values of each parameter

HEADS = ("loss", "names kept", "occurrences", "left out", "query error", "unique rows")
OF_TABLES = ("loss", "R", "T", "classes", "left out", "query error", "unique rows")
WITH_RHO = (
    "loss", "gap", "names kept", "occurrences", "left out", "hidden", "learned", "query error", "unique rows",
)  # fmt: skip
# Losses that no measure is: the measure beside them, their names, what is different.
_NEAR = {
    "items": ("lm", words.objective("items"), ""),
    "entropy-max": ("entropy", "entropy-max", "; what is left out counts more"),
}
AT_MOST = "<="  # before a loss that is a bound
HARDLY = 0.02  # how much more a loss may be, relatively, to be called hardly more


def explored_text(found: Explored) -> str:
    """Say what the promises cost: the losses, sentences on them, and a line for each promise.

    Returns
    -------
    str
        Tables of the losses and of all figures, sentences, a command and what the columns mean.
    """
    title = f"Loss ({loss_words(found)[0]}) for each k (across) and m (down)"
    parts = []
    for rho in rhos(found):
        at_rho = "" if rho is None else f", rho = {rho}"
        parts += [f"{title}{at_rho}:", "", *_losses(found, rho), ""]
    parts += [*steps(found), *standing(found), ""]
    parts += [*_lines(found), "", *columns_explained(found)]
    parts += reasons(found)
    if found["command"] is not None:
        which = "k and m" if rhos(found) == [None] else "k, m and rho"
        parts += ["", f"To make a release, with the {which} that you choose:", "", f"    {found['command']}"]
    return "\n".join(parts)


def heads(found: Explored) -> tuple[str, ...]:
    """Name the columns of the table of all figures."""
    if has_rho(found):
        return WITH_RHO
    if of_facts(found):
        return ("loss", "order", *found["parts"], "all", "left out", "unique rows")
    return OF_TABLES if of_table(found) else HEADS


def of_table(found: Explored) -> bool:
    """Whether the data are a table with further columns."""
    return "share" in found


def of_facts(found: Explored) -> bool:
    """Whether the rows hold facts: codes with dates or amounts, or of several columns."""
    return "parts" in found


def has_rho(found: Explored) -> bool:
    """Whether the promises say how likely a sensitive item may become."""
    return "rho" in found


def rhos(found: Explored) -> list[Number] | list[None]:
    """List the values of rho, the greatest first; None alone where there is none."""
    return found.get("rho") or [None]


def loss_words(found: Explored) -> tuple[str, str]:
    """Name the loss, and say what it is."""
    if found.get("fact_loss") == "parts" and found["objective"] == "lm":
        return "loss by parts", "average of what each part of a fact loses by itself, by weight"
    if not of_table(found):
        objective, weighted = found["objective"], "weighted " if found.get("weighted") else ""
        near, title, more = _NEAR.get(objective, (objective, "", ""))
        what = named(near)
        return f"{weighted}{title or what.title}", f"{what.meaning}{more}"
    share = Fraction(found["share"])
    columns, items = (named(name).meaning for name in ("relational_loss", "transaction_loss"))
    return "f", f"{share} R + {1 - share} T, where R is the {columns} and T the {items}"


def at(found: Explored, k: int, m: int | str, rho: float | str | None = None) -> Cell:
    """Find the cell of a promise."""
    return next(cell for cell in found["cells"] if (cell["k"], cell["m"], cell.get("rho")) == (k, m, rho))


def promise(k: object, m: object, rho: object = None) -> str:
    """Name a promise."""
    return f"k = {k}, m = {m}" if rho is None else f"k = {k}, m = {m}, rho = {rho}"


def parameters(cell: Cell) -> dict[str, object]:
    """Return the parameters of the promise of a cell."""
    return {"k": cell["k"], "m": cell["m"], **({"rho": cell["rho"]} if "rho" in cell else {})}


def promise_of(cell: Cell) -> str:
    """Name the promise of a cell."""
    return promise(**parameters(cell))


def is_taken(cell: Cell) -> bool:
    """Whether the release of a cell was made for a stronger promise."""
    made = cell["made_for"]
    return made is not None and made.items() - parameters(cell).items() != set()


def is_bound(cell: Cell) -> bool:
    """Whether the loss of a cell is only a bound: its search was not finished, so less may do."""
    return cell["loss"] is not None and cell["at_most"]


def loss_text(cell: Cell, mark: str = AT_MOST) -> str:
    """Write the loss of a cell, marked where it is a bound."""
    if cell["loss"] is None:
        return "-"
    return (mark if is_bound(cell) else "") + words.measure(cell["loss"])


def numbers(cell: Cell, found: Explored, mark: str = AT_MOST) -> tuple[str, ...]:
    """Write what is known of a cell's release, for the columns `heads`."""
    if cell["loss"] is None:
        return ("-", *[""] * (len(heads(found)) - 1))
    told: tuple[str, ...]
    unique = "" if cell["unique_rows"] is None else _unique(cell["unique_rows"], cell["unique_exact"], found)
    left_out = words.percent(cell["suppressed_occurrences"], found["occurrences"])
    if of_facts(found):
        shares = [*(cell["kept"][part] for part in found["parts"]), cell["whole"]]
        return (loss_text(cell, mark), cell["order"], *map(words.percent, shares), left_out, unique)
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
    learned: tuple[str, ...] = ()
    gap: tuple[str, ...] = ()
    if has_rho(found):
        gap = (words.percent(cell["gap"]),)
        most = cell["greatest_confidence"]
        learned = (f"{cell['hidden_occurrences']:,}", "" if most is None else words.percent(most))
    return (
        loss_text(cell, mark),
        *gap,
        *told,
        left_out,
        *learned,
        "" if cell["query_error"] is None else words.percent(cell["query_error"]),
        unique,
    )


def _unique(number: float, exact: bool | None, found: Explored) -> str:
    return ("" if exact else "about ") + words.percent(number, found["rows"])


def steps(found: Explored) -> list[str]:
    """Say where the loss rises most along each parameter, and which k or rho costs hardly more than another.

    Only of promises that were searched: of others the loss of a stronger one is shown.
    """
    axes: Axes = {"k": found["k"], "m": found["m"], **({"rho": found["rho"]} if "rho" in found else {})}
    out = []
    for name in axes:
        along = [pair for line in _lines_along(found, axes, name) for pair in pairwise(_searched(line))]
        if steepest := _steepest(along):
            weak, strong = (parameters(cell) for cell in steepest)
            what = "Along k the loss" if name == "k" else f"Along {name} it"
            where = ", ".join(f"{other} = {weak[other]}" for other in axes if other != name)
            rise = f"{what} rises most from {weak[name]} to {strong[name]}, at {where}"
            out.append(f"{rise}: {_from_to(*steepest)}.")
    for name, values in axes.items():
        lines = _lines_along(found, axes, name)
        free = [
            f"{name} = {b} loses hardly more than {name} = {a}"
            for i, (a, b) in enumerate(pairwise(values))
            if all(_is_free(line[i], line[i + 1]) for line in lines)
        ]
        others = words.and_list([other for other in axes if other != name])
        out += [f"At every {others}, {words.and_list(free)}."] if free and name != "m" else []
    return out


def _lines_along(found: Explored, axes: Axes, name: str) -> list[list[Cell]]:
    """List the cells along a parameter, from weak to strong, for each choice of the others."""
    others = [other for other in axes if other != name][::-1]
    return [
        [at(found, **{name: value, **dict(zip(others, chosen, strict=True))}) for value in axes[name]]
        for chosen in product(*(axes[other] for other in others))
    ]


def _searched(cells: Sequence[Cell]) -> list[Cell]:
    return [cell for cell in cells if cell["status"] == "done"]


def _steepest(pairs: Sequence[tuple[Cell, Cell]]) -> tuple[Cell, Cell] | None:
    """Find the first of the greatest rises of the loss; None where it never rises."""
    rises = [strong["loss"] - weak["loss"] for weak, strong in pairs]
    most = max(rises, default=0.0)
    return pairs[rises.index(most)] if most > 0 else None


def _is_free(weak: Cell, strong: Cell) -> bool:
    """Whether a stronger promise costs hardly more: what the weaker one costs must be known."""
    if not weak["status"] == strong["status"] == "done" or is_bound(weak):
        return False
    return bool(strong["loss"] - weak["loss"] <= HARDLY * strong["loss"])


def _from_to(weak: Cell, strong: Cell) -> str:
    return f"from {loss_text(weak, 'at most ')} to {loss_text(strong, 'at most ')}"


def standing(found: Explored) -> list[str]:
    """Say how far the losses can be relied on: which are not proven, and which are of other releases."""
    done = [cell for cell in found["cells"] if cell["loss"] is not None]
    out = []
    bounds = sum(map(is_bound, done))
    if found["stopped"]:
        out.append("The search was stopped: what is shown is what was found until then.")
    if bounds:
        what = f"{count(bounds, 'loss', 'losses')} of {len(done)} {are(bounds)} an upper bound"
        out.append(
            f"{AT_MOST} at most: {what}, as the search was not finished; with more time less may be found."
        )
    elif done and done[0]["proven"] is not None:
        least = "of all orders" if of_facts(found) else "possible"
        out.append(f"Each loss is proven to be the least {least}.")
    taken = sum(is_taken(cell) for cell in done if cell["status"] != "unsearched")
    if taken:
        out.append(
            f"{count(taken, 'promise')} {are(taken)} kept by the release for a stronger one, which loses "
            "less than the one found for the promise itself (made for)."
        )
    late = sum(cell["status"] == "unsearched" for cell in done)
    if late:
        every = len(found["cells"])
        if found["stopped"]:
            what, more = f"{count(late, 'promise')} {'was' if late == 1 else 'were'} not searched", ""
        else:
            what, more = (
                f"Time ran out for {late} of {count(every, 'promise')}",
                " A greater time budget helps.",
            )
        out.append(f"{what}: what is shown is an upper bound, the loss for a stronger one (made for).{more}")
    return out


def reasons(found: Explored) -> list[str]:
    """Say why there is no release for some promises, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for cell in found["cells"]:
        if cell["loss"] is None:
            by_reason.setdefault(_reason(cell["error"]), []).append(promise_of(cell))
    return [f"No release for {'; '.join(some)}: {why}" for why, some in by_reason.items()]


def _reason(error: str) -> str:
    """Shorten an error to its reason: the promise that it begins with is named already."""
    if not error:
        return "not searched, as time was up or the search was stopped."
    return error.partition(" cannot be reached: ")[2] or error


def columns_explained(found: Explored) -> list[str]:
    """Say what the columns mean."""
    name, meaning = loss_words(found)
    knows = {cell.get("known") for cell in found["cells"] if cell["loss"] is not None}
    fixed = len(knows) == 1 and len(found["m"]) > 1
    one = "fact" if of_facts(found) else "item"
    who = count(knows.pop(), one) if fixed else f"m + 1 {one}s, one more than promised"
    known = "all quasi-identifiers and the" if of_table(found) else "their"
    public = ", none of them sensitive" if found.get("knows") == "public" else ""
    comma = f"{public}," if public or not fixed else ""
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
    if of_facts(found):
        names = words.and_list(found["parts"])
        own = [
            "order: where periods and bands are dropped: first, last, or at a depth of the codes' hierarchy.",
            f"{names}: share of all facts that keep it at its finest; all: that keep every part.",
            "left out: suppressed occurrences.",
        ]
    if has_rho(found):
        own[1:] = [
            "left out: suppressed occurrences; hidden: those of sensitive items among them.",
            "learned: greatest chance to be right about a sensitive item, with what the promise covers.",
            "query error: median relative error of 1,000 random queries for two items.",
            "gap: share of the loss that may be too much; 0 %: proven.",
            "front (*): every stronger promise loses more.",
        ]
    return [
        f"loss: {name}, {meaning}, 0 to 1 (nothing left).",
        *(of_tables if of_table(found) else own),
        f"unique rows: those that someone who knows {known} most identifying {who}{comma} finds alone.",
    ]


def _losses(found: Explored, rho: float | str | None) -> list[str]:
    lines = [["m \\ k", *map(str, found["k"])]]
    lines += [[str(m), *(loss_text(at(found, k, m, rho)) for k in found["k"])] for m in found["m"]]
    return _aligned(lines, lambda column: column == 0)


def _lines(found: Explored) -> list[str]:
    names = ["k", "m", *(["rho"] if has_rho(found) else [])]
    taken = ["made for"] if any(map(is_taken, found["cells"])) else []
    front = ["front"] if has_rho(found) else []
    lines = [[*names, *heads(found), *front, *taken]]
    for cell in found["cells"]:
        line = [*map(str, parameters(cell).values()), *numbers(cell, found)]
        line += ["*" if cell.get("front") else ""] if front else []
        line += [promise(**cell["made_for"]) if is_taken(cell) else ""] if taken else []
        lines.append(line)
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
