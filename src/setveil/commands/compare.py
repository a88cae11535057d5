"""Run a study."""

from __future__ import annotations

from os import PathLike
from typing import Any

from setveil.commands.arguments import Listener, heard, integer_or_none, path_of
from setveil.work.studies.compare.results import compare as run_study
from setveil.work.studies.compare.study import read_study


def compare(
    study: str | PathLike[str],
    out: str | PathLike[str],
    *,
    data: str | PathLike[str] | None = None,
    jobs: int | None = None,
    retry: bool = False,
    external: bool = False,
    latex: bool = False,
    progress: Listener = None,
) -> list[dict[str, Any]]:
    r"""Run algorithms over data and parameters, and write a table, figures and a report.

    Parameters
    ----------
    study : path
        The study file (TOML, see docs/compare.md): data, algorithms, parameters.
    out : path
        Folder of the study: new, or of an earlier call, which this one completes.
    data : path, optional
        Folder that relative paths in the study start at; by default the study's own.
    jobs : int, optional
        Runs at the same time; by default one per processor. Each is a process of its own.
    retry : bool
        Repeat runs that failed or ran out of time or memory.
    external : bool
        Write the report without what is internal.
    latex : bool
        Also write a folder ``paper``: tables in LaTeX, and each figure as PDF and SVG, as wide as a column.
        Needs matplotlib (``setveil[paper]``).
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    list of dict
        The rows of the table, as in results.csv: one for each run that has ended. ``polars.DataFrame`` and
        ``pandas.DataFrame`` take it.

    Raises
    ------
    DataError
        If the study, or a file that it names, cannot be read.
    RequestError
        If a key of the study is missing or not acceptable, or an argument is of a wrong type.
    OutputError
        If the folder holds something else than a study, or cannot be written.

    Examples
    --------
    >>> import setveil as sv
    >>> from pathlib import Path
    >>> _ = Path("rows.csv").write_text("tea,milk\ntea,milk\ntea\ntea\n")
    >>> _ = Path("study.toml").write_text('''
    ... name = "small"
    ... algorithms = ["aa", "da"]
    ... k = 2
    ... m = 1
    ... [[data]]
    ... path = "rows.csv"
    ... ''')
    >>> [(row["algorithm"], row["ncp"]) for row in sv.compare("study.toml", "study", jobs=1)]
    [('aa', 0.0), ('da', 0.0)]
    """
    plan = read_study(
        path_of("The study", study), None if data is None else path_of("data", data), trusted=True
    )
    return run_study(
        plan, path_of("out", out), jobs=integer_or_none("jobs", jobs, 1), retry=bool(retry),
        external=bool(external), latex=bool(latex), progress=heard(progress),
    )  # fmt: skip
