"""The tables of a study's report, as HTML."""

from __future__ import annotations

import html
from collections.abc import Iterable, Mapping, Sequence
from itertools import product

from setveil.base.wording import count
from setveil.judges.utility import Compared
from setveil.report.compare.fronts import Standing
from setveil.report.compare.measures import chance, known_items, listed, rows_at_risk
from setveil.report.compare.releases import Fronts, MedianRelease
from setveil.report.compare.repeated import (
    METHOD,
    Pair,
    beside_median,
    central,
    drawn_text,
    p_text,
    pairs_of,
    signed,
)
from setveil.report.compare.table import (
    Family,
    Row,
    Setting,
    conditions,
    fits,
    grouped,
    middle,
    order,
    parameters,
    promise_names,
    setting_text,
    varying,
)
from setveil.report.compare.words import excess_text, status_text
from setveil.report.drawing import blocks
from setveil.report.drawing.scales import text_of
from setveil.report.words import and_list, measure, percent, whole_or

NOTHING = "-"
_MOST_RELEASES = 10
_MOST_FAILURES = 60
_MOST_SETTINGS = 4
_MOST_PAIRS = 12


def grid(
    heads: Sequence[str], lines: Iterable[Sequence[str]], widths: Sequence[float], texts: int = 1
) -> str:
    """Lay out lines of cells, HTML already, in columns of relative widths, `texts` first, then numbers."""
    whole = sum(widths)
    columns = "".join(f'<col style="width:{100 * width / whole:.4g}%">' for width in widths)
    cell = ["" if i < texts else ' class="number"' for i in range(len(heads))]
    head = "".join(f"<th{style}>{name}</th>" for style, name in zip(cell, heads, strict=True))
    rows = "\n".join(
        f"<tr><th>{first}</th>"
        + "".join(f"<td{style}>{text}</td>" for style, text in zip(cell[1:], others, strict=True))
        + "</tr>"
        for first, *others in lines
    )
    return (
        f'<table class="stacked names" style="--numbers:{min(4, len(heads) - 1)}">\n'
        f"<colgroup>{columns}</colgroup>\n"
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>"
    )


def written(what: Compared, value: float | None) -> str:
    """Write a measure's value with the digits that a person would, as HTML.

    >>> from setveil.report.compare.measures import MEMORY, SECONDS
    >>> error = Compared("error", "error", "An error.", "error")
    >>> written(SECONDS, 0.0213), written(SECONDS, 134.2), written(error, 12719.6), written(MEMORY, None)
    ('&lt;&nbsp;0.1', '134', '12,720', '-')
    """
    if value is None:
        return NOTHING
    if what.percent:
        return _narrow(percent(value))
    if what.write is not None:
        return _narrow(what.write(value))
    return _narrow(measure(value)) if value <= 1 else whole_or(value, 3)


def _narrow(text: str) -> str:
    """Fit words of a number into a narrow column."""
    return text.replace("under ", "&lt; ").replace("over ", "&gt; ").replace(" ", "&nbsp;")


def standings_table(found: Mapping[str, Sequence[Standing]], methods: Sequence[str]) -> str:
    """Show for each method and data set how often it lost least, and how much more on average."""
    by_data = {data: {standing.method: standing for standing in of} for data, of in found.items()}
    lines = []
    for method in methods:
        cells = []
        for standings in by_data.values():
            standing = standings.get(method)
            if standing is None or standing.excess is None:
                cells.append(NOTHING)
                continue
            shared = f", {count(standing.shared)} shared" if standing.shared else ""
            often = f"{count(standing.least)} of {count(standing.compared)}{shared}"
            cells.append(f'{often}<br><span class="small">+ {excess_text(standing.excess)}</span>')
        lines.append([blocks.data(method), *cells])
    return grid(["Method", *map(blocks.data, by_data)], lines, [1.4, *[1] * len(by_data)])


