"""The figures that a study's table can fill, and their points. Drawing is in `charts`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

from setveil.base.wording import count
from setveil.judges.guarantees import models
from setveil.judges.utility import Compared
from setveil.report.compare.measures import drawn, known_items
from setveil.report.compare.names import without_parameter
from setveil.report.compare.repeated import spread_caption
from setveil.report.compare.table import (
    Family,
    Middle,
    Row,
    Setting,
    conditions,
    distinct,
    fits,
    grouped,
    middle,
    order,
    parameters,
    promise_names,
    setting_text,
    varying,
)
from setveil.report.drawing.scales import number, text_of
from setveil.report.words import and_list

_MOST_PANELS = 5  # side by side
_MOST_METHODS = 10


@dataclass(frozen=True)
class Dot:
    """One mark of a figure: the median over seeds, and how far they reach."""

    method: str
    x: Any
    y: Middle


@dataclass(frozen=True)
class Panel:
    """One small plot. `reference` is the value of the original, where it has one."""

    title: str
    dots: list[Dot]
    reference: float | None = None


@dataclass(frozen=True)
class LineFigure:
    """A measure against a parameter."""

    stem: str  # file name without its ending
    title: str
    caption: str
    # parameter, x_title: name of the parameter, and what it is
    parameter: str
    x_title: str
    measure: Compared
    bands: list[tuple[str, list[Panel]]]  # one line of panels with a common scale each, under a title
    methods: list[str]  # those that appear, in the order of the table
    places: dict[str, int]  # place of each method in the table, which settles its colour and shape
    alone: bool = False  # whether each line contains one panel, so that the lines may stand side by side


def _x_title(family: str, name: str) -> str:
    """Name a parameter for an axis, as the first model of the family that has it does."""
    titles = (model.axes.get(name) for model in models().values() if model.family == family)
    return next((title for title in titles if title), name)


def line_figures(family: Family, suffix: str = "") -> list[LineFigure]:
    """Choose the figures of a family of runs that agree in what their parameters mean.

    They show each measure against each number that was varied, if there is a line of two points or more.
    `suffix`: of file names, if a table has several families.
    """
    size = known_items(family.done)
    found = []
    for measure in drawn(family.done):
        rows = [row for row in family.done if measure.of(row) is not None]
        if measure.stem == "risk_rows":
            rows = [row for row in rows if row["risk_m"] == size]
        for name, values in parameters(rows).items():
            if sum(number(value) is not None for value in values) > 1:
                figure = _line_figure(family, rows, measure, name, suffix)
                found += [figure] if figure else []
    return _once(found)


def _once(figures: Sequence[LineFigure]) -> list[LineFigure]:
    """Omit figures that show the values of one before, whose caption then says so."""
    kept: dict[Any, LineFigure] = {}
    for figure in figures:
        values = figure.parameter, figure.measure.scale, figure.measure.percent, repr(figure.bands)
        first = kept.get(values)
        if first is not None:
            axis = figure.measure.axis
            caption = f"{first.caption} {axis[:1].upper()}{axis[1:]} has the same values."
        kept[values] = figure if first is None else replace(first, caption=caption)
    return list(kept.values())


def _line_figure(
    family: Family, rows: list[Row], measure: Compared, name: str, suffix: str
) -> LineFigure | None:
    """Draw a measure against the parameter `name`, or nothing where no method has two values of it."""
    series = _series(rows, name)
    others = varying([row for row, _ in series], [other for other in conditions(rows) if other != name])
    settings = _useful(series, name, others)
    if not settings:
        return None
    shown = _central(settings)
    methods, left_out = _methods([label for _, label in series])
    series = [(row, label) for row, label in series if label in methods]
    by_data = [(data, [(row, label) for row, label in series if row["data"] == data]) for data in family.data]
    bands = []
    for data, of_data in by_data:
        panels = [
            panel for setting in shown if (panel := _panel(of_data, name, others, setting, measure)).dots
        ]
        if panels:
            bands.append((data, panels))
    names = _coinciding(bands)
    bands = [(data, _distinct([_renamed(panel, names) for panel in panels])) for data, panels in bands]
    places = {method: place for place, method in enumerate(distinct([*family.methods, *methods]))}
    places |= {names[method]: places[method] for method in reversed(methods) if method in names}
    x_title = _x_title(family.name, name)
    notes = [
        *_fixed(series, name, others, settings),
        *_chosen(others, settings, shown),
        *_repeated(series, others, shown),
        *spread_caption([row for row, _ in series]),
        *_more_methods(left_out),
        *(_partly_kept(series) if measure.own_names else []),
        *([_ORIGINAL] if any(p.reference is not None for _, panels in bands for p in panels) else []),
        *_missing(family.rows),
    ]
    return LineFigure(
        f"{measure.stem}-{name}{suffix}",
        f"{measure.axis[:1].upper()}{measure.axis[1:]} against {x_title}",
        " ".join([measure.about, *notes]),
        name,
        x_title,
        measure,
        bands,
        distinct(names[method] for method in methods if method in names),
        places,
        alone=len(shown) == 1,
    )


def _coinciding(bands: Sequence[tuple[str, list[Panel]]]) -> dict[str, str]:
    """Name the methods that are drawn; those whose values are equal at all points, together."""
    drawn: dict[str, list[Any]] = {}
    for place, panel in enumerate(panel for _, panels in bands for panel in panels):
        for dot in panel.dots:
            drawn.setdefault(dot.method, []).append((place, dot.x, dot.y))
    same: dict[str, list[str]] = {}
    for method, values in drawn.items():
        same.setdefault(repr(values), []).append(method)
    return {method: and_list(methods) for methods in same.values() for method in methods}


def _renamed(panel: Panel, names: Mapping[str, str]) -> Panel:
    """Draw methods that coincide once."""
    dots = {(names[dot.method], str(dot.x)): replace(dot, method=names[dot.method]) for dot in panel.dots}
    return replace(panel, dots=list(dots.values()))


def _distinct(panels: Sequence[Panel]) -> list[Panel]:
    """Show panels that are the same once, under the settings of all."""
    titles: dict[str, list[Panel]] = {}
    for panel in panels:
        titles.setdefault(repr((panel.dots, panel.reference)), []).append(panel)
    return [replace(same[0], title="; ".join(panel.title for panel in same)) for same in titles.values()]


_ORIGINAL = "Dashed grey line: the original."

Series = list[tuple[Row, str]]  # a run, and the name of the line that it is on


def _series(rows: list[Row], name: str) -> Series:
    """Pair runs that have a number for a parameter with their method, less the parameter if it is its own."""
    return [
        (row, row["method"] if name in promise_names() else without_parameter(row["method"], name))
        for row in rows
        if number(row.get(name)) is not None
    ]


def _useful(series: Series, name: str, others: list[str]) -> list[Setting]:
    """Find settings of the others at which some method was run with two values of `name` or more.

    Of each data set those with a method that has all parameters of its runs, or any if there is none. What no
    run of a data set has is None.
    """
    out: list[Setting] = []
    for _, of_data in grouped(series, lambda entry: entry[0]["data"]):
        values = parameters(row for row, _ in of_data)
        exact: list[Setting] = []
        any_: list[Setting] = []
        for setting in product(*(values.get(other, [None]) for other in others)):
            lines: dict[tuple[str, bool], set[Any]] = {}
            for row, label in of_data:
                if fits(row, others, setting):
                    whole = all(row.get(other) is not None for other in others if other in values)
                    lines.setdefault((label, whole), set()).add(row[name])
            if any(len(found) > 1 for (_, whole), found in lines.items() if whole):
                exact.append(setting)
            if any(len(found) > 1 for found in lines.values()):
                any_.append(setting)
        out += exact or any_
    return sorted(distinct(out), key=lambda setting: [order(value) for value in setting])


def _central(settings: list[Setting]) -> list[Setting]:
    """Choose few settings, of the most central values: the longest list of values loses its ends."""
    kept = settings
    ranks = [sorted({s[i] for s in settings}, key=order) for i in range(len(settings[0]))]
    middles = [(len(values) - 1) / 2 for values in ranks]
    alive = [list(range(len(values))) for values in ranks]
    while len(kept) > _MOST_PANELS:
        longest = max(range(len(alive)), key=lambda i: (len(alive[i]), i))
        places, centre = alive[longest], middles[longest]
        places.remove(max(places, key=lambda place: (abs(place - centre), place)))
        left = [s for s in kept if all(ranks[i].index(s[i]) in alive[i] for i in range(len(ranks)))]
        if not left:  # a study that is no full grid may have no run at the centre
            return kept[:_MOST_PANELS]
        kept = left
    return kept


def _methods(labels: Sequence[str]) -> tuple[list[str], list[str]]:
    """Those that are drawn and those that are omitted: where there are too many, those with fewest runs."""
    found = distinct(labels)
    kept = sorted(found, key=lambda label: -labels.count(label))[:_MOST_METHODS]
    return [label for label in found if label in kept], [label for label in found if label not in kept]


def _panel(series: Series, name: str, others: list[str], setting: Setting, measure: Compared) -> Panel:
    """Collect the medians of a data set's runs at a setting."""
    inside = [(row, label) for row, label in series if fits(row, others, setting)]
    dots = []
    for label in distinct(label for _, label in inside):
        of_label = [row for row, its in inside if its == label]
        for x, rows in sorted(grouped(of_label, lambda row: row[name]), key=lambda part: order(part[0])):
            values = [value for row in rows if (value := measure.of(row)) is not None]
            dots.append(Dot(label, x, middle(values)))
    reference = None
    if measure.stem == "risk_rows":
        before = [
            row["risk_before_5"] / row["rows"]
            for row, _ in inside
            if row.get("risk_before_5") is not None and row.get("rows")
        ]
        reference = middle(before).value if before else None
    return Panel(setting_text(others, setting), dots, reference)


