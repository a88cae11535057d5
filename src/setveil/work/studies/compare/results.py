"""From the records of runs to a table, figures and a report."""

from __future__ import annotations

import csv
import platform
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO, StringIO
from json import dumps
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, OutputError, TableError
from setveil.base.progress import Progress, silent
from setveil.base.staging import private_folders, write_together
from setveil.base.threads import usable_cpus
from setveil.base.version import __version__, packages
from setveil.methods import algorithms
from setveil.report.compare.columns import RISK_BEFORE, RUN, measured
from setveil.work.studies.compare.files import read_data
from setveil.work.studies.compare.plan import DataSet, Run, as_text, plain
from setveil.work.studies.compare.settings import MEASURING, own_options
from setveil.work.studies.compare.study import Study
from setveil.work.studies.compare.sweep import RUNS, Record, locked, read_record, sweep

STUDY, CSV, PARQUET, REPORT, FIGURES = (
    "study.toml",
    "results.csv",
    "results.parquet",
    "report.html",
    "figures",
)
REFERENCES, PAPER = "references.bib", "paper"
REPEATED = ("summary.csv", "tests.csv")  # of a study whose runs are repeated

Row = dict[str, Any]


def table(runs: Sequence[Run], records: Mapping[str, Record]) -> list[Row]:
    """Make one row for each run that has ended, in the order of the runs, with the same columns in every row.

    They are the run, each parameter of any run (None if its algorithm does not know it), each setting of the
    measures in which runs differ, seed, status and error, and the measures (None: not measured).
    """
    shown = [run.shown() for run in runs]
    used = [*dict.fromkeys(name for run in runs for name in (*run.promise, *run.parameters))]
    settings = _varied(runs)
    drawn, labelled = any(run.sample is not None for run in runs), any(run.label for run in runs)
    out = []
    for run, values in zip(runs, shown, strict=True):
        record = records.get(run.id)
        if record is None:
            continue
        found = record["measures"]
        before = records.get(run.risk_id or "", {}).get("measures", {})
        row: Row = dict(zip(RUN, (run.id, run.data.name, run.algorithm, run.method, run.model), strict=True))
        row |= {name: values.get(name) for name in used}
        row |= {name: _plain_setting(run, name) for name in settings}
        row |= {"sample": run.sample} if drawn else {}
        row |= {"label": run.label or run.method} if labelled else {}
        row |= {"seed": run.seed, "status": record["status"], "error": record["error"]}
        row |= {name: (before if name in RISK_BEFORE else found).get(name) for name in measured()}
        row |= {"data_sha256": run.data.sha256, "setveil": __version__, "machine": record.get("machine")}
        out.append(row)
    return out


def _varied(runs: Sequence[Run]) -> list[str]:
    """Name the settings of the measures that are not the same in all runs that have them."""
    names = dict.fromkeys(name for run in runs for name in run.measuring)
    return [
        name
        for name in names
        if name not in measured() and len({run.measuring[name] for run in runs if name in run.measuring}) > 1
    ]


def _plain_setting(run: Run, name: str) -> Any:
    value = run.measuring.get(name)
    return None if value is None else plain(value)


def read_rows(study: Study, folder: Path) -> list[Row]:
    """Make the table of a study from the records in its folder."""
    ids = {run.id for run in study.runs} | {run.risk_id for run in study.runs if run.risk_id}
    found = ((run, read_record(folder, run)) for run in sorted(ids))
    return table(study.runs, {run: record for run, record in found if record is not None})


