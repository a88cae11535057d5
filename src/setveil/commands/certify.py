"""Prove in integers how little the release of a run can lose."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Mapping
from fractions import Fraction
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, OutputError, RequestError
from setveil.base.progress import Progress
from setveil.base.wording import count
from setveil.commands.arguments import Listener, TreeLike, heard, path_of, rows_of, tree_of
from setveil.methods.algorithms.exact.exact import Exact
from setveil.methods.algorithms.exact.exact import certify as prove
from setveil.releases.published.about import read_about
from setveil.releases.recipients import AUDIT, CERTIFICATE, TREE, put_certificate, require_audited
from setveil.rows.data.transactions import Transactions
from setveil.runs.options.reading import DETECTED
from setveil.work.past.inputs import find_guarantee, find_rows, find_tree, rows_of_run
from setveil.work.past.run import PastRun, past_run

_REPEATED = (
    "objective",
    "suppress",
    "max_suppressed",
    "keep",
    "weights",
)  # parameters that a certificate repeats


def certify(
    run: str | PathLike[str],
    *,
    data: str | PathLike[str] | object = None,
    hierarchy: TreeLike = None,
    time_limit: float | None = None,
    progress: Listener = None,
) -> dict[str, Any]:
    """Write a certificate of how little the release of a run can lose, and a program that checks it.

    Both tell of rare items, so they are written into the run's ``internal``, and must stay there.

    Parameters
    ----------
    run : path
        The folder of a run of `exact` for k^m-anonymity.
    data : path, list of paths, data frame, Arrow stream, list of lists, or Transactions, optional
        What was anonymized; by default the files that the run read, if they are still the same.
    hierarchy : Hierarchy, path, dict or data frame, optional
        The hierarchy of the run, where it came from no file, or the file is elsewhere now.
    time_limit : float, optional
        Seconds after which the bound is written that was proven so far; by default 300.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        `loss` and `bound`, integers in units of the objective; `share`, the part of the loss that may be in
        vain, 0.0 if it is proven least; `clauses` and `branches` of the certificate; its `files`; the command
        that checks it (`audit`), and all of it in words (`text`).

    Raises
    ------
    DataError
        If that is no folder of a run, or rows or hierarchy are missing, or not those of the run.
    RequestError
        If runs of this kind have no certificate, or an argument is not acceptable.
    OutputError
        If the files cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["coffee", "milk"], ["tea"], ["coffee"]]
    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> _ = sv.anonymize(rows, sv.KmAnonymity(k=2, m=2), hierarchy=drinks).write("release")
    >>> proof = sv.certify("release", data=rows, hierarchy=drinks)
    >>> proof["loss"], proof["bound"]
    (4, 4)
    """
    folder, listening = path_of("The run", run), heard(progress)

    def found(recorded: PastRun) -> Transactions:
        return find_rows(recorded, None, DETECTED) if data is None else rows_of_run(recorded, rows_of(data))

    return certified(folder, found, tree_of(hierarchy), time_limit=time_limit, progress=listening)


def certified(
    folder: Path,
    rows_of_past: Callable[[PastRun], Transactions],
    hierarchy: TreeLike,
    *,
    time_limit: float | None,
    encoding: str = "utf-8",
    progress: Progress,
) -> dict[str, Any]:
    """Write the certificate of a run, whatever finds its rows again (see `certify`)."""
    recorded = past_run(folder)
    parameters = _parameters(recorded, time_limit)
    about = read_about(folder / "published" / "about.json")
    require_audited(about)
    progress("reading")
    rows = rows_of_past(recorded)
    tree = find_tree(recorded, rows, hierarchy, encoding)
    if tree is None:
        raise DataError("The hierarchy of this run is not known.", hint="Name it: --hierarchy FILE.")
    guarantee = find_guarantee(recorded, rows, encoding)
    certificate = prove(rows, tree, guarantee, parameters, recorded.image, progress)
    try:
        files = put_certificate(folder / "internal", certificate, about)
    except OSError as error:
        raise OutputError(f"Nothing can be written in {folder / 'internal'}: {error.strerror}.") from error
    summary: dict[str, Any] = dict(certificate.summary())
    summary["share"] = float(Fraction(summary["loss"] - summary["bound"], summary["loss"] or 1))
    summary["files"] = [str(file) for file in files]
    read = recorded.report["input"].get("read")
    original = read["files"][0]["path"] if read and len(read["files"]) == 1 else "ORIGINAL.jsonl"
    kept = tree.origin.path if tree.origin and tree.origin.path else str(folder / "internal" / TREE)
    summary["audit"] = shlex.join(
        ["python3", "-I", str(folder / "internal" / AUDIT.name), str(folder), original, kept]
    )
    return summary | {"text": _text(summary, folder)}


def _text(summary: Mapping[str, Any], folder: Path) -> str:
    if summary["loss"] == summary["bound"]:
        proven = f"Proven: no release of the model loses less than {summary['loss']:,}, as this one does."
    else:
        proven = (
            f"This release loses {summary['loss']:,}, and no release of the model less than "
            f"{summary['bound']:,}: at most {summary['share']:.2%} of the loss is unnecessary. "
            "More time may prove more: --time-limit."
        )
    size = f"{count(summary['clauses'], 'clause')}, {count(summary['branches'], 'branch', 'branches')}"
    return f"{proven}\n{folder / 'internal' / CERTIFICATE}: {size}\nTo check it: {summary['audit']}"


def _parameters(run: PastRun, time_limit: float | None) -> Exact:
    """Take what a run was asked for, if runs of its kind have a certificate."""
    report, which = run.report, "Runs of exact for k^m-anonymity have one, of rows as they were read."
    name, model = report["algorithm"]["name"], report["guarantee"]["model"]
    other = {
        f"this is a run of {name}": name != "exact",
        f"this is a run for {model}": model != "km-anonymity",
        "this run applied an earlier recoding": "applied" in report,
        "this run took a sample of the rows": "sample" in report,
    }
    for what, so in other.items():
        if so:
            raise RequestError(f"There is no certificate of this run: {what}.", hint=which)
    recorded = report["algorithm"]["parameters"]
    parameters: dict[str, Any] = {name: recorded[name] for name in _REPEATED}
    parameters["weights"] = {item: Fraction(str(weight)) for item, weight in parameters["weights"].items()}
    if time_limit is not None and not (isinstance(time_limit, int | float) and 0 < time_limit < math.inf):
        raise RequestError(f"The time limit must be a positive number of seconds, got {time_limit!r}.")
    return Exact(**parameters, time_limit=time_limit)
