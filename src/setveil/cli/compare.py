"""The command ``compare``."""

from __future__ import annotations

import shlex
from collections import Counter
from pathlib import Path
from typing import Any

import click

from setveil.base.values.declared import as_words
from setveil.cli.config import is_typed
from setveil.cli.help import GENERAL, OUTPUT, READING
from setveil.cli.options import Jobs, argument, flag, option
from setveil.cli.session import Answer, answer, say


def compare(
    progress: Any,
    context: click.Context,
    study: Path = argument("STUDY", "Read the study from this file (TOML)."),
    out: Path = option(
        OUTPUT, "Write to this folder, or complete the study in it.", "FOLDER", "-o",
        default=...,
    ),
    data: Path | None = option(
        READING, "Resolve relative paths here (default: folder of STUDY).", "FOLDER"
    ),
    jobs: Jobs = None,
    retry: bool = flag(GENERAL, "Repeat runs that failed."),
    dry_run: bool = flag(GENERAL, "List the runs without running them."),
    external: bool = flag(OUTPUT, "Write a report that may be shared."),
    latex: bool = flag(OUTPUT, "Write LaTeX tables, PDF and SVG figures (setveil[paper])."),
) -> Answer:  # fmt: skip
    """Compare algorithms over data and parameters, with figures.

    Each run is a separate process. Runs that the folder already contains are not repeated.

    $ setveil compare study.toml --out study --dry-run
    $ setveil compare study.toml --out study --jobs 2
    """
    from setveil.work.studies.compare.results import compare as run_study
    from setveil.work.studies.compare.results import read_rows, require_readable, require_study_folder
    from setveil.work.studies.compare.study import read_study

    command = _command(study, out, data, jobs, external=external, latex=latex)
    progress("reading")
    plan = read_study(study, data, trusted=is_typed(context, "study"))
    if dry_run:
        require_study_folder(out)
        require_readable(plan, out, progress)
        rows = read_rows(plan, out)
    else:
        rows = run_study(
            plan, out, jobs=jobs, retry=retry, external=external, latex=latex, command=command,
            progress=progress,
        )  # fmt: skip
    counts = Counter(row["status"] for row in rows)
    if len(rows) < len(plan.runs):
        counts["missing"] = len(plan.runs) - len(rows)
    if dry_run:
        return _listed(plan, {row["run"]: row["status"] for row in rows}, counts)
    table, report = out / "results.csv", out / "report.html"

    def tell() -> None:
        say(f"{len(rows):,} runs: {_in_words(counts)}.")
        answer(f"Table      {table}\nReport     {report}")
        if latex:
            answer(f"Paper      {out / 'paper'}")

    found = {"runs": len(rows), "status": counts, "results": str(table), "report": str(report)}
    return Answer(found, tell)


def _command(study: Path, out: Path, data: Path | None, jobs: int | None, **flags: bool) -> str:
    """Write the command that makes the same study again."""
    options: dict[str, Any] = {"out": out, "data": data, "jobs": jobs}
    options |= {name: True for name, wanted in flags.items() if wanted}
    return shlex.join(["setveil", "compare", str(study), *as_words(options)])


def _in_words(counts: Counter[str]) -> str:
    return ", ".join(f"{number:,} {status}" for status, number in counts.items())


def _listed(plan: Any, status: dict[str, str], counts: Counter[str]) -> Answer:
    """List the runs of a study and which of them have ended."""

    def state(one: Any) -> str:
        return status.get(one.id, "missing")

    def tell() -> None:
        for one in plan.runs:
            named = " ".join(f"{name}={value}" for name, value in one.shown().items() if name in one.promise)
            answer(f"{one.id}  {state(one):<10}  {one.data.name}  {one.method}  {named}  seed={one.seed}")
        answer(f"{len(plan.runs):,} runs: {_in_words(counts)}.")

    runs = [
        {"run": one.id, "data": one.data.name, "algorithm": one.algorithm, **one.shown(), "seed": one.seed}
        | {"status": state(one)}
        for one in plan.runs
    ]
    return Answer({"runs": runs, "status": counts}, tell)
