"""The rows, the hierarchy and the guarantee of a run, found again by its record or compared with it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, RequestError, SetveilError, faces, shorten
from setveil.base.redact import HIDDEN, is_server, redacted
from setveil.base.values.declared import options_of
from setveil.judges.guarantees import Guarantee, least_rows
from setveil.report.record import HierarchyEntry as HierarchyPart
from setveil.report.record import Record
from setveil.rows.data.also import also_of
from setveil.rows.data.io.rows import read
from setveil.rows.data.layout import FORMATS
from setveil.rows.data.skipped import OF_LACKING
from setveil.rows.data.skipped import SAID as OF_LINES
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.settling import settled
from setveil.rows.hierarchy.build import by_cooccurrence
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee
from setveil.runs.options.inputs import draw_rows
from setveil.runs.options.reading import WRITTEN, Reading
from setveil.work.past.run import PastRun


def find_rows(
    run: PastRun,
    path: list[str] | None,
    reading: Reading,
    read_rows: Callable[..., Transactions] = read,
) -> Transactions:
    """Read the rows that a run was made from, or those named instead, as recorded unless named otherwise."""
    report = run.report
    recorded = report["input"]
    how = _recorded_reading(report) | reading.explicit_options()
    paths = path or None
    if paths is None and how.get("query") is None:
        read_from = recorded.get("read")
        paths = [file["path"] for file in read_from["files"]] if read_from else []
        paths = paths[: len(paths) - len(also_of(how.get("also") or ()))]  # these are read as the option says
        absent = [one for one in paths if one == "-" or not Path(one).exists()]
        if not paths or absent:
            where = "standard input" if recorded["path"] == "-" else recorded["path"] or "memory"
            lost = f", where there is no {absent[0]} now" if absent and absent[0] != "-" else ""
            raise DataError(
                f"The rows of this run came from {where}{lost}.", hint="Name their file: --data FILE."
            )
    if paths is not None:
        how = {name: value for name, value in how.items() if name not in {"query", "connection"}}
    else:
        _require_named(str(how.get("connection", "")), reading)
    try:
        data = read_rows(paths[0] if paths and len(paths) == 1 else paths, **how)
    except SetveilError as error:
        error.hint = error.hint or "Name the file that the run read: --data FILE."
        raise
    require_same_file(run, data)
    return rows_of_run(run, data)


def _require_named(address: str, reading: Reading) -> None:
    """Refuse an address that only the record of a run names, unless it is a file, which is only read.

    The record may be someone else's, and a server executes its query with the rights of who asks.
    """
    if HIDDEN in address:
        raise RequestError("The record of a run leaves secrets out: give --connection again.")
    if reading.connection is None and is_server(address):
        raise RequestError(
            f"Only the record of the run names the database {shorten(redacted(address))}, which would run "
            "a query with your rights. Expected that you name it.",
            hint=faces(
                "If you trust the record, give --connection again.", "Read the rows yourself: data=rows."
            ),
        )


def require_same_file(run: PastRun, data: Transactions) -> None:
    """Refuse rows of another file than the one that a run read."""
    recorded = run.report["input"]["sha256"]
    same = data.origin.sha256 if data.origin else None
    if recorded is not None and same is not None and same != recorded:
        raise DataError(
            f"{data.origin.path if data.origin else 'The file'} is not what the run read: its SHA-256 is "
            f"{same[:12]}…, recorded is {recorded[:12]}….",
            hint="It was changed since, or is another file: name the right one with --data, or run again.",
        )


def rows_of_run(run: PastRun, data: Transactions) -> Transactions:
    """Take from rows those that a run was made from, which may be a sample of them."""
    sample, recorded = run.report.get("sample"), run.report["input"]
    read = recorded.get("read")
    if read and read.get("respelled"):
        data = data.with_spellings_of(run.image)
    if sample and data.n_rows == sample["of"]:
        data = draw_rows(data, sample["rows"], sample["seed"])
    if data.only_facts:
        data = settled(data, run.report["guarantee"]["k"])
    rows = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    for entry in run.report.get("frequencies") or ():  # rows in memory have no hash
        if rows.get(entry["item"]) != entry["rows"]:
            raise DataError(
                f"These are not the rows of the run: {shorten(entry['item'])} is in "
                f"{rows.get(entry['item'], 0):,} of them, recorded are {entry['rows']:,}.",
                hint="Read them as the run did (--format, --id-column, --item-column).",
            )
    found = (data.n_rows, int((data.row_lengths() == 0).sum()), data.n_items, data.n_occurrences)
    expected = tuple(recorded[name] for name in ("rows", "empty_rows", "items", "occurrences"))
    if found != expected:
        what = "{:,} rows ({:,} empty) of {:,} items, {:,} occurrences".format
        raise DataError(
            f"These are not the rows of the run: {what(*found)}; recorded are {what(*expected)}.",
            hint="Read them as the run did (--format, --id-column, --item-column).",
        )
    return data


def _recorded_reading(report: Record) -> dict[str, Any]:
    """Say how the run read its files: by its options, or by what it found out."""
    found: Mapping[str, Any] = report["input"].get("read") or {}
    options = {
        name: value
        for name in options_of(Reading)
        if (value := (report.get("options") or {}).get(name.replace("_", "-"))) is not None
    }
    if options.get("query") is not None:
        return options
    options.pop("format", None)  # which may be that of the published file
    how = options | ({"format": found["layout"]} if found.get("layout") in FORMATS else {})
    if found.get("item_columns"):
        of_also = [one.columns for one in also_of(found.get("also") or ()) if one.columns]
        how["not_ids"] = [*found["item_columns"], *of_also]  # the run has published them
    if found.get("unit"):
        how["rows_are_events"] = True
    if found.get("encoding"):
        how.setdefault("encoding", found["encoding"])
    if found.get("normalized"):
        how["normalize"] = found["normalized"]["how"]
    if report.get("options"):
        return how
    how |= {name: found[name] for name in (*WRITTEN, *OF_LINES, *OF_LACKING, "also") if name in found}
    columns = found.get("item_columns") or []
    query = {}
    if found.get("query"):
        query = {"query": found["query"], "connection": found["files"][0]["path"]}
    by_line = found.get("delimiter") and not found.get("id_column")
    long = found.get("layout") in {"long", "parquet", "jsonl"} and len(columns) == 1 and not by_line
    more = {
        "separator": found.get("separator") if found.get("encoding") else None,  # of text, that is
        "id_column": found.get("id_column"),
        "item_column": columns[0] if long else None,
        "item_columns": None if long or not columns else columns,
        "delimiter": found.get("delimiter"),
    }
    takes = FORMATS[found["layout"]].takes if found.get("layout") in FORMATS else ()
    how |= {name: value for name, value in more.items() if value is not None and name in takes}
    return how | query


def find_tree(run: PastRun, data: Transactions, hierarchy: Any, encoding: str) -> Hierarchy | None:
    """Find a run's hierarchy: named, its file, or made from the rows; None: it had none that applies."""
    recorded = run.report.get("hierarchy")
    if recorded is None or run.report["guarantee"]["model"] == "constraints":
        if hierarchy is not None:
            raise RequestError(
                "The labels of this run are no nodes of a hierarchy: --hierarchy does not apply."
            )
        return None
    if hierarchy is None and recorded["source"] == "co-occurrence":
        tree = by_cooccurrence(data, common=least_rows(run.report["guarantee"]))
        return tree.relabelled(recorded.get("renamed", {}))
    if hierarchy is None and recorded["source"] == "file":
        hierarchy = Path(recorded["path"] or "")
        if not hierarchy.is_file():
            raise DataError(
                f"The hierarchy of this run was {hierarchy}, where there is no file now.",
                hint="Name it: --hierarchy FILE.",
            )
    if hierarchy is None:
        raise DataError(
            "The hierarchy of this run was made in Python, and is in no file.",
            hint="Give it, or its file: --hierarchy FILE.",
        )
    named = isinstance(hierarchy, str | PathLike)
    if named:
        tree_encoding = recorded.get("encoding", encoding)
        tree = fitted(read_hierarchy(hierarchy, encoding=tree_encoding), run.image)
    else:
        tree = fitted(hierarchy, run.image)
    # The recoding of a run in classes is told class by class.
    other = "" if run.report["recoding"] == "classes" else _not_that_of(run, recorded, tree)
    if other:
        raise DataError(
            f"{hierarchy if named else 'The hierarchy'} is not that of the run: {other}.",
            hint="Name the right one with --hierarchy, or run again.",
        )
    return tree


