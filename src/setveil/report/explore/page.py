"""The cost of guarantees over a grid of k, m and maybe rho, as one self-contained HTML page."""

from __future__ import annotations

import html
from collections.abc import Sequence

from setveil.base.wording import count
from setveil.report import glossary, words
from setveil.report.compare.charts import Drawing
from setveil.report.compare.html_tables import grid
from setveil.report.drawing import blocks
from setveil.report.drawing.plots import PlotSeries, Point, Small, plot
from setveil.report.drawing.scales import Numbers, Spaced
from setveil.report.explore.cells import (
    Explored,
    ExploredCell,
    at,
    has_rho,
    is_bound,
    is_taken,
    promise_of,
    rhos,
)
from setveil.report.explore.kinds import Curve, kind_of
from setveil.report.explore.text import columns_explained, reasons, standing, steps

TITLE = "What each guarantee costs"
_TINT = "0,114,178"  # of cells, the deeper the more is lost
_HEADS = {"occurrences": "Occur\u00adrences"}  # where a narrow column may break it
_DEEPEST = 0.6  # so that dark text on it can be read


def explored_html(found: Explored) -> str:
    """Make the internal page of an exploration: the losses, curves, all figures, and the commands."""
    files = ", ".join(map(blocks.data, found["inputs"]))
    size = f"{found['rows']:,} rows, {found['items']:,} {kind_of(found).unit}s"
    parts = [
        f"<h1>{TITLE}</h1>",
        f'<p class="of">{files}{", " if files else ""}{size}</p>',
        _answer(found),
        _losses(found),
        _curves(found),
        blocks.folded([_figures(found), _commands(found), _how(found)]),
    ]
    return blocks.page(TITLE, "\n".join(part for part in parts if part))


def _answer(found: Explored) -> str:
    first, *others = [*steps(found), *standing(found)] or ["Nothing is lost for any of the guarantees."]
    paragraphs = "\n".join(blocks.paragraph(line) for line in others)
    return f'<div class="verdict holds"><strong>{html.escape(first)}</strong>{paragraphs}</div>'


def _losses(found: Explored) -> str:
    """Show the losses as a table of k and m, for each rho; the deeper a cell's colour the more is lost."""
    most = max((cell["loss"] for cell in found["cells"] if cell["loss"] is not None), default=0.0)
    fits = "font-size:clamp(9px,2.4vw,15px);padding:8px 2px;text-align:center"
    heads = "".join(f'<th style="{fits}" scope="col">{k}</th>' for k in found["k"])
    corner = f"{glossary.named('m')} \\ {glossary.named('k')}"
    tables = []
    for rho in rhos(found):
        lines = []
        for m in found["m"]:
            cells = "".join(_cell(at(found, k=k, m=m, rho=rho), most, fits) for k in found["k"])
            lines.append(f'<tr><th style="{fits}" scope="row">{m}</th>{cells}</tr>')
        table = (
            f'<table class="heat">\n<thead><tr><th style="{fits}">{corner}</th>{heads}</tr></thead>\n'
            f"<tbody>\n{chr(10).join(lines)}\n</tbody>\n</table>"
        )
        tables.append(table if rho is None else blocks.subsection(html.escape(f"rho = {rho}"), table))
    name, meaning = kind_of(found).loss
    head = f"Loss{glossary.ask(name)}" if name in glossary.ENTRIES else "Loss"
    notes = [
        f"{name}, {meaning}, of the best release found: k across, m down. 0: nothing is lost; 1: "
        "nothing is left."
    ]
    if has_rho(found):
        notes.append("Bold, the front: every stronger guarantee loses more.")
    if any(map(is_bound, found["cells"])):
        notes.append("≤: an upper bound, as the search for the guarantee was not finished.")
    if any(map(is_taken, found["cells"])):
        names = ["k, m", "rho"] if has_rho(found) else ["k", "m"]
        notes.append(
            f"Small below a loss: {' and '.join(names)} of the stronger guarantee whose release is taken, as "
            "it loses less or there was no time for this one."
        )
    return blocks.section(head, *tables, *(blocks.paragraph(note, "small") for note in notes))


def _cell(cell: ExploredCell, most: float, style: str) -> str:
    if cell["loss"] is None:
        return f'<td style="{style};color:#555">-</td>'
    depth = _DEEPEST * (cell["loss"] / most) ** 0.5 if most else 0.0
    below = ""
    if is_taken(cell):
        taken = cell["made_for"]
        below = f'<br><span class="small">{",&nbsp;".join(map(str, taken.values()))}</span>'
    shown = ("≤&nbsp;" if is_bound(cell) else "") + html.escape(_short(cell["loss"]))
    if cell.get("front"):
        shown = f"<strong>{shown}</strong>"
    return f'<td style="{style};background:rgba({_TINT},{depth:.3f})">{shown}{below}</td>'


