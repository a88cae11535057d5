"""Check all that is published of a release: its rows, and the counts next to them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from setveil.base.errors import RequestError
from setveil.base.progress import Progress, silent
from setveil.judges.guarantees import ITEMS, Guarantee, absent_items
from setveil.judges.guarantees.km import KmAnonymity
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.counts import check_counts
from setveil.judges.guarantees.verify.km import COVER, READINGS, KmVerdict
from setveil.releases.published.counts import Counts
from setveil.rows.data.sums import Sums
from setveil.rows.hierarchy.tree import Hierarchy
from setveil.runs.checks import Image, ReleaseCheck, check_of, counts_file

if TYPE_CHECKING:
    from setveil.judges.guarantees.verify.km_pieces import Counted
    from setveil.rows.data.io.streams import ListFiles, TextFiles
    from setveil.rows.facts.facts import Facts


def require_reading(reading: str, model: str, *, hierarchy: bool) -> None:
    """Refuse a reading of labels that the model does not have, or a hierarchy without use for it."""
    if reading not in READINGS:
        raise RequestError(f"The reading must be {' or '.join(READINGS)}, got {reading!r}.")
    if reading == COVER and model != KmAnonymity.model:
        raise RequestError(f"The cover reading does not apply to {model}: it is one of {KmAnonymity.model}.")
    if reading == COVER and not hierarchy:
        raise RequestError(
            "The cover reading needs the hierarchy, which says what each label covers.",
            hint="Name it: --hierarchy FILE.",
        )
    if reading != COVER and hierarchy:
        raise RequestError(
            "A hierarchy is of use in the cover reading only: else each label is one item of its own.",
            hint="--reading cover, or omit it.",
        )


def check(
    published: Any,
    guarantee: Guarantee,
    counts: Counts | None,
    about: Mapping[str, Any],
    *,
    show: int = 10,
    cover: Hierarchy | None = None,
    absent: int = 0,
    absence: str = ITEMS,
    before: tuple[Facts, Image] | None = None,
    progress: Progress = silent,
    **more: Any,
) -> Verdict:
    """Check published rows and the counts next to them by their verifiers.

    `about`: of about.json, if there are counts: `labels`, `recoding`, and `domain` if known. `cover`: check
    k^m-anonymity in the cover reading, where each label represents all leaves of this hierarchy below it.
    `absent`, `absence`: an attacker also knows up to this many items that a person does not have; 0: as many
    as the guarantee says. `before`: the facts, and the label of each, without which guarantees about whole
    codes are not supported. `more`: for the verifier of the rows.
    """
    request: ReleaseCheck = check_of(published.kind)(
        published, guarantee, counts, about, show=show, cover=cover, absence=absence, before=before,
        progress=progress, more=more,
    ).of_columns()  # fmt: skip
    absent = absent or absent_items(request.guarantee)
    return request.with_absent(absent) if absent else request.verdict()


def check_pieces(
    files: ListFiles | TextFiles,
    guarantee: KmAnonymity,
    counts: Counts | None,
    about: Mapping[str, Any],
    *,
    show: int = 10,
    progress: Progress = silent,
) -> tuple[KmVerdict, Counted]:
    """Check k^m-anonymity of files a piece at a time, and of counts of global recodings next to them."""
    from setveil.judges.guarantees.verify.km_pieces import verify_km_pieces

    if counts is not None and about.get("recoding") == "local":
        raise RequestError(
            "Counts of a local recoding are not checked in parts.", hint="Omit --engine parts."
        )
    progress("reading labels")
    verdict, found = verify_km_pieces(files.pieces, files.vocabulary, guarantee, show=show, progress=progress)
    return with_counts(verdict, found, guarantee, counts, about, show=show), found


def with_counts(
    verdict: KmVerdict,
    found: Sums,
    guarantee: KmAnonymity,
    counts: Counts | None,
    about: Mapping[str, Any],
    *,
    show: int = 10,
) -> KmVerdict:
    """Add what is found of the counts, if there are any, to what was found of the rows."""
    if counts is None:
        return verdict
    return verdict.with_counts(check_counts(found, counts_file(counts, about), guarantee.k, show=show))
