"""Sentences about a run that is a release of a series."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, cast

from setveil.base.wording import count
from setveil.report.drawing import blocks
from setveil.report.record import Record, SeriesEntry
from setveil.report.words import and_list, percent

_KNOWN = {
    "histories": "an item counts as known in all releases in which a person has it",
    "facts": "an item counts as known in one release",
}
_PRESENCE = {
    "implied": "a known item implies that the person is in its releases",
    "known": "presence in a release may be known, and counts as an item",
    "ignored": "presence in a release does not count as known",
}
_WAYS = {
    "needed": "only people who would be exposed under any labels",
    "found": "people who would be exposed under the best labels of these rows",
    "returners": "everyone who was in an earlier release",
    "none": "nobody",
    "planned": "people who would be exposed under any labels; the releases were planned together",
}


def series_facts(report: Record) -> dict[str, str]:
    """List what a summary says of the series, with its label; nothing of runs that are of none."""
    entry = report.get("series")
    if not entry:
        return {}
    return {"Series": f"{_promise(entry)} {_kept(entry)}", "Withheld": _held(entry)}


def _promise(entry: SeriesEntry) -> str:
    """Say what the releases together guarantee, which everyone may know."""
    several = f"all {len(entry['of'])} releases ({and_list(entry['of'])}) together guarantee"
    who = several if len(entry["of"]) > 1 else "the first release of a series, which guarantees"
    items = f"up to {count(entry['m'], 'item')}"
    return (
        f"{entry['release']}: {who} that anyone who knows {items} of a person, and which rows of "
        f"different releases are theirs, finds at least {entry['k']} matching people."
    )


def _kept(entry: SeriesEntry) -> str:
    """Say who is exposed by all of them."""
    if entry["holds"]:
        return "It holds, recounted from all releases."
    return (
        f"Earlier releases exposed {count(entry['exposed'], 'person', 'people')} already, "
        f"{entry['unique']:,} of them as unique; this release exposes nobody else."
    )


def _held(entry: SeriesEntry) -> str:
    """Say who was withheld."""
    return f"{count(entry['held_back'], 'person', 'people')}: {_WAYS.get(entry['way'], entry['way'])}."


def series_section(report: Record) -> blocks.Section | None:
    """Write the section of the series: its guarantee, cost and limits."""
    entry = report.get("series")
    if not entry:
        return None
    lines = [
        ("Guarantee", f"{_promise(entry)} Here {_KNOWN[entry['known']]}; {_PRESENCE[entry['presence']]}."),
        ("Kept", _kept(entry)),
        ("People", f"{entry['people']:,} in all releases, {entry['returning']:,} of them in several"),
        ("Withheld", _held(entry)),
        (
            "Cost",
            f"LM {entry['lm']:.4f}, {count(entry['left_out'], 'occurrence')} suppressed, "
            f"{count(entry['names_kept'], 'item')} under their own names; "
            + ("proven to lose least in this way" if entry["proven"] else f"gap {percent(entry['gap'])}"),
        ),
        (
            "Absence",
            f"Not guaranteed: {count(entry['exactly'], 'person', 'people')} would be below k for an "
            "attacker who knows exactly in which releases each is and is not.",
        ),
        ("Forgotten", f"{entry['forgotten']:,} no longer checked" if entry["forgotten"] else ""),
        ("Undone by", "any release of the same people that is not in the ledger"),
    ]
    facts = blocks.facts([(name, html.escape(text)) for name, text in lines if text])
    return blocks.fold("A release of a series", html.escape(_kept(entry)), facts, *_ways(entry))


def _ways(entry: SeriesEntry) -> list[str]:
    """Show what other ways would have cost, where that was asked for."""
    if "ways" not in entry:
        return []
    from setveil.report.series import advice_words
    from setveil.report.ways import picture

    return [
        blocks.subsection(
            "Cost of other ways",
            blocks.paragraph(advice_words(entry)),
            picture(cast("Sequence[Mapping[str, Any]]", entry["ways"])),
        )
    ]


def series_shared(report: Record) -> tuple[str, str] | None:
    """Say which releases there are and what they guarantee, for the page that may be shared."""
    entry = report.get("series")
    if not entry:
        return None
    return "Series", html.escape(f"{_promise(entry)} {_KNOWN[entry['known']].capitalize()}.")
