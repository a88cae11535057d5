"""One run, from data to a verified release: anonymize, verify, measure, record."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from numbers import Integral
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from setveil import algorithms
from setveil.algorithms import AlgorithmInfo
from setveil.algorithms.exact import exact
from setveil.data.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import GuaranteeError, RequestError
from setveil.guarantees import Guarantee, models
from setveil.guarantees.verify import Verdict, verify
from setveil.hierarchy.build import by_cooccurrence
from setveil.hierarchy.tree import Hierarchy, HierarchyOrigin
from setveil.progress import Progress, listener, silent
from setveil.published import Release, publish
from setveil.runs.details import answers, recorded, risks
from setveil.runs.folder import write_folder
from setveil.utility import Case, measured


@dataclass(frozen=True, eq=False)
class VerifiedRelease:
    """A release whose guarantee was re-checked from the published rows; others are never handed over.

    Attributes
    ----------
    release : Release
        What is published, how it was made and which row is whose.
    published, recoding, row_map, details
        Those of the release.
    verdict : Verdict
        What the verifier found.
    utility : dict
        What was lost (see `setveil.utility.measure.measure`).
    report : dict
        The record of the run, as written to report.json.
    """

    release: Release
    verdict: Verdict
    utility: dict[str, Any]
    report: dict[str, Any]
    layout: Layout

    @property
    def published(self) -> Transactions:
        """Rows of items to hand out, in an order that tells nothing of the input's."""
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
    def details(self) -> dict[str, Any]:
        """What the algorithm has to say of its run."""
        return self.release.details

    def write(
        self,
        out: str | Path,
        *,
        force: bool = False,
        format: str | None = None,  # noqa: A002
        external: bool = False,
    ) -> dict[str, Any]:
        """Write the run's folder: `published` to hand out, `internal` to keep.

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

        Returns
        -------
        dict
            The report, as written to internal/report.json.

        Raises
        ------
        OutputError
            If the folder exists or cannot be written.
        RequestError
            If a format is named for rows in groups.
        """
        layout = self.release.layout(self.layout, format)
        return write_folder(self.release, self.report, layout, Path(out), force=force, external=external)


