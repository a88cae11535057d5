"""A hierarchy made to fit the items of the data: other spellings of them, and items that are groups."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePath
from typing import TypeVar

from setveil.base.errors import DataError, MissingItemsError, listed, shorten
from setveil.base.wording import count
from setveil.rows.data.layout import Origin
from setveil.rows.data.spelling import (
    alike,
    are_one_code,
    code_form,
    misread,
    shown,
    text_form,
)
from setveil.rows.data.transactions import Transactions
from setveil.rows.hierarchy._levels import unused
from setveil.rows.hierarchy.tree import Hierarchy

log = logging.getLogger("setveil")

Rows = TypeVar("Rows", bound=Transactions)


def fit_rows(tree: Hierarchy, data: Rows, published: Collection[str] = ()) -> tuple[Hierarchy, Rows]:
    """Make a hierarchy and rows fit each other: `fitted`, then several spellings of a code become one item.

    >>> tree = Hierarchy.from_paths([["E11.9", "E11", "*"], ["I10", "*"]])
    >>> fit_rows(tree, Transactions.from_rows([["E11.9"], ["e119", "I10"]]))[1].rows()
    [('E11.9',), ('E11.9', 'I10')]
    """
    tree = fitted(tree, data.vocabulary.labels, published)
    refuse_misread(tree, data.vocabulary.labels, data.origin)
    return tree, data.with_spellings_of(tree.labels[: tree.n_leaves])


def fitted(tree: Hierarchy, items: Iterable[str], published: Collection[str] = ()) -> Hierarchy:
    """Make a hierarchy fit the items of the data; the same object if nothing changes.

    An item that is a group becomes an item below that group, which gets a star, unless it is a published
    label. A leaf that is no item gets the name of the one missing item that differs only in dots, case,
    blanks or Unicode form. A new code becomes an item below its group, if the hierarchy reveals it
    (`groups_of_new`).

    >>> tree = Hierarchy.from_paths([["K64.81", "K64.8", "*"], ["E11.9", "E11", "*"]])
    >>> fitted(tree, ["K64.8", "K64.81", "e119"]).paths()
    [['K64.8', 'K64.8*', '*'], ['K64.81', 'K64.8*', '*'], ['e119', 'E11', '*']]
    """
    known = set(items)
    inner = dict.fromkeys(sorted(groups_of(tree, known) - set(published)), "")
    names, below, placed, _ = _where(tree, known, set(inner))
    if not inner and not names and not below and not placed:
        return tree
    taken = {*tree.labels, *known}
    for item in inner:
        inner[item] = unused(f"{item}*", taken)
        taken.add(inner[item])
    new = names | inner
    parents: dict[str, str | None] = {}
    for label, up in zip(tree.labels, tree.parent.tolist(), strict=True):
        above = None if up < 0 else tree.labels[up]
        parents[new.get(label, label)] = above and new.get(above, above)
    parents |= {item: inner[item] for item in inner}
    parents |= {item: new.get(group, group) for item, group in (below | placed).items()}
    made = tree.derived(parents, {*placed, *(names.get(leaf, leaf) for leaf in tree.added)})
    made.origin = tree.origin
    for groups in filter(None, (inner, below)):
        from setveil.rows.hierarchy.shapes import below_groups

        log.info("The hierarchy: %s.", below_groups(groups))
    if placed:
        from setveil.rows.hierarchy.placing import placed_note

        log.info("%s", placed_note(placed))
    if names:
        leaf, item = next(iter(names.items()))
        log.info(
            "The hierarchy: %s in another spelling (dots, case, blanks or accents), such as %s, "
            "which is read as %s.",
            count(len(names), "item"), shown(leaf), shown(item),
        )  # fmt: skip
    return made


def lacking(tree: Hierarchy, items: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Find the new codes that `fitted` adds to a hierarchy, with their groups, and what it leaves missing."""
    known = set(items)
    _, _, placed, missing = _where(tree, known, groups_of(tree, known))
    return placed, missing


def _where(
    tree: Hierarchy, known: set[str], inner: set[str]
) -> tuple[dict[str, str], dict[str, str], dict[str, str], list[str]]:
    """Find leaves that items are spellings of, groups that they are, groups that they belong to, the rest."""
    missing = [item for item in sorted(known) if item not in tree]
    if not missing:
        return {}, {}, {}, []
    names = _spellings(tree, known, missing)
    missing = [item for item in missing if item not in names.values()]
    below = _below_groups(tree, inner, missing)
    missing = [item for item in missing if item not in below]
    from setveil.rows.hierarchy.placing import groups_of_new  # and all code systems

    placed = groups_of_new(tree, missing)
    return names, below, placed, [item for item in missing if item not in placed]


def _below_groups(tree: Hierarchy, leaves: set[str], missing: Iterable[str]) -> dict[str, str]:
    """Find the group that each missing item is another spelling of; of several such items, the first."""
    groups = _single({group: code_form(group) for group in tree.labels[tree.n_leaves :]})
    found: dict[str, str] = {}
    for item in missing:
        group = groups.get(code_form(item))
        if group is not None and group not in leaves and are_one_code(group, item):
            found.setdefault(group, item)
    return {item: group for group, item in found.items()}


