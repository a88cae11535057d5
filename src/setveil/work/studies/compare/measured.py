"""What a study measures of a run: the columns of its table."""

from __future__ import annotations

import time
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil.base.progress import silent
from setveil.judges.attacker.attack import attack_risk
from setveil.judges.guarantees import Guarantee, model_named
from setveil.judges.utility import Case, columns
from setveil.judges.utility import measured as compute
from setveil.judges.utility.are import Queries, reader_errors
from setveil.judges.utility.itemsets import surviving_itemsets
from setveil.judges.utility.supports import errors_of_items
from setveil.judges.utility.table_answers import table_errors
from setveil.releases.published.group_files import PublishedGroups
from setveil.releases.published.recoding import TABLE_LOCAL
from setveil.rows.data.transactions import Transactions
from setveil.runs.details import EFFORT, frequent_support
from setveil.runs.options.inputs import load_queries
from setveil.runs.options.models import bounds_inference
from setveil.runs.run import VerifiedRelease
from setveil.work.studies.worth import shown_occurrences

Settings = Mapping[
    str, Any
]  # the settings of the measures, see `setveil.work.studies.compare.settings.MEASURING`


def sizes(data: Transactions) -> dict[str, int]:
    """Count rows, items and occurrences of the original."""
    return {"rows": data.n_rows, "items": data.n_items, "occurrences": data.n_occurrences}


def questions(settings: Settings, data: Transactions, seed: int, encoding: str) -> Queries:
    """Read or draw the COUNT queries; none where a group-by is asked for, which is drawn from the release."""
    if "group_by" in settings:
        return ()
    if "queries_file" in settings:
        path = Path(settings["queries_file"]["path"])
        return load_queries(data, path, encoding, number=None, size=1, support=None, seed=0, progress=silent)
    if not settings.get("queries"):
        return ()
    size = min(settings["query_size"], int(data.row_lengths().max()))
    return load_queries(
        data, None, encoding, number=settings["queries"], size=size, support=settings.get("query_support"),
        seed=seed, progress=silent,
    )  # fmt: skip


def of_any_seed(
    settings: Settings, data: Transactions, release: VerifiedRelease, guarantee: Guarantee
) -> dict[str, Any]:
    """Measure what no seed decides, for `measured`: `utility`, `columns` of the table, and `seconds`."""
    start = time.perf_counter()
    utility: dict[str, Any] = {}
    if "estimator" in settings:
        utility["item_support_error"] = errors_of_items(_case(settings, data, release))
    support = settings.get("itemsets")
    if isinstance(support, str):
        support = frequent_support(data.n_rows, Fraction(support))
    if support:
        utility["itemsets"] = surviving_itemsets(
            data, release.published, support, max_length=settings["itemset_length"]
        )
    found = _learned(data, release, guarantee) | _risk_after(settings, release, guarantee)
    return {"utility": utility, "columns": found, "seconds": time.perf_counter() - start}


def measured(
    settings: Settings,
    data: Transactions,
    release: VerifiedRelease,
    once: Mapping[str, Any],
    queries: Queries,
    seed: int,
) -> dict[str, Any]:
    """Measure a verified release with the settings of the study.

    `once`: from `of_any_seed`. `queries`: from `questions`. `seed`: draws group-by queries. Returns the
    columns of the table without those of `sizes`, `risk_before` and the process.
    """
    report = release.report
    timing = report["timing"]
    start = time.perf_counter()
    utility = report["utility"] | once["utility"] | _answers(settings, data, release, queries, seed)
    seconds = timing["measure"] + once["seconds"] + time.perf_counter() - start
    # What is proven of the items of given classes says nothing of columns and items together.
    optimality = {} if report["recoding"] == TABLE_LOCAL else report.get("optimality", {})
    return {
        **{column.name: column.of(utility) for column in columns()},
        **once["columns"],
        "lower_bound": optimality.get("lower_bound"),
        "gap": optimality.get("gap"),
        "seconds_read": round(timing["read"] + timing.get("hierarchy", 0.0), 4),
        "seconds_anonymize": timing["anonymize"],
        "seconds_verify": timing["verify"],
        "seconds_measure": round(seconds, 4),
    }


def _answers(
    settings: Settings, data: Transactions, release: VerifiedRelease, queries: Queries, seed: int
) -> dict[str, Any]:
    """Measure how well the release answers queries."""
    if "group_by" in settings:
        if not settings.get("queries"):
            return {"kl": {}}
        drawn = {"group_by": settings["group_by"], "random_queries": settings["queries"], "seed": seed}
        return compute(_case(settings, data, release, **drawn))
    found: dict[str, Any] = {}
    if queries:
        case = _case(settings, data, release, queries=queries, seed=seed)
        found["are"] = reader_errors(case)
        if data.is_table:
            found["table_are"] = table_errors(case, len(queries))
    return found


def _case(settings: Settings, data: Transactions, release: VerifiedRelease, **more: Any) -> Case:
    estimator = {name: settings[name] for name in ("estimator",) if name in settings}
    return Case(data, **release.release.measurable(), **estimator, **more)


def _learned(data: Transactions, release: VerifiedRelease, guarantee: Guarantee) -> dict[str, Any]:
    """Say what is still learned of sensitive items, and how many of their occurrences no row shows."""
    model = model_named(guarantee.model)
    if model.release != "rows" or not any(option.secret for option in model.options.values()):
        return {}
    before, after = (shown_occurrences(rows, guarantee.secrets) for rows in (data, release.published))
    found: dict[str, Any] = {"sensitive_occurrences": before, "hidden_occurrences": before - after}
    if bounds_inference(model):
        most = release.verdict.found()["greatest_confidence"]
        found["greatest_confidence"] = 0.0 if most is None else most["confidence"]
    return found


def _risk_after(settings: Settings, release: VerifiedRelease, guarantee: Guarantee) -> dict[str, Any]:
    size = settings.get("risk_m")
    if not size:
        return {}
    best = _best_choice(release.release.exposed(), size, guarantee.secrets)
    return {"risk_m": size, **{f"risk_{name}": value for name, value in best.items()}}


def risk_before(settings: Settings, data: Transactions, secrets: tuple[str, ...]) -> dict[str, Any]:
    """Count the rows of the original that the best choice of known items singles out, `secrets` unknown."""
    best = _best_choice(data, settings["risk_m"], secrets)
    return {
        f"risk_before_{name.removeprefix('below_')}": value for name, value in best.items() if name != "exact"
    }


def _best_choice(rows: Transactions | PublishedGroups, size: int, secrets: tuple[str, ...]) -> dict[str, Any]:
    """Count the rows that the best choice of at most `size` known items singles out."""
    entries = attack_risk(rows, sizes=(size,), private=secrets, effort=EFFORT)["risk"]
    best = next(entry for entry in entries if entry["choice"] == "best")
    return {
        **{f"below_{threshold}": round(best["rows_below"][str(threshold)]) for threshold in (2, 5, 10)},
        "probability": best["probability"],
        "exact": best["exact"],
    }
