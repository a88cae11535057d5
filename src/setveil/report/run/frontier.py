"""The frontier of a table's releases: exact columns or many items, in words, as a picture and as a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from setveil.base.wording import count
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.record import Class, Record

if TYPE_CHECKING:
    from setveil.report.drawing.plots import Point


def frontier(report: Record) -> blocks.Section | None:
    """Show the releases that were tried as a section; nothing where there is one at most."""
    entries = report.get("frontier") or []
    if len(entries) < 2:
        return None
    from setveil.report.drawing.plots import PlotSeries, plot  # the pages of other runs need no plots
    from setveil.report.drawing.scales import Numbers

    swept = [entry for entry in entries if entry["search"] == "sweep"]
    split = [entry for entry in entries if entry["search"] != "sweep"]
    chosen = chosen_of(entries)
    series = [
        PlotSeries(0, [_point(entry) for entry in swept]),
        PlotSeries(1, [_point(entry) for entry in split]),
        PlotSeries(2, [_point(chosen)] if chosen else [], size=8),
    ]
    scales = (
        Numbers([entry["relational_loss"] for entry in entries], "linear", percent=False),
        Numbers([entry["suppressed_share"] for entry in entries], "linear", percent=True),
    )
    drawn = plot(
        *scales,
        ("loss of the columns (R)", "item occurrences suppressed"),
        series[::-1],
        width=520,
        height=240,
        label="Item occurrences suppressed against the loss of the columns, for each release that was tried",
    )
    caption = (
        "Blue: classes of at least as many rows as the table says; orange: parts split where that gains "
        "most; the large mark is the release. Down and to the left is better."
    )
    lines = [
        [
            f"{named(entry)}{' (this release)' if entry is chosen else ''}",
            count(entry["classes"]),
            words.measure(entry["relational_loss"]),
            words.measure(entry["transaction_loss"]),
            words.percent(entry["suppressed_share"]),
            words.measure(entry["f"]),
        ]
        for entry in entries
    ]
    heads = ("Classes of at least", "Classes", "R", "T", "Suppressed", "f")
    return blocks.fold(
        "Alternatives",
        f"{count(len(entries), 'release')} that {'was' if len(entries) == 1 else 'were'} tried, as a picture "
        "and as a table: exact columns or many items.",
        blocks.paragraph(
            "Small classes keep the columns exact and cost items, large classes the opposite. No answer "
            "is right for every use. R: loss of the columns, T: loss of the items, f: both, by --share."
        ),
        blocks.figure(drawn.svg, caption),
        blocks.grid(heads, lines, "34% 13% 13% 13% 14% 13%", numbers=True),
    )


def frontier_lines(report: Record) -> list[str]:
    """Write the releases that were tried as the lines of a table; none where there is one at most."""
    entries = report.get("frontier") or []
    if len(entries) < 2:
        return []
    lines = [f"{'classes of at least':21}{'classes':>9}{'R':>9}{'T':>9}{'suppressed':>12}{'f':>9}"]
    for entry in entries:
        numbers = (words.measure(entry[key]) for key in ("relational_loss", "transaction_loss", "f"))
        relational, transactional, total = numbers
        chosen = "  this release" if entry["chosen"] else ""
        lines.append(
            f"{named(entry):21}{count(entry['classes']):>9}{relational:>9}{transactional:>9}"
            f"{words.percent(entry['suppressed_share']):>10}{total:>9}{chosen}"
        )
    return lines


def _point(entry: Class) -> Point:
    from setveil.report.drawing.plots import Point

    return Point(entry["relational_loss"], entry["suppressed_share"])


def named(entry: Class) -> str:
    """Say how the classes of a release that was tried were made."""
    if entry["search"] != "sweep":
        return "split by gain"
    return f"{count(entry['least'], 'row')}"


def chosen_of(entries: list[Class]) -> Class | None:
    """Find the release among those that were tried."""
    return next((entry for entry in entries if entry["chosen"]), None)


def neighbours(report: Record) -> str:
    """Name the next points of the frontier on either side, in a sentence; empty where there are none."""
    return "; ".join(
        f"{gain}: {words.percent(entry['suppressed_share'])} suppressed at R "
        f"{words.measure(entry['relational_loss'])} ({setting(entry)})"
        for gain, entry in instead(report)
    )


def instead(report: Record) -> list[tuple[str, Class]]:
    """List the next points of the frontier on either side, each with what it would gain."""
    entries = sorted(report.get("frontier") or [], key=lambda entry: entry["suppressed_share"])
    chosen = chosen_of(entries)
    if chosen is None or len(entries) < 2:
        return []
    found = []
    here = entries.index(chosen)
    for step, gain in ((-1, "fewer items lost"), (1, "more exact columns")):
        other = here + step
        while 0 <= other < len(entries) and not _trades(chosen, entries[other], step):
            other += step
        if 0 <= other < len(entries):
            found.append((gain, entries[other]))
    return found


def _trades(chosen: Class, other: Class, step: int) -> bool:
    """Return whether another release is better in one thing and worse in the other."""
    if step < 0:
        return bool(other["suppressed_share"] < chosen["suppressed_share"])
    return bool(other["relational_loss"] < chosen["relational_loss"])


def setting(entry: Class) -> str:
    """Write the option that makes a release that was tried."""
    return f"--least {entry['least']}" if entry["search"] == "sweep" else "--search rt"