def require_study_folder(folder: Path) -> None:
    """Refuse a folder that holds anything but a study."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise OutputError(f"{folder} is a file, expected a folder.")
    held = {path.name for path in folder.iterdir() if not path.name.startswith(".")}
    known = {RUNS, STUDY, CSV, PARQUET, REPORT, FIGURES, REFERENCES, PAPER, *REPEATED}
    if held - known or (held and RUNS not in held):
        raise OutputError(
            f"{folder} contains something else than a study.", hint="Choose a folder that does not exist."
        )
    for name in (RUNS, FIGURES, PAPER, f"{PAPER}/{FIGURES}"):
        if (folder / name).is_symlink():
            raise OutputError(
                f"{folder / name} is a link. Expected a folder: setveil would replace files elsewhere.",
                hint="Choose a folder that does not exist.",
            )


def compare(
    study: Study,
    folder: Path,
    *,
    jobs: int | None = None,
    retry: bool = False,
    external: bool = False,
    latex: bool = False,
    command: str | None = None,
    progress: Progress = silent,
) -> list[Row]:
    """Do what is missing of a study, and write its table (returned), figures and report.

    `folder`: new, empty, or of an earlier study. `jobs`, `retry`: as for
    `setveil.work.studies.compare.sweep.run_all`. `external`: a report without what is internal. `latex`: also
    tables and figures for a paper. `command`: the line of a shell, for the report.
    """
    from setveil.report.compare.paper import paper_files
    from setveil.report.compare.paper_figures import require_matplotlib

    require_study_folder(folder)
    if latex:
        require_matplotlib()
    require_readable(study, folder, progress)
    with locked(folder):
        try:
            write_together({folder / STUDY: study.content}, private=True)
            records = sweep(study.runs, folder, jobs=jobs, retry=retry, progress=progress)
            rows = table(study.runs, records)
            progress("writing the report")
            at_once = usable_cpus() if jobs is None else jobs
            report = _report(study, rows, external=external, command=command, jobs=at_once)
            private_folders(folder / FIGURES)
            bibtex = algorithms.bibtex(run.algorithm for run in study.runs)
            written = _tables(rows) | _repeated(rows) | report | {REFERENCES: f"{bibtex}\n".encode()}
            if latex:
                progress("drawing the figures of the paper")
                private_folders(folder / PAPER, folder / PAPER / FIGURES)
                written |= {f"{PAPER}/{name}": text for name, text in paper_files(rows, bibtex).items()}
            places = {folder / name: content for name, content in written.items()}
            write_together(places, private=True)
            before = [*(folder / FIGURES).glob("*.svg"), *(folder / PAPER / FIGURES).glob("*.*")]
            for path in [*before, *(folder / name for name in REPEATED)]:
                if path.relative_to(folder).as_posix() not in written:  # of the study before
                    path.unlink(missing_ok=True)
        except OSError as error:
            raise OutputError(f"{folder} cannot be written: {error.strerror or error}.") from None
    return rows


def require_readable(study: Study, folder: Path, progress: Progress = silent) -> None:
    """Read each data set and hierarchy of runs that are missing once: one that cannot be read is an error."""
    from setveil.rows.hierarchy.io import read_hierarchy

    needed: dict[DataSet, bool] = {}  # whether some run takes its hierarchy
    for run in study.runs:
        if read_record(folder, run.id) is None:
            needed[run.data] = needed.get(run.data, False) or run.uses_hierarchy
    for data, with_hierarchy in needed.items():
        progress(f"reading {data.name}")
        try:
            read_data(data.files, data.options, data.roles.path if data.roles else None)
            if data.hierarchy and with_hierarchy:
                read_hierarchy(data.hierarchy.path, encoding=data.options.get("encoding", "utf-8"))
        except DataError as error:
            hint = _as_keys(error) if isinstance(error, TableError) else error.hint
            raise DataError(f"Data set {data.name}: {error.message}", hint=hint) from None


def _as_keys(error: TableError) -> str:
    """Write how a table is likely to be read as a study says it."""
    lines = ["say after its path how to read it, for example"]
    for options, meaning in error.readings:
        keys = (f"{name} = {dumps(value, ensure_ascii=False)}" for name, value in options.items())
        lines += [f"    {', '.join(keys)}", f"        {meaning}"]
    return "\n".join(lines)


def _tables(rows: Sequence[Row]) -> dict[str, bytes]:
    """Make the files of the table."""
    import polars as pl

    types: dict[type, Any] = {bool: pl.Boolean, int: pl.Int64, float: pl.Float64, str: pl.String}
    columns = {}
    for name in rows[0]:
        values = [row[name] for row in rows]
        kind = measured().get(name) or _common_type(values)
        if kind is str:
            values = [None if value is None else as_text(value) for value in values]
        elif kind is float:
            values = [None if value is None else float(value) for value in values]
        columns[name] = pl.Series(name, values, dtype=types[kind])
    frame = pl.DataFrame(columns)
    out = BytesIO()
    frame.write_parquet(out)
    return {CSV: frame.write_csv().encode(), PARQUET: out.getvalue()}


def _repeated(rows: Sequence[Row]) -> dict[str, bytes]:
    """Make the tables of a study whose runs are repeated: medians, and methods compared draw by draw."""
    from setveil.report.compare.sheets import compared_rows, summary_rows

    found = dict(zip(REPEATED, (summary_rows(rows), compared_rows(rows)), strict=True))
    return {name: _csv(lines) for name, lines in found.items() if lines}


def _csv(lines: Sequence[Mapping[str, Any]]) -> bytes:
    text = StringIO(newline="")
    writer = csv.DictWriter(text, list(dict.fromkeys(name for line in lines for name in line)))
    writer.writeheader()
    writer.writerows(lines)
    return text.getvalue().replace("\r\n", "\n").encode()


def _common_type(values: Iterable[Any]) -> type:
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) == 1:
        return kinds.pop()
    return float if kinds == {int, float} else str


def _report(
    study: Study, rows: list[Row], *, external: bool, command: str | None, jobs: int
) -> dict[str, bytes]:
    """Make the page and its figures."""
    from setveil.report.compare.page import comparison_html, figures

    about = {
        "name": study.name,
        **({"description": study.description} if study.description else {}),
        "seeds": list(study.seeds),
        "time_limit": study.time_limit,
        "memory_limit": study.memory_limit,
        "file_sha256": study.sha256,
        "command": command,
        "bibtex": algorithms.bibtex(run.algorithm for run in study.runs),
        "jobs": jobs,
        "naming_items": [
            name for name, option in own_options(algorithms.modules()).items() if option.kind.names_items
        ]
        + [name for name, kind in MEASURING.items() if kind.names_items],
        "versions": {
            "setveil": __version__,
            "python": platform.python_version(),
            **packages(),
        },
    }
    drawn = {f"{FIGURES}/{stem}.svg": svg.encode() for stem, svg in figures(rows).items()}
    return {REPORT: comparison_html(about, rows, external=external).encode(), **drawn}
