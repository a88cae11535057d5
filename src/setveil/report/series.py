"""Sentences about a series, from the JSON answers of commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.wording import count
from setveil.report.words import and_list, percent

Entry = Mapping[str, Any]
_KNOWN = {
    "histories": "a known item is known in all releases",
    "facts": "a known item is known in one release",
}


def _people(n: int) -> str:
    return count(n, "person", "people")


def promise_words(entry: Entry) -> str:
    """Name the guarantee of a series."""
    return (
        f"(k, m)-series (k = {entry['k']}, m = {entry['m']}, {entry['known']}, presence {entry['presence']})"
    )


def verdict_text(entry: Entry) -> str:
    """Say whether a series satisfies its guarantee, and whom it exposes."""
    names = [one["release"] for one in entry["each"]]
    lines = [
        f"{'Yes' if entry['holds'] else 'No'}: {promise_words(entry)} "
        f"{'holds' if entry['holds'] else 'does not hold'} for {count(len(names), 'release')}"
        + (f": {', '.join(names)}." if names else "."),
        f"{_people(entry['people'])}, {entry['returning']:,} of them in several releases.",
    ]
    if entry["exposed"]:
        lines.append(
            f"{_people(entry['exposed'])} below k = {entry['k']}, {entry['unique']:,} of them unique, for an "
            f"attacker who can link rows of different releases and knows {count(entry['m'], 'item')} "
            f"({_KNOWN[entry['known']]})."
        )
        lines += [f"  {one['release']} alone: {_people(one['exposed'])} below k" for one in entry["each"]]
    for one in entry["violations"]:
        facts = "; ".join(_fact(fact) for fact in one["facts"])
        lines.append(f"  person {one['person']}: {facts}: {_people(one['candidates'])} fit")
    if entry["exactly"]:
        lines.append(
            f"Not guaranteed: {_people(entry['exactly'])} would be below k for an attacker who also knows "
            "exactly in which releases each person is and is not."
        )
    lines += [f"Warning: {words}" for words in entry.get("warnings", ())]
    return "\n".join(lines)


def _fact(fact: Entry) -> str:
    shown = [
        f"{release} ({'not shown' if label is None else label})"
        for release, label in zip(fact["releases"], fact["labels"], strict=True)
    ]
    what = "present" if fact["item"] is None else fact["item"]
    return f"{what} in {and_list(shown)}"


def list_text(entry: Entry) -> str:
    """Say which releases a series has."""
    lines = [
        f"{entry['series']}: {promise_words(entry)}, {entry['kind']}, ids {entry['ids']}.",
        *_aligned(
            [
                ["release", "date", "people", "withheld", "k", "m", "counts", "below k", "folder"],
                *(
                    [
                        one["name"], one["date"], f"{one['people']:,}", f"{one['held_back']:,}",
                        str(one["k"]), str(one["m"]), "yes" if one["counts"] else "no",
                        f"{one['exposed']:,}", one["run"],
                    ]
                    for one in entry["releases"]
                ),
            ]
        ),
    ]  # fmt: skip
    if not entry["releases"]:
        lines = [lines[0], "No release yet."]
    if entry["forgotten"]:
        lines.append(f"{_people(entry['forgotten'])} forgotten: still among the rows, no longer checked.")
    return "\n".join(lines)


def plan_text(entry: Entry) -> str:
    """Say what each way to publish again costs."""
    table = [["way", "LM", "suppressed", "unchanged", "withheld", "below k before", "after", "proven"]]
    table += [[way_name(one), *way_cells(one)] for one in entry["ways"]]
    notes = [f"{way_name(one)}: {one['why']}" for one in entry["ways"] if "why" in one]
    lines = [people_words(entry), *_aligned(table)]
    advice = advice_words(entry)
    return "\n".join([*lines, *notes, *([advice] if advice else [])])


def people_words(entry: Entry) -> str:
    """Say how many people new rows have."""
    return f"{_people(entry['people'])}, {entry['returning']:,} of them in earlier releases."


def way_name(one: Entry) -> str:
    """Name a way, and the release that it is about where there are several."""
    return f"{one['way']} {one['release']}" if "release" in one else str(one["way"])


def way_cells(one: Entry) -> list[str]:
    """Write what a way costs: LM, suppressed, unchanged items, withheld, below k before and after, proven."""
    if "why" in one:
        return ["-", "-", "-", "-", _before(one), "-", "-"]
    share = one["left_out"] / one["occurrences"] if one["occurrences"] else 0
    return [
        f"{one['lm']:.4f}", percent(share), f"{one['names_kept']:,}", f"{one['held_back']:,}", _before(one),
        f"{one['exposed']:,}", "yes" if one["proven"] else f"gap {percent(one['gap'])}",
    ]  # fmt: skip


def _before(one: Entry) -> str:
    """Say who would be found under the best labels of the rows by themselves, where that was counted."""
    n, alone = one["exposed_before"], one["unique_before"]
    return "-" if n is None else f"{n:,} ({alone:,} alone)"


def forgotten_words(releases: int) -> str:
    """Say that a person was forgotten, and what is still there."""
    return (
        f"Forgotten: this person's items in {count(releases, 'release')}. The person is no longer checked.\n"
        "The ledger still contains the labels of this person's published rows, since others hide behind "
        "them, under a random code. No code says which published rows these are.\n"
        "Input files and the internal/ folders of the runs are unchanged: remove the person there yourself."
    )


def dropped_words(name: str, run: str) -> str:
    """Say that a release is out of a series."""
    return f"{name} is no longer in the series. Its folder remains: {run}."


def advice_words(entry: Entry) -> str:
    """Say which way to take, where one is plainly better."""
    costs = {one["way"]: one for one in entry["ways"] if "lm" in one}
    append = costs.get("append")
    if append is None or not entry["returning"]:
        return ""
    others = {way: one for way, one in costs.items() if way != "append"}
    if not others or append["lm"] <= 2 * min(one["lm"] for one in others.values()) + 0.01:
        return ""
    instead = []
    if "register" in others:
        instead.append(f"a register loses {others['register']['lm']:.4f}")
    held = [one for way, one in others.items() if way.startswith("hold back")]
    if held:
        least = min(held, key=lambda one: float(one["lm"]))
        instead.append(f"withholding {_people(least['held_back'])} {least['lm']:.4f}")
    words = ", ".join(instead)
    return (
        f"Appending this period as it is loses {append['lm']:.3f}: earlier releases can no "
        f"longer be changed. {words[:1].upper()}{words[1:]}."
    )


def risk_text(entry: Entry) -> str:
    """Say how many people are found by each release alone and by all of them."""
    parts = []
    for view, title in (("items", "As the data are"), ("labels", "As published")):
        table = [["release", "known items", *(f"below {t}" for t in entry["thresholds"])]]
        table += [
            [one["release"] or "all, linked", str(one["m"]), *(f"{n:,}" for n in one["below"].values())]
            for one in entry["risk"]
            if one["view"] == view
        ]
        parts.append("\n".join([f"{title}:", *_aligned(table)]))
    return "\n\n".join(parts)


def _aligned(table: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[at]) for row in table) for at in range(len(table[0]))]
    return [
        "  " + "  ".join(
            cell.ljust(width) if at == 0 else cell.rjust(width) if at < len(row) - 1 else cell
            for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]  # fmt: skip
