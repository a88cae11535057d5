"""Information loss on a run's page: shares, measures, branches, labels, suppressed items."""

from __future__ import annotations

from setveil.base.wording import are, count
from setveil.report import glossary, words
from setveil.report.drawing import blocks
from setveil.report.record import Label, Record
from setveil.report.run.hidden import hidden_items
from setveil.report.run.kinds import kind_of
from setveil.report.run.names import shown

MOST_LINES = 20
WIDTHS = "40% 13% 15% 13% 19%"
_MOST_NAMES = 40
_FEW = 3  # members of a label that are shown where names make them long


def losses(report: Record) -> blocks.Section:
    """Show the information loss as a section."""
    whole, kind = report["input"]["occurrences"], kind_of(report)
    shares = kind.shares(report)
    legend = [
        (color, f"{words.percent(number, whole)} {name}", f"({count(number)})")
        for color, name, number in shares
    ]
    figures = [(value, f"{glossary.named(name)}: {meaning}") for name, value, meaning in kind.figures(report)]
    inside = [text for _, text, _ in legend]
    inside += [f"{name} {value}" for name, value, _ in kind.figures(report, brief=True)]
    parts = [
        blocks.paragraph(kind.loss(report)),
        blocks.bar([(number, color) for color, _, number in shares], whole),
        blocks.legend(legend),
        blocks.tiles(figures + kind.item_tiles(report)),
        blocks.paragraph(f"Rows: {words.rows(report)}"),
        blocks.paragraph(kind.overlap(report)),
        blocks.paragraph(words.optimality(report)),
        hidden_items(report),
        _branches(report),
        labels(report),
        _suppressed_line(report),
    ]
    return blocks.Section("Information loss", ", ".join(inside) + ".", tuple(part for part in parts if part))


def _branches(report: Record) -> str:
    branches = sorted(report.get("branches") or [], key=lambda branch: -branch["ncp"])
    if not branches:
        return ""
    most, local = branches[0]["ncp"], "table" in report  # items are left out in some classes only
    lines = [
        (
            shown(report, branch["label"]),
            [
                count(branch["items"]),
                count(branch["occurrences"]),
                *([words.percent(branch["left_out"], branch["occurrences"])] if local else []),
                words.measure(branch["ncp"]),
            ],
            branch["ncp"] / most if most else 0.0,
        )
        for branch in branches[:MOST_LINES]
    ]
    heads = (
        "Branch",
        words.spoken(report, "Items"),
        "Occurrences",
        *(["Suppressed"] if local else []),
        "NCP",
        "",
    )
    widths = "35% 11% 15% 12% 10% 17%" if local else WIDTHS
    return blocks.subsection(
        "Loss in each branch of the hierarchy",
        blocks.paragraph(
            "NCP of the occurrences under each top branch. Bars: relative to the branch that loses most."
        ),
        blocks.table(heads, lines, widths),
        _more(len(branches), "in internal/report.json"),
    )


def labels(report: Record, about: str = "published/about.json") -> str:
    """List the published labels that represent other items, those in most rows first."""
    listed, n_rows = report["labels"], report["published"]["rows"]
    unit = words.unit(report).capitalize()
    if not listed:
        return ""
    lines = [
        (
            shown(report, line["label"]) + _members(report, line),
            [
                "" if line["items"] is None else count(line["items"]),
                count(line["rows"]),
                words.percent(line["rows"], n_rows),
            ],
            line["rows"] / n_rows if n_rows else 0.0,
        )
        for line in listed[:MOST_LINES]
    ]
    return blocks.subsection(
        "The most used broader labels",
        blocks.paragraph(
            words.spoken(report, "Each represents one or more of the items below it.")
            + " Bars: share of all published rows."
        ),
        blocks.table(("Label", f"{unit}s below", "In rows", "Share", ""), lines, WIDTHS),
        _more(len(listed), f"in {about}"),
    )


def _members(report: Record, line: Label) -> str:
    """Name some of the items that a label represents; nothing where the record names none."""
    first = (line.get("first") or [])[: _FEW if report.get("names") else None]
    if not first:
        return ""
    rest = line["items"] - len(first)
    more = f" and {count(rest)} more" if rest else ""
    named = ", ".join(shown(report, item) for item in first)
    return f'<div class="small names">{named}{more}</div>'


def _more(number: int, where: str) -> str:
    rest = number - MOST_LINES
    return blocks.paragraph(f"{count(rest)} more {where}.", "small") if rest > 0 else ""


def _suppressed_line(report: Record) -> str:
    """Name the items that were suppressed, those first that are known to be frequent."""
    names, whole = report.get("suppressed") or [], report["input"]["occurrences"]
    if not names:
        return ""
    utility = report["utility"]
    hit, number = utility["suppressed_occurrences"], utility["suppressed_items"]
    lost = f"{count(hit, 'occurrence')} ({words.percent(hit, whole)})"
    with_them = (
        f"{lost} with {'it' if number == 1 else 'them'}."
        if report["recoding"] in ("global", "facts")
        else f"others are missing in some rows only: {lost} in all."
    )
    many = (
        f"{count(number, words.unit(report))} of {count(report['input']['items'])} {are(number)} in no "
        "published row, "
        f"{with_them}"
    )
    if number != len(names):
        many += " Some are suppressed together, under the name that the hierarchy has for all of them."
    rows = {line["item"]: line["rows"] for line in report.get("frequencies") or []}
    frequent = sorted((name for name in names if name in rows), key=lambda name: -rows[name])
    if rows and not frequent:
        many += f" None is among the {count(len(rows))} most frequent {words.unit(report)}s."
    rare = [name for name in names if name not in rows]
    texts = [f"{shown(report, name)} (in {count(rows[name], 'row')})" for name in frequent]
    texts = (texts + [shown(report, name) for name in rare])[:_MOST_NAMES]
    rest = len(names) - len(texts)
    more = f", and {count(rest)} more in <code>internal/report.json</code>" if rest else ""
    return blocks.subsection(
        words.spoken(report, "Suppressed items"),
        blocks.paragraph(many),
        f'<p class="names">{", ".join(texts)}{more}.</p>',
    )
