"""All figures of a study: drawn, in sections, numbered on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from setveil.report.compare.charts import Drawing, draw_fronts, draw_lines
from setveil.report.compare.figures import line_figures
from setveil.report.compare.releases import Fronts, fronts_of
from setveil.report.compare.table import Family
from setveil.report.drawing import blocks

SECTIONS = {
    "loss": "Loss",
    "answers": "Remaining usefulness",
    "risk": "Risk",
    "time": "Time",
}
MORE = "More figures"


@dataclass(frozen=True)
class Figure:
    """A figure, its section, and whether it is small enough to be next to others."""

    stem: str
    section: str
    caption: str
    drawing: Drawing
    small: bool
    measure: str  # what it shows, in a few words


class FigureNumbers:
    """Numbers the figures of a page."""

    def __init__(self) -> None:
        self._last = 0

    def show(self, figure: Figure) -> str:
        """Make an HTML figure, numbered, which a printer does not cut."""
        self._last += 1
        caption = figure.caption.replace(" = ", "\u00a0=\u00a0")
        return blocks.figure(figure.drawing.as_html(), f"Figure {self._last}. {caption}")

    def show_all(self, drawn: Sequence[Figure]) -> str:
        """Show figures below each other, small ones side by side where there is room."""
        out: list[str] = []
        small: list[str] = []
        for figure in drawn:
            if figure.small:
                small.append(self.show(figure))
            else:
                out += [*_beside(small), self.show(figure)]
                small = []
        return "\n".join([*out, *_beside(small)])


def _beside(small: Sequence[str]) -> list[str]:
    style = "display:grid;gap:0 24px;grid-template-columns:repeat(auto-fit,minmax(300px,1fr))"
    return [f'<div style="{style}">\n' + "\n".join(small) + "\n</div>"] if small else []


def draw(family: Family, suffix: str) -> list[Figure]:
    """Draw all figures of a family, loss against risk first."""
    drawn = []
    for fronts in fronts_of(family, suffix):
        caption = f"{fronts.title}. {_front_caption(fronts)}"
        drawn.append(Figure(fronts.stem, fronts.stem, caption, draw_fronts(fronts), False, fronts.title))
    for figure in line_figures(family, suffix):
        section = SECTIONS.get(figure.measure.section, MORE)
        drawing = draw_lines(figure)
        small = sum(len(plots) for _, plots in drawing.bands) == 1
        drawn.append(Figure(figure.stem, section, figure.caption, drawing, small, figure.measure.axis))
    return drawn


def _front_caption(fronts: Fronts) -> str:
    most = max(len(release.risks) for releases in fronts.releases.values() for release in releases)
    repeated = f" Medians of up to {most} repetitions, with the least and the greatest." if most > 1 else ""
    return (
        f"{fronts.risk.about} Each mark is a release; lower and further left is better. Steps join the "
        "Pareto-optimal releases of a method; the others are pale. Small losses have more room on the axis "
        f"than large ones.{repeated}"
    )
