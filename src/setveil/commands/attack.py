"""Attack published rows as a red team would, with people who are not in the data as a control group."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import numpy as np

from setveil.base.errors import DataError, RequestError, described, faces, listed
from setveil.base.progress import Progress, silent
from setveil.base.values.numbers import number_of
from setveil.base.wording import are, count
from setveil.commands.anonymize import anonymize
from setveil.commands.arguments import (
    Listener,
    TreeLike,
    heard,
    integer,
    integer_or_none,
    is_path,
    labels_of,
    published_rows,
    release_of,
    rows_of,
    tree_of,
)
from setveil.judges.attacker.attacks.attacks import Bound, attack_rows
from setveil.judges.attacker.attacks.shown import Share, ShownRows
from setveil.judges.guarantees import Guarantee
from setveil.judges.utility.estimates import Estimator
from setveil.kernels.content import merge_rows_by_content
from setveil.kernels.rows import take_rows
from setveil.releases.published import kind_at
from setveil.releases.published import rows as single_rows
from setveil.releases.published.about import about_file, published_file, reconstruction_at
from setveil.releases.published.counts import read_counts
from setveil.releases.published.shared import SharedSums
from setveil.report.attack import attack_text
from setveil.rows.data.draws import row_keys
from setveil.rows.data.io.rows import read_ids
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy.fit import fitted
from setveil.rows.hierarchy.tree import Hierarchy

ATTACKS, USUAL_M, MOST_M = 2000, 2, 8
_ORIGINAL = faces("--original", "train")
_UNKNOWN = 0.2  # of control's items that train has not: more of them make it other people
# Guarantees by which every set of at most m labels is in no row, or in at least k.
_BOUNDING = ("km-anonymity", "km-rho", "k-anonymity")


class Attacked(dict[str, Any]):
    """What `setveil.attack` found, a dict that shows itself as ``setveil attack`` does.

    Examples
    --------
    >>> import setveil as sv
    >>> people = 6 * [["tea", "milk"], ["tea"]] + [["tea", "rum"]]
    >>> found = sv.attack(people, people, 4 * [["tea", "milk"], ["tea"]], k=3)
    >>> type(found).__name__, found["leak"]
    ('Attacked', True)
    """

    def __repr__(self) -> str:
        return attack_text(self)


@dataclass(frozen=True, eq=False)
class Target:
    """Published rows, and all that is told of them."""

    rows: Transactions
    under: Mapping[str, Sequence[str]]  # the items that labels stand for; others stand for themselves
    guarantee: Mapping[str, Any]  # what about.json guarantees, if anything
    about: Mapping[str, Any]
    counts: Any = None
    drawn: bool = False  # whether the rows were drawn from a release


def attack(
    release: str | PathLike[str] | object,
    train: object = None,
    control: object = None,
    *,
    m: int | None = None,
    k: int | None = None,
    attacks: int = ATTACKS,
    secret: Any = None,
    alpha: float | str | Fraction = 0.01,
    seed: int = 0,
    recoding: Mapping[str, str | None] | None = None,
    hierarchy: TreeLike = None,
    split: float | str | Fraction | None = None,
    guarantee: Guarantee | None = None,
    algorithm: Any = None,
    progress: Listener = None,
) -> Attacked:
    """Attack published rows, and compare what is found of people in them with what is found of others.

    Each of four kinds of attack is tried on people whom the rows are about (`train`) and on others of the
    same kind (`control`): singling out, linkability, inference and membership. Only what breaks the bound
    that the guarantee implies is a leak; where nothing is guaranteed, what succeeds in train more often than
    chance explains. An attack that fails proves nothing; `setveil.verify` proves.

    Parameters
    ----------
    release : VerifiedRelease, path, data frame, list of lists, or Transactions
        The published rows: a release, its folder, any file of rows, or a file of those that
        `setveil.reconstruct` draws. With `split` the original rows instead.
    train : path, data frame, list of lists, or Transactions
        The original rows. Not with `split`.
    control : path, data frame, list of lists, or Transactions
        Other people from the same source. Not with `split`.
    m : int, optional
        Items that an attacker knows, from 1 to 8: all numbers up to this are tried. By default that of the
        guarantee if it is at most 8, else 2.
    k : int, optional
        The guarantee, where no about.json says it: each set of at most m labels is in at least k rows.
    attacks : int
        Attempts of each kind, at most as many as there are different targets.
    secret : list of str, or path, optional
        Items that nobody knows, and that inference guesses. By default it guesses any item that is not known.
    alpha : float
        How likely rows that satisfy their guarantee are accused, at most.
    seed : int
        Draws targets, what is known of them, and halves.
    recoding : mapping of str to (str or None), optional
        The label of each item, where no about.json tells.
    hierarchy : Hierarchy, path, dict or data frame, optional
        The hierarchy that labels are nodes of, where no about.json tells; with `split` that of the release.
    split : float, optional
        Make a release of this share of the rows first, and keep the others as control.
    guarantee, algorithm
        With `split`: of the release, as for `setveil.anonymize`; without a guarantee k and m.
    progress : callable or Progress, optional
        Hears how far it is.

    Returns
    -------
    Attacked
        What ``setveil attack --json`` prints (see docs/risk.md), as a dict: `leak`, and for each attack how
        often it succeeded. It tells of the original rows and is internal.

    Raises
    ------
    RequestError
        If an argument is out of range or of a wrong type, or control is train.
    DataError
        If rows cannot be read, there is no control, or what is published are no single rows.

    Examples
    --------
    >>> import setveil as sv
    >>> people = 6 * [["tea", "milk"], ["tea"], ["coffee", "milk"]] + [["tea", "rum"]]
    >>> others = 4 * [["tea", "milk"], ["tea"], ["coffee"]]
    >>> found = sv.attack(people, people, others, k=3)
    >>> found["leak"], found["attacks"][0]["train"]["successes"], found["exposed"][0]
    (True, 1, {'row': 19, 'attacks': 2})
    """
    share, level = share_between("split", split), share_between("alpha", alpha)
    listening = heard(progress)
    options: dict[str, Any] = {
        "m": integer_or_none("m", m, 1), "k": integer_or_none("k", k, 2),
        "attacks": integer("attacks", attacks, 1),
        "alpha": level, "seed": integer("seed", seed, 0), "progress": listening,
    }  # fmt: skip
    require_sides(share, train, control)
    if share is not None:
        rows = rows_of(release, "The original")
        promise: dict[str, Any] = {"guarantee": guarantee}
        if guarantee is None:
            promise = {"k": options["k"], "m": options["m"] or USUAL_M}
        options["k"] = None

        def make(some: Transactions) -> Target:
            made = anonymize(
                some, **promise, hierarchy=hierarchy, algorithm=algorithm, seed=seed, progress=progress
            )
            return target_of(made)

        return Attacked(attacked_split(rows, share, make, secrets_of(secret, rows), **options))
    if guarantee is not None or algorithm is not None:
        raise RequestError("guarantee and algorithm go with --split only.", hint="Omit them.")
    tree, people = tree_of(hierarchy), rows_of(train, "The original")
    target = target_of(release, recoding, tree and fitted(tree, people.vocabulary.labels))
    require_other(train, control)
    return Attacked(
        attacked(target, people, rows_of(control, "The control"), secrets_of(secret, people), **options)
    )


def attacked(
    target: Target,
    train: Transactions,
    control: Transactions,
    secret: Sequence[str] = (),
    *,
    seed: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Attack published rows (see `attack`); the order of the lines of people decides nothing."""
    _require_people(train, control)
    orders = [np.argsort(row_keys(side, seed, "attack"), kind="stable") for side in (train, control)]
    sides = train.drawn(orders[0]), control.drawn(orders[1])
    found = _attacked(target, *sides, secret, seed=seed, **options)
    for line in found["exposed"]:
        line["row"] = int(orders[0][line["row"] - 1]) + 1
    return found


