"""Numbers and facts of a report in words, shared by the text summary and the HTML page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from setveil.base.wording import about_events, are, count
from setveil.judges.utility import Measure
from setveil.report.record import Optimality, PublishedEntry, Record


def percent(part: float, whole: float = 1) -> str:
    """Write a share with two significant digits, counted from the nearer of 0 and 100%.

    So a share and its complement add up, only nothing is 0% and only everything is 100%. An error may be
    more.

    >>> percent(1204, 31022), percent(29818, 31022), percent(0.5), percent(0, 7), percent(7, 7)
    ('3.9%', '96.1%', '50%', '0%', '100%')
    >>> percent(1, 10**7), percent(10**7 - 1, 10**7)
    ('under 0.001%', 'over 99.999%')
    >>> percent(5.265)
    '526%'
    """
    share = part / whole if whole else 0.0
    if share in (0, 1):
        return f"{share:.0%}"
    if share > 1:
        return f"{100 * share:,.0f}%"
    nearer = 100 * min(share, 1 - share)
    if nearer < 0.001:
        return "under 0.001%" if share < 0.5 else "over 99.999%"
    rounded = float(f"{nearer:.2g}")
    return f"{rounded if share <= 0.5 else 100 - rounded:.7g}%"


def measure(value: float) -> str:
    """Write a loss between 0 and 1 with three significant digits.

    >>> measure(0.0260094), measure(0), measure(1), measure(0.0000004)
    ('0.026', '0', '1', 'under 0.00001')
    """
    if 0 < value < 1e-5:
        return "under 0.00001"
    return f"{value:.7f}".rstrip("0").rstrip(".") if value < 1e-4 else f"{value:.3g}"


def whole_or(value: float, digits: int) -> str:
    """Write a number with this many digits, and all those before the point.

    >>> whole_or(12719.6, 3), whole_or(134.2, 2), whole_or(0.213, 2)
    ('12,720', '134', '0.21')
    """
    return f"{value:,.0f}" if value >= 10 ** (digits - 1) else f"{value:.{digits}g}"


def number_of(what: Measure, value: float) -> str:
    """Write the number that represents a measure.

    >>> from setveil.judges.utility import Measure
    >>> number_of(Measure("x"), 0.0260094), number_of(Measure("x", form="power of 2"), -1234.5678)
    ('0.026', '2^-1234.6')
    """
    return f"2^{value:.5g}" if what.form == "power of 2" else measure(value)


def error(value: float) -> str:
    """Write the relative error of an estimate: in per cent, beyond 100% as a factor.

    An estimate that is off by 4.8 times the true number is 5.8 times the true number.

    >>> error(0), error(0.214), error(1), error(4.832), error(358.7)
    ('0%', '21%', '100%', 'a factor of 5.8', 'a factor of 360')
    """
    return percent(value) if value <= 1 else f"a factor of {float(f'{1 + value:.2g}'):,.7g}"


def one_in(number: int) -> str:
    """Write a chance of one in some rows.

    >>> one_in(1), one_in(5), one_in(59_601)
    ('100%', '1 in 5 (20%)', '1 in 59,601 (0.0017%)')
    """
    return "100%" if number == 1 else f"1 in {count(number)} ({percent(1, number)})"


def rows_of(number: float, whole: int) -> str:
    """Write a number of rows, perhaps an estimate, with its share of all rows.

    >>> rows_of(0, 500), rows_of(12, 500), rows_of(0.2, 500), rows_of(500, 500)
    ('no row', '12 of 500 rows (2.4%)', 'less than one row', 'all 500 rows')
    """
    if not number or not whole:
        return "no row"
    if number < 1:
        return "less than one row"
    if number == whole:
        return f"all {count(whole, 'row')}"
    return f"{count(round(number))} of {count(whole, 'row')} ({percent(number, whole)})"


def clip(text: str, width: int) -> str:
    """Cut a text to at most `width` characters, the last an ellipsis if something was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def source(report: Record) -> str:
    """Name the input: its path as given, or that it came from memory."""
    path = report["input"]["path"]
    if path == "-":
        return "standard input"
    return path or "data in memory"


def read_as(report: Record) -> str:
    """State what the input was read as, and what a row is; empty where the record does not tell."""
    read = report["input"].get("read")
    if not read:
        return ""
    files, layout = len(read["files"]), read["layout"]
    stated = ", ".join(part for part in (_LAYOUTS.get(layout, layout), read["row"]) if part)
    return f"{count(files, 'file')}: {stated}" if files > 1 else stated


