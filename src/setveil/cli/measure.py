"""The command ``measure``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from setveil.base.errors import RequestError
from setveil.cli.bundles import Reading, bundled, source_of
from setveil.cli.facts import ReadFacts, facts_of
from setveil.cli.help import MEASURES
from setveil.cli.options import ReadHierarchies, argument, choice, integer, option
from setveil.cli.readers import ItemsReader, reader_like
from setveil.cli.recorded import as_the_run_did
from setveil.cli.session import Answer
from setveil.cli.tables import Columns, require_no_columns
from setveil.runs.options.facts import FactOptions
from setveil.runs.options.reading import Reading as ReadingOptions

_QUERIES = f"{MEASURES}: queries"
_ITEMSETS = f"{MEASURES}: itemsets"
_RULES = f"{MEASURES}: rules"


@dataclass(frozen=True)
class QueryOptions:
    """Options on the queries that are answered."""

    queries: int | None = integer(_QUERIES, "Answer N random COUNT queries (ARE).", 1)
    query_size: int | None = integer(_QUERIES, "Use N items per query (default: 2).", 1, brief=None)
    query_support: int | None = integer(_QUERIES, "Ask only for itemsets in at least N rows.", 1, brief=None)
    queries_file: Path | None = option(_QUERIES, "Answer your queries: one set of items per line.", "FILE")
    group_by: int | None = integer(_QUERIES, "Use N items per group-by query (default: 4).", 1, brief=None)
    seed: int = integer(_QUERIES, "Draw the queries by this seed.", 0, default=0, brief=None)
    estimator: str | None = choice(
        _QUERIES, "Estimate by the counts, or from the rows alone",
        "estimator", ("entropy", "uniform"), brief=None)  # fmt: skip


@dataclass(frozen=True)
class ItemsetOptions:
    """Options on the itemsets and rules that are counted."""

    itemsets: int | None = integer(_ITEMSETS, "Count itemsets in at least N rows that stay unchanged.", 1)
    itemset_length: int | None = integer(_ITEMSETS, "Count itemsets of at most N items.", 1, brief=None)
    private: str | None = option(_ITEMSETS, "Also count rules that lead to these items.", "ITEMS", brief=None)
    top: int | None = integer(
        _ITEMSETS, "Compare the N most frequent itemsets of chunks (tKd).", 1, brief=None
    )
    rules: str | None = option(_RULES, "Find rules in at least N rows, or this share.", "N|SHARE")
    confidence: str | None = option(
        _RULES, "Set the least confidence of rules (default: 50%).", "SHARE", brief=None
    )
    rule_length: int | None = integer(_RULES, "Allow N items per rule (default: 3).", 2, brief=None)


def measure(
    progress: Any,
    original: list[str] = argument("ORIGINAL", "Read the files that were anonymized."),
    release: str = argument("RELEASE", "Measure this run's folder, published/, or file of rows."),
    hierarchy_files: ReadHierarchies = None,
    *,
    ask: Annotated[QueryOptions, bundled(QueryOptions)],
    count: Annotated[ItemsetOptions, bundled(ItemsetOptions)],
    columns: Columns,
    facts: ReadFacts,
    reading: Reading,
) -> Answer:
    """Measure the information loss of a release.

    The meaning of labels is read from about.json next to the published file, or from --hierarchy.

    $ setveil measure baskets.csv release --queries 1000
    $ setveil measure baskets.csv theirs.csv --hierarchy products.csv
    $ setveil measure ward.csv ward --roles roles.toml
    $ setveil measure log.csv f --id-column id --set dx --when on:day
    $ setveil measure baskets.csv release --rules 1% --confidence 60%
    """
    from setveil.cli.files import read_release
    from setveil.commands.measure import require_useful, settled_like
    from setveil.releases.published import kind_at
    from setveil.releases.published.about import reconstruction_at
    from setveil.runs.options.decode import require_file

    options: dict[str, Any] = {
        "hierarchy": hierarchy_files or None, "query_size": ask.query_size,
        "query_support": ask.query_support, "queries_file": ask.queries_file, "group_by": ask.group_by,
        "itemsets": count.itemsets, "itemset_length": count.itemset_length, "private": count.private,
        "estimator": ask.estimator, "top": count.top, "rules": count.rules, "confidence": count.confidence,
        "rule_length": count.rule_length, "queries": ask.queries,
    }  # fmt: skip
    if reconstruction_at(Path(release)) is not None:
        useless = {name: options[name] for name in ("hierarchy", "group_by", "private", "top")}
        require_useful(useless, options, "a reconstruction")
        return _of_draws(original, release, reading, ask, count, progress)
    kind = kind_at(release)
    shown = kind.info.shown.kind
    if shown not in ("tables", "facts") and Path(release).exists():
        require_no_columns(columns, None)
    reading, columns, facts = as_the_run_did(release, original, reading, columns, facts)
    reader = reader_like(shown, columns, reading, hierarchy_files)
    read_with = ("hierarchy",) if reader.reads_hierarchies else ()
    useless = {name: value for name, value in options.items() if name not in (*kind.info.asks, *read_with)}
    require_useful(useless, options, kind.info.title)
    source = source_of(original, reading)
    for path in (reader.hierarchy_file, ask.queries_file):
        require_file(path)
    progress("reading")
    before, tree = _original(shown, reader, facts, source, release)
    exposed = kind.read(release, read_release)
    before = settled_like(release, before)
    parts = kind.measurable(release, exposed, before, tree)
    asks_queries = "query_size" in kind.info.asks
    answer = _measured(before, tree, parts, ask, count, reading, progress, asks_queries=asks_queries)
    return _with_kept(answer, exposed) if shown == "tables" else answer


def _with_kept(answer: Answer, table: Any) -> Answer:
    """Add how much classes of a table reveal about its kept columns."""
    from setveil.judges.guarantees.verify.diversity import diversities

    kept = diversities(table)
    found = {**answer.found, "kept": [one.as_dict() for one in kept]}
    return replace(answer, found=found, words="\n".join([str(answer.words), *map(str, kept)]))


def _of_draws(
    original: list[str],
    release: str,
    reading: ReadingOptions,
    ask: QueryOptions,
    count: ItemsetOptions,
    progress: Any,
) -> Answer:
    """Measure a reconstruction."""
    from setveil.cli.reconstruct import measure_draws

    how = {
        "number": ask.queries, "size": ask.query_size, "support": ask.query_support,
        "path": ask.queries_file, "seed": ask.seed,
    }  # fmt: skip
    itemsets = count.itemsets, count.itemset_length
    rules = count.rules, count.confidence, count.rule_length
    found, text = measure_draws(original, release, reading, how, itemsets, rules, progress)
    return Answer(found, text)


def _measured(
    before: Any,
    tree: Any,
    parts: Any,
    ask: QueryOptions,
    count: ItemsetOptions,
    reading: ReadingOptions,
    progress: Any,
    *,
    asks_queries: bool,
) -> Answer:
    """Compute the losses of what is published, next to the original."""
    from setveil.commands.measure import losses, wanted_rules
    from setveil.judges.utility.supports import label_supports
    from setveil.report.measures import measures_text
    from setveil.runs.options.inputs import load_labels, load_queries

    encoding = reading.text_encoding
    wanted: Any = ()
    if asks_queries:
        wanted = load_queries(
            before, ask.queries_file, encoding, number=ask.queries, size=ask.query_size or 2,
            support=ask.query_support, seed=ask.seed, progress=progress,
        )  # fmt: skip
    progress("measuring")
    utility, case = losses(
        before, parts, hierarchy=tree, queries=wanted, group_by=ask.group_by, number=ask.queries,
        seed=ask.seed, estimator=ask.estimator, itemsets=count.itemsets, itemset_length=count.itemset_length,
        private=load_labels(count.private, before, encoding),
        rules=wanted_rules(before.n_rows, count.rules, count.confidence, count.rule_length),
        progress=progress, top=count.top or 0,
    )  # fmt: skip
    rows = {"original": before.n_rows, "release": case.published.n_rows}
    labels = [] if case.recoding is None else label_supports(before, case.published, case.recoding)
    text = measures_text(utility, labels, rows, before.n_occurrences, case.kind)
    about_labels = {} if case.recoding is None else {"labels": labels}
    return Answer({"utility": utility, "rows": rows, **about_labels}, text)


def _original(
    shown: str, reader: ItemsReader, facts: FactOptions, source: Any, release: str
) -> tuple[Any, Any]:
    """Read the original of a release that shows rows, a table or facts, and the hierarchy of the items."""
    from setveil.cli.files import read_rows, require_room
    from setveil.commands.measure import k_of
    from setveil.rows.hierarchy.fit import fit_rows

    if shown == "tables":
        return reader.read(source)[0], None
    if shown == "facts":
        read = facts_of(source, facts, reader.columns, reader.reading, k_of(release))
        return read or read_rows(source, reader.reading), None
    if facts.explicit_options and Path(release).exists():
        raise RequestError(f"{', '.join(facts.explicit_options)}: the release is not one of facts.")
    require_room(source, lambda: "`setveil anonymize --engine parts` measures what it makes.")
    before, tree = read_rows(source, reader.reading), reader.tree()
    if tree is not None:
        tree, before = fit_rows(tree, before)
    return before, tree
