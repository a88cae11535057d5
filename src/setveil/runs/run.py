"""One run, from data to a verified release: anonymize, verify, measure, record."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from setveil import algorithms
from setveil.algorithms import AlgorithmInfo
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import GuaranteeError, RequestError, described, faces, listed
from setveil.guarantees import Guarantee, models
from setveil.guarantees.verify import Verdict, require_guarantee
from setveil.hierarchy.build import by_cooccurrence
from setveil.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.notebook import card
from setveil.options.models import require_watched
from setveil.progress import Progress, listener, silent
from setveil.published import Release, publish
from setveil.published.counts import Counts
from setveil.published.rows import RowsRelease
from setveil.published.tables import TableRelease
from setveil.report.record import Record
from setveil.report.run.summary import facts, summary
from setveil.runs.check import check
from setveil.runs.details import answers, recorded, risks
from setveil.runs.distance import distance, require_known_optimum
from setveil.runs.folder import PAGE, counts, write_folder
from setveil.staging import scratch_folder
from setveil.tables.table import Table
from setveil.utility import Case, measured


@dataclass(frozen=True, eq=False)
class VerifiedRelease:
    """A release whose guarantee was re-checked from the published rows; others are never handed over.

    Attributes
    ----------
    release : Release
        What is published, how it was made and which row is whose.
    published, recoding, row_map, counts, details
        Those of the release.
    verdict : Verdict
        What the verifier found.
    utility : dict
        What was lost (see `setveil.measure`).
    report : dict
        The record of the run, as written to report.json.

    Examples
    --------
    >>> import setveil as sv
    >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
    >>> sorted(release.published.rows()), release.verdict.holds
    ([('milk',), ('milk', 'tea'), ('tea',)], True)
    """

    release: Release
    verdict: Verdict
    utility: dict[str, Any]
    report: Record
    layout: Layout

    @property
    def published(self) -> Transactions:
        """Rows of items to share, in an order that tells nothing of the input's."""
        return self.release.published

    @property
    def recoding(self) -> Any:
        """What each item, or each occurrence of one, became, or the group of each row. Stays inside."""
        return self.release.recoding

    @property
    def row_map(self) -> NDArray[np.int64]:
        """The published row of each input row: int64 (n_rows,). Stays inside."""
        return self.release.row_map

    @property
    def counts(self) -> Counts | None:
        """Supports of items that are published beside the rows; None if none are."""
        return self.release.counts

    @property
    def details(self) -> dict[str, Any]:
        """What the algorithm has to say of its run."""
        return self.release.details

    def write(
        self,
        out: str | PathLike[str],
        *,
        force: bool = False,
        format: str | None = None,  # noqa: A002
        external: bool = False,
        record: Mapping[str, Any] = MappingProxyType({}),
    ) -> Record:
        """Write the run's folder: `published` may be shared, `internal` must stay inside.

        Parameters
        ----------
        out : path
            A folder that does not exist or is empty. It appears complete or not at all.
        force : bool
            Replace a folder that an earlier run wrote.
        format : str, optional
            Format of the published file; by default that of the input. Generalized labels are no integers,
            so FIMI becomes basket where there are any.
        external : bool
            Also write published/report.html, a report without anything that must stay inside.
        record : mapping
            What the report is to say besides, as JSON types: `command`, `options`, `sample`, `about`,
            `names`.

        Returns
        -------
        dict
            The report, as written to internal/report.json.

        Raises
        ------
        OutputError
            If the folder exists or cannot be written.
        RequestError
            If a format is named for rows in groups, or an argument is of a wrong type.

        Examples
        --------
        >>> import setveil as sv
        >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
        >>> release.write("release")["published"]["file"]
        'data.csv'
        """
        if not isinstance(out, str | PathLike):
            raise RequestError(f"The folder to write must be a path, got {described(out)}.")
        if format is not None and not isinstance(format, str):
            raise RequestError(f"format must be the name of a format, got {described(format)}.")
        layout = self.release.layout(self.layout, format)
        report = cast("Record", {**self.report, **record})
        return write_folder(self.release, report, layout, Path(out), force=force, external=external)

    def report_html(self, *, external: bool = False) -> str:
        """Make the report page of the run, as `write` does.

        Parameters
        ----------
        external : bool
            Make the page that may be shared with the published rows instead: nothing in it must stay inside.

        Returns
        -------
        str
            A page that loads nothing. Risk and answers are in it if `anonymize` was called with
            ``details=True``.

        Examples
        --------
        >>> import setveil as sv
        >>> release = sv.anonymize([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=1))
        >>> release.report_html(external=True)[:15]
        '<!DOCTYPE html>'
        """
        with scratch_folder() as place:
            folder = place / "release"
            self.write(folder, external=external)
            page = folder / ("published" if external else "internal") / PAGE
            return page.read_text(encoding="utf-8")

    def _shown(self) -> Record:
        return {**self.report, "published": counts(self.published)}

    def __repr__(self) -> str:
        return summary(self._shown())

    def _repr_html_(self) -> str:
        return card("Verified release", facts(self._shown()).items())


