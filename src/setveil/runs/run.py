"""One run, from data to a verified release: anonymize, verify, measure, record."""

from __future__ import annotations

import math
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from fractions import Fraction
from importlib.metadata import version
from numbers import Integral
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

import setveil
from setveil import algorithms
from setveil.algorithms.exact import exact
from setveil.data.io.layout import Layout
from setveil.data.transactions import Transactions
from setveil.errors import GuaranteeError, RequestError
from setveil.guarantees import Guarantee
from setveil.guarantees.verify import Verdict, must_know, verify
from setveil.hierarchy.build import by_cooccurrence
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, listener, silent
from setveil.published import Release, publish
from setveil.runs.details import answers, described, risks
from setveil.runs.folder import write_folder
from setveil.runs.memory import peak_memory_mb
from setveil.utility import measure as measures

DEFAULT_ALGORITHMS = {
    "km-anonymity": "exact",
    "k-anonymity": "lg",
    "constraints": "coat",
    "privacy-degree": "cahd",
    "coherence": "border",
}

T = TypeVar("T")


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
    record: dict[str, Any] | None = None,
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
    record : dict, optional
        What the caller knows of the run: `hierarchy` (where it came from) and `timing` of what went before.
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
    model = getattr(guarantee, "model", None)
    if model not in DEFAULT_ALGORITHMS:
        raise RequestError(
            f"The guarantee must be a KmAnonymity or another model's, got {type(guarantee).__name__}.",
            hint=f"There are {', '.join(DEFAULT_ALGORITHMS)}.",
        )
    if isinstance(seed, bool) or not isinstance(seed, Integral) or seed < 0:
        raise RequestError(f"The seed must be an integer of at least 0, got {seed!r}.")
    seed = int(seed)
    algorithm = algorithm or DEFAULT_ALGORITHMS[model]
    module = algorithms.load(algorithm)
    if model not in module.info.guarantees:
        raise RequestError(
            f"{algorithm} does not give {model} but {', '.join(module.info.guarantees)}.",
            hint=f"Use {', '.join(algorithms.giving(model))}.",
        )
    if bound and model != "km-anonymity":
        raise RequestError("The distance to the optimum (bound) is known for k^m-anonymity only.")
    settings = _settings(module.Parameters, algorithm, parameters)
    progress = listener(progress)
    record = record or {}
    timing: dict[str, float] = {"read": data.origin.seconds} if data.origin else {}
    timing |= record.get("timing", {})
    guarantee.require_feasible(data)

    source = record.get("hierarchy", {"source": "given", "path": None, "sha256": None})
    if "hierarchy" not in (*module.info.needs, *module.info.takes):
        hierarchy = None
    elif hierarchy is None and "hierarchy" in module.info.needs:
        progress("grouping items bought alike")
        nothing = Hierarchy({"*": None})  # for rows without any item
        hierarchy = timed(timing, "hierarchy", lambda: by_cooccurrence(data) if data.n_items else nothing)
        source = {"source": "co-occurrence", "path": None, "sha256": None}
    progress(f"anonymizing ({algorithm})")
    release = timed(
        timing,
        "anonymize",
        lambda: _released(data, module.anonymize(data, hierarchy, guarantee, settings, progress), seed),
    )
    timing |= release.details.get("timing", {})
    progress("verifying")
    verdict = timed(timing, "verify", lambda: _verify(data, release, guarantee, progress))
    if not verdict.holds:
        raise GuaranteeError(
            f"The release of {algorithm} has no {guarantee.phrase}: the check found {verdict.violations:,} "
            "violations. Nothing was written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    progress("measuring")
    utility = timed(timing, "measure", lambda: _measure(data, release, progress))
    answered = timed(timing, "answers", lambda: answers(data, release, progress)) if details else {}
    risk = timed(timing, "risk", lambda: risks(data, release, guarantee, progress)) if details else None

    optimality = release.details.get("optimality")
    if bound and optimality is None:
        progress("finding the optimum")
        optimality = timed(
            timing,
            "bound",
            lambda: _distance(utility, module.info.minimizes, data, hierarchy, guarantee, bound, progress),
        )

    origin = data.origin
    report: dict[str, Any] = {
        "setveil": setveil.__version__,
        "versions": {name: version(name) for name in ("altair", "highspy", "numba", "numpy")}
        | {"python": platform.python_version()},
        "seed": seed,
        "input": {
            "path": origin.path if origin else None,
            "sha256": origin.sha256 if origin else None,
            "format": origin.layout.format if origin else None,
            "rows": data.n_rows,
            "empty_rows": int((data.row_lengths() == 0).sum()),
            "items": data.n_items,
            "occurrences": data.n_occurrences,
        },
        "hierarchy": {**source, "leaves": hierarchy.n_leaves, "height": hierarchy.height}
        if hierarchy
        else None,
        "algorithm": {
            "name": algorithm,
            "title": module.info.title,
            "parameters": _plain(asdict(settings)),
            "reference": module.info.reference,
            **{
                key: release.details[key]
                for key in release.details
                if key not in {"optimality", "suppressed", "timing"}
            },
        },
        "guarantee": {
            **guarantee.as_dict(),
            "phrase": guarantee.phrase,
            "holds": verdict.holds,
            "violations": verdict.violations,
            **verdict.found(),
        },
        "utility": utility,
        **({"answers": answered} if answered else {}),
        **({"optimality": optimality} if optimality else {}),
        "suppressed": release.details.get("suppressed", []),
        "recoding": release.recoding.kind,
        **described(data, release, hierarchy),
        **({"risk": risk} if risk else {}),
        "timing": timing,
        "peak_memory_mb": peak_memory_mb(),
    }
    layout = origin.layout if origin else Layout("basket")
    return VerifiedRelease(release, verdict, utility, report, layout)


def _plain(value: Any) -> Any:
    """Turn a parameter into JSON types."""
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if value == math.inf:
        return "inf"
    return str(value) if isinstance(value, Fraction) else value


def _settings(kind: Any, algorithm: str, parameters: dict[str, Any]) -> Any:
    known = [f.name for f in fields(kind)]
    unknown = sorted(set(parameters) - set(known))
    if unknown:
        raise RequestError(
            f"{algorithm} has no parameter {', '.join(unknown)}; it has {', '.join(known) or 'none'}."
        )
    return kind(**parameters)


def timed(timing: dict[str, float], phase: str, work: Callable[[], T]) -> T:
    """Do some work and note the seconds it took."""
    start = time.perf_counter()
    result = work()
    timing[phase] = round(time.perf_counter() - start, 4)
    return result


def _released(data: Transactions, made: tuple[Any, dict[str, Any]], seed: int) -> Release:
    recoding, details = made
    return publish(data, recoding, seed, details)


def _distance(
    utility: dict[str, Any],
    objective: str,
    data: Transactions,
    hierarchy: Hierarchy,
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
    more = {name: known[name]() for name in must_know(guarantee.model)}
    return verify(release.exposed(), guarantee, **more, progress=progress)


def _measure(data: Transactions, release: Release, progress: Progress) -> dict[str, Any]:
    """Measure what the release lost, by what applies to its kind."""
    found: dict[str, Any] = getattr(measures, release.info.measure)(
        data, *release.measured(), progress=progress
    )
    return found
