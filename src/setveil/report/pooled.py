"""Sentences about the uses of rows drawn from a release."""

from __future__ import annotations

from textwrap import fill
from typing import Any

from setveil.base.wording import count
from setveil.report.measures import rules_lines
from setveil.report.words import measure, whole_or


def drawn_text(about: dict[str, Any], listed: str, out: str) -> str:
    """Say what was drawn, from the about.json of the draws; `listed`: where supports are."""
    record = about["reconstruction"]
    files = [entry["file"] for entry in record["draws"]]
    named = files[0] if len(files) == 1 else f"{files[0]} to {files[-1]}"
    return "\n".join(
        [
            f"{'Draws':<10} {len(files):,} of {count(about['rows'], 'row')}: {named} in {out}",
            f"{'Supports':<10} as listed in every draw: {listed}",
            f"{'Check':<10} It holds: every draw, recoded, is the release.",
            fill(f"{'Synthetic':<10} {record['note']}", 86, subsequent_indent=11 * " "),
        ]
    )


def pooled_text(found: dict[str, Any]) -> str:
    """List the errors of draws (see `utility.pooled`): mean ± standard deviation over the draws."""
    rows = found["rows"]
    items, queries = found["items"], found["queries"]
    lines = [
        f"{count(found['draws'], 'draw')} of {count(rows['draw'], 'synthetic row')} (original: "
        f"{rows['original']:,}); mean ± standard deviation over the draws.",
        *_errors("supports of items", items, count(items["number"], "item")),
        *_errors("COUNT queries (ARE)", queries, count(queries["number"], "query", "queries")),
    ]
    if "itemsets" in found:
        of = found["itemsets"]
        lines += [
            f"{'frequent itemsets':<22} {_counts(of['found'])} of {of['frequent']:,} found, "
            f"{_counts(of['wrong'])} wrong ones  (up to {count(of['longest'], 'item')} in at least "
            f"{count(of['threshold'], 'row')})"
        ]
    if "rules" in found:
        lines += rules_lines(found["rules"])
    return "\n".join(lines)


def _errors(title: str, found: dict[str, Any], what: str) -> list[str]:
    if found["mean_error"] is None:
        return []
    mean, median = _spread(found["mean_error"]), _spread(found["median_error"])
    return [
        f"{title:<22} {mean} mean, {median} median relative error; {measure(found['of_mean'])} mean error of "
        f"the draws' mean  ({what})"
    ]


def _spread(of: dict[str, float | None]) -> str:
    sd = of["sd"]
    return measure(of["mean"] or 0) + ("" if sd is None else f" ± {sd:.2g}")


def _counts(of: dict[str, float | None]) -> str:
    sd = of["sd"]
    return whole_or(of["mean"] or 0, 3) + ("" if sd is None else f" ± {sd:.2g}")
