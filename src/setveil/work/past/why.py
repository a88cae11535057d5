"""Why a label of a run is not split, or an item suppressed: try it, see what breaks, and find the cause.

Every number of an answer is of a check by the verifier: first of the rows with the label split or the item
brought back, then of these rows with the cause suppressed, or published under another label.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, listed
from setveil.base.progress import Progress
from setveil.judges.guarantees import Guarantee, absent_items
from setveil.judges.utility import named
from setveil.releases.published import kind_of_recoding
from setveil.rows.data.transactions import Transactions
from setveil.rows.data.vocabulary import Vocabulary
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.work.past._box_question import BoxQuestion
from setveil.work.past._naming import Naming, RunTerms
from setveil.work.past._question import ItemQuestion
from setveil.work.past.facts import FactBoxes, has_facts
from setveil.work.past.run import MODELS, PastRun

Answer = dict[str, Any]


def require_splittable(run: PastRun, *, in_class: bool = False) -> None:
    """Refuse runs in which no item has one label, unless one class of it is asked about."""
    if "series" in run.report:
        raise RequestError(
            "This run is a release of a series: what keeps its labels broad lies in all releases together.",
            hint="`setveil series plan` says what each way to publish a release costs.",
        )
    if not run.uniform and not has_facts(run) and not in_class:
        reason = kind_of_recoding(run.report["recoding"]).info.unsplit
        name = run.report["algorithm"]["name"]
        raise RequestError(f"No label of this run can be split: {reason} ({name}).")
    if run.model not in MODELS:
        raise RequestError(
            f"This run guarantees {run.report['guarantee']['phrase']}; why labels are not split is known for "
            f"{' and '.join(MODELS)} only."
        )
    if run.report["guarantee"].get("known"):
        raise RequestError(
            f"This run guarantees {run.report['guarantee']['phrase']}; why labels are not split is known of "
            "single facts, not of whole codes."
        )
    if absent_items(run.report["guarantee"]):
        raise RequestError(
            f"This run guarantees {run.report['guarantee']['phrase']}; why labels are not split is known of "
            "items that a person has, not of absent ones."
        )


def why(
    run: PastRun,
    data: Transactions,
    tree: Hierarchy | None,
    guarantee: Guarantee,
    name: str,
    *,
    boxes: FactBoxes | None = None,
    show: int = 10,
    progress: Progress,
) -> Answer:
    """Say why a label is not split, or an item is suppressed or has no label of its own (see docs/why.md).

    `tree`: the hierarchy, if labels are its nodes. `name`: a label, an item, or a node of the hierarchy.
    `boxes`: what facts may be published as, instead of a hierarchy.
    """
    now = _as_published(run, data, tree, boxes, guarantee, progress)
    about = (ItemQuestion if boxes is None else BoxQuestion)(run, now, name, show).answer()
    report = run.report
    optimality = report.get("optimality")
    settings = report["algorithm"].get("parameters") or {}
    return {
        **about,
        "unit": "item" if boxes is None else "fact",
        "guarantee": {**guarantee.as_dict(), "phrase": guarantee.phrase},
        "algorithm": report["algorithm"]["name"],
        "objective": run.objective,
        "loss": now.loss(),
        "optimality": optimality and {key: optimality.get(key) for key in _OPTIMALITY},
        "max_suppressed": settings.get("max_suppressed"),
        "occurrences": data.n_occurrences,
        "below": _below(now, about, about["name"], show),
        "stays_inside": True,
    }


_OPTIMALITY = ("objective", "model", "loss", "gap", "proven", "weighted", "limited")


def _as_published(
    run: PastRun,
    data: Transactions,
    tree: Hierarchy | None,
    boxes: FactBoxes | None,
    guarantee: Guarantee,
    progress: Progress,
) -> Naming:
    """Take what a run published, and make sure that rows and record belong together."""
    unknown = [label for label in data.vocabulary.labels if label not in run.image]
    if unknown:
        raise DataError(f"The run's recoding does not contain {len(unknown):,} items: {listed(unknown)}.")
    labels = tuple(dict.fromkeys(label for label in run.image.values() if label is not None))
    position: dict[str | None, int] = {None: -1} | {label: i for i, label in enumerate(labels)}
    image = np.array([position[label] for label in run.image.values()], np.int64)
    terms = RunTerms(data, Vocabulary(run.image), tree, guarantee, run.objective, progress, boxes)
    now = Naming(terms, labels, image)
    measure = named(run.objective)
    then = measure.value(run.report["utility"])
    if not run.partial and now.loss() != then:
        raise DataError(
            f"By these rows and the recoding of {run.name}, {measure.title} is {now.loss():.6g}; its record "
            f"says {then}.",
            hint="Are they the rows that the run was made from?",
        )
    return now


def _below(now: Naming, about: Answer, name: str, show: int) -> list[str]:
    """List the items that an answer mentions and that are in fewer rows than the guarantee demands."""
    mentioned = {name}
    for one in about["tries"]:
        mentioned.update(label for entry in one["first"] for label in entry["itemset"])
        mentioned.update((one["leave_out"] or {"labels": []})["labels"][:show])
    k = now.terms.guarantee.smallest_group or 0
    rows = zip(now.terms.items.labels, now.terms.supports.tolist(), strict=True)
    return [label for label, number in rows if label in mentioned and 0 < number < k]
