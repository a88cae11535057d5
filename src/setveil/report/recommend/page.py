"""An advice as one self-contained HTML page."""

from __future__ import annotations

import html

from setveil.base.wording import count
from setveil.report import glossary
from setveil.report.compare.charts import Drawing
from setveil.report.compare.html_tables import grid
from setveil.report.drawing import blocks
from setveil.report.drawing.plots import PlotSeries, Point, plot
from setveil.report.drawing.scales import Numbers
from setveil.report.recommend.kinds import Recommended, Row, kind_of
from setveil.report.recommend.text import columns_explained, further, groups, headline, known_items, notes
from setveil.report.words import and_list


def advice_html(advice: Recommended) -> str:
    """Make the page of advice: the recommendation, all attempts, and the commands with file names."""
    files = ", ".join(map(blocks.data, advice["inputs"]))
    tried = count(len(advice["candidates"]), "method")
    parts = [
        "<h1>Releases by loss</h1>",
        f'<p class="of">{files}, {tried} tried</p>',
        _answer(advice),
        _tried(advice),
        _chart(advice),
        blocks.folded([_commands(advice), _decided(advice), _how(advice)]),
    ]
    return blocks.page("Releases by loss", "\n".join(part for part in parts if part))


def _answer(advice: Recommended) -> str:
    best = advice["best"]
    parts = [f"<strong>{html.escape(headline(advice))}</strong>", *map(blocks.paragraph, further(advice))]
    if best is not None:
        keeps = f"It keeps {best['keeps']}, checked on the rows that it would publish. To make it:"
        parts += [blocks.paragraph(keeps), f"<p>{blocks.code(best['command'])}</p>"]
    state = "holds" if best is not None else "fails"
    return f'<div class="verdict {state}">' + "\n".join(part for part in parts if part) + "</div>"


def _tried(advice: Recommended) -> str:
    """Show the table, a part for each reason why releases are listed apart."""
    kind, parts = kind_of(advice), []
    for title, rows in groups(advice):
        lines = [[html.escape(cell) for cell in kind.cells(row)] for row in rows]
        lines = [[f"{place} {name}", *rest] for place, name, *rest in lines]
        names = [head[0].upper() + glossary.named(head)[1:] for head in kind.heads]
        table = grid(names, lines, [2.2, *[1] * (len(names) - 1)])
        parts += [blocks.subsection(html.escape(title), table) if title else table]
    parts += [blocks.paragraph(line, "small") for line in (*columns_explained(advice), *notes(advice))]
    return blocks.section("Candidates", *parts)


def _chart(advice: Recommended) -> str:
    """Draw loss against the rows that are unique beyond the guarantee."""
    same: dict[tuple[float, float], list[Row]] = {}
    for row in advice["candidates"]:
        if row["loss"] is not None and row.get("risk_below_2") is not None and row["rows"]:
            same.setdefault((row["loss"], row["risk_below_2"] / row["rows"]), []).append(row)
    if len(same) < 2:
        return ""
    losses, shares = ([point[i] for point in same] for i in range(2))
    axis = "mean error of your queries" if advice["by"] == "are_mean" else f"loss ({kind_of(advice).loss})"
    known = known_items(advice)
    plotted = plot(
        Numbers(shares, "root", percent=True),
        Numbers(losses, "root", percent=False),
        (f"unique rows, {known} known", axis),
        [
            PlotSeries(look, [Point(share, loss, pale=not any(row["rank"] for row in rows))], size=5.5)
            for look, ((loss, share), rows) in enumerate(same.items())
        ],
        width=404,
        height=240,
        label=f"{axis} against unique rows",
    )
    names = [(and_list([row["name"] for row in rows]), look) for look, rows in enumerate(same.values())]
    caption = (
        f"Loss against the share of the rows that someone who knows their most identifying {known} finds "
        "alone. Lower and further left is better; pale marks are not recommended. Small values have more "
        "room on the axes."
    )
    figure = blocks.figure(Drawing("Loss against unique rows", names, [("", [plotted])]).as_html(), caption)
    return blocks.section("Loss against risk beyond the guarantee", figure)


def _commands(advice: Recommended) -> blocks.Section | None:
    lines = [
        (html.escape(row["name"]), blocks.code(row["command"]))
        for row in advice["candidates"]
        if row["status"] == "done"
    ]
    about = "DIR is the folder that the release is written to."
    if not lines:
        return None
    inside = f"The command for each of {count(len(lines), 'release')}."
    return blocks.fold("To make them", inside, blocks.paragraph(about), blocks.facts(lines))


def _how(advice: Recommended) -> blocks.Section | None:
    return blocks.fold("Provenance", "Machine, version.", blocks.facts(_made(advice)))


def _decided(advice: Recommended) -> blocks.Section | None:
    lines = []
    if advice["by"] == "f":
        lines.append(("Least loss is recommended:", f"{kind_of(advice).loss_explained()}."))
    elif advice["by"] == "lm":
        lines.append(
            ("Least LM is recommended.", "It weighs suppressing and merging alike for every method.")
        )
    else:
        lines.append(("The least mean error of your queries is recommended,", "of equals that of less LM."))
    if advice["hierarchy"]:
        rule = "A release that merges items whatever they mean is never recommended where there is one."
        lines.append(("The hierarchy says what may be merged.", rule))
    lines.append(
        (
            "Another release is named next to it",
            "if it leaves at most two thirds of the unique rows at nearly the same loss "
            f"({kind_of(advice).loss} at most 0.05 greater, the error of queries at most a tenth).",
        )
    )
    inside = "By what the release was chosen, and when another one is named."
    return blocks.fold("Criteria", inside, blocks.points(lines))


def _made(advice: Recommended) -> list[tuple[str, str]]:
    return [
        ("Machine", html.escape(advice["made_on"])),
        ("Made with", html.escape(f"setveil {advice['setveil']}")),
        ("This page", "is internal: it names your files."),
    ]
