"""Uses of a release and meaning of its parameters: short answers for a decision."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from setveil.base.wording import count
from setveil.judges.guarantees import Facts
from setveil.judges.guarantees.km import known_words, number_words
from setveil.report import words
from setveil.report.drawing import blocks
from setveil.report.models import items_known, words_for
from setveil.report.record import Record
from setveil.report.run.exposure import entry_of, identifying, sides
from setveil.report.run.kinds import FIT, UNUSABLE, kind_of

_NOBODY = "statements about single persons"


def usable(report: Record) -> str:
    """Say in a line what the release can be used for and what not; nothing where it must not be used."""
    lines = "<br>\n".join(f"<b>{fit}:</b> {', '.join(things)}." for fit, things in uses_by_fit(report))
    return f"<p>{lines}</p>" if lines else ""


def uses_by_fit(report: Record) -> list[tuple[str, list[str]]]:
    """List what the release can be used for, with care or not at all; nothing where it must not be used."""
    if not report["guarantee"]["holds"]:
        return []
    uses = [*kind_of(report).uses(report), (UNUSABLE, _NOBODY)]
    groups = [(fit, [what for found, what in uses if found == fit]) for fit in FIT]
    return [(fit, things) for fit, things in groups if things]


def choice(report: Record) -> blocks.Section | None:
    """Say what the parameters of the guarantee mean for the choice of them, as a section."""
    guarantee = report["guarantee"]
    if not guarantee["holds"]:
        return None
    known = words_for(guarantee).known
    parts = [
        _private(guarantee, known),
        _rows(report, known),
        _knowledge(report, known) if known in guarantee else None,
    ]
    lines = [part for part in parts if part is not None]
    named = words.and_list([bold.removesuffix(":") for bold, _ in lines])
    inside = "What the parameters of the guarantee mean, and what more or less of them would change."
    return blocks.fold(f"Why {named}", inside, blocks.points(lines)) if lines else None


def _private(guarantee: Facts, known: str) -> tuple[str, str] | None:
    """Say how surely a private or sensitive item may be learned."""
    if "h" in guarantee:
        return (
            f"h={guarantee['h']}:",
            f"a private item may be learned with a probability of up to {_share(guarantee['h'])}. "
            "A smaller h protects more and loses more.",
        )
    if "rho" in guarantee:
        return (
            f"rho={guarantee['rho']}:",
            f"a sensitive item may be learned with a probability of up to {_share(guarantee['rho'])}. "
            "A smaller rho protects more and loses more.",
        )
    if "p" in guarantee and known != "p":
        return (
            f"p={count(guarantee['p'])}:",
            "a sensitive item may be learned with a probability of up to "
            f"{words.one_in(guarantee['p'])}. A larger p protects more and loses more.",
        )
    return None


def _share(written: float | str) -> str:
    return words.percent(float(Fraction(str(written))))


def _unit(report: Record) -> str:
    """Name what someone knows this many of: an item, a fact, or a whole code."""
    return "code" if "known" in report["guarantee"] else words.unit(report)


def _rows(report: Record, known: str) -> tuple[str, str] | None:
    """Say what k rows mean for the chance to pick the right one."""
    guarantee = report["guarantee"]
    k, least = guarantee.get("k"), guarantee.get("greatest_k")
    facts: Facts = guarantee
    if k is None or k < 2:
        return None
    who = "someone who compares whole rows"
    if "itemsets" in guarantee:
        who = "someone who knows the items that a constraint names"
    elif known in facts:
        who = f"someone who knows {known_words(facts[known], _unit(report))}"
    found = f" The smallest group found has {count(least, 'row')}." if least else ""
    return (
        f"k={count(k)}:",
        f"{who} picks the right row with a chance of at most {words.one_in(k)}.{found} A larger k makes that "
        "chance smaller and loses more.",
    )


def _knowledge(report: Record, known: str) -> tuple[str, str]:
    """Say what someone still finds who knows one item more than was guaranteed."""
    m, (_, after) = items_known(report["guarantee"]), sides(report)
    if isinstance(said := report["guarantee"].get(known), Mapping):
        most = number_words(said, words.unit(report))
        return (
            f"{known}:",
            f"someone may know up to {most} of a person. Choose more if someone can know more.",
        )
    if m is None:
        return f"{known}=inf:", f"it does not matter how many {words.unit(report)}s someone knows."
    entry = entry_of(after, m + 1, "best") if after else None
    if after is None or entry is None:
        left = f"The risk of {count(m + 1, words.unit(report))} was not counted."
    else:
        rows = words.rows_of(entry["rows_below"]["2"], after["rows"])
        about = "" if entry["exact"] else "about "
        items = identifying(m + 1, report)
        left = f"The {items} of a row would single out {about}{rows} of the release."
    return (
        f"{known}={count(m)}:",
        f"someone may know up to {count(m, _unit(report))} of a person. {left} Choose a larger {known} "
        "if someone can know more.",
    )
