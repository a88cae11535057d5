"""One run of a comparison in a process of its own: ``python -m setveil.studies.worker``.

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

from setveil.errors import DataError, InfeasibleError, RequestError
from setveil.runs.memory import peak_memory_mb
from setveil.staging import staged_file

_EVERY = 0.05  # seconds between two looks at the memory


def main() -> None:
    """Do the task and write its record; it appears complete or not at all."""
    task = json.loads(sys.stdin.buffer.readline())
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
        threading.Thread(target=_watch_memory, args=(task["memory_limit"], record), daemon=True).start()
    measures: dict[str, Any] = {}
    try:
        status, error = "done", ""
        (_risk_before if task["kind"] == "risk" else _run)(task, measures)
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
        "measures": measures,
    }  # fmt: skip
    with staged_file(place) as beside:
        beside.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    return content


def _leave_with_parent() -> None:
    while os.read(0, 1):
        pass
    os._exit(1)


def _watch_memory(limit: float, record: Any) -> None:
    while True:
        peak = peak_memory_mb()
        if peak is None:
            return  # the limit cannot be kept here
        if peak > limit:
            record("memory", f"Took more than the {limit:g} MB of its limit.", {})
        time.sleep(_EVERY)


def _told(problem: Exception) -> str:
    """Name an unexpected error and the line of setveil that it came from."""
    frames = traceback.extract_tb(problem.__traceback__)
    own = [frame for frame in frames if "setveil" in Path(frame.filename).parts]
    where = f" ({Path(own[-1].filename).name}, line {own[-1].lineno})" if own else ""
    return f"{type(problem).__name__}: {problem}{where}"


def _read(task: dict[str, Any]) -> Any:
    from setveil.data.io import read

    return read(task["data"]["path"], **task["data"]["reading"])


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

    data = _read(task)
    measures |= {"rows": data.n_rows, "items": data.n_items, "occurrences": data.n_occurrences}
    tree = None
    if task["data"]["hierarchy"] is not None:
        tree = read_hierarchy(task["data"]["hierarchy"]["path"], encoding=_encoding(task))
    guarantee = _guarantee(task, data)
    parameters = _parameters(task, data, tree)
    questions = _questions(task, data)  # before the work: they may be refused
    _load_kernels(task)
    bound = task["measuring"].get("bound", False)
    release = anonymize(
        data, guarantee, hierarchy=tree, algorithm=task["algorithm"], seed=task["seed"], details=False,
        bound=False if task["algorithm"] == "exact" else bound, **parameters,
    )  # fmt: skip
    report = release.report
    utility, timing = report["utility"], report["timing"]
    start = time.perf_counter()
    utility |= _answers(task, data, release.release, questions)
    risk = _risk_after(task, release.release, guarantee)
    timing["measure"] += time.perf_counter() - start
    errors = utility.get("item_support_error", {})
    optimality = report.get("optimality", {})
    itemsets = utility.get("itemsets", {})  # an item may be published as itself in some of its rows only
    measures |= {
        **{
            name: utility.get(name)
            for name in (
                "ncp", "lm", "unchanged_items", "generalized_items", "suppressed_items",
                "suppressed_occurrences", "published_labels",
            )
        },
        "item_error": errors.get("median"),
        "are_mean": utility.get("are", {}).get("mean"),
        "are_median": utility.get("are", {}).get("median"),
        "queries": utility.get("are", utility.get("kl", {})).get("queries"),
        "itemsets_frequent": itemsets.get("frequent"),
        "itemsets_kept": itemsets.get("kept") if itemsets.get("supports_unchanged") else None,
        "kl_mean": utility.get("kl", {}).get("mean"),
        **risk,
        "lower_bound": optimality.get("lower_bound"),
        "gap": optimality.get("gap"),
        "seconds_read": round(timing["read"] + timing.get("hierarchy", 0.0), 4),
        "seconds_anonymize": timing["anonymize"],
        "seconds_verify": timing["verify"],
        "seconds_measure": round(timing["measure"], 4),
    }  # fmt: skip


def _parameters(task: dict[str, Any], data: Any, tree: Any) -> dict[str, Any]:
    """Read the algorithm's own parameters as the command line does."""
    from setveil import algorithms
    from setveil.fields import options_of
    from setveil.options.decode import Given, as_given, decode_parameters

    parameters = algorithms.load(task["algorithm"]).Parameters
    texts = {
        name: as_given(option, task["parameters"][option.study_name or name])
        for name, option in options_of(parameters).items()
        if (option.study_name or name) in task["parameters"]
    }
    return decode_parameters(parameters, texts, Given(data, _encoding(task), tree, task["seed"]))


