"""A report as one self-contained HTML page."""

from __future__ import annotations

import html
import json
from typing import Any

from setveil.report import blocks, words
from setveil.report.models import check, promise, words_for

_MOST_LABELS = 20
_WIDTHS = "34% 14% 17% 13% 22%"

_NEVER_COVERED = (
    (
        "What else is known from the row.",
        "Only the items were treated. A name, a date, a place or any other column joined to them is not "
        "covered.",
    ),
    (
        "Knowing what a person does <em>not</em> have.",
        "The promise is about items known to be present. Someone who also knows that an item is absent may "
        "narrow a person down further.",
    ),
    (
        "Other files.",
        "A second release about the same people, or any file that can be matched with this one, may together "
        "with it give away more than each does alone.",
    ),
)

_IN_COMMON = (
    "What the rows that fit have in common.",
    "If all of them hold a sensitive item, it is learned about the person without knowing which row is "
    "theirs.",
)


def report_html(report: dict[str, Any]) -> str:
    """Render a report as one HTML page, for a person who decides about the release.

    The page loads nothing, runs nothing, and shows neither timings nor memory, so that a repeated run gives
    the same bytes. It names the input and its hash: it belongs with the files that stay inside.

    Parameters
    ----------
    report : dict
        What ``report.json`` holds.

    Returns
    -------
    str
        The page, to be written as UTF-8.
    """
    sections = [
        _headline(report),
        _not_covered(report["guarantee"]),
        _lost(report),
        _labels(report),
        _branches(report),
        _folders(report),
        _made(report),
        _how_to_read(report),
    ]
    return blocks.page(
        f"Release report: {words.source(report)}", "\n".join(section for section in sections if section)
    )


def _headline(report: dict[str, Any]) -> str:
    guarantee = report["guarantee"]
    sentence, state = (
        ("The promise holds", "holds") if guarantee["holds"] else ("The promise does not hold", "fails")
    )
    file, method = blocks.data(words.source(report)), html.escape(report["algorithm"]["title"])
    promised = blocks.paragraph(f"Promise: {promise(guarantee)}")
    outcome = blocks.paragraph(check(guarantee), "small")
    return (
        f'<h1>Release report</h1>\n<p class="of">{file}, {method}</p>\n'
        f'<div class="verdict {state}"><strong>{sentence}</strong>{promised}{outcome}</div>'
    )


def _not_covered(guarantee: dict[str, Any]) -> str:
    spoken = words_for(guarantee)
    lines = [*spoken.not_covered(guarantee), *_NEVER_COVERED]
    if not spoken.hides_sensitive:
        lines.insert(-1, _IN_COMMON)
    return blocks.section("What the promise does not cover", blocks.points(lines))


_COLORS = {
    "unchanged": blocks.UNCHANGED,
    "generalized": blocks.GENERALIZED,
    "grouped": blocks.GENERALIZED,
    "suppressed": blocks.SUPPRESSED,
}


def _lost(report: dict[str, Any]) -> str:
    whole = report["input"]["occurrences"]
    shares = [(name, number, _COLORS[kind]) for kind, name, number in words.shares(report)]
    legend = [
        (color, f"{words.percent(number, whole)} {name}", f"({words.count(number)})")
        for name, number, color in shares
    ]
    figures = [(value, f"{name}: {meaning}") for name, value, meaning in words.figures(report)]
    return blocks.section(
        "What was lost",
        blocks.paragraph(words.loss(report)),
        blocks.bar([(number, color) for _, number, color in shares], whole),
        blocks.legend(legend),
        blocks.tiles(figures + _item_tiles(report)),
        blocks.paragraph(f"Rows: {words.rows(report)}"),
        blocks.paragraph(words.overlap(report)),
        blocks.paragraph(words.optimality(report)),
    )


def _item_tiles(report: dict[str, Any]) -> list[tuple[str, str]]:
    utility, published = report["utility"], report["published"]
    kept = f"{words.count(utility['unchanged_items'])} of {words.count(report['input']['items'])}"
    if report["recoding"] == "grouped":
        sensitive = words.count(utility["sensitive_items"])
        return [(kept, f"items published as they were; {sensitive} sensitive")]
    return [
        (
            kept,
            f"items unchanged; {words.count(utility['generalized_items'])} generalized, "
            f"{words.count(utility['suppressed_items'])} suppressed",
        ),
        (
            words.count(utility["published_labels"]),
            f"different labels published, in {words.count(published['occurrences'], 'occurrence')}",
        ),
    ]


def _labels(report: dict[str, Any]) -> str:
    labels, n_rows = report["labels"], report["published"]["rows"]
    if not labels:
        return ""
    lines = [
        (
            line["label"],
            [words.count(line["items"]), words.count(line["rows"]), words.percent(line["rows"], n_rows)],
            line["rows"] / n_rows if n_rows else 0.0,
        )
        for line in labels[:_MOST_LABELS]
    ]
    more = len(labels) - _MOST_LABELS
    return blocks.section(
        "The most used broader names",
        "<p>Each stands for one or more of the items below it. Bars: share of all published rows.</p>",
        blocks.table(["Label", "Items below", "In rows", "Share", ""], lines, _WIDTHS),
        blocks.paragraph(f"{words.count(more)} more in published/about.json." if more > 0 else "", "small"),
    )


