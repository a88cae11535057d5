"""The recoding of an earlier run on other rows: map, verify, coarsen where the guarantee fails, record."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from setveil.base.errors import DataError, GuaranteeError, InfeasibleError, RequestError, listed
from setveil.base.progress import Progress, listener, silent
from setveil.base.wording import count
from setveil.judges.guarantees import Guarantee, least_rows, model_named
from setveil.judges.guarantees.km import is_km
from setveil.judges.guarantees.verify import Verdict
from setveil.methods.algorithms import AlgorithmInfo
from setveil.methods.algorithms.exact._coarsening import coarsened
from setveil.methods.algorithms.exact.exact import Exact
from setveil.releases.published import Release, publish
from setveil.releases.published.listing import Listing, listing_of
from setveil.releases.published.mapping import Image, Mapped, differences, mapped, recoding_of_image
from setveil.releases.published.shared import Shared
from setveil.report.record import Applied, Cases, Change, ItemsCounted, PeopleEntry, Together
from setveil.rows.data.layout import Layout
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.fit import fit_rows_after
from setveil.rows.hierarchy.io import read_hierarchy
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.details import recorded
from setveil.runs.request import least_count, require_seed
from setveil.runs.run import VerifiedRelease, checked, looked_at
from setveil.runs.steps import timed
from setveil.work.past.people import people_of
from setveil.work.past.run import PastRun
from setveil.work.past.terms import hierarchy_of, of_nodes, promise, require_applicable, search
from setveil.work.past.union import verified_union

NAME = "apply"
Number = int | float | Fraction
SHOWN = 5  # violations that a message lists
AT_ONCE = 10_000  # violations that one round of leaving labels out looks at

info = AlgorithmInfo(
    title="Recoding of an earlier run",
    guarantees=("km-anonymity", "constraints"),
    needs=("the folder of an earlier run",),
    summary="Publishes other rows under the labels of an earlier release, so that the two can be compared.",
    reference="setveil, docs/series.md",
)


@dataclass(frozen=True)
class ApplySettings:
    """How a recoding was applied, for the record."""

    repair: bool  # whether it might be coarsened
    strict: bool  # whether unknown items were refused that stand under none of its labels
    objective: str | None  # what a repair keeps low; None where it leaves labels out
    suppress: bool  # whether a repair may suppress items
    gap: Number  # how far from the least loss a repair may stop
    time_limit: float | None  # seconds that a repair may take; None: as `Exact`


@dataclass(frozen=True)
class _Application:
    """Rows to publish under the labels of an earlier run."""

    earlier: PastRun
    data: Transactions
    hierarchy: Hierarchy | None
    guarantee: Guarantee
    listing: Listing | None
    seed: int
    least: int
    timing: dict[str, float]
    progress: Progress

    def published(self, image: Image, **details: Any) -> Release:
        """Publish the rows by a recoding."""
        listing, seed, least = self.listing, self.seed, self.least
        return _published(self.data, image, self.hierarchy, listing, seed, least, **details)

    def verified(self, release: Release) -> Verdict:
        """Verify a release."""
        self.progress("verifying")
        with timed(self.timing, "verify"):
            return checked(self.data, release, self.guarantee, self.progress)

    def repaired(self, image: Image, terms: Exact | None) -> tuple[Image, Release, Verdict]:
        """Coarsen a recoding until the guarantee holds."""
        _require_hierarchy(self.earlier, self.hierarchy, "to coarsen the recoding")
        self.progress("coarsening the recoding")
        with timed(self.timing, "repair"):
            image, proof = _coarsened(self.data, image, self.hierarchy, self.guarantee, terms, self.progress)
            release = self.published(image, **proof)
        verdict = self.verified(release)
        _require_kept(verdict)
        return image, release, verdict

    def together(self, release: Release, union: tuple[str, Shared]) -> Together:
        """Verify a release together with an earlier one."""
        self.progress("verifying both releases together")
        with timed(self.timing, "union"):
            return verified_union(release, self.guarantee, *union, self.progress)


def apply(
    earlier: PastRun,
    data: Transactions,
    *,
    guarantee: Guarantee | None = None,
    hierarchy: Hierarchy | None = None,
    repair: bool | Exact = False,
    strict: bool = False,
    union: tuple[str, Shared] | None = None,
    people: str | None = None,
    seed: int = 0,
    counts: bool | int = True,
    details: bool = True,
    progress: Progress = silent,
) -> VerifiedRelease:
    """Publish other rows under the labels of an earlier run (see `setveil.apply`).

    `union`: the name of an earlier release and its shared content, to be verified together with the new rows.
    """
    progress = listener(progress)
    require_seed(seed)
    require_applicable(earlier)
    guarantee = promise(earlier, guarantee)
    terms = _terms(earlier, repair)
    least = least_count(guarantee, counts)
    if union is not None and people == "same":
        raise RequestError("Two releases of the same people are not verified together: nothing follows.")
    timing: dict[str, float] = {"read": data.origin.seconds} if data.origin else {}
    hierarchy, data = _fitted(earlier, _hierarchy(earlier, hierarchy), data)
    if hierarchy is not None and hierarchy.origin is not None:
        timing["hierarchy"] = hierarchy.origin.seconds
    progress("comparing with the earlier run")
    said = people_of(earlier, data, people)
    before = mapped(earlier.image, data, hierarchy)
    _require_known(earlier, data, before, hierarchy, strict=strict)

    listing = _listing(data, earlier, hierarchy, guarantee)
    progress("mapping items to the earlier labels")
    application = _Application(earlier, data, hierarchy, guarantee, listing, seed, least, timing, progress)
    with timed(timing, "anonymize"):
        release = application.published(before.image)
    verdict = application.verified(release)
    image: Image = before.image
    repaired = not verdict.holds
    if repaired:
        if not repair:
            raise _broken(earlier, verdict)
        image, release, verdict = application.repaired(image, terms)
    together = None if union is None else application.together(release, union)
    found = looked_at(data, release, guarantee, timing, progress, details=details)
    settings = _settings(terms, repair=bool(repair), strict=strict)
    report = recorded(
        data, hierarchy, release, verdict, found, timing,
        algorithm={"name": NAME, "info": info, "settings": settings}, guarantee=guarantee, seed=seed,
    )  # fmt: skip
    if hierarchy is None and (then := hierarchy_of(earlier)):  # it was not needed, but may be the next time
        report["hierarchy"] = then
    if names := earlier.report.get("names"):
        report["names"] = names
    report["applied"] = _record(earlier, data, said, before, image, repaired=repaired)
    if together:
        report["applied"]["union"] = together
    layout = data.origin.layout if data.origin else Layout("basket")
    return VerifiedRelease(release, verdict, found["utility"], report, layout, data.personal)


def _settings(terms: Exact | None, *, repair: bool, strict: bool) -> ApplySettings:
    """Name what a repair was to keep low, and for how long."""
    search = (terms.loss, terms.suppress, terms.gap, terms.time_limit) if terms else (None, True, 0, None)
    return ApplySettings(repair, strict, *search)


def _record(
    earlier: PastRun, data: Transactions, people: PeopleEntry, before: Mapped, after: Image, *, repaired: bool
) -> Applied:
    """Record what was applied, and to which items."""
    return {
        "run": earlier.name,
        "algorithm": earlier.report["algorithm"]["title"],
        "input": earlier.report["input"]["path"],
        "people": people,
        "items": _cases(data, before, after),
        "repaired": repaired,
        "changes": _changes(data, before.image, after) if repaired else [],
    }


def _fitted(
    earlier: PastRun, hierarchy: Hierarchy | None, data: Transactions
) -> tuple[Hierarchy | None, Transactions]:
    """Make a hierarchy and new rows fit the labels of the earlier run."""
    if hierarchy is not None:
        out = {label for item, label in earlier.image.items() if label is not None and label != item}
        hierarchy, (data,) = fit_rows_after(hierarchy, [data], earlier.image, out)
    elif (read := earlier.report["input"].get("read")) and read.get("respelled"):
        data = data.with_spellings_of(earlier.image)
    return hierarchy, data


def _require_kept(verdict: Verdict) -> None:
    """Refuse to publish what does not satisfy the guarantee after it was coarsened."""
    if not verdict.holds:
        raise GuaranteeError(
            f"The coarsened recoding failed its check. {verdict!r} Nothing was written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )


def _terms(earlier: PastRun, repair: bool | Exact) -> Exact | None:
    """Say how a repair is to be searched for; None where labels have nothing above them."""
    if not of_nodes(earlier):
        if isinstance(repair, Exact):
            raise RequestError(
                "The labels of the earlier run are groups of items: a repair leaves some out, nothing else.",
                hint="Say no more than --repair.",
            )
        return None
    terms = repair if isinstance(repair, Exact) else search(earlier)
    if terms.keep or terms.weights or terms.max_suppressed is not None:
        raise RequestError(
            "A repair takes an objective, suppress, a gap and a time limit; it keeps or weighs no items, and "
            "does not limit what is suppressed."
        )
    return terms


def _hierarchy(earlier: PastRun, hierarchy: Hierarchy | None) -> Hierarchy | None:
    """Take the hierarchy given, or that of the earlier run where its file is still there."""
    if hierarchy is not None and not of_nodes(earlier):
        raise RequestError(
            "A hierarchy does not apply here: the labels of the earlier run are groups of items.",
            hint="Omit --hierarchy.",
        )
    then = hierarchy_of(earlier)
    path = then["path"] if then else None
    if hierarchy is not None or path is None or not Path(path).is_file():
        return hierarchy
    return read_hierarchy(path, encoding=then.get("encoding", "utf-8") if then else "utf-8")


def _require_hierarchy(earlier: PastRun, tree: Hierarchy | None, why: str) -> None:
    """Refuse to go on without the hierarchy of the earlier run where it is needed."""
    if tree is None and (then := hierarchy_of(earlier)):
        name = then["path"] or "in memory"
        raise DataError(
            f"The hierarchy of the earlier run ({name}) is not there; it is needed {why}.",
            hint="Name it: --hierarchy FILE. It may have gained items since.",
        )


def _require_known(
    earlier: PastRun, data: Transactions, found: Mapped, tree: Hierarchy | None, *, strict: bool
) -> None:
    """Refuse rows of which nothing is known, and with `strict` those with items that are suppressed."""
    if found.left_out:
        number = count(len(found.left_out), "item")
        _require_hierarchy(earlier, tree, f"to find labels for {number} that the run does not know")
    if data.n_occurrences and not found.known and not found.under:
        raise DataError(
            "No item of the new rows is known to the earlier run, and none is under one of its labels: "
            f"{listed(found.left_out)}.",
            hint="Are these rows of the same kind, and read as they should be?",
        )
    if strict and found.left_out:
        are_not = "is not" if len(found.left_out) == 1 else "are not"
        raise DataError(
            f"{count(len(found.left_out), 'item')} of the new rows {are_not} known to the earlier run and "
            f"stand{'s' if len(found.left_out) == 1 else ''} under none of its labels: "
            f"{listed(found.left_out, 20)}.",
            hint="Add them to the hierarchy, or omit them: without --strict.",
        )


def _published(
    data: Transactions,
    image: Image,
    tree: Hierarchy | None,
    listing: Listing | None = None,
    seed: int = 0,
    least: int = 0,
    **details: Any,
) -> Release:
    """Publish rows by a recoding, whose labels are nodes of a tree if there is one."""
    lost = [item for item in data.vocabulary.labels if image[item] is None]
    recoding = recoding_of_image(image, tree)
    if listing is not None:
        recoding = recoding.in_order(listing)
    release = publish(data, recoding, seed, {"suppressed": lost, **details}, least)
    return replace(release, listing=listing)  # type: ignore[type-var]  # kinds of releases are dataclasses


def _listing(
    data: Transactions, earlier: PastRun, tree: Hierarchy | None, guarantee: Guarantee
) -> Listing | None:
    """Find the items that about.json may list, also if the hierarchy of the earlier run is not there."""
    then = earlier.report["hierarchy"]
    by_author = tree is None and of_nodes(earlier) and then and then["source"] != "co-occurrence"
    if by_author and not any(line.get("others") for line in earlier.report["labels"]):
        return None
    return listing_of(data, tree if of_nodes(earlier) else None, least_rows(guarantee))


def _broken(earlier: PastRun, verdict: Verdict) -> InfeasibleError:
    """Say what violates the guarantee under the earlier recoding."""
    words, record = model_named(verdict.guarantee.model).words, verdict.as_dict()
    lines = [f"  {words.violation(entry)}" for entry in record["first"][:SHOWN]]
    more = verdict.violations - len(lines)
    return InfeasibleError(
        f"Under the labels of {earlier.name} the new rows do not satisfy the guarantee of "
        f"{verdict.guarantee.phrase}: {words.broken(record)}:\n"
        + "\n".join([*lines, *([f"  and {more:,} more"] if more > 0 else [])]),
        hint="--repair coarsens the recoding as little as possible.",
    )


def _coarsened(
    data: Transactions,
    image: Image,
    tree: Hierarchy | None,
    guarantee: Guarantee,
    terms: Exact | None,
    progress: Progress,
) -> tuple[Image, dict[str, Any]]:
    """Coarsen a recoding as little as possible: proven, where there are a hierarchy and enough rows."""
    if tree is not None and terms is not None and is_km(guarantee):
        try:
            found, optimality = coarsened(data, tree, image, guarantee, terms, progress)
        except InfeasibleError:
            if not terms.suppress:
                raise
        else:
            return {item: found.get(item) for item in image}, {"optimality": optimality}
    return _suppressed_labels(data, image, tree, guarantee, progress), {}


def _suppressed_labels(
    data: Transactions, image: Image, tree: Hierarchy | None, guarantee: Guarantee, progress: Progress
) -> dict[str, str | None]:
    """Suppress whole labels until the guarantee holds: those in most violations per occurrence first."""
    out = dict(image)
    occurrences: dict[str | None, int] = {}
    for item, n in zip(data.vocabulary.labels, data.supports().tolist(), strict=True):
        occurrences[image[item]] = occurrences.get(image[item], 0) + n
    while True:
        release = _published(data, out, tree)
        verdict = checked(data, release, guarantee, progress, show=AT_ONCE)
        if verdict.holds:
            return out
        place = release.published.vocabulary.ids
        left = [frozenset(entry["itemset"]) for entry in verdict.as_dict()["first"]]
        while left:
            times: dict[str, int] = {}
            for some in left:
                for label in some:
                    times[label] = times.get(label, 0) + 1
            worst = min(times, key=lambda label: (-Fraction(times[label], occurrences[label]), place[label]))
            left = [some for some in left if worst not in some]
            out |= {item: None for item, label in out.items() if label == worst}


def _cases(data: Transactions, found: Mapped, after: Image) -> Cases:
    """Count and name the items of the new rows: known, new below a label, or first without a label."""
    rows = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))

    def counted(items: Collection[str]) -> ItemsCounted:
        return {"items": len(items), "occurrences": sum(rows[item] for item in items)}

    return {
        "known": counted(found.known),
        "under": counted(found.under),
        "left_out": counted(found.left_out),
        "labels": [{"item": item, "label": label, "rows": rows[item]} for item, label in found.under.items()],
        "lost": [{"item": item, "label": after[item], "rows": rows[item]} for item in found.left_out],
    }


def _changes(data: Transactions, before: Image, after: Image) -> list[Change]:
    """List which labels a repair replaced, by the occurrences that this concerns."""
    rows = dict(zip(data.vocabulary.labels, data.supports().tolist(), strict=True))
    found: list[Change] = [
        {
            "from": old,
            "to": new,
            "items": len(items),
            "occurrences": sum(rows[item] for item in items),
            "first": items[:SHOWN],
        }
        for (old, new), items in differences(before, after, [x for x in rows if rows[x]]).items()
    ]
    return sorted(found, key=lambda change: -change["occurrences"])
