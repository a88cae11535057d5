"""The command ``compare``."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

from setveil.cli.options import GENERAL, OUTPUT, READING, Jobs, Json, argument, flag, option
from setveil.cli.session import answer, answer_json, run, say

EXAMPLES = """Examples:

$ setveil compare study.toml --out study --dry-run

$ setveil compare study.toml --out study --jobs 2"""


def compare(
    study: Path = argument("STUDY", "Study file (TOML): data, algorithms, parameters."),
    out: Path = option(
        OUTPUT, "Folder of the study: new, or of an earlier call, which it completes.", "FOLDER", "-o",
        default=...,
    ),
    data: Path | None = option(
        READING, "Where relative paths in STUDY start; by default its folder.", "FOLDER"
    ),
    jobs: Jobs = None,
    retry: bool = flag(GENERAL, "Repeat runs that failed or ran out of time or memory."),
    dry_run: bool = flag(GENERAL, "List the runs, and do nothing."),
    external: bool = flag(OUTPUT, "Write the report without what must stay inside."),
    json: Json = False,
) -> None:  # fmt: skip
    """Run algorithms over data and parameters, and write a table, figures and a report.

    Each run is a process of its own. Runs that the folder holds already are not done again.
    """
    command = _command(study, out, data, jobs, external=external)

    def do_study(progress: Any) -> Any:
        from setveil.studies.compare.results import compare as run_study
        from setveil.studies.compare.results import read_rows, require_readable, require_study_folder
        from setveil.studies.compare.study import read_study

        progress("reading")
        asked = read_study(study, data)
        if dry_run:
            require_study_folder(out)
            require_readable(asked, out, progress)
            return asked, read_rows(asked, out)
        return asked, run_study(
            asked, out, jobs=jobs, retry=retry, external=external, command=command, progress=progress
        )

    asked, rows = run(do_study)
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["status"]] = counts.get(row["status"], 0) + 1
    if len(rows) < len(asked.runs):
        counts["missing"] = len(asked.runs) - len(rows)
    if dry_run:
        _list(asked, rows, counts, json=json)
        return
    said = ", ".join(f"{number:,} {status}" for status, number in counts.items())
    if json:
        answer_json(
            {
                "runs": len(rows),
                "status": counts,
                "results": str(out / "results.csv"),
                "report": str(out / "report.html"),
            }
        )
        return
    say(f"{len(rows):,} runs: {said}.")
    answer(f"Table      {out / 'results.csv'}\nReport     {out / 'report.html'}")


def _command(study: Path, out: Path, data: Path | None, jobs: int | None, *, external: bool) -> str:
    """Write the command that makes the same study again."""
    words = ["setveil", "compare", str(study), "--out", str(out)]
    words += ["--data", str(data)] if data is not None else []
    words += ["--jobs", str(jobs)] if jobs is not None else []
    words += ["--external"] if external else []
    return shlex.join(words)


def _list(asked: Any, rows: list[dict[str, Any]], counts: dict[str, int], *, json: bool) -> None:
    """List the runs of a study and which of them have ended."""
    status = {row["run"]: row["status"] for row in rows}
    if json:
        runs = [
            {
                "run": one.id,
                "data": one.data.name,
                "algorithm": one.algorithm,
                **one.shown(),
                "seed": one.seed,
            }
            | {"status": status.get(one.id, "missing")}
            for one in asked.runs
        ]
        answer_json({"runs": runs, "status": counts})
        return
    for one in asked.runs:
        promise = " ".join(f"{name}={value}" for name, value in one.shown().items() if name in one.promise)
        state = status.get(one.id, "missing")
        answer(f"{one.id}  {state:<10}  {one.data.name}  {one.method}  {promise}  seed={one.seed}")
    told = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    answer(f"{len(asked.runs):,} runs: {told}.")