def middle_setting(family: Family) -> tuple[list[str], Setting] | None:
    """Choose the most central setting of those at which most methods made releases, and what varies."""
    names = varying(family.rows, conditions(family.rows))
    values = parameters(family.rows)
    done = family.done
    if not done:
        return None
    every = [[None, *values[name]] if not values.get(name) else values[name] for name in names]

    def rank(setting: Setting) -> tuple[int, float, list[tuple[int, float, str]]]:
        inside = [row for row in done if fits(row, names, setting)]
        whole = [row for row in inside if all(row.get(name) is not None for name in names)]
        made = len({(row["data"], row["method"]) for row in inside}) if whole or len(names) < 2 else 0
        away = sum(
            abs(values[name].index(value) - (len(values[name]) - 1) / 2)
            for name, value in zip(names, setting, strict=True)
        )
        return -made, away, [order(value) for value in setting]

    return names, min(product(*every), key=rank)


def at_setting(family: Family, data: str, names: Sequence[str], setting: Setting) -> str:
    """Show every measure of every method of a data set at one setting, below the original's risk."""
    size = known_items(family.done)
    inside = [row for row in family.rows if row["data"] == data and fits(row, names, setting)]
    done = [row for row in inside if row["status"] == "done"]
    shown = [what for what in listed(family.done) if any(what.of(row) is not None for row in done)]
    lines = []
    before = [row for row in done if row.get("risk_before_probability") is not None and row.get("rows")]
    if before and size:
        at_risk = middle([(row.get("risk_before_5") or 0) / row["rows"] for row in before]).value
        guessed = middle([row["risk_before_probability"] for row in before]).value
        original = {
            "risk_rows": written(rows_at_risk(size, done), at_risk),
            "risk_chance": written(chance(size, done), guessed),
        }
        lines.append(["<i>the original</i>", *(original.get(what.stem, "") for what in shown)])
    for method, rows in grouped(inside, lambda row: row["method"]):
        cells = []
        for what in shown:
            values = [v for row in rows if row["status"] == "done" and (v := what.of(row)) is not None]
            cells.append(_with_spread(what, values))
        if not any(row["status"] == "done" for row in rows) and cells:
            cells = ["no release", *[""] * (len(cells) - 1)]
        lines.append([blocks.data(method), *cells])
    short = [what.head or what.axis.removeprefix("loss (").rstrip(")") for what in shown]
    names = [name[:1].upper() + name[1:] for name in short]
    return grid(["Method", *names], lines, [2, *[1] * len(names)]) if shown else ""


def _with_spread(what: Compared, values: Sequence[float]) -> str:
    """Write the median of repetitions, above its interval where that is written otherwise."""
    if not values:
        return NOTHING
    found = middle(values)
    shown, low, high = (written(what, value) for value in (found.value, *found.ends))
    return shown if low == high else f'{shown}<br><span class="small">{low}\u2013{high}</span>'


def pairs_table(family: Family, what: Compared) -> str:
    """Show how the methods of each data set differ at one setting; empty where nothing is tested."""
    parts, settings = [], []
    for data in family.data:
        pairs = sorted(central(pairs_of(family, what, data)), key=lambda pair: pair.adjusted)[:_MOST_PAIRS]
        settings += [pair.setting for pair in pairs[:1] if pair.setting]
        heads = ["Less", "More", "Difference", "Less at", "p"]
        lines = [_pair_line(pair) for pair in pairs]
        parts.append(
            blocks.subsection(blocks.data(data), grid(heads, lines, [1.2, 1.2, 1.5, 1.3, 0.8], texts=2))
            if lines
            else ""
        )
    if not any(parts):
        return ""
    at = f" at {and_list(list(dict.fromkeys(settings)))}" if settings else ""
    text = (
        f"{what.axis[:1].upper()}{what.axis[1:]}{at}, {drawn_text(family.done)}: by how much the second "
        f"method has more (median, with {beside_median(family.done)}), at how many draws the first has less, "
        "and how likely so great a difference would be by chance."
    )
    note = blocks.paragraph(f"{METHOD} All settings and measures are in tests.csv.", "small")
    return "\n".join([blocks.paragraph(text), *filter(None, parts), note])


