"""The measures of a release in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from setveil.base.wording import count
from setveil.judges.utility import Measure, Utility, measures, named
from setveil.report.accuracy import ITEM_ERROR, NAME_ERROR, QUERY_ERROR
from setveil.report.record import Errors, ItemsetsEntry, Spread
from setveil.report.run.kinds import kind_named
from setveil.report.words import measure, number_of, percent, whole_or


def measures_text(
    utility: Utility,
    labels: list[dict[str, Any]],
    rows: dict[str, int],
    occurrences: int,
    recoding: str,
) -> str:
    """List the information loss of a release.

    `utility`: see `setveil.judges.utility.measure`. `labels`: see
    `setveil.judges.utility.supports.label_supports`; empty if labels represent only themselves. `rows`: of
    the `original` and the `release`. `occurrences`: of the original. `recoding`: "global", "local" or
    "grouped".
    """
    kind = kind_named(recoding)
    lines = _lines(recoding, utility, rows, occurrences if kind.tells_shares else None)
    return "\n".join([*map(kind.spoken, lines), *kind.measured(utility, labels, rows)])


def _lines(kind: str, utility: Utility, rows: dict[str, int], occurrences: int | None = None) -> list[str]:
    """List all measures of a kind of recoding, in their order."""
    facts = _Facts(utility, rows, occurrences)
    return [
        line
        for one in measures(kind)
        if one.name in utility
        for line in (_SPECIAL[one.name](facts) if one.name in _SPECIAL else _plain(one, utility))
    ]


def _plain(one: Measure, utility: Utility) -> list[str]:
    """Write a measure that is a number with a title."""
    value = one.value(utility) if one.title else None
    if value is None:
        return []
    meaning = f"  ({one.meaning})" if one.meaning else ""
    return [f"{one.title:<22} {number_of(one, value)}{meaning}"]


@dataclass(frozen=True)
class _Facts:
    """The input of lines: all measures, rows of both, and occurrences if shares are published."""

    utility: Utility
    rows: dict[str, int]
    occurrences: int | None


def _became(what: str) -> Callable[[_Facts], list[str]]:
    """Write how many items and occurrences something became of."""

    def line(facts: _Facts) -> list[str]:
        hit = facts.utility[f"{what}_occurrences"]
        share = "" if facts.occurrences is None else f" ({percent(hit, facts.occurrences)})"
        items = count(facts.utility[f"{what}_items"], "item")
        return [f"{what:<22} {items}, {count(hit, 'occurrence')}{share}"]

    return line


def _row_lengths(facts: _Facts) -> list[str]:
    utility, rows = facts.utility, facts.rows
    return [
        f"rows                   {count(rows['original'])} before, {count(rows['release'])} after",
        f"mean row length        {utility['mean_row_length_before']:.2f} before, "
        f"{utility['mean_row_length_after']:.2f} after",
    ]


def _sensitive(facts: _Facts) -> list[str]:
    items = count(facts.utility["sensitive_items"], "item")
    return [f"as counts of groups    {items}, {count(facts.utility['sensitive_occurrences'], 'occurrence')}"]


def _of_items(how: str, off: Spread) -> str:
    spread = f"mean {percent(off['mean'])}, median {percent(off['median'])}"
    return f"{ITEM_ERROR}, {how}: {spread}"


def _supports(facts: _Facts) -> list[str]:
    of_items, of_labels = facts.utility["item_support_error"], facts.utility["label_support_error"]
    alone = of_items.get("from_rows")
    lines = [] if alone is None else [_of_items("by the counts", of_items)]
    return [
        *lines,
        _of_items("its label's spread evenly", alone or of_items),
        f"{NAME_ERROR}: mean {percent(of_labels['mean'])}, greatest {percent(of_labels['max'])}",
    ]


def _divergence(facts: _Facts) -> list[str]:
    kl = facts.utility["kl"]
    if not kl["queries"]:
        return []
    queries = count(kl["queries"], "group-by query", "group-by queries")
    return [
        f"KL                     {measure(kl['mean'])}  (mean divergence of {queries} over a sensitive "
        f"item and {count(kl['group_by'], 'other')}; sd {measure(kl['sd'])})"
    ]


def _doubt(facts: _Facts) -> list[str]:
    one, found = named("entropy"), facts.utility["entropy"]
    bits = f"{measure(found['bits'])} bits per occurrence"
    return [f"{one.title:<22} {measure(found['share'])}  ({one.meaning}; {bits})"]


def _survivors(found: ItemsetsEntry) -> list[str]:
    length = f" of at most {count(found['max_length'], 'item')}" if found["max_length"] else ""
    what = f"in at least {count(found['threshold'], 'row')}{length}"
    lines = [
        f"itemsets kept          {count(found['kept'])} of {count(found['frequent'])} {what} "
        f"({percent(found['kept'], found['frequent'])})"
    ]
    lines += [
        f"  of {count(line['length'], 'item'):<10}        {count(line['kept'])} of {count(line['frequent'])}"
        for line in found["by_length"]
    ]
    if found["rules"]:
        lines.append(
            f"rules kept             {count(found['rules_kept'])} of {count(found['rules'])} from other "
            f"items to a private one ({percent(found['rules_kept'], found['rules'])})"
        )
    lines.append(
        "Every itemset that was kept has exactly its original support."
        if found["supports_unchanged"]
        else "Supports of itemsets that were kept have changed: rows or items were changed, added or lost."
    )
    return lines


def rules_lines(found: Mapping[str, Any]) -> list[str]:
    """Say how many association rules a reader finds again."""
    where = (
        f"in {count(found['readings'], 'draw')} from the release and its counts"
        if found["read"] == "draws"
        else "in the published rows"
    )
    least = f"at least {count(found['threshold'], 'row')}, confidence at least {percent(found['confidence'])}"
    start = "rules found            "
    if not found["rules"]:
        return [f"{start}the original has none of at most {found['longest']} items in {least}"]
    error = found["confidence_error"]
    return [
        f"{start}{_over(found['found'])} of {count(found['rules'])}  (association rules of at most "
        f"{found['longest']} items in {least}, looked for {where})",
        f"  just as they were    {_over(found['exact'])}, with their support and confidence",
        f"  false                {_over(found['false'])} that the original does not have",
        f"  confidence off by    {_points(error)} points on average over all {count(found['rules'])}",
    ]


def _over(of: Mapping[str, float | None]) -> str:
    """Write a number of rules, and how much it differs between draws."""
    sd = of["sd"]
    return whole_or(of["mean"] or 0, 3) + (f" ± {sd:.2g}" if sd else "")


def _points(of: Mapping[str, float | None] | None) -> str:
    """Write a difference of shares in points of per cent."""
    return f"{100 * ((of or {}).get('mean') or 0):.2g}"


def _query_errors(are: Errors) -> str:
    if not are["queries"]:
        return "no query has a row that matches in the original"
    left_out = f", {count(are['left_out'])} more match no row" if are["left_out"] else ""
    queries = count(are["queries"], "COUNT query", "COUNT queries")
    mean = f"mean (ARE) {percent(are['mean'])}, sd {percent(are['sd'])}"
    return f"{percent(are['median'])}  (median relative error of {queries}; {mean}{left_out})"


def _both_errors(are: Errors, name: str) -> list[str]:
    """Write how far answers are off, and how far those from rows alone."""
    lines = [f"{name:<22} {_query_errors(are)}"]
    alone = are.get("from_rows")
    if alone and are["queries"]:
        mean = f"mean (ARE) {percent(alone['mean'])}, sd {percent(alone['sd'])}"
        lines.append(f"... from rows alone    {percent(alone['median'])}  (without the counts; {mean})")
    return lines


# Measures that are not a number with a title.
_SPECIAL: dict[str, Callable[[_Facts], list[str]]] = {
    "entropy": _doubt,
    "are": lambda facts: _both_errors(
        facts.utility["are"], f"{QUERY_ERROR}, items" if "table_are" in facts.utility else QUERY_ERROR
    ),
    "table_are": lambda facts: _both_errors(facts.utility["table_are"], QUERY_ERROR),
    "unchanged_items": _became("unchanged"),
    "generalized_items": _became("generalized"),
    "suppressed_items": _became("suppressed"),
    "sensitive_items": _sensitive,
    "published_labels": lambda facts: [f"published labels       {count(facts.utility['published_labels'])}"],
    "mean_row_length_before": _row_lengths,
    "item_support_error": _supports,
    "itemsets": lambda facts: _survivors(facts.utility["itemsets"]),
    "rules": lambda facts: rules_lines(facts.utility["rules"]),
    "kl": _divergence,
}