def anonymize(
    data: Transactions,
    guarantee: Guarantee,
    *,
    hierarchy: Hierarchy | None = None,
    algorithm: Any = None,
    seed: int = 0,
    bound: bool | float = False,
    counts: bool | int = True,
    details: bool = True,
    watched: Collection[str] = (),
    progress: Progress = silent,
    **parameters: Any,
) -> VerifiedRelease:
    """Make a release that keeps a promise, and prove that it does (see `setveil.anonymize`).

    Parameters
    ----------
    data : Transactions
        The rows.
    guarantee, seed, bound, counts, details, progress
        As for `setveil.anonymize`.
    hierarchy : Hierarchy, optional
        What items may be generalized to.
    watched : collection of str
        Sensitive items of which the promise says nothing; see `setveil.anonymize`.
    algorithm : str or parameters of an algorithm, optional
        The name of an algorithm, whose own parameters may follow by name, or an object of them.
    **parameters
        The algorithm's own parameters.
    """
    terms = _terms(guarantee, algorithm, seed, bound, counts, parameters)
    if watched:
        require_watched(models()[guarantee.model], details=details)
    progress = listener(progress)
    timing: dict[str, float] = {"read": data.origin.seconds} if data.origin else {}
    if hierarchy is not None and hierarchy.origin is not None:
        timing["hierarchy"] = hierarchy.origin.seconds
    require_form(data, guarantee)
    guarantee.require_feasible(data)
    hierarchy = _hierarchy(data, hierarchy, terms.info, guarantee.model, timing, progress)

    progress(f"anonymizing ({terms.algorithm})")
    with timed(timing, "anonymize"):
        recoding, told = terms.module.anonymize(data, hierarchy, guarantee, terms.settings, progress)
        release = publish(data, recoding, terms.seed, told, terms.counts)
    timing |= release.details.get("timing", {})
    progress("verifying")
    with timed(timing, "verify"):
        verdict = checked(data, release, guarantee, progress)
    if not verdict.holds:
        raise GuaranteeError(
            f"The release of {terms.algorithm} failed its check. {verdict!r} Nothing was written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    found = looked_at(data, release, guarantee, timing, progress, details=details, watched=watched)
    if bound and found["optimality"] is None:
        progress("finding the optimum")
        with timed(timing, "bound"):
            found["optimality"] = distance(
                found["utility"], terms.info, terms.settings, data, hierarchy, guarantee,
                None if isinstance(bound, bool) else bound, progress,
            )  # fmt: skip
    report = recorded(
        data, hierarchy, release, verdict, found, timing,
        algorithm={"name": terms.algorithm, "info": terms.info, "settings": terms.settings},
        guarantee=guarantee, seed=terms.seed,
    )  # fmt: skip
    layout = data.origin.layout if data.origin else Layout("basket")
    return VerifiedRelease(release, verdict, found["utility"], report, layout)


def checked(
    data: Transactions, release: Release, guarantee: Guarantee, progress: Progress, **more: Any
) -> Verdict:
    """Check what is going to be published, with what the model's verifier must know besides."""
    known: dict[str, Callable[[], Any]] = {"image": release.image, "original": lambda: data}
    more |= {name: known[name]() for name in models()[guarantee.model].knows}
    about = release.meaning() if isinstance(release, RowsRelease | TableRelease) else {}
    return check(release.exposed(), guarantee, release.counts, about, **more, progress=progress)


def looked_at(
    data: Transactions,
    release: Release,
    guarantee: Guarantee,
    timing: dict[str, float],
    progress: Progress,
    *,
    details: bool,
    watched: Collection[str] = (),
) -> dict[str, Any]:
    """Find what the record of a run says of a release: what was lost, and with `details` use and risk."""
    progress("measuring")
    with timed(timing, "measure"):
        found: dict[str, Any] = {"utility": measured(Case(data, **release.measurable(), progress=progress))}
    if details:
        with timed(timing, "answers"):
            found["answers"] = answers(data, release, progress)
        with timed(timing, "risk"):
            found["risk"] = risks(data, release, guarantee, watched, progress)
    return found | {"watched": list(watched), "optimality": release.details.get("optimality")}


@dataclass(frozen=True)
class _Terms:
    """What a run was asked for, checked."""

    algorithm: str
    module: Any
    settings: Any
    seed: int
    counts: int  # the least that may be published, 0: none

    @property
    def info(self) -> AlgorithmInfo:
        info: AlgorithmInfo = self.module.info
        return info


def _terms(
    guarantee: Guarantee,
    algorithm: Any,
    seed: int,
    bound: bool | float,
    counts: bool | int,
    parameters: dict[str, Any],
) -> _Terms:
    """Check what was asked for; choose the algorithm where none is named."""
    model = require_guarantee(guarantee).model
    require_seed(seed)
    if not isinstance(bound, Real) or bound < 0:
        raise RequestError(
            f"bound must be True, False or a positive number of seconds, got {described(bound)}."
        )
    name, settings = named_algorithm(algorithm)
    name = name or models()[model].algorithm
    module = algorithms.load(name)
    algorithms.require_gives(name, model)
    if bound:
        require_known_optimum(name, module.info, model)
    if settings is not None and parameters:
        raise RequestError(
            f"Parameters of {name} are given twice, inside {type(settings).__name__}(...) and beside it: "
            f"{', '.join(parameters)}.",
            hint=f"Give all of them to {type(settings).__name__}(...).",
        )
    if settings is None:
        settings = settings_of(module.Parameters, name, parameters)
    return _Terms(name, module, settings, int(seed), least_count(guarantee, counts))


def require_form(data: Transactions, guarantee: Guarantee) -> None:
    """Refuse a table where a promise is about rows of items, and rows of items where it is about tables."""
    model, of_tables = models()[guarantee.model], isinstance(data, Table)
    if (model.release == "tables") == of_tables:
        return
    suited = [one.name for one in models().values() if (one.release == "tables") == of_tables]
    if isinstance(data, Table):
        raise RequestError(
            f"{model.title} is about rows of items, and the data are a table: its columns "
            f"{listed([column.name for column in data.columns])} would be left out.",
            hint=f"Choose a promise for tables: {', '.join(suited)}.",
        )
    raise RequestError(
        f"{model.title} is about tables, and the data are rows of items without further columns.",
        hint="Say which columns someone may know and which holds the items: "
        f"{faces('--qi and --set', 'setveil.read_table')}. Without such columns choose one of "
        f"{', '.join(suited)}.",
    )


def require_seed(seed: object) -> None:
    """Refuse what is no seed."""
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise RequestError(f"The seed must be an integer of at least 0, got {described(seed)}.")


def least_count(guarantee: Any, counts: Any) -> int:
    """Find the least count that may be published, 0 for none: k, or what was asked for if that is more."""
    allowed = models()[guarantee.model].counts and not guarantee.secrets
    if isinstance(counts, bool):
        return guarantee.k if counts and allowed else 0
    if not isinstance(counts, Integral) or counts < 2:
        raise RequestError(
            f"counts must be True, False or an integer of at least 2, got {described(counts)}."
        )
    if not allowed:
        raise RequestError(
            f"{models()[guarantee.model].title}: no counts of items can be published beside such a release.",
            hint="They would tell more of sensitive items than the rows do.",
        )
    if counts < guarantee.k:
        raise RequestError(
            f"Counts below k = {guarantee.k} would speak of fewer rows than the promise does, "
            f"got {counts} as the least.",
            hint=f"Give {guarantee.k} or more.",
        )
    return int(counts)


def named_algorithm(algorithm: Any) -> tuple[str | None, Any]:
    """Name an algorithm by what was given for it: a name, parameters or their class, or None.

    Returns
    -------
    name : str or None
        None where nothing was given.
    settings : parameters or None
        None where only a name was given.
    """
    if algorithm is None or isinstance(algorithm, str):
        return algorithm, None
    kind = algorithm if isinstance(algorithm, type) else type(algorithm)
    for name in algorithms.names():
        if kind is algorithms.load(name).Parameters:
            return name, algorithm() if isinstance(algorithm, type) else algorithm
    raise RequestError(
        f"The algorithm must be a name or the parameters of one, got {described(algorithm)}.",
        hint=f'Such as "aa" or setveil.AA(refine=True). There are {", ".join(algorithms.names())}.',
    )


def settings_of(kind: Any, algorithm: str, parameters: dict[str, Any]) -> Any:
    """Make the parameters of an algorithm from values by name."""
    known = [f.name for f in fields(kind)]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise RequestError(
            f"{algorithm} has no parameter {', '.join(unknown)}; it has {', '.join(known) or 'none'}."
        )
    return kind(**parameters)


def _hierarchy(
    data: Transactions,
    given: Hierarchy | None,
    info: AlgorithmInfo,
    model: str,
    timing: dict[str, float],
    progress: Progress,
) -> Hierarchy | None:
    """Take the hierarchy given, or make one; None for an algorithm that has no use for it."""
    if "hierarchy" not in info.uses:
        return None
    if given is not None or "hierarchy" not in info.needs_for(model):
        return given
    progress("grouping items that often occur together")
    with timed(timing, "hierarchy"):
        if data.n_items:
            return by_cooccurrence(data)
        nothing = Hierarchy({"*": None})  # for rows without any item
        nothing.origin = HierarchyOrigin("co-occurrence")
        return nothing


@contextmanager
def timed(timing: dict[str, float], phase: str) -> Iterator[None]:
    """Note the seconds that the work of a phase takes."""
    start = time.perf_counter()
    yield
    timing[phase] = round(time.perf_counter() - start, 4)