def _attacked(
    target: Target,
    train: Transactions,
    control: Transactions,
    secret: Sequence[str] = (),
    *,
    m: int | None = None,
    k: int | None = None,
    attacks: int = ATTACKS,
    alpha: float | Fraction | None = None,
    seed: int = 0,
    progress: Progress = silent,
) -> dict[str, Any]:
    """Attack published rows by people in an order that their content decides."""
    if m is not None and m > MOST_M:
        raise RequestError(
            f"{faces('--known', 'm')} must be at most {MOST_M} for attacks, got {m}.", hint="Omit it."
        )
    if target.drawn and k is not None:
        raise RequestError(
            "--k: rows that were drawn from a release guarantee nothing of their own.",
            hint="Omit it: then train is compared with control.",
        )
    said = target.guarantee if k is None else {"model": _BOUNDING[0], "k": k, "m": m or USUAL_M}
    hidden = tuple(dict.fromkeys([*secret, *target.guarantee.get("sensitive", ())]))
    bound = None
    if said.get("model") in _BOUNDING:
        largest: Any = said.get("m", "inf")
        bound = Bound(int(str(said["k"])), math.inf if largest == "inf" else int(largest))
    if m is None:
        m = int(bound.m) if bound is not None and bound.m <= MOST_M else USUAL_M
    progress("reading labels")
    shown = ShownRows.of(target.rows, target.under, (train, control), _shares(target), hidden)
    found = attack_rows(
        shown, shown.people(train), shown.people(control), bound=bound, promised=bool(said),
        ms=range(1, m + 1), attacks=attacks, secret=shown.hidden(hidden),
        alpha=Fraction(1, 100) if alpha is None else alpha, seed=seed, progress=progress,
    )  # fmt: skip
    for line in found["exposed"]:
        line["row"] += 1
    return {
        "k": None if bound is None else bound.k, "m": m, "promise": dict(said) or None,
        "rows": {"published": target.rows.n_rows, "train": train.n_rows, "control": control.n_rows},
        "warnings": _warnings(target, train, control), **found,
    }  # fmt: skip


