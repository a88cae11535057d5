"""Add a release to a series: one that is out, or a new one, written with the ledger or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

from setveil.algorithms import AlgorithmInfo
from setveil.data.layout import Layout
from setveil.errors import (
    DataError,
    GuaranteeError,
    InfeasibleError,
    OutputError,
    RequestError,
    listed,
)
from setveil.guarantees.km import KmAnonymity
from setveil.guarantees.verify.series import newly_exposed, verify_series
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published import publish
from setveil.published.counts import Counts
from setveil.published.mapping import recoding_of_image
from setveil.published.rows import RowsRelease
from setveil.report.record import Record, Series
from setveil.runs.asked import least_count
from setveil.runs.details import recorded
from setveil.runs.folder import require_writable, write_json
from setveil.runs.run import VerifiedRelease, checked, looked_at
from setveil.runs.steps import timed
from setveil.series.files import Part
from setveil.series.ledger import (
    INSIDE,
    Entry,
    Ledger,
    hashes_of,
    inside,
    kept,
    replaced,
    require_free_name,
    today,
)
from setveil.series.people import People, require_register
from setveil.series.state import published_state, state_of, told
from setveil.series.ways import FOUND, NEEDED, NONE, RETURNERS, Next, Way, alone, searched
from setveil.staging import staged_folder
from setveil.wording import count

MODEL = KmAnonymity.model
_OF_VERDICT = (
    "k", "m", "known", "presence", "holds", "people", "returning", "exposed", "unique", "exactly"
)  # fmt: skip
_HIDDEN = re.compile(r"\S*/\.\S*setveil-[a-z0-9_]{8}/[^ :]+")  # a folder that is not in its place yet

info = AlgorithmInfo(
    title="Next release of a series",
    guarantees=(MODEL,),
    needs=("the ledger of a series",),
    summary="Publishes rows of people who may be in earlier releases, with one promise over all of them.",
    reference="setveil, docs/series.md",
)


@dataclass(frozen=True)
class Chosen:
    """How the labels of a release of a series were found, for the record."""

    hold_back: str
    algorithm: str
    labels_of: str | None
    time_limit: float | None
    objective: str = "lm"
    suppress: bool = True


def add_new(
    ledger: Ledger,
    name: str,
    new: People,
    tree: Hierarchy,
    out: Path,
    *,
    hold_back: str | None = None,
    labels_of: str | None = None,
    algorithm: str = "exact",
    time_limit: float | None = None,
    counts: bool | int = True,
    writing: Mapping[str, Any] | None = None,
    record: Mapping[str, Any] | None = None,
    details: bool = True,
    progress: Progress = silent,
) -> tuple[Ledger, Record]:
    """Publish the next release of a series, and write it with the ledger, or neither.

    Parameters
    ----------
    hold_back : {"needed", "found", "returners", "none"}, optional
        Whose rows stay out; by default whose have to. A register holds nobody back.
    labels_of : str, optional
        Begin with the labels of an earlier release, and only coarsen them.
    writing : mapping, optional
        Arguments of `VerifiedRelease.write`.
    record : mapping, optional
        What the report is to say besides.

    Returns
    -------
    (Ledger, dict)
        The series, and the report as written.
    """
    require_free_name(ledger, name)
    register = ledger.settings.kind == "register"
    if register and hold_back not in (None, NONE):
        raise RequestError(
            "A register holds nobody back: who is missing from one release has left what she had in others "
            "without company.",
            hint="Leave out --hold-back.",
        )
    require_writable(out)
    require_register(ledger, new)
    tree.locate(new.data.vocabulary)
    chosen = Chosen(hold_back or (NONE if register else NEEDED), algorithm, labels_of, time_limit)
    counted = allowed_counts(ledger, counts)
    start = _start(ledger, labels_of, tree)
    timing: dict[str, float] = {"read": new.data.origin.seconds} if new.data.origin else {}
    progress("finding labels")
    with timed(timing, "anonymize"):
        given = next_of(ledger, new, tree, algorithm, start, time_limit, progress)
        way = found_way(given, chosen.hold_back)
    return publish_way(
        ledger, name, way, tree, out, chosen, timing, counts=counted, writing=writing or {},
        record=record or {}, details=details, progress=progress,
    )  # fmt: skip


def next_of(
    ledger: Ledger,
    new: People,
    tree: Hierarchy,
    algorithm: str = "exact",
    start: Mapping[str, str | None] | None = None,
    time_limit: float | None = None,
    progress: Progress = silent,
) -> Next:
    """Put new rows beside what was published, which is read again."""
    state = published_state(ledger)
    named = list(zip(state.names, state.parts, strict=True))
    state = state_of(named, new.codes, new.data.vocabulary.labels)
    return Next(state, new.codes, new.data, tree, ledger.promise, algorithm, start, time_limit, progress)


def publish_way(
    ledger: Ledger,
    name: str,
    way: Way,
    tree: Hierarchy,
    out: Path,
    chosen: Chosen,
    timing: dict[str, float],
    *,
    counts: bool | int,
    writing: Mapping[str, Any],
    record: Mapping[str, Any],
    details: bool,
    progress: Progress,
) -> tuple[Ledger, Record]:
    """Publish rows in a way that was chosen, verify them alone and with the series, and write both."""
    if not way.people:
        raise InfeasibleError(
            f"All {count(len(way.held), 'person', 'people')} would have to be held back: nobody is left.",
            hint="A register, or a smaller k, may do.",
        )
    state = published_state(ledger)
    release = _published(ledger, way, tree, counts, timing, details, progress)
    report = recorded(
        way.data, tree, release.release, release.verdict, cast("Mapping[str, Any]", release.report), timing,
        algorithm={"name": "series", "info": info, "settings": chosen},
        guarantee=release.verdict.guarantee, seed=seed_of(ledger),
    )  # fmt: skip
    written = release.release.layout(release.layout, writing.get("format"))
    rows = cast("RowsRelease", release.release).arranged(written).row_map
    part = Part(tuple(way.people), way.data, way.image, rows, tuple(way.held))
    progress("verifying the series")
    now = state_of([*zip(state.names, state.parts, strict=True), (name, part)])
    verdict = verify_series(now.series, ledger.promise, progress=progress)
    if not verdict.holds and newly_exposed(now.series, ledger.promise).size:
        raise GuaranteeError(
            f"The series would not keep its promise: {verdict.exposed:,} people are exposed. Nothing was "
            "written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    report["series"] = _series_record(ledger, name, way, told(verdict, now))
    progress("writing")
    made = replace(release, report=report)
    return _write(ledger, name, made, part, out, writing, record, verdict.exposed, chosen)


def allowed_counts(ledger: Ledger, counts: bool | int) -> bool | int:
    """Say whether counts may stand beside the next release: in a register beside the first one only."""
    if ledger.settings.kind != "register" or not ledger.releases:
        return counts
    if not isinstance(counts, bool):
        raise RequestError(
            "In a register no counts stand beside a release after the first: who knows what stays could tell "
            "from them who has an item.",
            hint="Leave out --counts-min.",
        )
    return False


def found_way(given: Next, hold_back: str) -> Way:
    """Find labels, and whose rows go out, in a way that was named."""
    if hold_back in (FOUND, RETURNERS):
        return alone(given, hold_back)
    return searched(given, hold_back, hold=hold_back == NEEDED)


def _start(ledger: Ledger, labels_of: str | None, tree: Hierarchy) -> Mapping[str, str | None] | None:
    if labels_of is None:
        return None
    part = ledger.part(labels_of)
    lacking = sorted({x for x in part.image.values() if x is not None and x not in tree})
    if lacking:
        raise DataError(
            f"The hierarchy lacks {count(len(lacking), 'label')} of {labels_of}: {listed(lacking)}.",
            hint="It must be the hierarchy of that release, which may have gained items.",
        )
    start = dict(part.image)
    labels = set(start.values())
    for leaf in tree.labels[: tree.n_leaves]:
        if leaf not in start:
            above = (tree.labels[v] for v in tree.ancestors(tree.id(leaf)))
            start[leaf] = next((label for label in above if label in labels), None)
    return start


def _published(
    ledger: Ledger,
    way: Way,
    tree: Hierarchy,
    counts: bool | int,
    timing: dict[str, float],
    details: bool,
    progress: Progress,
) -> VerifiedRelease:
    """Publish rows under labels that were found, and verify them by themselves."""
    guarantee = KmAnonymity(ledger.settings.k, ledger.settings.m)
    seed = seed_of(ledger)
    lost = [item for item in way.data.vocabulary.labels if way.image[item] is None]
    least = least_count(guarantee, counts)
    release = publish(way.data, recoding_of_image(way.image, tree), seed, {"suppressed": lost}, least)
    if release.counts is not None and release.published.filled_rows < release.published.n_rows:
        # Which rows show nothing need not agree between releases, so k of them do not hide what they held.
        release = replace(
            cast("RowsRelease", release),
            counts=Counts.of(way.data, release.recoding, least, filled=way.data.n_rows - 1),
        )
    progress("verifying")
    with timed(timing, "verify"):
        verdict = checked(way.data, release, guarantee, progress)
    if not verdict.holds:
        raise GuaranteeError(f"The release failed its own check. {verdict!r} Nothing was written.")
    found = looked_at(way.data, release, guarantee, timing, progress, details=details)
    layout = way.data.origin.layout if way.data.origin else Layout("basket")
    return VerifiedRelease(release, verdict, found["utility"], cast("Record", found), layout)


def seed_of(ledger: Ledger) -> int:
    """Return the seed that shuffles the next release: one of its own, or equal orders would link rows."""
    return ledger.settings.seed + len(ledger.releases) + 1


def _series_record(ledger: Ledger, name: str, way: Way, verdict: Mapping[str, Any]) -> Series:
    """Say in the record of a run what the series is, and what this release cost."""
    told = {
        "release": name,
        "of": [*ledger.names, name],
        "kind": ledger.settings.kind,
        **{key: verdict[key] for key in _OF_VERDICT},
        "exposed_before": ledger.releases[-1].exposed if ledger.releases else 0,
        "held_back": len(way.held),
        "forgotten": ledger.settings.forgotten,
        "way": way.name,
        "lm": way.lm,
        "left_out": way.left_out,
        "names_kept": way.names_kept,
        "proven": way.proven,
        "gap": way.gap,
    }
    return cast("Series", told)


def _write(
    ledger: Ledger,
    name: str,
    made: VerifiedRelease,
    part: Part,
    out: Path,
    writing: Mapping[str, Any],
    record: Mapping[str, Any],
    exposed: int,
    chosen: Chosen,
) -> tuple[Ledger, Record]:
    """Write the folder of the run and the ledger: two renames, with nothing between them that can fail."""
    s = ledger.settings
    try:
        with replaced(ledger) as to, kept(ledger, name, part), staged_folder(out) as place:
            place.rmdir()
            written = made.write(place, record=record, **writing)
            write_json(place / "internal" / INSIDE, inside(ledger, name))
            (place / "internal" / INSIDE).chmod(0o600)
            entry = Entry(
                name, str(out.absolute()), today(), s.k, s.m, len(part.people), len(part.held),
                made.counts is not None, exposed, hashes_of(place), chosen.hold_back,
            )  # fmt: skip
            changed = replace(ledger, releases=(*ledger.releases, entry))
            to(changed)
    except BaseException as error:
        if (out / "internal" / INSIDE).is_file():  # the ledger's own move failed
            rmtree(out, ignore_errors=True)
        if isinstance(error, OutputError):  # which names a place beside it
            raise OutputError(_HIDDEN.sub(str(out), error.message), hint=error.hint) from None
        raise
    return changed, written