def with_items(tree: Hierarchy, below: Mapping[str, str]) -> Hierarchy:
    """Add items below groups; `below`: of each item its group."""
    parents: dict[str, str | None] = {
        label: None if up < 0 else tree.labels[up]
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }
    made = tree.derived(parents | {item: group for item, group in below.items() if item not in parents})
    made.origin = tree.origin
    return made


def refuse_misread(tree: Hierarchy, labels: Sequence[str], origin: Origin | None) -> None:
    """Raise if the hierarchy lacks items because the data were read in another encoding than their own."""
    missing = [item for item in labels if item not in tree]
    wrong = misread(missing, tree.labels[: tree.n_leaves]) if missing else None
    if wrong is None or origin is None:
        return
    label, meant, encoding = wrong
    files = list(dict.fromkeys(PurePath(file.path).name for file in origin.files))
    options = [f"--encoding {shlex.quote(f'{name}=utf-8')}" for name in files]
    raise MissingItemsError(
        f"{len(missing):,} of {count(len(labels), 'item')} of the data are not in the hierarchy: "
        f"{listed(missing)}. {shorten(label)} is {shorten(meant)}, whose file is in UTF-8 and was read as "
        f"{encoding}.",
        hint=f"Add `{' '.join(options)}`.",
        problems=[f"item {item!r} is not in the hierarchy" for item in missing],
    )


def fit_rows_after(
    tree: Hierarchy, several: Sequence[Rows], known: Collection[str], out: Collection[str]
) -> tuple[Hierarchy, list[Rows]]:
    """Make a hierarchy and new rows fit each other and what is published already.

    An item that is a group becomes an item below it. A group that is a published label (`out`) stays
    unchanged, and the item gets another label: the same word must not mean two things. `known`: items of
    earlier releases.
    """
    before = [item for item in known if item not in tree]  # in another spelling than the hierarchy has
    several = [data.with_spellings_of(before) for data in several]
    items = {item for data in several for item in data.vocabulary.labels}
    renamed = {item: itself(item) for item in sorted(groups_of(tree, items) & set(out))}
    _require_apart(renamed, items)
    below = {name: item for item, name in renamed.items()} | {
        item: item.removesuffix(ITSELF)
        for item in known
        if item.endswith(ITSELF) and item.removesuffix(ITSELF) in tree
    }
    if below:
        tree = with_items(tree, below)
    if renamed:
        log.info("%s", _renamed(renamed))
        several = [data.with_names(renamed) for data in several]
        items = {item for data in several for item in data.vocabulary.labels}
    tree = fitted(tree, {*known, *items}, out)
    for data in several:
        refuse_misread(tree, data.vocabulary.labels, data.origin)
    return tree, [data.with_spellings_of(tree.labels[: tree.n_leaves]) for data in several]


ITSELF = " (itself)"  # after the name of an item that is called like a published group


def itself(item: str) -> str:
    """Name an item that is called like a group that is out."""
    return f"{item}{ITSELF}"


def _require_apart(renamed: Mapping[str, str], items: Collection[str]) -> None:
    """Refuse rows in which an item has the name already that another one gets."""
    for item, name in renamed.items():
        if name in items:
            raise DataError(
                f"The item {shorten(item)} is called like a group that is published already, and would be "
                f"published below it as {shorten(name)}, but the rows have an item of this name, too.",
                hint=f"Give the item {shorten(name)} another name in the data.",
            )


def _renamed(renamed: Mapping[str, str]) -> str:
    item, name = next(iter(renamed.items()))
    return (
        f"{count(len(renamed), 'item is', 'items are')} called like a group that is published already, and "
        f"{'is' if len(renamed) == 1 else 'are'} published below it under another name: {item} as {name}."
    )


def fitted_to_labels(tree: Hierarchy, labels: Iterable[str]) -> Hierarchy:
    """Make a hierarchy fit published labels: a group that is out with a star has an item of its name below.

    >>> tree = Hierarchy.from_paths([["K64.81", "K64.8", "*"], ["E11.9", "E11", "*"]])
    >>> fitted_to_labels(tree, ["K64.8*", "e119"]).paths()
    [['K64.8', 'K64.8*', '*'], ['K64.81', 'K64.8*', '*'], ['e119', 'E11', '*']]
    """
    unknown = [label for label in labels if label not in tree]
    groups = {f"{group}*": group for group in tree.labels[tree.n_leaves :]}
    return fitted(tree, [groups.get(label, label) for label in unknown])


def groups_of(tree: Hierarchy, items: Iterable[str]) -> set[str]:
    """Find the items that are groups of a hierarchy."""
    return {item for item in items if item in tree and tree.id(item) >= tree.n_leaves}


def _spellings(tree: Hierarchy, known: set[str], missing: list[str]) -> dict[str, str]:
    """Find the missing item that each leaf is another spelling of, where one is."""
    free = [leaf for leaf in tree.labels[: tree.n_leaves] if leaf not in known]
    found: dict[str, str] = {}
    for form in (text_form, code_form):
        leaves = _single({leaf: form(leaf) for leaf in free if leaf not in found})
        left = [item for item in missing if item not in found.values()]
        for key, item in _single({item: form(item) for item in left}).items():
            leaf = leaves.get(key)
            if leaf is not None and (form is text_form or are_one_code(leaf, item)):
                found[leaf] = item
    return found


def _single(forms: dict[str, str]) -> dict[str, str]:
    """Return the label of each form that only one label has."""
    several = {forms[group[0]] for group in alike(forms)}
    return {form: label for label, form in forms.items() if form not in several}