def _short(loss: float) -> str:
    """Write a loss so that it fits a narrow cell.

    >>> _short(0.0000652), _short(0.00058), _short(0.02047), _short(0), _short(1)
    ('<.0001', '0.0006', '0.02', '0', '1')
    """
    if 0 < loss < 0.0001:
        return "<.0001"
    return f"{loss:.1g}" if loss < 0.001 else f"{loss:.2g}"


def _curves(found: Explored) -> str:
    """Draw what the releases are worth against k: a line for each m, or for each rho at each m."""
    if has_rho(found):
        names = [(f"rho = {rho}", look) for look, rho in enumerate(rhos(found))]
        bands = [
            (
                f"m = {m}",
                _plots(found, [[at(found, k=k, m=m, rho=rho) for k in found["k"]] for rho in rhos(found)]),
            )
            for m in found["m"]
        ]
    else:
        names = [(f"m = {m}", look) for look, m in enumerate(found["m"])]
        bands = [("", _plots(found, [[at(found, k=k, m=m) for k in found["k"]] for m in found["m"]]))]
    bands = [(title, plots) for title, plots in bands if plots]
    if not bands or len(found["k"]) < 2:
        return ""
    caption = (
        "Each mark is the best release found for a guarantee; pale: its search was not finished, so the loss "
        "is at most as drawn. Of names more is better, of all else less. Small values have more room on "
        "some axes."
    )
    drawing = Drawing("Remaining detail", names, bands).as_html()
    return blocks.section("Remaining detail", blocks.figure(drawing, caption))


def _plots(found: Explored, lines: Sequence[Sequence[ExploredCell]]) -> list[Small]:
    drawn = [_plot(found, lines, curve) for curve in kind_of(found).all_curves()]
    return [one for one in drawn if one is not None]


def _plot(found: Explored, lines: Sequence[Sequence[ExploredCell]], curve: Curve) -> Small | None:
    title, axis, scale, percent, value = curve
    across = Spaced(found["k"], ordinal=False)
    series, values = [], []
    for look, line in enumerate(lines):
        cells = [cell for cell in line if cell["loss"] is not None]
        shown = [(cell, y) for cell in cells if (y := value(cell, found)) is not None]
        values += [y for _, y in shown]
        points = [Point(across.place(cell["k"]), y, pale=is_bound(cell)) for cell, y in shown]
        series.append(PlotSeries(look, points))
    if not values:
        return None
    up = Numbers(values, scale, percent=percent)
    return plot(across, up, ("k", axis), series, title=title, width=404, label=f"{title} against k")


def _figures(found: Explored) -> blocks.Section | None:
    kind = kind_of(found)
    lines = [
        [html.escape(promise_of(cell)), *map(html.escape, kind.numbers(cell))] for cell in found["cells"]
    ]
    table = grid(
        ["Guarantee", *(_HEADS.get(head, head[0].upper() + head[1:]) for head in kind.heads)],
        lines,
        [1.6, *(1.2 if head == "occurrences" else 1 for head in kind.heads)],
    )
    notes = [*columns_explained(found), *reasons(found)]
    inside = f"A line for each of {count(len(lines), 'guarantee')}, and what the columns mean."
    return blocks.fold("All figures", inside, table, *(blocks.paragraph(line, "small") for line in notes))


def _commands(found: Explored) -> blocks.Section | None:
    lines = [
        (html.escape(promise_of(cell)), blocks.code(cell["command"]))
        for cell in found["cells"]
        if cell["command"] is not None
    ]
    if not lines:
        return None
    about = (
        "DIR is the folder that the release is written to. A run on its own has more time than the search "
        "for this page had, so its release may lose less."
    )
    inside = f"The command for each of {count(len(lines), 'release')}."
    return blocks.fold("To make them", inside, blocks.paragraph(about), blocks.facts(lines))


def _how(found: Explored) -> blocks.Section | None:
    inside = "Algorithm, hierarchy, time, machine, version."
    return blocks.fold("Provenance", inside, blocks.facts(_made(found)))


def _made(found: Explored) -> list[tuple[str, str]]:
    hierarchy = found["hierarchy"]
    grouped = "none given: items that often occur together were grouped"
    how = kind_of(found).method()
    used = [how or ("Hierarchy", grouped if hierarchy is None else blocks.data(hierarchy))]
    if has_rho(found):
        used.append(("Sensitive", html.escape(", ".join(found["sensitive"]))))
    return [
        ("Algorithm", html.escape(found["algorithm"])),
        *used,
        ("Checked", "Each release was verified from the rows that it would publish."),
        ("Time", f"{words.whole_or(found['seconds'], 3)} s"),
        ("Machine", html.escape(found["made_on"])),
        ("Made with", html.escape(f"setveil {found['setveil']}")),
        ("This page", "is internal: it contains figures of the original and names your files."),
    ]
