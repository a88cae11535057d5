"""The compliance record as one page that prints to A4: facts, questions, then standards that cite both."""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Any

from setveil.base.wording import are, count
from setveil.report.drawing import blocks
from setveil.report.evidence.facts import EvidenceFact, EvidenceSources
from setveil.report.evidence.questions import QUESTIONS, Question, grouped
from setveil.report.evidence.standards import SUBJECTS, StandardSection, tested, uncovered
from setveil.report.words import of_events

LONGEST = 10_000  # characters of an answer
NO_CLAIM = (
    "This page does not claim conformity. It lists the facts about a release, and which of them each "
    "standard asks for."
)
_STYLE = """
.field { background: #fff3cd; border: 1px dashed #8a6d00; border-radius: 4px; padding: 8px 12px;
  margin: 8px 0; break-inside: avoid; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
.field .line { display: block; border-bottom: 1px solid #8a6d00; height: 26px; }
.answer { border-left: 4px solid #0072b2; padding: 2px 12px; margin: 8px 0; white-space: pre-wrap;
  overflow-wrap: anywhere; }
.note { border-left: 4px solid #b03a00; padding: 2px 12px; }
.from { color: #555; font-size: .8125em; }
.record th:first-child, .record td:first-child { width: 3.2em; color: #555; }
.record td.from { width: 26%; }
.cited th { width: 40%; }
.cited .note { display: block; margin-top: 4px; }
@media screen and (max-width: 600px) {
  .record, .record tbody, .record tr, .record th, .record td { display: block; width: auto !important; }
  .record tr { border-bottom: 1px solid #e4e4e4; padding: 4px 0; }
  .record th, .record td { border: 0; padding: 1px 0; }
}
"""
_NUMBERS = {name: number for number, name in enumerate(QUESTIONS, 1)}


def evidence_html(
    sources: EvidenceSources, wanted: Sequence[StandardSection], answers: Mapping[str, str]
) -> str:
    """Write the page."""
    subjects = facts_once(sources)
    rows = {subject: _rows(facts) for subject, facts in subjects.items()}
    numbers = {
        _key(fact): number
        for number, facts in enumerate((facts for some in rows.values() for facts in some.values()), 1)
        for fact in facts
    }
    names = {name for section in wanted for name in section.questions}
    parts = [
        "<h1>Compliance record</h1>",
        blocks.paragraph(f"{NO_CLAIM} It contains figures of the original rows: keep it internal."),
        _count_open(names, answers),
        "<h2>Facts</h2>",
        *(_facts(subject, some, numbers) for subject, some in rows.items()),
        "<h2>Limits</h2>",
        *(f'<p class="note">{html.escape(text)}</p>' for text in limits(sources)),
        "<h2>Questions</h2>",
        *(_group(title, group, answers) for title, group in grouped(names).items()),
        "<h2>Standards</h2>",
        *(
            _standard(frame, list(some), sources, numbers)
            for frame, some in groupby(wanted, lambda section: section.frame)
        ),
    ]
    return of_events(sources.record, blocks.page("Compliance record", "\n".join(parts), _STYLE))


def limits(sources: EvidenceSources) -> list[str]:
    """Say what the guarantee does not cover, and what attacks that fail are worth."""
    return [uncovered(sources), tested(sources)]


def facts_once(sources: EvidenceSources) -> dict[str, list[EvidenceFact]]:
    """Collect the facts by subject, each once."""
    seen: set[tuple[str, str, str]] = set()
    subjects: dict[str, list[EvidenceFact]] = {}
    for subject, parts in SUBJECTS.items():
        for fact in (fact for part in parts for fact in part(sources)):
            if _key(fact) not in seen:
                seen.add(_key(fact))
                subjects.setdefault(subject, []).append(fact)
    return subjects


def open_questions(wanted: Iterable[StandardSection], answers: Mapping[str, str]) -> list[Question]:
    """List the questions that nobody has answered, in the order in which sections cite them."""
    names = dict.fromkeys(name for section in wanted for name in section.questions)
    return [QUESTIONS[name] for name in names if not answers.get(name)]


def _key(fact: EvidenceFact) -> tuple[str, str, str]:
    return fact.what, fact.text, fact.source


def _count_open(names: set[str], answers: Mapping[str, str]) -> str:
    missing = sum(not answers.get(name) for name in names)
    if not missing:
        return "<p>Every question is answered.</p>"
    return f"<p><b>{count(missing, 'question')} {are(missing)} open</b>, shaded below.</p>"


