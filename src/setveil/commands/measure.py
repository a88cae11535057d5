"""Measure what a release lost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, as_option, described, faces
from setveil.base.progress import Progress
from setveil.base.values.kinds import is_integer
from setveil.base.values.numbers import fraction
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    exposed_by,
    heard,
    integer,
    integer_or_none,
    is_path,
    labels_of,
    listed_labels,
    needs_its_files,
    path_of,
    published_rows,
    release_of,
    rows_of,
    tree_of,
)
from setveil.commands.reconstruct import Reconstruction
from setveil.judges.reconstruction.draws import DrawSource, draws_of, read_draws
from setveil.judges.utility import Case, measured
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.judges.utility.pooled import LONGEST, pooled_errors, usual_number
from setveil.judges.utility.rules import LONGEST as LONGEST_RULE
from setveil.judges.utility.rules import rules_found
from setveil.releases.published import KindInfo, kind_at, kind_of_recoding
from setveil.releases.published import rows as single_rows
from setveil.releases.published.about import about_file, published_file, reconstruction_at
from setveil.releases.published.groups import Grouping
from setveil.releases.published.recoding import LocalRecoding, Recoding
from setveil.releases.published.shared import Shared, sums_of_parts
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.fit import fit_rows
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.inputs import load_queries

READINGS = 3  # draws in which rules are looked for


def measure(
    original: str | PathLike[str] | object,
    release: str | PathLike[str] | object,
    recoding: Recoding | LocalRecoding | Grouping | None = None,
    *,
    hierarchy: TreeLike = None,
    queries: int | str | PathLike[str] | Sequence[Iterable[str]] | None = None,
    query_size: int | None = None,
    query_support: int | None = None,
    group_by: int | None = None,
    itemsets: int | None = None,
    itemset_length: int | None = None,
    private: Iterable[str] | str | PathLike[str] | None = None,
    top: int | None = None,
    rules: int | float | str | None = None,
    confidence: float | str | None = None,
    rule_length: int | None = None,
    estimator: str | None = None,
    seed: int = 0,
    progress: Listener = None,
) -> dict[str, Any]:
    """Measure what a release lost.

    Parameters
    ----------
    original : path, data frame, list of lists, or Transactions
        The rows before.
    release : VerifiedRelease, Release, Reconstruction, path, data frame, list of lists, or Transactions
        The rows after; their order does not matter. What their labels represent is read from the release,
        about.json next to a published file, `recoding`, or `hierarchy`; else each label is an item.
    recoding : Recoding, LocalRecoding or Grouping, optional
        What the items of the original became, where `release` are rows alone.
    hierarchy : Hierarchy, path, dict or data frame, optional
        Adds `ul_weighted`, UL with labels weighed by the leaves under the lowest node above their items.
    queries : int, path, or sequence of sets of str, optional
        COUNT queries, which add `are`: this many random ones, those of a file, or those given. Of rows in
        groups the number of group-by queries (1000).
    query_size, query_support : int, optional
        Items per random query (2), and the least support of the itemsets that are asked for.
    group_by : int, optional
        Of rows in groups: the items that a group-by query is over (4).
    itemsets, itemset_length : int, optional
        Adds `itemsets`: those in at least this many rows, of at most this many items, and how many survive.
    private : list of str, or text, optional
        Also count the rules from other items to these, among the itemsets.
    top : int, optional
        Of rows in chunks: adds `tkd`, the share of the itemsets of at most three items in most rows, so many,
        that rows drawn by `seed` have not among theirs; with a hierarchy also `tkd_ml2`, its groups as items.
    rules : int, float or str, optional
        Adds `rules`: of the original's association rules in at least this many rows, or such a share of the
        rows (0.01, "1%"), how many a reader finds.
    confidence : float or str, optional
        Their least confidence (0.5).
    rule_length : int, optional
        Most items of a rule, both sides together (3).
    estimator : {"entropy", "uniform"}, optional
        How a reader estimates: by the counts next to the rows where there are any (the default), or from the
        rows alone, as in papers.
    seed : int
        Draws the queries.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        All measures by name, as `utility` in report.json (see docs/measures.md); of a `Reconstruction` or its
        folder the errors of its draws (see docs/reconstruct.md).

    Raises
    ------
    RequestError
        If an argument is of no use for such a release, or of a wrong type.
    DataError
        If rows cannot be read, or nothing tells what a label represents.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1))
    >>> sv.measure(rows, release) == release.utility
    True
    >>> sv.measure(rows, [["tea"], ["tea"], ["milk"], []])["suppressed_items"]
    1
    """
    listening = heard(progress)
    seed = integer("seed", seed, 0)
    counted = {
        "query_size": query_size, "query_support": query_support, "group_by": group_by, "itemsets": itemsets,
        "itemset_length": itemset_length, "top": top,
    }  # fmt: skip
    numbers: dict[str, Any] = {name: integer_or_none(name, value, 1) for name, value in counted.items()}
    longest = integer_or_none("rule_length", rule_length, 2)
    numbers |= {"rules": rules, "confidence": confidence, "rule_length": longest}
    before = rows_of(original, "The original", tables=True)
    wanted = wanted_rules(before.n_rows, rules, confidence, longest)
    if isinstance(release, Reconstruction) or (is_path(release) and reconstruction_at(Path(release))):
        useless = {
            "recoding": recoding, "hierarchy": hierarchy, "group_by": group_by, "private": private, "top": top
        }  # fmt: skip
        require_useful(useless, numbers, "a reconstruction")
        return _of_draws(before, release, queries, numbers, wanted, seed, listening)
    tree = tree_of(hierarchy)
    before = settled_like(release, before)
    if tree is not None:
        tree, before = fit_rows(tree, before)
    parts = _parts(release, recoding, before, tree)
    kind = kind_of_recoding(parts["kind"])
    require_same_form(before, kind.info)
    if estimator not in {None, "entropy", "uniform"}:
        raise RequestError(f'estimator must be "entropy" or "uniform", got {described(estimator)}.')
    options = {**numbers, "private": private, "hierarchy": hierarchy, "estimator": estimator}
    asks = kind.info.asks
    useless = {name: value for name, value in {**options, "queries": queries}.items() if name not in asks}
    require_useful(useless, options, kind.info.title)
    query_list, number = _queries(queries, before, numbers, seed, listening, drawn="query_size" in asks)
    return losses(
        before, parts, hierarchy=tree, queries=query_list, group_by=group_by, number=number, seed=seed,
        estimator=estimator, itemsets=itemsets, itemset_length=itemset_length,
        private=labels_of("private", private, before), rules=wanted, progress=listening,
        top=top or 0,
    )[0]  # fmt: skip


def k_of(release: Any) -> int:
    """Find the k that a release guarantees, by its about.json; 0: that says nothing."""
    guarantee = about_file(published_file(Path(release))).get("guarantee") or {}
    return int(guarantee.get("k", 0))


def settled_like(release: object, before: Any) -> Any:
    """Put dates together as they were for a release of facts; rows of anything else stay as they are."""
    if not before.only_facts:
        return before
    if is_path(release):
        return settled(before, k_of(release))
    made = release_of(release)
    facts = None if made is None else made.before()
    return before if facts is None else settled(before, facts[0].settled_by)


def require_useful(useless: Mapping[str, object], options: Mapping[str, object], what: str) -> None:
    """Refuse options that mean nothing for what is measured, or without itemsets."""
    lost = [as_option(name) for name, value in useless.items() if value is not None]
    if lost:
        raise RequestError(f"{', '.join(lost)} cannot be used for {what}.")
    if options.get("itemsets") is None:
        lost = [as_option(name) for name in ("itemset_length", "private") if options.get(name) is not None]
        if lost:
            raise RequestError(f"{', '.join(lost)}: only with {as_option('itemsets')}.")
    if options.get("rules") is None:
        lost = [as_option(name) for name in ("confidence", "rule_length") if options.get(name) is not None]
        if lost:
            raise RequestError(f"{', '.join(lost)}: only with {as_option('rules')}.")


@dataclass(frozen=True)
class WantedRules:
    """Which association rules are looked for."""

    threshold: int  # least support in rows
    confidence: Fraction
    longest: int  # most items of a rule


def wanted_rules(n_rows: int, rules: Any, confidence: Any, longest: int | None) -> WantedRules | None:
    """Take the least support, as a number of rows or a share of them, and the least confidence."""
    if rules is None:
        return None
    whole = int(rules) if isinstance(rules, str) and rules.strip().isdecimal() else rules
    share = None if is_integer(whole, 1) else fraction(whole)
    if not is_integer(whole, 1) and (share is None or not 0 < share < 1):
        raise RequestError(
            f"{as_option('rules')} must be a number of rows, at least 1, or a share of them such as 1% or "
            f"0.01, got {described(rules)}."
        )
    least = fraction("1/2" if confidence is None else confidence)
    if least is None or not 0 <= least <= 1:
        raise RequestError(f"{as_option('confidence')} must be a share, 0 to 1, got {described(confidence)}.")
    threshold = int(whole) if share is None else max(1, ceil(share * n_rows))
    return WantedRules(threshold, least, LONGEST_RULE if longest is None else longest)


def losses(
    before: Transactions,
    parts: Mapping[str, Any],
    *,
    hierarchy: Hierarchy | None,
    queries: Any,
    group_by: int | None,
    number: int | None,
    seed: int,
    estimator: str | None,
    itemsets: int | None,
    itemset_length: int | None,
    private: Sequence[str],
    rules: WantedRules | None,
    progress: Progress,
    top: int = 0,
) -> tuple[dict[str, Any], Case]:
    """Measure what a release lost; `parts` is what `Release.measurable` tells of it."""
    case = Case(
        before, **parts, hierarchy=hierarchy, queries=queries, group_by=group_by or 4,
        random_queries=number or 1000, seed=seed, progress=progress, estimator=estimator or "entropy",
        top=top,
    )  # fmt: skip
    utility = measured(case)
    if itemsets is not None:
        utility["itemsets"] = surviving_itemsets(
            before, case.published, itemsets, max_length=itemset_length, private=private, progress=progress
        )
    if rules is not None:
        readings, read_as = _readings(case, seed, progress)
        utility["rules"] = {"read": read_as, **rules_in(before, readings, rules, progress)}
    return utility, case


def _readings(case: Case, seed: int, progress: Progress) -> tuple[Iterator[Transactions], str]:
    """Take the rows in which a reader looks for rules: draws where there can be any, else those published."""
    if case.groups is not None or case.chunks is not None:
        source = DrawSource.of(case.groups if case.chunks is None else case.chunks)
    elif case.counts is not None and (case.published.n_items or case.counts.items):
        sums = sums_of_parts(case.published, case.recoding, case.counts)
        source = DrawSource.of(
            Shared(case.published, sums.members, sums.counts, sums.about, Layout("basket"))
        )
    else:
        return iter([case.published]), "release"
    return draws_of(source, READINGS, source.terms(seed, 10), progress), "draws"


def rules_in(
    before: Transactions, readings: Iterable[Transactions], rules: WantedRules, progress: Progress
) -> dict[str, Any]:
    """Look for the original's rules in the rows that a reader has."""
    return rules_found(
        before, readings, rules.threshold, rules.confidence, longest=rules.longest, progress=progress
    )