def _fixed(series: Series, name: str, others: list[str], settings: list[Setting]) -> list[str]:
    """Say at which values of the other parameters a figure stands."""
    values = parameters(row for row, _ in series)
    axes = {other for model in models().values() for other in model.axes}
    same = {
        other: values[other][0]
        for other in promise_names()
        if other in axes and other in values and len(values[other]) == 1
    }
    same.pop(name, None)
    if len(settings) == 1:
        same |= dict(zip(others, settings[0], strict=True))
    return [f"At {setting_text(list(same), tuple(same.values()))}."] if same else []


def _chosen(others: list[str], settings: list[Setting], shown: list[Setting]) -> list[str]:
    """Say which settings were chosen, where not all are shown."""
    if len(shown) == len(settings):
        return []
    parts = []
    for i, other in enumerate(others):
        every = sorted({setting[i] for setting in settings}, key=order)
        some = sorted({setting[i] for setting in shown}, key=order)
        if some != every:
            parts.append(f"{other} = {', '.join(map(text_of, some))} of {', '.join(map(text_of, every))}")
    what = "; ".join(parts) if parts else f"{len(shown)} of {len(settings)} settings"
    return [f"Only central settings are shown: {what}."]


def _repeated(series: Series, others: list[str], shown: list[Setting]) -> list[str]:
    """Say which methods are in several panels because they lack the parameter by which these differ."""
    if len(shown) < 2:
        return []
    out = []
    for other in others:
        with_it = {row["data"] for row, _ in series if row.get(other) is not None}
        names = distinct(label for row, label in series if row.get(other) is None and row["data"] in with_it)
        if names:
            out.append(f"{', '.join(names)}: the same in each panel, being without {other}.")
    return out


def _more_methods(left_out: list[str]) -> list[str]:
    if not left_out:
        return []
    return [f"Omitted: {count(len(left_out), 'method')} with fewer runs: {', '.join(left_out)}."]


def _partly_kept(series: Series) -> list[str]:
    """Warn if an item is unchanged in some rows only."""
    local = distinct(label for row, label in series if row["model"] == "k-anonymity")
    if not local:
        return []
    return [
        f"{', '.join(local)}: an item may be unchanged in some rows only, so itemsets that are kept can "
        "have lost support."
    ]


def _missing(rows: Sequence[Row]) -> list[str]:
    """Say how many runs cannot be in a figure."""
    failed = sum(row["status"] != "done" for row in rows)
    if not failed:
        return []
    verb = "is" if failed == 1 else "are"
    return [
        f"{count(failed)} of {count(len(rows), 'run')} made no release and {verb} missing: see Runs without "
        "a release."
    ]


def is_infinite(value: Any) -> bool:
    """Return whether a parameter's value is "inf", which no axis of numbers can hold."""
    read = number(value)
    return read is not None and math.isinf(read)