_LAYOUTS = {
    "basket": "baskets",
    "fimi": "FIMI file",
    "jsonl": "JSON lines",
    "long": "long table",
    "onehot": "one-hot table",
    "parquet": "Parquet table",
    "spmf": "SPMF file",
    "wide": "wide table",
}


def columns_read(report: Record) -> str:
    """State which columns were read, and which were not; empty where the record does not tell."""
    read = report["input"].get("read")
    if not read:
        return ""
    columns, ignored = read["item_columns"], read["ignored_columns"]
    if len(columns) > 3:
        named = f"{count(len(columns))} columns, {columns[0]} to {columns[-1]}"
    else:
        named = ", ".join(columns)
    named = ", ".join(filter(None, [named, *read.get("also", ())]))
    read_from = f"{unit(report)}s from {named}" if named else ""
    parts = [read_from, f"ignored: {listed(ignored)}" if ignored else ""]
    return "; ".join(part for part in parts if part)


def listed(names: Sequence[str], most: int = 5) -> str:
    """Write the first names of a list, and how many more there are.

    >>> listed(["a", "b", "c"]), listed(["a", "b", "c"], 2)
    ('a, b, c', 'a, b and 1 more')
    """
    rest = len(names) - most
    return ", ".join(names) if rest <= 0 else f"{', '.join(names[:most])} and {count(rest)} more"


def unit(report: Mapping[str, Any]) -> str:
    """Name what rows are made of: an item, or a fact."""
    return "fact" if "facts" in report else "item"


def items_word(report: Record) -> str:
    """Name the items of a run by the column that they were read from, if that is a plural."""
    table, read = report.get("table"), report["input"].get("read")
    set_column = table["set"] if table else None
    names = [set_column] if set_column else read["item_columns"] if read else []
    usual = f"{unit(report)}s"
    if read and read.get("also"):
        return usual
    if len(names) != 1 or "facts" in report or names[0].casefold() in ("item", "items"):
        return usual
    plural = re.fullmatch(r"[a-z]+[^\W\diusIUS]s", names[0])
    return clip(names[0], 30) if plural else f"values of {clip(names[0], 30)}"


def spoken(report: Mapping[str, Any], text: str) -> str:
    """Say of what rows are made of, items or facts, what a text of setveil says of items."""
    return about_facts(text) if "facts" in report else text


ONE_OF_THEM = (
    "Publish one release of these rows, with classes or without: two together can leave people with fewer "
    "rows than guaranteed."
)


# Elements of a page that hold what the data and people say, and what stands between tags of other kinds.
_NOT_OURS = re.compile(
    r"(<(bdi|code|title|textarea|script|style|svg)\b.*?</\2>|<[^>]*>)", re.DOTALL | re.IGNORECASE
)


def of_events(report: Mapping[str, Any], page: str) -> str:
    """Say of rows that are events what a page says of people; names of the data stay as they are."""
    noun = report["guarantee"].get("rows_are")
    if not noun:
        return page
    parts, end = [], 0
    for found in _NOT_OURS.finditer(page):
        parts += [about_events(page[end : found.start()], noun), found[0]]
        end = found.end()
    return "".join([*parts, about_events(page[end:], noun)])


def only_one_of(report: Mapping[str, Any]) -> str:
    """Name other releases of the same rows, which together with this one can leave people with fewer rows."""
    others = [clip(name, 40) for name in report.get("same_input", ())]
    if not others:
        return ""
    of_these = "are of the same rows with different labels: publish only one of them."
    return f"{listed(others)} and this release {of_these}"


def about_facts(text: str) -> str:
    """Say of facts what a text of setveil, without names of the data, says of items.

    >>> about_facts("the share of the other items that an item can be mistaken for")
    'the share of the other facts that a fact can be mistaken for'
    """
    for item, fact in (("an item", "a fact"), ("An item", "A fact"), ("item", "fact"), ("Item", "Fact")):
        text = text.replace(item, fact)
    return text


