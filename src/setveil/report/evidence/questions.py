"""The questions of a compliance record: what only people can answer, in six groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from setveil.report.record import Record


@dataclass(frozen=True)
class Question:
    """A question that stays open until a person answers it."""

    name: str
    text: str


GROUPS: Mapping[str, tuple[Question, ...]] = {
    "Attackers": (
        Question("attackers", "Who might try to identify people in these rows, and why?"),
        Question("other_data", "Which other data may they have?"),
        Question("attacked_by", "Who attacked the release, by which means, and with what result?"),
    ),
    "Risk and parameters": (
        Question("threshold", "Which risk is acceptable, the greatest or the mean, and why?"),
        Question("population", "Which population are the rows from, what share, and how were they drawn?"),
        Question("parameters", "Why these parameters of the guarantee, and not stronger ones?"),
    ),
    "Judgement": (
        Question("singling_out", "Is singling out reasonably likely here, and why?"),
        Question("linkability", "Is linking records reasonably likely here, and why?"),
        Question("inference", "Is inference about a person reasonably likely here, and why?"),
    ),
    "Use and access": (
        Question("utility_for", "For whom, and for which analyses, are the data useful enough?"),
        Question("contract", "Which contract or licence binds the recipients?"),
        Question("access", "Who gets access, where, and for how long?"),
    ),
    "Responsibility": (
        Question("owner", "Who is responsible for the release?"),
        Question("review", "When is it reviewed, and what would change the decision?"),
        Question("incident", "What happens if a person is identified?"),
    ),
    "Decision": (
        Question("decision", "What was decided about the release, and on which grounds?"),
        Question("board", "Which disclosure review board approved it, and when?"),
        Question("expert", "Which expert determined the risk: name, knowledge and experience?"),
        Question("very_small", "Is the risk that a recipient identifies a person very small, and why?"),
    ),
}
QUESTIONS = {question.name: question for group in GROUPS.values() for question in group}


def prefilled(record: Record) -> dict[str, str]:
    """Answer what the options of the run answer already."""
    about = record.get("about") or {}
    answers = {"owner": about.get("responsible", ""), "access": about.get("recipient", "")}
    answers["review"] = about.get("review", "")
    return {name: text for name, text in answers.items() if text}


def grouped(names: set[str]) -> dict[str, list[Question]]:
    """Return the named questions by group, without empty groups."""
    chosen = {title: [one for one in group if one.name in names] for title, group in GROUPS.items()}
    return {title: group for title, group in chosen.items() if group}
