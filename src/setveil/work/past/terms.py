"""On what terms other rows are published like those of an earlier run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from setveil.base.errors import RequestError, faces
from setveil.judges.guarantees import Facts, Guarantee, absent_items
from setveil.judges.guarantees.constraints import PrivacyConstraints
from setveil.judges.guarantees.km import KmAnonymity
from setveil.methods import algorithms
from setveil.methods.algorithms.exact.exact import Exact
from setveil.releases.published import blocks, chunks, facts, tables
from setveil.releases.published.class_recoding import ClassRecoding
from setveil.report.record import HierarchyEntry
from setveil.runs.options.decode import Inputs
from setveil.runs.options.guarantees import make_guarantee, require_options
from setveil.work.past.run import MODELS, PastRun, number


def require_applicable(run: PastRun) -> None:
    """Refuse a run whose recoding cannot be applied to other rows."""
    made = run.report["recoding"]
    if made == "local":
        global_ones = algorithms.giving(KmAnonymity.model, "global")
        raise RequestError(
            f"The recoding of {run.name} is local: an item has several labels, and nothing "
            "says which of them other rows should have.",
            hint=f"The recoding of a run of {', '.join(global_ones)} can be applied to other rows.",
        )
    if made == ClassRecoding.kind:
        raise RequestError(
            f"{run.name} has classes, and nothing says which class new rows would belong to.",
            hint="Anonymize the new rows by themselves.",
        )
    if made in blocks.info.recodings:
        raise RequestError(
            f"{run.name} published counts with noise, which are of its own rows and no others.",
            hint="Anonymize the new rows by themselves: that costs an epsilon of its own.",
        )
    if made in chunks.info.recodings:
        raise RequestError(
            f"{run.name} published rows in chunks, and nothing says which cluster new rows would belong to.",
            hint="Anonymize the new rows by themselves, or all rows together.",
        )
    if made in facts.info.recodings:
        raise RequestError(
            f"{run.name} published facts, which are applied to no other rows: what became of a period or a "
            "band that is new is not told.",
            hint="Anonymize the new rows by themselves, or all rows together.",
        )
    if made in tables.info.recodings:
        raise RequestError(
            f"{run.name} is the run of a table. Its recoding cannot be applied to other rows, whose "
            "classes are unknown.",
            hint="Anonymize the new rows by themselves, or all rows together.",
        )
    if run.model not in MODELS or not run.uniform:
        raise RequestError(
            f"The guarantee of {run.name} is {run.model}: recodings are applied to other rows for "
            f"{' and '.join(MODELS)} only.",
            hint="Anonymize the new rows by themselves.",
        )


def require_nothing_absent(run: PastRun, wanted: Guarantee | None) -> None:
    """Refuse a guarantee about absent items, which another file of rows need not keep and no repair mends."""
    if absent_items(run.report["guarantee"]) or (wanted is not None and absent_items(wanted)):
        raise RequestError(
            "Recodings are applied to other rows for guarantees about items that a person has; this one is "
            "also about absent ones.",
            hint="Anonymize the new rows by themselves.",
        )


def of_nodes(run: PastRun) -> bool:
    """Tell whether the labels of a run are nodes of a hierarchy; else they are groups of items."""
    return run.model == KmAnonymity.model


def hierarchy_of(run: PastRun) -> HierarchyEntry | None:
    """Take what is recorded of a hierarchy; None where there was none, or one made for its rows alone."""
    record = run.report.get("hierarchy") if of_nodes(run) else None
    return None if record is None or record["source"] == "co-occurrence" else record


def promise(run: PastRun, wanted: Guarantee | None) -> Guarantee:
    """Take the guarantee of a run, or a stronger one of the same model."""
    require_nothing_absent(run, wanted)
    if wanted is None:
        promised = run.promise()
        if promised is None:
            raise RequestError(
                f"The record of {run.name} does not hold the itemsets that it protects.",
                hint=faces("Name them: --privacy FILE.", "Name them: guarantee=PrivacyConstraints(k, ...)."),
            )
        return promised
    if wanted.model != run.model:
        raise RequestError(f"The guarantee of {run.name} is {run.model}, not {wanted.model}.")
    then: Facts = run.report["guarantee"]
    now = wanted.as_dict()
    for name in ("k", "m"):
        if name in then and name in now and number(now[name]) < number(then[name]):
            raise RequestError(
                f"The guarantee of {run.name} has {name} = {then[name]}: it may be raised, not lowered, "
                f"got {name} = {now[name]}.",
                hint="Under a weaker guarantee anonymize the new rows by themselves.",
            )
    return wanted


def raised(run: PastRun, texts: Mapping[str, Any], inputs: Inputs) -> Guarantee | None:
    """Make the guarantee that options request, the rest as in the run; None: no option was given."""
    values = {name: text for name, text in texts.items() if text is not None}
    if not values:
        return None
    then: Facts = run.report["guarantee"]
    known = {name: then[name] for name in ("k", "m") if name in then}
    if run.model == PrivacyConstraints.model:
        if "privacy" in values:
            known.pop("m", None)
        else:
            promise(run, None)  # which refuses what the record does not hold
            known["privacy"] = "all"
    require_options(run.model, {**dict.fromkeys(texts), **known, **values})
    return make_guarantee(run.model, known | values, inputs)


def search(run: PastRun, **options: Any) -> Exact:
    """Make the terms of a repair: what the run's algorithm minimized, and whether it suppressed items."""
    record = run.report["algorithm"]
    then: Mapping[str, Any] = record["parameters"]
    if "suppress" in then and "objective" in then:
        terms = {"objective": then["objective"], "suppress": then["suppress"]}
    else:
        objective = run.minimizes
        terms = {"objective": objective, "suppress": objective == "lm"}
    return Exact(**((terms if of_nodes(run) else {}) | options))
