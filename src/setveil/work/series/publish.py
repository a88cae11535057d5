"""Releases of a series from rows and labels that were chosen, written with the ledger or not at all."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import rmtree
from typing import Any, cast

from setveil.base.errors import GuaranteeError, OutputError, RequestError
from setveil.base.progress import Progress
from setveil.base.staging import staged_folder
from setveil.judges.guarantees import least_rows
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify.series import newly_exposed, verify_series
from setveil.methods.algorithms import AlgorithmInfo
from setveil.releases.published import publish
from setveil.releases.published.counts import Counts
from setveil.releases.published.mapping import recoding_of_image
from setveil.releases.published.rows import RowsRelease
from setveil.report.record import Record, SeriesEntry, WayAgain
from setveil.rows.data.layout import Layout
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.details import recorded
from setveil.runs.folder import write_json
from setveil.runs.request import least_count
from setveil.runs.run import VerifiedRelease, checked, looked_at
from setveil.runs.steps import timed
from setveil.work.series.files import KeptRelease
from setveil.work.series.ledger import (
    INSIDE,
    Entry,
    Ledger,
    gone_if_it_fails,
    hashes_of,
    inside,
    keep,
    replaced,
    today,
)
from setveil.work.series.state import published_state, state_of, verdict_record
from setveil.work.series.ways import Way

MODEL = KmAnonymity.model
_OF_VERDICT = (
    "k", "m", "known", "presence", "holds", "people", "returning", "exposed", "unique", "exactly"
)  # fmt: skip
_HIDDEN = re.compile(r"\S*/\.\S*setveil-[a-z0-9_]{8}/[^ :]+")  # a folder that is not in its place yet

info = AlgorithmInfo(
    title="Next release of a series",
    guarantees=(MODEL,),
    needs=("the ledger of a series",),
    summary="Publishes rows of people who may be in earlier releases, with one guarantee over all of them.",
    reference="setveil, docs/series.md",
)


@dataclass(frozen=True)
class Chosen:
    """The search for the labels of a release of a series, for the record."""

    hold_back: str
    labels_of: str | None
    algorithm: str
    time_limit: float | None
    refine: bool
    bound: bool
    objective: str = "lm"
    suppress: bool = True


@dataclass(frozen=True, eq=False)
class PendingRelease:
    """A release that is verified and not written yet."""

    name: str
    out: Path
    release: VerifiedRelease
    part: KeptRelease
    exposed: int  # people below k by the series as far as this release
    way: str
    writing: Mapping[str, Any]  # arguments of `VerifiedRelease.write`


def made(
    ledger: Ledger,
    before: Sequence[PendingRelease],
    name: str,
    way: Way,
    tree: Hierarchy,
    out: Path,
    chosen: Chosen,
    timing: dict[str, float],
    *,
    counts: bool | int,
    details: bool,
    progress: Progress,
    writing: Mapping[str, Any],
    ways: Sequence[Mapping[str, Any]] = (),
) -> PendingRelease:
    """Publish rows in a way that was chosen, and verify them alone and with the series.

    `before`: releases that come first and are written with it. `ways`: the loss of the other ways, for the
    report.
    """
    state = published_state(ledger)
    earlier = [*zip(state.names, state.parts, strict=True), *((one.name, one.part) for one in before)]
    seed = ledger.settings.seed + len(earlier) + 1  # one of its own, or equal orders would link rows
    release = _published(ledger, way, tree, counts, seed, timing, details, progress)
    report = recorded(
        way.data, tree, release.release, release.verdict, cast("Mapping[str, Any]", release.report), timing,
        algorithm={"name": "series", "info": info, "settings": chosen},
        guarantee=release.verdict.guarantee, seed=seed,
    )  # fmt: skip
    layout = release.release.layout(release.layout, writing.get("format"))
    rows = cast("RowsRelease", release.release).arranged(layout).row_map
    part = KeptRelease(tuple(way.people), way.data, way.image, rows, tuple(way.held))
    progress("verifying the series")
    now = state_of([*earlier, (name, part)])
    verdict = verify_series(now.series, ledger.promise, progress=progress)
    if not verdict.holds and newly_exposed(now.series, ledger.promise).size:
        raise GuaranteeError(
            f"The series would not satisfy its guarantee: {verdict.exposed:,} people are exposed. "
            "Nothing was written.",
            hint="This is a defect of setveil; please report it with the parameters of the run.",
        )
    exposed = before[-1].exposed if before else ledger.releases[-1].exposed if ledger.releases else 0
    report["series"] = _series_record(ledger, now.names, way, verdict_record(verdict, now), exposed)
    if ways:
        report["series"]["ways"] = cast("list[WayAgain]", [*ways])
    return PendingRelease(
        name, out, replace(release, report=report), part, verdict.exposed, chosen.hold_back, writing
    )


def allowed_counts(ledger: Ledger, before: int, counts: bool | int) -> bool | int:
    """Say whether counts may be next to a release: in a register next to the first one only."""
    if ledger.settings.kind != "register" or not before:
        return counts
    if not isinstance(counts, bool):
        raise RequestError(
            "In a register no counts are published after the first release: a reader who knows "
            "what stays could see who has an item.",
            hint="Omit --counts-min.",
        )
    return False


def _published(
    ledger: Ledger,
    way: Way,
    tree: Hierarchy,
    counts: bool | int,
    seed: int,
    timing: dict[str, float],
    details: bool,
    progress: Progress,
) -> VerifiedRelease:
    """Publish rows under labels that were found, and verify them by themselves."""
    guarantee = KmAnonymity(ledger.settings.k, ledger.settings.m)
    lost = [item for item in way.data.vocabulary.labels if way.image[item] is None]
    least = least_count(guarantee, counts)
    release = publish(way.data, recoding_of_image(way.image, tree), seed, {"suppressed": lost}, least)
    if release.counts is not None and release.published.filled_rows < release.published.n_rows:
        # Which rows show nothing need not agree between releases, so k of them do not hide what they held.
        release = replace(
            cast("RowsRelease", release),
            counts=Counts.of(way.data, release.recoding, least, filled=way.data.n_rows - 1),
        )
    release = release.with_listing(way.data, tree, least_rows(guarantee))
    progress("verifying")
    with timed(timing, "verify"):
        verdict = checked(way.data, release, guarantee, progress)
    if not verdict.holds:
        raise GuaranteeError(f"The release failed its own check. {verdict!r} Nothing was written.")
    found = looked_at(way.data, release, guarantee, timing, progress, details=details)
    layout = way.data.origin.layout if way.data.origin else Layout("basket")
    return VerifiedRelease(
        release, verdict, found["utility"], cast("Record", found), layout, way.data.personal
    )


def _series_record(
    ledger: Ledger, names: Sequence[str], way: Way, verdict: Mapping[str, Any], exposed: int
) -> SeriesEntry:
    """Say in the record of a run what the series is, and what this release cost."""
    entry = {
        "release": names[-1],
        "of": [*names],
        "kind": ledger.settings.kind,
        **{key: verdict[key] for key in _OF_VERDICT},
        "exposed_before": exposed,
        "held_back": len(way.held),
        "forgotten": ledger.settings.forgotten,
        "way": way.name,
        "lm": way.lm,
        "left_out": way.left_out,
        "names_kept": way.names_kept,
        "proven": way.proven,
        "gap": way.gap,
    }
    return cast("SeriesEntry", entry)


def written(
    ledger: Ledger, several: Sequence[PendingRelease], record: Mapping[str, Any]
) -> tuple[Ledger, list[Record]]:
    """Write the folders of runs and the ledger: all of them or nothing.

    What can fail comes first; then follow renames, that of the ledger last. `record`: additional content of
    the reports, which are returned as written.
    """
    s = ledger.settings
    reports: list[Record] = []
    entries = list(ledger.releases)
    try:
        names = [one.name for one in several]
        with gone_if_it_fails(ledger, names), replaced(ledger) as to, ExitStack() as stack:
            for one in several:
                place = stack.enter_context(staged_folder(one.out))
                place.rmdir()
                reports.append(one.release.write(place, record=record, **one.writing))
                write_json(place / "internal" / INSIDE, inside(ledger, one.name))
                (place / "internal" / INSIDE).chmod(0o600)
                entry = Entry(
                    one.name, str(one.out.absolute()), today(), s.k, s.m, len(one.part.people),
                    len(one.part.held), one.release.counts is not None, one.exposed, hashes_of(place),
                    one.way,
                )  # fmt: skip
                entries.append(entry)
            for one in several:
                keep(ledger, one.name, one.part)
            changed = replace(ledger, releases=tuple(entries))
            to(changed)
    except BaseException as error:
        for one in several:
            if (one.out / "internal" / INSIDE).is_file():  # a later move failed
                rmtree(one.out, ignore_errors=True)
        if isinstance(error, OutputError):  # which names a place beside it
            place = several[min(len(reports), len(several) - 1)].out
            raise OutputError(_HIDDEN.sub(str(place), error.message), hint=error.hint) from None
        raise
    return changed, reports