def _branches(report: dict[str, Any]) -> str:
    branches = report.get("branches")
    if not branches:
        return ""
    most = max(branch["ncp"] for branch in branches)
    lines = [
        (
            branch["label"],
            [words.count(branch["items"]), words.count(branch["occurrences"]), words.measure(branch["ncp"])],
            branch["ncp"] / most if most else 0.0,
        )
        for branch in branches
    ]
    return blocks.section(
        "Loss in each branch of the hierarchy",
        "<p>NCP of the occurrences under each top branch. Bars: relative to the branch that loses most.</p>",
        blocks.table(["Branch", "Items", "Occurrences", "NCP", ""], lines, _WIDTHS),
    )


def _folders(report: dict[str, Any]) -> str:
    file = blocks.data(report["published"]["file"])
    if report["recoding"] == "grouped":
        file += ", groups.csv"
    hand_out = (
        ("May be handed out:", f"the folder <code>published/</code> ({file} and about.json), nothing else.")
        if report["guarantee"]["holds"]
        else ("Nothing may be handed out:", "the promise does not hold.")
    )
    inside = (
        "the folder <code>internal/</code>. It says which published row came from which input row, and this "
        "report is in it: its hash can confirm a guess of the input."
    )
    return blocks.section("What may be handed out", blocks.points([hand_out, ("Must stay inside:", inside)]))


def _made(report: dict[str, Any]) -> str:
    before, tree, algorithm = report["input"], report["hierarchy"], report["algorithm"]
    guarantee = report["guarantee"]
    contents = (
        f"{words.count(before['rows'], 'row')} ({words.count(before['empty_rows'])} empty), "
        f"{words.count(before['items'], 'item')}, {words.count(before['occurrences'], 'occurrence')}, "
        f"format {html.escape(before['format'] or 'none')}"
    )
    named = {name: guarantee[name] for name in words_for(guarantee).parameters if name in guarantee}
    parameters = {**named, **algorithm["parameters"], "seed": report["seed"]}
    written = [blocks.code(f"{name} = {_value(value)}") for name, value in parameters.items()]
    return blocks.section(
        "How it was made",
        blocks.facts(
            [
                ("Input", blocks.data(words.source(report))),
                ("Input SHA-256", blocks.code(before["sha256"] or "")),
                ("Contents", contents),
                *(_hierarchy(tree) if tree else []),
                ("Privacy model", html.escape(guarantee["model"])),
                ("Algorithm", f"{html.escape(algorithm['title'])}, {blocks.code(algorithm['name'])}"),
                ("Parameters", ", ".join(written)),
                ("Reference", html.escape(algorithm["reference"])),
                ("Made with", f"setveil {html.escape(report['setveil'])}"),
            ]
        ),
    )


def _hierarchy(tree: dict[str, Any]) -> list[tuple[str, str]]:
    source = (
        blocks.data(tree["path"]) if tree["path"] else f"made from the data: {html.escape(tree['source'])}"
    )
    size = f"{words.count(tree['leaves'], 'leaf', 'leaves')}, height {tree['height']}"
    return [("Hierarchy", f"{source}, {size}"), ("Hierarchy SHA-256", blocks.code(tree["sha256"] or ""))]


_KINDS = {
    "global": (
        "Generalized:",
        "published under a broader name. Two items of a row that get the same name are published once. "
        "<b>Suppressed:</b> left out of every row.",
    ),
    "local": (
        "Generalized:",
        "published under a broader name from the hierarchy, not the same one in every row. Two items of a "
        "row that get the same name are published once.",
    ),
    "grouped": (
        "Group:",
        "rows that are published together: their other items row by row, of each sensitive item only in how "
        "many of them it is.",
    ),
}
_KL_SCALE = (
    "KL",
    "compares, among the rows with a sensitive item, how often other items occur with what a reader of the "
    "groups would guess. 0: the guess is right.",
)
_NCP_SCALE = (
    "NCP and LM",
    "run from 0 (every item published as it was) to 1 (nothing is left). Compare them only between releases "
    "made with the same hierarchy.",
)


def _how_to_read(report: dict[str, Any]) -> str:
    guarantee, kind = report["guarantee"], report["recoding"]
    lines = [
        ("Row:", "the set of items of one person. <b>Occurrence:</b> one item in one row."),
        _KINDS[kind],
        *words_for(guarantee).reading(guarantee),
        _KL_SCALE if kind == "grouped" else _NCP_SCALE,
        (
            "The check",
            "does not rely on the algorithm. <code>setveil verify</code> repeats it on what is published.",
        ),
    ]
    return blocks.section("How to read this", blocks.points(lines))


def _value(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
