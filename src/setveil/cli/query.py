"""The command ``query``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.options import argument, integer, option
from setveil.cli.session import Answer

_REQUEST = "Request"


def query(
    progress: Any,
    release: Path = argument("RELEASE", "Ask this run's folder, its published/, or the file in it."),
    queries: list[str] | None = argument(
        "ITEMS", 'Count rows that contain these items: "tea, milk".', default=None
    ),
    queries_file: Path | None = option(_REQUEST, "Read more queries, one per line.", "FILE"),
    itemsets: int | None = integer(_REQUEST, "Find the N most frequent itemsets of 2 or more items.", 1),
    itemset_length: int | None = integer(_REQUEST, "Find itemsets of at most N items.", 2),
    rules: int | None = integer(_REQUEST, "Also list the N rules with the greatest confidence.", 1),
    class_: int | None = integer(
        _REQUEST,
        "Count only rows of class N, whose labels may be named.",
        0,
        "--class",
    ),
    unlisted: int = integer(_REQUEST, "Assume at least N rows for an item without a count.", 0, default=0),
) -> Answer:
    """Estimate, with bounds, how many rows contain given items.

    Only the published files are read.

    $ setveil query release "whole milk, black tea" "ground coffee"
    $ setveil query release --itemsets 100
    """
    from setveil.cli.files import read_release
    from setveil.commands.query import require_queries, require_searchable
    from setveil.judges.utility.estimators import estimator_for
    from setveil.judges.utility.greatest import greatest_itemsets, rules_of
    from setveil.releases.published.shared import read_sums
    from setveil.report.answers import answers_text, rules_text
    from setveil.runs.options.itemsets import parse_itemsets, read_itemsets

    require_queries(queries or queries_file, itemsets, itemset_length=itemset_length, rules=rules)
    progress("reading")
    shared = read_sums(release, read_release)
    estimator = estimator_for(shared, unlisted=unlisted, class_=class_)
    made = []
    if itemsets is not None:
        require_searchable(estimator)
        found = greatest_itemsets(estimator, itemsets, itemset_length, progress)
        made = rules_of(estimator, [one.itemset for one in found])[:rules] if rules else []
    else:
        queries_read = parse_itemsets(queries or [], estimator, shared.layout)
        if queries_file is not None:
            queries_read += read_itemsets(queries_file, estimator, shared.layout)
        found = estimator.answer_named(queries_read)
    answers = [one.as_dict() for one in found]
    parts = {name for one in found for name in one.itemset if estimator.is_part(name)}
    text = answers_text(answers, estimator.method, parts, estimator.unit)
    if rules is None:
        return Answer(answers, text)
    rule_records = [rule.as_dict() for rule in made]
    text = f"{text}\n\n{rules_text(rule_records)}"
    return Answer({"itemsets": answers, "rules": rule_records}, text)
