"""The measures of a release in words."""

from __future__ import annotations

from typing import Any

from setveil.report.words import LM_MEANING, NCP_MEANING, clip, count, measure, percent

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
