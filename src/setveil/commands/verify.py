"""Check a guarantee."""

from __future__ import annotations

import math
from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from setveil.base.errors import DataError, RequestError, described, listed
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    exposed_by,
    heard,
    integer,
    is_path,
    promised,
    release_of,
    rows_of,
    tree_of,
)
from setveil.commands.refusals import require_useful
from setveil.judges.guarantees import ITEMS, Guarantee, Model, model_named, models
from setveil.judges.guarantees.verify import Verdict
from setveil.judges.guarantees.verify.absence import require_absence
from setveil.releases.published import KindInfo, kind_at, kind_for, kind_named
from setveil.releases.published.about import about_beside, promise_beside
from setveil.releases.published.counts import Counts
from setveil.releases.published.group_files import require_in_groups
from setveil.releases.published.recoding import Recoding
from setveil.releases.published.rows import read_image
from setveil.releases.published.shared import counts_beside
from setveil.rows.data.exposed import Exposed
from setveil.rows.data.transactions import Transactions
from setveil.rows.facts.facts import Facts
from setveil.rows.hierarchy.fit import fitted_to_labels
from setveil.runs.check import check, require_reading
from setveil.runs.run import VerifiedRelease
from setveil.work.past.facts import facts_before

Image = dict[str, str | None]


def verify(
    release: str | PathLike[str] | object,
    guarantee: Guarantee | None = None,
    *,
    k: int | None = None,
    m: int | float | Mapping[str, int] | None = None,
    original: object = None,
    recoding: Recoding | Mapping[str, str | None] | None = None,
    reading: str = "label",
    hierarchy: TreeLike = None,
    absent: int | None = None,
    absence: str | None = None,
    show: int = 10,
    progress: Listener = None,
) -> Verdict:
    """Check a guarantee from what is published alone: the rows, and the counts next to them if there are any.

    Parameters
    ----------
    release : VerifiedRelease, Release, path, data frame, list of lists, or Transactions
        What is published: a release, the folder of a run or its published file (whose about.json is heeded),
        any file of rows, or rows; a table made elsewhere as `setveil.read_published_table` reads it. Each
        label is taken as one item, whatever it represents.
    guarantee : KmAnonymity, TransactionalKAnonymity, PrivacyConstraints, ..., optional
        What was guaranteed. Without it and k: what the release says, or the about.json next to its file.
    k, m : int, optional
        The guarantee in short, as for `setveil.anonymize`.
    original : path, data frame, list of lists, Transactions or Facts, optional
        For rows in groups: what they were made from. Then no row may be missing. For a guarantee about whole
        codes: the facts of the run, where they are no longer where it read them.
    recoding : Recoding or mapping of str to (str or None), optional
        For constraints: the label of each item (None: it was suppressed), where neither the release nor its
        about.json tells.
    reading : {"label", "cover"}
        For k^m-anonymity: take each label as one item, whatever it represents, or as what it covers, where
        labels of several levels of a hierarchy are published (docs/verify.md). The guarantee of setveil's own
        releases is the first, which is the stronger one.
    hierarchy : Hierarchy, path, dict or data frame, optional
        For the cover reading: the hierarchy that the labels are nodes of.
    absent : int, optional
        For k^m-anonymity and (k,k^m)-anonymity: someone also knows up to 1, or 2, items that a person has
        not.
    absence : {"items", "labels"}, optional
        With `absent`: an absent item excludes rows only by labels that certainly mean it (the default), or
        any label may be known to be absent (docs/verify.md).
    show : int
        How many violations to list.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    Verdict
        True where the guarantee holds, and with counterexamples where it does not.

    Raises
    ------
    RequestError
        If the guarantee is none, or an argument is of no use for it or of a wrong type.
    DataError
        If the published file cannot be read, is of a kind that the guarantee does not cover, or has labels
        that are not in the hierarchy.

    Examples
    --------
    >>> import setveil as sv
    >>> sv.verify([["tea", "milk"], ["tea"], ["milk"], ["tea", "milk"]], sv.KmAnonymity(k=2, m=2))
    Yes: k^m-anonymity (k=2, m=2) holds.
    >>> verdict = sv.verify([["tea", "milk"], ["tea"], ["milk"]], sv.KmAnonymity(k=2, m=2))
    >>> verdict.holds, verdict.first
    (False, ((('milk', 'tea'), 1),))

    Anyone who knows an item is left with the rows that show it or a label above it:

    >>> drinks = sv.Hierarchy.from_paths([["tea", "hot", "*"], ["coffee", "hot", "*"], ["milk", "*"]])
    >>> theirs = [["hot"], ["tea"], ["tea"], ["coffee"], ["coffee"]]
    >>> sv.verify(theirs, sv.KmAnonymity(k=3, m=1)).holds
    False
    >>> sv.verify(theirs, sv.KmAnonymity(k=3, m=1), reading="cover", hierarchy=drinks)
    Yes: k^m-anonymity (k=3, m=1) in the cover reading holds.
    """
    if guarantee is None and k is None and m is None:
        guarantee = _promised_by(release)
    guarantee = promised(guarantee, k, m, kind=_kind_before(release))
    model = model_named(guarantee.model)
    of_codes = guarantee.of_codes
    require_useful(model, original=None if of_codes else original, recoding=recoding)
    tree = tree_of(hierarchy)
    require_reading(reading, model.name, hierarchy=tree is not None)
    more: dict[str, Any] = {"show": max(integer("show", show, 0), 1), "progress": heard(progress)}
    more["cover"] = tree
    more |= absence_request(absent, absence, guarantee, cover=tree is not None)
    published = _published(release, model)
    if tree is not None:
        more["cover"] = fitted_to_labels(tree, published.vocabulary.labels)
    if "original" in model.knows:
        more["original"] = None if original is None else rows_of(original, "The original", tables=True)
        require_in_groups(guarantee.secrets, "sensitive", published, more["original"])
    if "image" in model.knows and (recoding is not None or getattr(guarantee, "itemsets", None) is not None):
        more["image"] = _completed(_image(release, published, recoding), guarantee, published)
    if of_codes:
        more["before"] = _before(release, original)
    counts, about = _counts(release)
    return check(published, guarantee, counts, about, **more)


