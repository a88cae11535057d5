"""The privacy models in words: what each promises, what its check found, what it leaves open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from setveil.report.words import are, count

Facts = dict[str, Any]  # the `guarantee` of a report, or a verdict as JSON types
Points = list[tuple[str, str]]  # a bold beginning and the text that follows it


@dataclass(frozen=True)
class Words:
    """What is said of one privacy model.

    Attributes
    ----------
    parameters : tuple of str
        Its parameters, in the order in which they are shown.
    promise : callable
        The promise, in one sentence.
    fulfilled, broken : callable
        What the check found in the published rows, as the end of a sentence.
    not_covered : callable
        What the promise does not cover, beside what none covers.
    reading : callable
        What the parameters mean.
    violation : callable
        One violation of a verdict's list, in a line.
    beyond : callable
        What holds besides what was asked, in lines.
    hides_sensitive : bool
        Whether it keeps rows that look alike from having a sensitive item in common.
    known : str
        The parameter that says how many items someone may know; empty if nothing limits them.
    """

    parameters: tuple[str, ...]
    promise: Callable[[Facts], str]
    fulfilled: Callable[[Facts], str]
    broken: Callable[[Facts], str]
    not_covered: Callable[[Facts], Points]
    reading: Callable[[Facts], Points]
    violation: Callable[[Facts], str]
    beyond: Callable[[Facts], list[str]]
    hides_sensitive: bool = False
    known: str = ""


def words_for(facts: Facts) -> Words:
    """Find the words for a guarantee.

    Raises
    ------
    ValueError
        If there are none for the model: better no report than a promise that was not made.
    """
    words = _WORDS.get(facts["model"])
    if words is None:
        raise ValueError(f"No words for the privacy model {facts['model']!r}.")
    return words


def promise(guarantee: Facts) -> str:
    """State what is promised, in one sentence."""
    return words_for(guarantee).promise(guarantee)


def items_known(guarantee: Facts) -> int | None:
    """Return how many items of a person someone may know by the promise; None: nothing limits them."""
    known = guarantee.get(words_for(guarantee).known)
    return None if known in (None, "inf") else int(known)


def check(guarantee: Facts) -> str:
    """State the outcome of the verification, in one or two sentences."""
    words = words_for(guarantee)
    if not guarantee["holds"]:
        return f"It does NOT hold. In the published rows: {words.broken(guarantee)}."
    return f"It holds, recounted from the published rows: {words.fulfilled(guarantee)}."


# --- k^m-anonymity


def _known(m: int | str) -> str:
    return "any number of items" if m == "inf" else f"up to {count(int(m), 'item')}"


def _km_promise(g: Facts) -> str:
    return (
        f"Anyone who knows {_known(g['m'])} of a person's row finds at least {count(g['k'], 'row')} that "
        "fit, or none."
    )


def _fewest(g: Facts) -> str:
    smallest = g["greatest_k"]
    if smallest is None:
        return "no item is published"
    return f"the fewest found {are(smallest)} {count(smallest, 'row')}"


def _km_broken(g: Facts) -> str:
    atleast = "" if g.get("complete", True) else "at least "
    known = "any number of items" if g["m"] == "inf" else f"at most {count(g['m'], 'item')}"
    return f"{atleast}{count(g['violations'], 'set')} of {known} in fewer than {count(g['k'], 'row')}"


def _km_not_covered(g: Facts) -> Points:
    if g["m"] == "inf":
        return []
    text = (
        f"Someone who knows {count(g['m'] + 1)} or more items of a person may find fewer than "
        f"{count(g['k'], 'row')}, even only one."
    )
    return [(f"Knowing more than {count(g['m'], 'item')}.", text)]


def _km_reading(g: Facts) -> Points:
    someone = "all items of a person" if g["m"] == "inf" else f"{count(g['m'], 'item')} of a person"
    return [
        ("k:", f"how many rows must fit, here {count(g['k'])}."),
        ("m:", f"what someone may know, here {someone}."),
    ]


def _km_beyond(g: Facts) -> list[str]:
    greatest_k, greatest_m = g["greatest_k"], g["greatest_m"]
    if greatest_k is None:
        return ["No row holds an item: every k and m hold."]
    if greatest_k >= 2:
        stopped = "" if g["complete"] or g["holds"] else " or less (counting was stopped)"
        first = f"greatest k at m = {g['m']}: {greatest_k}{stopped}"
    else:
        first = f"greatest k at m = {g['m']}: none (a set of items belongs to a single row)"
    open_end = "" if g["complete"] or not g["holds"] else " or more (the search was stopped)"
    return [first, f"greatest m at k = {g['k']}: {'none' if greatest_m == 0 else greatest_m}{open_end}"]


def _supported(entry: Facts) -> str:
    return f"support {entry['support']}: {', '.join(entry['itemset'])}"


# --- k-anonymity of whole rows


def _rows_beyond(g: Facts) -> list[str]:
    greatest = g["greatest_k"]
    if greatest is None:
        return ["There are no rows: every k holds."]
    return [f"greatest k: {greatest if greatest >= 2 else 'none (a row is the only one of its kind)'}"]


# --- privacy constraints


def _protected(g: Facts) -> str:
    return count(g["itemsets"], "protected set")


def _constraints_promise(g: Facts) -> str:
    if "m" in g:
        return _km_promise(g)
    return (
        f"Anyone who knows items of one of {_protected(g)} of a person finds at least {count(g['k'], 'row')} "
        "that fit, or none."
    )


def _constraints_fulfilled(g: Facts) -> str:
    if "m" in g:
        return f"no set of at most {count(g['m'], 'item')} is in fewer than {count(g['k'], 'row')}"
    if "supported" not in g:  # a page for readers who do not know what was protected
        return f"no part of any protected set is in fewer than {count(g['k'], 'row')}"
    return (
        f"{count(g['supported'])} of {_protected(g)} {are(g['supported'])} still found, no part of any in "
        f"fewer than {count(g['k'], 'row')}"
    )


def _constraints_broken(g: Facts) -> str:
    if "m" in g:
        return _km_broken(g)
    return f"{count(g['violations'], 'protected set')} with a part in fewer than {count(g['k'], 'row')}"


def _constraints_not_covered(g: Facts) -> Points:
    if "m" in g:
        return _km_not_covered(g)
    text = "Someone who knows items that are not together in one of them may find a single row."
    return [("Whatever is not in the protected sets.", text)]


def _constraints_violation(entry: Facts) -> str:
    of = f"  (of {', '.join(entry['constraint'])})" if "constraint" in entry else ""
    return _supported(entry) + of


# --- coherence


def _coherence_promise(g: Facts) -> str:
    known = _known(g["p"]).replace("item", "public item")
    rows = f"finds at least {count(g['k'], 'row')} that fit, or none" if g["k"] > 1 else ""
    private = (
        f"learns no private item ({count(len(g['private']))} named) with a probability above {g['h']}"
        if g["private"]
        else ""
    )
    return f"Anyone who knows {known} of a person {', and '.join(filter(None, (rows, private)))}."


def _coherence_not_covered(g: Facts) -> Points:
    lines = [] if g["p"] == "inf" else _km_not_covered({"m": g["p"], "k": g["k"]})
    text = "Someone who already knows a private item of a person may find fewer rows and learn more."
    return [*lines, ("Knowing private items.", text)]


def _coherence_violation(entry: Facts) -> str:
    known = ", ".join(entry["itemset"]) or "nothing known"
    if "betrays" not in entry:
        return f"support {entry['support']}: {known}"
    return f"{known}: {entry['betrays']} in {entry['private_rows']} of {count(entry['support'], 'row')}"


# --- groups


def _groups_fulfilled(g: Facts) -> str:
    if g["smallest_degree"] is None:
        return "no group holds a sensitive item"
    return (
        f"{count(g['groups'], 'group')}; the most frequent sensitive item of any group is in one row of "
        f"{g['smallest_degree']:.4g}"
    )


def _groups_violation(entry: Facts) -> str:
    items, hits, rows = ", ".join(entry["itemset"]), entry["count"], entry["rows"]
    return {
        "degree": f"group {entry['group']}: {items} in {hits} of {count(rows, 'row')}",
        "leak": f"{items} stands in {count(hits, 'row')}, first in group {entry['group']}",
        "total": f"{items}: counted {count(hits, 'time')}, in {count(rows, 'row')} of the original",
        "row": f"{count(hits, 'row')}, in the original {count(rows)}: {items or 'without items'}",
    }[entry["kind"]]


_WORDS = {
    "km-anonymity": Words(
        parameters=("k", "m"),
        promise=_km_promise,
        fulfilled=_fewest,
        broken=_km_broken,
        not_covered=_km_not_covered,
        reading=_km_reading,
        violation=_supported,
        beyond=_km_beyond,
        known="m",
    ),
    "k-anonymity": Words(
        parameters=("k",),
        promise=lambda g: f"Every published row is one of at least {count(g['k'])} that are the same.",
        fulfilled=lambda g: (
            "there are no rows"
            if g["greatest_k"] is None
            else f"the rarest row stands there {count(g['greatest_k'], 'time')}"
        ),
        broken=lambda g: (
            f"{count(g['violations'], 'different row')} that {are(g['violations'])} found fewer than "
            f"{count(g['k'], 'time')}"
        ),
        not_covered=lambda _: [],
        reading=lambda g: [("k:", f"how often every row must stand there, here {count(g['k'])}.")],
        violation=lambda entry: (
            f"{count(entry['support'], 'time')}: {', '.join(entry['itemset']) or 'a row without items'}"
        ),
        beyond=_rows_beyond,
    ),
    "constraints": Words(
        parameters=("k", "m", "itemsets"),
        promise=_constraints_promise,
        fulfilled=_constraints_fulfilled,
        broken=_constraints_broken,
        not_covered=_constraints_not_covered,
        reading=lambda g: [("k:", f"how many rows must fit, here {count(g['k'])}.")],
        violation=_constraints_violation,
        beyond=lambda _: [],
        known="m",
    ),
    "coherence": Words(
        parameters=("h", "k", "p", "private"),
        promise=_coherence_promise,
        fulfilled=lambda _: "no set of public items finds fewer rows or betrays more",
        broken=lambda g: (
            f"{'' if g['complete'] else 'at least '}{count(g['violations'], 'smallest set')} of public items "
            "that single out too few rows or give a private item away"
        ),
        not_covered=_coherence_not_covered,
        reading=lambda g: [
            ("h:", f"the greatest probability with which a private item may be learned, here {g['h']}."),
            ("k:", f"how many rows must fit, here {count(g['k'])}."),
            ("p:", f"how many public items someone may know, here {g['p']}."),
        ],
        violation=_coherence_violation,
        beyond=lambda _: [],
        hides_sensitive=True,
        known="p",
    ),
    "privacy-degree": Words(
        parameters=("p", "sensitive"),
        promise=lambda g: (
            f"In every group at most one row in {count(g['p'])} holds any one sensitive item: nobody learns "
            f"one about a person with a probability above {1 / g['p']:.3g}."
        ),
        fulfilled=_groups_fulfilled,
        broken=lambda g: f"{count(g['violations'], 'breach', 'breaches')}",
        not_covered=lambda _: [
            (
                "Being found.",
                "All other items are published as they are. Whoever knows some of them may find a person's "
                "very row, and all other items in it; only the sensitive ones are hidden.",
            ),
            (
                "Knowing who has a sensitive item.",
                "Whoever can rule out rows of a group learns more about the rest.",
            ),
        ],
        reading=lambda g: [
            ("p:", f"a sensitive item is in at most one row of so many in its group, here {count(g['p'])}.")
        ],
        violation=_groups_violation,
        beyond=lambda _: [],
        hides_sensitive=True,
    ),
}
