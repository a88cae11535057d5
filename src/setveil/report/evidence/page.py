"""The officer's file as one page, which prints to A4."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from setveil.report.drawing import blocks
from setveil.report.evidence.frames import Fact, Field, Section, Sources
from setveil.report.run.kinds import promised
from setveil.report.words import of_events
from setveil.wording import are, count

LONGEST = 10_000  # characters of an answer
NO_CLAIM = (
    "This page claims conformity with nothing. It puts what the record of a release says under the headings "
    "of standards and laws, in words of its own; the texts themselves are not repeated here."
)
_STYLE = """
.field { background: #fff3cd; border: 1px dashed #8a6d00; border-radius: 4px; padding: 8px 12px;
  margin: 8px 0; break-inside: avoid; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.field b { display: block; }
.field .line { display: block; border-bottom: 1px solid #8a6d00; height: 30px; }
.answer { border-left: 4px solid #0072b2; padding: 2px 12px; margin: 8px 0; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.note { border-left: 4px solid #b03a00; padding: 2px 12px; }
.from { color: #555; font-size: .8125em; }
.record { table-layout: fixed; }
.record th { width: 34%; font-weight: 600; }
.record td.from { width: 26%; }
@media screen and (max-width: 600px) {
  .record, .record tbody, .record tr, .record th, .record td { display: block; width: auto !important; }
  .record tr { border-bottom: 1px solid #e4e4e4; padding: 4px 0; }
  .record th, .record td { border: 0; padding: 1px 0; }
}
"""


def evidence_html(told: Sources, wanted: Sequence[Section], answers: Mapping[str, str]) -> str:
    """Write the page: each section with facts, notes and fields, and at the end all fields that are open."""
    parts = [
        "<h1>Evidence about a release</h1>",
        f'<p class="of">{html.escape(promised(told.record))}</p>',
        blocks.paragraph(html.escape(NO_CLAIM)),
        blocks.paragraph(
            "Keep this internal: it holds figures of the original rows. Shaded fields are for people to "
            "fill in."
        ),
    ]
    for frame, some in groupby(wanted, lambda section: section.frame):
        parts.append(f"<h2>{html.escape(frame)}</h2>")
        parts += [_section(section, told, answers) for section in some]
    parts.append(_open(open_fields(wanted, answers)))
    page = blocks.page("Evidence about a release", "\n".join(parts), _STYLE)
    return of_events(told.record, page)


def open_fields(wanted: Sequence[Section], answers: Mapping[str, str]) -> list[tuple[Section, Field]]:
    """List the fields that nobody has filled in."""
    return [(section, field) for section in wanted for field in section.fields if not answers.get(field.name)]


def _section(section: Section, told: Sources, answers: Mapping[str, str]) -> str:
    number = f"{section.number} " if section.number else ""
    parts = [f"<h3>{html.escape(number + section.heading)}</h3>", _facts(section.facts(told))]
    if section.note is not None:
        parts.append(f'<p class="note">{html.escape(section.note(told))}</p>')
    parts += [_field(field, answers.get(field.name, "")) for field in section.fields]
    return "\n".join(parts)


def _facts(facts: Sequence[Fact]) -> str:
    lines = [
        f"<tr><th>{html.escape(fact.what)}</th><td>{html.escape(fact.text)}</td>"
        f'<td class="from">{html.escape(fact.source)}</td></tr>'
        for fact in facts
    ]
    return f'<table class="record"><tbody>{"".join(lines)}</tbody></table>'


def _field(field: Field, answer: str) -> str:
    question = html.escape(field.question)
    if answer:
        return f'<p><b>{question}</b></p><p class="answer">{html.escape(answer)}</p>'
    return (
        f'<div class="field" id="{field.name}"><b>{question}</b>To be filled in '
        f'(<code>{field.name}</code>)<span class="line"></span></div>'
    )


def _open(fields: Sequence[tuple[Section, Field]]) -> str:
    if not fields:
        return "<h2>Open fields</h2>\n<p>None: every field is filled in.</p>"
    lines = [
        f'<li><a href="#{field.name}">{html.escape(field.question)}</a> '
        f'<span class="from">{html.escape(f"{section.frame} {section.number}".strip())}, '
        f"{field.name}</span></li>"
        for section, field in fields
    ]
    number = len(fields)
    return (
        f"<h2>Open fields</h2>\n<p><b>{count(number, 'field')} {are(number)} open.</b></p>\n"
        f"<ul>{''.join(lines)}</ul>"
    )


def told_as_data(told: Sources, wanted: Sequence[Section], answers: Mapping[str, str]) -> dict[str, Any]:
    """Return the same as JSON types."""
    return {
        "sections": [
            {
                "frame": section.frame, "number": section.number, "heading": section.heading,
                "facts": [vars(fact) for fact in section.facts(told)],
                "note": "" if section.note is None else section.note(told),
                "fields": {field.name: answers.get(field.name, "") for field in section.fields},
            }
            for section in wanted
        ],
        "open": [
            {"field": field.name, "question": field.question} for _, field in open_fields(wanted, answers)
        ],
    }  # fmt: skip
