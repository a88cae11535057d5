"""Numbers and facts of a report in words, shared by the text summary and the HTML page."""

from __future__ import annotations

from typing import Any

NCP_MEANING = "average share of all items that a published name stands for"
LM_MEANING = "average share of the other items that an item can be mistaken for"


def count(number: int, noun: str = "", plural: str = "") -> str:
    """Write a count with thousands separators, with its noun where one is given.

    Examples
    --------
    >>> count(31022), count(1, "row"), count(5000, "row"), count(0, "branch", "branches")
    ('31,022', '1 row', '5,000 rows', '0 branches')
    """
    noun = noun if number == 1 else plural or f"{noun}s" if noun else ""
    return f"{number:,} {noun}".rstrip()


def percent(part: float, whole: float = 1) -> str:
    """Write a share with two significant digits, counted from the nearer of 0 and 100 %.

    So a share and its complement add up, only nothing is 0 % and only everything is 100 %. An error may be
    more.

    Examples
    --------
    >>> percent(1204, 31022), percent(29818, 31022), percent(0.5), percent(0, 7), percent(7, 7)
    ('3.9 %', '96.1 %', '50 %', '0 %', '100 %')
    >>> percent(1, 10**7), percent(10**7 - 1, 10**7)
    ('under 0.001 %', 'over 99.999 %')
    >>> percent(5.265)
    '526 %'
    """
    share = part / whole if whole else 0.0
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    if share > 1:
        return f"{100 * share:,.0f} %"
    nearer = 100 * min(share, 1 - share)
    if nearer < 0.001:
        return "under 0.001 %" if share < 0.5 else "over 99.999 %"
    rounded = float(f"{nearer:.2g}")
    return f"{rounded if share <= 0.5 else 100 - rounded:.7g} %"


def measure(value: float) -> str:
    """Write a loss between 0 and 1 with three significant digits.

    Examples
    --------
    >>> measure(0.0260094), measure(0), measure(1), measure(0.0000004)
    ('0.026', '0', '1', 'under 0.00001')
    """
    if 0 < value < 1e-5:
        return "under 0.00001"
    return f"{value:.7f}".rstrip("0").rstrip(".") if value < 1e-4 else f"{value:.3g}"


def clip(text: str, width: int) -> str:
    """Cut a text to at most `width` characters, the last an ellipsis if something was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def source(report: dict[str, Any]) -> str:
    """Name the input: its path as given, or that it came from memory."""
    path = report["input"]["path"]
    if path == "-":
        return "standard input"
    return path or "data in memory"


def known(guarantee: dict[str, Any]) -> str:
    """Say how many items the guarantee lets an attacker know."""
    return "any number of items" if guarantee["m"] == "inf" else f"up to {count(guarantee['m'], 'item')}"


def promise(guarantee: dict[str, Any]) -> str:
    """State what is promised, in one sentence.

    Raises
    ------
    ValueError
        If there are no words for the model: better no report than a promise that was not made.
    """
    if guarantee["model"] != "km-anonymity":
        raise ValueError(f"No words for the privacy model {guarantee['model']!r}.")
    return (
        f"Anyone who knows {known(guarantee)} of a person's row finds at least "
        f"{count(guarantee['k'], 'row')} that fit, or none."
    )


def check(guarantee: dict[str, Any]) -> str:
    """State the outcome of the verification, in one or two sentences."""
    if not guarantee["holds"]:
        return (
            f"It does NOT hold. In the published rows: {count(guarantee['violations'], 'combination')} "
            f"of items in fewer than {count(guarantee['k'], 'row')}."
        )
    smallest = guarantee["smallest_support"]
    found = (
        "no item is published"
        if smallest is None
        else f"the fewest found {_are(smallest)} {count(smallest, 'row')}"
    )
    return f"It holds, recounted from the published rows: {found}."


def loss(report: dict[str, Any]) -> str:
    """State how many item occurrences were generalized and suppressed, in one sentence."""
    utility, whole = report["utility"], report["input"]["occurrences"]
    generalized, suppressed = utility["generalized_occurrences"], utility["suppressed_occurrences"]
    if not generalized and not suppressed:
        return f"Nothing: all {count(whole, 'item occurrence')} are published as they were."
    broader = (
        f"{count(generalized)} of {count(whole, 'item occurrence')} ({percent(generalized, whole)}) "
        f"{_are(generalized)} published under a broader name"
    )
    left_out = (
        f"{count(suppressed)} ({percent(suppressed, whole)}) {_are(suppressed)} left out"
        if suppressed
        else "none is left out"
    )
    return f"{broader}; {left_out}."


def rows(report: dict[str, Any]) -> str:
    """State how many rows were kept and how long they are, in one sentence."""
    before, after, utility = report["input"], report["published"], report["utility"]
    whole = before["rows"]
    kept = f"All {count(whole)}" if after["rows"] == whole else f"{count(after['rows'])} of {count(whole)}"
    return (
        f"{kept} are kept ({count(after['empty_rows'])} empty, {count(before['empty_rows'])} before); "
        f"{utility['mean_row_length_after']:,.1f} items each on average "
        f"({utility['mean_row_length_before']:,.1f} before)."
    )


def optimality(report: dict[str, Any]) -> str:
    """State how far the loss is from the least possible; empty where nothing was proven."""
    found = report.get("optimality")
    if not found:
        return ""
    weighted = "weighted " if found.get("weighted") else ""
    limited = " within the limits" if found.get("limited") else ""
    what = f"{weighted}{found['objective'].upper()} of any {found['model']}{limited}"
    if not found["gap"]:
        return f"Proven: the least {what}, {measure(found['loss'])}."
    if not found["lower_bound"]:
        return f"Nothing was proven about the least {what} in the time given."
    above = f"{percent(found['loss'] / found['lower_bound'] - 1)} above the least {what}"
    least = measure(found["lower_bound"])
    return f"{above}, {least}." if found["proven"] else f"At most {above} (proven to be {least} or more)."


def _are(number: int) -> str:
    return "is" if number == 1 else "are"