def anonymize(
    data: Transactions,
    guarantee: Guarantee,
    *,
    hierarchy: Hierarchy | None = None,
    algorithm: str | None = None,
    seed: int = 0,
    bound: bool | float = False,
    details: bool = True,
    progress: Progress = silent,
    **parameters: Any,
) -> VerifiedRelease:
    """Make a release that keeps a promise, and prove that it does.

    Parameters
    ----------
    data : Transactions
        The rows.
    guarantee : KmAnonymity, TransactionalKAnonymity, PrivacyConstraints, Coherence or PrivacyDegree
        The promise.
    hierarchy : Hierarchy, optional
        What items may be generalized to. An algorithm that needs one and is given none groups items bought
        alike (`by_cooccurrence`); one that has no use for it does not look at it.
    algorithm : str, optional
        Name of an algorithm (`setveil algorithms` lists them); by default the first choice for the promise.
    seed : int
        Shuffles the published rows.
    bound : bool or float
        Also find how far a k^m-anonymous release is from the optimum: from the least NCP of all cuts, or,
        where the algorithm may suppress items, from the least LM of all cuts with suppressed items. A number
        limits the seconds that this may take (True: as the exact algorithm's `time_limit`).
    details : bool
        Also find what the report shows of the release's use and risk: errors of random COUNT queries,
        frequent itemsets that survive, rows that few known items single out, before and after.
    progress : Progress
        Hears how far the run is.
    **parameters
        The algorithm's own parameters.

    Returns
    -------
    VerifiedRelease

    Raises
    ------
    RequestError
        If the algorithm or a parameter does not exist, or the algorithm does not give this guarantee.
    InfeasibleError
        If no release can keep the promise.
    HierarchyError
        If items are missing from the hierarchy.
    GuaranteeError
        If the release failed verification (a defect of setveil).

    Examples
    --------
    >>> import setveil as sv
    >>> data = sv.Transactions.from_rows([["tea", "milk"], ["tea"], ["coffee", "milk"], ["coffee"]])
    >>> release = sv.anonymize(data, sv.KmAnonymity(k=2, m=1))
    >>> release.verdict.holds, release.utility["ncp"]
    (True, 0.0)
    """
    terms = _terms(guarantee, algorithm, seed, bound, parameters)
    progress = listener(progress)
    timing: dict[str, float] = {"read": data.origin.seconds} if data.origin else {}
    if hierarchy is not None and hierarchy.origin is not None:
        timing["hierarchy"] = hierarchy.origin.seconds
    guarantee.require_feasible(data)
    hierarchy = _hierarchy(data, hierarchy, terms.info, timing, progress)

    progress(f"anonymizing ({terms.algorithm})")
    with timed(timing, "anonymize"):
        recoding, told = terms.module.anonymize(data, hierarchy, guarantee, terms.settings, progress)
        release = publish(data, recoding, terms.seed, told)
    timing |= release.details.get("timing", {})
    progress("verifying")
    with timed(timing, "verify"):
        verdict = _verify(data, release, guarantee, progress)
    if not verdict.holds:
        raise GuaranteeError(
            f"The release of {terms.algorithm} has no {guarantee.phrase}: the check found "
            f"{verdict.violations:,} violations. Nothing was written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    progress("measuring")
    with timed(timing, "measure"):
        found: dict[str, Any] = {"utility": measured(Case(data, **release.measurable(), progress=progress))}
    if details:
        with timed(timing, "answers"):
            found["answers"] = answers(data, release, progress)
        with timed(timing, "risk"):
            found["risk"] = risks(data, release, guarantee, progress)
    found["optimality"] = release.details.get("optimality")
    if bound and found["optimality"] is None:
        progress("finding the optimum")
        with timed(timing, "bound"):
            found["optimality"] = _distance(
                found["utility"], terms.info.minimizes, data, hierarchy, guarantee, bound, progress
            )
    report = recorded(
        data, hierarchy, release, verdict, found, timing,
        algorithm={"name": terms.algorithm, "info": terms.info, "settings": terms.settings},
        guarantee=guarantee, seed=terms.seed,
    )  # fmt: skip
    layout = data.origin.layout if data.origin else Layout("basket")
    return VerifiedRelease(release, verdict, found["utility"], report, layout)


@dataclass(frozen=True)
class _Terms:
    """What a run was asked for, checked."""

    algorithm: str
    module: Any
    settings: Any
    seed: int

    @property
    def info(self) -> AlgorithmInfo:
        info: AlgorithmInfo = self.module.info
        return info


def _terms(
    guarantee: Guarantee, algorithm: str | None, seed: int, bound: bool | float, parameters: dict[str, Any]
) -> _Terms:
    """Check what was asked for; choose the algorithm where none is named."""
    model = getattr(guarantee, "model", None)
    if model not in models():
        raise RequestError(
            f"The guarantee must be a KmAnonymity or another model's, got {type(guarantee).__name__}.",
            hint=f"There are {', '.join(models())}.",
        )
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise RequestError(f"The seed must be an integer of at least 0, got {seed!r}.")
    algorithm = algorithm or models()[model].algorithm
    module = algorithms.load(algorithm)
    if model not in module.info.guarantees:
        raise RequestError(
            f"{algorithm} does not give {model} but {', '.join(module.info.guarantees)}.",
            hint=f"Use {', '.join(algorithms.giving(model))}.",
        )
    if bound and model not in exact.info.guarantees:
        raise RequestError("The distance to the optimum (bound) is known for k^m-anonymity only.")
    return _Terms(algorithm, module, _settings(module.Parameters, algorithm, parameters), int(seed))


def _settings(kind: Any, algorithm: str, parameters: dict[str, Any]) -> Any:
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
    timing: dict[str, float],
    progress: Progress,
) -> Hierarchy | None:
    """Take the hierarchy given, or make one; None for an algorithm that has no use for it."""
    if "hierarchy" not in (*info.needs, *info.takes):
        return None
    if given is not None or "hierarchy" not in info.needs:
        return given
    progress("grouping items bought alike")
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


def _distance(
    utility: dict[str, Any],
    objective: str,
    data: Transactions,
    hierarchy: Any,  # algorithms that make data k^m-anonymous have one
    guarantee: Any,
    bound: bool | float,
    progress: Progress,
) -> dict[str, Any]:
    """Compare the loss of a release with the least: NCP of all cuts, LM of all cuts with suppressed items."""
    limit = None if isinstance(bound, bool) else bound
    terms = exact.Parameters(objective=objective, suppress=objective == "lm", time_limit=limit)
    best = exact.bound(data, hierarchy, guarantee, terms, progress)
    loss = utility[objective]
    lower = min(best["lower_bound"], loss)  # equal but for rounding where nothing was to be gained
    return {
        "objective": best["objective"],
        "model": best["model"],
        "loss": loss,
        "lower_bound": lower,
        "gap": (loss - lower) / loss if loss else 0.0,
        "proven": best["proven"],
    }


def _verify(data: Transactions, release: Release, guarantee: Guarantee, progress: Progress) -> Verdict:
    """Check what is going to be published, with what the model's verifier must know besides."""
    known: dict[str, Callable[[], Any]] = {"image": release.image, "original": lambda: data}
    more = {name: known[name]() for name in models()[guarantee.model].knows}
    return verify(release.exposed(), guarantee, **more, progress=progress)
