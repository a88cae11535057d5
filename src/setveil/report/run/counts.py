"""Sentences about the counts next to the rows."""

from __future__ import annotations

import html

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Record
from setveil.report.run.kinds import kind_of
from setveil.report.run.names import shown

_MOST = 20  # items that are named


def contents(report: Record) -> str:
    """Say what the file of counts holds, as HTML; empty where there is none."""
    counts = report.get("counts")
    if not counts:
        return ""
    if own := kind_of(report).counted(report):
        return own
    file = f"<code>{html.escape(counts['file'])}</code>"
    if kind_of(report).counts_whole:
        listed = count(counts["items"], f"{'' if counts['suppressed'] else 'published '}{words.unit(report)}")
        return (
            f"{file} says in how many rows of the original each of {listed} was: all that at least "
            f"{count(counts['least'], 'row')} contained"
        )
    left_out = ", or suppress it" if counts["suppressed"] else ""
    items, least = count(counts["items"], words.unit(report)), count(counts["least"])
    more = words.spoken(report, "An item was in at least as many rows as its lines add up to")
    return (
        f"{file} lists the number of original rows that contained each of {items} and publish it under one "
        f"label{left_out}: all such numbers of at least {least}. {more}"
    )


def counts_section(report: Record) -> blocks.Section | None:
    """Say what the counts reveal next to the rows, as a section; empty where there are none."""
    counts = report.get("counts")
    if not counts:
        return None
    sure = [line for line in counts["sure"] if line["label"]]
    limit = words.percent(counts["sure_from"])
    named = [
        f"{shown(report, line['item'])} ({count(line['rows'])} of the {count(line['of'], 'row')} with "
        f"{shown(report, line['label'])})"
        for line in sure[:_MOST]
    ]
    more = f", and {count(len(sure) - _MOST)} more" if len(sure) > _MOST else ""
    unit = words.unit(report)
    likely = f"No {unit} is in more than {limit} of the rows of a label that represents several."
    if named:
        likely = f"Nearly certain, in more than {limit} of the rows of their label: {', '.join(named)}{more}."
    many = f"{count(len(sure), unit)} {are(len(sure))}" if sure else f"No {unit} is"
    return blocks.fold(
        "Information in the counts",
        f"{many} nearly certain (more than {limit}) in rows with its label.",
        f"<p>{contents(report)}. They make nobody easier to find: rows that show the same labels are "
        f"still equally likely to be a person's. But they reveal how likely each {unit} is in a row with "
        "its label.</p>",
        f'<p class="names">{likely}</p>',
        f'<p class="small">Omit them (<code>--no-counts</code>) if nobody may guess {unit}s, '
        f"or if the greatest number of {unit}s in a row is known.</p>",
    )
