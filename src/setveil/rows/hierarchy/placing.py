"""Where new codes belong in a hierarchy of codes: below the group that begins them, or as a system says.

The codes of one year are not those of the next. A hierarchy whose groups are the beginnings of their codes,
or those of a known system, tells where a new code belongs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from setveil.base.errors import DataError, RequestError
from setveil.base.wording import count
from setveil.rows.data.spelling import code_form
from setveil.rows.hierarchy.systems.known import BOTH, NAMES
from setveil.rows.hierarchy.systems.reading import read_codes
from setveil.rows.hierarchy.tree import Hierarchy

_LOOKED_AT = 300  # leaves that show whether a hierarchy is that of a system


def groups_of_new(tree: Hierarchy, items: Sequence[str]) -> dict[str, str]:
    """Find the group of each new code, if there is one; other spellings of known codes are omitted.

    >>> tree = Hierarchy.from_paths([["E11.9", "E11", "*"], ["E11.0", "E11", "*"], ["I10", "*"]])
    >>> groups_of_new(tree, ["E11.5", "F32.1", "tea"])
    {'E11.5': 'E11'}
    """
    known = {code_form(label) for label in tree.labels}
    new = {code_form(item): item for item in reversed(items) if is_code(item)}  # one spelling of each
    codes = [item for form, item in reversed(new.items()) if form not in known]
    if not codes:
        return {}
    return _by_beginning(tree, codes) | _by_system(tree, codes)


def is_code(item: str) -> bool:
    """Tell whether an item may be a code: letters, digits, dots and blanks, with a digit.

    >>> is_code("E11.9"), is_code("tea"), is_code("7-up")
    (True, False, False)
    """
    form = code_form(item)
    return form.isalnum() and any(sign.isdigit() for sign in form)


def placed_note(below: Mapping[str, str]) -> str:
    """Say which new codes were placed where.

    >>> placed_note({"E11.5": "E11"})
    '1 code that the hierarchy lacks was placed below its group: E11.5 below E11.'
    """
    n = len(below)
    first = ", ".join(f"{item} below {group}" for item, group in list(below.items())[:3])
    what = f"{count(n, 'code')} that the hierarchy lacks {'was' if n == 1 else 'were'} placed below "
    return f"{what}{'its group' if n == 1 else 'their groups'}: {first}{', ...' if n > 3 else ''}."


def _by_beginning(tree: Hierarchy, codes: Iterable[str]) -> dict[str, str]:
    """Find the longest group that begins each code, in a hierarchy most of whose leaves stand so."""
    begins, within = _beginnings(tree)
    if 2 * within < tree.n_leaves:
        return {}
    found = {}
    for item in codes:
        form = code_form(item)
        group = next((begins[form[:n]] for n in range(len(form) - 1, 0, -1) if form[:n] in begins), None)
        if group is not None:
            found[item] = group
    return found


def _beginnings(tree: Hierarchy) -> tuple[dict[str, str], int]:
    """Find the groups that begin all codes below them, by their form, and count the leaves in any of them."""
    leaves = [code_form(label) if is_code(label) else "" for label in tree.labels[: tree.n_leaves]]
    begins: dict[int, bool] = {}  # of each group: whether it begins all leaves below it
    for leaf, form in enumerate(leaves):
        for group in tree.ancestors(leaf):
            start = code_form(tree.labels[group])
            fits = form.startswith(start) and form != start
            begins[group] = begins.get(group, True) and fits
    groups = {group for group, fits in begins.items() if fits and group != tree.root}
    within = sum(any(group in groups for group in tree.ancestors(leaf)) for leaf in range(tree.n_leaves))
    several = Counter(code_form(tree.labels[group]) for group in groups)
    labels = (tree.labels[group] for group in groups)
    return {code_form(label): label for label in labels if several[code_form(label)] == 1}, within


def _by_system(tree: Hierarchy, codes: Sequence[str]) -> dict[str, str]:
    """Find the lowest group of each code in the known system that a hierarchy follows, if it follows one."""
    for name in NAMES:
        if name != BOTH and _follows(tree, name, tree.labels[: tree.n_leaves : _step(tree)]):
            paths = _paths([*tree.labels[: tree.n_leaves], *codes], name)
            lowest = {item: _lowest(tree, paths.get(item, ())) for item in codes}
            return {item: group for item, group in lowest.items() if group is not None}
    return {}


def _step(tree: Hierarchy) -> int:
    return max(1, tree.n_leaves // _LOOKED_AT)


def _follows(tree: Hierarchy, name: str, leaves: Sequence[str]) -> bool:
    """Tell whether the groups of most leaves are those of a system, and none of them is another."""
    paths = _paths(leaves, name)
    above = {
        item: {tree.labels[v] for v in tree.ancestors(tree.id(item)) if v != tree.root} for item in paths
    }
    grouped = sum(map(bool, above.values()))
    return 2 * grouped > len(leaves) and all(groups <= {*paths[item]} for item, groups in above.items())


def _paths(items: Sequence[str], name: str) -> Mapping[str, Sequence[str]]:
    """Read codes as those of a system: of each one its groups, from the top down; none if they are not."""
    try:
        return read_codes(items, name).paths
    except (DataError, RequestError):
        return {}


def _lowest(tree: Hierarchy, path: Sequence[str]) -> str | None:
    return next((g for g in reversed(path) if g in tree and tree.id(g) >= tree.n_leaves), None)
