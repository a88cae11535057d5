"""Errors of answers from a release: each error has one name, the same on every face.

*The* error of a release is its **query error**: the median relative error of random COUNT queries, for two
items, or in a table for columns and items. The names of all others say what they are of: the mean of these
queries (ARE), the most frequent pairs, single items, published labels.
"""

from __future__ import annotations

from setveil.base.wording import are, count
from setveil.report import words
from setveil.report.record import AnswersEntry, Errors, Pairs, Record, Spread

QUERY_ERROR = "query error"
MEAN_ERROR = "mean query error (ARE)"
ITEM_ERROR = "error of single items"
NAME_ERROR = "error of published labels"


def query_kind(found: Errors) -> str:
    """Name what the random queries count rows with."""
    return {1: "single items", 2: "item pairs"}.get(found.get("size", 0), "sets of items")


def query_error(answers: AnswersEntry) -> tuple[float, str] | None:
    """Find the query error of a release, and what its random queries count; None if it was not measured.

    The words are "random item pairs", "random single items" or, for a table, "random combinations of columns
    and items".
    """
    table, items = answers.get("table_are"), answers.get("are")
    if table and table["queries"] and table["median"] is not None:
        return table["median"], "random combinations of columns and items"
    if items and items["queries"] and items["median"] is not None:
        return items["median"], f"random {query_kind(items)}"
    return None


def queries_title(answers: AnswersEntry, *, columns: bool = False) -> str:
    """Name the counts that random queries ask for, and say which of them the query error is of."""
    items = answers.get("are")
    queries = "combinations of columns and items" if columns else query_kind(items) if items else "item pairs"
    decides = columns or "table_are" not in answers
    return f"Counts of random {queries}{' (query error)' if decides else ''}:"


def query_error_tile(report: Record) -> tuple[str, str] | None:
    """Say the query error as a figure and what it is; None where it was not measured."""
    found = query_error(report.get("answers") or {})
    if found is None:
        return None
    off, queries = found
    if not off:
        return "Exact", f"query error: at least half of the counts of {queries} are exact"
    return words.error(off), f"query error: counts of {queries} are typically off by that much"


def query_error_short(report: Record) -> tuple[str, str]:
    """Say the query error as a figure and its name alone; empty where it was not measured."""
    found = query_error(report.get("answers") or {})
    return (words.error(found[0]), QUERY_ERROR) if found else ("", "")


def query_error_sentence(report: Record) -> str:
    """Say the query error in one sentence; empty where it was not measured."""
    found = query_error(report.get("answers") or {})
    if found is None:
        return ""
    off, queries = found
    return (
        f"Counts of {queries} are typically {f'off by {words.error(off)}' if off else 'exact'} (query error)."
    )


def spread(off: Errors | Spread) -> str:
    """Say how far the answers to random queries are off, typically and on average."""
    half = (
        "typically exact"
        if off["median"] == 0
        else f"typically off by {words.error(off['median'])} (half of them by more)"
    )
    return f"{half}; the mean relative error (ARE) is {words.percent(off['mean'])}"


def pairs(found: Pairs | None) -> tuple[str, str] | None:
    """Say whether the most frequent pairs are those that a reader expects, and the errors of their counts."""
    if not found or not found["number"]:
        return None
    number, hits = found["number"], found["found"]
    text = (
        f"{count(hits)} of them {are(hits)} among the {count(number)} that a reader expects in most rows. "
        f"The numbers of their rows are off by {words.error(found['error'])} on average, how often one item "
        f"comes with the other by {100 * found['confidence']:.2g} percentage points."
    )
    return f"The {count(number, 'most frequent pair')}:", text


def single_items(off: Spread | None) -> str:
    """Say how far a reader is off who counts single items; empty where that was not measured."""
    if not off:
        return ""
    if off["median"]:
        return f"Counts of single items are typically off by {words.error(off['median'])}."
    return "Counts of at least half of the single items are exact."