def rows(report: Record) -> str:
    """State how many rows were kept and how long they are, in one sentence."""
    before, after, utility = report["input"], report["published"], report["utility"]
    whole, empty = before["rows"], after["empty_rows"]
    if "blocks" in report:
        return f"{count(after['rows'])} are drawn from noisy counts, and are nobody's."
    if "chunks" in report:  # the published file does not show single rows
        return f"All {count(whole)} are in clusters" + (
            f", but for {count(empty)} that contain no item; their number is published." if empty else "."
        )
    if unseen(after):
        kept = (
            f"{count(after['rows'] - empty)} of {count(whole)} contain items; {unseen(after)} "
            f"({count(before['empty_rows'])} empty before); "
        )
    else:
        which = (
            f"All {count(whole)}" if after["rows"] == whole else f"{count(after['rows'])} of {count(whole)}"
        )
        kept = f"{which} are kept ({count(empty)} empty, {count(before['empty_rows'])} before); "
    if "mean_row_length_after" not in utility:  # of such rows it is not measured
        return f"{kept[:-2]}."
    return (
        f"{kept}{utility['mean_row_length_after']:,.1f} {unit(report)}s each on average "
        f"({utility['mean_row_length_before']:,.1f} before)."
    )


def unseen(published: PublishedEntry) -> str:
    """Say how many rows a published file cannot show; empty where it shows all."""
    empty = published["empty_rows"]
    if not empty or "id_column" not in published.get("layout", {}):
        return ""
    return (
        f"{count(empty, 'row')} {are(empty)} empty and {'shows' if empty == 1 else 'show'} only in about.json"
    )


def objective(name: str) -> str:
    """Name what `exact` minimizes.

    >>> objective("lm"), objective("entropy-max")
    ('LM', 'entropy-max loss')
    """
    if name == "total":
        return "loss of columns and items together (f)"
    if name == "items":
        return "LM with every item counted once"
    return f"{name} loss" if name.startswith("entropy") else name.upper()


# What a proof is about, where an optimum is that of all that a hierarchy allows.
_ALLOWED = {
    "cut with suppression": "possible with this hierarchy",
    "cut": "of any cut of this hierarchy",
}


def smallest_loss(found: Optimality) -> str:
    """Name the loss that something was proven about.

    >>> smallest_loss({"objective": "lm", "model": "cut with suppression"})
    'smallest loss (LM) possible with this hierarchy'
    >>> smallest_loss({"objective": "entropy", "model": "suppression", "weighted": True})
    'smallest weighted entropy loss of any suppression'
    """
    weighted = "weighted " if found.get("weighted") else ""
    limited = "within the limits" if found.get("limited") else ""
    named = objective(found["objective"])
    loss = f"loss ({named})" if found["objective"] in ("lm", "ncp") else named
    if limited and found["model"] == "cut with suppression":
        return f"smallest {weighted}{loss} possible {limited}"
    allowed = _ALLOWED.get(found["model"], f"of any {found['model']}")
    return f"smallest {weighted}{loss} {allowed} {limited}".rstrip()


def smallest_in(report: Record) -> str:
    """Name the loss that a run proved something about."""
    what = smallest_loss(report["optimality"])
    if "facts" not in report:
        return what
    if report["facts"]["loss"] == "parts":
        what = what.replace(f"loss ({objective('lm')})", "loss by parts")
    return what.replace("with this hierarchy", "with this tree of boxes")  # others may have a smaller one


def optimality(report: Record) -> str:
    """State how far the loss is from the least possible; empty where nothing was proven."""
    found = report.get("optimality")
    if not found:
        return ""
    what = smallest_in(report)
    if not found["gap"]:
        return f"Proven: the {what}, {measure(found['loss'])}."
    if not found["lower_bound"]:
        why = f". {found['failed']}" if "failed" in found else " in the time given."
        return f"Nothing was proven about the {what}{why}"
    above = f"{percent(found['loss'] / found['lower_bound'] - 1)} above the {what}"
    least = measure(found["lower_bound"])
    return f"{above}, {least}." if found["proven"] else f"At most {above} (proven to be {least} or more)."


def and_list(names: Sequence[str]) -> str:
    """Write a list: "a, b and c"."""
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def suppressed_words(report: Record) -> str:
    """State how many item occurrences are suppressed, in one sentence."""
    gone, whole = report["utility"]["suppressed_occurrences"], report["input"]["occurrences"]
    if not gone:
        return f"No {unit(report)} occurrence of {count(whole)} is suppressed."
    of_all = count(whole, f"{unit(report)} occurrence")
    return f"{count(gone)} of {of_all} ({percent(gone, whole)}) {are(gone)} suppressed."
