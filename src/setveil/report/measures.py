"""The measures of a release in words."""

from __future__ import annotations

from typing import Any

from setveil.report.words import LM_MEANING, NCP_MEANING, UL_MEANING, clip, count, measure, percent

_WORST = 5


def measures_text(
    utility: dict[str, Any],
    labels: list[dict[str, Any]],
    rows: dict[str, int],
    occurrences: int,
    recoding: str,
) -> str:
    """List what a release lost.

    Parameters
    ----------
    utility : dict
        All measures, see `setveil.utility.measure`.
    labels : list of dict
        Support of each published item before and after, see `setveil.utility.supports.label_supports`.
    rows : dict
        Number of rows of the `original` and the `release`.
    occurrences : int
        Item occurrences of the original.
    recoding : str
        Kind of the recoding: "global" or "local".
    """
    lines = [
        f"NCP                    {measure(utility['ncp'])}  ({NCP_MEANING})",
        f"LM                     {measure(utility['lm'])}  ({LM_MEANING})",
    ]
    ul = utility["ul"]["log2"]
    if ul is not None:
        lines.append(f"UL                     2^{ul:.5g}  ({UL_MEANING})")
    if "ul_weighted" in utility and utility["ul_weighted"]["log2"] is not None:
        lines.append(f"UL, weighted           2^{utility['ul_weighted']['log2']:.5g}")
    if "are" in utility:
        lines.append(f"ARE                    {_query_errors(utility['are'])}")
    for what in ("unchanged", "generalized", "suppressed"):
        hit = utility[f"{what}_occurrences"]
        lines.append(
            f"{what:<22} {count(utility[f'{what}_items'], 'item')}, {count(hit, 'occurrence')} "
            f"({percent(hit, occurrences)})"
        )
    item_error = utility["item_support_error"]
    lines += [
        f"published labels       {count(utility['published_labels'])}",
        f"rows                   {count(rows['original'])} before, {count(rows['release'])} after",
        f"mean row length        {utility['mean_row_length_before']:.2f} before, "
        f"{utility['mean_row_length_after']:.2f} after",
        f"error of an item's support, its label's spread evenly: mean {percent(item_error['mean'])}, "
        f"median {percent(item_error['median'])}",
        f"error of the published items' supports: mean {percent(utility['label_support_error']['mean'])}, "
        f"greatest {percent(utility['label_support_error']['max'])}",
    ]
    if "itemsets" in utility:
        lines += _survivors(utility["itemsets"])
    wrong = [entry for entry in labels if entry["relative_error"] != 0]
    if wrong:
        wrong.sort(key=lambda entry: -(1.0 if entry["relative_error"] is None else entry["relative_error"]))
        why = (
            "labels of different levels overlap"
            if recoding == "local"
            else "rows or items were changed, added or lost"
        )
        lines.append(
            f"{count(len(wrong), 'published item')} with another support than in the original: {why}. "
            "The worst:"
        )
        lines += [
            f"  {clip(entry['label'], 60)}: {count(entry['support'])}, "
            f"originally {count(entry['original_support'])}"
            for entry in wrong[:_WORST]
        ]
    elif rows["original"] == rows["release"]:
        lines.append("Every published item has exactly the support of the items it stands for.")
    if rows["original"] != rows["release"]:
        lines.append("The numbers of rows differ (a long table cannot show empty rows).")
    return "\n".join(lines)


def group_measures_text(utility: dict[str, Any], rows: dict[str, int]) -> str:
    """List what a release in groups lost (see `setveil.utility.measure.measure_groups`)."""
    kl, sizes = utility["kl"], utility["group_sizes"]
    lines = []
    if kl["queries"]:
        asked = count(kl["queries"], "group-by query", "group-by queries")
        lines.append(
            f"KL                     {measure(kl['mean'])}  (mean divergence of {asked} over a sensitive "
            f"item and {count(kl['group_by'], 'other')}; sd {measure(kl['sd'])})"
        )
    lines += [
        f"unchanged              {count(utility['unchanged_items'], 'item')}, "
        f"{count(utility['unchanged_occurrences'], 'occurrence')}",
        f"as counts of groups    {count(utility['sensitive_items'], 'item')}, "
        f"{count(utility['sensitive_occurrences'], 'occurrence')}",
        f"rows                   {count(rows['original'])} before, {count(rows['release'])} after",
        f"mean row length        {utility['mean_row_length_before']:.2f} before, "
        f"{utility['mean_row_length_after']:.2f} after",
        f"groups                 {count(sizes['groups'])}",
    ]
    if sizes["groups"]:
        lines.append(
            f"group sizes            {count(sizes['smallest'])} to {count(sizes['largest'])}, median "
            f"{sizes['median']:g}, mean {sizes['mean']:.4g}"
        )
    return "\n".join(lines)


def _survivors(found: dict[str, Any]) -> list[str]:
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


def _query_errors(are: dict[str, Any]) -> str:
    if not are["queries"]:
        return "no query has a row that matches in the original"
    left_out = f", {count(are['left_out'])} more match no row" if are["left_out"] else ""
    asked = count(are["queries"], "COUNT query", "COUNT queries")
    spread = f"sd {percent(are['sd'])}, median {percent(are['median'])}"
    return f"{percent(are['mean'])}  (mean relative error of {asked}; {spread}{left_out})"
