"""What a run's report tells: the record, and in it labels, branches, answers, risk."""

from __future__ import annotations

import math
import platform
from collections.abc import Collection, Mapping
from dataclasses import asdict, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from setveil.base.progress import Progress
from setveil.base.values.numbers import as_json
from setveil.base.version import __version__, packages
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.attacker.knowledge import knowledge_of
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.utility import Case
from setveil.judges.utility.are import by_name, counts_estimator, reader_errors
from setveil.judges.utility.estimates import Estimator
from setveil.judges.utility.estimators import estimator_of
from setveil.judges.utility.greatest import found_again
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.judges.utility.ncp import ncp
from setveil.judges.utility.queries import random_queries
from setveil.judges.utility.supports import item_estimates
from setveil.judges.utility.table_answers import table_errors
from setveil.methods import algorithms as registry
from setveil.releases.published import Outcome, Release
from setveil.releases.published.recoding import AnyRecoding
from setveil.report.record import VERSION, Record
from setveil.rows.data.layout import Origin
from setveil.rows.data.sums import Original, Sums
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.runs.memory import peak_memory_mb

QUERIES, QUERY_SIZE = 1000, 2
TOP = 100  # most frequent pairs
FREQUENT_SHARE, ITEMSET_LENGTH = Fraction(1, 100), 3
SIZES = (1, 2, 3)  # how many items of a person an attacker knows
EFFORT = 100_000_000  # of the risk before, and of that after: a second or two on large data
_MOST_ITEMS = 20
_FIRST_MEMBERS = 5


def recorded(
    data: Original,
    hierarchy: Hierarchy | None,
    release: Outcome,
    verdict: Verdict,
    found: Mapping[str, Any],
    timing: dict[str, float],
    *,
    algorithm: Mapping[str, Any],
    guarantee: Guarantee,
    seed: int,
) -> Record:
    """Put together the record of a run, as it is in report.json (see docs/record.md).

    `found`: `utility`, and if measured `answers`, `risk`, `optimality`. `estimator`: that of a reader of the
    counts, None without counts. `timing`: seconds of each phase. `algorithm`: `name`, `info` and `settings`.
    """
    details = release.details
    record: dict[str, Any] = {
        "version": VERSION,
        "setveil": __version__,
        "versions": {**packages(), "python": platform.python_version()},
        "seed": seed,
        "input": _of_input(data),
        "hierarchy": _of_hierarchy(hierarchy) if hierarchy else None,
        "algorithm": _of_algorithm(algorithm, details),
        "guarantee": _of_guarantee(guarantee, verdict, data.origin),
        "utility": found["utility"],
        **{key: found[key] for key in ("answers", "optimality") if found.get(key)},
        **({"certificate": details["certificate"].summary()} if "certificate" in details else {}),
        **{key: details[key] for key in ("frontier", "facts") if key in details},
        "suppressed": details.get("suppressed", []),
        "recoding": release.recoding.kind,
        **release.recorded(data),
        **_described(data, release, hierarchy, found["estimator"]),
        **({} if release.counts is None else {"counts": release.counts.recorded(data, release.published)}),
        **{key: found[key] for key in ("watched", "risk") if found.get(key)},
        "timing": timing,
        "peak_memory_mb": peak_memory_mb(),
    }
    return cast("Record", record)


def _of_input(data: Original) -> dict[str, Any]:
    """Say what was read: the file, and the numbers of its rows and items."""
    origin = data.origin
    return {
        "path": origin.path if origin else None,
        "sha256": origin.sha256 if origin else None,
        "format": origin.layout.format if origin else None,
        "read": origin.as_dict() if origin else None,
        "rows": data.n_rows,
        "empty_rows": data.n_rows - data.filled_rows,
        "items": data.n_items,
        "occurrences": data.n_occurrences,
    }


def _of_algorithm(algorithm: Mapping[str, Any], details: Mapping[str, Any]) -> dict[str, Any]:
    """Name the algorithm and its parameters, with details that are recorded nowhere else."""
    elsewhere = {
        "optimality", "certificate", "suppressed", "timing", "frontier", "classes", "split", "facts",
    }  # fmt: skip
    return {
        "name": algorithm["name"],
        "title": algorithm["info"].title,
        "parameters": _plain(asdict(algorithm["settings"])),
        "reference": algorithm["info"].reference,
        **_origin(algorithm),
        **{key: value for key, value in details.items() if key not in elsewhere},
    }