def _questions(task: dict[str, Any], data: Any) -> Any:
    """Read or draw the queries; () where a group-by is asked for, which is drawn from the release."""
    from setveil.options.inputs import load_queries
    from setveil.progress import silent

    asked = task["measuring"]
    if "group_by" in asked:
        return ()
    if "queries_file" in asked:
        path = Path(asked["queries_file"]["path"])
        return load_queries(
            data, path, _encoding(task), number=None, size=1, support=None, seed=0, progress=silent
        )
    if not asked["queries"]:
        return ()
    size = min(asked["query_size"], int(data.row_lengths().max()))
    return load_queries(
        data, None, _encoding(task), number=asked["queries"], size=size, support=asked.get("query_support"),
        seed=task["seed"], progress=silent,
    )  # fmt: skip


def _answers(task: dict[str, Any], data: Any, release: Any, questions: Any) -> dict[str, Any]:
    """Measure what the release still answers, with the settings of the study."""
    from fractions import Fraction

    from setveil.runs.details import frequent_support
    from setveil.utility.are import query_errors
    from setveil.utility.itemsets import surviving_itemsets
    from setveil.utility.measure import measure_groups

    asked = task["measuring"]
    if "group_by" in asked:
        if not asked["queries"]:
            return {"kl": {}}
        return measure_groups(
            data, *release.measured(), group_by=asked["group_by"], queries=asked["queries"], seed=task["seed"]
        )
    found: dict[str, Any] = {}
    if questions:
        errors = query_errors(data, release.published, release.recoding.members(), questions)
        found["are"] = errors.as_dict()
    support = asked["itemsets"]
    if isinstance(support, str):
        support = frequent_support(data.n_rows, Fraction(support))
    if support:
        found["itemsets"] = surviving_itemsets(
            data, release.published, support, max_length=asked["itemset_length"]
        )
    return found


def _risk_after(task: dict[str, Any], release: Any, guarantee: Any) -> dict[str, Any]:
    from setveil.runs.details import hidden_items

    size = task["measuring"]["risk_m"]
    if not size:
        return {}
    best = _best_choice(release.exposed(), size, hidden_items(guarantee))
    return {"risk_m": size, **{f"risk_{name}": value for name, value in best.items()}}


def _risk_before(task: dict[str, Any], measures: dict[str, Any]) -> None:
    from setveil.runs.details import hidden_items

    data = _read(task)
    hidden = hidden_items(_guarantee(task, data)) if task["model"] in {"coherence", "privacy-degree"} else ()
    best = _best_choice(data, task["measuring"]["risk_m"], hidden)
    measures |= {
        f"risk_before_{name.removeprefix('below_')}": value for name, value in best.items() if name != "exact"
    }


def _best_choice(rows: Any, size: int, hidden: Any) -> dict[str, Any]:
    """Count the rows that the best choice of at most `size` known items singles out."""
    from setveil.risk.attack import attack_risk
    from setveil.runs.details import EFFORT

    entries = attack_risk(rows, sizes=(size,), private=hidden, effort=EFFORT)["risk"]
    best = next(entry for entry in entries if entry["choice"] == "best")
    return {
        **{f"below_{threshold}": round(best["rows_below"][str(threshold)]) for threshold in (2, 5, 10)},
        "probability": best["probability"],
        "exact": best["exact"],
    }


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
    try:
        guarantee = make_guarantee(task["model"], model_named(task["model"]).example, Given(data))
        anonymize(data, guarantee, algorithm=task["algorithm"], details=False)
    except SetveilError:
        pass  # nothing to be had on so few rows; what was loaded is loaded


if __name__ == "__main__":
    main()