def _pair_line(pair: Pair) -> list[str]:
    low, high = map(signed, pair.difference.ends)
    equal = f", {count(pair.equal)} equal" if pair.equal else ""
    return [
        blocks.data(pair.a),
        blocks.data(pair.b),
        f'{signed(pair.difference.value)}<br><span class="small">{low} to {high}</span>',
        f"{count(pair.less)} of {count(pair.repeats)}{equal}",
        html.escape(p_text(pair.adjusted)).removeprefix("= "),
    ]


def best_table(fronts: Fronts, data: str) -> str:
    """List the Pareto-optimal releases, by risk; where there are many, some, evenly chosen."""
    best = _once(fronts.best(data))
    if len(best) > _MOST_RELEASES:
        last = len(best) - 1
        best = [best[round(i * last / (_MOST_RELEASES - 1))] for i in range(_MOST_RELEASES)]
    lines = [
        [
            blocks.data(and_list(methods)),
            html.escape(release.setting),
            written(fronts.loss, release.loss),
            written(fronts.risk, release.risk),
        ]
        for methods, release in best
    ]
    heads = [axis[:1].upper() + axis[1:] for axis in (fronts.loss.axis, fronts.risk.axis)]
    return grid(["Method", "Guarantee", *heads], lines, [1, 1, 1, 1], texts=2)


def _once(releases: Sequence[MedianRelease]) -> list[tuple[list[str], MedianRelease]]:
    """Of releases of one method that are equal in both numbers the first; methods that are equal together."""
    first = list({(r.method, r.loss, r.risk): r for r in reversed(releases)}.values())[::-1]
    equal = grouped(first, lambda release: (release.setting, release.loss, release.risk))
    return [([release.method for release in same], same[0]) for _, same in equal]


def coverage_table(fronts: Fronts, data: str) -> str:
    """Show how many releases of each method another one meets."""
    points = fronts.points(data)
    methods = list(points)
    relations = fronts.relations(data)
    lines = []
    for i, a in enumerate(methods, 1):
        cells = []
        for b in methods:
            found = relations.get((a, b))
            cells.append(count(found.b_met) if found else "")
        lines.append([blocks.data(f"{i} {a}"), *cells])
    heads = ["Method", *(f"{i}<br>of {len(points[b]):,}" for i, b in enumerate(methods, 1))]
    return grid(heads, lines, [2.4, *[1] * len(methods)])


def failures_table(rows: Sequence[Row]) -> str:
    """List the runs that made no release, with the reason; those that differ in their setting together."""
    failed = [row for row in rows if row["status"] != "done"]
    names = list(parameters(rows))
    several = len({row.get("seed") for row in rows}) > 1
    shown = [*(name for name in names if name in promise_names()), *(["seed"] if several else [])]
    groups = list(grouped(failed, lambda row: (row["data"], row["method"], row["status"], row.get("error"))))
    lines = []
    for (data, method, status, error), part in groups[:_MOST_FAILURES]:
        settings = [setting_text(shown, tuple(row.get(name) for name in shown)) for row in part]
        more = len(settings) - _MOST_SETTINGS
        text = "; ".join(settings[:_MOST_SETTINGS]) + (f"; and {more} more" if more > 0 else "")
        why = status_text(status) + (f": {error}" if error else "")
        lines.append(
            [blocks.data(data), blocks.data(method), html.escape(text), html.escape(why, quote=False)]
        )
    left = len(groups) - _MOST_FAILURES
    rest = blocks.paragraph(f"{count(left, 'more reason')} in results.csv.", "small") if left > 0 else ""
    heads = ["Data", "Method", "Settings", "What happened"]
    return grid(heads, lines, [1, 1.1, 1.8, 2.2], texts=4) + rest


def values_text(name: str, values: Sequence[object]) -> str:
    """Write a parameter with all its values: "k = 2, 5, 10"."""
    shown = [text_of(value) for value in values]
    if len(shown) > 12:
        shown = [*shown[:6], "…", *shown[-3:]]
    return f"{name} = {', '.join(shown)}"
