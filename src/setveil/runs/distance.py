"""How far a release is from the least possible loss: which releases it is compared with, and the outcome."""

from __future__ import annotations

from typing import Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress
from setveil.judges.guarantees import model_named
from setveil.methods.algorithms import AlgorithmInfo
from setveil.report.words import and_list
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.tree import Hierarchy

SINGLE = "suppression of sensitive occurrences"


def require_known_optimum(algorithm: str, info: AlgorithmInfo, model: str) -> None:
    """Refuse to compare with an optimum that nobody knows."""
    from setveil.methods.algorithms.exact import exact

    what = "The distance to the optimum (bound)"
    if model not in exact.info.guarantees:
        known = and_list([model_named(name).title for name in exact.info.guarantees])
        raise RequestError(f"{what} is known for {known} only, not for {model_named(model).title}.")
    if info.hides_occurrences and model == "rho-uncertainty":
        raise RequestError(
            f"{what} is not known for {algorithm} and {model}: if a known item is suppressed "
            "in single rows, other rows match, and no integer program describes that.",
            hint="Compare it with a run of exact, which suppresses whole items.",
        )
    if info.recoding != exact.info.recoding and not info.hides_occurrences:
        raise RequestError(
            f"{what} is that of cuts, and {algorithm} makes none: it may lose less.",
            hint="Compare it with a run of exact.",
        )


def distance(
    utility: dict[str, Any],
    info: AlgorithmInfo,
    settings: Any,
    data: Transactions,
    hierarchy: Hierarchy | None,
    guarantee: Any,
    limit: float | None,
    progress: Progress,
) -> dict[str, Any]:
    """Compare the loss of a release with the least of all releases that its algorithm might have made.

    For k^m-anonymity these are cuts by NCP, or by LM cuts with suppressed items. With sensitive items, items
    may always be suppressed: next to a cut if there is a hierarchy, else alone. If single sensitive
    occurrences are suppressed, all others must be published. `limit`: seconds (see `Exact`). `failed` in the
    result: why the search was given up.
    """
    from setveil.methods.algorithms.exact import exact

    if guarantee.model == "km-anonymity":
        objective = info.minimizes
        suppress = objective == "lm"
    else:
        objective, suppress = getattr(settings, "objective", "lm"), True
    secret = set(guarantee.secrets)
    keep = (
        [label for label in data.vocabulary.labels if label not in secret] if info.hides_occurrences else ()
    )
    terms = exact.Parameters(objective=objective, suppress=suppress, keep=keep, time_limit=limit)  # type: ignore[arg-type]
    loss = utility[objective]
    failed = ""
    try:
        best = exact.bound(data, hierarchy, guarantee, terms, progress)
    except RequestError as error:  # there are too many sets to look at, but the release is made
        failed = error.message
        model = "suppression" if hierarchy is None else "cut with suppression"
        best = {"model": model, "lower_bound": 0.0, "proven": False}
    lower = min(best["lower_bound"], loss)  # equal but for rounding where nothing was to be gained
    return {
        "objective": objective,
        "model": SINGLE if info.hides_occurrences else best["model"],
        "loss": loss,
        "lower_bound": lower,
        "gap": (loss - lower) / loss if loss else 0.0,
        "proven": best["proven"] or not loss,
        **({"failed": failed} if failed and loss else {}),
    }