def _parts(release: object, recoding: Any, before: Transactions, tree: Hierarchy | None) -> dict[str, Any]:
    """Take rows and their meaning from a release (see `setveil.releases.published.Release.measurable`)."""
    made = release_of(release)
    if made is not None:
        return made.measurable()
    if recoding is not None:
        if not isinstance(recoding, Recoding | LocalRecoding | Grouping):
            raise RequestError(
                f"The recoding must be that of a release, got {described(recoding)}.",
                hint="Such as release.recoding; sv.measure(original, release) needs none.",
            )
        measured_as: dict[str, Any] = recoding.measurable(rows_of(release, "The release"))
        return measured_as
    if isinstance(release, Exposed) and release.kind != Transactions.kind:
        raise needs_its_files(release)
    path = fspath(release) if is_path(release) else "-"
    kind = kind_at(path) if is_path(release) else single_rows
    parts: dict[str, Any] = kind.measurable(path, exposed_by(release, kind), before, tree)
    return parts


def require_same_form(original: Transactions, release: KindInfo) -> None:
    """Refuse a table whose release is not one of a table, and the reverse: the columns would be omitted."""
    if original.is_table == release.shown.is_table:
        return
    if not original.is_table:
        raise DataError(
            "The release is a table, and the original was read as rows of items.",
            hint=faces(
                "Read the original with the same roles: --qi, --set.",
                "Read the original with the same roles: setveil.read_table.",
            ),
        )
    raise DataError(
        "The original is a table, and the release is one of rows of items.",
        hint="Read the original as rows, without its columns, or name the release of the table.",
    )


