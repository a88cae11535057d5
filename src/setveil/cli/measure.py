"""The command ``measure``."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from setveil.cli.facts import ReadFacts, facts_of
from setveil.cli.help import MEASURES
from setveil.cli.options import ReadHierarchies, Reading, argument, choice, integer, option, source_of
from setveil.cli.readers import ItemsReader, reader_like
from setveil.cli.recorded import as_the_run_did
from setveil.cli.session import Answer
from setveil.cli.tables import Columns, require_no_columns
from setveil.errors import RequestError
from setveil.options.facts import FactOptions

_QUERIES = f"{MEASURES}: queries"
_ITEMSETS = f"{MEASURES}: itemsets"
_RULES = f"{MEASURES}: rules"


def measure(
    progress: Any,
    original: list[str] = argument("ORIGINAL", "Read the files that were anonymized."),
    release: str = argument("RELEASE", "Measure this run's folder, published/, or file of rows."),
    hierarchy_files: ReadHierarchies = None,
    queries: int | None = integer(_QUERIES, "Answer N random COUNT queries (ARE).", 1),
    query_size: int | None = integer(_QUERIES, "Use N items per query (default: 2).", 1, brief=None),
    query_support: int | None = integer(_QUERIES, "Ask only for itemsets in at least N rows.", 1, brief=None),
    queries_file: Path | None = option(_QUERIES, "Answer your queries: one set of items per line.", "FILE"),
    group_by: int | None = integer(_QUERIES, "Use N items per group-by query (default: 4).", 1, brief=None),
    seed: int = integer(_QUERIES, "Draw the queries by this seed.", 0, default=0, brief=None),
    itemsets: int | None = integer(
        _ITEMSETS, "Count itemsets in at least N rows that stay unchanged.", 1
    ),
    itemset_length: int | None = integer(_ITEMSETS, "Count itemsets of at most N items.", 1, brief=None),
    private: str | None = option(
        _ITEMSETS, "Also count rules that lead to these items.", "ITEMS", brief=None
    ),
    top: int | None = integer(
        _ITEMSETS, "Compare the N most frequent itemsets of chunks (tKd).", 1, brief=None),
    rules: str | None = option(
        _RULES, "Find rules in at least N rows, or this share.", "N|SHARE"
    ),
    confidence: str | None = option(
        _RULES, "Set the least confidence of rules (default: 50%).", "SHARE", brief=None
    ),
    rule_length: int | None = integer(_RULES, "Allow N items per rule (default: 3).", 2, brief=None),
    estimator: str | None = choice(
        _QUERIES, "Estimate by the counts, or from the rows alone",
        "estimator", ("entropy", "uniform"), brief=None),
    *,
    columns: Columns,
    facts: ReadFacts,
    reading: Reading,
) -> Answer:  # fmt: skip
    """Measure the information loss of a release.

    The meaning of labels is read from about.json next to the published file, or from --hierarchy.

    $ setveil measure baskets.csv release --queries 1000
    $ setveil measure baskets.csv theirs.csv --hierarchy products.csv
    $ setveil measure ward.csv ward --roles roles.toml
    $ setveil measure log.csv f --id-column id --set dx --when on:day
    $ setveil measure baskets.csv release --rules 1% --confidence 60%
    """
    asked: dict[str, Any] = {
        "hierarchy": hierarchy_files or None, "query_size": query_size, "query_support": query_support,
        "queries_file": queries_file, "group_by": group_by, "itemsets": itemsets,
        "itemset_length": itemset_length, "private": private, "estimator": estimator, "top": top,
        "rules": rules, "confidence": confidence, "rule_length": rule_length, "queries": queries,
    }  # fmt: skip

    from setveil.cli.files import read_release
    from setveil.cli.reconstruct import measure_draws
    from setveil.commands.measure import losses, require_useful, settled_like, wanted_rules
    from setveil.options.decode import require_file
    from setveil.options.inputs import load_labels, load_queries
    from setveil.published import kind_at
    from setveil.published.about import reconstruction_at
    from setveil.report.measures import measures_text
    from setveil.utility.supports import label_supports

    encoding = reading.text_encoding
    if reconstruction_at(Path(release)) is not None:
        useless = {name: asked[name] for name in ("hierarchy", "group_by", "private", "top")}
        require_useful(useless, asked, "a reconstruction")
        how = {
            "number": queries, "size": query_size, "support": query_support, "path": queries_file,
            "seed": seed,
        }  # fmt: skip
        found, text = measure_draws(
            original,
            release,
            reading,
            how,
            (itemsets, itemset_length),
            (rules, confidence, rule_length),
            progress,
        )
        return Answer(found, text)
    kind = kind_at(release)
    shown = kind.info.shown.kind
    if shown not in ("tables", "facts") and Path(release).exists():
        require_no_columns(columns, None)
    reading, columns, facts = as_the_run_did(release, original, reading, columns, facts)
    reader = reader_like(shown, columns, reading, hierarchy_files)
    read_with = ("hierarchy",) if reader.reads_hierarchies else ()
    useless = {name: value for name, value in asked.items() if name not in (*kind.info.asks, *read_with)}
    require_useful(useless, asked, kind.info.title)
    source = source_of(original, reading)
    for path in (reader.hierarchy_file, queries_file):
        require_file(path)
    progress("reading")
    before, tree = _original(shown, reader, facts, source, release)
    exposed = kind.read(release, read_release)
    before = settled_like(release, before)
    parts = kind.measurable(release, exposed, before, tree)
    wanted: Any = ()
    if "query_size" in kind.info.asks:
        wanted = load_queries(
            before, queries_file, encoding, number=queries, size=query_size or 2, support=query_support,
            seed=seed, progress=progress,
        )  # fmt: skip
    progress("measuring")
    utility, case = losses(
        before, parts, hierarchy=tree, queries=wanted, group_by=group_by, number=queries, seed=seed,
        estimator=estimator, itemsets=itemsets, itemset_length=itemset_length,
        private=load_labels(private, before, encoding),
        rules=wanted_rules(before.n_rows, rules, confidence, rule_length), progress=progress,
        top=top or 0,
    )  # fmt: skip
    rows = {"original": before.n_rows, "release": case.published.n_rows}
    labels = [] if case.recoding is None else label_supports(before, case.published, case.recoding)
    text = measures_text(utility, labels, rows, before.n_occurrences, case.kind)
    told = {} if case.recoding is None else {"labels": labels}
    return Answer({"utility": utility, "rows": rows, **told}, text)


def _original(
    shown: str, reader: ItemsReader, facts: FactOptions, source: Any, release: str
) -> tuple[Any, Any]:
    """Read the original of a release that shows rows, a table or facts, and the hierarchy of the items."""
    from setveil.cli.files import read_rows, require_room
    from setveil.commands.measure import k_of
    from setveil.hierarchy.fit import fit_rows

    if shown == "tables":
        return reader.read(source, None, 0)[0], None
    if shown == "facts":
        read = facts_of(source, facts, reader.columns, reader.reading, k_of(release))
        return read or read_rows(source, reader.reading), None
    if facts.given and Path(release).exists():
        raise RequestError(f"{', '.join(facts.given)}: the release is not one of facts.")
    require_room(source, lambda: "`setveil anonymize --engine parts` measures what it makes.")
    before, tree = read_rows(source, reader.reading), reader.tree()
    if tree is not None:
        tree, before = fit_rows(tree, before)
    return before, tree
