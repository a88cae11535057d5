"""Say which release loses least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from numbers import Real
from os import PathLike
from pathlib import Path
from typing import Any

from setveil.base.deadline import Deadline
from setveil.base.errors import RequestError, as_option, described
from setveil.base.progress import silent
from setveil.base.staging import keep_private, private_file, private_folder, scratch_folder
from setveil.base.values.kinds import Value, reference
from setveil.base.values.numbers import as_written, written
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    alone,
    heard,
    integer,
    integer_or_none,
    is_path,
    items_or_table,
    labels_of,
    parameters_of,
    path_of,
    tree_beside,
    tree_of,
)
from setveil.commands.refusals import hides_nothing, require_no_share, share_of_columns
from setveil.judges.guarantees import Guarantee
from setveil.judges.guarantees.coherence import Coherence
from setveil.judges.guarantees.kkm import KKmAnonymity
from setveil.judges.guarantees.km import KmAnonymity, m_as_json
from setveil.judges.guarantees.km_rho import KNOWS, PUBLIC, KmRho
from setveil.judges.guarantees.rho_uncertainty import RhoUncertainty
from setveil.judges.utility.queries import read_queries
from setveil.report.recommend.kinds import Recommended
from setveil.rows.data.io.write import quoting, save
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.fit import fit_rows
from setveil.rows.hierarchy.io import write_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.rows.tables.files import table_files
from setveil.runs.options.guarantees import require_options
from setveil.runs.run import require_form
from setveil.work.studies.compare.plan import DataSet, data_set
from setveil.work.studies.recommend.candidates import (
    GREATEST_PROBABILITY,
    Candidate,
    candidates,
    inference_candidates,
    known_items,
    table_candidates,
    uncertainty_candidates,
)
from setveil.work.studies.recommend.recommend import TIME_BUDGET, Advice, record, with_regrouping
from setveil.work.studies.recommend.recommend import recommend as advise


def recommend(
    data: str | PathLike[str] | object,
    guarantee: Guarantee | None = None,
    *,
    k: int | None = None,
    m: int | float | None = None,
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
) -> Recommended:
    """Try what can satisfy a guarantee, and say which release loses least. No release is kept.

    Parameters
    ----------
    data : path, list of paths, data frame, Arrow stream, list of lists, Transactions, or Table
        The rows, or a table that `setveil.read_table` read.
    guarantee : KmAnonymity, KKmAnonymity, KmRho, RhoUncertainty or Coherence, optional
        The guarantee, in place of its parameters `k`, `m`, `rho`, `sensitive`, `knows`, `private` and `h`.
    k, m : int
        At least k rows fit what someone knows, up to m items (`math.inf`: any number; by default 2), and of a
        table all quasi-identifiers. Without k, `rho` is asked for alone (rho-uncertainty), whatever is known.
    rho : number or str, optional
        Greatest probability with which a sensitive item may be learned.
    sensitive : list of str, or text, optional
        With `rho`: the sensitive items, a list, or as on the command line a file or a text with commas.
    knows : {"public", "any"}
        With `rho` and k: which items someone may know.
    hierarchy : Hierarchy, path, dict or data frame, optional
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
        Seconds for everything, reading included. Each candidate runs in a process of its own.
    jobs : int, optional
        Runs at the same time; by default one per processor.
    seed : int
        Draws the queries that are measured.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    dict
        What ``setveil recommend --json`` prints (see docs/algorithms.md): `best`, the candidate to recommend
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
        If nothing can satisfy the guarantee.

    Examples
    --------
    >>> import setveil as sv
    >>> rows = 4 * [["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]]
    >>> advice = sv.recommend(rows, sv.KmAnonymity(k=2, m=1))
    >>> advice["by"], advice["best"]["loss"]
    ('lm', 0.0)
    """
    parts: dict[str, Any] = {"k": k, "m": m, "rho": rho, "sensitive": sensitive, "private": private, "h": h}
    if guarantee is not None:
        parts |= _parts_of(alone(guarantee, parts | {"knows": None if knows == PUBLIC else knows}))
    elif m is None and (k is not None or rho is None):  # without k all items may be known
        parts["m"] = 2
    promise = promised(**{"knows": knows, **parts})
    sensitive, private = parts["sensitive"], parts["private"]
    if isinstance(time_budget, bool) or not isinstance(time_budget, Real) or time_budget < 1:
        raise RequestError(f"time_budget must be at least 1 second, got {described(time_budget)}.")
    deadline = Deadline(float(time_budget))
    listening, seed = heard(progress), integer("seed", seed, 0)
    workers = integer_or_none("jobs", jobs, 1)
    questions = None if queries is None else path_of("queries", queries)
    rows, tree = items_or_table(data), tree_of(hierarchy)
    if guarantee is not None:
        require_form(rows, guarantee)
    if tree is not None:
        tree, rows = fit_rows(tree, rows)
    adviser = adviser_of(rows.kind)
    part = adviser.weight(promise, share)
    named = sensitive if promise.model else private
    labels = labels_of("sensitive" if promise.model else "private", named, rows)

    def files(folder: Path) -> DataSet:
        read, reading = _data_file(folder, data, rows)
        return data_set(read, hierarchy=_tree_file(folder, hierarchy, tree), reading=reading)

    advice = adviser.advise(
        rows, tree, promise, files,
        secrets=None if named is None else lambda folder: reference(_item_file(folder, labels)),
        queries=questions, share=part,
        deadline=deadline, jobs=workers, seed=seed, progress=listening,
    )  # fmt: skip
    paths = all(value is None or is_path(value) for value in (data, hierarchy, named))
    return record(
        advice, inputs=[str(data)] if paths else None, seed=seed,
        hierarchy=Path(hierarchy) if is_path(hierarchy) else None,
        private=None if named is None else str(named),
    )  # fmt: skip


_TRIED = {  # parameters of guarantees, by model
    KmAnonymity.model: ("k", "m"),
    KKmAnonymity.model: ("k", "m"),
    KmRho.model: ("k", "m", "rho", "sensitive", "knows"),
    RhoUncertainty.model: ("rho", "sensitive"),
    Coherence.model: ("k", "p", "private", "h"),
}


def _parts_of(guarantee: Guarantee) -> dict[str, Any]:
    """Return the parameters of a guarantee by the names of `recommend`."""
    parts = parameters_of(guarantee, _TRIED, "recommend")
    return {"m" if name == "p" else name: value for name, value in parts.items()}


@dataclass(frozen=True)
class WantedPromise:
    """The guarantee that releases must satisfy, without the items that are sensitive.

    `guarantee`: KmAnonymity, KmRho or RhoUncertainty. `rho`: as it was given; empty: not requested. `h`: with
    private items; None: the usual one.
    """

    guarantee: Any
    rho: str
    h: str | None
    private: bool

    @property
    def model(self) -> str:
        """The model requested, if it bounds what is learned of sensitive items; else empty."""
        return str(self.guarantee.model) if self.rho else ""

    @property
    def known(self) -> int:
        """Items that the attacker knows by whom releases are weighed."""
        return known_items(m_as_json(getattr(self.guarantee, "m", math.inf)))


def promised(
    k: Any, m: Any, rho: Any, sensitive: object, knows: str | None, private: object, h: Any
) -> WantedPromise:
    """Settle what is guaranteed, as far as that takes no data; None: was not given."""
    knows = None if knows == PUBLIC else knows
    texts = {"k": k, "m": m, "rho": rho, "sensitive": sensitive, "knows": knows}
    bounded = any(texts[name] is not None for name in ("rho", "sensitive", "knows"))
    if bounded:
        for name, value in (("private", private), ("h", h)):
            if value is not None:
                beside = f"{as_option('rho')} and {as_option('sensitive')}"
                raise RequestError(
                    f"{as_option(name)} is of coherence; with {beside} it has no effect.",
                    hint="Omit it.",
                )
    elif h is not None and private is None:
        raise RequestError(
            f"{as_option('h')} goes with {as_option('private')}.",
            hint="It says how likely a private item may become.",
        )
    model = "" if not bounded else "rho-uncertainty" if k is None and m is None else "km-rho"
    require_options(model or KmAnonymity.model, texts)
    if knows not in (None, *KNOWS):
        raise RequestError(f'{as_option("knows")} must be "public" or "any", got {described(knows)}.')
    guarantee: Any
    if k is None:
        guarantee = RhoUncertainty(rho)
    elif bounded:
        guarantee = KmRho(k, m, rho, knows=knows or PUBLIC)
    else:
        guarantee = KmAnonymity(k, m)
    if private is not None:
        Coherence(h or GREATEST_PROBABILITY, guarantee.k, guarantee.m)
    bound = "" if rho is None else written(as_written(rho, "rho"))
    bound = rho.strip() if isinstance(rho, str) else bound  # as it was given
    return WantedPromise(guarantee, bound, None if h is None else str(h), private is not None)


class RowsAdviser:
    """Rows of items; the defaults of other kinds of data."""

    def weight(self, _promise: WantedPromise, share: Any) -> Fraction | None:
        """Refuse what does not suit such data, and take the share of a table's columns; None: it has none."""
        require_no_share(share)
        return None

    def require_fit(self, rows: Any, tree: Hierarchy | None) -> None:
        """Refuse a hierarchy that lacks items, rather than by every run."""
        if tree is not None:
            tree.locate(rows.vocabulary)

    def data_set(
        self, _rows: Any, _tree: Hierarchy | None, folder: Path, files: Callable[[Path], DataSet]
    ) -> DataSet:
        """Name or write the data that the runs read."""
        return files(folder)

    def candidates(
        self, promise: WantedPromise, secrets: Value | None, _share: Fraction | None
    ) -> list[Candidate]:
        """List what can satisfy the guarantee."""
        return _tried(promise, secrets)

    def advise(
        self,
        rows: Transactions,
        tree: Hierarchy | None,
        promise: WantedPromise,
        files: Callable[[Path], DataSet],
        *,
        secrets: Callable[[Path], Value] | None,
        queries: Path | None,
        share: Fraction | None,
        deadline: Deadline,
        encoding: str = "utf-8",
        **how: Any,
    ) -> Advice:
        """Try what can satisfy a guarantee, in a scratch folder.

        `files`, `secrets`: name or write, in a folder, the rows that are no table, and the private or
        sensitive items. `deadline`: of everything, begun before the rows were read. `how`: see
        `setveil.work.studies.recommend.recommend.recommend`.
        """
        if queries is not None:
            read_queries(queries, rows, encoding)  # refused now rather than by every run
        self.require_fit(rows, tree)
        tree = tree or tree_beside(rows)
        with scratch_folder() as folder:
            hidden = None if secrets is None else secrets(folder)
            source, tried = self.data_set(rows, tree, folder, files), self.candidates(promise, hidden, share)
            keep_private(folder)
            advice = advise(
                source, tried, private_folder(folder / "runs"),
                leaves=None if tree is None else tree.n_leaves,
                known=promise.known, queries_file=None if queries is None else reference(queries),
                share=share, model=promise.model, time_budget=deadline.seconds, left=deadline.left,
                **how,
            )  # fmt: skip
        if tree is None or advice.by != "lm" or promise.model or promise.private:
            return advice
        progress = how.get("progress", silent)
        return with_regrouping(advice, rows, tree, promise.guarantee, deadline, progress)


class TableAdviser(RowsAdviser):
    """A table, whose columns count with a share in the loss."""

    def weight(self, promise: WantedPromise, share: Any) -> Fraction:
        """Refuse sensitive and private items; take the share of the columns."""
        if promise.model or promise.private:
            raise hides_nothing("rho" if promise.model else "private")
        return share_of_columns(share)

    def require_fit(self, rows: Any, tree: Hierarchy | None) -> None:
        """Refuse nothing: the hierarchy was read with the table."""

    def data_set(
        self, rows: Any, tree: Hierarchy | None, folder: Path, _files: Callable[[Path], DataSet]
    ) -> DataSet:
        """Write the table, with its roles and hierarchies, for the runs."""
        read, roles = table_files(rows, folder, tree)
        return data_set(read, roles=roles)

    def candidates(
        self, promise: WantedPromise, _secrets: Value | None, share: Fraction | None
    ) -> list[Candidate]:
        """List what can satisfy the guarantee about tables."""
        return table_candidates(promise.guarantee, share or Fraction(0))


def adviser_of(kind: str) -> RowsAdviser:
    """Find what is tried for data, by their kind (see `setveil.rows.data.exposed.Exposed`)."""
    return TableAdviser() if kind == "tables" else RowsAdviser()


def _tried(promise: WantedPromise, secrets: Value | None) -> list[Candidate]:
    """List what can satisfy a guarantee about rows of items."""
    if not promise.model or secrets is None:
        return candidates(promise.guarantee, secrets, promise.h)
    if promise.guarantee.smallest_group is None:
        return uncertainty_candidates(promise.rho, secrets)
    return inference_candidates(promise.guarantee, promise.rho, secrets)


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