def attacked_split(
    rows: Transactions,
    share: float | Fraction,
    make: Callable[[Transactions], Target],
    secret: Sequence[str] = (),
    *,
    seed: int = 0,
    **options: Any,
) -> dict[str, Any]:
    """Publish a share of the rows, drawn by content and seed, and attack it with the others as control."""
    first = min(max(round(share * rows.n_rows), 1), rows.n_rows - 1)
    if rows.n_rows < 2:
        raise DataError(f"--split needs at least two rows, got {rows.n_rows}.")
    order = np.argsort(row_keys(rows, seed, "split"), kind="stable")
    chosen = order[:first], order[first:]  # whose order is the same whatever that of the input
    train, control = (rows.drawn(which) for which in chosen)
    _require_people(train, control)
    found = _attacked(make(train), train, control, secret, seed=seed, **options)
    for line in found["exposed"]:
        line["row"] = int(chosen[0][line["row"] - 1]) + 1
    return found


def target_of(
    release: object, recoding: Mapping[str, str | None] | None = None, tree: Hierarchy | None = None,
    read: Callable[..., Transactions] = published_rows, **reading: Any,
) -> Target:  # fmt: skip
    """Find published rows, the meaning of their labels (next to them or given), and their guarantee."""
    made = release_of(release)
    about: Mapping[str, Any] = {}
    counts, drawn = None, False
    if made is not None:
        if not isinstance(made, single_rows.RowsRelease) or type(made.published) is not Transactions:
            raise _no_single_rows()
        rows = made.published
        said = getattr(release, "report", {}).get("guarantee", {})
        about, counts = {**made.meaning(), "guarantee": said}, made.counts
    elif is_path(release):
        path = fspath(release)
        drawn = path != "-" and reconstruction_at(Path(path).parent) is not None
        rows = read(path, **reading) if drawn else kind_at(path).read(path, read, **reading)
        if path != "-" and not drawn and type(rows) is Transactions:
            file = published_file(Path(path))
            about = about_file(file)
            counts = read_counts(file.parent, about) if about else None
    else:
        rows = rows_of(release, "The release")
    if type(rows) is not Transactions or about.get("recoding") == "classes":
        raise _no_single_rows()
    under: Mapping[str, Sequence[str]] = about.get("labels", {})
    if not about and recoding is not None:
        under = _behind(recoding)
    elif not about and tree is not None:
        names = [label for label in rows.vocabulary.labels if label in tree and tree.children(tree.id(label))]
        under = {label: [tree.labels[leaf] for leaf in tree.leaves(tree.id(label))] for label in names}
    return Target(rows, under, about.get("guarantee") or {}, about, counts, drawn)


def require_sides(share: float | Fraction | None, train: object, control: object) -> None:
    """Refuse to make the two groups that are given, and to go without one."""
    sides = train is not None, control is not None
    if share is not None and any(sides):
        raise RequestError(
            "--split makes the release, the original and the control, but "
            f"{_ORIGINAL} or --control is given, too.",
            hint="Omit them.",
        )
    if share is None and not all(sides):
        raise RequestError(
            f"An attack needs the original rows and other people as a control: {_ORIGINAL} and --control.",
            hint="--split 50% makes both of one file, and a release of the first half.",
        )


def require_other(train: object, control: object) -> None:
    """Refuse people who are their own control."""
    if control is train or (is_path(train) and is_path(control) and _same_file(train, control)):
        raise _own_control()


def secrets_of(secret: Any, rows: Transactions, encoding: str = "utf-8") -> tuple[str, ...]:
    """Take secret items."""
    return labels_of("secret", secret, rows, encoding)


