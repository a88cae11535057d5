"""Building blocks of an HTML page: style, bars, tables, escaped text."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from setveil.base.wording import visible
from setveil.report import glossary

# Okabe and Ito's blue and orange, and a dark grey: apart in brightness too, for a black-and-white print.
UNCHANGED, GENERALIZED, SUPPRESSED = "#0072b2", "#e69f00", "#444444"
# Bars of the original are pale with an outline, those of the release full: fill and outline.
BEFORE, AFTER = ("#dcdcdc", "#666666"), (UNCHANGED, UNCHANGED)

STYLE = """
:root { color-scheme: light; }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 900px; padding: 24px 28px 48px; color: #1a1a1a; background: #fff;
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif; }
h1 { font-size: 26px; line-height: 1.25; margin: 0; }
h2 { font-size: 20px; margin: 36px 0 8px; padding-bottom: 4px; border-bottom: 1px solid #d0d0d0; }
h3 { font-size: 16px; margin: 24px 0 4px; }
h1, h2, h3, b { overflow-wrap: anywhere; }
p, ul { margin: 8px 0; max-width: 84ch; text-wrap: pretty; overflow-wrap: anywhere; }
ul { padding-left: 22px; }
li { margin: 4px 0; }
.of { color: #555; margin: 2px 0 18px; overflow-wrap: anywhere; max-width: none; }
.verdict { border: 1px solid #0072b2; border-left-width: 10px; border-radius: 4px; padding: 14px 18px;
  margin: 12px 0; }
.verdict.fails { border-color: #b03a00; background: #fdf1ea; }
.verdict strong { display: block; font-size: 22px; }
.verdict p { margin: 4px 0 0; }
.small, .name { color: #555; font-size: .875em; }
.tiles { display: grid; gap: 12px; margin: 16px 0;
  grid-template-columns: repeat(auto-fit, minmax(min(150px, 100%), 1fr)); }
.tile { border: 1px solid #d0d0d0; border-radius: 4px; padding: 10px 12px; overflow-wrap: anywhere; }
.tile b { display: block; font-size: 20px; line-height: 1.3; }
.tile span { display: block; color: #555; font-size: .875em; line-height: 1.4; }
svg { display: block; width: 100%; }
figure { margin: 14px 0; }
figure svg { width: auto; max-width: 100%; height: auto; }
figcaption { color: #555; font-size: .875em; max-width: 92ch; margin-top: 4px; text-wrap: pretty; }
.legend { display: flex; flex-wrap: wrap; gap: 4px 24px; padding: 0; list-style: none; max-width: none; }
.legend svg { display: inline-block; width: 12px; height: 12px; margin-right: 6px; }
table { width: 100%; border-collapse: collapse; table-layout: fixed; font-size: .9375em; margin: 12px 0; }
th, td { text-align: left; padding: 5px 12px 5px 0; vertical-align: top; overflow-wrap: anywhere;
  border-bottom: 1px solid #e4e4e4; }
thead th { font-size: .9375em; color: #555; font-weight: 600; vertical-align: bottom; }
tbody th { font-weight: normal; }
tbody th[colspan] { font-weight: 600; padding-top: 12px; }
.number { text-align: right; font-variant-numeric: tabular-nums; }
.lines td { vertical-align: middle; }
.gauge svg { margin: 2px 0 3px; overflow: visible; }
.name { display: block; }
.names .name, li .name, p .name { display: inline; }
.facts th { width: 24%; font-weight: 600; }
code { font: .875em/1.4 ui-monospace, "Cascadia Mono", Menlo, Consolas, monospace; overflow-wrap: anywhere; }
.decision { border: 1px solid #888; border-radius: 4px; padding: 12px 18px 18px; margin: 12px 0; }
.box { display: inline-block; width: .9em; height: .9em; border: 1px solid #1a1a1a; margin-right: 8px;
  vertical-align: -.1em; }
.blanks { display: grid; grid-template-columns: 2fr 1fr 2fr; gap: 0 24px; }
.blank { border-top: 1px solid #1a1a1a; margin-top: 52px; padding-top: 2px; color: #555; font-size: .875em; }
.pair { display: grid; gap: 0 32px;
  grid-template-columns: repeat(auto-fit, minmax(min(340px, 100%), 1fr)); }
.pair h2 { margin-top: 12px; }
nav { margin: 20px 0 4px; font-size: .9375em; }
nav ul { display: flex; flex-wrap: wrap; gap: 2px 20px; padding: 0; list-style: none; max-width: none; }
nav li { margin: 0; }
a { color: #0b5394; }
details { border-top: 1px solid #d0d0d0; }
details:last-of-type { border-bottom: 1px solid #d0d0d0; }
summary { cursor: pointer; padding: 8px 0 8px 22px; list-style: none; position: relative; }
summary::-webkit-details-marker { display: none; }
summary::before { content: ""; position: absolute; left: 4px; top: 18px; width: 7px; height: 7px;
  border: solid #555; border-width: 0 2px 2px 0; transform: rotate(-45deg); }
details[open] > summary::before { transform: rotate(45deg); top: 15px; }
summary:hover h2 { text-decoration: underline; }
summary h2 { display: inline; font-size: 17px; border: 0; margin: 0; padding: 0; }
.inside { color: #555; font-size: .875em; overflow-wrap: anywhere; }
details > div { padding: 0 0 16px 22px; scroll-margin-top: 72px; }
@media screen and (max-width: 600px) {
  details > div { padding-left: 0; }
  body { padding: 16px 16px 32px; }
  .verdict { border-left-width: 6px; padding: 10px 12px; }
  .stacked, .stacked tbody, .stacked thead, .facts, .facts tbody, .facts tr, .facts th, .facts td {
    display: block; width: auto; }
  .stacked tr { display: grid; grid-template-columns: repeat(var(--numbers), minmax(0, 1fr)); gap: 0 10px;
    border-bottom: 1px solid #e4e4e4; padding: 5px 0; }
  .stacked th, .stacked td, .facts th { border: 0; padding: 1px 0; }
  .stacked th:first-child, .stacked td.wide { grid-column: 1 / -1; }
  .stacked thead th { overflow-wrap: normal; hyphens: auto; }
  .stacked th:empty { display: none; }
  .stacked .number { text-align: left; }
  .blanks { grid-template-columns: 1fr; }
}
@page { size: A4; margin: 16mm; }
@media print {
  nav { display: none; }
  details, details:last-of-type { border: 0; }
  details::details-content { content-visibility: visible; block-size: auto; }
  summary { padding: 0; break-after: avoid; }
  summary::before { display: none; }
  summary h2 { display: block; font-size: 15pt; margin-top: 20pt; border-bottom: 1px solid #d0d0d0; }
  details > div { padding-left: 0; }
  body { max-width: none; padding: 0; font-size: 10.5pt; }
  h2 { margin-top: 20pt; }
  h2, h3, h2 + p, h3 + p { break-after: avoid; }
  thead { display: table-header-group; break-after: avoid; }
  tr, li, .tile, .verdict, .legend, .decision, figure { break-inside: avoid; }
  tr:has(th[colspan]) { break-after: avoid; }
  tbody tr:nth-child(-n+2) { break-after: avoid; }
  tbody tr:nth-last-child(-n+2) { break-before: avoid; }
  p { orphans: 3; widows: 3; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(120px, 1fr)); }
  table { font-size: 9.5pt; }
  th, td { padding-top: 2pt; padding-bottom: 2pt; }
  .gauge svg { height: 6pt; margin: 1pt 0; }
  .tile b { font-size: 12pt; }
  code { font-size: .9em; }
}
"""

LONGEST = 400  # characters of a label; the title of the element shows all of them


def page(title: str, body: str, style: str = "") -> str:
    """Make a page that may load nothing; the title is text, the body HTML, `style` rules of its own.

    Control characters in data are escaped as on a terminal, where pages are also read.
    """
    made = glossary.with_entries(
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        f"<title>{html.escape(title)}</title>\n<style>{STYLE}{glossary.STYLE}{style}</style>\n</head>\n"
        f"<body>\n{body}\n</body>\n</html>\n"
    )
    return visible(made)


@dataclass(frozen=True)
class Section:
    """A section that is folded until it is asked for, or printed."""

    title: str  # HTML
    inside: str  # HTML: a line that says what is inside
    parts: tuple[str, ...]  # HTML


def fold(title: str, inside: str, *parts: str) -> Section | None:
    """Put parts under a heading, to be folded; nothing where there is no part."""
    filled = tuple(part for part in parts if part)
    return Section(title, inside, filled) if filled else None


def folded(sections: Iterable[Section | None], annex: Iterable[Section | None] = ()) -> str:
    """Show a table of contents and sections that are folded; browsers open the section of a link.

    `annex`: sections that only researchers read, below the others.
    """
    first, last = ([one for one in some if one is not None] for some in (sections, annex))
    shown = [*first, *last]
    if not shown:
        return ""
    places = [f"part-{number}" for number, _ in enumerate(shown, 1)]
    links = "\n".join(
        f'<li><a href="#{place}">{one.title}</a></li>' for place, one in zip(places, shown, strict=True)
    )
    parts = [
        f"<details>\n<summary><h2>{one.title}</h2>"
        f'<div class="inside">{one.inside}</div></summary>\n'
        f'<div id="{place}">\n' + "\n".join(one.parts) + "\n</div>\n</details>"
        for place, one in zip(places, shown, strict=True)
    ]
    if last:
        parts.insert(len(first), section("Annex: measures for researchers"))
    return f'<nav aria-label="Contents">\n<ul>\n{links}\n</ul>\n</nav>\n' + "\n".join(parts)


def unfolded(one: Section | None) -> str:
    """Show a section that might be folded as it is."""
    return "" if one is None else section(one.title, *one.parts)


def beside(*parts: str) -> str:
    """Set parts next to each other where there is room."""
    filled = [part for part in parts if part]
    return "\n".join(['<div class="pair">', *(f"<div>\n{part}\n</div>" for part in filled), "</div>"])


def section(title: str, *parts: str) -> str:
    """Put parts under a heading."""
    return "\n".join([f"<h2>{title}</h2>", *(part for part in parts if part)])


def subsection(title: str, *parts: str) -> str:
    """Put parts under a smaller heading; nothing where there is no part."""
    filled = [part for part in parts if part]
    return "\n".join([f"<h3>{title}</h3>", *filled]) if filled else ""


def figure(drawing: str, caption: str) -> str:
    """Set a drawing, HTML already, above what it shows, a text."""
    below = html.escape(caption, quote=False)
    return f"<figure>\n{drawing}\n<figcaption>{below}</figcaption>\n</figure>"


def points(lines: Iterable[tuple[str, str]]) -> str:
    """List points, each a few bold words and a sentence, both HTML already."""
    return "<ul>\n" + "\n".join(f"<li><b>{bold}</b> {text}</li>" for bold, text in lines) + "\n</ul>"


def table(
    heads: Sequence[str],
    lines: Iterable[tuple[str, Sequence[str], float]],
    widths: str,
    color: str = GENERALIZED,
) -> str:
    """Lay out lines of a label (HTML), numbers and a bar (0 to 1), in columns of these widths."""
    first, *middle, last = heads
    head = f"<th>{first}</th>" + "".join(f'<th class="number">{name}</th>' for name in middle)
    rows = "\n".join(
        f"<tr><th>{label}</th>"
        + "".join(f'<td class="number">{number}</td>' for number in numbers)
        + f'<td class="wide">{bar([(share, color)], 1, height=14)}</td></tr>'
        for label, numbers, share in lines
    )
    return _laid_out(f"{head}<th>{last}</th>", rows, widths, len(middle), "lines")


def grid(heads: Sequence[str], lines: Iterable[Sequence[str]], widths: str, *, numbers: bool = False) -> str:
    """Lay out lines in columns of these widths: HTML texts, or a text and numbers; one text is a heading."""
    cell = ' class="number"' if numbers else ""
    head = f"<th>{heads[0]}</th>" + "".join(f"<th{cell}>{name}</th>" for name in heads[1:])
    whole = f' colspan="{len(heads)}"'
    rows = "\n".join(
        f"<tr><th{'' if others else whole}>{first}</th>"
        + "".join(f"<td{cell}>{text}</td>" for text in others)
        + "</tr>"
        for first, *others in lines
    )
    return _laid_out(head, rows, widths, len(heads) - 1, "texts")


def _laid_out(head: str, rows: str, widths: str, numbers: int, style: str) -> str:
    """Make a table; on a narrow screen each row becomes its label, and under it this many columns."""
    columns = "".join(f'<col style="width:{width}">' for width in widths.split())
    return (
        f'<table class="stacked {style}" style="--numbers:{numbers}">\n<colgroup>{columns}</colgroup>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def facts(lines: Iterable[tuple[str, str]]) -> str:
    """Lay out names and values, the values HTML already."""
    rows = "\n".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in lines if value)
    return f'<table class="facts">\n{rows}\n</table>'


def tiles(lines: Iterable[tuple[str, str]]) -> str:
    """Show a few numbers, each with what it means."""
    shown = "\n".join(f'<div class="tile"><b>{number}</b><span>{text}</span></div>' for number, text in lines)
    return f'<div class="tiles">\n{shown}\n</div>'


def bar(parts: Iterable[tuple[float, str]], whole: float, height: int = 26) -> str:
    """Draw parts of a whole side by side, the rest light; screen readers find the numbers in the text."""
    x = 0.0
    rects = [f'<rect width="1000" height="{height}" fill="#ececec"/>']
    for part, color in parts:
        width = 1000 * part / whole if whole else 0.0
        if width >= 0.01:
            rects.append(f'<rect x="{x:.2f}" width="{width:.2f}" height="{height}" fill="{color}"/>')
        x += width
    return (
        f'<svg viewBox="0 0 1000 {height}" height="{height}" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(rects)}</svg>"
    )


def gauge(text: str, share: float, color: str, outline: str) -> str:
    """Set a number, a text, above a bar (0 to 1) that shows it."""
    rect = (
        f'<rect width="{1000 * share:.2f}" height="10" fill="{color}" stroke="{outline}" '
        'vector-effect="non-scaling-stroke"/>'
        if share >= 1e-5
        else ""
    )
    drawing = (
        f'<svg viewBox="0 0 1000 10" height="10" preserveAspectRatio="none" aria-hidden="true">{rect}</svg>'
    )
    return f'<div class="gauge">{html.escape(text)}{drawing}</div>'


def legend(lines: Iterable[tuple[str, str, str]]) -> str:
    """Explain the colours of a bar, each with a text and a less important one."""
    square = '<svg viewBox="0 0 9 9" aria-hidden="true"><rect width="9" height="9" fill="{}"/></svg>'
    shown = "\n".join(
        f'<li>{square.format(color)}{text} <span class="small">{aside}</span></li>'
        for color, text, aside in lines
    )
    return f'<ul class="legend">\n{shown}\n</ul>'


def paragraph(text: str, style: str = "") -> str:
    """Escape a text and make it a paragraph; nothing where there is no text."""
    start = f'<p class="{style}">' if style else "<p>"
    return f"{start}{html.escape(text, quote=False)}</p>" if text else ""


def data(text: str, name: str = "") -> str:
    """Escape a label or a path, and the name of a code; the title shows what is cut."""
    # bdi keeps a label's writing direction from spilling over into the text around it.
    shown = f'<bdi title="{html.escape(text)}">{html.escape(_cut(text))}</bdi>'
    return (
        f'{shown} <bdi class="name" title="{html.escape(name)}">{html.escape(_cut(name))}</bdi>'
        if name
        else shown
    )


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "\u2026"


def code(text: str) -> str:
    """Escape a text and set it in a fixed-width face; nothing where there is no text."""
    return f"<code>{html.escape(text)}</code>" if text else ""
