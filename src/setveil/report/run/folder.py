"""The published files of a run, listed once for all that name them."""

from __future__ import annotations

from setveil.report.record import Record
from setveil.report.run.kinds import kind_of


def published_files(report: Record) -> list[str]:
    """List what is in ``published/`` of a run: the data first, about.json last.

    Parameters
    ----------
    report : dict
        The record of the run, whose `published` is known.

    Returns
    -------
    list of str
        Names of files; of data in several files, the name of their folder.
    """
    told = report["published"]
    counts = report.get("counts")
    named = [
        told["file"],
        told.get("layout", {}).get("items_file"),
        *kind_of(report).files(),
        counts["file"] if counts else None,
        told.get("report"),
        *told.get("checker", ()),
        "manifest.json" if report.get("engine") == "spark" else None,
        "about.json",
    ]
    return [str(name) for name in named if name]