def _of_draws(
    before: Transactions,
    release: Any,
    queries: Any,
    numbers: Any,
    rules: WantedRules | None,
    seed: int,
    progress: Progress,
) -> dict[str, Any]:
    """Measure rows that were drawn from a release."""
    draws = list(
        release.rows if isinstance(release, Reconstruction) else read_draws(Path(release), published_rows)
    )
    if queries is None and numbers["query_support"] is None:
        queries = usual_number(before, numbers["query_size"])
    query_list, _ = _queries(queries, before, numbers, seed, progress, drawn=True)
    threshold, longest = numbers["itemsets"], numbers["itemset_length"] or LONGEST
    found = pooled_errors(before, draws, query_list, threshold=threshold, longest=longest, progress=progress)
    if rules is not None:
        found["rules"] = {"read": "draws", **rules_in(before, draws, rules, progress)}
    return found


def _queries(
    queries: Any, data: Transactions, numbers: Any, seed: int, progress: Progress, *, drawn: bool
) -> tuple[Any, int | None]:
    """Read, draw or take the queries; of rows in groups the measure draws this many itself."""
    number = None
    if queries is not None and not isinstance(queries, str | PathLike | Sequence):
        number = integer("queries", queries, 1)
    if not drawn:
        if queries is not None and number is None:
            raise RequestError("Of rows in groups, queries must be a number of group-by queries.")
        return (), number
    if isinstance(queries, Sequence) and not isinstance(queries, str):
        return [listed_labels("A query", query) for query in queries], None
    path = path_of("queries", queries) if is_path(queries) else None
    return _loaded(data, path, number, numbers, seed, progress), number


def _loaded(
    data: Transactions, path: Path | None, number: int | None, numbers: Any, seed: int, progress: Progress
) -> Any:
    size, support = numbers["query_size"] or 2, numbers["query_support"]
    return load_queries(
        data, path, "utf-8", number=number, size=size, support=support, seed=seed, progress=progress
    )