def _before(release: object, original: object) -> tuple[Facts, Mapping[str, str | None]] | None:
    """Find the facts that a release was made from, and the label of each; None for rows alone."""
    made = release_of(release)
    if made is not None:
        return made.before()
    return facts_before(fspath(release), original) if is_path(release) else None


def absence_request(absent: Any, absence: Any, guarantee: Any, *, cover: bool) -> dict[str, Any]:
    """Return the request about absent items, for `setveil.runs.check.check`; nothing: they are not."""
    if absent is None:
        if absence is not None:
            raise RequestError("--absence goes with --absent.", hint="--absent 1")
        return {}
    found = {"absent": absent, "absence": ITEMS if absence is None else absence}
    require_absence(**found, guarantee=guarantee)
    if cover:
        raise RequestError("--absent does not go with the cover reading.", hint="Omit one of them.")
    return found


def _counts(release: object) -> tuple[Counts | None, dict[str, Any]]:
    """Find the counts next to published rows, and what about.json says of the labels."""
    made = release_of(release)
    if made is not None:
        return made.counts, made.meaning()
    return counts_beside(fspath(release)) if is_path(release) else (None, {})


def _published(release: object, model: Model) -> Any:
    """Take what is published, and refuse another kind than the model is about."""
    kind = kind_for(fspath(release), model.release) if is_path(release) else kind_named(model.release)
    made = release_of(release)
    exposed = exposed_by(release, kind)
    if exposed.unpublished is not None:
        raise exposed.unpublished.error()
    if not kind_named(exposed.kind).info.suits(kind.info):
        raise DataError(
            f"{model.title} is not a guarantee for this release: it is about {kind.info.title}.",
            hint="Verify its own guarantee."
            if made is not None
            else f"Give a release of {kind.info.title}, or its folder.",
        )
    return exposed


def _promised_by(release: object) -> Guarantee | None:
    """Take the guarantee of a release made here, or of the about.json next to a file; None: nothing says."""
    if isinstance(release, VerifiedRelease):
        made: Guarantee = release.verdict.guarantee
        return made
    said = dict(promise_beside(fspath(release))) if is_path(release) else {}
    model = models().get(said.pop("model", ""))
    said.pop("known", None)  # which is checked inside; what is published shows what follows of single facts
    if model is None or not said.keys() <= model.options.keys():  # itemsets of a file are not all told
        return None
    values: dict[str, Any] = {}
    for key, value in said.items():
        values[key] = math.inf if value == "inf" else tuple(value) if isinstance(value, list) else value
        beside = model.options[key].only_with
        if beside is not None:  # m of constraints: no itemsets are named
            values[beside[0]] = None
    if any(entry.needed and not entry.secret and key not in values for key, entry in model.options.items()):
        return None  # defaults are ours, and no guarantee of theirs
    found: Guarantee = model.make(**values)
    return found


def _kind_before(release: object) -> str:
    """Name the kind of release that k and m alone are about, before it is read: tables, chunks, or rows."""
    made = release_of(release)
    if is_path(release):
        info: KindInfo = kind_at(fspath(release)).info
    elif made is not None:
        info = made.info
    else:
        info = kind_named(release.kind if isinstance(release, Exposed) else "rows").info
    return info.short


def _image(release: object, published: Transactions, recoding: object) -> Image | None:
    """Find out what each item was published as; None where nothing tells."""
    if recoding is not None:
        if isinstance(recoding, Recoding):
            labels = (*recoding.published.labels, None)
            return dict(zip(recoding.items.labels, (labels[i] for i in recoding.image.tolist()), strict=True))
        if not isinstance(recoding, Mapping):
            raise RequestError(
                f"The recoding must be a Recoding or a mapping of items to labels, got {described(recoding)}."
            )
        return dict(recoding)
    made = release_of(release)
    if made is not None:
        return dict(made.image())
    about = about_beside(fspath(release)) if is_path(release) else None
    if about is None:
        return None
    return dict(read_image(about, published))


def _completed(image: Image | None, guarantee: Any, published: Transactions) -> Image:
    """Add the protected items that no label tells of: they were suppressed."""
    protected = [item for itemset in guarantee.itemsets or () for item in itemset]
    if image is None:
        unknown = [item for item in protected if item not in published.vocabulary.ids]
        if unknown:
            raise DataError(
                f"{len(unknown):,} protected items are not in the published rows: {listed(unknown)}.",
                hint="If items were published under other labels, give the recoding.",
            )
        return dict.fromkeys(published.vocabulary.labels) | {x: x for x in published.vocabulary.labels}
    return dict.fromkeys(protected) | image