def _rows(facts: Sequence[EvidenceFact]) -> dict[str, list[EvidenceFact]]:
    """Put facts that differ in one word, such as the number of known items, in one row."""
    rows: dict[str, list[EvidenceFact]] = {}
    for fact in facts:
        rows.setdefault(row_and_word(fact)[0], []).append(fact)
    return rows


def row_and_word(fact: EvidenceFact) -> tuple[str, str]:
    """Return the row of a fact, and the word for it there; empty if the row has no other."""
    if known := re.fullmatch(r"(.+), (\d+) items? known( .+)?", fact.what):
        return f"{known[1]}{known[3] or ''}, by items known", f"{known[2]}:"
    if fact.what.endswith(", SHA-256"):
        return "SHA-256", fact.what.removesuffix(", SHA-256")
    for row in ("Occurrences", "Rows", "Loss"):
        if fact.what.startswith(f"{row} "):
            return row, fact.what.removeprefix(f"{row} ").removeprefix("of the ").strip("()")
    if fact.source in ("setveil", f"versions.{fact.what}"):
        return "Versions", fact.what
    if fact.source == f"guarantee.{fact.what}":
        return "Parameters", fact.what
    return fact.what, ""


def _facts(
    subject: str,
    rows: Mapping[str, Sequence[EvidenceFact]],
    numbers: Mapping[tuple[str, str, str], int],
) -> str:
    lines = []
    for row, facts in rows.items():
        number = numbers[_key(facts[0])]
        said = "; ".join(f"{row_and_word(fact)[1]} {fact.text}".strip() for fact in facts)
        sources = ", ".join(dict.fromkeys(_many(fact.source) for fact in facts))
        lines.append(
            f'<tr id="F{number}"><td>F{number}</td><th>{html.escape(row)}</th>'
            f'<td>{html.escape(said)}</td><td class="from">{html.escape(sources)}</td></tr>'
        )
    return f'<h3>{subject}</h3>\n<table class="record"><tbody>{"".join(lines)}</tbody></table>'


def _many(source: str) -> str:
    """Write the place of a fact as that of all facts of its list."""
    return re.sub(r"\.\d+\.", ".*.", re.sub(r"^versions\..*", "versions", source))


def _group(title: str, group: Sequence[Question], answers: Mapping[str, str]) -> str:
    return "\n".join([f"<h3>{title}</h3>", *(_question(one, answers.get(one.name, "")) for one in group)])


def _question(question: Question, answer: str) -> str:
    number = f"Q{_NUMBERS[question.name]}"
    shown = f"<b>{number}. {html.escape(question.text)}</b>"
    if answer:
        return f'<p id="{number}">{shown}</p><p class="answer">{html.escape(answer)}</p>'
    name = f'<code>{question.name}</code><span class="line"></span>'
    return f'<div class="field" id="{number}">{shown} {name}</div>'


def _standard(
    frame: str,
    some: Sequence[StandardSection],
    sources: EvidenceSources,
    numbers: Mapping[tuple[str, str, str], int],
) -> str:
    lines = []
    for section in some:
        facts = sorted({numbers[_key(fact)] for fact in section.facts(sources)})
        cited = [*_ranges("F", facts), *_ranges("Q", [_NUMBERS[name] for name in section.questions])]
        note = "" if section.note is None else section.note(sources)
        heading = html.escape(f"{section.number} {section.heading}".strip())
        shown = f'<span class="note">{html.escape(note)}</span>' if note else ""
        lines.append(f"<tr><th>{heading}</th><td>{', '.join(cited)}{shown}</td></tr>")
    return f'<h3>{html.escape(frame)}</h3>\n<table class="cited"><tbody>{"".join(lines)}</tbody></table>'


def _ranges(letter: str, numbers: Sequence[int]) -> list[str]:
    """Link to facts or questions by number; neighbours are a range, such as F3-F5."""
    ranges: list[tuple[int, int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    return [
        "-".join(f'<a href="#{letter}{end}">{letter}{end}</a>' for end in dict.fromkeys(ends))
        for ends in ranges
    ]


def record_as_data(
    sources: EvidenceSources, wanted: Sequence[StandardSection], answers: Mapping[str, str]
) -> dict[str, Any]:
    """Return the same as JSON types."""
    return {
        "sections": [
            {
                "frame": section.frame, "number": section.number, "heading": section.heading,
                "facts": [vars(fact) for fact in section.facts(sources)],
                "note": "" if section.note is None else section.note(sources),
                "fields": {name: answers.get(name, "") for name in section.questions},
            }
            for section in wanted
        ],
        "limits": limits(sources),
        "open": [
            {"field": question.name, "question": question.text}
            for question in open_questions(wanted, answers)
        ],
    }  # fmt: skip
