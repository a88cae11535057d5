"""A table and figures in LaTeX for a paper, each with its statement."""

from __future__ import annotations

import re
from collections.abc import Sequence

from setveil.judges.utility import Compared
from setveil.report.compare.figures import LineFigure, Panel, line_figures
from setveil.report.compare.html_tables import middle_setting
from setveil.report.compare.measures import listed
from setveil.report.compare.paper_figures import Drawn, draw_front, draw_panel
from setveil.report.compare.releases import Fronts, fronts_of, loss_of
from setveil.report.compare.repeated import beside_median, drawn_text, pairs_of
from setveil.report.compare.table import (
    Family,
    Row,
    clean,
    distinct,
    families,
    fits,
    grouped,
    middle,
    setting_text,
)
from setveil.report.compare.words import dominance_short
from setveil.report.drawing.scales import text_of
from setveil.report.words import and_list

_SHOWN = ("loss", "answers", "risk", "time")  # sections of the report whose figures a paper may want
_ESCAPED = {
    "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
    "<": r"\textless{}", ">": r"\textgreater{}", "\u2212": "$-$", "\u221e": r"$\infty$", "\u03c1": r"$\rho$",
}  # fmt: skip
_HEAD = "% Made by setveil compare --latex. {what}\n"


def paper_files(rows: Sequence[Row], bibtex: str) -> dict[str, bytes]:
    """Make tables.tex, figures.tex, references.bib, and figures as PDF and SVG, from `rows` as for pages."""
    kinds = families(clean(rows))
    drawn: dict[str, Drawn] = {}
    tables, figures = [], []
    for family in kinds:
        suffix = f"-{family.name}" if len(kinds) > 1 else ""
        table = latex_table(family, suffix)
        tables += [table] if table else []
        for stem, statement, picture in _figures(family, suffix):
            drawn[stem] = picture
            figures.append(_figure(stem, statement))
    texts = {
        "tables.tex": _HEAD.format(what=r"In the preamble: \usepackage{booktabs}") + "\n".join(tables),
        "figures.tex": _HEAD.format(what=r"In the preamble: \usepackage{graphicx}") + "\n".join(figures),
        "references.bib": bibtex + "\n",
    }
    files = {name: text.encode() for name, text in texts.items()}
    for stem, picture in drawn.items():
        files |= {f"figures/{stem}.pdf": picture.pdf, f"figures/{stem}.svg": picture.svg}
    return files


def latex(text: str) -> str:
    r"""Escape a text for LaTeX; a power is set as one.

    >>> print(latex("50% of a_b"), latex("k^m-anonymity"))
    50\% of a\_b $k^m$-anonymity
    """
    escaped = "".join(_ESCAPED.get(letter, letter) for letter in text)
    return re.sub(r"\b([a-z])\\textasciicircum\{\}([a-z])\b", r"$\1^\2$", escaped)


def latex_table(family: Family, suffix: str = "") -> str:
    """Write the methods of a family at one setting as a table of booktabs; empty where there is no release.

    Medians, with their intervals or the least and the greatest; the least loss of a data set is bold, and a
    star marks those that are greater beyond chance.
    """
    chosen, loss = middle_setting(family), loss_of(family)
    if chosen is None or loss is None:
        return ""
    names, setting = chosen
    inside = [row for row in family.done if fits(row, names, setting)]
    shown = _columns(family, inside, loss)
    stars = _worse(family, loss, names, setting)
    lines = []
    for data in distinct(row["data"] for row in inside):
        of_data = [row for row in inside if row["data"] == data]
        by_method = dict(grouped(of_data, lambda row: row["method"]))
        losses = [values for of in by_method.values() if (values := _values(loss, of))]
        least = min((middle(values).value for values in losses), default=None)
        across = rf"\multicolumn{{{len(shown) + 1}}}{{@{{}}l}}"
        lines += [r"\addlinespace", rf"{across}{{\emph{{{latex(data)}}}}} \\"]
        for method, of_method in by_method.items():
            cells = [latex(method)]
            for what in shown:
                values = _values(what, of_method)
                best = what is loss and bool(values) and middle(values).value == least
                star = what is loss and (data, method) in stars
                cells.append(_cell(what, values, bold=best, star=star) if values else "--")
            lines.append(" & ".join(cells) + r" \\")
    heads = " & ".join(["Method", *(latex(_head(what)) for what in shown)])
    caption = _table_caption(family, names, setting, stars)
    return "\n".join([
        r"\begin{table}", r"  \centering\small", rf"  \caption{{{caption}}}",
        rf"  \label{{tab:methods{suffix}}}", rf"  \begin{{tabular}}{{@{{}}l{'r' * len(shown)}@{{}}}}",
        r"    \toprule", rf"    {heads} \\", r"    \midrule", *(f"    {line}" for line in lines[1:]),
        r"    \bottomrule", r"  \end{tabular}", r"\end{table}", "",
    ])  # fmt: skip


def _values(what: Compared, rows: Sequence[Row]) -> list[float]:
    return [value for row in rows if (value := what.of(row)) is not None]


