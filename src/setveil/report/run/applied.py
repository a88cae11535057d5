"""Sentences about a run that used the labels of an earlier release."""

from __future__ import annotations

import html

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Applied, Cases, Change, Newcomer, Record
from setveil.report.run.names import shown

_MOST_LINES = 20
_FEW = 3  # changes that a summary tells
_SUPPRESSED = "suppressed"


def applied_facts(report: Record) -> dict[str, str]:
    """List what a summary says, each with its label; nothing of runs with a recoding of their own."""
    entry = report.get("applied")
    if not entry:
        return {}
    return {
        "Labels": f"Those of {words.clip(entry['run'], 60)}. {_items(entry['items'])}",
        "Repaired": _changed(entry),
        "Together": _together(entry),
        "People": people_words(report),
    }


def people_words(report: Record) -> str:
    """Say whom the release may be of, and what was checked of that."""
    said = report["applied"]["people"]
    shared, ids = said.get("shared", 0), said.get("ids", 0)
    if said["told"] == "same":
        number = f" ({count(shared, 'id')} {are(shared)} in both)" if shared else ""
        return (
            f"WARNING: some people are in the earlier release, too{number}. Together the two may tell what "
            "each of them hides; nothing is guaranteed about that."
        )
    only = "Only for people who are not in the earlier release"
    if shared:
        return f"{only}: {count(shared, 'id')} {are(shared)} in both, which was said to mean nothing."
    if said["checked"]:
        return f"{only}: none of its {count(ids, 'id')} is among those of the new rows."
    return f"{only}. That could not be checked: there are no ids to compare."


def _items(found: Cases) -> str:
    """Say how many items the earlier run knows, and what became of the others."""
    known, under, left = found["known"], found["under"], found["left_out"]
    parts = [
        f"{count(known['items'])} of {count(sum(c['items'] for c in (known, under, left)), 'item')} known"
    ]
    for case, what in ((under, "new, below a label"), (left, "unknown, without a label")):
        if case["items"]:
            parts.append(f"{count(case['items'])} {what} ({count(case['occurrences'], 'occurrence')})")
    return f"{', '.join(parts)}."


def _changed(entry: Applied) -> str:
    """Say which labels a repair replaced, in a few words."""
    changes = entry["changes"]
    if not entry["repaired"]:
        return ""
    first = [
        f"{words.clip(_label(change['from']), 24)} \u2192 {words.clip(_label(change['to']), 24)} "
        f"({count(change['occurrences'], 'occurrence')})"
        for change in changes[:_FEW]
    ]
    return f"{words.listed([*first, *([''] * (len(changes) - len(first)))], _FEW)}."


def _label(label: str | None) -> str:
    return _SUPPRESSED if label is None else label


def _together(entry: Applied) -> str:
    """Say that two releases satisfy the guarantee together."""
    union = entry.get("union")
    if not union:
        return ""
    return (
        f"{union['phrase']} also holds for the {count(union['rows'], 'row')} of this release and of "
        f"{words.clip(union['release'], 40)}, if nobody is in both."
    )


def applied(report: Record) -> blocks.Section | None:
    """Return a section about the labels used, unknown items, and the changes of a repair."""
    entry = report.get("applied")
    if not entry:
        return None
    items = entry["items"]
    source = f", made of {blocks.data(entry['input'] or '')}" if entry.get("input") else ""
    return blocks.fold(
        "The labels of an earlier release",
        html.escape(_items(items)),
        blocks.facts(
            [
                ("Earlier run", f"{blocks.data(entry['run'])} ({html.escape(entry['algorithm'])}){source}"),
                ("People", _loud(report)),
                ("Items", _items(items)),
                ("Both together", html.escape(_together(entry))),
            ]
        ),
        _repaired(report, entry),
        _newcomers(
            report,
            items["labels"],
            "New items below a label",
            "The earlier run does not know them; the hierarchy has them below one of its labels.",
        ),
        _newcomers(
            report,
            items["lost"],
            "Unknown items without a label",
            "The earlier run does not know them, and none of its labels is above them.",
        ),
    )


def _loud(report: Record) -> str:
    text = html.escape(people_words(report))
    return f"<strong>{text}</strong>" if report["applied"]["people"]["told"] == "same" else text


def _repaired(report: Record, entry: Applied) -> str:
    """Show the difference of the two recodings."""
    if not entry["repaired"]:
        return ""
    lines = [
        [
            _name(report, change["from"]) + _first(report, change),
            _name(report, change["to"]),
            count(change["items"]),
            count(change["occurrences"]),
        ]
        for change in entry["changes"][:_MOST_LINES]
    ]
    return blocks.subsection(
        "Coarsened labels",
        blocks.paragraph(
            "The guarantee does not hold for the new rows under the earlier labels. Items of these labels "
            "have broader labels, or are suppressed; all others are as in the earlier run."
        ),
        blocks.grid(("Earlier label", "Label now", "Items", "Occurrences"), lines, "40% 30% 12% 18%"),
        _more(len(entry["changes"])),
    )


def _name(report: Record, label: str | None) -> str:
    return _SUPPRESSED if label is None else shown(report, label)


def _first(report: Record, change: Change) -> str:
    """Name some of the items that a change is about, unless the label is the item."""
    if change["first"] == [change["from"]]:
        return ""
    rest = change["items"] - len(change["first"])
    more = f" and {count(rest)} more" if rest else ""
    named = ", ".join(shown(report, item) for item in change["first"])
    return f'<div class="small names">{named}{more}</div>'


def _newcomers(report: Record, lines: list[Newcomer], title: str, text: str) -> str:
    if not lines:
        return ""
    some = sorted(lines, key=lambda line: -line["rows"])[:_MOST_LINES]
    table = [
        [shown(report, line["item"]), _name(report, line["label"]), count(line["rows"])] for line in some
    ]
    return blocks.subsection(
        title,
        blocks.paragraph(text),
        blocks.grid(("Item", "Published as", "In rows"), table, "45% 35% 20%"),
        _more(len(lines)),
    )


def _more(number: int) -> str:
    rest = number - _MOST_LINES
    return blocks.paragraph(f"{count(rest)} more in internal/report.json.", "small") if rest > 0 else ""
