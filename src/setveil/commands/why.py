"""Say why a label is not split, or an item suppressed."""

from __future__ import annotations

from collections.abc import Callable
from os import PathLike
from typing import Any

from setveil.base.errors import DataError, RequestError, described, faces
from setveil.base.progress import Progress
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    heard,
    integer,
    integer_or_none,
    is_path,
    rows_of,
    tree_of,
    tree_of_codes,
)
from setveil.releases.published.table_files import require_no_facts
from setveil.report.why import why_text
from setveil.report.why_tables import why_table_text
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.tables.table import Table
from setveil.runs.options.reading import DETECTED
from setveil.runs.run import VerifiedRelease
from setveil.work.past.classes import in_class, require_class
from setveil.work.past.facts import FactBoxes, find_code_trees, find_facts, has_facts
from setveil.work.past.inputs import find_guarantee, find_rows, find_tree, rows_of_run
from setveil.work.past.run import PastRun, past_run
from setveil.work.past.tables import find_table, records_people, require_table, table_guarantee
from setveil.work.past.why import require_splittable
from setveil.work.past.why import why as explain
from setveil.work.past.why_tables import AsPublished, why_table


def why(
    run: str | PathLike[str] | VerifiedRelease,
    name: str,
    *,
    row: int | None = None,
    data: str | PathLike[str] | object = None,
    hierarchy: TreeLike = None,
    show: int = 10,
    class_: int | None = None,
    progress: Listener = None,
) -> dict[str, Any]:
    """Say why a label is not split, an item is suppressed or has no name of its own, or a value is broader.

    The label is split, or the item brought back, and the verifier lists what breaks. Then the fewest items
    are found without which nothing would, and the verifier checks that, too. The answer tells of the original
    rows, down to single ones: it is internal.

    Parameters
    ----------
    run : path or VerifiedRelease
        The folder of a run, or a release made by `setveil.anonymize`: of a table, or for k^m-anonymity or
        constraints.
    name : str
        A published label, an item, or a node of the hierarchy; of a table a column, an item, or a label; of
        facts a fact, or any other box of them.
    row : int, optional
        Of a table: the row that is asked about, from 1; by default one is chosen that shows most.
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions or Table, optional
        What was anonymized; by default the files that the run read, if they are still the same.
    hierarchy : Hierarchy, path, dict or data frame, optional
        The hierarchy of the run, where it came from no file, or the file is elsewhere now; of facts of
        several columns of codes, those by their names.
    show : int
        How many violations of each attempt to list.
    class_ : int, optional
        Of a release in classes: the class that is asked about.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil why --json`` prints (see docs/why.md): the `question`, the `tries` with what is to
        blame and what leaving it out, or moving it, would lose, and all of it in words (`text`).

    Raises
    ------
    DataError
        If nothing has this name; if rows or hierarchy are missing, or not those of the run.
    RequestError
        If the run is of a kind in which no label can be split.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = [["tea", "milk"], ["coffee", "milk"], ["tea"], ["coffee"], ["coffee"], ["maté"]]
    >>> paths = [["tea", "hot", "*"], ["coffee", "hot", "*"], ["maté", "hot", "*"], ["milk", "*"]]
    >>> drinks = sv.Hierarchy.from_paths(paths)
    >>> release = sv.anonymize(rows, sv.KmAnonymity(k=2, m=1), hierarchy=drinks, algorithm=sv.AA)
    >>> answer = sv.why(release, "hot", data=rows, hierarchy=drinks)
    >>> answer["tries"][0]["leave_out"]["labels"]
    ['maté']
    """
    if not isinstance(name, str) or not name:
        raise RequestError(f"The name must be that of a label or an item, got {described(name)}.")
    most, listening = integer("show", show, 0), heard(progress)
    at = None if row is None else integer("row", row, 1)
    if not isinstance(run, VerifiedRelease) and not is_path(run):
        raise RequestError(
            f"The run must be its folder or a release made by setveil.anonymize, got {described(run)}."
        )

    def found(recorded: PastRun) -> Transactions:
        if has_facts(recorded):
            return find_facts(recorded, data)
        return find_rows(recorded, None, DETECTED) if data is None else rows_of_run(recorded, rows_of(data))

    def table(recorded: PastRun) -> Table:
        if data is None or is_path(data):
            return find_table(recorded, path=None if data is None else str(data))
        require_table(recorded, data)
        return data  # type: ignore[return-value]  # as was just required

    return answered(
        run, name, found, hierarchy, row=at, table_of_past=table, show=most,
        class_=integer_or_none("class_", class_, 0), progress=listening,
    )  # fmt: skip


