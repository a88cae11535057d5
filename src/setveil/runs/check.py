"""Check all that is published of a release: its rows, and the counts beside them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from setveil.data.sums import Sums
from setveil.data.transactions import Transactions
from setveil.errors import RequestError, faces
from setveil.facts.facts import Facts
from setveil.guarantees import Guarantee, absent_items
from setveil.guarantees.kkm import KKmAnonymity
from setveil.guarantees.km import CODES, KmAnonymity
from setveil.guarantees.mixed_km import MixedKmAnonymity
from setveil.guarantees.verify import Verdict, verify
from setveil.guarantees.verify._classes import Classes, Overlap
from setveil.guarantees.verify.absence import ITEMS, nothing_absent, require_absence, signs_of, verify_absence
from setveil.guarantees.verify.boxes import overlapping
from setveil.guarantees.verify.codes import verify_codes
from setveil.guarantees.verify.counts import CountsFile, CountsVerdict, check_counts
from setveil.guarantees.verify.cover import covered_rows
from setveil.guarantees.verify.fact_counts import check_fact_counts
from setveil.guarantees.verify.km import COVER, READINGS, KmVerdict
from setveil.guarantees.verify.km_pieces import Counted, verify_km_pieces
from setveil.guarantees.verify.table_absence import verify_table_absence
from setveil.guarantees.verify.table_counts import check_table_counts
from setveil.hierarchy.tree import Hierarchy
from setveil.progress import Progress, silent
from setveil.published.class_rows import ClassRows
from setveil.published.counts import Counts
from setveil.published.facts import FactRows
from setveil.published.listing import others_in, with_others
from setveil.published.table_files import PublishedTable
from setveil.published.tables import LOCAL

if TYPE_CHECKING:
    from setveil.data.io.streams import ListFiles, TextFiles

Image = Mapping[str, "str | None"]  # the label of each item; None: it is left out


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
            hint="--reading cover, or leave it out.",
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
    **more: Any,
) -> Verdict:
    """Check what is published by the verifiers of the rows and of the counts.

    Parameters
    ----------
    published : Transactions, PublishedGroups or PublishedTable
        What is published.
    guarantee : Guarantee
        What was promised.
    counts : Counts or None
        What stands beside the rows.
    about : mapping
        Of about.json, where there are counts: `labels`, `recoding`, and `domain` if it is known.
    show : int
        How many violations to list.
    cover : Hierarchy, optional
        Check k^m-anonymity in the cover reading: each label stands for all leaves of this hierarchy below it.
    absent, absence
        Check k^m-anonymity where somebody also knows up to so many items that a person has not; 0: as many
        as the guarantee says.
    before : (Facts, mapping of str to (str or None)), optional
        The facts that were published, and the label of each: without these a promise about whole codes is
        refused.
    **more
        What the verifier of the rows takes besides.
    """
    if isinstance(published, FactRows) and guarantee.secrets:
        raise RequestError(
            f"Of facts nothing is promised about sensitive ones, as {guarantee.model} does of items: one "
            "that lies in a broader box would not be seen.",
            hint="Check k^m-anonymity, which facts are released under.",
        )
    if isinstance(published, FactRows) and isinstance(guarantee, KmAnonymity):
        guarantee = guarantee.for_columns(one.name for one in published.columns)
    if isinstance(published, PublishedTable) and isinstance(guarantee, KKmAnonymity | MixedKmAnonymity):
        sets = published.sets
        guarantee = guarantee.for_columns(
            [one.name for one in sets.columns] if isinstance(sets, FactRows) else [published.set_name]
        )
    absent = absent or absent_items(guarantee)
    if absent:
        return _with_absent(published, guarantee, counts, about, absent, absence, show=show, **more)
    if isinstance(published, ClassRows):
        return _in_classes(published, guarantee, counts, about, show=show, cover=cover, **more)
    if isinstance(guarantee, KmAnonymity) and guarantee.of_codes:
        verdict: Verdict = _of_codes(published, guarantee, before, show, **more)
    else:
        rows_read = published if cover is None else covered_rows(published, cover)
        verdict = verify(rows_read, guarantee, show=show, **more)
    if isinstance(published, FactRows):
        return _of_boxes(verdict, published, guarantee, counts, about, show)
    if isinstance(published, PublishedTable) and isinstance(published.sets, FactRows):
        return _of_table_boxes(verdict, published, published.sets, guarantee, show)
    if cover is not None:
        verdict = replace(verdict, reading=COVER)  # type: ignore[type-var]  # of k^m-anonymity alone
    if counts is None:
        return verdict
    rows: Transactions = published.sets if isinstance(published, PublishedTable) else published
    file = _file(counts, about)
    if isinstance(published, PublishedTable):
        of_tables = cast("KKmAnonymity | MixedKmAnonymity", guarantee)
        return verdict.with_counts(check_table_counts(published, file, of_tables, show=show))
    k: int = getattr(guarantee, "k", 1)  # rho-uncertainty has none: any number of rows may be counted
    found = check_counts(rows, file, k, secrets=guarantee.secrets, show=show)
    if cover is not None and not verify(rows, guarantee, brief=True).holds:
        problem = "the rows keep the promise in the cover reading only, in which counts undo it"
        found = CountsVerdict(found.lines, found.violations + 1, (problem, *found.first)[: max(show, 1)])
    return verdict.with_counts(found)


def _with_absent(
    published: Any,
    guarantee: Guarantee,
    counts: Counts | None,
    about: Mapping[str, Any],
    absent: int,
    absence: str,
    *,
    show: int,
    progress: Progress = silent,
    **_more: Any,
) -> Verdict:
    """Check rows for somebody who also knows what a person has not."""
    require_absence(absent, absence, guarantee)
    told = (absence, with_others(about), counts.lines() if counts else ())
    asked: dict[str, Any] = {"absent": absent, "absence": absence, "show": show, "progress": progress}
    if isinstance(published, PublishedTable):
        of_table = cast("KKmAnonymity", guarantee)
        verdict: Verdict = verify_table_absence(published, of_table, signs_of(published.sets, *told), **asked)
        if counts is None:
            return verdict
        return verdict.with_counts(check_table_counts(published, _file(counts, about), of_table, show=show))
    if not isinstance(published, Transactions) or isinstance(published, ClassRows | FactRows):
        raise nothing_absent()
    of_rows = cast("KmAnonymity", guarantee)
    verdict = verify_absence(published, of_rows, signs_of(published, *told), **asked)
    if counts is None:
        return verdict
    return verdict.with_counts(check_counts(published, _file(counts, about), of_rows.k, show=show))


def _of_codes(
    published: Any,
    guarantee: KmAnonymity,
    before: tuple[Facts, Image] | None,
    show: int,
    progress: Progress = silent,
    **_more: Any,
) -> Verdict:
    """Check what is published for somebody who knows whole codes."""
    require_facts(guarantee, of_facts=isinstance(published, FactRows))
    if before is None:
        raise RequestError(
            "Published rows do not tell which facts are of one code: that whole codes are hidden is checked "
            "inside.",
            hint="Name the run's folder, whose record says where its facts are; single facts need nothing.",
        )
    facts, image = before
    labels = [image.get(label) for label in facts.vocabulary.labels]
    persons: list[dict[tuple[int, int], set[str]]] = [{} for _ in range(facts.n_rows)]
    row = np.repeat(np.arange(facts.n_rows), facts.row_lengths())
    for person, fact in zip(row.tolist(), facts.items.tolist(), strict=True):
        label = labels[fact]
        if label is not None:
            code = int(facts.column[fact]), int(facts.parts[fact, 0])
            persons[person].setdefault(code, set()).add(label)
    single = verify(published, guarantee.of_facts, show=show, progress=progress)
    if not single.holds:  # of which that of whole codes would follow
        return replace(single, guarantee=guarantee)  # type: ignore[type-var]  # of k^m-anonymity
    known = [[frozenset(shown) for shown in person.values()] for person in persons]
    return verify_codes(published, known, guarantee, show=show, progress=progress)


def require_facts(guarantee: Guarantee, *, of_facts: bool) -> None:
    """Refuse a promise about whole codes where rows hold no facts."""
    if isinstance(guarantee, KmAnonymity) and guarantee.of_codes and not of_facts:
        raise RequestError(
            f"{faces('--known codes', 'known=' + repr(CODES))} is about facts, codes with dates or amounts, "
            "and these rows hold items.",
            hint="Leave it out, or name dates or amounts of the codes: --when, --amount.",
        )


def _of_boxes(
    verdict: Verdict,
    published: FactRows,
    guarantee: Guarantee,
    counts: Counts | None,
    about: Mapping[str, Any],
    show: int,
) -> Verdict:
    """Add to a verdict on rows of facts whether boxes overlap, which then are no items, and on counts."""
    number = 0
    first: list[tuple[int, int]] = []
    for at, column in enumerate(published.columns):
        labels_of = published.labels_of(at)
        boxes = [published.boxes[label] for label in labels_of]
        found, pairs = overlapping(boxes, column.meaning, max(show - len(first), 0))
        number += found
        first += [(labels_of[one], labels_of[other]) for one, other in pairs]
    labels = published.vocabulary.labels
    if number:
        verdict = replace(  # type: ignore[type-var]  # of k^m-anonymity alone
            verdict,
            holds=False,
            violations=verdict.violations + number,
            overlaps=tuple((labels[one], labels[other]) for one, other in first),
        )
    if counts is None:
        return verdict
    k: int = guarantee.k  # type: ignore[attr-defined]  # of every promise without sensitive items
    file = counts.lines(), counts.least, counts.suppressed
    return verdict.with_counts(
        check_fact_counts(published, published.stands_for, *file, k, domain=about.get("domain"), show=show)
    )


def _of_table_boxes(
    verdict: Verdict, published: PublishedTable, sets: FactRows, guarantee: Guarantee, show: int
) -> Verdict:
    """Add to a verdict on a table whether the facts that its rows show overlap.

    Under (k,k^m)-anonymity each class is looked at by itself, as whoever knows the class does; else all rows.
    """
    by_class = isinstance(guarantee, KKmAnonymity)
    classes = Classes.of(published)
    of_row = classes.of_row if by_class else np.zeros(published.n_rows, np.int64)
    n = max(sets.n_items, 1)
    pairs = np.unique(np.repeat(of_row, sets.row_lengths()) * n + sets.items)
    number = 0
    first: list[Overlap] = []
    names = sets.vocabulary.labels
    for some in np.split(pairs, np.flatnonzero(np.diff(pairs // n)) + 1) if pairs.size else []:
        labels = some % n
        for at, column in enumerate(sets.columns):
            mine = labels[sets.column[labels] == at].tolist()
            boxes = [sets.boxes[label] for label in mine]
            found, two = overlapping(boxes, column.meaning, max(show - len(first), 0))
            number += found
            known = classes.named(published, int(some[0] // n)) if found and by_class else ()
            first += [Overlap(known, (names[mine[one]], names[mine[other]])) for one, other in two]
    if not number:
        return verdict
    return replace(  # type: ignore[type-var]  # of both models that such tables have
        verdict, holds=False, violations=verdict.violations + number, overlaps=tuple(first)
    )


def _in_classes(
    published: ClassRows,
    guarantee: Guarantee,
    counts: Any,
    about: Mapping[str, Any],
    *,
    show: int,
    cover: Hierarchy | None,
    progress: Progress = silent,
    **_more: Any,
) -> Verdict:
    """Check every class by itself, and lines and totals of all."""
    from setveil.guarantees.verify.class_counts import ClassCountsFile, check_class_counts
    from setveil.guarantees.verify.classes import classes_of, verify_classes

    if cover is not None:
        raise RequestError(
            "The cover reading is that of releases which know no classes; here each class keeps the promise.",
            hint="Leave out --reading and --hierarchy.",
        )
    classes = classes_of(published, published.sizes.tolist())
    verdict = verify_classes(classes, guarantee, show=show, progress=progress)
    if counts is None:
        return verdict
    file = ClassCountsFile(
        counts.lines(), counts.least, counts.untold, about["labels"], about.get("domain"), others_in(about)
    )
    k: int = guarantee.k  # type: ignore[attr-defined]  # of both models that classes have
    return verdict.with_counts(check_class_counts(classes, file, k, secrets=guarantee.secrets, show=show))


def check_pieces(
    files: ListFiles | TextFiles,
    guarantee: KmAnonymity,
    counts: Counts | None,
    about: Mapping[str, Any],
    *,
    show: int = 10,
    progress: Progress = silent,
) -> tuple[KmVerdict, Counted]:
    """Check k^m-anonymity of files that are read a piece at a time, and of the counts beside them.

    Parameters
    ----------
    files : ListFiles or TextFiles
        The published rows.
    guarantee, counts, about, show
        See `check`; the recoding is not local where there are counts.
    progress : Progress
        Hears how far it is.

    Returns
    -------
    verdict : KmVerdict
    counted : Counted
        What was found in the rows besides.
    """
    if counts is not None and about.get("recoding") == "local":
        raise RequestError(
            "Counts beside a local recoding are not checked in parts.", hint="Leave out --engine parts."
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
    return verdict.with_counts(check_counts(found, _file(counts, about), guarantee.k, show=show))


def _file(counts: Counts, about: Mapping[str, Any]) -> CountsFile:
    """Put together what the verifier of counts reads."""
    return CountsFile(
        counts.lines(), counts.least, counts.suppressed, about["labels"],
        local=about.get("recoding") in ("local", LOCAL), domain=about.get("domain"),
        others=others_in(about),
    )  # fmt: skip
