"""One run of a comparison in a process of its own: ``python -m setveil.studies.compare.worker``.

The first line of standard input says what to do (`Run.task`, and where to write). Standard input stays open
as long as the parent lives: its end ends the worker, so that a parent that was killed leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import Any

from setveil.errors import DataError, InfeasibleError, RequestError, UnfinishedError, on_command_line
from setveil.runs.memory import keep_to, peak_memory_mb
from setveil.staging import give_up, staged_file
from setveil.studies.machine import machine
from setveil.threads import use_threads


def main() -> None:
    """Do the task and write its record; it appears complete or not at all."""
    os.umask(0o077)
    task = json.loads(sys.stdin.buffer.readline())
    use_threads(1)  # there may be as many workers as processors, and seconds are compared
    place = Path(task["out"])
    recording = threading.Lock()  # the run ends once

    def record(status: str, error: str, measures: dict[str, Any]) -> None:
        recording.acquire()  # never released
        measures["seconds"] = round(time.monotonic() - task["started"], 4)
        measures["peak_memory_mb"] = peak_memory_mb()
        write_record(place, task["run"], task["kind"], status, error, measures)
        os._exit(0)  # no thread and no library is waited for

    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if task["memory_limit"] is not None:
        limit = task["memory_limit"]
        keep_to(limit, lambda: record("memory", f"Took more than the {limit:g} MB of its limit.", {}))
    measures: dict[str, Any] = {}
    try:
        status, error = "done", ""
        (_risk_before if task["kind"] == "risk" else _run)(task, measures)
    except UnfinishedError as problem:
        status, error = "timeout", problem.message
    except InfeasibleError as problem:
        status, error = "infeasible", problem.message
    except (RequestError, DataError) as problem:
        status, error = "refused", problem.message
    except MemoryError:
        status, error = "memory", "The system gave no more memory."
    except Exception as problem:  # whatever it is, the study goes on
        status, error = "failed", _told(problem)
    record(status, error, measures)


def write_record(
    place: Path, run: str, kind: str, status: str, error: str, measures: dict[str, Any]
) -> dict[str, Any]:
    """Write how a run ended; the file appears complete or not at all."""
    content = {
        "run": run, "kind": kind, "status": status, "error": " ".join(error.split())[:1000],
        "measures": measures, "machine": machine(),
    }  # fmt: skip
    with staged_file(place) as beside:
        beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def _leave_with_parent() -> None:
    while os.read(0, 1):
        pass
    give_up()
    os._exit(1)


def _told(problem: Exception) -> str:
    """Name an unexpected error and the line of setveil that it came from."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if "setveil" in Path(frame.filename).parts]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(problem).__name__}: {problem}{where}"


def _read(task: dict[str, Any]) -> Any:
    from setveil.studies.compare.files import read_data

    data = task["data"]
    return read_data(data["files"], data["reading"], data["roles"])


def _encoding(task: dict[str, Any]) -> str:
    return str(task["data"]["reading"].get("encoding", "utf-8"))


def _guarantee(task: dict[str, Any], data: Any) -> Any:
    """Make the guarantee of the run, with items drawn by its seed where the study says so."""
    from setveil.guarantees import model_named
    from setveil.options.decode import Given, as_given
    from setveil.options.guarantees import make_guarantee

    options = model_named(task["model"]).options
    texts = {name: as_given(options[name], value) for name, value in task["promise"].items()}
    return make_guarantee(task["model"], texts, Given(data, _encoding(task), seed=task["seed"]))


def _run(task: dict[str, Any], measures: dict[str, Any]) -> None:
    """Anonymize, verify and measure."""
    from setveil.hierarchy.io import read_hierarchy
    from setveil.runs.run import anonymize
    from setveil.studies.compare import measured

    data = _read(task)
    measures |= measured.sizes(data)
    tree = None
    if task["data"]["hierarchy"] is not None:
        tree = read_hierarchy(task["data"]["hierarchy"]["path"], encoding=_encoding(task))
    elif task["data"]["roles"] is not None:
        tree = data.tree
    guarantee = _guarantee(task, data)
    parameters = _parameters(task, data, tree)
    asked = task["measuring"]
    questions = measured.questions(asked, data, task["seed"], _encoding(task))  # they may be refused
    _load_kernels(task)
    bound = asked.get("bound", False)
    release = anonymize(
        data, guarantee, hierarchy=tree, algorithm=task["algorithm"], seed=task["seed"], details=False,
        bound=False if task["algorithm"] == "exact" else bound, **parameters,
    )  # fmt: skip
    measures |= measured.measured(asked, data, release, guarantee, questions, task["seed"])


def _parameters(task: dict[str, Any], data: Any, tree: Any) -> dict[str, Any]:
    """Read the algorithm's own parameters as the command line does."""
    from setveil import algorithms
    from setveil.options.decode import Given, as_given, decode_parameters
    from setveil.values.declared import options_of

    parameters = algorithms.load(task["algorithm"]).Parameters
    texts = {
        name: as_given(option, task["parameters"][option.study_name or name])
        for name, option in options_of(parameters).items()
        if (option.study_name or name) in task["parameters"]
    }
    return decode_parameters(parameters, texts, Given(data, _encoding(task), tree, task["seed"]))


def _risk_before(task: dict[str, Any], measures: dict[str, Any]) -> None:
    from setveil.guarantees import model_named
    from setveil.studies.compare import measured

    data = _read(task)
    has_secrets = any(option.secret for option in model_named(task["model"]).options.values())
    secrets = _guarantee(task, data).secrets if has_secrets else ()
    measures |= measured.risk_before(task["measuring"], data, secrets)


def _load_kernels(task: dict[str, Any]) -> None:
    """Load the compiled kernels by a run on six rows: that shall count to no phase of the real one."""
    from setveil.data.transactions import Transactions
    from setveil.errors import SetveilError
    from setveil.guarantees import model_named
    from setveil.options.decode import Given
    from setveil.options.guarantees import make_guarantee
    from setveil.runs.run import anonymize

    rows = [["a", "b", "s"], ["a", "b", "c"], ["b", "c"], ["a", "c"], ["a"], ["b"]]
    data = Transactions.from_rows(rows)
    if model_named(task["model"]).release == "tables":
        data = _as_table(data)
    try:
        guarantee = make_guarantee(task["model"], model_named(task["model"]).example, Given(data))
        anonymize(data, guarantee, algorithm=task["algorithm"], details=False)
    except SetveilError:
        pass  # nothing to be had on so few rows; what was loaded is loaded


def _as_table(rows: Any) -> Any:
    """Make a table of a few rows."""
    import numpy as np

    from setveil.tables.quasi_identifiers import quasi_identifier
    from setveil.tables.table import Table

    ages = quasi_identifier("age", np.arange(rows.n_rows) // 2, ["34", "36", "41"], numeric=True)
    return Table(rows.indptr, rows.items, rows.vocabulary, columns=(ages,), header=("age", "items"))


if __name__ == "__main__":
    with on_command_line():
        main()
