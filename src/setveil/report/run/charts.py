"""The charts of a run's report: the risk, and how often items occur, before and after."""

from __future__ import annotations

from typing import Any

from setveil.report.charts import svg
from setveil.report.words import percent
from setveil.wording import count

# Before is pale with an outline, after is full: apart without colour, too.
_BEFORE, _OUTLINE, _AFTER = "#dcdcdc", "#666666", "#0072b2"
_ORIGINAL, _RELEASE = "in the original", "in the release"
_EXPECTED = "expected by a reader of the release"
_LINE = 22
_ENDS = (0.04, 0.1, 0.2, 0.4, 0.6, 1)  # where the axis of shares may end
_AXIS = {"tickCount": 5, "domain": False, "ticks": False}


def risk_chart(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Draw the share of rows that the most telling items single out, before and after.

    Parameters
    ----------
    before, after : dict
        What `setveil.attacker.attack.attack_risk` returns. The numbers of known items that both have are
        drawn.

    Returns
    -------
    str
        An SVG element: a panel for each number of known items, in it a pair of bars for each threshold.
    """
    import altair

    alt: Any = altair
    values: list[dict[str, Any]] = []
    found = {entry["m"]: entry for entry in after["risk"] if entry["choice"] == "best"}
    for entry in before["risk"]:
        if entry["choice"] != "best" or entry["m"] not in found:
            continue
        for when, result, whole in (
            (_ORIGINAL, entry, before["rows"]),
            (_RELEASE, found[entry["m"]], after["rows"]),
        ):
            for threshold, rows in result["rows_below"].items():
                low, high = result.get("interval", {}).get(threshold, (rows, rows))
                values.append(
                    {
                        "panel": f"knowing {count(entry['m'], 'item')}",
                        "bar": _shared_by(int(threshold)),
                        "when": when,
                        "share": rows / whole if whole else 0,
                        "low": low / whole if whole else 0,
                        "high": high / whole if whole else 0,
                        "text": _short(rows, whole),
                    }
                )
    most = max((entry["high"] for entry in values), default=0)
    end = next(end for end in _ENDS if end >= min(most, 1))
    x = alt.X(
        "share:Q",
        title="share of all rows",
        scale=alt.Scale(domain=[0, 1.22 * end], nice=False),
        axis=alt.Axis(values=[0, end / 2, end], labelExpr="format(100 * datum.value, '~g') + ' %'", **_AXIS),
    )
    y = alt.Y("bar:N", sort=None, title=None, axis=alt.Axis(domain=False, ticks=False, labelPadding=8))
    offset = alt.YOffset("when:N", sort=None, scale=alt.Scale(paddingInner=0.12))
    base = alt.Chart().encode(y=y, yOffset=offset)
    scales = {"fill": [_BEFORE, _AFTER], "stroke": [_OUTLINE, _AFTER]}
    legend = alt.Legend(title=None, orient="top", symbolType="square", symbolStrokeWidth=1)
    bars = (
        base.transform_filter("datum.share > 0")
        .mark_bar(strokeWidth=1)
        .encode(
            x=x,
            fill=alt.Fill("when:N", scale=_scale(alt, scales["fill"]), legend=legend),
            stroke=alt.Stroke("when:N", scale=_scale(alt, scales["stroke"]), legend=legend),
        )
    )
    spans = base.transform_filter("datum.high > datum.low").mark_rule(color="black", strokeWidth=1.5)
    texts = base.mark_text(align="left", dx=5, fontSize=12, color="#1a1a1a").encode(x="high:Q", text="text:N")
    layers = alt.layer(bars, spans.encode(x="low:Q", x2="high:Q"), texts, data=alt.Data(values=values))
    steps = len({entry["bar"] for entry in values}) * 44
    chart = layers.properties(width=206, height=steps).facet(
        column=alt.Column(
            "panel:N", sort=None, title=None, header=alt.Header(labelAnchor="start", labelPadding=6)
        ),
        spacing=16,
    )
    return svg(chart)


def _shared_by(threshold: int) -> str:
    return "found alone" if threshold == 2 else f"among fewer than {threshold}"


def _short(rows: float, whole: int) -> str:
    """Write a share in a few letters, as the end of a bar."""
    share = rows / whole if whole else 0
    if 0 < share < 0.001:
        return "< 0.1 %"
    return "> 99.9 %" if 0.999 < share < 1 else percent(share)


def _scale(alt: Any, looks: list[Any], second: str = _RELEASE) -> Any:
    return alt.Scale(domain=[_ORIGINAL, second], range=looks)


def frequency_chart(frequencies: list[dict[str, Any]]) -> str:
    """Draw in how many rows items are, and in how many a reader of the release expects them.

    Parameters
    ----------
    frequencies : list of dict
        For each item `item`, `published` (its label, or None), `items` (that the label stands for, or None),
        `rows` and `estimate`, as in report.json.

    Returns
    -------
    str
        An SVG element: a line for each item, a mark for each of the two numbers.
    """
    import altair

    alt: Any = altair
    lines = [
        {
            "place": place,
            "item": line["item"],
            "as": _published_as(line),
            "of": count(line["items"]) if (line["items"] or 0) > 1 else "",
            "rows": line["rows"],
            "estimate": line["estimate"],
        }
        for place, line in enumerate(frequencies)
    ]
    marks = [
        {"place": line["place"], "when": when, "number": line[key]}
        for line in lines
        for when, key in ((_ORIGINAL, "rows"), (_EXPECTED, "estimate"))
    ]
    most = max(max(line["rows"], line["estimate"]) for line in lines) or 1
    x = alt.Scale(domain=[0, most * 1.02], nice=False)
    at = alt.Y("place:O", axis=None)
    height = _LINE * len(lines)
    joined = (
        alt.Chart(alt.Data(values=lines))
        .mark_rule(color="#999999", strokeWidth=2)
        .encode(
            y=at,
            x=alt.X("rows:Q", scale=x, title="rows", axis=alt.Axis(format=",d", tickMinStep=1, **_AXIS)),
            x2="estimate:Q",
        )
    )
    legend = alt.Legend(title=None, orient="top", symbolStrokeWidth=1.5, labelLimit=400)

    def look(channel: Any, looks: list[Any]) -> Any:
        return channel("when:N", sort=None, scale=_scale(alt, looks, _EXPECTED), legend=legend)

    points = (
        alt.Chart(alt.Data(values=marks))
        .mark_point(filled=True, opacity=1, strokeWidth=1.5)
        .encode(
            y=at,
            x=alt.X("number:Q", scale=x),
            shape=look(alt.Shape, ["circle", "diamond"]),
            fill=look(alt.Fill, [_BEFORE, _AFTER]),
            stroke=look(alt.Stroke, [_OUTLINE, _AFTER]),
            size=look(alt.Size, [150, 60]),
        )
    )
    columns = [
        _column(alt, lines, "item", "item", 180, "right"),
        alt.layer(joined, points).properties(width=340, height=height),
        _column(alt, lines, "as", "published as", 205, "left"),
    ]
    if any(line["of"] for line in lines):
        columns.append(_column(alt, lines, "of", "of items", 50, "right"))
    return svg(alt.hconcat(*columns, spacing=10))


def _published_as(line: dict[str, Any]) -> str:
    if line["published"] is None:
        return "left out"
    return "itself" if line["published"] == line["item"] else str(line["published"])


def _column(alt: Any, lines: list[dict[str, Any]], key: str, head: str, width: int, align: str) -> Any:
    """Write a text beside each line of the chart, cut where it is too long."""
    right = align == "right"
    title = alt.TitleParams(
        head, fontSize=12, fontWeight="normal", color="#555555", offset=4, anchor="end" if right else "start"
    )
    return (
        alt.Chart(alt.Data(values=lines), width=width, height=_LINE * len(lines), title=title)
        .mark_text(align=align, limit=width, fontSize=12, color="#1a1a1a")
        .encode(y=alt.Y("place:O", axis=None), x=alt.value(width if right else 0), text=f"{key}:N")
    )
