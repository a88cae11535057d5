"""One run of a comparison in a process of its own: ``python -m setveil.work.studies.compare.worker``.

The first line of standard input is the task (`Run.task`, where to write, and other seeds for which to measure
the same release). The end of standard input ends the worker, so that a killed parent leaves nothing behind.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, InfeasibleError, RequestError, UnfinishedError, on_command_line
from setveil.base.staging import give_up, staged_file
from setveil.base.threads import use_threads
from setveil.runs.memory import keep_to, peak_memory_mb
from setveil.work.studies.machine import machine


def main() -> None:
    """Do the task and write its records; each appears complete or not at all."""
    os.umask(0o077)
    task = json.loads(sys.stdin.buffer.readline())
    use_threads(1)  # there may be as many workers as processors, and seconds are compared
    left = [{key: task[key] for key in ("run", "seed", "out")}, *task.get("others", ())]
    recording = threading.Lock()  # each run ends once

    def record(status: str, error: str, measures: dict[str, Any], seconds: float) -> None:
        one = left.pop(0)
        own = {**measures, "seconds": round(seconds, 4), "peak_memory_mb": peak_memory_mb()}
        write_record(Path(one["out"]), one["run"], task["kind"], status, error, own)

    def end(status: str, error: str, measures: dict[str, Any]) -> None:
        recording.acquire()  # never released
        while left:
            record(status, error, measures, time.monotonic() - task["started"])
        os._exit(0)  # no thread and no library is waited for

    threading.Thread(target=_leave_with_parent, daemon=True).start()
    if task["memory_limit"] is not None:
        limit = task["memory_limit"]
        keep_to(limit, lambda: end("memory", f"Took more than the {limit:g} MB of its limit.", {}))
    measures: dict[str, Any] = {}
    if task["kind"] == "risk":
        end(*_tried(lambda: _risk_before(task, measures)), measures)
    looks: list[Callable[[int], dict[str, Any]]] = []
    status, error = _tried(lambda: looks.append(_solved(task, measures)))
    solved = time.monotonic()
    while looks and left:
        start, found = time.monotonic(), dict(measures)
        seed = left[0]["seed"]
        status, error = _tried(lambda found=found, seed=seed: found.update(looks[0](seed)))  # type: ignore[misc]
        with recording:
            record(status, error, found, solved - task["started"] + time.monotonic() - start)
    end(status, error, measures)


def _tried(work: Callable[[], Any]) -> tuple[str, str]:
    """Do a piece of work, and say how it ended."""
    try:
        work()
    except UnfinishedError as problem:
        return "timeout", problem.message
    except InfeasibleError as problem:
        return "infeasible", problem.message
    except (RequestError, DataError) as problem:
        return "refused", problem.message
    except MemoryError:
        return "memory", "The system gave no more memory."
    except Exception as problem:  # whatever it is, the study goes on
        return "failed", _problem_text(problem)
    return "done", ""


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


def _problem_text(problem: Exception) -> str:
    """Name an unexpected error and the line of setveil, or of an algorithm's file, that it came from."""
    from setveil.methods import algorithms

    frames = traceback.extract_tb(problem.__traceback__)
    files = {str(path) for name in algorithms.names() if (path := algorithms.file_of(name))}
    own = [one for one in frames if "setveil" in Path(one.filename).parts or one.filename in files]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(problem).__name__}: {problem}{where}"


def _read(task: dict[str, Any]) -> tuple[Any, Any]:
    """Read the rows; return those of the run, and of what they were drawn, if they were."""
    from setveil.work.studies.compare.files import drawn_rows, read_data

    data = task["data"]
    everything = read_data(data["files"], data["reading"], data["roles"])
    if task.get("sample") is None:
        return everything, None
    return drawn_rows(everything, task["sample"], task["seed"]), everything


def _encoding(task: dict[str, Any]) -> str:
    return str(task["data"]["reading"].get("encoding", "utf-8"))


def _guarantee(task: dict[str, Any], data: Any, drawn_from: Any) -> Any:
    """Make the guarantee of the run, with items drawn by its seed where the study says so."""
    from setveil.judges.guarantees import model_named
    from setveil.runs.options.decode import Inputs, as_typed
    from setveil.runs.options.guarantees import make_guarantee

    options = model_named(task["model"]).options
    texts = {name: as_typed(options[name], value) for name, value in task["promise"].items()}
    inputs = Inputs(data, _encoding(task), seed=task["seed"], drawn_from=drawn_from)
    return make_guarantee(task["model"], texts, inputs)


def _run(task: dict[str, Any], measures: dict[str, Any]) -> None:
    """Anonymize, verify and measure, with the seed of the task."""
    measures |= _solved(task, measures)(task["seed"])