def _of_guarantee(guarantee: Guarantee, verdict: Verdict, origin: Origin | None) -> dict[str, Any]:
    """Say what was guaranteed, and what the verifier found."""
    return {
        **guarantee.as_dict(),
        "phrase": guarantee.phrase,
        **({"rows_are": origin.unit} if origin and origin.unit != "person" else {}),
        "holds": verdict.holds,
        "violations": verdict.violations,
        **verdict.found(),
    }


def _origin(algorithm: Mapping[str, Any]) -> dict[str, Any]:
    """Say whose algorithm it is, with what later commands must know of it; nothing where it is setveil's."""
    whose = registry.origin(algorithm["name"])
    return {"origin": {**whose, "minimizes": algorithm["info"].minimizes}} if whose else {}


def _of_hierarchy(tree: Hierarchy) -> dict[str, Any]:
    origin = tree.origin or HierarchyOrigin("given")
    return {
        "source": origin.source,
        "path": origin.path,
        "sha256": origin.sha256,
        "leaves": tree.n_leaves,
        "height": tree.height,
        **({} if origin.encoding == "utf-8" else {"encoding": origin.encoding}),
        **({"notes": list(origin.notes)} if origin.notes else {}),
        **({"renamed": dict(origin.names)} if origin.names else {}),
    }


