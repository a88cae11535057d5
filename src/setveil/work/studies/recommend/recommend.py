"""Runs the methods that suit a guarantee, within a time budget, and ranks their releases for a use."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import Any, cast

from setveil.base.deadline import Deadline
from setveil.base.errors import InfeasibleError, RequestError
from setveil.base.progress import Progress, silent
from setveil.base.values.declared import as_words
from setveil.base.values.kinds import Reference, Value
from setveil.base.version import __version__
from setveil.judges.guarantees.km import KmAnonymity
from setveil.methods import algorithms
from setveil.report.recommend.kinds import Recommended
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.studies.compare.plan import DataSet, Run, plan_run
from setveil.work.studies.compare.results import Row, table
from setveil.work.studies.compare.sweep import run_all
from setveil.work.studies.machine import machine
from setveil.work.studies.recommend.candidates import Candidate
from setveil.work.studies.regroup import regroup

TIME_BUDGET = 120.0
_REGROUPING = 30.0  # seconds at most for a search of other groups
_TRIES = 5  # runs of `exact` for which there must be time before one begins
_HEIGHT = 3  # least height of a hierarchy with groups below those under the root
ERRORS = ("are_mean", "table_are_mean")  # of random queries: for items; of a table, for columns and items

# When another release is worth a word (see `Advice.safer` and docs/algorithms.md).
WEIGHED = 0.01  # least share of unique rows that matters
LITTLE_MORE = 0.05  # of LM
LITTLE_WORSE = 0.1  # of the error of queries, relative


@dataclass(frozen=True)
class Advice:
    """What was run, best first."""

    # what was compared: `lm`; of a table `f`, share * R + (1 - share) * T; or `are_mean`, the mean relative
    # error of the queries asked
    by: str
    known: int  # items that the attacker knows by whom unique rows are counted
    # One for each candidate: `name`, `algorithm`, `options`, `keeps`, `as_asked`, `any_items`, `loss` (None:
    # there is no release, see `status` and `error`, or `by` does not measure it), and the columns of a
    # study's table. `rank` counts from 1; it is None for those that are not to be recommended.
    rows: list[Row] = field(default_factory=list)
    along: bool = False  # whether there was a hierarchy, which says what may be merged
    share: Fraction | None = None  # of a table, the share of the quasi-identifiers in f
    model: str = ""  # the model that was asked for, where it bounds what is learned of sensitive items
    regrouping: dict[str, Any] | None = None  # other groups under which a release loses half as much, or less

    @property
    def best(self) -> Row | None:
        """The candidate to recommend; None if none satisfies the guarantee in the time given."""
        return next((row for row in self.rows if row["rank"] == 1), None)

    @property
    def answering(self) -> Row | None:
        """The candidate that answers random queries best, where a loss decides and this is another one."""
        key = ERRORS[self.share is not None]
        ranked = [row for row in self.rows if row["rank"] is not None and row.get(key) is not None]
        if self.by == "are_mean" or not ranked:
            return None
        found = min(ranked, key=lambda row: (row[key], row["rank"]))
        return None if found is self.best else found

    @property
    def one_label(self) -> Row | None:
        """The best candidate that gives each item one label, where the best one of all is in classes."""
        if self.best is None or _recoding(self.best) != "classes":
            return None
        return next((row for row in self.rows if row["rank"] and _recoding(row) == "global"), None)

    @property
    def safer(self) -> Row | None:
        """A candidate that loses little more than the best one and leaves clearly fewer unique rows.

        The best one must leave at least 1% of the rows unique, the other one at most two thirds as many, at
        a loss that is at most 0.05 greater (LM, or f), or a tenth greater (errors of queries). Of several,
        the one that leaves fewest; of these the one that loses least.
        """
        best = self.best
        if best is None or unique_share(best) < WEIGHED:
            return None
        most = best["loss"] * (1 + LITTLE_WORSE) if self.by == "are_mean" else best["loss"] + LITTLE_MORE
        found = [
            row
            for row in self.rows
            if row["rank"] is not None
            and row["loss"] <= most
            and 3 * unique_share(row) <= 2 * unique_share(best)
        ]
        return min(found, key=lambda row: (unique_share(row), row["rank"]), default=None)


def _recoding(row: Row) -> str:
    """Name the kind of recoding that the algorithm of a candidate makes."""
    return str(algorithms.load(row["algorithm"]).info.recoding)


def unique_share(row: Row) -> float:
    """Share of the rows that no other row matches in the best items of each."""
    return int(row.get("risk_below_2") or 0) / max(int(row["rows"]), 1)


def recommend(
    data: DataSet,
    candidates: Sequence[Candidate],
    folder: Path,
    *,
    leaves: int | None,
    known: int = 3,
    queries_file: Value | None = None,
    share: Fraction | None = None,
    model: str = "",
    time_budget: float = TIME_BUDGET,
    left: float | None = None,
    jobs: int | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> Advice:
    """Run all candidates and rank their releases.

    With a hierarchy in `data`, no release that merges items regardless of meaning is recommended. `leaves`:
    number of items that exist, if a hierarchy reveals it. `known`: next to the loss, how many rows the best
    choice of this many items singles out. `queries_file`: COUNT queries whose mean relative error decides
    instead of LM. `share`: for a table, of the quasi-identifiers in the loss f. `model`: the one requested,
    if it bounds what is learned. `time_budget`: seconds for everything; `left`: what remains of them.
    `folder`, `jobs`, `seed`: as for `setveil.work.studies.compare.sweep.run_all`.
    """
    measuring: dict[str, Value] = {"risk_m": known}
    if queries_file is not None:
        measuring["queries_file"] = queries_file
    runs = [
        plan_run(
            data,
            one.algorithm,
            one.options,
            model=one.model or None,
            measuring=measuring,
            seed=seed,
            time_limit=time_budget,
        )
        for one in candidates
    ]
    records = run_all(
        runs, folder, jobs=jobs, budget=time_budget if left is None else left, progress=progress
    )
    by_run = {row["run"]: row for row in table(runs, records)}
    by = "are_mean" if queries_file is not None else "lm" if share is None else "f"
    late = {"status": "timeout", "error": f"Not finished within {time_budget:g} s."}
    rows = [
        _row(run, one, {**late, **by_run.get(run.id, {})}) for run, one in zip(runs, candidates, strict=True)
    ]
    for row in rows:
        if share is not None:
            row["f"] = _weighed(row, share)
        row["loss"] = _loss(row, by, leaves) if row["status"] == "done" else None
    along = data.hierarchy is not None
    _rank(rows, along=along)
    _require_one(rows)
    return Advice(by, known, rows, along, share, model)


def _row(run: Run, candidate: Candidate, measured: Mapping[str, Any]) -> Row:
    """Put together what was measured of a run, and what the candidate is."""
    return {
        **measured,
        "method": run.method,
        "model": run.model,
        "name": candidate.name,
        "algorithm": candidate.algorithm,
        "options": {
            name: str(value.path) if isinstance(value, Reference) else value
            for name, value in candidate.options.items()
        },
        "keeps": candidate.keeps,
        "as_asked": candidate.as_asked,
        "any_items": candidate.any_items,
    }


def with_regrouping(
    advice: Advice,
    data: Transactions,
    tree: Hierarchy,
    promise: KmAnonymity,
    deadline: Deadline,
    progress: Progress = silent,
) -> Advice:
    """Try other groups below those under the root, if there is time; add them if they halve the loss."""
    exact = next((row for row in advice.rows if row["name"] == "exact" and row["status"] == "done"), None)
    best = advice.best
    if best is None or exact is None or not best["loss"]:
        return advice
    if not isinstance(promise.m, int) or tree.height < _HEIGHT:
        return advice
    left = deadline.left
    if left < _TRIES * exact["seconds"]:
        return advice
    progress("trying other groups")
    found = regroup(data, tree, 1, promise, time_limit=min(left, _REGROUPING), progress=progress)
    if 2 * found.after.loss > best["loss"]:
        return advice
    cost = {"loss": found.after.loss, "complete": found.complete}
    return replace(advice, regrouping={"within": 1, "k": promise.k, "m": promise.m, **cost})


def _rank(rows: list[Row], *, along: bool) -> None:
    """Sort rows and number those that may be recommended; `along`: only what merges along a hierarchy."""

    def apart(row: Row) -> bool:
        return not row["as_asked"] or (along and row["any_items"])

    # Of equals that of less LM, then that with fewer unique rows; the candidates' own order decides last.
    rows.sort(
        key=lambda row: (
            row["loss"] is None,
            apart(row),
            row["loss"] or 0.0,
            row.get("lm") or 0.0,
            row.get("risk_below_2") or 0,
        )
    )
    for rank, row in enumerate(rows, 1):
        row["rank"] = None if row["loss"] is None or apart(row) else rank


def record(
    advice: Advice,
    *,
    inputs: Sequence[str] | None,
    reading: Sequence[str] = (),
    hierarchy: Path | None = None,
    private: str | None = None,
    seed: int = 0,
) -> Recommended:
    """Write advice in JSON types for reports, with the command that makes each candidate's release.

    Arguments are as given: `inputs` are files (None: no command can name the rows), `reading` the words of
    options. A `command` is a line for a shell, whose folder is DIR. `hierarchy` in the result: whether one
    was given.
    """
    for row in advice.rows:
        if inputs is None:
            row["command"] = None
            continue
        words = _command_words(row, hierarchy, private)
        files = [f"./{one}" if one.startswith("-") else one for one in inputs]
        drawn = ["--seed", str(seed)] if seed else []
        row["command"] = shlex.join(
            ["setveil", "anonymize", *files, *reading, *words, *drawn, "--out", "DIR"]
        )
    regrouping = advice.regrouping
    if regrouping is not None:
        words = ["hierarchy", "build", *(inputs or ()), *reading, "--regroup", str(hierarchy)]
        words += as_words({name: regrouping[name] for name in ("within", "k", "m")})
        line = shlex.join(["setveil", *words, "--out", "regrouped.csv"])
        named = inputs is not None and hierarchy is not None
        regrouping = {**regrouping, "command": line if named else None}
    written = {
        "by": advice.by,
        "known": advice.known,
        "hierarchy": advice.along,
        **({} if advice.share is None else {"share": str(advice.share)}),
        **({"asked": advice.model} if advice.model else {}),
        "inputs": list(inputs or ()),
        "best": advice.best,
        "answering": advice.answering,
        "one_label": advice.one_label,
        "safer": advice.safer,
        **({} if regrouping is None else {"regrouping": regrouping}),
        "candidates": advice.rows,
        "made_on": machine(),
        "setveil": __version__,
    }
    return cast("Recommended", written)


def _command_words(row: Row, hierarchy: Path | None, private: str | None) -> list[str]:
    """Write the algorithm of a candidate, its hierarchy where it takes one, and its parameters."""
    parts = ["--algorithm", row["algorithm"]]
    info = algorithms.load(row["algorithm"]).info
    if hierarchy is not None and "hierarchy" in info.uses:
        parts += ["--hierarchy", str(hierarchy)]
    for name, value in row["options"].items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            parts.append(f"--{option}" if value else f"--no-{option}")
        else:
            parts += [f"--{option}", str(private) if name in {"private", "sensitive"} else str(value)]
    return parts


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


def _weighed(row: Row, share: Fraction) -> float | None:
    """Weigh what columns and items of a table lost: f."""
    columns, items = row.get("relational_loss"), row.get("transaction_loss")
    if columns is None or items is None:
        return None
    return float(share * Fraction(columns) + (1 - share) * Fraction(items))


def _require_one(rows: Sequence[Row]) -> None:
    """Refuse a guarantee that nothing can keep, with the reason that the first candidate was given."""
    wanted = [row for row in rows if row["as_asked"]]
    reasons = [row for row in wanted if row["status"] in {"infeasible", "refused"}]
    if wanted and len(reasons) == len(wanted):
        kind = InfeasibleError if all(row["status"] == "infeasible" for row in wanted) else RequestError
        raise kind(reasons[0]["error"])
