"""Parts of every page about a release: the guarantee, its limits, and the terms."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence

from setveil.judges.guarantees import Facts
from setveil.judges.utility import Measure
from setveil.report import glossary, words
from setveil.report.drawing import blocks
from setveil.report.models import check, title, words_for
from setveil.report.record import Record
from setveil.report.run import facts
from setveil.report.run.kinds import kind_of, promised

_NEVER_COVERED = (
    (
        "Knowing that an item is absent.",
        "The guarantee is about items known to be present. Someone who also knows that an item is absent may "
        "narrow a person down further.",
    ),
    (
        "Other files.",
        "A second release about the same people, or any file that can be matched with this one, may together "
        "with it reveal more than each does alone. A series has one guarantee over all its releases.",
    ),
)

_IN_COMMON = (
    "What all matching rows share.",
    "If all of them contain a sensitive item, it is learned about the person without knowing which row is "
    "theirs.",
)


def headline(head: str, about: str, report: Record) -> str:
    """Say what was guaranteed and whether it holds, under a title; `about` is HTML."""
    guarantee = report["guarantee"]
    sentence, state = (
        ("The guarantee holds", "holds") if guarantee["holds"] else ("The guarantee does not hold", "fails")
    )
    promise = blocks.paragraph(f"Guarantee: {promised(report)}") + _parameters(guarantee)
    outcome = blocks.paragraph(check(guarantee), "small")
    return (
        f'<h1>{head}</h1>\n<p class="of">{about}</p>\n'
        f'<div class="verdict {state}"><strong>{sentence}</strong>{promise}{outcome}</div>'
    )


def _parameters(guarantee: Facts) -> str:
    """List the parameters of a guarantee, each with what it means."""
    named = [
        f"{html.escape(f'{name} = {_written(guarantee[name])}')}{glossary.term_button(name)}"
        for name in words_for(guarantee).parameters
        if name in guarantee and isinstance(guarantee[name], int | float | str | dict)
    ]
    return f'<p class="small">{html.escape(title(guarantee))}: {", ".join(named)}</p>' if named else ""


def _written(value: object) -> str:
    """Write a parameter; one that each column has for itself with the names of the columns."""
    if isinstance(value, dict):
        return ", ".join(f"{number} of {column}" for column, number in value.items())
    return str(value)


_ABOUT = ("date", "purpose", "recipient", "responsible")
_STATED = (*_ABOUT, "legal_basis", "review")  # what an internal page names, or shows as open


def about(report: Record, names: tuple[str, ...] = _ABOUT) -> str:
    """Show what was said about the release when it was made, as far as anything was."""
    said: Mapping[str, object] = report.get("about") or {}
    lines = [
        f"<b>{name.capitalize()}:</b> {html.escape(str(said[name]))}" for name in names if said.get(name)
    ]
    return f'<p class="of">{"; ".join(lines)}.</p>' if lines else ""


def stated(report: Record) -> str:
    """Show what was said about a release, the options that state what is open, and the limits."""
    said: Mapping[str, object] = report.get("about") or {}
    lines = [f"<b>{_title(name)}:</b> {html.escape(str(said[name]))}" for name in _STATED if said.get(name)]
    missing = [blocks.code(f"--{name.replace('_', '-')}") for name in _STATED if not said.get(name)]
    titles = " ".join(title for title, _ in uncovered(report))
    parts = [
        f"{'; '.join(lines)}." if lines else "",
        f"<b>Open:</b> {', '.join(missing)}." if missing else "",
        f"<b>Not covered:</b> {titles}",
    ]
    return f'<p class="small">{" ".join(filter(None, parts))}</p>'


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


_COUNTED = (
    "How likely an item is.",
    "The published counts show which share of a label's rows contain each of its items.",
)


def not_covered(report: Record) -> blocks.Section:
    """Say what the guarantee leaves open, as a section."""
    lines = uncovered(report)
    inside = " ".join(title for title, _ in lines)
    return blocks.Section("Limits of the guarantee", inside, (blocks.points(lines),))


def uncovered(report: Record) -> list[tuple[str, str]]:
    """List the limits of the guarantee, each with a short title, as HTML."""
    guarantee = report["guarantee"]
    spoken = words_for(guarantee)
    never = (("Other data about the same row.", kind_of(report).untreated), *_NEVER_COVERED)
    lines = [*_of(report, spoken.not_covered(guarantee)), *(facts.OPEN if "facts" in report else ())]
    said = {title for title, _ in lines}
    lines = [*lines, *((title, text) for title, text in never if title not in said)]
    if not spoken.hides_sensitive and all(title != _IN_COMMON[0] for title, _ in lines):
        lines.insert(-1, _IN_COMMON)
    if report.get("counts"):
        lines[-1:-1] = _of(report, [_COUNTED])
    return lines


def _of(report: Record, lines: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Say of facts, where rows are made of them, what lines say of items; not where these name columns."""
    if isinstance(report["guarantee"].get("m"), Mapping):
        return [*lines]
    return [(words.spoken(report, title), words.spoken(report, text)) for title, text in lines]


def versions(report: Record) -> str:
    """List what the release was made with."""
    libraries = sorted((report.get("versions") or {}).items())
    return html.escape(
        ", ".join(f"{name} {version}" for name, version in [("setveil", report["setveil"]), *libraries])
    )


def how_to_read(report: Record, explained: list[Measure]) -> blocks.Section:
    """Explain the terms and some measures, as a section."""
    guarantee, kind = report["guarantee"], kind_of(report)
    lines = [
        *_of(report, [("Row:", "the set of items of one person. <b>Occurrence:</b> one item in one row.")]),
        kind.term,
        *_of(report, words_for(guarantee).reading(guarantee)),
        *kind.readings(explained),
        (
            "The check",
            "does not rely on the algorithm. <code>setveil verify</code> repeats it on what is published.",
        ),
    ]
    return blocks.Section("Explanations", "The terms, and how to read the figures.", (blocks.points(lines),))