def share_between(name: str, value: Any) -> float | Fraction | None:
    """Take a share that is neither nothing nor all; None stays None."""
    if value is None:
        return None
    found = number_of(value)
    if not isinstance(found, int | float | Fraction) or isinstance(found, bool) or not 0 < found < 1:
        raise RequestError(
            f"--{name} must be above 0 and below 1 (100%), got {described(value)}.",
            hint="Such as 50% or 0.5." if name == "split" else "Such as 1% or 0.01.",
        )
    return found


def _behind(recoding: Mapping[str, str | None]) -> dict[str, list[str]]:
    """List the items of each label of a recoding."""
    under: dict[str, list[str]] = {}
    for item, label in recoding.items():
        if label is not None:
            under.setdefault(label, []).append(item)
    return under


def _shares(target: Target) -> Callable[[str, str], Share]:
    """Estimate how likely a row that shows a label holds an item, with the counts if they can be true."""
    sums = SharedSums(
        target.rows, {x: tuple(y) for x, y in target.under.items()}, target.counts, target.about
    )
    try:
        places = Estimator(sums).places
    except DataError:  # rows that contradict the counts are attacked without them
        places = Estimator(replace(sums, counts=None)).places
    labels, found = target.rows.vocabulary.labels, {}
    for item, standing in places.of.items():
        for place in standing:
            at = int(places.label[place])
            if at < len(labels):
                share = float(places.share[place])
                found[labels[at], item] = (share, share * float(places.chances[at]))
    return lambda label, item: found.get((label, item), (0.0, 0.0))


def _warnings(target: Target, train: Transactions, control: Transactions) -> list[str]:
    """Say what makes the answer worth less."""
    known = train.vocabulary.ids
    lacking = sum(label not in known for label in control.vocabulary.labels)
    warnings = []
    if lacking > _UNKNOWN * control.n_items:
        warnings.append(
            f"{lacking:,} of the control's {count(control.n_items, 'item')} are unknown to the original: "
            "other people than those of the data make a worthless control."
        )
    few, many = sorted((train.n_rows, control.n_rows))
    if many > 2 * few:
        warnings.append(
            f"The original has {count(train.n_rows, 'row')} and the control {control.n_rows:,}: singling out "
            "is compared among equally many people as far as the guarantee, which is about all, allows."
        )
    said = target.about.get("rows", target.rows.n_rows)
    if target.guarantee and said > train.n_rows:
        warnings.append(
            f"The release has {count(said, 'row')} and the original only {train.n_rows:,}: is this the "
            "file that it was made from?"
        )
    return warnings


def _require_people(train: Transactions, control: Transactions) -> None:
    """Refuse groups without people, and people who are their own control."""
    for what, rows in (("original", train), ("control", control)):
        if not rows.filled_rows:
            raise DataError(
                f"The {what} has no row with items: there is nobody to attack.",
                hint="Other people from the same source, about as many." if what == "control" else "",
            )
    if train.n_rows > 1 and train.vocabulary == control.vocabulary:
        sides: Any = (
            (*take_rows(some.indptr, some.items, first), weights)
            for some in (train, control)
            for _, first, weights in [merge_rows_by_content(some.indptr, some.items)]
        )
        if all(np.array_equal(a, b) for a, b in zip(*sides, strict=True)):
            raise _own_control()
    first, second = (_ids(rows) for rows in (train, control))
    both = sorted(first & second)
    if both:
        raise RequestError(
            f"{count(len(both), 'id')} {are(len(both))} in the original and in the control, "
            f"which must be other people: {listed(both)}.",
            hint="Omit them of the control. If each file numbers its rows from 1 again, give them other ids.",
        )


def _ids(rows: Transactions) -> set[str]:
    """Read the ids of rows once more, if their file has some."""
    found = None if rows.origin is None else read_ids(rows.origin.as_dict())
    return found or set()


def _same_file(one: str | PathLike[str], other: str | PathLike[str]) -> bool:
    first, second = Path(one), Path(other)
    return first == second or (first.exists() and second.exists() and first.samefile(second))


def _own_control() -> RequestError:
    return RequestError(
        "The control is the original: what succeeds there would always succeed here, too.",
        hint="Other people from the same source; --split 50% makes two groups of one file.",
    )


def _no_single_rows() -> DataError:
    return DataError(
        "Attacks are tried on single rows of items, not on tables, groups, chunks, classes, facts or noisy "
        "counts.",
        hint="`setveil risk` reports how few rows match in tables, groups, classes and facts.",
    )
