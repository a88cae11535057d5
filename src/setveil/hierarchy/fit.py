"""A hierarchy made to fit the items of the data: other spellings of them, and items that are groups."""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping

from setveil.data.spelling import alike, are_one_code, code_form, shown, text_form
from setveil.hierarchy._levels import unused
from setveil.hierarchy.shapes import below_groups
from setveil.hierarchy.tree import Hierarchy
from setveil.wording import count

log = logging.getLogger("setveil")


def fitted(tree: Hierarchy, items: Iterable[str], published: Collection[str] = ()) -> Hierarchy:
    """Make a hierarchy fit the items of the data; the same object where nothing has to change.

    An item that is a group becomes an item below that group, which gets a star. A leaf that no item is called
    like, and that one missing item differs from only in dots, case, blanks or Unicode form, gets its name.
    Groups that are published as labels keep theirs.

    Examples
    --------
    >>> tree = Hierarchy.from_paths([["K64.81", "K64.8", "*"], ["E11.9", "E11", "*"]])
    >>> fitted(tree, ["K64.8", "K64.81", "e119"]).paths()
    [['K64.8', 'K64.8*', '*'], ['K64.81', 'K64.8*', '*'], ['e119', 'E11', '*']]
    """
    known = set(items)
    inner = dict.fromkeys(sorted(groups_of(tree, known) - set(published)), "")
    missing = [item for item in sorted(known) if item not in tree]
    names: dict[str, str] = _spellings(tree, known, missing) if missing else {}
    below = _below_groups(tree, [item for item in missing if item not in names.values()])
    if not inner and not names and not below:
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
    parents |= {item: new.get(group, group) for item, group in below.items()}
    made = Hierarchy(parents)
    made.origin = tree.origin
    if inner:
        log.info("The hierarchy: %s.", below_groups(inner))
    if below:
        log.info("The hierarchy: %s.", below_groups(below))
    if names:
        leaf, item = next(iter(names.items()))
        log.info(
            "The hierarchy: %s in another spelling (dots, case, blanks or accents), such as %s, "
            "which is read as %s.",
            count(len(names), "item"), shown(leaf), shown(item),
        )  # fmt: skip
    return made


def _below_groups(tree: Hierarchy, missing: Iterable[str]) -> dict[str, str]:
    """Find the group that each missing item is another spelling of, where one is."""
    groups = _single({group: code_form(group) for group in tree.labels[tree.n_leaves :]})
    pairs = ((item, groups.get(code_form(item))) for item in missing)
    return {item: group for item, group in pairs if group is not None and are_one_code(group, item)}


def with_items(tree: Hierarchy, below: Mapping[str, str]) -> Hierarchy:
    """Add items below groups; `below`: of each item its group."""
    parents: dict[str, str | None] = {
        label: None if up < 0 else tree.labels[up]
        for label, up in zip(tree.labels, tree.parent.tolist(), strict=True)
    }
    made = Hierarchy(parents | {item: group for item, group in below.items() if item not in parents})
    made.origin = tree.origin
    return made


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