def _solved(task: dict[str, Any], measures: dict[str, Any]) -> Callable[[int], dict[str, Any]]:
    """Anonymize and verify; `measures` takes the sizes. Return what measures the release with a seed."""
    from setveil.rows.hierarchy.io import read_hierarchy
    from setveil.runs.run import anonymize
    from setveil.work.studies.compare import measured

    _load_programs(task)
    data, drawn_from = _read(task)
    measures |= measured.sizes(data)
    tree = None
    if task["data"]["hierarchy"] is not None:
        tree = read_hierarchy(task["data"]["hierarchy"]["path"], encoding=_encoding(task))
    elif task["data"]["roles"] is not None:
        tree = data.tree
    guarantee = _guarantee(task, data, drawn_from)
    parameters = _parameters(task, data, tree, drawn_from)
    settings = task["measuring"]
    first = measured.questions(settings, data, task["seed"], _encoding(task))  # they may be refused
    _load_kernels(task)
    bound = settings.get("bound", False)
    release = anonymize(
        data, guarantee, hierarchy=tree, algorithm=task["algorithm"], seed=task["seed"], details=False,
        bound=False if task["algorithm"] == "exact" else bound, **parameters,
    )  # fmt: skip
    once = measured.of_any_seed(settings, data, release, guarantee)

    def look(seed: int) -> dict[str, Any]:
        same = seed == task["seed"]
        queries = first if same else measured.questions(settings, data, seed, _encoding(task))
        return measured.measured(settings, data, release, once, queries, seed)

    return look


def _load_programs(task: dict[str, Any]) -> None:
    """Execute the files of one's own that the run needs; refuse one that was changed since."""
    from setveil.methods import algorithms
    from setveil.runs.options.plugins import load_plugin

    # What asks has executed them, or refused to.
    files = [(load_plugin(file["path"], trusted=True), file["sha256"]) for file in task.get("plugins", ())]
    for file, sha256 in files:
        _require_unchanged(str(file.path), file.sha256, sha256)
    path = task.get("algorithm_file")
    if path is not None:
        name = algorithms.named(path, trusted=True)
        _require_unchanged(path, algorithms.origin(name)["sha256"], task["algorithm_sha256"])


def _require_unchanged(path: str, now: str, then: str) -> None:
    if now != then:
        raise RequestError(f"{path} was changed while the study ran.", hint="Start it again.")


def _parameters(task: dict[str, Any], data: Any, tree: Any, drawn_from: Any) -> dict[str, Any]:
    """Read the algorithm's own parameters as the command line does."""
    from setveil.base.values.declared import options_of
    from setveil.methods import algorithms
    from setveil.runs.options.decode import Inputs, as_typed, decode_parameters

    parameters = algorithms.load(task["algorithm"]).Parameters
    texts = {
        name: as_typed(option, task["parameters"][option.study_name or name])
        for name, option in options_of(parameters).items()
        if (option.study_name or name) in task["parameters"]
    }
    inputs = Inputs(data, _encoding(task), tree, task["seed"], drawn_from=drawn_from)
    return decode_parameters(parameters, texts, inputs)


def _risk_before(task: dict[str, Any], measures: dict[str, Any]) -> None:
    from setveil.judges.guarantees import model_named
    from setveil.work.studies.compare import measured

    _load_programs(task)
    data, drawn_from = _read(task)
    has_secrets = any(option.secret for option in model_named(task["model"]).options.values())
    secrets = _guarantee(task, data, drawn_from).secrets if has_secrets else ()
    measures |= measured.risk_before(task["measuring"], data, secrets)


def _load_kernels(task: dict[str, Any]) -> None:
    """Load the compiled kernels by a run on six rows: that shall count to no phase of the real one."""
    from setveil.judges.guarantees import model_named
    from setveil.rows.data.transactions import Transactions
    from setveil.runs.options.decode import Inputs
    from setveil.runs.options.guarantees import make_guarantee
    from setveil.runs.run import anonymize

    rows = [["a", "b", "s"], ["a", "b", "c"], ["b", "c"], ["a", "c"], ["a"], ["b"]]
    data = Transactions.from_rows(rows)
    if model_named(task["model"]).release == "tables":
        data = _as_table(data)
    # Nothing may be had on so few rows, and what is wrong is said by the real run: what was loaded is loaded.
    with suppress(Exception):
        guarantee = make_guarantee(task["model"], model_named(task["model"]).example, Inputs(data))
        anonymize(data, guarantee, algorithm=task["algorithm"], details=False)


def _as_table(rows: Any) -> Any:
    """Make a table of a few rows."""
    import numpy as np

    from setveil.rows.tables.quasi_identifiers import quasi_identifier
    from setveil.rows.tables.table import Table

    ages = quasi_identifier("age", np.arange(rows.n_rows) // 2, ["34", "36", "41"], numeric=True)
    return Table(rows.indptr, rows.items, rows.vocabulary, columns=(ages,), header=("age", "items"))


if __name__ == "__main__":
    with on_command_line():
        main()
