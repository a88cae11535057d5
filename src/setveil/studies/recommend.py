"""Which release loses least for a use: run what applies to the promise, within a time budget, and rank it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from setveil import algorithms
from setveil.errors import InfeasibleError, RequestError
from setveil.progress import Progress, silent
from setveil.studies.plan import DataSet, plan_run
from setveil.studies.results import Row, table
from setveil.studies.settings import Value
from setveil.studies.sweep import run_all

TIME_BUDGET = 120.0
GREATEST_PROBABILITY = "0.5"  # h where private items are named and no h


@dataclass(frozen=True)
class Candidate:
    """A way to keep the promise.

    Attributes
    ----------
    algorithm : str
    options : mapping
        Its parameters and those of its model, as in a study.
    keeps : str
        What it promises, in a few words.
    as_asked : bool
        Whether that is the promise asked for (or a stronger one); others are shown, but not recommended.
    """

    algorithm: str
    options: Mapping[str, Value]
    keeps: str
    as_asked: bool = True


@dataclass(frozen=True)
class Advice:
    """What was run, best first.

    Attributes
    ----------
    by : str
        What was compared: `lm`, or `are_mean`, the mean relative error of the queries asked.
    rows : list of dict
        One for each candidate: `algorithm`, `options`, `keeps`, `as_asked`, `loss` (None: there is no
        release, see `status` and `error`), and the columns of a study's table. `rank` counts from 1.
    """

    by: str
    rows: list[Row] = field(default_factory=list)

    @property
    def best(self) -> Row | None:
        """The candidate to recommend; None if none keeps the promise in the time given."""
        return next((row for row in self.rows if row["rank"] == 1), None)

    @property
    def needs_hierarchy(self) -> bool:
        """Whether the algorithm to recommend cannot do without a hierarchy."""
        best = self.best
        return best is not None and "hierarchy" in algorithms.load(best["algorithm"]).info.needs


def candidates(k: int, m: int | str, private: Value | None = None, h: str | None = None) -> list[Candidate]:
    """List what can keep a promise.

    Parameters
    ----------
    k, m : int, int or "inf"
        At least k rows fit what an attacker knows, up to m items.
    private : str or Reference, optional
        Items that nobody may learn of a person with a probability above h.
    h : str, optional
        By default 0.5.

    Notes
    -----
    Without private items: k^m-anonymity by generalization, with and without suppression; the same as
    constraints on all itemsets of m items; by suppression alone, that is coherence without private items; and
    k-anonymity of whole rows, which is more than asked. With private items, only coherence promises both. The
    groups of CAHD hide private items but leave everyone to be found by the others, so they are listed as a
    weaker promise.
    """
    promise: dict[str, Value] = {"k": k, "m": m}
    coherence: dict[str, Value] = {"k": k, "p": m, "h": h or GREATEST_PROBABILITY}
    if private is not None:
        coherence["private"] = private
        degree = math.ceil(1 / Fraction(coherence["h"]))  # type: ignore[arg-type]
        both = f"coherence (h={coherence['h']}, k={k}, p={m})"
        return [
            Candidate("border", coherence, both),
            Candidate("mm", coherence, both),
            Candidate(
                "cahd",
                {"p": degree, "sensitive": private},
                f"private items in one row of {degree} in a group; people can be found",
                as_asked=False,
            ),
        ]
    km = f"k^m-anonymity (k={k}, m={m})"
    found = [
        Candidate("exact", promise, km),
        Candidate("exact", {**promise, "suppress": False}, km),
        Candidate("mhghs", promise, km),
        Candidate("aa", promise, km),
        Candidate("lg", {"k": k}, f"k-anonymity of whole rows (k={k}, more than asked)"),
        Candidate("border", coherence, km),
        Candidate("mm", coherence, km),
    ]
    if m != "inf":
        found.insert(4, Candidate("coat", {**promise, "privacy": "all"}, km))
    return found


def recommend(
    data: DataSet,
    candidates: Sequence[Candidate],
    folder: Path,
    *,
    leaves: int | None,
    known: int = 3,
    queries_file: Value | None = None,
    time_budget: float = TIME_BUDGET,
    jobs: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """Run all candidates and rank what came out.

    Parameters
    ----------
    data : DataSet
        The rows and their hierarchy.
    candidates : sequence of Candidate
        What applies.
    folder : Path
        For the records of the runs.
    leaves : int, optional
        Number of items that exist, where a hierarchy tells.
    known : int
        Shown beside the loss: how many rows the best choice of so many items singles out.
    queries_file : Reference, optional
        COUNT queries that the release is for: the mean relative error of their answers decides, instead of
        LM.
    time_budget : float
        Seconds for all runs together.
    jobs, seed, progress
        As for `setveil.studies.sweep.run_all`.

    Raises
    ------
    InfeasibleError
        If nothing can keep the promise.
    """
    measuring: dict[str, Value] = {"risk_m": known}
    if queries_file is not None:
        measuring["queries_file"] = queries_file
    runs = [
        plan_run(data, one.algorithm, one.options, measuring=measuring, seed=seed, time_limit=time_budget)
        for one in candidates
    ]
    records = run_all(runs, folder, jobs=jobs, budget=time_budget, progress=progress)
    by_run = {row["run"]: row for row in table(runs, records)}
    by = "lm" if queries_file is None else "are_mean"
    rows = [
        {
            "status": "timeout",
            "error": f"Not finished within {time_budget:g} s.",
            **by_run.get(run.id, {}),
            "method": run.method,
            "algorithm": one.algorithm,
            "options": {name: str(value) for name, value in one.options.items()},
            "keeps": one.keeps,
            "as_asked": one.as_asked,
        }
        for run, one in zip(runs, candidates, strict=True)
    ]
    for row in rows:
        row["loss"] = _loss(row, by, leaves) if row["status"] == "done" else None
    # Of equals that of less LM; the candidates' own order decides last.
    rows.sort(key=lambda r: (r["loss"] is None, not r["as_asked"], r["loss"] or 0.0, r.get("lm") or 0.0))
    ranked = [row for row in rows if row["as_asked"] and row["loss"] is not None]
    for row in rows:
        row["rank"] = None
    for rank, row in enumerate(ranked, 1):
        row["rank"] = rank
    _require_one(rows)
    return Advice(by, rows)


def _loss(row: Row, by: str, leaves: int | None) -> float | None:
    """Loss to compare by.

    LM divides by the number of items that exist, which only a hierarchy tells. Groups of items without one
    count over the items of the data, so theirs is brought to the same number; suppression always costs 1.
    """
    value = row.get(by)
    if value is None or by != "lm" or leaves is None or row["model"] != "constraints" or leaves < 2:
        return None if value is None else float(value)
    gone = row["suppressed_occurrences"] / max(row["occurrences"], 1)
    return float(gone + (value - gone) * (row["items"] - 1) / (leaves - 1))


def _require_one(rows: Sequence[Row]) -> None:
    """Refuse a promise that nothing can keep, with the reason that the first candidate was given."""
    reasons = [row for row in rows if row["status"] in {"infeasible", "refused"}]
    if rows and len(reasons) == len(rows):
        kind = InfeasibleError if all(row["status"] == "infeasible" for row in rows) else RequestError
        raise kind(reasons[0]["error"])