def answered(
    run: str | PathLike[str] | VerifiedRelease,
    name: str,
    rows_of_past: Callable[[PastRun], Transactions],
    hierarchy: TreeLike,
    *,
    row: int | None,
    table_of_past: Callable[[PastRun], Table],
    show: int,
    encoding: str = "utf-8",
    class_: int | None = None,
    progress: Progress,
) -> dict[str, Any]:
    """Say why, from a run and whatever finds its rows or table again (see `why`); `encoding`: of files."""
    recorded = past_run(run, "the release")
    require_class(recorded, class_)
    if records_people(recorded):
        require_no_facts(recorded.report)
        progress("reading")
        table = table_of_past(recorded)
        answer = _of_table(run, recorded, table, hierarchy, encoding, (name, row), show, progress)
        return answer | {"text": why_table_text(answer, show)}
    require_splittable(recorded, in_class=class_ is not None)
    if row is not None:
        raise RequestError(
            f"{faces('--row', 'row')} names a row of a table, and this run is of none.",
            hint="Omit it: here an item or a fact has the same label in every row.",
        )
    progress("reading")
    rows = rows_of_past(recorded)
    tree = boxes = None
    if rows.only_facts:
        facts = rows.facts
        own_tree = read_hierarchy(hierarchy, encoding=encoding) if is_path(hierarchy) else hierarchy
        codes = find_code_trees(recorded, facts, tree_of_codes(own_tree, facts))
        boxes = FactBoxes.of(facts, codes, Vocabulary(recorded.image))
    else:
        tree = find_tree(recorded, rows, _tree_or_path(hierarchy), encoding)
    guarantee = find_guarantee(recorded, rows, encoding)
    if class_ is not None and tree is not None:
        recorded, rows = in_class(recorded, run, rows, tree, class_)
    progress("verifying")
    answer = explain(recorded, rows, tree, guarantee, name, boxes=boxes, show=show, progress=progress)
    return answer | {"text": why_text(answer, show)}


def _tree_or_path(hierarchy: Any) -> Any:
    """Take what holds a hierarchy, but leave files to anyone who knows how they are written."""
    return hierarchy if is_path(hierarchy) else tree_of(hierarchy)


def _of_table(
    run: str | PathLike[str] | VerifiedRelease,
    recorded: PastRun,
    table: Table,
    hierarchy: TreeLike,
    encoding: str,
    cell: tuple[str, int | None],
    show: int,
    progress: Progress,
) -> dict[str, Any]:
    """Say why something of a table is published as it is; `cell`: its name, and the row."""
    tree = table.tree if hierarchy is None else None
    tree = tree or find_tree(recorded, table, _tree_or_path(hierarchy), encoding)
    if tree is None:
        raise DataError("The hierarchy of this run is not known.", hint="Name it: --hierarchy FILE.")
    if isinstance(run, VerifiedRelease):
        made = AsPublished.of(table, tree, run.release)  # type: ignore[arg-type]  # of a table
    else:
        made = AsPublished.read(table, tree, recorded)
    progress("verifying")
    promised = table_guarantee(recorded)
    return why_table(recorded, made, promised, *cell, show=show, progress=progress)