def _columns(family: Family, rows: Sequence[Row], loss: Compared) -> list[Compared]:
    """Choose few measures: the loss, the first error of answers, the first risk, and the seconds."""
    present = [what for what in listed(family.done) if any(what.of(row) is not None for row in rows)]
    found = [loss]
    for section in _SHOWN[1:]:
        found += [what for what in present if what.section == section and what.stem != loss.stem][:1]
    return found


def _head(what: Compared) -> str:
    name = what.head or what.axis.removeprefix("loss (").rstrip(")")
    return f"{name[:1].upper()}{name[1:]}" + (" (%)" if what.percent else "")


def _cell(what: Compared, values: Sequence[float], *, bold: bool, star: bool) -> str:
    found = middle(values)
    scale = 100 if what.percent else 1
    shown, low, high = (f"{scale * value:.3g}" for value in (found.value, *found.ends))
    text = rf"\textbf{{{shown}}}" if bold else shown
    text += r"$^{*}$" if star else ""
    return text if low == high else rf"{text} {{\footnotesize[{low}, {high}]}}"


def _worse(
    family: Family, loss: Compared, names: Sequence[str], setting: tuple[object, ...]
) -> set[tuple[str, str]]:
    """Find the methods of each data set that have a greater loss than the best, beyond chance."""
    wanted = setting_text(names, setting)
    out = set()
    for data in family.data:
        for pairs in pairs_of(family, loss, data).values():
            here = [pair for pair in pairs if pair.setting == wanted]
            beaten = {pair.b for pair in here if pair.sure}
            best = {pair.a for pair in here} - beaten
            out |= {(data, pair.b) for pair in here if pair.sure and pair.a in best}
    return out


def _table_caption(
    family: Family, names: Sequence[str], setting: tuple[object, ...], stars: set[tuple[str, str]]
) -> str:
    where = setting_text(names, setting)
    text = f"{family.title}{f' at {where}' if where else ''}"
    drawn = drawn_text(family.done)
    if drawn:
        text += f": medians of {drawn}, with {beside_median(family.done)}"
    text += ". Bold: the least loss."
    if stars:
        text += (
            " Stars: greater than the least beyond chance (Wilcoxon's exact signed-rank test over the draws, "
            "Holm-adjusted p of at most 0.05)."
        )
    return latex(text)


def _figures(family: Family, suffix: str) -> list[tuple[str, str, Drawn]]:
    """List the figures of a family, each with its statement: a data set, a measure, a setting each."""
    out = []
    for fronts in fronts_of(family, suffix):
        out += [
            (_stem(fronts.stem, data), _front_statement(fronts, data), draw_front(fronts, data))
            for data in fronts.releases
        ]
    for figure in line_figures(family, suffix):
        if figure.measure.section not in _SHOWN:
            continue
        for data, panels in figure.bands:
            panel = panels[(len(panels) - 1) // 2]
            out.append((_stem(figure.stem, data), statement(figure, data, panel), draw_panel(figure, panel)))
    return out


def _stem(stem: str, data: str) -> str:
    """Name a file by what it shows, in letters that LaTeX takes in a name."""
    return f"{stem}-{re.sub(r'[^A-Za-z0-9]+', '-', data).strip('-') or 'data'}"


def statement(figure: LineFigure, data: str, panel: Panel) -> str:
    """Say what a small plot shows: which method has least at how many of the values, and where."""
    values: dict[str, dict[str, float]] = {}
    for dot in panel.dots:
        values.setdefault(text_of(dot.x), {})[dot.method] = dot.y.value
    compared = {x: made for x, made in values.items() if len(made) > 1}
    axis = figure.measure.axis
    text = f"{axis[:1].upper()}{axis[1:]} on {data}"
    at = f" at {panel.title}" if panel.title else ""
    if compared:
        more = "More is better" in figure.measure.about
        best = [(made, (max if more else min)(made.values())) for made in compared.values()]
        won = {method: sum(made.get(method) == value for made, value in best) for method in figure.methods}
        most = max(won.values())
        leaders = [method for method in figure.methods if won[method] == most]
        of = f"all {len(compared)}" if most == len(compared) > 1 else f"{most} of {len(compared)}"
        have = "has" if len(leaders) == 1 else "have"
        text += f"{at}: {and_list(leaders)} {have} the {'most' if more else 'least'} at {of} values of "
        text += figure.parameter
    else:
        text += at
    conditions = r"At [^.]*\.|Medians of[^.;]*(?:; bars: their 95% intervals)?"
    fixed = re.findall(conditions, figure.caption.replace("; bands:", "; bars:")) if not at else []
    return " ".join([f"{text}.", *(f"{part.rstrip('.')}." for part in fixed)])


def _front_statement(fronts: Fronts, data: str) -> str:
    text = dominance_short(fronts, data).removeprefix("By loss and risk, ")
    return f"{fronts.title} on {data}: {text or 'each mark is a release.'}"


def _figure(stem: str, said: str) -> str:
    return "\n".join([
        r"\begin{figure}", r"  \centering", rf"  \includegraphics[width=\columnwidth]{{figures/{stem}}}",
        rf"  \caption{{{latex(said)}}}", rf"  \label{{fig:{stem}}}", r"\end{figure}", "",
    ])  # fmt: skip
