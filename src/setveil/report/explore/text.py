"""The cost of guarantees over a grid of k, m and maybe rho, as plain text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise, product

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.explore.cells import (
    AT_MOST,
    Axes,
    Explored,
    ExploredCell,
    at,
    has_rho,
    is_bound,
    is_taken,
    loss_text,
    parameters,
    promise,
    promise_of,
    rhos,
)
from setveil.report.explore.kinds import kind_of

HARDLY = 0.02  # how much more a loss may be, relatively, to be called hardly more


def explored_text(found: Explored) -> str:
    """Say what the guarantees cost: tables of losses and all figures, sentences, a command, a legend."""
    title = f"Loss ({kind_of(found).loss[0]}) for each k (across) and m (down)"
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


def steps(found: Explored) -> list[str]:
    """Say where the loss of searched guarantees rises most, and which step costs hardly anything."""
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


def _lines_along(found: Explored, axes: Axes, name: str) -> list[list[ExploredCell]]:
    """List the cells along a parameter, from weak to strong, for each choice of the others."""
    others = [other for other in axes if other != name][::-1]
    return [
        [at(found, **{name: value, **dict(zip(others, chosen, strict=True))}) for value in axes[name]]
        for chosen in product(*(axes[other] for other in others))
    ]


def _searched(cells: Sequence[ExploredCell]) -> list[ExploredCell]:
    return [cell for cell in cells if cell["status"] == "done"]


def _steepest(pairs: Sequence[tuple[ExploredCell, ExploredCell]]) -> tuple[ExploredCell, ExploredCell] | None:
    """Find the first of the greatest rises of the loss; None where it never rises."""
    rises = [strong["loss"] - weak["loss"] for weak, strong in pairs]
    most = max(rises, default=0.0)
    return pairs[rises.index(most)] if most > 0 else None


def _is_free(weak: ExploredCell, strong: ExploredCell) -> bool:
    """Return whether a stronger guarantee costs hardly more: what the weaker one costs must be known."""
    if not weak["status"] == strong["status"] == "done" or is_bound(weak):
        return False
    return bool(strong["loss"] - weak["loss"] <= HARDLY * strong["loss"])


def _from_to(weak: ExploredCell, strong: ExploredCell) -> str:
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
        out.append(f"Each loss is proven to be the least {kind_of(found).least}.")
    taken = sum(is_taken(cell) for cell in done if cell["status"] != "unsearched")
    if taken:
        out.append(
            f"{count(taken, 'guarantee')} {are(taken)} kept by the release for a stronger one, which loses "
            "less than the one found for the guarantee itself (made for)."
        )
    late = sum(cell["status"] == "unsearched" for cell in done)
    if late:
        every = len(found["cells"])
        if found["stopped"]:
            what, more = f"{count(late, 'guarantee')} {'was' if late == 1 else 'were'} not searched", ""
        else:
            what, more = (
                f"Time ran out for {late} of {count(every, 'guarantee')}",
                " A greater time budget helps.",
            )
        out.append(f"{what}: what is shown is an upper bound, the loss for a stronger one (made for).{more}")
    return out


def reasons(found: Explored) -> list[str]:
    """Say why there is no release for some guarantees, each reason once."""
    by_reason: dict[str, list[str]] = {}
    for cell in found["cells"]:
        if cell["loss"] is None:
            by_reason.setdefault(_reason(cell["error"]), []).append(promise_of(cell))
    return [f"No release for {'; '.join(some)}: {why}" for why, some in by_reason.items()]


def _reason(error: str) -> str:
    """Shorten an error to its reason: the guarantee that it begins with is named already."""
    if not error:
        return "not searched, as time was up or the search was stopped."
    return error.partition(" cannot be met: ")[2] or error


def columns_explained(found: Explored) -> list[str]:
    """Say what the columns mean."""
    kind = kind_of(found)
    name, meaning = kind.loss
    knows = {cell.get("known") for cell in found["cells"] if cell["loss"] is not None}
    fixed = len(knows) == 1 and len(found["m"]) > 1
    who = count(knows.pop(), kind.unit) if fixed else f"m + 1 {kind.unit}s, one more than guaranteed"
    public = ", none of them sensitive" if found.get("knows") == "public" else ""
    return [
        f"loss: {name}, {meaning}, 0 to 1 (nothing left).",
        *kind.columns_explained(),
        f"unique rows: no other row matches {kind.known} most identifying {who}{public}.",
    ]


def _losses(found: Explored, rho: float | str | None) -> list[str]:
    lines = [["m \\ k", *map(str, found["k"])]]
    lines += [[str(m), *(loss_text(at(found, k=k, m=m, rho=rho)) for k in found["k"])] for m in found["m"]]
    return _aligned(lines, lambda column: column == 0)


def _lines(found: Explored) -> list[str]:
    names = ["k", "m", *(["rho"] if has_rho(found) else [])]
    taken = ["made for"] if any(map(is_taken, found["cells"])) else []
    front = ["front"] if has_rho(found) else []
    kind = kind_of(found)
    lines = [[*names, *kind.heads, *front, *taken]]
    for cell in found["cells"]:
        line = [*map(str, parameters(cell).values()), *kind.numbers(cell)]
        line += ["*" if cell.get("front") else ""] if front else []
        line += [promise(cell["made_for"]) if is_taken(cell) else ""] if taken else []
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
