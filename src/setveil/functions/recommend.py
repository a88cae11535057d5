"""Say which release loses least."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.data.io import Layout, save
from setveil.data.io.write import quoting
from setveil.data.relational import Table
from setveil.data.transactions import Transactions
from setveil.errors import RequestError, described
from setveil.functions.given import (
    NO_COLUMNS,
    Listener,
    TreeLike,
    heard,
    integer,
    integer_or_none,
    is_path,
    labels_of,
    path_of,
    rows_of,
    share_of,
    tree_of,
)
from setveil.guarantees.km import KmAnonymity
from setveil.guarantees.km_rho import PUBLIC, KmRho
from setveil.guarantees.rho_uncertainty import RhoUncertainty
from setveil.hierarchy.io import write_hierarchy
from setveil.hierarchy.tree import Hierarchy
from setveil.staging import keep_private, private_file, private_folder, scratch_folder
from setveil.studies.candidates import (
    Candidate,
    candidates,
    inference_candidates,
    known_items,
    table_candidates,
    uncertainty_candidates,
)
from setveil.studies.plan import data_set
from setveil.studies.recommend import TIME_BUDGET, record
from setveil.studies.recommend import recommend as advise
from setveil.studies.table_files import table_files
from setveil.utility.queries import read_queries
from setveil.values.kinds import Reference, reference
from setveil.values.numbers import as_written, written


def recommend(
    data: str | PathLike[str] | object,
    k: int | None = None,
    m: int | float = 2,
    *,
    rho: float | Fraction | str | None = None,
    sensitive: Iterable[str] | str | PathLike[str] | None = None,
    knows: str = PUBLIC,
    hierarchy: TreeLike = None,
    queries: str | PathLike[str] | None = None,
    private: Iterable[str] | str | PathLike[str] | None = None,
    h: float | Fraction | str | None = None,
    share: float | Fraction | str | None = None,
    time_budget: float = TIME_BUDGET,
    jobs: int | None = None,
    seed: int = 0,
    progress: Listener = None,
) -> dict[str, Any]:
    """Try what can keep a promise, and say which release loses least. No release is kept.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions, or Table
        The rows, or a table that `setveil.read_table` read.
    k, m : int
        At least k rows fit what somebody knows, up to m items (`math.inf`: any number), and of a table all
        quasi-identifiers. Without k, `rho` is asked for alone (rho-uncertainty), whatever is known.
    rho : number or str, optional
        Greatest probability with which a sensitive item may be learned.
    sensitive : list of str, or text, optional
        With `rho`: the sensitive items, a list, or as on the command line a file or a text with commas.
    knows : {"public", "any"}
        With `rho` and k: which items somebody may know.
    hierarchy : Hierarchy or path, optional
        What items may be generalized to.
    queries : path, optional
        A file of the COUNT queries that the release is for: their errors decide instead of LM.
    private : list of str, or text, optional
        Items that nobody may learn of a person with a probability above `h`: a list, or as on the command
        line a file or a text with commas.
    h : number or str, optional
        By default 0.5.
    share : number or str, optional
        Of a table: the share of the quasi-identifiers in its loss, by default 1/4; the rest is the items'.
    time_budget : float
        Seconds for everything that is tried. Each candidate runs in a process of its own.
    jobs : int, optional
        Runs at the same time; by default one per processor.
    seed : int
        Draws the queries that are measured.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil recommend --json`` prints (see docs/recommend.md): `best`, the candidate to recommend
        (None: none was finished in time), and all `candidates`, best first, each with its `algorithm`,
        `options`, `loss`, `status`, measures and the `command` that makes its release (None where the data,
        the hierarchy or the private or sensitive items are no files or texts); `by` names the loss; `safer`
        is a candidate that loses little more and leaves fewer rows unique.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type.
    DataError
        If a file cannot be read, or a private item is not in the data.
    InfeasibleError
        If nothing can keep the promise.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> advice = sv.recommend(rows, k=2, m=1)
    >>> advice["by"], advice["best"]["loss"]
    ('lm', 0.0)
    """
    bounded = _asked(k, m, rho, sensitive, knows, private)
    if k is None and not bounded:
        raise RequestError("k is missing: how many rows must fit what somebody knows.")
    most = math.inf if k is None else (KmRho(k, m) if bounded else KmAnonymity(k, m)).m
    size: int | str = "inf" if most == math.inf else int(most)
    if h is not None and private is None:
        raise RequestError("h goes with private.", hint="It says how likely a private item may become.")
    if isinstance(time_budget, bool) or not isinstance(time_budget, Real) or time_budget < 1:
        raise RequestError(f"time_budget must be at least 1 second, got {described(time_budget)}.")
    listening, seed = heard(progress), integer("seed", seed, 0)
    workers = integer_or_none("jobs", jobs, 1)
    questions = None if queries is None else path_of("queries", queries)
    rows, tree = rows_of(data, tables=True), tree_of(hierarchy)
    of_table = isinstance(rows, Table)
    part = _share(share, private, of_table=of_table)
    if of_table and bounded:
        raise RequestError(
            "rho does not apply to tables: nothing that is tried hides what the rows of a class have in "
            "common.",
            hint='setveil.anonymize(table, setveil.KKmAnonymity(k, m, sensitive=[...], h="50%")) does.',
        )
    if tree is None and isinstance(rows, Table):
        tree = rows.tree
    if questions is not None:
        read_queries(questions, rows, "utf-8")  # refused now rather than by every run
    with scratch_folder() as folder:
        named = sensitive if bounded else private
        labels = labels_of("sensitive" if bounded else "private", named, rows)
        secrets = None if named is None else reference(_item_file(folder, labels))
        if isinstance(rows, Table):
            read, roles = table_files(rows, folder, tree)
            asked = data_set(read, roles=roles)
            tried = table_candidates(k or 0, size, share_of(part))
        else:
            read, reading = _data_file(folder, data, rows)
            asked = data_set(read, hierarchy=_tree_file(folder, hierarchy, tree), reading=reading)
            tried = _tried(k, size, rho, secrets, knows, None if h is None else str(h))
        keep_private(folder)
        advice = advise(
            asked, tried, private_folder(folder / "runs"), leaves=None if tree is None else tree.n_leaves,
            known=known_items(size),
            queries_file=None if questions is None else reference(questions), share=part, asked=bounded,
            time_budget=float(time_budget), jobs=workers, seed=seed, progress=listening,
        )  # fmt: skip
    files = all(given is None or is_path(given) for given in (data, hierarchy, named))
    return record(
        advice, inputs=[str(data)] if files else None, seed=seed,
        hierarchy=Path(hierarchy) if is_path(hierarchy) else None,
        private=None if named is None else str(named),
    )  # fmt: skip


def _asked(k: Any, m: Any, rho: Any, sensitive: Any, knows: Any, private: Any) -> str:
    """Name the model that is asked for where it bounds what is learned of sensitive items; else empty."""
    if rho is None:
        if sensitive is not None or knows != PUBLIC:
            raise RequestError("sensitive and knows go with rho.", hint="Such as rho=0.2.")
        return ""
    if sensitive is None:
        raise RequestError("rho needs sensitive.", hint="It says how likely which items may become.")
    if private is not None:
        raise RequestError("private is of coherence; beside rho and sensitive it says nothing.")
    if k is None:
        if knows != PUBLIC:
            raise RequestError("Without k all items may be known: knows says nothing.", hint="Leave it out.")
        return RhoUncertainty(rho).model
    return KmRho(k, m, rho, knows=knows).model


def _tried(
    k: int | None, size: int | str, rho: Any, secrets: Reference | None, knows: str, h: str | None
) -> list[Candidate]:
    """List what can keep a promise about rows of items."""
    if rho is None or secrets is None:
        return candidates(k or 0, size, secrets, h)
    share = written(as_written(rho))
    if k is None:
        return uncertainty_candidates(share, secrets)
    return inference_candidates(k, size, share, secrets, knows)


def _share(share: Any, private: Any, *, of_table: bool) -> Fraction | None:
    """Take the share of the quasi-identifiers; None where there are none."""
    if not of_table:
        if share is not None:
            raise RequestError(NO_COLUMNS, hint="setveil.read_table(...) reads a table.")
        return None
    if private is not None:
        raise RequestError(
            "private does not apply to tables: nothing that is tried hides what the rows of a class have in "
            "common.",
            hint='setveil.anonymize(table, setveil.KKmAnonymity(k, m, sensitive=[...], h="50%")) does.',
        )
    return share_of(share)


def _data_file(folder: Path, data: object, rows: Transactions) -> tuple[Path, dict[str, str]]:
    """Name the file that the runs read, or write one, and say how it is read."""
    if is_path(data) and Path(data).is_file():
        return Path(data), {}
    layout, path = Layout("jsonl"), folder / "data.jsonl"
    save(rows, path, layout)
    return path, layout.options()


def _tree_file(folder: Path, hierarchy: object, tree: Hierarchy | None) -> Path | None:
    if tree is None:
        return None
    if is_path(hierarchy):
        return Path(hierarchy)
    path = folder / ("hierarchy.json" if tree.n_nodes > 1 else "hierarchy.csv")
    write_hierarchy(tree, path)
    return path


def _item_file(folder: Path, labels: Iterable[str]) -> Path:
    path = folder / "private.csv"
    with private_file(path, "w", encoding="utf-8", newline="") as file:
        file.writelines(f"{line}\n" for line in map(quoting(","), labels))
    return path