def _not_that_of(run: PastRun, recorded: HierarchyPart, tree: Hierarchy) -> str:
    """Say what tells a hierarchy from that of a run; empty: nothing."""
    found = tree.origin.sha256 if tree.origin else None
    if found and recorded["sha256"] and found != recorded["sha256"]:
        return f"its SHA-256 is {found[:12]}…, recorded is {recorded['sha256'][:12]}…"
    if (tree.n_leaves, tree.height) != (recorded["leaves"], recorded["height"]):
        leaves = f"{tree.n_leaves:,} leaves and height {tree.height}"
        return f"it has {leaves}, recorded are {recorded['leaves']:,} and {recorded['height']}"
    labels = {label for label in run.image.values() if label is not None}
    other = run.image.keys() != set(tree.labels[: tree.n_leaves]) or not labels <= set(tree.labels)
    if run.image and other:  # in runs of tables items may have several labels
        return "it has other items or labels than the run's recoding"
    return ""


def find_guarantee(run: PastRun, data: Transactions, encoding: str) -> Guarantee:
    """Return the guarantee of a run."""
    known = run.guarantee or run.promise()
    if known is not None:
        return known
    recorded = run.report["guarantee"]
    privacy = (run.report.get("options") or {}).get("privacy")
    if privacy is None:
        raise DataError(
            "The record of this run does not hold the itemsets that it protects.",
            hint="In Python, ask the release itself: sv.why(release, ...).",
        )
    texts = {"k": recorded["k"], "privacy": privacy}
    guarantee = make_guarantee("constraints", texts, Inputs(data, encoding, seed=run.report["seed"]))
    found = guarantee.as_dict()["itemsets"]
    if found != recorded["itemsets"]:
        raise DataError(
            f"{privacy} contains {found:,} itemsets, the run protected "
            f"{recorded['itemsets']:,}: it was changed since.",
            hint="Run again.",
        )
    return guarantee
