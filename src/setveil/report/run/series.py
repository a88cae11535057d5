"""What the reports of a run say that is a release of a series."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any, cast

from setveil.report.drawing import blocks
from setveil.report.record import Record, SeriesEntry
from setveil.report.series import advice_words
from setveil.report.ways import picture
from setveil.report.words import and_list, percent
from setveil.wording import count

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
    "needed": "only people whom any labels would single out",
    "found": "people whom the best labels of these rows by themselves would single out",
    "returners": "everyone who was in an earlier release",
    "none": "nobody",
    "planned": "people whom any labels would single out; the releases were planned together",
}


def series_facts(report: Record) -> dict[str, str]:
    """List what a summary says of the series, with its label; nothing of runs that are of none."""
    told = report.get("series")
    if not told:
        return {}
    return {"Series": f"{_promise(told)} {_kept(told)}", "Withheld": _held(told)}


def _promise(told: SeriesEntry) -> str:
    """Say what the releases together promise, which everyone may know."""
    several = f"all {len(told['of'])} releases ({and_list(told['of'])}) together promise"
    who = several if len(told["of"]) > 1 else "the first release of a series, which promises"
    items = f"up to {count(told['m'], 'item')}"
    return (
        f"{told['release']}: {who} that who knows {items} of a person, and which rows of different releases "
        f"are hers, finds at least {told['k']} people who fit."
    )


def _kept(told: SeriesEntry) -> str:
    """Say who is exposed by all of them."""
    if told["holds"]:
        return "It holds, recounted from all releases."
    return (
        f"Earlier releases exposed {count(told['exposed'], 'person', 'people')} already, {told['unique']:,} "
        "of them alone; this one exposes nobody else."
    )


def _held(told: SeriesEntry) -> str:
    """Say who was withheld."""
    return f"{count(told['held_back'], 'person', 'people')}: {_WAYS.get(told['way'], told['way'])}."


def series_told(report: Record) -> blocks.Section | None:
    """Tell the promise of the series, what it cost, and what it does not cover, as a section."""
    told = report.get("series")
    if not told:
        return None
    lines = [
        ("Promise", f"{_promise(told)} Here {_KNOWN[told['known']]}; {_PRESENCE[told['presence']]}."),
        ("Kept", _kept(told)),
        ("People", f"{told['people']:,} in all releases, {told['returning']:,} of them in several"),
        ("Withheld", _held(told)),
        (
            "Cost",
            f"LM {told['lm']:.4f}, {count(told['left_out'], 'occurrence')} suppressed, "
            f"{count(told['names_kept'], 'item')} under their own names; "
            + ("proven to lose least in this way" if told["proven"] else f"gap {percent(told['gap'])}"),
        ),
        (
            "Absence",
            f"Not promised: {count(told['exactly'], 'person', 'people')} would be below k for who knows "
            "exactly in which releases each is and is not.",
        ),
        ("Forgotten", f"{told['forgotten']:,} no longer checked" if told["forgotten"] else ""),
        ("Undone by", "any release of the same people that is not in the ledger"),
    ]
    facts = blocks.facts([(name, html.escape(text)) for name, text in lines if text])
    return blocks.fold("A release of a series", html.escape(_kept(told)), facts, *_ways(told))


def _ways(told: SeriesEntry) -> list[str]:
    """Show what other ways would have cost, where that was asked for."""
    if "ways" not in told:
        return []
    return [
        blocks.subsection(
            "What other ways would have cost",
            blocks.paragraph(advice_words(told)),
            picture(cast("Sequence[Mapping[str, Any]]", told["ways"])),
        )
    ]


def series_shared(report: Record) -> tuple[str, str] | None:
    """Say which releases there are and what they promise, for the page that may be shared."""
    told = report.get("series")
    if not told:
        return None
    return "Series", html.escape(f"{_promise(told)} {_KNOWN[told['known']].capitalize()}.")