def _plain(value: Any) -> Any:
    """Turn a parameter into JSON types."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if value == math.inf:
        return "inf"
    if isinstance(value, Fraction):
        return value.numerator if value.denominator == 1 else as_json(value)
    return value


def answers(data: Transactions, release: Release, case: Case, progress: Progress) -> dict[str, Any]:
    """Measure what the release still answers: `are` of random COUNT queries, `pairs`, and `itemsets` kept.

    The queries ask for pairs, or single items if no row has two; they depend on the data alone, so that
    releases can be compared. Nothing is measured if no label represents items (they are published unchanged
    or counted), or if there is no query.
    """
    recoding, chunked, noisy = release.labelled, case.chunks is not None, case.blocks is not None
    found: dict[str, Any] = {}
    if case.table is not None and data.n_rows:
        found = {"table_are": table_errors(case, QUERIES)}
    if (recoding is None and not chunked and not noisy) or not data.n_occurrences:
        return found
    size = min(QUERY_SIZE, int(data.row_lengths().max()))
    queries = random_queries(data, QUERIES, size, progress=progress)
    case = replace(case, queries=queries)
    found = {"are": {**reader_errors(case), "size": size}, **found}
    if size == QUERY_SIZE and not noisy:  # in noisy counts nobody searches for pairs
        if chunked:
            estimator = case.once(by_name)
        else:
            estimator = case.once(counts_estimator) or estimator_of(release.published, recoding, None)
        found["pairs"] = found_again(data, estimator, TOP, progress)
    if (
        recoding is not None and recoding.uniform
    ):  # else an item may be published as itself in some of its rows only
        found["itemsets"] = surviving_itemsets(
            data,
            release.published,
            frequent_support(data.n_rows),
            max_length=ITEMSET_LENGTH,
            progress=progress,
        )
    return found


def frequent_support(n_rows: int, share: Fraction = FREQUENT_SHARE) -> int:
    """Least support, in rows, of an itemset that counts as frequent: a share of the rows, at least two."""
    return max(2, math.ceil(share * n_rows))


def risks(
    data: Transactions, release: Release, guarantee: Guarantee, watched: Collection[str], progress: Progress
) -> dict[str, Any]:
    """Count the rows that few known items single out, `before` and `after` (see `attack_risk`).

    Also inference of the guarantee's secrets, which nobody knows beforehand, or of `watched` items, which may
    be known if rows are counted.
    """
    sizes = SIZES if data.column_names is None else (0, *SIZES)  # of a table also the columns alone

    def look(rows: Any) -> dict[str, Any]:
        found = attack_risk(rows, sizes=sizes, private=guarantee.secrets, effort=EFFORT, progress=progress)
        if watched:
            from setveil.judges.attacker.inference import inferences

            found["inference"] = inferences(knowledge_of(rows, watched), sizes, 0, EFFORT, progress)
        return found

    exposed = release.exposed().marked((*guarantee.secrets, *watched))
    return {"before": look(data), "after": look(exposed)}


def _described(
    data: Sums, release: Outcome, hierarchy: Hierarchy | None, estimator: Estimator | None
) -> dict[str, Any]:
    """List the labels that represent others, the loss in each branch, and what became of common items."""
    recoding = release.labelled
    if recoding is None:
        return {"labels": [], "branches": []}
    return {
        "labels": _generalized_labels(release, recoding),
        "branches": _branches(data, hierarchy, recoding) if hierarchy else [],
        "frequencies": _frequencies(data, release, recoding, estimator),
        **({"several_labels": _several_labels(data, recoding)} if not recoding.uniform else {}),
    }


def _generalized_labels(release: Outcome, recoding: AnyRecoding) -> list[dict[str, Any]]:
    members = recoding.members()
    own = set(recoding.items.labels)
    sizes, others = release.label_sizes(), release.with_others(members)
    used = sorted(
        zip(release.published.vocabulary.labels, release.published.supports().tolist(), strict=True),
        key=lambda entry: -entry[1],
    )
    return [
        {
            "label": label,
            "items": sizes[label],  # with facts that do not occur: which do is told by no published file
            "first": members[label][:_FIRST_MEMBERS],
            "rows": rows,
            **({"others": others[label]} if label in others else {}),
        }
        for label, rows in used
        if label not in own
    ]


def _several_labels(data: Sums, recoding: AnyRecoding) -> int:
    """Count the items that are published under more than one label."""
    item, label, _ = recoding.tally(data)
    return int((np.bincount(item[label >= 0]) > 1).sum())


def _branches(data: Sums, tree: Hierarchy, recoding: AnyRecoding) -> list[dict[str, Any]]:
    """Occurrences, NCP and what was suppressed under each child of the root; other items are in no branch."""
    occurrences = data.supports()
    place = {tree.labels[leaf]: at for at, leaf in enumerate(tree.leaf_order.tolist())}
    position = np.array([place.get(label, -1) for label in data.vocabulary.labels], np.int64)
    item, label, rows = recoding.tally(data)
    hidden = np.zeros(data.n_items, np.int64)
    hidden[item[label < 0]] = rows[label < 0]
    out = []
    for child in tree.children(tree.root):
        inside = (position >= tree.low[child]) & (position < tree.high[child])
        out.append(
            {
                "label": tree.labels[child],
                "items": int(tree.high[child] - tree.low[child]),
                "occurrences": int(occurrences[inside].sum()),
                "ncp": ncp(data, recoding, inside),
                "left_out": int(hidden[inside].sum()),
            }
        )
    return out


def _frequencies(
    data: Sums, release: Outcome, recoding: AnyRecoding, estimator: Estimator | None
) -> list[dict[str, Any]]:
    """Say what the most frequent items became, and in how many rows a reader expects them."""
    supports = data.supports()
    common = np.argsort(-supports, kind="stable")[:_MOST_ITEMS]
    if estimator is None:
        estimates = item_estimates(data, release.published, recoding)
    else:
        estimates = estimator.of_items(data.vocabulary.labels)
    members = recoding.member_counts
    items, labels, _ = recoding.tally(data)
    out = []
    for item in common[supports[common] > 0].tolist():
        used = labels[(items == item) & (labels >= 0)]
        out.append(
            {
                "item": data.vocabulary.labels[item],
                "published": _named(recoding, used.tolist()),
                "items": int(members[used[0]]) if used.size == 1 else None,
                "rows": int(supports[item]),
                "estimate": float(estimates[item]),
            }
        )
    return out


def _named(recoding: AnyRecoding, used: list[int]) -> str | None:
    """Name what an item is published as; a local recoding may have several labels for it."""
    if len(used) > 1:
        return f"{len(used):,} labels"
    return recoding.published.labels[used[0]] if used else None
